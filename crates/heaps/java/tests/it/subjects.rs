//! Data structures, each right and broken: what is right has no path that ends otherwise than it may, what is broken a
//! test that fails. Every test is compiled with javac and run by JUnit on the JVM as it was written.

use crate::common;

use parallax_engines::engine::{self, Ending};
use parallax_engines::{Inputs, Stop};
use parallax_heap::InputValue;
use parallax_java::calls::Effort;
use parallax_java::cases::{Cases, Wanted, cases};
use parallax_java::{Instances, Program, Task, junit};
use parallax_path::Bound;
use parallax_term::Store;
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

/// A method to try, and the bounds that let its bug show.
#[derive(Clone, Copy, Default)]
struct Subject {
    right: &'static str,
    broken: &'static str,
    /// What the broken one throws.
    fault: &'static str,
    /// What the right one may throw.
    may: &'static [&'static str],
    k: usize,
    array: usize,
    acyclic: &'static [&'static str],
    /// A type of inputs, and the class that stands for it.
    instance: Option<(&'static str, &'static str)>,
}

const ASSERTION: &str = "java.lang.AssertionError";
const STATE: &[&str] = &["java.lang.IllegalStateException"];
const ARGUMENT: &[&str] = &["java.lang.IllegalArgumentException"];

fn subject(right: &'static str, broken: &'static str, k: usize) -> Subject {
    Subject { right, broken, fault: ASSERTION, k, array: 2, ..Subject::default() }
}

fn subjects() -> Vec<Subject> {
    vec![
        // Singly and doubly linked lists, in plain and generic style; pairs in a chain of records.
        subject("SortedList.insert", "SortedList.insertBroken", 2),
        Subject { may: STATE, ..subject("Doubly.removeFirst", "Doubly.removeFirstBroken", 2) },
        subject("SortedPairs.put", "SortedPairs.putBroken", 3),
        // Stacks and a queue.
        Subject {
            may: STATE,
            fault: "java.lang.ArrayIndexOutOfBoundsException",
            ..subject("BoundedStack.pop", "BoundedStack.popBroken", 2)
        },
        Subject { may: STATE, acyclic: &["below"], ..subject("LinkedStack.pop", "LinkedStack.popBroken", 3) },
        Subject {
            may: STATE,
            fault: "java.lang.ArrayIndexOutOfBoundsException",
            ..subject("RingQueue.enqueue", "RingQueue.enqueueBroken", 2)
        },
        // Trees.
        subject("SearchTree.delete(I)V", "SearchTree.deleteBroken", 2),
        subject("Avl.insert(I)V", "Avl.insertBroken", 2),
        Subject {
            may: &["java.lang.NullPointerException"],
            ..subject("RedBlackTree.insert", "RedBlackTree.insertBroken", 3)
        },
        subject("BinomialHeap.insert(I)V", "BinomialHeap.insertBroken", 2),
        Subject { may: ARGUMENT, ..subject("Trie.remove(II)V", "Trie.removeBroken", 2) },
        // Tables.
        Subject { may: ARGUMENT, array: 3, ..subject("DisjointSets.union", "DisjointSets.unionBroken", 1) },
        Subject { acyclic: &["next"], ..subject("HashTable.remove(I)Z", "HashTable.removeBroken", 4) },
        Subject { array: 1, ..subject("LruCache.get(I)I", "LruCache.getBroken", 3) },
        // Bounded wildcards, patterns over a sealed interface, inner classes, varargs, default methods.
        Subject {
            may: ARGUMENT,
            acyclic: &["left", "right"],
            instance: Some(("java/lang/Object", "java/lang/Integer")),
            ..subject("LeftistHeap.add", "LeftistHeap.addBroken", 2)
        },
        subject("TwoThreeTree.insert", "TwoThreeTree.insertBroken", 2),
        Subject { may: STATE, ..subject("Playlist.Cursor.remove", "Playlist.Cursor.removeBroken", 3) },
        Subject {
            may: &["java.lang.IllegalStateException", "java.lang.NullPointerException"],
            array: 3,
            ..subject("BinaryHeap.pushAll", "BinaryHeap.pushAllBroken", 1)
        },
        Subject { may: ARGUMENT, acyclic: &["next"], ..subject("JobQueue.drain", "JobQueue.drainBroken", 2) },
    ]
}

/// The paths of a method as tests.
struct Explored {
    task: Task,
    made: Cases,
    /// The exceptions that paths end in.
    errors: Vec<String>,
    cuts: Vec<String>,
}

fn explore(
    program: &Rc<Program>,
    method: &str,
    rep_ok: Option<&str>,
    subject: Subject,
    calls: Option<Effort>,
) -> Explored {
    let mut instances = Instances::new();
    instances.extend(subject.instance.map(|(ty, class)| (ty.into(), vec![class.into()])));
    explore_with(program, method, rep_ok, subject, calls, &instances)
}

