//! PowerPC registers to and from memory, where the specification goes astray: singles, whose conversion keeps the bits of
//! what is not a number, and strings of bytes.

use super::table::Overrides;
use parallax_ir::{Builder, Intrinsic, Varnode};
use parallax_op::{BinOp, RelOp};

/// The most bytes that a count in XER can ask for.
const LONGEST: usize = 127;

impl Overrides {
    /// A register as the base of an address, where number zero stands for nothing.
    pub(super) fn base(&self, number: usize) -> Varnode {
        let bytes = self.general[0].bytes;
        if number == 0 { Varnode::constant(0, bytes) } else { self.general[number] }
    }

    /// Loads and stores of singles, and of words to and from float registers.
    pub(super) fn single(&self, b: &mut Builder, word: u32) -> Option<String> {
        let field = |low: u32| (word >> low & 31) as usize;
        let (t, base, index, displacement) = (field(21), field(16), field(11), word as u16 as i16);
        let primary = word >> 26;
        let name = match (primary, word >> 1 & 0x3ff) {
            (48, _) => "lfs",
            (49, _) => "lfsu",
            (52, _) => "stfs",
            (53, _) => "stfsu",
            (31, 535) => "lfsx",
            (31, 567) => "lfsux",
            (31, 663) => "stfsx",
            (31, 695) => "stfsux",
            (31, 855) => "lfiwax",
            (31, 887) => "lfiwzx",
            _ => return None,
        };
        let indexed = primary == 31;
        let updates = name.ends_with('u') || name.ends_with("ux");
        if (indexed && word & 1 == 1) || (updates && base == 0) {
            return None;
        }
        let address = if indexed {
            b.bin(BinOp::Add, self.base(base), self.general[index])
        } else {
            b.bin_constant(BinOp::Add, self.base(base), i64::from(displacement) as u64)
        };
        let float = self.floats.registers[t];
        if name.starts_with("st") {
            let narrow = b.call(Intrinsic::PowerNarrow, 4, &[float]);
            b.store(address, narrow);
        } else {
            let loaded = b.load(address, 4);
            let value = match name {
                "lfiwax" => b.sext(loaded, 8),
                "lfiwzx" => b.zext(loaded, 8),
                _ => b.call(Intrinsic::PowerExpand, 8, &[loaded]),
            };
            b.copy(float, value);
        }
        if updates {
            b.copy(self.general[base], address);
        }
        Some(match indexed {
            true => format!("{name} f{t},r{base},r{index}"),
            false => format!("{name} f{t},{displacement}(r{base})"),
        })
    }

    /// `lswi` and `stswi`: bytes to and from registers, four each, the highest first; 32 of them when the field is zero.
    pub(super) fn string(
        &self,
        b: &mut Builder,
        loads: bool,
        first: usize,
        base: usize,
        field: usize,
    ) -> String {
        let count = if field == 0 { 32 } else { field };
        let start = if base == 0 { self.base(0) } else { b.snapshot(self.general[base]) };
        for byte in 0..count {
            self.byte(b, loads, first, start, byte);
        }
        format!("{} r{first},r{base},{field}", if loads { "lswi" } else { "stswi" })
    }

    /// `lswx` and `stswx`: as many bytes as XER says.
    pub(super) fn counted_string(
        &self,
        b: &mut Builder,
        loads: bool,
        first: usize,
        base: usize,
        index: usize,
    ) -> Option<String> {
        let count = self.count?;
        let start = b.bin(BinOp::Add, self.base(base), self.general[index]);
        let end = b.label();
        for byte in 0..LONGEST {
            let enough = b.rel_constant(RelOp::Ule, count, byte as u64);
            b.branch(Some(enough), end);
            self.byte(b, loads, first, start, byte);
        }
        b.place(end);
        Some(format!("{} r{first},r{base},r{index}", if loads { "lswx" } else { "stswx" }))
    }

    /// One byte of a string; the first of a register clears the others.
    fn byte(&self, b: &mut Builder, loads: bool, first: usize, start: Varnode, number: usize) {
        let register = self.general[(first + number / 4) % 32];
        let low = 8 * (3 - number as u16 % 4);
        let at = b.bin_constant(BinOp::Add, start, number as u64);
        if !loads {
            let part = b.extract(register, low, 1);
            b.store(at, part);
            return;
        }
        let loaded = b.load(at, 1);
        let wide = b.zext(loaded, register.bytes);
        let moved = b.bin_constant(BinOp::Shl, wide, low.into());
        let value = if number.is_multiple_of(4) { moved } else { b.bin(BinOp::Or, register, moved) };
        b.copy(register, value);
    }
}
