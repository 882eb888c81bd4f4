//! The door: everything that a process hears of the world outside, and everything it does there, passes here.
//!
//! A process owns one [`Outside`]. [`live::Live`] is the kernel of the host; a recorder wraps another door and writes
//! down what passes; a replay answers from what was written and cannot reach the kernel. The unit is the outcome of a
//! program's system call, not of the host's: tries that failed, polls and naps leave no trace.
//!
//! What a call writes into memory goes through `Process::put`, which keeps a journal while a door asks for one.

pub mod live;

use crate::digest::Digest;
use crate::elf::LoadError;
use crate::memory::{Mapping, Memory, Object};
use crate::process::{Ending, Process};
use crate::system::{Arguments, Errno, Reply};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// The number of a thread; the first thread's is that of the process.
pub type Tid = u32;

/// What the kernel says about a signal.
pub type Information = [u8; 128];

/// A system call of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The thread that makes it.
    pub thread: Tid,
    /// Its number, in the machine's own numbering.
    pub number: u64,
    /// Its arguments.
    pub arguments: Arguments,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was made.
    Done(Reply),
    /// It would have to wait, and other threads can run meanwhile: an [`Event::Answer`] will come.
    NotYet,
}

impl Outcome {
    /// In words, for a list of calls.
    pub(crate) fn told(&self) -> String {
        match self {
            Outcome::Done(Reply::Value(value)) => format!("= {value:#x}"),
            Outcome::Done(Reply::Error(errno)) => {
                format!("failed: {}", std::io::Error::from_raw_os_error(errno.0))
            }
            Outcome::Done(Reply::Interrupted) => "was interrupted by a signal".to_owned(),
            Outcome::Done(Reply::Done) => "does not come back here".to_owned(),
            Outcome::Done(Reply::Wait) | Outcome::NotYet => "waits".to_owned(),
            Outcome::Done(Reply::End(_)) => "ends the process".to_owned(),
        }
    }
}

/// Something that happens to a process without its asking at that moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A signal arrives.
    Signal {
        /// Its number.
        signal: i32,
        /// The thread that it is for, if it is not for the whole process.
        thread: Option<Tid>,
        /// What the kernel says about it.
        information: Box<Information>,
    },
    /// A call that had to wait is done; what it writes is in memory.
    Answer {
        /// The thread that made it.
        thread: Tid,
        /// What it comes to.
        reply: Reply,
    },
    /// A thread has waited long enough for a lock.
    Timeout {
        /// The thread.
        thread: Tid,
    },
    /// The door is closed: the process cannot go on.
    Closed(crate::Ending),
}

/// What a process is told about itself and its host once, when it starts, and its children again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The number of the process.
    pub process: u32,
    /// Its user.
    pub user: u32,
    /// Bytes of memory of the host, with what it can swap out.
    pub memory: u64,
    /// Signals that are ignored from the start, one bit each.
    pub ignored: u64,
    /// Its limits on memory.
    pub limits: Limits,
    /// What it may do beyond others, one bit each as in `capget`.
    pub capabilities: u64,
}

impl Facts {
    /// Whether it may raise its limits.
    pub(crate) fn may_raise_limits(&self) -> bool {
        const CAP_SYS_RESOURCE: u32 = 24;
        self.capabilities >> CAP_SYS_RESOURCE & 1 != 0
    }

    /// Whether it may lock any memory.
    pub(crate) fn may_lock(&self) -> bool {
        const CAP_IPC_LOCK: u32 = 14;
        self.capabilities >> CAP_IPC_LOCK & 1 != 0
    }

    /// Whether it may map what lies around address zero.
    pub(crate) fn may_map_zero(&self) -> bool {
        const CAP_SYS_RAWIO: u32 = 17;
        self.capabilities >> CAP_SYS_RAWIO & 1 != 0
    }
}

/// A limit, and the highest that it may be raised to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// What holds.
    pub soft: u64,
    /// The highest.
    pub hard: u64,
}

impl Default for Limit {
    fn default() -> Self {
        Limit { soft: libc::RLIM_INFINITY, hard: libc::RLIM_INFINITY }
    }
}

/// The limits on memory. They are kept by the process: they are meant for it, and not for Parallax around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes that are mapped (`RLIMIT_AS`).
    pub address_space: Limit,
    /// Bytes that are mapped to be written by this process alone (`RLIMIT_DATA`).
    pub data: Limit,
    /// How far the stack grows (`RLIMIT_STACK`).
    pub stack: Limit,
    /// Bytes that are in use, which Linux does not look at (`RLIMIT_RSS`).
    pub resident: Limit,
    /// Bytes that are locked (`RLIMIT_MEMLOCK`).
    pub locked: Limit,
}

