//! Two methods on one input: what is said against what the concrete machine does.
//!
//! Pairs are generated: unrelated methods, and methods that differ in one statement, which is left out or done twice; without
//! a precondition, and under one that may write, fail, or count as one condition. Not generated: recursion, arrays in arrays.

use crate::common;

use common::generate::{Features, Random, pair};
use common::heaps;
use parallax_engines::engine::Ending;
use parallax_engines::equivalent::{Equivalence, equivalent, same_end};
use parallax_engines::*;
use parallax_heap::InputHeap;
use parallax_javalite::{Bounds, Replay, Task};
use parallax_path::Bound;
use parallax_term::Store;

fn second(task: &Task, name: &str) -> Task {
    let method = task.program.method_named(task.class, name).expect("the other method");
    Task { method, ..task.clone() }
}

fn ends(task: &Task, setup: &Setup<'_>, input: &InputHeap) -> Option<Replay> {
    // One input takes one way through the precondition: there is nothing to merge.
    let task = Task { merged: false, ..task.clone() };
    let replay = Replay::new(&task, &setup.universe, input, setup.inputs.array).unwrap();
    (!matches!(replay.trace.ending, Ending::Cut(_) | Ending::Discarded)).then_some(replay)
}

/// What is said of a pair, complete or not, and whether random heaps tell the two apart.
fn check(features: Features, first: u64, count: u64) {
    let (mut same, mut different, mut open, mut seen) = (0, 0, 0, 0);
    for seed in first..first + common::scaled(count) {
        let text = pair(seed, features);
        let inputs = Inputs { k: Some(2), array: 2, root_alias: seed % 3 != 0 };
        let store = Store::new();
        let (setup, one) = common::prepare(&store, &text, inputs);
        let ok = one.program.method_named(one.class, "ok");
        let one = Task { rep_ok: ok.filter(|_| seed % 4 < 2), merged: seed % 4 == 0, ..one };
        let two = second(&one, "other");
        let compare = |one: &Task, two: &Task| {
            let found = equivalent(&setup, one, two, 200, &mut common::at_most(400));
            found.unwrap_or_else(|stop| panic!("seed {seed}: {stop}\n{text}"))
        };
        let found = compare(&one, &two);
        let turned = compare(&two, &one);
        let complete = |found: &Equivalence<Task>| found.completeness.is_complete();
        if complete(&found) && complete(&turned) {
            let verdicts = [&found, &turned].map(|found| found.counterexample.is_some());
            assert_eq!(verdicts[0], verdicts[1], "seed {seed}: the order matters\n{text}");
        }
        let mut random = Random::new(seed);
        let told_apart = (0..60).find_map(|_| {
            let size = random.below(3);
            let input = heaps::random(&setup, size, &mut random);
            let (one, two) = (ends(&one, &setup, &input)?, ends(&two, &setup, &input)?);
            (!same_end(&one, &two)).then_some(input)
        });
        seen += usize::from(told_apart.is_some());
        match (&found.counterexample, complete(&found)) {
            (Some(_), _) => different += 1,
            (None, true) => {
                same += 1;
                assert!(told_apart.is_none(), "seed {seed}: no difference?\n{text}\n{told_apart:#?}");
            }
            (None, false) => open += 1,
        }
    }
    println!("{same} pairs are alike, {different} differ ({seen} on random heaps), {open} are open");
    assert!(same as u64 * 12 >= count && different as u64 * 4 >= count, "{same}, {different}");
}

#[test]
fn references() {
    check(Features::REFERENCES, 30_000_000, 60);
}

#[test]
fn calls_and_subclasses() {
    check(Features::CALLS, 30_100_000, 40);
}

#[test]
fn numbers() {
    check(Features::VALUES, 30_200_000, 40);
}

#[test]
fn everything() {
    check(Features::ALL, 30_300_000, 60);
}

