//! What an analysis supplies to the machine: the reading, what is known on a path, and the outside world.

use super::files::{FileName, FileStatus, Request};
use super::inputs::{Candidate, InputBounds, Origin, Spots, Token};
use super::output::Form;
use super::state::{Path, State};
use super::value::{ObjectId, TokenId};
use parallax_cmodule::FunctionId;
use parallax_op::{Bits, Width};
use parallax_path::{Bound, Premise, Split};
use parallax_sem::Core;

/// A mistake of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Problem {
    NullDereference,
    NullArgument,
    OutOfBounds,
    Overlap,
    UseAfterFree,
    DoubleFree,
    InvalidFree,
    DivisionByZero,
    Assertion,
    ReachedError,
    Unreachable,
    Uninitialised,
    Leak,
    Overflow,
    BadShift,
    UnsignedOverflow,
    LossyConversion,
    FloatDivision,
    FloatConversion,
    NotANumber,
}

impl Problem {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Problem::NullDereference => "null-dereference",
            Problem::NullArgument => "null-argument",
            Problem::OutOfBounds => "out-of-bounds",
            Problem::Overlap => "overlapping-copy",
            Problem::UseAfterFree => "use-after-free",
            Problem::DoubleFree => "double-free",
            Problem::InvalidFree => "invalid-free",
            Problem::DivisionByZero => "division-by-zero",
            Problem::Assertion => "assertion",
            Problem::ReachedError => "reached-error",
            Problem::Unreachable => "unreachable",
            Problem::Uninitialised => "uninitialised",
            Problem::Leak => "leak",
            Problem::Overflow => "overflow",
            Problem::BadShift => "bad-shift",
            Problem::UnsignedOverflow => "unsigned-overflow",
            Problem::LossyConversion => "lossy-conversion",
            Problem::FloatDivision => "float-division-by-zero",
            Problem::FloatConversion => "float-conversion",
            Problem::NotANumber => "not-a-number",
        }
    }

    /// Every kind there is.
    pub const ALL: [Problem; 20] = [
        Problem::NullDereference,
        Problem::NullArgument,
        Problem::OutOfBounds,
        Problem::Overlap,
        Problem::UseAfterFree,
        Problem::DoubleFree,
        Problem::InvalidFree,
        Problem::DivisionByZero,
        Problem::Assertion,
        Problem::ReachedError,
        Problem::Unreachable,
        Problem::Uninitialised,
        Problem::Leak,
        Problem::Overflow,
        Problem::BadShift,
        Problem::UnsignedOverflow,
        Problem::LossyConversion,
        Problem::FloatDivision,
        Problem::FloatConversion,
        Problem::NotANumber,
    ];

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Problem> {
        Problem::ALL.into_iter().find(|problem| problem.name() == name)
    }

    /// Whether the language says what happens then, so that the program goes on.
    pub fn is_defined(self) -> bool {
        use Problem::*;
        matches!(self, UnsignedOverflow | LossyConversion | FloatDivision | NotANumber)
    }
}

/// Optional checks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checks {
    /// Report signed overflow.
    pub overflow: bool,
    /// Report shifts by the width or more.
    pub shifts: bool,
    /// Report floating-point results that are not numbers although the operands are.
    pub floats: bool,
}

/// A number of 64 bits as steps: `index * scale + residue`, where nothing wraps around and `residue < scale`.
#[derive(Clone)]
pub struct Steps<C: Core> {
    /// How many steps, 64 bits.
    pub index: C::Val,
    /// How long one is.
    pub scale: u64,
    /// What is left.
    pub residue: u64,
}

/// How a program relates two pointers. C lets it subtract and order only those into one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The second is subtracted from the first.
    Subtracted,
    /// They are compared by order.
    Ordered,
    /// They are compared for equality.
    Equated,
}

