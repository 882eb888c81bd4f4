//! The reference: a program run step by step, with the ends that every byte comes from carried along.
//!
//! Nothing is searched here and nothing goes back: each step's effects are applied to a map from bytes to sets of ends. What
//! an instruction computes from what is the same relation as in the answers, and its values are held against those that
//! the emulator comes to.

use crate::recorded::recorder::Test;
use crate::recorded::{Random, Recorded, ends};
use parallax_flow::{Asked, Bounds, Effects, Follow, Origin, Source, effects, origin};
use parallax_process::Process;
use parallax_process::execute::Watcher;
use parallax_record::replay;
use parallax_trace::Unwatched;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

/// Steps that are tracked at most.
const MOST: u64 = 15_000;

pub fn tests() -> Vec<Test> {
    let ours = ["values"].map(|name| (name, "tests/origin/sources"));
    let others =
        ["hello", "floats", "ownercode", "random"].map(|name| (name, "../record/tests/corpus/sources"));
    let all = ours.into_iter().chain(others);
    all.map(|(name, folder)| -> Test { (format!("eager: {name}"), Box::new(move || compare(name, folder))) })
        .collect()
}

type Ends = Rc<BTreeSet<u64>>;

/// From bytes to the times of the steps that they come from; 0 is the start.
struct Tracker {
    registers: BTreeMap<u32, Ends>,
    memory: BTreeMap<u64, Ends>,
    /// Pages that were mapped anew, and when.
    mapped: BTreeMap<u64, u64>,
    start: Ends,
}

impl Tracker {
    fn of(&self, source: Source) -> Ends {
        match source {
            Source::Register(at) => self.registers.get(&at).unwrap_or(&self.start).clone(),
            Source::Memory(at) => match (self.memory.get(&at), self.mapped.get(&(at / 4096))) {
                (Some(known), _) => known.clone(),
                (None, Some(step)) => Rc::new(BTreeSet::from([*step])),
                (None, None) => self.start.clone(),
            },
        }
    }

    fn apply(&mut self, step: u64, done: &Effects) {
        let made = |from: &[u32]| -> Ends {
            if from.is_empty() {
                return Rc::new(BTreeSet::from([step]));
            }
            let parts: Vec<Ends> = from.iter().map(|one| self.of(done.sources[*one as usize].0)).collect();
            if parts.iter().all(|part| Rc::ptr_eq(part, &parts[0])) {
                return parts[0].clone();
            }
            Rc::new(parts.iter().flat_map(|part| part.iter().copied()).collect())
        };
        let registers: Vec<(u32, Ends)> =
            done.registers.iter().map(|(at, one)| (*at, made(&one.from))).collect();
        let memory: Vec<(u64, Ends)> = done.memory.iter().map(|(at, one)| (*at, made(&one.from))).collect();
        self.registers.extend(registers);
        self.memory.extend(memory);
    }

    fn map(&mut self, step: u64, start: u64, length: u64) {
        for page in start / 4096..(start + length).div_ceil(4096) {
            self.mapped.insert(page, step);
            let bytes: Vec<u64> =
                self.memory.range(page * 4096..(page + 1) * 4096).map(|(at, _)| *at).collect();
            bytes.into_iter().for_each(|at| drop(self.memory.remove(&at)));
        }
    }
}

/// The number of a system call, and what was written: addresses and sizes.
type Happened = (Option<u64>, Vec<(u64, u64)>);

/// What a step was told to do.
#[derive(Clone, Default)]
struct Told(Rc<RefCell<Happened>>);

impl Watcher for Told {
    fn read(&mut self, _: u64, _: u64, _: usize) {}

    fn write(&mut self, _: u64, address: u64, size: usize) {
        self.0.borrow_mut().1.push((address, size as u64));
    }

    fn system_call(&mut self, _: u64, _: u32, number: u64, _: u64) {
        self.0.borrow_mut().0 = Some(number);
    }
}

fn place(process: &mut Process, name: &str) -> std::ops::Range<u32> {
    let registers = &process.world().registers;
    let place = registers.processor().register(name).expect("a register").place;
    let at = registers.offset(place).expect("a place") as u32;
    at..at + u32::from(place.bytes)
}

