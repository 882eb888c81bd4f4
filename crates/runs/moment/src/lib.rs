//! A moment of a recording, with what debug information says of it.
//!
//! [`Modules`] reads the symbols of the program and its shared objects out of a recording, where they were loaded at some
//! state; a [`Moment`] is a state seen by one of its threads, as `parallax_symbols` wants to see it.
//!
//! [`Names`] says what a name of code means in all of a recording: functions of libraries that were closed, copies that were
//! inlined, ends by jumps. The command line, GDB and Python ask it alike.
//!
//! Absent on purpose: what is asked about moments, and files outside the recording, unless it kept none.

mod control;
mod names;
mod over_time;
mod spots;

pub use names::{Code, Names, Stop};

use parallax_process::memory::PAGE;
use parallax_record::Log;
use parallax_symbols::{Frame, Line, Module, Symbols};
use parallax_travel::{Mapped, Passing, Registers, State};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A file that is mapped, and where it starts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Placed {
    file: String,
    start: u64,
    /// The name of its contents, where the recording kept them: a file may be another when it is mapped again.
    kept: Option<String>,
}

/// The symbols of a recording. Those of a larger set of files serve a smaller one.
pub struct Modules {
    log: Arc<Log>,
    known: Mutex<Vec<(Vec<Placed>, Arc<Symbols>)>>,
    /// Those of the layout that was looked at last.
    latest: Mutex<Option<(u64, Arc<Symbols>)>>,
    /// The names of the contents of mappings.
    kept: Mutex<HashMap<u32, Option<String>>>,
    /// Those of all that was ever mapped.
    over_time: OnceLock<Arc<over_time::OverTime>>,
}

impl Modules {
    /// Those of a recording.
    pub fn new(log: Arc<Log>) -> Modules {
        Modules {
            log,
            known: Mutex::default(),
            latest: Mutex::default(),
            kept: Mutex::default(),
            over_time: OnceLock::new(),
        }
    }

    /// The symbols of what is mapped in a state.
    pub fn symbols(&self, state: &State) -> Arc<Symbols> {
        self.laid_out(state.layout(), || self.mapped(state.program(), state.mapped()))
    }

    /// The symbols of what is mapped where a replay passes.
    pub fn passed(&self, passing: &Passing<'_>) -> Arc<Symbols> {
        self.laid_out(passing.layout(), || self.mapped(passing.program(), &passing.mapped()))
    }

    fn laid_out(&self, layout: u64, find: impl FnOnce() -> Arc<Symbols>) -> Arc<Symbols> {
        let latest = || self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, symbols)) = latest().as_ref().filter(|(known, _)| *known == layout) {
            return symbols.clone();
        }
        let symbols = find();
        *latest() = Some((layout, symbols.clone()));
        symbols
    }

    /// The files whose start is mapped.
    fn placed(&self, mapped: &[Mapped]) -> Vec<Placed> {
        let mut starts: Vec<Placed> = Vec::new();
        for mapped in mapped {
            if let (Some(file), 0) = (&mapped.file, mapped.offset)
                && !starts.iter().any(|known| known.file == *file)
            {
                let kept = mapped.mapping.and_then(|mapping| self.kept_of(mapping));
                starts.push(Placed { file: file.clone(), start: mapped.range.start, kept });
            }
        }
        starts
    }

    /// The name of the contents of a mapping.
    fn kept_of(&self, mapping: u32) -> Option<String> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.entry(mapping).or_insert_with(|| self.log.kept_of(mapping).map(str::to_owned)).clone()
    }

    /// The bytes of a file.
    fn contents(&self, placed: &Placed) -> Option<Arc<[u8]>> {
        let kept = placed.kept.as_ref().and_then(|kept| self.log.kept(kept));
        match kept.or_else(|| self.log.file(&placed.file)) {
            Some(bytes) => Some(bytes),
            None => std::fs::read(&placed.file).ok().map(Arc::from),
        }
    }

    /// What symbols a file has; none if it is no program.
    fn module(&self, placed: &Placed) -> Option<Module> {
        let mut module = Module::read(&placed.file, &self.contents(placed)?, None, 0).ok()?;
        module.bias = placed.start.wrapping_sub(module.extent().start / PAGE * PAGE);
        Some(module)
    }

    fn mapped(&self, program: &Path, mapped: &[Mapped]) -> Arc<Symbols> {
        let mut starts = self.placed(mapped);
        // The program first: its machine and its thread-local variables are meant.
        let program = program.to_string_lossy();
        starts.sort_by_key(|placed| (*placed.file != program, placed.start));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |placed: &[Placed]| starts.iter().all(|start| placed.contains(start));
        if let Some((_, symbols)) = known.iter().find(|(placed, _)| fits(placed)) {
            return symbols.clone();
        }
        // What is no program is mapped too; it has no symbols.
        let modules = starts.iter().filter_map(|placed| self.module(placed));
        let symbols = Arc::new(Symbols::new(modules.collect()));
        known.push((starts, symbols.clone()));
        symbols
    }

    /// A state, seen by the thread that makes the next step or by another.
    pub fn moment(&self, state: State, thread: Option<u32>) -> Moment {
        let thread = thread.unwrap_or(state.thread());
        let symbols = self.symbols(&state);
        Moment { state, thread, symbols }
    }
}

