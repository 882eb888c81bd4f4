//! Where translated code lives in the host: its cache near the program, the table of computed jumps, the cells.

use crate::memory::{Memory, PAGE};
use parallax_native::enter::{Context, leave_address};
use parallax_native::host::keys::{self, Keys};
use parallax_native::{Arena, Cache, Options, Places, Source};
use rustc_hash::FxHashSet;

/// Bytes of each part of the code.
const PART: u64 = 64 << 20;
const ROOM: u64 = 2 * PART + PAGE;
/// A slot for each address of 32 bits.
const TABLE: u64 = 8 << 32;
/// So many bytes of the table are opened at a time.
const GRANULE: u64 = 4 * PAGE;

/// The home of one program.
pub(super) struct Home {
    pub cache: Cache,
    pub arena: HostMemory,
    pub context: Box<Context>,
    room: u64,
}

/// Where code and slots are written.
pub(super) struct HostMemory {
    table: u64,
    keys: Keys,
    /// What slots without a trace hold.
    miss: u64,
    /// The granules of the table that can be read and written.
    open: FxHashSet<u64>,
}

impl Arena for HostMemory {
    fn write(&mut self, at: u64, bytes: &[u8]) {
        let slot = at.wrapping_sub(self.table);
        if slot < TABLE && !self.opens(slot / GRANULE, bytes) {
            return;
        }
        // SAFETY: the cache writes into its parts, which are mapped, and into slots, whose granule is open.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len()) };
    }
}

impl HostMemory {
    /// Makes sure that a granule is open; false if it is not, and need not be: a jump through a closed slot faults, and its
    /// goal is looked up.
    fn opens(&mut self, granule: u64, bytes: &[u8]) -> bool {
        if self.open.contains(&granule) {
            return true;
        }
        let at = self.table + granule * GRANULE;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        if bytes == self.miss.to_le_bytes() || !keys::protect(at, GRANULE, protection, self.keys.tables()) {
            return false;
        }
        // SAFETY: just opened, and nothing else refers to it.
        unsafe { std::slice::from_raw_parts_mut(at as *mut u64, (GRANULE / 8) as usize) }.fill(self.miss);
        self.open.insert(granule)
    }
}

impl Home {
    /// A home near an address of the program; none if the host refuses memory that can be written and run.
    pub fn new(near: u64) -> Option<Home> {
        /// From the program to the cache: both reach each other's ends.
        const APART: u64 = 1 << 30;
        let keys = keys::keys().ok()?;
        let code = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let page = near & !(PAGE - 1);
        let candidates = [page.saturating_sub(APART), page.saturating_add(APART), 0];
        let room = candidates.into_iter().enumerate().find_map(|(index, at)| {
            (at > 0 || index == 2).then(|| keys::map(at, ROOM, code, keys.tables())).flatten()
        })?;
        let cells = room + 2 * PART;
        let data = libc::PROT_READ | libc::PROT_WRITE;
        let table = keys::map(0, TABLE, libc::PROT_NONE, keys.tables());
        let (true, Some(table)) = (keys::protect(cells, PAGE, data, keys.shown()), table) else {
            keys::unmap(room, ROOM);
            return None;
        };
        let (hot, cold) = (room..room + PART, room + PART..room + 2 * PART);
        let places = Places { hot, cold, cells, table, leave: leave_address(true) };
        let mut arena = HostMemory { table, keys, miss: 0, open: FxHashSet::default() };
        let cache = Cache::new(places, Options::default(), &mut arena);
        arena.miss = cache.miss_routine();
        let context = Context::new(&cache, Some(keys.rights()));
        Some(Home { cache, arena, context, room })
    }

    /// Whether an address is of the code, the cells or the table.
    pub fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.room) < ROOM || address.wrapping_sub(self.arena.table) < TABLE
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        keys::unmap(self.room, ROOM);
        keys::unmap(self.arena.table, TABLE);
    }
}

/// The program's code. What is translated is marked, so that its changes are noticed.
pub(super) struct Guest<'a> {
    pub memory: &'a mut Memory,
}

impl Source for Guest<'_> {
    fn fetch(&mut self, at: u64, into: &mut [u8]) -> usize {
        let Ok(mut count) = self.memory.fetch(at, into) else { return 0 };
        // Others may change what is shared, and say nothing.
        let last = at.wrapping_add(count as u64 - 1);
        if self.memory.is_shared(last) {
            count = if self.memory.is_shared(at) { 0 } else { (PAGE - at % PAGE) as usize };
        }
        for page in [at / PAGE, at.wrapping_add(count.max(1) as u64 - 1) / PAGE] {
            if count > 0 {
                self.memory.mark_code(page);
            }
        }
        count
    }
}
