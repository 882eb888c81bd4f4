//! The symbolic half of a run: the emulator goes ahead, and what touches the input is evaluated over terms as well.
//!
//! A block that reads no register that depends on the input runs in the emulator as it is. If it comes to a page with
//! bytes that do, the emulator stops before the instruction. From there to the end of the block, and through blocks that
//! read such registers, instructions run by their meaning in `ir`, over the concolic reading.

use crate::access::Accesses;
use crate::block::{Analysed, Block};
use crate::constraint::{Constraint, Decision, Place};
use crate::core::Concolic;
use crate::flows::Flows;
use crate::frame::{Exit, Frame};
use crate::moment::Return;
use crate::shadow::{Part, Shade, Shadow};
use crate::subject::{Placed, Subject};
use crate::summary::{Argument, Call, Effect, Summary};
use crate::trail::Trail;
use parallax_ir::meaning::Value;
use parallax_ir::{Processor, RegisterKind};
use parallax_op::Bits;
use parallax_path::Bound;
use parallax_process::Ending;
use parallax_term::{Store, Term};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// How far a symbolic run came.
pub struct Followed {
    /// The way it took.
    pub trail: Trail,
    /// Instructions evaluated over terms.
    pub evaluated: u64,
    /// What it ended with.
    pub stop: Stop,
}

/// What a run ended with.
pub enum Stop {
    /// The function that was explored has returned.
    Returned,
    /// The program has ended.
    Ended(Ending),
    /// A bound, or a place to avoid.
    Given,
}

/// What is taken note of on a run, all of whose instructions run by their meaning.
pub struct Watch {
    /// The bytes that were written.
    pub written: BTreeSet<u64>,
    /// Those of the points that were come to, in order.
    pub visited: Vec<u64>,
    points: Vec<u64>,
}

impl Watch {
    /// Nothing so far.
    pub fn new(points: &[u64]) -> Watch {
        Watch { written: BTreeSet::new(), visited: Vec::new(), points: points.to_vec() }
    }
}

/// What came of a function that is summarised.
enum Summarised {
    /// It has returned.
    Done,
    /// The program has ended in it.
    Ended(Ending),
    /// Nothing is known of this call: it is followed.
    Followed,
}

/// Why an instruction was not run by its meaning.
enum Refusal {
    /// It faults, traps, or has no meaning: the emulator knows what to do.
    Leave,
    /// It touches the input, and the run was to stop before that.
    Touches,
}

/// A run with both halves.
pub struct Lockstep<'a, 's> {
    pub(crate) subject: &'a mut Subject,
    /// Where terms are made.
    store: &'s Store,
    /// The path so far.
    pub constraint: Constraint<'s>,
    pub(crate) shadow: Shadow,
    /// The bytes of the input.
    pub(crate) terms: Vec<Term>,
    approximate: bool,
    trail: Trail,
    evaluated: u64,
    /// The bytes outside of memory that depend on the input.
    pub(crate) flows: Flows,
    /// Whether to stop before the first instruction that touches the input.
    pub(crate) until_touch: bool,
    /// What to take note of, if anything.
    pub(crate) watch: Option<Watch>,
    /// The function that leaves no trace and is under way, with the time it was entered at.
    aside: Option<(Return, u64)>,
    /// Instructions that such functions have taken: inputs that go the same way may need others.
    taken_aside: u64,
}

