//! The concrete machine: every reference points to one object or none, and nothing forks.

use crate::machine::only;
use crate::memory::{Forks, Memory, Stop, Value, ValueOf};
use crate::setup::class_of;
use crate::syntax::*;
use parallax_heap::{InputHeap, InputValue};
use std::rc::Rc;

/// A value of a concrete run.
pub type ConcreteValue = Value<Option<usize>, i32, bool>;

/// An object, or an array with its elements as fields.
#[derive(Clone, Debug)]
pub struct ConcreteObject {
    /// What it is an instance of; the object that holds the parameters is an instance of nothing.
    pub class: Option<ClassId>,
    /// What its fields hold.
    pub fields: Vec<ConcreteValue>,
}

/// A concrete heap.
#[derive(Clone)]
pub struct Concrete {
    program: Rc<Program>,
    array: usize,
    /// The objects: `this`, the parameters, then all others.
    pub objects: Vec<ConcreteObject>,
}

impl Concrete {
    /// A heap that starts as `input`; arrays have at most `array` elements.
    pub fn new(program: Rc<Program>, input: &InputHeap, array: usize) -> Self {
        let classes = program.classes.len();
        let objects = input
            .objects
            .iter()
            .map(|object| ConcreteObject {
                class: Some(ClassId(object.class.0)).filter(|class| (class.0 as usize) < classes),
                fields: object
                    .fields
                    .iter()
                    .map(|value| match *value {
                        InputValue::Null => Value::Ref(None),
                        InputValue::Object(at) => Value::Ref(Some(at)),
                        InputValue::Bits(bits) => Value::Int(bits as i32),
                        InputValue::Bool(b) => Value::Bool(b),
                    })
                    .collect(),
            })
            .collect();
        Concrete { program, array, objects }
    }

    fn zero(ty: Type) -> ConcreteValue {
        match ty {
            Type::Bool => Value::Bool(false),
            Type::Int => Value::Int(0),
            _ => Value::Ref(None),
        }
    }

    fn object(&self, reference: &Option<usize>) -> Result<usize, Stop> {
        reference.ok_or_else(|| Stop::Broken("a null reference was not checked".into()))
    }

    fn make(&mut self, class: ClassId, fields: Vec<ConcreteValue>) -> Option<usize> {
        self.objects.push(ConcreteObject { class: Some(class), fields });
        Some(self.objects.len() - 1)
    }

    /// The class of an object as the heap library numbers it.
    pub fn heap_class(&self, at: usize) -> parallax_heap::ClassId {
        let parameters = ClassId(self.program.classes.len() as u32);
        class_of(self.objects[at].class.unwrap_or(parameters))
    }
}

impl Memory for Concrete {
    type Ref = Option<usize>;
    type Int = i32;
    type Bool = bool;

    fn null(&self) -> Self::Ref {
        None
    }
    fn int(&self, value: i32) -> i32 {
        value
    }
    fn bool(&self, value: bool) -> bool {
        value
    }
    fn arith(&self, op: Arith, a: &i32, b: &i32) -> i32 {
        match op {
            Arith::Add => a.wrapping_add(*b),
            Arith::Sub => a.wrapping_sub(*b),
            Arith::Mul => a.wrapping_mul(*b),
        }
    }
    fn compare(&self, op: Compare, a: &i32, b: &i32) -> bool {
        match op {
            Compare::Eq => a == b,
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Within => 0 <= *a && a < b,
        }
    }
    fn not(&self, a: &bool) -> bool {
        !a
    }
    fn iff(&self, a: &bool, b: &bool) -> bool {
        a == b
    }
    fn branch(self, condition: &bool) -> Forks<Self, bool> {
        only(self, *condition)
    }

    fn new_object(&mut self, class: ClassId) -> Self::Ref {
        let fields = self.program.class(class).fields.iter().map(|field| Self::zero(field.ty)).collect();
        self.make(class, fields)
    }
    fn make_array(&mut self, class: ClassId, length: &i32) -> Self::Ref {
        let element = self.program.class(class).element.unwrap_or(Type::Null);
        let elements = (0..*length).map(|_| Self::zero(element)).collect();
        self.make(class, elements)
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
    fn dispatch(self, receiver: &Self::Ref, method: Name) -> Forks<Self, (MethodId, Self::Ref)> {
        let class = self.objects[self.object(receiver)?].class;
        let target = class.and_then(|class| self.program.class(class).methods.get(&method).copied());
        let target = target.ok_or_else(|| Stop::Broken("no such method".into()))?;
        only(self, (target, *receiver))
    }

    fn length(&self, array: &Self::Ref) -> Result<i32, Stop> {
        Ok(self.objects[self.object(array)?].fields.len() as i32)
    }
    fn element(self, array: &Self::Ref, index: &i32) -> Forks<Self, ValueOf<Self>> {
        let field = *index as usize;
        self.read(array, field)
    }
    fn set_element(
        mut self,
        array: &Self::Ref,
        index: &i32,
        value: &ValueOf<Self>,
    ) -> Result<Vec<Self>, Stop> {
        self.write(array, *index as usize, value)?;
        Ok(vec![self])
    }
}
