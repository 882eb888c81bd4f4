//! Terms: what conditions compare. `var("x")`, `arg(0)`, `register("rax")`, `memory(address, 4)`, `thread()`, numbers, texts,
//! and what is computed from them, as Python computes with whole numbers and floats.

use crate::predicate::{Comparison, Condition, Predicate};
use crate::scene::Scene;
use crate::snapshot::register_name;
use parallax_symbols::{Compiled, Error, Kind, Scalar};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyKeyError, PyOverflowError, PyTypeError, PyValueError, PyZeroDivisionError};
use pyo3::prelude::*;
use std::cmp::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// What is compared.
#[derive(Clone, Debug)]
pub enum Operand {
    Variable(Arc<str>),
    Argument(Arc<Argument>),
    Register(Arc<str>),
    Memory { address: Arc<Operand>, size: u64, signed: bool },
    Thread,
    Whole(i128),
    Real(f64),
    Text(Arc<str>),
    Negated(Arc<Operand>),
    Inverted(Arc<Operand>),
    Computed(Operator, Arc<Operand>, Arc<Operand>),
}

/// An argument, and where it was found at places in the code.
#[derive(Debug)]
pub struct Argument {
    n: usize,
    found: Mutex<Vec<FoundAt>>,
}

/// The number of the symbols, the place, and what the argument is there.
type FoundAt = (u64, u64, Option<Arc<Compiled>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Plus,
    Minus,
    Times,
    Divide,
    FloorDivide,
    Remainder,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
}

/// What an operand comes to.
pub enum Known {
    Whole(i128),
    Real(f64),
    /// A pointer or an array: compares as a number, but what it reckons with depends on its type.
    Address(u64),
    Text(Vec<u8>),
}

/// Why an operand comes to nothing.
pub enum Unknown {
    /// The debug information says so, of what.
    Debug(Error, String),
    /// There is no such register.
    Register(String),
    /// The thread is not known where a replay passes.
    Thread,
    /// It is no number, or one that is reckoned with otherwise.
    Type(String),
    /// A division by zero.
    Zero,
    /// A number beyond all bounds.
    Large,
}

impl Unknown {
    /// The exception for it, at a time.
    pub fn raised(self, scene: &dyn Scene, time: u64) -> PyErr {
        match self {
            Unknown::Debug(error, what) => {
                crate::errors::debug_error(error, &what, time, scene.frame().function.as_deref())
            }
            Unknown::Register(name) => PyKeyError::new_err(format!("no register is called {name}")),
            Unknown::Thread => PyValueError::new_err(format!("the thread at time {time} is not known")),
            Unknown::Type(why) => PyTypeError::new_err(format!("{why} (at time {time})")),
            Unknown::Zero => PyZeroDivisionError::new_err(format!("division by zero at time {time}")),
            Unknown::Large => PyOverflowError::new_err(format!("a number is too large at time {time}")),
        }
    }
}

impl From<Scalar> for Known {
    fn from(scalar: Scalar) -> Known {
        match scalar {
            Scalar::Whole(number) => Known::Whole(number),
            Scalar::Real(number) => Known::Real(number),
            Scalar::Address(address) => Known::Address(address),
        }
    }
}

impl Known {
    pub fn is_true(&self) -> bool {
        match self {
            Known::Whole(number) => *number != 0,
            Known::Real(number) => *number != 0.0,
            Known::Address(address) => *address != 0,
            Known::Text(text) => !text.is_empty(),
        }
    }

    fn whole(&self) -> Option<i128> {
        match self {
            Known::Whole(number) => Some(*number),
            Known::Address(address) => Some((*address).into()),
            _ => None,
        }
    }

    fn real(&self) -> f64 {
        match self {
            Known::Whole(number) => *number as f64,
            Known::Real(number) => *number,
            Known::Address(address) => *address as f64,
            Known::Text(_) => f64::NAN,
        }
    }

