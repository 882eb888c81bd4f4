//! A run of a method, over any memory: where it starts, how frames come and go, where it ends.
//!
//! One step of the [`Machine`] runs instructions until something forks, a value is handed down to other frames, or a
//! thousand have run. The instructions stand in `exec`, calls and exceptions in `invoke`, the library in `library`.

use crate::code::Kind;
use crate::program::{LinkError, Method, Program};
use crate::read::flags;
use crate::state::{Control, Event, Frame, Outcome, Place, Slot, Split, State, Status, Then};
use crate::types::{Type, dotted};
use parallax_engines::{End, Machine, MachineState, Memory, Step, Steps, Stop, Value, ValueOf};
use parallax_heap::{ClassId, Sharing, elements};
use parallax_path::Bound;
use std::rc::Rc;

/// So many instructions make a step at most.
const STRIDE: usize = 1000;

/// How far a path may go.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How many rounds a loop may run from its beginning; 0 for any number.
    pub rounds: usize,
    /// How deep calls may nest.
    pub calls: usize,
    /// How many instructions a path may have.
    pub steps: u64,
}

/// Which bound cut a path off, or what is not modelled.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    /// A loop ran for more rounds than allowed.
    Loop,
    /// Calls nested deeper than allowed.
    Calls,
    /// An array was longer than allowed.
    Array,
    /// More instructions than allowed.
    Steps,
    /// Something that the machine does not have.
    Gap(String),
}

/// What to run.
#[derive(Clone)]
pub struct Task {
    /// The program.
    pub program: Rc<Program>,
    /// The method.
    pub method: Rc<Method>,
    /// A method without parameters that must return true of the same object first.
    pub rep_ok: Option<Rc<Method>>,
    /// Whether the precondition counts as one condition.
    pub merged: bool,
    /// How far a path may go.
    pub bounds: Bounds,
    /// Whether `assert` of the program's own classes is on.
    pub assertions: bool,
    /// Whether inputs are unknown: what cannot be had of unknown values then is a gap, and no matter otherwise.
    pub symbolic: bool,
    /// Whether outcomes are recorded.
    pub traced: bool,
    /// Parameters that are not null.
    pub non_null: bool,
}

/// An uncaught exception, by the name of its class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uncaught {
    /// `java.lang.NullPointerException`
    pub class: String,
}

/// Why an instruction could not be done.
#[derive(Debug)]
pub enum Trouble {
    /// The run as a whole cannot go on.
    Stop(Stop),
    /// This path cannot.
    Cut(Cut),
}

impl From<Stop> for Trouble {
    fn from(stop: Stop) -> Self {
        Trouble::Stop(stop)
    }
}

impl From<LinkError> for Trouble {
    fn from(error: LinkError) -> Self {
        Trouble::Cut(Cut::Gap(error.to_string()))
    }
}

/// Something that is not modelled.
pub fn gap<T>(what: impl Into<String>) -> Result<T, Trouble> {
    Err(Trouble::Cut(Cut::Gap(what.into())))
}

/// Code that no verifier lets pass.
pub fn unverifiable<T>(what: &str) -> Result<T, Trouble> {
    gap(format!("bytecode that does not verify: {what}"))
}

/// What came of an instruction.
pub enum Done<M: Memory> {
    /// The state goes on.
    Next,
    /// These came of it.
    Forks(Vec<Step<Task, M>>),
}

/// The answer of whatever runs in a state.
pub type Answer<M> = Result<Done<M>, Trouble>;

impl Task {
    /// Where a state is.
    pub fn place<M: Memory>(&self, state: &State<M>) -> Place {
        match &state.frame {
            Some(frame) => {
                Place { class: frame.method.class, method: frame.method.index, at: frame.at as u32 }
            }
            None => Place { class: self.method.class, method: self.method.index, at: 0 },
        }
    }

    /// Records an outcome. What class initialisers do is the same on every path.
    pub fn saw<M: Memory>(&self, state: &mut State<M>, outcome: Outcome) {
        if self.traced && state.initialising == 0 && state.quiet == 0 {
            let at = self.place(state);
            state.trace.push(Event { at, outcome });
        }
    }

