//! The system calls about signals.

use super::{Action, AlternateStack, BETWEEN_THREADS, DEFAULT, IGNORE, UNBLOCKABLE, bit, on_alternate_stack};
use crate::outside::Disposition;
use crate::outside::live::Live;
use crate::process::{Ending, Process};
use crate::system::{Answer, Arguments, Errno, Reply};

const INVALID: Errno = Errno(libc::EINVAL);

fn read_action(process: &mut Process, at: u64) -> Result<Action, Errno> {
    let word = process.machine.abi().word as u64;
    let mask = process.take(at + 3 * word, 8)?;
    Ok(Action {
        handler: process.take_word(at)?,
        flags: process.take_word(at + word)?,
        restorer: process.take_word(at + 2 * word)?,
        mask: process.machine.abi().signal_set(&mask),
    })
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
        let abi = process.machine.abi();
        let mut bytes = Vec::new();
        for value in [current.handler, current.flags, current.restorer] {
            bytes.extend(abi.word_bytes(value));
        }
        bytes.extend(abi.signal_set_bytes(current.mask));
        process.put(old, &bytes)?;
    }
    if let Some(wanted) = wanted {
        let disposition = match wanted.handler {
            DEFAULT => Disposition::Default(wanted.flags),
            IGNORE => Disposition::Ignore,
            _ => Disposition::Handle(wanted.flags),
        };
        // Two signals the C library keeps to itself, ours as much as the program's, for whose threads it wants them;
        // they are sent from thread to thread, which does not pass through the host.
        let installed = process.outside().dispose(signal as i32, disposition);
        if !installed && !BETWEEN_THREADS.contains(&(signal as i32)) {
            return Err(INVALID);
        }
        process.signals.actions[signal as usize] = wanted;
        if process.signals.is_ignored(signal as i32) {
            process.forget_signal(signal as i32);
        }
    }
    Ok(0)
}

pub(crate) fn mask(process: &mut Process, arguments: &Arguments) -> Reply {
    let [how, new, old, size, ..] = *arguments;
    let mut change = || {
        if size != 8 {
            return Err(INVALID);
        }
        let before = process.signals.own.mask;
        let wanted = if new == 0 {
            before
        } else {
            let bytes = process.take(new, 8)?;
            let set = process.machine.abi().signal_set(&bytes);
            match how as i32 {
                libc::SIG_BLOCK => before | set,
                libc::SIG_UNBLOCK => before & !set,
                libc::SIG_SETMASK => set,
                _ => return Err(INVALID),
            }
        };
        process.signals.own.mask = wanted & !UNBLOCKABLE;
        process.mirror_masks();
        if old != 0 {
            let bytes = process.machine.abi().signal_set_bytes(before);
            process.put(old, &bytes)?;
        }
        Ok(0)
    };
    change().into()
}

pub(crate) fn pending(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let mut waiting = 0u64;
    let target = std::ptr::from_mut(&mut waiting) as usize;
    let answer = live.host(libc::SYS_rt_sigpending, [target, 8, 0, 0, 0, 0]);
    let held = process.signals.own.held.iter().fold(0, |bits, (signal, _)| bits | bit(*signal));
    let bytes = process.machine.abi().signal_set_bytes(waiting | held);
    answer.and_then(|_| process.put(arguments[0], &bytes).map(|()| 0)).into()
}

pub(crate) fn suspend(process: &mut Process, arguments: &Arguments) -> Reply {
    match process.take(arguments[0], 8) {
        Ok(bytes) => {
            let mask = process.machine.abi().signal_set(&bytes);
            process.signals.set_temporary(mask);
            process.wait_for_signal(arguments)
        }
        Err(errno) => Reply::Error(errno),
    }
}

pub(crate) fn pause(process: &mut Process, arguments: &Arguments) -> Reply {
    process.wait_for_signal(arguments)
}

