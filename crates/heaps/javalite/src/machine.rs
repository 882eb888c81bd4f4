//! The small-step machine: control, environment, stack, over any [`Memory`].
//!
//! One rule per form, in the order of the table in `docs/heap.md`. Forms that evaluate their parts from first to last
//! share one frame, `Operands`, which is the table's `[v ... □ e ...]`; `apply` then has one arm per form.

use crate::setup::class_of;
use crate::syntax::*;
use parallax_engines::engine::FAILED;
use parallax_engines::{
    Allocation, BoolOf, End, EndOf, IntOf, Machine, MachineState, Memory, Step, Stop, Urgency, Value, ValueOf,
};
use parallax_heap::elements;
use parallax_op::{BoolOp, RelOp};
use parallax_path::{Bound, Chain};
use parallax_sem::Core;
use parallax_source::Span;
use std::rc::Rc;

/// One outcome on a trace. Choices of initialisation (null, alias, new) are not outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// A dereferenced reference was an object, or null.
    NonNull(bool),
    /// Two references were the same, or not.
    Equal(bool),
    /// A condition held, or not.
    Branch(bool),
    /// A call went to this method.
    Dispatch(MethodId),
    /// An index was within bounds, or not.
    InBounds(bool),
    /// The length of a new array was fine, or negative.
    Length(bool),
    /// An assertion held, or not.
    Assert(bool),
    /// An assumption held, or not.
    Assume(bool),
}

/// An outcome and where in the text it came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Event {
    /// The expression.
    pub at: Span,
    /// What happened there.
    pub outcome: Outcome,
}

/// Why a path ended in `error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// A null reference was dereferenced.
    Null,
    /// An index was out of bounds.
    Bounds,
    /// An array of negative length was asked for.
    NegativeLength,
    /// An assertion failed.
    Assertion,
    /// The program said `error`.
    Explicit,
}

/// Which bound cut a path off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cut {
    /// A loop ran for more rounds than allowed.
    Loop,
    /// Calls nested deeper than allowed.
    Calls,
    /// An array was longer than allowed.
    Array,
}

/// How far a path may go.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Rounds of one activation of one loop.
    pub rounds: usize,
    /// Nesting of calls.
    pub calls: usize,
}

/// What to run: the precondition, if any, then the method.
#[derive(Clone, Debug)]
pub struct Task {
    /// The program.
    pub program: Rc<Program>,
    /// The class of `this`.
    pub class: ClassId,
    /// The method to run.
    pub method: MethodId,
    /// A method without parameters that must return true first.
    pub rep_ok: Option<MethodId>,
    /// Whether the precondition is one condition: its outcomes are no part of a trace, and an engine that can do so
    /// makes one state of all its paths.
    pub merged: bool,
    /// How far a path may go.
    pub bounds: Bounds,
    /// Rules of the drafts, planted to see them caught.
    pub drafts: MachineDrafts,
}

/// Wrong rules of the drafts that concern the machine rather than the heap. All off, except in the tests that plant
/// one and must see it caught.
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineDrafts {
    /// `var` binds a fresh object instead of the value (002, VAR).
    pub var_binds_fresh: bool,
    /// Leaving a `var` restores the whole environment, not one variable (both, POP).
    pub pop_restores_all: bool,
    /// The callee sees the caller's variables (both, call).
    pub callee_extends_caller: bool,
    /// A call looks a method up by name alone (both, call).
    pub lookup_ignores_class: bool,
    /// A call does not check its receiver for null (both, call).
    pub call_unchecked: bool,
    /// A field write looks at the written value instead of the base for null (002, FIELD WRITE).
    pub write_checks_value: bool,
}

type Env<M> = Vec<(Name, ValueOf<M>)>;

