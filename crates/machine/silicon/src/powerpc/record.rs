//! A state and the instruction to execute from it, as the harness reads and writes them.

use super::forms::{Fields, Form};
use super::{DATA, SLOT};
use crate::random::Random;
use parallax_op::Bits;

/// The size of a record, as `powerpc/harness.c` has it.
pub(super) const BYTES: usize = 680;

/// A state, before or after.
#[derive(Clone)]
pub(super) struct Record {
    pub instruction: u32,
    /// What stopped the instruction.
    pub signal: u32,
    pub general: [u32; 32],
    pub cr: u32,
    pub xer: u32,
    pub ctr: u32,
    pub lr: u32,
    /// Afterwards, where a branch went; before, whether there may be one.
    pub pc: u32,
    pub status: u32,
    pub floats: [u64; 32],
    pub memory: [u8; 256],
}

/// FPSCR as it can be: with its summaries in place.
fn settled(status: u32) -> u32 {
    let mut all = status & !0x6000_0800;
    if all & 0x01f8_0700 != 0 {
        all |= 1 << 29;
    }
    if all >> 25 & all >> 3 & 31 != 0 {
        all |= 1 << 30;
    }
    all
}

impl Record {
    pub fn random(form: &Form, random: &mut Random) -> Record {
        let status = match random.below(4) {
            0 => 0,
            1 => random.number() as u32 & 3,
            2 => random.number() as u32 & 0xffff_ff07,
            _ => random.number() as u32,
        };
        let mut record = Record {
            instruction: form.word,
            signal: 0,
            general: std::array::from_fn(|_| random.interesting() as u32),
            cr: random.number() as u32,
            // Summary overflow, overflow, carry, and the count.
            xer: random.number() as u32 & 0xe000_007f,
            ctr: random.interesting() as u32,
            lr: random.number() as u32,
            pc: form.branches().into(),
            status: settled(status),
            floats: std::array::from_fn(|_| random.double()),
            memory: std::array::from_fn(|_| random.number() as u8),
        };
        if random.below(2) == 0 {
            for at in (0..256).step_by(4) {
                record.memory[at..at + 4].copy_from_slice(&random.single().to_be_bytes());
            }
        }
        // Most operands of singles are singles, some are not.
        if form.is_single() && random.below(3) != 0 {
            for float in &mut record.floats {
                *float = f64::from(f32::from_bits(random.single())).to_bits();
            }
        }
        record.relate(random);
        record.fill(form, random);
        record
    }

    /// Makes some floats nearly equal or opposite to others, where sums cancel.
    fn relate(&mut self, random: &mut Random) {
        for i in 0..8 {
            let other = self.floats[8 + random.below(24) as usize];
            self.floats[i] = match random.below(4) {
                0 => other ^ 1 << 63,
                1 => (other ^ 1 << 63).wrapping_add(random.below(3)),
                2 => other,
                _ => continue,
            };
        }
    }

