//! ARM, 32-bit: what the specification gets wrong or only names. A comparison of floats that are not comparable sets the
//! carry; saturation has no meaning there, nor has the bitwise selection of vectors.

use parallax_ir::{Builder, Instruction, Op, Processor, Varnode};
use parallax_op::{BinOp, FloatRelOp, RelOp, UnOp};

/// The override table.
pub(crate) struct Overrides {
    pub thumb: bool,
    general: Vec<Varnode>,
    doubles: Vec<Varnode>,
    quads: Vec<Varnode>,
}

const GENERAL: [&str; 16] =
    ["R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "SP", "LR", "PC"];

impl Overrides {
    /// The table over the registers of the specification, if it has the ones it should.
    pub fn new(processor: &Processor, thumb: bool) -> Option<Self> {
        let place = |name: &str| processor.register(name).map(|register| register.place);
        let places = |prefix: &str, count: u32| {
            (0..count).map(|n| place(&format!("{prefix}{n}"))).collect::<Option<Vec<_>>>()
        };
        Some(Overrides {
            thumb,
            general: GENERAL.iter().map(|name| place(name)).collect::<Option<_>>()?,
            doubles: places("D", 32)?,
            quads: places("Q", 16)?,
        })
    }

    /// The instruction, if it is one of ours.
    pub fn lift(&self, address: u64, bytes: &[u8]) -> Option<Instruction> {
        let bytes: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
        // Thumb has its upper half first.
        let word = u32::from_le_bytes(bytes);
        let word = if self.thumb { word.rotate_left(16) } else { word };
        let mut b = Builder::new();
        let text = if let Some(saturation) = self.saturation(word) {
            self.saturate(&mut b, saturation)?
        } else {
            self.bitwise(&mut b, word)?
        };
        Some(b.finish(address, 4, text))
    }

    fn saturation(&self, word: u32) -> Option<Saturation> {
        let field = |low: u32| (word >> low & 15) as usize;
        if self.thumb {
            // 1111 0 0 11 U 0 sh 0 Rn | 0 imm3 Rd imm2 0 sat
            let shift = (word >> 12 & 7) << 2 | word >> 6 & 3;
            let right = word >> 21 & 1 == 1;
            (word & 0xff50_8020 == 0xf300_0000 && !(right && shift == 0)).then(|| Saturation {
                unsigned: word >> 23 & 1 == 1,
                bits: word & 31,
                shift,
                right,
                from: field(16),
                to: field(8),
            })
        } else {
            let right = word >> 6 & 1 == 1;
            let shift = word >> 7 & 31;
            (word & 0xffa0_0030 == 0xe6a0_0010).then(|| Saturation {
                unsigned: word >> 22 & 1 == 1,
                bits: word >> 16 & 31,
                shift: if right && shift == 0 { 32 } else { shift },
                right,
                from: field(0),
                to: field(12),
            })
        }
    }

    /// The sticky saturation flag is not kept.
    fn saturate(&self, b: &mut Builder, s: Saturation) -> Option<String> {
        if s.to == 15 || s.from == 15 {
            return None;
        }
        let op = if s.right { BinOp::Ashr } else { BinOp::Shl };
        let value = b.bin_constant(op, self.general[s.from], u64::from(s.shift));
        let (low, high) = if s.unsigned {
            (0u64, (1u64 << s.bits) - 1)
        } else {
            ((-(1i64 << s.bits)) as u64, (1u64 << s.bits) - 1)
        };
        let (low, high) = (Varnode::constant(low, 4), Varnode::constant(high, 4));
        let (below, above) = (b.rel(RelOp::Slt, value, low), b.rel(RelOp::Sgt, value, high));
        let held = b.select(above, high, value);
        let held = b.select(below, low, held);
        b.copy(self.general[s.to], held);
        let (name, bits) = if s.unsigned { ("usat", s.bits) } else { ("ssat", s.bits + 1) };
        Some(format!("{name} {},#{bits},{}", GENERAL[s.to], GENERAL[s.from]).to_lowercase())
    }

    /// `vbsl`, `vbit` and `vbif`: bits of one vector where another has ones, or zeros.
    fn bitwise(&self, b: &mut Builder, word: u32) -> Option<String> {
        let head = if self.thumb { 0xff00_0110 } else { 0xf300_0110 };
        let kind = word >> 20 & 3;
        if word & 0xff80_0f10 != head || kind == 0 {
            return None;
        }
        let quad = word >> 6 & 1 == 1;
        let register = |low: u32, extra: u32| {
            let number = (word >> extra & 1) << 4 | word >> low & 15;
            if quad { self.quads[number as usize / 2] } else { self.doubles[number as usize] }
        };
        let (d, n, m) = (register(12, 22), register(16, 7), register(0, 5));
        let (mask, ones, zeros, name) = match kind {
            1 => (d, n, m, "vbsl"),
            2 => (m, n, d, "vbit"),
            _ => (m, d, n, "vbif"),
        };
        let rest = b.un(UnOp::Not, mask);
        let (chosen, other) = (b.bin(BinOp::And, ones, mask), b.bin(BinOp::And, zeros, rest));
        let value = b.bin(BinOp::Or, chosen, other);
        b.copy(d, value);
        Some(name.to_owned())
    }
}

/// Repairs the specification's comparison of floats: the carry is set unless the first is less, so also when the two
/// are not comparable.
pub(crate) fn complete(mut instruction: Instruction) -> Instruction {
    if !instruction.text.starts_with("vcmp") {
        return instruction;
    }
    let less = instruction.ops.iter().find_map(|op| match op {
        Op::FloatRel { op: FloatRelOp::Lt, out, .. } => Some(*out),
        _ => None,
    });
    for op in &mut instruction.ops {
        if let (Op::FloatRel { op: FloatRelOp::Le, out, .. }, Some(less)) = (&*op, less) {
            *op = Op::BoolNot { out: *out, a: less };
        }
    }
    instruction
}

struct Saturation {
    unsigned: bool,
    /// The field of the instruction: one less than the width of a signed result.
    bits: u32,
    shift: u32,
    right: bool,
    from: usize,
    to: usize,
}
