//! Functions as a compiler makes them, on every processor: what they do here is what they do natively.
//!
//! Each function of `functions/*.c` takes a pointer to eight 64-bit numbers, reads the first two and writes the rest.
//! It is compiled for this machine and loaded, and compiled for each processor and run in the concrete reading, from
//! the same random numbers; then evaluated symbolically, with the numbers open, and the result evaluated at them.

use crate::random;

use parallax_code::{MachineState, Program, Selection, SharedLifter, load};
use parallax_op::Bits;
use parallax_primitives::{Bounds, Explorer};
use parallax_sem::{ByteOrder, Language as _};
use parallax_sleigh::{Language, Lifter};
use parallax_term::{Store, StructUpdate, parse_update};
use random::Random;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A processor, how to compile for it, and where the first argument and the stack pointer are.
struct Target {
    language: &'static str,
    triple: &'static str,
    options: &'static [&'static str],
    source: &'static str,
    argument: &'static str,
    stack: &'static str,
}

const fn target(
    language: &'static str,
    triple: &'static str,
    options: &'static [&'static str],
    wide: bool,
    argument: &'static str,
    stack: &'static str,
) -> Target {
    let source = if wide { "wide.c" } else { "common.c" };
    Target { language, triple, options, source, argument, stack }
}

/// Loops over bytes: for little-endian processors, whose arrays lie as they do here.
const VECTORS: &[Target] = &[
    Target { source: "vectors.c", ..target("x86-64", "x86_64-linux-gnu", &[], true, "RDI", "RSP") },
    Target { source: "vectors.c", ..target("aarch64", "aarch64-linux-gnu", &[], true, "X0", "SP") },
    Target {
        source: "vectors.c",
        ..target("riscv64", "riscv64-linux-gnu", &["-march=rv64gc"], true, "A0", "SP")
    },
    Target { source: "vectors.c", ..target("arm", "arm-linux-gnueabihf", NEON, false, "R0", "SP") },
    Target { source: "vectors.c", ..target("arm", "arm-linux-gnueabihf", NEON_THUMB, false, "R0", "SP") },
];

/// The 32-bit ARM with its vectors.
const NEON: &[&str] = &["-mcpu=cortex-a15", "-mfpu=neon-vfpv4", "-marm"];
const NEON_THUMB: &[&str] = &["-mcpu=cortex-a15", "-mfpu=neon-vfpv4", "-mthumb"];

const ABSOLUTE_MIPS: &[&str] = &["-mips32r2", "-fno-pic", "-mno-abicalls"];

const TARGETS: &[Target] = &[
    target("x86-64", "x86_64-linux-gnu", &[], true, "RDI", "RSP"),
    target("x86", "i386-linux-gnu", &["-march=pentium4", "-mfpmath=sse"], false, "", "ESP"),
    target("aarch64", "aarch64-linux-gnu", &[], true, "X0", "SP"),
    target("riscv64", "riscv64-linux-gnu", &["-march=rv64gc"], true, "A0", "SP"),
    target("arm", "arm-linux-gnueabihf", &["-mcpu=cortex-a15", "-mfpu=vfpv4", "-marm"], false, "R0", "SP"),
    target("arm", "arm-linux-gnueabihf", &["-mcpu=cortex-a15", "-mfpu=vfpv4", "-mthumb"], false, "R0", "SP"),
    target("mips", "mips-linux-gnu", ABSOLUTE_MIPS, false, "A0", "SP"),
    target("mipsel", "mipsel-linux-gnu", ABSOLUTE_MIPS, false, "A0", "SP"),
    target("powerpc", "powerpc-linux-gnu", &[], false, "R3", "R1"),
    target("powerpc64", "powerpc64-linux-gnu", &["-mabi=elfv2", "-mno-altivec"], true, "R3", "R1"),
    target("powerpc64", "powerpc64-linux-gnu", &["-mabi=elfv1", "-mno-altivec"], true, "R3", "R1"),
    target("powerpc64le", "powerpc64le-linux-gnu", &["-mno-vsx", "-mno-altivec"], true, "R3", "R1"),
];