impl<'a, 's> Lockstep<'a, 's> {
    /// A run from where the subject is. The bytes of the input that are in memory already are marked.
    pub fn new(
        subject: &'a mut Subject,
        mut constraint: Constraint<'s>,
        terms: Vec<Term>,
        approximate: bool,
        until_touch: bool,
    ) -> Self {
        let store = constraint.store;
        constraint.here = Default::default();
        let mut shadow = Shadow::default();
        let placed = subject.placed.clone();
        for (source, placed) in placed {
            match placed {
                Placed::Memory(address) => {
                    let bytes = &terms[subject.sources.range(source)];
                    let parts: Vec<Option<Part>> =
                        bytes.iter().map(|of| Some(Part { of: *of, byte: 0 })).collect();
                    shadow.write(&mut subject.process.world().memory, address, &parts);
                }
                Placed::Register(name) => {
                    let term = subject.sources.register(store, &subject.sources.0[source]);
                    if let Some(cell) = cell(subject, &name) {
                        shadow.set_cell(cell, Some(Shade::Word(term)));
                    }
                }
            }
        }
        Lockstep {
            subject,
            store,
            constraint,
            shadow,
            terms,
            approximate,
            flows: Flows::default(),
            trail: Trail::default(),
            evaluated: 0,
            until_touch,
            watch: None,
            aside: None,
            taken_aside: 0,
        }
    }

    /// The bytes of memory and the cells that are unknown from the start.
    pub(crate) fn unknown(&mut self) -> (BTreeMap<u64, Term>, BTreeMap<usize, Term>) {
        let (mut bytes, mut cells) = (BTreeMap::new(), BTreeMap::new());
        for (source, placed) in self.subject.placed.clone() {
            match placed {
                Placed::Memory(address) => {
                    let terms = &self.terms[self.subject.sources.range(source)];
                    bytes.extend((address..).zip(terms.iter().copied()));
                }
                Placed::Register(name) => {
                    let term = self.subject.sources.register(self.store, &self.subject.sources.0[source]);
                    cells.extend(cell(self.subject, &name).map(|cell| (cell, term)));
                }
            }
        }
        (bytes, cells)
    }

    /// Runs to the end, to a bound, or to a place to avoid.
    pub fn run(&mut self, steps: u64, avoid: &[u64]) -> Followed {
        let start = self.subject.process.time();
        let stop = loop {
            let pc = self.subject.process.pc();
            let time = self.subject.process.time();
            if self.subject.has_returned() {
                break Stop::Returned;
            }
            if time - start >= steps {
                self.constraint.ledger.note(Bound::Steps(steps));
                break Stop::Given;
            }
            if let Some((until, entered)) = self.aside
                && self.subject.is_back(until)
            {
                self.aside = None;
                self.count_aside(time - entered);
            }
            if self.aside.is_none()
                && let Some(summary) = self.subject.summary(pc)
            {
                match self.summarise(summary, start + steps) {
                    Summarised::Done => continue,
                    Summarised::Ended(ending) => break Stop::Ended(ending),
                    Summarised::Followed => {}
                }
            }
            let Some(block) = self.subject.block(pc) else {
                // It cannot be fetched or lifted: the emulator says what comes of that.
                self.trail.enter(pc, time);
                match self.subject.process.run_until(time + 1) {
                    Some(ending) => break Stop::Ended(ending),
                    None => continue,
                }
            };
            if self.until_touch {
                self.subject.before.insert(pc);
            }
            if self.aside.is_none() {
                self.trail.enter(pc, time);
            }
            if avoid.contains(&pc) {
                break Stop::Given;
            }
            self.constraint.here.blocks = self.trail.blocks;
            self.constraint.here.hash = self.trail.hash;
            self.constraint.here.aside = self.aside.is_some();
            match self.run_block(&block) {
                Ok(None) => {}
                Ok(Some(ending)) => break Stop::Ended(ending),
                Err(Stopped) => break Stop::Given,
            }
        };
        self.subject.process.world().memory.set_guarding(true);
        Followed { trail: self.trail.clone(), evaluated: self.evaluated, stop }
    }

    /// Takes all marks away: the emulator need not stop any more.
    pub fn unmark(&mut self) {
        for page in self.shadow.pages() {
            self.shadow.clear_range(&mut self.subject.process.world().memory, page * 4096, 4096);
        }
    }

