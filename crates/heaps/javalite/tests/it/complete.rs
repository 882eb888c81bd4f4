//! A run that says it is complete has the same paths with every bound raised.
//!
//! Programs are generated: references, calls, numbers, arrays, preconditions, assumptions. Not generated: loops that count
//! along an array, and recursion; those have programs of their own below.

use crate::common;

use common::generate::{Features, program_with_precondition};
use parallax_engines::engine::{self, Ending, Engine};
use parallax_engines::*;
use parallax_javalite::*;
use parallax_path::Completeness;
use parallax_term::Store;
use std::collections::BTreeSet;

/// Every bound there is, raised by one: a new one does not compile without its row.
fn raised(inputs: Inputs, bounds: Bounds) -> Vec<(&'static str, Inputs, Bounds)> {
    let Inputs { k, array, root_alias: _ } = inputs;
    let Bounds { rounds, calls } = bounds;
    vec![
        ("k", Inputs { k: k.map(|k| k + 1), ..inputs }, bounds),
        ("array", Inputs { array: array + 1, ..inputs }, bounds),
        ("loop", inputs, Bounds { rounds: rounds + 1, ..bounds }),
        ("calls", inputs, Bounds { calls: calls + 1, ..bounds }),
    ]
}

/// The traces of a run, discarded ones too.
struct Ran {
    traces: BTreeSet<Trace>,
    finished: bool,
    completeness: Completeness,
}

fn run(text: &str, mode: Mode, engine: Engine, inputs: Inputs, bounds: Bounds, states: usize) -> Ran {
    let store = Store::new();
    let (setup, task) = common::prepare(&store, text, inputs);
    let ok = task.program.method_named(task.class, "ok");
    let rep_ok = ok.filter(|_| mode != Mode::Bare);
    let task = Task { rep_ok, merged: mode == Mode::Merged, bounds, ..task };
    let watch = &mut common::at_most(states);
    macro_rules! ran {
        ($ends:expr) => {{
            let ends = $ends;
            assert!(!matches!(ends.outcome, Err(Stop::Broken(_))), "{text}\n{:?}", ends.outcome);
            let finished = ends.outcome.is_ok();
            Ran { traces: ends.traces.into_keys().collect(), finished, completeness: ends.completeness }
        }};
    }
    match engine.laziness() {
        None => ran!(engine::summary(&setup, &task, None, watch)),
        Some(laziness) => ran!(engine::lazy(&setup, &task, laziness, 0, watch)),
    }
}

/// How the precondition is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Bare,
    Before,
    Merged,
}

/// Runs an engine with every bound raised, if it says that it is complete. Whether it did.
fn is_complete(text: &str, mode: Mode, engine: Engine, inputs: Inputs, bounds: Bounds) -> bool {
    let base = run(text, mode, engine, inputs, bounds, 400);
    let cut = base.traces.iter().any(|trace| matches!(trace.ending, Ending::Cut(_)));
    assert!(!(base.completeness.is_complete() && (cut || !base.finished)), "{text}");
    if !base.completeness.is_complete() {
        return false;
    }
    for (what, inputs, bounds) in raised(inputs, bounds) {
        let more = run(text, mode, engine, inputs, bounds, 2_000);
        let new: Vec<_> = more.traces.difference(&base.traces).collect();
        assert!(new.is_empty(), "{mode:?} {engine:?} {inputs:?}: more {what} finds\n{new:#?}\n{text}");
        if more.finished {
            let lost: Vec<_> = base.traces.difference(&more.traces).collect();
            assert!(lost.is_empty(), "{mode:?} {engine:?} {inputs:?}: more {what} loses\n{lost:#?}\n{text}");
        }
    }
    true
}

fn check(features: Features, first: u64, count: u64) {
    let (mut complete, mut others) = (0, 0);
    for seed in first..first + common::scaled(count) {
        let text = program_with_precondition(seed, features);
        let engine = Engine::ALL[seed as usize % 4];
        let mode = [Mode::Before, Mode::Merged, Mode::Bare][seed as usize / 4 % 3];
        let bounds = Bounds { rounds: 2, calls: 3 };
        for k in [1, 2] {
            let inputs = Inputs { k: Some(k), array: 1, root_alias: seed % 5 != 0 };
            match is_complete(&text, mode, engine, inputs, bounds) {
                true => complete += 1,
                false => others += 1,
            }
        }
    }
    println!("{complete} runs are complete, {others} are not");
    assert!(complete as u64 * 8 >= count && others as u64 * 8 >= count, "{complete} and {others}");
}

#[test]
fn references() {
    check(Features::REFERENCES, 20_000_000, 72);
}

#[test]
fn calls_and_subclasses() {
    check(Features::CALLS, 20_100_000, 72);
}

#[test]
fn arrays() {
    check(Features::ARRAYS, 20_200_000, 96);
}

#[test]
fn everything() {
    check(Features::ALL, 20_300_000, 96);
}

/// Nodes and an array, and what a method does with them.
fn over_an_array(method: &str) -> String {
    format!(
        "(class Node ([Node next] [int key]) ())
         (class Box ([(array int) numbers] [(array Node) nodes] [Node head] [int at])
           ((bool ok (if ((this $ numbers) = null) false else (not ((this $ nodes) = null))))
            (int run {method})))
         (Box run)"
    )
}

