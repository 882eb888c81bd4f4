//! AArch64's vectors of integers, by the tables of the manual ("Advanced SIMD"): what auto-vectorisers emit. Float
//! arithmetic, moves, permutations and structure loads are the specification's.

use super::{Overrides, from_integer, to_integer};
use crate::lanes::{Each, each, extend, held, join, map, pairwise, shifted_right, split};
use parallax_ir::{Builder, Intrinsic, Varnode};
use parallax_op::{BinOp, RelOp, Rounding, UnOp};

/// The fields that almost all of them share.
#[derive(Clone, Copy)]
struct Fields {
    word: u32,
    /// Bytes of the vectors.
    bytes: u16,
    /// Bytes of a lane, as the size field says.
    lane: u16,
    signed: bool,
    d: usize,
    n: usize,
    m: usize,
}

impl Fields {
    fn new(word: u32) -> Self {
        let field = |low: u32| (word >> low & 31) as usize;
        Fields {
            word,
            bytes: if word >> 30 & 1 == 1 { 16 } else { 8 },
            lane: 1 << (word >> 22 & 3),
            signed: word >> 29 & 1 == 0,
            d: field(0),
            n: field(5),
            m: field(16),
        }
    }

    /// Whether this is the upper half of a register that a widening or narrowing instruction works on.
    fn is_upper(&self) -> bool {
        self.bytes == 16
    }

    fn sign(&self) -> char {
        if self.signed { 's' } else { 'u' }
    }

    /// Lanes in the assembler's notation: `4s`.
    fn shape(bytes: u16, lane: u16) -> String {
        let letter = ['b', 'h', 's', 'd'][lane.trailing_zeros() as usize % 4];
        format!("{}{letter}", bytes / lane)
    }

    fn three(&self, name: &str) -> Option<String> {
        let shape = Self::shape(self.bytes, self.lane);
        Some(format!("{name} v{}.{shape},v{}.{shape},v{}.{shape}", self.d, self.n, self.m))
    }

    fn two(&self, name: &str) -> Option<String> {
        let shape = Self::shape(self.bytes, self.lane);
        Some(format!("{name} v{}.{shape},v{}.{shape}", self.d, self.n))
    }

    /// Lanes that become wider or narrower, the wide ones named by twice the lane.
    fn mixed(&self, name: &str, operands: &str) -> Option<String> {
        let upper = if self.is_upper() { "2" } else { "" };
        Some(format!("{name}{upper} v{}.{}{operands}", self.d, Self::shape(16, 2 * self.lane)))
    }
}

impl Overrides {
    /// The instruction's text, if it is one of these and its operations are written.
    pub(super) fn vector(&self, b: &mut Builder, word: u32) -> Option<String> {
        let f = Fields::new(word);
        if word & 0x9f20_0400 == 0x0e20_0400 {
            self.three_same(b, f)
        } else if word & 0x9f20_0c00 == 0x0e20_0000 {
            self.three_different(b, f)
        } else if word & 0x9f3e_0c00 == 0x0e20_0800 {
            self.two(b, f)
        } else if word & 0x9f3e_0c00 == 0x0e30_0800 {
            self.across(b, f)
        } else if word & 0xbfe0_8400 == 0x2e00_0000 {
            self.extraction(b, f)
        } else if word & 0xbfe0_8c00 == 0x0e00_0000 {
            self.lookup(b, f)
        } else if word & 0x9f80_0400 == 0x0f00_0400 && word >> 19 & 15 != 0 {
            self.shift(b, f)
        } else if word & 0x9ff8_fc00 == 0x0f00_f400 {
            self.float_constant(b, f)
        } else if word & 0x9f00_0400 == 0x0f00_0000 {
            self.by_element(b, f)
        } else {
            None
        }
    }

    fn low(&self, number: usize, bytes: u16) -> Varnode {
        self.vectors[number].slice(0, bytes)
    }

    /// The eight bytes that a widening instruction reads.
    fn half(&self, f: Fields, number: usize) -> Varnode {
        self.vectors[number].slice(if f.is_upper() { 8 } else { 0 }, 8)
    }

    /// Eight bytes as a narrowing instruction writes them: the upper ones leave the lower as they are.
    fn set_half(&self, b: &mut Builder, f: Fields, value: Varnode) {
        if f.is_upper() {
            b.copy(self.vectors[f.d].slice(8, 8), value);
        } else {
            self.set(b, f.d, value);
        }
    }

