//! Symbolic composition of two programs, each evaluated on its own: the first, then the second (section 4).
//!
//! `U[[U2]]U1` alone is right where control always goes from the end of the first program to the start of the second. It
//! need not: a branch may leave the first program past the second, or into the middle of it. So control arrives under a
//! condition. Where it leaves both programs the state after the first is the result; where it goes elsewhere inside of
//! the two, nothing is said.

use crate::evaluate::{Assumption, Evaluation, Program, STACK_APART};
use crate::table::Tables;
use parallax_path::Bound;
use parallax_sem::Symbolic;
use parallax_sem::logic::{self, Scalar, Struct};
use parallax_smt::Solver;
use parallax_term::{Formula, Scalar as Value, Store, StructUpdate};

/// Two programs as one.
pub struct Composition {
    /// What both do, one after the other.
    pub whole: Evaluation,
    /// What the result rests on, in terms of the state before the first.
    pub assumptions: Vec<Assumption>,
}

/// Composes what evaluation found of two programs. Objects that they make have names of their own.
pub fn compose<'s, L: Program>(
    solver: Box<dyn Solver<'s> + 's>,
    (first, before): (&L, &Evaluation),
    (second, then): (&L, &Evaluation),
) -> Composition {
    let store = solver.store();
    let core = Symbolic::new(store);
    let assumed = store.apart_breaks();
    let ended = Struct::from_update(&before.update);
    let [start, end] = [&Struct::new(), &ended].map(|s| first.state(&core, store, s));
    let called = second.called_next(&core, &start, end);
    let is_called = called.is_some();
    let handed = called.map_or(ended, |state| second.structure(&core, store, &state));
    let moved = |formula| logic::formula(&core, store, formula, &handed);

    let entry = store.constant(&second.entry());
    let arrives = if is_called { store.true_() } else { store.eq(before.pc, entry) };
    let is_in = |pc| store.or(first.belongs(&core, &pc), second.belongs(&core, &pc));
    let leaves = store.not(is_in(before.pc));
    let comes_back = match is_called {
        true => store.false_(),
        false => first.belongs(&core, &logic::term(&core, store, then.pc, &handed)),
    };
    let ends = store.and(moved(then.complete), store.not(comes_back));

    let fault = second.fault_symbol().and_then(|name| store.lookup(name));
    let faulted = |s: &Struct<Symbolic<'s>>| match fault.and_then(|fault| s.constants.get(&fault)) {
        Some(Scalar::Bool(faulted)) => *faulted,
        _ => store.false_(),
    };
    let faults_first = faulted(&handed);
    let mut after = logic::update(&core, store, &then.update, &handed);
    if let Some(fault) = fault {
        let second = match then.update.constants().find(|(symbol, _)| *symbol == fault) {
            Some((_, Value::Formula(faults))) => moved(faults),
            _ => store.false_(),
        };
        after.set_bool(fault, store.or(faults_first, second));
    }
    let mut alone = before.update.clone();
    if let Some(fault) = fault {
        alone.set_constant(store, fault, Value::Formula(faults_first));
    }
    let update = either(store, arrives, &after.to_update(store), &alone);

    let told = store.or(faults_first, store.ite_bool(arrives, ends, leaves));
    let mut complete = store.and(before.complete, told);
    let tables = Tables::new(solver);
    let mut gave_up = before.gave_up.clone();
    let goes_on = store.and(before.complete, store.and(arrives, store.not(faults_first)));
    if !then.gave_up.is_empty() && !tables.refutes(store.and(goes_on, store.not(moved(then.complete)))) {
        gave_up.extend(then.gave_up.iter().filter(|why| !before.gave_up.contains(why)).cloned());
    }
    let strays = store.ite_bool(arrives, comes_back, store.not(leaves));
    if !tables.refutes(store.and(store.and(before.complete, store.not(faults_first)), strays)) {
        gave_up.push(Bound::Control(
            "control goes from one of the programs into the middle of the other, or back".to_owned(),
        ));
    }
    if gave_up.is_empty() {
        complete = store.true_();
    }
    let pc = store.ite(arrives, logic::term(&core, store, then.pc, &handed), before.pc);
    // What the second assumed speaks of the state that it starts in.
    let assumed = moved(assumed);
    let breaks = store.or(store.apart_breaks(), assumed);
    let is_used = breaks != store.false_();
    let assumptions = is_used.then_some(Assumption { name: STACK_APART, breaks }).into_iter().collect();
    Composition { whole: Evaluation { update, complete, gave_up, pc }, assumptions }
}

/// The update that is `then` where a condition holds and `otherwise` elsewhere.
fn either(store: &Store, when: Formula, then: &StructUpdate, otherwise: &StructUpdate) -> StructUpdate {
    if when == store.true_() {
        return then.clone();
    }
    let mut update = StructUpdate::identity();
    for (symbol, _) in then.constants().chain(otherwise.constants()) {
        let value = match (then.constant(store, symbol), otherwise.constant(store, symbol)) {
            (Value::Term(t), Value::Term(e)) => Value::Term(store.ite(when, t, e)),
            (Value::Formula(t), Value::Formula(e)) => Value::Formula(store.ite_bool(when, t, e)),
            _ => unreachable!("a symbol has one sort"),
        };
        update.set_constant(store, symbol, value);
    }
    for (symbol, _) in then.functions().chain(otherwise.functions()) {
        let (t, e) = (then.function(store, symbol), otherwise.function(store, symbol));
        update.set_function(store, symbol, store.ite_map(when, t, e));
    }
    update
}
