//! AArch64: what the specification only names or gets wrong and compilers use. Floats, scalar ([`float`]) and in vectors
//! ([`vector_float`]), under FPCR and with FPSR kept; vectors of integers ([`vector`]); the reversal of bits and bytes in
//! vector registers.

mod float;
mod memory;
mod vector;
mod vector_float;
mod vector_shift;
mod vector_two;

pub(crate) use float::expanded;

use crate::refused::Refused;
use crate::x86::Answer;
use parallax_ir::{Builder, Instruction, Intrinsic, Op, Processor, Varnode};
use parallax_op::BinOp;

/// The override table.
pub(crate) struct Overrides {
    vectors: Vec<Varnode>,
    /// X0 to X30; number 31 is zero.
    general: Vec<Varnode>,
    /// FPCR and FPSR.
    control: Varnode,
    status: Varnode,
    /// N, Z, C, V.
    flags: [Varnode; 4],
    /// The operation that stops.
    unmodelled: Op,
    stack: Varnode,
}

impl Overrides {
    /// The table over the registers of the specification, if it has the ones it should.
    pub fn new(processor: &Processor) -> Option<Self> {
        let places = |prefix: &str, count: u32, bytes: u16| {
            (0..count)
                .map(|n| processor.register(&format!("{prefix}{n}")).map(|r| r.place))
                .map(|place| place.filter(|place| place.bytes == bytes))
                .collect::<Option<Vec<_>>>()
        };
        let place = |name: &str| processor.register(name).map(|register| register.place);
        Some(Overrides {
            control: place("FPCR")?,
            status: place("FPSR")?,
            flags: [place("NG")?, place("ZR")?, place("CY")?, place("OV")?],
            unmodelled: Refused::Instruction.op(processor),
            stack: place("SP")?,
            vectors: places("Q", 32, 16)?,
            general: places("X", 31, 8)?,
        })
    }

    /// The instruction, if it is one of ours.
    pub fn lift(&self, address: u64, bytes: &[u8]) -> Answer {
        let Some(word) = bytes.first_chunk().map(|word| u32::from_le_bytes(*word)) else {
            return Answer::NotOurs;
        };
        if is_senseless(word) {
            return Answer::Invalid("an immediate that stands for no pattern of bits");
        }
        let attempts: [Attempt; 7] = [
            Overrides::memory,
            Overrides::checksum,
            Overrides::float,
            Overrides::vector_float,
            Overrides::reverse_bits,
            Overrides::reverse,
            Overrides::vector,
        ];
        let lifted = attempts.iter().find_map(|attempt| {
            let mut b = Builder::new();
            attempt(self, &mut b, word).map(|text| b.finish(address, 4, text))
        });
        lifted.map_or(Answer::NotOurs, Answer::Lifted)
    }

    /// The rest of a vector register becomes zero.
    fn set(&self, b: &mut Builder, number: usize, value: Varnode) {
        let whole = b.zext(value, 16);
        b.copy(self.vectors[number], whole);
    }

    /// `crc32` and `crc32c`, bit by bit.
    fn checksum(&self, b: &mut Builder, word: u32) -> Option<String> {
        let size = word >> 10 & 3;
        if word & 0x7fe0_e000 != 0x1ac0_4000 || (word >> 31 == 1) != (size == 3) {
            return None;
        }
        let field = |low: u32| (word >> low & 31) as usize;
        let (d, n, m) = (field(0), field(5), field(16));
        let (polynomial, letter) = if word >> 12 & 1 == 1 { (0x82f6_3b78, "c") } else { (0xedb8_8320, "") };
        let data = self.general_register(m, 1 << size);
        let mut sum = b.snapshot(self.general_register(n, 4));
        for part in crate::lanes::split(b, data, data.bytes.min(4)) {
            let part = b.zext(part, 4);
            sum = b.bin(BinOp::Xor, sum, part);
            for _ in 0..8 * data.bytes.min(4) {
                let odd = b.bit(sum, 0);
                let half = b.bin_constant(BinOp::Lshr, sum, 1);
                let with = b.bin_constant(BinOp::Xor, half, polynomial);
                sum = b.select(odd, with, half);
            }
        }
        if d != 31 {
            let wide = b.zext(sum, 8);
            b.copy(self.general[d], wide);
        }
        Some(format!("crc32{letter}{} w{d},w{n},r{m}", ["b", "h", "w", "x"][size as usize]))
    }

