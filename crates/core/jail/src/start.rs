//! A run is made ready, started, and watched.

use crate::calls::{self, Held};
use crate::child::{self, Mount, OUTSIDE, Overlay, Plan, Program, ROOT, Special, UPPER, WORK, World};
use crate::landlock::{self, HARMLESS_DEVICES};
use crate::referee::Referee;
use crate::sys::{self, c_bytes, c_path};
use crate::view::{self, Step};
use crate::walls::{Kind, NotRun, Walls};
use crate::watch::{self, Watch};
use crate::{Command, Ended, Jail, Stdin, filter, plain, tried};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What is to be done in the jail.
pub enum Task<'a> {
    /// To see whether it can be set up.
    Nothing,
    /// To run a program.
    Program(&'a Command),
}

/// Largest file that the view copies; larger ones are read-only in it.
const SMALL: u64 = 1 << 20;
/// Descriptors that a process may have.
const DESCRIPTORS: u64 = 4096;

/// What root may do to files, whoever owns them, and to give up being root.
pub const ROOT_IN_A_VIEW: u64 = 0b1101_1111;
/// What root may do to files where they are the real ones: read them.
const ROOT_OUTSIDE: u64 = 0b110;

/// An error of making ready.
pub fn failed(step: &'static str) -> impl Fn(io::Error) -> NotRun {
    move |error| NotRun::SetUp { step, error }
}

/// An empty folder for as long as a run takes.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("parallax-jail-{}-{number}", std::process::id()));
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return path.canonicalize().map(Scratch),
                // Of a process with this number that was killed, or of someone who guessed the name.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It is empty, and in the folder for such things.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Runs a task behind these walls, or behind none.
pub fn run(jail: &Jail, kind: Option<Kind>, task: &Task<'_>) -> Result<Ended, NotRun> {
    let name = match task {
        Task::Nothing => String::new(),
        Task::Program(command) => command.program.to_string_lossy().into_owned(),
    };
    let bad_program = |error| NotRun::Program { program: name.clone(), error };
    let strings = match task {
        Task::Nothing => None,
        Task::Program(command) => Some(Strings::new(command).map_err(bad_program)?),
    };
    let prepared = failed("descriptors are opened");
    let stdin = stdin(task).map_err(&prepared)?;
    let (stdout, stdout_in) = sys::pipe().map_err(&prepared)?;
    let (stderr, stderr_in) = sys::pipe().map_err(&prepared)?;
    let (socket, other_end) = sys::socket_pair().map_err(&prepared)?;
    let known = match (kind, task) {
        // The trial itself asks for all.
        (Some(kind), Task::Program(_)) => tried::tried(kind).ok(),
        _ => None,
    };
    // In a view, what is its own is a copy as all the rest is.
    let own = jail.own.iter().filter(|_| kind != Some(Kind::NameSpaces));
    let writable = jail.writable.iter().chain(own).map(|folder| folder.canonicalize());
    let writable = writable.collect::<io::Result<Vec<_>>>();
    let writable = writable.map_err(failed("a writable folder is looked up"))?;
    let held = kind.map(|kind| Held {
        kind,
        scoped: landlock::version() >= landlock::SCOPES,
        copies_all: known.is_none_or(|walls| walls.copies_all),
        traces: jail.traces_itself,
    });
    let rules = match kind {
        None => None,
        Some(Kind::NameSpaces) => landlock::scopes(),
        Some(Kind::Landlock) => Some(landlock::rules(jail).map_err(failed("Landlock's rules are made"))?),
    };
    let scratch = match kind {
        Some(Kind::NameSpaces) => Some(Scratch::new().map_err(failed("a scratch folder is made"))?),
        _ => None,
    };
    let world = match &scratch {
        Some(scratch) => {
            let planned = view::plan(jail).and_then(|steps| world(jail, &steps, &scratch.0));
            Some(planned.map_err(failed("the view is planned"))?)
        }
        None => None,
    };
    // SAFETY: it only asks.
    let root = unsafe { libc::geteuid() } == 0;
    let capabilities = kind.map(|kind| match (root, kind) {
        (false, _) => 0,
        (true, Kind::NameSpaces) => ROOT_IN_A_VIEW,
        (true, Kind::Landlock) => ROOT_OUTSIDE,
    });
    let streams = [stdin.as_raw_fd(), stdout_in.as_raw_fd(), stderr_in.as_raw_fd()];
    let mut kept: Vec<_> = streams.into_iter().chain([other_end.as_raw_fd()]).collect();
    kept.extend(rules.as_ref().map(AsRawFd::as_raw_fd));
    kept.sort_unstable();
    let mut limits = vec![
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_FSIZE, jail.limits.file),
        (libc::RLIMIT_NOFILE, DESCRIPTORS),
    ];
    if world.is_some() {
        // Counted in the user name space, but for root; elsewhere all that the user runs would count.
        limits.push((libc::RLIMIT_NPROC, u64::from(jail.limits.processes) + 1));
    }
    let plan = Plan {
        socket: other_end.as_raw_fd(),
        streams,
        kept,
        world,
        rules: rules.as_ref().map(AsRawFd::as_raw_fd),
        scoped: kind == Some(Kind::Landlock) && landlock::version() >= landlock::SCOPES,
        filter: held.map_or_else(Vec::new, |held| filter::program(&calls::rules(held))),
        capabilities,
        limits,
        program: strings.as_ref().map(Strings::program),
    };
    let spaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC;
    let flags = if plan.world.is_some() { spaces } else { 0 };
    let held_before = watch::space(&writable, jail.limits.files);
    let child = plain::clone(flags);
    let child = child.map_err(io::Error::from_raw_os_error).map_err(failed("name spaces are made"))? as i32;
    if child == 0 {
        child::watch(&plan);
    }
    drop((stdin, stdout_in, stderr_in, other_end));
    let watch = Watch {
        child,
        referee: held.map(|held| Referee::new(held, child, jail.limits, writable.clone())),
        socket,
        limits: jail.limits,
        folders: writable,
        held_before,
        kill_at_once: plan.world.is_some(),
    };
    if plan.world.is_some() {
        // If this fails, the child says so: it may not mount anything.
        let _ = identities(child);
        let _ = plain::send(watch.socket.as_raw_fd(), &[0; 3], None);
    }
    let seen = watch.watch(stdout, stderr, &name)?;
    let walls = kind.map(|kind| Walls {
        kind,
        landlock: landlock::version(),
        copies_all: kind == Kind::NameSpaces && !seen.read_only,
    });
    let watch::Seen { end, stdout, stderr, truncated, hindered, .. } = seen;
    Ok(Ended { end, stdout, stderr, truncated, hindered, walls })
}

