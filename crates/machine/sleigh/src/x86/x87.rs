//! The x87.
//!
//! `ST0` is always the top of the stack: pushing and popping move the values, and the top field of the status word
//! counts along. So does the tag word, which is kept relative to the top too, as pairs of equal bits: ones for a register
//! that is empty. What it looks like to a program is made when it is stored. The pointers to the last instruction and
//! operand are not kept.

use crate::x86::float::compare_flags;
use crate::x86::operand::Lift;
use crate::x86::{x87_functions, x87_image};
use iced_x86::{Instruction as Decoded, Mnemonic, OpKind};
use parallax_ir::{Intrinsic, Label, Op, ScalarOp, Trap, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp};

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    if !waits(mnemonic) {
        return control(l, d, mnemonic);
    }
    wait(l);
    moves(l, d, mnemonic)
        || computes(l, d, mnemonic)
        || compares(l, d, mnemonic)
        || x87_functions::lift(l, mnemonic)
        || x87_image::lift(l, d, mnemonic)
        || matches!(mnemonic, Wait)
}

/// An exception that is not masked is reported when the next instruction comes along that waits for it.
pub(super) fn wait(l: &mut Lift) {
    let summary = l.b.bit(l.r.status_word, 7);
    l.b.trap(Some(summary), Trap::Float);
}

/// Whether it is of the x87 and looks for exceptions first. Others may be of the x87 or not.
fn waits(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Fld | Fild
            | Fld1
            | Fldz
            | Fldpi
            | Fldl2e
            | Fldl2t
            | Fldlg2
            | Fldln2
            | Fst
            | Fstp
            | Fist
            | Fistp
            | Fisttp
            | Fadd
            | Faddp
            | Fiadd
            | Fsub
            | Fsubp
            | Fisub
            | Fsubr
            | Fsubrp
            | Fisubr
            | Fmul
            | Fmulp
            | Fimul
            | Fdiv
            | Fdivp
            | Fidiv
            | Fdivr
            | Fdivrp
            | Fidivr
            | Fsqrt
            | Frndint
            | Fchs
            | Fabs
            | Fxch
            | Fcomi
            | Fcomip
            | Fucomi
            | Fucomip
            | Fcom
            | Fcomp
            | Fucom
            | Fucomp
            | Ficom
            | Ficomp
            | Fcompp
            | Fucompp
            | Ftst
            | Fxam
            | Fcmovb
            | Fcmove
            | Fcmovbe
            | Fcmovu
            | Fcmovnb
            | Fcmovne
            | Fcmovnbe
            | Fcmovnu
            | Fldcw
            | Fincstp
            | Fdecstp
            | Fprem
            | Fprem1
            | Fscale
            | Fxtract
            | Fbld
            | Fbstp
            | Fsin
            | Fcos
            | Fsincos
            | Fptan
            | Fpatan
            | F2xm1
            | Fyl2x
            | Fyl2xp1
            | Ffree
            | Ffreep
            | Fnop
            | Wait
            | Fldenv
            | Frstor
    )
}

/// What an x87 function of the instruction language gave.
pub(super) struct Answer {
    pub value: Varnode,
    status: Varnode,
    pub codes: Varnode,
    /// Whether an exception that is not masked holds the instruction up.
    held: Varnode,
}

/// Calls a function for a value of `bytes` bytes; `empty` says whether an operand is missing.
pub(super) fn ask(l: &mut Lift, call: Intrinsic, bytes: u16, operands: &[Varnode], empty: Varnode) -> Answer {
    let mut arguments = operands.to_vec();
    arguments.extend([l.r.control_word, l.r.status_word, empty]);
    let all = l.b.call(call, bytes + 4, &arguments);
    Answer {
        value: all.slice(0, bytes),
        status: all.slice(bytes, 2),
        codes: all.slice(bytes + 2, 1),
        held: all.slice(bytes + 3, 1),
    }
}

/// Puts the status away, and C1, and leaves for the end if the instruction is held up.
pub(super) fn settle(l: &mut Lift, answer: &Answer, end: Label) {
    let c1 = l.b.bit(answer.codes, 1);
    l.b.copy(l.r.c[1], c1);
    settle_status(l, answer, end);
}

