//! Fetching instructions, and finding their templates.

use super::Event;
use super::encode::Encoder;
use super::improve::Improver;
use super::liveness::Glance;
use super::node::Slot;
use super::template::{Addresses, Maker, Template};
use crate::memory::{Memory, PAGE};
use crate::registers::Registers;
use parallax_ir::Instruction;
use parallax_sleigh::x86::Shape;
use parallax_sleigh::{LiftError, Lifter};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How many bytes are fetched at once: some ten instructions.
const WINDOW: usize = 64;
/// No instruction of x86 is longer.
const LONGEST: usize = 15;
/// So many instructions are known at most: programs that make code make new ones for ever.
const MOST_KNOWN: usize = 1 << 17;

/// An instruction at its place.
pub enum Piece {
    /// One that was met before, here or elsewhere.
    Known(Rc<Template>, Addresses),
    /// One that has no template, and whether it is one access of memory for all processors.
    Single(Rc<Instruction>, bool),
}

impl Piece {
    /// The address behind it.
    pub fn next(&self) -> u64 {
        match self {
            Piece::Known(_, addresses) => addresses.next,
            Piece::Single(instruction, _) => instruction.next(),
        }
    }

    /// Whether control may go anywhere but to the next instruction.
    pub fn ends(&self) -> bool {
        match self {
            Piece::Known(template, _) => template.glance.ends,
            Piece::Single(instruction, _) => instruction.ends_block(),
        }
    }
}

/// What is known of an instruction that was met before.
#[derive(Clone)]
enum Met {
    /// Nothing: a template takes two liftings, and many an instruction never comes again.
    Once,
    /// It has to be lifted wherever it stands.
    Single,
    Template(Rc<Template>),
}

/// Instructions by address, and what is known of them from other addresses.
pub struct Pieces {
    /// What lifts those that are met for the first time.
    pub lifter: Lifter,
    improver: Improver,
    encoder: Encoder,
    /// By [`parallax_sleigh::x86::Shape::key`].
    templates: FxHashMap<u128, Met>,
    /// The bytes last fetched, the address of the first, and how many could be.
    window: ([u8; WINDOW], u64, usize),
    /// The page that was last marked as one of code.
    marked: Option<u64>,
}

impl Pieces {
    /// Nothing is known yet. The encoder does not watch.
    pub fn new(lifter: Lifter, registers: &Registers, encoder: Encoder) -> Self {
        Pieces {
            lifter,
            improver: Improver::new(registers.bytes().len()),
            encoder,
            templates: FxHashMap::default(),
            window: ([0; WINDOW], 0, 0),
            marked: None,
        }
    }

    /// Memory may have changed since the last instruction was asked for.
    pub fn restart(&mut self) {
        self.window.2 = 0;
        self.marked = None;
    }

    /// The instruction at an address; the pages it is on are watched from now on.
    pub fn get(
        &mut self,
        memory: &mut Memory,
        registers: &Registers,
        at: u64,
        flags: &[Slot],
    ) -> Result<Piece, Event> {
        let start = self.fetch(memory, at)?;
        let shape = self.lifter.shape(at, &self.window.0[start..self.window.2]);
        let template = shape.and_then(|shape| self.template(shape.key, start, registers, flags));
        self.piece(memory, at, shape, template)
    }

    fn piece(
        &mut self,
        memory: &mut Memory,
        at: u64,
        shape: Option<Shape>,
        template: Option<Rc<Template>>,
    ) -> Result<Piece, Event> {
        let (Some(shape), Some(template)) = (shape, template) else { return self.single(memory, at) };
        let next = at.wrapping_add(u64::from(shape.length));
        self.mark(memory, at, next);
        Ok(Piece::Known(template, Addresses { next, target: shape.target }))
    }

    /// The template of the instruction of this key, which begins at `start` of the window, from its second time on.
    fn template(
        &mut self,
        key: u128,
        start: usize,
        registers: &Registers,
        flags: &[Slot],
    ) -> Option<Rc<Template>> {
        match self.templates.get(&key) {
            Some(Met::Template(template)) => return Some(template.clone()),
            Some(Met::Single) => return None,
            Some(Met::Once) => {}
            None => {
                if self.templates.len() >= MOST_KNOWN {
                    self.templates.clear();
                }
                self.templates.insert(key, Met::Once);
                return None;
            }
        }
        let bytes = &self.window.0[start..self.window.2];
        let mut maker = Maker { registers, encoder: &self.encoder, improver: &mut self.improver, flags };
        let locked = is_locked(bytes);
        let samples = self.lifter.samples(bytes);
        let made = samples.and_then(|samples| maker.make(&samples, locked)).map(Rc::new);
        self.templates.insert(key, made.clone().map_or(Met::Single, Met::Template));
        made
    }

