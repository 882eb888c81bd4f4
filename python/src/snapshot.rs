//! `snapshot`: the program at a moment; `frame` and `stack`.

use crate::flow::{Flow, Wish};
use crate::recorded::{Held, Moment, Recorded};
use crate::value::Value;
use parallax_flow::Asked;
use parallax_symbols::{Error, Place, State};
use parallax_trace::{Target, Time};
use parallax_travel::Filter;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyString};
use std::fmt::Write;
use std::sync::Arc;

/// The program at a moment, before or after a step. Read when it is asked, in any order.
///
///     snap = the_execution.get_at(1000)
///     snap.read_var("list->next->value"), snap.backtrace()
#[pyclass(frozen, name = "snapshot", module = "parallax")]
pub struct Snapshot {
    pub recorded: Arc<Recorded>,
    pub time: Time,
    pub is_after: bool,
    /// The condition that found it: those that come next are probably asked for as well.
    pub from: Option<Arc<Filter>>,
}

/// An argument as Python names it.
enum Argument {
    Number(usize),
    Name(String),
}

impl<'py> FromPyObject<'_, 'py> for Argument {
    type Error = PyErr;

    /// By its type: to try one after the other would make an exception for every name.
    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Argument> {
        match given.cast::<PyString>() {
            Ok(name) => Ok(Argument::Name(name.to_cow()?.into_owned())),
            Err(_) => given
                .extract()
                .map(Argument::Number)
                .map_err(|_| PyTypeError::new_err("an argument is a number from 0 on, or a name")),
        }
    }
}

/// At most so many frames are unwound.
const MOST_FRAMES: usize = 10_000;

impl Snapshot {
    pub fn moment(&self, py: Python<'_>) -> PyResult<Arc<Moment>> {
        py.detach(|| self.recorded.moment(self.time, self.is_after, self.from.as_deref()))
    }
}

impl Snapshot {
    fn follow(&self, py: Python<'_>, asked: Asked, name: String, wish: Wish) -> PyResult<Flow> {
        let symbols = self.moment(py)?.symbols.clone();
        let time = self.time + u64::from(self.is_after);
        Flow::follow(py, self.recorded.clone(), symbols, name, time, asked, wish)
    }

    /// What a script asks about.
    fn asked(&self, py: Python<'_>, x: &Bound<'_, PyAny>) -> PyResult<(Asked, String)> {
        let memory =
            |(address, size): (u64, u64)| Asked::Memory(address..address.saturating_add(size.max(1)));
        if let Ok(value) = x.cast::<Value>() {
            return Ok((memory(value.get().extent()?), value.get().name().to_owned()));
        }
        let Ok(text) = x.extract::<String>() else {
            let extent: (u64, u64) = x.extract().map_err(|_| {
                PyTypeError::new_err("x is a variable or expression, an l-value, or (address, size)")
            })?;
            return Ok((memory(extent), format!("{:#x}:{}", extent.0, extent.1)));
        };
        let moment = self.moment(py)?;
        let compiled = moment.symbols.compiled(&text, State::pc(&*moment));
        if let Some(number) = compiled.and_then(|compiled| compiled.register()) {
            let name = parallax_moment::register_name(number).unwrap_or_default();
            return Ok((Asked::Register { name: name.to_owned(), thread: Some(moment.thread) }, text));
        }
        Ok((memory(self.read_var(py, &text)?.extent()?), text))
    }
}

#[pymethods]
impl Snapshot {
    /// The time of the step that it belongs to.
    #[getter]
    fn time(&self) -> Time {
        self.time
    }

    /// Whether it shows the program after that step.
    #[getter]
    fn is_after(&self) -> bool {
        self.is_after
    }

    /// Return the snapshot before the step.
    fn before(&self) -> Snapshot {
        Snapshot {
            recorded: self.recorded.clone(),
            time: self.time,
            is_after: false,
            from: self.from.clone(),
        }
    }

    /// Return the snapshot after the step.
    fn after(&self) -> PyResult<Snapshot> {
        if self.time >= self.recorded.travel().span().end {
            return Err(PyValueError::new_err(format!("the execution ends at time {}", self.time)));
        }
        Ok(Snapshot {
            recorded: self.recorded.clone(),
            time: self.time,
            is_after: true,
            from: self.from.clone(),
        })
    }

    /// Return the value of a variable or an expression such as "p->next->value" in the current frame.
    fn read_var(&self, py: Python<'_>, x: &str) -> PyResult<Value> {
        let moment = self.moment(py)?;
        let value = py.detach(|| moment.scene().evaluate(x));
        let value = value.map_err(|error| moment.error(error, x))?;
        Value::kept(moment, value, x)
    }

    /// Return an argument of the current function by its number, the first is 0, or by its name; at a call, by its number
    /// one that is about to be passed.
    #[pyo3(signature = (n=Argument::Number(0)))]
    fn read_arg(&self, py: Python<'_>, n: Argument) -> PyResult<Value> {
        let n = match n {
            Argument::Number(n) => n,
            Argument::Name(name) => return self.read_var(py, &name),
        };
        let moment = self.moment(py)?;
        let value = py.detach(|| moment.scene().argument(n));
        let name = format!("argument {n}");
        let value = value.map_err(|error| moment.error(error, &name))?;
        Value::kept(moment, value, &name)
    }

