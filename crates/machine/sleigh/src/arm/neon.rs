//! NEON: vectors of integers and floats, as the 32-bit encoding has them. Its floats round to nearest, flush to zero and
//! give default results, whatever FPSCR says; what they raise, and saturation, is kept there.

use super::Overrides;
use crate::ieee::{Comparison, EQUAL, GREATER, GREATER_EQUAL, Unit, absolute, compared, negated};
use crate::lanes::{Each, Saturation, each, extend, held, join, map, pairwise, split};
use parallax_ir::{Builder, Dialect, IeeeOp, Intrinsic, Op, Varnode};
use parallax_op::{BinOp, RelOp, UnOp};

/// To nearest, flushing, with default results.
const STANDARD: u64 = 0b1100;

/// The fields that almost all of them share.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    pub word: u32,
    pub signed: bool,
    /// Bytes of a lane.
    pub lane: u16,
    pub bytes: u16,
    pub d: u32,
    pub n: u32,
    pub m: u32,
}

impl Fields {
    fn new(word: u32) -> Self {
        let register = |low: u32, fifth: u32| (word >> fifth & 1) << 4 | word >> low & 15;
        Fields {
            word,
            signed: word >> 24 & 1 == 0,
            lane: 1 << (word >> 20 & 3),
            bytes: if word >> 6 & 1 == 1 { 16 } else { 8 },
            d: register(12, 22),
            n: register(16, 7),
            m: register(0, 5),
        }
    }

    fn sign(&self) -> char {
        if self.signed { 's' } else { 'u' }
    }

    pub fn said(&self, name: &str) -> Option<String> {
        let letter = if self.bytes == 16 { 'q' } else { 'd' };
        let number = |number: u32| if self.bytes == 16 { number / 2 } else { number };
        let (d, n, m) = (number(self.d), number(self.n), number(self.m));
        Some(format!("{name}.{} {letter}{d},{letter}{n},{letter}{m}", 8 * self.lane))
    }
}

impl Overrides {
    /// A vector register; of those of sixteen bytes there are only even ones.
    pub(super) fn vector(&self, number: u32, bytes: u16) -> Option<Varnode> {
        match bytes {
            16 if number.is_multiple_of(2) => Some(self.quads[number as usize / 2]),
            16 => None,
            _ => Some(self.doubles[number as usize]),
        }
    }

    /// The text of a data-processing instruction, in the 32-bit encoding, whose operations are written.
    pub(super) fn neon(&self, b: &mut Builder, word: u32) -> Option<String> {
        if word >> 25 != 0b111_1001 {
            return None;
        }
        let f = Fields::new(word);
        let s = &mut Saturation::default();
        let unit = &mut Unit::new(Dialect::Arm, Varnode::constant(STANDARD, 1));
        let text = if word >> 23 & 1 == 0 {
            self.three_same(b, s, unit, f)
        } else if word >> 4 & 1 == 1 {
            match word >> 7 & 1 == 0 && word >> 19 & 7 == 0 {
                true => self.constant(b, f),
                false => self.neon_shift(b, s, unit, f),
            }
        } else if word >> 20 & 3 == 3 {
            match (f.signed, word >> 11 & 1) {
                (true, _) => self.extraction(b, f),
                (false, 0) => self.neon_two(b, s, unit, f),
                _ => self.lookup_or_copy(b, f),
            }
        } else if word >> 6 & 1 == 1 {
            self.by_scalar(b, s, unit, f)
        } else {
            self.three_different(b, s, f)
        }?;
        self.keep(b, unit);
        if let Some(happened) = s.happened() {
            let wide = b.zext(happened, 4);
            let bit = b.bin_constant(BinOp::Shl, wide, 27);
            b.push(Op::Bin { op: BinOp::Or, out: self.status, a: self.status, b: bit });
        }
        Some(text)
    }

