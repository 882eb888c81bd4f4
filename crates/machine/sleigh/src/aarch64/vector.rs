//! AArch64's vectors of integers, by the tables of the manual ("Advanced SIMD"), and the scalar instructions that share
//! their encodings. Moves between lanes, permutations and constants are the specification's.

use super::Overrides;
use crate::lanes::{Each, Saturation, each, extend, held, join, map, pairwise, split};
use parallax_ir::{Builder, Intrinsic, Op, Varnode};
use parallax_op::{BinOp, UnOp};

/// The fields that almost all of them share.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    pub word: u32,
    /// Bytes of the vectors: one lane of a scalar.
    pub bytes: u16,
    /// Bytes of a lane, as the size field says.
    pub lane: u16,
    pub signed: bool,
    pub d: usize,
    pub n: usize,
    pub m: usize,
}

impl Fields {
    fn new(word: u32) -> Self {
        let field = |low: u32| (word >> low & 31) as usize;
        let lane = 1 << (word >> 22 & 3);
        let bytes = match (word >> 28 & 1, word >> 30 & 1) {
            (1, _) => lane,
            (_, 1) => 16,
            _ => 8,
        };
        let signed = word >> 29 & 1 == 0;
        Fields { word, bytes, lane, signed, d: field(0), n: field(5), m: field(16) }
    }

    /// The same with another lane.
    pub fn with_lane(self, lane: u16) -> Self {
        Fields { lane, bytes: if self.is_scalar() { lane } else { self.bytes }, ..self }
    }

    pub fn is_scalar(&self) -> bool {
        self.word >> 28 & 1 == 1
    }

    /// Whether this is the upper half of a register that a widening or narrowing instruction works on.
    pub fn is_upper(&self) -> bool {
        self.bytes == 16
    }

    pub fn sign(&self) -> char {
        if self.signed { 's' } else { 'u' }
    }

    /// Lanes in the assembler's notation: `4s`.
    pub fn shape(bytes: u16, lane: u16) -> String {
        let letter = ['b', 'h', 's', 'd'][lane.trailing_zeros() as usize % 4];
        format!("{}{letter}", bytes / lane)
    }

    pub fn three(&self, name: &str) -> Option<String> {
        let shape = Self::shape(self.bytes, self.lane);
        Some(format!("{name} v{}.{shape},v{}.{shape},v{}.{shape}", self.d, self.n, self.m))
    }

    pub fn two(&self, name: &str) -> Option<String> {
        let shape = Self::shape(self.bytes, self.lane);
        Some(format!("{name} v{}.{shape},v{}.{shape}", self.d, self.n))
    }

    /// Lanes that become wider or narrower, the wide ones named by twice the lane.
    pub fn mixed(&self, name: &str, operands: &str) -> Option<String> {
        let upper = if self.is_upper() { "2" } else { "" };
        let bytes = if self.is_scalar() { 2 * self.lane } else { 16 };
        Some(format!("{name}{upper} v{}.{}{operands}", self.d, Self::shape(bytes, 2 * self.lane)))
    }
}

impl Overrides {
    /// The instruction's text, if it is one of these and its operations are written.
    pub(super) fn vector(&self, b: &mut Builder, word: u32) -> Option<String> {
        // Vectors have bit 31 clear, and scalars bits 30 and 28 set.
        if word >> 31 != 0 || word >> 28 & 1 == 1 && word >> 30 & 1 == 0 {
            return None;
        }
        let f = Fields::new(word);
        let s = &mut Saturation::default();
        let text = if word & 0x8f20_0400 == 0x0e20_0400 {
            self.three_same(b, s, f)
        } else if word & 0x8f20_0c00 == 0x0e20_0000 {
            self.three_different(b, s, f)
        } else if word & 0x8f3e_0c00 == 0x0e20_0800 {
            self.two(b, s, f)
        } else if word & 0x8f3e_0c00 == 0x0e30_0800 {
            self.across(b, f)
        } else if word & 0xbfe0_8400 == 0x2e00_0000 {
            self.extraction(b, f)
        } else if word & 0xbfe0_8c00 == 0x0e00_0000 {
            self.lookup(b, f)
        } else if word & 0x8f80_0400 == 0x0f00_0400 && word >> 19 & 15 != 0 {
            self.shift(b, s, f)
        } else if word & 0x9ff8_f400 == 0x0f00_f400 {
            self.float_constant(b, f)
        } else if word & 0x8f00_0400 == 0x0f00_0000 {
            self.by_element(b, s, f)
        } else {
            None
        }?;
        if let Some(happened) = s.happened() {
            let wide = b.zext(happened, self.status.bytes);
            let bit = b.bin_constant(BinOp::Shl, wide, 27);
            b.push(Op::Bin { op: BinOp::Or, out: self.status, a: self.status, b: bit });
        }
        Some(text)
    }

