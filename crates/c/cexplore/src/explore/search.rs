//! The search: a state runs until it forks, ends or meets others; then the next one does.

use super::coverage::{Coverage, Covered, covered};
use super::host::{Explorer, Finding, Hard, Input, SOON};
use super::joins::Joins;
use super::nearest::Nearest;
use super::settings::{Merge, Settings};
use super::start::{Failed, start};
use super::unknown::UnknownMemory;
use parallax_cmachine::{Event, Machine, Oracle, Output, Problem, Reporter, State, Stop};
use parallax_cmodule::{BlockId, FunctionId, Module};
use parallax_path::{Bound, Chain, Completeness, Frontier};
use parallax_sem::Symbolic;
use parallax_smt::{Reason, Solver};
use parallax_term::{Formula, Store, Term};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How a path ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathEnd {
    /// The program exits with this status (low eight bits), for the input at hand.
    Exit(u8),
    /// With a mistake.
    Mistake(Problem),
}

/// A path that was explored to its end.
#[derive(Clone, Debug)]
pub struct PathRecord {
    /// An input that takes it.
    pub input: Input,
    /// How it ends.
    pub end: PathEnd,
    /// What it writes to standard output, for that input.
    pub stdout: Vec<u8>,
    /// Undecided branches, in order.
    pub decisions: Vec<Event>,
    /// Conditions under which it is taken.
    pub conditions: Vec<Formula>,
    /// Inputs that harness functions return on it, in order.
    pub values: Vec<Term>,
    /// What it writes to standard output.
    pub output: Vec<Output<Term>>,
    /// The status it exits with.
    pub status: Option<Term>,
    /// What it knows of the memory it started with, when that was unknown.
    pub unknown: Option<UnknownMemory>,
}

/// What an exploration found.
#[derive(Debug)]
pub struct Exploration {
    /// Mistakes, one per kind and place.
    pub findings: Vec<Finding>,
    /// Paths that came to an end.
    pub paths: u64,
    /// Whether every path was followed to its end, and if not, why; and what was assumed.
    pub completeness: Completeness,
    /// What was covered, in numbers.
    pub coverage: Coverage,
    /// What was covered, line by line.
    pub covered: Covered,
    /// One record per path, when tests were asked for.
    pub records: Vec<PathRecord>,
    /// Instructions executed.
    pub steps: u64,
    /// Questions to the solver.
    pub queries: u64,
    /// The most states that were alive at once.
    pub most_states: usize,
}

/// Why there is nothing to explore.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    /// There is no such function, or it has no body.
    #[error("{0}")]
    NoEntry(String),
    /// The program cannot even start.
    #[error("{0}")]
    Unsupported(String),
}

type Sym<'s> = Symbolic<'s>;

/// Explores a program.
pub fn explore<'s>(
    store: &'s Store,
    module: &'s Module,
    settings: &'s Settings,
    solver: Box<dyn Solver<'s> + 's>,
    progress: &mut dyn FnMut(u64, usize, usize),
) -> Result<Exploration, ExploreError> {
    explore_input(store, module, settings, solver, None, progress)
}

/// Explores what a program can do with one input: everything is known but what is uninitialised.
pub fn explore_input<'s>(
    store: &'s Store,
    module: &'s Module,
    settings: &'s Settings,
    solver: Box<dyn Solver<'s> + 's>,
    fixed: Option<&'s Input>,
    progress: &mut dyn FnMut(u64, usize, usize),
) -> Result<Exploration, ExploreError> {
    let mut host = Explorer::new(store, module, settings, solver);
    host.fixed = fixed;
    let started = Instant::now();
    host.oracle.set_deadline(started.checked_add(settings.time));
    let mut starts = 0;
    loop {
        starts += 1;
        if starts > MOST_STARTS || started.elapsed() > early(settings) {
            host.walks.close();
        }
        let mut search = Search::new(host, settings, started, progress)?;
        while !search.machine.host.walks.learned()
            && let Some(state) = search.next()
        {
            if search.run(state).is_break() {
                break;
            }
        }
        if !search.machine.host.walks.take_learned() {
            return Ok(search.finish());
        }
        if started.elapsed() >= settings.time {
            // What was learned is left out.
            search.note(Bound::Time(settings.time));
            return Ok(search.finish());
        }
        host = search.machine.host.again();
    }
}

