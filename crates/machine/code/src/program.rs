//! Some code, and the processor it is for.

use crate::Image;
use parallax_ir::meaning::Rom;
use parallax_ir::{Instruction, Processor, Register};
use parallax_sem::Table;
use parallax_sleigh::{Language, LiftError, Lifter};
use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

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

/// A lifter that programs share: making one starts a process, which takes longer than most programs run. It tells
/// instructions apart by address and bytes; in Thumb also by what lies before them, so programs that are used in turns
/// have no address with different bytes.
pub type SharedLifter = Rc<RefCell<Lifter>>;

/// A stretch of code of one processor.
pub struct Program {
    pub(crate) processor: Rc<Processor>,
    lifter: SharedLifter,
    /// For the processor's second encoding, once it is met.
    alternate: OnceCell<RefCell<Lifter>>,
    pub(crate) image: Image,
    pub(crate) rom: Rc<Rom>,
    /// Initial data, zero elsewhere.
    pub(crate) memory: Table,
    /// The same and the read-only bytes, for those who evaluate terms about memory.
    whole_memory: OnceCell<Table>,
    /// Where execution starts.
    pub entry: u64,
    /// The addresses that were asked for: what is listed.
    pub range: Range<u64>,
    /// Whether execution goes on in other code of the image; otherwise leaving the range ends it.
    whole_image: bool,
    /// Whether the symbolic reading knows nothing of control registers.
    pub(crate) open_controls: std::cell::Cell<bool>,
}

impl Program {
    /// Bytes that lie at `address` and start there.
    pub fn from_bytes(lifter: &SharedLifter, address: u64, bytes: Vec<u8>) -> Result<Self, ProgramError> {
        let range = address..address.saturating_add(bytes.len() as u64);
        Self::new(lifter, Image::of_code(address, bytes), address, range, false)
    }

    /// The code in `range` of an image, starting at `entry`, and what it calls if it may use the whole image.
    pub fn new(
        lifter: &SharedLifter,
        image: Image,
        entry: u64,
        range: Range<u64>,
        whole_image: bool,
    ) -> Result<Self, ProgramError> {
        if range.is_empty() {
            return Err(ProgramError::Empty);
        }
        if !range.contains(&entry) || image.code_from(entry).is_none() {
            return Err(ProgramError::Outside(entry));
        }
        // What was lifted for another program may have had other bytes around it.
        lifter.borrow_mut().forget();
        let processor = lifter.borrow().processor().clone();
        let rom = if image.bare { Rc::default() } else { image.rom() };
        let memory = image.memory(processor.address_bytes * 8, false);
        let (lifter, alternate) = (lifter.clone(), OnceCell::new());
        Ok(Program {
            processor,
            lifter,
            alternate,
            rom,
            memory,
            whole_memory: OnceCell::new(),
            image,
            entry,
            range,
            whole_image,
            open_controls: std::cell::Cell::new(false),
        })
    }

    /// From now on, nothing is taken for granted about registers that say how to compute, such as the rounding mode:
    /// the program runs after another one, or from states that name them.
    pub fn open_controls(&self) {
        self.open_controls.set(true);
    }

    /// Whether execution goes on at an address.
    pub(crate) fn contains(&self, address: u64) -> bool {
        if !self.whole_image {
            return self.range.contains(&address);
        }
        self.image.code_from(address).is_some() || self.image.external(address).is_some()
    }

    /// Names of addresses, in order.
    pub fn names(&self) -> &[(u64, String)] {
        &self.image.names
    }

    /// Memory before the program starts, with everything in it that loads find.
    pub(crate) fn whole_memory(&self) -> &Table {
        if self.rom.is_empty() {
            return &self.memory;
        }
        self.whole_memory.get_or_init(|| self.image.memory(self.processor.address_bytes * 8, true))
    }

    /// Whether control may go on in the whole image: of a function.
    pub fn is_whole_image(&self) -> bool {
        self.whole_image
    }

    /// Memory before the program starts: initial data, zero elsewhere.
    pub fn initial_memory(&self) -> &Table {
        &self.memory
    }

    /// The processor.
    pub fn processor(&self) -> &Rc<Processor> {
        &self.processor
    }

    /// The instruction at an address of the program.
    pub fn instruction(&self, address: u64) -> Result<Rc<Instruction>, LiftError> {
        let bytes = self.image.code_from(address).unwrap_or_default();
        let lifter = if self.image.is_alternate(address) { self.alternate()? } else { &self.lifter };
        // The lifter looks no further than a few dozen bytes; a longer tail would only be copied about.
        lifter.borrow_mut().lift(address, &bytes[..bytes.len().min(512)])
    }

    /// The lifter for the second encoding; a processor without one keeps to the first.
    fn alternate(&self) -> Result<&RefCell<Lifter>, LiftError> {
        if let Some(known) = self.alternate.get() {
            return Ok(known);
        }
        let Some(language) = Language::find(&self.processor.name).and_then(Language::alternate) else {
            return Ok(&self.lifter);
        };
        let made = RefCell::new(Lifter::new(language)?);
        Ok(self.alternate.get_or_init(|| made))
    }

    /// What lies in the range, from its start to its end: instructions, and places where there is none, behind which the
    /// next place is looked at that can have one. An instruction that is decoded and not modelled has its length all the
    /// same. Data among code makes few places without one; at a thousand it stops.
    pub fn listing(&self) -> Vec<Result<Rc<Instruction>, (u64, LiftError)>> {
        const MOST: usize = 1000;
        let mut listing = Vec::new();
        let (mut at, mut without) = (self.range.start, 0);
        while self.range.contains(&at) && without < MOST {
            let next = match self.instruction(at) {
                Ok(instruction) => {
                    let next = instruction.next();
                    listing.push(Ok(instruction));
                    next
                }
                Err(error) => {
                    let length = self.length_without(&error);
                    without += match error {
                        LiftError::Worker(_) => MOST,
                        LiftError::Unsupported { .. } => 0,
                        _ => 1,
                    };
                    listing.push(Err((at, error)));
                    at.saturating_add(length)
                }
            };
            if next <= at {
                break;
            }
            at = next;
        }
        listing
    }

    /// How far behind a place without an instruction the next one is looked for.
    pub(crate) fn length_without(&self, error: &LiftError) -> u64 {
        match error {
            LiftError::Unsupported { length, .. } => (*length).into(),
            _ => self.unit(),
        }
    }

    /// How many bytes lie between places where instructions can begin.
    fn unit(&self) -> u64 {
        match self.processor.name.as_str() {
            "aarch64" | "arm" | "mips" | "mipsel" | "powerpc" | "powerpc64" | "powerpc64le" => 4,
            "thumb" | "riscv64" => 2,
            _ => 1,
        }
    }

    /// The bytes of an instruction.
    pub fn bytes(&self, instruction: &Instruction) -> &[u8] {
        let from = self.image.code_from(instruction.address).unwrap_or_default();
        &from[..from.len().min(usize::from(instruction.length))]
    }

    /// An address with the name it lies under: `0x1139 (main+0x4)`.
    pub fn describe(&self, address: u64) -> String {
        let names = self.names();
        let below = names.partition_point(|(start, _)| *start <= address);
        match below.checked_sub(1).map(|index| &names[index]) {
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
            "x86-64" | "x86" | "x86-16" => {
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