/// From how many inputs each function runs.
const RUNS: usize = 2;

const IO: u64 = 0x200_0000;
const STACK: u64 = 0x300_0000;
/// Where a caller that does not exist is: the 32-bit x86 passes arguments behind the return address.
const NOWHERE: u64 = 0;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

fn clang(arguments: &[&str], source: &str, out: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/functions").join(source);
    let status = Command::new("clang-19")
        .args(["-ffp-contract=off", "-fno-math-errno", "-ffreestanding", "-w"])
        .args(arguments)
        .arg(&source)
        .arg("-o")
        .arg(out)
        .status()
        .expect("clang-19 runs");
    assert!(status.success(), "clang-19 {arguments:?} {}", source.display());
}

/// The functions, natively.
struct Native(*mut libc::c_void);

impl Native {
    fn new(source: &str) -> Self {
        // Tests run side by side, and one must not load what another is still writing.
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let path = folder().join(format!("{source}.{}.so", NUMBER.fetch_add(1, Ordering::Relaxed)));
        clang(&["-O1", "-shared", "-fPIC"], source, &path);
        let path = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: a library of ours without initialisers.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        assert!(!handle.is_null());
        Native(handle)
    }

    fn call(&self, name: &str, mut io: [u64; 8]) -> [u64; 8] {
        let symbol = CString::new(name).unwrap();
        // SAFETY: every function of the library has this type and stays within the eight numbers.
        unsafe {
            let function = libc::dlsym(self.0, symbol.as_ptr());
            assert!(!function.is_null(), "{name}");
            let function: extern "C" fn(*mut u64) = std::mem::transmute(function);
            function(io.as_mut_ptr());
        }
        io
    }
}

/// Often a number at which something happens.
fn interesting(random: &mut Random, float: bool) -> u64 {
    let special =
        [0.0, -0.0, 1.0, -1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, f64::MAX, 1e10, 0.1];
    let singles = special.map(|d| u64::from((d as f32).to_bits()));
    let pick = random.number();
    match pick % 8 {
        0 if float => special[(pick >> 8) as usize % special.len()].to_bits(),
        1 if float => singles[(pick >> 8) as usize % singles.len()],
        2 if float => ((random.number() as i64 as f64) / 1e9).to_bits(),
        3 if float => u64::from((random.number() as i32 as f32 / 1e4).to_bits()),
        0 => pick >> 8 & 0xff,
        1 => [0, 1, u64::MAX, 1 << 31, 1 << 63, u64::MAX >> 1, 0xffff_ffff, 0x7fff_ffff, 0x80, 0x8000]
            [(pick >> 8) as usize % 10],
        2 => (random.number() as i32 >> 20) as i64 as u64,
        _ => random.number(),
    }
}

/// The bytes of numbers in the processor's order.
fn bytes(numbers: &[u64], order: ByteOrder) -> Vec<u8> {
    let one = |number: &u64| match order {
        ByteOrder::Little => number.to_le_bytes(),
        ByteOrder::Big => number.to_be_bytes(),
    };
    numbers.iter().flat_map(one).collect()
}

fn numbers(bytes: &[u8], order: ByteOrder) -> Vec<u64> {
    bytes
        .chunks(8)
        .map(|chunk| {
            let chunk = chunk.try_into().unwrap();
            match order {
                ByteOrder::Little => u64::from_le_bytes(chunk),
                ByteOrder::Big => u64::from_be_bytes(chunk),
            }
        })
        .collect()
}

/// The stack pointer where the processor's calling convention wants it: on x86 the return address is below what is
/// aligned.
fn stack(target: &Target) -> u64 {
    match target.language {
        "x86-64" => STACK - 8,
        "x86" => STACK - 4,
        _ => STACK,
    }
}

