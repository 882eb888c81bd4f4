//! Stack traces of the Java virtual machine, wherever they stand in a log. Each cause is a path.

use super::Sample;
use crate::read::Fault;
use crate::stack::{Stack, StackFrame, assemble};
use crate::{Document, Location, Report, Severity, Tool};
use regex::Regex;
use std::sync::LazyLock;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("well-formed")
}

static FRAME: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s+at ([\w.$/@<>-]+)\(([^()]*)\)"));
static MORE: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s+\.\.\. (\d+) (?:more|common frames omitted)"));
static THROWN: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"^(?:Exception in thread "[^"]*" )?([\w.$]+(?:Exception|Error|Throwable)\w*)(?:: (.*))?$"#)
});

pub(super) fn sniff(sample: &Sample) -> bool {
    let place = |captures: regex::Captures| {
        captures[2].contains(".java:") || captures[2] == *"Native Method" || captures[2].contains(".kt:")
    };
    sample.text.contains("\tat ") && sample.text.lines().any(|line| FRAME.captures(line).is_some_and(place))
        || sample.text.contains(" at ")
            && sample
                .text
                .lines()
                .any(|line| line.starts_with("    at ") && FRAME.captures(line).is_some_and(place))
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut document = Document::default();
    let mut at = 0;
    while at < lines.len() {
        if !FRAME.is_match(lines[at]) {
            at += 1;
            continue;
        }
        // The exception stands on the nearest line above that looks like one; messages may span lines.
        let head = (at.saturating_sub(20)..at)
            .rev()
            .find(|&above| THROWN.is_match(lines[above].trim_start()))
            .unwrap_or(at.saturating_sub(1));
        let end = (at..lines.len()).find(|&below| !belongs(lines[below])).unwrap_or(lines.len());
        let report = report(&lines[head..end], &mut document.notes);
        document.reports.push(report);
        at = end.max(at + 1);
    }
    Ok(document)
}

fn belongs(line: &str) -> bool {
    let words = line.trim_start();
    FRAME.is_match(line)
        || MORE.is_match(line)
        || words.starts_with("Caused by: ")
        || words.starts_with("Suppressed: ")
}

/// One exception of a trace.
#[derive(Default)]
struct Trace {
    label: String,
    /// How far it is indented: what is suppressed stands further in, with its own causes.
    margin: usize,
    /// The exception that `... 2 more` means the frames of.
    around: Option<usize>,
    frames: Vec<StackFrame>,
}

