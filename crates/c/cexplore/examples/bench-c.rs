//! Measures C: loading, running, exploring. Prints `name value unit` lines.
//!
//! Times are those of the processor. `bench-c [FILE.bc ...]` also measures how long each given module takes to load.
//! Instructions of the processor are counted by valgrind, which runs `bench-c --work NAME`: one fixed piece of work, so
//! that counts of two runs compare whatever the machine was doing.

use parallax_cexplore::explore::{Argument, Entry, Exploration, Settings, explore};
use parallax_cexplore::run::{self, Closed};
use parallax_cexplore::{Program, Sources, program};
use parallax_term::Store;
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/c").join(name)
}

fn load(file: PathBuf) -> Program {
    program::load(&Sources { files: vec![file], ..Sources::default() })
        .expect("a program of the corpus loads")
}

/// Counts what is allocated: what a state costs is what lives, not what the process once asked for.
struct Counting;

static LIVE: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call goes to the system's allocator as it is; only sizes are added up.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: `at` came from `alloc` above, with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Processor time of this process in seconds, which a busy machine does not change as it does the clock.
fn processor() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name, which may hold anything but ends with the last parenthesis: user and system ticks.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    (ticks(11) + ticks(12)) as f64 / 100.0
}

/// Examples to explore: folder of the corpus, bytes of standard input.
const EXAMPLES: [(&str, &str, u64); 4] =
    [("maze", "find", 12), ("regexp", "symbolic", 5), ("sort", "symbolic", 0), ("tokens", "symbolic", 4)];

/// Programs to run.
const PROGRAMS: [&str; 4] = ["collatz", "sieve", "binary_tree", "sha"];

/// One fixed piece of work: nothing, loading a program, running it, or exploring an example.
fn work(name: &str) {
    match name.split_once('/') {
        Some(("load", program)) => {
            load(corpus(&format!("run/{program}.c")));
        }
        Some(("run", program)) => {
            let program = load(corpus(&format!("run/{program}.c")));
            let settings = run::Settings::default();
            run::run(&program.module, &[b"x".to_vec()], &mut Closed::default(), &settings, &mut |_| {});
        }
        Some(("explore", wanted)) => {
            for (name, folder, stdin) in EXAMPLES.into_iter().filter(|(name, ..)| *name == wanted) {
                example(&load(corpus(&format!("{folder}/{name}.c"))), stdin);
            }
        }
        _ => {}
    }
}

fn example(program: &Program, stdin: u64) -> Exploration {
    let settings = Settings {
        entry: Entry::Main {
            arguments: Vec::<Argument>::new(),
            stdin,
            files: Vec::new(),
            environment: Vec::new(),
        },
        time: Duration::from_secs(3600),
        ..Settings::default()
    };
    let store = Store::new();
    explore(&store, &program.module, &settings, parallax_smt::solver(&store), &mut |_, _, _| {})
        .expect("it explores")
}

/// Instructions that the processor executes for each piece of work, clang's own not among them.
fn counts() {
    let names = ["nothing", "load/expression_parser", "run/sieve", "run/sha"].map(str::to_string);
    let explored = EXAMPLES.map(|(name, ..)| format!("explore/{name}"));
    for name in names.into_iter().chain(explored) {
        let own = std::env::current_exe().expect("this program has a name");
        let counted = std::process::Command::new("valgrind")
            .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
            .arg(own)
            .args(["--work", &name])
            .output();
        let said = counted.map_or(String::new(), |c| String::from_utf8_lossy(&c.stderr).into_owned());
        // `==123== I   refs:  1,234,567`
        let count = said.lines().find_map(|line| line.split_once("refs:")).map(|(_, n)| n.replace(',', ""));
        match count.and_then(|n| n.trim().parse::<u64>().ok()) {
            Some(count) => println!("count/{name} {count} instructions"),
            None => println!("# valgrind could not count {name}"),
        }
    }
}

fn main() {
    if let [_, flag, name] = &std::env::args().collect::<Vec<_>>()[..]
        && flag == "--work"
    {
        return work(name);
    }
    for file in std::env::args().skip(1) {
        let name = Path::new(&file).file_stem().map_or(String::new(), |n| n.to_string_lossy().into_owned());
        // The clock of this process; the verifier is another one, and takes its own time first.
        let verifying = std::time::Instant::now();
        let bytes = parallax_cread::foreign::module(Path::new(&file), Default::default()).expect("a module");
        println!("load/{name}/verified {:.3} s", verifying.elapsed().as_secs_f64());
        let started = processor();
        let input = parallax_cread::Input { name: file.clone(), bytes: &bytes };
        let module = parallax_cread::read(&[input], parallax_cread::MODELS).expect("a module");
        println!("load/{name}/instructions {} 1", module.instruction_count());
        println!("load/{name}/time {:.3} s", processor() - started);
    }
    for name in PROGRAMS {
        let program = load(corpus(&format!("run/{name}.c")));
        let started = processor();
        let mut steps = 0;
        while processor() - started < 0.5 {
            let mut world = Closed::default();
            let settings = run::Settings::default();
            steps += run::run(&program.module, &[b"x".to_vec()], &mut world, &settings, &mut |_| {}).steps;
        }
        println!("run/{name} {:.0} instructions/s", steps as f64 / (processor() - started));
    }
    for (name, folder, stdin) in EXAMPLES {
        let program = load(corpus(&format!("{folder}/{name}.c")));
        let started = processor();
        let explored = example(&program, stdin);
        let seconds = (processor() - started).max(0.01);
        println!("explore/{name}/time {seconds:.2} s");
        println!("explore/{name}/paths {} 1", explored.paths);
        println!("explore/{name}/complete {} 1", u8::from(explored.completeness.is_complete()));
        println!("explore/{name}/queries {} 1", explored.queries);
        println!("explore/{name}/rate {:.0} paths/s", explored.paths as f64 / seconds);
        println!("explore/{name}/speed {:.0} instructions/s", explored.steps as f64 / seconds);
    }
    states();
    counts();
}

/// Memory of many states that live at once, terms and models included: breadth first, up to ten thousand.
fn states() {
    let program = load(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../bench/c/branches.c"));
    let wanted = 10_000;
    let settings = Settings {
        entry: Entry::Main { arguments: Vec::new(), stdin: 16, files: Vec::new(), environment: Vec::new() },
        strategy: parallax_path::Strategy::Breadth,
        ..Settings::default()
    };
    let store = Store::new();
    let before = LIVE.load(Ordering::Relaxed);
    let mut most = (0, 0);
    let mut watch = |_: u64, states: usize, _: usize| {
        if states > most.0 && most.0 < wanted {
            most = (states, LIVE.load(Ordering::Relaxed));
        }
    };
    let limited =
        Settings { states: wanted + 2000, paths: 1_000_000, time: Duration::from_secs(60), ..settings };
    let _ = explore(&store, &program.module, &limited, parallax_smt::solver(&store), &mut watch);
    println!("states/most {} 1", most.0);
    println!(
        "states/memory {:.0} bytes/state",
        (most.1.saturating_sub(before)) as f64 / most.0.max(1) as f64
    );
}
