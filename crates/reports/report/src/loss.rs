//! The loss meter: how much a report file holds, counted without our readers, beside how much of it comes out.
//!
//! The counters look at the raw file, each in the simplest way its format allows, so that a reader that drops something
//! cannot hide it. What a reader leaves out on purpose, such as start-up functions on a stack, is counted and named.

mod log;

use crate::terminal::plain_log;
use crate::value::{items, text};
use crate::xml::{Node, Xml};
use crate::{Document, Format, Path, PathKind};
use regex::Regex;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;

/// How much there is of each thing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Findings.
    pub reports: usize,
    /// Events of paths and lines of stacks; a place alone counts as none.
    pub steps: usize,
    /// Steps with words of their own.
    pub messages: usize,
    /// Function activations that the tool itself tells apart.
    pub frames: usize,
    /// Proposed edits.
    pub fixes: usize,
    /// Places off the paths.
    pub related: usize,
}

impl Tally {
    /// Each thing with its name.
    pub fn things(self) -> [(&'static str, usize); 6] {
        [
            ("reports", self.reports),
            ("steps", self.steps),
            ("messages", self.messages),
            ("frames", self.frames),
            ("fixes", self.fixes),
            ("related", self.related),
        ]
    }

    /// What a document holds.
    pub fn of(document: &Document) -> Tally {
        let mut tally = Tally { reports: document.reports.len(), ..Tally::default() };
        for report in &document.reports {
            tally.fixes += report.fixes.len();
            tally.related += report.related.len();
            let alone = report.paths.len() == 1 && report.location.is_some();
            for path in report.paths.iter().filter(|path| !(alone && is_place(path))) {
                // A call step that no tool told stands in for one.
                let stack = path.kind == PathKind::Stack;
                let told = |step: &&crate::Step| stack || step.location.is_some() || !step.message.is_empty();
                tally.steps += path.steps.iter().filter(told).count();
                tally.messages += path.steps.iter().filter(|step| !step.message.is_empty()).count();
                tally.frames += path.frames.len();
            }
        }
        tally
    }
}

/// Whether a path is only the place of its report: one step alone tells no way. A stack of one function is a stack.
fn is_place(path: &Path) -> bool {
    path.steps.len() == 1 && path.kind == PathKind::Flow
}

/// What a raw file holds.
#[derive(Default)]
struct Held {
    tally: Tally,
    /// How many lines of its stacks are of no code of the program.
    foreign: usize,
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("well-formed")
}

/// What a raw file of a format holds; `None` where it is not of the format.
fn count(format: Format, source: &str) -> Option<Held> {
    let source = &*plain_log(source);
    let tally = match format {
        Format::Sarif => Some(sarif_logs(source)),
        Format::Plist => Xml::parse(source).ok().map(|xml| plist(xml.root())),
        Format::Gcc => Some(gcc_json(source)),
        Format::Rustc if source.trim_start().starts_with('{') => Some(rustc_json(source)),
        Format::Rustc
        | Format::Compiler
        | Format::Sanitizer
        | Format::ValgrindText
        | Format::Gdb
        | Format::Python
        | Format::Java
        | Format::Rust
        | Format::Klee => return Some(log::log(source)),
        Format::Cppcheck => Xml::parse(source).ok().map(|xml| cppcheck(xml.root())),
        Format::Checkstyle => Xml::parse(source).ok().map(|xml| {
            let files =
                xml.root().child("checkstyle").into_iter().flat_map(|root| root.children_named("file"));
            Tally {
                reports: files.map(|file| file.children_named("error").count()).sum(),
                ..Tally::default()
            }
        }),
        Format::Valgrind => return Xml::parse(source).ok().map(|xml| valgrind(xml.root())),
        Format::Cbmc => cbmc(source),
        Format::Infer => serde_json::from_str(source).ok().map(|bugs| infer(&bugs)),
        Format::Json => {
            crate::read_as(format, source.as_bytes(), "").ok().map(|document| Tally::of(&document))
        }
        Format::Pathreport => Xml::parse(source).ok().map(|xml| pathreport(xml.root())),
        Format::Locksmith => Some(log::locksmith(source)),
        Format::Blast => Some(log::blast(source)),
    };
    tally.map(|tally| Held { tally, foreign: 0 })
}

/// Every JSON object of the text that holds runs, and what compilers print around them.
fn sarif_logs(source: &str) -> Tally {
    let mut tally = Tally::default();
    let (mut around, mut at, mut tried) = (String::new(), 0, 0);
    while tried < 1000
        && let Some(next) = source[at..].find('{').map(|found| at + found)
    {
        around.push_str(&source[at..next]);
        let mut stream = serde_json::Deserializer::from_str(&source[next..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(log)) => {
                sarif(&log, &mut tally);
                items(&log, "/inlineExternalProperties").iter().for_each(|run| results(run, &mut tally));
                at = next + stream.byte_offset();
            }
            // No JSON: a brace in the words of the build. What is left to count is the rest of its line.
            _ => {
                tried += 1;
                let end = source[next..].find('\n').map_or(source.len(), |newline| next + newline);
                around.push_str(&source[next..end]);
                at = end;
            }
        }
    }
    around.push_str(&source[at..]);
    let printed = log::log(&around).tally;
    tally.reports += printed.reports;
    tally.steps += printed.steps;
    tally
}

fn sarif(log: &Value, tally: &mut Tally) {
    items(log, "/runs").iter().for_each(|run| results(run, tally));
}

fn results(run: &Value, tally: &mut Tally) {
    for result in items(run, "/results") {
        if text(result, "/kind") == "notApplicable" {
            continue;
        }
        tally.reports += 1;
        tally.fixes += items(result, "/fixes").len();
        tally.related += items(result, "/relatedLocations").len();
        let own = result.pointer("/properties/parallax").is_some();
        tally.related += if own { 0 } else { items(result, "/locations").len().saturating_sub(1) };
        // Steps stand in threads; drafts of the standard had them in the flow.
        let flows = items(result, "/codeFlows").iter();
        let threads = flows.flat_map(|flow| items(flow, "/threadFlows").iter().chain([flow]));
        let steps: Vec<&Value> = threads.flat_map(|thread| items(thread, "/locations")).collect();
        // One step alone is the place of the result.
        let others = items(result, "/stacks").len() + items(result, "/graphTraversals").len();
        let placed = result.pointer("/locations/0").is_some_and(placed);
        if steps.len() > 1 || others > 0 || !placed {
            tally.steps += steps.iter().filter(|step| told(step)).count();
            tally.messages += steps.iter().filter(|step| worded(step)).count();
        }
        for stack in items(result, "/stacks") {
            tally.steps += items(stack, "/frames").len();
            tally.frames += items(stack, "/frames").len();
        }
        for walk in items(result, "/graphTraversals") {
            tally.steps += items(walk, "/edgeTraversals").len() + 1;
        }
    }
}

/// Whether a location is in a file.
fn placed(location: &Value) -> bool {
    let file = location.pointer("/physicalLocation/artifactLocation");
    file.is_some_and(|file| file["uri"].is_string() || file["index"].is_number())
}

/// Whether a step has words of its own.
fn worded(step: &Value) -> bool {
    let message = &step["location"]["message"];
    let words = [message, &message["text"], &message["markdown"], &message["id"]];
    words.iter().any(|words| words.as_str().is_some_and(|words| !words.is_empty()))
}

/// Whether a step says anything: a place, words, or where in the run's list they are.
fn told(step: &Value) -> bool {
    let elsewhere = step.get("location").is_none() && step.get("index").is_some();
    elsewhere || placed(&step["location"]) || worded(step)
}

/// The values of a key, anywhere directly inside a property list's dictionaries.
fn keyed<'a>(dictionary: Node<'a>, key: &str) -> Option<Node<'a>> {
    let mut children = dictionary.children();
    while let Some(child) = children.next() {
        if child.name() == "key" && child.text() == key {
            return children.next();
        }
    }
    None
}

