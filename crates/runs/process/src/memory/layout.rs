//! What is mapped where: mapping, unmapping, moving and marking ranges of pages.

use super::{Advice, Backing, Memory, OFFSET, PAGE, Permissions, Region};

impl Memory {
    /// Whether nothing is mapped in a range.
    pub fn is_free(&self, start: u64, length: u64) -> bool {
        let Some(end) = start.checked_add(length) else { return false };
        self.regions.range(..end).next_back().is_none_or(|(_, region)| region.end <= start)
    }

    /// Whether a range is free, and not just below one that grows down, to which it leaves room.
    pub fn is_free_with_room(&self, start: u64, length: u64) -> bool {
        const ROOM: u64 = 256 * PAGE;
        let end = start.saturating_add(length);
        let above = self.regions.range(end..).next();
        let is_near = above.is_some_and(|(at, region)| region.advice.grows_down && at - end < ROOM);
        self.is_free(start, length) && !is_near
    }

    /// The highest free range of `length` bytes that ends at or below `top`, and lies at or above `bottom`.
    pub fn find_free(&self, length: u64, bottom: u64, top: u64) -> Option<u64> {
        let mut end = top;
        for (start, region) in self.regions.range(..top).rev() {
            let gap_start = region.end.max(bottom);
            if end >= gap_start && end - gap_start >= length {
                return Some(end - length);
            }
            end = end.min(*start);
            if end <= bottom {
                return None;
            }
        }
        (end >= bottom && end - bottom >= length).then(|| end - length)
    }

    /// The lowest free range of `length` bytes that starts at or above `bottom`, and ends at or below `top`.
    pub(crate) fn find_free_upwards(&self, length: u64, bottom: u64, top: u64) -> Option<u64> {
        let mut start = bottom;
        while start.checked_add(length)? <= top {
            match self.regions_in(start, start + length).next() {
                None => return Some(start),
                Some((_, _, region)) => start = region.end,
            }
        }
        None
    }

    /// How many bytes of a range are mapped.
    pub(crate) fn mapped_bytes(&self, start: u64, end: u64) -> u64 {
        self.regions_in(start, end).map(|(from, to, _)| to - from).sum()
    }

    /// Maps a page-aligned range, replacing what was there.
    pub fn map(&mut self, start: u64, length: u64, permissions: Permissions, backing: Backing) {
        debug_assert!(
            start.is_multiple_of(PAGE) && length.is_multiple_of(PAGE) && self.is_range(start, length)
        );
        if length == 0 {
            return;
        }
        self.unmap(start, length);
        self.aliases = None;
        self.has_watched |= matches!(&backing, Backing::Shared { map, .. } if map.is_watched());
        let grows = self.regions.range(..start).next_back().and_then(|(at, before)| {
            let plain = matches!((&before.backing, &backing), (Backing::Zero, Backing::Zero));
            let alike = before.permissions == permissions && before.advice == Advice::default();
            (plain && before.end == start && alike).then_some(*at)
        });
        match grows {
            Some(at) => self.regions.get_mut(&at).expect("just found").end = start + length,
            None => {
                let advice = Advice::default();
                self.regions.insert(start, Region { end: start + length, permissions, backing, advice });
            }
        }
    }

    /// Removes what is mapped in a page-aligned range.
    pub fn unmap(&mut self, start: u64, length: u64) {
        let end = start + length;
        self.split(start);
        self.split(end);
        let gone: Vec<u64> = self.regions.range(start..end).map(|(at, _)| *at).collect();
        if gone.is_empty() {
            return;
        }
        for at in gone {
            self.regions.remove(&at);
        }
        self.aliases = None;
        self.forget_pages(start / PAGE, end / PAGE);
    }

    /// Drops the contents of a range so that it reads as when it was mapped. Shared memory keeps them.
    pub fn discard(&mut self, start: u64, length: u64) {
        let end = start + length;
        self.split(start);
        self.split(end);
        let mut dropped = Vec::new();
        for (at, region) in self.regions.range_mut(start..end) {
            match &mut region.backing {
                Backing::Shared { .. } => continue,
                Backing::Copied { generation, .. } => *generation += 1,
                Backing::Zero => {}
            }
            dropped.push((at / PAGE, region.end / PAGE));
        }
        for (first, last) in dropped {
            self.forget_pages(first, last);
        }
    }

    pub(super) fn forget_pages(&mut self, first: u64, last: u64) {
        self.flush();
        self.hide(first, last);
        if last - first > self.pages.len() as u64 {
            self.pages.retain(|number, _| !(first..last).contains(number));
        } else {
            for number in first..last {
                self.pages.remove(&number);
            }
        }
        self.note_code_changed(first, last);
    }

    /// Changes the permissions of a page-aligned range; false if part of it is not mapped, and what lies before that part is
    /// changed all the same.
    pub fn protect(&mut self, start: u64, length: u64, permissions: Permissions) -> bool {
        let end = self.mapped_until(start, start + length);
        self.change(start, end, |region| region.permissions = permissions);
        self.flush();
        self.hide(start / PAGE, end / PAGE);
        self.note_code_changed(start / PAGE, end / PAGE);
        end == start + length
    }

