//! Moves, arithmetic, logic and bit operations on general registers and memory.

use crate::x86::operand::Lift;
use iced_x86::{Instruction as Decoded, Mnemonic, OpKind, Register};
use parallax_ir::{Intrinsic, Op, Trap, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp, UnOp};

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    match mnemonic {
        Mov | Movnti => moves(l, d),
        Movzx => {
            let value = l.read(d, 1);
            let bytes = l.size(d, 0);
            let wide = l.b.zext(value, bytes);
            l.write(d, 0, wide);
            true
        }
        Movsx | Movsxd => {
            let value = l.read(d, 1);
            let bytes = l.size(d, 0);
            let wide = l.b.sext(value, bytes);
            l.write(d, 0, wide);
            true
        }
        Lea => {
            let bytes = l.size(d, 0);
            let offset = l.offset(d);
            let value = resize(l, offset, bytes);
            l.write(d, 0, value);
            true
        }
        Add => binary(l, d, |l, a, b, to| l.add(a, b, to)),
        Adc => binary(l, d, |l, a, b, to| l.add_carry(a, b, to)),
        Sub => binary(l, d, |l, a, b, to| l.sub(a, b, to)),
        Sbb => binary(l, d, |l, a, b, to| l.sub_borrow(a, b, to)),
        Cmp => {
            let (a, b) = operands(l, d);
            l.sub(a, b, None);
            true
        }
        And => logic(l, d, BinOp::And),
        Or => logic(l, d, BinOp::Or),
        Xor => logic(l, d, BinOp::Xor),
        Test => {
            let (a, b) = operands(l, d);
            let result = l.b.bin(BinOp::And, a, b);
            l.logic_flags(result);
            true
        }
        Not => {
            let a = l.read(d, 0);
            let result = l.b.un(UnOp::Not, a);
            l.write(d, 0, result);
            true
        }
        Neg => {
            let a = l.read(d, 0);
            let zero = l.constant(0, a.bytes);
            let to = l.memory_target(d);
            let result = l.sub(zero, a, to);
            l.write_register(d, result);
            true
        }
        Inc | Dec => step(l, d, mnemonic == Inc),
        Mul | Imul => multiply(l, d, mnemonic == Imul),
        Div | Idiv => divide(l, d, mnemonic == Idiv),
        Xchg => {
            let a = l.read(d, 0);
            let b = l.read(d, 1);
            let (a, b) = (l.b.snapshot(a), l.b.snapshot(b));
            l.write(d, 0, b);
            l.write(d, 1, a);
            true
        }
        Xadd => {
            let a = l.read(d, 0);
            let a = l.b.snapshot(a);
            let b = l.read(d, 1);
            let b = l.b.snapshot(b);
            let to = l.memory_target(d);
            let sum = l.add(a, b, to);
            l.write(d, 1, a);
            l.write_register(d, sum);
            true
        }
        Cmpxchg => compare_exchange(l, d),
        Cmpxchg8b | Cmpxchg16b => compare_exchange_pair(l, d),
        // Of 16 bits the result is undefined.
        Bswap if l.size(d, 0) == 2 => false,
        Bswap | Movbe => {
            let source = if mnemonic == Bswap { 0 } else { 1 };
            let a = l.read(d, source);
            let swapped = byte_swap(l, a);
            l.write(d, 0, swapped);
            true
        }
        Cbw | Cwde | Cdqe => {
            let (from, to) = match mnemonic {
                Cbw => (Register::AL, Register::AX),
                Cwde => (Register::AX, Register::EAX),
                _ => (Register::EAX, Register::RAX),
            };
            let wide = l.b.sext(l.r.place(from), to.size() as u16);
            l.set(to, wide);
            true
        }
        Cwd | Cdq | Cqo => {
            let (from, to) = match mnemonic {
                Cwd => (Register::AX, Register::DX),
                Cdq => (Register::EAX, Register::EDX),
                _ => (Register::RAX, Register::RDX),
            };
            let bits = from.size() as u64 * 8;
            let high = l.b.bin_constant(BinOp::Ashr, l.r.place(from), bits - 1);
            l.set(to, high);
            true
        }
        Bt | Bts | Btr | Btc => bit_test(l, d, mnemonic),
        Bsf | Bsr => bit_scan(l, d, mnemonic == Bsf),
        Tzcnt | Lzcnt | Popcnt => count_bits(l, d, mnemonic),
        Andn => {
            let a = l.read(d, 1);
            let inverse = l.b.un(UnOp::Not, a);
            let b = l.read(d, 2);
            let result = l.b.bin(BinOp::And, inverse, b);
            l.logic_flags(result);
            l.write(d, 0, result);
            true
        }
        Blsi | Blsr | Blsmsk => lowest_set(l, d, mnemonic),
        Bextr => bit_field(l, d),
        Bzhi => zero_high(l, d),
        Pdep | Pext => {
            let a = l.read(d, 1);
            let mask = l.read(d, 2);
            let call = if mnemonic == Pdep { Intrinsic::DepositBits } else { Intrinsic::ExtractBits };
            let result = l.b.call(call, a.bytes, &[a, mask]);
            l.write(d, 0, result);
            true
        }
        Mulx => {
            let bytes = l.size(d, 0);
            let a = l.b.zext(l.sized(Register::RDX, bytes), 2 * bytes);
            let b = l.read(d, 2);
            let b = l.b.zext(b, 2 * bytes);
            let product = l.b.bin(BinOp::Mul, a, b);
            // When both destinations are one register, the high half stays.
            l.write(d, 1, product.slice(0, bytes));
            l.write(d, 0, product.slice(bytes, bytes));
            true
        }
        Adcx | Adox => {
            let (a, b) = operands(l, d);
            let flag = if mnemonic == Adcx { l.r.cf } else { l.r.of };
            let carry = l.b.zext(flag, a.bytes);
            let first = l.b.bin(BinOp::Add, a, b);
            let result = l.b.bin(BinOp::Add, first, carry);
            let out_first = l.b.rel(RelOp::Ult, first, a);
            let out_second = l.b.rel(RelOp::Ult, result, first);
            l.b.push(Op::Bool { op: BoolOp::Or, out: flag, a: out_first, b: out_second });
            l.write(d, 0, result);
            true
        }
        Crc32 => {
            let crc = l.sized(d.op_register(0), 4);
            let data = l.read(d, 1);
            let result = l.b.call(Intrinsic::Crc32, 4, &[crc, data]);
            let bytes = l.size(d, 0);
            let wide = l.b.zext(result, bytes);
            l.write(d, 0, wide);
            true
        }
        Lahf => {
            let flags = pack_flags(l);
            let place = l.r.place(Register::AH);
            l.b.copy(place, flags.slice(0, 1));
            true
        }
        Sahf => {
            let ah = l.b.snapshot(l.r.place(Register::AH));
            for (bit, flag) in [(7, l.r.sf), (6, l.r.zf), (4, l.r.af), (2, l.r.pf), (0, l.r.cf)] {
                let value = l.b.bit(ah, bit);
                l.b.copy(flag, value);
            }
            true
        }
        Clc | Cld => {
            let flag = if mnemonic == Clc { l.r.cf } else { l.r.df };
            l.clear(flag);
            true
        }
        Stc | Std => {
            let flag = if mnemonic == Stc { l.r.cf } else { l.r.df };
            let one = l.constant(1, 1);
            l.b.copy(flag, one);
            true
        }
        Cmc => {
            let cf = l.r.cf;
            l.b.push(Op::BoolNot { out: cf, a: cf });
            true
        }
        _ => false,
    }
}

