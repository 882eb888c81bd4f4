//! Formulas: what comparisons with constants say together of one term.
//!
//! Conditions of loops pile up as `n > 0 && n > 1 && n > 2`, and joins as `n < 1 || n = 1`. Seen as ranges they are one
//! comparison each, and stay so however often a loop is unrolled.

use crate::node::{Formula, Op, Packed, Term};
use crate::store::Store;
use parallax_op::{Bits, BoolOp, RelOp, Width};

/// What a formula says of one term of 64 bits at most.
#[derive(Clone, Copy)]
enum Fact {
    /// The term is this constant.
    Is(u64),
    /// The term is not this constant.
    IsNot(u64),
    /// The term lies between, ends included, in one of the two orders.
    Between { signed: bool, low: i128, high: i128 },
}

/// The least and the greatest number of a width.
fn ends(width: Width, signed: bool) -> (i128, i128) {
    if signed { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) }
}

/// A constant as a number.
fn number(width: Width, signed: bool, constant: u64) -> i128 {
    let number = i128::from(constant);
    if signed && constant >> (width - 1) != 0 { number - (1 << width) } else { number }
}

impl Store {
    /// The conjunction or disjunction of two formulas on one term, when a single fact says it; an `and` of both bounds
    /// counts as single.
    pub(crate) fn combined(&self, op: BoolOp, a: Formula, b: Formula) -> Option<Formula> {
        if let Some(one) = self.one_comparison(op, a, b) {
            return Some(one);
        }
        let (term, fact_a) = self.fact(a)?;
        let (same, fact_b) = self.fact(b)?;
        if term != same {
            return None;
        }
        let width = self.width(term);
        if op == BoolOp::And {
            self.met(term, width, (a, fact_a), (b, fact_b))
        } else {
            self.joined(term, width, (a, fact_a), (b, fact_b))
        }
    }

    fn met(&self, term: Term, width: Width, a: (Formula, Fact), b: (Formula, Fact)) -> Option<Formula> {
        match (a.1, b.1) {
            (Fact::Is(k), other) => Some(if holds(width, other, k) { a.0 } else { self.false_() }),
            (other, Fact::Is(k)) => Some(if holds(width, other, k) { b.0 } else { self.false_() }),
            (Fact::IsNot(_), Fact::IsNot(_)) => None,
            (Fact::IsNot(k), Fact::Between { signed, low, high })
            | (Fact::Between { signed, low, high }, Fact::IsNot(k)) => {
                let k = number(width, signed, k);
                if k < low || high < k {
                    return Some(if matches!(a.1, Fact::IsNot(_)) { b.0 } else { a.0 });
                }
                match (k == low, k == high) {
                    (true, true) => Some(self.false_()),
                    (true, false) => Some(self.between(term, signed, low + 1, high)),
                    (false, true) => Some(self.between(term, signed, low, high - 1)),
                    (false, false) => None,
                }
            }
            (
                Fact::Between { signed, low, high },
                Fact::Between { signed: signed_b, low: low_b, high: high_b },
            ) => {
                let (low, high) = (low.max(low_b), high.min(high_b));
                (signed == signed_b).then(|| self.between(term, signed, low, high))
            }
        }
    }

    fn joined(&self, term: Term, width: Width, a: (Formula, Fact), b: (Formula, Fact)) -> Option<Formula> {
        match (a.1, b.1) {
            (Fact::IsNot(k), other) => Some(if holds(width, other, k) { self.true_() } else { a.0 }),
            (other, Fact::IsNot(k)) => Some(if holds(width, other, k) { self.true_() } else { b.0 }),
            (Fact::Is(_), Fact::Is(_)) => None,
            (Fact::Is(k), Fact::Between { signed, low, high })
            | (Fact::Between { signed, low, high }, Fact::Is(k)) => {
                let k = number(width, signed, k);
                (low - 1 <= k && k <= high + 1).then(|| self.between(term, signed, low.min(k), high.max(k)))
            }
            (
                Fact::Between { signed, low, high },
                Fact::Between { signed: signed_b, low: low_b, high: high_b },
            ) => {
                let touch = signed == signed_b && low <= high_b + 1 && low_b <= high + 1;
                touch.then(|| self.between(term, signed, low.min(low_b), high.max(high_b)))
            }
        }
    }