/// The same for what leaves C1 alone, unless a register is empty.
fn settle_but_c1(l: &mut Lift, answer: &Answer, empty: Varnode, end: Label) {
    let there = l.b.not(empty);
    let c1 = l.r.c[1];
    l.b.push(Op::Bool { op: BoolOp::And, out: c1, a: c1, b: there });
    settle_status(l, answer, end);
}

fn settle_status(l: &mut Lift, answer: &Answer, end: Label) {
    l.b.copy(l.r.status_word, answer.status);
    l.b.branch(Some(answer.held), end);
}

/// Whether any of these registers is empty.
pub(super) fn any_empty(l: &mut Lift, registers: &[usize]) -> Varnode {
    let mask = registers.iter().fold(0, |mask, index| mask | 1u64 << (2 * index));
    let bits = l.b.bin_constant(BinOp::And, l.r.tag_word, mask);
    l.b.rel_constant(RelOp::Ne, bits, 0)
}

/// Marks a register as holding something.
pub(super) fn fill(l: &mut Lift, index: usize) {
    let tags = l.b.bin_constant(BinOp::And, l.r.tag_word, !(3 << (2 * index)) & 0xffff);
    l.b.copy(l.r.tag_word, tags);
}

fn stack_register(d: &Decoded, index: u32) -> usize {
    d.op_register(index).number()
}

/// Moves the top field of the status word by `by`, modulo 8.
fn turn(l: &mut Lift, by: u64) {
    let word = l.r.status_word;
    let moved = l.b.bin_constant(BinOp::Add, word, by);
    let top = l.b.bin_constant(BinOp::And, moved, 0x3800);
    let rest = l.b.bin_constant(BinOp::And, word, 0xc7ff);
    l.b.push(Op::Bin { op: BinOp::Or, out: word, a: top, b: rest });
}

/// Every register one place further from the top, the last one on top; the tags go along.
fn turn_up(l: &mut Lift) {
    let last = l.b.snapshot(l.r.st[7]);
    for index in (1..8).rev() {
        let (to, from) = (l.r.st[index], l.r.st[index - 1]);
        l.b.copy(to, from);
    }
    let top = l.r.st[0];
    l.b.copy(top, last);
    turn(l, 0x3800);
    rotate_tags(l, 2);
}

/// Every register one place closer to the top, which goes around to the bottom, where the processor leaves it.
fn turn_down(l: &mut Lift) {
    let gone = l.b.snapshot(l.r.st[0]);
    for index in 0..7 {
        let (to, from) = (l.r.st[index], l.r.st[index + 1]);
        l.b.copy(to, from);
    }
    let bottom = l.r.st[7];
    l.b.copy(bottom, gone);
    turn(l, 0x800);
    rotate_tags(l, 14);
}

fn rotate_tags(l: &mut Lift, left: u64) {
    let tags = l.r.tag_word;
    let high = l.b.bin_constant(BinOp::Shl, tags, left);
    let low = l.b.bin_constant(BinOp::Lshr, tags, 16 - left);
    l.b.push(Op::Bin { op: BinOp::Or, out: tags, a: high, b: low });
}

/// Whether there is no room on top of the stack.
pub(super) fn is_full(l: &mut Lift) -> Varnode {
    let empty = any_empty(l, &[7]);
    l.b.not(empty)
}

/// Pushes what a function makes of a value, or the indefinite one if there is no room.
pub(super) fn push_as(l: &mut Lift, call: Intrinsic, value: Varnode, full: Varnode, end: Label) {
    let answer = ask(l, call, 10, &[value], full);
    settle(l, &answer, end);
    turn_up(l);
    l.b.copy(l.r.st[0], answer.value);
    fill(l, 0);
}

pub(super) fn push(l: &mut Lift, value: Varnode, end: Label) {
    let full = is_full(l);
    push_as(l, Intrinsic::ExtendedMove { on_top: true }, value, full, end);
}

pub(super) fn pop(l: &mut Lift) {
    turn_down(l);
    let tags = l.b.bin_constant(BinOp::Or, l.r.tag_word, 0xc000);
    l.b.copy(l.r.tag_word, tags);
}

