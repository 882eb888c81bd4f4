//! Running an interval again to find the steps at which conditions hold.

use crate::collect::{Collector, Held, Plan};
use crate::error::TravelError;
use crate::hand::Traveller;
use crate::passing::Vantage;
use crate::timeline::Timeline;
use parallax_process::Snapshot;
use std::ops::Range;

/// Where in an interval each of `count` conditions holds. The interval starts after `steps.start` steps; the first that the
/// plan has to watch is at or after the keyframe. Where it passes the end of an interval without one, it leaves a keyframe.
pub(crate) fn find(
    traveller: &mut Traveller,
    timeline: &Timeline,
    plan: &Plan,
    count: usize,
    keyframe: &Snapshot,
    steps: Range<u64>,
    stop: impl Fn() -> bool,
) -> Result<Vec<Held>, TravelError> {
    let armed = traveller.armed.clone().filter(|armed| armed.has(plan));
    let collector = armed.unwrap_or_else(|| Collector::new(plan.clone()));
    traveller.armed = Some(collector.clone());
    let process = traveller.process()?;
    // A replay that was started, or became a program of another machine, has an engine that knows of nothing.
    process.world().watcher = Some(Box::new(collector.clone()));
    process.engine().set_watched(plan.watches());
    process.engine().set_probes(plan.probes());
    let now = process.time();
    let begins = if collector.has_reached(now) { steps.start } else { plan.begins(steps.start) };
    if now > begins || now < keyframe.time() {
        process.go_back(keyframe);
        collector.set_reached(None);
    } else if !collector.has_reached(now) {
        collector.set_reached(None);
    }
    if plan.has_tests() {
        // Who goes on, until somebody else's turn is told.
        let current = process.threads().first().copied();
        collector.meet(Vantage::new(traveller.surroundings()?, current));
    }
    let ran = run(traveller, timeline, steps.end, stop);
    collector.set_reached(traveller.process().ok().filter(|_| ran.is_ok()).map(|process| process.time()));
    let found = collector.take(steps.start + 1..steps.end + 1, count);
    ran.map(|()| found)
}

fn run(
    traveller: &mut Traveller,
    timeline: &Timeline,
    steps: u64,
    stop: impl Fn() -> bool,
) -> Result<(), TravelError> {
    while traveller.process()?.time() < steps {
        let now = traveller.process()?.time();
        // Nobody else waits while it runs.
        let end = timeline.lock().interval_end(now).min(steps);
        traveller.run_to(end, &stop)?;
        let process = traveller.process()?;
        if timeline.lock().lacks(process.time()) {
            let snapshot = process.snapshot();
            timeline.lock().leave(snapshot);
        }
    }
    Ok(())
}
