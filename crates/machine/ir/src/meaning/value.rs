//! A value in a place: a bit-vector, or a truth value that nobody has yet asked for as a byte.

use parallax_op::{Bits, Width};
use parallax_sem::Core;

/// What a place holds. Keeping truth values as such is what makes a flag a formula in the symbolic reading.
#[derive(Clone)]
pub enum Value<C: Core> {
    /// A bit-vector.
    Word(C::Val),
    /// A truth value; as a bit-vector it is 0 or 1.
    Truth(C::Bool),
}

impl<C: Core> Value<C> {
    /// As a bit-vector of `width` bits.
    pub fn word(&self, core: &C, width: Width) -> C::Val {
        match self {
            Value::Word(value) => value.clone(),
            Value::Truth(truth) => core.bool_to_val(width, truth),
        }
    }

    /// As a truth value: whether the bit-vector of `width` bits is not zero.
    pub fn truth(&self, core: &C, width: Width) -> C::Bool {
        match self {
            Value::Word(value) => core.val_to_bool(width, value),
            Value::Truth(truth) => truth.clone(),
        }
    }

    /// `self` where `when` holds, `other` elsewhere.
    pub(crate) fn choose(&self, core: &C, when: &C::Bool, other: &Self, width: Width) -> Self {
        match (self, other) {
            (Value::Truth(t), Value::Truth(e)) => Value::Truth(core.cond_bool(when, t, e)),
            _ => Value::Word(core.cond(width, when, &self.word(core, width), &other.word(core, width))),
        }
    }
}

/// A constant of any reading.
pub(crate) fn constant<C: Core>(core: &C, width: Width, value: u128) -> C::Val {
    core.constant(&Bits::new(width, value))
}
