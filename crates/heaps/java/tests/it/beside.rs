//! What was wrong beside the JVM: the ends of each method over all inputs, whether they are said to be all, and a test of
//! each path on the JVM.

use crate::common;

use parallax_engines::engine::{self, Ending, Ends};
use parallax_engines::equivalent::equivalent;
use parallax_engines::{Inputs, Laziness, Memory};
use parallax_heap::InputValue;
use parallax_java::cases::{Wanted, cases};
use parallax_java::{Task, junit};
use parallax_term::Store;
use std::collections::BTreeSet;

/// How the paths of a method end.
#[derive(Debug, PartialEq, Eq)]
struct Found {
    values: usize,
    errors: BTreeSet<String>,
    complete: bool,
}

fn found<M: Memory>(ends: &Ends<Task, M>) -> Found {
    ends.outcome.clone().unwrap();
    let mut found = Found { values: 0, errors: BTreeSet::new(), complete: ends.completeness.is_complete() };
    for trace in ends.traces.keys() {
        match &trace.ending {
            Ending::Value => found.values += 1,
            Ending::Error(uncaught) => {
                let (_, name) = uncaught.class.rsplit_once('.').expect("a package");
                found.errors.insert(name.to_owned());
            }
            _ => {}
        }
    }
    found
}

/// Method, values, exceptions, and whether these are all within k = 2 and arrays of two elements.
const METHODS: &[(&str, usize, &[&str], bool)] = &[
    // Neither number is 1 and 2; the first only; both.
    ("twoFields", 3, &["NullPointerException"], true),
    ("widths", 3, &["NullPointerException"], true),
    ("pairs", 2, &["NullPointerException"], true),
    ("ranges", 1, &[], false),
    ("sentinel", 1, &["NullPointerException"], false),
    ("shared", 1, &["NullPointerException"], false),
    ("stores", 1, &["ArrayIndexOutOfBoundsException", "ArrayStoreException", "NullPointerException"], true),
    ("instanceOf", 3, &[], true),
    ("anything", 2, &[], false),
    ("same", 2, &[], false),
    ("nothing", 2, &[], true),
    ("rethrown", 1, &["ArrayIndexOutOfBoundsException", "NullPointerException"], true),
    ("inside", 1, &["ArrayIndexOutOfBoundsException", "NullPointerException"], true),
    ("appended", 2, &["IllegalStateException"], true),
    ("message", 1, &["IllegalArgumentException"], true),
    ("digits", 3, &[], true),
    ("longDigits", 3, &[], true),
    ("notified", 1, &["IllegalMonitorStateException", "NullPointerException"], true),
];

#[test]
fn all_ends_and_no_others() {
    let classes = common::compiled(&common::sources(&common::corpus("beside")));
    let (mut sources, mut count) = (Vec::new(), 0);
    for &(name, values, errors, complete) in METHODS {
        let program = common::program(classes.path());
        let task = common::task(&program, &format!("Beside.{name}"), None);
        let store = Store::new();
        let setup = common::setup(&store, &task, Inputs { k: Some(2), array: 2, root_alias: true });
        let ends = engine::summary(&setup, &task, None, &mut |_| Ok(()));
        let errors = errors.iter().map(|error| (*error).to_owned()).collect();
        assert_eq!(found(&ends), Found { values, errors, complete }, "{name}: {:?}", ends.completeness);
        for laziness in [Laziness::Lazy, Laziness::Lazier, Laziness::LazierSharp] {
            let lazy = engine::lazy(&setup, &task, laziness, 1, &mut |_| Ok(()));
            assert_eq!(found(&lazy), found(&ends), "{name}, {laziness:?}: {:?}", lazy.completeness);
        }
        let made = cases(&task, &setup, &ends, Wanted { heaps: 1, calls: None }, &mut || Ok(())).unwrap();
        count += made.cases.len();
        sources.push(junit::source(&task, &made.cases, false));
    }
    let (passed, failed, said) = common::run_junit(classes.path(), &sources);
    assert_eq!((passed, failed), (count, 0), "{said}");
}

/// Arrays of eight bytes an element are compared to their ends: of two arrays with one element or none, or with two.
#[test]
fn numbers_of_eight_bytes() {
    let classes = common::compiled(&common::sources(&common::corpus("beside")));
    let (mut sources, mut count) = (Vec::new(), 0);
    for name in ["longs", "firstLong"] {
        let program = common::program(classes.path());
        let task = common::task(&program, &format!("Beside.{name}"), None);
        let store = Store::new();
        let setup = common::setup(&store, &task, Inputs { k: Some(1), array: 2, root_alias: true });
        let ends = engine::summary(&setup, &task, None, &mut |_| Ok(()));
        ends.outcome.clone().unwrap();
        let made = cases(&task, &setup, &ends, Wanted { heaps: 2, calls: None }, &mut || Ok(())).unwrap();
        // Some test has two arrays that differ in the second element alone.
        let later = made.cases.iter().any(|case| {
            let arrays: Vec<_> = case.input.objects.iter().skip(2).map(|object| &object.fields).collect();
            let at = |array: usize, element: usize| arrays.get(array).and_then(|fields| fields.get(element));
            matches!((at(0, 1), at(1, 1)), (Some(InputValue::Bits(a)), Some(InputValue::Bits(b))) if a != b)
                && at(0, 0) == at(1, 0)
        });
        assert!(later, "{name}");
        count += made.cases.len();
        sources.push(junit::source(&task, &made.cases, false));
    }
    let (passed, failed, said) = common::run_junit(classes.path(), &sources);
    assert_eq!((passed, failed), (count, 0), "{said}");
}

