//! Pages that are mapped at several places: what is written at one is seen at all of them, also by translated code.
//!
//! Only what can be seen twice is listed: regions that share something, and private regions of a file that is also
//! shared. Private pages that the program has written are its own; those that it has only read show the file.

use super::{Backing, Frame, Memory, PAGE, Region};
use std::sync::Arc;

/// What regions map: the same file, or the same piece of shared memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Thing {
    File(super::Object),
    Own(usize),
}

/// A region as those see it who look for the other places of its pages.
pub(super) struct Alias {
    start: u64,
    end: u64,
    offset: u64,
    thing: Thing,
    shared: bool,
}

fn thing(region: &Region) -> Option<(Thing, u64, bool)> {
    let (map, offset, shared) = match &region.backing {
        Backing::Zero => return None,
        Backing::Copied { map, offset, .. } => (map, *offset, false),
        Backing::Shared { map, offset, .. } => (map, *offset, true),
    };
    let thing = match map.object() {
        Some(object) => Thing::File(object),
        None => Thing::Own(Arc::as_ptr(map).cast::<u8>() as usize),
    };
    Some((thing, offset, shared))
}

impl Memory {
    /// The list, made anew if something was mapped since.
    fn alias_list(&mut self) -> &[Alias] {
        if self.aliases.is_none() {
            let shared: Vec<Thing> = self
                .regions
                .values()
                .filter_map(thing)
                .filter(|(_, _, shared)| *shared)
                .map(|(thing, ..)| thing)
                .collect();
            let list = self.regions.iter().filter_map(|(start, region)| {
                let (thing, offset, is_shared) = thing(region)?;
                shared.contains(&thing).then_some(Alias {
                    start: *start,
                    end: region.end,
                    offset,
                    thing,
                    shared: is_shared,
                })
            });
            let list: Box<[Alias]> = list.collect();
            self.aliases = Some(list);
        }
        self.aliases.as_deref().unwrap_or_default()
    }

    /// The other places that show the page of an address in shared memory, and whether they are shared themselves.
    fn other_places(&mut self, address: u64) -> smallvec::SmallVec<[(u64, bool); 2]> {
        let page = address & !(PAGE - 1);
        let list = self.alias_list();
        let Some(own) = list.iter().find(|alias| (alias.start..alias.end).contains(&address)) else {
            return Default::default();
        };
        let (thing, at) = (own.thing, own.offset + (page - own.start));
        let places = list.iter().filter(|alias| alias.thing == thing).filter_map(|alias| {
            let place = alias.start.checked_add(at.checked_sub(alias.offset)?)?;
            (place < alias.end && place != page).then_some((place, alias.shared))
        });
        places.collect()
    }

    /// Bytes of one page of shared memory were written: the other places that show it are brought up to date.
    pub(super) fn write_aliases(&mut self, address: u64, bytes: &[u8]) {
        if self.alias_list().len() < 2 {
            return;
        }
        let within = address & (PAGE - 1);
        for (page, shared) in self.other_places(address) {
            let number = page / PAGE;
            if self.code.contains(&number) {
                self.note_code_changed(number, number + 1);
            }
            let pool = self.view.as_ref().map(|view| view.pool());
            let Some(frame) = self.pages.get_mut(&number) else { continue };
            if frame.is_written() && !shared {
                continue;
            }
            // SAFETY: nothing writes the frame while it is copied: the one writer is this memory.
            unsafe { Frame::own(frame, number, pool) };
            let host = frame.address().wrapping_add(within as usize);
            // SAFETY: the frame is ours alone, and the bytes end in it since they end in the page that they were written to.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), host, bytes.len()) };
            self.reads.remove(page);
            self.hide(number, number + 1);
            self.keep_write(None, page + within, bytes.len() as u64);
        }
    }

    /// The contents of a file have changed by a system call: what was only read of it is read again. From `cut` on, if it
    /// was cut there, also what the program had written for itself is gone.
    pub(crate) fn file_changed(&mut self, object: super::Object, cut: Option<u64>) {
        let of_it = |region: &Region| match &region.backing {
            Backing::Copied { map, offset, .. } => (map.object() == Some(object)).then_some(*offset),
            _ => None,
        };
        let found: Vec<(u64, u64, u64)> = self
            .regions
            .iter()
            .filter_map(|(start, region)| Some((*start, region.end, of_it(region)?)))
            .collect();
        if found.is_empty() {
            return;
        }
        self.flush();
        for (start, end, offset) in found {
            if let Some(Region { backing: Backing::Copied { generation, .. }, .. }) =
                self.regions.get_mut(&start)
            {
                *generation += 1;
            }
            let gone = |number: &u64, frame: &Frame| {
                let at = offset + (number * PAGE).saturating_sub(start);
                !frame.is_written() || cut.is_some_and(|cut| at >= cut.next_multiple_of(PAGE))
            };
            let range = start / PAGE..end / PAGE;
            let dropped: Vec<u64> = if range.end - range.start < self.pages.len() as u64 {
                range
                    .filter(|number| self.pages.get(number).is_some_and(|frame| gone(number, frame)))
                    .collect()
            } else {
                let inside = self.pages.iter().filter(|(number, _)| range.contains(number));
                inside.filter(|(number, frame)| gone(number, frame)).map(|(number, _)| *number).collect()
            };
            for number in dropped {
                self.pages.remove(&number);
                self.hide(number, number + 1);
            }
            self.note_code_changed(start / PAGE, end / PAGE);
        }
    }

    /// Whether pages of a file are mapped for this process alone.
    pub(crate) fn copies_of(&self, object: super::Object) -> bool {
        self.regions.values().any(
            |region| matches!(&region.backing, Backing::Copied { map, .. } if map.object() == Some(object)),
        )
    }

    /// Code in memory that is shared was perhaps changed by a call that writes files.
    pub(crate) fn forget_shared_code(&mut self) {
        let shared = self.code.iter().filter(|number| self.is_shared(**number * PAGE)).copied();
        let shared: Vec<u64> = shared.collect();
        self.code_changed.extend(shared);
    }
}
