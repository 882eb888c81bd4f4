//! Lifting with a cache, overrides, and protection against the library.

use crate::convert::{ConvertError, convert};
use crate::worker::{Failure, Worker};
use crate::x86::{Sample, Shape};
use crate::{Language, Specification, aarch64, arm, mips, powerpc, refused, riscv, sla, x86};
use parallax_ir::{Instruction, Processor, Register, Varnode};
use parallax_sem::ByteOrder;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Why there is no instruction.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LiftError {
    /// The bytes are no instruction of the processor.
    #[error("no instruction at {address:#x}: {reason}")]
    Undecodable {
        /// The address of the instruction.
        address: u64,
        /// What the decoder says.
        reason: String,
    },
    /// They are one, but its specification uses something this program does not have.
    #[error("the instruction at {address:#x} ({text}) is beyond this program: {reason}")]
    Unsupported {
        /// The address of the instruction.
        address: u64,
        /// How many bytes it has.
        length: u32,
        /// Its assembly text.
        text: String,
        /// The reason it has no meaning.
        reason: ConvertError,
    },
    /// The specification cannot be read.
    #[error("cannot read the specification of {name}: {reason}")]
    Specification {
        /// The name of the processor.
        name: String,
        /// What the library says.
        reason: String,
    },
    /// The process that does the lifting cannot be started.
    #[error("cannot start the lifting process: {0}")]
    Worker(String),
}

/// The longest instruction, delay slot included; with room to spare.
const MAX_INSTRUCTION: usize = 32;

/// How many instructions are asked for at once: few where control may jump away, more and more while it does not.
const RUN: u64 = 16;
const LONGEST_RUN: u64 = 128;
/// How many bytes go along with a question at most.
const WINDOW: usize = 512;

/// Turns bytes of one processor into instructions.
pub struct Lifter {
    processor: Rc<Processor>,
    worker: Worker,
    overrides: Overrides,
    /// Instructions by address, each with the bytes it was made from.
    cache: FxHashMap<u64, Cached>,
    /// Where the last run ended, and how many instructions were asked for.
    last_run: (u64, u64),
}

/// Our own meaning for some instructions, asked before the specification.
enum Overrides {
    X86(Box<x86::Overrides>),
    PowerPc(powerpc::Overrides),
    Riscv(riscv::Overrides),
    Arm(arm::Overrides),
    Aarch64(aarch64::Overrides),
    Mips(mips::Overrides),
    None,
}

impl Overrides {
    fn lift(&self, address: u64, bytes: &[u8]) -> x86::Answer {
        match self {
            Overrides::X86(table) => table.lift(address, bytes),
            Overrides::PowerPc(table) => answer(table.lift(address, bytes)),
            Overrides::Riscv(table) => table.lift(address, bytes),
            Overrides::Arm(table) => answer(table.lift(address, bytes, arm::ALWAYS)),
            Overrides::Aarch64(table) => table.lift(address, bytes),
            Overrides::Mips(table) => answer(table.lift(address, bytes)),
            Overrides::None => x86::Answer::NotOurs,
        }
    }
}

fn answer(ours: Option<Instruction>) -> x86::Answer {
    ours.map_or(x86::Answer::NotOurs, x86::Answer::Lifted)
}

struct Cached {
    bytes: Box<[u8]>,
    instruction: Rc<Instruction>,
}

impl Lifter {
    /// A lifter for a processor that comes with Parallax.
    pub fn new(language: &Language) -> Result<Self, LiftError> {
        // Our own specifications load, so that the library is not started before it is needed, which may be never.
        let specification = language.specification();
        let mut lifter = Self::build(specification, &language.contents())?;
        lifter.overrides = match language.name {
            "x86-64" => Overrides::X86(Box::new(x86::Overrides::new(&lifter.processor, 64))),
            "x86" => Overrides::X86(Box::new(x86::Overrides::new(&lifter.processor, 32))),
            "x86-16" => Overrides::X86(Box::new(x86::Overrides::new(&lifter.processor, 16))),
            "powerpc" | "powerpc64" | "powerpc64le" => {
                powerpc::Overrides::new(&lifter.processor).map_or(Overrides::None, Overrides::PowerPc)
            }
            "riscv64" => riscv::Overrides::new(&lifter.processor).map_or(Overrides::None, Overrides::Riscv),
            "arm" => arm::Overrides::new(&lifter.processor, false).map_or(Overrides::None, Overrides::Arm),
            "thumb" => arm::Overrides::new(&lifter.processor, true).map_or(Overrides::None, Overrides::Arm),
            "aarch64" => {
                aarch64::Overrides::new(&lifter.processor).map_or(Overrides::None, Overrides::Aarch64)
            }
            "mips" | "mipsel" => {
                mips::Overrides::new(&lifter.processor).map_or(Overrides::None, Overrides::Mips)
            }
            _ => Overrides::None,
        };
        Ok(lifter)
    }