    fn three_same(&self, b: &mut Builder, f: Fields) -> Option<String> {
        let opcode = f.word >> 11 & 31;
        if f.lane == 8 && f.bytes == 8 {
            return None;
        }
        let (x, y, old) = (self.low(f.n, f.bytes), self.low(f.m, f.bytes), self.low(f.d, f.bytes));
        let both = |signed: &'static str, unsigned: &'static str| if f.signed { signed } else { unsigned };
        let (op, name) = match opcode {
            0 => (Each::HalvingAdd, both("shadd", "uhadd")),
            1 => (Each::SaturatingAdd, both("sqadd", "uqadd")),
            2 => (Each::RoundingHalvingAdd, both("srhadd", "urhadd")),
            4 => (Each::HalvingSub, both("shsub", "uhsub")),
            5 => (Each::SaturatingSub, both("sqsub", "uqsub")),
            6 => (Each::Greater, both("cmgt", "cmhi")),
            7 => (Each::GreaterEqual, both("cmge", "cmhs")),
            8 => (Each::Shift, both("sshl", "ushl")),
            12 | 20 => (Each::Max, both("smax", "umax")),
            13 | 21 => (Each::Min, both("smin", "umin")),
            14 => (Each::AbsoluteDifference, both("sabd", "uabd")),
            15 => (Each::AbsoluteDifference, both("saba", "uaba")),
            16 if f.signed => (Each::Add, "add"),
            16 => (Each::Sub, "sub"),
            17 if f.signed => (Each::Test, "cmtst"),
            17 => (Each::Equal, "cmeq"),
            18 => (Each::Mul, both("mla", "mls")),
            19 if f.signed => (Each::Mul, "mul"),
            23 if f.signed => (Each::Add, "addp"),
            _ => return None,
        };
        let without_doublewords = [0, 2, 4, 12, 13, 14, 15, 18, 19, 20, 21];
        if f.lane == 8 && without_doublewords.contains(&opcode) {
            return None;
        }
        if matches!(opcode, 20 | 21 | 23) {
            let value = pairwise(b, op, f.signed, f.lane, x, y);
            self.set(b, f.d, value);
            return f.three(&format!("{name}{}", if opcode == 23 { "" } else { "p" }));
        }
        let value = map(b, op, f.signed, f.lane, x, y);
        let value = match opcode {
            15 => map(b, Each::Add, true, f.lane, old, value),
            18 => map(b, if f.signed { Each::Add } else { Each::Sub }, true, f.lane, old, value),
            _ => value,
        };
        self.set(b, f.d, value);
        f.three(name)
    }

    fn three_different(&self, b: &mut Builder, f: Fields) -> Option<String> {
        if f.lane == 8 {
            return None;
        }
        let opcode = f.word >> 12 & 15;
        let operands = format!(",v{}.{},v{}", f.n, Fields::shape(8, f.lane), f.m);
        if matches!(opcode, 4 | 6) {
            // The high halves of sums and differences, rounded if the bit that is elsewhere the sign says so.
            let op = if opcode == 4 { Each::Add } else { Each::Sub };
            let sums = map(b, op, true, 2 * f.lane, self.vectors[f.n], self.vectors[f.m]);
            let bits = 8 * u64::from(f.lane);
            let lanes: Vec<Varnode> = split(b, sums, 2 * f.lane)
                .into_iter()
                .map(|sum| {
                    let sum = if f.signed { sum } else { b.bin_constant(BinOp::Add, sum, 1 << (bits - 1)) };
                    b.extract(sum, bits as u16, f.lane)
                })
                .collect();
            let value = join(b, &lanes);
            self.set_half(b, f, value);
            let name =
                format!("{}{}hn", if f.signed { "" } else { "r" }, if opcode == 4 { "add" } else { "sub" });
            return f.mixed(&name, &operands);
        }
        let (op, accumulate, name) = match opcode {
            0 | 1 => (Each::Add, None, "add"),
            2 | 3 => (Each::Sub, None, "sub"),
            5 => (Each::AbsoluteDifference, Some(Each::Add), "aba"),
            7 => (Each::AbsoluteDifference, None, "abd"),
            8 => (Each::Mul, Some(Each::Add), "mla"),
            10 => (Each::Mul, Some(Each::Sub), "mls"),
            12 => (Each::Mul, None, "mul"),
            _ => return None,
        };
        let wide_first = matches!(opcode, 1 | 3);
        let y = self.widened(b, f, self.half(f, f.m));
        let x = if wide_first {
            split(b, self.vectors[f.n], 2 * f.lane)
        } else {
            self.widened(b, f, self.half(f, f.n))
        };
        self.accumulated(b, f, op, accumulate, &x, &y);
        f.mixed(&format!("{}{name}{}", f.sign(), if wide_first { 'w' } else { 'l' }), &operands)
    }

