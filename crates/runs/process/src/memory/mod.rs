//! The address space of an emulated process: regions say what is mapped and how, pages hold what has been touched.
//!
//! A region costs a few words however large it is; a page is allocated when it is first written (or first read, if
//! it comes from a file), so a program may reserve a terabyte and pay for what it uses. Pages are shared by
//! reference count and copied when written while shared, so that a clone of the whole space, a snapshot, costs one
//! pointer per touched page.
//!
//! Two small direct-mapped caches of host addresses, one for reads and one for writes, make the ordinary access a
//! compare and a load. Only pages that may be accessed without further thought are in them: a page that is shared,
//! or that holds translated code, is never in the write cache.

mod aliases;
mod cache;
mod code;
mod frame;
pub(crate) mod guarded;
mod layout;
pub(crate) mod mapping;
mod noted;
mod region;
mod saved;
mod shared;
mod view;

pub use mapping::{Identity, Mapping, Object};
pub use noted::{Touched, Written};
pub use region::{Advice, Backing, Permissions, Region};
pub use saved::Page;
pub(crate) use saved::SavedMemory;

use crate::digest::Digest;
use cache::Cache;
use frame::Frame;
use parallax_native::host::View;
use rustc_hash::{FxHashMap, FxHashSet};
use shared::Locked;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes in a page.
pub const PAGE: u64 = 4096;
const OFFSET: u64 = PAGE - 1;

/// What an access wanted to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read data.
    Read,
    /// Write data.
    Write,
    /// Fetch an instruction.
    Execute,
}

/// Why an access could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Nothing is mapped there.
    Unmapped,
    /// Something is mapped there, but not for this kind of access.
    Forbidden,
    /// A mapping of a file reaches beyond the end of the file.
    BeyondFile,
    /// A mapping does not know what is there, since its recording was cut before.
    Unrecorded,
    /// The bound on touched memory is reached.
    OutOfMemory,
    /// Code was translated from there: the instruction is to be run alone. Never seen outside the execution loop.
    OwnCode,
    /// Another process changed shared memory during a locked instruction, which is to be run again. Likewise.
    Contended,
    /// Somebody wants to look at every access of that page. Never seen by the program.
    Guarded,
}

/// An access that could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {access} {address:#x}: {cause}")]
pub struct Fault {
    /// The first byte that could not be accessed.
    pub address: u64,
    /// What was tried.
    pub access: Access,
    /// Why it failed.
    pub cause: Cause,
}

impl std::fmt::Display for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Execute => "execute",
        })
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Cause::Unmapped => "nothing is mapped there",
            Cause::Forbidden => "the mapping does not permit it",
            Cause::BeyondFile => "the mapped file ends before it",
            Cause::Unrecorded => "the recording does not say what is there",
            Cause::OutOfMemory => "the memory bound of the emulated process is reached",
            Cause::OwnCode => "code was translated from there",
            Cause::Contended => "another process changed it",
            Cause::Guarded => "the page is guarded",
        })
    }
}

/// An address space.
pub struct Memory {
    regions: BTreeMap<u64, Region>,
    pages: FxHashMap<u64, Arc<Frame>>,
    zero: Arc<Frame>,
    reads: Cache,
    writes: Cache,
    /// The pages that native code sees, if it runs.
    view: Option<Box<View>>,
    code: FxHashSet<u64>,
    /// The pages of code that have changed since the loop last looked.
    code_changed: Vec<u64>,
    /// Pages that the execution loop is to stop before.
    guarded: FxHashSet<u64>,
    /// Whether it does not, for the time being.
    ignores_guards: bool,
    /// Whether the execution loop runs: stores into code, and accesses of guarded pages, are refused.
    guards_code: bool,
    /// A locked instruction runs; what it loaded from shared memory.
    lock: Option<Locked>,
    /// Whether some region's loads are compared with what the program last saw there.
    has_watched: bool,
    /// Whether it is the door that reads: the program does not see it.
    quiet: bool,
    /// How many accesses of watched shared memory the program has made.
    accesses: u64,
    /// The pages that are touched, while somebody asks.
    touched: Option<Box<Touched>>,
    /// Pages that are seen at several places, as long as nothing else is mapped.
    aliases: Option<Box<[aliases::Alias]>>,
    /// What is written by others than instructions, while somebody asks.
    kept_writes: Option<Vec<Written>>,
    /// The step that watched code is in.
    step: u64,
    page_bound: usize,
    end: u64,
    /// How large a region may be that grows downwards when it is accessed below its start.
    stack_limit: u64,
}

