//! A recording with what its debug information says: the one thing that executions, snapshots and values share.

use crate::errors::{RecordingError, debug_error};
use crate::scene::{Scene, decoded, is_call_instruction};
use parallax_moment::{Glimpse, Modules};
use parallax_record::Archive;
use parallax_symbols::{Frame, Symbols};
use parallax_trace::{Direction, Options, Target, Time, World};
use parallax_travel::{Filter, Look, Passing, Settings, Side, State, Travel, TravelError};
use pyo3::prelude::*;
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// A recording that is asked.
pub struct Recorded {
    pub world: World<Travel>,
    pub modules: Arc<Modules>,
    moments: Mutex<Moments>,
    /// Pages that were asked for and had not been kept, the latest last: they are kept from then on.
    missed: Mutex<Vec<u64>>,
    /// Who goes from hit to hit, the latest last.
    walks: Mutex<Vec<Walk>>,
}

/// Somebody who goes from hit to hit: what comes next is fetched with what is asked for.
struct Walk {
    condition: Filter,
    is_after: bool,
    /// How far it has been fetched.
    reached: Time,
    /// How many were fetched last.
    fetched: usize,
    /// How many of them were asked for.
    used: usize,
}

impl Walk {
    /// Whether it goes from hit to hit of a condition.
    fn is(&self, condition: &Filter, is_after: bool) -> bool {
        self.condition == *condition && self.is_after == is_after
    }
}

/// The moments that are remembered, and in which order they came.
#[derive(Default)]
struct Moments {
    known: HashMap<(Time, bool), Arc<Moment>>,
    order: VecDeque<(Time, bool)>,
}

