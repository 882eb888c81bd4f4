//! The engines behind one interface: each gives the end states of every path, as snapshots.

use crate::explore::{Progress, explore};
use crate::lazy::{Laziness, Lazy};
use crate::machine::{End, Event, Fault, State, Task};
use crate::memory::{Memory, Stop, Value, ValueOf};
use crate::setup::Setup;
use crate::summary::{PARAMETERS_LOC, Summary, THIS_LOC};
use crate::syntax::Program;
use parallax_heap::{Cell, Draft, Guarded, Target};
use std::collections::BTreeMap;

/// How to treat input heaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Fork when a field is read.
    Lazy,
    /// Fork when a value is dereferenced or compared.
    Lazier,
    /// As lazier, null before place.
    LazierSharp,
    /// Do not fork: one guarded heap.
    Summary,
}

impl Engine {
    /// Every engine.
    pub const ALL: [Engine; 4] = [Engine::Lazy, Engine::Lazier, Engine::LazierSharp, Engine::Summary];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Lazy => "lazy",
            Engine::Lazier => "lazier",
            Engine::LazierSharp => "lazier#",
            Engine::Summary => "summary",
        }
    }

    /// When the engine decides, if it forks to do so.
    pub fn laziness(self) -> Option<Laziness> {
        match self {
            Engine::Lazy => Some(Laziness::Lazy),
            Engine::Lazier => Some(Laziness::Lazier),
            Engine::LazierSharp => Some(Laziness::LazierSharp),
            Engine::Summary => None,
        }
    }
}

/// How a path ended, without its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// With a value.
    Value,
    /// With an error.
    Error(Fault),
    /// At a bound.
    Cut(crate::machine::Cut),
    /// Rejected by an assumption or the precondition.
    Discarded,
}

impl<V> From<&End<V>> for Ending {
    fn from(end: &End<V>) -> Self {
        match end {
            End::Value(_) => Ending::Value,
            End::Error(fault, _) => Ending::Error(*fault),
            End::Cut(cut, _) => Ending::Cut(*cut),
            End::Discarded => Ending::Discarded,
        }
    }
}

/// What tells paths apart: outcomes, oldest first, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trace {
    /// The outcomes.
    pub events: Vec<Event>,
    /// The end.
    pub ending: Ending,
}

impl Trace {
    /// The trace of an end state.
    pub fn of<M: Memory>(state: &State<M>, end: &End<ValueOf<M>>) -> Self {
        let mut events: Vec<Event> = state.trace.newest_first().copied().collect();
        events.reverse();
        Trace { events, ending: end.into() }
    }
}

/// The root that is the reference whose dereference failed.
pub const FAILED: &str = "dereferenced";

/// The end of a path of a symbolic engine: its memory and what it can still reach.
#[derive(Clone)]
pub struct Final<M: Memory> {
    /// The heap.
    pub memory: M,
    /// Variables by name, then the result if there is one.
    pub roots: Vec<(String, ValueOf<M>)>,
    /// The end.
    pub end: End<ValueOf<M>>,
}

impl<M: Memory> Final<M> {
    /// From an end state.
    pub fn new(program: &Program, state: State<M>, end: End<ValueOf<M>>) -> Self {
        let mut roots: Vec<(String, ValueOf<M>)> = state
            .environment()
            .iter()
            .map(|(name, value)| (program.name(*name).to_owned(), value.clone()))
            .collect();
        roots.sort_by(|a, b| a.0.cmp(&b.0));
        match (&end, state.value()) {
            (End::Value(value), _) => roots.push(("result".into(), value.clone())),
            (End::Error(Fault::Null, _), Some(Value::Ref(_))) => {
                roots.extend(state.value().map(|failed| (FAILED.to_owned(), failed.clone())));
            }
            _ => {}
        }
        Final { memory: state.memory, roots, end }
    }
}

impl Final<Lazy<'_>> {
    /// The heap with `this`, the parameters and the other roots.
    pub fn snapshot(&self) -> parallax_heap::Snapshot {
        use crate::lazy::Pointer;
        let mut roots = vec![
            ("this".to_owned(), Value::Ref(Pointer::Object(0))),
            ("parameters".to_owned(), Value::Ref(Pointer::Object(1))),
        ];
        roots.extend(self.roots.iter().cloned());
        self.memory.snapshot(&roots)
    }
}

impl<'s> Final<Summary<'s>> {
    /// The guarded heap.
    pub fn heap(&self) -> &Guarded<'s> {
        &self.memory.heap
    }

    /// `this`, the parameters and the other roots, as contents of fields.
    pub fn cells(&self) -> Vec<(String, Cell)> {
        let heap = self.heap();
        let certainly = |loc| Cell::Ref(heap.certainly(Target::Loc(loc)));
        let mut roots = vec![
            ("this".to_owned(), certainly(THIS_LOC)),
            ("parameters".to_owned(), certainly(PARAMETERS_LOC)),
        ];
        roots.extend(self.roots.iter().map(|(name, value)| (name.clone(), Summary::cell(value))));
        roots
    }
}

/// The ends of one trace.
pub struct Bucket<M: Memory> {
    /// How many there are.
    pub count: usize,
    /// The first of them, as many as were to be kept.
    pub finals: Vec<Final<M>>,
}

/// Every end state, by trace.
pub struct Ends<M: Memory> {
    /// The ends of each trace, discarded paths included.
    pub traces: BTreeMap<Trace, Bucket<M>>,
    /// How many paths and states there were.
    pub progress: Progress,
    /// Whether everything was visited, or why not.
    pub outcome: Result<(), Stop>,
}

impl Ends<Lazy<'_>> {
    /// Decides every open token of every end state that was kept.
    pub fn expand(&mut self) {
        for bucket in self.traces.values_mut() {
            let finals = std::mem::take(&mut bucket.finals);
            for Final { memory, roots, end } in finals {
                let one = |memory| Final { memory, roots: roots.clone(), end: end.clone() };
                bucket.finals.extend(memory.expand().into_iter().map(one));
            }
            bucket.count = bucket.count.max(bucket.finals.len());
        }
    }
}

/// Asked at every step; stops the run by returning an error.
pub type Watch<'a> = &'a mut dyn FnMut(&Progress) -> Result<(), Stop>;

fn collect<M: Memory>(task: &Task, memory: M, keep: usize, watch: Watch) -> Ends<M> {
    let mut traces: BTreeMap<Trace, Bucket<M>> = BTreeMap::new();
    let (progress, outcome) = explore(task, memory, watch, &mut |state, end| {
        let trace = Trace::of(&state, &end);
        let bucket = traces.entry(trace).or_insert_with(|| Bucket { count: 0, finals: Vec::new() });
        bucket.count += 1;
        if bucket.finals.len() < keep {
            bucket.finals.push(Final::new(&task.program, state, end));
        }
        Ok(())
    });
    Ends { traces, progress, outcome }
}

/// Runs the summary engine.
pub fn summary<'s>(setup: &Setup<'s>, task: &Task, draft: Option<Draft>, watch: Watch) -> Ends<Summary<'s>> {
    collect(task, Summary::new(setup, draft), usize::MAX, watch)
}

/// Runs one of the engines that fork, and keeps the first `keep` end states of every trace.
pub fn lazy<'s>(
    setup: &Setup<'s>,
    task: &Task,
    laziness: Laziness,
    keep: usize,
    watch: Watch,
) -> Ends<Lazy<'s>> {
    collect(task, Lazy::new(setup, laziness), keep, watch)
}
