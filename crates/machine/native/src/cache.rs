//! All traces: where they lie, which of them lead to which, and which pages they are from.

use crate::code::{Code, RAX, RCX, RDX, aimed};
use crate::gather::{Source, gather};
use crate::layout::{Arena, Places, cell};
use crate::options::{Mistake, Options};
use crate::trace::{Exit, Place, Row};
use crate::translate::{Spot, translate};
use rustc_hash::{FxHashMap, FxHashSet};

/// Translated code and its tables. The code itself is in an [`Arena`].
pub struct Cache {
    places: Places,
    options: Options,
    traces: Vec<Kept>,
    by_pc: FxHashMap<u64, u32>,
    /// Instructions that were left to the exact engine: found again without decoding them. A wrong one costs time alone.
    left: FxHashSet<u64>,
    /// The traces that are from a page.
    by_page: FxHashMap<u64, Vec<u32>>,
    /// All ways out, by number, with the trace they are of.
    exits: Vec<(Exit, u32)>,
    /// Where free room begins.
    hot: u64,
    cold: u64,
    routines: Routines,
    /// Instructions translated so far, for those who measure.
    pub translated: u64,
}

/// Code that all traces share.
#[derive(Clone, Copy, Default)]
struct Routines {
    enter: u64,
    enter_open: u64,
    leave: u64,
    miss: u64,
}

/// A trace in the cache.
struct Kept {
    pc: u64,
    entry: u64,
    body: u64,
    hot: std::ops::Range<u64>,
    cold: std::ops::Range<u64>,
    hot_rows: Box<[Row]>,
    cold_rows: Box<[Row]>,
    pages: Box<[u64]>,
    /// The ways out of others, and its own, that lead here.
    incoming: Vec<u32>,
    is_forgotten: bool,
}

/// Why there is no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTrace {
    /// The instruction there is left to others, or there is none.
    Left,
    /// There is no room: forget everything, and try again.
    Full,
}

/// Why translated code came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// Where the guest is; none if it is at the goal of a computed jump, which is in its cell.
    pub pc: Option<u64>,
    /// How many instructions were paid for that are not made.
    pub unmade: u8,
    /// Whether the instruction there is left to others.
    pub is_left: bool,
    /// Whether a counter was used up.
    pub is_spent: bool,
    /// Whether the flags are not the guest's. The instruction there writes all of them, reads none, and cannot fault.
    pub flags_are_void: bool,
}

/// What a place in translated code stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located {
    /// The guest's instruction.
    pub pc: u64,
    /// How many instructions were paid for that are not made before it.
    pub unmade: i32,
    /// Where registers are.
    pub place: Place,
}

/// The number of the way out that a computed jump takes when it misses.
const MISS: u32 = 0;
/// Room that a trace of the longest kind does not fill. The encoder adds at most some 70 bytes to an instruction.
const ROOM: u64 = 16 * 1024;
/// The most instructions that are remembered as left.
const MOST_LEFT: usize = 1 << 16;

impl Cache {
    /// An empty cache at places that [are near](Places::are_near) each other.
    ///
    /// # Panics
    /// If they are not.
    pub fn new(places: Places, options: Options, arena: &mut dyn Arena) -> Self {
        assert!(places.are_near(), "a cache of more than 2 GiB");
        let mut cache = Cache {
            places,
            options,
            traces: Vec::new(),
            by_pc: FxHashMap::default(),
            left: FxHashSet::default(),
            by_page: FxHashMap::default(),
            exits: Vec::new(),
            hot: 0,
            cold: 0,
            routines: Routines::default(),
            translated: 0,
        };
        cache.start(arena);
        cache
    }

    /// Writes the shared code into empty room.
    fn start(&mut self, arena: &mut dyn Arena) {
        let start = self.places.cold.start;
        let mut code = Code::new(start, self.places.cells);
        self.routines.leave = code.here();
        for (index, register) in [RAX, RCX, RDX].into_iter().enumerate() {
            code.mov_cell_reg(cell::KEPT + 8 * index as u32, register);
        }
        code.jmp_constant(self.places.leave);
        self.routines.miss = code.here();
        code.mov_reg_cell(RCX, cell::RCX);
        code.note_exit(MISS);
        code.jmp(self.routines.leave);
        // From here on the host's pages are closed.
        self.routines.enter = code.here();
        code.clear_ecx_edx();
        code.wrpkru();
        self.routines.enter_open = code.here();
        for (index, register) in [RAX, RCX, RDX].into_iter().enumerate() {
            code.mov_reg_cell(register, cell::KEPT + 8 * index as u32);
        }
        code.jmp_cell(cell::ENTRY);
        arena.write(start, &code.bytes);
        self.hot = self.places.hot.start;
        self.cold = align(code.here());
        self.exits = vec![(Exit::Left { at: 0 }, u32::MAX)];
    }