/// A frame of the stack, around the hole that the control's value will fill.
enum Frame<M: Memory> {
    /// `[v ... □ e ...]`: the form, and the values of its first parts.
    Operands(ExprId, Vec<ValueOf<M>>),
    /// `[if □ e e]`
    If(ExprId),
    /// `[var x □ e]`
    Let(ExprId),
    /// `[unbind x old]`
    Unbind(Name, Option<ValueOf<M>>, Option<Rc<Env<M>>>),
    /// `[begin □ e ...]`: the form, and how many parts are done after this one.
    Begin(ExprId, usize),
    /// `[while □ e]` and the rounds done.
    WhileTest(ExprId, usize),
    /// `[while e □]` and the rounds done.
    WhileBody(ExprId, usize),
    /// `[return □]`
    Return,
    /// `[ret E]`
    Ret(Rc<Env<M>>),
    /// Once the precondition has its value, the method itself.
    Enter,
}

#[derive(Clone)]
enum Control<M: Memory> {
    Expr(ExprId),
    Value(ValueOf<M>),
}

/// A machine state.
#[derive(Clone)]
pub struct State<M: Memory> {
    /// The heap.
    pub memory: M,
    /// The outcomes so far, newest first.
    pub trace: Chain<Event>,
    /// The result or where the run stands.
    control: Control<M>,
    env: Env<M>,
    stack: Chain<Frame<M>>,
    calls: usize,
}

impl<M: Memory> State<M> {
    /// The variables of the method it is in.
    pub fn environment(&self) -> &[(Name, ValueOf<M>)] {
        &self.env
    }

    /// The expression to evaluate next; none where a value is handed on.
    pub fn next(&self) -> Option<ExprId> {
        match self.control {
            Control::Expr(id) => Some(id),
            Control::Value(_) => None,
        }
    }

    /// How deep calls are nested.
    pub fn depth(&self) -> usize {
        self.calls
    }
}

impl<M: Memory> MachineState<M> for State<M> {
    type Language = Task;

    fn memory(&self) -> &M {
        &self.memory
    }

    fn into_memory(self) -> M {
        self.memory
    }

    fn events(&self) -> Vec<Event> {
        let mut events: Vec<Event> = self.trace.newest_first().copied().collect();
        events.reverse();
        events
    }

    fn roots(&self, task: &Task, end: &EndOf<Task, M>) -> Vec<(String, ValueOf<M>)> {
        let variables = self.env.iter();
        let mut roots: Vec<(String, ValueOf<M>)> =
            variables.map(|(name, value)| (task.program.name(*name).to_owned(), value.clone())).collect();
        roots.sort_by(|a, b| a.0.cmp(&b.0));
        match (end, &self.control) {
            (End::Value(value), _) => roots.push(("result".into(), value.clone())),
            (End::Error(Fault::Null, _), Control::Value(failed @ Value::Ref(_))) => {
                roots.push((FAILED.to_owned(), failed.clone()));
            }
            _ => {}
        }
        roots
    }

    /// A state with nothing left but its memory.
    fn ended(memory: M) -> Self {
        let rest = Rest { trace: Chain::default(), env: Vec::new(), stack: Chain::default(), calls: 0 };
        let value = Value::Bool(memory.bool(false));
        rest.with(memory, Control::Value(value))
    }

    fn urgency(&self) -> Urgency {
        Urgency::new(self.stack.len(), vec![usize::from(self.waits())])
    }

    /// Where it has a value to hand down.
    fn waits(&self) -> bool {
        matches!(self.control, Control::Value(_))
    }

    /// The value of the precondition, if this is where it ends.
    fn verdict(&self) -> Option<BoolOf<M>> {
        match (&self.control, self.stack.split_last()) {
            (Control::Value(Value::Bool(holds)), Some((Frame::Enter, _))) => Some(holds.clone()),
            _ => None,
        }
    }

    /// Whether two states have the same frames to hand a value down to, and nothing that tells them apart for certain.
    fn meets(&self, other: &Self) -> bool {
        let (Control::Value(a), Control::Value(b)) = (&self.control, &other.control) else { return false };
        let apart = |a: &ValueOf<M>, b: &ValueOf<M>| self.memory.apart(a, b);
        self.stack.same(&other.stack)
            && self.env.len() == other.env.len()
            && !apart(a, b)
            && self.env.iter().zip(&other.env).all(|(a, b)| a.0 == b.0 && !apart(&a.1, &b.1))
    }