fn before(program: &Program, target: &Target, io: &[u64]) -> MachineState {
    let width = program.processor().address_bytes * 8;
    let mut state = MachineState::default();
    let mut set = |name: &str, value: u64| {
        state.registers.push((name.to_owned(), Bits::new(width, u128::from(value))));
    };
    set(target.stack, stack(target));
    if !target.argument.is_empty() {
        set(target.argument, IO);
    }
    state.memory.push((IO, bytes(io, program.processor().order)));
    if target.argument.is_empty() {
        let frame = [NOWHERE as u32, IO as u32].iter().flat_map(|word| word.to_le_bytes()).collect();
        state.memory.push((stack(target), frame));
    }
    state
}

/// The structure update that fixes the pointers and leaves the rest open.
fn pointers(program: &Program, store: &Store, target: &Target) -> StructUpdate {
    let width = program.processor().address_bytes * 8;
    let mut constants = vec![format!("{} -> {}:{width}", target.stack, stack(target))];
    if !target.argument.is_empty() {
        constants.push(format!("{} -> {IO}:{width}", target.argument));
    }
    let memory = if target.argument.is_empty() {
        let frame = [NOWHERE as u32, IO as u32];
        let frame = frame.iter().flat_map(|word| word.to_le_bytes()).enumerate();
        let changes: String =
            frame.map(|(i, byte)| format!("[{}:32 -> {byte}:8]", stack(target) + i as u64)).collect();
        format!("F_mem -> F_mem{changes}")
    } else {
        String::new()
    };
    parse_update(store, &format!("({{{}}}, {{{memory}}})", constants.join(", "))).expect("an update")
}

/// What a target's functions did.
#[derive(Default)]
struct Tally {
    runs: usize,
    symbolic: usize,
    functions: usize,
    failures: Vec<String>,
}

fn lifter(target: &Target) -> SharedLifter {
    SharedLifter::new(Lifter::new(Language::find(target.language).unwrap()).unwrap().into())
}

fn check(target: &Target, level: &str, native: &Native, lifter: &SharedLifter, tally: &mut Tally) {
    let name = format!("{}{}{level}{}.o", target.triple, target.options.concat(), target.source);
    let object = folder().join(name);
    let arch = format!("--target={}", target.triple);
    let options = [&[arch.as_str(), level, "-c"], target.options].concat();
    clang(&options, target.source, &object);
    let file = std::fs::read(&object).unwrap();
    for function in functions(&file) {
        let program = load(&file, &Selection::Function(function.clone()), lifter)
            .unwrap_or_else(|error| panic!("{} {level} {function}: {error}", target.language));
        tally.functions += 1;
        let place = format!("{}{} {level} {function}", target.language, target.options.concat());
        let mut random = Random(0x1234_5678_9abc_def1 ^ function.len() as u64);
        let float = function.starts_with('f') || function.contains("square");
        let evaluation = symbolic(&program, target, &function);
        for _ in 0..RUNS {
            let io: [u64; 8] = std::array::from_fn(|_| interesting(&mut random, float));
            let expected = native.call(&function, io);
            let start = before(&program, target, &io);
            let order = program.processor().order;
            let mut compare = |how: &str, after: MachineState| {
                let found = numbers(&after.memory[0].1, order);
                if found != expected || after.stopped.is_some() {
                    tally.failures.push(format!(
                        "{place} {how}: {:x?} gives {found:x?}, natively {expected:x?} {}",
                        &io[..2],
                        after.stopped.map(|why| why.to_string()).unwrap_or_default()
                    ));
                    return false;
                }
                true
            };
            if !compare("run", program.run_state(&start, 200_000).unwrap()) {
                break;
            }
            tally.runs += 1;
            if let Some((store, update)) = &evaluation {
                if !compare("evaluated", program.evaluate_state(store, update, &start).unwrap()) {
                    break;
                }
                tally.symbolic += 1;
            }
        }
    }
}

/// Functions whose stores go to addresses that depend on the inputs: as terms they are too large for a quick test.
const TOO_LARGE: &[&str] = &["t_string", "t_sort"];

