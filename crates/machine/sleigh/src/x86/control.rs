//! The stack and everything that changes the program counter.

use crate::x86::integer::pack_flags;
use crate::x86::operand::Lift;
use iced_x86::{Code, ConditionCode, Instruction as Decoded, Mnemonic, OpKind, Register};
use parallax_ir::{Flow, Op, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp};

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    match mnemonic {
        Jmp if is_near(d) => {
            let to = target(l, d);
            l.b.jump(None, to, Flow::Jump);
        }
        Call if is_near(d) => {
            let to = target(l, d);
            let to = l.b.snapshot(to);
            // With an operand of 16 bits, so is what is pushed.
            let bytes = (-d.stack_pointer_increment()) as u16;
            let back = l.constant(d.next_ip(), bytes);
            push(l, back);
            l.b.jump(None, to, Flow::Call);
        }
        Ret => {
            let short = matches!(d.code(), Code::Retnw | Code::Retnw_imm16);
            let bytes = if short { 2 } else { l.word() };
            let to = pop(l, bytes);
            let word = l.word();
            let to = l.b.zext(to, word);
            if d.op_count() == 1 {
                let sp = l.gpr(Register::RSP);
                let more = l.b.bin_constant(BinOp::Add, sp, d.immediate(0));
                l.b.copy(sp, more);
            }
            l.b.jump(None, to, Flow::Return);
        }
        Push => {
            if d.op_kind(0) == OpKind::Register && !d.op_register(0).is_gpr() {
                return false;
            }
            // Immediates are widened to the slot; a 16-bit push exists too.
            let bytes = if d.stack_pointer_increment() == -2 { 2 } else { l.word() };
            let value = l.read_sized(d, 0, bytes);
            push(l, value);
        }
        Pop => {
            if d.op_kind(0) == OpKind::Register && !d.op_register(0).is_gpr() {
                return false;
            }
            let bytes = if d.stack_pointer_increment() == 2 { 2 } else { l.word() };
            if l.is_memory(d, 0) {
                pop_to_memory(l, d, bytes);
            } else {
                let value = pop(l, bytes);
                l.write(d, 0, value);
            }
        }
        Leave => {
            let (sp, bp) = (l.gpr(Register::RSP), l.gpr(Register::RBP));
            let bytes = if d.code() == Code::Leavew { 2 } else { l.word() };
            let at = l.stack(bp);
            let value = l.b.load(at, bytes);
            let above = l.b.bin_constant(BinOp::Add, bp, u64::from(bytes));
            l.b.copy(sp, above);
            let out = l.sized(Register::RBP, bytes);
            l.b.copy(out, value);
        }
        Pushfq | Pushfd | Pushf => {
            let flags = pack_flags(l);
            let bytes = (-d.stack_pointer_increment()) as u16;
            let value = if bytes <= 4 { flags.slice(0, bytes) } else { l.b.zext(flags, bytes) };
            push(l, value);
        }
        Popfq | Popfd | Popf => {
            let value = pop(l, d.stack_pointer_increment() as u16);
            let named =
                [(0, l.r.cf), (2, l.r.pf), (4, l.r.af), (6, l.r.zf), (7, l.r.sf), (10, l.r.df), (11, l.r.of)];
            // Of the others a user program can change these three, and real mode whether interrupts are enabled.
            let real = l.bits == 16;
            let changes = |bit: u16| matches!(bit, 14 | 18 | 21) || real && bit == 9;
            let others: Vec<_> = l.r.other_flags.iter().copied().filter(|(bit, _)| changes(*bit)).collect();
            for (bit, flag) in named.into_iter().chain(others) {
                if u64::from(bit) < u64::from(value.width()) {
                    let set = l.b.bit(value, bit);
                    l.b.copy(flag, set);
                }
            }
        }
        Jcxz | Jecxz | Jrcxz | Loop | Loope | Loopne => counted(l, d, mnemonic),
        _ => return conditional(l, d),
    }
    true
}

fn is_near(d: &Decoded) -> bool {
    matches!(d.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64)
        || (matches!(d.op0_kind(), OpKind::Register | OpKind::Memory)
            && (d.is_jmp_near_indirect() || d.is_call_near_indirect()))
}

fn target(l: &mut Lift, d: &Decoded) -> Varnode {
    match d.op0_kind() {
        OpKind::Register | OpKind::Memory => {
            let to = l.read(d, 0);
            let word = l.word();
            l.b.zext(to, word)
        }
        _ => l.constant(d.near_branch_target(), l.word()),
    }
}

/// The store comes before the stack pointer moves, so that a fault leaves it alone.
pub(super) fn push(l: &mut Lift, value: Varnode) {
    let sp = l.gpr(Register::RSP);
    let below = l.b.bin_constant(BinOp::Sub, sp, u64::from(value.bytes));
    let at = l.stack(below);
    l.b.store(at, value);
    l.b.copy(sp, below);
}

pub(super) fn pop(l: &mut Lift, bytes: u16) -> Varnode {
    let sp = l.gpr(Register::RSP);
    let at = l.stack(sp);
    let value = l.b.load(at, bytes);
    let above = l.b.bin_constant(BinOp::Add, sp, u64::from(bytes));
    l.b.copy(sp, above);
    value
}

