//! System calls: the only contact of an emulated program with the world outside.
//!
//! Most calls are rows of a [`table`]: their arguments are described, and [`pass`] carries them to the host's kernel
//! and the answers back, converting byte order where the machines differ. The others, which concern the emulated
//! process itself (its memory, its signals, its children), have functions of their own here. A call that is in
//! neither group stops the program with its name.
//!
//! Everything that a call changes goes through [`Process::put`] and the returned [`Reply`], which is what a recorder
//! has to write down.

mod borrowed;
mod children;
mod descriptors;
mod device;
mod itself;
mod lock;
mod messages;
mod names;
mod own_files;
mod pass;
mod select;
mod space;
mod table;
mod waiting;

pub(crate) use borrowed::Borrowed;
pub(crate) use children::{Origin, Started, give_back, start};
pub use table::{How, Row};

use crate::elf::Machine;
use crate::memory::Fault;
use crate::process::{Ending, Process};

/// A number from `errno.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// The call would have to wait, and other threads want to run: it is to be made again.
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
        let (number, arguments) = self.system_arguments();
        let reply = if self.threads.is_alone() {
            self.dispatch(number, &arguments)
        } else {
            self.dispatch_among_threads(number, &arguments)
        };
        if let Some(trace) = &mut self.call_trace {
            let name = table::find(self.machine, number).map_or("?", |row| row.name);
            trace(&format!("{name}({arguments:x?}) = {reply:x?}"));
        }
        match reply {
            Reply::Value(value) => self.set_result(Ok(value)),
            Reply::Error(errno) => self.set_result(Err(errno)),
            Reply::Interrupted if self.signals.next_restarts() => self.repeat_call(number),
            Reply::Interrupted => self.set_result(Err(Errno(libc::EINTR))),
            Reply::Done => {}
            Reply::Wait => {
                self.repeat_call(number);
                self.wait_for_call();
            }
            Reply::End(ending) => return Some(ending),
        }
        None
    }

    fn dispatch(&mut self, number: u64, arguments: &Arguments) -> Reply {
        let Some(row) = table::find(self.machine, number) else {
            return self.unsupported(match names::find(self.machine, number) {
                Some(name) => format!("system call {name} (number {number})"),
                None => format!("system call number {number}"),
            });
        };
        match row.how {
            How::Pass(shape) => self.pass(row, shape, arguments),
            How::Own(function) => function(self, arguments),
            How::Answer(value) => Reply::Value(value),
            How::Refuse(errno) => Reply::Error(Errno(errno)),
        }
    }

    /// Ends the program because Parallax lacks something it asks for.
    pub(crate) fn unsupported(&mut self, what: String) -> Reply {
        let at = self.describe(self.pc());
        Reply::End(Ending::Unsupported { what, at })
    }

    fn system_arguments(&self) -> (u64, Arguments) {
        let registers = &self.world.registers;
        match self.machine {
            Machine::X86_64 => (
                registers.get("RAX"),
                ["RDI", "RSI", "RDX", "R10", "R8", "R9"].map(|name| registers.get(name)),
            ),
            Machine::PowerPc => {
                (registers.get("r0"), ["r3", "r4", "r5", "r6", "r7", "r8"].map(|name| registers.get(name)))
            }
        }
    }

    pub(crate) fn set_result(&mut self, answer: Answer) {
        match (self.machine, answer) {
            (Machine::X86_64, Ok(value)) => self.world.registers.set("RAX", value),
            (Machine::X86_64, Err(Errno(number))) => {
                self.world.registers.set("RAX", (-i64::from(number)) as u64)
            }
            (Machine::PowerPc, answer) => {
                // The summary overflow bit of condition field 0 says whether r3 is an error number.
                let field = self.world.registers.get("cr0") & !1;
                match answer {
                    Ok(value) => {
                        self.world.registers.set("cr0", field);
                        self.world.registers.set("r3", value & 0xffff_ffff);
                    }
                    Err(Errno(number)) => {
                        self.world.registers.set("cr0", field | 1);
                        self.world.registers.set("r3", number as u64);
                    }
                }
            }
        }
    }

    /// Goes back to the instruction that made the call, which will make it again.
    fn repeat_call(&mut self, number: u64) {
        match self.machine {
            Machine::X86_64 => {
                self.world.registers.set("RAX", number);
                self.set_pc(self.pc().wrapping_sub(2));
            }
            Machine::PowerPc => self.set_pc(self.pc().wrapping_sub(4)),
        }
    }

    /// Writes what a system call brings into memory.
    pub(crate) fn put(&mut self, address: u64, bytes: &[u8]) -> Result<(), Errno> {
        self.world.memory.write(address, bytes)?;
        Ok(())
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
        if own_files::own(&path) != Some(b"exe") {
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
        Ok(match self.machine {
            Machine::X86_64 => u64::from_le_bytes(self.world.memory.load(address)?),
            Machine::PowerPc => u64::from(u32::from_be_bytes(self.world.memory.load(address)?)),
        })
    }
}

/// Asks the host's kernel: the one place where it is asked on behalf of the emulated program.
pub(crate) fn host(number: i64, arguments: [usize; 6]) -> Answer {
    let [a, b, c, d, e, f] = arguments;
    // Every pointer among the arguments is to a buffer of ours that is large enough, see `pass`.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result == -1 {
        return Err(Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)));
    }
    Ok(result as u64)
}
