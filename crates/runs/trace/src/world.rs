//! One target and what is known about it: the sources of traces, and the searches that decide their instants.
//!
//! A walk over several sources goes by stretches on which each of them is wholly known or wholly unknown, and asks the
//! target once for all that are unknown. A single source is the case of one.

use crate::error::{Error, Result};
use crate::intervals::{Intervals, arrived, before, between, ends, nearer, past};
use crate::memo::{self, Budget};
use crate::target::{Direction, Found, Target, Time, Unwatched, Watch};
use crate::times::Times;
use crate::trace::Trace;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::Range;
use std::sync::{Arc, Mutex, Weak};

/// How searches are asked. Answers do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Searches that continue one another ask for 2, 4, up to 512 items.
    pub read_ahead: bool,
    /// Merged sources are searched together.
    pub joint: bool,
    /// How many values may be remembered; older ones are computed again. Times are always kept.
    pub values: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { read_ahead: true, joint: true, values: usize::MAX }
    }
}

impl Options {
    /// One search per item and per source: every search can be foretold.
    pub fn plain() -> Self {
        Options { read_ahead: false, joint: false, values: usize::MAX }
    }
}

/// At most so many items per search.
const MOST_AHEAD: usize = 512;

/// A target, seen without its types.
pub(crate) trait Searcher: Send + Sync {
    fn span(&self) -> Range<Time>;
    fn finished(&self) -> bool;
    fn search(
        &self,
        kinds: &[u32],
        within: Range<Time>,
        direction: Direction,
        max: usize,
        watch: &dyn Watch,
    ) -> Result<Found>;
}

/// A target whose conditions have numbers.
struct Numbered<T: Target> {
    target: Arc<T>,
    conditions: Mutex<Vec<T::Condition>>,
}

impl<T: Target> Searcher for Numbered<T> {
    fn span(&self) -> Range<Time> {
        self.target.span()
    }

    fn finished(&self) -> bool {
        self.target.finished()
    }

    fn search(
        &self,
        kinds: &[u32],
        within: Range<Time>,
        direction: Direction,
        max: usize,
        watch: &dyn Watch,
    ) -> Result<Found> {
        let conditions: SmallVec<[T::Condition; 2]> = {
            let table = self.conditions.lock().unwrap();
            kinds.iter().map(|&kind| table[kind as usize].clone()).collect()
        };
        let found = self.target.search(&conditions, within, direction, max, watch);
        found.map_err(|error| Error::Target(Arc::new(error)))
    }
}

/// A run of searches of one set of kinds, each starting where the one before ended.
#[derive(Clone, Copy)]
struct Run {
    direction: Direction,
    cursor: Time,
    /// Items that the last search asked for.
    asked: usize,
    /// Instants that the run has covered.
    covered: Time,
}

/// What all traces of one target share.
pub(crate) struct Shared {
    searcher: Arc<dyn Searcher>,
    watch: Box<dyn Watch + Send + Sync>,
    options: Options,
    runs: Mutex<FxHashMap<SmallVec<[u32; 2]>, Run>>,
    pub budget: Arc<Budget>,
}

impl Shared {
    pub fn end(&self) -> Time {
        self.searcher.span().end
    }

    pub fn finished(&self) -> bool {
        self.searcher.finished()
    }
}

/// The instants at which one condition holds, as far as they are known.
pub(crate) struct Source {
    shared: Arc<Shared>,
    kind: u32,
    tree: Mutex<Intervals>,
}

/// A source, restricted to an interval.
#[derive(Clone)]
pub(crate) struct Leaf {
    pub source: Arc<Source>,
    pub clip: Range<Time>,
}

/// Whether leaves can be searched together: all of one target that wants it, and not too many.
pub(crate) fn joinable(leaves: &[Leaf]) -> bool {
    let [first, rest @ ..] = leaves else { return false };
    let shared = &first.source.shared;
    shared.options.joint
        && leaves.len() <= 64
        && rest.iter().all(|leaf| Arc::ptr_eq(&leaf.source.shared, shared))
}

/// What is known next to a cursor, over all leaves.
struct View {
    /// The nearest cursor at which something changes.
    end: Time,
    /// The nearest item of the leaves that are known here.
    item: Option<Time>,
    /// The leaves that are not known here, each source once.
    unknown: SmallVec<[usize; 2]>,
    /// Where the first of them becomes known, or its clip ends.
    unknown_end: Time,
}

