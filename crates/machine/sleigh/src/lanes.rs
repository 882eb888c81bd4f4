//! Vectors lane by lane, in plain operations: what NEON and its kin do to each pair of lanes.

use parallax_ir::{Builder, Intrinsic, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp, UnOp};

/// What becomes of two lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Each {
    Add,
    Sub,
    /// The low half of the product.
    Mul,
    /// The product of polynomials over the field of two elements.
    PolynomialMul,
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
    /// By the lowest byte of the second, a signed number: to the left, or to the right if it is negative. What goes to the
    /// right may be rounded, what goes to the left held at the ends of the range.
    Shift {
        rounding: bool,
        saturating: bool,
    },
    /// The high half of twice the product, held at the ends of the range.
    DoublingMulHigh {
        rounding: bool,
    },
    Max,
    Min,
    AbsoluteDifference,
}

/// Whether anything was held at an end of its range: what processors remember.
#[derive(Default)]
pub(crate) struct Saturation(Option<Varnode>);

impl Saturation {
    fn note(&mut self, b: &mut Builder, happened: Varnode) {
        self.0 = Some(match self.0 {
            None => happened,
            Some(before) => b.bool(BoolOp::Or, before, happened),
        });
    }

    /// A truth value, if any operation could.
    pub fn happened(&self) -> Option<Varnode> {
        self.0
    }
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

/// A signed number held at the ends of the range of a smaller size, and cut to it.
pub(crate) fn held(b: &mut Builder, s: &mut Saturation, signed: bool, wide: Varnode, bytes: u16) -> Varnode {
    let bits = 8 * u32::from(bytes);
    let (low, high) = if signed {
        (Varnode::constant(1 << (bits - 1), bytes), Varnode::constant((1 << (bits - 1)) - 1, bytes))
    } else {
        (Varnode::constant(0, bytes), ones(bytes))
    };
    let (wide_low, wide_high) = (b.sext(low, wide.bytes), b.zext(high, wide.bytes));
    let (below, above) = (b.rel(RelOp::Slt, wide, wide_low), b.rel(RelOp::Sgt, wide, wide_high));
    let outside = b.bool(BoolOp::Or, below, above);
    s.note(b, outside);
    let value = b.extract(wide, 0, bytes);
    let value = b.select(above, high, value);
    b.select(below, low, value)
}

/// An unsigned number likewise: it is only ever too large.
pub(crate) fn held_unsigned(b: &mut Builder, s: &mut Saturation, wide: Varnode, bytes: u16) -> Varnode {
    let limit = b.zext(ones(bytes), wide.bytes);
    let above = b.rel(RelOp::Ugt, wide, limit);
    s.note(b, above);
    let value = b.extract(wide, 0, bytes);
    b.select(above, ones(bytes), value)
}

/// One lane shifted by the lowest byte of another.
fn shifted(
    b: &mut Builder,
    s: &mut Saturation,
    signed: bool,
    (rounding, saturating): (bool, bool),
    x: Varnode,
    y: Varnode,
) -> Varnode {
    let bits = 8 * u64::from(x.bytes);
    let byte = |number: u64| Varnode::constant(number, 1);
    let distance = b.extract(y, 0, 1);
    let negative = b.rel_constant(RelOp::Slt, distance, 0);
    let wide = extend(b, signed, x, 2 * x.bytes);
    // To the left, where going by more than the width is as good as by the width.
    let far = b.rel_constant(RelOp::Ugt, distance, bits);
    let most = b.select(far, byte(bits), distance);
    let moved = b.bin(BinOp::Shl, wide, most);
    let left = if saturating {
        let mut outside = Saturation::default();
        let held = match signed {
            true => held(b, &mut outside, true, moved, x.bytes),
            false => held_unsigned(b, &mut outside, moved, x.bytes),
        };
        if let Some(outside) = outside.happened() {
            let positive = b.not(negative);
            let counts = b.bool(BoolOp::And, outside, positive);
            s.note(b, counts);
        }
        held
    } else {
        b.extract(moved, 0, x.bytes)
    };
    // To the right; of a number rounded beyond its width nothing is left.
    let back = b.un(UnOp::Neg, distance);
    let far = b.rel_constant(RelOp::Ugt, back, bits);
    let most = b.select(far, byte(bits), back);
    let sum = if rounding {
        let before = b.bin_constant(BinOp::Sub, most, 1);
        let half = b.bin(BinOp::Shl, Varnode::constant(1, wide.bytes), before);
        b.bin(BinOp::Add, wide, half)
    } else {
        wide
    };
    let moved = b.bin(if signed { BinOp::Ashr } else { BinOp::Lshr }, sum, most);
    let mut right = b.extract(moved, 0, x.bytes);
    if rounding {
        right = b.select(far, Varnode::constant(0, x.bytes), right);
    }
    b.select(negative, right, left)
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
pub(crate) fn each(
    b: &mut Builder,
    s: &mut Saturation,
    op: Each,
    signed: bool,
    x: Varnode,
    y: Varnode,
) -> Varnode {
    let bytes = x.bytes;
    let pick = |s: RelOp, u: RelOp| if signed { s } else { u };
    let halved = |b: &mut Builder, op: BinOp, more: u64| {
        let (x, y) = (extend(b, signed, x, 2 * bytes), extend(b, signed, y, 2 * bytes));
        let sum = b.bin(op, x, y);
        let sum = b.bin_constant(BinOp::Add, sum, more);
        b.extract(sum, 1, bytes)
    };
    let saturated = |b: &mut Builder, s: &mut Saturation, op: BinOp| {
        let (x, y) = (extend(b, signed, x, 2 * bytes), extend(b, signed, y, 2 * bytes));
        let exact = b.bin(op, x, y);
        held(b, s, signed, exact, bytes)
    };
    match op {
        Each::Add => b.bin(BinOp::Add, x, y),
        Each::Sub => b.bin(BinOp::Sub, x, y),
        Each::Mul => b.bin(BinOp::Mul, x, y),
        Each::PolynomialMul => {
            let product = b.call(Intrinsic::CarrylessMultiply, 2 * bytes, &[x, y]);
            b.extract(product, 0, bytes)
        }
        Each::HalvingAdd => halved(b, BinOp::Add, 0),
        Each::HalvingSub => halved(b, BinOp::Sub, 0),
        Each::RoundingHalvingAdd => halved(b, BinOp::Add, 1),
        Each::SaturatingAdd => saturated(b, s, BinOp::Add),
        Each::SaturatingSub => saturated(b, s, BinOp::Sub),
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
        Each::Shift { rounding, saturating } => shifted(b, s, signed, (rounding, saturating), x, y),
        Each::DoublingMulHigh { rounding } => {
            let bits = 8 * u64::from(bytes);
            let (x, y) = (b.sext(x, 2 * bytes), b.sext(y, 2 * bytes));
            let mut product = b.bin(BinOp::Mul, x, y);
            if rounding {
                product = b.bin_constant(BinOp::Add, product, 1 << (bits - 2));
            }
            let high = b.bin_constant(BinOp::Ashr, product, bits - 1);
            held(b, s, true, high, bytes)
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
pub(crate) fn map(
    b: &mut Builder,
    s: &mut Saturation,
    op: Each,
    signed: bool,
    lane: u16,
    x: Varnode,
    y: Varnode,
) -> Varnode {
    let (x, y) = (split(b, x, lane), split(b, y, lane));
    let lanes: Vec<Varnode> = x.iter().zip(&y).map(|(x, y)| each(b, s, op, signed, *x, *y)).collect();
    join(b, &lanes)
}

/// Neighbours of the first vector, then of the second.
pub(crate) fn pairwise(
    b: &mut Builder,
    s: &mut Saturation,
    op: Each,
    signed: bool,
    lane: u16,
    x: Varnode,
    y: Varnode,
) -> Varnode {
    let all = [split(b, x, lane), split(b, y, lane)].concat();
    let lanes: Vec<Varnode> = all.chunks(2).map(|pair| each(b, s, op, signed, pair[0], pair[1])).collect();
    join(b, &lanes)
}
