//! RISC-V, 64-bit, with the extensions that Linux programs use (GC).

use super::{ARENA, Layout, Port, Record, Slot};
use crate::random::Random;
use parallax_sem::ByteOrder;

/// The 64-bit RISC-V.
pub struct Riscv;

const LAYOUT: Layout = Layout { word: 8, order: ByteOrder::Little };

/// Holds the record.
const RESERVED: u32 = 31;

const INTEGERS: [&str; 32] = [
    "ZERO", "RA", "SP", "GP", "TP", "T0", "T1", "T2", "S0", "S1", "A0", "A1", "A2", "A3", "A4", "A5", "A6",
    "A7", "S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S11", "T3", "T4", "T5", "T6",
];
const FLOATS: [&str; 32] = [
    "FT0", "FT1", "FT2", "FT3", "FT4", "FT5", "FT6", "FT7", "FS0", "FS1", "FA0", "FA1", "FA2", "FA3", "FA4",
    "FA5", "FA6", "FA7", "FS2", "FS3", "FS4", "FS5", "FS6", "FS7", "FS8", "FS9", "FS10", "FS11", "FT8",
    "FT9", "FT10", "FT11",
];

/// Opcodes of 32-bit instructions: no branches, no calls.
const OPCODES: [u32; 19] = [
    0x37, 0x17, 0x13, 0x13, 0x33, 0x33, 0x1b, 0x3b, 0x03, 0x23, 0x07, 0x27, 0x2f, 0x53, 0x53, 0x43, 0x47,
    0x4b, 0x4f,
];

fn field(word: u32, low: u32) -> u32 {
    word >> low & 31
}

/// A compressed instruction, its base register and the distance to its data, if it has any.
fn compressed_memory(word: u32) -> Option<(u32, u64)> {
    let bit = |at: u32, to: u32| u64::from(word >> at & 1) << to;
    let short = 8 + (word >> 7 & 7);
    let double = bit(10, 3) | bit(11, 4) | bit(12, 5) | bit(5, 6) | bit(6, 7);
    let single = bit(6, 2) | bit(10, 3) | bit(11, 4) | bit(12, 5) | bit(5, 6);
    let on_stack_double = bit(5, 3) | bit(6, 4) | bit(12, 5) | bit(2, 6) | bit(3, 7) | bit(4, 8);
    let on_stack_single = bit(4, 2) | bit(5, 3) | bit(6, 4) | bit(12, 5) | bit(2, 6) | bit(3, 7);
    let to_stack_double = bit(10, 3) | bit(11, 4) | bit(12, 5) | bit(7, 6) | bit(8, 7) | bit(9, 8);
    let to_stack_single = bit(9, 2) | bit(10, 3) | bit(11, 4) | bit(12, 5) | bit(7, 6) | bit(8, 7);
    Some(match (word & 3, word >> 13 & 7) {
        (0, 1 | 3 | 5 | 7) => (short, double),
        (0, 2 | 6) => (short, single),
        (2, 1 | 3) => (2, on_stack_double),
        (2, 2) => (2, on_stack_single),
        (2, 5 | 7) => (2, to_stack_double),
        (2, 6) => (2, to_stack_single),
        _ => return None,
    })
}

/// The base register of an instruction that reaches memory, and the distance to the data.
fn memory(word: u32) -> Option<(u32, u64)> {
    if word & 3 != 3 {
        return compressed_memory(word);
    }
    let distance = match word & 0x7f {
        0x03 | 0x07 => i64::from(word as i32 >> 20),
        0x23 | 0x27 => i64::from((word as i32 >> 25) << 5 | field(word, 7) as i32),
        0x2f => 0,
        _ => return None,
    };
    Some((field(word, 15), distance as u64))
}

