//! PowerPC, 32-bit and big-endian, against QEMU: single instructions from random states.
//!
//! A small program (`powerpc/harness.c`), cross-compiled and run under `qemu-ppc`, executes one instruction per record and
//! says where control went and what signal came of it. Every state has a status of its own: rounding mode, enabled
//! exceptions, and what happened before.

mod forms;
mod qemu_deviations;
mod record;

use crate::compare::{Mismatch, Ours, Report, SymbolicCase};
use crate::random::Random;
use forms::Form;
use parallax_ir::meaning::{State, Value, exec};
use parallax_ir::{Instruction, Processor, Trap};
use parallax_op::Bits;
use parallax_sem::{Concrete, Table};
use parallax_sleigh::Lifter;
use record::Record;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;

/// Where the instruction and the data lie.
const SLOT: u64 = 0x1100_0800;
const DATA: u64 = 0x1200_0000;
/// The machine state in which an enabled exception stops a program, as QEMU has it.
const MSR: u128 = 0x900;
const FR: u32 = 1 << 18;

/// Builds the harness in a folder, with the cross compiler.
pub fn build(folder: &Path) -> io::Result<std::path::PathBuf> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/powerpc/harness.c");
    let program = folder.join("powerpc-harness");
    let status = Command::new("powerpc-linux-gnu-gcc")
        .args(["-O1", "-static", "-no-pie", "-Wl,--defsym=slot=0x11000800", source, "-o"])
        .arg(&program)
        .status()?;
    if status.success() { Ok(program) } else { Err(io::Error::other("the harness does not compile")) }
}

