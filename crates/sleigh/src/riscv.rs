//! RISC-V: floats. The specification writes conversions to integers nowhere, rounds fused operations twice, has no
//! classification, and takes minimum and maximum of zeros and what is not a number wrongly.
//!
//! A single-precision value fills its 64-bit register with ones above; one that is not filled so reads as not a number.
//! Results that are not numbers are the canonical one. Rounding is to nearest, apart from conversions to integers, which
//! round as the instruction says; exception flags are not kept.

use parallax_ir::{Builder, Instruction, Intrinsic, Op, Processor, Varnode};
use parallax_op::{BinOp, BoolOp, FloatBinOp, FloatRelOp, FloatUnOp, RelOp, Rounding};

/// The override table.
pub(crate) struct Overrides {
    integers: Vec<Varnode>,
    floats: Vec<Varnode>,
}

const INTEGERS: [&str; 32] = [
    "ZERO", "RA", "SP", "GP", "TP", "T0", "T1", "T2", "S0", "S1", "A0", "A1", "A2", "A3", "A4", "A5", "A6",
    "A7", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S11", "T3", "T4", "T5", "T6",
];
const FLOATS: [&str; 32] = [
    "FT0", "FT1", "FT2", "FT3", "FT4", "FT5", "FT6", "FT7", "FS0", "FS1", "FA0", "FA1", "FA2", "FA3", "FA4",
    "FA5", "FA6", "FA7", "FS2", "FS3", "FS4", "FS5", "FS6", "FS7", "FS8", "FS9", "FS10", "FS11", "FT8",
    "FT9", "FT10", "FT11",
];

impl Overrides {
    /// The table over the registers of the specification, if it has the ones it should.
    pub fn new(processor: &Processor) -> Option<Self> {
        let places = |names: &[&str]| {
            names
                .iter()
                .map(|name| processor.register(name).map(|r| r.place).filter(|place| place.bytes == 8))
                .collect::<Option<Vec<_>>>()
        };
        Some(Overrides { integers: places(&INTEGERS)?, floats: places(&FLOATS)? })
    }

    /// The instruction, if it is one of ours.
    pub fn lift(&self, address: u64, bytes: &[u8]) -> Option<Instruction> {
        let word = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
        let mut lift =
            Lift { b: Builder::new(), table: self, word, bytes: if word >> 25 & 3 == 1 { 8 } else { 4 } };
        let text = match word & 0x7f {
            0x53 if word >> 25 & 3 < 2 => lift.operation()?,
            0x43 | 0x47 | 0x4b | 0x4f if word >> 25 & 3 < 2 => lift.fused()?,
            0x07 if word >> 12 & 7 == 2 => lift.load_single(),
            _ => return None,
        };
        Some(lift.b.finish(address, 4, text))
    }
}

struct Lift<'a> {
    b: Builder,
    table: &'a Overrides,
    word: u32,
    /// Size of the format: 4 or 8.
    bytes: u16,
}

