//! Lines as compilers print them, `file:line:column: warning: …`, which linters imitate; also Microsoft's
//! `file(line,column): warning C4700: …`, flake8's `file:line:column: E501 …` and ESLint's `file: line 3, col 4, Error - …`.
//! The notes that follow a warning are its path when they tell one (clang-tidy does),
//! and related places otherwise.

use super::gcc_text::{self, Drawing};
use super::{Sample, one_step};
use crate::flow::{self, Event};
use crate::narration::understand;
use crate::read::Fault;
use crate::stack::place;
use crate::{Document, Location, Related, Report, Role, Severity, Tool};
use regex::Regex;
use std::sync::LazyLock;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("well-formed")
}

// A code stands before the words (`error[E0308]: …`) or a rule's name behind them (`… [-Wshadow]`).
static UNIX: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(\S.*?:\d+(?::\d+)?): (fatal error|error|warning|note|style|performance|portability|information|remark)(?:\[([\w:.-]+)\]| ([A-Z]+\d+))?: (.+?)(\s+\[([^\[\]]+)\])?$",
    )
});
static CODED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(\S.*?:\d+(?::\d+)?): ([A-Z]{1,6}\d{2,5}):? (?:\[\*\] )?(.+)$"));
static COMPACT: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^(\S.*): line (\d+), col (\d+), (Error|Warning|Info) - (.+?)(?: \(([\w@/.-]+)\))?$")
});
/// What begins with a place in a file, whatever follows. Times look like one too; names of files have a dot or a slash.
static LOCATED: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^(?:[A-Za-z]:)?(?:[^\s:]*[./\\][^\s:]*|[^\s:\d][^\s:]*file):\d+(?::\d+)?:\s*\S")
});
static MICROSOFT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\s*(?:\d+>)?(\S.*?)\((\d+)(?:,(\d+))?\)\s?: (fatal error|error|warning|note|message)(?: ([A-Z]+\d+))?: (.+)$",
    )
});

pub(super) fn sniff(sample: &Sample) -> bool {
    sample.text.lines().any(|line| {
        // Most lines of most files are none; that is seen without a pattern.
        (line.contains(": ") || line.contains("):"))
            && message(line).is_some_and(|message| !message.is_note())
    })
}

struct Message {
    at: Location,
    kind: String,
    words: String,
    rule: String,
    cwe: Option<u32>,
}

/// A line of a build log: a warning, or a note about the one before.
struct Told {
    head: Message,
    drawing: Option<Drawing>,
    notes: Vec<Message>,
}

static WEAKNESS: LazyLock<Regex> = LazyLock::new(|| regex(r"^(.*\S) \[CWE-(\d+)\]$"));
static PLACELESS: LazyLock<Regex> = LazyLock::new(|| regex(r"^(<[\w -]+>|cc1\w*): note: (.+)$"));

/// The rule of `-Wshadow`, `-Werror=shadow`, `-Werror,-Wshadow` and `bugprone-x,-warnings-as-errors` alike.
fn named(written: &str) -> &str {
    let parts = written.split(',').map(|part| part.trim_start_matches("-W"));
    let mut parts = parts.map(|part| part.strip_prefix("error=").unwrap_or(part));
    parts.find(|part| !["", "error", "-warnings-as-errors"].contains(part)).unwrap_or(written)
}

impl Message {
    /// Whether it says more about the message before. What has a rule of its own is a finding of its own.
    fn is_note(&self) -> bool {
        self.kind == "note" && self.rule.is_empty()
    }
}