/// Cut or zero-extended to `bytes`.
fn resize(l: &mut Lift, a: Varnode, bytes: u16) -> Varnode {
    if a.bytes > bytes { l.b.extract(a, 0, bytes) } else { l.b.zext(a, bytes) }
}

fn moves(l: &mut Lift, d: &Decoded) -> bool {
    let general = |index: u32| match d.op_kind(index) {
        OpKind::Register => d.op_register(index).is_gpr(),
        _ => true,
    };
    // What is in a segment register can be seen by all.
    if d.op_kind(1) == OpKind::Register && d.op_register(1).is_segment_register() {
        let value = l.read(d, 1);
        let bytes = if l.is_memory(d, 0) { 2 } else { l.size(d, 0) };
        let value = l.b.zext(value, bytes);
        l.write(d, 0, value);
        return true;
    }
    // Segment, control and debug registers are the operating system's.
    if !general(0) || !general(1) {
        return false;
    }
    let bytes = l.size(d, 0);
    let value = l.read_sized(d, 1, bytes);
    l.write(d, 0, value);
    true
}

/// Both operands in the size of the first.
fn operands(l: &mut Lift, d: &Decoded) -> (Varnode, Varnode) {
    let bytes = l.size(d, 0);
    let a = l.read(d, 0);
    let b = l.read_sized(d, 1, bytes);
    (a, b)
}

