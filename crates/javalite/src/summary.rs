//! The summary engine: the machine over one guarded heap, which forks on outcomes only.

use crate::memory::{Forks, Memory, Stop, Value, ValueOf};
use crate::setup::{Setup, class_of, values_are_terms};
use crate::syntax::*;
use parallax_heap::{Cell, Draft, Guarded, HeapError, Loc, Options, Reference, Target};
use parallax_smt::Reason;
use parallax_term::{Formula, Scalar, Term};
use std::rc::Rc;

/// A guarded heap and the program it belongs to.
#[derive(Clone)]
pub struct Summary<'s> {
    /// The heap.
    pub heap: Guarded<'s>,
    program: Rc<Program>,
    array: usize,
}

/// `this` is the first location, the parameters are fields of the second.
pub const THIS_LOC: Loc = Loc(0);
/// The location whose fields are the parameters.
pub const PARAMETERS_LOC: Loc = Loc(1);

impl From<HeapError> for Stop {
    fn from(error: HeapError) -> Self {
        match error {
            HeapError::Solver(why) => why.into(),
            HeapError::Late => Reason::Time.into(),
            HeapError::Broken(what) => Stop::Broken(what.to_owned()),
        }
    }
}

impl<'s> Summary<'s> {
    /// The heap a run starts in: nothing is known but `this`.
    pub fn new(setup: &Setup<'s>, draft: Option<Draft>) -> Self {
        let options = Options { k: setup.inputs.k, array: setup.inputs.array, draft };
        let mut heap = Guarded::new(setup.oracle.clone(), setup.universe.clone(), options);
        heap.root(class_of(setup.class), "this", setup.inputs.root_alias);
        heap.root(setup.parameters(), "", false);
        Summary { heap, program: setup.program.clone(), array: setup.inputs.array }
    }

    /// The heap on entry, as far as it is known, for a second method on the same input.
    pub fn rewound(self) -> Self {
        Summary { heap: self.heap.rewound(), ..self }
    }

    fn value(cell: Cell) -> ValueOf<Self> {
        match cell {
            Cell::Ref(reference) => Value::Ref(reference),
            Cell::Scalar(Scalar::Term(term)) => Value::Int(term),
            Cell::Scalar(Scalar::Formula(formula)) => Value::Bool(formula),
        }
    }

    /// A value as the content of a field.
    pub fn cell(value: &ValueOf<Self>) -> Cell {
        match value {
            Value::Ref(reference) => Cell::Ref(reference.clone()),
            Value::Int(term) => Cell::Scalar(Scalar::Term(*term)),
            Value::Bool(formula) => Cell::Scalar(Scalar::Formula(*formula)),
        }
    }

    fn with<T>(&self, forks: Vec<(Guarded<'s>, T)>) -> Vec<(Self, T)> {
        let fork =
            |(heap, answer)| (Summary { heap, program: self.program.clone(), array: self.array }, answer);
        forks.into_iter().map(fork).collect()
    }

    fn known(
        self,
        answer: impl FnOnce(&mut Guarded<'s>) -> Result<Cell, HeapError>,
    ) -> Forks<Self, ValueOf<Self>> {
        let mut this = self;
        let value = Self::value(answer(&mut this.heap)?);
        Ok(vec![(this, value)])
    }
}

impl Memory for Summary<'_> {
    type Ref = Reference;
    type Int = Term;
    type Bool = Formula;

    fn kinship(&self, other: &Self) -> Option<usize> {
        Some(self.heap.kinship(&other.heap))
    }
    fn apart(&self, a: &ValueOf<Self>, b: &ValueOf<Self>) -> bool {
        let store = self.heap.oracle.store;
        match (a, b) {
            (Value::Bool(a), Value::Bool(b)) => {
                a != b && store.as_boolean(*a).is_some() && store.as_boolean(*b).is_some()
            }
            // Numbers are no verdict: apart, each height of one subtree would see the other subtree anew.
            (Value::Int(_), Value::Int(_)) | (Value::Ref(_), Value::Ref(_)) => false,
            _ => true,
        }
    }
    fn merged(
        self,
        other: Self,
        pairs: &[(ValueOf<Self>, ValueOf<Self>)],
    ) -> Result<(Self, Vec<ValueOf<Self>>), Stop> {
        let cells: Vec<_> = pairs.iter().map(|(a, b)| (Self::cell(a), Self::cell(b))).collect();
        let (heap, cells) = self.heap.merged(other.heap, &cells)?;
        let memory = Summary { heap, program: self.program, array: self.array };
        Ok((memory, cells.into_iter().map(Self::value).collect()))
    }

    fn null(&self) -> Reference {
        self.heap.null()
    }
    values_are_terms!(heap.oracle);
    fn branch(self, condition: &Formula) -> Forks<Self, bool> {
        let forks = self.heap.clone().branch(*condition)?;
        Ok(self.with(forks))
    }

    fn new_object(&mut self, class: ClassId) -> Reference {
        self.heap.allocate(class_of(class))
    }
    fn make_array(&mut self, class: ClassId, length: &Term) -> Reference {
        self.heap.allocate_array(class_of(class), self.array, *length)
    }
    fn array_bound(&self) -> usize {
        self.array
    }
    fn this(&self) -> Reference {
        self.heap.certainly(Target::Loc(THIS_LOC))
    }
    fn parameter(self, index: usize) -> Forks<Self, ValueOf<Self>> {
        let parameters = self.heap.certainly(Target::Loc(PARAMETERS_LOC));
        self.known(|heap| heap.read(&parameters, index))
    }

    fn null_check(self, reference: &Reference) -> Forks<Self, bool> {
        let forks = self.heap.clone().null_check(reference)?;
        Ok(self.with(forks))
    }
    fn read(self, base: &Reference, field: usize) -> Forks<Self, ValueOf<Self>> {
        self.known(|heap| heap.read(base, field))
    }
    fn write(&mut self, base: &Reference, field: usize, value: &ValueOf<Self>) -> Result<(), Stop> {
        Ok(self.heap.write(base, field, &Self::cell(value))?)
    }
    fn equal(self, a: &Reference, b: &Reference) -> Forks<Self, bool> {
        let forks = self.heap.clone().equal(a, b)?;
        Ok(self.with(forks))
    }
    fn dispatch(self, receiver: &Reference, method: Name) -> Forks<Self, (MethodId, Reference)> {
        let program = self.program.clone();
        let forks = self
            .heap
            .clone()
            .partition(receiver, |class| program.class(ClassId(class.0)).methods.get(&method).copied())?;
        self.with(forks)
            .into_iter()
            .map(|(memory, (target, receiver))| match target {
                Some(target) => Ok((memory, (target, receiver))),
                None => Err(Stop::Broken("no such method".into())),
            })
            .collect()
    }

    fn length(&self, array: &Reference) -> Result<Term, Stop> {
        Ok(self.heap.length(array)?)
    }
    fn element(self, array: &Reference, index: &Term) -> Forks<Self, ValueOf<Self>> {
        self.known(|heap| heap.element(array, *index))
    }
    fn set_element(
        mut self,
        array: &Reference,
        index: &Term,
        value: &ValueOf<Self>,
    ) -> Result<Vec<Self>, Stop> {
        self.heap.set_element(array, *index, &Self::cell(value))?;
        Ok(vec![self])
    }
}