/// What is appended to an unknown text may be wrong for another reason: then nothing is said to be complete.
#[test]
fn a_part_of_a_text_is_not_assumed_to_be_there() {
    let classes = common::compiled(&common::sources(&common::corpus("beside")));
    let program = common::program(classes.path());
    for (name, error) in
        [("partly", "IndexOutOfBoundsException"), ("formatted", "IllegalFormatConversionException")]
    {
        let task = common::task(&program, &format!("Beside.{name}"), None);
        let store = Store::new();
        let setup = common::setup(&store, &task, Inputs { k: Some(1), array: 1, root_alias: true });
        let ends = engine::summary(&setup, &task, None, &mut |_| Ok(()));
        let found = found(&ends);
        assert!(!found.complete || found.errors.contains(error), "{name}: {found:?}");
        assert!(ends.progress.steps < 20_000, "{name}: {} steps", ends.progress.steps);
    }
}

/// An exception that is thrown again is told of where it was thrown first.
#[test]
fn where_exceptions_come_from() {
    let classes = common::compiled(&common::sources(&common::corpus("beside")));
    let program = common::program(classes.path());
    for name in ["rethrown", "inside"] {
        let task = common::task(&program, &format!("Beside.{name}"), None);
        let store = Store::new();
        let setup = common::setup(&store, &task, Inputs { k: Some(1), array: 1, root_alias: true });
        let ends = engine::summary(&setup, &task, None, &mut |_| Ok(()));
        let source = std::fs::read_to_string(common::corpus("beside").join("Beside.java")).unwrap();
        let at = source.find(&format!("int {name}(")).expect("the method");
        let line = source[..at].lines().count()
            + source[at..].lines().position(|line| line.contains("[0]")).unwrap();
        let mut seen = 0;
        for bucket in ends.traces.values() {
            if let parallax_engines::End::Error(fault, place) = &bucket.finals[0].end
                && fault.class.contains("Bounds")
            {
                let said = program.place(*place);
                assert!(said.ends_with(&format!("(Beside.java:{line})")), "{name}: {said}, not line {line}");
                seen += 1;
            }
        }
        assert!(seen > 0, "{name}");
    }
}

/// The class of `this` is one on which a call comes to the method that is asked for.
#[test]
fn this_does_not_override_the_method() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Over.java");
    let text = "public class Over {
        static abstract class Base { int n; int get() { return n == 5 ? 1 : 0; } }
        static class Another extends Base { int get() { return 7; } }
        static class Plain extends Base { }
    }";
    std::fs::write(&file, text).unwrap();
    let classes = common::compiled(&[file]);
    let program = common::program(classes.path());
    let task = common::task(&program, "Over.Base.get", None);
    let store = Store::new();
    let setup = common::setup(&store, &task, Inputs { k: Some(1), array: 1, root_alias: true });
    let ends = engine::summary(&setup, &task, None, &mut |_| Ok(()));
    let made = cases(&task, &setup, &ends, Wanted { heaps: 1, calls: None }, &mut || Ok(())).unwrap();
    let source = junit::source(&task, &made.cases, false);
    assert!(source.text.contains("Over$Plain"), "{}", source.text);
    let (passed, failed, said) = common::run_junit(classes.path(), &[source]);
    assert_eq!((passed, failed), (2, 0), "{said}");
}

/// Texts of unknown content are neither alike nor different.
#[test]
fn unknown_texts_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Says.java");
    let text = "public class Says {
        static String one(int n) { return \"a\" + n; }
        static String two(int n) { return \"b\" + n; }
        static String three(int n) { return n > 3 ? \"many\" : \"few\"; }
        static String four(int n) { return n > 4 ? \"many\" : \"few\"; }
    }";
    std::fs::write(&file, text).unwrap();
    let classes = common::compiled(&[file]);
    for (one, two, differ, complete) in
        [("one", "two", false, false), ("three", "four", true, true), ("three", "three", false, true)]
    {
        let program = common::program(classes.path());
        let task = common::task(&program, &format!("Says.{one}"), None);
        let second =
            Task { method: program.find(&format!("Says.{two}")).expect("the other method"), ..task.clone() };
        let store = Store::new();
        let setup = common::setup(&store, &task, Inputs { k: Some(1), array: 1, root_alias: true });
        let found = equivalent(&setup, &task, &second, 500, &mut |_| Ok(())).unwrap();
        assert_eq!(
            (found.counterexample.is_some(), found.completeness.is_complete()),
            (differ, complete),
            "{one}, {two}"
        );
    }
}

/// Two methods of one class, compared: whether a difference was found, and whether all was compared.
fn compared(method: &str, other: &str, k: usize) -> (bool, bool) {
    let classes = common::compiled(&common::sources(&common::corpus("ds")));
    let program = common::program(classes.path());
    let task = common::task(&program, method, Some("repOK"));
    let second = Task { method: program.find(other).expect("the other method"), ..task.clone() };
    let store = Store::new();
    let setup = common::setup(&store, &task, Inputs { k: Some(k), array: 2, root_alias: true });
    let found = equivalent(&setup, &task, &second, 500, &mut |_| Ok(())).unwrap();
    (found.counterexample.is_some(), found.completeness.is_complete())
}

/// A broken method differs from the right one: also where the difference is in what neither of them reads, and where
/// the inputs that would show it are beyond the bound, which is said.
#[test]
fn broken_methods_differ_from_right_ones() {
    assert!(compared("LinkedStack.pop", "LinkedStack.popBroken", 3).0);
    assert!(compared("SortedList.insert", "SortedList.insertBroken", 2).0);
    assert!(!compared("SortedList.insert", "SortedList.insert", 2).0);
    let (differ, complete) = compared("RedBlackTree.insert", "RedBlackTree.insertBroken", 1);
    assert!(differ || !complete);
}
