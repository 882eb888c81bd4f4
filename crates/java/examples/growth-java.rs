//! How engines grow with the bound k on class files: one CSV line for each subject, engine and k.
//!
//! `javac -g -d build corpus/java/ds/jl/*.java`, then
//! `cargo run --release -p parallax-java --example growth-java -- build [SECONDS] [SUBJECT or ENGINE...]`; an engine that needs longer
//! than SECONDS (default 60) for some k is not tried with a larger one. Times are those of the thread on the processor,
//! opening the JDK and loading classes included.

use cpu_time::ThreadTime;
use parallax_engines::engine::{self, Engine};
use parallax_engines::{Inputs, Progress, Setup, Stop};
use parallax_java::{Bounds, ClassPath, Instances, Program, Task, installed};
use parallax_path::Bound;
use parallax_term::Store;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The name, the method, and how far to go: path by path, and with the precondition as one condition.
const SUBJECTS: [(&str, &str, [usize; 2]); 3] = [
    ("list", "jl.List.find", [12, 12]),
    ("tree", "jl.Tree.search", [4, 6]),
    ("redblack", "jl.RedBlack.search", [4, 6]),
];

const RUNS: [(&str, Engine, bool); 3] =
    [("lazy", Engine::Lazy, false), ("summary", Engine::Summary, false), ("merged", Engine::Summary, true)];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let classes = PathBuf::from(arguments.next().expect("the folder of the compiled classes"));
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(60.0);
    let wanted: Vec<String> = arguments.collect();
    let chosen = |all: &[&str], one: &str| {
        !wanted.iter().any(|name| all.contains(&name.as_str())) || wanted.iter().any(|name| name == one)
    };
    println!("subject,engine,k,seconds,states,paths,discarded,solver_calls,finished");
    for (subject, method, most) in SUBJECTS {
        for (name, engine, merged) in RUNS {
            let asked = chosen(&SUBJECTS.map(|(name, ..)| name), subject)
                && chosen(&RUNS.map(|(name, ..)| name), name);
            for k in 1..=most[usize::from(merged)] {
                if !asked || !measure(&classes, (subject, method), (name, engine, merged), k, seconds) {
                    break;
                }
            }
        }
    }
}

/// Runs and prints one measurement; false if it did not finish in time.
fn measure(
    classes: &Path,
    (subject, method): (&str, &str),
    (name, engine, merged): (&str, Engine, bool),
    k: usize,
    limit: f64,
) -> bool {
    let start = ThreadTime::now();
    let path = ClassPath::open(&[classes.to_owned()], installed().as_deref()).expect("a class path");
    let program = Rc::new(Program::new(path).expect("java.lang.Object"));
    let method = program.find(method).expect("the method");
    let class = program.class(method.class);
    let rep_ok = program.find_in(&class, "repOK", Some("()Z")).expect("its precondition");
    let inputs = program.inputs(&method, &Instances::new(), Some(k)).expect("inputs");
    let task = Task {
        program: program.clone(),
        method,
        rep_ok: Some(rep_ok),
        merged,
        bounds: Bounds { rounds: 64, calls: 64, steps: 2_000_000 },
        assertions: true,
        symbolic: true,
        traced: true,
        non_null: false,
    };
    let store = Store::new();
    let bounds = Inputs { k: Some(k), array: 3, root_alias: true };
    let setup = Setup::new(&store, program.universe(), inputs.this, inputs.parameters, bounds);
    setup.oracle.set_deadline(Some(Instant::now() + Duration::from_secs_f64(4.0 * limit)));
    let watch = &mut |progress: &Progress| match !progress.steps.is_multiple_of(256)
        || start.elapsed().as_secs_f64() < limit
    {
        true => Ok(()),
        false => Err(Stop::Bound(Bound::Time(Duration::from_secs_f64(limit)))),
    };
    let (progress, outcome) = match engine.laziness() {
        Some(laziness) => {
            let ends = engine::lazy(&setup, &task, laziness, 0, watch);
            (ends.progress, ends.outcome)
        }
        None => {
            let ends = engine::summary(&setup, &task, None, watch);
            (ends.progress, ends.outcome)
        }
    };
    println!(
        "{subject},{name},{k},{:.3},{},{},{},{},{}",
        start.elapsed().as_secs_f64(),
        progress.states,
        progress.paths,
        progress.discarded,
        setup.oracle.usage().checks(),
        outcome.is_ok()
    );
    outcome.is_ok()
}