/// A file of which pages are mapped has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub object: Object,
    /// Its length, if it was cut there.
    pub cut: Option<u64>,
}

/// The address, in what a call brought, of what the program did not want to know: no memory holds it.
pub const NOWHERE: u64 = u64::MAX;

/// What a program wants done with a signal, as far as the host has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// What the kernel does by itself, with these flags of `sigaction`.
    Default(u64),
    /// Nothing.
    Ignore,
    /// Tell the process, with these flags of `sigaction`.
    Handle(u64),
}

/// A file of a program, opened to be loaded.
#[derive(Clone)]
pub struct Opened {
    /// Its path.
    pub path: PathBuf,
    /// All of it.
    pub bytes: Arc<[u8]>,
    /// The same as pages to map.
    pub map: Arc<dyn Mapping>,
}

/// What starting a program takes from outside.
#[derive(Clone)]
pub struct Exec {
    /// The program, or the interpreter of a script.
    pub program: Opened,
    /// The dynamic linker it asks for.
    pub interpreter: Option<Opened>,
    /// The path of the program without links.
    pub canonical: PathBuf,
    /// Its arguments: a script's interpreter gets more than were given.
    pub arguments: Vec<Vec<u8>>,
    /// Sixteen random bytes.
    pub random: [u8; 16],
    /// Real and effective user and group: `uid`, `euid`, `gid`, `egid`.
    pub identity: [u64; 4],
}

/// What part of a file a program maps, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Where it starts in the file.
    pub offset: u64,
    /// How many bytes it has, which the file need not have.
    pub length: u64,
    /// Whether others see what is written.
    pub shared: bool,
    /// Whether it is to be written.
    pub write: bool,
    /// Whether instructions are to be fetched from it.
    pub execute: bool,
}

/// What a new process is to be like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Birth {
    /// It borrows the memory of the first until it ends or runs another program.
    pub borrows: bool,
    /// The signal that tells its parent of its end, or zero.
    pub signal: i32,
    /// Its parent gets a descriptor of it.
    pub descriptor: bool,
}

/// Which process comes back from a fork.
pub enum Side {
    /// The one that forked.
    Parent {
        /// The number of the child.
        child: u32,
        /// A descriptor of it, if one was asked for.
        descriptor: Option<i32>,
        /// Pages that a borrowing child wrote, by page number.
        loan: Vec<(u64, Vec<u8>)>,
    },
    /// The new one.
    Child(Facts),
}

/// A door to the world outside.
pub trait Outside {
    /// Facts about the process and its host.
    fn facts(&mut self) -> Facts;

    /// The bit with which the door asks the process to look at what is due.
    fn interrupt(&self) -> crate::Interrupt;

    /// Makes a call. What it writes is in memory when it is done.
    fn call(&mut self, process: &mut Process, call: &Call) -> Outcome;

    /// A thread waits for a signal from now on, in a call that the process makes by itself.
    fn waits_for_signal(&mut self, process: &Process, call: &Call) {
        let _ = (process, call);
    }

    /// A thread does not wait for its call any more: a signal ends it, or makes it again.
    /// What it came to stands if it was done after all.
    fn abandon(&mut self, process: &mut Process, thread: Tid) -> Option<Reply>;

    /// The program needs what a recording does not hold.
    fn unrecorded(&mut self, time: u64, asked: &str) -> Ending {
        Ending::Closed { why: format!("the recording ends here, at {time}: the program asked for {asked}") }
    }

    /// The time at which the process has to look at what is due, at the latest.
    fn horizon(&self) -> u64;

    /// What happens now, if anything does.
    fn due(&mut self, process: &mut Process) -> Option<Event>;

    /// What happens next: no thread can run.
    fn idle(&mut self, process: &mut Process) -> Event;

    /// Nanoseconds of the clock by which deadlines of locks are kept. Only differences count.
    fn now(&mut self, time: u64) -> u64;

    /// Nanoseconds of a clock of the system.
    fn clock(&mut self, clock: i32, time: u64) -> u64;

    /// Opens a program, which must be executable, and what it needs.
    fn load(&mut self, path: PathBuf, arguments: Vec<Vec<u8>>) -> Result<Exec, LoadError>;

    /// The process runs another program now, of this name: descriptors that are not to outlive the last one are closed.
    fn replaced(&mut self, name: &[u8], first: bool);

    /// Maps an open file.
    fn map(&mut self, descriptor: i32, wanted: &Wanted) -> Result<Arc<dyn Mapping>, Errno>;

    /// Makes memory that child processes will share.
    fn share(&mut self, length: u64) -> Result<Arc<dyn Mapping>, Errno>;

    /// Attaches a segment of shared memory (System V).
    fn attach(&mut self, number: i32, writable: bool) -> Result<Arc<dyn Mapping>, Errno>;

