//! PowerPC, 32-bit and big-endian, against QEMU: single instructions from random states.
//!
//! A small program (`powerpc/harness.c`), cross-compiled and run under `qemu-ppc`, executes one instruction per record.
//! Branches and system instructions are not among the forms: they are exercised by running whole programs. Floats that
//! are not numbers are left out, because the specification does not say what becomes of their payload.

use crate::compare::{Mismatch, Ours, Report, SymbolicCase};
use crate::random::Random;
use parallax_ir::Processor;
use parallax_ir::meaning::{State, Value, exec};
use parallax_op::Bits;
use parallax_sem::{Concrete, Table};
use parallax_sleigh::Lifter;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;

/// Where the instruction and the data lie.
const SLOT: u64 = 0x1100_0000;
const DATA: u64 = 0x1200_0000;
const RECORD: usize = 664;

/// How the fields of an instruction are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fields {
    /// Three general registers.
    Three,
    /// Two general registers.
    Two,
    /// Two general registers and 16 bits.
    Immediate,
    /// Two general registers and three fields of five bits.
    Rotate,
    /// A condition field and two registers.
    Compare,
    /// A condition field, a register and 16 bits.
    CompareImmediate,
    /// Three condition bits.
    Bits,
    /// A condition field from another.
    Field,
    /// One general register.
    One,
    /// One register, and a mask of condition fields.
    Mask,
    /// A register and memory at a register plus a displacement.
    Memory,
    /// The same, and the address goes back to the register.
    MemoryUpdate,
    /// A register and memory at the sum of two registers.
    MemoryIndexed,
    /// Three float registers: result, first, second.
    Floats,
    /// Result, first, multiplier.
    FloatsProduct,
    /// Result and operand.
    Float,
    /// A condition field and two float registers.
    FloatsCompare,
    /// Result, first, multiplier, added.
    FloatsFused,
    /// A condition field.
    FieldAlone,
    /// A register, and as many bytes of memory at a register as a field says.
    String,
    /// Nothing to fill.
    Nothing,
}

/// Extended opcode under primary opcode 31, with room for the record bit.
const fn x(number: u32) -> u32 {
    31 << 26 | number << 1
}

const fn d(number: u32) -> u32 {
    number << 26
}

