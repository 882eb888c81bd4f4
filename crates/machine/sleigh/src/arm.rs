//! ARM, 32-bit: what the specification gets wrong or only names. Floats ([`vfp`]) under FPSCR; saturation, which has no
//! meaning there; and vectors ([`neon`]).

mod neon;
mod neon_memory;
mod neon_one;
mod vfp;

use crate::condition;
use crate::refused::Refused;
use parallax_ir::{Builder, Instruction, Op, Processor, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp};

/// The override table.
pub(crate) struct Overrides {
    pub thumb: bool,
    general: Vec<Varnode>,
    doubles: Vec<Varnode>,
    quads: Vec<Varnode>,
    /// FPSCR.
    status: Varnode,
    /// N, Z, C, V.
    flags: [Varnode; 4],
    /// The sticky flag of saturation.
    sticky: Varnode,
    /// The operation that stops.
    unmodelled: Op,
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
            status: place("FPSCR")?,
            flags: [place("NG")?, place("ZR")?, place("CY")?, place("OV")?],
            sticky: place("Q")?,
            unmodelled: Refused::Instruction.op(processor),
        })
    }

    /// The instruction, if it is one of ours. The condition of a Thumb instruction comes from the block it stands in.
    pub fn lift(&self, address: u64, bytes: &[u8], condition: u32) -> Option<Instruction> {
        let bytes: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
        // Thumb has its upper half first.
        let word = u32::from_le_bytes(bytes);
        let word = if self.thumb { word.rotate_left(16) } else { word };
        // Of the other encoding the condition stands in the word, unless there is none.
        let condition = if self.thumb || word >> 28 == 15 { condition } else { word >> 28 };
        let word = if self.thumb || word >> 28 == 15 { word } else { word & 0x0fff_ffff | 14 << 28 };
        let attempts: [Attempt; 4] =
            [Overrides::saturated, Overrides::dual_sum, Overrides::vfp_or_none, Overrides::vectors];
        attempts.iter().find_map(|attempt| {
            let mut b = Builder::new();
            let end = b.label();
            if condition != ALWAYS {
                let fails = condition::holds(&mut b, self.flags, condition ^ 1);
                b.branch(Some(fails), end);
            }
            let text = attempt(self, &mut b, word)?;
            b.place(end);
            Some(b.finish(address, 4, with_condition(&text, condition)))
        })
    }

    fn saturated(&self, b: &mut Builder, word: u32) -> Option<String> {
        let saturation = self.saturation(word)?;
        self.saturate(b, saturation)
    }

    /// `smlad` and `smladx`: Q says that the whole sum does not fit, where the specification looks at each addition.
    fn dual_sum(&self, b: &mut Builder, word: u32) -> Option<String> {
        let field = |low: u32| (word >> low & 15) as usize;
        let (to, added, first, second, crossed) = if self.thumb {
            // 1111 1011 0010 Rn | Ra Rd 000 X Rm
            (word & 0xfff0_00e0 == 0xfb20_0000)
                .then(|| (field(8), field(12), field(16), field(0), word >> 4))?
        } else {
            // 0111 0000 Rd Ra | Rm 00 X 1 Rn
            (word & 0xfff0_00d0 == 0xe700_0010)
                .then(|| (field(16), field(12), field(0), field(8), word >> 5))?
        };
        if [to, added, first, second].contains(&15) {
            return None;
        }
        let crossed = crossed & 1 == 1;
        let mut total = b.sext(self.general[added], 8);
        for high in [false, true] {
            let [a, c] = [(first, high), (second, high != crossed)].map(|(register, high)| {
                let half = b.extract(self.general[register], if high { 16 } else { 0 }, 2);
                b.sext(half, 8)
            });
            let product = b.bin(BinOp::Mul, a, c);
            total = b.bin(BinOp::Add, total, product);
        }
        let low = b.extract(total, 0, 4);
        let again = b.sext(low, 8);
        let fits = b.rel(RelOp::Eq, total, again);
        let overflows = b.not(fits);
        b.push(Op::Bool { op: BoolOp::Or, out: self.sticky, a: self.sticky, b: overflows });
        b.copy(self.general[to], low);
        let name = if crossed { "smladx" } else { "smlad" };
        let [to, added, first, second] = [to, added, first, second].map(|register| GENERAL[register]);
        Some(format!("{name} {to},{first},{second},{added}").to_lowercase())
    }

    /// Words of VFP are the same in both encodings.
    fn vfp_or_none(&self, b: &mut Builder, word: u32) -> Option<String> {
        if word >> 28 == 14 { self.vfp(b, word) } else { None }
    }

    fn vectors(&self, b: &mut Builder, word: u32) -> Option<String> {
        let word = vector_word(word, self.thumb)?;
        if word >> 24 == 0xf4 { self.neon_memory(b, word) } else { self.neon(b, word) }
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
        let outside = b.bool(BoolOp::Or, below, above);
        b.push(Op::Bool { op: BoolOp::Or, out: self.sticky, a: self.sticky, b: outside });
        b.copy(self.general[s.to], held);
        let (name, bits) = if s.unsigned { ("usat", s.bits) } else { ("ssat", s.bits + 1) };
        Some(format!("{name} {},#{bits},{}", GENERAL[s.to], GENERAL[s.from]).to_lowercase())
    }
}

