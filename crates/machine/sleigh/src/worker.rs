//! The library in a process of its own.
//!
//! Some bytes that decode well crash the C++ library (PowerPC's `vadduhm`, for one, nearly always), and a user's own specification may
//! do anything. So lifting happens in a child made by `fork`, over a [`Channel`]; when the child dies, the bytes it died
//! of are undecodable and the next request gets a fresh child. A request lifts a run of instructions, so that the cost
//! of the round trip is shared.
//!
//! The child is a grandchild in a session of its own, so that a program that waits for its own children never meets it
//! and signals to a group or from a terminal never reach it. It closes every file it inherited, so that nobody's pipe
//! stays open because of it. It ends when the channel is closed, or when the process that asks has ended.

use crate::Specification;
use crate::channel::Channel;
use crate::library::{Facts, Library};
use crate::pcode::{Lifted, Reader, Writer};
use std::io;
use std::time::Duration;

/// The library answers within microseconds; longer than this means that it hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why there is no answer.
#[derive(Debug)]
pub enum Failure {
    /// The library says that it cannot, and why.
    Refused(String),
    /// The worker died or hangs.
    Died,
    /// No worker can be started.
    Start(io::Error),
}

/// A handle on the process that holds the library.
pub struct Worker {
    specification: Specification,
    connection: Option<Connection>,
    /// The last answer; answers are large, so their room is kept.
    answer: Vec<u8>,
}

struct Connection {
    channel: Channel,
    /// The process that answers.
    process: i32,
    /// Who started it: after a fork of our own process the other half must not speak on the same channel.
    owner: u32,
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.owner == std::process::id() {
            self.channel.close();
        }
    }
}

impl Worker {
    /// A worker for a specification; the process starts when it is first asked something.
    pub fn new(specification: Specification) -> Self {
        Worker { specification, connection: None, answer: Vec::new() }
    }

    /// The specification it works with.
    pub fn specification(&self) -> &Specification {
        &self.specification
    }

    /// What the specification says about its processor.
    pub fn facts(&mut self) -> Result<Facts, Failure> {
        let mut reader = Reader(self.ask(&[0])?);
        read_facts(&mut reader).ok_or(Failure::Died)
    }

    /// Lifts up to `count` instructions from `address` on, where `bytes` begin, and stops at the first that the library
    /// refuses: then the reason comes with them.
    pub fn lift(
        &mut self,
        address: u64,
        bytes: &[u8],
        count: u64,
    ) -> Result<(Vec<Lifted>, Option<String>), Failure> {
        let mut request = Writer(vec![1]);
        request.number(address);
        request.number(count);
        request.bytes(bytes);
        let mut reader = Reader(self.ask(&request.0)?);
        read_run(&mut reader).ok_or(Failure::Died)
    }

    fn ask(&mut self, request: &[u8]) -> Result<&[u8], Failure> {
        if self.connection.as_ref().is_none_or(|connection| connection.owner != std::process::id()) {
            self.connection = Some(start(&self.specification).map_err(Failure::Start)?);
        }
        let connection = self.connection.as_ref().expect("just connected");
        if !connection.channel.ask(request, &mut self.answer, connection.process, PATIENCE) {
            self.connection = None;
            return Err(Failure::Died);
        }
        match self.answer.split_first() {
            Some((0, answer)) => Ok(answer),
            Some((_, message)) => Err(Failure::Refused(String::from_utf8_lossy(message).into_owned())),
            None => Err(Failure::Died),
        }
    }
}

unsafe extern "C" {
    /// Like `fork`, without the handlers that libraries registered for it (POSIX 2024).
    fn _Fork() -> libc::pid_t;
}

fn start(specification: &Specification) -> io::Result<Connection> {
    let channel = Channel::new()?;
    let owner = std::process::id();
    // SAFETY: the child runs only our own code below and leaves through `_exit`; glibc keeps the allocator usable
    // across a fork even when other threads exist.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: as above; the middle process only makes the worker an orphan. It has one thread, so there is
            // nothing to prepare for a second fork: `_Fork` runs no handlers, such as those of Z3, which would wait
            // here for timers that other threads of the parent have.
            unsafe {
                let worker = _Fork();
                if worker == 0 {
                    isolate();
                    // A panic must not unwind into the caller's frames, which belong to another process.
                    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                        serve(&channel, owner as i32, specification)
                    }));
                }
                channel.introduce(worker);
                libc::_exit(0)
            }
        }
        middle => {
            let mut status = 0;
            // SAFETY: `middle` is our child and exits at once.
            while unsafe { libc::waitpid(middle, &mut status, 0) } == -1
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
            match channel.introduced() {
                process if process > 0 => Ok(Connection { channel, process, owner }),
                _ => Err(io::ErrorKind::WouldBlock.into()),
            }
        }
    }
}

/// Lets go of everything that belongs to the process we were forked from.
fn isolate() {
    // SAFETY: plain system calls on descriptors that nobody in this process uses.
    unsafe {
        libc::setsid();
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGFPE, libc::SIGILL, libc::SIGALRM]
        {
            libc::signal(signal, libc::SIG_DFL);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        // No core files: dying is how this process says "undecodable".
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &none);
        libc::syscall(libc::SYS_close_range, 0, u32::MAX, 0);
    }
}

