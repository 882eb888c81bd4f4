//! The search: states that wait, the one that runs, and when to stop.

use super::host::{Explorer, Finding, Input};
use super::joins::Joins;
use super::settings::{Argument, Entry, Settings, Strategy};
use super::unknown::UnknownMemory;
use crate::run::main_arguments;
use parallax_cmachine::{Event, Files, Machine, Oracle, Output, Problem, State, Stop, Value};
use parallax_cmodule::FunctionId;
use parallax_cmodule::Module;
use parallax_sem::Symbolic;
use parallax_smt::Solver;
use parallax_term::{Formula, Store, Term};
use std::collections::{BTreeSet, VecDeque};
use std::time::Instant;

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

/// What was covered of the user's own code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Source lines with code.
    pub lines: usize,
    /// Of these, lines that some path ran.
    pub lines_covered: usize,
    /// Ways out of branches.
    pub branches: usize,
    /// Of these, ways that some path took.
    pub branches_covered: usize,
}

/// What an exploration found.
#[derive(Debug, Default)]
pub struct Exploration {
    /// Mistakes, one per kind and place.
    pub findings: Vec<Finding>,
    /// Paths that came to an end.
    pub paths: u64,
    /// Whether every path was followed to its end.
    pub complete: bool,
    /// Why not.
    pub bounds: BTreeSet<String>,
    /// What was assumed.
    pub assumptions: BTreeSet<String>,
    /// What was covered.
    pub coverage: Coverage,
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
    let mut machine = Machine::new(module, host);
    machine.plant = settings.plant;
    let mut search =
        Search { waiting: VecDeque::new(), random: settings.seed | 1, strategy: settings.strategy };
    let mut result = Exploration { complete: true, ..Exploration::default() };
    let first = match start(&mut machine, store, settings) {
        Ok(state) => state,
        Err(Failed::Entry(words)) => return Err(ExploreError::NoEntry(words)),
        Err(Failed::Machine(Stop::Unsupported(words))) => return Err(ExploreError::Unsupported(words)),
        Err(Failed::Machine(_)) => {
            return Err(ExploreError::Unsupported("the program does not start".into()));
        }
    };
    search.waiting.extend(first.into_iter().rev().map(|state| (state, true)));
    let started = Instant::now();
    machine.host.deadline = started.checked_add(settings.time);
    let mut ticks = 0u32;
    let mut joins = Joins::new();
    let mut questions = 0;
    'states: while let Some(mut state) = search.next() {
        let left = loop {
            ticks = ticks.wrapping_add(1);
            let asked = std::mem::replace(&mut questions, machine.host.queries) != machine.host.queries;
            if (asked || ticks.is_multiple_of(256)) && started.elapsed() >= settings.time {
                machine.host.bounds.insert(format!("time: {} s", settings.time.as_secs_f64()));
                break 'states;
            }
            if ticks.is_multiple_of(256) {
                if let Some(limit) = settings.memory
                    && ticks.is_multiple_of(1024)
                    && resident() > limit
                {
                    machine.host.bounds.insert(format!("memory: {} MB", limit >> 20));
                    break 'states;
                }
                progress(result.paths, search.waiting.len() + 1, machine.host.findings.len());
            }
            if state.steps >= settings.steps {
                machine.host.bounds.insert(format!("steps: a path of {} instructions", settings.steps));
                break state.joins;
            }
            machine.host.reported = false;
            let before = state.steps;
            let was = (state.frames.len(), state.frame().block);
            let stepped = machine.step(&mut state);
            result.steps += state.steps - before;
            let mut forks = std::mem::take(&mut machine.forks);
            let split = !forks.is_empty();
            if split && settings.merge {
                let mut all: Vec<_> = std::iter::once(&mut state).chain(forks.iter_mut()).collect();
                joins.parted(module, machine.branched, &mut all);
            }
            for other in forks {
                search.waiting.extend(joins.arrives(&mut machine, other).map(|state| (state, false)));
            }
            if split {
                result.most_states = result.most_states.max(search.waiting.len() + 1);
                if machine.host.new_code
                    && let Some(newest) = search.waiting.back_mut()
                {
                    newest.1 = true;
                }
            }
            match stepped {
                Ok(()) => {
                    if (split || machine.branched)
                        && let Some(bound) = over(&state, settings)
                    {
                        machine.host.bounds.insert(bound);
                        break state.joins;
                    }
                    if split && search.waiting.len() > settings.states {
                        machine.host.bounds.insert(format!("states: {} at once", settings.states));
                        if let Some((dropped, _)) = search.waiting.pop_front() {
                            joins.ends(&mut machine, &dropped.joins);
                        }
                    }
                    if !state.joins.is_empty()
                        && (split
                            || was != (state.frames.len(), state.frames.last().map_or(was.1, |f| f.block)))
                    {
                        match joins.arrives(&mut machine, state) {
                            Some(same) => state = same,
                            None => break Vec::new(),
                        }
                    }
                    if split && !matches!(settings.strategy, Strategy::Depth) {
                        search.waiting.push_back((state, machine.host.new_code));
                        break Vec::new();
                    }
                }
                Err(stop) => {
                    let left = state.joins.clone();
                    ended(&mut machine, &mut result, settings, state, stop);
                    if result.paths >= settings.paths {
                        if !search.waiting.is_empty() {
                            machine.host.bounds.insert(format!("paths: {}", settings.paths));
                        }
                        break 'states;
                    }
                    break left;
                }
            }
        };
        joins.ends(&mut machine, &left);
        while let Some(state) = joins.released.pop() {
            search.waiting.extend(joins.arrives(&mut machine, state).map(|state| (state, false)));
        }
    }
    result.coverage = coverage(module, &machine.host);
    result.queries = machine.host.queries;
    result.records.append(&mut machine.host.mistakes);
    result.findings = std::mem::take(&mut machine.host.findings);
    result.assumptions = std::mem::take(&mut machine.host.assumptions);
    result.bounds.append(&mut machine.host.bounds);
    result.complete = result.bounds.is_empty();
    Ok(result)
}

