//! Functions that call, in two readings: what they do run on numbers is what their formulas say, or a reason is given why
//! there is no formula for that state.
//!
//! The functions of `functions/calls.c` call helpers that store through arguments, recurse, go through tables and pointers,
//! pass the addresses of locals on, and write past the ends of arrays. Each is evaluated once with everything open, the
//! stack pointer too, and then held against runs from random states: registers, memory, the stack itself, pointers that
//! overlap. Where the formula says that it holds, it must agree with the run; elsewhere evaluation must have given up.
//!
//! A slice runs by default; `ALL_CALLS=1` (`make calls`) runs every level of every processor.

use crate::random;

use parallax_code::{Halt, MachineState, Program, Selection, SharedLifter, load};
use parallax_op::{Bits, Width};
use parallax_primitives::{Bounds, Evaluation, Explorer};
use parallax_sem::logic::Struct;
use parallax_sem::{ByteOrder, ConstantTables, Core, Language, Places, Procedures, Stuck, Successors};
use parallax_sleigh::Lifter;
use parallax_term::{Store, StructUpdate};
use random::Random;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A processor, how to compile for it, and its calling convention.
struct Target {
    language: &'static str,
    options: &'static [&'static str],
    /// The registers of the three arguments; none when they are on the stack.
    arguments: &'static [&'static str],
    stack: &'static str,
    /// The register with the return address; none when it is on the stack.
    link: Option<&'static str>,
    /// Registers that hold something of the caller's.
    kept: &'static [&'static str],
    result: &'static str,
}

const TARGETS: &[Target] = &[
    Target {
        language: "x86-64",
        options: &["--target=x86_64-linux-gnu"],
        arguments: &["RDI", "RSI", "RDX"],
        stack: "RSP",
        link: None,
        kept: &["RBX", "RBP", "R12", "R13", "R14", "R15"],
        result: "RAX",
    },
    Target {
        language: "x86",
        options: &["--target=i386-linux-gnu", "-march=pentium4", "-fno-pic"],
        arguments: &[],
        stack: "ESP",
        link: None,
        kept: &["EBX", "EBP", "ESI", "EDI"],
        result: "EAX",
    },
    Target {
        language: "aarch64",
        options: &["--target=aarch64-linux-gnu"],
        arguments: &["X0", "X1", "X2"],
        stack: "SP",
        link: Some("X30"),
        kept: &["X19", "X20", "X21", "X22", "X29"],
        result: "X0",
    },
    Target {
        language: "riscv64",
        options: &["--target=riscv64-linux-gnu", "-march=rv64gc"],
        arguments: &["A0", "A1", "A2"],
        stack: "SP",
        link: Some("RA"),
        kept: &["S0", "S1", "S2", "S3"],
        result: "A0",
    },
    Target {
        language: "arm",
        options: &["--target=arm-linux-gnueabihf", "-mcpu=cortex-a15", "-mfpu=vfpv4", "-marm"],
        arguments: &["R0", "R1", "R2"],
        stack: "SP",
        link: Some("LR"),
        kept: &["R4", "R5", "R6", "R7", "R11"],
        result: "R0",
    },
    Target {
        language: "powerpc",
        options: &["--target=powerpc-linux-gnu"],
        arguments: &["R3", "R4", "R5"],
        stack: "R1",
        link: Some("LR"),
        kept: &["R28", "R29", "R30", "R31"],
        result: "R3",
    },
    // Functions have descriptors.
    Target {
        language: "powerpc64",
        options: &["--target=powerpc64-linux-gnu", "-mabi=elfv1", "-mno-altivec"],
        arguments: &["R3", "R4", "R5"],
        stack: "R1",
        link: Some("LR"),
        kept: &["R28", "R29", "R30", "R31"],
        result: "R3",
    },
    Target {
        language: "powerpc64le",
        options: &["--target=powerpc64le-linux-gnu", "-mno-vsx", "-mno-altivec"],
        arguments: &["R3", "R4", "R5"],
        stack: "R1",
        link: Some("LR"),
        kept: &["R28", "R29", "R30", "R31"],
        result: "R3",
    },
];

