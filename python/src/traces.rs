//! `trace` and `item`.

use crate::errors::raised;
use crate::events::clear_progress;
use crate::execution::Origin;
use crate::lazies::{Inner, Lazy};
use crate::object::{Function, Object, as_is};
use parallax_trace::{INF, Time};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyIterator, PyString, PyTuple};
use std::sync::{Arc, Mutex};

/// A time as Python gives it: an integer, "inf" or float("inf"). What lies before everything is 0.
pub struct Moment(pub Time);

impl<'py> FromPyObject<'_, 'py> for Moment {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(text) = given.cast::<PyString>() {
            return match text.to_cow()?.as_ref() {
                "inf" => Ok(Moment(INF)),
                "-inf" => Ok(Moment(0)),
                other => Err(PyTypeError::new_err(format!("a time is an integer or \"inf\", not {other:?}"))),
            };
        }
        if let Ok(number) = given.cast::<PyFloat>() {
            return match number.extract::<f64>()? {
                f64::INFINITY => Ok(Moment(INF)),
                f64::NEG_INFINITY => Ok(Moment(0)),
                other => Err(PyTypeError::new_err(format!(
                    "a time is an instruction count, a whole number, not {other}"
                ))),
            };
        }
        let index = given.call_method0("__index__").map_err(|_| {
            let class = given.get_type().name().map_or_else(|_| "that".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!("a time is an integer or \"inf\", not {class}"))
        })?;
        match index.extract::<i128>() {
            Ok(time) => Ok(Moment(Time::try_from(time.max(0)).unwrap_or(INF))),
            Err(_) => Ok(Moment(if index.lt(0)? { 0 } else { INF })),
        }
    }
}

/// A value and the time it belongs to. Unpacks: `time, value = item`.
#[pyclass(frozen, name = "item", module = "parallax", sequence)]
pub struct Item {
    /// The time.
    #[pyo3(get)]
    pub time: Time,
    /// The value.
    #[pyo3(get)]
    pub value: Py<PyAny>,
}

#[pymethods]
impl Item {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("time", "value")
    }

    fn __len__(&self) -> usize {
        2
    }

    fn __getitem__(&self, py: Python<'_>, index: isize) -> PyResult<Py<PyAny>> {
        match index {
            0 | -2 => Ok(PyInt::new(py, self.time).into_any().unbind()),
            1 | -1 => Ok(self.value.clone_ref(py)),
            _ => Err(PyIndexError::new_err("an item is a time and a value")),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyTuple::new(py, [PyInt::new(py, self.time).as_any(), self.value.bind(py)])?.try_iter()
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        match other.cast::<Item>() {
            Ok(other) => Ok(self.time == other.get().time && self.value.bind(py).eq(&other.get().value)?),
            Err(_) => Ok(false),
        }
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyTuple::new(py, [PyInt::new(py, self.time).as_any(), self.value.bind(py)])?.hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("item({}, {})", self.time, self.value.bind(py).repr()?))
    }
}

/// A lazy list over an execution: at most one item per time, each found and computed when it is asked for.
///
/// Methods that make a trace out of another return at once and search nothing. get_at, get_after, get_before, len, bool
/// and iteration search the execution for what their answer needs, in either direction, and remember it.
/// Functions receive values, not items; they must be pure, may run in any order, and may run again.
///
///     foo = the_execution.breakpoints("foo")
///     zero = foo.filter(lambda snap: snap.read_var("x") == 0)
///     print(len(zero), zero.get_after(0))
#[pyclass(frozen, name = "trace", module = "parallax")]
pub struct Trace {
    pub inner: parallax_trace::Trace<Object>,
    /// What it was taken from a recording as; none if it was made of other traces.
    pub origin: Option<Arc<Origin>>,
}

impl Trace {
    /// A trace that was made of others.
    pub fn derived(inner: parallax_trace::Trace<Object>) -> Trace {
        Trace { inner, origin: None }
    }