/// Memory of this process, in bytes.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

fn over(state: &State<Sym<'_>>, settings: &Settings) -> Option<String> {
    if state.forks > settings.depth {
        return Some(format!("depth: {} undecided branches on one path", settings.depth));
    }
    let key = (state.frame().serial, state.frame().previous);
    match state.visits.get(&key) {
        Some(&count) if count > settings.loops => {
            Some(format!("loops: {} times through one branch", settings.loops))
        }
        _ => None,
    }
}

/// States that wait for their turn, each with whether it is about to run new code.
struct Search<'s> {
    waiting: VecDeque<(State<Sym<'s>>, bool)>,
    random: u64,
    strategy: Strategy,
}

impl<'s> Search<'s> {
    fn next(&mut self) -> Option<State<Sym<'s>>> {
        let index = match self.strategy {
            Strategy::Depth => self.waiting.len().checked_sub(1)?,
            // In order: the others may be shuffled, these must not.
            Strategy::Breadth => return self.waiting.pop_front().map(|(state, _)| state),
            Strategy::Random => self.dice()?,
            Strategy::Coverage => match self.waiting.iter().rposition(|(_, new)| *new) {
                Some(index) => index,
                None => self.dice()?,
            },
        };
        self.waiting.swap_remove_back(index).map(|(state, _)| state)
    }

    /// xorshift: good enough to pick, and the same on every machine.
    fn dice(&mut self) -> Option<usize> {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (!self.waiting.is_empty()).then(|| (self.random % self.waiting.len() as u64) as usize)
    }
}

enum Failed<'s> {
    Entry(String),
    Machine(Stop<Sym<'s>>),
}

/// The states that the program can start in: one, or one for each number of arguments.
fn start<'s>(
    machine: &mut Machine<'s, Sym<'s>, Explorer<'s>>,
    store: &'s Store,
    settings: &Settings,
) -> Result<Vec<State<Sym<'s>>>, Failed<'s>> {
    let module = machine.module;
    let find = |name: &str| -> Result<FunctionId, Failed<'s>> {
        match module.function_named(name) {
            Some(id) if module.function(id).is_defined() => Ok(id),
            Some(_) => Err(Failed::Entry(format!("the function {name} is declared but has no body"))),
            None => Err(Failed::Entry(format!("the program has no function {name}"))),
        }
    };
    match &settings.entry {
        Entry::Main { arguments, stdin, files } => {
            let main = find("main")?;
            let mut state = machine.start().map_err(Failed::Machine)?;
            let constant = |byte: u8| store.number(8, byte.into());
            let mut vectors: Vec<Vec<Term>> = vec![b"program".iter().map(|&b| constant(b)).collect()];
            for (number, argument) in (1..).zip(arguments) {
                vectors.push(match argument {
                    Argument::Known(bytes) => bytes.iter().map(|&b| constant(b)).collect(),
                    Argument::Unknown(len) | Argument::Optional(len) => {
                        let given = |input: &'s Input| input.arguments.get(number).map(Vec::as_slice);
                        machine.host.bytes(&format!("arg{number}"), *len, given)
                    }
                });
            }
            machine.host.arguments = vectors.clone();
            machine.host.stdin = machine.host.bytes("stdin", *stdin, |input| Some(&input.stdin));
            for (name, len) in files {
                let given = |input: &'s Input| {
                    input.files.iter().find(|(other, _)| other == name).map(|(_, bytes)| bytes.as_slice())
                };
                let bytes = machine.host.bytes(name, *len, given);
                machine.host.files.push((name.clone(), bytes));
            }
            let named =
                machine.host.files.iter().map(|(name, bytes)| (name.clone().into_bytes(), bytes.clone()));
            state.files = Files::new(machine.host.stdin.clone(), named);
            // Arguments from the first optional one on may be missing. A given input says how many there are.
            let all = vectors.len();
            let fewest = match machine.host.fixed {
                Some(input) => input.arguments.len().clamp(1, all),
                None => 1 + arguments.iter().take_while(|a| !matches!(a, Argument::Optional(_))).count(),
            };
            let most = machine.host.fixed.map_or(all, |_| fewest);
            let mut states = Vec::new();
            for count in fewest..=most {
                let mut state = state.clone();
                let values =
                    main_arguments(machine, &mut state, main, &vectors[..count]).map_err(Failed::Machine)?;
                machine.begin(&mut state, main, values).map_err(Failed::Machine)?;
                if fewest < most {
                    // How many there are is part of the input.
                    let number = store.number(32, count as u128);
                    let given = store.eq(store.symbol("argc", 32), number);
                    machine.host.take(&mut state.path, given);
                }
                states.push(state);
            }
            Ok(states)
        }
        Entry::Function(name) => {
            let function = find(name)?;
            if module.function(function).variadic {
                return Err(Failed::Entry(format!(
                    "{name} takes any number of arguments: start at a function that calls it"
                )));
            }
            let mut state = machine.start().map_err(Failed::Machine)?;
            machine.unknown_memory(&mut state, &mut |_| true);
            let values = machine.unknown_arguments(&mut state, function).map_err(Failed::Machine)?;
            machine.begin(&mut state, function, values).map_err(Failed::Machine)?;
            Ok(vec![state])
        }
    }
}

