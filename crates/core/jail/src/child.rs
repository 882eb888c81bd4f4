//! What happens between `clone` and `execve`: the process that watches over a run makes its world, starts the program,
//! and ends what is left when the program has ended or the caller hangs up.
//!
//! In name spaces it is process 1, with which the kernel ends all others. Otherwise it is a subreaper: processes whose
//! parents are gone become its children, and it kills until it has none. Where Landlock keeps signals inside, it is held by
//! these rules once and the program twice, and one signal to everybody that it may reach ends them all at once.
//!
//! While a view is made, a file system in memory is the root. It holds the view ([`ROOT`]), the real root ([`OUTSIDE`]), and what is
//! written. A program of a jail has the view for its root and nothing else in its mount name space. A view that the caller's own
//! processes enter is kept in this state, so that parts of it can be made anew; these processes change their root and give up the
//! right to do so once more.

use crate::plain::{self, at};
use std::ffi::{CStr, CString};
use std::os::fd::RawFd;

/// Where the view is made.
pub const ROOT: &CStr = c"/root";
/// Where the real root is meanwhile.
pub const OUTSIDE: &CStr = c"/outside";
/// The folders that overlays write to and work in, one a number.
pub const UPPER: &CStr = c"/upper";
pub const WORK: &CStr = c"/work";
/// What was written to overlays that are made anew, until it is removed.
const OLD: &CStr = c"/old";
const OLD_UPPER: &CStr = c"/old/upper";
const OLD_WORK: &CStr = c"/old/work";
/// Where message queues can be looked at.
const QUEUES: &CStr = c"/queues";

/// A step of making the view, ready for the kernel: paths are those while it is made.
#[derive(Debug)]
pub enum Mount {
    /// An empty folder with a mode.
    Folder(CString, u32),
    /// A symbolic link and its target.
    Link(CString, CString),
    /// A copy of a small file, with a mode.
    Copy(CString, CString, u32),
    /// A file, read-only.
    File(CString, CString),
    /// A folder, copy-on-write.
    Overlay(Overlay),
    /// A folder to be changed for good.
    Writable(CString, CString),
}

/// A folder, copy-on-write.
#[derive(Debug)]
pub struct Overlay {
    pub from: CString,
    pub on: CString,
    pub mode: u32,
    pub upper: CString,
    pub work: CString,
    pub options: CString,
}

/// The special folders of the view.
#[derive(Debug)]
pub struct Special {
    pub proc: CString,
    pub sys: CString,
    pub dev: CString,
    pub shm: CString,
    /// Devices: where they are, and where they are to be.
    pub devices: Vec<(CString, CString)>,
    pub links: Vec<(CString, CString)>,
}

/// The world of a run in name spaces.
#[derive(Debug)]
pub struct World {
    /// An empty folder outside, over which it is made.
    pub scratch: CString,
    /// The folders in memory that what is written goes to.
    pub uppers: Vec<CString>,
    /// Options of the file system that holds what is written.
    pub options: CString,
    pub mounts: Vec<Mount>,
    /// Folders that were empty, with their modes: they are made anew without a mount.
    pub empty: Vec<(CString, u32)>,
    pub special: Special,
}

/// What is run.
#[derive(Debug)]
pub struct Program {
    /// The places where it may be.
    pub paths: Vec<CString>,
    pub arguments: Vec<*const libc::c_char>,
    pub environment: Vec<*const libc::c_char>,
    pub folder: CString,
}

/// All that the child needs, made before there is one.
#[derive(Debug)]
pub struct Plan {
    /// The connection to the caller.
    pub socket: RawFd,
    pub streams: [RawFd; 3],
    /// Descriptors that stay open, in ascending order.
    pub kept: Vec<RawFd>,
    pub world: Option<World>,
    pub rules: Option<RawFd>,
    /// Whether the rules keep signals inside and hold the watching process too.
    pub scoped: bool,
    /// No filter: no walls.
    pub filter: Vec<libc::sock_filter>,
    /// Capabilities that are left.
    pub capabilities: Option<u64>,
    pub limits: Vec<(u32, u64)>,
    pub program: Option<Program>,
}

/// Messages to the caller: a kind, and two numbers.
pub const FAILED: i32 = 1;
pub const LISTENER: i32 = 2;
pub const ENDED: i32 = 3;
/// Parts of the file system are read-only.
pub const READ_ONLY: i32 = 4;

/// A view is ready to be entered.
pub const READY: i32 = 5;
/// To the keeper of a view: makes an overlay anew, by its number among them.
pub const RENEW: i32 = 6;
/// The same for a folder that was empty.
pub const RENEW_EMPTY: i32 = 7;
/// It is done; the folder that is written to comes with the message.
pub const RENEWED: i32 = 8;

/// Descriptors that one message carries.
pub const MOST_SEEN: usize = 240;

