//! RISC-V: floats, and the registers of their state. The specification writes conversions to integers nowhere, rounds
//! fused operations twice, has no classification, knows no rounding mode and raises no flags.
//!
//! A single-precision value fills its 64-bit register with ones above; one that is not filled so reads as not a number.
//! Results that are not numbers are the canonical one. The specification has `FFLAGS`, `FRM` and `FCSR` as three registers,
//! and a state may set any of them: what is in either place counts, and what is written goes to both.

use crate::ieee::{Unit, negated};
use crate::refused::Refused;
use crate::x86::Answer;
use parallax_ir::{Builder, Dialect, IeeeOp, Instruction, Op, Processor, Trap, Varnode};
use parallax_op::{BinOp, RelOp, Rounding, UnOp};

/// The override table.
pub(crate) struct Overrides {
    integers: Vec<Varnode>,
    floats: Vec<Varnode>,
    flags: Varnode,
    mode: Varnode,
    /// Both of them, the mode above the flags.
    state: Varnode,
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
        let [flags, mode, state] = places(&["FFLAGS", "FRM", "FCSR"])?[..] else { return None };
        Some(Overrides { integers: places(&INTEGERS)?, floats: places(&FLOATS)?, flags, mode, state })
    }

    /// The instruction, if it is one of ours.
    pub fn lift(&self, address: u64, bytes: &[u8]) -> Answer {
        let half = bytes.first_chunk().map_or(0, |half| u16::from_le_bytes(*half));
        // `c.addiw`, `c.lwsp` and `c.ldsp` with register zero.
        if matches!(half & 0xe003, 0x2001 | 0x4002 | 0x6002) && half & 0xf80 == 0 {
            return Answer::Invalid("a reserved encoding");
        }
        let Some(word) = bytes.first_chunk().map(|word| u32::from_le_bytes(*word)) else {
            return Answer::NotOurs;
        };
        let mut b = Builder::new();
        let mode = self.current_mode(&mut b);
        let bytes = if word >> 25 & 3 == 1 { 8 } else { 4 };
        let unit = Unit::new(Dialect::RiscV, mode);
        let mut lift = Lift { b, table: self, word, bytes, mode, unit, rounding: None };
        let rounds = matches!(word & 0x7f, 0x43 | 0x47 | 0x4b | 0x4f)
            || word & 0x7f == 0x53 && matches!(word >> 27, 0..=3 | 8 | 0x0b | 0x18 | 0x1a);
        if rounds && word >> 25 & 3 < 2 {
            match word >> 12 & 7 {
                5 | 6 => return Answer::Invalid("a rounding mode that does not exist"),
                7 => lift.check_mode(),
                named => lift.rounding = Some(ROUNDINGS[named as usize]),
            }
        }
        let text = match word & 0x7f {
            0x53 if word >> 25 & 3 < 2 => lift.operation(),
            0x43 | 0x47 | 0x4b | 0x4f if word >> 25 & 3 < 2 => lift.fused(),
            0x07 if word >> 12 & 7 == 2 => Some(lift.load_single()),
            0x73 => lift.control(),
            _ => None,
        };
        lift.raise();
        text.map_or(Answer::NotOurs, |text| Answer::Lifted(lift.b.finish(address, 4, text)))
    }

    /// The rounding mode, one byte.
    fn current_mode(&self, b: &mut Builder) -> Varnode {
        let (one, other) = (b.extract(self.mode, 0, 1), b.extract(self.state, 5, 1));
        let either = b.bin(BinOp::Or, one, other);
        b.bin_constant(BinOp::And, either, 7)
    }
}

const ROUNDINGS: [Rounding; 5] =
    [Rounding::NearestEven, Rounding::Zero, Rounding::Down, Rounding::Up, Rounding::NearestAway];
const MODES: [&str; 8] = [",rne", ",rtz", ",rdn", ",rup", ",rmm", "", "", ""];

/// The specification's instruction, where it may be used: register zero stays what it is, and registers of the state that
/// are not those of floats have no values here.
pub(crate) fn complete(mut instruction: Instruction, processor: &Processor) -> Instruction {
    let Some(zero) = processor.register("ZERO").map(|register| register.place) else { return instruction };
    let name = instruction.text.split_whitespace().next().unwrap_or_default();
    let counters = name.starts_with("rd") && matches!(&name[2..], "cycle" | "time" | "instret");
    if name.starts_with("csr") || counters {
        instruction.ops = [Refused::Instruction.op(processor)].into();
        return instruction;
    }
    let mut instruction = crate::zero::kept(instruction, zero);
    let mut temporary = |bytes: u16| {
        let place = Varnode::temporary(u64::from(instruction.temporary_bytes), bytes);
        instruction.temporary_bytes = instruction.temporary_bytes.saturating_add(16);
        place
    };
    let mut ops = std::mem::take(&mut instruction.ops).into_vec();
    // A quotient by zero is minus one, whatever the dividend.
    if let [Op::Bin { op: BinOp::Sdiv, out, b, .. }, rest @ ..] = &mut ops[..] {
        let (target, quotient, nothing) = (*out, temporary(out.bytes), temporary(1));
        let zero = Varnode::constant(0, b.bytes);
        let fixed = [
            Op::Rel { op: RelOp::Eq, out: nothing, a: *b, b: zero },
            Op::Select {
                out: target,
                when: nothing,
                then: Varnode::constant(u64::MAX, target.bytes),
                otherwise: quotient,
            },
        ];
        *out = quotient;
        let rest = rest.to_vec();
        ops.truncate(1);
        ops.extend(fixed);
        ops.extend(rest);
    }
    instruction.ops = ops.into();
    instruction
}

