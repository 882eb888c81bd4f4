//! Concrete input heaps: what a test starts from.

use crate::HeapError;
use crate::snapshot::{Held, Snapshot};
use crate::universe::{ClassId, FieldKind, Universe};
use parallax_path::Model;
use parallax_term::{Scalar, Store};
use std::collections::HashMap;

/// What a field of a concrete heap holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputValue {
    /// Null.
    Null,
    /// The object of this number.
    Object(usize),
    /// A bit-vector, as an unsigned number.
    Bits(u64),
    /// A truth value.
    Bool(bool),
}

/// An object of a concrete heap; of an array, the fields are its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputObject {
    /// What it is an instance of.
    pub class: ClassId,
    /// How a program gets to it.
    pub path: String,
    /// What its fields hold.
    pub fields: Vec<InputValue>,
}

/// A concrete heap. By convention object 0 is `this` and object 1 holds the parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InputHeap {
    /// Every object.
    pub objects: Vec<InputObject>,
}

impl Snapshot {
    /// The heap on entry under a model; what the run never asked about is up to `fill`, which sees the class that is
    /// declared and the objects there are.
    pub fn input(
        &self,
        universe: &Universe,
        store: &Store,
        model: &Model,
        mut fill: impl FnMut(ClassId, &[(usize, ClassId)]) -> InputValue,
    ) -> Result<InputHeap, HeapError> {
        // The first two roots are `this` and the parameters.
        let mut order: Vec<usize> = Vec::new();
        let mut number = HashMap::new();
        let mut reach = |held: Held, order: &mut Vec<usize>| {
            if let Held::Object(at) = held {
                number.entry(at).or_insert_with(|| {
                    order.push(at);
                    order.len() - 1
                });
            }
        };
        for (_, held) in self.roots.iter().take(2) {
            reach(*held, &mut order);
        }
        let mut at = 0;
        while let Some(&object) = order.get(at) {
            for held in &self.objects[object].inp {
                reach(*held, &mut order);
            }
            at += 1;
        }
        // The object that holds the parameters cannot be pointed to.
        let known: Vec<(usize, ClassId)> = order
            .iter()
            .enumerate()
            .filter(|(id, _)| *id != 1)
            .map(|(id, &at)| (id, self.objects[at].class))
            .collect();
        let scalar = |scalar: Scalar| match scalar {
            Scalar::Term(term) => model.term(store, term).to_u64().map(InputValue::Bits),
            Scalar::Formula(formula) => Some(InputValue::Bool(model.holds(store, formula))),
        };
        let mut objects = Vec::new();
        for &at in &order {
            let object = &self.objects[at];
            let count = match object.length {
                Some(length) => model.term(store, length).to_u64().map_or(0, |length| length as usize),
                None => object.inp.len(),
            };
            let mut fields = Vec::new();
            for (field, held) in object.inp.iter().enumerate().take(count) {
                fields.push(match *held {
                    Held::Nil => InputValue::Null,
                    Held::Object(other) => InputValue::Object(number[&other]),
                    Held::Scalar(value) => {
                        scalar(value).ok_or(HeapError::Broken("a model without a value"))?
                    }
                    Held::Un => match universe.kind(object.class, field) {
                        FieldKind::Ref(class) => fill(class, &known),
                        FieldKind::Bits(_) => InputValue::Bits(0),
                        FieldKind::Bool => InputValue::Bool(false),
                    },
                });
            }
            objects.push(InputObject { class: object.class, path: object.path.to_string(), fields });
        }
        Ok(InputHeap { objects })
    }
}
