//! What objects look like: classes, their fields, their subclasses. A table, whatever language it comes from.

use crate::left_out::LeftOut;
use parallax_op::Width;
use parallax_path::Bound;
use parallax_term::{Scalar, Store};
use std::rc::Rc;

/// A class of objects, by its place in the [`Universe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(pub u32);

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind {
    /// A reference to an instance of a class or of one of its subclasses, or null.
    Ref(ClassId),
    /// A bit-vector.
    Bits(Width),
    /// A truth value.
    Bool,
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether no input heap has a cycle along this field and others like it.
    pub acyclic: bool,
}

/// A class of objects.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Its fields; a subclass has those of its superclass first. An array type has none.
    pub fields: Vec<Field>,
    /// What an element is, if this is an array type.
    pub element: Option<FieldKind>,
    /// The classes whose instances may stand where this class is declared, itself included.
    pub instances: Vec<ClassId>,
    /// Which inputs declared as this class are left out, in words; nothing if the instances are all there are.
    pub left_out: Option<Rc<str>>,
}

/// The objects that an input reference may be which were not seen before.
pub struct NewInputs<'a> {
    /// Their classes.
    pub instances: &'a [ClassId],
    /// Whether the bound k forbade some.
    pub truncated: bool,
}

impl Class {
    /// What an input reference declared as this class may be besides null and what is known already, where it is `depth`
    /// steps from the root. What is left out is noted.
    pub fn new_inputs(&self, k: Option<usize>, depth: usize, left_out: &LeftOut) -> NewInputs<'_> {
        let any = !self.instances.is_empty() || self.left_out.is_some();
        match k.filter(|k| depth >= *k) {
            Some(k) => {
                if any {
                    left_out.note(Bound::Chain(u32::try_from(k).unwrap_or(u32::MAX)));
                }
                NewInputs { instances: &[], truncated: any }
            }
            None => {
                // Of objects that stand for others, whatever asks for the class notes it.
                if let (true, Some(others)) = (self.instances.is_empty(), &self.left_out) {
                    left_out.note(Bound::Unsupported(others.to_string()));
                }
                NewInputs { instances: &self.instances, truncated: false }
            }
        }
    }
}

/// Every class there is.
#[derive(Clone, Debug, Default)]
pub struct Universe {
    /// By number.
    pub classes: Vec<Class>,
}

impl Universe {
    /// The class of this number.
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.0 as usize]
    }

    /// Whether inputs may have arrays.
    pub fn has_input_arrays(&self) -> bool {
        self.classes.iter().any(|class| class.element.is_some() && !class.instances.is_empty())
    }

    /// What a field, or any element of an array, holds.
    pub fn kind(&self, class: ClassId, field: usize) -> FieldKind {
        let class = self.class(class);
        class.element.unwrap_or_else(|| class.fields[field].kind)
    }

    /// Whether no input heap has a cycle along this field and others like it.
    pub fn is_acyclic(&self, class: ClassId, field: usize) -> bool {
        self.class(class).fields.get(field).is_some_and(|field| field.acyclic)
    }

    /// How to get to a field from the object at `path`: `path.name`, `path[3]` in an array.
    pub fn place(&self, path: &str, class: ClassId, field: usize) -> String {
        let class = self.class(class);
        match class.element {
            Some(_) => format!("{path}[{field}]"),
            None if path.is_empty() => class.fields[field].name.clone(),
            None => format!("{path}.{}", class.fields[field].name),
        }
    }

    /// Whether an instance of `class` may stand where `wanted` is declared.
    pub fn admits(&self, wanted: ClassId, class: ClassId) -> bool {
        self.class(wanted).instances.contains(&class)
    }

    /// The symbol for what a field of the object at `path` held on entry; none for a reference.
    pub fn on_entry(&self, store: &Store, class: ClassId, field: usize, path: &str) -> Option<Scalar> {
        let name = self.place(path, class, field);
        match self.kind(class, field) {
            FieldKind::Ref(_) => None,
            FieldKind::Bits(width) => Some(Scalar::Term(store.symbol(&name, width))),
            // The question mark keeps truth values apart from vectors of the same path.
            FieldKind::Bool => Some(Scalar::Formula(store.bool_symbol(&format!("{name}?")))),
        }
    }

    /// What a field of a new object holds; none for a reference, which is null.
    pub fn zero(&self, store: &Store, class: ClassId, field: usize) -> Option<Scalar> {
        match self.kind(class, field) {
            FieldKind::Ref(_) => None,
            FieldKind::Bits(width) => Some(Scalar::Term(store.number(width, 0))),
            FieldKind::Bool => Some(Scalar::Formula(store.false_())),
        }
    }
}
