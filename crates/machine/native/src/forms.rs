//! Which instructions may be copied, and what is known of them.
//!
//! The list is generated ([`crate::copied`]): it says which opcodes, with a register or with memory in the place that may be
//! either. What is asked here besides is what an opcode does not tell: prefixes and addresses.

use crate::copied::COPIED;
use iced_x86::{Instruction, Mnemonic, OpKind, Register, RflagsBits};

/// The flags that arithmetic writes.
const ARITHMETIC: u32 =
    RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::CF | RflagsBits::PF;

/// No opcode of the decoder has a higher number; the list would not compile otherwise.
const CODES: usize = 5120;

/// Of each opcode: whether it may be copied with registers (1), with memory (2).
static LISTED: [u8; CODES] = {
    let mut listed = [0; CODES];
    let mut index = 0;
    while index < COPIED.len() {
        let (code, variants) = COPIED[index];
        listed[code as usize] = variants;
        index += 1;
    }
    listed
};

/// Bit of [`COPIED`]: without an operand in memory.
pub const WITH_REGISTERS: u8 = 1;
/// Bit of [`COPIED`]: with one.
pub const WITH_MEMORY: u8 = 2;

/// Whether an instruction may be copied as it is.
pub fn is_copied(instruction: &Instruction) -> bool {
    let variant = if has_memory(instruction) { WITH_MEMORY } else { WITH_REGISTERS };
    LISTED.get(instruction.code() as usize).is_some_and(|listed| listed & variant != 0)
        // Each turn of a repeated instruction is a step of its own.
        && !instruction.has_rep_prefix()
        && !instruction.has_repne_prefix()
        && !instruction.has_xacquire_prefix()
        && !instruction.has_xrelease_prefix()
        && has_plain_operand(instruction)
}

/// Whether an address can be made as the guest makes it: GS is ours, and what is relative to the low half of the
/// instruction pointer cannot be moved.
pub fn has_plain_operand(instruction: &Instruction) -> bool {
    instruction.segment_prefix() != Register::GS && instruction.memory_base() != Register::EIP
}

/// Whether some operand is in memory, named or implied.
pub fn has_memory(instruction: &Instruction) -> bool {
    (0..instruction.op_count()).any(|index| {
        matches!(
            instruction.op_kind(index),
            OpKind::Memory
                | OpKind::MemorySegSI
                | OpKind::MemorySegESI
                | OpKind::MemorySegRSI
                | OpKind::MemorySegDI
                | OpKind::MemorySegEDI
                | OpKind::MemorySegRDI
                | OpKind::MemoryESDI
                | OpKind::MemoryESEDI
                | OpKind::MemoryESRDI
        )
    })
}

/// Whether an instruction writes all arithmetic flags whatever they were, reads none, and cannot fault: before it they can be
/// anything. After `and`, `or`, `xor` and `test` the auxiliary carry is undefined, and processors clear it.
pub fn replaces_flags(instruction: &Instruction) -> bool {
    use Mnemonic::{Add, And, Cmp, Neg, Or, Sub, Test, Xor};
    matches!(instruction.mnemonic(), Add | And | Cmp | Neg | Or | Sub | Test | Xor)
        && !has_memory(instruction)
        && instruction.rflags_read() & ARITHMETIC == 0
        && instruction.rflags_modified() & ARITHMETIC == ARITHMETIC
}
