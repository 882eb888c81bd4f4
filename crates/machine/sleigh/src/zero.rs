//! A register that is always zero: what specifications write to it goes nowhere.

use parallax_ir::{Instruction, Space, Varnode};

/// The instruction without writes to the place, nor to constants, which some specifications have in its stead.
pub(crate) fn kept(mut instruction: Instruction, zero: Varnode) -> Instruction {
    let mut bytes = instruction.temporary_bytes;
    for op in &mut instruction.ops {
        if let Some(out) = op.out().filter(|out| *out == zero || out.space == Space::Constant) {
            op.set_out(Varnode::temporary(u64::from(bytes), out.bytes));
            bytes = bytes.saturating_add(16);
        }
    }
    instruction.temporary_bytes = bytes;
    instruction
}