    /// Eight bits made a pattern: put into all lanes, or what they leave of them.
    fn constant(&self, b: &mut Builder, f: Fields) -> Option<String> {
        let (code, invert) = (f.word >> 8 & 15, f.word >> 5 & 1 == 1);
        let eight = u64::from(f.word >> 17 & 0x80 | f.word >> 12 & 0x70 | f.word & 15);
        let twice = |half: u64| half << 32 | half;
        let sixteen = |part: u64| twice(part << 16 | part);
        let pattern = match code {
            0..=7 => twice(eight << (8 * (code >> 1))),
            8..=11 => sixteen(eight << (8 * (code >> 1 & 1))),
            12 => twice(eight << 8 | 0xff),
            13 => twice(eight << 16 | 0xffff),
            14 if invert => {
                (0..8).filter(|bit| eight >> bit & 1 == 1).fold(0, |all, bit| all | 0xff << (8 * bit))
            }
            14 => sixteen(eight << 8 | eight),
            _ if invert => return None,
            _ => twice(crate::aarch64::expanded(eight, 4)),
        };
        let out = self.vector(f.d, f.bytes)?;
        let combines = code < 12 && code & 1 == 1;
        let lanes: Vec<Varnode> = split(b, out, 8)
            .into_iter()
            .map(|old| match (combines, invert) {
                (true, false) => b.bin_constant(BinOp::Or, old, pattern),
                (true, true) => b.bin_constant(BinOp::And, old, !pattern),
                (false, true) if code < 14 => Varnode::constant(!pattern, 8),
                _ => Varnode::constant(pattern, 8),
            })
            .collect();
        let value = join(b, &lanes);
        b.copy(out, value);
        let name = match (combines, invert && code < 14) {
            (true, false) => "vorr",
            (true, true) => "vbic",
            (false, true) => "vmvn",
            _ => "vmov",
        };
        Fields { lane: 8, ..f }.said(name).map(|text| format!("{text},#{pattern:#x}"))
    }

    fn three_same(&self, b: &mut Builder, s: &mut Saturation, unit: &mut Unit, f: Fields) -> Option<String> {
        let (code, second) = (f.word >> 8 & 15, f.word >> 4 & 1);
        let out = self.vector(f.d, f.bytes)?;
        let (x, y) = (self.vector(f.n, f.bytes)?, self.vector(f.m, f.bytes)?);
        if code >= 12 {
            return self.float_three(b, unit, f, code, second);
        }
        if (code, second) == (1, 1) {
            return self.bits(b, f, out, x, y);
        }
        let both = |signed: &'static str, unsigned: &'static str| if f.signed { signed } else { unsigned };
        let shift = |rounding: bool, saturating: bool| Each::Shift { rounding, saturating };
        let (op, name) = match (code, second) {
            (0, 0) => (Each::HalvingAdd, "vhadd"),
            (0, _) => (Each::SaturatingAdd, "vqadd"),
            (1, _) => (Each::RoundingHalvingAdd, "vrhadd"),
            (2, 0) => (Each::HalvingSub, "vhsub"),
            (2, _) => (Each::SaturatingSub, "vqsub"),
            (3, 0) => (Each::Greater, "vcgt"),
            (3, _) => (Each::GreaterEqual, "vcge"),
            (4, second) => (shift(false, second == 1), ["vshl", "vqshl"][second as usize]),
            (5, second) => (shift(true, second == 1), ["vrshl", "vqrshl"][second as usize]),
            (6, 0) => (Each::Max, "vmax"),
            (6, _) => (Each::Min, "vmin"),
            (7, second) => (Each::AbsoluteDifference, ["vabd", "vaba"][second as usize]),
            (8, 0) if f.signed => (Each::Add, "vadd"),
            (8, 0) => (Each::Sub, "vsub"),
            (8, _) => (if f.signed { Each::Test } else { Each::Equal }, both("vtst", "vceq")),
            (9, 0) => (Each::Mul, both("vmla", "vmls")),
            (9, _) if f.signed => (Each::Mul, "vmul"),
            (9, _) if f.lane == 1 => (Each::PolynomialMul, "vmul.p"),
            (10, second) if f.bytes == 8 => {
                ([Each::Max, Each::Min][second as usize], ["vpmax", "vpmin"][second as usize])
            }
            (11, 0) if matches!(f.lane, 2 | 4) => {
                (Each::DoublingMulHigh { rounding: !f.signed }, both("vqdmulh", "vqrdmulh"))
            }
            (11, 1) if f.signed && f.bytes == 8 => (Each::Add, "vpadd"),
            _ => return None,
        };
        let with_doublewords = matches!((code, second), (0 | 2, 1) | (4 | 5, _) | (8, 0));
        if f.lane == 8 && !with_doublewords {
            return None;
        }
        // Here the second operand is what is shifted.
        let (x, y) = if matches!(code, 4 | 5) { (y, x) } else { (x, y) };
        let value = match (code, second) {
            (10, _) | (11, 1) => pairwise(b, s, op, f.signed, f.lane, x, y),
            _ => map(b, s, op, f.signed, f.lane, x, y),
        };
        let value = match (code, second) {
            (7, 1) => map(b, s, Each::Add, true, f.lane, out, value),
            (9, 0) => map(b, s, if f.signed { Each::Add } else { Each::Sub }, true, f.lane, out, value),
            _ => value,
        };
        b.copy(out, value);
        f.said(&format!("{name}.{}", f.sign()))
    }