    /// A function is entered of which it is known what it does.
    fn summarise(&mut self, summary: Summary, deadline: u64) -> Summarised {
        let place = Place {
            pc: self.subject.process.pc(),
            time: self.subject.process.time() - self.taken_aside,
            blocks: self.trail.blocks,
            hash: self.trail.hash,
            aside: true,
            inside: false,
        };
        self.constraint.here = place;
        let processor = self.subject.process.world().registers.processor().clone();
        let arguments = ["RDI", "RSI", "RDX"].map(|name| {
            let value = self.subject.process.world().registers.get(name);
            let shade = processor.register(name).and_then(|r| processor.cell_at(r.place.offset));
            let term = match shade.and_then(|cell| self.shadow.cell(cell)) {
                Some(Shade::Word(term)) => Some(term),
                _ => None,
            };
            Argument { value, term }
        });
        let events = self.constraint.events.len();
        let memory = &mut self.subject.process.world().memory;
        let mut call = Call { memory, shadow: &self.shadow, constraint: &mut self.constraint };
        let effect = if self.approximate { None } else { call.effect(summary, arguments) };
        let until = self.subject.way_back();
        match effect {
            Some(Effect::Constant) => {
                for name in ["RDI", "RSI"] {
                    if let Some(cell) = cell(self.subject, name) {
                        self.shadow.set_cell(cell, None);
                    }
                }
                Summarised::Followed
            }
            Some(Effect::Returns { result, written }) => {
                self.evaluated += u64::from(self.constraint.events.len() > events);
                let ending = self.run_aside(until, deadline);
                if let Some(ending) = ending {
                    return Summarised::Ended(ending);
                }
                self.take_effect(&processor, result, written);
                Summarised::Done
            }
            None => {
                if summary.leaves_no_trace() {
                    self.aside = Some((until, self.subject.process.time()));
                }
                Summarised::Followed
            }
        }
    }

    /// A function that leaves no trace has taken so many instructions: for the order of events they count as one, so that
    /// what comes behind the call has a later time than what happened in it.
    fn count_aside(&mut self, instructions: u64) {
        self.taken_aside += instructions.saturating_sub(1);
    }

    /// Lets the emulator run a function to its return.
    fn run_aside(&mut self, until: Return, deadline: u64) -> Option<Ending> {
        let entered = self.subject.process.time();
        self.subject.process.world().memory.set_guarding(false);
        let mut ending = None;
        while ending.is_none() && !self.subject.is_back(until) && self.subject.process.time() < deadline {
            ending = crate::concrete::block(self.subject);
        }
        self.subject.process.world().memory.set_guarding(true);
        self.count_aside(self.subject.process.time() - entered);
        ending
    }

    /// What a function leaves behind: its result, what it wrote, and registers of which nothing is promised.
    fn take_effect(&mut self, processor: &Processor, result: Term, written: Vec<(u64, Term)>) {
        let store = self.store;
        let term = |term: Term| store.as_constant(term).is_none().then_some(term);
        let memory = &mut self.subject.process.world().memory;
        for (address, byte) in written {
            let part = term(byte).map(|of| Part { of, byte: 0 });
            self.shadow.write(memory, address, &[part]);
            if let Some(watch) = &mut self.watch {
                watch.written.insert(address);
            }
        }
        const KEPT: [&str; 8] = ["RSP", "RBX", "RBP", "R12", "R13", "R14", "R15", "RIP"];
        let free = |name: &str| {
            let general = name.starts_with('R') && !KEPT.contains(&name);
            general
                || name.starts_with("XMM")
                || name.starts_with("YMM")
                || name.len() == 2 && name.ends_with('F')
        };
        for (index, cell) in processor.cells.iter().enumerate().filter(|(_, cell)| free(&cell.name)) {
            // Who looks at all of the state must not take what is there now for the same on every input.
            let open = self.watch.is_some().then(|| {
                let name = format!("{}.after.{}", cell.name, self.taken_aside + 1);
                match cell.kind {
                    RegisterKind::Word => Shade::Word(store.symbol(&name, cell.place.width())),
                    RegisterKind::Flag => Shade::Truth(store.bool_symbol(&name)),
                }
            });
            self.shadow.set_cell(index, open);
        }
        if let Some(cell) = cell(self.subject, "RAX") {
            self.shadow.set_cell(cell, term(result).map(Shade::Word));
        }
    }

