//! What a language gives: states, and one step of them, over any [`Memory`].

use crate::memory::{BoolOf, Memory, Stop, ValueOf};
use parallax_heap::ClassId;
use parallax_path::Bound;
use std::cmp::Reverse;
use std::fmt::Debug;

/// How a path ended.
#[derive(Clone, Debug)]
pub enum End<V, F, C, P> {
    /// With a value.
    Value(V),
    /// With an error, at this place.
    Error(F, P),
    /// A bound cut it off, at this place: what it would have done is unknown.
    Cut(C, P),
    /// An assumption or the precondition does not hold: no path of the program.
    Discarded,
}

/// The ends of a language's paths over a memory.
pub type EndOf<L, M> = End<ValueOf<M>, <L as Machine>::Fault, <L as Machine>::Cut, <L as Machine>::Place>;

/// What a step leads to.
pub enum Step<L: Machine, M: Memory> {
    /// On it goes.
    On(L::State<M>),
    /// A path ends.
    Done(L::State<M>, EndOf<L, M>),
}

/// Everything that a step leads to, or why there is no telling.
pub type Steps<L, M> = Result<Vec<Step<L, M>>, Stop>;

/// A program of some language, where to start it and how far to go.
pub trait Machine: Clone {
    /// One outcome on a trace, with its place. Choices of initialisation (null, alias, new) are not outcomes.
    type Event: Clone + Debug + Ord;
    /// Why a path ended in an error.
    type Fault: Clone + Debug + Ord;
    /// Which bound of the language cut a path off.
    type Cut: Clone + Debug + Ord;
    /// A place in the program.
    type Place: Clone + Debug;
    /// A state over a memory.
    type State<M: Memory>: MachineState<M, Language = Self>;

    /// The states a run starts in: in the precondition, if there is one.
    fn start<M: Memory>(&self, memory: M) -> Steps<Self, M>;
    /// The states of the method itself, where the precondition is known to hold.
    fn entered<M: Memory>(&self, memory: M) -> Steps<Self, M>;
    /// One step.
    fn step<M: Memory>(&self, state: Self::State<M>) -> Steps<Self, M>;
    /// Whether there is a precondition that counts as one condition.
    fn merges(&self) -> bool;
    /// The same without its precondition.
    fn unconditioned(&self) -> Self;
    /// What null in this field stands for where it is nobody's null: content that is not followed, in words.
    fn unknown_content(&self, _class: ClassId, _field: usize) -> Option<&'static str> {
        None
    }
    /// What a path that was cut off leaves out, where arrays may have so many elements.
    fn bound(&self, cut: &Self::Cut, array: usize) -> Bound;
}

/// How soon a state must run so that others can meet it: the deepest stack first, of those the one that is least far.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Urgency {
    depth: usize,
    position: Reverse<Vec<usize>>,
}

impl Urgency {
    /// Of a state on a stack so deep, and so far: whatever comes first in it is compared first.
    pub fn new(depth: usize, position: Vec<usize>) -> Self {
        Urgency { depth, position: Reverse(position) }
    }
}

/// A state of a language over a memory.
pub trait MachineState<M: Memory>: Clone {
    /// The language.
    type Language: Machine<State<M> = Self>;

    /// The heap.
    fn memory(&self) -> &M;
    /// The heap, when nothing else is wanted any more.
    fn into_memory(self) -> M;
    /// A state with nothing left but its memory.
    fn ended(memory: M) -> Self;
    /// The outcomes so far, oldest first.
    fn events(&self) -> Vec<<Self::Language as Machine>::Event>;
    /// What an end state can still reach, by name; the result, if there is one, is the last and called `result`.
    fn roots(&self, language: &Self::Language, end: &EndOf<Self::Language, M>) -> Vec<(String, ValueOf<M>)>;

    /// How soon the state must run so that others can meet it.
    fn urgency(&self) -> Urgency;
    /// Whether others may come to meet it where it is.
    fn waits(&self) -> bool;
    /// The value of the precondition, if this is where it ends.
    fn verdict(&self) -> Option<BoolOf<M>>;
    /// Whether two states have the same frames to hand a value down to, and nothing that tells them apart for certain.
    fn meets(&self, other: &Self) -> bool;
    /// Two states that meet, as one.
    fn merged(self, other: Self) -> Result<Self, Stop>;
}