/// The function as terms over its inputs, if it can be followed to its end within a small bound.
fn symbolic(program: &Program, target: &Target, function: &str) -> Option<(Store, StructUpdate)> {
    if TOO_LARGE.contains(&function) {
        return None;
    }
    let store = Store::new();
    program.declare(&store);
    let from = pointers(program, &store, target);
    let bounds = Bounds { unroll: 8, steps: 1500, time: None };
    let evaluation =
        Explorer::new(program, &store, bounds).with_solver(parallax_smt::solver(&store)).evaluate(&from);
    // A jump to an address that is not known may lead anywhere in the function: only what ends is compared.
    let complete = evaluation.gave_up.is_empty();
    complete.then_some((store, evaluation.update))
}

fn functions(file: &[u8]) -> Vec<String> {
    use object::{Object, ObjectSymbol};
    let file = object::File::parse(file).unwrap();
    let mut names: Vec<String> = file
        .symbols()
        .filter(|symbol| symbol.is_definition())
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .filter(|name| ["t_", "f_", "w_"].iter().any(|prefix| name.starts_with(prefix)))
        .collect();
    names.sort();
    names
}

#[test]
fn compiled_functions_do_what_they_do_natively() {
    let native = Native::new("wide.c");
    let mut tally = Tally::default();
    for target in TARGETS {
        let lifter = lifter(target);
        // The little-endian twins differ in nothing but the order of bytes: once is enough.
        let twin = ["mipsel", "powerpc64le"].contains(&target.language);
        for level in if twin { &["-O2"][..] } else { &["-O0", "-O2"] } {
            check(target, level, &native, &lifter, &mut tally);
        }
    }
    let Tally { functions, runs, symbolic, failures } = tally;
    println!("{functions} functions, {runs} runs, {symbolic} of them evaluated symbolically too");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(functions > 900 && runs == RUNS * functions, "{functions} functions, {runs} runs");
    assert!(symbolic > runs / 2, "{symbolic} of {runs} evaluated symbolically");
}

/// Loops that became vector instructions give what they give natively, in both readings.
#[test]
fn loops_over_arrays_do_what_they_do_natively() {
    let native = Native::new("vectors.c");
    let mut tally = Tally::default();
    for target in VECTORS {
        let lifter = lifter(target);
        check(target, "-O2", &native, &lifter, &mut tally);
        check(target, "-O3", &native, &lifter, &mut tally);
    }
    let Tally { functions, runs, symbolic, failures } = tally;
    println!("{functions} functions, {runs} runs, {symbolic} of them evaluated symbolically too");
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(functions > 400 && runs == RUNS * functions, "{functions} functions, {runs} runs");
    assert!(symbolic > runs / 2, "{symbolic} of {runs} evaluated symbolically");
}

/// A linker's output works like a compiler's: the same function, at the addresses it was given.
#[test]
fn linked_files_work_like_object_files() {
    let native = Native::new("wide.c");
    for target in TARGETS.iter().filter(|target| ["aarch64", "powerpc64le"].contains(&target.language)) {
        let arch = format!("--target={}", target.triple);
        let out = folder().join(format!("{}.linked", target.language));
        let link = ["-O1", "-nostdlib", "-static", "-fuse-ld=lld-19", "-Wl,--entry=t_table", arch.as_str()];
        clang(&[&link, target.options].concat(), target.source, &out);
        let file = std::fs::read(&out).unwrap();
        for function in ["t_table", "t_globals", "t_function_pointers", "f_polynomial"] {
            let program = load(&file, &Selection::Function(function.to_owned()), &lifter(target)).unwrap();
            let io = [0x1234_5678_9abc_def0, 6, 0, 0, 0, 0, 0, 0];
            let after = program.run_state(&before(&program, target, &io), 100_000).unwrap();
            assert_eq!(after.stopped, None, "{} {function}", target.language);
            assert_eq!(
                numbers(&after.memory[0].1, program.processor().order),
                native.call(function, io),
                "{} {function}",
                target.language
            );
        }
    }
}