    fn fill(&mut self, form: &Form, random: &mut Random) {
        let [t, a, b, c] = std::array::from_fn(|_| random.below(32) as u32);
        let three = t << 21 | a << 16 | b << 11;
        let half = random.interesting() as u32 & 0xffff;
        // As the base of an address, register zero stands for nothing.
        let base = a.max(1);
        let advice = form.name.starts_with("dcb") || form.name == "icbi";
        self.instruction |= match form.fields {
            Fields::Three | Fields::Floats => three,
            Fields::Two => t << 21 | a << 16,
            Fields::Immediate => t << 21 | a << 16 | half,
            Fields::Rotate => three | (random.number() as u32 & 0x7fe),
            Fields::Compare | Fields::FloatsCompare => (t & 7) << 23 | a << 16 | b << 11,
            Fields::CompareImmediate => (t & 7) << 23 | a << 16 | half,
            Fields::Bits => (random.number() as u32 & 0x7fff) << 11,
            Fields::Field => (t & 7) << 23 | (a & 7) << 18,
            Fields::FieldAlone => (t & 7) << 23,
            Fields::One => t << 21,
            Fields::Mask => t << 21 | (random.number() as u32 & 0xff) << 12,
            Fields::OneField => t << 21 | 1 << (12 + random.below(8)),
            Fields::Select | Fields::FloatsFused => three | c << 6,
            Fields::FloatsProduct => t << 21 | a << 16 | c << 6,
            Fields::Float => t << 21 | b << 11,
            Fields::StatusMask => {
                let all = if random.below(8) == 0 { 1 << 25 } else { 0 };
                // Moving arbitrary bits is what it is for.
                self.floats[b as usize] = random.number();
                all | (random.number() as u32 & 0xff) << 17 | b << 11
            }
            Fields::StatusImmediate => (t & 7) << 23 | (b & 15) << 12,
            Fields::StatusBit => t << 21,
            Fields::Memory | Fields::MemoryUpdate => {
                // A load must not put its value where it puts the address.
                let t = if form.fields == Fields::MemoryUpdate && t == base { (t + 1) % 32 } else { t };
                self.point(base, half as i16 as u32, 32 + random.below(192) as u32);
                t << 21 | base << 16 | half
            }
            Fields::MemoryIndexed | Fields::MemoryIndexedUpdate => {
                let b = if base == b { (b + 1) % 32 } else { b };
                let t = (t..t + 3).map(|t| t % 32).find(|t| *t != base && *t != b).unwrap_or(t);
                let distance = random.number() as u32;
                self.general[b as usize] = distance;
                let reserves = matches!(form.name.as_str(), "lwarx" | "stwcx.");
                let at = 32 + random.below(192) as u32;
                self.point(base, distance, if reserves { at & !3 } else { at });
                // Nothing is loaded or stored by advice to the cache; other bits of it mean other advice.
                (if advice { 0 } else { t }) << 21 | base << 16 | b << 11
            }
            Fields::Multiple => {
                // The base must not be among what is loaded.
                let base = 1 + random.below(30) as u32;
                let t = base + 1 + random.below(u64::from(31 - base)) as u32;
                self.point(base, half as i16 as u32, random.below(128) as u32);
                t << 21 | base << 16 | half
            }
            Fields::String => {
                let base = 1 + random.below(31) as u32;
                self.point(base, 0, random.below(220) as u32);
                (self.string_start(base, base, c, t)) << 21 | base << 16 | c << 11
            }
            Fields::StringIndexed => {
                let longest = random.pick(&[20, 40, 120]);
                let count = random.below(longest) as u32;
                self.xer = self.xer & !127 | count;
                let base = 1 + random.below(31) as u32;
                let b = base % 31 + 1;
                let distance = random.number() as u32;
                self.general[b as usize] = distance;
                self.point(base, distance, random.below(128) as u32);
                (self.string_start(base, b, count.max(1), t)) << 21 | base << 16 | b << 11
            }
            Fields::Branch => (self.distance(random) & 0x03ff_fffc) as u32,
            Fields::BranchConditional => t << 21 | a << 16 | (self.distance(random) & 0xfffc) as u32,
            Fields::BranchToLink => {
                self.lr = self.landing(random);
                t << 21 | a << 16
            }
            Fields::BranchToCount => {
                self.ctr = self.landing(random);
                // It must not count what it branches to.
                (t | 4) << 21 | a << 16
            }
            Fields::Nothing => 0,
        };
        // A branch that counts may find one left.
        if form.branches() && form.fields != Fields::BranchToCount && random.below(2) == 0 {
            self.ctr = random.below(3) as u32;
        }
    }

    /// Lets a register and a distance lead into the data.
    fn point(&mut self, register: u32, distance: u32, at: u32) {
        self.general[register as usize] = (DATA as u32 + at).wrapping_sub(distance);
    }

