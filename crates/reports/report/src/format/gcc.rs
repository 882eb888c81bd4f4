//! gcc's `-fdiagnostics-format=json`, above all the paths of `-fanalyzer`.

use super::{Sample, one_step};
use crate::flow::{self, Event};
use crate::read::Fault;
use crate::value::{items, number, place, some_text, text};
use crate::{Document, Link, Location, Related, Report, Segment, Severity, Tool};
use serde_json::Value;

pub(super) fn sniff(sample: &Sample) -> bool {
    start_of_array(sample.text).is_some()
}

/// gcc writes one array per source file to stderr, where other lines may stand around it; `[]` says that all is well.
fn start_of_array(text: &str) -> Option<usize> {
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim();
        let looks = body.starts_with("[{")
            && (body.contains("\"kind\"")
                || body.contains("\"caret\"")
                || body.contains("\"column-origin\""));
        if looks || (body == "[]" && text.trim() == "[]") {
            return Some(offset + (line.len() - line.trim_start().len()));
        }
        offset += line.len();
    }
    // Pretty-printed by another tool.
    let compact = text.trim_start();
    let spread =
        compact.starts_with('[') && compact.contains("\"column-origin\"") && compact.contains("\"caret\"");
    spread.then_some(text.len() - compact.len())
}

pub(super) fn parse(source: &str) -> Result<Document, Fault> {
    let mut document = Document::default();
    let mut rest = source;
    let mut any = false;
    while let Some(start) = start_of_array(rest) {
        rest = &rest[start..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let Some(array) = stream.next() else { break };
        let array = array?;
        rest = &rest[stream.byte_offset()..];
        any = true;
        for diagnostic in array.as_array().into_iter().flatten() {
            let mut report = read_report(diagnostic, &mut document.notes);
            match document.reports.last_mut() {
                // A note by itself is about the warning before.
                Some(before) if text(diagnostic, "/kind") == "note" => {
                    let at = report.location.take().unwrap_or_default();
                    let message = report.title;
                    before.text.push(Segment::plain(format!(
                        "\n{}:{}: {message}",
                        at.file,
                        at.line.unwrap_or(0)
                    )));
                    before.related.push(Related { location: at, message });
                    before.related.append(&mut report.related);
                }
                _ => document.reports.push(report),
            }
        }
    }
    if any { Ok(document) } else { Err(Fault::new("no array of diagnostics")) }
}

fn read_report(diagnostic: &Value, notes: &mut Vec<String>) -> Report {
    let title = text(diagnostic, "/message").to_owned();
    let at = items(diagnostic, "/locations").first().and_then(caret);
    let mut events: Vec<Event> = items(diagnostic, "/path").iter().map(event).collect();
    flow::ends_at(&mut events, at.as_ref());
    let mut report = Report {
        rule: text(diagnostic, "/option").trim_start_matches("-W").to_owned(),
        title,
        severity: match text(diagnostic, "/kind") {
            "error" | "fatal error" => Severity::Error,
            "note" => Severity::Note,
            _ => Severity::Warning,
        },
        cwe: number(diagnostic, "/metadata/cwe").into_iter().collect(),
        tool: Tool { name: "gcc".to_owned(), version: None },
        location: at.clone(),
        related: items(diagnostic, "/children")
            .iter()
            .filter_map(|child| {
                let location = items(child, "/locations").first().and_then(caret)?;
                Some(Related { location, message: text(child, "/message").to_owned() })
            })
            .collect(),
        ..Report::default()
    };
    if events.is_empty() {
        report.paths.extend(at.map(|at| one_step(at, String::new(), &report.title)));
    } else {
        let mut path = flow::build("", events);
        flow::ends_in_failure(&mut path);
        if path.was_cut() {
            notes.push(super::cut_note(&path));
        }
        report.paths.push(path.finish());
    }
    report.narrate();
    if let Some(url) = some_text(diagnostic, "/option_url") {
        report.text.push(Segment::plain("\n"));
        report.text.push(Segment { text: report.rule.clone(), link: Some(Link::Url(url)) });
    }
    report
}

fn event(event: &Value) -> Event {
    Event {
        depth: event["depth"].as_i64(),
        function: some_text(event, "/function"),
        ..Event::told(point(&event["location"]), text(event, "/description"))
    }
}

fn point(value: &Value) -> Option<Location> {
    // Display columns spread tabs out; bytes are characters except where letters are not ASCII.
    let column = if value["byte-column"].is_number() { "/byte-column" } else { "/column" };
    place(value, "/file", "/line", column)
}

/// The place of the caret, with the range around it when it starts there.
fn caret(location: &Value) -> Option<Location> {
    let start = location.get("start").and_then(point);
    let mut place = start.or_else(|| location.get("caret").and_then(point))?;
    if let Some(finish) = location.get("finish").and_then(point).filter(|finish| finish.file == place.file) {
        place.end_line = finish.line;
        place.end_column = finish.column.map(|column| column.saturating_add(1));
    }
    Some(place)
}