    /// A lifter for a specification of the user's own.
    pub fn custom(specification: Specification) -> Result<Self, LiftError> {
        // Whether the library can read it is known only to the library.
        let contents = sla::Contents { facts: None, ..sla::read(&specification.sla) };
        Self::build(specification, &contents)
    }

    fn build(specification: Specification, contents: &sla::Contents) -> Result<Self, LiftError> {
        let name = specification.name.clone();
        let failed = |reason: String| LiftError::Specification { name: name.clone(), reason };
        let mut user_ops = contents.user_operations.clone();
        user_ops.extend(refused::NAMES.map(str::to_owned));
        let mut worker = Worker::new(specification);
        let facts =
            contents.facts.clone().map_or_else(|| worker.facts(), Ok).map_err(|failure| match failure {
                Failure::Refused(message) => failed(message),
                Failure::Died => failed("the library crashed on it".to_owned()),
                Failure::Start(error) => LiftError::Worker(error.to_string()),
            })?;
        if facts.word_bytes != 1 {
            return Err(failed(format!("addresses count units of {} bytes, not bytes", facts.word_bytes)));
        }
        let address_bytes = match u16::try_from(facts.address_bytes) {
            Ok(bytes @ 1..=8) => bytes,
            _ => return Err(failed(format!("addresses of {} bytes", facts.address_bytes))),
        };
        let specification = worker.specification();
        let mut registers = Vec::new();
        for (name, offset, bytes) in &facts.registers {
            // Scratch registers that specifications of x86 use inside an instruction are wide; 64 bytes is the limit.
            let Ok(bytes @ 1..=64) = u16::try_from(*bytes) else { continue };
            if *offset > u64::from(u32::MAX) {
                continue;
            }
            let name = name.to_uppercase();
            // No instruction that knows these is modelled; without them a YMM register is whole.
            if name.starts_with("ZMM") && matches!(specification.name.as_str(), "x86-64" | "x86" | "x86-16") {
                continue;
            }
            let kind = specification.kind(&name, bytes);
            registers.push(Register { name, place: Varnode::register(*offset, bytes), kind });
        }
        let is_powerpc = matches!(name.as_str(), "powerpc" | "powerpc64" | "powerpc64le");
        if is_powerpc {
            powerpc::registers(&mut registers, address_bytes == 8);
        }
        let wanted = specification.program_counter().map(str::to_uppercase);
        let guesses = ["PC", "RIP", "EIP", "IP", "NIP"];
        let pc = wanted
            .iter()
            .map(String::as_str)
            .chain(guesses)
            .find_map(|name| {
                registers
                    .iter()
                    .find(|register| register.name == name && register.place.bytes == address_bytes)
            })
            .map(|register| register.place);
        let pc = pc.unwrap_or_else(|| {
            // A specification need not have the program counter as a register: then one is added behind the others.
            let end =
                registers.iter().map(|register| register.place.end()).max().unwrap_or(0).next_multiple_of(16);
            let place = Varnode::register(end, address_bytes);
            registers.push(Register { name: "PC".to_owned(), place, kind: parallax_ir::RegisterKind::Word });
            place
        });
        let order = if facts.big_endian { ByteOrder::Big } else { ByteOrder::Little };
        let mut processor = Processor::new(name.clone(), order, address_bytes, pc, registers, user_ops);
        if matches!(name.as_str(), "x86-64" | "x86" | "x86-16") {
            processor.initial = x86::INITIAL.to_vec();
        }
        processor.initial.extend_from_slice(match name.as_str() {
            "aarch64" => &[("FPCR", 0), ("FPSR", 0)],
            "arm" | "thumb" => &[("FPSCR", 0)],
            "mips" | "mipsel" => &[("FCSR", 0)],
            "riscv64" => &[("FFLAGS", 0), ("FRM", 0), ("FCSR", 0)],
            _ if is_powerpc => &powerpc::INITIAL,
            _ => &[],
        });
        Ok(Lifter {
            processor: Rc::new(processor),
            worker,
            overrides: Overrides::None,
            cache: FxHashMap::default(),
            last_run: (0, 0),
        })
    }

