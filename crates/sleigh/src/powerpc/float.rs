//! PowerPC floats: fused operations, which the specification rounds twice, and conversions between floats and integers,
//! whose ends of range it leaves to chance.
//!
//! Rounding is to nearest unless the instruction says toward zero. The status register is not kept; the record forms are
//! left to the specification, which says so.

use parallax_ir::{Builder, Intrinsic, Op, Processor, Varnode};
use parallax_op::{RelOp, Rounding};

/// The float registers.
pub(super) struct Floats {
    registers: Vec<Varnode>,
}

impl Floats {
    pub fn new(processor: &Processor) -> Option<Self> {
        let place = |n: u32| processor.register(&format!("F{n}")).map(|register| register.place);
        Some(Floats { registers: (0..32).map(place).collect::<Option<_>>()? })
    }

    /// The operations of an instruction with primary opcode 59 or 63, if it is one of ours.
    pub fn lift(&self, b: &mut Builder, word: u32) -> Option<String> {
        if word & 1 == 1 {
            return None;
        }
        let field = |low: u32| (word >> low & 31) as usize;
        let (t, first, second, third) = (field(21), field(16), field(11), field(6));
        let single = word >> 26 == 59;
        let suffix = if single { "s" } else { "" };
        if let code @ 28..=31 = word >> 1 & 31 {
            let name = ["fmsub", "fmadd", "fnmsub", "fnmadd"][code as usize - 28];
            self.fused(b, word, single, name);
            return Some(format!("{name}{suffix} f{t},f{first},f{third},f{second}"));
        }
        let (out, a) = (self.registers[t], self.registers[second]);
        let name = match (word >> 1 & 0x3ff, single) {
            (14, false) => {
                to_integer(b, out, a, 4, false, Rounding::NearestEven);
                "fctiw"
            }
            (15, false) => {
                to_integer(b, out, a, 4, false, Rounding::Zero);
                "fctiwz"
            }
            (143, false) => {
                to_integer(b, out, a, 4, true, Rounding::Zero);
                "fctiwuz"
            }
            (814, false) => {
                to_integer(b, out, a, 8, false, Rounding::NearestEven);
                "fctid"
            }
            (815, false) => {
                to_integer(b, out, a, 8, false, Rounding::Zero);
                "fctidz"
            }
            (943, false) => {
                to_integer(b, out, a, 8, true, Rounding::Zero);
                "fctiduz"
            }
            (846, _) => {
                from_integer(b, out, a, single);
                "fcfid"
            }
            (974, _) => {
                let wide = b.zext(a, 16);
                from_integer(b, out, wide, single);
                "fcfidu"
            }
            _ => return None,
        };
        Some(format!("{name}{} f{t},f{second}", if single { "s" } else { "" }))
    }

    /// `±(a * c ± b)`, rounded once. A single result of double operands is computed in 113 bits, where the product is
    /// exact, rounded to odd there, and then to a single.
    fn fused(&self, b: &mut Builder, word: u32, single: bool, name: &str) {
        let field = |low: u32| self.registers[(word >> low & 31) as usize];
        let (out, first, added, factor) = (field(21), field(16), field(11), field(6));
        let negated = |b: &mut Builder, a: Varnode| {
            let out = b.temporary(a.bytes);
            b.push(Op::FloatNeg { out, a });
            out
        };
        let added = if name.contains("msub") { negated(b, added) } else { added };
        let result = if single {
            let [x, y, z] = [first, factor, added].map(|a| converted(b, a, 16));
            let wide = b.call(Intrinsic::FusedMultiplyAddOdd, 16, &[x, y, z]);
            let narrow = converted(b, wide, 4);
            converted(b, narrow, 8)
        } else {
            b.call(Intrinsic::FusedMultiplyAdd, 8, &[first, factor, added])
        };
        if name.starts_with("fn") {
            // What is not a number keeps its sign.
            let is_nan = b.temporary(1);
            b.push(Op::FloatIsNan { out: is_nan, a: result });
            let opposite = negated(b, result);
            b.push(Op::Select { out, when: is_nan, then: result, otherwise: opposite });
        } else {
            b.copy(out, result);
        }
    }
}

/// Held at the ends of the range; what is not a number becomes the lowest. The upper half of a word is undefined.
fn to_integer(b: &mut Builder, out: Varnode, a: Varnode, bytes: u16, unsigned: bool, rounding: Rounding) {
    let ones = if bytes == 8 { u64::MAX } else { 0xffff_ffff };
    let lowest = Varnode::constant(if unsigned { 0 } else { ones / 2 + 1 }, bytes);
    let wide = b.temporary(if unsigned { 2 * bytes } else { bytes });
    b.push(Op::FloatToInt { rounding, out: wide, a });
    let value = if unsigned {
        let largest = Varnode::constant(ones, bytes);
        let limit = b.zext(largest, wide.bytes);
        let (negative, large) = (b.rel_constant(RelOp::Slt, wide, 0), b.rel(RelOp::Sgt, wide, limit));
        let low = b.extract(wide, 0, bytes);
        let held = b.select(large, largest, low);
        b.select(negative, Varnode::constant(0, bytes), held)
    } else {
        wide
    };
    let is_nan = b.temporary(1);
    b.push(Op::FloatIsNan { out: is_nan, a });
    let value = b.select(is_nan, lowest, value);
    let value = if unsigned { b.zext(value, 8) } else { b.sext(value, 8) };
    b.copy(out, value);
}

fn converted(b: &mut Builder, a: Varnode, bytes: u16) -> Varnode {
    let out = b.temporary(bytes);
    b.push(Op::FloatToFloat { out, a });
    out
}

/// A signed integer as a double, or rounded to a single.
fn from_integer(b: &mut Builder, out: Varnode, a: Varnode, single: bool) {
    let result = b.temporary(if single { 4 } else { 8 });
    b.push(Op::FloatFromInt { out: result, a });
    let result = if single { converted(b, result, 8) } else { result };
    b.copy(out, result);
}
