//! A recording with what its debug information says: the one thing that executions, snapshots and values share.

use crate::errors::{RecordingError, debug_error};
use parallax_record::{Archive, Record};
use parallax_symbols::{Frame, Module, Symbols};
use parallax_trace::{Direction, Options, Target, Time, World};
use parallax_travel::{Filter, Settings, Side, State, Travel, TravelError};
use pyo3::prelude::*;
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A file that is mapped somewhere: its name, and what is added to its addresses.
type Placed = (String, u64);

/// A recording that is asked.
pub struct Recorded {
    pub world: World<Travel>,
    archive: Archive,
    /// The names under which the recording keeps the contents of mapped files.
    kept: HashMap<String, String>,
    /// The symbols of each set of modules that was seen.
    known: Mutex<Vec<(Vec<Placed>, Arc<Symbols>)>>,
    moments: Mutex<VecDeque<Arc<Moment>>>,
    /// Who goes from hit to hit, the latest last.
    walks: Mutex<Vec<Walk>>,
    /// The symbols of the state that was looked at last, and how it was laid out.
    latest: Mutex<Option<(u64, Arc<Symbols>)>>,
}

/// Somebody who goes from hit to hit: what comes next is fetched with what is asked for.
struct Walk {
    condition: Filter,
    is_after: bool,
    /// How far it has been fetched.
    reached: Time,
    /// How many were fetched last.
    fetched: usize,
    /// How many of them were asked for.
    used: usize,
}

impl Walk {
    /// Whether it goes from hit to hit of a condition.
    fn is(&self, condition: &Filter, is_after: bool) -> bool {
        self.condition == *condition && self.is_after == is_after
    }
}

/// So many moments are remembered; each holds on to the pages of the program that changed since.
const MOST_MOMENTS: usize = 96;

