//! The symbolic executor: the rules of Figures 2 and 3, with the choices the paper discusses as options.
//!
//! `Sigma |- <S; e> => <S'; s>` becomes a function from a state to all its outcomes; the non-determinism of the rules
//! is the list. Every execution that does not end in a value ends in the list of [`Ended`] ones, so that the path
//! conditions of both lists together always cover everything. The executor knows nothing of type checking: what it
//! finds inside `{t e t}` it leaves to whoever implements [`TypedBlocks`].
//!
//! Values are expressions of the logic. Locations allocated on a path are the constants 1, 2, ...; pointers that come
//! from elsewhere are symbols that are either large ([`ELSEWHERE`]) or one of the constants that existed when they
//! came: a location is never one that is allocated later.

mod arith;
mod calls;
mod example;
mod exec;
mod explain;
mod facts;
mod memory;
mod refs;
mod state;
mod way;

pub use facts::Input;
pub(crate) use facts::Start;
pub(crate) use memory::Memory;
pub use state::{Bare, Closure, Decision, Event, State, Value};

use crate::complaint::{Complaint, ComplaintKind, Shown};
use crate::syntax::*;
use crate::ty::{KnownId, Type};
use crate::types::Effects;
use parallax_path::Oracle;
use parallax_smt::Limits;
use parallax_source::Span;
use parallax_term::{Formula, Store};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Locations that no path allocated are at least this.
pub const ELSEWHERE: u64 = 1 << 32;

/// How a conditional is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conditionals {
    /// SEIf-True and SEIf-False: one state each.
    Fork,
    /// SEIf-Defer: one state, with conditional expressions, where both branches have one outcome.
    Defer,
}

/// How `|- m ok` is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consistency {
    /// As in Figure 3: overwritten locations are equal as expressions, and a dereference needs all of memory
    /// consistent.
    Syntactic,
    /// The solver proves locations equal, and a dereference needs the locations consistent that it may alias.
    Solver,
}

/// The choices and bounds.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Conditionals.
    pub conditionals: Conditionals,
    /// Memory consistency.
    pub consistency: Consistency,
    /// How often a loop or a recursion may go round where it could also have stopped.
    pub unroll: u32,
    /// Calls within calls.
    pub calls: u32,
    /// Expressions executed, on all paths together.
    pub steps: u64,
    /// States.
    pub paths: u64,
    /// What the solver may spend on each question.
    pub solver: Limits,
    /// Leaves out that a reference that is followed is not null, to show that the tests need it.
    pub omit_null: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            conditionals: Conditionals::Fork,
            consistency: Consistency::Syntactic,
            unroll: 16,
            calls: 1000,
            steps: 50_000_000,
            paths: 1 << 20,
            solver: Limits::default(),
            omit_null: false,
        }
    }
}

/// What the executor asks about the parts of a program that are not its own.
pub trait TypedBlocks {
    /// The state and value after the typed block `e`, or what is wrong with it.
    fn typed_block(
        &self,
        executor: &Executor<'_>,
        state: &State,
        e: ExprId,
    ) -> Result<(State, Value), Rejected>;
    /// An ordinary type for a value of this one: for a function of singleton type the type of its text, where that has
    /// one, and for a polymorphic one an instance.
    fn ordinary(&self, ty: &Type) -> Option<Type>;
    /// Whether a value of type `found` may be used as one of type `wanted`.
    fn fits(&self, found: &Type, wanted: &Type) -> bool;
    /// The least ordinary type of values of both types.
    fn joined(&self, a: &Type, b: &Type) -> Option<Type>;
    /// The type with everything looked up that has been found out about it.
    fn resolved(&self, ty: &Type) -> Type;
    /// A type of which nothing is known.
    fn unknown(&self) -> Type;
}

/// What is wrong with a typed block.
#[derive(Default)]
pub struct Rejected {
    /// The complaints.
    pub complaints: Vec<Complaint>,
    /// Conditions on values under which a run of the block may show them to be right.
    pub hints: Vec<Formula>,
}

/// An execution that ended without a value.
pub struct Ended {
    /// The path to it.
    pub state: State,
    /// The reason it ended.
    pub why: End,
}

/// Why an execution has no value.
#[derive(Clone, Debug)]
pub enum End {
    /// An error, or something beyond this executor.
    Complaint(Complaint),
    /// Division by zero or a negative exponent: a run that goes here stops.
    Trap,
    /// The solver has shown that no run goes here.
    Infeasible,
}

/// The executor: the logic's store, the solver, and what has been made up so far.
pub struct Executor<'p> {
    /// The program.
    pub program: &'p Program,
    /// The choices.
    pub options: Options,
    /// Where symbolic expressions live.
    pub store: &'p Store,
    pub(crate) oracle: Oracle<'p>,
    facts: facts::Facts,
    closures: RefCell<Vec<Rc<Closure>>>,
    ended: RefCell<Vec<Ended>>,
    reported: RefCell<Reported>,
    effects: RefCell<Effects>,
    allocations: Cell<u64>,
    generations: Cell<u32>,
    forks: Cell<u32>,
    steps: Cell<u64>,
}

/// The places and messages of complaints that some run is known to deserve, and how often an example was looked for.
pub(crate) type Reported = FxHashMap<(Span, String), u32>;

/// How many paths to one complaint are looked at for an example that a run confirms.
const MOST_EXAMPLES: u32 = 3;

pub(crate) type Outcomes = Vec<(State, Value)>;

