//! One instruction by its meaning, over the registers of the emulator and their shades.
//!
//! What an operation computes is `ir`'s to say ([`evaluate`]). Here is where its operands come from and its results go. In
//! this reading a branch inside an instruction always goes the way it goes on this run, so nothing is ever joined; that
//! is why an instruction needs no state of its own (as `parallax_ir::meaning::exec` does), only a list of what it wrote.

use crate::block::Cells;
use crate::core::{Concolic, Truth, Word};
use crate::shadow::{Shade, Shadow};
use parallax_ir::meaning::{MeaningError, Value, evaluate};
use parallax_ir::{Instruction, Op, Processor, Space, Varnode};
use parallax_op::{Bits, Width};
use parallax_process::registers::Registers;
use parallax_sem::{ByteOrder, Core};
use parallax_term::Formula;
use smallvec::SmallVec;

/// How many operations one instruction may take: as in `ir`.
const MAX_STEPS: usize = 100_000;

/// Where the registers are: the cell of each byte of the register space, and the place of each cell in the emulator's file.
pub struct Layout {
    cell_of: Vec<u16>,
    /// The place of each cell in the specification, and in the emulator's file.
    cells: Vec<(Varnode, usize)>,
}

impl Layout {
    /// The layout of a register file.
    pub fn new(registers: &Registers) -> Layout {
        let processor = registers.processor();
        let mut cell_of = vec![u16::MAX; processor.register_bytes as usize];
        let mut cells = Vec::new();
        for (index, cell) in processor.cells.iter().enumerate() {
            cell_of[cell.place.offset as usize..cell.place.end() as usize].fill(index as u16);
            cells.push((cell.place, registers.offset(cell.place).unwrap_or(0)));
        }
        Layout { cell_of, cells }
    }

    /// Where a cell is in the emulator's file.
    pub fn place(&self, cell: usize) -> std::ops::Range<usize> {
        let (place, at) = self.cells[cell];
        at..at + usize::from(place.bytes)
    }

    fn cell(&self, offset: u64) -> Result<usize, MeaningError> {
        match self.cell_of.get(offset as usize) {
            Some(&cell) if cell != u16::MAX => Ok(cell.into()),
            _ => Err(MeaningError::IllFormed(format!("no register has byte {offset:#x}"))),
        }
    }
}

/// How an instruction ended.
pub enum Exit {
    /// It goes on at this address.
    To(Word),
    /// It stops, for a reason that the emulator finds out.
    Stop,
}