fn moves(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let st0 = l.r.st[0];
    let end = l.b.label();
    match mnemonic {
        Fld if l.is_memory(d, 0) => {
            let value = l.read(d, 0);
            if value.bytes == 10 {
                push(l, value, end);
            } else {
                let full = is_full(l);
                push_as(l, Intrinsic::ExtendedFromFloat, value, full, end);
            }
        }
        Fld => {
            let from = stack_register(d, 0);
            let empty = any_empty(l, &[from]);
            let answer = ask(l, Intrinsic::ExtendedMove { on_top: false }, 10, &[l.r.st[from]], empty);
            settle(l, &answer, end);
            // One trouble is enough.
            let (full, there) = (is_full(l), l.b.not(empty));
            let full = l.b.bool(BoolOp::And, full, there);
            push_as(l, Intrinsic::ExtendedMove { on_top: true }, answer.value, full, end);
        }
        Fild => {
            let a = l.read(d, 0);
            let value = from_int(l, a);
            push(l, value, end);
        }
        Fld1 | Fldz | Fldpi | Fldl2e | Fldl2t | Fldlg2 | Fldln2 => {
            let value = constant(l, mnemonic);
            push(l, value, end);
        }
        Fst | Fstp => {
            let empty = any_empty(l, &[0]);
            let bytes = if l.is_memory(d, 0) { l.size(d, 0) } else { 10 };
            let call = if bytes == 10 {
                Intrinsic::ExtendedMove { on_top: false }
            } else {
                Intrinsic::ExtendedToFloat
            };
            let answer = ask(l, call, bytes, &[st0], empty);
            store(l, d, &answer, end);
            if mnemonic == Fstp {
                pop(l);
            }
        }
        Fbld => {
            let value = l.read(d, 0);
            let full = is_full(l);
            push_as(l, Intrinsic::ExtendedFromDecimal, value, full, end);
        }
        Fbstp => {
            let empty = any_empty(l, &[0]);
            let answer = ask(l, Intrinsic::ExtendedToDecimal, 10, &[st0], empty);
            store(l, d, &answer, end);
            pop(l);
        }
        Fist | Fistp | Fisttp => {
            let empty = any_empty(l, &[0]);
            let bytes = l.size(d, 0);
            let truncate = mnemonic == Fisttp;
            let answer = ask(l, Intrinsic::ExtendedToInt { truncate }, bytes, &[st0], empty);
            store(l, d, &answer, end);
            if mnemonic != Fist {
                pop(l);
            }
        }
        Fxch => {
            let other = stack_register(d, 1);
            let (first, second) = (l.b.snapshot(st0), l.b.snapshot(l.r.st[other]));
            let exchange = Intrinsic::ExtendedMove { on_top: false };
            let empty = any_empty(l, &[other]);
            let incoming = ask(l, exchange, 10, &[second], empty);
            let missing = any_empty(l, &[0]);
            settle(l, &incoming, end);
            let outgoing = ask(l, exchange, 10, &[first], missing);
            settle(l, &outgoing, end);
            l.b.copy(st0, incoming.value);
            l.b.copy(l.r.st[other], outgoing.value);
            fill(l, 0);
            fill(l, other);
        }
        Fcmovb | Fcmove | Fcmovbe | Fcmovu | Fcmovnb | Fcmovne | Fcmovnbe | Fcmovnu => {
            let code = match mnemonic {
                Fcmovb => 2,
                Fcmovnb => 3,
                Fcmove => 4,
                Fcmovne => 5,
                Fcmovbe => 6,
                Fcmovnbe => 7,
                Fcmovu => 10,
                _ => 11,
            };
            let when = l.condition(code);
            let other = stack_register(d, 1);
            let empty = any_empty(l, &[0, other]);
            let chosen = l.b.select(when, l.r.st[other], st0);
            let answer = ask(l, Intrinsic::ExtendedMove { on_top: false }, 10, &[chosen], empty);
            settle_but_c1(l, &answer, empty, end);
            l.b.copy(st0, answer.value);
            fill(l, 0);
        }
        Fincstp | Fdecstp => {
            l.clear(l.r.c[1]);
            if mnemonic == Fincstp { turn_down(l) } else { turn_up(l) }
        }
        Ffree | Ffreep => {
            let index = stack_register(d, 0);
            let tags = l.b.bin_constant(BinOp::Or, l.r.tag_word, 3 << (2 * index));
            l.b.copy(l.r.tag_word, tags);
            if mnemonic == Ffreep {
                l.clear(l.r.c[1]);
                pop(l);
            }
        }
        Fnop => {}
        _ => {
            l.b.place(end);
            return false;
        }
    }
    l.b.place(end);
    true
}

