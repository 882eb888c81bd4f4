//! The one place where errors become exceptions, and exceptions errors.

use crate::predicate::Raised;
use parallax_trace::Error;
use parallax_travel::{TravelError, Unanswered};
use pyo3::exceptions::{PyBaseException, PyException, PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use std::sync::Mutex;

pyo3::create_exception!(
    parallax,
    TraceError,
    PyException,
    "A query of a trace has no answer. `time` says where, if it is known."
);
pyo3::create_exception!(
    parallax,
    CoincidenceError,
    TraceError,
    "Two traces merged without a function both have an item at `time`."
);
pyo3::create_exception!(parallax, SelfDependence, TraceError, "The value at `time` needs itself.");
pyo3::create_exception!(
    parallax,
    RecordingError,
    TraceError,
    "A recording cannot be opened, is damaged, or does not replay."
);
pyo3::create_exception!(
    parallax,
    DebugError,
    TraceError,
    "The debug information has no answer. `time` says when, `function` where, `name` to what."
);
pyo3::create_exception!(
    parallax,
    UnknownName,
    DebugError,
    "No variable, member, function or system call has that name there."
);
pyo3::create_exception!(parallax, OptimizedOut, DebugError, "The compiler did not keep the value.");
pyo3::create_exception!(parallax, MemoryUnreadable, DebugError, "The program could not read that memory.");
pyo3::create_exception!(
    parallax,
    Deferred,
    PyBaseException,
    "Internal: something else must be evaluated first. Let it pass."
);

/// The exception of a signal handler that stopped a search, until the query raises it.
static INTERRUPT: PyOnceLock<Mutex<Option<PyErr>>> = PyOnceLock::new();

/// Keeps what a signal handler raised.
pub fn keep_interrupt(py: Python<'_>, error: PyErr) {
    let slot = INTERRUPT.get_or_init(py, Mutex::default);
    *slot.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(error);
}

/// The error of a function that raised.
pub fn thrown(py: Python<'_>, error: PyErr) -> Error {
    if error.is_instance_of::<Deferred>(py) { Error::Deferred } else { Error::user(error) }
}

/// The exception for an error of the debug information: it names the time, the function and what was asked for.
pub fn debug_error(
    error: parallax_symbols::Error,
    what: &str,
    time: parallax_trace::Time,
    function: Option<&str>,
) -> PyErr {
    use parallax_symbols::Error as E;
    let place = match (&error, function) {
        (E::NoVariable { function: Some(_), .. }, _) | (_, None) => format!(" (at time {time})"),
        (_, Some(function)) => format!(" (at time {time}, in {function})"),
    };
    let about = match &error {
        E::NoVariable { .. } | E::Expression { .. } => String::new(),
        E::OptimizedOut { what: lost } if lost == what => String::new(),
        _ => format!("{what}: "),
    };
    let message = format!("{about}{error}{place}");
    let exception = match error {
        E::NoVariable { .. } | E::Type { .. } => UnknownName::new_err(message),
        E::OptimizedOut { .. } | E::NoRegister { .. } => OptimizedOut::new_err(message),
        E::Unreadable { .. } => MemoryUnreadable::new_err(message),
        E::Expression { .. } => pyo3::exceptions::PyValueError::new_err(message),
        _ => DebugError::new_err(message),
    };
    Python::attach(|py| {
        // Attributes of the instance; the message says the same.
        let value = exception.value(py);
        let _ = value.setattr("time", time);
        let _ = value.setattr("function", function);
        let _ = value.setattr("name", what);
    });
    exception
}

/// The exception for an error. What a user function raised passes unchanged.
pub fn raised(py: Python<'_>, error: Error) -> PyErr {
    let message = error.to_string();
    let with_time = |exception: PyErr, time: u64| {
        // An attribute of the instance; if it cannot be set, the message still names the time.
        let _ = exception.value(py).setattr("time", time);
        exception
    };
    match error {
        Error::User(cause) => match cause.downcast_ref::<PyErr>() {
            Some(exception) => exception.clone_ref(py),
            None => TraceError::new_err(message),
        },
        Error::Interrupted => {
            let kept = INTERRUPT.get(py).and_then(|slot| slot.lock().ok()?.take());
            kept.unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))
        }
        Error::Coincidence(time) => with_time(CoincidenceError::new_err(message), time),
        Error::SelfDependence(time) => with_time(SelfDependence::new_err(message), time),
        Error::Deferred => Deferred::new_err(message),
        Error::Swallowed => PyRuntimeError::new_err(message),
        Error::TooDeep => pyo3::exceptions::PyRecursionError::new_err(message),
        Error::Target(cause) => match cause.downcast_ref::<TravelError>() {
            Some(TravelError::Test(Unanswered(why))) => match why.downcast_ref::<Raised>() {
                Some(Raised(exception)) => exception.clone_ref(py),
                None => TraceError::new_err(message),
            },
            _ => TraceError::new_err(message),
        },
        Error::Contract(_) => TraceError::new_err(message),
    }
}
