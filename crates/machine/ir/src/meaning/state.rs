//! A machine state in any reading: the register file as cells, and memory.

use crate::meaning::{MeaningError, Rom, Value};
use crate::{Processor, RegisterKind, Space, Trap, Varnode};
use parallax_op::Bits;
use parallax_sem::{ByteOrder, Core, Origin};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The name of memory in the logic.
pub const MEMORY: &str = "F_mem";

/// A machine state. Registers overlap because they are all read from and written to the cells that hold their bytes.
#[derive(Clone)]
pub struct State<C: Core> {
    processor: Rc<Processor>,
    /// A cell that nobody has given a value is the symbol of its name.
    cells: Vec<Option<Value<C>>>,
    /// When each cell was last written; equal times mean equal values, so that joining costs only what changed.
    times: Vec<u64>,
    /// Shared by all states that come from one, so that no two writes happen at one time.
    clock: Rc<Cell<u64>>,
    /// Memory, a map from addresses to bytes.
    pub memory: C::Map,
    memory_time: u64,
    /// What never changes; loads look here first.
    rom: Option<Rc<Rom>>,
    /// Under which conditions the machine has stopped, and why. The rest of the state is the one without a stop.
    pub stops: Vec<(C::Bool, Trap)>,
    /// When each of them was noted, for joining, as with cells.
    stop_times: Vec<u64>,
}

impl<C: Core> State<C> {
    /// The state in which every cell is the symbol of its name, and memory is `F_mem`.
    pub fn identity(core: &C, processor: &Rc<Processor>) -> Self {
        let memory = core.map_symbol(MEMORY, processor.address_bytes * 8, 8);
        Self::with_memory(processor, memory)
    }

    /// The state in which every cell is the symbol of its name, with the given memory.
    pub fn with_memory(processor: &Rc<Processor>, memory: C::Map) -> Self {
        let cells = processor.cells.iter().map(|_| None).collect::<Vec<_>>();
        let times = vec![0; cells.len()];
        State {
            processor: processor.clone(),
            cells,
            times,
            clock: Rc::default(),
            memory,
            memory_time: 0,
            rom: None,
            stops: Vec::new(),
            stop_times: Vec::new(),
        }
    }

    /// The same state with read-only memory in it.
    pub fn with_rom(mut self, rom: &Rc<Rom>) -> Self {
        self.rom = (!rom.is_empty()).then(|| rom.clone());
        self
    }

    /// The `bytes` bytes at `address`, in the processor's byte order. Where the reading cannot tell the address,
    /// `origin` may.
    pub(super) fn load(
        &self,
        core: &C,
        key: u16,
        address: &C::Val,
        bytes: u16,
        origin: impl FnOnce() -> Origin<C::Bool>,
    ) -> Result<C::Val, MeaningError> {
        let order = self.processor.order;
        let from_memory = |address: &C::Val| core.load(&self.memory, key, address, bytes, order);
        let Some(rom) = &self.rom else { return Ok(from_memory(address)) };
        let known = core.targets(key, address).map(|places| Origin::Among { places, elsewhere: false });
        let (places, elsewhere) = match known.unwrap_or_else(origin) {
            Origin::Anywhere => return Ok(from_memory(address)),
            Origin::Among { places, elsewhere } => (places, elsewhere),
            Origin::Unknown(why) => return Err(MeaningError::Load(why)),
        };
        let value = rom.load(core, &places, bytes, order, elsewhere.then_some(address), from_memory);
        Ok(value.unwrap_or_else(|| from_memory(address)))
    }

    /// The conditions under which a store of `bytes` bytes at an address touches memory that never changes.
    pub(super) fn touches_read_only(&self, core: &C, key: u16, address: &C::Val, bytes: u16) -> Vec<C::Bool> {
        let ranges = self.rom.iter().flat_map(|rom| rom.ranges());
        // A store that begins a little before touches it too.
        let before = u128::from(bytes.max(1) - 1);
        let touches = ranges.map(|range| {
            let first = Bits::new(key, u128::from(range.start).wrapping_sub(before));
            let length = Bits::new(key, u128::from(range.end - range.start) + before);
            core.lies_within(key, address, &first, &length)
        });
        touches.filter(|touches| core.decided(touches) != Some(false)).collect()
    }

    /// The processor.
    pub fn processor(&self) -> &Rc<Processor> {
        &self.processor
    }

    /// The value of a cell, by its index in [`Processor::cells`].
    pub fn cell(&self, core: &C, index: usize) -> Value<C> {
        match &self.cells[index] {
            Some(value) => value.clone(),
            None => {
                let cell = &self.processor.cells[index];
                match cell.kind {
                    RegisterKind::Word => Value::Word(core.symbol(&cell.name, cell.place.width())),
                    RegisterKind::Flag => Value::Truth(core.bool_symbol(&cell.name)),
                }
            }
        }
    }

