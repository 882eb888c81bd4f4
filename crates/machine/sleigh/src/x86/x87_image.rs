//! The x87 as programs store and load it: control, status and tags, alone or with all registers.

use crate::x86::operand::Lift;
use crate::x86::x87::{initialise, set_top};
use iced_x86::{Instruction as Decoded, Mnemonic, Register};
use parallax_ir::{Intrinsic, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp, UnOp};

/// Instructions that load, which wait for exceptions first.
pub(super) fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    match mnemonic {
        Mnemonic::Fldcw => {
            // Reserved bits do not stick; bit 6 is always set.
            let value = l.read(d, 0);
            set_control(l, value);
            summarise(l);
        }
        Mnemonic::Fldenv => load_environment(l, d),
        Mnemonic::Frstor => {
            let address = l.address(d);
            let from = 7 * step(d);
            let values: Vec<Varnode> = (0..8).map(|index| field(l, address, from + 10 * index, 10)).collect();
            load_environment(l, d);
            for (index, value) in values.into_iter().enumerate() {
                l.b.copy(l.r.st[index], value);
            }
        }
        _ => return false,
    }
    true
}

/// Instructions that store, exceptions pending or not.
pub(super) fn store(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    match mnemonic {
        Mnemonic::Fnstenv => {
            store_environment(l, d);
            // Storing the environment masks all exceptions.
            let masked = l.b.bin_constant(BinOp::Or, l.r.control_word, 0x3f);
            l.b.copy(l.r.control_word, masked);
            summarise(l);
        }
        Mnemonic::Fnsave => {
            let address = l.address(d);
            store_environment(l, d);
            for index in 0..8 {
                let value = l.r.st[index];
                store_at(l, address, 7 * step(d) + 10 * index as u64, value);
            }
            initialise(l);
        }
        Mnemonic::Fxsave | Mnemonic::Fxsave64 => save(l, d),
        Mnemonic::Fxrstor | Mnemonic::Fxrstor64 => restore(l, d),
        _ => return false,
    }
    true
}

fn set_control(l: &mut Lift, value: Varnode) {
    let kept = l.b.bin_constant(BinOp::And, value, 0x1f3f);
    let word = l.b.bin_constant(BinOp::Or, kept, 0x40);
    l.b.copy(l.r.control_word, word);
}

