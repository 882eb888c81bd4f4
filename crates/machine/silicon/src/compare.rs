//! One instruction, one state, three results: the processor's, the concrete reading's, the symbolic reading's.

use crate::forms::{Case, Form, code, data};
use crate::machine::{ARENA, Machine, Outcome, Registers, follows_the_manual};
use crate::random::Random;
use iced_x86::EncodingKind;
use parallax_ir::meaning::{State, Value, exec};
use parallax_ir::{Instruction, Processor, RegisterKind, Trap};
use parallax_op::Bits;
use parallax_sem::logic::{Evaluation, Struct};
use parallax_sem::{Concrete, Symbolic, Table};
use parallax_sleigh::x86::{
    Answer, Overrides, is_approximate, is_estimate, is_out_of_domain, undefined_codes, undefined_flags,
    undefined_result,
};
use parallax_term::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The flags that a user program, and a debugger, can change, by their bits.
const FLAGS: [(&str, u32); 9] =
    [("CF", 0), ("PF", 2), ("AF", 4), ("ZF", 6), ("SF", 7), ("DF", 10), ("OF", 11), ("NT", 14), ("AC", 18)];

const GENERAL: [&str; 16] = [
    "RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI", "R8", "R9", "R10", "R11", "R12", "R13", "R14",
    "R15",
];
const SEGMENTS: [&str; 6] = ["ES", "CS", "SS", "DS", "FS", "GS"];
const GENERAL_32: [&str; 8] = ["EAX", "ECX", "EDX", "EBX", "ESP", "EBP", "ESI", "EDI"];

/// The general registers, and the instruction pointer.
fn names(bits: u32) -> (&'static [&'static str], &'static str) {
    if bits == 64 { (&GENERAL, "RIP") } else { (&GENERAL_32, "EIP") }
}

/// A disagreement.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// In which form.
    pub form: String,
    /// The instruction and where the results differ.
    pub message: String,
}

/// What a run found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How many states each form was run from.
    pub states: BTreeMap<String, u64>,
    /// How many of those the symbolic reading was held against.
    pub symbolic: u64,
    /// Distinct opcodes among the forms that ran.
    pub opcodes: BTreeSet<String>,
    /// Forms this processor does not have.
    pub absent: BTreeSet<String>,
    /// Disagreements, at most a few per form.
    pub mismatches: Vec<Mismatch>,
}

/// What to run.
pub struct Comparison {
    /// Encodings per form.
    pub encodings: u64,
    /// States per encoding.
    pub states: u64,
    /// The same for instructions of AVX, which share their rules with older ones, so that fewer may do.
    pub newer_states: u64,
    /// Of those, how many also go through the symbolic reading.
    pub symbolic: u64,
    /// Where the random numbers begin.
    pub seed: u64,
}

/// Memory contents that many states share, so that tables need not be built for each.
struct Pool {
    contents: Vec<(Vec<u8>, Table)>,
}

impl Pool {
    fn new(random: &mut Random, key: u16, bits: u32) -> Self {
        let contents = (0..8).map(|round| {
            let mut bytes: Vec<u8> = (0..ARENA / 16).flat_map(|_| random.vector().to_le_bytes()).collect();
            if round % 2 == 0 {
                // Stretches of 80-bit floats for the x87, and strings with an end for those who compare them.
                for at in (0..ARENA - 16).step_by(16) {
                    bytes[at..at + 10].copy_from_slice(&random.extended().to_le_bytes()[..10]);
                }
            } else {
                for at in (0..ARENA).step_by(5) {
                    bytes[at] = random.below(4) as u8;
                }
            }
            let mut table = Table::new(Bits::zero(8));
            for (index, byte) in bytes.iter().enumerate() {
                let at = u128::from(data(bits)) + index as u128;
                table.set(Bits::new(key, at), Bits::new(8, u128::from(*byte)));
            }
            (bytes, table)
        });
        Pool { contents: contents.collect() }
    }
}

