//! Real mode, which 16-bit code is in: segment registers are plain numbers, of which sixteen times is where a segment begins, and
//! nobody forbids anything.
//!
//! What changes CS, which is where code lies, is not here: a piece of code knows its offsets in one segment only. Nor is what ports,
//! interrupts and control registers do.

use crate::x86::control::{pop, push};
use crate::x86::operand::Lift;
use iced_x86::{Instruction as Decoded, Mnemonic, OpKind, Register};
use parallax_ir::Trap;
use parallax_op::BinOp;

/// Builds the operations if the instruction belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    if l.bits != 16 {
        return false;
    }
    let segment =
        |index: u32| d.op_kind(index) == OpKind::Register && d.op_register(index).is_segment_register();
    match mnemonic {
        Mov if segment(0) => {
            if d.op_register(0) == Register::CS {
                l.b.trap(None, Trap::Undefined);
                return true;
            }
            let value = l.read_sized(d, 1, 2);
            l.set(d.op_register(0), value);
        }
        // What a push of 32 bits leaves above the register depends on the processor.
        Push if segment(0) && d.stack_pointer_increment() == -2 => {
            let value = l.read(d, 0);
            push(l, value);
        }
        Pop if segment(0) && d.stack_pointer_increment() == 2 => {
            let value = pop(l, 2);
            l.set(d.op_register(0), value);
        }
        Lds | Les | Lss | Lfs | Lgs => {
            let bytes = l.size(d, 0);
            let address = l.address(d);
            let offset = l.b.load(address, bytes);
            let above = l.b.bin_constant(BinOp::Add, address, bytes.into());
            let selector = l.b.load(above, 2);
            l.write(d, 0, offset);
            let register = match mnemonic {
                Lds => Register::DS,
                Les => Register::ES,
                Lss => Register::SS,
                Lfs => Register::FS,
                _ => Register::GS,
            };
            l.set(register, selector);
        }
        Hlt => l.b.trap(None, Trap::Halt),
        Cli | Sti => {
            let enabled = l.constant(u64::from(mnemonic == Sti), 1);
            let flag = l.r.other_flags.iter().find(|(bit, _)| *bit == 9).map(|(_, flag)| *flag);
            flag.into_iter().for_each(|flag| l.b.copy(flag, enabled));
        }
        _ => return false,
    }
    true
}

/// Whether an instruction is another one in real mode than in a user program, and not modelled.
pub fn is_refused(d: &Decoded) -> bool {
    use Mnemonic::*;
    let is_control =
        |i: u32| d.op_kind(i) == OpKind::Register && (d.op_register(i).is_cr() || d.op_register(i).is_dr());
    match d.mnemonic() {
        In | Out | Insb | Insw | Insd | Outsb | Outsw | Outsd | Clts | Invd | Wbinvd | Lgdt | Lidt | Lldt
        | Ltr | Lmsw | Invlpg | Rdmsr | Wrmsr | Sysexit | Xsetbv | Int | Into | Bound | Arpl => true,
        Mov => (0..2).any(is_control),
        _ => false,
    }
}
