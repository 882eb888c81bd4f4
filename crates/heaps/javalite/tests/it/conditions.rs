//! What is printed as the condition of a path is the path's condition: shorter, and neither weaker nor stronger.

use crate::common;

use common::generate::{Features, program, program_with_precondition};
use parallax_engines::engine::{self, Ending, Ends};
use parallax_engines::*;
use parallax_heap::{Guarded, Origin, text};
use parallax_javalite::*;
use parallax_term::{Formula, Store};
use std::rc::Rc;

/// Whether nothing satisfies all of these.
fn never(heap: &Guarded<'_>, formulas: &[Formula]) -> bool {
    heap.oracle.solve(formulas).unwrap().is_none()
}

/// Holds the condition of each path against its outcomes. Gives the number of atoms before and after.
fn check(ends: &Ends<Task, Summary<'_>>, what: &str) -> (usize, usize) {
    let (mut before, mut after) = (0, 0);
    for (trace, bucket) in &ends.traces {
        if trace.ending == Ending::Discarded {
            continue;
        }
        let heap = bucket.finals[0].heap();
        let store = heap.oracle.store;
        let conjuncts = heap.path.conjuncts().to_vec();
        // What a condition may take for granted: the inputs there are, and a precondition that counts as one.
        let granted = conjuncts
            .iter()
            .enumerate()
            .filter(|(at, (_, origin))| *at < heap.entered || *origin == Origin::Input);
        let granted: Vec<Formula> = granted.map(|(_, (formula, _))| *formula).collect();
        let outcomes = conjuncts[heap.entered..].iter().filter(|(_, origin)| *origin == Origin::Outcome);
        let outcome = store.all(outcomes.map(|(formula, _)| *formula));
        let short = heap.outcomes();
        let said = store.all(short.iter().copied());
        let both = |one: Formula, other: Formula| [granted.as_slice(), &[one, store.not(other)]].concat();
        assert!(
            never(heap, &both(outcome, said)),
            "{what}\nstronger than the path: {:?}",
            text::conjuncts(store, &short)
        );
        assert!(
            never(heap, &both(said, outcome)),
            "{what}\nweaker than the path: {:?}",
            text::conjuncts(store, &short)
        );
        let size = |formula: Formula| store.post_order([formula.id()]).len();
        before += size(outcome);
        after += size(said);
    }
    (before, after)
}

#[test]
fn conditions_of_generated_programs() {
    let (mut before, mut after) = (0, 0);
    for (features, first) in
        [(Features::REFERENCES, 1_000_000), (Features::CALLS, 2_000_000), (Features::ALL, 5_000_000)]
    {
        for seed in first..first + common::scaled(20) {
            for merged in [false, true] {
                let text =
                    if merged { program_with_precondition(seed, features) } else { program(seed, features) };
                let store = Store::new();
                let inputs = Inputs { k: Some(2), array: 2, root_alias: seed % 3 != 0 };
                let (setup, task) = common::prepare(&store, &text, inputs);
                let rep_ok = task.program.method_named(task.class, "ok").filter(|_| merged);
                let task = Task { merged: rep_ok.is_some(), rep_ok, ..task };
                let ends = engine::summary(&setup, &task, None, &mut common::at_most(200));
                let (one, other) = check(&ends, &text);
                before += one;
                after += other;
            }
        }
    }
    assert!(after < before, "{after} parts of {before}");
}

/// What people see of a data structure is short, whatever the condition is made of. `CONDITIONS_K=4` looks at larger ones.
#[test]
fn conditions_of_trees_are_short() {
    let larger = std::env::var("CONDITIONS_K").ok().and_then(|text| text.parse().ok());
    for (file, class, method, merged) in [
        ("redblack", "TreeMap", "search", true),
        ("redblack", "TreeMap", "search", false),
        ("tree", "Tree", "search", true),
        ("queue", "Queue", "checkBug", false),
        ("list", "List", "find", false),
    ] {
        let path = format!("{}/../../../corpus/javalite/{file}.jl", env!("CARGO_MANIFEST_DIR"));
        let program = Rc::new(parse(&std::fs::read_to_string(path).unwrap()).unwrap());
        let task = Task::named(&program, class, method, Bounds { rounds: 32, calls: 64 }).unwrap();
        let task = Task { merged, ..task };
        assert!(task.rep_ok.is_some(), "{file}");
        let store = Store::new();
        let k = Some(larger.filter(|_| merged).unwrap_or(2));
        let inputs = Inputs { k, array: 2, root_alias: true };
        let setup = setup(&store, &program, task.class, task.method, inputs);
        let ends = engine::summary(&setup, &task, None, &mut |_| Ok(()));
        if larger.is_none() {
            check(&ends, file);
        }
        let (begun, mut total) = (std::time::Instant::now(), 0);
        for (_, bucket) in ends.traces.iter().filter(|(trace, _)| trace.ending != Ending::Discarded) {
            let said = text::conjuncts(&store, &bucket.finals[0].heap().outcomes());
            let bytes: usize = said.iter().map(String::len).sum();
            total += bytes;
            assert!(bytes < 8000, "{file}: {bytes} bytes\n{said:#?}");
        }
        println!("{file}, k = {k:?}: {total} bytes of conditions in {:.2} s", begun.elapsed().as_secs_f64());
    }
}
