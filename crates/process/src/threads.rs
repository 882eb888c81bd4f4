//! The threads of an emulated process: one runs at a time, in turns of a fixed number of instructions.
//!
//! Turns are counted in instructions, so two runs that get the same answers from outside take the same turns. What
//! belongs to a thread and not to the process (registers, where it is, its signals) is kept in [`Thread`] while others
//! run, and in the process itself while it runs. No system call may keep the others from running: where it would have to
//! wait, the thread's turn ends and the call is made again at its next turn; waiting for a lock is kept in books here.

use crate::attention;
use crate::elf::Machine;
use crate::memory::Fault;
use crate::process::{Ending, Process};
use crate::signal::{self, ThreadSignals};
use crate::system::{Answer, Errno, host};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// So many instructions are one turn.
const TURN: u64 = 50_000;

/// Linux has a limit too; a program that makes threads without end must hear of it.
const MOST: usize = 4096;

/// Threads get numbers that no process has: the largest a process can have is one less.
const FIRST_NUMBER: u32 = 1 << 22;

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Nothing: it can run.
    Nothing,
    /// To make its system call again, at which it stands.
    Call,
    /// To be woken from a lock; the call has been made and its result is in place.
    Lock {
        /// Where the lock is.
        address: u64,
        /// Which kinds of waking count.
        kinds: u32,
    },
}

/// A thread that is not running.
#[derive(Clone)]
struct Thread {
    own: Own,
    registers: Box<[u8]>,
    pc: u64,
    signals: ThreadSignals,
}

/// What is known of a thread besides its state.
#[derive(Clone)]
struct Own {
    /// Its number; the first thread has that of the process.
    number: Option<u32>,
    /// Where to write a zero when it ends, for whoever waits for that.
    cleared: u64,
    wait: Wait,
    /// When waiting ends without what was waited for.
    deadline: Option<Instant>,
}

/// The threads of a process.
#[derive(Clone)]
pub(crate) struct Threads {
    current: Own,
    /// The others, in the order of their turns.
    others: VecDeque<Thread>,
    next_number: u32,
    /// When the turn of the current one ends.
    turn_end: u64,
    /// How many turns in a row have ended with waiting.
    idle: usize,
}

impl Default for Threads {
    fn default() -> Self {
        Threads {
            current: Own { number: None, cleared: 0, wait: Wait::Nothing, deadline: None },
            others: VecDeque::new(),
            next_number: FIRST_NUMBER,
            turn_end: u64::MAX,
            idle: 0,
        }
    }
}

impl Threads {
    /// Whether there is only one.
    pub fn is_alone(&self) -> bool {
        self.others.is_empty()
    }

    /// When the turn of the current one ends.
    pub fn turn_end(&self) -> u64 {
        self.turn_end
    }

    /// Only the current thread is left: the program was replaced, or this is a fork of it.
    pub fn keep_current(&mut self) {
        *self = Threads::default();
    }

    /// Where to write a zero when the current one ends.
    pub fn set_cleared(&mut self, address: u64) {
        self.current.cleared = address;
    }

    /// The number of the current one.
    pub fn number(&self) -> Answer {
        self.current.number.map_or_else(|| host(libc::SYS_gettid, [0; 6]), |number| Ok(u64::from(number)))
    }

    /// Whether a number is that of one of these threads, other than the first.
    pub fn has(&self, number: u64) -> bool {
        let numbers = self.others.iter().map(|thread| thread.own.number).chain([self.current.number]);
        numbers.flatten().any(|known| u64::from(known) == number)
    }

    /// Puts a signal for another thread with that number where it will find it.
    pub fn send(&mut self, number: u64, signal: i32, information: signal::Information) {
        let first = u64::from(std::process::id());
        let named = |own: &Own| own.number.map_or(first, u64::from) == number;
        if let Some(thread) = self.others.iter_mut().find(|thread| named(&thread.own)) {
            thread.signals.held.push_back((signal, information));
        }
    }

    /// When the call that the current one is waiting in gives up; `most` counts from the first time that it is asked.
    pub fn deadline(&mut self, most: Option<Duration>) -> Option<Instant> {
        if self.current.deadline.is_none() {
            self.current.deadline = most.and_then(|most| Instant::now().checked_add(most));
        }
        self.current.deadline
    }

    /// The current one does not wait any more.
    pub fn goes_on(&mut self) {
        self.current.wait = Wait::Nothing;
        self.current.deadline = None;
        self.idle = 0;
    }

