//! Memory that other processes map as well.
//!
//! Its pages are never in the caches, so that every access of them passes here. A locked instruction's load and store are
//! made one access by comparing and exchanging on the host; if another process came between, the instruction runs again.
//!
//! While a process is recorded, each shared page has a copy of our own, which holds what the program has seen there. A load
//! that finds the host's bytes different notes what others changed, before the access of which number; a replay has only
//! the copy, and makes the same changes before the same accesses.

use super::{Access, Backing, Cause, Fault, Frame, Mapping, Memory, OFFSET, PAGE};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// A locked instruction.
#[derive(Clone)]
pub(super) struct Locked {
    /// Where it loaded, and what.
    pub loaded: Option<(u64, smallvec::SmallVec<[u8; 16]>)>,
    /// How many accesses came before it.
    pub accesses: u64,
}

impl Memory {
    /// Whether other processes may map a place as well.
    pub fn is_shared(&self, address: u64) -> bool {
        self.region_at(address).is_some_and(|(_, region)| matches!(region.backing, Backing::Shared { .. }))
    }

    /// Whether what the program sees of some region is compared with what it last saw there.
    pub(crate) fn has_watched(&self) -> bool {
        self.has_watched
    }

    /// The host's address of a place that other processes map as well.
    pub fn shared_address(&self, address: u64) -> Option<*mut u8> {
        let (start, region) = self.region_at(address)?;
        let Backing::Shared { map, offset } = &region.backing else { return None };
        let page = map.shared_page(offset + ((address & !OFFSET) - start))?;
        Some(page.wrapping_add((address & OFFSET) as usize))
    }

    /// A locked instruction starts.
    #[inline(never)]
    pub(crate) fn lock(&mut self) {
        self.lock = Some(Locked { loaded: None, accesses: self.accesses });
    }

    /// It is over.
    pub(crate) fn unlock(&mut self) {
        self.lock = None;
    }

    /// The door reads from now on, or the program does again.
    pub(crate) fn set_quiet(&mut self, quiet: bool) {
        self.quiet = quiet;
    }

    /// The mapping and the offset in it of a watched place.
    pub(super) fn watched(&self, address: u64) -> Option<(Arc<dyn Mapping>, u64)> {
        let (start, region) = self.region_at(address)?;
        match &region.backing {
            Backing::Shared { map, offset } if map.is_watched() => {
                Some((map.clone(), offset + (address - start)))
            }
            _ => None,
        }
    }

    /// The host's address of a watched place, while it is recorded.
    pub(super) fn host_of_watched(&self, address: u64) -> Option<*mut u8> {
        let (map, offset) = self.watched(address)?;
        Some(map.shared_page(offset & !OFFSET)?.wrapping_add((offset & OFFSET) as usize))
    }

    /// Brings what the program sees of `run` bytes of a watched page up to date, and says where to read them: `ours` is
    /// our copy of them. What others have changed is noted, or, in a replay, known.
    pub(super) fn refreshed(&mut self, address: u64, run: usize, ours: *mut u8) -> *mut u8 {
        let Some((map, offset)) = self.watched(address) else { return ours };
        let theirs =
            map.shared_page(offset & !OFFSET).map(|page| page.wrapping_add((offset & OFFSET) as usize));
        if self.quiet {
            return theirs.unwrap_or(ours);
        }
        let access = self.accesses;
        self.accesses += 1;
        let mut changes = match theirs {
            Some(theirs) => {
                let mut now = vec![0u8; run];
                // SAFETY: the host's page is mapped, and ours is held by `self.pages`.
                unsafe { std::ptr::copy_nonoverlapping(theirs, now.as_mut_ptr(), run) };
                // SAFETY: nothing writes the frame while it is copied: the one writer is this memory.
                if now == unsafe { std::slice::from_raw_parts(ours, run) } {
                    return ours;
                }
                map.note_foreign(access, offset, &now);
                vec![(offset, now)]
            }
            None => map.foreign(access),
        };
        changes.retain(|(at, bytes)| {
            at / PAGE == offset / PAGE && (at & OFFSET) as usize + bytes.len() <= PAGE as usize
        });
        if changes.is_empty() {
            return ours;
        }
        let number = address / PAGE;
        let Some(frame) = self.pages.get_mut(&number) else { return ours };
        if Arc::get_mut(frame).is_none() {
            // SAFETY: nothing writes the frame while it is copied: the one writer is this memory.
            let copy = Frame::new(unsafe { *frame.bytes.get() });
            copy.written.store(frame.written.load(Ordering::Relaxed), Ordering::Relaxed);
            *frame = copy;
        }
        let page = frame.address();
        let step = self.step;
        for (at, bytes) in &changes {
            self.note_written(address);
            self.keep_write(Some(step), (address & !OFFSET) | (at & OFFSET), bytes.len() as u64);
        }
        for (at, bytes) in changes {
            // SAFETY: inside the page, as was checked.
            unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), page.add((at & OFFSET) as usize), bytes.len())
            };
        }
        page.wrapping_add((address & OFFSET) as usize)
    }

    /// Stores into shared memory if it still holds what was loaded, as one access for all processors.
    pub(super) fn exchange(&mut self, address: u64, loaded: &[u8], bytes: &[u8]) -> Result<(), Fault> {
        let ours = self.writable(address, true)?;
        let host = self.host_of_watched(address).unwrap_or(ours);
        let fault = Fault { address, access: Access::Write, cause: Cause::Contended };
        macro_rules! exchange {
            ($atomic:ty, $word:ty) => {{
                let (old, new) = (
                    loaded.try_into().map(<$word>::from_ne_bytes),
                    bytes.try_into().map(<$word>::from_ne_bytes),
                );
                let (old, new) = (old.expect("as many bytes"), new.expect("as many bytes"));
                // SAFETY: the host's page is mapped, the place is aligned, and all who share it use atomic accesses.
                let cell = unsafe { &*host.cast::<$atomic>() };
                cell.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst).map_err(|_| fault)?;
                if host != ours {
                    // SAFETY: what the program last saw there is what it wrote.
                    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), ours, bytes.len()) };
                }
                Ok(())
            }};
        }
        match bytes.len() {
            1 => exchange!(AtomicU8, u8),
            2 if address.is_multiple_of(2) => exchange!(AtomicU16, u16),
            4 if address.is_multiple_of(4) => exchange!(AtomicU32, u32),
            8 if address.is_multiple_of(8) => exchange!(AtomicU64, u64),
            // Wider or split accesses are not one access here.
            _ => self.store_bytes(address, bytes),
        }
    }
}
