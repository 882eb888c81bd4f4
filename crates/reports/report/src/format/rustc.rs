//! rustc's diagnostics: its text, `error[E0382]: …` with ` --> file:line:column` below, and `--error-format=json`, also as
//! cargo wraps it (`--message-format=json`). What it labels besides the place is related; what it proposes is a fix.

use super::{Sample, compiler, one_step};
use crate::read::Fault;
use crate::value::{items, number, some_text, text};
use crate::{Change, Document, Fix, Location, Related, Report, Rule, Segment, Severity, Tool};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("well-formed")
}

static HEAD: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(error|warning|note|help)(?:\[([\w:.-]+)\])?: (.+)$"));
static ARROW: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*--> (.+):(\d+):(\d+)$"));
/// Where a lint that has no code says its name.
static LINT: LazyLock<Regex> = LazyLock::new(|| regex(r"`#\[(?:warn|deny|forbid)\(([\w:]+)\)\]`"));
/// What rustc and clippy have for codes; other tools print in the same way, and have others.
static CODE: LazyLock<Regex> = LazyLock::new(|| regex(r"^(?:E\d{4}|\w+::[\w:]+|)$"));
/// How rustc and cargo end; it is about no line.
static SUMMARY: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:aborting due to |could not compile |\d+ warnings? emitted|build failed|.* generated \d+ warnings?)",
    )
});

/// How many expansions of macros around one another are left.
const EXPANSIONS: usize = 64;

pub(super) fn sniff(sample: &Sample) -> bool {
    if sample.head.starts_with('{') {
        let first = sample.text.lines().next().unwrap_or_default();
        return first.contains("\"$message_type\":") || first.contains("\"reason\":\"compiler-");
    }
    let mut headed = false;
    sample.text.contains("--> ")
        && sample.text.lines().any(|line| {
            let found = headed && ARROW.is_match(line);
            // The words of a message may take several lines.
            headed = HEAD.is_match(line) || (headed && line.starts_with("   "));
            found
        })
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    if text.trim_start().starts_with('{') { parse_json(text) } else { parse_text(text) }
}

fn tool() -> Tool {
    Tool { name: "rustc".to_owned(), version: None }
}

fn severity(level: &str) -> Severity {
    match level {
        "warning" => Severity::Warning,
        "note" | "help" => Severity::Note,
        _ => Severity::Error,
    }
}

fn parse_json(text: &str) -> Result<Document, Fault> {
    let mut document = Document::default();
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let mut value: Value = serde_json::from_str(line)?;
        // cargo says more than rustc does; only what is a message of the compiler is one.
        if value.get("reason").is_some() {
            value = value["message"].take();
        }
        if let Some(report) = diagnostic(&value) {
            let explanation = some_text(&value, "/code/explanation").unwrap_or_default();
            document.rules.push(Rule {
                id: report.rule.clone(),
                tool: tool(),
                help: explanation,
                ..Rule::default()
            });
            document.reports.push(report);
        }
    }
    Ok(document)
}

fn diagnostic(value: &Value) -> Option<Report> {
    let spans = items(value, "/spans");
    let title = some_text(value, "/message")?;
    let level = text(value, "/level");
    if level == "failure-note" || (spans.is_empty() && SUMMARY.is_match(&title)) {
        return None;
    }
    let primary = spans.iter().position(|span| span["is_primary"] == true);
    let location = primary.and_then(|at| place(&spans[at]));
    let label = primary.map_or("", |at| text(&spans[at], "/label"));
    let words = if label.is_empty() { &title } else { label };
    let others = spans.iter().enumerate().filter(|(at, _)| Some(*at) != primary);
    let mut report = Report {
        rule: text(value, "/code/code").to_owned(),
        severity: severity(level),
        tool: tool(),
        related: others.filter_map(|(_, span)| related(span, text(span, "/label"))).collect(),
        text: some_text(value, "/rendered").map(Segment::plain).into_iter().collect(),
        ..Report::default()
    };
    report.paths.extend(location.clone().map(|location| one_step(location, String::new(), words)));
    (report.location, report.title) = (location, title);
    for child in items(value, "/children") {
        advise(&mut report, child);
    }
    Some(report)
}

