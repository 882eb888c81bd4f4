//! Vectors of integers: MMX, SSE up to 4.2 and what AVX made of them, and the moves they share with floats.

use crate::x86::operand::Lift;
use crate::x86::packed::{check_alignment, control, first, halves, read, second, second_index, write_low};
use iced_x86::{Instruction as Decoded, Mnemonic, OpKind, Register};
use parallax_ir::{Intrinsic, LaneOp, LaneShift, Varnode};
use parallax_op::{BinOp, RelOp, UnOp};

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    moves(l, d, mnemonic)
        || lane_operations(l, d, mnemonic)
        || rearrangements(l, d, mnemonic)
        || elements(l, d, mnemonic)
        || tests(l, d, mnemonic)
}

/// `out[i]` is lane `picks(i)` of the first vector followed by the second.
pub(super) fn pick(l: &mut Lift, lane: u8, both: &[Varnode], picks: impl Fn(u8) -> u8) -> Varnode {
    let bytes = both[0].bytes;
    let mut table = [0xff; 16];
    for (index, entry) in table.iter_mut().enumerate().take(usize::from(bytes / u16::from(lane))) {
        *entry = picks(index as u8);
    }
    l.b.call(Intrinsic::Pick { lane, picks: table }, bytes, both)
}

fn moves(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let xmm = |index: u32| d.op_kind(index) == OpKind::Register && d.op_register(index).is_xmm();
    let half =
        |l: &Lift, index: u32, high: bool| l.r.place(d.op_register(index)).slice(if high { 8 } else { 0 }, 8);
    match mnemonic {
        Movaps | Movapd | Movdqa | Movups | Movupd | Movdqu | Lddqu | Movntdqa | Movntps | Movntpd
        | Movntdq => {
            let bytes = if l.is_memory(d, 0) {
                let bytes = l.size(d, 1);
                check_alignment(l, d, bytes);
                bytes
            } else {
                l.size(d, 0)
            };
            let value = read(l, d, 1, bytes);
            l.write(d, 0, value);
        }
        Movntq => {
            let value = l.read(d, 1);
            l.write(d, 0, value);
        }
        Movd | Movq => {
            let bytes = if mnemonic == Movd { 4 } else { 8 };
            let value = read(l, d, 1, bytes);
            let size = l.size(d, 0);
            let value = l.b.zext(value, if l.is_memory(d, 0) { bytes } else { size });
            l.write(d, 0, value);
        }
        Movss | Movsd if xmm(0) || xmm(1) => {
            let bytes = if mnemonic == Movss { 4 } else { 8 };
            let source = second_index(l, d);
            let value = read(l, d, source, bytes);
            if xmm(0) && !xmm(1) {
                // From memory the rest is cleared, from a register it is kept.
                let value = l.b.zext(value, 16);
                l.write(d, 0, value);
            } else if xmm(0) {
                write_low(l, d, value);
            } else {
                l.write(d, 0, value);
            }
        }
        Movlps | Movlpd | Movhps | Movhpd => {
            let high = matches!(mnemonic, Movhps | Movhpd);
            if xmm(0) {
                let source = second_index(l, d);
                let value = read(l, d, source, 8);
                let other = half(l, u32::from(l.vex), !high);
                write_halves(l, d, high, value, other);
            } else {
                let value = half(l, 1, high);
                l.write(d, 0, value);
            }
        }
        Movhlps | Movlhps => {
            let high = mnemonic == Movlhps;
            let source = second_index(l, d);
            let value = half(l, source, !high);
            let other = half(l, u32::from(l.vex), !high);
            write_halves(l, d, high, value, other);
        }
        Movdq2q | Movq2dq => {
            let value = l.read_sized(d, 1, 8);
            let size = l.size(d, 0);
            let value = l.b.zext(value, size);
            l.write(d, 0, value);
        }
        Maskmovdqu | Maskmovq => {
            let bytes = l.size(d, 1);
            let value = l.read(d, 1);
            let mask = l.read(d, 2);
            let to = match d.op_kind(0) {
                OpKind::MemorySegDI => l.sized(Register::RDI, 2),
                OpKind::MemorySegEDI => l.sized(Register::RDI, 4),
                _ => l.gpr(Register::RDI),
            };
            let to = l.linear(d.memory_segment(), to);
            let old = l.b.load(to, bytes);
            let new = l.b.call(Intrinsic::Lanes { op: LaneOp::Blend, lane: 1 }, bytes, &[old, value, mask]);
            l.b.store(to, new);
        }
        _ => return false,
    }
    true
}