    pub fn order(&self, other: &Known) -> Option<Ordering> {
        if let (Known::Text(left), Known::Text(right)) = (self, other) {
            return Some(left.cmp(right));
        }
        match (self.whole(), other.whole()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            (Some(left), None) => against_real(left, other.real()),
            (None, Some(right)) => against_real(right, self.real()).map(Ordering::reverse),
            (None, None) => self.real().partial_cmp(&other.real()),
        }
    }
}

/// A whole number against a real one, without rounding either.
fn against_real(whole: i128, real: f64) -> Option<Ordering> {
    let floor = real.floor();
    if real.is_nan() {
        None
    } else if floor >= i128::MAX as f64 {
        Some(Ordering::Less)
    } else if floor < i128::MIN as f64 {
        Some(Ordering::Greater)
    } else {
        let fraction = if real > floor { Ordering::Less } else { Ordering::Equal };
        Some(whole.cmp(&(floor as i128)).then(fraction))
    }
}

/// At most so many characters of a text are compared.
const MOST_TEXT: usize = 1 << 20;
/// An argument is remembered for so many places.
const MOST_PLACES: usize = 64;

impl Operand {
    /// What a script gives as an operand.
    pub fn given(given: &Bound<'_, PyAny>) -> PyResult<Operand> {
        if let Ok(term) = given.cast::<Term>() {
            Ok(term.get().0.clone())
        } else if let Ok(number) = given.extract::<i128>() {
            Ok(Operand::Whole(number))
        } else if let Ok(number) = given.extract::<f64>() {
            Ok(Operand::Real(number))
        } else if let Ok(text) = given.extract::<String>() {
            Ok(Operand::Text(text.into()))
        } else {
            Err(PyTypeError::new_err("a term goes with a number, a text or another term"))
        }
    }

    pub fn is_text(&self) -> bool {
        matches!(self, Operand::Text(_))
    }

    /// What it comes to; as a text, if it is compared with one.
    pub fn value(&self, scene: &dyn Scene, as_text: bool) -> Result<Known, Unknown> {
        let (symbols, state) = (scene.symbols(), scene.state());
        let wrong = |error: Error| Unknown::Debug(error, self.subject());
        let value = match self {
            Operand::Whole(number) => return Ok(Known::Whole(*number)),
            Operand::Real(number) => return Ok(Known::Real(*number)),
            Operand::Text(text) => return Ok(Known::Text(text.as_bytes().to_vec())),
            Operand::Thread => {
                return scene.thread().map(|thread| Known::Whole(thread.into())).ok_or(Unknown::Thread);
            }
            Operand::Register(name) => {
                let number = scene.register(&register_name(name));
                let number = number.ok_or_else(|| Unknown::Register(name.to_string()))?;
                return i128::try_from(number).map(Known::Whole).map_err(|_| Unknown::Large);
            }
            Operand::Memory { address, size, signed } => return self.load(scene, address, *size, *signed),
            Operand::Negated(of) => {
                return match of.value(scene, false)? {
                    Known::Whole(number) => number.checked_neg().map(Known::Whole).ok_or(Unknown::Large),
                    Known::Real(number) => Ok(Known::Real(-number)),
                    _ => Err(Unknown::Type(format!("{} has no negative", of.name()))),
                };
            }
            Operand::Inverted(of) => {
                let number = of.value(scene, false)?.whole();
                let number =
                    number.ok_or_else(|| Unknown::Type(format!("{} is no whole number", of.name())))?;
                return Ok(Known::Whole(!number));
            }
            Operand::Computed(operator, left, right) => return operator.applied(scene, left, right),
            Operand::Variable(text) => {
                let compiled = if as_text { None } else { symbols.compiled(text, state.pc()) };
                if let Some(number) = compiled.and_then(|compiled| compiled.number(symbols, state)) {
                    return Ok(number.into());
                }
                scene.evaluate(text).map_err(wrong)?
            }
            Operand::Argument(argument) => {
                let compiled = if as_text { None } else { argument.compiled(scene) };
                if let Some(number) = compiled.and_then(|compiled| compiled.number(symbols, state)) {
                    return Ok(number.into());
                }
                scene.argument(argument.n).map_err(wrong)?
            }
        };
        let referred = symbols.referred(&value, state).map_err(wrong)?;
        match &*symbols.kind(&referred.ty).map_err(wrong)? {
            Kind::Enum { variants, .. } if as_text => {
                let number = symbols.integer(&referred, state).map_err(wrong)?;
                let name = variants.iter().find(|(_, value)| *value == number).map(|(name, _)| name.as_str());
                Ok(Known::Text(name.unwrap_or_default().as_bytes().to_vec()))
            }
            _ if as_text => symbols.text(&referred, state, MOST_TEXT).map(Known::Text).map_err(wrong),
            Kind::Float { .. } => symbols.float(&referred, state).map(Known::Real).map_err(wrong),
            Kind::Pointer { .. } | Kind::Array { .. } => {
                symbols.integer(&referred, state).map(|address| Known::Address(address as u64)).map_err(wrong)
            }
            _ => symbols.integer(&referred, state).map(Known::Whole).map_err(wrong),
        }
    }

