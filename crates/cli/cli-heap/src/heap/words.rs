//! What a report needs of a language besides its engines: words.

use parallax_engines::{ConcreteValue, Machine, Setup};
use parallax_heap::Universe;
use parallax_javalite::{Task, describe};
use parallax_source::{SourceFile, Span};
use serde_json::{Value as Json, json};
use std::rc::Rc;
use std::time::Instant;

/// How a language says what happened.
pub trait Words<L: Machine> {
    /// The method, as people name it.
    fn method(&self) -> String;
    /// An outcome; none if it is not worth a line.
    fn event(&self, event: &L::Event) -> Option<String>;
    /// Why a path failed.
    fn fault(&self, fault: &L::Fault) -> String;
    /// Why a path was cut off.
    fn cut(&self, cut: &L::Cut) -> String;
    /// A place, with its `line`.
    fn place(&self, place: &L::Place) -> Json;
    /// The precondition, if it counts as one condition.
    fn precondition(&self) -> Option<String>;
    /// Whether the method gives no value.
    fn is_void(&self) -> bool {
        false
    }
    /// A result that a run gave.
    fn value(&self, value: &ConcreteValue) -> String {
        describe::concrete(value)
    }
    /// A result as it is known of a path.
    fn result(&self, text: String) -> String {
        text
    }
    /// What is taken for granted about inputs.
    fn assumptions(&self) -> Vec<String> {
        Vec::new()
    }
    /// What objects look like, classes that were loaded meanwhile included.
    fn universe(&self, setup: &Setup<'_>) -> Rc<Universe> {
        setup.universe.clone()
    }
}

/// A method under way, in any language.
pub struct Run<'a, 's, L: Machine> {
    /// What inputs look like.
    pub setup: &'a Setup<'s>,
    /// The method and its precondition.
    pub task: &'a L,
    /// When it began.
    pub start: Instant,
    /// The language's words.
    pub words: &'a dyn Words<L>,
}

/// Javalite's words.
pub struct Javalite<'a> {
    /// The program's text.
    pub file: &'a SourceFile,
    /// The program.
    pub task: &'a Task,
}

impl Words<Task> for Javalite<'_> {
    fn method(&self) -> String {
        self.task.program.method_name(self.task.method)
    }

    fn event(&self, event: &parallax_javalite::Event) -> Option<String> {
        Some(describe::event(&self.task.program, self.file, event))
    }

    fn fault(&self, fault: &parallax_javalite::Fault) -> String {
        describe::fault(*fault).to_owned()
    }

    fn cut(&self, cut: &parallax_javalite::Cut) -> String {
        describe::cut(*cut).to_owned()
    }

    fn place(&self, span: &Span) -> Json {
        let (line, column) = self.file.position(span.start);
        json!({"line": line, "column": column})
    }

    fn precondition(&self) -> Option<String> {
        let rep_ok = self.task.rep_ok.filter(|_| self.task.merged)?;
        Some(self.task.program.method_name(rep_ok))
    }
}
