//! A copy-on-write view that processes of the caller's own enter, one after the other.
//!
//! An explorer forks a process for each run. What such a process writes, the next one must not see; but making a view
//! costs more than most runs (3 ms, and 0.1 ms more for each mount of the machine). So a view can say what was written to it, and
//! the folders that were written to are made anew, each for itself. A process that looks at its own calls can say that it made none
//! that leaves a trace: then nothing is looked at. A view with other traces (a change beside a mount, objects of
//! System V, connections that the kernel still remembers) is given up for a new one.

use crate::child::{self, FAILED, Plan, READ_ONLY, READY, RENEW, RENEW_EMPTY, RENEWED, ROOT, STEPS};
use crate::start::{self, ROOT_IN_A_VIEW, Scratch, failed};
use crate::sys::{self, c_path, check};
use crate::told::Traces;
use crate::view::Step;
use crate::{Jail, NotRun, plain, view};
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

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
    /// Tables of System V's shared memory, semaphores and message queues, and the numbers of sockets.
    tables: Vec<File>,
    /// Folders and copies of files in the view that are part of no overlay, by their paths below its root.
    alone: Vec<CString>,
    /// Those of them that are empty folders at first, by their places in that list.
    empty: Vec<usize>,
    has_own_network: bool,
    /// What all of these were like at first.
    first: State,
    /// Whether there may be something to see.
    traces: Traces,
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
        let below = |path: &&Path| c_path(path.strip_prefix("/").unwrap_or(path));
        let alone = steps.iter().filter(|step| match step {
            Step::Folder(_) => true,
            Step::File(path) => start::is_copied(path),
            _ => false,
        });
        let alone: Vec<&Path> = alone.map(Step::path).chain([Path::new(start::SHARED_MEMORY)]).collect();
        let place = |path: &Path| alone.iter().position(|known| *known == path);
        let empty = view::empty_folders(&steps).filter_map(place).collect();
        let mut view = SharedView {
            keeper,
            socket: Some(socket),
            spaces: Vec::new(),
            seen: Vec::new(),
            tables: Vec::new(),
            alone: alone.iter().map(below).collect::<io::Result<_>>().map_err(&prepared)?,
            empty,
            has_own_network: !network,
            first: State::default(),
            traces: Traces::new().map_err(&prepared)?,
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
        self.enter_with(|| plain::change_root(ROOT))
    }

    /// The same for a view that is used once. It takes longer, but the process can make user name spaces of its own, which the kernel
    /// refuses to processes that have changed their root.
    pub fn enter_alone(self) -> io::Result<()> {
        self.enter_with(|| {
            plain::leave_mounts()?;
            plain::chdir(ROOT)?;
            plain::pivot()
        })
    }

    /// For a process in the view that looks at each of its calls before it makes them: it says when it makes the first one that may
    /// leave a trace. Other processes may leave one from the beginning.
    pub fn traces(&self) -> Traces {
        self.traces.none_so_far();
        self.traces.clone()
    }

    fn enter_with(&self, take_root: impl Fn() -> plain::Answer) -> io::Result<()> {
        let errno = io::Error::from_raw_os_error;
        self.traces.begin();
        // The kernel forgets with other privileges that this process is to end with its parent.
        let ends_with_parent = plain::parent_signal();
        let parent = plain::parent();
        for space in &self.spaces {
            plain::enter(space.as_raw_fd()).map_err(errno)?;
        }
        take_root().map_err(errno)?;
        plain::chdir(&self.folder).map_err(errno)?;
        // SAFETY: it only asks.
        let root = unsafe { libc::geteuid() } == 0;
        plain::keep_capabilities(if root { ROOT_IN_A_VIEW } else { 0 }).map_err(errno)?;
        plain::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0).map_err(errno)?;
        if ends_with_parent > 0 {
            plain::prctl(libc::PR_SET_PDEATHSIG, ends_with_parent as usize, 0).map_err(errno)?;
            if plain::parent() != parent {
                return Err(errno(libc::ESRCH));
            }
        }
        Ok(())
    }

    /// Whether nothing was written to it, and nothing is left in its memory, queues and network.
    pub fn is_fresh(&self) -> bool {
        !self.first.alone.is_empty() && self.state() == self.first
    }

    /// The view as it was at first, for the next process; none if it cannot be had again. All processes that entered it have
    /// ended.
    pub fn renewed(mut self) -> Option<Self> {
        if !self.traces.are_possible() {
            return Some(self);
        }
        let now = self.state();
        if now == self.first && !now.alone.is_empty() {
            return Some(self);
        }
        // What cannot be made anew is looked at first.
        if now.alone.is_empty() || now.traces != self.first.traces {
            return None;
        }
        let before = now.alone.len() - self.alone.len();
        let changed = different(&now.alone, &self.first.alone);
        let folders = changed.iter().map(|&place| {
            let place = place.checked_sub(before)?;
            self.empty.iter().position(|&folder| folder == place)
        });
        let folders: Vec<usize> = folders.collect::<Option<_>>()?;
        for &number in &folders {
            self.renew(RENEW_EMPTY, number)?;
        }
        for number in different(&now.overlays, &self.first.overlays) {
            let folder = self.renew(RENEW, number)?;
            self.first.overlays[number] = known(&folder).ok()?;
            self.seen[FIRST_OVERLAY + number] = folder;
        }
        if !folders.is_empty() {
            // The folders above them have changed, and nobody else was there to change them.
            self.first.alone = self.state().alone;
        }
        // What was not made anew was looked at above, and nobody was there since. As much room as at first is left if nothing
        // of what was written is.
        self.rooms().is_ok_and(|rooms| rooms == self.first.rooms).then_some(self)
    }

    /// Has its keeper make a folder anew; the one that is written to from now on.
    fn renew(&self, kind: i32, number: usize) -> Option<OwnedFd> {
        let socket = self.socket.as_ref()?.as_raw_fd();
        plain::send(socket, &[kind, number as i32, 0], None).ok()?;
        match sys::received(socket)? {
            ([RENEWED, ..], mut folder) => folder.pop(),
            _ => None,
        }
    }

    /// Whether all of the file system is copy-on-write; if not, parts of it are read-only.
    pub fn copies_all(&self) -> bool {
        self.copies_all
    }

    fn state(&self) -> State {
        self.try_state().unwrap_or_default()
    }

    fn try_state(&self) -> io::Result<State> {
        let overlays = self.overlays.len();
        let root = self.seen.get(1).ok_or(io::ErrorKind::NotFound)?;
        let (firsts, rest) = self.seen.split_at_checked(FIRST_OVERLAY).ok_or(io::ErrorKind::NotFound)?;
        let (of_overlays, rest) = rest.split_at_checked(overlays).ok_or(io::ErrorKind::NotFound)?;
        let others = firsts.iter().chain(rest);
        // A file that the user cannot read is not shown, and what was removed is not there.
        let below = self.alone.iter().map(|path| Ok(known_below(root, path).unwrap_or([-1; 3])));
        let objects = self.tables.iter().map(|table| traces(table, self.has_own_network));
        Ok(State {
            rooms: self.rooms()?,
            overlays: of_overlays.iter().map(known).collect::<io::Result<_>>()?,
            alone: others.map(known).chain(below).collect::<io::Result<_>>()?,
            traces: objects.collect::<io::Result<_>>()?,
        })
    }
}