    fn widened(&self, b: &mut Builder, f: Fields, a: Varnode) -> Vec<Varnode> {
        split(b, a, f.lane).into_iter().map(|a| extend(b, f.signed, a, 2 * f.lane)).collect()
    }

    /// `op` of wide lanes, added to the lanes that were there or subtracted from them if so wished.
    fn accumulated(
        &self,
        b: &mut Builder,
        f: Fields,
        op: Each,
        accumulate: Option<Each>,
        x: &[Varnode],
        y: &[Varnode],
    ) {
        let lanes: Vec<Varnode> = x.iter().zip(y).map(|(x, y)| each(b, op, f.signed, *x, *y)).collect();
        let mut value = join(b, &lanes);
        if let Some(how) = accumulate {
            value = map(b, how, true, lanes[0].bytes, self.low(f.d, value.bytes), value);
        }
        self.set(b, f.d, value);
    }

    fn by_element(&self, b: &mut Builder, f: Fields) -> Option<String> {
        let bit = |at: u32| (f.word >> at & 1) as u16;
        let (number, index) = match f.lane {
            2 => (f.m & 15, bit(11) << 2 | bit(21) << 1 | bit(20)),
            4 => (f.m, bit(11) << 1 | bit(21)),
            _ => return None,
        };
        let element = b.extract(self.vectors[number], 8 * f.lane * index, f.lane);
        let opcode = f.word >> 12 & 15;
        let operand = format!("v{number}[{index}]");
        let (accumulate, name) = match (opcode, f.signed) {
            (8, true) => (None, "mul"),
            (0, false) => (Some(Each::Add), "mla"),
            (4, false) => (Some(Each::Sub), "mls"),
            (10, _) => (None, "mull"),
            (2, _) => (Some(Each::Add), "mlal"),
            (6, _) => (Some(Each::Sub), "mlsl"),
            _ => return None,
        };
        if opcode.is_multiple_of(4) {
            let x = split(b, self.low(f.n, f.bytes), f.lane);
            let y = vec![element; x.len()];
            self.accumulated(b, f, Each::Mul, accumulate, &x, &y);
            return f.two(name).map(|text| format!("{text},{operand}"));
        }
        let x = self.widened(b, f, self.half(f, f.n));
        let y = vec![extend(b, f.signed, element, 2 * f.lane); x.len()];
        self.accumulated(b, f, Each::Mul, accumulate, &x, &y);
        f.mixed(&format!("{}{name}", f.sign()), &format!(",v{},{operand}", f.n))
    }