impl<'p> Executor<'p> {
    /// An executor for one program.
    pub fn new(program: &'p Program, store: &'p Store, options: Options) -> Self {
        Executor {
            program,
            options,
            store,
            oracle: Oracle::caching(parallax_smt::solver(store)).with_limits(options.solver),
            facts: facts::Facts::default(),
            closures: RefCell::default(),
            ended: RefCell::default(),
            reported: RefCell::default(),
            effects: RefCell::default(),
            allocations: Cell::new(0),
            generations: Cell::new(0),
            forks: Cell::new(0),
            steps: Cell::new(0),
        }
    }

    /// Takes the executions that ended without a value.
    pub fn take_ended(&self) -> Vec<Ended> {
        self.ended.take()
    }

    /// Puts earlier ones back in front.
    pub(crate) fn restore_ended(&self, mut earlier: Vec<Ended>) {
        let mut ended = self.ended.borrow_mut();
        earlier.append(&mut ended);
        *ended = earlier;
    }

    /// Sets which complaints need no further question, and gives back which those were before.
    pub(crate) fn set_reported(&self, reported: Reported) -> Reported {
        self.reported.replace(reported)
    }

    /// Takes what has been written to so far.
    pub(crate) fn take_effects(&self) -> Effects {
        self.effects.take()
    }

    /// Adds to what has been written to.
    pub(crate) fn add_effects(&self, more: Effects) {
        let mut effects = self.effects.borrow_mut();
        effects.written.extend(more.written);
        effects.calls |= more.calls;
        effects.everything |= more.everything;
    }

    /// The function value called `id`.
    pub fn closure(&self, id: KnownId) -> Rc<Closure> {
        self.closures.borrow()[id.0 as usize].clone()
    }

    fn known(&self, closure: Closure) -> Value {
        let mut closures = self.closures.borrow_mut();
        let id = KnownId(closures.len() as u32);
        closures.push(Rc::new(closure));
        self.known_value(id)
    }

    /// The value that is the function called `id`.
    pub(crate) fn known_value(&self, id: KnownId) -> Value {
        Value { u: Bare::Bits(self.store.number(32, u128::from(id.0))), ty: Type::Known(id) }
    }

    /// A fresh arbitrary memory, and its number.
    pub(crate) fn arbitrary_memory(&self) -> (Memory, u32) {
        let generation = self.generations.get();
        self.generations.set(generation + 1);
        self.facts.new_generation(generation, self.allocations.get());
        (Memory::arbitrary(generation), generation)
    }

    /// The path condition `g(S)`.
    pub fn path_condition(&self, state: &State) -> Formula {
        self.store.all(state.decisions().iter().map(|decision| decision.formula))
    }

    /// Ends an execution with a complaint, unless no run can go there.
    pub(crate) fn end(&self, state: State, complaint: Complaint) {
        self.end_where(state, complaint, &[]);
    }

    /// The same, with conditions on values that would show the complaint to be right, where the path alone does not.
    pub(crate) fn end_where(&self, state: State, complaint: Complaint, hints: &[Formula]) {
        // Many paths may end the same way; one that a run takes is enough to ask the solver about.
        let same = (complaint.span, complaint.message.clone());
        let looked = self.reported.borrow().get(&same).copied().unwrap_or(0);
        if looked >= MOST_EXAMPLES {
            self.ended.borrow_mut().push(Ended { state, why: End::Complaint(complaint) });
            return;
        }
        if let Some((path, sure)) = self.explain(&state, complaint.span, hints) {
            let failed = path.shown() == Some(Shown::Failed);
            self.reported.borrow_mut().insert(same, if failed { MOST_EXAMPLES } else { looked + 1 });
            let complaint = match sure {
                true => complaint,
                false => complaint.note("the solver could not tell whether a run takes this path"),
            };
            // A complaint from a symbolic block further in has the path there, and may have an example of its own.
            let inner = complaint.path.as_ref().and_then(|path| path.shown());
            let complaint = match inner > path.shown() {
                true => complaint,
                false => Complaint { path: Some(Box::new(path)), ..complaint },
            };
            self.ended.borrow_mut().push(Ended { state, why: End::Complaint(complaint) });
        } else {
            self.infeasible(state);
        }
    }

    pub(crate) fn infeasible(&self, state: State) {
        self.ended.borrow_mut().push(Ended { state, why: End::Infeasible });
    }

    fn trap(&self, state: State) {
        self.ended.borrow_mut().push(Ended { state, why: End::Trap });
    }

    fn error(&self, state: State, span: Span, message: impl Into<String>) {
        self.end(state, Complaint::error(span, message));
    }

    fn gap(&self, state: State, span: Span, message: impl Into<String>) {
        let complaint = Complaint { kind: ComplaintKind::Gap, ..Complaint::error(span, message) };
        self.end(state, complaint);
    }

    /// Splits a state on a condition, which is neither true nor false.
    fn fork(&self, state: &State, condition: Formula, span: Span) -> Option<(State, State)> {
        let number = self.forks.get();
        if u64::from(number) + 1 >= self.options.paths {
            return None;
        }
        self.forks.set(number + 1);
        let yes = state.assuming(condition, span, Some((number, true)));
        let no = state.assuming(self.store.not(condition), span, Some((number, false)));
        Some((yes, no))
    }

    fn too_many_paths(&self, state: State, span: Span) {
        let message = format!("gave up after {} paths", self.options.paths);
        let complaint = Complaint::gap(span, message)
            .note("defer conditionals, raise the bound, or put a typed block around part of this");
        self.end(state, complaint);
    }
}
