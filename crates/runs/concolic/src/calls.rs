//! System calls of a run with both halves: what they are given is pinned, what they bring of the input is marked.

use crate::descriptors::identity;
use crate::door::position;
use crate::flows::{self, Way};
use crate::lockstep::{Lockstep, Stopped};
use crate::shadow::{Part, Shade};
use parallax_op::Bits;
use parallax_path::Bound;
use parallax_process::Ending;
use parallax_process::elf::Machine;
use parallax_process::system::call_name;

impl Lockstep<'_, '_> {
    /// Makes the system call at the program counter, and marks what it brings.
    pub(crate) fn system_call(&mut self) -> Result<Option<Ending>, Stopped> {
        let registers = &self.subject.process.world().registers;
        let processor = registers.processor().clone();
        let name = call_name(Machine::X86_64, registers.get("RAX")).unwrap_or("a system call");
        let names = ["RAX", "RDI", "RSI", "RDX", "R10", "R8", "R9"];
        let values = names.map(|name| registers.get(name));
        if self.until_touch && !self.subject.is_harmless(name, &values) {
            return Err(Stopped);
        }
        for (register, value) in names.iter().zip(values).take(1 + argument_count(name)) {
            let cell = processor.register(register).and_then(|r| processor.cell_at(r.place.offset));
            if let Some(Shade::Word(term)) = cell.and_then(|cell| self.shadow.cell(cell)) {
                let what = format!("an argument of the system call {name}");
                self.constraint.pin(term, &Bits::new(64, value.into()), &what);
            }
        }
        if let Some(at) = path_argument(name) {
            self.pin_text(values[at], name);
        }
        self.pin_structures(name, &values);
        let going = self.going_out(name, &values);
        let time = self.subject.process.time();
        self.subject.shared.borrow_mut().brought = None;
        self.subject.process.start_journal();
        let ending = self.subject.process.run_until(time + 1);
        let journal = self.subject.process.take_journal();
        for written in ["RAX", "RCX", "R11"] {
            if let Some(cell) = processor.register(written).and_then(|r| processor.cell_at(r.place.offset)) {
                self.shadow.set_cell(cell, None);
            }
        }
        for (address, bytes) in &journal {
            if let Some(watch) = &mut self.watch {
                watch.written.extend(*address..*address + bytes.len() as u64);
            }
            let memory = &mut self.subject.process.world().memory;
            self.shadow.clear_range(memory, *address, bytes.len() as u64);
        }
        if matches!(name, "mmap" | "munmap" | "mremap" | "mprotect") {
            let result = self.subject.process.world().registers.get("RAX");
            let address = if name == "munmap" { values[1] } else { result };
            if name != "mprotect" && (result as i64) >= 0 {
                let memory = &mut self.subject.process.world().memory;
                self.shadow.clear_range(memory, address, values[2]);
            }
        }
        self.subject.remapped(name, &values);
        self.mark_brought(&journal, &values);
        self.follow_data(name, &values, going, &journal);
        if self.subject.process.threads().len() > 1 {
            self.constraint.ledger.note(Bound::Unsupported(String::from("a second thread")));
            return Err(Stopped);
        }
        Ok(ending)
    }

    /// Gives bytes that came from an unknown source their terms.
    fn mark_brought(&mut self, journal: &[(u64, Vec<u8>)], values: &[u64; 7]) {
        let brought = self.subject.shared.borrow_mut().brought.take();
        let Some(brought) = brought else { return };
        let range = self.subject.sources.range(brought.source);
        let world = self.subject.process.world();
        let address = world.registers.get("RAX");
        let memory = &mut world.memory;
        let mut mark = |address: u64, offset: u64| {
            let index = range.start as u64 + offset;
            if index < range.end as u64 {
                let part = Part { of: self.terms[index as usize], byte: 0 };
                self.shadow.write(memory, address, &[Some(part)]);
            }
        };
        if brought.mapped {
            let [_, _, length, _, _, _, offset] = *values;
            (0..length.min(range.len() as u64)).for_each(|at| mark(address + at, offset + at));
            return;
        }
        let mut offset = brought.from;
        for (address, bytes) in journal {
            for index in 0..bytes.len() as u64 {
                mark(address + index, offset);
                offset += 1;
            }
        }
    }

