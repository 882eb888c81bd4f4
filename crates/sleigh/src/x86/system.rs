//! Instructions that speak to the operating system or about the processor.

use crate::x86::integer::pack_flags;
use crate::x86::operand::Lift;
use crate::x86::x87::{set_status, status, store_at};
use iced_x86::{Instruction as Decoded, Mnemonic, Register};
use parallax_ir::{Intrinsic, Trap};
use parallax_op::BinOp;

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    match mnemonic {
        Nop | Fnop | Endbr64 | Endbr32 | Pause | Lfence | Mfence | Sfence | Clflush | Clflushopt
        | Prefetchnta | Prefetcht0 | Prefetcht1 | Prefetcht2 | Prefetchw | Reservednop => {}
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
        Hlt => l.b.trap(None, Trap::Protection),
        Ldmxcsr => {
            let value = l.read_sized(d, 0, 4);
            l.b.copy(l.r.mxcsr, value);
        }
        Stmxcsr => {
            let value = l.r.mxcsr;
            l.write(d, 0, value);
        }
        Fxsave | Fxsave64 => save(l, d),
        Fxrstor | Fxrstor64 => restore(l, d),
        _ => return false,
    }
    true
}

/// How many SSE registers there are.
fn vectors(l: &Lift) -> usize {
    if l.bits == 64 { 16 } else { 8 }
}

/// The 512-byte image; instruction and data pointers are zero.
fn save(l: &mut Lift, d: &Decoded) {
    let address = l.address(d);
    l.check_alignment(address);
    let control = l.r.control_word;
    store_at(l, address, 0, control);
    let status = status(l);
    store_at(l, address, 2, status);
    // One bit per register instead of two, and set for what is not empty.
    let tags = l.r.tag_word;
    let short = l.b.extract(tags, 0, 1);
    let short = l.b.un(parallax_op::UnOp::Not, short);
    let short = l.b.zext(short, 2);
    store_at(l, address, 4, short);
    for distance in [6u64, 8, 16] {
        let zero = l.constant(0, if distance == 6 { 2 } else { 8 });
        store_at(l, address, distance, zero);
    }
    let mxcsr = l.r.mxcsr;
    store_at(l, address, 24, mxcsr);
    let mask = l.constant(0xffff, 4);
    store_at(l, address, 28, mask);
    for index in 0..8 {
        let value = l.r.st[index];
        let wide = l.b.zext(value, 16);
        store_at(l, address, 32 + 16 * index as u64, wide);
    }
    for index in 0..vectors(l) {
        let value = l.r.place(Register::XMM0 + index as u32);
        store_at(l, address, 160 + 16 * index as u64, value);
    }
}

fn restore(l: &mut Lift, d: &Decoded) {
    let address = l.address(d);
    l.check_alignment(address);
    let field = |l: &mut Lift, distance: u64, bytes: u16| {
        let at = l.b.bin_constant(BinOp::Add, address, distance);
        l.b.load(at, bytes)
    };
    let control = field(l, 0, 2);
    l.b.copy(l.r.control_word, control);
    let word = field(l, 2, 2);
    set_status(l, word);
    let short = field(l, 4, 1);
    let empty = l.b.un(parallax_op::UnOp::Not, short);
    let tags = l.b.concat(empty, empty);
    l.b.copy(l.r.tag_word, tags);
    let mxcsr = field(l, 24, 4);
    l.b.copy(l.r.mxcsr, mxcsr);
    for index in 0..8 {
        let value = field(l, 32 + 16 * index as u64, 10);
        l.b.copy(l.r.st[index], value);
    }
    for index in 0..vectors(l) {
        let value = field(l, 160 + 16 * index as u64, 16);
        let place = l.r.place(Register::XMM0 + index as u32);
        l.b.copy(place, value);
    }
}