/// Writes one half of the target; the other is `other`, which is there already unless it is named apart.
fn write_halves(l: &mut Lift, d: &Decoded, high: bool, value: Varnode, other: Varnode) {
    if l.vex {
        let whole = if high { l.b.concat(value, other) } else { l.b.concat(other, value) };
        l.write(d, 0, whole);
    } else {
        let place = l.r.place(d.op_register(0)).slice(if high { 8 } else { 0 }, 8);
        l.b.copy(place, value);
    }
}

/// Operations on each lane, or on neighbouring lanes, of two vectors.
fn lane_operations(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use LaneOp::*;
    use Mnemonic as M;
    let lanes = |op, lane| Some(Intrinsic::Lanes { op, lane });
    let horizontal = |op, lane| Some(Intrinsic::Horizontal { op, lane });
    let call = match mnemonic {
        M::Paddb => lanes(Add, 1),
        M::Paddw => lanes(Add, 2),
        M::Paddd => lanes(Add, 4),
        M::Paddq => lanes(Add, 8),
        M::Psubb => lanes(Sub, 1),
        M::Psubw => lanes(Sub, 2),
        M::Psubd => lanes(Sub, 4),
        M::Psubq => lanes(Sub, 8),
        M::Paddsb => lanes(AddSatSigned, 1),
        M::Paddsw => lanes(AddSatSigned, 2),
        M::Paddusb => lanes(AddSatUnsigned, 1),
        M::Paddusw => lanes(AddSatUnsigned, 2),
        M::Psubsb => lanes(SubSatSigned, 1),
        M::Psubsw => lanes(SubSatSigned, 2),
        M::Psubusb => lanes(SubSatUnsigned, 1),
        M::Psubusw => lanes(SubSatUnsigned, 2),
        M::Pmullw => lanes(MulLow, 2),
        M::Pmulld => lanes(MulLow, 4),
        M::Pmulhw => lanes(MulHighSigned, 2),
        M::Pmulhuw => lanes(MulHighUnsigned, 2),
        M::Pmulhrsw => lanes(MulHighRounded, 2),
        M::Pmuludq => lanes(MulHalvesUnsigned, 8),
        M::Pmuldq => lanes(MulHalvesSigned, 8),
        M::Pavgb => lanes(Average, 1),
        M::Pavgw => lanes(Average, 2),
        M::Pminsb => lanes(MinSigned, 1),
        M::Pminsw => lanes(MinSigned, 2),
        M::Pminsd => lanes(MinSigned, 4),
        M::Pminub => lanes(MinUnsigned, 1),
        M::Pminuw => lanes(MinUnsigned, 2),
        M::Pminud => lanes(MinUnsigned, 4),
        M::Pmaxsb => lanes(MaxSigned, 1),
        M::Pmaxsw => lanes(MaxSigned, 2),
        M::Pmaxsd => lanes(MaxSigned, 4),
        M::Pmaxub => lanes(MaxUnsigned, 1),
        M::Pmaxuw => lanes(MaxUnsigned, 2),
        M::Pmaxud => lanes(MaxUnsigned, 4),
        M::Pcmpeqb => lanes(CmpEq, 1),
        M::Pcmpeqw => lanes(CmpEq, 2),
        M::Pcmpeqd => lanes(CmpEq, 4),
        M::Pcmpeqq => lanes(CmpEq, 8),
        M::Pcmpgtb => lanes(CmpGtSigned, 1),
        M::Pcmpgtw => lanes(CmpGtSigned, 2),
        M::Pcmpgtd => lanes(CmpGtSigned, 4),
        M::Pcmpgtq => lanes(CmpGtSigned, 8),
        M::Psignb => lanes(Sign, 1),
        M::Psignw => lanes(Sign, 2),
        M::Psignd => lanes(Sign, 4),
        M::Pabsb => lanes(Abs, 1),
        M::Pabsw => lanes(Abs, 2),
        M::Pabsd => lanes(Abs, 4),
        M::Phaddw => horizontal(Add, 2),
        M::Phaddd => horizontal(Add, 4),
        M::Phaddsw => horizontal(AddSatSigned, 2),
        M::Phsubw => horizontal(Sub, 2),
        M::Phsubd => horizontal(Sub, 4),
        M::Phsubsw => horizontal(SubSatSigned, 2),
        M::Pmaddwd => Some(Intrinsic::MultiplyAdd),
        M::Pmaddubsw => Some(Intrinsic::MultiplyAddBytes),
        M::Psadbw => Some(Intrinsic::SumAbsoluteDifferences),
        M::Packsswb => Some(Intrinsic::Pack { lane: 2, signed: true }),
        M::Packssdw => Some(Intrinsic::Pack { lane: 4, signed: true }),
        M::Packuswb => Some(Intrinsic::Pack { lane: 2, signed: false }),
        M::Packusdw => Some(Intrinsic::Pack { lane: 4, signed: false }),
        M::Pshufb => Some(Intrinsic::Shuffle),
        _ => None,
    };
    if let Some(call) = call {
        let bytes = l.size(d, 0);
        let a = first(l, d);
        let b = second(l, d, bytes);
        let result = halves(l, &[a, b], |l, _, both| l.b.call(call, both[0].bytes, both));
        l.write(d, 0, result);
        return true;
    }
    let bitwise = match mnemonic {
        M::Pand | M::Andps | M::Andpd | M::Pandn | M::Andnps | M::Andnpd => BinOp::And,
        M::Por | M::Orps | M::Orpd => BinOp::Or,
        M::Pxor | M::Xorps | M::Xorpd => BinOp::Xor,
        _ => return shifts(l, d, mnemonic),
    };
    let bytes = l.size(d, 0);
    let mut a = first(l, d);
    let b = second(l, d, bytes);
    if matches!(mnemonic, M::Pandn | M::Andnps | M::Andnpd) {
        a = l.b.un(UnOp::Not, a);
    }
    let result = if bitwise == BinOp::Xor && a == b { l.constant(0, bytes) } else { l.b.bin(bitwise, a, b) };
    l.write(d, 0, result);
    true
}