/// Writes operand 0, unless held up. Memory comes before the status word: the access may fault.
fn store(l: &mut Lift, d: &Decoded, answer: &Answer, end: Label) {
    if l.is_memory(d, 0) {
        let held = l.b.label();
        l.b.branch(Some(answer.held), held);
        l.write(d, 0, answer.value);
        l.b.place(held);
        settle(l, answer, end);
    } else {
        let to = stack_register(d, 0);
        settle(l, answer, end);
        l.b.copy(l.r.st[to], answer.value);
        fill(l, to);
    }
}

/// A constant, rounded from the longer one that the processor knows.
fn constant(l: &mut Lift, mnemonic: Mnemonic) -> Varnode {
    use Mnemonic::*;
    // Sign and exponent, the significand cut off, and whether to nearest is up.
    let (high, low, nearest_is_up, exact) = match mnemonic {
        Fld1 => (0x3fff, 0x8000_0000_0000_0000, false, true),
        Fldpi => (0x4000, 0xc90f_daa2_2168_c234, true, false),
        Fldl2e => (0x3fff, 0xb8aa_3b29_5c17_f0bb, true, false),
        Fldl2t => (0x4000, 0xd49a_784b_cd1b_8afe, false, false),
        Fldlg2 => (0x3ffd, 0x9a20_9a84_fbcf_f798, true, false),
        Fldln2 => (0x3ffe, 0xb172_17f7_d1cf_79ab, true, false),
        _ => (0, 0, false, true),
    };
    let low = l.constant(low, 8);
    let high = l.constant(high, 2);
    if exact {
        return l.b.concat(high, low);
    }
    let field = l.b.bin_constant(BinOp::And, l.r.control_word, 0xc00);
    let mut up = l.b.rel_constant(RelOp::Eq, field, 0x800);
    if nearest_is_up {
        let nearest = l.b.rel_constant(RelOp::Eq, field, 0);
        up = l.b.bool(BoolOp::Or, up, nearest);
    }
    let more = l.b.zext(up, 8);
    let rounded = l.b.bin(BinOp::Add, low, more);
    l.b.concat(high, rounded)
}

fn from_int(l: &mut Lift, a: Varnode) -> Varnode {
    let out = l.b.temporary(10);
    l.b.push(Op::FloatFromInt { out, a });
    out
}

fn computes(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    use ScalarOp as S;
    let (op, reversed) = match mnemonic {
        Fadd | Faddp | Fiadd => (S::Add, false),
        Fsub | Fsubp | Fisub => (S::Sub, false),
        Fsubr | Fsubrp | Fisubr => (S::Sub, true),
        Fmul | Fmulp | Fimul => (S::Mul, false),
        Fdiv | Fdivp | Fidiv => (S::Div, false),
        Fdivr | Fdivrp | Fidivr => (S::Div, true),
        Fsqrt | Frndint | Fchs | Fabs => {
            on_top(l, mnemonic);
            return true;
        }
        _ => return false,
    };
    let end = l.b.label();
    let integer = matches!(mnemonic, Fiadd | Fisub | Fisubr | Fimul | Fidiv | Fidivr);
    let (to, other, empty) = if l.is_memory(d, 0) {
        let value = l.read(d, 0);
        // A narrow float is handed over as it is: widening would lose that it is denormal, or signals.
        let other = if integer { from_int(l, value) } else { value };
        let empty = any_empty(l, &[0]);
        (0, other, empty)
    } else {
        let (to, other) = (stack_register(d, 0), stack_register(d, 1));
        let empty = any_empty(l, &[to, other]);
        (to, l.r.st[other], empty)
    };
    let own = l.r.st[to];
    let (a, b) = if reversed { (other, own) } else { (own, other) };
    let answer = ask(l, Intrinsic::Extended(op), 10, &[a, b], empty);
    settle(l, &answer, end);
    l.b.copy(own, answer.value);
    fill(l, to);
    if matches!(mnemonic, Faddp | Fsubp | Fsubrp | Fmulp | Fdivp | Fdivrp) {
        pop(l);
    }
    l.b.place(end);
    true
}

