//! Contracts that were found out hold for the rest of the search, and for what was found before.
//!
//! A mistake that no single contract excludes may still need an input that breaks some of those that others rely on. It stays a
//! finding only with an input that keeps them all.

use super::super::host::{Explorer, Known, Site};
use super::Relied;
use parallax_cmachine::State;
use parallax_path::Model;
use parallax_sem::Symbolic;
use parallax_term::Formula;
use std::rc::Rc;

/// A finding that callers cannot help, as far as contracts were known.
pub(in super::super) struct Certain<'s> {
    /// Its number.
    pub(in super::super) number: usize,
    /// Its kind and place.
    pub(in super::super) place: Site,
    /// The path.
    pub(in super::super) state: State<Symbolic<'s>>,
    /// When it happens there.
    pub(in super::super) guard: Formula,
}

/// An input that shows a mistake, and contracts that it breaks for want of one that does not.
pub(in super::super) type Witness = (Rc<Model>, Vec<Relied>);

impl<'s> Explorer<'s> {
    /// Takes note of contracts that a mistake relies on.
    pub(in super::super) fn establish(&mut self, relied: &[Relied]) {
        let known = self.contracts.len();
        for contract in relied {
            // Whether the code takes null for possible, and what it asks of numbers and pointers, is known at the end only.
            let settled = !matches!(contract, Relied::NotNull(_) | Relied::Counts(_) | Relied::Between(..));
            if settled && !self.contracts.contains(contract) {
                self.contracts.push(contract.clone());
            }
        }
        if self.contracts.len() > known {
            self.judge_again();
        }
    }

    /// An input that shows a mistake and keeps what is known of contracts, if there is one; otherwise the given one, and what it breaks.
    pub(in super::super) fn witness(
        &mut self,
        state: &State<Symbolic<'s>>,
        guard: Formula,
        given: Rc<Model>,
    ) -> Witness {
        let contracts = self.contracts.clone();
        let conditions: Vec<_> = contracts.iter().map(|contract| self.condition(state, contract)).collect();
        let broken: Vec<Relied> = contracts
            .into_iter()
            .zip(&conditions)
            .filter(|(_, holds)| !given.holds(self.store, **holds))
            .map(|(contract, _)| contract)
            .collect();
        if broken.is_empty() {
            return (given, broken);
        }
        let all = conditions.into_iter().fold(self.store.true_(), |all, one| self.store.and(all, one));
        match self.model(&state.path, &[guard, all]) {
            Some(keeps) => (keeps, Vec::new()),
            None => (given, broken),
        }
    }

    /// Findings that callers could not help, now that more is known of what they see to.
    fn judge_again(&mut self) {
        for certain in std::mem::take(&mut self.certain) {
            let Some(given) = self.model(&certain.state.path, &[certain.guard]) else {
                self.certain.push(certain);
                continue;
            };
            let (model, broken) = self.witness(&certain.state, certain.guard, given);
            self.findings[certain.number].input = self.input_of(&certain.state, &model);
            match broken.is_empty() {
                true => self.certain.push(certain),
                false => {
                    self.findings[certain.number].relied = broken;
                    self.known.insert(certain.place, Known::Relies(certain.number, 1));
                }
            }
        }
    }
}