fn ended<'s>(
    machine: &mut Machine<'s, Sym<'s>, Explorer<'s>>,
    result: &mut Exploration,
    settings: &Settings,
    state: State<Sym<'s>>,
    stop: Stop<Sym<'s>>,
) {
    match stop {
        Stop::Exit(status) => {
            result.paths += 1;
            if settings.leaks {
                for (object, lost) in crate::leak::leaked(machine, &state) {
                    machine.host.leak(&state, object, lost);
                }
            }
            if settings.tests {
                record(machine, result, &state, status);
            }
        }
        Stop::Dead => {
            if machine.host.reported {
                result.paths += 1;
            }
        }
        Stop::Unsupported(words) => {
            let (_, location) = state.user_location(machine.module);
            let place = machine.module.location(location);
            let file = machine.module.file_of(location);
            machine.host.bounds.insert(format!("unsupported: {words} ({file}:{})", place.line));
        }
    }
}

fn record<'s>(
    machine: &mut Machine<'s, Sym<'s>, Explorer<'s>>,
    result: &mut Exploration,
    state: &State<Sym<'s>>,
    status: Option<Value<Sym<'s>>>,
) {
    let Some(model) = machine.host.model(&state.path, &[]) else { return };
    let status = match &status {
        Some(Value::Bits(term)) => Some(*term),
        _ => None,
    };
    let output: Vec<Output<Term>> = state
        .output
        .to_vec()
        .into_iter()
        .filter(|(file, _)| *file == 1)
        .map(|(_, piece)| piece.clone())
        .collect();
    let byte = |term: Term| machine.host.value_in(&model, term).to_u128().unwrap_or(0) as u8;
    result.records.push(PathRecord {
        input: machine.host.input_of(state, &model),
        end: PathEnd::Exit(status.map_or(0, byte)),
        stdout: output
            .iter()
            .flat_map(|piece| piece.bytes(|&term| machine.host.value_in(&model, term)))
            .collect(),
        decisions: state.events.to_vec().into_iter().copied().collect(),
        conditions: state.path.conditions.to_vec().into_iter().copied().collect(),
        values: state.inputs.to_vec().into_iter().map(|(_, _, term)| *term).collect(),
        output,
        status,
        unknown: UnknownMemory::of(machine.module, state),
    });
}

/// Lines and branches of the user's own code.
fn coverage(module: &Module, host: &Explorer<'_>) -> Coverage {
    use parallax_cmodule::Terminator;
    let mut lines = BTreeSet::new();
    let mut run = BTreeSet::new();
    let mut coverage = Coverage::default();
    for (index, function) in module.functions.iter().enumerate() {
        if function.library {
            continue;
        }
        for (number, block) in function.blocks.iter().enumerate() {
            let entered = |b: u32| host.covered.contains_key(&(FunctionId(index as u32), b));
            let here = entered(number as u32);
            let places = block.instructions.iter().map(|i| i.location).chain([block.location]);
            for location in places {
                let place = module.location(location);
                if place.line > 0 {
                    lines.insert((place.file, place.line));
                    if here {
                        run.insert((place.file, place.line));
                    }
                }
            }
            let targets: Vec<u32> = match &block.terminator {
                Terminator::Branch { then, otherwise, .. } => vec![then.0, otherwise.0],
                Terminator::Switch { cases, default, .. } => {
                    cases.iter().map(|(_, b)| b.0).chain([default.0]).collect()
                }
                _ => continue,
            };
            coverage.branches += targets.len();
            coverage.branches_covered += targets.iter().filter(|&&t| here && entered(t)).count();
        }
    }
    coverage.lines = lines.len();
    coverage.lines_covered = run.len();
    coverage
}
