//! The other processors against QEMU: single instructions, made of random words, from random states.
//!
//! A small program (`qemu/harness.c`), compiled for each processor and run under QEMU's user emulation, executes one
//! instruction per record and says whether it raised a signal. A [`Port`] knows how registers lie in a record, which words
//! to try, and what an instruction needs to find its operands in memory; everything else is here. Branches, system
//! instructions and exclusive accesses are not among the words: those are exercised by compiled functions.

pub mod aarch64;
pub mod arm;
pub mod mips;
pub mod riscv;

use crate::compare::{Mismatch, Ours, SymbolicCase};
use crate::random::Random;
use parallax_ir::meaning::{State, Value, exec};
use parallax_ir::{Instruction, Processor, RegisterKind, Trap};
use parallax_op::Bits;
use parallax_sem::{ByteOrder, Concrete, Table};
use parallax_sleigh::{LiftError, Lifter};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

/// Where the instruction and its data lie.
pub const SLOT: u64 = 0x1008_0000;
/// The memory that instructions work on.
pub const ARENA: u64 = 0x1200_0000;
const ARENA_BYTES: usize = 1024;
const HEAD: usize = 32;
const SIGILL: u32 = 4;

/// A part of a record that holds a register, or a bit of one.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The register by the specification's name.
    pub register: String,
    /// Where in the record the number starts that it is a part of, and how many bytes that has.
    pub at: usize,
    /// Bytes of that number.
    pub bytes: usize,
    /// The lowest bit of the part.
    pub low: u16,
    /// How many bits it has.
    pub width: u16,
}

/// A processor under QEMU.
pub trait Port {
    /// As `--lang` names it.
    fn language(&self) -> &'static str;
    /// How to compile for it.
    fn options(&self) -> &'static [&'static str];
    /// QEMU with its options.
    fn emulator(&self) -> &'static [&'static str];
    /// Bytes of a general register.
    fn word(&self) -> usize;
    /// Which parts of a record are which registers.
    fn slots(&self) -> Vec<Slot>;
    /// A word to try, if this one is to be tried.
    fn code(&self, random: &mut Random) -> Option<Vec<u8>>;
    /// A state for it.
    fn state(&self, record: &mut Record, random: &mut Random);
    /// Parts of registers that are left out of the comparison, by the text of the instruction.
    fn is_left_out(&self, _instruction: &Instruction, _register: &str) -> bool {
        false
    }
}

/// Where things are in a record of a processor with words of so many bytes.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Bytes of a word.
    pub word: usize,
    /// The order of bytes.
    pub order: ByteOrder,
}

impl Layout {
    /// Where a general register is.
    pub fn general(self, number: usize) -> usize {
        HEAD + self.word * number
    }

    /// Where a special register is.
    pub fn special(self, number: usize) -> usize {
        HEAD + self.word * (32 + number)
    }

    /// Where a vector register of eight bytes is.
    pub fn vector(self, number: usize) -> usize {
        HEAD + self.word * 40 + 8 * number
    }

    fn memory(self) -> usize {
        self.vector(64)
    }

    fn bytes(self) -> usize {
        self.memory() + ARENA_BYTES
    }
}

/// An instruction and a state, as the harness reads and writes them.
#[derive(Clone)]
pub struct Record {
    layout: Layout,
    bytes: Vec<u8>,
}

impl Record {
    fn new(layout: Layout, code: &[u8]) -> Self {
        let mut record = Record { layout, bytes: vec![0; layout.bytes()] };
        record.bytes[..code.len()].copy_from_slice(code);
        record.put(20, 4, code.len() as u128);
        record
    }

    /// A number in it.
    pub fn number(&self, at: usize, bytes: usize) -> u128 {
        let part = &self.bytes[at..at + bytes];
        let join = |all: u128, byte: &u8| all << 8 | u128::from(*byte);
        match self.layout.order {
            ByteOrder::Little => part.iter().rev().fold(0, join),
            ByteOrder::Big => part.iter().fold(0, join),
        }
    }

