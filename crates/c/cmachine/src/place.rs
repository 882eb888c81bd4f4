//! Places in an object: an offset, seen as a number of equal steps where that can be told.
//!
//! Two elements of one array are the same bytes or share none; whether they are the same is then a question about two
//! indices, not about products. And an index, bit by bit, picks an element of a table without one comparison.

use super::Machine;
use super::host::{Host, Steps};
use super::pointers::word;
use parallax_op::RelOp;
use parallax_sem::Core;

/// A place in an object.
#[derive(Clone)]
pub struct Place<C: Core> {
    /// How far into the object, 64 bits.
    pub offset: C::Val,
    /// The offset, where it is constant.
    pub known: Option<u64>,
    /// The offset as a number of steps.
    pub steps: Option<Steps<C>>,
    /// The offset is this, modulo the second; that is 0 where the offset is constant.
    residue: (u64, u64),
}

/// How two ranges of bytes lie to each other.
pub(super) enum Meeting<C: Core> {
    /// They share no byte.
    Never,
    /// They are the same bytes.
    Always,
    /// They are the same bytes under this condition, and share none elsewhere.
    When(C::Bool),
    /// They may overlap in any way.
    Perhaps,
}

/// The places that `len` bytes can be at within an object.
pub(super) struct Grid<C: Core> {
    pub(super) first: u64,
    pub(super) step: u64,
    pub(super) count: u64,
    /// Which one it is, 64 bits.
    pub(super) index: C::Val,
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    /// An offset as a place.
    pub(super) fn place(&self, offset: &C::Val) -> Place<C> {
        let known = self.host.value(64, offset).and_then(|o| o.to_u64());
        if let Some(at) = known {
            return Place { offset: offset.clone(), known, steps: None, residue: (at, 0) };
        }
        let steps = self.host.steps(offset);
        let residue = match &steps {
            Some(steps) => (steps.residue, steps.scale),
            None => self.low_bits(offset),
        };
        Place { offset: offset.clone(), known, steps, residue }
    }

    /// Low bits are often known (an index times a power of two): the number they are, and the next power of two.
    fn low_bits(&self, offset: &C::Val) -> (u64, u64) {
        let core = self.host.core();
        let mut residue = (0, 1);
        for bits in 1..=12u16 {
            let low = core.extract(64, 0, bits, offset);
            match self.host.value(bits, &low).and_then(|b| b.to_u64()) {
                Some(low) => residue = (low, 1 << bits),
                None => break,
            }
        }
        residue
    }

    /// A place further on.
    pub(super) fn place_after(&self, place: &Place<C>, by: u64) -> Place<C> {
        if by == 0 { place.clone() } else { self.place(&self.moved(&place.offset, by)) }
    }

    /// The places that an offset which is not constant can be, so that `len` bytes lie within the object.
    pub(super) fn grid(&self, place: &Place<C>, len: u64, capacity: u64) -> Grid<C> {
        let (first, step) = (place.residue.0, place.residue.1.max(1));
        let count = match capacity.checked_sub(len).and_then(|last| last.checked_sub(first)) {
            Some(room) => room / step + 1,
            None => 0,
        };
        let index = match &place.steps {
            Some(steps) => steps.index.clone(),
            None => {
                let core = self.host.core();
                let low = step.trailing_zeros() as u16;
                core.zext(64 - low, 64, &core.extract(64, low, 64 - low, &place.offset))
            }
        };
        Grid { first, step, count, index }
    }

    /// Whether two places are one.
    pub(super) fn same_place(&self, a: &Place<C>, b: &Place<C>) -> C::Bool {
        let core = self.host.core();
        match (&a.steps, &b.steps) {
            (Some(x), Some(y)) if (x.scale, x.residue) == (y.scale, y.residue) => {
                core.relop(RelOp::Eq, 64, &x.index, &y.index)
            }
            (Some(x), None) | (None, Some(x)) if a.known.or(b.known).is_some() => {
                let at = a.known.or(b.known).unwrap_or(0);
                match at.checked_sub(x.residue) {
                    Some(distance) if distance.is_multiple_of(x.scale) => {
                        core.relop(RelOp::Eq, 64, &x.index, &word(&self.host, distance / x.scale))
                    }
                    _ => core.boolean(false),
                }
            }
            _ => core.relop(RelOp::Eq, 64, &a.offset, &b.offset),
        }
    }

    /// How `a_len` bytes at one place lie to `b_len` bytes at another.
    pub(super) fn meeting(&self, a: &Place<C>, a_len: u64, b: &Place<C>, b_len: u64) -> Meeting<C> {
        if let (Some(x), Some(y)) = (a.known, b.known) {
            return match x.saturating_add(a_len) <= y || y.saturating_add(b_len) <= x {
                true => Meeting::Never,
                false if x == y && a_len == b_len => Meeting::Always,
                false => Meeting::Perhaps,
            };
        }
        let modulus = greatest_common_divisor(a.residue.1, b.residue.1);
        // From where the first starts to where the second may, going on by the modulus.
        let distance = (b.residue.0 % modulus + modulus - a.residue.0 % modulus) % modulus;
        if distance == 0 && a_len == b_len && a_len <= modulus {
            let same = self.same_place(a, b);
            return match self.host.truth(&same) {
                Some(true) => Meeting::Always,
                Some(false) => Meeting::Never,
                None => Meeting::When(same),
            };
        }
        if distance >= a_len && modulus - distance >= b_len { Meeting::Never } else { Meeting::Perhaps }
    }

    /// One bit of a number of 64 bits.
    pub(super) fn bit(&self, number: &C::Val, bit: u16) -> C::Bool {
        let core = self.host.core();
        core.val_to_bool(1, &core.extract(64, bit, 1, number))
    }
}
