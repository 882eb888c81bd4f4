//! What a search hears from the code it runs.

use crate::examine::Test;
use crate::filter::{Filter, Ranges};
use crate::passing::{Passing, Vantage};
use crate::visit::Side;
use parallax_process::execute::{Probes, Watcher};
use parallax_process::memory::{Memory, PAGE};
use parallax_process::outside::Tid;
use parallax_trace::Time;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// The conditions of a search, by what they listen to. Bit *i* stands for condition *i*.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Plan {
    execute: Vec<(Ranges, u64)>,
    read: Vec<(Ranges, u64)>,
    write: Vec<(Ranges, u64)>,
    call: Vec<(Ranges, u64)>,
    returns: u64,
    system_call: Vec<(crate::Numbers, u64)>,
    signal: Vec<(crate::Numbers, u64)>,
    /// The tests of conditions that have one.
    tests: Vec<(Test, u64)>,
    /// All of their bits.
    tested: u64,
    /// Ways to an instruction that do not count, as [`crate::Examine::turns`] has them.
    turns: Vec<((u64, u64), u64)>,
    reads: Pages,
    writes: Pages,
}

/// A set of pages that may hold more than it should: most accesses need no closer look.
#[derive(Clone, Debug, PartialEq)]
struct Pages([u64; Pages::WORDS]);

impl Pages {
    const WORDS: usize = 64;

    fn insert(&mut self, ranges: &Ranges) {
        for range in ranges.as_slice() {
            let (first, last) = (range.start / PAGE, (range.end - 1) / PAGE);
            if last - first >= (Pages::WORDS * 64) as u64 {
                self.0 = [u64::MAX; Pages::WORDS];
                return;
            }
            for page in first..=last {
                let (word, bit) = Pages::place(page);
                self.0[word] |= bit;
            }
        }
    }

    #[inline(always)]
    fn place(page: u64) -> (usize, u64) {
        (page as usize / 64 % Pages::WORDS, 1 << (page % 64))
    }

    #[inline(always)]
    fn may_hold(&self, address: u64, size: usize) -> bool {
        let holds = |page: u64| {
            let (word, bit) = Pages::place(page);
            self.0[word] & bit != 0
        };
        let last = address.wrapping_add(size as u64 - 1) / PAGE;
        holds(address / PAGE) || last != address / PAGE && (size as u64 > PAGE || holds(last))
    }
}

impl Default for Pages {
    fn default() -> Self {
        Pages([0; Pages::WORDS])
    }
}

fn union(all: &[(Ranges, u64)]) -> Vec<Range<u64>> {
    let ranges = all.iter().flat_map(|(ranges, _)| ranges.as_slice().iter().cloned());
    Ranges::new(ranges).as_slice().to_vec()
}

impl Plan {
    pub fn new(conditions: &[Filter]) -> Plan {
        let mut plan = Plan::default();
        for (index, condition) in conditions.iter().enumerate() {
            let bit = 1 << index;
            if let Filter::When(_, test) = condition {
                plan.tests.push((test.clone(), bit));
                plan.tested |= bit;
                plan.turns.extend(test.0.turns().iter().map(|turn| (*turn, bit)));
            }
            for part in condition.parts() {
                match part {
                    Filter::Execute(ranges) => plan.execute.push((ranges.clone(), bit)),
                    Filter::Read(ranges) => plan.read.push((ranges.clone(), bit)),
                    Filter::Write(ranges) => plan.write.push((ranges.clone(), bit)),
                    Filter::Call(ranges) => plan.call.push((ranges.clone(), bit)),
                    Filter::Return => plan.returns |= bit,
                    Filter::SystemCall(numbers) => plan.system_call.push((numbers.clone(), bit)),
                    Filter::Signal(numbers) => plan.signal.push((numbers.clone(), bit)),
                    Filter::Any(_) | Filter::When(..) => unreachable!("parts are simple"),
                }
            }
        }
        plan.read.iter().for_each(|(ranges, _)| plan.reads.insert(ranges));
        plan.write.iter().for_each(|(ranges, _)| plan.writes.insert(ranges));
        plan
    }

    /// What the code has to tell.
    pub fn probes(&self) -> Probes {
        let mut execute = self.execute.clone();
        execute.extend(self.turns.iter().map(|((from, _), bit)| (Ranges::from(*from), *bit)));
        Probes { execute: union(&execute), calls: union(&self.call), returns: self.returns != 0 }
    }

