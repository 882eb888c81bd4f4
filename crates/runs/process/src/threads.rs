//! The threads of an emulated process: one runs at a time, in turns counted in instructions.
//!
//! Who runs is a function of time, of the seed and of the events that come through the door, so two runs that get the
//! same answers from outside take the same turns. What belongs to a thread and not to the process (registers, where it
//! is, its signals) is kept in [`Thread`] while others run, and in the process itself while it runs. A call that would
//! have to wait parks its thread behind the instruction, and only an event makes it go on; waiting for a lock is kept in
//! books here. A retry is therefore no step.

use crate::memory::Fault;
use crate::outside::{Call, Event, Tid};
use crate::process::{Ending, Process};
use crate::signal::ThreadSignals;
use crate::system::{Answer, Arguments, Errno, Reply, table};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// So many instructions are one turn, unless the schedule is drawn.
const TURN: u64 = 50_000;

/// Linux has a limit too; a program that makes threads without end must hear of it.
const MOST: usize = 4096;

/// Threads get numbers that no process has: the largest a process can have is one less.
const FIRST_NUMBER: u32 = 1 << 22;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Wait {
    /// Nothing: it can run.
    Nothing,
    /// The answer to its system call, behind which it stands.
    Call(Call),
    /// The signal that interrupted its call, which says whether to make it again.
    Interrupted(Call),
    /// Any signal.
    Signal,
    /// One of these signals, which its call takes; or the answer to that, as with any call.
    Signals {
        /// The call.
        call: Call,
        /// The signals, one bit each.
        set: u64,
    },
    /// To be woken from a lock; the call has been made and its result is in place.
    Lock {
        /// Where the lock is.
        address: u64,
        /// Which kinds of waking count.
        kinds: u32,
        /// Its arguments, should it be made again.
        call: Call,
    },
}

impl Wait {
    /// The call whose answer comes from outside.
    fn call(self) -> Option<Call> {
        match self {
            Wait::Call(call) | Wait::Signals { call, .. } => Some(call),
            _ => None,
        }
    }

    /// Whether a thread that waits like this can go on, with what has arrived for it.
    fn is_over(self, signals: &ThreadSignals) -> bool {
        match self {
            Wait::Nothing | Wait::Interrupted(_) => true,
            Wait::Signals { set, .. } => signals.has_of(set),
            _ => false,
        }
    }
}

/// A thread that is not running.
#[derive(Clone, Serialize, Deserialize)]
struct Thread {
    own: Own,
    registers: Box<[u8]>,
    pc: u64,
    signals: ThreadSignals,
}

/// The name of a thread, with zeros behind it.
pub(crate) type Name = [u8; 16];

/// What is known of a thread besides its state.
#[derive(Clone, Serialize, Deserialize)]
struct Own {
    /// Its number; the first thread has that of the process.
    number: Option<Tid>,
    /// Where to write a zero when it ends, for whoever waits for that.
    cleared: u64,
    /// Where the list of the locks begins that others get when it ends.
    robust: u64,
    /// What it is called, unless it is called as its program is.
    name: Option<Name>,
    wait: Wait,
    /// When waiting for a lock ends without it, by the clock of the door.
    deadline: Option<u64>,
    /// What its call came to, while another thread ran.
    result: Option<Answer>,
    /// The number of its latest call.
    call: u64,
}

impl Own {
    fn new(number: Option<Tid>, cleared: u64) -> Own {
        Own {
            number,
            cleared,
            robust: 0,
            name: None,
            wait: Wait::Nothing,
            deadline: None,
            result: None,
            call: 0,
        }
    }
}

/// The threads of a process.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Threads {
    current: Own,
    /// The others, in the order of their turns.
    others: VecDeque<Thread>,
    next_number: Tid,
    /// When the turn of the current one ends.
    turn_end: u64,
    /// How many turns there have been.
    turn: u64,
    /// The state of the schedule, if it is drawn.
    schedule: Option<u64>,
    /// The number of the process, which is that of the first thread.
    process: Tid,
}

