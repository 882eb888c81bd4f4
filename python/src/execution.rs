//! `execution`: a whole recording.

use crate::errors::UnknownName;
use crate::object::Object;
use crate::predicate::Predicate;
use crate::recorded::{Moment as Seen, Recorded};
use crate::snapshot::Snapshot;
use crate::traces::{Moment, Trace};
use crate::value::Value;
use parallax_moment::{Names, Stop};
use parallax_record::SavedEnding;
use parallax_symbols::Place;
use parallax_trace::{INF, Options, Target, Time};
use parallax_travel::{Filter, Numbers, Ranges, TravelError};
use pyo3::exceptions::{PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;

/// Reads of memory, for watchpoints.
pub const READ: u8 = 1;
/// Writes to memory, for watchpoints.
pub const WRITE: u8 = 2;

/// The execution of a recorded program.
///
///     the_execution = execution("server.rec")
///     foo = the_execution.breakpoints("foo")
///     print(len(foo), foo.first().value.read_var("x"))
///
/// Traces are made at once; nothing is searched until they are asked. Times are steps of the recording, from 1.
#[pyclass(frozen, name = "execution", module = "parallax")]
pub struct Execution {
    recorded: Arc<Recorded>,
    path: PathBuf,
}

/// What a trace was taken from a recording as.
pub struct Origin {
    recorded: Arc<Recorded>,
    condition: Filter,
    /// What the states must be like.
    test: Option<Predicate>,
    /// Whether its snapshots are those after the step.
    is_after: bool,
    /// The method of an execution that made it.
    pub kind: &'static str,
    /// What the method was given.
    pub about: String,
    /// The address and size that are watched.
    pub extent: Option<(u64, u64)>,
}

impl Origin {
    /// The trace of the snapshots.
    fn trace(self) -> Trace {
        let (recorded, is_after) = (self.recorded.clone(), self.is_after);
        let condition = match &self.test {
            Some(test) => self.condition.clone().when(test.test(&self.recorded, self.is_after)),
            None => self.condition.clone(),
        };
        let from = Arc::new(condition.clone());
        let inner = self.recorded.world.trace(condition, move |time| {
            let from = Some(from.clone());
            let snapshot = Snapshot { recorded: recorded.clone(), time, is_after, from };
            Python::attach(|py| match Py::new(py, snapshot) {
                Ok(snapshot) => Ok(Object::new(snapshot.into_any())),
                Err(error) => Err(crate::errors::thrown(py, error)),
            })
        });
        Trace { inner, origin: Some(Arc::new(self)) }
    }

    /// The trace of those whose states pass a test, which is made where the search passes them.
    pub fn filtered(&self, predicate: &Predicate) -> Trace {
        let test = self.test.as_ref().map_or_else(|| predicate.clone(), |first| first.and(predicate));
        let origin = Origin {
            recorded: self.recorded.clone(),
            condition: self.condition.clone(),
            test: Some(test),
            is_after: self.is_after,
            kind: self.kind,
            about: self.about.clone(),
            extent: self.extent,
        };
        origin.trace()
    }
}

impl Execution {
    /// The trace of snapshots at which a condition holds.
    fn trace(&self, condition: Filter, is_after: bool, kind: &'static str, about: String) -> Trace {
        let recorded = self.recorded.clone();
        Origin { recorded, condition, test: None, is_after, kind, about, extent: None }.trace()
    }

    fn last(&self, py: Python<'_>) -> PyResult<Arc<Seen>> {
        py.detach(|| self.recorded.moment(self.recorded.travel().span().end, false, None))
    }

    /// The steps that a place means: a function, a line of a file, an address.
    fn places(&self, py: Python<'_>, place: &Bound<'_, PyAny>, index: isize) -> PyResult<Filter> {
        if let Ok(address) = place.extract::<u64>() {
            return Ok(Filter::Execute(address.into()));
        }
        let Ok(name) = place.extract::<String>() else {
            return Err(PyTypeError::new_err(
                "a place is the name of a function, \"file:line\" or an address",
            ));
        };
        let stop = match index {
            0 => Stop::Body,
            -1 => Stop::End,
            _ => return Err(PyValueError::new_err("index is 0 for the start of a function, -1 for its end")),
        };
        let recorded = self.recorded.clone();
        let found = py.detach(|| {
            let (travel, watch) = (recorded.travel(), &crate::events::Signals::new());
            Names { travel, modules: &recorded.modules, watch }.place(&name, stop)
        });
        let code = found.map_err(|error| match error {
            TravelError::Stopped => crate::errors::raised(py, parallax_trace::Error::Interrupted),
            error => crate::errors::RecordingError::new_err(error.to_string()),
        })?;
        if code.is_empty() {
            let notes: String = code.notes.iter().map(|note| format!("; {note}")).collect();
            let what = if stop == Stop::End { "no known end of" } else { "no code called" };
            return Err(UnknownName::new_err(format!("{what} {name} in the recording{notes}")));
        }
        for note in &code.notes {
            let note = CString::new(note.as_str()).unwrap_or_default();
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &note, 1)?;
        }
        Ok(code.filter())
    }
}