impl Lift<'_> {
    fn field(&self, low: u32) -> usize {
        (self.word >> low & 31) as usize
    }

    fn letter(&self) -> char {
        if self.bytes == 8 { 'd' } else { 's' }
    }

    /// A float operand.
    fn float(&mut self, number: usize, bytes: u16) -> Varnode {
        let register = self.table.floats[number];
        if bytes == 8 {
            return register;
        }
        let filled = self.b.rel_constant(RelOp::Eq, register.slice(4, 4), 0xffff_ffff);
        let nan = Varnode::constant(0x7fc0_0000, 4);
        self.b.select(filled, register.slice(0, 4), nan)
    }

    fn set_float(&mut self, value: Varnode) {
        let out = self.table.floats[self.field(7)];
        let value = match value.bytes {
            8 => value,
            _ => self.b.concat(Varnode::constant(0xffff_ffff, 4), value),
        };
        self.b.copy(out, value);
    }

    fn set_integer(&mut self, value: Varnode) {
        if self.field(7) == 0 {
            return;
        }
        let out = self.table.integers[self.field(7)];
        let value = if value.bytes == 1 { self.b.zext(value, 8) } else { self.b.sext(value, 8) };
        self.b.copy(out, value);
    }

    fn integer(&mut self, bytes: u16) -> Varnode {
        let number = self.field(15);
        if number == 0 { Varnode::constant(0, bytes) } else { self.table.integers[number].slice(0, bytes) }
    }

    /// The canonical one where the value is not a number.
    fn canonical(&mut self, value: Varnode) -> Varnode {
        let nan = if value.bytes == 8 { 0x7ff8_0000_0000_0000 } else { 0x7fc0_0000 };
        let is_nan = self.is_nan(value);
        self.b.select(is_nan, Varnode::constant(nan, value.bytes), value)
    }

    fn is_nan(&mut self, a: Varnode) -> Varnode {
        let out = self.b.temporary(1);
        self.b.push(Op::FloatIsNan { out, a });
        out
    }

    fn relation(&mut self, op: FloatRelOp, a: Varnode, b: Varnode) -> Varnode {
        let out = self.b.temporary(1);
        self.b.push(Op::FloatRel { op, out, a, b });
        out
    }

    /// Rounding of arithmetic: to nearest, or what the status register says, which is taken to be the same.
    fn rounds_to_nearest(&self) -> Option<()> {
        matches!(self.word >> 12 & 7, 0 | 7).then_some(())
    }

    fn rounding(&self) -> Option<Rounding> {
        Some(match self.word >> 12 & 7 {
            0 | 7 => Rounding::NearestEven,
            1 => Rounding::Zero,
            2 => Rounding::Down,
            3 => Rounding::Up,
            4 => Rounding::NearestAway,
            _ => return None,
        })
    }

    fn operation(&mut self) -> Option<String> {
        let (d, s1, s2) = (self.field(7), self.field(15), self.field(20));
        let (fd, f1, f2) = (FLOATS[d], FLOATS[s1], FLOATS[s2]);
        let (xd, x1) = (INTEGERS[d], INTEGERS[s1]);
        let (bytes, letter, mode) = (self.bytes, self.letter(), self.word >> 12 & 7);
        let text = match (self.word >> 27, mode, s2) {
            (code @ 0..=3, _, _) => {
                self.rounds_to_nearest()?;
                let (name, op) = [
                    ("fadd", FloatBinOp::Add),
                    ("fsub", FloatBinOp::Sub),
                    ("fmul", FloatBinOp::Mul),
                    ("fdiv", FloatBinOp::Div),
                ][code as usize];
                let (a, b) = (self.float(s1, bytes), self.float(s2, bytes));
                let out = self.b.temporary(bytes);
                self.b.push(Op::FloatBin { op, out, a, b });
                let out = self.canonical(out);
                self.set_float(out);
                format!("{name}.{letter} {fd},{f1},{f2}")
            }
            (0x0b, _, 0) => {
                self.rounds_to_nearest()?;
                let a = self.float(s1, bytes);
                let out = self.b.temporary(bytes);
                self.b.push(Op::FloatUn { op: FloatUnOp::Sqrt, rounding: Rounding::NearestEven, out, a });
                let out = self.canonical(out);
                self.set_float(out);
                format!("fsqrt.{letter} {fd},{f1}")
            }
            (0x04, 0..=2, _) => {
                self.inject_sign(mode);
                format!("fsgnj{}.{letter} {fd},{f1},{f2}", ["", "n", "x"][mode as usize])
            }
            (0x05, 0 | 1, _) => {
                self.extremum(mode == 1);
                format!("{}.{letter} {fd},{f1},{f2}", if mode == 1 { "fmax" } else { "fmin" })
            }
            (0x14, 0..=2, _) => {
                let (a, b) = (self.float(s1, bytes), self.float(s2, bytes));
                let (name, op) = [("fle", FloatRelOp::Le), ("flt", FloatRelOp::Lt), ("feq", FloatRelOp::Eq)]
                    [mode as usize];
                let holds = self.relation(op, a, b);
                self.set_integer(holds);
                format!("{name}.{letter} {xd},{f1},{f2}")
            }
            (0x08, _, 0 | 1) if (s2 == 1) != (bytes == 8) => {
                self.rounds_to_nearest()?;
                let from = if s2 == 1 { 8 } else { 4 };
                let a = self.float(s1, from);
                let out = self.b.temporary(bytes);
                self.b.push(Op::FloatToFloat { out, a });
                let out = self.canonical(out);
                self.set_float(out);
                format!("fcvt.{letter}.{} {fd},{f1}", if s2 == 1 { 'd' } else { 's' })
            }
            (0x18, _, 0..=3) => {
                self.convert_to_integer(s2)?;
                format!("fcvt.{}.{letter} {xd},{f1}", ["w", "wu", "l", "lu"][s2])
            }
            (0x1a, _, 0..=3) => {
                self.rounds_to_nearest()?;
                let a = self.integer(if s2 < 2 { 4 } else { 8 });
                let a = if s2 % 2 == 1 { self.b.zext(a, a.bytes * 2) } else { a };
                let out = self.b.temporary(bytes);
                self.b.push(Op::FloatFromInt { out, a });
                self.set_float(out);
                format!("fcvt.{letter}.{} {fd},{x1}", ["w", "wu", "l", "lu"][s2])
            }
            (0x1c, 0, 0) => {
                let value = self.table.floats[s1].slice(0, bytes);
                self.set_integer(value);
                format!("fmv.x.{} {xd},{f1}", if bytes == 8 { 'd' } else { 'w' })
            }
            (0x1c, 1, 0) => {
                let class = self.classify();
                self.set_integer(class);
                format!("fclass.{letter} {xd},{f1}")
            }
            (0x1e, 0, 0) => {
                let value = self.integer(bytes);
                self.set_float(value);
                format!("fmv.{}.x {fd},{x1}", if bytes == 8 { 'd' } else { 'w' })
            }
            _ => return None,
        };
        Some(text.to_lowercase())
    }

    fn inject_sign(&mut self, mode: u32) {
        let (a, b) = (self.float(self.field(15), self.bytes), self.float(self.field(20), self.bytes));
        let sign = 1u64 << (self.bytes * 8 - 1);
        let rest = self.b.bin_constant(BinOp::And, a, sign - 1);
        let other = match mode {
            1 => self.b.un(parallax_op::UnOp::Not, b),
            2 => self.b.bin(BinOp::Xor, a, b),
            _ => b,
        };
        let other = self.b.bin_constant(BinOp::And, other, sign);
        let value = self.b.bin(BinOp::Or, rest, other);
        self.set_float(value);
    }

    /// Minimum or maximum; negative zero is below zero, and a number wins against what is none.
    fn extremum(&mut self, maximum: bool) {
        let (a, b) = (self.float(self.field(15), self.bytes), self.float(self.field(20), self.bytes));
        let (low, high) = if maximum { (b, a) } else { (a, b) };
        let less = self.relation(FloatRelOp::Lt, low, high);
        let equal = self.relation(FloatRelOp::Eq, low, high);
        let negative = self.b.rel_constant(RelOp::Slt, low, 0);
        let tie = self.b.bool(BoolOp::And, equal, negative);
        let first = self.b.bool(BoolOp::Or, less, tie);
        let b_is_nan = self.is_nan(b);
        let first = self.b.bool(BoolOp::Or, first, b_is_nan);
        let chosen = self.b.select(first, a, b);
        let value = self.canonical(chosen);
        self.set_float(value);
    }

    /// Held at the ends of the range; what is not a number becomes the largest.
    fn convert_to_integer(&mut self, kind: usize) -> Option<()> {
        let rounding = self.rounding()?;
        let a = self.float(self.field(15), self.bytes);
        let (bytes, unsigned) = (if kind < 2 { 4u16 } else { 8 }, kind % 2 == 1);
        let out = self.b.temporary(if unsigned { 2 * bytes } else { bytes });
        self.b.push(Op::FloatToInt { rounding, out, a });
        let ones = if bytes == 8 { u64::MAX } else { 0xffff_ffff };
        let largest = Varnode::constant(if unsigned { ones } else { ones >> 1 }, bytes);
        let value = if unsigned {
            let negative = self.b.rel_constant(RelOp::Slt, out, 0);
            let limit = self.b.zext(largest, out.bytes);
            let large = self.b.rel(RelOp::Sgt, out, limit);
            let low = self.b.extract(out, 0, bytes);
            let held = self.b.select(large, largest, low);
            self.b.select(negative, Varnode::constant(0, bytes), held)
        } else {
            out
        };
        let is_nan = self.is_nan(a);
        let value = self.b.select(is_nan, largest, value);
        self.set_integer(value);
        Some(())
    }

    /// One bit of ten: negative infinity, normal, subnormal, zero; the same positive; signalling, quiet.
    fn classify(&mut self) -> Varnode {
        let a = self.float(self.field(15), self.bytes);
        let (sign, fraction) = if self.bytes == 8 { (63, 52) } else { (31, 23) };
        let magnitude = self.b.bin_constant(BinOp::And, a, (1u64 << sign) - 1);
        let infinity = ((1u64 << sign) - 1) >> fraction << fraction;
        let negative = self.b.rel_constant(RelOp::Slt, a, 0);
        let two = |low: u64| Varnode::constant(low, 2);
        // From the largest magnitude down: each test decides what the earlier ones left.
        let mut class = self.b.select(negative, two(1 << 3), two(1 << 4));
        for (from, below, above) in
            [(1, 1 << 2, 1 << 5), (1 << fraction, 1 << 1, 1 << 6), (infinity, 1, 1 << 7)]
        {
            let reached = self.b.rel_constant(RelOp::Uge, magnitude, from);
            let signed = self.b.select(negative, two(below), two(above));
            class = self.b.select(reached, signed, class);
        }
        for (from, bit) in [(infinity + 1, 1 << 8), (infinity | 1 << (fraction - 1), 1 << 9)] {
            let reached = self.b.rel_constant(RelOp::Uge, magnitude, from);
            class = self.b.select(reached, two(bit), class);
        }
        class
    }

    fn fused(&mut self) -> Option<String> {
        self.rounds_to_nearest()?;
        let (d, s1, s2, s3) = (self.field(7), self.field(15), self.field(20), self.field(27));
        let bytes = self.bytes;
        let (a, b, c) = (self.float(s1, bytes), self.float(s2, bytes), self.float(s3, bytes));
        let mut negated = |a: Varnode| {
            let out = self.b.temporary(bytes);
            self.b.push(Op::FloatNeg { out, a });
            out
        };
        let (name, a, c) = match self.word & 0x7f {
            0x43 => ("fmadd", a, c),
            0x47 => ("fmsub", a, negated(c)),
            0x4b => ("fnmsub", negated(a), c),
            _ => ("fnmadd", negated(a), negated(c)),
        };
        let out = self.b.call(Intrinsic::FusedMultiplyAdd, bytes, &[a, b, c]);
        let out = self.canonical(out);
        self.set_float(out);
        let [d, s1, s2, s3] = [d, s1, s2, s3].map(|number| FLOATS[number].to_lowercase());
        Some(format!("{name}.{} {d},{s1},{s2},{s3}", self.letter()))
    }

    fn load_single(&mut self) -> String {
        let (d, s1) = (self.field(7), self.field(15));
        let distance = i64::from(self.word as i32 >> 20);
        let base = self.integer(8);
        let address = self.b.bin_constant(BinOp::Add, base, distance as u64);
        let value = self.b.load(address, 4);
        self.set_float(value);
        format!("flw {},{distance}({})", FLOATS[d].to_lowercase(), INTEGERS[s1].to_lowercase())
    }
}
