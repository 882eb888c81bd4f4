//! An emulated process: a program in memory, its registers, its signals, and the loop that runs it.

use crate::attention;
use crate::elf::{LoadError, Machine, Symbols};
use crate::execute::{Engine, Event, Stop, World};
use crate::memory::{Access, Cause, Fault, Memory};
use crate::registers::Registers;
use crate::signal::{self, Exception, Signals};
use crate::system::{self, Origin, Started};
use crate::threads::Threads;
use parallax_ir::Trap;
use parallax_sleigh::{Language, LiftError, Lifter};
use std::path::PathBuf;

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By its own will.
    Exited(u8),
    /// By a signal.
    Killed {
        /// Which.
        signal: i32,
        /// What it did wrong, if it did.
        why: Option<String>,
        /// And where.
        at: Option<String>,
    },
    /// It asked for something that Parallax does not have.
    Unsupported {
        /// What.
        what: String,
        /// Where.
        at: String,
    },
    /// It needs more than it was given.
    GaveUp {
        /// What of.
        what: String,
        /// Where.
        at: String,
    },
}

impl Ending {
    /// Ends the calling process the way the program ended, so that whoever waits for it sees no difference. What has
    /// no counterpart there ends with `otherwise`.
    pub fn enact(&self, otherwise: i32) -> ! {
        let status = match self {
            Ending::Exited(status) => i32::from(*status),
            Ending::Killed { signal, .. } => {
                // No core file of Parallax in place of the program's.
                let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                unsafe {
                    libc::setrlimit(libc::RLIMIT_CORE, &none);
                    libc::signal(*signal, libc::SIG_DFL);
                    let mut only: libc::sigset_t = std::mem::zeroed();
                    libc::sigemptyset(&mut only);
                    libc::sigaddset(&mut only, *signal);
                    libc::sigprocmask(libc::SIG_UNBLOCK, &only, std::ptr::null_mut());
                    libc::raise(*signal);
                }
                128 + signal
            }
            Ending::Unsupported { .. } | Ending::GaveUp { .. } => otherwise,
        };
        // Nothing of ours is buffered, and a forked child must not run our caller's exit handlers.
        unsafe { libc::_exit(status) }
    }
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
    pub(crate) borrowed: Option<system::Borrowed>,
    pub(crate) byte_bound: u64,
    pub(crate) call_trace: Option<CallTrace>,
    engine: Engine,
    pc: u64,
    instruction_bound: u64,
    symbols: Symbols,
}

/// What a handler of `SIGFPE` is told, besides division of integers.
const FPE_FLTDIV: i32 = 3;
const FPE_FLTOVF: i32 = 4;
const FPE_FLTUND: i32 = 5;
const FPE_FLTRES: i32 = 6;
const FPE_FLTINV: i32 = 7;

impl Process {
    /// Loads a program, or the interpreter of a script; it is ready to run.
    pub fn start(program: Program) -> Result<Process, StartError> {
        let Program { path, arguments, environment, byte_bound, instruction_bound } = program;
        let started = system::start(path, arguments, environment, byte_bound)?;
        let machine = started.loaded.machine;
        let lifter = lifter(machine)?;
        let registers = Registers::new(lifter.processor().clone());
        let engine = Engine::new(lifter, &registers, machine.flags());
        let world = World::new(Memory::new(0, 0), registers);
        let mut process = Process {
            machine,
            world,
            program: PathBuf::new(),
            heap: 0..0,
            signals: Signals::take_over(),
            threads: Threads::default(),
            origin: Origin::default(),
            borrowed: None,
            byte_bound,
            call_trace: None,
            engine,
            pc: 0,
            instruction_bound,
            symbols: Symbols::default(),
        };
        process.replace(started)?;
        Ok(process)
    }

    /// Makes this process run another program from now on.
    pub(crate) fn replace(&mut self, started: Started) -> Result<(), StartError> {
        let Started { memory, loaded, stack, path, origin } = started;
        if loaded.machine != self.machine || self.world.time > 0 {
            let lifter = if loaded.machine == self.machine { None } else { Some(lifter(loaded.machine)?) };
            if let Some(lifter) = lifter {
                self.world.registers = Registers::new(lifter.processor().clone());
                self.engine = Engine::new(lifter, &self.world.registers, loaded.machine.flags());
            }
        }
        self.machine = loaded.machine;
        self.world.memory = memory;
        self.engine.forget();
        self.program = path;
        origin.take_name();
        self.origin = origin;
        self.threads.keep_current();
        let heap = loaded.program_break.next_multiple_of(crate::memory::PAGE);
        self.heap = heap..heap;
        self.signals.reset();
        self.symbols = Symbols::default();
        let registers = &mut self.world.registers;
        let processor = registers.processor().clone();
        *registers = Registers::new(processor);
        match self.machine {
            Machine::X86_64 => {
                registers.set("RSP", stack);
                for (name, value) in &registers.processor().clone().initial {
                    registers.set(name, *value);
                }
            }
            Machine::PowerPc => {
                registers.set("r1", stack);
                // A reservation is never lost: there is nobody else to write.
                registers.set("RESERVE", 1);
                let room = self.world.memory.is_free(signal::powerpc::RETURN, crate::memory::PAGE);
                if room {
                    // Without it a program still runs, and only dies when a handler returns.
                    let _ = signal::powerpc::map_return(&mut self.world.memory);
                }
            }
        }
        self.set_pc(loaded.start);
        Ok(())
    }