/// The address is made with the stack pointer as it will be, but that must not change before the store, which may fault.
fn pop_to_memory(l: &mut Lift, d: &Decoded, bytes: u16) {
    let sp = l.gpr(Register::RSP);
    let at = l.stack(sp);
    let value = l.b.load(at, bytes);
    let below = l.b.snapshot(sp);
    let above = l.b.bin_constant(BinOp::Add, sp, u64::from(bytes));
    l.b.copy(sp, above);
    let address = l.address(d);
    // It may be the stack pointer itself.
    let address = l.b.snapshot(address);
    l.b.copy(sp, below);
    l.b.store(address, value);
    l.b.copy(sp, above);
}

/// `loop` and `jrcxz`: the counter has the size of an address.
fn counted(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) {
    let bytes = match mnemonic {
        Mnemonic::Jecxz => 4,
        Mnemonic::Jrcxz => 8,
        Mnemonic::Jcxz => 2,
        _ => counter_bytes(d.code()),
    };
    let counter = l.sized(Register::RCX, bytes);
    let to = l.constant(d.near_branch_target(), l.word());
    if matches!(mnemonic, Mnemonic::Jcxz | Mnemonic::Jecxz | Mnemonic::Jrcxz) {
        let none = l.b.rel_constant(RelOp::Eq, counter, 0);
        l.b.jump(Some(none), to, Flow::Jump);
        return;
    }
    let less = l.b.bin_constant(BinOp::Sub, counter, 1);
    if l.bits == 64 && bytes == 4 {
        let out = l.gpr(Register::RCX);
        l.b.push(Op::Zext { out, a: less });
    } else {
        l.b.copy(counter, less);
    }
    let mut again = l.b.rel_constant(RelOp::Ne, less, 0);
    let zf = l.r.zf;
    match mnemonic {
        Mnemonic::Loope => again = l.b.bool(BoolOp::And, again, zf),
        Mnemonic::Loopne => {
            let different = l.b.not(zf);
            again = l.b.bool(BoolOp::And, again, different);
        }
        _ => {}
    }
    l.b.jump(Some(again), to, Flow::Jump);
}

fn counter_bytes(code: Code) -> u16 {
    use Code::*;
    match code {
        Loop_rel8_16_CX | Loop_rel8_32_CX | Loope_rel8_16_CX | Loope_rel8_32_CX | Loopne_rel8_16_CX
        | Loopne_rel8_32_CX => 2,
        Loop_rel8_16_RCX | Loop_rel8_64_RCX | Loope_rel8_16_RCX | Loope_rel8_64_RCX | Loopne_rel8_16_RCX
        | Loopne_rel8_64_RCX => 8,
        _ => 4,
    }
}

/// Jumps, moves and sets under a condition.
fn conditional(l: &mut Lift, d: &Decoded) -> bool {
    let code = match d.condition_code() {
        ConditionCode::None => return false,
        code => condition_number(code),
    };
    if d.is_jcc_short_or_near() {
        let to = l.constant(d.near_branch_target(), l.word());
        let when = l.condition(code);
        l.b.jump(Some(when), to, Flow::Jump);
        return true;
    }
    if is_set(d.mnemonic()) {
        let when = l.condition(code);
        let value = l.b.zext(when, 1);
        l.write(d, 0, value);
        return true;
    }
    if is_move(d.mnemonic()) {
        // The source is read, and the destination written, whatever the condition says.
        let other = l.read(d, 1);
        let own = l.read(d, 0);
        let when = l.condition(code);
        let value = l.b.select(when, other, own);
        l.write(d, 0, value);
        return true;
    }
    false
}

fn is_set(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Seto | Setno
            | Setb
            | Setae
            | Sete
            | Setne
            | Setbe
            | Seta
            | Sets
            | Setns
            | Setp
            | Setnp
            | Setl
            | Setge
            | Setle
            | Setg
    )
}

fn is_move(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Cmovo
            | Cmovno
            | Cmovb
            | Cmovae
            | Cmove
            | Cmovne
            | Cmovbe
            | Cmova
            | Cmovs
            | Cmovns
            | Cmovp
            | Cmovnp
            | Cmovl
            | Cmovge
            | Cmovle
            | Cmovg
    )
}

/// As the opcode has it: the lowest bit negates.
fn condition_number(code: ConditionCode) -> u8 {
    match code {
        ConditionCode::o => 0,
        ConditionCode::no => 1,
        ConditionCode::b => 2,
        ConditionCode::ae => 3,
        ConditionCode::e => 4,
        ConditionCode::ne => 5,
        ConditionCode::be => 6,
        ConditionCode::a => 7,
        ConditionCode::s => 8,
        ConditionCode::ns => 9,
        ConditionCode::p => 10,
        ConditionCode::np => 11,
        ConditionCode::l => 12,
        ConditionCode::ge => 13,
        ConditionCode::le => 14,
        _ => 15,
    }
}
