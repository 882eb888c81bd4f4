//! The interpreter: the big-step rules of Figure 5, read as a function, and the additions of section 2.
//!
//! Where no rule applies the result is `error` ([`Stop::Error`]); that is what the analyses exclude. Three more ways
//! to have no result are not type errors and are kept apart: a trap (division by zero, a negative exponent), and a
//! bound on steps or on the depth of calls.

use crate::arithmetic::{self, Outcome, WIDTH};
use crate::syntax::*;
use crate::ty::{Nullness, Type};
use parallax_op::Bits;
use parallax_sem::Concrete;
use parallax_source::Span;
use std::rc::Rc;

/// A value `v`.
#[derive(Clone, Debug)]
pub enum Value {
    /// `n`
    Int(i64),
    /// A float.
    Float(f64),
    /// `true`, `false`
    Bool(bool),
    /// A string.
    Str(Rc<str>),
    /// `()`
    Unit,
    /// A location `l`.
    Loc(usize),
    /// A function of the program with what it captured.
    Closure(Rc<Closure>),
    /// `null`
    Null,
    /// A function from outside.
    Outside(Rc<Outside>),
}

/// A function from outside: all that is known is its type, `from -> to`, and what it may write to.
#[derive(Debug)]
pub struct Outside {
    /// What it takes.
    pub from: Rc<Type>,
    /// What it gives.
    pub to: Rc<Type>,
    /// What it may write to.
    pub writes: Writes,
}

/// A function of the program and the values it captured, in the order of [`FunInfo::captures`].
#[derive(Debug)]
pub struct Closure {
    /// The text.
    pub fun: FunId,
    /// The values.
    pub captured: Vec<Value>,
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// No rule applies: the run-time type error that the analyses are about.
    #[error("{message}")]
    Error {
        /// The place in the source.
        span: Span,
        /// What was wanted and what was found.
        message: String,
    },
    /// An operation without a result for these operands; types do not speak of it.
    #[error("{message}")]
    Trap {
        /// The place in the source.
        span: Span,
        /// What happened.
        message: &'static str,
    },
    /// The world outside was asked something it does not know.
    #[error("{message}")]
    Unanswered {
        /// The place in the source.
        span: Span,
        /// What was asked.
        message: String,
    },
    /// A bound was reached.
    #[error("gave up: more than {limit} {what}")]
    Bound {
        /// Where the run was.
        span: Span,
        /// What there was too much of.
        what: &'static str,
        /// How much is allowed.
        limit: u64,
    },
}

impl Stop {
    /// Where the run stopped.
    pub fn span(&self) -> Span {
        match self {
            Stop::Error { span, .. }
            | Stop::Trap { span, .. }
            | Stop::Unanswered { span, .. }
            | Stop::Bound { span, .. } => *span,
        }
    }
}

/// The world outside: what `extern` names are and what functions from outside answer.
pub trait World {
    /// The locations that there are when the program starts.
    fn memory(&mut self) -> Vec<Value> {
        Vec::new()
    }
    /// The value of an `extern` name, if the world has one. References are to be allocated in `memory`.
    fn named(&mut self, name: &str, declared: &Extern, memory: &mut Vec<Value>) -> Option<Value>;
    /// What a function from outside answers, if the world knows; it may also write to `memory`.
    fn answer(&mut self, function: &Outside, memory: &mut Vec<Value>) -> Option<Value>;
}

/// Looks on while a program runs.
#[allow(unused_variables)]
pub trait Watch {
    /// An expression is about to be evaluated.
    fn comes_to(&mut self, e: ExprId) {}
    /// A block starts.
    fn enter(&mut self, kind: BlockKind, block: ExprId) {}
    /// A block has a value.
    fn leave(&mut self, kind: BlockKind, block: ExprId, value: &Value, memory: &[Value]) {}
    /// A location was allocated.
    fn allocated(&mut self, location: usize) {}
}

impl Watch for () {}

/// How far a run may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Expressions evaluated.
    pub steps: u64,
    /// Calls within calls.
    pub calls: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 200_000_000, calls: 50_000 }
    }
}

/// A finished run `<M; v>`.
#[derive(Debug)]
pub struct Finished {
    /// The memory.
    pub memory: Vec<Value>,
    /// The value.
    pub value: Value,
}

