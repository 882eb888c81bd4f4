//! Python tracebacks, wherever they stand in a log. Exceptions that cause each other make one report.

use super::Sample;
use crate::read::Fault;
use crate::stack::{Stack, StackFrame, assemble};
use crate::{Document, Location, Report, Severity, Tool};
use regex::Regex;
use std::sync::LazyLock;

const HEAD: &str = "Traceback (most recent call last):";
const GROUP: &str = "Exception Group Traceback (most recent call last):";
static FRAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"^\s*File "(.+)", line (\d+)(?:, in (.+))?$"#).expect("well-formed"));
static CHAIN: &[&str] =
    &["The above exception was the direct cause", "During handling of the above exception"];

static SYNTAX: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:SyntaxError|IndentationError|TabError): .").expect("well-formed"));
/// `+---------------- 2 ----------------` and the line that ends a group.
static BORDER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*\+(?:-\+)?-{10,}(?: (?:\d+|\.\.\.) -{10,})?$").expect("well-formed"));

pub(super) fn sniff(sample: &Sample) -> bool {
    sample.text.contains("raceback (most recent call last):")
        || sample.text.contains("Error: ") && {
            let lines: Vec<&str> = sample.text.lines().map(str::trim_end).collect();
            (0..lines.len()).any(|at| syntax_error(&lines, at).is_some())
        }
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut document = Document::default();
    let mut chain: Vec<Traceback> = Vec::new();
    let begins = |at: usize| lines[at].trim_start() == HEAD || begins_group(lines[at]);
    let mut at = 0;
    while at < lines.len() {
        if !begins(at) {
            if let Some(start) = syntax_error(&lines, at) {
                let traceback = Traceback::read(&lines, start, at + 1);
                let report = report(vec![Traceback { start, ..traceback }], &lines, &mut document.notes);
                document.reports.push(report);
            }
            at += 1;
            continue;
        }
        if begins_group(lines[at]) {
            chain.extend(group(&lines, at));
        } else {
            let next = (at + 1..lines.len()).find(|&next| begins(next)).unwrap_or(lines.len());
            chain.push(Traceback::read(&lines, at, next));
        }
        at = chain.last().map_or(at, |traceback| traceback.end).max(at + 1);
        // Where another follows because of this one, they are one report.
        let next = (at..lines.len()).find(|&next| begins(next)).unwrap_or(lines.len());
        let goes_on = lines[at..next].iter().any(|line| CHAIN.iter().any(|words| line.contains(words)));
        if !goes_on || next == lines.len() {
            let report = report(std::mem::take(&mut chain), &lines, &mut document.notes);
            document.reports.push(report);
        } else {
            at = next;
        }
    }
    Ok(document)
}

fn begins_group(line: &str) -> bool {
    line.trim_start().trim_start_matches(['+', '|']).trim_start() == GROUP
}

/// The first line of a syntax error that ends at `at` and stands without a traceback: the file that was to be run.
fn syntax_error(lines: &[&str], at: usize) -> Option<usize> {
    SYNTAX.is_match(lines[at]).then_some(())?;
    let start = (at.saturating_sub(4)..at).rev().find(|&above| FRAME.is_match(lines[above]))?;
    let alone = FRAME.captures(lines[start])?.get(3).is_none()
        && lines[start + 1..at].iter().all(|line| line.starts_with(' '));
    // In a traceback it is the last frame.
    let inside = lines[..start].iter().rev().take_while(|line| line.starts_with(' ')).count();
    let above = start.checked_sub(inside + 1).map(|above| lines[above]);
    (alone && above.is_none_or(|line| line.trim_start() != HEAD)).then_some(start)
}

/// The exceptions of a group, the group itself first. Their lines stand behind a margin that grows with the depth.
fn group(lines: &[&str], start: usize) -> Vec<Traceback> {
    let inside = |line: &&str| line.trim_start().starts_with(['|', '+']);
    let end = start + lines[start..].iter().take_while(|line| inside(line)).count().max(1);
    let new = |start: usize| Traceback { start, end, frames: Vec::new(), exception: String::new() };
    let mut all = vec![new(start)];
    for (number, line) in lines.iter().enumerate().take(end).skip(start) {
        let Some(last) = all.last_mut() else { break };
        if BORDER.is_match(line) {
            if !last.exception.is_empty() || !last.frames.is_empty() {
                all.push(new(number));
            }
            continue;
        }
        let words = line.trim_start().trim_start_matches(['|', '+']);
        let words = words.strip_prefix(' ').unwrap_or(words);
        if words == HEAD || words == GROUP {
            // A cause within the group.
            if !last.exception.is_empty() {
                all.push(new(number));
            }
        } else if let Some(captures) = FRAME.captures(words) {
            last.frames.push(frame(number, &captures));
        } else if !words.starts_with(' ')
            && !words.is_empty()
            && last.exception.is_empty()
            && !CHAIN.iter().any(|chain| words.contains(chain))
        {
            last.exception = words.trim().to_owned();
        }
    }
    if all.len() > 1 && all.last().is_some_and(|last| last.exception.is_empty() && last.frames.is_empty()) {
        all.pop();
    }
    all
}

