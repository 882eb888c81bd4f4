//! Shifts and rotations. A distance of zero leaves all flags alone.

use crate::x86::operand::Lift;
use iced_x86::{Instruction as Decoded, Mnemonic};
use parallax_ir::{Op, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp};

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    match mnemonic {
        Shl | Sal => shift(l, d, BinOp::Shl),
        Shr => shift(l, d, BinOp::Lshr),
        Sar => shift(l, d, BinOp::Ashr),
        Rol | Ror => rotate(l, d, mnemonic == Rol),
        Rcl | Rcr => rotate_through_carry(l, d, mnemonic == Rcl),
        Shld | Shrd => double_shift(l, d, mnemonic == Shld),
        Shlx | Shrx | Sarx => {
            let op = match mnemonic {
                Shlx => BinOp::Shl,
                Shrx => BinOp::Lshr,
                _ => BinOp::Ashr,
            };
            let a = l.read(d, 1);
            let distance = l.read(d, 2);
            let distance = l.b.bin_constant(BinOp::And, distance, u64::from(a.width()) - 1);
            let result = l.b.bin(op, a, distance);
            l.write(d, 0, result);
        }
        Rorx => {
            let a = l.read(d, 1);
            let bits = u64::from(a.width());
            let distance = d.immediate(2) & (bits - 1);
            let right = l.b.bin_constant(BinOp::Lshr, a, distance);
            let left = l.b.bin_constant(BinOp::Shl, a, bits - distance);
            let result = l.b.bin(BinOp::Or, left, right);
            l.write(d, 0, result);
        }
        _ => return false,
    }
    true
}

/// The distance, cut to five bits, or six for 64-bit operands, in the operand's size.
fn distance(l: &mut Lift, d: &Decoded, index: u32, bytes: u16) -> Varnode {
    let mask = if bytes == 8 { 63 } else { 31 };
    let count = l.read_sized(d, index, 1);
    match count.as_constant() {
        Some(value) => l.constant(value & mask, bytes),
        None => {
            let cut = l.b.bin_constant(BinOp::And, count, mask);
            let cut = l.b.zext(cut, bytes);
            // The count register may be the destination.
            l.b.snapshot(cut)
        }
    }
}

/// Runs `change` on the flags, or keeps the old ones when the distance is zero.
fn flags_unless_zero(l: &mut Lift, distance: Varnode, changed: &[Varnode], change: impl FnOnce(&mut Lift)) {
    match distance.as_constant() {
        Some(0) => {}
        Some(_) => change(l),
        None => {
            let old: Vec<Varnode> = changed.iter().map(|flag| l.b.snapshot(*flag)).collect();
            change(l);
            let zero = l.b.rel_constant(RelOp::Eq, distance, 0);
            for (flag, old) in changed.iter().zip(old) {
                l.b.push(Op::Select { out: *flag, when: zero, then: old, otherwise: *flag });
            }
        }
    }
}

/// `distance - 1`.
fn one_less(l: &mut Lift, distance: Varnode) -> Varnode {
    match distance.as_constant() {
        Some(value) => l.constant(value.wrapping_sub(1), distance.bytes),
        None => l.b.bin_constant(BinOp::Sub, distance, 1),
    }
}

fn shift(l: &mut Lift, d: &Decoded, op: BinOp) {
    let bytes = l.size(d, 0);
    let a = l.read(d, 0);
    let distance = distance(l, d, 1, bytes);
    let result = l.b.bin(op, a, distance);
    let to = l.memory_target(d);
    l.store_early(to, result);
    let changed = [l.r.cf, l.r.of, l.r.sf, l.r.zf, l.r.pf, l.r.af];
    flags_unless_zero(l, distance, &changed, |l| {
        // The carry is the last bit that went out: shift one less, and look at the end.
        let less = one_less(l, distance);
        let last = l.b.bin(op, a, less);
        let (cf, of, af) = (l.r.cf, l.r.of, l.r.af);
        let carry = if op == BinOp::Shl { l.sign(last) } else { l.b.bit(last, 0) };
        match op {
            BinOp::Shl => {
                let sign = l.sign(result);
                l.b.push(Op::Bool { op: BoolOp::Xor, out: of, a: sign, b: carry });
            }
            BinOp::Lshr => {
                let sign = l.sign(a);
                l.b.copy(of, sign);
            }
            _ => l.clear(of),
        }
        l.b.copy(cf, carry);
        l.clear(af);
        l.result_flags(result);
    });
    l.write_register(d, result);
}

