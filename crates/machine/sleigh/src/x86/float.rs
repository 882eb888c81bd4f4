//! Floats in vector registers. All of them go through MXCSR: it says how to round, and remembers what went wrong.

use crate::x86::operand::Lift;
use crate::x86::packed::{control, first, read, second, second_index, write_low};
use iced_x86::{Instruction as Decoded, Mnemonic, OpKind};
use parallax_ir::{Intrinsic, ScalarOp, Trap, Varnode};

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    arithmetic(l, d, mnemonic) || conversion(l, d, mnemonic) || comparison(l, d, mnemonic)
}

/// The value, of `bytes` bytes, of a function that rounds and raises as MXCSR says. An exception that is not masked stops
/// the instruction before anything but MXCSR has changed.
pub(super) fn controlled(l: &mut Lift, call: Intrinsic, bytes: u16, operands: &[Varnode]) -> Varnode {
    let mxcsr = l.r.mxcsr;
    let arguments: Vec<Varnode> = operands.iter().copied().chain([mxcsr]).collect();
    let all = l.b.call(call, bytes + 5, &arguments);
    l.b.copy(mxcsr, all.slice(bytes, 4));
    l.b.trap(Some(all.slice(bytes + 4, 1)), Trap::Float);
    all.slice(0, bytes)
}

/// The same, with the value going to memory: if the store faults, MXCSR must be as it was.
fn controlled_store(l: &mut Lift, d: &Decoded, call: Intrinsic, bytes: u16, operand: Varnode) {
    let mxcsr = l.r.mxcsr;
    let all = l.b.call(call, bytes + 5, &[operand, mxcsr]);
    let (after, stop) = (all.slice(bytes, 4), all.slice(bytes + 4, 1));
    let noted = l.b.select(stop, after, mxcsr);
    l.b.copy(mxcsr, noted);
    l.b.trap(Some(stop), Trap::Float);
    l.write(d, 0, all.slice(0, bytes));
    l.b.copy(mxcsr, after);
}

/// The low part of the first source.
fn low(l: &mut Lift, d: &Decoded, bytes: u16) -> Varnode {
    first(l, d).slice(0, bytes)
}

/// The second source, or the only one: one lane of it or all.
fn operand(l: &mut Lift, d: &Decoded, scalar: Option<u16>) -> Varnode {
    match scalar {
        Some(bytes) => {
            let index = second_index(l, d);
            read(l, d, index, bytes)
        }
        None => {
            let bytes = l.size(d, 0);
            second(l, d, bytes)
        }
    }
}

/// Writes one lane of the target, or all.
fn write(l: &mut Lift, d: &Decoded, scalar: Option<u16>, result: Varnode) {
    match scalar {
        Some(_) => write_low(l, d, result),
        None => l.write(d, 0, result),
    }
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
    let scalar = scalar.then_some(u16::from(lane));
    let b = operand(l, d, scalar);
    let a = low(l, d, b.bytes);
    let result = controlled(l, Intrinsic::FloatLanes { op, lane }, b.bytes, &[a, b]);
    write(l, d, scalar, result);
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
        Dpps => Intrinsic::FloatDot { control: control(d), lane: 4 },
        Dppd => Intrinsic::FloatDot { control: control(d), lane: 8 },
        // These neither look at MXCSR nor change it.
        Rcpss | Rcpps | Rsqrtss | Rsqrtps => {
            let root = matches!(mnemonic, Rsqrtss | Rsqrtps);
            let scalar = matches!(mnemonic, Rcpss | Rsqrtss).then_some(4);
            let b = operand(l, d, scalar);
            let result = l.b.call(Intrinsic::FloatEstimate { root }, b.bytes, &[b]);
            write(l, d, scalar, result);
            return true;
        }
        Roundss | Roundsd | Roundps | Roundpd => {
            let mode = control(d) & 15;
            let lane = if matches!(mnemonic, Roundss | Roundps) { 4 } else { 8 };
            let scalar = matches!(mnemonic, Roundss | Roundsd).then_some(u16::from(lane));
            let b = operand(l, d, scalar);
            let result = controlled(l, Intrinsic::FloatRound { mode, lane }, b.bytes, &[b]);
            write(l, d, scalar, result);
            return true;
        }
        _ => return false,
    };
    let b = operand(l, d, None);
    let a = first(l, d);
    let result = controlled(l, call, b.bytes, &[a, b]);
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
            let source = second_index(l, d);
            let a = l.read(d, source);
            let result = IntToFloat.apply(l, a, a.bytes, if mnemonic == Cvtsi2ss { 4 } else { 8 });
            write_low(l, d, result);
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
            let a = operand(l, d, Some(from));
            let result = FloatToFloat.apply(l, a, from, to);
            write_low(l, d, result);
        }
        // Convert, bytes per lane before and after; what the result does not fill is cleared.
        Cvtdq2ps => packed(l, d, IntToFloat, 4, 4),
        Cvtps2dq => packed(l, d, nearest, 4, 4),
        Cvttps2dq => packed(l, d, truncate, 4, 4),
        Cvtdq2pd => packed(l, d, IntToFloat, 4, 8),
        Cvtpd2dq => packed(l, d, nearest, 8, 4),
        Cvttpd2dq => packed(l, d, truncate, 8, 4),
        Cvtps2pd => packed(l, d, FloatToFloat, 4, 8),
        Cvtpd2ps => packed(l, d, FloatToFloat, 8, 4),
        Vcvtph2ps => packed(l, d, FloatToFloat, 2, 4),
        Vcvtps2ph => {
            let a = l.read(d, 1);
            let call = Intrinsic::FloatToHalf { mode: control(d) & 7 };
            if l.is_memory(d, 0) {
                controlled_store(l, d, call, a.bytes / 2, a);
            } else {
                let halves = controlled(l, call, a.bytes / 2, &[a]);
                let value = l.b.zext(halves, 16);
                l.write(d, 0, value);
            }
        }
        Cvtpi2ps | Cvtpi2pd => {
            let to = if mnemonic == Cvtpi2ps { 4 } else { 8 };
            let a = read(l, d, 1, 8);
            let result = IntToFloat.apply(l, a, 4, to);
            write_low(l, d, result);
        }
        Cvtps2pi => to_mmx(l, d, nearest, 4),
        Cvttps2pi => to_mmx(l, d, truncate, 4),
        Cvtpd2pi => to_mmx(l, d, nearest, 8),
        Cvttpd2pi => to_mmx(l, d, truncate, 8),
        _ => return false,
    }
    true
}

/// As many lanes as the longer of source and result holds.
fn packed(l: &mut Lift, d: &Decoded, convert: Convert, from: u16, to: u16) {
    let target = l.size(d, 0);
    let longest = match d.op_kind(1) {
        OpKind::Register => target.max(d.op_register(1).size() as u16),
        _ => target.max(d.memory_size().size() as u16),
    };
    let a = read(l, d, 1, longest / from.max(to) * from);
    let all = convert.apply(l, a, from, to);
    let wide = l.b.zext(all, target);
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
            let a = l.read_sized(d, 0, bytes);
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
            let scalar = matches!(mnemonic, Cmpss | Cmpsd).then_some(u16::from(lane));
            // SSE has eight predicates, AVX thirty-two.
            let code = control(d) & if l.vex { 31 } else { 7 };
            let b = operand(l, d, scalar);
            let a = low(l, d, b.bytes);
            let result = controlled(l, Intrinsic::FloatCompare { code, lane }, b.bytes, &[a, b]);
            write(l, d, scalar, result);
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
