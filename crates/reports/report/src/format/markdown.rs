//! A summary in Markdown, as pages of continuous integration show it: a table of what was found, and each path behind a fold.

use crate::{Baseline, Document, Location, Report, Severity, SuppressionStatus};
use std::fmt::Write;

/// So many reports are told; a table that is longer is not read, and pages for summaries take a megabyte.
const MOST: usize = 200;
/// So many steps of a path are told, the last ones.
const STEPS: usize = 40;

/// Writes the summary.
pub fn to_markdown(document: &Document) -> String {
    let mut out = String::new();
    let is_accepted = |report: &Report| {
        report.suppressions.iter().any(|judged| judged.status == SuppressionStatus::Accepted)
    };
    let is_open = |report: &&Report| {
        !report.passed && !is_accepted(report) && report.baseline != Some(Baseline::Absent)
    };
    let open: Vec<&Report> = document.reports.iter().filter(is_open).collect();
    let others = document.reports.len() - open.len();
    let ending = if open.len() == 1 { "" } else { "s" };
    let _ = writeln!(out, "### {} finding{ending}\n", open.len());
    if !open.is_empty() {
        out.push_str("| | what | where | found by |\n| --- | --- | --- | --- |\n");
    }
    for report in open.iter().take(MOST) {
        let severity = match report.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let new = if report.baseline == Some(Baseline::New) { ", new" } else { "" };
        let tool = cell(&report.tool.name);
        let _ = writeln!(
            out,
            "| {severity}{new} | {} | {} | {tool} |",
            cell(&report.title),
            place(report.location.as_ref())
        );
    }
    for report in open.iter().take(MOST) {
        told(&mut out, report);
    }
    if open.len() > MOST {
        let _ = writeln!(out, "\n{} more findings are in the full report.", open.len() - MOST);
    }
    if others > 0 {
        let _ = writeln!(out, "\nNot listed: {others} that are fixed, accepted, or show that all is well.");
    }
    if !document.notes.is_empty() {
        out.push('\n');
    }
    for note in &document.notes {
        let _ = writeln!(out, "- {}", text(note));
    }
    out
}

fn place(at: Option<&Location>) -> String {
    match at {
        None => String::new(),
        Some(Location { file, line: Some(line), .. }) => code(&format!("{file}:{line}")),
        Some(Location { file, .. }) => code(file),
    }
}

/// The path of a report, folded.
fn told(out: &mut String, report: &Report) {
    let Some(path) = report.paths.iter().find(|path| !path.steps.is_empty()) else { return };
    let _ = writeln!(out, "\n<details><summary>{}</summary>\n", text(&report.title));
    let skipped = path.steps.len().saturating_sub(STEPS);
    if skipped > 0 {
        let _ = writeln!(out, "{skipped} earlier steps are in the full report.\n");
    }
    for step in &path.steps[skipped..] {
        let function = path.frames.get(step.frame).map_or("", |frame| frame.function.as_str());
        let mut words = step.message.clone();
        for value in &step.values {
            let between = if words.is_empty() { "" } else { "; " };
            let _ = write!(words, "{between}{} = {}", value.name, value.value);
        }
        if let Some(taken) = step.taken {
            let between = if words.is_empty() { "" } else { "; " };
            let _ = write!(words, "{between}the condition is {taken}");
        }
        let within = if function.is_empty() { String::new() } else { format!(" in {}", code(function)) };
        let colon = if words.is_empty() { "" } else { ": " };
        let _ = writeln!(out, "1. {}{within}{colon}{}", place(step.location.as_ref()), text(&words));
    }
    out.push_str("\n</details>\n");
}

/// Words that nothing in them formats.
fn text(words: &str) -> String {
    let mut out = String::new();
    for c in words.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '#' | '|' | '~' | '!' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// Words in a cell of a table: not so long that the table is lost.
fn cell(words: &str) -> String {
    const LONGEST: usize = 160;
    match words.chars().count() > LONGEST {
        true => text(&words.chars().take(LONGEST).chain(['…']).collect::<String>()),
        false => text(words),
    }
}

/// A name as code: between marks that it does not hold.
fn code(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_control() || c == '|' { ' ' } else { c }).collect();
    let marks = "`".repeat(1 + longest_run(&name));
    let blank = if name.starts_with('`') || name.ends_with('`') { " " } else { "" };
    match name.is_empty() {
        true => name,
        false => format!("{marks}{blank}{name}{blank}{marks}"),
    }
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
