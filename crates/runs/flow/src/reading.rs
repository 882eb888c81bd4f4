//! The reading that remembers: every value is a number, and of each of its bytes which bytes it was computed from.
//!
//! It is the concrete reading with a set of sources beside each byte. What an operator does to sources follows from what it
//! does to bits: bitwise operators keep bytes apart, sums carry upwards, shifts move bytes, everything else mixes them. Two
//! operands that are copies of the same bytes cancel each other in `xor`, `sub` and comparisons, so that `xor eax, eax` gives a
//! constant.

use parallax_op::{
    BinOp, Bits, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp, Width,
};
use parallax_sem::{ByteOrder, Concrete, Core};
use smallvec::SmallVec;

/// A set of numbered sources, in order.
pub type Sources = SmallVec<[u32; 4]>;

/// Adds the sources of one set to another.
pub fn join(into: &mut Sources, other: &[u32]) {
    for source in other {
        if let Err(at) = into.binary_search(source) {
            into.insert(at, *source);
        }
    }
}

/// Eight bits of a value, or what is left of them at its end: where they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Byte {
    /// What they were computed from.
    pub from: Sources,
    /// The source that they are a plain copy of.
    pub copy: Option<u32>,
}

impl Byte {
    /// A copy of a source.
    pub fn of(source: u32) -> Byte {
        Byte { from: SmallVec::from_slice(&[source]), copy: Some(source) }
    }

    /// Computed from all of these.
    fn mixed<'a>(of: impl IntoIterator<Item = &'a Byte>) -> Byte {
        let mut from = Sources::new();
        of.into_iter().for_each(|byte| join(&mut from, &byte.from));
        Byte { from, copy: None }
    }

    fn is_clean(&self) -> bool {
        self.from.is_empty()
    }
}

/// A bit-vector: its value, and where its bytes come from, lowest first.
#[derive(Clone, Debug)]
pub struct Word {
    /// The value.
    pub bits: Bits,
    /// One for each eight bits.
    pub bytes: SmallVec<[Byte; 8]>,
}

impl Word {
    fn is_clean(&self) -> bool {
        self.bytes.iter().all(Byte::is_clean)
    }

    /// All of its sources.
    pub fn sources(&self) -> Sources {
        Byte::mixed(&self.bytes).from
    }

    /// Whether both are copies of the same bytes.
    fn is_same(&self, other: &Word) -> bool {
        let pairs = || self.bytes.iter().zip(&other.bytes);
        self.bytes.len() == other.bytes.len()
            && pairs().all(|(a, b)| a == b && (a.copy.is_some() || a.is_clean()))
            && !self.is_clean()
    }

    /// The eight bits of a chunk.
    fn chunk(&self, index: usize) -> u8 {
        let low = 8 * index as u16;
        let count = (self.bits.width() - low).min(8);
        self.bits.extract(low, count).to_u64().unwrap_or(0) as u8
    }

    /// Where the bits from `low` on come from.
    fn part(&self, low: Width, count: Width) -> Byte {
        let (first, last) = (usize::from(low / 8), usize::from((low + count - 1) / 8));
        if first == last && low.is_multiple_of(8) && count == 8 {
            return self.bytes[first].clone();
        }
        Byte::mixed(&self.bytes[first..=last.min(self.bytes.len() - 1)])
    }
}

/// A truth value, and what it was computed from.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Whether it holds.
    pub holds: bool,
    /// What it was computed from.
    pub from: Sources,
}

/// The reading. Memory belongs to whoever runs the instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Remembering;

fn chunks(width: Width) -> usize {
    usize::from(width.div_ceil(8))
}

/// A value all of whose bytes come from all of these.
fn mixed(bits: Bits, of: &[&Word]) -> Word {
    let all = Byte::mixed(of.iter().flat_map(|word| &word.bytes));
    let count = chunks(bits.width());
    Word { bits, bytes: SmallVec::from_elem(all, count) }
}

fn clean(bits: Bits) -> Word {
    let count = chunks(bits.width());
    Word { bits, bytes: SmallVec::from_elem(Byte::default(), count) }
}

/// A value whose bytes come from those at their place and below: a carry moves upwards.
fn carried(bits: Bits, of: &[&Word]) -> Word {
    let mut below = Sources::new();
    let bytes = (0..chunks(bits.width())).map(|index| {
        of.iter().for_each(|word| join(&mut below, &word.bytes[index].from));
        Byte { from: below.clone(), copy: None }
    });
    let bytes = bytes.collect();
    Word { bits, bytes }
}

/// A bitwise operator: `unit` is the operand that changes nothing, `fixed` the one that decides alone.
fn bitwise(bits: Bits, a: &Word, b: &Word, unit: u8, fixed: Option<u8>) -> Word {
    let bytes = (0..a.bytes.len()).map(|index| {
        let (left, right) = (&a.bytes[index], &b.bytes[index]);
        let is = |word: &Word, byte: &Byte, value: u8| byte.is_clean() && word.chunk(index) == value;
        if fixed.is_some_and(|value| is(a, left, value) || is(b, right, value)) {
            return Byte::default();
        }
        match (is(a, left, unit), is(b, right, unit)) {
            (_, true) => left.clone(),
            (true, _) => right.clone(),
            _ if left == right && left.copy.is_some() && fixed.is_some() => left.clone(),
            _ => Byte::mixed([left, right]),
        }
    });
    let bytes = bytes.collect();
    Word { bits, bytes }
}