impl Moments {
    fn add(&mut self, moment: Arc<Moment>) {
        let key = (moment.time, moment.is_after);
        if self.known.insert(key, moment).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > MOST_MOMENTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

/// So many moments are remembered; each holds some pages of the program.
const MOST_MOMENTS: usize = 640;

/// So many are fetched together at most.
const MOST_FETCHED: usize = 256;

/// So many pages are kept of a moment besides the stack's.
const MOST_MISSED: usize = 4;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recorded {
    /// Opens a stream of a recording.
    pub fn open(path: &Path, stream: &str, options: Options) -> PyResult<Recorded> {
        let wrong = |error: &dyn std::fmt::Display| RecordingError::new_err(error.to_string());
        let archive = Archive::open(path).map_err(|error| wrong(&error))?;
        let log = archive.log(stream).map_err(|error| wrong(&error))?;
        let modules = Arc::new(Modules::new(log.clone()));
        let travel = Travel::new(log, Settings::default()).map_err(|error| wrong(&error))?;
        let world = World::watched(Arc::new(travel), options, crate::events::Signals::new());
        Ok(Recorded {
            world,
            modules,
            moments: Mutex::default(),
            missed: Mutex::default(),
            walks: Mutex::default(),
        })
    }

    /// The target that is searched.
    pub fn travel(&self) -> &Arc<Travel> {
        self.world.target()
    }

    /// The moment of an event: the state before its step, or after it, seen by the thread that makes the step.
    ///
    /// `from` is the condition that found it, if it was found: who goes from hit to hit gets the next ones fetched with it.
    pub fn moment(
        self: &Arc<Self>,
        time: Time,
        is_after: bool,
        from: Option<&Filter>,
    ) -> PyResult<Arc<Moment>> {
        let known = lock(&self.moments).known.get(&(time, is_after)).cloned();
        if let Some(found) = known {
            if let Some(condition) = from {
                let mut walks = lock(&self.walks);
                let own = walks.iter_mut().find(|walk| walk.is(condition, is_after));
                own.into_iter().for_each(|walk| walk.used += 1);
            }
            return Ok(found);
        }
        let wrong = |error: TravelError| RecordingError::new_err(error.to_string());
        let times = self.fetched(time, is_after, from);
        let side = if is_after { Side::After } else { Side::Before };
        let sides: Vec<(Time, Side)> = times.iter().map(|time| (*time, side)).collect();
        // Ctrl-C is heard where Python runs next.
        let (modules, missed) = (self.modules.clone(), lock(&self.missed).clone());
        let look = move |passing: &Passing<'_>| {
            let glimpse = Glimpse::of(passing, &missed)?;
            Some((passing.time(), glimpse, modules.passed(passing)))
        };
        let at = from.and_then(Filter::executed);
        let looks = self.travel().looks(&sides, at, look, &parallax_trace::Unwatched).map_err(wrong)?;
        let mut asked = None;
        for look in looks {
            let moment = match look {
                Look::InPlace((at, glimpse, symbols)) => {
                    Moment::passed(self, at - u64::from(is_after), is_after, glimpse, symbols)
                }
                Look::Copied(state) => self.seen(Arc::from(state), is_after),
            };
            let moment = Arc::new(moment);
            if moment.time == time {
                asked = Some(moment.clone());
            }
            lock(&self.moments).add(moment);
        }
        asked.ok_or_else(|| RecordingError::new_err(format!("there is no state at time {time}")))
    }

    /// A moment as a state shows it.
    pub fn seen(self: &Arc<Self>, state: Arc<State>, is_after: bool) -> Moment {
        let (time, thread) = (state.time() - u64::from(is_after), state.thread());
        Moment {
            time,
            is_after,
            thread,
            pc: state.pc_of(thread).unwrap_or(0),
            symbols: self.modules.symbols(&state),
            glimpse: None,
            whole: OnceLock::from(Some(state)),
            recorded: Arc::downgrade(self),
            innermost: OnceLock::new(),
        }
    }

    /// A page was asked for that had not been kept.
    fn miss(&self, page: u64) {
        let mut missed = lock(&self.missed);
        missed.retain(|known| *known != page);
        missed.push(page);
        if missed.len() > MOST_MISSED {
            missed.remove(0);
        }
    }

    /// The times whose states are fetched when one is asked for, in order.
    fn fetched(&self, time: Time, is_after: bool, from: Option<&Filter>) -> Vec<Time> {
        let Some(condition) = from else { return vec![time] };
        const MOST_WALKS: usize = 8;
        let mut walks = lock(&self.walks);
        let known = walks.iter().position(|walk| walk.is(condition, is_after)).map(|at| walks.remove(at));
        let known = known.as_ref();
        let direction = match known {
            Some(walk) if time < walk.reached => Direction::Backward,
            _ => Direction::Forward,
        };
        // As long as what was fetched is used, more of it is, whichever way the walk goes.
        let fetched = match known {
            Some(walk) if walk.fetched == 1 => 2,
            Some(walk) if walk.used * 4 >= walk.fetched => (walk.fetched * 2).min(MOST_FETCHED),
            Some(walk) => walk.fetched / 2,
            None => 1,
        };
        let mut times = vec![time];
        let span = self.travel().span();
        let beyond = match direction {
            Direction::Forward => time + 1..span.end,
            Direction::Backward => span.start..time,
        };
        if fetched > 1 && !beyond.is_empty() {
            let ahead = std::slice::from_ref(condition);
            let watch = &parallax_trace::Unwatched;
            // What cannot be searched will be said when it is asked for.
            if let Ok(found) = self.travel().search(ahead, beyond, direction, fetched - 1, watch) {
                times.extend(found.hits.iter().map(|hit| hit.time));
            }
        }
        let reached = times.last().copied().unwrap_or(time);
        walks.push(Walk { condition: condition.clone(), is_after, reached, fetched, used: 0 });
        if walks.len() > MOST_WALKS {
            walks.remove(0);
        }
        times.sort_unstable();
        times
    }
}

/// The program at one moment, seen by one thread.
pub struct Moment {
    /// The time of the event.
    pub time: Time,
    pub is_after: bool,
    pub thread: u32,
    pub symbols: Arc<Symbols>,
    pc: u64,
    /// What was kept where a replay passed, which mostly is enough.
    glimpse: Option<Glimpse>,
    /// All of it, when that is asked for; none if the recording is gone.
    whole: OnceLock<Option<Arc<State>>>,
    recorded: Weak<Recorded>,
    innermost: OnceLock<Frame>,
}

/// A moment that somebody keeps: its recording stays as long, since not all of the moment may have been fetched.
#[derive(Clone)]
pub struct Held {
    moment: Arc<Moment>,
    _recorded: Option<Arc<Recorded>>,
}

impl From<Arc<Moment>> for Held {
    fn from(moment: Arc<Moment>) -> Held {
        let recorded = moment.recorded.upgrade();
        Held { moment, _recorded: recorded }
    }
}

impl std::ops::Deref for Held {
    type Target = Moment;