#[pymethods]
impl Execution {
    /// Open a recording; stream is the process in it, "0" the first, "0.1" its first child.
    #[new]
    #[pyo3(signature = (path, *, stream="0", lazily=false))]
    fn new(py: Python<'_>, path: PathBuf, stream: &str, lazily: bool) -> PyResult<Execution> {
        let options = if lazily { Options::plain() } else { Options::default() };
        let recorded = py.detach(|| Recorded::open(&path, stream, options))?;
        Ok(Execution { recorded: Arc::new(recorded), path })
    }

    /// Return the snapshot before step t.
    fn get_at(&self, t: Moment) -> PyResult<Snapshot> {
        let span = self.recorded.travel().span();
        let time = if t.0 == INF { span.end } else { t.0 };
        if !(span.start..=span.end).contains(&time) {
            let message =
                format!("there is no time {time}: the recording goes from {} to {}", span.start, span.end);
            return Err(PyValueError::new_err(message));
        }
        Ok(Snapshot { recorded: self.recorded.clone(), time, is_after: false, from: None })
    }

    /// Return the trace of snapshots at a function, "file:line" or address; index=-1 is the end of the function.
    ///
    /// A function is stopped at behind its prologue, where its parameters can be read, and in every place that it was
    /// inlined into; in libraries that were closed, too. It ends where it returns, or jumps to another function. What is not known, as the
    /// ends of an inlined copy whose code is mixed with its caller's, is a warning.
    #[pyo3(signature = (r#fn, index=0))]
    fn breakpoints(&self, py: Python<'_>, r#fn: &Bound<'_, PyAny>, index: isize) -> PyResult<Trace> {
        let condition = self.places(py, r#fn, index)?;
        let about = if r#fn.is_instance_of::<PyString>() {
            r#fn.to_string()
        } else {
            format!("{:#x}", r#fn.extract::<u64>()?)
        };
        Ok(self.trace(condition, false, "breakpoints", about))
    }

    /// Return the trace of snapshots before system calls of a name or number; of all, if none is given.
    #[pyo3(signature = (r#fn=None))]
    fn syscalls(&self, py: Python<'_>, r#fn: Option<&Bound<'_, PyAny>>) -> PyResult<Trace> {
        let numbers = match r#fn {
            None => Numbers::All,
            Some(given) if given.is_none() => Numbers::All,
            Some(given) => match given.extract::<u64>() {
                Ok(number) => Numbers::from(number),
                Err(_) => {
                    let name: String = given.extract()?;
                    let number = py.detach(|| self.recorded.travel().system_call(&name));
                    let number =
                        number.map_err(|error| crate::errors::RecordingError::new_err(error.to_string()))?;
                    let unknown = || UnknownName::new_err(format!("no system call is called {name}"));
                    Numbers::from(number.ok_or_else(unknown)?)
                }
            },
        };
        let about = r#fn.filter(|given| !given.is_none()).map(ToString::to_string).unwrap_or_default();
        Ok(self.trace(Filter::SystemCall(numbers), false, "syscalls", about))
    }

    /// Return the trace of snapshots before the deliveries of a signal; of all, if no number is given.
    #[pyo3(signature = (number=None))]
    fn signals(&self, number: Option<u64>) -> Trace {
        let about = number.map(|number| number.to_string()).unwrap_or_default();
        self.trace(Filter::Signal(number.map_or(Numbers::All, Numbers::from)), false, "signals", about)
    }

