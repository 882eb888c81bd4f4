//! Infer's `report.json`: an array of bugs, each with a trace whose levels nest.

use super::{Sample, one_step};
use crate::flow::{self, Event};
use crate::read::Fault;
use crate::value::{items, place, some_text, text};
use crate::{Document, Location, Report, Severity, Tool};
use serde_json::Value;

pub(super) fn sniff(sample: &Sample) -> bool {
    sample.head.starts_with('[')
        && sample.text.contains("\"bug_type\"")
        && sample.text.contains("\"qualifier\"")
}

pub(super) fn parse(source: &str) -> Result<Document, Fault> {
    let bugs: Vec<Value> = serde_json::from_str(source)?;
    let mut document = Document::default();
    for bug in &bugs {
        let report = read_report(bug, &mut document.notes);
        document.reports.push(report);
    }
    Ok(document)
}

fn read_report(bug: &Value, notes: &mut Vec<String>) -> Report {
    let procedure = text(bug, "/procedure").to_owned();
    let at = place(bug, "/file", "/line", "/column");
    let mut report = Report {
        rule: text(bug, "/bug_type").to_owned(),
        title: text(bug, "/qualifier").to_owned(),
        severity: match text(bug, "/severity") {
            "ERROR" | "HIGH" => Severity::Error,
            "INFO" | "ADVICE" | "LIKE" => Severity::Note,
            _ => Severity::Warning,
        },
        tool: Tool { name: "Infer".to_owned(), version: None },
        location: at.clone(),
        ..Report::default()
    };
    if let Some(hash) = some_text(bug, "/hash") {
        report.fingerprints.insert("infer hash".to_owned(), hash);
    }
    let traces = split(items(bug, "/bug_trace"));
    for (label, events) in traces {
        let mut path = flow::build(&label, events);
        flow::ends_in_failure(&mut path);
        if path.was_cut() {
            notes.push(super::cut_note(&path));
        }
        let mut path = path.finish();
        if let Some(first) = path.frames.first_mut().filter(|frame| frame.function.is_empty()) {
            first.function = procedure.clone();
        }
        report.paths.push(path);
    }
    if report.paths.is_empty() {
        report.paths.extend(at.map(|at: Location| one_step(at, procedure, &report.title)));
    }
    report.narrate();
    report
}

/// A race has two traces in one list, each begun by an element such as `<Read trace>`.
fn split(trace: &[Value]) -> Vec<(String, Vec<Event>)> {
    let mut traces: Vec<(String, Vec<Event>)> = Vec::new();
    for element in trace {
        let words = text(element, "/description");
        let header = words.strip_prefix('<').and_then(|words| words.strip_suffix('>'));
        if let Some(label) = header {
            traces.push((label.to_owned(), Vec::new()));
            continue;
        }
        if traces.is_empty() {
            traces.push((String::new(), Vec::new()));
        }
        let at = place(element, "/filename", "/line_number", "/column_number");
        let event = Event { depth: element["level"].as_i64(), ..Event::told(at, words) };
        if let Some((_, events)) = traces.last_mut() {
            events.push(event);
        }
    }
    traces.retain(|(_, events)| !events.is_empty());
    traces
}
