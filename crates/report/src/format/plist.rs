//! Property lists of the clang static analyzer (`--analyzer-output plist` and its kin).
//!
//! A path holds `event`, `control` and `pop-up` pieces. Events are the steps and carry their depth; pop-ups state what
//! is known at a place and become values of a step there; control edges only repeat where execution goes.

use super::{Sample, one_step, version_in};
use crate::flow::{self, Event};
use crate::read::Fault;
use crate::xml::{Node, Xml};
use crate::{Binding, Document, Location, Related, Report, Severity, Tool};
use std::collections::HashMap;

pub(super) fn sniff(sample: &Sample) -> bool {
    sample.head.contains("<plist") && sample.text.contains("<key>diagnostics</key>")
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let xml = Xml::parse(text)?;
    let top = xml
        .root()
        .child("plist")
        .and_then(|plist| plist.child("dict"))
        .ok_or_else(|| Fault::new("a property list holds a <dict>"))?;
    let files: Vec<String> = array(top, "files").map(|file| file.text()).collect();
    let clang = string(top, "clang_version");
    let tool = Tool { name: "clang".to_owned(), version: version_in(&clang) };
    let mut document = Document::default();
    for diagnostic in array(top, "diagnostics") {
        let report = read_report(diagnostic, &files, &tool, &mut document.notes);
        document.reports.push(report);
    }
    Ok(document)
}

fn read_report(diagnostic: Node, files: &[String], tool: &Tool, notes: &mut Vec<String>) -> Report {
    let title = string(diagnostic, "description");
    let place = |node: Node, key: &str| value(node, key).and_then(|place| location(place, files));
    let mut events: Vec<Event> = Vec::new();
    let pieces: Vec<Node> = array(diagnostic, "path").collect();
    for piece in pieces.iter().filter(|piece| string(**piece, "kind") == "event") {
        let mut at = place(*piece, "location");
        if let (Some(at), Some((start, end))) =
            (&mut at, array(*piece, "ranges").next().and_then(|range| ends(range, files)))
            && at.line == start.line
            && at.column == start.column
        {
            at.end_line = end.line;
            // The list names the last character, we the one after it.
            at.end_column = end.column.map(|column| column.saturating_add(1));
        }
        let message = string(*piece, "message");
        let depth = value(*piece, "depth").and_then(|depth| depth.text().trim().parse().ok());
        events.push(Event { depth, ..Event::told(at, message) });
    }
    let mut path = flow::build("", events);
    flow::ends_in_failure(&mut path);
    let mut known: HashMap<(String, Option<u32>), Vec<Binding>> = HashMap::new();
    for popup in pieces.iter().filter(|piece| string(**piece, "kind") == "pop-up") {
        if let (Some(at), Some(binding)) =
            (place(*popup, "location"), stated(&string(*popup, "extended_message")))
        {
            known.entry((at.file, at.line)).or_default().push(binding);
        }
    }
    for step in path.steps_mut() {
        let Some(at) = &step.location else { continue };
        for binding in known.get(&(at.file.clone(), at.line)).into_iter().flatten() {
            if !step.values.contains(binding) {
                step.values.push(binding.clone());
            }
        }
    }
    if path.was_cut() {
        notes.push(super::cut_note(&path));
    }
    let function = string(diagnostic, "issue_context");
    let mut path = path.finish();
    if let [frame] = path.frames.as_mut_slice()
        && frame.function.is_empty()
    {
        frame.function = function.clone();
    }
    let at = place(diagnostic, "location");
    if path.steps.is_empty()
        && let Some(at) = &at
    {
        path = one_step(at.clone(), function, &title);
    }
    let mut report = Report {
        rule: string(diagnostic, "check_name"),
        title,
        severity: Severity::Warning,
        tool: tool.clone(),
        location: at,
        paths: vec![path],
        related: array(diagnostic, "notes")
            .filter_map(|note| {
                Some(Related { location: place(note, "location")?, message: string(note, "message") })
            })
            .collect(),
        ..Report::default()
    };
    let hash = string(diagnostic, "issue_hash_content_of_line_in_context");
    if !hash.is_empty() {
        report.fingerprints.insert("issue_hash_content_of_line_in_context".to_owned(), hash);
    }
    report.narrate();
    report
}

/// What a pop-up such as `'argc' is > 1` knows of a variable.
fn stated(message: &str) -> Option<Binding> {
    let (name, value) = message.strip_prefix('\'')?.split_once("' is ")?;
    Some(Binding { name: name.to_owned(), value: value.to_owned() })
}

/// The value after a key of a dictionary.
fn value<'a>(dictionary: Node<'a>, key: &str) -> Option<Node<'a>> {
    let mut children = dictionary.children();
    while let Some(child) = children.next() {
        if child.name() == "key" {
            let value = children.next();
            if child.text() == key {
                return value;
            }
        }
    }
    None
}

fn string(dictionary: Node, key: &str) -> String {
    value(dictionary, key).map_or(String::new(), |value| value.text())
}

fn array<'a>(dictionary: Node<'a>, key: &str) -> impl Iterator<Item = Node<'a>> + use<'a> {
    value(dictionary, key).into_iter().flat_map(|value| value.children())
}

fn location(place: Node, files: &[String]) -> Option<Location> {
    let number = |key| value(place, key).and_then(|number| number.text().trim().parse::<u32>().ok());
    Some(Location {
        file: files.get(number("file")? as usize)?.clone(),
        line: number("line"),
        column: number("col"),
        ..Location::default()
    })
}

fn ends(range: Node, files: &[String]) -> Option<(Location, Location)> {
    let mut ends = range.children();
    Some((location(ends.next()?, files)?, location(ends.next()?, files)?))
}
