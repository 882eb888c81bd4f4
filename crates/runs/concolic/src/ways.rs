//! All ways from a moment to the return of its function, as one change of the state.
//!
//! Each way is run with both halves, every instruction over terms; the events of its path constraint give the inputs of
//! the others, as in a search. Their conditions exclude each other, and a value is a choice between what they end with.

use crate::concrete::{Outcome, ended};
use crate::constraint::{Constraint, Looked, Patience};
use crate::input::Input;
use crate::lockstep::{Lockstep, Stop, Watch};
use crate::shadow::Shade;
use crate::subject::Subject;
use parallax_ir::RegisterKind;
use parallax_ir::meaning::MEMORY;
use parallax_op::Bits;
use parallax_path::{Bound, Oracle};
use parallax_process::Snapshot;
use parallax_process::memory::Memory;
use parallax_smt::Limits;
use parallax_term::{Formula, Scalar, Sort, Store, StructUpdate, SymbolKind, Term};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How far ways are followed.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// Instructions of one way.
    pub steps: u64,
    /// How many ways.
    pub ways: u64,
    /// How long in all.
    pub time: Option<Duration>,
    /// How long one question to the solver may take.
    pub solver_time: Duration,
}

/// One way.
#[derive(Clone, Debug)]
pub struct Way {
    /// From which unknown parts it is taken.
    pub condition: Formula,
    /// An input that takes it.
    pub input: Input,
    /// How it ended, if not by returning.
    pub outcome: Option<Outcome>,
    /// The points that it came to, in order.
    pub visited: Vec<u64>,
}

/// All of them.
pub struct Ways {
    /// What becomes of registers and memory, where the function returns.
    pub update: StructUpdate,
    /// When it returns, as far as is known.
    pub complete: Formula,
    /// Each way.
    pub ways: Vec<Way>,
    /// What was not followed.
    pub bounds: BTreeSet<Bound>,
}

/// What a way that returned has changed.
struct Change {
    condition: Formula,
    cells: BTreeMap<usize, Scalar>,
    memory: BTreeMap<u64, Term>,
}

/// Follows all ways from where the subject is. `points` are places to take note of.
///
/// The process of the subject is used up: it is to be a fork that ends with this.
pub fn follow(subject: &mut Subject, store: &Store, first: &Input, reach: &Reach, points: &[u64]) -> Ways {
    let deadline = reach.time.map(|time| Instant::now() + time);
    let late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let far = Instant::now() + Duration::from_secs(86_400 * 365);
    let terms = subject.sources.terms(store);
    let limits = Limits { time: Some(reach.solver_time), ..Limits::default() };
    let mut oracle = Oracle::new(parallax_smt::solver(store)).with_limits(limits);
    let start = subject.process.snapshot();
    let mut initial = Initial::new(subject, start.memory());
    let mut waiting: Vec<(Input, Option<Looked>)> = vec![(first.clone(), None)];
    let mut seen: FxHashSet<Input> = FxHashSet::default();
    let (mut ways, mut changes, mut bounds) = (Vec::new(), Vec::new(), BTreeSet::new());
    while let Some((input, looked)) = waiting.pop() {
        if ways.len() as u64 >= reach.ways {
            bounds.insert(Bound::Paths(reach.ways));
            break;
        }
        if late() {
            bounds.insert(Bound::Time(reach.time.unwrap_or_default()));
            break;
        }
        subject.process.go_back(&start);
        subject.give_again(&input);
        let constraint = Constraint::new(oracle, &input, &terms);
        let mut run = Lockstep::new(subject, constraint, terms.clone(), false, false);
        run.watch = Some(Watch::new(points));
        let followed = run.run(reach.steps, &[]);
        let watch = run.watch.take().expect("just set");
        let condition =
            run.constraint.events.iter().fold(store.true_(), |all, event| store.and(all, event.formula));
        let outcome = match followed.stop {
            Stop::Returned => {
                let change = initial.change(&mut run, condition, &watch.written);
                changes.push(change);
                None
            }
            Stop::Ended(ending) => Some(ended(ending)),
            Stop::Given => Some(Outcome::Steps),
        };
        run.unmark();
        let mut constraint = run.constraint;
        let order = constraint.open(looked.as_ref());
        let until = deadline.unwrap_or(far);
        let left = constraint.flips(&order, looked.as_ref(), until, Patience::Last, |_, flip| {
            if seen.insert(flip.input.clone()) {
                waiting.push((flip.input, Some(flip.looked)));
            }
        });
        if left.late > 0 {
            bounds.insert(Bound::Time(reach.time.unwrap_or_default()));
        }
        bounds.extend(constraint.ledger.entries().into_iter().map(|entry| entry.bound));
        oracle = constraint.oracle;
        ways.push(Way { condition, input, outcome, visited: watch.visited });
    }
    let returned: Vec<Formula> = changes.iter().map(|change| change.condition).collect();
    let is_all = bounds.is_empty() && returned.len() == ways.len();
    let complete = if is_all {
        store.true_()
    } else {
        returned.into_iter().fold(store.false_(), |any, condition| store.or(any, condition))
    };
    Ways { update: merged(subject, store, &mut initial, &changes), complete, ways, bounds }
}

