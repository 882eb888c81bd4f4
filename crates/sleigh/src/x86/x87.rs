//! The x87, as far as compilers still use it: loads, stores, arithmetic, comparison, control.
//!
//! `ST0` is always the top of the stack: pushing and popping move the values, and the top field of the status word
//! counts along. Exception flags, the condition code C1 of arithmetic and the tag word are not modelled.

use crate::x86::float::{compare_flags, unordered};
use crate::x86::operand::Lift;
use iced_x86::{Instruction as Decoded, Mnemonic, OpKind};
use parallax_ir::{Intrinsic, Op, ScalarOp, Varnode};
use parallax_op::{BinOp, BoolOp, FloatRelOp, RelOp};

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    use ScalarOp as S;
    let st0 = l.r.st[0];
    match mnemonic {
        Fld => {
            let value = float_operand(l, d, 0);
            push(l, value);
        }
        Fild => {
            let a = l.read(d, 0);
            let value = from_int(l, a);
            push(l, value);
        }
        Fld1 | Fldz | Fldpi | Fldl2e | Fldl2t | Fldlg2 | Fldln2 => {
            // Sign and exponent, then the fraction, as the processor rounds its constants to nearest.
            let (high, low) = match mnemonic {
                Fld1 => (0x3fff, 0x8000_0000_0000_0000),
                Fldpi => (0x4000, 0xc90f_daa2_2168_c235),
                Fldl2e => (0x3fff, 0xb8aa_3b29_5c17_f0bc),
                Fldl2t => (0x4000, 0xd49a_784b_cd1b_8afe),
                Fldlg2 => (0x3ffd, 0x9a20_9a84_fbcf_f799),
                Fldln2 => (0x3ffe, 0xb172_17f7_d1cf_79ac),
                _ => (0, 0),
            };
            let (high, low) = (l.constant(high, 2), l.constant(low, 8));
            let value = l.b.concat(high, low);
            push(l, value);
        }
        Fst | Fstp => {
            store_float(l, d);
            if mnemonic == Fstp {
                pop(l);
            }
        }
        Fist | Fistp | Fisttp => {
            let bytes = l.size(d, 0);
            // Truncation is rounding field 3.
            let control = if mnemonic == Fisttp { l.constant(0xc00, 2) } else { l.r.control_word };
            let value = l.b.call(Intrinsic::ExtendedToInt, bytes, &[st0, control]);
            l.write(d, 0, value);
            if mnemonic != Fist {
                pop(l);
            }
        }
        Fadd | Faddp | Fiadd => arithmetic(l, d, S::Add, false),
        Fsub | Fsubp | Fisub => arithmetic(l, d, S::Sub, false),
        Fsubr | Fsubrp | Fisubr => arithmetic(l, d, S::Sub, true),
        Fmul | Fmulp | Fimul => arithmetic(l, d, S::Mul, false),
        Fdiv | Fdivp | Fidiv => arithmetic(l, d, S::Div, false),
        Fdivr | Fdivrp | Fidivr => arithmetic(l, d, S::Div, true),
        Fsqrt => {
            let value = l.b.call(Intrinsic::Extended(S::Sqrt), 10, &[st0, st0]);
            l.b.copy(st0, value);
        }
        Frndint => {
            let value = l.b.call(Intrinsic::ExtendedRound, 10, &[st0, l.r.control_word]);
            l.b.copy(st0, value);
        }
        Fchs => l.b.push(Op::FloatNeg { out: st0, a: st0 }),
        Fabs => l.b.push(Op::FloatAbs { out: st0, a: st0 }),
        Fxch => {
            let other = l.r.st[d.op_register(1).number()];
            let (a, b) = (l.b.snapshot(st0), l.b.snapshot(other));
            l.b.copy(st0, b);
            l.b.copy(other, a);
        }
        Fcomi | Fcomip | Fucomi | Fucomip => {
            let other = l.r.st[d.op_register(1).number()];
            compare_flags(l, st0, other);
            if matches!(mnemonic, Fcomip | Fucomip) {
                pop(l);
            }
        }
        Fcom | Fcomp | Fucom | Fucomp | Ficom | Ficomp => {
            let other = match d.op_kind(0) {
                OpKind::Memory if matches!(mnemonic, Ficom | Ficomp) => {
                    let a = l.read(d, 0);
                    from_int(l, a)
                }
                OpKind::Memory => float_operand(l, d, 0),
                _ => l.r.st[d.op_register(d.op_count() - 1).number()],
            };
            condition_codes(l, st0, other);
            if matches!(mnemonic, Fcomp | Fucomp | Ficomp) {
                pop(l);
            }
        }
        Fcompp | Fucompp => {
            let other = l.r.st[1];
            condition_codes(l, st0, other);
            pop(l);
            pop(l);
        }
        Ftst => {
            let (high, low) = (l.constant(0, 2), l.constant(0, 8));
            let zero = l.b.concat(high, low);
            condition_codes(l, st0, zero);
        }
        Fxam => examine(l, st0),
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
            let other = l.r.st[d.op_register(1).number()];
            l.b.push(Op::Select { out: st0, when, then: other, otherwise: st0 });
        }
        Fnstcw => {
            let value = l.r.control_word;
            l.write(d, 0, value);
        }
        Fldcw => {
            // Reserved bits do not stick; bit 6 is always set.
            let value = l.read(d, 0);
            let kept = l.b.bin_constant(BinOp::And, value, 0x1f3f);
            let word = l.b.bin_constant(BinOp::Or, kept, 0x40);
            l.b.copy(l.r.control_word, word);
        }
        Fnstsw => {
            let value = status(l);
            l.write(d, 0, value);
        }
        Fnclex => {
            let word = l.r.status_word;
            let value = l.b.bin_constant(BinOp::And, word, 0x3800);
            l.b.copy(word, value);
        }
        Fninit => {
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
        Fincstp | Fdecstp => {
            if mnemonic == Fincstp {
                pop(l);
            } else {
                let last = l.r.st[7];
                let value = l.b.snapshot(last);
                push(l, value);
            }
        }
        Ffree | Fnop | Wait => {}
        Fnstenv => store_environment(l, d),
        Fldenv => load_environment(l, d),
        _ => return false,
    }
    true
}

