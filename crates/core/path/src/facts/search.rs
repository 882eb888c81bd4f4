//! From what is known to a model: what is still open is tried as in a model that is nearly one, and taken back where
//! that leads to a contradiction. The search is short on purpose; what it does not find is for a solver to find.

use super::cone::{At, Part};
use super::order::Sum;
use super::{Facts, Halt, Kept, Mark};
use parallax_op::Bits;
use parallax_term::{Formula, Id, Store, Symbol};

/// Contradictions after which the search gives up.
const PATIENCE: usize = 4;

/// How a search ended.
pub(super) enum Found {
    /// Everything is decided.
    All,
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
    /// Decides all that is open, as `hint` says where that works. A contradiction if nothing works.
    pub(super) fn complete(&mut self, hint: &dyn Fn(Id) -> bool) -> Result<Found, Halt> {
        let mut guesses: Vec<Guess> = Vec::new();
        let mut contradictions = 0;
        let mut from = 0;
        while let Some((at, next)) = self.open(from) {
            let value = hint(self.cone.id(at));
            let mut guess = Guess { before: self.mark(), at, value, next, last: false };
            while let Err(halt) = self.guess(guess.at, guess.value) {
                contradictions += 1;
                match halt {
                    Halt::Late => return Err(halt),
                    Halt::Contradiction if contradictions > PATIENCE => return Ok(Found::Unclear),
                    Halt::Contradiction => {}
                }
                self.back_to(guess.before);
                // The latest guess of which the other way was not tried.
                while guess.last {
                    let Some(earlier) = guesses.pop() else { return Err(Halt::Contradiction) };
                    self.back_to(earlier.before);
                    guess = earlier;
                }
                guess = Guess { value: !guess.value, last: true, ..guess };
            }
            from = guess.next;
            guesses.push(guess);
        }
        Ok(Found::All)
    }

    fn guess(&mut self, at: At, value: bool) -> Kept {
        self.set(at, value)?;
        self.propagate()
    }

    /// The first truth value from a place on that is not decided: first those that may be either, then comparisons.
    fn open(&self, from: usize) -> Option<(At, usize)> {
        let all = || self.cone.open.iter().chain(&self.cone.comparisons);
        let place = from + all().skip(from).position(|&at| self.value(at).is_none())?;
        Some((*all().nth(place)?, place + 1))
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
        for &at in &self.cone.open {
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