/// The steps that can fail.
pub const STEPS: [&str; 20] = [
    "descriptors are closed",
    "the caller gives identities",
    "mounts are made private",
    "a file system in memory is mounted",
    "the new root is made",
    "folders are shown",
    "/proc is made",
    "/sys is made",
    "/dev is made",
    "the new root is entered",
    "processes are watched",
    "the program's process is made",
    "a session is made",
    "the streams are set",
    "limits are set",
    "capabilities are given up",
    "no_new_privs is set",
    "Landlock's rules are set",
    "system calls are filtered",
    "the program is started",
];
/// The last step, of which the program is at fault.
pub const START: u32 = 19;

type Failure = (u32, i32);

/// The watching process. It does not come back.
pub fn watch(plan: &Plan) -> ! {
    match watched(plan) {
        Ok(()) => plain::exit(0),
        Err(failure) => {
            tell(plan, failure);
            plain::exit(1)
        }
    }
}

fn tell(plan: &Plan, (step, errno): Failure) {
    // If the caller is gone, nobody is left to hear it.
    let _ = plain::send(plan.socket, &[FAILED, step as i32, errno], None);
}

fn watched(plan: &Plan) -> Result<(), Failure> {
    at(0, plain::close_all_but(&plan.kept))?;
    if let Some(world) = &plan.world {
        if plain::received(plan.socket).is_none() {
            return Err((1, libc::ECONNRESET));
        }
        make(world, plan.socket)?;
        at(9, plain::chdir(ROOT))?;
        at(9, plain::pivot())?;
    }
    // Its own memory is not for the program.
    at(10, plain::prctl(libc::PR_SET_DUMPABLE, 0, 0))?;
    at(10, plain::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0))?;
    if plan.scoped {
        at(16, plain::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0))?;
        restrict(plan)?;
        // Found by trying, before anything depends on it: the caller must be out of reach.
        if plain::may_signal_parent() {
            return Err((17, libc::ENOTSUP));
        }
    }
    let signals = at(10, plain::child_signals())? as RawFd;
    let program = at(11, plain::clone(0))? as i32;
    if program == 0 {
        let failure = match become_program(plan) {
            Ok(()) => plain::exit(0),
            Err(failure) => failure,
        };
        tell(plan, failure);
        plain::exit(127)
    }
    for stream in plan.streams.iter().chain(&plan.rules) {
        plain::close(*stream);
    }
    let status = loop {
        if plain::either(plan.socket, signals) {
            break None;
        }
        plain::drain(signals);
        if let Some(status) = reaped(program) {
            break Some(status);
        }
    };
    // In a process name space the end of this process is the end of all. Where the program has ended by itself, all are ended
    // before the caller hears of it: then it need not wait until the kernel has taken the name spaces down.
    match (&plan.world, status) {
        (None, _) => end_all(plan.scoped),
        (Some(_), Some(_)) => end_space(),
        (Some(_), None) => {}
    }
    if let Some(status) = status {
        let _ = plain::send(plan.socket, &[ENDED, status, 0], None);
    }
    Ok(())
}

/// Takes note of children that ended: how the program did, if it did.
fn reaped(program: i32) -> Option<i32> {
    while let Ok(Some((process, status))) = plain::reap(false) {
        if process == program {
            return Some(status);
        }
    }
    None
}

fn restrict(plan: &Plan) -> Result<(), Failure> {
    plan.rules.map_or(Ok(()), |rules| at(17, plain::restrict(rules)).map(drop))
}

/// Kills until there is no child left. Where signals are not kept inside, the referee lets no new process be made meanwhile.
fn end_all(scoped: bool) {
    loop {
        if scoped {
            plain::kill(-1);
        }
        let Ok(list) = plain::open(c"/proc/thread-self/children", libc::O_RDONLY) else { return };
        let mut buffer = [0u8; 4096];
        let mut number = 0i32;
        while let Ok(length) = plain::read(list as RawFd, &mut buffer) {
            if length == 0 {
                break;
            }
            for byte in buffer.iter().take(length as usize) {
                match byte {
                    b'0'..=b'9' => number = number.wrapping_mul(10).wrapping_add(i32::from(byte - b'0')),
                    _ if number > 0 => {
                        plain::kill(number);
                        number = 0;
                    }
                    _ => {}
                }
            }
        }
        plain::close(list as RawFd);
        match plain::reap(true) {
            Ok(_) => while let Ok(Some(_)) = plain::reap(false) {},
            Err(_) => return,
        }
    }
}

/// Ends all other processes of this process's name space.
fn end_space() {
    // To everybody: of a name space whose first process this is.
    if plain::is_first() {
        plain::kill(-1);
        while plain::reap(true).is_ok() {}
    }
}

