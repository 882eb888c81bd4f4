//! String operations. With a repeat prefix an instruction does one step and has itself as one of its successors.

use crate::x86::operand::Lift;
use iced_x86::{Instruction as Decoded, Mnemonic, OpKind, Register};
use parallax_ir::{Flow, Op, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp};

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let bytes: u16 = match mnemonic {
        Movsb | Stosb | Lodsb | Scasb | Cmpsb => 1,
        Movsw | Stosw | Lodsw | Scasw | Cmpsw => 2,
        Movsd | Stosd | Lodsd | Scasd | Cmpsd => 4,
        Movsq | Stosq | Lodsq | Scasq | Cmpsq => 8,
        _ => return false,
    };
    // `movsd` and `cmpsd` are also names of SSE instructions.
    let is_string = |kind: OpKind| {
        matches!(
            kind,
            OpKind::MemoryESRDI
                | OpKind::MemoryESEDI
                | OpKind::MemoryESDI
                | OpKind::MemorySegRSI
                | OpKind::MemorySegESI
                | OpKind::MemorySegSI
        )
    };
    let Some(kind) = (0..d.op_count()).map(|index| d.op_kind(index)).find(|kind| is_string(*kind)) else {
        return false;
    };
    let address_bytes = match kind {
        OpKind::MemoryESDI | OpKind::MemorySegSI => 2,
        OpKind::MemoryESEDI | OpKind::MemorySegESI => 4,
        _ => 8,
    };
    let repeats = d.has_rep_prefix() || d.has_repne_prefix();
    let counter = l.sized(Register::RCX, address_bytes);
    let end = l.b.label();
    if repeats {
        let none = l.b.rel_constant(RelOp::Eq, counter, 0);
        l.b.branch(Some(none), end);
    }
    let target = |l: &mut Lift| {
        let place = l.sized(Register::RDI, address_bytes);
        l.linear(Register::ES, place)
    };
    let source = |l: &mut Lift| {
        let place = l.sized(Register::RSI, address_bytes);
        let address = l.linear(d.memory_segment(), place);
        l.b.load(address, bytes)
    };
    let mut compares = false;
    match mnemonic {
        Movsb | Movsw | Movsd | Movsq => {
            let value = source(l);
            let to = target(l);
            l.b.store(to, value);
            advance(l, Register::RSI, bytes, address_bytes);
            advance(l, Register::RDI, bytes, address_bytes);
        }
        Stosb | Stosw | Stosd | Stosq => {
            let value = l.sized(Register::RAX, bytes);
            let to = target(l);
            l.b.store(to, value);
            advance(l, Register::RDI, bytes, address_bytes);
        }
        Lodsb | Lodsw | Lodsd | Lodsq => {
            let value = source(l);
            set(l, Register::RAX, value);
            advance(l, Register::RSI, bytes, address_bytes);
        }
        _ => {
            compares = true;
            let scans = matches!(mnemonic, Scasb | Scasw | Scasd | Scasq);
            let a = if scans { l.sized(Register::RAX, bytes) } else { source(l) };
            let to = target(l);
            let b = l.b.load(to, bytes);
            l.sub(a, b, None);
            if !scans {
                advance(l, Register::RSI, bytes, address_bytes);
            }
            advance(l, Register::RDI, bytes, address_bytes);
        }
    }
    if repeats {
        let less = l.b.bin_constant(BinOp::Sub, counter, 1);
        set(l, Register::RCX, less);
        let mut again = l.b.rel_constant(RelOp::Ne, less, 0);
        if compares {
            let wanted = if d.has_repne_prefix() { l.b.not(l.r.zf) } else { l.r.zf };
            again = l.b.bool(BoolOp::And, again, wanted);
        }
        let itself = l.constant(d.ip(), l.word());
        l.b.jump(Some(again), itself, Flow::Jump);
    }
    l.b.place(end);
    true
}

/// Moves a pointer by the size of an element, in the direction that DF gives.
fn advance(l: &mut Lift, register: Register, bytes: u16, address_bytes: u16) {
    let place = l.sized(register, address_bytes);
    let step = u64::from(bytes);
    let up = l.b.bin_constant(BinOp::Add, place, step);
    let down = l.b.bin_constant(BinOp::Sub, place, step);
    let next = l.b.select(l.r.df, down, up);
    set(l, register, next);
}

fn set(l: &mut Lift, register: Register, value: Varnode) {
    if l.bits == 64 && value.bytes == 4 {
        let out = l.gpr(register);
        l.b.push(Op::Zext { out, a: value });
    } else {
        let out = l.sized(register, value.bytes);
        l.b.copy(out, value);
    }
}
