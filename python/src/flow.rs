//! `flow` and `flow_step`: where a value comes from.

use crate::errors::{RecordingError, raised};
use crate::recorded::Recorded;
use crate::snapshot::Snapshot;
use parallax_flow::told;
use parallax_flow::{Asked, Bounds, FlowError, Follow, Node, Origin, origin};
use parallax_moment::place_of;
use parallax_symbols::Symbols;
use parallax_trace::Time;
use parallax_travel::TravelError;
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// What was asked, and what was found.
struct Found {
    recorded: Arc<Recorded>,
    symbols: Arc<Symbols>,
    /// What it is about.
    name: String,
    /// The time it was asked at.
    time: Time,
    origin: Origin,
}

/// Where a value comes from: the steps that made it, latest first, back to system calls, constants, files and the start.
///
///     flow = snap.origin("total")
///     print(flow)
///     for end in flow.ends():
///         print(end.text, end.function, end.line)
///
/// The first step is the question itself; flow[0].sources made its value, and so on.
#[pyclass(frozen, name = "flow", module = "parallax", sequence)]
pub struct Flow(Arc<Found>);

/// How far a value is followed.
pub struct Wish {
    pub addresses: bool,
    pub conditions: bool,
    pub most: usize,
    pub back: Option<u64>,
}

impl Flow {
    /// Follows something of a moment.
    pub fn follow(
        py: Python<'_>,
        recorded: Arc<Recorded>,
        symbols: Arc<Symbols>,
        name: String,
        time: Time,
        asked: Asked,
        wish: Wish,
    ) -> PyResult<Flow> {
        let follow = Follow { addresses: wish.addresses, conditions: wish.conditions };
        let bounds = Bounds { nodes: wish.most.max(1), steps: wish.back.unwrap_or(u64::MAX) };
        let signals = crate::events::Signals::new();
        let found = py.detach(|| origin(recorded.travel(), time, &asked, follow, bounds, &signals));
        crate::events::clear_progress();
        match found {
            Ok(origin) => Ok(Flow(Arc::new(Found { recorded, symbols, name, time, origin }))),
            Err(FlowError::Travel(TravelError::Stopped)) => {
                Err(raised(py, parallax_trace::Error::Interrupted))
            }
            Err(FlowError::NoRegister(name)) => {
                Err(PyKeyError::new_err(format!("no register is called {name}")))
            }
            Err(error) => Err(RecordingError::new_err(format!("{name} at time {time}: {error}"))),
        }
    }

    fn step(&self, index: usize) -> FlowStep {
        FlowStep { found: self.0.clone(), index }
    }
}

#[pymethods]
impl Flow {
    fn __len__(&self) -> usize {
        self.0.origin.nodes.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<FlowStep> {
        let count = self.0.origin.nodes.len();
        let at = if index < 0 { index + count as isize } else { index };
        match usize::try_from(at).ok().filter(|at| *at < count) {
            Some(at) => Ok(self.step(at)),
            None => Err(PyIndexError::new_err("the flow has no such step")),
        }
    }

    /// Return the steps that nothing further back counts for: system calls, constants, files, the start.
    fn ends(&self) -> Vec<FlowStep> {
        let nodes = self.0.origin.nodes.iter().enumerate();
        nodes.filter(|(_, node)| node.is_end()).map(|(index, _)| self.step(index)).collect()
    }

    /// Return for each end the shortest way from it to the value, the end first.
    fn chains(&self) -> Vec<Vec<FlowStep>> {
        let chains = self.0.origin.chains();
        chains.into_iter().map(|chain| chain.into_iter().map(|index| self.step(index)).collect()).collect()
    }

    /// The time before which nothing was looked at because a bound was reached, or None if the answer is whole.
    #[getter]
    fn cut(&self) -> Option<Time> {
        self.0.origin.cut.as_ref().map(|cut| cut.time)
    }

    fn _repr_html_(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        crate::draw::drawn(slf, "flow")
    }

    fn __str__(&self) -> String {
        let nodes = &self.0.origin.nodes;
        let mut lines = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let step = self.step(index);
            let mut times: Vec<String> = node.from.iter().map(|from| nodes[*from].time.to_string()).collect();
            times.dedup();
            let from = if times.is_empty() { String::new() } else { format!(" from {}", times.join(", ")) };
            let head = if index == 0 {
                format!("{} at {}", self.0.name, self.0.time)
            } else {
                format!("{}  {}", node.time, told::what(&node.what))
            };
            lines.push(format!("{head}{}: {}{from}", step.place(), told::pieces(&node.made)));
        }
        if let Some(cut) = self.cut() {
            lines.push(format!("cut: steps before {cut} were not looked at"));
        }
        lines.join("\n")
    }