    /// Changes what is said about a page-aligned range, where something is mapped.
    pub(crate) fn advise(&mut self, start: u64, end: u64, change: impl Fn(&mut Advice)) {
        self.change(start, end, |region| change(&mut region.advice));
    }

    fn change(&mut self, start: u64, end: u64, change: impl Fn(&mut Region)) {
        self.split(start);
        self.split(end);
        for (_, region) in self.regions.range_mut(start..end) {
            change(region);
        }
    }

    /// The first address from `start` on where nothing is mapped, at most `end`.
    pub(crate) fn mapped_until(&self, start: u64, end: u64) -> u64 {
        let mut at = start;
        while at < end {
            let Some((_, region)) = self.region_at(at) else { return at };
            at = region.end;
        }
        end.max(start)
    }

    /// The regions of a range with where each begins in it and ends, in order.
    pub(crate) fn regions_in(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64, &Region)> {
        let first = self.region_at(start).map_or(start, |(at, _)| at);
        let inside = self.regions.range(first..end.max(first));
        inside.map(move |(at, region)| ((*at).max(start), region.end.min(end), region))
    }

    /// Whether all of a range is mapped as by one request, with the same permissions and advice.
    pub(crate) fn is_uniform(&self, start: u64, end: u64) -> bool {
        let Some((mut at, mut region)) = self.region_at(start) else { return false };
        while region.end < end {
            let Some((next_at, next)) = self.region_at(region.end) else { return false };
            if !region.continues(at, next) {
                return false;
            }
            (at, region) = (next_at, next);
        }
        true
    }

    /// Applies what was said about children: this is the memory of one.
    pub(crate) fn become_childs(&mut self) {
        let all: Vec<(u64, u64, Advice)> =
            self.regions.iter().map(|(start, region)| (*start, region.end, region.advice)).collect();
        for (start, end, advice) in all {
            if advice.kept_from_children {
                self.unmap(start, end - start);
            } else if advice.wiped_in_children {
                self.discard(start, end - start);
            }
            if advice.locked && !advice.kept_from_children {
                self.advise(start, end, |advice| advice.locked = false);
            }
        }
    }

    /// Moves a page-aligned range, contents and all, to a free place.
    pub fn relocate(&mut self, from: u64, length: u64, to: u64) {
        self.split(from);
        self.split(from + length);
        let moved: Vec<u64> = self.regions.range(from..from + length).map(|(at, _)| *at).collect();
        for at in moved {
            let mut region = self.regions.remove(&at).expect("just listed");
            region.end = region.end - from + to;
            self.regions.insert(at - from + to, region);
        }
        let (first, last) = (from / PAGE, (from + length) / PAGE);
        let numbers: Vec<u64> =
            self.pages.keys().copied().filter(|number| (first..last).contains(number)).collect();
        for number in numbers {
            let frame = self.pages.remove(&number).expect("just listed");
            self.pages.insert(number - first + to / PAGE, frame);
        }
        self.flush();
        self.hide(first, last);
        self.aliases = None;
        self.note_code_changed(first, last);
    }

    /// Makes `address` a boundary between regions.
    pub(super) fn split(&mut self, address: u64) {
        let Some((start, region)) = self.regions.range_mut(..address).next_back() else { return };
        if region.end > address {
            let tail = region.tail(address - start);
            region.end = address;
            self.regions.insert(address, tail);
            self.aliases = None;
        }
    }

    /// Empties the address caches: the next access of each page looks again.
    pub(super) fn flush(&mut self) {
        self.reads.clear();
        self.writes.clear();
    }

    /// Sets how large a stack may grow.
    pub(crate) fn set_stack_limit(&mut self, bytes: u64) {
        self.stack_limit = bytes;
    }

    /// How large a stack may grow.
    pub(crate) fn stack_limit(&self) -> u64 {
        self.stack_limit
    }

    /// Lets a stack grow down to an address where nothing is mapped, if it is the next above, and leaves room below it.
    #[cold]
    pub(crate) fn grow_down(&mut self, address: u64) {
        const GUARD: u64 = 256 * PAGE;
        let page = address & !OFFSET;
        let Some((start, region)) = self.regions.range(address..).next() else { return };
        let (start, end, permissions, advice) = (*start, region.end, region.permissions, region.advice);
        if !advice.grows_down || end - page > self.stack_limit {
            return;
        }
        let below = self.regions.range(..page).next_back();
        let is_near = below.is_some_and(|(_, region)| {
            let accessible = region.permissions != Permissions::default();
            accessible && !region.advice.grows_down && page - region.end < GUARD
        });
        if !is_near {
            self.map(page, start - page, permissions, Backing::Zero);
            self.advise(page, start, |now| *now = advice);
        }
    }
}
