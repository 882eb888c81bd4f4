//! What every symbolic engine starts from: a program, where to start, how inputs are bounded.

use crate::syntax::{Arith, ClassId, Compare, MethodId, Name, Program, Type};
use parallax_heap::{Class, Field, FieldKind, Universe, oracle};
use parallax_op::{BinOp, RelOp};
use parallax_path::Oracle;
use parallax_term::{Formula, Store, Term};
use std::rc::Rc;

/// How input heaps are bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// How many steps from `this` an input object may be discovered; `None` for any number.
    pub k: Option<usize>,
    /// How many elements an array has at most.
    pub array: usize,
    /// Whether inputs may point back to `this`.
    pub root_alias: bool,
}

impl Default for Inputs {
    fn default() -> Self {
        Inputs { k: Some(3), array: 3, root_alias: true }
    }
}

/// A program, a method of it, and the inputs it may be given.
pub struct Setup<'s> {
    /// The program.
    pub program: Rc<Program>,
    /// The class of `this`.
    pub class: ClassId,
    /// The bounds.
    pub inputs: Inputs,
    /// The program's classes, and one more whose fields are the parameters.
    pub universe: Rc<Universe>,
    /// Guards and solver.
    pub oracle: Rc<Oracle<'s>>,
}

impl<'s> Setup<'s> {
    /// Prepares to run `method` of an instance of `class`, with guards in `store`.
    pub fn new(
        store: &'s Store,
        program: Rc<Program>,
        class: ClassId,
        method: MethodId,
        inputs: Inputs,
    ) -> Self {
        let universe = Rc::new(universe(&program, method));
        Setup { program, class, inputs, universe, oracle: Rc::new(oracle(store)) }
    }

    /// Only inputs without a cycle along references of these names, as one graph. False if no field has the name.
    pub fn forbid_cycles(&mut self, name: &str) -> bool {
        let classes = self.program.classes.len();
        let universe = Rc::make_mut(&mut self.universe);
        let mut found = false;
        for field in universe.classes[..classes].iter_mut().flat_map(|class| &mut class.fields) {
            if field.name == name && matches!(field.kind, FieldKind::Ref(_)) {
                field.acyclic = true;
                found = true;
            }
        }
        found
    }

    /// The class whose fields are the parameters.
    pub fn parameters(&self) -> parallax_heap::ClassId {
        parallax_heap::ClassId(self.program.classes.len() as u32)
    }
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
        })
        .collect();
    let parameters = program.method(method).parameters.iter();
    classes.push(Class {
        name: "parameters".into(),
        fields: parameters.map(|(name, ty)| plain(*name, *ty)).collect(),
        element: None,
        instances: Vec::new(),
    });
    Universe { classes }
}

/// The part of a [`Memory`](crate::memory::Memory) in which integers are terms and truth values formulas; `$oracle` is
/// where `self` has its [`Oracle`].
macro_rules! values_are_terms {
    ($($oracle:ident).+) => {
        fn int(&self, value: i32) -> Term {
            self.$($oracle).+.store.number(32, u128::from(value as u32))
        }
        fn bool(&self, value: bool) -> Formula {
            self.$($oracle).+.store.boolean(value)
        }
        fn arith(&self, op: Arith, a: &Term, b: &Term) -> Term {
            $crate::setup::arith(self.$($oracle).+.store, op, *a, *b)
        }
        fn compare(&self, op: Compare, a: &Term, b: &Term) -> Formula {
            $crate::setup::compare(self.$($oracle).+.store, op, *a, *b)
        }
        fn not(&self, a: &Formula) -> Formula {
            self.$($oracle).+.store.not(*a)
        }
        fn iff(&self, a: &Formula, b: &Formula) -> Formula {
            self.$($oracle).+.store.iff(*a, *b)
        }
    };
}
pub(crate) use values_are_terms;

/// The operators on integers, over terms.
pub(crate) fn arith(store: &Store, op: Arith, a: Term, b: Term) -> Term {
    let op = match op {
        Arith::Add => BinOp::Add,
        Arith::Sub => BinOp::Sub,
        Arith::Mul => BinOp::Mul,
    };
    store.binop(op, a, b)
}

pub(crate) fn compare(store: &Store, op: Compare, a: Term, b: Term) -> Formula {
    let op = match op {
        Compare::Eq => RelOp::Eq,
        Compare::Lt => RelOp::Slt,
        Compare::Le => RelOp::Sle,
        Compare::Within => RelOp::Ult,
    };
    store.relop(op, a, b)
}
