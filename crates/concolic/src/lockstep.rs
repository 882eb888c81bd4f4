//! The symbolic half of a run: the emulator goes ahead, and what touches the input is evaluated over terms as well.
//!
//! A block that reads no register that depends on the input runs in the emulator as it is. If it comes to a page with
//! bytes that do, the emulator stops before the instruction. From there to the end of the block, and through blocks that
//! read such registers, instructions run by their meaning in `ir`, over the concolic reading.

use crate::block::{Analysed, Block};
use crate::constraint::{Constraint, Decision};
use crate::core::{Concolic, Machine, Truth, Word};
use crate::reach::{Reach, reach};
use crate::shadow::{Shade, Shadow};
use crate::subject::Subject;
use crate::trail::Trail;
use parallax_ir::meaning::{State, Value, exec};
use parallax_ir::{RegisterKind, Trap};
use parallax_op::Bits;
use parallax_path::Bound;
use parallax_process::Ending;
use parallax_process::elf::Machine as Processor;
use parallax_process::memory::{Access, Memory};
use parallax_process::system::call_name;
use parallax_term::{Formula, Store, Term};
use smallvec::SmallVec;
use std::cell::RefCell;

/// How many addresses one load or store is followed to.
const MOST_LOADED: u64 = 1024;
const MOST_STORED: u64 = 256;
/// How many where the solver cannot say that these are all.
const WINDOW: u64 = 32;

/// How far a symbolic run came.
pub struct Followed {
    /// The way it took.
    pub trail: Trail,
    /// Instructions evaluated over terms.
    pub evaluated: u64,
}

/// Why an instruction was not run by its meaning.
enum Refusal {
    /// It faults, traps, or has no meaning: the emulator knows what to do.
    Leave,
    /// It touches the input, and the run was to stop before that.
    Touches,
}

/// A byte that an instruction writes.
struct Write {
    address: u64,
    /// The byte; nothing if it stays as it is on this run.
    byte: Option<u8>,
    term: Option<Term>,
}

struct Context<'a, 's> {
    memory: &'a mut Memory,
    shadow: &'a Shadow,
    constraint: &'a mut Constraint<'s>,
    writes: SmallVec<[Write; 16]>,
    /// An access cannot be made.
    faults: bool,
    /// A byte that depends on the input was read.
    touches: bool,
}

impl Context<'_, '_> {
    /// What comes of this is not known of other inputs.
    fn note_approximated(&mut self) {
        self.constraint
            .bounds
            .insert(Bound::Values(1, String::from("a value that --approximate takes as it is")));
    }

    /// The byte at an address as the instruction sees it now.
    fn byte(&mut self, address: u64) -> (u8, Option<Term>) {
        if let Some(write) = self.writes.iter().rev().find(|write| write.address == address) {
            if let Some(byte) = write.byte {
                return (byte, write.term);
            }
            let term = write.term;
            return (self.memory_byte(address), term);
        }
        (self.memory_byte(address), self.shadow.byte(address))
    }

    fn memory_byte(&mut self, address: u64) -> u8 {
        let mut byte = [0];
        if self.memory.read(address, &mut byte).is_err() {
            self.faults = true;
        }
        byte[0]
    }

    /// The bytes at one address.
    fn load_at(&mut self, store: &Store, address: u64, bytes: u16) -> (Bits, Option<Term>) {
        let count = usize::from(bytes);
        if self.writes.is_empty() && !self.shadow.may_touch(address, bytes.into()) {
            let mut buffer = [0u8; 64];
            if count > buffer.len() || self.memory.read(address, &mut buffer[..count]).is_err() {
                self.faults = true;
            }
            return (Bits::from_le_bytes(&buffer[..count.min(64)]), None);
        }
        let read: SmallVec<[(u8, Option<Term>); 32]> =
            (0..u64::from(bytes)).map(|index| self.byte(address.wrapping_add(index))).collect();
        let values: SmallVec<[u8; 32]> = read.iter().map(|(byte, _)| *byte).collect();
        let bits = Bits::from_le_bytes(&values);
        if read.iter().all(|(_, term)| term.is_none()) {
            return (bits, None);
        }
        self.touches = true;
        // Runs of bytes that are constant become one constant.
        let mut whole: Option<Term> = None;
        let mut at = 0;
        while at < count {
            let run = match read[at].1 {
                Some(_) => 1,
                None => read[at..].iter().take_while(|(_, term)| term.is_none()).count(),
            };
            let part = match read[at].1 {
                Some(term) => term,
                None => store.constant(&Bits::from_le_bytes(&values[at..at + run])),
            };
            whole = Some(whole.map_or(part, |low| store.concat(part, low)));
            at += run;
        }
        (bits, whole)
    }