/// What one instruction sees and has written so far.
pub struct Frame<'f, 'c> {
    core: &'f Concolic<'c>,
    processor: &'f Processor,
    layout: &'f Layout,
    file: &'f [u8],
    shadow: &'f Shadow,
    /// Cells that it wrote; the last of a cell counts.
    written: SmallVec<[(usize, Value<Concolic<'c>>); 8]>,
    /// Temporaries, which do not overlap.
    temporaries: SmallVec<[(Varnode, Value<Concolic<'c>>); 8]>,
    /// Whether it read a register that depends on the input.
    pub uses_input: bool,
    /// What held where its jump, which leads out of it, depends on the input: instructions that repeat decide before that
    /// whether they do anything at all.
    pub jump_decided: Option<Formula>,
}

impl<'f, 'c> Frame<'f, 'c> {
    /// A frame over registers.
    pub fn new(
        core: &'f Concolic<'c>,
        processor: &'f Processor,
        layout: &'f Layout,
        file: &'f [u8],
        shadow: &'f Shadow,
    ) -> Self {
        let (written, temporaries) = (SmallVec::new(), SmallVec::new());
        Frame {
            core,
            processor,
            layout,
            file,
            shadow,
            written,
            temporaries,
            uses_input: false,
            jump_decided: None,
        }
    }

    /// Runs an instruction.
    pub fn run(&mut self, instruction: &Instruction) -> Result<Exit, MeaningError> {
        debug_assert_eq!(self.processor.order, ByteOrder::Little);
        let core = self.core;
        let mut index = 0;
        let mut steps = 0;
        while let Some(op) = instruction.ops.get(index) {
            steps += 1;
            if steps > MAX_STEPS {
                return Err(MeaningError::Loop(MAX_STEPS));
            }
            index += 1;
            match op {
                Op::Load { out, address } => {
                    let at = self.word(*address)?;
                    let value = core.load(&(), address.width(), &at, out.bytes, ByteOrder::Little);
                    self.write(*out, Value::Word(value))?;
                }
                Op::Store { address, value } => {
                    let (at, stored) = (self.word(*address)?, self.word(*value)?);
                    core.store((), address.width(), &at, value.bytes, ByteOrder::Little, &stored);
                }
                Op::Branch { when, to } => {
                    if self.decide(*when)? {
                        index = usize::from(*to);
                    }
                }
                Op::Jump { when, to, .. } => {
                    let target = self.word(*to)?;
                    if self.decide_jump(*when)? {
                        return Ok(Exit::To(target));
                    }
                }
                Op::Trap { when, .. } => {
                    if self.decide(*when)? {
                        return Ok(Exit::Stop);
                    }
                }
                _ => {
                    let value = evaluate(core, self.processor, op, |place| self.read(place))?;
                    if let Some(out) = op.out() {
                        self.write(out, value)?;
                    }
                }
            }
        }
        let next = Bits::new(self.processor.pc.width(), instruction.next().into());
        Ok(Exit::To(Word { bits: next, term: None }))
    }

    /// What it has left in those of these cells that it wrote.
    pub fn results(self, cells: &Cells) -> SmallVec<[(usize, Value<Concolic<'c>>); 8]> {
        let mut written = self.written;
        written.retain(|(cell, _)| cells.has(*cell));
        written
    }

    fn decide(&mut self, when: Option<Varnode>) -> Result<bool, MeaningError> {
        let Some(when) = when else { return Ok(true) };
        let truth = self.read(when)?.truth(self.core, when.width());
        Ok(self.core.decided(&truth).unwrap_or(truth.holds))
    }

    fn decide_jump(&mut self, when: Option<Varnode>) -> Result<bool, MeaningError> {
        let Some(when) = when else { return Ok(true) };
        let truth = self.read(when)?.truth(self.core, when.width());
        let held = |formula| if truth.holds { formula } else { self.core.store.not(formula) };
        self.jump_decided = truth.formula.map(held);
        Ok(self.core.decided(&truth).unwrap_or(truth.holds))
    }

    fn word(&mut self, place: Varnode) -> Result<Word, MeaningError> {
        Ok(self.read(place)?.word(self.core, place.width()))
    }

    fn read(&mut self, place: Varnode) -> Result<Value<Concolic<'c>>, MeaningError> {
        match place.space {
            Space::Constant => {
                Ok(Value::Word(Word { bits: Bits::new(place.width(), place.offset.into()), term: None }))
            }
            Space::Register => {
                let mut from = place.offset;
                let mut whole = None;
                while from < place.end() {
                    let cell = self.layout.cell(from)?;
                    let at = self.layout.cells[cell].0;
                    let part = Varnode::register(from, (at.end().min(place.end()) - from) as u16);
                    let piece = self.read_cell(cell, at, part);
                    whole = Some(append(self.core, whole, (part.bytes, piece)));
                    from = part.end();
                }
                whole.map(|(_, value)| value).ok_or_else(|| unwritten(place))
            }
            Space::Temporary => {
                let core = self.core;
                let exact = self.temporaries.iter().rev().find(|(at, _)| *at == place);
                if let Some((_, value)) = exact {
                    return Ok(value.clone());
                }
                let mut from = place.offset;
                let mut whole = None;
                while from < place.end() {
                    let held = self.temporaries.iter().find(|(at, _)| at.offset <= from && from < at.end());
                    let (at, value) = held.ok_or_else(|| unwritten(place))?;
                    let part = Varnode::temporary(from, (at.end().min(place.end()) - from) as u16);
                    whole = Some(append(core, whole, (part.bytes, slice(core, *at, value, part))));
                    from = part.end();
                }
                whole.map(|(_, value)| value).ok_or_else(|| unwritten(place))
            }
        }
    }

    /// A part of a cell.
    fn read_cell(&mut self, cell: usize, at: Varnode, part: Varnode) -> Value<Concolic<'c>> {
        if let Some((_, value)) = self.written.iter().rev().find(|(written, _)| *written == cell) {
            return slice(self.core, at, value, part);
        }
        let start = self.layout.cells[cell].1;
        let Some(shade) = self.shadow.cell(cell) else {
            let from = start + (part.offset - at.offset) as usize;
            let bits = Bits::from_le_bytes(&self.file[from..from + usize::from(part.bytes)]);
            return Value::Word(Word { bits, term: None });
        };
        self.uses_input = true;
        let bits = Bits::from_le_bytes(&self.file[start..start + usize::from(at.bytes)]);
        let value = match shade {
            Shade::Word(term) => Value::Word(Word { bits, term: Some(term) }),
            Shade::Truth(formula) => Value::Truth(Truth { holds: !bits.is_zero(), formula: Some(formula) }),
        };
        slice(self.core, at, &value, part)
    }

    fn write(&mut self, place: Varnode, value: Value<Concolic<'c>>) -> Result<(), MeaningError> {
        match place.space {
            Space::Constant => Err(MeaningError::IllFormed("a constant is written".to_owned())),
            Space::Register => {
                let mut from = place.offset;
                while from < place.end() {
                    let cell = self.layout.cell(from)?;
                    let at = self.layout.cells[cell].0;
                    let part = Varnode::register(from, (at.end().min(place.end()) - from) as u16);
                    let mut piece = slice(self.core, place, &value, part);
                    if part != at {
                        piece = self.spliced(cell, at, part, &piece);
                    }
                    match self.written.iter_mut().find(|(written, _)| *written == cell) {
                        Some(known) => known.1 = piece,
                        None => self.written.push((cell, piece)),
                    }
                    from = part.end();
                }
                Ok(())
            }
            Space::Temporary => {
                self.write_temporary(place, value);
                Ok(())
            }
        }
    }

    /// The value of a cell with a part of it replaced.
    fn spliced(
        &mut self,
        cell: usize,
        at: Varnode,
        part: Varnode,
        piece: &Value<Concolic<'c>>,
    ) -> Value<Concolic<'c>> {
        let mut whole = None;
        if at.offset < part.offset {
            let below = Varnode::register(at.offset, (part.offset - at.offset) as u16);
            whole = Some((below.bytes, self.read_cell(cell, at, below)));
        }
        let mut whole = append(self.core, whole, (part.bytes, piece.clone()));
        if part.end() < at.end() {
            let above = Varnode::register(part.end(), (at.end() - part.end()) as u16);
            let piece = self.read_cell(cell, at, above);
            whole = append(self.core, Some(whole), (above.bytes, piece));
        }
        whole.1
    }

    fn write_temporary(&mut self, place: Varnode, value: Value<Concolic<'c>>) {
        let mut index = 0;
        while index < self.temporaries.len() {
            let at = self.temporaries[index].0;
            if at == place {
                self.temporaries[index].1 = value;
                return;
            }
            if !at.overlaps(place) {
                index += 1;
                continue;
            }
            let (_, old) = self.temporaries.swap_remove(index);
            for (from, until) in [(at.offset, place.offset), (place.end(), at.end())] {
                if from < until {
                    let part = Varnode::temporary(from, (until - from) as u16);
                    self.temporaries.push((part, slice(self.core, at, &old, part)));
                }
            }
            index = 0;
        }
        self.temporaries.push((place, value));
    }
}

fn unwritten(place: Varnode) -> MeaningError {
    MeaningError::IllFormed(format!("{place:?} is read before it is written"))
}

/// The bits of `part` in the value of `whole`.
fn slice<'c>(
    core: &Concolic<'c>,
    whole: Varnode,
    value: &Value<Concolic<'c>>,
    part: Varnode,
) -> Value<Concolic<'c>> {
    if part.bytes == whole.bytes {
        return value.clone();
    }
    let word = value.word(core, whole.width());
    let low = 8 * (part.offset - whole.offset) as Width;
    Value::Word(core.extract(whole.width(), low, part.width(), &word))
}

/// Puts a piece above what there is so far.
fn append<'c>(
    core: &Concolic<'c>,
    below: Option<(u16, Value<Concolic<'c>>)>,
    (bytes, piece): (u16, Value<Concolic<'c>>),
) -> (u16, Value<Concolic<'c>>) {
    let Some((so_far, value)) = below else { return (bytes, piece) };
    let low = value.word(core, so_far * 8);
    let high = piece.word(core, bytes * 8);
    (so_far + bytes, Value::Word(core.concat(bytes * 8, so_far * 8, &high, &low)))
}
