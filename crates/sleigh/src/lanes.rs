//! Vectors lane by lane, in plain operations: what NEON and its kin do to each pair of lanes.

use parallax_ir::{Builder, Varnode};
use parallax_op::{BinOp, RelOp, UnOp};

/// What becomes of two lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Each {
    Add,
    Sub,
    /// The low half of the product.
    Mul,
    /// Half the sum, and half the difference, computed without loss.
    HalvingAdd,
    HalvingSub,
    /// Half the sum, rounded up.
    RoundingHalvingAdd,
    /// Held at the ends of the range.
    SaturatingAdd,
    SaturatingSub,
    /// All ones where the relation holds, zero elsewhere.
    Greater,
    GreaterEqual,
    Equal,
    /// Whether the two have a bit in common.
    Test,
    /// By the lowest byte of the second, a signed number: to the left, or to the right if it is negative.
    Shift,
    Max,
    Min,
    AbsoluteDifference,
}

/// The lanes of a vector, lane 0 first.
pub(crate) fn split(b: &mut Builder, a: Varnode, lane: u16) -> Vec<Varnode> {
    (0..a.bytes / lane).map(|index| b.extract(a, 8 * lane * index, lane)).collect()
}

/// The vector made of lanes.
pub(crate) fn join(b: &mut Builder, lanes: &[Varnode]) -> Varnode {
    lanes.iter().skip(1).fold(lanes[0], |so_far, next| b.concat(*next, so_far))
}

/// A number made wider.
pub(crate) fn extend(b: &mut Builder, signed: bool, a: Varnode, bytes: u16) -> Varnode {
    if signed { b.sext(a, bytes) } else { b.zext(a, bytes) }
}

/// The larger or the smaller of two numbers.
fn choose(b: &mut Builder, op: RelOp, x: Varnode, y: Varnode) -> Varnode {
    let first = b.rel(op, x, y);
    b.select(first, x, y)
}

fn mask(b: &mut Builder, truth: Varnode, bytes: u16) -> Varnode {
    b.select(truth, ones(bytes), Varnode::constant(0, bytes))
}

fn ones(bytes: u16) -> Varnode {
    Varnode::constant(u64::MAX, bytes)
}

/// A signed number of twice the size held at the ends of the range of the size, and cut to it.
pub(crate) fn held(b: &mut Builder, signed: bool, wide: Varnode, bytes: u16) -> Varnode {
    let bits = 8 * u32::from(bytes);
    let (low, high) = if signed {
        (Varnode::constant(1 << (bits - 1), bytes), Varnode::constant((1 << (bits - 1)) - 1, bytes))
    } else {
        (Varnode::constant(0, bytes), ones(bytes))
    };
    let (wide_low, wide_high) = (b.sext(low, wide.bytes), b.zext(high, wide.bytes));
    let (below, above) = (b.rel(RelOp::Slt, wide, wide_low), b.rel(RelOp::Sgt, wide, wide_high));
    let value = b.extract(wide, 0, bytes);
    let value = b.select(above, high, value);
    b.select(below, low, value)
}

/// One lane shifted to the right by a constant, rounded if so wished.
pub(crate) fn shifted_right(
    b: &mut Builder,
    signed: bool,
    a: Varnode,
    distance: u64,
    rounding: bool,
) -> Varnode {
    let op = if signed { BinOp::Ashr } else { BinOp::Lshr };
    if !rounding {
        return b.bin_constant(op, a, distance);
    }
    // With room above for the carry.
    let wide = extend(b, signed, a, 2 * a.bytes);
    let half = b.bin_constant(BinOp::Shl, Varnode::constant(1, wide.bytes), distance - 1);
    let sum = b.bin(BinOp::Add, wide, half);
    let result = b.bin_constant(op, sum, distance);
    b.extract(result, 0, a.bytes)
}

/// What `op` makes of two lanes of one size.
pub(crate) fn each(b: &mut Builder, op: Each, signed: bool, x: Varnode, y: Varnode) -> Varnode {
    let bytes = x.bytes;
    let pick = |s: RelOp, u: RelOp| if signed { s } else { u };
    let halved = |b: &mut Builder, op: BinOp, more: u64| {
        let (x, y) = (extend(b, signed, x, 2 * bytes), extend(b, signed, y, 2 * bytes));
        let sum = b.bin(op, x, y);
        let sum = b.bin_constant(BinOp::Add, sum, more);
        b.extract(sum, 1, bytes)
    };
    let saturated = |b: &mut Builder, op: BinOp| {
        let (x, y) = (extend(b, signed, x, 2 * bytes), extend(b, signed, y, 2 * bytes));
        let exact = b.bin(op, x, y);
        held(b, signed, exact, bytes)
    };
    match op {
        Each::Add => b.bin(BinOp::Add, x, y),
        Each::Sub => b.bin(BinOp::Sub, x, y),
        Each::Mul => b.bin(BinOp::Mul, x, y),
        Each::HalvingAdd => halved(b, BinOp::Add, 0),
        Each::HalvingSub => halved(b, BinOp::Sub, 0),
        Each::RoundingHalvingAdd => halved(b, BinOp::Add, 1),
        Each::SaturatingAdd => saturated(b, BinOp::Add),
        Each::SaturatingSub => saturated(b, BinOp::Sub),
        Each::Greater | Each::GreaterEqual | Each::Equal => {
            let relation = match op {
                Each::Greater => pick(RelOp::Sgt, RelOp::Ugt),
                Each::GreaterEqual => pick(RelOp::Sge, RelOp::Uge),
                _ => RelOp::Eq,
            };
            let holds = b.rel(relation, x, y);
            mask(b, holds, bytes)
        }
        Each::Test => {
            let common = b.bin(BinOp::And, x, y);
            let some = b.rel_constant(RelOp::Ne, common, 0);
            mask(b, some, bytes)
        }
        Each::Shift => {
            let distance = b.extract(y, 0, 1);
            let back = b.un(UnOp::Neg, distance);
            let left = b.bin(BinOp::Shl, x, distance);
            let right = b.bin(if signed { BinOp::Ashr } else { BinOp::Lshr }, x, back);
            let negative = b.rel_constant(RelOp::Slt, distance, 0);
            b.select(negative, right, left)
        }
        Each::Max => choose(b, pick(RelOp::Sgt, RelOp::Ugt), x, y),
        Each::Min => choose(b, pick(RelOp::Slt, RelOp::Ult), x, y),
        Each::AbsoluteDifference => {
            let larger = choose(b, pick(RelOp::Sgt, RelOp::Ugt), x, y);
            let smaller = choose(b, pick(RelOp::Slt, RelOp::Ult), x, y);
            b.bin(BinOp::Sub, larger, smaller)
        }
    }
}

/// The same for all lanes of two vectors.
pub(crate) fn map(b: &mut Builder, op: Each, signed: bool, lane: u16, x: Varnode, y: Varnode) -> Varnode {
    let (x, y) = (split(b, x, lane), split(b, y, lane));
    let lanes: Vec<Varnode> = x.iter().zip(&y).map(|(x, y)| each(b, op, signed, *x, *y)).collect();
    join(b, &lanes)
}

/// Neighbours of the first vector, then of the second.
pub(crate) fn pairwise(
    b: &mut Builder,
    op: Each,
    signed: bool,
    lane: u16,
    x: Varnode,
    y: Varnode,
) -> Varnode {
    let all = [split(b, x, lane), split(b, y, lane)].concat();
    let lanes: Vec<Varnode> = all.chunks(2).map(|pair| each(b, op, signed, pair[0], pair[1])).collect();
    join(b, &lanes)
}