/// Bytes moved by a distance that depends on nothing.
fn moved(bits: Bits, op: BinOp, a: &Word, distance: u64) -> Word {
    let width = i64::from(a.bits.width());
    let distance = distance.min(width as u64) as i64;
    let bytes = (0..chunks(bits.width())).map(|index| {
        let low = 8 * index as i64;
        let high = (low + 8).min(width);
        // The bits of `a` that come to lie here.
        let (from, to) = match op {
            BinOp::Shl => (low - distance, high - distance),
            _ => (low + distance, high + distance),
        };
        let sign = (op == BinOp::Ashr && to > width).then(|| a.part(width as u16 - 1, 1));
        let (from, to) = (from.max(0), to.min(width));
        let own = (from < to).then(|| a.part(from as u16, (to - from) as u16));
        match (own, sign) {
            (Some(own), None) if to - from == high - low => own,
            (own, sign) => Byte::mixed(own.iter().chain(sign.iter())),
        }
    });
    let bytes = bytes.collect();
    Word { bits, bytes }
}

fn truth(holds: bool, of: &[&Word]) -> Truth {
    Truth { holds, from: Byte::mixed(of.iter().flat_map(|word| &word.bytes)).from }
}

impl Core for Remembering {
    type Val = Word;
    type Bool = Truth;
    type Map = ();

    fn constant(&self, value: &Bits) -> Word {
        clean(value.clone())
    }
    fn boolean(&self, holds: bool) -> Truth {
        Truth { holds, from: Sources::new() }
    }
    fn symbol(&self, _: &str, width: Width) -> Word {
        clean(Bits::zero(width))
    }
    fn bool_symbol(&self, _: &str) -> Truth {
        self.boolean(false)
    }
    fn map_symbol(&self, _: &str, _: Width, _: Width) {}
    fn constant_map(&self, _: Width, _: Width, _: &Word) {}

    fn unop(&self, op: UnOp, w: Width, a: &Word) -> Word {
        let bits = Concrete.unop(op, w, &a.bits);
        match op {
            UnOp::Not => {
                let bytes = a.bytes.iter().map(|byte| Byte { copy: None, ..byte.clone() }).collect();
                Word { bits, bytes }
            }
            UnOp::Neg => carried(bits, &[a]),
            _ => mixed(bits, &[a]),
        }
    }

    fn binop(&self, op: BinOp, w: Width, a: &Word, b: &Word) -> Word {
        let bits = Concrete.binop(op, w, &a.bits, &b.bits);
        let is_zero = |word: &Word| word.is_clean() && word.bits.is_zero();
        match op {
            BinOp::Xor | BinOp::Sub if a.is_same(b) => clean(bits),
            BinOp::And => bitwise(bits, a, b, 0xff, Some(0)),
            BinOp::Or => bitwise(bits, a, b, 0, Some(0xff)),
            BinOp::Xor => {
                let mut word = bitwise(bits, a, b, 0, None);
                for (index, byte) in word.bytes.iter_mut().enumerate() {
                    if a.bytes[index] == b.bytes[index] && a.bytes[index].copy.is_some() {
                        *byte = Byte::default();
                    }
                }
                word
            }
            BinOp::Add if is_zero(a) => b.clone(),
            BinOp::Add | BinOp::Sub if is_zero(b) => a.clone(),
            BinOp::Mul if is_zero(a) || is_zero(b) => clean(bits),
            BinOp::Add | BinOp::Sub | BinOp::Mul => carried(bits, &[a, b]),
            BinOp::Shl | BinOp::Lshr | BinOp::Ashr if b.is_clean() => {
                moved(bits, op, a, b.bits.to_u64().unwrap_or(u64::MAX))
            }
            _ => mixed(bits, &[a, b]),
        }
    }

    fn relop(&self, op: RelOp, w: Width, a: &Word, b: &Word) -> Truth {
        let holds = Concrete.relop(op, w, &a.bits, &b.bits);
        if a.is_same(b) { self.boolean(holds) } else { truth(holds, &[a, b]) }
    }

    fn boolop(&self, op: BoolOp, a: &Truth, b: &Truth) -> Truth {
        let holds = op.apply(a.holds, b.holds);
        let mut from = a.from.clone();
        join(&mut from, &b.from);
        Truth { holds, from }
    }

    fn not(&self, a: &Truth) -> Truth {
        Truth { holds: !a.holds, from: a.from.clone() }
    }