    /// Wakes up to `count` threads that wait for a lock, in the order in which they came; how many.
    pub fn wake(&mut self, address: u64, count: u64, kinds: u32) -> u64 {
        let mut woken = 0;
        for thread in &mut self.others {
            if woken < count
                && matches!(thread.own.wait, Wait::Lock { address: at, kinds: own } if at == address && own & kinds != 0)
            {
                thread.own.wait = Wait::Nothing;
                thread.own.deadline = None;
                woken += 1;
            }
        }
        woken
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
}

impl Process {
    /// Makes a thread, which starts where the current one is, on a stack of its own; its number.
    pub(crate) fn new_thread(&mut self, stack: u64, storage: Option<u64>, cleared: u64) -> Answer {
        if self.threads.others.len() >= MOST {
            return Err(Errno(libc::EAGAIN));
        }
        let number = self.threads.next_number;
        self.threads.next_number += 1;
        let before: Box<[u8]> = self.world.registers.contents().into();
        self.world.registers.set("RAX", 0);
        self.world.registers.set("RSP", stack);
        if let Some(storage) = storage {
            self.world.registers.set("FS_OFFSET", storage);
        }
        let thread = Thread {
            own: Own { number: Some(number), cleared, wait: Wait::Nothing, deadline: None },
            registers: self.world.registers.contents().into(),
            pc: self.pc(),
            signals: ThreadSignals::of_new(),
        };
        self.world.registers.restore(&before);
        self.threads.others.push_back(thread);
        self.threads.turn_end = self.world.time + TURN;
        Ok(u64::from(number))
    }

    /// Ends the current thread; false if it is the last.
    pub(crate) fn end_thread(&mut self) -> bool {
        if self.threads.is_alone() {
            return false;
        }
        let cleared = self.threads.current.cleared;
        if cleared != 0 && self.world.memory.write(cleared, &[0; 4]).is_ok() {
            self.threads.wake(cleared, 1, u32::MAX);
        }
        let next = self.threads.others.pop_front().expect("not alone");
        self.resume(next);
        if self.threads.current.wait != Wait::Nothing {
            self.next_turn();
        }
        true
    }

    fn resume(&mut self, thread: Thread) {
        self.world.registers.restore(&thread.registers);
        self.set_pc(thread.pc);
        self.signals.resume(thread.signals);
        self.threads.current = thread.own;
        self.threads.turn_end =
            if self.threads.is_alone() { u64::MAX } else { self.world.time.saturating_add(TURN) };
    }

    /// The current thread waits until its call can be made.
    pub(crate) fn wait_for_call(&mut self) {
        self.threads.current.wait = Wait::Call;
        self.threads.idle += 1;
        self.next_turn();
    }

    /// The current thread waits for a lock.
    pub(crate) fn wait_for_lock(&mut self, address: u64, kinds: u32, deadline: Option<Instant>) {
        self.threads.current.wait = Wait::Lock { address, kinds };
        self.threads.current.deadline = deadline;
        self.next_turn();
    }

    /// The current thread has had its turn.
    pub(crate) fn turn_over(&mut self) {
        self.threads.idle = 0;
        self.next_turn();
    }

    /// Lets the next thread run that can.
    pub(crate) fn next_turn(&mut self) {
        let nap = Duration::from_micros(200);
        loop {
            let mut runnable = false;
            for _ in 0..=self.threads.others.len() {
                let paused = Thread {
                    own: self.threads.current.clone(),
                    registers: self.world.registers.contents().into(),
                    pc: self.pc(),
                    signals: self.signals.pause(),
                };
                self.threads.others.push_back(paused);
                let next = self.threads.others.pop_front().expect("one was just added");
                self.resume(next);
                if self.can_run() {
                    runnable = true;
                    break;
                }
            }
            // Threads that only want to try again must not keep the processor busy.
            let waiting =
                self.threads.current.wait == Wait::Call && self.threads.idle > self.threads.others.len();
            if runnable && !waiting {
                return;
            }
            if attention::is_wanted() {
                return;
            }
            self.threads.idle = 0;
            // A signal ends the nap, and is seen before the next instruction.
            std::thread::sleep(nap);
            if runnable || attention::is_wanted() {
                return;
            }
        }
    }

    /// Whether the thread that was just resumed has something to do.
    fn can_run(&mut self) -> bool {
        if self.signals.has_for_thread() {
            attention::want();
            return true;
        }
        let late = self.threads.current.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        match self.threads.current.wait {
            Wait::Nothing | Wait::Call => true,
            Wait::Lock { .. } if late => {
                self.threads.goes_on();
                self.set_result(Err(Errno(libc::ETIMEDOUT)));
                true
            }
            Wait::Lock { .. } => false,
        }
    }

    /// A signal is about to be handed to the current thread: if it waits, its call is over, or will be made again.
    pub(crate) fn interrupt_wait(&mut self, restarts: bool) {
        match self.threads.current.wait {
            Wait::Nothing => {}
            Wait::Call if restarts => {}
            Wait::Call => {
                debug_assert_eq!(self.machine, Machine::X86_64, "no threads elsewhere");
                self.set_pc(self.pc().wrapping_add(2));
                self.set_result(Err(Errno(libc::EINTR)));
            }
            Wait::Lock { .. } => self.set_result(Err(Errno(libc::EINTR))),
        }
        self.threads.goes_on();
    }

    /// The number at a lock.
    pub(crate) fn lock_value(&mut self, address: u64) -> Result<u32, Fault> {
        let bytes = self.world.memory.load::<4>(address)?;
        Ok(match self.machine {
            Machine::X86_64 => u32::from_le_bytes(bytes),
            Machine::PowerPc => u32::from_be_bytes(bytes),
        })
    }

    /// Ends the program because of what a thread asked for.
    pub(crate) fn no_thread(&mut self, what: &str) -> Ending {
        let at = self.describe(self.pc());
        Ending::Unsupported { what: format!("a second thread {what}"), at }
    }
}
