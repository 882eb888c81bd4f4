//! AArch64: every class of words but branches and what belongs to the system.

use super::{ARENA, Layout, Port, Record, Slot};
use crate::random::Random;
use parallax_ir::Instruction;
use parallax_sem::ByteOrder;

/// The 64-bit ARM.
pub struct Aarch64;

const LAYOUT: Layout = Layout { word: 8, order: ByteOrder::Little };

/// Holds the record.
const RESERVED: u32 = 28;

fn field(word: u32, low: u32) -> u32 {
    word >> low & 31
}

/// The classes by bits 28 to 25: immediates, loads and stores, registers, floats and vectors.
const CLASSES: [u32; 10] = [0b1000, 0b1001, 0b0100, 0b0110, 0b1100, 0b1110, 0b0101, 0b1101, 0b0111, 0b1111];

fn is_memory(word: u32) -> bool {
    word >> 27 & 1 == 1 && word >> 25 & 1 == 0
}

/// Loads and stores that are not plain: exclusive ones, those with an order or a tag, atomic ones, and those of a literal.
fn is_special_access(word: u32) -> bool {
    let exclusive = word & 0x3f00_0000 == 0x0800_0000;
    let literal = word & 0x3b00_0000 == 0x1800_0000;
    let tags_or_released = word & 0x3f00_0000 == 0x1900_0000;
    // Atomic operations and pointers with authentication: an odd encoding of a register offset.
    let atomic = word & 0x3b20_0c00 == 0x3820_0000 || word & 0x3b20_0400 == 0x3820_0400;
    let unprivileged = word & 0x3b20_0c00 == 0x3800_0800;
    let tagged_pair = word & 0xffc0_0000 == 0x6880_0000 || word & 0xfe40_0000 == 0x6800_0000;
    exclusive || literal || tags_or_released || atomic || unprivileged || tagged_pair
}

/// A register that is loaded twice, or loaded and moved on.
fn is_unpredictable(word: u32) -> bool {
    let (t, n, second) = (field(word, 0), field(word, 5), field(word, 10));
    let general = word >> 26 & 1 == 0;
    let pair = word & 0x3a00_0000 == 0x2800_0000;
    let moves = if pair { word >> 23 & 1 == 1 } else { word & 0x3b20_0400 == 0x3800_0400 };
    let twice = pair && word >> 22 & 1 == 1 && t == second;
    twice || general && moves && n != 31 && (t == n || pair && second == n)
}

/// The distance from the base register to the data of a load or store.
fn displacement(word: u32) -> i64 {
    let unsigned = word & 0x3b00_0000 == 0x3900_0000;
    if unsigned {
        let wide = word >> 26 & 1 == 1 && word >> 23 & 1 == 1;
        let scale = if wide { 4 } else { word >> 30 };
        return i64::from(word >> 10 & 0xfff) << scale;
    }
    let pair = word & 0x3a00_0000 == 0x2800_0000;
    let after = word >> 23 & 3 == 1;
    if pair && !after {
        let scale = match (word >> 26 & 1, word >> 30) {
            (1, size) => 2 + size,
            (_, size) => 2 + (size >> 1),
        };
        // Seven bits with a sign.
        return i64::from((word as i32) << 10 >> 25) << scale;
    }
    0
}

