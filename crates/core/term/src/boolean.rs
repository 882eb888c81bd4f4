//! Formulas: negation, connectives, if-then-else.

use crate::node::{Formula, FuncExpr, Op, Packed, Term};
use crate::store::Store;
use parallax_op::{BoolOp, RelOp};

impl Store {
    /// Negation.
    pub fn not(&self, a: Formula) -> Formula {
        let packed = self.packed(a);
        match packed.op {
            Op::True => self.false_(),
            Op::False => self.true_(),
            Op::Not => Formula(packed.a),
            // Strict and weak order are each other's negation, exchanged; equality keeps its negation.
            Op::Rel(op) if op != RelOp::Eq => self.relop(op.negation(), Term(packed.a), Term(packed.b)),
            _ => Formula(self.intern(Packed::new(Op::Not, 0, a.0, 0, 0))),
        }
    }

    /// Whether one is the other's negation, without building anything.
    fn complementary(&self, a: Formula, b: Formula) -> bool {
        let (pa, pb) = (self.packed(a), self.packed(b));
        (pa.op == Op::Not && pa.a == b.0)
            || (pb.op == Op::Not && pb.a == a.0)
            || match (pa.op, pb.op) {
                (Op::Rel(RelOp::Ult), Op::Rel(RelOp::Ule))
                | (Op::Rel(RelOp::Ule), Op::Rel(RelOp::Ult))
                | (Op::Rel(RelOp::Slt), Op::Rel(RelOp::Sle))
                | (Op::Rel(RelOp::Sle), Op::Rel(RelOp::Slt)) => pa.a == pb.b && pa.b == pb.a,
                _ => false,
            }
    }

    /// Conjunction.
    pub fn and(&self, a: Formula, b: Formula) -> Formula {
        self.lattice(BoolOp::And, a, b)
    }

    /// Disjunction.
    pub fn or(&self, a: Formula, b: Formula) -> Formula {
        self.lattice(BoolOp::Or, a, b)
    }

    /// Conjunction or disjunction: the same rules, with the roles of the constants exchanged.
    fn lattice(&self, op: BoolOp, a: Formula, b: Formula) -> Formula {
        let neutral = self.boolean(op == BoolOp::And);
        let zero = self.boolean(op == BoolOp::Or);
        if a == neutral || a == b {
            return b;
        }
        if b == neutral {
            return a;
        }
        if a == zero || b == zero || self.complementary(a, b) {
            return zero;
        }
        if let Some(one) = self.joint(op, a, b) {
            return one;
        }
        for (x, y) in [(a, b), (b, a)] {
            let packed = self.packed(x);
            let Op::Bool(inner) = packed.op else { continue };
            let (left, right) = (Formula(packed.a), Formula(packed.b));
            if inner == op {
                // y && (y && z), y && (!y && z)
                if left == y || right == y {
                    return x;
                }
                if self.complementary(left, y) || self.complementary(right, y) {
                    return zero;
                }
                if let Some(one) = self.joint(op, left, y) {
                    return self.pair(op, one, right);
                }
                if let Some(one) = self.joint(op, right, y) {
                    return self.pair(op, left, one);
                }
            } else if matches!(inner, BoolOp::And | BoolOp::Or) {
                // y && (y || z), y && (!y || z)
                if left == y || right == y {
                    return y;
                }
                if self.complementary(left, y) {
                    return self.lattice(op, y, right);
                }
                if self.complementary(right, y) {
                    return self.lattice(op, y, left);
                }
                // y decides one side: n > 5 && (n < 3 || z), n > 5 && (n > 3 || z)
                for (side, rest) in [(left, right), (right, left)] {
                    match self.combined(op, side, y) {
                        Some(one) if one == zero => return self.pair(op, y, rest),
                        Some(one) if one == y => return y,
                        _ => {}
                    }
                }
            }
        }
        self.pair(op, a, b)
    }

    /// Two formulas in one: two ranges, or two ranges beside the same formula, as in `z && n < 3 || z && n = 3`.
    fn joint(&self, op: BoolOp, a: Formula, b: Formula) -> Option<Formula> {
        let (pa, pb) = (self.packed(a), self.packed(b));
        let (Op::Bool(f), Op::Bool(g)) = (pa.op, pb.op) else { return self.combined(op, a, b) };
        let dual = if op == BoolOp::And { BoolOp::Or } else { BoolOp::And };
        if f != dual || g != dual {
            return self.combined(op, a, b);
        }
        let shared = [
            (pa.a, pa.b, pb.a, pb.b),
            (pa.a, pa.b, pb.b, pb.a),
            (pa.b, pa.a, pb.a, pb.b),
            (pa.b, pa.a, pb.b, pb.a),
        ]
        .into_iter()
        .find(|(x, _, y, _)| x == y);
        match shared {
            Some((x, y, _, z)) => {
                let one = self.combined(op, Formula(y), Formula(z))?;
                Some(self.pair(dual, Formula(x), one))
            }
            None => self.combined(op, a, b),
        }
    }

    /// A connective of two formulas that are known to have nothing to say to each other, the constants apart.
    pub(crate) fn pair(&self, op: BoolOp, a: Formula, b: Formula) -> Formula {
        let neutral = self.boolean(op == BoolOp::And);
        if a == neutral || a == b {
            return b;
        }
        if b == neutral {
            return a;
        }
        let zero = self.not(neutral);
        if a == zero || b == zero || self.complementary(a, b) {
            return zero;
        }
        let (a, b) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        Formula(self.intern(Packed::new(Op::Bool(op), 0, a.0, b.0, 0)))
    }