    /// Two states that meet, as one.
    fn merged(self, other: Self) -> Result<Self, Stop> {
        let (Control::Value(a), Control::Value(b)) = (self.control, other.control) else {
            return broken("states that do not meet");
        };
        let names: Vec<Name> = self.env.iter().map(|(name, _)| *name).collect();
        let values = |env: Env<M>, control| env.into_iter().map(|(_, value)| value).chain([control]);
        let pairs: Vec<_> = values(self.env, a).zip(values(other.env, b)).collect();
        let (memory, mut values) = self.memory.merged(other.memory, &pairs)?;
        let Some(control) = values.pop() else { return broken("states without a value") };
        Ok(State {
            memory,
            trace: self.trace,
            control: Control::Value(control),
            env: names.into_iter().zip(values).collect(),
            stack: self.stack,
            calls: self.calls,
        })
    }
}

type Steps<M> = parallax_engines::Steps<Task, M>;

/// Everything of a state but its memory, which the operation that forks has taken.
struct Rest<M: Memory> {
    trace: Chain<Event>,
    env: Env<M>,
    stack: Chain<Frame<M>>,
    calls: usize,
}

impl<M: Memory> Rest<M> {
    fn with(&self, memory: M, control: Control<M>) -> State<M> {
        State {
            memory,
            trace: self.trace.clone(),
            control,
            env: self.env.clone(),
            stack: self.stack.clone(),
            calls: self.calls,
        }
    }

    fn saw(&self, at: Span, outcome: Outcome) -> Self {
        Rest {
            trace: self.trace.with(Event { at, outcome }),
            env: self.env.clone(),
            stack: self.stack.clone(),
            calls: self.calls,
        }
    }

    fn value(&self, memory: M, value: ValueOf<M>) -> Step<Task, M> {
        Step::On(self.with(memory, Control::Value(value)))
    }

    fn done(&self, memory: M, end: EndOf<Task, M>) -> Step<Task, M> {
        let value = Value::Bool(memory.bool(false));
        Step::Done(self.with(memory, Control::Value(value)), end)
    }
}

fn broken<T>(what: &str) -> Result<T, Stop> {
    Err(Stop::Broken(what.to_owned()))
}

impl Machine for Task {
    type Event = Event;
    type Fault = Fault;
    type Cut = Cut;
    type Place = Span;
    type State<M: Memory> = State<M>;

    fn start<M: Memory>(&self, memory: M) -> Steps<M> {
        let this = memory.this();
        let rest = Rest { trace: Chain::default(), env: Vec::new(), stack: Chain::default(), calls: 0 };
        match self.rep_ok {
            Some(method) => Ok(vec![Step::On(State {
                env: vec![(THIS, Value::Ref(this))],
                control: Control::Expr(self.program.method(method).body),
                stack: rest.stack.with(Frame::Enter).with(Frame::Ret(Rc::new(Vec::new()))),
                calls: 1,
                trace: rest.trace,
                memory,
            })]),
            None => self.enter(memory, &rest),
        }
    }

    fn entered<M: Memory>(&self, memory: M) -> Steps<M> {
        self.enter(
            memory,
            &Rest { trace: Chain::default(), env: Vec::new(), stack: Chain::default(), calls: 0 },
        )
    }

    fn step<M: Memory>(&self, state: State<M>) -> Steps<M> {
        let State { memory, trace, control, env, stack, calls } = state;
        let rest = Rest { trace, env, stack, calls };
        match control {
            Control::Expr(expr) => self.descend(expr, memory, rest),
            Control::Value(value) => self.plug(value, memory, rest),
        }
    }

    fn merges(&self) -> bool {
        self.merged && self.rep_ok.is_some()
    }

    fn unconditioned(&self) -> Self {
        Task { rep_ok: None, ..self.clone() }
    }

    fn bound(&self, cut: &Cut, array: usize) -> Bound {
        match cut {
            Cut::Loop => Bound::Loops(u32::try_from(self.bounds.rounds).unwrap_or(u32::MAX)),
            Cut::Calls => Bound::Values(self.bounds.calls as u64, "nested calls".into()),
            Cut::Array => elements(array),
        }
    }
}