fn plist(root: Node) -> Tally {
    let mut tally = Tally::default();
    let list =
        root.child("plist").and_then(|plist| plist.child("dict")).and_then(|top| keyed(top, "diagnostics"));
    for diagnostic in list.into_iter().flat_map(|list| list.children()) {
        tally.reports += 1;
        tally.related += keyed(diagnostic, "notes").map_or(0, |notes| notes.children().count());
        let line = |node: Node| {
            let part = |key| keyed(node, key).map_or(String::new(), |value| value.text());
            format!("{}:{}", part("file"), part("line"))
        };
        let (steps, messages) = (tally.steps, tally.messages);
        // An event is a step. So is a line that an edge runs to, where it is another than the one before, unless an event
        // of the same activation stands right there: the edge then runs to the event.
        let mut before = (String::new(), None);
        let path = keyed(diagnostic, "path");
        let pieces: Vec<Node> = path.into_iter().flat_map(|path| path.children()).collect();
        let depth = |piece: Node| keyed(piece, "depth").map(|depth| depth.text().trim().to_owned());
        let mut here = pieces.iter().find_map(|&piece| depth(piece));
        for piece in pieces {
            match keyed(piece, "kind").map(|kind| kind.text()).as_deref() {
                Some("control") => {
                    for edge in keyed(piece, "edges").into_iter().flat_map(|edges| edges.children()) {
                        let ends = ["start", "end"].into_iter().filter_map(|end| keyed(edge, end));
                        for at in ends.filter_map(|range| range.children().next()).map(line) {
                            if at != before.0 {
                                tally.steps += 1;
                                before = (at, here.clone());
                            }
                        }
                    }
                }
                Some("event") => {
                    here = depth(piece).or(here);
                    let at = (keyed(piece, "location").map_or(String::new(), line), here.clone());
                    tally.steps += usize::from(before != at || before.1.is_none());
                    tally.messages += 1;
                    // What comes next on this line is an event of its own, or an edge that starts here.
                    before = (at.0, None);
                }
                _ => {}
            }
        }
        // One event alone is the place of the report.
        if tally.steps == steps + 1 {
            (tally.steps, tally.messages) = (steps, messages);
        }
    }
    tally
}

