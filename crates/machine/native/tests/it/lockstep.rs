//! Translated code against the exact engine: the same programs from the same states, compared wherever translated code comes
//! back, which is after a random number of instructions each time.

use crate::home::{CODE, CODE_BYTES, Came, DATA, DATA_BYTES, Home};
use crate::programs::{Forms, Program, is_x87, program, registers};
use crate::state::{CODES, FLAGS, load, store};
use iced_x86::{Decoder, DecoderOptions};
use parallax_native::{Mistake, Options};
use parallax_process::elf::Machine;
use parallax_process::execute::{Engine, Event, Stop, World};
use parallax_process::memory::{Backing, Memory, Permissions};
use parallax_process::registers::Registers;
use parallax_silicon::random::Random;
use parallax_sleigh::x86::{undefined_codes, undefined_flags};
use parallax_sleigh::{Language, Lifter};

/// How many steps of a program are looked at.
pub const STEPS: u64 = 90;

/// The exact engine, and what programs are made of.
pub struct Exact {
    engine: Engine,
    pub blank: Registers,
    pub forms: Forms,
}

/// The state after so many steps.
pub struct Moment {
    pub registers: Registers,
    pub data: Vec<u8>,
    pub pc: u64,
    /// Flags and condition codes that the instructions so far left undefined.
    undefined: u32,
    codes: u16,
}

/// All states of a run, and whether it ended by itself.
pub struct Course {
    pub moments: Vec<Moment>,
    pub end: Option<Event>,
}

impl Exact {
    pub fn new() -> Exact {
        let lifter = Lifter::new(Language::find("x86-64").expect("x86-64")).expect("its specification");
        let forms = Forms::new(&lifter);
        let blank = Registers::new(lifter.processor().clone());
        let mut engine = Engine::new(lifter, &blank, Machine::X86_64.abi().flags);
        engine.set_exact_flags(true);
        Exact { engine, blank, forms }
    }

    /// Steps through a program.
    pub fn course(&mut self, program: &Program, registers: &Registers, steps: u64) -> Course {
        let mut memory = Memory::new(!4095, 1 << 30);
        let execute = Permissions { read: true, write: false, execute: true };
        memory.map(CODE, CODE_BYTES as u64, execute, Backing::Zero);
        memory.map(DATA, DATA_BYTES as u64, Permissions::DATA, Backing::Zero);
        memory.poke(CODE, &program.code).expect("mapped");
        memory.poke(DATA, &program.data).expect("mapped");
        self.engine.forget();
        let mut world = World::new(memory, registers.clone());
        let mut course = Course { moments: Vec::new(), end: None };
        let (mut pc, mut undefined, mut codes) = (CODE, 0, 0);
        loop {
            let mut data = vec![0; DATA_BYTES];
            world.memory.read(DATA, &mut data).expect("mapped");
            course.moments.push(Moment { registers: world.registers.clone(), data, pc, undefined, codes });
            if world.time >= steps {
                return course;
            }
            let mut bytes = [0; 15];
            let fetched = world.memory.fetch(pc, &mut bytes).unwrap_or(0);
            let decoded = Decoder::with_ip(64, &bytes[..fetched], pc, DecoderOptions::NONE).decode();
            let count = world.registers.get("RCX") as u8;
            let next = world.time + 1;
            let (to, event) = self.engine.run(&mut world, pc, next);
            // The step that leads to nothing is made.
            if !matches!(event, Event::Budget) && world.time < next {
                course.end = Some(event);
                return course;
            }
            pc = to;
            let touched = undefined_flags(&decoded, count);
            undefined = (undefined & !written(&decoded, count)) | touched;
            if is_x87(&decoded) {
                codes = undefined_codes(&decoded);
            }
        }
    }
}

/// The flags that an instruction writes, when CL holds that.
fn written(decoded: &iced_x86::Instruction, count: u8) -> u32 {
    use iced_x86::Mnemonic::*;
    let shifts = matches!(decoded.mnemonic(), Shl | Sal | Shr | Sar | Rol | Ror | Rcl | Rcr | Shld | Shrd);
    if shifts && undefined_flags(decoded, count) == 0 {
        // By one, all are defined; by zero, none is touched. Either way those that were undefined may still be.
        return 0;
    }
    crate::programs::as_bits(decoded.rflags_modified())
}