/// A state, seen by one thread.
pub struct Moment {
    /// The state.
    pub state: State,
    /// The thread.
    pub thread: u32,
    /// The symbols of what is mapped.
    pub symbols: Arc<Symbols>,
}

impl Moment {
    /// The frame that the thread is in.
    pub fn frame(&self) -> Frame {
        self.symbols.innermost(self)
    }
}

/// The function and the line of an address, as far as they are known.
pub fn place_of(symbols: &Symbols, address: u64) -> (Option<String>, Option<Line>) {
    let function = symbols.function_at(address).map(|(name, _)| name);
    let function = function.or_else(|| symbols.symbol_at(address).map(|(symbol, _)| symbol.name.to_string()));
    (function, symbols.line_at(address))
}

/// The names of the registers in the order of their DWARF numbers, from 0.
static REGISTERS: [&str; 17] = [
    "RAX", "RDX", "RCX", "RBX", "RSI", "RDI", "RBP", "RSP", "R8", "R9", "R10", "R11", "R12", "R13", "R14",
    "R15", "RIP",
];

/// The name of an ordinary register by its DWARF number.
pub fn register_name(number: u16) -> Option<&'static str> {
    REGISTERS.get(usize::from(number)).copied()
}

/// Registers with other numbers.
fn other_register(number: u16) -> Option<String> {
    match number {
        17..=32 => Some(format!("XMM{}", number - 17)),
        58 => Some(String::from("FS_OFFSET")),
        59 => Some(String::from("GS_OFFSET")),
        _ => None,
    }
}

/// The number that the bytes of a register make, lowest first; at most sixteen of them count.
pub fn word(bytes: &[u8]) -> u128 {
    let mut word = [0; 16];
    let kept = bytes.len().min(16);
    word[..kept].copy_from_slice(&bytes[..kept]);
    u128::from_le_bytes(word)
}

/// A register of a thread of a state, by its DWARF number.
pub fn register(state: &State, thread: u32, number: u16) -> Option<u128> {
    let bytes = match other_register(number) {
        None => state.listed_register_of(thread, &REGISTERS, number.into()),
        Some(name) => state.register_of(thread, &name),
    };
    bytes.map(word)
}

impl parallax_symbols::State for Moment {
    fn pc(&self) -> u64 {
        self.state.pc_of(self.thread).unwrap_or(0)
    }

    fn register(&self, number: u16) -> Option<u128> {
        register(&self.state, self.thread, number)
    }

    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        self.state.read(address, into).is_ok()
    }
}

/// What was kept of a program that a replay passed: the registers of a thread, and some pages of its memory.
pub struct Glimpse {
    /// The thread.
    pub thread: u32,
    /// Where it was.
    pub pc: u64,
    /// Its registers.
    pub registers: Registers,
    pages: Vec<(u64, Box<[u8]>)>,
}

impl Glimpse {
    /// Keeps the page of the stack that the thread works on, and other pages by their numbers. What cannot be read is left out.
    pub fn of(passing: &Passing<'_>, others: &[u64]) -> Option<Glimpse> {
        const RSP: u16 = 7;
        let stack = parallax_symbols::State::register(&Passed(passing), RSP)? as u64 / PAGE;
        let mut pages: Vec<(u64, Box<[u8]>)> = Vec::with_capacity(others.len() + 1);
        for number in std::iter::once(stack).chain(others.iter().copied()) {
            if pages.iter().any(|(known, _)| *known == number) {
                continue;
            }
            let mut bytes = vec![0; PAGE as usize].into_boxed_slice();
            if number.checked_mul(PAGE).is_some_and(|start| passing.read(start, &mut bytes)) {
                pages.push((number, bytes));
            }
        }
        Some(Glimpse { thread: passing.thread()?, pc: passing.pc(), registers: passing.registers(), pages })
    }

    /// A register by its DWARF number.
    pub fn register(&self, number: u16) -> Option<u128> {
        let bytes = match other_register(number) {
            None => self.registers.listed(&REGISTERS, number.into()),
            Some(name) => self.registers.get(&name),
        };
        bytes.map(word)
    }

    /// Fills the buffer from the pages that were kept; false if one of them was not.
    pub fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let mut done = 0;
        while done < into.len() {
            let at = address.wrapping_add(done as u64);
            let Some((_, page)) = self.pages.iter().find(|(number, _)| *number == at / PAGE) else {
                return false;
            };
            let from = (at % PAGE) as usize;
            let run = (page.len() - from).min(into.len() - done);
            into[done..done + run].copy_from_slice(&page[from..from + run]);
            done += run;
        }
        true
    }
}

/// A program where a replay passes, as `parallax_symbols` wants to see it.
pub struct Passed<'p, 'a>(pub &'p Passing<'a>);

impl parallax_symbols::State for Passed<'_, '_> {
    fn pc(&self) -> u64 {
        self.0.pc()
    }

    fn register(&self, number: u16) -> Option<u128> {
        const RIP: u16 = 16;
        let bytes = match other_register(number) {
            _ if number == RIP => return Some(self.0.pc().into()),
            None => self.0.listed(&REGISTERS, number.into()),
            Some(name) => self.0.register(&name),
        };
        bytes.map(word)
    }

    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        self.0.read(address, into)
    }
}
