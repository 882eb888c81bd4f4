//! From bytes to the right row of the table.

use crate::x86::operand::Lift;
use crate::x86::packed::{self, cousin};
use crate::x86::registers::Registers;
use crate::x86::{TABLES, real, x87};
use iced_x86::{
    Decoder, DecoderError, DecoderOptions, EncodingKind, Formatter, Instruction as Decoded, IntelFormatter,
    OpKind, Register,
};
use parallax_ir::{Instruction, Processor};

/// The override table for one width of the x86 family.
pub struct Overrides {
    registers: Registers,
    pub(super) bits: u32,
    /// Whether instructions get their assembly text, which takes as long as the rest.
    pub texts: bool,
}

/// What the table says about some bytes.
pub enum Answer {
    /// This.
    Lifted(Instruction),
    /// They are no instruction, and why.
    Invalid(&'static str),
    /// They are an instruction that is not modelled: its length, its text, and why.
    Refused(u32, String, &'static str),
    /// Ask the specification.
    NotOurs,
}

/// The instruction as the processor manual writes it.
fn text(decoded: &Decoded) -> String {
    let mut text = String::new();
    IntelFormatter::new().format(decoded, &mut text);
    text
}

/// Why an instruction is refused. The specification would give most of these a meaning, but nobody has held that
/// against a processor, and where somebody has it was often wrong.
fn refusal(decoded: &Decoded) -> &'static str {
    match decoded.code().op_code().encoding() {
        EncodingKind::EVEX | EncodingKind::MVEX => "AVX-512 is not modelled",
        EncodingKind::XOP => "XOP is not modelled",
        EncodingKind::D3NOW => "3DNow! is not modelled",
        _ => "it is not modelled",
    }
}

impl Overrides {
    /// The table for `bits` (16, 32 or 64) over the registers of the specification.
    pub fn new(processor: &Processor, bits: u32) -> Self {
        Overrides { registers: Registers::new(processor), bits, texts: true }
    }

    /// The instruction at `address`, where `bytes` begin.
    pub fn lift(&self, address: u64, bytes: &[u8]) -> Answer {
        let mut decoder = Decoder::with_ip(self.bits, bytes, address, DecoderOptions::NONE);
        let decoded = decoder.decode();
        if decoded.is_invalid() {
            return Answer::Invalid(match decoder.last_error() {
                DecoderError::NoMoreBytes => "the bytes end inside an instruction",
                _ => "no instruction has this encoding",
            });
        }
        let refused = || Answer::Refused(decoded.len() as u32, text(&decoded), refusal(&decoded));
        let encoding = decoded.code().op_code().encoding();
        // Real mode has the older encoding only.
        let encodable = encoding == EncodingKind::Legacy || encoding == EncodingKind::VEX && self.bits > 16;
        if !encodable || !self.is_expressible(&decoded) || self.bits == 16 && real::is_refused(&decoded) {
            return refused();
        }
        let mut lift = Lift::new(&self.registers, self.bits, encoding == EncodingKind::VEX);
        let uses_mmx = (0..decoded.op_count())
            .any(|i| decoded.op_kind(i) == OpKind::Register && decoded.op_register(i).is_mm());
        if uses_mmx {
            // What is left over from the x87 comes first, and a fault would leave the registers as they were.
            x87::wait(&mut lift);
            if decoded.op_kind(1) == OpKind::Memory {
                packed::check_alignment(&mut lift, &decoded, decoded.memory_size().size() as u16);
            }
            x87::enter_mmx(&mut lift);
        }
        let mnemonic = if lift.vex { cousin(decoded.mnemonic()) } else { decoded.mnemonic() };
        if !TABLES.iter().any(|table| table(&mut lift, &decoded, mnemonic)) {
            return refused();
        }
        if uses_mmx {
            x87::leave_mmx(&mut lift);
        }
        let text = if self.texts { text(&decoded) } else { String::new() };
        Answer::Lifted(lift.finish(address, decoded.len() as u8, text))
    }

    /// Whether all registers it names have places. Segment bases other than FS and GS are zero in user programs; in real
    /// mode the registers themselves tell.
    fn is_expressible(&self, decoded: &Decoded) -> bool {
        let registers = (0..decoded.op_count())
            .filter(|&i| decoded.op_kind(i) == OpKind::Register)
            .all(|i| self.registers.has(decoded.op_register(i)));
        let segment = match decoded.segment_prefix() {
            _ if self.bits == 16 => true,
            Register::FS => self.registers.fs_base.is_some(),
            Register::GS => self.registers.gs_base.is_some(),
            _ => true,
        };
        registers && segment
    }
}
