//! Which thread runs when.

use crate::error::TravelError;
use crate::hand::Traveller;
use crate::timeline::Timeline;
use crate::travel::Travel;
use parallax_process::execute::Watcher;
use parallax_process::outside::Tid;
use parallax_trace::{Time, Watch};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Turns as they are told.
#[derive(Default)]
struct Noted {
    turns: Vec<(Time, Tid)>,
    /// The step of the last system call.
    call: Time,
}

impl Noted {
    /// A thread that never had a turn is the current one under another number: its process was forked, or replaced, by the
    /// last call.
    fn renumbered(&mut self, thread: Tid) {
        if !self.turns.iter().any(|(_, known)| *known == thread) {
            self.turns.push((self.call + 1, thread));
        }
    }
}

#[derive(Clone, Default)]
struct Turns(Rc<RefCell<Noted>>);

impl Watcher for Turns {
    fn read(&mut self, _: u64, _: u64, _: usize) {}

    fn write(&mut self, _: u64, _: u64, _: usize) {}

    fn turn(&mut self, steps: u64, thread: Tid) {
        let turns = &mut self.0.borrow_mut().turns;
        // Nobody ran in between: a turn without a step, or a call that has to wait and takes its step back.
        while turns.last().is_some_and(|(from, _)| *from > steps) {
            turns.pop();
        }
        match turns.last_mut() {
            Some(last) if last.0 == steps + 1 => last.1 = thread,
            Some(last) if last.1 == thread => {}
            _ => turns.push((steps + 1, thread)),
        }
    }

    fn system_call(&mut self, step: u64, thread: Tid, _: u64, _: u64) {
        let mut noted = self.0.borrow_mut();
        noted.renumbered(thread);
        noted.call = step;
    }
}

impl Travel {
    /// The turns of the threads: each from its time until the next one's. Replays the recording once.
    pub fn turns(&self, watch: &dyn Watch) -> Result<Vec<(Time, Tid)>, TravelError> {
        let _want = self.want(1)?;
        self.reach(1, watch)?;
        let stop = Arc::new(AtomicBool::new(false));
        let (timeline, last, own) = (self.timeline.clone(), self.last, stop.clone());
        let (send, received) = std::sync::mpsc::channel();
        self.examiners[0].give(move |traveller| {
            let turns = turns(traveller, &timeline, last, &|| own.load(Ordering::Relaxed));
            // Whoever asked may have gone.
            let _ = send.send(turns);
        })?;
        loop {
            match received.recv_timeout(std::time::Duration::from_millis(10)) {
                Ok(turns) => return turns,
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(TravelError::Worker(String::from("its thread ended")));
                }
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                    if watch.stop() {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
    }
}

fn turns(
    traveller: &mut Traveller,
    timeline: &Timeline,
    last: u64,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<(Time, Tid)>, TravelError> {
    let start = timeline.lock().keyframe(0).ok_or(TravelError::Empty)?;
    let process = traveller.process()?;
    process.go_back(&start);
    let noted = Turns::default();
    noted.0.borrow_mut().turns.push((1, process.threads().first().copied().unwrap_or(0)));
    process.world().watcher = Some(Box::new(noted.clone()));
    let ran = traveller.run_to(last, stop);
    let process = traveller.process()?;
    process.world().watcher = None;
    ran?;
    let mut noted = noted.0.take();
    if let Some(last) = process.threads().first() {
        noted.renumbered(*last);
    }
    Ok(noted.turns)
}
