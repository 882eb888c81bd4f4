//! The engines on class files: the summary stands for what lazy initialisation enumerates, and both for what Javalite's
//! engines find in the same program.

use crate::common;

use parallax_engines::engine::{self, Ending};
use parallax_engines::exact::compare;
use parallax_engines::{Inputs, Laziness, Replay};
use parallax_heap::InputValue;
use parallax_java::{Instances, Outcome};
use parallax_term::Store;
use std::collections::BTreeSet;
use std::path::Path;

/// Both engines, compared; and every path of the summary taken by the concrete machine. Gives paths by ending.
fn exact(path: &Path, method: &str, rep_ok: Option<&str>, k: usize) -> Counts {
    let inputs = Inputs { k: Some(k), array: 2, root_alias: true };
    exact_with(path, method, rep_ok, inputs, &[], &Instances::new())
}

/// The same, without cycles along some fields, and with classes that stand for some types.
fn exact_with(
    path: &Path,
    method: &str,
    rep_ok: Option<&str>,
    inputs: Inputs,
    acyclic: &[&str],
    instances: &Instances,
) -> Counts {
    let k = inputs.k.unwrap_or(usize::MAX);
    let program = common::program(path);
    let task = common::task(&program, method, rep_ok);
    let store = Store::new();
    let mut setup = common::setup_with(&store, &task, inputs, instances);
    for field in acyclic {
        assert!(setup.forbid_cycles(field), "{field}");
    }
    program.adopt(&setup.universe);
    let lazy = engine::lazy(&setup, &task, Laziness::Lazy, usize::MAX, &mut |_| Ok(()));
    lazy.outcome.clone().unwrap();
    let summary = engine::summary(&setup, &task, None, &mut |_| Ok(()));
    summary.outcome.clone().unwrap();
    let found = compare(&setup, &lazy, &summary, 20_000, true).unwrap();
    assert!(found.differences.is_empty(), "{method}, k = {k}: {:#?}", found.differences);
    assert_eq!(found.skipped, 0, "{method}, k = {k}");
    let mut counts =
        Counts { lazy: lazy.progress.paths, summary: summary.progress.paths, ..Counts::default() };
    for (trace, bucket) in &summary.traces {
        counts.outcomes.extend(trace.events.iter().map(|event| kind(event.outcome)));
        match &trace.ending {
            Ending::Discarded => continue,
            Ending::Cut(cut) => counts.cuts.push(format!("{cut:?}")),
            Ending::Error(uncaught) => counts.errors.push(uncaught.class.clone()),
            Ending::Value => counts.values += 1,
        }
        let end = &bucket.finals[0];
        let model = end.heap().path.model().unwrap();
        let snapshot = end.heap().resolve(model, &end.cells()).unwrap();
        let universe = program.universe();
        let input = snapshot.input(&universe, &store, model, |_, _| InputValue::Null).unwrap();
        let replay = Replay::new(&task, &universe, &input, setup.inputs.array).unwrap();
        assert!(replay.follows(trace), "{method}, k = {k}: {input:#?}\n{trace:#?}\n{:#?}", replay.trace);
        if !matches!(trace.ending, Ending::Cut(_)) {
            assert!(replay.ends_in(&snapshot, &store, model), "{method}, k = {k}: {input:#?}");
        }
    }
    counts
}

#[derive(Debug, Default)]
struct Counts {
    lazy: usize,
    summary: usize,
    values: usize,
    errors: Vec<String>,
    cuts: Vec<String>,
    outcomes: BTreeSet<&'static str>,
}

/// Every kind of outcome, and the one that this is: a new kind does not compile without its row.
const KINDS: [&str; 13] = [
    "branch",
    "case",
    "cast",
    "caught",
    "count",
    "dispatch",
    "divisor",
    "equal",
    "fits",
    "in bounds",
    "instance",
    "length",
    "non-null",
];

