//! Assertions with a stack, over any solver.

use crate::{Answer, Solver};
use parallax_term::Formula;

/// A solver with assertions that come and go in the order of a stack.
pub struct Session<S> {
    solver: S,
    asserted: Vec<Formula>,
    levels: Vec<usize>,
}

impl<'s, S: Solver<'s>> Session<S> {
    /// No assertions yet.
    pub fn new(solver: S) -> Self {
        Session { solver, asserted: Vec::new(), levels: Vec::new() }
    }

    /// Adds an assertion, until the enclosing level is popped.
    pub fn assert(&mut self, formula: Formula) {
        self.asserted.push(formula);
    }

    /// Opens a level.
    pub fn push(&mut self) {
        self.levels.push(self.asserted.len());
    }

    /// Closes a level, and drops the assertions made in it. Without an open level all assertions go.
    pub fn pop(&mut self) {
        self.asserted.truncate(self.levels.pop().unwrap_or(0));
    }

    /// The assertions that stand.
    pub fn assertions(&self) -> &[Formula] {
        &self.asserted
    }

    /// Whether the assertions hold together with `assumptions`.
    pub fn check(&mut self, assumptions: &[Formula]) -> Answer {
        let standing = self.asserted.len();
        self.asserted.extend_from_slice(assumptions);
        let answer = self.solver.check(&self.asserted);
        self.asserted.truncate(standing);
        answer
    }

    /// The solver itself.
    pub fn solver(&mut self) -> &mut S {
        &mut self.solver
    }
}
