//! The data structures of the corpus: the right operation keeps its invariant on every heap within the bounds, the
//! wrong one is found out, and the test that shows it fails on the concrete machine too.

use parallax_engines::Inputs;
use parallax_engines::engine::summary;
use parallax_heap::InputValue;
use parallax_javalite::*;
use parallax_term::Store;
use std::rc::Rc;

struct Subject {
    text: &'static str,
    class: &'static str,
    k: usize,
    right: &'static str,
    wrong: &'static str,
    fault: Fault,
}

const fn subject(text: &'static str, class: &'static str, k: usize) -> Subject {
    Subject { text, class, k, right: "check", wrong: "checkBug", fault: Fault::Assertion }
}

macro_rules! corpus {
    ($name:literal) => {
        include_str!(concat!("../../../../../corpus/javalite/", $name, ".jl"))
    };
}

/// The error paths of a method under its precondition, each confirmed on the concrete machine.
fn errors(subject: &Subject, method: &str) -> Vec<Fault> {
    let program = Rc::new(parse(subject.text).unwrap());
    let class = program.class_named(subject.class).unwrap();
    let id = |name: &str| program.method_named(class, name).unwrap();
    let task = Task {
        program: program.clone(),
        class,
        method: id(method),
        rep_ok: Some(id("repOK")),
        merged: false,
        bounds: Bounds { rounds: 10, calls: 20 },
        drafts: MachineDrafts::default(),
    };
    let inputs = Inputs { k: Some(subject.k), array: 2, root_alias: true };
    let store = Store::new();
    let setup = parallax_javalite::setup(&store, &program, class, task.method, inputs);
    let ends = summary(&setup, &task, None, &mut |_| Ok(()));
    ends.outcome.clone().unwrap();
    assert!(ends.progress.paths > 1, "{}.{method} has paths", subject.class);
    let mut faults = Vec::new();
    for (trace, bucket) in &ends.traces {
        assert_eq!(bucket.count, 1);
        let end = &bucket.finals[0];
        let model = end.heap().path.model().unwrap();
        let snapshot = end.heap().resolve(model, &end.cells()).unwrap();
        let input = snapshot.input(&setup.universe, &store, model, |_, _| InputValue::Null).unwrap();
        let replay = Replay::new(&task, &setup.universe, &input, inputs.array).unwrap();
        assert!(replay.follows(trace), "{}.{method}: {input:#?}", subject.class);
        if let Ending::Error(fault) = trace.ending {
            faults.push(fault);
        }
        assert!(!matches!(trace.ending, Ending::Cut(_)), "{}.{method}: {trace:?}", subject.class);
    }
    faults
}

fn check(subject: &Subject) {
    assert_eq!(errors(subject, subject.right), [], "{} is right", subject.class);
    let found = errors(subject, subject.wrong);
    assert!(found.contains(&subject.fault), "{}: the seeded bug was not found: {found:?}", subject.class);
}

#[test]
fn stack() {
    check(&subject(corpus!("stack"), "Stack", 3));
}

#[test]
fn queue() {
    check(&subject(corpus!("queue"), "Queue", 2));
}

#[test]
fn doubly_linked_list() {
    check(&subject(corpus!("dll"), "DList", 3));
}

#[test]
fn search_tree() {
    check(&subject(corpus!("tree"), "Tree", 2));
}

#[test]
fn avl_tree() {
    check(&subject(corpus!("avl"), "Avl", 2));
}

#[test]
fn leftist_heap() {
    check(&subject(corpus!("leftist"), "Heap", 2));
}

#[test]
fn disjoint_sets() {
    check(&subject(corpus!("sets"), "Sets", 2));
}

#[test]
fn shapes_in_an_array() {
    let subject = Subject {
        text: corpus!("shapes"),
        class: "Picture",
        k: 2,
        right: "total",
        wrong: "totalBug",
        fault: Fault::Bounds,
    };
    check(&subject);
}

#[test]
fn a_sorted_list() {
    check(&subject(corpus!("sorted"), "Sorted", 2));
}

#[test]
fn a_ring() {
    check(&subject(corpus!("ring"), "Ring", 2));
}

#[test]
fn a_deque() {
    check(&subject(corpus!("deque"), "Deque", 2));
}

#[test]
fn a_skip_list() {
    check(&subject(corpus!("skip"), "Skip", 2));
}

#[test]
fn a_binomial_heap() {
    check(&subject(corpus!("binomial"), "Binomial", 2));
}

#[test]
fn a_trie() {
    check(&subject(corpus!("trie"), "Trie", 2));
}

#[test]
fn a_hash_table() {
    check(&subject(corpus!("table"), "Table", 2));
}

#[test]
fn a_cache() {
    check(&subject(corpus!("lru"), "Cache", 2));
}

#[test]
fn an_interval_tree() {
    check(&subject(corpus!("interval"), "Intervals", 2));
}

#[test]
fn a_splay_tree() {
    check(&subject(corpus!("splay"), "Splay", 3));
}

#[test]
fn a_treap() {
    check(&subject(corpus!("treap"), "Treap", 2));
}

#[test]
fn a_pairing_heap() {
    check(&subject(corpus!("pairing"), "Pairing", 2));
}

#[test]
fn a_skew_heap() {
    check(&subject(corpus!("skew"), "Skew", 2));
}

#[test]
fn a_line_with_a_cursor() {
    check(&subject(corpus!("cursor"), "Cursor", 2));
}

#[test]
fn a_family_tree() {
    check(&subject(corpus!("family"), "Family", 3));
}

#[test]
fn expressions() {
    check(&subject(corpus!("expression"), "Formula", 2));
}

#[test]
fn a_sparse_row() {
    check(&subject(corpus!("sparse"), "Row", 2));
}

#[test]
fn a_bag() {
    check(&subject(corpus!("bag"), "Bag", 2));
}

#[test]
fn a_heap_in_an_array() {
    check(&subject(corpus!("heap"), "Heap", 2));
}

#[test]
fn two_stacks() {
    check(&subject(corpus!("twostacks"), "TwoStacks", 2));
}

#[test]
fn a_list_reversed() {
    check(&subject(corpus!("reverse"), "Reverse", 3));
}

#[test]
fn paths_compressed() {
    check(&subject(corpus!("compress"), "Compressed", 2));
}

#[test]
fn a_stack_that_knows_its_greatest() {
    check(&subject(corpus!("maxstack"), "MaxStack", 2));
}

#[test]
fn a_ring_buffer() {
    check(&Subject { fault: Fault::Bounds, ..subject(corpus!("buffer"), "Buffer", 2) });
}

#[test]
fn a_precondition_that_checks_late() {
    check(&subject(corpus!("late"), "Late", 3));
}
