//! Large arrays: a log of writes over what was there before.
//!
//! A write at a place that is not constant changes one of thousands of bytes. Instead of changing each of them under a
//! condition, or looking at each place by itself, it is remembered: a read is then the newest write that meets it, else
//! what was there before. That is exact for any length, and neither forks nor enumerates. Cells written later at known
//! places lie on top of the log, so that code that is not symbolic stays as fast as before.

use super::content::{Content, Fill, Raw, Run};
use super::host::Host;
use super::mistake::Mistake;
use super::place::{Grid, Meeting, Place};
use super::pointers::word;
use super::value::{ObjectId, Value};
use super::{Machine, Result, State, Stop};
use parallax_op::{BinOp, BoolOp, RelOp};
use parallax_path::Chain;
use parallax_path::Split;
use parallax_sem::Core;
use std::sync::Arc;

/// Values that one read of a table chooses between; what repeats counts once.
const MOST_VALUES: u64 = 1 << 18;
/// A table with more places is first held against what the path says of the index.
const NARROW: u64 = 4096;

/// How deep copies of logs go: a read follows each both ways.
pub(super) const MOST_COPIES: u32 = 6;
/// Bytes of input memory with pointers in it that are given contents one by one.
const MOST_DEFINED: u64 = 1 << 14;

/// Writes, and what they were made over.
#[derive(Clone)]
pub struct Log<C: Core> {
    /// What was there before the first of them.
    pub base: Arc<Content<C>>,
    /// The writes.
    pub writes: Chain<Write<C>>,
    /// How deep copies of logs with copies in them go.
    pub copies: u32,
}

/// A write at a place that need not be constant.
#[derive(Clone)]
pub struct Write<C: Core> {
    /// When it happens.
    pub guard: C::Bool,
    /// The place that was written.
    pub place: Place<C>,
    /// The bytes that were written there.
    pub what: Written<C>,
}

/// What is written.
#[derive(Clone)]
pub enum Written<C: Core> {
    /// A value of this many bytes.
    Value(u64, Value<C>),
    /// As many bytes of one kind.
    Fill(C::Val, C::Val),
    /// As many bytes as another object has had from an offset on; its capacity.
    Copy(C::Val, Arc<Content<C>>, C::Val, u64),
    /// Everything that is written in a content of this capacity.
    Cells(Arc<Content<C>>, u64),
}

/// What the map of an object's unwritten bytes is called.
pub fn memory_name(id: ObjectId) -> String {
    format!("memory of object {}", id.0)
}

impl<C: Core> Content<C> {
    /// How deep copies go in its log.
    pub(super) fn copies(&self) -> u32 {
        self.log.as_ref().map_or(0, |log| log.copies)
    }

