//! LOCKSMITH's warnings (Pratikakis, Foster and Hicks, 2006), as in Figure 1.1 of the thesis.
//!
//! A warning names a location that no lock protects and lists the dereferences that reach it: the place, how the pointer
//! got there, the locks held, and after `in:` the calls from the creation of the thread on. Each dereference is a path.
//! The calls are places only; a function's name is known where an alias step says `at FUNCTION FILE:LINE`.

use super::Sample;
use crate::locks::{self, Lock};
use crate::read::Fault;
use crate::stack::place;
use crate::{
    Document, Frame, Location, Path, PathBuilder, Related, Report, Role, Segment, Severity, Step, Tool,
};
use regex::Regex;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("well-formed")
}

static VARIABLE: LazyLock<Regex> = LazyLock::new(|| regex(r"(&?[\w.*>\[\]-]+):([^\s:]+:\d+)"));
static DEREFERENCE: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*dereference of (\S+) at (\S+:\d+)"));
static CALL: LazyLock<Regex> = LazyLock::new(|| regex(r"(FORK at )?(?:(\w+) )?([^\s,]+:\d+)"));
static ALIAS: LazyLock<Regex> = LazyLock::new(|| regex(r"\bat (\w+) (\S+:\d+)"));

pub(super) fn sniff(sample: &Sample) -> bool {
    sample.text.contains("Possible data race")
        && (sample.text.contains("dereference of") || sample.text.contains("references:"))
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let starts: Vec<usize> =
        (0..lines.len()).filter(|&at| lines[at].contains("Possible data race")).collect();
    let mut document = Document::default();
    for (index, &start) in starts.iter().enumerate() {
        let next = starts.get(index + 1).copied().unwrap_or(lines.len());
        let end = (start..next).rev().find(|&at| !lines[at].trim().is_empty()).map_or(next, |at| at + 1);
        let mut warning = Warning::default();
        for (number, line) in lines[start..end].iter().enumerate() {
            warning.line(number, line);
        }
        document.reports.push(warning.finish(&lines[start..end], &mut document.notes));
    }
    Ok(document)
}

/// Where in the text a link stands, before the steps have their numbers.
enum Mark {
    /// The dereference of this path.
    Access(usize),
    /// A call of this path.
    Call(usize, usize),
    Related(usize),
}

#[derive(Default)]
struct Warning {
    references: Vec<Reference>,
    related: Vec<Related>,
    marks: Vec<(usize, Range<usize>, Mark)>,
    part: Part,
}

#[derive(Default, PartialEq)]
enum Part {
    #[default]
    Head,
    Reference,
    Locks,
}

/// One dereference.
#[derive(Default)]
struct Reference {
    variable: String,
    at: Option<Location>,
    locks: Vec<String>,
    calls: Vec<Call>,
    /// The functions that alias steps name, by the place of the call.
    names: HashMap<String, String>,
}

struct Call {
    fork: bool,
    callee: Option<String>,
    at: Location,
    key: String,
}

impl Warning {
    fn line(&mut self, number: usize, line: &str) {
        let words = line.trim();
        if let Some(captures) = DEREFERENCE.captures(line) {
            let (variable, at) = (&captures[1], captures.get(2).expect("the group is not optional"));
            self.part = Part::Reference;
            self.marks.push((number, at.range(), Mark::Access(self.references.len())));
            self.references.push(Reference {
                variable: bare(variable.split(':').next().unwrap_or(variable)),
                at: place(at.as_str()),
                ..Reference::default()
            });
            return;
        }
        let count = self.references.len();
        let Some(reference) = self.references.last_mut() else { return self.head(number, line) };
        if words.starts_with("locks acquired") || words.starts_with("locks held") {
            self.part = Part::Locks;
            // `locks held: <empty>` on one line is how a shorter form of the report says it.
            let rest = words.split_once(':').map_or("", |(_, rest)| rest.trim());
            if !rest.is_empty() && rest != "<empty>" {
                reference.locks.push(rest.to_owned());
            }
        } else if words.starts_with("in:") {
            self.part = Part::Reference;
            for captures in CALL.captures_iter(line) {
                let at = captures.get(3).expect("the group is not optional");
                let Some(location) = place(at.as_str()) else { continue };
                let mark = Mark::Call(count - 1, reference.calls.len());
                self.marks.push((number, at.range(), mark));
                reference.calls.push(Call {
                    fork: captures.get(1).is_some(),
                    callee: captures.get(2).map(|name| name.as_str().to_owned()),
                    at: location,
                    key: at.as_str().to_owned(),
                });
            }
        } else if self.part == Part::Locks {
            if !words.is_empty() && words != "<empty>" {
                reference.locks.push(words.to_owned());
            }
        } else {
            for captures in ALIAS.captures_iter(line) {
                reference.names.insert(captures[2].to_owned(), captures[1].to_owned());
            }
        }
    }