/// Holds the override table against the processor.
pub fn run(
    machine: &mut Machine,
    processor: &Rc<Processor>,
    overrides: &Overrides,
    forms: &[Form],
    comparison: &Comparison,
) -> std::io::Result<Report> {
    let mut report = Report::default();
    let mut random = Random::new(comparison.seed);
    let key = processor.address_bytes * 8;
    let bits = forms.first().map_or(64, |form| form.bits);
    let mut pool = Pool::new(&mut random, key, bits);
    for (number, form) in forms.iter().enumerate() {
        if number % 64 == 63 {
            pool = Pool::new(&mut random, key, bits);
        }
        let mut found = 0;
        for _ in 0..comparison.encodings {
            let Some(mut case) = (0..16).find_map(|_| Case::new(*form, &mut random)) else { continue };
            let Answer::Lifted(instruction) = overrides.lift(case.registers.rip, &case.bytes) else {
                continue;
            };
            let approximate = is_approximate(&case.instruction) || is_estimate(&case.instruction);
            let symbolic =
                (comparison.symbolic > 0 && !approximate).then(|| SymbolicCase::new(processor, &instruction));
            let states = match form.code.op_code().encoding() {
                EncodingKind::VEX => comparison.newer_states,
                _ => comparison.states,
            };
            for state in 0..states {
                case.refresh(&mut random);
                let start = data(bits);
                let (bytes, table) = &pool.contents[random.below(pool.contents.len() as u64) as usize];
                let mut bytes = bytes.clone();
                let mut table = table.clone();
                if let Some(target) = case.needs_target_in_memory() {
                    let to = (code(bits) + random.below(3800)).to_le_bytes();
                    put(&mut bytes, &mut table, (key, start), target, &to);
                }
                if let Some((address, wish)) = case.wishes(&mut random) {
                    put(&mut bytes, &mut table, (key, start), address, &wish);
                }
                machine.data()[..ARENA].copy_from_slice(&bytes);
                let outcome = machine.step(&case.bytes, &case.registers)?;
                if matches!(outcome, Outcome::Signal(libc::SIGILL, _)) && !stops_always(&instruction) {
                    report.absent.insert(form.to_string());
                    break;
                }
                let after_memory = machine.data()[..ARENA].to_vec();
                let expected = Expected { outcome, memory: after_memory };
                let ours = concrete(processor, &instruction, &case.registers, table.clone());
                let mut differences = expected.differences(&case, &ours);
                if let (Some(symbolic), true) = (&symbolic, state < comparison.symbolic) {
                    report.symbolic += 1;
                    differences.extend(symbolic.differences(
                        processor,
                        &initial(processor, &case.registers, table),
                        &ours,
                    ));
                }
                *report.states.entry(form.to_string()).or_default() += 1;
                report.opcodes.insert(format!("{:?}", form.code));
                if !differences.is_empty() && found < 3 {
                    found += 1;
                    let text = &instruction.text;
                    let message = format!(
                        "{text} [{}] {}\n    from {}",
                        case.bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" "),
                        differences.join("; "),
                        show(&case.registers),
                    );
                    report.mismatches.push(Mismatch { form: form.to_string(), message });
                }
            }
        }
    }
    Ok(report)
}

fn stops_always(instruction: &Instruction) -> bool {
    instruction.ops.iter().any(|op| matches!(op, parallax_ir::Op::Trap { when: None, .. }))
}

fn put(bytes: &mut [u8], table: &mut Table, (key, start): (u16, u64), address: u64, value: &[u8]) {
    for (index, byte) in value.iter().enumerate() {
        let at = address.wrapping_add(index as u64);
        if let Some(slot) = bytes.get_mut(at.wrapping_sub(start) as usize) {
            *slot = *byte;
            table.set(Bits::new(key, u128::from(at)), Bits::new(8, u128::from(*byte)));
        }
    }
}

