//! Bounded model checkers: CBMC's `--json-ui --trace` and ESBMC's `--generate-json-report`.

use super::Sample;
use crate::flow::{self, Event};
use crate::read::Fault;
use crate::value::{items, number, place, some_text, text};
use crate::{Binding, Document, Frame, Location, PathBuilder, Report, Role, Severity, Step, Tool};
use serde_json::Value;

pub(super) fn sniff(sample: &Sample) -> bool {
    let cbmc = sample.text.contains("\"stepType\"") || sample.text.contains("\"cProverStatus\"");
    let esbmc = sample.text.contains("\"steps\"") && sample.text.contains("\"step_number\"");
    sample.head.starts_with(['[', '{']) && (cbmc || esbmc)
}

pub(super) fn parse(source: &str) -> Result<Document, Fault> {
    let whole: Value = serde_json::from_str(source)?;
    let mut document = Document::default();
    let mut version = None;
    let messages = match &whole {
        Value::Array(messages) => messages.as_slice(),
        other => std::slice::from_ref(other),
    };
    for message in messages {
        version = version
            .or_else(|| some_text(message, "/program").and_then(|program| super::version_in(&program)));
        let tool = |name: &str| Tool { name: name.to_owned(), version: version.clone() };
        for result in items(message, "/result") {
            if text(result, "/status") == "FAILURE" {
                let report = cbmc(result, tool("CBMC"), &mut document.notes);
                document.reports.push(report);
            }
        }
        if message["steps"].is_array() && text(message, "/status") == "violation" {
            let report = esbmc(message, tool("ESBMC"), &mut document.notes);
            document.reports.push(report);
        }
    }
    Ok(document)
}

fn cbmc(result: &Value, tool: Tool, notes: &mut Vec<String>) -> Report {
    let mut path = PathBuilder::new("");
    let mut hidden_calls: Vec<bool> = Vec::new();
    let mut failed: Option<Location> = None;
    for step in items(result, "/trace") {
        let hidden = step["hidden"] == true;
        let at = place(step, "/sourceLocation/file", "/sourceLocation/line", "/sourceLocation/column")
            .filter(|place| !place.file.starts_with('<'));
        let function = text(step, "/sourceLocation/function");
        let kind = text(step, "/stepType");
        match kind {
            // Calls and returns keep in step even where CBMC hides one of the two; hidden ones leave no frame.
            "function-call" => {
                hidden_calls.push(hidden);
                if !hidden {
                    let name = text(step, "/function/displayName");
                    if path.depth() > 0 || at.is_some() {
                        settle(&mut path, function, &at);
                        path.step(Step::at(Role::Call, at).with_message(format!("call {name}")));
                    }
                    path.enter(Frame::new(name, text(step, "/function/sourceLocation/file")));
                }
            }
            "function-return" => {
                let shown = hidden_calls.pop() == Some(false);
                path.leave_to(path.depth().saturating_sub(usize::from(shown)));
            }
            _ if hidden_calls.last() == Some(&true) || (hidden && kind != "failure") => {}
            "assignment" | "input" | "output" => {
                settle(&mut path, function, &at);
                let name = match text(step, "/lhs") {
                    "" => text(step, "/inputID"),
                    name => name,
                };
                let value = match kind {
                    "assignment" => shown(&step["value"]),
                    _ => items(step, "/values").iter().map(shown).collect::<Vec<_>>().join(", "),
                };
                let role = if text(step, "/assignmentType") == "actual-parameter" {
                    Role::Entry
                } else {
                    Role::Note
                };
                let message = if kind == "assignment" { String::new() } else { kind.to_owned() };
                path.step(Step::at(role, at).with_message(message).with_value(name, value));
            }
            "assumption" => {
                settle(&mut path, function, &at);
                path.step(Step::at(Role::Branch, at).with_message("assumption").with_taken(true));
            }
            "location-only" | "loop-head" => {
                settle(&mut path, function, &at);
                if at.is_some() {
                    path.step(Step::at(Role::Note, at));
                }
            }
            "failure" => {
                settle(&mut path, function, &at);
                failed = at.clone();
                path.step(Step::at(Role::Note, at).with_message(text(step, "/reason")).failing());
            }
            _ => {}
        }
    }
    let property = text(result, "/property");
    let at = place(result, "/sourceLocation/file", "/sourceLocation/line", "/sourceLocation/column");
    finish(path, property, text(result, "/description"), failed.or(at), tool, notes)
}

/// A step says which function it is in; believe it only where nothing is open, so that returns stay balanced.
fn settle(path: &mut PathBuilder, function: &str, at: &Option<Location>) {
    if path.depth() == 0 {
        let file = at.as_ref().map_or(String::new(), |place| place.file.clone());
        path.enter(Frame::new(function, file));
    }
}

/// A value as people write it: the data of a scalar, the members of a structure.
fn shown(value: &Value) -> String {
    if let Some(data) = some_text(value, "/data") {
        return data;
    }
    if let Some(members) = value["members"].as_array() {
        let member = |member: &Value| format!("{}={}", text(member, "/name"), text(member, "/value/data"));
        return format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(", "));
    }
    if let Some(elements) = value["elements"].as_array() {
        let element = |element: &Value| text(element, "/value/data").to_owned();
        return format!("{{{}}}", elements.iter().take(16).map(element).collect::<Vec<_>>().join(", "));
    }
    some_text(value, "/name").unwrap_or_default()
}

fn esbmc(entry: &Value, tool: Tool, notes: &mut Vec<String>) -> Report {
    let mut title = String::new();
    let mut rule = String::new();
    let mut failed = None;
    let mut events = Vec::new();
    for step in items(entry, "/steps") {
        let at = place(step, "/file", "/line", "/column");
        let words = text(step, "/message");
        let mut event = Event { function: some_text(step, "/function"), ..Event::told(at.clone(), words) };
        match text(step, "/type") {
            "violation" => {
                event.step.failing = true;
                title = some_text(step, "/assertion/comment").unwrap_or_else(|| words.to_owned());
                rule = "assertion".to_owned();
                failed = at;
                if let Some(guard) = some_text(step, "/assertion/guard") {
                    event.step.values.push(Binding { name: guard, value: "false".to_owned() });
                }
            }
            "assume" => event.step.role = Role::Branch,
            "function_call" => event.step.role = Role::Call,
            _ => {}
        }
        if let Some((name, value)) = words.split_once(" = ").filter(|_| text(step, "/type") == "assignment") {
            event.step.values.push(Binding { name: name.to_owned(), value: value.to_owned() });
        }
        events.push(event);
        if number(step, "/step_number").is_none() {
            notes.push("a step without a number".to_owned());
        }
    }
    finish(flow::build("", events), &rule, &title, failed, tool, notes)
}

fn finish(
    mut path: PathBuilder,
    rule: &str,
    title: &str,
    at: Option<Location>,
    tool: Tool,
    notes: &mut Vec<String>,
) -> Report {
    flow::ends_in_failure(&mut path);
    if path.was_cut() {
        notes.push(super::cut_note(&path));
    }
    let mut report = Report {
        rule: rule.to_owned(),
        title: if title.is_empty() { rule.to_owned() } else { title.to_owned() },
        severity: Severity::Error,
        tool,
        location: at,
        ..Report::default()
    };
    if !path.is_empty() {
        report.paths.push(path.finish());
    }
    report.narrate();
    report
}