    fn __repr__(&self) -> String {
        format!("<flow of {} at {}, {} steps>", self.0.name, self.0.time, self.__len__())
    }
}

/// A step of a flow: what wrote a part of a value, and what it was computed from.
#[pyclass(frozen, name = "flow_step", module = "parallax")]
pub struct FlowStep {
    found: Arc<Found>,
    index: usize,
}

impl FlowStep {
    fn node(&self) -> &Node {
        &self.found.origin.nodes[self.index]
    }

    /// Where it is in the source, as text.
    fn place(&self) -> String {
        match (self.node().pc, self.function(), self.line()) {
            (0, ..) => String::new(),
            (_, Some(function), Some((file, line))) => {
                format!(" in {function} ({}:{line})", file.rsplit('/').next().unwrap_or(&file))
            }
            (_, Some(function), None) => format!(" in {function}"),
            (pc, ..) => format!(" at {pc:#x}"),
        }
    }
}

#[pymethods]
impl FlowStep {
    /// Its time; 0 for what was there before the first step.
    #[getter]
    fn time(&self) -> Time {
        self.node().time
    }

    /// The number of the thread that made it.
    #[getter]
    fn thread(&self) -> u32 {
        self.node().thread
    }

    /// The address of its instruction; 0 if it has none.
    #[getter]
    fn pc(&self) -> u64 {
        self.node().pc
    }

    /// What it is: "asked", "instruction", "constant", "call", "mapped", "start" and others.
    #[getter]
    fn kind(&self) -> &'static str {
        told::kind(&self.node().what)
    }

    /// What it is, in words: the instruction, the system call with its arguments.
    #[getter]
    fn text(&self) -> String {
        told::what(&self.node().what)
    }

    /// The function, or None.
    #[getter]
    fn function(&self) -> Option<String> {
        place_of(&self.found.symbols, self.node().pc).0
    }

    /// The line of the source as (file, line), or None.
    #[getter]
    fn line(&self) -> Option<(String, u64)> {
        place_of(&self.found.symbols, self.node().pc).1.map(|line| (line.file.to_string(), line.line))
    }

    /// What it made of the value: names of registers and places in memory, with their bytes.
    #[getter]
    fn made<'py>(&self, py: Python<'py>) -> Vec<(String, Bound<'py, PyBytes>)> {
        let made = self.node().made.iter();
        made.map(|piece| (told::piece_name(piece), PyBytes::new(py, told::piece_bytes(piece)))).collect()
    }

    /// The steps that made what it was computed from, latest first.
    #[getter]
    fn sources(&self) -> Vec<FlowStep> {
        let from = self.node().from.iter();
        from.map(|index| FlowStep { found: self.found.clone(), index: *index }).collect()
    }

    /// Whether nothing further back counts.
    #[getter]
    fn is_end(&self) -> bool {
        self.node().is_end()
    }

    /// The snapshot before it, or None for what was there before the first step.
    #[getter]
    fn snapshot(&self) -> Option<Snapshot> {
        let time = if self.index == 0 { self.found.time } else { self.node().time };
        (time > 0).then(|| Snapshot {
            recorded: self.found.recorded.clone(),
            time,
            is_after: false,
            from: None,
        })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<FlowStep>().is_ok_and(|other| {
            let other = other.get();
            Arc::ptr_eq(&self.found, &other.found) && self.index == other.index
        })
    }

    fn __hash__(&self) -> usize {
        self.index
    }

    fn __repr__(&self) -> String {
        format!("<{} {}{}: {}>", self.time(), self.text(), self.place(), told::pieces(&self.node().made))
    }
}