    fn run_block(&mut self, block: &Block) -> Result<Option<Ending>, Stopped> {
        let mut from = 0;
        if self.watch.is_none() && !self.shadow.set.meets(&block.reads) {
            let time = self.subject.process.time();
            let last = block.instructions.last().expect("a block has an instruction");
            // The system call at the end is made by itself, so that what it brings can be seen.
            let count = block.instructions.len() - usize::from(last.is_call);
            let ending = self.subject.process.run_until(time + count as u64);
            let done = (self.subject.process.time() - time) as usize;
            for analysed in &block.instructions[..done.min(count)] {
                self.shadow.clear_cells(&analysed.writes);
            }
            if ending.is_some() {
                return Ok(ending);
            }
            if !self.subject.process.is_at_guard() && done != count {
                // A signal, most likely: registers are others now.
                self.forget_registers();
                return Ok(None);
            }
            from = done;
        }
        for analysed in &block.instructions[from..] {
            let ending = self.step(analysed)?;
            let next = analysed.instruction.next();
            if ending.is_some() || self.subject.process.pc() != next {
                return Ok(ending);
            }
        }
        Ok(None)
    }

    /// Runs one instruction.
    fn step(&mut self, analysed: &Analysed) -> Result<Option<Ending>, Stopped> {
        let time = self.subject.process.time();
        self.constraint.here.pc = analysed.instruction.address;
        self.constraint.here.time = self.aside.map_or(time, |(_, entered)| entered) - self.taken_aside;
        self.constraint.here.inside = self.aside.is_some();
        if let Some(watch) = &mut self.watch
            && watch.points.contains(&analysed.instruction.address)
        {
            watch.visited.push(analysed.instruction.address);
        }
        if analysed.is_call {
            return self.system_call();
        }
        match self.evaluate(analysed) {
            Ok(()) => Ok(None),
            Err(Refusal::Touches) => Err(Stopped),
            Err(Refusal::Leave) => Ok(self.leave(analysed)),
        }
    }

