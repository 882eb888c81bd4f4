//! The state of a run: frames, what classes are initialised, what happened so far.

use crate::program::Method;
use parallax_engines::{BoolOf, Forks, IntOf, Memory, Stop, Value, ValueOf};
use parallax_heap::ClassId;
use parallax_path::Chain;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A value in a variable or on the operand stack.
pub enum Slot<M: Memory> {
    /// Nothing yet.
    Empty,
    /// An `int` or anything narrower.
    Int(IntOf<M>),
    /// A `boolean` that nothing has computed with.
    Bool(BoolOf<M>),
    /// A `long`.
    Long(IntOf<M>),
    /// A `float`.
    Float(IntOf<M>),
    /// A `double`.
    Double(IntOf<M>),
    /// A reference.
    Ref(M::Ref),
    /// Where a subroutine returns to.
    Address(usize),
}

impl<M: Memory> Clone for Slot<M> {
    fn clone(&self) -> Self {
        match self {
            Slot::Empty => Slot::Empty,
            Slot::Int(value) => Slot::Int(value.clone()),
            Slot::Bool(value) => Slot::Bool(value.clone()),
            Slot::Long(value) => Slot::Long(value.clone()),
            Slot::Float(value) => Slot::Float(value.clone()),
            Slot::Double(value) => Slot::Double(value.clone()),
            Slot::Ref(value) => Slot::Ref(value.clone()),
            Slot::Address(at) => Slot::Address(*at),
        }
    }
}

impl<M: Memory> Slot<M> {
    /// Whether it takes two places.
    pub fn is_wide(&self) -> bool {
        matches!(self, Slot::Long(_) | Slot::Double(_))
    }

    /// As a value of the memory; none for what a memory does not hold.
    pub fn value(&self) -> Option<ValueOf<M>> {
        match self {
            Slot::Int(value) | Slot::Long(value) | Slot::Float(value) | Slot::Double(value) => {
                Some(Value::Int(value.clone()))
            }
            Slot::Bool(value) => Some(Value::Bool(value.clone())),
            Slot::Ref(reference) => Some(Value::Ref(reference.clone())),
            Slot::Empty | Slot::Address(_) => None,
        }
    }

    /// The same kind of slot with another value.
    pub fn holding(&self, value: ValueOf<M>) -> Option<Self> {
        match (self, value) {
            (Slot::Int(_), Value::Int(value)) => Some(Slot::Int(value)),
            (Slot::Long(_), Value::Int(value)) => Some(Slot::Long(value)),
            (Slot::Float(_), Value::Int(value)) => Some(Slot::Float(value)),
            (Slot::Double(_), Value::Int(value)) => Some(Slot::Double(value)),
            (Slot::Bool(_), Value::Bool(value)) => Some(Slot::Bool(value)),
            (Slot::Ref(_), Value::Ref(value)) => Some(Slot::Ref(value)),
            _ => None,
        }
    }
}

/// What happens when a frame is left.
pub enum Then<M: Memory> {
    /// Its value goes to the caller.
    Give,
    /// The same; what happened inside is part of no trace.
    Quiet,
    /// The class is initialised.
    Initialised(ClassId),
    /// This exception, which is constructed now, is thrown.
    Throw(M::Ref),
    /// The precondition has its value: the method itself starts.
    Enter,
    /// The program ends.
    End,
}

impl<M: Memory> Clone for Then<M> {
    fn clone(&self) -> Self {
        match self {
            Then::Give => Then::Give,
            Then::Quiet => Then::Quiet,
            Then::Initialised(class) => Then::Initialised(*class),
            Then::Throw(exception) => Then::Throw(exception.clone()),
            Then::Enter => Then::Enter,
            Then::End => Then::End,
        }
    }
}

/// An activation of a method.
pub struct Frame<M: Memory> {
    /// The method.
    pub method: Rc<Method>,
    /// The instruction that runs.
    pub at: usize,
    /// The one after it.
    pub next: usize,
    /// Its variables.
    pub locals: Vec<Slot<M>>,
    /// Its operands.
    pub stack: Vec<Slot<M>>,
    /// What happens when it is left.
    pub then: Then<M>,
    /// Loops, by their first instruction, and how many rounds of each were run since the one around it began a round.
    pub rounds: Vec<(usize, usize)>,
}

