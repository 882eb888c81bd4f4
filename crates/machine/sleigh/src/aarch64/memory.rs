//! AArch64's loads and stores that the specification gets wrong: it extends signed loads of 32-bit registers too far,
//! takes the second word of `ldpsw` from elsewhere, and leaves the upper halves of short vectors as they were. Loads and
//! stores of general registers are here altogether, and those of structures.

use super::Overrides;
use crate::lanes::{extend, join};
use parallax_ir::{Builder, Varnode};
use parallax_op::BinOp;

impl Overrides {
    /// The text of a load or store whose operations are written.
    pub(super) fn memory(&self, b: &mut Builder, word: u32) -> Option<String> {
        if word & 0x3e00_0000 == 0x3800_0000 {
            self.one_register(b, word)
        } else if word & 0xfe40_0000 == 0x6840_0000 && word >> 23 & 3 != 0 {
            self.signed_pair(b, word)
        } else if word & 0xbfbf_0000 == 0x0c00_0000 || word & 0xbfa0_0000 == 0x0c80_0000 {
            self.structures(b, word)
        } else if word & 0xbf9f_0000 == 0x0d00_0000 || word & 0xbf80_0000 == 0x0d80_0000 {
            self.one_structure(b, word)
        } else {
            None
        }
    }

    /// A base register, where number 31 is the stack pointer.
    fn base(&self, number: usize) -> Varnode {
        if number == 31 { self.stack } else { self.general[number] }
    }

    fn one_register(&self, b: &mut Builder, word: u32) -> Option<String> {
        let (t, n, m) = ((word & 31) as usize, (word >> 5 & 31) as usize, (word >> 16 & 31) as usize);
        let (size, opc) = (word >> 30, word >> 22 & 3);
        let base = self.base(n);
        let near = i64::from((word as i32) << 11 >> 23) as u64;
        let mut written = None;
        let address = if word >> 24 & 1 == 1 {
            b.bin_constant(BinOp::Add, base, u64::from(word >> 10 & 0xfff) << size)
        } else {
            match (word >> 21 & 1, word >> 10 & 3) {
                (0, 0 | 2) => b.bin_constant(BinOp::Add, base, near),
                (0, 1) => {
                    written = Some(b.bin_constant(BinOp::Add, base, near));
                    b.snapshot(base)
                }
                (0, _) => {
                    let address = b.bin_constant(BinOp::Add, base, near);
                    written = Some(address);
                    address
                }
                (_, 2) => {
                    let option = word >> 13 & 7;
                    let offset = match option {
                        2 | 6 => extend(b, option == 6, self.general_register(m, 4), 8),
                        3 | 7 => self.general_register(m, 8),
                        _ => return None,
                    };
                    let scale = if word >> 12 & 1 == 1 { u64::from(size) } else { 0 };
                    let offset = b.bin_constant(BinOp::Shl, offset, scale);
                    b.bin(BinOp::Add, base, offset)
                }
                _ => return None,
            }
        };
        let bytes = 1u16 << size;
        let suffix = ["b", "h", "", ""][size as usize];
        let name = match (opc, size) {
            (0, _) => {
                let value = self.general_register(t, bytes);
                b.store(address, value);
                format!("str{suffix}")
            }
            // Advice about what will be loaded; it has no address to go back to a register.
            (2, 3) if written.is_none() => return Some(format!("prfm #{t},[x{n}]")),
            (1, _) | (2, 0..=2) | (3, 0 | 1) => {
                let value = b.load(address, bytes);
                let value = match opc {
                    1 => b.zext(value, 8),
                    2 => b.sext(value, 8),
                    _ => {
                        let word = b.sext(value, 4);
                        b.zext(word, 8)
                    }
                };
                if t != 31 {
                    b.copy(self.general[t], value);
                }
                let sign = if opc == 1 { "" } else { "s" };
                format!(
                    "ldr{sign}{}",
                    ["b", "h", "w", ""][if opc == 1 && size == 2 { 3 } else { size as usize }]
                )
            }
            _ => return None,
        };
        if let Some(address) = written {
            b.copy(base, address);
        }
        let letter = if opc == 2 || size == 3 { 'x' } else { 'w' };
        let base = if n == 31 { "sp".to_owned() } else { format!("x{n}") };
        let how = match (word >> 24 & 1, word >> 21 & 1, word >> 10 & 3) {
            (1, ..) => format!("[{base},#{}]", (word >> 10 & 0xfff) << size),
            (_, 1, _) => format!("[{base},x{m},{}]", word >> 12 & 15),
            (_, _, 1) => format!("[{base}],#{}", near as i64),
            (_, _, 3) => format!("[{base},#{}]!", near as i64),
            _ => format!("[{base},#{}]", near as i64),
        };
        let name = if word >> 24 & 1 == 0 && word >> 21 & 1 == 0 {
            match word >> 10 & 3 {
                0 => name.replacen("ldr", "ldur", 1).replacen("str", "stur", 1),
                2 => name.replacen("ldr", "ldtr", 1).replacen("str", "sttr", 1),
                _ => name,
            }
        } else {
            name
        };
        Some(format!("{name} {letter}{t},{how}"))
    }

