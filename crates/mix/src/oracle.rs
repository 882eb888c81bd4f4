//! The solver, as the executor asks it.

use parallax_op::Bits;
use parallax_term::{Formula, Store, Term};

/// What the solver says about formulas.
pub enum Answer {
    /// They hold together under this model.
    Sat(Model),
    /// They never hold together.
    Unsat,
    /// It gave up.
    Unknown(String),
}

/// Values for symbols.
pub struct Model {}

/// A solver over a store.
pub struct Oracle<'s> {
    store: &'s Store,
}

impl<'s> Oracle<'s> {
    /// A solver for formulas of `store`.
    pub fn new(store: &'s Store) -> Self {
        Oracle { store }
    }

    /// Whether the formulas can hold together.
    pub fn check(&self, formulas: &[Formula]) -> Answer {
        match self.store.as_boolean(self.store.all(formulas.iter().copied())) {
            Some(true) => Answer::Sat(Model {}),
            Some(false) => Answer::Unsat,
            None => Answer::Unknown("no solver".to_string()),
        }
    }
}

impl Model {
    /// The value of a term.
    pub fn term(&self, _store: &Store, _term: Term) -> Option<Bits> {
        None
    }

    /// The value of a formula.
    pub fn formula(&self, _store: &Store, _formula: Formula) -> Option<bool> {
        None
    }
}
