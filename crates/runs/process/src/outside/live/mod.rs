//! The host's kernel as the world outside: the one place in this crate that asks it anything.
//!
//! A process that is run by a command line owns its process of the host: masks and dispositions are mirrored to the
//! kernel, so that stopping, default actions, interrupted calls and signals between processes are real, and a fork is a
//! fork. A process that is embedded in some other program leaves the host's signals alone, and cannot fork.

mod arrivals;
mod changed;
mod clock;
mod end;
mod hand;
mod load;
mod loan;
mod map;
mod spare;
mod timers;
mod waiting;

pub use clock::Clock;
pub use end::enact;
pub use spare::{with_spare, without_size_limit};

use super::{
    Birth, Call, Disposition, Event, Exec, Facts, Limit, Limits, Outcome, Outside, Side, Tid, Wanted,
};
use crate::elf::LoadError;
use crate::interrupt::Interrupt;
use crate::memory::{Mapping, Memory, Object};
use crate::process::{Ending, Process};
use crate::system::{Answer, Errno, How, Reply, Row, table};
use arrivals::Claim;
use clock::Timer;
use hand::Hand;
use loan::{Borrowed, Loan};
use map::HostMap;
use parallax_native::host::signals;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use timers::ThreadTimers;

use super::Information;

/// Asks the host's kernel.
fn kernel(number: i64, arguments: [usize; 6]) -> Answer {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: every pointer among the arguments is to a buffer of ours that is large enough.
    let result = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if result == -1 {
        return Err(Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)));
    }
    Ok(result as u64)
}

/// The host's signals belong to another emulated process already.
#[derive(Debug, thiserror::Error)]
#[error("the signals of this process belong to another emulated program")]
pub struct Claimed;

/// The host's kernel.
pub struct Live {
    interrupt: Interrupt,
    /// The host's signals, if they are ours.
    claim: Option<Claim>,
    /// Signals that would end the program come here too, instead of ending Parallax around it.
    catches: bool,
    /// Signals that did not come from the host: where its signals are not ours.
    own: VecDeque<(i32, Information)>,
    timer: Timer,
    /// Those that tell one thread.
    timers: ThreadTimers,
    clock: Clock,
    /// When calls that wait give up, by thread.
    deadlines: FxHashMap<Tid, (u64, Call)>,
    /// Calls that a thread of the host makes, by thread of the program.
    hands: FxHashMap<Tid, Hand>,
    /// The processors that threads other than the first have chosen.
    affinities: FxHashMap<Tid, Vec<u8>>,
    borrowed: Option<Borrowed>,
    /// The mask that the host has.
    mask: u64,
    /// Whether it was said that all threads wait for each other.
    said: bool,
}

impl Live {
    fn new(interrupt: Interrupt, claim: Option<Claim>, clock: Clock) -> Live {
        Live {
            interrupt,
            claim,
            catches: false,
            own: VecDeque::new(),
            timer: Timer::default(),
            timers: ThreadTimers::default(),
            clock,
            deadlines: FxHashMap::default(),
            hands: FxHashMap::default(),
            affinities: FxHashMap::default(),
            borrowed: None,
            mask: 0,
            said: false,
        }
    }

    /// For a process that lives inside some other program: it touches no signal of the host, and cannot fork.
    pub fn embedded() -> Live {
        Self::new(Interrupt::default(), None, Clock::Real)
    }

    /// For a process whose host process is its own: a command line's.
    pub fn owner() -> Result<Live, Claimed> {
        let interrupt = Interrupt::default();
        let claim = Claim::new(interrupt.clone()).ok_or(Claimed)?;
        Ok(Self::new(interrupt, Some(claim), Clock::Real))
    }

    /// With signals that end the program ending the emulated process only, so that a recording can be closed.
    #[must_use]
    pub fn catching(mut self) -> Live {
        self.catches = true;
        self
    }

