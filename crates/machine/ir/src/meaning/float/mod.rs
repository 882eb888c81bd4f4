//! Floats as SSE and x87 treat them, where what is not a number keeps its payload and the default one is negative; and
//! as PowerPC does.

mod arithmetic;
pub(super) mod estimate;
mod fused;
pub(super) mod ieee;
pub(super) mod power;
mod raised;
pub(super) mod sse;
mod transcendental;
pub(super) mod x87;
mod x87_exact;

use crate::meaning::MeaningError;
use crate::meaning::pure::is_nan;
use crate::meaning::value::constant;
use parallax_op::{BinOp, BoolOp, FloatFormat, RelOp, Rounding, Width};
use parallax_sem::Core;
use raised::magnitude;

const NEAREST: Rounding = Rounding::NearestEven;

fn format(w: Width) -> Result<FloatFormat, MeaningError> {
    FloatFormat::of_width(w).ok_or_else(|| MeaningError::IllFormed(format!("no float has {w} bits")))
}

/// The bit that makes what is not a number quiet: the highest of the fraction.
fn quiet_bit(format: FloatFormat) -> u128 {
    let (_, precision) = format.smt2();
    match format {
        FloatFormat::X87 => 1 << 62,
        _ => 1 << (precision - 2),
    }
}

fn quiet<C: Core>(core: &C, f: FloatFormat, a: &C::Val) -> C::Val {
    core.binop(BinOp::Or, f.width(), a, &constant(core, f.width(), quiet_bit(f)))
}

/// The result of an invalid operation: the canonical one with its sign set.
fn indefinite<C: Core>(core: &C, f: FloatFormat) -> C::Val {
    let sign = 1u128 << (f.width() - 1);
    constant(core, f.width(), f.nan().small().expect("128 bits at most") | sign)
}

/// `result`, unless an operand or the result is not a number.
fn propagate<C: Core>(core: &C, f: FloatFormat, operands: &[&C::Val], result: &C::Val) -> C::Val {
    let w = f.width();
    let own = core.cond(w, &is_nan(core, f, result), &indefinite(core, f), result);
    operands.iter().rev().fold(own, |otherwise, operand| {
        core.cond(w, &is_nan(core, f, operand), &quiet(core, f, operand), &otherwise)
    })
}

/// A float as a signed integer of `out` bits, the most negative one standing for all that does not fit.
fn integer<C: Core>(core: &C, f: FloatFormat, r: Rounding, out: Width, a: &C::Val) -> C::Val {
    // One bit more than needed tells what fits: outside, the conversion gives the ends of its range.
    let wide = core.float_to_int(true, f, out + 1, r, a);
    let result = core.extract(out + 1, 0, out, &wide);
    let fits = core.relop(RelOp::Eq, out + 1, &core.sext(out, out + 1, &result), &wide);
    let fits = core.boolop(BoolOp::And, &fits, &core.not(&is_nan(core, f, a)));
    core.cond(out, &fits, &result, &constant(core, out, 1 << (out - 1)))
}

fn widen<C: Core>(core: &C, from: Width, to: Width, a: &C::Val) -> Result<C::Val, MeaningError> {
    let (f, g) = (format(from)?, format(to)?);
    // Exact: the other format is wider.
    let number = core.float_to_float(f, g, NEAREST, a);
    Ok(core.cond(to, &is_nan(core, f, a), &convert_payload(core, f, g, a), &number))
}

/// Sign, all-ones exponent, and the top of the fraction (with the integer bit of the 80-bit format) moved over.
fn convert_payload<C: Core>(core: &C, f: FloatFormat, g: FloatFormat, a: &C::Val) -> C::Val {
    let (from, to) = (f.width(), g.width());
    let ((_, pf), (eg, pg)) = (f.smt2(), g.smt2());
    let fraction = |precision: u16| precision - 1;
    let sign = core.extract(from, from - 1, 1, a);
    let payload = core.extract(from, 0, fraction(pf), a);
    let payload = if fraction(pf) >= fraction(pg) {
        core.extract(fraction(pf), fraction(pf) - fraction(pg), fraction(pg), &payload)
    } else {
        core.concat(
            fraction(pf),
            fraction(pg) - fraction(pf),
            &payload,
            &constant(core, fraction(pg) - fraction(pf), 0),
        )
    };
    // The 80-bit format writes its integer bit out.
    let ones = if g == FloatFormat::X87 { eg + 1 } else { eg };
    let exponent = constant(core, ones, u128::MAX);
    let low = core.concat(ones, fraction(pg), &exponent, &payload);
    core.concat(1, to - 1, &sign, &low)
}
