//! What AVX and AVX2 have and SSE has not: moves between the halves of a vector, lanes chosen by numbers in another
//! vector, memory under a mask.

use crate::x86::operand::Lift;
use crate::x86::packed::{control, first, halves, read, second};
use crate::x86::vector::{of_two, pick};
use iced_x86::{Instruction as Decoded, Mnemonic, OpKind, Register};
use parallax_ir::{Intrinsic, LaneOp, Trap, Varnode};
use parallax_op::{BinOp, RelOp};

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    l.vex
        && (permutations(l, d, mnemonic)
            || broadcasts(l, d, mnemonic)
            || shifts(l, d, mnemonic)
            || others(l, d, mnemonic))
}

fn permutations(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let bytes = l.size(d, 0);
    let control = control(d);
    let by_immediate = d.op_count() == 3 && d.op_kind(2) == OpKind::Immediate8;
    let result = match mnemonic {
        Vpermd | Vpermps => {
            let (index, a) = (first(l, d), second(l, d, bytes));
            l.b.call(Intrinsic::Permute { lane: 4, low: 0 }, bytes, &[a, index])
        }
        Vpermilps if by_immediate => {
            let a = read(l, d, 1, bytes);
            halves(l, &[a], |l, _, a| pick(l, 4, &[a[0], a[0]], |i| control >> (2 * i) & 3))
        }
        Vpermilpd if by_immediate => {
            let a = read(l, d, 1, bytes);
            halves(l, &[a], |l, half, a| pick(l, 8, &[a[0], a[0]], |i| control >> (2 * half + i) & 1))
        }
        Vpermilps | Vpermilpd => {
            let (a, index) = (first(l, d), second(l, d, bytes));
            let call = match mnemonic {
                Vpermilps => Intrinsic::Permute { lane: 4, low: 0 },
                // Of doubles the second bit counts.
                _ => Intrinsic::Permute { lane: 8, low: 1 },
            };
            halves(l, &[a, index], |l, _, both| l.b.call(call, 16, both))
        }
        Vpermq | Vpermpd => {
            let a = read(l, d, 1, bytes);
            let lane = |index: u8| a.slice(8 * u16::from(control >> (2 * index) & 3), 8);
            let (low, high) = (l.b.concat(lane(1), lane(0)), l.b.concat(lane(3), lane(2)));
            l.b.concat(high, low)
        }
        Vperm2f128 | Vperm2i128 => {
            let (a, b) = (first(l, d), second(l, d, bytes));
            let half = |l: &Lift, control: u8| match control & 11 {
                0 => a.slice(0, 16),
                1 => a.slice(16, 16),
                2 => b.slice(0, 16),
                3 => b.slice(16, 16),
                _ => l.constant(0, 16),
            };
            let (low, high) = (half(l, control), half(l, control >> 4));
            l.b.concat(high, low)
        }
        Vpblendd => {
            let (a, b) = (first(l, d), second(l, d, bytes));
            halves(l, &[a, b], |l, half, both| of_two(l, Blendps, control, half, both))
        }
        Vinsertf128 | Vinserti128 => {
            let (a, b) = (first(l, d), read(l, d, 2, 16));
            if control & 1 == 0 { l.b.concat(a.slice(16, 16), b) } else { l.b.concat(b, a.slice(0, 16)) }
        }
        Vextractf128 | Vextracti128 => l.read(d, 1).slice(16 * u16::from(control & 1), 16),
        _ => return false,
    };
    l.write(d, 0, result);
    true
}

/// One lane in all places.
fn broadcasts(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let lane: u8 = match mnemonic {
        Vpbroadcastb => 1,
        Vpbroadcastw => 2,
        Vpbroadcastd | Vbroadcastss => 4,
        Vpbroadcastq | Vbroadcastsd => 8,
        Vbroadcastf128 | Vbroadcasti128 => 16,
        _ => return false,
    };
    let one = read(l, d, 1, lane.into());
    let wide = l.b.zext(one, 16);
    let half = if lane == 16 { wide } else { pick(l, lane, &[wide, wide], |_| 0) };
    let result = if l.size(d, 0) == 32 { l.b.concat(half, half) } else { half };
    l.write(d, 0, result);
    true
}

/// Each lane by a distance of its own.
fn shifts(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    let (op, lane) = match mnemonic {
        Vpsllvd => (LaneOp::ShiftLeft, 4),
        Vpsllvq => (LaneOp::ShiftLeft, 8),
        Vpsrlvd => (LaneOp::ShiftRight, 4),
        Vpsrlvq => (LaneOp::ShiftRight, 8),
        Vpsravd => (LaneOp::ShiftRightSigned, 4),
        _ => return false,
    };
    let bytes = l.size(d, 0);
    let (a, b) = (first(l, d), second(l, d, bytes));
    let result = halves(l, &[a, b], |l, _, both| l.b.call(Intrinsic::Lanes { op, lane }, 16, both));
    l.write(d, 0, result);
    true
}