impl Task {
    /// A method without a precondition.
    pub fn new(program: &Rc<Program>, class: ClassId, method: MethodId, bounds: Bounds) -> Task {
        let drafts = MachineDrafts::default();
        Task { program: program.clone(), class, method, rep_ok: None, merged: false, bounds, drafts }
    }

    /// A method by its name and that of its class; the precondition is the class's `repOK`, if it has one.
    pub fn named(program: &Rc<Program>, class: &str, method: &str, bounds: Bounds) -> Option<Task> {
        let class = program.class_named(class)?;
        let rep_ok = program.method_named(class, "repOK");
        Some(Task { rep_ok, ..Task::new(program, class, program.method_named(class, method)?, bounds) })
    }

    /// Reads the parameters, as fields of a root object are read, and starts the method.
    fn enter<M: Memory>(&self, memory: M, rest: &Rest<M>) -> Steps<M> {
        let method = self.program.method(self.method);
        let this = Value::Ref(memory.this());
        let mut starts = vec![(memory, vec![(THIS, this)])];
        for (index, (name, _)) in method.parameters.iter().enumerate() {
            let mut next = Vec::new();
            for (memory, env) in starts {
                for (memory, value) in memory.parameter(index)? {
                    let mut env: Env<M> = env.clone();
                    env.push((*name, value));
                    next.push((memory, env));
                }
            }
            starts = next;
        }
        Ok(starts
            .into_iter()
            .map(|(memory, env)| Step::On(State { env, ..rest.with(memory, Control::Expr(method.body)) }))
            .collect())
    }

    /// The control is an expression.
    fn descend<M: Memory>(&self, id: ExprId, memory: M, mut rest: Rest<M>) -> Steps<M> {
        let on = |rest: Rest<M>, memory: M, frame: Frame<M>, next: ExprId| {
            let stack = rest.stack.with(frame);
            Ok(vec![Step::On(State { stack, ..rest.with(memory, Control::Expr(next)) })])
        };
        let yields = |rest: Rest<M>, memory: M, value| Ok(vec![rest.value(memory, value)]);
        match self.program.expr(id) {
            Expr::Var(name) => {
                let value = lookup(&rest.env, *name)?.clone();
                yields(rest, memory, value)
            }
            Expr::Null => {
                let null = memory.null();
                yields(rest, memory, Value::Ref(null))
            }
            Expr::Bool(b) => {
                let b = memory.bool(*b);
                yields(rest, memory, Value::Bool(b))
            }
            Expr::Int(i) => {
                let i = memory.int(*i);
                yields(rest, memory, Value::Int(i))
            }
            Expr::Error => Ok(vec![rest.done(memory, End::Error(Fault::Explicit, self.program.span(id)))]),
            Expr::New(class) => {
                let mut memory = memory;
                let fresh = memory.new_object(class_of(*class));
                yields(rest, memory, Value::Ref(fresh))
            }
            Expr::If(condition, ..) => on(rest, memory, Frame::If(id), *condition),
            Expr::Let(_, value, _) => on(rest, memory, Frame::Let(id), *value),
            Expr::Begin(parts) => match parts.first() {
                Some(&first) => on(rest, memory, Frame::Begin(id, 1), first),
                None => {
                    let b = memory.bool(true);
                    yields(rest, memory, Value::Bool(b))
                }
            },
            Expr::While(condition, ..) => on(rest, memory, Frame::WhileTest(id, 0), *condition),
            Expr::Return(value) => on(rest, memory, Frame::Return, *value),
            Expr::Break => {
                while let Some((frame, below)) = rest.stack.split_last() {
                    let below = below.clone();
                    if let Frame::Unbind(name, old, all) = frame {
                        unbind(&mut rest.env, *name, old.clone(), all.as_deref());
                    }
                    let found = matches!(frame, Frame::WhileBody(..));
                    rest.stack = below;
                    if found {
                        let b = memory.bool(true);
                        return yields(rest, memory, Value::Bool(b));
                    }
                }
                broken("break outside a loop")
            }
            strict => match operand(strict, 0) {
                Some(first) => on(rest, memory, Frame::Operands(id, Vec::new()), first),
                None => broken("a form without a rule"),
            },
        }
    }

