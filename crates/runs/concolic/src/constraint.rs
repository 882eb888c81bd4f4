//! The path constraint of a run (Fig. 7 of the paper), and what it says about inputs that go another way.
//!
//! The constraint is a list of [`Event`]s, each a formula that held. To go the other way at one of them, its negation has
//! to hold together with the events before it that share input bytes with it, directly or through others: the rest holds
//! already, and its bytes stay as they are.

use crate::dependence::{Dependence, Set};
use crate::input::Input;
use crate::reach::{self, Reach};
use parallax_op::{BinOp, Bits, RelOp};
use parallax_path::{Bound, Ledger, Oracle};
use parallax_sem::Concrete;
use parallax_sem::logic::Evaluation;
use parallax_smt::{Answer, Enumeration, Reason, Stop};
use parallax_term::{Expr, Formula, Node, Store, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// The place in a run at which something was decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The address of the instruction.
    pub pc: u64,
    /// Instructions before it.
    pub time: u64,
    /// Blocks entered so far, that of the instruction included.
    pub blocks: u64,
    /// A checksum of their addresses.
    pub hash: u64,
    /// Whether it is in a function that leaves no trace: predictions say nothing of its blocks.
    pub aside: bool,
    /// Whether it is an instruction of such a function, which is followed. All of these have the time of the call, since runs
    /// that go the same way may need other numbers of instructions in it.
    pub inside: bool,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Which way a branch, a trap or a repetition went; where it goes otherwise, if that is another block.
    Branch(Option<u64>),
    /// Where a computed jump went.
    Jump(Term),
    /// That a number, an address mostly, lies in the window that was looked at: from the first to the last.
    Window(Term, u64, u64),
    /// That a value is what it was on this run: not to be changed, since only this run can tell what comes of it.
    Pinned,
}

/// One conjunct of the path constraint.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// What held.
    pub formula: Formula,
    /// What it decided.
    pub decision: Decision,
    /// Where.
    pub place: Place,
    /// Its index among the events of its time. Times and indices grow along a run.
    pub number: u32,
}

/// How far the events of an input were looked at before it ran, on the runs that it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    /// The time of the last of them.
    pub time: u64,
    /// The how-manieth at that time it is.
    pub number: u32,
    /// The windows that were looked at in its place, if it is one: there may be more.
    pub windows: Vec<(u64, u64)>,
}

/// An input that goes another way at an event.
#[derive(Clone, Debug)]
pub struct Flip {
    /// The index of the event.
    pub event: usize,
    /// What need not be looked at again on the run of the input.
    pub looked: Looked,
    /// The input.
    pub input: Input,
    /// The block that comes behind the event then, if it is known.
    pub next: Option<u64>,
}

/// The index of the first event inside a function that leaves no trace: what its summary asks, where there is one, comes before
/// whatever its instructions do.
const INSIDE: u32 = 1 << 16;
/// How many targets of one computed jump are asked for.
const MOST_TARGETS: usize = 64;
/// How often a question is asked with more events before it is asked with all.
const ROUNDS: usize = 8;
/// How long one question about the range of an address may take, and all of them during one run.
const RANGE_QUESTION: Duration = Duration::from_millis(500);
const RANGE_TIME: Duration = Duration::from_secs(10);

/// How long to wait for the answer to one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// So long; what takes longer is left for later.
    Short(Duration),
    /// As long as the solver may take for one question; what takes longer is left for later.
    Question,
    /// What is not answered now is a bound.
    Last,
}

/// Which events were not answered.
pub struct Left {
    /// How many there was no time for.
    pub late: usize,
    /// Those that took too long: the time of each, and its number there.
    pub hard: Vec<(u64, u32)>,
}

/// The constraint of a run, as far as the run has come.
pub struct Constraint<'s> {
    /// Where formulas live.
    pub store: &'s Store,
    /// Whom to ask.
    pub oracle: Oracle<'s>,
    /// The conjuncts.
    pub events: Vec<Event>,
    /// What was not followed.
    pub ledger: Ledger,
    /// Where the run is.
    pub here: Place,
    known: FxHashSet<Formula>,
    dependence: Dependence,
    input: Input,
    /// The input bytes that each event speaks of.
    bytes: Vec<Set>,
    groups: Groups,
    asked_for_ranges: Duration,
    /// How far below and above its value on this run a term can be, and in which steps: it stays true as the path grows.
    distances: FxHashMap<Term, (u64, u64, u16)>,
}