/// What is said besides: an edit, a place, or words alone, which the text has.
fn advise(report: &mut Report, child: &Value) {
    let words = text(child, "/message");
    let spans = items(child, "/spans");
    let changes: Vec<Change> = spans.iter().filter_map(change).collect();
    if !changes.is_empty() || (spans.is_empty() && text(child, "/level") == "help") {
        report.fixes.push(Fix { description: words.to_owned(), changes });
        return;
    }
    report.related.extend(spans.iter().filter_map(|span| related(span, words)));
}

fn change(span: &Value) -> Option<Change> {
    let text = span["suggested_replacement"].as_str()?.to_owned();
    let end = |name: &str| (number(span, &format!("/line_{name}")), number(span, &format!("/column_{name}")));
    Some(Change { insert: end("start") == end("end"), location: place(span)?, text })
}

fn related(span: &Value, words: &str) -> Option<Related> {
    let label = text(span, "/label");
    let message = if label.is_empty() { words } else { label };
    Some(Related { location: place(span)?, message: message.to_owned() })
}

/// The place of a span; of one in a macro of the standard library, where the macro is used.
fn place(span: &Value) -> Option<Location> {
    let mut span = span;
    for _ in 0..EXPANSIONS {
        match span.pointer("/expansion/span") {
            Some(outer) if text(span, "/file_name").starts_with("/rustc/") => span = outer,
            _ => break,
        }
    }
    let file = some_text(span, "/file_name")?;
    Some(Location {
        file,
        line: number(span, "/line_start"),
        column: number(span, "/column_start"),
        end_line: number(span, "/line_end"),
        end_column: number(span, "/column_end"),
    })
}

/// One message of the text, with the messages below it that say more about it.
#[derive(Default)]
struct Told<'a> {
    level: &'a str,
    code: &'a str,
    words: &'a str,
    at: Option<Location>,
    lines: Vec<&'a str>,
    more: Vec<Told<'a>>,
}

fn parse_text(text: &str) -> Result<Document, Fault> {
    let mut document = Document::default();
    let mut around = String::new();
    let mut current: Option<Told> = None;
    for line in text.lines() {
        let line = line.trim_end();
        if let Some(captures) = HEAD.captures(line) {
            let group = |at: usize| captures.get(at).map_or("", |group| group.as_str());
            let told = Told { level: group(1), code: group(2), words: group(3), ..Told::default() };
            match &mut current {
                Some(head) if ["note", "help"].contains(&told.level) => {
                    head.lines.push(line);
                    head.more.push(told);
                }
                _ => {
                    document.reports.extend(current.take().and_then(report));
                    current = Some(Told { lines: vec![line], ..told });
                }
            }
            continue;
        }
        // What is drawn is indented, or begins with the number of a line. Blank lines stand between messages, and in some.
        let drawn =
            line.is_empty() || line.starts_with([' ', '.', '|']) || line.starts_with(char::is_numeric);
        match current.as_mut().filter(|_| drawn) {
            Some(head) => {
                head.lines.push(line);
                let told = head.more.last_mut().map_or(&mut head.at, |more| &mut more.at);
                if let Some(captures) = ARROW.captures(line).filter(|_| told.is_none()) {
                    let number = |at: usize| captures[at].parse().unwrap_or(0);
                    *told = Some(Location::line(&captures[1], number(2)).at_column(number(3)));
                }
            }
            None => {
                document.reports.extend(current.take().and_then(report));
                around.push_str(line);
                around.push('\n');
            }
        }
    }
    document.reports.extend(current.take().and_then(report));
    // A build may have other compilers too.
    document.absorb(compiler::parse(&around)?);
    Ok(document)
}

fn report(told: Told) -> Option<Report> {
    if told.at.is_none() && SUMMARY.is_match(told.words) {
        return None;
    }
    let log = told.lines.join("\n");
    let lint = LINT.captures(&log).map_or(String::new(), |lint| lint[1].to_owned());
    let mut report = Report {
        rule: if told.code.is_empty() { lint } else { told.code.to_owned() },
        title: told.words.to_owned(),
        severity: severity(told.level),
        tool: if CODE.is_match(told.code) { tool() } else { Tool::default() },
        location: told.at.clone(),
        text: vec![Segment::plain(log.trim_end())],
        ..Report::default()
    };
    report.paths.extend(told.at.map(|at| one_step(at, String::new(), told.words)));
    for more in told.more {
        match more.at {
            Some(location) => report.related.push(Related { location, message: more.words.to_owned() }),
            None if more.level == "help" => {
                report.fixes.push(Fix { description: more.words.to_owned(), changes: Vec::new() });
            }
            None => {}
        }
    }
    Some(report)
}
