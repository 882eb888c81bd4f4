//! What the machine asks of a heap. The concrete heap and the four symbolic ones answer, each in its own way.
//!
//! Whatever may fork takes the memory by value and gives back each successor with the answer that holds in it.
//! Answers that several successors share (a lazy heap forks over aliasing, which is no outcome) come once for each.

use crate::syntax::{Arith, ClassId, Compare, MethodId, Name};
use parallax_path::Bound;
use parallax_smt::Reason;

/// A value of Javalite: a reference, an integer, a Boolean.
#[derive(Clone, Debug)]
pub enum Value<R, I, B> {
    /// A reference.
    Ref(R),
    /// An integer.
    Int(I),
    /// A Boolean.
    Bool(B),
}

/// The values of a memory.
pub type ValueOf<M> = Value<<M as Memory>::Ref, <M as Memory>::Int, <M as Memory>::Bool>;

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
    /// A reference.
    type Ref: Clone;
    /// An integer.
    type Int: Clone;
    /// A Boolean.
    type Bool: Clone;

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

    /// The null reference.
    fn null(&self) -> Self::Ref;
    /// A constant.
    fn int(&self, value: i32) -> Self::Int;
    /// A constant.
    fn bool(&self, value: bool) -> Self::Bool;
    /// `a op b`
    fn arith(&self, op: Arith, a: &Self::Int, b: &Self::Int) -> Self::Int;
    /// `a op b`
    fn compare(&self, op: Compare, a: &Self::Int, b: &Self::Int) -> Self::Bool;
    /// `not a`
    fn not(&self, a: &Self::Bool) -> Self::Bool;
    /// `a = b`
    fn iff(&self, a: &Self::Bool, b: &Self::Bool) -> Self::Bool;
    /// Which way a condition may go.
    fn branch(self, condition: &Self::Bool) -> Forks<Self, bool>;

    /// A fresh object: references null, numbers 0, Booleans false.
    fn new_object(&mut self, class: ClassId) -> Self::Ref;
    /// A fresh array whose length is within the bounds.
    fn make_array(&mut self, class: ClassId, length: &Self::Int) -> Self::Ref;
    /// How many elements an array may have.
    fn array_bound(&self) -> usize;
    /// A fresh array, or why there is none.
    fn new_array(self, class: ClassId, length: &Self::Int) -> Forks<Self, Allocation<Self::Ref>> {
        let (zero, most) = (self.int(0), self.int(self.array_bound() as i32));
        let fine = self.compare(Compare::Le, &zero, length);
        let short = self.compare(Compare::Le, length, &most);
        let mut forks = Vec::new();
        for (memory, fine) in self.branch(&fine)? {
            if !fine {
                forks.push((memory, Allocation::Negative));
                continue;
            }
            for (mut memory, short) in memory.branch(&short)? {
                let allocation = match short {
                    true => Allocation::Made(memory.make_array(class, length)),
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
    /// Which methods the name may mean for a non-null receiver, and the receiver as each sees it.
    fn dispatch(self, receiver: &Self::Ref, method: Name) -> Forks<Self, (MethodId, Self::Ref)>;

    /// The length of a non-null array.
    fn length(&self, array: &Self::Ref) -> Result<Self::Int, Stop>;
    /// The element of a non-null array at an index within its bounds.
    fn element(self, array: &Self::Ref, index: &Self::Int) -> Forks<Self, ValueOf<Self>>;
    /// Sets an element of a non-null array at an index within its bounds.
    fn set_element(
        self,
        array: &Self::Ref,
        index: &Self::Int,
        value: &ValueOf<Self>,
    ) -> Result<Vec<Self>, Stop>;
}
