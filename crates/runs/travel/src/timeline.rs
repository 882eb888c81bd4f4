//! What is known of a recording: keyframes to start from, and what was seen between them.

use crate::error::TravelError;
use crate::seen::Seen;
use crate::store::{Contents, Stored};
use parallax_process::Snapshot;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A keyframe, and what it costs.
struct Keyframe {
    snapshot: Arc<Snapshot>,
    /// The pages that it does not share with the keyframe before it, in order.
    own: Vec<u64>,
    /// Bytes of its table of pages.
    table: u64,
}

impl Keyframe {
    fn bytes(&self) -> u64 {
        self.own.len() as u64 * parallax_process::memory::PAGE + self.table
    }
}

/// What is known.
#[derive(Default)]
pub(crate) struct Known {
    /// Steps of an interval.
    interval: u64,
    /// Bytes that keyframes may hold.
    budget: u64,
    keyframes: BTreeMap<u64, Keyframe>,
    /// Keyframes that are still in a file.
    stored: Option<Stored>,
    /// What was seen in each interval.
    seen: Vec<Arc<Seen>>,
    /// How many steps have been looked at.
    frontier: u64,
    bytes: u64,
    failed: Option<TravelError>,
    /// Up to where the recording is to be looked at, by who wants it.
    wanted: BTreeMap<u64, u64>,
    next_want: u64,
    /// Whether the pioneer is at work.
    pub pioneering: bool,
}

impl Known {
    /// The latest keyframe that is not after so many steps.
    pub fn keyframe(&mut self, steps: u64) -> Option<Arc<Snapshot>> {
        self.fetch(steps);
        self.keyframes.range(..=steps).next_back().map(|(_, keyframe)| keyframe.snapshot.clone())
    }

    /// The steps of the next keyframe that is after so many, as far as it was fetched.
    pub fn next_keyframe(&self, steps: u64) -> Option<u64> {
        self.keyframes.range(steps.saturating_add(1)..).next().map(|(steps, _)| *steps)
    }

    /// Takes keyframes out of the file, up to so many steps.
    fn fetch(&mut self, steps: u64) {
        while let Some(stored) = &mut self.stored
            && stored.next_time().is_some_and(|time| time <= steps)
            && let Some((snapshot, own)) = stored.next()
        {
            self.insert(snapshot, own);
        }
    }

    /// How many steps have been looked at.
    pub fn frontier(&self) -> u64 {
        self.frontier
    }

    /// Takes over what a file knows; false if its keyframes are not to be had.
    pub fn load(&mut self, stored: Stored, last: u64) -> bool {
        let frontier = stored.frontier;
        self.seen.clone_from(&stored.seen);
        self.stored = Some(stored);
        // Everything is reached from the first one, and whoever looks on goes on from the last one.
        self.fetch(if frontier < last { frontier } else { 0 });
        let has = |steps: u64| self.keyframes.contains_key(&steps);
        let whole = has(0) && (frontier == last || has(frontier));
        if whole {
            self.frontier = frontier;
        } else {
            *self = Known { interval: self.interval, budget: self.budget, ..Known::default() };
        }
        whole
    }

    /// What is to be kept in a file.
    pub fn contents(&self) -> Contents {
        let keyframes = self.keyframes.values().map(|keyframe| keyframe.snapshot.clone()).collect();
        Contents { frontier: self.frontier, seen: self.seen.clone(), keyframes }
    }

