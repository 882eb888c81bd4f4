//! A replay that goes backwards: to any time before the last one, and over a stretch of steps with all that they do noted.

use crate::error::FlowError;
use crate::window::{Noter, Window};
use parallax_process::outside::Tid;
use parallax_process::{Process, Snapshot};
use parallax_travel::Travel;
use std::sync::Arc;

/// Closer than this it is quicker to run than to leave a snapshot.
const NEAR: u64 = 64;

/// So many snapshots are kept on the way.
const KEPT: usize = 64;

/// A replay of a recording.
pub struct Replay<'t> {
    travel: &'t Travel,
    /// The process; its thread that makes the next step may not be the current one.
    pub process: Process,
    noter: Noter,
    /// Places to start from, in order of their times, closer and closer to the last one that was asked for.
    kept: Vec<Arc<Snapshot>>,
}

impl<'t> Replay<'t> {
    /// Starts one.
    pub fn new(travel: &'t Travel) -> Result<Replay<'t>, FlowError> {
        let started = parallax_record::replay(travel.log(), false, false);
        let process = started.map_err(|error| FlowError::Start(error.to_string()))?;
        Ok(Replay { travel, process, noter: Noter::default(), kept: Vec::new() })
    }

    /// A replay that became a program of another machine has an engine that knows of nothing.
    fn arm(&mut self) {
        self.process.world().watcher = Some(Box::new(self.noter.clone()));
        let engine = self.process.engine();
        engine.set_exact_flags(true);
        engine.set_watched(true);
        engine.set_probes(Noter::probes());
    }

    fn run_to(&mut self, steps: u64) -> Result<(), FlowError> {
        while self.process.time() < steps {
            if let Some(ending) = self.process.run_until(steps)
                && self.process.time() < steps
            {
                return Err(FlowError::Ended { time: self.process.time(), why: ending.to_string() });
            }
        }
        Ok(())
    }

    /// Goes to where so many steps have been made. On a long way snapshots are left at half of what remains, again and again,
    /// so that the next times, which lie a little before, are near one.
    pub fn go_to(&mut self, steps: u64) -> Result<(), FlowError> {
        self.kept.retain(|snapshot| snapshot.time() <= steps);
        let keyframe = self.travel.keyframe(steps)?;
        let kept = self.kept.last().filter(|kept| kept.time() >= keyframe.time());
        let base = kept.unwrap_or(&keyframe).clone();
        let now = self.process.time();
        if now > steps || now < base.time() {
            self.process.go_back(&base);
        }
        self.arm();
        while steps - self.process.time() > NEAR {
            let half = (steps - self.process.time()).div_ceil(2);
            self.run_to(self.process.time() + half)?;
            if self.kept.len() == KEPT {
                self.kept.remove(0);
            }
            self.kept.push(Arc::new(self.process.snapshot()));
        }
        self.run_to(steps)
    }

    /// Notes what the steps after `start` do, up to and with `end`. The process is left before the last of them.
    pub fn look(&mut self, start: u64, end: u64) -> Result<Window, FlowError> {
        self.go_to(start)?;
        let thread = self.process.threads().first().copied().unwrap_or(0);
        self.noter.open(start, thread);
        let ran = self.run_to(end - 1).map(|()| self.process.snapshot());
        let ran = ran.and_then(|before| self.run_to(end).map(|()| before));
        let window = self.noter.close(end);
        self.process.go_back(&ran?);
        Ok(window)
    }

    /// The state after so many steps.
    pub fn snapshot(&mut self, steps: u64) -> Result<Snapshot, FlowError> {
        self.go_to(steps)?;
        Ok(self.process.snapshot())
    }

    /// The registers of a thread in a snapshot as its next step finds them, and where it is.
    pub fn registers_of(
        &mut self,
        snapshot: &Snapshot,
        thread: Tid,
    ) -> Option<(parallax_process::registers::Registers, u64)> {
        let (bytes, pc) = snapshot.thread(thread)?;
        let mut registers = self.process.world().registers.clone();
        if registers.contents().len() != bytes.len() {
            return None;
        }
        registers.restore(&bytes);
        let abi = snapshot.machine().abi();
        // What a call came to while others ran is put there when the thread goes on.
        if let Some(answer) = snapshot.result_of(thread).filter(|_| abi.result_is_number) {
            let value = answer.unwrap_or_else(|errno| (-i64::from(errno.0)) as u64);
            registers.set(abi.call_number, value);
        }
        Some((registers, pc))
    }
}