    /// What a call is about to send to a descriptor, and the place in its file where that goes.
    fn going_out(&mut self, name: &str, values: &[u64; 7]) -> Option<Going> {
        let descriptor = values[1] as i32;
        match name {
            "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" | "read" | "readv" | "preadv"
            | "preadv2" | "pread64" => {}
            _ => return None,
        }
        if self.subject.shared.borrow().is_swallowed(descriptor) {
            return None;
        }
        self.flows.meet(descriptor);
        let (way, size) = flows::way(descriptor)?;
        let place = match name {
            "pwrite64" | "pread64" | "preadv" | "preadv2" | "pwritev" | "pwritev2" => values[4],
            // SAFETY: the call takes numbers only.
            "write" | "writev" if unsafe { libc::fcntl(descriptor, libc::F_GETFL) } & libc::O_APPEND != 0 => {
                size
            }
            _ => position(values[1]),
        };
        let mut parts = Vec::new();
        let mut add = |address: u64, length: u64| {
            let length = length.min(MOST_FOLLOWED);
            let from = parts.len();
            parts.resize(from + length as usize, None);
            self.shadow.read(address, &mut parts[from..]);
        };
        match name {
            "write" | "pwrite64" => add(values[2], values[3]),
            "writev" | "pwritev" | "pwritev2" => {
                for index in 0..values[3].min(1024) {
                    let vector = self.subject.process.peek(values[2] + 16 * index, 16);
                    let word = |at: usize| Some(u64::from_le_bytes(vector.get(at..at + 8)?.try_into().ok()?));
                    let (Some(address), Some(length)) = (word(0), word(8)) else { break };
                    add(address, length);
                }
            }
            _ => {}
        }
        Some(Going { descriptor, way, place, parts })
    }

    /// Gives bytes that come back from files and pipes the terms that they went out with, and notes what is not followed.
    fn follow_data(
        &mut self,
        name: &str,
        values: &[u64; 7],
        going: Option<Going>,
        journal: &[(u64, Vec<u8>)],
    ) {
        let result = self.subject.process.world().registers.get("RAX");
        if (result as i64) < 0 {
            return;
        }
        let descriptor = values[1] as i32;
        if let Some(Going { descriptor, way, place, parts }) = going {
            let count = usize::try_from(result).unwrap_or(usize::MAX);
            if name.contains("write") {
                let sent = &parts[..count.min(parts.len())];
                match way {
                    Way::Nowhere => {}
                    Way::Elsewhere if sent.iter().any(Option::is_some) => {
                        self.lose("bytes sent to a socket or a device");
                    }
                    Way::Elsewhere => {}
                    Way::File if self.is_unknown(descriptor) => {
                        self.lose("an unknown file that the program writes")
                    }
                    Way::File | Way::Pipe => self.flows.write(descriptor, way, place, sent),
                }
            } else if matches!(way, Way::File | Way::Pipe) {
                self.come_back(descriptor, way, place, journal);
            }
            return;
        }
        match name {
            "open" | "openat" | "creat" => {
                let opened = result as i32;
                if let Some((Way::File, 0)) = flows::way(opened) {
                    self.flows.cut(opened, 0);
                }
            }
            "ftruncate" => self.flows.cut(descriptor, values[2]),
            "truncate" if !self.flows.is_empty() => self.lose("a file that is cut by its name"),
            "mmap" => {
                let (descriptor, offset, length) = (values[5] as i32, values[6], values[2]);
                let anonymous = values[4] & libc::MAP_ANONYMOUS as u64 != 0;
                let is_written =
                    values[3] & libc::PROT_WRITE as u64 != 0 && values[4] & libc::MAP_SHARED as u64 != 0;
                if !anonymous && is_written {
                    self.lose("what is written to a file through memory");
                }
                if !anonymous && self.flows.has_marks(descriptor) {
                    for (at, part) in self.flows.read(descriptor, Way::File, offset, length) {
                        self.mark_byte(result + at, part);
                    }
                }
            }
            "fork" | "vfork" | "clone" | "clone3" if result != 0 => {
                self.lose("what another process does with them, and tells this one");
            }
            "execve" | "execveat" => self.lose("what another program does with them"),
            "sendfile" => self.lose_copy(values[2] as i32),
            "copy_file_range" | "splice" | "tee" => self.lose_copy(descriptor),
            _ => {
                let (is_known, pages) = (is_plain(name), self.shadow.pages());
                let points = values[1..].iter().any(|value| pages.contains(&(value / 4096)));
                if !is_known && points {
                    self.lose(&format!("what the system call {name} reads of memory"));
                }
            }
        }
    }