    /// Leaves the texts of instructions empty from now on, where that saves work: who runs instructions does not read
    /// them.
    pub fn without_texts(mut self) -> Self {
        if let Overrides::X86(table) = &mut self.overrides {
            table.texts = false;
        }
        self
    }

    /// The processor.
    pub fn processor(&self) -> &Rc<Processor> {
        &self.processor
    }

    /// The instruction at `address`, where `bytes` begin. More bytes than one instruction has are welcome; what they
    /// hold beyond it may be lifted ahead.
    pub fn lift(&mut self, address: u64, bytes: &[u8]) -> Result<Rc<Instruction>, LiftError> {
        if let Some(cached) = self.cache.get(&address)
            && bytes.starts_with(&cached.bytes)
        {
            return Ok(cached.instruction.clone());
        }
        match self.lift_ours(address, bytes) {
            x86::Answer::Lifted(instruction) => return Ok(self.remember(bytes, instruction)),
            x86::Answer::Invalid(reason) => {
                return Err(LiftError::Undecodable { address, reason: reason.to_owned() });
            }
            x86::Answer::Refused(length, text, why) => {
                let reason = ConvertError::Refused(why);
                return Err(LiftError::Unsupported { address, length, text, reason });
            }
            x86::Answer::NotOurs => {}
        }
        self.lift_by_specification(address, bytes)
    }

    /// What instruction begins `bytes`, apart from where it stands; none where that is not known before it is lifted.
    pub fn shape(&self, address: u64, bytes: &[u8]) -> Option<Shape> {
        match &self.overrides {
            Overrides::X86(table) => table.shape(address, bytes),
            _ => None,
        }
    }

    /// The same instruction at two other places, by which to tell its addresses from its other numbers.
    pub fn samples(&self, bytes: &[u8]) -> Option<[Sample; 2]> {
        match &self.overrides {
            Overrides::X86(table) => table.samples(bytes),
            _ => None,
        }
    }

    /// What the override table says. An instruction of Thumb may stand in an `it` block, under a condition.
    fn lift_ours(&self, address: u64, bytes: &[u8]) -> x86::Answer {
        match &self.overrides {
            Overrides::Arm(table) if table.thumb => match self.block_condition(address) {
                Some(condition) => answer(table.lift(address, bytes, condition)),
                None => x86::Answer::NotOurs,
            },
            table => table.lift(address, bytes),
        }
    }

    /// The same without the override table: what the specification alone says.
    pub fn lift_by_specification(
        &mut self,
        address: u64,
        bytes: &[u8],
    ) -> Result<Rc<Instruction>, LiftError> {
        // With the x86 table in front, what comes next is probably not the library's to lift.
        let run = match self.last_run {
            _ if matches!(self.overrides, Overrides::X86(_)) => 1,
            (end, before) if end == address => (2 * before).clamp(RUN, LONGEST_RUN),
            _ => RUN,
        };
        let window = &bytes[..bytes.len().min(MAX_INSTRUCTION * run as usize).min(WINDOW)];
        let (lifted, refusal) = match self.worker.lift(address, window, run) {
            // The instruction at fault may be a later one of the run.
            Err(Failure::Died) if run > 1 => {
                let first = &bytes[..bytes.len().min(MAX_INSTRUCTION)];
                self.worker.lift(address, first, 1)
            }
            answer => answer,
        }
        .map_err(|failure| match failure {
            Failure::Refused(reason) => {
                LiftError::Specification { name: self.processor.name.clone(), reason }
            }
            Failure::Died => LiftError::Undecodable {
                address,
                reason: "the specification crashes on these bytes".to_owned(),
            },
            Failure::Start(error) => LiftError::Worker(error.to_string()),
        })?;
        let mut result = None;
        let mut at = address;
        let mut rest = bytes;
        for lifted in &lifted {
            let converted = self
                .check_extension(rest)
                .and_then(|()| convert(lifted, at, self.processor.address_bytes))
                .map(|instruction| self.complete(instruction, rest))
                .and_then(|instruction| self.check_registers(instruction));
            match converted {
                Ok(instruction) => {
                    // Of what is lifted ahead some may be ours.
                    let instruction = match self.lift_ours(at, rest) {
                        x86::Answer::Lifted(ours) if at != address => ours,
                        _ => instruction,
                    };
                    let next = instruction.next();
                    let length = usize::from(instruction.length).min(rest.len());
                    let instruction = self.remember(rest, instruction);
                    result.get_or_insert(instruction);
                    at = next;
                    rest = &rest[length..];
                }
                Err(reason) if result.is_none() => {
                    let (length, text) = (lifted.length, lifted.text.clone());
                    return Err(LiftError::Unsupported { address, length, text, reason });
                }
                Err(_) => break,
            }
        }
        self.last_run = (at, run);
        result.ok_or_else(|| LiftError::Undecodable {
            address,
            reason: refusal.unwrap_or_else(|| "no bytes".to_owned()),
        })
    }

