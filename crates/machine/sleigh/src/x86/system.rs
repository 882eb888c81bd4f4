//! Instructions that speak to the operating system or about the processor.

use crate::x86::integer::pack_flags;
use crate::x86::operand::Lift;
use iced_x86::{Instruction as Decoded, Mnemonic, OpKind, Register};
use parallax_ir::{Intrinsic, Trap};

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    match mnemonic {
        Nop | Fnop | Endbr64 | Endbr32 | Pause | Lfence | Mfence | Sfence | Clflush | Clflushopt
        | Prefetchnta | Prefetcht0 | Prefetcht1 | Prefetcht2 | Prefetch | Prefetchw | Prefetchwt1 | Clwb
        | Cldemote | Prefetchit0 | Prefetchit1 | Serialize | Reservednop => {}
        // Without shadow stacks, which no emulated program has, these leave their register alone.
        Rdsspd | Rdsspq => {}
        Cpuid => {
            let (leaf, subleaf) = (l.r.place(Register::EAX), l.r.place(Register::ECX));
            let answer = l.b.call(Intrinsic::Cpuid, 16, &[leaf, subleaf]);
            for (index, register) in
                [Register::EAX, Register::EBX, Register::ECX, Register::EDX].into_iter().enumerate()
            {
                l.set(register, answer.slice(4 * index as u16, 4));
            }
        }
        Rdtsc | Rdtscp => {
            let time = l.b.call(Intrinsic::TimeStamp, 8, &[]);
            l.set(Register::EAX, time.slice(0, 4));
            l.set(Register::EDX, time.slice(4, 4));
            if mnemonic == Rdtscp {
                let zero = l.constant(0, 4);
                l.set(Register::ECX, zero);
            }
        }
        Xgetbv => {
            let number = l.r.place(Register::ECX);
            let value = l.b.call(Intrinsic::ControlRegister, 8, &[number]);
            l.set(Register::EAX, value.slice(0, 4));
            l.set(Register::EDX, value.slice(4, 4));
        }
        Syscall if l.bits == 64 => {
            let back = l.constant(d.next_ip(), 8);
            let flags = pack_flags(l);
            let flags = l.b.zext(flags, 8);
            l.set(Register::RCX, back);
            l.set(Register::R11, flags);
            l.b.trap(None, Trap::SystemCall);
        }
        Int if d.immediate(0) == 0x80 => l.b.trap(None, Trap::SystemCall),
        Int3 => l.b.trap(None, Trap::Breakpoint),
        Ud0 | Ud1 | Ud2 => l.b.trap(None, Trap::Undefined),
        // Any other software interrupt is the operating system's.
        Int if d.immediate(0) & 0xff != 3 => l.b.trap(None, Trap::Protection),
        // So are these.
        Hlt | Cli | Sti | In | Out | Insb | Insw | Insd | Outsb | Outsw | Outsd | Clts | Invd | Wbinvd
        | Lgdt | Lidt | Lldt | Ltr | Lmsw | Invlpg | Rdmsr | Wrmsr | Sysexit | Sysexitq | Swapgs | Xsetbv => {
            l.b.trap(None, Trap::Protection)
        }
        Mov if (0..2).any(|i| {
            d.op_kind(i) == OpKind::Register && (d.op_register(i).is_cr() || d.op_register(i).is_dr())
        }) =>
        {
            l.b.trap(None, Trap::Protection);
        }
        Ldmxcsr => {
            let value = l.read_sized(d, 0, 4);
            l.check_mxcsr(value);
            l.b.copy(l.r.mxcsr, value);
        }
        Stmxcsr => {
            let value = l.r.mxcsr;
            l.write(d, 0, value);
        }
        _ => return false,
    }
    true
}