fn compare(name: &str, folder: &str) -> Result<(), String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(format!("{name}.c"));
    let flags = ["-O1", "-g", "-static", "-pthread"];
    let title = format!("eager-{name}");
    let input = b"abcdefg\x01ijklmnopqrstuvwxyz012345";
    let recorded = Recorded::new(&title, &source, &flags, input, 7_000)?;
    let log = recorded.travel.log();
    let mut process = replay(log, false, false).map_err(|error| error.to_string())?;
    process.engine().set_exact_flags(true);
    process.engine().set_watched(true);
    let told = Told::default();
    process.world().watcher = Some(Box::new(told.clone()));
    let start: Ends = Rc::new(BTreeSet::from([0]));
    let mut tracker =
        Tracker { registers: BTreeMap::new(), memory: BTreeMap::new(), mapped: BTreeMap::new(), start };
    let mut random = Random(0x1234_5678_9abc_def1);
    let last = log.last().min(MOST);
    let questions: BTreeSet<u64> = (0..30).map(|_| 2 + random.below(last - 1)).collect();
    let (mut asked, mut evaluated, mut nodes) = (0, 0, 0);
    for step in 1..=last {
        if questions.contains(&step) {
            for question in questions_at(&tracker, &mut process, &mut random) {
                nodes += check(&recorded, &tracker, step, &question)?;
                asked += 1;
            }
        }
        let registers = process.world().registers.clone();
        let pc = process.pc();
        let mut bytes = [0; 16];
        let count = process.world().memory.fetch(pc, &mut bytes).map_err(|fault| format!("{fault:?}"))?;
        let instruction =
            process.engine().lifter().lift(pc, &bytes[..count]).map_err(|error| error.to_string())?;
        let mut memory = process.snapshot().memory();
        let mut load = |at: u64| {
            let mut byte = [0];
            memory.read(at, &mut byte).is_ok().then_some(byte[0])
        };
        let done = effects(&instruction, &registers, &mut load, Follow::default());
        told.0.take();
        process.run_until(step);
        if process.time() != step {
            break;
        }
        let (call, writes) = told.0.take();
        let Some(number) = call else {
            match &done {
                Ok(done) => {
                    same(&mut process, done, &writes)
                        .map_err(|why| format!("step {step}, {bytes:x?} at {pc:#x}: {why}"))?;
                    evaluated += 1;
                    tracker.apply(step, done);
                }
                // Only the outside knows: the time stamp.
                Err(_) => {
                    for name in ["RAX", "RDX"] {
                        let end: Ends = Rc::new(BTreeSet::from([step]));
                        place(&mut process, name)
                            .for_each(|at| drop(tracker.registers.insert(at, end.clone())));
                    }
                }
            }
            continue;
        };
        let arguments = ["RDI", "RSI", "RDX"].map(|name| registers.get(name));
        let result = process.world().registers.get("RAX");
        let failed = result > u64::MAX - 4096;
        match number {
            9 if !failed => tracker.map(step, result, arguments[1]),
            28 if arguments[2] == 4 => tracker.map(step, arguments[0], arguments[1]),
            25 if !failed => {
                let moved: Vec<(u64, Ends)> = (0..arguments[1].min(arguments[2]))
                    .map(|at| (result + at, tracker.of(Source::Memory(arguments[0] + at))))
                    .collect();
                tracker.map(step, result, arguments[2]);
                tracker.memory.extend(moved);
            }
            12 => {
                let old = memory.region_at(result.wrapping_sub(1)).is_some();
                if !old {
                    let pages = (0..1 << 20).map(|index| (result - 1) / 4096 * 4096 - 4096 * index);
                    let new: Vec<u64> = pages.take_while(|page| memory.region_at(*page).is_none()).collect();
                    new.into_iter().for_each(|page| tracker.map(step, page, 4096));
                }
            }
            _ => {}
        }
        let end: Ends = Rc::new(BTreeSet::from([step]));
        for name in ["RAX", "RCX", "R11"] {
            place(&mut process, name).for_each(|at| drop(tracker.registers.insert(at, end.clone())));
        }
        for (address, size) in writes {
            (address..address + size).for_each(|at| drop(tracker.memory.insert(at, end.clone())));
        }
    }
    println!("  {evaluated} instructions evaluated, {asked} questions, {nodes} nodes");
    if asked < 40 || nodes < 10 * asked {
        return Err(format!("only {asked} questions with {nodes} nodes"));
    }
    Ok(())
}