impl<'s> Constraint<'s> {
    /// The constraint that always holds. `terms` are the bytes of the input.
    pub fn new(oracle: Oracle<'s>, input: &[u8], terms: &[Term]) -> Self {
        let store = oracle.store;
        let symbol = |term: &Term| store.symbols_in([term.id()])[0];
        let dependence = Dependence::new(terms.iter().map(symbol));
        Constraint {
            store,
            oracle,
            events: Vec::new(),
            ledger: Ledger::default(),
            here: Place::default(),
            known: FxHashSet::default(),
            dependence,
            input: input.to_vec(),
            bytes: Vec::new(),
            groups: Groups::new(input.len()),
            asked_for_ranges: Duration::ZERO,
            distances: FxHashMap::default(),
        }
    }

    /// Adds what held at this place of the run.
    pub fn push(&mut self, formula: Formula, decision: Decision) {
        if self.store.as_boolean(formula) == Some(true) || !self.known.insert(formula) {
            return;
        }
        let same = self.events.last().filter(|last| last.place.time == self.here.time);
        let number = same.map_or(0, |last| last.number + 1).max(if self.here.inside { INSIDE } else { 0 });
        let set = self.dependence.of(self.store, formula.id());
        self.groups.join(&self.dependence, set, self.events.len());
        self.bytes.push(set);
        self.events.push(Event { formula, decision, place: self.here, number });
    }

    /// Notes that only this value of a term was followed.
    pub fn pin(&mut self, term: Term, value: &Bits, what: &str) {
        let formula = self.store.eq(term, self.store.constant(value));
        if !self.known.contains(&formula) {
            self.ledger.note(Bound::Values(1, what.to_owned()));
            self.push(formula, Decision::Pinned);
        }
    }

    /// Whether a formula can hold on this path; unknown counts as yes.
    fn is_possible(&mut self, formula: Formula) -> bool {
        let set = self.dependence.of(self.store, formula.id());
        let related = self.groups.events(&self.dependence, set);
        let mut query: Vec<Formula> = related.into_iter().map(|event| self.events[event].formula).collect();
        query.push(formula);
        let start = Instant::now();
        self.oracle.set_deadline(Some(start + RANGE_QUESTION));
        let answer = self.oracle.check(&query);
        self.oracle.set_deadline(None);
        self.asked_for_ranges += start.elapsed();
        !matches!(answer, Answer::Unsat)
    }

    /// Addresses that a term can be on this path, and whether they are all: by its shape, or as far as the solver can show.
    pub fn reach(&mut self, term: Term, value: u64, most: u64, few: u64) -> (Reach, bool) {
        let base = without_constant(self.store, term);
        if let Some(&(below, above, shift)) = self.distances.get(&base)
            && let (Some(first), Some(_)) = (value.checked_sub(below), value.checked_add(above))
            && (below + above) >> shift < most
        {
            return (Reach { first, shift, count: ((below + above) >> shift) + 1 }, true);
        }
        let shape = reach::reach(self.store, term, value);
        let (found, all) = match shape {
            Some(shape) if shape.count <= most => (shape, true),
            shape => self.narrowed(term, value, shape, most, few),
        };
        if all {
            self.learn(term, value, found);
        }
        (found, all)
    }

    /// Takes note of the addresses that a term can be from here on. What differs from it by a constant only is as far
    /// from its value on this run.
    pub fn learn(&mut self, term: Term, value: u64, reach: Reach) {
        let base = without_constant(self.store, term);
        self.distances.insert(base, (value - reach.first, reach.last() - value, reach.shift));
    }