    /// Where the cache lies.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Code that loads the registers that are kept in cells, and goes where [`cell::ENTRY`] says. If it `closes`, it gives PKRU
    /// the value in EAX first.
    pub fn enter_routine(&self, closes: bool) -> u64 {
        if closes { self.routines.enter } else { self.routines.enter_open }
    }

    /// Code that leaves the cache with all registers as they are, three of them also kept; [`cell::EXIT`] says why.
    pub fn leave_routine(&self) -> u64 {
        self.routines.leave
    }

    /// What slots without a trace hold.
    pub fn miss_routine(&self) -> u64 {
        self.routines.miss
    }

    /// The number of traces that are not forgotten.
    pub fn len(&self) -> usize {
        self.by_pc.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_pc.is_empty()
    }

    /// Where to enter the trace at an address, if there is one.
    pub fn find(&self, pc: u64) -> Option<u64> {
        self.by_pc.get(&pc).map(|index| self.traces[*index as usize].body)
    }

    /// Translates the trace at an address; where to enter it.
    pub fn translate(
        &mut self,
        source: &mut dyn Source,
        arena: &mut dyn Arena,
        pc: u64,
    ) -> Result<u64, NoTrace> {
        if let Some(body) = self.find(pc) {
            return Ok(body);
        }
        if self.left.contains(&pc) {
            return Err(NoTrace::Left);
        }
        let left = |next: u64, room: &std::ops::Range<u64>| room.end.saturating_sub(next);
        if left(self.hot, &self.places.hot) < ROOM || left(self.cold, &self.places.cold) < ROOM {
            return Err(NoTrace::Full);
        }
        let path = gather(source, pc, &self.options, &|to| self.by_pc.contains_key(&to));
        let index = self.traces.len() as u32;
        let spot = Spot {
            hot: self.hot,
            cold: self.cold,
            cells: self.places.cells,
            first_exit: self.exits.len() as u32,
            counter: index % self.options.counters.clamp(1, 4) as u32,
            leave: self.routines.leave,
            miss: self.routines.miss,
        };
        let Some(trace) = translate(&path, pc, &spot, &self.options) else {
            if self.left.len() >= MOST_LEFT {
                self.left.clear();
            }
            self.left.insert(pc);
            return Err(NoTrace::Left);
        };
        debug_assert!(trace.hot.len() as u64 <= ROOM && trace.cold.len() as u64 <= ROOM);
        arena.write(spot.hot, &trace.hot);
        arena.write(spot.cold, &trace.cold);
        let (hot, cold) = (spot.hot + trace.hot.len() as u64, spot.cold + trace.cold.len() as u64);
        self.hot = align(hot);
        self.cold = align(cold);
        self.translated += trace.steps as u64;
        for page in &trace.pages {
            self.by_page.entry(*page).or_default().push(index);
        }
        self.exits.extend(trace.exits.iter().map(|exit| (*exit, index)));
        self.traces.push(Kept {
            pc,
            entry: trace.entry,
            body: trace.body,
            hot: spot.hot..hot,
            cold: spot.cold..cold,
            hot_rows: trace.hot_rows.into(),
            cold_rows: trace.cold_rows.into(),
            pages: trace.pages.into(),
            incoming: Vec::new(),
            is_forgotten: false,
        });
        self.by_pc.insert(pc, index);
        for number in spot.first_exit..self.exits.len() as u32 {
            self.link(arena, number);
        }
        self.claim(arena, pc);
        Ok(trace.body)
    }

    /// Lets computed jumps to an address find its trace, where the slot is that of another address.
    pub fn claim(&self, arena: &mut dyn Arena, pc: u64) {
        if let Some(index) = self.by_pc.get(&pc) {
            arena.write(self.places.slot(pc), &self.traces[*index as usize].entry.to_le_bytes());
        }
    }

    /// Lets a way out lead to the trace where it goes, if there is one.
    pub fn link(&mut self, arena: &mut dyn Arena, number: u32) {
        let Some((Exit::Jump { to, site, .. }, _)) = self.exits.get(number as usize).copied() else { return };
        let Some(index) = self.by_pc.get(&to) else { return };
        let target = &mut self.traces[*index as usize];
        if !target.incoming.contains(&number) {
            target.incoming.push(number);
        }
        arena.write(site, &aimed(site, target.body));
    }