    /// Every value that may still be in it, and more: what a log has over-written among them.
    pub fn each_value(&self, each: &mut dyn FnMut(&Value<C>)) {
        self.cells().for_each(|(_, cell)| each(&cell.value));
        let Some(log) = &self.log else { return };
        log.base.each_value(each);
        for write in log.writes.newest_first() {
            match &write.what {
                Written::Value(_, value) => each(value),
                Written::Copy(_, source, ..) | Written::Cells(source, _) => source.each_value(each),
                Written::Fill(..) => {}
            }
        }
    }
}

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    /// Makes sure that every byte of an object can be read without being looked at one by one; false when that cannot
    /// be, because there are pointers among bytes that nobody has read yet.
    pub(super) fn readable(&mut self, state: &mut State<C>, id: ObjectId) -> Result<bool, C> {
        let object = state.memory.object(id);
        let (content, capacity) = (&object.content, object.capacity);
        if content.fill == Fill::Zero || content.log.is_some() || content.hidden.is_some() {
            return Ok(true);
        }
        let undefined = content.fill == Fill::Undefined;
        if let Fill::Input(ty) = content.fill
            && !(capacity > super::WIDEST && super::input_types::only_numbers(self.module, ty))
        {
            if capacity > MOST_DEFINED {
                return Ok(false);
            }
            self.define_range(state, id, 0, capacity)?;
            return Ok(true);
        }
        // Named by the object: states that were one see one memory.
        let map = self.host.memory_map(&memory_name(id), undefined);
        state.memory.object_mut(id).content.hidden = Some(map);
        Ok(true)
    }

    /// Remembers a write. The object is `readable`.
    pub(super) fn log(&mut self, state: &mut State<C>, id: ObjectId, write: Write<C>) {
        let object = state.memory.object_mut(id);
        let empty = Content::new(object.content.fill);
        let mut cells = std::mem::replace(&mut object.content, empty);
        let log = match cells.log.take() {
            Some(mut log) => {
                if !cells.is_blank() {
                    log.writes.push(self.cells_write(cells, object.capacity));
                }
                log
            }
            None => Log { base: Arc::new(cells), writes: Chain::default(), copies: 0 },
        };
        object.content.log = Some(log);
        if let Some(log) = &mut object.content.log {
            if let Written::Copy(_, source, ..) = &write.what {
                log.copies = log.copies.max(1 + source.copies());
            }
            log.writes.push(write);
        }
    }

    /// What is written in a content, as one write.
    pub(super) fn cells_write(&self, mut cells: Content<C>, capacity: u64) -> Write<C> {
        // What is not written is not part of it.
        (cells.fill, cells.hidden) = (Fill::Undefined, None);
        Write {
            guard: self.host.core().boolean(true),
            place: self.place(&word(&self.host, 0)),
            what: Written::Cells(Arc::new(cells), capacity),
        }
    }

    /// Bytes at any place of something `readable`.
    pub(super) fn read_place(
        &mut self,
        state: &mut State<C>,
        content: &Content<C>,
        place: &Place<C>,
        len: u64,
        capacity: u64,
    ) -> Result<Value<C>, C> {
        self.read_cells(state, content, place, len, capacity, None)
    }

    /// The same; `rest` is what is read where nothing is written, unless the content itself says.
    fn read_cells(
        &mut self,
        state: &mut State<C>,
        content: &Content<C>,
        place: &Place<C>,
        len: u64,
        capacity: u64,
        rest: Option<&Value<C>>,
    ) -> Result<Value<C>, C> {
        if let Some(at) = place.known {
            if content.first_missing(at, len).is_none() {
                let raw = content.read(&self.host, at, len);
                return self.assembled(state, raw);
            }
            if len == 1 || content.run(at, len) == Run::Missing {
                return match rest {
                    Some(rest) => Ok(rest.clone()),
                    None => self.read_below(state, content, place, len, capacity),
                };
            }
            let mut bytes = Vec::with_capacity(len as usize);
            for index in 0..len {
                let byte = self.place_after(place, index);
                let rest = rest.map(|rest| self.byte_of(state, rest, len, index)).transpose()?;
                bytes.push(self.read_cells(state, content, &byte, 1, capacity, rest.as_ref())?);
            }
            return self.put_together(state, &bytes);
        }
        let constants = self.host.core().targets(64, &place.offset);
        if let Some(constants) = constants {
            let mut result: Option<Value<C>> = None;
            for (guard, at) in constants {
                let Some(at) = at.to_u64().filter(|at| at.saturating_add(len) <= capacity) else { continue };
                let at = self.place(&word(&self.host, at));
                let here = self.read_cells(state, content, &at, len, capacity, rest)?;
                result = Some(match result {
                    None => here,
                    Some(rest) => self.joined(state, &guard, &here, &rest, (len * 8) as u16)?,
                });
            }
            return result.ok_or(Stop::Dead);
        }
        let mut grid = self.grid(place, len, capacity);
        self.narrow(state, &mut grid);
        if grid.count == 0 {
            return Err(Stop::Dead);
        }
        let below = rest.cloned();
        let mut table = Table { content, place, len, capacity, grid, below, budget: MOST_VALUES };
        let levels = 64 - (table.grid.count - 1).leading_zeros() as u16;
        self.chosen(state, &mut table, levels, 0)?.ok_or(Stop::Dead)
    }

    /// What the path says of the index of a large table: it may be small.
    fn narrow(&mut self, state: &State<C>, grid: &mut Grid<C>) {
        while grid.count > NARROW {
            let half = grid.count.next_power_of_two() / 2;
            let core = self.host.core();
            let small = core.relop(RelOp::Ult, 64, &grid.index, &word(&self.host, half));
            if self.host.split(&state.path, &small) != Split::True {
                return;
            }
            grid.count = half;
        }
    }

    /// The value at the index whose bits above `level` are `prefix`; nothing where there is no such place.
    fn chosen(
        &mut self,
        state: &mut State<C>,
        table: &mut Table<'_, C>,
        level: u16,
        prefix: u64,
    ) -> Result<Option<Value<C>>, C> {
        let first = prefix << level;
        if first >= table.grid.count {
            return Ok(None);
        }
        let last = (first + (1 << level)).min(table.grid.count) - 1;
        let at = table.grid.first + first * table.grid.step;
        let bytes = (last - first) * table.grid.step + table.len;
        match table.content.run(at, bytes) {
            Run::Missing => {
                if table.below.is_none() {
                    let (content, place, len) = (table.content, table.place, table.len);
                    table.below = Some(self.read_below(state, content, place, len, table.capacity)?);
                }
                return Ok(table.below.clone());
            }
            // Putting a pointer beside numbers decides what it is: not where it cannot be the one that is read.
            _ if level == 0
                && table.content.holds_token(at, table.len)
                && !self.may_be_at(state, table, first) =>
            {
                return Ok(None);
            }
            run if level == 0 || matches!(run, Run::Same(_)) => {
                let Some(left) = table.budget.checked_sub(1) else {
                    let words = format!("a table of more than {MOST_VALUES} values at an unknown place");
                    return Err(Stop::Unsupported(words));
                };
                table.budget = left;
                let place = self.place(&word(&self.host, at));
                let (content, len) = (table.content, table.len);
                let mixed = run == Run::Mixed && table.below.is_some();
                let rest = table.below.clone().filter(|_| mixed);
                return Ok(Some(self.read_cells(
                    state,
                    content,
                    &place,
                    len,
                    table.capacity,
                    rest.as_ref(),
                )?));
            }
            _ => {}
        }
        let low = self.chosen(state, table, level - 1, prefix * 2)?;
        let high = self.chosen(state, table, level - 1, prefix * 2 + 1)?;
        Ok(match (low, high) {
            (Some(low), Some(high)) => {
                let bit = self.bit(&table.grid.index, level - 1);
                Some(self.joined(state, &bit, &high, &low, (table.len * 8) as u16)?)
            }
            (low, high) => low.or(high),
        })
    }

    /// Whether the path allows an index of a table.
    fn may_be_at(&mut self, state: &State<C>, table: &Table<'_, C>, index: u64) -> bool {
        let core = self.host.core();
        let here = core.relop(RelOp::Eq, 64, &table.grid.index, &word(&self.host, index));
        matches!(self.host.split(&state.path, &here), Split::True | Split::Both)
    }

    /// Bytes that are not written in the content itself: those of the log, or of memory that nobody has described.
    fn read_below(
        &mut self,
        state: &mut State<C>,
        content: &Content<C>,
        place: &Place<C>,
        len: u64,
        capacity: u64,
    ) -> Result<Value<C>, C> {
        let Some(log) = &content.log else {
            if content.hidden.is_some() && self.planted(Mistake::LogIgnoresReads) {
                return Ok(Value::Bits(self.host.selector((len * 8) as u16, "memory")));
            }
            let core = self.host.core();
            let Some(map) = &content.hidden else {
                return Ok(Value::Bits(core.constant(&parallax_op::Bits::zero((len * 8) as u16))));
            };
            let byte = |at: u64| {
                let key = if at == 0 { place.offset.clone() } else { self.moved(&place.offset, at) };
                core.access(map, &key)
            };
            let mut bits = byte(0);
            for at in 1..len {
                bits = core.concat(8, (at * 8) as u16, &byte(at), &bits);
            }
            return Ok(Value::Bits(bits));
        };
        // Nothing before a write that certainly meets the read can be seen.
        let mut writes = Vec::new();
        let mut hides = false;
        for write in log.writes.newest_first() {
            if self.planted(Mistake::LogIgnoresWrites) && write.place.known.is_none() {
                continue;
            }
            let meeting = match &write.what {
                Written::Value(width, _) => self.meeting(&write.place, *width, place, len),
                Written::Cells(cells, _) => match place.known.map(|at| cells.run(at, len)) {
                    Some(Run::Missing) => Meeting::Never,
                    _ => Meeting::Perhaps,
                },
                _ => Meeting::Perhaps,
            };
            hides = matches!(meeting, Meeting::Always) && self.host.truth(&write.guard) == Some(true);
            if !matches!(meeting, Meeting::Never) {
                writes.push((write, meeting));
            }
            if hides {
                break;
            }
        }
        let mut result = match hides {
            true => None,
            false => Some(self.read_place(state, &log.base, place, len, capacity)?),
        };
        for (write, meeting) in writes.into_iter().rev() {
            let Some(rest) = result else {
                result = match &write.what {
                    Written::Value(_, value) => Some(value.clone()),
                    _ => None,
                };
                continue;
            };
            result = Some(self.read_over(state, write, meeting, place, len, &rest)?);
        }
        result.ok_or(Stop::Dead)
    }

    /// Bytes after a write, given what they were before.
    pub(super) fn read_over(
        &mut self,
        state: &mut State<C>,
        write: &Write<C>,
        meeting: Meeting<C>,
        place: &Place<C>,
        len: u64,
        rest: &Value<C>,
    ) -> Result<Value<C>, C> {
        let width = (len * 8) as u16;
        let core = self.host.core();
        let under = |condition: &C::Bool| core.boolop(BoolOp::And, &write.guard, condition);
        let (inside, outside) = match (&write.what, meeting) {
            (_, Meeting::Never) => return Ok(rest.clone()),
            (Written::Value(_, value), Meeting::Always) => {
                return self.joined(state, &write.guard, value, rest, width);
            }
            (Written::Value(_, value), Meeting::When(same)) => {
                let guard = under(&same);
                return self.joined(state, &guard, value, rest, width);
            }
            (Written::Value(count, _), Meeting::Perhaps) => {
                self.overlap(&write.place, &word(&self.host, *count), place, len)
            }
            (Written::Fill(count, _) | Written::Copy(count, ..), _) => {
                self.overlap(&write.place, count, place, len)
            }
            (Written::Cells(cells, capacity), _) => {
                let new = self.read_cells(state, cells, place, len, *capacity, Some(rest))?;
                return self.joined(state, &write.guard, &new, rest, width);
            }
        };
        // All of the bytes, or none: then they stay together.
        let whole = core.boolop(BoolOp::Or, &inside, &outside);
        let whole = core.boolop(BoolOp::Implies, &write.guard, &whole);
        let together = len == 1
            || self.host.truth(&whole) == Some(true)
            || self.host.split(&state.path, &whole) == Split::True;
        if together && !matches!(&write.what, Written::Value(count, _) if *count != len) {
            let core = self.host.core();
            let guard = core.boolop(BoolOp::And, &write.guard, &inside);
            if self.host.truth(&guard) == Some(false) {
                return Ok(rest.clone());
            }
            let new = match &write.what {
                Written::Value(_, value) => value.clone(),
                Written::Cells(..) => return Ok(rest.clone()),
                Written::Fill(_, byte) => {
                    let mut bits = byte.clone();
                    for at in 1..len {
                        bits = core.concat(8, (at * 8) as u16, byte, &bits);
                    }
                    Value::Bits(bits)
                }
                Written::Copy(_, source, from, capacity) => {
                    let distance = core.binop(BinOp::Sub, 64, &place.offset, &write.place.offset);
                    let at = self.place(&core.binop(BinOp::Add, 64, from, &distance));
                    if at.known.is_some_and(|at| at.saturating_add(len) > *capacity) {
                        return Ok(rest.clone());
                    }
                    match self.read_place(state, source, &at, len, *capacity) {
                        // Nothing of the source lies there: the condition cannot hold.
                        Err(Stop::Dead) => return Ok(rest.clone()),
                        read => read?,
                    }
                }
            };
            return self.joined(state, &guard, &new, rest, width);
        }
        let mut bytes = Vec::with_capacity(len as usize);
        for at in 0..len {
            let old = self.byte_of(state, rest, len, at)?;
            let here = self.place_after(place, at);
            bytes.push(match &write.what {
                Written::Value(count, value) if *count > 1 => {
                    let mut byte = old;
                    for index in 0..*count {
                        let part = self.byte_of(state, value, *count, index)?;
                        let target = self.place_after(&write.place, index);
                        let single = Write {
                            guard: write.guard.clone(),
                            place: target.clone(),
                            what: Written::Value(1, part),
                        };
                        let meeting = self.meeting(&target, 1, &here, 1);
                        byte = self.read_over(state, &single, meeting, &here, 1, &byte)?;
                    }
                    byte
                }
                Written::Value(..) => {
                    let meeting = self.meeting(&write.place, 1, &here, 1);
                    self.read_over(state, write, meeting, &here, 1, &old)?
                }
                _ => self.read_over(state, write, Meeting::Perhaps, &here, 1, &old)?,
            });
        }
        self.put_together(state, &bytes)
    }

    /// Whether `len` bytes lie within a range, and whether they lie outside it.
    fn overlap(&self, start: &Place<C>, count: &C::Val, place: &Place<C>, len: u64) -> (C::Bool, C::Bool) {
        let core = self.host.core();
        let (single, len) = (len == 1, word(&self.host, len));
        let distance = core.binop(BinOp::Sub, 64, &place.offset, &start.offset);
        let back = core.binop(BinOp::Sub, 64, &start.offset, &place.offset);
        let left = core.binop(BinOp::Sub, 64, count, &distance);
        let starts = match self.planted(Mistake::RangeTooLong) {
            true => core.relop(RelOp::Ule, 64, &distance, count),
            false => core.relop(RelOp::Ult, 64, &distance, count),
        };
        // With one byte to read, to start within the range is to lie within it.
        let fits = core.relop(RelOp::Ule, 64, &len, &left);
        let inside = if single { starts.clone() } else { core.boolop(BoolOp::And, &starts, &fits) };
        let after = core.not(&starts);
        let before = core.relop(RelOp::Ule, 64, &len, &back);
        let nothing = core.relop(RelOp::Eq, 64, count, &word(&self.host, 0));
        let outside = core.boolop(BoolOp::And, &after, &before);
        (inside, core.boolop(BoolOp::Or, &outside, &nothing))
    }

    /// One byte of a value.
    fn byte_of(&mut self, state: &mut State<C>, value: &Value<C>, len: u64, at: u64) -> Result<Value<C>, C> {
        Ok(match value {
            Value::Bits(bits) => {
                Value::Bits(self.host.core().extract((len * 8) as u16, (at * 8) as u16, 8, bits))
            }
            Value::Pointer(pointer) => Value::Part(Arc::new(pointer.clone()), at as u8),
            Value::Part(..) => value.clone(),
            Value::Many(_) => Value::Bits(self.exposed(state, value)?),
        })
    }

    /// Bytes put together: a pointer where they are its bytes in order.
    fn put_together(&mut self, state: &mut State<C>, bytes: &[Value<C>]) -> Result<Value<C>, C> {
        let mut together = Content::new(Fill::Zero);
        for (at, byte) in bytes.iter().enumerate() {
            together.write(&self.host, at as u64, 1, byte.clone());
        }
        let raw: Raw<C> = together.read(&self.host, 0, bytes.len() as u64);
        self.assembled(state, raw)
    }
}

/// A read of one of many places.
struct Table<'c, C: Core> {
    content: &'c Content<C>,
    place: &'c Place<C>,
    len: u64,
    capacity: u64,
    grid: Grid<C>,
    /// What is read where the content has nothing written.
    below: Option<Value<C>>,
    budget: u64,
}