    /// Addresses that a term can be on this path: fewer than `reach`, if the solver can show that; whether they are all.
    fn narrowed(
        &mut self,
        term: Term,
        value: u64,
        reach: Option<Reach>,
        most: u64,
        few: u64,
    ) -> (Reach, bool) {
        let shift = reach.map_or(0, |reach| reach.shift);
        let (lowest, highest) = reach.map_or((0, u64::MAX), |reach| (reach.first, reach.last()));
        let store = self.store;
        let number = |value: u64| store.number(64, value.into());
        let (mut low, mut high) = (None, None);
        let mut distance = 8u64;
        while distance <= most && self.asked_for_ranges < RANGE_TIME && (low.is_none() || high.is_none()) {
            let span = distance << shift;
            if high.is_none() {
                let end = value.saturating_add(span);
                if end >= highest {
                    high = Some(highest);
                } else if !self.is_possible(store.relop(RelOp::Ugt, term, number(end))) {
                    high = Some(end);
                }
            }
            if low.is_none() {
                let start = value.saturating_sub(span);
                if start <= lowest {
                    low = Some(lowest);
                } else if !self.is_possible(store.relop(RelOp::Ult, term, number(start))) {
                    low = Some(start);
                }
            }
            distance *= 4;
        }
        let all = Reach { first: value & ((1 << shift) - 1), shift, count: (u64::MAX >> shift).max(1) };
        let all = reach.unwrap_or(all);
        if let (Some(low), Some(high)) = (low, high)
            && let Some(found) = all.within(low, high)
        {
            return (found, true);
        }
        // An aligned window, so that runs on one path look at one window wherever in it they are.
        let size = few << shift;
        let first = value & !(size - 1);
        let window = all.within(first, first.saturating_add(size - 1));
        (window.unwrap_or(Reach { first: value, shift, count: 1 }), false)
    }

    /// That an address lies between two others.
    pub fn between(&self, term: Term, low: u64, high: u64) -> Formula {
        let store = self.store;
        let number = |value: u64| store.number(64, value.into());
        let above = store.binop(BinOp::Sub, term, number(low));
        store.relop(RelOp::Ule, above, number(high.wrapping_sub(low)))
    }

    /// The events that were not looked at before. A window is looked at again as long as there may be another.
    pub fn open(&self, looked: Option<&Looked>) -> Vec<usize> {
        let is_open = |event: &Event| {
            let at = (event.place.time, event.number);
            looked.is_none_or(|looked| {
                let last = (looked.time, looked.number);
                at > last || at == last && !looked.windows.is_empty()
            })
        };
        let events = self.events.iter().enumerate();
        let open = events
            .filter(|(_, event)| event.decision != Decision::Pinned && is_open(event))
            .map(|(at, _)| at);
        open.collect()
    }

    /// What is looked at once an event has been, given what was before.
    fn looked_at(&self, event: &Event, before: Option<&Looked>) -> Looked {
        let (time, number) = (event.place.time, event.number);
        let Decision::Window(_, first, last) = event.decision else {
            return Looked { time, number, windows: Vec::new() };
        };
        let before = before.filter(|looked| (looked.time, looked.number) == (time, number));
        let mut windows = before.map_or_else(Vec::new, |looked| looked.windows.clone());
        windows.push((first, last));
        Looked { time, number, windows }
    }

