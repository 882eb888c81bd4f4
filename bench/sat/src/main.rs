//! Tier 0's SAT solver (batsat) beside CaDiCaL, in one run, on what tier 0 tells and asks its solver.
//!
//! Transcripts come from the families of `bench-solvers` and from explorations of heaps. Each is given to both solvers twice:
//! `kept`, one solver for the whole transcript, questions as assumptions, as tier 0 uses it; and `fresh`, a new solver for a question with
//! the clauses there are and the assumptions as clauses (at most 200 questions of a transcript, evenly spread). A search ends
//! after 5,000 conflicts, as in the default solver (`sat-peers [NAME or all] [CONFLICTS]`). Times are processor time of the thread. Answers that differ end the run.
//! Prints `name value unit` lines.

#[path = "../../../crates/core/smt/examples/families/mod.rs"]
mod families;

use batsat::{Callbacks, ClauseKind, Lit, Solver as Sat, SolverInterface, SolverOpts, Var, lbool};
use families::{FAMILIES, Numbers};
use parallax_engines::{Inputs, Progress, Stop, engine};
use parallax_javalite::{Bounds, Task, parse};
use parallax_smt::{Solver, Step, Tier0, Tiered, Transcript};
use parallax_term::Store;
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Conflicts of one search: as many as `Tiered` allows tier 0, unless the second argument says otherwise.
fn conflicts() -> u64 {
    static MOST: OnceLock<u64> = OnceLock::new();
    *MOST.get_or_init(|| std::env::args().nth(2).and_then(|text| text.parse().ok()).unwrap_or(5_000))
}

/// Questions of a transcript that are asked of a new solver each.
const FRESH: usize = 200;

/// Seconds for one exploration that is transcribed.
const SECONDS: u64 = 60;

/// Explorations that ask the solver: the program, its text, class and method, the bound, and whether the precondition is one condition.
const HEAPS: &[(&str, &str, &str, &str, usize, bool)] = &[
    ("list-20", include_str!("../../../corpus/javalite/list.jl"), "List", "find", 20, false),
    ("tree-merged-5", include_str!("../../../corpus/javalite/tree.jl"), "Tree", "search", 5, true),
    ("redblack-merged-5", include_str!("../../../corpus/javalite/redblack.jl"), "TreeMap", "search", 5, true),
    ("leftist-merged-3", include_str!("../../../corpus/javalite/leftist.jl"), "Heap", "check", 3, true),
    ("trie-3", include_str!("../../../corpus/javalite/trie.jl"), "Trie", "check", 3, false),
    ("skew-merged-4", include_str!("../../../corpus/javalite/skew.jl"), "Skew", "check", 4, true),
];

fn main() {
    let only = std::env::args().nth(1);
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only == "all" || only == name);
    println!("# {}", cadical::Solver::<cadical::Timeout>::new().signature());
    for (name, path) in FAMILIES.into_iter().filter(|(name, _)| wanted(name)) {
        let transcript = Transcript::default();
        for seed in 0..5 {
            let store = Store::new();
            let conditions = path(&store, &mut Numbers(seed));
            let mut solver = Tier0::new(&store).transcribed(&transcript);
            let mut so_far = Vec::new();
            for condition in conditions {
                let mut possible = Vec::new();
                for side in [condition, store.not(condition)] {
                    so_far.push(side);
                    if solver.check(&so_far).is_sat() {
                        possible.push(side);
                    }
                    so_far.pop();
                }
                so_far.extend(possible.first());
            }
        }
        compare(name, &transcript.take());
    }
    for &(name, text, class, method, k, merged) in HEAPS.iter().filter(|heap| wanted(heap.0)) {
        compare(name, &explored(text, class, method, k, merged));
    }
}

/// What the exploration of a method asks.
fn explored(text: &str, class: &str, method: &str, k: usize, merged: bool) -> Vec<Step> {
    let program = Rc::new(parse(text).expect("a program of the corpus"));
    let task = Task::named(&program, class, method, Bounds { rounds: 64, calls: 64 }).expect("its method");
    let task = Task { merged, ..task };
    let inputs = Inputs { k: Some(k), array: 2, root_alias: false };
    let store = Store::new();
    let transcript = Transcript::default();
    let mut setup = parallax_javalite::setup(&store, &program, task.class, task.method, inputs);
    let solver = Tiered::by_order(&store).transcribed(&transcript);
    setup.oracle = Rc::new(parallax_heap::oracle_over(solver));
    setup.oracle.set_deadline(Some(Instant::now() + Duration::from_secs(SECONDS)));
    let ends = engine::summary(&setup, &task, None, &mut |_: &Progress| Ok::<(), Stop>(()));
    if let Err(stop) = &ends.outcome {
        println!("# not explored to the end: {stop}");
    }
    transcript.take()
}

/// Processor time of this thread.
fn spent() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on Linux, and the pointer is to a live value.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What both solvers are to do.
trait Peer {
    fn new() -> Self;
    fn clause(&mut self, lits: &[i32]);
    fn ask(&mut self, assumed: &[i32]) -> Option<bool>;
}

#[derive(Default)]
struct Conflicts(u64);

impl Callbacks for Conflicts {
    fn stop(&self) -> bool {
        self.0 >= conflicts()
    }