    /// The first register of a string that spares two others, if any does, else one that keeps their values.
    fn string_start(&self, first: u32, second: u32, count: u32, wanted: u32) -> u32 {
        let registers = (if count == 0 { 32 } else { count }).div_ceil(4);
        let spares = |t: u32| {
            (0..registers).all(|i| {
                let loaded = (t + i) % 32;
                loaded != first && loaded != second && loaded != 0
            })
        };
        (0..32).map(|i| (wanted + i) % 32).find(|t| spares(*t)).unwrap_or((first.max(second) + 1) % 32)
    }

    /// A distance to another place in the page around the instruction.
    fn distance(&self, random: &mut Random) -> i32 {
        let words = random.below(1020) as i32 - 510;
        4 * if words == 0 { 3 } else { words }
    }

    /// Another place in that page; the two lowest bits of an address in a register do not count.
    fn landing(&self, random: &mut Random) -> u32 {
        (SLOT as u32).wrapping_add_signed(self.distance(random)) | random.below(4) as u32
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BYTES);
        let words = [self.instruction, 0].into_iter().chain(self.general).chain([
            self.cr,
            self.xer,
            self.ctr,
            self.lr,
            self.pc,
            0,
            0,
            self.status,
        ]);
        words.for_each(|word| bytes.extend(word.to_be_bytes()));
        self.floats.iter().for_each(|float| bytes.extend(float.to_be_bytes()));
        bytes.extend(self.memory);
        bytes
    }

    pub fn from_bytes(bytes: &[u8]) -> Record {
        let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let double = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        Record {
            instruction: word(0),
            signal: word(4),
            general: std::array::from_fn(|i| word(8 + 4 * i)),
            cr: word(136),
            xer: word(140),
            ctr: word(144),
            lr: word(148),
            pc: word(152),
            status: word(164),
            floats: std::array::from_fn(|i| double(168 + 8 * i)),
            memory: bytes[424..BYTES].try_into().expect("256 bytes"),
        }
    }

    /// Each register by the processor's name.
    pub fn assignments(&self) -> Vec<(String, Bits)> {
        let mut all = Vec::new();
        for i in 0..32 {
            all.push((format!("R{i}"), Bits::new(32, self.general[i].into())));
        }
        for i in 0..8 {
            all.push((format!("CR{i}"), Bits::new(8, (self.cr >> (28 - 4 * i) & 15).into())));
        }
        for (name, bit) in [("XER_SO", 31), ("XER_OV", 30), ("XER_CA", 29)] {
            all.push((name.to_owned(), Bits::new(8, (self.xer >> bit & 1).into())));
        }
        all.push(("XER_COUNT".to_owned(), Bits::new(8, (self.xer & 127).into())));
        all.push(("CTR".to_owned(), Bits::new(32, self.ctr.into())));
        all.push(("LR".to_owned(), Bits::new(32, self.lr.into())));
        all.push(("FPSCR".to_owned(), Bits::new(32, self.status.into())));
        for i in 0..32 {
            all.push((format!("F{i}"), Bits::new(64, self.floats[i].into())));
        }
        all
    }

    /// The number of the register in a field.
    pub fn register(&self, low: u32) -> usize {
        (self.instruction >> low & 31) as usize
    }

    /// Quotients by zero, and the one that does not fit, are undefined; so is a string that is loaded over its address.
    pub fn is_undefined(&self, form: &Form) -> bool {
        let (t, a, b) = (self.register(21), self.register(16), self.register(11));
        match form.name.as_str() {
            name if name.starts_with("divw") => {
                self.general[b] == 0 || (self.general[a] == 1 << 31 && self.general[b] == u32::MAX)
            }
            "lswi" | "lswx" => {
                let count = match (form.fields, b) {
                    (Fields::String, 0) => 32,
                    (Fields::String, count) => count,
                    _ => (self.xer & 127) as usize,
                };
                let loaded = |register: usize| (register + 32 - t) % 32 < count.div_ceil(4);
                // An empty string leaves its target undefined.
                count == 0 || loaded(a) || (form.fields == Fields::StringIndexed && loaded(b))
            }
            _ => false,
        }
    }
}