    pub(super) fn low(&self, number: usize, bytes: u16) -> Varnode {
        self.vectors[number].slice(0, bytes)
    }

    /// The bytes that a widening instruction reads: eight, or one lane.
    pub(super) fn half(&self, f: Fields, number: usize) -> Varnode {
        if f.is_scalar() {
            return self.vectors[number].slice(0, f.lane);
        }
        self.vectors[number].slice(if f.is_upper() { 8 } else { 0 }, 8)
    }

    /// What a narrowing instruction reads.
    pub(super) fn wide(&self, f: Fields, number: usize) -> Varnode {
        if f.is_scalar() { self.low(number, 2 * f.lane) } else { self.vectors[number] }
    }

    /// Eight bytes as a narrowing instruction writes them: the upper ones leave the lower as they are.
    pub(super) fn set_half(&self, b: &mut Builder, f: Fields, value: Varnode) {
        if f.is_upper() {
            b.copy(self.vectors[f.d].slice(8, 8), value);
        } else {
            self.set(b, f.d, value);
        }
    }

    fn three_same(&self, b: &mut Builder, s: &mut Saturation, f: Fields) -> Option<String> {
        let opcode = f.word >> 11 & 31;
        if opcode == 3 && !f.is_scalar() {
            return self.bitwise(b, f);
        }
        if f.lane == 8 && f.bytes == 8 && !f.is_scalar() {
            return None;
        }
        let (x, y, old) = (self.low(f.n, f.bytes), self.low(f.m, f.bytes), self.low(f.d, f.bytes));
        let both = |signed: &'static str, unsigned: &'static str| if f.signed { signed } else { unsigned };
        let shift = |rounding: bool, saturating: bool| Each::Shift { rounding, saturating };
        let (op, name) = match opcode {
            0 => (Each::HalvingAdd, both("shadd", "uhadd")),
            1 => (Each::SaturatingAdd, both("sqadd", "uqadd")),
            2 => (Each::RoundingHalvingAdd, both("srhadd", "urhadd")),
            4 => (Each::HalvingSub, both("shsub", "uhsub")),
            5 => (Each::SaturatingSub, both("sqsub", "uqsub")),
            6 => (Each::Greater, both("cmgt", "cmhi")),
            7 => (Each::GreaterEqual, both("cmge", "cmhs")),
            8 => (shift(false, false), both("sshl", "ushl")),
            9 => (shift(false, true), both("sqshl", "uqshl")),
            10 => (shift(true, false), both("srshl", "urshl")),
            11 => (shift(true, true), both("sqrshl", "uqrshl")),
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
            19 if f.lane == 1 => (Each::PolynomialMul, "pmul"),
            22 if matches!(f.lane, 2 | 4) => {
                (Each::DoublingMulHigh { rounding: !f.signed }, both("sqdmulh", "sqrdmulh"))
            }
            23 if f.signed => (Each::Add, "addp"),
            _ => return None,
        };
        let without_doublewords = [0, 2, 4, 12, 13, 14, 15, 18, 19, 20, 21];
        if f.lane == 8 && without_doublewords.contains(&opcode) {
            return None;
        }
        // Of the scalars, those that hold or shift with holding come in all sizes, the others as doublewords.
        let in_all_sizes = [1, 5, 9, 11, 22].contains(&opcode);
        let as_doublewords = f.lane == 8 && [6, 7, 8, 10, 16, 17].contains(&opcode);
        if f.is_scalar() && !in_all_sizes && !as_doublewords {
            return None;
        }
        if matches!(opcode, 20 | 21 | 23) {
            let value = pairwise(b, s, op, f.signed, f.lane, x, y);
            self.set(b, f.d, value);
            return f.three(&format!("{name}{}", if opcode == 23 { "" } else { "p" }));
        }
        let value = map(b, s, op, f.signed, f.lane, x, y);
        let value = match opcode {
            15 => map(b, s, Each::Add, true, f.lane, old, value),
            18 => map(b, s, if f.signed { Each::Add } else { Each::Sub }, true, f.lane, old, value),
            _ => value,
        };
        self.set(b, f.d, value);
        f.three(name)
    }