    fn on_new_clause(&mut self, _: &[Lit], kind: ClauseKind) {
        self.0 += u64::from(kind == ClauseKind::Learnt);
    }
}

struct Batsat(Sat<Conflicts>);

impl Batsat {
    fn lit(&mut self, lit: i32) -> Lit {
        while self.0.num_vars() < lit.unsigned_abs() {
            self.0.new_var_default();
        }
        Lit::new(Var::unsafe_from_idx(lit.unsigned_abs() - 1), lit > 0)
    }
}

impl Peer for Batsat {
    fn new() -> Self {
        Batsat(Sat::new(SolverOpts::default(), Conflicts::default()))
    }

    fn clause(&mut self, lits: &[i32]) {
        let mut clause: Vec<Lit> = lits.iter().map(|&lit| self.lit(lit)).collect();
        self.0.add_clause_reuse(&mut clause);
    }

    fn ask(&mut self, assumed: &[i32]) -> Option<bool> {
        let assumed: Vec<Lit> = assumed.iter().map(|&lit| self.lit(lit)).collect();
        self.0.cb_mut().0 = 0;
        let answer = self.0.solve_limited(&assumed);
        if answer == lbool::TRUE { Some(true) } else { (answer == lbool::FALSE).then_some(false) }
    }
}

struct Cadical(cadical::Solver);

impl Peer for Cadical {
    fn new() -> Self {
        Cadical(cadical::Solver::new())
    }

    fn clause(&mut self, lits: &[i32]) {
        self.0.add_clause(lits.iter().copied());
    }

    fn ask(&mut self, assumed: &[i32]) -> Option<bool> {
        self.0.set_limit("conflicts", conflicts() as i32).expect("a limit of CaDiCaL");
        self.0.solve_with(assumed.iter().copied())
    }
}

/// The answers of one solver that is kept, and the time for everything.
fn kept<P: Peer>(steps: &[Step]) -> (Vec<Option<bool>>, Duration) {
    let start = spent();
    let mut peer = P::new();
    let mut answers = Vec::new();
    for step in steps {
        match step {
            Step::New => peer = P::new(),
            Step::Clause(lits) => peer.clause(lits),
            Step::Ask { assumed, .. } => answers.push(peer.ask(assumed)),
        }
    }
    (answers, spent() - start)
}

/// The answers of new solvers to every n-th question, and the time for all of them.
fn fresh<P: Peer>(steps: &[Step], every: usize) -> (Vec<Option<bool>>, Duration) {
    let (mut answers, mut time, mut number) = (Vec::new(), Duration::ZERO, 0);
    let mut clauses: Vec<&[i32]> = Vec::new();
    for step in steps {
        match step {
            Step::New => clauses.clear(),
            Step::Clause(lits) => clauses.push(lits),
            Step::Ask { assumed, .. } => {
                number += 1;
                if number % every != 0 {
                    continue;
                }
                let start = spent();
                let mut peer = P::new();
                clauses.iter().for_each(|lits| peer.clause(lits));
                assumed.iter().for_each(|&lit| peer.clause(&[lit]));
                answers.push(peer.ask(&[]));
                time += spent() - start;
            }
        }
    }
    (answers, time)
}

/// Gives a transcript to both, and prints what they took.
fn compare(name: &str, steps: &[Step]) {
    let asked: Vec<Option<bool>> = steps
        .iter()
        .filter_map(|step| match step {
            Step::Ask { answer, .. } => Some(*answer),
            _ => None,
        })
        .collect();
    let clauses = steps.iter().filter(|step| matches!(step, Step::Clause(_))).count();
    println!("{name}.clauses {clauses} count");
    println!("{name}.solvers {} count", steps.iter().filter(|step| **step == Step::New).count());
    println!("{name}.yes {} count", asked.iter().filter(|answer| **answer == Some(true)).count());
    println!("{name}.no {} count", asked.iter().filter(|answer| **answer == Some(false)).count());
    if asked.is_empty() {
        return;
    }
    let every = asked.len().div_ceil(FRESH);
    let some: Vec<Option<bool>> = asked.iter().skip(every - 1).step_by(every).copied().collect();
    let runs = [
        ("kept", &asked, [kept::<Batsat>(steps), kept::<Cadical>(steps)]),
        ("fresh", &some, [fresh::<Batsat>(steps, every), fresh::<Cadical>(steps, every)]),
    ];
    for (mode, before, both) in runs {
        let mut means = Vec::new();
        for (solver, (answers, time)) in ["batsat", "cadical"].iter().zip(&both) {
            assert_eq!(answers.len(), before.len());
            let differ = answers.iter().zip(before.iter()).any(|(a, b)| a.is_some() && b.is_some() && a != b);
            assert!(!differ, "{name} {mode} {solver}: another answer than tier 0 was given");
            let open = answers.iter().filter(|answer| answer.is_none()).count();
            let mean = time.as_secs_f64() * 1e6 / answers.len() as f64;
            println!("{name}.{mode}.{solver}.mean {mean:.1} us");
            println!("{name}.{mode}.{solver}.open {open} count");
            means.push(mean);
        }
        println!("{name}.{mode}.questions {} count", before.len());
        println!("{name}.{mode}.cadical_over_batsat {:.2} ratio", means[1] / means[0]);
    }
}
