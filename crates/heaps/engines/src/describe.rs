//! Final states as people read them.

use crate::engine::Final;
use crate::lazy::Lazy;
use crate::machine::{End, Machine};
use crate::summary::Summary;
use parallax_heap::{Held, Origin, text};
use parallax_term::Scalar;

/// A final state of any symbolic engine, in words.
pub trait Describe {
    /// The result, if the path ended with one.
    fn result(&self) -> Option<String>;
    /// The path condition, conjunct by conjunct, beyond a precondition that counts as one condition.
    fn condition(&self) -> Vec<String>;
    /// Whether the bound k left something out on this path.
    fn truncated(&self) -> bool;
}

impl<L: Machine> Describe for Final<L, Summary<'_>> {
    fn result(&self) -> Option<String> {
        match &self.end {
            End::Value(value) => Some(self.heap().cell_text(&self.heap().possible(&Summary::cell(value)))),
            _ => None,
        }
    }

    fn condition(&self) -> Vec<String> {
        text::conjuncts(self.heap().oracle.store, &self.heap().outcomes())
    }

    fn truncated(&self) -> bool {
        self.heap().truncated
    }
}

impl<L: Machine> Describe for Final<L, Lazy<'_>> {
    fn result(&self) -> Option<String> {
        let snapshot = self.snapshot();
        let (name, held) = snapshot.roots.last()?;
        if name != "result" {
            return None;
        }
        let store = self.memory.oracle.store;
        Some(match *held {
            Held::Nil => "null".into(),
            Held::Un => "?".into(),
            Held::Object(at) => snapshot.objects[at].path.to_string(),
            Held::Scalar(Scalar::Term(term)) => text::term(store, term),
            Held::Scalar(Scalar::Formula(formula)) => text::formula(store, formula),
        })
    }

    /// The shape of the heap on entry, and the condition on its values.
    fn condition(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        let mut parts = Vec::new();
        for object in &snapshot.objects {
            for (field, held) in object.inp.iter().enumerate() {
                let place = self.memory.universe().place(&object.path, object.class, field);
                match *held {
                    Held::Nil => parts.push(format!("{place} = null")),
                    Held::Object(at) if *snapshot.objects[at].path != *place => {
                        parts.push(format!("{place} = {}", snapshot.objects[at].path));
                    }
                    Held::Object(_) => parts.push(format!("{place} != null")),
                    _ => {}
                }
            }
        }
        let conjuncts = self.memory.path.conjuncts().to_vec().into_iter();
        let outcomes = conjuncts.filter(|(_, origin)| *origin == Origin::Outcome);
        let outcomes: Vec<_> = outcomes.map(|(formula, _)| *formula).collect();
        parts.extend(text::conjuncts(self.memory.oracle.store, &outcomes));
        parts
    }

    fn truncated(&self) -> bool {
        self.memory.truncated
    }
}
