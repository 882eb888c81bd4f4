//! Complaints as path reports, which the viewer understands.

use crate::complaint::{Complaint, ComplaintKind, PathTo};
use parallax_report::{
    Document, FORMAT, Frame, Location, PathBuilder, Related, Report, Role, Segment, Severity, Step, Tool,
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
        let role = if step.call.is_some() { Role::Call } else { Role::Branch };
        let mut at = Step::at(role, Some(place(file, step.span))).with_message(step.text.clone());
        at.taken = step.taken;
        path.step(at);
        if let Some(function) = &step.call {
            path.enter(Frame::new(function.clone(), file.name.clone()));
        }
    }
    let mut last = Step::at(Role::Note, Some(place(file, complaint.span)))
        .with_message(complaint.message.clone())
        .failing();
    for given in way.input.iter().flatten() {
        last = last.with_value(given.title(file), given.value.clone());
    }
    if !way.condition.is_empty() {
        last = last.with_state("path condition", way.condition.clone());
    }
    path.step(last);
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