    /// With this clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Live {
        self.clock = clock;
        self
    }

    /// Asks the host's kernel on behalf of the program.
    pub(crate) fn host(&self, number: i64, arguments: [usize; 6]) -> Answer {
        kernel(number, arguments)
    }

    /// Whether a file still has that name.
    pub(crate) fn is_file_at(&self, file: Object, path: &str) -> bool {
        use std::os::unix::fs::MetadataExt;
        let status = std::fs::symlink_metadata(path).ok().filter(|_| path.starts_with('/'));
        status.is_some_and(|status| (status.dev(), status.ino()) == (file.device, file.inode))
    }

    /// Where a link of the system leads.
    pub(crate) fn link_target(&self, path: &str) -> Option<Vec<u8>> {
        use std::os::unix::ffi::OsStringExt;
        Some(std::fs::read_link(path).ok()?.into_os_string().into_vec())
    }

    /// A descriptor of a file that holds this and has no name.
    pub(crate) fn unnamed_file(&self, contents: &[u8], closes: bool) -> Answer {
        let close = if closes { libc::MFD_CLOEXEC } else { 0 };
        let descriptor =
            kernel(libc::SYS_memfd_create, [c"proc".as_ptr() as usize, close as usize, 0, 0, 0, 0])?;
        let failed = || {
            let _ = kernel(libc::SYS_close, [descriptor as usize, 0, 0, 0, 0, 0]);
            Err(Errno(libc::EIO))
        };
        if contents.is_empty() {
            return Ok(descriptor);
        }
        let mut done = 0;
        spare::without_size_limit(|| {
            while done < contents.len() {
                let rest = &contents[done..];
                let call = [descriptor as usize, rest.as_ptr() as usize, rest.len(), done, 0, 0];
                match kernel(libc::SYS_pwrite64, call) {
                    Ok(written) if written > 0 => done += written as usize,
                    _ => break,
                }
            }
        });
        if done < contents.len() { failed() } else { Ok(descriptor) }
    }

    /// Whether calls may keep the host waiting.
    fn may_block(&self, process: &Process) -> bool {
        let own_timers = self.timers.deadline().is_some();
        self.claim.is_some() && !self.clock.is_virtual() && process.threads.is_alone() && !own_timers
    }

    /// Makes a call the way its row says.
    fn make(&self, process: &mut Process, row: &Row, arguments: &crate::system::Arguments) -> Reply {
        match row.how {
            How::Pass(shape) => process.pass(self, row, shape, arguments),
            How::Outside(function) | How::Either { outside: function, .. } => {
                function(process, self, arguments)
            }
            How::Inside(_) | How::Refuse(_) => Reply::Error(Errno(libc::ENOSYS)),
        }
    }

    /// Gives the process a signal that does not come from the host.
    fn send_own(&mut self, signal: i32, code: i32) {
        let mut information = [0u8; 128];
        information[..4].copy_from_slice(&signal.to_le_bytes());
        information[8..12].copy_from_slice(&code.to_le_bytes());
        information[16..20].copy_from_slice(&std::process::id().to_le_bytes());
        // SAFETY: the call takes nothing and cannot fail.
        information[20..24].copy_from_slice(&unsafe { libc::getuid() }.to_le_bytes());
        self.own.push_back((signal, information));
        self.interrupt.want();
    }

    /// Calls that an embedded process, or one with a clock of its own, makes in another way.
    fn own_way(&mut self, process: &mut Process, name: &str, call: &Call) -> Option<Reply> {
        if let Some(reply) = self.timed(process, name, call) {
            return Some(reply);
        }
        if let Some(reply) = self.thread_timer(process, name, call) {
            return Some(reply);
        }
        let [first, second, third, ..] = call.arguments;
        if self.claim.is_some() {
            let (target, signal) = if name == "tgkill" { (second, third) } else { (first, second) };
            return self.ends_itself(process, name, target, signal);
        }
        let me = u64::from(std::process::id());
        const SENT_BY_KILL: i32 = 0;
        const SENT_BY_TKILL: i32 = -6;
        let (target, signal, code) = match name {
            "kill" => (first, second, SENT_BY_KILL),
            "tkill" => (first, second, SENT_BY_TKILL),
            "tgkill" => (second, third, SENT_BY_TKILL),
            _ => return None,
        };
        if target != me && target != 0 {
            // The relatives of an embedded process are the embedder's.
            return Some(Reply::Error(Errno(libc::EPERM)));
        }
        if signal > 64 {
            return Some(Reply::Error(Errno(libc::EINVAL)));
        }
        if signal > 0 {
            self.send_own(signal as i32, code);
        }
        Some(Reply::Value(0))
    }

    /// A process that kills itself for certain: no handler could close its recording, so it ends here.
    fn ends_itself(&self, process: &Process, name: &str, target: u64, signal: u64) -> Option<Reply> {
        let sends = matches!(name, "kill" | "tkill" | "tgkill");
        let is_own =
            target == u64::from(process.facts.process) || name != "kill" && process.threads.has(target);
        let ends = self.catches && sends && is_own && signal == libc::SIGKILL as u64;
        ends.then_some(Reply::End(Ending::Killed { signal: libc::SIGKILL, why: None, at: None }))
    }

    fn set_host_mask(&mut self, mask: u64) {
        self.mask = mask;
        // While there is no room for more signals, all wait, until those that came are taken.
        if self.claim.as_ref().is_some_and(Claim::is_full) {
            return;
        }
        keep_back(mask);
    }

    fn signal_due(&mut self, time: u64) -> Option<Event> {
        let taken = match &self.claim {
            Some(claim) => {
                let taken = claim.take();
                if taken.is_none() && claim.was_full() {
                    let mask = self.mask;
                    self.set_host_mask(mask);
                    self.interrupt.want();
                }
                taken
            }
            None => None,
        };
        let taken = taken.or_else(|| self.own.pop_front()).or_else(|| {
            self.timer.expired(self.clock.now(time)).then(|| {
                const BY_THE_KERNEL: i32 = 0x80;
                let mut information = [0u8; 128];
                information[..4].copy_from_slice(&libc::SIGALRM.to_le_bytes());
                information[8..12].copy_from_slice(&BY_THE_KERNEL.to_le_bytes());
                (libc::SIGALRM, information)
            })
        });
        let (thread, signal, information) = match taken {
            Some((signal, information)) => (None, signal, information),
            None => {
                let (thread, signal, information) = self.timers.expired(self.clock.now(time))?;
                (Some(thread), signal, information)
            }
        };
        Some(Event::Signal { signal, thread, information: Box::new(information) })
    }

    /// Says once that all threads wait for each other.
    fn say_deadlock(&mut self, process: &Process) {
        if self.said || self.claim.is_none() {
            return;
        }
        // A handler may release a lock.
        if process.signals.handles_any() {
            return;
        }
        if let Some(waits) = process.threads.all_on_locks() {
            self.said = true;
            let list: Vec<String> =
                waits.iter().map(|(thread, at)| format!("thread {thread} at {at:#x}")).collect();
            eprintln!(
                "parallax: every thread waits for a lock that no other can release: {}",
                list.join(", ")
            );
        }
    }
}

