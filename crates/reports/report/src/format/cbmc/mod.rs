//! Bounded model checkers: CBMC's traces as JSON, XML and text, and ESBMC's `--generate-json-report`.

mod text;
mod trace;
mod xml;

use super::Sample;
use crate::flow::{self, Event};
use crate::read::Fault;
use crate::value::{items, number, place, some_text, text};
use crate::{Binding, Document, Location, Path, Report, Role, Severity, Tool};
use serde_json::Value;
use trace::{Happening, Kind};

pub(super) fn sniff(sample: &Sample) -> bool {
    let cbmc = sample.text.contains("\"stepType\"") || sample.text.contains("\"cProverStatus\"");
    let esbmc = sample.text.contains("\"steps\"") && sample.text.contains("\"step_number\"");
    (sample.head.starts_with(['[', '{']) && (cbmc || esbmc))
        || sample.head.contains("<cprover")
        || text::sniff(sample.text)
}

pub(super) fn parse(source: &str) -> Result<Document, Fault> {
    let mut document = Document::default();
    if source.trim_start().starts_with(['[', '{']) {
        parse_json(source, &mut document)?;
        return Ok(document);
    }
    let (version, failed) =
        if source.trim_start().starts_with('<') { xml::failures(source)? } else { text::failures(source) };
    for xml::Failed { property, title, at, trace } in failed {
        let tool = Tool { name: "CBMC".to_owned(), version: version.clone() };
        let report = cbmc(&property, &title, at, trace, tool, &mut document.notes);
        document.reports.push(report);
    }
    Ok(document)
}

fn parse_json(source: &str, document: &mut Document) -> Result<(), Fault> {
    let whole: Value = serde_json::from_str(source)?;
    let mut version = None;
    let messages = match &whole {
        Value::Array(messages) => messages.as_slice(),
        other => std::slice::from_ref(other),
    };
    for message in messages {
        version = version
            .or_else(|| some_text(message, "/program").and_then(|program| super::version_in(&program)));
        let tool = |name: &str| Tool { name: name.to_owned(), version: version.clone() };
        // With --stop-on-fail the one result is a message of its own.
        let alone = message["trace"].is_array().then_some(message);
        for result in items(message, "/result").iter().chain(alone) {
            if ["FAILURE", "failed"].contains(&text(result, "/status")) {
                let trace = items(result, "/trace").iter().filter_map(happening).collect();
                let at = location(result);
                let (property, title) = (text(result, "/property"), text(result, "/description"));
                let report = cbmc(property, title, at, trace, tool("CBMC"), &mut document.notes);
                document.reports.push(report);
            }
        }
        if message["steps"].is_array() && text(message, "/status") == "violation" {
            let report = esbmc(message, tool("ESBMC"), &mut document.notes);
            document.reports.push(report);
        }
    }
    Ok(())
}

fn location(value: &Value) -> Option<Location> {
    place(value, "/sourceLocation/file", "/sourceLocation/line", "/sourceLocation/column")
}

fn happening(step: &Value) -> Option<Happening> {
    let transfer = |what| Kind::Transfer {
        what,
        name: text(step, if what == "input" { "/inputID" } else { "/outputID" }).to_owned(),
        value: items(step, "/values").iter().map(shown).collect::<Vec<_>>().join(", "),
    };
    let kind = match text(step, "/stepType") {
        "function-call" => Kind::Call {
            function: text(step, "/function/displayName").to_owned(),
            defined: location(&step["function"]),
        },
        "function-return" => Kind::Return,
        "assignment" => Kind::Assign {
            name: text(step, "/lhs").to_owned(),
            value: shown(&step["value"]),
            parameter: text(step, "/assignmentType") == "actual-parameter",
        },
        "input" => transfer("input"),
        "output" => transfer("output"),
        "assumption" => Kind::Assume,
        "location-only" | "loop-head" => Kind::Pass,
        "failure" => Kind::Fail { reason: text(step, "/reason").to_owned() },
        _ => return None,
    };
    let thread = step.get("thread").map_or(String::new(), |thread| match thread.as_str() {
        Some(name) => name.to_owned(),
        None => thread.to_string(),
    });
    Some(Happening {
        kind,
        hidden: step["hidden"] == true,
        at: location(step),
        function: text(step, "/sourceLocation/function").to_owned(),
        thread,
    })
}

fn cbmc(
    property: &str,
    title: &str,
    at: Option<Location>,
    mut trace: Vec<Happening>,
    tool: Tool,
    notes: &mut Vec<String>,
) -> Report {
    // A run goes on after a property that does not hold; the one that the trace is about is the last.
    let last = trace.iter().rposition(|happening| matches!(happening.kind, Kind::Fail { .. }));
    for happening in &mut trace[..last.unwrap_or(0)] {
        if let Kind::Fail { reason } = &mut happening.kind {
            happening.kind = Kind::Broken { reason: std::mem::take(reason) };
        }
    }
    let paths = trace::paths(trace, notes);
    let failing = paths.iter().flat_map(|path| &path.steps).find(|step| step.failing);
    let title = match (title, failing) {
        ("", Some(step)) => step.message.clone(),
        (title, _) => title.to_owned(),
    };
    let at = failing.and_then(|step| step.location.clone()).or(at);
    let mut paths = paths;
    // Without --trace there is only the place.
    if paths.is_empty() {
        paths.extend(at.clone().map(|at| super::one_step(at, String::new(), &title)));
    }
    let mut report = finish(paths, trace::class(property), &title, at, tool);
    if !property.is_empty() {
        report.fingerprints.insert("property".to_owned(), property.to_owned());
    }
    report
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
    let mut path = flow::build("", events);
    flow::ends_in_failure(&mut path);
    if path.was_cut() {
        notes.push(super::cut_note(&path));
    }
    let paths = if path.is_empty() { Vec::new() } else { vec![path.finish()] };
    finish(paths, &rule, &title, failed, tool)
}

fn finish(paths: Vec<Path>, rule: &str, title: &str, at: Option<Location>, tool: Tool) -> Report {
    let mut report = Report {
        rule: rule.to_owned(),
        title: if title.is_empty() { rule.to_owned() } else { title.to_owned() },
        severity: Severity::Error,
        tool,
        location: at,
        paths,
        ..Report::default()
    };
    report.narrate();
    report
}
