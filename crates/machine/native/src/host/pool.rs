//! Memory of the host whose pages can be shown at other addresses as well: what frames lie in while a program runs natively.
//!
//! It is an anonymous mapping that is shared, of which `mremap` makes further mappings, without a descriptor. A page of the program
//! gets the place in a chunk that it has in its own surroundings, so that neighbours can be shown by one mapping of the host.

use super::PAGE;
use super::keys::{self, Key};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Pages in a chunk.
const CHUNK: u64 = 64;
const CHUNK_BYTES: u64 = CHUNK * PAGE;
/// Bytes of addresses; what is not used takes no room.
const SIZE: u64 = 1 << 36;

/// The pool.
pub struct Pool {
    start: u64,
    /// The same memory for reading, and for reading and writing, with the key of what is shown. Nothing is accessed there: these
    /// are what `mremap` copies.
    read: u64,
    write: u64,
    key: Key,
    chunks: Mutex<Chunks>,
}

#[derive(Default)]
struct Chunks {
    /// The chunk of each run of pages, by the number of its first page over [`CHUNK`].
    by_run: FxHashMap<u64, u32>,
    /// Of each chunk: which pages are used, and which run it is for.
    all: Vec<(u64, Option<u64>)>,
    free: Vec<u32>,
    /// Pages for those whose place is taken.
    spare: Vec<u32>,
}

impl Pool {
    /// An empty pool, whose pages are shown with a protection key; none if the host refuses.
    pub fn new(key: Key) -> Option<Pool> {
        let start = map_shared()?;
        let mut pool = Pool { start, read: 0, write: 0, key, chunks: Mutex::default() };
        pool.read = pool.again(0, libc::PROT_READ)?;
        pool.write = pool.again(0, libc::PROT_READ | libc::PROT_WRITE)?;
        Some(pool)
    }

    /// Another mapping of all of it, at an address or anywhere.
    fn again(&self, at: u64, protection: i32) -> Option<u64> {
        let fixed = if at == 0 { 0 } else { libc::MREMAP_FIXED };
        // SAFETY: a new mapping, or one that replaces an earlier one of the pool.
        unsafe {
            let place =
                libc::mremap(self.start as *mut _, 0, SIZE as usize, libc::MREMAP_MAYMOVE | fixed, at);
            if place == libc::MAP_FAILED {
                return None;
            }
            keys::protect(place as u64, SIZE, protection, self.key).then_some(place as u64)
        }
    }

    fn chunks(&self) -> MutexGuard<'_, Chunks> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A page for the page of that number; none if the pool is full.
    pub fn take(&self, number: u64) -> Option<*mut u8> {
        let mut chunks = self.chunks();
        let (run, within) = (number / CHUNK, number % CHUNK);
        let chunk = match chunks.by_run.get(&run) {
            Some(chunk) => *chunk,
            None => chunks.open(Some(run))?,
        };
        let used = &mut chunks.all[chunk as usize].0;
        if *used >> within & 1 == 0 {
            *used |= 1 << within;
            return Some(self.page(u64::from(chunk) * CHUNK + within));
        }
        if chunks.spare.is_empty() {
            let chunk = chunks.open(None)?;
            chunks.spare.extend((chunk * CHUNK as u32..).take(CHUNK as usize));
        }
        let index = chunks.spare.pop()?;
        chunks.all[index as usize / CHUNK as usize].0 |= 1 << (u64::from(index) % CHUNK);
        Some(self.page(index.into()))
    }

    fn page(&self, index: u64) -> *mut u8 {
        (self.start + index * PAGE) as *mut u8
    }

