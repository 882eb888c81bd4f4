//! System calls: the only contact of an emulated program with the world outside.
//!
//! Most calls are rows of a [`table`]: their arguments are described, and [`pass`] carries them to the host's kernel
//! and the answers back, converting byte order where the machines differ. Others have functions of their own here. Each
//! row has a side: calls that concern the process alone are made inside, and a replay makes them again; all others go
//! through the door (see [`crate::outside`]), and their functions are handed the live door, without which they cannot
//! reach the kernel. A call that is in neither group stops the program with its name.
//!
//! Everything that an outside call changes goes through [`Process::put`] and the returned [`Reply`], which is what a
//! recorder has to write down.

mod across;
mod advice;
mod children;
mod descriptors;
mod device;
mod identity;
mod ipc;
mod legacy;
mod limits;
mod lock;
mod messages;
mod names;
mod pass;
mod proc_files;
mod robust;
mod select;
mod space;
pub(crate) mod table;

pub(crate) use children::{Origin, Started, give_back, start};
pub(crate) use descriptors::gathered;
pub(crate) use lock::{futex_clock, futex_time_left, has_owner, shared_futex, try_owned};
pub(crate) use select::sets as select_sets;
pub use table::{How, Row};

use crate::memory::Fault;
use crate::outside::{Call, NOWHERE, Outcome};
use crate::process::{Ending, Process};

/// A number from `errno.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Errno(pub i32);

impl From<Fault> for Errno {
    fn from(_: Fault) -> Self {
        Errno(libc::EFAULT)
    }
}

/// What a system call comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A result.
    Value(u64),
    /// A failure.
    Error(Errno),
    /// The call was interrupted by a signal and is to be made again after the handler, if the handler says so.
    Interrupted,
    /// Registers have been set already: the program was replaced, returned from a signal handler, or another thread
    /// runs now.
    Done,
    /// The call would have to wait: the live door tries again later. No other door says so.
    Wait,
    /// The process ends.
    End(Ending),
}

/// A result, or an error number.
pub type Answer = Result<u64, Errno>;

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        match answer {
            Ok(value) => Reply::Value(value),
            Err(errno) => Reply::Error(errno),
        }
    }
}

/// Arguments of a call.
pub type Arguments = [u64; 6];

impl Process {
    /// Makes the system call that the registers ask for. The program counter is past the instruction.
    pub(crate) fn system_call(&mut self) -> Option<Ending> {
        let (number, arguments) = match self.is_by_interrupt() {
            true => match self.narrow_call() {
                Ok(call) => call,
                Err(ending) => return Some(ending),
            },
            false => self.system_arguments(),
        };
        self.make_call(number, arguments)
    }

    /// Makes a system call.
    fn make_call(&mut self, number: u64, arguments: Arguments) -> Option<Ending> {
        let call = Call { thread: self.threads.number(), number, arguments };
        let (time, pc) = (self.world.time, self.pc());
        self.threads.set_call(number);
        let outcome = self.dispatch(&call);
        if let Some(trace) = &mut self.call_trace {
            let name = table::find(self.machine, number).map_or("?", |row| row.name);
            let given = arguments.map(|argument| format!("{argument:#x}")).join(", ");
            trace(&format!("{time}: {name}({given}) {}", outcome.told()));
        }
        match outcome {
            Outcome::Done(Reply::Value(value)) => self.set_result(Ok(value)),
            Outcome::Done(Reply::Error(errno)) => self.set_result(Err(errno)),
            Outcome::Done(Reply::Interrupted) => {
                self.park_interrupted(call);
                self.interrupt.want();
            }
            Outcome::Done(Reply::Done) => {}
            Outcome::Done(Reply::Wait) | Outcome::NotYet => self.park(call),
            Outcome::Done(Reply::End(ending)) => {
                self.tell_call(call.thread, number, pc);
                return Some(ending);
            }
        }
        if self.world.time == time {
            self.tell_call(call.thread, number, pc);
        } else {
            self.tell_undone();
        }
        None
    }