    /// Operations on all bits at once; three of them choose between bits.
    fn bitwise(&self, b: &mut Builder, f: Fields) -> Option<String> {
        let (x, y, old) = (self.low(f.n, f.bytes), self.low(f.m, f.bytes), self.low(f.d, f.bytes));
        let mut chosen = |mask: Varnode, ones: Varnode, zeros: Varnode| {
            let rest = b.un(UnOp::Not, mask);
            let (ones, zeros) = (b.bin(BinOp::And, ones, mask), b.bin(BinOp::And, zeros, rest));
            b.bin(BinOp::Or, ones, zeros)
        };
        let (value, name) = match (f.signed, f.word >> 22 & 3) {
            (true, 0) => (b.bin(BinOp::And, x, y), "and"),
            (true, 1) => {
                let y = b.un(UnOp::Not, y);
                (b.bin(BinOp::And, x, y), "bic")
            }
            (true, 2) => (b.bin(BinOp::Or, x, y), "orr"),
            (true, _) => {
                let y = b.un(UnOp::Not, y);
                (b.bin(BinOp::Or, x, y), "orn")
            }
            (false, 0) => (b.bin(BinOp::Xor, x, y), "eor"),
            (false, 1) => (chosen(old, x, y), "bsl"),
            (false, 2) => (chosen(y, x, old), "bit"),
            (false, _) => (chosen(y, old, x), "bif"),
        };
        self.set(b, f.d, value);
        Fields { lane: 1, ..f }.three(name)
    }

