//! Tests of the state at a hit, made where a replay passes it: a condition of its own for a search.
//!
//! Most tests are made in the run that finds the hits, before the instruction executes. What has no answer there, or is
//! about the state after the step, is left in doubt: the search then goes through these hits from the near end, in batches
//! that grow, and lets the test look again, at the program in place or at a copy of its state. Verdicts are kept, so that a
//! test that failed loses nothing; a failure is told when the search comes to it, and not before.

use crate::error::TravelError;
use crate::filter::{Filter, Ranges};
use crate::glance::glance;
use crate::hand::{Hand, Traveller};
use crate::passing::Passing;
use crate::search::{Sought, search as plain_search};
use crate::state::State;
use crate::timeline::Timeline;
use crate::travel::Travel;
use crate::visit::{Side, Standing, visit};
use parallax_trace::{Direction, Found, Hit, Target, Time, Watch};
use rustc_hash::FxHashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Says whether a state is wanted. It is asked on threads of the search, and must always give the same answer.
pub trait Examine: Send + Sync {
    /// Whether it is the state after the step that counts, and not that before it.
    fn side(&self) -> Side;
    /// Whether the state is wanted.
    fn holds(&self, state: Arc<State>) -> Result<bool, Unanswered>;
    /// The same where a replay passes, without a state of its own; none if that has to be asked with one.
    fn passes(&self, passing: &Passing<'_>) -> Option<bool> {
        let _ = passing;
        None
    }
    /// Pairs of the addresses of two instructions: a state before the second is not wanted where the step of its thread before
    /// was the first. So a loop comes back to where a function starts.
    fn turns(&self) -> &[(u64, u64)] {
        &[]
    }
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

/// Two tests of the same side that must both pass.
struct Both {
    first: Test,
    second: Test,
    turns: Vec<(u64, u64)>,
}

impl Examine for Both {
    fn side(&self) -> Side {
        self.second.0.side()
    }

    fn holds(&self, state: Arc<State>) -> Result<bool, Unanswered> {
        Ok(self.first.0.holds(state.clone())? && self.second.0.holds(state)?)
    }

    fn passes(&self, passing: &Passing<'_>) -> Option<bool> {
        match self.first.0.passes(passing)? {
            true => self.second.0.passes(passing),
            false => Some(false),
        }
    }

    fn turns(&self) -> &[(u64, u64)] {
        &self.turns
    }
}

impl Filter {
    /// This, where a state passes a test, too. Tests of one condition look at states of the same side.
    pub fn when(self, test: Test) -> Filter {
        match self {
            Filter::When(plain, first) => {
                let turns = [first.0.turns(), test.0.turns()].concat();
                Filter::When(plain, Test(Arc::new(Both { first, second: test, turns })))
            }
            plain => Filter::When(Box::new(plain), test),
        }
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

/// So many finds of a pass are told together: waking who waits costs more than a find.
const TOLD: usize = 256;

/// What tests have said.
#[derive(Default)]
pub(crate) struct Verdicts(Mutex<FxHashMap<(Test, Time), bool>>);

impl Verdicts {
    fn get(&self, test: &Test, time: Time) -> Option<bool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&(test.clone(), time)).copied()
    }