fn message(line: &str) -> Option<Message> {
    let line = line.trim_end();
    if let Some(captures) = UNIX.captures(line) {
        let group = |at: usize| captures.get(at).map(|group| group.as_str());
        let code = group(3).or(group(4));
        let rule = code.or(group(7).map(named)).unwrap_or_default();
        // Behind a code, brackets are words.
        let spoken = format!("{}{}", &captures[5], code.and(group(6)).unwrap_or_default());
        let weakness = WEAKNESS.captures(&spoken);
        let words = weakness.as_ref().map_or(&*spoken, |weakness| weakness.get(1).map_or("", |m| m.as_str()));
        return Some(Message {
            at: place(&captures[1])?,
            kind: captures[2].to_owned(),
            words: words.to_owned(),
            rule: rule.to_owned(),
            cwe: weakness.and_then(|weakness| weakness[2].parse().ok()),
        });
    }
    if let Some(captures) = CODED.captures(line) {
        return Some(Message {
            at: place(&captures[1])?,
            kind: "warning".to_owned(),
            words: captures[3].to_owned(),
            rule: captures[2].to_owned(),
            cwe: None,
        });
    }
    if let Some(captures) = COMPACT.captures(line) {
        let number = |group: usize| captures[group].parse().unwrap_or(0);
        return Some(Message {
            at: Location::line(&captures[1], number(2)).at_column(number(3)),
            kind: captures[4].to_lowercase(),
            words: captures[5].to_owned(),
            rule: captures.get(6).map_or(String::new(), |rule| rule.as_str().to_owned()),
            cwe: None,
        });
    }
    if let Some(captures) = PLACELESS.captures(line) {
        return Some(Message {
            at: Location { file: captures[1].to_owned(), ..Location::default() },
            kind: "note".to_owned(),
            words: captures[2].to_owned(),
            rule: String::new(),
            cwe: None,
        });
    }
    let captures = MICROSOFT.captures(line)?;
    let number =
        |group: usize| captures.get(group).and_then(|number| number.as_str().parse().ok()).unwrap_or(0);
    Some(Message {
        at: Location::line(&captures[1], number(2)).at_column(number(3)),
        kind: if &captures[4] == "message" { "note".to_owned() } else { captures[4].to_owned() },
        words: captures[6].to_owned(),
        rule: captures.get(5).map_or(String::new(), |rule| rule.as_str().to_owned()),
        cwe: None,
    })
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let mut document = Document::default();
    let mut current: Option<Told> = None;
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    let mut unread = Vec::new();
    while let Some(line) = lines.get(at) {
        at += 1;
        let Some(message) = message(line) else {
            unread.extend(LOCATED.is_match(line).then_some(*line));
            continue;
        };
        match &mut current {
            Some(told) if message.is_note() => told.notes.push(message),
            // A note that nothing stands before says what it says by itself.
            _ => {
                document.reports.extend(current.take().map(|told| report(told, &mut document.notes)));
                let drawing = gcc_text::drawing(&message.at, upto_next(&lines[at..]));
                at += drawing.as_ref().map_or(0, |drawing| drawing.lines);
                current = Some(Told { head: message, drawing, notes: Vec::new() });
            }
        }
    }
    document.reports.extend(current.take().map(|told| report(told, &mut document.notes)));
    document.notes.extend(unread_note(&unread));
    Ok(document)
}

/// What the notes say of lines that look like messages and are of no kind that is known.
fn unread_note(lines: &[&str]) -> Option<String> {
    /// So much of the first is quoted.
    const QUOTED: usize = 100;
    let first: String = lines.first()?.trim_end().chars().take(QUOTED).collect();
    Some(format!(
        "{} lines look like messages, for a place stands before them, and are not understood; the first is {first:?}",
        lines.len()
    ))
}

/// The lines before the next warning.
fn upto_next<'a, 'b>(lines: &'b [&'a str]) -> &'b [&'a str] {
    let next = lines.iter().position(|line| message(line).is_some_and(|message| !message.is_note()));
    &lines[..next.unwrap_or(lines.len())]
}

