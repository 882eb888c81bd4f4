//! Symbolic evaluation: a program, or a path through it, as one structure update.
//!
//! States wait in a list, in the order of [`crate::order`]; two that wait at one place, with the same control, are
//! joined. A procedure is evaluated once, from a formal activation record, and its summary is then composed with the
//! state of each caller instead of being explored again ([`crate::summary`]). Where control goes that a reading cannot
//! tell is decided in [`crate::leaving`].

use crate::order::{Order, When};
use crate::summary::Summary;
use crate::table::Tables;
use parallax_op::Bits;
use parallax_path::Bound;
use parallax_sem::logic::{self, Struct};
use parallax_sem::{ConstantTables, Core, Language, Origin, Procedures, Stuck, Symbolic};
use parallax_smt::Solver;
use parallax_term::{Expr, Formula, Scalar, Sort, Store, StructUpdate, SymbolKind, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How often one path may jump back to the same instruction on conditions that the input decides.
    pub unroll: u32,
    /// How many instructions to evaluate in all.
    pub steps: u64,
    /// How long all of it may take.
    pub time: Option<Duration>,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { unroll: 64, steps: 10_000_000, time: None }
    }
}

/// What evaluation found.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The state change, for the initial states that `complete` describes.
    pub update: StructUpdate,
    /// The initial states for which evaluation came to the end of the program, or of the path.
    pub complete: Formula,
    /// What kept it from the end elsewhere, if anything.
    pub gave_up: Vec<Bound>,
    /// The program counter at the end.
    pub pc: Term,
}

/// What was taken for granted, and used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assumption {
    /// What people call it.
    pub name: &'static str,
    /// When it does not hold, and nothing is said.
    pub breaks: Formula,
}

/// The stack that a function uses is apart from the objects that its arguments, globals and memory point to.
pub const STACK_APART: &str = "stack-apart";

/// A language as symbolic evaluation needs it.
pub trait Program: Procedures + ConstantTables {}

impl<L: Procedures + ConstantTables> Program for L {}

/// What was assumed and used so far, in all that was computed in a store. Asked for last: a formula that is read into a
/// state change may be the first to use an assumption.
pub fn assumptions(store: &Store) -> Vec<Assumption> {
    let breaks = store.apart_breaks();
    let is_used = breaks != store.false_();
    is_used.then_some(Assumption { name: STACK_APART, breaks }).into_iter().collect()
}

impl Evaluation {
    /// The weakest liberal precondition of `post`: every initial state from which the program, if it comes to its end,
    /// ends in a state with `post`. States that do not come to it satisfy it: those for which evaluation gave up, which
    /// [`Evaluation::gave_up`] tells, and those from which an instruction faults. A `post` that speaks of faults is taken
    /// as it is.
    pub fn precondition<L: Language>(&self, language: &L, store: &Store, post: Formula) -> Formula {
        let before = |formula| logic::precondition(store, &self.update, formula);
        let wlp = store.implies(self.complete, before(post));
        let fault = language.fault_symbol().and_then(|name| store.lookup(name));
        match fault.map(|symbol| store.expr_of(symbol)) {
            Some(Expr::Formula(fault)) if !store.post_order([post.id()]).contains(&fault.id()) => {
                store.or(before(fault), wlp)
            }
            _ => wlp,
        }
    }
}

/// Turns that no input decides are free up to this many times the bound: they end by themselves, or never.
const FREE: u32 = 1024;

/// Jumps back to one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Turns {
    /// Those on which something was left to the input.
    open: u32,
    /// Turns whose conditions no input decides.
    decided: u32,
    /// The condition of the newest.
    guard: Option<Formula>,
}

/// A state that waits for its next instruction.
struct Waiting<S> {
    guard: Formula,
    state: S,
    when: When,
    /// How often this path has jumped back to each place.
    back: Rc<BTreeMap<u64, Turns>>,
}

/// Where and how execution ended.
pub(crate) struct End<S> {
    pub guard: Formula,
    pub state: S,
}