impl Memory {
    /// An empty space of addresses below `end`, which may touch at most `byte_bound` bytes.
    pub fn new(end: u64, byte_bound: u64) -> Self {
        Memory {
            regions: BTreeMap::new(),
            pages: FxHashMap::default(),
            zero: Frame::new([0; PAGE as usize]),
            reads: Cache::new(),
            writes: Cache::new(),
            view: None,
            code: FxHashSet::default(),
            code_changed: Vec::new(),
            guarded: FxHashSet::default(),
            ignores_guards: false,
            guards_code: false,
            lock: None,
            has_watched: false,
            quiet: false,
            accesses: 0,
            touched: None,
            aliases: None,
            kept_writes: None,
            step: 0,
            page_bound: (byte_bound / PAGE) as usize,
            end,
            stack_limit: 0,
        }
    }

    /// A copy that shares every page with this one until either writes it.
    pub fn snapshot(&mut self) -> Memory {
        self.writes.clear();
        if let Some(view) = &mut self.view {
            view.clear();
        }
        self.resting_copy()
    }

    /// The same of a memory that nothing runs in, as a snapshot's is: its cache of writable pages is empty.
    pub(crate) fn resting_copy(&self) -> Memory {
        Memory {
            regions: self.regions.clone(),
            pages: self.pages.clone(),
            zero: self.zero.clone(),
            reads: Cache::new(),
            writes: Cache::new(),
            view: None,
            code: self.code.clone(),
            code_changed: self.code_changed.clone(),
            guarded: self.guarded.clone(),
            ignores_guards: self.ignores_guards,
            guards_code: false,
            lock: None,
            has_watched: self.has_watched,
            quiet: false,
            accesses: self.accesses,
            touched: None,
            aliases: None,
            kept_writes: None,
            step: 0,
            page_bound: self.page_bound,
            end: self.end,
            stack_limit: self.stack_limit,
        }
    }

    /// The page numbers whose contents may differ from `older`, a snapshot of this space.
    pub fn pages_changed_since(&self, older: &Memory) -> Vec<u64> {
        let changed = |(number, frame): (&u64, &Arc<Frame>)| {
            let same = older.pages.get(number).is_some_and(|old| Arc::ptr_eq(old, frame));
            (!same).then_some(*number)
        };
        self.pages.iter().filter_map(changed).collect()
    }

    /// How many pages have been touched and so take room.
    pub fn touched_pages(&self) -> usize {
        self.pages.len()
    }

    /// Whether the page of an address has been written.
    pub fn is_written(&self, address: u64) -> bool {
        self.pages.get(&(address / PAGE)).is_some_and(|frame| frame.is_written())
    }

    /// A checksum of everything that was written.
    pub fn digest(&self) -> u64 {
        let written = self.pages.iter().filter(|(_, frame)| frame.is_written());
        // The order of the pages does not count.
        written.fold(0, |all, (number, frame)| {
            // SAFETY: nothing writes while this reads.
            let bytes = unsafe { frame.contents() };
            all ^ Digest::new().word(*number).bytes(bytes).finish()
        })
    }

    /// The mapped regions in address order.
    pub fn regions(&self) -> impl Iterator<Item = (u64, &Region)> {
        self.regions.iter().map(|(start, region)| (*start, region))
    }

    /// The region holding an address.
    pub fn region_at(&self, address: u64) -> Option<(u64, &Region)> {
        let (start, region) = self.regions.range(..=address).next_back()?;
        (address < region.end).then_some((*start, region))
    }

    /// One past the last address of the space.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Whether `start..start+length` lies in the space, without wrapping.
    pub fn is_range(&self, start: u64, length: u64) -> bool {
        start.checked_add(length).is_some_and(|end| end <= self.end)
    }

    /// Reads bytes into `into`.
    pub fn read(&mut self, address: u64, into: &mut [u8]) -> Result<(), Fault> {
        self.read_as(Access::Read, address, into)
    }

    /// Reads bytes as somebody does who is not the program: false if that cannot be done, or not without being noticed. What
    /// other processes share is such.
    pub fn peek(&mut self, address: u64, into: &mut [u8]) -> bool {
        let quiet = std::mem::replace(&mut self.quiet, true);
        let whole = self.peek_quietly(address, into);
        self.quiet = quiet;
        whole
    }

