//! Looking at a program at many steps while a replay runs through.
//!
//! A replay that is sent to a step cuts its blocks there, which costs more than the run between two hits. Where the
//! addresses that the steps execute are known, probes there let it be looked at without a stop.

use crate::error::TravelError;
use crate::filter::Ranges;
use crate::hand::Traveller;
use crate::passing::{Passing, Vantage};
use crate::timeline::Timeline;
use parallax_process::execute::{Probes, Watcher};
use parallax_process::memory::Memory;
use parallax_process::outside::Tid;
use parallax_trace::Time;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Who looks, and what was seen.
struct Glances<T, L> {
    vantage: Vantage,
    /// When to look, rising.
    times: Arc<[Time]>,
    /// How many of them have passed.
    passed: usize,
    look: L,
    seen: Vec<(Time, T)>,
}

struct Glancer<T, L>(Rc<RefCell<Glances<T, L>>>);

impl<T, L: Fn(&Passing<'_>) -> Option<T>> Watcher for Glancer<T, L> {
    fn read(&mut self, _: u64, _: u64, _: usize) {}

    fn write(&mut self, _: u64, _: u64, _: usize) {}

    fn passes(&mut self, step: u64, address: u64, registers: &[u8], memory: &mut Memory) {
        let own = &mut *self.0.borrow_mut();
        while own.times.get(own.passed).is_some_and(|time| *time < step) {
            own.passed += 1;
        }
        if own.times.get(own.passed) == Some(&step) {
            own.passed += 1;
            let passing = own.vantage.passing(step, address, registers, memory);
            let seen = passing.and_then(|passing| (own.look)(&passing));
            own.seen.extend(seen.map(|seen| (step, seen)));
        }
    }

    fn system_call(&mut self, _: u64, _: Tid, number: u64, _: u64) {
        self.0.borrow_mut().vantage.system_call(number);
    }

    fn turn(&mut self, _: u64, thread: Tid) {
        self.0.borrow_mut().vantage.turn(thread);
    }

    fn undone(&mut self, last: u64) {
        let own = &mut *self.0.borrow_mut();
        own.passed = own.times.partition_point(|time| *time <= last);
        while own.seen.last().is_some_and(|(time, _)| *time > last) {
            own.seen.pop();
        }
    }
}

/// What `look` makes of the program before those of some steps, whose times rise, that execute an instruction at one of these
/// addresses. Steps that it makes nothing of, or that are not seen on the way, are left out.
pub(crate) fn glance<T: 'static>(
    traveller: &mut Traveller,
    timeline: &Timeline,
    times: Arc<[Time]>,
    at: &Ranges,
    stop: &dyn Fn() -> bool,
    look: impl Fn(&Passing<'_>) -> Option<T> + 'static,
) -> Result<Vec<(Time, T)>, TravelError> {
    let (Some(first), Some(last)) = (times.first().copied(), times.last().copied()) else {
        return Ok(Vec::new());
    };
    let mut showing = std::mem::take(&mut traveller.showing);
    let approached = showing.approach_in_halves(traveller, timeline, first, stop);
    traveller.showing = showing;
    approached?;
    let around = traveller.surroundings()?;
    let process = traveller.process()?;
    let vantage = Vantage::new(around, process.threads().first().copied());
    let glances = Rc::new(RefCell::new(Glances { vantage, times, passed: 0, look, seen: Vec::new() }));
    process.world().watcher = Some(Box::new(Glancer(glances.clone())));
    process.engine().set_probes(Probes { execute: at.as_slice().to_vec(), ..Probes::default() });
    let ran = traveller.run_to(last, stop);
    traveller.process()?.world().watcher = None;
    ran?;
    let seen = std::mem::take(&mut glances.borrow_mut().seen);
    Ok(seen)
}
