//! Computed jumps, calls and returns: through a table, without hashing and without touching the flags.
//!
//! A jump finds the slot of the low 32 bits of its goal, with the goal in its cell. A slot holds the entry of the trace of
//! the latest such address, or the code for goals without one. The entry compares the high half of the goal, so that no
//! jump arrives elsewhere than it was meant to.

use crate::code::{Code, RCX};
use crate::forms::has_memory;
use crate::layout::cell;
use crate::options::{Mistake, Options};
use iced_x86::{Code as Opcode, Encoder, Instruction, MemoryOperand, Register};

/// What a trace starts with, for computed jumps: `miss` is for goals that are not this trace's. Behind it all registers are
/// the guest's.
pub fn entry(code: &mut Code, pc: u64, miss: u64, options: &Options) {
    const JMP: u8 = 5;
    if options.mistake != Some(Mistake::HalfTarget) {
        code.mov_ecx_cell(cell::TARGET + 4);
        let high = (pc >> 32) as u32;
        if high != 0 {
            code.lea_ecx_less(high);
        }
        code.jrcxz(JMP);
        code.jmp(miss);
    }
    code.mov_reg_cell(RCX, cell::RCX);
}

/// Where the goal of a computed jump comes from.
pub enum Goal {
    /// The top of the stack; so many bytes more are taken from it.
    Stack(u16),
    /// A register, by number.
    Register(u8),
    /// Memory.
    Memory,
}

pub fn goal(instruction: &Instruction) -> Goal {
    match instruction.code() {
        Opcode::Retnq => Goal::Stack(0),
        Opcode::Retnq_imm16 => Goal::Stack(instruction.immediate16()),
        _ if has_memory(instruction) => Goal::Memory,
        _ => Goal::Register(instruction.op0_register().number() as u8),
    }
}

/// Whether an instruction calls.
pub fn calls(instruction: &Instruction) -> bool {
    instruction.code() == Opcode::Call_rm64
}

/// `mov rcx, [operand]`, to lie at an address that is near its operand.
pub fn load(instruction: &Instruction, at: u64) -> Vec<u8> {
    let operand = MemoryOperand::new(
        instruction.memory_base(),
        instruction.memory_index(),
        instruction.memory_index_scale(),
        instruction.memory_displacement64() as i64,
        instruction.memory_displ_size(),
        false,
        instruction.segment_prefix(),
    );
    let mut encoder = Encoder::new(64);
    Instruction::with2(Opcode::Mov_r64_rm64, Register::RCX, operand)
        .and_then(|load| encoder.encode(&load, at))
        .expect("an operand of a jump is one of a move");
    encoder.take_buffer()
}
