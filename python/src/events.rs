//! `events`: traces of things that a script or a log file already has, without a recording.

use crate::errors::keep_interrupt;
use crate::object::Object;
use crate::traces::{Moment, Trace};
use parallax_trace::{Direction, Found, INF, List, ListError, Options, Target, Time, Watch, World};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::{BTreeMap, HashMap};
use std::io::{IsTerminal, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Hears Ctrl-C during a search, and shows how far a long one is.
pub struct Signals {
    last: Mutex<(Instant, Instant)>,
}

impl Signals {
    pub fn new() -> Self {
        let now = Instant::now();
        Signals { last: Mutex::new((now, now)) }
    }
}

/// Whether a line about progress stands on the terminal.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Takes the line about progress away: the answer is there.
pub fn clear_progress() {
    if SHOWN.swap(false, Ordering::Relaxed) {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
}

/// How often signals are looked at.
const PAUSE: Duration = Duration::from_millis(10);
/// A search that is looked at less often than this has begun anew.
const NEW: Duration = Duration::from_millis(500);

impl Watch for Signals {
    fn stop(&self) -> bool {
        {
            let mut last = self.last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let now = Instant::now();
            if now.duration_since(last.1) > NEW {
                last.0 = now;
            } else if now.duration_since(last.1) < PAUSE {
                return false;
            }
            last.1 = now;
        }
        Python::attach(|py| match py.check_signals() {
            Ok(()) => false,
            Err(error) => {
                keep_interrupt(py, error);
                true
            }
        })
    }

    fn progress(&self, at: Time) {
        let begun = self.last.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        if begun.elapsed() > Duration::from_secs(1) && std::io::stderr().is_terminal() {
            SHOWN.store(true, Ordering::Relaxed);
            let _ = write!(std::io::stderr(), "\rsearching, at time {at} \x1b[K");
        }
    }
}

/// A list that writes down what it is asked.
struct Asked {
    list: List,
    searches: Mutex<Vec<String>>,
}

impl Target for Asked {
    type Condition = String;
    type State = Time;
    type Error = ListError;

    fn span(&self) -> Range<Time> {
        self.list.span()
    }

    fn finished(&self) -> bool {
        true
    }

    fn state(&self, time: Time) -> Result<Time, ListError> {
        self.list.state(time)
    }

    fn search(
        &self,
        conditions: &[String],
        within: Range<Time>,
        direction: Direction,
        max: usize,
        watch: &dyn Watch,
    ) -> Result<Found, ListError> {
        watch.stop();
        let arrow = if direction == Direction::Forward { '>' } else { '<' };
        let text = format!("{}{arrow}[{},{})", conditions.join("+"), within.start, within.end);
        if let Ok(mut searches) = self.searches.lock() {
            searches.push(text);
        }
        self.list.search(conditions, within, direction, max, watch)
    }
}

/// Traces of things that are already there: lists of times by name, or times with values.
///
///     log = events({"open": [10, 20], "close": {15: "a", 30: "b"}}, end=100)
///     log.trace("open").merge(log.trace("close")).last()
///
/// The times are whole numbers from 1 on. With lazily=True every search is made for one item of one list, so that
/// searches() can be foretold; otherwise walks read ahead and merged traces are searched together.
#[pyclass(frozen, name = "events", module = "parallax")]
pub struct Events {
    world: World<Asked>,
    values: HashMap<String, Arc<BTreeMap<Time, Object>>>,
}

#[pymethods]
impl Events {
    #[new]
    #[pyo3(signature = (lists, end=None, *, lazily=false))]
    fn new(lists: &Bound<'_, PyDict>, end: Option<Moment>, lazily: bool) -> PyResult<Events> {
        let mut times: Vec<(String, Vec<Time>)> = Vec::new();
        let mut values = HashMap::new();
        for (name, given) in lists {
            let name: String = name.extract()?;
            let mut own = Vec::new();
            if let Ok(with_values) = given.cast::<PyDict>() {
                let mut table = BTreeMap::new();
                for (time, value) in with_values {
                    let Moment(time) = time.extract()?;
                    own.push(time);
                    table.insert(time, Object::new(value.unbind()));
                }
                values.insert(name.clone(), Arc::new(table));
            } else {
                for time in given.try_iter()? {
                    own.push(time?.extract::<Moment>()?.0);
                }
            }
            times.push((name, own));
        }
        let last = times.iter().flat_map(|(_, own)| own).copied().max().unwrap_or(0);
        let end = end.map_or(last.saturating_add(1), |Moment(end)| end).min(INF - 1);
        let mut list = List::new(1..end);
        for (name, own) in times {
            list = list.with(&name, own).map_err(|error| PyValueError::new_err(error.to_string()))?;
        }
        let options = if lazily { Options::plain() } else { Options::default() };
        let target = Asked { list, searches: Mutex::default() };
        Ok(Events { world: World::watched(Arc::new(target), options, Signals::new()), values })
    }

    /// Return the trace of a list. Its values are those given with the times, or the times themselves.
    fn trace(&self, name: &str) -> PyResult<Trace> {
        if !self.world.target().list.names().any(|known| known == name) {
            let known: Vec<&str> = self.world.target().list.names().collect();
            return Err(PyKeyError::new_err(format!("{name}; there are: {}", known.join(", "))));
        }
        let values = self.values.get(name).cloned();
        let trace = self.world.trace(name.to_owned(), move |time| match &values {
            Some(values) => Ok(values.get(&time).cloned().unwrap_or_else(|| Python::attach(Object::none))),
            None => Python::attach(|py| {
                let time = time.into_pyobject(py).map_err(|never| match never {})?;
                Ok(Object::new(time.into_any().unbind()))
            }),
        });
        Ok(Trace::derived(trace))
    }

    /// Return the searches since the last call, as text: "a<[1,50)" went backward through [1, 50) for list a.
    fn searches(&self) -> Vec<String> {
        self.world
            .target()
            .searches
            .lock()
            .map(|mut searches| std::mem::take(&mut *searches))
            .unwrap_or_default()
    }

    /// Return the first time after everything.
    fn get_time(&self) -> Time {
        self.world.target().span().end
    }
}