fn gcc_json(source: &str) -> Tally {
    let mut tally = Tally::default();
    for (start, _) in source.match_indices("[{") {
        let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
        if !source[line_start..start].trim().is_empty() {
            continue;
        }
        let mut stream = serde_json::Deserializer::from_str(&source[start..]).into_iter::<Value>();
        let Some(Ok(array)) = stream.next() else { continue };
        for diagnostic in array.as_array().into_iter().flatten().filter(|one| one.get("kind").is_some()) {
            // A note by itself is about the warning before.
            if text(diagnostic, "/kind") == "note" && tally.reports > 0 {
                tally.related += 1;
                continue;
            }
            tally.reports += 1;
            // One event alone is the place of the warning.
            let events = Some(items(diagnostic, "/path").len()).filter(|&events| events > 1).unwrap_or(0);
            tally.steps += events;
            tally.messages += events;
            tally.related += items(diagnostic, "/children").len();
        }
    }
    tally
}

/// Messages with a place, and the edits that come with them.
fn rustc_json(source: &str) -> Tally {
    let mut tally = Tally::default();
    for line in source.lines() {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        let value = value.get("message").filter(|message| message.is_object()).unwrap_or(&value);
        let spans = items(value, "/spans");
        if spans.is_empty() {
            continue;
        }
        tally.reports += 1;
        tally.related += spans.iter().filter(|span| span["is_primary"] != true).count();
        let edits = |child: &&Value| {
            items(child, "/spans").iter().any(|span| span["suggested_replacement"].is_string())
        };
        tally.fixes += items(value, "/children").iter().filter(edits).count();
    }
    tally
}

/// Marks within a path are steps; those outside every path are places worth knowing.
fn pathreport(root: Node) -> Tally {
    let mut tally = Tally::default();
    let top = root.child("pathreport").unwrap_or(root);
    let structured = top.attribute("version").is_some();
    let mut reports: Vec<Node> = top.children_named("report").collect();
    if reports.is_empty() && !structured {
        reports.push(top);
    }
    for report in reports {
        tally.reports += 1;
        let mut here = Tally::default();
        let (mut paths, mut marks) = (Vec::new(), 0);
        let mut pending = vec![(report, false)];
        while let Some((node, inside)) = pending.pop() {
            for child in node.children() {
                let located = child.attribute("line").or(child.attribute("file")).is_some();
                let words = child.attribute("message").map_or_else(|| child.text(), str::to_owned);
                match child.name() {
                    "path" if child.attribute("empty") == Some("true") => {}
                    "path" => {
                        here.frames += 1;
                        paths.extend((!inside && child.attribute("continues").is_none()).then_some(child));
                        pending.push((child, true));
                    }
                    "marker" | "detour" if inside => {
                        marks += 1;
                        here.steps += usize::from(located || !words.trim().is_empty());
                        here.messages += usize::from(!words.trim().is_empty());
                        pending.push((child, true));
                    }
                    "marker" | "detour" if located && !structured => here.related += 1,
                    "related" => here.related += 1,
                    "value" | "state" | "fingerprint" | "suppression" | "note" | "data" => {}
                    "text" if structured => {}
                    _ => pending.push((child, inside)),
                }
            }
        }
        // One mark alone is the place of the report.
        let place = marks == 1 && paths.len() == 1 && paths[0].attribute("kind") != Some("stack");
        if place && report.attribute("file").is_some() {
            here = Tally { related: here.related, ..Tally::default() };
        }
        tally.steps += here.steps;
        tally.messages += here.messages;
        tally.frames += here.frames;
        tally.related += here.related;
    }
    tally
}