/// From the watching process's child to the program.
fn become_program(plan: &Plan) -> Result<(), Failure> {
    at(12, plain::new_session())?;
    for (number, stream) in plan.streams.iter().enumerate() {
        at(13, plain::stream(*stream, number as RawFd))?;
    }
    for (resource, value) in &plan.limits {
        at(14, plain::set_limit(*resource, *value))?;
    }
    at(14, plain::reset_signals())?;
    if let Some(kept) = plan.capabilities {
        at(15, plain::keep_capabilities(kept))?;
        at(16, plain::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0))?;
    }
    if let Some(program) = &plan.program {
        at(START, plain::chdir(&program.folder))?;
    }
    // Once more than the watching process: of two domains the inner one cannot signal the outer one.
    restrict(plan)?;
    if !plan.filter.is_empty() {
        let listener = at(18, plain::filter(&plan.filter))? as RawFd;
        at(18, plain::send(plan.socket, &[LISTENER, 0, 0], Some(listener)))?;
        plain::close(listener);
    }
    let Some(program) = &plan.program else { return Ok(()) };
    let mut worst = libc::ENOENT;
    for path in &program.paths {
        match plain::execute(path, &program.arguments, &program.environment) {
            libc::ENOENT | libc::ENOTDIR => {}
            errno => worst = errno,
        }
    }
    Err((START, worst))
}

/// The process that keeps a view for others to enter: until the caller hangs up. It does not come back.
pub fn keep(plan: &Plan) -> ! {
    match kept(plan) {
        Ok(()) => plain::exit(0),
        Err(failure) => {
            tell(plan, failure);
            plain::exit(1)
        }
    }
}

fn kept(plan: &Plan) -> Result<(), Failure> {
    at(0, plain::close_all_but(&plan.kept))?;
    let Some(world) = &plan.world else { return Err((2, libc::EINVAL)) };
    if plain::received(plan.socket).is_none() {
        return Err((1, libc::ECONNRESET));
    }
    make(world, plan.socket)?;
    // By these the caller sees whether anything was written.
    let mut seen = [-1; MOST_SEEN];
    let places = [c"/", ROOT, world.special.dev.as_c_str()];
    let mut count = 0;
    for (place, slot) in places.into_iter().chain(world.uppers.iter().map(CString::as_c_str)).zip(&mut seen) {
        *slot = at(3, plain::open(place, libc::O_RDONLY | libc::O_DIRECTORY))? as RawFd;
        count += 1;
    }
    // Message queues have a file system of their own, where the kernel has them.
    let mounted = plain::mkdir(QUEUES, 0o700)
        .and_then(|_| plain::mount(c"mqueue", QUEUES, c"mqueue", libc::MS_NOSUID | libc::MS_NODEV, c""));
    let folder = mounted.and_then(|_| plain::open(QUEUES, libc::O_RDONLY | libc::O_DIRECTORY));
    if let (Ok(folder), Some(slot)) = (folder, seen.get_mut(count)) {
        *slot = folder as RawFd;
        count += 1;
    }
    // System V's tables and the numbers of sockets are those of the name spaces of the process that opens them.
    let mut tables = 0;
    for table in [
        c"/outside/proc/sysvipc/shm",
        c"/outside/proc/sysvipc/sem",
        c"/outside/proc/sysvipc/msg",
        c"/outside/proc/self/net/sockstat",
    ] {
        if let (Ok(table), Some(slot)) = (plain::open(table, libc::O_RDONLY), seen.get_mut(count)) {
            *slot = table as RawFd;
            count += 1;
            tables += 1;
        }
    }
    // All of it and more: one place stays free where all fit.
    let all = if count < MOST_SEEN { seen.get(..count).unwrap_or_default() } else { &[] };
    at(10, plain::send_all(plan.socket, &[READY, tables, 0], all))?;
    for descriptor in seen.iter().filter(|descriptor| **descriptor >= 0) {
        plain::close(*descriptor);
    }
    // Whatever else comes, it is the end.
    while let Some([kind @ (RENEW | RENEW_EMPTY), number, _]) = plain::received(plan.socket) {
        let renewed = match kind {
            RENEW => renew(world, number as usize),
            _ => renew_empty(world, number as usize),
        };
        let folder = at(5, renewed)? as RawFd;
        at(10, plain::send(plan.socket, &[RENEWED, number, 0], Some(folder)))?;
        plain::close(folder);
    }
    Ok(())
}

/// Makes a folder that was empty as it was at first.
fn renew_empty(world: &World, number: usize) -> plain::Answer {
    let (path, mode) = world.empty.get(number).ok_or(libc::EINVAL)?;
    plain::empty(path)?;
    plain::remove_folder(path)?;
    plain::mkdir(path, 0o755)?;
    plain::chmod(path, *mode)?;
    plain::open(path, libc::O_RDONLY | libc::O_DIRECTORY)
}