    /// Puts a number into it.
    pub fn put(&mut self, at: usize, bytes: usize, value: u128) {
        for index in 0..bytes {
            let place = match self.layout.order {
                ByteOrder::Little => index,
                ByteOrder::Big => bytes - 1 - index,
            };
            self.bytes[at + place] = (value >> (8 * index)) as u8;
        }
    }

    /// Sets a general register.
    pub fn set_general(&mut self, number: usize, value: u64) {
        let (at, word) = (self.layout.general(number), self.layout.word);
        self.put(at, word, u128::from(value));
    }

    /// Sets a special register.
    pub fn set_special(&mut self, number: usize, value: u64) {
        let (at, word) = (self.layout.special(number), self.layout.word);
        self.put(at, word, u128::from(value));
    }

    /// Sets eight bytes of the vector registers.
    pub fn set_vector(&mut self, number: usize, value: u64) {
        let at = self.layout.vector(number);
        self.put(at, 8, u128::from(value));
    }

    /// The instruction.
    pub fn code(&self) -> &[u8] {
        let length = self.number(20, 4) as usize;
        &self.bytes[..length]
    }

    fn signal(&self) -> u32 {
        self.number(16, 4) as u32
    }

    fn memory(&self) -> &[u8] {
        &self.bytes[self.layout.memory()..]
    }

    fn value(&self, slot: &Slot) -> Bits {
        let number = self.number(slot.at, slot.bytes) >> slot.low;
        let mask = if slot.width == 128 { u128::MAX } else { (1 << slot.width) - 1 };
        Bits::new(slot.width, number & mask)
    }
}

/// What a run found.
#[derive(Default)]
pub struct Findings {
    /// How many states each form was run from.
    pub forms: BTreeMap<String, u64>,
    /// How many of those the symbolic reading was held against.
    pub symbolic: u64,
    /// Words that no processor has, and we neither.
    pub undefined: u64,
    /// Words that we refuse and the processor executes, by what we say.
    pub refused: BTreeMap<String, u64>,
    /// Words that the processor refuses and we execute.
    pub accepted: BTreeMap<String, u64>,
    /// Accesses beyond the arena.
    pub faults: u64,
    /// Disagreements.
    pub mismatches: Vec<Mismatch>,
}

impl Findings {
    /// How many states were compared.
    pub fn states(&self) -> u64 {
        self.forms.values().sum()
    }
}

/// Builds the harness for a processor in a folder.
pub fn build(port: &dyn Port, folder: &Path) -> io::Result<PathBuf> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/qemu/harness.c");
    let program = folder.join(format!("harness-{}", port.language()));
    let place = |section: &str, address: u64| format!("-Wl,--section-start={section}={address:#x}");
    let status = Command::new("clang-19")
        .args([
            "-O1",
            "-ffreestanding",
            "-fno-builtin",
            "-nostdlib",
            "-static",
            "-fuse-ld=lld-19",
            "-fno-pic",
        ])
        .args([place(".text", SLOT - 0x4_0000), place(".slot", SLOT), place(".arena", ARENA)])
        .arg("-Wl,--image-base=0x10000000")
        .args(port.options())
        .arg(source)
        .arg("-o")
        .arg(&program)
        .status()?;
    if status.success() { Ok(program) } else { Err(io::Error::other("the harness does not compile")) }
}

