//! Signals: the program's dispositions and masks, what has arrived, and the calls about them.
//!
//! All of that is kept here, and mirrored to the world outside so that blocking, ignoring, default actions, interrupted
//! calls and signals between processes are real. What arrives comes in as an event of the door; the execution loop then
//! builds the frame that Linux would have built. Faults of the program itself never reach the host: the loop reports them
//! and they become signals here.

mod calls;
pub(crate) mod powerpc;
pub(crate) mod x86_64;

pub(crate) use calls::{
    action, alternate_stack, has_awaited, leave, mask, pause, pending, suspend, take_awaited, wait_for_one,
};

use crate::memory::Fault;
use crate::outside::{Disposition, Information, Tid};
use crate::process::{Ending, Process};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// Signals that no mask keeps out.
const UNBLOCKABLE: u64 = 1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1);

/// What the program wants done with a signal.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Action {
    handler: u64,
    flags: u64,
    restorer: u64,
    mask: u64,
}

/// How a machine lays out what a signal handler finds.
pub trait Frames: Sync {
    /// Prepares a new program for handlers to come.
    fn prepare(&self, process: &mut Process);
    /// Builds the frame of a handler and goes there.
    fn enter(&self, process: &mut Process, entry: &Entry) -> Result<(), Fault>;
    /// Restores what the frame holds; the mask to go back to.
    fn leave(&self, process: &mut Process) -> Result<u64, Fault>;
}

/// What a frame is built from.
pub struct Entry<'a> {
    signal: i32,
    action: Action,
    information: &'a Information,
    /// The mask to go back to.
    mask: u64,
}

/// Signals that C libraries use between threads.
const BETWEEN_THREADS: std::ops::RangeInclusive<i32> = 32..=33;

const DEFAULT: u64 = 0;
const IGNORE: u64 = 1;

/// The signal state of a process and of its running thread.
#[derive(Clone, Serialize, Deserialize)]
pub struct Signals {
    #[serde(with = "crate::arrays")]
    actions: [Action; 65],
    own: ThreadSignals,
}

/// The part of the signal state that every thread has of its own.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ThreadSignals {
    /// Arrived for this thread, but not handed over yet, in the order of arrival.
    #[serde(with = "crate::arrays::informed")]
    pub held: VecDeque<(i32, Information)>,
    /// The signals that wait.
    pub mask: u64,
    /// The mask to go back to from one that holds for a single call.
    saved: Option<u64>,
    stack: AlternateStack,
    exception: Exception,
}

impl Default for ThreadSignals {
    fn default() -> Self {
        ThreadSignals {
            held: VecDeque::new(),
            mask: 0,
            saved: None,
            stack: AlternateStack::NONE,
            exception: Exception::default(),
        }
    }
}

/// Whether a signal was sent to the thread and not to its process (SI_TKILL).
fn is_for_the_thread(information: &Information) -> bool {
    const CODE: std::ops::Range<usize> = 8..12;
    information[CODE] == (-6i32).to_le_bytes()
}

/// The place of the signal that Linux takes first: a thread's own before those of the process, those that faults send before
/// others, then by number.
fn first<'a>(signals: impl Iterator<Item = (usize, &'a (i32, Information))>) -> Option<usize> {
    const OF_FAULTS: [i32; 6] =
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGTRAP, libc::SIGFPE, libc::SIGSYS];
    let order = |(index, (signal, information)): &(usize, &(i32, Information))| {
        (!is_for_the_thread(information), !OF_FAULTS.contains(signal), *signal, *index)
    };
    signals.min_by_key(order).map(|(index, _)| index)
}

impl ThreadSignals {
    /// Whether one of these signals has arrived, be it kept back or not.
    pub fn has_of(&self, set: u64) -> bool {
        self.held.iter().any(|(signal, _)| set & bit(*signal) != 0)
    }