/// Where a caller outside the file is.
const CALLER: u64 = 0x7fff_0000;
const OBJECTS: u64 = 0x2000_0000;
const STACK: u64 = 0x3000_0000;
/// How much of the stack is compared, below the stack pointer and above it.
const BELOW: u64 = 768;
const ABOVE: u64 = 64;
/// From how many states each function runs.
const STATES: usize = 6;

const BOUNDS: Bounds = Bounds { unroll: 20, steps: 3000, time: None };

fn compile(target: &Target, level: &str) -> Vec<u8> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/functions/calls.c");
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("calls-{}{level}.o", target.language));
    let status = Command::new("clang-19")
        .args(target.options)
        .args([level, "-c", "-w", "-ffreestanding", "-fno-builtin", "-fno-stack-protector"])
        .args(["-fno-vectorize", "-fno-slp-vectorize", "-fno-unwind-tables"])
        .arg(&source)
        .arg("-o")
        .arg(&out)
        .status()
        .expect("clang-19 runs");
    assert!(status.success(), "clang-19 {:?} {level}", target.options);
    std::fs::read(out).expect("written")
}

fn functions(file: &[u8]) -> Vec<String> {
    use object::{Object, ObjectSymbol};
    let file = object::File::parse(file).expect("an object file");
    let names = file.symbols().filter(|symbol| symbol.is_definition());
    let mut names: Vec<String> = names
        .filter_map(|symbol| symbol.name().ok().filter(|name| name.starts_with("c_")).map(str::to_owned))
        .collect();
    names.sort();
    names
}

/// A state as a caller might leave it: two pointers, which may overlap, a number, and a stack full of old things.
fn before(program: &Program, target: &Target, random: &mut Random) -> MachineState {
    let processor = program.processor();
    let width = processor.address_bytes * 8;
    let first = OBJECTS + 64;
    let second = match random.number() % 4 {
        0 => first,
        1 => first + 4,
        _ => first + 256,
    };
    let number = [random.number() % 32, random.number()][(random.number() % 2) as usize];
    let arguments = [first, second, number & 0xffff_ffff];
    let stack = match (target.link, target.language) {
        (None, "x86-64") => STACK - 8,
        (None, _) => STACK - 4,
        _ => STACK,
    };
    let mut state = MachineState::default();
    let mut set = |name: &str, value: u64| {
        state.registers.push((name.to_owned(), Bits::new(width, u128::from(value))));
    };
    set(target.stack, stack);
    target.arguments.iter().zip(arguments).for_each(|(name, value)| set(name, value));
    target.kept.iter().for_each(|name| set(name, random.number()));
    if !target.arguments.contains(&target.result) {
        set(target.result, random.number());
    }
    if let Some(link) = target.link {
        set(link, CALLER);
    }
    let mut bytes = |count: u64| (0..count).map(|_| random.number() as u8).collect::<Vec<u8>>();
    state.memory.push((OBJECTS, bytes(512)));
    let mut frame = bytes(BELOW + ABOVE);
    let mut words = Vec::new();
    if target.link.is_none() {
        words.push(CALLER);
    }
    if target.arguments.is_empty() {
        words.extend(arguments);
    }
    for (index, word) in words.into_iter().enumerate() {
        let size = usize::from(processor.address_bytes);
        let at = BELOW as usize + index * size;
        let number = match processor.order {
            ByteOrder::Little => word.to_le_bytes()[..size].to_vec(),
            ByteOrder::Big => word.to_be_bytes()[8 - size..].to_vec(),
        };
        frame[at..at + size].copy_from_slice(&number);
    }
    state.memory.push((stack - BELOW, frame));
    state
}

/// What came out.
#[derive(Debug, Default)]
struct Tally {
    functions: usize,
    /// Functions that were followed to the end from every state.
    whole: usize,
    /// States in which formula and run agree, and those about which the formula says nothing.
    agree: usize,
    given_up: usize,
    /// Why evaluation gave up, the addresses left out, and for how many functions.
    reasons: BTreeMap<String, usize>,
    failures: Vec<String>,
}

