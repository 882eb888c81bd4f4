//! From bytes to the right row of the table.

use crate::x86::operand::Lift;
use crate::x86::registers::Registers;
use crate::x86::{TABLES, x87};
use iced_x86::{
    Decoder, DecoderError, DecoderOptions, Formatter, Instruction as Decoded, IntelFormatter, OpKind,
    Register,
};
use parallax_ir::{Instruction, Processor};

/// The override table for one width of the x86 family.
pub struct Overrides {
    registers: Registers,
    bits: u32,
}

/// What the table says about some bytes.
pub enum Answer {
    /// This.
    Lifted(Instruction),
    /// They are no instruction, and why.
    Invalid(&'static str),
    /// Ask the specification.
    NotOurs,
}

impl Overrides {
    /// The table for `bits` (32 or 64) over the registers of the specification.
    pub fn new(processor: &Processor, bits: u32) -> Self {
        Overrides { registers: Registers::new(processor), bits }
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
        if !self.is_expressible(&decoded) {
            return Answer::NotOurs;
        }
        let mut lift = Lift::new(&self.registers, self.bits);
        let uses_mmx = (0..decoded.op_count())
            .any(|i| decoded.op_kind(i) == OpKind::Register && decoded.op_register(i).is_mm());
        if uses_mmx {
            x87::enter_mmx(&mut lift);
        }
        if !TABLES.iter().any(|table| table(&mut lift, &decoded, decoded.mnemonic())) {
            return Answer::NotOurs;
        }
        if uses_mmx {
            x87::leave_mmx(&mut lift);
        }
        let mut text = String::new();
        IntelFormatter::new().format(&decoded, &mut text);
        Answer::Lifted(lift.finish(address, decoded.len() as u8, text))
    }

    /// Whether all registers it names have places and its address needs nothing special. Segment bases other than FS and
    /// GS are zero in user programs.
    fn is_expressible(&self, decoded: &Decoded) -> bool {
        let registers = (0..decoded.op_count())
            .filter(|&i| decoded.op_kind(i) == OpKind::Register)
            .all(|i| self.registers.has(decoded.op_register(i)));
        let segment = match decoded.segment_prefix() {
            Register::FS => self.registers.fs_base.is_some(),
            Register::GS => self.registers.gs_base.is_some(),
            _ => true,
        };
        // 16-bit addresses are for another age.
        let sixteen = |r: Register| r != Register::None && r.size() == 2;
        registers && segment && !sixteen(decoded.memory_base()) && !sixteen(decoded.memory_index())
    }
}
