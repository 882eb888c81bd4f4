//! `edithamt`.

use crate::errors::{raised, thrown};
use crate::lazies::{Inner, Lazy};
use crate::object::Object;
use parallax_trace::{Domain, Later, Prior, Result, mix};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex};

/// Python objects as keys and values: hashed and compared as a dict does.
pub struct Objects;

impl Domain for Objects {
    type Key = Object;
    type Value = Object;

    fn hash(key: &Object) -> Result<u64> {
        Python::attach(|py| {
            let hash = key.bind(py).hash().map_err(|error| thrown(py, error))?;
            Ok(mix(hash as u64, Self::BITS))
        })
    }

    fn same_key(one: &Object, other: &Object) -> Result<bool> {
        Python::attach(|py| {
            let (one, other) = (one.bind(py), other.bind(py));
            Ok(one.is(other) || one.eq(other).map_err(|error| thrown(py, error))?)
        })
    }

    fn same_value(one: &Object, other: &Object) -> Result<bool> {
        Python::attach(|py| one.bind(py).eq(other.bind(py)).map_err(|error| thrown(py, error)))
    }

    fn of_key(key: &Object) -> Object {
        key.clone()
    }
}

type Version = parallax_trace::EditHamt<Objects>;

/// A lazy that should yield an edithamt.
struct Expected(Inner);

impl Later<Objects> for Expected {
    fn force(&self) -> Result<Version> {
        let Some(value) = self.0.force()? else { return Ok(Version::empty()) };
        Python::attach(|py| {
            let value = value.bind(py);
            if value.is_none() {
                return Ok(Version::empty());
            }
            match value.cast::<EditHamt>() {
                Ok(version) => Ok(version.get().0.clone()),
                Err(_) => Err(thrown(py, not_one(value))),
            }
        })
    }
}

fn not_one(given: &Bound<'_, PyAny>) -> PyErr {
    let class = given.get_type().name().map_or_else(|_| "that".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("expected an edithamt, a lazy of one, or None, not {class}"))
}

/// What a version is built on: None, an edithamt, or a lazy of one.
fn prior(given: &Bound<'_, PyAny>) -> PyResult<Prior<Objects>> {
    if given.is_none() {
        return Ok(Version::empty().into());
    }
    if let Ok(version) = given.cast::<EditHamt>() {
        return Ok(version.get().0.clone().into());
    }
    if let Ok(lazy) = given.cast::<Lazy>() {
        return Ok(Arc::new(Expected(lazy.get().0.clone())).into());
    }
    Err(not_one(given))
}

/// A set, map, multiset or multimap that keeps its whole history and is worked out as far as it is looked into.
///
/// Immutable: the static methods make a new one out of an earlier one, which may be an edithamt, a lazy of one, or None for
/// the empty one. They compute nothing but the hash of the key; a lazy is forced when a look-up gets that far.
///
///     last = events.scan(edithamt.concat).last()
///     last.value.find("x")
#[pyclass(frozen, name = "edithamt", module = "parallax")]
pub struct EditHamt(pub Version);

impl EditHamt {
    fn built(py: Python<'_>, version: Result<Version>) -> PyResult<EditHamt> {
        version.map(EditHamt).map_err(|error| raised(py, error))
    }
}

#[pymethods]
impl EditHamt {
    /// Return the empty edithamt.
    #[staticmethod]
    fn empty() -> EditHamt {
        EditHamt(Version::empty())
    }

    /// Return eh with k bound to itself.
    #[staticmethod]
    fn add(py: Python<'_>, eh: &Bound<'_, PyAny>, k: Py<PyAny>) -> PyResult<EditHamt> {
        Self::built(py, Version::add(prior(eh)?, Object::new(k)))
    }

    /// Return eh with k bound to v.
    #[staticmethod]
    fn addkeyvalue(py: Python<'_>, eh: &Bound<'_, PyAny>, k: Py<PyAny>, v: Py<PyAny>) -> PyResult<EditHamt> {
        Self::built(py, Version::addkeyvalue(prior(eh)?, Object::new(k), Object::new(v)))
    }

    /// Return eh without any binding of k.
    #[staticmethod]
    fn remove(py: Python<'_>, eh: &Bound<'_, PyAny>, k: Py<PyAny>) -> PyResult<EditHamt> {
        Self::built(py, Version::remove(prior(eh)?, Object::new(k)))
    }

    /// Return eh without the newest binding of k.
    #[staticmethod]
    fn removeone(py: Python<'_>, eh: &Bound<'_, PyAny>, k: Py<PyAny>) -> PyResult<EditHamt> {
        Self::built(py, Version::removeone(prior(eh)?, Object::new(k)))
    }

    /// Return eh without the newest binding of k to v.
    #[staticmethod]
    fn removekeyvalue(
        py: Python<'_>,
        eh: &Bound<'_, PyAny>,
        k: Py<PyAny>,
        v: Py<PyAny>,
    ) -> PyResult<EditHamt> {
        Self::built(py, Version::removekeyvalue(prior(eh)?, Object::new(k), Object::new(v)))
    }

    /// Return the edits of eh2 applied after those of eh1. Made to be passed to scan and tscan.
    #[staticmethod]
    fn concat(eh1: &Bound<'_, PyAny>, eh2: &Bound<'_, PyAny>) -> PyResult<EditHamt> {
        Ok(EditHamt(Version::concat(prior(eh1)?, prior(eh2)?)))
    }

    /// Return whether k has a binding.
    fn contains(&self, py: Python<'_>, k: Py<PyAny>) -> PyResult<bool> {
        let key = Object::new(k);
        py.detach(|| self.0.contains(key)).map_err(|error| raised(py, error))
    }

    fn __contains__(&self, py: Python<'_>, k: Py<PyAny>) -> PyResult<bool> {
        self.contains(py, k)
    }

    /// Return the newest value of k, or default.
    #[pyo3(signature = (k, default=None))]
    fn find(&self, py: Python<'_>, k: Py<PyAny>, default: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        let key = Object::new(k);
        let found = py.detach(|| self.0.find(key)).map_err(|error| raised(py, error))?;
        Ok(found.map(|value| value.to_py(py)).or(default).unwrap_or_else(|| py.None()))
    }

    /// Return an iterator over the values of k, newest first, each looked up when it is asked for.
    fn find_multi(&self, py: Python<'_>, k: Py<PyAny>) -> PyResult<Values> {
        let values = self.0.find_multi(Object::new(k)).map_err(|error| raised(py, error))?;
        Ok(Values(Mutex::new(values)))
    }

    /// Return the keys that have a binding, in the order of their first edits. Works out the whole history.
    fn keys(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        let keys = py.detach(|| self.0.keys()).map_err(|error| raised(py, error))?;
        Ok(keys.iter().map(|key| key.to_py(py)).collect())
    }

    fn __repr__(&self) -> &'static str {
        "<edithamt>"
    }
}

/// The values of a key, newest first.
#[pyclass(frozen, name = "values", module = "parallax")]
pub struct Values(Mutex<parallax_trace::FindMulti<Objects>>);

#[pymethods]
impl Values {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let next = py.detach(|| match self.0.try_lock() {
            Ok(mut values) => values.next().transpose(),
            Err(_) => {
                Err(parallax_trace::Error::Contract("the iterator is used while it is looking up a value"))
            }
        });
        Ok(next.map_err(|error| raised(py, error))?.map(|value| value.to_py(py)))
    }
}
