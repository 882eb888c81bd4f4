//! Programs of x86-64 run by the processor itself: their code is translated by `parallax_native`, their memory is shown at its
//! own addresses, and everything else is done by the exact engine.
//!
//! [`Native::run`] means the same as the exact engine's, to the step. Translated code is entered with an allowance that ends
//! before the limit, and the last steps are made exactly. A fault of translated code either shows a page, and the instruction
//! is made again, or the exact engine runs that instruction, and so tells whatever there is to tell. It also runs what the
//! translator leaves. A signal is a bit that is looked at whenever translated code comes back, which is after [`SLICE`] steps at
//! the latest.

mod home;
mod state;

use crate::elf::Machine;
use crate::execute::{Engine, Event, Executes, Stop, World};
use crate::memory::Memory;
use crate::registers::Registers;
use home::{Guest, Home};
use parallax_native::enter::{self, FAULT, Fault};
use parallax_native::host::{Pool, keys, signals};
use parallax_native::{NoTrace, Options, Place};
use state::Layout;
use std::sync::Arc;

/// The most steps that translated code makes before somebody looks whether a signal came.
const SLICE: u64 = 400_000;
/// With no more steps left the exact engine makes them. Translated code stops up to a trace late, and each of the four counters has
/// to hold enough for a trace, which may pay for all of itself at first.
const SHORT: u64 = 5 * Options::LONGEST as u64;
/// The most steps that the exact engine makes in one go where translated code does not get far.
const PATIENCE: u64 = 4096;

/// A native engine beside one that runs what it leaves, or why there is none. The host's signals have been prepared for it.
pub(crate) fn engine(
    exact: Engine,
    machine: Machine,
    registers: &Registers,
) -> Result<Box<dyn Executes>, String> {
    Ok(Box::new(Native::new(exact, machine, registers)?))
}

/// Prepares this process of the host for programs that run natively in this thread, where nothing but their faults concerns them.
pub fn prepare_alone() -> Result<(), String> {
    extern "C" fn other(signal: i32, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // A fault of ours.
        signals::give_back(signal);
    }
    const NO_HANDLER: usize = usize::MAX;
    keys::keys()?;
    signals::install(other, NO_HANDLER)
}

/// The engine.
struct Native {
    exact: Engine,
    pool: Arc<Pool>,
    home: Option<Home>,
    layout: Layout,
    /// How many steps the exact engine makes when translated code cannot go on: more, the less that gets done.
    patience: u64,
    /// Steps that translated code has made.
    steps: u64,
}

/// Why translated code was left for good.
enum Why {
    /// The exact engine has to go on.
    Left,
    /// The allowance is used up.
    Spent,
    /// The program has written over the counters: what time it is nobody knows any more.
    Forged,
}

impl Native {
    fn new(exact: Engine, machine: Machine, registers: &Registers) -> Result<Native, String> {
        if machine != Machine::X86_64 {
            return Err(format!("the program is for {}", machine.name()));
        }
        if !enter::is_supported() {
            return Err(String::from("this machine does not let programs set the bases of FS and GS"));
        }
        let keys = keys::keys()?;
        let pool = Pool::new(keys.shown()).ok_or("the host refuses to map memory")?;
        // The home that is kept is made when a program starts.
        Home::new(0).ok_or("the host refuses memory that can be written and run")?;
        let layout = Layout::new(registers);
        Ok(Native { exact, pool: Arc::new(pool), home: None, layout, patience: 1, steps: 0 })
    }

    /// Runs translated code from `pc` on for about so many steps; where the guest is then, and why.
    fn fly(&mut self, world: &mut World, pc: u64, most: u64) -> (u64, Why) {
        let Some(home) = &mut self.home else { return (pc, Why::Left) };
        if !self.layout.load(&world.registers, &mut home.context) {
            return (pc, Why::Left);
        }
        home.context.allow(most, Options::default().counters);
        let (pc, unmade, why) = home.run(world, pc);
        let used = (most as i64).wrapping_sub(home.context.left()).wrapping_sub(unmade.into());
        self.layout.store(&home.context, &mut world.registers);
        // The last trace may go beyond what was allowed.
        if !(0..=most as i64 + Options::LONGEST as i64).contains(&used) {
            return (pc, Why::Forged);
        }
        world.time += used as u64;
        self.steps += used as u64;
        (pc, why)
    }

