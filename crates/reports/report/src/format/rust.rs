//! Rust panics, with the backtrace that `RUST_BACKTRACE=1` adds.

use super::Sample;
use crate::read::Fault;
use crate::stack::{Stack, StackFrame, assemble, place};
use crate::{Document, Report, Severity, Tool};
use regex::Regex;
use std::sync::LazyLock;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("well-formed")
}

/// Up to Rust 1.72 the message stands before the place, in quotes; since then below it.
static OLD: LazyLock<Regex> = LazyLock::new(|| regex(r"^thread '.*' panicked at '(.*)', (\S.*:\d+:\d+)$"));
static NEW: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^thread '.*'(?: \(\d+\))? panicked at (\S.*:\d+:\d+):$"));
static FUNCTION: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*(\d+): (?:0x[0-9a-f]+ - )?(.+)$"));
static AT: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s+at (.+)$"));

pub(super) fn sniff(sample: &Sample) -> bool {
    sample.text.contains("' panicked at ") || sample.text.contains(") panicked at ")
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let starts: Vec<usize> =
        (0..lines.len()).filter(|&at| NEW.is_match(lines[at]) || OLD.is_match(lines[at])).collect();
    if starts.is_empty() {
        return Err(Fault::new("no line `thread '…' panicked at …`"));
    }
    let mut document = Document::default();
    for (index, &start) in starts.iter().enumerate() {
        let next = starts.get(index + 1).copied().unwrap_or(lines.len());
        let report = report(&lines[start..next], &mut document.notes);
        document.reports.push(report);
    }
    Ok(document)
}

fn report(lines: &[&str], notes: &mut Vec<String>) -> Report {
    let mut end = lines.iter().position(|line| line.starts_with("note: ")).unwrap_or(lines.len());
    let (message, at) = match (OLD.captures(lines[0]), NEW.captures(lines[0])) {
        (Some(old), _) => (old[1].to_owned(), place(&old[2])),
        (_, Some(new)) => (lines.get(1).map_or("", |line| line.trim()).to_owned(), place(&new[1])),
        _ => (String::new(), None),
    };
    let mut frames: Vec<StackFrame> = Vec::new();
    for (line, words) in lines[..end].iter().enumerate().skip(1) {
        if let (Some(captures), Some(last)) = (AT.captures(words), frames.last_mut()) {
            last.location = place(captures[1].trim_start_matches("./"));
        } else if let Some(captures) = FUNCTION.captures(words) {
            frames.push(StackFrame { line, function: captures[2].to_owned(), ..StackFrame::default() });
        } else if !frames.is_empty() {
            // The backtrace is over; what the program prints after it is not part of the report.
            end = line;
            break;
        }
    }
    let mut report = Report {
        rule: "panic".to_owned(),
        title: if message.is_empty() { "panic".to_owned() } else { message },
        severity: Severity::Error,
        tool: Tool { name: "Rust".to_owned(), version: None },
        location: at.clone(),
        ..Report::default()
    };
    let mut frames = own_code(frames);
    if frames.is_empty() {
        frames.push(StackFrame { location: at, message: report.title.clone(), ..StackFrame::default() });
    }
    assemble(&mut report, &lines[..end], vec![Stack::innermost_first("", frames).fails(None)], notes);
    report
}

/// Frames, innermost first, without the library's at either end: the machinery of panicking, and of starting `main`.
fn own_code(frames: Vec<StackFrame>) -> Vec<StackFrame> {
    let library = |frame: &StackFrame| {
        let place = frame.location.as_ref().map_or("", |place| place.file.as_str());
        place.contains("/rustc/")
            || place.contains("/library/std/src/")
            || place.contains("/library/core/src/")
            || ["core::", "std::", "rust_begin_unwind", "__rustc::", "_start", "__libc_start", "main"]
                .iter()
                .any(|head| {
                    frame.function == *head || (head.ends_with(':') && frame.function.starts_with(head))
                })
    };
    let whole = frames.clone();
    let mut frames: Vec<StackFrame> = frames.into_iter().skip_while(library).collect();
    while frames.last().is_some_and(library) {
        frames.pop();
    }
    if frames.is_empty() { whole } else { frames }
}
