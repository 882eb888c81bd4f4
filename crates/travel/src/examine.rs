//! Tests of the state at a hit, made where a replay passes it: a condition of its own for a search.
//!
//! A search for a tested condition finds the steps of the plain one, goes through them from the near end in batches that
//! grow, and keeps those whose states pass. Verdicts are kept, so that a test that failed loses nothing.

use crate::error::TravelError;
use crate::filter::Filter;
use crate::search::search as plain_search;
use crate::state::State;
use crate::travel::Travel;
use crate::visit::Side;
use parallax_trace::{Direction, Found, Hit, Target, Time, Watch};
use rustc_hash::FxHashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Says whether a state is wanted. It is asked on threads of the search, and must always give the same answer.
pub trait Examine: Send + Sync {
    /// Whether it is the state after the step that counts, and not that before it.
    fn side(&self) -> Side;
    /// Whether the state is wanted.
    fn holds(&self, state: State) -> Result<bool, Unanswered>;
}

/// Why a test has no answer: an error of whoever wrote the test.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unanswered(pub Arc<dyn std::error::Error + Send + Sync>);

impl PartialEq for Unanswered {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Unanswered {}

/// A test in a condition. It equals itself and its clones, and no other.
#[derive(Clone)]
pub struct Test(pub Arc<dyn Examine>);

impl Test {
    fn address(&self) -> usize {
        Arc::as_ptr(&self.0).cast::<()>() as usize
    }
}

impl PartialEq for Test {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for Test {}

impl Hash for Test {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl fmt::Debug for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Test({:#x})", self.address())
    }
}

/// So many verdicts are kept.
const MOST: usize = 1 << 20;

/// The smallest and the largest batch of hits that are looked at together.
const BATCH: Range<usize> = 16..2048;

/// A batch of at least this many is shared between the workers.
const SHARED: usize = 256;

/// What tests have said.
#[derive(Default)]
pub(crate) struct Verdicts(Mutex<FxHashMap<(Test, Time), bool>>);

impl Verdicts {
    fn get(&self, test: &Test, time: Time) -> Option<bool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&(test.clone(), time)).copied()
    }

