//! The meaning of operations that only compute: everything but memory and control.

use crate::meaning::value::constant;
use crate::meaning::{MeaningError, Value, intrinsic};
use crate::{Op, Processor, Varnode};
use parallax_op::{BinOp, FloatFormat, FloatRelOp, RelOp, Rounding};
use parallax_sem::Core;

/// What a computing operation writes to its place, `read` giving what places hold.
pub fn evaluate<C: Core>(
    core: &C,
    processor: &Processor,
    op: &Op,
    mut read: impl FnMut(Varnode) -> Result<Value<C>, MeaningError>,
) -> Result<Value<C>, MeaningError> {
    let mut word = |place: Varnode| Ok(read(place)?.word(core, place.width()));
    Ok(match op {
        Op::Copy { a, .. } => return read(*a),
        Op::Un { op, a, .. } => Value::Word(core.unop(*op, a.width(), &word(*a)?)),
        Op::Bin { op: op @ (BinOp::Shl | BinOp::Lshr | BinOp::Ashr), a, b, .. } => {
            Value::Word(shift(core, *op, a.width(), &word(*a)?, b.width(), &word(*b)?))
        }
        Op::Bin { op, a, b, .. } => Value::Word(core.binop(*op, a.width(), &word(*a)?, &word(*b)?)),
        Op::Rel { op, a, b, .. } => Value::Truth(core.relop(*op, a.width(), &word(*a)?, &word(*b)?)),
        Op::Bool { op, a, b, .. } => {
            let (a, b) = (read(*a)?.truth(core, a.width()), read(*b)?.truth(core, b.width()));
            Value::Truth(core.boolop(*op, &a, &b))
        }
        Op::BoolNot { a, .. } => Value::Truth(core.not(&read(*a)?.truth(core, a.width()))),
        Op::Carry { a, b, .. } => {
            let (w, a, b) = (a.width(), word(*a)?, word(*b)?);
            let sum = core.binop(BinOp::Add, w, &a, &b);
            Value::Truth(core.relop(RelOp::Ult, w, &sum, &a))
        }
        Op::SignedCarry { a, b, .. } => {
            // Both operands have one sign and the sum has the other.
            let (w, a, b) = (a.width(), word(*a)?, word(*b)?);
            let sum = core.binop(BinOp::Add, w, &a, &b);
            let left = core.binop(BinOp::Xor, w, &sum, &a);
            let right = core.binop(BinOp::Xor, w, &sum, &b);
            Value::Truth(is_negative(core, w, &core.binop(BinOp::And, w, &left, &right)))
        }
        Op::SignedBorrow { a, b, .. } => Value::Truth(core.signed_borrow(a.width(), &word(*a)?, &word(*b)?)),
        Op::Zext { out, a } => match read(*a)? {
            // A truth value stays one, however wide.
            Value::Truth(truth) => Value::Truth(truth),
            Value::Word(value) => Value::Word(core.zext(a.width(), out.width(), &value)),
        },
        Op::Sext { out, a } => Value::Word(core.sext(a.width(), out.width(), &word(*a)?)),
        Op::Extract { out, a, low } => Value::Word(extract(core, a.width(), *low, out.width(), &word(*a)?)),
        Op::Concat { high, low, .. } => {
            Value::Word(core.concat(high.width(), low.width(), &word(*high)?, &word(*low)?))
        }
        Op::Select { out, when, then, otherwise } => {
            let truth = read(*when)?.truth(core, when.width());
            read(*then)?.choose(core, &truth, &read(*otherwise)?, out.width())
        }
        Op::FloatNeg { a, .. } => {
            let sign = constant(core, a.width(), 1 << (a.width() - 1));
            Value::Word(core.binop(BinOp::Xor, a.width(), &word(*a)?, &sign))
        }
        Op::FloatAbs { a, .. } => {
            let rest = constant(core, a.width(), (1 << (a.width() - 1)) - 1);
            Value::Word(core.binop(BinOp::And, a.width(), &word(*a)?, &rest))
        }
        Op::FloatUn { op, rounding, a, .. } => {
            Value::Word(core.float_un(*op, format(*a)?, *rounding, &word(*a)?))
        }
        Op::FloatBin { op, a, b, .. } => {
            Value::Word(core.float_bin(*op, format(*a)?, Rounding::NearestEven, &word(*a)?, &word(*b)?))
        }
        Op::FloatRel { op, a, b, .. } => {
            Value::Truth(core.float_rel(*op, format(*a)?, &word(*a)?, &word(*b)?))
        }
        Op::FloatIsNan { a, .. } => Value::Truth(is_nan(core, format(*a)?, &word(*a)?)),
        Op::FloatFromInt { out, a } => {
            Value::Word(core.int_to_float(true, a.width(), format(*out)?, Rounding::NearestEven, &word(*a)?))
        }
        Op::FloatToInt { rounding, out, a } => {
            Value::Word(core.float_to_int(true, format(*a)?, out.width(), *rounding, &word(*a)?))
        }
        Op::FloatToFloat { out, a } => {
            Value::Word(core.float_to_float(format(*a)?, format(*out)?, Rounding::NearestEven, &word(*a)?))
        }
        Op::Intrinsic { call, out, args } => {
            let args =
                args.iter().map(|a| Ok((a.width(), word(*a)?))).collect::<Result<Vec<_>, MeaningError>>()?;
            Value::Word(intrinsic(core, processor, *call, out.map_or(0, Varnode::width), &args)?)
        }
        Op::Load { .. } | Op::Store { .. } | Op::Branch { .. } | Op::Jump { .. } | Op::Trap { .. } => {
            return Err(MeaningError::IllFormed("not an operation that only computes".to_owned()));
        }
    })
}

pub(super) fn format(place: Varnode) -> Result<FloatFormat, MeaningError> {
    FloatFormat::of_width(place.width())
        .ok_or_else(|| MeaningError::IllFormed(format!("no float has {} bytes", place.bytes)))
}

/// A float that differs from itself.
pub(super) fn is_nan<C: Core>(core: &C, format: FloatFormat, a: &C::Val) -> C::Bool {
    core.not(&core.float_rel(FloatRelOp::Eq, format, a, a))
}

pub(super) fn is_negative<C: Core>(core: &C, w: u16, a: &C::Val) -> C::Bool {
    core.relop(RelOp::Slt, w, a, &constant(core, w, 0))
}

/// Bits from `low` on, zeros beyond the end.
fn extract<C: Core>(core: &C, from: u16, low: u16, to: u16, a: &C::Val) -> C::Val {
    if low >= from {
        return constant(core, to, 0);
    }
    let have = (from - low).min(to);
    let part = if have == from { a.clone() } else { core.extract(from, low, have, a) };
    if have == to { part } else { core.zext(have, to, &part) }
}

/// A shift whose distance has a width of its own.
fn shift<C: Core>(core: &C, op: BinOp, w: u16, a: &C::Val, distance_width: u16, distance: &C::Val) -> C::Val {
    if distance_width == w {
        return core.binop(op, w, a, distance);
    }
    if distance_width < w {
        return core.binop(op, w, a, &core.zext(distance_width, w, distance));
    }
    // A distance that does not fit shifts everything out, as the largest that does.
    let above = core.extract(distance_width, w, distance_width - w, distance);
    let fits = core.not(&core.val_to_bool(distance_width - w, &above));
    let low = core.extract(distance_width, 0, w, distance);
    let all = constant(core, w, u128::MAX);
    core.binop(op, w, a, &core.cond(w, &fits, &low, &all))
}