    /// The unsigned numbers between which a formula says that one term lies.
    pub(crate) fn unsigned_bounds(&self, formula: Formula) -> Option<(Term, u128, u128)> {
        let (term, fact) = self.fact(formula)?;
        let width = self.width(term);
        match fact {
            Fact::Is(k) => Some((term, k.into(), k.into())),
            Fact::IsNot(_) => None,
            Fact::Between { low, high, .. } => {
                let top = 1i128 << width.checked_sub(1)?;
                // A signed range is an unsigned one where it lies on one side of zero.
                let shift = if high < 0 { 2 * top } else { 0 };
                (low >= 0 || high < 0).then(|| (term, (low + shift) as u128, (high + shift) as u128))
            }
        }
    }

    /// What a formula says of one term, if it is a comparison with a constant or two bounds.
    fn fact(&self, formula: Formula) -> Option<(Term, Fact)> {
        let packed = self.packed(formula);
        match packed.op {
            Op::Rel(_) => self.comparison(&packed),
            Op::Not => match self.comparison(&self.packed(Formula(packed.a)))? {
                (term, Fact::Is(k)) => Some((term, Fact::IsNot(k))),
                _ => None,
            },
            Op::Bool(BoolOp::And) => {
                let (left, right) = (self.packed(Formula(packed.a)), self.packed(Formula(packed.b)));
                if !matches!((left.op, right.op), (Op::Rel(f), Op::Rel(g)) if f == g && f != RelOp::Eq) {
                    return None;
                }
                let ((term, one), (same, other)) = (self.comparison(&left)?, self.comparison(&right)?);
                let Fact::Between { signed, low, high } = one else { return None };
                let Fact::Between { low: low_b, high: high_b, .. } = other else { return None };
                let both = Fact::Between { signed, low: low.max(low_b), high: high.min(high_b) };
                (term == same).then_some((term, both))
            }
            _ => None,
        }
    }

    /// A stored comparison with a constant: `=`, or a strict order, the weak ones having become strict.
    fn comparison(&self, packed: &Packed) -> Option<(Term, Fact)> {
        let Op::Rel(op) = packed.op else { return None };
        let (pa, pb) = (self.packed(Term(packed.a)), self.packed(Term(packed.b)));
        let constant = |p: &Packed| u64::from(p.a) | u64::from(p.b) << 32;
        let signed = op == RelOp::Slt;
        match (op, pa.op, pb.op) {
            (RelOp::Eq, _, Op::Const) => Some((Term(packed.a), Fact::Is(constant(&pb)))),
            (RelOp::Slt | RelOp::Ult, _, Op::Const) => {
                let high = number(pb.width, signed, constant(&pb)) - 1;
                Some((Term(packed.a), Fact::Between { signed, low: ends(pb.width, signed).0, high }))
            }
            (RelOp::Slt | RelOp::Ult, Op::Const, _) => {
                let low = number(pa.width, signed, constant(&pa)) + 1;
                Some((Term(packed.b), Fact::Between { signed, low, high: ends(pa.width, signed).1 }))
            }
            _ => None,
        }
    }

    /// The formula for a range.
    fn between(&self, term: Term, signed: bool, low: i128, high: i128) -> Formula {
        let width = self.width(term);
        let (least, greatest) = ends(width, signed);
        let constant = |number: i128| self.constant(&Bits::from_i128(width, number));
        if low > high {
            return self.false_();
        }
        if low == high {
            return self.eq(term, constant(low));
        }
        let weak = if signed { RelOp::Sle } else { RelOp::Ule };
        let above = if low == least { self.true_() } else { self.relop(weak, constant(low), term) };
        let below = if high == greatest { self.true_() } else { self.relop(weak, term, constant(high)) };
        self.pair(BoolOp::And, above, below)
    }
}

/// Whether a fact holds of a constant.
fn holds(width: Width, fact: Fact, k: u64) -> bool {
    match fact {
        Fact::Is(other) => k == other,
        Fact::IsNot(other) => k != other,
        Fact::Between { signed, low, high } => (low..=high).contains(&number(width, signed, k)),
    }
}
