//! Values: bits, or pointers as guarded sets.
//!
//! Whatever the type in the IR says, a value is carried as what it is: an `i64` may carry a pointer, so that
//! differences, casts and copies of pointers keep their objects.

use parallax_cmodule::FunctionId;
use parallax_heap::set::{self, Entries};
use parallax_sem::Core;
use std::sync::Arc;

/// Number of an object in a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

/// Number of an input pointer cell whose content is not yet decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId(pub u32);

/// What a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// No object: null and what is near it; also a number that was found to be no address.
    Null,
    /// A number used as a pointer: which object it is the address of, if any, is decided on use.
    Number,
    /// An object.
    Object(ObjectId),
    /// Code.
    Function(FunctionId),
    /// The initial content of an input pointer cell, decided when it is first used.
    Token(TokenId),
}

/// One alternative of a pointer. The offset has 64 bits; it is the whole address where there is no object.
pub type Entry<C> = set::Entry<<C as Core>::Bool, Target, <C as Core>::Val>;

/// A pointer: exclusive alternatives, at most one per target.
#[derive(Clone)]
pub struct Pointer<C: Core> {
    /// The alternatives.
    pub entries: Entries<C::Bool, Target, C::Val>,
}

/// What a register, an argument or a memory cell holds.
#[derive(Clone)]
pub enum Value<C: Core> {
    /// Bits; the width is known from the type.
    Bits(C::Val),
    /// A pointer.
    Pointer(Pointer<C>),
    /// One byte of a pointer, counted from the lowest: eight of them in a row are the pointer again.
    Part(Arc<Pointer<C>>, u8),
    /// A structure, array or vector.
    Many(Arc<Vec<Value<C>>>),
}

impl<C: Core> Pointer<C> {
    /// A pointer with one alternative.
    pub fn to(guard: C::Bool, target: Target, offset: C::Val) -> Self {
        Pointer { entries: Entries::from_buf([Entry::<C> { guard, target, offset }]) }
    }

    /// The only alternative, when there is one.
    pub fn only(&self) -> Option<&Entry<C>> {
        match self.entries.as_slice() {
            [entry] => Some(entry),
            _ => None,
        }
    }
}

impl<C: Core> Value<C> {
    /// Whether it is one number or pointer.
    pub fn is_scalar(&self) -> bool {
        !matches!(self, Value::Many(_))
    }

    /// Elements of an aggregate.
    pub fn many(values: Vec<Value<C>>) -> Self {
        Value::Many(Arc::new(values))
    }
}