/// Holds the formula of a function against its runs.
fn compare(
    program: &Program,
    target: &Target,
    store: &Store,
    evaluation: &Evaluation,
    place: &str,
    tally: &mut Tally,
) {
    tally.functions += 1;
    tally.whole += usize::from(evaluation.gave_up.is_empty());
    for why in evaluation.gave_up.iter().map(ToString::to_string) {
        let words: Vec<&str> =
            why.split(' ').filter(|word| !word.starts_with("0x") && !word.starts_with('(')).collect();
        *tally.reasons.entry(words.join(" ")).or_default() += 1;
    }
    let mut random = Random(0x1234_5678_9abc_def1 ^ place.len() as u64);
    for _ in 0..STATES {
        let start = before(program, target, &mut random);
        let complete = program.holds(store, evaluation.complete, &start).expect("registers exist");
        let broken = |assumption: &parallax_primitives::Assumption| {
            program.holds(store, assumption.breaks, &start).expect("registers exist")
        };
        if parallax_primitives::assumptions(store).iter().any(broken) {
            tally.failures.push(format!("{place}: an ordinary state breaks an assumption"));
            return;
        }
        if !complete {
            tally.given_up += 1;
            if evaluation.gave_up.is_empty() {
                tally.failures.push(format!("{place}: a state is left out, and no reason is given"));
                return;
            }
            continue;
        }
        let ran = program.run_state(&start, 20_000).expect("registers exist");
        let found = program.evaluate_state(store, &evaluation.update, &start).expect("registers exist");
        let differs = start
            .registers
            .iter()
            .map(|(name, _)| name)
            .find(|name| value(&ran, name) != value(&found, name));
        // A fault is a part of what the program does; what registers hold then is not.
        if let (Some(Halt::Stuck(_)), Some(_)) = (&ran.stopped, &found.stopped) {
            tally.agree += 1;
            continue;
        }
        if ran.stopped.is_some() || found.stopped.is_some() {
            let why =
                ran.stopped.clone().or(found.stopped.clone()).map(|why| why.to_string()).unwrap_or_default();
            tally.failures.push(format!("{place}: the formula holds, and the run stops: {why}"));
            return;
        }
        if let Some(name) = differs {
            let (ran, found) = (value(&ran, name), value(&found, name));
            tally.failures.push(format!("{place}: {name} is {ran:?} when run, {found:?} by formula"));
            return;
        }
        if ran.memory != found.memory {
            tally.failures.push(format!("{place}: memory differs"));
            return;
        }
        tally.agree += 1;
    }
}

fn value(state: &MachineState, name: &str) -> Option<Bits> {
    state.registers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}

/// Evaluates every function of a file, with what `evaluate` does.
fn check(
    target: &Target,
    level: &str,
    lifter: &SharedLifter,
    wanted: impl Fn(&str) -> bool,
    evaluate: impl for<'s> Fn(&'s Program, &'s Store) -> Evaluation,
    tally: &mut Tally,
) {
    let file = compile(target, level);
    for name in functions(&file).into_iter().filter(|name| wanted(name)) {
        let program =
            load(&file, &Selection::Function(name.clone()), lifter).expect("a function of the file");
        let store = Store::new();
        program.declare(&store);
        let evaluation = evaluate(&program, &store);
        compare(&program, target, &store, &evaluation, &format!("{} {level} {name}", target.language), tally);
    }
}

fn apart(program: &Program, store: &Store) -> Evaluation {
    Explorer::new(program, store, BOUNDS)
        .with_solver(parallax_smt::solver(store))
        .with_stack_apart()
        .evaluate(&StructUpdate::identity())
}

/// The same without assuming anything.
fn exact(program: &Program, store: &Store) -> Evaluation {
    Explorer::new(program, store, BOUNDS)
        .with_solver(parallax_smt::solver(store))
        .evaluate(&StructUpdate::identity())
}

fn lifter(target: &Target) -> SharedLifter {
    let language = parallax_sleigh::Language::find(target.language).expect("a known processor");
    SharedLifter::new(Lifter::new(language).expect("its model").into())
}