/// Runs a program: `E |- <M; e> -> r`. The world gives the values of the `extern` names.
pub fn run(
    program: &Program,
    world: &mut dyn World,
    watch: &mut dyn Watch,
    limits: Limits,
) -> Result<Finished, Stop> {
    let memory = world.memory();
    let mut interp = Interp { program, world, watch, limits, memory, steps: 0, calls: 0 };
    let mut frame = vec![Value::Unit; program.frame_size as usize];
    for declared in &program.externs {
        let info = program.var(declared.name.var);
        let value = interp.world.named(&info.name, declared, &mut interp.memory);
        frame[declared.name.slot as usize] = value.ok_or_else(|| Stop::Unanswered {
            span: info.span,
            message: format!("nothing says what `{}` is", info.name),
        })?;
    }
    let value = interp.eval(program.root, &mut frame)?;
    Ok(Finished { memory: interp.memory, value })
}

/// Runs a part of a program, from what the slots of its frame hold and a memory.
pub fn run_part(
    program: &Program,
    part: ExprId,
    slots: &[(u32, Value)],
    world: &mut dyn World,
    watch: &mut dyn Watch,
    limits: Limits,
) -> Result<Finished, Stop> {
    let memory = world.memory();
    let mut interp = Interp { program, world, watch, limits, memory, steps: 0, calls: 0 };
    let frames = program.funs.iter().map(|fun| fun.frame_size);
    let mut frame = vec![Value::Unit; frames.fold(program.frame_size, u32::max) as usize];
    for (slot, value) in slots {
        frame[*slot as usize] = value.clone();
    }
    let value = interp.eval(part, &mut frame)?;
    Ok(Finished { memory: interp.memory, value })
}

struct Interp<'a> {
    program: &'a Program,
    world: &'a mut dyn World,
    watch: &'a mut dyn Watch,
    limits: Limits,
    memory: Vec<Value>,
    steps: u64,
    calls: u64,
}

type Frame = Vec<Value>;
type Eval = Result<Value, Stop>;

impl<'a> Interp<'a> {
    fn eval(&mut self, e: ExprId, frame: &mut Frame) -> Eval {
        self.steps += 1;
        if self.steps > self.limits.steps {
            let (span, limit) = (self.program.span(e), self.limits.steps);
            return Err(Stop::Bound { span, what: "steps", limit });
        }
        self.watch.comes_to(e);
        stacker::maybe_grow(64 << 10, 1 << 20, || self.rule(e, frame))
    }

    /// One arm per rule.
    fn rule(&mut self, e: ExprId, frame: &mut Frame) -> Eval {
        let program = self.program;
        let span = program.span(e);
        Ok(match program.expr(e) {
            // SVar
            Expr::Var(at) => self.variable(*at, frame),
            // SVal
            Expr::Unit => Value::Unit,
            Expr::Int(n) => Value::Int(*n),
            Expr::Float(x) => Value::Float(*x),
            Expr::Bool(b) => Value::Bool(*b),
            Expr::Str(id) => Value::Str(program.string(*id).into()),
            Expr::Null => Value::Null,
            // SPlus, SEq, SAnd and their kin: both operands, then the operation.
            Expr::Binary(op, e1, e2) => {
                let v1 = self.eval(*e1, frame)?;
                let v2 = self.eval(*e2, frame)?;
                binary(*op, &v1, &v2, span)?
            }
            // SNot
            Expr::Not(e1) => match self.eval(*e1, frame)? {
                Value::Bool(b) => Value::Bool(!b),
                other => return Err(error(span, format!("`not` wants a bool, not {}", kind(&other)))),
            },
            Expr::Negate(e1) => match self.eval(*e1, frame)? {
                Value::Int(n) => {
                    Value::Int(arithmetic::negate(&Concrete, &bits(n)).to_u64().unwrap_or_default() as i64)
                }
                Value::Float(x) => Value::Float(-x),
                other => return Err(error(span, format!("`-` wants a number, not {}", kind(&other)))),
            },
            // SIf-True, SIf-False
            Expr::If(e1, e2, e3) => {
                if self.condition(*e1, frame)? {
                    self.eval(*e2, frame)?
                } else {
                    self.eval(*e3, frame)?
                }
            }
            // SRef
            Expr::Ref(e1) => {
                let v1 = self.eval(*e1, frame)?;
                self.allocate(v1)
            }
            // SAssign
            Expr::Assign(e1, e2) => {
                let target = self.eval(*e1, frame)?;
                let value = self.eval(*e2, frame)?;
                let Value::Loc(location) = target else {
                    return Err(error(span, format!("`:=` wants a reference, not {}", kind(&target))));
                };
                self.memory[location] = value.clone();
                value
            }
            // SDeref
            Expr::Deref(e1) => match self.eval(*e1, frame)? {
                Value::Loc(location) => self.memory[location].clone(),
                other => return Err(error(span, format!("`!` wants a reference, not {}", kind(&other)))),
            },
            // SSymBlock, STypBlock
            Expr::Block(kind, e1) => {
                self.watch.enter(*kind, e);
                let value = self.eval(*e1, frame)?;
                self.watch.leave(*kind, e, &value, &self.memory);
                value
            }
            Expr::SetVar(at, e1) => {
                let value = self.eval(*e1, frame)?;
                match (&frame[at.slot as usize], program.var(at.var).boxed) {
                    (&Value::Loc(location), true) => self.memory[location] = value,
                    _ => frame[at.slot as usize] = value,
                }
                Value::Unit
            }
            // SLet, and sequences
            Expr::Chain(items, last) => {
                for item in items {
                    match item {
                        Item::Let(at, e1) => frame[at.slot as usize] = self.eval(*e1, frame)?,
                        Item::Var(at, e1) => {
                            let value = self.eval(*e1, frame)?;
                            let boxed = program.var(at.var).boxed;
                            frame[at.slot as usize] = if boxed { self.allocate(value) } else { value };
                        }
                        Item::Do(e1) => {
                            self.eval(*e1, frame)?;
                        }
                    }
                }
                self.eval(*last, frame)?
            }
            Expr::While(e1, e2) => {
                while self.condition(*e1, frame)? {
                    self.eval(*e2, frame)?;
                }
                Value::Unit
            }
            Expr::Annotated(e1, ty) => {
                let value = self.eval(*e1, frame)?;
                ascribe(value, ty, span)?
            }
            Expr::Fun(fun) => {
                let captures = &program.fun(*fun).captures;
                let captured = captures.iter().map(|capture| frame[capture.from as usize].clone()).collect();
                Value::Closure(Rc::new(Closure { fun: *fun, captured }))
            }
            Expr::Apply(e1, e2) => {
                let function = self.eval(*e1, frame)?;
                let argument = self.eval(*e2, frame)?;
                self.apply(function, argument, span)?
            }
        })
    }