    fn two(&self, b: &mut Builder, f: Fields) -> Option<String> {
        let opcode = f.word >> 12 & 31;
        let a = self.low(f.n, f.bytes);
        let whole = f.lane < 8 || f.bytes == 16;
        let lanewise = |b: &mut Builder, function: &dyn Fn(&mut Builder, Varnode) -> Varnode| {
            let lanes: Vec<Varnode> = split(b, a, f.lane).into_iter().map(|a| function(b, a)).collect();
            let value = join(b, &lanes);
            self.set(b, f.d, value);
        };
        let zero = Varnode::constant(0, f.lane);
        match (opcode, f.signed) {
            (2 | 6, _) if f.lane < 8 => {
                let wide = self.widened_whole(b, f, a);
                let sums: Vec<Varnode> =
                    wide.chunks(2).map(|pair| b.bin(BinOp::Add, pair[0], pair[1])).collect();
                let mut value = join(b, &sums);
                if opcode == 6 {
                    value = map(b, Each::Add, true, 2 * f.lane, self.low(f.d, f.bytes), value);
                }
                self.set(b, f.d, value);
                f.two(&format!("{}{}", f.sign(), if opcode == 2 { "addlp" } else { "adalp" }))
            }
            (4, signed) if f.lane < 8 => {
                lanewise(b, &|b, a| {
                    if !signed {
                        return b.un(UnOp::Clz, a);
                    }
                    // Bits like the sign, the sign itself not counted: leading zeros where each bit differs from the next.
                    let shifted = b.bin_constant(BinOp::Ashr, a, 1);
                    let changes = b.bin(BinOp::Xor, a, shifted);
                    let count = b.un(UnOp::Clz, changes);
                    b.bin_constant(BinOp::Sub, count, 1)
                });
                f.two(if signed { "cls" } else { "clz" })
            }
            (5, true) if f.lane == 1 => {
                lanewise(b, &|b, a| b.un(UnOp::Popcount, a));
                f.two("cnt")
            }
            (8..=10, _) if whole && (opcode, f.signed) != (10, false) => {
                let (op, name) = match (opcode, f.signed) {
                    (8, true) => (RelOp::Sgt, "cmgt"),
                    (8, false) => (RelOp::Sge, "cmge"),
                    (9, true) => (RelOp::Eq, "cmeq"),
                    (9, false) => (RelOp::Sle, "cmle"),
                    _ => (RelOp::Slt, "cmlt"),
                };
                lanewise(b, &|b, a| {
                    let holds = b.rel(op, a, zero);
                    b.select(holds, Varnode::constant(u64::MAX, f.lane), zero)
                });
                f.two(name).map(|text| format!("{text},#0"))
            }
            (11, signed) if whole => {
                lanewise(b, &|b, a| {
                    let negative = b.un(UnOp::Neg, a);
                    if !signed {
                        return negative;
                    }
                    let below = b.rel_constant(RelOp::Slt, a, 0);
                    b.select(below, negative, a)
                });
                f.two(if signed { "abs" } else { "neg" })
            }
            (18 | 20, _) if f.lane < 8 => {
                let wide = split(b, self.vectors[f.n], 2 * f.lane);
                let lanes: Vec<Varnode> = wide
                    .into_iter()
                    .map(|a| match (opcode, f.signed) {
                        (18, true) => b.extract(a, 0, f.lane),
                        (18, false) => held(b, false, a, f.lane),
                        (_, true) => held(b, true, a, f.lane),
                        // An unsigned number is only ever too large.
                        _ => {
                            let ones = Varnode::constant(u64::MAX, f.lane);
                            let high = b.zext(ones, 2 * f.lane);
                            let above = b.rel(RelOp::Ugt, a, high);
                            let low = b.extract(a, 0, f.lane);
                            b.select(above, ones, low)
                        }
                    })
                    .collect();
                let value = join(b, &lanes);
                self.set_half(b, f, value);
                let name = match (opcode, f.signed) {
                    (18, true) => "xtn",
                    (18, false) => "sqxtun",
                    (_, true) => "sqxtn",
                    _ => "uqxtn",
                };
                let upper = if f.is_upper() { "2" } else { "" };
                let (to, from) = (Fields::shape(f.bytes, f.lane), Fields::shape(16, 2 * f.lane));
                Some(format!("{name}{upper} v{}.{to},v{}.{from}", f.d, f.n))
            }
            (19, false) if f.lane < 8 => {
                let f = Fields { signed: false, ..f };
                let lanes: Vec<Varnode> = self
                    .widened(b, f, self.half(f, f.n))
                    .into_iter()
                    .map(|a| b.bin_constant(BinOp::Shl, a, 8 * u64::from(f.lane)))
                    .collect();
                let value = join(b, &lanes);
                self.set(b, f.d, value);
                f.mixed("shll", &format!(",v{},#{}", f.n, 8 * f.lane))
            }
            (26..=29, _) => self.conversion(b, f, opcode),
            _ => None,
        }
    }

    fn widened_whole(&self, b: &mut Builder, f: Fields, a: Varnode) -> Vec<Varnode> {
        split(b, a, f.lane).into_iter().map(|a| extend(b, f.signed, a, 2 * f.lane)).collect()
    }

