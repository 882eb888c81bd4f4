//! The summary stands for exactly the heaps of lazy initialisation, on generated programs.

mod common;

use common::generate::{Features, program};
use parallax_javalite::exact::compare;
use parallax_javalite::*;
use parallax_term::Store;

/// Runs `count` generated programs under every bound; says how many were compared and how many were too large.
fn check(features: Features, first: u64, count: u64, at_least: usize) {
    let (mut compared, mut skipped, mut heaps) = (0, 0, 0);
    for seed in first..first + count {
        let text = program(seed, features);
        for k in [Some(1), Some(2), Some(3), None] {
            let root_alias = seed % 3 != 0;
            let store = Store::new();
            let (setup, task) = common::prepare(&store, &text, Inputs { k, array: 2, root_alias });
            let Some((lazy, summary)) = common::both(&setup, &task, 400) else {
                skipped += 1;
                continue;
            };
            let comparison = compare(&setup, &lazy, &summary, 400).unwrap();
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
    assert!(compared >= at_least, "only {compared} runs were compared");
}

#[test]
fn references() {
    check(Features::REFERENCES, 0, 40, 100);
}

#[test]
fn calls_and_subclasses() {
    check(Features::CALLS, 1000, 40, 90);
}

#[test]
fn integers_and_booleans() {
    check(Features::VALUES, 2000, 30, 60);
}

#[test]
fn arrays() {
    check(Features::ARRAYS, 3000, 30, 60);
}

#[test]
fn everything() {
    check(Features::ALL, 4000, 30, 60);
}
