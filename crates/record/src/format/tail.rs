//! The end of a stream that has not become a chunk yet: a small mapped file, to which each record is committed at once.

use crate::record::Record;
use memmap2::MmapMut;
use std::fs::File;
use std::sync::atomic::{AtomicU32, Ordering};

const MAGIC: &[u8; 8] = b"PLXTAIL1";
const HEAD: usize = 16;
/// Length and checksum before each record.
const BEFORE: usize = 8;

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

/// The number of the chunk that a tail would become, and its records up to the first bad one.
pub fn read_tail(bytes: &[u8]) -> Option<(u64, Vec<Record>)> {
    let head = bytes.get(..HEAD)?;
    if !head.starts_with(MAGIC) {
        return None;
    }
    let sequence = u64::from_le_bytes(head[8..16].try_into().expect("eight bytes"));
    let mut records = Vec::new();
    let mut at = HEAD;
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
    Some((sequence, records))
}
