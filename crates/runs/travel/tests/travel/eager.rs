//! The reference: every step of a recording, made one by one, in a list.
//!
//! Which thread made a step and which instruction it was comes from looking at all threads before and after it; whether
//! that is a call or a return comes from another decoder. What system calls changed in memory is compared byte by byte.

use iced_x86::{Code, Decoder, DecoderOptions, FlowControl};
use parallax_process::Process;
use parallax_process::execute::Watcher;
use parallax_process::memory::{Memory, PAGE};
use parallax_record::{Log, replay};
use parallax_travel::Filter;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// One step.
#[derive(Clone, Debug, Default)]
pub struct Step {
    pub thread: u32,
    /// The instruction, unless it is a delivery.
    pub address: Option<u64>,
    pub reads: Vec<Range<u64>>,
    pub writes: Vec<Range<u64>>,
    /// Where a call goes.
    pub call: Option<u64>,
    pub returns: bool,
    pub system_call: Option<u64>,
    pub signal: Option<u64>,
}

/// The state before a step.
pub struct Before {
    pub thread: u32,
    pub threads: BTreeMap<u32, (Vec<u8>, u64)>,
    pub memory: Memory,
}

/// The steps of a recording from 1 on.
pub struct Eager {
    pub steps: Vec<Step>,
    /// The states at the times that were asked for.
    pub states: BTreeMap<u64, Before>,
    /// How many system calls and deliveries were compared byte by byte.
    pub checked: usize,
    /// Where registers lie.
    pub places: Vec<(String, Range<usize>)>,
}

#[derive(Clone, Default)]
struct Notes(Rc<RefCell<Step>>);

impl Watcher for Notes {
    fn read(&mut self, _: u64, address: u64, size: usize) {
        self.0.borrow_mut().reads.push(address..address + size as u64);
    }

    fn write(&mut self, _: u64, address: u64, size: usize) {
        self.0.borrow_mut().writes.push(address..address + size as u64);
    }

    fn system_call(&mut self, _: u64, thread: u32, number: u64, _: u64) {
        let mut step = self.0.borrow_mut();
        (step.thread, step.system_call) = (thread, Some(number));
    }

    fn delivery(&mut self, _: u64, thread: u32, signal: i32) {
        let mut step = self.0.borrow_mut();
        (step.thread, step.signal) = (thread, Some(signal as u64));
        // Accesses of an instruction that faulted were not made; those of the kernel are told later.
        step.reads.clear();
        step.writes.clear();
    }
}

fn places(process: &mut Process) -> Vec<(String, Range<usize>)> {
    let registers = &process.world().registers;
    let all = registers.processor().registers.iter();
    let place = all.filter_map(|register| {
        let start = registers.offset(register.place)?;
        Some((register.name.clone(), start..start + usize::from(register.place.bytes)))
    });
    place.collect()
}

fn threads(process: &Process) -> BTreeMap<u32, (Vec<u8>, u64)> {
    let all = process.threads().into_iter();
    all.filter_map(|number| {
        let (registers, pc) = process.thread(number)?;
        Some((number, (registers.to_vec(), pc)))
    })
    .collect()
}

impl Eager {
    /// Makes at most `most` steps; of a program with signals, memory is compared at every one.
    pub fn new(log: &Arc<Log>, most: u64, states_at: &[u64], signals: bool) -> Result<Eager, String> {
        let mut process = replay(log, false, false).map_err(|error| error.to_string())?;
        process.engine().set_exact_flags(true);
        process.engine().set_watched(true);
        let notes = Notes::default();
        process.world().watcher = Some(Box::new(notes.clone()));
        let mut eager =
            Eager { steps: Vec::new(), states: BTreeMap::new(), checked: 0, places: places(&mut process) };
        for time in 1..=log.last().min(most) {
            let before = threads(&process);
            let wanted = states_at.contains(&time);
            // A copy of memory is worth its while where the kernel may write.
            let mut next = [0; 2];
            let pc = process.pc();
            let _ = process.world().memory.fetch(pc, &mut next);
            let copies = wanted || next == [0x0f, 0x05] || before.len() > 1 || signals;
            // A snapshot's memory is only looked at: a load of ours from shared memory would count as the program's.
            let mut snapshot = copies.then(|| process.snapshot().memory());
            notes.0.replace(Step::default());
            let ending = process.run_until(time);
            if process.time() != time {
                return Err(format!("step {time} comes to {}: {ending:?}", process.time()));
            }
            let mut step = notes.0.take();
            if step.system_call.is_none() && step.signal.is_none() {
                step.thread = process.threads()[0];
            }
            if step.signal.is_none() {
                let (_, pc) = before.get(&step.thread).ok_or(format!("no thread made step {time}"))?;
                step.look(&mut process, *pc)?;
            }
            // A program that replaces another brings a memory of its own.
            const EXECVE: u64 = 59;
            if (step.system_call.is_some_and(|number| number != EXECVE) || step.signal.is_some())
                && let Some(snapshot) = &mut snapshot
            {
                step.check_writes(&mut process, snapshot).map_err(|why| format!("step {time}: {why}"))?;
                eager.checked += 1;
            }
            if let Some(memory) = snapshot.filter(|_| wanted) {
                eager.states.insert(time, Before { thread: step.thread, threads: before, memory });
            }
            eager.steps.push(step);
        }
        Ok(eager)
    }

