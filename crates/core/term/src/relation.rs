//! Formulas: relations between terms.
//!
//! Five relations are stored: `=`, `<u`, `<=u`, `<`, `<=`. The others are these, negated or exchanged. An equality
//! puts the simpler side right: a constant, else a symbol, else the older term.

use crate::node::{Formula, Op, Packed, Term};
use crate::store::Store;
use parallax_op::{BinOp, Bits, RelOp, UnOp};

/// How deep an equality looks into nested conditionals for a decision.
const ITE_DEPTH: usize = 16;

impl Store {
    /// A relation between two terms of one width.
    pub fn relop(&self, op: RelOp, a: Term, b: Term) -> Formula {
        assert_eq!(self.width(a), self.width(b), "operands of {op:?} have one width");
        match op {
            RelOp::Eq => self.equal(a, b, ITE_DEPTH),
            RelOp::Ne => self.not(self.equal(a, b, ITE_DEPTH)),
            RelOp::Ugt | RelOp::Uge | RelOp::Sgt | RelOp::Sge => self.order(op.swapped(), b, a),
            RelOp::Ult | RelOp::Ule | RelOp::Slt | RelOp::Sle => self.order(op, a, b),
        }
    }

    /// Equality.
    pub fn eq(&self, a: Term, b: Term) -> Formula {
        self.relop(RelOp::Eq, a, b)
    }

    /// Disequality.
    pub fn ne(&self, a: Term, b: Term) -> Formula {
        self.relop(RelOp::Ne, a, b)
    }

    pub(crate) fn raw_rel(&self, op: RelOp, a: Term, b: Term) -> Formula {
        Formula(self.intern(Packed::new(Op::Rel(op), 0, a.0, b.0, 0)))
    }

    fn equal(&self, a: Term, b: Term, depth: usize) -> Formula {
        let (mut a, mut b) = (a, b);
        loop {
            if a == b {
                return self.true_();
            }
            if self.definitely_different(a, b) {
                return self.false_();
            }
            if let Some(k) = self.as_constant(a) {
                return self.equal_constant(b, k, depth);
            }
            if let Some(k) = self.as_constant(b) {
                return self.equal_constant(a, k, depth);
            }
            if let Some(same) = self.same_choice(a, b) {
                return same;
            }
            let (pa, pb) = (self.packed(a), self.packed(b));
            match self.cancel(&pa, &pb) {
                Some(rest) => (a, b) = rest,
                None => {
                    let is_symbol = |p: &Packed| p.op == Op::Symbol;
                    let swap = match (is_symbol(&pa), is_symbol(&pb)) {
                        (true, false) => true,
                        (false, true) => false,
                        _ => a.0 > b.0,
                    };
                    return if swap { self.raw_rel(RelOp::Eq, b, a) } else { self.raw_rel(RelOp::Eq, a, b) };
                }
            }
        }
    }

    /// Two choices between the same two constants are equal where the same is chosen: flags that are kept as numbers.
    fn same_choice(&self, a: Term, b: Term) -> Option<Formula> {
        let ((c, t, e), (d, u, f)) = (self.constant_branches(a)?, self.constant_branches(b)?);
        if t == e {
            return None;
        }
        match (t == u && e == f, t == f && e == u) {
            (true, _) => Some(self.iff(c, d)),
            (_, true) => Some(self.iff(c, self.not(d))),
            _ => None,
        }
    }

    /// Equal changes on both sides of an equality cancel: x + z = y + z, x ^ z = y ^ z, ~x = ~y, -x = -y.
    fn cancel(&self, pa: &Packed, pb: &Packed) -> Option<(Term, Term)> {
        match (pa.op, pb.op) {
            (Op::Bin(f), Op::Bin(g)) if f == g && matches!(f, BinOp::Add | BinOp::Xor) => {
                let sides = [
                    (pa.a, pa.b, pb.a, pb.b),
                    (pa.a, pa.b, pb.b, pb.a),
                    (pa.b, pa.a, pb.a, pb.b),
                    (pa.b, pa.a, pb.b, pb.a),
                ];
                sides.into_iter().find(|(x, _, y, _)| x == y).map(|(_, x, _, y)| (Term(x), Term(y)))
            }
            (Op::Un(f @ (UnOp::Not | UnOp::Neg)), Op::Un(g)) if f == g => Some((Term(pa.a), Term(pb.a))),
            (Op::Zext, Op::Zext) | (Op::Sext, Op::Sext)
                if self.width(Term(pa.a)) == self.width(Term(pb.a)) =>
            {
                Some((Term(pa.a), Term(pb.a)))
            }
            _ => None,
        }
    }

