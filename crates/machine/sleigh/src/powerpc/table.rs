//! PowerPC: what the specification gets wrong, as found by comparing it with QEMU.
//!
//! It keeps the XER register apart from its bits SO, OV and CA, so moving to and from it misses them; division without
//! the overflow bit changes OV all the same; the masks of 64-bit rotations are beyond the library; a conditional store
//! that fails does not say so; and the clearing of a cache line and string instructions have no or half a meaning.

use crate::powerpc::float::Floats;
use parallax_ir::{Builder, Instruction, Op, Processor, Trap, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp};
use parallax_sem::ByteOrder;

/// What `dcbz` clears on the 32-bit processors that QEMU and Linux know best.
const CACHE_LINE: u64 = 32;

/// The override table.
pub struct Overrides {
    order: ByteOrder,
    pub(super) general: Vec<Varnode>,
    pub(super) floats: Floats,
    pub(super) link: Varnode,
    pub(super) counter: Varnode,
    /// Whether there is a reservation.
    reserve: Varnode,
    /// SO, OV and CA, with their bits in XER.
    flags: [(Varnode, u64); 3],
    /// The byte count of string instructions, the low seven bits of XER.
    pub(super) count: Option<Varnode>,
}

impl Overrides {
    /// The table over the registers of the specification, if it has the ones it should.
    pub fn new(processor: &Processor) -> Option<Self> {
        let place = |name: &str| processor.register(name).map(|register| register.place);
        Some(Overrides {
            order: processor.order,
            floats: Floats::new(processor)?,
            general: (0..32).map(|index| place(&format!("R{index}"))).collect::<Option<_>>()?,
            link: place("LR")?,
            counter: place("CTR")?,
            reserve: place("RESERVE")?,
            flags: [(place("XER_SO")?, 31), (place("XER_OV")?, 30), (place("XER_CA")?, 29)],
            count: place("XER_COUNT").filter(|place| place.bytes == 1),
        })
    }

