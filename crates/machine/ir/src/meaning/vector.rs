//! Vectors of integers, lane by lane.

use crate::meaning::pure::is_negative;
use crate::meaning::value::constant;
use crate::{LaneOp, LaneShift};
use parallax_op::{BinOp, RelOp, UnOp, Width};
use parallax_sem::Core;

/// The lanes of a vector of `w` bits, lane 0 first.
pub(super) fn split<C: Core>(core: &C, w: Width, lane: Width, a: &C::Val) -> Vec<C::Val> {
    if w == lane {
        return vec![a.clone()];
    }
    (0..w / lane).map(|index| core.extract(w, index * lane, lane, a)).collect()
}

/// The vector made of lanes.
pub(super) fn join<C: Core>(core: &C, lane: Width, lanes: &[C::Val]) -> C::Val {
    let mut all = lanes[0].clone();
    for (index, next) in lanes.iter().enumerate().skip(1) {
        all = core.concat(lane, lane * index as Width, next, &all);
    }
    all
}

fn map<C: Core>(
    core: &C,
    w: Width,
    lane: Width,
    a: &C::Val,
    b: &C::Val,
    f: impl Fn(&C::Val, &C::Val) -> C::Val,
) -> C::Val {
    let (a, b) = (split(core, w, lane, a), split(core, w, lane, b));
    let lanes: Vec<C::Val> = a.iter().zip(&b).map(|(a, b)| f(a, b)).collect();
    join(core, lane, &lanes)
}

/// The number of `w` bits held between `low` and `high`, which have `w` bits too, as signed numbers.
fn clamp<C: Core>(core: &C, w: Width, a: &C::Val, low: i128, high: i128) -> C::Val {
    let (low, high) = (constant(core, w, low as u128), constant(core, w, high as u128));
    let below = core.relop(RelOp::Slt, w, a, &low);
    let above = core.relop(RelOp::Sgt, w, a, &high);
    core.cond(w, &below, &low, &core.cond(w, &above, &high, a))
}

/// The range of a number of `w` bits.
fn range(w: Width, signed: bool) -> (i128, i128) {
    if signed { (-(1 << (w - 1)), (1 << (w - 1)) - 1) } else { (0, (1 << w) - 1) }
}

/// An operation done in twice the width and cut, or held at the ends of the range.
fn wide<C: Core>(core: &C, w: Width, signed: bool, a: &C::Val, b: &C::Val, op: BinOp) -> C::Val {
    let extend = |v: &C::Val| if signed { core.sext(w, 2 * w, v) } else { core.zext(w, 2 * w, v) };
    core.binop(op, 2 * w, &extend(a), &extend(b))
}

fn saturating<C: Core>(core: &C, w: Width, signed: bool, a: &C::Val, b: &C::Val, op: BinOp) -> C::Val {
    let (low, high) = range(w, signed);
    let exact = wide(core, w, signed, a, b, op);
    core.extract(2 * w, 0, w, &clamp(core, 2 * w, &exact, low, high))
}

fn choose<C: Core>(core: &C, w: Width, op: RelOp, a: &C::Val, b: &C::Val) -> C::Val {
    core.cond(w, &core.relop(op, w, a, b), a, b)
}

fn mask<C: Core>(core: &C, w: Width, truth: &C::Bool) -> C::Val {
    core.cond(w, truth, &constant(core, w, u128::MAX), &constant(core, w, 0))
}

