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
        let divisor = divisor_of(factor, unit, most)?;
        if divisor > most {
            return Some(self.number(width, 0));
        }
        let quotient = self.binop(BinOp::Udiv, x, self.number(bits, divisor));
        Some(if width <= bits { self.extract(quotient, 0, width) } else { self.zext(quotient, width) })
    }

    /// `(h + ((x - h) >> 1)) >> by`, if it is a quotient: with `h` the upper half of `zext(x) * factor` this is a product with
    /// one bit more than `x` has, `x * (2^N + factor) >> (N + 1 + by)`.
    pub(crate) fn quotient_of_halves(&self, sum: Term, by: Width) -> Option<Term> {
        let packed = self.packed(sum);
        if packed.op != Op::Bin(BinOp::Add) {
            return None;
        }
        [(packed.a, packed.b), (packed.b, packed.a)].into_iter().find_map(|(half, rest)| {
            let rest = self.packed(Term(rest));
            let is_half = rest.op == Op::Bin(BinOp::Lshr)
                && self.as_constant(Term(rest.b)).is_some_and(|distance| distance.is_one());
            let (x, factor) = self.upper_half(Term(half)).filter(|_| is_half)?;
            let bits = self.width(x);
            if self.sub(x, Term(half)) != Term(rest.a) {
                return None;
            }
            let most = (1u128 << bits) - 1;
            let unit = 1u128.checked_shl(u32::from(bits) + 1 + u32::from(by))?;
            let divisor = divisor_of((1u128 << bits).checked_add(factor)?, unit, most)?;
            (divisor <= most).then(|| self.binop(BinOp::Udiv, x, self.number(bits, divisor)))
        })
    }

    /// `x` and `factor`, of the upper half of `zext(x) * factor`.
    fn upper_half(&self, half: Term) -> Option<(Term, u128)> {
        let packed = self.packed(half);
        let bits = packed.width;
        if packed.op != Op::Extract || bits > 64 {
            return None;
        }
        let (mut product, mut low) = (Term(packed.a), u128::from(packed.b));
        let shifted = self.packed(product);
        if shifted.op == Op::Bin(BinOp::Lshr) {
            low += self.as_constant(Term(shifted.b))?.small()?;
            product = Term(shifted.a);
        }
        let packed = self.packed(product);
        let factor =
            self.as_constant(Term(packed.b)).filter(|_| packed.op == Op::Bin(BinOp::Mul))?.small()?;
        let extended = self.packed(Term(packed.a));
        let x = Term(extended.a);
        let fits = extended.op == Op::Zext && self.width(x) == bits && packed.width == 2 * bits;
        (fits && low == u128::from(bits) && factor >> bits == 0).then_some((x, factor))
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
        if !matches!(self.packed(b).op, Op::Concat | Op::Bin(BinOp::Mul | BinOp::Add | BinOp::Shl)) {
            return None;
        }
        if let Some(remainder) = self.remainder_of_sum(x, b) {
            return Some(remainder);
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

    /// The same where the product is spread over both sides, as in `(x + q) - 8 q`.
    fn remainder_of_sum(&self, a: Term, b: Term) -> Option<Term> {
        let (monomials, constant) = Linear::difference(self, a, b)?;
        let [one, other] = monomials[..] else { return None };
        if constant != 0 {
            return None;
        }
        [(one, other), (other, one)].into_iter().find_map(|((x, factor), (quotient, times))| {
            let (dividend, divisor) = self.as_quotient(quotient)?;
            let width = self.width(x);
            let negated = if width >= 128 { u128::MAX } else { (1 << width) - 1 } - divisor + 1;
            (factor == 1 && dividend == x && times == negated)
                .then(|| self.binop(BinOp::Urem, x, self.number(width, divisor)))
        })
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

/// The divisor of which `x * factor / unit`, rounded down, is the quotient for all `x` up to `most`; see
/// [`Store::quotient_of_product`].
fn divisor_of(factor: u128, unit: u128, most: u128) -> Option<u128> {
    let divisor = unit.div_ceil(factor);
    let excess = factor.checked_mul(divisor)? - unit;
    (divisor >= 2 && most.checked_mul(excess)? < unit).then_some(divisor)
}