    fn found(
        py: Python<'_>,
        item: parallax_trace::Result<Option<parallax_trace::Item<Object>>>,
    ) -> PyResult<Option<Item>> {
        clear_progress();
        let item = item.map_err(|error| raised(py, error))?;
        Ok(item.map(|item| Item { time: item.time, value: item.value.to_py(py) }))
    }
}

fn optional(lazy: parallax_trace::Lazy<Option<Object>>) -> Lazy {
    Lazy(Inner::Optional(lazy))
}

fn accumulator(lazy: parallax_trace::Lazy<Object>) -> Lazy {
    Lazy(Inner::Accumulator(lazy))
}

/// A lazy and a value as arguments.
fn with_lazy(f: &Function, lazy: Lazy, value: Object, lazy_first: bool) -> parallax_trace::Result<Object> {
    f.call(
        |py| {
            let lazy = Bound::new(py, lazy)?.into_any();
            let value = value.bind(py).clone();
            Ok(if lazy_first { vec![lazy, value] } else { vec![value, lazy] })
        },
        as_is,
    )
}

/// Two lazies as arguments.
fn with_lazies(
    f: &Function,
    left: parallax_trace::Lazy<Option<Object>>,
    right: parallax_trace::Lazy<Option<Object>>,
) -> parallax_trace::Result<Object> {
    f.call(
        |py| {
            Ok(vec![Bound::new(py, optional(left))?.into_any(), Bound::new(py, optional(right))?.into_any()])
        },
        as_is,
    )
}

