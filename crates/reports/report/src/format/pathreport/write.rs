//! The structured form of pathreport, written so that reading it gives the same document.

use crate::xml::{escape, escape_text};
use crate::{
    AccessMode, Document, Excerpt, Importance, Link, Location, Outline, Path, PathKind, Report, Role,
    Severity, Step, SuppressionStatus,
};

/// The document as pathreport XML.
pub(crate) fn write(document: &Document) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pathreport version=\"1\">\n");
    for note in &document.notes {
        out.push_str(&format!("  <note>{}</note>\n", escape_text(note)));
    }
    for report in &document.reports {
        write_report(&mut out, report);
    }
    for Excerpt { file, line, text } in &document.excerpts {
        out.push_str("  <excerpt");
        attribute(&mut out, "file", file);
        attribute(&mut out, "line", &line.to_string());
        out.push_str(&format!(">{}</excerpt>\n", escape_text(text)));
    }
    let rest = Document {
        rules: document.rules.clone(),
        runs: document.runs.clone(),
        properties: document.properties.clone(),
        ..Document::default()
    };
    data(&mut out, &rest);
    out.push_str("</pathreport>\n");
    out
}

/// What XML has no element for, as JSON; nothing where there is nothing.
fn data<T: Default + PartialEq + serde::Serialize>(out: &mut String, rest: &T) {
    if *rest != T::default() {
        // Signs that XML cannot carry stand in strings only, where JSON has another way to write them.
        let special = |c: char| c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c);
        let json: String = serde_json::to_string(rest)
            .expect("keys are strings")
            .chars()
            .map(|c| if special(c) { format!("\\u{:04x}", c as u32) } else { c.to_string() })
            .collect();
        out.push_str(&format!("<data>{}</data>", escape_text(&json)));
    }
}

fn attribute(out: &mut String, name: &str, value: &str) {
    out.push_str(&format!(" {name}=\"{}\"", escape(value)));
}

fn optional(out: &mut String, name: &str, value: &str) {
    if !value.is_empty() {
        attribute(out, name, value);
    }
}

/// A place; the file is left out where the reader will supply it.
fn location(out: &mut String, place: &Location, around: Option<&str>) {
    if place.line.is_none() || around != Some(place.file.as_str()) {
        attribute(out, "file", &place.file);
    }
    let numbers = [
        ("line", place.line),
        ("column", place.column),
        ("end-line", place.end_line),
        ("end-column", place.end_column),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            attribute(out, name, &number.to_string());
        }
    }
}