    /// Whether a descriptor leads to a file that is unknown input.
    fn is_unknown(&self, descriptor: i32) -> bool {
        let shared = self.subject.shared.borrow();
        identity(descriptor)
            .is_some_and(|found| shared.unknown.iter().any(|unknown| unknown.identity == found))
    }

    fn lose_copy(&mut self, from: i32) {
        if self.is_unknown(from) || self.flows.has_marks(from) {
            self.lose("bytes that the kernel copies from file to file");
        }
    }

    fn lose(&mut self, what: &str) {
        let words = format!("bytes of the input are taken as they are on a run: {what}");
        self.constraint.ledger.note(Bound::StandsIn(words));
    }

    fn mark_byte(&mut self, address: u64, part: Part) {
        self.shadow.write(&mut self.subject.process.world().memory, address, &[Some(part)]);
    }

    /// Marks what a call has read.
    fn come_back(&mut self, descriptor: i32, way: Way, place: u64, journal: &[(u64, Vec<u8>)]) {
        let count: u64 = journal.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        let found = self.flows.read(descriptor, way, place, count);
        let (mut found, mut before) = (found.into_iter().peekable(), 0);
        for (address, bytes) in journal {
            let length = bytes.len() as u64;
            while let Some((at, part)) = found.next_if(|(at, _)| *at < before + length) {
                self.mark_byte(address + (at - before), part);
            }
            before += length;
        }
    }

    /// Structures that the kernel reads are taken as they are: only the kernel knows what comes of others.
    fn pin_structures(&mut self, name: &str, values: &[u64; 7]) {
        for (address, length) in structures(name, values) {
            for at in address..address.saturating_add(length.min(4096)) {
                let Some(part) = self.shadow.byte(at) else { continue };
                let byte = self.subject.process.peek(at, 1);
                let Some(&byte) = byte.first() else { break };
                let what = format!("a structure given to the system call {name}");
                let term = self.constraint.store.extract(part.of, 8 * u16::from(part.byte), 8);
                self.constraint.pin(term, &Bits::new(8, byte.into()), &what);
            }
        }
    }

    /// A name that a call was given is taken as it is: only the kernel knows what becomes of others.
    fn pin_text(&mut self, address: u64, name: &str) {
        for at in address..address.saturating_add(4096) {
            let byte = self.subject.process.peek(at, 1);
            let Some(&byte) = byte.first() else { return };
            if let Some(part) = self.shadow.byte(at) {
                let what = format!("a name given to the system call {name}");
                let term = self.constraint.store.extract(part.of, 8 * u16::from(part.byte), 8);
                self.constraint.pin(term, &Bits::new(8, byte.into()), &what);
            }
            if byte == 0 {
                return;
            }
        }
    }
}

/// Bytes that are on their way out of a process, and where to.
struct Going {
    descriptor: i32,
    way: Way,
    place: u64,
    parts: Vec<Option<Part>>,
}

/// Bytes of one call whose terms are followed.
const MOST_FOLLOWED: u64 = 1 << 24;

/// Structures that a call reads: addresses and lengths. Null is none.
fn structures(name: &str, values: &[u64; 7]) -> Vec<(u64, u64)> {
    let [_, first, second, third, fourth, fifth, _] = *values;
    let all = match name {
        "nanosleep" => vec![(first, 16)],
        "clock_nanosleep" => vec![(third, 16)],
        "rt_sigaction" => vec![(second, 32)],
        "rt_sigprocmask" => vec![(second, 8)],
        "sigaltstack" => vec![(first, 24)],
        "poll" | "ppoll" => vec![(first, second.saturating_mul(8))],
        "select" | "pselect6" => vec![(second, 128), (third, 128), (fourth, 128), (fifth, 16)],
        "futex" => vec![(first, 4)],
        "connect" | "bind" => vec![(second, third)],
        "setsockopt" => vec![(fourth, fifth)],
        "prlimit64" => vec![(third, 16)],
        "setrlimit" | "utime" | "utimes" => vec![(second, 32)],
        "setitimer" => vec![(second, 32)],
        "utimensat" | "timer_settime" => vec![(third, 32)],
        "readv" | "writev" | "preadv" | "pwritev" | "preadv2" | "pwritev2" => {
            vec![(second, third.saturating_mul(16))]
        }
        "epoll_ctl" => vec![(fourth, 12)],
        "ioctl" | "fcntl" => vec![(third, 32)],
        _ => Vec::new(),
    };
    all.into_iter().filter(|(address, _)| *address > 4096).collect()
}