fn explore_with(
    program: &Rc<Program>,
    method: &str,
    rep_ok: Option<&str>,
    subject: Subject,
    calls: Option<Effort>,
    instances: &Instances,
) -> Explored {
    let task = common::task(program, method, rep_ok);
    let store = Store::new();
    let inputs = Inputs { k: Some(subject.k), array: subject.array, root_alias: true };
    let mut setup = common::setup_with(&store, &task, inputs, instances);
    for field in subject.acyclic {
        assert!(setup.forbid_cycles(field), "{field}");
    }
    program.adopt(&setup.universe);
    let ends = engine::summary(&setup, &task, None, &mut |_| Ok(()));
    ends.outcome.clone().unwrap();
    let (mut errors, mut cuts) = (Vec::new(), Vec::new());
    for trace in ends.traces.keys() {
        match &trace.ending {
            Ending::Error(uncaught) => errors.push(uncaught.class.clone()),
            Ending::Cut(cut) => cuts.push(format!("{cut:?}")),
            _ => {}
        }
    }
    let wanted = Wanted { heaps: 1, calls };
    let made = cases(&task, &setup, &ends, wanted, &mut || Ok(())).unwrap();
    Explored { task, made, errors, cuts }
}

fn compiled() -> tempfile::TempDir {
    common::compiled(&common::sources(&common::corpus("ds")))
}

/// Runs tests by JUnit; so many must pass and so many fail.
fn expect(classes: &Path, tests: &[junit::Source], passed: usize, failed: usize) {
    let found = common::run_junit(classes, tests);
    assert_eq!((found.0, found.1), (passed, failed), "{}", found.2);
}

#[test]
fn right_and_broken() {
    let classes = compiled();
    let (mut sources, mut count) = (Vec::new(), 0);
    let (mut failing, mut passing, mut fails) = (Vec::new(), 0, 0);
    for subject in subjects() {
        let program = common::program(classes.path());
        let right = explore(&program, subject.right, Some("repOK"), subject, None);
        assert_eq!(right.cuts, [""; 0], "{}", subject.right);
        assert!(right.errors.iter().all(|error| subject.may.contains(&&**error)), "{:?}", right.errors);
        count += right.made.cases.len();
        sources.push(junit::source(&right.task, &right.made.cases, false));
        let broken = explore(&program, subject.broken, Some("repOK"), subject, None);
        assert!(broken.errors.iter().any(|error| error == subject.fault), "{}", subject.broken);
        // As it is, each test of the broken one passes; with what it throws not expected, those that show it fail.
        count += broken.made.cases.len();
        sources.push(junit::source(&broken.task, &broken.made.cases, false));
        let source = junit::source(&broken.task, &broken.made.cases, true);
        let renamed = |text: &str| text.replace("Broken_Test", "Failing_Test");
        failing.push(junit::Source {
            path: renamed(&source.path),
            text: renamed(&source.text),
            unbuildable: source.unbuildable,
        });
        fails += broken.errors.len();
        passing += broken.made.cases.len() - broken.errors.len();
    }
    assert!(sources.iter().chain(&failing).all(|source| source.unbuildable.is_empty()));
    assert!(sources.len() == 38 && count > 400, "{count} tests");
    expect(classes.path(), &sources, count, 0);
    expect(classes.path(), &failing, passing, fails);
}

/// The same through the calls that anyone may make: a constructor, then as few public methods as lead to the path.
#[test]
fn through_public_calls() {
    let classes = compiled();
    let (mut sources, mut count) = (Vec::new(), 0);
    for (method, k, array, most) in [
        ("SortedList.insert", 2, 2, 0),
        ("BoundedStack.pop", 2, 2, 0),
        ("RingQueue.enqueue", 2, 2, 0),
        ("Doubly.addLast", 2, 2, 0),
        ("SearchTree.delete(I)V", 2, 2, usize::MAX),
        ("Avl.insert(I)V", 2, 2, 0),
        ("BinomialHeap.insert(I)V", 2, 2, 0),
        ("HashTable.put", 2, 2, 0),
        // Through arguments that are arrays.
        ("BinaryHeap.pushAll", 1, 2, 2),
    ] {
        let program = common::program(classes.path());
        let bounds = Subject { k, array, ..Subject::default() };
        let explored = explore(&program, method, Some("repOK"), bounds, Some(Effort::default()));
        let left = &explored.made.field_by_field;
        println!("{method}: {} tests, {} field by field", explored.made.cases.len(), left.len());
        assert!(left.len() <= most, "{method}: {left:?} of {}", explored.made.cases.len());
        for case in &explored.made.cases {
            assert!(case.calls.is_empty() == left.contains(&case.name));
            assert!(case.calls.is_empty() || &*case.calls[0].method.name == "<init>");
        }
        count += explored.made.cases.len();
        sources.push(junit::source(&explored.task, &explored.made.cases, false));
    }
    expect(classes.path(), &sources, count, 0);
}