    /// Inputs that go another way at events, handed to `found` one by one in the order of `order`. `looked` says what the
    /// input of this run was made to change.
    pub fn flips(
        &mut self,
        order: &[usize],
        looked: Option<&Looked>,
        deadline: Instant,
        patience: Patience,
        mut found: impl FnMut(&Constraint<'s>, Flip),
    ) -> Left {
        // Groups as they are before each event: events are put in again one by one.
        let mut groups = Groups::new(self.input.len());
        let mut queries: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        let wanted: FxHashSet<usize> = order.iter().copied().collect();
        for (index, &set) in self.bytes.iter().enumerate() {
            if wanted.contains(&index) {
                queries.insert(index, groups.events(&self.dependence, set));
            }
            groups.join(&self.dependence, set, index);
        }
        let mut hard = Vec::new();
        // All but the last formula of a question hold for the run's own input.
        self.oracle.begin_at(&self.interpretation(&self.input));
        for (done, &index) in order.iter().enumerate() {
            let now = Instant::now();
            if now >= deadline {
                self.ledger.note(Bound::Solver(Reason::Time));
                return Left { late: order.len() - done, hard };
            }
            let soon = match patience {
                // Where some questions of a run are hard, so are most: each of them leaves less for the next.
                Patience::Short(time) => deadline.min(now + time / (1 << hard.len().min(5))),
                Patience::Question => deadline,
                // The questions that are left share the time that is left.
                Patience::Last => now + (deadline - now) / (order.len() - done) as u32,
            };
            self.oracle.set_deadline(Some(soon));
            let event = self.events[index];
            let mut unknown = None;
            let before = &queries[&index];
            let mut other = vec![self.store.not(event.formula)];
            let looked = self.looked_at(&event, looked);
            if let Decision::Window(term, ..) = event.decision {
                let others = looked.windows.iter().map(|&(low, high)| self.between(term, low, high));
                other.extend(others.map(|other| self.store.not(other)));
            }
            match event.decision {
                Decision::Pinned => {}
                Decision::Branch(_) | Decision::Window(..) => match self.solve(before, index, &other) {
                    Ok(Some(input)) => {
                        let next = match event.decision {
                            Decision::Branch(next) => next,
                            _ => None,
                        };
                        found(self, Flip { event: index, looked, input, next });
                    }
                    Ok(None) => {}
                    Err(reason) => unknown = Some(reason),
                },
                Decision::Jump(target) => {
                    let mut query = self.formulas(before);
                    query.append(&mut other);
                    unknown = self.targets(index, &looked, target, query, &mut found);
                }
            }
            match unknown {
                Some(Reason::Time) if patience != Patience::Last => {
                    hard.push((event.place.time, event.number));
                }
                Some(reason) => {
                    self.ledger.note(Bound::Solver(reason));
                }
                None => {}
            }
        }
        Left { late: 0, hard }
    }

    fn formulas(&self, events: &[usize]) -> Vec<Formula> {
        events.iter().map(|&event| self.events[event].formula).collect()
    }

    /// An input that goes as this run does at the events `before` and for which `other` holds at `event`, if there is one.
    ///
    /// Most events put up with most inputs, and a question is the harder the more it holds. So only those are asked for at
    /// first that speak of no byte beyond those of the event; an answer is tried on all, and those that it breaks are asked
    /// for with the next.
    fn solve(&mut self, before: &[usize], event: usize, other: &[Formula]) -> Result<Option<Input>, Reason> {
        let own: FxHashSet<usize> = self.dependence.bytes(self.bytes[event]).collect();
        let is_near =
            |&event: &usize| self.dependence.bytes(self.bytes[event]).all(|byte| own.contains(&byte));
        let (mut asked, mut rest): (Vec<usize>, Vec<usize>) = before.iter().copied().partition(is_near);
        let mut round = 0;
        loop {
            if round == ROUNDS {
                asked.append(&mut rest);
            }
            let mut query = self.formulas(&asked);
            query.extend(other);
            let input = match self.oracle.check(&query) {
                Answer::Sat(model) => self.changed(&query, &model),
                Answer::Unsat => return Ok(None),
                Answer::Unknown(reason) => return Err(reason),
            };
            let broken = self.broken(&rest, &input);
            if broken.is_empty() {
                return Ok(Some(input));
            }
            rest.retain(|event| !broken.contains(event));
            asked.extend(broken);
            round += 1;
        }
    }

    /// The events that an input does not hold at, of those given.
    fn broken(&self, events: &[usize], input: &Input) -> FxHashSet<usize> {
        let is_changed = |&event: &usize| {
            self.dependence.bytes(self.bytes[event]).any(|byte| input[byte] != self.input[byte])
        };
        let events: Vec<usize> = events.iter().copied().filter(is_changed).collect();
        let model = self.interpretation(input);
        let roots = events.iter().map(|&event| self.events[event].formula.id());
        let evaluation = Evaluation::of(&Concrete, self.store, model.structure(), roots);
        events.into_iter().filter(|&event| !evaluation.truth(self.events[event].formula)).collect()
    }

    /// Inputs for the other targets of a computed jump; why the solver does not know of more, if it does not.
    fn targets(
        &mut self,
        event: usize,
        looked: &Looked,
        target: Term,
        query: Vec<Formula>,
        found: &mut impl FnMut(&Constraint<'s>, Flip),
    ) -> Option<Reason> {
        let mut unknown = None;
        let Enumeration { found: values, stopped } = self.oracle.values(&query, target, MOST_TARGETS);
        match stopped {
            Some(Stop::Most) => {
                self.ledger.note(Bound::Candidates(MOST_TARGETS, "targets of a computed jump".into()));
            }
            Some(Stop::Unknown(reason)) => unknown = Some(reason),
            None => {}
        }
        for value in values {
            let mut query = query.clone();
            query.push(self.store.eq(target, self.store.constant(&value)));
            match self.oracle.check(&query) {
                Answer::Sat(model) => {
                    let input = self.changed(&query, &model);
                    found(self, Flip { event, looked: looked.clone(), input, next: value.to_u64() });
                }
                Answer::Unsat => {}
                Answer::Unknown(reason) => unknown = Some(reason),
            }
        }
        unknown
    }

    /// An input, as an interpretation. The run's own holds at all events.
    fn interpretation(&self, input: &Input) -> parallax_smt::Model {
        let mut model = parallax_smt::Model::new();
        for symbol in self.store.symbols() {
            if let Some(range) = self.dependence.range(symbol) {
                model.set_bits(symbol, Bits::from_le_bytes(&input[range]));
            }
        }
        model
    }

    /// The input with the bytes that a query speaks of as in its model.
    fn changed(&self, query: &[Formula], model: &parallax_smt::Model) -> Input {
        let mut input = self.input.clone();
        for symbol in self.store.symbols_in(query.iter().map(|formula| formula.id())) {
            if let (Some(range), Expr::Term(term)) =
                (self.dependence.range(symbol), self.store.expr_of(symbol))
            {
                model.term(self.store, term).write_le_bytes(&mut input[range]);
            }
        }
        input
    }
}

/// A term without a constant that is added to it.
fn without_constant(store: &Store, term: Term) -> Term {
    match store.node(term) {
        Node::Bin(BinOp::Add, a, b) if store.as_constant(b).is_some() => a,
        Node::Bin(BinOp::Add, a, b) if store.as_constant(a).is_some() => b,
        _ => term,
    }
}

/// Input bytes that events tie together, and the events of each group.
struct Groups {
    parent: Vec<usize>,
    events: Vec<Vec<usize>>,
    /// A byte of each set whose bytes are one group already.
    joined: FxHashMap<Set, usize>,
}

impl Groups {
    fn new(bytes: usize) -> Self {
        let joined = FxHashMap::default();
        Groups { parent: (0..bytes).collect(), events: vec![Vec::new(); bytes], joined }
    }

    fn root(&mut self, mut byte: usize) -> usize {
        while self.parent[byte] != byte {
            self.parent[byte] = self.parent[self.parent[byte]];
            byte = self.parent[byte];
        }
        byte
    }

    fn join(&mut self, dependence: &Dependence, set: Set, event: usize) {
        if let Some(&byte) = self.joined.get(&set) {
            let root = self.root(byte);
            self.events[root].push(event);
            return;
        }
        let mut bytes = dependence.bytes(set);
        let Some(first) = bytes.next() else { return };
        let mut into = self.root(first);
        for byte in bytes {
            let other = self.root(byte);
            if other != into {
                // The smaller list moves.
                let (small, large) = if self.events[other].len() > self.events[into].len() {
                    (into, other)
                } else {
                    (other, into)
                };
                self.parent[small] = large;
                let moved = std::mem::take(&mut self.events[small]);
                self.events[large].extend(moved);
                into = large;
            }
        }
        self.joined.insert(set, first);
        self.events[into].push(event);
    }

    /// The events of the groups of these bytes, in order.
    fn events(&mut self, dependence: &Dependence, set: Set) -> Vec<usize> {
        let roots: BTreeSet<usize> = match self.joined.get(&set) {
            Some(&byte) => BTreeSet::from([self.root(byte)]),
            None => dependence.bytes(set).map(|byte| self.root(byte)).collect(),
        };
        let mut events: Vec<usize> =
            roots.iter().flat_map(|&root| self.events[root].iter().copied()).collect();
        events.sort_unstable();
        events
    }
}
