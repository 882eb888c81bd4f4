//! PowerPC floats, all of them ours: the specification spreads their status over thirty-two registers of one byte,
//! rounds fused operations and singles twice, and leaves the ends of conversions to chance.
//!
//! FPSCR is one register of four bytes here. What arithmetic makes of it is [`PowerOp`]'s business; the instructions that
//! move it are in [`super::status`].

use super::status::Status;
use parallax_ir::{Builder, Intrinsic, PowerOp, Processor, ScalarOp, Trap, Varnode};
use parallax_op::{BinOp, RelOp, Rounding};
use parallax_sem::ByteOrder;

/// The float registers and what arithmetic reads and writes besides.
pub(super) struct Floats {
    order: ByteOrder,
    pub registers: Vec<Varnode>,
    pub status: Status,
}

const SIGN: u64 = 1 << 63;

impl Floats {
    pub fn new(processor: &Processor) -> Option<Self> {
        let place = |n: u32| processor.register(&format!("F{n}")).map(|register| register.place);
        Some(Floats {
            order: processor.order,
            registers: (0..32).map(place).collect::<Option<_>>()?,
            status: Status::new(processor)?,
        })
    }

    /// The operations of an instruction with primary opcode 59 or 63, if it is one of ours.
    pub fn lift(&self, b: &mut Builder, word: u32) -> Option<String> {
        let record = word & 1 == 1;
        let text = self
            .compared(b, word)
            .or_else(|| self.moved(b, word))
            .or_else(|| self.computed(b, word))
            .or_else(|| self.converted(b, word))
            .or_else(|| self.status.lift(b, word, &self.registers))?;
        if record {
            self.status.record(b);
        }
        Some(text)
    }

    /// The number of the register in a field.
    fn number(word: u32, low: u32) -> usize {
        (word >> low & 31) as usize
    }

    /// Part of a result, from its lowest byte up.
    fn part(&self, all: Varnode, low: u16, bytes: u16) -> Varnode {
        match self.order {
            ByteOrder::Little => all.slice(low, bytes),
            ByteOrder::Big => all.slice(all.bytes - low - bytes, bytes),
        }
    }

    /// A function under FPSCR, its value going to `out`, which it has as an operand if it is a float register.
    fn call(&self, b: &mut Builder, op: PowerOp, operands: &[Varnode], out: Varnode) {
        let status = &self.status;
        let has_target = !matches!(op, PowerOp::Compare { .. });
        let controls = [status.fpscr, status.msr].into_iter().chain(has_target.then_some(out));
        let arguments: Vec<Varnode> = operands.iter().copied().chain(controls).collect();
        let all = b.call(Intrinsic::Power(op), out.bytes + 5, &arguments);
        b.copy(out, self.part(all, 0, out.bytes));
        b.copy(status.fpscr, self.part(all, out.bytes, 4));
        b.trap(Some(self.part(all, out.bytes + 4, 1)), Trap::Float);
    }

    fn compared(&self, b: &mut Builder, word: u32) -> Option<String> {
        // Neither a record bit nor bits beside the number of the condition field.
        let code @ (0 | 32) = word >> 1 & 0x3ff else { return None };
        if word >> 26 != 63 || word & 0x0060_0001 != 0 {
            return None;
        }
        let (field, first, second) = (word >> 23 & 7, Self::number(word, 16), Self::number(word, 11));
        let operands = [self.registers[first], self.registers[second]];
        self.call(b, PowerOp::Compare { ordered: code == 32 }, &operands, self.status.fields[field as usize]);
        Some(format!("fcmp{} cr{field},f{first},f{second}", if code == 32 { "o" } else { "u" }))
    }

    /// Moves, which look at no status and change none.
    fn moved(&self, b: &mut Builder, word: u32) -> Option<String> {
        let dot = if word & 1 == 1 { "." } else { "" };
        let (t, first, second, third) =
            (Self::number(word, 21), Self::number(word, 16), Self::number(word, 11), Self::number(word, 6));
        let (out, a) = (self.registers[t], self.registers[second]);
        if word >> 26 == 63 && word >> 1 & 31 == 23 {
            // Bit patterns from positive zero to infinity, and that of negative zero.
            let x = self.registers[first];
            let positive = b.rel_constant(RelOp::Ule, x, 0x7ff0 << 48);
            let negative_zero = b.rel_constant(RelOp::Eq, x, SIGN);
            let holds = b.bool(parallax_op::BoolOp::Or, positive, negative_zero);
            let value = b.select(holds, self.registers[third], a);
            b.copy(out, value);
            return Some(format!("fsel{dot} f{t},f{first},f{third},f{second}"));
        }
        let code = word >> 1 & 0x3ff;
        if word >> 26 != 63 || (first != 0 && code != 8) {
            return None;
        }
        let (name, value) = match code {
            8 => {
                let sign = b.bin_constant(BinOp::And, self.registers[first], SIGN);
                let rest = b.bin_constant(BinOp::And, a, !SIGN);
                ("fcpsgn", b.bin(BinOp::Or, sign, rest))
            }
            40 => ("fneg", b.bin_constant(BinOp::Xor, a, SIGN)),
            72 => ("fmr", a),
            136 => ("fnabs", b.bin_constant(BinOp::Or, a, SIGN)),
            264 => ("fabs", b.bin_constant(BinOp::And, a, !SIGN)),
            _ => return None,
        };
        b.copy(out, value);
        let operands = if code == 8 { format!("f{first},f{second}") } else { format!("f{second}") };
        Some(format!("{name}{dot} f{t},{operands}"))
    }