fn view(leaves: &[Leaf], p: Time, far: Time, direction: Direction) -> View {
    let mut view = View { end: far, item: None, unknown: SmallVec::new(), unknown_end: far };
    let mut unknown_end: Option<Time> = None;
    for (index, leaf) in leaves.iter().enumerate() {
        let (clip_near, clip_far) = ends(&leaf.clip, direction);
        if leaf.clip.is_empty() || arrived(p, clip_far, direction) {
            continue;
        }
        if !arrived(p, clip_near, direction) {
            view.end = nearer(view.end, clip_near, direction);
            continue;
        }
        let stretch = leaf.source.tree.lock().unwrap().stretch(p, direction);
        let end = nearer(stretch.end, clip_far, direction);
        view.end = nearer(view.end, end, direction);
        match stretch.item {
            _ if !stretch.known => {
                if !view.unknown.iter().any(|&i| Arc::ptr_eq(&leaves[i].source, &leaf.source)) {
                    view.unknown.push(index);
                }
                unknown_end = Some(unknown_end.map_or(end, |e| nearer(e, end, direction)));
            }
            Some(item) if !arrived(before(item, direction), end, direction) => {
                view.end = nearer(view.end, past(item, direction), direction);
                view.item = Some(view.item.map_or(item, |i| nearer(i, item, direction)));
            }
            _ => {}
        }
    }
    view.unknown_end = unknown_end.unwrap_or(view.end);
    view
}

/// The interval without what lies outside the span, and the end at which it was cut if that may still grow.
fn inside(shared: &Shared, within: Range<Time>) -> (Range<Time>, Option<Time>) {
    let finished = shared.finished();
    let span = shared.searcher.span();
    let met_end = !finished && within.end > span.end;
    (within.start.max(span.start)..within.end.min(span.end), met_end.then_some(span.end))
}

/// Notes that an answer depends on an end that may still grow.
fn note_end(shared: &Arc<Shared>, end: Option<Time>, found: Option<Time>, direction: Direction) {
    if let Some(end) = end
        && (found.is_none() || direction == Direction::Backward)
    {
        memo::met_end(shared, end);
    }
}

/// The nearest item of any of the leaves, asking the target for what is unknown.
pub(crate) fn find(leaves: &[Leaf], within: Range<Time>, direction: Direction) -> Result<Option<Time>> {
    let shared = &leaves[0].source.shared;
    let (within, met_end) = inside(shared, within);
    let (mut p, far) = ends(&within, direction);
    let found = loop {
        if within.is_empty() || arrived(p, far, direction) {
            break None;
        }
        let view = view(leaves, p, far, direction);
        if !view.unknown.is_empty() {
            search(shared, leaves, &view, p, far, direction)?;
            continue;
        }
        match view.item {
            Some(item) if past(item, direction) == view.end => break Some(item),
            _ => p = view.end,
        }
    };
    note_end(shared, met_end, found, direction);
    Ok(found)
}

/// The same, if no search is needed.
pub(crate) fn known(leaves: &[Leaf], within: Range<Time>, direction: Direction) -> Option<Option<Time>> {
    let shared = &leaves[0].source.shared;
    let (within, met_end) = inside(shared, within);
    let (mut p, far) = ends(&within, direction);
    let found = loop {
        if within.is_empty() || arrived(p, far, direction) {
            break None;
        }
        let view = view(leaves, p, far, direction);
        if !view.unknown.is_empty() {
            return None;
        }
        match view.item {
            Some(item) if past(item, direction) == view.end => break Some(item),
            _ => p = view.end,
        }
    };
    note_end(shared, met_end, found, direction);
    Some(found)
}

/// A watch that remembers whether it stopped the search.
struct Noted<'a> {
    watch: &'a dyn Watch,
    stopped: Cell<bool>,
}

impl Watch for Noted<'_> {
    fn stop(&self) -> bool {
        let stop = self.watch.stop();
        self.stopped.set(self.stopped.get() || stop);
        stop
    }
    fn progress(&self, at: Time) {
        self.watch.progress(at);
    }
}

/// Asks the target for the unknown leaves of a view, and records the answer in their trees.
fn search(
    shared: &Shared,
    leaves: &[Leaf],
    view: &View,
    p: Time,
    far: Time,
    direction: Direction,
) -> Result<()> {
    let kinds: SmallVec<[u32; 2]> = view.unknown.iter().map(|&i| leaves[i].source.kind).collect();
    let mut key = kinds.clone();
    key.sort_unstable();
    let mut end = view.end;
    let mut run = Run { direction, cursor: p, asked: 1, covered: 0 };
    if shared.options.read_ahead {
        if let Some(last) = shared.runs.lock().unwrap().get(&key)
            && last.direction == direction
            && last.cursor == p
        {
            run.asked = (last.asked * 2).min(MOST_AHEAD);
            run.covered = last.covered;
        }
        if view.end == far {
            // Past the asked bound at most as far as the run has come, and never into what is known or clipped.
            let span = shared.searcher.span();
            let ahead = match direction {
                Direction::Forward => far.saturating_add(run.covered).min(span.end),
                Direction::Backward => far.saturating_sub(run.covered).max(span.start),
            };
            end = nearer(ahead, view.unknown_end, direction);
        }
    }
    let asked = between(p, end, direction);
    let watch = Noted { watch: &*shared.watch, stopped: Cell::new(false) };
    let found = shared.searcher.search(&kinds, asked.clone(), direction, run.asked, &watch)?;
    check(&found, &asked, direction, run.asked, watch.stopped.get())?;
    for (bit, &index) in view.unknown.iter().enumerate() {
        let times = found.hits.iter().filter(|hit| hit.which & (1 << bit) != 0).map(|hit| hit.time);
        leaves[index].source.tree.lock().unwrap().decide(found.decided.clone(), times);
    }
    if shared.options.read_ahead {
        run.cursor = ends(&found.decided, direction).1;
        run.covered += found.decided.end - found.decided.start;
        shared.runs.lock().unwrap().insert(key, run);
    }
    // A watch may say stop after the last instant was decided: then the answer stands.
    if watch.stopped.get() && found.hits.len() < run.asked && found.decided != asked {
        return Err(Error::Interrupted);
    }
    Ok(())
}