/// Makes an overlay as it was at first. The processes that wrote to it have ended.
fn renew(world: &World, number: usize) -> plain::Answer {
    let mut overlays = world.mounts.iter().filter_map(|mount| match mount {
        Mount::Overlay(overlay) => Some(overlay),
        _ => None,
    });
    let overlay = overlays.nth(number).ok_or(libc::EINVAL)?;
    plain::unmount(&overlay.on)?;
    // The kernel may need the folders a moment longer, so they are not used again.
    plain::rename(&overlay.upper, OLD_UPPER)?;
    plain::rename(&overlay.work, OLD_WORK)?;
    plain::empty(OLD)?;
    overlay.show()?;
    plain::open(&overlay.upper, libc::O_RDONLY | libc::O_DIRECTORY)
}

/// Makes the view.
fn make(world: &World, socket: RawFd) -> Result<(), Failure> {
    let none = c"";
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    at(2, plain::mount(c"none", c"/", none, libc::MS_REC | libc::MS_PRIVATE, none))?;
    at(3, plain::mount(c"jail", &world.scratch, c"tmpfs", flags, &world.options))?;
    at(3, plain::chdir(&world.scratch))?;
    at(3, plain::mkdir(c"outside", 0o755))?;
    at(3, plain::pivot_keeping(c"outside"))?;
    for folder in [ROOT, UPPER, WORK, OLD] {
        at(3, plain::mkdir(folder, 0o755))?;
    }
    at(4, plain::mount(c"jail", ROOT, c"tmpfs", flags, &world.options))?;
    for mount in &world.mounts {
        at(5, show(mount, socket))?;
    }
    let Special { proc, sys, dev, shm, devices, links } = &world.special;
    for folder in [proc, sys, dev] {
        at(4, plain::mkdir(folder, 0o755))?;
    }
    // Where the one outside is partly hidden, the kernel gives no new one; the one outside tells more than is needed, and
    // as little can be changed.
    if plain::mount(c"proc", proc, c"proc", flags | libc::MS_NOEXEC, none).is_err() {
        at(6, plain::mount(c"/outside/proc", proc, none, libc::MS_BIND | libc::MS_REC, none))?;
    }
    at(6, plain::read_only(proc))?;
    at(7, plain::mount(c"/outside/sys", sys, none, libc::MS_BIND | libc::MS_REC, none))?;
    at(7, plain::read_only(sys))?;
    at(8, plain::mount(c"dev", dev, c"tmpfs", libc::MS_NOSUID | libc::MS_NOEXEC, &world.options))?;
    for (from, on) in devices {
        at(8, plain::touch(on))?;
        at(8, plain::mount(from, on, none, libc::MS_BIND, none))?;
        at(8, plain::keep_device(on))?;
    }
    for (path, target) in links {
        at(8, plain::symlink(target, path))?;
    }
    at(8, plain::mkdir(shm, 0o1777))?;
    at(8, plain::chmod(shm, 0o1777))?;
    // Programs that talk to themselves over loopback find it up; where that is refused they find it down.
    let _ = plain::loopback_up();
    Ok(())
}

impl Overlay {
    fn show(&self) -> plain::Answer {
        plain::mkdir(&self.upper, 0o755)?;
        plain::mkdir(&self.work, 0o755)?;
        plain::chmod(&self.upper, self.mode)?;
        // The folder above shows the times of this one.
        plain::copy_times(&self.from, &self.upper)?;
        let flags = libc::MS_NOSUID | libc::MS_NODEV;
        plain::mount(c"overlay", &self.on, c"overlay", flags, &self.options)
    }
}

fn show(mount: &Mount, socket: RawFd) -> Result<(), i32> {
    let none: &CStr = c"";
    match mount {
        Mount::Folder(path, mode) => {
            plain::mkdir(path, 0o755)?;
            plain::chmod(path, *mode)?;
        }
        Mount::Link(path, target) => {
            plain::symlink(target, path)?;
        }
        Mount::Copy(from, to, mode) => {
            // A file that the user cannot read is not shown.
            let _ = plain::copy(from, to, *mode);
        }
        Mount::File(from, on) => {
            plain::touch(on)?;
            plain::mount(from, on, none, libc::MS_BIND, none)?;
            plain::read_only(on)?;
        }
        Mount::Overlay(overlay) => {
            plain::mkdir(&overlay.on, 0o755)?;
            if overlay.show().is_err() {
                plain::mount(&overlay.from, &overlay.on, none, libc::MS_BIND, none)?;
                plain::read_only(&overlay.on)?;
                plain::send(socket, &[READ_ONLY, 0, 0], None)?;
            }
        }
        Mount::Writable(from, on) => {
            plain::mount(from, on, none, libc::MS_BIND, none)?;
        }
    }
    Ok(())
}