    /// `ldpsw`: two signed words.
    fn signed_pair(&self, b: &mut Builder, word: u32) -> Option<String> {
        let field = |low: u32| (word >> low & 31) as usize;
        let (first, n, second) = (field(0), field(5), field(10));
        let base = self.base(n);
        let distance = i64::from((word as i32) << 10 >> 25) * 4;
        let moved = b.bin_constant(BinOp::Add, base, distance as u64);
        let mode = word >> 23 & 3;
        let address = if mode == 1 { b.snapshot(base) } else { moved };
        let next = b.bin_constant(BinOp::Add, address, 4);
        let values = [address, next].map(|address| {
            let value = b.load(address, 4);
            b.sext(value, 8)
        });
        for (number, value) in [first, second].into_iter().zip(values) {
            if number != 31 {
                b.copy(self.general[number], value);
            }
        }
        if mode != 2 {
            b.copy(base, moved);
        }
        let how = ["", "post ", "", "pre "][mode as usize];
        Some(format!("ldpsw x{first},x{second},{how}[x{n},#{distance}]"))
    }

    /// The base goes on by what was transferred, or by a register.
    fn advance(&self, b: &mut Builder, word: u32, bytes: u64) {
        if word >> 23 & 1 == 0 {
            return;
        }
        let base = self.base((word >> 5 & 31) as usize);
        let moved = match (word >> 16 & 31) as usize {
            31 => b.bin_constant(BinOp::Add, base, bytes),
            m => b.bin(BinOp::Add, base, self.general[m]),
        };
        b.copy(base, moved);
    }

    /// All elements of up to four vectors, one after the other or in turns.
    fn structures(&self, b: &mut Builder, word: u32) -> Option<String> {
        let (count, in_turns) = match word >> 12 & 15 {
            0 => (4, true),
            2 => (4, false),
            4 => (3, true),
            6 => (3, false),
            7 => (1, false),
            8 => (2, true),
            10 => (2, false),
            _ => return None,
        };
        let lane = 1u16 << (word >> 10 & 3);
        let bytes = if word >> 30 & 1 == 1 { 16u16 } else { 8 };
        if in_turns && lane == 8 && bytes == 8 {
            return None;
        }
        let (t, n) = ((word & 31) as usize, (word >> 5 & 31) as usize);
        let start = b.snapshot(self.base(n));
        let loads = word >> 22 & 1 == 1;
        let lanes = bytes / lane;
        let mut loaded: Vec<Vec<Varnode>> = vec![Vec::new(); count];
        for (which, into) in loaded.iter_mut().enumerate() {
            for index in 0..lanes {
                let place = match in_turns {
                    true => u64::from(index) * count as u64 + which as u64,
                    false => u64::from(lanes) * which as u64 + u64::from(index),
                };
                let address = b.bin_constant(BinOp::Add, start, place * u64::from(lane));
                if loads {
                    into.push(b.load(address, lane));
                } else {
                    let value = self.vectors[(t + which) % 32].slice(lane * index, lane);
                    b.store(address, value);
                }
            }
        }
        for (which, lanes) in loaded.iter().enumerate().filter(|_| loads) {
            let value = join(b, lanes);
            self.set(b, (t + which) % 32, value);
        }
        self.advance(b, word, count as u64 * u64::from(bytes));
        let name = if loads { "ld" } else { "st" };
        let kind = if in_turns { count } else { 1 };
        let post = if word >> 23 & 1 == 1 { " post" } else { "" };
        Some(format!("{name}{kind} {{v{t}.{bytes}/{lane}*{count}}},[x{n}]{post}"))
    }

    /// One element of up to four vectors, or one for all of their elements.
    fn one_structure(&self, b: &mut Builder, word: u32) -> Option<String> {
        let (opcode, size) = (word >> 13 & 7, word >> 10 & 3);
        let (q, s) = ((word >> 30 & 1) as u16, (word >> 12 & 1) as u16);
        let count = ((opcode & 1) << 1 | word >> 21 & 1) as usize + 1;
        let loads = word >> 22 & 1 == 1;
        let (lane, index) = match (opcode >> 1, size) {
            (0, _) => (1u16, Some(q << 3 | s << 2 | size as u16)),
            (1, 0 | 2) => (2, Some(q << 2 | s << 1 | size as u16 >> 1)),
            (2, 0) => (4, Some(q << 1 | s)),
            (2, 1) if s == 0 => (8, Some(q)),
            (3, _) if loads && s == 0 => (1 << size, None),
            _ => return None,
        };
        let (t, n) = ((word & 31) as usize, (word >> 5 & 31) as usize);
        let start = b.snapshot(self.base(n));
        let mut loaded = Vec::new();
        for which in 0..count {
            let address = b.bin_constant(BinOp::Add, start, which as u64 * u64::from(lane));
            let place = index.map(|index| self.vectors[(t + which) % 32].slice(lane * index, lane));
            match place {
                Some(place) if !loads => b.store(address, place),
                _ => loaded.push(b.load(address, lane)),
            }
        }
        for (which, value) in loaded.into_iter().enumerate() {
            let number = (t + which) % 32;
            match index {
                Some(index) => b.copy(self.vectors[number].slice(lane * index, lane), value),
                None => {
                    let bytes = if q == 1 { 16 } else { 8 };
                    let all = join(b, &vec![value; usize::from(bytes / lane)]);
                    self.set(b, number, all);
                }
            }
        }
        self.advance(b, word, count as u64 * u64::from(lane));
        let name = if loads { "ld" } else { "st" };
        let post = if word >> 23 & 1 == 1 { " post" } else { "" };
        Some(match index {
            Some(index) => format!("{name}{count} {{v{t}.{lane}}}[{index}],[x{n}]{post}"),
            None => format!("{name}{count}r {{v{t}.{lane}}},[x{n}]{post}"),
        })
    }
}