/// A word of NEON as the 32-bit encoding has it.
fn vector_word(word: u32, thumb: bool) -> Option<u32> {
    match (thumb, word >> 24) {
        (false, 0xf2..=0xf4) => Some(word),
        (true, 0xef | 0xff) => Some(word & 0x00ff_ffff | 0xf200_0000 | (word >> 28 & 1) << 24),
        (true, 0xf9) if word >> 20 & 1 == 0 => Some(word & 0x00ff_ffff | 0xf400_0000),
        _ => None,
    }
}

/// Writes the operations of a word and says its text, if it knows the word.
type Attempt = fn(&Overrides, &mut Builder, u32) -> Option<String>;

/// The condition of what is always executed.
pub(crate) const ALWAYS: u32 = 14;

/// The name of an instruction, before what stands behind its first dot or blank.
fn name(text: &str) -> &str {
    text.split(['.', ' ']).next().unwrap_or_default()
}

fn with_condition(text: &str, condition: u32) -> String {
    let (name, rest) = text.split_at(name(text).len());
    format!("{name}{}{rest}", condition::NAMES[..14].get(condition as usize).unwrap_or(&""))
}

/// The conditions of the instructions in the block that an `it` begins.
pub(crate) fn block(text: &str) -> Option<Vec<u32>> {
    let (letters, condition) = text.strip_prefix("it")?.split_once(' ')?;
    let condition = condition::NAMES.iter().position(|known| *known == condition.trim())? as u32;
    let others = letters.chars().map(|letter| if letter == 'e' { condition ^ 1 } else { condition });
    Some([condition].into_iter().chain(others).collect())
}

/// The specification's instruction, where it may be used: it forgets the carry of one instruction's shift, and has the
/// old way of saving float registers wrong; most of NEON has no meaning there, or another.
pub(crate) fn complete(mut instruction: Instruction, bytes: &[u8], processor: &Processor) -> Instruction {
    let text = instruction.text.as_str();
    let thumb = processor.name == "thumb";
    let word = bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    let word = if thumb { word.rotate_left(16) } else { word };
    // Vectors that are not ours, and what newer processors have beside VFP: nobody has checked those.
    let unchecked = vector_word(word, thumb).is_some()
        || word >> 24 == 0xfe && instruction.length == 4
        || word & 0x0fb0_0e50 == 0x0eb0_0a40 && matches!(word >> 16 & 15, 6 | 7) && text.starts_with("vrint");
    if unchecked || text.starts_with("fldm") || text.starts_with("fstm") {
        instruction.ops = [Refused::Instruction.op(processor)].into();
        return instruction;
    }
    let place = |name: &str| processor.register(name).map(|register| register.place);
    let straight = !instruction.ops.iter().any(|op| matches!(op, Op::Branch { .. } | Op::Jump { .. }));
    if text.starts_with("ands.w")
        && straight
        && let (Some(carry), Some(shifted_out)) = (place("CY"), place("SHIFT_CARRY"))
        && instruction.ops.iter().any(|op| op.out() == Some(shifted_out))
    {
        let mut ops = instruction.ops.into_vec();
        ops.push(Op::Copy { out: carry, a: shifted_out });
        instruction.ops = ops.into();
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
