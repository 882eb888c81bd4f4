//! Complaints as path reports, which the viewer understands.

use crate::complaint::{Complaint, ComplaintKind, PathTo, StepKind};
use parallax_report::{
    Binding, Document, FORMAT, Frame, Importance, Location, PathBuilder, Related, Report, Role, Segment,
    Severity, Step, Tool,
};
use parallax_source::{SourceFile, Span};

/// One report per complaint.
pub fn document(file: &SourceFile, complaints: &[Complaint]) -> Document {
    Document {
        format: FORMAT.to_string(),
        reports: complaints.iter().map(|complaint| report(file, complaint)).collect(),
        ..Document::default()
    }
}

fn report(file: &SourceFile, complaint: &Complaint) -> Report {
    let (rule, severity) = match complaint.kind {
        ComplaintKind::Error => ("mix-type-error", Severity::Error),
        ComplaintKind::Gap => ("mix-gap", Severity::Warning),
    };
    let mut text = vec![Segment::plain(complaint.message.clone())];
    let example = complaint.path.as_ref().and_then(|path| path.example.as_ref());
    if let Some(sentence) = example.and_then(|example| example.sentence(file)) {
        let (first, rest) = sentence.split_at(1);
        text.push(Segment::plain(format!("\n{}{rest}.", first.to_uppercase())));
    }
    text.extend(complaint.notes.iter().map(|note| Segment::plain(format!("\n{note}"))));
    let related = complaint
        .related
        .iter()
        .map(|(span, message)| Related { location: place(file, *span), message: message.clone() })
        .collect();
    Report {
        rule: rule.to_string(),
        title: complaint.message.clone(),
        text,
        severity,
        tool: Tool { name: "parallax mix".to_string(), version: Some(env!("CARGO_PKG_VERSION").to_string()) },
        location: Some(place(file, complaint.span)),
        paths: vec![path(file, complaint)],
        related,
        ..Report::default()
    }
}

fn path(file: &SourceFile, complaint: &Complaint) -> parallax_report::Path {
    let mut path = PathBuilder::new("symbolic execution");
    path.enter(Frame::new("program", file.name.clone()));
    let nothing = PathTo::default();
    let way = complaint.path.as_deref().unwrap_or(&nothing);
    for step in &way.steps {
        if step.kind == StepKind::Return {
            path.leave();
            continue;
        }
        let at = place(file, step.span);
        let mut shown = match &step.kind {
            StepKind::Assumed(Some(taken)) => Step::at(Role::Branch, Some(at)).with_taken(*taken),
            StepKind::Call(function) => {
                Step::at(Role::Call, Some(at)).with_message(format!("calls {function}"))
            }
            // A whole `let` or loop begins on this line; that is all the path has to do with it so far.
            StepKind::Line => Step::at(Role::Note, Some(Location { end_line: None, end_column: None, ..at })),
            StepKind::Assumed(None) | StepKind::Return => Step::at(Role::Note, Some(at)),
        };
        if !step.text.is_empty() {
            shown = shown.with_message(step.text.clone());
        }
        for (name, value) in &step.values {
            shown = shown.with_value(name.clone(), value.clone());
        }
        if shown.says_nothing() {
            shown = shown.in_passing();
        }
        path.say(shown);
        if let StepKind::Call(function) = &step.kind {
            path.enter(Frame::new(function.clone(), file.name.clone()));
        }
    }
    let mut last = Step::at(Role::Note, Some(place(file, complaint.span)))
        .with_message(complaint.message.clone())
        .failing();
    if !way.condition.is_empty() {
        last = last.with_state("path condition", way.condition.clone());
    }
    path.say(last);
    // What the path starts with is known from its first step on.
    if let Some(first) = path.steps_mut().first_mut() {
        let given =
            way.example.iter().flat_map(|example| &example.given).filter(|given| given.block.is_none());
        let given = given.map(|given| Binding { name: given.title(file), value: given.value.clone() });
        first.values.splice(0..0, given);
        if !first.values.is_empty() {
            first.importance = Importance::Important;
        }
    }
    path.finish()
}

fn place(file: &SourceFile, span: Span) -> Location {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let (line, column) = file.position(span.start);
    let (end_line, end_column) = file.position(span.end);
    Location {
        file: file.name.clone(),
        line: Some(number(line)),
        column: Some(number(column)),
        end_line: Some(number(end_line)),
        end_column: Some(number(end_column)),
    }
}
