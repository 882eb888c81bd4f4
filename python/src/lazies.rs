//! `lazy`: values that are computed when they are asked for.

use crate::errors::raised;
use crate::object::Object;
use crate::traces::Item;
use parallax_trace::{Result, Time};
use pyo3::prelude::*;

/// The two kinds: one that may turn out to be no item, and one with a value for that case.
#[derive(Clone)]
pub enum Inner {
    Optional(parallax_trace::Lazy<Option<Object>>),
    Accumulator(parallax_trace::Lazy<Object>),
}

impl Inner {
    /// The value; none if there is no item.
    pub fn force(&self) -> Result<Option<Object>> {
        match self {
            Inner::Optional(lazy) => lazy.force(),
            Inner::Accumulator(lazy) => lazy.force().map(Some),
        }
    }

    fn time(&self) -> Result<Option<Time>> {
        match self {
            Inner::Optional(lazy) => lazy.time(),
            Inner::Accumulator(lazy) => lazy.time(),
        }
    }
}

/// A value that is computed when it is asked for.
///
/// Functions given to scan, tscan and trailing_merge receive some of their arguments so. What is never forced is never
/// computed, and the execution is not searched for it. A lazy may be kept and forced later.
#[pyclass(frozen, name = "lazy", module = "parallax")]
pub struct Lazy(pub Inner);

#[pymethods]
impl Lazy {
    /// Return the value, computing it if need be; None if there is no item.
    fn force(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let value = py.detach(|| self.0.force()).map_err(|error| raised(py, error))?;
        Ok(value.map_or_else(|| py.None(), |value| value.to_py(py)))
    }

    /// Return whether force() would compute nothing and search nothing, whoever computed the value.
    fn is_forced(&self, py: Python<'_>) -> bool {
        py.detach(|| match &self.0 {
            Inner::Optional(lazy) => lazy.is_forced(),
            Inner::Accumulator(lazy) => lazy.is_forced(),
        })
    }

    /// Return the item with its time, or None if there is none: tells that from an item whose value is None.
    fn item(&self, py: Python<'_>) -> PyResult<Option<Item>> {
        let found = py.detach(|| match self.0.time()? {
            None => Ok(None),
            Some(time) => Ok(self.0.force()?.map(|value| (time, value))),
        });
        let found = found.map_err(|error| raised(py, error))?;
        Ok(found.map(|(time, value)| Item { time, value: value.to_py(py) }))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        if self.is_forced(py) { "<lazy, forced>".to_owned() } else { "<lazy>".to_owned() }
    }
}