    /// The same, lifted where it stands.
    pub fn single(&mut self, memory: &mut Memory, at: u64) -> Result<Piece, Event> {
        let start = self.fetch(memory, at)?;
        let (instruction, locked) = self.lift(memory, at, start)?;
        self.mark(memory, at, instruction.next());
        Ok(Piece::Single(instruction, locked))
    }

    /// What the instruction at an address does to flags and to control. To look at it is not to meet it.
    pub fn glance(
        &mut self,
        memory: &mut Memory,
        registers: &Registers,
        at: u64,
        flags: &[Slot],
    ) -> Result<(Glance, Addresses), Event> {
        let start = self.fetch(memory, at)?;
        let shape = self.lifter.shape(at, &self.window.0[start..self.window.2]);
        let template = shape.and_then(|shape| match self.templates.get(&shape.key)? {
            Met::Template(template) => Some(template.clone()),
            Met::Once | Met::Single => None,
        });
        Ok(match self.piece(memory, at, shape, template)? {
            Piece::Known(template, addresses) => (template.glance.clone(), addresses),
            Piece::Single(instruction, _) => {
                let addresses = Addresses { next: instruction.next(), target: None };
                (Glance::new(&instruction, registers, flags), addresses)
            }
        })
    }

    /// Where in the window the instruction at an address begins.
    fn fetch(&mut self, memory: &mut Memory, at: u64) -> Result<usize, Event> {
        let (bytes, first, count) = &mut self.window;
        let start = at.wrapping_sub(*first);
        let left = (*count as u64).saturating_sub(start);
        // What other processes change is looked at every time.
        if left < LONGEST as u64 || memory.has_watched() {
            *count = 0;
            *count = memory.fetch(at, bytes).map_err(Event::Fetch)?;
            *first = at;
            return Ok(0);
        }
        Ok(start as usize)
    }

    /// Lifts the instruction whose bytes were just fetched.
    fn lift(&mut self, memory: &mut Memory, at: u64, start: usize) -> Result<(Rc<Instruction>, bool), Event> {
        let bytes = &self.window.0[start..self.window.2];
        let instruction = self.lifter.lift(at, bytes).map_err(|error| {
            // An instruction that is cut off by the end of its mapping faults there.
            match (&error, memory.fetch(at.wrapping_add(bytes.len() as u64), &mut [0])) {
                (LiftError::Undecodable { .. }, Err(fault)) if bytes.len() < LONGEST => Event::Fetch(fault),
                _ => Event::Lift(error),
            }
        })?;
        let locked = self.lifter.processor().address_bytes == 8 && is_locked(bytes);
        Ok((instruction, locked))
    }

    fn mark(&mut self, memory: &mut Memory, at: u64, next: u64) {
        for page in [at / PAGE, next.wrapping_sub(1) / PAGE] {
            if self.marked != Some(page) {
                memory.mark_code(page);
                self.marked = Some(page);
            }
        }
    }
}

/// Whether an x86 instruction is one access of memory for all processors: by its prefix, or because it exchanges.
fn is_locked(bytes: &[u8]) -> bool {
    let legacy = |byte: &u8| {
        matches!(byte, 0x66 | 0x67 | 0xf2 | 0xf3 | 0x2e | 0x36 | 0x3e | 0x26 | 0x64 | 0x65 | 0xf0)
    };
    let prefixes = bytes.iter().take_while(|byte| legacy(byte)).count();
    if bytes[..prefixes].contains(&0xf0) {
        return true;
    }
    let rest = &bytes[prefixes..];
    let rest = if rest.first().is_some_and(|byte| byte & 0xf0 == 0x40) { &rest[1..] } else { rest };
    matches!(rest, [0x86 | 0x87, modes, ..] if modes >> 6 != 3)
}