fn on_top(l: &mut Lift, mnemonic: Mnemonic) {
    let end = l.b.label();
    let st0 = l.r.st[0];
    let empty = any_empty(l, &[0]);
    let answer = match mnemonic {
        Mnemonic::Fsqrt => ask(l, Intrinsic::Extended(ScalarOp::Sqrt), 10, &[st0, st0], empty),
        Mnemonic::Frndint => ask(l, Intrinsic::ExtendedRound, 10, &[st0], empty),
        _ => {
            let out = l.b.temporary(10);
            l.b.push(match mnemonic {
                Mnemonic::Fchs => Op::FloatNeg { out, a: st0 },
                _ => Op::FloatAbs { out, a: st0 },
            });
            ask(l, Intrinsic::ExtendedMove { on_top: false }, 10, &[out], empty)
        }
    };
    settle(l, &answer, end);
    l.b.copy(st0, answer.value);
    fill(l, 0);
    l.b.place(end);
}

fn compares(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let st0 = l.r.st[0];
    let end = l.b.label();
    let strict = !matches!(mnemonic, Fucomi | Fucomip | Fucom | Fucomp | Fucompp);
    let compare = Intrinsic::ExtendedCompare { strict };
    match mnemonic {
        Fcomi | Fcomip | Fucomi | Fucomip => {
            let other = stack_register(d, 1);
            let empty = any_empty(l, &[0, other]);
            let answer = ask(l, compare, 1, &[st0, l.r.st[other]], empty);
            // The flags are set even if the instruction is held up.
            compare_flags(l, [(answer.codes, 0), (answer.codes, 3), (answer.codes, 2)]);
            settle_but_c1(l, &answer, empty, end);
        }
        Fcom | Fcomp | Fucom | Fucomp | Ficom | Ficomp | Fcompp | Fucompp | Ftst => {
            let (other, empty) = match mnemonic {
                Ftst => {
                    let (high, low) = (l.constant(0, 2), l.constant(0, 8));
                    (l.b.concat(high, low), any_empty(l, &[0]))
                }
                Fcompp | Fucompp => (l.r.st[1], any_empty(l, &[0, 1])),
                _ if d.op_kind(0) == OpKind::Memory => {
                    let a = l.read(d, 0);
                    let value = if matches!(mnemonic, Ficom | Ficomp) { from_int(l, a) } else { a };
                    (value, any_empty(l, &[0]))
                }
                _ => {
                    let index = stack_register(d, d.op_count() - 1);
                    (l.r.st[index], any_empty(l, &[0, index]))
                }
            };
            let answer = ask(l, compare, 1, &[st0, other], empty);
            condition_codes(l, &answer);
            settle(l, &answer, end);
        }
        Fxam => examine(l),
        _ => {
            l.b.place(end);
            return false;
        }
    }
    match mnemonic {
        Fcomip | Fucomip | Fcomp | Fucomp | Ficomp => pop(l),
        Fcompp | Fucompp => {
            pop(l);
            pop(l);
        }
        _ => {}
    }
    l.b.place(end);
    true
}

/// C0, C2 and C3 as the function says.
pub(super) fn condition_codes(l: &mut Lift, answer: &Answer) {
    for index in [0, 2, 3] {
        let set = l.b.bit(answer.codes, index);
        l.b.copy(l.r.c[usize::from(index)], set);
    }
}