    /// `a = k`, taking apart what a constant decides.
    fn equal_constant(&self, a: Term, k: Bits, depth: usize) -> Formula {
        let (mut a, mut k) = (a, k);
        loop {
            let packed = self.packed(a);
            if let Some(value) = self.constant_of(&packed) {
                return self.boolean(value == k);
            }
            match packed.op {
                Op::Bin(op @ (BinOp::Add | BinOp::Xor)) if self.as_constant(Term(packed.b)).is_some() => {
                    let inner = self.as_constant(Term(packed.b)).expect("a constant");
                    let undo = if op == BinOp::Add { BinOp::Sub } else { BinOp::Xor };
                    k = undo.apply(&k, &inner);
                    a = Term(packed.a);
                }
                // x - y = 0 and x ^ y = 0 say x = y.
                Op::Bin(BinOp::Add) if k.is_zero() && self.packed(Term(packed.b)).op == Op::Un(UnOp::Neg) => {
                    return self.equal(Term(packed.a), Term(self.packed(Term(packed.b)).a), depth);
                }
                Op::Bin(BinOp::Xor) if k.is_zero() => {
                    return self.equal(Term(packed.a), Term(packed.b), depth);
                }
                Op::Un(op @ (UnOp::Not | UnOp::Neg)) => {
                    k = op.apply(&k);
                    a = Term(packed.a);
                }
                Op::Zext | Op::Sext => {
                    let inner = self.width(Term(packed.a));
                    let low = k.extract(0, inner);
                    let back =
                        if packed.op == Op::Zext { low.zext(packed.width) } else { low.sext(packed.width) };
                    if back != k {
                        return self.false_();
                    }
                    k = low;
                    a = Term(packed.a);
                }
                Op::Bin(BinOp::Udiv)
                    if let Some(relation) = k.small().and_then(|k| self.quotient_equals(a, k)) =>
                {
                    return relation;
                }
                Op::Concat => {
                    let split = self.width(Term(packed.b));
                    let low = self.equal_constant(Term(packed.b), k.extract(0, split), 0);
                    if low == self.false_() {
                        return low;
                    }
                    let high = k.extract(split, packed.width - split);
                    return self.and(self.equal_constant(Term(packed.a), high, 0), low);
                }
                // A constant branch decides its side, so the condition comes out.
                Op::Ite if depth > 0 => {
                    let (c, t, e) = (Formula(packed.a), Term(packed.b), Term(packed.c));
                    if self.as_constant(t).is_none() && self.as_constant(e).is_none() {
                        return self.raw_rel(RelOp::Eq, a, self.constant(&k));
                    }
                    let then = self.equal_constant(t, k.clone(), depth - 1);
                    return self.ite_bool(c, then, self.equal_constant(e, k, depth - 1));
                }
                _ => {
                    let constant = self.constant(&k);
                    if self.definitely_different(a, constant) {
                        return self.false_();
                    }
                    return self.raw_rel(RelOp::Eq, a, constant);
                }
            }
        }
    }

    fn order(&self, op: RelOp, a: Term, b: Term) -> Formula {
        let strict = matches!(op, RelOp::Ult | RelOp::Slt);
        if a == b {
            return self.boolean(!strict);
        }
        let width = self.width(a);
        let signed = matches!(op, RelOp::Slt | RelOp::Sle);
        let (lowest, highest) = if signed {
            let lowest = BinOp::Shl.apply(&Bits::one(width), &Bits::from_big(width, (width - 1).into()));
            let highest = UnOp::Not.apply(&lowest);
            (if width == 1 { Bits::one(1) } else { lowest }, if width == 1 { Bits::zero(1) } else { highest })
        } else {
            (Bits::zero(width), Bits::ones(width))
        };
        let (ca, cb) = (self.as_constant(a), self.as_constant(b));
        match (&ca, &cb) {
            (Some(x), Some(y)) => return self.boolean(op.apply(x, y)),
            // Nothing is below the lowest; everything is at or above it.
            (Some(x), None) if *x == lowest => return if strict { self.ne(a, b) } else { self.true_() },
            (Some(x), None) if *x == highest => return if strict { self.false_() } else { self.eq(a, b) },
            (None, Some(y)) if *y == lowest => return if strict { self.false_() } else { self.eq(a, b) },
            (None, Some(y)) if *y == highest => return if strict { self.ne(a, b) } else { self.true_() },
            _ => {}
        }
        // A conditional between constants against a constant decides each branch.
        if let Some(k) = &cb
            && let Some((c, t, e)) = self.constant_branches(a)
        {
            return self.ite_bool(c, self.boolean(op.apply(&t, k)), self.boolean(op.apply(&e, k)));
        }
        if let Some(k) = &ca
            && let Some((c, t, e)) = self.constant_branches(b)
        {
            return self.ite_bool(c, self.boolean(op.apply(k, &t)), self.boolean(op.apply(k, &e)));
        }
        // Weak order against a constant becomes strict, so that one form remains: a <= k is a < k + 1, k <= b is
        // k - 1 < b; the ends of the range are gone by now.
        if !strict {
            let strict_op = if signed { RelOp::Slt } else { RelOp::Ult };
            let one = Bits::one(width);
            if let Some(y) = &cb {
                return self.order(strict_op, a, self.constant(&BinOp::Add.apply(y, &one)));
            }
            if let Some(x) = &ca {
                return self.order(strict_op, self.constant(&BinOp::Sub.apply(x, &one)), b);
            }
        }
        // By now k < b has a k that is not the highest.
        if op == RelOp::Ult
            && let Some(relation) = match (ca.and_then(|k| k.small()), cb.and_then(|k| k.small())) {
                (_, Some(k)) => self.quotient_below(a, k),
                (Some(k), _) => self.quotient_below(b, k + 1).map(|below| self.not(below)),
                _ => None,
            }
        {
            return relation;
        }
        let (pa, pb) = (self.packed(a), self.packed(b));
        match (pa.op, pb.op) {
            (Op::Zext, Op::Zext) if self.width(Term(pa.a)) == self.width(Term(pb.a)) => {
                let unsigned = if strict { RelOp::Ult } else { RelOp::Ule };
                return self.order(unsigned, Term(pa.a), Term(pb.a));
            }
            (Op::Sext, Op::Sext) if signed && self.width(Term(pa.a)) == self.width(Term(pb.a)) => {
                return self.order(op, Term(pa.a), Term(pb.a));
            }
            _ => {}
        }
        self.raw_rel(op, a, b)
    }
}
