//! An emulated process: a program in memory, its registers, its signals, and the loop that runs it.

use crate::elf::{LoadError, Machine, Symbols};
use crate::execute::{Engine, Event, Executes, Stop, World};
use crate::faults::{UNDEFINED, exception};
use crate::interrupt::Interrupt;
use crate::memory::{Cause, Fault, Memory};
use crate::native;
use crate::outside::{Facts, FileChange, Limits, Outside, Tid};
use crate::registers::Registers;
use crate::signal::Signals;
use crate::system::{self, Origin, Started};
use crate::threads::Threads;
use parallax_ir::Trap;
use parallax_sleigh::{Language, LiftError, Lifter};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By its own will.
    Exited(u8),
    /// By a signal.
    Killed {
        /// The signal's number.
        signal: i32,
        /// What it did wrong, if it did.
        why: Option<String>,
        /// The place in the program, where one is known.
        at: Option<String>,
    },
    /// It asked for something that Parallax does not have.
    Unsupported {
        /// The thing that is missing, by name.
        what: String,
        /// The place in the program.
        at: String,
    },
    /// The door to the world outside is closed: a recording ends, or the replay has left it.
    Closed {
        /// Why.
        why: String,
    },
    /// It needs more than it was given.
    GaveUp {
        /// What of.
        what: String,
        /// The place in the program.
        at: String,
    },
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ending::Exited(status) => write!(f, "exited with status {status}"),
            Ending::Killed { signal, why, at } => {
                write!(f, "killed by {}", signal_name(*signal))?;
                if let Some(at) = at {
                    write!(f, " at {at}")?;
                }
                if let Some(why) = why {
                    write!(f, ": {why}")?;
                }
                Ok(())
            }
            Ending::Unsupported { what, at } => write!(f, "not supported: {what}, at {at}"),
            Ending::Closed { why } => f.write_str(why),
            Ending::GaveUp { what, at } => write!(f, "gave up: the bound of {what} is reached, at {at}"),
        }
    }
}

/// The name of a signal, or its number.
fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSTKFLT => "SIGSTKFLT",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGVTALRM => "SIGVTALRM",
        libc::SIGPROF => "SIGPROF",
        libc::SIGIO => "SIGIO",
        libc::SIGPWR => "SIGPWR",
        libc::SIGSYS => "SIGSYS",
        _ => return format!("signal {signal}"),
    };
    String::from(name)
}

/// What to run, and under which bounds.
pub struct Program {
    /// The file.
    pub path: PathBuf,
    /// Its arguments, the first of which names it.
    pub arguments: Vec<Vec<u8>>,
    /// Its environment, `NAME=value` each.
    pub environment: Vec<Vec<u8>>,
    /// How many bytes of memory it may touch.
    pub byte_bound: u64,
    /// How many instructions it may execute.
    pub instruction_bound: u64,
    /// What the turns of its threads are drawn from; without it they are of one length, in order.
    pub schedule: Option<u64>,
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its file is not a program that can be run.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Its machine's instructions cannot be lifted.
    #[error(transparent)]
    Lift(#[from] LiftError),
}

/// Hears of every system call: for those who want to watch.
pub type CallTrace = Box<dyn FnMut(&str)>;

/// A process.
pub struct Process {
    pub(crate) machine: Machine,
    pub(crate) world: World,
    pub(crate) program: PathBuf,
    pub(crate) heap: std::ops::Range<u64>,
    pub(crate) signals: Signals,
    pub(crate) threads: Threads,
    pub(crate) origin: Origin,
    pub(crate) byte_bound: u64,
    pub(crate) call_trace: Option<CallTrace>,
    pub(crate) facts: Facts,
    /// The limit on the size of its files that it cannot raise, if it has set one.
    pub(crate) file_size_limit: Option<u64>,
    pub(crate) interrupt: Interrupt,
    /// What calls have written since a door asked for it.
    pub(crate) journal: Option<Vec<(u64, Vec<u8>)>>,
    /// The files that calls have changed since then.
    pub(crate) changes: Vec<FileChange>,
    /// Its limits on memory.
    pub(crate) limits: Limits,
    /// The descriptor of the child that was just made, if one was asked for.
    pub(crate) born: Option<i32>,
    /// What was there before, while a call is tried.
    pub(crate) undo: Option<Vec<(u64, Vec<u8>)>>,
    /// The door; not here while it is asked something that concerns the process.
    outside: Option<Box<dyn Outside>>,
    engine: Box<dyn Executes>,
    /// Whether programs run natively where they can.
    is_native: bool,
    pc: u64,
    /// Where the program itself starts.
    entry: u64,
    /// Whether the instruction at the program counter accesses a guarded page.
    at_guard: bool,
    instruction_bound: u64,
    symbols: Symbols,
}

impl Process {
    /// Loads a program, or the interpreter of a script, through a door; it is ready to run.
    pub fn start(program: Program, mut outside: Box<dyn Outside>) -> Result<Process, StartError> {
        let Program { path, arguments, environment, byte_bound, instruction_bound, schedule } = program;
        let name = Origin::short_name(path.as_os_str().as_bytes());
        let facts = outside.facts();
        let interrupt = outside.interrupt();
        let exec = outside.load(path, arguments)?;
        let started = system::start(exec, environment, byte_bound, facts.limits.stack.soft)?;
        let machine = started.loaded.machine;
        let (engine, registers) = engine(machine)?;
        let mut world = World::new(Memory::new(0, 0), registers);
        world.interrupt = interrupt.clone();
        let limits = facts.limits;
        let mut process = Process {
            machine,
            world,
            program: PathBuf::new(),
            heap: 0..0,
            signals: Signals::new(facts.ignored),
            threads: Threads::new(facts.process, schedule),
            origin: Origin::default(),
            byte_bound,
            call_trace: None,
            facts,
            file_size_limit: None,
            interrupt,
            journal: None,
            changes: Vec::new(),
            limits,
            born: None,
            undo: None,
            outside: Some(outside),
            engine: Box::new(engine),
            is_native: false,
            pc: 0,
            entry: 0,
            at_guard: false,
            instruction_bound,
            symbols: Symbols::default(),
        };
        process.announce_signals();
        process.replace(started, name)?;
        Ok(process)
    }

