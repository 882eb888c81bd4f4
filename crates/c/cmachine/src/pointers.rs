//! Operations on pointers that need no memory: joining and shifting guarded sets.

use super::host::Oracle;
use super::value::{Entry, Pointer, Target, Value};
use super::{Result, Stop};
use parallax_heap::set::GuardedSets;
use parallax_op::{BinOp, Bits, BoolOp, RelOp};
use parallax_sem::Core;
use std::marker::PhantomData;
use std::sync::Arc;

/// Addresses below this are null: nothing is ever mapped there.
pub(super) const FIRST_PAGE: u64 = 4096;

/// A 64-bit constant.
pub fn word<C: Core, H: Oracle<C>>(host: &H, value: u64) -> C::Val {
    host.core().constant(&Bits::new(64, value.into()))
}

/// The null pointer.
pub fn null<C: Core, H: Oracle<C>>(host: &H) -> Pointer<C> {
    Pointer::to(host.core().boolean(true), Target::Null, word(host, 0))
}

/// A number as a pointer: null where it is certainly small, and otherwise what is looked up on use.
pub(super) fn number<C: Core, H: Oracle<C>>(host: &H, bits: &C::Val) -> Pointer<C> {
    let small = host.value(64, bits).and_then(|b| b.to_u64()).is_some_and(|b| b < FIRST_PAGE);
    let target = if small { Target::Null } else { Target::Number };
    Pointer::to(host.core().boolean(true), target, bits.clone())
}

/// The bits of a scalar that is no pointer. (A pointer has an address only in a state.)
pub(super) fn bits_of<C: Core>(value: &Value<C>) -> Result<C::Val, C> {
    match value {
        Value::Bits(bits) => Ok(bits.clone()),
        _ => Err(Stop::Unsupported("a pointer or an aggregate where a number is meant".into())),
    }
}

/// Whether a number is certainly beyond the first page.
fn is_far<C: Core, H: Oracle<C>>(host: &H, bits: &C::Val) -> bool {
    host.value(64, bits).and_then(|b| b.to_u64()).is_some_and(|b| b >= FIRST_PAGE)
}

/// `a` where `guard` holds, `b` elsewhere; scalars of `width` bits. `None` for different bytes of pointers, whose
/// addresses must be known first.
pub(super) fn join<C: Core, H: Oracle<C>>(
    host: &H,
    guard: &C::Bool,
    a: &Value<C>,
    b: &Value<C>,
    width: u16,
) -> Option<Value<C>> {
    match host.truth(guard) {
        Some(true) => return Some(a.clone()),
        Some(false) => return Some(b.clone()),
        None => {}
    }
    Some(match (a, b) {
        (Value::Bits(x), Value::Bits(y)) => Value::Bits(host.core().cond(width, guard, x, y)),
        (Value::Many(x), Value::Many(y)) => {
            let joined = x.iter().zip(y.iter()).map(|(x, y)| join(host, guard, x, y, width));
            Value::many(joined.collect::<Option<_>>()?)
        }
        (Value::Part(x, i), Value::Part(y, j)) => {
            if i != j {
                return None;
            }
            Value::Part(Arc::new(join_pointers(host, guard, x, y)), *i)
        }
        (Value::Part(x, i), Value::Bits(y)) => {
            Value::Part(Arc::new(join_pointers(host, guard, x, &with_byte(host, y, *i))), *i)
        }
        (Value::Bits(x), Value::Part(y, i)) => {
            Value::Part(Arc::new(join_pointers(host, guard, &with_byte(host, x, *i), y)), *i)
        }
        (x, y) => {
            let (x, y) = (as_pointer(host, x)?, as_pointer(host, y)?);
            Value::Pointer(join_pointers(host, guard, &x, &y))
        }
    })
}

fn as_pointer<C: Core, H: Oracle<C>>(host: &H, value: &Value<C>) -> Option<Pointer<C>> {
    Some(match value {
        Value::Pointer(pointer) => pointer.clone(),
        Value::Part(pointer, _) => (**pointer).clone(),
        Value::Bits(bits) => number(host, bits),
        Value::Many(_) => return None,
    })
}

/// A pointer one of whose bytes this is.
fn with_byte<C: Core, H: Oracle<C>>(host: &H, byte: &C::Val, at: u8) -> Pointer<C> {
    let core = host.core();
    let wide = core.zext(8, 64, byte);
    number(host, &core.binop(BinOp::Shl, 64, &wide, &word(host, 8 * u64::from(at))))
}

fn join_pointers<C: Core, H: Oracle<C>>(
    host: &H,
    guard: &C::Bool,
    a: &Pointer<C>,
    b: &Pointer<C>,
) -> Pointer<C> {
    if same(host, a, b) {
        return a.clone();
    }
    Pointer { entries: pointers(host).either(guard, &a.entries, &b.entries) }
}

/// Whether two pointers are the same set, entry by entry.
pub(super) fn same<C: Core, H: Oracle<C>>(host: &H, a: &Pointer<C>, b: &Pointer<C>) -> bool {
    let core = host.core();
    a.entries.len() == b.entries.len()
        && a.entries.iter().zip(&b.entries).all(|(x, y)| {
            x.target == y.target
                && host.truth(&core.relop(RelOp::Eq, 64, &x.offset, &y.offset)) == Some(true)
                && host.truth(&core.boolop(BoolOp::Iff, &x.guard, &y.guard)) == Some(true)
        })
}

/// Pointers as guarded sets, whose targets have an inside.
pub(super) struct Pointers<'h, C, H>(&'h H, PhantomData<C>);

pub(super) fn pointers<C: Core, H: Oracle<C>>(host: &H) -> Pointers<'_, C, H> {
    Pointers(host, PhantomData)
}

impl<C: Core, H: Oracle<C>> GuardedSets<C> for Pointers<'_, C, H> {
    type Offset = C::Val;
    fn core(&self) -> &C {
        self.0.core()
    }
    fn known(&self, guard: &C::Bool) -> Option<bool> {
        self.0.truth(guard)
    }
    fn choose(&self, guard: &C::Bool, a: &C::Val, b: &C::Val) -> C::Val {
        self.core().cond(64, guard, a, b)
    }
}

/// The pointer moved by a number of bytes.
pub fn shift<C: Core, H: Oracle<C>>(host: &H, pointer: &Pointer<C>, by: &C::Val) -> Pointer<C> {
    let core = host.core();
    let shifted = |entry: &Entry<C>| {
        let offset = core.binop(BinOp::Add, 64, &entry.offset, by);
        let guard = entry.guard.clone();
        match entry.target {
            // Far from null is a number, which may be the address of something.
            Target::Null if is_far(host, &offset) => Entry::<C> { guard, target: Target::Number, offset },
            target => Entry::<C> { guard, target, offset },
        }
    };
    Pointer { entries: pointer.entries.iter().map(shifted).collect() }
}
