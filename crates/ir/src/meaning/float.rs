//! Floats as SSE and x87 treat them: what is not a number keeps its payload, and the default one is negative.
//!
//! Arithmetic rounds to nearest even; the rounding control of MXCSR is not consulted, that of the x87 control word only
//! where programs change it to convert to integers.

use crate::ScalarOp;
use crate::meaning::MeaningError;
use crate::meaning::pure::is_nan;
use crate::meaning::value::constant;
use crate::meaning::vector::{join, split};
use parallax_op::{BinOp, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, Width};
use parallax_sem::Core;

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

fn arithmetic(op: ScalarOp) -> Option<FloatBinOp> {
    match op {
        ScalarOp::Add => Some(FloatBinOp::Add),
        ScalarOp::Sub => Some(FloatBinOp::Sub),
        ScalarOp::Mul => Some(FloatBinOp::Mul),
        ScalarOp::Div => Some(FloatBinOp::Div),
        _ => None,
    }
}

fn scalar<C: Core>(core: &C, op: ScalarOp, f: FloatFormat, a: &C::Val, b: &C::Val) -> C::Val {
    let w = f.width();
    match op {
        // The comparison decides, and it is false for what is not a number and for two zeros: then the second stays.
        ScalarOp::Min => core.cond(w, &core.float_rel(FloatRelOp::Lt, f, a, b), a, b),
        ScalarOp::Max => core.cond(w, &core.float_rel(FloatRelOp::Lt, f, b, a), a, b),
        ScalarOp::Sqrt => propagate(core, f, &[b], &core.float_un(FloatUnOp::Sqrt, f, NEAREST, b)),
        _ => {
            let op = arithmetic(op).expect("the others are above");
            propagate(core, f, &[a, b], &core.float_bin(op, f, NEAREST, a, b))
        }
    }
}

fn map<C: Core>(
    core: &C,
    w: Width,
    lane: Width,
    a: &C::Val,
    b: &C::Val,
    f: impl Fn(usize, &C::Val, &C::Val) -> C::Val,
) -> C::Val {
    let (a, b) = (split(core, w, lane, a), split(core, w, lane, b));
    let lanes: Vec<C::Val> = a.iter().zip(&b).enumerate().map(|(index, (a, b))| f(index, a, b)).collect();
    join(core, lane, &lanes)
}

pub(super) fn lanes<C: Core>(
    core: &C,
    op: ScalarOp,
    w: Width,
    lane: Width,
    a: &C::Val,
    b: &C::Val,
) -> Result<C::Val, MeaningError> {
    let f = format(lane)?;
    Ok(map(core, w, lane, a, b, |_, a, b| scalar(core, op, f, a, b)))
}

pub(super) fn add_sub<C: Core>(
    core: &C,
    w: Width,
    lane: Width,
    a: &C::Val,
    b: &C::Val,
) -> Result<C::Val, MeaningError> {
    let f = format(lane)?;
    Ok(map(core, w, lane, a, b, |index, a, b| {
        let op = if index % 2 == 0 { ScalarOp::Sub } else { ScalarOp::Add };
        scalar(core, op, f, a, b)
    }))
}

pub(super) fn horizontal<C: Core>(
    core: &C,
    op: ScalarOp,
    w: Width,
    lane: Width,
    a: &C::Val,
    b: &C::Val,
) -> Result<C::Val, MeaningError> {
    let f = format(lane)?;
    let all = [split(core, w, lane, a), split(core, w, lane, b)].concat();
    let lanes: Vec<C::Val> = all.chunks(2).map(|pair| scalar(core, op, f, &pair[0], &pair[1])).collect();
    Ok(join(core, lane, &lanes))
}