impl Outside for Live {
    fn facts(&mut self) -> Facts {
        // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
        let mut info: libc::sysinfo = unsafe { std::mem::zeroed() };
        // SAFETY: the call reads and writes only what it is handed, which lives long enough.
        unsafe { libc::sysinfo(&mut info) };
        let ignored = if self.claim.is_some() { inherited() } else { 0 };
        Facts {
            process: std::process::id(),
            // SAFETY: the call takes nothing and cannot fail.
            user: unsafe { libc::getuid() },
            memory: (info.totalram + info.totalswap) * u64::from(info.mem_unit),
            ignored,
            limits: limits(),
            capabilities: capabilities(),
        }
    }

    fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    fn call(&mut self, process: &mut Process, call: &Call) -> Outcome {
        let Some(row) = table::find(process.machine, call.number) else {
            return Outcome::Done(Reply::Error(Errno(libc::ENOSYS)));
        };
        if let Some(reply) = self.own_way(process, row.name, call) {
            return if reply == Reply::Wait { Outcome::NotYet } else { Outcome::Done(reply) };
        }
        let reply = if self.may_block(process) {
            match self.make(process, row, &call.arguments) {
                Reply::Interrupted if self.gives_up(row.name, &call.arguments) => {
                    Reply::Error(Errno(libc::EINTR))
                }
                reply => reply,
            }
        } else {
            self.try_without_waiting(process, row, call)
        };
        if reply == Reply::Wait {
            return Outcome::NotYet;
        }
        self.deadlines.remove(&call.thread);
        self.note_changed_file(process, row.name, call, &reply);
        Outcome::Done(reply)
    }