    /// The exact engine goes on where translated code could not, after a flight of so many steps.
    fn crawl(&mut self, world: &mut World, pc: u64, limit: u64, flown: u64) -> (u64, Event) {
        const LITTLE: u64 = 64;
        const MUCH: u64 = 256;
        if flown < LITTLE {
            self.patience = (2 * self.patience).min(PATIENCE);
        } else if flown > MUCH {
            self.patience = (self.patience / 4).max(1);
        }
        let until = limit.min(world.time + self.patience);
        let (to, event) = self.exact.run(world, pc, until);
        if to != pc || !matches!(event, Event::Budget) || !is_repeated(&mut world.memory, pc) {
            return (to, event);
        }
        // Each turn is a step.
        let turns = world.registers.get("RCX").clamp(1, SLICE);
        self.exact.run(world, pc, limit.min(world.time.saturating_add(turns)))
    }
}

/// Whether the instruction at an address repeats itself: one on strings behind a prefix that says so.
fn is_repeated(memory: &mut Memory, pc: u64) -> bool {
    let mut bytes = [0; 15];
    let count = memory.fetch(pc, &mut bytes).unwrap_or(0);
    let is_prefix =
        |byte: &u8| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf2 | 0xf3);
    let prefixes = bytes[..count].iter().take_while(|byte| is_prefix(byte)).count();
    let repeats = bytes[..prefixes].iter().any(|byte| matches!(byte, 0xf2 | 0xf3));
    repeats && bytes[..count].get(prefixes).is_some_and(|byte| matches!(byte, 0xa4..=0xa7 | 0xaa..=0xaf))
}

impl Executes for Native {
    fn run(&mut self, world: &mut World, pc: u64, limit: u64) -> (u64, Event) {
        if self.home.is_none()
            || !world.memory.is_settled()
            || world.watcher.is_some()
            || self.exact.is_watched()
        {
            return self.exact.run(world, pc, limit);
        }
        let mut pc = pc;
        loop {
            if world.interrupt.is_wanted() || world.memory.is_code_changed() {
                return (pc, Event::Interrupted);
            }
            let left = limit.saturating_sub(world.time);
            if left <= SHORT {
                return self.exact.run(world, pc, limit);
            }
            let before = world.time;
            let (to, why) = self.fly(world, pc, SLICE.min(left - Options::LONGEST as u64));
            pc = to;
            if matches!(why, Why::Forged) {
                let what = "a program that writes where --engine native counts its instructions";
                return (pc, Event::Stop(Stop::Meaningless(String::from(what))));
            }
            if matches!(why, Why::Left) || world.time == before {
                match self.crawl(world, pc, limit, world.time - before) {
                    (to, Event::Budget) => pc = to,
                    other => return other,
                }
            }
        }
    }

    fn forget_pages(&mut self, pages: &[u64]) {
        self.exact.forget_pages(pages);
        if let Some(home) = &mut self.home {
            home.cache.forget_pages(&mut home.arena, pages);
        }
    }

    fn restart(&mut self, memory: &mut Memory, start: u64) {
        self.exact.forget();
        // Two do not fit beside each other.
        self.home = None;
        self.home = Home::new(start);
        if self.home.is_some() {
            memory.settle(&self.pool);
        }
    }

    fn native_steps(&self) -> Option<u64> {
        Some(self.steps)
    }

    fn rest(&mut self, memory: &mut Memory) {
        self.home = None;
        memory.unsettle();
    }

    fn exact(&mut self) -> &mut Engine {
        &mut self.exact
    }
}