    /// The value of a cell that was given one.
    pub fn known_cell(&self, index: usize) -> Option<&Value<C>> {
        self.cells[index].as_ref()
    }

    /// Gives a cell its first value, which does not count as writing it.
    pub fn initialise(&mut self, index: usize, value: Value<C>) {
        self.cells[index] = Some(value);
    }

    /// Replaces the value of a cell.
    pub fn set_cell(&mut self, index: usize, value: Value<C>) {
        self.times[index] = self.tick();
        self.cells[index] = Some(value);
    }

    fn tick(&self) -> u64 {
        self.clock.set(self.clock.get() + 1);
        self.clock.get()
    }

    /// Notes that the machine stops under a condition.
    pub fn stop(&mut self, when: C::Bool, trap: Trap) {
        self.stops.push((when, trap));
        self.stop_times.push(self.tick());
    }

    /// Takes note that memory has changed.
    pub(super) fn note_store(&mut self) {
        self.memory_time = self.tick();
    }

    /// Whether a cell was written since the state was made.
    pub fn is_written(&self, index: usize) -> bool {
        self.times[index] != 0
    }

    /// Whether memory was written since the state was made.
    pub fn is_memory_written(&self) -> bool {
        self.memory_time != 0
    }

    /// What a part of the register file holds.
    pub fn read(&self, core: &C, place: Varnode) -> Result<Value<C>, MeaningError> {
        let mut from = place.offset;
        let mut result: Option<(u16, Value<C>)> = None;
        while from < place.end() {
            let index = self.cell_at(from)?;
            let cell = self.processor.cells[index].place;
            let part = Varnode::register(from, (cell.end().min(place.end()) - from) as u16);
            let piece = slice(core, self.processor.order, cell, &self.cell(core, index), part);
            result = Some(append(core, self.processor.order, result, (part.bytes, piece)));
            from = part.end();
        }
        result.map(|(_, value)| value).ok_or_else(|| ill_formed(place))
    }

    /// Replaces a part of the register file.
    pub fn write(&mut self, core: &C, place: Varnode, value: Value<C>) -> Result<(), MeaningError> {
        let mut from = place.offset;
        while from < place.end() {
            let index = self.cell_at(from)?;
            let cell = self.processor.cells[index].place;
            let part = Varnode::register(from, (cell.end().min(place.end()) - from) as u16);
            let piece = slice(core, self.processor.order, place, &value, part);
            let whole = splice(core, self.processor.order, cell, &self.cell(core, index), part, piece);
            self.set_cell(index, whole);
            from = part.end();
        }
        Ok(())
    }

    fn cell_at(&self, offset: u64) -> Result<usize, MeaningError> {
        self.processor.cell_at(offset).ok_or_else(|| ill_formed(Varnode::register(offset, 1)))
    }

    /// The state as it is where a condition holds.
    pub fn assume(mut self, core: &C, when: &C::Bool) -> Self {
        for (cell, register) in self.cells.iter_mut().zip(&self.processor.cells) {
            if let Some(Value::Word(value)) = cell {
                *value = core.cond(register.place.width(), when, value, value);
            }
        }
        self.memory = core.cond_map(when, &self.memory, &self.memory);
        self
    }

    /// `self` where `when` holds, `other` elsewhere; both continue one common state.
    pub fn join(mut self, core: &C, when: &C::Bool, other: Self) -> Self {
        let unless = core.not(when);
        let and = |a: &C::Bool, b: &C::Bool| core.boolop(parallax_op::BoolOp::And, a, b);
        for index in 0..self.cells.len() {
            if self.times[index] != other.times[index] {
                let width = self.processor.cells[index].place.width();
                let chosen = self.cell(core, index).choose(core, when, &other.cell(core, index), width);
                self.cells[index] = Some(chosen);
                self.times[index] = self.tick();
            }
        }
        if self.memory_time != other.memory_time {
            self.memory = core.cond_map(when, &self.memory, &other.memory);
            self.memory_time = self.tick();
        }
        // What stopped both before they parted is there once; otherwise every join would double it.
        let common = self.stop_times.iter().zip(&other.stop_times).take_while(|(a, b)| a == b).count();
        self.stop_times.truncate(common);
        for (guard, trap) in self.stops.split_off(common) {
            self.stop(and(when, &guard), trap);
        }
        for (guard, trap) in other.stops.into_iter().skip(common) {
            self.stop(and(&unless, &guard), trap);
        }
        self
    }
}

