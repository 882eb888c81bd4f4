//! Comparisons of numbers, also of numbers that depend on choices not made yet.
//!
//! A key that is read through a reference is one of several, each under its guard. A comparison that no alternative
//! can satisfy is false; an alternative that does not fit a comparison that holds is not the one.

use super::cone::{At, Part};
use super::order::Sum;
use super::{Facts, Halt, Kept};
use smallvec::SmallVec;

/// Alternatives beyond which a number is not looked at.
const MOST: usize = 24;

/// Which conditions must yet turn out some way for an alternative to be the one.
#[derive(Clone, Copy)]
enum Doubt {
    None,
    One(At, bool),
    Several,
}

#[derive(Clone, Copy)]
struct Alternative {
    sum: Sum,
    doubt: Doubt,
}

type Alternatives = SmallVec<[Alternative; 8]>;

/// What is asked of two numbers.
#[derive(Clone, Copy)]
enum Relation {
    Below { strict: bool },
    Equal,
}

impl Facts {
    /// What a comparison and the order of its numbers say of each other.
    pub(super) fn compare(&mut self, at: At) -> Kept {
        self.tick()?;
        let (relation, a, b) = match self.cone.part(at) {
            Part::Below(a, b, strict) => (Relation::Below { strict }, a, b),
            Part::Equal(a, b) => (Relation::Equal, a, b),
            _ => return Ok(()),
        };
        let value = self.value(at);
        if let (Some(a), Some(b)) = (self.certain(a), self.certain(b)) {
            return match value {
                Some(holds) => self.assume(relation, a, b, holds),
                None => self.tells(relation, a, b).map_or(Ok(()), |holds| self.set(at, holds)),
            };
        }
        let (Some(left), Some(right)) = (self.alternatives(a), self.alternatives(b)) else { return Ok(()) };
        match value {
            Some(holds) => {
                let fits = |facts: &Facts, x: Sum, y: Sum| facts.tells(relation, x, y) != Some(!holds);
                self.sift(&left, |facts, x| right.iter().any(|y| fits(facts, x, y.sum)))?;
                self.sift(&right, |facts, y| left.iter().any(|x| fits(facts, x.sum, y)))
            }
            None => {
                let pairs = left.iter().flat_map(|x| right.iter().map(move |y| (x.sum, y.sum)));
                let mut told = pairs.map(|(x, y)| self.tells(relation, x, y));
                let Some(Some(first)) = told.next() else { return Ok(()) };
                if told.all(|other| other == Some(first)) { self.set(at, first) } else { Ok(()) }
            }
        }
    }

    /// Alternatives that do not fit are not the one; if none fits, something is wrong.
    fn sift(&mut self, all: &[Alternative], fits: impl Fn(&Facts, Sum) -> bool) -> Kept {
        let mut some = false;
        for alternative in all {
            if fits(self, alternative.sum) {
                some = true;
            } else if let Doubt::One(condition, value) = alternative.doubt {
                self.set(condition, !value)?;
            }
        }
        if some { Ok(()) } else { Err(Halt::Contradiction) }
    }

    fn tells(&self, relation: Relation, a: Sum, b: Sum) -> Option<bool> {
        match relation {
            Relation::Below { strict } => self.order.below(a, b, strict),
            Relation::Equal => self.order.equal(a, b),
        }
    }

    fn assume(&mut self, relation: Relation, a: Sum, b: Sum, holds: bool) -> Kept {
        Ok(match (relation, holds) {
            (Relation::Below { strict }, true) => self.order.assume_below(a, b, strict),
            (Relation::Below { strict }, false) => self.order.assume_below(b, a, !strict),
            (Relation::Equal, true) => self.order.assume_equal(a, b),
            (Relation::Equal, false) => self.order.assume_apart(a, b),
        }?)
    }

    /// The number that a vector is, if no open condition is left.
    pub(super) fn certain(&self, mut at: At) -> Option<Sum> {
        let mut plus = 0;
        loop {
            match self.cone.part(at) {
                Part::Number(sum) => {
                    return self.order.knows(sum).then_some(Sum { plus: sum.plus + plus, ..sum });
                }
                Part::Pick(c, a, b) => at = if self.value(c)? { a } else { b },
                Part::Shift { of, fits, by, wrapped } => {
                    plus += if self.value(fits)? { by } else { wrapped };
                    at = of;
                }
                _ => return None,
            }
        }
    }

    /// The numbers that a vector may be; nothing if they are too many to look at.
    fn alternatives(&self, at: At) -> Option<Alternatives> {
        let mut found = Alternatives::new();
        let mut todo: SmallVec<[(At, i64, Doubt); 8]> = SmallVec::new();
        todo.push((at, 0, Doubt::None));
        while let Some((at, plus, doubt)) = todo.pop() {
            let (condition, first, second) = match self.cone.part(at) {
                Part::Number(sum) if found.len() < MOST && self.order.knows(sum) => {
                    found.push(Alternative { sum: Sum { plus: sum.plus + plus, ..sum }, doubt });
                    continue;
                }
                Part::Pick(c, a, b) => (c, (a, plus), (b, plus)),
                Part::Shift { of, fits, by, wrapped } => (fits, (of, plus + by), (of, plus + wrapped)),
                _ => return None,
            };
            let doubtful = |value| match doubt {
                Doubt::None => Doubt::One(condition, value),
                _ => Doubt::Several,
            };
            match self.value(condition) {
                Some(true) => todo.push((first.0, first.1, doubt)),
                Some(false) => todo.push((second.0, second.1, doubt)),
                None => {
                    todo.push((first.0, first.1, doubtful(true)));
                    todo.push((second.0, second.1, doubtful(false)));
                }
            }
            // A choice among few may still be a large one of the same few.
            if todo.len() > MOST {
                return None;
            }
        }
        Some(found)
    }
}