/// How often a search starts again.
const MOST_STARTS: u32 = 64;

/// Until when what comes to be known of pointers is worth another start.
fn early(settings: &Settings) -> Duration {
    settings.time / 4
}

fn refused(failed: Failed<'_>) -> ExploreError {
    match failed {
        Failed::Entry(words) => ExploreError::NoEntry(words),
        Failed::Machine(Stop::Unsupported(words)) => ExploreError::Unsupported(words),
        Failed::Machine(_) => ExploreError::Unsupported("the program does not start".into()),
    }
}

/// An exploration under way.
pub(super) struct Search<'s, 'p> {
    pub(super) machine: Machine<'s, Sym<'s>, Explorer<'s>>,
    pub(super) settings: &'s Settings,
    frontier: Frontier<State<Sym<'s>>>,
    joins: Joins<Sym<'s>>,
    /// States that run before those of the frontier, since others wait for them.
    hurrying: Vec<State<Sym<'s>>>,
    nearest: Nearest,
    /// States behind questions that were put off: they go on when there is nothing else.
    later: VecDeque<State<Sym<'s>>>,
    /// Where the running state was last made one of two.
    met: Option<(FunctionId, BlockId)>,
    /// Solver's time for states that were made one of two.
    asked_merged: Duration,
    /// States that went around a loop too often, the first few: they go on when no path has come to an end.
    beyond: Vec<State<Sym<'s>>>,
    progress: &'p mut dyn FnMut(u64, usize, usize),
    started: Instant,
    /// When the clock was last looked at.
    looked: Duration,
    ticks: u32,
    /// Questions asked when the clock was last looked at.
    questions: u64,
    pub(super) paths: u64,
    steps: u64,
    most_states: usize,
    pub(super) records: Vec<PathRecord>,
}

/// What became of a state by one step.
enum Step {
    /// It goes on.
    On,
    /// It does not, and will not come to these joins.
    Gone(Chain<u32>),
    /// It does not, and neither does the search.
    Over,
}

impl<'s, 'p> Search<'s, 'p> {
    fn new(
        host: Explorer<'s>,
        settings: &'s Settings,
        started: Instant,
        progress: &'p mut dyn FnMut(u64, usize, usize),
    ) -> Result<Self, ExploreError> {
        let (store, module) = (host.store, host.module());
        let mut machine = Machine::new(module, host);
        machine.plant = settings.plant;
        let mut frontier = Frontier::new(settings.strategy, settings.seed);
        for state in start(&mut machine, store, settings).map_err(refused)?.into_iter().rev() {
            frontier.push(state, true);
        }
        Ok(Search {
            machine,
            settings,
            frontier,
            joins: Joins::new(settings.merge),
            hurrying: Vec::new(),
            nearest: Nearest::new(module),
            later: VecDeque::new(),
            met: None,
            asked_merged: Duration::ZERO,
            beyond: Vec::new(),
            progress,
            started,
            looked: Duration::ZERO,
            ticks: 0,
            questions: 0,
            paths: 0,
            steps: 0,
            most_states: 0,
            records: Vec::new(),
        })
    }

