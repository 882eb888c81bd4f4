//! The engines behind one interface: each gives the end states of every path, as snapshots.

use crate::explore::{Explored, Progress, explore};
use crate::lazy::{Laziness, Lazy};
use crate::machine::{End, EndOf, Machine, MachineState};
use crate::memory::{Memory, Stop, Value, ValueOf};
use crate::setup::Setup;
use crate::summary::{PARAMETERS_LOC, Summary, THIS_LOC};
use parallax_heap::{Cell, Draft, Guarded, Target};
use parallax_path::Completeness;
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
pub enum Ending<F, C> {
    /// With a value.
    Value,
    /// With an error.
    Error(F),
    /// At a bound.
    Cut(C),
    /// Rejected by an assumption or the precondition.
    Discarded,
}

impl<V, F: Clone, C: Clone, P> From<&End<V, F, C, P>> for Ending<F, C> {
    fn from(end: &End<V, F, C, P>) -> Self {
        match end {
            End::Value(_) => Ending::Value,
            End::Error(fault, _) => Ending::Error(fault.clone()),
            End::Cut(cut, _) => Ending::Cut(cut.clone()),
            End::Discarded => Ending::Discarded,
        }
    }
}

/// What tells paths apart: outcomes, oldest first, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trace<E, F, C> {
    /// The outcomes.
    pub events: Vec<E>,
    /// The end.
    pub ending: Ending<F, C>,
}

/// The traces of a language.
pub type TraceOf<L> = Trace<<L as Machine>::Event, <L as Machine>::Fault, <L as Machine>::Cut>;

/// The trace of an end state.
pub fn trace_of<L: Machine, M: Memory>(state: &L::State<M>, end: &EndOf<L, M>) -> TraceOf<L> {
    Trace { events: state.events(), ending: end.into() }
}

/// The root that is the reference whose dereference failed.
pub const FAILED: &str = "dereferenced";

/// The end of a path of a symbolic engine: its memory and what it can still reach.
pub struct Final<L: Machine, M: Memory> {
    /// The heap.
    pub memory: M,
    /// Variables by name, then the result if there is one.
    pub roots: Vec<(String, ValueOf<M>)>,
    /// The end.
    pub end: EndOf<L, M>,
}

impl<L: Machine, M: Memory> Clone for Final<L, M> {
    fn clone(&self) -> Self {
        Final { memory: self.memory.clone(), roots: self.roots.clone(), end: self.end.clone() }
    }
}

impl<L: Machine, M: Memory> Final<L, M> {
    /// From an end state.
    pub fn new(language: &L, state: L::State<M>, end: EndOf<L, M>) -> Self {
        let roots = state.roots(language, &end);
        let mut memory = state.into_memory();
        memory.settle();
        Final { memory, roots, end }
    }
}

impl<L: Machine> Final<L, Lazy<'_>> {
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

impl<'s, L: Machine> Final<L, Summary<'s>> {
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
pub struct Bucket<L: Machine, M: Memory> {
    /// How many there are.
    pub count: usize,
    /// The first of them, as many as were to be kept.
    pub finals: Vec<Final<L, M>>,
}

/// Every end state, by trace.
pub struct Ends<L: Machine, M: Memory> {
    /// The ends of each trace, discarded paths included.
    pub traces: BTreeMap<TraceOf<L>, Bucket<L, M>>,
    /// How many paths and states there were.
    pub progress: Progress,
    /// Whether the run came to its end, or why not.
    pub outcome: Result<(), Stop>,
    /// What the run left out, on whatever path: the traces are all there are if it is complete.
    pub completeness: Completeness,
}

impl<L: Machine> Ends<L, Lazy<'_>> {
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

fn collect<L: Machine, M: Memory>(task: &L, memory: M, keep: usize, watch: Watch) -> Ends<L, M> {
    let mut traces: BTreeMap<TraceOf<L>, Bucket<L, M>> = BTreeMap::new();
    let explored = explore(task, memory, watch, &mut |state, end| {
        let trace = trace_of::<L, M>(&state, &end);
        let bucket = traces.entry(trace).or_insert_with(|| Bucket { count: 0, finals: Vec::new() });
        bucket.count += 1;
        if bucket.finals.len() < keep {
            bucket.finals.push(Final::new(task, state, end));
        }
        Ok(())
    });
    let Explored { progress, outcome, completeness } = explored;
    Ends { traces, progress, outcome, completeness }
}

/// Runs the summary engine.
pub fn summary<'s, L: Machine>(
    setup: &Setup<'s>,
    task: &L,
    draft: Option<Draft>,
    watch: Watch,
) -> Ends<L, Summary<'s>> {
    collect(task, Summary::new(setup, draft), usize::MAX, watch)
}

/// Runs one of the engines that fork, and keeps the first `keep` end states of every trace.
pub fn lazy<'s, L: Machine>(
    setup: &Setup<'s>,
    task: &L,
    laziness: Laziness,
    keep: usize,
    watch: Watch,
) -> Ends<L, Lazy<'s>> {
    collect(task, Lazy::new(setup, laziness), keep, watch)
}