    fn load(&self, scene: &dyn Scene, address: &Operand, size: u64, signed: bool) -> Result<Known, Unknown> {
        let found = address.value(scene, false)?.whole();
        let found = found.ok_or_else(|| Unknown::Type(format!("{} is no address", address.name())))?;
        let found = u64::try_from(found).map_err(|_| Unknown::Large)?;
        let mut bytes = [0; 16];
        if !scene.state().read(found, &mut bytes[..size as usize]) {
            return Err(Unknown::Debug(Error::Unreadable { address: found, size }, self.subject()));
        }
        let (number, bits) = (u128::from_le_bytes(bytes), 8 * size as u32);
        let is_negative = signed && number >> (bits - 1) & 1 == 1;
        Ok(Known::Whole(number as i128 - if is_negative { 1 << bits } else { 0 }))
    }

    /// What an exception says that it was about.
    fn subject(&self) -> String {
        match self {
            Operand::Variable(text) => text.to_string(),
            Operand::Argument(argument) => format!("argument {}", argument.n),
            _ => self.name(),
        }
    }

    /// How a script writes it.
    pub fn name(&self) -> String {
        match self {
            Operand::Variable(text) => format!("var({text:?})"),
            Operand::Argument(argument) => format!("arg({})", argument.n),
            Operand::Register(name) => format!("register({name:?})"),
            Operand::Memory { address, size, .. } => format!("memory({}, {size})", address.name()),
            Operand::Thread => "thread()".to_owned(),
            Operand::Whole(number) => number.to_string(),
            Operand::Real(number) => number.to_string(),
            Operand::Text(text) => format!("{text:?}"),
            Operand::Negated(of) => format!("-{}", of.name()),
            Operand::Inverted(of) => format!("~{}", of.name()),
            Operand::Computed(operator, left, right) => {
                format!("({} {} {})", left.name(), operator.text(), right.name())
            }
        }
    }
}

impl Argument {
    fn compiled(&self, scene: &dyn Scene) -> Option<Arc<Compiled>> {
        let (symbols, pc) = (scene.symbols(), scene.state().pc());
        let at = symbols.identity();
        let lock = || self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., known)) = lock().iter().find(|(own, place, _)| (*own, *place) == (at, pc)) {
            return known.clone();
        }
        let compiled = scene.argument_place(self.n).ok().and_then(|place| place.compiled(symbols, pc));
        let mut found = lock();
        if found.len() >= MOST_PLACES {
            found.clear();
        }
        found.push((at, pc, compiled.clone()));
        compiled
    }
}

