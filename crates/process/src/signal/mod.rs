//! Signals: the program's dispositions, what has arrived, and the calls about them.
//!
//! The host's kernel keeps the masks and the dispositions, so that blocking, ignoring, default actions, interrupted
//! calls and signals between processes are real. Only a handler of the program is not installed as such: in its place
//! stands [`arrivals::note`], which writes down that the signal came; the execution loop looks at [`attention`] between
//! blocks and builds the frame that Linux would have built. Faults of the program itself never reach the host: the loop reports
//! them and they become signals here.

mod arrivals;
pub(crate) mod powerpc;
mod x86_64;

use crate::attention;
use crate::elf::Machine;
use crate::process::{Ending, Process};
use crate::system::{Answer, Arguments, Errno, Reply, host};
pub(crate) use arrivals::Information;
use std::collections::VecDeque;

fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// What the program wants done with a signal.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
struct Action {
    handler: u64,
    flags: u64,
    restorer: u64,
    mask: u64,
}

/// Signals that C libraries use between threads.
const BETWEEN_THREADS: std::ops::RangeInclusive<i32> = 32..=33;

const DEFAULT: u64 = 0;
const IGNORE: u64 = 1;

/// The signal state of a process.
#[derive(Clone)]
pub struct Signals {
    actions: [Action; 65],
    /// Arrived, but masked by the handler that is running, in the order of their arrival.
    held: VecDeque<(i32, Information)>,
    stack: AlternateStack,
    exception: Exception,
}

/// The part of the signal state that every thread has of its own, while another runs.
#[derive(Clone)]
pub(crate) struct ThreadSignals {
    /// Arrived for this thread, but not handed over yet.
    pub held: VecDeque<(i32, Information)>,
    mask: u64,
    stack: AlternateStack,
    exception: Exception,
}

impl ThreadSignals {
    /// A new thread inherits the mask of its maker, and nothing else.
    pub fn of_new() -> Self {
        let fresh = Signals::default();
        let mask = host_mask(libc::SIG_BLOCK, None);
        ThreadSignals { held: fresh.held, mask, stack: fresh.stack, exception: fresh.exception }
    }
}

/// What the processor says about the latest fault; Linux shows it to every handler from then on.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct Exception {
    /// The number of the exception.
    pub number: u64,
    /// The error code.
    pub code: u64,
    /// The address, if it was a page fault.
    pub address: Option<u64>,
}

#[derive(Clone, Copy)]
struct AlternateStack {
    start: u64,
    flags: u64,
    size: u64,
}

impl Default for Signals {
    fn default() -> Self {
        Signals {
            actions: [Action::default(); 65],
            held: VecDeque::new(),
            exception: Exception::default(),
            stack: AlternateStack { start: 0, flags: libc::SS_DISABLE as u64, size: 0 },
        }
    }
}

impl Signals {
    /// Takes over the host's dispositions: what was ignored when we started stays ignored, all else is default.
    pub(crate) fn take_over() -> Self {
        let mut signals = Signals::default();
        for signal in 1..=64 {
            let mut old: libc::sigaction = unsafe { std::mem::zeroed() };
            if unsafe { libc::sigaction(signal, std::ptr::null(), &mut old) } != 0 {
                continue;
            }
            // Rust's runtime ignores SIGPIPE and watches for its own stack overflow; programs expect neither.
            let ours = matches!(signal, libc::SIGPIPE | libc::SIGSEGV | libc::SIGBUS);
            if old.sa_sigaction == libc::SIG_IGN && !ours {
                signals.actions[signal as usize].handler = IGNORE;
            } else if ours {
                unsafe { libc::signal(signal, libc::SIG_DFL) };
            }
        }
        signals
    }

    /// Forgets the handlers, as a new program in the same process does; ignored signals stay ignored.
    pub(crate) fn reset(&mut self) {
        for signal in 1..=64 {
            let action = &mut self.actions[signal as usize];
            if action.handler > IGNORE {
                unsafe { libc::signal(signal, libc::SIG_DFL) };
            }
            if action.handler != IGNORE {
                *action = Action::default();
            }
        }
        self.stack = Signals::default().stack;
    }

    /// Forgets what has arrived: a child starts without its parent's signals.
    pub(crate) fn forget_arrivals(&mut self) {
        while arrivals::take().is_some() {}
        self.held.clear();
    }

