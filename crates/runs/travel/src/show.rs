//! Going to a time to look at the state.
//!
//! Flags that nobody reads may be old ones in ordinary runs. A state that is shown comes from a run that keeps all of
//! them, and that started well before, so that each flag has been written since; the snapshots it leaves near the times it
//! was asked for are exact themselves.

use crate::error::TravelError;
use crate::hand::Traveller;
use crate::seen::Occurrences;
use crate::state::{Places, State};
use crate::timeline::Timeline;
use parallax_process::Snapshot;
use parallax_process::outside::Tid;
use parallax_process::system::Answer;
use parallax_trace::{Direction, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// A run of this many steps has written every flag.
const SETTLED: u64 = 4096;

/// So far before a time that is shown a snapshot is left: the next question is often about a time a little earlier.
const NEAR: u64 = 16_384;

/// So many of them are kept.
const KEPT: usize = 32;

/// What the replay that shows states remembers.
#[derive(Default)]
pub(crate) struct Showing {
    ready: bool,
    /// From how many steps on the flags of the process are exact.
    exact_from: u64,
    exact: VecDeque<Arc<Snapshot>>,
}

/// The state at a time of a recording of `last` steps.
pub(crate) fn show(
    traveller: &mut Traveller,
    timeline: &Timeline,
    time: Time,
    last: u64,
) -> Result<State, TravelError> {
    let mut showing = std::mem::take(&mut traveller.showing);
    let state = showing.show(traveller, timeline, time, last);
    traveller.showing = showing;
    state
}

/// So many steps are looked at at once for a step of some thread.
const STRIDE: u64 = 2048;

/// The first step of a thread from a time on, or its last before.
pub(crate) fn step_of(
    traveller: &mut Traveller,
    timeline: &Timeline,
    thread: Tid,
    time: Time,
    direction: Direction,
    last: u64,
) -> Result<Option<Time>, TravelError> {
    let mut showing = std::mem::take(&mut traveller.showing);
    let found = showing.step_of(traveller, timeline, thread, time, direction, last);
    traveller.showing = showing;
    found
}

/// What changes whenever a thread makes a step: its registers, its place, what its call came to.
type Place = (Option<(Box<[u8]>, u64)>, Option<Answer>);

fn place(traveller: &mut Traveller, thread: Tid) -> Result<Place, TravelError> {
    let snapshot = traveller.process()?.snapshot();
    Ok((snapshot.thread(thread), snapshot.result_of(thread)))
}

impl Showing {
    fn step_of(
        &mut self,
        traveller: &mut Traveller,
        timeline: &Timeline,
        thread: Tid,
        time: Time,
        direction: Direction,
        last: u64,
    ) -> Result<Option<Time>, TravelError> {
        self.prepare(traveller)?;
        let mut near = time - 1;
        let first = match direction {
            Direction::Forward => near,
            Direction::Backward => near.saturating_sub(1),
        };
        self.approach(traveller, timeline, first)?;
        traveller.run_to(first, || false)?;
        // Alone, it makes every step.
        let is_there = if direction == Direction::Forward { first < last } else { near > 0 };
        if is_there && traveller.process()?.threads() == [thread] {
            return Ok(Some(first + 1));
        }
        loop {
            let stride = match direction {
                Direction::Forward if near < last => near..(near + STRIDE).min(last),
                Direction::Backward if near > 0 => near.saturating_sub(STRIDE)..near,
                _ => return Ok(None),
            };
            self.approach(traveller, timeline, stride.start)?;
            traveller.run_to(stride.start, || false)?;
            let start = traveller.process()?.snapshot();
            let mut before = place(traveller, thread)?;
            traveller.run_to(stride.end, || false)?;
            if place(traveller, thread)? != before {
                traveller.process()?.go_back(&start);
                let mut latest = None;
                for steps in stride.start + 1..=stride.end {
                    traveller.run_to(steps, || false)?;
                    let now = place(traveller, thread)?;
                    if now != before {
                        latest = Some(steps);
                        if direction == Direction::Forward {
                            break;
                        }
                    }
                    before = now;
                }
                return Ok(latest);
            }
            near = if direction == Direction::Forward { stride.end } else { stride.start };
        }
    }

    pub(crate) fn prepare(&mut self, traveller: &mut Traveller) -> Result<(), TravelError> {
        if !self.ready {
            traveller.process()?.engine().set_exact_flags(true);
            self.ready = true;
        }
        Ok(())
    }

    fn show(
        &mut self,
        traveller: &mut Traveller,
        timeline: &Timeline,
        time: Time,
        last: u64,
    ) -> Result<State, TravelError> {
        let steps = time - 1;
        self.prepare(traveller)?;
        self.approach(traveller, timeline, steps)?;
        self.leave(traveller, steps.saturating_sub(NEAR), &|| false)?;
        traveller.run_to(steps, || false)?;
        let snapshot = traveller.process()?.snapshot();
        let thread = self.next_thread(traveller, &snapshot, last)?;
        let places = self.places(traveller, &snapshot)?;
        Ok(State::of(snapshot, time, thread, places))
    }

    /// The places of the registers of the program that a snapshot is of.
    pub(crate) fn places(
        &self,
        traveller: &mut Traveller,
        snapshot: &Snapshot,
    ) -> Result<Arc<Places>, TravelError> {
        if traveller.process()?.machine() != snapshot.machine() {
            traveller.process()?.go_back(snapshot);
        }
        traveller.places()
    }

    /// Goes to the latest place before a time from which flags will be exact there.
    pub(crate) fn approach(
        &mut self,
        traveller: &mut Traveller,
        timeline: &Timeline,
        steps: u64,
    ) -> Result<(), TravelError> {
        let process = traveller.process()?;
        let now = process.time();
        let here = (now <= steps && self.exact_from <= steps).then_some(now);
        let exact = self.exact.iter().filter(|kept| kept.time() <= steps).max_by_key(|kept| kept.time());
        let keyframe = timeline.lock().keyframe(steps.saturating_sub(SETTLED));
        let keyframe = keyframe.ok_or(TravelError::Empty)?;
        let best = exact.map_or(0, |kept| kept.time()).max(keyframe.time());
        if here.is_some_and(|here| here >= best) {
            return Ok(());
        }
        match exact.filter(|kept| kept.time() >= keyframe.time()).cloned() {
            Some(kept) => {
                process.go_back(&kept);
                self.exact_from = kept.time();
            }
            None => {
                process.go_back(&keyframe);
                // Nothing has run before the first step.
                self.exact_from = if keyframe.time() == 0 { 0 } else { keyframe.time() + SETTLED };
            }
        }
        Ok(())
    }

    /// Goes to the latest place before a time from which a pass can start. On a long way it leaves snapshots: halfway, halfway
    /// of the rest, and so on. Who goes backwards asks next for what lies just before, and then for more of it.
    pub(crate) fn approach_in_halves(
        &mut self,
        traveller: &mut Traveller,
        timeline: &Timeline,
        time: Time,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), TravelError> {
        /// The last part of the way.
        const SHORTEST: u64 = 2048;
        self.prepare(traveller)?;
        let before = time - 1;
        self.approach(traveller, timeline, before)?;
        loop {
            let left = before - traveller.process()?.time();
            if left / 2 < SHORTEST {
                return Ok(());
            }
            self.leave(traveller, before - left / 2, stop)?;
        }
    }

    /// Goes on to so many steps, if it is not there yet, and leaves a snapshot.
    pub(crate) fn leave(
        &mut self,
        traveller: &mut Traveller,
        steps: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), TravelError> {
        if traveller.process()?.time() < steps {
            traveller.run_to(steps, stop)?;
            self.keep(traveller)?;
        }
        Ok(())
    }

    /// Leaves a snapshot here, if its flags are exact.
    fn keep(&mut self, traveller: &mut Traveller) -> Result<(), TravelError> {
        let process = traveller.process()?;
        if process.time() >= self.exact_from {
            self.exact.push_back(Arc::new(process.snapshot()));
            if self.exact.len() > KEPT {
                self.exact.pop_front();
            }
        }
        Ok(())
    }

    /// The thread that makes the next step: it is made to see.
    fn next_thread(
        &mut self,
        traveller: &mut Traveller,
        before: &Snapshot,
        last: u64,
    ) -> Result<u32, TravelError> {
        let next = before.time() + 1;
        if before.time() >= last {
            return Ok(before.threads().first().copied().unwrap_or(0));
        }
        let noted = Occurrences::default();
        traveller.process()?.world().watcher = Some(Box::new(noted.clone()));
        let made = traveller.run_to(next, || false);
        let process = traveller.process()?;
        process.world().watcher = None;
        made?;
        let occurrence = noted.0.borrow().iter().find(|one| one.time == next).map(|one| one.thread);
        Ok(occurrence.unwrap_or_else(|| process.threads().first().copied().unwrap_or(0)))
    }
}