fn lane_op<C: Core>(core: &C, op: LaneOp, w: Width, a: &C::Val, b: &C::Val) -> C::Val {
    let high = |product: C::Val| core.extract(2 * w, w, w, &product);
    match op {
        LaneOp::Add => core.binop(BinOp::Add, w, a, b),
        LaneOp::Sub => core.binop(BinOp::Sub, w, a, b),
        LaneOp::AddSatSigned => saturating(core, w, true, a, b, BinOp::Add),
        LaneOp::AddSatUnsigned => saturating(core, w, false, a, b, BinOp::Add),
        LaneOp::SubSatSigned => saturating(core, w, true, a, b, BinOp::Sub),
        LaneOp::SubSatUnsigned => saturating(core, w, false, a, b, BinOp::Sub),
        LaneOp::MulLow => core.binop(BinOp::Mul, w, a, b),
        LaneOp::MulHighSigned => high(wide(core, w, true, a, b, BinOp::Mul)),
        LaneOp::MulHighUnsigned => high(wide(core, w, false, a, b, BinOp::Mul)),
        LaneOp::MulHighRounded => {
            let product = wide(core, w, true, a, b, BinOp::Mul);
            let scaled = core.binop(BinOp::Ashr, 2 * w, &product, &constant(core, 2 * w, u128::from(w) - 2));
            let rounded = core.binop(BinOp::Add, 2 * w, &scaled, &constant(core, 2 * w, 1));
            core.extract(2 * w, 1, w, &rounded)
        }
        LaneOp::MulHalvesUnsigned | LaneOp::MulHalvesSigned => {
            let half = w / 2;
            let low = |v: &C::Val| core.extract(w, 0, half, v);
            wide(core, half, op == LaneOp::MulHalvesSigned, &low(a), &low(b), BinOp::Mul)
        }
        LaneOp::Average => {
            let sum = wide(core, w, false, a, b, BinOp::Add);
            let rounded = core.binop(BinOp::Add, 2 * w, &sum, &constant(core, 2 * w, 1));
            core.extract(2 * w, 1, w, &rounded)
        }
        LaneOp::MinSigned => choose(core, w, RelOp::Slt, a, b),
        LaneOp::MinUnsigned => choose(core, w, RelOp::Ult, a, b),
        LaneOp::MaxSigned => choose(core, w, RelOp::Sgt, a, b),
        LaneOp::MaxUnsigned => choose(core, w, RelOp::Ugt, a, b),
        LaneOp::CmpEq => mask(core, w, &core.relop(RelOp::Eq, w, a, b)),
        LaneOp::CmpGtSigned => mask(core, w, &core.relop(RelOp::Sgt, w, a, b)),
        LaneOp::Sign => {
            let zero = constant(core, w, 0);
            let positive = core.relop(RelOp::Sgt, w, b, &zero);
            let negative = is_negative(core, w, b);
            core.cond(w, &positive, a, &core.cond(w, &negative, &core.unop(UnOp::Neg, w, a), &zero))
        }
        LaneOp::Abs => core.cond(w, &is_negative(core, w, b), &core.unop(UnOp::Neg, w, b), b),
        LaneOp::ShiftLeft => core.binop(BinOp::Shl, w, a, b),
        LaneOp::ShiftRight => core.binop(BinOp::Lshr, w, a, b),
        LaneOp::ShiftRightSigned => core.binop(BinOp::Ashr, w, a, b),
        LaneOp::Blend => unreachable!("has three arguments"),
    }
}

pub(super) fn lanes<C: Core>(core: &C, op: LaneOp, w: Width, lane: Width, a: &C::Val, b: &C::Val) -> C::Val {
    map(core, w, lane, a, b, |a, b| lane_op(core, op, lane, a, b))
}

pub(super) fn blend<C: Core>(
    core: &C,
    w: Width,
    lane: Width,
    a: &C::Val,
    b: &C::Val,
    mask: &C::Val,
) -> C::Val {
    let masks = split(core, w, lane, mask);
    let (a, b) = (split(core, w, lane, a), split(core, w, lane, b));
    let lanes: Vec<C::Val> = masks
        .iter()
        .zip(a.iter().zip(&b))
        .map(|(mask, (a, b))| core.cond(lane, &is_negative(core, lane, mask), b, a))
        .collect();
    join(core, lane, &lanes)
}

/// All lanes shifted by one distance of `distance_width` bits.
pub(super) fn shifted<C: Core>(
    core: &C,
    op: LaneShift,
    w: Width,
    lane: Width,
    a: &C::Val,
    distance_width: Width,
    distance: &C::Val,
) -> C::Val {
    // The distance as a number of the lane's width, all ones when it is too large: both shift everything out.
    let large =
        core.relop(RelOp::Uge, distance_width, distance, &constant(core, distance_width, u128::from(lane)));
    let low = if distance_width > lane {
        core.extract(distance_width, 0, lane, distance)
    } else if distance_width < lane {
        core.zext(distance_width, lane, distance)
    } else {
        distance.clone()
    };
    let distance = core.cond(lane, &large, &constant(core, lane, u128::MAX), &low);
    let op = match op {
        LaneShift::Left => BinOp::Shl,
        LaneShift::Right => BinOp::Lshr,
        LaneShift::RightSigned => BinOp::Ashr,
    };
    let lanes: Vec<C::Val> =
        split(core, w, lane, a).iter().map(|a| core.binop(op, lane, a, &distance)).collect();
    join(core, lane, &lanes)
}