    /// Runs one instruction by its meaning.
    fn evaluate(&mut self, analysed: &Analysed) -> Result<(), Refusal> {
        let first_event = self.constraint.events.len();
        let layout = self.subject.layout.clone();
        let world = self.subject.process.world();
        let processor = world.registers.processor();
        let file = world.registers.bytes();
        let accesses = RefCell::new(Accesses::new(&mut world.memory, &self.shadow, &mut self.constraint));
        let reading = Concolic { store: self.store, machine: &accesses, approximate: self.approximate };
        let mut frame = Frame::new(&reading, processor, &layout, file, &self.shadow);
        let exit = frame.run(&analysed.lean);
        let (uses_input, jump_decided) = (frame.uses_input, frame.jump_decided);
        let mut results: SmallVec<[(usize, Bits, Option<Shade>); 8]> = SmallVec::new();
        for (cell, value) in frame.results(&analysed.lean_writes) {
            let width = processor.cells[cell].place.width();
            let (bits, shade) = match value {
                Value::Word(word) => (word.bits, word.term.map(Shade::Word)),
                Value::Truth(truth) => {
                    let shade = truth.formula.map(|formula| match processor.cells[cell].kind {
                        RegisterKind::Flag => Shade::Truth(formula),
                        RegisterKind::Word => Shade::Word(self.store.ite(
                            formula,
                            self.store.number(width, 1),
                            self.store.number(width, 0),
                        )),
                    });
                    (Bits::new(width, truth.holds.into()), shade)
                }
            };
            results.push((cell, bits, shade));
        }
        let mut accesses = accesses.into_inner();
        let target = match exit {
            Ok(Exit::To(target)) => target,
            Ok(Exit::Stop) => return Err(Refusal::Leave),
            Err(why) => {
                if (accesses.touches || uses_input) && !accesses.faults {
                    let what = format!("{why}, at {:#x}", analysed.instruction.address);
                    accesses.note(Bound::Unsupported(what));
                }
                return Err(Refusal::Leave);
            }
        };
        if accesses.faults {
            return Err(Refusal::Leave);
        }
        let touches = uses_input || accesses.touches;
        if self.until_touch && touches {
            return Err(Refusal::Touches);
        }
        self.evaluated += u64::from(touches);
        // From here on the instruction is made.
        let writes = accesses.finish();
        if let Some(watch) = &mut self.watch {
            watch.written.extend(writes.addresses());
        }
        let world = self.subject.process.world();
        if !writes.make(&mut world.memory, &mut self.shadow) {
            return Err(Refusal::Leave);
        }
        for (cell, bits, shade) in results {
            bits.write_le_bytes(&mut world.registers.bytes_mut()[layout.place(cell)]);
            self.shadow.set_cell(cell, shade);
        }
        world.time += 1;
        let next = target.bits.to_u64().unwrap_or(0);
        self.subject.process.jump(next);
        if let Some(term) = target.term {
            let formula = self.store.eq(term, self.store.constant(&target.bits));
            self.constraint.push(formula, Decision::Jump(term));
        } else if let Some((taken, otherwise)) = analysed.ways
            && self.constraint.events.len() > first_event
            && let Some(event) = self.constraint.events.last_mut()
            && jump_decided == Some(event.formula)
            && matches!(event.decision, Decision::Branch(_))
        {
            event.decision = Decision::Branch(Some(if next == taken { otherwise } else { taken }));
        }
        Ok(())
    }

    /// Lets the emulator run one instruction; what it computes from the input counts as constant.
    fn leave(&mut self, analysed: &Analysed) -> Option<Ending> {
        if self.watch.is_some() && analysed.stores {
            let at = analysed.instruction.address;
            self.constraint
                .ledger
                .note(Bound::Unsupported(format!("what the instruction at {at:#x} writes")));
        }
        // It may write where it likes: see what has changed.
        let pages = if analysed.stores { self.shadow.pages() } else { Vec::new() };
        let process = &mut self.subject.process;
        let contents = |process: &mut parallax_process::Process, page: u64| process.peek(page * 4096, 4096);
        let before: Vec<Vec<u8>> = pages.iter().map(|&page| contents(process, page)).collect();
        let time = process.time();
        process.world().memory.set_guarding(false);
        let ending = process.run_until(time + 1);
        process.world().memory.set_guarding(true);
        for (page, before) in pages.into_iter().zip(before) {
            let after = contents(&mut self.subject.process, page);
            for (offset, _) in before.iter().zip(&after).enumerate().filter(|(_, (a, b))| a != b) {
                let memory = &mut self.subject.process.world().memory;
                self.shadow.write(memory, page * 4096 + offset as u64, &[None]);
            }
        }
        if self.subject.process.time() == time + 1 {
            self.shadow.clear_cells(&analysed.writes);
        } else if ending.is_none() {
            self.forget_registers();
        }
        ending
    }

    /// Registers are not those of the run so far: a signal is handled, or has been.
    fn forget_registers(&mut self) {
        if !self.shadow.set.is_empty() {
            let words = "a signal while registers depend on input";
            self.constraint.ledger.note(Bound::Unsupported(words.into()));
            let all: Vec<usize> = self.shadow.set.iter().collect();
            all.into_iter().for_each(|cell| self.shadow.set_cell(cell, None));
        }
    }
}

/// The cell that is a register.
fn cell(subject: &mut Subject, name: &str) -> Option<usize> {
    subject.process.world().registers.processor().cells.iter().position(|cell| cell.name == name)
}

/// The run goes no further, by its own rules.
pub(crate) struct Stopped;