    fn abandon(&mut self, process: &mut Process, thread: Tid) -> Option<Reply> {
        if let Some((deadline, call)) = self.deadlines.remove(&thread) {
            let row = table::find(process.machine, call.number);
            let gives_up = row.is_some_and(|row| self.gives_up(row.name, &call.arguments));
            if gives_up || self.tell_time_left(process, &call, deadline) {
                return Some(Reply::Error(Errno(libc::EINTR)));
            }
        }
        // Only calls that bring nothing back into memory are made by hands, but for their result.
        match self.hands.remove(&thread)?.interrupt() {
            Some(Err(Errno(libc::EINTR))) | None => None,
            Some(answer) => Some(answer.into()),
        }
    }

    fn horizon(&self) -> u64 {
        self.timer.horizon(&self.clock)
    }

    fn due(&mut self, process: &mut Process) -> Option<Event> {
        let time = process.time();
        if let Some(event) = self.signal_due(time) {
            return Some(event);
        }
        for call in process.threads.parked_calls() {
            let Some(row) = table::find(process.machine, call.number) else { continue };
            let reply = match self.timed(process, row.name, &call) {
                Some(reply) => reply,
                None => self.try_without_waiting(process, row, &call),
            };
            if reply != Reply::Wait {
                self.deadlines.remove(&call.thread);
                self.note_changed_file(process, row.name, &call, &reply);
                return Some(Event::Answer { thread: call.thread, reply });
            }
        }
        let late = process.threads.lock_deadlines();
        if !late.is_empty() {
            let now = self.clock.now(time);
            if let Some((thread, _)) = late.into_iter().find(|(_, deadline)| *deadline <= now) {
                return Some(Event::Timeout { thread });
            }
        }
        None
    }

    fn idle(&mut self, process: &mut Process) -> Event {
        const SHORTEST: u64 = 50_000;
        const LONGEST: u64 = 2_000_000;
        let mut nap = SHORTEST;
        loop {
            if let Some(event) = self.due(process) {
                return event;
            }
            if self.hands.is_empty() && !self.timer.is_armed() && self.timers.deadline().is_none() {
                self.say_deadlock(process);
            }
            let locks = process.threads.lock_deadlines().into_iter().map(|(_, deadline)| deadline);
            let locks = locks.chain(self.timers.deadline());
            let next = locks
                .chain(self.deadlines.values().map(|(deadline, _)| *deadline))
                .chain(self.timer.deadline())
                .min();
            let now = self.clock.now(process.time());
            if let Some(next) = next
                && self.clock.skip_to(next, process.time())
            {
                continue;
            }
            let left = next.map_or(nap, |next| next.saturating_sub(now).min(nap));
            // A signal ends the nap.
            let time = libc::timespec { tv_sec: 0, tv_nsec: left as i64 };
            let _ = kernel(libc::SYS_nanosleep, [&raw const time as usize, 0, 0, 0, 0, 0]);
            nap = (2 * nap).min(LONGEST);
        }
    }

    fn now(&mut self, time: u64) -> u64 {
        self.clock.now(time)
    }

    fn clock(&mut self, clock: i32, time: u64) -> u64 {
        self.clock.of_system(clock, time)
    }

    fn load(&mut self, path: PathBuf, arguments: Vec<Vec<u8>>) -> Result<Exec, LoadError> {
        // Running a program takes no descriptor, however many are open.
        let load = || load::load(path.clone(), arguments.clone());
        spare::with_spare(load, |error| match error {
            LoadError::Unreadable { error, .. } => error.raw_os_error() == Some(libc::EMFILE),
            _ => false,
        })
    }

    fn replaced(&mut self, name: &[u8], first: bool) {
        if self.claim.is_none() {
            return;
        }
        if !first {
            self.timers = ThreadTimers::default();
            load::close_on_exec();
        }
        let name = [name, &[0]].concat();
        let _ = kernel(libc::SYS_prctl, [libc::PR_SET_NAME as usize, name.as_ptr() as usize, 0, 0, 0, 0]);
    }

    fn map(&mut self, descriptor: i32, wanted: &Wanted) -> Result<Arc<dyn Mapping>, Errno> {
        let name = std::fs::read_link(format!("/proc/self/fd/{descriptor}"))
            .map_or_else(|_| String::from("a file"), |path| path.display().to_string());
        // Whether it is deleted is looked at when somebody asks.
        let name = name.strip_suffix(" (deleted)").map_or(name.clone(), str::to_owned);
        arrivals::survive_cut_files();
        Ok(Arc::new(HostMap::file(descriptor, wanted, name).map_err(errno)?))
    }