    fn bits(&self, b: &mut Builder, f: Fields, out: Varnode, x: Varnode, y: Varnode) -> Option<String> {
        let chosen = |b: &mut Builder, mask: Varnode, ones: Varnode, zeros: Varnode| {
            let rest = b.un(UnOp::Not, mask);
            let (ones, zeros) = (b.bin(BinOp::And, ones, mask), b.bin(BinOp::And, zeros, rest));
            b.bin(BinOp::Or, ones, zeros)
        };
        let (value, name) = match (f.signed, f.word >> 20 & 3) {
            (true, 0) => (b.bin(BinOp::And, x, y), "vand"),
            (true, 1) => {
                let y = b.un(UnOp::Not, y);
                (b.bin(BinOp::And, x, y), "vbic")
            }
            (true, 2) => (b.bin(BinOp::Or, x, y), "vorr"),
            (true, _) => {
                let y = b.un(UnOp::Not, y);
                (b.bin(BinOp::Or, x, y), "vorn")
            }
            (false, 0) => (b.bin(BinOp::Xor, x, y), "veor"),
            (false, 1) => (chosen(b, out, x, y), "vbsl"),
            (false, 2) => (chosen(b, y, x, out), "vbit"),
            (false, _) => (chosen(b, y, out, x), "vbif"),
        };
        b.copy(out, value);
        Fields { lane: 1, ..f }.said(name)
    }

    /// `function` of the lanes of two vectors and of the result as it was.
    fn float_lanes(
        &self,
        b: &mut Builder,
        unit: &mut Unit,
        (x, y, old): (&[Varnode], &[Varnode], &[Varnode]),
        function: impl Fn(&mut Builder, &mut Unit, Varnode, Varnode, Varnode) -> Varnode,
    ) -> Varnode {
        let lanes: Vec<Varnode> = (0..old.len()).map(|i| function(b, unit, x[i], y[i], old[i])).collect();
        join(b, &lanes)
    }

