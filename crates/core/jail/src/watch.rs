//! The caller's side of a run: what it prints is read, its questions are answered, its bounds are kept.

use crate::child::{ENDED, FAILED, LISTENER, READ_ONLY, START, STEPS};
use crate::referee::Referee;
use crate::{End, Limits, NotRun, sys, tree};
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How often memory and space are looked at, unless looking takes more than a part of this time.
const LOOK: Duration = Duration::from_millis(40);
/// How many times as long as a look it is to the next one.
const REST: u32 = 8;
/// How long the watching process may take to end what is left.
const MERCY: Duration = Duration::from_secs(10);

/// An output as it comes in.
struct Output {
    pipe: Option<fs::File>,
    bytes: Vec<u8>,
    truncated: bool,
}

impl Output {
    fn new(pipe: OwnedFd) -> Self {
        Output { pipe: Some(pipe.into()), bytes: Vec::new(), truncated: false }
    }

    /// Takes what is there.
    fn take(&mut self, limit: usize) {
        let mut buffer = [0u8; 1 << 14];
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(length) => {
                    let room = limit.saturating_sub(self.bytes.len());
                    self.bytes.extend_from_slice(&buffer[..length.min(room)]);
                    self.truncated |= length > room;
                    // The rest at the next turn, so that an endless flood does not keep the clock from being read.
                    if length < buffer.len() || room == 0 {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.pipe = None,
            }
        }
    }
}

/// A run that is under way.
pub struct Watch {
    /// The watching process.
    pub child: i32,
    pub socket: OwnedFd,
    pub referee: Option<Referee>,
    pub limits: Limits,
    /// Folders that it really writes to.
    pub folders: Vec<PathBuf>,
    /// What they held before.
    pub held_before: u64,
    pub kill_at_once: bool,
}

/// What was seen of a run.
pub struct Seen {
    pub end: End,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub truncated: bool,
    pub hindered: std::collections::BTreeSet<String>,
    pub read_only: bool,
}

impl Watch {
    /// Watches until nothing of the run is left.
    pub fn watch(mut self, stdout: OwnedFd, stderr: OwnedFd, name: &str) -> Result<Seen, NotRun> {
        let mut outputs = [Output::new(stdout), Output::new(stderr)];
        let mut listener: Option<OwnedFd> = None;
        let started = Instant::now();
        let mut next_look = started + LOOK;
        let mut end = None;
        let mut stopped: Option<Instant> = None;
        let mut failure = None;
        let mut read_only = false;
        loop {
            let fds = [
                Some(self.socket.as_raw_fd()),
                listener.as_ref().map(AsRawFd::as_raw_fd),
                outputs[0].pipe.as_ref().map(AsRawFd::as_raw_fd),
                outputs[1].pipe.as_ref().map(AsRawFd::as_raw_fd),
            ];
            let left = self.limits.time.saturating_sub(started.elapsed()).min(LOOK);
            let ready = poll(fds, if stopped.is_some() { LOOK } else { left });
            for (output, ready) in outputs.iter_mut().zip([ready[2], ready[3]]) {
                if ready != 0 {
                    output.take(self.limits.output);
                }
            }
            if let (Some(open), Some(referee)) = (&listener, &mut self.referee)
                && ready[1] != 0
            {
                if ready[1] & libc::POLLIN != 0 {
                    referee.hear(open.as_raw_fd());
                } else {
                    listener = None;
                }
            }
            if ready[0] != 0 {
                match sys::received(self.socket.as_raw_fd()) {
                    None => break,
                    Some(([FAILED, step, errno], _)) => failure = failure.or(Some((step as u32, errno))),
                    Some(([LISTENER, ..], mut found)) => listener = found.pop(),
                    Some(([ENDED, status, _], _)) => {
                        let how = match libc::WIFSIGNALED(status) {
                            true => End::Signal(libc::WTERMSIG(status)),
                            false => End::Exited(libc::WEXITSTATUS(status)),
                        };
                        end = end.or(Some(how));
                        break;
                    }
                    Some(([READ_ONLY, ..], _)) => read_only = true,
                    Some(_) => {}
                }
            }
            let now = Instant::now();
            let broken = match stopped {
                None if now - started >= self.limits.time => Some(End::Time),
                None if now >= next_look => {
                    let broken = self.broken();
                    next_look = now + LOOK.max(now.elapsed() * REST);
                    broken
                }
                _ => None,
            };
            if let Some(broken) = broken {
                end = end.or(Some(broken));
                stopped = Some(now);
                self.stop();
            }
            if stopped.is_some_and(|at| now - at > MERCY) {
                crate::plain::kill(self.child);
            }
        }
        if let Some(referee) = &mut self.referee {
            referee.over = true;
        }
        // Where the watching process has said how the program ended, it had ended all others before.
        match (end, stopped) {
            (Some(_), None) => bury(self.child),
            _ => wait(self.child),
        }
        for output in &mut outputs {
            while output.pipe.is_some() {
                let before = output.bytes.len();
                output.take(self.limits.output);
                // All writers are gone: what is left is in the pipe, and has an end.
                if output.bytes.len() == before && output.pipe.is_some() && !has_more(output) {
                    break;
                }
            }
        }
        if let Some((step, errno)) = failure {
            let error = io::Error::from_raw_os_error(errno);
            return Err(match step {
                START => NotRun::Program { program: name.to_owned(), error },
                _ => NotRun::SetUp {
                    step: STEPS.get(step as usize).copied().unwrap_or("an unknown step"),
                    error,
                },
            });
        }
        let Some(end) = end else {
            let error = io::Error::from_raw_os_error(libc::ECHILD);
            return Err(NotRun::SetUp { step: "the watching process says how the program ended", error });
        };
        let truncated = outputs.iter().any(|output| output.truncated);
        let [stdout, stderr] = outputs.map(|output| output.bytes);
        let hindered = self.referee.map(|referee| referee.hindered).unwrap_or_default();
        Ok(Seen { end, stdout, stderr, truncated, hindered, read_only })
    }

