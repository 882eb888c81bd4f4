//! Symbolic values, path conditions and states: the middle of Figure 1.

use super::memory::Memory;
use super::way::{Passed, Way};
use crate::syntax::{ExprId, FunId};
use crate::ty::Type;
use parallax_path::Chain;
use parallax_source::Span;
use parallax_term::{Formula, Term};
use std::rc::Rc;

/// A typed symbolic expression `u : t`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The bare expression.
    pub u: Bare,
    /// Its type.
    pub ty: Type,
}

/// A bare symbolic expression `u`, as an expression of the logic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bare {
    /// Integers and floats (64 bits), strings (48 bits, a number each), locations (64 bits), functions (32 bits, a
    /// number each).
    Bits(Term),
    /// A guard `g`.
    Bool(Formula),
    /// `()`
    Unit,
}

/// A function value: text and what it captured, in the order of its captures.
#[derive(Debug)]
pub struct Closure {
    /// The text.
    pub fun: FunId,
    /// The captured values.
    pub captured: Vec<Value>,
}

/// One thing that was assumed on a path.
#[derive(Clone, Debug)]
pub struct Decision {
    /// What was assumed.
    pub formula: Formula,
    /// The place in the source.
    pub span: Span,
    /// Which branch of which fork, where two states went separate ways.
    pub fork: Option<(u32, bool)>,
}

/// Something that happened on a path and that a concrete run can be matched against.
#[derive(Clone, Debug)]
pub enum Event {
    /// A location was allocated, under this number.
    Allocated(u64),
    /// A typed block was passed: what stands for its value, and for the memory after it, by generation.
    Typed {
        /// The block.
        block: ExprId,
        /// What stands for its value.
        value: Value,
        /// What stands for the memory.
        memory: Option<u32>,
        /// What stands for the locals that it assigned.
        locals: Vec<(u32, Value)>,
    },
}

/// A call in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) fun: FunId,
    /// How long the path condition was when it started.
    pub(crate) path_length: usize,
    /// How often the function was entered, on this stack, after a decision that could have gone the other way.
    pub(crate) undecided: u32,
    pub(crate) span: Span,
}

/// A state `S = <g; m>`, with the frame of the function being executed.
#[derive(Clone)]
pub struct State {
    pub(crate) path: Chain<Decision>,
    pub(crate) memory: Memory,
    pub(crate) frame: Frame,
    pub(crate) calls: Chain<Call>,
    pub(crate) events: Chain<Event>,
    pub(crate) way: Way,
}

impl State {
    /// An empty frame, the path condition `true`, and the given memory.
    pub(crate) fn new(memory: Memory) -> Self {
        State {
            path: Chain::default(),
            memory,
            frame: Frame::default(),
            calls: Chain::default(),
            events: Chain::default(),
            way: Way::default(),
        }
    }

    pub(crate) fn slot(&self, slot: u32) -> Option<&Value> {
        self.frame.get(slot as usize)
    }

    pub(crate) fn set_slot(&mut self, slot: u32, value: Value) {
        self.frame.set(slot as usize, Some(value));
    }

    /// The state in which `formula` holds as well.
    pub(crate) fn assuming(&self, formula: Formula, span: Span, fork: Option<(u32, bool)>) -> State {
        let mut state = self.clone();
        state.way.push(Passed::Decided(state.path.len()));
        state.path.push(Decision { formula, span, fork });
        state
    }

    /// What was assumed, in order.
    pub fn decisions(&self) -> Vec<Decision> {
        self.path.to_vec().into_iter().cloned().collect()
    }

    /// What happened, in order.
    pub fn events(&self) -> Vec<Event> {
        self.events.to_vec().into_iter().cloned().collect()
    }
}

const CHUNK: usize = 8;

/// The slots of a function's frame. States that went separate ways share the chunks that neither has changed since.
#[derive(Clone, Default)]
pub(crate) struct Frame {
    chunks: Rc<Vec<Rc<[Option<Value>; CHUNK]>>>,
}

impl Frame {
    pub(crate) fn get(&self, slot: usize) -> Option<&Value> {
        self.chunks.get(slot / CHUNK)?[slot % CHUNK].as_ref()
    }

    pub(crate) fn set(&mut self, slot: usize, value: Option<Value>) {
        let chunks = Rc::make_mut(&mut self.chunks);
        while chunks.len() <= slot / CHUNK {
            chunks.push(Rc::default());
        }
        Rc::make_mut(&mut chunks[slot / CHUNK])[slot % CHUNK] = value;
    }

    /// The slot by slot combination of two frames; chunks that both share stay as they are.
    pub(crate) fn merged(
        &self,
        other: &Frame,
        mut merge: impl FnMut(&Value, &Value) -> Option<Value>,
    ) -> Frame {
        let chunks = self.chunks.iter().zip(other.chunks.iter()).map(|(a, b)| {
            if Rc::ptr_eq(a, b) {
                return a.clone();
            }
            Rc::new(std::array::from_fn(|slot| match (&a[slot], &b[slot]) {
                (Some(a), Some(b)) => merge(a, b),
                _ => None,
            }))
        });
        Frame { chunks: Rc::new(chunks.collect()) }
    }
}
