//! A copy-on-write view that processes of the caller's own enter, one after the other.
//!
//! An explorer forks a process for each run. What such a process writes, the next one must not see; but making a view
//! costs more than most runs, and most runs write nothing. So a view can say whether anything was written to it.

use crate::child::{self, FAILED, Plan, READ_ONLY, READY, STEPS};
use crate::start::{self, ROOT_IN_A_VIEW, Scratch, failed};
use crate::sys::{self, c_path, check};
use crate::{Jail, NotRun, plain, view};
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// A view of the file system, with a network, System V memory and message queues of its own.
#[derive(Debug)]
pub struct SharedView {
    /// The process that keeps it.
    keeper: i32,
    /// It ends when this is closed.
    socket: Option<OwnedFd>,
    /// The name spaces, in the order in which they are entered.
    spaces: Vec<File>,
    /// What tells whether anything was written: file systems and folders in memory.
    pub(crate) seen: Vec<OwnedFd>,
    /// Tables of System V's shared memory, semaphores and message queues.
    tables: Vec<File>,
    /// What all of these were like at first.
    first: State,
    folder: CString,
    /// The folders that are copy-on-write, in the order of what tells of them.
    pub(crate) overlays: Vec<PathBuf>,
    /// All that is shown.
    pub(crate) shown: Vec<PathBuf>,
    /// Parts of the file system are read-only in it.
    copies_all: bool,
}

impl SharedView {
    /// Makes a view; `network` says whether it has the network of the machine.
    pub fn new(jail: &Jail, network: bool) -> Result<Self, NotRun> {
        let prepared = failed("a view is made ready");
        let scratch = Scratch::new().map_err(&prepared)?;
        let steps = view::plan(jail).map_err(&prepared)?;
        let world = start::world(jail, &steps, &scratch.0).map_err(&prepared)?;
        let (socket, other_end) = sys::socket_pair().map_err(&prepared)?;
        let folder = c_path(&std::env::current_dir().map_err(&prepared)?).map_err(&prepared)?;
        let plan = Plan {
            socket: other_end.as_raw_fd(),
            streams: [-1; 3],
            kept: vec![other_end.as_raw_fd()],
            world: Some(world),
            rules: None,
            scoped: false,
            filter: Vec::new(),
            capabilities: None,
            limits: Vec::new(),
            program: None,
        };
        let own_network = if network { 0 } else { libc::CLONE_NEWNET };
        let flags = libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWIPC | own_network;
        let keeper = plain::clone(flags).map_err(io::Error::from_raw_os_error);
        let keeper = keeper.map_err(failed("name spaces are made"))? as i32;
        if keeper == 0 {
            child::keep(&plan);
        }
        drop(other_end);
        let mut view = SharedView {
            keeper,
            socket: Some(socket),
            spaces: Vec::new(),
            seen: Vec::new(),
            tables: Vec::new(),
            first: State::default(),
            folder,
            overlays: steps.iter().filter(|step| step.is_overlay()).map(|step| step.path().into()).collect(),
            shown: steps.iter().map(|step| step.path().into()).collect(),
            copies_all: true,
        };
        // If this fails, the child says so: it may not mount anything.
        let _ = start::identities(keeper);
        let socket = view.socket.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        let _ = plain::send(socket, &[0; 3], None);
        loop {
            match sys::received(socket) {
                Some(([READ_ONLY, ..], _)) => view.copies_all = false,
                Some(([READY, tables, _], seen)) => {
                    view.seen = seen;
                    let first = view.seen.len().saturating_sub(tables as usize);
                    view.tables = view.seen.split_off(first).into_iter().map(File::from).collect();
                    break;
                }
                Some(([FAILED, step, errno], _)) => {
                    let step = STEPS.get(step as usize).copied().unwrap_or("an unknown step");
                    return Err(NotRun::SetUp { step, error: io::Error::from_raw_os_error(errno) });
                }
                _ => {
                    let error = io::Error::from_raw_os_error(libc::ECHILD);
                    return Err(NotRun::SetUp { step: "the view is kept", error });
                }
            }
        }
        for space in ["user", "mnt", "ipc"].into_iter().chain((!network).then_some("net")) {
            let space = File::open(format!("/proc/{keeper}/ns/{space}"));
            view.spaces.push(space.map_err(failed("name spaces are opened"))?);
        }
        view.first = view.state();
        Ok(view)
    }

    /// Moves this process into the view, for good. It must have one thread, and no descriptors of folders or of files that it can
    /// write: what they lead to lies outside.
    pub fn enter(&self) -> io::Result<()> {
        let errno = io::Error::from_raw_os_error;
        for space in &self.spaces {
            plain::enter(space.as_raw_fd()).map_err(errno)?;
        }
        plain::chdir(&self.folder).map_err(errno)?;
        // SAFETY: it only asks.
        let root = unsafe { libc::geteuid() } == 0;
        plain::keep_capabilities(if root { ROOT_IN_A_VIEW } else { 0 }).map_err(errno)?;
        plain::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0).map_err(errno)?;
        Ok(())
    }

    /// Whether nothing was written to it, and nothing is left in its memory and queues.
    pub fn is_fresh(&self) -> bool {
        !self.first.folders.is_empty() && self.state() == self.first
    }

    /// Whether all of the file system is copy-on-write; if not, parts of it are read-only.
    pub fn copies_all(&self) -> bool {
        self.copies_all
    }

    fn state(&self) -> State {
        let one = |file: &OwnedFd| -> io::Result<[i64; 5]> {
            // SAFETY: both structures are made of numbers, and the calls fill them.
            unsafe {
                let mut system: libc::statfs = std::mem::zeroed();
                check(libc::fstatfs(file.as_raw_fd(), &raw mut system).into())?;
                let mut known: libc::stat = std::mem::zeroed();
                check(libc::fstat(file.as_raw_fd(), &raw mut known).into())?;
                let room = [system.f_ffree as i64, system.f_bfree as i64];
                Ok([room[0], room[1], known.st_size, known.st_ctime, known.st_ctime_nsec])
            }
        };
        // A table has a head line, and one for each object. Objects that come and go leave nothing behind but the next number.
        let objects = |table: &File| -> io::Result<usize> {
            let mut bytes = vec![0; LONGEST_TABLE];
            let length = table.read_at(&mut bytes, 0)?;
            Ok(bytes.iter().take(length).filter(|byte| **byte == b'\n').count())
        };
        State {
            folders: self.seen.iter().map(one).collect::<io::Result<_>>().unwrap_or_default(),
            objects: self.tables.iter().map(objects).collect::<io::Result<_>>().unwrap_or_default(),
        }
    }
}

/// Bytes of a table that are read: a fresh one has its head line alone.
const LONGEST_TABLE: usize = 4096;

/// What tells whether anything was written.
#[derive(Debug, Default, PartialEq, Eq)]
struct State {
    /// How full the file systems are, and when their folders changed.
    folders: Vec<[i64; 5]>,
    /// Lines of System V's tables.
    objects: Vec<usize>,
}

impl Drop for SharedView {
    fn drop(&mut self) {
        self.socket = None;
        crate::watch::bury(self.keeper);
    }
}
