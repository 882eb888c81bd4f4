//! What a memory tells about its use: which pages are touched, and what is written by others than instructions.
//!
//! Both are kept only while somebody asks. A page is noted when it passes the slow path, as each does once after the
//! caches were emptied, so noting costs nothing in between.

use super::{Memory, PAGE};
use rustc_hash::FxHashSet;

/// The numbers of the pages that were touched.
#[derive(Clone, Debug, Default)]
pub struct Touched {
    /// Those that were read before they were written.
    pub read: FxHashSet<u64>,
    /// Those that were written.
    pub written: FxHashSet<u64>,
}

/// A run of bytes that was not written by a store of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The step it belongs to, if that is known here: for what other processes wrote, when the program sees it.
    pub step: Option<u64>,
    /// The first byte.
    pub address: u64,
    /// The number of bytes.
    pub length: u64,
}

impl Memory {
    /// Notes the pages that are touched from now on.
    pub fn note_touched(&mut self) {
        self.flush();
        self.touched = Some(Box::default());
    }

    /// The pages that were touched since [`Memory::note_touched`]; none if that was another memory, since the program was
    /// replaced meanwhile.
    pub fn take_touched(&mut self) -> Option<Touched> {
        self.touched.take().map(|touched| *touched)
    }

    /// Keeps what the kernel and other processes write from now on, or no longer.
    pub(crate) fn keep_writes(&mut self, keeps: bool) {
        if keeps != self.kept_writes.is_some() {
            self.kept_writes = keeps.then(Vec::new);
        }
    }

    /// What was written since the last call.
    pub(crate) fn take_writes(&mut self) -> Vec<Written> {
        self.kept_writes.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The step that watched code is in.
    #[inline(always)]
    pub(crate) fn set_step(&mut self, step: u64) {
        self.step = step;
    }

    pub(super) fn keep_write(&mut self, step: Option<u64>, address: u64, length: u64) {
        if let Some(kept) = &mut self.kept_writes {
            kept.push(Written { step, address, length });
        }
    }

    pub(super) fn note_read(&mut self, address: u64) {
        if let Some(touched) = &mut self.touched {
            touched.read.insert(address / PAGE);
        }
    }

    pub(super) fn note_written(&mut self, address: u64) {
        if let Some(touched) = &mut self.touched {
            touched.written.insert(address / PAGE);
        }
    }
}
