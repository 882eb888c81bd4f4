//! The library in a process of its own.
//!
//! Some bytes that decode well crash the C++ library (PowerPC's `vsubuhm`, for one), and a user's own specification may
//! do anything. So lifting happens in a child made by `fork`, over a socket; when the child dies, the bytes it died of
//! are undecodable and the next request gets a fresh child. A request lifts a run of instructions, so that the cost of
//! the round trip is shared.
//!
//! The child is a grandchild, so that a program that waits for its own children never meets it, and it closes every
//! file it inherited, so that nobody's pipe stays open because of it. It ends when the socket is closed.

use crate::Specification;
use crate::library::{Facts, Library};
use crate::pcode::{Lifted, Reader, Writer};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// The library answers within microseconds; longer than this means that it hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// No answer is longer than this.
const MAX_ANSWER: u64 = 64 << 20;

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
}

struct Connection {
    socket: UnixStream,
    /// Who started it: after a fork of our own process the other half must not speak on the same socket.
    owner: u32,
}

impl Worker {
    /// A worker for a specification; the process starts when it is first asked something.
    pub fn new(specification: Specification) -> Self {
        Worker { specification, connection: None }
    }

    /// The specification it works with.
    pub fn specification(&self) -> &Specification {
        &self.specification
    }

    /// What the specification says about its processor.
    pub fn facts(&mut self) -> Result<Facts, Failure> {
        let answer = self.ask(&[0])?;
        let mut reader = Reader(&answer);
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
        let answer = self.ask(&request.0)?;
        let mut reader = Reader(&answer);
        read_run(&mut reader).ok_or(Failure::Died)
    }

    fn ask(&mut self, request: &[u8]) -> Result<Vec<u8>, Failure> {
        if self.connection.as_ref().is_none_or(|connection| connection.owner != std::process::id()) {
            self.connection = Some(start(&self.specification).map_err(Failure::Start)?);
        }
        let connection = self.connection.as_mut().expect("just connected");
        match exchange(&mut connection.socket, request) {
            Ok(mut answer) => match answer.first().copied() {
                Some(0) => Ok(answer.split_off(1)),
                Some(_) => Err(Failure::Refused(String::from_utf8_lossy(&answer[1..]).into_owned())),
                None => Err(Failure::Died),
            },
            Err(_) => {
                self.connection = None;
                Err(Failure::Died)
            }
        }
    }
}

fn exchange(socket: &mut UnixStream, request: &[u8]) -> io::Result<Vec<u8>> {
    send(socket, request)?;
    receive(socket)
}

fn send(socket: &mut UnixStream, message: &[u8]) -> io::Result<()> {
    let mut frame = Vec::with_capacity(8 + message.len());
    frame.extend_from_slice(&(message.len() as u64).to_le_bytes());
    frame.extend_from_slice(message);
    socket.write_all(&frame)
}

fn receive(socket: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    socket.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > MAX_ANSWER {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut message = vec![0; length as usize];
    socket.read_exact(&mut message)?;
    Ok(message)
}

fn start(specification: &Specification) -> io::Result<Connection> {
    let (ours, theirs) = UnixStream::pair()?;
    // SAFETY: the child runs only our own code below and leaves through `_exit`; glibc keeps the allocator usable
    // across a fork even when other threads exist.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: as above; the middle process only makes the worker an orphan.
            unsafe {
                if libc::fork() == 0 {
                    isolate(theirs.as_raw_fd());
                    // A panic must not unwind into the caller's frames, which belong to another process.
                    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                        serve(theirs, specification)
                    }));
                }
                libc::_exit(0)
            }
        }
        middle => {
            // SAFETY: `middle` is our child and exits at once.
            unsafe { libc::waitpid(middle, std::ptr::null_mut(), 0) };
            drop(theirs);
            ours.set_read_timeout(Some(PATIENCE))?;
            ours.set_write_timeout(Some(PATIENCE))?;
            Ok(Connection { socket: ours, owner: std::process::id() })
        }
    }
}

/// Lets go of everything that belongs to the process we were forked from.
fn isolate(socket: i32) {
    // SAFETY: plain system calls on descriptors that nobody in this process uses.
    unsafe {
        for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGFPE, libc::SIGILL, libc::SIGPIPE]
        {
            libc::signal(signal, libc::SIG_DFL);
        }
        // No core files: dying is how this process says "undecodable".
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &none);
        if socket > 0 {
            libc::syscall(libc::SYS_close_range, 0, socket - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, socket + 1, u32::MAX, 0);
    }
}

fn serve(mut socket: UnixStream, specification: &Specification) {
    let library = Library::load(specification);
    while let Ok(request) = receive(&mut socket) {
        let mut answer = Writer(vec![0]);
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
        if send(&mut socket, &answer.0).is_err() {
            return;
        }
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
    let mut run = Vec::new();
    let mut refusal = None;
    let mut used = 0;
    while (run.len() as u64) < count && used < bytes.len() {
        match library.lift(address.wrapping_add(used as u64), &bytes[used..]) {
            Ok(lifted) => {
                let length = lifted.length as usize;
                run.push(lifted);
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
    answer.number(run.len() as u64);
    run.iter().for_each(|lifted| answer.lifted(lifted));
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