fn show(r: &Registers) -> String {
    let general: Vec<String> =
        names(r.bits).0.iter().zip(r.general).map(|(name, value)| format!("{name}={value:#x}")).collect();
    let vector: Vec<String> =
        (0..8).map(|i| format!("YMM{i}={:#x}:{:#x}", r.upper[i], r.vector[i])).collect();
    let stack: Vec<String> = (0..2).map(|i| format!("ST{i}={:#x}", r.stack[i])).collect();
    format!(
        "{} flags={:#x} {} {} mxcsr={:#x} control={:#x} status={:#x} valid={:#x}",
        general.join(" "),
        r.flags,
        vector.join(" "),
        stack.join(" "),
        r.mxcsr,
        r.control,
        r.status,
        r.valid
    )
}

/// A value for each register that a test sets, by name.
fn assignments(r: &Registers) -> Vec<(String, Bits)> {
    let mut all: Vec<(String, Bits)> = Vec::new();
    let (general, pc) = names(r.bits);
    let width = r.bits.max(32) as u16;
    for (name, value) in general.iter().zip(r.general) {
        all.push(((*name).to_owned(), Bits::new(width, u128::from(value))));
    }
    all.push((pc.to_owned(), Bits::new(width, u128::from(r.rip))));
    if r.bits == 16 {
        for (name, value) in SEGMENTS.into_iter().zip(r.segments) {
            all.push((name.to_owned(), Bits::new(16, u128::from(value))));
        }
    }
    if r.bits == 64 {
        for (name, value) in ["FS_OFFSET", "GS_OFFSET"].into_iter().zip(r.bases) {
            all.push((name.to_owned(), Bits::new(64, u128::from(value))));
        }
    }
    for (name, bit) in FLAGS {
        all.push((name.to_owned(), Bits::new(8, u128::from(r.flags >> bit & 1))));
    }
    for (index, value) in r.vector.iter().enumerate().take(general.len()) {
        all.push((format!("XMM{index}"), Bits::new(128, *value)));
        all.push((format!("YMM{index}_H"), Bits::new(128, r.upper[index])));
    }
    for (index, value) in r.stack.iter().enumerate() {
        all.push((format!("ST{index}"), Bits::new(80, *value)));
    }
    all.push(("FPUCONTROLWORD".to_owned(), Bits::new(16, u128::from(r.control))));
    all.push(("FPUSTATUSWORD".to_owned(), Bits::new(16, u128::from(r.status & 0xb8ff))));
    for (index, bit) in [8, 9, 10, 14].into_iter().enumerate() {
        all.push((format!("C{index}"), Bits::new(8, u128::from(r.status >> bit & 1))));
    }
    all.push(("MXCSR".to_owned(), Bits::new(32, u128::from(r.mxcsr))));
    all.push(("FPUTAGWORD".to_owned(), Bits::new(16, u128::from(relative_tags(r)))));
    // Interrupts are enabled, and the trap flag is what single-stepping works with.
    all.push(("IF".to_owned(), Bits::one(8)));
    all.push(("TF".to_owned(), Bits::one(8)));
    all
}

/// Which x87 registers are empty, from the top on, two equal bits each.
fn relative_tags(r: &Registers) -> u16 {
    let top = u32::from(r.status >> 11 & 7);
    let empty = (!r.valid).rotate_right(top);
    (0..8).fold(0, |all, index| all | (u16::from(empty >> index & 1) * 3) << (2 * index))
}

fn initial(processor: &Rc<Processor>, r: &Registers, memory: Table) -> State<Concrete> {
    let core = Concrete;
    let mut state = State::with_memory(processor, memory);
    for (name, value) in assignments(r) {
        let register = processor.register(&name).expect("a register of the processor");
        let value = match register.kind {
            RegisterKind::Word => Value::Word(value),
            RegisterKind::Flag => Value::Truth(!value.is_zero()),
        };
        state.write(&core, register.place, value).expect("a part of the register file");
    }
    state
}

/// What our concrete reading says.
pub(crate) struct Ours {
    pub state: Result<State<Concrete>, String>,
}

