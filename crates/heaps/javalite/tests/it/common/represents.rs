//! Which guarded heaps represent a concrete one.

use parallax_heap::{Cell, Choice, Guarded, InputHeap, InputObject, InputValue, Loc};
use parallax_op::Bits;
use parallax_path::Model;
use parallax_smt::Model as Values;
use parallax_term::{Node, Scalar, Term};
use std::collections::HashMap;

/// Whether some model of this heap's path condition is this concrete heap: the choices follow from it, one after
/// the other, and then the condition holds or does not.
pub fn represents(heap: &Guarded<'_>, input: &InputHeap, roots: &[(Loc, usize)]) -> bool {
    let store = heap.oracle.store;
    let mut values = Values::new();
    let mut image: HashMap<Loc, usize> = roots.iter().copied().collect();
    for &(loc, object) in roots {
        describe(heap, loc, &input.objects[object], &mut values);
    }
    for selector in &heap.selectors {
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
                image.get(&loc) == Some(&target) && so_far.holds(store, heap.location(loc).exists)
            }
            (Choice::New(loc), Some(target)) => {
                let known = heap.candidates.iter().any(|candidate| image.get(candidate) == Some(&target));
                !known && heap.location(loc).class == input.objects[target].class
            }
            _ => false,
        };
        let Some(&(choice, atom)) = selector.choices.iter().find(|(choice, _)| fits(choice)) else {
            // Beyond the bound k: no choice leads there.
            return false;
        };
        if let Node::Symbol(symbol) = store.node(atom) {
            values.set_boolean(symbol, true);
        }
        if let (Choice::New(loc), Some(target)) = (choice, target) {
            image.insert(loc, target);
            describe(heap, loc, &input.objects[target], &mut values);
        }
    }
    let model = Model::new(values, true);
    heap.path.formulas().iter().all(|formula| model.holds(store, *formula))
}

/// The vectors and truth values of an object, as values of the symbols of its location.
fn describe(heap: &Guarded<'_>, loc: Loc, object: &InputObject, values: &mut Values) {
    let store = heap.oracle.store;
    let location = heap.location(loc);
    let set = |values: &mut Values, term: Term, value: u64| {
        if let Node::Symbol(symbol) = store.node(term) {
            values.set_bits(symbol, Bits::new(store.width(term), value.into()));
        }
    };
    if let Some(length) = location.length {
        set(values, length, object.fields.len() as u64);
    }
    for (cell, value) in location.inp.iter().zip(&object.fields) {
        match (cell, value) {
            (Cell::Scalar(Scalar::Term(term)), InputValue::Bits(bits)) => set(values, *term, *bits),
            (Cell::Scalar(Scalar::Formula(formula)), InputValue::Bool(b)) => {
                if let Node::Symbol(symbol) = store.node(*formula) {
                    values.set_boolean(symbol, *b);
                }
            }
            _ => {}
        }
    }
}