/// Holds what a target found against its contract.
fn check(found: &Found, asked: &Range<Time>, direction: Direction, max: usize, stopped: bool) -> Result<()> {
    let decided = &found.decided;
    if decided.start > decided.end || decided.start < asked.start || decided.end > asked.end {
        return Err(Error::Contract("decided instants lie outside what was asked"));
    }
    if ends(decided, direction).0 != ends(asked, direction).0 {
        return Err(Error::Contract("decided instants do not start at the near end"));
    }
    if found.hits.iter().any(|hit| !decided.contains(&hit.time) || hit.which == 0) {
        return Err(Error::Contract("a hit lies outside the decided instants or meets no condition"));
    }
    if found.hits.len() > max {
        return Err(Error::Contract("more hits than were asked for"));
    }
    if found.hits.len() < max && decided != asked && !stopped {
        return Err(Error::Contract("a search that nobody stopped left instants undecided"));
    }
    Ok(())
}

impl Source {
    fn leaf(self: &Arc<Self>) -> Leaf {
        Leaf { source: self.clone(), clip: 0..Time::MAX }
    }
}

/// The times of a source.
struct SourceTimes {
    leaf: [Leaf; 1],
}

impl Times for SourceTimes {
    fn find(&self, within: Range<Time>, direction: Direction) -> Result<Option<Time>> {
        find(&self.leaf, within, direction)
    }

    fn known(&self, within: Range<Time>, direction: Direction) -> Option<Option<Time>> {
        known(&self.leaf, within, direction)
    }

    fn limit(&self) -> Time {
        let shared = &self.leaf[0].source.shared;
        if shared.finished() { Time::MAX } else { shared.end() }
    }

    fn leaves(&self, clip: Range<Time>, leaves: &mut Vec<Leaf>) -> bool {
        leaves.push(Leaf { source: self.leaf[0].source.clone(), clip });
        true
    }

    fn budget(&self) -> Arc<Budget> {
        self.leaf[0].source.shared.budget.clone()
    }
}

/// Sources by their conditions, each with the number of its kind.
type Sources<C> = FxHashMap<C, (u32, Weak<Source>)>;

/// A target from which traces are taken.
pub struct World<T: Target> {
    numbered: Arc<Numbered<T>>,
    shared: Arc<Shared>,
    /// Sources in use, so that equal conditions share what is known.
    sources: Mutex<Sources<T::Condition>>,
}

impl<T: Target> World<T> {
    /// A world whose searches nobody interrupts.
    pub fn new(target: Arc<T>, options: Options) -> Self {
        Self::watched(target, options, Unwatched)
    }

    /// A world whose searches are watched.
    pub fn watched(target: Arc<T>, options: Options, watch: impl Watch + Send + Sync + 'static) -> Self {
        let numbered = Arc::new(Numbered { target, conditions: Mutex::default() });
        let shared = Arc::new(Shared {
            searcher: numbered.clone(),
            watch: Box::new(watch),
            options,
            runs: Mutex::default(),
            budget: Arc::new(Budget::new(options.values)),
        });
        World { numbered, shared, sources: Mutex::default() }
    }

    /// The target.
    pub fn target(&self) -> &Arc<T> {
        &self.numbered.target
    }

    /// The times at which a condition holds, with the value that `value` gives each. Asks nothing yet.
    pub fn trace<V: Clone + Send + Sync + 'static>(
        &self,
        condition: T::Condition,
        value: impl Fn(Time) -> Result<V> + Send + Sync + 'static,
    ) -> Trace<V> {
        let source = self.source(condition);
        Trace::from_source(Arc::new(SourceTimes { leaf: [source.leaf()] }), value)
    }

    fn source(&self, condition: T::Condition) -> Arc<Source> {
        let mut sources = self.sources.lock().unwrap();
        if let Some(source) = sources.get(&condition).and_then(|(_, source)| source.upgrade()) {
            return source;
        }
        let kind = sources.get(&condition).map(|&(kind, _)| kind).unwrap_or_else(|| {
            let mut conditions = self.numbered.conditions.lock().unwrap();
            conditions.push(condition.clone());
            conditions.len() as u32 - 1
        });
        let source = Arc::new(Source { shared: self.shared.clone(), kind, tree: Mutex::default() });
        sources.insert(condition, (kind, Arc::downgrade(&source)));
        source
    }
}
