//! How objects show themselves in a notebook: the module `parallax.draw` does it.

use pyo3::PyClass;
use pyo3::prelude::*;

/// What the function of this name in `parallax.draw` says of an object.
pub fn drawn<T: PyClass>(object: &Bound<'_, T>, function: &str) -> PyResult<Py<PyAny>> {
    let module = object.py().import("parallax.draw")?;
    Ok(module.call_method1(function, (object,))?.unbind())
}
