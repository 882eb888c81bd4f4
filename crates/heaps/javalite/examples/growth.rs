//! How engines grow with the bound k: one CSV line for each subject, engine and k.
//!
//! `cargo run --release -p parallax-javalite --example growth -- [SECONDS] [SUBJECT, ENGINE, k=N, once or bytes ...]`; an engine that needs longer
//! than SECONDS (default 60) for some k is not tried with a larger one, and k = N alone is tried where it is given. Times are those the thread spent on the
//! processor, so that a busy machine spoils them less; short runs are repeated, and the shortest counts (not
//! with the word `once`, for tools that count instructions). With the word `bytes` among the names,
//! `kept_bytes` is what the run holds at its end, all paths of the summary included, and `peak_bytes` the most it held;
//! counting them takes time of its own, up to a half where little else is done, so it is not done unasked.

use cpu_time::ThreadTime;
use parallax_engines::engine::{self, Engine};
use parallax_engines::*;
use parallax_javalite::*;
use parallax_term::Store;
use std::alloc::{GlobalAlloc, Layout, System};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Counts the bytes that are in use, and the most there were.
struct Counting;

static ASKED: AtomicBool = AtomicBool::new(false);
static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn count(more: usize, less: usize) {
    if ASKED.load(Relaxed) {
        let now = IN_USE.fetch_add(more, Relaxed) + more;
        MOST.fetch_max(now, Relaxed);
        IN_USE.fetch_sub(less, Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator as it came; the counters are beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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

macro_rules! subjects {
    ($($name:literal $class:literal $method:literal $most:expr;)+) => {
        &[$(Subject {
            name: $name,
            text: include_str!(concat!("../../../../corpus/javalite/", $name, ".jl")),
            class: $class,
            method: $method,
            most: $most,
        }),+]
    };
}

const SUBJECTS: &[Subject] = subjects! {
    "list" "List" "find" [20, 40];
    "tree" "Tree" "search" [5, 8];
    "redblack" "TreeMap" "search" [4, 6];
    "stack" "Stack" "check" [5, 5];
    "queue" "Queue" "check" [5, 5];
    "dll" "DList" "check" [5, 5];
    "avl" "Avl" "check" [5, 5];
    "leftist" "Heap" "check" [5, 5];
    "sets" "Sets" "check" [5, 5];
    "shapes" "Picture" "total" [4, 4];
    "bag" "Bag" "check" [5, 5];
    "binomial" "Binomial" "check" [5, 5];
    "buffer" "Buffer" "check" [5, 5];
    "compress" "Compressed" "check" [5, 5];
    "cursor" "Cursor" "check" [5, 5];
    "deque" "Deque" "check" [5, 5];
    "expression" "Formula" "check" [5, 5];
    "family" "Family" "check" [5, 5];
    "heap" "Heap" "check" [5, 5];
    "interval" "Intervals" "check" [5, 5];
    "late" "Late" "check" [5, 5];
    "lru" "Cache" "check" [5, 5];
    "maxstack" "MaxStack" "check" [5, 5];
    "pairing" "Pairing" "check" [5, 5];
    "reverse" "Reverse" "check" [5, 5];
    "ring" "Ring" "check" [5, 5];
    "skew" "Skew" "check" [5, 5];
    "skip" "Skip" "check" [5, 5];
    "sorted" "Sorted" "check" [5, 5];
    "sparse" "Row" "check" [5, 5];
    "splay" "Splay" "check" [5, 5];
    "table" "Table" "check" [5, 5];
    "treap" "Treap" "check" [5, 5];
    "trie" "Trie" "check" [5, 5];
    "twostacks" "TwoStacks" "check" [5, 5];
};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(60.0);
    let wanted: Vec<String> = arguments.collect();
    ASKED.store(wanted.iter().any(|name| name == "bytes"), Relaxed);
    let rounds = if wanted.iter().any(|name| name == "once") { 1 } else { 20 };
    let only: Option<usize> = wanted.iter().find_map(|word| word.strip_prefix("k=")?.parse().ok());
    println!(
        "subject,engine,k,seconds,states,paths,discarded,solver_calls,solver_seconds,guard_dag,locations,kept_bytes,peak_bytes,finished"
    );
    // No subject named means all of them, and so for engines.
    let names = |all: &[&str], one: &str| {
        let some = wanted.iter().any(|name| all.contains(&name.as_str()));
        !some || wanted.iter().any(|name| name == one)
    };
    let subjects: Vec<&str> = SUBJECTS.iter().map(|subject| subject.name).collect();
    let runs = RUNS.map(|(name, ..)| name);
    for subject in SUBJECTS.iter().filter(|subject| names(&subjects, subject.name)) {
        for run in RUNS.iter().filter(|(name, ..)| names(&runs, name)) {
            for k in only.map_or(1..=subject.most[usize::from(run.2)], |k| k..=k) {
                if !measure(subject, run, k, seconds, rounds) {
                    break;
                }
            }
        }
    }
}

/// What one run of an engine was like.
struct Run {
    seconds: f64,
    /// All that is printed behind the seconds.
    rest: String,
    finished: bool,
}

/// Runs and prints one measurement; false if it did not finish in time. Short ones are repeated, and the shortest time counts.
fn measure(subject: &Subject, run: &(&str, Engine, bool), k: usize, limit: f64, rounds: usize) -> bool {
    let mut best = once(subject, run, k, limit);
    let mut spent = best.seconds;
    for _ in 1..rounds {
        if spent > 0.1 {
            break;
        }
        let next = once(subject, run, k, limit);
        spent += next.seconds;
        best.seconds = best.seconds.min(next.seconds);
    }
    println!("{},{},{k},{:.4},{},{}", subject.name, run.0, best.seconds, best.rest, best.finished);
    best.finished
}

fn once(subject: &Subject, run: &(&str, Engine, bool), k: usize, limit: f64) -> Run {
    let &(_, engine, merged) = run;
    let program = Rc::new(parse(subject.text).expect("a program of the corpus"));
    let bounds = Bounds { rounds: 64, calls: 64 };
    let task = Task::named(&program, subject.class, subject.method, bounds).expect("its method");
    let task = Task { merged, ..task };
    let inputs = Inputs { k: Some(k), array: 2, root_alias: false };
    let before = IN_USE.load(Relaxed);
    MOST.store(before, Relaxed);
    let store = Store::new();
    let setup = parallax_javalite::setup(&store, &program, task.class, task.method, inputs);
    let start = ThreadTime::now();
    // The system is asked for the time now and then, a single question to the solver is bounded by the wall clock.
    setup.oracle.set_deadline(Some(Instant::now() + Duration::from_secs_f64(4.0 * limit)));
    let watch = &mut |progress: &Progress| match !progress.steps.is_multiple_of(256)
        || start.elapsed().as_secs_f64() < limit
    {
        true => Ok(()),
        false => Err(Stop::Bound(parallax_path::Bound::Time(Duration::from_secs_f64(limit)))),
    };
    let used = || [&IN_USE, &MOST].map(|bytes| bytes.load(Relaxed).saturating_sub(before));
    let (progress, outcome, elapsed, dag, locations, [kept, peak]) = match engine.laziness() {
        Some(laziness) => {
            let ends = engine::lazy(&setup, &task, laziness, 0, watch);
            (ends.progress, ends.outcome, start.elapsed().as_secs_f64(), 0, 0, used())
        }
        None => {
            let ends = engine::summary(&setup, &task, None, watch);
            let (elapsed, used) = (start.elapsed().as_secs_f64(), used());
            let finals = || ends.traces.values().flat_map(|bucket| &bucket.finals);
            let dag = finals().map(|end| end.heap().dag_size()).max().unwrap_or(0);
            let locations = finals().map(|end| end.heap().locations().count()).max().unwrap_or(0);
            (ends.progress, ends.outcome, elapsed, dag, locations, used)
        }
    };
    let usage = setup.oracle.usage();
    let rest = format!(
        "{},{},{},{},{:.4},{dag},{locations},{kept},{peak}",
        progress.states,
        progress.paths,
        progress.discarded,
        usage.checks(),
        usage.time.as_secs_f64(),
    );
    Run { seconds: elapsed, rest, finished: outcome.is_ok() }
}