    /// Makes this process run another program from now on.
    pub(crate) fn replace(&mut self, started: Started, name: Vec<u8>) -> Result<(), StartError> {
        let Started { memory, loaded, stack, path, mut origin } = started;
        if loaded.machine != self.machine {
            self.change_machine(loaded.machine)?;
        }
        self.world.memory = memory;
        self.engine.restart(&mut self.world.memory, loaded.entry);
        self.program = path;
        origin.name = name;
        let first = self.world.time == 0;
        self.outside().replaced(&origin.name, first);
        self.origin = origin;
        self.threads.keep_current(self.facts.process);
        let heap = loaded.program_break.next_multiple_of(crate::memory::PAGE);
        self.heap = heap..heap;
        self.reset_signals();
        self.symbols = Symbols::default();
        let abi = self.machine.abi();
        let processor = self.world.registers.processor().clone();
        self.world.registers = Registers::new(processor);
        self.world.registers.set(abi.stack_pointer, stack);
        abi.frames.prepare(self);
        self.set_pc(loaded.start);
        self.entry = loaded.entry;
        Ok(())
    }

    fn change_machine(&mut self, machine: Machine) -> Result<(), LiftError> {
        let (engine, registers) = engine(machine)?;
        self.world.registers = registers;
        self.machine = machine;
        self.engine = Box::new(engine);
        if self.is_native {
            // A program of another machine runs exactly.
            let _ = self.become_native();
        }
        Ok(())
    }

    /// Runs the program, and those that replace it, natively where that can be done; else says why not, and all is as it was.
    /// Output, times and whatever else can be seen are the same.
    ///
    /// The process must have its process of the host for itself, with this thread as the one that runs it.
    pub fn use_native(&mut self) -> Result<(), String> {
        self.outside().prepare_native()?;
        self.become_native()?;
        self.is_native = true;
        self.engine.restart(&mut self.world.memory, self.entry);
        self.outside().ran_natively(0, 0);
        Ok(())
    }

    /// Lets another process run natively in this process of the host, until [`Process::use_native`] is called again.
    pub fn rest(&mut self) {
        self.engine.rest(&mut self.world.memory);
    }

    fn become_native(&mut self) -> Result<(), String> {
        let (exact, _) = engine(self.machine).map_err(|error| error.to_string())?;
        self.engine = native::engine(exact, self.machine, &self.world.registers)?;
        Ok(())
    }

    /// The door to the world outside.
    pub(crate) fn outside(&mut self) -> &mut dyn Outside {
        &mut **self.outside.as_mut().expect("the door is not asked while it answers")
    }

