//! Preconditions as one condition: states come together where values are handed down, and where ways through a method
//! meet. What the merged state stands for is held against the states of lazy initialisation, heap by heap.

use crate::common;

use parallax_engines::exact::compare;
use parallax_engines::{Inputs, Laziness, engine};
use parallax_java::Task;
use parallax_term::Store;
use std::path::Path;

/// Each precondition is aimed at one thing that is easy to get wrong where ways meet.
const BOXES: &str = "
class Box {
    static class Node { Node next; int key; }
    Node a, b, c;
    boolean flag, mark;
    int key, at;
    Node[] nodes;

    boolean variables() {
        boolean odd = false;
        int n = key;
        if (flag) odd = true; else n = 7;
        at = n;
        mark = odd;
        return true;
    }
    boolean conditional() {
        Node n = flag ? a : b;
        c = n;
        at = n == null ? -1 : n.key < 0 ? 0 : 1;
        return at >= 0;
    }
    boolean shortCircuit() { return (a == null || a.key > 3) && (flag || b != null && b.next == a); }
    boolean loop() {
        int length = 0;
        for (Node n = a; n != null; n = n.next) {
            if (n.key < 0) return false;
            if (n == b) { mark = true; continue; }
            if (n == c) break;
            length++;
        }
        at = length;
        return true;
    }
    boolean nested() {
        for (Node n = a; n != null; n = n.next) {
            for (Node m = n.next; m != null; m = m.next) {
                if (m == n) return false;
                if (m.key == n.key) mark = true;
            }
        }
        return mark || flag;
    }
    boolean oneSide() {
        if (flag) a = new Node(); else b = null;
        return true;
    }
    boolean elements() {
        if (nodes == null || nodes.length != 2 || at < 0 || at >= 2) return false;
        if (flag) nodes[at] = null;
        return true;
    }
    boolean caught() {
        int found = 0;
        try {
            found = a.next.key;
        } catch (NullPointerException e) {
            found = 5;
        } finally {
            at = found;
        }
        return true;
    }
    boolean chosen() {
        switch (key) {
            case 1: mark = true;
            case 2: a = b; break;
            case 9: return false;
            default: c = null;
        }
        return true;
    }
    static int depth(Node n) {
        if (n == null) return 0;
        int below = depth(n.next);
        if (below < 0 || n.key == 0) return -1;
        return n.key > 0 ? below + 1 : below;
    }
    boolean calls() { return depth(a) == depth(b); }

    boolean run() {
        if (a == b) return mark;
        if (c == null) return at > 0;
        return nodes != null && nodes.length > 0 && nodes[0] == c;
    }
}
";

fn merged(path: &Path, method: &str, rep_ok: &str) -> Task {
    let program = common::program(path);
    Task { merged: true, ..common::task(&program, method, Some(rep_ok)) }
}

/// Compares under a bound; gives back how many heaps were compared.
fn check(path: &Path, method: &str, rep_ok: &str, k: usize) -> usize {
    let mut heaps = 0;
    for root_alias in [false, true] {
        let task = merged(path, method, rep_ok);
        let store = Store::new();
        let setup = common::setup(&store, &task, Inputs { k: Some(k), array: 2, root_alias });
        let lazy = engine::lazy(&setup, &task, Laziness::Lazy, usize::MAX, &mut |_| Ok(()));
        lazy.outcome.clone().unwrap();
        let summary = engine::summary(&setup, &task, None, &mut |_| Ok(()));
        summary.outcome.clone().unwrap();
        let found = compare(&setup, &lazy, &summary, 20_000, false).unwrap();
        assert!(found.differences.is_empty(), "{method}, {rep_ok}, k = {k}: {:#?}", found.differences);
        assert_eq!(found.skipped, 0, "{method}, {rep_ok}, k = {k}");
        heaps += found.heaps;
    }
    heaps
}

#[test]
fn where_ways_meet() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("Box.java");
    std::fs::write(&file, BOXES).unwrap();
    let classes = common::compiled(&[file]);
    for rep_ok in [
        "variables",
        "conditional",
        "shortCircuit",
        "loop",
        "nested",
        "oneSide",
        "elements",
        "caught",
        "chosen",
        "calls",
    ] {
        let heaps = check(classes.path(), "Box.run", rep_ok, 2);
        assert!(heaps > 20, "{rep_ok}: {heaps}");
    }
}

#[test]
fn data_structures() {
    let classes = common::compiled(&common::sources(&common::corpus("ds")));
    for (method, k) in [
        ("jl.List.find", 3),
        ("jl.Tree.search", 2),
        ("jl.RedBlack.search", 2),
        ("SortedList.insert", 3),
        ("Doubly.removeFirst", 2),
        ("SearchTree.delete(I)V", 2),
        ("BoundedStack.pop", 2),
    ] {
        assert!(check(classes.path(), method, "repOK", k) > 0, "{method}");
    }
}

/// The program as it is written decides where states meet, not how a compiler lays it out: as many states as the same
/// program has in Javalite, and few questions. (Without joins within methods: 1741 states and 3890 questions.)
#[test]
fn red_black_tree() {
    let classes = common::compiled(&common::sources(&common::corpus("ds")));
    let text = include_str!("../../../../../corpus/javalite/redblack.jl");
    let program = std::rc::Rc::new(parallax_javalite::parse(text).unwrap());
    let bounds = parallax_javalite::Bounds { rounds: 20, calls: 64 };
    let same = parallax_javalite::Task::named(&program, "TreeMap", "search", bounds).unwrap();
    assert!(same.rep_ok.is_some());
    let same = parallax_javalite::Task { merged: true, ..same };
    for (k, questions) in [(1, 0), (2, 0), (3, 10), (4, 400)] {
        let inputs = Inputs { k: Some(k), array: 2, root_alias: true };
        let store = Store::new();
        let setup = parallax_javalite::setup(&store, &program, same.class, same.method, inputs);
        let javalite = engine::summary(&setup, &same, None, &mut |_| Ok(()));
        let task = merged(classes.path(), "jl.RedBlack.search", "repOK");
        let store = Store::new();
        let setup = common::setup(&store, &task, inputs);
        let java = engine::summary(&setup, &task, None, &mut |_| Ok(()));
        java.outcome.clone().unwrap();
        assert_eq!(java.progress.states, javalite.progress.states, "k = {k}");
        assert_eq!(java.progress.paths, javalite.progress.paths, "k = {k}");
        let asked = setup.oracle.usage().checks();
        assert!(asked <= questions, "k = {k}: {asked} questions");
    }
}