    /// Takes a page back.
    pub fn give(&self, place: *mut u8) {
        let index = (place as u64 - self.start) / PAGE;
        let mut chunks = self.chunks();
        let chunk = (index / CHUNK) as u32;
        let (used, run) = &mut chunks.all[chunk as usize];
        *used &= !(1 << (index % CHUNK));
        let (empty, run) = (*used == 0, *run);
        match run {
            None => chunks.spare.push(index as u32),
            Some(run) if empty => {
                chunks.by_run.remove(&run);
                chunks.free.push(chunk);
                let at = self.start + u64::from(chunk) * CHUNK_BYTES;
                // SAFETY: no frame lies in the chunk any more. Should the kernel refuse, its memory is used again later.
                unsafe { libc::madvise(at as *mut _, CHUNK_BYTES as usize, libc::MADV_REMOVE) };
            }
            Some(_) => {}
        }
    }

    /// Whether a place is in the pool.
    pub fn holds(&self, place: *mut u8) -> bool {
        (place as u64).wrapping_sub(self.start) < SIZE
    }

    /// Maps a page of the pool at another address, in place of what is there; whether the host did.
    pub fn show(&self, place: *mut u8, at: u64, writable: bool) -> bool {
        let from = if writable { self.write } else { self.read } + (place as u64 - self.start);
        let how = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: the caller owns the address; a size of zero leaves the mapping that is copied where it is.
        unsafe { libc::mremap(from as *mut _, 0, PAGE as usize, how, at) != libc::MAP_FAILED }
    }

    /// A copy of all pages that are used, for a child that is about to be made.
    pub fn twin(&self) -> Option<Twin> {
        let twin = Twin { start: map_shared()? };
        let chunks = self.chunks();
        for (chunk, (used, _)) in chunks.all.iter().enumerate() {
            for within in (0..CHUNK).filter(|within| used >> within & 1 != 0) {
                let at = (chunk as u64 * CHUNK + within) * PAGE;
                let (from, to) = ((self.start + at) as *const u8, (twin.start + at) as *mut u8);
                // SAFETY: both are pages of mappings of that size; nothing writes frames meanwhile.
                unsafe { std::ptr::copy_nonoverlapping(from, to, PAGE as usize) };
            }
        }
        Some(twin)
    }

    /// Puts a copy in the place of the pool: this process is the child. False if the host refuses.
    pub fn become_twin(&self, twin: Twin) -> bool {
        let (from, to) = (twin.start, self.start);
        std::mem::forget(twin);
        let how = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: the copy holds the same pages at the same distances, so that all frames stay what they are.
        let moved = unsafe { libc::mremap(from as *mut _, SIZE as usize, SIZE as usize, how, to) };
        moved != libc::MAP_FAILED
            && self.again(self.read, libc::PROT_READ).is_some()
            && self.again(self.write, libc::PROT_READ | libc::PROT_WRITE).is_some()
    }
}

impl Chunks {
    fn open(&mut self, run: Option<u64>) -> Option<u32> {
        let chunk = match self.free.pop() {
            Some(chunk) => chunk,
            None if self.all.len() as u64 * CHUNK_BYTES < SIZE => {
                self.all.push((0, None));
                self.all.len() as u32 - 1
            }
            None => return None,
        };
        self.all[chunk as usize] = (0, run);
        if let Some(run) = run {
            self.by_run.insert(run, chunk);
        }
        Some(chunk)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for place in [self.start, self.read, self.write].into_iter().filter(|place| *place != 0) {
            // SAFETY: mapped by the pool; its frames hold it, so there are none.
            unsafe { libc::munmap(place as *mut _, SIZE as usize) };
        }
    }
}

/// A copy of a pool.
pub struct Twin {
    start: u64,
}

impl Drop for Twin {
    fn drop(&mut self) {
        // SAFETY: nothing refers to it.
        unsafe { libc::munmap(self.start as *mut _, SIZE as usize) };
    }
}

fn map_shared() -> Option<u64> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping.
    let place = unsafe { libc::mmap(std::ptr::null_mut(), SIZE as usize, protection, flags, -1, 0) };
    (place != libc::MAP_FAILED).then_some(place as u64)
}
