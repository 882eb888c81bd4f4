//! What is known of a recording: keyframes to start from, and what was seen between them.

use crate::error::TravelError;
use crate::seen::Seen;
use parallax_process::Snapshot;
use std::collections::BTreeMap;
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
    keyframes: BTreeMap<u64, Keyframe>,
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
    /// The steps of the latest keyframe that is not after so many.
    pub fn keyframe(&self, steps: u64) -> Option<Arc<Snapshot>> {
        self.keyframes.range(..=steps).next_back().map(|(_, keyframe)| keyframe.snapshot.clone())
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
    pub fn add(&mut self, snapshot: Snapshot, pages: usize, seen: Option<Seen>, budget: u64) {
        const ENTRY: u64 = 40;
        let steps = snapshot.time();
        let own = seen.as_ref().map(|seen| seen.written().to_vec()).unwrap_or_default();
        let keyframe = Keyframe { snapshot: Arc::new(snapshot), own, table: pages as u64 * ENTRY };
        self.bytes += keyframe.bytes();
        self.keyframes.insert(steps, keyframe);
        self.frontier = steps;
        self.seen.extend(seen.map(Arc::new));
        while self.bytes > budget && self.thin() {}
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
#[derive(Default)]
pub(crate) struct Timeline {
    known: Mutex<Known>,
    grown: Condvar,
}

impl Timeline {
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
