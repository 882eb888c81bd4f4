//! NEON: instructions with one operand, and shifts by a constant.

use super::Overrides;
use super::neon::Fields;
use crate::ieee::{Comparison, EQUAL, GREATER, GREATER_EQUAL, Unit, absolute, compared, negated};
use crate::lanes::{Saturation, extend, held, held_unsigned, join, shifted_right, split};
use parallax_ir::{Builder, IeeeOp, Intrinsic, Varnode};
use parallax_op::{BinOp, RelOp, Rounding, UnOp};

impl Overrides {
    pub(super) fn neon_two(
        &self,
        b: &mut Builder,
        s: &mut Saturation,
        unit: &mut Unit,
        f: Fields,
    ) -> Option<String> {
        let f = Fields { lane: 1 << (f.word >> 18 & 3), ..f };
        let code = f.word >> 7 & 15;
        match f.word >> 16 & 3 {
            0 => self.neon_integer(b, s, f, code),
            1 => self.neon_sign(b, unit, f, code),
            2 => self.neon_order(b, s, f, code),
            _ => self.neon_convert(b, unit, f, code),
        }
    }

    /// Puts what `function` makes of each lane into the result.
    fn each_lane(
        &self,
        b: &mut Builder,
        f: Fields,
        mut function: impl FnMut(&mut Builder, Varnode) -> Varnode,
    ) -> Option<()> {
        let (out, a) = (self.vector(f.d, f.bytes)?, self.vector(f.m, f.bytes)?);
        let lanes: Vec<Varnode> = split(b, a, f.lane).into_iter().map(|a| function(b, a)).collect();
        let value = join(b, &lanes);
        b.copy(out, value);
        Some(())
    }

    fn neon_integer(&self, b: &mut Builder, s: &mut Saturation, f: Fields, code: u32) -> Option<String> {
        let name = match code {
            0..=2 => {
                let container = 8u16 >> code;
                if f.lane >= container {
                    return None;
                }
                let group = (container / f.lane) as u8;
                let picks = std::array::from_fn(|index| {
                    let index = index as u8;
                    index / group * group + (group - 1 - index % group)
                });
                let (out, a) = (self.vector(f.d, f.bytes)?, self.vector(f.m, f.bytes)?);
                let value = b.call(Intrinsic::Pick { lane: f.lane as u8, picks }, f.bytes, &[a, a]);
                b.copy(out, value);
                "vrev"
            }
            4 | 5 | 12 | 13 if f.lane < 8 => {
                let (out, a) = (self.vector(f.d, f.bytes)?, self.vector(f.m, f.bytes)?);
                let wide: Vec<Varnode> = split(b, a, f.lane)
                    .into_iter()
                    .map(|a| extend(b, code & 1 == 0, a, 2 * f.lane))
                    .collect();
                let old = split(b, out, 2 * f.lane);
                let mut lanes = Vec::new();
                for (pair, old) in wide.chunks(2).zip(old) {
                    let sum = b.bin(BinOp::Add, pair[0], pair[1]);
                    lanes.push(if code > 8 { b.bin(BinOp::Add, old, sum) } else { sum });
                }
                let value = join(b, &lanes);
                b.copy(out, value);
                if code > 8 { "vpadal" } else { "vpaddl" }
            }
            8 | 9 if f.lane < 8 => {
                self.each_lane(b, f, |b, a| {
                    if code == 9 {
                        return b.un(UnOp::Clz, a);
                    }
                    let shifted = b.bin_constant(BinOp::Ashr, a, 1);
                    let changes = b.bin(BinOp::Xor, a, shifted);
                    let count = b.un(UnOp::Clz, changes);
                    b.bin_constant(BinOp::Sub, count, 1)
                })?;
                if code == 8 { "vcls" } else { "vclz" }
            }
            10 | 11 if f.lane == 1 => {
                let op = if code == 10 { UnOp::Popcount } else { UnOp::Not };
                self.each_lane(b, f, |b, a| b.un(op, a))?;
                if code == 10 { "vcnt" } else { "vmvn" }
            }
            14 | 15 if f.lane < 8 => {
                self.each_lane(b, f, |b, a| {
                    let wide = b.sext(a, 2 * f.lane);
                    let opposite = b.un(UnOp::Neg, wide);
                    let below = b.rel_constant(RelOp::Slt, wide, 0);
                    let exact = if code == 14 { b.select(below, opposite, wide) } else { opposite };
                    held(b, s, true, exact, f.lane)
                })?;
                if code == 14 { "vqabs" } else { "vqneg" }
            }
            _ => return None,
        };
        f.said(name)
    }