    /// Asks the door something that concerns the process.
    pub(crate) fn with_outside<T>(&mut self, ask: impl FnOnce(&mut dyn Outside, &mut Process) -> T) -> T {
        let mut outside = self.outside.take().expect("the door is not asked while it answers");
        self.world.memory.set_quiet(true);
        let answer = ask(&mut *outside, self);
        self.world.memory.set_quiet(false);
        self.outside = Some(outside);
        answer
    }

    /// The machine whose instructions it runs.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// The file of the program it runs.
    pub fn program(&self) -> &std::path::Path {
        &self.program
    }

    /// Memory and registers.
    pub fn world(&mut self) -> &mut World {
        &mut self.world
    }

    /// The engine, for those who measure.
    pub fn engine(&mut self) -> &mut Engine {
        self.engine.exact()
    }

    /// Drops what was translated from pages that have changed.
    pub(crate) fn forget_code(&mut self, pages: &[u64]) {
        self.engine.forget_pages(pages);
    }

    /// Translates the blocks at these addresses before they run: for a process of which forks are made.
    pub fn translate_ahead(&mut self, addresses: &[u64]) {
        self.engine.exact().translate_ahead(&mut self.world, addresses);
    }

    /// Instructions executed so far.
    pub fn time(&self) -> u64 {
        self.world.time
    }

    /// Hears of every system call from now on.
    pub fn trace_calls(&mut self, trace: CallTrace) {
        self.call_trace = Some(trace);
    }

    /// Where the program is.
    pub fn pc(&self) -> u64 {
        self.pc
    }

    pub(crate) fn set_pc(&mut self, pc: u64) {
        self.pc = pc;
        if let Some(name) = self.machine.abi().program_counter {
            self.world.registers.set(name, pc);
        }
    }

    /// An address with the symbol and the file it belongs to.
    pub fn describe(&mut self, address: u64) -> String {
        self.symbols.describe(&self.world.memory, address)
    }

    /// Runs the program to its end.
    pub fn run(&mut self) -> Ending {
        let ending = match self.run_until(self.instruction_bound) {
            Some(ending) => ending,
            None => {
                let at = self.describe(self.pc);
                Ending::GaveUp { what: format!("{} instructions", self.instruction_bound), at }
            }
        };
        system::give_back(self);
        ending
    }

    /// Runs until `limit` steps have been made since the start, or the program ends.
    ///
    /// What happens at one time happens in a fixed order: events of the door, then a signal is handed over, then another
    /// thread may get its turn, then instructions run. A run that is stopped and continued takes the same way.
    pub fn run_until(&mut self, limit: u64) -> Option<Ending> {
        let ending = self.step_until(limit);
        if let Some(ending) = &ending {
            if matches!(ending, Ending::Exited(_) | Ending::Killed { .. }) {
                self.leave_all_locks();
            }
            let time = self.world.time;
            let ending = ending.clone();
            if let Some(steps) = self.engine.native_steps() {
                self.outside().ran_natively(steps, time);
            }
            self.outside().ended(time, &ending);
        }
        ending
    }

    /// Whether the run stopped early because the instruction at the program counter accesses a guarded page
    /// ([`Memory::guard`]).
    pub fn is_at_guard(&self) -> bool {
        self.at_guard
    }

    /// Goes on elsewhere: the instruction at the program counter was run by somebody else, who keeps the time too.
    pub fn jump(&mut self, pc: u64) {
        self.set_pc(pc);
    }

    fn step_until(&mut self, limit: u64) -> Option<Ending> {
        self.at_guard = false;
        let watched = self.world.watcher.is_some();
        self.world.memory.keep_writes(watched);
        while self.world.time < limit && !self.at_guard {
            let ending = self.go_on(limit);
            if watched {
                self.tell_writes();
            }
            if ending.is_some() {
                return ending;
            }
        }
        None
    }

    /// Does the next thing that happens.
    fn go_on(&mut self, limit: u64) -> Option<Ending> {
        let time = self.world.time;
        let looks = self.interrupt.take() || time >= self.outside().horizon();
        if (looks || time >= self.threads.turn_end())
            && let Some(event) = self.with_outside(|outside, process| outside.due(process))
        {
            // There may be more.
            self.interrupt.want();
            return self.apply(event);
        }
        if self.settle_interrupted() {
            return None;
        }
        if self.signals.is_ready(self.signals.own()) {
            return self.hand_over();
        }
        if self.settle_awaited() {
            return None;
        }
        if self.can_go_on() && self.signals.end_temporary() {
            self.mirror_masks();
            return None;
        }
        if time >= self.threads.turn_end() || !self.can_go_on() {
            if !self.switch() {
                let event = self.with_outside(|outside, process| outside.idle(process));
                return self.apply(event);
            }
            return None;
        }
        self.run_blocks(limit)
    }