impl Ours {
    fn register(&self, name: &str) -> u128 {
        let Ok(state) = &self.state else { return 0 };
        let place = state.processor().register(name).expect("a register of the processor").place;
        let value = state.read(&Concrete, place).expect("a part of the register file");
        value.word(&Concrete, place.width()).to_u128().expect("at most 128 bits")
    }

    fn trap(&self) -> Option<Trap> {
        let state = self.state.as_ref().ok()?;
        state.stops.iter().find(|(guard, _)| *guard).map(|(_, trap)| *trap)
    }
}

fn concrete(processor: &Rc<Processor>, instruction: &Instruction, before: &Registers, memory: Table) -> Ours {
    let state = initial(processor, before, memory);
    Ours { state: exec(&Concrete, instruction, state).map_err(|error| error.to_string()) }
}

/// What the processor did.
struct Expected {
    outcome: Outcome,
    memory: Vec<u8>,
}

impl Expected {
    fn differences(&self, case: &Case, ours: &Ours) -> Vec<String> {
        let mut differences = Vec::new();
        if let Err(error) = &ours.state {
            return vec![format!("no meaning: {error}")];
        }
        let after = match (&self.outcome, ours.trap()) {
            // What stopped it can be read in the register.
            (Outcome::Signal(libc::SIGFPE, after), Some(Trap::Float)) => {
                let (theirs, mine) = (u128::from(after.mxcsr), ours.register("MXCSR"));
                if theirs != mine {
                    differences.push(format!("stopped, MXCSR is {theirs:#x}, ours {mine:#x}"));
                }
                return differences;
            }
            (Outcome::Signal(libc::SIGFPE, _), Some(Trap::Divide))
            | (Outcome::Signal(libc::SIGSEGV, _), Some(Trap::Protection))
            | (Outcome::Signal(libc::SIGILL, _), Some(Trap::Undefined)) => return differences,
            (Outcome::Signal(signal, _), trap) => return vec![format!("signal {signal} against {trap:?}")],
            // Processors of some makers take more than those of others.
            (Outcome::Done(_), Some(Trap::Protection))
                if !follows_the_manual() && is_refused_by_some(&case.instruction) =>
            {
                return differences;
            }
            (Outcome::Done(_), Some(trap)) => return vec![format!("no signal against {trap:?}")],
            (Outcome::Done(after), None) => after,
        };
        let cl = case.registers.general[1] as u8;
        let mut undefined = u64::from(undefined_flags(&case.instruction, cl));
        // Between two steps of a repeated comparison the processor does not show the flags yet.
        if after.rip == case.registers.rip && case.instruction.is_string_instruction() {
            undefined = u64::MAX;
        }
        if undefined_result(&case.instruction, cl)
            || is_out_of_domain(&case.instruction, case.registers.stack[0])
        {
            return differences;
        }
        let mut check = |name: &str, theirs: u128, mask: u128| {
            let mine = ours.register(name);
            if (mine ^ theirs) & mask != 0 {
                differences.push(format!("{name} is {theirs:#x}, ours {mine:#x}"));
            }
        };
        // Only in 64-bit code the upper halves are in sight.
        let seen = if case.registers.bits < 64 { u128::from(u32::MAX) } else { u128::MAX };
        let (general, pc) = names(case.registers.bits);
        for (name, value) in general.iter().zip(after.general) {
            check(name, u128::from(value), seen);
        }
        check(pc, u128::from(after.rip), seen);
        if case.registers.bits == 16 {
            for (name, value) in SEGMENTS.into_iter().zip(after.segments) {
                check(name, u128::from(value), u128::MAX);
            }
        }
        for (name, bit) in FLAGS {
            if undefined >> bit & 1 == 0 {
                check(name, u128::from(after.flags >> bit & 1), u128::MAX);
            }
        }
        let estimated = is_estimate(&case.instruction);
        for index in 0..general.len() {
            for (name, value) in
                [(format!("XMM{index}"), after.vector[index]), (format!("YMM{index}_H"), after.upper[index])]
            {
                if !(estimated && are_estimates(value, ours.register(&name))) {
                    check(&name, value, u128::MAX);
                }
            }
        }
        let approximate = is_approximate(&case.instruction);
        for (index, value) in after.stack.iter().enumerate() {
            let name = format!("ST{index}");
            let close = approximate && place_of(*value).abs_diff(place_of(ours.register(&name))) <= 1;
            if !close {
                check(&name, *value, u128::MAX);
            }
        }
        check("FPUSTATUSWORD", u128::from(after.status), 0xb8ff);
        check("FPUTAGWORD", u128::from(relative_tags(after)), u128::MAX);
        let undefined = undefined_codes(&case.instruction);
        for (name, bit) in [("C0", 8), ("C1", 9), ("C2", 10), ("C3", 14)] {
            if undefined >> bit & 1 == 0 {
                check(name, u128::from(after.status >> bit & 1), u128::MAX);
            }
        }
        check("FPUCONTROLWORD", u128::from(after.control), u128::MAX);
        check("MXCSR", u128::from(after.mxcsr), u128::MAX);
        let table = match &ours.state {
            Ok(state) => &state.memory,
            Err(_) => return differences,
        };
        let unkept = case.unkept();
        let key = case.registers.bits.max(32) as u16;
        let start = data(case.registers.bits);
        for (index, theirs) in self.memory.iter().enumerate() {
            if unkept.iter().any(|range| range.contains(&(start + index as u64))) {
                continue;
            }
            let mine = table.get(&Bits::new(key, u128::from(start) + index as u128)).to_u64().unwrap_or(0);
            if mine != u64::from(*theirs) {
                differences.push(format!("byte {:#x} is {theirs:#x}, ours {mine:#x}", start + index as u64));
            }
        }
        for (key, _) in table.entries() {
            if key.to_u64().is_none_or(|key| !(start..start + ARENA as u64).contains(&key)) {
                differences.push(format!("ours writes to {key:?}"));
            }
        }
        differences
    }
}