    /// Against zero, and signs, of integers and floats.
    fn neon_sign(&self, b: &mut Builder, unit: &mut Unit, f: Fields, code: u32) -> Option<String> {
        let float = code & 8 != 0;
        if if float { f.lane != 4 } else { f.lane == 8 } {
            return None;
        }
        let zero = Varnode::constant(0, f.lane);
        let kind = code & 7;
        let name = *["vcgt", "vcge", "vceq", "vcle", "vclt", "", "vabs", "vneg"].get(kind as usize)?;
        if kind == 5 {
            return None;
        }
        self.each_lane(b, f, |b, a| match (kind, float) {
            (6, true) => absolute(b, a),
            (7, true) => negated(b, a),
            (_, true) => {
                let how = match kind {
                    0 => GREATER,
                    1 => GREATER_EQUAL,
                    2 => EQUAL,
                    3 => Comparison { swapped: false, ..GREATER_EQUAL },
                    _ => Comparison { swapped: false, ..GREATER },
                };
                compared(b, unit, how, a, zero)
            }
            (6 | 7, false) => {
                let opposite = b.un(UnOp::Neg, a);
                let below = b.rel_constant(RelOp::Slt, a, 0);
                if kind == 6 { b.select(below, opposite, a) } else { opposite }
            }
            _ => {
                let op = [RelOp::Sgt, RelOp::Sge, RelOp::Eq, RelOp::Sle, RelOp::Slt][kind as usize];
                let holds = b.rel(op, a, zero);
                b.select(holds, Varnode::constant(u64::MAX, f.lane), zero)
            }
        })?;
        f.said(&format!("{name}.{}", if float { 'f' } else { 's' }))
    }

    /// Permutations of two vectors, and lanes made narrower or wider.
    fn neon_order(&self, b: &mut Builder, s: &mut Saturation, f: Fields, code: u32) -> Option<String> {
        let second = f.word >> 6 & 1 == 1;
        match code {
            0..=3 => {
                if f.lane == 8 || code == 0 && f.lane != 1 || code >= 2 && f.bytes == 8 && f.lane == 4 {
                    return None;
                }
                let (x, y) = (self.vector(f.d, f.bytes)?, self.vector(f.m, f.bytes)?);
                // One register with itself is left open.
                if f.d == f.m && code > 0 {
                    return None;
                }
                let (a, c) = (split(b, x, f.lane), split(b, y, f.lane));
                let count = a.len();
                let all = [a.clone(), c.clone()].concat();
                let zipped: Vec<Varnode> = (0..count).flat_map(|i| [a[i], c[i]]).collect();
                let (first, other): (Vec<Varnode>, Vec<Varnode>) = match code {
                    0 => (c, a),
                    1 => (0..count)
                        .map(|i| match i % 2 {
                            0 => (a[i], a[i + 1]),
                            _ => (c[i - 1], c[i]),
                        })
                        .unzip(),
                    2 => all.chunks(2).map(|pair| (pair[0], pair[1])).unzip(),
                    _ => (zipped[..count].to_vec(), zipped[count..].to_vec()),
                };
                let (first, other) = (join(b, &first), join(b, &other));
                let (first, other) = (b.snapshot(first), b.snapshot(other));
                b.copy(x, first);
                b.copy(y, other);
                f.said(["vswp", "vtrn", "vuzp", "vzip"][code as usize])
            }
            4 | 5 if f.lane < 8 => {
                let a = self.vector(f.m, 16)?;
                let mut lanes = Vec::new();
                for a in split(b, a, 2 * f.lane) {
                    lanes.push(match (code, second) {
                        (4, false) => b.extract(a, 0, f.lane),
                        (4, true) => held(b, s, false, a, f.lane),
                        (_, false) => held(b, s, true, a, f.lane),
                        _ => held_unsigned(b, s, a, f.lane),
                    });
                }
                let value = join(b, &lanes);
                b.copy(self.doubles[f.d as usize], value);
                f.said(if code == 4 { "vmovn" } else { "vqmovn" })
            }
            6 if f.lane < 8 && !second => {
                let out = self.vector(f.d, 16)?;
                let mut lanes = Vec::new();
                for a in split(b, self.doubles[f.m as usize], f.lane) {
                    let wide = b.zext(a, 2 * f.lane);
                    lanes.push(b.bin_constant(BinOp::Shl, wide, 8 * u64::from(f.lane)));
                }
                let value = join(b, &lanes);
                b.copy(out, value);
                f.said("vshll")
            }
            _ => None,
        }
    }

    /// Between integers and floats.
    fn neon_convert(&self, b: &mut Builder, unit: &mut Unit, f: Fields, code: u32) -> Option<String> {
        if code < 12 || f.lane != 4 {
            return None;
        }
        let signed = code & 1 == 0;
        self.each_lane(b, f, |b, a| {
            if code < 14 {
                return unit.apply(b, IeeeOp::FromInt { signed, fraction: 0, to: 4 }, 4, &[a]);
            }
            let op = IeeeOp::ToInt { signed, fraction: 0, to: 4 };
            unit.rounded(b, op, Some(Rounding::Zero), 4, &[a])
        })?;
        f.said(["vcvt.f32.s", "vcvt.f32.u", "vcvt.s", "vcvt.u"][code as usize - 12])
    }

