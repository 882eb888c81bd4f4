//! MIPS: floats under FCSR, which has the rounding mode, what the last operation raised and what all did, and which of
//! that stops. The specification rounds to nearest, raises nothing, and takes `c.ueq` for `c.eq`.
//!
//! What is not a number is as it was before the revision of 2008: the bit that makes it quiet elsewhere makes it signal.

use crate::ieee::Unit;
use crate::refused::Refused;
use parallax_ir::{Builder, Dialect, IeeeOp, Instruction, Op, Processor, Trap, Varnode};
use parallax_op::{BinOp, RelOp, Rounding};
use parallax_sem::ByteOrder;

/// The override table.
pub(crate) struct Overrides {
    order: ByteOrder,
    general: Vec<Varnode>,
    singles: Vec<Varnode>,
    /// Pairs, by the number of the even register.
    doubles: Vec<Varnode>,
    status: Varnode,
}

const CONDITIONS: [&str; 16] = [
    "f", "un", "eq", "ueq", "olt", "ult", "ole", "ule", "sf", "ngle", "seq", "ngl", "lt", "nge", "le", "ngt",
];

const GENERAL: [&str; 32] = [
    "ZERO", "AT", "V0", "V1", "A0", "A1", "A2", "A3", "T0", "T1", "T2", "T3", "T4", "T5", "T6", "T7", "S0",
    "S1", "S2", "S3", "S4", "S5", "S6", "S7", "T8", "T9", "K0", "K1", "GP", "SP", "S8", "RA",
];

/// The formats by their field.
const SINGLE: u32 = 16;
const DOUBLE: u32 = 17;
const WORD: u32 = 20;

impl Overrides {
    /// The table over the registers of the specification, if it has the ones it should.
    pub fn new(processor: &Processor) -> Option<Self> {
        let place = |name: String| processor.register(&name).map(|register| register.place);
        Some(Overrides {
            order: processor.order,
            general: GENERAL.iter().map(|name| place((*name).to_owned())).collect::<Option<_>>()?,
            singles: (0..32).map(|n| place(format!("F{n}"))).collect::<Option<_>>()?,
            doubles: (0..16).map(|n| place(format!("F{}_{}", 2 * n, 2 * n + 1))).collect::<Option<_>>()?,
            status: place("FCSR".to_owned())?,
        })
    }

    /// The instruction, if it is one of ours.
    pub fn lift(&self, address: u64, bytes: &[u8]) -> Option<Instruction> {
        let bytes: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
        let word = match self.order {
            ByteOrder::Big => u32::from_be_bytes(bytes),
            ByteOrder::Little => u32::from_le_bytes(bytes),
        };
        let mut b = Builder::new();
        let text = match word >> 26 {
            0 | 8 => self.trapping(&mut b, word)?,
            0x11 if word >> 21 & 31 == 6 => self.set_status(&mut b, word)?,
            0x11 if word & 63 == 0x11 => self.move_if(&mut b, word)?,
            0x11 => self.operation(&mut b, word)?,
            0x13 => self.product_sum(&mut b, word)?,
            _ => return None,
        };
        Some(b.finish(address, 4, text))
    }

    fn value(&self, number: u32) -> Varnode {
        if number == 0 { Varnode::constant(0, 4) } else { self.general[number as usize] }
    }

