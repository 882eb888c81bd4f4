//! Going through many times in one pass, to look at the state at each.
//!
//! A replay that shows one state after another needs no keyframe in between: it runs on from each to the next.

use crate::error::TravelError;
use crate::hand::Traveller;
use crate::seen::{Occurrence, Occurrences};
use crate::state::State;
use crate::timeline::Timeline;
use parallax_trace::Time;

/// So far before the first time a snapshot is left: who goes backwards asks next for what lies just before.
const NEAR: u64 = 2048;

/// Which state of a step is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The one before it.
    Before,
    /// The one after it.
    After,
}

/// Shows the states of some steps, whose times rise, to `see`, until that says that it has seen enough. [`State::thread`] is
/// the thread that makes the step, on either side of it.
pub(crate) fn visit(
    traveller: &mut Traveller,
    timeline: &Timeline,
    times: &[(Time, Side)],
    last: u64,
    stop: &dyn Fn() -> bool,
    mut see: impl FnMut(State) -> bool,
) -> Result<(), TravelError> {
    let mut showing = std::mem::take(&mut traveller.showing);
    let visited = (|| {
        showing.prepare(traveller)?;
        for (index, (time, side)) in times.iter().enumerate() {
            if stop() {
                return Err(TravelError::Stopped);
            }
            let before = time - 1;
            showing.approach(traveller, timeline, before)?;
            if index == 0 {
                showing.leave(traveller, before.saturating_sub(NEAR), stop)?;
            }
            traveller.run_to(before, stop)?;
            let makes_step = before < last;
            let alone = traveller.process()?.threads().len() == 1;
            let snapshot =
                (*side == Side::Before || !makes_step).then(|| traveller.process().map(|p| p.snapshot()));
            let snapshot = snapshot.transpose()?;
            let thread = if makes_step && (!alone || *side == Side::After) {
                who_steps(traveller, *time, stop)?
            } else {
                traveller.process()?.threads().first().copied().unwrap_or(0)
            };
            let snapshot = match snapshot {
                Some(snapshot) => snapshot,
                None => traveller.process()?.snapshot(),
            };
            let places = showing.places(traveller, &snapshot)?;
            // A thread may end with its step.
            let thread = match snapshot.thread(thread) {
                Some(_) => thread,
                None => snapshot.threads().first().copied().unwrap_or(0),
            };
            if !see(State::of(snapshot, *time + u64::from(*side == Side::After), thread, places)) {
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