impl Threads {
    /// One thread; its turns and followers are drawn if there is a seed.
    pub fn new(process: Tid, schedule: Option<u64>) -> Self {
        Threads {
            current: Own::new(None, 0),
            others: VecDeque::new(),
            next_number: FIRST_NUMBER,
            turn_end: u64::MAX,
            turn: 0,
            // Zero is a fixed point of the generator.
            // Odd, and another for every seed.
            schedule: schedule.map(|seed| seed << 1 ^ 0x9e37_79b9_7f4a_7c15),
            process,
        }
    }

    /// Whether there is only one.
    pub fn is_alone(&self) -> bool {
        self.others.is_empty()
    }

    /// When the turn of the current one ends.
    pub fn turn_end(&self) -> u64 {
        self.turn_end
    }

    /// How many turns there have been.
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// Only the current thread is left: the program was replaced, or this is a fork of it.
    pub fn keep_current(&mut self, process: Tid) {
        *self = Threads { schedule: self.schedule, turn: self.turn, ..Threads::new(process, None) };
    }

    /// Where to write a zero when the current one ends.
    pub fn set_cleared(&mut self, address: u64) {
        self.current.cleared = address;
    }

    /// Where the locks are listed that the current one leaves to others.
    pub fn set_robust(&mut self, list: u64) {
        self.current.robust = list;
    }

    /// The same of any thread.
    pub fn robust_of(&self, number: u64) -> Option<u64> {
        Some(self.all().find(|own| u64::from(self.number_of(own)) == number)?.robust)
    }

    /// Names the current one.
    pub fn set_name(&mut self, name: Name) {
        self.current.name = Some(name);
    }

    /// The name of the current one.
    pub fn name(&self) -> Option<Name> {
        self.current.name
    }

    /// The name of any thread, if it was named; none if there is no such thread.
    pub fn name_of(&self, number: u64) -> Option<Option<Name>> {
        Some(self.all().find(|own| u64::from(self.number_of(own)) == number)?.name)
    }

    /// Whether the current one is the first.
    pub fn is_first(&self) -> bool {
        self.current.number.is_none()
    }

    /// The threads that wait for one of these signals, first the one that waits longest.
    pub fn waiting_for_signal(&mut self, bit: u64) -> Option<&mut ThreadSignals> {
        let waits = |own: &Own| matches!(own.wait, Wait::Signals { set, .. } if set & bit != 0);
        self.others.iter_mut().find(|thread| waits(&thread.own)).map(|thread| &mut thread.signals)
    }

    /// Whether the current one waits for one of these signals.
    pub fn awaits(&self, bit: u64) -> bool {
        matches!(self.current.wait, Wait::Signals { set, .. } if set & bit != 0)
    }

    /// The current one makes a call of that number.
    pub fn set_call(&mut self, number: u64) {
        self.current.call = number;
    }

    /// What the call of a thread came to while other threads ran.
    pub fn result_of(&self, number: Tid) -> Option<Answer> {
        self.all().find(|own| self.number_of(own) == number)?.result
    }

    /// The number of the current one.
    pub fn number(&self) -> Tid {
        self.number_of(&self.current)
    }

    fn number_of(&self, own: &Own) -> Tid {
        own.number.unwrap_or(self.process)
    }

    fn all(&self) -> impl Iterator<Item = &Own> {
        std::iter::once(&self.current).chain(self.others.iter().map(|thread| &thread.own))
    }

    /// The numbers of all of them, the current one's first.
    pub fn numbers(&self) -> Vec<Tid> {
        self.all().map(|own| self.number_of(own)).collect()
    }

    /// Whether a number is that of one of these threads, other than the first.
    pub fn has(&self, number: u64) -> bool {
        self.all().filter_map(|own| own.number).any(|known| u64::from(known) == number)
    }

    /// The registers and the place of a thread that is not running.
    pub fn paused(&self, number: Tid) -> Option<(&[u8], u64)> {
        let thread = self.others.iter().find(|thread| self.number_of(&thread.own) == number)?;
        Some((&thread.registers, thread.pc))
    }

    /// The signals of another thread with that number.
    pub fn signals_of(&mut self, number: u64) -> Option<&mut ThreadSignals> {
        let process = self.process;
        let named = |own: &Own| u64::from(own.number.unwrap_or(process)) == number;
        self.others.iter_mut().find(|thread| named(&thread.own)).map(|thread| &mut thread.signals)
    }

    /// The signals of those that do not run.
    pub fn signals_mut(&mut self) -> impl Iterator<Item = &mut ThreadSignals> {
        self.others.iter_mut().map(|thread| &mut thread.signals)
    }