impl SharedView {
    /// How full the file systems are that hold what is written.
    fn rooms(&self) -> io::Result<Vec<[u64; 2]>> {
        let overlays = FIRST_OVERLAY..FIRST_OVERLAY + self.overlays.len();
        let others = self.seen.iter().enumerate().filter(|(place, _)| !overlays.contains(place));
        others.map(|(_, folder)| room(folder)).collect()
    }
}

/// The first descriptor of an overlay: before it are the scratch file system, the root and the devices.
const FIRST_OVERLAY: usize = 3;
/// Bytes of a table that are read: a fresh one has its head line alone.
const LONGEST_TABLE: usize = 4096;

/// The size of a file or folder, and when it was last changed.
type Known = [i64; 3];

/// What tells whether anything was written.
#[derive(Debug, Default, PartialEq, Eq)]
struct State {
    /// How full the file systems are that hold what is written.
    rooms: Vec<[u64; 2]>,
    /// The folders that overlays write to: the first change below makes an entry there.
    overlays: Vec<Known>,
    /// What is in no overlay.
    alone: Vec<Known>,
    /// Objects of System V, and connections.
    traces: Vec<u64>,
}

/// The places in which two lists of the same length differ.
fn different(now: &[Known], first: &[Known]) -> Vec<usize> {
    let both = now.iter().zip(first).enumerate();
    both.filter(|(_, (now, first))| now != first).map(|(place, _)| place).collect()
}

fn room(folder: &OwnedFd) -> io::Result<[u64; 2]> {
    // SAFETY: the structure is made of numbers, for which zero is a value.
    let mut system: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the call fills it.
    check(unsafe { libc::fstatfs(folder.as_raw_fd(), &raw mut system) }.into())?;
    Ok([system.f_ffree, system.f_bfree])
}

fn known(file: &OwnedFd) -> io::Result<Known> {
    known_below(file, c"")
}

/// What is at a path below a folder; the folder itself, for an empty one.
fn known_below(folder: &OwnedFd, path: &CStr) -> io::Result<Known> {
    // SAFETY: the structure is made of numbers, for which zero is a value.
    let mut known: libc::stat = unsafe { std::mem::zeroed() };
    let flags = libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH;
    // SAFETY: the path ends with a NUL, and the call fills the structure.
    check(unsafe { libc::fstatat(folder.as_raw_fd(), path.as_ptr(), &raw mut known, flags) }.into())?;
    Ok([known.st_size, known.st_ctime, known.st_ctime_nsec])
}

/// What a table tells of that would not be there in a new name space. Objects that come and go leave nothing behind but the next
/// number.
fn traces(table: &File, has_own_network: bool) -> io::Result<u64> {
    let mut bytes = vec![0; LONGEST_TABLE];
    let length = table.read_at(&mut bytes, 0)?;
    let text = String::from_utf8_lossy(&bytes[..length]);
    if !text.starts_with("sockets:") {
        // A head line, and one for each object.
        return Ok(text.lines().count() as u64);
    }
    // Ports of connections that were closed stay taken for a minute.
    let of_connections = text.lines().find(|line| line.starts_with("TCP:")).unwrap_or_default();
    let mut words = of_connections.split_whitespace().skip(1);
    let mut sum = 0;
    while let (Some(name), Some(number)) = (words.next(), words.next()) {
        // The other numbers are those of the machine.
        if has_own_network && matches!(name, "inuse" | "tw") {
            sum += number.parse().unwrap_or(0);
        }
    }
    Ok(sum)
}

impl Drop for SharedView {
    fn drop(&mut self) {
        self.socket = None;
        crate::watch::bury(self.keeper);
    }
}
