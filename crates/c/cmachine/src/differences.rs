//! In what two states differ that could be merged: where both know a value, and not the same one.

use super::content::Content;
use super::host::Host;
use super::value::{ObjectId, Value};
use super::{Machine, State};
use parallax_op::Width;
use parallax_sem::Core;
use std::rc::Rc;
use std::sync::Arc;

/// Places whose values are known in two states and not the same. Merged they are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Registers of the running function.
    pub registers: Vec<u32>,
    /// Its slots.
    pub slots: Vec<u32>,
    /// Whether there is something in memory.
    pub memory: bool,
}

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    /// What two states in the same frame know differently.
    pub fn differences(&mut self, a: &State<C>, b: &State<C>) -> Differences {
        let memory = self.memories_apart(a, b);
        let (Some(x), Some(y)) = (a.frames.last(), b.frames.last()) else { return Differences::default() };
        if Rc::ptr_eq(x, y) {
            return Differences { memory, ..Differences::default() };
        }
        let types = self.register_types(x.function);
        let slots = &self.module.function(x.function).slots;
        let apart = |number: usize, ty, x: &Option<Value<C>>, y: &Option<Value<C>>| {
            let width = self.module.ty(ty).bits().unwrap_or(64);
            let differ = matches!((x, y), (Some(x), Some(y)) if self.known_apart(width, x, y));
            differ.then_some(number as u32)
        };
        let registers = x.registers.iter().zip(&y.registers).enumerate();
        let in_slots = x.slots.iter().zip(&y.slots).enumerate();
        Differences {
            registers: registers.filter_map(|(n, (x, y))| apart(n, types[n], x, y)).collect(),
            slots: in_slots.filter_map(|(n, (x, y))| apart(n, slots[n].ty, x, y)).collect(),
            memory,
        }
    }

    fn known_apart(&self, width: Width, x: &Value<C>, y: &Value<C>) -> bool {
        let numbers = |width, x: &C::Val, y: &C::Val| {
            self.host.value(width, x).zip(self.host.value(width, y)).is_some_and(|(x, y)| x != y)
        };
        match (x, y) {
            (Value::Bits(x), Value::Bits(y)) => numbers(width, x, y),
            (Value::Pointer(x), Value::Pointer(y)) => match (x.only(), y.only()) {
                (Some(x), Some(y)) => x.target != y.target || numbers(64, &x.offset, &y.offset),
                // A choice that one of them is already is no worse for another alternative.
                _ => false,
            },
            (Value::Many(xs), Value::Many(ys)) => !Arc::ptr_eq(xs, ys),
            (Value::Part(..), Value::Part(..)) => false,
            // A number here and an address there.
            _ => true,
        }
    }

    fn memories_apart(&self, a: &State<C>, b: &State<C>) -> bool {
        let common = a.memory.len().min(b.memory.len());
        (0..common as u32).map(ObjectId).any(|id| {
            if a.memory.same(&b.memory, id) {
                return false;
            }
            let (x, y) = (a.memory.object(id), b.memory.object(id));
            match (self.host.truth(&x.alive), self.host.truth(&y.alive)) {
                (Some(false), Some(false)) => false,
                (Some(p), Some(q)) if p != q => true,
                _ => self.contents_apart(&x.content, &y.content),
            }
        })
    }

    fn contents_apart(&self, x: &Content<C>, y: &Content<C>) -> bool {
        x.differences(y).into_iter().any(|(at, len)| match (x.cell(at, len), y.cell(at, len)) {
            (Some(x), Some(y)) => self.known_apart((len * 8) as Width, x, y),
            // Bytes on both sides are known; a cell is a number that is not, or a pointer.
            (Some(Value::Pointer(_)), None) | (None, Some(Value::Pointer(_))) | (None, None) => true,
            _ => false,
        })
    }
}
