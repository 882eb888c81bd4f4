//! FPSCR of PowerPC moved to and from registers, and single bits of it.

use parallax_ir::{Builder, Intrinsic, Processor, Register, RegisterKind, Trap, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp};

/// Where FPSCR lies: the specification's registers for its bits begin there, and are not registers here.
const PLACE: (u64, u16) = (0x500, 4);
/// The summaries `FEX` and `VX`, which follow from the rest, and a bit that is always zero.
const SUMMARIES: u64 = 0x6000_0000;
const RESERVED: u64 = 0x0800;
/// The exceptions that moving a condition field out of FPSCR clears, and `FX`.
const CLEARED: u64 = 0x9ff8_0700;
/// What the last result was, and the controls.
const LIGHT: u64 = 0x0007_f0ff;
/// The exceptions themselves.
const EXCEPTIONS: u64 = CLEARED & !(1 << 31);

/// The registers of the specification with FPSCR in place of its bits. Condition fields and, on 32-bit processors, float
/// registers stand for themselves: what the specification makes of several of them together is no register there.
pub(crate) fn registers(all: &mut Vec<Register>, wide: bool) {
    let vector = |name: &str| {
        let number = name.strip_prefix("VS").and_then(|rest| rest.parse::<u32>().ok());
        number.is_some_and(|number| number < 32)
    };
    all.retain(|register| {
        let joined = register.name == "CRALL" || (!wide && vector(&register.name));
        !joined && !is_bit(register.place)
    });
    let (offset, bytes) = PLACE;
    let place = Varnode::register(offset, bytes);
    all.push(Register { name: "FPSCR".to_owned(), place, kind: RegisterKind::Word });
}

/// Whether it is one of the specification's registers for bits of FPSCR.
pub(super) fn is_bit(place: Varnode) -> bool {
    place.overlaps(Varnode::register(PLACE.0, 32))
}

/// FPSCR and what goes along with it.
pub(super) struct Status {
    pub fpscr: Varnode,
    pub msr: Varnode,
    /// The condition fields.
    pub fields: Vec<Varnode>,
}

impl Status {
    pub fn new(processor: &Processor) -> Option<Self> {
        let place = |name: &str| processor.register(name).map(|register| register.place);
        Some(Status {
            fpscr: place("FPSCR")?,
            msr: place("MSR")?,
            fields: (0..8).map(|index| place(&format!("CR{index}"))).collect::<Option<_>>()?,
        })
    }

    /// Condition field 1 of a record form: the four highest bits.
    pub fn record(&self, b: &mut Builder) {
        let top = b.extract(self.fpscr, 28, 1);
        b.copy(self.fields[1], top);
    }

    /// FPSCR as given but for its summaries; an exception that is now both there and enabled stops the instruction.
    fn set(&self, b: &mut Builder, value: Varnode, record: bool) {
        let settled = b.call(Intrinsic::PowerStatus, 4, &[value]);
        b.copy(self.fpscr, settled);
        if record {
            self.record(b);
        }
        let enabled = b.bit(settled, 30);
        let modes = b.bin_constant(BinOp::And, self.msr, 0x900);
        let may_stop = b.rel_constant(RelOp::Ne, modes, 0);
        let stop = b.bool(BoolOp::And, enabled, may_stop);
        b.trap(Some(stop), Trap::Float);
    }