    /// The machine whose instructions it runs.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// Memory and registers.
    pub fn world(&mut self) -> &mut World {
        &mut self.world
    }

    /// The engine, for those who measure.
    pub fn engine(&mut self) -> &mut Engine {
        &mut self.engine
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
        if self.machine == Machine::X86_64 {
            self.world.registers.set("RIP", pc);
        }
    }

    /// An address with the symbol and the file it belongs to.
    pub fn describe(&mut self, address: u64) -> String {
        self.symbols.describe(&self.world.memory, address)
    }

    /// Runs the program to its end.
    pub fn run(&mut self) -> Ending {
        loop {
            if let Some(ending) = self.run_until(self.instruction_bound) {
                system::give_back(self);
                return ending;
            }
            if self.time() >= self.instruction_bound {
                let at = self.describe(self.pc);
                system::give_back(self);
                return Ending::GaveUp { what: format!("{} instructions", self.instruction_bound), at };
            }
        }
    }

    /// Runs until `limit` instructions have been executed since the start, or the program ends.
    pub fn run_until(&mut self, limit: u64) -> Option<Ending> {
        loop {
            if self.world.memory.take_code_changed() {
                self.engine.forget();
            }
            if attention::is_wanted() {
                attention::clear();
                if let Some(ending) = self.hand_over() {
                    return Some(ending);
                }
            }
            let until = limit.min(self.threads.turn_end());
            let (pc, event) = self.engine.run(&mut self.world, self.pc, until);
            self.set_pc(pc);
            let ending = match event {
                Event::Budget if until < limit => {
                    self.turn_over();
                    None
                }
                Event::Budget => return None,
                Event::Attention => None,
                Event::Stop(Stop::Trap(Trap::SystemCall)) => self.system_call(),
                Event::Stop(Stop::Trap(trap)) => self.trapped(trap),
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
                Event::Lift(error) => {
                    let at = self.describe(pc);
                    Some(Ending::Unsupported { what: error.to_string(), at })
                }
            };
            if ending.is_some() {
                return ending;
            }
        }
    }

    fn trapped(&mut self, trap: Trap) -> Option<Ending> {
        const SI_KERNEL: i32 = 0x80;
        const FPE_INTDIV: i32 = 1;
        const BUS_ADRALN: i32 = 1;
        const TRAP_BRKPT: i32 = 1;
        const ILL_ILLOPN: i32 = 2;
        let pc = self.pc;
        let (signal, code, address, number, why) = match trap {
            Trap::Divide => {
                (libc::SIGFPE, FPE_INTDIV, pc, DIVIDE, "division by zero, or a quotient that does not fit")
            }
            Trap::Float => return self.float_exception(),
            Trap::Undefined => {
                (libc::SIGILL, ILL_ILLOPN, pc, UNDEFINED, "an instruction that is always illegal")
            }
            Trap::Breakpoint if self.machine == Machine::PowerPc => {
                // The handler finds the trap itself, and goes on behind it if it wants to.
                let at = pc.wrapping_sub(4);
                self.set_pc(at);
                (libc::SIGTRAP, TRAP_BRKPT, at, BREAKPOINT, "a trap instruction")
            }
            Trap::Breakpoint => (libc::SIGTRAP, SI_KERNEL, 0, BREAKPOINT, "a breakpoint instruction"),
            Trap::Protection | Trap::Halt => {
                (libc::SIGSEGV, SI_KERNEL, 0, PROTECTION, "a privileged operation")
            }
            Trap::Alignment if self.machine == Machine::X86_64 => {
                (libc::SIGSEGV, SI_KERNEL, 0, PROTECTION, "a memory operand that is not aligned")
            }
            Trap::Alignment => {
                (libc::SIGBUS, BUS_ADRALN, pc, PROTECTION, "a memory operand that is not aligned")
            }
            Trap::SystemCall => return self.system_call(),
        };
        self.raise(signal, code, address, exception(number), String::from(why))
    }