    fn float_three(
        &self,
        b: &mut Builder,
        unit: &mut Unit,
        f: Fields,
        code: u32,
        second: u32,
    ) -> Option<String> {
        // Halves are an extension.
        if f.word >> 20 & 1 == 1 {
            return None;
        }
        let f = Fields { lane: 4, ..f };
        let high = f.word >> 21 & 1;
        let out = self.vector(f.d, f.bytes)?;
        let (x, y) = (self.vector(f.n, f.bytes)?, self.vector(f.m, f.bytes)?);
        let (mut x, mut y, old) = (split(b, x, 4), split(b, y, 4), split(b, out, 4));
        let compare = |how: Comparison, magnitudes: bool| Comparison { magnitudes, ..how };
        enum What {
            Plain(IeeeOp),
            Compare(Comparison),
            Difference,
            /// Rounded once or twice, the product negated or not.
            Sum(bool, bool),
        }
        let upper = u32::from(!f.signed);
        let (what, name, pairs) = match (code, second, upper, high) {
            (12, 1, 0, high) => (What::Sum(true, high == 1), ["vfma", "vfms"][high as usize], false),
            (13, 0, 0, 0) => (What::Plain(IeeeOp::Add), "vadd", false),
            (13, 0, 0, _) => (What::Plain(IeeeOp::Sub), "vsub", false),
            (13, 0, 1, 0) => (What::Plain(IeeeOp::Add), "vpadd", true),
            (13, 0, 1, _) => (What::Difference, "vabd", false),
            (13, 1, 0, high) => (What::Sum(false, high == 1), ["vmla", "vmls"][high as usize], false),
            (13, 1, 1, 0) => (What::Plain(IeeeOp::Mul), "vmul", false),
            (14, 0, 0, 0) => (What::Compare(EQUAL), "vceq", false),
            (14, 0, 1, 0) => (What::Compare(GREATER_EQUAL), "vcge", false),
            (14, 0, 1, _) => (What::Compare(GREATER), "vcgt", false),
            (14, 1, 1, 0) => (What::Compare(compare(GREATER_EQUAL, true)), "vacge", false),
            (14, 1, 1, _) => (What::Compare(compare(GREATER, true)), "vacgt", false),
            (15, 0, 0, 0) => (What::Plain(IeeeOp::Max { number: false }), "vmax", false),
            (15, 0, 0, _) => (What::Plain(IeeeOp::Min { number: false }), "vmin", false),
            (15, 0, 1, 0) => (What::Plain(IeeeOp::Max { number: false }), "vpmax", true),
            (15, 0, 1, _) => (What::Plain(IeeeOp::Min { number: false }), "vpmin", true),
            _ => return None,
        };
        if pairs {
            if f.bytes == 16 {
                return None;
            }
            let all = [x, y].concat();
            (x, y) = all.chunks(2).map(|pair| (pair[0], pair[1])).unzip();
        }
        let value = self.float_lanes(b, unit, (&x, &y, &old), |b, unit, x, y, old| match what {
            What::Plain(op) => unit.apply(b, op, 4, &[x, y]),
            What::Compare(how) => compared(b, unit, how, x, y),
            What::Difference => {
                let difference = unit.apply(b, IeeeOp::Sub, 4, &[x, y]);
                absolute(b, difference)
            }
            What::Sum(true, negate) => {
                let x = if negate { negated(b, x) } else { x };
                unit.apply(b, IeeeOp::Fused, 4, &[x, y, old])
            }
            What::Sum(false, negate) => {
                let product = unit.apply(b, IeeeOp::Mul, 4, &[x, y]);
                unit.apply(b, if negate { IeeeOp::Sub } else { IeeeOp::Add }, 4, &[old, product])
            }
        });
        b.copy(out, value);
        f.said(&format!("{name}.f"))
    }

    fn three_different(&self, b: &mut Builder, s: &mut Saturation, f: Fields) -> Option<String> {
        let code = f.word >> 8 & 15;
        let wide = 2 * f.lane;
        let narrow = |b: &mut Builder, number: u32| split(b, self.doubles[number as usize], f.lane);
        if matches!(code, 4 | 6) {
            let (x, y) = (self.vector(f.n, 16)?, self.vector(f.m, 16)?);
            let sums = map(b, s, if code == 4 { Each::Add } else { Each::Sub }, true, wide, x, y);
            let bits = 8 * u64::from(f.lane);
            let mut lanes = Vec::new();
            for sum in split(b, sums, wide) {
                let sum = if f.signed { sum } else { b.bin_constant(BinOp::Add, sum, 1 << (bits - 1)) };
                lanes.push(b.extract(sum, bits as u16, f.lane));
            }
            let value = join(b, &lanes);
            b.copy(self.doubles[f.d as usize], value);
            let round = if f.signed { "" } else { "r" };
            return f.said(&format!("v{round}{}hn", if code == 4 { "add" } else { "sub" }));
        }
        let out = self.vector(f.d, 16)?;
        let y = narrow(b, f.m);
        let x = if matches!(code, 1 | 3) {
            let x = self.vector(f.n, 16)?;
            split(b, x, wide)
        } else {
            narrow(b, f.n)
        };
        self.long(b, s, f, out, code, &x, &y)
    }

