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

/// The registers of a thread at one time. Flags may be older, unless they were taken where a replay was sent.
#[derive(Clone)]
pub struct Registers {
    bytes: Box<[u8]>,
    places: Arc<Places>,
}

impl Registers {
    /// The bytes of a register, lowest first, as SLEIGH names it.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.bytes.get(self.places.get(name)?)
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
        let counter = self.around.machine.abi().program_counter;
        if let Some(place) = counter.and_then(|name| self.around.places.get(name)) {
            let size = place.len();
            bytes[place].copy_from_slice(&self.pc.to_le_bytes()[..size]);
        }
        Registers { bytes, places: self.around.places.clone() }
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
