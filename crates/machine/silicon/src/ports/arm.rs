//! ARM, 32-bit, in both encodings: integers, VFP and NEON.

use super::{ARENA, Layout, Port, Record, Slot};
use crate::random::Random;
use parallax_sem::ByteOrder;

/// The 32-bit ARM.
pub struct Arm {
    /// The encoding of 16 and 32 bits.
    pub thumb: bool,
}

const LAYOUT: Layout = Layout { word: 4, order: ByteOrder::Little };

/// Holds the record.
const RESERVED: u32 = 11;
const PC: u32 = 15;

fn field(word: u32, low: u32) -> u32 {
    word >> low & 15
}

fn names_any(word: u32, lows: &[u32], numbers: &[u32]) -> bool {
    lows.iter().any(|low| numbers.contains(&field(word, *low)))
}

/// Whether a word of the 32-bit encoding is to be tried.
fn is_tried(word: u32) -> bool {
    let bad = [RESERVED, PC];
    if word >> 28 == 15 {
        // Vectors; of their loads and stores the base matters.
        return match word >> 24 & 15 {
            2 | 3 => true,
            4 => word >> 20 & 1 == 0 && !names_any(word, &[16], &bad) && field(word, 0) != RESERVED,
            14 => word >> 4 & 1 == 0 && is_vfp(word),
            _ => false,
        };
    }
    match word >> 25 & 7 {
        0 => {
            let miscellaneous = word & 0x0190_0000 == 0x0100_0000 && word & 0x90 != 0x90 && word & 0x80 == 0;
            let exclusive = word & 0x0f00_00f0 == 0x0100_0090;
            let double = word & 0xd0 == 0xd0 && word >> 20 & 1 == 0;
            let pair = double && (field(word, 12) >= 10 || word >> 12 & 1 == 1);
            // A base that moves on must not be what is transferred, nor the distance.
            let extra = word & 0x90 == 0x90 && word & 0x60 != 0;
            let moves = extra && (word >> 24 & 1 == 0 || word >> 21 & 1 == 1);
            let (t, n, m) = (field(word, 12), field(word, 16), field(word, 0));
            let clash = moves && (t == n || n == m && word >> 22 & 1 == 0 || double && t + 1 == n);
            let by_itself = extra && double && word >> 22 & 1 == 0 && (m == t || m == t + 1);
            // Products must not go to where they come from, on old processors, nor twice to one place.
            let long = t == n && (word & 0x0f80_00f0 == 0x0080_0090 || word & 0x0ff0_00f0 == 0x0040_0090);
            let unprivileged = extra && word >> 24 & 1 == 0 && word >> 21 & 1 == 1;
            !miscellaneous
                && !exclusive
                && !pair
                && !clash
                && !by_itself
                && !long
                && !unprivileged
                && !names_any(word, &[0, 8, 12, 16], &bad)
        }
        1 => word & 0x0fb0_0000 != 0x0320_0000 && !names_any(word, &[12, 16], &bad),
        2 => {
            let moves = word >> 24 & 1 == 0 || word >> 21 & 1 == 1;
            let unprivileged = word >> 24 & 1 == 0 && word >> 21 & 1 == 1;
            let clash = moves && field(word, 12) == field(word, 16);
            ![names_any(word, &[12, 16], &bad), clash, unprivileged].contains(&true)
        }
        3 if word >> 4 & 1 == 1 => {
            if is_unpredictable_media(word) {
                return false;
            }
            // The last of these is no instruction for ever.
            word & 0x0ff0_00f0 != 0x07f0_00f0 && !names_any(word, &[0, 8, 12, 16], &bad)
                || word & 0x0fe0_0070 == 0x07c0_0010 && !names_any(word, &[0, 12], &bad)
        }
        3 => {
            let moves = word >> 24 & 1 == 0 || word >> 21 & 1 == 1;
            let unprivileged = word >> 24 & 1 == 0 && word >> 21 & 1 == 1;
            let clash = moves && (field(word, 12) == field(word, 16) || field(word, 0) == field(word, 16));
            !names_any(word, &[0, 12, 16], &bad) && !clash && !unprivileged
        }
        4 => {
            let base = field(word, 16);
            let listed = word & 0x8800 != 0 || word & 0xffff == 0;
            let user = word >> 22 & 1 == 1;
            !listed && !user && !bad.contains(&base) && word >> base & 1 == 0
        }
        6 | 7 => word >> 24 & 15 != 15 && is_vfp(word),
        _ => false,
    }
}

