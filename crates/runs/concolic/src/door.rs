//! The door of an explored process: the host's kernel, made repeatable, and aware of which files are unknown input.
//!
//! Unknown files are files of the host without a name, one for each run. Whichever way a program gets at one (by a path
//! that is redirected here, through a descriptor it was born with, through a copy of one), the kernel says which file
//! a descriptor leads to, and at which place: nothing has to be kept track of.

use crate::descriptors::identity;
use crate::effects::{Made, World, is_hindered, leaves, leaves_a_trace, open_files};
use parallax_jail::Traces;
use parallax_process::elf::LoadError;
use parallax_process::elf::Machine;
use parallax_process::memory::{Mapping, Memory};
use parallax_process::outside::live::{Clock, Live};
use parallax_process::outside::{
    Birth, Call, Disposition, Event, Exec, Facts, Outcome, Outside, Side, Tid, Wanted,
};
use parallax_process::system::{Errno, Reply, call_name};
use parallax_process::{Ending, Interrupt, Process};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// Nanoseconds since 1970 that every run starts at: runs are repeatable.
const START_OF_TIME: u64 = 1_700_000_000_000_000_000;

/// Where a redirected path is put for the length of one call: below what the program uses of its stack.
const SCRATCH: u64 = 0x3000;

/// A file that is unknown input.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// Which source it is.
    pub source: usize,
    /// The name under which the program opens it; none for standard input.
    pub path: Option<Vec<u8>>,
    /// The descriptor behind which this run's bytes are.
    pub descriptor: i32,
    /// What identifies the file.
    pub identity: (u64, u64),
}

/// What a call has brought from a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brought {
    /// Which source.
    pub source: usize,
    /// From which byte of it on.
    pub from: u64,
    /// Whether it was mapped instead of read.
    pub mapped: bool,
}

/// What the door and the driver share.
#[derive(Default)]
pub struct Shared {
    /// The unknown files of this run.
    pub unknown: Vec<Unknown>,
    /// What the last call brought.
    pub brought: Option<Brought>,
    /// How many random bytes were given.
    pub random: u64,
    /// Whether what the program writes to standard output and error goes nowhere.
    pub is_silent: bool,
    /// What holds what it does outside.
    pub world: World,
    /// Where it is said that the run may have left something in its view.
    pub traces: Option<Traces>,
    /// The files that standard output and error are when the program starts.
    pub(crate) standard: [Option<(u64, u64)>; 2],
}

impl Shared {
    /// Says that there may be something of this run in its view from now on.
    fn begin_traces(&self) {
        self.traces.iter().for_each(Traces::begin);
    }

    /// Whether what is written to a descriptor goes nowhere. The program may have put a file of its own in the place of
    /// standard output.
    pub fn is_swallowed(&self, descriptor: i32) -> bool {
        let own = match descriptor {
            1 => self.standard[0],
            2 => self.standard[1],
            _ => return false,
        };
        self.is_silent && identity(descriptor) == own
    }
}

/// The door.
pub struct Door {
    live: Live,
    shared: Rc<RefCell<Shared>>,
    process: u32,
    /// The files that were open before the program was.
    inherited: Vec<(u64, u64)>,
    /// What this run has made in memory.
    made: Made,
}

impl Door {
    /// A door that shares what it sees.
    pub fn new(shared: Rc<RefCell<Shared>>) -> Door {
        shared.borrow_mut().standard = [identity(1), identity(2)];
        let live = Live::embedded().with_clock(Clock::counting_from(START_OF_TIME));
        Door { live, shared, process: std::process::id(), inherited: open_files(), made: Made::default() }
    }

    /// Whether what is written to a descriptor goes nowhere.
    fn swallows(&self, descriptor: u64) -> bool {
        i32::try_from(descriptor).is_ok_and(|descriptor| self.shared.borrow().is_swallowed(descriptor))
    }

