//! MIPS, 32-bit, of the second release, in both byte orders.

use super::{ARENA, Layout, Port, Record, Slot};
use crate::random::Random;
use parallax_sem::ByteOrder;

/// The 32-bit MIPS.
pub struct Mips {
    /// The order of bytes.
    pub order: ByteOrder,
}

/// Holds the record.
const RESERVED: u32 = 27;

const GENERAL: [&str; 32] = [
    "ZERO", "AT", "V0", "V1", "A0", "A1", "A2", "A3", "T0", "T1", "T2", "T3", "T4", "T5", "T6", "T7", "S0",
    "S1", "S2", "S3", "S4", "S5", "S6", "S7", "T8", "T9", "K0", "K1", "GP", "SP", "S8", "RA",
];

fn field(word: u32, low: u32) -> u32 {
    word >> low & 31
}

/// Functions of the first opcode that neither jump nor call the system.
const FUNCTIONS: [u32; 31] = [
    0, 2, 3, 4, 6, 7, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27, 32, 33, 34, 35, 36, 37, 38, 39, 42, 43, 48, 49,
    50, 51, 52,
];
const IMMEDIATES: [u32; 8] = [8, 9, 10, 11, 12, 13, 14, 15];
const MEMORY: [u32; 16] = [32, 33, 34, 35, 36, 37, 38, 40, 41, 42, 43, 46, 49, 53, 57, 61];

impl Mips {
    fn layout(&self) -> Layout {
        Layout { word: 4, order: self.order }
    }
}

impl Port for Mips {
    fn language(&self) -> &'static str {
        if self.order == ByteOrder::Big { "mips" } else { "mipsel" }
    }

    fn options(&self) -> &'static [&'static str] {
        match self.order {
            ByteOrder::Big => {
                &["--target=mips-linux-gnu", "-mips32r2", "-mno-abicalls", "-mfp32", "-modd-spreg"]
            }
            ByteOrder::Little => {
                &["--target=mipsel-linux-gnu", "-mips32r2", "-mno-abicalls", "-mfp32", "-modd-spreg"]
            }
        }
    }

    fn emulator(&self) -> &'static [&'static str] {
        if self.order == ByteOrder::Big { &["qemu-mips"] } else { &["qemu-mipsel"] }
    }

    fn word(&self) -> usize {
        4
    }

    fn slots(&self) -> Vec<Slot> {
        let layout = self.layout();
        let whole = |register: &str, at: usize| Slot {
            register: register.to_owned(),
            at,
            bytes: 4,
            low: 0,
            width: 32,
        };
        let mut slots: Vec<Slot> = GENERAL
            .iter()
            .enumerate()
            .filter(|(number, _)| *number != RESERVED as usize)
            .map(|(number, name)| whole(name, layout.general(number)))
            .collect();
        slots.push(whole("HI", layout.special(0)));
        slots.push(whole("LO", layout.special(1)));
        slots.push(whole("FCSR", layout.special(2)));
        slots.extend((0..32).map(|number| whole(&format!("F{number}"), layout.vector(0) + 4 * number)));
        slots
    }

    fn code(&self, random: &mut Random) -> Option<Vec<u8>> {
        let word = random.number() as u32 & 0x03ff_ffff;
        let word = match random.below(8) {
            0 | 1 => {
                let middle = if random.below(2) == 0 { word & 0x7c0 } else { 0 };
                word & !0x7ff | word & 0xf800 | middle | random.pick(&FUNCTIONS)
            }
            2 => word | random.pick(&IMMEDIATES) << 26,
            3 | 4 => word | random.pick(&MEMORY) << 26,
            // Floats; even registers, as doubles have.
            5 | 6 => word & 0x001e_f7ff & !(1 << 6) | 0x11 << 26 | random.pick(&[16, 16, 17, 17, 20]) << 21,
            _ => match random.below(4) {
                0 => word & !63 | 0x1c << 26 | random.pick(&[0, 1, 2, 4, 5, 32, 33]),
                1 => word & !63 | 0x1f << 26 | random.pick(&[0, 4, 32]),
                2 => word & 0x03de_f7bf & !63 | 0x13 << 26 | random.pick(&[32, 33, 40, 41, 48, 49, 56, 57]),
                _ => word & 0x001f_ffff & !0x7ff | 0x11 << 26 | random.pick(&[0, 2, 3, 4, 6, 7]) << 21,
            },
        };
        let fields = [field(word, 21), field(word, 16), field(word, 11)];
        let bytes = match self.order {
            ByteOrder::Big => word.to_be_bytes(),
            ByteOrder::Little => word.to_le_bytes(),
        };
        // Writes of the float unit's registers but the status.
        let control = word >> 26 == 0x11 && matches!(field(word, 21), 2 | 6) && field(word, 11) != 31;
        (!fields.contains(&RESERVED) && !control && !is_unpredictable(word)).then(|| bytes.to_vec())
    }

    fn state(&self, record: &mut Record, random: &mut Random) {
        let layout = self.layout();
        let word = record.number(0, 4) as u32;
        for number in 1..32 {
            record.set_general(number, random.interesting());
        }
        for number in 0..32 {
            let value = match random.below(4) {
                // Not numbers, quiet as this processor has it, as singles and as upper halves of doubles.
                0 if random.below(6) == 0 => {
                    random.pick(&[0x7f80_0001, 0xff9f_ffff, 0x7ff0_0000, 0xfff1_2345])
                }
                0 => random.number() as u32,
                1 => random.single(),
                _ => (random.double() >> (32 * random.below(2))) as u32,
            };
            record.put(layout.vector(0) + 4 * number, 4, u128::from(value));
        }
        record.set_special(0, random.interesting());
        record.set_special(1, random.interesting());
        let flush = u64::from(random.below(6) == 0) << 24;
        let conditions = if random.below(2) == 0 { random.number() & 0xfe80_007c } else { 0 };
        record.set_special(2, random.below(4) | flush | conditions);
        if MEMORY.contains(&(word >> 26)) {
            let distance = i64::from(word as i16);
            let byte = matches!(word >> 26, 32 | 34 | 36 | 38 | 40 | 42 | 46);
            let at = if byte { random.below(256) } else { 8 * random.below(32) };
            record.set_general(field(word, 21) as usize, (ARENA + 256 + at).wrapping_sub(distance as u64));
        }
        if word >> 26 == 0 && matches!(word & 63, 26 | 27) {
            // Quotients by zero are left open.
            record.set_general(field(word, 16) as usize, random.interesting() | 1);
        }
        if word & 0xfc00_003f == 0x4400_0006 || field(word, 21) == 6 && word >> 26 == 0x11 {
            // What goes into the status register is a state of it.
            record.set_general(field(word, 16) as usize, random.number() & 0xff83_f07f);
        }
    }
}