fn shifts(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let (op, lane) = match mnemonic {
        Psllw => (LaneShift::Left, 2),
        Pslld => (LaneShift::Left, 4),
        Psllq => (LaneShift::Left, 8),
        Psrlw => (LaneShift::Right, 2),
        Psrld => (LaneShift::Right, 4),
        Psrlq => (LaneShift::Right, 8),
        Psraw => (LaneShift::RightSigned, 2),
        Psrad => (LaneShift::RightSigned, 4),
        _ => return false,
    };
    let from = u32::from(l.vex);
    let distance = match d.op_kind(from + 1) {
        OpKind::Immediate8 => l.constant(d.immediate(from + 1) & 0xff, 8),
        _ => {
            let bytes = l.size(d, 0).min(16);
            read(l, d, from + 1, bytes).slice(0, 8)
        }
    };
    let a = l.read(d, from);
    let call = Intrinsic::LanesShifted { op, lane };
    let result = halves(l, &[a], |l, _, a| l.b.call(call, a[0].bytes, &[a[0], distance]));
    l.write(d, 0, result);
    true
}

/// Instructions that only move lanes about.
fn rearrangements(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let bytes = l.size(d, 0);
    let control = control(d);
    let field = |index: u8| control >> (2 * index) & 3;
    // Low or high halves of two vectors, lane by lane.
    let interleaved = match mnemonic {
        Punpcklbw => Some((1, false)),
        Punpcklwd => Some((2, false)),
        Punpckldq | Unpcklps => Some((4, false)),
        Punpcklqdq | Unpcklpd => Some((8, false)),
        Punpckhbw => Some((1, true)),
        Punpckhwd => Some((2, true)),
        Punpckhdq | Unpckhps => Some((4, true)),
        Punpckhqdq | Unpckhpd => Some((8, true)),
        _ => None,
    };
    if let Some((lane, high)) = interleaved {
        let count = (bytes.min(16) / lane) as u8;
        let from = if high { count / 2 } else { 0 };
        let (a, b) = (first(l, d), second(l, d, bytes));
        let result = halves(l, &[a, b], |l, _, both| {
            pick(l, lane as u8, both, |i| from + i / 2 + if i % 2 == 1 { count } else { 0 })
        });
        l.write(d, 0, result);
        return true;
    }
    let result = match mnemonic {
        Pshufd | Pshufw | Pshuflw | Pshufhw | Movsldup | Movshdup => {
            let b = second(l, d, bytes);
            let lane = if matches!(mnemonic, Pshufd | Movsldup | Movshdup) { 4 } else { 2 };
            halves(l, &[b], |l, _, b| {
                pick(l, lane, &[b[0], b[0]], |i| match mnemonic {
                    Movsldup => i & !1,
                    Movshdup => i | 1,
                    Pshuflw if i >= 4 => i,
                    Pshufhw if i < 4 => i,
                    Pshufhw => 4 + field(i - 4),
                    _ => field(i),
                })
            })
        }
        Movddup if bytes == 16 => {
            let b = read(l, d, 1, 8);
            l.b.concat(b, b)
        }
        Movddup => {
            let b = read(l, d, 1, bytes);
            halves(l, &[b], |l, _, b| pick(l, 8, &[b[0], b[0]], |_| 0))
        }
        Shufps | Shufpd | Pblendw | Blendps | Blendpd | Palignr | Mpsadbw => {
            let (a, b) = (first(l, d), second(l, d, bytes));
            halves(l, &[a, b], |l, half, both| of_two(l, mnemonic, control, half, both))
        }
        Pslldq | Psrldq => {
            let from = u32::from(l.vex);
            let distance = (d.immediate(from + 1) as u8).min(16);
            let a = l.read(d, from);
            let left = mnemonic == Pslldq;
            halves(l, &[a], |l, _, a| {
                pick(l, 1, &[a[0], a[0]], |i| {
                    match if left { i.checked_sub(distance) } else { Some(i + distance) } {
                        Some(from) if from < 16 => from,
                        _ => 0xff,
                    }
                })
            })
        }
        Insertps => {
            // From memory one float, from a register the one that the top of the immediate names.
            let source = second_index(l, d);
            let in_memory = l.is_memory(d, source);
            let value = read(l, d, source, if in_memory { 4 } else { 16 });
            let b = l.b.zext(value, 16);
            let from = if in_memory { 0 } else { control >> 6 };
            let a = first(l, d);
            pick(l, 4, &[a, b], |i| {
                if control >> i & 1 == 1 {
                    0xff
                } else if i == control >> 4 & 3 {
                    4 + from
                } else {
                    i
                }
            })
        }
        Pmovsxbw | Pmovzxbw => widen(l, d, 1, 2, mnemonic == Pmovsxbw),
        Pmovsxbd | Pmovzxbd => widen(l, d, 1, 4, mnemonic == Pmovsxbd),
        Pmovsxbq | Pmovzxbq => widen(l, d, 1, 8, mnemonic == Pmovsxbq),
        Pmovsxwd | Pmovzxwd => widen(l, d, 2, 4, mnemonic == Pmovsxwd),
        Pmovsxwq | Pmovzxwq => widen(l, d, 2, 8, mnemonic == Pmovsxwq),
        Pmovsxdq | Pmovzxdq => widen(l, d, 4, 8, mnemonic == Pmovsxdq),
        Phminposuw => {
            let b = second(l, d, 16);
            l.b.call(Intrinsic::MinimumPosition, 16, &[b])
        }
        Pblendvb | Blendvps | Blendvpd => {
            let lane = match mnemonic {
                Pblendvb => 1,
                Blendvps => 4,
                _ => 8,
            };
            let (a, b) = (first(l, d), second(l, d, bytes));
            let mask = if l.vex { l.read(d, 3) } else { l.r.place(Register::XMM0) };
            let call = Intrinsic::Lanes { op: LaneOp::Blend, lane };
            halves(l, &[a, b, mask], |l, _, all| l.b.call(call, 16, all))
        }
        Pclmulqdq => {
            let (a, b) = (first(l, d), second(l, d, bytes));
            let half = |v: Varnode, high: bool| v.slice(if high { 8 } else { 0 }, 8);
            halves(l, &[a, b], |l, _, both| {
                let (a, b) = (half(both[0], control & 1 != 0), half(both[1], control & 16 != 0));
                l.b.call(Intrinsic::CarrylessMultiply, 16, &[a, b])
            })
        }
        _ => return false,
    };
    l.write(d, 0, result);
    true
}