fn stdin(task: &Task<'_>) -> io::Result<OwnedFd> {
    match task {
        Task::Program(Command { stdin: Stdin::Bytes(bytes), .. }) => sys::file_of(bytes),
        Task::Program(Command { stdin: Stdin::File(file), .. }) => file.try_clone().map(OwnedFd::from),
        _ => fs::File::open("/dev/null").map(OwnedFd::from),
    }
}

/// Gives a user name space the users that this process sees, or its own alone.
pub fn identities(child: i32) -> io::Result<()> {
    // SAFETY: both only ask.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let all = |name: &str| -> io::Result<String> {
        let table = fs::read_to_string(format!("/proc/self/{name}"))?;
        let rows = table.lines().filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            Some(format!("{0} {0} {1}\n", words.first()?, words.get(2)?))
        });
        Ok(rows.collect())
    };
    let put = |name: &str, text: &str| fs::write(format!("/proc/{child}/{name}"), text);
    if user == 0 && put("uid_map", &all("uid_map")?).is_ok() {
        return put("gid_map", &all("gid_map")?);
    }
    put("uid_map", &format!("{user} {user} 1\n"))?;
    put("setgroups", "deny")?;
    put("gid_map", &format!("{group} {group} 1\n"))
}

/// The texts of a command, which the lists of pointers point into.
struct Strings {
    paths: Vec<CString>,
    arguments: Vec<CString>,
    environment: Vec<CString>,
    folder: CString,
}

impl Strings {
    fn new(command: &Command) -> io::Result<Self> {
        let variables = match &command.environment {
            Some(variables) => variables.clone(),
            None => std::env::vars_os().collect(),
        };
        let folder = match &command.folder {
            Some(folder) => folder.canonicalize()?,
            None => std::env::current_dir()?,
        };
        let program = Path::new(&command.program);
        let paths = if command.program.as_bytes().contains(&b'/') {
            vec![c_path(&std::path::absolute(program)?)?]
        } else {
            let search =
                std::env::var_os("PATH").unwrap_or_else(|| OsString::from("/usr/local/bin:/usr/bin:/bin"));
            let places = std::env::split_paths(&search).map(|place| place.join(program));
            let there: Vec<PathBuf> = places.filter(|place| place.is_file()).collect();
            if there.is_empty() {
                return Err(io::ErrorKind::NotFound.into());
            }
            there.iter().map(|place| c_path(place)).collect::<io::Result<_>>()?
        };
        let text = |text: &OsStr| c_bytes(text.as_bytes());
        let pair = |(name, value): &(OsString, OsString)| {
            let bytes = [name.as_bytes(), b"=", value.as_bytes()].concat();
            text(&OsString::from_vec(bytes))
        };
        let words = std::iter::once(&command.program).chain(&command.arguments);
        Ok(Strings {
            paths,
            arguments: words.map(|word| text(word)).collect::<io::Result<_>>()?,
            environment: variables.iter().map(pair).collect::<io::Result<_>>()?,
            folder: c_path(&folder)?,
        })
    }

