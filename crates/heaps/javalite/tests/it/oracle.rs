//! Counts that were found by other means: `contains` on an acyclic list, called N times, under the bound k.

use parallax_engines::*;
use parallax_javalite::*;
use parallax_term::Store;
use std::rc::Rc;

const LIST: (&str, &str) = (include_str!("../../../../../corpus/javalite/list.jl"), "List");
const SORTED: (&str, &str) = (include_str!("../../../../../corpus/javalite/sorted.jl"), "Sorted");

/// A method of a class of a program, under its precondition.
fn subject<'s>(store: &'s Store, (text, class): (&str, &str), method: &str, k: usize) -> (Setup<'s>, Task) {
    let program = Rc::new(parse(text).unwrap());
    let class = program.class_named(class).unwrap();
    let id = |name: &str| program.method_named(class, name).unwrap();
    let task = Task {
        program: program.clone(),
        class,
        method: id(method),
        rep_ok: Some(id("repOK")),
        merged: false,
        bounds: Bounds { rounds: 30, calls: 20 },
        drafts: MachineDrafts::default(),
    };
    let inputs = Inputs { k: Some(k), array: 0, root_alias: false };
    (parallax_javalite::setup(store, &program, class, task.method, inputs), task)
}

/// How many heaps the paths of a summary stand for, counted without being listed.
fn heaps(ends: &engine::Ends<Task, Summary<'_>>) -> u64 {
    let accepted = ends.traces.iter().filter(|(trace, _)| trace.ending != engine::Ending::Discarded);
    let counts = accepted.map(|(_, bucket)| bucket.finals[0].heap().count(0).unwrap());
    counts.fold(0, |sum, count| {
        assert!(count.exact);
        sum + count.heaps
    })
}

/// Accepted end states of lazy initialisation and paths of the summary.
fn counts(method: &str, k: usize) -> (usize, usize) {
    let store = Store::new();
    let (setup, task) = subject(&store, LIST, method, k);
    let lazy = engine::lazy(&setup, &task, Laziness::Lazy, 0, &mut |_| Ok(()));
    let summary = engine::summary(&setup, &task, None, &mut |_| Ok(()));
    lazy.outcome.clone().unwrap();
    summary.outcome.clone().unwrap();
    // As many as lazy initialisation visits.
    assert_eq!(heaps(&summary), lazy.progress.paths as u64, "{method}, k = {k}");
    (lazy.progress.paths, summary.progress.paths)
}

#[test]
fn one_call_under_growing_bounds() {
    let expected = [(3, 2), (14, 5), (42, 9), (128, 14), (435, 20), (1681, 27)];
    for (k, expected) in (1..).zip(expected) {
        assert_eq!(counts("run1", k), expected, "k = {k}");
    }
}

/// Partitions of `n` things into `blocks` (Stirling numbers of the second kind).
fn partitions(n: u64, blocks: u64) -> u64 {
    match (n, blocks) {
        (0, 0) => 1,
        (0, _) | (_, 0) => 0,
        _ => {
            let mut row = vec![1];
            for _ in 1..n {
                let next = |at: usize| {
                    let same = row.get(at).map_or(0, |ways| ways * (at as u64 + 1));
                    same + at.checked_sub(1).map_or(0, |before| row[before])
                };
                row = (0..=row.len()).map(next).collect();
            }
            row.get(blocks as usize - 1).copied().unwrap_or(0)
        }
    }
}

/// Where no one could list them: what the elements of a list are is a partition of its nodes, with null as one more block
/// if the value that is looked for is not null, and none in the block of that value before it is found. The last node
/// of the longest list is as far from the root as may be: its element is no new object.
#[test]
fn one_call_under_a_bound_of_twenty() {
    const K: u64 = 20;
    let bell = |n: u64| (0..=n).map(|blocks| partitions(n, blocks)).sum::<u64>();
    let absent = |n: u64| match n {
        K => (0..K)
            .map(|known| partitions(K - 1, known) * known + partitions(K, known + 1) * (known + 1))
            .sum(),
        _ => bell(n) + bell(n + 1),
    };
    let found_at = |place: u64| bell(place - 1) + bell(place);
    let expected: u64 = (1..=K).map(|n| absent(n) + (1..=n).map(found_at).sum::<u64>()).sum();
    let store = Store::new();
    let (setup, task) = subject(&store, LIST, "run1", K as usize);
    let summary = engine::summary(&setup, &task, None, &mut |_| Ok(()));
    summary.outcome.clone().unwrap();
    assert_eq!(heaps(&summary), expected);
}

/// A list whose keys grow has one shape for each length, but that no pointer goes back follows from the keys alone. A key is
/// one of the n, or falls in one of the n + 1 gaps.
#[test]
fn sorted_keys_under_a_bound_of_twenty() {
    const K: usize = 20;
    let store = Store::new();
    let (setup, task) = subject(&store, SORTED, "check", K);
    let summary = engine::summary(&setup, &task, None, &mut |_| Ok(()));
    summary.outcome.clone().unwrap();
    assert_eq!(heaps(&summary), (0..=K as u64).map(|n| 2 * n + 1).sum::<u64>());
}

/// A walk down an acyclic list ends within the bound on its length; with cycles it may not.
#[test]
fn acyclic_lists_end() {
    let text = "(class Node ([Node next]) ())
                (class List ([Node head])
                  ((int size
                     (var Node node := (this $ head) in (var int n := 0 in
                       (begin (while (node != null) (begin (n := (n + 1)) (node := (node $ next)))) n))))))
                (List size)";
    let program = Rc::new(parse(text).unwrap());
    let (class, method) = program.main.unwrap();
    let bounds = Bounds { rounds: 6, calls: 4 };
    let drafts = MachineDrafts::default();
    let task = Task { program: program.clone(), class, method, rep_ok: None, merged: false, bounds, drafts };
    for acyclic in [false, true] {
        let store = Store::new();
        let inputs = Inputs { k: Some(4), array: 0, root_alias: true };
        let mut setup = parallax_javalite::setup(&store, &program, class, method, inputs);
        assert!(!setup.forbid_cycles("previous"));
        if acyclic {
            assert!(setup.forbid_cycles("next"));
        }
        let ends = engine::summary(&setup, &task, None, &mut |_| Ok(()));
        let cut = |trace: &&parallax_javalite::Trace| matches!(trace.ending, engine::Ending::Cut(_));
        assert_eq!(ends.traces.keys().any(|trace| cut(&trace)), !acyclic);
        let heaps: Vec<u64> = ends
            .traces
            .iter()
            .filter(|(trace, _)| !cut(trace))
            .map(|(_, bucket)| bucket.finals[0].heap().count(0).unwrap().heaps)
            .collect();
        // One list of each length from 0 to 4: a list that ends has no cycle.
        assert_eq!(heaps, [1; 5]);
    }
}

#[test]
fn several_calls_under_one_bound() {
    assert_eq!(counts("run2", 3), (121, 23));
    assert_eq!(counts("run3", 3), (312, 59));
    assert_eq!(counts("run5", 3), (2136, 433));
}