    /// The state whose turn it is. A bound on loops does not leave a run without a single path: then one of those that
    /// were over it goes on.
    fn next(&mut self) -> Option<State<Sym<'s>>> {
        while let Some(state) = self.hurrying.pop() {
            if self.joins.hurries(&state) {
                return Some(state);
            }
            self.waits(state);
        }
        let Search { nearest, machine, frontier, .. } = self;
        let mut asked = false;
        let picked = frontier.pick_near(|state| {
            if !std::mem::replace(&mut asked, true) {
                nearest.follow(&machine.host.covered);
            }
            nearest.of(state).distance
        });
        if let Some(state) = picked {
            if asked {
                nearest.picked(&state);
            }
            return Some(state);
        }
        if let Some(state) = self.put_off_before() {
            return Some(state);
        }
        if self.paths > 0 {
            return None;
        }
        let mut state = self.beyond.pop()?;
        state.visits = Default::default();
        Some(state)
    }

    /// A state that was put off, where it turns out that there is one: now its questions may take their time. Mistakes that
    /// were put off are asked about first.
    fn put_off_before(&mut self) -> Option<State<Sym<'s>>> {
        let host = &mut self.machine.host;
        host.hard = Hard::Waits;
        for (state, problem, guard, words) in std::mem::take(&mut host.doubts) {
            host.begin_step(&state);
            match state.path.sat(&host.oracle, guard) {
                Ok(Some(_)) => host.problem(&state, problem, &guard, words),
                Ok(None) => {}
                Err(_) => host.bounded(Bound::Undecided(problem.name().into())),
            }
        }
        while let Some(state) = self.later.pop_front() {
            let host = &mut self.machine.host;
            host.begin_step(&state);
            match state.path.sat(&host.oracle, host.store.true_()) {
                Ok(None) => {
                    host.never_came(&state);
                    continue;
                }
                Ok(Some(_)) => {}
                Err(reason) => host.bounded(Bound::Solver(reason)),
            }
            return Some(state);
        }
        None
    }

    /// Runs a state until it is gone.
    fn run(&mut self, mut state: State<Sym<'s>>) -> ControlFlow<()> {
        let left = loop {
            if state.merged.is_some() && self.joins.is_tired() {
                let conjuncts = state.path.conjuncts().len();
                self.undo(&mut state, conjuncts);
                break std::mem::take(&mut state.joins);
            }
            if self.exhausted() {
                return ControlFlow::Break(());
            }
            if state.steps >= self.settings.steps {
                self.machine.host.begin_step(&state);
                self.note(Bound::Steps(self.settings.steps));
                break state.joins;
            }
            match self.step(&mut state) {
                Step::On => {}
                Step::Gone(joins) => break joins,
                Step::Over => return ControlFlow::Break(()),
            }
        };
        self.joins.ends(&mut self.machine, &left);
        self.released();
        ControlFlow::Continue(())
    }

    fn released(&mut self) {
        while let Some(state) = self.joins.released.pop() {
            self.waits(state);
        }
    }

    /// States that are not over, besides the one that runs.
    fn waiting(&self) -> usize {
        self.frontier.len() + self.hurrying.len()
    }

    /// Whether a bound on the whole search is hit.
    fn exhausted(&mut self) -> bool {
        self.ticks = self.ticks.wrapping_add(1);
        let questions = self.machine.host.oracle.usage().checks();
        let asked = std::mem::replace(&mut self.questions, questions) != questions;
        let now_and_then = self.ticks.is_multiple_of(256);
        if asked || now_and_then {
            let elapsed = self.started.elapsed();
            let took = elapsed - std::mem::replace(&mut self.looked, elapsed);
            if asked && let Some(place) = self.met {
                self.asked_merged += took;
                if took > LONG {
                    self.joins.avoid(place);
                }
                // States that were not made one of two have their share.
                if self.asked_merged > LEAST_ASKED && self.asked_merged > elapsed / SHARE {
                    self.joins.tire();
                }
            }
            if elapsed >= self.settings.time {
                self.note(Bound::Time(self.settings.time));
                return true;
            }
            if elapsed > early(self.settings) {
                // One state alone may run on and on.
                if self.machine.host.walks.learned() {
                    return true;
                }
                self.machine.host.walks.close();
            }
        }
        if let Some(most) = self.settings.instructions
            && self.steps >= most
        {
            self.note(Bound::Instructions(most));
            return true;
        }
        if now_and_then {
            self.joins.lose_patience(&mut self.machine, self.steps);
            self.released();
            if let Some(limit) = self.settings.memory
                && self.ticks.is_multiple_of(1024)
                && resident() > limit
            {
                self.note(Bound::Memory(limit));
                return true;
            }
            let states = self.waiting() + 1;
            (self.progress)(self.paths, states, self.machine.host.findings.len());
        }
        false
    }

    /// One instruction.
    fn step(&mut self, state: &mut State<Sym<'s>>) -> Step {
        self.machine.host.begin_step(state);
        self.met = state.merged.as_ref().map(|merged| merged.place);
        self.machine.host.hard = self.patience(state);
        let before = state.steps;
        let was = (state.frames.len(), state.frame().block);
        let conjuncts = state.path.conjuncts().len();
        let stepped = self.machine.step(state);
        self.steps += state.steps - before;
        let put_off = std::mem::take(&mut self.machine.host.put_off);
        // What is asked about ends of paths is not taken back.
        self.machine.host.hard = Hard::Waits;
        if put_off && self.met.is_some() {
            self.machine.forks.clear();
            self.machine.stopped.clear();
            self.undo(state, conjuncts);
            return Step::Gone(std::mem::take(&mut state.joins));
        }
        if put_off {
            // All that comes of such a step waits until nothing else does.
            for mut other in std::mem::take(&mut self.machine.forks) {
                other.joins = Chain::default();
                self.waits_longer(other);
            }
            if stepped.is_ok() {
                self.fork(state);
                let joins = std::mem::take(&mut state.joins);
                self.waits_longer(std::mem::take(state));
                return Step::Gone(joins);
            }
        }
        let forked = self.fork(state);
        match stepped {
            Ok(()) => {
                self.machine.host.pass();
                self.goes_on(state, was, forked)
            }
            Err(stop) => {
                self.settle(state, stop);
                if self.settings.first && !self.machine.host.findings.is_empty() {
                    return Step::Over;
                }
                if self.paths < self.settings.paths {
                    return Step::Gone(std::mem::take(&mut state.joins));
                }
                if self.waiting() > 0 {
                    self.note(Bound::Paths(self.settings.paths));
                }
                Step::Over
            }
        }
    }

    /// Lets a state wait until nothing else does.
    fn waits_longer(&mut self, state: State<Sym<'s>>) {
        self.later.push_back(state);
        if self.later.len() > self.settings.states {
            self.note(Bound::States(self.settings.states));
            self.later.pop_front();
        }
    }

    /// How long questions of a state may take: one that stands for more states may ask for longer.
    fn patience(&self, state: &State<Sym<'s>>) -> Hard {
        match &state.merged {
            Some(merged) => {
                let whole = self.settings.solver_time;
                Hard::Undone((whole / MERGED_SOON).saturating_mul(merged.depth[0]).min(whole))
            }
            None if self.waiting() > 0 => Hard::Later,
            None => Hard::Waits,
        }
    }

    /// The states that one was made of go on instead of it, each where the one was under its first `conjuncts` conditions.
    fn undo(&mut self, state: &mut State<Sym<'s>>, conjuncts: usize) {
        let Some(merged) = state.merged.take() else { return };
        self.joins.avoid(merged.place);
        let all = state.path.conjuncts();
        let since =
            all.newest_first().skip(all.len() - conjuncts).take(conjuncts.saturating_sub(merged.conjuncts));
        let mut taken: Vec<Formula> = since.map(|(condition, ())| *condition).collect();
        taken.reverse();
        for before in &merged.states {
            let mut before = before.clone();
            before.joins = Chain::default();
            for condition in &taken {
                self.machine.host.take(&mut before.path, *condition);
            }
            let oracle = &self.machine.host.oracle;
            oracle.set_patience(Some(self.settings.solver_time / SOON));
            let possible = before.path.sat(oracle, oracle.store.true_());
            oracle.set_patience(None);
            if !matches!(possible, Ok(None)) {
                self.frontier.push(before, false);
            }
        }
    }

    /// Lets the states wait that the last step has made besides; whether there are any.
    fn fork(&mut self, state: &mut State<Sym<'s>>) -> bool {
        for (other, stop) in std::mem::take(&mut self.machine.stopped) {
            self.settle(&other, stop);
        }
        if self.machine.forks.is_empty() {
            return false;
        }
        let mut forks = std::mem::take(&mut self.machine.forks);
        if self.settings.merge != Merge::Never {
            let mut all: Vec<_> = std::iter::once(state).chain(forks.iter_mut()).collect();
            self.joins.parted(self.machine.module, self.machine.branched, self.steps, &mut all);
        }
        let before = self.frontier.len();
        for other in forks {
            self.waits(other);
        }
        self.most_states = self.most_states.max(self.waiting() + 1);
        if self.machine.host.new_code && self.frontier.len() > before {
            self.frontier.newest_is_fresh();
        }
        true
    }

    /// A state that did not end with its step.
    fn goes_on(&mut self, state: &mut State<Sym<'s>>, was: (usize, BlockId), forked: bool) -> Step {
        if (forked || self.machine.branched)
            && let Some(bound) = over(self.machine.module, state, self.settings)
        {
            let joins = std::mem::take(&mut state.joins);
            if matches!(bound, Bound::Loops(_)) && self.paths == 0 && self.beyond.len() < MOST_BEYOND {
                self.beyond.push(std::mem::take(state));
            }
            self.note(bound);
            return Step::Gone(joins);
        }
        if self.settings.first && !self.machine.host.findings.is_empty() {
            self.frontier.push(std::mem::take(state), false);
            return Step::Over;
        }
        if forked && self.waiting() > self.settings.states {
            self.note(Bound::States(self.settings.states));
            if let Some(dropped) = self.frontier.give_up_oldest() {
                self.joins.ends(&mut self.machine, &dropped.joins);
            }
        }
        let moved = || was != (state.frames.len(), state.frames.last().map_or(was.1, |frame| frame.block));
        if !state.joins.is_empty() && (forked || moved()) {
            match self.joins.arrives(&mut self.machine, std::mem::take(state)) {
                Some(same) => *state = same,
                None => return Step::Gone(Chain::default()),
            }
        }
        if forked && !self.joins.hurries(state) && !self.frontier.goes_deep() {
            self.frontier.push(std::mem::take(state), self.machine.host.new_code);
            return Step::Gone(Chain::default());
        }
        Step::On
    }

    /// Lets a state wait: at a join, or for its turn.
    fn waits(&mut self, state: State<Sym<'s>>) {
        if let Some(state) = self.joins.arrives(&mut self.machine, state) {
            match self.joins.hurries(&state) {
                true => self.hurrying.push(state),
                false => self.frontier.push(state, false),
            }
        }
    }

    pub(super) fn note(&mut self, bound: Bound) {
        let host = &self.machine.host;
        // Bounds on the whole search have no place of their own.
        let place = match bound {
            Bound::Time(_)
            | Bound::Memory(_)
            | Bound::Instructions(_)
            | Bound::Paths(_)
            | Bound::States(_) => None,
            _ => host.place(),
        };
        host.ledger.note_at(bound, place);
    }

    /// What was found, and how much of the program that speaks of.
    fn finish(mut self) -> Exploration {
        // States that still wait for others were not followed to their ends.
        for state in self.joins.abandon().into_iter().chain(std::mem::take(&mut self.hurrying)) {
            self.frontier.push(state, false);
        }
        let host = &mut self.machine.host;
        host.hard = Hard::Waits;
        for (state, problem, ..) in std::mem::take(&mut host.doubts) {
            host.begin_step(&state);
            host.bounded(Bound::Undecided(problem.name().into()));
        }
        for state in std::mem::take(&mut self.later) {
            host.begin_step(&state);
            host.bounded(Bound::Solver(Reason::Time));
            self.frontier.push(state, false);
        }
        let covered = covered(self.machine.module, &self.machine.host);
        let coverage = Coverage::of(&covered);
        let mut host = self.machine.host;
        host.settle_relied();
        host.note_blocked();
        self.records.extend(host.mistakes);
        Exploration {
            findings: host.findings,
            paths: self.paths,
            completeness: host.ledger.close(&self.frontier),
            coverage,
            covered,
            records: self.records,
            steps: self.steps,
            queries: host.oracle.usage().checks(),
            most_states: self.most_states,
        }
    }
}

/// Memory of this process, in bytes.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

/// Where a question takes longer about a state that was made one of two, no more states meet at that place.
const LONG: Duration = Duration::from_millis(500);

/// A question about two states made one is answered soon if it takes this part of `--solver-time`.
const MERGED_SOON: u32 = 20;

/// Questions about states that were made one of two may take this part of the time, and at least so much.
const SHARE: u32 = 3;
const LEAST_ASKED: Duration = Duration::from_secs(1);

/// States over a bound on loops that are kept in case there is nothing else.
const MOST_BEYOND: usize = 256;

/// The bound of its own that a state is over, if any.
fn over(module: &Module, state: &State<Sym<'_>>, settings: &Settings) -> Option<Bound> {
    if state.forks > settings.depth {
        return Some(Bound::Depth(settings.depth));
    }
    let frame = state.frame();
    let count = *state.visits.get(&(frame.serial, frame.previous))?;
    let own = settings.loop_bounds.iter().find(|own| {
        let at = module.function(frame.function).blocks[frame.previous.0 as usize].location;
        module.location(at).line == own.line && module.file_of(at).ends_with(&own.file)
    });
    let most = own.map_or(settings.loops, |own| own.times);
    (count > most).then_some(Bound::Loops(most))
}