    /// Goes on with every successor of a fork.
    pub fn each<M: Memory, T>(
        &self,
        state: &mut State<M>,
        split: Split<M, T>,
        then: impl Fn(&mut State<M>, T) -> Answer<M>,
    ) -> Answer<M> {
        match split {
            Split::One(answer) => then(state, answer),
            Split::Many(states) => {
                let mut steps = Vec::new();
                for (mut state, answer) in states {
                    match then(&mut state, answer) {
                        Ok(Done::Next) => steps.push(Step::On(state)),
                        Ok(Done::Forks(more)) => steps.extend(more),
                        Err(trouble) => steps.push(self.troubled(state, trouble)?),
                    }
                }
                Ok(Done::Forks(steps))
            }
        }
    }

    fn troubled<M: Memory>(&self, state: State<M>, trouble: Trouble) -> Result<Step<Task, M>, Stop> {
        match trouble {
            Trouble::Stop(stop) => Err(stop),
            Trouble::Cut(cut) => {
                let at = self.place(&state);
                Ok(Step::Done(state, End::Cut(cut, at)))
            }
        }
    }

    /// The heap learns of classes that were loaded meanwhile.
    pub fn inform<M: Memory>(&self, state: &mut State<M>) -> Result<(), Stop> {
        let known = self.program.known();
        if state.known != known {
            state.known = known;
            let universe = self.program.universe();
            state.memory_mut()?.know(&universe);
        }
        Ok(())
    }

    /// Starts a method in a frame of its own.
    pub fn push_frame<M: Memory>(
        &self,
        state: &mut State<M>,
        method: Rc<Method>,
        arguments: Vec<Slot<M>>,
        then: Then<M>,
    ) -> Result<(), Trouble> {
        let Some(code) = &method.code else {
            return gap(format!("not modelled: native {}", self.program.method_name(&method)));
        };
        let mut locals = Vec::with_capacity(code.locals);
        for slot in arguments {
            let wide = slot.is_wide();
            locals.push(slot);
            if wide {
                locals.push(Slot::Empty);
            }
        }
        if locals.len() > code.locals {
            return unverifiable("more arguments than variables");
        }
        locals.resize_with(code.locals, || Slot::Empty);
        // How deep a text is built is no matter of the program's.
        if state.callers.len() >= self.bounds.calls && state.quiet == 0 && !matches!(then, Then::Quiet) {
            return Err(Trouble::Cut(Cut::Calls));
        }
        if method.flags & flags::SYNCHRONIZED != 0 {
            let held = match locals.first() {
                Some(Slot::Ref(this)) if !method.is_static() => this.clone(),
                _ => self.mirror(state, &self.program.class(method.class).name.clone())?,
            };
            state.monitors.push(held);
        }
        if let Some(frame) = state.frame.take() {
            state.callers.push(frame);
        }
        match then {
            Then::Initialised(_) => state.initialising += 1,
            Then::Quiet => state.quiet += 1,
            _ => {}
        }
        let initialises = matches!(then, Then::Initialised(_));
        state.frame =
            Some(Frame { method, at: 0, next: 0, locals, stack: Vec::new(), then, rounds: Vec::new() });
        if initialises {
            self.share(state);
        }
        Ok(())
    }

    /// What the class initialiser that runs makes was there before the inputs were. Arrays that the library makes for itself
    /// are nobody's input, unless a method of the library is explored.
    fn share<M: Memory>(&self, state: &mut State<M>) {
        let frames = state.frame.iter().chain(state.callers.newest_first());
        let class = frames.filter_map(|frame| match frame.then {
            Then::Initialised(class) => Some(class),
            _ => None,
        });
        let sharing = match class.map(|class| self.program.class(class)).next() {
            None => Sharing::Nothing,
            Some(class) if class.own || class.id == self.method.class => Sharing::Everything,
            Some(_) => Sharing::Objects,
        };
        if let Some(memory) = state.memory_if_any() {
            memory.share(sharing);
        }
    }

