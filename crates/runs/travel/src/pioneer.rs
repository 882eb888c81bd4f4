//! The first replay: it leaves keyframes, and notes what happens between them.

use crate::error::TravelError;
use crate::hand::Traveller;
use crate::seen::{Occurrences, Seen};
use crate::store::Shelf;
use crate::timeline::Timeline;
use std::sync::Arc;

/// How the pioneer goes.
#[derive(Clone)]
pub(crate) struct Pioneer {
    pub timeline: Arc<Timeline>,
    /// Steps of an interval.
    pub interval: u64,
    /// Steps of the recording.
    pub last: u64,
    /// Where what is known is kept for later.
    pub shelf: Option<Arc<Shelf>>,
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
            self.keep();
        }
        self.timeline.notify();
    }

    /// Keeps what is known for later, once the end is reached.
    fn keep(&self) {
        let contents = {
            let known = self.timeline.lock();
            (known.frontier() == self.last).then(|| known.contents())
        };
        if let (Some(shelf), Some(contents)) = (&self.shelf, contents) {
            shelf.put(contents, self.last);
        }
    }

    fn interval(&self, traveller: &mut Traveller) -> Result<(), TravelError> {
        let (frontier, last) = {
            let mut known = self.timeline.lock();
            let frontier = known.frontier();
            (frontier, known.keyframe(frontier))
        };
        let process = traveller.process()?;
        let Some(last) = last else {
            let snapshot = process.snapshot();
            self.timeline.lock().add(snapshot, None);
            return Ok(());
        };
        // The last who looked may have been somebody else, who left a file.
        if process.time() != frontier {
            process.go_back(&last);
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
        let seen = Seen::new(ran, touched, ends, occurrences);
        self.timeline.lock().add(snapshot, Some(seen));
        Ok(())
    }
}