    /// Whether one thread made all steps.
    pub fn is_alone(&self) -> bool {
        self.steps.iter().all(|step| step.thread == self.steps[0].thread)
    }

    /// Whether a condition holds at a time.
    pub fn holds(&self, filter: &Filter, time: u64) -> bool {
        let step = &self.steps[time as usize - 1];
        match filter {
            Filter::Execute(ranges) => step.address.is_some_and(|address| ranges.holds(address)),
            Filter::Read(ranges) => step.reads.iter().any(|range| ranges.meets(range.clone())),
            Filter::Write(ranges) => step.writes.iter().any(|range| ranges.meets(range.clone())),
            Filter::Call(ranges) => step.call.is_some_and(|target| ranges.holds(target)),
            Filter::Return => step.returns,
            Filter::SystemCall(numbers) => step.system_call.is_some_and(|number| numbers.holds(number)),
            Filter::Signal(numbers) => step.signal.is_some_and(|signal| numbers.holds(signal)),
            Filter::When(..) => unreachable!("tests are held against the plain search"),
            Filter::Any(all) => all.iter().any(|part| self.holds(part, time)),
        }
    }
}

impl Step {
    /// Looks at the instruction. A call that waited has its thread behind it already.
    fn look(&mut self, process: &mut Process, pc: u64) -> Result<(), String> {
        let mut bytes = [0; 15];
        // The program may be gone by now.
        let fetched = process.world().memory.fetch(pc, &mut bytes).ok();
        let instruction =
            fetched.map(|count| Decoder::with_ip(64, &bytes[..count], pc, DecoderOptions::NONE).decode());
        if self.system_call.is_some() && instruction.is_none_or(|one| one.code() != Code::Syscall) {
            self.address = Some(pc - 2);
            return Ok(());
        }
        self.address = Some(pc);
        let instruction = instruction.ok_or(format!("nothing at {pc:#x}"))?;
        match instruction.flow_control() {
            // Where it went is where its thread is now.
            FlowControl::Call | FlowControl::IndirectCall if instruction.code() != Code::Syscall => {
                self.call = process.thread(self.thread).map(|(_, pc)| pc);
            }
            FlowControl::Return => self.returns = true,
            _ => {}
        }
        Ok(())
    }

    /// Whatever changed in memory was told.
    fn check_writes(&self, process: &mut Process, before: &mut Memory) -> Result<(), String> {
        let changed = process.world().memory.pages_changed_since(before);
        let memory = &mut process.snapshot().memory();
        for number in changed {
            let (mut old, mut new) = (vec![0; PAGE as usize], vec![0; PAGE as usize]);
            if before.read(number * PAGE, &mut old).is_err() || memory.read(number * PAGE, &mut new).is_err()
            {
                continue;
            }
            // A mapping that was replaced is not written to.
            let region =
                |memory: &Memory| memory.region_at(number * PAGE).map(|(start, region)| (start, region.end));
            if region(memory) != region(before) {
                continue;
            }
            for (at, (old, new)) in old.iter().zip(&new).enumerate() {
                let address = number * PAGE + at as u64;
                if old != new && !self.writes.iter().any(|range| range.contains(&address)) {
                    return Err(format!("{address:#x} changed, and only this was told: {self:x?}"));
                }
            }
        }
        Ok(())
    }
}
