//! System calls of a run with both halves: what they are given is pinned, what they bring of the input is marked.

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
        if self.subject.process.threads().len() > 1 {
            self.constraint.bounds.insert(Bound::Unsupported(String::from("a second thread")));
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
