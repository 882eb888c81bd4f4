//! Operands: what instructions push and pop, and what is known of it.

use crate::code::{Kind, Shuffle};
use crate::machine::{Answer, Done, Task, Trouble, unverifiable};
use crate::state::{Slot, State};
use parallax_engines::{IntOf, Memory};
use parallax_op::{Bits, Width};
use parallax_sem::Core;

impl<M: Memory> State<M> {
    /// Pushes a value.
    pub fn push(&mut self, slot: Slot<M>) {
        if let Some(frame) = &mut self.frame {
            frame.stack.push(slot);
        }
    }

    /// Pops a value.
    pub fn pop(&mut self) -> Result<Slot<M>, Trouble> {
        match self.frame.as_mut().and_then(|frame| frame.stack.pop()) {
            Some(slot) => Ok(slot),
            None => unverifiable("an empty stack"),
        }
    }

    /// Pops an `int`.
    pub fn pop_int(&mut self) -> Result<IntOf<M>, Trouble> {
        match self.pop()? {
            Slot::Int(value) => Ok(value),
            Slot::Bool(value) => Ok(self.memory()?.core().bool_to_val(32, &value)),
            _ => unverifiable("not an int"),
        }
    }

    /// Pops a reference.
    pub fn pop_ref(&mut self) -> Result<M::Ref, Trouble> {
        match self.pop()? {
            Slot::Ref(value) => Ok(value),
            _ => unverifiable("not a reference"),
        }
    }

    /// Pops a number of a kind, with its width.
    pub fn pop_number(&mut self, kind: Kind) -> Result<IntOf<M>, Trouble> {
        match (kind, self.pop()?) {
            (Kind::Int, Slot::Int(value))
            | (Kind::Long, Slot::Long(value))
            | (Kind::Float, Slot::Float(value))
            | (Kind::Double, Slot::Double(value)) => Ok(value),
            (Kind::Int, Slot::Bool(value)) => Ok(self.memory()?.core().bool_to_val(32, &value)),
            _ => unverifiable("a number of another kind"),
        }
    }

    /// Pushes a number of a kind.
    pub fn push_number(&mut self, kind: Kind, value: IntOf<M>) {
        self.push(match kind {
            Kind::Int | Kind::Ref => Slot::Int(value),
            Kind::Long => Slot::Long(value),
            Kind::Float => Slot::Float(value),
            Kind::Double => Slot::Double(value),
        });
    }

    /// Goes on elsewhere.
    pub(crate) fn jump(&mut self, target: usize) {
        if let Some(frame) = &mut self.frame {
            frame.next = target;
        }
    }

    /// A constant of 32 bits, if the value is one.
    pub fn known_int(&self, value: &IntOf<M>) -> Result<Option<i32>, Trouble> {
        Ok(self.known_bits(32, value)?.and_then(|bits| bits.to_i128()).map(|value| value as i32))
    }

    /// A constant, if the value is one.
    pub fn known_bits(&self, width: Width, value: &IntOf<M>) -> Result<Option<Bits>, Trouble> {
        Ok(match self.memory()?.core().targets(width, value).as_deref() {
            Some([(_, only)]) => Some(only.clone()),
            _ => None,
        })
    }
}

impl Task {
    /// Moves operands about.
    pub(crate) fn shuffle<M: Memory>(&self, state: &mut State<M>, shuffle: Shuffle) -> Answer<M> {
        let Some(frame) = &mut state.frame else { return unverifiable("nothing to run") };
        let stack = &mut frame.stack;
        // How many entries make up so many places from the top down, counted below `skip` entries.
        let entries = |stack: &[Slot<M>], skip: usize, places: usize| -> Result<usize, Trouble> {
            let (mut count, mut held) = (0, 0);
            while held < places {
                let Some(slot) = stack.len().checked_sub(1 + skip + count).map(|at| &stack[at]) else {
                    return unverifiable("an empty stack");
                };
                held += 1 + usize::from(slot.is_wide());
                count += 1;
            }
            if held == places { Ok(count) } else { unverifiable("half of a long") }
        };
        let (taken, under) = match shuffle {
            Shuffle::Pop | Shuffle::Pop2 => {
                let count = entries(stack, 0, if shuffle == Shuffle::Pop { 1 } else { 2 })?;
                stack.truncate(stack.len() - count);
                return Ok(Done::Next);
            }
            Shuffle::Swap => {
                entries(stack, 0, 1)?;
                entries(stack, 1, 1)?;
                let top = stack.len() - 1;
                stack.swap(top, top - 1);
                return Ok(Done::Next);
            }
            Shuffle::Dup => (1, 0),
            Shuffle::DupX1 => (1, 1),
            Shuffle::DupX2 => (1, 2),
            Shuffle::Dup2 => (2, 0),
            Shuffle::Dup2X1 => (2, 1),
            Shuffle::Dup2X2 => (2, 2),
        };
        let taken = entries(stack, 0, taken)?;
        let below = entries(stack, taken, under)?;
        let copies: Vec<Slot<M>> = stack[stack.len() - taken..].to_vec();
        let at = stack.len() - taken - below;
        stack.splice(at..at, copies);
        Ok(Done::Next)
    }
}