    fn variable(&self, at: Use, frame: &Frame) -> Value {
        match (&frame[at.slot as usize], self.program.var(at.var).boxed) {
            (&Value::Loc(location), true) => self.memory[location].clone(),
            (value, _) => value.clone(),
        }
    }

    fn allocate(&mut self, value: Value) -> Value {
        self.memory.push(value);
        self.watch.allocated(self.memory.len() - 1);
        Value::Loc(self.memory.len() - 1)
    }

    fn condition(&mut self, e: ExprId, frame: &mut Frame) -> Result<bool, Stop> {
        match self.eval(e, frame)? {
            Value::Bool(b) => Ok(b),
            other => Err(error(self.program.span(e), format!("a condition is a bool, not {}", kind(&other)))),
        }
    }

    fn apply(&mut self, function: Value, argument: Value, span: Span) -> Eval {
        match &function {
            Value::Closure(closure) => {
                if self.calls >= self.limits.calls {
                    return Err(Stop::Bound { span, what: "calls within calls", limit: self.limits.calls });
                }
                let fun = self.program.fun(closure.fun);
                let mut frame = vec![Value::Unit; fun.frame_size as usize];
                for (capture, value) in fun.captures.iter().zip(&closure.captured) {
                    frame[capture.to as usize] = value.clone();
                }
                if let Some(myself) = fun.myself {
                    frame[myself.slot as usize] = function.clone();
                }
                frame[fun.param.slot as usize] = match &fun.param_type {
                    Some(ty) => ascribe(argument, ty, span)?,
                    None => argument,
                };
                self.calls += 1;
                let result = self.eval(fun.body, &mut frame);
                self.calls -= 1;
                result
            }
            Value::Outside(outside) => {
                ascribe(argument, &outside.from, span)?;
                self.world.answer(outside, &mut self.memory).ok_or_else(|| Stop::Unanswered {
                    span,
                    message: "nothing says what this function answers".to_string(),
                })
            }
            other => Err(error(span, format!("only a function can be applied, not {}", kind(other)))),
        }
    }
}

fn error(span: Span, message: String) -> Stop {
    Stop::Error { span, message }
}

/// What kind of value it is, for messages.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Int(_) => "an int",
        Value::Float(_) => "a float",
        Value::Bool(_) => "a bool",
        Value::Str(_) => "a string",
        Value::Unit => "unit",
        Value::Loc(_) => "a reference",
        Value::Null => "null",
        Value::Closure(_) | Value::Outside(_) => "a function",
    }
}

