//! Where instructions begin in a stretch of code: one behind the other from its start, and where jumps lead.
//!
//! On processors whose instructions have any length, a jump may lead into the middle of an instruction that was read from the start:
//! another one begins there too, and others behind it.

use crate::Instruction;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// The instructions of a stretch of code.
pub struct Sweep {
    /// Each by where it begins, with where it ends.
    instructions: BTreeMap<u64, u64>,
    /// Whether there were places without an instruction: behind them it is not certain where the next one begins.
    pub has_gaps: bool,
}

impl Sweep {
    /// Reads a stretch of code. Where there is no instruction, `lift` says how far behind the next one is looked for.
    pub fn new(code: Range<u64>, mut lift: impl FnMut(u64) -> Result<Rc<Instruction>, u64>) -> Sweep {
        let mut sweep = Sweep { instructions: BTreeMap::new(), has_gaps: false };
        let mut jumps: Vec<u64> = Vec::new();
        let mut at = code.start;
        while code.contains(&at) {
            let length = match lift(at) {
                Ok(instruction) => sweep.add(&instruction, &mut jumps),
                Err(length) => {
                    sweep.has_gaps = true;
                    length
                }
            };
            match at.checked_add(length) {
                Some(next) if next > at => at = next,
                _ => break,
            }
        }
        while let Some(at) = jumps.pop() {
            if code.contains(&at)
                && !sweep.begins(at)
                && let Ok(instruction) = lift(at)
            {
                sweep.add(&instruction, &mut jumps);
                jumps.push(instruction.next());
            }
        }
        sweep
    }

    /// Takes in an instruction, and where it leads; its length.
    fn add(&mut self, instruction: &Instruction, jumps: &mut Vec<u64>) -> u64 {
        self.instructions.insert(instruction.address, instruction.next());
        jumps.extend(instruction.destinations());
        instruction.length.into()
    }

    /// Whether an instruction begins at an address.
    pub fn begins(&self, address: u64) -> bool {
        self.instructions.contains_key(&address)
    }

    /// Where the instruction begins that an address is in the middle of; of several, the one that begins last.
    pub fn around(&self, address: u64) -> Option<u64> {
        const LONGEST: u64 = 64;
        let before = self.instructions.range(address.saturating_sub(LONGEST)..address);
        before.rev().find(|(_, end)| **end > address).map(|(start, _)| *start)
    }
}