/// What is certain: the reading, and what a path makes of its conditions.
pub trait Oracle<C: Core> {
    /// The reading.
    fn core(&self) -> &C;
    /// A truth value that is certain whatever the path.
    fn truth(&self, b: &C::Bool) -> Option<bool>;
    /// The constant that a value is, whatever the path.
    fn value(&self, width: Width, v: &C::Val) -> Option<Bits>;
    /// A number that is not constant as a number of steps, where that can be told from how it is made.
    fn steps(&self, _number: &C::Val) -> Option<Steps<C>> {
        None
    }
    /// The bound that ends everything, once there is no time left: what may take long asks before it goes on.
    fn late(&self) -> Option<Bound> {
        None
    }
    /// Which sides of a condition are possible on a path; both where that cannot be decided.
    fn split(&mut self, path: &Path<C>, b: &C::Bool) -> Split;
    /// Goes on only where a condition holds; the host may remember why that is possible.
    fn take(&mut self, path: &mut Path<C>, condition: C::Bool) {
        path.push(condition, ());
    }
    /// A value that a term can have on a path.
    fn example(&mut self, path: &Path<C>, width: Width, v: &C::Val) -> Option<Bits>;
    /// Whether a condition depends on something uninitialised: when it does (which is possible), and a condition that
    /// holds wherever it does not.
    fn undefined_matters(&mut self, path: &Path<C>, b: &C::Bool) -> Option<(C::Bool, C::Bool)>;
    /// When a value depends on something uninitialised, if it can.
    fn undefined_reaches(&mut self, _path: &Path<C>, _width: Width, _v: &C::Val) -> Option<C::Bool> {
        None
    }
}

/// What is unknown: inputs, and the memory and answers that nothing determines.
pub trait Inputs<C: Core> {
    /// A value that nothing determines: uninitialised memory, `undef`.
    fn undefined(&mut self, width: Width) -> C::Val;
    /// A fresh input of this name.
    fn input(&mut self, state: &mut State<C>, width: Width, name: &str) -> C::Val;
    /// A fresh unknown that is not an input: what code without a model returns. The name says where from. That it stands in
    /// for what the code does is for the machine to note.
    fn unknown(&mut self, state: &mut State<C>, width: Width, name: &str) -> Result<C::Val, String>;
    /// A fresh unknown that chooses or fills input memory; the name is for messages.
    fn selector(&mut self, width: Width, name: &str) -> C::Val;
    /// Bytes by their offset (64 bits) that nothing is known of: input memory, or memory that was never written. One
    /// name is one memory.
    fn memory_map(&mut self, name: &str, undefined: bool) -> C::Map;
    /// How far input memory goes.
    fn input_bounds(&self) -> InputBounds {
        InputBounds { aliasing: super::Aliasing::Auto, array: 1, chain: 1, strings: false }
    }
    /// How many elements an array has at most that an input pointer points to.
    fn longest(&self, _token: &Token<C>) -> u64 {
        self.input_bounds().array
    }
    /// Whether an input pointer may be this. All that its type and the aliasing mode allow is asked for; usually
    /// nothing points to what the program makes.
    fn may_be(&self, _state: &State<C>, _token: TokenId, candidate: Candidate) -> bool {
        !matches!(candidate, Candidate::Made(..))
    }
    /// Where in a known object an input pointer may point, where the analysis knows that better than types do.
    fn places(&self, _state: &State<C>, _token: TokenId, _object: ObjectId) -> Option<Vec<Spots>> {
        None
    }
    /// Whether a test of an input pointer against null decides that alone: what else it may be is then asked when it is
    /// followed. An input that takes the path is not known before.
    fn null_alone(&self) -> bool {
        false
    }
    /// How many of the program's objects an input pointer may be, by their age: those that there were when it became
    /// unknown.
    fn made_before(&self, _state: &State<C>, token: &Token<C>) -> u32 {
        match token.origin {
            Origin::Havoc { made, .. } => made,
            Origin::Parameter(_) | Origin::Cell(..) => 0,
        }
    }
    /// Whether an input pointer walks an array together with others, as far as is known: it may then point to any element of
    /// what it points to, and one behind the last.
    fn walks(&self, _token: &Token<C>) -> bool {
        false
    }
    /// Whether two input pointers walk one array, as far as is known.
    fn walk_together(&self, _one: &Token<C>, _other: &Token<C>) -> bool {
        false
    }
    /// A new input object was made for an input pointer to point to.
    fn discovered(&mut self, _token: TokenId, _object: ObjectId) {}
    /// Whether the analysis answers calls of a function itself: they are left in [`Machine::pending`](super::Machine::pending).
    fn answers(&self, _function: FunctionId) -> bool {
        false
    }
    /// Whether a seed that the program computes counts as unknown, also where it is constant.
    fn random_inputs(&self) -> bool {
        false
    }
    /// Whether `malloc` may also fail.
    fn failing_allocation(&self) -> bool {
        false
    }
}