    fn dispatch(&mut self, call: &Call) -> Outcome {
        let Some(row) = table::find(self.machine, call.number) else {
            return Outcome::Done(match names::find(self.machine, call.number) {
                Some(name) => self.unsupported(format!("system call {name} (number {})", call.number)),
                // No kernel that was known when this was written has it.
                None => Reply::Error(Errno(libc::ENOSYS)),
            });
        };
        match row.how {
            How::Inside(function) => return Outcome::Done(function(self, &call.arguments)),
            How::Refuse(errno) => return Outcome::Done(Reply::Error(Errno(errno))),
            How::Either { is_inside, inside, .. } if is_inside(self, &call.arguments) => {
                return Outcome::Done(inside(self, &call.arguments));
            }
            How::Pass(_) | How::Outside(_) | How::Either { .. } => {}
        }
        if let Some(mask) = self.mask_of_call(row.name, &call.arguments) {
            self.signals.set_temporary(mask);
        }
        let outcome = self.with_outside(|outside, process| outside.call(process, call));
        if writes_files(row.name) {
            self.world.memory.forget_shared_code();
        }
        if let Outcome::Done(Reply::Error(Errno(libc::EINTR))) = outcome {
            // The signal is there: it is handed over under the mask of the call.
            self.interrupt.want();
        }
        outcome
    }

    /// The mask that holds while a call waits, for those that have one.
    fn mask_of_call(&mut self, name: &str, arguments: &Arguments) -> Option<u64> {
        let at = match name {
            "ppoll" | "ppoll_time64" => arguments[3],
            "epoll_pwait" | "epoll_pwait2" if arguments[5] == 8 => arguments[4],
            "pselect6" | "pselect6_time64" => return mask_pair(self, arguments[5]).ok().flatten(),
            _ => 0,
        };
        if at == 0 {
            return None;
        }
        let bytes = self.take(at, 8).ok()?;
        Some(self.machine.abi().signal_set(&bytes))
    }

    /// Ends the program because Parallax lacks something it asks for.
    pub(crate) fn unsupported(&mut self, what: String) -> Reply {
        let at = self.describe(self.pc());
        Reply::End(Ending::Unsupported { what, at })
    }

    fn system_arguments(&self) -> (u64, Arguments) {
        let registers = &self.world.registers;
        let abi = self.machine.abi();
        (registers.get(abi.call_number), abi.call_arguments.map(|name| registers.get(name)))
    }

    pub(crate) fn set_result(&mut self, answer: Answer) {
        (self.machine.abi().set_result)(self, answer);
    }

    /// Goes back to the instruction that made the call, which will make it again.
    pub(crate) fn repeat_call(&mut self, number: u64) {
        let abi = self.machine.abi();
        let own = if self.is_by_interrupt() { Self::narrow_number(number) } else { None };
        if abi.result_is_number {
            self.world.registers.set(abi.call_number, own.unwrap_or(number));
        }
        self.set_pc(self.pc().wrapping_sub(abi.call_length));
    }

    /// Writes what a system call brings into memory.
    pub(crate) fn put(&mut self, address: u64, bytes: &[u8]) -> Result<(), Errno> {
        if let Some(undo) = &mut self.undo {
            let mut before = vec![0; bytes.len()];
            if self.world.memory.read(address, &mut before).is_ok() {
                undo.push((address, before));
            }
        }
        let written = self.world.memory.write(address, bytes);
        if let Some(journal) = &mut self.journal {
            // A fault in the middle leaves what came before it.
            let count = match &written {
                Ok(()) => bytes.len(),
                Err(fault) => fault.address.wrapping_sub(address).min(bytes.len() as u64) as usize,
            };
            if count > 0 {
                journal.push((address, bytes[..count].to_vec()));
            }
        }
        Ok(written?)
    }