    /// Between integers and floats, lane by lane.
    fn conversion(&self, b: &mut Builder, f: Fields, opcode: u32) -> Option<String> {
        let lane = if f.word >> 22 & 1 == 1 { 8 } else { 4 };
        if lane == 8 && f.bytes == 8 {
            return None;
        }
        let (rounding, letter) = match (opcode, f.word >> 23 & 1) {
            (26, 0) => (Some(Rounding::NearestEven), 'n'),
            (26, _) => (Some(Rounding::Up), 'p'),
            (27, 0) => (Some(Rounding::Down), 'm'),
            (27, _) => (Some(Rounding::Zero), 'z'),
            (28, 0) => (Some(Rounding::NearestAway), 'a'),
            (29, 0) => (None, ' '),
            _ => return None,
        };
        let lanes: Vec<Varnode> = split(b, self.low(f.n, f.bytes), lane)
            .into_iter()
            .map(|a| match rounding {
                Some(rounding) => to_integer(b, a, !f.signed, lane, rounding),
                None => from_integer(b, a, !f.signed, lane),
            })
            .collect();
        let value = join(b, &lanes);
        self.set(b, f.d, value);
        let f = Fields { lane, ..f };
        match rounding {
            Some(_) => f.two(&format!("fcvt{letter}{}", f.sign())),
            None => f.two(&format!("{}cvtf", f.sign())),
        }
    }

    /// All lanes to one: sums, in twice the width if so wished, and extremes.
    fn across(&self, b: &mut Builder, f: Fields) -> Option<String> {
        if f.lane == 8 || f.bytes / f.lane < 4 {
            return None;
        }
        let (op, long, name) = match (f.word >> 12 & 31, f.signed) {
            (3, true) => (Each::Add, true, "saddlv"),
            (3, false) => (Each::Add, true, "uaddlv"),
            (10, true) => (Each::Max, false, "smaxv"),
            (10, false) => (Each::Max, false, "umaxv"),
            (26, true) => (Each::Min, false, "sminv"),
            (26, false) => (Each::Min, false, "uminv"),
            (27, true) => (Each::Add, false, "addv"),
            _ => return None,
        };
        let lanes = split(b, self.low(f.n, f.bytes), f.lane);
        let bytes = if long { 2 * f.lane } else { f.lane };
        let lanes: Vec<Varnode> = lanes.into_iter().map(|a| extend(b, f.signed, a, bytes)).collect();
        let value = lanes[1..].iter().fold(lanes[0], |so_far, a| each(b, op, f.signed, so_far, *a));
        self.set(b, f.d, value);
        Some(format!("{name} v{},v{}.{}", f.d, f.n, Fields::shape(f.bytes, f.lane)))
    }

    /// `ext`: bytes of two vectors, one behind the other, from a place on.
    fn extraction(&self, b: &mut Builder, f: Fields) -> Option<String> {
        let from = (f.word >> 11 & 15) as u8;
        if f.bytes == 8 && from >= 8 {
            return None;
        }
        let picks = std::array::from_fn(|index| from + index as u8);
        let (x, y) = (self.low(f.n, f.bytes), self.low(f.m, f.bytes));
        let value = b.call(Intrinsic::Pick { lane: 1, picks }, f.bytes, &[x, y]);
        self.set(b, f.d, value);
        let f = Fields { lane: 1, ..f };
        f.three("ext").map(|text| format!("{text},#{from}"))
    }

    /// `tbl` and `tbx`: bytes of up to four vectors by number; beyond them zero, or what was there.
    fn lookup(&self, b: &mut Builder, f: Fields) -> Option<String> {
        let count = (f.word >> 13 & 3) as usize + 1;
        let keeps = f.word >> 12 & 1 == 1;
        let table: Vec<Varnode> = (0..count).map(|index| self.vectors[(f.n + index) % 32]).collect();
        let table = join(b, &table);
        let (indices, old) = (split(b, self.low(f.m, f.bytes), 1), split(b, self.low(f.d, f.bytes), 1));
        let lanes: Vec<Varnode> = indices
            .into_iter()
            .zip(old)
            .map(|(index, old)| {
                let wide = b.zext(index, 2);
                let distance = b.bin_constant(BinOp::Shl, wide, 3);
                let moved = b.bin(BinOp::Lshr, table, distance);
                let found = b.extract(moved, 0, 1);
                if !keeps {
                    return found;
                }
                let inside = b.rel_constant(RelOp::Ult, index, 16 * count as u64);
                b.select(inside, found, old)
            })
            .collect();
        let value = join(b, &lanes);
        self.set(b, f.d, value);
        let name = if keeps { "tbx" } else { "tbl" };
        let shape = Fields::shape(f.bytes, 1);
        Some(format!("{name} v{}.{shape},{{v{}.16b*{count}}},v{}.{shape}", f.d, f.n, f.m))
    }