    /// What was raised and is not masked decides what the handler is told. Both units have the exceptions in the same
    /// order; the x87 has its summary bit set if it is the one.
    fn float_exception(&mut self) -> Option<Ending> {
        if self.machine == Machine::PowerPc {
            return self.enabled_exception();
        }
        let registers = &self.world.registers;
        let get = |name: &str| if registers.has(name) { registers.get(name) } else { 0 };
        let (status, control, mxcsr) = (get("FPUSTATUSWORD"), get("FPUCONTROLWORD"), get("MXCSR"));
        const SUMMARY: u64 = 0x80;
        let sse = mxcsr & !(mxcsr >> 7) & 0x3f;
        let (raised, number) = if sse != 0 || status & SUMMARY == 0 {
            (sse, SIMD_FLOAT)
        } else {
            (status & !control & 0x3f, X87_FLOAT)
        };
        // The order in which Linux looks.
        let (code, why) = match raised {
            r if r & 1 != 0 => (FPE_FLTINV, "an invalid float operation"),
            r if r & 4 != 0 => (FPE_FLTDIV, "a float division by zero"),
            r if r & 8 != 0 => (FPE_FLTOVF, "a float overflow"),
            r if r & 0x12 != 0 => (FPE_FLTUND, "a float underflow, or a denormal operand"),
            _ => (FPE_FLTRES, "an inexact float result"),
        };
        let pc = self.pc;
        self.raise(libc::SIGFPE, code, pc, exception(number), String::from(why))
    }

    /// What FPSCR has both raised and enabled, in the order in which Linux looks.
    fn enabled_exception(&mut self) -> Option<Ending> {
        let status = self.world.registers.get("FPSCR");
        let (code, why) = match status >> 25 & status >> 3 {
            r if r & 16 != 0 => (FPE_FLTINV, "an invalid float operation"),
            r if r & 8 != 0 => (FPE_FLTOVF, "a float overflow"),
            r if r & 4 != 0 => (FPE_FLTUND, "a float underflow"),
            r if r & 2 != 0 => (FPE_FLTDIV, "a float division by zero"),
            _ => (FPE_FLTRES, "an inexact float result"),
        };
        let pc = self.pc;
        self.raise(libc::SIGFPE, code, pc, exception(SIMD_FLOAT), String::from(why))
    }

    fn page_fault(&self, fault: &Fault) -> Exception {
        // The error code: whether the page is there, writing, from a user program, fetching.
        let there = u64::from(self.world.memory.is_touched(fault.address));
        let kind = match fault.access {
            Access::Read => 0,
            Access::Write => 2,
            Access::Execute => 16,
        };
        Exception { number: PAGE_FAULT, code: there | kind | 4, address: Some(fault.address) }
    }

    fn faulted(&mut self, fault: Fault) -> Option<Ending> {
        const SEGV_MAPERR: i32 = 1;
        const SEGV_ACCERR: i32 = 2;
        const BUS_ADRERR: i32 = 2;
        const SI_KERNEL: i32 = 0x80;
        let why = fault.to_string();
        let page_fault = self.page_fault(&fault);
        match fault.cause {
            // Addresses that are not sign-extended are refused before they are looked at.
            Cause::Unmapped
                if self.machine == Machine::X86_64 && (fault.address >> 47).wrapping_add(1) & 0x1ffff > 1 =>
            {
                self.raise(libc::SIGSEGV, SI_KERNEL, 0, exception(PROTECTION), why)
            }
            Cause::Unmapped => self.raise(libc::SIGSEGV, SEGV_MAPERR, fault.address, page_fault, why),
            Cause::Forbidden => self.raise(libc::SIGSEGV, SEGV_ACCERR, fault.address, page_fault, why),
            Cause::BeyondFile => self.raise(libc::SIGBUS, BUS_ADRERR, fault.address, page_fault, why),
            Cause::OutOfMemory => {
                let at = self.describe(self.pc);
                Some(Ending::GaveUp { what: format!("{} bytes of memory", self.byte_bound), at })
            }
        }
    }
}

/// Numbers of x86 exceptions.
const DIVIDE: u64 = 0;
const BREAKPOINT: u64 = 3;
const UNDEFINED: u64 = 6;
const PROTECTION: u64 = 13;
const PAGE_FAULT: u64 = 14;
const X87_FLOAT: u64 = 16;
const SIMD_FLOAT: u64 = 19;

fn exception(number: u64) -> Exception {
    Exception { number, code: 0, address: None }
}

fn lifter(machine: Machine) -> Result<Lifter, LiftError> {
    let language = Language::find(machine.name()).expect("every machine has a specification");
    Lifter::new(language).map(Lifter::without_texts)
}