    /// Takes the one of these signals that comes first.
    pub fn take_of(&mut self, set: u64) -> Option<(i32, Information)> {
        let wanted = self.held.iter().enumerate().filter(|(_, (signal, _))| set & bit(*signal) != 0);
        let index = first(wanted)?;
        self.held.remove(index)
    }

    /// A new thread inherits the mask of its maker, and nothing else.
    pub fn of_new(maker: &ThreadSignals) -> Self {
        ThreadSignals { mask: maker.mask, ..ThreadSignals::default() }
    }
}

/// What the processor says about the latest fault; Linux shows it to every handler from then on.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Exception {
    /// The number of the exception.
    pub number: u64,
    /// The error code.
    pub code: u64,
    /// The address, if it was a page fault.
    pub address: Option<u64>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct AlternateStack {
    start: u64,
    flags: u64,
    size: u64,
}

impl AlternateStack {
    const NONE: AlternateStack = AlternateStack { start: 0, flags: libc::SS_DISABLE as u64, size: 0 };
}

impl Signals {
    /// Those in `ignored`, one bit each, are ignored; all else is default.
    pub(crate) fn new(ignored: u64) -> Self {
        let mut actions = [Action::default(); 65];
        for signal in (1..=64).filter(|signal| ignored & bit(*signal) != 0) {
            actions[signal as usize].handler = IGNORE;
        }
        Signals { actions, own: ThreadSignals::default() }
    }

    /// The part of the running thread.
    pub(crate) fn own(&self) -> &ThreadSignals {
        &self.own
    }

    /// Replaces the part of the running thread by another's; the old one.
    pub(crate) fn exchange(&mut self, thread: ThreadSignals) -> ThreadSignals {
        std::mem::replace(&mut self.own, thread)
    }

    /// Forgets what has arrived: a child starts without its parent's signals.
    pub(crate) fn forget_arrivals(&mut self) {
        self.own.held.clear();
    }

    /// What the next signal that can be handed over says about calls that it interrupts: whether to make them again.
    pub(crate) fn next_restarts(&self) -> bool {
        // Without one: interrupted by a signal that has no handler here, such as one that stopped and continued us.
        let next = self.ready(&self.own).map(|index| self.own.held[index].0);
        next.is_none_or(|next| self.restarts(next))
    }

    fn restarts(&self, signal: i32) -> bool {
        self.actions[signal as usize].flags & libc::SA_RESTART as u64 != 0
    }

    /// Puts a signal where a thread finds it.
    pub(crate) fn hold(thread: &mut ThreadSignals, signal: i32, information: Information) {
        const FIRST_REAL_TIME: i32 = 32;
        // Of the classic signals one at a time waits: one for the thread, and one for the process.
        let own = is_for_the_thread(&information);
        let is_same = |(held, other): &(i32, Information)| *held == signal && is_for_the_thread(other) == own;
        if signal >= FIRST_REAL_TIME || !thread.held.iter().any(is_same) {
            thread.held.push_back((signal, information));
        }
    }

    /// Gives the running thread a signal.
    pub(crate) fn give(&mut self, signal: i32, information: Information) {
        Self::hold(&mut self.own, signal, information);
    }

    /// Whether the program has a handler for any signal.
    pub(crate) fn handles_any(&self) -> bool {
        self.actions.iter().any(|action| action.handler > IGNORE)
    }

    /// Whether the program has a handler for a signal.
    pub(crate) fn handles(&self, signal: i32) -> bool {
        self.actions.get(signal as usize).is_some_and(|action| action.handler > IGNORE)
    }

    /// Whether nothing happens when a signal arrives.
    fn is_ignored(&self, signal: i32) -> bool {
        let handler = self.actions[signal as usize].handler;
        let harmless = matches!(
            signal,
            libc::SIGCHLD
                | libc::SIGURG
                | libc::SIGWINCH
                | libc::SIGCONT
                | libc::SIGTSTP
                | libc::SIGTTIN
                | libc::SIGTTOU
                | libc::SIGSTOP
        );
        handler == IGNORE || handler == DEFAULT && harmless
    }