    /// Makes a second process.
    fn split(&mut self, time: u64, memory: &mut Memory, birth: Birth) -> Result<Side, Errno>;

    /// The process has a thread more.
    fn thread_made(&mut self, time: u64, thread: Tid) {
        let _ = (time, thread);
    }

    /// The first thread has another name.
    fn rename(&mut self, name: &[u8; 16]) {
        let _ = name;
    }

    /// Wakes a thread of another process that waits for a lock in memory that both map.
    fn wake(&mut self, memory: &Memory, address: u64) {
        let _ = (memory, address);
    }

    /// A borrowing child gives back what it wrote, since it ends or runs another program.
    fn give_back(&mut self, memory: &mut Memory);

    /// The host is to do so with a signal from now on; false if it refuses.
    fn dispose(&mut self, signal: i32, disposition: Disposition) -> bool;

    /// These signals are blocked from now on, in all threads.
    fn block(&mut self, mask: u64);

    /// Prepares the host's signals for a program that runs natively in this thread, or says why that cannot be.
    fn prepare_native(&mut self) -> Result<(), String> {
        Err(String::from("nothing of the host belongs to the program"))
    }

    /// The processor itself has made so many steps of all so far; of none when it begins to.
    fn ran_natively(&mut self, steps: u64, of: u64) {
        let _ = (steps, of);
    }

    /// The flags that the frame of a handler shows: a flag that no instruction reads may differ from run to run.
    fn delivery(&mut self, time: u64, flags: u64) -> u64;

    /// Where the door is in what it answers from, for a snapshot.
    fn position(&self) -> u64 {
        0
    }

    /// Goes back to a position.
    fn seek(&mut self, position: u64) {
        let _ = position;
    }

    /// The process ends.
    fn ended(&mut self, time: u64, ending: &crate::Ending) {
        let _ = (time, ending);
    }
}

/// What a door needs of a process.
impl Process {
    /// How many turns its threads have had: with the time, it tells when an event came.
    pub fn turns(&self) -> u64 {
        self.threads.turn()
    }

    /// Writes down what calls put into memory from now on.
    pub fn start_journal(&mut self) {
        self.journal = Some(Vec::new());
        self.changes.clear();
    }

    /// What calls have put into memory since [`Process::start_journal`]: addresses and bytes.
    pub fn take_journal(&mut self) -> Vec<(u64, Vec<u8>)> {
        self.journal.take().unwrap_or_default()
    }

    /// Pages of a file that is mapped are not what the program has read: a call has changed it.
    pub fn file_changed(&mut self, change: FileChange) {
        self.world.memory.file_changed(change.object, change.cut);
        if self.journal.is_some() {
            self.changes.push(change);
        }
    }

    /// The files that calls have changed since [`Process::start_journal`].
    pub fn take_changes(&mut self) -> Vec<FileChange> {
        std::mem::take(&mut self.changes)
    }

    /// Puts into memory what a call brought when it was made; false if the program has nothing mapped there.
    pub fn put_answer(&mut self, address: u64, bytes: &[u8]) -> bool {
        self.put(address, bytes).is_ok()
    }

    /// A checksum of its state: memory that was written, and the registers of all threads, but for flags, which may be as
    /// an earlier instruction left them.
    pub fn digest(&mut self) -> u64 {
        let flags = self.machine.abi().flags;
        let mut scratch = self.world.registers.clone();
        let mut digest = Digest::new().word(self.world.memory.digest()).word(self.world.time);
        for thread in self.threads() {
            let Some((registers, pc)) = self.thread(thread) else { continue };
            scratch.restore(registers);
            flags.iter().for_each(|flag| scratch.set(flag, 0));
            digest = digest.word(thread.into()).word(pc).bytes(scratch.contents());
        }
        digest.finish()
    }

    /// Bytes of memory as they are, for those who show them; short if something is not mapped.
    pub fn peek(&mut self, address: u64, length: u64) -> Vec<u8> {
        self.take(address, length).unwrap_or_default()
    }

    /// The first `length` bytes of the parts of a scattered write.
    pub fn peek_parts(&mut self, list: u64, count: u64, length: u64) -> Vec<u8> {
        let mut bytes = crate::system::gathered(self, list, count).unwrap_or_default();
        bytes.truncate(length as usize);
        bytes
    }

    /// The numbers of its threads, that of the running one first.
    pub fn threads(&self) -> Vec<Tid> {
        self.threads.numbers()
    }

    /// The registers and the program counter of a thread.
    pub fn thread(&self, thread: Tid) -> Option<(&[u8], u64)> {
        if thread == self.threads.number() {
            return Some((self.world.registers.contents(), self.pc()));
        }
        self.threads.paused(thread)
    }
}