    /// Leaves the frame that runs and gives what was to happen then.
    pub fn pop_frame<M: Memory>(&self, state: &mut State<M>) -> Option<Then<M>> {
        let left = state.frame.take()?;
        if let Some((caller, below)) = state.callers.split_last() {
            let (caller, below) = (caller.clone(), below.clone());
            state.frame = Some(caller);
            state.callers = below;
        }
        if left.method.flags & flags::SYNCHRONIZED != 0 {
            state.leave_monitor();
        }
        match left.then {
            Then::Initialised(_) => {
                state.initialising -= 1;
                self.share(state);
            }
            Then::Quiet => state.quiet -= 1,
            _ => {}
        }
        Some(left.then)
    }

    /// A value has come to the end of its frame.
    fn returned<M: Memory>(&self, state: &mut State<M>, value: Option<Slot<M>>) -> Answer<M> {
        state.control = Control::Run;
        match self.pop_frame(state) {
            Some(Then::Give | Then::Quiet) => {
                if let (Some(frame), Some(value)) = (&mut state.frame, value) {
                    frame.stack.push(value);
                }
                Ok(Done::Next)
            }
            Some(Then::Initialised(class)) => {
                if let Some(entry) = Rc::make_mut(&mut state.globals).statics.get_mut(&class) {
                    entry.0 = Status::Done;
                }
                Ok(Done::Next)
            }
            Some(Then::Throw(exception)) => {
                state.control = Control::Throw(exception);
                Ok(Done::Next)
            }
            Some(Then::Enter) => {
                let Some(Slot::Bool(holds)) = value else { return unverifiable("a precondition") };
                let split = state.split(|memory| memory.branch(&holds))?;
                self.each(state, split, |state, holds| match holds {
                    true => self.enter(state),
                    false => {
                        let ended = state.about_to(Control::Run);
                        Ok(Done::Forks(vec![Step::Done(ended, End::Discarded)]))
                    }
                })
            }
            Some(Then::End) | None => {
                let value = value.as_ref().and_then(Slot::value);
                let value = match value {
                    Some(value) => value,
                    // `void`
                    None => Value::Bool(state.memory()?.bool(true)),
                };
                let ended = state.about_to(Control::Return(None));
                Ok(Done::Forks(vec![Step::Done(ended, End::Value(value))]))
            }
        }
    }

    /// Reads the parameters that the method reads, as fields of a root object are read, and starts it.
    fn enter<M: Memory>(&self, state: &mut State<M>) -> Answer<M> {
        let method = self.method.clone();
        let mut arguments = Vec::new();
        if !method.is_static() {
            arguments.push(Slot::Ref(state.memory()?.this()));
        }
        self.read_parameter(state, 0, arguments)
    }

    fn read_parameter<M: Memory>(
        &self,
        state: &mut State<M>,
        index: usize,
        arguments: Vec<Slot<M>>,
    ) -> Answer<M> {
        let Some(ty) = self.method.signature.parameters.get(index) else {
            self.push_frame(state, self.method.clone(), arguments, Then::End)?;
            return Ok(Done::Next);
        };
        if matches!(ty, Type::Ref(_)) && !self.non_null && !self.method.reads_parameter(index) {
            // Nothing depends on which object it is; to look would be to leave some out.
            let mut arguments = arguments;
            arguments.push(Slot::Ref(state.memory()?.null()));
            return self.read_parameter(state, index + 1, arguments);
        }
        let split = state.split(|memory| memory.parameter(index))?;
        self.each(state, split, |state, value| {
            let slot = self.slot(state.memory()?, ty, value)?;
            let mut arguments = arguments.clone();
            arguments.push(slot.clone());
            match slot {
                Slot::Ref(reference) if self.non_null => {
                    let split = state.split(|memory| memory.null_check(&reference))?;
                    self.each(state, split, |state, object| match object {
                        true => self.read_parameter(state, index + 1, arguments.clone()),
                        false => Ok(Done::Forks(vec![Step::Done(state.clone(), End::Discarded)])),
                    })
                }
                _ => self.read_parameter(state, index + 1, arguments),
            }
        })
    }