#[test]
fn formulas_of_functions_that_call_agree_with_runs() {
    let all = std::env::var_os("ALL_CALLS").is_some();
    let mut tally = Tally::default();
    for (index, target) in TARGETS.iter().enumerate() {
        let levels = ["-O0", "-O1", "-O2", "-O3"];
        // By default each processor has one level without optimisation or with, by turns.
        let levels = if all { &levels[..] } else { &levels[index % 2 * 2..][..1] };
        let lifter = lifter(target);
        for level in levels {
            check(target, level, &lifter, |_| true, apart, &mut tally);
        }
    }
    let Tally { functions, whole, agree, given_up, reasons, failures } = tally;
    println!(
        "{functions} functions, {whole} followed to their ends; {agree} states agree, {given_up} given up"
    );
    reasons.iter().for_each(|(why, count)| println!("{count:5} {why}"));
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(functions >= if all { 1000 } else { 250 }, "{functions} functions");
    assert!(whole > functions * 3 / 5, "{whole} of {functions} were followed to their ends");
}

/// Without an assumption formulas are conditional, and no less true.
#[test]
fn nothing_assumed_is_nothing_wrong() {
    let mut tally = Tally::default();
    let few = ["c_two", "c_put_then_read", "c_swap", "c_kept", "c_smash", "c_holder_given"];
    for target in TARGETS {
        check(target, "-O0", &lifter(target), |name| few.contains(&name), exact, &mut tally);
    }
    println!("{} functions; {} states agree, {} given up", tally.functions, tally.agree, tally.given_up);
    assert!(tally.failures.is_empty(), "{}", tally.failures.join("\n"));
    assert!(tally.agree > 0);
}

/// A program under the rule that held once: an address that nobody knows is taken to lead out of the program.
struct OldRule<'p>(&'p Program);

impl Language for OldRule<'_> {
    type State<C: Core> = <Program as Language>::State<C>;
    type Control = <Program as Language>::Control;

    fn belongs<C: Core>(&self, core: &C, _: &C::Val) -> C::Bool {
        core.boolean(false)
    }
    fn declare(&self, store: &Store) {
        self.0.declare(store);
    }
    fn state<C: Core>(&self, core: &C, store: &Store, s: &Struct<C>) -> Self::State<C> {
        self.0.state(core, store, s)
    }
    fn structure<C: Core>(&self, core: &C, store: &Store, state: &Self::State<C>) -> Struct<C> {
        self.0.structure(core, store, state)
    }
    fn placement(&self, symbol: &str) -> Option<Bits> {
        self.0.placement(symbol)
    }
    fn pc_width(&self) -> Width {
        self.0.pc_width()
    }
    fn entry(&self) -> Bits {
        self.0.entry()
    }
    fn pc<C: Core>(&self, state: &Self::State<C>) -> C::Val {
        self.0.pc(state)
    }
    fn at<C: Core>(&self, core: &C, state: Self::State<C>, pc: &Bits) -> Self::State<C> {
        self.0.at(core, state, pc)
    }
    fn has_instruction(&self, pc: &Bits) -> bool {
        self.0.has_instruction(pc)
    }
    fn line(&self, pc: &Bits) -> Option<usize> {
        self.0.line(pc)
    }
    fn step<C: Core>(&self, core: &C, state: Self::State<C>, pc: &Bits) -> Result<Self::State<C>, Stuck> {
        self.0.step(core, state, pc)
    }
    fn successors(&self, at: u64) -> Option<Successors> {
        self.0.successors(at).map(|known| Successors { returns: false, ..known })
    }
    fn control<C: Core>(&self, state: &Self::State<C>) {
        self.0.control(state);
    }
    fn join<C: Core>(&self, core: &C, b: &C::Bool, t: &Self::State<C>, e: &Self::State<C>) -> Self::State<C> {
        self.0.join(core, b, t, e)
    }
}

impl Procedures for OldRule<'_> {}

impl ConstantTables for OldRule<'_> {
    fn step_with<C: Core>(
        &self,
        core: &C,
        state: Self::State<C>,
        pc: &Bits,
        places: &mut Places<'_, C>,
    ) -> Result<Self::State<C>, Stuck> {
        self.0.step_with(core, state, pc, places)
    }
    fn table(&self, address: &Bits) -> Option<std::ops::Range<u64>> {
        self.0.table(address)
    }
}