    fn share(&mut self, length: u64) -> Result<Arc<dyn Mapping>, Errno> {
        arrivals::survive_cut_files();
        Ok(Arc::new(HostMap::anonymous(length, String::from("/dev/zero (deleted)")).map_err(errno)?))
    }

    fn attach(&mut self, number: i32, writable: bool) -> Result<Arc<dyn Mapping>, Errno> {
        Ok(Arc::new(HostMap::segment(number, writable).map_err(errno)?))
    }

    fn rename(&mut self, name: &[u8; 16]) {
        if self.claim.is_some() {
            let _ = kernel(libc::SYS_prctl, [libc::PR_SET_NAME as usize, name.as_ptr() as usize, 0, 0, 0, 0]);
        }
    }

    fn wake(&mut self, memory: &Memory, address: u64) {
        if let Some(place) = memory.shared_address(address) {
            let _ = kernel(libc::SYS_futex, [place as usize, libc::FUTEX_WAKE as usize, 1, 0, 0, 0]);
        }
    }

    fn split(&mut self, _: u64, memory: &mut Memory, birth: Birth) -> Result<Side, Errno> {
        if self.claim.is_none() {
            // The child would be a copy of the embedder.
            return Err(Errno(libc::ENOSYS));
        }
        let loan = birth.borrows.then(Loan::new).transpose()?;
        let twin = memory.twin().map_err(|()| Errno(libc::ENOMEM))?;
        // A signal that comes to the child at once is its own, and must not be taken for one of those that its parent had got.
        keep_back(u64::MAX);
        let child = fork(birth.signal);
        if child == 0 {
            // A child starts without its parent's signals.
            while self.claim.as_ref().and_then(Claim::take).is_some() {}
            self.claim.iter().for_each(|claim| {
                claim.was_full();
            });
        }
        self.set_host_mask(self.mask);
        match child {
            -1 => Err(Errno(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EAGAIN))),
            0 => {
                if !memory.become_twin(twin) {
                    // It would write into its parent's memory.
                    std::process::abort();
                }
                // Nor does it have its timers and threads.
                self.own.clear();
                self.timer = Timer::default();
                self.timers = ThreadTimers::default();
                self.deadlines.clear();
                self.hands.drain().for_each(|(_, hand)| hand.forget());
                self.borrowed = loan.map(|loan| Borrowed { original: memory.snapshot(), loan });
                let facts = self.facts();
                Ok(Side::Child(facts))
            }
            child => {
                drop(twin);
                let open = || kernel(libc::SYS_pidfd_open, [child as usize, 0, 0, 0, 0, 0]);
                let descriptor = birth.descriptor.then(open).transpose()?.map(|descriptor| descriptor as i32);
                let pages = loan.map(|loan| loan.take_back(child)).transpose()?.unwrap_or_default();
                Ok(Side::Parent { child: child as u32, descriptor, loan: pages })
            }
        }
    }

    fn give_back(&mut self, memory: &mut Memory) {
        if let Some(Borrowed { original, loan }) = self.borrowed.take() {
            loan.give_back(memory, &original);
        }
    }

    fn dispose(&mut self, signal: i32, disposition: Disposition) -> bool {
        if self.claim.is_none() {
            return true;
        }
        let (noting, how) = arrivals::handler();
        let handler = match disposition {
            // The host's own say that a file was cut, or what a program that runs natively does.
            _ if arrivals::blockable(1 << (signal - 1)) == 0 => noting,
            Disposition::Default(_) if self.catches && ends(signal) => noting,
            Disposition::Default(_) => libc::SIG_DFL,
            Disposition::Ignore => libc::SIG_IGN,
            Disposition::Handle(_) => noting,
        };
        let flags = match disposition {
            Disposition::Handle(flags) | Disposition::Default(flags) => flags as i32,
            Disposition::Ignore => 0,
        };
        // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handler;
        // Never restarting: the loop has to hand the signal over first, and makes the call again itself.
        action.sa_flags = how | (flags & (libc::SA_NOCLDSTOP | libc::SA_NOCLDWAIT));
        // SAFETY: the call reads and writes only what it is handed, which lives long enough.
        unsafe {
            libc::sigfillset(&mut action.sa_mask);
            libc::sigaction(signal, &action, std::ptr::null_mut()) == 0
        }
    }

    fn block(&mut self, mask: u64) {
        if self.claim.is_some() && mask != self.mask {
            self.set_host_mask(mask);
        }
    }

    fn prepare_native(&mut self) -> Result<(), String> {
        match self.claim {
            Some(_) => signals::install(arrivals::forwarded, arrivals::note as *const () as usize),
            None => Err(String::from("the process lives inside another program")),
        }
    }

    fn delivery(&mut self, _: u64, flags: u64) -> u64 {
        flags
    }
}