    /// One instruction, or what comes of a value or an exception at the end of a frame.
    pub(crate) fn once<M: Memory>(&self, state: &mut State<M>) -> Answer<M> {
        self.inform(state)?;
        match std::mem::replace(&mut state.control, Control::Run) {
            Control::Return(value) => self.returned(state, value),
            Control::Throw(exception) => self.thrown(state, exception),
            Control::Run => {
                state.steps += 1;
                if state.steps > self.bounds.steps {
                    return Err(Trouble::Cut(Cut::Steps));
                }
                self.instruction(state)
            }
        }
    }

    /// Runs until something forks or ends.
    fn advance<M: Memory>(&self, state: &mut State<M>) -> Answer<M> {
        for _ in 0..STRIDE {
            if let Done::Forks(steps) = self.once(state)? {
                return Ok(Done::Forks(steps));
            }
            // Others may come to hand a value to the same frames, or to the same place: a step of its own.
            if matches!(state.control, Control::Return(_)) && self.symbolic
                || self.merges() && MachineState::waits(state)
            {
                return Ok(Done::Next);
            }
        }
        Ok(Done::Next)
    }

    pub(crate) fn begin<M: Memory>(
        &self,
        mut state: State<M>,
        method: Option<&Rc<Method>>,
    ) -> Steps<Self, M> {
        let started = (|| {
            self.inform(&mut state)?;
            let done = match method {
                None => self.enter(&mut state)?,
                Some(rep_ok) => {
                    let arguments = match rep_ok.is_static() {
                        true => Vec::new(),
                        false => vec![Slot::Ref(state.memory()?.this())],
                    };
                    let rep_ok = self.of_this(state.memory()?, rep_ok);
                    self.push_frame(&mut state, rep_ok, arguments, Then::Enter)?;
                    Done::Next
                }
            };
            // The class is initialised before anything of it runs.
            match done {
                Done::Next => {
                    self.initialise(&mut state, self.method.class)?;
                    Ok(Done::Next)
                }
                Done::Forks(steps) => {
                    let mut begun = Vec::new();
                    for step in steps {
                        begun.push(match step {
                            Step::On(mut state) => {
                                self.initialise(&mut state, self.method.class)?;
                                Step::On(state)
                            }
                            ended => ended,
                        });
                    }
                    Ok(Done::Forks(begun))
                }
            }
        })();
        self.steps(state, started)
    }

    /// The method that a call of `method` on `this` runs.
    fn of_this<M: Memory>(&self, memory: &M, method: &Rc<Method>) -> Rc<Method> {
        let fixed = method.flags & (flags::STATIC | flags::PRIVATE) != 0;
        let class = memory.classes(&memory.this()).first().copied().filter(|_| !fixed);
        let found = class.and_then(|class| self.program.method(class, &method.name, &method.descriptor));
        found.filter(|found| found.code.is_some()).unwrap_or_else(|| method.clone())
    }

    pub(crate) fn steps<M: Memory>(&self, state: State<M>, answer: Answer<M>) -> Steps<Self, M> {
        match answer {
            Ok(Done::Next) => Ok(vec![Step::On(state)]),
            Ok(Done::Forks(steps)) => Ok(steps),
            Err(trouble) => Ok(vec![self.troubled(state, trouble)?]),
        }
    }

    /// A value of a memory as a slot of a type.
    pub fn slot<M: Memory>(&self, memory: &M, ty: &Type, value: ValueOf<M>) -> Result<Slot<M>, Trouble> {
        use parallax_sem::Core;
        let core = memory.core();
        Ok(match (ty, value) {
            (Type::Boolean, Value::Bool(value)) => Slot::Bool(value),
            (Type::Byte, Value::Int(value)) => Slot::Int(core.sext(8, 32, &value)),
            (Type::Char, Value::Int(value)) => Slot::Int(core.zext(16, 32, &value)),
            (Type::Short, Value::Int(value)) => Slot::Int(core.sext(16, 32, &value)),
            (Type::Int, Value::Int(value)) => Slot::Int(value),
            (Type::Long, Value::Int(value)) => Slot::Long(value),
            (Type::Float, Value::Int(value)) => Slot::Float(value),
            (Type::Double, Value::Int(value)) => Slot::Double(value),
            (Type::Ref(_), Value::Ref(value)) => Slot::Ref(value),
            _ => return unverifiable("a field of another kind"),
        })
    }