/// Name, opcode bits, fields, and whether it has a record bit and an overflow bit.
type Row = (&'static str, u32, Fields, bool, bool);

const FORMS: &[Row] = &[
    ("add", x(266), Fields::Three, true, true),
    ("addc", x(10), Fields::Three, true, true),
    ("adde", x(138), Fields::Three, true, true),
    ("addme", x(234), Fields::Two, true, true),
    ("addze", x(202), Fields::Two, true, true),
    ("subf", x(40), Fields::Three, true, true),
    ("subfc", x(8), Fields::Three, true, true),
    ("subfe", x(136), Fields::Three, true, true),
    ("subfme", x(232), Fields::Two, true, true),
    ("subfze", x(200), Fields::Two, true, true),
    ("neg", x(104), Fields::Two, true, true),
    ("mullw", x(235), Fields::Three, true, true),
    ("mulhw", x(75), Fields::Three, true, false),
    ("mulhwu", x(11), Fields::Three, true, false),
    ("divw", x(491), Fields::Three, true, true),
    ("divwu", x(459), Fields::Three, true, true),
    ("addi", d(14), Fields::Immediate, false, false),
    ("addis", d(15), Fields::Immediate, false, false),
    ("addic", d(12), Fields::Immediate, false, false),
    ("addic.", d(13), Fields::Immediate, false, false),
    ("subfic", d(8), Fields::Immediate, false, false),
    ("mulli", d(7), Fields::Immediate, false, false),
    ("ori", d(24), Fields::Immediate, false, false),
    ("oris", d(25), Fields::Immediate, false, false),
    ("xori", d(26), Fields::Immediate, false, false),
    ("xoris", d(27), Fields::Immediate, false, false),
    ("andi.", d(28), Fields::Immediate, false, false),
    ("andis.", d(29), Fields::Immediate, false, false),
    ("and", x(28), Fields::Three, true, false),
    ("andc", x(60), Fields::Three, true, false),
    ("or", x(444), Fields::Three, true, false),
    ("orc", x(412), Fields::Three, true, false),
    ("xor", x(316), Fields::Three, true, false),
    ("nand", x(476), Fields::Three, true, false),
    ("nor", x(124), Fields::Three, true, false),
    ("eqv", x(284), Fields::Three, true, false),
    ("extsb", x(954), Fields::Two, true, false),
    ("extsh", x(922), Fields::Two, true, false),
    ("cntlzw", x(26), Fields::Two, true, false),
    ("slw", x(24), Fields::Three, true, false),
    ("srw", x(536), Fields::Three, true, false),
    ("sraw", x(792), Fields::Three, true, false),
    ("srawi", x(824), Fields::Three, true, false),
    ("rlwinm", d(21), Fields::Rotate, true, false),
    ("rlwimi", d(20), Fields::Rotate, true, false),
    ("rlwnm", d(23), Fields::Rotate, true, false),
    ("cmpw", x(0), Fields::Compare, false, false),
    ("cmplw", x(32), Fields::Compare, false, false),
    ("cmpwi", d(11), Fields::CompareImmediate, false, false),
    ("cmplwi", d(10), Fields::CompareImmediate, false, false),
    ("crand", d(19) | 257 << 1, Fields::Bits, false, false),
    ("crandc", d(19) | 129 << 1, Fields::Bits, false, false),
    ("cror", d(19) | 449 << 1, Fields::Bits, false, false),
    ("crorc", d(19) | 417 << 1, Fields::Bits, false, false),
    ("crxor", d(19) | 193 << 1, Fields::Bits, false, false),
    ("crnand", d(19) | 225 << 1, Fields::Bits, false, false),
    ("crnor", d(19) | 33 << 1, Fields::Bits, false, false),
    ("creqv", d(19) | 289 << 1, Fields::Bits, false, false),
    ("mcrf", d(19), Fields::Field, false, false),
    ("mfcr", x(19), Fields::One, false, false),
    ("mtcrf", x(144), Fields::Mask, false, false),
    ("mfxer", x(339) | 1 << 16, Fields::One, false, false),
    ("mtxer", x(467) | 1 << 16, Fields::One, false, false),
    ("mflr", x(339) | 8 << 16, Fields::One, false, false),
    ("mtlr", x(467) | 8 << 16, Fields::One, false, false),
    ("mfctr", x(339) | 9 << 16, Fields::One, false, false),
    ("mtctr", x(467) | 9 << 16, Fields::One, false, false),
    ("lwz", d(32), Fields::Memory, false, false),
    ("lwzu", d(33), Fields::MemoryUpdate, false, false),
    ("lbz", d(34), Fields::Memory, false, false),
    ("lbzu", d(35), Fields::MemoryUpdate, false, false),
    ("stw", d(36), Fields::Memory, false, false),
    ("stwu", d(37), Fields::MemoryUpdate, false, false),
    ("stb", d(38), Fields::Memory, false, false),
    ("stbu", d(39), Fields::MemoryUpdate, false, false),
    ("lhz", d(40), Fields::Memory, false, false),
    ("lhzu", d(41), Fields::MemoryUpdate, false, false),
    ("lha", d(42), Fields::Memory, false, false),
    ("lhau", d(43), Fields::MemoryUpdate, false, false),
    ("sth", d(44), Fields::Memory, false, false),
    ("sthu", d(45), Fields::MemoryUpdate, false, false),
    ("lwzx", x(23), Fields::MemoryIndexed, false, false),
    ("lbzx", x(87), Fields::MemoryIndexed, false, false),
    ("lhzx", x(279), Fields::MemoryIndexed, false, false),
    ("lhax", x(343), Fields::MemoryIndexed, false, false),
    ("stwx", x(151), Fields::MemoryIndexed, false, false),
    ("stbx", x(215), Fields::MemoryIndexed, false, false),
    ("sthx", x(407), Fields::MemoryIndexed, false, false),
    ("lwbrx", x(534), Fields::MemoryIndexed, false, false),
    ("lhbrx", x(790), Fields::MemoryIndexed, false, false),
    ("stwbrx", x(662), Fields::MemoryIndexed, false, false),
    ("sthbrx", x(918), Fields::MemoryIndexed, false, false),
    ("lfd", d(50), Fields::Memory, false, false),
    ("lfs", d(48), Fields::Memory, false, false),
    ("stfd", d(54), Fields::Memory, false, false),
    ("fadd", d(63) | 21 << 1, Fields::Floats, false, false),
    ("fsub", d(63) | 20 << 1, Fields::Floats, false, false),
    ("fmul", d(63) | 25 << 1, Fields::FloatsProduct, false, false),
    ("fdiv", d(63) | 18 << 1, Fields::Floats, false, false),
    ("fadds", d(59) | 21 << 1, Fields::Floats, false, false),
    ("fsubs", d(59) | 20 << 1, Fields::Floats, false, false),
    ("fmuls", d(59) | 25 << 1, Fields::FloatsProduct, false, false),
    ("fdivs", d(59) | 18 << 1, Fields::Floats, false, false),
    ("fmadd", d(63) | 29 << 1, Fields::FloatsFused, false, false),
    ("fmsub", d(63) | 28 << 1, Fields::FloatsFused, false, false),
    ("fnmadd", d(63) | 31 << 1, Fields::FloatsFused, false, false),
    ("fnmsub", d(63) | 30 << 1, Fields::FloatsFused, false, false),
    ("fmadds", d(59) | 29 << 1, Fields::FloatsFused, false, false),
    ("fmsubs", d(59) | 28 << 1, Fields::FloatsFused, false, false),
    ("fnmadds", d(59) | 31 << 1, Fields::FloatsFused, false, false),
    ("fnmsubs", d(59) | 30 << 1, Fields::FloatsFused, false, false),
    ("fsel", d(63) | 23 << 1, Fields::FloatsFused, false, false),
    ("frsp", d(63) | 12 << 1, Fields::Float, false, false),
    ("fctiw", d(63) | 14 << 1, Fields::Float, false, false),
    ("fctiwz", d(63) | 15 << 1, Fields::Float, false, false),
    ("fnabs", d(63) | 136 << 1, Fields::Float, false, false),
    ("fcmpo", d(63) | 32 << 1, Fields::FloatsCompare, false, false),
    ("lwzux", x(55), Fields::MemoryIndexed, false, false),
    ("lbzux", x(119), Fields::MemoryIndexed, false, false),
    ("lhzux", x(311), Fields::MemoryIndexed, false, false),
    ("lhaux", x(375), Fields::MemoryIndexed, false, false),
    ("stwux", x(183), Fields::MemoryIndexed, false, false),
    ("stbux", x(247), Fields::MemoryIndexed, false, false),
    ("sthux", x(439), Fields::MemoryIndexed, false, false),
    ("lfdu", d(51), Fields::MemoryUpdate, false, false),
    ("stfdu", d(55), Fields::MemoryUpdate, false, false),
    ("stfs", d(52), Fields::Memory, false, false),
    ("lfdx", x(599), Fields::MemoryIndexed, false, false),
    ("stfdx", x(727), Fields::MemoryIndexed, false, false),
    ("stfiwx", x(983), Fields::MemoryIndexed, false, false),
    ("lfsx", x(535), Fields::MemoryIndexed, false, false),
    ("lfsu", d(49), Fields::MemoryUpdate, false, false),
    ("lfsux", x(567), Fields::MemoryIndexed, false, false),
    ("lfdux", x(631), Fields::MemoryIndexed, false, false),
    ("stfsx", x(663), Fields::MemoryIndexed, false, false),
    ("stfsu", d(53), Fields::MemoryUpdate, false, false),
    ("stfsux", x(695), Fields::MemoryIndexed, false, false),
    ("stfdux", x(759), Fields::MemoryIndexed, false, false),
    ("lwarx", x(20), Fields::MemoryIndexed, false, false),
    ("lswi", x(597), Fields::String, false, false),
    ("stswi", x(725), Fields::String, false, false),
    ("dcbz", x(1014), Fields::MemoryIndexed, false, false),
    ("dcbt", x(278), Fields::MemoryIndexed, false, false),
    ("dcbtst", x(246), Fields::MemoryIndexed, false, false),
    ("dcbst", x(54), Fields::MemoryIndexed, false, false),
    ("dcbf", x(86), Fields::MemoryIndexed, false, false),
    ("icbi", x(982), Fields::MemoryIndexed, false, false),
    ("sync", x(598), Fields::Nothing, false, false),
    ("eieio", x(854), Fields::Nothing, false, false),
    ("isync", d(19) | 150 << 1, Fields::Nothing, false, false),
    ("mcrxr", x(512), Fields::FieldAlone, false, false),
    ("fneg", d(63) | 40 << 1, Fields::Float, false, false),
    ("fabs", d(63) | 264 << 1, Fields::Float, false, false),
    ("fmr", d(63) | 72 << 1, Fields::Float, false, false),
    ("fcmpu", d(63), Fields::FloatsCompare, false, false),
];

/// A row with its record and overflow bits chosen.
struct Form {
    name: String,
    word: u32,
    fields: Fields,
}

fn forms() -> Vec<Form> {
    let mut forms = Vec::new();
    for &(name, word, fields, record, overflow) in FORMS {
        for o in 0..=u32::from(overflow) {
            for r in 0..=u32::from(record) {
                let suffix = format!("{}{}", if o == 1 { "o" } else { "" }, if r == 1 { "." } else { "" });
                forms.push(Form { name: format!("{name}{suffix}"), word: word | o << 10 | r, fields });
            }
        }
    }
    forms
}

/// A state, and the instruction to execute from it.
#[derive(Clone)]
struct Record {
    instruction: u32,
    general: [u32; 32],
    cr: u32,
    xer: u32,
    ctr: u32,
    lr: u32,
    floats: [u64; 32],
    memory: [u8; 256],
}

impl Record {
    fn random(form: &Form, random: &mut Random) -> Record {
        let mut record = Record {
            instruction: form.word,
            general: std::array::from_fn(|_| random.interesting() as u32),
            cr: random.number() as u32,
            // Summary overflow, overflow, carry.
            xer: random.number() as u32 & 0xe000_0000,
            ctr: random.number() as u32,
            lr: random.number() as u32,
            floats: std::array::from_fn(|_| number(random)),
            memory: std::array::from_fn(|_| random.number() as u8),
        };
        if form.name.starts_with("lfs") {
            let float = single(random);
            for at in (0..256).step_by(4) {
                record.memory[at..at + 4].copy_from_slice(&float.to_bits().to_be_bytes());
            }
        }
        // Singles are meant for operands that are singles.
        if is_single(&form.name) {
            for float in &mut record.floats {
                *float = f64::from(single(random)).to_bits();
            }
        }
        // Register 31 belongs to the harness.
        let mut register = |limit: u64| 1 + random.below(limit - 1) as u32;
        let (t, a, b) = (register(31), register(31), register(31));
        let three = t << 21 | a << 16 | b << 11;
        let half = random.interesting() as u32 & 0xffff;
        let c = random.below(31) as u32;
        record.instruction |= match form.fields {
            Fields::Three => three,
            Fields::Two => t << 21 | a << 16,
            Fields::Immediate => t << 21 | a << 16 | half,
            Fields::Rotate => three | (random.number() as u32 & 0x7fe),
            Fields::Compare => (t & 7) << 23 | a << 16 | b << 11,
            Fields::CompareImmediate => (t & 7) << 23 | a << 16 | half,
            Fields::Bits => (random.number() as u32 & 0x7fff) << 11,
            Fields::Field => (t & 7) << 23 | (a & 7) << 18,
            Fields::One => t << 21,
            Fields::Mask => t << 21 | (random.number() as u32 & 0xff) << 12,
            Fields::Memory | Fields::MemoryUpdate => {
                let t = if form.fields == Fields::MemoryUpdate && t == a { t % 30 + 1 } else { t };
                let word = if form.name.starts_with("lfs") { !3 } else { !0 };
                record.general[a as usize] =
                    (DATA as u32 + 32 + (random.below(200) as u32 & word)).wrapping_sub(half as i16 as u32);
                t << 21 | a << 16 | half
            }
            Fields::MemoryIndexed => {
                let b = if a == b { a % 30 + 1 } else { b };
                // With update, the address must not go where the value goes.
                let t = (t..t + 3).map(|t| t % 30 + 1).find(|t| *t != a && *t != b).unwrap_or(t);
                let distance = random.number() as u32;
                record.general[b as usize] = distance;
                let aligned = form.name.starts_with("lfs") || form.name == "lwarx";
                let at = random.below(200) as u32 & if aligned { !3 } else { !0 };
                record.general[a as usize] = (DATA as u32 + 32 + at).wrapping_sub(distance);
                // Nothing is loaded or stored by advice to the cache; other bits of it mean other advice.
                let t = if form.name.starts_with("dcb") || form.name == "icbi" { 0 } else { t };
                t << 21 | a << 16 | b << 11
            }
            Fields::Floats => three,
            Fields::FloatsProduct => t << 21 | a << 16 | c << 6,
            Fields::Float => t << 21 | b << 11,
            Fields::FloatsFused => three | c << 6,
            Fields::FieldAlone => (t & 7) << 23,
            Fields::Nothing => 0,
            Fields::String => {
                // The address must not be among what is loaded, nor the harness's register.
                record.general[28] = DATA as u32 + 32 + random.below(180) as u32;
                (1 + t % 20) << 21 | 28 << 16 | (1 + c % 28) << 11
            }
            Fields::FloatsCompare => (t & 7) << 23 | a << 16 | b << 11,
        };
        record
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(RECORD);
        let words = [self.instruction, 0]
            .into_iter()
            .chain(self.general)
            .chain([self.cr, self.xer, self.ctr, self.lr]);
        words.for_each(|word| bytes.extend(word.to_be_bytes()));
        self.floats.iter().for_each(|float| bytes.extend(float.to_be_bytes()));
        bytes.extend(self.memory);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Record {
        let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let double = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        Record {
            instruction: word(0),
            general: std::array::from_fn(|i| word(8 + 4 * i)),
            cr: word(136),
            xer: word(140),
            ctr: word(144),
            lr: word(148),
            floats: std::array::from_fn(|i| double(152 + 8 * i)),
            memory: bytes[408..664].try_into().expect("256 bytes"),
        }
    }

    /// Each register by the specification's name.
    fn assignments(&self) -> Vec<(String, Bits)> {
        let mut all = Vec::new();
        for i in 0..31 {
            all.push((format!("R{i}"), Bits::new(32, self.general[i].into())));
        }
        for i in 0..8 {
            all.push((format!("CR{i}"), Bits::new(8, (self.cr >> (28 - 4 * i) & 15).into())));
        }
        for (name, bit) in [("XER_SO", 31), ("XER_OV", 30), ("XER_CA", 29)] {
            all.push((name.to_owned(), Bits::new(8, (self.xer >> bit & 1).into())));
        }
        all.push(("CTR".to_owned(), Bits::new(32, self.ctr.into())));
        all.push(("LR".to_owned(), Bits::new(32, self.lr.into())));
        for i in 0..32 {
            all.push((format!("F{i}"), Bits::new(64, self.floats[i].into())));
        }
        all
    }

    /// Quotients by zero, and the one that does not fit, are undefined.
    fn is_undefined(&self, form: &Form) -> bool {
        let (a, b) = ((self.instruction >> 16 & 31) as usize, (self.instruction >> 11 & 31) as usize);
        form.name.starts_with("divw")
            && (self.general[b] == 0 || (self.general[a] == 1 << 31 && self.general[b] == u32::MAX))
    }
}

/// Whether the form is about single precision.
fn is_single(name: &str) -> bool {
    name.starts_with("stfs")
        || (name.starts_with('f') && name.ends_with('s') && name != "fnabs" && name != "fabs")
}

/// A single that is a number.
fn single(random: &mut Random) -> f32 {
    loop {
        let float = f32::from_bits(random.single());
        if !float.is_nan() {
            return float;
        }
    }
}

/// A double that is a number.
fn number(random: &mut Random) -> u64 {
    loop {
        let bits = random.double();
        if !f64::from_bits(bits).is_nan() {
            return bits;
        }
    }
}

/// Builds the harness in a folder, with the cross compiler.
pub fn build(folder: &Path) -> io::Result<std::path::PathBuf> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/powerpc/harness.c");
    let program = folder.join("powerpc-harness");
    let status = Command::new("powerpc-linux-gnu-gcc")
        .args(["-O1", "-static", "-no-pie", "-Wl,--defsym=slot=0x11000000", source, "-o"])
        .arg(&program)
        .status()?;
    if status.success() { Ok(program) } else { Err(io::Error::other("the harness does not compile")) }
}

fn under_qemu(program: &Path, records: &[Record]) -> io::Result<Vec<Record>> {
    let mut child =
        Command::new("qemu-ppc").arg(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().expect("piped");
    let bytes: Vec<u8> = records.iter().flat_map(Record::to_bytes).collect();
    // Writing and reading at once, or both sides wait for ever.
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = child.wait_with_output()?;
    let _ = writer.join();
    let after: Vec<Record> = output.stdout.chunks_exact(RECORD).map(Record::from_bytes).collect();
    if after.len() == records.len() {
        Ok(after)
    } else {
        let at = records.get(after.len()).map_or(0, |record| record.instruction);
        Err(io::Error::other(format!("QEMU stopped after {} records, at {at:#010x}", after.len())))
    }
}

/// Holds the specification's PowerPC against QEMU.
pub fn run(lifter: &mut Lifter, harness: &Path, states: usize, seed: u64) -> io::Result<Report> {
    let processor = lifter.processor().clone();
    let mut random = Random::new(seed);
    let forms = forms();
    let mut cases: Vec<(usize, Record)> = Vec::new();
    for (index, form) in forms.iter().enumerate() {
        for _ in 0..states {
            let record = Record::random(form, &mut random);
            if !record.is_undefined(form) {
                cases.push((index, record));
            }
        }
    }
    let records: Vec<Record> = cases.iter().map(|(_, record)| record.clone()).collect();
    let after = under_qemu(harness, &records)?;
    let mut report = Report::default();
    for ((index, before), after) in cases.iter().zip(&after) {
        let form = &forms[*index];
        *report.states.entry(form.name.clone()).or_default() += 1;
        report.opcodes.insert(form.name.clone());
        let differences = compare(form, lifter, &processor, before, after, &mut report.symbolic);
        if !differences.is_empty() {
            let message = format!("{:#010x}: {}", before.instruction, differences.join("; "));
            report.mismatches.push(Mismatch { form: form.name.clone(), message });
        }
    }
    Ok(report)
}

fn compare(
    form: &Form,
    lifter: &mut Lifter,
    processor: &Rc<Processor>,
    before: &Record,
    after: &Record,
    symbolic: &mut u64,
) -> Vec<String> {
    let instruction = match lifter.lift(SLOT, &before.instruction.to_be_bytes()) {
        Ok(instruction) => instruction,
        Err(error) => return vec![error.to_string()],
    };
    let mut memory = Table::new(Bits::zero(8));
    for (index, byte) in before.memory.iter().enumerate() {
        memory.set(Bits::new(32, u128::from(DATA) + index as u128), Bits::new(8, (*byte).into()));
    }
    let mut state = State::with_memory(processor, memory);
    for (name, value) in before.assignments() {
        let place = processor.register(&name).expect("a register of the processor").place;
        state.write(&Concrete, place, Value::Word(value)).expect("part of the register file");
    }
    let start = state.clone();
    let ours = Ours { state: exec(&Concrete, &instruction, state).map_err(|error| error.to_string()) };
    let result = match &ours.state {
        Ok(result) => result,
        Err(error) => return vec![format!("{}: {error}", instruction.text)],
    };
    let mut differences = Vec::new();
    for (name, theirs) in after.assignments() {
        let place = processor.register(&name).expect("a register of the processor").place;
        let mine =
            result.read(&Concrete, place).expect("part of the register file").word(&Concrete, place.width());
        // The upper half of a converted word is undefined.
        let (mine, theirs) = if form.name.starts_with("fctiw") && place.width() == 64 {
            (mine.extract(0, 32), theirs.extract(0, 32))
        } else {
            (mine, theirs)
        };
        if mine != theirs {
            differences.push(format!("{} {name} is {theirs:?}, ours {mine:?}", instruction.text));
        }
    }
    for (index, theirs) in after.memory.iter().enumerate() {
        let mine = result.memory.get(&Bits::new(32, u128::from(DATA) + index as u128)).to_u64();
        if mine != Some(u64::from(*theirs)) {
            differences.push(format!("{} byte {index} is {theirs:#x}, ours {mine:?}", instruction.text));
        }
    }
    *symbolic += 1;
    let terms = SymbolicCase::new(processor, &instruction);
    differences.extend(terms.differences(processor, &start, &ours));
    differences
}