    fn peek_quietly(&mut self, address: u64, into: &mut [u8]) -> bool {
        let mut done = 0;
        while done < into.len() {
            let at = address.wrapping_add(done as u64);
            let run = ((PAGE - (at & OFFSET)) as usize).min(into.len() - done);
            let host = match self.reads.find::<1>(at) {
                Some(host) => host,
                None if self.is_shared(at) => return false,
                None => match self.readable(at, Access::Read) {
                    Ok(host) => host,
                    Err(_) => return false,
                },
            };
            // SAFETY: the page is held by `self.pages` or by a host mapping, and `run` ends within it.
            unsafe { std::ptr::copy_nonoverlapping(host, into[done..].as_mut_ptr(), run) };
            done += run;
        }
        true
    }

    /// Fetches instruction bytes; how many could be fetched before the mapping ended.
    pub fn fetch(&mut self, address: u64, into: &mut [u8]) -> Result<usize, Fault> {
        let first = (PAGE - (address & OFFSET)).min(into.len() as u64) as usize;
        self.read_as(Access::Execute, address, &mut into[..first])?;
        if first == into.len() {
            return Ok(first);
        }
        match self.read_as(Access::Execute, address.wrapping_add(first as u64), &mut into[first..]) {
            Ok(()) => Ok(into.len()),
            Err(_) => Ok(first),
        }
    }

    fn read_as(&mut self, access: Access, address: u64, into: &mut [u8]) -> Result<(), Fault> {
        let mut done = 0;
        while done < into.len() {
            let at = address.wrapping_add(done as u64);
            let run = ((PAGE - (at & OFFSET)) as usize).min(into.len() - done);
            let mut host = self.readable(at, access)?;
            // When code is translated is not the program's doing, and no access of its.
            if self.has_watched && access != Access::Execute {
                host = self.refreshed(at, run, host)?;
            }
            // SAFETY: the page is held by `self.pages` or by a host mapping, and `run` ends within it.
            if !unsafe { guarded::copy(host, into[done..].as_mut_ptr(), run) } {
                return Err(Fault { address: at, access, cause: Cause::BeyondFile });
            }
            done += run;
        }
        Ok(())
    }