/// Two vectors made into one, under an immediate of which each half of a long vector may have its own part.
pub(super) fn of_two(l: &mut Lift, mnemonic: Mnemonic, control: u8, half: u8, both: &[Varnode]) -> Varnode {
    use Mnemonic::*;
    let bytes = both[0].bytes as u8;
    let blend = |l: &mut Lift, lane: u8, control: u8| {
        let count = bytes / lane;
        pick(l, lane, both, |i| if control >> i & 1 == 1 { count + i } else { i })
    };
    match mnemonic {
        Shufps => pick(l, 4, both, |i| (control >> (2 * i) & 3) + if i < 2 { 0 } else { 4 }),
        Shufpd => pick(l, 8, both, |i| (control >> (2 * half + i) & 1) + 2 * i),
        Pblendw => blend(l, 2, control),
        Blendps => blend(l, 4, control >> (4 * half)),
        Blendpd => blend(l, 8, control >> (2 * half)),
        Mpsadbw => {
            let control = control >> (3 * half);
            l.b.call(Intrinsic::SlidingDifferences { control }, 16, both)
        }
        _ => pick(l, 1, &[both[1], both[0]], |i| match i.checked_add(control) {
            Some(from) if from < 2 * bytes => from,
            _ => 0xff,
        }),
    }
}