impl Home {
    /// Runs translated code until it cannot go on, or its allowance is used up: where the guest is, how many steps it has paid for
    /// that it has not made, and why.
    fn run(&mut self, world: &mut World, pc: u64) -> (u64, i32, Why) {
        let mut pc = pc;
        // The way out that led here, to be linked.
        let mut from = None;
        loop {
            let mut guest = Guest { memory: &mut world.memory };
            let body = match self.cache.translate(&mut guest, &mut self.arena, pc) {
                Ok(body) => body,
                Err(NoTrace::Left) => return (pc, 0, Why::Left),
                Err(NoTrace::Full) => {
                    self.cache.forget(&mut self.arena);
                    from = None;
                    continue;
                }
            };
            if let Some(number) = from.take() {
                self.cache.link(&mut self.arena, number);
            }
            self.context.cells().entry = body;
            let number = match self.enter(world) {
                Ok(number) => number,
                Err(fault) => match self.settle_fault(fault) {
                    // The goal of a computed jump has no slot.
                    (at, 0, Place::Lookup) => {
                        pc = at;
                        self.claim(world, pc);
                        continue;
                    }
                    (at, unmade, _) => return (at, unmade, Why::Left),
                },
            };
            let leaving = self.cache.leaving(number);
            match leaving.pc {
                None => {
                    pc = self.context.cells().target;
                    self.cache.claim(&mut self.arena, pc);
                }
                // What comes next replaces the flags: the exact engine need not know them.
                Some(at) if leaving.is_spent => return (at, leaving.unmade.into(), Why::Spent),
                Some(at) if leaving.is_left => return (at, leaving.unmade.into(), Why::Left),
                Some(at) => {
                    pc = at;
                    from = Some(number);
                }
            }
            if world.interrupt.is_wanted() {
                return (pc, 0, Why::Spent);
            }
        }
    }

    /// Enters translated code until it leaves in another way than by touching a page that can be shown.
    fn enter(&mut self, world: &mut World) -> Result<u32, Fault> {
        let mut last = None;
        loop {
            // SAFETY: the cells are those of this cache, and hold a state that `Layout::load` put there, or that translated code
            // left with. There is one process of the guest in a process of the host, and its signals have been prepared.
            unsafe { enter::enter(&mut *self.context) };
            if self.context.cells().exit != FAULT {
                return Ok(self.context.cells().exit);
            }
            let fault = self.context.fault;
            let access = (fault.at, fault.address, fault.is_write());
            if !fault.is_page_fault() || last == Some(access) || self.holds(fault.address) {
                return Err(fault);
            }
            if !world.memory.show(fault.address, fault.is_write()) {
                return Err(fault);
            }
            last = Some(access);
            self.context.cells().entry = fault.at;
        }
    }

    /// Puts registers where the guest has them at a fault: where it is, what it has paid too much, where the registers were.
    fn settle_fault(&mut self, fault: Fault) -> (u64, i32, Place) {
        let located = self.cache.locate(fault.at).expect("only the guest's instructions can fault");
        let (rcx, scratch, target) = {
            let cells = self.context.cells();
            (cells.rcx, cells.scratch, cells.target)
        };
        match located.place {
            Place::ScratchSaved(register) => self.context.general[usize::from(register)] = scratch,
            Place::RcxSaved | Place::Lookup => self.context.general[1] = rcx,
            Place::Guest => {}
            Place::Quiet | Place::Counting(_) => unreachable!("{located:x?} cannot fault: {fault:x?}"),
        }
        let pc = if located.place == Place::Lookup { target } else { located.pc };
        (pc, located.unmade, located.place)
    }

    /// Lets computed jumps find the trace at an address, which is translated if there is none.
    fn claim(&mut self, world: &mut World, pc: u64) {
        let mut guest = Guest { memory: &mut world.memory };
        if self.cache.translate(&mut guest, &mut self.arena, pc).is_ok() {
            self.cache.claim(&mut self.arena, pc);
        }
    }
}