    /// Sums that stop when they do not fit, and conditional traps.
    fn trapping(&self, b: &mut Builder, word: u32) -> Option<String> {
        let (s, t, d, code) = (word >> 21 & 31, word >> 16 & 31, word >> 11 & 31, word & 63);
        let (x, y) = (self.value(s), self.value(t));
        if word >> 26 == 0 && matches!(code, 0x30..=0x34 | 0x36) {
            let (op, name) = match code {
                0x30 => (RelOp::Sge, "tge"),
                0x31 => (RelOp::Uge, "tgeu"),
                0x32 => (RelOp::Slt, "tlt"),
                0x33 => (RelOp::Ult, "tltu"),
                0x34 => (RelOp::Eq, "teq"),
                _ => (RelOp::Ne, "tne"),
            };
            let holds = b.rel(op, x, y);
            b.trap(Some(holds), Trap::Breakpoint);
            return Some(format!("{name} {},{}", GENERAL[s as usize], GENERAL[t as usize]).to_lowercase());
        }
        let (out, second, op, name) = match (word >> 26, code, word >> 6 & 31) {
            (8, ..) => (t, Varnode::constant(i64::from(word as i16) as u64, 4), BinOp::Add, "addi"),
            (_, 0x20, 0) => (d, y, BinOp::Add, "add"),
            (_, 0x22, 0) => (d, y, BinOp::Sub, "sub"),
            _ => return None,
        };
        // One that does not fit stops as a quotient that does not fit would.
        let beyond = b.temporary(1);
        b.push(match op {
            BinOp::Add => Op::SignedCarry { out: beyond, a: x, b: second },
            _ => Op::SignedBorrow { out: beyond, a: x, b: second },
        });
        b.trap(Some(beyond), Trap::Divide);
        let value = b.bin(op, x, second);
        if out != 0 {
            b.copy(self.general[out as usize], value);
        }
        let second = match word >> 26 {
            8 => format!("{}", word as i16),
            _ => GENERAL[t as usize].to_lowercase(),
        };
        let text = format!("{name} {},{}", GENERAL[out as usize], GENERAL[s as usize]).to_lowercase();
        Some(format!("{text},{second}"))
    }

    /// `ctc1` to the status register: what is raised and not masked stops at once.
    fn set_status(&self, b: &mut Builder, word: u32) -> Option<String> {
        let (t, number) = (word >> 16 & 31, word >> 11 & 31);
        if number != 31 {
            return None;
        }
        let value = self.value(t);
        let value = b.bin_constant(BinOp::And, value, 0xff83_ffff);
        b.copy(self.status, value);
        let enabled = b.bin_constant(BinOp::Lshr, value, 7);
        // An operation that is not implemented is never masked.
        let enabled = b.bin_constant(BinOp::Or, enabled, 32);
        let cause = b.bin_constant(BinOp::Lshr, value, 12);
        let stops = b.bin(BinOp::And, enabled, cause);
        let stops = b.bin_constant(BinOp::And, stops, 63);
        let stops = b.rel_constant(RelOp::Ne, stops, 0);
        b.trap(Some(stops), Trap::Float);
        Some(format!("ctc1 {},fcsr", GENERAL[t as usize].to_lowercase()))
    }

    /// `movf` and `movt` of floats.
    fn move_if(&self, b: &mut Builder, word: u32) -> Option<String> {
        let format = word >> 21 & 31;
        let (s, d) = (word >> 11 & 31, word >> 6 & 31);
        if !matches!(format, SINGLE | DOUBLE) || word >> 17 & 1 == 1 {
            return None;
        }
        let (from, to) = (self.register(format, s)?, self.register(format, d)?);
        let condition = self.condition(b, word >> 18 & 7);
        let wanted = word >> 16 & 1 == 1;
        let value = if wanted { b.select(condition, from, to) } else { b.select(condition, to, from) };
        b.copy(to, value);
        let name = if wanted { "movt" } else { "movf" };
        Some(format!("{name}.{} f{d},f{s},{}", if format == DOUBLE { 'd' } else { 's' }, word >> 18 & 7))
    }

    fn condition(&self, b: &mut Builder, number: u32) -> Varnode {
        b.bit(self.status, if number == 0 { 23 } else { 24 + number as u16 })
    }

    /// A register of a format; doubles are pairs, so they have even numbers.
    fn register(&self, format: u32, number: u32) -> Option<Varnode> {
        match format {
            SINGLE | WORD => Some(self.singles[number as usize]),
            DOUBLE if number.is_multiple_of(2) => Some(self.doubles[number as usize / 2]),
            _ => None,
        }
    }

    fn unit(&self, b: &mut Builder) -> Unit {
        let low = b.extract(self.status, 0, 1);
        let mode = b.bin_constant(BinOp::And, low, 3);
        let flush = b.bit(self.status, 24);
        let flush = b.bin_constant(BinOp::Shl, flush, 2);
        let mode = b.bin(BinOp::Or, mode, flush);
        Unit::new(Dialect::Mips, mode)
    }

