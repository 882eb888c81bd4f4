//! The five operations that round, with everything they raise; SSE and x87 differ in what surrounds them.

use super::raised::{
    Once, Open, Outcome, Raised, Scale, far, is_denormal, is_finite, is_signalling, is_zero, power_of_two,
};
use super::{indefinite, magnitude};
use crate::ScalarOp;
use crate::meaning::pure::is_nan;
use crate::meaning::value::constant;
use parallax_op::{BoolOp, FloatBinOp, FloatFormat, FloatUnOp, RelOp, Rounding};
use parallax_sem::Core;

/// The operation, rounded to the precision of the format; a root is that of the second operand.
pub(super) fn plain<C: Core>(
    core: &C,
    op: ScalarOp,
    f: FloatFormat,
    r: Rounding,
    a: &C::Val,
    b: &C::Val,
) -> C::Val {
    let op = match op {
        ScalarOp::Sub => FloatBinOp::Sub,
        ScalarOp::Mul => FloatBinOp::Mul,
        ScalarOp::Div => FloatBinOp::Div,
        ScalarOp::Sqrt => return core.float_un(FloatUnOp::Sqrt, f, r, b),
        _ => FloatBinOp::Add,
    };
    core.float_bin(op, f, r, a, b)
}

/// The number times a power of two; exact wherever it is used.
pub(super) fn scaled<C: Core>(core: &C, f: FloatFormat, a: &C::Val, exponent: i32) -> C::Val {
    let factor = constant(core, f.width(), power_of_two(f, exponent));
    core.float_bin(FloatBinOp::Mul, f, Rounding::Zero, a, &factor)
}

/// An operation under a rounding mode.
pub(super) type Compute<'a, V> = dyn Fn(Rounding, &V, &V) -> V + 'a;

/// What an operation needs to know besides its operands.
pub(super) struct Operation<'a, C: Core> {
    pub core: &'a C,
    pub op: ScalarOp,
    pub f: FloatFormat,
    /// How it is computed under a rounding mode.
    pub compute: &'a Compute<'a, C::Val>,
    pub open: &'a Open<C>,
}

impl<C: Core> Operation<'_, C> {
    fn any(&self, test: impl Fn(&C::Val) -> C::Bool, a: &C::Val, b: &C::Val) -> C::Bool {
        match self.op {
            ScalarOp::Sqrt => test(b),
            _ => self.core.boolop(BoolOp::Or, &test(a), &test(b)),
        }
    }

    /// Under one rounding mode, the operands being numbers: the outcome and whether it is tiny.
    pub fn on_numbers(&self, r: Rounding, a: &C::Val, b: &C::Val) -> (Outcome<C>, C::Bool) {
        let (core, f, w) = (self.core, self.f, self.f.width());
        let and = |a: &C::Bool, b: &C::Bool| core.boolop(BoolOp::And, a, b);
        let infinite_operand = self.any(|a| core.not(&is_finite(core, f, a)), a, b);
        let mut finite = core.not(&infinite_operand);
        let mut zero_divide = core.boolean(false);
        if self.op == ScalarOp::Div {
            let by_zero = is_zero(core, f, b);
            zero_divide = and(&by_zero, &and(&is_finite(core, f, a), &core.not(&is_zero(core, f, a))));
            finite = and(&finite, &core.not(&by_zero));
        }
        let once = Once {
            core,
            f,
            apply: &|r, scale| self.scaled(r, scale, a, b),
            may_lose: matches!(self.op, ScalarOp::Mul | ScalarOp::Div),
            finite: and(&finite, &core.not(&self.is_bad_root(b))),
            open: self.open,
        };
        let (mut outcome, tiny) = once.round(r);
        let invalid = is_nan(core, f, &outcome.value);
        let denormal = self.any(|a| is_denormal(core, f, a), a, b);
        let before = core.boolop(BoolOp::Or, &invalid, &zero_divide);
        outcome.value = core.cond(w, &invalid, &indefinite(core, f), &outcome.value);
        outcome.raised.denormal = and(&denormal, &core.not(&before));
        outcome.raised.invalid = invalid;
        outcome.raised.zero_divide = zero_divide;
        (outcome, tiny)
    }

    fn is_bad_root(&self, b: &C::Val) -> C::Bool {
        let core = self.core;
        if self.op != ScalarOp::Sqrt {
            return core.boolean(false);
        }
        let negative = crate::meaning::pure::is_negative(core, self.f.width(), b);
        core.boolop(BoolOp::And, &negative, &core.not(&is_zero(core, self.f, b)))
    }

    /// The operation on operands scaled so that the result is.
    fn scaled(&self, r: Rounding, scale: Scale, a: &C::Val, b: &C::Val) -> C::Val {
        let (core, f, w) = (self.core, self.f, self.f.width());
        let by = |a: &C::Val, exponent: i32| scaled(core, f, a, exponent);
        let (exponent, far) = match scale {
            Scale::One => return (self.compute)(r, a, b),
            Scale::Twice => (1, 0),
            Scale::Half => (-1, 0),
            Scale::FarUp => (0, far(f)),
            Scale::FarDown => (0, -far(f)),
        };
        let (a, b) = match self.op {
            // The small one can be doubled, the large one halved, without leaving the normal numbers.
            ScalarOp::Mul if far == 0 => {
                let first_smaller = core.relop(RelOp::Ult, w, &magnitude(core, f, a), &magnitude(core, f, b));
                let first = if exponent > 0 { first_smaller } else { core.not(&first_smaller) };
                (core.cond(w, &first, &by(a, exponent), a), core.cond(w, &first, b, &by(b, exponent)))
            }
            ScalarOp::Mul => (by(a, far), by(b, far)),
            ScalarOp::Div if far == 0 => (by(a, exponent), b.clone()),
            ScalarOp::Div => (by(a, far), by(b, -far)),
            ScalarOp::Sqrt => (a.clone(), b.clone()),
            // Where a sum is tiny, so are its operands. Where it overflows it does so by one binary place at most.
            _ if scale == Scale::FarUp => (by(&by(a, far), far), by(&by(b, far), far)),
            _ if scale == Scale::FarDown => {
                let half = (self.compute)(r, &by(a, -1), &by(b, -1));
                return by(&by(&half, far + 1), far);
            }
            _ => (by(a, exponent), by(b, exponent)),
        };
        (self.compute)(r, &a, &b)
    }
}