    /// Lanes made wider and combined; the first may be wide already.
    #[allow(clippy::too_many_arguments)]
    fn long(
        &self,
        b: &mut Builder,
        s: &mut Saturation,
        f: Fields,
        out: Varnode,
        code: u32,
        x: &[Varnode],
        y: &[Varnode],
    ) -> Option<String> {
        let wide = 2 * f.lane;
        let (op, accumulate, name) = match code {
            0 | 1 => (Each::Add, None, "vaddl"),
            2 | 3 => (Each::Sub, None, "vsubl"),
            5 => (Each::AbsoluteDifference, Some(Each::Add), "vabal"),
            7 => (Each::AbsoluteDifference, None, "vabdl"),
            8 => (Each::Mul, Some(Each::Add), "vmlal"),
            10 => (Each::Mul, Some(Each::Sub), "vmlsl"),
            12 => (Each::Mul, None, "vmull"),
            9 if f.signed => (Each::Mul, Some(Each::SaturatingAdd), "vqdmlal"),
            11 if f.signed => (Each::Mul, Some(Each::SaturatingSub), "vqdmlsl"),
            13 if f.signed => (Each::Mul, None, "vqdmull"),
            14 if f.signed && f.lane == 1 => (Each::PolynomialMul, None, "vmull.p"),
            _ => return None,
        };
        let doubling = matches!(code, 9 | 11 | 13);
        if doubling && f.lane == 1 {
            return None;
        }
        let signed = f.signed && code != 14;
        let old = split(b, out, wide);
        let mut lanes = Vec::new();
        for ((x, y), old) in x.iter().zip(y).zip(old) {
            let to = if doubling { 2 * wide } else { wide };
            let (x, y) = (extend(b, signed, *x, to), extend(b, signed, *y, to));
            let mut value = each(b, s, op, signed, x, y);
            if doubling {
                let twice = b.bin_constant(BinOp::Shl, value, 1);
                value = held(b, s, true, twice, wide);
            }
            lanes.push(match accumulate {
                Some(how) => each(b, s, how, true, old, value),
                None => value,
            });
        }
        let value = join(b, &lanes);
        b.copy(out, value);
        f.said(&format!("{name}.{}", f.sign()))
    }

    /// With one lane of the second vector.
    fn by_scalar(&self, b: &mut Builder, s: &mut Saturation, unit: &mut Unit, f: Fields) -> Option<String> {
        let (number, index) = match f.lane {
            2 => (f.m & 7, (f.m >> 4) << 1 | f.m >> 3 & 1),
            4 => (f.m & 15, f.m >> 4),
            _ => return None,
        };
        let element = b.extract(self.doubles[number as usize], 8 * f.lane * index as u16, f.lane);
        let code = f.word >> 8 & 15;
        if let 2 | 3 | 6 | 7 | 10 | 11 = code {
            let out = self.vector(f.d, 16)?;
            let x = split(b, self.doubles[f.n as usize], f.lane);
            let y = vec![element; x.len()];
            let code = [(2, 8), (3, 9), (6, 10), (7, 11), (10, 12), (11, 13)]
                .iter()
                .find(|(here, _)| *here == code)
                .map(|(_, there)| *there)?;
            return self.long(b, s, f, out, code, &x, &y);
        }
        // Elsewhere the bit of the sign tells the size.
        let f = Fields { bytes: if f.signed { 8 } else { 16 }, ..f };
        let (out, x) = (self.vector(f.d, f.bytes)?, self.vector(f.n, f.bytes)?);
        let (x, old) = (split(b, x, f.lane), split(b, out, f.lane));
        let y = vec![element; x.len()];
        let (value, name) = match code {
            1 | 5 | 9 if f.lane == 4 => {
                let value = self.float_lanes(b, unit, (&x, &y, &old), |b, unit, x, y, old| {
                    let product = unit.apply(b, IeeeOp::Mul, 4, &[x, y]);
                    match code {
                        1 => unit.apply(b, IeeeOp::Add, 4, &[old, product]),
                        5 => unit.apply(b, IeeeOp::Sub, 4, &[old, product]),
                        _ => product,
                    }
                });
                (value, "vmul.f")
            }
            0 | 4 | 8 | 12 | 13 => {
                let op = match code {
                    12 | 13 => Each::DoublingMulHigh { rounding: code == 13 },
                    _ => Each::Mul,
                };
                let mut lanes = Vec::new();
                for (x, old) in x.iter().zip(old) {
                    let product = each(b, s, op, true, *x, element);
                    lanes.push(match code {
                        0 => b.bin(BinOp::Add, old, product),
                        4 => b.bin(BinOp::Sub, old, product),
                        _ => product,
                    });
                }
                (join(b, &lanes), "vmul.i")
            }
            _ => return None,
        };
        b.copy(out, value);
        let form = ["vmla", "vmls", "vmul", "vqdmulh"][(code / 4) as usize % 4];
        f.said(&format!("{form}.{name}"))
    }

