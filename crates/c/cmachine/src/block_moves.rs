//! `memcpy`, `memmove`, `memset`: whole ranges at once, pointers and unwritten bytes included.

use super::access::{Hit, Hits};
use super::call::Passed;
use super::content::Piece;
use super::host::{Host, Problem};
use super::log::{MOST_COPIES, Write, Written};
use super::place::Meeting;
use super::pointers::word;
use super::value::{ObjectId, Value};
use super::{DENSE, DIRECT, Machine, Result, State, Stop};
use parallax_op::{BinOp, Bits, BoolOp, RelOp};
use parallax_path::Split;
use parallax_sem::Core;
use std::sync::Arc;

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    /// Copies `len` bytes; ranges may overlap.
    pub fn copy(&mut self, state: &mut State<C>, to: &Value<C>, from: &Value<C>, len: u64) -> Result<(), C> {
        self.copy_bytes(state, to, from, len, false)
    }

    /// The same; `apart`: ranges that overlap without being one are a mistake.
    fn copy_bytes(
        &mut self,
        state: &mut State<C>,
        to: &Value<C>,
        from: &Value<C>,
        len: u64,
        apart: bool,
    ) -> Result<(), C> {
        if len == 0 {
            return Ok(());
        }
        let source = self.access(state, from, len, false)?;
        let target = self.access(state, to, len, true)?;
        if apart {
            self.require_apart(state, &target, &source, &word(&self.host, len))?;
        }
        let (Some((from_object, from_at)), Some((to_object, to_at))) =
            (self.fixed(&source), self.fixed(&target))
        else {
            return self.copy_words(state, &target, &source, len);
        };
        // Input memory is decided before it is copied, so that cells move whole.
        let content = &state.memory.object(from_object).content;
        if matches!(content.fill, super::Fill::Input(_)) || content.log.is_some() {
            self.define_range(state, from_object, from_at, len)?;
        }
        let pieces = state.memory.object(from_object).content.pieces(&self.host, from_at, len);
        for (at, piece) in pieces {
            let place = to_at + at;
            match piece {
                Piece::Known(bytes) => {
                    state.memory.object_mut(to_object).content.write_bytes(&self.host, place, &bytes);
                }
                Piece::Cell(cell) => {
                    state.memory.object_mut(to_object).content.write(&self.host, place, cell.len, cell.value);
                }
                Piece::Missing(count) => {
                    self.copy_missing(state, (from_object, from_at + at), (to_object, place), count)?
                }
            }
        }
        Ok(())
    }

    /// Bytes nobody has written: they stay so in memory of the same kind, and become unknowns elsewhere.
    fn copy_missing(
        &mut self,
        state: &mut State<C>,
        from: (ObjectId, u64),
        to: (ObjectId, u64),
        count: u64,
    ) -> Result<(), C> {
        let content = |id: ObjectId| &state.memory.object(id).content;
        let unwritten =
            |id: ObjectId| content(id).fill == super::Fill::Undefined && content(id).log.is_none();
        if unwritten(from.0) && unwritten(to.0) {
            state.memory.object_mut(to.0).content.forget(&self.host, to.1, count);
            return Ok(());
        }
        let mut at = 0;
        while at < count {
            let run = (count - at).min(8);
            self.define_range(state, from.0, from.1 + at, run)?;
            let value = self.read_content(state, from.0, from.1 + at, run)?;
            state.memory.object_mut(to.0).content.write(&self.host, to.1 + at, run, value);
            at += run;
        }
        Ok(())
    }

    /// How many bytes a move is of.
    pub(super) fn move_length(&mut self, passed: &[Passed<C>]) -> Result<C::Val, C> {
        let len = self.argument_bits(passed, 2)?;
        let width = self.module.ty(passed[2].ty).bits().unwrap_or(64);
        Ok(if width < 64 { self.host.core().zext(width, 64, &len) } else { len })
    }

    /// Reports ranges of so many bytes that overlap. That both are the same is what an assignment to itself makes.
    fn require_apart(
        &mut self,
        state: &mut State<C>,
        target: &Hits<C>,
        source: &Hits<C>,
        len: &C::Val,
    ) -> Result<(), C> {
        for (to, from) in target.iter().flat_map(|to| source.iter().map(move |from| (to, from))) {
            if to.object != from.object {
                continue;
            }
            let core = self.host.core();
            let ahead = core.binop(BinOp::Sub, 64, &to.offset, &from.offset);
            let behind = core.binop(BinOp::Sub, 64, &from.offset, &to.offset);
            let near = core.boolop(
                BoolOp::Or,
                &core.relop(RelOp::Ult, 64, &ahead, len),
                &core.relop(RelOp::Ult, 64, &behind, len),
            );
            let other = core.relop(RelOp::Ne, 64, &ahead, &core.constant(&Bits::zero(64)));
            let both = core.boolop(BoolOp::And, &to.guard, &from.guard);
            let overlap = core.boolop(BoolOp::And, &both, &core.boolop(BoolOp::And, &near, &other));
            let never = core.not(&overlap);
            self.require(state, &never, Problem::Overlap, || {
                "the ranges that memcpy is given overlap".into()
            })?;
        }
        Ok(())
    }

    /// Copies a number of bytes that need not be constant; ranges may overlap, unless they are to be `apart`.
    pub fn copy_range(
        &mut self,
        state: &mut State<C>,
        to: &Value<C>,
        from: &Value<C>,
        len: &C::Val,
        apart: bool,
    ) -> Result<(), C> {
        if let Some(len) = self.host.value(64, len).and_then(|len| len.to_u64()).filter(|&len| len <= DENSE) {
            return self.copy_bytes(state, to, from, len, apart);
        }
        let (Some(source), Some(target)) =
            (self.access_some(state, from, len, false)?, self.access_some(state, to, len, true)?)
        else {
            return Ok(());
        };
        if apart {
            self.require_apart(state, &target, &source, len)?;
        }
        let mut writes = Vec::new();
        for from in &source {
            let Some(copied) = self.source_of(state, from, len)? else {
                let constant = self.fix(state, 64, len)?.to_u64().unwrap_or(0);
                return self.copy_words(state, &target, &source, constant);
            };
            for to in &target {
                let guard = self.host.core().boolop(BoolOp::And, &to.guard, &from.guard);
                writes.push((guard, to, copied.clone()));
            }
        }
        for (guard, to, copied) in writes {
            self.write_range(state, to, &guard, len, copied)?;
        }
        Ok(())
    }

    /// Sets a number of bytes that need not be constant.
    pub fn fill_range(
        &mut self,
        state: &mut State<C>,
        to: &Value<C>,
        byte: &C::Val,
        len: &C::Val,
    ) -> Result<(), C> {
        if let Some(len) = self.host.value(64, len).and_then(|len| len.to_u64()).filter(|&len| len <= DENSE) {
            return self.fill(state, to, byte, len);
        }
        let Some(target) = self.access_some(state, to, len, true)? else { return Ok(()) };
        for hit in &target {
            let what = Written::Fill(len.clone(), byte.clone());
            self.write_range(state, hit, &hit.guard, len, what)?;
        }
        Ok(())
    }

    /// Where a range lies; nowhere when it must be empty.
    fn access_some(
        &mut self,
        state: &mut State<C>,
        pointer: &Value<C>,
        len: &C::Val,
        write: bool,
    ) -> Result<Option<Hits<C>>, C> {
        let nothing = self.host.core().relop(RelOp::Eq, 64, len, &word(&self.host, 0));
        match self.access_range(state, pointer, len, write) {
            Ok(hits) => Ok(Some(hits)),
            // Every alternative is a mistake: what is left of the path is where nothing is accessed.
            Err(Stop::Dead) => match self.host.split(&state.path, &nothing) {
                Split::True | Split::Both => {
                    self.host.take(&mut state.path, nothing);
                    Ok(None)
                }
                Split::False | Split::Neither => Err(Stop::Dead),
            },
            Err(stop) => Err(stop),
        }
    }

    /// What a copy takes, as it is now; nothing when that cannot be read without looking at every place.
    fn source_of(
        &mut self,
        state: &mut State<C>,
        from: &Hit<C>,
        len: &C::Val,
    ) -> Result<Option<Written<C>>, C> {
        let deep = state.memory.object(from.object).content.copies() >= MOST_COPIES;
        if deep || !self.readable(state, from.object)? {
            return Ok(None);
        }
        let object = state.memory.object(from.object);
        let content = Arc::new(object.content.clone());
        Ok(Some(Written::Copy(len.clone(), content, from.offset.clone(), object.capacity)))
    }

    /// Writes a range: each place under its condition where they are few, and otherwise into the log.
    fn write_range(
        &mut self,
        state: &mut State<C>,
        to: &Hit<C>,
        guard: &C::Bool,
        len: &C::Val,
        what: Written<C>,
    ) -> Result<(), C> {
        let place = self.place(&to.offset);
        let capacity = state.memory.object(to.object).capacity;
        // Whole words where the length is a number of them.
        let core = self.host.core();
        let mut step = 8u64;
        while step > 1 && {
            let low = core.extract(64, 0, step.trailing_zeros() as u16, len);
            !self.host.value(step.trailing_zeros() as u16, &low).is_some_and(|b| b.is_zero())
                || place.known.is_none_or(|at| !at.is_multiple_of(step))
        } {
            step /= 2;
        }
        let few = place.known.filter(|at| capacity.saturating_sub(*at) / step <= DIRECT);
        let Some(at) = few else {
            if self.readable(state, to.object)? {
                self.log(state, to.object, Write { guard: guard.clone(), place, what });
                return Ok(());
            }
            return Err(Stop::Unsupported(
                "a move of unknown length over an array of unknown pointers".into(),
            ));
        };
        let write = Write { guard: guard.clone(), place, what };
        let end = capacity - capacity.saturating_sub(at) % step;
        let places = (at..end).step_by(step as usize);
        let mut values = Vec::new();
        for at in places.clone() {
            self.define_range(state, to.object, at, step)?;
            let old = self.read_content(state, to.object, at, step)?;
            let place = self.place(&word(&self.host, at));
            values.push(self.read_over(state, &write, Meeting::Perhaps, &place, step, &old)?);
        }
        for (at, value) in places.zip(values) {
            state.memory.object_mut(to.object).content.write(&self.host, at, step, value);
        }
        Ok(())
    }

    /// The one object and offset that all hits are.
    fn fixed(&self, hits: &Hits<C>) -> Option<(ObjectId, u64)> {
        match hits.as_slice() {
            [hit] => Some((hit.object, self.host.value(64, &hit.offset)?.to_u64()?)),
            _ => None,
        }
    }

    /// The general case: word by word where the length allows, so that pointers stay pointers.
    fn copy_words(&mut self, state: &mut State<C>, to: &Hits<C>, from: &Hits<C>, len: u64) -> Result<(), C> {
        let mut values = Vec::new();
        let mut at = 0;
        while at < len {
            let run = if len - at >= 8 { 8 } else { 1 };
            values.push((at, run, self.read_hits(state, from, at, run)?));
            at += run;
        }
        for (at, run, value) in values {
            self.write_hits(state, to, at, run, &value)?;
        }
        Ok(())
    }

    /// Sets `len` bytes.
    pub fn fill(&mut self, state: &mut State<C>, to: &Value<C>, byte: &C::Val, len: u64) -> Result<(), C> {
        if len == 0 {
            return Ok(());
        }
        let target = self.access(state, to, len, true)?;
        let logged = |state: &State<C>, hit: &Hit<C>| {
            len > DIRECT && self.host.value(64, &hit.offset).is_none() && {
                let content = &state.memory.object(hit.object).content;
                !matches!(content.fill, super::Fill::Input(_)) || content.log.is_some()
            }
        };
        if target.iter().all(|hit| logged(state, hit)) {
            for hit in &target {
                let what = Written::Fill(word(&self.host, len), byte.clone());
                self.write_range(state, hit, &hit.guard, &word(&self.host, len), what)?;
            }
            return Ok(());
        }
        if let (Some((object, at)), Some(constant)) = (self.fixed(&target), self.host.value(8, byte)) {
            let bytes = vec![constant.to_u64().unwrap_or(0) as u8; len as usize];
            state.memory.object_mut(object).content.write_bytes(&self.host, at, &bytes);
            return Ok(());
        }
        for at in 0..len {
            self.write_hits(state, &target, at, 1, &Value::Bits(byte.clone()))?;
        }
        Ok(())
    }

    /// The bytes of a string up to its NUL, all of which must be constant.
    pub fn constant_string(&mut self, state: &mut State<C>, pointer: &Value<C>) -> Result<Vec<u8>, C> {
        let mut bytes = Vec::new();
        loop {
            let at = self.shifted(state, pointer, bytes.len() as u64)?;
            let hits = self.access(state, &at, 1, false)?;
            let value = self.read_hits(state, &hits, 0, 1)?;
            let byte = self.exposed(state, &value)?;
            let byte = self.fix(state, 8, &byte)?.to_u64().unwrap_or(0) as u8;
            if byte == 0 {
                return Ok(bytes);
            }
            bytes.push(byte);
            if bytes.len() > 1 << 20 {
                return Err(Stop::Unsupported("a string of more than a million characters".into()));
            }
        }
    }

    /// A pointer moved by a constant.
    pub(super) fn shifted(
        &mut self,
        state: &mut State<C>,
        pointer: &Value<C>,
        by: u64,
    ) -> Result<Value<C>, C> {
        let pointer = self.pointer(state, pointer)?;
        let by = super::word(&self.host, by);
        Ok(Value::Pointer(super::pointers::shift(&self.host, &pointer, &by)))
    }
}