/// The comparison is worth something: the old rule does not survive it.
#[test]
fn the_old_rule_is_found_out() {
    let mut tally = Tally::default();
    let old = |program: &Program, store: &Store| {
        Explorer::new(&OldRule(program), store, BOUNDS).evaluate(&StructUpdate::identity())
    };
    for target in &TARGETS[..2] {
        check(
            target,
            "-O0",
            &lifter(target),
            |name| ["c_two", "c_put_then_read"].contains(&name),
            old,
            &mut tally,
        );
    }
    assert_eq!(tally.failures.len(), tally.functions, "{:?}", tally.failures);
}

/// Of 64-bit PowerPC with function descriptors, a call is to a descriptor, by the symbol of a function or by a place in their section.
#[test]
fn calls_of_descriptors_lead_to_their_code() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let source = folder.join("descriptors.c");
    let text = "__attribute__((noinline)) int open_(int x) { return x + 1; }\n\
        static __attribute__((noinline)) int hidden(int x) { return x * 7; }\n\
        static int (*const table[2])(int) = { open_, hidden };\n\
        int direct(int x) { return open_(x) - 3 * hidden(x); }\n\
        int last(int x) { return open_(x + 2); }\n\
        int indirect(int x) { return table[x & 1](x) - 1; }\n";
    std::fs::write(&source, text).expect("written");
    type Meaning = fn(i32) -> i32;
    let expected: [(&str, Meaning); 3] = [
        ("direct", |x| x.wrapping_add(1).wrapping_sub(x.wrapping_mul(21))),
        ("last", |x| x.wrapping_add(3)),
        ("indirect", |x| if x & 1 == 0 { x } else { x.wrapping_mul(7) - 1 }),
    ];
    let compilers: [&[&str]; 2] = [
        &["clang-19", "--target=powerpc64-linux-gnu", "-mabi=elfv1"],
        &["powerpc-linux-gnu-gcc", "-m64", "-mabi=elfv1"],
    ];
    let language = parallax_sleigh::Language::find("powerpc64").expect("a known processor");
    let lifter = SharedLifter::new(Lifter::new(language).expect("its model").into());
    for compiler in compilers {
        for level in ["-O0", "-O1", "-O2"] {
            let out = folder.join(format!("descriptors-{}{level}.o", compiler[0]));
            let mut command = Command::new(compiler[0]);
            command.args(&compiler[1..]).args([level, "-c", "-ffreestanding", "-mno-altivec"]).arg(&source);
            assert!(command.arg("-o").arg(&out).status().expect("it runs").success(), "{compiler:?}");
            let file = std::fs::read(out).expect("written");
            for (name, value_of) in expected {
                let program =
                    load(&file, &Selection::Function(name.to_owned()), &lifter).expect("it is there");
                let store = Store::new();
                program.declare(&store);
                let evaluation = exact(&program, &store);
                for x in [0, 1, 2, 7, -3, i32::MAX, i32::MIN] {
                    let number = |value: u64| Bits::new(64, value.into());
                    let mut start = MachineState::default();
                    let registers = [("R3", i64::from(x) as u64), ("R1", STACK), ("LR", CALLER)];
                    start.registers =
                        registers.map(|(name, value)| (name.to_owned(), number(value))).to_vec();
                    start.memory.push((STACK - BELOW, vec![0; (BELOW + ABOVE) as usize]));
                    let ran = program.run_state(&start, 1000).expect("registers exist");
                    assert_eq!(ran.stopped, None, "{compiler:?} {level} {name}");
                    let result = number(i64::from(value_of(x)) as u64);
                    assert_eq!(value(&ran, "R3"), Some(result.clone()), "{compiler:?} {level} {name}({x})");
                    if program.holds(&store, evaluation.complete, &start).expect("registers exist") {
                        let found =
                            program.evaluate_state(&store, &evaluation.update, &start).expect("likewise");
                        assert_eq!(value(&found, "R3"), Some(result), "{compiler:?} {level} {name}({x})");
                    }
                }
            }
        }
    }
}