fn others(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    match mnemonic {
        Vzeroupper | Vzeroall => {
            let (from, bytes) = if mnemonic == Vzeroall { (0, 32) } else { (16, 16) };
            let zero = l.constant(0, bytes);
            for index in 0..if l.bits == 64 { 16 } else { 8 } {
                let place = l.r.place(Register::YMM0 + index).slice(from, bytes);
                l.b.copy(place, zero);
            }
        }
        Vtestps | Vtestpd => {
            let lane = if mnemonic == Vtestps { 4 } else { 8 };
            let bytes = l.size(d, 0);
            let (a, b) = (l.read(d, 0), read(l, d, 1, bytes));
            let signs = |l: &mut Lift, v: Varnode| l.b.call(Intrinsic::MoveMask { lane }, 4, &[v]);
            let (a, b) = (signs(l, a), signs(l, b));
            l.test_flags(a, b);
        }
        Vmaskmovps | Vpmaskmovd => masked(l, d, 4),
        Vmaskmovpd | Vpmaskmovq => masked(l, d, 8),
        Vgatherdps | Vpgatherdd => gather(l, d, 4, 4),
        Vgatherdpd | Vpgatherdq => gather(l, d, 4, 8),
        Vgatherqps | Vpgatherqd => gather(l, d, 8, 4),
        Vgatherqpd | Vpgatherqq => gather(l, d, 8, 8),
        _ => return false,
    }
    true
}

/// The lanes of a vector, lowest first.
fn lanes(vector: Varnode, lane: u16) -> Vec<Varnode> {
    (0..vector.bytes / lane).map(|index| vector.slice(index * lane, lane)).collect()
}

/// The vector made of lanes.
fn gathered(l: &mut Lift, lanes: &[Varnode]) -> Varnode {
    lanes[1..].iter().fold(lanes[0], |low, high| l.b.concat(*high, low))
}

/// One lane of memory, read only under the condition. Where it does not hold, the instruction reads its own bytes
/// instead: those can be read, or it would not run.
fn load_if(l: &mut Lift, d: &Decoded, when: Varnode, address: Varnode, otherwise: Varnode) -> Varnode {
    let itself = l.constant(d.ip(), address.bytes);
    let at = l.b.select(when, address, itself);
    let value = l.b.load(at, otherwise.bytes);
    l.b.select(when, value, otherwise)
}

/// Lanes of memory under the signs of a mask, read or written.
fn masked(l: &mut Lift, d: &Decoded, lane: u16) {
    let stores = l.is_memory(d, 0);
    let mask = l.read(d, 1);
    let base = l.address(d);
    let mut addresses = Vec::new();
    let mut chosen = Vec::new();
    for (index, mask) in lanes(mask, lane).into_iter().enumerate() {
        addresses.push(l.b.bin_constant(BinOp::Add, base, index as u64 * u64::from(lane)));
        chosen.push(l.sign(mask));
    }
    if !stores {
        let zero = l.constant(0, lane);
        let values: Vec<Varnode> =
            chosen.iter().zip(&addresses).map(|(when, at)| load_if(l, d, *when, *at, zero)).collect();
        let value = gathered(l, &values);
        l.write(d, 0, value);
        return;
    }
    // A lane that is not chosen repeats the store of one that is, so that control need not part at each.
    let values = {
        let source = l.read(d, 2);
        lanes(source, lane)
    };
    let last = addresses.len() - 1;
    let (mut some_address, mut some_value) = (addresses[last], values[last]);
    for index in (0..last).rev() {
        some_address = l.b.select(chosen[index], addresses[index], some_address);
        some_value = l.b.select(chosen[index], values[index], some_value);
    }
    let signs = l.b.call(Intrinsic::MoveMask { lane: lane as u8 }, 4, &[mask]);
    let none = l.b.rel_constant(RelOp::Eq, signs, 0);
    let end = l.b.label();
    l.b.branch(Some(none), end);
    for index in 0..=last {
        let address = l.b.select(chosen[index], addresses[index], some_address);
        let value = l.b.select(chosen[index], values[index], some_value);
        l.b.store(address, value);
    }
    l.b.place(end);
}

/// Lanes from addresses of their own, under the signs of a mask, which is used up.
fn gather(l: &mut Lift, d: &Decoded, index_bytes: u16, lane: u16) {
    let (target, index, mask) = (d.op_register(0), d.memory_index(), d.op_register(2));
    let numbers = [target.number(), index.number(), mask.number()];
    if numbers[0] == numbers[1] || numbers[0] == numbers[2] || numbers[1] == numbers[2] {
        l.b.trap(None, Trap::Undefined);
        return;
    }
    let indices = lanes(l.r.place(index), index_bytes);
    let (old, masks) = (lanes(l.r.place(target), lane), lanes(l.r.place(mask), lane));
    let mut values = Vec::new();
    for ((index, mask), old) in indices.into_iter().zip(masks).zip(old) {
        let when = l.sign(mask);
        let address = l.indexed_address(d, index);
        values.push(load_if(l, d, when, address, old));
    }
    let value = gathered(l, &values);
    let wide = l.b.zext(value, target.size() as u16);
    l.set(target, wide);
    let zero = l.constant(0, mask.size() as u16);
    l.set(mask, zero);
}
