//! Some code, and the processor it is for.

use parallax_ir::{Instruction, Processor, Register};
use parallax_sleigh::{LiftError, Lifter};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// Bytes at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Where they lie.
    pub address: u64,
    /// They.
    pub bytes: Vec<u8>,
}

impl Segment {
    fn from(&self, address: u64) -> Option<&[u8]> {
        let skip = usize::try_from(address.checked_sub(self.address)?).ok()?;
        self.bytes.get(skip..).filter(|rest| !rest.is_empty())
    }
}

/// Why there is no program.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ProgramError {
    /// Nothing to execute.
    #[error("no code: the range is empty")]
    Empty,
    /// An address that no code is at.
    #[error("no code at {0:#x}")]
    Outside(u64),
    /// The specification, or the bytes.
    #[error(transparent)]
    Lift(#[from] LiftError),
}

/// A stretch of code of one processor.
pub struct Program {
    pub(crate) processor: Rc<Processor>,
    lifter: RefCell<Lifter>,
    segments: Vec<Segment>,
    /// Where execution starts.
    pub entry: u64,
    /// The addresses that belong to the program; leaving them ends it.
    pub range: Range<u64>,
    /// Names of addresses, for messages and for `--path`, in order.
    pub names: Vec<(u64, String)>,
}

impl Program {
    /// Bytes that lie at `address` and start there.
    pub fn from_bytes(lifter: Lifter, address: u64, bytes: Vec<u8>) -> Result<Self, ProgramError> {
        let range = address..address.saturating_add(bytes.len() as u64);
        Self::new(lifter, vec![Segment { address, bytes }], address, range, Vec::new())
    }

    /// The addresses in `range` of the segments, starting at `entry`.
    pub fn new(
        lifter: Lifter,
        segments: Vec<Segment>,
        entry: u64,
        range: Range<u64>,
        mut names: Vec<(u64, String)>,
    ) -> Result<Self, ProgramError> {
        if range.is_empty() {
            return Err(ProgramError::Empty);
        }
        if !range.contains(&entry) || !segments.iter().any(|segment| segment.from(entry).is_some()) {
            return Err(ProgramError::Outside(entry));
        }
        names.sort();
        let processor = lifter.processor().clone();
        Ok(Program { processor, lifter: RefCell::new(lifter), segments, entry, range, names })
    }

    /// The processor.
    pub fn processor(&self) -> &Rc<Processor> {
        &self.processor
    }

    /// The instruction at an address of the program.
    pub fn instruction(&self, address: u64) -> Result<Rc<Instruction>, LiftError> {
        let bytes = self.segments.iter().find_map(|segment| segment.from(address)).unwrap_or_default();
        // The lifter looks no further than a few dozen bytes; a longer tail would only be copied about.
        self.lifter.borrow_mut().lift(address, &bytes[..bytes.len().min(512)])
    }

    /// The instructions from the start of the range to its end, one behind the other, and what stopped the listing if
    /// it was not the end.
    pub fn listing(&self) -> (Vec<Rc<Instruction>>, Option<LiftError>) {
        let mut listing = Vec::new();
        let mut at = self.range.start;
        while self.range.contains(&at) {
            match self.instruction(at) {
                Ok(instruction) => {
                    let next = instruction.next();
                    listing.push(instruction);
                    if next <= at {
                        break;
                    }
                    at = next;
                }
                Err(error) => return (listing, Some(error)),
            }
        }
        (listing, None)
    }

    /// The bytes of an instruction.
    pub fn bytes(&self, instruction: &Instruction) -> &[u8] {
        let from =
            self.segments.iter().find_map(|segment| segment.from(instruction.address)).unwrap_or_default();
        &from[..from.len().min(usize::from(instruction.length))]
    }

    /// An address with the name it lies under: `0x1139 (main+0x4)`.
    pub fn describe(&self, address: u64) -> String {
        let below = self.names.partition_point(|(start, _)| *start <= address);
        match below.checked_sub(1).map(|index| &self.names[index]) {
            Some((start, name)) if *start == address => format!("{address:#x} ({name})"),
            Some((start, name)) if address - start < 0x10_0000 => {
                format!("{address:#x} ({name}+{:#x})", address - start)
            }
            _ => format!("{address:#x}"),
        }
    }

    /// The registers that are worth naming even when the code does not touch them: cells with a short, common name.
    pub(crate) fn is_common(&self, register: &Register) -> bool {
        let name = register.name.as_str();
        let numbered = |prefix: &str| {
            name.strip_prefix(prefix)
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
        };
        match self.processor.name.as_str() {
            "x86-64" | "x86" => {
                const X86: &[&str] = &[
                    "RAX", "RBX", "RCX", "RDX", "RSI", "RDI", "RBP", "RSP", "RIP", "EAX", "EBX", "ECX",
                    "EDX", "ESI", "EDI", "EBP", "ESP", "EIP", "CF", "PF", "AF", "ZF", "SF", "OF", "DF",
                ];
                X86.contains(&name) || (self.processor.name == "x86-64" && numbered("R"))
            }
            _ => {
                const OTHERS: &[&str] = &[
                    "PC", "SP", "LR", "CTR", "RA", "GP", "TP", "FP", "NG", "ZR", "CY", "OV", "XER_CA",
                    "XER_SO", "XER_OV",
                ];
                OTHERS.contains(&name)
                    || ["R", "X", "A", "S", "T", "CR"].iter().any(|prefix| numbered(prefix))
            }
        }
    }
}