    /// Shifts by a constant. The position of the highest bit of the field tells the lane.
    fn shift(&self, b: &mut Builder, f: Fields) -> Option<String> {
        let size = (f.word >> 19 & 15).ilog2();
        let lane = 1u16 << size;
        let f = Fields { lane, ..f };
        let bits = 8 * u32::from(lane);
        let field = f.word >> 16 & 0x7f;
        let (right, left) = (u64::from(2 * bits - field), u64::from(field - bits));
        let opcode = f.word >> 11 & 31;
        if lane == 8 && (f.bytes == 8 || matches!(opcode, 16 | 17 | 20)) {
            return None;
        }
        let (x, old) = (self.low(f.n, f.bytes), self.low(f.d, f.bytes));
        match (opcode, f.signed) {
            (0 | 2 | 4 | 6, _) => {
                let lanes: Vec<Varnode> = split(b, x, lane)
                    .into_iter()
                    .map(|a| shifted_right(b, f.signed, a, right, opcode & 4 != 0))
                    .collect();
                let mut value = join(b, &lanes);
                if opcode & 2 != 0 {
                    value = map(b, Each::Add, true, lane, old, value);
                }
                self.set(b, f.d, value);
                let name = ["shr", "sra", "rshr", "rsra"][opcode as usize / 2];
                f.two(&format!("{}{name}", f.sign())).map(|text| format!("{text},#{right}"))
            }
            (8, false) | (10, _) => {
                let (from, to) = (split(b, x, lane), split(b, old, lane));
                let (op, distance) = if opcode == 8 { (BinOp::Lshr, right) } else { (BinOp::Shl, left) };
                let lanes: Vec<Varnode> = from
                    .into_iter()
                    .zip(to)
                    .map(|(a, old)| {
                        let moved = b.bin_constant(op, a, distance);
                        if f.signed {
                            return moved;
                        }
                        // The bits that the shift does not reach stay as they are.
                        let reached = b.bin_constant(op, Varnode::constant(u64::MAX, lane), distance);
                        let rest = b.un(UnOp::Not, reached);
                        let kept = b.bin(BinOp::And, old, rest);
                        b.bin(BinOp::Or, moved, kept)
                    })
                    .collect();
                let value = join(b, &lanes);
                self.set(b, f.d, value);
                let name = if opcode == 8 {
                    "sri"
                } else if f.signed {
                    "shl"
                } else {
                    "sli"
                };
                f.two(name).map(|text| format!("{text},#{distance}"))
            }
            (16 | 17, true) => {
                let lanes: Vec<Varnode> = split(b, self.vectors[f.n], 2 * lane)
                    .into_iter()
                    .map(|a| {
                        let moved = shifted_right(b, false, a, right, opcode == 17);
                        b.extract(moved, 0, lane)
                    })
                    .collect();
                let value = join(b, &lanes);
                self.set_half(b, f, value);
                f.mixed(if opcode == 16 { "shrn" } else { "rshrn" }, &format!(",v{},#{right}", f.n))
            }
            (20, _) => {
                let lanes: Vec<Varnode> = self
                    .widened(b, f, self.half(f, f.n))
                    .into_iter()
                    .map(|a| b.bin_constant(BinOp::Shl, a, left))
                    .collect();
                let value = join(b, &lanes);
                self.set(b, f.d, value);
                f.mixed(&format!("{}shll", f.sign()), &format!(",v{},#{left}", f.n))
            }
            _ => None,
        }
    }

    /// `fmov` of a constant to all lanes: a sign, a three-bit exponent and four bits of fraction.
    fn float_constant(&self, b: &mut Builder, f: Fields) -> Option<String> {
        let eight = u64::from(f.word >> 11 & 0xe0 | f.word >> 5 & 0x1f);
        let (sign, high, rest) = (eight >> 7, eight >> 6 & 1, eight & 0x3f);
        let lane = if f.signed { 4 } else { 8 };
        if lane == 8 && f.bytes == 8 {
            return None;
        }
        let bits = if lane == 4 {
            sign << 31 | (1 - high) << 30 | (high * 0x1f) << 25 | rest << 19
        } else {
            sign << 63 | (1 - high) << 62 | (high * 0xff) << 54 | rest << 48
        };
        let lanes = vec![Varnode::constant(bits, lane); usize::from(f.bytes / lane)];
        let value = join(b, &lanes);
        self.set(b, f.d, value);
        let number = if lane == 4 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) };
        Some(format!("fmov v{}.{},#{number}", f.d, Fields::shape(f.bytes, lane)))
    }
}