fn binary(
    l: &mut Lift,
    d: &Decoded,
    operation: fn(&mut Lift, Varnode, Varnode, Option<Varnode>) -> Varnode,
) -> bool {
    let (a, b) = operands(l, d);
    let to = l.memory_target(d);
    let result = operation(l, a, b, to);
    l.write_register(d, result);
    true
}

fn logic(l: &mut Lift, d: &Decoded, op: BinOp) -> bool {
    let (a, b) = operands(l, d);
    let to = l.memory_target(d);
    let result = if op == BinOp::Xor && a == b && to.is_none() {
        // The idiom for zero needs no operand, and readings need not know that x ^ x = 0.
        l.constant(0, a.bytes)
    } else {
        l.b.bin(op, a, b)
    };
    l.store_early(to, result);
    l.logic_flags(result);
    l.write_register(d, result);
    true
}

/// `inc` and `dec` leave the carry alone.
fn step(l: &mut Lift, d: &Decoded, up: bool) -> bool {
    let a = l.read(d, 0);
    let one = l.constant(1, a.bytes);
    let result = l.b.bin(if up { BinOp::Add } else { BinOp::Sub }, a, one);
    let to = l.memory_target(d);
    l.store_early(to, result);
    let of = l.r.of;
    l.b.push(if up {
        Op::SignedCarry { out: of, a, b: one }
    } else {
        Op::SignedBorrow { out: of, a, b: one }
    });
    l.auxiliary(a, one, result);
    l.result_flags(result);
    l.write_register(d, result);
    true
}

fn multiply(l: &mut Lift, d: &Decoded, signed: bool) -> bool {
    let bytes = l.size(d, 0);
    let (a, b) = match d.op_count() {
        1 => (l.sized(Register::RAX, bytes), l.read(d, 0)),
        2 => operands(l, d),
        _ => (l.read(d, 1), l.read_sized(d, 2, bytes)),
    };
    let extend = |l: &mut Lift, v| if signed { l.b.sext(v, 2 * bytes) } else { l.b.zext(v, 2 * bytes) };
    let (a, b) = (extend(l, a), extend(l, b));
    let product = l.b.bin(BinOp::Mul, a, b);
    let low = product.slice(0, bytes);
    let high = product.slice(bytes, bytes);
    let lost = if signed {
        let back = l.b.sext(low, 2 * bytes);
        l.b.rel(RelOp::Ne, back, product)
    } else {
        l.b.rel_constant(RelOp::Ne, high, 0)
    };
    l.flag(l.r.cf, lost);
    l.flag(l.r.of, lost);
    if d.op_count() > 1 {
        l.write(d, 0, low);
    } else if bytes == 1 {
        l.b.copy(l.r.place(Register::AX), product);
    } else {
        set_sized(l, Register::RAX, low);
        set_sized(l, Register::RDX, high);
    }
    true
}

/// Writes the part of a general register that has the value's size, with the usual rule for 32 bits.
fn set_sized(l: &mut Lift, register: Register, value: Varnode) {
    let out = l.sized(register, value.bytes);
    if l.bits == 64 && value.bytes == 4 {
        let out = l.gpr(register);
        l.b.push(Op::Zext { out, a: value });
    } else {
        l.b.copy(out, value);
    }
}

fn divide(l: &mut Lift, d: &Decoded, signed: bool) -> bool {
    let bytes = l.size(d, 0);
    let divisor = l.read(d, 0);
    let none = l.b.rel_constant(RelOp::Eq, divisor, 0);
    l.b.trap(Some(none), Trap::Divide);
    let dividend = if bytes == 1 {
        l.r.place(Register::AX)
    } else {
        l.b.concat(l.sized(Register::RDX, bytes), l.sized(Register::RAX, bytes))
    };
    let divisor = if signed { l.b.sext(divisor, 2 * bytes) } else { l.b.zext(divisor, 2 * bytes) };
    let quotient = l.b.bin(if signed { BinOp::Sdiv } else { BinOp::Udiv }, dividend, divisor);
    let remainder = l.b.bin(if signed { BinOp::Srem } else { BinOp::Urem }, dividend, divisor);
    let low = quotient.slice(0, bytes);
    let back = if signed { l.b.sext(low, 2 * bytes) } else { l.b.zext(low, 2 * bytes) };
    let lost = l.b.rel(RelOp::Ne, back, quotient);
    l.b.trap(Some(lost), Trap::Divide);
    if bytes == 1 {
        let result = l.b.concat(remainder.slice(0, 1), low);
        l.b.copy(l.r.place(Register::AX), result);
    } else {
        set_sized(l, Register::RAX, low);
        set_sized(l, Register::RDX, remainder.slice(0, bytes));
    }
    true
}