fn margin(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn report(log: &[&str], notes: &mut Vec<String>) -> Report {
    let mut report = Report {
        severity: Severity::Error,
        tool: Tool { name: "Java".to_owned(), version: None },
        ..Report::default()
    };
    if let Some(thrown) = THROWN.captures(log[0].trim_start()) {
        report.rule = thrown[1].to_owned();
        report.title = thrown
            .get(2)
            .map_or_else(|| thrown[1].to_owned(), |message| format!("{}: {}", &thrown[1], message.as_str()));
    } else {
        report.title = log[0].trim().to_owned();
    }
    // Innermost first, as printed.
    let mut traces = vec![Trace { label: report.title.clone(), ..Trace::default() }];
    for (line, words) in log.iter().enumerate() {
        if let Some(captures) = FRAME.captures(words) {
            if let Some(trace) = traces.last_mut() {
                trace.frames.push(frame(line, &captures[1], &captures[2]));
            }
        } else if let Some(cause) = words.trim_start().strip_prefix("Caused by: ") {
            // A cause belongs to the exception that is printed at the same margin.
            let around = traces.iter().rposition(|trace| trace.margin == margin(words));
            traces.push(Trace {
                label: format!("caused by {cause}"),
                margin: margin(words),
                around,
                ..Trace::default()
            });
        } else if let Some(other) = words.trim_start().strip_prefix("Suppressed: ") {
            let around = traces.iter().rposition(|trace| trace.margin < margin(words));
            traces.push(Trace {
                label: format!("suppressed {other}"),
                margin: margin(words),
                around,
                ..Trace::default()
            });
        } else if let Some(captures) = MORE.captures(words) {
            let count: usize = captures[1].parse().unwrap_or(0);
            let around = traces.last().and_then(|trace| traces.get(trace.around?));
            let shared: Vec<StackFrame> = around.map_or(Vec::new(), |around| {
                let first = around.frames.len().saturating_sub(count);
                let shared = around.frames[first..].iter();
                shared.map(|frame| StackFrame { line: usize::MAX, ..frame.clone() }).collect()
            });
            if let Some(trace) = traces.last_mut() {
                trace.frames.extend(shared);
            }
        }
    }
    let stacks =
        traces.into_iter().map(|trace| Stack::innermost_first(trace.label, trace.frames).fails(None));
    let stacks = stacks.collect();
    assemble(&mut report, log, stacks, notes);
    report
}

/// `package.Class.method` and `File.java:12`, which is in the package's folder.
fn frame(line: usize, method: &str, place: &str) -> StackFrame {
    let method = method.rsplit('/').next().unwrap_or(method);
    let package = method.rsplitn(3, '.').nth(2).unwrap_or("");
    let location = place.rsplit_once(':').and_then(|(file, number)| {
        let folder = package.replace('.', "/");
        let gap = if folder.is_empty() { "" } else { "/" };
        Some(Location::line(format!("{folder}{gap}{file}"), number.parse().ok()?))
    });
    let message = if location.is_none() { place.to_owned() } else { String::new() };
    StackFrame { line, function: method.to_owned(), location, message, ..StackFrame::default() }
}

#[cfg(test)]
mod tests {
    use crate::{Format, Path, read};

    /// As OpenJDK 17 printed it.
    const TRACE: &str = "\
Exception in thread \"main\" java.lang.IllegalStateException: no room
\tat hotel.desk.Guests.move(Guests.java:4)
\tat hotel.desk.Guests.main(Guests.java:6)
Caused by: java.lang.NullPointerException: Cannot invoke \"String.trim()\" because \"<parameter1>\" is null
\tat hotel.desk.Guests.room(Guests.java:2)
\tat java.base/java.lang.Thread.run(Native Method)
\t... 2 more
";

    #[test]
    fn causes_are_paths_and_omitted_frames_are_put_back() {
        let document = read(TRACE.as_bytes(), "trace").unwrap();
        assert_eq!(Format::sniff(TRACE), Some(Format::Java));
        let report = &document.reports[0];
        assert_eq!(report.title, "java.lang.IllegalStateException: no room");
        let names = |path: &Path| path.frames.iter().map(|frame| frame.function.clone()).collect::<Vec<_>>();
        assert_eq!(names(&report.paths[0]), ["hotel.desk.Guests.main", "hotel.desk.Guests.move"]);
        assert_eq!(names(&report.paths[1])[..2], names(&report.paths[0]));
        assert_eq!(names(&report.paths[1])[3], "hotel.desk.Guests.room");
        assert_eq!(report.location.as_ref().unwrap().file, "hotel/desk/Guests.java");
        assert_eq!(report.plain_text(), TRACE);
    }

    /// As OpenJDK 17 printed it: a cause of what was suppressed, and a cause of the exception itself behind it.
    const SUPPRESSED: &str = "\
Exception in thread \"main\" java.lang.IllegalStateException: body
\tat hotel.Desk.open(Desk.java:9)
\tat hotel.Desk.main(Desk.java:20)
\tSuppressed: java.io.IOException: close
\t\tat hotel.Desk.close(Desk.java:14)
\t\tat hotel.Desk.open(Desk.java:8)
\t\t... 1 more
\tCaused by: java.lang.RuntimeException: inner
\t\tat hotel.Desk.flush(Desk.java:16)
\t\t... 3 more
Caused by: java.lang.NullPointerException: key
\tat hotel.Desk.key(Desk.java:5)
\t... 2 more
";

    #[test]
    fn a_cause_behind_what_was_suppressed_has_the_frames_of_its_own_exception() {
        let report = &read(SUPPRESSED.as_bytes(), "trace").unwrap().reports[0];
        let lines = |path: &Path| -> Vec<u32> {
            path.steps.iter().filter_map(|step| step.location.as_ref()?.line).collect()
        };
        let paths: Vec<Vec<u32>> = report.paths.iter().map(lines).collect();
        assert_eq!(paths, [vec![20, 9], vec![20, 8, 14], vec![20, 8, 14, 16], vec![20, 9, 5]]);
    }
}