    /// The addresses that an access may go to, all of them mapped; that they are all is part of the path from now on.
    fn resolve(&mut self, term: Term, address: u64, bytes: u16, access: Access) -> Option<Reach> {
        let most = if access == Access::Write { MOST_STORED } else { MOST_LOADED };
        let shape = reach(self.constraint.store, term, address);
        let (found, all) = match shape {
            Some(shape) if shape.count <= most => (shape, true),
            shape => self.constraint.narrowed(term, address, shape, most, WINDOW),
        };
        let (low, high) = self.mapped(address, bytes, access)?;
        let inside = found.within(low, high)?;
        if !all || inside != found {
            let formula = self.constraint.between(term, inside.first, inside.last());
            self.constraint.push(formula, Decision::Window);
        }
        Some(inside)
    }

    /// The lowest and the highest address around one at which so many bytes can be accessed.
    fn mapped(&self, address: u64, bytes: u16, access: Access) -> Option<(u64, u64)> {
        let allows = |at: u64| {
            let (start, region) = self.memory.region_at(at)?;
            let allowed = match access {
                Access::Write => region.permissions.write,
                _ => region.permissions.read,
            };
            allowed.then_some((start, region.end))
        };
        let (mut low, mut high) = allows(address)?;
        while let Some((start, _)) = low.checked_sub(1).and_then(allows) {
            low = start;
        }
        while let Some((_, end)) = allows(high) {
            high = end;
        }
        let last = high.checked_sub(u64::from(bytes))?;
        (low <= address && address <= last).then_some((low, last))
    }

    /// What a load from one of several addresses gives.
    fn load_from(&mut self, store: &Store, term: Term, reach: Reach, bytes: u16) -> Term {
        let leaves: Vec<Term> = (0..reach.count)
            .map(|index| {
                let (bits, term) = self.load_at(store, reach.first + (index << reach.shift), bytes);
                term.unwrap_or_else(|| store.constant(&bits))
            })
            .collect();
        select(store, term, reach, leaves)
    }

    fn store_to(&mut self, store: &Store, term: Term, at: u64, reach: Reach, value: &[(u8, Term)]) {
        let is: Vec<Formula> = (0..reach.count)
            .map(|index| {
                let address = reach.first + (index << reach.shift);
                store.eq(term, store.number(64, address.into()))
            })
            .collect();
        let bytes = value.len() as u64;
        let mut written = Vec::new();
        for place in reach.first..=reach.last().saturating_add(bytes - 1) {
            let (_, old) = self.byte(place);
            let mut new = old;
            for (offset, (_, byte)) in value.iter().enumerate() {
                let Some(above) = place.checked_sub(offset as u64).and_then(|a| a.checked_sub(reach.first))
                else {
                    continue;
                };
                let index = above >> reach.shift;
                if above % (1 << reach.shift) == 0 && index < reach.count {
                    let before = match new {
                        Some(term) => term,
                        None => store.number(8, self.memory_byte(place).into()),
                    };
                    new = Some(store.ite(is[index as usize], *byte, before));
                }
            }
            let new = new.filter(|term| store.as_constant(*term).is_none());
            let here = place.wrapping_sub(at);
            written.push(Write {
                address: place,
                byte: value.get(here as usize).map(|(byte, _)| *byte),
                term: new,
            });
        }
        self.writes.extend(written);
    }
}