/// So many are fetched together at most.
const MOST_FETCHED: usize = 32;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorded {
    /// Opens a stream of a recording.
    pub fn open(path: &Path, stream: &str, options: Options) -> PyResult<Recorded> {
        let wrong = |error: &dyn std::fmt::Display| RecordingError::new_err(error.to_string());
        let archive = Archive::open(path).map_err(|error| wrong(&error))?;
        let log = archive.log(stream).map_err(|error| wrong(&error))?;
        let mut kept = HashMap::new();
        for record in &log.records {
            let maps = match record {
                Record::Map(Ok(map)) => [Some(map), None],
                Record::Exec(Ok(exec)) => {
                    [Some(&exec.program.1), exec.interpreter.as_ref().map(|(_, map)| map)]
                }
                _ => continue,
            };
            for map in maps.into_iter().flatten() {
                if let Some(file) = &map.file {
                    kept.insert(map.name.clone(), file.clone());
                }
            }
        }
        let travel = Travel::new(log, Settings::default()).map_err(|error| wrong(&error))?;
        let world = World::watched(Arc::new(travel), options, crate::events::Signals::new());
        Ok(Recorded {
            world,
            archive,
            kept,
            known: Mutex::default(),
            moments: Mutex::default(),
            walks: Mutex::default(),
            latest: Mutex::default(),
        })
    }

    /// The target that is searched.
    pub fn travel(&self) -> &Arc<Travel> {
        self.world.target()
    }

    /// The moment of an event: the state before its step, or after it, seen by the thread that makes the step.
    ///
    /// `from` is the condition that found it, if it was found: who goes from hit to hit gets the next ones fetched with it.
    pub fn moment(&self, time: Time, is_after: bool, from: Option<&Filter>) -> PyResult<Arc<Moment>> {
        let is_it = |moment: &Arc<Moment>| moment.time == time && moment.is_after == is_after;
        {
            let mut moments = lock(&self.moments);
            if let Some(at) = moments.iter().position(is_it) {
                let found = moments.remove(at).expect("it was found there");
                moments.push_back(found.clone());
                drop(moments);
                if let Some(condition) = from {
                    let mut walks = lock(&self.walks);
                    let own = walks.iter_mut().find(|walk| walk.is(condition, is_after));
                    own.into_iter().for_each(|walk| walk.used += 1);
                }
                return Ok(found);
            }
        }
        let wrong = |error: TravelError| RecordingError::new_err(error.to_string());
        let times = self.fetched(time, is_after, from);
        let side = if is_after { Side::After } else { Side::Before };
        let sides: Vec<(Time, Side)> = times.iter().map(|time| (*time, side)).collect();
        // Ctrl-C is heard where Python runs next.
        let states = self.travel().states(&sides, &parallax_trace::Unwatched).map_err(wrong)?;
        let mut asked = None;
        for state in states {
            let moment = Arc::new(self.seen(state, is_after)?);
            if moment.time == time {
                asked = Some(moment.clone());
            }
            let mut moments = lock(&self.moments);
            moments.push_back(moment);
            if moments.len() > MOST_MOMENTS {
                moments.pop_front();
            }
        }
        asked.ok_or_else(|| RecordingError::new_err(format!("there is no state at time {time}")))
    }

    /// A moment as a state shows it.
    pub fn seen(&self, state: State, is_after: bool) -> PyResult<Moment> {
        let (time, thread) = (state.time() - u64::from(is_after), state.thread());
        let symbols = self.symbols_of(&state)?;
        Ok(Moment { time, is_after, state, thread, symbols, innermost: OnceLock::new() })
    }

    /// The times whose states are fetched when one is asked for, in order.
    fn fetched(&self, time: Time, is_after: bool, from: Option<&Filter>) -> Vec<Time> {
        let Some(condition) = from else { return vec![time] };
        const MOST_WALKS: usize = 8;
        let mut walks = lock(&self.walks);
        let known = walks.iter().position(|walk| walk.is(condition, is_after)).map(|at| walks.remove(at));
        let known = known.as_ref();
        let direction = match known {
            Some(walk) if time < walk.reached => Direction::Backward,
            _ => Direction::Forward,
        };
        // As long as what was fetched is used, more of it is, whichever way the walk goes.
        let fetched = match known {
            Some(walk) if walk.fetched == 1 => 2,
            Some(walk) if walk.used * 4 >= walk.fetched => (walk.fetched * 2).min(MOST_FETCHED),
            Some(walk) => walk.fetched / 2,
            None => 1,
        };
        let mut times = vec![time];
        let span = self.travel().span();
        let beyond = match direction {
            Direction::Forward => time + 1..span.end,
            Direction::Backward => span.start..time,
        };
        if fetched > 1 && !beyond.is_empty() {
            let ahead = std::slice::from_ref(condition);
            let watch = &parallax_trace::Unwatched;
            // What cannot be searched will be said when it is asked for.
            if let Ok(found) = self.travel().search(ahead, beyond, direction, fetched - 1, watch) {
                times.extend(found.hits.iter().map(|hit| hit.time));
            }
        }
        let reached = times.last().copied().unwrap_or(time);
        walks.push(Walk { condition: condition.clone(), is_after, reached, fetched, used: 0 });
        if walks.len() > MOST_WALKS {
            walks.remove(0);
        }
        times.sort_unstable();
        times
    }

    /// The symbols of what is mapped in a state. Those of a larger set serve a smaller one.
    fn symbols_of(&self, state: &State) -> PyResult<Arc<Symbols>> {
        let layout = state.layout();
        if let Some((_, symbols)) = lock(&self.latest).as_ref().filter(|(known, _)| *known == layout) {
            return Ok(symbols.clone());
        }
        let symbols = self.symbols_for(state)?;
        *lock(&self.latest) = Some((layout, symbols.clone()));
        Ok(symbols)
    }

    fn symbols_for(&self, state: &State) -> PyResult<Arc<Symbols>> {
        let mut starts: Vec<(String, u64)> = Vec::new();
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
        let mut known = lock(&self.known);
        for (placed, symbols) in known.iter() {
            if starts.iter().all(|start| placed.contains(start)) {
                return Ok(symbols.clone());
            }
        }
        let mut modules = Vec::new();
        for (file, start) in &starts {
            // What is no program is mapped too; it has no symbols.
            if let Some(bytes) = self.contents(file)
                && let Ok(mut module) = Module::read(file, &bytes, None, 0)
            {
                const PAGE: u64 = 4096;
                module.bias = start.wrapping_sub(module.extent().start / PAGE * PAGE);
                modules.push(module);
            }
        }
        let symbols = Arc::new(Symbols::new(modules));
        known.push((starts, symbols.clone()));
        Ok(symbols)
    }

    /// The contents of a mapped file: the recording's, or those of the file that is there now if it kept none.
    fn contents(&self, file: &str) -> Option<Vec<u8>> {
        match self.kept.get(file) {
            Some(name) => self.archive.contents(name).ok(),
            None => std::fs::read(file).ok(),
        }
    }
}

/// The program at one moment, seen by one thread.
pub struct Moment {
    /// The time of the event.
    pub time: Time,
    pub is_after: bool,
    pub state: State,
    pub thread: u32,
    pub symbols: Arc<Symbols>,
    innermost: OnceLock<Frame>,
}

