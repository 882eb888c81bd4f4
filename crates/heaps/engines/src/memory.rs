//! What a machine asks of a heap. The concrete heap and the four symbolic ones answer, each in its own way.
//!
//! Whatever may fork takes the memory by value and gives back each successor with the answer that holds in it.
//! Answers that several successors share (a lazy heap forks over aliasing, which is no outcome) come once for each.
//! What is done to bit-vectors and truth values is up to the reading that the memory holds.

use parallax_heap::{ClassId, LeftOut, Sharing, Universe};
use parallax_op::{Bits, RelOp};
use parallax_path::Bound;
use parallax_sem::Core;
use parallax_smt::Reason;
use std::rc::Rc;

/// A value: a reference, a bit-vector, a truth value.
#[derive(Clone, Debug)]
pub enum Value<R, I, B> {
    /// A reference.
    Ref(R),
    /// A bit-vector.
    Int(I),
    /// A truth value.
    Bool(B),
}

/// The values of a memory.
pub type ValueOf<M> = Value<<M as Memory>::Ref, IntOf<M>, BoolOf<M>>;
/// The bit-vectors of a memory.
pub type IntOf<M> = <<M as Memory>::Core as Core>::Val;
/// The truth values of a memory.
pub type BoolOf<M> = <<M as Memory>::Core as Core>::Bool;

/// Every successor with its answer, or why there is no telling.
pub type Forks<M, T> = Result<Vec<(M, T)>, Stop>;

/// Why a run cannot go on at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// A bound was hit: on time, paths or memory, or on what the solver knows.
    #[error("{0}")]
    Bound(Bound),
    /// A fault of ours: an invariant of the engine does not hold.
    #[error("internal: {0}")]
    Broken(String),
}

impl Stop {
    /// An invariant that does not hold, as an answer.
    pub fn broken<T>(what: &str) -> Result<T, Stop> {
        Err(Stop::Broken(what.to_owned()))
    }
}

impl From<Reason> for Stop {
    fn from(reason: Reason) -> Self {
        Stop::Bound(Bound::Solver(reason))
    }
}

/// What became of an array allocation.
#[derive(Clone, Debug)]
pub enum Allocation<R> {
    /// The new array.
    Made(R),
    /// The length is negative.
    Negative,
    /// The length is beyond the bound on arrays.
    TooLong,
}

/// A heap, and the path condition that goes with it.
pub trait Memory: Clone {
    /// The reading of bit-vectors and truth values.
    type Core: Core;
    /// A reference.
    type Ref: Clone;

    /// The reading.
    fn core(&self) -> &Self::Core;
    /// More classes are known than before: those there were keep their numbers.
    fn know(&mut self, universe: &Rc<Universe>);

    /// The ledger of the run that this memory belongs to.
    fn left_out(&self) -> LeftOut;
    /// The class of an object is about to decide how a path goes on: notes what other objects it may be.
    fn ask_class(&self, _reference: &Self::Ref) {}

    /// Whether two references are known to be one object.
    fn identical(&self, a: &Self::Ref, b: &Self::Ref) -> bool;
    /// From now on these objects are made that were there before the inputs were.
    fn share(&mut self, _which: Sharing) {}

    /// The method begins: what held so far is its precondition, as one condition.
    fn enter(&mut self) {}

    /// How closely two memories are related, if they can become one: those that parted last are closest.
    fn kinship(&self, _other: &Self) -> Option<usize> {
        None
    }
    /// Whether two values are known and different.
    fn apart(&self, _a: &ValueOf<Self>, _b: &ValueOf<Self>) -> bool {
        true
    }
    /// The memory that is this one or the other, and each pair of values as one.
    fn merged(
        self,
        _other: Self,
        _pairs: &[(ValueOf<Self>, ValueOf<Self>)],
    ) -> Result<(Self, Vec<ValueOf<Self>>), Stop> {
        Err(Stop::Broken("a memory that cannot be merged".into()))
    }

