//! A test that was written for a path takes that path natively: basic block by basic block.
//!
//! The program is compiled with clang's coverage callbacks, one for each block of the same unoptimised IR that was
//! explored. The callbacks number blocks in their own way, so the two traces have to be equal up to a renaming.

use crate::corpus;

use corpus::{Case, case, each, load, settings};
use parallax_cexplore::driver::driver;
use parallax_cexplore::explore::{Entry, Input, PathEnd, PathRecord, Settings, explore};
use parallax_cexplore::run::{self, Closed, Start, run_from};
use parallax_cexplore::{Program, native};
use parallax_cmachine::Files;
use parallax_term::Store;
use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// As the IR is compiled, and with a callback in every block.
const TRACED: [&str; 8] = [
    "-O0",
    "-Xclang",
    "-fsanitize-address-use-after-scope",
    "-fno-pic",
    "-no-pie",
    "-D__NO_CTYPE=1",
    "-fno-stack-protector",
    "-fsanitize-coverage=bb,no-prune,trace-pc-guard",
];

/// What the callbacks do, after the driver, neither of which is part of the program.
const UNTRACED: &str =
    "#pragma clang attribute push(__attribute__((no_sanitize(\"coverage\"))), apply_to = function)\n";
const CALLBACKS: &str = r#"
void __sanitizer_cov_trace_pc_guard_init(unsigned *from, unsigned *to) {
  static unsigned count;
  for (; from < to; from++) if (!*from) *from = ++count;
}
void __sanitizer_cov_trace_pc_guard(unsigned *guard) { write(9, guard, sizeof *guard); }
#pragma clang attribute pop
"#;

/// The blocks that a concrete run of an input enters, in the user's own code.
fn predicted(program: &Program, input: &Input, settings: &Settings) -> Vec<(u32, u32)> {
    let module = &program.module;
    let concrete = run::Settings {
        steps: Some(1_000_000),
        inputs: input.values.iter().map(|(_, bits)| bits.clone()).collect(),
        random_inputs: settings.random_inputs,
        failing_allocation: settings.failing_allocation,
        failing_calls: settings.failing_calls,
        ..run::Settings::default()
    };
    let files = input.files.iter().map(|(name, bytes)| (name.clone().into_bytes(), bytes.clone()));
    let mut world = Closed { files: Files::new(input.stdin.clone(), files), ..Closed::default() };
    let start = match &settings.entry {
        Entry::Main { .. } => Start::Main(&input.arguments),
        Entry::Function(name) => Start::Function(name, &input.memory),
    };
    let mut trace = Vec::new();
    run_from(module, start, &mut world, &concrete, &mut |state| {
        let frame = state.frame();
        if !module.function(frame.function).library {
            trace.push((frame.function.0, frame.block.0));
        }
    });
    trace
}

/// The blocks that the native program enters, by the numbers of their callbacks.
fn taken(program: &Program, record: &PathRecord, settings: &Settings, folder: &Path) -> Vec<u32> {
    let mut driver = driver(&program.module, &record.input, settings).expect("a driver");
    driver.text = format!("{UNTRACED}{}{CALLBACKS}", driver.text);
    let binary = folder.join("traced");
    native::build(program, &driver, &TRACED, settings, folder, &binary).expect("it builds");
    let trace = folder.join("trace");
    let stdin = folder.join("stdin");
    std::fs::write(&stdin, &record.input.stdin).expect("a file");
    for (name, bytes) in &record.input.files {
        std::fs::write(folder.join(name), bytes).expect("a file");
    }
    let words = record.input.arguments.iter().skip(1).map(|a| String::from_utf8_lossy(a).into_owned());
    // The callbacks write to a file that the shell opens for them.
    Command::new("sh")
        .args(["-c", "exec \"$0\" \"$@\" 9>trace"])
        .arg(&binary)
        .args(words)
        .current_dir(folder)
        .stdin(std::fs::File::open(&stdin).expect("the file"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("the shell runs");
    let bytes = std::fs::read(&trace).expect("a trace");
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn same_but_for_names<A: std::hash::Hash + Eq + Copy, B: std::hash::Hash + Eq + Copy>(
    a: &[A],
    b: &[B],
) -> bool {
    let (mut there, mut back) = (HashMap::new(), HashMap::new());
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(x, y)| *there.entry(*x).or_insert(*y) == *y && *back.entry(*y).or_insert(*x) == *x)
}

/// How many tests took their path.
fn check(case: &Case, failures: &mut Vec<String>) -> usize {
    const MOST: usize = 4;
    let mut settings = settings(case);
    let mut program = load(case);
    if matches!(settings.entry, Entry::Function(_)) {
        program.annotate().expect("clang reads it again");
    }
    settings.random_inputs = program.seeds_unknown();
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    let explored = explore(&store, &program.module, &settings, solver, &mut |_, _, _| {})
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let folder = std::env::temp_dir().join(format!("parallax-drivers-{}-{}", std::process::id(), case.name));
    // Where a mistake ends the path, the native program goes on.
    let ended: Vec<&PathRecord> =
        explored.records.iter().filter(|record| matches!(record.end, PathEnd::Exit(_))).collect();
    let step = ended.len().div_ceil(MOST).max(1);
    let chosen: Vec<&PathRecord> = ended.into_iter().step_by(step).collect();
    for (number, record) in chosen.iter().enumerate() {
        let expected = predicted(&program, &record.input, &settings);
        let got = taken(&program, record, &settings, &folder);
        if !same_but_for_names(&expected, &got) {
            let input = &record.input;
            failures.push(format!("{} {number}: {expected:?} natively {got:?}: {input:?}", case.name));
        }
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    chosen.len()
}

#[test]
fn drivers_take_their_path_natively() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/c");
    let programs = [
        "find/structures_by_value",
        "find/annotated_count",
        "find/annotated_fields",
        "find/tree_search",
        "find/list_reverse",
        "find/two_files_false",
        "harness/klee_switch",
        "harness/sv_types",
        "harness/klee_args",
        "flows/file_header",
        "symbolic/tokens",
    ];
    let all: Vec<Case> =
        programs.iter().map(|name| case(folder.join(name).with_extension("c"))).collect::<Vec<_>>();
    let (failures, counts) = each(&all, check);
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
    let tests: usize = counts.iter().sum();
    assert!(tests >= 25, "only {tests} tests were run");
}
