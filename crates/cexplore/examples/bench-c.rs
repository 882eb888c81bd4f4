//! Measures C: loading, running, exploring. Prints `name value unit` lines.
//!
//! `bench [FILE.bc ...]` also measures how long each given module takes to load.

use parallax_cexplore::explore::{Argument, Entry, Settings, explore};
use parallax_cexplore::run::{self, Closed};
use parallax_cexplore::{Program, Sources, program};
use parallax_term::Store;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/c").join(name)
}

fn load(file: PathBuf) -> Program {
    program::load(&Sources { files: vec![file], ..Sources::default() })
        .expect("a program of the corpus loads")
}

/// Resident memory of this process in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 4096
}

fn main() {
    for file in std::env::args().skip(1) {
        let name = Path::new(&file).file_stem().map_or(String::new(), |n| n.to_string_lossy().into_owned());
        let bytes = std::fs::read(&file).expect("a readable module");
        let started = Instant::now();
        let input = parallax_llvm::Input { name: file.clone(), bytes: &bytes };
        let module = parallax_llvm::read(&[input], parallax_llvm::MODELS).expect("a module");
        println!("load/{name}/instructions {} 1", module.instruction_count());
        println!("load/{name}/time {:.3} s", started.elapsed().as_secs_f64());
    }
    for name in ["collatz", "sieve", "binary_tree", "sha"] {
        let program = load(corpus(&format!("run/{name}.c")));
        let started = Instant::now();
        let mut steps = 0;
        while started.elapsed() < Duration::from_millis(300) {
            let mut world = Closed::default();
            let settings = run::Settings::default();
            steps += run::run(&program.module, &[b"x".to_vec()], &mut world, &settings, &mut |_| {}).steps;
        }
        println!("run/{name} {:.0} instructions/s", steps as f64 / started.elapsed().as_secs_f64());
    }
    for (name, folder, stdin) in
        [("maze", "find", 12), ("regexp", "symbolic", 5), ("sort", "symbolic", 0), ("tokens", "symbolic", 4)]
    {
        let program = load(corpus(&format!("{folder}/{name}.c")));
        let settings = Settings {
            entry: Entry::Main { arguments: Vec::<Argument>::new(), stdin, files: Vec::new() },
            ..Settings::default()
        };
        let store = Store::new();
        let started = Instant::now();
        let explored =
            explore(&store, &program.module, &settings, parallax_smt::solver(&store), &mut |_, _, _| {})
                .expect("it explores");
        let seconds = started.elapsed().as_secs_f64();
        println!("explore/{name}/paths {} 1", explored.paths);
        println!("explore/{name}/complete {} 1", u8::from(explored.complete));
        println!("explore/{name}/queries {} 1", explored.queries);
        println!("explore/{name}/rate {:.0} paths/s", explored.paths as f64 / seconds);
        println!("explore/{name}/speed {:.0} instructions/s", explored.steps as f64 / seconds);
    }
    states();
}

/// Memory of many states that live at once: breadth first, stopped when there are ten thousand.
fn states() {
    let program = load(corpus("symbolic/tokens.c"));
    let wanted = 10_000;
    let settings = Settings {
        entry: Entry::Main { arguments: Vec::new(), stdin: 8, files: Vec::new() },
        strategy: parallax_cexplore::explore::Strategy::Breadth,
        ..Settings::default()
    };
    let store = Store::new();
    let before = resident();
    let mut most = (0, 0);
    let mut watch = |_: u64, states: usize, _: usize| {
        if states <= wanted && states > most.0 {
            most = (states, resident());
        }
    };
    let limited = Settings { states: wanted + 2000, paths: 1, time: Duration::from_secs(20), ..settings };
    let _ = explore(&store, &program.module, &limited, parallax_smt::solver(&store), &mut watch);
    println!("states/most {} 1", most.0);
    println!(
        "states/memory {:.0} bytes/state",
        (most.1.saturating_sub(before)) as f64 / most.0.max(1) as f64
    );
}