/// What lies outside the program: files, the clock, the environment.
pub trait System<C: Core> {
    /// Reads up to `count` bytes; fewer at the end of the file; `None` when it is not open.
    fn read(&mut self, state: &mut State<C>, file: i32, count: u64) -> Option<Vec<C::Val>>;
    /// Writes bytes; false when the file is not open.
    fn write(&mut self, state: &mut State<C>, file: i32, bytes: &[C::Val]) -> bool;
    /// Writes a number of 64 bits that is not constant, where it may stay a number until it is known.
    fn write_number(&mut self, state: &mut State<C>, file: i32, value: &C::Val, form: Form);
    /// Asks the file system for something; its answer, or an error number.
    fn request(&mut self, state: &mut State<C>, request: &Request<'_>) -> Result<i64, i32>;
    /// What is known of a file, or an error number.
    fn status(&mut self, state: &mut State<C>, of: FileName<'_>) -> Result<FileStatus, i32>;
    /// Names in a folder, or an error number.
    fn entries(&mut self, state: &mut State<C>, path: &[u8]) -> Result<Vec<Vec<u8>>, i32>;
    /// Names that a path which is not constant may be: of everything there is.
    fn names(&mut self, _state: &mut State<C>) -> Vec<Vec<u8>> {
        Vec::new()
    }
    /// How many system calls may fail although they need not.
    fn failing_calls(&self) -> u32 {
        0
    }
    /// Seconds since 1970.
    fn time(&mut self, state: &mut State<C>) -> C::Val;
    /// The program asks for an environment variable that is not set.
    fn unset(&mut self, _name: &[u8]) {}
}

/// What an analysis is told on the way.
pub trait Reporter<C: Core> {
    /// Optional checks.
    fn checks(&self) -> Checks {
        Checks::default()
    }
    /// What an input that shows the next mistake had better be like, where there is a choice.
    fn prefer(&mut self, _wishes: Vec<C::Bool>) {}
    /// The program makes a mistake at the current instruction of `state` when `guard` holds (which is possible).
    fn problem(&mut self, state: &State<C>, kind: Problem, guard: &C::Bool, detail: String);
    /// Something was assumed that narrows the question. What stands in for behaviour is a bound ([`Bound::StandsIn`]).
    fn assume(&mut self, premise: Premise);
    /// A bound was hit: what lies beyond it is not looked at.
    fn bounded(&mut self, bound: Bound);
    /// So many bytes at an offset of an object are accessed, with memory that nobody described: what goes wrong next is that
    /// they are not there.
    fn accesses(&mut self, _object: ObjectId, _offset: &C::Val, _len: &C::Val) {}
    /// The program, and not the rules of memory, asks for a condition that the path leaves open: by a branch, or by assuming it.
    fn asks(&mut self, _condition: &C::Bool) {}
    /// The program branches on a condition that the path leaves open.
    fn tests(&mut self, _state: &State<C>, _condition: &C::Bool) {}
    /// The program relates two input pointers to each other.
    fn relates(&mut self, _state: &State<C>, _one: TokenId, _other: TokenId, _how: Relation) {}
    /// Control enters a block.
    fn enter_block(&mut self, state: &mut State<C>);
}

/// What the machine asks of an analysis: all four together.
pub trait Host<C: Core>: Oracle<C> + Inputs<C> + System<C> + Reporter<C> {}

impl<C: Core, H: Oracle<C> + Inputs<C> + System<C> + Reporter<C>> Host<C> for H {}