/// Where the guest is after so many steps must be where the exact engine was.
fn differences(
    home: &mut Home,
    moment: &Moment,
    pc: u64,
    flags_are_void: bool,
    float_trap: bool,
) -> Vec<String> {
    let mut found = Vec::new();
    if pc != moment.pc {
        found.push(format!("at {pc:#x}, exactly at {:#x}", moment.pc));
    }
    let mut ours = moment.registers.clone();
    store(home.context(), &mut ours);
    let processor = ours.processor().clone();
    for cell in &processor.cells {
        let name = cell.name.as_str();
        let bit = FLAGS.iter().find(|(flag, _)| *flag == name).map(|(_, bit)| *bit);
        let code = CODES.iter().find(|(code, _)| *code == name).map(|(_, bit)| *bit);
        let is_out = match (bit, code) {
            (Some(10), _) => false,
            (Some(bit), _) => flags_are_void || moment.undefined >> bit & 1 != 0,
            (_, Some(code)) => moment.codes >> code & 1 != 0,
            _ => name == "RIP" || float_trap && name == "MXCSR",
        };
        let start = ours.offset(cell.place).expect("a register");
        let range = start..start + usize::from(cell.place.bytes);
        let (a, b) = (&moment.registers.bytes()[range.clone()], &ours.bytes()[range]);
        if !is_out && a != b {
            found.push(format!("{name}: exactly {}, natively {}", hex(a), hex(b)));
        }
    }
    for (index, (a, b)) in moment.data.iter().zip(home.data().iter()).enumerate() {
        if a != b {
            found.push(format!("[{:#x}]: exactly {a:#x}, natively {b:#x}", DATA + index as u64));
        }
    }
    found
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect()
}

/// The time that the guest came back at, if its state is the one that it should have then. `since` is the time before.
pub fn arrived(
    home: &mut Home,
    course: &Course,
    since: u64,
    allowance: u64,
    came: Came,
) -> Result<u64, String> {
    let used = (allowance as i64).wrapping_sub(home.context().left()).wrapping_sub(came.unmade.into());
    let last = course.moments.len() as u64 - 1;
    if used < 0 || since as i64 + used > last as i64 {
        return Err(format!("{used} steps are counted"));
    }
    let time = since + used as u64;
    let ends = time == last && course.end.is_some();
    let float_trap = ends && matches!(course.end, Some(Event::Stop(Stop::Trap(parallax_ir::Trap::Float))));
    let found = differences(home, &course.moments[time as usize], came.pc, came.flags_are_void, float_trap);
    if found.is_empty() { Ok(time) } else { Err(format!("after {used} steps:\n{}", found.join("\n"))) }
}

/// Puts the guest into a state.
pub fn put(home: &mut Home, moment: &Moment) {
    load(&moment.registers, home.context());
    home.data().copy_from_slice(&moment.data);
}

/// What runs showed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shown {
    pub instructions: u64,
    pub stops: u64,
    pub faults: u64,
    pub left: u64,
    pub void: u64,
}

