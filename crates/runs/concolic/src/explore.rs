//! The search: inputs that wait for their turn, each run twice, and the inputs that come of it.
//!
//! A run of an input is first concrete: does it take the way it was made for, how does it end, what does it cover? Then it
//! is symbolic: the path constraint of the same way, and an input for every event behind the one that this input was
//! made to change. So every way is found once: a generational search (Godefroid, Levin, Molnar 2008).

use crate::code_place::CodePlace;
use crate::concrete::{self, Concrete, Crossing, Outcome, Prediction};
use crate::constraint::{Looked, Patience};
use crate::coverage::{Counts, Coverage};
use crate::folder::{self, Line, failed, name};
use crate::input::{Input, Sources};
use crate::layers::{Allowed, Layers};
use crate::moment::Moment;
use crate::rank::{Edge, Key, Rank, Turn};
use crate::subject::{Command, Subject, SubjectError};
use crate::symbolic::{Message, processor_time, symbolic};
use crate::trail::Trail;
use crate::worker::{End, Mailbox, Worker};
use parallax_jail::{Kept, SharedView};
use parallax_path::{Bound, Completeness, Entry, Frontier, Ledger, Premise, Strategy};
use parallax_symbols::Symbols;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How to explore.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which input runs next.
    pub strategy: Strategy,
    /// Take non-linear operators and symbolic addresses at their values.
    pub approximate: bool,
    /// Explore from this moment to the return of its function, with these registers and memory unknown.
    pub at: Option<(Moment, Vec<String>)>,
    /// Take functions of the C library by what they do, where that is known.
    pub summaries: bool,
    /// Places to reach.
    pub targets: Vec<String>,
    /// Places at which runs end.
    pub avoid: Vec<String>,
    /// How many inputs to run.
    pub tests: u64,
    /// How long to search.
    pub time: Duration,
    /// How long one question to the solver may take.
    pub solver_time: Duration,
    /// How long it may take before other inputs come first; it is asked again then.
    pub patience: Duration,
    /// Instructions of one run.
    pub steps: u64,
    /// Bytes of memory that the program may touch.
    pub memory: u64,
    /// Bytes that one symbolic run may take for its terms.
    pub term_memory: u64,
    /// Runs at once.
    pub jobs: usize,
    /// Whether to end with the first target that is reached.
    pub stop_at_target: bool,
    /// The folder that inputs are written to.
    pub folder: PathBuf,
    /// Go on with what is in the folder.
    pub resume: bool,
    /// The first inputs; zeros if there is none.
    pub seeds: Vec<Input>,
    /// What of the world outside runs may change and reach.
    pub allowed: Allowed,
    /// Where to write what each run changed.
    pub keep_world: Option<PathBuf>,
}

/// Why an exploration cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    /// The program.
    #[error(transparent)]
    Subject(#[from] SubjectError),
    /// The folder of inputs.
    #[error("{}: {error}", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The folder is of another exploration.
    #[error("{}: these inputs are of another program or have other unknown parts", .0.display())]
    OtherFolder(PathBuf),
    /// The folder is of an exploration that was asked something else.
    #[error("{}: this exploration was begun with {before}, and not with {now}: it cannot go on so", folder.display())]
    OtherFlags {
        /// The folder.
        folder: PathBuf,
        /// What was asked for then.
        before: String,
        /// What is asked for now.
        now: String,
    },
    /// The log of the folder cannot be read.
    #[error("{}: line {line} of the log cannot be read", folder.display())]
    Damaged {
        /// The folder.
        folder: PathBuf,
        /// The line.
        line: usize,
    },
    /// No process can be started.
    #[error("cannot start a process for a run: {0}")]
    Worker(std::io::Error),
}

