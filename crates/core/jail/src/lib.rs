//! Programs run to find something out, in a jail: nothing outside is changed, and nothing outside is reached.
//!
//! A [`Jail`] says what a run may write, read and use; [`Jail::run`] runs a [`Command`] in it and returns how it ended,
//! what it printed, and which of its calls the jail hindered. Two kinds of walls keep the promise, each by itself:
//!
//! - [`Kind::NameSpaces`]: user, mount, process, network and IPC name spaces of its own. The file system is a copy-on-write
//!   view of the real one: a program may delete `/home`, and what it deleted is its own copy, gone when it ends.
//! - [`Kind::Landlock`]: the real file system, of which Landlock leaves only the run's own folders writable.
//!
//! In both a seccomp filter lets pass the system calls that are listed in `calls`, counts those that make processes, and asks
//! about the rest. What this kernel allows is found by trying ([`available`]). Where neither kind works nothing is run, and the
//! caller gets a [`NotRun`]; [`Wanted::Unjailed`] is a person's word that the program may run all the same.
//!
//! Deliberately absent: what a run is for. A helper program is not needed; what happens between `clone` and `execve` is
//! in `child`, in plain system calls, for the caller has threads.

#[cfg(not(target_os = "linux"))]
compile_error!("the jail is made of Linux's system calls");

mod calls;
mod child;
mod filter;
mod kept;
mod landlock;
mod plain;
mod referee;
mod shared_view;
mod start;
mod sys;
mod told;
mod tree;
mod tried;
mod view;
mod walls;
mod watch;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

pub use kept::Kept;
pub use shared_view::SharedView;
pub use told::Traces;
pub use tried::available;
pub use walls::{Kind, NoJail, NotRun, Walls};

/// What a run may write, read and use.
#[derive(Clone, Debug, Default)]
pub struct Jail {
    /// Which walls.
    pub wanted: Wanted,
    /// Folders whose changes stay. In name spaces all else is writable too, and forgotten.
    pub writable: Vec<PathBuf>,
    /// Folders that the run may change, whose changes need not stay.
    pub own: Vec<PathBuf>,
    /// Folders, each with another one in whose place it is seen too, and written for good. Landlock cannot show them: there the run finds
    /// the other folder itself, which it cannot write.
    pub in_place: Vec<(PathBuf, PathBuf)>,
    /// What can be read.
    pub readable: Readable,
    /// Whether its processes may trace each other, as LeakSanitizer does.
    pub traces_itself: bool,
    /// Its bounds.
    pub limits: Limits,
}

/// Which walls a run gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// The best that this kernel allows; where there are none, nothing is run.
    #[default]
    Best,
    /// The cheapest: for a program that reads what strangers wrote and writes into its own folders alone, as a compiler.
    Light,
    /// These or none.
    Only(Kind),
    /// No walls, by a person's word: limits alone.
    Unjailed,
}

/// What a run can read of the file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Readable {
    /// All that the user can.
    #[default]
    Everything,
    /// The system's programs and libraries, and these.
    Only(Vec<PathBuf>),
}

/// The bounds of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long it may take.
    pub time: Duration,
    /// Bytes of memory that its processes may use together.
    pub memory: u64,
    /// Bytes of one file.
    pub file: u64,
    /// Bytes of all files that it writes.
    pub space: u64,
    /// Files that it makes, with those that its writable folders hold.
    pub files: u32,
    /// Processes and threads at one time.
    pub processes: u32,
    /// Bytes kept of each output; what comes after them is read and forgotten.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            time: Duration::from_secs(10),
            memory: 4 << 30,
            file: 1 << 30,
            space: 2 << 30,
            files: 20_000,
            processes: 256,
            output: 1 << 20,
        }
    }
}

/// A program to run.
#[derive(Debug)]
pub struct Command {
    /// Its path, or a name that is looked up in `PATH`.
    pub program: OsString,
    /// Its arguments, without its name.
    pub arguments: Vec<OsString>,
    /// All of its environment; none is that of this process.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// Where it runs; none is the folder of this process.
    pub folder: Option<PathBuf>,
    /// What it reads.
    pub stdin: Stdin,
}

/// The standard input of a run.
#[derive(Debug)]
pub enum Stdin {
    /// Nothing.
    Empty,
    /// These bytes, as a file that cannot be written.
    Bytes(Vec<u8>),
    /// An open file.
    File(File),
}

impl Command {
    /// A program without arguments, in the environment and folder of this process, with nothing to read.
    pub fn new(program: impl Into<OsString>) -> Self {
        Command {
            program: program.into(),
            arguments: Vec::new(),
            environment: None,
            folder: None,
            stdin: Stdin::Empty,
        }
    }

    /// Adds an argument.
    pub fn arg(&mut self, argument: impl Into<OsString>) -> &mut Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    pub fn args(&mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> &mut Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signal(i32),
    /// It took longer than it may.
    Time,
    /// It used more memory than it may.
    Memory,
    /// It wrote more than it may.
    Space,
    /// It made more processes than it may.
    Processes,
}

/// What became of a run.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// What it wrote to its standard output, up to the limit.
    pub stdout: Vec<u8>,
    /// What it wrote to its standard error, up to the limit.
    pub stderr: Vec<u8>,
    /// Whether it wrote more than the limit.
    pub truncated: bool,
    /// Calls that the jail refused, or answered otherwise than the world outside might have. If there are none, the program
    /// did what it does outside.
    pub hindered: BTreeSet<String>,
    /// What held it; none if it ran unjailed.
    pub walls: Option<Walls>,
}

impl Ended {
    /// Whether it ended by itself with status 0.
    pub fn success(&self) -> bool {
        self.end == End::Exited(0)
    }
}

impl Jail {
    /// Runs a program, waits until it and all processes that it started are gone, and says what happened.
    pub fn run(&self, command: &Command) -> Result<Ended, NotRun> {
        let kind = match self.wanted {
            Wanted::Best => Some(available().map_err(NotRun::NoJail)?.kind),
            Wanted::Light => {
                Some(tried::first([Kind::Landlock, Kind::NameSpaces]).map_err(NotRun::NoJail)?.kind)
            }
            Wanted::Only(kind) => Some(tried::first([kind]).map_err(NotRun::NoJail)?.kind),
            Wanted::Unjailed => None,
        };
        start::run(self, kind, &start::Task::Program(command))
    }
}
