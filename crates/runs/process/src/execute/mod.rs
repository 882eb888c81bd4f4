//! Running instructions fast: blocks are lifted once, improved when they turn out to be worth it, and run as chains of
//! small functions.
//!
//! Most of the code that a program touches while it starts runs a few times. So a block is first encoded as it was
//! lifted, and is looked up every time it runs, which counts its runs; when there have been enough, it is improved, and
//! from then on other improved blocks lead to it directly.
//!
//! The meaning of every operation stays the one written in `parallax_ir` over the semantic core. What is new here is
//! only which operations are run: those whose results somebody reads, joined where one function can do the work of
//! several.

mod encode;
mod general;
mod improve;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod liveness;
mod micro;
#[cfg(target_arch = "x86_64")]
mod native;
mod node;
mod original;
mod pieces;
mod power;
mod probe;
mod ran;
mod sweep;
mod template;
mod translate;

pub use micro::{Stop, World};
pub use probe::{Probes, Watcher};
pub use ran::Ran;

use crate::memory::{Cause, Fault, Memory};
use crate::registers::{Registers, TEMPORARIES};
use encode::{Encoded, Encoder};
use general::General;
use improve::Improver;
use liveness::Liveness;
use micro::{INDIRECT, Micro, RESUMED, STOPPED};
use node::{Node, Slot};
use parallax_ir::Flow;
use parallax_sleigh::{LiftError, Lifter};
use pieces::Pieces;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::hash_map::Entry;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use template::Template;
use translate::Found;

/// Longer runs of instructions without a jump are cut.
const LONGEST: usize = 64;

/// So many beginnings of blocks are kept.
const MOST_RESTS: usize = 4096;

/// The number of runs that says that a block is improved.
const IMPROVED: u32 = u32::MAX;

/// A block that runs more often than this is improved: about what improving costs, in runs of the block as it was.
const WARM: u32 = 64;

/// Why execution came back.
#[derive(Debug)]
pub enum Event {
    /// The instruction budget is used up.
    Budget,
    /// Somebody asked for it, or translated code was changed.
    Interrupted,
    /// The instruction at the program counter cannot be fetched.
    Fetch(Fault),
    /// The bytes at the program counter cannot be lifted.
    Lift(LiftError),
    /// An instruction stopped; the program counter is at it, or past it for a system call or breakpoint.
    Stop(Stop),
}

struct Exit {
    to: u64,
    block: *mut Block,
}

/// An instruction of a block.
struct Step {
    /// Its first operation; where it has none, the next one's.
    first: u32,
    /// How far it is from the start of the block.
    offset: u16,
    /// How many bytes it has.
    length: u8,
}

/// What is read whenever a block runs comes first, and together: programs that start run through more blocks than the
/// host's caches hold.
#[repr(C)]
struct Block {
    count: u64,
    start: u64,
    code: Box<[Micro]>,
    /// How often it has run; [`IMPROVED`] if it is improved.
    runs: u32,
    exits: SmallVec<[Exit; 2]>,
    /// Its instructions.
    steps: Box<[Step]>,
    /// How it leaves, if it ends in a call or a return, and where to, if that is known.
    flow: Option<(Flow, Option<u64>)>,
    /// The pages it was translated from, and those that were looked at to see which flags are read.
    pages: SmallVec<[u64; 2]>,
    #[allow(clippy::vec_box, reason = "operations hold their addresses")]
    _general: Vec<Box<General>>,
    /// Likewise.
    _kept: Vec<Rc<Template>>,
}

const CACHE: usize = 4096;

/// What runs the instructions of a process.
pub trait Executes {
    /// Runs from `pc` on until something happens, for at most `limit - world.time` instructions; where it came to.
    fn run(&mut self, world: &mut World, pc: u64, limit: u64) -> (u64, Event);

    /// Drops what was translated from pages that have changed.
    fn forget_pages(&mut self, pages: &[u64]);

    /// Another program is in memory, and starts there: drops all translated code.
    fn restart(&mut self, memory: &mut Memory, start: u64);