    fn three_different(&self, b: &mut Builder, s: &mut Saturation, f: Fields) -> Option<String> {
        let opcode = f.word >> 12 & 15;
        let doubling = matches!(opcode, 9 | 11 | 13) && f.signed;
        if f.lane == 8 || f.is_scalar() && !doubling {
            return None;
        }
        let operands = format!(",v{}.{},v{}", f.n, Fields::shape(8, f.lane), f.m);
        if matches!(opcode, 4 | 6) {
            // The high halves of sums and differences, rounded if the bit that is elsewhere the sign says so.
            let op = if opcode == 4 { Each::Add } else { Each::Sub };
            let sums = map(b, s, op, true, 2 * f.lane, self.vectors[f.n], self.vectors[f.m]);
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
        if doubling {
            if f.lane == 1 {
                return None;
            }
            let (x, y) = (self.half(f, f.n), self.half(f, f.m));
            let (x, y) = (split(b, x, f.lane), split(b, y, f.lane));
            let name = self.doubling_long(b, s, f, opcode, &x, &y);
            return f.mixed(name, &operands);
        }
        let (op, accumulate, name) = match opcode {
            0 | 1 => (Each::Add, None, "add"),
            2 | 3 => (Each::Sub, None, "sub"),
            5 => (Each::AbsoluteDifference, Some(Each::Add), "aba"),
            7 => (Each::AbsoluteDifference, None, "abd"),
            8 => (Each::Mul, Some(Each::Add), "mla"),
            10 => (Each::Mul, Some(Each::Sub), "mls"),
            12 => (Each::Mul, None, "mul"),
            14 if f.signed && f.lane == 1 => (Each::PolynomialMul, None, "pmul"),
            _ => return None,
        };
        let f = Fields { signed: f.signed && opcode != 14, ..f };
        let wide_first = matches!(opcode, 1 | 3);
        let y = self.widened(b, f, self.half(f, f.m));
        let x = if wide_first {
            split(b, self.vectors[f.n], 2 * f.lane)
        } else {
            self.widened(b, f, self.half(f, f.n))
        };
        self.accumulated(b, s, f, op, accumulate, &x, &y);
        if opcode == 14 {
            return f.mixed("pmull", &operands);
        }
        f.mixed(&format!("{}{name}{}", f.sign(), if wide_first { 'w' } else { 'l' }), &operands)
    }

    pub(super) fn widened(&self, b: &mut Builder, f: Fields, a: Varnode) -> Vec<Varnode> {
        split(b, a, f.lane).into_iter().map(|a| extend(b, f.signed, a, 2 * f.lane)).collect()
    }

    /// Twice the products in twice the width, held at the ends of the range, and so the sums with what was there.
    fn doubling_long(
        &self,
        b: &mut Builder,
        s: &mut Saturation,
        f: Fields,
        opcode: u32,
        x: &[Varnode],
        y: &[Varnode],
    ) -> &'static str {
        let wide = 2 * f.lane;
        let old = self.low(f.d, wide * x.len() as u16);
        let old = split(b, old, wide);
        let (how, name) = match opcode & !1 {
            8 | 2 => (Some(Each::SaturatingAdd), "sqdmlal"),
            10 | 6 => (Some(Each::SaturatingSub), "sqdmlsl"),
            _ => (None, "sqdmull"),
        };
        let mut lanes = Vec::new();
        for ((x, y), old) in x.iter().zip(y).zip(old) {
            let (x, y) = (b.sext(*x, 2 * wide), b.sext(*y, 2 * wide));
            let product = b.bin(BinOp::Mul, x, y);
            let twice = b.bin_constant(BinOp::Shl, product, 1);
            let product = held(b, s, true, twice, wide);
            lanes.push(match how {
                Some(how) => each(b, s, how, true, old, product),
                None => product,
            });
        }
        let value = join(b, &lanes);
        self.set(b, f.d, value);
        name
    }

    /// `op` of wide lanes, added to the lanes that were there or subtracted from them if so wished.
    #[allow(clippy::too_many_arguments)]
    fn accumulated(
        &self,
        b: &mut Builder,
        s: &mut Saturation,
        f: Fields,
        op: Each,
        accumulate: Option<Each>,
        x: &[Varnode],
        y: &[Varnode],
    ) {
        let lanes: Vec<Varnode> = x.iter().zip(y).map(|(x, y)| each(b, s, op, f.signed, *x, *y)).collect();
        let mut value = join(b, &lanes);
        if let Some(how) = accumulate {
            value = map(b, s, how, true, lanes[0].bytes, self.low(f.d, value.bytes), value);
        }
        self.set(b, f.d, value);
    }

