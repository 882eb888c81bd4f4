//! Pages at the addresses that the program has them at.
//!
//! Addresses are taken from the host by blocks, when a page of them is first shown. Where the host has something of its own
//! nothing is shown.

use super::{PAGE, Pool};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Pages in a block.
const BLOCK: u64 = 256;

/// The pages that are shown.
pub struct View {
    pool: Arc<Pool>,
    /// By number; whether they can be written.
    shown: FxHashMap<u64, bool>,
    /// Blocks by number; whether they are ours.
    blocks: FxHashMap<u64, bool>,
    /// One past the last address of the program.
    end: u64,
}

impl View {
    /// Shows nothing yet, and nothing ever from `end` on.
    pub fn new(pool: Arc<Pool>, end: u64) -> View {
        View { pool, shown: FxHashMap::default(), blocks: FxHashMap::default(), end }
    }

    /// Where its pages come from.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// Shows a page of the pool as the page of that number; whether that could be done.
    pub fn show(&mut self, number: u64, host: *mut u8, writable: bool) -> bool {
        if !self.pool.holds(host) || !self.owns(number / BLOCK) {
            return false;
        }
        let mut done = self.pool.show(host, number * PAGE, writable);
        if !done {
            // The host has too many mappings.
            self.clear();
            done = self.pool.show(host, number * PAGE, writable);
        }
        if done {
            self.shown.insert(number, writable);
        }
        done
    }

    /// Whether a block of addresses is ours, or becomes it.
    fn owns(&mut self, block: u64) -> bool {
        let (start, size) = self.span(block);
        *self.blocks.entry(block).or_insert_with(|| reserve(start, size, libc::MAP_FIXED_NOREPLACE))
    }

    /// Where a block is, and its size: the last one of the host's addresses is smaller.
    fn span(&self, block: u64) -> (u64, u64) {
        let start = block * BLOCK * PAGE;
        (start, (BLOCK * PAGE).min(self.end.saturating_sub(start)))
    }

    /// The blocks that are ours.
    fn spans(&self) -> impl Iterator<Item = (u64, u64)> {
        self.blocks.iter().filter(|(_, ours)| **ours).map(|(block, _)| self.span(*block))
    }

    /// The pages that are shown, by number, and whether they can be written.
    pub fn shown(&self) -> impl Iterator<Item = (u64, bool)> {
        self.shown.iter().map(|(number, writable)| (*number, *writable))
    }

    /// Hides what is shown of these pages, by number.
    pub fn hide(&mut self, first: u64, last: u64) {
        if last - first <= self.shown.len() as u64 {
            let mut number = first;
            while number < last {
                let run = (number..last).take_while(|number| self.shown.remove(number).is_some()).count();
                if !cover(number, run as u64) {
                    return self.clear();
                }
                number += run as u64 + 1;
            }
        } else {
            let hidden: Vec<u64> =
                self.shown.keys().copied().filter(|number| (first..last).contains(number)).collect();
            for number in hidden {
                self.shown.remove(&number);
                if !cover(number, 1) {
                    return self.clear();
                }
            }
        }
    }

    /// Hides a page that can be written.
    pub fn close(&mut self, number: u64) {
        if self.shown.get(&number) == Some(&true) {
            self.hide(number, number + 1);
        }
    }

    /// Hides everything. Whole blocks never need another mapping of the host.
    pub fn clear(&mut self) {
        self.shown.clear();
        for (start, size) in self.spans() {
            // A page that stays visible would be read after it has changed.
            assert!(cover(start / PAGE, size / PAGE), "the host cannot take back {start:#x}");
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        for (start, size) in self.spans() {
            // SAFETY: the addresses are the view's.
            unsafe { libc::munmap(start as *mut _, size as usize) };
        }
    }
}

/// Puts nothing at the addresses of some pages, which stay taken; whether the host did.
fn cover(number: u64, count: u64) -> bool {
    count == 0 || reserve(number * PAGE, count * PAGE, libc::MAP_FIXED)
}

fn reserve(start: u64, size: u64, how: i32) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | how;
    // SAFETY: the addresses are the view's, or nothing is mapped there.
    let place = unsafe { libc::mmap(start as *mut _, size as usize, libc::PROT_NONE, flags, -1, 0) };
    place as u64 == start
}