/// Whether any operand asks to be noticed.
pub(super) fn any_signalling<C: Core>(core: &C, f: FloatFormat, operands: &[&C::Val]) -> C::Bool {
    any(core, operands, |a| is_signalling(core, f, a))
}

/// Whether any operand is not a number.
pub(super) fn any_nan<C: Core>(core: &C, f: FloatFormat, operands: &[&C::Val]) -> C::Bool {
    any(core, operands, |a| is_nan(core, f, a))
}

/// Whether any operand is denormal.
pub(super) fn any_denormal<C: Core>(core: &C, f: FloatFormat, operands: &[&C::Val]) -> C::Bool {
    any(core, operands, |a| is_denormal(core, f, a))
}

fn any<C: Core>(core: &C, operands: &[&C::Val], test: impl Fn(&C::Val) -> C::Bool) -> C::Bool {
    operands.iter().map(|a| test(a)).fold(core.boolean(false), |all, one| core.boolop(BoolOp::Or, &all, &one))
}

/// Only an invalid operation.
pub(super) fn only_invalid<C: Core>(core: &C, invalid: C::Bool) -> Raised<C> {
    Raised { invalid, ..Raised::none(core) }
}

/// A float in another format: the outcome and whether it is tiny.
pub(super) fn converted<C: Core>(
    core: &C,
    f: FloatFormat,
    g: FloatFormat,
    r: Rounding,
    open: &Open<C>,
    a: &C::Val,
) -> (Outcome<C>, C::Bool) {
    let once = Once {
        core,
        f: g,
        apply: &|r, scale| {
            let a = match scale {
                Scale::One => a,
                Scale::Twice => &scaled(core, f, a, 1),
                Scale::Half => &scaled(core, f, a, -1),
                // Nobody gets to see it; only its digits count.
                Scale::FarUp | Scale::FarDown => &significand(core, f, a),
            };
            core.float_to_float(f, g, r, a)
        },
        may_lose: true,
        finite: is_finite(core, f, a),
        open,
    };
    once.round(r)
}

/// The number with the exponent that brings it between one and two. Not for zero.
pub(super) fn significand<C: Core>(core: &C, f: FloatFormat, a: &C::Val) -> C::Val {
    let w = f.width();
    let (exponent, precision) = f.smt2();
    // The exponent starts above the fraction, and in the 80-bit format above the integer bit.
    let at = if f == FloatFormat::X87 { precision } else { precision - 1 };
    let far = i32::from(precision) + 1;
    let a = core.cond(w, &is_denormal(core, f, a), &scaled(core, f, a, far), a);
    let sign = core.extract(w, w - 1, 1, &a);
    let fraction = core.extract(w, 0, at, &a);
    let bias = constant(core, exponent, (1 << (exponent - 1)) - 1);
    core.concat(1, w - 1, &sign, &core.concat(exponent, at, &bias, &fraction))
}