    /// The masks of those that do not run.
    pub fn masks(&self) -> impl Iterator<Item = u64> {
        self.others.iter().map(|thread| thread.signals.mask)
    }

    /// The signals of the first thread that does not keep back this one.
    pub fn first_open(&mut self, bit: u64) -> Option<&mut ThreadSignals> {
        let open = self.others.iter_mut().find(|thread| thread.signals.mask & bit == 0)?;
        Some(&mut open.signals)
    }

    /// The calls that threads wait in, the current one's first.
    pub fn parked_calls(&self) -> Vec<Call> {
        self.all().filter_map(|own| own.wait.call()).collect()
    }

    /// The threads that wait for a lock no longer than until a moment.
    pub fn lock_deadlines(&self) -> Vec<(Tid, u64)> {
        let waits = self.all().filter(|own| matches!(own.wait, Wait::Lock { .. }));
        waits.filter_map(|own| Some((self.number_of(own), own.deadline?))).collect()
    }

    /// The threads and their locks, if all wait for locks without a deadline.
    pub fn all_on_locks(&self) -> Option<Vec<(Tid, u64)>> {
        let place = |own: &Own| match own.wait {
            Wait::Lock { address, .. } if own.deadline.is_none() => Some((self.number_of(own), address)),
            _ => None,
        };
        self.all().map(place).collect()
    }

    /// Wakes up to `count` threads that wait for a lock, in the order in which they came; how many.
    pub fn wake(&mut self, address: u64, count: u64, kinds: u32) -> u64 {
        let mut woken = 0;
        for thread in &mut self.others {
            if woken < count
                && matches!(thread.own.wait, Wait::Lock { address: at, kinds: own, .. } if at == address && own & kinds != 0)
            {
                thread.own.wait = Wait::Nothing;
                thread.own.deadline = None;
                woken += 1;
            }
        }
        woken
    }

    /// The threads that wait for a lock, in the order in which they came.
    pub fn waiting_for(&self, address: u64) -> Vec<Tid> {
        let waits = |own: &&Own| matches!(own.wait, Wait::Lock { address: at, .. } if at == address);
        self.others.iter().map(|thread| &thread.own).filter(waits).map(|own| self.number_of(own)).collect()
    }

    /// Lets up to `count` threads that wait for one lock wait for another; how many.
    pub fn requeue(&mut self, from: u64, to: u64, count: u64) -> u64 {
        let mut moved = 0;
        for thread in &mut self.others {
            if let Wait::Lock { address, .. } = &mut thread.own.wait
                && *address == from
                && moved < count
            {
                *address = to;
                moved += 1;
            }
        }
        moved
    }

    /// The next number of the drawn schedule, below a bound.
    fn draw(&mut self, bound: u64) -> Option<u64> {
        let state = self.schedule.as_mut()?;
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        Some(*state % bound)
    }

    /// How long the next turn is.
    fn turn_length(&mut self) -> u64 {
        const SHORTEST: u64 = 1_000;
        const LONGEST: u64 = 100_000;
        self.draw(LONGEST - SHORTEST + 1).map_or(TURN, |more| SHORTEST + more)
    }
}

impl Process {
    /// Makes a thread, which starts where the current one is, on a stack of its own; its number.
    pub(crate) fn new_thread(&mut self, stack: u64, storage: Option<u64>, cleared: u64) -> Answer {
        if self.threads.others.len() >= MOST {
            return Err(Errno(libc::EAGAIN));
        }
        let number = self.threads.next_number;
        self.threads.next_number += 1;
        let abi = self.machine.abi();
        let before: Box<[u8]> = self.world.registers.contents().into();
        (abi.set_result)(self, Ok(0));
        self.world.registers.set(abi.stack_pointer, stack);
        if let Some(storage) = storage {
            self.world.registers.set(abi.thread_pointer, storage);
        }
        let own = Own { name: self.threads.current.name, ..Own::new(Some(number), cleared) };
        let thread = Thread {
            own,
            registers: self.world.registers.contents().into(),
            pc: self.pc(),
            signals: ThreadSignals::of_new(self.signals.own()),
        };
        self.world.registers.restore(&before);
        self.threads.others.push_back(thread);
        if self.threads.turn_end == u64::MAX {
            self.threads.turn_end = self.world.time + self.threads.turn_length();
        }
        let time = self.world.time;
        self.outside().thread_made(time, number);
        Ok(u64::from(number))
    }