    /// What it means that translated code left with a number.
    pub fn leaving(&self, number: u32) -> Leaving {
        let blank = Leaving { pc: None, unmade: 0, is_left: false, is_spent: false, flags_are_void: false };
        match self.exits.get(number as usize) {
            _ if number == MISS => blank,
            None => blank,
            Some((Exit::Jump { to, .. }, _)) => Leaving { pc: Some(*to), ..blank },
            Some((Exit::Left { at }, _)) => Leaving { pc: Some(*at), is_left: true, ..blank },
            Some((Exit::Spent { at, unmade, flags_are_void }, _)) => Leaving {
                pc: Some(*at),
                unmade: *unmade,
                is_spent: true,
                flags_are_void: *flags_are_void,
                ..blank
            },
        }
    }

    /// Drops the traces that are from pages whose code has changed.
    pub fn forget_pages(&mut self, arena: &mut dyn Arena, pages: &[u64]) {
        self.left.clear();
        for page in pages {
            for index in self.by_page.remove(page).unwrap_or_default() {
                self.forget_trace(arena, index);
            }
        }
    }

    fn forget_trace(&mut self, arena: &mut dyn Arena, index: u32) {
        let trace = &mut self.traces[index as usize];
        if std::mem::replace(&mut trace.is_forgotten, true) {
            return;
        }
        let pc = trace.pc;
        let incoming = std::mem::take(&mut trace.incoming);
        let pages = std::mem::take(&mut trace.pages);
        self.by_pc.remove(&pc);
        for page in &pages {
            if let Some(others) = self.by_page.get_mut(page) {
                others.retain(|other| *other != index);
            }
        }
        if self.options.mistake != Some(Mistake::StaleLink) {
            for number in incoming {
                if let Some((Exit::Jump { site, stub, .. }, _)) = self.exits.get(number as usize) {
                    arena.write(*site, &aimed(*site, *stub));
                }
            }
        }
        // Another trace may have taken the slot. That one misses once more and claims it again.
        if self.options.mistake != Some(Mistake::StaleSlot) {
            arena.write(self.places.slot(pc), &self.routines.miss.to_le_bytes());
        }
    }

    /// Drops everything.
    pub fn forget(&mut self, arena: &mut dyn Arena) {
        for trace in self.traces.drain(..) {
            if !trace.is_forgotten {
                arena.write(self.places.slot(trace.pc), &self.routines.miss.to_le_bytes());
            }
        }
        self.by_pc.clear();
        self.left.clear();
        self.by_page.clear();
        self.start(arena);
    }

    /// What a place in translated code stands for; none if that is not the code of an instruction. Allocates nothing, so
    /// that signal handlers can ask.
    pub fn locate(&self, host: u64) -> Option<Located> {
        let (trace, rows, start) = self.rows(host)?;
        let at = (host - start) as u32;
        let row = &rows[rows.partition_point(|row| row.start <= at).checked_sub(1)?];
        let pc = trace.pc.wrapping_add(i64::from(row.pc) as u64);
        Some(Located { pc, unmade: i32::from(row.paid) - i32::from(row.made), place: row.place })
    }

    /// Where a thread that was interrupted at a place goes on after the counters were changed: if it had read one and not
    /// written it back, where it reads it.
    pub fn settled(&self, host: u64) -> u64 {
        let Some((_, rows, start)) = self.rows(host) else { return host };
        let at = (host - start) as u32;
        let Some(index) = rows.partition_point(|row| row.start <= at).checked_sub(1) else { return host };
        match rows[index] {
            Row { place: Place::Counting(back), start: row, .. } => start + u64::from(row) - u64::from(back),
            _ => host,
        }
    }

    /// The trace that a place belongs to, its rows there, and where they count from.
    fn rows(&self, host: u64) -> Option<(&Kept, &[Row], u64)> {
        let hot = self.places.hot.contains(&host);
        let part = |trace: &Kept| if hot { trace.hot.clone() } else { trace.cold.clone() };
        let index = self.traces.partition_point(|trace| part(trace).start <= host).checked_sub(1)?;
        let trace = &self.traces[index];
        let range = part(trace);
        range.contains(&host).then_some((
            trace,
            if hot { &*trace.hot_rows } else { &*trace.cold_rows },
            range.start,
        ))
    }
}

fn align(at: u64) -> u64 {
    at.next_multiple_of(16)
}