/// Neighbours combined: those of `a`, then those of `b`.
pub(super) fn horizontal<C: Core>(
    core: &C,
    op: LaneOp,
    w: Width,
    lane: Width,
    a: &C::Val,
    b: &C::Val,
) -> C::Val {
    let all = [split(core, w, lane, a), split(core, w, lane, b)].concat();
    let lanes: Vec<C::Val> = all.chunks(2).map(|pair| lane_op(core, op, lane, &pair[0], &pair[1])).collect();
    join(core, lane, &lanes)
}

pub(super) fn multiply_add<C: Core>(core: &C, w: Width, a: &C::Val, b: &C::Val) -> C::Val {
    let (a, b) = (split(core, w, 16, a), split(core, w, 16, b));
    let products: Vec<C::Val> =
        a.iter().zip(&b).map(|(a, b)| wide(core, 16, true, a, b, BinOp::Mul)).collect();
    let sums: Vec<C::Val> =
        products.chunks(2).map(|pair| core.binop(BinOp::Add, 32, &pair[0], &pair[1])).collect();
    join(core, 32, &sums)
}

pub(super) fn multiply_add_bytes<C: Core>(core: &C, w: Width, a: &C::Val, b: &C::Val) -> C::Val {
    let (a, b) = (split(core, w, 8, a), split(core, w, 8, b));
    // A product of an unsigned and a signed byte fits 17 bits, the sum of two 18.
    let products: Vec<C::Val> = a
        .iter()
        .zip(&b)
        .map(|(a, b)| core.binop(BinOp::Mul, 32, &core.zext(8, 32, a), &core.sext(8, 32, b)))
        .collect();
    let (low, high) = range(16, true);
    let sums: Vec<C::Val> = products
        .chunks(2)
        .map(|pair| {
            let sum = core.binop(BinOp::Add, 32, &pair[0], &pair[1]);
            core.extract(32, 0, 16, &clamp(core, 32, &sum, low, high))
        })
        .collect();
    join(core, 16, &sums)
}

/// The sum, in 16 bits, of the absolute differences of bytes.
fn differences<C: Core>(core: &C, a: &[C::Val], b: &[C::Val]) -> C::Val {
    let mut sum = constant(core, 16, 0);
    for (a, b) in a.iter().zip(b) {
        let larger = choose(core, 8, RelOp::Ugt, a, b);
        let smaller = choose(core, 8, RelOp::Ult, a, b);
        let difference = core.binop(BinOp::Sub, 8, &larger, &smaller);
        sum = core.binop(BinOp::Add, 16, &sum, &core.zext(8, 16, &difference));
    }
    sum
}

pub(super) fn sum_absolute_differences<C: Core>(core: &C, w: Width, a: &C::Val, b: &C::Val) -> C::Val {
    let (a, b) = (split(core, w, 8, a), split(core, w, 8, b));
    let sums: Vec<C::Val> =
        a.chunks(8).zip(b.chunks(8)).map(|(a, b)| core.zext(16, 64, &differences(core, a, b))).collect();
    join(core, 64, &sums)
}

pub(super) fn sliding_differences<C: Core>(core: &C, control: u8, a: &C::Val, b: &C::Val) -> C::Val {
    let (a, b) = (split(core, 128, 8, a), split(core, 128, 8, b));
    let a = &a[usize::from(control >> 2 & 1) * 4..];
    let b = &b[usize::from(control & 3) * 4..][..4];
    let sums: Vec<C::Val> = (0..8).map(|at| differences(core, &a[at..at + 4], b)).collect();
    join(core, 16, &sums)
}