    /// The lines before the first dereference name the unprotected locations.
    fn head(&mut self, number: usize, line: &str) {
        for captures in VARIABLE.captures_iter(line) {
            let whole = captures.get(0).expect("a match");
            if let Some(location) = place(&captures[2]) {
                self.marks.push((number, whole.range(), Mark::Related(self.related.len())));
                self.related.push(Related { location, message: format!("{} is here", bare(&captures[1])) });
            }
        }
    }

    fn finish(self, lines: &[&str], notes: &mut Vec<String>) -> Report {
        let shared: Vec<String> = self
            .related
            .iter()
            .map(|related| related.message.trim_end_matches(" is here").to_owned())
            .collect();
        let protected = lines.iter().any(|line| line.contains("protected by non-linear"));
        let mut report = Report {
            rule: "race".to_owned(),
            title: match (shared.join(", "), protected) {
                (names, _) if names.is_empty() => "Possible data race".to_owned(),
                (names, false) => format!("Possible data race: {names} is not protected"),
                (names, true) => format!("Possible data race: {names} is protected by no single lock"),
            },
            severity: Severity::Warning,
            cwe: vec![362],
            tool: Tool { name: "LOCKSMITH".to_owned(), version: None },
            related: self.related,
            ..Report::default()
        };
        let calls: Vec<usize> = self.references.iter().map(|reference| reference.calls.len()).collect();
        // Threads are told apart by where they are created.
        let mut threads: Vec<String> = Vec::new();
        for reference in self.references {
            report.paths.push(reference.path(&mut threads, notes));
        }
        report.location = report.paths.first().and_then(|path| path.steps.last()?.location.clone());
        for (number, line) in lines.iter().enumerate() {
            let mut at = 0;
            // Marks were made line by line, so those of one line stand together.
            let first = self.marks.partition_point(|(line, ..)| *line < number);
            for (_, range, mark) in self.marks[first..].iter().take_while(|(line, ..)| *line == number) {
                if range.start < at {
                    continue;
                }
                report.text.push(Segment::plain(&line[at..range.start]));
                let words = &line[range.clone()];
                report.text.push(match mark {
                    Mark::Access(path) => Segment::step(words, *path, calls[*path]),
                    Mark::Call(path, call) => Segment::step(words, *path, *call),
                    Mark::Related(index) => Segment::related(words, *index),
                });
                at = range.end;
            }
            report.text.push(Segment::plain(format!("{}\n", &line[at..])));
        }
        report
    }
}