    /// Return the return addresses on the stack, outermost first, as l-values that watchpoints can be set on.
    ///
    /// An address that no call has left there ends the list on its outer side: the stack behind it cannot be told.
    fn read_retaddrs(&self, py: Python<'_>) -> PyResult<Vec<Value>> {
        let moment = self.moment(py)?;
        let found = py.detach(|| -> parallax_symbols::Result<Vec<_>> {
            let mut slots = moment.return_slots(MOST_FRAMES);
            slots.reverse();
            slots
                .into_iter()
                .map(|slot| moment.symbols.evaluate(&format!("*(void **){slot}"), moment.frame(), &*moment))
                .collect()
        });
        let found = found.map_err(|error| moment.error(error, "the return addresses"))?;
        Ok(found.into_iter().map(|value| Value::new(moment.clone(), value, "return address")).collect())
    }

    /// Return the stack, innermost frame first. str() of it reads like a debugger's backtrace.
    fn backtrace(&self, py: Python<'_>) -> PyResult<Stack> {
        let moment = self.moment(py)?;
        let frames = py.detach(|| moment.symbols.frames(&*moment, MOST_FRAMES));
        Ok(Stack { frames: frames.into_iter().map(Arc::new).collect(), moment: moment.into() })
    }

    /// Return the number of the thread that makes the step.
    fn get_thread_id(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.moment(py)?.thread)
    }

    /// Return a register of that thread by its name: "rax", "rip", "eax", "zf", "xmm0".
    fn read_register(&self, py: Python<'_>, name: &str) -> PyResult<u128> {
        let moment = self.moment(py)?;
        let unknown = || PyKeyError::new_err(format!("no register is called {name}"));
        moment.scene().register(&register_name(name)).ok_or_else(unknown)
    }

    /// Return bytes of memory.
    fn read_memory<'py>(&self, py: Python<'py>, address: u64, size: usize) -> PyResult<Bound<'py, PyBytes>> {
        const MOST: usize = 1 << 30;
        if size > MOST {
            return Err(PyValueError::new_err(format!("{size} bytes are too many to be read at once")));
        }
        let moment = self.moment(py)?;
        let mut bytes = vec![0; size];
        if !py.detach(|| moment.read(address, &mut bytes)) {
            return Err(moment.error(Error::Unreadable { address, size: size as u64 }, "memory"));
        }
        Ok(PyBytes::new(py, &bytes))
    }

    /// Return where a value comes from: of a variable or expression, an l-value, or (address, size).
    ///
    /// The steps that wrote it, those that wrote what it was computed from, and so on, back to system calls, constants, files
    /// and the program's start. addresses and conditions are followed too if that is asked for; most bounds the steps of the
    /// answer, back how far writers are looked for.
    #[pyo3(signature = (x, *, addresses=false, conditions=false, most=1000, back=None))]
    fn origin(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        addresses: bool,
        conditions: bool,
        most: usize,
        back: Option<u64>,
    ) -> PyResult<Flow> {
        let (asked, name) = self.asked(py, x)?;
        self.follow(py, asked, name, Wish { addresses, conditions, most, back })
    }

    /// Return where the value of a register comes from; see origin.
    #[pyo3(signature = (name, *, addresses=false, conditions=false, most=1000, back=None))]
    fn origin_register(
        &self,
        py: Python<'_>,
        name: &str,
        addresses: bool,
        conditions: bool,
        most: usize,
        back: Option<u64>,
    ) -> PyResult<Flow> {
        let thread = Some(self.moment(py)?.thread);
        let asked = Asked::Register { name: register_name(name), thread };
        self.follow(py, asked, name.to_owned(), Wish { addresses, conditions, most, back })
    }

    /// The address of the next instruction of the thread.
    #[getter]
    fn pc(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(State::pc(&*self.moment(py)?))
    }

    /// The name of the function that the thread is in, or None.
    #[getter]
    fn function(&self, py: Python<'_>) -> PyResult<Option<String>> {
        Ok(self.moment(py)?.frame().function.clone())
    }

    /// The line of the source as (file, line), or None.
    #[getter]
    fn line(&self, py: Python<'_>) -> PyResult<Option<(String, u64)>> {
        Ok(self.moment(py)?.frame().line.as_ref().map(|line| (line.file.to_string(), line.line)))
    }

    /// Return the parameters and local variables of the current frame by name.
    fn locals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let moment = self.moment(py)?;
        let moment = Held::from(moment);
        locals(py, &moment, moment.frame())
    }

    /// Return the numbers of all threads.
    fn threads(&self, py: Python<'_>) -> PyResult<Vec<u32>> {
        let moment = self.moment(py)?;
        Ok(py.detach(|| moment.state().map(|state| state.threads().collect())).unwrap_or_default())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Snapshot>().is_ok_and(|other| {
            let other = other.get();
            Arc::ptr_eq(&self.recorded, &other.recorded)
                && (self.time, self.is_after) == (other.time, other.is_after)
        })
    }

    fn __hash__(&self) -> u64 {
        self.time * 2 + u64::from(self.is_after)
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        crate::draw::drawn(slf, "snapshot")
    }

    fn __repr__(&self) -> String {
        format!("<snapshot {} {}>", if self.is_after { "after" } else { "before" }, self.time)
    }
}