    fn deref(&self) -> &Moment {
        &self.moment
    }
}

impl Moment {
    fn passed(
        recorded: &Arc<Recorded>,
        time: Time,
        is_after: bool,
        glimpse: Glimpse,
        symbols: Arc<Symbols>,
    ) -> Moment {
        Moment {
            time,
            is_after,
            thread: glimpse.thread,
            symbols,
            pc: glimpse.pc,
            glimpse: Some(glimpse),
            whole: OnceLock::new(),
            recorded: Arc::downgrade(recorded),
            innermost: OnceLock::new(),
        }
    }

    /// The whole state.
    pub fn state(&self) -> Option<&State> {
        let fetch = || {
            let side = if self.is_after { Side::After } else { Side::Before };
            let recorded = self.recorded.upgrade()?;
            recorded
                .travel()
                .states(&[(self.time, side)], &parallax_trace::Unwatched)
                .ok()?
                .pop()
                .map(Arc::new)
        };
        self.whole.get_or_init(fetch).as_deref()
    }

    /// The innermost frame.
    pub fn frame(&self) -> &Frame {
        self.innermost.get_or_init(|| self.symbols.innermost(self))
    }

    /// What can be asked of it.
    pub fn scene(&self) -> &dyn Scene {
        self
    }

    /// The exception for an error of the debug information, with the time and the function it happened in.
    pub fn error(&self, error: parallax_symbols::Error, what: &str) -> PyErr {
        debug_error(error, what, self.time, self.frame().function.as_deref())
    }

    /// Where the return addresses of the stack are stored, innermost first. An address that no call can have left ends the
    /// list: what unwinding finds behind it is not the stack.
    pub fn return_slots(&self, most: usize) -> Vec<u64> {
        let mut slots = Vec::new();
        for frame in self.symbols.frames(self, most).iter().filter(|frame| !frame.is_inlined) {
            let Some(slot) = frame.return_slot else { break };
            slots.push(slot);
            let mut word = [0; 8];
            if !parallax_symbols::State::read(self, slot, &mut word)
                || !self.is_left_by_call(u64::from_le_bytes(word))
            {
                break;
            }
        }
        slots
    }

    /// Whether a call stands before an address, or the kernel made it the end of a signal handler.
    fn is_left_by_call(&self, address: u64) -> bool {
        const SIGRETURN: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
        let is_call_of = |length: u64| {
            let mut bytes = [0; 8];
            let bytes = &mut bytes[..length as usize];
            parallax_symbols::State::read(self, address.wrapping_sub(length), bytes)
                && decoded(bytes)
                    .is_some_and(|call| call.len() as u64 == length && is_call_instruction(&call))
        };
        let mut code = [0; SIGRETURN.len()];
        parallax_symbols::State::read(self, address, &mut code) && code == SIGRETURN
            || (2..=8).any(is_call_of)
    }
}

impl Scene for Moment {
    fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    fn frame(&self) -> &Frame {
        Moment::frame(self)
    }

    fn state(&self) -> &dyn parallax_symbols::State {
        self
    }

    fn thread(&self) -> Option<u32> {
        Some(self.thread)
    }

    fn register(&self, name: &str) -> Option<u128> {
        // What a glimpse does not know, a state may: flags may be old where a replay only passed.
        let glimpsed = self.glimpse.as_ref().and_then(|glimpse| glimpse.registers.get(name));
        let bytes = glimpsed.or_else(|| self.state()?.register_of(self.thread, name));
        bytes.filter(|bytes| bytes.len() <= 16).map(parallax_moment::word)
    }
}

impl parallax_symbols::State for Moment {
    fn pc(&self) -> u64 {
        self.pc
    }

    fn register(&self, number: u16) -> Option<u128> {
        match &self.glimpse {
            Some(glimpse) => glimpse.register(number),
            None => parallax_moment::register(self.state()?, self.thread, number),
        }
    }

    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        const PAGE: u64 = 4096;
        if let Some(glimpse) = &self.glimpse {
            if glimpse.read(address, into) {
                return true;
            }
            self.recorded.upgrade().iter().for_each(|recorded| recorded.miss(address / PAGE));
        }
        self.state().is_some_and(|state| state.read(address, into).is_ok())
    }
}