/// Where a part of a path goes.
#[derive(Clone, Copy)]
pub(crate) struct Towards<'p> {
    target: &'p Bits,
    /// The points of the path: only the target may be visited.
    avoiding: &'p [Bits],
}

/// What waits, by place, and what has ended.
struct Front<S, K> {
    waiting: BTreeMap<When, Vec<(Bits, K, Waiting<S>)>>,
    ends: Vec<End<S>>,
}

impl<S, K> Front<S, K> {
    /// Puts what waits into an order that has changed.
    fn reorder(&mut self, order: &Order) {
        for (pc, control, mut waiting) in std::mem::take(&mut self.waiting).into_values().flatten() {
            waiting.when = order.anew(&waiting.when);
            self.waiting.entry(waiting.when.clone()).or_default().push((pc, control, waiting));
        }
    }
}

/// Evaluates one program.
pub struct Explorer<'a, L: Program> {
    pub(crate) language: &'a L,
    pub(crate) store: &'a Store,
    pub(crate) core: Symbolic<'a>,
    bounds: Bounds,
    began: Instant,
    steps: u64,
    pub(crate) gave_up: Vec<Bound>,
    /// The initial states from which an instruction certainly faults where it is executed: such paths end there.
    pub(crate) faults: Formula,
    /// The program counters that are a return to the caller of the whole program.
    pub(crate) return_addresses: Vec<Term>,
    pub(crate) summaries: FxHashMap<usize, Option<Rc<Summary<L::Control>>>>,
    pub(crate) summarising: FxHashSet<usize>,
    /// One of those turned out to call itself: no end of its evaluation can be expected.
    pub(crate) recursion: bool,
    /// How many calls were answered by a summary.
    pub applied: u64,
    order: Order,
    /// Tells which entries of a table an index may choose.
    pub(crate) tables: Option<Tables<'a>>,
}

pub(crate) type SymbolicState<'a, L> = <L as Language>::State<Symbolic<'a>>;

impl<'a, L: Program> Explorer<'a, L> {
    /// An explorer for a program whose vocabulary is declared in the store.
    pub fn new(language: &'a L, store: &'a Store, bounds: Bounds) -> Self {
        Explorer {
            language,
            store,
            core: Symbolic::new(store),
            bounds,
            began: Instant::now(),
            steps: 0,
            gave_up: Vec::new(),
            faults: store.false_(),
            return_addresses: Vec::new(),
            summaries: FxHashMap::default(),
            summarising: FxHashSet::default(),
            recursion: false,
            applied: 0,
            order: Order::default(),
            tables: None,
        }
    }

    /// The same with a solver: a jump through a table that never changes then goes to every entry that the index can
    /// choose, instead of nowhere.
    pub fn with_solver(mut self, solver: Box<dyn Solver<'a> + 'a>) -> Self {
        self.tables = Some(Tables::new(solver));
        self
    }

    /// The same under the assumption [`STACK_APART`], for a program that has a stack.
    pub fn with_stack_apart(self) -> Self {
        if let Some(stack) = self.language.stack_pointer().and_then(|name| self.store.lookup(name)) {
            self.store.keep_apart(stack);
        }
        self
    }