fn under_qemu(port: &dyn Port, program: &Path, records: &[Record]) -> io::Result<Vec<Record>> {
    let [emulator, options @ ..] = port.emulator() else { return Err(io::Error::other("no emulator")) };
    let mut child = Command::new(emulator)
        .args(options)
        .arg(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().expect("piped");
    let bytes: Vec<u8> = records.iter().flat_map(|record| record.bytes.iter().copied()).collect();
    // Writing and reading at once, or both sides wait for ever.
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = child.wait_with_output()?;
    let _ = writer.join();
    let layout = records.first().map(|record| record.layout);
    let after: Vec<Record> = layout.map_or(Vec::new(), |layout| {
        let chunks = output.stdout.chunks_exact(layout.bytes());
        chunks.map(|bytes| Record { layout, bytes: bytes.to_vec() }).collect()
    });
    if after.len() == records.len() {
        Ok(after)
    } else {
        let at = records.get(after.len()).map_or(String::new(), |record| hex(record.code()));
        Err(io::Error::other(format!("QEMU stopped after {} records, at {at}", after.len())))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The form of an instruction: its text with registers of a size made alike, and numbers.
fn form(processor: &Processor, text: &str) -> String {
    let mut form = String::new();
    let mut word = String::new();
    let finish = |word: &mut String, form: &mut String| {
        match processor.register(word) {
            Some(register) if !form.is_empty() => form.push_str(&format!("r{}", register.place.bytes)),
            _ if word.starts_with("0x") => form.push('#'),
            _ => {
                for character in word.chars() {
                    match character.is_ascii_digit() {
                        false => form.push(character),
                        true if !form.ends_with('#') => form.push('#'),
                        true => {}
                    }
                }
            }
        }
        word.clear();
    };
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            word.push(character);
            continue;
        }
        finish(&mut word, &mut form);
        if !character.is_whitespace() || !form.ends_with(' ') {
            form.push(character);
        }
    }
    finish(&mut word, &mut form);
    form
}

/// Every processor.
pub fn all() -> Vec<Box<dyn Port>> {
    vec![
        Box::new(aarch64::Aarch64),
        Box::new(riscv::Riscv),
        Box::new(arm::Arm { thumb: false }),
        Box::new(arm::Arm { thumb: true }),
        Box::new(mips::Mips { order: ByteOrder::Big }),
        Box::new(mips::Mips { order: ByteOrder::Little }),
    ]
}

/// Holds the semantics of a processor against QEMU: so many words, each from one state.
pub fn run(
    port: &dyn Port,
    lifter: &mut Lifter,
    harness: &Path,
    words: usize,
    seed: u64,
) -> io::Result<Findings> {
    let processor = lifter.processor().clone();
    let layout = Layout { word: port.word(), order: processor.order };
    let slots = port.slots();
    let mut random = Random::new(seed);
    let mut records = Vec::with_capacity(words);
    while records.len() < words {
        let Some(code) = port.code(&mut random) else { continue };
        let mut record = Record::new(layout, &code);
        for at in (layout.memory()..layout.bytes()).step_by(16) {
            record.put(at, 16, random.vector());
        }
        port.state(&mut record, &mut random);
        records.push(record);
    }
    let after = under_qemu(port, harness, &records)?;
    let mut findings = Findings::default();
    for (number, (before, after)) in records.iter().zip(&after).enumerate() {
        let case = Case { port, processor: &processor, slots: &slots, before, after };
        // Terms of large vectors take a while: one in four.
        case.compare(lifter, number % 4 == 0, &mut findings);
    }
    Ok(findings)
}

struct Case<'a> {
    port: &'a dyn Port,
    processor: &'a Rc<Processor>,
    slots: &'a [Slot],
    before: &'a Record,
    after: &'a Record,
}

