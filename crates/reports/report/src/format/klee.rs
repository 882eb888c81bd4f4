//! KLEE's `.err` files: what went wrong in a generated test, and the stack.

use super::Sample;
use super::gdb::bindings;
use crate::read::Fault;
use crate::stack::{Stack, StackFrame, assemble, place};
use crate::{Document, Location, Report, Severity, Tool};
use regex::Regex;
use std::sync::LazyLock;

// The number is the frame and, in eight digits, the line of the assembly.
static FRAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*#\d+ in (.+?) ?\((.*)\)(?: at (.+))?$").expect("well-formed"));

pub(super) fn sniff(sample: &Sample) -> bool {
    sample.head.starts_with("Error: ") && sample.head.contains("\nStack:")
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let field = |name: &str| lines.iter().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let title = field("Error: ").ok_or_else(|| Fault::new("no line `Error: …`"))?;
    let mut frames = Vec::new();
    for (line, words) in lines.iter().enumerate() {
        if let Some(captures) = FRAME.captures(words) {
            frames.push(StackFrame {
                line,
                function: captures[1].to_owned(),
                values: bindings(&captures[2]),
                location: captures.get(3).and_then(|at| place(at.as_str())),
                ..StackFrame::default()
            });
        }
    }
    let line = field("Line: ").and_then(|line| line.parse().ok()).unwrap_or(0);
    let mut report = Report {
        rule: title.split(':').next().unwrap_or(title).to_owned(),
        title: title.to_owned(),
        severity: Severity::Error,
        tool: Tool { name: "KLEE".to_owned(), version: None },
        location: field("File: ").map(|file| Location::line(file, line)),
        ..Report::default()
    };
    let mut notes = Vec::new();
    assemble(&mut report, &lines, vec![Stack::innermost_first("", frames).fails(None)], &mut notes);
    Ok(Document { reports: vec![report], notes, ..Document::default() })
}
