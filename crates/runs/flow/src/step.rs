//! What one instruction computed from what: its lifted operations, run over the remembering reading.
//!
//! The meaning of every operation is the one in `parallax_ir`. Here is only what the state is: the bytes of the register file
//! and of memory before the instruction, each a source when it is read, and what the instruction writes on top of them.

use crate::reading::{Byte, Remembering, Sources, Truth, Word, join};
use parallax_ir::meaning::{MeaningError, Value, evaluate};
use parallax_ir::{Instruction, Op, Processor, Space, Trap, Varnode};
use parallax_op::Bits;
use parallax_process::registers::Registers;
use parallax_sem::{ByteOrder, Core};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// What is followed besides values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Follow {
    /// The addresses of loads and stores.
    pub addresses: bool,
    /// What decides inside an instruction: the condition of a move, the count of a loop.
    pub conditions: bool,
}

/// A byte that an instruction reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// Of the register file, by its place there.
    Register(u32),
    /// Of memory.
    Memory(u64),
}

/// A byte that an instruction writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// What it is now.
    pub value: u8,
    /// What it was computed from: numbers of [`Effects::sources`].
    pub from: Sources,
}

/// What an instruction did.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The bytes it read, in the order in which it did, with their values.
    pub sources: Vec<(Source, u8)>,
    /// The bytes it wrote, by place in the register file.
    pub registers: BTreeMap<u32, Written>,
    /// The bytes it wrote to memory.
    pub memory: BTreeMap<u64, Written>,
}

/// Why it cannot be said what an instruction did.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// It has no meaning here.
    #[error(transparent)]
    Meaning(#[from] MeaningError),
    /// It stops or faults: it makes no step.
    #[error("the instruction does not complete")]
    Stops,
}

/// Operations of one instruction at most.
const MOST_OPERATIONS: usize = 1 << 20;

struct Run<'a> {
    processor: &'a Processor,
    registers: &'a Registers,
    follow: Follow,
    /// Reads a byte of memory as it was before the instruction.
    load: &'a mut dyn FnMut(u64) -> Option<u8>,
    numbers: FxHashMap<Source, u32>,
    temporaries: FxHashMap<u64, (u8, Byte)>,
    written: FxHashMap<Source, (u8, Byte)>,
    effects: Effects,
    /// What decided so far.
    decided: Sources,
}

/// What an instruction does from a state: registers, and memory byte by byte.
pub fn effects(
    instruction: &Instruction,
    registers: &Registers,
    load: &mut dyn FnMut(u64) -> Option<u8>,
    follow: Follow,
) -> Result<Effects, Unknown> {
    let processor = registers.processor().clone();
    let mut run = Run {
        processor: &processor,
        registers,
        follow,
        load,
        numbers: FxHashMap::default(),
        temporaries: FxHashMap::default(),
        written: FxHashMap::default(),
        effects: Effects::default(),
        decided: Sources::new(),
    };
    run.run(instruction)?;
    let Run { written, mut effects, .. } = run;
    let pc = registers.offset(processor.pc).map(|at| at as u32..at as u32 + u32::from(processor.pc.bytes));
    for (place, (value, byte)) in written {
        let written = Written { value, from: byte.from };
        match place {
            Source::Register(at) if pc.as_ref().is_some_and(|pc| pc.contains(&at)) => {}
            Source::Register(at) => drop(effects.registers.insert(at, written)),
            Source::Memory(at) => drop(effects.memory.insert(at, written)),
        }
    }
    Ok(effects)
}

/// The places of the register file that an instruction may write.
pub fn register_writes(instruction: &Instruction, registers: &Registers) -> Vec<std::ops::Range<u32>> {
    let pc = registers.processor().pc;
    let outs = instruction.ops.iter().filter_map(Op::out);
    let mut ranges: Vec<std::ops::Range<u32>> = outs
        .filter(|out| out.space == Space::Register && !out.overlaps(pc))
        .filter_map(|out| {
            let at = registers.offset(out)? as u32;
            Some(at..at + u32::from(out.bytes))
        })
        .collect();
    ranges.sort_by_key(|range| (range.start, range.end));
    ranges.dedup();
    ranges
}

