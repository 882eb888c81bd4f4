//! `memcpy`, `memmove`, `memset`: whole ranges at once, pointers and unwritten bytes included.

use super::access::Hits;
use super::call::Passed;
use super::content::Piece;
use super::host::{Host, Problem};
use super::pointers::word;
use super::value::{Entry, ObjectId, Target, Value};
use super::{Machine, Result, State, Stop};
use parallax_op::{BinOp, BoolOp, RelOp};
use parallax_sem::Core;

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    /// Copies `len` bytes; ranges may overlap.
    pub fn copy(&mut self, state: &mut State<C>, to: &Value<C>, from: &Value<C>, len: u64) -> Result<(), C> {
        if len == 0 {
            return Ok(());
        }
        let source = self.access(state, from, len, false)?;
        let target = self.access(state, to, len, true)?;
        let (Some((from_object, from_at)), Some((to_object, to_at))) =
            (self.fixed(&source), self.fixed(&target))
        else {
            return self.copy_words(state, &target, &source, len);
        };
        // Input memory is decided before it is copied, so that cells move whole.
        if matches!(state.memory.object(from_object).content.fill, super::Fill::Input(_)) {
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
        let fill = |id: ObjectId| state.memory.object(id).content.fill;
        if fill(from.0) == fill(to.0) && fill(from.0) == super::Fill::Undefined {
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

    /// The length of a move. One that is not constant is first held against the object, so that what is left to look
    /// at one by one is no longer than that.
    pub(super) fn move_length(
        &mut self,
        state: &mut State<C>,
        passed: &[Passed<C>],
        targets: &[(usize, bool)],
    ) -> Result<u64, C> {
        let len = self.argument_bits(passed, 2)?;
        if self.host.value(64, &len).is_none() {
            for &(index, write) in targets {
                let pointer = self.pointer(state, &passed[index].value)?;
                let Some(Entry { target: Target::Object(id), offset, .. }) = pointer.only() else { continue };
                let size = state.memory.object(*id).size.clone();
                let core = self.host.core();
                let room = core.binop(BinOp::Sub, 64, &size, offset);
                let inside = core.relop(RelOp::Ule, 64, offset, &size);
                let fits = core.boolop(BoolOp::And, &inside, &core.relop(RelOp::Ule, 64, &len, &room));
                let nothing = core.relop(RelOp::Eq, 64, &len, &word(&self.host, 0));
                let fits = core.boolop(BoolOp::Or, &fits, &nothing);
                let near = core.relop(
                    RelOp::Ule,
                    64,
                    &core.binop(BinOp::Sub, 64, &len, &room),
                    &word(&self.host, 16),
                );
                self.host.prefer(near);
                let verb = if write { "written" } else { "read" };
                self.require(state, &fits, Problem::OutOfBounds, || {
                    format!("more bytes than the object has are {verb}")
                })?;
            }
        }
        self.length(state, passed, 2)
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