fn widen(l: &mut Lift, d: &Decoded, from: u8, to: u8, signed: bool) -> Varnode {
    let out = l.size(d, 0);
    let b = read(l, d, 1, out * u16::from(from) / u16::from(to));
    let call = Intrinsic::Widen { from, to, signed };
    if out == 16 {
        return l.b.call(call, 16, &[b]);
    }
    let half = b.bytes / 2;
    let low = l.b.call(call, 16, &[b.slice(0, half)]);
    let high = l.b.call(call, 16, &[b.slice(half, half)]);
    l.b.concat(high, low)
}

/// One lane in or out, and masks of signs.
fn elements(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    match mnemonic {
        Pinsrb | Pinsrw | Pinsrd | Pinsrq => {
            let lane: u16 = match mnemonic {
                Pinsrb => 1,
                Pinsrw => 2,
                Pinsrd => 4,
                _ => 8,
            };
            let size = l.size(d, 0);
            let index = u16::from(control(d)) % (size / lane);
            let source = second_index(l, d);
            let value = read(l, d, source, lane);
            let place = l.r.place(d.op_register(0));
            if d.op_register(0).is_mm() || l.vex {
                let own = first(l, d);
                let own = l.b.snapshot(own);
                let wide = l.b.zext(value, size);
                let (lane_number, count) = (index as u8, (size / lane) as u8);
                let both = [own, wide];
                let result = pick(l, lane as u8, &both, |i| if i == lane_number { count } else { i });
                l.write(d, 0, result);
            } else {
                l.b.copy(place.slice(index * lane, lane), value);
            }
        }
        Pextrb | Pextrw | Pextrd | Pextrq | Extractps => {
            let lane: u16 = match mnemonic {
                Pextrb => 1,
                Pextrw => 2,
                Pextrq => 8,
                _ => 4,
            };
            let place = l.r.place(d.op_register(1));
            let index = d.immediate(2) as u16 % (place.bytes / lane);
            let value = place.slice(index * lane, lane);
            let size = if l.is_memory(d, 0) { lane } else { l.size(d, 0) };
            let value = l.b.zext(value, size);
            l.write(d, 0, value);
        }
        Pmovmskb | Movmskps | Movmskpd => {
            let lane = match mnemonic {
                Pmovmskb => 1,
                Movmskps => 4,
                _ => 8,
            };
            let a = l.read(d, 1);
            let size = l.size(d, 0);
            let mask = l.b.call(Intrinsic::MoveMask { lane }, size, &[a]);
            l.write(d, 0, mask);
        }
        _ => return false,
    }
    true
}

