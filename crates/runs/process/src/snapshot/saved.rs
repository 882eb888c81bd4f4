//! A snapshot as it lies in a file, so that a later replay of the same recording can start from it.
//!
//! Everything but the contents of pages is one value; pages are handed over one by one, since snapshots that follow each other
//! share most of them.

use super::Snapshot;
use crate::elf::Machine;
use crate::memory::{Mapping, Memory, Page, SavedMemory};
use crate::outside::{Facts, Limits};
use crate::signal::Signals;
use crate::system::Origin;
use crate::threads::Threads;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;

/// A snapshot without its pages. What it looks like is a matter of this crate's revision: who keeps it in a file says of which.
#[derive(Serialize, Deserialize)]
pub struct SavedSnapshot {
    machine: Machine,
    program: Vec<u8>,
    memory: SavedMemory,
    registers: Vec<u8>,
    pc: u64,
    time: u64,
    heap: std::ops::Range<u64>,
    signals: Signals,
    threads: Threads,
    origin: Origin,
    facts: Facts,
    file_size_limit: Option<u64>,
    limits: Limits,
    position: u64,
}

impl Snapshot {
    /// What is to be written down besides the pages; none if something is mapped that a later replay would not know again.
    pub fn save(&self) -> Option<SavedSnapshot> {
        Some(SavedSnapshot {
            machine: self.machine,
            program: self.program.as_os_str().as_bytes().to_vec(),
            memory: self.memory.save()?,
            registers: self.registers.to_vec(),
            pc: self.pc,
            time: self.time,
            heap: self.heap.clone(),
            signals: self.signals.clone(),
            threads: self.threads.clone(),
            origin: self.origin.clone(),
            facts: self.facts.clone(),
            file_size_limit: self.file_size_limit,
            limits: self.limits,
            position: self.position,
        })
    }

    /// The pages that had been touched, with their numbers, in no order.
    pub fn pages(&self) -> impl Iterator<Item = (u64, Page)> {
        self.memory.frames()
    }

    /// How many there are.
    pub fn touched_pages(&self) -> usize {
        self.memory.touched_pages()
    }

    /// The snapshot that was saved, with mappings by number; none if it cannot have been one of this recording.
    pub fn restore(
        saved: SavedSnapshot,
        pages: impl Iterator<Item = (u64, Page)>,
        mapping: &dyn Fn(u32) -> Option<Arc<dyn Mapping>>,
    ) -> Option<Snapshot> {
        Some(Snapshot {
            machine: saved.machine,
            program: PathBuf::from(OsString::from_vec(saved.program)),
            memory: Memory::restore(saved.memory, pages, mapping)?,
            registers: saved.registers.into(),
            pc: saved.pc,
            time: saved.time,
            heap: saved.heap,
            signals: saved.signals,
            threads: saved.threads,
            origin: saved.origin,
            facts: saved.facts,
            file_size_limit: saved.file_size_limit,
            limits: saved.limits,
            position: saved.position,
        })
    }
}