/// Makes the summary bits of the status word: whether an exception has been raised that is not masked.
fn summarise(l: &mut Lift) {
    let (control, status) = (l.r.control_word, l.r.status_word);
    let open = l.b.un(UnOp::Not, control);
    let raised = l.b.bin_constant(BinOp::And, status, 0x3f);
    let unmasked = l.b.bin(BinOp::And, raised, open);
    let any = l.b.rel_constant(RelOp::Ne, unmasked, 0);
    let (set, clear) = (l.constant(0x8080, 2), l.constant(0, 2));
    let bits = l.b.select(any, set, clear);
    let rest = l.b.bin_constant(BinOp::And, status, 0x7f7f);
    let word = l.b.bin(BinOp::Or, rest, bits);
    l.b.copy(status, word);
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
fn set_status(l: &mut Lift, word: Varnode) {
    set_top(l, word);
    for (flag, bit) in l.r.c.into_iter().zip([8, 9, 10, 14]) {
        let value = l.b.bit(word, bit);
        l.b.copy(flag, value);
    }
    let rest = l.b.bin_constant(BinOp::And, word, 0xb8ff);
    l.b.copy(l.r.status_word, rest);
}

/// Twice the number of the register that is on top.
fn twice_top(l: &mut Lift, status: Varnode) -> Varnode {
    let top = l.b.bin_constant(BinOp::Lshr, status, 10);
    l.b.bin_constant(BinOp::And, top, 14)
}

/// The word turned left (or right) by a distance below 16.
fn turned(l: &mut Lift, word: Varnode, distance: Varnode, left: bool) -> Varnode {
    let (there, back) = if left { (BinOp::Shl, BinOp::Lshr) } else { (BinOp::Lshr, BinOp::Shl) };
    let sixteen = l.constant(16, 2);
    let rest = l.b.bin(BinOp::Sub, sixteen, distance);
    let one = l.b.bin(there, word, distance);
    let other = l.b.bin(back, word, rest);
    l.b.bin(BinOp::Or, one, other)
}

/// The tag word as a program sees it: two bits for each register by its own number, 0 a number, 1 zero, 2 anything
/// else, 3 empty.
fn full_tags(l: &mut Lift) -> Varnode {
    let mut all = l.r.tag_word;
    for index in 0..8u64 {
        let register = l.r.st[index as usize];
        let (head, significand) = (register.slice(8, 2), register.slice(0, 8));
        let exponent = l.b.bin_constant(BinOp::And, head, 0x7fff);
        let no_exponent = l.b.rel_constant(RelOp::Eq, exponent, 0);
        let large = l.b.rel_constant(RelOp::Eq, exponent, 0x7fff);
        let nothing = l.b.rel_constant(RelOp::Eq, significand, 0);
        let integer = l.sign(significand);
        let no_integer = l.b.not(integer);
        let zero = l.b.bool(BoolOp::And, no_exponent, nothing);
        let edge = l.b.bool(BoolOp::Or, no_exponent, large);
        let odd = l.b.bool(BoolOp::Or, edge, no_integer);
        let (one, two, none) =
            (l.constant(1 << (2 * index), 2), l.constant(2 << (2 * index), 2), l.constant(0, 2));
        let special = l.b.select(odd, two, none);
        let kind = l.b.select(zero, one, special);
        all = l.b.bin(BinOp::Or, all, kind);
    }
    let distance = twice_top(l, l.r.status_word);
    turned(l, all, distance, true)
}

/// Takes tags by number; the status word has been set.
fn set_tags(l: &mut Lift, by_number: Varnode) {
    let distance = twice_top(l, l.r.status_word);
    let tags = turned(l, by_number, distance, false);
    let above = l.b.bin_constant(BinOp::Lshr, tags, 1);
    let both = l.b.bin(BinOp::And, tags, above);
    let empty = l.b.bin_constant(BinOp::And, both, 0x5555);
    let three = l.b.bin_constant(BinOp::Mul, empty, 3);
    l.b.copy(l.r.tag_word, three);
}

/// Bytes per field of the environment: two where the operand size is 16 bits, else four.
fn step(d: &Decoded) -> u64 {
    if matches!(d.memory_size().size(), 14 | 94) { 2 } else { 4 }
}

/// The environment, of seven fields; the pointers to the last instruction are not kept.
fn store_environment(l: &mut Lift, d: &Decoded) {
    let address = l.address(d);
    let status = status(l);
    let tags = full_tags(l);
    let words = [l.r.control_word, status, tags];
    let step = step(d);
    // The upper halves of long fields read as ones, but for the pointers.
    for (index, word) in words.into_iter().enumerate() {
        let ones = l.constant(0xffff, 2);
        let value = if step == 2 { word } else { l.b.concat(ones, word) };
        store_at(l, address, step * index as u64, value);
    }
    for index in 3..7 {
        let value = l.constant(if index == 6 { 0xffff_0000 } else { 0 }, step as u16);
        store_at(l, address, step * index, value);
    }
}

fn load_environment(l: &mut Lift, d: &Decoded) {
    let address = l.address(d);
    let control = field(l, address, 0, 2);
    let status = field(l, address, step(d), 2);
    let tags = field(l, address, 2 * step(d), 2);
    set_control(l, control);
    set_status(l, status);
    set_tags(l, tags);
    summarise(l);
}

fn field(l: &mut Lift, address: Varnode, distance: u64, bytes: u16) -> Varnode {
    let at = l.b.bin_constant(BinOp::Add, address, distance);
    l.b.load(at, bytes)
}

/// Stores at a distance from an address.
fn store_at(l: &mut Lift, address: Varnode, distance: u64, value: Varnode) {
    let at = l.b.bin_constant(BinOp::Add, address, distance);
    l.b.store(at, value);
}

/// How many SSE registers there are.
fn vectors(l: &Lift) -> usize {
    if l.bits == 64 { 16 } else { 8 }
}

/// The 512-byte image; instruction and data pointers are zero.
fn save(l: &mut Lift, d: &Decoded) {
    let address = l.address(d);
    l.check_alignment(address, 16);
    let control = l.r.control_word;
    store_at(l, address, 0, control);
    let status = status(l);
    store_at(l, address, 2, status);
    // One bit per register instead of two, and set for what is not empty.
    let distance = twice_top(l, l.r.status_word);
    let tags = turned(l, l.r.tag_word, distance, true);
    let every_other = l.constant(0x5555, 2);
    let empty = l.b.call(Intrinsic::ExtractBits, 2, &[tags, every_other]);
    let short = l.b.bin_constant(BinOp::Xor, empty, 0xff);
    store_at(l, address, 4, short);
    for distance in [6u64, 8, 16] {
        let zero = l.constant(0, if distance == 6 { 2 } else { 8 });
        store_at(l, address, distance, zero);
    }
    let mxcsr = l.r.mxcsr;
    store_at(l, address, 24, mxcsr);
    let mask = l.constant(0xffff, 4);
    store_at(l, address, 28, mask);
    for index in 0..8 {
        let value = l.r.st[index];
        let wide = l.b.zext(value, 16);
        store_at(l, address, 32 + 16 * index as u64, wide);
    }
    for index in 0..vectors(l) {
        let value = l.r.place(Register::XMM0 + index as u32);
        store_at(l, address, 160 + 16 * index as u64, value);
    }
}

fn restore(l: &mut Lift, d: &Decoded) {
    let address = l.address(d);
    l.check_alignment(address, 16);
    let mxcsr = field(l, address, 24, 4);
    l.check_mxcsr(mxcsr);
    let control = field(l, address, 0, 2);
    set_control(l, control);
    let word = field(l, address, 2, 2);
    set_status(l, word);
    let short = field(l, address, 4, 1);
    let empty = l.b.un(UnOp::Not, short);
    let empty = l.b.zext(empty, 2);
    let every_other = l.constant(0x5555, 2);
    let spread = l.b.call(Intrinsic::DepositBits, 2, &[empty, every_other]);
    let tags = l.b.bin_constant(BinOp::Mul, spread, 3);
    set_tags(l, tags);
    summarise(l);
    l.b.copy(l.r.mxcsr, mxcsr);
    for index in 0..8 {
        let value = field(l, address, 32 + 16 * index as u64, 10);
        l.b.copy(l.r.st[index], value);
    }
    for index in 0..vectors(l) {
        let value = field(l, address, 160 + 16 * index as u64, 16);
        let place = l.r.place(Register::XMM0 + index as u32);
        l.b.copy(place, value);
    }
}
