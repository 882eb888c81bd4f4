//! Conditions on snapshots that are evaluated without calling Python: `var("x") == 0`.
//!
//! A condition is asked where a replay passes each hit, over the registers and the memory that are there. What has no answer
//! in that way is asked again with a snapshot, which also gives the exception if there is none.

use crate::errors::thrown;
use crate::object::Object;
use crate::recorded::Recorded;
use crate::scene::{Passage, Scene};
use crate::snapshot::Snapshot;
use crate::term::{Operand, Term, Unknown};
use parallax_moment::Passed;
use parallax_travel::{Examine, Passing, Side, Test, Unanswered};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::cmp::Ordering;
use std::sync::{Arc, Weak};

/// A condition on a snapshot.
#[derive(Debug)]
pub enum Condition {
    Compare(Operand, Comparison, Operand),
    /// It counts as true.
    Holds(Operand),
    Both(Arc<Condition>, Arc<Condition>),
    Either(Arc<Condition>, Arc<Condition>),
    Not(Arc<Condition>),
}

#[derive(Clone, Copy, Debug)]
pub enum Comparison {
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Condition {
    fn holds(&self, scene: &dyn Scene) -> Result<bool, Unknown> {
        Ok(match self {
            Condition::Both(one, other) => one.holds(scene)? && other.holds(scene)?,
            Condition::Either(one, other) => one.holds(scene)? || other.holds(scene)?,
            Condition::Not(one) => !one.holds(scene)?,
            Condition::Holds(operand) => operand.value(scene, false)?.is_true(),
            Condition::Compare(left, comparison, right) => {
                let as_text = left.is_text() || right.is_text();
                let ordering = left.value(scene, as_text)?.order(&right.value(scene, as_text)?);
                match comparison {
                    Comparison::Equal => ordering == Some(Ordering::Equal),
                    Comparison::Unequal => ordering != Some(Ordering::Equal),
                    Comparison::Less => ordering == Some(Ordering::Less),
                    Comparison::LessEqual => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
                    Comparison::Greater => ordering == Some(Ordering::Greater),
                    Comparison::GreaterEqual => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
                }
            }
        })
    }
}

/// A condition on snapshots for trace.filter, evaluated without calling Python. Combine with &, | and ~.
///
///     foo.filter((var("x") > 0) & ~(arg(1) == "stop"))
///
/// It is made by comparing terms: var, arg, register, memory, thread. Called with a snapshot, it says whether it holds.
#[pyclass(frozen, name = "predicate", module = "parallax")]
#[derive(Clone)]
pub struct Predicate(pub Arc<Condition>);

/// A condition that is tested where a search passes.
struct Tested {
    /// Not held: the recording keeps its searches.
    recorded: Weak<Recorded>,
    is_after: bool,
    condition: Arc<Condition>,
}

/// A Python exception that ended a search.
#[derive(Debug)]
pub struct Raised(pub PyErr);

impl std::fmt::Display for Raised {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Raised {}

impl Examine for Tested {
    fn side(&self) -> Side {
        if self.is_after { Side::After } else { Side::Before }
    }

    fn holds(&self, state: Arc<parallax_travel::State>) -> Result<bool, Unanswered> {
        // The recording is gone: nobody waits for the answer.
        let Some(recorded) = self.recorded.upgrade() else { return Ok(false) };
        let moment = recorded.seen(state, self.is_after);
        let raise = |why: Unknown| Unanswered(Arc::new(Raised(why.raised(&moment, moment.time))));
        self.condition.holds(&moment).map_err(raise)
    }

    fn passes(&self, passing: &Passing<'_>) -> Option<bool> {
        let recorded = self.recorded.upgrade()?;
        let symbols = recorded.modules.passed(passing);
        self.condition.holds(&Passage::new(Passed(passing), symbols)).ok()
    }
}

impl Predicate {
    /// The condition as a test of states.
    pub fn test(&self, recorded: &Arc<Recorded>, is_after: bool) -> Test {
        Test(Arc::new(Tested { recorded: Arc::downgrade(recorded), is_after, condition: self.0.clone() }))
    }

    /// Both this condition and another.
    pub fn and(&self, other: &Predicate) -> Predicate {
        Predicate(Arc::new(Condition::Both(self.0.clone(), other.0.clone())))
    }

    /// The condition as a function of values of a trace.
    pub fn function(&self) -> impl Fn(Object) -> parallax_trace::Result<bool> + Send + Sync + 'static {
        let condition = self.0.clone();
        move |value| {
            let found = Python::attach(|py| {
                // No Python function runs here, so Ctrl-C would not be heard.
                py.check_signals().map_err(|error| thrown(py, error))?;
                let Ok(snapshot) = value.bind(py).cast::<Snapshot>() else {
                    let message = "a predicate is for traces of snapshots";
                    return Err(thrown(py, PyTypeError::new_err(message)));
                };
                let snapshot = snapshot.get();
                Ok((snapshot.recorded.clone(), snapshot.time, snapshot.is_after, snapshot.from.clone()))
            });
            let (recorded, time, is_after, from) = found?;
            let raise = |error: PyErr| Python::attach(|py| thrown(py, error));
            let moment = recorded.moment(time, is_after, from.as_deref()).map_err(raise)?;
            condition.holds(&*moment).map_err(|why| raise(why.raised(&*moment, time)))
        }
    }

    /// What a script gives as a condition: a predicate, or a term that is to count as true.
    pub fn given(given: &Bound<'_, PyAny>) -> Option<Predicate> {
        if let Ok(predicate) = given.cast::<Predicate>() {
            return Some(predicate.get().clone());
        }
        let term = given.cast::<Term>().ok()?;
        Some(Predicate(Arc::new(Condition::Holds(term.get().0.clone()))))
    }
}

fn other(given: &Bound<'_, PyAny>) -> PyResult<Predicate> {
    Predicate::given(given)
        .ok_or_else(|| PyTypeError::new_err("a predicate is combined with another predicate"))
}

#[pymethods]
impl Predicate {
    /// Return whether the condition holds at a snapshot.
    fn __call__(&self, py: Python<'_>, snapshot: &Bound<'_, Snapshot>) -> PyResult<bool> {
        let moment = snapshot.get().moment(py)?;
        py.detach(|| self.0.holds(&*moment)).map_err(|why| why.raised(&*moment, moment.time))
    }

    fn __and__(&self, other_one: &Bound<'_, PyAny>) -> PyResult<Predicate> {
        Ok(self.and(&other(other_one)?))
    }

    fn __or__(&self, other_one: &Bound<'_, PyAny>) -> PyResult<Predicate> {
        Ok(Predicate(Arc::new(Condition::Either(self.0.clone(), other(other_one)?.0))))
    }

    fn __invert__(&self) -> Predicate {
        Predicate(Arc::new(Condition::Not(self.0.clone())))
    }

    fn __bool__(&self) -> PyResult<bool> {
        Err(PyTypeError::new_err(
            "a predicate has no truth value of its own; combine predicates with &, | and ~",
        ))
    }
}