/// The state in which a function has returned.
pub struct Returned {
    /// Registers, by the names of their cells.
    pub registers: BTreeMap<String, Bits>,
    /// Memory.
    pub memory: Memory,
}

impl Subject {
    /// The state that it is in.
    pub fn mark(&mut self) -> Snapshot {
        self.process.snapshot()
    }

    /// Goes back to a state it was in. Files that are open stay as they are.
    pub fn back_to(&mut self, mark: &Snapshot) {
        self.process.go_back(mark);
    }

    /// What the function of the moment returns with on one input, by the emulator alone; nothing if it does not return
    /// within so many instructions. The subject is at the moment again afterwards.
    pub fn returned(&mut self, input: &[u8], steps: u64) -> Option<Returned> {
        let start = self.process.snapshot();
        self.give_again(input);
        let until = self.process.time() + steps;
        let mut ending = None;
        while !self.has_returned() && ending.is_none() && self.process.time() < until {
            ending = crate::concrete::block(self);
        }
        let layout = self.layout.clone();
        let returned = self.has_returned().then(|| {
            let registers = &self.process.world().registers;
            let cells = registers.processor().cells.iter().enumerate();
            let value = |index: usize| Bits::from_le_bytes(&registers.bytes()[layout.place(index)]);
            let registers = cells.map(|(index, cell)| (cell.name.clone(), value(index))).collect();
            Returned { registers, memory: self.process.snapshot().memory() }
        });
        self.process.go_back(&start);
        returned
    }
}

/// The state at the moment.
struct Initial {
    memory: Memory,
    registers: Vec<u8>,
    /// Bytes and cells that are unknown.
    bytes: BTreeMap<u64, Term>,
    cells: BTreeMap<usize, Term>,
}

impl Initial {
    fn new(subject: &mut Subject, memory: Memory) -> Initial {
        let registers = subject.process.world().registers.bytes().to_vec();
        Initial { memory, registers, bytes: BTreeMap::new(), cells: BTreeMap::new() }
    }

    fn byte(&mut self, store: &Store, address: u64) -> Option<Term> {
        if let Some(term) = self.bytes.get(&address) {
            return Some(*term);
        }
        let mut byte = [0];
        self.memory.read(address, &mut byte).ok()?;
        Some(store.number(8, byte[0].into()))
    }

