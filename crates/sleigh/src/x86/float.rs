//! Floats in SSE registers. All of them go through MXCSR: it says how to round, and remembers what went wrong.

use crate::x86::operand::Lift;
use crate::x86::vector::{read, second};
use iced_x86::{Instruction as Decoded, Mnemonic, OpKind};
use parallax_ir::{Intrinsic, ScalarOp, Trap, Varnode};

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    arithmetic(l, d, mnemonic) || conversion(l, d, mnemonic) || comparison(l, d, mnemonic)
}

/// The value, of `bytes` bytes, of a function that rounds and raises as MXCSR says. An exception that is not masked stops
/// the instruction before anything but MXCSR has changed.
fn controlled(l: &mut Lift, call: Intrinsic, bytes: u16, operands: &[Varnode]) -> Varnode {
    let mxcsr = l.r.mxcsr;
    let arguments: Vec<Varnode> = operands.iter().copied().chain([mxcsr]).collect();
    let all = l.b.call(call, bytes + 5, &arguments);
    l.b.copy(mxcsr, all.slice(bytes, 4));
    l.b.trap(Some(all.slice(bytes + 4, 1)), Trap::Float);
    all.slice(0, bytes)
}

/// The low part of the destination register.
fn low(l: &Lift, d: &Decoded, bytes: u16) -> Varnode {
    l.r.place(d.op_register(0)).slice(0, bytes)
}

fn arithmetic(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    use ScalarOp as S;
    // Operation, bytes per lane, whether one lane only.
    let (op, lane, scalar) = match mnemonic {
        Addss => (S::Add, 4, true),
        Addsd => (S::Add, 8, true),
        Addps => (S::Add, 4, false),
        Addpd => (S::Add, 8, false),
        Subss => (S::Sub, 4, true),
        Subsd => (S::Sub, 8, true),
        Subps => (S::Sub, 4, false),
        Subpd => (S::Sub, 8, false),
        Mulss => (S::Mul, 4, true),
        Mulsd => (S::Mul, 8, true),
        Mulps => (S::Mul, 4, false),
        Mulpd => (S::Mul, 8, false),
        Divss => (S::Div, 4, true),
        Divsd => (S::Div, 8, true),
        Divps => (S::Div, 4, false),
        Divpd => (S::Div, 8, false),
        Minss => (S::Min, 4, true),
        Minsd => (S::Min, 8, true),
        Minps => (S::Min, 4, false),
        Minpd => (S::Min, 8, false),
        Maxss => (S::Max, 4, true),
        Maxsd => (S::Max, 8, true),
        Maxps => (S::Max, 4, false),
        Maxpd => (S::Max, 8, false),
        Sqrtss => (S::Sqrt, 4, true),
        Sqrtsd => (S::Sqrt, 8, true),
        Sqrtps => (S::Sqrt, 4, false),
        Sqrtpd => (S::Sqrt, 8, false),
        _ => return other_arithmetic(l, d, mnemonic),
    };
    let bytes = if scalar { u16::from(lane) } else { 16 };
    let a = low(l, d, bytes);
    let b = read(l, d, 1, bytes);
    let result = controlled(l, Intrinsic::FloatLanes { op, lane }, bytes, &[a, b]);
    l.b.copy(a, result);
    true
}

fn other_arithmetic(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let call = match mnemonic {
        Addsubps => Intrinsic::FloatAddSub { lane: 4 },
        Addsubpd => Intrinsic::FloatAddSub { lane: 8 },
        Haddps => Intrinsic::FloatHorizontal { op: ScalarOp::Add, lane: 4 },
        Haddpd => Intrinsic::FloatHorizontal { op: ScalarOp::Add, lane: 8 },
        Hsubps => Intrinsic::FloatHorizontal { op: ScalarOp::Sub, lane: 4 },
        Hsubpd => Intrinsic::FloatHorizontal { op: ScalarOp::Sub, lane: 8 },
        Dpps => Intrinsic::FloatDot { control: d.immediate(2) as u8, lane: 4 },
        Dppd => Intrinsic::FloatDot { control: d.immediate(2) as u8, lane: 8 },
        Roundss | Roundsd | Roundps | Roundpd => {
            let mode = d.immediate(2) as u8 & 15;
            let lane = if matches!(mnemonic, Roundss | Roundps) { 4 } else { 8 };
            let bytes = if matches!(mnemonic, Roundss | Roundsd) { u16::from(lane) } else { 16 };
            let b = read(l, d, 1, bytes);
            let result = controlled(l, Intrinsic::FloatRound { mode, lane }, bytes, &[b]);
            let place = low(l, d, bytes);
            l.b.copy(place, result);
            return true;
        }
        _ => return false,
    };
    let a = l.read(d, 0);
    let b = second(l, d, 16);
    let result = controlled(l, call, 16, &[a, b]);
    l.write(d, 0, result);
    true
}

/// What a conversion makes of what.
#[derive(Clone, Copy)]
enum Convert {
    IntToFloat,
    FloatToInt { truncate: bool },
    FloatToFloat,
}