#[pymethods]
impl Trace {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let mut count = 0;
        let mut last = 0;
        loop {
            // In pieces, so that Ctrl-C is heard where no Python function runs.
            let piece = py.detach(|| {
                for _ in 0..4096 {
                    match self.inner.time_after(last)? {
                        Some(time) => last = time,
                        None => return Ok(true),
                    }
                    count += 1;
                }
                Ok(false)
            });
            let piece = piece.map_err(|error| raised(py, error));
            if !matches!(piece, Ok(false)) {
                clear_progress();
            }
            if piece? {
                return Ok(count);
            }
            py.check_signals()?;
        }
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        let empty = py.detach(|| self.inner.is_empty());
        clear_progress();
        let empty = empty.map_err(|error| raised(py, error))?;
        Ok(!empty)
    }

    fn __iter__(&self) -> Items {
        Items { trace: self.inner.clone(), cursor: Mutex::new(0), backward: false }
    }

    fn __reversed__(&self) -> Items {
        Items { trace: self.inner.clone(), cursor: Mutex::new(INF), backward: true }
    }

    /// Return the item at exactly time t, or None.
    fn get_at(&self, py: Python<'_>, t: Moment) -> PyResult<Option<Item>> {
        Self::found(py, py.detach(|| self.inner.get_at(t.0)))
    }

    /// Return the first item later than time t, or None.
    fn get_after(&self, py: Python<'_>, t: Moment) -> PyResult<Option<Item>> {
        Self::found(py, py.detach(|| self.inner.get_after(t.0)))
    }

    /// Return the last item earlier than time t, or None.
    fn get_before(&self, py: Python<'_>, t: Moment) -> PyResult<Option<Item>> {
        Self::found(py, py.detach(|| self.inner.get_before(t.0)))
    }

    /// Return the first item, or None.
    fn first(&self, py: Python<'_>) -> PyResult<Option<Item>> {
        Self::found(py, py.detach(|| self.inner.first()))
    }

    /// Return the last item, or None.
    fn last(&self, py: Python<'_>) -> PyResult<Option<Item>> {
        Self::found(py, py.detach(|| self.inner.last()))
    }

    /// Return an iterator over the times, which computes no values.
    fn times(&self) -> Times {
        Times { trace: self.inner.clone(), cursor: Mutex::new(0) }
    }

    /// Return the trace of the items for whose values p is true. p runs once per item.
    ///
    /// p is a function, or a predicate such as var("x") == 0, which is evaluated without calling Python.
    fn filter(&self, p: Bound<'_, PyAny>) -> PyResult<Trace> {
        if let Some(predicate) = crate::predicate::Predicate::given(&p) {
            return match &self.origin {
                Some(origin) => Ok(origin.filtered(&predicate)),
                None => Ok(Trace::derived(self.inner.filter(predicate.function()))),
            };
        }
        let p = Function::new(p, "p")?;
        let wanted =
            move |value: Object| p.call(|py| Ok(vec![value.bind(py).clone()]), |result| result.is_truthy());
        Ok(Trace::derived(self.inner.filter(wanted)))
    }

    /// Return the trace of f of each value. f runs once per item, when its value is asked for.
    fn map(&self, f: Bound<'_, PyAny>) -> PyResult<Trace> {
        let f = Function::new(f, "f")?;
        Ok(Trace::derived(self.inner.map(move |value| f.call(|py| Ok(vec![value.bind(py).clone()]), as_is))))
    }

    /// Return the trace of the items with t0 <= time < t1. Nothing outside is asked for.
    fn slice(&self, t0: Moment, t1: Moment) -> Trace {
        Trace::derived(self.inner.slice(t0.0, t1.0))
    }

    /// Return the trace of the items of both traces; at equal times the value is f(value of this, value of tr).
    ///
    /// Call it as merge(tr) or merge(None, tr) if they have no time in common; otherwise that raises
    /// CoincidenceError when it is found out, and the rest of the trace can still be used.
    #[pyo3(signature = (f, tr=None))]
    fn merge(&self, f: Bound<'_, PyAny>, tr: Option<&Bound<'_, PyAny>>) -> PyResult<Trace> {
        let (f, other) = match tr {
            None => (None, &f),
            Some(tr) => (Some(f.clone()), tr),
        };
        let other = as_trace(other)?;
        let f = match f {
            Some(f) if !f.is_none() => Some(Function::new(f, "f")?),
            _ => None,
        };
        let f = f.map(|f| {
            move |left: Object, right: Object| {
                f.call(|py| Ok(vec![left.bind(py).clone(), right.bind(py).clone()]), as_is)
            }
        });
        Ok(Trace::derived(self.inner.merge(f, &other.get().inner)))
    }

    /// Return the trace of f(value, lazy) for each item, where lazy is the value of the latest item of tr before it.
    ///
    /// The lazy forces to None if there is no earlier item. tr is searched only if f forces it.
    fn trailing_merge(&self, f: Bound<'_, PyAny>, tr: &Bound<'_, PyAny>) -> PyResult<Trace> {
        let (f, other) = (Function::new(f, "f")?, as_trace(tr)?);
        let merged = self.inner.trailing_merge(
            move |value, lazy| with_lazy(&f, optional(lazy), value, false),
            &other.get().inner,
        );
        Ok(Trace::derived(merged))
    }

    /// Return the trace of f(value, lazy) for each item, where lazy is the value of the earliest item of tr after it.
    fn rev_trailing_merge(&self, f: Bound<'_, PyAny>, tr: &Bound<'_, PyAny>) -> PyResult<Trace> {
        let (f, other) = (Function::new(f, "f")?, as_trace(tr)?);
        let merged = self.inner.rev_trailing_merge(
            move |value, lazy| with_lazy(&f, optional(lazy), value, false),
            &other.get().inner,
        );
        Ok(Trace::derived(merged))
    }

    /// Return the trace of out = f(lazy of the out before, value), oldest first, starting from acc.
    ///
    /// Earlier outputs are computed only as far as f forces them.
    #[pyo3(signature = (f, acc=None))]
    fn scan(&self, py: Python<'_>, f: Bound<'_, PyAny>, acc: Option<Py<PyAny>>) -> PyResult<Trace> {
        let f = Function::new(f, "f")?;
        let start = acc.map_or_else(|| Object::none(py), Object::new);
        Ok(Trace::derived(
            self.inner.scan(move |acc, value| with_lazy(&f, accumulator(acc), value, true), start),
        ))
    }

    /// Return the trace of out = f(lazy of the out after, value), newest first, starting from acc.
    #[pyo3(signature = (f, acc=None))]
    fn rev_scan(&self, py: Python<'_>, f: Bound<'_, PyAny>, acc: Option<Py<PyAny>>) -> PyResult<Trace> {
        let f = Function::new(f, "f")?;
        let start = acc.map_or_else(|| Object::none(py), Object::new);
        Ok(Trace::derived(
            self.inner.rev_scan(move |acc, value| with_lazy(&f, accumulator(acc), value, true), start),
        ))
    }

    /// Return the trace of all values up to each item, combined by an associative f(lazy left, lazy right).
    ///
    /// f is applied in the shape of a balanced tree. The left argument may force to None, which f must treat as its
    /// identity; the right one never does.
    fn tscan(&self, f: Bound<'_, PyAny>) -> PyResult<Trace> {
        let f = Function::new(f, "f")?;
        Ok(Trace::derived(self.inner.tscan(move |left, right| with_lazies(&f, left, right))))
    }

    /// Return the trace of all values from each item on, combined by an associative f(lazy left, lazy right).
    ///
    /// Here the right argument may force to None.
    fn rev_tscan(&self, f: Bound<'_, PyAny>) -> PyResult<Trace> {
        let f = Function::new(f, "f")?;
        Ok(Trace::derived(self.inner.rev_tscan(move |left, right| with_lazies(&f, left, right))))
    }

    /// What its items are: "breakpoints", "watchpoints", "syscalls", "signals", "calls", or "script" for what was made of
    /// other traces.
    #[getter]
    fn kind(&self) -> &'static str {
        self.origin.as_ref().map_or("script", |origin| origin.kind)
    }

    /// What it was made for: the function, the variable, the system call; empty if there is none.
    #[getter]
    fn about(&self) -> &str {
        self.origin.as_ref().map_or("", |origin| &origin.about)
    }

    /// The address and size that watchpoints are set on, or None.
    #[getter]
    fn extent(&self) -> Option<(u64, u64)> {
        self.origin.as_ref().and_then(|origin| origin.extent)
    }

    fn __repr__(&self) -> String {
        match &self.origin {
            Some(origin) if origin.about.is_empty() => format!("<trace of {}>", origin.kind),
            Some(origin) => format!("<trace of {} {}>", origin.kind, origin.about),
            None => "<trace>".to_owned(),
        }
    }
}

