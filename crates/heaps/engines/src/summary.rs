//! The summary engine: the machine over one guarded heap, which forks on outcomes only.

use crate::memory::{Forks, Memory, Stop, Value, ValueOf};
use crate::setup::Setup;
use parallax_heap::{
    Cell, ClassId, Draft, Guarded, HeapError, LeftOut, Loc, Options, Reference, Sharing, Target, Universe,
};
use parallax_sem::Symbolic;
use parallax_smt::Reason;
use parallax_term::{Formula, Scalar, Term};
use std::rc::Rc;

/// A guarded heap, and the reading its guards are in.
#[derive(Clone)]
pub struct Summary<'s> {
    /// The heap. In a place of its own, because machines hand their states on at every step.
    pub heap: Box<Guarded<'s>>,
    core: Symbolic<'s>,
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
        let (oracle, universe) = (setup.oracle.clone(), setup.universe.clone());
        let mut heap = Guarded::new(oracle, universe, options, LeftOut::default());
        heap.root(setup.class, "this", setup.inputs.root_alias);
        heap.root(setup.parameters, "", false);
        Summary { heap: Box::new(heap), core: Symbolic::new(setup.oracle.store), array: setup.inputs.array }
    }

    /// The heap on entry, as far as it is known, for a second method on the same input.
    pub fn rewound(self) -> Self {
        Summary { heap: Box::new(self.heap.rewound()), ..self }
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

    /// What may fork the heap.
    fn forks<T>(
        self,
        operation: impl FnOnce(Guarded<'s>) -> Result<Vec<(Guarded<'s>, T)>, HeapError>,
    ) -> Forks<Self, T> {
        let Summary { heap: mut place, core, array } = self;
        let mut forks = operation(*place)?.into_iter();
        let Some((heap, answer)) = forks.next() else { return Ok(Vec::new()) };
        // The first successor has the place of what it comes from.
        *place = heap;
        let mut all = Vec::with_capacity(1 + forks.len());
        all.push((Summary { heap: place, core, array }, answer));
        all.extend(forks.map(|(heap, answer)| (Summary { heap: Box::new(heap), core, array }, answer)));
        Ok(all)
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

impl<'s> Memory for Summary<'s> {
    type Core = Symbolic<'s>;
    type Ref = Reference;

    fn core(&self) -> &Symbolic<'s> {
        &self.core
    }
    fn know(&mut self, universe: &Rc<Universe>) {
        self.heap.universe = universe.clone();
    }
    fn left_out(&self) -> LeftOut {
        self.heap.left_out.clone()
    }
    fn ask_class(&self, reference: &Reference) {
        self.heap.ask_class(reference);
    }
    fn identical(&self, a: &Reference, b: &Reference) -> bool {
        match (&a[..], &b[..]) {
            ([a], [b]) => matches!(a.target, Target::Loc(_)) && a.target == b.target,
            _ => false,
        }
    }
    fn share(&mut self, which: Sharing) {
        self.heap.sharing = which;
    }
    fn enter(&mut self) {
        self.heap.entered = self.heap.path.conjuncts().len();
    }
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
        let (heap, cells) = self.heap.merged(*other.heap, &cells)?;
        let memory = Summary { heap: Box::new(heap), core: self.core, array: self.array };
        Ok((memory, cells.into_iter().map(Self::value).collect()))
    }

    fn settle(&mut self) {
        self.heap.path.settle();
        self.heap.shrink();
    }
    fn null(&self) -> Reference {
        self.heap.null()
    }
    fn branch(self, condition: &Formula) -> Forks<Self, bool> {
        match self.heap.oracle.store.as_boolean(*condition) {
            Some(known) => Ok(vec![(self, known)]),
            None => self.forks(|heap| heap.branch(*condition)),
        }
    }

    fn new_object(&mut self, class: ClassId) -> Reference {
        self.heap.allocate(class)
    }
    fn make_array(&mut self, class: ClassId, room: usize, length: &Term) -> Reference {
        self.heap.allocate_array(class, room, *length)
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
        match self.heap.known_object(reference) {
            Some(object) => Ok(vec![(self, object)]),
            None => self.forks(|heap| heap.null_check(reference)),
        }
    }
    fn read(self, base: &Reference, field: usize) -> Forks<Self, ValueOf<Self>> {
        self.known(|heap| heap.read(base, field))
    }
    fn write(&mut self, base: &Reference, field: usize, value: &ValueOf<Self>) -> Result<(), Stop> {
        Ok(self.heap.write(base, field, &Self::cell(value))?)
    }
    fn equal(self, a: &Reference, b: &Reference) -> Forks<Self, bool> {
        self.forks(|heap| heap.equal(a, b))
    }
    fn partition<T: Ord + Clone>(
        self,
        reference: &Reference,
        key: impl Fn(ClassId) -> T,
    ) -> Forks<Self, (T, Reference)> {
        self.forks(|heap| heap.partition(reference, key))
    }

    fn classify<T: Ord + Clone>(
        self,
        reference: &Reference,
        key: impl Fn(Option<ClassId>) -> T,
    ) -> Forks<Self, T> {
        self.forks(|heap| heap.classify(reference, key))
    }

    fn classes(&self, reference: &Reference) -> Vec<ClassId> {
        let of = |reference: &Reference| -> Vec<ClassId> {
            let objects = reference.iter().filter_map(|entry| match entry.target {
                Target::Loc(loc) => Some(self.heap.location(loc).class),
                _ => None,
            });
            let mut classes: Vec<ClassId> = objects.collect();
            classes.sort_unstable();
            classes.dedup();
            classes
        };
        let classes = of(reference);
        if classes.len() < 2 {
            return classes;
        }
        // What the path has ruled out does not count.
        match self.heap.possible(&Cell::Ref(reference.clone())) {
            Cell::Ref(possible) => of(&possible),
            Cell::Scalar(_) => classes,
        }
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