    fn program(&self) -> Program {
        let list =
            |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect();
        Program {
            paths: self.paths.clone(),
            arguments: list(&self.arguments),
            environment: list(&self.environment),
            folder: self.folder.clone(),
        }
    }
}

/// A path as it is while a view is made.
fn outside(path: &Path) -> PathBuf {
    under(OUTSIDE, path)
}

fn under(folder: &CStr, path: &Path) -> PathBuf {
    Path::new(OsStr::from_bytes(folder.to_bytes())).join(path.strip_prefix("/").unwrap_or(path))
}

/// The world of a run in name spaces, ready for the kernel.
pub fn world(jail: &Jail, steps: &[Step], scratch: &Path) -> io::Result<World> {
    let inside = |path: &Path| under(ROOT, path);
    let (mut mounts, mut uppers) = (Vec::new(), Vec::new());
    for (number, step) in steps.iter().enumerate() {
        let number = number.to_string();
        mounts.push(match step {
            Step::Folder(path) => Mount::Folder(c_path(&inside(path))?, view::mode(path)),
            Step::Link(path, target) => Mount::Link(c_path(&inside(path))?, c_path(target)?),
            Step::File(path) if is_copied(path) => {
                Mount::Copy(c_path(&outside(path))?, c_path(&inside(path))?, view::mode(path))
            }
            Step::File(path) => Mount::File(c_path(&outside(path))?, c_path(&inside(path))?),
            Step::Writable(path, place) => Mount::Writable(c_path(&outside(path))?, c_path(&inside(place))?),
            Step::Overlay(path) => {
                let (upper, work) = (under(UPPER, Path::new(&number)), under(WORK, Path::new(&number)));
                let parts: [&[u8]; 7] = [
                    b"lowerdir=",
                    &view::escaped(&outside(path)),
                    b",upperdir=",
                    &view::escaped(&upper),
                    b",workdir=",
                    &view::escaped(&work),
                    b",userxattr",
                ];
                uppers.push(c_path(&upper)?);
                Mount::Overlay(Overlay {
                    from: c_path(&outside(path))?,
                    on: c_path(&inside(path))?,
                    mode: view::mode(path),
                    upper: c_path(&upper)?,
                    work: c_path(&work)?,
                    options: c_bytes(&parts.concat())?,
                })
            }
        });
    }
    let dev = inside(Path::new("/dev"));
    let device = |name: &&str| {
        let real = Path::new("/dev").join(name);
        Ok((c_path(&outside(&real))?, c_path(&inside(&real))?))
    };
    let links = [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ];
    let link = |(name, target): (&str, &str)| Ok((c_path(&dev.join(name))?, c_path(Path::new(target))?));
    let there = |name: &&&str| Path::new("/dev").join(name).exists();
    let mut empty = Vec::new();
    for path in view::empty_folders(steps) {
        let mode = if path == Path::new(SHARED_MEMORY) { 0o1777 } else { view::mode(path) };
        empty.push((c_path(&inside(path))?, mode));
    }
    Ok(World {
        scratch: c_path(scratch)?,
        empty,
        options: c_bytes(
            format!("mode=755,size={},nr_inodes={}", jail.limits.space, jail.limits.files).as_bytes(),
        )?,
        uppers,
        mounts,
        special: Special {
            proc: c_path(&inside(Path::new("/proc")))?,
            sys: c_path(&inside(Path::new("/sys")))?,
            shm: c_path(&inside(SHARED_MEMORY.as_ref()))?,
            devices: HARMLESS_DEVICES.iter().filter(there).map(device).collect::<io::Result<_>>()?,
            links: links.into_iter().map(link).collect::<io::Result<_>>()?,
            dev: c_path(&dev)?,
        },
    })
}

/// The folder of shared memory, which is empty in a view.
pub const SHARED_MEMORY: &str = "/dev/shm";

/// Whether the view has a copy of a file. Larger ones are read-only in it.
pub fn is_copied(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|known| known.len() <= SMALL)
}