    /// Puts what was raised where the last operation's and where all operations' is, and stops if it is not masked.
    fn keep(&self, b: &mut Builder, unit: &Unit) {
        let Some(raised) = unit.raised() else { return };
        // FCSR has them in the opposite order.
        let mut cause = Varnode::constant(0, 1);
        for index in 0..5 {
            let bit = b.bit(raised, index);
            let moved = b.bin_constant(BinOp::Shl, bit, 4 - u64::from(index));
            cause = b.bin(BinOp::Or, cause, moved);
        }
        let cause = b.zext(cause, 4);
        let rest = b.bin_constant(BinOp::And, self.status, !0x3_f000);
        let last = b.bin_constant(BinOp::Shl, cause, 12);
        let with_last = b.bin(BinOp::Or, rest, last);
        b.copy(self.status, with_last);
        let enabled = b.bin_constant(BinOp::Lshr, with_last, 7);
        let stops = b.bin(BinOp::And, enabled, cause);
        let stops = b.bin_constant(BinOp::And, stops, 31);
        let stops = b.rel_constant(RelOp::Ne, stops, 0);
        b.trap(Some(stops), Trap::Float);
        let all = b.bin_constant(BinOp::Shl, cause, 2);
        b.push(Op::Bin { op: BinOp::Or, out: self.status, a: self.status, b: all });
    }

    fn operation(&self, b: &mut Builder, word: u32) -> Option<String> {
        let (format, code) = (word >> 21 & 31, word & 63);
        let (t, s, d) = (word >> 16 & 31, word >> 11 & 31, word >> 6 & 31);
        let letter = match format {
            SINGLE => 's',
            DOUBLE => 'd',
            WORD => 'w',
            _ => return None,
        };
        let bytes = if format == DOUBLE { 8 } else { 4 };
        let a = self.register(format, s)?;
        let mut unit = self.unit(b);
        if format == WORD && !matches!(code, 0x20 | 0x21) {
            return None;
        }
        let (out, value, text) = match code {
            0..=3 => {
                let (name, op) =
                    [("add", IeeeOp::Add), ("sub", IeeeOp::Sub), ("mul", IeeeOp::Mul), ("div", IeeeOp::Div)]
                        [code as usize];
                let second = self.register(format, t)?;
                let value = unit.apply(b, op, bytes, &[a, second]);
                (self.register(format, d)?, value, format!("{name}.{letter} f{d},f{s},f{t}"))
            }
            4 if t == 0 => {
                let value = unit.apply(b, IeeeOp::Sqrt, bytes, &[a]);
                (self.register(format, d)?, value, format!("sqrt.{letter} f{d},f{s}"))
            }
            0x0c..=0x0f | 0x24 if t == 0 => {
                let (name, rounding) = match code {
                    0x0c => ("round.w", Some(Rounding::NearestEven)),
                    0x0d => ("trunc.w", Some(Rounding::Zero)),
                    0x0e => ("ceil.w", Some(Rounding::Up)),
                    0x0f => ("floor.w", Some(Rounding::Down)),
                    _ => ("cvt.w", None),
                };
                let op = IeeeOp::ToInt { signed: true, fraction: 0, to: 4 };
                let value = unit.rounded(b, op, rounding, 4, &[a]);
                (self.register(WORD, d)?, value, format!("{name}.{letter} f{d},f{s}"))
            }
            0x20 | 0x21 if t == 0 && (format == WORD || format != code - 0x10) => {
                let (to, to_letter) = if code == 0x20 { (4u16, 's') } else { (8, 'd') };
                let op = match format {
                    WORD => IeeeOp::FromInt { signed: true, fraction: 0, to: to as u8 },
                    _ => IeeeOp::ToFloat { to: to as u8 },
                };
                let value = unit.apply(b, op, to, &[a]);
                let out = self.register(code - 0x10, d)?;
                (out, value, format!("cvt.{to_letter}.{letter} f{d},f{s}"))
            }
            0x30.. if word >> 6 & 3 == 0 => {
                let second = self.register(format, t)?;
                let condition = code & 15;
                let order = unit.apply(b, IeeeOp::Compare { strict: condition & 8 != 0 }, 1, &[a, second]);
                self.keep(b, &unit);
                // Bit 0 asks for what is not comparable, bit 1 for equal, bit 2 for less.
                let wanted =
                    u64::from(condition & 1) << 2 | u64::from(condition & 2) | u64::from(condition >> 2 & 1);
                let counted = b.bin_constant(BinOp::And, order, wanted);
                let holds = b.rel_constant(RelOp::Ne, counted, 0);
                self.set_condition(b, word >> 8 & 7, holds);
                let name = CONDITIONS[condition as usize];
                return Some(format!("c.{name}.{letter} fcc{},f{s},f{t}", word >> 8 & 7));
            }
            _ => return None,
        };
        self.keep(b, &unit);
        b.copy(out, value);
        Some(text)
    }