    /// The instruction, if it is one of ours.
    pub fn lift(&self, address: u64, bytes: &[u8]) -> Option<Instruction> {
        let bytes: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
        let word = match self.order {
            ByteOrder::Big => u32::from_be_bytes(bytes),
            ByteOrder::Little => u32::from_le_bytes(bytes),
        };
        let field = |low: u32| (word >> low & 31) as usize;
        let mut b = Builder::new();
        let wide = self.general[0].bytes == 8;
        if let Some(text) = self.single(&mut b, word).or_else(|| self.branch(&mut b, address, word)) {
            return Some(b.finish(address, 4, text));
        }
        match word >> 26 {
            30 if wide => {
                let text = self.rotate(&mut b, word)?;
                return Some(b.finish(address, 4, text));
            }
            59 | 63 => {
                let text = self.floats.lift(&mut b, word)?;
                return Some(b.finish(address, 4, text));
            }
            31 if wide && matches!(word >> 1 & 0x3ff, 532 | 660) => {
                let text = self.reversed(&mut b, word);
                return Some(b.finish(address, 4, text));
            }
            3 if !wide => {
                let (to, a, half) = (field(21), field(16), word as u16 as i16);
                self.trap(&mut b, to, self.general[a], Varnode::constant(i64::from(half) as u64, 4));
                return Some(b.finish(address, 4, format!("twi {to},r{a},{half}")));
            }
            31 if !wide => {}
            _ => return None,
        }
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
            (150, _) if word & 1 == 1 => {
                self.store_conditional(&mut b, field(21), field(16), field(11));
                format!("stwcx. r{},r{},r{}", field(21), field(16), field(11))
            }
            (code, _) if code & 31 == 15 && word & 1 == 0 => {
                let bit = field(6);
                let set = b.bit(self.floats.status.fields[bit / 4], 3 - (bit % 4) as u16);
                let value = b.select(set, self.base(field(16)), self.general[field(11)]);
                b.copy(self.general[field(21)], value);
                format!("isel r{},r{},r{},{bit}", field(21), field(16), field(11))
            }
            (4, _) => {
                self.trap(&mut b, field(21), self.general[field(16)], self.general[field(11)]);
                format!("tw {},r{},r{}", field(21), field(16), field(11))
            }
            (code @ (533 | 661), _) if word & 1 == 0 => {
                self.counted_string(&mut b, code == 533, field(21), field(16), field(11))?
            }
            (code @ (597 | 725), _) if word & 1 == 0 => {
                self.string(&mut b, code == 597, field(21), field(16), field(11))
            }
            (1014, _) => {
                let at = b.bin(BinOp::Add, self.base(field(16)), self.general[field(11)]);
                let line = b.bin_constant(BinOp::And, at, !(CACHE_LINE - 1));
                for offset in (0..CACHE_LINE).step_by(8) {
                    let at = b.bin_constant(BinOp::Add, line, offset);
                    b.store(at, Varnode::constant(0, 8));
                }
                format!("dcbz r{},r{}", field(16), field(11))
            }
            _ => return None,
        };
        Some(b.finish(address, 4, text))
    }

    /// Stores if there is a reservation, and says in condition field 0 whether it did.
    fn store_conditional(&self, b: &mut Builder, source: usize, base: usize, index: usize) {
        let at = b.bin(BinOp::Add, self.base(base), self.general[index]);
        let (summary, condition) = (self.flags[0].0, self.floats.status.fields[0]);
        let none = b.rel_constant(RelOp::Eq, self.reserve, 0);
        b.copy(condition, summary);
        let end = b.label();
        b.branch(Some(none), end);
        b.store(at, self.general[source]);
        let done = b.bin_constant(BinOp::Or, summary, 2);
        b.copy(condition, done);
        b.place(end);
    }

    /// A trap if one of the relations holds that the bits of `to` name.
    fn trap(&self, b: &mut Builder, to: usize, x: Varnode, y: Varnode) {
        let relations = [(16, RelOp::Slt), (8, RelOp::Sgt), (4, RelOp::Eq), (2, RelOp::Ult), (1, RelOp::Ugt)];
        if to == 31 {
            b.trap(None, Trap::Breakpoint);
            return;
        }
        let mut holds = Varnode::constant(0, 1);
        for (bit, relation) in relations {
            if to & bit != 0 {
                let this = b.rel(relation, x, y);
                holds = b.bool(BoolOp::Or, holds, this);
            }
        }
        b.trap(Some(holds), Trap::Breakpoint);
    }

    /// A doubleword loaded or stored with its bytes in the other order.
    fn reversed(&self, b: &mut Builder, word: u32) -> String {
        let field = |low: u32| (word >> low & 31) as usize;
        let (t, base, index) = (field(21), field(16), field(11));
        let address = match base {
            0 => self.general[index],
            _ => b.bin(BinOp::Add, self.general[base], self.general[index]),
        };
        let loads = word >> 1 & 0x3ff == 532;
        let value = if loads { b.load(address, 8) } else { self.general[t] };
        let swapped = (1..8).fold(b.extract(value, 0, 1), |so_far, byte| {
            let next = b.extract(value, 8 * byte, 1);
            b.concat(so_far, next)
        });
        if loads {
            b.copy(self.general[t], swapped);
        } else {
            b.store(address, swapped);
        }
        format!("{} r{t},r{base},r{index}", if loads { "ldbrx" } else { "stdbrx" })
    }

    /// Rotations of doublewords under a mask.
    fn rotate(&self, b: &mut Builder, word: u32) -> Option<String> {
        let field = |low: u32| word >> low & 31;
        let (source, out) = (self.general[field(21) as usize], self.general[field(16) as usize]);
        let edge = word >> 6 & 31 | (word >> 5 & 1) << 5;
        let by_register = word >> 1 & 15;
        let immediate = field(11) | (word >> 1 & 1) << 5;
        let (name, distance, first, last) = match (word >> 2 & 7, by_register) {
            (0, _) => ("rldicl", None, edge, 63),
            (1, _) => ("rldicr", None, 0, edge),
            (2, _) => ("rldic", None, edge, 63 - immediate),
            (3, _) => ("rldimi", None, edge, 63 - immediate),
            (4, 8) => ("rldcl", Some(self.general[field(11) as usize]), edge, 63),
            (4, 9) => ("rldcr", Some(self.general[field(11) as usize]), 0, edge),
            _ => return None,
        };
        let distance = match distance {
            Some(register) => b.bin_constant(BinOp::And, register, 63),
            None => Varnode::constant(immediate.into(), 8),
        };
        let back = b.bin(BinOp::Sub, Varnode::constant(64, 8), distance);
        // A shift by the whole width gives nothing, which is what a rotation by zero wants.
        let (left, right) = (b.bin(BinOp::Shl, source, distance), b.bin(BinOp::Lshr, source, back));
        let rotated = b.bin(BinOp::Or, left, right);
        // Bits are counted from the highest; a mask whose first is behind its last goes around.
        let (from, to) = (u64::MAX >> first, u64::MAX << (63 - last));
        let mask = if first <= last { from & to } else { from | to };
        let mut result = b.bin_constant(BinOp::And, rotated, mask);
        if name == "rldimi" {
            let kept = b.bin_constant(BinOp::And, out, !mask);
            result = b.bin(BinOp::Or, result, kept);
        }
        b.copy(out, result);
        let dot = if word & 1 == 1 {
            self.record(b, out);
            "."
        } else {
            ""
        };
        Some(format!("{name}{dot} r{},r{},{immediate},{edge}", field(16), field(21)))
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
        b.copy(self.floats.status.fields[0], all);
    }
}
