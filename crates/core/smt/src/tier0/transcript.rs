//! What tier 0 tells its SAT solver and asks it, written down: so that SAT solvers can be compared on what analyses ask.

use std::cell::RefCell;
use std::rc::Rc;

/// One step, with literals as DIMACS writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A new solver, which knows nothing.
    New,
    /// A clause that holds from now on.
    Clause(Vec<i32>),
    /// A question: whether the clauses hold together with these literals.
    Ask {
        /// The literals that are assumed for this question alone.
        assumed: Vec<i32>,
        /// What came out; nothing if a limit ended the search.
        answer: Option<bool>,
    },
}

/// The steps of a [`Tier0`](crate::Tier0), in order.
#[derive(Clone, Debug, Default)]
pub struct Transcript(Rc<RefCell<Vec<Step>>>);

impl Transcript {
    /// What was written since this was last asked.
    pub fn take(&self) -> Vec<Step> {
        self.0.take()
    }

    pub(super) fn write(&self, step: Step) {
        self.0.borrow_mut().push(step);
    }
}

/// A literal as DIMACS writes it.
pub(super) fn dimacs(lit: batsat::Lit) -> i32 {
    let number = lit.var().idx() as i32 + 1;
    if lit.sign() { number } else { -number }
}