    /// The control is a value: plug it into the hole of the top frame.
    fn plug<M: Memory>(&self, value: ValueOf<M>, memory: M, mut rest: Rest<M>) -> Steps<M> {
        let stack = rest.stack.clone();
        let Some((frame, below)) = stack.split_last() else {
            let state = rest.with(memory, Control::Value(value.clone()));
            return Ok(vec![Step::Done(state, End::Value(value))]);
        };
        rest.stack = below.clone();
        let on = |rest: &Rest<M>, memory: M, frame: Frame<M>, next: ExprId| {
            let stack = rest.stack.with(frame);
            Step::On(State { stack, ..rest.with(memory, Control::Expr(next)) })
        };
        let program = &self.program;
        match frame {
            Frame::Operands(id, done) => {
                let mut done = done.clone();
                done.push(value);
                match operand(program.expr(*id), done.len()) {
                    Some(next) => Ok(vec![on(&rest, memory, Frame::Operands(*id, done), next)]),
                    None => self.apply(*id, done, memory, rest),
                }
            }
            Frame::If(id) => {
                let &Expr::If(_, then, other, new) = program.expr(*id) else { return broken("frame of if") };
                self.fork(memory, &value, *id, new, &rest, |rest, memory, holds| {
                    Step::On(rest.with(memory, Control::Expr(if holds { then } else { other })))
                })
            }
            Frame::Let(id) => {
                let &Expr::Let(name, _, body) = program.expr(*id) else { return broken("frame of var") };
                let mut memory = memory;
                let old = rest.env.iter().find(|(bound, _)| *bound == name).map(|(_, value)| value.clone());
                let all = self.drafts.pop_restores_all.then(|| Rc::new(rest.env.clone()));
                let value = match value {
                    Value::Ref(_) if self.drafts.var_binds_fresh => {
                        Value::Ref(memory.new_object(class_of(self.class)))
                    }
                    value => value,
                };
                bind(&mut rest.env, name, value);
                Ok(vec![on(&rest, memory, Frame::Unbind(name, old, all), body)])
            }
            Frame::Unbind(name, old, all) => {
                unbind(&mut rest.env, *name, old.clone(), all.as_deref());
                Ok(vec![rest.value(memory, value)])
            }
            Frame::Begin(id, next) => {
                let Expr::Begin(parts) = program.expr(*id) else { return broken("frame of begin") };
                Ok(vec![match parts.get(*next) {
                    Some(&part) => on(&rest, memory, Frame::Begin(*id, next + 1), part),
                    None => rest.value(memory, value),
                }])
            }
            &Frame::WhileTest(id, rounds) => {
                let &Expr::While(_, body, new) = program.expr(id) else { return broken("frame of while") };
                let span = program.span(id);
                self.fork(memory, &value, id, new, &rest, |rest, memory, holds| {
                    if !holds {
                        let b = memory.bool(true);
                        rest.value(memory, Value::Bool(b))
                    } else if rounds >= self.bounds.rounds {
                        rest.done(memory, End::Cut(Cut::Loop, span))
                    } else {
                        on(rest, memory, Frame::WhileBody(id, rounds), body)
                    }
                })
            }
            &Frame::WhileBody(id, rounds) => {
                let &Expr::While(condition, ..) = program.expr(id) else { return broken("frame of while") };
                Ok(vec![on(&rest, memory, Frame::WhileTest(id, rounds + 1), condition)])
            }
            Frame::Return => {
                while let Some((frame, below)) = rest.stack.split_last() {
                    if matches!(frame, Frame::Ret(_)) {
                        return Ok(vec![rest.value(memory, value)]);
                    }
                    rest.stack = below.clone();
                }
                // The method the run started with: nothing is left to do.
                Ok(vec![rest.value(memory, value)])
            }
            Frame::Ret(env) => {
                rest.env = env.as_ref().clone();
                rest.calls -= 1;
                Ok(vec![rest.value(memory, value)])
            }
            Frame::Enter => {
                let Value::Bool(holds) = value else { return broken("a precondition is a Boolean") };
                let mut steps = Vec::new();
                for (memory, holds) in memory.branch(&holds)? {
                    if holds {
                        steps.extend(self.enter(memory, &rest)?);
                    } else {
                        steps.push(rest.done(memory, End::Discarded));
                    }
                }
                Ok(steps)
            }
        }
    }