    /// Writes bytes, as the kernel does: those who watch are told.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        let written = self.store_bytes(address, bytes);
        if self.kept_writes.is_some() {
            let length = match &written {
                Ok(()) => bytes.len() as u64,
                Err(fault) => fault.address.wrapping_sub(address).min(bytes.len() as u64),
            };
            if length > 0 {
                self.keep_write(None, address, length);
            }
        }
        written
    }

    /// Writes bytes, as an instruction does.
    pub(crate) fn store_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        let mut done = 0;
        while done < bytes.len() {
            let at = address.wrapping_add(done as u64);
            let run = ((PAGE - (at & OFFSET)) as usize).min(bytes.len() - done);
            let host = self.writable(at, true)?;
            let bytes = &bytes[done..done + run];
            if self.is_shared(at) {
                self.store_shared(at, bytes, host)?;
            } else {
                // SAFETY: the frame is ours alone (`writable` copied it if it was shared), and `run` ends within it.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), host, run) };
            }
            done += run;
        }
        Ok(())
    }

    /// Writes bytes wherever something is mapped, whatever its permissions: what a loader or a debugger does.
    pub fn poke(&mut self, address: u64, bytes: &[u8]) -> Result<(), Fault> {
        self.keep_write(None, address, bytes.len() as u64);
        let mut done = 0;
        while done < bytes.len() {
            let at = address.wrapping_add(done as u64);
            let run = ((PAGE - (at & OFFSET)) as usize).min(bytes.len() - done);
            let host = self.writable(at, false)?;
            // SAFETY: as in `write`; a page of the host is mapped.
            if !unsafe { guarded::copy(bytes[done..].as_ptr(), host, run) } {
                return Err(Fault { address: at, access: Access::Write, cause: Cause::BeyondFile });
            }
            done += run;
        }
        Ok(())
    }

    /// Checks that a range may be written, before something outside the process is asked to produce the bytes.
    pub fn check_writable(&mut self, address: u64, length: u64) -> Result<(), Fault> {
        let mut at = address;
        let end = address.wrapping_add(length);
        if end < address {
            return Err(Fault { address, access: Access::Write, cause: Cause::Unmapped });
        }
        while at < end {
            let fault = |cause| Fault { address: at, access: Access::Write, cause };
            if self.region_at(at).is_none() {
                self.grow_down(at);
            }
            let (_, region) = self.region_at(at).ok_or(fault(Cause::Unmapped))?;
            if !region.permissions.allow(Access::Write) {
                return Err(fault(Cause::Forbidden));
            }
            at = region.end;
        }
        Ok(())
    }

    /// Reads up to `limit` bytes of a zero-terminated string, without the zero; `None` if it is longer.
    pub fn read_string(&mut self, address: u64, limit: usize) -> Result<Option<Vec<u8>>, Fault> {
        let mut text = Vec::new();
        let mut at = address;
        while text.len() < limit {
            let run = (PAGE - (at & OFFSET)) as usize;
            let mut chunk = vec![0; run];
            self.read(at, &mut chunk)?;
            if let Some(end) = chunk.iter().position(|byte| *byte == 0) {
                text.extend_from_slice(&chunk[..end]);
                return Ok((text.len() <= limit).then_some(text));
            }
            text.extend_from_slice(&chunk);
            at = at.wrapping_add(run as u64);
        }
        Ok(None)
    }

    /// `N` bytes of a page that was just read: the emulator's ordinary access.
    #[inline(always)]
    pub fn find<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let host = self.reads.find::<N>(address)?;
        // SAFETY: the cache holds pages that are mapped, and `find` checked that all `N` bytes are in this one.
        Some(unsafe { host.cast::<[u8; N]>().read_unaligned() })
    }

    /// Replaces `N` bytes of a page that was just written; false if it was not.
    #[inline(always)]
    pub(crate) fn replace<const N: usize>(&self, address: u64, bytes: [u8; N]) -> bool {
        let Some(host) = self.writes.find::<N>(address) else { return false };
        // SAFETY: as in `find`. Pages in the write cache belong to this space alone, and no slice handed out overlaps them.
        unsafe { host.cast::<[u8; N]>().write_unaligned(bytes) };
        true
    }

    /// Loads `N` bytes.
    #[inline(always)]
    pub fn load<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Fault> {
        match self.find(address) {
            Some(bytes) => Ok(bytes),
            None => self.load_slowly(address),
        }
    }

    #[cold]
    #[inline(never)]
    fn load_slowly<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Fault> {
        let mut bytes = [0; N];
        self.read(address, &mut bytes)?;
        if let Some(lock) = &mut self.lock {
            lock.loaded = Some((address, smallvec::SmallVec::from_slice(&bytes)));
        }
        Ok(bytes)
    }

    /// Stores `N` bytes.
    #[inline(always)]
    pub fn store<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), Fault> {
        if self.replace(address, bytes) { Ok(()) } else { self.store_slowly(address, bytes) }
    }

    #[cold]
    #[inline(never)]
    fn store_slowly<const N: usize>(&mut self, address: u64, bytes: [u8; N]) -> Result<(), Fault> {
        // A store that crosses into a page that cannot be written must leave the first page alone.
        let last = address.wrapping_add(N as u64 - 1);
        if last / PAGE != address / PAGE {
            // Of two bad pages the processor names the first.
            self.check_writable(address, 1)?;
            self.writable(last & !OFFSET, true)?;
        }
        if let Some(Locked { loaded: Some((at, loaded)), accesses }) = &self.lock
            && *at == address
            && loaded.len() == N
            && self.is_shared(address)
        {
            let (loaded, accesses) = (loaded.clone(), *accesses);
            let exchanged = self.exchange(address, &loaded, &bytes);
            if exchanged.is_err() {
                // It will be made again as if for the first time.
                self.accesses = accesses;
            }
            return exchanged;
        }
        self.store_bytes(address, &bytes)
    }

    /// The host address of a byte that may be read (or executed).
    fn readable(&mut self, address: u64, access: Access) -> Result<*mut u8, Fault> {
        if access == Access::Read
            && let Some(host) = self.reads.find::<1>(address)
        {
            return Ok(host);
        }
        let fault = |cause| Fault { address, access, cause };
        if self.region_at(address).is_none() {
            self.grow_down(address);
        }
        let (start, region) = self.region_at(address).ok_or(fault(Cause::Unmapped))?;
        if !region.permissions.allow(access) {
            return Err(fault(Cause::Forbidden));
        }
        let number = address / PAGE;
        let guarded = self.guarded.contains(&number);
        if guarded && self.guards_code && !self.ignores_guards && access == Access::Read {
            return Err(fault(Cause::Guarded));
        }
        let shared = matches!(region.backing, Backing::Shared { .. });
        let page = match (self.pages.get(&number), &region.backing) {
            (Some(frame), _) => frame.address(),
            (None, Backing::Zero) => self.zero.address(),
            (None, Backing::Shared { map, offset, generation }) if map.is_watched() => {
                let filled = map.filled(offset + (number * PAGE - start), *generation);
                self.fill(number, filled, access).map_err(fault)?
            }
            (None, Backing::Shared { map, offset, .. }) => {
                map.shared_page(offset + (number * PAGE - start)).ok_or(fault(Cause::BeyondFile))?
            }
            (None, Backing::Copied { map, offset, generation }) => {
                let filled = map.filled(offset + (number * PAGE - start), *generation);
                self.fill(number, filled, access).map_err(fault)?
            }
        };
        // Shared and guarded pages stay out, so that each access of them passes here.
        if access == Access::Read && !shared && !guarded {
            self.reads.insert(number * PAGE, page);
        }
        if access == Access::Read {
            self.note_read(address);
        }
        Ok(page.wrapping_add((address & OFFSET) as usize))
    }

    /// The host address of a byte that may be written: its frame is ours alone from now on.
    fn writable(&mut self, address: u64, obey: bool) -> Result<*mut u8, Fault> {
        if let Some(host) = self.writes.find::<1>(address) {
            return Ok(host);
        }
        let fault = |cause| Fault { address, access: Access::Write, cause };
        if self.region_at(address).is_none() {
            self.grow_down(address);
        }
        let (start, region) = self.region_at(address).ok_or(fault(Cause::Unmapped))?;
        let permitted = region.permissions.allow(Access::Write);
        let readable = region.permissions.allow(Access::Read);
        let backing = region.backing.clone();
        if obey && !permitted {
            return Err(fault(Cause::Forbidden));
        }
        let number = address / PAGE;
        let guarded = self.guarded.contains(&number);
        if guarded && self.guards_code && !self.ignores_guards {
            return Err(fault(Cause::Guarded));
        }
        if self.guards_code && self.code.contains(&number) {
            return Err(fault(Cause::OwnCode));
        }
        let pool = self.view.as_ref().map(|view| view.pool());
        let mut is_new = true;
        let page = match (self.pages.get_mut(&number), &backing) {
            (Some(frame), _) => {
                // SAFETY: one that is shared with a snapshot cannot change meanwhile, nobody owns it alone.
                is_new = unsafe { Frame::own(frame, number, pool) };
                frame.address()
            }
            (None, Backing::Zero) => {
                self.new_page(number, [0; PAGE as usize]).ok_or(fault(Cause::OutOfMemory))?
            }
            (None, Backing::Shared { map, offset, generation }) if map.is_watched() => {
                let filled = map.filled(offset + (number * PAGE - start), *generation);
                self.fill(number, filled, Access::Write).map_err(fault)?
            }
            (None, Backing::Shared { map, offset, .. }) => {
                map.shared_page(offset + (number * PAGE - start)).ok_or(fault(Cause::BeyondFile))?
            }
            (None, Backing::Copied { map, offset, generation }) => {
                let filled = map.filled(offset + (number * PAGE - start), *generation);
                self.fill(number, filled, Access::Write).map_err(fault)?
            }
        };
        if let Some(frame) = self.pages.get(&number) {
            frame.set_written(true);
        }
        self.note_written(address);
        self.reads.remove(number * PAGE);
        if is_new {
            self.hide(number, number + 1);
        }
        let shared = guarded || matches!(backing, Backing::Shared { .. });
        if self.code.contains(&number) {
            self.note_code_changed(number, number + 1);
        } else if permitted && !shared {
            self.writes.insert(number * PAGE, page);
        }
        if readable && !shared {
            self.reads.insert(number * PAGE, page);
        }
        Ok(page.wrapping_add((address & OFFSET) as usize))
    }

    /// A page of a file that is touched. One that is not there is asked for anew when it is touched again.
    fn fill(
        &mut self,
        number: u64,
        filled: Result<[u8; PAGE as usize], Cause>,
        access: Access,
    ) -> Result<*mut u8, Cause> {
        match filled {
            Ok(bytes) => self.new_page(number, bytes).ok_or(Cause::OutOfMemory),
            Err(cause) => {
                // When code is translated is not the program's doing.
                if cause == Cause::BeyondFile && !self.quiet && access != Access::Execute {
                    self.forget_missing(number * PAGE);
                }
                Err(cause)
            }
        }
    }

    fn new_page(&mut self, number: u64, bytes: [u8; PAGE as usize]) -> Option<*mut u8> {
        if self.pages.len() >= self.page_bound {
            return None;
        }
        let frame = Frame::for_page(number, &bytes, self.pool());
        let address = frame.address();
        self.pages.insert(number, frame);
        Some(address)
    }
}

#[cfg(test)]
mod tests;
