//! Property lists of the clang static analyzer (`--analyzer-output plist` and its kin).
//!
//! A path holds `event`, `control` and `pop-up` pieces, in the order they happen. Events carry their depth; control edges
//! join the lines that are executed between them, in the frame of the event before; pop-ups state what is known at a place.

use super::{Sample, one_step, version_in};
use crate::flow::{self, Event};
use crate::read::Fault;
use crate::xml::{Node, Xml};
use crate::{Binding, Document, Importance, Location, Related, Report, Role, Severity, Step, Tool};

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
    let mut trail = Trail::default();
    for piece in array(diagnostic, "path") {
        match string(piece, "kind").as_str() {
            "control" => {
                for edge in array(piece, "edges") {
                    for end in ["start", "end"] {
                        let at = value(edge, end).and_then(|range| range.children().next());
                        trail.passes(at.and_then(|at| location(at, files)));
                    }
                }
            }
            "pop-up" => trail.states(place(piece, "location"), &string(piece, "message")),
            "event" => trail.events.push(event(piece, files)),
            other => notes.push(format!("a piece of kind {other:?} is not understood and left out")),
        }
    }
    let mut expansions: Vec<(Location, String, String)> = array(diagnostic, "macro_expansions")
        .filter_map(|one| Some((place(one, "location")?, string(one, "name"), string(one, "expansion"))))
        .collect();
    let mut path = flow::build("", trail.finish());
    flow::ends_in_failure(&mut path);
    for step in path.steps_mut() {
        let Some(at) = step.location.clone() else { continue };
        expansions.retain(|(place, name, expansion)| {
            let here = place.file == at.file && place.line == at.line;
            if here {
                step.state.push(Binding { name: name.clone(), value: expansion.clone() });
            }
            !here
        });
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
            .chain(expansions.into_iter().map(|(location, name, expansion)| Related {
                location,
                message: format!("{name} expands to {expansion}"),
            }))
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

fn event(piece: Node, files: &[String]) -> Event {
    let mut at = value(piece, "location").and_then(|place| location(place, files));
    if let (Some(at), Some((start, end))) =
        (&mut at, array(piece, "ranges").next().and_then(|range| ends(range, files)))
        && at.line == start.line
        && at.column == start.column
    {
        at.end_line = end.line;
        // The list names the last character, we the one after it.
        at.end_column = end.column.map(|column| column.saturating_add(1));
    }
    let depth = value(piece, "depth").and_then(|depth| depth.text().trim().parse().ok());
    Event { depth, ..Event::told(at, string(piece, "message")) }
}

/// The pieces so far, as events.
#[derive(Default)]
struct Trail {
    events: Vec<Event>,
}

impl Trail {
    /// An edge starts or ends here. Edges join, so most places are where the trail is already.
    fn passes(&mut self, at: Option<Location>) {
        let Some(at) = at else { return };
        if !self.events.last().is_some_and(|last| same_line(&last.step.location, &at)) {
            let depth = self.events.last().and_then(|event| event.depth);
            let step = Step::at(Role::Note, Some(at)).in_passing();
            self.events.push(Event { step, depth, function: None });
        }
    }

    /// A pop-up: a value where it is of the form `'argc' is > 1`, words otherwise; at the line being passed if it is there.
    fn states(&mut self, at: Option<Location>, message: &str) {
        let Some(at) = at else { return };
        if !self.events.last().is_some_and(|last| same_line(&last.step.location, &at)) {
            self.passes(Some(at));
        }
        let Some(last) = self.events.last_mut() else { return };
        match stated(message) {
            Some(binding) if last.step.values.contains(&binding) => {}
            Some(binding) => last.step.values.push(binding),
            None if last.step.message.is_empty() => last.step.message = message.to_owned(),
            None => last.step.message = format!("{}; {message}", last.step.message),
        }
    }

    /// Edges run to the place of the event they lead to; there the event stands for both.
    fn finish(mut self) -> Vec<Event> {
        let mut kept: Vec<Event> = Vec::with_capacity(self.events.len());
        // The edges before the first event are in its frame.
        let first = self.events.iter().find_map(|event| event.depth);
        for mut event in self.events.drain(..) {
            event.depth = event.depth.or(first);
            if let Some(last) = kept.last_mut()
                && last.step.importance == Importance::Unimportant
                && last.step.message.is_empty()
                && last.depth == event.depth
                && event.step.location.as_ref().is_some_and(|at| same_line(&last.step.location, at))
            {
                let known = std::mem::take(&mut last.step.values);
                event.step.values.splice(0..0, known);
                *last = event;
            } else {
                kept.push(event);
            }
        }
        kept
    }
}

fn same_line(place: &Option<Location>, at: &Location) -> bool {
    place.as_ref().is_some_and(|place| place.file == at.file && place.line == at.line)
}

/// What a pop-up such as `'argc' is > 1` knows of a variable: its value, or a comparison that holds, `> 1`.
fn stated(message: &str) -> Option<Binding> {
    let (name, value) = message.strip_prefix('\'')?.split_once("' is ")?;
    let value = match value.strip_prefix("not equal to ") {
        Some(other) => format!("!= {other}"),
        None => value.strip_prefix("equal to ").unwrap_or(value).to_owned(),
    };
    // Clang quotes what is compared with, if that is a name: `'i' is < 'count'`.
    let value = match value.split_once(" '").map(|(sign, other)| (sign, other.strip_suffix('\''))) {
        Some((sign @ ("<" | "<=" | ">" | ">=" | "!="), Some(other))) => format!("{sign} {other}"),
        _ => value,
    };
    Some(Binding { name: name.to_owned(), value })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pop_ups_tell_values_and_comparisons() {
        let value = |message: &str| stated(message).map(|one| (one.name, one.value));
        let is = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        assert_eq!(value("'k' is 0"), is("k", "0"));
        assert_eq!(value("'p' is equal to NULL"), is("p", "NULL"));
        assert_eq!(value("'p' is not equal to NULL"), is("p", "!= NULL"));
        assert_eq!(value("'argc' is > 1"), is("argc", "> 1"));
        assert_eq!(value("'r' is < 'argc'"), is("r", "< argc"));
        assert_eq!(value("'c' is not equal to 'd'"), is("c", "!= d"));
        assert_eq!(value("Assuming 'r' is < 'argc'"), None);
    }
}