    pub(super) fn neon_shift(
        &self,
        b: &mut Builder,
        s: &mut Saturation,
        unit: &mut Unit,
        f: Fields,
    ) -> Option<String> {
        let field = (f.word >> 7 & 1) << 6 | f.word >> 16 & 63;
        let code = f.word >> 8 & 15;
        if code >= 14 {
            return self.neon_fixed(b, unit, f, field, code);
        }
        let lane = 1u16 << (field >> 3).ilog2();
        let f = Fields { lane, ..f };
        let bits = 8 * u32::from(lane);
        let (right, left) = (u64::from(2 * bits - field), u64::from(field - bits));
        if matches!(code, 8..=10) && lane == 8 {
            return None;
        }
        let second = f.word >> 6 & 1 == 1;
        if code == 10 {
            if second {
                return None;
            }
            let out = self.vector(f.d, 16)?;
            let mut lanes = Vec::new();
            for a in split(b, self.doubles[f.m as usize], lane) {
                let wide = extend(b, f.signed, a, 2 * lane);
                lanes.push(b.bin_constant(BinOp::Shl, wide, left));
            }
            let value = join(b, &lanes);
            b.copy(out, value);
            return f.said("vshll");
        }
        if matches!(code, 8 | 9) {
            let a = self.vector(f.m, 16)?;
            let mut lanes = Vec::new();
            for a in split(b, a, 2 * lane) {
                let from_signed = code == 8 || f.signed;
                let moved = shifted_right(b, from_signed, a, right, second);
                lanes.push(match (code, f.signed) {
                    (8, true) => b.extract(moved, 0, lane),
                    (8, false) => held(b, s, false, moved, lane),
                    (_, true) => held(b, s, true, moved, lane),
                    _ => held_unsigned(b, s, moved, lane),
                });
            }
            let value = join(b, &lanes);
            b.copy(self.doubles[f.d as usize], value);
            return f.said(if code == 8 { "vshrn" } else { "vqshrn" });
        }
        let (out, a) = (self.vector(f.d, f.bytes)?, self.vector(f.m, f.bytes)?);
        let old = split(b, out, lane);
        let mut lanes = Vec::new();
        for (a, old) in split(b, a, lane).into_iter().zip(old) {
            let inserted = |b: &mut Builder, op: BinOp, distance: u64| {
                let moved = b.bin_constant(op, a, distance);
                let reached = b.bin_constant(op, Varnode::constant(u64::MAX, lane), distance);
                let rest = b.un(UnOp::Not, reached);
                let kept = b.bin(BinOp::And, old, rest);
                b.bin(BinOp::Or, moved, kept)
            };
            lanes.push(match (code, f.signed) {
                (0..=3, signed) => {
                    let moved = shifted_right(b, signed, a, right, code & 2 != 0);
                    if code & 1 == 1 { b.bin(BinOp::Add, old, moved) } else { moved }
                }
                (4, false) => inserted(b, BinOp::Lshr, right),
                (5, true) => b.bin_constant(BinOp::Shl, a, left),
                (5, false) => inserted(b, BinOp::Shl, left),
                (6, false) | (7, _) => {
                    let wide = extend(b, f.signed || code == 6, a, 2 * lane);
                    let moved = b.bin_constant(BinOp::Shl, wide, left);
                    match (code, f.signed) {
                        (6, _) => held(b, s, false, moved, lane),
                        (_, true) => held(b, s, true, moved, lane),
                        _ => held_unsigned(b, s, moved, lane),
                    }
                }
                _ => return None,
            });
        }
        let value = join(b, &lanes);
        b.copy(out, value);
        let name = ["vshr", "vsra", "vrshr", "vrsra", "vsri", "vshl", "vqshlu", "vqshl"][code as usize];
        f.said(name).map(|text| format!("{text},#{}", if code < 5 { right } else { left }))
    }

    /// Between floats and fixed-point numbers.
    fn neon_fixed(
        &self,
        b: &mut Builder,
        unit: &mut Unit,
        f: Fields,
        field: u32,
        code: u32,
    ) -> Option<String> {
        if !(32..64).contains(&field) {
            return None;
        }
        let f = Fields { lane: 4, ..f };
        let fraction = (64 - field) as u8;
        self.each_lane(b, f, |b, a| {
            if code == 14 {
                return unit.apply(b, IeeeOp::FromInt { signed: f.signed, fraction, to: 4 }, 4, &[a]);
            }
            let op = IeeeOp::ToInt { signed: f.signed, fraction, to: 4 };
            unit.rounded(b, op, Some(Rounding::Zero), 4, &[a])
        })?;
        f.said(if code == 14 { "vcvt.f32" } else { "vcvt.fixed" })
    }
}