    /// Return the trace of snapshots after accesses to x: the name of a global variable, an l-value, or (address, size).
    ///
    /// rw is READ, WRITE or READ | WRITE.
    #[pyo3(signature = (x, rw=WRITE))]
    fn watchpoints(&self, py: Python<'_>, x: &Bound<'_, PyAny>, rw: u8) -> PyResult<Trace> {
        let (address, size) = self.watched(py, x)?;
        let ranges = || Ranges::from(address..address.saturating_add(size.max(1)));
        let filter = match rw {
            READ => Filter::Read(ranges()),
            WRITE => Filter::Write(ranges()),
            3 => Filter::Any(vec![Filter::Read(ranges()), Filter::Write(ranges())]),
            _ => return Err(PyValueError::new_err("rw is READ, WRITE or READ | WRITE")),
        };
        let about = if x.is_instance_of::<PyString>() { x.to_string() } else { String::new() };
        let recorded = self.recorded.clone();
        let extent = Some((address, size.max(1)));
        let (kind, test) = ("watchpoints", None);
        Ok(Origin { recorded, condition: filter, test, is_after: true, kind, about, extent }.trace())
    }

    /// Return the trace of snapshots before all call instructions; s.after() is at the function's first instruction.
    fn all_calls(&self) -> Trace {
        self.trace(Filter::Call(Ranges::all()), false, "calls", String::new())
    }

    /// Return the trace of snapshots before all return instructions.
    fn all_returns(&self) -> Trace {
        self.trace(Filter::Return, false, "calls", "returns".to_owned())
    }

    /// Return the time at which the execution stands: a recording has run to its end, so this changes nothing.
    fn cont(&self) -> Time {
        self.get_time()
    }

    /// Return the end of the execution: the time after its last step.
    fn get_time(&self) -> Time {
        self.recorded.travel().span().end
    }

    /// Return how the process ended, in the words of `parallax info`; None if the recording was cut before.
    fn get_ending(&self) -> Option<String> {
        self.recorded.travel().log().ending().map(|ending| ending.restore().to_string())
    }

    /// Return the number of the signal that ended the process; None if it ended otherwise.
    fn get_signal(&self) -> Option<i32> {
        match self.recorded.travel().log().ending() {
            Some(SavedEnding::Killed(signal, ..)) => Some(signal),
            _ => None,
        }
    }

    /// Return who runs when: pairs of a time and the thread that makes the steps from then on.
    ///
    /// Replays the recording once.
    fn turns(&self, py: Python<'_>) -> PyResult<Vec<(Time, u32)>> {
        let turns = py.detach(|| self.recorded.travel().turns(&crate::events::Signals::new()));
        turns.map_err(|error| match error {
            parallax_travel::TravelError::Stopped => {
                crate::errors::raised(py, parallax_trace::Error::Interrupted)
            }
            error => crate::errors::RecordingError::new_err(error.to_string()),
        })
    }

    /// Return the files that the program had mapped at its end, the program first.
    fn modules(&self, py: Python<'_>) -> PyResult<Vec<(String, u64)>> {
        let last = self.last(py)?;
        Ok(last.symbols.modules().iter().map(|module| (module.name.to_string(), module.bias)).collect())
    }

    /// Return the names of the functions of the program.
    fn functions(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let last = self.last(py)?;
        let first = last.symbols.modules().first();
        let symbols = first.map(|module| module.symbols()).unwrap_or_default();
        Ok(symbols.iter().filter(|symbol| symbol.is_function).map(|symbol| symbol.name.clone()).collect())
    }

    fn __repr__(&self) -> String {
        format!("<execution of {}, times 1 to {}>", self.path.display(), self.get_time())
    }
}

impl Execution {
    fn watched(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<(u64, u64)> {
        if let Ok(value) = x.cast::<Value>() {
            return value.get().extent();
        }
        if let Ok(name) = x.cast::<PyString>() {
            let name = name.to_cow()?.into_owned();
            let last = self.last(py)?;
            let found = py.detach(|| -> parallax_symbols::Result<_> {
                let value = last.symbols.evaluate(&name, last.frame(), &*last)?;
                let size = last.symbols.size(&value.ty)?;
                Ok((value.place, size))
            });
            return match found.map_err(|error| last.error(error, &name))? {
                (Place::Memory(address), size) => Ok((address, size)),
                _ => Err(PyValueError::new_err(format!(
                    "{name} has no address that lasts; give (address, size)"
                ))),
            };
        }
        if let Ok(pair) = x.cast::<PyTuple>() {
            return pair.extract();
        }
        match x.extract::<u64>() {
            Ok(address) => Ok((address, 1)),
            Err(_) => {
                Err(PyTypeError::new_err("x is a global variable's name, an l-value, or (address, size)"))
            }
        }
    }
}
