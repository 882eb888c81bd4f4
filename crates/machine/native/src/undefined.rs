//! Flags that instructions leave undefined. Processors differ in them, and so may the exact engine: an instruction whose
//! undefined flags may be read is left to it, so that a program that reads them finds the same in every run.
//!
//! Nothing is known about the code behind a computed jump, so there every flag counts as read. A system call shows all
//! flags in R11. The auxiliary carry of `and`, `or`, `xor` and `test` does not count: all processors clear it, as does the
//! exact engine.

use crate::gather::{End, Path, Role, Source, Window, role};
use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, RflagsBits};

const FLAGS: u32 =
    RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::CF | RflagsBits::PF;

/// How many flags there are, as the decoder numbers them.
const COUNT: usize = 6;

/// The flags that an instruction may leave undefined, as bits of the decoder.
pub fn leaves(instruction: &Instruction) -> u32 {
    use Mnemonic::*;
    const OF: u32 = RflagsBits::OF;
    const SF: u32 = RflagsBits::SF;
    const ZF: u32 = RflagsBits::ZF;
    const AF: u32 = RflagsBits::AF;
    const CF: u32 = RflagsBits::CF;
    const PF: u32 = RflagsBits::PF;
    match instruction.mnemonic() {
        Mul | Imul => SF | ZF | AF | PF,
        Div | Idiv => FLAGS,
        Bt | Bts | Btr | Btc => OF | SF | AF | PF,
        Bsf | Bsr => CF | OF | SF | AF | PF,
        Tzcnt | Lzcnt => OF | SF | AF | PF,
        Rol | Ror | Rcl | Rcr => match count(instruction, 1) {
            Some(0 | 1) => 0,
            _ => OF,
        },
        Shl | Sal | Shr | Sar => match count(instruction, 1) {
            Some(0) => 0,
            Some(1) => AF,
            // Of eight or sixteen bits nothing may be left to carry.
            _ if instruction.mnemonic() != Sar && width(instruction) < 32 => AF | OF | CF,
            _ => AF | OF,
        },
        Shld | Shrd => match count(instruction, 2) {
            Some(0) => 0,
            Some(1) => AF,
            _ => AF | OF,
        },
        _ => 0,
    }
}

fn width(instruction: &Instruction) -> u32 {
    let bytes = match instruction.op0_kind() {
        OpKind::Register => instruction.op0_register().size(),
        _ => instruction.memory_size().size(),
    };
    8 * bytes as u32
}

/// How far an instruction shifts, if it says so itself.
fn count(instruction: &Instruction, operand: u32) -> Option<u32> {
    let mask = if width(instruction) == 64 { 63 } else { 31 };
    (instruction.op_kind(operand) == OpKind::Immediate8).then(|| instruction.immediate(operand) as u32 & mask)
}

/// Whether all flags that an instruction may write are written whatever its operands are.
fn is_certain(instruction: &Instruction) -> bool {
    use Mnemonic::{Rcl, Rcr, Rol, Ror, Sal, Sar, Shl, Shld, Shr, Shrd};
    match instruction.mnemonic() {
        Shl | Sal | Shr | Sar | Rol | Ror => count(instruction, 1).is_some_and(|count| count > 0),
        Shld | Shrd => count(instruction, 2).is_some_and(|count| count > 0),
        // Turned all the way round the carry is what it was.
        Rcl | Rcr => count(instruction, 1) == Some(1),
        _ => !instruction.is_string_instruction(),
    }
}

/// The flags that an instruction certainly gives a value, which may be undefined.
fn replaces(instruction: &Instruction) -> u32 {
    if is_certain(instruction) { instruction.rflags_modified() & FLAGS } else { 0 }
}

/// Cuts a path before the first instruction whose undefined flags may be read.
pub fn cut(path: &mut Path, source: &mut dyn Source) {
    // Of each flag, the steps that may have left it undefined.
    let mut undefined = [0u64; COUNT];
    let mut read = 0u64;
    let among = |undefined: &[u64; COUNT], flags: u32| {
        (0..COUNT).filter(|flag| flags >> flag & 1 != 0).fold(0, |all, flag| all | undefined[flag])
    };
    for index in 0..path.steps.len() {
        let step = path.steps[index];
        let instruction = &step.instruction;
        read |= among(&undefined, instruction.rflags_read() & FLAGS);
        if let Role::Branch { to, .. } | Role::Counted { to } = step.role
            && undefined != [0; COUNT]
        {
            let live = live(path, source, to);
            read |= among(&undefined, live);
        }
        if step.role == Role::Copied {
            let (leaves, replaces) = (leaves(instruction), replaces(instruction));
            for (flag, steps) in undefined.iter_mut().enumerate() {
                if replaces >> flag & 1 != 0 {
                    *steps = 0;
                }
                *steps |= u64::from(leaves >> flag & 1) << index;
            }
        }
    }
    if undefined != [0; COUNT] {
        let live = match path.end {
            End::Jump(to) | End::Left(to) => live(path, source, to),
            End::Computed => FLAGS,
        };
        read |= among(&undefined, live);
    }
    if read != 0 {
        let first = read.trailing_zeros() as usize;
        path.end = End::Left(path.steps[first].instruction.ip());
        path.steps.truncate(first);
    }
}

/// The flags that the code at an address may read before it writes them. The pages of that code are noted with the path's.
fn live(path: &mut Path, source: &mut dyn Source, at: u64) -> u32 {
    const LONGEST: usize = 48;
    const BRANCHES: usize = 6;
    let mut live = 0;
    let mut left = LONGEST;
    let mut window = Window::new();
    let mut waiting = vec![(at, FLAGS)];
    let mut branches = 0;
    while let Some((mut at, mut open)) = waiting.pop() {
        loop {
            open &= !live;
            if open == 0 {
                break;
            }
            let decoded = if left > 0 { window.decode(source, at) } else { None };
            left = left.saturating_sub(1);
            let Some(step) = decoded else {
                live |= open;
                break;
            };
            let instruction = &step.instruction;
            path.note_pages(at, instruction.next_ip());
            live |= instruction.rflags_read() & open;
            let next = instruction.next_ip();
            at = match role(instruction) {
                Some(Role::Copied) => {
                    open &= !replaces(instruction);
                    next
                }
                Some(Role::Jump | Role::Call) => instruction.near_branch_target(),
                Some(Role::Branch { to, .. } | Role::Counted { to }) if branches < BRANCHES => {
                    branches += 1;
                    waiting.push((to, open));
                    next
                }
                None if instruction.flow_control() == FlowControl::Next => {
                    // Nothing is known of what it writes.
                    next
                }
                _ => {
                    live |= open;
                    break;
                }
            };
        }
    }
    live
}
