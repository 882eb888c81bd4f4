//! Operations on pointers that need no memory: joining, shifting, comparing, subtracting.

use super::host::Host;
use super::value::{Entry, Pointer, Target, Value};
use parallax_op::{BinOp, Bits, BoolOp, RelOp};
use parallax_sem::Core;
use smallvec::SmallVec;

/// A 64-bit constant.
pub fn word<C: Core, H: Host<C>>(host: &H, value: u64) -> C::Val {
    host.core().constant(&Bits::new(64, value.into()))
}

/// The null pointer.
pub fn null<C: Core, H: Host<C>>(host: &H) -> Pointer<C> {
    Pointer::to(host.core().boolean(true), Target::Null, 0, word(host, 0))
}

/// Address of one alternative.
pub fn address<C: Core, H: Host<C>>(host: &H, entry: &Entry<C>) -> C::Val {
    if entry.base == 0 {
        return entry.offset.clone();
    }
    host.core().binop(BinOp::Add, 64, &entry.offset, &word(host, entry.base))
}

/// The address a pointer is, as bits. Tokens must have been decided.
pub fn pointer_bits<C: Core, H: Host<C>>(host: &H, pointer: &Pointer<C>) -> C::Val {
    let core = host.core();
    let mut entries = pointer.entries.iter();
    let Some(first) = entries.next() else { return word(host, 0) };
    let mut result = address(host, first);
    for entry in entries {
        result = core.cond(64, &entry.guard, &address(host, entry), &result);
    }
    result
}

/// A scalar as bits.
pub fn numeric<C: Core, H: Host<C>>(host: &H, value: &Value<C>) -> C::Val {
    match value {
        Value::Bits(bits) => bits.clone(),
        Value::Pointer(pointer) => pointer_bits(host, pointer),
        Value::Many(_) => unreachable!("an aggregate where a scalar is meant"),
    }
}

/// `a` where `guard` holds, `b` elsewhere; scalars of `width` bits.
pub fn join<C: Core, H: Host<C>>(
    host: &H,
    guard: &C::Bool,
    a: &Value<C>,
    b: &Value<C>,
    width: u16,
) -> Value<C> {
    match host.truth(guard) {
        Some(true) => return a.clone(),
        Some(false) => return b.clone(),
        None => {}
    }
    match (a, b) {
        (Value::Bits(x), Value::Bits(y)) => Value::Bits(host.core().cond(width, guard, x, y)),
        (Value::Many(x), Value::Many(y)) => {
            Value::many(x.iter().zip(y.iter()).map(|(x, y)| join(host, guard, x, y, width)).collect())
        }
        (Value::Pointer(x), Value::Pointer(y)) => Value::Pointer(join_pointers(host, guard, x, y)),
        (Value::Pointer(x), other) | (other, Value::Pointer(x)) => {
            // Zero bits are the null pointer; other bits meet a pointer as the address it is.
            let Value::Bits(bits) = other else { unreachable!("an aggregate where a scalar is meant") };
            let flip = !matches!(a, Value::Pointer(_));
            if host.value(64, bits).is_some_and(|b| b.is_zero()) {
                let none = null(host);
                let joined = if flip {
                    join_pointers(host, guard, &none, x)
                } else {
                    join_pointers(host, guard, x, &none)
                };
                return Value::Pointer(joined);
            }
            Value::Bits(host.core().cond(64, guard, &numeric(host, a), &numeric(host, b)))
        }
        // The IR is typed: a scalar never meets an aggregate.
        _ => a.clone(),
    }
}

fn join_pointers<C: Core, H: Host<C>>(
    host: &H,
    guard: &C::Bool,
    a: &Pointer<C>,
    b: &Pointer<C>,
) -> Pointer<C> {
    let core = host.core();
    let mut set = GuardedSet::new(host);
    for entry in &a.entries {
        set.add(core.boolop(BoolOp::And, guard, &entry.guard), entry);
    }
    let other = core.not(guard);
    for entry in &b.entries {
        set.add(core.boolop(BoolOp::And, &other, &entry.guard), entry);
    }
    set.pointer()
}

/// Builds a guarded set: alternatives with one target are merged, impossible ones dropped.
pub struct GuardedSet<'h, C: Core, H: Host<C>> {
    host: &'h H,
    entries: SmallVec<[Entry<C>; 1]>,
}

impl<'h, C: Core, H: Host<C>> GuardedSet<'h, C, H> {
    /// No alternatives yet.
    pub fn new(host: &'h H) -> Self {
        GuardedSet { host, entries: SmallVec::new() }
    }

    /// Adds an alternative under `guard` (which replaces its own).
    pub fn add(&mut self, guard: C::Bool, entry: &Entry<C>) {
        if self.host.truth(&guard) == Some(false) {
            return;
        }
        let core = self.host.core();
        if let Some(same) = self.entries.iter_mut().find(|e| e.target == entry.target) {
            same.offset = core.cond(64, &guard, &entry.offset, &same.offset);
            same.guard = core.boolop(BoolOp::Or, &guard, &same.guard);
            return;
        }
        self.entries.push(Entry { guard, ..entry.clone() });
    }

    /// The set.
    pub fn pointer(self) -> Pointer<C> {
        Pointer { entries: self.entries }
    }
}

/// The pointer moved by a number of bytes.
pub fn shift<C: Core, H: Host<C>>(host: &H, pointer: &Pointer<C>, by: &C::Val) -> Pointer<C> {
    let core = host.core();
    Pointer {
        entries: pointer
            .entries
            .iter()
            .map(|entry| Entry { offset: core.binop(BinOp::Add, 64, &entry.offset, by), ..entry.clone() })
            .collect(),
    }
}

/// A relation between two pointers. Tokens of both must have been decided, unless they are the same token.
pub fn compare<C: Core, H: Host<C>>(host: &H, op: RelOp, a: &Pointer<C>, b: &Pointer<C>) -> C::Bool {
    let core = host.core();
    let mut result = core.boolean(false);
    for x in &a.entries {
        for y in &b.entries {
            let holds = if x.target == y.target {
                core.relop(op, 64, &x.offset, &y.offset)
            } else {
                core.relop(op, 64, &address(host, x), &address(host, y))
            };
            let both = core.boolop(BoolOp::And, &x.guard, &y.guard);
            let here = core.boolop(BoolOp::And, &both, &holds);
            result = core.boolop(BoolOp::Or, &result, &here);
        }
    }
    result
}

/// The difference of two pointers in bytes: bases cancel where both point into one object.
pub fn difference<C: Core, H: Host<C>>(host: &H, a: &Pointer<C>, b: &Pointer<C>) -> C::Val {
    let core = host.core();
    let mut result: Option<C::Val> = None;
    for x in &a.entries {
        for y in &b.entries {
            let both = core.boolop(BoolOp::And, &x.guard, &y.guard);
            if host.truth(&both) == Some(false) {
                continue;
            }
            let distance = if x.target == y.target {
                core.binop(BinOp::Sub, 64, &x.offset, &y.offset)
            } else {
                core.binop(BinOp::Sub, 64, &address(host, x), &address(host, y))
            };
            result = Some(match result {
                None => distance,
                Some(rest) => core.cond(64, &both, &distance, &rest),
            });
        }
    }
    result.unwrap_or_else(|| word(host, 0))
}
