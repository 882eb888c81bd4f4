//! NEON's loads and stores of structures.

use super::Overrides;
use crate::lanes::join;
use parallax_ir::{Builder, Varnode};
use parallax_op::BinOp;

impl Overrides {
    /// The text of a load or store, in the 32-bit encoding, whose operations are written.
    pub(super) fn neon_memory(&self, b: &mut Builder, word: u32) -> Option<String> {
        if word & 0xff10_0000 != 0xf400_0000 || word >> 16 & 15 == 15 {
            return None;
        }
        if word >> 23 & 1 == 0 {
            self.structures(b, word)
        } else if word >> 10 & 3 == 3 {
            self.one_for_all(b, word)
        } else {
            self.one_lane(b, word)
        }
    }

    /// The base goes on by what was transferred, or by a register.
    fn advance(&self, b: &mut Builder, word: u32, bytes: u64) {
        let base = self.general[(word >> 16 & 15) as usize];
        let moved = match (word & 15) as usize {
            15 => return,
            13 => b.bin_constant(BinOp::Add, base, bytes),
            m => b.bin(BinOp::Add, base, self.general[m]),
        };
        b.copy(base, moved);
    }

    fn first(word: u32) -> usize {
        ((word >> 22 & 1) << 4 | word >> 12 & 15) as usize
    }

    /// All elements of registers, one after the other or in turns.
    fn structures(&self, b: &mut Builder, word: u32) -> Option<String> {
        // How many registers take turns, how far apart, and how often that is done.
        let (turns, apart, times) = match word >> 8 & 15 {
            0 => (4, 1, 1),
            1 => (4, 2, 1),
            2 => (1, 1, 4),
            3 => (2, 2, 2),
            4 => (3, 1, 1),
            5 => (3, 2, 1),
            6 => (1, 1, 3),
            7 => (1, 1, 1),
            8 => (2, 1, 1),
            9 => (2, 2, 1),
            10 => (1, 1, 2),
            _ => return None,
        };
        let (size, align) = (word >> 6 & 3, word >> 4 & 3);
        let lane = 1u16 << size;
        let aligned_so = match (turns, times) {
            (1, 1 | 3) | (3, _) => align < 2,
            (1, 2) | (2, 1) => align < 3,
            _ => true,
        };
        let first = Self::first(word);
        let last = first + apart * (turns - 1) + times - 1;
        if size == 3 && turns > 1 || !aligned_so || last > 31 {
            return None;
        }
        let start = b.snapshot(self.general[(word >> 16 & 15) as usize]);
        let loads = word >> 21 & 1 == 1;
        let mut loaded: Vec<(usize, Vec<Varnode>)> = Vec::new();
        let mut place = 0;
        for time in 0..times {
            let registers: Vec<usize> = (0..turns).map(|turn| first + time + turn * apart).collect();
            let mut lanes = vec![Vec::new(); turns];
            for index in 0..8 / lane {
                for (turn, number) in registers.iter().enumerate() {
                    let address = b.bin_constant(BinOp::Add, start, place);
                    place += u64::from(lane);
                    if loads {
                        lanes[turn].push(b.load(address, lane));
                    } else {
                        b.store(address, self.doubles[*number].slice(lane * index, lane));
                    }
                }
            }
            if loads {
                loaded.extend(registers.into_iter().zip(lanes));
            }
        }
        for (number, lanes) in loaded {
            let value = join(b, &lanes);
            b.copy(self.doubles[number], value);
        }
        self.advance(b, word, place);
        Some(self.said(word, turns, 8 * lane, (turns * times).to_string()))
    }

    fn said(&self, word: u32, turns: usize, bits: u16, what: String) -> String {
        let name = if word >> 21 & 1 == 1 { "vld" } else { "vst" };
        let (first, n, m) = (Self::first(word), word >> 16 & 15, word & 15);
        let after = match m {
            15 => String::new(),
            13 => "!".to_owned(),
            m => format!(",r{m}"),
        };
        format!("{name}{turns}.{bits} {{d{first}:{what}}},[r{n}]{after}")
    }

    /// One element of each register.
    fn one_lane(&self, b: &mut Builder, word: u32) -> Option<String> {
        let (size, turns) = (word >> 10 & 3, (word >> 8 & 3) as usize + 1);
        let field = word >> 4 & 15;
        let (index, apart) = match size {
            0 => (field >> 1, 1),
            1 => (field >> 2, 1 + (field >> 1 & 1)),
            _ => (field >> 3, 1 + (field >> 2 & 1)),
        };
        // What is left of the field tells the alignment, and some of it means nothing.
        let rest = field & ((1 << (size + 1)) - 1);
        let reserved = match (turns, size) {
            (1, 0 | 1) => rest & !1 & ((1 << (size + 1)) - 1) != 0 || size == 0 && rest != 0,
            (1, _) => rest & 4 != 0 || matches!(rest & 3, 1 | 2),
            (2, 2) => rest & 2 != 0,
            (3, 2) => rest & 3 != 0,
            (3, _) => rest & 1 != 0,
            (4, 2) => rest & 3 == 3,
            _ => false,
        };
        let first = Self::first(word);
        if reserved || first + (turns - 1) * apart as usize > 31 {
            return None;
        }
        let lane = 1u16 << size;
        let start = b.snapshot(self.general[(word >> 16 & 15) as usize]);
        let mut loaded = Vec::new();
        for turn in 0..turns {
            let address = b.bin_constant(BinOp::Add, start, turn as u64 * u64::from(lane));
            let place = self.doubles[first + turn * apart as usize].slice(lane * index as u16, lane);
            if word >> 21 & 1 == 1 {
                loaded.push((place, b.load(address, lane)));
            } else {
                b.store(address, place);
            }
        }
        for (place, value) in loaded {
            b.copy(place, value);
        }
        self.advance(b, word, turns as u64 * u64::from(lane));
        Some(self.said(word, turns, 8 * lane, format!("[{index}]")))
    }

    /// One element for all lanes of each register.
    fn one_for_all(&self, b: &mut Builder, word: u32) -> Option<String> {
        let (turns, size) = ((word >> 8 & 3) as usize + 1, word >> 6 & 3);
        let (twice, aligned) = (word >> 5 & 1 == 1, word >> 4 & 1 == 1);
        let size = match (size, turns) {
            (3, 4) if aligned => 2,
            (3, _) => return None,
            (size, _) => size,
        };
        let first = Self::first(word);
        let (apart, copies) =
            if turns == 1 { (1, 1 + usize::from(twice)) } else { (1 + usize::from(twice), 1) };
        let last = first + apart * (turns - 1) + copies - 1;
        if word >> 21 & 1 == 0 || last > 31 || aligned && (turns == 3 || turns == 1 && size == 0) {
            return None;
        }
        let lane = 1u16 << size;
        let start = b.snapshot(self.general[(word >> 16 & 15) as usize]);
        let loaded: Vec<Varnode> = (0..turns)
            .map(|turn| {
                let address = b.bin_constant(BinOp::Add, start, turn as u64 * u64::from(lane));
                b.load(address, lane)
            })
            .collect();
        for (turn, value) in loaded.into_iter().enumerate() {
            let all = join(b, &vec![value; usize::from(8 / lane)]);
            for copy in 0..copies {
                b.copy(self.doubles[first + turn * apart + copy], all);
            }
        }
        self.advance(b, word, turns as u64 * u64::from(lane));
        Some(self.said(word, turns, 8 * lane, "all".to_owned()))
    }
}