    /// Every way a condition may go; an outcome unless computing it was one.
    fn fork<M: Memory>(
        &self,
        memory: M,
        condition: &ValueOf<M>,
        id: ExprId,
        new: bool,
        rest: &Rest<M>,
        then: impl Fn(&Rest<M>, M, bool) -> Step<Task, M>,
    ) -> Steps<M> {
        let Value::Bool(condition) = condition else { return broken("a condition is a Boolean") };
        let at = self.program.span(id);
        Ok(memory
            .branch(condition)?
            .into_iter()
            .map(|(memory, holds)| {
                if new {
                    then(&rest.saw(at, Outcome::Branch(holds)), memory, holds)
                } else {
                    then(rest, memory, holds)
                }
            })
            .collect())
    }

    /// Every part of a strict form has its value.
    fn apply<M: Memory>(
        &self,
        id: ExprId,
        values: Vec<ValueOf<M>>,
        memory: M,
        mut rest: Rest<M>,
    ) -> Steps<M> {
        use Value::{Bool, Int, Ref};
        let at = self.program.span(id);
        let expr = self.program.expr(id);
        match (expr, values.as_slice()) {
            (Expr::Assign(name, _), [value]) => {
                bind(&mut rest.env, *name, value.clone());
                Ok(vec![rest.value(memory, value.clone())])
            }
            (Expr::Not(_), [Bool(a)]) => {
                let value = Bool(memory.core().not(a));
                Ok(vec![rest.value(memory, value)])
            }
            (Expr::Iff(..), [Bool(a), Bool(b)]) => {
                let value = Bool(memory.core().boolop(BoolOp::Iff, a, b));
                Ok(vec![rest.value(memory, value)])
            }
            (Expr::Arith(op, ..), [Int(a), Int(b)]) => {
                let value = Int(memory.core().binop(op.meaning(), 32, a, b));
                Ok(vec![rest.value(memory, value)])
            }
            (Expr::Compare(op, ..), [Int(a), Int(b)]) => {
                let value = Bool(memory.core().relop(op.meaning(), 32, a, b));
                Ok(vec![rest.value(memory, value)])
            }
            (Expr::Equal(..), [Ref(a), Ref(b)]) => Ok(memory
                .equal(a, b)?
                .into_iter()
                .map(|(memory, same)| {
                    let value = Bool(memory.bool(same));
                    rest.saw(at, Outcome::Equal(same)).value(memory, value)
                })
                .collect()),
            (Expr::Get(base, field), [Ref(r)]) => self
                .object(memory, r, *base, &rest, at, |rest, memory| values_of(rest, memory.read(r, *field)?)),
            (Expr::Set(name, field, _), [value]) => {
                let Ref(base) = lookup(&rest.env, *name)?.clone() else { return broken("base of a write") };
                let checked = match value {
                    Ref(value) if self.drafts.write_checks_value => value.clone(),
                    _ => base.clone(),
                };
                let known = *name == THIS;
                self.checked(memory, &checked, known, &rest, at, |rest, mut memory| {
                    memory.write(&base, *field, value)?;
                    Ok(vec![rest.value(memory, value.clone())])
                })
            }
            (Expr::Call(receiver, name, _), [Ref(r), arguments @ ..]) => {
                if rest.calls >= self.bounds.calls {
                    return Ok(vec![rest.done(memory, End::Cut(Cut::Calls, at))]);
                }
                let call = |rest: &Rest<M>, memory| self.call(memory, r, *name, arguments, rest, at);
                if self.drafts.call_unchecked {
                    return call(&rest, memory);
                }
                self.object(memory, r, *receiver, &rest, at, call)
            }
            (Expr::Assert(_), [Bool(b)]) => Ok(memory
                .branch(b)?
                .into_iter()
                .map(|(memory, holds)| {
                    let rest = rest.saw(at, Outcome::Assert(holds));
                    let value = Bool(memory.bool(true));
                    match holds {
                        true => rest.value(memory, value),
                        false => rest.done(memory, End::Error(Fault::Assertion, at)),
                    }
                })
                .collect()),
            (Expr::Assume(_), [Bool(b)]) => Ok(memory
                .branch(b)?
                .into_iter()
                .map(|(memory, holds)| {
                    let rest = rest.saw(at, Outcome::Assume(holds));
                    let value = Bool(memory.bool(true));
                    match holds {
                        true => rest.value(memory, value),
                        false => rest.done(memory, End::Discarded),
                    }
                })
                .collect()),
            (Expr::NewArray(class, _), [Int(length)]) => Ok(memory
                .new_array(class_of(*class), length)?
                .into_iter()
                .map(|(memory, allocation)| match allocation {
                    Allocation::Made(array) => rest.saw(at, Outcome::Length(true)).value(memory, Ref(array)),
                    Allocation::Negative => rest
                        .saw(at, Outcome::Length(false))
                        .done(memory, End::Error(Fault::NegativeLength, at)),
                    Allocation::TooLong => {
                        rest.saw(at, Outcome::Length(true)).done(memory, End::Cut(Cut::Array, at))
                    }
                })
                .collect()),
            (Expr::Length(array), [Ref(r)]) => self.object(memory, r, *array, &rest, at, |rest, memory| {
                let length = Int(memory.length(r)?);
                Ok(vec![rest.value(memory, length)])
            }),
            (Expr::At(array, _), [Ref(r), Int(index)]) => {
                self.object(memory, r, *array, &rest, at, |rest, memory| {
                    self.indexed(memory, r, index, rest, at, |rest, memory| {
                        values_of(rest, memory.element(r, index)?)
                    })
                })
            }
            (Expr::Put(array, ..), [Ref(r), Int(index), value]) => {
                self.object(memory, r, *array, &rest, at, |rest, memory| {
                    self.indexed(memory, r, index, rest, at, |rest, memory| {
                        let next = memory.set_element(r, index, value)?;
                        Ok(next.into_iter().map(|memory| rest.value(memory, value.clone())).collect())
                    })
                })
            }
            _ => broken("a form without a rule"),
        }
    }