    fn by_element(&self, b: &mut Builder, s: &mut Saturation, f: Fields) -> Option<String> {
        let bit = |at: u32| (f.word >> at & 1) as u16;
        let (number, index) = match f.lane {
            2 => (f.m & 15, bit(11) << 2 | bit(21) << 1 | bit(20)),
            4 => (f.m, bit(11) << 1 | bit(21)),
            _ => return None,
        };
        let element = b.extract(self.vectors[number], 8 * f.lane * index, f.lane);
        let opcode = f.word >> 12 & 15;
        let operand = format!("v{number}[{index}]");
        let lanes = |b: &mut Builder, from: Varnode| {
            let x = split(b, from, f.lane);
            let y = vec![element; x.len()];
            (x, y)
        };
        if let (3 | 7 | 11, true) = (opcode, f.signed) {
            let (x, y) = lanes(b, self.half(f, f.n));
            let code = match opcode {
                3 => 9,
                7 => 11,
                _ => 13,
            };
            let name = self.doubling_long(b, s, f, code, &x, &y);
            return f.mixed(name, &format!(",v{},{operand}", f.n));
        }
        if let (12 | 13, true) = (opcode, f.signed) {
            let (x, y) = lanes(b, self.low(f.n, f.bytes));
            let op = Each::DoublingMulHigh { rounding: opcode == 13 };
            self.accumulated(b, s, f, op, None, &x, &y);
            let name = if opcode == 12 { "sqdmulh" } else { "sqrdmulh" };
            return f.two(name).map(|text| format!("{text},{operand}"));
        }
        let (accumulate, name) = match (opcode, f.signed) {
            _ if f.is_scalar() => return None,
            (8, true) => (None, "mul"),
            (0, false) => (Some(Each::Add), "mla"),
            (4, false) => (Some(Each::Sub), "mls"),
            (10, _) => (None, "mull"),
            (2, _) => (Some(Each::Add), "mlal"),
            (6, _) => (Some(Each::Sub), "mlsl"),
            _ => return None,
        };
        if opcode.is_multiple_of(4) {
            let (x, y) = lanes(b, self.low(f.n, f.bytes));
            self.accumulated(b, s, f, Each::Mul, accumulate, &x, &y);
            return f.two(name).map(|text| format!("{text},{operand}"));
        }
        let x = self.widened(b, f, self.half(f, f.n));
        let y = vec![extend(b, f.signed, element, 2 * f.lane); x.len()];
        self.accumulated(b, s, f, Each::Mul, accumulate, &x, &y);
        f.mixed(&format!("{}{name}", f.sign()), &format!(",v{},{operand}", f.n))
    }

    /// All lanes to one: sums, in twice the width if so wished, and extremes.
    fn across(&self, b: &mut Builder, f: Fields) -> Option<String> {
        if f.is_scalar() {
            return self.pair(b, f);
        }
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
        let value = lanes[1..]
            .iter()
            .fold(lanes[0], |so_far, a| each(b, &mut Saturation::default(), op, f.signed, so_far, *a));
        self.set(b, f.d, value);
        Some(format!("{name} v{},v{}.{}", f.d, f.n, Fields::shape(f.bytes, f.lane)))
    }

    /// `addp` of a scalar: the sum of two doublewords.
    fn pair(&self, b: &mut Builder, f: Fields) -> Option<String> {
        if f.word & 0xffff_fc00 != 0x5ef1_b800 {
            return None;
        }
        let whole = self.vectors[f.n];
        let value = b.bin(BinOp::Add, whole.slice(0, 8), whole.slice(8, 8));
        self.set(b, f.d, value);
        Some(format!("addp d{},v{}.2d", f.d, f.n))
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
                let inside = b.rel_constant(parallax_op::RelOp::Ult, index, 16 * count as u64);
                b.select(inside, found, old)
            })
            .collect();
        let value = join(b, &lanes);
        self.set(b, f.d, value);
        let name = if keeps { "tbx" } else { "tbl" };
        let shape = Fields::shape(f.bytes, 1);
        Some(format!("{name} v{}.{shape},{{v{}.16b*{count}}},v{}.{shape}", f.d, f.n, f.m))
    }

    /// `fmov` of a constant to all lanes: a sign, a three-bit exponent and four bits of fraction.
    fn float_constant(&self, b: &mut Builder, f: Fields) -> Option<String> {
        let eight = u64::from(f.word >> 11 & 0xe0 | f.word >> 5 & 0x1f);
        let half = f.word >> 11 & 1 == 1;
        let lane = match (half, f.signed) {
            (true, true) => 2,
            (false, true) => 4,
            (false, false) => 8,
            _ => return None,
        };
        if lane == 8 && f.bytes == 8 {
            return None;
        }
        let bits = super::float::expanded(eight, lane);
        let lanes = vec![Varnode::constant(bits, lane); usize::from(f.bytes / lane)];
        let value = join(b, &lanes);
        self.set(b, f.d, value);
        Some(format!("fmov v{}.{},#{bits:#x}", f.d, Fields::shape(f.bytes, lane)))
    }
}