/// The eight predicates of `cmpps`: equal, less, less or equal, unordered, and their negations.
pub(super) fn compare<C: Core>(
    core: &C,
    code: u8,
    w: Width,
    lane: Width,
    a: &C::Val,
    b: &C::Val,
) -> Result<C::Val, MeaningError> {
    let f = format(lane)?;
    Ok(map(core, w, lane, a, b, |_, a, b| {
        let holds = match code & 3 {
            0 => core.float_rel(FloatRelOp::Eq, f, a, b),
            1 => core.float_rel(FloatRelOp::Lt, f, a, b),
            2 => core.float_rel(FloatRelOp::Le, f, a, b),
            _ => core.boolop(BoolOp::Or, &is_nan(core, f, a), &is_nan(core, f, b)),
        };
        let holds = if code & 4 == 0 { holds } else { core.not(&holds) };
        core.cond(lane, &holds, &constant(core, lane, u128::MAX), &constant(core, lane, 0))
    }))
}

fn rounding(mode: u8) -> Rounding {
    match mode & 3 {
        0 => Rounding::NearestEven,
        1 => Rounding::Down,
        2 => Rounding::Up,
        _ => Rounding::Zero,
    }
}

pub(super) fn round<C: Core>(
    core: &C,
    mode: u8,
    w: Width,
    lane: Width,
    a: &C::Val,
) -> Result<C::Val, MeaningError> {
    let f = format(lane)?;
    let lanes: Vec<C::Val> = split(core, w, lane, a)
        .iter()
        .map(|a| propagate(core, f, &[a], &core.float_un(FloatUnOp::Round, f, rounding(mode), a)))
        .collect();
    Ok(join(core, lane, &lanes))
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

pub(super) fn to_int<C: Core>(
    core: &C,
    truncate: bool,
    w: Width,
    out: Width,
    a: &C::Val,
) -> Result<C::Val, MeaningError> {
    let r = if truncate { Rounding::Zero } else { NEAREST };
    Ok(integer(core, format(w)?, r, out, a))
}

pub(super) fn to_float<C: Core>(
    core: &C,
    from: Width,
    to: Width,
    a: &C::Val,
) -> Result<C::Val, MeaningError> {
    let widened = widen(core, from, to, a)?;
    Ok(core.cond(to, &is_nan(core, format(from)?, a), &quiet(core, format(to)?, &widened), &widened))
}

pub(super) fn widen<C: Core>(core: &C, from: Width, to: Width, a: &C::Val) -> Result<C::Val, MeaningError> {
    let (f, g) = (format(from)?, format(to)?);
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

/// `dpps` and `dppd`: products chosen by the high half of the immediate, summed in pairs, the sum put where the low
/// half says.
pub(super) fn dot<C: Core>(
    core: &C,
    control: u8,
    lane: Width,
    a: &C::Val,
    b: &C::Val,
) -> Result<C::Val, MeaningError> {
    let f = format(lane)?;
    let zero = constant(core, lane, 0);
    let (a, b) = (split(core, 128, lane, a), split(core, 128, lane, b));
    let products: Vec<C::Val> =
        a.iter()
            .zip(&b)
            .enumerate()
            .map(|(i, (a, b))| {
                if control >> (4 + i) & 1 == 0 { zero.clone() } else { scalar(core, ScalarOp::Mul, f, a, b) }
            })
            .collect();
    // Each lane adds its neighbour, then, of four, the lane two away. Which operand comes first shows in what is not a
    // number, and was found by asking a processor: of two doubles the own one, of four floats the neighbour.
    let count = products.len();
    let add = |a: &C::Val, b: &C::Val| scalar(core, ScalarOp::Add, f, a, b);
    let sums: Vec<C::Val> = if count == 2 {
        (0..2).map(|i| add(&products[i], &products[i ^ 1])).collect()
    } else {
        let pairs: Vec<C::Val> = (0..count).map(|i| add(&products[i ^ 1], &products[i])).collect();
        (0..count).map(|i| add(&pairs[i], &pairs[i ^ 2])).collect()
    };
    let lanes: Vec<C::Val> =
        (0..count).map(|i| if control >> i & 1 == 0 { zero.clone() } else { sums[i].clone() }).collect();
    Ok(join(core, lane, &lanes))
}

pub(super) fn fused<C: Core>(
    core: &C,
    w: Width,
    a: &C::Val,
    b: &C::Val,
    c: &C::Val,
) -> Result<C::Val, MeaningError> {
    Ok(core.float_fma(format(w)?, NEAREST, a, b, c))
}

/// Rounded to odd. Exact results are those on which rounding up and down agree, and zeros, whose sign alone they
/// disagree about.
pub(super) fn fused_odd<C: Core>(
    core: &C,
    w: Width,
    a: &C::Val,
    b: &C::Val,
    c: &C::Val,
) -> Result<C::Val, MeaningError> {
    let f = format(w)?;
    let rounded = |rounding| core.float_fma(f, rounding, a, b, c);
    let nearest = rounded(NEAREST);
    let agree = core.relop(RelOp::Eq, w, &rounded(Rounding::Up), &rounded(Rounding::Down));
    let magnitude = core.extract(w, 0, w - 1, &nearest);
    let is_zero = core.relop(RelOp::Eq, w - 1, &magnitude, &constant(core, w - 1, 0));
    let exact =
        core.boolop(BoolOp::Or, &agree, &core.boolop(BoolOp::Or, &is_zero, &is_nan(core, f, &nearest)));
    let odd = core.binop(BinOp::Or, w, &rounded(Rounding::Zero), &constant(core, w, 1));
    Ok(core.cond(w, &exact, &nearest, &odd))
}

/// x87 arithmetic. Of two operands that are not numbers the one with the larger fraction wins.
pub(super) fn extended<C: Core>(core: &C, op: ScalarOp, a: &C::Val, b: &C::Val) -> C::Val {
    let f = FloatFormat::X87;
    let w = f.width();
    let result = match op {
        ScalarOp::Sqrt => return propagate(core, f, &[b], &core.float_un(FloatUnOp::Sqrt, f, NEAREST, b)),
        _ => core.float_bin(arithmetic(op).unwrap_or(FloatBinOp::Add), f, NEAREST, a, b),
    };
    let both = core.boolop(BoolOp::And, &is_nan(core, f, a), &is_nan(core, f, b));
    let fraction = |v: &C::Val| core.extract(w, 0, 64, v);
    let second = core.relop(RelOp::Ugt, 64, &fraction(b), &fraction(a));
    let larger = core.cond(w, &second, b, a);
    core.cond(w, &both, &quiet(core, f, &larger), &propagate(core, f, &[a, b], &result))
}

/// One of four results, by the rounding field (bits 10 and 11) of an x87 control word.
fn by_control<C: Core>(
    core: &C,
    w: Width,
    control_width: Width,
    control: &C::Val,
    result: impl Fn(Rounding) -> C::Val,
) -> C::Val {
    let field = core.extract(control_width, 10, 2, control);
    (1..4u8).fold(result(NEAREST), |otherwise, mode| {
        let chosen = core.relop(RelOp::Eq, 2, &field, &constant(core, 2, u128::from(mode)));
        core.cond(w, &chosen, &result(rounding(mode)), &otherwise)
    })
}

pub(super) fn extended_round<C: Core>(
    core: &C,
    a: &C::Val,
    control_width: Width,
    control: &C::Val,
) -> C::Val {
    let f = FloatFormat::X87;
    by_control(core, f.width(), control_width, control, |r| {
        propagate(core, f, &[a], &core.float_un(FloatUnOp::Round, f, r, a))
    })
}

pub(super) fn extended_to_int<C: Core>(
    core: &C,
    out: Width,
    a: &C::Val,
    control_width: Width,
    control: &C::Val,
) -> C::Val {
    by_control(core, out, control_width, control, |r| integer(core, FloatFormat::X87, r, out, a))
}
