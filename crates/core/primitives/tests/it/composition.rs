//! Composing two programs is running one after the other: halves that make objects, call procedures, loop, and jump out of
//! themselves, each evaluated alone, against runs of both as one program.
//!
//! Not made: PL halves that end early (`return` outside of procedures) or share procedures, which one text cannot have; MC
//! jumps to addresses that are not constant. Machine code is composed in `crates/machine/code/tests/it/composition.rs`.
//! `COMPOSE_PROGRAMS` asks for more programs.

use crate::consistency::{
    BOUNDS, GLOBALS, PlWriter, STEPS, assert_same, mc_part, rolls, start, with_objects,
};
use parallax_mc as mc;
use parallax_pl as pl;
use parallax_primitives::{Composition, Explorer, Program, Stopped, compose, run};
use parallax_sem::logic;
use parallax_sem::{Concrete, Language};
use parallax_source::SourceFile;
use parallax_term::{Store, StructUpdate};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;

fn cases() -> u32 {
    std::env::var("COMPOSE_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(250)
}

/// The composition, and whether control arrives at the second half under a condition only.
fn composed<L: Program>(store: &Store, first: &L, second: &L) -> (Composition, bool) {
    let identity = StructUpdate::identity();
    let evaluate = |program: &L| {
        Explorer::new(program, store, BOUNDS).with_solver(parallax_smt::solver(store)).evaluate(&identity)
    };
    let (before, then) = (evaluate(first), evaluate(second));
    let arrives = store.eq(before.pc, store.constant(&second.entry()));
    let composition = compose(parallax_smt::solver(store), (first, &before), (second, &then));
    (composition, arrives != store.true_())
}

/// How many compositions were compared with a run, and how many of those had a condition for the second half.
#[derive(Default)]
struct Tally {
    compared: Cell<u32>,
    leaving: Cell<u32>,
}

fn check<L: Program>(
    store: &Store,
    whole: &L,
    first: &L,
    second: &L,
    seeds: &[u16],
    tally: &Tally,
) -> Result<(), TestCaseError> {
    // Before evaluation makes symbols of its own, which belong to no state.
    let starts = [0, 1, 2].map(|offset| start(whole, store, &seeds[offset.min(seeds.len() - 1)..]));
    let (Composition { whole: composed, .. }, is_conditional) = composed(store, first, second);
    for s in starts {
        let ran = run(whole, &Concrete, store, &s, STEPS, false);
        let s = with_objects(whole, store, &s);
        if !logic::formula(&Concrete, store, composed.complete, &s) {
            prop_assert!(!composed.gave_up.is_empty(), "left out without a reason");
            continue;
        }
        if ran.stopped != Stopped::Ended {
            prop_assert!(ran.stopped == Stopped::Bound, "{:?}", ran.stopped);
            continue;
        }
        let after = with_objects(whole, store, ran.structure.as_ref().expect("ended"));
        let evaluated = logic::update(&Concrete, store, &composed.update, &s);
        assert_same(store, &evaluated, &after, "composition")?;
        tally.compared.set(tally.compared.get() + 1);
        tally.leaving.set(tally.leaving.get() + u32::from(is_conditional));
    }
    Ok(())
}

#[test]
fn composing_halves_of_pl_is_running_in_sequence() {
    let tally = Tally::default();
    let mut runner = TestRunner::new(ProptestConfig::with_cases(cases()));
    let halves = (rolls(90), rolls(90), rolls(40), 1u32..4, 1u32..4);
    runner
        .run(&halves, |(first, second, seeds, m, n)| {
            let declare = format!("int {};\n", GLOBALS.join(", "));
            let a = PlWriter::program(&first, m, "_a", false);
            let b = PlWriter::program(&second, n, "_b", false);
            let read = |text: String| pl::read(&SourceFile::new("half.pl", text)).expect("reads");
            let whole = read(format!("{declare}{a}{b}"));
            let first = read(format!("{declare}{a}"));
            let second = read(format!("{declare}{b}")).behind(first.instructions.len());
            let store = Store::new();
            whole.declare(&store);
            check(&store, &whole, &first, &second, &seeds, &tally)
                .map_err(|error| TestCaseError::fail(format!("{error}\n{a}// second\n{b}")))
        })
        .unwrap();
    assert!(tally.compared.get() > cases(), "only {} states were compared", tally.compared.get());
}

#[test]
fn composing_halves_of_mc_is_running_in_sequence() {
    let tally = Tally::default();
    let mut runner = TestRunner::new(ProptestConfig::with_cases(2 * cases()));
    let halves = (rolls(60), rolls(60), rolls(40), 1u32..6, 1u32..6);
    runner
        .run(&halves, |(first, second, seeds, m, n)| {
            // Some jumps lead out of both, some into the other half.
            let (a, b) = (mc_part(&first, m, m + n + 2), mc_part(&second, n, m + n + 2));
            let read = |text: &str, base| mc::read(&SourceFile::new("half.mc", text), base).expect("reads");
            let whole = read(&format!("{a}{b}"), 0);
            let (first, second) = (read(&a, 0), read(&b, m * mc::SIZE));
            let store = Store::new();
            whole.declare(&store);
            first.declare(&store);
            second.declare(&store);
            check(&store, &whole, &first, &second, &seeds, &tally)
                .map_err(|error| TestCaseError::fail(format!("{error}\n{a}; second\n{b}")))
        })
        .unwrap();
    assert!(tally.compared.get() > cases(), "only {} states were compared", tally.compared.get());
    assert!(tally.leaving.get() > cases() / 20, "only {} had a branch that leaves", tally.leaving.get());
}

/// Two calls of `malloc`, one in each half, make two objects, also of different sizes and inside procedures.
#[test]
fn objects_of_two_halves_are_apart() {
    for (a, b) in [
        ("p = malloc(1); *p = 1;", "q = malloc(1); *q = 2;"),
        ("p = malloc(1); *p = 1;", "q = malloc(5); *q = 2;"),
        (
            "proc f(a) { return malloc_(a); } proc malloc_(a) { int t; t = malloc(2); *t = a; return t; } p = f(1);",
            "proc g(a, b) { int t; t = malloc(3); *t = b; return t; } q = g(1, 2);",
        ),
    ] {
        let read = |text: &str| pl::read(&SourceFile::new("half.pl", text)).expect("reads");
        let (first, whole) = (read(a), read(&format!("{a} {b}")));
        let second = read(b).behind(first.instructions.len());
        let store = Store::new();
        first.declare(&store);
        second.declare(&store);
        let (composition, _) = composed(&store, &first, &second);
        assert!(composition.whole.gave_up.is_empty());
        let condition = pl::read_condition(&whole, "*p == 1 && *q == 2 && p != q").expect("reads");
        let core = parallax_sem::Symbolic::new(&store);
        whole.declare(&store);
        let post = pl::condition(&core, &condition, &whole.state(&core, &store, &logic::Struct::new()));
        let wlp = logic::precondition(&store, &composition.whole.update, post);
        assert_eq!(wlp, store.true_(), "{a} then {b}: {}", store.display(wlp));
    }
}