    /// The place in its list of the signal that a thread is to be handed next.
    fn ready(&self, thread: &ThreadSignals) -> Option<usize> {
        let open = thread.held.iter().enumerate().filter(|(_, (signal, _))| thread.mask & bit(*signal) == 0);
        first(open)
    }

    /// Whether a thread has a signal that it can be handed.
    pub(crate) fn is_ready(&self, thread: &ThreadSignals) -> bool {
        !thread.held.is_empty() && self.ready(thread).is_some()
    }

    /// Uses a mask until the call that the running thread makes is over.
    pub(crate) fn set_temporary(&mut self, mask: u64) {
        let before = self.own.mask;
        self.own.saved.get_or_insert(before);
        self.own.mask = mask & !UNBLOCKABLE;
    }

    /// Goes back to the mask from before the call.
    pub(crate) fn end_temporary(&mut self) -> bool {
        match self.own.saved.take() {
            Some(mask) => {
                self.own.mask = mask;
                true
            }
            None => false,
        }
    }
}

/// The stack is given up when a handler starts on it, and comes back with the frame.
const SS_AUTODISARM: u64 = 1 << 31;

/// Whether the stack pointer is on the alternate stack. One that is given up when it is used is never in use.
fn on_alternate_stack(process: &Process) -> bool {
    let stack = process.signals.own.stack;
    if stack.flags & SS_AUTODISARM != 0 {
        return false;
    }
    let pointer = process.world.registers.get(process.machine.abi().stack_pointer);
    stack.size > 0 && pointer > stack.start && pointer - stack.start <= stack.size
}

impl Process {
    /// Mirrors the masks of all threads: the host keeps back what every thread keeps back.
    pub(crate) fn mirror_masks(&mut self) {
        let mask = self.threads.masks().fold(self.signals.own.mask, |all, mask| all & mask);
        self.outside().block(mask);
    }

    /// Forgets the handlers, as a new program in the same process does; ignored signals stay ignored.
    pub(crate) fn reset_signals(&mut self) {
        for signal in 1..=64 {
            let action = &mut self.signals.actions[signal as usize];
            let is_known_to_host = action.handler > IGNORE || action.flags != 0;
            if action.handler != IGNORE {
                *action = Action::default();
            }
            if is_known_to_host && action.handler == DEFAULT {
                self.outside().dispose(signal, Disposition::Default(0));
            }
        }
        self.signals.own.stack = AlternateStack::NONE;
    }

    /// Tells the host about every signal, when the process starts.
    pub(crate) fn announce_signals(&mut self) {
        for signal in 1..=64 {
            if self.signals.actions[signal as usize].handler == DEFAULT {
                self.outside().dispose(signal, Disposition::Default(0));
            }
        }
    }

    /// What waits of a signal is dropped, as the kernel does with what waits there when a program begins to ignore it.
    fn forget_signal(&mut self, signal: i32) {
        let others = self.threads.signals_mut();
        std::iter::once(&mut self.signals.own)
            .chain(others)
            .for_each(|thread| thread.held.retain(|(held, _)| *held != signal));
    }

    /// A signal arrives: the running thread takes it, or the first that does not keep it back.
    pub(crate) fn arrive(&mut self, signal: i32, information: Information) {
        if !(1..=64).contains(&signal) {
            return;
        }
        if self.signals.own.mask & bit(signal) != 0 && !self.threads.awaits(bit(signal)) {
            if let Some(thread) = self.threads.first_open(bit(signal)) {
                Signals::hold(thread, signal, information);
                return;
            }
            if let Some(thread) = self.threads.waiting_for_signal(bit(signal)) {
                Signals::hold(thread, signal, information);
                return;
            }
        }
        self.signals.give(signal, information);
    }

    /// A signal arrives for one thread; for the process, if that thread has ended.
    pub(crate) fn arrive_at(&mut self, thread: Tid, signal: i32, information: Information) {
        if thread == self.threads.number() {
            self.signals.give(signal, information);
        } else if let Some(signals) = self.threads.signals_of(thread.into()) {
            Signals::hold(signals, signal, information);
        } else {
            self.arrive(signal, information);
        }
    }

