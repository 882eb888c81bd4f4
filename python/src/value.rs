//! `gdb_value`: values of the program.

use crate::recorded::{Held, Moment};
use parallax_symbols::{Error, Kind, Place};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};
use std::sync::Arc;

/// A value of the program at a moment. Numbers and pointers compare and reckon as Python's numbers do.
///
///     node = snap.read_var("list")
///     node["value"] == 3, node["next"].deref()["name"].string(), hex(node)
#[pyclass(frozen, name = "gdb_value", module = "parallax")]
pub struct Value {
    moment: Held,
    value: parallax_symbols::Value,
    name: String,
}

/// Characters of a text that is read without a given length.
const MOST_TEXT: usize = 1 << 20;

impl Value {
    pub fn new(moment: impl Into<Held>, value: parallax_symbols::Value, name: &str) -> Value {
        Value { moment: moment.into(), value, name: name.to_owned() }
    }

    /// A value that somebody asked for by name: one that was not kept is an error.
    pub fn kept(moment: Arc<Moment>, value: parallax_symbols::Value, name: &str) -> PyResult<Value> {
        match value.place {
            Place::OptimizedOut | Place::Synthetic => {
                Err(moment.error(Error::OptimizedOut { what: name.to_owned() }, name))
            }
            _ => Ok(Value::new(moment, value, name)),
        }
    }

    /// Where it lies and how large it is.
    pub fn extent(&self) -> PyResult<(u64, u64)> {
        let size = self.moment.symbols.size(&self.value.ty).map_err(|error| self.error(error))?;
        match self.value.place {
            Place::Memory(address) => Ok((address, size)),
            _ => Err(PyValueError::new_err(format!("{} is not in memory and cannot be watched", self.name))),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn error(&self, error: Error) -> PyErr {
        self.moment.error(error, &self.name)
    }

    fn derived(
        &self,
        value: parallax_symbols::Result<parallax_symbols::Value>,
        name: String,
    ) -> PyResult<Value> {
        let value = value.map_err(|error| self.error(error))?;
        Ok(Value { moment: self.moment.clone(), value, name })
    }

    fn kind(&self) -> PyResult<Arc<Kind>> {
        let symbols = &self.moment.symbols;
        let referred = symbols.referred(&self.value, &*self.moment).map_err(|error| self.error(error))?;
        symbols.kind(&referred.ty).map_err(|error| self.error(error))
    }

    fn text(&self, most: usize) -> PyResult<String> {
        let text = self.moment.symbols.text(&self.value, &*self.moment, most);
        Ok(String::from_utf8_lossy(&text.map_err(|error| self.error(error))?).into_owned())
    }

    /// The Python object that it is to be compared as.
    fn plain<'py>(&self, py: Python<'py>, like: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let (symbols, moment) = (&self.moment.symbols, &*self.moment);
        let with_text = like.is_some_and(|like| like.is_instance_of::<PyString>());
        let kind = self.kind()?;
        match &*kind {
            Kind::Enum { variants, .. } if with_text => {
                let number = symbols.integer(&self.value, moment).map_err(|error| self.error(error))?;
                let name = variants.iter().find(|(_, value)| *value == number).map(|(name, _)| name.as_str());
                Ok(PyString::new(py, name.unwrap_or_default()).into_any())
            }
            Kind::Pointer { .. } | Kind::Array { .. } if with_text => {
                Ok(PyString::new(py, &self.text(MOST_TEXT)?).into_any())
            }
            Kind::Float { .. } => {
                let number = symbols.float(&self.value, moment).map_err(|error| self.error(error))?;
                Ok(PyFloat::new(py, number).into_any())
            }
            Kind::Boolean { .. } => {
                let number = symbols.integer(&self.value, moment).map_err(|error| self.error(error))?;
                Ok(PyBool::new(py, number != 0).to_owned().into_any())
            }
            Kind::Struct { .. } | Kind::Void | Kind::Opaque { .. } => Err(PyTypeError::new_err(format!(
                "{} of type {} is no number; name a member of it",
                self.name,
                symbols.type_name(&self.value.ty)
            ))),
            _ => {
                let number = symbols.integer(&self.value, moment).map_err(|error| self.error(error))?;
                Ok(number.into_pyobject(py)?.into_any())
            }
        }
    }

    /// Another operand as a Python object.
    fn other<'py>(other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match other.cast::<Value>() {
            Ok(value) => value.get().plain(other.py(), None),
            Err(_) => Ok(other.clone()),
        }
    }

    /// The element so many behind a pointer, as a pointer; none if it is no pointer.
    fn moved(&self, by: &Bound<'_, PyAny>, sign: i128) -> PyResult<Option<Value>> {
        if !matches!(&*self.kind()?, Kind::Pointer { .. } | Kind::Array { .. }) {
            return Ok(None);
        }
        let Ok(by) = Self::other(by)?.extract::<i128>() else { return Ok(None) };
        let (symbols, moment) = (&self.moment.symbols, &*self.moment);
        let element = symbols.element(&self.value, moment, by * sign);
        let pointer = element.and_then(|element| symbols.address_of(&element));
        self.derived(pointer, format!("{} {} {by}", self.name, if sign < 0 { '-' } else { '+' })).map(Some)
    }
}

