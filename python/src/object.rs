//! Python objects as values of traces.

use crate::errors::thrown;
use parallax_trace::Result;
use pyo3::prelude::*;
use std::sync::Arc;

/// A Python object that can be cloned and dropped without holding the interpreter.
#[derive(Clone)]
pub struct Object(Arc<Py<PyAny>>);

impl Object {
    pub fn new(object: Py<PyAny>) -> Self {
        Object(Arc::new(object))
    }

    pub fn none(py: Python<'_>) -> Self {
        Object::new(py.None())
    }

    pub fn to_py(&self, py: Python<'_>) -> Py<PyAny> {
        self.0.clone_ref(py)
    }

    pub fn bind<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.0.bind(py)
    }
}

/// A function of Python's.
pub struct Function(Py<PyAny>);

impl Function {
    /// Takes a callable.
    pub fn new(callable: Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        if !callable.is_callable() {
            let class = callable.get_type().name()?;
            let message = format!("{name} must be a function, not {class}");
            return Err(pyo3::exceptions::PyTypeError::new_err(message));
        }
        Ok(Function(callable.unbind()))
    }

    /// Calls it. An exception becomes an error that carries it unchanged.
    pub fn call<T>(
        &self,
        arguments: impl for<'py> FnOnce(Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>>,
        result: impl for<'py> FnOnce(Bound<'py, PyAny>) -> PyResult<T>,
    ) -> Result<T> {
        Python::attach(|py| {
            let run = || {
                let arguments = pyo3::types::PyTuple::new(py, arguments(py)?)?;
                result(self.0.bind(py).call1(arguments)?)
            };
            run().map_err(|error| thrown(py, error))
        })
    }
}

/// What a function returned, as it is.
pub fn as_is(result: Bound<'_, PyAny>) -> PyResult<Object> {
    Ok(Object::new(result.unbind()))
}