/// Whether all that a call reads of memory is known here, or it reads nothing: it may write what it likes.
fn is_plain(name: &str) -> bool {
    let reads = structures(name, &[0, 8192, 8192, 8192, 8192, 8192, 8192]);
    !reads.is_empty()
        || path_argument(name).is_some()
        || matches!(
            name,
            "read"
                | "pread64"
                | "write"
                | "pwrite64"
                | "close"
                | "fstat"
                | "lseek"
                | "mmap"
                | "mprotect"
                | "munmap"
                | "mremap"
                | "madvise"
                | "brk"
                | "dup"
                | "dup2"
                | "dup3"
                | "pipe"
                | "pipe2"
                | "getdents64"
                | "getcwd"
                | "getrandom"
                | "uname"
                | "sysinfo"
                | "times"
                | "time"
                | "gettimeofday"
                | "clock_gettime"
                | "clock_getres"
                | "getrlimit"
                | "getrusage"
                | "wait4"
                | "waitid"
                | "exit"
                | "exit_group"
                | "getpid"
                | "gettid"
                | "getppid"
                | "getuid"
                | "geteuid"
                | "getgid"
                | "getegid"
                | "sched_yield"
                | "arch_prctl"
                | "set_tid_address"
                | "set_robust_list"
                | "rseq"
                | "fsync"
                | "fdatasync"
                | "umask"
                | "alarm"
                | "pause"
                | "kill"
                | "tkill"
                | "tgkill"
                | "rt_sigreturn"
                | "rt_sigpending"
                | "ftruncate"
                | "sched_getaffinity"
                | "getsockname"
                | "getpeername"
                | "socket"
                | "listen"
                | "socketpair"
        )
}

/// How many arguments of a call count; all of those not named here.
fn argument_count(name: &str) -> usize {
    match name {
        // The status of a program decides nothing in it.
        "exit" | "exit_group" | "getpid" | "gettid" | "getuid" | "geteuid" | "getgid" | "getegid"
        | "sched_yield" | "fork" | "vfork" => 0,
        "close" | "brk" | "dup" | "umask" | "unlink" | "rmdir" | "chdir" | "fsync" | "sysinfo" | "uname"
        | "time" | "pipe" | "set_tid_address" => 1,
        "fstat" | "stat" | "lstat" | "munmap" | "access" | "getcwd" | "dup2" | "nanosleep"
        | "clock_gettime" | "gettimeofday" | "kill" | "ftruncate" | "arch_prctl" | "getrlimit" | "mkdir"
        | "rename" | "sigaltstack" => 2,
        "read" | "write" | "open" | "lseek" | "mprotect" | "ioctl" | "readv" | "writev" | "fcntl"
        | "poll" | "getdents64" | "readlink" | "tgkill" | "getrandom" | "madvise" | "faccessat"
        | "unlinkat" => 3,
        "openat" | "newfstatat" | "pread64" | "pwrite64" | "rt_sigaction" | "rt_sigprocmask"
        | "prlimit64" | "clock_nanosleep" => 4,
        "statx" | "select" | "mremap" => 5,
        _ => 6,
    }
}

/// Which register of a call points to the name of a file.
fn path_argument(name: &str) -> Option<usize> {
    match name {
        "open" | "stat" | "lstat" | "access" | "unlink" | "mkdir" | "rmdir" | "chdir" | "execve"
        | "rename" | "readlink" | "truncate" => Some(1),
        "openat" | "newfstatat" | "faccessat" | "faccessat2" | "statx" | "unlinkat" | "mkdirat"
        | "readlinkat" => Some(2),
        _ => None,
    }
}