fn under_qemu(program: &Path, processor: &str, records: &[Record]) -> io::Result<Vec<Record>> {
    let mut child = Command::new("qemu-ppc")
        .args(["-cpu", processor])
        .arg(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = child.stdin.take().expect("piped");
    let bytes: Vec<u8> = records.iter().flat_map(Record::to_bytes).collect();
    // Writing and reading at once, or both sides wait for ever.
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = child.wait_with_output()?;
    let _ = writer.join();
    let after: Vec<Record> = output.stdout.chunks_exact(record::BYTES).map(Record::from_bytes).collect();
    if after.len() == records.len() {
        Ok(after)
    } else {
        let at = records.get(after.len()).map_or(0, |record| record.instruction);
        Err(io::Error::other(format!("QEMU stopped after {} records, at {at:#010x}", after.len())))
    }
}

/// A state before, what QEMU made of it, and what of its twin.
struct Case {
    form: usize,
    before: Record,
    after: Record,
    twin: Option<Record>,
}

/// Random states of each form, executed by QEMU.
fn cases(forms: &[Form], harness: &Path, states: usize, random: &mut Random) -> io::Result<Vec<Case>> {
    let mut by_processor: BTreeMap<&str, Vec<(usize, Record)>> = BTreeMap::new();
    for (index, form) in forms.iter().enumerate() {
        for _ in 0..states {
            let record = Record::random(form, random);
            if !record.is_undefined(form) {
                by_processor.entry(form.processor()).or_default().push((index, record));
            }
        }
    }
    let mut cases = Vec::new();
    for (processor, chosen) in by_processor {
        let twins = chosen.iter().map(|(index, record)| qemu_deviations::twin(&forms[*index], record));
        let twins: Vec<Option<Record>> = twins.collect();
        let first = chosen.iter().map(|(index, record)| qemu_deviations::asked(&forms[*index], record));
        let asked: Vec<Record> = first.chain(twins.iter().flatten().cloned()).collect();
        let mut answers = under_qemu(harness, processor, &asked)?.into_iter();
        let after: Vec<Record> = answers.by_ref().take(chosen.len()).collect();
        for (((form, before), after), twin) in chosen.into_iter().zip(after).zip(twins) {
            let after = qemu_deviations::asked(&forms[form], &after);
            let twin = twin.and_then(|_| answers.next());
            cases.push(Case { form, before, after, twin });
        }
    }
    Ok(cases)
}

/// Holds PowerPC against QEMU: forms whose name contains `wanted`, from so many states each.
pub fn run(
    lifter: &mut Lifter,
    harness: &Path,
    wanted: &str,
    states: usize,
    seed: u64,
) -> io::Result<Report> {
    let processor = lifter.processor().clone();
    let forms: Vec<Form> = forms::all().into_iter().filter(|form| form.name.contains(wanted)).collect();
    let mut report = Report::default();
    for case in cases(&forms, harness, states, &mut Random::new(seed))? {
        let form = &forms[case.form];
        *report.states.entry(form.name.clone()).or_default() += 1;
        report.opcodes.insert(form.name.clone());
        let differences = compare(form, lifter, &processor, &case, &mut report.symbolic);
        if !differences.is_empty() {
            let (word, status) = (case.before.instruction, case.before.status);
            let floats = [16, 11, 6].map(|field| case.before.floats[case.before.register(field)]);
            let message =
                format!("{word:#010x} under {status:#010x} of {floats:x?}: {}", differences.join("; "));
            report.mismatches.push(Mismatch { form: form.name.clone(), message });
        }
    }
    Ok(report)
}

fn compare(
    form: &Form,
    lifter: &mut Lifter,
    processor: &Rc<Processor>,
    case: &Case,
    symbolic: &mut u64,
) -> Vec<String> {
    let before = &case.before;
    let instruction = match lifter.lift(SLOT, &before.instruction.to_be_bytes()) {
        Ok(instruction) => instruction,
        Err(error) => return vec![error.to_string()],
    };
    let start = initial(processor, before);
    let ours =
        Ours { state: exec(&Concrete, &instruction, start.clone()).map_err(|error| error.to_string()) };
    let result = match &ours.state {
        Ok(result) => result,
        Err(error) => return vec![format!("{}: {error}", instruction.text)],
    };
    let mut differences = against_qemu(form, &instruction, processor, case, result);
    *symbolic += 1;
    let terms = SymbolicCase::new(processor, &instruction);
    differences.extend(terms.differences(processor, &start, &ours));
    differences
}

fn initial(processor: &Rc<Processor>, before: &Record) -> State<Concrete> {
    let mut memory = Table::new(Bits::zero(8));
    for (index, byte) in before.memory.iter().enumerate() {
        memory.set(Bits::new(32, u128::from(DATA) + index as u128), Bits::new(8, (*byte).into()));
    }
    let mut state = State::with_memory(processor, memory);
    let fixed = [("MSR", 32, MSR), ("RESERVE", 8, 0), ("PC", 32, u128::from(SLOT))];
    let fixed = fixed.map(|(name, width, value)| (name.to_owned(), Bits::new(width, value)));
    for (name, value) in before.assignments().into_iter().chain(fixed) {
        let place = processor.register(&name).expect("a register of the processor").place;
        state.write(&Concrete, place, Value::Word(value)).expect("part of the register file");
    }
    state
}

fn against_qemu(
    form: &Form,
    instruction: &Instruction,
    processor: &Rc<Processor>,
    case: &Case,
    result: &State<Concrete>,
) -> Vec<String> {
    let (before, after) = (&case.before, &case.after);
    let text = &instruction.text;
    let mine = |name: &str| {
        let place = processor.register(name).expect("a register of the processor").place;
        let value = result.read(&Concrete, place).expect("part of the register file");
        value.word(&Concrete, place.width())
    };
    let mut differences = Vec::new();
    let trap = result.stops.iter().find(|(guard, _)| *guard).map(|(_, trap)| *trap);
    let expected = match after.signal as i32 {
        0 => None,
        libc::SIGFPE => Some(Trap::Float),
        libc::SIGTRAP => Some(Trap::Breakpoint),
        other => return vec![format!("{text}: signal {other}")],
    };
    if trap != expected {
        differences.push(format!("{text} stops with {expected:?}, ours with {trap:?}"));
    }
    let left_out = qemu_deviations::status_left_out(form, before, after);
    let result_left_out = qemu_deviations::result_left_out(form, before, after);
    let target = format!("F{}", before.register(21));
    for (name, theirs) in after.assignments() {
        let mask = match name.as_str() {
            "FPSCR" if result_left_out => u128::from(!left_out) & !0x7f000,
            "FPSCR" => u128::from(!left_out),
            // The four highest bits of FPSCR, in forms that record them.
            "CR1" if form.name.ends_with('.') && form.name.starts_with(['f', 'm']) => {
                u128::from(!left_out >> 28)
            }
            name if result_left_out && name == target => 0,
            _ => u128::MAX,
        };
        let (mine, theirs) = (mine(&name).to_u128(), theirs.to_u128());
        if mine.map(|mine| mine & mask) != theirs.map(|theirs| theirs & mask) {
            differences.push(format!(
                "{text} {name} is {:#x}, ours {:#x}",
                theirs.unwrap_or(0),
                mine.unwrap_or(0)
            ));
        }
    }
    if let Some(twin) = &case.twin
        && let Some(up) = qemu_deviations::rounded_up(form, after, twin)
        && up != (mine("FPSCR").to_u64().is_some_and(|status| status as u32 & FR != 0))
    {
        differences.push(format!("{text} should say {up} about rounding up"));
    }
    if form.branches() && mine("PC").to_u64() != Some(after.pc.into()) {
        differences.push(format!("{text} goes to {:#x}, ours to {:?}", after.pc, mine("PC")));
    }
    for (index, theirs) in after.memory.iter().enumerate() {
        let mine = result.memory.get(&Bits::new(32, u128::from(DATA) + index as u128)).to_u64();
        if mine != Some(u64::from(*theirs)) {
            differences.push(format!("{text} byte {index} is {theirs:#x}, ours {mine:?}"));
        }
    }
    differences
}