fn frame(line: usize, captures: &regex::Captures) -> StackFrame {
    StackFrame {
        line,
        function: captures.get(3).map_or(String::new(), |name| name.as_str().to_owned()),
        location: Some(Location::line(&captures[1], captures[2].parse().unwrap_or(0))),
        ..StackFrame::default()
    }
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
        // A syntax error begins with the place itself.
        let first = if FRAME.is_match(lines[start]) { start } else { start + 1 };
        for (line, words) in lines.iter().enumerate().take(next).skip(first) {
            if let Some(captures) = FRAME.captures(words) {
                frames.push(frame(line, &captures));
            } else if !words.trim().is_empty() && words.len() - words.trim_start().len() <= margin {
                // The exception is the first line that is not indented below the head.
                return Traceback { start, end: line + 1, frames, exception: words.trim().to_owned() };
            }
        }
        Traceback { start, end: next, frames, exception: String::new() }
    }
}

fn report(chain: Vec<Traceback>, lines: &[&str], notes: &mut Vec<String>) -> Report {
    // Of a group the first tells what it is, of a chain the last.
    let head = chain
        .iter()
        .find(|traceback| begins_group(lines[traceback.start]))
        .unwrap_or(&chain[chain.len() - 1]);
    let (first, last) = (chain[0].start, head);
    let end = chain.iter().map(|traceback| traceback.end).max().unwrap_or(last.end);
    let mut report = Report {
        rule: last.exception.split([':', ' ']).next().unwrap_or_default().to_owned(),
        title: if last.exception.is_empty() { "Traceback".to_owned() } else { last.exception.clone() },
        severity: Severity::Error,
        tool: Tool { name: "Python".to_owned(), version: None },
        ..Report::default()
    };
    let log = &lines[first..end];
    let silent = chain.iter().filter(|traceback| traceback.frames.is_empty()).count();
    if silent > 0 {
        notes.push(format!(
            "{silent} exceptions of a group have no traceback: they are in the report's text only"
        ));
    }
    let stacks = chain.into_iter().filter(|traceback| !traceback.frames.is_empty()).map(|traceback| {
        let frames =
            traceback.frames.into_iter().map(|frame| StackFrame { line: frame.line - first, ..frame });
        Stack { label: traceback.exception, frames: frames.collect(), flow: 0 }.fails(None)
    });
    assemble(&mut report, log, stacks.collect(), notes);
    report
}

#[cfg(test)]
mod tests {
    use crate::{Format, read};

    /// As Python 3.12 printed it.
    const TASKS: &str = "\
  + Exception Group Traceback (most recent call last):
  |   File \"/tmp/tasks.py\", line 14, in <module>
  |     asyncio.run(main())
  |   File \"/tmp/tasks.py\", line 10, in main
  |     async with asyncio.TaskGroup() as group:
  | ExceptionGroup: unhandled errors in a TaskGroup (3 sub-exceptions)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File \"/tmp/tasks.py\", line 4, in one
    |     raise ValueError(\"no\")
    | ValueError: no
    +---------------- 2 ----------------
    | TypeError: never raised
    +---------------- 3 ----------------
    | Exception Group Traceback (most recent call last):
    |   File \"/tmp/tasks.py\", line 7, in two
    |     raise ExceptionGroup(\"inner\", [KeyError(1)])
    | ExceptionGroup: inner (1 sub-exception)
    +-+---------------- 1 ----------------
      | KeyError: 1
      +------------------------------------
";

    #[test]
    fn an_exception_group_is_one_report_with_a_path_for_each_traceback() {
        for text in [TASKS.to_owned(), format!("starting\n{TASKS}done\n")] {
            let document = read(text.as_bytes(), "log").unwrap();
            assert_eq!(document.reports.len(), 1);
            let report = &document.reports[0];
            assert_eq!(report.title, "ExceptionGroup: unhandled errors in a TaskGroup (3 sub-exceptions)");
            let paths: Vec<_> =
                report.paths.iter().map(|path| (path.label.as_str(), path.steps.len())).collect();
            assert_eq!(
                paths,
                [
                    ("ExceptionGroup: unhandled errors in a TaskGroup (3 sub-exceptions)", 2),
                    ("ValueError: no", 1),
                    ("ExceptionGroup: inner (1 sub-exception)", 1),
                ]
            );
            assert!(
                document
                    .notes
                    .iter()
                    .any(|note| note.starts_with("2 exceptions of a group have no traceback"))
            );
            assert_eq!(report.plain_text(), TASKS);
        }
    }

    #[test]
    fn a_syntax_error_is_a_report_with_and_without_a_traceback() {
        let alone = "  File \"/tmp/bad.py\", line 2\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n";
        assert_eq!(Format::sniff(alone), Some(Format::Python));
        let report = &read(alone.as_bytes(), "log").unwrap().reports[0];
        assert_eq!((&*report.rule, report.location.as_ref().unwrap().line), ("SyntaxError", Some(2)));
        let imported = format!(
            "Traceback (most recent call last):\n  File \"/tmp/a.py\", line 1, in <module>\n    import bad\n{alone}"
        );
        let reports = read(imported.as_bytes(), "log").unwrap().reports;
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].paths[0].steps.len(), 2);
    }
}