/// Whether the outermost layer of a value fits a type. What a location holds now and what a function will answer
/// is not looked at: running programs cannot know.
pub fn fits(value: &Value, ty: &Type) -> bool {
    match (value, ty) {
        (Value::Int(n), Type::Int(sign)) => sign.holds(*n),
        (Value::Float(_), Type::Float)
        | (Value::Bool(_), Type::Bool)
        | (Value::Str(_), Type::Str)
        | (Value::Unit, Type::Unit)
        | (Value::Loc(_), Type::Ref(..))
        | (Value::Null, Type::Ref(Nullness::Null, _))
        | (Value::Closure(_) | Value::Outside(_), Type::Fun(..)) => true,
        _ => false,
    }
}

fn ascribe(value: Value, ty: &Type, span: Span) -> Eval {
    if fits(&value, ty) {
        return Ok(value);
    }
    let found = match &value {
        Value::Int(n) => n.to_string(),
        other => kind(other).to_string(),
    };
    Err(error(span, format!("{found} is no {ty}")))
}

fn binary(op: BinaryOp, v1: &Value, v2: &Value, span: Span) -> Eval {
    use BinaryOp::*;
    let stop = |message| Err(Stop::Trap { span, message });
    let outcome = match (v1, v2) {
        (Value::Int(a), Value::Int(b)) => arithmetic::integers(&Concrete, op, &bits(*a), &bits(*b)),
        (Value::Float(a), Value::Float(b)) => {
            arithmetic::floats(&Concrete, op, &float_bits(*a), &float_bits(*b))
        }
        _ => None,
    };
    let number = |value: &Bits| match v1 {
        Value::Float(_) => Value::Float(f64::from_bits(value.to_u64().unwrap_or_default())),
        _ => Value::Int(value.to_u64().unwrap_or_default() as i64),
    };
    Ok(match (outcome, op, v1, v2) {
        (Some(Outcome::Unless(true, _)), ..) => return stop("division by zero"),
        (Some(Outcome::Number(value) | Outcome::Unless(false, value)), ..) => number(&value),
        (Some(Outcome::Truth(truth)), ..) => Value::Bool(truth),
        (None, Pow, Value::Int(a), Value::Int(b)) => match u64::try_from(*b) {
            Ok(exponent) => number(&arithmetic::power(&Concrete, &bits(*a), exponent)),
            Err(_) => return stop("negative exponent"),
        },
        (None, Pow, Value::Float(a), Value::Float(b)) => Value::Float(a.powf(*b)),
        (None, And, Value::Bool(a), Value::Bool(b)) => Value::Bool(*a && *b),
        (None, Or, Value::Bool(a), Value::Bool(b)) => Value::Bool(*a || *b),
        (None, Eq, Value::Bool(a), Value::Bool(b)) => Value::Bool(a == b),
        (None, Eq, Value::Str(a), Value::Str(b)) => Value::Bool(a == b),
        (None, Eq, Value::Unit, Value::Unit) => Value::Bool(true),
        (None, Eq, Value::Loc(a), Value::Loc(b)) => Value::Bool(a == b),
        (None, Eq, Value::Null, Value::Null) => Value::Bool(true),
        (None, Eq, Value::Loc(_), Value::Null) | (None, Eq, Value::Null, Value::Loc(_)) => Value::Bool(false),
        _ => {
            let message = format!("`{op}` does not fit {} and {}", kind(v1), kind(v2));
            return Err(error(span, message));
        }
    })
}

fn bits(number: i64) -> Bits {
    Bits::new(WIDTH, u128::from(number as u64))
}

fn float_bits(number: f64) -> Bits {
    Bits::new(WIDTH, u128::from(number.to_bits()))
}

/// A float as the language writes it.
pub(crate) fn float(x: f64) -> String {
    match x {
        x if x.is_nan() => "0.0 / 0.0".to_string(),
        x if x.is_infinite() => format!("{:?} / 0.0", x.signum()),
        x => format!("{x:?}"),
    }
}

/// A string as the language writes it.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '"' | '\\' => quoted.extend(['\\', c]),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// A value as a reader of the language would write it; references show what they hold.
pub fn show(value: &Value, memory: &[Value]) -> String {
    fn at(value: &Value, memory: &[Value], depth: u32) -> String {
        match value {
            Value::Int(n) => n.to_string(),
            Value::Float(x) => format!("{x:?}"),
            Value::Bool(b) => b.to_string(),
            Value::Str(text) => quoted(text),
            Value::Unit => "()".to_string(),
            Value::Loc(_) if depth == 0 => "ref ...".to_string(),
            Value::Loc(location) => match &memory[*location] {
                inner @ Value::Loc(_) => format!("ref ({})", at(inner, memory, depth - 1)),
                inner => format!("ref {}", at(inner, memory, depth - 1)),
            },
            Value::Null => "null".to_string(),
            Value::Closure(_) | Value::Outside(_) => "<function>".to_string(),
        }
    }
    at(value, memory, 20)
}