    fn add(&self, about: (Test, Time), holds: bool) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() > MOST {
            kept.clear();
        }
        kept.insert(about, holds);
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
    let test_of = |condition: &Filter| match condition {
        Filter::When(_, test) => Some(test.clone()),
        _ => None,
    };
    let tests: Vec<Option<Test>> = conditions.iter().map(test_of).collect();
    if tests.iter().all(Option::is_none) {
        return Ok(plain_search(travel, conditions, within, direction, max, watch)?.found);
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
        let Sought { found: part, doubts } =
            plain_search(travel, conditions, rest.clone(), direction, batch, watch)?;
        let looked = examine(travel, &tests, &part.hits, &doubts, watch)?;
        for (hit, doubts) in part.hits.iter().zip(doubts) {
            let Some(which) = looked.holding(&tests, hit, doubts) else {
                // What was decided before it stays; who goes on from there meets the failure first.
                return match looked.why(hit.time) {
                    Some(why) if found.decided.is_empty() => Err(why),
                    _ => Ok(found),
                };
            };
            if which != 0 {
                found.hits.push(Hit { time: hit.time, which });
            }
            match direction {
                Direction::Forward => found.decided.end = hit.time + 1,
                Direction::Backward => found.decided.start = hit.time,
            }
            if found.hits.len() == max {
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

/// What a test says about a time.
type Verdict = ((Test, Time), Result<bool, Unanswered>);

/// What tests said about hits in doubt.
#[derive(Default)]
struct Looked {
    verdicts: FxHashMap<(Test, Time), bool>,
    unanswered: Vec<(Time, Unanswered)>,
    /// Why not all were looked at.
    cut: Option<TravelError>,
}

impl Looked {
    /// Which conditions hold at a hit; none if there is no verdict.
    fn holding(&self, tests: &[Option<Test>], hit: &Hit, doubts: u64) -> Option<u64> {
        let mut which = hit.which;
        for (index, test) in tests.iter().enumerate().filter(|(index, _)| doubts >> index & 1 != 0) {
            if let Some(test) = test
                && !*self.verdicts.get(&(test.clone(), hit.time))?
            {
                which &= !(1 << index);
            }
        }
        Some(which)
    }

    /// Why there is no verdict about a time; none if nobody wants it any more.
    fn why(&self, time: Time) -> Option<TravelError> {
        match self.unanswered.iter().find(|(at, _)| *at == time) {
            Some((_, why)) => Some(TravelError::Test(why.clone())),
            None => self.cut.clone().filter(|cut| *cut != TravelError::Stopped),
        }
    }
}

/// Lets the tests look at the hits that are in doubt.
fn examine(
    travel: &Travel,
    tests: &[Option<Test>],
    hits: &[Hit],
    doubts: &[u64],
    watch: &dyn Watch,
) -> Result<Looked, TravelError> {
    let mut looked = Looked::default();
    let mut wanted: Vec<(Time, Side, Test)> = Vec::new();
    for (hit, doubts) in hits.iter().zip(doubts).filter(|(_, doubts)| **doubts != 0) {
        for (index, test) in tests.iter().enumerate() {
            let Some(test) = test.as_ref().filter(|_| doubts >> index & 1 != 0) else { continue };
            match travel.verdicts.get(test, hit.time) {
                Some(holds) => {
                    looked.verdicts.insert((test.clone(), hit.time), holds);
                }
                None => wanted.push((hit.time, test.0.side(), test.clone())),
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
            |tests, mut standing| -> Result<Option<Verdict>, TravelError> {
                let Some((time, _, test)) = tests.next() else { return Ok(None) };
                let holds = match standing.look(|passing| test.0.passes(passing))?.flatten() {
                    Some(holds) => Ok(holds),
                    None => test.0.holds(Arc::new(standing.state()?)),
                };
                Ok(Some(((test, time), holds)))
            },
        )
    });
    let jobs: Vec<_> = jobs.collect::<Result<_, _>>()?;
    for job in jobs {
        let (verdicts, cut) = job.wait(watch);
        looked.cut = looked.cut.or(cut);
        for ((test, time), holds) in verdicts {
            match holds {
                Ok(holds) => {
                    travel.verdicts.add((test.clone(), time), holds);
                    looked.verdicts.insert((test, time), holds);
                }
                Err(why) => looked.unanswered.push((time, why)),
            }
        }
    }
    Ok(looked)
}

/// A pass through times that another thread makes.
pub(crate) struct Pass<T> {
    received: std::sync::mpsc::Receiver<Result<Vec<T>, TravelError>>,
    stop: Arc<AtomicBool>,
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
                Ok(Ok(some)) => all.extend(some),
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
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// What [`Travel::looks`] gives.
pub enum Look<T> {
    /// What was made of the program in place.
    InPlace(T),
    /// The state, where the program was not there any more, was seen by another thread, or nothing was made of it.
    Copied(Box<State>),
}

impl Travel {
    fn sorted(&self, times: &[(Time, Side)]) -> Result<Vec<(Time, Side)>, TravelError> {
        let mut times = times.to_vec();
        times.sort_unstable_by_key(|(time, side)| (*time, *side == Side::After));
        let span = self.span();
        match times.iter().find(|(time, _)| !(span.start..=span.end).contains(time)) {
            Some((time, _)) => Err(TravelError::NoTime { time: *time, span }),
            None => Ok(times),
        }
    }

    /// The states of some steps, in the order of their times: one pass through the recording, and much cheaper than asking
    /// for one after the other. [`State::thread`] is the thread that makes the step.
    pub fn states(&self, times: &[(Time, Side)], watch: &dyn Watch) -> Result<Vec<State>, TravelError> {
        let times = self.sorted(times)?;
        let pass = self.visit_with(&self.shower, times, (), |_, standing| standing.state().map(Some))?;
        let (states, error) = pass.wait(watch);
        error.map_or(Ok(states), Err)
    }

    /// What `look` makes of the program at some steps, in place and in the order of their times, and the state where it makes
    /// nothing of it, or cannot look. Cheaper than states: nothing is copied that `look` does not copy.
    ///
    /// If the addresses are given that most of these steps execute, the replay runs through, and flags may not be told.
    pub fn looks<T: Send + 'static>(
        &self,
        times: &[(Time, Side)],
        at: Option<&Ranges>,
        look: impl Fn(&Passing<'_>) -> Option<T> + Send + Sync + 'static,
        watch: &dyn Watch,
    ) -> Result<Vec<Look<T>>, TravelError> {
        let mut times = self.sorted(times)?;
        let look = Arc::new(look);
        let mut looks: Vec<(Time, Look<T>)> = Vec::with_capacity(times.len());
        if let Some(at) = at {
            let (seen, error) = self.glance_with(&self.shower, &times, at.clone(), look.clone())?.wait(watch);
            if let Some(error) = error {
                return Err(error);
            }
            times.retain(|(time, side)| {
                *side == Side::After || seen.binary_search_by_key(time, |(seen, _)| *seen).is_err()
            });
            looks.extend(seen.into_iter().map(|(time, seen)| (time, Look::InPlace(seen))));
        }
        let rest: Vec<Time> = times.iter().map(|(time, _)| *time).collect();
        let pass = self.visit_with(&self.shower, times, (), move |_, mut standing| {
            Ok(Some(match standing.look(&*look)?.flatten() {
                Some(seen) => Look::InPlace(seen),
                None => Look::Copied(Box::new(standing.state()?)),
            }))
        })?;
        let (visited, error) = pass.wait(watch);
        if let Some(error) = error {
            return Err(error);
        }
        looks.extend(rest.into_iter().zip(visited));
        // What was seen on the way comes first where a time is asked for twice: it is the state before.
        looks.sort_by_key(|(time, _)| *time);
        Ok(looks.into_iter().map(|(_, look)| look).collect())
    }

    /// Lets a hand run past the steps at times whose state before is wanted, and tell what `look` makes of the program there.
    fn glance_with<T: Send + 'static>(
        &self,
        hand: &Hand,
        times: &[(Time, Side)],
        at: Ranges,
        look: Arc<impl Fn(&Passing<'_>) -> Option<T> + Send + Sync + 'static>,
    ) -> Result<Pass<(Time, T)>, TravelError> {
        let befores = times.iter().filter(|(time, side)| *side == Side::Before && *time <= self.last);
        let befores: Arc<[Time]> = befores.map(|(time, _)| *time).collect();
        let latest = befores.last().copied();
        self.pass_with(hand, latest, move |traveller, timeline, stop, tell| {
            let look = move |passing: &Passing<'_>| look(passing);
            for one in glance(traveller, timeline, befores, &at, stop, look)? {
                if !tell(one) {
                    break;
                }
            }
            Ok(())
        })
    }

    /// Lets a hand go through times and tell what `see` makes of the program there, until it makes nothing.
    fn visit_with<T: Send + 'static, C: Send + 'static>(
        &self,
        hand: &Hand,
        times: Vec<(Time, Side)>,
        mut context: C,
        see: impl Fn(&mut C, Standing<'_>) -> Result<Option<T>, TravelError> + Send + 'static,
    ) -> Result<Pass<T>, TravelError> {
        let (latest, last) = (times.last().map(|(time, _)| *time), self.last);
        self.pass_with(hand, latest, move |traveller, timeline, stop, tell| {
            visit(traveller, timeline, &times, last, stop, |standing| {
                Ok(see(&mut context, standing)?.is_some_and(&mut *tell))
            })
        })
    }

    /// Lets a hand go through the recording until `latest` and tell what it finds.
    fn pass_with<T: Send + 'static>(
        &self,
        hand: &Hand,
        latest: Option<Time>,
        go: impl FnOnce(
            &mut Traveller,
            &Timeline,
            &dyn Fn() -> bool,
            &mut dyn FnMut(T) -> bool,
        ) -> Result<(), TravelError>
        + Send
        + 'static,
    ) -> Result<Pass<T>, TravelError> {
        let (send, received) = std::sync::mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let Some(latest) = latest else { return Ok(Pass { received, stop }) };
        let steps = latest.min(self.last).max(1);
        let want = self.want(steps)?;
        let (timeline, own) = (self.timeline.clone(), stop.clone());
        hand.give(move |traveller| {
            let _want = want;
            let stopped = move || own.load(Ordering::Relaxed);
            let mut told = Vec::new();
            let mut tell = |one| {
                told.push(one);
                told.len() < TOLD || send.send(Ok(std::mem::take(&mut told))).is_ok()
            };
            let done = timeline.wait(steps, &stopped);
            let done = done.and_then(|()| go(traveller, &timeline, &stopped, &mut tell));
            // Whoever asked may have gone.
            let _ = send.send(Ok(told));
            if let Err(error) = done {
                let _ = send.send(Err(error));
            }
        })?;
        Ok(Pass { received, stop })
    }
}