    /// The first step that has to be watched to know what holds from a step on.
    pub fn begins(&self, step: u64) -> u64 {
        if self.turns.is_empty() { step } else { step.saturating_sub(1) }
    }

    /// Whether some condition has a test.
    pub fn has_tests(&self) -> bool {
        self.tested != 0
    }

    /// Whether accesses of memory have to be told.
    pub fn watches(&self) -> bool {
        !self.read.is_empty() || !self.write.is_empty()
    }
}

/// A step at which conditions held.
struct Step {
    time: Time,
    bits: u64,
    /// Those of them whose tests could not be made on the way.
    doubts: u64,
}

/// The steps at which conditions held.
#[derive(Default)]
pub(crate) struct Collected {
    plan: Plan,
    steps: Vec<Step>,
    /// What tests may see of the program.
    vantage: Vantage,
    /// The latest step of the thread whose turn it is, if it executed the first instruction of a turn, with its address.
    turning: Option<(Time, u64)>,
    /// Such instructions that were the latest of threads that wait for their turn.
    waiting: FxHashMap<Tid, u64>,
    /// The thread whose turn it is, if that was told.
    thread: Option<Tid>,
    /// The time until which the program was watched without a gap.
    reached: Option<Time>,
}

impl Collected {
    /// The conditions that count for the instruction at an address: those of whose turns this is none.
    fn counting(&mut self, step: Time, address: u64, bits: u64) -> u64 {
        let from = self.turning.filter(|(before, _)| before + 1 == step).map(|(_, from)| from);
        let is_turn = |turn: &&((u64, u64), u64)| from == Some(turn.0.0) && turn.0.1 == address;
        let turned = self.plan.turns.iter().filter(is_turn).fold(0, |all, (_, bit)| all | bit);
        if self.plan.turns.iter().any(|((from, _), _)| *from == address) {
            self.turning = Some((step, address));
        }
        bits & !turned
    }

    /// Notes conditions whose tests, if they have any, are to be made later.
    fn push(&mut self, time: Time, bits: u64) {
        self.note(time, bits, bits & self.plan.tested);
    }

    fn note(&mut self, time: Time, bits: u64, doubts: u64) {
        if bits != 0 {
            match self.steps.last_mut() {
                Some(last) if last.time == time => {
                    last.bits |= bits;
                    last.doubts |= doubts;
                }
                _ => self.steps.push(Step { time, bits, doubts }),
            }
        }
    }

    /// Makes the tests of those conditions that look at the state before a step: which hold, and which are in doubt.
    fn tested(&self, bits: u64, passing: &Passing<'_>) -> (u64, u64) {
        let (mut holding, mut doubts) = (bits, 0);
        for (test, bit) in self.plan.tests.iter().filter(|(_, bit)| bits & bit != 0) {
            let verdict = if test.0.side() == Side::Before { test.0.passes(passing) } else { None };
            match verdict {
                Some(true) => {}
                Some(false) => holding &= !bit,
                None => doubts |= bit,
            }
        }
        (holding, doubts)
    }
}

/// Where a condition held in an interval.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// The times, rising.
    pub times: Arc<[Time]>,
    /// Those of them at which its test has still to be made.
    pub doubtful: Arc<[Time]>,
}

/// A watcher that collects what a plan asks for.
#[derive(Clone, Default)]
pub(crate) struct Collector(Rc<RefCell<Collected>>);

impl Collector {
    pub fn new(plan: Plan) -> Self {
        Collector(Rc::new(RefCell::new(Collected { plan, ..Collected::default() })))
    }

    /// What tests may see of the program that runs from now on.
    pub fn meet(&self, vantage: Vantage) {
        self.0.borrow_mut().vantage = vantage;
    }

    /// Whether it has watched all until a time.
    pub fn has_reached(&self, time: Time) -> bool {
        self.0.borrow().reached == Some(time)
    }

    /// From now on it watches without a gap, or has done so until a time.
    pub fn set_reached(&self, time: Option<Time>) {
        let mut own = self.0.borrow_mut();
        if time.is_none() {
            (own.turning, own.thread) = (None, None);
            own.waiting.clear();
        }
        own.reached = time;
    }

    /// Whether it collects what this plan asks for.
    pub fn has(&self, plan: &Plan) -> bool {
        self.0.borrow().plan == *plan
    }

