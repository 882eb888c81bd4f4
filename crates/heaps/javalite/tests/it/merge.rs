//! Preconditions whose paths become one state, each program aimed at one thing that the merge must get right. What
//! the merged state stands for is held against the states of lazy initialisation, heap by heap.

use crate::common;

use parallax_engines::exact::compare;
use parallax_engines::*;
use parallax_javalite::*;
use parallax_term::Store;

/// A program around a precondition and a method, over boxes with references, numbers and an array.
fn program(precondition: &str, method: &str) -> String {
    format!(
        "(class Node ([Node next] [int key]) ())
         (class Box ([Node a] [Node b] [Node c] [bool flag] [bool mark] [int key] [(array Node) nodes] [int at])
           ((bool ok {precondition})
            (bool run {method})))
         (Box run)"
    )
}

/// Compares under every bound; gives back how many heaps were compared.
fn check(precondition: &str, method: &str) -> usize {
    let text = program(precondition, method);
    let mut heaps = 0;
    for k in [Some(0), Some(1), Some(2), Some(3), None] {
        for root_alias in [false, true] {
            let store = Store::new();
            let (setup, task) = common::prepare(&store, &text, Inputs { k, array: 2, root_alias });
            let rep_ok = task.program.method_named(task.class, "ok");
            let task = Task { rep_ok, merged: true, ..task };
            let Some((lazy, summary)) = common::both(&setup, &task, 20_000) else { continue };
            let found = compare(&setup, &lazy, &summary, 2_000, false).unwrap();
            assert!(found.differences.is_empty(), "k {k:?}\n{text}\n{:#?}", found.differences);
            heaps += found.heaps;
        }
    }
    assert!(heaps > 0, "nothing was compared");
    heaps
}

#[test]
fn truth_values_come_from_the_right_side() {
    check(
        "(begin (if (this $ flag) (begin (this $ mark := true) 0) else (begin (this $ mark := false) 0)) true)",
        "(begin (assert ((this $ mark) = (this $ flag))) true)",
    );
}

#[test]
fn numbers_come_from_the_right_side() {
    check(
        "(var int n := 0 in (begin (if (this $ flag) (n := 7) else (n := (this $ key))) (this $ at := n) true))",
        "(begin (assert ((not (this $ flag)) or ((this $ at) = 7))) (assert ((this $ flag) or ((this $ at) = (this $ key)))) true)",
    );
}

#[test]
fn what_one_side_discovers_can_be_aliased_later() {
    for (then, otherwise) in [("(this $ b)", "null"), ("null", "(this $ b)")] {
        check(
            &format!("(begin (if (this $ flag) (begin {then} 0) else (begin {otherwise} 0)) true)"),
            "((this $ c) = (this $ b))",
        );
    }
}

#[test]
fn what_both_sides_demand_still_holds() {
    check(
        "(begin (if (this $ flag) (begin (this $ b) 0) else (begin (this $ b) 0)) true)",
        "(if ((this $ b) = null) false else ((this $ c) = (this $ b)))",
    );
    check(
        "(begin (if (this $ flag) (begin (this $ a) (this $ b) 0) else (begin (this $ b) (this $ a) 0)) true)",
        "((this $ a) = (this $ b))",
    );
}

#[test]
fn objects_made_on_one_side() {
    check(
        "(begin (if (this $ flag) (begin (this $ a := (new Node)) 0) else 0) true)",
        "(if ((this $ a) = null) true else (begin ((this $ a) $ key := 3) ((this $ a) = (this $ b))))",
    );
    check(
        "(begin (if (this $ flag) (begin (this $ a := (new Node)) 0) else (begin (this $ b := (new Node)) 0)) true)",
        "((this $ a) = (this $ b))",
    );
}

#[test]
fn elements_by_an_index_on_one_side() {
    check(
        "(begin
           (assume ((this $ nodes) != null)) (assume ((length (this $ nodes)) = 2))
           (assume (0 <= (this $ at))) (assume ((this $ at) < 2))
           (if (this $ flag) (begin ((this $ nodes) # (this $ at) := null) 0) else 0)
           true)",
        "(((this $ nodes) # 0) = ((this $ nodes) # 1))",
    );
}

#[test]
fn chains_and_shared_tails() {
    check(
        "(var Node n := (this $ a) in
           (begin
             (while (n != null) (begin (if ((n $ key) < 0) (return false) else 0) (n := (n $ next))))
             true))",
        "(if ((this $ a) = null) true else (begin (assert (0 <= ((this $ a) $ key))) (((this $ a) $ next) = (this $ b))))",
    );
}

/// A program of the corpus, its precondition one condition.
fn merged<'s>(store: &'s Store, text: &str, k: usize) -> (Setup<'s>, Task) {
    let inputs = Inputs { k: Some(k), array: 0, root_alias: false };
    let (setup, task) = common::prepare(store, text, inputs);
    let rep_ok = task.program.method_named(task.class, "repOK");
    (setup, Task { rep_ok, merged: true, bounds: Bounds { rounds: 10, calls: 10 }, ..task })
}

/// The red-black tree, whose precondition returns heights: as many paths as a search can take, and lazy's heaps.
#[test]
fn red_black_tree() {
    let text = include_str!("../../../../../corpus/javalite/redblack.jl");
    for (k, paths) in [(1, 4), (2, 10), (3, 22)] {
        let store = Store::new();
        let (setup, task) = merged(&store, text, k);
        let summary = engine::summary(&setup, &task, None, &mut |_| Ok(()));
        summary.outcome.clone().unwrap();
        assert_eq!(summary.progress.paths, paths, "k = {k}");
        if k <= 2 {
            let lazy = engine::lazy(&setup, &task, Laziness::Lazy, usize::MAX, &mut |_| Ok(()));
            let found = compare(&setup, &lazy, &summary, 10_000, false).unwrap();
            assert!(found.differences.is_empty() && found.skipped == 0, "{:#?}", found.differences);
        }
    }
}

/// The search tree, by counted work: states, and questions that facts and models leave to the solver. Measured: one from
/// k = 3 on.
#[test]
fn search_tree_asks_one_question() {
    let text = include_str!("../../../../../corpus/javalite/tree.jl");
    for (k, paths, states) in [(2, 10, 49), (3, 22, 113), (4, 46, 241)] {
        let store = Store::new();
        let (setup, task) = merged(&store, text, k);
        let summary = engine::summary(&setup, &task, None, &mut |_| Ok(()));
        summary.outcome.clone().unwrap();
        assert_eq!(summary.progress.paths, paths, "k = {k}");
        assert!(summary.progress.states <= states, "k = {k}: {} states", summary.progress.states);
        let asked = setup.oracle.usage().checks();
        assert!(asked <= 1, "k = {k}: {asked} questions");
    }
}

/// A reference that a number decides is no choice of a selector, and makes two heaps of one all the same.
#[test]
fn references_that_numbers_decide() {
    check(
        "(begin (if ((this $ key) < 3) (begin (this $ a := null) 0) else (begin (this $ a := (this $ b)) 0)) true)",
        "((this $ a) = (this $ b))",
    );
    check(
        "(var Node n := null in (begin (if ((this $ key) < 3) (begin (n := (this $ b)) 0) else 0) (this $ a := n) true))",
        "((this $ a) = null)",
    );
}