/// The class of a float: C0 for what is not a number and infinity, C2 for normal and infinite, C3 for zero and, with
/// C2, denormal; C0 and C3 for an empty register.
fn examine(l: &mut Lift) {
    let a = l.r.st[0];
    let high = a.slice(8, 2);
    let fraction = a.slice(0, 8);
    let exponent = l.b.bin_constant(BinOp::And, high, 0x7fff);
    let large = l.b.rel_constant(RelOp::Eq, exponent, 0x7fff);
    let small = l.b.rel_constant(RelOp::Eq, exponent, 0);
    let none = l.b.rel_constant(RelOp::Eq, fraction, 0);
    let unit = l.b.rel_constant(RelOp::Eq, fraction, 1 << 63);
    let integer_bit = l.sign(fraction);
    let [c0, c1, c2, c3] = l.r.c;
    let and = |l: &mut Lift, x, y| l.b.bool(BoolOp::And, x, y);
    let zero = and(l, small, none);
    let not_none = l.b.not(none);
    let denormal = and(l, small, not_none);
    let infinite = and(l, large, unit);
    let supported_large = and(l, large, integer_bit);
    let neither = {
        let large_or_small = l.b.bool(BoolOp::Or, large, small);
        l.b.not(large_or_small)
    };
    let normal = and(l, neither, integer_bit);
    let empty = any_empty(l, &[0]);
    let there = l.b.not(empty);
    let sign = l.sign(high);
    l.b.copy(c1, sign);
    l.b.push(Op::Bool { op: BoolOp::Or, out: c0, a: supported_large, b: empty });
    let finite_or_infinite = l.b.bool(BoolOp::Or, normal, infinite);
    let second = l.b.bool(BoolOp::Or, finite_or_infinite, denormal);
    l.b.push(Op::Bool { op: BoolOp::And, out: c2, a: second, b: there });
    let third = l.b.bool(BoolOp::Or, zero, denormal);
    l.b.push(Op::Bool { op: BoolOp::Or, out: c3, a: third, b: empty });
}

/// Instructions that look at the unit as it is, exceptions pending or not.
fn control(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    match mnemonic {
        Fnstcw => {
            let value = l.r.control_word;
            l.write(d, 0, value);
        }
        Fnstsw => {
            let value = x87_image::status(l);
            l.write(d, 0, value);
        }
        Fnclex => {
            let word = l.r.status_word;
            let value = l.b.bin_constant(BinOp::And, word, 0x3800);
            l.b.copy(word, value);
        }
        Fninit => initialise(l),
        Emms => {
            wait(l);
            let top = l.constant(0, 2);
            set_top(l, top);
            let empty = l.constant(0xffff, 2);
            l.b.copy(l.r.tag_word, empty);
        }
        _ => return x87_image::store(l, d, mnemonic),
    }
    true
}

/// The unit as it is when a program starts. The values stay in their registers, of which number 0 is now on top.
pub(super) fn initialise(l: &mut Lift) {
    let top = l.constant(0, 2);
    set_top(l, top);
    let control = l.constant(0x37f, 2);
    let zero = l.constant(0, 2);
    let empty = l.constant(0xffff, 2);
    l.b.copy(l.r.control_word, control);
    l.b.copy(l.r.status_word, zero);
    l.b.copy(l.r.tag_word, empty);
    for flag in l.r.c {
        l.clear(flag);
    }
}

/// Puts the top field of the status word to that of another, and moves the values, which stay in their registers while
/// another register becomes the top.
pub(super) fn set_top(l: &mut Lift, status: Varnode) {
    let word = l.r.status_word;
    let own = l.b.bin_constant(BinOp::And, word, 0x3800);
    let top = l.b.bin_constant(BinOp::And, status, 0x3800);
    let further = l.b.bin(BinOp::Sub, top, own);
    let distance = l.b.bin_constant(BinOp::And, further, 0x3800);
    let same = l.b.rel_constant(RelOp::Eq, distance, 0);
    let done = l.b.label();
    l.b.branch(Some(same), done);
    for (bit, places) in [(11, 1), (12, 2), (13, 4)] {
        let turned = l.b.bit(distance, bit);
        let before: Vec<Varnode> = l.r.st.iter().map(|st| l.b.snapshot(*st)).collect();
        for (index, register) in l.r.st.into_iter().enumerate() {
            let then = before[(index + places) % 8];
            l.b.push(Op::Select { out: register, when: turned, then, otherwise: before[index] });
        }
    }
    let rest = l.b.bin_constant(BinOp::And, word, 0xc7ff);
    l.b.push(Op::Bin { op: BinOp::Or, out: word, a: rest, b: top });
    l.b.place(done);
}

/// What every MMX instruction does once nothing can fault: the registers are no stack any more.
pub(super) fn enter_mmx(l: &mut Lift) {
    let zero = l.constant(0, 2);
    set_top(l, zero);
}

/// What it does last, when no access can fault any more: all registers hold something.
pub(super) fn leave_mmx(l: &mut Lift) {
    let zero = l.constant(0, 2);
    l.b.copy(l.r.tag_word, zero);
}
