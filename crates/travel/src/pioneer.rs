//! The first replay: it leaves keyframes, and notes what happens between them.

use crate::error::TravelError;
use crate::hand::Traveller;
use crate::seen::{Occurrences, Seen};
use crate::timeline::Timeline;
use std::sync::Arc;

/// How the pioneer goes.
#[derive(Clone)]
pub(crate) struct Pioneer {
    pub timeline: Arc<Timeline>,
    /// Steps of an interval.
    pub interval: u64,
    /// Bytes that keyframes may hold.
    pub budget: u64,
    /// Steps of the recording.
    pub last: u64,
}

impl Pioneer {
    /// Goes on as long as somebody wants it.
    pub fn run(&self, traveller: &mut Traveller) {
        loop {
            {
                let mut known = self.timeline.lock();
                if !known.is_wanted() {
                    known.pioneering = false;
                    break;
                }
            }
            if let Err(error) = self.interval(traveller) {
                let mut known = self.timeline.lock();
                if error != TravelError::Stopped {
                    known.fail(error);
                }
                known.pioneering = false;
                break;
            }
            self.timeline.notify();
        }
        self.timeline.notify();
    }

    fn interval(&self, traveller: &mut Traveller) -> Result<(), TravelError> {
        let first = self.timeline.lock().keyframes() == 0;
        let process = traveller.process()?;
        if first {
            let snapshot = process.snapshot();
            let pages = process.world().memory.touched_pages();
            self.timeline.lock().add(snapshot, pages, None, self.budget);
            return Ok(());
        }
        let noted = Occurrences::default();
        process.world().watcher = Some(Box::new(noted.clone()));
        process.world().memory.note_touched();
        process.engine().note_ran();
        // Intervals are those of a grid, whatever happened to the last one.
        let steps = (process.time() / self.interval + 1) * self.interval;
        traveller.run_to(steps.min(self.last), || false)?;
        let process = traveller.process()?;
        let ran = process.engine().take_ran();
        let touched = process.world().memory.take_touched();
        let ends = process.threads().iter().filter_map(|thread| Some(process.thread(*thread)?.1)).collect();
        let occurrences = noted.0.take();
        let snapshot = process.snapshot();
        let pages = process.world().memory.touched_pages();
        let seen = Seen::new(ran, touched, ends, occurrences);
        self.timeline.lock().add(snapshot, pages, Some(seen), self.budget);
        Ok(())
    }
}
