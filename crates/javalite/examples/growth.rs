//! How engines grow with the bound k: one CSV line for each subject, engine and k.
//!
//! `cargo run --release -p parallax-javalite --example growth -- [SECONDS] [SUBJECT or ENGINE...]`; an engine that needs longer
//! than SECONDS (default 60) for some k is not tried with a larger one. Times are those the process spent on the
//! processor, as Linux tells them, so that a busy machine does not spoil them.

use parallax_engines::engine::{self, Engine};
use parallax_engines::*;
use parallax_javalite::*;
use parallax_term::Store;
use std::rc::Rc;
use std::time::{Duration, Instant};

struct Subject {
    name: &'static str,
    text: &'static str,
    class: &'static str,
    method: &'static str,
    /// How far to go, path by path and with the precondition as one condition.
    most: [usize; 2],
}

/// The engines, and the summary engine with the precondition as one condition.
const RUNS: [(&str, Engine, bool); 5] = [
    ("lazy", Engine::Lazy, false),
    ("lazier", Engine::Lazier, false),
    ("lazier#", Engine::LazierSharp, false),
    ("summary", Engine::Summary, false),
    ("merged", Engine::Summary, true),
];

const SUBJECTS: [Subject; 3] = [
    Subject {
        name: "list",
        text: include_str!("../../../corpus/javalite/list.jl"),
        class: "List",
        method: "find",
        most: [20, 40],
    },
    Subject {
        name: "tree",
        text: include_str!("../../../corpus/javalite/tree.jl"),
        class: "Tree",
        method: "search",
        most: [5, 8],
    },
    Subject {
        name: "redblack",
        text: include_str!("../../../corpus/javalite/redblack.jl"),
        class: "TreeMap",
        method: "search",
        most: [4, 6],
    },
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(60.0);
    let wanted: Vec<String> = arguments.collect();
    println!(
        "subject,engine,k,seconds,states,paths,discarded,solver_calls,solver_seconds,guard_dag,locations,finished"
    );
    // No subject named means all of them, and so for engines.
    let names = |all: &[&str], one: &str| {
        let some = wanted.iter().any(|name| all.contains(&name.as_str()));
        !some || wanted.iter().any(|name| name == one)
    };
    let subjects = SUBJECTS.map(|subject| subject.name);
    let runs = RUNS.map(|(name, ..)| name);
    for subject in SUBJECTS.iter().filter(|subject| names(&subjects, subject.name)) {
        for run in RUNS.iter().filter(|(name, ..)| names(&runs, name)) {
            for k in 1..=subject.most[usize::from(run.2)] {
                if !measure(subject, run, k, seconds) {
                    break;
                }
            }
        }
    }
}

/// Processor time of this thread; wall-clock time where the system does not tell.
struct Clock(f64, Instant);

impl Clock {
    fn start() -> Self {
        Clock(spent().unwrap_or(0.0), Instant::now())
    }

    fn seconds(&self) -> f64 {
        spent().map_or_else(|| self.1.elapsed().as_secs_f64(), |now| now - self.0)
    }
}

fn spent() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

/// Runs and prints one measurement; false if it did not finish in time.
fn measure(subject: &Subject, run: &(&str, Engine, bool), k: usize, limit: f64) -> bool {
    let &(name, engine, merged) = run;
    let program = Rc::new(parse(subject.text).expect("a program of the corpus"));
    let class = program.class_named(subject.class).expect("its class");
    let id = |name: &str| program.method_named(class, name).expect("its method");
    let task = Task {
        program: program.clone(),
        class,
        method: id(subject.method),
        rep_ok: Some(id("repOK")),
        merged,
        bounds: Bounds { rounds: 64, calls: 64 },
        drafts: MachineDrafts::default(),
    };
    let inputs = Inputs { k: Some(k), array: 0, root_alias: false };
    let store = Store::new();
    let setup = parallax_javalite::setup(&store, &program, class, task.method, inputs);
    let start = Clock::start();
    // The system is asked for the time now and then, a single question to the solver is bounded by the wall clock.
    setup.oracle.set_deadline(Some(Instant::now() + Duration::from_secs_f64(4.0 * limit)));
    let watch =
        &mut |progress: &Progress| match !progress.steps.is_multiple_of(256) || start.seconds() < limit {
            true => Ok(()),
            false => Err(Stop::Bound(parallax_path::Bound::Time(Duration::from_secs_f64(limit)))),
        };
    let (progress, outcome, elapsed, dag, locations) = match engine.laziness() {
        Some(laziness) => {
            let ends = engine::lazy(&setup, &task, laziness, 0, watch);
            (ends.progress, ends.outcome, start.seconds(), 0, 0)
        }
        None => {
            let ends = engine::summary(&setup, &task, None, watch);
            let elapsed = start.seconds();
            let finals = || ends.traces.values().flat_map(|bucket| &bucket.finals);
            let dag = finals().map(|end| end.heap().dag_size()).max().unwrap_or(0);
            let locations = finals().map(|end| end.heap().locations().count()).max().unwrap_or(0);
            (ends.progress, ends.outcome, elapsed, dag, locations)
        }
    };
    let usage = setup.oracle.usage();
    println!(
        "{},{},{k},{:.4},{},{},{},{},{:.4},{dag},{locations},{}",
        subject.name,
        name,
        elapsed,
        progress.states,
        progress.paths,
        progress.discarded,
        usage.checks(),
        usage.time.as_secs_f64(),
        outcome.is_ok()
    );
    outcome.is_ok()
}
