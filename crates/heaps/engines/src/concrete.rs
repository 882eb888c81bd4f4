//! The concrete machine: every reference points to one object or none, and nothing forks.

use crate::memory::{Forks, Memory, Stop, Value, ValueOf};
use parallax_heap::{ClassId, FieldKind, InputHeap, InputValue, LeftOut, Universe};
use parallax_op::Bits;
use std::rc::Rc;

/// A value of a concrete run.
pub type ConcreteValue = Value<Option<usize>, Bits, bool>;

/// An object, or an array with its elements as fields.
#[derive(Clone, Debug)]
pub struct ConcreteObject {
    /// What it is an instance of.
    pub class: ClassId,
    /// What its fields hold.
    pub fields: Vec<ConcreteValue>,
}

/// A concrete heap.
#[derive(Clone)]
pub struct Concrete {
    universe: Rc<Universe>,
    array: usize,
    left_out: LeftOut,
    /// The objects: `this`, the parameters, then all others.
    pub objects: Vec<ConcreteObject>,
}

impl Concrete {
    /// A heap that starts as `input`; arrays have at most `array` elements.
    pub fn new(universe: Rc<Universe>, input: &InputHeap, array: usize) -> Self {
        let objects = input.objects.iter().map(|object| ConcreteObject {
            class: object.class,
            fields: object
                .fields
                .iter()
                .enumerate()
                .map(|(field, value)| match *value {
                    InputValue::Null => Value::Ref(None),
                    InputValue::Object(at) => Value::Ref(Some(at)),
                    InputValue::Bits(bits) => match universe.kind(object.class, field) {
                        FieldKind::Bits(width) => Value::Int(Bits::new(width, bits.into())),
                        _ => Value::Int(Bits::new(64, bits.into())),
                    },
                    InputValue::Bool(b) => Value::Bool(b),
                })
                .collect(),
        });
        Concrete { objects: objects.collect(), universe, array, left_out: LeftOut::default() }
    }

    fn zero(kind: FieldKind) -> ConcreteValue {
        match kind {
            FieldKind::Bool => Value::Bool(false),
            FieldKind::Bits(width) => Value::Int(Bits::zero(width)),
            FieldKind::Ref(_) => Value::Ref(None),
        }
    }

    fn object(&self, reference: &Option<usize>) -> Result<usize, Stop> {
        reference.ok_or_else(|| Stop::Broken("a null reference was not checked".into()))
    }

    fn make(&mut self, class: ClassId, fields: Vec<ConcreteValue>) -> Option<usize> {
        self.objects.push(ConcreteObject { class, fields });
        Some(self.objects.len() - 1)
    }
}

/// A memory that never forks has one successor.
fn only<M, T>(memory: M, answer: T) -> Forks<M, T> {
    Ok(vec![(memory, answer)])
}

impl Memory for Concrete {
    type Core = parallax_sem::Concrete;
    type Ref = Option<usize>;

    fn core(&self) -> &parallax_sem::Concrete {
        &parallax_sem::Concrete
    }
    fn know(&mut self, universe: &Rc<Universe>) {
        self.universe = universe.clone();
    }
    fn left_out(&self) -> LeftOut {
        self.left_out.clone()
    }
    fn identical(&self, a: &Self::Ref, b: &Self::Ref) -> bool {
        a.is_some() && a == b
    }
    fn null(&self) -> Self::Ref {
        None
    }
    fn branch(self, condition: &bool) -> Forks<Self, bool> {
        only(self, *condition)
    }

    fn new_object(&mut self, class: ClassId) -> Self::Ref {
        let fields = self.universe.class(class).fields.iter().map(|field| Self::zero(field.kind)).collect();
        self.make(class, fields)
    }
    fn make_array(&mut self, class: ClassId, _: usize, length: &Bits) -> Self::Ref {
        let zero = self.universe.class(class).element.map_or(Value::Ref(None), Self::zero);
        let length = length.to_u64().unwrap_or(0) as usize;
        self.make(class, vec![zero; length])
    }
    fn array_bound(&self) -> usize {
        self.array
    }
    fn this(&self) -> Self::Ref {
        Some(0)
    }
    fn parameter(self, index: usize) -> Forks<Self, ValueOf<Self>> {
        let value = self.objects[1].fields[index].clone();
        only(self, value)
    }

    fn null_check(self, reference: &Self::Ref) -> Forks<Self, bool> {
        only(self, reference.is_some())
    }
    fn read(self, base: &Self::Ref, field: usize) -> Forks<Self, ValueOf<Self>> {
        let value = self.objects[self.object(base)?].fields[field].clone();
        only(self, value)
    }
    fn write(&mut self, base: &Self::Ref, field: usize, value: &ValueOf<Self>) -> Result<(), Stop> {
        let at = self.object(base)?;
        self.objects[at].fields[field] = value.clone();
        Ok(())
    }
    fn equal(self, a: &Self::Ref, b: &Self::Ref) -> Forks<Self, bool> {
        only(self, a == b)
    }
    fn partition<T: Ord + Clone>(
        self,
        reference: &Self::Ref,
        key: impl Fn(ClassId) -> T,
    ) -> Forks<Self, (T, Self::Ref)> {
        let class = self.objects[self.object(reference)?].class;
        only(self, (key(class), *reference))
    }

    fn classify<T: Ord + Clone>(
        self,
        reference: &Self::Ref,
        key: impl Fn(Option<ClassId>) -> T,
    ) -> Forks<Self, T> {
        let class = reference.map(|at| self.objects[at].class);
        only(self, key(class))
    }

    fn classes(&self, reference: &Self::Ref) -> Vec<ClassId> {
        reference.map(|at| self.objects[at].class).into_iter().collect()
    }
    fn length(&self, array: &Self::Ref) -> Result<Bits, Stop> {
        Ok(Bits::new(32, self.objects[self.object(array)?].fields.len() as u128))
    }
    fn element(self, array: &Self::Ref, index: &Bits) -> Forks<Self, ValueOf<Self>> {
        self.read(array, index.to_u64().unwrap_or(0) as usize)
    }
    fn set_element(
        mut self,
        array: &Self::Ref,
        index: &Bits,
        value: &ValueOf<Self>,
    ) -> Result<Vec<Self>, Stop> {
        self.write(array, index.to_u64().unwrap_or(0) as usize, value)?;
        Ok(vec![self])
    }
}
