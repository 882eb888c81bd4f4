//! A process at one moment, to go back to.
//!
//! Memory is shared page by page with the running process until either side writes, so a snapshot costs a pointer per
//! touched page. What lies outside the process (files, pipes, children) is not part of it: a door that answers
//! from a recording goes back too, the live one cannot.

use crate::elf::Machine;
use crate::memory::Memory;
use crate::outside::Facts;
use crate::process::Process;
use crate::signal::Signals;
use crate::system::Origin;
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
    /// Where the door was.
    position: u64,
}

impl Snapshot {
    /// Instructions executed until then.
    pub fn time(&self) -> u64 {
        self.time
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
            position: self.outside().position(),
        }
    }

    /// Goes back to a snapshot of this process.
    ///
    /// # Panics
    /// If the process has since become a program of another machine: its instructions would be read wrongly.
    pub fn go_back(&mut self, to: &mut Snapshot) {
        assert_eq!(self.machine, to.machine, "a snapshot of another machine");
        self.program.clone_from(&to.program);
        let mut memory = to.memory.snapshot();
        // Code may have been translated since from bytes that are not there yet.
        let changed = self.world.memory.code_other_than(&mut memory);
        self.world.memory = memory;
        self.engine().forget_pages(&changed);
        self.world.registers.restore(&to.registers);
        self.world.time = to.time;
        self.heap = to.heap.clone();
        self.signals = to.signals.clone();
        self.threads = to.threads.clone();
        self.origin = to.origin.clone();
        self.facts = to.facts.clone();
        self.outside().seek(to.position);
        self.set_pc(to.pc);
    }
}