fn ill_formed(place: Varnode) -> MeaningError {
    MeaningError::IllFormed(format!("no register has byte {:#x}", place.offset))
}

/// The bit at which `part` begins inside `whole`.
fn low_bit(order: ByteOrder, whole: Varnode, part: Varnode) -> u16 {
    let before = (part.offset - whole.offset) as u16;
    match order {
        ByteOrder::Little => before * 8,
        ByteOrder::Big => (whole.bytes - before - part.bytes) * 8,
    }
}

/// The bits of `part` in the value of `whole`.
fn slice<C: Core>(core: &C, order: ByteOrder, whole: Varnode, value: &Value<C>, part: Varnode) -> Value<C> {
    if part.bytes == whole.bytes {
        return value.clone();
    }
    let word = value.word(core, whole.width());
    Value::Word(core.extract(whole.width(), low_bit(order, whole, part), part.width(), &word))
}

/// The value of `whole` with the bits of `part` replaced.
fn splice<C: Core>(
    core: &C,
    order: ByteOrder,
    whole: Varnode,
    value: &Value<C>,
    part: Varnode,
    piece: Value<C>,
) -> Value<C> {
    if part.bytes == whole.bytes {
        return piece;
    }
    let word = value.word(core, whole.width());
    let low = low_bit(order, whole, part);
    let high = low + part.width();
    let mut result = piece.word(core, part.width());
    if low > 0 {
        let below = core.extract(whole.width(), 0, low, &word);
        result = core.concat(part.width(), low, &result, &below);
    }
    if high < whole.width() {
        let above = core.extract(whole.width(), high, whole.width() - high, &word);
        result = core.concat(whole.width() - high, high, &above, &result);
    }
    Value::Word(result)
}

/// Puts a piece behind what was read so far, in the order of the bytes.
fn append<C: Core>(
    core: &C,
    order: ByteOrder,
    before: Option<(u16, Value<C>)>,
    (bytes, piece): (u16, Value<C>),
) -> (u16, Value<C>) {
    let Some((so_far, value)) = before else { return (bytes, piece) };
    let first = value.word(core, so_far * 8);
    let second = piece.word(core, bytes * 8);
    let joined = match order {
        ByteOrder::Little => core.concat(bytes * 8, so_far * 8, &second, &first),
        ByteOrder::Big => core.concat(so_far * 8, bytes * 8, &first, &second),
    };
    (so_far + bytes, Value::Word(joined))
}

/// The temporaries of one instruction.
#[derive(Clone)]
pub(super) struct Temporaries<C: Core> {
    order: ByteOrder,
    /// Start to size and value; the stretches do not overlap.
    stretches: BTreeMap<u64, (u16, Value<C>)>,
}

impl<C: Core> Temporaries<C> {
    pub fn new(order: ByteOrder) -> Self {
        Temporaries { order, stretches: BTreeMap::new() }
    }

    pub fn read(&self, core: &C, place: Varnode) -> Result<Value<C>, MeaningError> {
        debug_assert_eq!(place.space, Space::Temporary);
        let unwritten =
            || MeaningError::IllFormed(format!("temporary {:#x} is read before it is written", place.offset));
        let mut from = place.offset;
        let mut result = None;
        while from < place.end() {
            let (&start, (bytes, value)) = self.stretches.range(..=from).next_back().ok_or_else(unwritten)?;
            let stretch = Varnode::temporary(start, *bytes);
            if stretch.end() <= from {
                return Err(unwritten());
            }
            let part = Varnode::temporary(from, (stretch.end().min(place.end()) - from) as u16);
            let piece = slice(core, self.order, stretch, value, part);
            result = Some(append(core, self.order, result, (part.bytes, piece)));
            from = part.end();
        }
        result.map(|(_, value)| value).ok_or_else(unwritten)
    }

    pub fn write(&mut self, core: &C, place: Varnode, value: Value<C>) {
        // Cut what overlaps; in almost every case the stretch is the same or new.
        let first = self
            .stretches
            .range(..place.end())
            .rev()
            .take_while(|(start, (bytes, _))| *start + u64::from(*bytes) > place.offset);
        let overlapping: Vec<u64> = first.map(|(start, _)| *start).collect();
        for start in overlapping {
            let (bytes, old) = self.stretches.remove(&start).expect("just seen");
            let stretch = Varnode::temporary(start, bytes);
            for (from, until) in [(start, place.offset), (place.end(), stretch.end())] {
                if from < until {
                    let part = Varnode::temporary(from, (until - from) as u16);
                    self.stretches.insert(from, (part.bytes, slice(core, self.order, stretch, &old, part)));
                }
            }
        }
        self.stretches.insert(place.offset, (place.bytes, value));
    }
}