    /// Whether the signal that will be handed over next asks for interrupted calls to be made again.
    pub(crate) fn next_restarts(&self) -> bool {
        // Without one: interrupted by a signal that has no handler here, such as one that stopped and continued us.
        arrivals::waiting()
            .min()
            .is_none_or(|next| self.actions[next as usize].flags & libc::SA_RESTART as u64 != 0)
    }

    /// Takes out what belongs to the thread that is about to pause.
    pub(crate) fn pause(&mut self) -> ThreadSignals {
        let held = std::mem::take(&mut self.held);
        let mask = host_mask(libc::SIG_BLOCK, None);
        ThreadSignals { held, mask, stack: self.stack, exception: self.exception }
    }

    /// Puts it back.
    pub(crate) fn resume(&mut self, thread: ThreadSignals) {
        self.held = thread.held;
        self.stack = thread.stack;
        self.exception = thread.exception;
        host_mask(libc::SIG_SETMASK, Some(thread.mask));
    }

    /// Whether the running thread has a signal that it can be handed.
    pub(crate) fn has_for_thread(&self) -> bool {
        !self.held.is_empty() && self.is_ready(host_mask(libc::SIG_BLOCK, None))
    }

    /// Gives the running thread a signal that did not come from the host.
    pub(crate) fn give(&mut self, signal: i32, information: Information) {
        self.held.push_back((signal, information));
        attention::want();
    }

    /// Whether the program has a handler for a signal.
    pub(crate) fn handles(&self, signal: i32) -> bool {
        self.actions.get(signal as usize).is_some_and(|action| action.handler > IGNORE)
    }

    /// Whether some signal waits that a mask lets through.
    fn is_ready(&self, mask: u64) -> bool {
        self.held.iter().any(|(signal, _)| mask & bit(*signal) == 0)
    }
}

/// Whether the stack pointer is on the alternate stack.
fn on_alternate_stack(process: &Process) -> bool {
    let stack = process.signals.stack;
    let name = if process.machine == Machine::X86_64 { "RSP" } else { "R1" };
    let pointer = process.world.registers.get(name);
    stack.size > 0 && pointer > stack.start && pointer - stack.start <= stack.size
}

fn host_mask(how: i32, new: Option<u64>) -> u64 {
    let mut old = 0u64;
    let new_pointer = new.as_ref().map_or(0, |mask| std::ptr::from_ref(mask) as usize);
    let _ = host(
        libc::SYS_rt_sigprocmask,
        [how as usize, new_pointer, std::ptr::from_mut(&mut old) as usize, 8, 0, 0],
    );
    old
}

impl Process {
    /// Hands over a signal that arrived, if one may be: the program is then at its handler's first instruction.
    pub(crate) fn hand_over(&mut self) -> Option<Ending> {
        const FIRST_REAL_TIME: i32 = 32;
        let mask = host_mask(libc::SIG_BLOCK, None);
        // What has just arrived was not blocked when it came, whatever the mask is now (think of `sigsuspend`); what was
        // held back before waits for the mask.
        let mut let_through = !mask;
        while let Some((signal, information)) = arrivals::take() {
            let_through |= bit(signal);
            // Of the classic signals one at a time waits.
            if signal >= FIRST_REAL_TIME || self.signals.held.iter().all(|(held, _)| *held != signal) {
                self.signals.held.push_back((signal, information));
            }
        }
        let ready =
            self.signals.held.iter().enumerate().filter(|(_, (signal, _))| let_through & bit(*signal) != 0);
        let (index, _) = ready.min_by_key(|(index, (signal, _))| (*signal, *index))?;
        let (signal, information) = self.signals.held.remove(index)?;
        let restarts = self.signals.actions[signal as usize].flags & libc::SA_RESTART as u64 != 0;
        self.interrupt_wait(restarts);
        let ending = self.deliver(signal, information, mask);
        if self.signals.is_ready(host_mask(libc::SIG_BLOCK, None)) {
            attention::want();
        }
        ending
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
        let address_then = exception.address.or(self.signals.exception.address);
        self.signals.exception = Exception { address: address_then, ..exception };
        let mask = host_mask(libc::SIG_BLOCK, None);
        let action = self.signals.actions[signal as usize];
        if action.handler <= IGNORE || mask & bit(signal) != 0 {
            let at = self.describe(self.pc());
            return Some(Ending::Killed { signal, why: Some(why), at: Some(at) });
        }
        let mut information = [0u8; 128];
        information[..4].copy_from_slice(&signal.to_le_bytes());
        information[8..12].copy_from_slice(&code.to_le_bytes());
        information[16..24].copy_from_slice(&address.to_le_bytes());
        self.deliver(signal, information, mask)
    }

