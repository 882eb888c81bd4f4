//! Two solvers, one answer.

use crate::{Answer, Interrupt, Limits, Reason, Solver};
use parallax_term::{Formula, Store};

/// Asks both of two solvers. Where they disagree the answer is [`Reason::Internal`]; where one does not know, the other
/// one's answer counts. The interrupt handle is the first one's: it stops the first check, and with it the second.
pub struct CrossCheck<A, B> {
    first: A,
    second: B,
    core: Vec<Formula>,
}

impl<A, B> CrossCheck<A, B> {
    /// Holds `first` against `second`.
    pub fn new(first: A, second: B) -> Self {
        CrossCheck { first, second, core: Vec::new() }
    }
}

impl<'s, A: Solver<'s>, B: Solver<'s>> Solver<'s> for CrossCheck<A, B> {
    fn store(&self) -> &'s Store {
        self.first.store()
    }

    fn check(&mut self, query: &[Formula]) -> Answer {
        let answer = self.first.check(query);
        if self.first.interrupt().is_pulled() {
            return answer;
        }
        let other = self.second.check(query);
        match (answer.decided(), other.decided()) {
            (Ok(a), Ok(b)) if a != b => {
                Answer::Unknown(Reason::Internal(format!("two solvers disagree: sat is {a} and {b}")))
            }
            (Err(_), Ok(_)) => {
                self.core = self.second.unsat_core().to_vec();
                other
            }
            _ => {
                self.core = self.first.unsat_core().to_vec();
                answer
            }
        }
    }

    fn unsat_core(&self) -> &[Formula] {
        &self.core
    }

    fn set_limits(&mut self, limits: Limits) {
        self.first.set_limits(limits);
        self.second.set_limits(limits);
    }

    fn limits(&self) -> Limits {
        self.first.limits()
    }

    fn interrupt(&self) -> Interrupt {
        self.first.interrupt()
    }
}
