//! The solver, as the executor asks it.

pub use parallax_smt::{Answer, Limits, Model};

use parallax_smt::Solver;
use parallax_term::{Formula, Store};
use rustc_hash::FxHashSet;
use std::cell::RefCell;

/// A solver over a store.
pub struct Oracle<'s> {
    store: &'s Store,
    solver: RefCell<Box<dyn Solver<'s> + 's>>,
    /// Conjunctions that are known not to hold: the same question comes up on many paths.
    unsat: RefCell<FxHashSet<Formula>>,
}

impl<'s> Oracle<'s> {
    /// A solver for formulas of `store`.
    pub fn new(store: &'s Store, limits: Limits) -> Self {
        let mut solver = parallax_smt::solver(store);
        solver.set_limits(limits);
        Oracle { store, solver: RefCell::new(solver), unsat: RefCell::default() }
    }

    /// Whether the formulas can hold together.
    pub fn check(&self, formulas: &[Formula]) -> Answer {
        let all = self.store.all(formulas.iter().copied());
        match self.store.as_boolean(all) {
            Some(true) => return Answer::Sat(Model::new()),
            Some(false) => return Answer::Unsat,
            None => {}
        }
        if self.unsat.borrow().contains(&all) {
            return Answer::Unsat;
        }
        let answer = self.solver.borrow_mut().check(formulas);
        if answer.is_unsat() {
            self.unsat.borrow_mut().insert(all);
        }
        answer
    }
}
