//! Following values backwards.
//!
//! What is wanted at a time is a set of bytes of registers and memory. Going back step by step, a step that wrote one of them
//! answers for it: it becomes a node, and what it computed the byte from is wanted instead, as it was before the step. So one
//! pass from late to early serves everything that is wanted. Stretches are run with all instructions and writes noted, and
//! passed through from their end; which registers an instruction may write is seen from its operations, and only a step that
//! may have written something wanted is run again to see what it did. Where nothing but memory is wanted, the index of the
//! recording is asked for the last write.

use crate::error::FlowError;
use crate::kernel;
use crate::names::Names;
use crate::node::{Cut, Node, Origin, Piece, What};
use crate::replay::Replay;
use crate::step::{Follow, Source, Unknown, effects, register_writes};
use crate::wanted::{Mask, Place, Wanted, mask};
use crate::window::{Event, Window};
use parallax_process::Snapshot;
use parallax_process::memory::{Memory, PAGE};
use parallax_process::outside::Tid;
use parallax_process::registers::Registers;
use parallax_process::system::call_name;
use parallax_trace::{Direction, Target, Time, Watch};
use parallax_travel::{Filter, Numbers, Travel};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A register by name, such as `RAX` or `AL`, or some of its bytes.
    Register {
        /// Its name.
        name: String,
        /// Its thread; that of the next step if none is named.
        thread: Option<Tid>,
    },
    /// Bytes of memory.
    Memory(Range<u64>),
}

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// So many steps are part of the answer at most.
    pub nodes: usize,
    /// So many steps back writers are looked for.
    pub steps: u64,
}

impl Default for Bounds {
    /// A thousand nodes, as far back as the recording goes.
    fn default() -> Self {
        Bounds { nodes: 1000, steps: u64::MAX }
    }
}

/// The smallest and the largest stretch that is looked at at once.
const SMALLEST: u64 = 1 << 10;
const LARGEST: u64 = 1 << 19;

/// Where only memory is wanted the index is asked when the last stretch was this long and had nothing.
const PATIENT: u64 = 1 << 14;

/// Where the value of something at a time comes from. The state at `time` is the one before that step.
pub fn origin(
    travel: &Travel,
    time: Time,
    asked: &Asked,
    follow: Follow,
    bounds: Bounds,
    watch: &(dyn Watch + Sync),
) -> Result<Origin, FlowError> {
    let span = travel.span();
    if !(span.start..=span.end).contains(&time) {
        return Err(FlowError::NoTime { time, first: span.start, last: span.end });
    }
    // Blocks of operations may nest calls when they are not optimised.
    const STACK: usize = 16 << 20;
    std::thread::scope(|scope| {
        let work = || {
            let mut following = Following::new(travel, time, follow, bounds, watch)?;
            following.ask(asked)?;
            following.run()?;
            Ok(following.finish())
        };
        let thread = std::thread::Builder::new().name(String::from("origin")).stack_size(STACK);
        let thread =
            thread.spawn_scoped(scope, work).map_err(|error| FlowError::Worker(error.to_string()))?;
        thread.join().unwrap_or_else(|_| Err(FlowError::Worker(String::from("its thread ended"))))
    })
}

/// A pass from late to early.
pub(crate) struct Following<'t> {
    travel: &'t Travel,
    watch: &'t dyn Watch,
    pub(crate) replay: Replay<'t>,
    pub(crate) wanted: Wanted,
    pub(crate) nodes: Vec<Node>,
    pub(crate) names: Names,
    follow: Follow,
    bounds: Bounds,
    /// Writers are looked for among the steps up to this one.
    position: u64,
    first: u64,
    asked_at: Time,
    looked: u64,
    cut: bool,
    /// What the instruction at an address may write, as long as the code stays.
    screen: FxHashMap<u64, Mask>,
}

/// The state before a step, for one thread.
pub(crate) struct Before {
    pub snapshot: Snapshot,
    pub memory: Memory,
    pub registers: Registers,
    pub pc: u64,
}