    /// Ends all of it.
    fn stop(&mut self) {
        if let Some(referee) = &mut self.referee {
            referee.over = true;
        }
        // SAFETY: numbers.
        unsafe { libc::shutdown(self.socket.as_raw_fd(), libc::SHUT_WR) };
        if self.kill_at_once {
            crate::plain::kill(self.child);
        }
    }

    fn broken(&self) -> Option<End> {
        if tree::memory(self.child) > self.limits.memory {
            return Some(End::Memory);
        }
        if self.referee.is_some() && tree::threads(self.child) > self.limits.processes {
            return Some(End::Processes);
        }
        let allowed = self.limits.space.saturating_add(self.held_before);
        (space(&self.folders, self.limits.files) > allowed).then_some(End::Space)
    }
}

/// Bytes on disk of all files of some folders; more than any bound, where there are more files than may be.
pub fn space(folders: &[PathBuf], most_files: u32) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let (mut bytes, mut files) = (0u64, 0);
    let mut open = folders.to_vec();
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            files += 1;
            if files > most_files {
                return u64::MAX;
            }
            let Ok(known) = entry.metadata() else { continue };
            bytes = bytes.saturating_add(known.blocks().saturating_mul(512));
            if known.is_dir() {
                open.push(entry.path());
            }
        }
    }
    bytes
}

fn has_more(output: &Output) -> bool {
    let ready = poll([output.pipe.as_ref().map(AsRawFd::as_raw_fd), None, None, None], Duration::ZERO);
    ready[0] & libc::POLLIN != 0
}

/// Which of these are ready, or closed at the other end.
fn poll(fds: [Option<RawFd>; 4], time: Duration) -> [i16; 4] {
    let mut all = fds.map(|fd| libc::pollfd { fd: fd.unwrap_or(-1), events: libc::POLLIN, revents: 0 });
    let milliseconds = time.as_micros().div_ceil(1000) as i32;
    // SAFETY: four entries.
    unsafe { libc::poll(all.as_mut_ptr(), 4, milliseconds) };
    all.map(|one| one.revents)
}

/// Processes that have nothing to do any more, and end when the kernel has taken their name spaces down.
static ENDING: Mutex<Vec<i32>> = Mutex::new(Vec::new());

/// Waits for a process some time later, and for those now that have ended since.
pub fn bury(child: i32) {
    let mut ending = ENDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    ending.push(child);
    // SAFETY: children of ours, whose status is not needed.
    ending.retain(
        |child| unsafe { libc::waitpid(*child, std::ptr::null_mut(), libc::__WALL | libc::WNOHANG) } == 0,
    );
}

/// Waits for the watching process.
fn wait(child: i32) {
    loop {
        // SAFETY: a child of ours, whose status is not needed.
        let done = unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::__WALL) };
        if done >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}