    /// `vext`: bytes of two vectors, one behind the other, from a place on.
    fn extraction(&self, b: &mut Builder, f: Fields) -> Option<String> {
        let from = (f.word >> 8 & 15) as u8;
        if f.bytes == 8 && from >= 8 {
            return None;
        }
        let picks = std::array::from_fn(|index| from + index as u8);
        let (x, y) = (self.vector(f.n, f.bytes)?, self.vector(f.m, f.bytes)?);
        let out = self.vector(f.d, f.bytes)?;
        let value = b.call(Intrinsic::Pick { lane: 1, picks }, f.bytes, &[x, y]);
        b.copy(out, value);
        Fields { lane: 1, ..f }.said("vext").map(|text| format!("{text},#{from}"))
    }

    /// `vtbl`, `vtbx`, and one lane for all.
    fn lookup_or_copy(&self, b: &mut Builder, f: Fields) -> Option<String> {
        if f.word >> 10 & 3 == 3 {
            if f.word >> 7 & 7 != 0 {
                return None;
            }
            let field = f.word >> 16 & 15;
            let size = field.trailing_zeros();
            if size > 2 {
                return None;
            }
            let lane = 1u16 << size;
            let index = (field >> (size + 1)) as u16;
            let out = self.vector(f.d, f.bytes)?;
            let element = b.snapshot(self.doubles[f.m as usize].slice(lane * index, lane));
            let value = join(b, &vec![element; usize::from(f.bytes / lane)]);
            b.copy(out, value);
            return Fields { lane, ..f }.said("vdup");
        }
        let count = (f.word >> 8 & 3) as usize + 1;
        let keeps = f.word >> 6 & 1 == 1;
        let first = f.n as usize;
        if first + count > 32 {
            return None;
        }
        let table = join(b, &self.doubles[first..first + count]);
        let (indices, out) = (split(b, self.doubles[f.m as usize], 1), self.doubles[f.d as usize]);
        let old = split(b, out, 1);
        let mut lanes = Vec::new();
        for (index, old) in indices.into_iter().zip(old) {
            let wide = b.zext(index, 2);
            let distance = b.bin_constant(BinOp::Shl, wide, 3);
            let moved = b.bin(BinOp::Lshr, table, distance);
            let found = b.extract(moved, 0, 1);
            let inside = b.rel_constant(RelOp::Ult, index, 8 * count as u64);
            lanes.push(b.select(inside, found, if keeps { old } else { Varnode::constant(0, 1) }));
        }
        let value = join(b, &lanes);
        b.copy(out, value);
        Fields { lane: 1, bytes: 8, ..f }.said(if keeps { "vtbx" } else { "vtbl" })
    }
}
