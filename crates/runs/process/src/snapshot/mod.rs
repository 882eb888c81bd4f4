//! A process at one moment, to go back to.
//!
//! Memory is shared page by page with the running process until either side writes, so a snapshot costs a pointer per
//! touched page. What lies outside the process (files, pipes, children) is not part of it: a door that answers
//! from a recording goes back too, the live one cannot.

mod saved;

pub use saved::SavedSnapshot;

use crate::elf::Machine;
use crate::memory::Memory;
use crate::outside::{Facts, Limits, Tid};
use crate::process::Process;
use crate::signal::Signals;
use crate::system::{Answer, Origin};
use crate::threads::Threads;
use std::path::PathBuf;

/// A process at one moment.
pub struct Snapshot {
    machine: Machine,
    program: PathBuf,
    memory: Memory,
    registers: Box<[u8]>,
    pc: u64,
    time: u64,
    heap: std::ops::Range<u64>,
    signals: Signals,
    threads: Threads,
    origin: Origin,
    facts: Facts,
    file_size_limit: Option<u64>,
    limits: Limits,
    /// Where the door was.
    position: u64,
}

impl Snapshot {
    /// Instructions executed until then.
    pub fn time(&self) -> u64 {
        self.time
    }

    /// The machine whose instructions it runs.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// The file of the program it runs.
    pub fn program(&self) -> &std::path::Path {
        &self.program
    }

    /// The number of the process.
    pub fn process(&self) -> Tid {
        self.facts.process
    }

    /// Its memory, to be looked at.
    pub fn memory(&self) -> Memory {
        let mut memory = self.memory.resting_copy();
        memory.set_quiet(true);
        memory
    }

    /// Its memory, to be looked at, for those who need nothing else of it any more.
    pub fn into_memory(self) -> Memory {
        let mut memory = self.memory;
        memory.set_quiet(true);
        memory
    }

    /// The pages whose contents may differ from those of an older snapshot, by number.
    pub fn pages_changed_since(&self, older: &Snapshot) -> Vec<u64> {
        self.memory.pages_changed_since(&older.memory)
    }

    /// The numbers of its threads, that of the running one first.
    pub fn threads(&self) -> Vec<Tid> {
        self.threads.numbers()
    }

    /// The registers and the program counter of a thread, as it will find them when it goes on.
    pub fn thread(&self, thread: Tid) -> Option<(Box<[u8]>, u64)> {
        if thread == self.threads.number() {
            return Some((self.registers.clone(), self.pc));
        }
        let (registers, pc) = self.threads.paused(thread)?;
        Some((registers.into(), pc))
    }

    /// What the call of a thread came to while other threads ran: it is in its registers when it goes on.
    pub fn result_of(&self, thread: Tid) -> Option<Answer> {
        self.threads.result_of(thread)
    }
}

impl Process {
    /// The process as it is now.
    pub fn snapshot(&mut self) -> Snapshot {
        Snapshot {
            machine: self.machine,
            program: self.program.clone(),
            memory: self.world.memory.snapshot(),
            registers: self.world.registers.contents().into(),
            pc: self.pc(),
            time: self.world.time,
            heap: self.heap.clone(),
            signals: self.signals.clone(),
            threads: self.threads.clone(),
            origin: self.origin.clone(),
            facts: self.facts.clone(),
            file_size_limit: self.file_size_limit,
            limits: self.limits,
            position: self.outside().position(),
        }
    }

    /// Goes to a snapshot of this process, or of another that replays the same recording.
    pub fn go_back(&mut self, to: &Snapshot) {
        self.become_machine(to.machine);
        self.program.clone_from(&to.program);
        let mut memory = to.memory.resting_copy();
        memory.keep_writes(self.world.watcher.is_some());
        // Code may have been translated since from bytes that are not there yet.
        let changed = self.world.memory.code_other_than(&mut memory);
        self.world.memory = memory;
        self.forget_code(&changed);
        self.world.registers.restore(&to.registers);
        self.world.time = to.time;
        self.heap = to.heap.clone();
        self.signals = to.signals.clone();
        self.threads = to.threads.clone();
        self.origin = to.origin.clone();
        self.facts = to.facts.clone();
        self.file_size_limit = to.file_size_limit;
        self.limits = to.limits;
        self.outside().seek(to.position);
        self.set_pc(to.pc);
        self.forget_symbols();
    }
}