/// Bits that should be zero or one and are not, and fields of bits that do not fit.
fn is_unpredictable_media(word: u32) -> bool {
    let extends = word & 0x0f80_00f0 == 0x0680_0070 && word & 0x300 != 0;
    let reverses = word & 0x0f80_0070 == 0x0680_0030 && word & 0x000f_0f00 != 0x000f_0f00;
    let (low, high) = (word >> 7 & 31, word >> 16 & 31);
    let takes_out = word & 0x0fa0_0070 == 0x07a0_0050 && low + high > 31;
    let puts_in = word & 0x0fe0_0070 == 0x07c0_0010 && high < low;
    extends || reverses || takes_out || puts_in
}

/// Coprocessors 10 and 11, with general registers that may be used.
fn is_vfp(word: u32) -> bool {
    let bad = [RESERVED, PC];
    if word >> 9 & 7 != 5 {
        return false;
    }
    if word >> 25 & 7 == 6 {
        // Two registers at once, or memory.
        let pair = word & 0x0fe0_0000 == 0x0c40_0000;
        let twice = word >> 20 & 1 == 1 && field(word, 12) == field(word, 16);
        // As many registers as there are.
        let double = word >> 8 & 1 == 1;
        let (first, count) = match double {
            true => ((word >> 22 & 1) << 4 | field(word, 12), (word & 0xff) / 2),
            false => (field(word, 12) << 1 | word >> 22 & 1, word & 0xff),
        };
        let single = word >> 24 & 1 == 1 && word >> 21 & 1 == 0;
        let too_many = !single && (count == 0 || first + count > 32 || count > 16 && double);
        return match pair {
            true => !names_any(word, &[12, 16], &bad) && !twice,
            false => !names_any(word, &[16], &bad) && !too_many,
        };
    }
    // The system's registers are read and written by compiled functions.
    let moves = word >> 4 & 1 == 1;
    !moves || !names_any(word, &[12], &bad) && word & 0x0fe0_0f00 != 0x0ee0_0a00
}

fn is_tried_thumb(word: u32) -> bool {
    let bad = [RESERVED, 13, PC];
    match word >> 24 {
        // Vectors and VFP have the fields of the other encoding.
        0xef | 0xff => true,
        0xf9 if word >> 20 & 1 == 0 => !names_any(word, &[16], &bad) && field(word, 0) != RESERVED,
        0xec..=0xee => is_vfp(word),
        0xfe => word >> 4 & 1 == 0 && is_vfp(word),
        0xe8 | 0xe9 => {
            let multiple = word >> 22 & 1 == 0;
            let base = field(word, 16);
            if multiple {
                let listed = word & 0xa800 != 0 || (word & 0xffff).count_ones() < 2;
                return !listed
                    && !bad.contains(&base)
                    && word >> base & 1 == 0
                    && matches!(word >> 23 & 3, 1 | 2);
            }
            let double = word >> 24 & 1 == 1 || word >> 21 & 1 == 1;
            let (t, second) = (field(word, 12), field(word, 8));
            double && !names_any(word, &[8, 12, 16], &bad) && t != second && base != t && base != second
        }
        0xea | 0xeb => !names_any(word, &[0, 8, 16], &bad),
        0xf0..=0xf7 => word >> 15 & 1 == 0 && !names_any(word, &[8, 16], &bad),
        0xf8 | 0xf9 => {
            let (t, base) = (field(word, 12), field(word, 16));
            let moves =
                word >> 23 & 1 == 0 && word >> 8 & 15 != 12 && word >> 11 & 1 == 1 && word >> 8 & 1 == 1;
            let unprivileged = word >> 23 & 1 == 0 && word >> 8 & 15 == 14;
            let register = word >> 23 & 1 == 0 && word & 0xfc0 == 0;
            let clash = moves && t == base;
            let by_bad = register && names_any(word, &[0], &bad);
            ![names_any(word, &[12, 16], &bad), clash, unprivileged, by_bad].contains(&true)
        }
        0xfa | 0xfb => {
            // A register that is named twice must be the same; some products have no sum to be subtracted from.
            let named_twice = word & 0xff80_f080 == 0xfa80_f080 && field(word, 0) != field(word, 16);
            let no_sum = word & 0xffe0_f000 == 0xfb60_f000;
            !named_twice
                && !no_sum
                && !names_any(word, &[0, 8, 16], &bad)
                && ![RESERVED, 13].contains(&field(word, 12))
                && (field(word, 12) != field(word, 8) || word >> 23 & 3 != 3)
        }
        _ => false,
    }
}