fn compare_exchange(l: &mut Lift, d: &Decoded) -> bool {
    let bytes = l.size(d, 0);
    let old = l.read(d, 0);
    let old = l.b.snapshot(old);
    let expected = l.b.snapshot(l.sized(Register::RAX, bytes));
    let new = l.read(d, 1);
    let same = l.b.rel(RelOp::Eq, expected, old);
    let stored = l.b.select(same, new, old);
    let to = l.memory_target(d);
    l.store_early(to, stored);
    l.sub(expected, old, None);
    // The accumulator keeps all its bits when the comparison succeeds, and a register destination when it fails.
    let accumulator =
        if bytes == 4 && l.bits == 64 { l.gpr(Register::RAX) } else { l.sized(Register::RAX, bytes) };
    let seen = l.b.zext(old, accumulator.bytes);
    let kept = l.b.select(same, accumulator, seen);
    if to.is_none() {
        let place = l.r.place(d.op_register(0));
        let whole = if bytes == 4 && l.bits == 64 { l.gpr(d.op_register(0)) } else { place };
        let new = l.b.zext(new, whole.bytes);
        let value = l.b.select(same, new, whole);
        l.b.copy(accumulator, kept);
        // When the destination is the accumulator itself, the comparison has succeeded.
        l.b.copy(whole, value);
    } else {
        l.b.copy(accumulator, kept);
    }
    true
}

fn compare_exchange_pair(l: &mut Lift, d: &Decoded) -> bool {
    let half = d.memory_size().size() as u16 / 2;
    let address = l.address(d);
    if half == 8 {
        l.check_alignment(address, 16);
    }
    let old = l.b.load(address, 2 * half);
    let expected = l.b.concat(l.sized(Register::RDX, half), l.sized(Register::RAX, half));
    let new = l.b.concat(l.sized(Register::RCX, half), l.sized(Register::RBX, half));
    let same = l.b.rel(RelOp::Eq, expected, old);
    let stored = l.b.select(same, new, old);
    l.b.store(address, stored);
    for (register, part) in [(Register::RAX, old.slice(0, half)), (Register::RDX, old.slice(half, half))] {
        let place = if half == 4 && l.bits == 64 { l.gpr(register) } else { l.sized(register, half) };
        let seen = l.b.zext(part, place.bytes);
        let value = l.b.select(same, place, seen);
        l.b.copy(place, value);
    }
    l.flag(l.r.zf, same);
    true
}

fn byte_swap(l: &mut Lift, a: Varnode) -> Varnode {
    let mut result = l.b.extract(a, (a.bytes - 1) * 8, 1);
    for index in (0..a.bytes - 1).rev() {
        let byte = l.b.extract(a, index * 8, 1);
        result = l.b.concat(byte, result);
    }
    result
}

fn bit_test(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    let bytes = l.size(d, 0);
    let bits = u64::from(bytes) * 8;
    let index = l.read_sized(d, 1, bytes);
    let position = l.b.bin_constant(BinOp::And, index, bits - 1);
    // A bit index in a register reaches beyond the memory operand, in both directions.
    let far = l.is_memory(d, 0) && d.op_kind(1) == OpKind::Register;
    let address = match (l.is_memory(d, 0), far) {
        (false, _) => None,
        (true, false) => Some(l.address(d)),
        (true, true) => {
            let word = l.word();
            let wide = l.b.sext(index, word);
            let units = l.b.bin_constant(BinOp::Ashr, wide, u64::from(bits.trailing_zeros()));
            let distance = l.b.bin_constant(BinOp::Mul, units, u64::from(bytes));
            Some(l.distant_address(d, distance))
        }
    };
    let a = match address {
        Some(address) => l.b.load(address, bytes),
        None => l.read(d, 0),
    };
    let moved = l.b.bin(BinOp::Lshr, a, position);
    let bit = l.b.bin_constant(BinOp::And, moved, 1);
    let was = l.b.rel_constant(RelOp::Ne, bit, 0);
    if mnemonic != Mnemonic::Bt {
        let one = l.constant(1, bytes);
        let mask = l.b.bin(BinOp::Shl, one, position);
        let result = match mnemonic {
            Mnemonic::Bts => l.b.bin(BinOp::Or, a, mask),
            Mnemonic::Btc => l.b.bin(BinOp::Xor, a, mask),
            _ => {
                let rest = l.b.un(UnOp::Not, mask);
                l.b.bin(BinOp::And, a, rest)
            }
        };
        match address {
            Some(address) => l.b.store(address, result),
            None => l.write(d, 0, result),
        }
    }
    l.flag(l.r.cf, was);
    true
}