/// Classes and methods by the names that they have in the source; a method that is inherited runs on an object of the
/// class that was asked for, and so does its precondition.
#[test]
fn nested_classes_and_inherited_methods() {
    let classes = compiled();
    let program = common::program(classes.path());
    let name = |class| program.class(class).name.to_string();
    for (asked, class, receiver) in [
        ("Cursor.remove", "ds/Playlist$Cursor", "ds/Playlist$Cursor"),
        ("Playlist.Cursor.remove", "ds/Playlist$Cursor", "ds/Playlist$Cursor"),
        ("ds.Playlist.Cursor.remove", "ds/Playlist$Cursor", "ds/Playlist$Cursor"),
        ("ds.Playlist$Cursor.remove", "ds/Playlist$Cursor", "ds/Playlist$Cursor"),
        ("JobQueue.take", "ds/Queue", "ds/JobQueue"),
        ("Queue.take", "ds/Queue", "ds/Queue"),
        (
            "java.util.LinkedList.ListItr.hasNext",
            "java/util/LinkedList$ListItr",
            "java/util/LinkedList$ListItr",
        ),
        ("java.util.LinkedList.isEmpty", "java/util/AbstractCollection", "java/util/LinkedList"),
    ] {
        let method = program.find(asked).expect(asked);
        assert_eq!((&*name(method.class), &*name(method.receiver)), (class, receiver), "{asked}");
    }
    // What every class overrides is run by no object.
    let repok = program.find("Queue.repOK").expect("a default method");
    let refused = program.inputs(&repok, &Default::default(), None).expect_err("JobQueue has its own");
    assert!(refused.to_string().contains("ds.JobQueue overrides the method"), "{refused}");
    // Many classes have a node.
    assert!(program.find("Node.next").is_err_and(|error| error.to_string().contains("may be")));
    for method in ["JobQueue.isEmpty", "Queue.isEmpty"] {
        let program = common::program(classes.path());
        let bounds = Subject { k: 2, array: 2, acyclic: &["next"], ..Subject::default() };
        let explored = explore(&program, method, Some("repOK"), bounds, None);
        assert_eq!(explored.cuts, [""; 0], "{method}");
        // The queue's own precondition looks at the size too: an empty queue of another size is none.
        for case in &explored.made.cases {
            let queue = &case.input.objects[0];
            let layout = &program.class(queue.class).layout;
            let at = |name: &str| layout.iter().position(|field| &*field.name == name).expect("a field");
            let empty = queue.fields[at("first")] == InputValue::Null;
            assert_eq!(empty, queue.fields[at("size")] == InputValue::Bits(0), "{method}: {queue:?}");
        }
        // Both are the same method, and so are their classes of tests.
        let tests = junit::source(&explored.task, &explored.made.cases, false);
        expect(classes.path(), &[tests], explored.made.cases.len(), 0);
    }
}

/// The object around an inner object is there; elsewhere null is an input like any other.
#[test]
fn inner_objects_have_an_outer_one() {
    let classes = compiled();
    let program = common::program(classes.path());
    let bounds = Subject { k: 3, array: 2, ..Subject::default() };
    let explored = explore(&program, "Playlist.Cursor.next", None, bounds, None);
    let errors: BTreeSet<&str> = explored.errors.iter().map(String::as_str).collect();
    let thrown = ["java.lang.IllegalStateException", "java.lang.NullPointerException"];
    assert_eq!(errors.into_iter().collect::<Vec<_>>(), thrown);
    for case in &explored.made.cases {
        let cursor = &case.input.objects[0];
        let layout = &program.class(cursor.class).layout;
        let outer = layout.iter().position(|field| field.name.starts_with("this$")).expect("the list");
        assert_ne!(cursor.fields[outer], InputValue::Null, "{}", case.title);
    }
}

/// Where the precondition throws, the test is one of the precondition.
#[test]
fn a_precondition_that_throws() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("Careless.java");
    let text = "public class Careless { Careless next; int key; boolean repOK() { return next.key > key; }
        public int step() { return next.key - key; } }";
    std::fs::write(&file, text).expect("a file");
    let classes = common::compiled(&[file]);
    let program = common::program(classes.path());
    let bounds = Subject { k: 1, ..Subject::default() };
    let explored = explore(&program, "Careless.step", Some("repOK"), bounds, None);
    assert_eq!(explored.errors, ["java.lang.NullPointerException"]);
    let titles: Vec<&str> = explored.made.cases.iter().map(|case| &*case.title).collect();
    assert!(titles.iter().any(|title| title.contains("the precondition throws")), "{titles:?}");
    let tests = junit::source(&explored.task, &explored.made.cases, false);
    expect(classes.path(), &[tests], explored.made.cases.len(), 0);
}

