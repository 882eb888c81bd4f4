//! What two comparisons of the same two terms say together, and what the flags of a difference say of its sides.
//!
//! Processors compare by subtracting, and branch on the sign of the difference, on whether it overflowed, and on whether
//! it is zero. Read together these are the comparison that the program made.

use crate::node::{Formula, Op, Term};
use crate::store::Store;
use parallax_op::{BinOp, BoolOp, RelOp};

/// Outcomes of a comparison of two terms, as bits.
const BELOW: u8 = 1;
const EQUAL: u8 = 2;
const ABOVE: u8 = 4;
const ANY: u8 = BELOW | EQUAL | ABOVE;

/// A comparison: two terms in order of age, the outcomes for which it holds, and whether it is signed; an equality is
/// neither.
struct Comparison {
    sides: (Term, Term),
    outcomes: u8,
    signed: Option<bool>,
}

impl Comparison {
    fn of(store: &Store, formula: Formula) -> Option<Self> {
        let mut packed = store.packed(formula);
        let negated = packed.op == Op::Not;
        if negated {
            packed = store.packed(Formula(packed.a));
        }
        let Op::Rel(op) = packed.op else { return None };
        let (outcomes, signed) = match op {
            RelOp::Eq => (EQUAL, None),
            RelOp::Slt => (BELOW, Some(true)),
            RelOp::Sle => (BELOW | EQUAL, Some(true)),
            RelOp::Ult => (BELOW, Some(false)),
            RelOp::Ule => (BELOW | EQUAL, Some(false)),
            _ => return None,
        };
        let outcomes = if negated { ANY & !outcomes } else { outcomes };
        let (a, b) = (Term(packed.a), Term(packed.b));
        Some(if a.0 <= b.0 {
            Comparison { sides: (a, b), outcomes, signed }
        } else {
            Comparison { sides: (b, a), outcomes: swapped(outcomes), signed }
        })
    }
}

fn swapped(outcomes: u8) -> u8 {
    outcomes & EQUAL | (outcomes & BELOW) << 2 | (outcomes & ABOVE) >> 2
}

impl Store {
    /// Two comparisons of the same terms as one.
    pub(crate) fn one_comparison(&self, op: BoolOp, a: Formula, b: Formula) -> Option<Formula> {
        let (a, b) = (Comparison::of(self, a)?, Comparison::of(self, b)?);
        let is_mixed = matches!((a.signed, b.signed), (Some(x), Some(y)) if x != y);
        if a.sides != b.sides || is_mixed {
            return None;
        }
        let outcomes = if op == BoolOp::And { a.outcomes & b.outcomes } else { a.outcomes | b.outcomes };
        let (x, y) = a.sides;
        let (strict, weak) = match a.signed.or(b.signed) {
            Some(false) => (RelOp::Ult, RelOp::Ule),
            _ => (RelOp::Slt, RelOp::Sle),
        };
        Some(match outcomes {
            0 => self.false_(),
            BELOW => self.relop(strict, x, y),
            EQUAL => self.eq(x, y),
            ABOVE => self.relop(strict, y, x),
            o if o == BELOW | EQUAL => self.relop(weak, x, y),
            o if o == EQUAL | ABOVE => self.relop(weak, y, x),
            o if o == BELOW | ABOVE => self.ne(x, y),
            _ => self.true_(),
        })
    }

    /// Whether two formulas hold together or not at all, where they are the sign of a difference and its overflow: then it
    /// is not below.
    pub(crate) fn order_by_flags(&self, a: Formula, b: Formula) -> Option<Formula> {
        let (a, b) = (self.sign(a)?, self.sign(b)?);
        [(a, b), (b, a)].into_iter().find_map(|((difference, negative), (overflow, overflows))| {
            let (p, q) = self.sides(difference, overflow)?;
            let below = self.relop(RelOp::Slt, p, q);
            Some(if negative == overflows { self.not(below) } else { below })
        })
    }

    /// The term of which a formula says that it is negative, or that it is not.
    fn sign(&self, formula: Formula) -> Option<(Term, bool)> {
        let packed = self.packed(formula);
        if packed.op != Op::Rel(RelOp::Slt) {
            return None;
        }
        let (a, b) = (Term(packed.a), Term(packed.b));
        if self.as_constant(b).is_some_and(|k| k.is_zero()) {
            return Some((a, true));
        }
        self.as_constant(a).is_some_and(|k| k.is_ones()).then_some((b, false))
    }

    /// The sides `p` and `q` of the difference `p - q` of which a term is the overflow, `(p ^ q) & (p - q ^ p)`.
    fn sides(&self, difference: Term, overflow: Term) -> Option<(Term, Term)> {
        let packed = self.packed(overflow);
        if packed.op != Op::Bin(BinOp::And) {
            return None;
        }
        [(packed.a, packed.b), (packed.b, packed.a)].into_iter().find_map(|(both, moved)| {
            let p = self.binop(BinOp::Xor, Term(moved), difference);
            let q = self.binop(BinOp::Xor, Term(both), p);
            (self.sub(p, q) == difference).then_some((p, q))
        })
    }
}