    /// What a run that has come to its end has changed.
    fn change(&mut self, run: &mut Lockstep<'_, '_>, condition: Formula, written: &BTreeSet<u64>) -> Change {
        let store = run.constraint.store;
        if self.bytes.is_empty() && self.cells.is_empty() {
            let (bytes, cells) = run.unknown();
            self.bytes = bytes;
            self.cells = cells;
        }
        let layout = run.subject.layout.clone();
        let world = run.subject.process.world();
        let processor = world.registers.processor().clone();
        let stack = world.registers.get("RSP");
        let below = world.memory.region_at(stack).map_or(stack, |(start, _)| start);
        let mut cells = BTreeMap::new();
        for (index, cell) in processor.cells.iter().enumerate() {
            let place = layout.place(index);
            let now = &world.registers.bytes()[place.clone()];
            let shade = run.shadow.cell(index);
            if cell.place == processor.pc
                || shade.is_none() && *now == self.registers[place] && !self.cells.contains_key(&index)
            {
                continue;
            }
            let value = match shade {
                Some(Shade::Word(term)) => Scalar::Term(term),
                Some(Shade::Truth(formula)) => Scalar::Formula(formula),
                None => constant(store, cell.kind, now),
            };
            cells.insert(index, value);
        }
        let mut memory = BTreeMap::new();
        for &address in written.iter().filter(|address| !(below..stack).contains(*address)) {
            let term = match run.shadow.byte(address) {
                Some(part) => store.extract(part.of, 8 * u16::from(part.byte), 8),
                None => {
                    let mut byte = [0];
                    if run.subject.process.world().memory.read(address, &mut byte).is_err() {
                        continue;
                    }
                    store.number(8, byte[0].into())
                }
            };
            if self.byte(store, address) != Some(term) {
                memory.insert(address, term);
            }
        }
        Change { condition, cells, memory }
    }
}

fn constant(store: &Store, kind: RegisterKind, bytes: &[u8]) -> Scalar {
    match kind {
        RegisterKind::Word => Scalar::Term(store.constant(&Bits::from_le_bytes(bytes))),
        RegisterKind::Flag => Scalar::Formula(store.boolean(bytes.iter().any(|byte| *byte != 0))),
    }
}

/// One change of the state: a choice between those of all ways.
fn merged(subject: &mut Subject, store: &Store, initial: &mut Initial, changes: &[Change]) -> StructUpdate {
    let mut update = StructUpdate::identity();
    let layout = subject.layout.clone();
    let processor = subject.process.world().registers.processor().clone();
    let touched: BTreeSet<usize> = changes.iter().flat_map(|change| change.cells.keys().copied()).collect();
    for index in touched {
        let cell = &processor.cells[index];
        let sort = match cell.kind {
            RegisterKind::Word => Sort::Bits(cell.place.width()),
            RegisterKind::Flag => Sort::Bool,
        };
        let symbol = store.declare(&cell.name, sort, SymbolKind::Free);
        let before = match initial.cells.get(&index) {
            Some(term) => Scalar::Term(*term),
            None => constant(store, cell.kind, &initial.registers[layout.place(index)]),
        };
        let value = changes
            .iter()
            .rev()
            .map(|change| (change.condition, change.cells.get(&index).copied().unwrap_or(before)))
            .reduce(|(_, otherwise), (condition, value)| {
                let chosen = match (value, otherwise) {
                    (Scalar::Term(t), Scalar::Term(e)) => Scalar::Term(store.ite(condition, t, e)),
                    (Scalar::Formula(t), Scalar::Formula(e)) => {
                        Scalar::Formula(store.ite_bool(condition, t, e))
                    }
                    _ => unreachable!("a cell has one sort"),
                };
                (condition, chosen)
            });
        if let Some((_, value)) = value {
            update.set_constant(store, symbol, value);
        }
    }
    let memory = store.declare(MEMORY, Sort::Map { key: 64, value: 8 }, SymbolKind::Free);
    let mut map = update.function(store, memory);
    let touched: BTreeSet<u64> = changes.iter().flat_map(|change| change.memory.keys().copied()).collect();
    for address in touched {
        let before = initial.byte(store, address).unwrap_or_else(|| store.number(8, 0));
        let value = changes
            .iter()
            .rev()
            .map(|change| (change.condition, change.memory.get(&address).copied().unwrap_or(before)))
            .reduce(|(_, otherwise), (condition, value)| (condition, store.ite(condition, value, otherwise)));
        if let Some((_, value)) = value {
            map = store.update(map, store.number(64, address.into()), value);
        }
    }
    update.set_function(store, memory, map);
    update
}