impl Reference {
    fn path(self, threads: &mut Vec<String>, notes: &mut Vec<String>) -> Path {
        let fork = self.calls.iter().rposition(|call| call.fork);
        let label = match fork {
            Some(fork) => format!("{}, thread created at {}", self.variable, self.calls[fork].key),
            None => self.variable.clone(),
        };
        let mut path = PathBuilder::new(label);
        let mut thread = None;
        let mut name = String::new();
        let mut way = String::new();
        for call in &self.calls {
            path.enter(Frame {
                thread: thread.take(),
                ..Frame::new(std::mem::take(&mut name), call.at.file.clone())
            });
            let callee = call.callee.as_ref().or_else(|| self.names.get(&call.key));
            name = callee.cloned().unwrap_or_default();
            let words = match (call.fork, name.as_str()) {
                (true, "") => "creates a thread".to_owned(),
                (true, name) => format!("creates a thread that runs {name}"),
                (false, "") => "call".to_owned(),
                (false, name) => format!("call {name}"),
            };
            if call.fork {
                way = format!("{way} {}", call.key);
                let number = threads.iter().position(|known| *known == way).unwrap_or_else(|| {
                    threads.push(way.clone());
                    threads.len() - 1
                });
                thread = Some(format!("T{}", number + 1));
            }
            path.step(Step::at(Role::Call, Some(call.at.clone())).with_message(words));
        }
        let file = self.at.as_ref().map_or(String::new(), |place| place.file.clone());
        path.enter(Frame { thread: thread.take(), ..Frame::new(name, file) });
        let held = locks::held(self.locks.iter().map(|words| Lock::read(words)));
        let words = format!("dereference of {}", self.variable);
        let access = Step::at(Role::Access, self.at).with_message(words);
        path.step(access.with_state(held.name, held.value).failing());
        if path.was_cut() {
            notes.push(super::cut_note(&path));
        }
        path.finish()
    }
}

/// The variable without the address operator.
fn bare(name: &str) -> String {
    name.trim_start_matches('&').to_owned()
}

#[cfg(test)]
mod tests {
    use crate::{Link, Outline, read};

    /// The shape of Figure 1.1, on names and lines of our own.
    const WARNING: &str = "\
Warning: Possible data race: &hits:tally.c:2 is not protected!
 references:
  dereference of slot:tally.c:5 at tally.c:7
    &hits:tally.c:2 => bump.slot:tally.c:43
    => slot:tally.c:5 at bump tally.c:43
  locks acquired:
    *bump.lock:tally.c:43
    concrete guard:tally.c:1
  in: FORK at tally.c:21 -> tally.c:43

  dereference of &hits:tally.c:2 at tally.c:35 &hits:tally.c:2
  locks acquired:
    <empty>
  in: FORK at tally.c:20

Warning: Possible data race: &spare:tally.c:50 is not protected!
 references:
  dereference of spare:tally.c:50 at tally.c:60
  locks acquired:
    <empty>
";

    #[test]
    fn dereferences_are_paths_and_forks_start_threads() {
        let document = read(WARNING.as_bytes(), "warning").unwrap();
        assert_eq!(document.reports.len(), 2);
        let report = &document.reports[0];
        assert_eq!(report.title, "Possible data race: hits is not protected");
        assert_eq!(report.related[0].location.line, Some(2));
        let first = &report.paths[0];
        use Outline::{Close, Open, Step};
        let want = [Open(0), Step(0), Open(1), Step(1), Open(2), Step(2), Close(2), Close(1), Close(0)];
        assert_eq!(first.outline(), want);
        assert_eq!(first.frames[1].thread.as_deref(), Some("T1"));
        assert_eq!(
            report.paths[1].frames[1].thread.as_deref(),
            Some("T2"),
            "another creation, another thread"
        );
        assert_eq!(first.frames[2].function, "bump");
        let lines: Vec<_> =
            first.steps.iter().map(|step| step.location.as_ref().unwrap().line.unwrap()).collect();
        assert_eq!(lines, [21, 43, 7]);
        assert_eq!(first.steps[2].state[0].value, "*bump.lock:tally.c:43, guard:tally.c:1");
        assert_eq!(report.paths[1].steps[1].state[0].value, "none");
        // The text is unchanged, and its places lead to the steps.
        assert!(WARNING.starts_with(&report.plain_text()));
        let link =
            |words: &str| report.text.iter().find(|segment| segment.text == words).unwrap().link.clone();
        assert_eq!(link("tally.c:7"), Some(Link::Step { path: 0, step: 2 }));
        assert_eq!(link("tally.c:20"), Some(Link::Step { path: 1, step: 0 }));
        assert_eq!(link("&hits:tally.c:2"), Some(Link::Related(0)));
    }
}
