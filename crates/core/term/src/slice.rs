//! Terms: cutting vectors and putting them together.

use crate::node::{Op, Packed, Term};
use crate::store::Store;
use parallax_op::{BinOp, Bits, UnOp, Width};

/// How many nested operators a cut is pushed through.
const OPERATORS: usize = 8;

/// How many nested bitwise operators are looked through for operands that a cut makes simpler.
pub(crate) const BITS: u32 = 8;

impl Store {
    /// Bits `low` to `low + width - 1`.
    pub fn extract(&self, a: Term, low: Width, width: Width) -> Term {
        self.extract_through(a, low, width, OPERATORS)
    }

    /// The same, pushed through at most `operators` operators.
    fn extract_through(&self, a: Term, low: Width, width: Width, operators: usize) -> Term {
        let cut = |low: Width, x: u32| self.extract_through(Term(x), low, width, operators.saturating_sub(1));
        let mut a = a;
        let mut low = low;
        loop {
            let packed = self.packed(a);
            assert!(
                width > 0 && low + width <= packed.width,
                "bits {low}..{} of {}",
                low + width,
                packed.width
            );
            if width == packed.width {
                return a;
            }
            if let Some(k) = self.constant_of(&packed) {
                return self.constant(&k.extract(low, width));
            }
            match packed.op {
                Op::Extract => {
                    low += packed.b as Width;
                    a = Term(packed.a);
                }
                Op::Concat => {
                    let split = self.width(Term(packed.b));
                    if low >= split {
                        low -= split;
                        a = Term(packed.a);
                    } else if low + width <= split {
                        a = Term(packed.b);
                    } else {
                        let high = self.extract(Term(packed.a), 0, low + width - split);
                        return self.concat(high, self.extract(Term(packed.b), low, split - low));
                    }
                }
                Op::Zext | Op::Sext => {
                    let inner = self.width(Term(packed.a));
                    if low + width <= inner {
                        a = Term(packed.a);
                    } else if low >= inner && packed.op == Op::Zext {
                        return self.number(width, 0);
                    } else if low == 0 {
                        let part = Term(packed.a);
                        return if packed.op == Op::Zext {
                            self.zext(part, width)
                        } else {
                            self.sext(part, width)
                        };
                    } else if packed.op == Op::Zext {
                        return self.zext(self.extract(Term(packed.a), low, inner - low), width);
                    } else {
                        break;
                    }
                }
                Op::Bin(BinOp::Mul) if let Some(quotient) = self.quotient_of_product(a, low, width) => {
                    return quotient;
                }
                Op::Ite => match self.constant_branches(a) {
                    Some((c, t, e)) => {
                        let bits = |k: &Bits| self.constant(&k.extract(low, width));
                        return self.ite(c, bits(&t), bits(&e));
                    }
                    None => break,
                },
                Op::Bin(BinOp::And)
                    if self.as_constant(Term(packed.b)).is_some_and(|k| k.extract(low, width).is_zero()) =>
                {
                    return self.number(width, 0);
                }
                // Bitwise operators work on each bit alone; sums and products on low bits alone. Worth it only where
                // both parts get simpler.
                Op::Bin(op) if operators > 0 && self.both_cut_well(&packed) => {
                    let bitwise = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor);
                    let low_only = low == 0 && matches!(op, BinOp::Add | BinOp::Mul);
                    if !bitwise && !low_only {
                        break;
                    }
                    return self.binop(op, cut(low, packed.a), cut(low, packed.b));
                }
                Op::Un(op @ (UnOp::Not | UnOp::Neg)) if operators > 0 && self.cuts_well(packed.a, 0) => {
                    if op == UnOp::Neg && low != 0 {
                        break;
                    }
                    return self.unop(op, cut(low, packed.a));
                }
                _ => break,
            }
        }
        Term(self.intern(Packed::new(Op::Extract, width, a.0, low.into(), 0)))
    }

    /// Whether both operands get simpler when they are cut. Bits that are put together one by one, as PowerPC's condition
    /// register is, do so however many there are.
    fn both_cut_well(&self, packed: &Packed) -> bool {
        let bitwise = matches!(packed.op, Op::Bin(BinOp::And | BinOp::Or | BinOp::Xor));
        let deep = if bitwise { BITS } else { 0 };
        self.cuts_well(packed.a, deep) && self.cuts_well(packed.b, deep)
    }

    fn cuts_well(&self, a: u32, deep: u32) -> bool {
        let packed = self.packed(Term(a));
        match packed.op {
            Op::Const | Op::WideConst | Op::Concat | Op::Zext | Op::Sext | Op::Extract => true,
            Op::Ite if deep > 0 => self.constant_branches(Term(a)).is_some(),
            // A mask of a few bits.
            Op::Bin(BinOp::And) if deep > 0 && self.as_constant(Term(packed.b)).is_some() => true,
            Op::Bin(BinOp::Or | BinOp::Xor) if deep > 0 => {
                self.cuts_well(packed.a, deep - 1) && self.cuts_well(packed.b, deep - 1)
            }
            _ => false,
        }
    }

    /// `high` above `low`.
    pub fn concat(&self, high: Term, low: Term) -> Term {
        // Nested to the right, so that neighbours meet: (a ++ b) ++ c is a ++ (b ++ c).
        let mut pieces = Vec::new();
        let mut rest = high;
        while self.packed(rest).op == Op::Concat {
            let packed = self.packed(rest);
            pieces.push(Term(packed.a));
            rest = Term(packed.b);
        }
        pieces.push(rest);
        pieces.into_iter().rev().fold(low, |joined, piece| self.prepend(piece, joined))
    }

    /// `high`, which is no concatenation, above `low`.
    fn prepend(&self, high: Term, low: Term) -> Term {
        let (ph, pl) = (self.packed(high), self.packed(low));
        let width = ph.width + pl.width;
        assert!(width <= parallax_op::MAX_WIDTH, "a concatenation of {width} bits");
        if pl.op == Op::Concat
            && let Some(joined) = self.fuse(high, Term(pl.a))
        {
            return self.prepend(joined, Term(pl.b));
        }
        if let Some(joined) = self.fuse(high, low) {
            return joined;
        }
        match self.constant_of(&ph) {
            Some(k) if k.is_zero() => self.zext(low, width),
            _ => Term(self.intern(Packed::new(Op::Concat, width, high.0, low.0, 0))),
        }
    }

    /// Two neighbours as one piece: constants, or adjoining cuts of one vector.
    fn fuse(&self, high: Term, low: Term) -> Option<Term> {
        let (ph, pl) = (self.packed(high), self.packed(low));
        if let (Some(x), Some(y)) = (self.constant_of(&ph), self.constant_of(&pl)) {
            return Some(self.constant(&x.concat(&y)));
        }
        if ph.op != Op::Extract {
            return None;
        }
        let (low_of, low_from) = if pl.op == Op::Extract { (pl.a, pl.b) } else { (low.0, 0) };
        (ph.a == low_of && ph.b == low_from + u32::from(pl.width))
            .then(|| self.extract(Term(low_of), low_from as Width, ph.width + pl.width))
    }

    /// The same unsigned number in `width` bits.
    pub fn zext(&self, a: Term, width: Width) -> Term {
        let packed = self.packed(a);
        assert!(width >= packed.width, "{} bits extended to {width}", packed.width);
        if width == packed.width {
            return a;
        }
        if let Some(k) = self.constant_of(&packed) {
            return self.constant(&k.zext(width));
        }
        if let Some((c, t, e)) = self.constant_branches(a) {
            return self.ite(c, self.constant(&t.zext(width)), self.constant(&e.zext(width)));
        }
        if let Some(quotient) = self.whole_quotient(a, width) {
            return quotient;
        }
        let inner = if packed.op == Op::Zext { packed.a } else { a.0 };
        Term(self.intern(Packed::new(Op::Zext, width, inner, 0, 0)))
    }

    /// The same signed number in `width` bits.
    pub fn sext(&self, a: Term, width: Width) -> Term {
        let packed = self.packed(a);
        assert!(width >= packed.width, "{} bits extended to {width}", packed.width);
        if width == packed.width {
            return a;
        }
        if let Some(k) = self.constant_of(&packed) {
            return self.constant(&k.sext(width));
        }
        if let Some((c, t, e)) = self.constant_branches(a) {
            return self.ite(c, self.constant(&t.sext(width)), self.constant(&e.sext(width)));
        }
        match packed.op {
            // The sign of a zero extension is clear.
            Op::Zext => self.zext(Term(packed.a), width),
            Op::Sext => Term(self.intern(Packed::new(Op::Sext, width, packed.a, 0, 0))),
            _ => Term(self.intern(Packed::new(Op::Sext, width, a.0, 0, 0))),
        }
    }
}
