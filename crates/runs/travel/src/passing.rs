//! The program where a replay passes a hit: registers and memory as they are there, without a copy of anything.

use crate::state::{Mapped, Places, layout, mapped};
use parallax_process::elf::Machine;
use parallax_process::memory::Memory;
use parallax_process::outside::Tid;
use parallax_process::system::call_name;
use parallax_trace::Time;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What stays the same while a program runs, and is worked out once.
pub(crate) struct Surroundings {
    places: Arc<Places>,
    program: PathBuf,
    machine: Machine,
    /// What is mapped, in a number; forgotten when that may have changed.
    layout: Cell<Option<u64>>,
}

impl Surroundings {
    pub fn new(places: Arc<Places>, program: &Path, machine: Machine) -> Self {
        Surroundings { places, program: program.to_owned(), machine, layout: Cell::new(None) }
    }

    /// Whether a system call replaces the program by another.
    pub fn is_replaced_by(&self, number: u64) -> bool {
        matches!(call_name(self.machine, number), Some("execve" | "execveat"))
    }

    /// Whether the thread that makes a system call may have another number from then on.
    pub fn is_renumbered_by(&self, number: u64) -> bool {
        let name = call_name(self.machine, number);
        matches!(name, Some("fork" | "vfork" | "clone" | "clone3")) || self.is_replaced_by(number)
    }

    /// What is mapped may have changed.
    pub fn forget_layout(&self) {
        self.layout.set(None);
    }
}

/// What is known of a replay that is looked at on its way.
#[derive(Default)]
pub(crate) struct Vantage {
    /// None if the program was replaced by another.
    around: Option<Surroundings>,
    /// The thread whose turn it is, if that is known.
    thread: Option<Tid>,
}

impl Vantage {
    /// That of a replay that runs on, as the turn of a thread or not.
    pub fn new(around: Surroundings, thread: Option<Tid>) -> Self {
        Vantage { around: Some(around), thread }
    }

    /// The program as an instruction finds it.
    pub fn passing<'a>(
        &'a self,
        time: Time,
        pc: u64,
        registers: &'a [u8],
        memory: &'a mut Memory,
    ) -> Option<Passing<'a>> {
        let around = self.around.as_ref()?;
        let (thread, memory) = (self.thread, RefCell::new(memory));
        Some(Passing { time, pc, thread, has_exact_flags: false, registers, memory, around })
    }

    /// Another thread gets its turn.
    pub fn turn(&mut self, thread: Tid) {
        self.thread = Some(thread);
    }

    /// A system call is complete: it may have changed what is mapped, the program, or the number of the thread.
    pub fn system_call(&mut self, number: u64) {
        if let Some(around) = self.around.take() {
            if around.is_renumbered_by(number) {
                self.thread = None;
            }
            around.forget_layout();
            self.around = (!around.is_replaced_by(number)).then_some(around);
        }
    }
}

/// The registers of a thread at one time.
#[derive(Clone)]
pub struct Registers {
    bytes: Box<[u8]>,
    places: Arc<Places>,
    /// Those that may be older, and are not told.
    old: &'static [&'static str],
}

impl Registers {
    /// The bytes of a register, lowest first, as SLEIGH names it. None for flags that may be old ones.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.bytes.get(self.places.get(name).filter(|_| !self.old.contains(&name))?)
    }

    /// The same for a register of a list: quick if it is always the same list.
    pub fn listed(&self, list: &'static [&'static str], index: usize) -> Option<&[u8]> {
        self.bytes.get(self.places.listed(list, index)?)
    }
}

/// A program that passes a hit, seen by the thread that does.
pub struct Passing<'a> {
    pub(crate) time: Time,
    pub(crate) pc: u64,
    pub(crate) thread: Option<Tid>,
    pub(crate) has_exact_flags: bool,
    pub(crate) registers: &'a [u8],
    pub(crate) memory: RefCell<&'a mut Memory>,
    pub(crate) around: &'a Surroundings,
}

impl Passing<'_> {
    /// The step that comes next.
    pub fn time(&self) -> Time {
        self.time
    }

    /// Where the thread is.
    pub fn pc(&self) -> u64 {
        self.pc
    }

    /// The thread that makes the step, if it is known yet.
    pub fn thread(&self) -> Option<Tid> {
        self.thread
    }

    /// The bytes of a register of the thread, lowest first. None for the program counter, which is [`Passing::pc`], and for
    /// flags that may be old ones.
    pub fn register(&self, name: &str) -> Option<&[u8]> {
        let abi = self.around.machine.abi();
        let is_old = !self.has_exact_flags && abi.flags.contains(&name);
        let place = self.around.places.get(name).filter(|_| abi.program_counter != Some(name) && !is_old);
        self.registers.get(place?)
    }

    /// The bytes of an ordinary register, neither program counter nor flag, by its place in a list of names: quick if it is
    /// always the same list.
    pub fn listed(&self, list: &'static [&'static str], index: usize) -> Option<&[u8]> {
        self.registers.get(self.around.places.listed(list, index)?)
    }

    /// All registers of the thread, to keep.
    pub fn registers(&self) -> Registers {
        let mut bytes: Box<[u8]> = self.registers.into();
        let abi = self.around.machine.abi();
        if let Some(place) = abi.program_counter.and_then(|name| self.around.places.get(name)) {
            let size = place.len();
            bytes[place].copy_from_slice(&self.pc.to_le_bytes()[..size]);
        }
        let old = if self.has_exact_flags { &[] } else { abi.flags };
        Registers { bytes, places: self.around.places.clone(), old }
    }

    /// Fills the buffer from memory; false if that cannot be read, or only by disturbing the replay.
    pub fn read(&self, address: u64, into: &mut [u8]) -> bool {
        self.memory.borrow_mut().peek(address, into)
    }

    /// The file of the program.
    pub fn program(&self) -> &Path {
        &self.around.program
    }

    /// What [`crate::State::layout`] gives.
    pub fn layout(&self) -> u64 {
        let known = self.around.layout.get();
        let layout = known.unwrap_or_else(|| layout(&self.around.program, &self.memory.borrow()));
        self.around.layout.set(Some(layout));
        layout
    }

    /// What is mapped, in the order of addresses.
    pub fn mapped(&self) -> Vec<Mapped> {
        mapped(&self.memory.borrow())
    }
}