/// `a` rotated by a distance below its width; a distance of zero gives `a`.
fn rotated(l: &mut Lift, a: Varnode, distance: Varnode, left: bool) -> Varnode {
    let width = l.constant(u64::from(a.width()), a.bytes);
    let rest = l.b.bin(BinOp::Sub, width, distance);
    let (near, far) = if left { (BinOp::Shl, BinOp::Lshr) } else { (BinOp::Lshr, BinOp::Shl) };
    let one = l.b.bin(near, a, distance);
    let other = l.b.bin(far, a, rest);
    l.b.bin(BinOp::Or, one, other)
}

fn rotate(l: &mut Lift, d: &Decoded, left: bool) {
    let bytes = l.size(d, 0);
    let a = l.read(d, 0);
    let distance = distance(l, d, 1, bytes);
    let within = l.b.bin_constant(BinOp::And, distance, u64::from(a.width()) - 1);
    let result = rotated(l, a, within, left);
    let to = l.memory_target(d);
    l.store_early(to, result);
    flags_unless_zero(l, distance, &[l.r.cf, l.r.of], |l| {
        let (cf, of) = (l.r.cf, l.r.of);
        let top = l.sign(result);
        if left {
            let low = l.b.bit(result, 0);
            l.b.copy(cf, low);
            l.b.push(Op::Bool { op: BoolOp::Xor, out: of, a: top, b: low });
        } else {
            let next = l.b.bit(result, a.width() - 2);
            l.b.copy(cf, top);
            l.b.push(Op::Bool { op: BoolOp::Xor, out: of, a: top, b: next });
        }
    });
    l.write_register(d, result);
}

/// Rotation of the operand with the carry above it, one bit more than its width, done in twice the width.
fn rotate_through_carry(l: &mut Lift, d: &Decoded, left: bool) {
    let bytes = l.size(d, 0);
    let a = l.read(d, 0);
    let width = u64::from(a.width());
    let distance = distance(l, d, 1, bytes);
    let within = if bytes <= 2 { l.b.bin_constant(BinOp::Urem, distance, width + 1) } else { distance };
    let within = match within.as_constant() {
        Some(value) => l.constant(value, 2 * bytes),
        None => l.b.zext(within, 2 * bytes),
    };
    let low = l.b.zext(a, 2 * bytes);
    let carry = l.b.zext(l.r.cf, 2 * bytes);
    let high = l.b.bin_constant(BinOp::Shl, carry, width);
    let ring = l.b.bin(BinOp::Or, low, high);
    let around = l.constant(width + 1, 2 * bytes);
    let rest = l.b.bin(BinOp::Sub, around, within);
    let (near, far) = if left { (BinOp::Shl, BinOp::Lshr) } else { (BinOp::Lshr, BinOp::Shl) };
    let one = l.b.bin(near, ring, within);
    let other = l.b.bin(far, ring, rest);
    let turned = l.b.bin(BinOp::Or, one, other);
    let result = turned.slice(0, bytes);
    let to = l.memory_target(d);
    l.store_early(to, result);
    flags_unless_zero(l, distance, &[l.r.cf, l.r.of], |l| {
        let (cf, of) = (l.r.cf, l.r.of);
        let out = l.b.bit(turned, a.width());
        l.b.copy(cf, out);
        let top = l.sign(result);
        let other = if left { out } else { l.b.bit(result, a.width() - 2) };
        l.b.push(Op::Bool { op: BoolOp::Xor, out: of, a: top, b: other });
    });
    l.write_register(d, result);
}

fn double_shift(l: &mut Lift, d: &Decoded, left: bool) {
    let bytes = l.size(d, 0);
    let a = l.read(d, 0);
    let b = l.read(d, 1);
    let distance = distance(l, d, 2, bytes);
    let width = l.constant(u64::from(a.width()), bytes);
    let rest = l.b.bin(BinOp::Sub, width, distance);
    let (near, far) = if left { (BinOp::Shl, BinOp::Lshr) } else { (BinOp::Lshr, BinOp::Shl) };
    let own = l.b.bin(near, a, distance);
    let other = l.b.bin(far, b, rest);
    let result = l.b.bin(BinOp::Or, own, other);
    let to = l.memory_target(d);
    l.store_early(to, result);
    let changed = [l.r.cf, l.r.of, l.r.sf, l.r.zf, l.r.pf, l.r.af];
    flags_unless_zero(l, distance, &changed, |l| {
        let less = one_less(l, distance);
        let last = l.b.bin(near, a, less);
        let carry = if left { l.sign(last) } else { l.b.bit(last, 0) };
        let (before, after) = (l.sign(a), l.sign(result));
        let (cf, of, af) = (l.r.cf, l.r.of, l.r.af);
        l.b.push(Op::Bool { op: BoolOp::Xor, out: of, a: before, b: after });
        l.b.copy(cf, carry);
        l.clear(af);
        l.result_flags(result);
    });
    // A 32-bit destination is cleared above even when nothing moves.
    l.write_register(d, result);
}