struct Lift<'a> {
    b: Builder,
    table: &'a Overrides,
    word: u32,
    /// Size of the format: 4 or 8.
    bytes: u16,
    /// The mode of the state, and the one that the instruction names.
    mode: Varnode,
    rounding: Option<Rounding>,
    unit: Unit,
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

    /// The value of a float operation under the mode that counts.
    fn compute(&mut self, op: IeeeOp, bytes: u16, operands: &[Varnode]) -> Varnode {
        self.unit.rounded(&mut self.b, op, self.rounding, bytes, operands)
    }

    /// A mode of the state that does not exist makes what asks for it no instruction.
    fn check_mode(&mut self) {
        let bad = self.b.rel_constant(RelOp::Ugt, self.mode, 4);
        self.b.trap(Some(bad), Trap::Undefined);
    }

    /// Adds what was raised to the state, whose flags are in the opposite order.
    fn raise(&mut self) {
        let Some(raised) = self.unit.raised() else { return };
        let mut flags = Varnode::constant(0, 1);
        for index in 0..5 {
            let bit = self.b.bit(raised, index);
            let moved = self.b.bin_constant(BinOp::Shl, bit, 4 - u64::from(index));
            flags = self.b.bin(BinOp::Or, flags, moved);
        }
        let flags = self.b.zext(flags, 8);
        for out in [self.table.flags, self.table.state] {
            self.b.push(Op::Bin { op: BinOp::Or, out, a: out, b: flags });
        }
    }

    /// Reads and writes of the state of floats.
    fn control(&mut self) -> Option<String> {
        let (d, s, number) = (self.field(7), self.field(15), self.word >> 20);
        let kind = self.word >> 12 & 7;
        if !(1..=3).contains(&number) || matches!(kind, 0 | 4) {
            return None;
        }
        let flags = self.b.bin(BinOp::Or, self.table.flags, self.table.state);
        let flags = self.b.bin_constant(BinOp::And, flags, 31);
        let mode = self.b.zext(self.mode, 8);
        let high = self.b.bin_constant(BinOp::Shl, mode, 5);
        let both = self.b.bin(BinOp::Or, high, flags);
        let (old, mask) = [(flags, 31u64), (mode, 7), (both, 255)][number as usize - 1];
        let old = self.b.snapshot(old);
        let given = match kind {
            4.. => Varnode::constant(s as u64, 8),
            _ => self.integer(8),
        };
        let new = match kind & 3 {
            1 => self.b.snapshot(given),
            2 => self.b.bin(BinOp::Or, old, given),
            _ => {
                let rest = self.b.un(UnOp::Not, given);
                self.b.bin(BinOp::And, old, rest)
            }
        };
        if kind & 3 == 1 || s != 0 {
            let new = self.b.bin_constant(BinOp::And, new, mask);
            let all = match number {
                1 => self.b.bin(BinOp::Or, high, new),
                2 => {
                    let high = self.b.bin_constant(BinOp::Shl, new, 5);
                    self.b.bin(BinOp::Or, high, flags)
                }
                _ => new,
            };
            let (flags, mode) =
                (self.b.bin_constant(BinOp::And, all, 31), self.b.bin_constant(BinOp::Lshr, all, 5));
            for (out, value) in [(self.table.flags, flags), (self.table.mode, mode), (self.table.state, all)]
            {
                self.b.copy(out, value);
            }
        }
        if d != 0 {
            self.b.copy(self.table.integers[d], old);
        }
        let name = ["", "csrrw", "csrrs", "csrrc", "", "csrrwi", "csrrsi", "csrrci"][kind as usize];
        let register = ["fflags", "frm", "fcsr"][number as usize - 1];
        let source = if kind > 4 { s.to_string() } else { INTEGERS[s].to_lowercase() };
        Some(format!("{name} {},{register},{source}", INTEGERS[d].to_lowercase()))
    }

    fn operation(&mut self) -> Option<String> {
        let (d, s1, s2) = (self.field(7), self.field(15), self.field(20));
        let (fd, f1, f2) = (FLOATS[d], FLOATS[s1], FLOATS[s2]);
        let (xd, x1) = (INTEGERS[d], INTEGERS[s1]);
        let (bytes, letter, mode) = (self.bytes, self.letter(), self.word >> 12 & 7);
        let way = MODES[mode as usize];
        let text = match (self.word >> 27, mode, s2) {
            (code @ 0..=3, _, _) => {
                let (name, op) = [
                    ("fadd", IeeeOp::Add),
                    ("fsub", IeeeOp::Sub),
                    ("fmul", IeeeOp::Mul),
                    ("fdiv", IeeeOp::Div),
                ][code as usize];
                let (a, b) = (self.float(s1, bytes), self.float(s2, bytes));
                let out = self.compute(op, bytes, &[a, b]);
                self.set_float(out);
                format!("{name}.{letter} {fd},{f1},{f2}{way}")
            }
            (0x0b, _, 0) => {
                let a = self.float(s1, bytes);
                let out = self.compute(IeeeOp::Sqrt, bytes, &[a]);
                self.set_float(out);
                format!("fsqrt.{letter} {fd},{f1}{way}")
            }
            (0x04, 0..=2, _) => {
                self.inject_sign(mode);
                format!("fsgnj{}.{letter} {fd},{f1},{f2}", ["", "n", "x"][mode as usize])
            }
            (0x05, 0 | 1, _) => {
                let (a, b) = (self.float(s1, bytes), self.float(s2, bytes));
                let op = match mode {
                    1 => IeeeOp::Max { number: true },
                    _ => IeeeOp::Min { number: true },
                };
                let out = self.compute(op, bytes, &[a, b]);
                self.set_float(out);
                format!("{}.{letter} {fd},{f1},{f2}", if mode == 1 { "fmax" } else { "fmin" })
            }
            (0x14, 0..=2, _) => {
                let (a, b) = (self.float(s1, bytes), self.float(s2, bytes));
                let (name, bits) = [("fle", 3), ("flt", 1), ("feq", 2)][mode as usize];
                let order = self.compute(IeeeOp::Compare { strict: mode < 2 }, 1, &[a, b]);
                let counted = self.b.bin_constant(BinOp::And, order, bits);
                let holds = self.b.rel_constant(RelOp::Ne, counted, 0);
                self.set_integer(holds);
                format!("{name}.{letter} {xd},{f1},{f2}")
            }
            (0x08, _, 0 | 1) if (s2 == 1) != (bytes == 8) => {
                let from = if s2 == 1 { 8 } else { 4 };
                let a = self.float(s1, from);
                let out = self.compute(IeeeOp::ToFloat { to: bytes as u8 }, bytes, &[a]);
                self.set_float(out);
                format!("fcvt.{letter}.{} {fd},{f1}{way}", if s2 == 1 { 'd' } else { 's' })
            }
            (0x18, _, 0..=3) => {
                let a = self.float(s1, bytes);
                let to = if s2 < 2 { 4 } else { 8 };
                let op = IeeeOp::ToInt { signed: s2 % 2 == 0, fraction: 0, to };
                let out = self.compute(op, to.into(), &[a]);
                self.set_integer(out);
                format!("fcvt.{}.{letter} {xd},{f1}{way}", ["w", "wu", "l", "lu"][s2])
            }
            (0x1a, _, 0..=3) => {
                let a = self.integer(if s2 < 2 { 4 } else { 8 });
                let op = IeeeOp::FromInt { signed: s2 % 2 == 0, fraction: 0, to: bytes as u8 };
                let out = self.compute(op, bytes, &[a]);
                self.set_float(out);
                format!("fcvt.{letter}.{} {fd},{x1}{way}", ["w", "wu", "l", "lu"][s2])
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
            1 => self.b.un(UnOp::Not, b),
            2 => self.b.bin(BinOp::Xor, a, b),
            _ => b,
        };
        let other = self.b.bin_constant(BinOp::And, other, sign);
        let value = self.b.bin(BinOp::Or, rest, other);
        self.set_float(value);
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
        let (d, s1, s2, s3) = (self.field(7), self.field(15), self.field(20), self.field(27));
        let bytes = self.bytes;
        let (a, b, c) = (self.float(s1, bytes), self.float(s2, bytes), self.float(s3, bytes));
        let (name, a, c) = match self.word & 0x7f {
            0x43 => ("fmadd", a, c),
            0x47 => ("fmsub", a, negated(&mut self.b, c)),
            0x4b => ("fnmsub", negated(&mut self.b, a), c),
            _ => ("fnmadd", negated(&mut self.b, a), negated(&mut self.b, c)),
        };
        let out = self.compute(IeeeOp::Fused, bytes, &[a, b, c]);
        self.set_float(out);
        let [d, s1, s2, s3] = [d, s1, s2, s3].map(|number| FLOATS[number].to_lowercase());
        let way = MODES[(self.word >> 12 & 7) as usize];
        Some(format!("{name}.{} {d},{s1},{s2},{s3}{way}", self.letter()))
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