impl Convert {
    /// `count` elements of `from` bytes each, as elements of `to` bytes.
    fn apply(self, l: &mut Lift, a: Varnode, from: u16, to: u16) -> Varnode {
        let count = a.bytes / from;
        let (from, bytes_after) = (from as u8, to as u8);
        let call = match self {
            Convert::IntToFloat => Intrinsic::FloatFromInt { from, to: bytes_after },
            Convert::FloatToInt { truncate } => Intrinsic::FloatToInt { truncate, from, to: bytes_after },
            Convert::FloatToFloat => Intrinsic::FloatToFloat { from, to: bytes_after },
        };
        controlled(l, call, count * to, &[a])
    }
}

fn conversion(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Convert::*;
    use Mnemonic::*;
    let nearest = FloatToInt { truncate: false };
    let truncate = FloatToInt { truncate: true };
    match mnemonic {
        Cvtsi2ss | Cvtsi2sd => {
            let a = l.read(d, 1);
            let bytes = if mnemonic == Cvtsi2ss { 4 } else { 8 };
            let result = IntToFloat.apply(l, a, a.bytes, bytes);
            let place = low(l, d, bytes);
            l.b.copy(place, result);
        }
        Cvtss2si | Cvttss2si | Cvtsd2si | Cvttsd2si => {
            let from = if matches!(mnemonic, Cvtss2si | Cvttss2si) { 4 } else { 8 };
            let a = read(l, d, 1, from);
            let size = l.size(d, 0);
            let convert = if matches!(mnemonic, Cvttss2si | Cvttsd2si) { truncate } else { nearest };
            let result = convert.apply(l, a, from, size);
            l.write(d, 0, result);
        }
        Cvtss2sd | Cvtsd2ss => {
            let (from, to) = if mnemonic == Cvtss2sd { (4, 8) } else { (8, 4) };
            let a = read(l, d, 1, from);
            let result = FloatToFloat.apply(l, a, from, to);
            let place = low(l, d, to);
            l.b.copy(place, result);
        }
        // Convert, bytes per lane before and after, lanes; what the result does not fill is cleared.
        Cvtdq2ps => packed(l, d, IntToFloat, 4, 4, 4),
        Cvtps2dq => packed(l, d, nearest, 4, 4, 4),
        Cvttps2dq => packed(l, d, truncate, 4, 4, 4),
        Cvtdq2pd => packed(l, d, IntToFloat, 4, 8, 2),
        Cvtpd2dq => packed(l, d, nearest, 8, 4, 2),
        Cvttpd2dq => packed(l, d, truncate, 8, 4, 2),
        Cvtps2pd => packed(l, d, FloatToFloat, 4, 8, 2),
        Cvtpd2ps => packed(l, d, FloatToFloat, 8, 4, 2),
        Cvtpi2ps | Cvtpi2pd => {
            let to = if mnemonic == Cvtpi2ps { 4 } else { 8 };
            let a = read(l, d, 1, 8);
            let result = IntToFloat.apply(l, a, 4, to);
            let place = low(l, d, 2 * to);
            l.b.copy(place, result);
        }
        Cvtps2pi => to_mmx(l, d, nearest, 4),
        Cvttps2pi => to_mmx(l, d, truncate, 4),
        Cvtpd2pi => to_mmx(l, d, nearest, 8),
        Cvttpd2pi => to_mmx(l, d, truncate, 8),
        _ => return false,
    }
    true
}

fn packed(l: &mut Lift, d: &Decoded, convert: Convert, from: u16, to: u16, count: u16) {
    let a = read(l, d, 1, from * count);
    let all = convert.apply(l, a, from, to);
    let wide = l.b.zext(all, 16);
    l.write(d, 0, wide);
}

/// Two floats to two integers in an MMX register.
fn to_mmx(l: &mut Lift, d: &Decoded, convert: Convert, from: u16) {
    let a = read(l, d, 1, 2 * from);
    let all = convert.apply(l, a, from, 4);
    l.write(d, 0, all);
}

fn comparison(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    match mnemonic {
        Comiss | Ucomiss | Comisd | Ucomisd => {
            let bytes = if matches!(mnemonic, Comiss | Ucomiss) { 4 } else { 8 };
            let a = low(l, d, bytes);
            let b = read(l, d, 1, bytes);
            let strict = matches!(mnemonic, Comiss | Comisd);
            let order = controlled(l, Intrinsic::FloatOrder { strict }, 1, &[a, b]);
            compare_flags(l, [(order, 0), (order, 1), (order, 2)]);
        }
        Cmpss | Cmpsd | Cmpps | Cmppd => {
            if d.op_kind(0) != OpKind::Register {
                return false;
            }
            let lane = if matches!(mnemonic, Cmpss | Cmpps) { 4 } else { 8 };
            let bytes = if matches!(mnemonic, Cmpss | Cmpsd) { u16::from(lane) } else { 16 };
            let a = low(l, d, bytes);
            let b = read(l, d, 1, bytes);
            let code = d.immediate(2) as u8 & 7;
            let result = controlled(l, Intrinsic::FloatCompare { code, lane }, bytes, &[a, b]);
            l.b.copy(a, result);
        }
        _ => return false,
    }
    true
}

/// `comiss` and its kin: bits that say less, equal and unordered go to carry, zero and parity.
pub(super) fn compare_flags(l: &mut Lift, order: [(Varnode, u16); 3]) {
    for (flag, (word, bit)) in [l.r.cf, l.r.zf, l.r.pf].into_iter().zip(order) {
        let set = l.b.bit(word, bit);
        l.b.copy(flag, set);
    }
    for flag in [l.r.of, l.r.sf, l.r.af] {
        l.clear(flag);
    }
}