/// The place of an extended number among all of its sign: the next number has the next place. The integer bit goes with the
/// exponent.
fn place_of(number: u128) -> u128 {
    (number >> 64) << 63 | (number & ((1 << 63) - 1))
}

/// Instructions that not every maker's processors refuse where we do: SHA on memory that is not aligned, and a bit of MXCSR that
/// only some have.
fn is_refused_by_some(instruction: &iced_x86::Instruction) -> bool {
    use iced_x86::Mnemonic::{Fxrstor, Fxrstor64, Ldmxcsr, Vldmxcsr};
    instruction.cpuid_features().contains(&iced_x86::CpuidFeature::SHA)
        || matches!(instruction.mnemonic(), Ldmxcsr | Vldmxcsr | Fxrstor | Fxrstor64)
}

/// Whether singles are all within the bound that the manual promises, ours being the truth; those without a bound must be
/// equal. Where the truth is hardly a normal number, so may the estimate be.
fn are_estimates(theirs: u128, ours: u128) -> bool {
    (0..4).all(|lane| {
        let [theirs, ours] = [theirs, ours].map(|all| f32::from_bits((all >> (32 * lane)) as u32));
        let distance = (f64::from(theirs) - f64::from(ours)).abs();
        let bound = 1.5 / 4096.0 * f64::from(ours).abs();
        theirs.to_bits() == ours.to_bits()
            || (distance <= bound && ours.is_normal())
            || (theirs.abs() <= f32::MIN_POSITIVE * 1.001 && ours.abs() <= f32::MIN_POSITIVE * 1.001)
    })
}

/// The instruction in the symbolic reading, from the identity, once for many states.
pub(crate) struct SymbolicCase {
    store: Store,
    result: Result<Written, String>,
}

/// What the instruction changes, as terms.
struct Written {
    words: Vec<(usize, parallax_term::Term)>,
    flags: Vec<(usize, parallax_term::Formula)>,
    memory: Option<parallax_term::FuncExpr>,
    stops: Vec<(parallax_term::Formula, Trap)>,
}

