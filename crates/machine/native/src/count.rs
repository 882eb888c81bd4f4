//! Counting: a trace pays for its instructions on the way out.
//!
//! There are two forms. Where the flags do not matter, `sub` pays and `js` checks. Everywhere else RCX goes into its cell,
//! `lea` pays, and the check looks at the highest byte of the counter, which is zero unless the counter is negative: `jrcxz`
//! needs no flags.

use crate::code::{Code, RCX};
use crate::gather::{Path, Role};
use crate::layout::cell;
use crate::options::{Mistake, Options};
use crate::{forms, gather::End};

/// The position before which the whole trace can be paid for at once, flags being void there. None of the ways out that
/// follow may have fewer instructions: there is none but that of the last step.
pub fn place(path: &Path, options: &Options) -> Option<usize> {
    if path.end == End::Computed && options.mistake == Some(Mistake::NoCheckBeforeIndirect) {
        return None;
    }
    let last = path.steps.len().checked_sub(1)?;
    for (position, step) in path.steps.iter().enumerate().rev() {
        match step.role {
            Role::Copied if voids(&step.instruction, options) => return Some(position),
            Role::Branch { .. } | Role::Counted { .. } if position != last => return None,
            _ => {}
        }
    }
    None
}

fn voids(instruction: &iced_x86::Instruction, options: &Options) -> bool {
    use iced_x86::Mnemonic::{Add, Cmp, Sar, Shl, Shr, Sub};
    let mistaken = match options.mistake {
        Some(Mistake::ShiftWritesFlags) => {
            matches!(instruction.mnemonic(), Shl | Shr | Sar) && !forms::has_memory(instruction)
        }
        Some(Mistake::FaultWithVoidFlags) => matches!(instruction.mnemonic(), Add | Sub | Cmp),
        _ => false,
    };
    mistaken || forms::replaces_flags(instruction)
}

/// Pays where the flags are void; the site of the jump that leaves for `spent` if the counter is negative.
pub fn pay_with_flags(code: &mut Code, counter: u32, amount: u8, spent: u64) -> u64 {
    const SIGN: u8 = 8;
    code.sub_cell(counter, amount);
    code.jcc(SIGN, spent)
}

/// What [`pay`] wrote.
pub struct Paid {
    /// Where the counter has been read.
    pub read: u64,
    /// Where it has been written.
    pub written: u64,
    /// The site of the jump that leaves if the counter is negative.
    pub spent: Option<u64>,
}

/// How many bytes before [`Paid::read`] the counter is read.
pub const READ_BYTES: u8 = 7;

/// Pays without touching the flags. RCX is in its cell then, and its register is free. Without `spent` nothing is checked.
pub fn pay(code: &mut Code, counter: u32, amount: u8, spent: Option<u64>) -> Paid {
    code.mov_cell_reg(cell::RCX, RCX);
    code.mov_reg_cell(RCX, counter);
    let read = code.here();
    code.lea_rcx_less(amount);
    code.mov_cell_reg(counter, RCX);
    let written = code.here();
    let spent = spent.map(|spent| {
        const JMP: u8 = 5;
        code.movzx_ecx_byte_cell(counter + 7);
        code.jrcxz(JMP);
        code.jmp(spent)
    });
    Paid { read, written, spent }
}