impl<M: Memory> Frame<M> {
    /// How many rounds of a loop were run.
    pub fn rounds_of(&self, first: usize) -> usize {
        self.rounds.iter().find(|(known, _)| *known == first).map_or(0, |(_, rounds)| *rounds)
    }

    /// How far it is: the rounds of each loop around the instruction that is next, the outer before the inner, and where
    /// it is in the innermost.
    pub fn position(&self) -> Vec<usize> {
        let flow = self.method.code.as_ref().map(|code| code.flow());
        let loops = flow.into_iter().flat_map(|flow| flow.loops_around(self.next));
        loops.flat_map(|first| [first, self.rounds_of(first)]).chain([self.next]).collect()
    }

    /// Whether ways through the method come together before the instruction that is next.
    pub fn is_at_join(&self) -> bool {
        self.method.code.as_ref().is_some_and(|code| code.flow().is_join(self.next))
    }
}

impl<M: Memory> Clone for Frame<M> {
    fn clone(&self) -> Self {
        Frame {
            method: self.method.clone(),
            at: self.at,
            next: self.next,
            locals: self.locals.clone(),
            stack: self.stack.clone(),
            then: self.then.clone(),
            rounds: self.rounds.clone(),
        }
    }
}

/// How far a class is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Its initialiser runs.
    Running,
    /// It is initialised.
    Done,
}

/// What belongs to the whole run.
pub struct Globals<M: Memory> {
    /// Classes whose initialisation began, and their static fields.
    pub statics: BTreeMap<ClassId, (Status, M::Ref)>,
    /// Literals.
    pub strings: FxHashMap<Rc<[u16]>, M::Ref>,
    /// Objects of `java.lang.Class`, by internal name.
    pub mirrors: FxHashMap<Rc<str>, M::Ref>,
    /// The thread there is.
    pub thread: Option<M::Ref>,
}

impl<M: Memory> Clone for Globals<M> {
    fn clone(&self) -> Self {
        Globals {
            statics: self.statics.clone(),
            strings: self.strings.clone(),
            mirrors: self.mirrors.clone(),
            thread: self.thread.clone(),
        }
    }
}

impl<M: Memory> Default for Globals<M> {
    fn default() -> Self {
        Globals {
            statics: BTreeMap::new(),
            strings: FxHashMap::default(),
            mirrors: FxHashMap::default(),
            thread: None,
        }
    }
}

/// One outcome on a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// A dereferenced reference was an object, or null.
    NonNull(bool),
    /// Two references were the same, or not; or one was null, or not.
    Equal(bool),
    /// A condition on numbers held, or not.
    Branch(bool),
    /// A switch went to this case, or to none of them.
    Case(Option<i32>),
    /// A call went to the method of this class and number.
    Dispatch(ClassId, u32),
    /// A reference was an instance, or not.
    Instance(bool),
    /// A cast was fine, or not.
    Cast(bool),
    /// An index was within bounds, or not.
    InBounds(bool),
    /// The length of a new array was fine, or negative.
    Length(bool),
    /// A divisor was not zero, or zero.
    Divisor(bool),
    /// What was put into an array fits its type, or not.
    Fits(bool),
    /// An exception was caught by handler number so and so, or by none of the method.
    Caught(Option<u32>),
    /// So many elements were copied.
    Count(u32),
}

/// A place in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The class.
    pub class: ClassId,
    /// The number of the method.
    pub method: u32,
    /// The instruction.
    pub at: u32,
}

/// An outcome and where it came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Event {
    /// The place.
    pub at: Place,
    /// What happened there.
    pub outcome: Outcome,
}

/// What a run does next.
pub enum Control<M: Memory> {
    /// The next instruction.
    Run,
    /// Hands a value to the caller.
    Return(Option<Slot<M>>),
    /// Looks for a handler.
    Throw(M::Ref),
}

impl<M: Memory> Clone for Control<M> {
    fn clone(&self) -> Self {
        match self {
            Control::Run => Control::Run,
            Control::Return(value) => Control::Return(value.clone()),
            Control::Throw(exception) => Control::Throw(exception.clone()),
        }
    }
}

