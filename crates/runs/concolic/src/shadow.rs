//! The symbolic half of a state: which bytes of memory and which registers depend on the input, and how.

use crate::block::Cells;
use parallax_process::memory::{Memory, PAGE};
use parallax_term::{Formula, Term};
use rustc_hash::FxHashMap;

/// What a register is, besides its value.
#[derive(Clone, Copy, Debug)]
pub enum Shade {
    /// A term of the register's width.
    Word(Term),
    /// A formula: a flag.
    Truth(Formula),
}

/// A byte of a term. Memory keeps what was stored whole, so that loading it again makes no new terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The term.
    pub of: Term,
    /// Which byte of it, the lowest first.
    pub byte: u8,
}

struct Page {
    parts: Box<[Option<Part>]>,
    count: usize,
}

/// Terms by place.
#[derive(Default)]
pub struct Shadow {
    /// A page whose last term went stays here, for the next one.
    pages: FxHashMap<u64, Page>,
    cells: Vec<Option<Shade>>,
    /// The cells that have a shade.
    pub set: Cells,
}

impl Shadow {
    /// The parts of a page that has any.
    fn page(&self, number: u64) -> Option<&Page> {
        self.pages.get(&number).filter(|page| page.count > 0)
    }

    /// Whether a byte of a range of at most a page may have a term: by page, which is quick to tell.
    pub fn may_touch(&self, address: u64, bytes: u64) -> bool {
        let last = address.wrapping_add(bytes.saturating_sub(1)) / PAGE;
        let first = address / PAGE;
        self.page(first).is_some() || last != first && self.page(last).is_some()
    }

    /// The term that a byte is a part of.
    pub fn byte(&self, address: u64) -> Option<Part> {
        self.page(address / PAGE)?.parts[(address % PAGE) as usize]
    }

    /// The terms of the bytes from an address on, into `parts`; whether there is any.
    pub fn read(&self, address: u64, parts: &mut [Option<Part>]) -> bool {
        let mut any = false;
        let mut done = 0;
        while done < parts.len() {
            let at = address.wrapping_add(done as u64);
            let offset = (at % PAGE) as usize;
            let run = (PAGE as usize - offset).min(parts.len() - done);
            let into = &mut parts[done..done + run];
            match self.page(at / PAGE) {
                Some(page) => {
                    into.copy_from_slice(&page.parts[offset..offset + run]);
                    any |= into.iter().any(Option::is_some);
                }
                None => into.fill(None),
            }
            done += run;
        }
        any
    }

    /// Gives the bytes from an address on their terms, or none. Pages with terms are guarded, so that the emulator stops
    /// before it accesses them.
    pub fn write(&mut self, memory: &mut Memory, address: u64, parts: &[Option<Part>]) {
        let mut done = 0;
        while done < parts.len() {
            let at = address.wrapping_add(done as u64);
            let offset = (at % PAGE) as usize;
            let run = (PAGE as usize - offset).min(parts.len() - done);
            let from = &parts[done..done + run];
            let number = at / PAGE;
            done += run;
            if self.page(number).is_none() && from.iter().all(Option::is_none) {
                continue;
            }
            let page = self
                .pages
                .entry(number)
                .or_insert_with(|| Page { parts: vec![None; PAGE as usize].into(), count: 0 });
            let guarded = page.count > 0;
            for (place, part) in page.parts[offset..offset + run].iter_mut().zip(from) {
                page.count = page.count + usize::from(part.is_some()) - usize::from(place.is_some());
                *place = *part;
            }
            if guarded != (page.count > 0) {
                memory.guard(number, page.count > 0);
            }
        }
    }

    /// The bytes of a range do not depend on the input any more.
    pub fn clear_range(&mut self, memory: &mut Memory, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes);
        let pages: Vec<u64> = self
            .pages()
            .into_iter()
            .filter(|page| page * PAGE < end && address < (page + 1) * PAGE)
            .collect();
        for page in pages {
            let (from, to) = (address.max(page * PAGE), end.min((page + 1) * PAGE));
            self.write(memory, from, &vec![None; (to - from) as usize]);
        }
    }

    /// The pages that hold terms.
    pub fn pages(&self) -> Vec<u64> {
        self.pages.iter().filter(|(_, page)| page.count > 0).map(|(number, _)| *number).collect()
    }

    /// What a cell is.
    pub fn cell(&self, index: usize) -> Option<Shade> {
        self.cells.get(index).copied().flatten()
    }

    /// Gives a cell a shade, or none.
    pub fn set_cell(&mut self, index: usize, shade: Option<Shade>) {
        if self.cells.len() <= index {
            if shade.is_none() {
                return;
            }
            self.cells.resize(index + 1, None);
        }
        self.cells[index] = shade;
        if shade.is_some() { self.set.add(index) } else { self.set.remove(index) }
    }

    /// These cells do not depend on the input any more.
    pub fn clear_cells(&mut self, cells: &Cells) {
        if self.set.meets(cells) {
            for index in cells.iter() {
                self.set_cell(index, None);
            }
        }
    }
}
