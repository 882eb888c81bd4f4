//! Places in code as users name them: where control is to come to, or is not to.
//!
//! A place that control cannot come to, because no instruction begins there, is a slip of the finger: an answer that no input
//! reaches it would be true and worth nothing.

use crate::block::lift;
use crate::code_place::CodePlace;
use crate::subject::{Subject, SubjectError};
use parallax_ir::Sweep;
use parallax_process::memory::Access;

/// Whether an instruction begins at an address.
enum Start {
    Here,
    /// No: the address is within this one.
    Inside {
        text: String,
        at: u64,
    },
    Unknown,
}

impl Subject {
    /// The place that a user names: an address of the program's file, `FILE:LINE`, or a function.
    pub fn code_place(&mut self, text: &str) -> Result<CodePlace, SubjectError> {
        let line = text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        if let Some((file, line)) = line {
            let addresses = self.symbols().addresses_of_line(file, line);
            if addresses.is_empty() {
                return Err(SubjectError::NoLine(text.to_owned()));
            }
            return Ok(self.passed(CodePlace { addresses, is_known: true, is_passed: false }));
        }
        let (mut address, chooses) = self.named(text)?;
        if chooses {
            address = self.chosen(address).ok_or_else(|| SubjectError::NotChosen(text.to_owned()))?;
        }
        let region = self.process.world().memory.region_at(address);
        if !region.is_some_and(|(_, region)| region.permissions.allow(Access::Execute)) {
            return Err(SubjectError::NoCode(text.to_owned(), address));
        }
        let is_known = match self.begins(address) {
            Start::Here => true,
            Start::Unknown => false,
            Start::Inside { text: instruction, at } => {
                let place = text.to_owned();
                return Err(SubjectError::Inside { place, address, text: instruction, at });
            }
        };
        Ok(self.passed(CodePlace { addresses: vec![address], is_known, is_passed: false }))
    }

    /// Whether an instruction begins at an address: the function around it is read from its start.
    fn begins(&mut self, address: u64) -> Start {
        let Some((_, function)) = self.symbols().function_at(address) else { return Start::Unknown };
        let sweep = Sweep::new(function, |at| lift(&mut self.process, at).ok_or(1));
        match sweep.around(address) {
            _ if sweep.begins(address) => Start::Here,
            Some(at) if !sweep.has_gaps => {
                let text = lift(&mut self.process, at).map_or_else(String::new, |it| it.text.clone());
                Start::Inside { text, at }
            }
            _ => Start::Unknown,
        }
    }

    /// Looks whether the program came to a place on the way to where runs begin.
    fn passed(&mut self, place: CodePlace) -> CodePlace {
        let now = self.process.pc();
        let is_before = |block: u64, subject: &mut Subject| {
            let Some(block) = subject.block(block) else { return false };
            let addresses = block.instructions.iter().map(|analysed| analysed.instruction.address);
            // The last one was left in the middle.
            addresses.take_while(|at| *at != now).any(|at| place.addresses.contains(&at))
        };
        let before: Vec<u64> = self.before.iter().copied().collect();
        let is_passed = before.into_iter().any(|block| is_before(block, self));
        CodePlace { is_passed, ..place }
    }
}
