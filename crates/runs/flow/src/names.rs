//! Names of registers, and texts of instructions.

use crate::node::Piece;
use crate::wanted::Place;
use parallax_process::Process;
use parallax_process::elf::Machine;
use parallax_process::outside::Tid;
use parallax_sleigh::{Language, Lifter};
use std::collections::BTreeMap;
use std::ops::Range;

/// The registers of a machine, and a lifter that keeps texts.
pub struct Names {
    machine: Machine,
    /// By place, the smallest first.
    registers: Vec<(String, Range<u32>)>,
    lifter: Option<Lifter>,
}

impl Names {
    /// Those of a process.
    pub fn new(process: &mut Process) -> Names {
        let machine = process.machine();
        let registers = &process.world().registers;
        let all = registers.processor().registers.iter();
        let place = all.filter_map(|register| {
            let start = registers.offset(register.place)? as u32;
            Some((register.name.clone(), start..start + u32::from(register.place.bytes)))
        });
        let mut registers: Vec<_> = place.collect();
        registers.sort_by_key(|(_, range)| range.end - range.start);
        Names { machine, registers, lifter: None }
    }

    /// The place of a register, named in any case.
    pub fn find(&self, name: &str) -> Option<(String, Range<u32>)> {
        let found = self.registers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(found.clone())
    }

    /// The place of a register that the machine has.
    pub fn place(&self, name: &str) -> Range<u32> {
        self.find(name).map_or(0..0, |(_, place)| place)
    }

    /// The assembly text of an instruction.
    pub fn text(&mut self, pc: u64, bytes: &[u8]) -> String {
        if self.lifter.is_none() {
            self.lifter = Language::find(self.machine.name()).and_then(|language| Lifter::new(language).ok());
        }
        let lifted = self.lifter.as_mut().and_then(|lifter| lifter.lift(pc, bytes).ok());
        lifted.map_or_else(|| format!("{bytes:02x?}"), |instruction| instruction.text.clone())
    }

    /// Bytes next to each other, as registers and ranges of memory.
    pub fn pieces(&self, bytes: &BTreeMap<Place, u8>) -> Vec<Piece> {
        let mut runs: Vec<(Place, Vec<u8>)> = Vec::new();
        for (place, value) in bytes {
            if let Some((first, values)) = runs.last_mut()
                && follows(*first, values.len() as u64, *place)
            {
                values.push(*value);
            } else {
                runs.push((*place, vec![*value]));
            }
        }
        let mut pieces = Vec::new();
        for (first, values) in runs {
            match first {
                Place::Memory(address) => pieces.push(Piece::Memory { address, bytes: values }),
                Place::Register(thread, at) => self.registers_of(thread, at, &values, &mut pieces),
            }
        }
        pieces
    }

    /// Cuts bytes of the register file into registers.
    fn registers_of(&self, thread: Tid, mut at: u32, mut values: &[u8], pieces: &mut Vec<Piece>) {
        while !values.is_empty() {
            let end = at + values.len() as u32;
            let inside = |(_, range): &&(String, Range<u32>)| range.start == at && range.end <= end;
            let around = |(_, range): &&(String, Range<u32>)| range.start <= at && at < range.end;
            // The largest that lies within, or else the smallest that the first byte is in.
            let found = self.registers.iter().rev().find(inside);
            let found = found.or_else(|| self.registers.iter().find(around));
            let (name, low, length) = match found {
                Some((name, range)) => (name.clone(), (at - range.start) as usize, range.end.min(end) - at),
                None => (String::from("?"), 0, 1),
            };
            let (own, rest) = values.split_at(length as usize);
            pieces.push(Piece::Register { thread, name, low, bytes: own.to_vec() });
            (at, values) = (at + length, rest);
        }
    }
}

/// Whether a place comes right behind so many bytes from another on.
fn follows(first: Place, length: u64, next: Place) -> bool {
    match (first, next) {
        (Place::Register(thread, at), Place::Register(other, next)) => {
            thread == other && u64::from(at) + length == u64::from(next)
        }
        (Place::Memory(at), Place::Memory(next)) => at.wrapping_add(length) == next,
        _ => false,
    }
}
