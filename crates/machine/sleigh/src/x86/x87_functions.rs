//! The functions of the x87: remainders, scaling, taking numbers apart, and the transcendental ones.

use crate::x86::operand::Lift;
use crate::x86::x87::{any_empty, ask, fill, is_full, pop, push_as, settle};
use iced_x86::Mnemonic;
use parallax_ir::{Intrinsic, Op, Transcendental, Varnode};
use parallax_op::BoolOp;

/// Builds the operations if the mnemonic belongs here.
pub(super) fn lift(l: &mut Lift, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    use Transcendental as T;
    let function = Intrinsic::ExtendedTranscendental;
    match mnemonic {
        Fprem => of_two(l, Intrinsic::ExtendedRemainder { nearest: false }, true),
        Fprem1 => of_two(l, Intrinsic::ExtendedRemainder { nearest: true }, true),
        Fscale => of_two(l, Intrinsic::ExtendedScale, false),
        Fxtract => extract(l),
        Fsin => of_top(l, function(T::Sine), None),
        Fcos => of_top(l, function(T::Cosine), None),
        Fsincos => of_top(l, function(T::Sine), Some(function(T::Cosine))),
        Fptan => of_top(l, function(T::Tangent), Some(Intrinsic::ExtendedMove { on_top: true })),
        F2xm1 => of_top(l, function(T::PowerMinusOne), None),
        Fpatan => popping(l, function(T::ArcTangent)),
        Fyl2x => popping(l, function(T::TimesLogarithm)),
        Fyl2xp1 => popping(l, function(T::TimesLogarithmOfOneMore)),
        _ => return false,
    }
    true
}

/// `ST0 = f(ST0, ST1)`, with or without an answer in the condition codes.
fn of_two(l: &mut Lift, call: Intrinsic, answers: bool) {
    let end = l.b.label();
    let empty = any_empty(l, &[0, 1]);
    let [st0, st1, ..] = l.r.st;
    let answer = ask(l, call, 10, &[st0, st1], empty);
    if answers {
        let says = l.b.bit(answer.codes, 4);
        let [c0, _, c2, c3] = l.r.c;
        for (code, bit) in [(c0, 0), (c3, 3)] {
            let then = l.b.bit(answer.codes, bit);
            l.b.push(Op::Select { out: code, when: says, then, otherwise: code });
        }
        let partial = l.b.bit(answer.codes, 2);
        l.b.push(Op::Bool { op: BoolOp::And, out: c2, a: partial, b: says });
    }
    settle(l, &answer, end);
    l.b.copy(st0, answer.value);
    fill(l, 0);
    l.b.place(end);
}

/// `ST1 = f(ST0, ST1)`, then pop.
fn popping(l: &mut Lift, call: Intrinsic) {
    let end = l.b.label();
    let empty = any_empty(l, &[0, 1]);
    let [st0, st1, ..] = l.r.st;
    let answer = ask(l, call, 10, &[st0, st1], empty);
    settle(l, &answer, end);
    l.b.copy(st1, answer.value);
    fill(l, 1);
    pop(l);
    l.b.place(end);
}

/// `ST0 = f(ST0)`, and then something pushed: another function of the same operand, or one. An operand out of range stays,
/// and nothing is pushed.
fn of_top(l: &mut Lift, call: Intrinsic, then: Option<Intrinsic>) {
    let end = l.b.label();
    let st0 = l.r.st[0];
    let operand = l.b.snapshot(st0);
    let empty = any_empty(l, &[0]);
    let fault = match then {
        // No room for the second result is noticed before the first.
        Some(_) => {
            let full = is_full(l);
            l.b.bool(BoolOp::Or, empty, full)
        }
        None => empty,
    };
    let answer = ask(l, call, 10, &[operand, operand], fault);
    let out_of_range = l.b.bit(answer.codes, 2);
    l.b.copy(l.r.c[2], out_of_range);
    settle(l, &answer, end);
    l.b.copy(st0, answer.value);
    fill(l, 0);
    let Some(second) = then else {
        l.b.place(end);
        return;
    };
    l.b.branch(Some(out_of_range), end);
    match second {
        Intrinsic::ExtendedMove { .. } => {
            let (high, low) = (l.constant(0x3fff, 2), l.constant(1 << 63, 8));
            let one = l.b.concat(high, low);
            // What is not a number has no tangent, and nothing goes with it but itself.
            let nan = l.b.temporary(1);
            l.b.push(Op::FloatIsNan { out: nan, a: answer.value });
            let pushed = l.b.select(nan, answer.value, one);
            push_faulted(l, second, &[pushed], fault, end);
        }
        _ => push_faulted(l, second, &[operand, operand], fault, end),
    }
    l.b.place(end);
}

/// Pushes a function's value; where the stack was at fault, whatever the first result was.
fn push_faulted(
    l: &mut Lift,
    call: Intrinsic,
    operands: &[Varnode],
    fault: Varnode,
    end: parallax_ir::Label,
) {
    let answer = ask(l, call, 10, operands, fault);
    settle(l, &answer, end);
    let never = l.constant(0, 1);
    push_as(l, Intrinsic::ExtendedMove { on_top: true }, answer.value, never, end);
}

/// `fxtract`: the exponent takes the place of the number, and its significand goes on top.
fn extract(l: &mut Lift) {
    let end = l.b.label();
    let st0 = l.r.st[0];
    let operand = l.b.snapshot(st0);
    let empty = any_empty(l, &[0]);
    let full = is_full(l);
    let fault = l.b.bool(BoolOp::Or, empty, full);
    let exponent = ask(l, Intrinsic::ExtendedPart { exponent: true }, 10, &[operand], fault);
    settle(l, &exponent, end);
    let significand = ask(l, Intrinsic::ExtendedPart { exponent: false }, 10, &[operand], fault);
    settle(l, &significand, end);
    l.b.copy(st0, exponent.value);
    fill(l, 0);
    let never = l.constant(0, 1);
    push_as(l, Intrinsic::ExtendedMove { on_top: true }, significand.value, never, end);
    l.b.place(end);
    let there = l.b.not(empty);
    l.b.push(Op::Bool { op: BoolOp::And, out: l.r.c[1], a: full, b: there });
}