    /// Ends the current thread; false if it is the last.
    pub(crate) fn end_thread(&mut self) -> bool {
        if self.threads.is_alone() {
            return false;
        }
        self.leave_locks(self.threads.number(), self.threads.current.robust);
        let cleared = self.threads.current.cleared;
        if cleared != 0 && self.world.memory.write(cleared, &[0; 4]).is_ok() {
            self.threads.wake(cleared, 1, u32::MAX);
        }
        let next = self.threads.others.pop_front().expect("not alone");
        let ended = self.signals.exchange(next.signals.clone());
        self.resume(next);
        // What came for the process and found this thread is still for the process.
        for (signal, information) in ended.held {
            self.arrive(signal, information);
        }
        self.mirror_masks();
        true
    }

    fn resume(&mut self, thread: Thread) {
        self.world.registers.restore(&thread.registers);
        self.set_pc(thread.pc);
        self.threads.current = thread.own;
        if let Some(result) = self.threads.current.result.take() {
            self.set_result(result);
        }
        self.threads.turn += 1;
        let length = self.threads.turn_length();
        self.threads.turn_end =
            if self.threads.is_alone() { u64::MAX } else { self.world.time.saturating_add(length) };
        let (time, thread) = (self.world.time, self.threads.number());
        if let Some(watcher) = &mut self.world.watcher {
            watcher.turn(time, thread);
        }
    }

    /// The current thread waits for the answer to its call, which is not a step yet.
    pub(crate) fn park(&mut self, call: Call) {
        self.world.time -= 1;
        self.threads.current.wait = match self.signals_awaited(&call) {
            Some(set) => Wait::Signals { call, set },
            None => Wait::Call(call),
        };
        self.mirror_masks();
    }

    /// The call of the current thread was interrupted: what the signal says decides what becomes of it.
    pub(crate) fn park_interrupted(&mut self, call: Call) {
        self.world.time -= 1;
        self.threads.current.wait = Wait::Interrupted(call);
    }

    /// The current thread waits for a signal. That is not a step yet, so the time alone does not tell whether a signal
    /// came before the call or while it waited: the door hears of it.
    pub(crate) fn wait_for_signal(&mut self, arguments: &Arguments) -> Reply {
        self.world.time -= 1;
        self.threads.current.wait = Wait::Signal;
        let (thread, number) = (self.threads.number(), self.threads.current.call);
        let call = Call { thread, number, arguments: *arguments };
        self.with_outside(|outside, process| outside.waits_for_signal(process, &call));
        self.mirror_masks();
        Reply::Done
    }

    /// The current thread waits for a lock.
    pub(crate) fn wait_for_lock(
        &mut self,
        address: u64,
        kinds: u32,
        deadline: Option<u64>,
        arguments: &Arguments,
    ) {
        let (thread, number) = (self.threads.number(), self.threads.current.call);
        let call = Call { thread, number, arguments: *arguments };
        self.threads.current.wait = Wait::Lock { address, kinds, call };
        self.threads.current.deadline = deadline;
    }

    /// Whether the current thread can go on.
    pub(crate) fn can_go_on(&self) -> bool {
        self.threads.current.wait.is_over(self.signals.own()) || self.signals.is_ready(self.signals.own())
    }

    /// Lets the next thread run that can; false if none can.
    pub(crate) fn switch(&mut self) -> bool {
        let can_run = |thread: &Thread| {
            thread.own.wait.is_over(&thread.signals) || self.signals.is_ready(&thread.signals)
        };
        let ready: Vec<usize> =
            (0..self.threads.others.len()).filter(|index| can_run(&self.threads.others[*index])).collect();
        let current = self.can_go_on();
        let total = ready.len() as u64 + u64::from(current);
        if total == 0 {
            return false;
        }
        let chosen = match self.threads.draw(total) {
            Some(drawn) => ready.get(drawn as usize),
            None => ready.first(),
        };
        // Those before the chosen one go to the end, behind the current one, as if they had had their turns.
        if let Some(index) = chosen {
            let paused = Thread {
                own: self.threads.current.clone(),
                registers: self.world.registers.contents().into(),
                pc: self.pc(),
                signals: ThreadSignals::default(),
            };
            self.threads.others.push_back(paused);
            self.threads.others.rotate_left(*index);
            let next = self.threads.others.pop_front().expect("one was just added");
            let paused = self.signals.exchange(next.signals.clone());
            let place = self.threads.others.len() - 1 - index;
            self.threads.others[place].signals = paused;
            self.resume(next);
        } else {
            self.threads.turn += 1;
            let length = self.threads.turn_length();
            self.threads.turn_end =
                if self.threads.is_alone() { u64::MAX } else { self.world.time.saturating_add(length) };
        }
        true
    }