    /// Forgets what only helps to go on: its path has come to an end.
    fn settle(&mut self) {}

    /// The null reference.
    fn null(&self) -> Self::Ref;
    /// A bit-vector of 32 bits.
    fn int(&self, value: i32) -> IntOf<Self> {
        self.core().constant(&Bits::from_i128(32, value.into()))
    }
    /// A truth value.
    fn bool(&self, value: bool) -> BoolOf<Self> {
        self.core().boolean(value)
    }
    /// Which way a condition may go.
    fn branch(self, condition: &BoolOf<Self>) -> Forks<Self, bool>;

    /// A fresh object: references null, numbers 0, Booleans false.
    fn new_object(&mut self, class: ClassId) -> Self::Ref;
    /// A fresh array with room for `room` elements, of which the first `length` exist.
    fn make_array(&mut self, class: ClassId, room: usize, length: &IntOf<Self>) -> Self::Ref;
    /// How many elements an array may have.
    fn array_bound(&self) -> usize;
    /// A fresh array, or why there is none.
    fn new_array(self, class: ClassId, length: &IntOf<Self>) -> Forks<Self, Allocation<Self::Ref>> {
        let (zero, most) = (self.int(0), self.int(self.array_bound() as i32));
        let fine = self.core().relop(RelOp::Sle, 32, &zero, length);
        let short = self.core().relop(RelOp::Sle, 32, length, &most);
        let mut forks = Vec::new();
        for (memory, fine) in self.branch(&fine)? {
            if !fine {
                forks.push((memory, Allocation::Negative));
                continue;
            }
            for (mut memory, short) in memory.branch(&short)? {
                let allocation = match short {
                    true => Allocation::Made(memory.make_array(class, memory.array_bound(), length)),
                    false => Allocation::TooLong,
                };
                forks.push((memory, allocation));
            }
        }
        Ok(forks)
    }
    /// The object that the run starts in.
    fn this(&self) -> Self::Ref;
    /// The initial value of the parameter of this number.
    fn parameter(self, index: usize) -> Forks<Self, ValueOf<Self>>;

    /// Whether the reference may be an object (true) or null (false).
    fn null_check(self, reference: &Self::Ref) -> Forks<Self, bool>;
    /// The value of a field of a non-null reference.
    fn read(self, base: &Self::Ref, field: usize) -> Forks<Self, ValueOf<Self>>;
    /// Sets a field of a non-null reference.
    fn write(&mut self, base: &Self::Ref, field: usize, value: &ValueOf<Self>) -> Result<(), Stop>;
    /// Whether two references are the same.
    fn equal(self, a: &Self::Ref, b: &Self::Ref) -> Forks<Self, bool>;
    /// Splits by the class of a non-null reference: one successor for each value of `key`, and the reference as it is
    /// there.
    fn partition<T: Ord + Clone>(
        self,
        reference: &Self::Ref,
        key: impl Fn(ClassId) -> T,
    ) -> Forks<Self, (T, Self::Ref)>;

    /// Splits by the class of a reference that may be null: one successor for each value of `key`.
    fn classify<T: Ord + Clone>(
        self,
        reference: &Self::Ref,
        key: impl Fn(Option<ClassId>) -> T,
    ) -> Forks<Self, T>;

    /// The classes that a non-null reference may point to an instance of.
    fn classes(&self, reference: &Self::Ref) -> Vec<ClassId>;

    /// The length of a non-null array.
    fn length(&self, array: &Self::Ref) -> Result<IntOf<Self>, Stop>;
    /// The element of a non-null array at an index within its bounds.
    fn element(self, array: &Self::Ref, index: &IntOf<Self>) -> Forks<Self, ValueOf<Self>>;
    /// Sets an element of a non-null array at an index within its bounds.
    fn set_element(
        self,
        array: &Self::Ref,
        index: &IntOf<Self>,
        value: &ValueOf<Self>,
    ) -> Result<Vec<Self>, Stop>;
}