fn kind(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Branch(_) => "branch",
        Outcome::Case(_) => "case",
        Outcome::Cast(_) => "cast",
        Outcome::Caught(_) => "caught",
        Outcome::Count(_) => "count",
        Outcome::Dispatch(..) => "dispatch",
        Outcome::Divisor(_) => "divisor",
        Outcome::Equal(_) => "equal",
        Outcome::Fits(_) => "fits",
        Outcome::InBounds(_) => "in bounds",
        Outcome::Instance(_) => "instance",
        Outcome::Length(_) => "length",
        Outcome::NonNull(_) => "non-null",
    }
}

fn classes() -> tempfile::TempDir {
    common::compiled(&common::sources(&common::corpus("ds")))
}

#[test]
fn lists() {
    let classes = classes();
    for k in 1..=3 {
        exact(classes.path(), "IntList.contains", Some("repOK"), k);
        let right = exact(classes.path(), "SortedList.insert", Some("repOK"), k);
        assert!(right.errors.is_empty() && right.cuts.is_empty(), "{right:?}");
    }
    let wrong = exact(classes.path(), "SortedList.insertBroken", Some("repOK"), 2);
    assert!(wrong.errors.contains(&"java.lang.AssertionError".to_owned()), "{wrong:?}");
    let right = exact(classes.path(), "Doubly.removeFirst", Some("repOK"), 2);
    assert!(right.errors.iter().all(|error| error == "java.lang.IllegalStateException"), "{right:?}");
    let wrong = exact(classes.path(), "Doubly.removeFirstBroken", Some("repOK"), 2);
    assert!(wrong.errors.contains(&"java.lang.AssertionError".to_owned()), "{wrong:?}");
}

#[test]
fn trees() {
    let classes = classes();
    for k in 1..=2 {
        exact(classes.path(), "SearchTree.find", Some("repOK"), k);
        let right = exact(classes.path(), "SearchTree.delete(I)V", Some("repOK"), k);
        assert!(right.errors.is_empty() && right.cuts.is_empty(), "{right:?}");
    }
    let wrong = exact(classes.path(), "SearchTree.deleteBroken", Some("repOK"), 2);
    assert!(wrong.errors.contains(&"java.lang.AssertionError".to_owned()), "{wrong:?}");
}

#[test]
fn arrays() {
    let classes = classes();
    let right = exact(classes.path(), "BoundedStack.pop", Some("repOK"), 2);
    assert!(right.errors.iter().all(|error| error == "java.lang.IllegalStateException"), "{right:?}");
    let wrong = exact(classes.path(), "BoundedStack.popBroken", Some("repOK"), 2);
    let class = "java.lang.ArrayIndexOutOfBoundsException".to_owned();
    assert!(wrong.errors.contains(&class), "{wrong:?}");
}

/// Bounded wildcards, patterns over a sealed interface, inner classes, varargs, default methods.
#[test]
fn other_styles() {
    let classes = classes();
    let mut integers = Instances::new();
    integers.insert("java/lang/Object".into(), vec!["java/lang/Integer".into()]);
    let none = Instances::new();
    let subjects: [(&str, usize, &[&str], &Instances); 5] = [
        ("LeftistHeap.add", 2, &["left", "right"], &integers),
        ("TwoThreeTree.insert", 2, &[], &none),
        ("Playlist.Cursor.remove", 3, &[], &none),
        ("BinaryHeap.pushAll", 1, &[], &none),
        ("JobQueue.drain", 2, &["next"], &none),
    ];
    for (method, k, acyclic, instances) in subjects {
        let assertion = "java.lang.AssertionError".to_owned();
        let inputs = Inputs { k: Some(k), array: 3, root_alias: true };
        let exact =
            |method: &str| exact_with(classes.path(), method, Some("repOK"), inputs, acyclic, instances);
        let right = exact(method);
        assert!(right.cuts.is_empty() && !right.errors.contains(&assertion), "{method}: {right:?}");
        let wrong = exact(&format!("{method}Broken"));
        assert!(wrong.errors.contains(&assertion), "{method}: {wrong:?}");
    }
    // Default methods, by the class that inherits them and by the interface that has them. Where two queues have jobs in
    // common, one that takes the other's has no end.
    for method in ["JobQueue.take", "Queue.take"] {
        let inputs = Inputs { k: Some(2), array: 2, root_alias: true };
        let found = exact_with(classes.path(), method, Some("repOK"), inputs, &["next"], &none);
        assert!(found.cuts.iter().all(|cut| cut == "Calls") && found.values > 0, "{method}: {found:?}");
    }
}

