//! Floating-point operators on terms: constants fold, everything else is kept as written.

use crate::node::{Formula, Op, Packed, Term};
use crate::store::Store;
use parallax_op::{FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, Rounding, Width, float};

impl Store {
    /// An operator on one float.
    pub fn float_un(&self, op: FloatUnOp, rounding: Rounding, a: Term) -> Term {
        match self.as_constant(a) {
            Some(k) => self.constant(&op.apply(rounding, &k)),
            None => Term(self.intern(Packed::new(Op::FloatUn(op), self.width(a), a.0, 0, rounding as u32))),
        }
    }

    /// An operator on two floats.
    pub fn float_bin(&self, op: FloatBinOp, rounding: Rounding, a: Term, b: Term) -> Term {
        assert_eq!(self.width(a), self.width(b), "operands of {op:?} have one format");
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(x), Some(y)) => self.constant(&op.apply(rounding, &x, &y)),
            _ => Term(self.intern(Packed::new(Op::FloatBin(op), self.width(a), a.0, b.0, rounding as u32))),
        }
    }

    /// `a * b + c`, rounded once.
    pub fn float_fma(&self, rounding: Rounding, a: Term, b: Term, c: Term) -> Term {
        match (self.as_constant(a), self.as_constant(b), self.as_constant(c)) {
            (Some(x), Some(y), Some(z)) => self.constant(&float::fused_multiply_add(rounding, &x, &y, &z)),
            _ => Term(self.intern(Packed::new(Op::Fma(rounding), self.width(a), a.0, b.0, c.0))),
        }
    }

    /// A relation between two floats.
    pub fn float_rel(&self, op: FloatRelOp, a: Term, b: Term) -> Formula {
        assert_eq!(self.width(a), self.width(b), "operands of {op:?} have one format");
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(x), Some(y)) => self.boolean(op.apply(&x, &y)),
            _ => Formula(self.intern(Packed::new(Op::FloatRel(op), 0, a.0, b.0, 0))),
        }
    }

    /// A float in another format.
    pub fn float_to_float(&self, rounding: Rounding, a: Term, to: FloatFormat) -> Term {
        match self.as_constant(a) {
            Some(k) => self.constant(&float::float_to_float(rounding, &k, to)),
            None => Term(self.intern(Packed::new(Op::FloatToFloat(rounding), to.width(), a.0, 0, 0))),
        }
    }

    /// An integer as a float.
    pub fn int_to_float(&self, signed: bool, rounding: Rounding, a: Term, to: FloatFormat) -> Term {
        if let Some(k) = self.as_constant(a) {
            return self.constant(&float::int_to_float(signed, rounding, &k, to));
        }
        let op = if signed { Op::SintToFloat(rounding) } else { Op::UintToFloat(rounding) };
        Term(self.intern(Packed::new(op, to.width(), a.0, 0, 0)))
    }

    /// A float as an integer of `width` bits.
    pub fn float_to_int(&self, signed: bool, rounding: Rounding, a: Term, width: Width) -> Term {
        if let Some(k) = self.as_constant(a) {
            return self.constant(&float::float_to_int(signed, rounding, &k, width));
        }
        let op = if signed { Op::FloatToSint(rounding) } else { Op::FloatToUint(rounding) };
        Term(self.intern(Packed::new(op, width, a.0, 0, 0)))
    }
}