    /// A slot as a value of a type.
    pub fn value<M: Memory>(&self, memory: &M, ty: &Type, slot: Slot<M>) -> Result<ValueOf<M>, Trouble> {
        use parallax_op::{BinOp, RelOp};
        use parallax_sem::Core;
        let core = memory.core();
        Ok(match (ty, slot) {
            (Type::Boolean, Slot::Bool(value)) => Value::Bool(value),
            (Type::Boolean, Slot::Int(value)) => {
                let bit = core.binop(BinOp::And, 32, &value, &memory.int(1));
                Value::Bool(core.relop(RelOp::Ne, 32, &bit, &memory.int(0)))
            }
            (ty, Slot::Bool(value))
                if !matches!(ty, Type::Ref(_) | Type::Long | Type::Float | Type::Double) =>
            {
                Value::Int(core.bool_to_val(ty.width(), &value))
            }
            (Type::Byte, Slot::Int(value)) => Value::Int(core.extract(32, 0, 8, &value)),
            (Type::Char | Type::Short, Slot::Int(value)) => Value::Int(core.extract(32, 0, 16, &value)),
            (Type::Int, Slot::Int(value)) => Value::Int(value),
            (Type::Long, Slot::Long(value)) => Value::Int(value),
            (Type::Float, Slot::Float(value)) => Value::Int(value),
            (Type::Double, Slot::Double(value)) => Value::Int(value),
            (Type::Ref(_), Slot::Ref(value)) => Value::Ref(value),
            _ => return unverifiable("a value of another type"),
        })
    }

    /// The name of a class as people read it.
    pub fn class_name(&self, class: ClassId) -> String {
        dotted(&self.program.class(class).name)
    }
}

/// The kind of a slot of a type.
pub fn kind_of(ty: &Type) -> Kind {
    match ty {
        Type::Long => Kind::Long,
        Type::Float => Kind::Float,
        Type::Double => Kind::Double,
        Type::Ref(_) => Kind::Ref,
        _ => Kind::Int,
    }
}

impl Machine for Task {
    type Event = Event;
    type Fault = Uncaught;
    type Cut = Cut;
    type Place = Place;
    type State<M: Memory> = State<M>;

    fn start<M: Memory>(&self, memory: M) -> Steps<Self, M> {
        self.begin(State::new(memory), self.rep_ok.as_ref())
    }

    fn entered<M: Memory>(&self, memory: M) -> Steps<Self, M> {
        self.begin(State::new(memory), None)
    }

    fn step<M: Memory>(&self, mut state: State<M>) -> Steps<Self, M> {
        let answer = self.advance(&mut state);
        self.steps(state, answer)
    }

    fn merges(&self) -> bool {
        self.merged && self.rep_ok.is_some()
    }

    fn unconditioned(&self) -> Self {
        Task { rep_ok: None, ..self.clone() }
    }

    fn unknown_content(&self, class: ClassId, field: usize) -> Option<&'static str> {
        let class = self.program.class(class);
        let field = class.layout.get(field)?;
        crate::builders::is_content(&class.name, &field.name)
            .then_some("the content of a string that depends on unknown values")
    }

    fn bound(&self, cut: &Cut, array: usize) -> Bound {
        match cut {
            Cut::Loop => Bound::Loops(u32::try_from(self.bounds.rounds).unwrap_or(u32::MAX)),
            Cut::Calls => Bound::Values(self.bounds.calls as u64, "nested calls".into()),
            Cut::Array => elements(array),
            Cut::Steps => Bound::Steps(self.bounds.steps),
            Cut::Gap(what) => Bound::Unsupported(what.clone()),
        }
    }
}