/// The leaf that an address leads to: by the bits of its distance from the first.
fn select(store: &Store, term: Term, reach: Reach, mut leaves: Vec<Term>) -> Term {
    let distance = store.sub(term, store.number(64, reach.first.into()));
    let mut bit = reach.shift;
    while leaves.len() > 1 {
        let odd = store.eq(store.extract(distance, bit, 1), store.number(1, 1));
        leaves = leaves
            .chunks(2)
            .map(|pair| if let [even, other] = pair { store.ite(odd, *other, *even) } else { pair[0] })
            .collect();
        bit += 1;
    }
    leaves[0]
}

impl Machine for RefCell<Context<'_, '_>> {
    fn load(&self, reading: &Concolic<'_>, address: &Word, bytes: u16) -> Word {
        let mut context = self.borrow_mut();
        let at = address.bits.to_u64().unwrap_or(0);
        let (bits, plain) = context.load_at(reading.store, at, bytes);
        if reading.approximate && address.term.is_some() {
            context.note_approximated();
        }
        let term = match address.term {
            Some(term) if !reading.approximate && !context.faults => {
                match context.resolve(term, at, bytes, Access::Read) {
                    Some(reach) => Some(context.load_from(reading.store, term, reach, bytes)),
                    None => {
                        context.constraint.pin(term, &address.bits, "an address that is read");
                        plain
                    }
                }
            }
            _ => plain,
        };
        match term {
            Some(term) => reading.word(bits, term),
            None => Word { bits, term: None },
        }
    }

    fn store(&self, reading: &Concolic<'_>, address: &Word, bytes: u16, value: &Word) {
        let mut context = self.borrow_mut();
        let at = address.bits.to_u64().unwrap_or(0);
        if context.memory.check_writable(at, bytes.into()).is_err() {
            context.faults = true;
            return;
        }
        if reading.approximate && address.term.is_some() {
            context.note_approximated();
        }
        let store = reading.store;
        let mut buffer = [0u8; 64];
        let values = &mut buffer[..usize::from(bytes)];
        value.bits.write_le_bytes(values);
        if let Some(term) = address.term.filter(|_| !reading.approximate) {
            match context.resolve(term, at, bytes, Access::Write) {
                Some(Reach { count: 1, .. }) => {}
                Some(reach) => {
                    let whole = reading.term(value);
                    let parts: Vec<(u8, Term)> = values
                        .iter()
                        .enumerate()
                        .map(|(index, byte)| (*byte, store.extract(whole, 8 * index as u16, 8)))
                        .collect();
                    context.store_to(store, term, at, reach, &parts);
                    return;
                }
                None => context.constraint.pin(term, &address.bits, "an address that is written"),
            }
        }
        for (index, byte) in values.iter().enumerate() {
            let part = value.term.map(|term| store.extract(term, 8 * index as u16, 8));
            let term = part.filter(|term| store.as_constant(*term).is_none());
            let address = at.wrapping_add(index as u64);
            context.writes.push(Write { address, byte: Some(*byte), term });
        }
    }

    fn approximated(&self) {
        self.borrow_mut().note_approximated();
    }

    fn decided(&self, taken: Formula) {
        self.borrow_mut().constraint.push(taken, Decision::Branch(None));
    }
}

