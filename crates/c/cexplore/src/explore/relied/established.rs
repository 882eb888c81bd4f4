//! Contracts that were found out hold for the rest of the search, and for what was found before.
//!
//! A mistake that no single contract excludes may still need an input that breaks some of those that others rely on. It stays a
//! finding only with an input that keeps them all.

use super::super::host::{Explorer, Finding, Known, Site};
use super::Relied;
use parallax_cmachine::State;
use parallax_path::Model;
use parallax_sem::Symbolic;
use parallax_term::Formula;
use rustc_hash::FxHashSet;
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

/// A mistake that relies on contracts.
pub(in super::super) struct Conditional {
    /// The number of the finding that is listed for its place.
    pub(in super::super) number: usize,
    /// The mistake.
    pub(in super::super) finding: Finding,
    /// Input pointers that are taken never to be null by these.
    pub(in super::super) pointers: Vec<String>,
    /// Numbers that are taken to count something.
    pub(in super::super) counts: Vec<String>,
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

    /// Whether a mistake at a place relies on what one there was known to rely on.
    pub(in super::super) fn is_conditional(&self, before: Option<Known>, relied: &[Relied]) -> bool {
        let Some(Known::Relies(listed, _)) = before else { return false };
        self.findings[listed].relied == relied
            || self.conditional.iter().any(|known| known.number == listed && known.finding.relied == relied)
    }

    /// Lists a mistake that callers cannot help; it takes the place of one that they can. Its number.
    pub(in super::super) fn add_certain(
        &mut self,
        place: Site,
        before: Option<Known>,
        finding: Finding,
    ) -> usize {
        self.known.insert(place, Known::Certain);
        let Some(Known::Relies(number, _)) = before else {
            self.findings.push(finding);
            return self.findings.len() - 1;
        };
        self.conditional.retain(|known| known.number != number);
        self.findings[number] = finding;
        number
    }

    /// Lists a mistake that callers see to, with what others at its place rely on.
    pub(in super::super) fn add_conditional(
        &mut self,
        place: Site,
        before: Option<Known>,
        mut found: Conditional,
    ) {
        match before {
            Some(Known::Relies(number, _)) => {
                found.number = number;
                self.findings[number].relies_also_on(&found.finding.relied);
            }
            _ => {
                found.number = self.findings.len();
                self.known.insert(place, Known::Relies(found.number, 1));
                self.findings.push(found.finding.clone());
            }
        }
        self.conditional.push(found);
    }

    /// Mistakes that rely on a pointer which the code turned out to test are findings as any other; so are those that rely on a
    /// number which no pointer turned out to have as much at, or on two places being different that the code turned out to compare.
    pub(in super::super) fn settle_relied(&mut self) {
        let conditional = std::mem::take(&mut self.conditional);
        let relied = conditional.iter().flat_map(|known| &known.finding.relied);
        let counted: FxHashSet<&str> = relied
            .filter_map(|relied| match relied {
                Relied::Room { length, .. } => Some(length.as_str()),
                _ => None,
            })
            .collect();
        let is_taken_back = |known: &Conditional| {
            let running = || known.finding.stack.iter().map(|(function, _)| *function);
            known.counts.iter().any(|name| !counted.contains(name.as_str()))
                || known.pointers.iter().any(|pointer| self.may_be_null(pointer, running()))
                || known.finding.relied.iter().any(|relied| self.asks_whether(relied))
        };
        let taken_back: Vec<&Conditional> = conditional.iter().filter(|known| is_taken_back(known)).collect();
        // Of several at one place, the first.
        for known in taken_back.into_iter().rev() {
            self.findings[known.number] = Finding { relied: Vec::new(), ..known.finding.clone() };
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