fn report(told: Told, notes: &mut Vec<String>) -> Report {
    let Told { head, drawing, notes: told } = told;
    let tool = match &drawing {
        Some(_) => "gcc",
        None if head.rule.starts_with("clang-") => "clang-tidy",
        None => "",
    };
    let mut report = Report {
        rule: head.rule,
        title: head.words,
        severity: match head.kind.as_str() {
            "error" | "fatal error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => Severity::Note,
        },
        tool: Tool { name: tool.to_owned(), version: None },
        cwe: head.cwe.into_iter().collect(),
        location: Some(head.at.clone()),
        ..Report::default()
    };
    // Notes that come back to where the warning stands tell how it comes to it.
    let returns = |note: &Message| note.at.file == head.at.file && note.at.line == head.at.line;
    let tells = told.iter().any(|note| [Role::Call, Role::Branch].contains(&understand(&note.words).role))
        || (told.len() > 1 && told.last().is_some_and(returns));
    if let Some(drawing) = drawing {
        if drawing.wordless > 0 {
            notes.push(format!(
                "{}:{}: gcc's text gives no words for {} of its events; -fdiagnostics-format=json has them",
                head.at.file,
                head.at.line.unwrap_or(0),
                drawing.wordless
            ));
        }
        let mut path = flow::build("", drawing.events);
        flow::ends_in_failure(&mut path);
        if path.was_cut() {
            notes.push(super::cut_note(&path));
        }
        report.paths.push(path.finish());
        report
            .related
            .extend(told.into_iter().map(|note| Related { location: note.at, message: note.words }));
    } else if tells {
        let events = told.into_iter().map(|note| Event::told(Some(note.at), note.words)).collect();
        let mut path = flow::build("", events);
        flow::ends_in_failure(&mut path);
        if path.was_cut() {
            notes.push(super::cut_note(&path));
        }
        report.paths.push(path.finish());
    } else {
        report
            .related
            .extend(told.into_iter().map(|note| Related { location: note.at, message: note.words }));
        report.paths.push(one_step(head.at, String::new(), &report.title));
    }
    report.narrate();
    report
}

#[cfg(test)]
mod tests {
    use crate::{Format, Severity, read};

    #[test]
    fn unix_and_microsoft_lines() {
        let log = "make: entering\n\
            src/a.c:3:9: warning: unused variable 'x' [-Wunused-variable]\n    3 |     int x;\n\
            src/a.c:9:1: error: expected ';'\nsrc/a.h:2:1: note: declared here\n\
            C:\\src\\b.cpp(12,5): warning C4700: uninitialized local variable 'p' used [C:\\src\\b.vcxproj]\n";
        assert_eq!(Format::sniff(log), Some(Format::Compiler));
        let document = read(log.as_bytes(), "log").unwrap();
        let rules: Vec<_> = document.reports.iter().map(|report| (&*report.rule, report.severity)).collect();
        assert_eq!(
            rules,
            [("unused-variable", Severity::Warning), ("", Severity::Error), ("C4700", Severity::Warning)]
        );
        assert_eq!(document.reports[1].related[0].message, "declared here");
        let place = document.reports[2].location.as_ref().unwrap();
        assert_eq!((place.file.as_str(), place.line, place.column), ("C:/src/b.cpp", Some(12), Some(5)));
    }

    #[test]
    fn notes_that_tell_a_path_become_one() {
        let log = "g.c:60:38: warning: Use of memory after it is freed [clang-analyzer-unix.Malloc]\n\
            g.c:83:9: note: Calling 'check_out'\ng.c:59:5: note: Calling 'drop'\ng.c:49:5: note: Memory is released\n\
            g.c:59:5: note: Returning; memory was released\ng.c:60:38: note: Use of memory after it is freed\n";
        let report = &read(log.as_bytes(), "tidy").unwrap().reports[0];
        let names: Vec<_> = report.paths[0].frames.iter().map(|frame| frame.function.as_str()).collect();
        assert_eq!(names, ["", "check_out", "drop"]);
        assert_eq!((report.paths[0].steps[4].frame, report.paths[0].steps[4].failing), (1, true));
        assert_eq!(report.tool.name, "clang-tidy");
    }
}