/// A run with both halves.
pub struct Lockstep<'a, 's> {
    subject: &'a mut Subject,
    /// Where terms are made.
    store: &'s Store,
    /// The path so far.
    pub constraint: Constraint<'s>,
    shadow: Shadow,
    /// The bytes of the input.
    terms: Vec<Term>,
    approximate: bool,
    trail: Trail,
    evaluated: u64,
    /// Whether to stop before the first instruction that touches the input.
    until_touch: bool,
    /// Where each cell of the registers is in the emulator's file, and how large.
    cells: Vec<(usize, usize)>,
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
        let registers = &subject.process.world().registers;
        let cells = registers
            .processor()
            .cells
            .iter()
            .map(|cell| (registers.offset(cell.place).unwrap_or(0), usize::from(cell.place.bytes)))
            .collect();
        constraint.here = Default::default();
        let mut shadow = Shadow::default();
        let placed = subject.placed.clone();
        for (source, address) in placed {
            for (offset, index) in subject.sources.range(source).enumerate() {
                let memory = &mut subject.process.world().memory;
                shadow.set_byte(memory, address + offset as u64, Some(terms[index]));
            }
        }
        Lockstep {
            subject,
            store,
            constraint,
            shadow,
            terms,
            approximate,
            trail: Trail::default(),
            evaluated: 0,
            until_touch,
            cells,
        }
    }

    /// Runs to the end, to a bound, or to a place to avoid.
    pub fn run(&mut self, steps: u64, avoid: &[u64]) -> Followed {
        let start = self.subject.process.time();
        loop {
            let pc = self.subject.process.pc();
            let time = self.subject.process.time();
            if time - start >= steps {
                self.constraint.bounds.insert(Bound::Steps(steps));
                break;
            }
            let Some(block) = self.subject.block(pc) else {
                // It cannot be fetched or lifted: the emulator says what comes of that.
                self.trail.enter(pc, time);
                match self.subject.process.run_until(time + 1) {
                    Some(_) => break,
                    None => continue,
                }
            };
            if avoid.iter().any(|address| block.holds(*address)) {
                break;
            }
            self.trail.enter(pc, time);
            self.constraint.here.blocks = self.trail.blocks;
            self.constraint.here.hash = self.trail.hash;
            match self.run_block(&block) {
                Ok(None) => {}
                Ok(Some(_)) | Err(Stopped) => break,
            }
        }
        self.subject.process.world().memory.set_guarding(true);
        Followed { trail: self.trail.clone(), evaluated: self.evaluated }
    }

    /// Takes all marks away: the emulator need not stop any more.
    pub fn unmark(&mut self) {
        for page in self.shadow.pages() {
            self.shadow.clear_range(&mut self.subject.process.world().memory, page * 4096, 4096);
        }
    }

    fn run_block(&mut self, block: &Block) -> Result<Option<Ending>, Stopped> {
        let mut from = 0;
        if !self.shadow.set.meets(&block.reads) {
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
        self.constraint.here.time = time;
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
        let world = self.subject.process.world();
        let processor = world.registers.processor().clone();
        let file = world.registers.bytes();
        let mut uses_input = false;
        let mut given: SmallVec<[(usize, Bits, Option<Shade>); 16]> = SmallVec::new();
        for &cell in &*analysed.touches {
            let cell = usize::from(cell);
            let (at, size) = self.cells[cell];
            let shade = self.shadow.cell(cell);
            uses_input |= shade.is_some();
            given.push((cell, Bits::from_le_bytes(&file[at..at + size]), shade));
        }
        let context = RefCell::new(Context {
            memory: &mut world.memory,
            shadow: &self.shadow,
            constraint: &mut self.constraint,
            writes: SmallVec::new(),
            faults: false,
            touches: false,
        });
        let reading = Concolic { store: self.store, machine: &context, approximate: self.approximate };
        let mut state: State<Concolic<'_>> = State::with_memory(&processor, ());
        for (cell, bits, shade) in given {
            let value = match shade {
                Some(Shade::Word(term)) => Value::Word(Word { bits, term: Some(term) }),
                Some(Shade::Truth(formula)) => {
                    Value::Truth(Truth { holds: !bits.is_zero(), formula: Some(formula) })
                }
                None => Value::Word(Word { bits, term: None }),
            };
            state.initialise(cell, value);
        }
        let after = exec(&reading, &analysed.lean, state).and_then(|after| {
            let target = after.read(&reading, processor.pc)?.word(&reading, processor.pc.width());
            Ok((after, target))
        });
        let (after, target) = match after {
            Ok(after) => after,
            Err(why) => {
                let context = context.into_inner();
                if (context.touches || uses_input) && !context.faults {
                    let what = format!("{why}, at {:#x}", analysed.instruction.address);
                    context.constraint.bounds.insert(Bound::Unsupported(what));
                }
                return Err(Refusal::Leave);
            }
        };
        let mut results: SmallVec<[(usize, Bits, Option<Shade>); 16]> = SmallVec::new();
        for cell in analysed.lean_writes.iter() {
            let Some(value) = after.known_cell(cell) else { continue };
            let width = processor.cells[cell].place.width();
            let (bits, shade) = match value {
                Value::Word(word) => (word.bits.clone(), word.term.map(Shade::Word)),
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
        let stops = !after.stops.is_empty() && after.stops.iter().any(|(_, trap)| *trap != Trap::SystemCall);
        drop(after);
        let context = context.into_inner();
        if context.faults || stops {
            return Err(Refusal::Leave);
        }
        if self.until_touch && (context.touches || uses_input) {
            return Err(Refusal::Touches);
        }
        let writes = context.writes;
        if uses_input || context.touches {
            self.evaluated += 1;
        }
        // From here on the instruction is made.
        let world = self.subject.process.world();
        for write in writes {
            if let Some(byte) = write.byte
                && world.memory.write(write.address, &[byte]).is_err()
            {
                return Err(Refusal::Leave);
            }
            self.shadow.set_byte(&mut world.memory, write.address, write.term);
        }
        for (cell, bits, shade) in results {
            let (at, size) = self.cells[cell];
            bits.write_le_bytes(&mut world.registers.bytes_mut()[at..at + size]);
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
            && matches!(event.decision, Decision::Branch(_))
        {
            event.decision = Decision::Branch(Some(if next == taken { otherwise } else { taken }));
        }
        Ok(())
    }

    /// Lets the emulator run one instruction; what it computes from the input counts as constant.
    fn leave(&mut self, analysed: &Analysed) -> Option<Ending> {
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
                self.shadow.set_byte(memory, page * 4096 + offset as u64, None);
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
            self.constraint
                .bounds
                .insert(Bound::Unsupported(String::from("a signal while registers depend on input")));
            let all: Vec<usize> = self.shadow.set.iter().collect();
            all.into_iter().for_each(|cell| self.shadow.set_cell(cell, None));
        }
    }

    /// Makes the system call at the program counter, and marks what it brings.
    fn system_call(&mut self) -> Result<Option<Ending>, Stopped> {
        let registers = &self.subject.process.world().registers;
        let processor = registers.processor().clone();
        let name = call_name(Processor::X86_64, registers.get("RAX")).unwrap_or("a system call");
        let names = ["RAX", "RDI", "RSI", "RDX", "R10", "R8", "R9"];
        let values = names.map(|name| registers.get(name));
        if self.until_touch && !self.subject.is_harmless(name, &values) {
            return Err(Stopped);
        }
        for (register, value) in names.iter().zip(values).take(1 + argument_count(name)) {
            let cell = processor.register(register).and_then(|r| processor.cell_at(r.place.offset));
            if let Some(Shade::Word(term)) = cell.and_then(|cell| self.shadow.cell(cell)) {
                let what = format!("an argument of the system call {name}");
                self.constraint.pin(term, &Bits::new(64, value.into()), &what);
            }
        }
        if let Some(at) = path_argument(name) {
            self.pin_text(values[at], name);
        }
        let time = self.subject.process.time();
        self.subject.shared.borrow_mut().brought = None;
        self.subject.process.start_journal();
        let ending = self.subject.process.run_until(time + 1);
        let journal = self.subject.process.take_journal();
        for written in ["RAX", "RCX", "R11"] {
            if let Some(cell) = processor.register(written).and_then(|r| processor.cell_at(r.place.offset)) {
                self.shadow.set_cell(cell, None);
            }
        }
        for (address, bytes) in &journal {
            let memory = &mut self.subject.process.world().memory;
            self.shadow.clear_range(memory, *address, bytes.len() as u64);
        }
        if matches!(name, "mmap" | "munmap" | "mremap" | "mprotect") {
            let result = self.subject.process.world().registers.get("RAX");
            let address = if name == "munmap" { values[1] } else { result };
            if name != "mprotect" && (result as i64) >= 0 {
                let memory = &mut self.subject.process.world().memory;
                self.shadow.clear_range(memory, address, values[2]);
            }
        }
        self.subject.remapped(name, &values);
        self.mark_brought(&journal, &values);
        if self.subject.process.threads().len() > 1 {
            self.constraint.bounds.insert(Bound::Unsupported(String::from("a second thread")));
            return Err(Stopped);
        }
        Ok(ending)
    }

    /// Gives bytes that came from an unknown source their terms.
    fn mark_brought(&mut self, journal: &[(u64, Vec<u8>)], values: &[u64; 7]) {
        let brought = self.subject.shared.borrow_mut().brought.take();
        let Some(brought) = brought else { return };
        let range = self.subject.sources.range(brought.source);
        let world = self.subject.process.world();
        let address = world.registers.get("RAX");
        let memory = &mut world.memory;
        let mut mark = |address: u64, offset: u64| {
            let index = range.start as u64 + offset;
            if index < range.end as u64 {
                self.shadow.set_byte(memory, address, Some(self.terms[index as usize]));
            }
        };
        if brought.mapped {
            let [_, _, length, _, _, _, offset] = *values;
            (0..length.min(range.len() as u64)).for_each(|at| mark(address + at, offset + at));
            return;
        }
        let mut offset = brought.from;
        for (address, bytes) in journal {
            for index in 0..bytes.len() as u64 {
                mark(address + index, offset);
                offset += 1;
            }
        }
    }

    /// A name that a call was given is taken as it is: only the kernel knows what becomes of others.
    fn pin_text(&mut self, address: u64, name: &str) {
        for at in address..address.saturating_add(4096) {
            let byte = self.subject.process.peek(at, 1);
            let Some(&byte) = byte.first() else { return };
            if let Some(term) = self.shadow.byte(at) {
                let what = format!("a name given to the system call {name}");
                self.constraint.pin(term, &Bits::new(8, byte.into()), &what);
            }
            if byte == 0 {
                return;
            }
        }
    }
}

/// The run goes no further, by its own rules.
struct Stopped;

/// How many arguments of a call count; all of those not named here.
fn argument_count(name: &str) -> usize {
    match name {
        // The status of a program decides nothing in it.
        "exit" | "exit_group" | "getpid" | "gettid" | "getuid" | "geteuid" | "getgid" | "getegid"
        | "sched_yield" | "fork" | "vfork" => 0,
        "close" | "brk" | "dup" | "umask" | "unlink" | "rmdir" | "chdir" | "fsync" | "sysinfo" | "uname"
        | "time" | "pipe" | "set_tid_address" => 1,
        "fstat" | "stat" | "lstat" | "munmap" | "access" | "getcwd" | "dup2" | "nanosleep"
        | "clock_gettime" | "gettimeofday" | "kill" | "ftruncate" | "arch_prctl" | "getrlimit" | "mkdir"
        | "rename" | "sigaltstack" => 2,
        "read" | "write" | "open" | "lseek" | "mprotect" | "ioctl" | "readv" | "writev" | "fcntl"
        | "poll" | "getdents64" | "readlink" | "tgkill" | "getrandom" | "madvise" | "faccessat"
        | "unlinkat" => 3,
        "openat" | "newfstatat" | "pread64" | "pwrite64" | "rt_sigaction" | "rt_sigprocmask"
        | "prlimit64" | "clock_nanosleep" => 4,
        "statx" | "select" | "mremap" => 5,
        _ => 6,
    }
}

/// Which register of a call points to the name of a file.
fn path_argument(name: &str) -> Option<usize> {
    match name {
        "open" | "stat" | "lstat" | "access" | "unlink" | "mkdir" | "rmdir" | "chdir" | "execve"
        | "rename" | "readlink" | "truncate" => Some(1),
        "openat" | "newfstatat" | "faccessat" | "faccessat2" | "statx" | "unlinkat" | "mkdirat"
        | "readlinkat" => Some(2),
        _ => None,
    }
}