/// Lets the kernel keep back these signals, as far as they can be.
fn keep_back(mask: u64) {
    let mask = arrivals::blockable(mask);
    let pointer = std::ptr::from_ref(&mask) as usize;
    let _ = kernel(libc::SYS_rt_sigprocmask, [libc::SIG_SETMASK as usize, pointer, 0, 8, 0, 0]);
}

/// Makes a copy of this process, which ends with that signal, or none if it is zero.
fn fork(signal: i32) -> libc::pid_t {
    if signal == libc::SIGCHLD {
        // SAFETY: no lock is held by the threads that make calls for us, so the child is whole.
        return unsafe { libc::fork() };
    }
    // SAFETY: as above; the C library's own handlers of forks have nothing to do here, since nothing of it is in use.
    (unsafe { libc::syscall(libc::SYS_clone, i64::from(signal), 0_i64, 0_i64, 0_i64, 0_i64) }) as libc::pid_t
}

/// Whether a signal ends a process that says nothing about it.
fn ends(signal: i32) -> bool {
    !matches!(
        signal,
        libc::SIGKILL
            | libc::SIGSTOP
            | libc::SIGTSTP
            | libc::SIGTTIN
            | libc::SIGTTOU
            | libc::SIGCONT
            | libc::SIGCHLD
            | libc::SIGURG
            | libc::SIGWINCH
            // The C library keeps these two to itself.
            | 32
            | 33
    )
}

/// What we may do beyond others.
fn capabilities() -> u64 {
    const VERSION: u32 = 0x2008_0522;
    let header = [VERSION, 0];
    let mut data = [0u32; 6];
    let asked = [header.as_ptr() as usize, data.as_mut_ptr() as usize, 0, 0, 0, 0];
    match kernel(libc::SYS_capget, asked) {
        Ok(_) => u64::from(data[0]) | u64::from(data[3]) << 32,
        Err(_) => 0,
    }
}

/// The limits on memory that we were started with.
fn limits() -> Limits {
    let limit = |resource: u32| {
        let mut found = [libc::RLIM_INFINITY; 2];
        let _ = kernel(libc::SYS_prlimit64, [0, resource as usize, 0, found.as_mut_ptr() as usize, 0, 0]);
        Limit { soft: found[0], hard: found[1] }
    };
    Limits {
        address_space: limit(libc::RLIMIT_AS),
        data: limit(libc::RLIMIT_DATA),
        stack: limit(libc::RLIMIT_STACK),
        resident: limit(libc::RLIMIT_RSS),
        locked: limit(libc::RLIMIT_MEMLOCK),
    }
}

/// The signals that were ignored when we started, one bit each: they stay ignored, all else is default.
fn inherited() -> u64 {
    let mut ignored = 0;
    for signal in 1..=64 {
        // SAFETY: the structure is made of numbers and pointers, for which zero is a value.
        let mut old: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the call reads and writes only what it is handed, which lives long enough.
        if unsafe { libc::sigaction(signal, std::ptr::null(), &mut old) } != 0 {
            continue;
        }
        // Rust's runtime ignores SIGPIPE and watches for its own stack overflow; programs expect neither.
        let ours = matches!(signal, libc::SIGPIPE | libc::SIGSEGV | libc::SIGBUS);
        if ours && !arrivals::is_ours(&old) {
            // SAFETY: the call reads and writes only what it is handed, which lives long enough.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        } else if old.sa_sigaction == libc::SIG_IGN {
            ignored |= 1 << (signal - 1);
        }
    }
    ignored
}

fn errno(error: std::io::Error) -> Errno {
    Errno(error.raw_os_error().unwrap_or(libc::EIO))
}