impl Port for Aarch64 {
    fn language(&self) -> &'static str {
        "aarch64"
    }

    fn options(&self) -> &'static [&'static str] {
        &["--target=aarch64-linux-gnu"]
    }

    fn emulator(&self) -> &'static [&'static str] {
        &["qemu-aarch64"]
    }

    fn word(&self) -> usize {
        8
    }

    fn slots(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        let mut whole = |register: String, at: usize, bytes: usize| {
            slots.push(Slot { register, at, bytes, low: 0, width: 8 * bytes as u16 });
        };
        for number in (0..31).filter(|number| *number != RESERVED as usize) {
            whole(format!("X{number}"), LAYOUT.general(number), 8);
        }
        whole("SP".to_owned(), LAYOUT.special(3), 8);
        whole("FPCR".to_owned(), LAYOUT.special(1), 8);
        whole("FPSR".to_owned(), LAYOUT.special(2), 8);
        for number in 0..32 {
            whole(format!("Q{number}"), LAYOUT.vector(2 * number), 16);
        }
        for (register, low) in [("NG", 31), ("ZR", 30), ("CY", 29), ("OV", 28)] {
            slots.push(Slot {
                register: register.to_owned(),
                at: LAYOUT.special(0),
                bytes: 8,
                low,
                width: 1,
            });
        }
        slots
    }

    fn code(&self, random: &mut Random) -> Option<Vec<u8>> {
        let class = random.pick(&CLASSES);
        let mut word = random.number() as u32 & 0xe1ff_ffff | class << 25;
        // Vectors and floats are many and sparse: half of the words have a shape that exists.
        if class & 7 == 7 && random.below(2) == 0 {
            word = match random.below(4) {
                0 => word & 0x00ff_ffff | random.pick(&[0x1e, 0x1f]) << 24 | 1 << 21,
                1 => word | 1 << 21 | 1 << 10,
                2 => word & !(0x1f << 17 | 3 << 10) | 1 << 21 | 2 << 10,
                _ => word,
            };
        }
        if is_memory(word) && is_special_access(word) {
            return None;
        }
        if is_memory(word) && is_unpredictable(word) {
            return None;
        }
        let fields = [0, 5, 10, 16].map(|low| field(word, low));
        (!fields.contains(&RESERVED)).then(|| word.to_le_bytes().to_vec())
    }

    /// QEMU 7.2 lets the sign of a half made fixed-point run on into the rest of the register.
    fn is_left_out(&self, instruction: &Instruction, register: &str) -> bool {
        let half = instruction.text.starts_with("fcvtzs h") && instruction.text.contains('#');
        half && register.starts_with('Q')
    }

    fn state(&self, record: &mut Record, random: &mut Random) {
        let word = record.number(0, 4) as u32;
        for number in 0..31 {
            record.set_general(number, random.interesting());
        }
        for number in 0..32 {
            let value = vector(random);
            record.set_vector(2 * number, value as u64);
            record.set_vector(2 * number + 1, (value >> 64) as u64);
        }
        record.set_special(0, random.below(16) << 28);
        // Rounding; now and then flushing, and default results.
        let rare = |random: &mut Random, bit: u64| u64::from(random.below(4) == 0) << bit;
        let control = random.below(4) << 22 | rare(random, 24) | rare(random, 25) | rare(random, 19);
        record.set_special(1, control);
        let status = if random.below(2) == 0 { random.number() & 0x0800_009f } else { 0 };
        record.set_special(2, status);
        record.set_special(3, random.interesting() & !15);
        if is_memory(word) {
            let base = ARENA + 496 + 16 * random.below(2);
            let base = base.wrapping_sub(displacement(word) as u64);
            let (n, m) = (field(word, 5) as usize, field(word, 16) as usize);
            let register_offset = word & 0x3b20_0c00 == 0x3820_0800;
            if (register_offset || word & 0xbe80_0000 == 0x0c80_0000) && m < 31 {
                record.set_general(m, random.below(24).wrapping_sub(8));
            }
            match n {
                31 => record.set_special(3, base & !15),
                _ => record.set_general(n, base),
            }
        }
    }
}

/// Sixteen bytes worth testing, halves among them.
fn vector(random: &mut Random) -> u128 {
    if random.below(6) > 0 {
        return random.vector();
    }
    (0..8).fold(0, |all, _| {
        let half = match random.below(4) {
            0 => random.pick(&[0, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 1, 0x3ff, 0x400, 0x7bff]),
            1 => random.number() as u16 & 0x83ff,
            2 => random.number() as u16,
            _ => random.number() as u16 & 0x83ff | (10 + random.below(10) as u16) << 10,
        };
        all << 16 | u128::from(half)
    })
}
