//! What CBMC prints without `--json-ui` and `--xml-ui`: states, each with its place and one assignment. Calls are not told;
//! a state in a function that is not open yet is taken as the first of a call.

use super::trace::{Happening, Kind};
use super::xml::Failed;
use crate::Location;
use regex::Regex;
use std::sync::LazyLock;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("well-formed")
}
static STATE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:State \d+ )?\s*(?:file (?<file>.+?) )?(?:function (?<function>\S+) )?(?:line (?<line>\d+) )?thread (?<thread>\d+)$",
    )
});
static ASSIGNMENT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^  (?<name>[^=\s][^=]*?)=(?<value>.*?)(?: \([01{}, ?]+\))?$"));
static TRANSFER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^  (?<what>INPUT|OUTPUT) (?<name>[^:]+): (?<value>.*?)(?: \([01{}, ?]+\))?$"));

/// A property that does not hold, in the list of all; without `--trace` there is no more of it.
static RESULT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\[(?<property>[^\]]+)\] (?:line (?<line>\d+) )?(?<title>.+): FAILURE$"));
/// The file and the function that the list goes on with.
static LISTED: LazyLock<Regex> = LazyLock::new(|| regex(r"^(?<file>\S.*) function (?<function>\S+)$"));

pub(super) fn sniff(text: &str) -> bool {
    text.contains("CBMC version")
        && (text.contains("\nViolated property:")
            || text.contains("\nVERIFICATION SUCCESSFUL")
            || text.lines().any(|line| RESULT.is_match(line)))
}

/// The version and the failed properties.
pub(super) fn failures(text: &str) -> (Option<String>, Vec<Failed>) {
    let version =
        text.lines().find(|line| line.starts_with("CBMC version")).and_then(super::super::version_in);
    let mut failed = Vec::new();
    let mut reader = Reader::default();
    for line in text.lines() {
        if let Some(property) = line.strip_prefix("Trace for ").and_then(|rest| rest.strip_suffix(':')) {
            let next = Reader { property: property.to_owned(), ..Reader::default() };
            failed.extend(std::mem::replace(&mut reader, next).finish());
        } else if line == "Violated property:" {
            reader.failing = 1;
        } else if reader.failing == 3 {
            // The property as a formula, up to a blank line.
            reader.failing = if line.trim().is_empty() { 0 } else { 3 };
        } else if reader.failing == 2 {
            // The trace may go on from here, to the property that it is about.
            reader.fail(line.trim().to_owned());
        } else {
            reader.read(line);
        }
    }
    failed.extend(reader.finish());
    // With --stop-on-fail there is no list, and a trace without a name.
    failed.extend(
        listed(text)
            .filter(|one| !failed.iter().any(|traced| traced.property == one.property))
            .collect::<Vec<_>>(),
    );
    (version, failed)
}

fn listed(text: &str) -> impl Iterator<Item = Failed> {
    let mut file = "";
    text.lines().filter_map(move |line| {
        if let Some(captures) = LISTED.captures(line) {
            file = captures.name("file").map_or("", |file| file.as_str());
        }
        let captures = RESULT.captures(line)?;
        let line = captures.name("line").and_then(|line| line.as_str().parse().ok()).unwrap_or(0);
        Some(Failed {
            property: captures["property"].to_owned(),
            title: captures["title"].to_owned(),
            at: Some(Location::line(file, line)).filter(|place| !place.file.is_empty()),
            trace: Vec::new(),
        })
    })
}

#[derive(Default)]
struct Reader {
    property: String,
    trace: Vec<Happening>,
    open: Vec<String>,
    place: Option<(Option<Location>, String, String)>,
    /// How many lines of the failure have been read.
    failing: usize,
}

impl Reader {
    fn read(&mut self, line: &str) {
        if let Some(captures) = STATE.captures(line) {
            let group = |name: &str| captures.name(name).map_or("", |group| group.as_str()).to_owned();
            let line = group("line").parse().unwrap_or(0);
            let at = Some(Location::line(group("file"), line)).filter(|place| !place.file.is_empty());
            self.place = Some((at, group("function"), group("thread")));
            self.failing += usize::from(self.failing > 0);
        } else if let Some(captures) = TRANSFER.captures(line) {
            let what = if &captures["what"] == "INPUT" { "input" } else { "output" };
            self.push(Kind::Transfer {
                what,
                name: captures["name"].to_owned(),
                value: captures["value"].to_owned(),
            });
        } else if let Some(captures) = ASSIGNMENT.captures(line) {
            self.push(Kind::Assign {
                name: captures["name"].to_owned(),
                value: captures["value"].to_owned(),
                parameter: false,
            });
        }
    }

    fn push(&mut self, kind: Kind) {
        let Some((at, function, thread)) = self.place.clone() else { return };
        // Before `main`: what CBMC sets up, and the parameters that come from outside.
        if function == "__CPROVER__start" || function.is_empty() {
            if let Kind::Assign { name, value, .. } = kind {
                let kind = Kind::Transfer { what: "input", name, value };
                self.trace.push(Happening { kind, hidden: false, at: None, function, thread });
            }
            return;
        }
        self.go_to(&function, &at, &thread);
        self.trace.push(Happening { kind, hidden: false, at, function, thread });
    }

    fn go_to(&mut self, function: &str, at: &Option<Location>, thread: &str) {
        if let Some(depth) = self.open.iter().rposition(|open| open == function) {
            for _ in depth + 1..self.open.len() {
                self.open.pop();
                self.happen(Kind::Return, None, thread);
            }
            return;
        }
        let call = self.trace.last().filter(|_| !self.open.is_empty()).and_then(|last| last.at.clone());
        // The definition is not told; its file is that of its steps.
        let defined = at.as_ref().map(|place| Location { line: None, ..place.clone() });
        self.happen(Kind::Call { function: function.to_owned(), defined }, call, thread);
        self.open.push(function.to_owned());
    }

    fn happen(&mut self, kind: Kind, at: Option<Location>, thread: &str) {
        let function = self.open.last().cloned().unwrap_or_default();
        self.trace.push(Happening { kind, hidden: false, at, function, thread: thread.to_owned() });
    }

    fn fail(&mut self, reason: String) {
        let (at, function, thread) = self.place.clone().unwrap_or_default();
        if !function.is_empty() {
            self.go_to(&function, &at, &thread);
        }
        self.trace.push(Happening { kind: Kind::Fail { reason }, hidden: false, at, function, thread });
        self.failing = 3;
    }

    /// What was read, if some property failed.
    fn finish(self) -> Option<Failed> {
        let fails = self.trace.iter().any(|happening| matches!(happening.kind, Kind::Fail { .. }));
        fails.then_some(Failed { property: self.property, trace: self.trace, ..Failed::default() })
    }
}