    /// The state to start in, as an update describes it.
    fn start(&mut self, from: &StructUpdate) -> SymbolicState<'a, L> {
        let start = self.language.state(&self.core, self.store, &Struct::from_update(from));
        self.return_addresses = self.language.return_addresses(&self.core, &start);
        start
    }

    /// The whole program, from the state that `from` describes (the identity, usually).
    pub fn evaluate(&mut self, from: &StructUpdate) -> Evaluation {
        let (language, store) = (self.language, self.store);
        let start = self.start(from);
        let ends = self.explore(vec![(store.true_(), start)], None);
        let mut complete = store.any(ends.iter().map(|end| end.guard));
        let (mut update, pc) = match self.joined(ends) {
            Some(state) => {
                let update = language.structure(&self.core, store, &state).to_update(store);
                (update, language.pc(&state))
            }
            None => (StructUpdate::identity(), store.constant(&language.entry())),
        };
        let faults = std::mem::replace(&mut self.faults, store.false_());
        if let Some(name) = language.fault_symbol().filter(|_| faults != store.false_()) {
            let symbol = store.declare(name, Sort::Bool, SymbolKind::Free);
            let possible = match update.constants().find(|(known, _)| *known == symbol) {
                Some((_, Scalar::Formula(possible))) => possible,
                _ => store.false_(),
            };
            update.set_constant(store, symbol, Scalar::Formula(store.or(possible, faults)));
            complete = store.or(complete, faults);
        }
        let mut gave_up = std::mem::take(&mut self.gave_up);
        // What was left out may be nothing after all.
        if !gave_up.is_empty() && self.is_refuted(store.not(complete)) {
            gave_up.clear();
        }
        if gave_up.is_empty() {
            complete = store.true_();
        }
        Evaluation { update, complete, gave_up, pc }
    }

    /// The condition on initial states under which execution visits the points in order (Fig. 7), and the state change
    /// up to the last of them. Between two of them it visits no other of them: a list that names a loop's body twice
    /// means two rounds. Where several ways lead from one point to the next, all are meant; a way on which an instruction
    /// faults leads nowhere. Without a way at all the condition is false.
    pub fn path(&mut self, from: &StructUpdate, points: &[Bits]) -> Evaluation {
        let all = self.forwards(from, points);
        all.into_iter().next_back().unwrap_or_else(|| self.at(self.store.true_(), self.language.entry()))
    }

    /// The same for each point: when execution comes there, and the state change up to it.
    pub fn forwards(&mut self, from: &StructUpdate, points: &[Bits]) -> Vec<Evaluation> {
        let start = self.start(from);
        self.along(start, points, points)
    }

    /// For each point the rest of the path: when a state at the point follows it, and what becomes of that state.
    pub fn backwards(&mut self, points: &[Bits]) -> Vec<Evaluation> {
        let rest = |index: usize| {
            let start = self.start(&StructUpdate::identity());
            let start = self.language.at(&self.core, start, &points[index]);
            let mut all = self.along(start, &points[index..], points);
            all.pop().expect("a point gives an evaluation")
        };
        (0..points.len()).map(rest).collect()
    }

    /// From a state to each of the points in order. `avoiding` are those of the whole path.
    fn along(&mut self, start: SymbolicState<'a, L>, points: &[Bits], avoiding: &[Bits]) -> Vec<Evaluation> {
        let (language, store) = (self.language, self.store);
        let mut at = (store.true_(), start);
        let mut found: Vec<Evaluation> = Vec::new();
        for (index, target) in points.iter().enumerate() {
            let (guard, state) = at;
            let already = index == 0 && self.known_pc(&state).as_ref() == Some(target);
            let ends = if already {
                vec![End { guard, state }]
            } else {
                self.explore(vec![(guard, state)], Some(Towards { target, avoiding }))
            };
            let guard = store.any(ends.iter().map(|end| end.guard));
            let reached = self.joined(ends).map(|state| {
                let sound = store.not(language.faulted(&self.core, &state));
                (store.and(guard, sound), state)
            });
            self.faults = store.false_();
            let Some((guard, state)) = reached.filter(|(guard, _)| *guard != store.false_()) else {
                found.extend(points[index..].iter().map(|point| self.at(store.false_(), point.clone())));
                break;
            };
            let state = language.at(&self.core, state, target);
            let update = language.structure(&self.core, store, &state).to_update(store);
            let pc = language.pc(&state);
            found.push(Evaluation { update, complete: guard, gave_up: self.gave_up.clone(), pc });
            at = (guard, state);
        }
        self.gave_up.clear();
        found
    }

    /// No change of the state at a place.
    fn at(&self, complete: Formula, pc: Bits) -> Evaluation {
        let (update, gave_up) = (StructUpdate::identity(), self.gave_up.clone());
        Evaluation { update, complete, gave_up, pc: self.store.constant(&pc) }
    }

    fn joined(&self, ends: Vec<End<SymbolicState<'a, L>>>) -> Option<SymbolicState<'a, L>> {
        // The last needs no condition of its own: under the guards of all, it is what remains.
        let mut ends = ends.into_iter().rev();
        let last = ends.next()?;
        Some(ends.fold(last.state, |rest, end| self.language.join(&self.core, &end.guard, &end.state, &rest)))
    }

    /// Evaluates until the program ends or, if there is a target, until it is reached; what ends elsewhere is then
    /// dropped.
    pub(crate) fn explore(
        &mut self,
        starts: Vec<(Formula, SymbolicState<'a, L>)>,
        target: Option<Towards<'_>>,
    ) -> Vec<End<SymbolicState<'a, L>>> {
        let mut front = Front { waiting: BTreeMap::new(), ends: Vec::new() };
        // Whatever starts at a place is stepped from it, even if it is the target.
        let mut fresh = starts;
        while !self.recursion {
            let next = match fresh.pop() {
                Some((guard, state)) => self.known_pc(&state).map(|pc| {
                    let when = self.order.start(self.language, pc.to_u64().unwrap_or(u64::MAX));
                    (pc, Waiting { guard, state, when, back: Rc::default() })
                }),
                None => {
                    let Some(mut entry) = front.waiting.first_entry() else { break };
                    let (pc, _, next) = entry.get_mut().pop().expect("never empty");
                    if entry.get().is_empty() {
                        entry.remove();
                    }
                    Some((pc, next))
                }
            };
            let Some((pc, next)) = next else { continue };
            // What waits where there is no instruction has come to the end.
            if !self.language.has_instruction(&pc) {
                if target.is_none() {
                    front.ends.push(End { guard: next.guard, state: next.state });
                }
                continue;
            }
            if self.steps == self.bounds.steps {
                self.give_up(Bound::Instructions(self.steps));
                break;
            }
            if let Some(time) = self.bounds.time.filter(|&time| self.began.elapsed() > time) {
                self.give_up(Bound::Time(time));
                break;
            }
            self.steps += 1;
            for (guard, state) in self.step(&pc, next.guard, next.state) {
                let (when, back) = (next.when.clone(), next.back.clone());
                self.arrive(&pc, Waiting { guard, state, when, back }, target, &mut front);
            }
        }
        front.ends
    }

    fn known_pc(&mut self, state: &SymbolicState<'a, L>) -> Option<Bits> {
        let targets = self.core.targets(self.language.pc_width(), &self.language.pc(state))?;
        targets.into_iter().next().map(|(_, pc)| pc)
    }

    /// Puts a state that comes from `from` where its program counter points, splitting it if that is several places.
    fn arrive(
        &mut self,
        from: &Bits,
        arriving: Waiting<SymbolicState<'a, L>>,
        target: Option<Towards<'_>>,
        front: &mut Front<SymbolicState<'a, L>, L::Control>,
    ) {
        let Waiting { guard, state, mut when, back } = arriving;
        let number = |pc: &Bits| pc.to_u64().unwrap_or(u64::MAX);
        let successors = self.language.successors(number(from));
        let is_ordered = successors.is_some();
        let successors = successors.unwrap_or_default();
        let leaving = self.leaving(from, guard, self.language.pc(&state), &successors, when.comes_back());
        let inside = leaving.on.iter().map(|(_, pc)| pc).filter(|pc| self.language.has_instruction(pc));
        if is_ordered && self.order.learn(self.language, &when, &successors, inside.map(number)) {
            front.reorder(&self.order);
            when = self.order.anew(&when);
        }
        let single = leaving.on.len() == 1 && leaving.ends == self.store.false_() && !leaving.is_unknown;
        if leaving.ends != self.store.false_() && target.is_none() {
            front.ends.push(End { guard: leaving.ends, state: state.clone() });
        }
        for (guard, pc) in leaving.on {
            let state = if single { state.clone() } else { self.language.at(&self.core, state.clone(), &pc) };
            if let Some(towards) = target
                && towards.avoiding.contains(&pc)
            {
                if *towards.target == pc {
                    front.ends.push(End { guard, state });
                }
                continue;
            }
            let has_instruction = self.language.has_instruction(&pc);
            if !has_instruction && !self.has_ended(&pc) {
                let (from, pc) = (self.language.place(from), self.language.place(&pc));
                self.give_up(Bound::Control(format!("{from}: control goes to {pc}, where there is no code")));
                continue;
            }
            let mut back = back.clone();
            let at = number(&pc);
            let (when, again) = self.order.step(self.language, &when, &successors, at);
            if again && has_instruction {
                let turns = Rc::make_mut(&mut back).entry(at).or_default();
                // The first turn is free: what was decided before is not this loop's doing.
                if turns.guard.replace(guard).is_none_or(|before| before == guard) {
                    turns.decided += 1;
                } else {
                    turns.open += 1;
                }
                let free = self.bounds.unroll.saturating_mul(FREE);
                let (open, decided) = (turns.open, turns.decided);
                // A loop whose condition no longer holds has ended, also where only a search sees it.
                if open > 0 && self.is_refuted(guard) {
                    continue;
                }
                if open >= self.bounds.unroll || decided > free {
                    let most = if open >= self.bounds.unroll { self.bounds.unroll } else { free };
                    let line = self.language.line(&pc).map_or(format!("{pc}"), |line| format!("line {line}"));
                    self.give_up(Bound::Unrolled(most, line));
                    continue;
                }
            }
            if !again && back.get(&at).is_some_and(|turns| turns.guard.is_some()) {
                // Entered anew: its next turn is a first one.
                Rc::make_mut(&mut back).entry(at).or_default().guard = None;
            }
            let control = self.language.control(&state);
            let place = front.waiting.entry(when.clone()).or_default();
            let same =
                |(there, known, _): &&mut (Bits, L::Control, Waiting<_>)| *there == pc && *known == control;
            match place.iter_mut().find(same) {
                Some((_, _, known)) => {
                    known.state = self.language.join(&self.core, &guard, &state, &known.state);
                    known.guard = self.store.or(known.guard, guard);
                    if *known.back != *back {
                        let counts = Rc::make_mut(&mut known.back);
                        for (&at, turns) in back.iter() {
                            let entry = counts.entry(at).or_default();
                            entry.open = turns.open.max(entry.open);
                            entry.decided = turns.decided.max(entry.decided);
                            entry.guard = entry.guard.or(turns.guard);
                        }
                    }
                }
                None => place.push((pc, control, Waiting { guard, state, when, back })),
            }
        }
    }

    pub(crate) fn give_up(&mut self, why: Bound) {
        if !self.gave_up.contains(&why) {
            self.gave_up.push(why);
        }
    }

    /// One instruction; a call to a procedure with a summary is one instruction too.
    fn step(
        &mut self,
        pc: &Bits,
        guard: Formula,
        state: SymbolicState<'a, L>,
    ) -> Vec<(Formula, SymbolicState<'a, L>)> {
        let (language, store, tables) = (self.language, self.store, &mut self.tables);
        let mut origin = |condition: &Formula, address: &Term| match tables {
            Some(tables) => tables.origin(language, store.and(guard, *condition), *address),
            None => Origin::Anywhere,
        };
        let after = match self.language.step_with(&self.core, state, pc, &mut origin) {
            Ok(after) => after,
            Err(Stuck { faults: true, .. }) => {
                self.faults = store.or(self.faults, guard);
                return Vec::new();
            }
            Err(Stuck { message, .. }) => {
                self.give_up(Bound::Stuck(message));
                return Vec::new();
            }
        };
        let summary = self.language.callee(pc).and_then(|procedure| self.summary(procedure));
        match summary {
            Some(summary) => self.apply(&summary, guard, &after).unwrap_or_else(|| vec![(guard, after)]),
            None => vec![(guard, after)],
        }
    }
}