    /// Notes for a recording what a system call told and the program did not want to know.
    pub(crate) fn note_unwanted(&mut self, bytes: Vec<u8>) {
        self.journal.iter_mut().for_each(|journal| journal.push((NOWHERE, bytes.clone())));
    }

    /// Makes a call, and leaves memory as it was if nothing came of it: it will be tried again.
    pub(crate) fn unless_nothing(&mut self, make: impl FnOnce(&mut Process) -> Reply) -> Reply {
        let kept = self.journal.as_ref().map_or(0, Vec::len);
        self.undo = Some(Vec::new());
        let reply = make(self);
        let undo = self.undo.take().unwrap_or_default();
        if reply == Reply::Value(0) {
            for (address, bytes) in undo.into_iter().rev() {
                let _ = self.world.memory.write(address, &bytes);
            }
            if let Some(journal) = &mut self.journal {
                journal.truncate(kept);
            }
        }
        reply
    }

    /// Reads an argument in memory.
    pub(crate) fn take(&mut self, address: u64, length: u64) -> Result<Vec<u8>, Errno> {
        const LARGEST: u64 = 1 << 31;
        if length > LARGEST {
            return Err(Errno(libc::ENOMEM));
        }
        // Check before allocating: a length alone must not cost memory.
        let mut at = address;
        let end = address.checked_add(length).ok_or(Errno(libc::EFAULT))?;
        while at < end {
            at = self.world.memory.region_at(at).ok_or(Errno(libc::EFAULT))?.1.end;
        }
        let mut bytes = vec![0; length as usize];
        self.world.memory.read(address, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads an argument that is a path, zero included. A program that names its own file by way of `/proc` means the
    /// emulated program, not Parallax.
    pub(crate) fn take_path(&mut self, address: u64) -> Result<Vec<u8>, Errno> {
        let path = self.take_given_path(address)?;
        if proc_files::own(self.facts.process, &path) != Some(b"exe") {
            return Ok(path);
        }
        let mut program = std::os::unix::ffi::OsStrExt::as_bytes(self.program.as_os_str()).to_vec();
        program.push(0);
        Ok(program)
    }

    /// The same, as it was given.
    pub(crate) fn take_given_path(&mut self, address: u64) -> Result<Vec<u8>, Errno> {
        let mut path = self.world.memory.read_string(address, 4095)?.ok_or(Errno(libc::ENAMETOOLONG))?;
        path.push(0);
        Ok(path)
    }

    /// Reads a word of the machine.
    pub(crate) fn take_word(&mut self, address: u64) -> Result<u64, Errno> {
        let abi = self.machine.abi();
        let mut bytes = [0; 8];
        self.world.memory.read(address, &mut bytes[..abi.word])?;
        Ok(abi.number(&bytes[..abi.word]))
    }
}

/// Whether a call may change a file, and with it code that is mapped from it.
fn writes_files(name: &str) -> bool {
    matches!(
        name,
        "write"
            | "writev"
            | "pwrite64"
            | "pwritev"
            | "pwritev2"
            | "sendfile"
            | "splice"
            | "copy_file_range"
            | "fallocate"
            | "ftruncate"
            | "truncate"
            | "madvise"
    )
}

/// The name of a system call.
pub fn call_name(machine: crate::elf::Machine, number: u64) -> Option<&'static str> {
    table::find(machine, number).map(|row| row.name).or_else(|| names::find(machine, number))
}

/// The mask of signals that a pair of its address and its size leads to.
fn mask_pair(process: &mut Process, at: u64) -> Result<Option<u64>, Errno> {
    if at == 0 {
        return Ok(None);
    }
    let address = process.take_word(at)?;
    if address == 0 {
        return Ok(None);
    }
    let bytes = process.take(address, 8)?;
    Ok(Some(process.machine.abi().signal_set(&bytes)))
}