impl Case<'_> {
    /// The state before, with `elsewhere` in all memory outside the arena.
    fn initial(&self, elsewhere: u8) -> State<Concrete> {
        let key = self.processor.address_bytes * 8;
        let mut memory = Table::new(Bits::new(8, elsewhere.into()));
        for (index, byte) in self.before.memory().iter().enumerate() {
            memory.set(Bits::new(key, u128::from(ARENA) + index as u128), Bits::new(8, (*byte).into()));
        }
        let mut state = State::with_memory(self.processor, memory);
        for slot in self.slots {
            let register = self.processor.register(&slot.register).expect("a register of the processor");
            let value = self.before.value(slot);
            let value = match register.kind {
                RegisterKind::Word => Value::Word(value.zext(register.place.width())),
                RegisterKind::Flag => Value::Truth(!value.is_zero()),
            };
            state.write(&Concrete, register.place, value).expect("part of the register file");
        }
        state
    }

    fn compare(&self, lifter: &mut Lifter, symbolic: bool, findings: &mut Findings) {
        let code = self.before.code();
        let signal = self.after.signal();
        let refuse = |findings: &mut Findings, why: String| match signal {
            SIGILL => findings.undefined += 1,
            _ => *findings.refused.entry(why).or_default() += 1,
        };
        let instruction = match lifter.lift(SLOT, code) {
            Ok(instruction) => instruction,
            Err(LiftError::Undecodable { .. }) => {
                return refuse(findings, format!("not decoded {}", hex(code)));
            }
            Err(error) => return refuse(findings, error.to_string()),
        };
        let start = self.initial(0);
        let ours =
            Ours { state: exec(&Concrete, &instruction, start.clone()).map_err(|error| error.to_string()) };
        let result = match &ours.state {
            Ok(result) => result,
            Err(error) => {
                return refuse(findings, format!("{}: {error}", form(self.processor, &instruction.text)));
            }
        };
        let trap = result.stops.iter().find(|(guard, _)| *guard).map(|(_, trap)| *trap);
        let name = form(self.processor, &instruction.text);
        let mut differences = match (signal, trap) {
            (SIGILL, Some(Trap::Undefined)) => {
                findings.undefined += 1;
                return;
            }
            (SIGILL, None) => {
                *findings.accepted.entry(name).or_default() += 1;
                return;
            }
            (7 | 10 | 11, _) => {
                findings.faults += 1;
                return;
            }
            (5, Some(Trap::Breakpoint)) | (8, Some(Trap::Divide | Trap::Float)) => Vec::new(),
            (0, None) => {
                let differences = self.differences(&instruction, result);
                // By chance, an address may lie in the harness: what is there, only QEMU knows.
                let other = exec(&Concrete, &instruction, self.initial(0xff));
                let outside = |other| self.differences(&instruction, &other) != differences;
                if !differences.is_empty() && other.is_ok_and(outside) {
                    findings.faults += 1;
                    return;
                }
                differences
            }
            _ => vec![format!("signal {signal} against {trap:?}")],
        };
        if symbolic {
            let terms = SymbolicCase::new(self.processor, &instruction);
            // What stops by name only under a condition is refused where that is open.
            match terms.refusal() {
                Some(why) => return refuse(findings, format!("{name}: {why}")),
                None => findings.symbolic += 1,
            }
            differences.extend(terms.differences(self.processor, &start, &ours));
        }
        *findings.forms.entry(name.clone()).or_default() += 1;
        if !differences.is_empty() {
            let message = format!("{} [{}]: {}", instruction.text, hex(code), differences.join("; "));
            findings.mismatches.push(Mismatch { form: name, message });
        }
    }

    fn differences(&self, instruction: &Instruction, result: &State<Concrete>) -> Vec<String> {
        let mut differences = Vec::new();
        for slot in self.slots {
            let place = self.processor.register(&slot.register).expect("a register of the processor").place;
            if self.port.is_left_out(instruction, &slot.register) {
                continue;
            }
            let mine = result.read(&Concrete, place).expect("part of the register file");
            let mine = mine.word(&Concrete, place.width());
            let theirs = self.after.value(slot).zext(place.width());
            if mine != theirs {
                let before = self.before.value(slot);
                differences.push(format!("{} is {theirs:?}, ours {mine:?}, was {before:?}", slot.register));
            }
        }
        let key = self.processor.address_bytes * 8;
        for (index, theirs) in self.after.memory().iter().enumerate() {
            let mine = result.memory.get(&Bits::new(key, u128::from(ARENA) + index as u128)).to_u64();
            if mine != Some(u64::from(*theirs)) {
                differences.push(format!("byte {index} is {theirs:#x}, ours {mine:?}"));
            }
        }
        if !differences.is_empty() {
            let named = instruction.text.to_uppercase();
            let named: Vec<&str> = named.split(|c: char| !c.is_ascii_alphanumeric()).collect();
            let is_named = |register: &str| {
                let vector = register.strip_prefix('Q').map(|number| format!("V{number}"));
                let mode = matches!(register, "FCSR" | "FPCR" | "FPSCR");
                mode || named.contains(&register)
                    || vector.is_some_and(|vector| named.contains(&vector.as_str()))
            };
            let from = self.slots.iter().filter(|slot| is_named(&slot.register));
            let from: Vec<String> =
                from.map(|slot| format!("{}={:?}", slot.register, self.before.value(slot))).collect();
            differences.push(format!("from {}", from.join(" ")));
        }
        differences
    }
}