    /// The condition of an instruction of Thumb: that of the `it` block it stands in, if it stands in one. Nothing if the
    /// block is there but not what lies between.
    fn block_condition(&self, address: u64) -> Option<u32> {
        let block = (1..=8).find_map(|back| {
            let start = address.wrapping_sub(2 * back);
            let cached = self.cache.get(&start)?;
            arm::block(&cached.instruction.text).map(|conditions| (start, conditions))
        });
        let Some((start, conditions)) = block else { return Some(arm::ALWAYS) };
        let mut at = start.wrapping_add(2);
        for condition in conditions {
            if at == address {
                return Some(condition);
            }
            at = self.cache.get(&at)?.instruction.next();
        }
        Some(arm::ALWAYS)
    }

    /// Forgets what was lifted, for when the bytes have changed in ways the cache cannot see.
    pub fn forget(&mut self) {
        self.cache.clear();
    }

    /// Gives a meaning to what the specification only names.
    fn complete(&self, instruction: Instruction, bytes: &[u8]) -> Instruction {
        if matches!(self.overrides, Overrides::Aarch64(_)) {
            return aarch64::complete(instruction, bytes, &self.processor);
        }
        if self.processor.name.starts_with("powerpc") {
            return powerpc::complete(instruction, &self.processor);
        }
        if matches!(self.overrides, Overrides::Mips(_)) {
            return mips::complete(instruction, &self.processor);
        }
        if matches!(self.overrides, Overrides::Arm(_)) {
            return arm::complete(instruction, bytes, &self.processor);
        }
        if matches!(self.overrides, Overrides::Riscv(_)) {
            return riscv::complete(instruction, &self.processor);
        }
        instruction
    }

    /// Extensions whose meaning in the specification nobody has checked.
    fn check_extension(&self, bytes: &[u8]) -> Result<(), ConvertError> {
        let Some(Ok(bytes)) = bytes.get(..4).map(<[u8; 4]>::try_from) else { return Ok(()) };
        if !matches!(self.overrides, Overrides::PowerPc(_)) {
            return Ok(());
        }
        let word = match self.processor.order {
            ByteOrder::Big => u32::from_be_bytes(bytes),
            ByteOrder::Little => u32::from_le_bytes(bytes),
        };
        powerpc::refusal(word).map_or(Ok(()), |why| Err(ConvertError::Refused(why)))
    }

    /// No operation may name bytes outside the register file.
    fn check_registers(&self, instruction: Instruction) -> Result<Instruction, ConvertError> {
        let mut inside = true;
        let mut check = |place: Varnode| {
            inside &=
                place.space != parallax_ir::Space::Register || place.end() <= self.processor.register_bytes;
        };
        for op in &instruction.ops {
            op.out().into_iter().for_each(&mut check);
            op.inputs(&mut check);
        }
        if inside { Ok(instruction) } else { Err(ConvertError::Space) }
    }

    fn remember(&mut self, bytes: &[u8], instruction: Instruction) -> Rc<Instruction> {
        let instruction = Rc::new(instruction);
        let length = usize::from(instruction.length).min(bytes.len());
        let cached = Cached { bytes: bytes[..length].into(), instruction: instruction.clone() };
        self.cache.insert(instruction.address, cached);
        instruction
    }
}