/// One input and what came of it.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its number.
    pub number: usize,
    /// The number of the input it was derived from.
    pub parent: Option<usize>,
    /// Its bytes.
    pub input: Input,
    /// The files it was written to.
    pub files: Vec<PathBuf>,
    /// Its concrete run.
    pub outcome: Outcome,
    /// Instructions of the run.
    pub instructions: u64,
    /// Conditional and computed jumps.
    pub branches: u64,
    /// After how many instructions it left the way it was made for, if it did.
    pub diverged: Option<u64>,
    /// Conjuncts of its path constraint.
    pub constraints: Option<u64>,
    /// Instructions that were evaluated over terms.
    pub evaluated: u64,
    /// Bytes that the terms of its symbolic run took.
    pub term_bytes: u64,
    /// Where it was when it ended by a signal, innermost first.
    pub backtrace: Vec<String>,
    /// The same as addresses: of the instruction, then those that functions return to.
    pub stack: Vec<u64>,
    /// The decisions and calls of its way, if it ended by a signal.
    pub way: Vec<Crossing>,
    /// Targets it reached, by number.
    pub reached: Vec<usize>,
    /// What it changed, if that was to be kept and there was anything.
    pub world: Option<Kept>,
    /// Processor seconds of its concrete run and of its symbolic run without the solver, and seconds of the solver.
    pub seconds: [f64; 3],
}

/// What an exploration found.
pub struct Exploration {
    /// Every input that was run, in order.
    pub tests: Vec<Test>,
    /// For each target, the number of the first input that reached it.
    pub reached: Vec<Option<usize>>,
    /// What runs have covered.
    pub coverage: Coverage,
    /// The debug information of the program and its libraries, at the addresses of runs.
    pub symbols: Symbols,
    /// How much higher than in its file the program lies.
    pub bias: u64,
    /// The addresses of the program itself.
    pub own: Range<u64>,
    /// Whether the program is linked with everything it uses.
    pub is_static: bool,
    /// Whether every way was taken, and if not why.
    pub completeness: Completeness,
    /// Why there is no layer for what runs change, if there is none: then a change ends a run.
    pub no_layer: Option<String>,
    /// Inputs that were never run.
    pub waiting: usize,
    /// Where the input begins to count: every run starts there.
    pub start: String,
    /// Seconds from start to end.
    pub seconds: f64,
}

impl Exploration {
    /// Inputs that did not take the way they were made for.
    pub fn divergences(&self) -> usize {
        self.tests.iter().filter(|test| test.diverged.is_some()).count()
    }
}

/// Bytes that are kept of what one run wrote.
const MOST_KEPT: u64 = 256 << 20;

/// Hard questions of an input come after each way that its edge could go was tried so many times more.
const LATER: u32 = 4;

/// An input that waits.
pub(crate) struct Waiting {
    number: usize,
    parent: Option<usize>,
    /// How many changes lie between a first input and this one.
    generation: u32,
    pub input: Input,
    prediction: Option<Prediction>,
    /// The events of its run that were looked at before.
    pub looked: Option<Looked>,
    /// The edge that it is made to take.
    edge: Option<Edge>,
    /// Whether its ways were looked at in an earlier exploration.
    is_expanded: bool,
    /// The events to ask about again, and with more patience: each by its time and its index there. It has run then.
    pub hard: Vec<(u64, u32)>,
    /// How often its hard events were asked about.
    asked: u32,
    concrete: Option<Box<Concrete>>,
}

impl Waiting {
    /// How long to wait for the answers to its questions.
    pub fn patience(&self, settings: &Settings) -> Patience {
        match self.asked {
            0 => Patience::Short(settings.patience),
            1 => Patience::Question,
            _ => Patience::Last,
        }
    }
}

/// Where an input comes from.
struct Origin {
    parent: usize,
    generation: u32,
    prediction: Prediction,
    looked: Looked,
    edge: Edge,
}

/// A run that is under way.
struct Running {
    worker: Worker,
    /// The world that it runs in.
    view: Option<SharedView>,
    waiting: Waiting,
    /// What its concrete run came to; nothing while that is under way.
    concrete: Option<(Concrete, Rc<Trail>)>,
    /// Whether its symbolic run has said what it left out.
    is_accounted: bool,
}

