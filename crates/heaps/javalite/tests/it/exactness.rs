//! The summary stands for exactly the heaps of lazy initialisation, on generated programs.
//!
//! Generated: references, numbers, truth values, arrays of both, calls, one subclass, loops, assertions and assumptions. Not
//! generated: recursion, arrays of arrays, several subclasses of one class.

use crate::common;

use common::generate::{Features, program, program_with_precondition};
use parallax_engines::exact::compare;
use parallax_engines::*;
use parallax_javalite::*;
use parallax_term::Store;

/// Runs `count` generated programs under every bound; says how many were compared and how many were too large.
fn check(features: Features, first: u64, count: u64) {
    check_without_cycles(features, first, count, &[]);
}

/// The same on inputs without cycles along some fields.
fn check_without_cycles(features: Features, first: u64, count: u64, acyclic: &[&str]) {
    let count = common::scaled(count);
    let (mut compared, mut skipped, mut heaps) = (0, 0, 0);
    for seed in first..first + count {
        let text = program(seed, features);
        for k in [Some(1), Some(2), Some(3), None] {
            let root_alias = seed % 3 != 0;
            let store = Store::new();
            let (mut setup, task) = common::prepare(&store, &text, Inputs { k, array: 2, root_alias });
            for field in acyclic {
                assert!(setup.forbid_cycles(field), "no field {field}");
            }
            let Some((lazy, summary)) = common::both(&setup, &task, 400) else {
                skipped += 1;
                continue;
            };
            let comparison = compare(&setup, &lazy, &summary, 400, true).unwrap();
            assert!(
                comparison.differences.is_empty(),
                "seed {seed}, k {k:?}\n{text}\n{:#?}",
                comparison.differences
            );
            compared += 1;
            heaps += comparison.heaps;
        }
    }
    println!("{compared} runs agree on {heaps} heaps, {skipped} skipped");
    assert!(compared as u64 >= 2 * count, "only {compared} runs were compared");
}

#[test]
fn references() {
    check(Features::REFERENCES, 1_000_000, 25);
}

#[test]
fn inputs_without_cycles() {
    let (one, all) = (&["a"][..], &["a", "c"][..]);
    check_without_cycles(Features::REFERENCES, 1_500_000, 12, one);
    check_without_cycles(Features::REFERENCES, 1_600_000, 12, all);
    check_without_cycles(Features::CALLS, 1_700_000, 8, all);
}

#[test]
fn calls_and_subclasses() {
    check(Features::CALLS, 2_000_000, 20);
}

#[test]
fn integers_and_booleans() {
    check(Features::VALUES, 3_000_000, 15);
}

#[test]
fn arrays() {
    check(Features::ARRAYS, 4_000_000, 15);
}

#[test]
fn everything() {
    check(Features::ALL, 5_000_000, 15);
}

/// When the time ends during the comparison, that is no difference.
#[test]
fn a_comparison_that_runs_out_of_time_stops() {
    let mut stopped = 0;
    for seed in 5_500_000..5_500_012 {
        let text = program(seed, Features::REFERENCES);
        let store = Store::new();
        let (setup, task) = common::prepare(&store, &text, Inputs { k: Some(2), array: 2, root_alias: true });
        let Some((lazy, summary)) = common::both(&setup, &task, 400) else { continue };
        setup.oracle.set_deadline(Some(std::time::Instant::now()));
        match compare(&setup, &lazy, &summary, 400, true) {
            Ok(found) => {
                assert!(found.differences.is_empty(), "seed {seed}\n{text}\n{:#?}", found.differences)
            }
            Err(why) => {
                assert!(why.to_string().contains("time"), "{why}");
                stopped += 1;
            }
        }
    }
    assert!(stopped > 3, "only {stopped} stopped");
}

/// lazier and lazier# give lazy's traces, and its heaps once their tokens are decided, when there is no bound k.
#[test]
fn lazier_engines() {
    let mut compared = 0;
    for seed in 6_000_000..6_000_000 + common::scaled(24) {
        let text = program(seed, if seed % 2 == 0 { Features::CALLS } else { Features::REFERENCES });
        let store = Store::new();
        let (setup, task) = common::prepare(&store, &text, Inputs { k: None, array: 2, root_alias: true });
        let Some((lazy, summary)) = common::both(&setup, &task, 300) else { continue };
        for laziness in [Laziness::Lazier, Laziness::LazierSharp] {
            let mut later = engine::lazy(&setup, &task, laziness, usize::MAX, &mut |_| Ok(()));
            later.outcome.clone().unwrap();
            assert!(
                later.progress.paths <= lazy.progress.paths,
                "seed {seed}: lazier has more states\n{text}"
            );
            later.expand();
            let found = compare(&setup, &later, &summary, 10_000, false).unwrap();
            assert!(
                found.differences.is_empty(),
                "seed {seed} {laziness:?}\n{text}\n{:#?}",
                found.differences
            );
            compared += 1;
        }
    }
    assert!(compared > 24, "only {compared} runs");
}

/// A precondition as one condition: a state of the summary stands for exactly the heaps of all lazy states that the
/// precondition accepts, by whatever path, and that take the trace.
fn check_merged(features: Features, first: u64, count: u64) {
    let (mut compared, mut heaps, mut joined) = (0, 0, 0);
    for seed in first..first + common::scaled(count) {
        let text = program_with_precondition(seed, features);
        for k in [Some(1), Some(2), Some(3), None] {
            let store = Store::new();
            let inputs = Inputs { k, array: 2, root_alias: seed % 3 != 0 };
            let (setup, task) = common::prepare(&store, &text, inputs);
            let rep_ok = task.program.method_named(task.class, "ok");
            let apart = Task { rep_ok, ..task };
            let task = Task { merged: true, ..apart.clone() };
            let Some((lazy, summary)) = common::both(&setup, &task, 400) else { continue };
            let comparison = compare(&setup, &lazy, &summary, 400, false).unwrap();
            assert!(
                comparison.differences.is_empty(),
                "seed {seed}, k {k:?}\n{text}\n{:#?}",
                comparison.differences
            );
            let alone = engine::summary(&setup, &apart, None, &mut |_| Ok(()));
            joined += alone.progress.paths - summary.progress.paths;
            compared += 1;
            heaps += comparison.heaps;
        }
    }
    println!("{compared} runs agree on {heaps} heaps; {joined} paths fewer than path by path");
    assert!(compared as u64 >= common::scaled(count), "only {compared} runs were compared");
    assert!(joined > 0, "nothing was merged");
}

#[test]
fn merged_references() {
    check_merged(Features::REFERENCES, 7_000_000, 20);
}

#[test]
fn merged_calls_and_subclasses() {
    check_merged(Features::CALLS, 7_100_000, 12);
}

#[test]
fn merged_integers_and_booleans() {
    check_merged(Features::VALUES, 7_200_000, 12);
}

#[test]
fn merged_everything() {
    check_merged(Features::ALL, 7_300_000, 12);
}