    /// Gives up the places of the program in this process of the host, if it has any.
    fn rest(&mut self, memory: &mut Memory);

    /// How many steps the processor itself has made, if it makes any.
    fn native_steps(&self) -> Option<u64> {
        None
    }

    /// The engine that runs what can be watched, step by step if need be.
    fn exact(&mut self) -> &mut Engine;
}

impl Executes for Engine {
    fn run(&mut self, world: &mut World, pc: u64, limit: u64) -> (u64, Event) {
        Engine::run(self, world, pc, limit)
    }

    fn forget_pages(&mut self, pages: &[u64]) {
        Engine::forget_pages(self, pages);
    }

    fn restart(&mut self, _: &mut Memory, _: u64) {
        self.forget();
    }

    fn rest(&mut self, _: &mut Memory) {}

    fn exact(&mut self) -> &mut Engine {
        self
    }
}

/// Translated code, and what is needed to translate more.
pub struct Engine {
    pieces: Pieces,
    blocks: FxHashMap<u64, Box<Block>>,
    /// The first instructions of blocks, by address and number: whoever stops at the same places often runs them often.
    rests: FxHashMap<(u64, usize), Box<Block>>,
    /// The blocks that depend on a page.
    by_page: FxHashMap<u64, Vec<u64>>,
    /// Blocks by address, for indirect jumps.
    cache: Box<[(u64, *mut Block)]>,
    improver: Improver,
    liveness: Liveness,
    encoder: Encoder,
    /// Room for the operations of a block while it is translated, and for its instructions.
    nodes: Vec<Node>,
    found: Vec<Found>,
    encoded: Encoded,
    exact_flags: bool,
    probes: Probes,
    /// What has run, while somebody asks.
    ran: Option<Box<Ran>>,
    warm: u32,
    /// Instructions lifted so far, for those who measure.
    pub lifted: u64,
}

/// Where the block at an address is in the cache.
#[inline(always)]
fn slot(address: u64) -> usize {
    (address ^ address >> 12) as usize % CACHE
}

/// An empty cache: every slot holds an address that belongs into another, since any address may be jumped to.
fn no_blocks() -> Box<[(u64, *mut Block)]> {
    (0..CACHE as u64).map(|index| (index ^ 1, std::ptr::null_mut())).collect()
}

impl Engine {
    /// An engine for the lifter's processor.
    pub fn new(lifter: Lifter, registers: &Registers, flags: &[&str]) -> Self {
        let processor = lifter.processor().clone();
        let flags: Vec<Slot> = flags
            .iter()
            .filter_map(|name| processor.register(name))
            .filter_map(|flag| {
                Some(Slot { at: registers.offset(flag.place)? as u16, size: flag.place.bytes })
            })
            .collect();
        let scratch = (registers.temporaries() + TEMPORARIES - 64) as u16;
        let encoder = || Encoder { processor: processor.clone(), scratch, watched: false };
        Engine {
            pieces: Pieces::new(lifter, registers, encoder()),
            blocks: FxHashMap::default(),
            rests: FxHashMap::default(),
            by_page: FxHashMap::default(),
            cache: no_blocks(),
            improver: Improver::new(registers.bytes().len()),
            liveness: Liveness::new(flags),
            encoder: encoder(),
            nodes: Vec::new(),
            found: Vec::new(),
            encoded: Encoded::default(),
            exact_flags: false,
            probes: Probes::default(),
            ran: None,
            warm: WARM,
            lifted: 0,
        }
    }

    /// The lifter, for those who show instructions.
    pub fn lifter(&mut self) -> &mut Lifter {
        &mut self.pieces.lifter
    }

    /// Whether memory accesses are reported to [`World::watcher`].
    pub fn set_watched(&mut self, watched: bool) {
        if self.encoder.watched != watched {
            self.encoder.watched = watched;
            self.forget();
        }
    }