    /// The conjunction of many.
    pub fn all(&self, formulas: impl IntoIterator<Item = Formula>) -> Formula {
        formulas.into_iter().fold(self.true_(), |all, next| self.and(all, next))
    }

    /// The disjunction of many.
    pub fn any(&self, formulas: impl IntoIterator<Item = Formula>) -> Formula {
        formulas.into_iter().fold(self.false_(), |any, next| self.or(any, next))
    }

    /// If the first then the second.
    pub fn implies(&self, a: Formula, b: Formula) -> Formula {
        self.or(self.not(a), b)
    }

    /// Both or neither.
    pub fn iff(&self, a: Formula, b: Formula) -> Formula {
        if let Some(value) = self.as_boolean(a) {
            return if value { b } else { self.not(b) };
        }
        if let Some(value) = self.as_boolean(b) {
            return if value { a } else { self.not(a) };
        }
        if a == b {
            return self.true_();
        }
        if self.complementary(a, b) {
            return self.false_();
        }
        if let Some(order) = self.order_by_flags(a, b) {
            return order;
        }
        // Negations move outwards, so that !a <=> b and a <=> !b are one formula.
        let (negated_a, bare_a) = self.strip_not(a);
        let (negated_b, bare_b) = self.strip_not(b);
        let (x, y) = if bare_a.0 <= bare_b.0 { (bare_a, bare_b) } else { (bare_b, bare_a) };
        let iff = Formula(self.intern(Packed::new(Op::Bool(BoolOp::Iff), 0, x.0, y.0, 0)));
        if negated_a != negated_b { self.not(iff) } else { iff }
    }

    fn strip_not(&self, a: Formula) -> (bool, Formula) {
        let packed = self.packed(a);
        if packed.op == Op::Not { (true, Formula(packed.a)) } else { (false, a) }
    }

    /// A connective.
    pub fn boolop(&self, op: BoolOp, a: Formula, b: Formula) -> Formula {
        match op {
            BoolOp::And => self.and(a, b),
            BoolOp::Or => self.or(a, b),
            BoolOp::Xor => self.not(self.iff(a, b)),
            BoolOp::Implies => self.implies(a, b),
            BoolOp::Iff => self.iff(a, b),
        }
    }

    /// If-then-else on formulas.
    pub fn ite_bool(&self, c: Formula, t: Formula, e: Formula) -> Formula {
        if let Some(c) = self.as_boolean(c) {
            return if c { t } else { e };
        }
        if t == e {
            return t;
        }
        match (self.as_boolean(t), self.as_boolean(e)) {
            (Some(true), Some(false)) => return c,
            (Some(false), Some(true)) => return self.not(c),
            (Some(true), _) => return self.or(c, e),
            (Some(false), _) => return self.and(self.not(c), e),
            (_, Some(true)) => return self.or(self.not(c), t),
            (_, Some(false)) => return self.and(c, t),
            _ => {}
        }
        let (negated, c) = self.strip_not(c);
        let (t, e) = if negated { (e, t) } else { (t, e) };
        if c == t {
            return self.or(c, e);
        }
        if c == e {
            return self.and(c, t);
        }
        if self.complementary(t, e) {
            return self.iff(c, t);
        }
        Formula(self.intern(Packed::new(Op::Ite, 0, c.0, t.0, e.0)))
    }

    /// If-then-else on terms.
    pub fn ite(&self, c: Formula, t: Term, e: Term) -> Term {
        let width = self.width(t);
        debug_assert_eq!(width, self.width(e), "branches of one width");
        Term(self.ite_of(Op::Ite, width, c, t.0, e.0))
    }

    /// If-then-else that keeps to the simplifications that hold for terms and maps alike.
    pub(crate) fn ite_of(&self, op: Op, width: u16, c: Formula, t: u32, e: u32) -> u32 {
        if let Some(c) = self.as_boolean(c) {
            return if c { t } else { e };
        }
        let (negated, c) = self.strip_not(c);
        let (mut t, mut e) = if negated { (e, t) } else { (t, e) };
        // ite(c, ite(c, x, y), z) = ite(c, x, z), and likewise below.
        let pt = self.packed(crate::Id(t));
        if pt.op == op && pt.a == c.0 {
            t = pt.b;
        }
        let pe = self.packed(crate::Id(e));
        if pe.op == op && pe.a == c.0 {
            e = pe.c;
        }
        if t == e {
            return t;
        }
        let pe = self.packed(crate::Id(e));
        // ite(c, x, ite(d, x, y)) = ite(c || d, x, y)
        if pe.op == op && pe.b == t {
            let either = self.or(c, Formula(pe.a));
            if self.as_boolean(either).is_none() {
                return self.intern(Packed::new(op, width, either.0, t, pe.c));
            }
        }
        self.intern(Packed::new(op, width, c.0, t, e))
    }

    /// If-then-else on maps. Changes of both branches at the same keys become one change with a conditional value.
    pub fn ite_map(&self, c: Formula, t: FuncExpr, e: FuncExpr) -> FuncExpr {
        if let Some(c) = self.as_boolean(c) {
            return if c { t } else { e };
        }
        if t == e {
            return t;
        }
        if let Some(merged) = self.merge_updates(c, t, e) {
            return merged;
        }
        FuncExpr(self.ite_of(Op::IteMap, self.packed(t).width, c, t.0, e.0))
    }

    /// A conditional choice with one formula for each alternative: the first that holds, else the last value.
    pub fn choose(
        &self,
        alternatives: impl DoubleEndedIterator<Item = (Formula, Term)>,
        otherwise: Term,
    ) -> Term {
        alternatives.rev().fold(otherwise, |rest, (condition, value)| self.ite(condition, value, rest))
    }
}