    /// The operations of an instruction with primary opcode 63, if it is one of these.
    pub fn lift(&self, b: &mut Builder, word: u32, floats: &[Varnode]) -> Option<String> {
        if word >> 26 != 63 {
            return None;
        }
        let record = word & 1 == 1;
        let dot = if record { "." } else { "" };
        let (t, second) = ((word >> 21 & 31) as usize, (word >> 11 & 31) as usize);
        match word >> 1 & 0x3ff {
            583 => self.read(b, word, floats),
            711 if word & 0x0001_0000 == 0 => {
                let (all, fields) = (word >> 25 & 1 == 1, word >> 17 & 0xff);
                let chosen = if all { 0xff } else { fields };
                let mask = (0..8).filter(|i| chosen >> i & 1 == 1).fold(0, |mask, i| mask | 15 << (4 * i));
                let given = b.extract(floats[second], 0, 4);
                let given = b.bin_constant(BinOp::And, given, mask & !(SUMMARIES | RESERVED));
                self.replace(b, mask, given, record);
                Some(format!("mtfsf{dot} {fields:#x},f{second}"))
            }
            134 if word & 0x007f_0800 == 0 => {
                let (field, value) = (word >> 23 & 7, u64::from(word >> 12 & 15));
                let low = 28 - 4 * field;
                let given = value << low & !(SUMMARIES | RESERVED);
                self.replace(b, 15 << low, Varnode::constant(given, 4), record);
                Some(format!("mtfsfi{dot} {field},{value}"))
            }
            code @ (38 | 70) if word & 0x001f_f800 == 0 => {
                let mask = (1u64 << (31 - t)) & !(SUMMARIES | RESERVED);
                if code == 70 {
                    let value = b.bin_constant(BinOp::And, self.fpscr, !mask);
                    let settled = b.call(Intrinsic::PowerStatus, 4, &[value]);
                    b.copy(self.fpscr, settled);
                } else {
                    let set = b.bin_constant(BinOp::Or, self.fpscr, mask);
                    let value = self.noticed(b, set, mask);
                    self.set(b, value, record);
                }
                Some(format!("mtfsb{}{dot} {t}", u8::from(code == 38)))
            }
            64 if word & 0x0063_f801 == 0 => {
                let (to, from) = ((word >> 23 & 7) as usize, word >> 18 & 7);
                let low = 28 - 4 * from as u16;
                let moved = b.extract(self.fpscr, low, 1);
                let field = b.bin_constant(BinOp::And, moved, 15);
                b.copy(self.fields[to], field);
                let rest = b.bin_constant(BinOp::And, self.fpscr, !(CLEARED & 15 << low));
                let settled = b.call(Intrinsic::PowerStatus, 4, &[rest]);
                b.copy(self.fpscr, settled);
                Some(format!("mcrfs cr{to},{from}"))
            }
            _ => None,
        }
    }

    /// `mffs`, and the later ways of reading that leave the exceptions out or set the rounding mode as well. Processors
    /// before version 3.0 of the architecture, as the 32-bit ones are, do not look at the bits that tell them apart,
    /// and the C library counts on that.
    fn read(&self, b: &mut Builder, word: u32, floats: &[Varnode]) -> Option<String> {
        let (t, kind, second) = ((word >> 21 & 31) as usize, word >> 16 & 31, (word >> 11 & 31) as usize);
        let dot = if word & 1 == 1 { "." } else { "" };
        let later = self.msr.bytes == 8;
        let (name, rounding) = match (kind, second) {
            (0, 0) => ("mffs", None),
            (1 | 20..=24, _) if !later && dot.is_empty() => ("mffs", None),
            (24, 0) if dot.is_empty() => ("mffsl", None),
            (22, _) if dot.is_empty() => ("mffscrn", Some(b.extract(floats[second], 0, 4))),
            (23, 0..=3) if dot.is_empty() => ("mffscrni", Some(Varnode::constant(second as u64, 4))),
            _ => return None,
        };
        let shown = if name == "mffs" { self.fpscr } else { b.bin_constant(BinOp::And, self.fpscr, LIGHT) };
        let wide = b.zext(shown, 8);
        b.copy(floats[t], wide);
        if let Some(rounding) = rounding {
            let mode = b.bin_constant(BinOp::And, rounding, 3);
            let kept = b.bin_constant(BinOp::And, self.fpscr, !3);
            let value = b.bin(BinOp::Or, kept, mode);
            b.copy(self.fpscr, value);
        }
        Some(format!("{name}{dot} f{t}"))
    }

    /// Replaces what a mask covers.
    fn replace(&self, b: &mut Builder, mask: u64, given: Varnode, record: bool) {
        let kept = b.bin_constant(BinOp::And, self.fpscr, !mask);
        let value = b.bin(BinOp::Or, kept, given);
        self.set(b, value, record);
    }

    /// With `FX` set if a bit that was clear and is an exception has been set.
    fn noticed(&self, b: &mut Builder, value: Varnode, mask: u64) -> Varnode {
        if mask & EXCEPTIONS == 0 {
            return value;
        }
        let before = b.bin_constant(BinOp::And, self.fpscr, mask);
        let new = b.rel_constant(RelOp::Eq, before, 0);
        let marked = b.bin_constant(BinOp::Or, value, 1 << 31);
        b.select(new, marked, value)
    }
}
