//! PowerPC, 32-bit: what the specification gets wrong, as found by comparing it with QEMU.
//!
//! It keeps the XER register apart from its bits SO, OV and CA, so moving to and from it misses them; and division
//! without the overflow bit changes OV all the same.

use parallax_ir::{Builder, Instruction, Op, Processor, Varnode};
use parallax_op::{BinOp, RelOp};

/// The override table.
pub struct Overrides {
    general: Vec<Varnode>,
    cr0: Varnode,
    /// SO, OV and CA, with their bits in XER.
    flags: [(Varnode, u64); 3],
    /// The byte count of string instructions, the low seven bits of XER.
    count: Option<Varnode>,
}

impl Overrides {
    /// The table over the registers of the specification, if it has the ones it should.
    pub fn new(processor: &Processor) -> Option<Self> {
        let place = |name: &str| processor.register(name).map(|register| register.place);
        Some(Overrides {
            general: (0..32).map(|index| place(&format!("R{index}"))).collect::<Option<_>>()?,
            cr0: place("CR0")?,
            flags: [(place("XER_SO")?, 31), (place("XER_OV")?, 30), (place("XER_CA")?, 29)],
            count: place("XER_COUNT").filter(|place| place.bytes == 1),
        })
    }

    /// The instruction, if it is one of ours.
    pub fn lift(&self, address: u64, bytes: &[u8]) -> Option<Instruction> {
        let word = u32::from_be_bytes(bytes.get(..4)?.try_into().ok()?);
        let field = |low: u32| (word >> low & 31) as usize;
        if word >> 26 != 31 {
            return None;
        }
        let mut b = Builder::new();
        let special = field(16) | field(11) << 5;
        let text = match (word >> 1 & 0x3ff, special) {
            (339, 1) => {
                self.move_from_xer(&mut b, self.general[field(21)]);
                format!("mfxer r{}", field(21))
            }
            (467, 1) => {
                self.move_to_xer(&mut b, self.general[field(21)]);
                format!("mtxer r{}", field(21))
            }
            (code @ (491 | 459), _) => {
                let (name, op) = if code == 491 { ("divw", BinOp::Sdiv) } else { ("divwu", BinOp::Udiv) };
                let out = self.general[field(21)];
                b.push(Op::Bin { op, out, a: self.general[field(16)], b: self.general[field(11)] });
                if word & 1 == 1 {
                    self.record(&mut b, out);
                }
                let dot = if word & 1 == 1 { "." } else { "" };
                format!("{name}{dot} r{},r{},r{}", field(21), field(16), field(11))
            }
            _ => return None,
        };
        Some(b.finish(address, 4, text))
    }

    fn move_from_xer(&self, b: &mut Builder, out: Varnode) {
        let mut all = match self.count {
            Some(count) => b.zext(count, 4),
            None => Varnode::constant(0, 4),
        };
        for (flag, bit) in self.flags {
            let wide = b.zext(flag, 4);
            let moved = b.bin_constant(BinOp::Shl, wide, bit);
            all = b.bin(BinOp::Or, all, moved);
        }
        b.copy(out, all);
    }

    fn move_to_xer(&self, b: &mut Builder, a: Varnode) {
        for (flag, bit) in self.flags {
            let value = b.bit(a, bit as u16);
            b.copy(flag, value);
        }
        if let Some(count) = self.count {
            let low = b.extract(a, 0, 1);
            let low = b.bin_constant(BinOp::And, low, 0x7f);
            b.copy(count, low);
        }
    }

    /// Condition field 0: negative, positive, zero, and the summary overflow.
    fn record(&self, b: &mut Builder, result: Varnode) {
        let mut all = self.flags[0].0;
        for (op, bit) in [(RelOp::Eq, 1), (RelOp::Sgt, 2), (RelOp::Slt, 3)] {
            let holds = b.rel_constant(op, result, 0);
            let moved = b.bin_constant(BinOp::Shl, holds, bit);
            all = b.bin(BinOp::Or, all, moved);
        }
        b.copy(self.cr0, all);
    }
}