/// Runs a program natively in pieces of random lengths, and compares after each.
pub fn follow(
    course: &Course,
    program: &Program,
    options: Options,
    far: bool,
    random: &mut Random,
    shown: &mut Shown,
) -> Result<(), String> {
    let mut home = Home::new(&program.code, options, far);
    put(&mut home, &course.moments[0]);
    let last = course.moments.len() as u64 - 1;
    let (mut time, mut pc) = (0u64, CODE);
    // Where the course does not end by itself, its last moments are for what runs beyond the allowance.
    let limit = if course.end.is_some() { last } else { last.saturating_sub(Options::LONGEST as u64) };
    let mut rounds = 0;
    while time < limit || time == limit && course.end.is_some() {
        rounds += 1;
        if rounds > 50 * STEPS {
            return Err(format!("no progress from {pc:#x} at {time} of {last}"));
        }
        // Often so few are allowed that most ways out are spent ones. A course that ends by itself cannot be overrun.
        let most = if course.end.is_some() { STEPS } else { limit - time };
        let allowance = if random.below(4) == 0 { most } else { random.below(9).min(most) };
        home.context().allow(allowance, options.counters);
        let came = home.run(pc);
        let (from, since) = (pc, time);
        let context = |what: String| {
            let place = if far { "far" } else { "near" };
            format!("{what}\nfrom {from:#x} at {since}, {allowance} allowed: {came:x?}\n{options:?} {place}")
        };
        time = arrived(&mut home, course, since, allowance, came).map_err(context)?;
        let used = time - since;
        // One trace at most goes beyond what was allowed, and only where a counter says so.
        if used > allowance + Options::LONGEST as u64 {
            return Err(context(format!("it went on for {used} steps")));
        }
        let ends = time == last && course.end.is_some();
        pc = came.pc;
        shown.instructions += used;
        shown.stops += 1;
        shown.void += u64::from(came.flags_are_void);
        if let Some(fault) = came.fault {
            shown.faults += 1;
            return match &course.end {
                Some(Event::Stop(Stop::Fault(exact))) if ends => {
                    // The kernel has no address for what is not canonical, or not aligned. An access that crosses into another
                    // page is told by either end.
                    let same = exact.address.wrapping_sub(fault.address) < 512 || fault.address == 0;
                    if same { Ok(()) } else { Err(context(format!("faults at another address: {exact:x?}"))) }
                }
                Some(Event::Stop(_)) if ends => Ok(()),
                end => Err(context(format!("a fault {fault:x?}, exactly {end:?}"))),
            };
        }
        // The exact engine makes what is left, what replaces void flags, and what a small allowance is not enough for.
        if came.is_left || came.flags_are_void || used == 0 {
            shown.left += 1;
            let Some(next) = course.moments.get(time as usize + 1) else { return Ok(()) };
            put(&mut home, next);
            time += 1;
            pc = next.pc;
        }
    }
    Ok(())
}

/// The ways of translating that are tried. All must show the same.
pub const WAYS: [(Options, bool); 7] = {
    let plain = Options { longest: Options::LONGEST, follows: true, counters: 4, mistake: None };
    [
        (plain, false),
        (plain, true),
        (Options { longest: 7, ..plain }, false),
        (Options { longest: 1, ..plain }, false),
        (Options { follows: false, counters: 1, ..plain }, false),
        (Options { counters: 1, ..plain }, true),
        (Options { longest: 16, counters: 3, ..plain }, true),
    ]
};

/// Runs random programs; the first difference.
pub fn search(rounds: u64, seed: u64, mistake: Option<Mistake>) -> Result<Shown, String> {
    let mut exact = Exact::new();
    let mut random = Random::new(seed);
    let mut shown = Shown::default();
    for round in 0..rounds {
        let program = program(&exact.forms, &mut random);
        let registers = registers(&exact.blank, &mut random);
        let course = exact.course(&program, &registers, STEPS + Options::LONGEST as u64);
        for (options, far) in WAYS {
            let options = Options { mistake, ..options };
            follow(&course, &program, options, far, &mut random, &mut shown).map_err(|why| {
                let listing = listing(&program, &course);
                format!("seed {seed}, round {round}: {why}\n{listing}")
            })?;
        }
    }
    Ok(shown)
}

/// The instructions of a course.
pub fn listing(program: &Program, course: &Course) -> String {
    use iced_x86::{Formatter, IntelFormatter};
    let mut lines = String::new();
    for (time, moment) in course.moments.iter().enumerate() {
        let bytes = program.code.get(moment.pc.wrapping_sub(CODE) as usize..).unwrap_or_default();
        let decoded = Decoder::with_ip(64, bytes, moment.pc, DecoderOptions::NONE).decode();
        let mut text = String::new();
        IntelFormatter::new().format(&decoded, &mut text);
        lines.push_str(&format!("{time:4} {:#x} {text}\n", moment.pc));
    }
    lines + &format!("then {:?}", course.end)
}

#[test]
fn random_programs_run_the_same() {
    // `make fuzz WHAT="native ROUNDS=100000"` runs more of them.
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (rounds, seed) = (number("FUZZ_ROUNDS").unwrap_or(150), number("FUZZ_SEED").unwrap_or(1));
    let shown = search(rounds, seed, None).unwrap_or_else(|why| panic!("{why}"));
    println!("{rounds} programs: {shown:?}");
    assert!(shown.instructions > 40 * rounds && shown.stops > 30 * rounds, "{shown:?}");
    assert!(shown.faults * 4 > rounds && shown.left > rounds && shown.void > rounds, "{shown:?}");
}