    /// Whether flags are exact wherever execution can come back, as somebody wants who looks at every step. Otherwise a
    /// flag that will be overwritten before anybody reads it may hold an older value there.
    pub fn set_exact_flags(&mut self, exact: bool) {
        if self.exact_flags != exact {
            self.exact_flags = exact;
            self.forget();
        }
    }

    /// After how many runs a block is improved; with zero every block is, at once.
    pub fn set_warm(&mut self, runs: u32) {
        self.warm = runs;
        self.forget();
    }

    /// Drops what was translated from pages that have changed.
    pub fn forget_pages(&mut self, pages: &[u64]) {
        let mut dropped = false;
        if !pages.is_empty() {
            self.rests.clear();
        }
        for page in pages {
            for start in self.by_page.remove(page).unwrap_or_default() {
                dropped |= self.blocks.remove(&start).is_some();
            }
        }
        self.liveness.forget_pages(pages);
        if dropped {
            // Others may lead there.
            self.cut_links();
        }
    }

    /// Lets every block be looked up before it runs again.
    fn cut_links(&mut self) {
        for block in self.blocks.values_mut() {
            block.exits.iter_mut().for_each(|exit| exit.block = std::ptr::null_mut());
        }
        self.cache = no_blocks();
    }

    /// Which instructions tell [`World::watcher`] that they run. Only code that has probes, or will have, is
    /// translated again.
    pub fn set_probes(&mut self, probes: Probes) {
        if probes == self.probes {
            return;
        }
        self.rests.clear();
        let old = std::mem::replace(&mut self.probes, probes);
        let new = &self.probes;
        let concerned = |block: &Block| {
            let first = block.start;
            let end = block.end();
            let executes = |ranges: &[std::ops::Range<u64>]| {
                let from = ranges.partition_point(|range| range.end <= first);
                ranges[from..].first().is_some_and(|range| range.start < end)
            };
            let leaves = |probes: &Probes| match block.flow {
                Some((Flow::Call, target)) => probes.of_call(target),
                Some((Flow::Return, _)) => probes.returns,
                _ => false,
            };
            executes(&old.execute) || executes(&new.execute) || leaves(&old) != leaves(new)
        };
        let before = self.blocks.len();
        self.blocks.retain(|_, block| !concerned(block));
        if self.blocks.len() != before {
            self.cut_links();
        }
    }

    /// Notes what runs from now on.
    pub fn note_ran(&mut self) {
        self.cut_links();
        self.ran = Some(Box::default());
    }

    /// What has run since [`Engine::note_ran`]; none if that was another engine, since the program was replaced by one of
    /// another machine.
    pub fn take_ran(&mut self) -> Option<Ran> {
        self.ran.take().map(|ran| *ran)
    }

    /// Drops all translated code: it is another program's, or was translated for another purpose.
    pub fn forget(&mut self) {
        self.blocks.clear();
        self.rests.clear();
        self.by_page.clear();
        self.cache = no_blocks();
        self.liveness.forget();
    }

    /// Runs from `pc` on until something happens, for at most `limit - world.time` instructions; where it came to.
    ///
    /// A store into translated code is not made inside a block, of which later instructions may be what it changes: its
    /// instruction is run alone, and all that was translated from that page is forgotten.
    pub fn run(&mut self, world: &mut World, pc: u64, limit: u64) -> (u64, Event) {
        world.memory.guard_code(true);
        let (pc, event) = self.run_blocks(world, pc, limit);
        world.memory.guard_code(false);
        world.memory.unlock();
        match event {
            Event::Stop(Stop::Fault(Fault { cause: Cause::OwnCode, .. })) => {
                let alone = world.time + 1;
                match self.run_rest(world, pc, alone) {
                    (pc, Event::Budget) => (pc, Event::Interrupted),
                    other => other,
                }
            }
            Event::Stop(Stop::Fault(Fault { cause: Cause::Contended, .. })) => (pc, Event::Interrupted),
            event => (pc, event),
        }
    }

    /// Whether somebody hears of what runs.
    pub(crate) fn is_watched(&self) -> bool {
        self.encoder.watched || self.exact_flags || self.ran.is_some() || self.probes != Probes::default()
    }