/// A register's name as SLEIGH writes it.
pub fn register_name(name: &str) -> String {
    match name.to_ascii_uppercase().as_str() {
        "PC" => "RIP".to_owned(),
        "SP" => "RSP".to_owned(),
        "FS_BASE" => "FS_OFFSET".to_owned(),
        "GS_BASE" => "GS_OFFSET".to_owned(),
        other => other.to_owned(),
    }
}

fn locals<'py>(
    py: Python<'py>,
    moment: &Held,
    frame: &parallax_symbols::Frame,
) -> PyResult<Bound<'py, PyDict>> {
    let names = PyDict::new(py);
    let found = py.detach(|| -> parallax_symbols::Result<Vec<_>> {
        let variables = moment.symbols.variables(frame)?;
        variables
            .into_iter()
            .map(|variable| Ok((moment.symbols.value(&variable, Some(frame), &**moment)?, variable.name)))
            .collect()
    });
    // Inner ones come first and hide outer ones of the same name.
    for (value, name) in found.map_err(|error| moment.error(error, "the local variables"))? {
        if !names.contains(&name)? {
            names.set_item(&name, Value::new(moment.clone(), value, &name))?;
        }
    }
    Ok(names)
}

/// A function that has been called and has not returned yet.
#[pyclass(frozen, name = "frame", module = "parallax")]
pub struct Frame {
    frame: Arc<parallax_symbols::Frame>,
    moment: Held,
}

#[pymethods]
impl Frame {
    /// 0 is the innermost.
    #[getter]
    fn level(&self) -> usize {
        self.frame.level
    }

    /// Its name, or None.
    #[getter]
    fn function(&self) -> Option<String> {
        self.frame.function.clone()
    }

    /// The line of the source as (file, line), or None.
    #[getter]
    fn line(&self) -> Option<(String, u64)> {
        self.frame.line.as_ref().map(|line| (line.file.to_string(), line.line))
    }

    /// The next instruction of the innermost frame, the return address of others.
    #[getter]
    fn pc(&self) -> u64 {
        self.frame.pc
    }

    /// Whether it was inlined into the next frame.
    #[getter]
    fn is_inlined(&self) -> bool {
        self.frame.is_inlined
    }

    /// Return the value of a variable or an expression in this frame.
    fn read_var(&self, py: Python<'_>, x: &str) -> PyResult<Value> {
        let moment = &self.moment;
        let value = py.detach(|| moment.symbols.evaluate(x, &self.frame, &**moment));
        let wrong = |error| crate::errors::debug_error(error, x, moment.time, self.frame.function.as_deref());
        let value = value.map_err(wrong)?;
        if matches!(value.place, Place::OptimizedOut | Place::Synthetic) {
            return Err(wrong(Error::OptimizedOut { what: x.to_owned() }));
        }
        Ok(Value::new(moment.clone(), value, x))
    }

    /// Return its parameters and local variables by name.
    fn locals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        locals(py, &self.moment, &self.frame)
    }

    fn __repr__(&self) -> String {
        let function = self.frame.function.as_deref().unwrap_or("??");
        let mut text = format!("#{} {:#x} in {function}", self.frame.level, self.frame.pc);
        if let Some(line) = &self.frame.line {
            let file = line.file.rsplit('/').next().unwrap_or(&line.file);
            let _ = write!(text, " at {file}:{}", line.line);
        }
        if self.frame.is_inlined {
            text.push_str(" (inlined)");
        }
        text
    }
}

/// The frames of a stack, innermost first.
#[pyclass(frozen, name = "stack", module = "parallax", sequence)]
pub struct Stack {
    frames: Vec<Arc<parallax_symbols::Frame>>,
    moment: Held,
}

#[pymethods]
impl Stack {
    fn __len__(&self) -> usize {
        self.frames.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<Frame> {
        let at = if index < 0 { index + self.frames.len() as isize } else { index };
        let frame = usize::try_from(at).ok().and_then(|at| self.frames.get(at));
        let frame = frame.ok_or_else(|| PyIndexError::new_err("the stack has no such frame"))?;
        Ok(Frame { frame: frame.clone(), moment: self.moment.clone() })
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let frame = |frame: &Arc<parallax_symbols::Frame>| Frame {
            frame: frame.clone(),
            moment: self.moment.clone(),
        };
        PyList::new(py, self.frames.iter().map(frame).collect::<Vec<_>>())?.try_iter()
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        crate::draw::drawn(slf, "stack")
    }

    fn __repr__(&self) -> String {
        let frame = |frame: &Arc<parallax_symbols::Frame>| {
            Frame { frame: frame.clone(), moment: self.moment.clone() }.__repr__()
        };
        self.frames.iter().map(frame).collect::<Vec<_>>().join("\n")
    }
}