pub(crate) fn alternate_stack(process: &mut Process, arguments: &Arguments) -> Reply {
    let [new, old, ..] = *arguments;
    let mut change = || {
        let abi = process.machine.abi();
        let word = abi.word as u64;
        let current = process.signals.own.stack;
        let on_it = on_alternate_stack(process);
        let wanted = if new == 0 {
            None
        } else {
            let flags = process.take(new + word, 4)?;
            let flags = abi.number(&flags);
            let wanted = AlternateStack {
                start: process.take_word(new)?,
                flags,
                size: process.take_word(new + 2 * word)?,
            };
            if on_it {
                return Err(Errno(libc::EPERM));
            }
            let mode = flags & !super::SS_AUTODISARM;
            if mode > libc::SS_DISABLE as u64 || mode == 3 {
                return Err(INVALID);
            }
            let disabled = mode == libc::SS_DISABLE as u64;
            if !disabled && wanted.size < libc::MINSIGSTKSZ as u64 {
                return Err(Errno(libc::ENOMEM));
            }
            Some(if disabled { AlternateStack { flags, ..AlternateStack::NONE } } else { wanted })
        };
        if old != 0 {
            let mode = match current.size {
                0 => libc::SS_DISABLE as u64,
                _ if on_it => libc::SS_ONSTACK as u64,
                _ => 0,
            };
            let flags = current.flags & super::SS_AUTODISARM | mode;
            // The flags are an `int`; on a 64-bit machine padding follows, and it comes out zero.
            let bytes = [current.start, flags, current.size].map(|value| abi.word_bytes(value)).concat();
            process.put(old, &bytes)?;
        }
        if let Some(wanted) = wanted {
            process.signals.own.stack = wanted;
        }
        Ok(0)
    };
    change().into()
}

/// The signals that a call waits for.
fn awaited(process: &mut Process, arguments: &Arguments) -> Option<u64> {
    let mut bytes = [0; 8];
    process.world.memory.set_quiet(true);
    let known = arguments[3] == 8 && process.world.memory.read(arguments[0], &mut bytes).is_ok();
    process.world.memory.set_quiet(false);
    known.then(|| process.machine.abi().signal_set(&bytes) & !UNBLOCKABLE)
}

impl Process {
    /// The signals that a call waits for, if it is one that does.
    pub(crate) fn signals_awaited(&mut self, call: &crate::outside::Call) -> Option<u64> {
        let row = crate::system::table::find(self.machine, call.number)?;
        (row.name == "rt_sigtimedwait").then(|| awaited(self, &call.arguments))?
    }
}

/// Whether a signal that is waited for has arrived here already.
pub(crate) fn has_awaited(process: &mut Process, arguments: &Arguments) -> bool {
    awaited(process, arguments).is_some_and(|set| process.signals.own.has_of(set))
}

/// Takes it.
pub(crate) fn take_awaited(process: &mut Process, arguments: &Arguments) -> Reply {
    let Some(set) = awaited(process, arguments) else { return Reply::Error(INVALID) };
    let Some((signal, information)) = process.signals.own.take_of(set) else {
        return Reply::Error(Errno(libc::EAGAIN));
    };
    let put = if arguments[1] == 0 { Ok(()) } else { process.put(arguments[1], &information) };
    put.map(|()| signal as u64).into()
}

/// Waits for one that the host has.
pub(crate) fn wait_for_one(process: &mut Process, live: &Live, arguments: &Arguments) -> Reply {
    let [set, information, time, size, ..] = *arguments;
    let mut wait = || -> Answer {
        let set = process.take(set, 8)?;
        let set = process.machine.abi().signal_set(&set);
        let time = if time == 0 { Vec::new() } else { process.take(time, 16)? };
        let time = if time.is_empty() { 0 } else { time.as_ptr() as usize };
        let mut found = [0u8; 128];
        let given = [&raw const set as usize, found.as_mut_ptr() as usize, time, size as usize, 0, 0];
        let signal = live.host(libc::SYS_rt_sigtimedwait, given)?;
        if information != 0 {
            process.put(information, &found)?;
        }
        Ok(signal)
    };
    wait().into()
}

/// Returns from a handler.
pub(crate) fn leave(process: &mut Process, _: &Arguments) -> Reply {
    match process.machine.abi().frames.leave(process) {
        Ok(mask) => {
            process.signals.own.mask = mask & !UNBLOCKABLE;
            process.mirror_masks();
            Reply::Done
        }
        Err(_) => {
            let why = String::from("returning from a signal handler without a frame");
            let at = process.describe(process.pc());
            Reply::End(Ending::Killed { signal: libc::SIGSEGV, why: Some(why), at: Some(at) })
        }
    }
}