fn cppcheck(root: Node) -> Tally {
    let mut tally = Tally::default();
    let errors = root.child("results").and_then(|results| results.child("errors"));
    for error in errors.into_iter().flat_map(|errors| errors.children_named("error")) {
        tally.reports += 1;
        let places: Vec<Node> = error.children_named("location").collect();
        // One place is where the message stands, not a path.
        if places.len() > 1 {
            tally.steps += places.len();
            tally.messages += places
                .iter()
                .filter(|place| place.attribute("info").is_some_and(|info| !info.is_empty()))
                .count();
        }
    }
    tally
}

fn valgrind(root: Node) -> Held {
    let mut held = Held::default();
    let top = root.child("valgrindoutput");
    for error in top.into_iter().flat_map(|top| top.children()) {
        if !["error", "fatal_signal", "announcethread"].contains(&error.name()) {
            continue;
        }
        held.tally.reports += usize::from(error.name() != "announcethread");
        let mut pending: Vec<Node> = error.children().collect();
        while let Some(node) = pending.pop() {
            let frame = node.name() == "frame";
            held.tally.steps += usize::from(frame);
            held.tally.frames += usize::from(frame);
            let words = format!(" {} {}", node.child_text("fn"), node.child_text("obj"));
            held.foreign += usize::from(frame && log::is_foreign(&words));
            pending.extend(node.children());
        }
    }
    held
}

/// Failed properties and the calls on their traces; assignments become values of steps.
fn cbmc(source: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    if source.trim_start().starts_with('<') {
        let xml = Xml::parse(source).ok()?;
        let top = xml.root().child("cprover")?;
        for result in top.children_named("result").filter(|one| one.attribute("status") == Some("FAILURE")) {
            tally.reports += 1;
            let trace = result.child("goto_trace");
            let failures = trace.map_or(0, |trace| trace.children_named("failure").count());
            tally.messages += failures;
        }
        return Some(tally);
    }
    if source.trim_start().starts_with(['[', '{']) {
        let whole: Value = serde_json::from_str(source).ok()?;
        let messages = whole.as_array().map_or(std::slice::from_ref(&whole), Vec::as_slice);
        let alone = messages.iter().filter(|message| message["trace"].is_array());
        for result in messages.iter().flat_map(|message| items(message, "/result")).chain(alone) {
            if text(result, "/status").to_lowercase().starts_with("fail") {
                tally.reports += 1;
                tally.messages += items(result, "/trace")
                    .iter()
                    .filter(|step| text(step, "/stepType") == "failure")
                    .count();
            }
        }
        let violated =
            |message: &&Value| message["steps"].is_array() && text(message, "/status") == "violation";
        for message in messages.iter().filter(violated) {
            tally.reports += 1;
            tally.steps += items(message, "/steps").len();
        }
        return Some(tally);
    }
    // A trace may pass several properties that do not hold; it is about the last.
    tally.messages = source.lines().filter(|line| *line == "Violated property:").count();
    let traces = source.lines().filter(|line| line.starts_with("Trace for ")).count();
    let listed = source.lines().filter(|line| line.starts_with('[') && line.ends_with(": FAILURE")).count();
    tally.reports = traces.max(listed).max(usize::from(tally.messages > 0));
    Some(tally)
}

