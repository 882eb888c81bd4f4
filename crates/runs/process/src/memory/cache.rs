//! A direct-mapped cache from guest pages to host addresses: a software translation look-aside buffer.

use super::PAGE;

const SLOTS: usize = 256;

#[derive(Clone, Copy)]
struct Slot {
    /// The page's guest address, or an odd number that no page has.
    page: u64,
    /// Host address minus guest address.
    distance: usize,
}

const EMPTY: Slot = Slot { page: 1, distance: 0 };

/// The cache.
pub struct Cache {
    slots: Box<[Slot; SLOTS]>,
}

// SAFETY: the addresses in it are those of frames that the owning `Memory` holds; it empties the cache when they go.
unsafe impl Send for Cache {}

impl Cache {
    pub fn new() -> Self {
        Cache { slots: Box::new([EMPTY; SLOTS]) }
    }

    pub fn clear(&mut self) {
        self.slots.fill(EMPTY);
    }

    pub fn insert(&mut self, page: u64, host: *mut u8) {
        self.slots[slot(page)] = Slot { page, distance: (host as usize).wrapping_sub(page as usize) };
    }

    pub fn remove(&mut self, page: u64) {
        if self.slots[slot(page)].page == page {
            self.slots[slot(page)] = EMPTY;
        }
    }

    /// The host address of `N` bytes, if their page is here and holds all of them.
    ///
    /// The slot is that of the first byte and the tag compared is that of the last: for an access that crosses into
    /// the next page the two can never match, since neighbouring pages use different slots.
    #[inline(always)]
    pub fn find<const N: usize>(&self, address: u64) -> Option<*mut u8> {
        let entry = self.slots[slot(address)];
        let last_page = address.wrapping_add(N as u64 - 1) & !(PAGE - 1);
        (entry.page == last_page).then(|| entry.distance.wrapping_add(address as usize) as *mut u8)
    }
}

#[inline(always)]
fn slot(address: u64) -> usize {
    (address / PAGE) as usize % SLOTS
}