/// A state.
pub struct State<M: Memory> {
    /// The heap; gone only while an operation that may fork has it.
    memory: Option<M>,
    /// How many classes it knows.
    pub known: usize,
    /// The outcomes so far.
    pub trace: Chain<Event>,
    /// The frame that runs; none before the start and after the end.
    pub frame: Option<Frame<M>>,
    /// Its callers.
    pub callers: Chain<Frame<M>>,
    /// What comes next.
    pub control: Control<M>,
    /// What belongs to the whole run.
    pub globals: Rc<Globals<M>>,
    /// Where the exception that looks for a handler was thrown.
    pub raised: Option<Place>,
    /// Where exceptions that were caught had been thrown first: whoever throws one again is not where it came from.
    pub caught: Chain<(M::Ref, Place)>,
    /// Texts of unknown content, and builders of such.
    pub unknown: Chain<M::Ref>,
    /// The monitors that are held, the newest last.
    pub monitors: Chain<M::Ref>,
    /// How many class initialisers are under way.
    pub initialising: usize,
    /// How many frames are under way that are part of no trace.
    pub quiet: usize,
    /// Instructions so far.
    pub steps: u64,
    /// What was printed, newest last.
    pub output: Chain<Rc<str>>,
}

impl<M: Memory> Clone for State<M> {
    fn clone(&self) -> Self {
        State { memory: self.memory.clone(), ..self.apart() }
    }
}

/// What a fork left.
pub enum Split<M: Memory, T> {
    /// The state itself went on, with this answer.
    One(T),
    /// These states came of it.
    Many(Vec<(State<M>, T)>),
}

impl<M: Memory> State<M> {
    /// A state with nothing but a memory.
    pub fn new(memory: M) -> Self {
        State {
            memory: Some(memory),
            known: 0,
            trace: Chain::default(),
            frame: None,
            callers: Chain::default(),
            control: Control::Run,
            globals: Rc::default(),
            raised: None,
            caught: Chain::default(),
            unknown: Chain::default(),
            monitors: Chain::default(),
            initialising: 0,
            quiet: 0,
            steps: 0,
            output: Chain::default(),
        }
    }

    /// Everything but the memory.
    fn apart(&self) -> Self {
        State {
            memory: None,
            known: self.known,
            trace: self.trace.clone(),
            frame: self.frame.clone(),
            callers: self.callers.clone(),
            control: self.control.clone(),
            globals: self.globals.clone(),
            raised: self.raised,
            caught: self.caught.clone(),
            unknown: self.unknown.clone(),
            monitors: self.monitors.clone(),
            initialising: self.initialising,
            quiet: self.quiet,
            steps: self.steps,
            output: self.output.clone(),
        }
    }

    /// The same state, about to do something else.
    pub fn about_to(&self, control: Control<M>) -> Self {
        let mut state = self.clone();
        state.control = control;
        state
    }

    /// Leaves the monitor that was entered last.
    pub fn leave_monitor(&mut self) {
        if let Some((_, below)) = self.monitors.split_last() {
            self.monitors = below.clone();
        }
    }

    /// The heap.
    pub fn memory(&self) -> Result<&M, Stop> {
        self.memory.as_ref().ok_or_else(|| Stop::Broken("a state without its heap".into()))
    }

    /// The heap, to change it.
    pub fn memory_mut(&mut self) -> Result<&mut M, Stop> {
        self.memory.as_mut().ok_or_else(|| Stop::Broken("a state without its heap".into()))
    }

    /// The heap, if no operation has it.
    pub(crate) fn memory_if_any(&mut self) -> Option<&mut M> {
        self.memory.as_mut()
    }

    /// The heap, when nothing else is wanted.
    pub fn into_memory(self) -> Option<M> {
        self.memory
    }

    /// Does what may fork: the state itself goes on if there is one successor.
    pub fn split<T>(&mut self, operation: impl FnOnce(M) -> Forks<M, T>) -> Result<Split<M, T>, Stop> {
        let Some(memory) = self.memory.take() else { return Stop::broken("a state without its heap") };
        let mut forks = operation(memory)?;
        if forks.len() == 1
            && let Some((memory, answer)) = forks.pop()
        {
            self.memory = Some(memory);
            return Ok(Split::One(answer));
        }
        let states = forks.into_iter().map(|(memory, answer)| {
            let mut state = self.apart();
            state.memory = Some(memory);
            (state, answer)
        });
        Ok(Split::Many(states.collect()))
    }
}
