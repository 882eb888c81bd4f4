//! Conditions on snapshots that are evaluated without calling Python: `var("x") == 0`.

use crate::errors::thrown;
use crate::object::Object;
use crate::recorded::{Moment, Recorded};
use crate::snapshot::Snapshot;
use parallax_symbols::Error;
use parallax_travel::{Examine, Side, Test, Unanswered};
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::cmp::Ordering;
use std::sync::{Arc, Weak};

/// What is compared.
#[derive(Clone, Debug)]
enum Operand {
    Variable(String),
    Argument(usize),
    Thread,
    Whole(i128),
    Real(f64),
    Text(String),
}

/// What an operand comes to.
enum Known {
    Whole(i128),
    Real(f64),
    Text(Vec<u8>),
}

impl Operand {
    fn name(&self) -> String {
        match self {
            Operand::Variable(name) => name.clone(),
            Operand::Argument(n) => format!("argument {n}"),
            _ => String::new(),
        }
    }

    fn value(&self, moment: &Moment, as_text: bool) -> parallax_symbols::Result<Known> {
        let value = match self {
            Operand::Whole(number) => return Ok(Known::Whole(*number)),
            Operand::Real(number) => return Ok(Known::Real(*number)),
            Operand::Text(text) => return Ok(Known::Text(text.clone().into_bytes())),
            Operand::Thread => return Ok(Known::Whole(moment.thread.into())),
            Operand::Variable(text) => moment.symbols.evaluate(text, moment.frame(), moment)?,
            Operand::Argument(n) => moment.argument(*n)?,
        };
        const MOST: usize = 1 << 20;
        if as_text {
            return moment.symbols.text(&value, moment, MOST).map(Known::Text);
        }
        let referred = moment.symbols.referred(&value, moment)?;
        match &*moment.symbols.kind(&referred.ty)? {
            parallax_symbols::Kind::Float { .. } => moment.symbols.float(&referred, moment).map(Known::Real),
            _ => moment.symbols.integer(&referred, moment).map(Known::Whole),
        }
    }
}

/// A condition on a snapshot.
#[derive(Clone, Debug)]
enum Condition {
    Compare(Operand, Comparison, Operand),
    Both(Arc<Condition>, Arc<Condition>),
    Either(Arc<Condition>, Arc<Condition>),
    Not(Arc<Condition>),
}

#[derive(Clone, Copy, Debug)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Condition {
    fn holds(&self, moment: &Moment) -> Result<bool, (Error, String)> {
        Ok(match self {
            Condition::Both(one, other) => one.holds(moment)? && other.holds(moment)?,
            Condition::Either(one, other) => one.holds(moment)? || other.holds(moment)?,
            Condition::Not(one) => !one.holds(moment)?,
            Condition::Compare(left, comparison, right) => {
                let as_text = matches!(left, Operand::Text(_)) || matches!(right, Operand::Text(_));
                let value = |operand: &Operand| {
                    operand.value(moment, as_text).map_err(|error| (error, operand.name()))
                };
                let ordering = order(&value(left)?, &value(right)?);
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

fn order(left: &Known, right: &Known) -> Option<Ordering> {
    let real = |known: &Known| match known {
        Known::Whole(number) => *number as f64,
        Known::Real(number) => *number,
        Known::Text(_) => f64::NAN,
    };
    match (left, right) {
        (Known::Whole(left), Known::Whole(right)) => Some(left.cmp(right)),
        (Known::Text(left), Known::Text(right)) => Some(left.cmp(right)),
        _ => real(left).partial_cmp(&real(right)),
    }
}

/// Something of a snapshot that can be compared without calling Python: made by var, arg and thread.
#[pyclass(frozen, name = "term", module = "parallax")]
pub struct Term(Operand);

#[pymethods]
impl Term {
    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Predicate> {
        let other = if let Ok(term) = other.cast::<Term>() {
            term.get().0.clone()
        } else if let Ok(number) = other.extract::<i128>() {
            Operand::Whole(number)
        } else if let Ok(number) = other.extract::<f64>() {
            Operand::Real(number)
        } else if let Ok(text) = other.extract::<String>() {
            Operand::Text(text)
        } else {
            return Err(PyTypeError::new_err("a term is compared with a number, a text or another term"));
        };
        let comparison = match op {
            CompareOp::Eq => Comparison::Equal,
            CompareOp::Ne => Comparison::Unequal,
            CompareOp::Lt => Comparison::Less,
            CompareOp::Le => Comparison::LessEqual,
            CompareOp::Gt => Comparison::Greater,
            CompareOp::Ge => Comparison::GreaterEqual,
        };
        Ok(Predicate(Arc::new(Condition::Compare(self.0.clone(), comparison, other))))
    }

    fn __repr__(&self) -> String {
        match &self.0 {
            Operand::Variable(text) => format!("var({text:?})"),
            Operand::Argument(n) => format!("arg({n})"),
            _ => "thread()".to_owned(),
        }
    }
}

/// A condition on snapshots for trace.filter, evaluated without calling Python. Combine with &, | and ~.
#[pyclass(frozen, name = "predicate", module = "parallax")]
#[derive(Clone)]
pub struct Predicate(Arc<Condition>);

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

    fn holds(&self, state: parallax_travel::State) -> Result<bool, Unanswered> {
        let raise = |error: PyErr| Unanswered(Arc::new(Raised(error)));
        // The recording is gone: nobody waits for the answer.
        let Some(recorded) = self.recorded.upgrade() else { return Ok(false) };
        let moment = recorded.seen(state, self.is_after).map_err(raise)?;
        self.condition.holds(&moment).map_err(|(error, name)| raise(moment.error(error, &name)))
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
            condition.holds(&moment).map_err(|(error, name)| raise(moment.error(error, &name)))
        }
    }
}

#[pymethods]
impl Predicate {
    /// Return whether the condition holds at a snapshot.
    fn __call__(&self, py: Python<'_>, snapshot: &Bound<'_, Snapshot>) -> PyResult<bool> {
        let moment = snapshot.get().moment(py)?;
        py.detach(|| self.0.holds(&moment)).map_err(|(error, name)| moment.error(error, &name))
    }

    fn __and__(&self, other: &Bound<'_, Predicate>) -> Predicate {
        self.and(other.get())
    }

    fn __or__(&self, other: &Bound<'_, Predicate>) -> Predicate {
        Predicate(Arc::new(Condition::Either(self.0.clone(), other.get().0.clone())))
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

/// Return the term for a variable or expression such as "p->next->value" in the current frame.
#[pyfunction]
pub fn var(x: &str) -> Term {
    Term(Operand::Variable(x.to_owned()))
}

/// Return the term for an argument of the current function; the first is 0.
#[pyfunction]
pub fn arg(n: usize) -> Term {
    Term(Operand::Argument(n))
}

/// Return the term for the number of the thread.
#[pyfunction]
pub fn thread() -> Term {
    Term(Operand::Thread)
}
