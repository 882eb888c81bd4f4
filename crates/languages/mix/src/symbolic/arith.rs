//! Operators on symbolic values: deferred to the solver, except where there is no result.

use super::{Bare, Executor, Outcomes, State, TypedBlocks, Value};
use crate::arithmetic::{self, Outcome};
use crate::complaint::Complaint;
use crate::syntax::BinaryOp;
use crate::ty::Type;
use parallax_op::Bits;
use parallax_sem::Symbolic;
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
        let core = Symbolic::new(store);
        let truth = |outcome: Option<Outcome<Symbolic<'_>>>| match outcome {
            Some(Outcome::Truth(formula)) => Some(formula),
            _ => None,
        };
        match (v1.u, v2.u) {
            (Bare::Unit, Bare::Unit) => Some(store.true_()),
            (Bare::Bool(a), Bare::Bool(b)) => Some(store.iff(a, b)),
            (Bare::Bits(a), Bare::Bits(b)) => match (&v1.ty, &v2.ty) {
                (Type::Int(_), Type::Int(_)) => truth(arithmetic::integers(&core, BinaryOp::Eq, &a, &b)),
                (Type::Float, Type::Float) => truth(arithmetic::floats(&core, BinaryOp::Eq, &a, &b)),
                (Type::Str, Type::Str) => Some(store.eq(a, b)),
                (t1 @ Type::Ref(..), t2 @ Type::Ref(..)) if blocks.joined(t1, t2).is_some() => {
                    Some(store.eq(a, b))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn integers(&self, op: BinaryOp, state: State, a: Term, b: Term, span: Span) -> Outcomes {
        match arithmetic::integers(&Symbolic::new(self.store), op, &a, &b) {
            Some(outcome) => self.settled(outcome, &Type::INT, state, span),
            None => self.integer_power(state, a, b, span),
        }
    }

    fn floats(&self, op: BinaryOp, state: State, a: Term, b: Term, span: Span) -> Outcomes {
        if let Some(outcome) = arithmetic::floats(&Symbolic::new(self.store), op, &a, &b) {
            return self.settled(outcome, &Type::Float, state, span);
        }
        let known = |term| self.store.as_constant(term).and_then(|bits| bits.to_u64()).map(f64::from_bits);
        match (known(a), known(b)) {
            (Some(a), Some(b)) => vec![(state, self.float(a.powf(b)))],
            _ => {
                self.end(state, unsupported(span));
                Vec::new()
            }
        }
    }

    /// What came of an operator: a value, or one on the paths that do not stop.
    fn settled(&self, outcome: Outcome<Symbolic<'_>>, ty: &Type, state: State, span: Span) -> Outcomes {
        let (stops, value) = match outcome {
            Outcome::Number(term) => return vec![(state, self.bits(term, ty))],
            Outcome::Truth(formula) => return vec![(state, self.truth(formula))],
            Outcome::Unless(stops, term) => (stops, self.bits(term, ty)),
        };
        match self.store.as_boolean(stops) {
            Some(false) => vec![(state, value)],
            Some(true) => {
                self.trap(state);
                Vec::new()
            }
            None => match self.fork(&state, stops, span) {
                Some((stops, goes_on)) => {
                    self.trap(stops);
                    vec![(goes_on, value)]
                }
                None => {
                    self.too_many_paths(state, span);
                    Vec::new()
                }
            },
        }
    }

    /// The solver has nothing for an unknown exponent.
    fn integer_power(&self, state: State, a: Term, b: Term, span: Span) -> Outcomes {
        let known = self.store.as_constant(b).and_then(|bits| bits.to_u64()).map(|n| n as i64);
        let Some(exponent) = known else {
            self.end(state, unsupported(span));
            return Vec::new();
        };
        let Ok(exponent) = u64::try_from(exponent) else {
            self.trap(state);
            return Vec::new();
        };
        let result = arithmetic::power(&Symbolic::new(self.store), &a, exponent);
        vec![(state, self.bits(result, &Type::INT))]
    }

    pub(super) fn negate(&self, state: &State, value: &Value, span: Span) -> Option<Value> {
        match (value.u, &value.ty) {
            (Bare::Bits(term), Type::Int(_)) => {
                Some(self.bits(arithmetic::negate(&Symbolic::new(self.store), &term), &Type::INT))
            }
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
