//! From a moment of a run: what the ways of a function come to, over terms, is what the emulator comes to on any input.

mod in_turn;

use in_turn::in_turn;
use parallax_concolic::ways::{Reach, Ways, follow};
use parallax_concolic::{Command, Input, Kind, Moment, Subject, SubjectError};
use parallax_op::Bits;
use parallax_sem::Concrete;
use parallax_sem::logic::{self, Scalar, Struct};
use parallax_term::{Expr, Node, Store};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// No harness: a subject takes standard input and output from the process that holds it.
fn main() {
    let cases: &[(&str, fn())] = &[
        ("functions", functions),
        ("whole", whole),
        ("second_call", second_call),
        ("library", library),
        ("refused", refused),
    ];
    in_turn(cases)
}

fn compile(flags: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("moments-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/moments.c");
    let program = folder.join(format!("moments{}", flags.concat()));
    let status = std::process::Command::new("gcc").args(flags).arg("-o").arg(&program).arg(source).status();
    assert!(status.unwrap().success());
    program
}

fn at(program: &Path, moment: &str, unknown: &[&str]) -> Result<(Subject, Input), SubjectError> {
    let command = Command {
        path: program.to_owned(),
        arguments: vec![program.as_os_str().as_encoded_bytes().to_vec()],
        environment: Vec::new(),
        unjailed: false,
    };
    let unknown: Vec<String> = unknown.iter().map(|text| (*text).to_owned()).collect();
    Subject::at(&command, &moment.parse()?, &unknown, 1 << 30, 100_000_000)
}

const REACH: Reach =
    Reach { steps: 1_000_000, ways: 2_000, time: None, solver_time: Duration::from_secs(300) };

