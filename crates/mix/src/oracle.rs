//! The solver, as the executor asks it: our own bit-blaster first, which is quick on small questions.

pub use parallax_smt::{Answer, Model};

use parallax_smt::{Solver, Tier0};
use parallax_term::{Formula, Store};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// A solver over a store.
pub struct Oracle<'s> {
    store: &'s Store,
    solver: RefCell<Tier0<'s>>,
    /// Sets of formulas that are known not to hold together: the same question comes up on many paths.
    unsat: RefCell<FxHashMap<Formula, ()>>,
}

impl<'s> Oracle<'s> {
    /// A solver for formulas of `store`.
    pub fn new(store: &'s Store) -> Self {
        Oracle { store, solver: RefCell::new(Tier0::new(store)), unsat: RefCell::default() }
    }

    /// Whether the formulas can hold together.
    pub fn check(&self, formulas: &[Formula]) -> Answer {
        let all = self.store.all(formulas.iter().copied());
        match self.store.as_boolean(all) {
            Some(true) => return Answer::Sat(Model::new()),
            Some(false) => return Answer::Unsat,
            None => {}
        }
        if self.unsat.borrow().contains_key(&all) {
            return Answer::Unsat;
        }
        let answer = self.solver.borrow_mut().check(formulas);
        if answer.is_unsat() {
            self.unsat.borrow_mut().insert(all, ());
        }
        answer
    }
}
