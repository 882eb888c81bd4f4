//! Elements of arrays: a location has as many fields as an array may have elements, and a length.

use crate::HeapError;
use crate::guarded::{Cell, Guarded, Loc, Reference};
use parallax_op::RelOp;
use parallax_term::{Formula, Store, Term};
use std::ops::Range;

impl Guarded<'_> {
    /// The length of an array that is not null here.
    pub fn length(&self, array: &Reference) -> Result<Term, HeapError> {
        let mut length = None;
        for (guard, loc) in self.objects(array)? {
            let Some(own) = self.location(loc).length else { return Err(HeapError::Broken("not an array")) };
            length = Some(match length {
                None => own,
                Some(other) => self.oracle.store.ite(guard, own, other),
            });
        }
        length.ok_or(HeapError::Broken("an array that is certainly null"))
    }

    /// The places an element may be: `g ∧ index = j`.
    fn places(&mut self, array: &Reference, index: Term) -> Result<Vec<(Formula, Loc, usize)>, HeapError> {
        let store = self.oracle.store;
        let mut places = Vec::new();
        let mut beyonds = Vec::new();
        for (guard, loc) in self.objects(array)? {
            let location = self.location(loc);
            let (room, input) = (location.fld.len(), location.input.is_some());
            let references = matches!(location.fld.first(), Some(Cell::Ref(_)));
            for slot in meant(store, index, room) {
                let here = store.relop(RelOp::Eq, index, store.number(32, slot as u128));
                if references && store.as_boolean(here).is_none() && !self.indices.contains(&here) {
                    self.indices.push(here);
                }
                places.push((store.and(guard, here), loc, slot));
            }
            if input && meant(store, index, usize::MAX).end > room {
                // Elements beyond those that are looked at.
                let known = store.relop(RelOp::Ult, index, store.number(32, room as u128));
                beyonds.push(store.and(guard, store.not(known)));
            }
        }
        beyonds.into_iter().for_each(|beyond| self.ask_longer(beyond));
        self.live(places, |(guard, ..)| *guard)
    }

    /// The element at an index that is within bounds here.
    pub fn element(&mut self, array: &Reference, index: Term) -> Result<Cell, HeapError> {
        let places = self.places(array, index)?;
        self.read_at(places)
    }

    /// Sets the element at an index that is within bounds here.
    pub fn set_element(&mut self, array: &Reference, index: Term, value: &Cell) -> Result<(), HeapError> {
        let places = self.places(array, index)?;
        self.write_at(places, value)
    }
}

/// Which of so many elements an index within their bounds may mean: one if it is a constant.
pub fn meant(store: &Store, index: Term, length: usize) -> Range<usize> {
    match store.as_constant(index).and_then(|bits| usize::try_from(bits.to_u64()?).ok()) {
        Some(at) if at < length => at..at + 1,
        _ => 0..length,
    }
}
