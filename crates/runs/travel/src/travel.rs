//! The entry point: a recording opened for travel.

use crate::error::TravelError;
use crate::examine::Verdicts;
use crate::filter::Filter;
use crate::findings::Findings;
use crate::hand::Hand;
use crate::pioneer::Pioneer;
use crate::show::{show, step_of};
use crate::state::State;
use crate::store::{Owner, Shelf};
use crate::timeline::{Timeline, Want};
use parallax_process::Snapshot;
use parallax_process::elf::Machine;
use parallax_process::outside::Tid;
use parallax_process::system::call_name;
use parallax_record::{Archive, Log};
use parallax_trace::{Direction, Found, Target, Time, Watch};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// How a recording is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How many threads search; one more replays the recording for the first time, another shows states.
    pub workers: usize,
    /// Bytes of memory that keyframes may hold.
    pub budget: u64,
    /// Steps between keyframes.
    pub interval: u64,
}

impl Default for Settings {
    /// As many workers as there are processors, 1 GiB, a million steps.
    fn default() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        Settings { workers, budget: 1 << 30, interval: 1_000_000 }
    }
}

/// A recording opened for travel. It can be asked from any thread.
pub struct Travel {
    log: Arc<Log>,
    pub(crate) settings: Settings,
    pub(crate) last: u64,
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) findings: Arc<Findings>,
    pioneer: Hand,
    pub(crate) shower: Hand,
    pub(crate) finders: Vec<Hand>,
    /// They let tests look at states.
    pub(crate) examiners: Vec<Hand>,
    pub(crate) verdicts: Verdicts,
    machine: OnceLock<Machine>,
    shelf: Option<Arc<Shelf>>,
    /// How many steps had been looked at when the recording was opened.
    known: u64,
    notice: Option<String>,
}

impl Travel {
    /// Opens a stream of a recording; that of the first process is `0`. What was found out about it is kept in a file beside
    /// the recording, or in the user's cache, and is taken from there when it is opened again.
    pub fn open(path: &Path, stream: &str, settings: Settings) -> Result<Travel, TravelError> {
        let log = Archive::open(path).and_then(|archive| archive.log(stream));
        let log = log.map_err(|error| TravelError::Open(error.to_string()))?;
        let owner = Owner { identity: log.identity, interval: settings.interval.max(1) };
        let shelf = Shelf::new(path, stream, owner);
        let (stored, mut notice) = shelf.take(&log);
        let mut travel = Travel::new(log, settings)?;
        if let Some(stored) = stored
            && !travel.timeline.lock().load(stored, travel.last)
        {
            notice = Some(String::from("the index of the recording cannot be read: it is made anew"));
        }
        travel.known = travel.timeline.lock().frontier();
        travel.shelf = Some(Arc::new(shelf));
        travel.notice = notice;
        Ok(travel)
    }

    /// Opens what an archive gave. Nothing is kept in files.
    pub fn new(log: Arc<Log>, settings: Settings) -> Result<Travel, TravelError> {
        let last = log.last();
        if last == 0 {
            return Err(TravelError::Empty);
        }
        let settings =
            Settings { workers: settings.workers.max(1), interval: settings.interval.max(1), ..settings };
        let hand = |name: &str| Hand::new(log.clone(), name);
        let finders = (0..settings.workers).map(|_| hand("finder")).collect::<Result<_, _>>()?;
        let examiners = (0..settings.workers).map(|_| hand("examiner")).collect::<Result<_, _>>()?;
        Ok(Travel {
            last,
            timeline: Arc::new(Timeline::new(settings.interval, settings.budget)),
            findings: Arc::default(),
            pioneer: hand("pioneer")?,
            shower: hand("shower")?,
            finders,
            examiners,
            verdicts: Verdicts::default(),
            machine: OnceLock::new(),
            shelf: None,
            known: 0,
            notice: None,
            settings,
            log,
        })
    }

    /// What was recorded.
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// A word about files of ours that could not be used.
    pub fn notice(&self) -> Option<&str> {
        self.notice.as_deref()
    }

    /// How many steps had been looked at before it was opened: what a file told.
    pub fn known(&self) -> u64 {
        self.known
    }

    /// The machine of the first program.
    pub fn machine(&self) -> Result<Machine, TravelError> {
        if let Some(machine) = self.machine.get() {
            return Ok(*machine);
        }
        let machine = self.shower.ask(|traveller| Ok(traveller.process()?.machine()))?;
        Ok(*self.machine.get_or_init(|| machine))
    }

