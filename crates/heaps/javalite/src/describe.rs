//! Traces, ends and results as people read them.

use crate::machine::{Cut, Event, Fault, Outcome};
use crate::syntax::Program;
use crate::{Ending, Trace};
use parallax_engines::{ConcreteValue, Value};
use parallax_source::SourceFile;

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
        Value::Int(int) => int.to_i128().unwrap_or_default().to_string(),
        Value::Bool(b) => b.to_string(),
    }
}