    /// Does what an event says.
    pub(crate) fn apply(&mut self, event: Event) -> Option<Ending> {
        match event {
            Event::Signal { signal, thread: Some(thread), information } => {
                self.arrive_at(thread, signal, *information);
            }
            Event::Signal { signal, thread: None, information } => self.arrive(signal, *information),
            Event::Answer { thread, reply } => {
                let call = self.own_of(thread)?.wait.call()?;
                return self.complete(thread, call, reply);
            }
            Event::Timeout { thread } => {
                let own = self.own_of(thread)?;
                own.wait = Wait::Nothing;
                own.deadline = None;
                let number = own.call;
                self.end_call(thread, number, Err(Errno(libc::ETIMEDOUT)));
            }
            Event::Closed(ending) => return Some(ending),
        }
        None
    }

    /// A call that a thread waited in is done: that is its step.
    fn complete(&mut self, thread: Tid, call: Call, reply: Reply) -> Option<Ending> {
        let own = self.own_of(thread)?;
        own.wait = Wait::Nothing;
        match reply {
            Reply::Value(value) => self.end_call(thread, call.number, Ok(value)),
            Reply::Error(errno) => self.end_call(thread, call.number, Err(errno)),
            Reply::Interrupted => own.wait = Wait::Interrupted(call),
            Reply::End(ending) => return Some(ending),
            Reply::Done | Reply::Wait => {}
        }
        None
    }

    /// A call that its thread waited in comes to its end, which is its step.
    fn end_call(&mut self, thread: Tid, number: u64, answer: Answer) {
        self.world.time += 1;
        let pc = self.thread(thread).map_or(0, |(_, pc)| pc);
        self.set_result_of(thread, answer);
        self.tell_call(thread, number, pc);
    }

    fn own_of(&mut self, thread: Tid) -> Option<&mut Own> {
        if self.threads.number() == thread {
            return Some(&mut self.threads.current);
        }
        let process = self.threads.process;
        let named = |own: &Own| own.number.unwrap_or(process) == thread;
        self.threads.others.iter_mut().map(|thread| &mut thread.own).find(|own| named(own))
    }

    fn set_result_of(&mut self, thread: Tid, answer: Answer) {
        if self.threads.number() == thread {
            self.set_result(answer);
        } else if let Some(own) = self.own_of(thread) {
            own.result = Some(answer);
        }
    }

    /// The signals that interrupted the call of the current thread have arrived by now: it is made again, or fails.
    /// Whether that was a step.
    pub(crate) fn settle_interrupted(&mut self) -> bool {
        if let Wait::Interrupted(call) = self.threads.current.wait {
            self.threads.current.wait = Wait::Nothing;
            if self.signals.next_restarts() {
                self.repeat_call(call.number);
            } else {
                self.end_call(self.threads.number(), call.number, Err(Errno(libc::EINTR)));
                return true;
            }
        }
        false
    }

    /// A signal has come that the current thread waits for: its call is made again, and takes it.
    pub(crate) fn settle_awaited(&mut self) -> bool {
        match self.threads.current.wait {
            Wait::Signals { call, set } if self.signals.own().has_of(set) => {
                self.threads.current.wait = Wait::Nothing;
                let thread = self.threads.number();
                self.with_outside(|outside, process| outside.abandon(process, thread));
                self.repeat_call(call.number);
                true
            }
            _ => false,
        }
    }

