//! A program as the engines see it: its classes, and one more whose fields are the parameters.

use crate::syntax::{ClassId, MethodId, Name, Program, Type};
use parallax_engines::{Inputs, Setup};
use parallax_heap::{Class, Field, FieldKind, Universe};
use parallax_term::Store;
use std::rc::Rc;

/// Prepares to run `method` of an instance of `class`, with guards in `store`.
pub fn setup<'s>(
    store: &'s Store,
    program: &Program,
    class: ClassId,
    method: MethodId,
    inputs: Inputs,
) -> Setup<'s> {
    let parameters = parallax_heap::ClassId(program.classes.len() as u32);
    Setup::new(store, Rc::new(universe(program, method)), class_of(class), parameters, inputs)
}

pub(crate) fn class_of(class: ClassId) -> parallax_heap::ClassId {
    parallax_heap::ClassId(class.0)
}

fn universe(program: &Program, method: MethodId) -> Universe {
    let kind = |ty: Type| match ty {
        Type::Bool => FieldKind::Bool,
        Type::Ref(class) => FieldKind::Ref(class_of(class)),
        _ => FieldKind::Bits(32),
    };
    let plain =
        |name: Name, ty: Type| Field { name: program.name(name).to_owned(), kind: kind(ty), acyclic: false };
    let mut classes: Vec<Class> = program
        .classes
        .iter()
        .enumerate()
        .map(|(at, class)| Class {
            name: class.name.clone(),
            fields: class.fields.iter().map(|field| plain(field.name, field.ty)).collect(),
            element: class.element.map(kind),
            instances: program.instances(ClassId(at as u32)).into_iter().map(class_of).collect(),
            left_out: None,
        })
        .collect();
    let parameters = program.method(method).parameters.iter();
    classes.push(Class {
        name: "parameters".into(),
        fields: parameters.map(|(name, ty)| plain(*name, *ty)).collect(),
        element: None,
        instances: Vec::new(),
        left_out: None,
    });
    Universe { classes }
}