    /// The bits of each byte in the other order: neighbours change places, then pairs, then halves.
    fn reverse_bits(&self, b: &mut Builder, word: u32) -> Option<String> {
        if word & 0xbfff_fc00 != 0x2e60_5800 {
            return None;
        }
        let (d, n) = ((word & 31) as usize, (word >> 5 & 31) as usize);
        let mut reversed = |a: Varnode| {
            [(1, 0x55), (2, 0x33), (4, 0x0f)].iter().fold(a, |a, (distance, mask)| {
                let mask = u64::from_le_bytes([*mask; 8]);
                let up = b.bin_constant(BinOp::And, a, mask);
                let up = b.bin_constant(BinOp::Shl, up, *distance);
                let down = b.bin_constant(BinOp::Lshr, a, *distance);
                let down = b.bin_constant(BinOp::And, down, mask);
                b.bin(BinOp::Or, up, down)
            })
        };
        let (low, high) = (reversed(self.vectors[n].slice(0, 8)), reversed(self.vectors[n].slice(8, 8)));
        let value = if word >> 30 & 1 == 1 { b.concat(high, low) } else { low };
        self.set(b, d, value);
        Some(format!("rbit v{d},v{n}"))
    }

    /// `rev64`, `rev32` and `rev16`: the elements of each container in the other order.
    fn reverse(&self, b: &mut Builder, word: u32) -> Option<String> {
        let container = match word & 0xbf3f_fc00 {
            0x0e20_0800 => 8u8,
            0x2e20_0800 => 4,
            0x0e20_1800 => 2,
            _ => return None,
        };
        let element = 1u8 << (word >> 22 & 3);
        if element >= container {
            return None;
        }
        let (d, n) = ((word & 31) as usize, (word >> 5 & 31) as usize);
        let bytes = if word >> 30 & 1 == 1 { 16u16 } else { 8 };
        let group = container / element;
        let picks = std::array::from_fn(|index| {
            let index = index as u8;
            index / group * group + (group - 1 - index % group)
        });
        let a = self.vectors[n].slice(0, bytes);
        let value = b.call(Intrinsic::Pick { lane: element, picks }, bytes, &[a, a]);
        self.set(b, d, value);
        Some(format!("rev{} v{d},v{n}", u32::from(container) * 8))
    }
}

/// Writes the operations of a word and says its text, if it knows the word.
type Attempt = fn(&Overrides, &mut Builder, u32) -> Option<String>;

/// Logical immediates that stand for no pattern of bits.
fn is_senseless(word: u32) -> bool {
    if word & 0x1f80_0000 != 0x1200_0000 {
        return false;
    }
    let (n, s) = (word >> 22 & 1, word >> 10 & 63);
    // The highest bit of the size and the inverted length tells how long the repeated pattern is.
    let size = n << 6 | !s & 63;
    let Some(length) = size.checked_ilog2().filter(|length| *length > 0) else { return true };
    let ones = (1 << length) - 1;
    s & ones == ones || word >> 31 == 0 && n == 1
}

/// The specification's instruction, unless it is one of an extension or of vectors that nobody has checked: those stop.
pub(crate) fn complete(mut instruction: Instruction, bytes: &[u8], processor: &Processor) -> Instruction {
    let Some(word) = bytes.first_chunk().map(|word| u32::from_le_bytes(*word)) else { return instruction };
    let tags = word & 0xbf80_0000 == 0x9180_0000
        || word & 0x5fe0_0000 == 0x1ac0_0000 && matches!(word >> 10 & 63, 0 | 4 | 5);
    let flags = word & 0xffe0_7c10 == 0xba00_0400;
    // Signatures of pointers are made with keys that only the operating system knows.
    let signatures = word & 0xffff_0000 == 0xdac1_0000 || word & 0xffe0_fc00 == 0x9ac0_3000;
    let floats_or_vectors = word >> 25 & 7 == 7;
    let checked = [
        // Moves of lanes, permutations, constants, and one lane as a scalar.
        (0x9fe0_8400, 0x0e00_0400),
        (0xbf20_8c00, 0x0e00_0800),
        (0x9ff8_0400, 0x0f00_0400),
        (0xffe0_fc00, 0x5e00_0400),
    ];
    let is_checked = checked.iter().any(|(mask, bits)| word & mask == *bits);
    if tags || flags || signatures || floats_or_vectors && !is_checked {
        instruction.ops = [Refused::Instruction.op(processor)].into();
    }
    instruction
}