    /// Inside an operation a choice is how it computes: what decides counts.
    fn cond(&self, _: Width, b: &Truth, t: &Word, e: &Word) -> Word {
        let chosen = if b.holds { t } else { e };
        let mut word = chosen.clone();
        if !b.from.is_empty() {
            for byte in &mut word.bytes {
                join(&mut byte.from, &b.from);
                byte.copy = None;
            }
        }
        word
    }

    fn cond_bool(&self, b: &Truth, t: &Truth, e: &Truth) -> Truth {
        let mut chosen = if b.holds { t } else { e }.clone();
        join(&mut chosen.from, &b.from);
        chosen
    }

    fn cond_map(&self, _: &Truth, (): &(), (): &()) {}

    fn extract(&self, from: Width, low: Width, to: Width, a: &Word) -> Word {
        let bits = Concrete.extract(from, low, to, &a.bits);
        let bytes = (0..chunks(to)).map(|index| {
            let start = low + 8 * index as u16;
            a.part(start, (low + to - start).min(8))
        });
        let bytes = bytes.collect();
        Word { bits, bytes }
    }

    fn concat(&self, wh: Width, wl: Width, high: &Word, low: &Word) -> Word {
        let bits = Concrete.concat(wh, wl, &high.bits, &low.bits);
        let bytes = (0..chunks(wh + wl)).map(|index| {
            let start = 8 * index as u16;
            let end = (start + 8).min(wh + wl);
            let below = (start < wl).then(|| low.part(start, end.min(wl) - start));
            let above = (end > wl).then(|| high.part(start.max(wl) - wl, end - start.max(wl)));
            match (below, above) {
                (Some(one), None) | (None, Some(one)) => one,
                (below, above) => Byte::mixed(below.iter().chain(above.iter())),
            }
        });
        let bytes = bytes.collect();
        Word { bits, bytes }
    }

    fn zext(&self, from: Width, to: Width, a: &Word) -> Word {
        let mut bytes = a.bytes.clone();
        bytes.resize(chunks(to), Byte::default());
        Word { bits: Concrete.zext(from, to, &a.bits), bytes }
    }

    fn sext(&self, from: Width, to: Width, a: &Word) -> Word {
        let sign = Byte::mixed(a.bytes.last());
        let mut bytes = a.bytes.clone();
        bytes.resize(chunks(to), sign);
        Word { bits: Concrete.sext(from, to, &a.bits), bytes }
    }

    fn float_un(&self, op: FloatUnOp, f: FloatFormat, r: Rounding, a: &Word) -> Word {
        mixed(Concrete.float_un(op, f, r, &a.bits), &[a])
    }
    fn float_bin(&self, op: FloatBinOp, f: FloatFormat, r: Rounding, a: &Word, b: &Word) -> Word {
        mixed(Concrete.float_bin(op, f, r, &a.bits, &b.bits), &[a, b])
    }
    fn float_fma(&self, f: FloatFormat, r: Rounding, a: &Word, b: &Word, c: &Word) -> Word {
        mixed(Concrete.float_fma(f, r, &a.bits, &b.bits, &c.bits), &[a, b, c])
    }
    fn float_rel(&self, op: FloatRelOp, f: FloatFormat, a: &Word, b: &Word) -> Truth {
        truth(Concrete.float_rel(op, f, &a.bits, &b.bits), &[a, b])
    }
    fn float_to_float(&self, from: FloatFormat, to: FloatFormat, r: Rounding, a: &Word) -> Word {
        mixed(Concrete.float_to_float(from, to, r, &a.bits), &[a])
    }
    fn int_to_float(&self, signed: bool, w: Width, to: FloatFormat, r: Rounding, a: &Word) -> Word {
        mixed(Concrete.int_to_float(signed, w, to, r, &a.bits), &[a])
    }
    fn float_to_int(&self, signed: bool, from: FloatFormat, w: Width, r: Rounding, a: &Word) -> Word {
        mixed(Concrete.float_to_int(signed, from, w, r, &a.bits), &[a])
    }

    fn access(&self, (): &(), _: &Word) -> Word {
        unreachable!("memory belongs to whoever runs the instruction")
    }
    fn update(&self, (): (), _: &Word, _: Word) {
        unreachable!("memory belongs to whoever runs the instruction")
    }
    fn load(&self, (): &(), _: Width, _: &Word, _: u16, _: ByteOrder) -> Word {
        unreachable!("memory belongs to whoever runs the instruction")
    }
    fn store(&self, (): (), _: Width, _: &Word, _: u16, _: ByteOrder, _: &Word) {
        unreachable!("memory belongs to whoever runs the instruction")
    }

    fn targets(&self, _: Width, value: &Word) -> Option<Vec<(Truth, Bits)>> {
        Some(vec![(self.boolean(true), value.bits.clone())])
    }

    fn decided(&self, b: &Truth) -> Option<bool> {
        Some(b.holds)
    }

    fn bool_to_val(&self, w: Width, b: &Truth) -> Word {
        let mut word = clean(if b.holds { Bits::one(w) } else { Bits::zero(w) });
        word.bytes[0].from.clone_from(&b.from);
        word
    }
}