    /// Tells a watcher what the kernel and other processes wrote: it belongs to the step that was just made.
    fn tell_writes(&mut self) {
        let step = self.world.time;
        for write in self.world.memory.take_writes() {
            if let Some(watcher) = &mut self.world.watcher {
                watcher.write(write.step.unwrap_or(step), write.address, write.length as usize);
            }
        }
        // The program may have been replaced.
        self.world.memory.keep_writes(true);
    }

    /// Tells a watcher that a system call is complete: that is its step. The thread is behind its instruction.
    pub(crate) fn tell_call(&mut self, thread: Tid, number: u64, pc: u64) {
        let (step, length) = (self.world.time, self.machine.abi().call_length);
        if let Some(watcher) = &mut self.world.watcher {
            watcher.system_call(step, thread, number, pc.wrapping_sub(length));
        }
    }

    /// Tells a watcher that the last step is not made yet: its call has to wait.
    pub(crate) fn tell_undone(&mut self) {
        let time = self.world.time;
        if let Some(watcher) = &mut self.world.watcher {
            watcher.undone(time);
        }
    }

    /// Makes the engine that of another machine, if it is not.
    pub(crate) fn become_machine(&mut self, machine: Machine) {
        if machine != self.machine {
            self.change_machine(machine).expect("the program ran on it before");
        }
    }

    /// The names of places are those of another program.
    pub(crate) fn forget_symbols(&mut self) {
        self.symbols = Symbols::default();
    }

    /// Whether the instruction at an address starts as those of AVX-512 do.
    fn is_avx512(&mut self, pc: u64) -> bool {
        let mut byte = [0];
        self.world.memory.fetch(pc, &mut byte).is_ok() && byte == [0x62]
    }

    /// Runs instructions until something happens.
    fn run_blocks(&mut self, limit: u64) -> Option<Ending> {
        if self.world.memory.is_code_changed() {
            let changed = self.world.memory.take_code_changed();
            self.engine.forget_pages(&changed);
        }
        let until = limit.min(self.threads.turn_end()).min(self.outside().horizon());
        let (pc, event) = self.engine.run(&mut self.world, self.pc, until);
        self.set_pc(pc);
        match event {
            Event::Budget | Event::Interrupted => None,
            Event::Stop(Stop::Trap(Trap::SystemCall)) => self.system_call(),
            Event::Stop(Stop::Trap(trap)) => self.trapped(trap),
            Event::Stop(Stop::Fault(Fault { cause: Cause::Guarded, .. })) => {
                self.at_guard = true;
                None
            }
            Event::Stop(Stop::Fault(fault)) | Event::Fetch(fault) => self.faulted(fault),
            Event::Stop(Stop::Meaningless(what)) => {
                let at = self.describe(pc);
                Some(Ending::Unsupported { what, at })
            }
            Event::Lift(LiftError::Undecodable { reason, .. }) => {
                const ILL_ILLOPN: i32 = 2;
                let why = format!("no instruction: {reason}");
                self.raise(libc::SIGILL, ILL_ILLOPN, pc, exception(UNDEFINED), why)
            }
            // What CPUID says is not there is an illegal instruction, as on a processor without it.
            Event::Lift(_) if self.machine == Machine::X86_64 && self.is_avx512(pc) => {
                const ILL_ILLOPN: i32 = 2;
                let why = String::from("an instruction of AVX-512, which this processor does not have");
                self.raise(libc::SIGILL, ILL_ILLOPN, pc, exception(UNDEFINED), why)
            }
            Event::Lift(error) => {
                let at = self.describe(pc);
                Some(Ending::Unsupported { what: error.to_string(), at })
            }
        }
    }
}

/// An engine for a machine, with its registers.
fn engine(machine: Machine) -> Result<(Engine, Registers), LiftError> {
    let language = Language::find(machine.name()).expect("every machine has a specification");
    let lifter = Lifter::new(language).map(Lifter::without_texts)?;
    let registers = Registers::new(lifter.processor().clone());
    let engine = Engine::new(lifter, &registers, machine.abi().flags);
    Ok((engine, registers))
}