impl Run<'_> {
    fn run(&mut self, instruction: &Instruction) -> Result<(), Unknown> {
        let mut index = 0;
        let mut count = 0;
        while let Some(op) = instruction.ops.get(index) {
            count += 1;
            if count > MOST_OPERATIONS {
                return Err(MeaningError::Loop(MOST_OPERATIONS).into());
            }
            index += 1;
            match op {
                Op::Load { out, address } => {
                    let at = self.word(*address)?;
                    let mut word = self.load(at.bits.to_u64().unwrap_or(0), out.bytes)?;
                    self.add_address(&mut word, &at);
                    self.write(*out, word)?;
                }
                Op::Store { address, value } => {
                    let at = self.word(*address)?;
                    let mut word = self.word(*value)?;
                    self.add_address(&mut word, &at);
                    self.store(at.bits.to_u64().unwrap_or(0), &word);
                }
                Op::Branch { when, to } => {
                    if self.decide(*when)? {
                        index = usize::from(*to);
                    }
                }
                Op::Jump { when, .. } => {
                    if self.decide(*when)? {
                        return Ok(());
                    }
                }
                Op::Trap { when, trap } => {
                    if self.decide(*when)? {
                        let completes = matches!(trap, Trap::SystemCall | Trap::Breakpoint);
                        return if completes { Ok(()) } else { Err(Unknown::Stops) };
                    }
                }
                Op::Select { out, when, then, otherwise } => {
                    let truth = self.truth(*when)?;
                    let (then, otherwise) = (self.word(*then)?, self.word(*otherwise)?);
                    let word = self.select(&truth, &then, &otherwise);
                    self.write(*out, word)?;
                }
                _ => {
                    let processor = self.processor;
                    let value = evaluate(&Remembering, processor, op, |place| {
                        self.word(place).map(Value::Word).map_err(|unknown| match unknown {
                            Unknown::Meaning(error) => error,
                            Unknown::Stops => MeaningError::IllFormed(String::from("a read that stops")),
                        })
                    })?;
                    if let Some(out) = op.out() {
                        let word = value.word(&Remembering, out.width());
                        self.write(out, word)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A choice between two values that were there follows the side taken; with a constant on a side it is a
    /// computation, and what decides counts.
    fn select(&self, when: &Truth, then: &Word, otherwise: &Word) -> Word {
        let is_constant = |word: &Word| word.bytes.iter().all(|byte| byte.from.is_empty());
        if self.follow.conditions || is_constant(then) || is_constant(otherwise) {
            return Remembering.cond(then.bits.width(), when, then, otherwise);
        }
        if when.holds { then.clone() } else { otherwise.clone() }
    }

    fn add_address(&self, word: &mut Word, address: &Word) {
        if self.follow.addresses {
            let from = address.sources();
            word.bytes.iter_mut().for_each(|byte| join(&mut byte.from, &from));
        }
    }

    fn decide(&mut self, when: Option<Varnode>) -> Result<bool, Unknown> {
        let Some(when) = when else { return Ok(true) };
        let truth = self.truth(when)?;
        if self.follow.conditions {
            join(&mut self.decided, &truth.from);
        }
        Ok(truth.holds)
    }

    fn truth(&mut self, place: Varnode) -> Result<Truth, Unknown> {
        let word = self.word(place)?;
        Ok(Remembering.val_to_bool(place.width(), &word))
    }

    /// What a place holds.
    fn word(&mut self, place: Varnode) -> Result<Word, Unknown> {
        if place.space == Space::Constant {
            let bits = Bits::new(place.width(), u128::from(place.offset));
            return Ok(Remembering.constant(&bits));
        }
        let mut values: SmallVec<[u8; 16]> = SmallVec::new();
        let mut bytes = SmallVec::new();
        for low in 0..place.bytes {
            let (value, byte) = match place.space {
                Space::Temporary => self.temporary(place, low)?,
                _ => self.register(place, low)?,
            };
            values.push(value);
            bytes.push(byte);
        }
        Ok(Word { bits: Bits::from_le_bytes(&values), bytes })
    }

    fn temporary(&self, place: Varnode, low: u16) -> Result<(u8, Byte), Unknown> {
        let at = self.temporary_at(place, low);
        let missing = || MeaningError::IllFormed(String::from("a temporary is read before it is written"));
        Ok(self.temporaries.get(&at).cloned().ok_or_else(missing)?)
    }

    /// Where the byte number `low` of a temporary is.
    fn temporary_at(&self, place: Varnode, low: u16) -> u64 {
        match self.processor.order {
            ByteOrder::Little => place.offset + u64::from(low),
            ByteOrder::Big => place.end() - 1 - u64::from(low),
        }
    }

    fn place_of(&self, place: Varnode) -> Result<u32, Unknown> {
        let unknown = || MeaningError::IllFormed(String::from("a register that is none"));
        Ok(self.registers.offset(place).map(|at| at as u32).ok_or_else(unknown)?)
    }

    fn register(&mut self, place: Varnode, low: u16) -> Result<(u8, Byte), Unknown> {
        let at = self.place_of(place)? + u32::from(low);
        let source = Source::Register(at);
        if let Some(known) = self.written.get(&source) {
            return Ok(known.clone());
        }
        let value = self.registers.bytes()[at as usize];
        Ok((value, Byte::of(self.number(source, value))))
    }

    fn number(&mut self, source: Source, value: u8) -> u32 {
        let sources = &mut self.effects.sources;
        *self.numbers.entry(source).or_insert_with(|| {
            sources.push((source, value));
            sources.len() as u32 - 1
        })
    }

    fn write(&mut self, place: Varnode, word: Word) -> Result<(), Unknown> {
        let mut values: SmallVec<[u8; 16]> = SmallVec::from_elem(0, usize::from(place.bytes));
        word.bits.write_le_bytes(&mut values);
        for (low, value) in values.into_iter().enumerate() {
            let mut byte = word.bytes.get(low).cloned().unwrap_or_default();
            self.add_decided(&mut byte);
            match place.space {
                Space::Temporary => {
                    let at = self.temporary_at(place, low as u16);
                    self.temporaries.insert(at, (value, byte));
                }
                Space::Register => {
                    let at = self.place_of(place)? + low as u32;
                    self.written.insert(Source::Register(at), (value, byte));
                }
                Space::Constant => {
                    return Err(MeaningError::IllFormed(String::from("a constant is written")).into());
                }
            }
        }
        Ok(())
    }

    fn add_decided(&self, byte: &mut Byte) {
        if !self.decided.is_empty() {
            join(&mut byte.from, &self.decided);
            byte.copy = None;
        }
    }

    /// The address of byte number `low` of an access.
    fn address(&self, start: u64, bytes: u16, low: u16) -> u64 {
        start.wrapping_add(u64::from(self.processor.order.index(bytes, low)))
    }

    fn load(&mut self, start: u64, count: u16) -> Result<Word, Unknown> {
        let mut values: SmallVec<[u8; 16]> = SmallVec::new();
        let mut bytes = SmallVec::new();
        for low in 0..count {
            let source = Source::Memory(self.address(start, count, low));
            let (value, byte) = match self.written.get(&source) {
                Some(known) => known.clone(),
                None => {
                    let Source::Memory(at) = source else { unreachable!("just made") };
                    let value = (self.load)(at).ok_or(Unknown::Stops)?;
                    (value, Byte::of(self.number(source, value)))
                }
            };
            values.push(value);
            bytes.push(byte);
        }
        Ok(Word { bits: Bits::from_le_bytes(&values), bytes })
    }

    fn store(&mut self, start: u64, word: &Word) {
        let count = word.bytes.len() as u16;
        let mut values: SmallVec<[u8; 16]> = SmallVec::from_elem(0, usize::from(count));
        word.bits.write_le_bytes(&mut values);
        for low in 0..count {
            let mut byte = word.bytes[usize::from(low)].clone();
            self.add_decided(&mut byte);
            let at = self.address(start, count, low);
            self.written.insert(Source::Memory(at), (values[usize::from(low)], byte));
        }
    }
}