/// Classes of the installed JDK, as they are.
#[test]
fn the_library_itself() {
    let classes = compiled();
    let mut instances = Instances::new();
    let mut sources = Vec::new();
    let mut count = 0;
    for method in [
        "java.util.LinkedList.removeFirst",
        "java.util.LinkedList.contains",
        "java.util.LinkedList.addFirst",
        "java.util.ArrayDeque.pollFirst",
        "java.util.ArrayDeque.addFirst",
        "java.util.TreeMap.get",
        "java.util.TreeMap.put(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
        "java.util.TreeMap.firstKey",
    ] {
        if method.contains("TreeMap") {
            instances.insert("java/lang/Object".into(), vec!["java/lang/Integer".into()]);
        }
        let program = common::program(classes.path());
        let bounds = Subject { k: 2, array: 2, ..Subject::default() };
        let explored = explore_with(&program, method, None, bounds, None, &instances);
        let source = junit::source(&explored.task, &explored.made.cases, false);
        let written = explored.made.cases.len() - source.unbuildable.len();
        println!("{method}: {written} tests, cut off {:?}", explored.cuts);
        count += written;
        sources.push(source);
    }
    assert!(count > 40, "{count} tests");
    expect(classes.path(), &sources, count, 0);
}

/// A test for each path of every static method of a class, and how many there are.
fn tests_of(classes: &Path, class: &str) -> (Vec<junit::Source>, usize) {
    let (mut sources, mut count) = (Vec::new(), 0);
    for method in common::static_methods(classes, class) {
        let program = common::program(classes);
        let explored =
            explore(&program, &method, None, Subject { k: 2, array: 2, ..Subject::default() }, None);
        assert!(explored.cuts.iter().all(|cut| cut == "Array"), "{method}: {:?}", explored.cuts);
        let source = junit::source(&explored.task, &explored.made.cases, false);
        assert!(source.unbuildable.is_empty(), "{method}");
        count += explored.made.cases.len();
        sources.push(source);
    }
    (sources, count)
}

/// Whatever is an outcome, tests take the path they are for.
#[test]
fn outcomes() {
    let classes = common::compiled(&common::sources(&common::corpus("outcomes")));
    let (sources, count) = tests_of(classes.path(), "Outcomes");
    // None of them changes what classes share, and so none needs classes of its own.
    assert!(sources.iter().all(|source| !source.text.contains("fresh()")));
    expect(classes.path(), &sources, count, 0);
}

/// A test finds static fields, and what they lead to, as class initialisers leave them, whatever ran before it.
#[test]
fn what_classes_share() {
    let classes = common::compiled(&common::sources(&common::corpus("shared")));
    let (sources, count) = tests_of(classes.path(), "Shared");
    for source in &sources {
        let reads = source.path.contains("_reads");
        assert_eq!(source.text.contains("fresh();"), !reads, "{}", source.path);
    }
    assert!(count >= 2 * sources.len(), "{count} tests");
    expect(classes.path(), &sources, count, 0);
}

/// Paths that no test was made for before the time was over are counted.
#[test]
fn tests_take_no_longer_than_they_may() {
    let classes = compiled();
    let program = common::program(classes.path());
    let task = common::task(&program, "SortedList.insert", Some("repOK"));
    let store = Store::new();
    let setup = common::setup(&store, &task, Inputs { k: Some(2), array: 2, root_alias: true });
    let ends = engine::summary(&setup, &task, None, &mut |_| Ok(()));
    let made = |most: usize| {
        let mut asked = 0;
        let mut watch = || {
            asked += 1;
            // Asked again soon after, a watch need not look again.
            match asked == most + 1 {
                true => Err(Stop::Bound(Bound::Time(std::time::Duration::ZERO))),
                false => Ok(()),
            }
        };
        cases(&task, &setup, &ends, Wanted { heaps: 1, calls: None }, &mut watch).unwrap()
    };
    let all = made(usize::MAX - 1);
    assert_eq!(all.missed, 0);
    let some = made(3);
    assert_eq!((some.cases.len(), some.missed), (3, all.cases.len() - 3));
}

/// The library sorts objects with and without a comparator, whatever they are.
#[test]
fn sorts() {
    let classes = common::compiled(&common::sources(&common::corpus("sorts")));
    let (sources, count) = tests_of(classes.path(), "Sorts");
    assert!(count > 2 * sources.len(), "{count} tests");
    expect(classes.path(), &sources, count, 0);
}