fn infer(bugs: &Value) -> Tally {
    let mut tally = Tally::default();
    for bug in bugs.as_array().into_iter().flatten() {
        tally.reports += 1;
        let heading = |step: &&Value| !text(step, "/description").starts_with('<');
        let steps = items(bug, "/bug_trace").iter().filter(heading).count();
        tally.steps += if steps > 1 { steps } else { 0 };
    }
    tally
}

/// How notes go on, after a number, that name a loss; and what they say is lost.
const NAMES: [(&str, &[&str]); 2] =
    [("lines of stacks ", &["steps", "frames"]), ("lines look like messages", &["reports"])];

/// How much a note says is lost, and of what. Most notes are about other things.
fn named_by(note: &str) -> Option<(usize, &'static [&'static str])> {
    let (number, words) = note.split_once(' ')?;
    let (_, things) = NAMES.into_iter().find(|(name, _)| words.starts_with(name))?;
    Some((number.parse().ok()?, things))
}

/// What went in, what came out, and what the readers say they left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// The format of the file.
    pub format: String,
    /// What the raw file holds.
    pub held: Tally,
    /// What the document holds.
    pub kept: Tally,
    /// The losses that have a reason, in words.
    pub named: Vec<String>,
    /// What else the readers say. It excuses no loss.
    pub notes: Vec<String>,
}

impl Loss {
    /// Of each thing, how much was lost.
    pub fn lost(&self) -> Vec<(&'static str, usize)> {
        let pairs = self.held.things().into_iter().zip(self.kept.things());
        pairs
            .map(|((name, held), (_, kept))| (name, held.saturating_sub(kept)))
            .filter(|(_, lost)| *lost > 0)
            .collect()
    }

    /// Of each thing, how much was lost without a word: a note speaks for as much as it names, and for no more.
    pub fn unnamed(&self) -> Vec<(&'static str, usize)> {
        let excused = |thing: &str| -> usize {
            let named = self.named.iter().filter_map(|note| named_by(note));
            named.filter(|(_, things)| things.contains(&thing)).map(|(count, _)| count).sum()
        };
        let rest = |(thing, lost): (&'static str, usize)| (thing, lost.saturating_sub(excused(thing)));
        self.lost().into_iter().map(rest).filter(|(_, lost)| *lost > 0).collect()
    }

    /// Measures a file that was read as `document`; `None` where it is not of the format.
    pub fn measure(format: Format, source: &str, document: &Document) -> Option<Loss> {
        let Held { tally: mut held, foreign } = count(format, source)?;
        let (mut named, notes): (Vec<String>, Vec<String>) =
            document.notes.iter().cloned().partition(|note| named_by(note).is_some());
        let mut kept = Tally::of(document);
        let repeated = led_to_again(format, document);
        kept.steps = kept.steps.saturating_sub(repeated);
        kept.frames = kept.frames.saturating_sub(repeated);
        // Notes of compilers are places off the path, unless they tell the path.
        let told = kept.steps.saturating_sub(held.steps).min(held.related.saturating_sub(kept.related));
        held.steps += told;
        held.related -= told;
        let lost = held.steps.saturating_sub(kept.steps).max(held.frames.saturating_sub(kept.frames));
        // So many at most: what else is lost from a stack has no name.
        let foreign = lost.min(foreign);
        if foreign > 0 {
            named.push(format!(
                "{foreign} lines of stacks are of no code of the program: start-up, and what a tool puts in place of functions"
            ));
        }
        Some(Loss { format: format.name().to_owned(), held, kept, named, notes })
    }
}

/// How many steps stand in the document more often than in the file. Tools tell once where a thread was created; each
/// path of the thread begins there. Sanitizers tell it again in each report.
fn led_to_again(format: Format, document: &Document) -> usize {
    let mut again = 0;
    let mut known = HashSet::new();
    for (number, report) in document.reports.iter().enumerate() {
        let number = if format == Format::Sanitizer { number } else { 0 };
        for path in report.paths.iter().filter(|path| path.kind == PathKind::Stack) {
            let mut from = 0;
            for (at, frame) in path.frames.iter().enumerate() {
                let Some(thread) = &frame.thread else { continue };
                let names: Vec<&str> = path.frames[from..at].iter().map(|one| &*one.function).collect();
                again += if known.insert((number, thread, names)) { 0 } else { at - from };
                from = at;
            }
        }
    }
    again
}
