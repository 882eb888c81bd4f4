//! Going through many times in one pass, to look at the state at each.
//!
//! A replay that shows one state after another needs no keyframe in between: it runs on from each to the next.

use crate::error::TravelError;
use crate::hand::Traveller;
use crate::passing::Passing;
use crate::seen::{Occurrence, Occurrences};
use crate::show::Showing;
use crate::state::State;
use crate::timeline::Timeline;
use parallax_process::Snapshot;
use parallax_process::outside::Tid;
use parallax_trace::Time;
use std::cell::RefCell;

/// Which state of a step is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The one before it.
    Before,
    /// The one after it.
    After,
}

/// A replay that stands where it was sent.
pub(crate) struct Standing<'a> {
    traveller: &'a mut Traveller,
    showing: &'a Showing,
    time: Time,
    /// The thread that makes the step.
    thread: Tid,
    /// The state, if the replay had to go on to see who makes the step.
    left: Option<Snapshot>,
}

impl Standing<'_> {
    /// Lets somebody look at the program in place, if it is there and seen by the right thread.
    pub fn look<T>(&mut self, look: impl FnOnce(&Passing<'_>) -> T) -> Result<Option<T>, TravelError> {
        if self.left.is_some() || self.traveller.process()?.threads().first() != Some(&self.thread) {
            return Ok(None);
        }
        let around = self.traveller.surroundings()?;
        let process = self.traveller.process()?;
        let pc = process.pc();
        let world = process.world();
        let passing = Passing {
            time: self.time,
            pc,
            thread: Some(self.thread),
            has_exact_flags: true,
            registers: world.registers.contents(),
            memory: RefCell::new(&mut world.memory),
            around: &around,
        };
        Ok(Some(look(&passing)))
    }

    /// The state, to keep.
    pub fn state(self) -> Result<State, TravelError> {
        let snapshot = match self.left {
            Some(snapshot) => snapshot,
            None => self.traveller.process()?.snapshot(),
        };
        let places = self.showing.places(self.traveller, &snapshot)?;
        // A thread may end with its step.
        let thread = match snapshot.thread(self.thread) {
            Some(_) => self.thread,
            None => snapshot.threads().first().copied().unwrap_or(0),
        };
        Ok(State::of(snapshot, self.time, thread, places))
    }
}

/// Lets `see` look at the program before or after some steps, whose times rise, until that says that it has seen enough.
/// [`State::thread`] is the thread that makes the step, on either side of it.
pub(crate) fn visit(
    traveller: &mut Traveller,
    timeline: &Timeline,
    times: &[(Time, Side)],
    last: u64,
    stop: &dyn Fn() -> bool,
    mut see: impl FnMut(Standing<'_>) -> Result<bool, TravelError>,
) -> Result<(), TravelError> {
    let mut showing = std::mem::take(&mut traveller.showing);
    let visited = (|| {
        if let Some((first, _)) = times.first() {
            showing.approach_in_halves(traveller, timeline, *first, stop)?;
        }
        for (time, side) in times {
            if stop() {
                return Err(TravelError::Stopped);
            }
            let before = time - 1;
            showing.approach(traveller, timeline, before)?;
            traveller.run_to(before, stop)?;
            let makes_step = before < last;
            let alone = traveller.process()?.threads().len() == 1;
            let thread_is_known = alone && *side == Side::Before || !makes_step;
            let left = match side {
                Side::Before if !thread_is_known => Some(traveller.process()?.snapshot()),
                _ => None,
            };
            let thread = if thread_is_known {
                traveller.process()?.threads().first().copied().unwrap_or(0)
            } else {
                who_steps(traveller, *time, stop)?
            };
            let time = *time + u64::from(*side == Side::After);
            if !see(Standing { traveller: &mut *traveller, showing: &showing, time, thread, left })? {
                break;
            }
        }
        Ok(())
    })();
    traveller.showing = showing;
    visited
}

/// Makes a step to see which thread makes it.
fn who_steps(traveller: &mut Traveller, time: Time, stop: &dyn Fn() -> bool) -> Result<u32, TravelError> {
    let noted = Occurrences::default();
    traveller.process()?.world().watcher = Some(Box::new(noted.clone()));
    let made = traveller.run_to(time, stop);
    let process = traveller.process()?;
    process.world().watcher = None;
    made?;
    let is_it = |one: &&Occurrence| one.time == time;
    let occurrence = noted.0.borrow().iter().find(is_it).map(|one| one.thread);
    Ok(occurrence.unwrap_or_else(|| process.threads().first().copied().unwrap_or(0)))
}
