//! Concrete input heaps: what a test starts from, and which guarded heaps represent it.

use crate::HeapError;
use crate::guarded::{Guarded, Loc};
use crate::selector::{Choice, symbol_of};
use crate::snapshot::{Held, Snapshot};
use crate::universe::{ClassId, FieldKind, Universe};
use parallax_op::Bits;
use parallax_path::Model;
use parallax_term::{Node, Scalar, Store, Term};
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

impl Guarded<'_> {
    /// Whether some model of this heap's path condition is this concrete heap: the choices follow from it, one after
    /// the other, and then the condition holds or does not.
    pub fn represents(&self, input: &InputHeap, roots: &[(Loc, usize)]) -> bool {
        let store = self.oracle.store;
        let mut values = parallax_smt::Model::new();
        let mut image: HashMap<Loc, usize> = roots.iter().copied().collect();
        for &(loc, object) in roots {
            self.describe(loc, &input.objects[object], &mut values);
        }
        for selector in &self.selectors {
            let so_far = Model::new(values.clone(), true);
            if !so_far.holds(store, selector.under) {
                continue;
            }
            // Guards are simplified under the path condition: a choice for an object that is not there means that the
            // condition does not hold.
            let Some(&object) = image.get(&selector.loc) else { return false };
            let target = match input.objects[object].fields.get(selector.field) {
                Some(InputValue::Object(target)) => Some(*target),
                _ => None,
            };
            let fits = |choice: &Choice| match (*choice, target) {
                (Choice::Nil, None) => true,
                (Choice::Alias(loc), Some(target)) => {
                    image.get(&loc) == Some(&target) && so_far.holds(store, self.location(loc).exists)
                }
                (Choice::New(loc), Some(target)) => {
                    let known = self.candidates.iter().any(|candidate| image.get(candidate) == Some(&target));
                    !known && self.location(loc).class == input.objects[target].class
                }
                _ => false,
            };
            let Some(&(choice, atom)) = selector.choices.iter().find(|(choice, _)| fits(choice)) else {
                // Beyond the bound k: no choice leads there.
                return false;
            };
            if let Some(symbol) = symbol_of(store, atom) {
                values.set_boolean(symbol, true);
            }
            if let (Choice::New(loc), Some(target)) = (choice, target) {
                image.insert(loc, target);
                self.describe(loc, &input.objects[target], &mut values);
            }
        }
        let model = Model::new(values, true);
        self.path.formulas().iter().all(|formula| model.holds(store, *formula))
    }

    /// The vectors and truth values of an object, as values of the symbols of its location.
    fn describe(&self, loc: Loc, object: &InputObject, values: &mut parallax_smt::Model) {
        let store = self.oracle.store;
        let location = self.location(loc);
        let set = |values: &mut parallax_smt::Model, term: Term, value: u64| {
            if let Node::Symbol(symbol) = store.node(term) {
                values.set_bits(symbol, Bits::new(store.width(term), value.into()));
            }
        };
        if let Some(length) = location.length {
            set(values, length, object.fields.len() as u64);
        }
        for (cell, value) in location.inp.iter().zip(&object.fields) {
            match (cell, value) {
                (crate::Cell::Scalar(Scalar::Term(term)), InputValue::Bits(bits)) => {
                    set(values, *term, *bits)
                }
                (crate::Cell::Scalar(Scalar::Formula(formula)), InputValue::Bool(b)) => {
                    if let Node::Symbol(symbol) = store.node(*formula) {
                        values.set_boolean(symbol, *b);
                    }
                }
                _ => {}
            }
        }
    }
}
