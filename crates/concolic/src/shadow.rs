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

struct Page {
    bytes: Box<[Option<Term>]>,
    count: usize,
}

/// Terms by place.
#[derive(Default)]
pub struct Shadow {
    pages: FxHashMap<u64, Page>,
    cells: Vec<Option<Shade>>,
    /// The cells that have a shade.
    pub set: Cells,
}

impl Shadow {
    /// Whether a byte of a range may have a term: by page, which is quick to tell.
    pub fn may_touch(&self, address: u64, bytes: u64) -> bool {
        let last = address.wrapping_add(bytes.saturating_sub(1)) / PAGE;
        self.pages.contains_key(&(address / PAGE)) || self.pages.contains_key(&last)
    }

    /// The term of a byte.
    pub fn byte(&self, address: u64) -> Option<Term> {
        self.pages.get(&(address / PAGE))?.bytes[(address % PAGE) as usize]
    }

    /// Gives a byte a term, or none. Pages with terms are guarded, so that the emulator stops before it accesses them.
    pub fn set_byte(&mut self, memory: &mut Memory, address: u64, term: Option<Term>) {
        let number = address / PAGE;
        if term.is_none() && !self.pages.contains_key(&number) {
            return;
        }
        let page = self.pages.entry(number).or_insert_with(|| {
            memory.guard(number, true);
            Page { bytes: vec![None; PAGE as usize].into(), count: 0 }
        });
        let place = &mut page.bytes[(address % PAGE) as usize];
        page.count = page.count + usize::from(term.is_some()) - usize::from(place.is_some());
        *place = term;
        if page.count == 0 {
            self.pages.remove(&number);
            memory.guard(number, false);
        }
    }

    /// The bytes of a range do not depend on the input any more.
    pub fn clear_range(&mut self, memory: &mut Memory, address: u64, bytes: u64) {
        let end = address.saturating_add(bytes);
        let pages: Vec<u64> = self
            .pages
            .keys()
            .copied()
            .filter(|page| page * PAGE < end && address < (page + 1) * PAGE)
            .collect();
        for page in pages {
            let (from, to) = (address.max(page * PAGE), end.min((page + 1) * PAGE));
            (from..to).for_each(|at| self.set_byte(memory, at, None));
        }
    }

    /// The pages that hold terms.
    pub fn pages(&self) -> Vec<u64> {
        self.pages.keys().copied().collect()
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