    /// A signal is about to be handed to the current thread: if it waits, its call is over, or will be made again.
    pub(crate) fn interrupt_wait(&mut self, restarts: bool) -> Option<Ending> {
        let wait = std::mem::replace(&mut self.threads.current.wait, Wait::Nothing);
        let deadline = self.threads.current.deadline.take();
        match wait {
            // A lock that has an owner is waited for in any case, another if no time was given.
            Wait::Lock { call, .. }
                if crate::system::has_owner(&call.arguments) || restarts && deadline.is_none() =>
            {
                // The result had taken the place of the first argument, on some machines.
                let first = self.machine.abi().call_arguments[0];
                self.world.registers.set(first, call.arguments[0]);
                self.repeat_call(call.number);
            }
            Wait::Nothing => {}
            Wait::Interrupted(call) | Wait::Call(call) | Wait::Signals { call, .. } => {
                let thread = self.threads.number();
                let stands = self.with_outside(|outside, process| outside.abandon(process, thread));
                match stands {
                    Some(reply) => return self.complete(thread, call, reply),
                    None if restarts && is_restartable(self, &call) => self.repeat_call(call.number),
                    None => self.end_call(thread, call.number, Err(Errno(libc::EINTR))),
                }
            }
            Wait::Lock { .. } | Wait::Signal => {
                let (thread, number) = (self.threads.number(), self.threads.current.call);
                self.end_call(thread, number, Err(Errno(libc::EINTR)));
            }
        }
        None
    }

    /// The number at a lock.
    pub(crate) fn lock_value(&mut self, address: u64) -> Result<u32, Fault> {
        let bytes = self.world.memory.load::<4>(address)?;
        Ok(self.machine.abi().number(&bytes) as u32)
    }

    /// Ends the program because of what a thread asked for.
    pub(crate) fn no_thread(&mut self, what: &str) -> Ending {
        let at = self.describe(self.pc());
        Ending::Unsupported { what: format!("a second thread {what}"), at }
    }

    /// Whether a signal is for a thread of ours, and not for the whole process.
    pub(crate) fn concerns_thread(&self, thread: u64, signal: u64) -> bool {
        let known = thread == u64::from(self.threads.process) || self.threads.has(thread);
        if !known || !(1..=64).contains(&signal) || self.signals.handles(signal as i32) {
            return known;
        }
        // What happens without a handler happens to the whole process, unless the thread keeps the signal back.
        let mask =
            self.all_masks().find(|(number, _)| u64::from(*number) == thread).map_or(0, |(_, mask)| mask);
        mask & 1 << (signal - 1) != 0
    }

    fn all_masks(&self) -> impl Iterator<Item = (Tid, u64)> {
        let own = (self.threads.number(), self.signals.own().mask);
        let others = self.threads.others.iter();
        let others = others.map(|thread| (self.threads.number_of(&thread.own), thread.signals.mask));
        std::iter::once(own).chain(others)
    }

    /// Sends a signal from thread to thread.
    pub(crate) fn signal_thread(&mut self, thread: u64, signal: u64) -> Reply {
        if signal == 0 {
            return Reply::Value(0);
        }
        if signal > 64 {
            return Reply::Error(Errno(libc::EINVAL));
        }
        const SENT_TO_A_THREAD: i32 = -6;
        let mut information = [0u8; 128];
        information[..4].copy_from_slice(&(signal as i32).to_le_bytes());
        information[8..12].copy_from_slice(&SENT_TO_A_THREAD.to_le_bytes());
        information[16..20].copy_from_slice(&self.threads.process.to_le_bytes());
        information[20..24].copy_from_slice(&self.facts.user.to_le_bytes());
        self.arrive_at(thread as Tid, signal as i32, information);
        Reply::Value(0)
    }
}

/// Whether a call that a signal interrupts is made again if the handler says so. Those with a time of their own never are.
fn is_restartable(process: &Process, call: &Call) -> bool {
    let name = table::find(process.machine, call.number).map_or("", |row| row.name);
    if name == "futex" {
        return call.arguments[3] == 0 || crate::system::has_owner(&call.arguments);
    }
    !matches!(
        name,
        "poll"
            | "ppoll"
            | "select"
            | "pselect6"
            | "epoll_wait"
            | "epoll_pwait"
            | "epoll_pwait2"
            | "semtimedop"
            | "semop"
            | "nanosleep"
            | "clock_nanosleep"
            | "rt_sigtimedwait"
    )
}
