//! Instructions of an older age: decimal arithmetic, stack frames made by one instruction, checks of bounds.

use crate::x86::operand::Lift;
use iced_x86::{Code, Instruction as Decoded, Mnemonic, Register};
use parallax_ir::{Trap, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp};

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let (al, ah) = (l.sized(Register::RAX, 1), l.sized(Register::RAX, 2).slice(1, 1));
    match mnemonic {
        Aaa | Aas => unpacked(l, mnemonic == Aaa),
        Daa | Das => packed(l, mnemonic == Daa),
        Aam => {
            let base = d.immediate(0) & 0xff;
            if base == 0 {
                l.b.trap(None, Trap::Divide);
                return true;
            }
            let high = l.b.bin_constant(BinOp::Udiv, al, base);
            let low = l.b.bin_constant(BinOp::Urem, al, base);
            l.b.copy(ah, high);
            l.b.copy(al, low);
            l.result_flags(low);
        }
        Aad => {
            let tens = l.b.bin_constant(BinOp::Mul, ah, d.immediate(0) & 0xff);
            let sum = l.b.bin(BinOp::Add, al, tens);
            let wide = l.b.zext(sum, 2);
            l.set(Register::AX, wide);
            l.result_flags(sum);
        }
        Salc => {
            let (ones, none) = (l.constant(0xff, 1), l.constant(0, 1));
            let value = l.b.select(l.r.cf, ones, none);
            l.b.copy(al, value);
        }
        Xlatb => {
            let address = l.address(d);
            let value = l.b.load(address, 1);
            l.b.copy(al, value);
        }
        Bound => {
            let index = l.read(d, 0);
            let address = l.address(d);
            let low = l.b.load(address, index.bytes);
            let above = l.b.bin_constant(BinOp::Add, address, u64::from(index.bytes));
            let high = l.b.load(above, index.bytes);
            let below = l.b.rel(RelOp::Slt, index, low);
            let beyond = l.b.rel(RelOp::Sgt, index, high);
            let outside = l.b.bool(BoolOp::Or, below, beyond);
            // Linux makes the same signal of it as of any other protection fault.
            l.b.trap(Some(outside), Trap::Protection);
        }
        Into => l.b.trap(Some(l.r.of), Trap::Protection),
        Arpl => {
            let (own, other) = (l.read_sized(d, 0, 2), l.read_sized(d, 1, 2));
            let level = l.b.bin_constant(BinOp::And, own, 3);
            let wanted = l.b.bin_constant(BinOp::And, other, 3);
            let lower = l.b.rel(RelOp::Ult, level, wanted);
            let rest = l.b.bin_constant(BinOp::And, own, 0xfffc);
            let raised = l.b.bin(BinOp::Or, rest, wanted);
            let value = l.b.select(lower, raised, own);
            if l.is_memory(d, 0) {
                l.write(d, 0, value);
            } else {
                let place = l.sized(d.op_register(0), 2);
                l.b.copy(place, value);
            }
            l.flag(l.r.zf, lower);
        }
        Pusha | Pushad => push_all(l, if mnemonic == Pusha { 2 } else { 4 }),
        Popa | Popad => pop_all(l, if mnemonic == Popa { 2 } else { 4 }),
        Enter => enter(l, d),
        _ => return false,
    }
    true
}

/// Whether the lower digit of AL is beyond nine, or was.
fn is_adjusted(l: &mut Lift, al: Varnode) -> Varnode {
    let digit = l.b.bin_constant(BinOp::And, al, 15);
    let large = l.b.rel_constant(RelOp::Ugt, digit, 9);
    l.b.bool(BoolOp::Or, large, l.r.af)
}

/// One digit in AL; a carry goes to AH.
fn unpacked(l: &mut Lift, adds: bool) {
    let ax = l.sized(Register::RAX, 2);
    let adjusted = is_adjusted(l, ax.slice(0, 1));
    let op = if adds { BinOp::Add } else { BinOp::Sub };
    let changed = l.b.bin_constant(op, ax, 0x106);
    let value = l.b.select(adjusted, changed, ax);
    let value = l.b.bin_constant(BinOp::And, value, 0xff0f);
    l.flag(l.r.af, adjusted);
    l.flag(l.r.cf, adjusted);
    l.b.copy(ax, value);
}