    /// NULLCHECK, unless the expression is `this`, which is never null.
    fn object<M: Memory>(
        &self,
        memory: M,
        reference: &M::Ref,
        from: ExprId,
        rest: &Rest<M>,
        at: Span,
        then: impl Fn(&Rest<M>, M) -> Steps<M>,
    ) -> Steps<M> {
        let known = matches!(self.program.expr(from), Expr::Var(THIS));
        self.checked(memory, reference, known, rest, at, then)
    }

    fn checked<M: Memory>(
        &self,
        memory: M,
        reference: &M::Ref,
        known: bool,
        rest: &Rest<M>,
        at: Span,
        then: impl Fn(&Rest<M>, M) -> Steps<M>,
    ) -> Steps<M> {
        if known {
            return then(rest, memory);
        }
        let mut steps = Vec::new();
        for (memory, object) in memory.null_check(reference)? {
            let rest = rest.saw(at, Outcome::NonNull(object));
            if object {
                steps.extend(then(&rest, memory)?);
            } else {
                // The machine stops with the reference that failed in its hand.
                let failed = Control::Value(Value::Ref(reference.clone()));
                steps.push(Step::Done(rest.with(memory, failed), End::Error(Fault::Null, at)));
            }
        }
        Ok(steps)
    }

    /// `0 <= index < length`, as one outcome.
    fn indexed<M: Memory>(
        &self,
        memory: M,
        array: &M::Ref,
        index: &IntOf<M>,
        rest: &Rest<M>,
        at: Span,
        then: impl Fn(&Rest<M>, M) -> Steps<M>,
    ) -> Steps<M> {
        let length = memory.length(array)?;
        let inside = memory.core().relop(RelOp::Ult, 32, index, &length);
        let mut steps = Vec::new();
        for (memory, inside) in memory.branch(&inside)? {
            let rest = rest.saw(at, Outcome::InBounds(inside));
            if inside {
                steps.extend(then(&rest, memory)?);
            } else {
                steps.push(rest.done(memory, End::Error(Fault::Bounds, at)));
            }
        }
        Ok(steps)
    }