fn as_trace<'a, 'py>(given: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, Trace>> {
    given.cast::<Trace>().map_err(|_| {
        let class = given.get_type().name().map_or_else(|_| "that".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!("tr must be a trace, not {class}"))
    })
}

/// The items of a trace, one by one.
#[pyclass(frozen, name = "items", module = "parallax")]
pub struct Items {
    trace: parallax_trace::Trace<Object>,
    cursor: Mutex<Time>,
    backward: bool,
}

#[pymethods]
impl Items {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Item>> {
        let cursor = *self.cursor.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let found = py.detach(|| {
            if self.backward { self.trace.get_before(cursor) } else { self.trace.get_after(cursor) }
        });
        let item = Trace::found(py, found)?;
        if let Some(item) = &item {
            *self.cursor.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = item.time;
        }
        Ok(item)
    }
}

/// The times of a trace, one by one.
#[pyclass(frozen, name = "times", module = "parallax")]
pub struct Times {
    trace: parallax_trace::Trace<Object>,
    cursor: Mutex<Time>,
}

#[pymethods]
impl Times {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Time>> {
        let cursor = *self.cursor.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let time = py.detach(|| self.trace.time_after(cursor));
        clear_progress();
        let time = time.map_err(|error| raised(py, error))?;
        if let Some(time) = time {
            *self.cursor.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = time;
        }
        Ok(time)
    }
}