fn serve(channel: &Channel, owner: i32, specification: &Specification) {
    // Nobody waits for us longer than this, so whatever takes longer may as well end.
    // SAFETY: the alarm is this process's own.
    let hurry = |seconds: u64| unsafe { libc::alarm(seconds as u32) };
    hurry(PATIENCE.as_secs());
    let library = Library::load(specification);
    hurry(0);
    let mut answer = Writer::default();
    while let Some(request) = channel.next(owner) {
        hurry(PATIENCE.as_secs());
        answer.0.clear();
        answer.0.push(0);
        match &library {
            Err(message) => {
                answer.0[0] = 1;
                answer.0.extend_from_slice(message.as_bytes());
            }
            Ok(library) => {
                if respond(library, &request, &mut answer).is_none() {
                    return;
                }
            }
        }
        hurry(0);
        channel.answer(&answer.0);
    }
}

fn respond(library: &Library, request: &[u8], answer: &mut Writer) -> Option<()> {
    let mut reader = Reader(request);
    if reader.byte()? == 0 {
        write_facts(&library.facts(), answer);
        return Some(());
    }
    let address = reader.number()?;
    let count = reader.number()?;
    let bytes = reader.bytes()?;
    let mut lifted = 0;
    let mut refusal = None;
    let mut used = 0;
    // How many there are is written in front when it is known.
    answer.number(0);
    while lifted < count && used < bytes.len() {
        #[cfg(test)]
        tests::die_of(&bytes[used..]);
        match library.lift(address.wrapping_add(used as u64), &bytes[used..], answer) {
            Ok(length) => {
                lifted += 1;
                if length == 0 {
                    break;
                }
                used += length;
            }
            Err(message) => {
                refusal = Some(message);
                break;
            }
        }
    }
    answer.0[1..9].copy_from_slice(&lifted.to_le_bytes());
    answer.0.push(u8::from(refusal.is_some()));
    answer.bytes(refusal.unwrap_or_default().as_bytes());
    Some(())
}

fn read_run(reader: &mut Reader) -> Option<(Vec<Lifted>, Option<String>)> {
    let count = reader.number()?;
    let run = (0..count).map(|_| reader.lifted()).collect::<Option<Vec<_>>>()?;
    let refused = reader.byte()? != 0;
    let message = reader.text()?;
    Some((run, refused.then_some(message)))
}

fn write_facts(facts: &Facts, answer: &mut Writer) {
    answer.number(u64::from(facts.big_endian));
    answer.number(facts.address_bytes);
    answer.number(facts.word_bytes);
    answer.number(facts.registers.len() as u64);
    for (name, offset, bytes) in &facts.registers {
        answer.bytes(name.as_bytes());
        answer.number(*offset);
        answer.number(*bytes);
    }
}

fn read_facts(reader: &mut Reader) -> Option<Facts> {
    let big_endian = reader.number()? != 0;
    let address_bytes = reader.number()?;
    let word_bytes = reader.number()?;
    let count = reader.number()?;
    let registers = (0..count)
        .map(|_| Some((reader.text()?, reader.number()?, reader.number()?)))
        .collect::<Option<Vec<_>>>()?;
    Some(Facts { big_endian, address_bytes, word_bytes, registers })
}

#[cfg(test)]
mod tests {
    use super::{Failure, Worker};
    use crate::{Language, LiftError, Lifter};

    /// No instruction of PowerPC; here the worker dies of it, every time, as it does of some that are.
    const FATAL: [u8; 4] = [0, 0, 0x18, 0x40];

    pub(super) fn die_of(bytes: &[u8]) {
        if bytes.starts_with(&FATAL) {
            // SAFETY: a signal to ourselves, which nobody handles.
            unsafe { libc::raise(libc::SIGSEGV) };
        }
    }

    #[test]
    fn a_worker_that_dies_is_replaced() {
        let mut worker = Worker::new(Language::find("powerpc").unwrap().specification());
        let blr = [0x4e, 0x80, 0, 0x20];
        let run = [blr, blr, FATAL].concat();
        for _ in 0..3 {
            assert!(matches!(worker.lift(0x1000, &FATAL, 1), Err(Failure::Died)));
            let (lifted, refusal) = worker.lift(0x2000, &blr, 1).expect("a fresh process answers");
            assert_eq!((lifted.len(), lifted[0].text.as_str(), refusal), (1, "blr", None));
            assert_eq!(worker.lift(0x3000, &run, 2).expect("two are good").0.len(), 2);
            assert!(matches!(worker.lift(0x3000, &run, 3), Err(Failure::Died)));
        }
    }

    #[test]
    fn a_crash_costs_one_instruction_and_nothing_else() {
        let mut lifter = Lifter::new(Language::find("powerpc").unwrap()).unwrap();
        let isync = [0x4c, 0, 0x01, 0x2c];
        for _ in 0..3 {
            let error = lifter.lift(0x1000, &FATAL).expect_err("the worker dies of it");
            assert!(matches!(&error, LiftError::Undecodable { address: 0x1000, .. }), "{error}");
            assert!(error.to_string().contains("crashes on these bytes"), "{error}");
            lifter.lift(0x2000, &isync).expect("the next request gets a fresh process");
            lifter.forget();
        }
        // Good instructions in front of the fatal one are lifted all the same.
        let run = [isync, isync, FATAL].concat();
        lifter.lift(0x3000, &run).expect("only the third is fatal");
        lifter.lift(0x3004, &run[4..]).expect("only the next is fatal");
        assert!(lifter.lift(0x3008, &run[8..]).is_err());
    }
}