fn is_tried_short(half: u32) -> bool {
    let top = half >> 11;
    match top {
        // Branches, calls of the system, literals.
        0b11010 | 0b11011 | 0b11100 | 0b01001 => false,
        0b01000 if half >> 10 & 1 == 1 => {
            let (d, m) = (half >> 4 & 8 | half & 7, half >> 3 & 15);
            half >> 8 & 3 != 3 && d != RESERVED && d != PC && m != RESERVED && m != PC
        }
        0b10110 | 0b10111 => {
            let adjust = half & 0xff00 == 0xb000;
            let extend = half & 0xff00 == 0xb200;
            let push = half & 0xff00 == 0xb400 && half & 0xff != 0;
            let pop = half & 0xff00 == 0xbc00 && half & 0xff != 0;
            let reverse = half & 0xff00 == 0xba00 && half >> 6 & 3 != 2;
            adjust || extend || push || pop || reverse
        }
        0b11000 | 0b11001 => {
            let base = half >> 8 & 7;
            half & 0xff != 0 && half >> base & 1 == 0
        }
        0b11101..=0b11111 => false,
        0b10100 => false,
        _ => true,
    }
}

impl Port for Arm {
    fn language(&self) -> &'static str {
        if self.thumb { "thumb" } else { "arm" }
    }

    fn options(&self) -> &'static [&'static str] {
        const ALL: [&str; 5] =
            ["--target=arm-linux-gnueabihf", "-mcpu=cortex-a15", "-mfpu=neon-vfpv4", "-marm", "-DTHUMB=1"];
        if self.thumb { &ALL } else { &ALL[..4] }
    }

    fn emulator(&self) -> &'static [&'static str] {
        &["qemu-arm"]
    }

    fn word(&self) -> usize {
        4
    }

    fn slots(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        let mut part = |register: String, at: usize, bytes: usize, low: u16, width: u16| {
            slots.push(Slot { register, at, bytes, low, width });
        };
        for number in (0..13).filter(|number| *number != RESERVED as usize) {
            part(format!("R{number}"), LAYOUT.general(number), 4, 0, 32);
        }
        part("SP".to_owned(), LAYOUT.general(13), 4, 0, 32);
        part("LR".to_owned(), LAYOUT.general(14), 4, 0, 32);
        let bits = [("NG", 31), ("ZR", 30), ("CY", 29), ("OV", 28), ("Q", 27)];
        let lanes = [("GE1", 16), ("GE2", 17), ("GE3", 18), ("GE4", 19)];
        for (name, low) in bits.into_iter().chain(lanes) {
            part(name.to_owned(), LAYOUT.special(0), 4, low, 1);
        }
        part("FPSCR".to_owned(), LAYOUT.special(1), 4, 0, 32);
        for number in 0..16 {
            part(format!("Q{number}"), LAYOUT.vector(2 * number), 16, 0, 128);
        }
        slots
    }

    fn code(&self, random: &mut Random) -> Option<Vec<u8>> {
        let word = random.number() as u32;
        if self.thumb {
            if random.below(3) == 0 {
                let half = word & 0xffff;
                return is_tried_short(half).then(|| half.to_le_bytes()[..2].to_vec());
            }
            let mut word = word | 0xe800_0000;
            if random.below(3) == 0 {
                word = vector(random, true);
            }
            // The upper half comes first.
            return is_tried_thumb(word).then(|| word.rotate_left(16).to_le_bytes().to_vec());
        }
        let condition = if random.below(4) == 0 { random.below(14) as u32 } else { 14 };
        let mut word = word & 0x0fff_ffff | condition << 28;
        if random.below(3) == 0 {
            word = vector(random, false);
        }
        is_tried(word).then(|| word.to_le_bytes().to_vec())
    }

    fn state(&self, record: &mut Record, random: &mut Random) {
        for number in 0..15 {
            record.set_general(number, random.interesting());
        }
        for number in 0..32 {
            let value = match random.below(3) {
                0 => random.double(),
                1 => u64::from(random.single()) << 32 | u64::from(random.single()),
                _ => random.interesting(),
            };
            record.set_vector(number, value);
        }
        record.set_special(0, random.below(32) << 27 | random.below(16) << 16 | 0x10);
        let rare = |random: &mut Random, bit: u64| u64::from(random.below(4) == 0) << bit;
        let modes = random.below(4) << 22 | rare(random, 24) | rare(random, 25);
        let raised = if random.below(2) == 0 { random.number() & 0xf800_009f } else { 0 };
        record.set_special(1, modes | raised);
        self.prepare(record, random);
    }
}