    fn add(&self, verdicts: impl IntoIterator<Item = ((Test, Time), bool)>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() > MOST {
            kept.clear();
        }
        kept.extend(verdicts);
    }
}

/// Searches for conditions of which some are tested.
pub(crate) fn search(
    travel: &Travel,
    conditions: &[Filter],
    within: Range<Time>,
    direction: Direction,
    max: usize,
    watch: &dyn Watch,
) -> Result<Found, TravelError> {
    let split = |condition: &Filter| match condition {
        Filter::When(plain, test) => ((**plain).clone(), Some(test.clone())),
        plain => (plain.clone(), None),
    };
    let (plain, tests): (Vec<Filter>, Vec<Option<Test>>) = conditions.iter().map(split).unzip();
    if tests.iter().all(Option::is_none) {
        return plain_search(travel, conditions, within, direction, max, watch);
    }
    let mut found = Found {
        hits: Vec::new(),
        decided: match direction {
            Direction::Forward => within.start..within.start,
            Direction::Backward => within.end..within.end,
        },
    };
    let mut rest = within.clone();
    let mut batch = max.clamp(BATCH.start, BATCH.end);
    while !rest.is_empty() {
        let part = plain_search(travel, &plain, rest.clone(), direction, batch, watch)?;
        examine(travel, &tests, &part.hits, watch)?;
        let wanted = |hit: &Hit| {
            let passes = |(index, test): (usize, &Option<Test>)| {
                let holds =
                    test.as_ref().is_none_or(|test| travel.verdicts.get(test, hit.time) == Some(true));
                u64::from(hit.which >> index & 1 != 0 && holds) << index
            };
            tests.iter().enumerate().map(passes).fold(0, |all, bit| all | bit)
        };
        for hit in &part.hits {
            let which = wanted(hit);
            if which != 0 {
                found.hits.push(Hit { time: hit.time, which });
            }
            if found.hits.len() == max {
                match direction {
                    Direction::Forward => found.decided.end = hit.time + 1,
                    Direction::Backward => found.decided.start = hit.time,
                }
                return Ok(found);
            }
        }
        match direction {
            Direction::Forward => {
                found.decided.end = part.decided.end;
                rest.start = part.decided.end;
            }
            Direction::Backward => {
                found.decided.start = part.decided.start;
                rest.end = part.decided.start;
            }
        }
        if part.decided.is_empty() || watch.stop() {
            return Ok(found);
        }
        batch = (batch * 2).min(BATCH.end);
    }
    Ok(found)
}

/// A verdict of a test about a time.
type Verdict = ((Test, Time), bool);

/// Lets the tests look at the hits that they have not seen.
fn examine(
    travel: &Travel,
    tests: &[Option<Test>],
    hits: &[Hit],
    watch: &dyn Watch,
) -> Result<(), TravelError> {
    let mut wanted: Vec<(Time, Side, Test)> = Vec::new();
    for hit in hits {
        for (index, test) in tests.iter().enumerate() {
            if let Some(test) = test
                && hit.which >> index & 1 != 0
                && travel.verdicts.get(test, hit.time).is_none()
            {
                wanted.push((hit.time, test.0.side(), test.clone()));
            }
        }
    }
    wanted.sort_by_key(|(time, side, _)| (*time, *side == Side::After));
    let workers = if wanted.len() < SHARED { 1 } else { travel.examiners.len() };
    let size = wanted.len().div_ceil(workers).max(1);
    let pieces: Vec<Vec<(Time, Side, Test)>> = wanted.chunks(size).map(<[_]>::to_vec).collect();
    let jobs = pieces.into_iter().zip(&travel.examiners).map(|(piece, hand)| {
        let times: Vec<(Time, Side)> = piece.iter().map(|(time, side, _)| (*time, *side)).collect();
        travel.visit_with(
            hand,
            times,
            piece.into_iter(),
            |tests, state| -> Result<Option<Verdict>, Unanswered> {
                let Some((time, _, test)) = tests.next() else { return Ok(None) };
                let holds = test.0.holds(state)?;
                Ok(Some(((test, time), holds)))
            },
        )
    });
    let jobs: Vec<_> = jobs.collect::<Result<_, _>>()?;
    let mut failed = None;
    for job in jobs {
        let (verdicts, error) = job.wait(watch);
        travel.verdicts.add(verdicts);
        failed = failed.or(error);
    }
    failed.map_or(Ok(()), Err)
}

/// A pass through times that another thread makes.
pub(crate) struct Pass<T> {
    received: std::sync::mpsc::Receiver<Result<T, TravelError>>,
    stop: Arc<std::sync::atomic::AtomicBool>,
}

impl<T> Pass<T> {
    /// What came out, until the end or an error.
    pub fn wait(self, watch: &dyn Watch) -> (Vec<T>, Option<TravelError>) {
        use std::sync::mpsc::RecvTimeoutError;
        const PATIENCE: std::time::Duration = std::time::Duration::from_millis(10);
        let mut all = Vec::new();
        let mut asked = std::time::Instant::now();
        loop {
            match self.received.recv_timeout(PATIENCE) {
                Ok(Ok(one)) => all.push(one),
                Ok(Err(error)) => return (all, Some(error)),
                Err(RecvTimeoutError::Disconnected) => return (all, None),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if asked.elapsed() > PATIENCE {
                asked = std::time::Instant::now();
                if watch.stop() {
                    return (all, Some(TravelError::Stopped));
                }
            }
        }
    }
}

impl<T> Drop for Pass<T> {
    fn drop(&mut self) {
        self.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

impl Travel {
    /// The states of some steps, in the order of their times: one pass through the recording, and much cheaper than asking
    /// for one after the other. [`State::thread`] is the thread that makes the step.
    pub fn states(&self, times: &[(Time, Side)], watch: &dyn Watch) -> Result<Vec<State>, TravelError> {
        let mut times = times.to_vec();
        times.sort_unstable_by_key(|(time, side)| (*time, *side == Side::After));
        let span = self.span();
        if let Some((time, _)) = times.iter().find(|(time, _)| !(span.start..=span.end).contains(time)) {
            return Err(TravelError::NoTime { time: *time, span });
        }
        let pass = self.visit_with(&self.shower, times, (), |_, state| Ok(Some(state)))?;
        let (states, error) = pass.wait(watch);
        error.map_or(Ok(states), Err)
    }

    /// Lets a hand go through times and tell what `see` makes of the states, until it makes nothing.
    fn visit_with<T: Send + 'static, C: Send + 'static>(
        &self,
        hand: &crate::hand::Hand,
        times: Vec<(Time, Side)>,
        mut context: C,
        see: impl Fn(&mut C, State) -> Result<Option<T>, Unanswered> + Send + 'static,
    ) -> Result<Pass<T>, TravelError> {
        let (send, received) = std::sync::mpsc::channel();
        let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let Some((latest, _)) = times.last() else { return Ok(Pass { received, stop }) };
        let steps = (*latest).min(self.last).max(1);
        let want = self.want(steps)?;
        let (timeline, last, own) = (self.timeline.clone(), self.last, stop.clone());
        hand.give(move |traveller| {
            let _want = want;
            let stopped = move || own.load(std::sync::atomic::Ordering::Relaxed);
            let done = timeline.wait(steps, &stopped).and_then(|()| {
                let mut unanswered = None;
                let seen =
                    crate::visit::visit(traveller, &timeline, &times, last, &stopped, |state| {
                        match see(&mut context, state) {
                            Ok(Some(one)) => send.send(Ok(one)).is_ok(),
                            Ok(None) => false,
                            Err(why) => {
                                unanswered = Some(why);
                                false
                            }
                        }
                    });
                unanswered.map_or(seen, |why| Err(TravelError::Test(why)))
            });
            if let Err(error) = done {
                // Whoever asked may have gone.
                let _ = send.send(Err(error));
            }
        })?;
        Ok(Pass { received, stop })
    }
}
