//! Summaries of library functions against the code they stand for: one way says what the emulator comes to on every input.

use libtest_mimic::{Arguments, Trial};
use parallax_concolic::ways::{Reach, follow};
use parallax_concolic::{Command, Kind, Subject};
use parallax_op::Bits;
use parallax_sem::Concrete;
use parallax_sem::logic::{self, Scalar, Struct};
use parallax_term::{Node, Store};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// No harness: a subject takes standard input and output from the process that holds it.
fn main() {
    const TEXT: &str = "[RDI]:12";
    let cases: &[(&'static str, &'static [&str])] = &[
        ("strlen", &[TEXT]),
        ("strnlen", &[TEXT]),
        ("strcmp", &[TEXT, "[RSI]:4"]),
        ("strncmp", &[TEXT, "[RSI]:6"]),
        ("strchr", &[TEXT, "RSI"]),
        ("strrchr", &[TEXT, "RSI"]),
        ("memchr", &[TEXT, "RSI"]),
        ("strspn", &["[RDI]:6"]),
        ("strcspn", &["[RDI]:6"]),
        ("strcpy", &["[RSI]:8"]),
        ("stpcpy", &["[RSI]:8"]),
        ("strcat", &["[RDI]:3", "[RSI]:4"]),
        ("memcpy", &["[RSI]:7"]),
        ("memmove", &["[RSI]:9"]),
        ("mempcpy", &["[RSI]:5"]),
        ("memset", &["RSI"]),
        ("atoi", &["[RDI]:8"]),
        ("atol", &["[RDI]:8"]),
    ];
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let programs = Arc::new(LazyLock::new(|| (compile(&[]), compile(&["-static"]))));
    let mut trials = Vec::new();
    for &(name, unknown) in cases {
        let programs = programs.clone();
        trials.push(Trial::test(name, move || {
            let (program, fixed) = &**programs;
            // What a call of the program itself enters is the function that was chosen for the processor, in both kinds of programs.
            assert_eq!(agrees(program, name, unknown, 150), 1, "{name} has one way");
            if !matches!(name, "strnlen" | "memmove") {
                agrees(fixed, name, unknown, 40);
            }
            Ok(())
        }));
    }
    // Requests for memory: one way for each size that they are rounded up to.
    for name in ["malloc", "calloc"] {
        let programs = programs.clone();
        trials.push(Trial::test(name, move || {
            allocates(&programs.0, name);
            Ok(())
        }));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn compile(flags: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("summaries-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/summaries.c");
    let program = folder.join(format!("summaries{}", flags.concat()));
    let status = std::process::Command::new("gcc").args(flags).arg("-o").arg(&program).arg(source).status();
    assert!(status.unwrap().success());
    program
}

const STEPS: u64 = 1_000_000;
const REACH: Reach = Reach { steps: STEPS, ways: 200, time: None, solver_time: Duration::from_secs(300) };

fn at(program: &Path, moment: &str, unknown: &[&str]) -> (Subject, Vec<u8>) {
    let command = Command {
        path: program.to_owned(),
        arguments: vec![program.as_os_str().as_encoded_bytes().to_vec()],
        environment: Vec::new(),
        unjailed: false,
    };
    let unknown: Vec<String> = unknown.iter().map(|text| (*text).to_owned()).collect();
    let moment = moment.parse().unwrap();
    let (mut subject, first) = Subject::at(&command, &moment, &unknown, 1 << 30, 100_000_000).unwrap();
    subject.summarise(STEPS);
    (subject, first)
}

fn meaning(subject: &Subject, store: &Store, input: &[u8]) -> Struct<Concrete> {
    let mut s = Struct::new();
    for (source, range) in subject.sources.ranges() {
        let bytes = &input[range];
        match &source.kind {
            Kind::Register(name) => s.set_val(store.lookup(name).unwrap(), Bits::from_le_bytes(bytes)),
            Kind::Memory { base, offset } => {
                for (index, byte) in bytes.iter().enumerate() {
                    let symbol = store.lookup(&format!("{base}.{}", *offset as usize + index)).unwrap();
                    s.set_val(symbol, Bits::new(8, (*byte).into()));
                }
            }
            other => unreachable!("{other:?}"),
        }
    }
    s
}

/// Bytes that make strings short, alike, and numbers.
fn vary(random: &mut impl FnMut() -> u64, input: &mut [u8]) {
    for byte in input {
        match random() % 5 {
            0 => *byte = random() as u8,
            1 => *byte = 0,
            2 => *byte = b" +-0179\t\n"[(random() % 9) as usize],
            3 => *byte = b"hel."[(random() % 4) as usize],
            _ => {}
        }
    }
}

/// Holds a summary against the emulator on the real input and on others; how many ways there are that return.
fn agrees(program: &Path, name: &str, unknown: &[&str], inputs: usize) -> usize {
    let (mut subject, first) = at(program, name, unknown);
    let store = Store::new();
    let start = subject.mark();
    let ways = follow(&mut subject, &store, &first, &REACH, &[]);
    subject.back_to(&start);
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut compared = 0;
    for number in 0..inputs {
        let mut input = first.clone();
        if number > 0 {
            vary(&mut random, &mut input);
        }
        let s = meaning(&subject, &store, &input);
        let known = logic::formula(&Concrete, &store, ways.complete, &s);
        let mut real = subject.returned(&input, STEPS).unwrap();
        if !known {
            continue;
        }
        compared += 1;
        let end = logic::update(&Concrete, &store, &ways.update, &s);
        let result = store.lookup("RAX").and_then(|symbol| end.constants.get(&symbol));
        // Of an `int` the lower half is promised.
        let half = |bits: &Bits| match name {
            "strcmp" | "strncmp" | "atoi" => bits.extract(0, 32),
            _ => bits.clone(),
        };
        if let Some(Scalar::Val(found)) = result {
            assert_eq!(half(found), half(&real.registers["RAX"]), "{name} on {input:?}");
        }
        for kept in ["RBX", "RBP", "RSP", "R12", "R13", "R14", "R15"] {
            if let Some(Scalar::Val(found)) = store.lookup(kept).and_then(|symbol| end.constants.get(&symbol))
            {
                assert_eq!(found, &real.registers[kept], "{name}: {kept} on {input:?}");
            }
        }
        let mut map = ways.update.function(&store, store.lookup("F_mem").unwrap());
        while let Node::Update(below, key, value) = store.node(map) {
            let address = store.as_constant(key).unwrap().to_u64().unwrap();
            let mut found = [0];
            real.memory.read(address, &mut found).unwrap();
            let byte = logic::term(&Concrete, &store, value, &s).to_u64();
            assert_eq!(Some(u64::from(found[0])), byte, "{name}: {address:#x} on {input:?}");
            map = below;
        }
    }
    assert!(compared * 3 > inputs * 2, "{name}: {compared} of {inputs} compared");
    ways.ways.len()
}

/// Every size is answered as the code answers it, and sizes that are rounded alike by one way.
fn allocates(program: &Path, name: &str) {
    let (mut subject, first) = at(program, name, &["RDI"]);
    let store = Store::new();
    let start = subject.mark();
    let reach = Reach { ways: 6, ..REACH };
    let ways = follow(&mut subject, &store, &first, &reach, &[]);
    subject.back_to(&start);
    let mut compared = 0;
    for size in 0..200u64 {
        let input = size.to_le_bytes();
        let s = meaning(&subject, &store, &input);
        if !logic::formula(&Concrete, &store, ways.complete, &s) {
            continue;
        }
        compared += 1;
        let real = subject.returned(&input, STEPS).unwrap();
        let end = logic::update(&Concrete, &store, &ways.update, &s);
        let found = match end.constants.get(&store.lookup("RAX").unwrap()) {
            Some(Scalar::Val(found)) => found.clone(),
            _ => panic!("{name}: no result"),
        };
        assert_eq!(found, real.registers["RAX"], "{name} of {size}");
    }
    assert!(compared >= 2, "{name}: {compared} sizes");
}