/// The meaning of the unknown parts on one input.
fn meaning(subject: &Subject, store: &Store, input: &[u8]) -> Struct<Concrete> {
    let mut s = Struct::new();
    for (source, range) in subject.sources.ranges() {
        let bytes = &input[range];
        match &source.kind {
            Kind::Register(name) => {
                s.set_val(store.lookup(name).unwrap(), Bits::from_le_bytes(bytes));
            }
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

/// Holds the ways of a function against the emulator on the real input and on others; how many of them return.
fn agrees(program: &Path, moment: &str, unknown: &[&str], inputs: usize) -> (usize, Ways) {
    let (mut subject, first) = at(program, moment, unknown).unwrap();
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
    let mut returned = 0;
    for number in 0..inputs + ways.ways.len() {
        let mut input = first.clone();
        match number.checked_sub(inputs) {
            Some(way) => input = ways.ways[way].input.clone(),
            None if number > 0 => {
                for byte in &mut input {
                    match random() % 4 {
                        0 => *byte = random() as u8,
                        1 => *byte = (random() % 4) as u8,
                        2 => *byte = b"0412-x9"[(random() % 7) as usize],
                        _ => {}
                    }
                }
            }
            None => {}
        }
        let s = meaning(&subject, &store, &input);
        let known = logic::formula(&Concrete, &store, ways.complete, &s);
        let real = subject.returned(&input, REACH.steps);
        if let Some(way) = number.checked_sub(inputs) {
            assert_eq!(ways.ways[way].outcome.is_none(), real.is_some(), "{moment} {input:?}");
            assert!(logic::formula(&Concrete, &store, ways.ways[way].condition, &s), "{moment} {input:?}");
        }
        let Some(mut real) = real else {
            assert!(!known, "{moment} on {input:?} does not return, and is said to");
            continue;
        };
        if !known {
            assert!(!ways.bounds.is_empty(), "{moment} on {input:?} returns, and is said not to");
            continue;
        }
        returned += 1;
        let end = logic::update(&Concrete, &store, &ways.update, &s);
        for (name, value) in &real.registers {
            let Some(symbol) = store.lookup(name) else { continue };
            match end.constants.get(&symbol) {
                Some(Scalar::Val(found)) => assert_eq!(found, value, "{moment}: {name} on {input:?}"),
                Some(Scalar::Bool(found)) => {
                    assert_eq!(*found, !value.is_zero(), "{moment}: {name} on {input:?}");
                }
                None => {}
            }
        }
        let memory = store.lookup("F_mem").unwrap();
        let mut map = ways.update.function(&store, memory);
        while let Node::Update(below, key, value) = store.node(map) {
            let address = store.as_constant(key).unwrap().to_u64().unwrap();
            let mut found = [0];
            real.memory.read(address, &mut found).unwrap();
            let byte = logic::term(&Concrete, &store, value, &s);
            assert_eq!(
                Some(u64::from(found[0])),
                byte.to_u64(),
                "{moment}: {address:#x} on {input:?}: {}",
                store.display(value.id())
            );
            map = below;
        }
    }
    (returned, ways)
}

/// What a register becomes, as text.
fn becomes(store: &Store, ways: &Ways, name: &str) -> String {
    let symbol = store.lookup(name).unwrap();
    store.display(ways.update.constant(store, symbol).id())
}

/// What of a program's functions is unknown, and how many ways they have at least.
const FUNCTIONS: &[(&str, &[&str], usize)] = &[
    ("two", &["[RDI]:4"], 1),
    ("classify", &["RDI"], 4),
    ("look_up", &["RDI"], 1),
    ("store_at", &["RDI", "RSI"], 1),
    ("sum", &["[RDI+8]:4"], 1),
    ("number", &["[RDI]:3"], 4),
    ("length", &["[RDI]:3"], 1),
    ("same", &["[RDI]:4", "[RSI]:4"], 1),
    ("copy", &["[RSI]:4"], 1),
    ("through", &["RSI"], 4),
    ("divide", &["RSI"], 2),
    ("grown", &["RDI"], 1),
    ("sorted", &["[RDI]:3"], 6),
];

fn functions() {
    for flags in [&["-O0"][..], &["-O2", "-fno-ipa-icf"], &["-O1", "-static"]] {
        let program = compile(flags);
        for (function, unknown, ways) in FUNCTIONS {
            let (returned, found) = agrees(&program, function, unknown, 20);
            assert!(returned > 0, "{function}");
            assert!(found.bounds.is_empty(), "{function}: {:?}", found.bounds);
            // Compilers may make one way of several.
            let fewest = if flags[0] == "-O0" { *ways } else { 1 };
            assert!(found.ways.len() >= fewest, "{function} {flags:?}: {} ways", found.ways.len());
        }
    }
}

/// One formula for all ways, in the words of the processor.
fn whole() {
    let program = compile(&["-O0"]);
    let (mut subject, first) = at(&program, "two", &["[RDI]:4"]).unwrap();
    let store = Store::new();
    let ways = follow(&mut subject, &store, &first, &REACH, &[]);
    assert_eq!(becomes(&store, &ways, "RAX"), "5:64");
    let (mut subject, first) = at(&program, "classify", &["RDI"]).unwrap();
    let store = Store::new();
    let ways = follow(&mut subject, &store, &first, &REACH, &[]);
    assert_eq!(ways.complete, store.true_());
    let rax = store.lookup("RAX").unwrap();
    let Expr::Term(rdi) = store.expr_of(store.lookup("RDI").unwrap()) else { panic!("a register") };
    for (x, wanted) in [(77, 99), (-5, 0xffff_ffff), (1001, 2), (1000, 0)] {
        let mut s: Struct<Concrete> = Struct::new();
        let symbol = store.lookup("RDI").unwrap();
        s.set_val(symbol, Bits::from_i128(64, x));
        let end = logic::update(&Concrete, &store, &ways.update, &s);
        let Some(Scalar::Val(found)) = end.constants.get(&rax) else { panic!("RAX changes") };
        assert_eq!(found.to_u64(), Some(wanted), "{x} in {}", store.display(rdi.id()));
    }
}

fn second_call() {
    let program = compile(&["-O0"]);
    let real = |moment: &str| at(&program, moment, &["RDI"]).unwrap().1[0];
    assert_eq!((real("classify"), real("classify#2"), real("classify#3")), (5, 6, 3));
    let missed = at(&program, "classify#9", &["RDI"]).err().unwrap().to_string();
    assert!(missed.contains("classify for the 9. time") && missed.contains("exited"), "{missed}");
}

/// Functions of libraries, by the names that their callers use: the one that is chosen for the processor is meant.
fn library() {
    for flags in [&["-O0", "-fno-builtin"][..], &["-O0", "-fno-builtin", "-static"]] {
        let program = compile(flags);
        let (returned, found) = agrees(&program, "strlen", &["[RDI]:3"], 30);
        // Sixteen bytes at a time: one way, whose length is the lowest zero.
        assert!(returned > 30 && found.bounds.is_empty(), "{:?}", found.bounds);
        let (_, found) = agrees(&program, "atoi", &["[RDI]:2"], 30);
        assert!(found.ways.len() > 3 && found.bounds.is_empty(), "{:?}", found.bounds);
    }
}

fn refused() {
    let program = compile(&["-O0"]);
    for (moment, unknown, words) in [
        ("nowhere", "RDI", "nowhere"),
        ("classify#0", "RDI", "classify#0"),
        ("classify", "RDJ", "RDJ"),
        ("classify", "[RDI", "[RDI"),
        ("classify", "[0x10]:4", "no memory"),
    ] {
        let said = at(&program, moment, &[unknown]).err().unwrap().to_string();
        assert!(said.contains(words), "{said}");
    }
    assert_eq!("f#2".parse::<Moment>().unwrap(), Moment { function: "f".into(), count: 2 });
}