fn write_report(out: &mut String, report: &Report) {
    out.push_str("  <report");
    attribute(out, "title", &report.title);
    optional(out, "rule", &report.rule);
    let severity = match report.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    attribute(out, "severity", severity);
    optional(out, "cwe", &report.cwe.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
    optional(out, "tool", &report.tool.name);
    if let Some(version) = &report.tool.version {
        attribute(out, "tool-version", version);
    }
    if let Some(place) = &report.location {
        location(out, place, None);
    }
    out.push_str(">\n    <text>");
    for segment in &report.text {
        let text = escape_text(&segment.text);
        match &segment.link {
            None => out.push_str(&text),
            Some(Link::Step { path, step }) => {
                out.push_str(&format!("<a path=\"{}\" step=\"{}\">{text}</a>", path + 1, step + 1));
            }
            Some(Link::Related(index)) => out.push_str(&format!("<a related=\"{}\">{text}</a>", index + 1)),
            Some(Link::Url(url)) => out.push_str(&format!("<a href=\"{}\">{text}</a>", escape(url))),
        }
    }
    out.push_str("</text>\n");
    for path in &report.paths {
        write_path(out, path);
    }
    for related in &report.related {
        out.push_str("    <related");
        location(out, &related.location, None);
        out.push_str(&format!(">{}</related>\n", escape_text(&related.message)));
    }
    for suppression in &report.suppressions {
        let status = match suppression.status {
            SuppressionStatus::Accepted => "accepted",
            SuppressionStatus::UnderReview => "under-review",
            SuppressionStatus::Rejected => "rejected",
        };
        out.push_str(&format!(
            "    <suppression in-source=\"{}\" status=\"{status}\">{}</suppression>\n",
            suppression.in_source,
            escape_text(&suppression.justification)
        ));
    }
    for (name, value) in &report.fingerprints {
        out.push_str(&format!(
            "    <fingerprint name=\"{}\">{}</fingerprint>\n",
            escape(name),
            escape_text(value)
        ));
    }
    let rest = Report {
        passed: report.passed,
        fixes: report.fixes.clone(),
        rank: report.rank.clone(),
        occurrences: report.occurrences,
        baseline: report.baseline,
        markdown: report.markdown.clone(),
        run: report.run,
        extra: report.extra.clone(),
        ..Report::default()
    };
    data(out, &rest);
    out.push_str("  </report>\n");
}

fn write_path(out: &mut String, path: &Path) {
    let describe = |out: &mut String| {
        optional(out, "label", &path.label);
        if path.kind == PathKind::Stack {
            attribute(out, "kind", "stack");
        }
        optional(out, "in-thread", &path.thread);
        if path.flow > 0 {
            attribute(out, "flow", &path.flow.to_string());
        }
    };
    if path.frames.is_empty() {
        out.push_str("    <path empty=\"true\"");
        describe(out);
        out.push_str("/>\n");
        return;
    }
    let callees = path.callees();
    for event in path.outline() {
        match event {
            Outline::Open(index) => {
                let frame = &path.frames[index];
                out.push_str(if frame.call.is_some() { "<path" } else { "    <path" });
                attribute(out, "name", &frame.function);
                attribute(out, "file", &frame.file);
                if let Some(thread) = &frame.thread {
                    attribute(out, "thread", thread);
                }
                if index == 0 {
                    describe(out);
                } else if frame.call.is_none() {
                    attribute(out, "continues", "true");
                }
                out.push_str(">\n");
            }
            Outline::Close(index) => {
                let called = path.frames[index].call.is_some();
                out.push_str(if called { "</path></detour>\n" } else { "    </path>\n" });
            }
            Outline::Step(index) => {
                let detour = callees[index];
                let name = if detour.is_some() { "detour" } else { "marker" };
                let step = &path.steps[index];
                out.push_str(&format!("<{name}"));
                if let Some(callee) = detour {
                    attribute(out, "name", &path.frames[callee].function);
                }
                write_step(out, step, &path.frames[step.frame].file);
                if detour.is_none() {
                    out.push_str(&format!("</{name}>\n"));
                }
            }
        }
    }
}

fn write_step(out: &mut String, step: &Step, around: &str) {
    if let Some(place) = &step.location {
        location(out, place, Some(around));
    }
    let role = match step.role {
        Role::Entry => "entry",
        Role::Call => "call",
        Role::Return => "return",
        Role::Branch => "branch",
        Role::Access => "access",
        Role::Note => "note",
    };
    attribute(out, "role", role);
    if let Some(taken) = step.taken {
        attribute(out, "taken", if taken { "true" } else { "false" });
    }
    if let Some(access) = step.access {
        let mode = match access {
            AccessMode::Read => "read",
            AccessMode::Write => "write",
            AccessMode::ReadWrite => "read-write",
        };
        attribute(out, "access", mode);
    }
    if step.failing {
        attribute(out, "failing", "true");
    }
    if let Some(order) = step.order {
        attribute(out, "order", &order.to_string());
    }
    optional(out, "time", &step.time);
    match step.importance {
        Importance::Unimportant => attribute(out, "importance", "unimportant"),
        Importance::Important => {}
        Importance::Essential => attribute(out, "importance", "essential"),
    }
    out.push('>');
    out.push_str(&escape_text(&step.message));
    for (element, bindings) in [("value", &step.values), ("state", &step.state)] {
        for binding in bindings {
            let (name, value) = (escape(&binding.name), escape_text(&binding.value));
            out.push_str(&format!("<{element} name=\"{name}\">{value}</{element}>"));
        }
    }
}
