//! Which pages code was translated from, and which of them have changed since.

use super::{Backing, Memory, PAGE, Region};
use std::sync::Arc;

impl Memory {
    /// Remembers that a page was translated: writing it will be noticed.
    pub fn mark_code(&mut self, page_number: u64) {
        if self.code.insert(page_number) {
            self.writes.clear();
            if let Some(view) = &mut self.view {
                view.close(page_number);
            }
        }
    }

    /// Pages of code among these have changed.
    pub(super) fn note_code_changed(&mut self, first: u64, last: u64) {
        if last - first < self.code.len() as u64 {
            self.code_changed.extend((first..last).filter(|number| self.code.contains(number)));
        } else {
            self.code_changed.extend(self.code.iter().filter(|number| (first..last).contains(*number)));
        }
    }

    /// Whether translated code was written, unmapped or moved: the execution loop looks before every block.
    #[inline(always)]
    pub fn is_code_changed(&self) -> bool {
        !self.code_changed.is_empty()
    }

    /// The pages of translated code that were written, unmapped or moved since the last call.
    pub fn take_code_changed(&mut self) -> Vec<u64> {
        let changed = std::mem::take(&mut self.code_changed);
        for number in &changed {
            self.code.remove(number);
        }
        changed
    }

    /// Makes the execution loop stop before every instruction that reads or writes this page, or no longer.
    /// Other accesses, such as those of system calls, are made as ever.
    pub fn guard(&mut self, page_number: u64, guarded: bool) {
        let changed =
            if guarded { self.guarded.insert(page_number) } else { self.guarded.remove(&page_number) };
        if changed {
            self.reads.remove(page_number * PAGE);
            self.writes.remove(page_number * PAGE);
            self.hide(page_number, page_number + 1);
        }
    }

    /// Whether the execution loop stops before guarded pages at all.
    pub fn set_guarding(&mut self, guarding: bool) {
        self.ignores_guards = !guarding;
    }

    /// Refuses stores into translated code and accesses of guarded pages, or no longer.
    pub(crate) fn guard_code(&mut self, guards: bool) {
        self.guards_code = guards;
    }

    /// The pages of code that are not the same in another space, whose code becomes the rest of this one's.
    pub(crate) fn code_other_than(&self, other: &mut Memory) -> Vec<u64> {
        let same = |number: &u64| {
            let region = |memory: &Memory| {
                memory.region_at(number * PAGE).map(|(_, region)| region.permissions.execute)
            };
            let frames = match (self.pages.get(number), other.pages.get(number)) {
                // SAFETY: neither is written meanwhile: nothing runs in either space.
                (Some(ours), Some(theirs)) => unsafe {
                    Arc::ptr_eq(ours, theirs) || ours.contents() == theirs.contents()
                },
                // It was only read here, and will be filled there with the same.
                (Some(ours), None) => !ours.is_written() && other.fills_alike(self, *number),
                (None, Some(theirs)) => !theirs.is_written() && self.fills_alike(other, *number),
                (None, None) => self.fills_alike(other, *number),
            };
            frames && region(self) == Some(true) && region(other) == Some(true)
        };
        let (kept, changed): (Vec<u64>, Vec<u64>) = self.code.iter().partition(|number| same(number));
        other.code = kept.into_iter().collect();
        other.code_changed.clear();
        other.flush();
        changed
    }

    /// Whether an untouched page would be filled with the same here and there.
    pub(super) fn fills_alike(&self, other: &Memory, number: u64) -> bool {
        let source = |memory: &Memory| match memory.region_at(number * PAGE) {
            Some((start, Region { backing: Backing::Copied { map, offset, generation }, .. })) => {
                Some((Arc::as_ptr(map).cast::<u8>(), offset + (number * PAGE - start), *generation))
            }
            _ => None,
        };
        source(self).is_some() && source(self) == source(other)
    }
}