/// Two digits in AL.
fn packed(l: &mut Lift, adds: bool) {
    let al = l.sized(Register::RAX, 1);
    let op = if adds { BinOp::Add } else { BinOp::Sub };
    let adjusted = is_adjusted(l, al);
    let large = l.b.rel_constant(RelOp::Ugt, al, 0x99);
    let high = l.b.bool(BoolOp::Or, large, l.r.cf);
    let mut carry = high;
    if !adds {
        // Borrowing for the lower digit may go through the upper.
        let small = l.b.rel_constant(RelOp::Ult, al, 6);
        let borrowed = l.b.bool(BoolOp::And, adjusted, small);
        carry = l.b.bool(BoolOp::Or, high, borrowed);
    }
    let (six, sixty, none) = (l.constant(6, 1), l.constant(0x60, 1), l.constant(0, 1));
    let low = l.b.select(adjusted, six, none);
    let high = l.b.select(high, sixty, none);
    let value = l.b.bin(op, al, low);
    let value = l.b.bin(op, value, high);
    l.flag(l.r.af, adjusted);
    l.flag(l.r.cf, carry);
    l.b.copy(al, value);
    l.result_flags(value);
}

const ALL: [Register; 8] = [
    Register::EAX,
    Register::ECX,
    Register::EDX,
    Register::EBX,
    Register::ESP,
    Register::EBP,
    Register::ESI,
    Register::EDI,
];

fn push_all(l: &mut Lift, bytes: u16) {
    let sp = l.gpr(Register::RSP);
    for (index, register) in ALL.into_iter().enumerate() {
        let value = l.sized(register, bytes);
        let at = l.b.bin_constant(BinOp::Sub, sp, u64::from(bytes) * (index as u64 + 1));
        let at = l.stack(at);
        l.b.store(at, value);
    }
    let below = l.b.bin_constant(BinOp::Sub, sp, 8 * u64::from(bytes));
    l.b.copy(sp, below);
}

fn pop_all(l: &mut Lift, bytes: u16) {
    let sp = l.gpr(Register::RSP);
    let values: Vec<(Register, Varnode)> = ALL
        .into_iter()
        .rev()
        .enumerate()
        .map(|(index, register)| {
            let at = l.b.bin_constant(BinOp::Add, sp, u64::from(bytes) * index as u64);
            let at = l.stack(at);
            (register, l.b.load(at, bytes))
        })
        .collect();
    let above = l.b.bin_constant(BinOp::Add, sp, 8 * u64::from(bytes));
    for (register, value) in values.into_iter().filter(|(register, _)| *register != Register::ESP) {
        let place = l.sized(register, bytes);
        l.b.copy(place, value);
    }
    l.b.copy(sp, above);
}

/// A frame, with pointers to the frames that enclose it, as many as the second immediate says.
fn enter(l: &mut Lift, d: &Decoded) {
    let bytes = if d.code() == Code::Enterw_imm16_imm8 { 2 } else { l.word() };
    let step = u64::from(bytes);
    let (sp, bp) = (l.gpr(Register::RSP), l.gpr(Register::RBP));
    let level = d.immediate(1) & 31;
    let frame = l.b.bin_constant(BinOp::Sub, sp, step);
    // What is copied may have been pushed just before; whether it can be read is found out before anything is.
    for index in [1, level.saturating_sub(1)].into_iter().filter(|_| level > 1) {
        let from = l.b.bin_constant(BinOp::Sub, bp, step * index);
        let from = l.stack(from);
        l.b.load(from, bytes);
    }
    let (old, at) = (l.sized(Register::RBP, bytes), l.stack(frame));
    l.b.store(at, old);
    for index in 1..level {
        let from = l.b.bin_constant(BinOp::Sub, bp, step * index);
        let from = l.stack(from);
        let value = l.b.load(from, bytes);
        let to = l.b.bin_constant(BinOp::Sub, frame, step * index);
        let to = l.stack(to);
        l.b.store(to, value);
    }
    if level > 0 {
        let to = l.b.bin_constant(BinOp::Sub, frame, step * level);
        let (to, value) = (l.stack(to), fitted(l, frame, bytes));
        l.b.store(to, value);
    }
    let below = l.b.bin_constant(BinOp::Sub, frame, step * level + (d.immediate(0) & 0xffff));
    let (out, value) = (l.sized(Register::RBP, bytes), fitted(l, frame, bytes));
    l.b.copy(out, value);
    l.b.copy(sp, below);
}

/// A stack pointer in the size of an operand.
fn fitted(l: &mut Lift, pointer: Varnode, bytes: u16) -> Varnode {
    if bytes <= pointer.bytes { pointer.slice(0, bytes) } else { l.b.zext(pointer, bytes) }
}
