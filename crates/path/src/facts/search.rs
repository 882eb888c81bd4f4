//! From what is known to a model: what is still open is tried as in a model that is nearly one, and taken back where
//! that leads to a contradiction. The search is short on purpose; what it does not find is for a solver to find.

use super::cone::{At, Part};
use super::order::Sum;
use super::{Facts, Kept, Mark};
use parallax_op::Bits;
use parallax_term::{Formula, Id, Store, Symbol};

/// Contradictions after which the search gives up.
const PATIENCE: usize = 4;

/// How a search ended.
pub(super) enum Found {
    /// Everything is decided.
    All,
    /// There is nothing to find.
    Nothing,
    /// It took too long.
    Unclear,
}

struct Guess {
    before: Mark,
    at: At,
    value: bool,
    /// Where to look for what is open after this.
    next: usize,
    /// Whether the other way was refuted.
    last: bool,
}

impl Facts {
    /// Decides all that is open, as `hint` says where that works.
    pub(super) fn complete(&mut self, hint: &dyn Fn(Id) -> bool) -> Found {
        let mut guesses: Vec<Guess> = Vec::new();
        let mut contradictions = 0;
        let mut from = 0;
        while let Some((at, next)) = self.open(from) {
            let value = hint(self.cone.id(at));
            let mut guess = Guess { before: self.mark(), at, value, next, last: false };
            while self.guess(guess.at, guess.value).is_err() {
                contradictions += 1;
                if contradictions > PATIENCE {
                    return Found::Unclear;
                }
                self.back_to(guess.before);
                // The latest guess of which the other way was not tried.
                while guess.last {
                    let Some(earlier) = guesses.pop() else { return Found::Nothing };
                    self.back_to(earlier.before);
                    guess = earlier;
                }
                guess = Guess { value: !guess.value, last: true, ..guess };
            }
            from = guess.next;
            guesses.push(guess);
        }
        Found::All
    }

    fn guess(&mut self, at: At, value: bool) -> Kept {
        self.set(at, value)?;
        self.propagate()
    }

    /// The first truth value from a place on that is open: first those that are free, then comparisons.
    fn open(&self, from: usize) -> Option<(At, usize)> {
        let parts = self.cone.len();
        for place in from..parts {
            let at = place as At;
            if self.value(at).is_none() && matches!(self.cone.part(at), Part::Free | Part::Unread) {
                return Some((at, place + 1));
            }
        }
        let comparisons = &self.cone.comparisons;
        let first = from.saturating_sub(parts);
        let open = (first..comparisons.len()).find(|&place| self.value(comparisons[place]).is_none())?;
        Some((comparisons[open], parts + open + 1))
    }

    /// The values of symbols, now that everything is decided: those that are not zero. Nothing if numbers that fit do
    /// not come to mind.
    pub(super) fn values(&mut self, store: &Store) -> Option<Vec<(Symbol, u64)>> {
        let numbers = self.order.solution()?;
        let value = |sum: Sum| numbers.get(sum.number as usize).map(|number| number + sum.plus);
        for &at in &self.cone.comparisons {
            let (holds, a, b, strict) = match self.cone.part(at) {
                Part::Below(a, b, strict) => (self.value(at)?, a, b, Some(strict)),
                Part::Equal(a, b) => (self.value(at)?, a, b, None),
                _ => continue,
            };
            let (a, b) = (value(self.certain(a)?)?, value(self.certain(b)?)?);
            let fits = match strict {
                Some(true) => a < b,
                Some(false) => a <= b,
                None => a == b,
            };
            if fits != holds {
                return None;
            }
        }
        let mut values = Vec::new();
        for &(symbol, sum, width) in &self.cone.symbols {
            let value = i128::from(value(sum)?);
            let bits = Bits::from_i128(width, value);
            if bits.to_i128() != Some(value) {
                return None;
            }
            values.push((symbol, bits.to_u64()?));
        }
        for at in 0..self.cone.len() as At {
            if let (Part::Free, Some(true)) = (self.cone.part(at), self.value(at))
                && let parallax_term::Node::Symbol(symbol) = store.node(self.cone.id(at))
            {
                values.push((symbol, 1));
            }
        }
        values.retain(|(_, value)| *value != 0);
        values.sort_unstable();
        Some(values)
    }

    /// A formula holds, and all that follows.
    pub(super) fn suppose(&mut self, store: &Store, formula: Formula) -> Kept {
        let at = self.enter(store, formula)?;
        self.set(at, true)?;
        self.propagate()
    }
}