    fn deliver(&mut self, signal: i32, information: Information, mask: u64) -> Option<Ending> {
        let action = self.signals.actions[signal as usize];
        if action.handler <= IGNORE {
            return (action.handler == DEFAULT).then_some(Ending::Killed { signal, why: None, at: None });
        }
        let entered = match self.machine {
            Machine::X86_64 => x86_64::enter(self, signal, &action, &information, mask),
            Machine::PowerPc => powerpc::enter(self, signal, &action, &information, mask),
        };
        if entered.is_err() {
            let why = String::from("no room on the stack for a signal handler");
            let at = self.describe(self.pc());
            return Some(Ending::Killed { signal: libc::SIGSEGV, why: Some(why), at: Some(at) });
        }
        let own = if action.flags & libc::SA_NODEFER as u64 == 0 { bit(signal) } else { 0 };
        host_mask(libc::SIG_BLOCK, Some(action.mask | own));
        if action.flags & libc::SA_RESETHAND as u64 != 0 {
            self.signals.actions[signal as usize] = Action::default();
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        None
    }
}

const INVALID: Errno = Errno(libc::EINVAL);

fn read_action(process: &mut Process, at: u64) -> Result<Action, Errno> {
    let word = process.machine.word() as u64;
    let mask = process.take(at + 3 * word, 8)?;
    Ok(Action {
        handler: process.take_word(at)?,
        flags: process.take_word(at + word)?,
        restorer: process.take_word(at + 2 * word)?,
        mask: mask_value(process.machine, &mask),
    })
}

/// A set of signals: on a 32-bit big-endian machine two words, the lower signals first.
pub(crate) fn mask_value(machine: Machine, bytes: &[u8]) -> u64 {
    let bytes: [u8; 8] = bytes.try_into().expect("eight bytes");
    match machine {
        Machine::X86_64 => u64::from_le_bytes(bytes),
        Machine::PowerPc => u64::from_be_bytes(bytes).rotate_left(32),
    }
}

fn mask_bytes(machine: Machine, mask: u64) -> [u8; 8] {
    match machine {
        Machine::X86_64 => mask.to_le_bytes(),
        Machine::PowerPc => mask.rotate_left(32).to_be_bytes(),
    }
}

pub(crate) fn action(process: &mut Process, arguments: &Arguments) -> Reply {
    change_action(process, arguments).into()
}

fn change_action(process: &mut Process, arguments: &Arguments) -> Answer {
    let [signal, new, old, size, ..] = *arguments;
    if !(1..=64).contains(&signal) || size != 8 {
        return Err(INVALID);
    }
    let forbidden = matches!(signal as i32, libc::SIGKILL | libc::SIGSTOP);
    let wanted = if new == 0 { None } else { Some(read_action(process, new)?) };
    if wanted.is_some() && forbidden {
        return Err(INVALID);
    }
    let current = process.signals.actions[signal as usize];
    if old != 0 {
        let machine = process.machine;
        let mut bytes = Vec::new();
        for value in [current.handler, current.flags, current.restorer] {
            bytes.extend(machine.word_bytes(value));
        }
        bytes.extend(mask_bytes(machine, current.mask));
        process.put(old, &bytes)?;
    }
    if let Some(wanted) = wanted {
        let mut host_action: libc::sigaction = unsafe { std::mem::zeroed() };
        host_action.sa_sigaction = match wanted.handler {
            DEFAULT => libc::SIG_DFL,
            IGNORE => libc::SIG_IGN,
            _ => arrivals::note as *const () as usize,
        };
        // Never restarting: the loop has to hand the signal over first, and makes the call again itself.
        host_action.sa_flags =
            libc::SA_SIGINFO | (wanted.flags as i32 & (libc::SA_NOCLDSTOP | libc::SA_NOCLDWAIT));
        unsafe {
            libc::sigfillset(&mut host_action.sa_mask);
            // Two signals the C library keeps to itself, ours as much as the program's, for whose threads it wants them;
            // they are sent from thread to thread, which does not pass through the host.
            let installed = libc::sigaction(signal as i32, &host_action, std::ptr::null_mut()) == 0;
            if !installed && !BETWEEN_THREADS.contains(&(signal as i32)) {
                return Err(INVALID);
            }
        }
        process.signals.actions[signal as usize] = wanted;
    }
    Ok(0)
}

pub(crate) fn mask(process: &mut Process, arguments: &Arguments) -> Reply {
    let [how, new, old, size, ..] = *arguments;
    let mut change = || {
        if size != 8 {
            return Err(INVALID);
        }
        let wanted = if new == 0 {
            None
        } else {
            if how > 2 {
                return Err(INVALID);
            }
            let bytes = process.take(new, 8)?;
            Some(mask_value(process.machine, &bytes))
        };
        let before = host_mask(how as i32, wanted);
        if old != 0 {
            let bytes = mask_bytes(process.machine, before);
            process.put(old, &bytes)?;
        }
        if !process.signals.held.is_empty() {
            attention::want();
        }
        Ok(0)
    };
    change().into()
}

pub(crate) fn pending(process: &mut Process, arguments: &Arguments) -> Reply {
    let mut waiting = 0u64;
    let answer = host(libc::SYS_rt_sigpending, [std::ptr::from_mut(&mut waiting) as usize, 8, 0, 0, 0, 0]);
    let held = process.signals.held.iter().fold(0, |bits, (signal, _)| bits | bit(*signal));
    let bytes = mask_bytes(process.machine, waiting | held);
    answer.and_then(|_| process.put(arguments[0], &bytes).map(|()| 0)).into()
}

pub(crate) fn suspend(process: &mut Process, arguments: &Arguments) -> Reply {
    let mut wait = || {
        let bytes = process.take(arguments[0], 8)?;
        let mask = mask_value(process.machine, &bytes);
        if arrivals::waiting().next().is_some() || process.signals.is_ready(mask) {
            return Err(Errno(libc::EINTR));
        }
        host(libc::SYS_rt_sigsuspend, [std::ptr::from_ref(&mask) as usize, 8, 0, 0, 0, 0])
    };
    wait().into()
}

pub(crate) fn alternate_stack(process: &mut Process, arguments: &Arguments) -> Reply {
    let [new, old, ..] = *arguments;
    let mut change = || {
        let machine = process.machine;
        let word = machine.word() as u64;
        let current = process.signals.stack;
        let on_it = on_alternate_stack(process);
        let wanted = if new == 0 {
            None
        } else {
            let flags = process.take(new + word, 4)?;
            let flags: [u8; 4] = flags[..].try_into().expect("four bytes");
            let flags = if machine == Machine::X86_64 {
                u32::from_le_bytes(flags)
            } else {
                u32::from_be_bytes(flags)
            };
            let wanted = AlternateStack {
                start: process.take_word(new)?,
                flags: u64::from(flags),
                size: process.take_word(new + 2 * word)?,
            };
            if on_it {
                return Err(Errno(libc::EPERM));
            }
            let disabled = flags as i32 & libc::SS_DISABLE != 0;
            if !disabled && wanted.size < libc::MINSIGSTKSZ as u64 {
                return Err(Errno(libc::ENOMEM));
            }
            Some(if disabled { Signals::default().stack } else { wanted })
        };
        if old != 0 {
            let flags = current.flags | if on_it { libc::SS_ONSTACK as u64 } else { 0 };
            // The flags are an `int`; on a 64-bit machine padding follows, and it comes out zero.
            let bytes = [current.start, flags, current.size].map(|value| machine.word_bytes(value)).concat();
            process.put(old, &bytes)?;
        }
        if let Some(wanted) = wanted {
            process.signals.stack = wanted;
        }
        Ok(0)
    };
    change().into()
}

/// Returns from a handler.
pub(crate) fn leave(process: &mut Process, _: &Arguments) -> Reply {
    let left = match process.machine {
        Machine::X86_64 => x86_64::leave(process),
        Machine::PowerPc => powerpc::leave(process),
    };
    match left {
        Ok(mask) => {
            host_mask(libc::SIG_SETMASK, Some(mask));
            if !process.signals.held.is_empty() {
                attention::want();
            }
            Reply::Done
        }
        Err(_) => {
            let why = String::from("returning from a signal handler without a frame");
            let at = process.describe(process.pc());
            Reply::End(Ending::Killed { signal: libc::SIGSEGV, why: Some(why), at: Some(at) })
        }
    }
}