#[pymethods]
impl Value {
    /// Return a member of a structure, or an element of an array or behind a pointer.
    fn __getitem__(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<Value> {
        let (symbols, moment) = (&self.moment.symbols, &*self.moment);
        if let Ok(name) = x.cast::<PyString>() {
            let name = name.to_cow()?;
            let member = py.detach(|| symbols.member(&self.value, moment, &name));
            return self.derived(member, format!("{}.{name}", self.name));
        }
        let index: i128 = Self::other(x)?.extract()?;
        if let Kind::Array { length: Some(length), .. } = &*self.kind()?
            && !(0..i128::from(*length)).contains(&index)
        {
            return Err(PyIndexError::new_err(format!("{} has {length} elements", self.name)));
        }
        self.derived(symbols.element(&self.value, moment, index), format!("{}[{index}]", self.name))
    }

    /// Return what a pointer points to.
    fn deref(&self) -> PyResult<Value> {
        self.derived(self.moment.symbols.deref(&self.value, &*self.moment), format!("*{}", self.name))
    }

    /// Return the address of an l-value, as a pointer.
    fn addrof(&self) -> PyResult<Value> {
        self.derived(self.moment.symbols.address_of(&self.value), format!("&{}", self.name))
    }

    /// Return the text that a pointer to characters or an array of them holds.
    #[pyo3(signature = (length=None))]
    fn string(&self, length: Option<usize>) -> PyResult<String> {
        self.text(length.unwrap_or(MOST_TEXT))
    }

    /// The name of its type.
    #[getter]
    fn r#type(&self) -> String {
        self.moment.symbols.type_name(&self.value.ty)
    }

    /// Its address, or None if it is not in memory.
    #[getter]
    fn address(&self) -> Option<u64> {
        match self.value.place {
            Place::Memory(address) => Some(address),
            _ => None,
        }
    }

    /// Whether the compiler did not keep it.
    #[getter]
    fn is_optimized_out(&self) -> bool {
        matches!(self.value.place, Place::OptimizedOut | Place::Synthetic)
    }

    /// Return the names of the members of a structure.
    fn fields(&self) -> PyResult<Vec<String>> {
        match &*self.kind()? {
            Kind::Struct { fields, .. } => Ok(fields.iter().filter_map(|field| field.name.clone()).collect()),
            _ => Err(PyTypeError::new_err(format!("{} has no members", self.name))),
        }
    }

    /// Return its bytes.
    fn bytes(&self) -> PyResult<Vec<u8>> {
        self.moment.symbols.bytes(&self.value, &*self.moment).map_err(|error| self.error(error))
    }

    fn __len__(&self) -> PyResult<usize> {
        match &*self.kind()? {
            Kind::Array { length: Some(length), .. } => Ok(*length as usize),
            _ => Err(PyTypeError::new_err(format!("{} has no length", self.name))),
        }
    }

    fn __int__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let plain = self.plain(py, None)?;
        Ok(if plain.is_instance_of::<PyFloat>() {
            plain.call_method0("__int__")?.unbind()
        } else {
            plain.unbind()
        })
    }

    fn __index__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let plain = self.plain(py, None)?;
        match plain.is_instance_of::<PyInt>() {
            true => Ok(plain.unbind()),
            false => Err(PyTypeError::new_err(format!("{} is no whole number", self.name))),
        }
    }

    fn __float__(&self, py: Python<'_>) -> PyResult<f64> {
        self.plain(py, None)?.extract()
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        self.plain(py, None)?.is_truthy()
    }

    fn __richcmp__(&self, py: Python<'_>, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Py<PyAny>> {
        if other.is_none() {
            return match op {
                CompareOp::Eq => Ok(PyBool::new(py, false).to_owned().into_any().unbind()),
                CompareOp::Ne => Ok(PyBool::new(py, true).to_owned().into_any().unbind()),
                _ => Err(PyTypeError::new_err("None has no order")),
            };
        }
        let other = Self::other(other)?;
        Ok(self.plain(py, Some(&other))?.rich_compare(other, op)?.unbind())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.plain(py, None)?.hash()
    }

    fn __add__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        match self.moved(other, 1)? {
            Some(moved) => Ok(Py::new(py, moved)?.into_any()),
            None => Ok(self.plain(py, None)?.add(Self::other(other)?)?.unbind()),
        }
    }

    fn __radd__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.__add__(py, other)
    }

    fn __sub__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let is_pointer = other
            .cast::<Value>()
            .is_ok_and(|other| other.get().kind().is_ok_and(|kind| matches!(&*kind, Kind::Pointer { .. })));
        match self.moved(other, -1)?.filter(|_| !is_pointer) {
            Some(moved) => Ok(Py::new(py, moved)?.into_any()),
            None => Ok(self.plain(py, None)?.sub(Self::other(other)?)?.unbind()),
        }
    }

    fn __rsub__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Ok(Self::other(other)?.sub(self.plain(py, None)?)?.unbind())
    }

    fn __mul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Ok(self.plain(py, None)?.mul(Self::other(other)?)?.unbind())
    }

    fn __rmul__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        self.__mul__(py, other)
    }

    fn __truediv__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Ok(self.plain(py, None)?.div(Self::other(other)?)?.unbind())
    }

    fn __floordiv__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Ok(self.plain(py, None)?.floor_div(Self::other(other)?)?.unbind())
    }

    fn __mod__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Ok(self.plain(py, None)?.rem(Self::other(other)?)?.unbind())
    }

    fn __and__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Ok(self.plain(py, None)?.bitand(Self::other(other)?)?.unbind())
    }

    fn __or__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        Ok(self.plain(py, None)?.bitor(Self::other(other)?)?.unbind())
    }

    fn __neg__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        Ok(self.plain(py, None)?.neg()?.unbind())
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        crate::draw::drawn(slf, "value")
    }

    fn __str__(&self) -> String {
        self.moment.symbols.print(&self.value, &*self.moment)
    }

    fn __repr__(&self) -> String {
        format!("<{} = {}>", self.name, self.__str__())
    }
}
