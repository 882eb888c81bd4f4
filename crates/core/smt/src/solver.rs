//! The solver trait.

use crate::{Answer, Limits, Model};
use parallax_term::{Formula, Store};

/// Something that decides whether formulas hold together.
///
/// A query is a set of formulas; nothing is asserted for good. Backends keep what they learn about a formula, so asking
/// again, or asking with one more, is cheap. For a stack of assertions see [`Session`](crate::Session).
///
/// Answers hold under what the store's address symbols promise ([`Store::axioms`]): so do the store's simplifications.
pub trait Solver<'s> {
    /// The store that formulas live in.
    fn store(&self) -> &'s Store;

    /// Whether there is an interpretation under which all of `query` hold.
    fn check(&mut self, query: &[Formula]) -> Answer;

    /// Formulas of the last query that do not hold together; meaningful after [`Answer::Unsat`]. Small, but not always
    /// smallest.
    fn unsat_core(&self) -> &[Formula];

    /// What each check may spend from now on.
    fn set_limits(&mut self, limits: Limits);

    /// What each check may spend.
    fn limits(&self) -> Limits;

    /// Where searches begin from now on: near an interpretation that is known to be nearly a model. It changes how long a
    /// search takes, not what it answers.
    fn begin_at(&mut self, _near: &Model) {}
}

macro_rules! delegate {
    () => {
        fn store(&self) -> &'s Store {
            (**self).store()
        }
        fn check(&mut self, query: &[Formula]) -> Answer {
            (**self).check(query)
        }
        fn unsat_core(&self) -> &[Formula] {
            (**self).unsat_core()
        }
        fn set_limits(&mut self, limits: Limits) {
            (**self).set_limits(limits)
        }
        fn limits(&self) -> Limits {
            (**self).limits()
        }
        fn begin_at(&mut self, near: &Model) {
            (**self).begin_at(near)
        }
    };
}

impl<'s, S: Solver<'s> + ?Sized> Solver<'s> for Box<S> {
    delegate!();
}

impl<'s, S: Solver<'s> + ?Sized> Solver<'s> for &mut S {
    delegate!();
}