/// The destination keeps its value, all 64 bits, when the source is zero.
fn bit_scan(l: &mut Lift, d: &Decoded, forward: bool) -> bool {
    let a = l.read(d, 1);
    let none = l.b.rel_constant(RelOp::Eq, a, 0);
    let index = if forward {
        l.b.un(UnOp::Ctz, a)
    } else {
        let zeros = l.b.un(UnOp::Clz, a);
        let top = l.constant(u64::from(a.width()) - 1, a.bytes);
        l.b.bin(BinOp::Sub, top, zeros)
    };
    let register = d.op_register(0);
    let place = if l.bits == 64 && register.is_gpr32() { l.gpr(register) } else { l.r.place(register) };
    let index = l.b.zext(index, place.bytes);
    let result = l.b.select(none, place, index);
    l.b.copy(place, result);
    l.flag(l.r.zf, none);
    true
}

fn count_bits(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    let a = l.read(d, 1);
    let none = l.b.rel_constant(RelOp::Eq, a, 0);
    let op = match mnemonic {
        Mnemonic::Tzcnt => UnOp::Ctz,
        Mnemonic::Lzcnt => UnOp::Clz,
        _ => UnOp::Popcount,
    };
    let count = l.b.un(op, a);
    if mnemonic == Mnemonic::Popcnt {
        for flag in [l.r.cf, l.r.of, l.r.sf, l.r.af, l.r.pf] {
            l.clear(flag);
        }
        l.flag(l.r.zf, none);
    } else {
        let zero = l.b.rel_constant(RelOp::Eq, count, 0);
        l.flag(l.r.cf, none);
        l.flag(l.r.zf, zero);
    }
    l.write(d, 0, count);
    true
}

fn lowest_set(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    let a = l.read(d, 1);
    let none = l.b.rel_constant(RelOp::Eq, a, 0);
    let less = l.b.bin_constant(BinOp::Sub, a, 1);
    let (result, carry) = match mnemonic {
        Mnemonic::Blsi => {
            let negative = l.b.un(UnOp::Neg, a);
            (l.b.bin(BinOp::And, a, negative), l.b.not(none))
        }
        Mnemonic::Blsr => (l.b.bin(BinOp::And, a, less), none),
        _ => (l.b.bin(BinOp::Xor, a, less), none),
    };
    l.logic_flags(result);
    l.flag(l.r.cf, carry);
    l.write(d, 0, result);
    true
}

fn bit_field(l: &mut Lift, d: &Decoded) -> bool {
    let a = l.read(d, 1);
    let control = l.read(d, 2);
    let start = l.b.bin_constant(BinOp::And, control, 0xff);
    let high = l.b.bin_constant(BinOp::Lshr, control, 8);
    let length = l.b.bin_constant(BinOp::And, high, 0xff);
    let moved = l.b.bin(BinOp::Lshr, a, start);
    let ones = l.constant(u64::MAX, a.bytes);
    let above = l.b.bin(BinOp::Shl, ones, length);
    let mask = l.b.un(UnOp::Not, above);
    let result = l.b.bin(BinOp::And, moved, mask);
    l.logic_flags(result);
    l.write(d, 0, result);
    true
}

fn zero_high(l: &mut Lift, d: &Decoded) -> bool {
    let a = l.read(d, 1);
    let control = l.read(d, 2);
    let index = l.b.bin_constant(BinOp::And, control, 0xff);
    let ones = l.constant(u64::MAX, a.bytes);
    let above = l.b.bin(BinOp::Shl, ones, index);
    let mask = l.b.un(UnOp::Not, above);
    let result = l.b.bin(BinOp::And, a, mask);
    let beyond = l.b.rel_constant(RelOp::Uge, index, u64::from(a.width()));
    l.logic_flags(result);
    l.flag(l.r.cf, beyond);
    l.write(d, 0, result);
    true
}

/// The flags register, four bytes, as `pushf` shows it.
pub(super) fn pack_flags(l: &mut Lift) -> Varnode {
    // Bit 1 is always set.
    let mut all = l.constant(2, 4);
    let named = [(0, l.r.cf), (2, l.r.pf), (4, l.r.af), (6, l.r.zf), (7, l.r.sf), (10, l.r.df), (11, l.r.of)];
    let others = l.r.other_flags.clone();
    for (bit, flag) in named.into_iter().chain(others) {
        let wide = l.b.zext(flag, 4);
        let moved = l.b.bin_constant(BinOp::Shl, wide, u64::from(bit));
        all = l.b.bin(BinOp::Or, all, moved);
    }
    all
}
