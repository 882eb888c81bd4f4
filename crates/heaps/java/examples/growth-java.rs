//! How engines grow with the bound k on class files: one CSV line for each subject, engine and k.
//!
//! `javac -g -d build corpus/java/ds/*/*.java`, then
//! `cargo run --release -p parallax-java --example growth-java -- build [SECONDS] [SUBJECT, ENGINE or k=N ...]`; an engine that
//! needs longer than SECONDS (default 60) for some k is not tried with a larger one, and k = N alone is tried where it is given. Times are those of the thread on the processor,
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

struct Subject {
    name: &'static str,
    method: &'static str,
    /// How far to go, path by path and with the precondition as one condition.
    most: [usize; 2],
    /// How many elements arrays have.
    array: usize,
    acyclic: Option<&'static str>,
}

const fn subject(name: &'static str, method: &'static str, most: [usize; 2]) -> Subject {
    Subject { name, method, most, array: 3, acyclic: None }
}

const SUBJECTS: &[Subject] = &[
    subject("list", "jl.List.find", [12, 12]),
    subject("tree", "jl.Tree.search", [4, 6]),
    subject("redblack", "jl.RedBlack.search", [4, 6]),
    subject("doubly", "ds.Doubly.removeFirst", [6, 6]),
    subject("redblack-insert", "ds.RedBlackTree.insert", [3, 3]),
    subject("binomial", "ds.BinomialHeap.insert(I)V", [3, 3]),
    subject("trie", "ds.Trie.remove(II)V", [3, 3]),
    Subject { array: 1, ..subject("cache", "ds.LruCache.get(I)I", [3, 3]) },
    Subject { array: 2, acyclic: Some("next"), ..subject("hash", "ds.HashTable.remove(I)Z", [4, 4]) },
];

const RUNS: [(&str, Engine, bool); 3] =
    [("lazy", Engine::Lazy, false), ("summary", Engine::Summary, false), ("merged", Engine::Summary, true)];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let classes = PathBuf::from(arguments.next().expect("the folder of the compiled classes"));
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(60.0);
    let wanted: Vec<String> = arguments.collect();
    let only: Option<usize> = wanted.iter().find_map(|word| word.strip_prefix("k=")?.parse().ok());
    let chosen = |all: &[&str], one: &str| {
        !wanted.iter().any(|name| all.contains(&name.as_str())) || wanted.iter().any(|name| name == one)
    };
    println!("subject,engine,k,seconds,states,paths,discarded,solver_calls,finished");
    let subjects: Vec<&str> = SUBJECTS.iter().map(|subject| subject.name).collect();
    for subject in SUBJECTS {
        for (name, engine, merged) in RUNS {
            let asked = chosen(&subjects, subject.name) && chosen(&RUNS.map(|(name, ..)| name), name);
            for k in only.map_or(1..=subject.most[usize::from(merged)], |k| k..=k) {
                if !asked || !measure(&classes, subject, (name, engine, merged), k, seconds) {
                    break;
                }
            }
        }
    }
}

/// Runs and prints one measurement; false if it did not finish in time.
fn measure(
    classes: &Path,
    subject: &Subject,
    (name, engine, merged): (&str, Engine, bool),
    k: usize,
    limit: f64,
) -> bool {
    let start = ThreadTime::now();
    let path = ClassPath::open(&[classes.to_owned()], installed().as_deref()).expect("a class path");
    let program = Rc::new(Program::new(path).expect("java.lang.Object"));
    let method = program.find(subject.method).expect("the method");
    let class = program.class(method.receiver);
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
    let bounds = Inputs { k: Some(k), array: subject.array, root_alias: true };
    let mut setup = Setup::new(&store, program.universe(), inputs.this, inputs.parameters, bounds);
    if let Some(field) = subject.acyclic {
        assert!(setup.forbid_cycles(field), "{field}");
        program.adopt(&setup.universe);
    }
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
        "{},{name},{k},{:.3},{},{},{},{},{}",
        subject.name,
        start.elapsed().as_secs_f64(),
        progress.states,
        progress.paths,
        progress.discarded,
        setup.oracle.usage().checks(),
        outcome.is_ok()
    );
    outcome.is_ok()
}