    fn run_blocks(&mut self, world: &mut World, pc: u64, limit: u64) -> (u64, Event) {
        let file = world.registers.bytes_mut().as_mut_ptr();
        // SAFETY: the bit lives as long as the world does.
        let interrupt = unsafe { &*world.interrupt.bit() };
        let mut pc = pc;
        if limit == world.time + 1 && !interrupt.load(Ordering::Relaxed) && !world.memory.is_code_changed() {
            // A block is not worth while for one instruction.
            return self.run_rest(world, pc, limit);
        }
        let mut block: *mut Block = match self.find(world, pc) {
            Ok(block) => block,
            Err(event) => return (pc, event),
        };
        loop {
            let before = block;
            // SAFETY: blocks are boxed, stay where they are when they are improved, and live until `forget`, which cannot
            // run meanwhile.
            let mut here = unsafe { &mut *block };
            if interrupt.load(Ordering::Relaxed) || world.memory.is_code_changed() {
                return (here.start, Event::Interrupted);
            }
            if here.runs != IMPROVED {
                here.runs += 1;
                if here.runs > self.warm {
                    pc = here.start;
                    match self.translate(world, pc, LONGEST, true) {
                        Ok(improved) => self.keep(pc, improved),
                        Err(event) => return (pc, event),
                    };
                    // SAFETY: as above.
                    here = unsafe { &mut *block };
                }
            }
            let after = world.time + here.count;
            if after > limit {
                return self.run_rest(world, here.start, limit);
            }
            let start = here.code.as_ptr();
            // SAFETY: every place an operation names was checked in translation; see `micro::get`.
            let mut way = unsafe { ((*start).run)(start, file, world) };
            while way == RESUMED {
                let resumed = world.at;
                // SAFETY: as for the operation that it takes up again.
                way = unsafe { ((*resumed).run)(resumed, file, world) };
            }
            if way < here.exits.len() {
                world.time = after;
                let exit = &mut here.exits[way];
                block = exit.block;
                if block.is_null() {
                    pc = exit.to;
                    block = match self.find(world, pc) {
                        Ok(found) => found,
                        Err(event) => return (pc, event),
                    };
                    // SAFETY: both live until `forget`.
                    unsafe { (&mut *before).exits[way].block = block };
                }
            } else if way == INDIRECT {
                world.time = after;
                pc = world.target;
                let slot = slot(pc);
                let (known, found) = self.cache[slot];
                block = if known == pc {
                    found
                } else {
                    match self.find(world, pc) {
                        Ok(found) => {
                            self.cache[slot] = (pc, found);
                            found
                        }
                        Err(event) => return (pc, event),
                    }
                };
            } else {
                debug_assert_eq!(way, STOPPED);
                return here.stopped(world);
            }
        }
    }

    /// Runs the instructions that fit into the limit, which are fewer than the block at `pc` has.
    fn run_rest(&mut self, world: &mut World, pc: u64, limit: u64) -> (u64, Event) {
        let count = (limit - world.time) as usize;
        if count == 0 {
            return (pc, Event::Budget);
        }
        let mut block = match self.rests.remove(&(pc, count)) {
            Some(block) => block,
            None => match self.translate(world, pc, count, self.warm == 0) {
                Ok(block) => block,
                Err(event) => return (pc, event),
            },
        };
        let (pc, event) = self.run_part(world, &mut block);
        // Code that this very part has changed is told to the loop, which forgets it before anything else runs.
        if self.rests.len() >= MOST_RESTS {
            self.rests.clear();
        }
        self.rests.insert((block.start, count), block);
        (pc, event)
    }

