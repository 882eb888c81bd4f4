//! Operands relative to the instruction pointer, seen from elsewhere: with a new distance, or, where that does not fit, with
//! the address in a register that the instruction does not use.

use crate::gather::Step;
use iced_x86::{Encoder, Instruction, InstructionInfoFactory, Register};

/// Whether an address is near enough to code that it can be named by its distance, whatever instruction names it.
pub fn is_near(code: u64, address: u64) -> bool {
    // Of what may still be written before the instruction, and of its own length.
    const SLACK: i64 = 256;
    let distance = address.wrapping_sub(code) as i64;
    (i64::from(i32::MIN) + SLACK..i64::from(i32::MAX) - SLACK).contains(&distance)
}

/// The bytes of a step, to lie at an address, with the new distance to its operand.
pub fn moved(step: &Step, at: u64) -> Vec<u8> {
    let length = step.instruction.len();
    let mut bytes = step.bytes[..length].to_vec();
    if let Some(offset) = step.distance {
        let target = step.instruction.ip_rel_memory_address();
        let distance = target.wrapping_sub(at + length as u64) as i32;
        bytes[usize::from(offset)..][..4].copy_from_slice(&distance.to_le_bytes());
    }
    bytes
}

/// The same instruction with its operand where a register points, and the number of that register, which the instruction
/// does not use otherwise. None if it cannot be written so.
pub fn through_register(instruction: &Instruction) -> Option<(Vec<u8>, u8)> {
    // None of these needs a prefix, which would exclude AH and its like; `[rsp]` and `[rbp]` are encoded otherwise.
    const CHOICES: [Register; 6] =
        [Register::RBX, Register::RSI, Register::RDI, Register::RDX, Register::RAX, Register::RCX];
    let mut factory = InstructionInfoFactory::new();
    let used = factory.info(instruction).used_registers();
    let is_used = |choice: &Register| used.iter().any(|used| used.register().full_register() == *choice);
    let register = CHOICES.into_iter().find(|choice| !is_used(choice))?;
    let mut other = *instruction;
    other.set_memory_base(register);
    other.set_memory_displacement64(0);
    other.set_memory_displ_size(0);
    let mut encoder = Encoder::new(64);
    encoder.encode(&other, 0).ok()?;
    let bytes = encoder.take_buffer();
    let again = iced_x86::Decoder::with_ip(64, &bytes, 0, iced_x86::DecoderOptions::NONE).decode();
    (again.code() == instruction.code()).then_some((bytes, register.number() as u8))
}
