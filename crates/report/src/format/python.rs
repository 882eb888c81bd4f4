//! Python tracebacks, wherever they stand in a log. Exceptions that cause each other make one report.

use super::Sample;
use crate::read::Fault;
use crate::stack::{Stack, StackFrame, assemble};
use crate::{Document, Location, Report, Severity, Tool};
use regex::Regex;
use std::sync::LazyLock;

const HEAD: &str = "Traceback (most recent call last):";
static FRAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"^\s*File "(.+)", line (\d+)(?:, in (.+))?$"#).expect("well-formed"));
static CHAIN: &[&str] =
    &["The above exception was the direct cause", "During handling of the above exception"];

pub(super) fn sniff(sample: &Sample) -> bool {
    sample.text.contains(HEAD)
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let starts: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].trim_start() == HEAD).collect();
    let mut document = Document::default();
    let mut chain: Vec<Traceback> = Vec::new();
    for (index, &start) in starts.iter().enumerate() {
        let next = starts.get(index + 1).copied().unwrap_or(lines.len());
        let traceback = Traceback::read(&lines, start, next);
        let goes_on =
            lines[traceback.end..next].iter().any(|line| CHAIN.iter().any(|words| line.contains(words)));
        chain.push(traceback);
        if !goes_on || next == lines.len() {
            let report = report(std::mem::take(&mut chain), &lines, &mut document.notes);
            document.reports.push(report);
        }
    }
    Ok(document)
}

struct Traceback {
    start: usize,
    /// One past the line of the exception.
    end: usize,
    frames: Vec<StackFrame>,
    exception: String,
}

impl Traceback {
    fn read(lines: &[&str], start: usize, next: usize) -> Self {
        let margin = lines[start].len() - lines[start].trim_start().len();
        let mut frames = Vec::new();
        for (line, words) in lines.iter().enumerate().take(next).skip(start + 1) {
            if let Some(captures) = FRAME.captures(words) {
                frames.push(StackFrame {
                    line,
                    function: captures.get(3).map_or(String::new(), |name| name.as_str().to_owned()),
                    location: Some(Location::line(&captures[1], captures[2].parse().unwrap_or(0))),
                    ..StackFrame::default()
                });
            } else if !words.trim().is_empty() && words.len() - words.trim_start().len() <= margin {
                // The exception is the first line that is not indented below the head.
                return Traceback { start, end: line + 1, frames, exception: words.trim().to_owned() };
            }
        }
        Traceback { start, end: next, frames, exception: String::new() }
    }
}

fn report(chain: Vec<Traceback>, lines: &[&str], notes: &mut Vec<String>) -> Report {
    let (first, last) = (chain[0].start, &chain[chain.len() - 1]);
    let mut report = Report {
        rule: last.exception.split([':', ' ']).next().unwrap_or_default().to_owned(),
        title: if last.exception.is_empty() { "Traceback".to_owned() } else { last.exception.clone() },
        severity: Severity::Error,
        tool: Tool { name: "Python".to_owned(), version: None },
        ..Report::default()
    };
    let log = &lines[first..last.end];
    let stacks = chain.into_iter().map(|traceback| {
        let frames =
            traceback.frames.into_iter().map(|frame| StackFrame { line: frame.line - first, ..frame });
        Stack { label: traceback.exception, frames: frames.collect(), flow: 0 }.fails(None)
    });
    assemble(&mut report, log, stacks.collect(), notes);
    report
}
