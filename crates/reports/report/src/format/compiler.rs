//! What compilers and linters print, line by line: warnings, and the notes that follow them. Those are the path of the warning
//! when they tell one (clang-tidy does), and related places otherwise.

use super::caret;
use super::gcc_notes;
use super::gcc_text::{self, Drawing};
use super::grouped::ungrouped;
use super::message::{Message, fix_it, message};
use super::{Sample, one_step};
use crate::flow::{self, Event};
use crate::narration::understand;
use crate::read::Fault;
use crate::{Document, Fix, Related, Report, Role, Segment, Severity, Tool};
use regex::Regex;
use std::sync::LazyLock;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("well-formed")
}

/// What begins with a place in a file, whatever follows. Times look like one too; names of files have a dot or a slash.
static LOCATED: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^(?:[A-Za-z]:)?(?:[^\s:]*[./\\][^\s:]*|[^\s:\d][^\s:]*file):\d+(?::\d+)?:\s*\S")
});
pub(super) fn sniff(sample: &Sample) -> bool {
    ungrouped(sample.text).lines().any(|line| {
        // Most lines of most files are none; that is seen without a pattern.
        [": ", "):", "::"].iter().any(|sign| line.contains(sign))
            && message(line).is_some_and(|message| !message.is_note())
    })
}

/// A line of a build log: a warning, or a note about the one before.
struct Told {
    head: Message,
    /// The function that it stands in, where gcc says so.
    inside: String,
    drawing: Option<Drawing>,
    notes: Vec<Message>,
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let mut document = Document::default();
    let mut current: Option<Told> = None;
    let text = &*ungrouped(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    let mut unread = Vec::new();
    let gcc = caret::is_gcc(text);
    // The place of the message before, where its column is not known.
    let mut unknown = None;
    let mut inside = "";
    while let Some(line) = lines.get(at) {
        at += 1;
        if let Some(change) = fix_it(line) {
            let open = current.as_mut().map(|told| told.notes.last_mut().unwrap_or(&mut told.head));
            open.into_iter().for_each(|message| message.changes.push(change.clone()));
            continue;
        }
        let Some(mut message) = message(line) else {
            inside = caret::function(line).unwrap_or(inside);
            let other = line.contains(": runtime error: ");
            unread.extend((LOCATED.is_match(line) && !other).then_some(*line));
            continue;
        };
        if gcc {
            // A line is quoted once where several messages in a row are about it.
            let quoted = unknown.as_ref() == Some(&(message.at.file.clone(), message.at.line));
            caret::widen(&mut message.at, &lines[at..]);
            message.at.column = message.at.column.filter(|_| !quoted);
            let here = (message.at.file.clone(), message.at.line);
            unknown = message.at.column.is_none().then_some(here);
        }
        match &mut current {
            Some(told) if message.is_note() => told.notes.push(message),
            // A note that nothing stands before says what it says by itself.
            _ => {
                document.reports.extend(current.take().map(|told| report(told, &mut document.notes)));
                let drawing = gcc_text::drawing(&message.at, upto_next(&lines[at..]));
                at += drawing.as_ref().map_or(0, |drawing| drawing.lines);
                current = Some(Told { head: message, inside: inside.to_owned(), drawing, notes: Vec::new() });
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
    let Told { head, inside, drawing, notes: mut told } = told;
    let edit = |description: &str, message: &Message| Fix {
        description: description.to_owned(),
        changes: message.changes.clone(),
    };
    let edits = std::iter::once(edit("", &head)).chain(told.iter().map(|note| edit(&note.words, note)));
    let fixes = edits.filter(|fix| !fix.changes.is_empty()).collect();
    // clang's analyzer ends every report with the warning once more, as a note.
    if let [again] = &*told
        && (&again.at, &again.words) == (&head.at, &head.words)
    {
        told.clear();
    }
    let numbered = gcc_notes::events(&mut told, &inside);
    let events = drawing.map(|drawing| (drawing.events, drawing.wordless));
    let events = events.or_else(|| (!numbered.is_empty()).then_some((numbered, 0)));
    let tool = match &events {
        Some(_) => "gcc",
        None if head.rule.starts_with("clang-") => "clang-tidy",
        None => "",
    };
    // A title is one line; what else is said stands in the text.
    let (title, more) = head.words.split_once('\n').unwrap_or((&head.words, ""));
    let mut report = Report {
        rule: head.rule,
        title: title.to_owned(),
        severity: match head.kind.as_str() {
            "error" | "fatal error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => Severity::Note,
        },
        tool: Tool { name: tool.to_owned(), version: None },
        cwe: head.cwe.into_iter().collect(),
        location: Some(head.at.clone()),
        fixes,
        ..Report::default()
    };
    // Notes that go elsewhere and come back to where the warning stands tell how it comes to it.
    let returns = |note: &Message| note.at.file == head.at.file && note.at.line == head.at.line;
    let tells = told.iter().any(|note| [Role::Call, Role::Branch].contains(&understand(&note.words).role))
        || (told.last().is_some_and(returns) && !told.iter().all(returns));
    if let Some((mut events, wordless)) = events {
        flow::ends_at(&mut events, Some(&head.at));
        if wordless > 0 {
            notes.push(format!(
                "{}:{}: gcc's text gives no words for {} of its events; -fdiagnostics-format=json has them",
                head.at.file,
                head.at.line.unwrap_or(0),
                wordless
            ));
        }
        let mut path = flow::build("", events);
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
        report.paths.push(one_step(head.at, head.function, &report.title));
    }
    report.narrate();
    report.text.extend((!more.is_empty()).then(|| Segment::plain(format!("\n{more}"))));
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
