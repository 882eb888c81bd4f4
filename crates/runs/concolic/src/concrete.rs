//! The concrete half of a run: the emulator alone, its way compared with the one that was predicted.

use crate::block::{Block, End};
use crate::code_place::CodePlace;
use crate::moment::Return;
use crate::subject::Subject;
use crate::summary::Summary;
use crate::trail::Trail;
use parallax_process::Ending;
use parallax_process::elf::Machine;
use parallax_process::system::call_name;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::rc::Rc;

/// The way that an input was made to take.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The way of the run it was derived from.
    pub trail: Rc<Trail>,
    /// As many blocks are to be the same.
    pub blocks: u64,
    /// The checksum of their addresses.
    pub hash: u64,
    /// The block behind them, if it is known.
    pub next: Option<u64>,
}

/// How a run ended, as a report tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// With a status.
    Exited(u8),
    /// By a signal; what it did wrong.
    Killed(i32, String),
    /// It asked for something that the emulator does not have.
    Unsupported(String),
    /// It needs more memory than it was given.
    Memory(String),
    /// It was stopped after so many instructions.
    Steps,
    /// It came to a place that was to be avoided.
    Avoided,
    /// The function that was explored has returned this.
    Returned(u64),
}

impl Outcome {
    /// The signal that ended the program, if one did.
    pub fn signal(&self) -> Option<i32> {
        match self {
            Outcome::Killed(signal, _) => Some(*signal),
            _ => None,
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Outcome::Exited(status) => write!(f, "exited with status {status}"),
            Outcome::Killed(signal, why) => {
                let (signal, why) = (*signal, Some(why.clone()).filter(|why| !why.is_empty()));
                write!(f, "{}", Ending::Killed { signal, why, at: None })
            }
            Outcome::Unsupported(what) => write!(f, "not supported: {what}"),
            Outcome::Memory(what) => write!(f, "gave up: the bound of {what} is reached"),
            Outcome::Steps => f.write_str("gave up: the bound on instructions is reached"),
            Outcome::Avoided => f.write_str("came to a place to avoid"),
            Outcome::Returned(value) => write!(f, "returned {value:#x}"),
        }
    }
}

/// A decision or a call on the way of a run, in the program's own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crossing {
    /// The address of the instruction.
    pub site: u64,
    /// How many functions are under way.
    pub depth: usize,
    /// Whether a conditional jump was taken; nothing for a call.
    pub taken: Option<bool>,
}

/// One run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Concrete {
    /// How it ended.
    pub outcome: Outcome,
    /// Instructions executed since the input began to count.
    pub instructions: u64,
    /// Conditional and computed jumps among them.
    pub branches: u64,
    /// The way it took.
    pub trail: Trail,
    /// The addresses of its blocks.
    pub blocks: Vec<u64>,
    /// Those of which it did not come to every instruction, and to how many it came.
    pub cut: Vec<(u64, u64)>,
    /// Which block was followed by which.
    pub edges: Vec<(u64, u64)>,
    /// The places to reach that it came to, by number.
    pub reached: Vec<usize>,
    /// Where it was when it ended by a signal, innermost first.
    pub backtrace: Vec<String>,
    /// The same as addresses: of the instruction, then those that functions return to.
    pub stack: Vec<u64>,
    /// The decisions and calls of its way, if it ended by a signal.
    pub way: Vec<Crossing>,
    /// After how many instructions it left the predicted way, if it did.
    pub diverged: Option<u64>,
}

/// How many callers a backtrace shows.
const DEEPEST: usize = 64;
/// Longer ways are kept from their ends.
const LONGEST: usize = 4_096;

