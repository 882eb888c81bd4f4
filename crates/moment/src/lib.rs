//! A moment of a recording, with what debug information says of it.
//!
//! [`Modules`] reads the symbols of the program and its shared objects out of a recording, where they were loaded at some
//! state; a [`Moment`] is a state seen by one of its threads, as `parallax_symbols` wants to see it.
//!
//! Absent on purpose: what is asked about moments, and files outside the recording, unless it kept none.

mod named;

pub use named::{breakpoints_on, functions_named};

use parallax_process::memory::PAGE;
use parallax_record::Log;
use parallax_symbols::{Frame, Line, Module, Symbols};
use parallax_travel::State;
use std::sync::{Arc, Mutex, PoisonError};

/// A file that is mapped, and where it starts.
type Placed = (String, u64);

/// The symbols of a recording. Those of a larger set of files serve a smaller one.
pub struct Modules {
    log: Arc<Log>,
    known: Mutex<Vec<(Vec<Placed>, Arc<Symbols>)>>,
}

impl Modules {
    /// Those of a recording.
    pub fn new(log: Arc<Log>) -> Modules {
        Modules { log, known: Mutex::default() }
    }

    /// The symbols of what is mapped in a state.
    pub fn symbols(&self, state: &State) -> Arc<Symbols> {
        let mut starts: Vec<Placed> = Vec::new();
        for mapped in state.mapped() {
            if let (Some(file), 0) = (&mapped.file, mapped.offset)
                && !starts.iter().any(|(known, _)| known == file)
            {
                starts.push((file.clone(), mapped.range.start));
            }
        }
        // The program first: its machine and its thread-local variables are meant.
        let program = state.program().to_string_lossy();
        starts.sort_by_key(|(file, start)| (*file != program, *start));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |placed: &[Placed]| starts.iter().all(|start| placed.contains(start));
        if let Some((_, symbols)) = known.iter().find(|(placed, _)| fits(placed)) {
            return symbols.clone();
        }
        let modules = starts.iter().filter_map(|(file, start)| {
            let bytes = match self.log.file(file) {
                Some(bytes) => bytes,
                None => std::fs::read(file).ok()?.into(),
            };
            // What is no program is mapped too; it has no symbols.
            let mut module = Module::read(file, &bytes, None, 0).ok()?;
            module.bias = start.wrapping_sub(module.extent().start / PAGE * PAGE);
            Some(module)
        });
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
const REGISTERS: [&str; 17] = [
    "RAX", "RDX", "RCX", "RBX", "RSI", "RDI", "RBP", "RSP", "R8", "R9", "R10", "R11", "R12", "R13", "R14",
    "R15", "RIP",
];

impl parallax_symbols::State for Moment {
    fn pc(&self) -> u64 {
        self.state.pc_of(self.thread).unwrap_or(0)
    }

    fn register(&self, number: u16) -> Option<u128> {
        let vector;
        let name = match number {
            0..=16 => REGISTERS[usize::from(number)],
            17..=32 => {
                vector = format!("XMM{}", number - 17);
                &vector
            }
            58 => "FS_OFFSET",
            59 => "GS_OFFSET",
            _ => return None,
        };
        let bytes = self.state.register_of(self.thread, name)?;
        let mut word = [0; 16];
        let kept = bytes.len().min(16);
        word[..kept].copy_from_slice(&bytes[..kept]);
        Some(u128::from_le_bytes(word))
    }

    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        self.state.read(address, into).is_ok()
    }
}