impl<'t> Following<'t> {
    fn new(
        travel: &'t Travel,
        time: Time,
        follow: Follow,
        bounds: Bounds,
        watch: &'t dyn Watch,
    ) -> Result<Following<'t>, FlowError> {
        let mut replay = Replay::new(travel)?;
        let names = Names::new(&mut replay.process);
        Ok(Following {
            travel,
            watch,
            replay,
            wanted: Wanted::default(),
            nodes: Vec::new(),
            names,
            follow,
            bounds,
            position: time - 1,
            first: (time - 1).saturating_sub(bounds.steps),
            asked_at: time,
            looked: 0,
            cut: false,
            screen: FxHashMap::default(),
        })
    }

    /// Wants what was asked about.
    fn ask(&mut self, asked: &Asked) -> Result<(), FlowError> {
        let state = self.travel.state(self.asked_at)?;
        let mut node = Node {
            time: self.asked_at,
            thread: state.thread(),
            pc: state.pc(),
            what: What::Asked,
            made: Vec::new(),
            from: Vec::new(),
        };
        match asked {
            Asked::Register { name, thread } => {
                let thread = thread.unwrap_or(state.thread());
                if !state.threads().any(|known| known == thread) {
                    return Err(FlowError::NoThread { thread, time: self.asked_at });
                }
                let (name, place) =
                    self.names.find(name).ok_or_else(|| FlowError::NoRegister(name.clone()))?;
                let bytes = state.register_of(thread, &name).unwrap_or_default().to_vec();
                node.thread = thread;
                node.made.push(Piece::Register { thread, name, low: 0, bytes });
                place.for_each(|at| self.wanted.add(Place::Register(thread, at), 0));
            }
            Asked::Memory(range) => {
                let length = (range.end - range.start) as usize;
                let bytes = state.read_some(range.start, length);
                if bytes.len() < length {
                    let address = range.start + bytes.len() as u64;
                    return Err(FlowError::NotMapped { address, time: self.asked_at });
                }
                node.made.push(Piece::Memory { address: range.start, bytes });
                range.clone().for_each(|at| self.wanted.add(Place::Memory(at), 0));
            }
        }
        self.nodes.push(node);
        Ok(())
    }

    fn run(&mut self) -> Result<(), FlowError> {
        let mut size = SMALLEST;
        while !self.wanted.is_empty() && self.position > self.first && !self.cut {
            if self.watch.stop() {
                self.cut = true;
                break;
            }
            self.watch.progress(self.position);
            if size > PATIENT && !self.wanted.has_registers() {
                match self.last_write()? {
                    Some(step) => self.position = step,
                    None => {
                        self.position = self.first;
                        break;
                    }
                }
                size = SMALLEST;
                // Code may have changed on the way.
                self.screen.clear();
            }
            let before = self.nodes.len();
            self.pass(size)?;
            size = if self.nodes.len() > before { SMALLEST.max(size / 8) } else { (size * 8).min(LARGEST) };
        }
        if !self.cut && !self.wanted.is_empty() {
            if self.first == 0 { kernel::start(self, 0, None)? } else { self.cut = true }
        }
        Ok(())
    }

    /// The last step up to the position that wrote memory that is wanted, or may have replaced it.
    fn last_write(&mut self) -> Result<Option<u64>, FlowError> {
        let machine = self.travel.machine()?;
        let numbers: BTreeSet<u64> = (0..kernel::MOST_CALLS)
            .filter(|number| call_name(machine, *number).is_some_and(kernel::replaces_memory))
            .collect();
        let conditions = [Filter::Any(vec![
            Filter::Write(self.wanted.ranges()),
            Filter::SystemCall(Numbers::Of(numbers)),
        ])];
        let within = self.first + 1..self.position + 1;
        let found = self.travel.search(&conditions, within, Direction::Backward, 1, self.watch)?;
        Ok(found.hits.first().map(|hit| hit.time))
    }

    /// Passes through at most so many steps, the last of which is at the position.
    fn pass(&mut self, size: u64) -> Result<(), FlowError> {
        let start = self.position.saturating_sub(size).max(self.first);
        let end = self.position;
        let window = self.replay.look(start, end)?;
        self.looked += end - start;
        // The process is before the last step now, with the code that ran since it last changed.
        let from = self.screened(&window)?;
        for step in (from + 1..=end).rev() {
            if self.cut || self.wanted.is_empty() {
                self.position = step;
                return Ok(());
            }
            if self.may_concern(&window, step) {
                self.look_at(&window, step)?;
            }
        }
        self.position = from;
        Ok(())
    }

    /// Sees what the instructions of a window may write, from the last step on after which its code did not change; the
    /// number of the steps before that.
    fn screened(&mut self, window: &Window) -> Result<u64, FlowError> {
        let end = window.start + window.pcs.len() as u64;
        let pages: FxHashSet<u64> = window.pcs.iter().filter(|pc| **pc != 0).map(|pc| pc / PAGE).collect();
        let touches = |write: &crate::window::Write| {
            let (first, last) = (write.address / PAGE, (write.address + write.size - 1) / PAGE);
            // An instruction may lie across the end of a page.
            (first.saturating_sub(1)..=last).any(|page| pages.contains(&page))
        };
        let machine = self.replay.process.machine();
        let written = window.writes.iter().rev().find(|write| write.step < end && touches(write));
        let mapped = window.events.iter().rev().find(|(step, _, event)| {
            let Event::Call { number, .. } = event else { return false };
            *step < end && call_name(machine, *number).is_some_and(kernel::replaces_memory)
        });
        let changed = written.map(|write| write.step).max(mapped.map(|(step, _, _)| *step));
        let from = changed.unwrap_or(window.start).max(window.start);
        // Behind a step that changed code it was another: what was seen there does not hold before.
        let replaces = matches!(window.event(end), Some((_, Event::Call { number, .. }))
            if call_name(machine, number).is_some_and(kernel::replaces_memory));
        if replaces || window.writes_of(end).iter().any(touches) {
            self.screen.clear();
        }
        let process = &mut self.replay.process;
        for step in from + 1..=end {
            let Some(pc) = window.pc(step) else { continue };
            if self.screen.contains_key(&pc) {
                continue;
            }
            let mut bytes = [0; 16];
            let count = process.world().memory.fetch(pc, &mut bytes).unwrap_or(0);
            let lifted = process.engine().lifter().lift(pc, &bytes[..count]);
            // What cannot be lifted is looked at.
            let ranges = match lifted {
                Ok(instruction) => register_writes(&instruction, &process.world().registers),
                Err(_) => std::iter::once(0..process.world().registers.contents().len() as u32).collect(),
            };
            self.screen.insert(pc, mask(&ranges));
        }
        Ok(from)
    }

    fn may_concern(&self, window: &Window, step: u64) -> bool {
        let writes = window.writes_of(step);
        if writes
            .iter()
            .any(|write| self.wanted.meets_memory(write.address..write.address.saturating_add(write.size)))
        {
            return true;
        }
        match (window.event(step), window.pc(step)) {
            (Some(_), _) => true,
            (None, Some(pc)) => match self.screen.get(&pc) {
                Some(mask) => self.wanted.meets_registers(window.thread(step), mask),
                None => true,
            },
            (None, None) => true,
        }
    }

    fn look_at(&mut self, window: &Window, step: u64) -> Result<(), FlowError> {
        let thread = window.thread(step);
        match window.event(step) {
            Some((_, Event::Call { number, .. })) => kernel::call(self, window, step, thread, number)?,
            Some((_, Event::Delivery(signal))) => kernel::delivery(self, window, step, thread, signal)?,
            None => self.instruction(window, step, thread)?,
        }
        if self.nodes.len() > self.bounds.nodes && !self.wanted.is_empty() {
            self.cut = true;
        }
        Ok(())
    }

    /// The state that a thread finds before a step.
    pub(crate) fn before(&mut self, step: u64, thread: Tid) -> Result<Before, FlowError> {
        let snapshot = self.replay.snapshot(step - 1)?;
        let memory = snapshot.memory();
        let found = self.replay.registers_of(&snapshot, thread);
        let (registers, pc) = found.ok_or(FlowError::NoThread { thread, time: step })?;
        Ok(Before { snapshot, memory, registers, pc })
    }

    fn instruction(&mut self, window: &Window, step: u64, thread: Tid) -> Result<(), FlowError> {
        let mut before = self.before(step, thread)?;
        let pc = window.pc(step).unwrap_or(before.pc);
        let mut bytes = [0; 16];
        let count =
            (0..16).take_while(|at| before.memory.read(pc + at, &mut bytes[*at as usize..][..1]).is_ok());
        let count = count.count();
        let lifted = self.replay.process.engine().lifter().lift(pc, &bytes[..count]);
        let memory = &mut before.memory;
        let mut load = |at: u64| {
            let mut byte = [0];
            memory.read(at, &mut byte).is_ok().then_some(byte[0])
        };
        let done = match &lifted {
            Ok(instruction) => effects(instruction, &before.registers, &mut load, self.follow),
            Err(error) => {
                let why = parallax_ir::meaning::MeaningError::Unknown(error.to_string());
                Err(Unknown::Meaning(why))
            }
        };
        // What was told and the instruction did not write came from another process.
        let told = window
            .writes_of(step)
            .iter()
            .flat_map(|write| self.wanted.memory(write.address..write.address.saturating_add(write.size)));
        let told: Vec<u64> = told.collect();
        let done = match done {
            Ok(done) => done,
            Err(unknown) => {
                let ranges = lifted.ok().map(|one| register_writes(&one, &before.registers));
                let registers: Vec<u32> = match ranges {
                    Some(ranges) => ranges.into_iter().flatten().collect(),
                    None => self.wanted.registers(thread),
                };
                let places = registers.into_iter().map(|at| Place::Register(thread, at));
                let places: Vec<Place> = places.chain(told.into_iter().map(Place::Memory)).collect();
                let what = match unknown {
                    Unknown::Meaning(parallax_ir::meaning::MeaningError::Outside(name)) => {
                        What::Instruction { text: name.to_owned(), constant: false }
                    }
                    unknown => What::Unknown { why: unknown.to_string() },
                };
                return self.end_at(step, thread, pc, what, &places);
            }
        };
        let foreign: Vec<u64> = window
            .writes_of(step)
            .iter()
            .flat_map(|write| write.address..write.address.saturating_add(write.size.min(PAGE)))
            .filter(|at| !done.memory.contains_key(at))
            .collect();
        let from_others: Vec<Place> =
            told.iter().filter(|at| !done.memory.contains_key(at)).map(|at| Place::Memory(*at)).collect();
        let mut made: BTreeMap<Place, u8> = BTreeMap::new();
        let mut sources: BTreeSet<u32> = BTreeSet::new();
        let mut users: BTreeSet<usize> = BTreeSet::new();
        let registers = done.registers.iter().map(|(at, written)| (Place::Register(thread, *at), written));
        let memory = done.memory.iter().map(|(at, written)| (Place::Memory(*at), written));
        for (place, written) in registers.chain(memory) {
            if let Some(asking) = self.wanted.take(place) {
                made.insert(place, written.value);
                sources.extend(written.from.iter().copied());
                users.extend(asking);
            }
        }
        if !made.is_empty() {
            let text = self.names.text(pc, &bytes[..count]);
            let what = What::Instruction { text, constant: sources.is_empty() };
            let node = self.add(step, thread, pc, what, &made, users);
            let mut seen_now = BTreeMap::new();
            for source in sources {
                let (source, value) = done.sources[source as usize];
                match source {
                    // It was changed by another process just before it was read.
                    Source::Memory(at) if foreign.contains(&at) => {
                        seen_now.insert(Place::Memory(at), value);
                    }
                    source => self.wanted.add(Place::of(thread, source), node),
                }
            }
            if !seen_now.is_empty() {
                self.add(step, thread, pc, What::Foreign, &seen_now, BTreeSet::from([node]));
            }
        }
        if !from_others.is_empty() {
            self.end_at(step, thread, pc, What::Foreign, &from_others)?;
        }
        Ok(())
    }

    /// Adds a node that made some bytes for others.
    pub(crate) fn add(
        &mut self,
        time: Time,
        thread: Tid,
        pc: u64,
        what: What,
        made: &BTreeMap<Place, u8>,
        users: BTreeSet<usize>,
    ) -> usize {
        let number = self.nodes.len();
        for user in users {
            self.nodes[user].from.push(number);
        }
        let made = self.names.pieces(made);
        self.nodes.push(Node { time, thread, pc, what, made, from: Vec::new() });
        number
    }

    /// A step that made those of some bytes that are wanted, from nothing further back.
    pub(crate) fn end_at(
        &mut self,
        step: u64,
        thread: Tid,
        pc: u64,
        what: What,
        places: &[Place],
    ) -> Result<(), FlowError> {
        let mut users = BTreeSet::new();
        let mut wanted = Vec::new();
        for place in places {
            if let Some(asking) = self.wanted.take(*place) {
                users.extend(asking);
                wanted.push(*place);
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let made = self.values_after(step, &wanted)?;
        self.add(step, thread, pc, what, &made, users);
        Ok(())
    }

    /// What some bytes hold after a step.
    pub(crate) fn values_after(
        &mut self,
        step: u64,
        places: &[Place],
    ) -> Result<BTreeMap<Place, u8>, FlowError> {
        let snapshot = self.replay.snapshot(step)?;
        let mut memory = snapshot.memory();
        let mut files: BTreeMap<Tid, Option<Registers>> = BTreeMap::new();
        let mut values = BTreeMap::new();
        for place in places {
            let value = match place {
                Place::Memory(at) => {
                    let mut byte = [0];
                    // A page that was never touched is as it was mapped.
                    let _ = memory.read(*at, &mut byte);
                    byte[0]
                }
                Place::Register(thread, at) => {
                    let file = files.entry(*thread).or_insert_with(|| {
                        self.replay.registers_of(&snapshot, *thread).map(|(registers, _)| registers)
                    });
                    file.as_ref().map_or(0, |file| file.bytes()[*at as usize])
                }
            };
            values.insert(*place, value);
        }
        Ok(values)
    }

    fn finish(mut self) -> Origin {
        let cut = self.cut.then(|| {
            let places = self.wanted.places();
            let left = self.values_after(self.position, &places).unwrap_or_default();
            Cut { time: self.position + 1, left: self.names.pieces(&left) }
        });
        Origin { nodes: self.nodes, cut, looked: self.looked }
    }
}