    fn call<M: Memory>(
        &self,
        memory: M,
        receiver: &M::Ref,
        name: Name,
        arguments: &[ValueOf<M>],
        rest: &Rest<M>,
        at: Span,
    ) -> Steps<M> {
        let program = &self.program;
        let first =
            (0..program.methods.len() as u32).map(MethodId).find(|&id| program.method(id).name == name);
        let targets = match first {
            Some(first) if self.drafts.lookup_ignores_class => vec![(memory, (first, receiver.clone()))],
            _ => {
                let means = |class: parallax_heap::ClassId| {
                    program.class(ClassId(class.0)).methods.get(&name).copied()
                };
                let forks = memory.partition(receiver, means)?;
                let found = forks.into_iter().map(|(memory, (target, this))| match target {
                    Some(target) => Ok((memory, (target, this))),
                    None => broken("no such method"),
                });
                found.collect::<Result<Vec<_>, Stop>>()?
            }
        };
        let polymorphic = program.methods.iter().filter(|method| method.name == name).count() > 1;
        Ok(targets
            .into_iter()
            .map(|(memory, (target, this))| {
                let method = program.method(target);
                let mut env: Env<M> =
                    if self.drafts.callee_extends_caller { rest.env.clone() } else { Vec::new() };
                bind(&mut env, THIS, Value::Ref(this));
                for ((name, _), value) in method.parameters.iter().zip(arguments) {
                    bind(&mut env, *name, value.clone());
                }
                let seen = if polymorphic { Some(rest.saw(at, Outcome::Dispatch(target))) } else { None };
                let rest = seen.as_ref().unwrap_or(rest);
                let stack = rest.stack.with(Frame::Ret(Rc::new(rest.env.clone())));
                Step::On(State {
                    env,
                    stack,
                    calls: rest.calls + 1,
                    ..rest.with(memory, Control::Expr(method.body))
                })
            })
            .collect())
    }
}

fn values_of<M: Memory>(rest: &Rest<M>, forks: Vec<(M, ValueOf<M>)>) -> Steps<M> {
    Ok(forks.into_iter().map(|(memory, value)| rest.value(memory, value)).collect())
}

/// The part of a strict form to evaluate after `done` others.
fn operand(expr: &Expr, done: usize) -> Option<ExprId> {
    let two = |a: &ExprId, b: &ExprId| [*a, *b].get(done).copied();
    match expr {
        Expr::Get(e, _)
        | Expr::Set(_, _, e)
        | Expr::Assign(_, e)
        | Expr::NewArray(_, e)
        | Expr::Assert(e)
        | Expr::Assume(e)
        | Expr::Not(e)
        | Expr::Length(e) => (done == 0).then_some(*e),
        Expr::Equal(a, b)
        | Expr::Iff(a, b)
        | Expr::Arith(_, a, b)
        | Expr::Compare(_, a, b)
        | Expr::At(a, b) => two(a, b),
        Expr::Put(a, b, c) => [*a, *b, *c].get(done).copied(),
        Expr::Call(receiver, _, arguments) => {
            if done == 0 {
                Some(*receiver)
            } else {
                arguments.get(done - 1).copied()
            }
        }
        _ => None,
    }
}

fn lookup<V>(env: &[(Name, V)], name: Name) -> Result<&V, Stop> {
    match env.iter().find(|(bound, _)| *bound == name) {
        Some((_, value)) => Ok(value),
        None => broken("an unbound variable"),
    }
}

fn bind<V>(env: &mut Vec<(Name, V)>, name: Name, value: V) {
    match env.iter_mut().find(|(bound, _)| *bound == name) {
        Some((_, slot)) => *slot = value,
        None => env.push((name, value)),
    }
}

/// Restores only `name`: assignments to other variables stay.
fn unbind<V: Clone>(env: &mut Vec<(Name, V)>, name: Name, old: Option<V>, all: Option<&Vec<(Name, V)>>) {
    match (all, old) {
        (Some(all), _) => *env = all.clone(),
        (None, Some(old)) => bind(env, name, old),
        (None, None) => env.retain(|(bound, _)| *bound != name),
    }
}