/// Division by zero and products whose registers are left open; fields of bits that do not fit; a base of zero.
fn is_unpredictable(word: u32) -> bool {
    let (s, t, d, low) = (field(word, 21), field(word, 16), field(word, 11), field(word, 6));
    let takes_out = word >> 26 == 0x1f && word & 63 == 0 && d + low > 31;
    let puts_in = word >> 26 == 0x1f && word & 63 == 4 && d < low;
    let counts = word >> 26 == 0x1c && matches!(word & 63, 32 | 33) && t != d;
    let moves_out = matches!(word & 0xfc00_003f, 0x10 | 0x12) && (s != 0 || t != 0 || low != 0);
    let by_zero = word >> 26 == 0 && matches!(word & 63, 26 | 27) && t == 0;
    let based_on_zero = word >> 26 >= 32 && s == 0;
    let accumulates = matches!(word & 0xfc00_003f, 0x11 | 0x13) && low != 0
        || matches!(word & 0xfc00_003f, 0x18 | 0x19 | 0x7000_0000 | 0x7000_0001 | 0x7000_0004 | 0x7000_0005);
    let other_accumulator = accumulates && (d != 0 || low != 0 || t != 0 && matches!(word & 63, 0x11 | 0x13));
    let compares = word >> 26 == 0x11 && word & 0x30 == 0x30 && word >> 21 & 31 >= 16 && word & 0xc0 != 0;
    moves_out || takes_out || puts_in || counts || based_on_zero || by_zero || other_accumulator || compares
}
