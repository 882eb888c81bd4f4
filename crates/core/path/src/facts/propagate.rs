//! Unit propagation: what the values of some expressions say of those around them.

use super::cone::{At, Part};
use super::{Facts, Halt, Kept};

impl Facts {
    pub(super) fn value(&self, at: At) -> Option<bool> {
        self.values[at as usize]
    }

    /// An expression has this value.
    pub(super) fn set(&mut self, at: At, value: bool) -> Kept {
        match self.values[at as usize] {
            Some(known) if known == value => Ok(()),
            Some(_) => Err(Halt::Contradiction),
            None => {
                self.values[at as usize] = Some(value);
                self.assigned.push(at);
                self.queue.push(at);
                Ok(())
            }
        }
    }

    /// Draws every conclusion from what was set since the last time.
    pub(super) fn propagate(&mut self) -> Kept {
        let kept = self.conclude();
        if kept.is_err() {
            self.queue.clear();
        }
        kept
    }

    fn conclude(&mut self) -> Kept {
        loop {
            while let Some(at) = self.queue.pop() {
                self.examine(at)?;
                for user in 0..self.cone.users(at).len() {
                    self.examine(self.cone.users(at)[user])?;
                }
            }
            if !std::mem::take(&mut self.order.changed) {
                return Ok(());
            }
            for at in 0..self.cone.comparisons.len() {
                self.compare(self.cone.comparisons[at])?;
            }
        }
    }

    /// What an expression and its operands say of each other.
    pub(super) fn examine(&mut self, at: At) -> Kept {
        self.tick()?;
        match self.cone.part(at) {
            Part::Free | Part::Unread | Part::Number(_) => Ok(()),
            Part::Constant(value) => self.set(at, value),
            Part::Not(a) => match (self.value(at), self.value(a)) {
                (Some(value), _) => self.set(a, !value),
                (None, Some(value)) => self.set(at, !value),
                (None, None) => Ok(()),
            },
            Part::And(a, b) => self.lattice(at, a, b, true),
            Part::Or(a, b) => self.lattice(at, a, b, false),
            Part::Iff(a, b) => match (self.value(at), self.value(a), self.value(b)) {
                (_, Some(a), Some(b)) => self.set(at, a == b),
                (Some(same), Some(a), None) => self.set(b, a == same),
                (Some(same), None, Some(b)) => self.set(a, b == same),
                _ => Ok(()),
            },
            Part::Choice(c, a, b) => self.choice(at, c, a, b),
            Part::Below(..) | Part::Equal(..) => self.compare(at),
            Part::Pick(c, ..) | Part::Shift { fits: c, .. } => {
                // Comparisons further up see one alternative less.
                self.order.changed |= self.value(c).is_some();
                Ok(())
            }
        }
    }

    /// A conjunction; a disjunction is one with the truth values exchanged.
    fn lattice(&mut self, at: At, a: At, b: At, all: bool) -> Kept {
        let (whole, x, y) = (self.value(at), self.value(a), self.value(b));
        if x == Some(!all) || y == Some(!all) {
            return self.set(at, !all);
        }
        if x == Some(all) && y == Some(all) {
            return self.set(at, all);
        }
        match whole {
            Some(value) if value == all => {
                self.set(a, all)?;
                self.set(b, all)
            }
            Some(_) if x == Some(all) => self.set(b, !all),
            Some(_) if y == Some(all) => self.set(a, !all),
            _ => Ok(()),
        }
    }

    fn choice(&mut self, at: At, c: At, a: At, b: At) -> Kept {
        if let Some(first) = self.value(c) {
            let taken = if first { a } else { b };
            return match (self.value(at), self.value(taken)) {
                (Some(value), _) => self.set(taken, value),
                (None, Some(value)) => self.set(at, value),
                (None, None) => Ok(()),
            };
        }
        match (self.value(at), self.value(a), self.value(b)) {
            (None, Some(x), Some(y)) if x == y => self.set(at, x),
            (Some(value), Some(x), _) if x != value => self.set(c, false),
            (Some(value), _, Some(y)) if y != value => self.set(c, true),
            _ => Ok(()),
        }
    }
}