    /// Where in a range each of `count` conditions held; nothing is kept.
    pub fn take(&self, within: Range<Time>, count: usize) -> Vec<Held> {
        let mut steps = std::mem::take(&mut self.0.borrow_mut().steps);
        steps.retain(|step| within.contains(&step.time));
        // What other processes wrote is told a little late.
        steps.sort_by_key(|step| step.time);
        let times = |wanted: &dyn Fn(&Step) -> bool| {
            let mut times: Vec<Time> =
                steps.iter().filter(|step| wanted(step)).map(|step| step.time).collect();
            times.dedup();
            Arc::from(times)
        };
        let held = (0..count).map(|index| Held {
            times: times(&|step| step.bits >> index & 1 != 0),
            doubtful: times(&|step| step.doubts >> index & 1 != 0),
        });
        held.collect()
    }
}

fn bits(all: &[(Ranges, u64)], range: Range<u64>) -> u64 {
    all.iter().filter(|(ranges, _)| ranges.meets(range.clone())).fold(0, |bits, (_, bit)| bits | bit)
}

fn bits_of(all: &[(crate::Numbers, u64)], number: u64) -> u64 {
    all.iter().filter(|(numbers, _)| numbers.holds(number)).fold(0, |bits, (_, bit)| bits | bit)
}

/// The bytes of an access.
fn bytes(address: u64, size: usize) -> Range<u64> {
    address..address.saturating_add(size as u64)
}

impl Watcher for Collector {
    fn read(&mut self, step: u64, address: u64, size: usize) {
        let mut own = self.0.borrow_mut();
        if own.plan.reads.may_hold(address, size) {
            let bits = bits(&own.plan.read, bytes(address, size));
            own.push(step, bits);
        }
    }

    fn write(&mut self, step: u64, address: u64, size: usize) {
        let mut own = self.0.borrow_mut();
        if size > 0 && own.plan.writes.may_hold(address, size) {
            let bits = bits(&own.plan.write, bytes(address, size));
            own.push(step, bits);
        }
    }

    fn passes(&mut self, step: u64, address: u64, registers: &[u8], memory: &mut Memory) {
        let mut own = self.0.borrow_mut();
        let mut bits = bits(&own.plan.execute, bytes(address, 1));
        if !own.plan.turns.is_empty() {
            bits = own.counting(step, address, bits);
        }
        let (holding, doubts) = match bits & own.plan.tested {
            0 => (bits, 0),
            tested => match own.vantage.passing(step, address, registers, memory) {
                Some(passing) => own.tested(bits, &passing),
                None => (bits, tested),
            },
        };
        own.note(step, holding, doubts);
    }

    fn call(&mut self, step: u64, target: u64) {
        let mut own = self.0.borrow_mut();
        let bits = bits(&own.plan.call, bytes(target, 1));
        own.push(step, bits);
    }

    fn returns(&mut self, step: u64) {
        let mut own = self.0.borrow_mut();
        let bits = own.plan.returns;
        own.push(step, bits);
    }

    fn system_call(&mut self, step: u64, _: Tid, number: u64, address: u64) {
        let mut own = self.0.borrow_mut();
        // One that had to wait executes when it is done.
        let bits = bits(&own.plan.execute, bytes(address, 1)) | bits_of(&own.plan.system_call, number);
        own.push(step, bits);
        own.vantage.system_call(number);
    }

    fn turn(&mut self, step: u64, thread: Tid) {
        let own = &mut *self.0.borrow_mut();
        own.vantage.turn(thread);
        if !own.plan.turns.is_empty() {
            let latest = own.turning.take().filter(|(time, _)| *time == step);
            if let (Some((_, from)), Some(before)) = (latest, own.thread) {
                own.waiting.insert(before, from);
            }
            own.turning = own.waiting.remove(&thread).map(|from| (step, from));
            own.thread = Some(thread);
        }
    }

    fn delivery(&mut self, step: u64, _: Tid, signal: i32) {
        let mut own = self.0.borrow_mut();
        let bits = bits_of(&own.plan.signal, signal as u64);
        own.push(step, bits);
    }

    fn undone(&mut self, last: u64) {
        let mut own = self.0.borrow_mut();
        while own.steps.last().is_some_and(|step| step.time > last) {
            own.steps.pop();
        }
        own.turning = own.turning.filter(|(time, _)| *time <= last);
    }
}