pub(super) fn pack<C: Core>(core: &C, signed: bool, w: Width, lane: Width, a: &C::Val, b: &C::Val) -> C::Val {
    let half = lane / 2;
    let (low, high) = range(half, signed);
    let all = [split(core, w, lane, a), split(core, w, lane, b)].concat();
    let lanes: Vec<C::Val> =
        all.iter().map(|a| core.extract(lane, 0, half, &clamp(core, lane, a, low, high))).collect();
    join(core, half, &lanes)
}

pub(super) fn pick<C: Core>(
    core: &C,
    picks: &[u8; 16],
    w: Width,
    out: Width,
    lane: Width,
    a: &C::Val,
    b: &C::Val,
) -> C::Val {
    let all = [split(core, w, lane, a), split(core, w, lane, b)].concat();
    let zero = constant(core, lane, 0);
    let lanes: Vec<C::Val> = picks[..usize::from(out / lane)]
        .iter()
        .map(|&pick| all.get(usize::from(pick)).unwrap_or(&zero).clone())
        .collect();
    join(core, lane, &lanes)
}

pub(super) fn shuffle<C: Core>(core: &C, w: Width, a: &C::Val, b: &C::Val) -> C::Val {
    let index_mask = constant(core, 8, u128::from(w / 8 - 1));
    let three = constant(core, w, 3);
    let zero = constant(core, 8, 0);
    let lanes: Vec<C::Val> = split(core, w, 8, b)
        .iter()
        .map(|control| {
            let index = core.zext(8, w, &core.binop(BinOp::And, 8, control, &index_mask));
            let moved = core.binop(BinOp::Lshr, w, a, &core.binop(BinOp::Shl, w, &index, &three));
            core.cond(8, &is_negative(core, 8, control), &zero, &core.extract(w, 0, 8, &moved))
        })
        .collect();
    join(core, 8, &lanes)
}

/// Lanes of `a` by their numbers, which stand in the lanes of `b` from bit `low` on: half of the lanes that are left go
/// with each bit.
pub(super) fn permute<C: Core>(
    core: &C,
    w: Width,
    lane: Width,
    low: Width,
    a: &C::Val,
    b: &C::Val,
) -> C::Val {
    let lanes = split(core, w, lane, a);
    let chosen: Vec<C::Val> = split(core, w, lane, b)
        .iter()
        .map(|number| {
            let mut left = lanes.clone();
            let mut bit = low;
            while left.len() > 1 {
                let odd = core.val_to_bool(1, &core.extract(lane, bit, 1, number));
                left = left.chunks(2).map(|pair| core.cond(lane, &odd, &pair[1], &pair[0])).collect();
                bit += 1;
            }
            left.remove(0)
        })
        .collect();
    join(core, lane, &chosen)
}

pub(super) fn move_mask<C: Core>(core: &C, w: Width, out: Width, lane: Width, a: &C::Val) -> C::Val {
    let count = w / lane;
    let bits: Vec<C::Val> = (0..count).map(|index| core.extract(w, index * lane + lane - 1, 1, a)).collect();
    let mask = join(core, 1, &bits);
    if count == out { mask } else { core.zext(count, out, &mask) }
}

pub(super) fn widen<C: Core>(
    core: &C,
    signed: bool,
    w: Width,
    out: Width,
    from: Width,
    to: Width,
    a: &C::Val,
) -> C::Val {
    let lanes = split(core, w, from, a);
    let lanes: Vec<C::Val> = lanes[..usize::from(out / to)]
        .iter()
        .map(|lane| if signed { core.sext(from, to, lane) } else { core.zext(from, to, lane) })
        .collect();
    join(core, to, &lanes)
}

pub(super) fn minimum_position<C: Core>(core: &C, a: &C::Val) -> C::Val {
    let lanes = split(core, 128, 16, a);
    let mut least = lanes[0].clone();
    let mut position = constant(core, 16, 0);
    for (index, lane) in lanes.iter().enumerate().skip(1) {
        let below = core.relop(RelOp::Ult, 16, lane, &least);
        least = core.cond(16, &below, lane, &least);
        position = core.cond(16, &below, &constant(core, 16, index as u128), &position);
    }
    core.zext(32, 128, &core.concat(16, 16, &position, &least))
}