#[test]
fn dispatch_and_exceptions() {
    let classes = classes();
    let twice = exact(classes.path(), "Shapes.twice", None, 2);
    assert_eq!(twice.values, 2, "{twice:?}");
    assert_eq!(twice.errors, ["java.lang.NullPointerException"]);
    let name = exact(classes.path(), "Shapes.name", None, 2);
    assert_eq!((name.values, name.errors.len()), (4, 0), "{name:?}");
    let ratio = exact(classes.path(), "Shapes.ratio", None, 2);
    assert_eq!((ratio.values, ratio.errors.len()), (2, 0), "{ratio:?}");
}

/// What is an outcome to an engine that does not know is one to the machine that knows everything: of every kind of
/// outcome there is a method, and the concrete machine follows each of its paths.
#[test]
fn outcomes_are_the_same_to_all() {
    let classes = common::compiled(&common::sources(&common::corpus("outcomes")));
    let mut seen = BTreeSet::new();
    for method in common::static_methods(classes.path(), "Outcomes") {
        let found = exact(classes.path(), &method, None, 2);
        assert!(found.values > 0, "{method}: {found:?}");
        assert!(found.cuts.iter().all(|cut| cut == "Array"), "{method}: {found:?}");
        seen.extend(found.outcomes);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), KINDS);
}

/// Arrays of arrays, of a number that is not known: none to as many as an array may have, and a negative number.
#[test]
fn arrays_of_arrays() {
    let classes = common::compiled(&common::sources(&common::corpus("outcomes")));
    let rows = exact(classes.path(), "Outcomes.rows", None, 1);
    assert_eq!(rows.values, 3, "{rows:?}");
    assert_eq!(rows.errors, ["java.lang.NegativeArraySizeException"]);
    assert_eq!(rows.cuts, ["Array"]);
}

/// The list and the tree of Javalite's corpus, written in Java statement by statement, have as many paths and heaps.
#[test]
fn the_same_program_in_javalite() {
    let classes = classes();
    for (class, text, method, java, least) in [
        ("List", include_str!("../../../../../corpus/javalite/list.jl"), "find", "jl.List.find", 4),
        ("Tree", include_str!("../../../../../corpus/javalite/tree.jl"), "search", "jl.Tree.search", 2),
    ] {
        let program = std::rc::Rc::new(parallax_javalite::parse(text).unwrap());
        let bounds = parallax_javalite::Bounds { rounds: 20, calls: 64 };
        let task = parallax_javalite::Task::named(&program, class, method, bounds).unwrap();
        assert!(task.rep_ok.is_some(), "{class}");
        for k in 1..=least {
            let store = Store::new();
            let inputs = Inputs { k: Some(k), array: 2, root_alias: true };
            let setup = parallax_javalite::setup(&store, &program, task.class, task.method, inputs);
            let lazy = engine::lazy(&setup, &task, Laziness::Lazy, 1, &mut |_| Ok(()));
            let summary = engine::summary(&setup, &task, None, &mut |_| Ok(()));
            let ours = exact(classes.path(), java, Some("repOK"), k);
            assert_eq!(
                (ours.lazy, ours.summary),
                (lazy.progress.paths, summary.progress.paths),
                "{java}, k = {k}"
            );
        }
    }
}