/// Moves the top field of the status word by `by`, modulo 8.
fn turn(l: &mut Lift, by: u64) {
    let word = l.r.status_word;
    let moved = l.b.bin_constant(BinOp::Add, word, by);
    let top = l.b.bin_constant(BinOp::And, moved, 0x3800);
    let rest = l.b.bin_constant(BinOp::And, word, 0xc7ff);
    l.b.push(Op::Bin { op: BinOp::Or, out: word, a: top, b: rest });
}

fn push(l: &mut Lift, value: Varnode) {
    // The value may be a register that is about to move.
    let value = l.b.snapshot(value);
    for index in (1..8).rev() {
        let (to, from) = (l.r.st[index], l.r.st[index - 1]);
        l.b.copy(to, from);
    }
    let top = l.r.st[0];
    l.b.copy(top, value);
    turn(l, 0x3800);
}

/// What was on top goes around to the bottom, where the processor leaves it.
fn pop(l: &mut Lift) {
    let gone = l.b.snapshot(l.r.st[0]);
    for index in 0..7 {
        let (to, from) = (l.r.st[index], l.r.st[index + 1]);
        l.b.copy(to, from);
    }
    let bottom = l.r.st[7];
    l.b.copy(bottom, gone);
    turn(l, 0x800);
}

/// A float operand as an 80-bit float.
fn float_operand(l: &mut Lift, d: &Decoded, index: u32) -> Varnode {
    if !l.is_memory(d, index) {
        return l.r.st[d.op_register(index).number()];
    }
    let value = l.read(d, index);
    if value.bytes == 10 { value } else { l.b.call(Intrinsic::FloatToFloat, 10, &[value]) }
}

/// The same for arithmetic, which still tells quiet from signalling.
fn arithmetic_operand(l: &mut Lift, d: &Decoded, index: u32) -> Varnode {
    let value = l.read(d, index);
    l.b.call(Intrinsic::FloatWiden, 10, &[value])
}

fn from_int(l: &mut Lift, a: Varnode) -> Varnode {
    let out = l.b.temporary(10);
    l.b.push(Op::FloatFromInt { out, a });
    out
}

fn store_float(l: &mut Lift, d: &Decoded) {
    let st0 = l.r.st[0];
    if !l.is_memory(d, 0) {
        let to = l.r.st[d.op_register(0).number()];
        l.b.copy(to, st0);
        return;
    }
    let bytes = l.size(d, 0);
    let value = if bytes == 10 { st0 } else { l.b.call(Intrinsic::FloatToFloat, bytes, &[st0]) };
    l.write(d, 0, value);
}

