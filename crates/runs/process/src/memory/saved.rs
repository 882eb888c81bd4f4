//! A memory as it lies in a file: what is mapped where, and pages by content.

use super::{Advice, Backing, Cache, Frame, Mapping, Memory, PAGE, Permissions, Region};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The contents of a page of a snapshot, shared with every memory that has it.
#[derive(Clone)]
pub struct Page(Arc<Frame>);

impl Page {
    /// A page of its own; `written` if the program has written it.
    pub fn new(bytes: [u8; PAGE as usize], written: bool) -> Page {
        let frame = Frame::new(bytes);
        frame.set_written(written);
        Page(frame)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8; PAGE as usize] {
        // SAFETY: whoever else holds the frame copies it before writing, since it is held here too; and a memory that had it
        // alone, in its cache of writable pages, emptied that cache when the snapshot was made.
        unsafe { self.0.contents() }
    }

    /// Whether the program, or a call, has written it.
    pub fn is_written(&self) -> bool {
        self.0.is_written()
    }

    /// Whether it is the same page, not only an equal one.
    pub fn is(&self, other: &Page) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A memory without its pages.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedMemory {
    regions: Vec<SavedRegion>,
    accesses: u64,
    page_bound: usize,
    end: u64,
    stack_limit: u64,
}

#[derive(Serialize, Deserialize)]
struct SavedRegion {
    start: u64,
    end: u64,
    permissions: Permissions,
    backing: SavedBacking,
    advice: Advice,
}

#[derive(Serialize, Deserialize)]
enum SavedBacking {
    Zero,
    Copied { map: u32, offset: u64, generation: u32 },
    Shared { map: u32, offset: u64, generation: u32 },
}

impl Memory {
    /// What is to be written down besides the pages; none if something is mapped that has no number.
    pub(crate) fn save(&self) -> Option<SavedMemory> {
        let regions = self.regions.iter().map(|(start, region)| {
            let backing = match &region.backing {
                Backing::Zero => SavedBacking::Zero,
                Backing::Copied { map, offset, generation } => {
                    SavedBacking::Copied { map: map.number()?, offset: *offset, generation: *generation }
                }
                Backing::Shared { map, offset, generation } => {
                    SavedBacking::Shared { map: map.number()?, offset: *offset, generation: *generation }
                }
            };
            let Region { end, permissions, advice, .. } = *region;
            Some(SavedRegion { start: *start, end, permissions, backing, advice })
        });
        let regions = regions.collect::<Option<_>>()?;
        let Memory { accesses, page_bound, end, stack_limit, .. } = *self;
        Some(SavedMemory { regions, accesses, page_bound, end, stack_limit })
    }

    /// The pages that have been touched, with their numbers, in no order.
    pub(crate) fn frames(&self) -> impl Iterator<Item = (u64, Page)> {
        self.pages.iter().map(|(number, frame)| (*number, Page(frame.clone())))
    }

    /// The memory that was saved; none if it cannot have been one of ours, or maps what is not known.
    pub(crate) fn restore(
        saved: SavedMemory,
        pages: impl Iterator<Item = (u64, Page)>,
        mapping: &dyn Fn(u32) -> Option<Arc<dyn Mapping>>,
    ) -> Option<Memory> {
        let SavedMemory { regions, accesses, page_bound, end, stack_limit } = saved;
        let mut memory = Memory::new(end, 0);
        memory.page_bound = page_bound;
        memory.accesses = accesses;
        memory.stack_limit = stack_limit;
        let mut free = 0;
        for SavedRegion { start, end: region_end, permissions, backing, advice } in regions {
            let in_order = free <= start && start < region_end && region_end <= end;
            if !in_order || !start.is_multiple_of(PAGE) || !region_end.is_multiple_of(PAGE) {
                return None;
            }
            free = region_end;
            let backing = match backing {
                SavedBacking::Zero => Backing::Zero,
                SavedBacking::Copied { map, offset, generation } => {
                    Backing::Copied { map: mapping(map)?, offset, generation }
                }
                SavedBacking::Shared { map, offset, generation } => {
                    Backing::Shared { map: mapping(map)?, offset, generation }
                }
            };
            memory.has_watched |= matches!(&backing, Backing::Shared { map, .. } if map.is_watched());
            memory.regions.insert(start, Region { end: region_end, permissions, backing, advice });
        }
        memory.pages = pages.map(|(number, page)| (number, page.0)).collect();
        memory.reads = Cache::new();
        memory.writes = Cache::new();
        Some(memory)
    }
}