struct Explorer<'e> {
    subject: Subject,
    layers: Layers,
    settings: &'e Settings,
    targets: Vec<CodePlace>,
    avoid: Vec<u64>,
    frontier: Frontier<Waiting>,
    /// Inputs whose questions took longer than one question may: they are asked again when nothing else waits.
    last: Vec<Waiting>,
    ledger: Ledger,
    /// Entries of the ledger that the log of the folder has.
    logged: BTreeSet<(Bound, Option<String>)>,
    seen: FxHashSet<Input>,
    counts: Counts,
    rank: Rank,
    tests: Vec<Test>,
    reached: Vec<Option<usize>>,
    next: usize,
    log: std::fs::File,
    deadline: Instant,
}

/// Explores a program. `progress` hears of every test.
pub fn explore(
    command: &Command,
    sources: &Sources,
    settings: &Settings,
    progress: &mut dyn FnMut(&Test, usize),
) -> Result<Exploration, ExploreError> {
    let start = Instant::now();
    let mut layers = Layers::new(&settings.allowed);
    let (mut subject, first) = match &settings.at {
        Some((moment, unknown)) => Subject::at(command, moment, unknown, settings.memory, settings.steps)?,
        None => (Subject::new(command, sources, settings.memory)?, vec![0; sources.bytes()]),
    };
    layers.loaded();
    if settings.summaries {
        subject.summarise(settings.steps);
    }
    let places = |subject: &mut Subject, names: &[String]| {
        names.iter().map(|name| subject.code_place(name)).collect::<Result<Vec<CodePlace>, _>>()
    };
    let targets = places(&mut subject, &settings.targets)?;
    let avoid = places(&mut subject, &settings.avoid)?;
    let named: Vec<u64> = targets.iter().chain(&avoid).flat_map(|place| place.addresses.clone()).collect();
    subject.end_blocks_before(named);
    let (log, lines) = folder::open(settings, command, &subject.sources)?;
    let mut explorer = Explorer {
        reached: vec![None; targets.len()],
        subject,
        layers,
        settings,
        targets,
        avoid: avoid.into_iter().flat_map(|place| place.addresses).collect(),
        frontier: Frontier::new(settings.strategy, 1),
        last: Vec::new(),
        ledger: Ledger::default(),
        logged: BTreeSet::new(),
        seen: FxHashSet::default(),
        counts: Counts::default(),
        rank: Rank::default(),
        tests: Vec::new(),
        next: 0,
        log,
        deadline: start + settings.time,
    };
    for name in &settings.avoid {
        explorer.ledger.assume(Premise::new(format!("runs end where they come to {name}")));
    }
    explorer.restore(lines)?;
    if explorer.next == 0 {
        let seeds = if settings.seeds.is_empty() { vec![first] } else { settings.seeds.clone() };
        for seed in seeds {
            explorer.admit(seed, None, true)?;
        }
    }
    explorer.search(progress)?;
    if explorer.tests.iter().any(|test| test.diverged.is_some()) {
        explorer.leave_out(Bound::Diverged)?;
    }
    for ((name, target), reached) in settings.targets.iter().zip(&explorer.targets).zip(&explorer.reached) {
        if reached.is_none() && !target.is_known {
            explorer
                .ledger
                .note(Bound::Control(format!("whether an instruction begins at {name} is not known")));
        }
    }
    for waiting in std::mem::take(&mut explorer.last) {
        explorer.frontier.push(waiting, false);
    }
    let coverage = explorer.counts.coverage(&mut explorer.subject);
    let start_of_runs = explorer.subject.start();
    let waiting = explorer.frontier.len();
    Ok(Exploration {
        coverage,
        symbols: explorer.subject.symbols(),
        bias: explorer.subject.bias(),
        own: explorer.subject.own(),
        is_static: explorer.subject.is_static(),
        completeness: explorer.ledger.close(&explorer.frontier),
        no_layer: explorer.layers.missing().map(str::to_owned),
        waiting,
        start: start_of_runs,
        tests: explorer.tests,
        reached: explorer.reached,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// A number without order, for choices among equals that are the same from run to run.
fn scatter(number: usize) -> u64 {
    (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
}

impl Explorer<'_> {
    /// Lets a new input wait; it is noted first.
    fn admit(&mut self, input: Input, origin: Option<Origin>, fresh: bool) -> Result<(), ExploreError> {
        if !self.seen.insert(input.clone()) {
            return Ok(());
        }
        let number = self.next;
        self.next += 1;
        let parent = origin.as_ref().map(|origin| origin.parent);
        let looked = origin.as_ref().map(|origin| origin.looked.clone());
        let edge = origin.as_ref().map(|origin| origin.edge);
        let generation = origin.as_ref().map_or(0, |origin| origin.generation);
        let prediction = origin.map(|origin| origin.prediction);
        self.note(&Line::Test { number, parent, looked: looked.clone(), input: folder::to_text(&input) })?;
        let waiting = Waiting {
            number,
            parent,
            generation,
            input,
            prediction,
            looked,
            edge,
            is_expanded: false,
            hard: Vec::new(),
            asked: 0,
            concrete: None,
        };
        self.frontier.push(waiting, fresh);
        Ok(())
    }

    /// Notes what is left out, at the moment it is.
    fn leave_out(&mut self, bound: Bound) -> Result<(), ExploreError> {
        self.absorb(vec![Entry { bound, place: None, count: 1 }])
    }

    /// The same for what the process of a run says. The folder keeps all that going on with the search does not mend.
    fn absorb(&mut self, entries: Vec<Entry>) -> Result<(), ExploreError> {
        for entry in &entries {
            let key = (entry.bound.clone(), entry.place.clone());
            if !entry.bound.is_waiting() && self.logged.insert(key) {
                self.note(&Line::Left(entry.clone()))?;
            }
        }
        self.ledger.absorb(entries);
        Ok(())
    }

    fn note(&mut self, line: &Line) -> Result<(), ExploreError> {
        use std::io::Write;
        let text = serde_json::to_string(line).expect("a line of text");
        writeln!(self.log, "{text}").map_err(|error| failed(&self.settings.folder, error))
    }

    /// Takes up the inputs of an earlier exploration.
    fn restore(&mut self, lines: Vec<Line>) -> Result<(), ExploreError> {
        let expanded: BTreeSet<usize> = lines
            .iter()
            .filter_map(|line| if let Line::Expanded(number) = line { Some(*number) } else { None })
            .collect();
        let mut generations: FxHashMap<usize, u32> = FxHashMap::default();
        for line in lines {
            let (number, parent, looked, input) = match line {
                Line::Test { number, parent, looked, input } => (number, parent, looked, input),
                Line::Left(entry) => {
                    self.logged.insert((entry.bound.clone(), entry.place.clone()));
                    self.ledger.absorb([entry]);
                    continue;
                }
                Line::Of { .. } | Line::Expanded(_) => continue,
            };
            let generation = parent.map_or(0, |parent| generations.get(&parent).map_or(1, |of| of + 1));
            generations.insert(number, generation);
            let input = folder::from_text(&input)
                .filter(|input| input.len() == self.subject.sources.bytes())
                .ok_or_else(|| ExploreError::OtherFolder(self.settings.folder.clone()))?;
            self.next = self.next.max(number + 1);
            self.seen.insert(input.clone());
            let is_expanded = expanded.contains(&number);
            self.frontier.push(
                Waiting {
                    number,
                    parent,
                    generation,
                    input,
                    prediction: None,
                    looked,
                    edge: None,
                    is_expanded,
                    hard: Vec::new(),
                    asked: 0,
                    concrete: None,
                },
                is_expanded,
            );
        }
        Ok(())
    }

    fn search(&mut self, progress: &mut dyn FnMut(&Test, usize)) -> Result<(), ExploreError> {
        let mut running: Vec<Running> = Vec::new();
        let mut started = 0;
        loop {
            let late = Instant::now() >= self.deadline;
            if late && (!running.is_empty() || !self.frontier.is_empty() || !self.last.is_empty()) {
                self.leave_out(Bound::Time(self.settings.time))?;
            }
            if late || self.is_done() {
                if !late && !running.is_empty() {
                    self.leave_out(Bound::Unvisited(running.len()))?;
                }
                // What the running ones have sent is kept.
                for run in &mut running {
                    self.receive(run)?;
                }
                return Ok(());
            }
            while running.len() < self.settings.jobs && (started as u64) < self.settings.tests {
                let is_last = |run: &Running| run.waiting.patience(self.settings) == Patience::Last;
                let picked = match self.pick() {
                    None if running.iter().all(is_last) => self.last.pop(),
                    picked => picked,
                };
                let Some(mut waiting) = picked else { break };
                if let Some(concrete) = waiting.concrete.take() {
                    running.push(self.start_symbolic(waiting, *concrete)?);
                    continue;
                }
                started += 1;
                running.push(self.start_concrete(waiting)?);
            }
            if running.is_empty() {
                if !self.frontier.is_empty() || !self.last.is_empty() {
                    self.leave_out(Bound::Inputs(self.settings.tests))?;
                }
                return Ok(());
            }
            let mut index = 0;
            let mut idle = true;
            while index < running.len() {
                self.receive(&mut running[index])?;
                let Some(end) = running[index].worker.ended() else {
                    index += 1;
                    continue;
                };
                idle = false;
                let mut run = running.swap_remove(index);
                self.receive(&mut run)?;
                if let Some(next) = self.finish(run, end, progress)? {
                    running.push(next);
                }
            }
            if idle {
                std::thread::sleep(Duration::from_micros(300));
            }
        }
    }

    /// The input that runs next.
    fn pick(&mut self) -> Option<Waiting> {
        if self.settings.strategy != Strategy::Coverage {
            return self.frontier.pick();
        }
        let turn = self.rank.next_turn();
        let (rank, counts) = (&self.rank, &self.counts);
        let rarity = |waiting: &Waiting| waiting.parent.and_then(|parent| rank.rarity(parent, counts));
        let waiting = self.frontier.pick_least(|waiting| {
            let key = match (waiting.edge, &waiting.looked) {
                (Some(edge), Some(looked)) => {
                    let (tried, old, distance, time) = rank.key(edge, looked.time);
                    (tried + if waiting.hard.is_empty() { 0 } else { LATER }, old, distance, time)
                }
                _ if !waiting.hard.is_empty() => (LATER, true, u32::MAX, std::cmp::Reverse(0)),
                // What is there from the start comes first.
                _ => Key::default(),
            };
            // Of equals any: the deepest may all have the same fault.
            let first = match turn {
                Turn::Fair => (0, 0, 0),
                Turn::Rare => (rarity(waiting).map_or(0, |(runs, _)| runs), 0, 0),
                Turn::Near => {
                    let near = waiting.edge.map_or(0, |edge| rank.nearness(edge));
                    (near, waiting.generation, scatter(waiting.number))
                }
                Turn::Simple => (0, waiting.generation, scatter(waiting.number)),
            };
            (first, key)
        })?;
        match (turn, waiting.edge, rarity(&waiting)) {
            (Turn::Rare, _, Some((_, block))) => self.rank.spend(block),
            (Turn::Near, Some(edge), _) => self.rank.approach(edge),
            _ => {}
        }
        waiting.edge.into_iter().for_each(|edge| self.rank.try_edge(edge));
        Some(waiting)
    }

    /// Whether there is nothing left to find out.
    fn is_done(&self) -> bool {
        self.settings.stop_at_target && !self.targets.is_empty() && self.reached.iter().all(Option::is_some)
    }

    fn start_concrete(&mut self, waiting: Waiting) -> Result<Running, ExploreError> {
        let (subject, settings) = (&mut self.subject, self.settings);
        let (targets, avoid) = (&self.targets, &self.avoid);
        let folder = &settings.folder;
        let written = subject.sources.write(folder, &name(waiting.number), &waiting.input);
        written.map_err(|error| failed(folder, error))?;
        let view = self.layers.fresh().map_err(ExploreError::Worker)?;
        let layers = &self.layers;
        let worker = Worker::start(settings.memory + (1 << 30), |mailbox: &mut Mailbox| {
            if layers.enter(view.as_ref(), subject).is_err() {
                return;
            }
            if subject.give(&waiting.input).is_err() {
                return;
            }
            let start = processor_time();
            let run = concrete::run(subject, waiting.prediction.as_ref(), settings.steps, targets, avoid);
            mailbox.send(&(run, processor_time().saturating_sub(start).as_secs_f64()));
        });
        Ok(Running {
            worker: worker.map_err(ExploreError::Worker)?,
            view,
            waiting,
            concrete: None,
            is_accounted: false,
        })
    }

    fn start_symbolic(&mut self, waiting: Waiting, concrete: Concrete) -> Result<Running, ExploreError> {
        let (subject, settings) = (&mut self.subject, self.settings);
        let (avoid, counts, rank, deadline) = (&self.avoid, &self.counts, &self.rank, self.deadline);
        let view = self.layers.fresh().map_err(ExploreError::Worker)?;
        let layers = &self.layers;
        let worker = Worker::start(settings.term_memory, |mailbox: &mut Mailbox| {
            if layers.enter(view.as_ref(), subject).is_err() {
                return;
            }
            symbolic(subject, settings, &waiting, avoid, (counts, rank), deadline, mailbox);
        });
        let trail = Rc::new(concrete.trail.clone());
        Ok(Running {
            worker: worker.map_err(ExploreError::Worker)?,
            view,
            waiting,
            concrete: Some((concrete, trail)),
            is_accounted: false,
        })
    }

    /// Takes in what a run has sent so far.
    fn receive(&mut self, run: &mut Running) -> Result<(), ExploreError> {
        if run.concrete.is_none() {
            return Ok(());
        }
        while let Some(message) = run.worker.receive::<Message>() {
            let (concrete, way) = run.concrete.as_ref().expect("a symbolic run comes after a concrete one");
            match message {
                Message::Flip { input, blocks, hash, next, looked, fresh, edge } => {
                    let prediction = Prediction { trail: way.clone(), blocks, hash, next };
                    let generation = run.waiting.generation + 1;
                    let origin = Origin { parent: run.waiting.number, generation, prediction, looked, edge };
                    self.admit(input, Some(origin), fresh)?;
                }
                Message::Traced { trail, constraints, evaluated, term_bytes, symbolic } => {
                    let number = run.waiting.number;
                    let strayed =
                        trail.hash != concrete.trail.hash && !matches!(concrete.outcome, Outcome::Steps);
                    let instructions = concrete.trail.parts(&trail, trail.blocks.min(concrete.trail.blocks));
                    let test =
                        self.tests.iter_mut().rev().find(|test| test.number == number).expect("it has run");
                    test.constraints = Some(constraints);
                    test.evaluated = evaluated;
                    test.term_bytes = term_bytes;
                    // Where questions were left for later, the input is read again.
                    test.seconds[1] += symbolic;
                    if strayed && test.diverged.is_none() {
                        test.diverged = Some(instructions);
                    }
                }
                Message::Done { solver, entries, left, hard } => {
                    run.is_accounted = true;
                    let number = run.waiting.number;
                    let test =
                        self.tests.iter_mut().rev().find(|test| test.number == number).expect("it has run");
                    test.seconds[2] += solver;
                    self.absorb(entries)?;
                    if !hard.is_empty() {
                        let waiting = &run.waiting;
                        let again = Waiting {
                            number,
                            parent: waiting.parent,
                            generation: waiting.generation,
                            input: waiting.input.clone(),
                            prediction: None,
                            looked: waiting.looked.clone(),
                            edge: waiting.edge,
                            is_expanded: false,
                            hard,
                            asked: waiting.asked + 1,
                            concrete: Some(Box::new(concrete.clone())),
                        };
                        match again.patience(self.settings) {
                            Patience::Last => self.last.push(again),
                            _ => self.frontier.push(again, false),
                        }
                    } else if left == 0 {
                        self.note(&Line::Expanded(number))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes what a concrete run changed into the folder for it. A symbolic run changes the same.
    fn keep_world(&self, run: &Running) -> Result<Option<Kept>, ExploreError> {
        let (Some(folder), Some(view)) = (&self.settings.keep_world, &run.view) else { return Ok(None) };
        if run.concrete.is_some() || view.is_fresh() {
            return Ok(None);
        }
        let folder = folder.join(name(run.waiting.number));
        view.keep(&folder, MOST_KEPT).map(Some).map_err(|error| failed(&folder, error))
    }

    /// A worker has ended: what comes next for its input.
    fn finish(
        &mut self,
        mut run: Running,
        end: End,
        progress: &mut dyn FnMut(&Test, usize),
    ) -> Result<Option<Running>, ExploreError> {
        let world = self.keep_world(&run)?;
        self.layers.back(run.view.take());
        if run.concrete.is_some() {
            if end == End::Died || !run.is_accounted {
                self.leave_out(Bound::Memory(self.settings.term_memory))?;
            }
            return Ok(None);
        }
        let Some((concrete, seconds)) = run.worker.receive::<(Concrete, f64)>() else {
            self.leave_out(Bound::Memory(self.settings.memory))?;
            return Ok(None);
        };
        self.subject.prepare(&concrete.blocks);
        self.counts.add(&concrete);
        self.rank.enter(&concrete.edges);
        self.rank.keep_rarest(run.waiting.number, &concrete.blocks, &self.counts);
        let aims: Vec<u64> = self.targets.iter().flat_map(|target| target.addresses.clone()).collect();
        self.rank.measure(&mut self.subject, &self.counts, &aims);
        let waiting = run.waiting;
        for &target in &concrete.reached {
            self.reached[target].get_or_insert(waiting.number);
        }
        match &concrete.outcome {
            Outcome::Steps => self.leave_out(Bound::Steps(self.settings.steps))?,
            Outcome::Memory(_) => self.leave_out(Bound::Memory(self.settings.memory))?,
            Outcome::Unsupported(what) => self.leave_out(Bound::Unsupported(what.clone()))?,
            // Avoided, as was asked for, or ended by itself.
            Outcome::Avoided | Outcome::Exited(_) | Outcome::Killed(..) | Outcome::Returned(_) => {}
        }
        let sources = &self.subject.sources;
        let files = sources
            .0
            .iter()
            .map(|source| {
                self.settings.folder.join(format!("{}.{}", name(waiting.number), source.kind.suffix()))
            })
            .collect();
        let test = Test {
            number: waiting.number,
            parent: waiting.parent,
            input: waiting.input.clone(),
            files,
            outcome: concrete.outcome.clone(),
            instructions: concrete.instructions,
            branches: concrete.branches,
            diverged: concrete.diverged,
            constraints: None,
            evaluated: 0,
            term_bytes: 0,
            backtrace: concrete.backtrace.clone(),
            stack: concrete.stack.clone(),
            way: concrete.way.clone(),
            reached: concrete.reached.clone(),
            world,
            seconds: [seconds, 0.0, 0.0],
        };
        progress(&test, self.frontier.len());
        self.tests.push(test);
        if waiting.is_expanded || self.is_done() {
            return Ok(None);
        }
        Ok(Some(self.start_symbolic(waiting, concrete)?))
    }
}