/// `reversed` is about the operands as the destination sees them.
fn arithmetic(l: &mut Lift, d: &Decoded, op: ScalarOp, reversed: bool) {
    use Mnemonic::*;
    let st0 = l.r.st[0];
    let integer = matches!(d.mnemonic(), Fiadd | Fisub | Fisubr | Fimul | Fidiv | Fidivr);
    let (to, other) = if l.is_memory(d, 0) {
        let other = if integer {
            let a = l.read(d, 0);
            from_int(l, a)
        } else {
            arithmetic_operand(l, d, 0)
        };
        (st0, other)
    } else {
        let index = |i: u32| d.op_register(i).number();
        (l.r.st[index(0)], l.r.st[index(1)])
    };
    let (a, b) = if reversed { (other, to) } else { (to, other) };
    let value = l.b.call(Intrinsic::Extended(op), 10, &[a, b]);
    l.b.copy(to, value);
    if matches!(d.mnemonic(), Faddp | Fsubp | Fsubrp | Fmulp | Fdivp | Fdivrp) {
        pop(l);
    }
}

/// C0 less, C3 equal, all three unordered.
fn condition_codes(l: &mut Lift, a: Varnode, b: Varnode) {
    let (less, equal) = (l.b.temporary(1), l.b.temporary(1));
    l.b.push(Op::FloatRel { op: FloatRelOp::Lt, out: less, a, b });
    l.b.push(Op::FloatRel { op: FloatRelOp::Eq, out: equal, a, b });
    let neither = unordered(l, a, b);
    let [c0, c1, c2, c3] = l.r.c;
    l.b.push(Op::Bool { op: BoolOp::Or, out: c0, a: less, b: neither });
    l.clear(c1);
    l.b.copy(c2, neither);
    l.b.push(Op::Bool { op: BoolOp::Or, out: c3, a: equal, b: neither });
}

/// The class of a float: C0 for what is not a number and infinity, C2 for normal and infinite, C3 for zero and, with
/// C2, denormal.
fn examine(l: &mut Lift, a: Varnode) {
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
    let sign = l.sign(high);
    l.b.copy(c1, sign);
    l.b.copy(c0, supported_large);
    let c2_value = l.b.bool(BoolOp::Or, normal, infinite);
    l.b.push(Op::Bool { op: BoolOp::Or, out: c2, a: c2_value, b: denormal });
    l.b.push(Op::Bool { op: BoolOp::Or, out: c3, a: zero, b: denormal });
}

/// The status word with the condition codes in their places.
pub(super) fn status(l: &mut Lift) -> Varnode {
    let mut all = l.b.bin_constant(BinOp::And, l.r.status_word, 0xb8ff);
    for (flag, bit) in l.r.c.into_iter().zip([8, 9, 10, 14]) {
        let wide = l.b.zext(flag, 2);
        let moved = l.b.bin_constant(BinOp::Shl, wide, bit);
        all = l.b.bin(BinOp::Or, all, moved);
    }
    all
}

/// Takes the status word apart.
pub(super) fn set_status(l: &mut Lift, word: Varnode) {
    for (flag, bit) in l.r.c.into_iter().zip([8, 9, 10, 14]) {
        let value = l.b.bit(word, bit);
        l.b.copy(flag, value);
    }
    let rest = l.b.bin_constant(BinOp::And, word, 0xb8ff);
    l.b.copy(l.r.status_word, rest);
}

/// The 28-byte environment of 32- and 64-bit code; the pointers to the last instruction are not kept.
fn store_environment(l: &mut Lift, d: &Decoded) {
    let address = l.address(d);
    let status = status(l);
    let words = [l.r.control_word, status, l.r.tag_word];
    for (index, word) in words.into_iter().enumerate() {
        // The upper halves of these fields read as ones.
        let ones = l.constant(0xffff, 2);
        let value = l.b.concat(ones, word);
        store_at(l, address, 4 * index as u64, value);
    }
    for index in 3..7 {
        let zero = l.constant(if index == 6 { 0xffff_0000 } else { 0 }, 4);
        store_at(l, address, 4 * index, zero);
    }
    // Storing the environment masks all exceptions.
    let control = l.r.control_word;
    let masked = l.b.bin_constant(BinOp::Or, control, 0x3f);
    l.b.copy(control, masked);
}

fn load_environment(l: &mut Lift, d: &Decoded) {
    let address = l.address(d);
    let field = |l: &mut Lift, distance: u64| {
        let at = l.b.bin_constant(BinOp::Add, address, distance);
        l.b.load(at, 2)
    };
    let control = field(l, 0);
    let status = field(l, 4);
    let tags = field(l, 8);
    l.b.copy(l.r.control_word, control);
    set_status(l, status);
    l.b.copy(l.r.tag_word, tags);
}

/// Stores at a distance from an address.
pub(super) fn store_at(l: &mut Lift, address: Varnode, distance: u64, value: Varnode) {
    let at = l.b.bin_constant(BinOp::Add, address, distance);
    l.b.store(at, value);
}