    /// The number of a system call.
    pub fn system_call(&self, name: &str) -> Result<Option<u64>, TravelError> {
        const MOST: u64 = 1024;
        let machine = self.machine()?;
        Ok((0..MOST).find(|number| call_name(machine, *number) == Some(name)))
    }

    /// Looks at the whole recording now, so that later questions need not: keyframes, and what happens between them.
    /// False if `watch` stopped it.
    pub fn prepare(&self, watch: &dyn Watch) -> Result<bool, TravelError> {
        let _want = self.want(self.last)?;
        match self.reach(self.last, watch) {
            Ok(()) => Ok(true),
            Err(TravelError::Stopped) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The time of the first step that a thread makes from `time` on, or of the last that it made before; none if there is
    /// none.
    pub fn step_of(
        &self,
        thread: Tid,
        time: Time,
        direction: Direction,
    ) -> Result<Option<Time>, TravelError> {
        let steps = self.last;
        let _want = self.want(time.min(steps))?;
        self.reach(time.min(steps), &parallax_trace::Unwatched)?;
        let (timeline, last) = (self.timeline.clone(), self.last);
        self.shower.ask(move |traveller| step_of(traveller, &timeline, thread, time, direction, last))
    }

    /// The latest keyframe that is not after so many steps: what other replays of the recording start from.
    pub fn keyframe(&self, steps: u64) -> Result<Arc<Snapshot>, TravelError> {
        let _want = self.want(steps.max(1).min(self.last))?;
        self.reach(steps.max(1).min(self.last), &parallax_trace::Unwatched)?;
        self.timeline.lock().keyframe(steps).ok_or(TravelError::Empty)
    }

    /// How many keyframes there are, and how many bytes they hold.
    pub fn keyframes(&self) -> (usize, u64) {
        let known = self.timeline.lock();
        (known.keyframes(), known.bytes())
    }

    /// Wishes that the recording be looked at until so many steps.
    pub(crate) fn want(&self, steps: u64) -> Result<Want, TravelError> {
        let want = Want::new(&self.timeline, steps);
        let idle = {
            let mut known = self.timeline.lock();
            let idle = !known.pioneering && known.is_wanted();
            known.pioneering |= idle;
            idle
        };
        if idle {
            let pioneer = Pioneer {
                timeline: self.timeline.clone(),
                interval: self.settings.interval,
                last: self.last,
                shelf: self.shelf.clone(),
            };
            self.pioneer.give(move |traveller| pioneer.run(traveller))?;
        }
        Ok(want)
    }

    /// Waits until the recording has been looked at until so many steps.
    pub(crate) fn reach(&self, steps: u64, watch: &dyn Watch) -> Result<(), TravelError> {
        self.timeline.wait(steps, || watch.stop())
    }
}

impl Drop for Travel {
    /// Who did not come to the end has seen something too. The end itself was kept when it was reached.
    fn drop(&mut self) {
        /// Less is as quickly seen again.
        const WORTH: u64 = 8;
        let Some(shelf) = &self.shelf else { return };
        let contents = {
            let known = self.timeline.lock();
            let more = known.frontier() - self.known >= WORTH * self.settings.interval;
            (more && known.frontier() < self.last).then(|| known.contents())
        };
        if let Some(contents) = contents {
            shelf.put(contents, self.last);
        }
    }
}

impl Target for Travel {
    type Condition = Filter;
    type State = State;
    type Error = TravelError;

    fn span(&self) -> Range<Time> {
        1..self.last + 1
    }

    fn finished(&self) -> bool {
        true
    }

    fn state(&self, time: Time) -> Result<State, TravelError> {
        let span = self.span();
        if !(span.start..=span.end).contains(&time) {
            return Err(TravelError::NoTime { time, span });
        }
        // The first keyframe is there when anything has been looked at.
        let steps = (time - 1).max(1);
        let _want = self.want(steps)?;
        self.reach(steps, &parallax_trace::Unwatched)?;
        let (timeline, last) = (self.timeline.clone(), self.last);
        self.shower.ask(move |traveller| show(traveller, &timeline, time, last))
    }

    fn search(
        &self,
        conditions: &[Filter],
        within: Range<Time>,
        direction: Direction,
        max: usize,
        watch: &dyn Watch,
    ) -> Result<Found, TravelError> {
        crate::examine::search(self, conditions, within, direction, max, watch)
    }
}