/// Runs a subject that was given its input.
pub fn run(
    subject: &mut Subject,
    prediction: Option<&Prediction>,
    steps: u64,
    targets: &[CodePlace],
    avoid: &[u64],
) -> Concrete {
    let start = subject.process.time();
    let mut trail = Trail::default();
    // Each block with the most of its instructions that the run came to.
    let mut blocks: FxHashMap<u64, u64> = FxHashMap::default();
    let mut edges: FxHashSet<(u64, u64)> = FxHashSet::default();
    let mut reached: Vec<usize> = (0..targets.len()).filter(|number| targets[*number].is_passed).collect();
    let mut calls: Vec<u64> = subject.callers.clone();
    let own = subject.own();
    let mut way: VecDeque<Crossing> = VecDeque::new();
    let mut branches = 0;
    let mut before = None;
    let mut diverged = None;
    let mut checked = prediction.is_none();
    // A function that is summarised leaves no trace: how it goes about its work may differ.
    let mut aside: Option<Return> = None;
    let mut nowhere = None;
    let outcome = loop {
        let (pc, time) = (subject.process.pc(), subject.process.time());
        if aside.is_some_and(|until| subject.is_back(until)) {
            aside = None;
        }
        if subject.has_returned() {
            break Outcome::Returned(subject.process.world().registers.get("RAX"));
        }
        if time - start >= steps {
            break Outcome::Steps;
        }
        if let Some(prediction) =
            prediction.filter(|p| !checked && aside.is_none() && trail.blocks == p.blocks)
        {
            checked = true;
            if trail.hash != prediction.hash {
                diverged = Some(trail.parts(&prediction.trail, prediction.blocks).saturating_sub(start));
            } else if prediction.next.is_some_and(|next| next != pc) {
                diverged = Some(time - start);
            }
        }
        if aside.is_none() && subject.summary(pc).is_some_and(Summary::leaves_no_trace) {
            aside = Some(subject.way_back());
        }
        if aside.is_none() {
            trail.enter(pc, time);
        }
        if let Some(before) = before.replace(pc) {
            edges.insert((before, pc));
        }
        let block = subject.block(pc);
        let count = block.as_ref().map_or(1, |block| block.instructions.len());
        if avoid.contains(&pc) {
            break Outcome::Avoided;
        }
        for (number, target) in targets.iter().enumerate() {
            if target.addresses.contains(&pc) && !reached.contains(&number) {
                reached.push(number);
            }
        }
        let ending = through(subject, block.as_deref());
        let done = (subject.process.time() - time).min(count as u64);
        // The instruction that ended the program was come to.
        let came = (done + u64::from(ending.is_some())).min(count as u64);
        let most = blocks.entry(pc).or_default();
        *most = came.max(*most);
        if let Some(ending) = ending {
            let (pc, now) = (subject.process.pc(), subject.process.time());
            // The emulator fetches ahead: what came of a jump to nowhere belongs to where it led.
            let left = now - time == count as u64 && aside.is_none();
            nowhere = (left && subject.block(pc).is_none()).then_some((pc, now));
            break ended(ending);
        }
        let whole = subject.process.time() - time == count as u64;
        if let Some(block) = block.as_ref().filter(|_| whole && own.contains(&pc)) {
            let last = &block.instructions[count - 1];
            let taken = last.ways.map(|(taken, _)| subject.process.pc() == taken);
            if taken.is_some() || matches!(block.end, End::Call(_)) {
                if way.len() == LONGEST {
                    way.pop_front();
                }
                way.push_back(Crossing { site: last.instruction.address, depth: calls.len(), taken });
            }
        }
        if let Some(block) = &block {
            match block.end {
                End::Branch if whole => branches += 1,
                End::Call(back) if whole => calls.push(back),
                End::Return if whole => {
                    let to = subject.process.pc();
                    if let Some(level) = calls.iter().rposition(|back| *back == to) {
                        calls.truncate(level);
                    }
                }
                _ => {}
            }
        }
    };
    let instructions = subject.process.time() - start;
    if let Some(prediction) = prediction.filter(|_| !checked) {
        // It ended before it came to where it was to part; a trap or a signal is where a way may end, and so is a jump to
        // where nothing can be fetched.
        let ends_there = trail.blocks == prediction.blocks && trail.hash == prediction.hash;
        let next = nowhere.map(|(pc, _)| pc);
        if !(ends_there && prediction.next.is_none_or(|wanted| next == Some(wanted))) {
            diverged = Some(trail.parts(&prediction.trail, prediction.blocks).saturating_sub(start));
        }
    }
    if let Some((pc, now)) = nowhere {
        trail.enter(pc, now);
    }
    let (mut backtrace, mut stack) = (Vec::new(), Vec::new());
    if matches!(outcome, Outcome::Killed(..)) {
        let pc = subject.process.pc();
        stack.extend(std::iter::once(pc).chain(calls.iter().rev().copied()).take(DEEPEST));
        backtrace.extend(stack.iter().map(|place| subject.describe(*place)));
    } else {
        way.clear();
    }
    let mut cut: Vec<(u64, u64)> = Vec::new();
    for (&start, &came) in &blocks {
        let count = subject.block(start).map_or(1, |block| block.instructions.len() as u64);
        if came < count {
            cut.push((start, came));
        }
    }
    cut.sort_unstable();
    let mut blocks: Vec<u64> = blocks.into_keys().collect();
    blocks.sort_unstable();
    let mut edges: Vec<(u64, u64)> = edges.into_iter().collect();
    edges.sort_unstable();
    let way = way.into();
    Concrete {
        outcome,
        instructions,
        branches,
        trail,
        blocks,
        cut,
        edges,
        reached,
        backtrace,
        stack,
        way,
        diverged,
    }
}

/// Runs the block at the program counter; how the program ended in it, if it did.
pub(crate) fn block(subject: &mut Subject) -> Option<Ending> {
    let block = subject.block(subject.process.pc());
    through(subject, block.as_deref())
}

/// Runs to the end of a block, or one step if there is none.
fn through(subject: &mut Subject, block: Option<&Block>) -> Option<Ending> {
    let time = subject.process.time();
    let count = block.map_or(1, |block| block.instructions.len()) as u64;
    match block.and_then(|block| block.instructions.last()) {
        Some(last) if last.is_call => call(subject, time, count),
        _ => subject.process.run_until(time + count),
    }
}

/// Runs a block that ends with a system call, which is made by itself: it may change what is mapped.
fn call(subject: &mut Subject, time: u64, count: u64) -> Option<Ending> {
    let before = time + count - 1;
    let ending = subject.process.run_until(before);
    if ending.is_some() || subject.process.time() != before {
        return ending;
    }
    let registers = &subject.process.world().registers;
    let values = ["RAX", "RDI", "RSI", "RDX", "R10", "R8", "R9"].map(|name| registers.get(name));
    let ending = subject.process.run_until(before + 1);
    subject.remapped(call_name(Machine::X86_64, values[0]).unwrap_or_default(), &values);
    ending
}

/// An ending as a report tells it.
pub fn ended(ending: Ending) -> Outcome {
    match ending {
        Ending::Exited(status) => Outcome::Exited(status),
        Ending::Killed { signal, why, .. } => Outcome::Killed(signal, why.unwrap_or_default()),
        Ending::GaveUp { what, at } => Outcome::Memory(format!("{what}, at {at}")),
        Ending::Unsupported { what, at } => Outcome::Unsupported(format!("{what}, at {at}")),
        Ending::Closed { why } => Outcome::Unsupported(why),
    }
}