    /// The unknown file that a descriptor leads to.
    fn behind(&self, descriptor: u64) -> Option<usize> {
        let identity = identity(i32::try_from(descriptor).ok()?)?;
        let shared = self.shared.borrow();
        shared.unknown.iter().find(|unknown| unknown.identity == identity).map(|unknown| unknown.source)
    }

    /// Makes a call that names an unknown file as if it named this run's.
    fn redirected(&mut self, process: &mut Process, name: &str, call: &Call) -> Option<Outcome> {
        let position = match name {
            "open" | "stat" | "access" | "truncate" => 0,
            "openat" | "newfstatat" | "faccessat" | "faccessat2" | "statx" => 1,
            _ => return None,
        };
        let at = call.arguments[position];
        let path = process.world().memory.read_string(at, 4095).ok().flatten()?;
        let descriptor = {
            let shared = self.shared.borrow();
            let named = shared.unknown.iter().find(|unknown| unknown.path.as_ref() == Some(&path))?;
            named.descriptor
        };
        let scratch = process.world().registers.get("RSP").wrapping_sub(SCRATCH) & !0xff;
        let text = format!("/proc/self/fd/{descriptor}\0").into_bytes();
        let before = process.peek(scratch, text.len() as u64);
        if before.len() != text.len() || process.world().memory.poke(scratch, &text).is_err() {
            return None;
        }
        let mut other = *call;
        other.arguments[position] = scratch;
        let outcome = self.live.call(process, &other);
        let _ = process.world().memory.poke(scratch, &before);
        Some(outcome)
    }

    /// Random bytes that are the same on every run.
    fn random(&mut self, process: &mut Process, call: &Call) -> Reply {
        let [address, length, ..] = call.arguments;
        let length = length.min(256);
        let mut shared = self.shared.borrow_mut();
        let bytes: Vec<u8> = (0..length)
            .map(|_| {
                shared.random += 1;
                (shared.random.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
            })
            .collect();
        if process.put_answer(address, &bytes) {
            Reply::Value(length)
        } else {
            Reply::Error(Errno(libc::EFAULT))
        }
    }
}

/// Where a descriptor is in its file.
pub(crate) fn position(descriptor: u64) -> u64 {
    // SAFETY: the call takes numbers only.
    let at = unsafe { libc::lseek(descriptor as i32, 0, libc::SEEK_CUR) };
    at.max(0) as u64
}

impl Outside for Door {
    fn facts(&mut self) -> Facts {
        self.live.facts()
    }

    fn interrupt(&self) -> Interrupt {
        self.live.interrupt()
    }

    fn call(&mut self, process: &mut Process, call: &Call) -> Outcome {
        let name = call_name(Machine::X86_64, call.number).unwrap_or_default();
        let mut call = *call;
        match name {
            "getrandom" => return Outcome::Done(self.random(process, &call)),
            "write" if self.swallows(call.arguments[0]) => {
                return Outcome::Done(Reply::Value(call.arguments[2]));
            }
            "writev" if self.swallows(call.arguments[0]) => {
                let length = process.peek_parts(call.arguments[1], call.arguments[2], 1 << 30).len();
                return Outcome::Done(Reply::Value(length as u64));
            }
            // The process has the number of the one that was forked to run it.
            "kill" | "tkill" | "tgkill" => {
                let targets = if name == "tgkill" { 2 } else { 1 };
                for target in &mut call.arguments[..targets] {
                    if *target == u64::from(self.process) {
                        *target = u64::from(std::process::id());
                    }
                }
            }
            "read" | "readv" => {
                let brought = self.behind(call.arguments[0]).map(|source| Brought {
                    source,
                    from: position(call.arguments[0]),
                    mapped: false,
                });
                self.shared.borrow_mut().brought = brought;
            }
            "pread64" | "preadv" => {
                let brought = self.behind(call.arguments[0]).map(|source| Brought {
                    source,
                    from: call.arguments[3],
                    mapped: false,
                });
                self.shared.borrow_mut().brought = brought;
            }
            _ => {
                if let Some(outcome) = self.redirected(process, name, &call) {
                    return outcome;
                }
            }
        }
        let left = leaves(&self.shared.borrow().world, &self.inherited, process, name, &call);
        let left = left.or_else(|| self.made.too_much(&self.shared.borrow().world, name, &call));
        if let Some(why) = left {
            return Outcome::Done(Reply::End(Ending::Closed { why }));
        }
        if leaves_a_trace(process, name, &call) {
            self.shared.borrow().begin_traces();
        }
        let outcome = self.live.call(process, &call);
        if let Outcome::Done(Reply::Error(Errno(errno))) = outcome
            && let Some(why) = is_hindered(&self.shared.borrow().world, process, name, &call, errno)
        {
            return Outcome::Done(Reply::End(Ending::Closed { why }));
        }
        outcome
    }

