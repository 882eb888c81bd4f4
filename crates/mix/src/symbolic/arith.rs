//! Operators on symbolic values: deferred to the solver, except where there is no result.

use super::{Bare, Executor, Outcomes, State, TypedBlocks, Value};
use crate::complaint::Complaint;
use crate::interp::power;
use crate::syntax::BinaryOp;
use crate::ty::Type;
use parallax_op::{BinOp, Bits, FloatBinOp, FloatRelOp, RelOp, Rounding};
use parallax_source::Span;
use parallax_term::{Formula, Term};

impl Executor<'_> {
    /// A float constant.
    pub(super) fn float(&self, x: f64) -> Value {
        Value { u: Bare::Bits(self.store.constant(&Bits::new(64, u128::from(x.to_bits())))), ty: Type::Float }
    }

    fn bits(&self, term: Term, ty: &Type) -> Value {
        Value { u: Bare::Bits(term), ty: ty.clone() }
    }

    fn truth(&self, formula: Formula) -> Value {
        Value { u: Bare::Bool(formula), ty: Type::Bool }
    }

    /// Complains about operands that no rule takes.
    fn misfit(&self, state: State, op: BinaryOp, v1: &Value, v2: &Value, span: Span) -> Outcomes {
        let wanted = match op {
            BinaryOp::And | BinaryOp::Or => "two bools",
            BinaryOp::Eq => "two operands of one type that is no function",
            _ => "two ints or two floats",
        };
        self.error(state, span, format!("`{op}` wants {wanted}, not {} and {}", v1.ty, v2.ty));
        Vec::new()
    }

    pub(super) fn binary(
        &self,
        blocks: &dyn TypedBlocks,
        op: BinaryOp,
        state: State,
        v1: &Value,
        v2: &Value,
        span: Span,
    ) -> Outcomes {
        let store = self.store;
        let value = match (op, v1.u, v2.u) {
            (BinaryOp::And, Bare::Bool(a), Bare::Bool(b)) => self.truth(store.and(a, b)),
            (BinaryOp::Or, Bare::Bool(a), Bare::Bool(b)) => self.truth(store.or(a, b)),
            (BinaryOp::And | BinaryOp::Or, ..) => return self.misfit(state, op, v1, v2, span),
            (BinaryOp::Eq, ..) => match self.equal(blocks, v1, v2) {
                Some(formula) => self.truth(formula),
                None => return self.misfit(state, op, v1, v2, span),
            },
            (_, Bare::Bits(a), Bare::Bits(b)) => match (&v1.ty, &v2.ty) {
                (Type::Int(_), Type::Int(_)) => return self.integers(op, state, a, b, span),
                (Type::Float, Type::Float) => return self.floats(op, state, a, b, span),
                _ => return self.misfit(state, op, v1, v2, span),
            },
            _ => return self.misfit(state, op, v1, v2, span),
        };
        vec![(state, value)]
    }

    /// SEEq: both sides have one type, and it is no function.
    fn equal(&self, blocks: &dyn TypedBlocks, v1: &Value, v2: &Value) -> Option<Formula> {
        let store = self.store;
        match (v1.u, v2.u) {
            (Bare::Unit, Bare::Unit) => Some(store.true_()),
            (Bare::Bool(a), Bare::Bool(b)) => Some(store.iff(a, b)),
            (Bare::Bits(a), Bare::Bits(b)) => match (&v1.ty, &v2.ty) {
                (Type::Int(_), Type::Int(_)) | (Type::Str, Type::Str) => Some(store.eq(a, b)),
                (Type::Float, Type::Float) => Some(store.float_rel(FloatRelOp::Eq, a, b)),
                (t1 @ Type::Ref(_), t2 @ Type::Ref(_)) if blocks.fits(t1, t2) => Some(store.eq(a, b)),
                _ => None,
            },
            _ => None,
        }
    }

    fn integers(&self, op: BinaryOp, state: State, a: Term, b: Term, span: Span) -> Outcomes {
        let store = self.store;
        let relation = |op, a, b| self.truth(store.relop(op, a, b));
        let number = |op| self.bits(store.binop(op, a, b), &Type::INT);
        let value = match op {
            BinaryOp::Add => number(BinOp::Add),
            BinaryOp::Sub => number(BinOp::Sub),
            BinaryOp::Mul => number(BinOp::Mul),
            BinaryOp::Lt => relation(RelOp::Slt, a, b),
            BinaryOp::Le => relation(RelOp::Sle, a, b),
            BinaryOp::Gt => relation(RelOp::Slt, b, a),
            BinaryOp::Ge => relation(RelOp::Sle, b, a),
            BinaryOp::Div => {
                let quotient = number(BinOp::Sdiv);
                let zero = store.eq(b, store.number(64, 0));
                return match store.as_boolean(zero) {
                    Some(false) => vec![(state, quotient)],
                    Some(true) => {
                        self.trap(state);
                        Vec::new()
                    }
                    None => match self.fork(&state, zero, span) {
                        Some((stops, goes_on)) => {
                            self.trap(stops);
                            vec![(goes_on, quotient)]
                        }
                        None => {
                            self.too_many_paths(state, span);
                            Vec::new()
                        }
                    },
                };
            }
            BinaryOp::Pow => return self.integer_power(state, a, b, span),
            BinaryOp::Eq | BinaryOp::And | BinaryOp::Or => unreachable!("handled by the caller"),
        };
        vec![(state, value)]
    }

    /// A known exponent is a known number of products; the solver has nothing for an unknown one.
    fn integer_power(&self, state: State, a: Term, b: Term, span: Span) -> Outcomes {
        let known = |term| self.store.as_constant(term).and_then(|bits| bits.to_u64()).map(|n| n as i64);
        let Some(exponent) = known(b) else {
            self.end(state, unsupported(span));
            return Vec::new();
        };
        let Ok(mut rest) = u64::try_from(exponent) else {
            self.trap(state);
            return Vec::new();
        };
        if let Some(result) = known(a).and_then(|base| power(base, exponent)) {
            return vec![(state, self.int(result))];
        }
        let (mut result, mut square) = (self.store.number(64, 1), a);
        while rest > 0 {
            if rest & 1 == 1 {
                result = self.store.binop(BinOp::Mul, result, square);
            }
            square = self.store.binop(BinOp::Mul, square, square);
            rest >>= 1;
        }
        vec![(state, self.bits(result, &Type::INT))]
    }

    fn floats(&self, op: BinaryOp, state: State, a: Term, b: Term, span: Span) -> Outcomes {
        let store = self.store;
        let number = |op| self.bits(store.float_bin(op, Rounding::NearestEven, a, b), &Type::Float);
        let value = match op {
            BinaryOp::Add => number(FloatBinOp::Add),
            BinaryOp::Sub => number(FloatBinOp::Sub),
            BinaryOp::Mul => number(FloatBinOp::Mul),
            BinaryOp::Div => number(FloatBinOp::Div),
            BinaryOp::Lt => self.truth(store.float_rel(FloatRelOp::Lt, a, b)),
            BinaryOp::Le => self.truth(store.float_rel(FloatRelOp::Le, a, b)),
            BinaryOp::Gt => self.truth(store.float_rel(FloatRelOp::Lt, b, a)),
            BinaryOp::Ge => self.truth(store.float_rel(FloatRelOp::Le, b, a)),
            BinaryOp::Pow => {
                let known = |term| store.as_constant(term).and_then(|bits| bits.to_u64()).map(f64::from_bits);
                match (known(a), known(b)) {
                    (Some(a), Some(b)) => self.float(a.powf(b)),
                    _ => {
                        self.end(state, unsupported(span));
                        return Vec::new();
                    }
                }
            }
            BinaryOp::Eq | BinaryOp::And | BinaryOp::Or => unreachable!("handled by the caller"),
        };
        vec![(state, value)]
    }

    pub(super) fn negate(&self, state: &State, value: &Value, span: Span) -> Option<Value> {
        match (value.u, &value.ty) {
            (Bare::Bits(term), Type::Int(_)) => Some(self.bits(self.store.neg(term), &Type::INT)),
            (Bare::Bits(term), Type::Float) => Some(self.bits(self.flip_sign(term), &Type::Float)),
            _ => {
                self.error(state.clone(), span, format!("`-` wants a number, not {}", value.ty));
                None
            }
        }
    }
}

fn unsupported(span: Span) -> Complaint {
    Complaint::error(span, "the solver has no `**` with an unknown operand")
        .note("put it into a typed block, which then stands for any result")
}