/// A word of VFP or NEON.
fn vector(random: &mut Random, thumb: bool) -> u32 {
    let word = random.number() as u32;
    match random.below(4) {
        0 if random.below(8) == 0 => word & 0x00ff_f1ef | 0xfe00_0a00 | (word & 1) << 8,
        // VFP: most of its words are about singles and doubles.
        0 => word & 0x00ff_f1ff | 0xee00_0a00 | (word & 1) << 8,
        1 if thumb => word & 0x10ff_ffff | 0xef00_0000,
        1 => word & 0x01ff_ffff | 0xf200_0000,
        _ if thumb => word & 0x00ff_ffff | 0xf900_0000,
        _ => word & 0x00ff_ffff | 0xf400_0000,
    }
}

impl Arm {
    /// Lets addresses lead into the arena.
    fn prepare(&self, record: &mut Record, random: &mut Random) {
        let middle = ARENA + 256 + 8 * random.below(32);
        let small = random.below(16);
        if self.thumb && record.code().len() == 2 {
            let half = record.number(0, 2) as u32;
            let top = half >> 11;
            match top {
                0b01010 | 0b01011 => {
                    record.set_general((half >> 6 & 7) as usize, small);
                    record.set_general((half >> 3 & 7) as usize, middle);
                }
                0b01100..=0b10001 => record.set_general((half >> 3 & 7) as usize, middle),
                0b10010 | 0b10011 => {
                    record.set_general(13, middle.wrapping_sub(4 * u64::from(half & 0xff)));
                }
                0b10110 | 0b10111 => record.set_general(13, middle),
                0b11000 | 0b11001 => record.set_general((half >> 8 & 7) as usize, middle),
                _ => {}
            }
            return;
        }
        let code = record.number(0, 4) as u32;
        let word = if self.thumb { code.rotate_left(16) } else { code };
        let base = field(word, 16) as usize;
        let (n, m) = (base.min(14), field(word, 0) as usize);
        let elements = if self.thumb { 0xf9 } else { 0xf4 };
        if word >> 24 == elements && word >> 20 & 1 == 0 {
            if m < 13 && m != n {
                record.set_general(m, small);
            }
            return record.set_general(n, middle);
        }
        if word >> 25 & 7 == 6 && (word >> 28 == 14 || !self.thumb) {
            let distance = u64::from(word & 0xff) * 4;
            let up = word >> 23 & 1 == 1;
            let offset = word >> 24 & 1 == 1 && word >> 21 & 1 == 0;
            return record.set_general(
                n,
                match (offset, up) {
                    (true, true) => middle.wrapping_sub(distance),
                    (true, false) => middle.wrapping_add(distance),
                    _ => middle,
                },
            );
        }
        if self.thumb {
            match word >> 24 {
                0xe8 | 0xe9 if word >> 22 & 1 == 1 && word >> 24 & 1 == 1 => {
                    let distance = u64::from(word & 0xff) * 4;
                    let up = word >> 23 & 1 == 1;
                    record.set_general(n, if up { middle.wrapping_sub(distance) } else { middle + distance });
                }
                0xe8 | 0xe9 => record.set_general(n, middle),
                0xf8 | 0xf9 if word >> 23 & 1 == 1 => {
                    record.set_general(n, middle.wrapping_sub(u64::from(word & 0xfff)));
                }
                0xf8 | 0xf9 => {
                    if word & 0xfc0 == 0 && m < 13 {
                        record.set_general(m, small);
                    }
                    record.set_general(n, middle);
                }
                _ => {}
            }
            return;
        }
        match word >> 25 & 7 {
            2 => {
                let distance = if word >> 24 & 1 == 1 { u64::from(word & 0xfff) } else { 0 };
                let up = word >> 23 & 1 == 1;
                record.set_general(n, if up { middle.wrapping_sub(distance) } else { middle + distance });
            }
            3 if word >> 4 & 1 == 0 && m != n => {
                // The distance may be turned or shifted: zero stays zero.
                record.set_general(m, if word >> 4 & 0xff == 0 { small } else { 0 });
                record.set_general(n, middle);
            }
            0 if word & 0x90 == 0x90 && word & 0x60 != 0 => {
                if word >> 22 & 1 == 0 && m != n && m < 13 {
                    record.set_general(m, small);
                }
                record.set_general(n, middle);
            }
            4 => record.set_general(n, middle),
            _ => {}
        }
    }
}
