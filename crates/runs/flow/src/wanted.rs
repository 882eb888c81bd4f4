//! The bytes whose writers are looked for, all as they are at one time, and who asked for each.

use crate::step::Source;
use parallax_process::outside::Tid;
use parallax_travel::Ranges;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::ops::Range;

/// The nodes that a byte is a part of.
pub type Users = SmallVec<[usize; 2]>;

/// A byte of a register file or of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A byte of a thread's registers.
    Register(Tid, u32),
    /// A byte of memory.
    Memory(u64),
}

impl Place {
    /// What an instruction of a thread read.
    pub fn of(thread: Tid, source: Source) -> Place {
        match source {
            Source::Register(at) => Place::Register(thread, at),
            Source::Memory(at) => Place::Memory(at),
        }
    }
}

/// Bytes of the register file, as bits of words: the number of the word, and the bits.
pub type Mask = SmallVec<[(u16, u64); 4]>;

/// The mask of some ranges.
pub fn mask(ranges: &[Range<u32>]) -> Mask {
    let mut mask = Mask::new();
    for at in ranges.iter().flat_map(Range::clone) {
        let (word, bit) = ((at / 64) as u16, 1 << (at % 64));
        match mask.iter_mut().find(|(known, _)| *known == word) {
            Some((_, bits)) => *bits |= bit,
            None => mask.push((word, bit)),
        }
    }
    mask
}

#[derive(Default)]
struct OfThread {
    bytes: BTreeMap<u32, Users>,
    mask: Vec<u64>,
}

/// What is wanted.
#[derive(Default)]
pub struct Wanted {
    threads: BTreeMap<Tid, OfThread>,
    memory: BTreeMap<u64, Users>,
}

impl Wanted {
    /// A node wants a byte.
    pub fn add(&mut self, place: Place, user: usize) {
        let users = match place {
            Place::Register(thread, at) => {
                let own = self.threads.entry(thread).or_default();
                let word = (at / 64) as usize;
                if own.mask.len() <= word {
                    own.mask.resize(word + 1, 0);
                }
                own.mask[word] |= 1 << (at % 64);
                own.bytes.entry(at).or_default()
            }
            Place::Memory(at) => self.memory.entry(at).or_default(),
        };
        if !users.contains(&user) {
            users.push(user);
        }
    }

    /// Who wanted a byte; it is not wanted any more.
    pub fn take(&mut self, place: Place) -> Option<Users> {
        match place {
            Place::Register(thread, at) => {
                let own = self.threads.get_mut(&thread)?;
                let users = own.bytes.remove(&at)?;
                own.mask[(at / 64) as usize] &= !(1 << (at % 64));
                if own.bytes.is_empty() {
                    self.threads.remove(&thread);
                }
                Some(users)
            }
            Place::Memory(at) => self.memory.remove(&at),
        }
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.threads.is_empty() && self.memory.is_empty()
    }

    /// Whether a byte of a register is.
    pub fn has_registers(&self) -> bool {
        !self.threads.is_empty()
    }

    /// Whether one of these bytes of a thread's registers is.
    pub fn meets_registers(&self, thread: Tid, mask: &Mask) -> bool {
        let Some(own) = self.threads.get(&thread) else { return false };
        mask.iter().any(|(word, bits)| own.mask.get(usize::from(*word)).is_some_and(|own| own & bits != 0))
    }

    /// Whether one of these bytes of memory is.
    pub fn meets_memory(&self, range: Range<u64>) -> bool {
        self.memory.range(range).next().is_some()
    }

    /// The threads whose registers are.
    pub fn threads(&self) -> Vec<Tid> {
        self.threads.keys().copied().collect()
    }

    /// The bytes of a thread's registers.
    pub fn registers(&self, thread: Tid) -> Vec<u32> {
        self.threads.get(&thread).map(|own| own.bytes.keys().copied().collect()).unwrap_or_default()
    }

    /// The bytes of memory in a range.
    pub fn memory(&self, range: Range<u64>) -> Vec<u64> {
        self.memory.range(range).map(|(at, _)| *at).collect()
    }

    /// All bytes of memory.
    pub fn all_memory(&self) -> Vec<u64> {
        self.memory.keys().copied().collect()
    }

    /// All bytes of memory, as ranges.
    pub fn ranges(&self) -> Ranges {
        Ranges::new(self.memory.keys().map(|at| *at..at.saturating_add(1)))
    }

    /// Everything.
    pub fn places(&self) -> Vec<Place> {
        let registers = self.threads.iter().flat_map(|(thread, own)| {
            own.bytes.keys().map(|at| Place::Register(*thread, *at)).collect::<Vec<_>>()
        });
        registers.chain(self.memory.keys().map(|at| Place::Memory(*at))).collect()
    }
}
