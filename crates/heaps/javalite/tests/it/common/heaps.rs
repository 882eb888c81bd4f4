//! Random complete input heaps.

use super::generate::Random;
use parallax_engines::Setup;
use parallax_heap::{ClassId, FieldKind, InputHeap, InputObject, InputValue};

/// A heap with `size` objects besides `this`, nothing of it unknown.
pub fn random(setup: &Setup<'_>, size: usize, random: &mut Random) -> InputHeap {
    let universe = &setup.universe;
    let mut classes = vec![setup.class, setup.parameters];
    let all = universe.classes.len() - 1;
    classes.extend((0..size).map(|_| ClassId(random.below(all) as u32)));
    let value = |kind: FieldKind, random: &mut Random| match kind {
        FieldKind::Bits(_) => InputValue::Bits([0, 1, 2, 3, u64::from(u32::MAX)][random.below(5)]),
        FieldKind::Bool => InputValue::Bool(random.one_in(2)),
        FieldKind::Ref(wanted) => {
            let fitting: Vec<usize> = (0..classes.len())
                .filter(|&at| universe.admits(wanted, classes[at]))
                .filter(|&at| at > 0 || setup.inputs.root_alias)
                .collect();
            if fitting.is_empty() || random.one_in(4) {
                InputValue::Null
            } else {
                InputValue::Object(*random.pick(&fitting))
            }
        }
    };
    let objects = classes
        .iter()
        .map(|&class| {
            let shape = universe.class(class);
            let fields = match shape.element {
                Some(kind) => {
                    let length = random.below(setup.inputs.array + 1);
                    (0..length).map(|_| value(kind, random)).collect()
                }
                None => shape.fields.iter().map(|field| value(field.kind, random)).collect(),
            };
            InputObject { class, path: String::new(), fields }
        })
        .collect();
    InputHeap { objects }
}
