//! Taint analysis: which inputs a value may depend on.
//!
//! Inputs are numbered; a value carries the set of those that reached it, through data, through the key of a memory
//! access, or through the condition of a choice.

use parallax_op::{BinOp, Bits, RelOp, UnOp, Width};
use parallax_sem::{Domain, Truth};

/// A set of up to 64 inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Taint(pub u64);

impl Taint {
    /// Nothing but constants.
    pub const CLEAN: Taint = Taint(0);

    /// Input number `index`; those past 63 share the last.
    pub fn input(index: usize) -> Taint {
        Taint(1 << index.min(63))
    }

    /// Both sets together.
    pub fn union(self, other: Taint) -> Taint {
        Taint(self.0 | other.0)
    }

    /// Whether an input may have reached the value.
    pub fn reached_by(self, index: usize) -> bool {
        self.0 >> index.min(63) & 1 == 1
    }
}

impl Domain for Taint {
    fn constant(_: &Bits) -> Self {
        Taint::CLEAN
    }
    fn top() -> Self {
        Taint(u64::MAX)
    }
    fn join(&self, other: &Self) -> Self {
        self.union(*other)
    }
    fn unop(_: UnOp, _: Width, a: &Self) -> Self {
        *a
    }
    fn binop(_: BinOp, _: Width, a: &Self, b: &Self) -> Self {
        a.union(*b)
    }
    fn relop(_: RelOp, _: Width, a: &Self, b: &Self) -> (Truth, Self) {
        (Truth::Unknown, a.union(*b))
    }
    fn cond(b: &Self, chosen: Self) -> Self {
        b.union(chosen)
    }
    fn extract(_: Width, _: Width, _: Width, a: &Self) -> Self {
        *a
    }
    fn concat(_: Width, _: Width, high: &Self, low: &Self) -> Self {
        high.union(*low)
    }
    fn zext(_: Width, _: Width, a: &Self) -> Self {
        *a
    }
    fn sext(_: Width, _: Width, a: &Self) -> Self {
        *a
    }
    fn mixed(operands: &[&Self]) -> Self {
        operands.iter().fold(Taint::CLEAN, |all, one| all.union(**one))
    }
}
