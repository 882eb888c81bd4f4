//! Division by constants.
//!
//! Compilers write a quotient by a constant as the upper half of a product (Granlund and Montgomery, *Division by Invariant
//! Integers using Multiplication*, 1994). Here it becomes a quotient again: its bounds are known, relations between it and
//! constants are relations of the dividend, and a circuit for it is small.

use crate::arith::Linear;
use crate::node::{Formula, Op, Term};
use crate::store::Store;
use parallax_op::{BinOp, RelOp, Width};

impl Store {
    /// `x / d`, the divisor a constant that is not zero; what has another shape is nothing.
    fn as_quotient(&self, a: Term) -> Option<(Term, u128)> {
        let packed = self.packed(a);
        let divisor = match packed.op {
            Op::Bin(BinOp::Udiv) => self.as_constant(Term(packed.b))?.small()?,
            _ => return None,
        };
        (divisor > 0).then_some((Term(packed.a), divisor))
    }

    /// Bits `low` and up of `zext(x) * factor`, `width` of them, if they are those of a quotient.
    ///
    /// With `d = ceil(2^low / factor)` and `e = factor * d - 2^low`, the product divided by `2^low` is `x / d + x e / (d 2^low)`. If
    /// `x e < 2^low` for every `x`, that is not enough to come to the next whole number.
    pub(crate) fn quotient_of_product(&self, product: Term, low: Width, width: Width) -> Option<Term> {
        let packed = self.packed(product);
        if packed.op != Op::Bin(BinOp::Mul) || packed.width > 128 || low + width != packed.width {
            return None;
        }
        let extended = self.packed(Term(packed.a));
        let factor = self.as_constant(Term(packed.b))?.small()?;
        if extended.op != Op::Zext || low >= 127 {
            return None;
        }
        let x = Term(extended.a);
        let bits = self.width(x);
        let (unit, most) = (1u128 << low, 1u128.checked_shl(bits.into())? - 1);
        // The product must not lose its upper bits.
        let largest = most.checked_mul(factor)?;
        if packed.width < 128 && largest >> packed.width != 0 {
            return None;
        }
        let divisor = unit.div_ceil(factor);
        let excess = factor.checked_mul(divisor)? - unit;
        if divisor < 2 || most.checked_mul(excess)? >= unit {
            return None;
        }
        if divisor > most {
            return Some(self.number(width, 0));
        }
        let quotient = self.binop(BinOp::Udiv, x, self.number(bits, divisor));
        Some(if width <= bits { self.extract(quotient, 0, width) } else { self.zext(quotient, width) })
    }

    /// The low bits of a quotient, extended with zeros, if those above are zero anyway: the quotient at that width.
    pub(crate) fn whole_quotient(&self, low_bits: Term, width: Width) -> Option<Term> {
        let packed = self.packed(low_bits);
        if packed.op != Op::Extract || packed.b != 0 {
            return None;
        }
        let quotient = Term(packed.a);
        let (x, divisor) = self.as_quotient(quotient)?;
        let bits = self.width(x);
        let most = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 } / divisor;
        if packed.width < 128 && most >> packed.width != 0 {
            return None;
        }
        Some(if width <= bits { self.extract(quotient, 0, width) } else { self.zext(quotient, width) })
    }

    /// `x - d * (x / d)` is the remainder.
    pub(crate) fn remainder_of_difference(&self, x: Term, b: Term) -> Option<Term> {
        if !matches!(self.packed(b).op, Op::Bin(BinOp::Mul | BinOp::Add | BinOp::Shl)) {
            return None;
        }
        let (quotient, factor) = Linear::only(self, b)?;
        let (dividend, divisor) = self.as_quotient(quotient)?;
        // The quotient of a quotient has become one quotient.
        let same = dividend == x && factor == divisor;
        let nested = || {
            let (inner, before) = self.as_quotient(x)?;
            (inner == dividend && before.checked_mul(factor)? == divisor).then_some(())
        };
        (factor > 0 && (same || nested().is_some()))
            .then(|| self.binop(BinOp::Urem, x, self.number(self.width(x), factor)))
    }

    /// `(x / c) / d` is `x / (c d)`, if that number fits.
    pub(crate) fn quotient_of_quotient(&self, a: Term, divisor: u128) -> Option<Term> {
        let (x, inner) = self.as_quotient(a)?;
        let width = self.width(x);
        let both = inner.checked_mul(divisor)?;
        let fits = width >= 128 || both >> width == 0;
        Some(match fits {
            true => self.binop(BinOp::Udiv, x, self.number(width, both)),
            false => self.number(width, 0),
        })
    }

    /// `x / d < k`, as a relation of `x`.
    pub(crate) fn quotient_below(&self, a: Term, k: u128) -> Option<Formula> {
        let (x, divisor) = self.as_quotient(a)?;
        let width = self.width(x);
        Some(match k.checked_mul(divisor).filter(|end| width >= 128 || end >> width == 0) {
            Some(end) => self.relop(RelOp::Ult, x, self.number(width, end)),
            None => self.true_(),
        })
    }

    /// `x / d = k`, as a relation of `x`.
    pub(crate) fn quotient_equals(&self, a: Term, k: u128) -> Option<Formula> {
        let (x, divisor) = self.as_quotient(a)?;
        let width = self.width(x);
        let fits = |number: &u128| width >= 128 || number >> width == 0;
        let Some(first) = k.checked_mul(divisor).filter(fits) else { return Some(self.false_()) };
        let start = self.number(width, first);
        let end = first.checked_add(divisor).filter(fits);
        Some(match end {
            Some(_) => self.relop(RelOp::Ult, self.sub(x, start), self.number(width, divisor)),
            None => self.relop(RelOp::Ule, start, x),
        })
    }
}