impl Port for Riscv {
    fn language(&self) -> &'static str {
        "riscv64"
    }

    fn options(&self) -> &'static [&'static str] {
        &["--target=riscv64-linux-gnu", "-march=rv64gc", "-mabi=lp64d"]
    }

    fn emulator(&self) -> &'static [&'static str] {
        &["qemu-riscv64"]
    }

    fn word(&self) -> usize {
        8
    }

    fn slots(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        let mut part = |register: &str, at: usize, low: u16, width: u16| {
            slots.push(Slot { register: register.to_owned(), at, bytes: 8, low, width });
        };
        for (number, name) in INTEGERS.iter().enumerate().filter(|(number, _)| *number != RESERVED as usize) {
            part(name, LAYOUT.general(number), 0, 64);
        }
        for (number, name) in FLOATS.iter().enumerate() {
            part(name, LAYOUT.vector(number), 0, 64);
        }
        part("FFLAGS", LAYOUT.special(0), 0, 5);
        part("FRM", LAYOUT.special(0), 5, 3);
        part("FCSR", LAYOUT.special(0), 0, 8);
        slots
    }

    fn code(&self, random: &mut Random) -> Option<Vec<u8>> {
        if random.below(4) == 0 {
            let half = random.number() as u32 & 0xffff;
            let quadrant = half & 3;
            let jump =
                quadrant == 1 && half >> 13 >= 5 || quadrant == 2 && half >> 13 == 4 && half & 0x7c == 0;
            let fields = [field(half, 7), field(half, 2)];
            let tried = quadrant != 3 && !jump && !fields.contains(&RESERVED);
            return tried.then(|| half.to_le_bytes()[..2].to_vec());
        }
        let opcode = random.pick(&OPCODES);
        let mut word = random.number() as u32 & !0x7f | opcode;
        if random.below(3) > 0 {
            // Fields as they mostly are.
            let top = match opcode {
                0x33 | 0x3b => random.pick(&[0, 0x20, 1]),
                0x13 | 0x1b if word >> 12 & 3 == 1 => random.pick(&[0, 0x20, 1, 0x21]),
                0x53 => {
                    random.pick(&[0, 4, 8, 12, 0x2c, 0x10, 0x14, 0x50, 0x20, 0x60, 0x68, 0x70, 0x78])
                        | (word >> 25 & 1)
                }
                0x2f => random.pick(&[0, 4, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70]) | word >> 25 & 3,
                _ => word >> 25,
            };
            word = word & 0x01ff_ffff | top << 25;
            if opcode == 0x53 && top >= 0x20 && top != 0x50 && top != 0x51 && top != 0x2c {
                word &= !(0x1c << 20);
            }
            if opcode == 0x53 && (top & !1 == 0x2c || top & !1 == 0x70 || top & !1 == 0x78) {
                word &= !(0x1f << 20);
            }
        }
        if matches!(opcode, 0x43 | 0x47 | 0x4b | 0x4f | 0x53) && random.below(3) == 0 {
            // The mode that FRM names.
            word |= 7 << 12;
        }
        if random.below(12) == 0 {
            // The state of floats.
            let kind = random.pick(&[1, 2, 3, 5, 6, 7]);
            word = word & 0x000f_8f80 | 0x73 | kind << 12 | (1 + random.below(3) as u32) << 20;
        }
        // Reservations are left to compiled functions.
        if word & 0x7f == 0x2f && matches!(word >> 27, 2 | 3) {
            return None;
        }
        let fields = [field(word, 7), field(word, 15), field(word, 20)];
        (!fields.contains(&RESERVED)).then(|| word.to_le_bytes().to_vec())
    }

    fn state(&self, record: &mut Record, random: &mut Random) {
        let word = record.number(0, record.code().len()) as u32;
        for number in 1..32 {
            record.set_general(number, random.interesting());
        }
        // Where all operands are of the instruction's size and have few bits, rounding modes differ.
        let sparse = random.below(3) == 0;
        for number in 0..32 {
            let value = match random.below(5) {
                _ if sparse && word >> 25 & 1 == 1 => random.sparse_double(),
                _ if sparse => 0xffff_ffff << 32 | u64::from(random.sparse_single()),
                0..=1 => random.double(),
                2..=3 => 0xffff_ffff << 32 | u64::from(random.single()),
                _ => random.number(),
            };
            record.set_vector(number, value);
        }
        let mode = if random.below(8) == 0 { random.below(8) } else { random.below(5) };
        let flags = if random.below(2) == 0 { random.below(32) } else { 0 };
        record.set_special(0, mode << 5 | flags);
        if let Some((base, distance)) = memory(word)
            && base != 0
        {
            let aligned = word & 0x7f == 0x2f || random.below(2) == 0;
            let at = ARENA + 256 + if aligned { 8 * random.below(32) } else { random.below(256) };
            record.set_general(base as usize, at.wrapping_sub(distance));
        }
    }
}
