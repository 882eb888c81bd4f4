//! Traces, ends and results as people read them.

use crate::concrete::ConcreteValue;
use crate::engine::{Ending, Final, Trace};
use crate::lazy::Lazy;
use crate::machine::{Cut, End, Event, Fault, Outcome};
use crate::memory::Value;
use crate::summary::Summary;
use crate::syntax::Program;
use parallax_heap::{Held, Origin, text};
use parallax_source::SourceFile;
use parallax_term::Scalar;

/// An outcome, with the line it stands on and the expression it is about.
pub fn event(program: &Program, file: &SourceFile, event: &Event) -> String {
    let (line, _) = file.position(event.at.start);
    let what = expression(file.slice(event.at));
    let outcome = match event.outcome {
        Outcome::NonNull(true) => "an object".to_owned(),
        Outcome::NonNull(false) => "null".to_owned(),
        Outcome::Equal(true) => "same".to_owned(),
        Outcome::Equal(false) => "different".to_owned(),
        Outcome::Branch(holds) | Outcome::Assert(holds) | Outcome::Assume(holds) => holds.to_string(),
        Outcome::Dispatch(method) => program.method_name(method),
        Outcome::InBounds(true) => "in bounds".to_owned(),
        Outcome::InBounds(false) => "out of bounds".to_owned(),
        Outcome::Length(true) => "made".to_owned(),
        Outcome::Length(false) => "negative length".to_owned(),
    };
    format!("{line}: {what}: {outcome}")
}

/// The text of an expression on one short line.
fn expression(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() > 40 { line.chars().take(39).chain(['…']).collect() } else { line }
}

/// Why a path failed.
pub fn fault(fault: Fault) -> &'static str {
    match fault {
        Fault::Null => "null dereference",
        Fault::Bounds => "index out of bounds",
        Fault::NegativeLength => "negative array length",
        Fault::Assertion => "assertion failed",
        Fault::Explicit => "error",
    }
}

/// Which bound cut a path off.
pub fn cut(cut: Cut) -> &'static str {
    match cut {
        Cut::Loop => "loop bound",
        Cut::Calls => "call bound",
        Cut::Array => "array bound",
    }
}

/// How a trace ended, in a word or two.
pub fn ending(trace: &Trace) -> &'static str {
    match trace.ending {
        Ending::Value => "returns",
        Ending::Error(kind) => fault(kind),
        Ending::Cut(bound) => cut(bound),
        Ending::Discarded => "discarded",
    }
}

/// A concrete value.
pub fn concrete(value: &ConcreteValue) -> String {
    match value {
        Value::Ref(None) => "null".into(),
        Value::Ref(Some(at)) => format!("object {at}"),
        Value::Int(int) => int.to_string(),
        Value::Bool(b) => b.to_string(),
    }
}

/// A final state of any symbolic engine, in words.
pub trait Describe {
    /// The result, if the path ended with one.
    fn result(&self) -> Option<String>;
    /// The path condition, conjunct by conjunct.
    fn condition(&self) -> Vec<String>;
    /// Whether the bound k left something out on this path.
    fn truncated(&self) -> bool;
}

impl Describe for Final<Summary<'_>> {
    fn result(&self) -> Option<String> {
        match &self.end {
            End::Value(value) => Some(self.heap().cell_text(&self.heap().possible(&Summary::cell(value)))),
            _ => None,
        }
    }

    fn condition(&self) -> Vec<String> {
        let outcomes = self
            .heap()
            .path
            .conjuncts()
            .to_vec()
            .into_iter()
            .filter(|(_, origin)| *origin == Origin::Outcome);
        let outcomes: Vec<_> = outcomes.map(|(formula, _)| *formula).collect();
        text::conjuncts(self.heap().oracle.store, &outcomes)
    }

    fn truncated(&self) -> bool {
        self.heap().truncated
    }
}

impl Describe for Final<Lazy<'_>> {
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
        parts.extend(text::conjuncts(self.memory.oracle.store, &self.memory.path.formulas()));
        parts
    }

    fn truncated(&self) -> bool {
        self.memory.truncated
    }
}