    /// Arithmetic, its operation in five bits.
    fn computed(&self, b: &mut Builder, word: u32) -> Option<String> {
        use ScalarOp::*;
        let single = word >> 26 == 59;
        let (t, first, second, third) =
            (Self::number(word, 21), Self::number(word, 16), Self::number(word, 11), Self::number(word, 6));
        let [a, x, c] = [first, second, third].map(|number| self.registers[number]);
        let out = self.registers[t];
        let suffix = format!("{}{}", if single { "s" } else { "" }, if word & 1 == 1 { "." } else { "" });
        let code = word >> 1 & 31;
        if let 28..=31 = code {
            let (subtract, negate) = (code & 1 == 0, code & 2 != 0);
            self.call(b, PowerOp::Fused { subtract, negate, single }, &[a, c, x], out);
            let name = ["fmsub", "fmadd", "fnmsub", "fnmadd"][code as usize - 28];
            return Some(format!("{name}{suffix} f{t},f{first},f{third},f{second}"));
        }
        // Fields that an operation does not use are zero.
        let (name, op, operands) = match (code, first, second, third) {
            (18, _, _, 0) => ("fdiv", PowerOp::Arithmetic { op: Div, single }, [a, x]),
            (20, _, _, 0) => ("fsub", PowerOp::Arithmetic { op: Sub, single }, [a, x]),
            (21, _, _, 0) => ("fadd", PowerOp::Arithmetic { op: Add, single }, [a, x]),
            (25, _, 0, _) => ("fmul", PowerOp::Arithmetic { op: Mul, single }, [a, c]),
            (22, 0, _, 0) => ("fsqrt", PowerOp::Arithmetic { op: Sqrt, single }, [x, x]),
            (24, 0, _, 0) if single => ("fre", PowerOp::Reciprocal, [x, x]),
            (26, 0, _, 0) if !single => ("frsqrte", PowerOp::ReciprocalRoot, [x, x]),
            _ => return None,
        };
        let used = if matches!(code, 24 | 26) { &operands[..1] } else { &operands[..] };
        self.call(b, op, used, out);
        let shown = match code {
            22 | 24 | 26 => format!("f{second}"),
            25 => format!("f{first},f{third}"),
            _ => format!("f{first},f{second}"),
        };
        Some(format!("{name}{suffix} f{t},{shown}"))
    }

    /// Conversions, their operation in ten bits.
    fn converted(&self, b: &mut Builder, word: u32) -> Option<String> {
        let (t, second) = (Self::number(word, 21), Self::number(word, 11));
        let single = word >> 26 == 59;
        if Self::number(word, 16) != 0 {
            return None;
        }
        let to = |word, signed, truncate| PowerOp::ToInt { word, signed, truncate };
        let (name, op) = match (word >> 1 & 0x3ff, single) {
            (12, false) => ("frsp", PowerOp::ToSingle),
            (14, false) => ("fctiw", to(true, true, false)),
            (15, false) => ("fctiwz", to(true, true, true)),
            (142, false) => ("fctiwu", to(true, false, false)),
            (143, false) => ("fctiwuz", to(true, false, true)),
            (814, false) => ("fctid", to(false, true, false)),
            (815, false) => ("fctidz", to(false, true, true)),
            (942, false) => ("fctidu", to(false, false, false)),
            (943, false) => ("fctiduz", to(false, false, true)),
            (846, _) => ("fcfid", PowerOp::FromInt { signed: true, single }),
            (974, _) => ("fcfidu", PowerOp::FromInt { signed: false, single }),
            (392, false) => ("frin", PowerOp::Integral(Rounding::NearestAway)),
            (424, false) => ("friz", PowerOp::Integral(Rounding::Zero)),
            (456, false) => ("frip", PowerOp::Integral(Rounding::Up)),
            (488, false) => ("frim", PowerOp::Integral(Rounding::Down)),
            _ => return None,
        };
        self.call(b, op, &[self.registers[second]], self.registers[t]);
        let suffix = format!("{}{}", if single { "s" } else { "" }, if word & 1 == 1 { "." } else { "" });
        Some(format!("{name}{suffix} f{t},f{second}"))
    }
}