    /// Hands the running thread a signal that arrived, if one may be: it is then at its handler's first instruction.
    pub(crate) fn hand_over(&mut self) -> Option<Ending> {
        while let Some(index) = self.signals.ready(&self.signals.own) {
            let (signal, information) = self.signals.own.held.remove(index)?;
            if self.signals.is_ignored(signal) {
                continue;
            }
            let time = self.world.time;
            let restarts = self.signals.restarts(signal);
            let dies = self.signals.actions[signal as usize].handler == DEFAULT;
            if !dies && let Some(ending) = self.interrupt_wait(restarts) {
                return Some(ending);
            }
            if self.world.time != time {
                // The end of the call is a step of its own, and the delivery is the next.
                self.signals.own.held.insert(index, (signal, information));
                return None;
            }
            return self.deliver(signal, information);
        }
        None
    }

    /// A fault of the program: the signal that Linux would send.
    pub(crate) fn raise(
        &mut self,
        signal: i32,
        code: i32,
        address: u64,
        exception: Exception,
        why: String,
    ) -> Option<Ending> {
        let own = &mut self.signals.own;
        let address_then = exception.address.or(own.exception.address);
        own.exception = Exception { address: address_then, ..exception };
        let action = self.signals.actions[signal as usize];
        if action.handler <= IGNORE || self.signals.own.mask & bit(signal) != 0 {
            let at = self.describe(self.pc());
            return Some(Ending::Killed { signal, why: Some(why), at: Some(at) });
        }
        let mut information = [0u8; 128];
        information[..4].copy_from_slice(&signal.to_le_bytes());
        information[8..12].copy_from_slice(&code.to_le_bytes());
        information[16..24].copy_from_slice(&address.to_le_bytes());
        self.deliver(signal, information)
    }

    /// Builds the frame of a handler, which is a step of its own.
    fn deliver(&mut self, signal: i32, information: Information) -> Option<Ending> {
        let action = self.signals.actions[signal as usize];
        if action.handler <= IGNORE {
            return (action.handler == DEFAULT).then_some(Ending::Killed { signal, why: None, at: None });
        }
        self.settle_flags();
        let mask = self.signals.own.saved.take().unwrap_or(self.signals.own.mask);
        let entry = Entry { signal, action, information: &information, mask };
        if self.machine.abi().frames.enter(self, &entry).is_err() {
            let why = String::from("no room on the stack for a signal handler");
            let at = self.describe(self.pc());
            return Some(Ending::Killed { signal: libc::SIGSEGV, why: Some(why), at: Some(at) });
        }
        self.world.time += 1;
        let (step, thread) = (self.world.time, self.threads.number());
        if let Some(watcher) = &mut self.world.watcher {
            watcher.delivery(step, thread, signal);
        }
        let own = if action.flags & libc::SA_NODEFER as u64 == 0 { bit(signal) } else { 0 };
        self.signals.own.mask = (mask | action.mask | own) & !UNBLOCKABLE;
        if action.flags & libc::SA_RESETHAND as u64 != 0 {
            self.signals.actions[signal as usize].handler = DEFAULT;
            self.outside().dispose(signal, Disposition::Default(action.flags));
        }
        self.mirror_masks();
        None
    }

    /// Flags that no instruction reads are as the run happens to have left them, and a frame shows them: the door says
    /// what they were.
    fn settle_flags(&mut self) {
        let flags = self.machine.abi().flags;
        let registers = &self.world.registers;
        let now = flags
            .iter()
            .enumerate()
            .fold(0, |all, (index, name)| all | (registers.get(name) & 0xf) << (4 * index));
        let time = self.world.time;
        let then = self.outside().delivery(time, now);
        for (index, name) in flags.iter().enumerate() {
            self.world.registers.set(name, then >> (4 * index) & 0xf);
        }
    }
}
