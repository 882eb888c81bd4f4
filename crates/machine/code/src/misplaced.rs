//! Places that control cannot come to: within an instruction, in data, outside the code.

use crate::Program;
use parallax_ir::Sweep;
use std::fmt;
use std::ops::Range;

/// Why no instruction begins at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misplaced {
    /// There is no code at all.
    NoCode(u64),
    /// It lies outside what was given: from the first address up to the second.
    Outside(u64, u64, u64),
    /// It lies within an instruction, which begins at an address.
    Inside(u64, String, String),
    /// What lies there is no instruction.
    NoInstruction(u64),
}

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misplaced::NoCode(at) => write!(f, "there is no code at {at:#x}"),
            Misplaced::Outside(at, start, end) => {
                write!(f, "{at:#x} is outside the code, which lies from {start:#x} up to {end:#x}")
            }
            Misplaced::Inside(at, text, start) => {
                write!(f, "no instruction begins at {at:#x}; it is in the middle of `{text}` at {start}")
            }
            Misplaced::NoInstruction(at) => write!(f, "there is no instruction at {at:#x}"),
        }
    }
}

impl Program {
    /// Why no instruction begins at an address; nothing where one does, where the bytes or the range end, and at a function of
    /// another file.
    pub fn misplaced(&self, address: u64) -> Option<Misplaced> {
        let is_end = !self.is_whole_image() && address == self.range.end;
        if is_end || self.image.external(address).is_some() {
            return None;
        }
        let Some(rest) = self.image.code_from(address) else { return Some(Misplaced::NoCode(address)) };
        let code = if self.is_whole_image() {
            self.function_around(address, rest)
        } else if self.range.contains(&address) {
            self.range.clone()
        } else {
            return Some(Misplaced::Outside(address, self.range.start, self.range.end));
        };
        let sweep = Sweep::new(code, |at| self.instruction(at).map_err(|error| self.length_without(&error)));
        if sweep.begins(address) {
            return None;
        }
        Some(match sweep.around(address).and_then(|at| self.instruction(at).ok()) {
            Some(around) => Misplaced::Inside(address, around.text.clone(), self.describe(around.address)),
            None => Misplaced::NoInstruction(address),
        })
    }

    /// From the name before an address up to the next one, within one stretch of code, of which `rest` lies from the address on.
    fn function_around(&self, address: u64, rest: &[u8]) -> Range<u64> {
        let names = self.names();
        let next = names.partition_point(|(start, _)| *start <= address);
        let end_of = |from: u64, code: &[u8]| from.saturating_add(code.len() as u64);
        let end = end_of(address, rest);
        let is_here =
            |start: &u64| self.image.code_from(*start).is_some_and(|code| end_of(*start, code) == end);
        let start = next.checked_sub(1).map(|index| names[index].0).filter(is_here);
        start.unwrap_or(address)..names.get(next).map_or(end, |(start, _)| end.min(*start))
    }
}
