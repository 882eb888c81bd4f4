//! MIPS: comparisons of floats that hold when the operands are not comparable; the specification takes `c.ueq` for
//! `c.eq`.

use parallax_ir::{Builder, Instruction, Op, Processor, Varnode};
use parallax_op::{BinOp, BoolOp, FloatRelOp};
use parallax_sem::ByteOrder;

/// The override table.
pub(crate) struct Overrides {
    order: ByteOrder,
    singles: Vec<Varnode>,
    /// Pairs, by the number of the even register.
    doubles: Vec<Varnode>,
    status: Varnode,
}

const NAMES: [&str; 8] = ["f", "un", "eq", "ueq", "olt", "ult", "ole", "ule"];

impl Overrides {
    /// The table over the registers of the specification, if it has the ones it should.
    pub fn new(processor: &Processor) -> Option<Self> {
        let place = |name: String| processor.register(&name).map(|register| register.place);
        Some(Overrides {
            order: processor.order,
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
        // c.cond.fmt: the condition's upper bit only tells whether quiet operands raise an exception.
        if word >> 26 != 0x11 || word & 0xf0 != 0x30 || word & 0xc0 != 0 && word & 0x300 != 0 {
            return None;
        }
        let (s, t) = ((word >> 11 & 31) as usize, (word >> 16 & 31) as usize);
        let (a, b, letter) = match word >> 21 & 31 {
            16 => (self.singles[s], self.singles[t], 's'),
            17 if s % 2 == 0 && t % 2 == 0 => (self.doubles[s / 2], self.doubles[t / 2], 'd'),
            _ => return None,
        };
        let code = (word & 7) as usize;
        let mut builder = Builder::new();
        let mut relation = |op| {
            let out = builder.temporary(1);
            builder.push(Op::FloatRel { op, out, a, b });
            out
        };
        let ordered = match code >> 1 {
            1 => Some(relation(FloatRelOp::Eq)),
            2 => Some(relation(FloatRelOp::Lt)),
            3 => Some(relation(FloatRelOp::Le)),
            _ => None,
        };
        let mut holds = ordered.unwrap_or(Varnode::constant(0, 1));
        if code & 1 == 1 {
            for operand in [a, b] {
                let out = builder.temporary(1);
                builder.push(Op::FloatIsNan { out, a: operand });
                holds = builder.bool(BoolOp::Or, holds, out);
            }
        }
        // Condition 0 is bit 23 of the status register, the others follow from bit 25 on.
        let condition = u64::from(word >> 8 & 7);
        let bit = if condition == 0 { 23 } else { 24 + condition };
        let rest = builder.bin_constant(BinOp::And, self.status, !(1 << bit));
        let wide = builder.zext(holds, self.status.bytes);
        let moved = builder.bin_constant(BinOp::Shl, wide, bit);
        builder.push(Op::Bin { op: BinOp::Or, out: self.status, a: rest, b: moved });
        Some(builder.finish(address, 4, format!("c.{}.{letter} f{s},f{t}", NAMES[code])))
    }
}