impl SymbolicCase {
    pub fn new(processor: &Rc<Processor>, instruction: &Instruction) -> Self {
        let store = Store::new();
        let result = {
            let core = Symbolic::new(&store);
            exec(&core, instruction, State::identity(&core, processor))
                .map_err(|error| error.to_string())
                .map(|state| {
                    let mut written = Written {
                        words: Vec::new(),
                        flags: Vec::new(),
                        memory: state.is_memory_written().then_some(state.memory),
                        stops: state.stops.clone(),
                    };
                    for (index, cell) in
                        processor.cells.iter().enumerate().filter(|(index, _)| state.is_written(*index))
                    {
                        match cell.kind {
                            RegisterKind::Word => written
                                .words
                                .push((index, state.cell(&core, index).word(&core, cell.place.width()))),
                            RegisterKind::Flag => {
                                written.flags.push((index, state.cell(&core, index).truth(&core, 8)))
                            }
                        }
                    }
                    written
                })
        };
        SymbolicCase { store, result }
    }

    /// Why there are no terms, if it is because an operation has no meaning.
    pub fn refusal(&self) -> Option<&str> {
        self.result.as_ref().err().filter(|error| error.contains("has no meaning")).map(String::as_str)
    }

    /// Where the terms, evaluated at the state, differ from the concrete result.
    pub fn differences(&self, processor: &Processor, before: &State<Concrete>, ours: &Ours) -> Vec<String> {
        let written = match &self.result {
            Ok(written) => written,
            Err(error) => return vec![format!("no symbolic meaning: {error}")],
        };
        let Ok(concrete) = &ours.state else { return Vec::new() };
        let mut structure: Struct<Concrete> = Struct::new();
        for (index, cell) in processor.cells.iter().enumerate() {
            let (Some(value), Some(symbol)) = (before.known_cell(index), self.store.lookup(&cell.name))
            else {
                continue;
            };
            match cell.kind {
                RegisterKind::Word => structure.set_val(symbol, value.word(&Concrete, cell.place.width())),
                RegisterKind::Flag => structure.set_bool(symbol, value.truth(&Concrete, cell.place.width())),
            }
        }
        if let Some(symbol) = self.store.lookup("F_mem") {
            structure.set_map(symbol, before.memory.clone());
        }
        let roots = written
            .words
            .iter()
            .map(|(_, term)| term.id())
            .chain(written.flags.iter().map(|(_, formula)| formula.id()))
            .chain(written.memory.iter().map(|map| map.id()))
            .chain(written.stops.iter().map(|(formula, _)| formula.id()));
        let evaluation = Evaluation::of(&Concrete, &self.store, &structure, roots);
        let mut differences = Vec::new();
        let stop = written.stops.iter().find(|(guard, _)| evaluation.truth(*guard)).map(|(_, trap)| *trap);
        if stop != ours.trap() {
            differences.push(format!("symbolic: stops with {stop:?}, concrete with {:?}", ours.trap()));
        }
        if stop.is_some() {
            return differences;
        }
        for (index, term) in &written.words {
            let cell = &processor.cells[*index];
            let (symbolic, concrete) =
                (evaluation.val(*term), concrete.cell(&Concrete, *index).word(&Concrete, cell.place.width()));
            if symbolic != concrete {
                differences
                    .push(format!("{} is symbolically {symbolic:?}, concretely {concrete:?}", cell.name));
            }
        }
        for (index, formula) in &written.flags {
            let (symbolic, concrete) =
                (evaluation.truth(*formula), concrete.cell(&Concrete, *index).truth(&Concrete, 8));
            if symbolic != concrete {
                differences.push(format!("{} is symbolically {symbolic}", processor.cells[*index].name));
            }
        }
        if let Some(map) = written.memory
            && evaluation.map(map) != concrete.memory
        {
            differences.push("memory differs symbolically".to_owned());
        }
        differences
    }
}