/// What is said of two methods of a list: whether they differ, and whether all was compared.
fn compared(one: &str, two: &str, inputs: Inputs) -> (bool, bool) {
    let text = format!(
        "(class Node ([Node next] [Node other] [int key]) ())
         (class List ([Node head] [Node tail] [(array Node) nodes] [(array int) numbers] [int size])
           ((Node run [Node p] [Node q] {one})
            (Node other [Node p] [Node q] {two})))
         (List run)"
    );
    let verdict = |first: &str, second_: &str| {
        let store = Store::new();
        let (setup, task) = common::prepare(&store, &text, inputs);
        let task = Task { bounds: Bounds { rounds: 20, calls: 4 }, ..task };
        let (one, two) = (second(&task, first), second(&task, second_));
        let found = equivalent(&setup, &one, &two, 1000, &mut |_| Ok(())).unwrap();
        let bounds: Vec<Bound> = found.completeness.bounds().cloned().collect();
        println!("{one:?}: {bounds:?}", one = first);
        (found.counterexample.is_some(), found.completeness.is_complete())
    };
    let (there, back) = (verdict("run", "other"), verdict("other", "run"));
    assert_eq!(there.0, back.0, "{text}");
    (there.0, there.1 && back.1)
}

const PLAIN: Inputs = Inputs { k: Some(3), array: 3, root_alias: true };

/// What neither method reads may be different all the same.
#[test]
fn what_is_not_read_is_compared() {
    // A field that one of them clears.
    assert!(compared("(begin (this $ head := null) null)", "null", PLAIN).0);
    assert!(compared("(begin (this $ head := null) (this $ head))", "null", PLAIN).0);
    // Fields of two objects that neither looks at.
    let copy = |from: &str| {
        format!(
            "(if ((p = null) or (q = null)) null else
               (var Node n := (new Node) in (begin (n $ next := {from}) (n $ other := p) n)))"
        )
    };
    assert!(compared(&copy("p"), &copy("q"), PLAIN).0);
    assert!(compared("p", "q", PLAIN).0);
    let null = |name: &str| format!("(if ({name} = null) null else ({name} $ next))");
    assert!(compared(&null("p"), &null("q"), PLAIN).0);
    assert!(compared(&null("p"), "(if (p = null) null else (p $ other))", PLAIN).0);
    // What is written over and put back.
    let back = "(var Node n := (this $ head) in (begin (this $ head := null) (this $ head := n) null))";
    assert_eq!(compared(back, "null", PLAIN), (false, true));
    assert_eq!(compared("(begin (this $ head) null)", "(begin (this $ tail) null)", PLAIN), (false, true));
    assert_eq!(compared("(begin (this $ size := (this $ size)) p)", "p", PLAIN), (false, true));
}

/// A path that is cut off is compared with nothing: that is a bound, and no difference.
#[test]
fn what_is_cut_off_is_not_compared() {
    let count = |to: &str| {
        format!(
            "(var int i := 0 in (begin (while (i < {to}) (i := (i + 1))) (if (i = 50) (return p) else p) q))"
        )
    };
    // They differ in the fiftieth round only, or not at all: a bound of twenty cannot tell.
    let differ = count("(this $ size)").replace("(return p)", "(return q)").replace(") q))", ") p))");
    let same = count("(this $ size)").replace(") q))", ") p))");
    assert_eq!(compared(&differ, &same, PLAIN), (false, false));
    assert_eq!(compared(&same, &same, PLAIN), (false, false));
    assert_eq!(compared(&same, "p", PLAIN), (false, false));
}

/// Inputs that either of the two rejects are not compared, whichever is first.
#[test]
fn assumptions_in_any_order() {
    let assumed = "(begin (assume ((this $ size) < 3)) p)";
    let other = "(if (2 < (this $ size)) null else p)";
    assert_eq!(compared(assumed, other, PLAIN), (false, true));
    assert!(compared(assumed, "(if (0 < (this $ size)) null else p)", PLAIN).0);
}

/// Elements count up to the length of an array, and no further.
#[test]
fn elements_of_arrays() {
    let short = Inputs { array: 2, ..PLAIN };
    let clear = |at: usize| {
        format!(
            "(if ((this $ nodes) = null) null else (if ((length (this $ nodes)) < {}) null else
               (begin ((this $ nodes) # {at} := null) null)))",
            at + 1
        )
    };
    assert!(compared(&clear(0), "null", short).0);
    assert!(compared(&clear(0), &clear(1), short).0);
    let fresh =
        |array: &str| format!("(begin (this $ numbers := {array}) (this $ nodes := (array Node 1)) null)");
    assert_eq!(compared(&fresh("(array int 2)"), &fresh("(array int 2)"), short), (false, true));
    assert!(compared(&fresh("(array int 2)"), &fresh("(array int 1)"), short).0);
}