/// What an instruction wrote by its effects is what it wrote in the emulator.
fn same(process: &mut Process, done: &Effects, writes: &[(u64, u64)]) -> Result<(), String> {
    let file = process.world().registers.bytes();
    if let Some((at, one)) = done.registers.iter().find(|(at, one)| file[**at as usize] != one.value) {
        return Err(format!("register byte {at} is {:#x}, not {:#x}", file[*at as usize], one.value));
    }
    let told: BTreeSet<u64> = writes.iter().flat_map(|(at, size)| *at..at + size).collect();
    let known: BTreeSet<u64> = done.memory.keys().copied().collect();
    if told != known {
        return Err(format!("wrote {told:x?}, not {known:x?}"));
    }
    for (at, one) in &done.memory {
        let byte = process.peek(*at, 1);
        if byte != [one.value] {
            return Err(format!("{at:#x} is {byte:x?}, not {:#x}", one.value));
        }
    }
    Ok(())
}

/// Registers, and memory that was written.
fn questions_at(tracker: &Tracker, process: &mut Process, random: &mut Random) -> Vec<Asked> {
    let names =
        ["RAX", "RBX", "RCX", "RDX", "RSI", "RDI", "RBP", "R8", "R12", "AL", "AH", "EDX", "XMM0", "XMM1"];
    let register = Asked::Register { name: (*random.pick(&names)).to_owned(), thread: None };
    let written: Vec<u64> = tracker.memory.keys().copied().collect();
    let mut all = vec![register];
    if !written.is_empty() {
        let at = *random.pick(&written);
        let length = *random.pick(&[1, 4, 8]);
        if process.peek(at, length).len() as u64 == length {
            all.push(Asked::Memory(at..at + length));
        }
    }
    all
}

fn check(recorded: &Recorded, tracker: &Tracker, time: u64, asked: &Asked) -> Result<usize, String> {
    let bounds = Bounds { nodes: 50_000, ..Bounds::default() };
    let found = origin(&recorded.travel, time, asked, Follow::default(), bounds, &Unwatched)
        .map_err(|error| error.to_string())?;
    let wanted: Vec<Source> = match asked {
        Asked::Memory(range) => range.clone().map(Source::Memory).collect(),
        Asked::Register { name, .. } => {
            let mut process =
                replay(recorded.travel.log(), false, false).map_err(|error| error.to_string())?;
            place(&mut process, name).map(Source::Register).collect()
        }
    };
    let expected: BTreeSet<u64> =
        wanted.iter().flat_map(|source| tracker.of(*source).iter().copied().collect::<Vec<_>>()).collect();
    let answered: BTreeSet<u64> = ends(&found).into_iter().map(|node| node.time).collect();
    // Zeros above a value that was read are no place that it comes from, though no byte is behind them.
    let passed: BTreeSet<u64> = found.nodes.iter().map(|node| node.time).collect();
    let missing = expected.iter().any(|end| !answered.contains(end) && !passed.contains(end));
    if found.cut.is_some() || !answered.is_subset(&expected) || missing {
        return Err(format!(
            "{asked:?} at {time}: ends {answered:?} instead of {expected:?}\n{}",
            shown(&found)
        ));
    }
    Ok(found.nodes.len())
}

fn shown(found: &Origin) -> String {
    let node = |(index, node): (usize, &parallax_flow::Node)| {
        format!(
            "{index}: {} {:x} {:?} {:x?} from {:?}\n",
            node.time, node.pc, node.what, node.made, node.from
        )
    };
    found.nodes.iter().enumerate().map(node).take(40).collect()
}