/// Instructions that answer in flags.
fn tests(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    match mnemonic {
        Ptest => {
            let bytes = l.size(d, 0);
            let (a, b) = (first(l, d), second(l, d, bytes));
            l.test_flags(a, b);
        }
        Pcmpistri | Pcmpistrm | Pcmpestri | Pcmpestrm | Pcmpestri64 | Pcmpestrm64 => {
            string_compare(l, d, mnemonic);
        }
        _ => return false,
    }
    true
}

fn string_compare(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) {
    use Mnemonic::*;
    let control = d.immediate(2) as u8;
    let lane: u8 = if control & 1 == 0 { 1 } else { 2 };
    let count = u64::from(16 / lane);
    let (a, b) = (l.read(d, 0), second(l, d, 16));
    let explicit = !matches!(mnemonic, Pcmpistri | Pcmpistrm);
    let wide = matches!(mnemonic, Pcmpestri64 | Pcmpestrm64);
    let (length_a, length_b) = if explicit {
        (explicit_length(l, Register::RAX, wide, count), explicit_length(l, Register::RDX, wide, count))
    } else {
        (implicit_length(l, a, lane, count), implicit_length(l, b, lane, count))
    };
    let mask = l.b.call(Intrinsic::StringCompare { control }, 2, &[a, b, length_a, length_b]);
    let some = l.b.rel_constant(RelOp::Ne, mask, 0);
    let short_a = l.b.rel_constant(RelOp::Ult, length_a, count);
    let short_b = l.b.rel_constant(RelOp::Ult, length_b, count);
    let first = l.b.bit(mask, 0);
    l.flag(l.r.cf, some);
    l.flag(l.r.zf, short_b);
    l.flag(l.r.sf, short_a);
    l.flag(l.r.of, first);
    l.clear(l.r.af);
    l.clear(l.r.pf);
    if matches!(mnemonic, Pcmpistri | Pcmpestri | Pcmpestri64) {
        // The lowest or the highest lane that matched; the number of lanes when none did.
        let index = if control & 0x40 == 0 {
            l.b.un(UnOp::Ctz, mask)
        } else {
            let zeros = l.b.un(UnOp::Clz, mask);
            let top = l.constant(15, 2);
            l.b.bin(BinOp::Sub, top, zeros)
        };
        let none = l.constant(count, 2);
        let index = l.b.select(some, index, none);
        let wide = l.b.zext(index, 4);
        l.set(Register::ECX, wide);
    } else if control & 0x40 == 0 {
        let wide = l.b.zext(mask, 16);
        l.set(Register::XMM0, wide);
    } else {
        // One lane of ones for each bit.
        let mut all: Option<Varnode> = None;
        for index in 0..count as u16 {
            let bit = l.b.bit(mask, index);
            let bit = l.b.zext(bit, u16::from(lane));
            let ones = l.b.un(UnOp::Neg, bit);
            all = Some(match all {
                Some(low) => l.b.concat(ones, low),
                None => ones,
            });
        }
        if let Some(all) = all {
            l.set(Register::XMM0, all);
        }
    }
}

/// The absolute value of a register, as a byte, at most `count`.
fn explicit_length(l: &mut Lift, register: Register, wide: bool, count: u64) -> Varnode {
    let value = l.sized(register, if wide { 8 } else { 4 });
    let negative = l.b.rel_constant(RelOp::Slt, value, 0);
    let opposite = l.b.un(UnOp::Neg, value);
    let size = l.b.select(negative, opposite, value);
    let limit = l.constant(count, size.bytes);
    let large = l.b.rel(RelOp::Ugt, size, limit);
    let held = l.b.select(large, limit, size);
    held.slice(0, 1)
}

/// How many lanes stand before the first zero, as a byte.
fn implicit_length(l: &mut Lift, a: Varnode, lane: u8, count: u64) -> Varnode {
    let zero = l.constant(0, 16);
    let ends = l.b.call(Intrinsic::Lanes { op: LaneOp::CmpEq, lane }, 16, &[a, zero]);
    let mask = l.b.call(Intrinsic::MoveMask { lane }, 4, &[ends]);
    // A zero behind the last lane stops the count.
    let stopped = l.b.bin_constant(BinOp::Or, mask, 1 << count);
    l.b.un(UnOp::Ctz, stopped).slice(0, 1)
}