    /// Condition 0 is bit 23 of the status register, the others follow from bit 25 on.
    fn set_condition(&self, b: &mut Builder, number: u32, holds: Varnode) {
        let bit = u64::from(if number == 0 { 23 } else { 24 + number });
        let rest = b.bin_constant(BinOp::And, self.status, !(1 << bit));
        let wide = b.zext(holds, self.status.bytes);
        let moved = b.bin_constant(BinOp::Shl, wide, bit);
        b.push(Op::Bin { op: BinOp::Or, out: self.status, a: rest, b: moved });
    }

    /// `madd` and its kin: the product rounded, then the sum.
    fn product_sum(&self, b: &mut Builder, word: u32) -> Option<String> {
        let kind = word >> 3 & 7;
        let format = SINGLE + (word & 7);
        if !(4..=7).contains(&kind) || !matches!(format, SINGLE | DOUBLE) {
            return None;
        }
        let bytes = if format == DOUBLE { 8 } else { 4 };
        let register = |low: u32| self.register(format, word >> low & 31);
        let (added, t, s, d) = (register(21)?, register(16)?, register(11)?, register(6)?);
        let mut unit = self.unit(b);
        let product = unit.apply(b, IeeeOp::Mul, bytes, &[s, t]);
        let op = if kind & 1 == 0 { IeeeOp::Add } else { IeeeOp::Sub };
        let mut value = unit.apply(b, op, bytes, &[product, added]);
        if kind >= 6 {
            value = crate::ieee::negated(b, value);
        }
        self.keep(b, &unit);
        b.copy(d, value);
        let name = ["madd", "msub", "nmadd", "nmsub"][kind as usize - 4];
        Some(format!(
            "{name}.{} f{},f{}",
            if bytes == 8 { 'd' } else { 's' },
            word >> 6 & 31,
            word >> 11 & 31
        ))
    }
}

/// The specification's instruction, unless it computes with floats: what rounds is ours, or is not modelled.
pub(crate) fn complete(mut instruction: Instruction, processor: &Processor) -> Instruction {
    let rounds = |op: &Op| {
        matches!(
            op,
            Op::FloatBin { .. }
                | Op::FloatUn { .. }
                | Op::FloatFromInt { .. }
                | Op::FloatToInt { .. }
                | Op::FloatToFloat { .. }
                | Op::FloatRel { .. }
        )
    };
    // Of the float unit's registers there is the status alone.
    let text = instruction.text.as_str();
    let control = (text.starts_with("cfc1") || text.starts_with("ctc1")) && !text.ends_with("fcsr");
    let computes = instruction.ops.iter().any(rounds);
    if computes && instruction.length == 8 {
        // In a delay slot the specification's meaning is at hand alone: it holds where the mode is the usual one.
        guard(&mut instruction, processor);
    } else if control || computes {
        instruction.ops = [Refused::Instruction.op(processor)].into();
    }
    match processor.register("ZERO").map(|register| register.place) {
        Some(zero) => crate::zero::kept(instruction, zero),
        None => instruction,
    }
}

/// Stops before an instruction that would have to round otherwise than to nearest, to flush, or to stop.
fn guard(instruction: &mut Instruction, processor: &Processor) {
    let Some(status) = processor.register("FCSR").map(|register| register.place) else { return };
    let place = |more: u16| u64::from(instruction.temporary_bytes) + u64::from(more);
    let (bits, clear) = (Varnode::temporary(place(0), 4), Varnode::temporary(place(16), 1));
    instruction.temporary_bytes = instruction.temporary_bytes.saturating_add(32);
    let mut ops = vec![
        Op::Bin { op: BinOp::And, out: bits, a: status, b: Varnode::constant(0x0100_0f83, 4) },
        Op::Rel { op: RelOp::Eq, out: clear, a: bits, b: Varnode::constant(0, 4) },
        Op::Branch { when: Some(clear), to: 4 },
        Refused::Mode.op(processor),
    ];
    let added = ops.len() as u16;
    for mut op in std::mem::take(&mut instruction.ops) {
        if let Op::Branch { to, .. } = &mut op {
            *to += added;
        }
        ops.push(op);
    }
    instruction.ops = ops.into();
}
