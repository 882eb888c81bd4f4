//! A heap in which every reference points to one place: a state of lazy initialisation, a guarded heap under one
//! model, or the end of a concrete run. Its canonical form tells heaps apart up to the names of objects.

use crate::universe::{ClassId, Universe};
use parallax_term::{Scalar, Term};
use std::collections::VecDeque;
use std::fmt::Write;
use std::rc::Rc;

/// What a field or a root holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Null.
    Nil,
    /// Not yet initialised.
    Un,
    /// The object of this number.
    Object(usize),
    /// A bit-vector or truth value.
    Scalar(Scalar),
}

/// An object.
#[derive(Clone, Debug)]
pub struct Object {
    /// What it is an instance of.
    pub class: ClassId,
    /// How it was discovered.
    pub path: Rc<str>,
    /// What its fields hold.
    pub fld: Vec<Held>,
    /// What they held on entry; empty if the program made it.
    pub inp: Vec<Held>,
    /// The length of an array.
    pub length: Option<Term>,
}

/// A heap with its roots.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Objects; those that roots do not reach are garbage.
    pub objects: Vec<Object>,
    /// Roots, in a fixed order.
    pub roots: Vec<(String, Held)>,
}

/// The canonical form of a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Canon {
    /// Equal exactly for heaps that differ in the names of objects only; vectors and truth values are left out.
    pub text: String,
    /// Those, in canonical order.
    pub scalars: Vec<Scalar>,
}

impl Snapshot {
    /// Numbers objects breadth first from the roots and writes everything down in that order.
    pub fn canon(&self, universe: &Universe) -> Canon {
        let mut number = vec![None; self.objects.len()];
        let mut queue = VecDeque::new();
        let mut canon = Canon { text: String::new(), scalars: Vec::new() };
        let mut count = 0;
        let mut emit = |held: Held, canon: &mut Canon, queue: &mut VecDeque<usize>| match held {
            Held::Nil => canon.text.push_str(" null"),
            Held::Un => canon.text.push_str(" ?"),
            Held::Scalar(scalar) => {
                canon.text.push_str(" _");
                canon.scalars.push(scalar);
            }
            Held::Object(at) => {
                let id = *number[at].get_or_insert_with(|| {
                    queue.push_back(at);
                    count += 1;
                    count
                });
                let _ = write!(canon.text, " {id}");
            }
        };
        for (name, held) in &self.roots {
            canon.text.push_str(name);
            emit(*held, &mut canon, &mut queue);
            canon.text.push('\n');
        }
        while let Some(at) = queue.pop_front() {
            let object = &self.objects[at];
            let _ = write!(canon.text, "{}:", universe.class(object.class).name);
            if let Some(length) = object.length {
                emit(Held::Scalar(Scalar::Term(length)), &mut canon, &mut queue);
            }
            for held in &object.fld {
                emit(*held, &mut canon, &mut queue);
            }
            canon.text.push_str(" |");
            for held in &object.inp {
                emit(*held, &mut canon, &mut queue);
            }
            canon.text.push('\n');
        }
        canon
    }
}