    pub fn keyframes(&self) -> usize {
        self.keyframes.len()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn seen(&self, interval: usize) -> Option<Arc<Seen>> {
        self.seen.get(interval).cloned()
    }

    /// Whether the pioneer has to go on.
    pub fn is_wanted(&self) -> bool {
        self.failed.is_none() && self.wanted.values().any(|until| *until > self.frontier)
    }

    pub fn fail(&mut self, error: TravelError) {
        self.failed = Some(error);
    }

    /// A keyframe at the end of the interval that was seen, or at the start.
    pub fn add(&mut self, snapshot: Snapshot, seen: Option<Seen>) {
        let own = seen.as_ref().map(|seen| seen.written().to_vec()).unwrap_or_default();
        self.frontier = snapshot.time();
        self.seen.extend(seen.map(Arc::new));
        self.insert(snapshot, own);
    }

    /// The end of the interval after so many steps.
    pub fn interval_end(&self, steps: u64) -> u64 {
        (steps / self.interval.max(1) + 1).saturating_mul(self.interval.max(1))
    }

    /// Whether a replay that passes the end of an interval is to leave a keyframe there.
    pub fn lacks(&self, steps: u64) -> bool {
        let is_end = steps.is_multiple_of(self.interval.max(1)) && steps < self.frontier;
        is_end && self.bytes < self.budget && !self.keyframes.contains_key(&steps)
    }

    /// A keyframe that a replay left when it passed the end of an interval.
    pub fn leave(&mut self, snapshot: Snapshot) {
        let steps = snapshot.time();
        if !self.lacks(steps) {
            return;
        }
        let before = self.keyframes.range(..steps).next_back().map_or(0, |(before, _)| *before);
        let own = self.written(before..steps);
        let next = self.next_keyframe(steps).map(|next| (next, self.written(steps..next)));
        if let Some((next, own)) = next {
            let next = self.keyframes.get_mut(&next).expect("just found");
            self.bytes -= next.bytes();
            next.own = own;
            self.bytes += next.bytes();
        }
        self.insert(snapshot, own);
    }

    /// The pages that were written between two ends of intervals, in order.
    fn written(&self, steps: Range<u64>) -> Vec<u64> {
        let interval = self.interval.max(1);
        let intervals = (steps.start / interval) as usize..steps.end.div_ceil(interval) as usize;
        let seen = self.seen.get(intervals.start..intervals.end.min(self.seen.len())).unwrap_or_default();
        let mut pages: Vec<u64> = seen.iter().flat_map(|seen| seen.written()).copied().collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    fn insert(&mut self, snapshot: Snapshot, own: Vec<u64>) {
        const ENTRY: u64 = 40;
        let steps = snapshot.time();
        let table = snapshot.touched_pages() as u64 * ENTRY;
        let keyframe = Keyframe { snapshot: Arc::new(snapshot), own, table };
        self.bytes += keyframe.bytes();
        if let Some(old) = self.keyframes.insert(steps, keyframe) {
            self.bytes -= old.bytes();
        }
        while self.bytes > self.budget && self.thin() {}
    }

    /// Drops the keyframe whose loss adds least to seeking, for what it frees; false if none can go. The first and the last
    /// stay: everything can be reached from the one, and the pioneer's intervals are measured from the other.
    fn thin(&mut self) -> bool {
        let times: Vec<u64> = self.keyframes.keys().copied().collect();
        let freed = |at: u64, next: u64| {
            let (gone, next) = (&self.keyframes[&at], &self.keyframes[&next]);
            // Pages that the next one has a version of its own of; the rest it holds on to.
            let pages = gone.own.iter().filter(|page| next.own.binary_search(page).is_ok()).count() as u64;
            pages * parallax_process::memory::PAGE + gone.table
        };
        let cost = |window: &[u64]| {
            let [before, at, next] = *window else { return f64::INFINITY };
            // What the mean distance to a keyframe grows by.
            let added = (at - before) as f64 * (next - at) as f64;
            added / (1 + freed(at, next)) as f64
        };
        let windows = times.windows(3);
        let Some(cheapest) = windows.min_by(|a, b| cost(a).total_cmp(&cost(b))) else { return false };
        let [_, at, next] = *cheapest else { return false };
        let gone = self.keyframes.remove(&at).expect("just listed");
        let next = self.keyframes.get_mut(&next).expect("just listed");
        self.bytes -= gone.bytes() + next.bytes();
        next.own.extend(gone.own);
        next.own.sort_unstable();
        next.own.dedup();
        self.bytes += next.bytes();
        true
    }
}

/// What is known, for all threads.
pub(crate) struct Timeline {
    known: Mutex<Known>,
    grown: Condvar,
}

impl Timeline {
    /// Nothing is known yet.
    pub fn new(interval: u64, budget: u64) -> Timeline {
        let known = Known { interval, budget, ..Known::default() };
        Timeline { known: Mutex::new(known), grown: Condvar::new() }
    }

    pub fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn notify(&self) {
        self.grown.notify_all();
    }

    /// Waits until so many steps have been looked at, asking now and then whether that is still wanted.
    pub fn wait(&self, steps: u64, stop: impl Fn() -> bool) -> Result<(), TravelError> {
        const PATIENCE: Duration = Duration::from_millis(10);
        let mut known = self.lock();
        loop {
            if known.frontier >= steps {
                return Ok(());
            }
            if let Some(error) = &known.failed {
                return Err(error.clone());
            }
            if stop() {
                return Err(TravelError::Stopped);
            }
            let waited = self.grown.wait_timeout(known, PATIENCE);
            known = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Somebody's wish that the recording be looked at up to some time, as long as it is held.
pub(crate) struct Want {
    timeline: Arc<Timeline>,
    number: u64,
}

impl Want {
    pub fn new(timeline: &Arc<Timeline>, until: u64) -> Want {
        let mut known = timeline.lock();
        let number = known.next_want;
        known.next_want += 1;
        known.wanted.insert(number, until);
        Want { timeline: timeline.clone(), number }
    }
}

impl Drop for Want {
    fn drop(&mut self) {
        self.timeline.lock().wanted.remove(&self.number);
    }
}
