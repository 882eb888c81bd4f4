//! Valgrind's `--xml=yes`: memcheck, helgrind, drd. Each stack of an error becomes a path, outermost call first.

use super::{Sample, version_in};
use crate::read::Fault;
use crate::xml::{Node, Xml};
use crate::{
    AccessMode, Document, Frame, Location, Path, PathBuilder, PathKind, Report, Role, Severity, Step, Tool,
};

pub(super) fn sniff(sample: &Sample) -> bool {
    sample.head.contains("<valgrindoutput")
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let xml = Xml::parse(text)?;
    let top = xml.root().child("valgrindoutput").ok_or_else(|| Fault::new("there is no <valgrindoutput>"))?;
    let kind = top.child_text("tool");
    let name = if kind.is_empty() { "valgrind".to_owned() } else { format!("valgrind {kind}") };
    let preamble: Vec<String> =
        top.child("preamble").into_iter().flat_map(|node| node.children()).map(|line| line.text()).collect();
    let version = preamble.iter().find_map(|line| version_in(line.split_once("Valgrind-")?.1));
    let tool = Tool { name, version };
    let mut document = Document::default();
    for error in top.children_named("error") {
        let report = read_report(error, &tool, &mut document.notes);
        document.reports.push(report);
    }
    for fatal in top.children_named("fatal_signal") {
        let title = format!("Process terminates with {}", fatal.child_text("signame"));
        let mut report = Report {
            rule: fatal.child_text("signame"),
            title,
            severity: Severity::Error,
            tool: tool.clone(),
            ..Report::default()
        };
        report.paths.extend(fatal.child("stack").map(|stack| read_stack(stack, "", &mut document.notes)));
        finish(&mut report);
        document.reports.push(report);
    }
    Ok(document)
}

fn read_report(error: Node, tool: &Tool, notes: &mut Vec<String>) -> Report {
    let kind = error.child_text("kind");
    let what = match error.child("xwhat") {
        Some(node) => node.child_text("text"),
        None => error.child_text("what"),
    };
    let mut report = Report {
        title: what.clone(),
        severity: if kind.starts_with("Leak_") { Severity::Warning } else { Severity::Error },
        cwe: weakness(&kind).into_iter().collect(),
        rule: kind.clone(),
        tool: tool.clone(),
        ..Report::default()
    };
    // What is said before a stack is its label.
    let mut label = what;
    for child in error.children() {
        match child.name() {
            "what" | "auxwhat" => label = child.text().trim().to_owned(),
            "xwhat" | "xauxwhat" => label = child.child_text("text"),
            "stack" => {
                let mut path = read_stack(child, &label, notes);
                let first = report.paths.is_empty();
                if let Some(step) = path.steps.last_mut().filter(|_| first || kind == "Race") {
                    step.failing = first;
                    step.access = mode(&label);
                    if step.access.is_some() {
                        step.role = Role::Access;
                    }
                }
                report.paths.push(path);
            }
            _ => {}
        }
    }
    finish(&mut report);
    report
}

fn finish(report: &mut Report) {
    // The deepest frame with a source is where people look first.
    report.location =
        report.paths.first().and_then(|path| path.steps.iter().rev().find_map(|step| step.location.clone()));
    report.narrate();
}

fn read_stack(stack: Node, label: &str, notes: &mut Vec<String>) -> Path {
    let mut path = PathBuilder::new(label);
    path.describe(PathKind::Stack, 0);
    let frames: Vec<Node> = stack.children_named("frame").collect();
    for (index, frame) in frames.iter().enumerate().rev() {
        let (directory, file) = (frame.child_text("dir"), frame.child_text("file"));
        let file = if directory.is_empty() || file.is_empty() { file } else { format!("{directory}/{file}") };
        let line = frame.child_text("line").parse().ok();
        let place = (!file.is_empty()).then(|| Location { file: file.clone(), line, ..Location::default() });
        let function = frame.child_text("fn");
        let object = frame.child_text("obj");
        path.enter(Frame::new(if function.is_empty() { frame.child_text("ip") } else { function }, file));
        let role = if index == 0 { Role::Note } else { Role::Call };
        let words =
            if place.is_none() && !object.is_empty() { format!("in {object}") } else { String::new() };
        path.step(Step::at(role, place).with_message(words));
    }
    if path.was_cut() {
        notes.push(super::cut_note(&path));
    }
    path.finish()
}

pub(super) fn mode(label: &str) -> Option<AccessMode> {
    let label = label.to_ascii_lowercase();
    if label.contains("write of size") {
        Some(AccessMode::Write)
    } else if label.contains("read of size") {
        Some(AccessMode::Read)
    } else {
        None
    }
}

pub(super) fn weakness(kind: &str) -> Option<u32> {
    Some(match kind {
        "Race" => 362,
        "UninitCondition" | "UninitValue" => 457,
        "InvalidFree" | "MismatchedFree" => 763,
        "Overlap" => 475,
        _ if kind.starts_with("Leak_") => 401,
        _ => return None,
    })
}