impl Operator {
    fn text(self) -> &'static str {
        match self {
            Operator::Plus => "+",
            Operator::Minus => "-",
            Operator::Times => "*",
            Operator::Divide => "/",
            Operator::FloorDivide => "//",
            Operator::Remainder => "%",
            Operator::And => "&",
            Operator::Or => "|",
            Operator::Xor => "^",
            Operator::ShiftLeft => "<<",
            Operator::ShiftRight => ">>",
        }
    }

    fn applied(self, scene: &dyn Scene, left: &Operand, right: &Operand) -> Result<Known, Unknown> {
        let (a, b) = (left.value(scene, false)?, right.value(scene, false)?);
        let is_sum = matches!(self, Operator::Plus | Operator::Minus);
        if let (true, Some(pointer)) = (
            is_sum,
            [(&a, left), (&b, right)].into_iter().find(|(known, _)| matches!(known, Known::Address(_))),
        ) {
            let name = pointer.1.name();
            return Err(Unknown::Type(format!(
                "{name} is a pointer; write the sum as C does, inside of var()"
            )));
        }
        let large = || Unknown::Large;
        let (Some(x), Some(y)) = (a.whole(), b.whole()) else {
            return self.applied_to_real(a.real(), b.real());
        };
        let shift = || u32::try_from(y).ok().filter(|by| *by < 127).ok_or(Unknown::Large);
        Ok(Known::Whole(match self {
            Operator::Plus => x.checked_add(y).ok_or_else(large)?,
            Operator::Minus => x.checked_sub(y).ok_or_else(large)?,
            Operator::Times => x.checked_mul(y).ok_or_else(large)?,
            Operator::Divide if y == 0 => return Err(Unknown::Zero),
            Operator::Divide => return Ok(Known::Real(x as f64 / y as f64)),
            Operator::FloorDivide | Operator::Remainder if y == 0 => return Err(Unknown::Zero),
            // Python rounds down, and the remainder has the sign of the divisor.
            Operator::FloorDivide => {
                let quotient = x.checked_div(y).ok_or_else(large)?;
                quotient - i128::from(x % y != 0 && (x < 0) != (y < 0))
            }
            Operator::Remainder => {
                let rest = x.checked_rem(y).ok_or_else(large)?;
                if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest }
            }
            Operator::And => x & y,
            Operator::Or => x | y,
            Operator::Xor => x ^ y,
            Operator::ShiftLeft => {
                let by = shift()?;
                x.checked_mul(1 << by).ok_or_else(large)?
            }
            Operator::ShiftRight => x >> shift()?,
        }))
    }

    fn applied_to_real(self, x: f64, y: f64) -> Result<Known, Unknown> {
        if let (Operator::Divide | Operator::FloorDivide | Operator::Remainder, true) = (self, y == 0.0) {
            return Err(Unknown::Zero);
        }
        // As Python has it: the remainder has the sign of the divisor, and the quotient fits it.
        let mut rest = x % y;
        let mut quotient = (x - rest) / y;
        if rest != 0.0 && (rest < 0.0) != (y < 0.0) {
            rest += y;
            quotient -= 1.0;
        }
        Ok(Known::Real(match self {
            Operator::Plus => x + y,
            Operator::Minus => x - y,
            Operator::Times => x * y,
            Operator::Divide => x / y,
            Operator::FloorDivide => quotient.round(),
            Operator::Remainder => rest,
            _ => return Err(Unknown::Type(format!("{} is for whole numbers", self.text()))),
        }))
    }
}

/// Something of a snapshot that can be compared without calling Python: made by var, arg, register, memory and thread.
///
/// Terms reckon as Python's numbers do: (var("x") + 1) % 2 == 0. A comparison is a predicate for trace.filter; a term by
/// itself is one that holds where it is not zero.
#[pyclass(frozen, name = "term", module = "parallax")]
pub struct Term(pub Operand);

impl Term {
    fn computed(operator: Operator, left: &Operand, right: &Operand) -> PyResult<Term> {
        if left.is_text() || right.is_text() {
            return Err(PyTypeError::new_err("texts can be compared, not reckoned with"));
        }
        Ok(Term(Operand::Computed(operator, Arc::new(left.clone()), Arc::new(right.clone()))))
    }

    /// The term on the left.
    fn before(&self, operator: Operator, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        Term::computed(operator, &self.0, &Operand::given(other)?)
    }

    /// The term on the right.
    fn behind(&self, operator: Operator, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        Term::computed(operator, &Operand::given(other)?, &self.0)
    }
}

