//! The end of a stream that has not become a chunk yet: a small mapped file, to which each record is committed at once.
//!
//! Its head says how far the process has come: a program that computes leaves no records, and may be killed any time.

use crate::record::Record;
use memmap2::MmapMut;
use std::fs::File;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const MAGIC: &[u8; 8] = b"PLXTAIL2";
/// The magic, the number of the chunk, and how far the process has come.
const HEAD: usize = 24;
const PROGRESS: usize = 16;
/// Tails of earlier versions do not say how far the process has come.
const OLD_MAGIC: &[u8; 8] = b"PLXTAIL1";
const OLD_HEAD: usize = 16;
/// Length and checksum before each record.
const BEFORE: usize = 8;

/// How far a process has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Steps that it has made.
    pub steps: u64,
    /// Whether the next step is a call that is being made.
    pub in_call: bool,
}

impl Progress {
    /// As one word, which a store changes as a whole: the steps, whether it is in a call, and a checksum of both.
    fn word(self) -> u64 {
        let body = (self.steps << 1 | u64::from(self.in_call)) & BODY;
        let sum = body.to_le_bytes().iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        body | u64::from(!sum) << BODY.count_ones()
    }

    fn from_word(word: u64) -> Option<Progress> {
        let progress = Progress { steps: (word & BODY) >> 1, in_call: word & 1 != 0 };
        (progress.word() == word).then_some(progress)
    }
}

/// The bits of a word that are not its checksum.
const BODY: u64 = u64::MAX >> 8;

/// Bytes of the file.
pub const TAIL_SIZE: usize = 1 << 20;

/// The tail of a stream that is being written.
pub struct Tail {
    map: MmapMut,
    used: usize,
}

impl Tail {
    /// In a file that is empty.
    pub fn create(file: &File) -> std::io::Result<Tail> {
        file.set_len(TAIL_SIZE as u64)?;
        // SAFETY: the file is ours, and is only read by others once we are gone.
        let mut map = unsafe { MmapMut::map_mut(file)? };
        map[..8].copy_from_slice(MAGIC);
        Ok(Tail { map, used: HEAD })
    }

    /// Whether a record of so many bytes fits in.
    pub fn has_room(&self, length: usize) -> bool {
        // Behind the last record there is always a length of zero.
        self.used + BEFORE + length.next_multiple_of(4) + 4 <= TAIL_SIZE
    }

    /// Bytes that records take.
    pub fn used(&self) -> usize {
        self.used - HEAD
    }

    /// Commits a record: its length is stored last, so that it is there as a whole or not at all.
    pub fn append(&mut self, record: &[u8]) {
        let at = self.used;
        let end = at + BEFORE + record.len();
        self.used = end.next_multiple_of(4);
        self.map[self.used..self.used + 4].fill(0);
        self.map[at + 4..at + 8].copy_from_slice(&crc32fast::hash(record).to_le_bytes());
        self.map[at + BEFORE..end].copy_from_slice(record);
        self.length(at).store(record.len() as u32, Ordering::Release);
    }

    /// Notes how far the process has come. Everything that happened until then is committed.
    pub fn note(&mut self, progress: Progress) {
        // SAFETY: inside the mapping, and aligned: mappings start at pages.
        let place = unsafe { &*self.map.as_ptr().add(PROGRESS).cast::<AtomicU64>() };
        place.store(progress.word(), Ordering::Release);
    }

    /// Empties it: it will become the chunk of that number.
    pub fn reset(&mut self, sequence: u64) {
        self.length(HEAD).store(0, Ordering::Release);
        self.map[8..16].copy_from_slice(&sequence.to_le_bytes());
        self.used = HEAD;
    }

    fn length(&self, at: usize) -> &AtomicU32 {
        debug_assert!(at.is_multiple_of(4) && at + 4 <= TAIL_SIZE);
        // SAFETY: inside the mapping, and aligned: mappings start at pages.
        unsafe { &*self.map.as_ptr().add(at).cast::<AtomicU32>() }
    }
}

/// What a tail holds.
#[derive(Debug, PartialEq)]
pub struct Kept {
    /// The number of the chunk that it would become.
    pub sequence: u64,
    /// How far the process had come.
    pub progress: Progress,
    /// Its records up to the first bad one.
    pub records: Vec<Record>,
}

/// Reads a tail.
pub fn read_tail(bytes: &[u8]) -> Option<Kept> {
    let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let (word, mut at) = match bytes.get(..MAGIC.len())? {
        magic if magic == MAGIC => (number(PROGRESS)?, HEAD),
        magic if magic == OLD_MAGIC => (0, OLD_HEAD),
        _ => return None,
    };
    let sequence = number(MAGIC.len())?;
    let progress = Progress::from_word(word).unwrap_or_default();
    let mut records = Vec::new();
    while let Some(before) = bytes.get(at..at + BEFORE) {
        let length = u32::from_le_bytes(before[..4].try_into().expect("four bytes")) as usize;
        let checksum = u32::from_le_bytes(before[4..].try_into().expect("four bytes"));
        let Some(payload) = bytes.get(at + BEFORE..(at + BEFORE).saturating_add(length)) else { break };
        if length == 0 || crc32fast::hash(payload) != checksum {
            break;
        }
        let Ok(record) = postcard::from_bytes(payload) else { break };
        records.push(record);
        at = (at + BEFORE + length).next_multiple_of(4);
    }
    Some(Kept { sequence, progress, records })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word of which a bit was changed says nothing.
    #[test]
    fn progress_is_checked() {
        let all = [(0, false), (1, true), (u64::MAX >> 9, true)];
        for progress in all.map(|(steps, in_call)| Progress { steps, in_call }) {
            let word = progress.word();
            assert_eq!(Progress::from_word(word), Some(progress));
            for bit in 0..64 {
                assert_eq!(Progress::from_word(word ^ 1 << bit), None, "{progress:?}, bit {bit}");
            }
        }
    }
}