/// Whether each engine says that it is complete, which is the same of all, and true.
fn complete(text: &str, inputs: Inputs) -> bool {
    let bounds = Bounds { rounds: 12, calls: 4 };
    let said: Vec<bool> = [Mode::Before, Mode::Merged]
        .into_iter()
        .flat_map(|mode| Engine::ALL.map(|engine| is_complete(text, mode, engine, inputs, bounds)))
        .collect();
    assert!(said.iter().all(|one| *one == said[0]), "{said:?}\n{text}");
    said[0]
}

/// Longer arrays make a difference to some methods and to others none.
#[test]
fn lengths_of_input_arrays() {
    let inputs = Inputs { k: None, array: 3, root_alias: true };
    for (method, expected) in [
        // All elements, one after the other.
        (
            "(var int i := 0 in (begin
               (while (i < (length (this $ numbers))) (begin (i := (i + 1)))) i))",
            false,
        ),
        ("(if ((length (this $ numbers)) = 2) 1 else 0)", true),
        ("(if ((length (this $ numbers)) < 3) 1 else 0)", true),
        ("(if ((length (this $ numbers)) < 4) 1 else 0)", false),
        ("(if (7 < (length (this $ numbers))) 1 else 0)", false),
        ("(if ((length (this $ numbers)) < 0) 1 else 0)", true),
        ("((this $ numbers) # 0)", true),
        ("((this $ numbers) # 2)", true),
        ("((this $ numbers) # 3)", false),
        // At an index that is any number.
        ("((this $ numbers) # (this $ at))", false),
        ("(begin ((this $ nodes) # (this $ at) := null) 0)", false),
        ("(if (((this $ nodes) # 1) = null) 1 else 0)", true),
        // Rejected before anything is done with it.
        ("(begin (assume ((length (this $ nodes)) = 5)) (assert false) 0)", false),
        ("(begin (assume ((length (this $ nodes)) = 3)) 0)", true),
        // As the length of another array.
        ("(length (array int (length (this $ numbers))))", false),
    ] {
        assert_eq!(complete(&over_an_array(method), inputs), expected, "{method}");
    }
}

/// What the bound k forbids is left out, also where an assumption or the precondition rejects all that is left.
#[test]
fn an_input_that_is_starved_is_left_out() {
    let program = |ok: &str, run: &str| {
        format!(
            "(class Node ([Node next]) ())
             (class List ([Node head]) ((bool ok {ok}) (bool run {run})))
             (List run)"
        )
    };
    // Three nodes in a row, which are not the same.
    let three = "(var Node a := (this $ head) in (var Node b := null in (var Node c := null in (begin
        (if (a = null) (return false) else true) (b := (a $ next))
        (if (b = null) (return false) else true) (c := (b $ next))
        (if (c = null) (return false) else true)
        (not (((a = b) or (b = c)) or (a = c)))))))";
    let assumed =
        three.replace("(return false)", "(begin (assume false) true)").replace("(not", "(assume (not");
    let assumed = assumed.replace("(a = c)))", "(a = c))))");
    let assumed = format!("(begin {assumed} (assert false) true)");
    for text in [program(three, "(begin (assert false) true)"), program("true", &assumed)] {
        for (k, expected) in [(1, false), (2, false), (4, true)] {
            let inputs = Inputs { k: Some(k), array: 0, root_alias: true };
            assert_eq!(complete(&text, inputs), expected, "k = {k}\n{text}");
        }
        let inputs = Inputs { k: Some(2), array: 0, root_alias: true };
        let bounds = Bounds { rounds: 2, calls: 2 };
        let two = run(&text, Mode::Before, Engine::Summary, inputs, bounds, 1_000);
        assert!(
            two.traces.iter().all(|trace| trace.ending == Ending::Discarded),
            "nothing is found at k = 2"
        );
        let three = Inputs { k: Some(3), ..inputs };
        let three = run(&text, Mode::Before, Engine::Summary, three, bounds, 1_000);
        assert!(three.traces.iter().any(|trace| trace.ending == Ending::Error(Fault::Assertion)));
    }
}

/// A loop or a recursion that is cut off and whose path is rejected is left out too.
#[test]
fn what_is_cut_off_is_left_out() {
    let text = "(class A ([int n]) ((bool ok true)
        (bool run (var int i := 0 in (begin (while (i < (this $ n)) (begin (i := (i + 1)))) (assume (this $ n) < 0)) true)))) (A run)";
    let text = text.replace("(assume (this $ n) < 0)) true)", "(assume ((this $ n) < 0)) true))");
    let text = text.replace("true)))))) (A run)", "true))))) (A run)");
    let inputs = Inputs { k: Some(1), array: 0, root_alias: true };
    assert!(!complete(&text, inputs));
    let deep = "(class A ([int n]) ((bool ok true)
        (int down [int n] (if (n < 1) 0 else (this @ down (n - 1)))) (int run (this @ down (this $ n))))) (A run)";
    assert!(!complete(deep, inputs));
    let shallow = deep.replace("(this @ down (this $ n))", "(this @ down 2)");
    assert!(complete(&shallow, inputs));
}