#[pymethods]
impl Term {
    fn __add__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.before(Operator::Plus, other)
    }

    fn __radd__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.behind(Operator::Plus, other)
    }

    fn __sub__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.before(Operator::Minus, other)
    }

    fn __rsub__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.behind(Operator::Minus, other)
    }

    fn __mul__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.before(Operator::Times, other)
    }

    fn __rmul__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.behind(Operator::Times, other)
    }

    fn __truediv__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.before(Operator::Divide, other)
    }

    fn __rtruediv__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.behind(Operator::Divide, other)
    }

    fn __floordiv__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.before(Operator::FloorDivide, other)
    }

    fn __rfloordiv__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.behind(Operator::FloorDivide, other)
    }

    fn __mod__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.before(Operator::Remainder, other)
    }

    fn __rmod__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.behind(Operator::Remainder, other)
    }

    fn __and__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.before(Operator::And, other)
    }

    fn __rand__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.behind(Operator::And, other)
    }

    fn __or__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.before(Operator::Or, other)
    }

    fn __ror__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.behind(Operator::Or, other)
    }

    fn __xor__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.before(Operator::Xor, other)
    }

    fn __rxor__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.behind(Operator::Xor, other)
    }

    fn __lshift__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.before(Operator::ShiftLeft, other)
    }

    fn __rlshift__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.behind(Operator::ShiftLeft, other)
    }

    fn __rshift__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.before(Operator::ShiftRight, other)
    }

    fn __rrshift__(&self, other: &Bound<'_, PyAny>) -> PyResult<Term> {
        self.behind(Operator::ShiftRight, other)
    }

    fn __neg__(&self) -> Term {
        Term(Operand::Negated(Arc::new(self.0.clone())))
    }

    fn __invert__(&self) -> Term {
        Term(Operand::Inverted(Arc::new(self.0.clone())))
    }

    fn __richcmp__(&self, other: &Bound<'_, PyAny>, op: CompareOp) -> PyResult<Predicate> {
        let comparison = match op {
            CompareOp::Eq => Comparison::Equal,
            CompareOp::Ne => Comparison::Unequal,
            CompareOp::Lt => Comparison::Less,
            CompareOp::Le => Comparison::LessEqual,
            CompareOp::Gt => Comparison::Greater,
            CompareOp::Ge => Comparison::GreaterEqual,
        };
        let condition = Condition::Compare(self.0.clone(), comparison, Operand::given(other)?);
        Ok(Predicate(Arc::new(condition)))
    }

    fn __bool__(&self) -> PyResult<bool> {
        Err(PyTypeError::new_err(
            "a term has no value before there is a snapshot; compare it, and combine predicates with &, | and ~",
        ))
    }

    fn __repr__(&self) -> String {
        self.0.name()
    }
}

/// Return the term for a variable or expression such as "p->next->value" in the current frame.
#[pyfunction]
pub fn var(x: &str) -> Term {
    Term(Operand::Variable(x.into()))
}

/// Return the term for an argument of the current function; the first is 0.
#[pyfunction]
pub fn arg(n: usize) -> Term {
    Term(Operand::Argument(Arc::new(Argument { n, found: Mutex::default() })))
}

/// Return the term for a register of the thread: "rax", "rip", "eax", "zf".
#[pyfunction]
pub fn register(name: &str) -> Term {
    Term(Operand::Register(name.into()))
}

/// Return the term for a number in memory, at an address that is a number or a term; lowest byte first.
#[pyfunction]
#[pyo3(signature = (address, size, *, signed=false))]
pub fn memory(address: &Bound<'_, PyAny>, size: u64, signed: bool) -> PyResult<Term> {
    if !matches!(size, 1 | 2 | 4 | 8) {
        return Err(PyValueError::new_err("a number in memory has 1, 2, 4 or 8 bytes"));
    }
    Ok(Term(Operand::Memory { address: Arc::new(Operand::given(address)?), size, signed }))
}

/// Return the term for the number of the thread.
#[pyfunction]
pub fn thread() -> Term {
    Term(Operand::Thread)
}
