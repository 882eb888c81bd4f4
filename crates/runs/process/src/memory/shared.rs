//! Memory that other processes map as well.
//!
//! Its pages are never in the caches, so that every access of them passes here. A locked instruction's load and store are
//! made one access by comparing and exchanging on the host; if another process came between, the instruction runs again.
//!
//! While a process is recorded, each shared page has a copy of our own, which holds what the program has seen there. A load
//! that finds the host's bytes different notes what others changed, before the access of which number; a replay has only
//! the copy, and makes the same changes before the same accesses.

use super::{Access, Backing, Cause, Fault, Frame, Mapping, Memory, OFFSET, PAGE, Region, guarded};
use std::sync::Arc;

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
        let Backing::Shared { map, offset, .. } = &region.backing else { return None };
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
            Backing::Shared { map, offset, .. } if map.is_watched() => {
                Some((map.clone(), offset + (address - start)))
            }
            _ => None,
        }
    }

    /// Brings what the program sees of `run` bytes of a watched page up to date, and says where to read them: `ours` is
    /// our copy of them. What others have changed is noted, or, in a replay, known.
    pub(super) fn refreshed(&mut self, address: u64, run: usize, ours: *mut u8) -> Result<*mut u8, Fault> {
        let Some((map, offset)) = self.watched(address) else { return Ok(ours) };
        let theirs = map.shared_page(offset & !OFFSET);
        let mut now = vec![0u8; if theirs.is_some() { run } else { 0 }];
        // SAFETY: the host's page is mapped, as far as its file reaches.
        let there = theirs.map(|page| unsafe {
            guarded::copy(page.wrapping_add((offset & OFFSET) as usize), now.as_mut_ptr(), run)
        });
        if self.quiet {
            return match there {
                Some(false) => Err(Fault { address, access: Access::Read, cause: Cause::BeyondFile }),
                _ => Ok(theirs.map_or(ours, |page| page.wrapping_add((offset & OFFSET) as usize))),
            };
        }
        let access = self.accesses;
        self.accesses += 1;
        let changes = match there {
            // SAFETY: nothing writes the frame while it is compared: the one writer is this memory.
            Some(true) if now == unsafe { std::slice::from_raw_parts(ours, run) } => return Ok(ours),
            Some(true) => {
                map.note_foreign(access, offset, Some(&now));
                vec![(offset, Some(now))]
            }
            Some(false) => {
                map.note_foreign(access, offset, None);
                vec![(offset, None)]
            }
            None => map.foreign(access),
        };
        let mut page = ours.wrapping_sub((address & OFFSET) as usize);
        for (at, bytes) in changes {
            let Some(bytes) = bytes else {
                self.forget_missing(address);
                return Err(Fault { address, access: Access::Read, cause: Cause::BeyondFile });
            };
            let inside = at / PAGE == offset / PAGE && (at & OFFSET) as usize + bytes.len() <= PAGE as usize;
            if !inside {
                continue;
            }
            let pool = self.view.as_ref().map(|view| view.pool());
            let Some(frame) = self.pages.get_mut(&(address / PAGE)) else { continue };
            // SAFETY: nothing writes the frame while it is copied: the one writer is this memory.
            unsafe { Frame::own(frame, address / PAGE, pool) };
            page = frame.address();
            self.note_written(address);
            self.keep_write(Some(self.step), (address & !OFFSET) | (at & OFFSET), bytes.len() as u64);
            // SAFETY: inside the page, as was checked.
            unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), page.add((at & OFFSET) as usize), bytes.len())
            };
        }
        Ok(page.wrapping_add((address & OFFSET) as usize))
    }

    /// Stores bytes of one page of shared memory: `ours` is where the program sees them, which is the host's page if nothing
    /// is watched.
    pub(super) fn store_shared(&mut self, address: u64, bytes: &[u8], ours: *mut u8) -> Result<(), Fault> {
        let fault = Fault { address, access: Access::Write, cause: Cause::BeyondFile };
        let Some((map, offset)) = self.watched(address) else {
            // SAFETY: the host's page is mapped for writing, as far as its file reaches.
            if !unsafe { guarded::copy(bytes.as_ptr(), ours, bytes.len()) } {
                return Err(fault);
            }
            self.write_aliases(address, bytes);
            return Ok(());
        };
        let access = self.accesses;
        self.accesses += u64::from(!self.quiet);
        let whole = match map.shared_page(offset & !OFFSET) {
            Some(page) => {
                let theirs = page.wrapping_add((offset & OFFSET) as usize);
                // SAFETY: others see it in the host's page, which is mapped for writing, as far as its file reaches.
                unsafe { guarded::copy(bytes.as_ptr(), theirs, bytes.len()) }
            }
            None => self.quiet || map.foreign(access).iter().all(|(_, bytes)| bytes.is_some()),
        };
        if !whole {
            if !self.quiet {
                map.note_foreign(access, offset, None);
                self.forget_missing(address);
            }
            return Err(fault);
        }
        // SAFETY: our copy is ours alone (`writable` copied it if it was shared), and the bytes end in its page.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), ours, bytes.len()) };
        self.write_aliases(address, bytes);
        Ok(())
    }

    /// A page of a file turned out not to be there: should the file grow again, it is asked for anew.
    pub(super) fn forget_missing(&mut self, address: u64) {
        let page = address & !OFFSET;
        self.split(page);
        self.split(page + PAGE);
        if let Some(Region { backing, .. }) = self.regions.get_mut(&page)
            && let Backing::Copied { generation, .. } | Backing::Shared { generation, .. } = backing
        {
            *generation += 1;
        }
        self.pages.remove(&(page / PAGE));
        self.reads.remove(page);
        self.writes.remove(page);
        self.hide(page / PAGE, page / PAGE + 1);
        if self.code.contains(&(page / PAGE)) {
            self.note_code_changed(page / PAGE, page / PAGE + 1);
        }
    }

    /// Stores into shared memory if it still holds what was loaded, as one access for all processors.
    pub(super) fn exchange(&mut self, address: u64, loaded: &[u8], bytes: &[u8]) -> Result<(), Fault> {
        // Wider or split accesses are not one access here.
        if !address.is_multiple_of(bytes.len() as u64) || bytes.len() > 8 {
            return self.store_bytes(address, bytes);
        }
        let ours = self.writable(address, true)?;
        let watched = self.watched(address);
        let theirs = watched.as_ref().and_then(|(map, offset)| {
            Some(map.shared_page(offset & !OFFSET)?.wrapping_add((offset & OFFSET) as usize))
        });
        let Some(place) = theirs.or(watched.is_none().then_some(ours)) else {
            // A replay: what the recorder found is known by the load.
            return self.store_shared(address, bytes, ours);
        };
        // SAFETY: the host's page is mapped for writing as far as its file reaches, and the place is aligned.
        let exchanged = unsafe { guarded::exchange(place, loaded, bytes) };
        let fault = |cause| Fault { address, access: Access::Write, cause };
        match exchanged {
            Some(guarded::Exchanged::Done) => {}
            Some(guarded::Exchanged::Changed) => return Err(fault(Cause::Contended)),
            // What is gone is found to be gone, and noted, by a plain store.
            Some(guarded::Exchanged::Gone) | None => return self.store_shared(address, bytes, ours),
        }
        if watched.is_some() {
            self.accesses += u64::from(!self.quiet);
            // SAFETY: what the program last saw there is what it wrote.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), ours, bytes.len()) };
        }
        self.write_aliases(address, bytes);
        Ok(())
    }
}