impl Moment {
    /// The innermost frame.
    pub fn frame(&self) -> &Frame {
        self.innermost.get_or_init(|| self.symbols.innermost(self))
    }

    /// The exception for an error of the debug information, with the time and the function it happened in.
    pub fn error(&self, error: parallax_symbols::Error, what: &str) -> PyErr {
        debug_error(error, what, self.time, self.frame().function.as_deref())
    }

    /// The `n`-th argument of the function that the thread is in or about to call, from 0.
    ///
    /// Behind the prologue the debug information says where it is. At a function's first instruction, at a call, and without
    /// debug information it is where the calling convention puts it.
    pub fn argument(&self, n: usize) -> parallax_symbols::Result<parallax_symbols::Value> {
        use parallax_symbols::{Error, Kind, Role, Value};
        let (symbols, frame) = (&self.symbols, self.frame());
        let parameters: Vec<_> = symbols
            .variables(frame)?
            .into_iter()
            .filter(|variable| variable.role == Role::Parameter)
            .collect();
        let pc = parallax_symbols::State::pc(self);
        let is_entry = symbols.function_at(pc).is_some_and(|(_, range)| range.start == pc);
        if !is_entry && !parameters.is_empty() && !self.is_call() {
            let missing =
                || Error::NoVariable { name: format!("argument {n}"), function: frame.function.clone() };
            return symbols.value(parameters.get(n).ok_or_else(missing)?, Some(frame), self);
        }
        let types = if is_entry { &parameters[..] } else { &[] };
        let (mut whole, mut real) = (0, 0);
        let is_real = |index: usize| -> parallax_symbols::Result<bool> {
            let Some(parameter) = types.get(index) else { return Ok(false) };
            Ok(matches!(&*symbols.kind(&parameter.ty)?, Kind::Float { size: 4 | 8 }))
        };
        for index in 0..n {
            if is_real(index)? {
                real += 1;
            } else {
                whole += 1;
            }
        }
        const WHOLE: [&str; 6] = ["rdi", "rsi", "rdx", "rcx", "r8", "r9"];
        let text = match (is_real(n)?, WHOLE.get(whole)) {
            (true, _) => format!("$xmm{}", real.min(15)),
            (false, Some(register)) => format!("${register}"),
            (false, None) => {
                let above = if is_entry { 8 } else { 0 };
                format!("*(long *)($rsp + {})", 8 * (whole - WHOLE.len()) + above)
            }
        };
        let value = symbols.evaluate(&text, frame, self)?;
        Ok(match types.get(n) {
            Some(parameter) => Value { ty: parameter.ty.clone(), ..value },
            None => value,
        })
    }

    /// Where the return addresses of the stack are stored, innermost first. An address that no call can have left ends the
    /// list: what unwinding finds behind it is not the stack.
    pub fn return_slots(&self, most: usize) -> Vec<u64> {
        let mut slots = Vec::new();
        for frame in self.symbols.frames(self, most).iter().filter(|frame| !frame.is_inlined) {
            let Some(slot) = frame.return_slot else { break };
            slots.push(slot);
            let mut word = [0; 8];
            if self.state.read(slot, &mut word).is_err() || !self.is_left_by_call(u64::from_le_bytes(word)) {
                break;
            }
        }
        slots
    }

    /// Whether a call stands before an address, or the kernel made it the end of a signal handler.
    fn is_left_by_call(&self, address: u64) -> bool {
        const SIGRETURN: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
        let is_call_of = |length: u64| {
            let bytes = self.state.read_some(address.wrapping_sub(length), length as usize);
            decoded(&bytes).is_some_and(|call| call.len() as u64 == length && is_call(&call))
        };
        self.state.read_some(address, SIGRETURN.len()) == SIGRETURN || (2..=8).any(is_call_of)
    }

    /// Whether the next instruction is a call.
    fn is_call(&self) -> bool {
        let bytes = self.state.read_some(parallax_symbols::State::pc(self), 15);
        decoded(&bytes).is_some_and(|instruction| is_call(&instruction))
    }
}

fn decoded(bytes: &[u8]) -> Option<iced_x86::Instruction> {
    let mut decoder = iced_x86::Decoder::new(64, bytes, iced_x86::DecoderOptions::NONE);
    let instruction = decoder.can_decode().then(|| decoder.decode())?;
    (!instruction.is_invalid()).then_some(instruction)
}

fn is_call(instruction: &iced_x86::Instruction) -> bool {
    matches!(instruction.flow_control(), iced_x86::FlowControl::Call | iced_x86::FlowControl::IndirectCall)
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
