//! AArch64: what the specification only names or gets wrong and compilers use. Fused operations, which it rounds twice;
//! conversions between floats and integers; the reversal of bits and bytes in vector registers; and vectors of integers
//! ([`vector`]).
//!
//! Rounding is to nearest unless the instruction says otherwise; setting another mode stops by name. The status register is
//! not kept.

mod vector;

use parallax_ir::{Builder, Instruction, Intrinsic, Op, Processor, Varnode};
use parallax_op::{BinOp, RelOp, Rounding};

/// The override table.
pub(crate) struct Overrides {
    singles: Vec<Varnode>,
    doubles: Vec<Varnode>,
    vectors: Vec<Varnode>,
    /// X0 to X30; number 31 is zero.
    general: Vec<Varnode>,
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
        Some(Overrides {
            singles: places("S", 32, 4)?,
            doubles: places("D", 32, 8)?,
            vectors: places("Q", 32, 16)?,
            general: places("X", 31, 8)?,
        })
    }

    /// The instruction, if it is one of ours.
    pub fn lift(&self, address: u64, bytes: &[u8]) -> Option<Instruction> {
        let word = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
        let mut b = Builder::new();
        let text = if word >> 24 == 0x1f {
            self.fused(&mut b, word)?
        } else if word & 0x7f20_fc00 == 0x1e20_0000 {
            self.convert_general(&mut b, word)?
        } else if word & 0xdfbf_fc00 == 0x5e21_d800 || word & 0xdfbf_fc00 == 0x5ea1_b800 {
            self.convert_scalar(&mut b, word)
        } else if word & 0xbfff_fc00 == 0x2e60_5800 {
            self.reverse_bits(&mut b, word)
        } else if let Some(text) = self.reverse(&mut b, word) {
            text
        } else {
            // An attempt that came to nothing may have left operations.
            b = Builder::new();
            self.vector(&mut b, word)?
        };
        Some(b.finish(address, 4, text))
    }

    fn floats(&self, word: u32) -> Option<(&[Varnode], char)> {
        match word >> 22 & 3 {
            0 => Some((&self.singles, 's')),
            1 => Some((&self.doubles, 'd')),
            _ => None,
        }
    }

    /// The rest of a vector register becomes zero.
    fn set(&self, b: &mut Builder, number: usize, value: Varnode) {
        let whole = b.zext(value, 16);
        b.copy(self.vectors[number], whole);
    }

    fn fused(&self, b: &mut Builder, word: u32) -> Option<String> {
        let (registers, letter) = self.floats(word)?;
        let field = |low: u32| (word >> low & 31) as usize;
        let (d, n, a, m) = (field(0), field(5), field(10), field(16));
        let mut negated = |a: Varnode, wanted: bool| {
            if !wanted {
                return a;
            }
            let out = b.temporary(a.bytes);
            b.push(Op::FloatNeg { out, a });
            out
        };
        // Bit 15 subtracts the product, bit 21 negates the whole.
        let (subtract, negate) = (word >> 15 & 1 == 1, word >> 21 & 1 == 1);
        let first = negated(registers[n], subtract != negate);
        let added = negated(registers[a], negate);
        let result = b.call(Intrinsic::FusedMultiplyAdd, added.bytes, &[first, registers[m], added]);
        self.set(b, d, result);
        let name = match (negate, subtract) {
            (false, false) => "fmadd",
            (false, true) => "fmsub",
            (true, false) => "fnmadd",
            (true, true) => "fnmsub",
        };
        Some(format!("{name} {letter}{d},{letter}{n},{letter}{m},{letter}{a}"))
    }

    /// Between float and general registers.
    fn convert_general(&self, b: &mut Builder, word: u32) -> Option<String> {
        let (registers, letter) = self.floats(word)?;
        let (d, n) = ((word & 31) as usize, (word >> 5 & 31) as usize);
        let (bytes, wide) = if word >> 31 == 1 { (8, 'x') } else { (4, 'w') };
        let unsigned = word >> 16 & 1 == 1;
        let sign = if unsigned { 'u' } else { 's' };
        let rounding = match (word >> 19 & 3, word >> 17 & 3) {
            (0, 1) => {
                let a = match n {
                    31 => Varnode::constant(0, bytes),
                    _ => self.general[n].slice(0, bytes),
                };
                let value = from_integer(b, a, unsigned, registers[d].bytes);
                self.set(b, d, value);
                return Some(format!("{sign}cvtf {letter}{d},{wide}{n}"));
            }
            (0, 0) => Rounding::NearestEven,
            (0, 2) => Rounding::NearestAway,
            (1, 0) => Rounding::Up,
            (2, 0) => Rounding::Down,
            (3, 0) => Rounding::Zero,
            _ => return None,
        };
        let value = to_integer(b, registers[n], unsigned, bytes, rounding);
        if d != 31 {
            let value = b.zext(value, 8);
            b.copy(self.general[d], value);
        }
        let way = match rounding {
            Rounding::NearestEven => 'n',
            Rounding::NearestAway => 'a',
            Rounding::Up => 'p',
            Rounding::Down => 'm',
            Rounding::Zero => 'z',
        };
        Some(format!("fcvt{way}{sign} {wide}{d},{letter}{n}"))
    }

    /// Inside the float registers.
    fn convert_scalar(&self, b: &mut Builder, word: u32) -> String {
        let (d, n) = ((word & 31) as usize, (word >> 5 & 31) as usize);
        let unsigned = word >> 29 & 1 == 1;
        let sign = if unsigned { 'u' } else { 's' };
        let (registers, letter) =
            if word >> 22 & 1 == 1 { (&self.doubles, 'd') } else { (&self.singles, 's') };
        let a = registers[n];
        let (value, name) = if word >> 23 & 1 == 0 {
            (from_integer(b, a, unsigned, a.bytes), format!("{sign}cvtf"))
        } else {
            (to_integer(b, a, unsigned, a.bytes, Rounding::Zero), format!("fcvtz{sign}"))
        };
        self.set(b, d, value);
        format!("{name} {letter}{d},{letter}{n}")
    }

    /// The bits of each byte in the other order: neighbours change places, then pairs, then halves.
    fn reverse_bits(&self, b: &mut Builder, word: u32) -> String {
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
        format!("rbit v{d},v{n}")
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

fn from_integer(b: &mut Builder, a: Varnode, unsigned: bool, bytes: u16) -> Varnode {
    let a = if unsigned { b.zext(a, 2 * a.bytes) } else { a };
    let out = b.temporary(bytes);
    b.push(Op::FloatFromInt { out, a });
    out
}

/// Held at the ends of the range; what is not a number becomes zero.
fn to_integer(b: &mut Builder, a: Varnode, unsigned: bool, bytes: u16, rounding: Rounding) -> Varnode {
    let out = b.temporary(if unsigned { 2 * bytes } else { bytes });
    b.push(Op::FloatToInt { rounding, out, a });
    if !unsigned {
        return out;
    }
    let largest = Varnode::constant(u64::MAX, bytes);
    let limit = b.zext(largest, out.bytes);
    let (negative, large) = (b.rel_constant(RelOp::Slt, out, 0), b.rel(RelOp::Sgt, out, limit));
    let low = b.extract(out, 0, bytes);
    let held = b.select(large, largest, low);
    b.select(negative, Varnode::constant(0, bytes), held)
}