    fn run_part(&mut self, world: &mut World, block: &mut Block) -> (u64, Event) {
        if let Some(ran) = &mut self.ran {
            ran.note(block.start..block.end(), block.flow);
        }
        let file = world.registers.bytes_mut().as_mut_ptr();
        let start = block.code.as_ptr();
        // SAFETY: every place an operation names was checked in translation; see `Run`.
        let mut way = unsafe { ((*start).run)(start, file, world) };
        while way == RESUMED {
            let resumed = world.at;
            // SAFETY: as for the operation that it takes up again.
            way = unsafe { ((*resumed).run)(resumed, file, world) };
        }
        if way == STOPPED {
            return block.stopped(world);
        }
        world.time += block.count;
        (if way == INDIRECT { world.target } else { block.exits[way].to }, Event::Budget)
    }

    /// Translates and links the blocks at these addresses as they are in the end, so that forks of this process find them
    /// ready and write nothing into what they share.
    pub fn translate_ahead(&mut self, world: &mut World, addresses: &[u64]) {
        for &pc in addresses {
            if self.blocks.get(&pc).is_none_or(|block| block.runs != IMPROVED)
                && let Ok(block) = self.translate(world, pc, LONGEST, true)
            {
                self.keep(pc, block);
            }
        }
        for &pc in addresses {
            let Some(block) = self.blocks.get(&pc).filter(|block| block.runs == IMPROVED) else { continue };
            let ready = |exit: &Exit| {
                let next = self.blocks.get(&exit.to).filter(|next| next.runs == IMPROVED);
                next.map_or(std::ptr::null_mut(), |next| std::ptr::from_ref(&**next).cast_mut())
            };
            let links: Vec<*mut Block> = block.exits.iter().map(ready).collect();
            let Some(block) = self.blocks.get_mut(&pc) else { continue };
            for (exit, link) in block.exits.iter_mut().zip(links) {
                exit.block = link;
            }
        }
    }

    fn find(&mut self, world: &mut World, pc: u64) -> Result<*mut Block, Event> {
        if let Some(block) = self.blocks.get_mut(&pc) {
            if let Some(ran) = &mut self.ran {
                ran.note(block.start..block.end(), block.flow);
            }
            return Ok(std::ptr::from_mut(&mut **block));
        }
        let block = self.translate(world, pc, LONGEST, self.warm == 0)?;
        if let Some(ran) = &mut self.ran {
            ran.note(block.start..block.end(), block.flow);
        }
        Ok(self.keep(pc, block))
    }

    /// Keeps a block, in the place of one that was not improved: to the byte, since others may lead there.
    fn keep(&mut self, pc: u64, block: Box<Block>) -> *mut Block {
        for page in &block.pages {
            let known = self.by_page.entry(*page).or_default();
            if known.last() != Some(&pc) {
                known.push(pc);
            }
        }
        let place = match self.blocks.entry(pc) {
            Entry::Occupied(old) => {
                let place = old.into_mut();
                **place = *block;
                place
            }
            Entry::Vacant(place) => place.insert(block),
        };
        std::ptr::from_mut(&mut **place)
    }
}

impl Block {
    /// One past its last byte.
    fn end(&self) -> u64 {
        let behind = self.steps.last().map_or(0, |step| u64::from(step.offset) + u64::from(step.length));
        self.start.wrapping_add(behind)
    }

    /// What to say about an operation that stopped, and where the program is.
    fn stopped(&mut self, world: &mut World) -> (u64, Event) {
        // SAFETY: `at` is an operation of this block's code: the one that stopped.
        let index = unsafe { world.at.offset_from(self.code.as_ptr()) } as u32;
        let instruction = self.steps.partition_point(|step| step.first <= index) - 1;
        let Step { offset, length, .. } = self.steps[instruction];
        let address = self.start.wrapping_add(u64::from(offset));
        let stop = world.stop.take().expect("whoever stops says why");
        let past = matches!(stop, Stop::Trap(parallax_ir::Trap::SystemCall | parallax_ir::Trap::Breakpoint));
        world.time += instruction as u64 + u64::from(past);
        let time = world.time;
        if let Some(watcher) = &mut world.watcher {
            watcher.undone(time);
        }
        let pc = if past { address.wrapping_add(u64::from(length)) } else { address };
        (pc, Event::Stop(stop))
    }
}