    fn abandon(&mut self, process: &mut Process, thread: Tid) -> Option<Reply> {
        self.live.abandon(process, thread)
    }

    fn horizon(&self) -> u64 {
        self.live.horizon()
    }

    fn due(&mut self, process: &mut Process) -> Option<Event> {
        self.live.due(process)
    }

    fn idle(&mut self, process: &mut Process) -> Event {
        self.live.idle(process)
    }

    fn now(&mut self, time: u64) -> u64 {
        self.live.now(time)
    }

    fn clock(&mut self, clock: i32, time: u64) -> u64 {
        self.live.clock(clock, time)
    }

    fn load(&mut self, path: PathBuf, arguments: Vec<Vec<u8>>) -> Result<Exec, LoadError> {
        let mut exec = self.live.load(path, arguments)?;
        exec.random = *b"parallax explore";
        Ok(exec)
    }

    fn replaced(&mut self, name: &[u8], first: bool) {
        // The name of our own process stays; descriptors are closed when a program is really replaced.
        if !first {
            self.live.replaced(name, first);
        }
    }

    fn map(&mut self, descriptor: i32, wanted: &Wanted) -> Result<Arc<dyn Mapping>, Errno> {
        if let Some(source) = self.behind(descriptor as u64) {
            self.shared.borrow_mut().brought = Some(Brought { source, from: 0, mapped: true });
        }
        // SAFETY: the call takes numbers only.
        let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
        // What is mapped to be read can be made writable afterwards.
        let writes = wanted.shared && flags & libc::O_ACCMODE == libc::O_RDWR;
        let is_outside = self.shared.borrow().world == World::Outside;
        if writes && is_outside && identity(descriptor).is_some_and(|file| self.inherited.contains(&file)) {
            return Err(Errno(libc::EACCES));
        }
        self.live.map(descriptor, wanted)
    }

    fn share(&mut self, length: u64) -> Result<Arc<dyn Mapping>, Errno> {
        self.live.share(length)
    }

    fn attach(&mut self, number: i32, writable: bool) -> Result<Arc<dyn Mapping>, Errno> {
        self.shared.borrow().begin_traces();
        // In a name space of its own there is no such segment either.
        if self.shared.borrow().world == World::Outside {
            return Err(Errno(libc::EINVAL));
        }
        self.live.attach(number, writable)
    }

    fn wake(&mut self, memory: &Memory, address: u64) {
        self.live.wake(memory, address);
    }

    fn split(&mut self, time: u64, memory: &mut Memory, birth: Birth) -> Result<Side, Errno> {
        // Another process makes its calls beside this one.
        self.shared.borrow().begin_traces();
        self.live.split(time, memory, birth)
    }

    fn give_back(&mut self, memory: &mut Memory) {
        self.live.give_back(memory);
    }

    fn dispose(&mut self, signal: i32, disposition: Disposition) -> bool {
        self.live.dispose(signal, disposition)
    }

    fn block(&mut self, mask: u64) {
        self.live.block(mask);
    }

    fn delivery(&mut self, time: u64, flags: u64) -> u64 {
        self.live.delivery(time, flags)
    }

    fn ended(&mut self, time: u64, ending: &Ending) {
        self.live.ended(time, ending);
    }
}
