//! Counterexample traces of BLAST (Beyer, Henzinger, Jhala and Majumdar, 2007).
//!
//! An operation stands on a line of its own, as `line :: line: Operation(…) :: next line`: `Block` assigns, `Pred` tells
//! which way a condition went, `FunctionCall` calls, `Block(Return(…))` returns. Calls of functions without a body look
//! the same as calls that are entered, so which it is is told from the variables (`x@function`) of the next operation.

use super::Sample;
use crate::read::Fault;
use crate::{Binding, Document, Frame, PathBuilder, Report, Role, Segment, Severity, Step, Tool};
use regex::Regex;
use std::sync::LazyLock;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("well-formed")
}

/// How many operations after a call are looked at; a trace is judged in time proportional to its length.
const LOOK_AHEAD: usize = 1000;

static OPERATION: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^\s*(-?\d+)\s*::\s*(-?\d+):\s*(Block|Pred|FunctionCall|Skip)\b\s*(.*?)\s*(?:::\s*(-?\d+))?\s*$")
});
/// Version 2.7 writes `src="file"; line=12` in front instead.
static SOURCED: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"^\s*(?:src="([^"]*)";?)?\s*(?:line=(-?\d+);?)?\s*(Block|Pred|FunctionCall|Skip)\b\s*(.*)$"#)
});
static SOURCE_ONLY: LazyLock<Regex> = LazyLock::new(|| regex(r#"^\s*src="([^"]*)";?\s*$"#));
static SCOPE: LazyLock<Regex> = LazyLock::new(|| regex(r"@(\w+)"));
static CALLEE: LazyLock<Regex> = LazyLock::new(|| regex(r"^(?:[^=()]*=\s*)?([A-Za-z_][\w.]*)\s*\("));
static ASSIGNMENT: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*([^=;]+?)\s*=\s*(-?\d+)\s*$"));

pub(super) fn sniff(sample: &Sample) -> bool {
    let operations = sample.text.lines().take(2000).filter(|line| OPERATION.is_match(line)).count();
    operations >= 2 || (sample.text.contains("The system is unsafe") && sample.text.contains("FunctionCall("))
}

struct Operation<'a> {
    log_line: usize,
    file: Option<String>,
    line: u32,
    kind: &'a str,
    /// The line it goes on at.
    next: Option<u32>,
    body: &'a str,
    scope: Option<&'a str>,
}

impl<'a> Operation<'a> {
    /// The function whose variables it names. The arguments of a call belong to the caller, and so does its target.
    fn scope(&self) -> Option<&'a str> {
        self.scope
    }

    fn callee(&self) -> Option<&'a str> {
        let captures = CALLEE.captures(self.body).filter(|_| self.kind == "FunctionCall")?;
        captures.get(1).map(|name| name.as_str())
    }

    fn returns(&self) -> bool {
        self.kind == "Block" && self.body.contains("Return(")
    }
}

fn scope_of(body: &str) -> Option<&str> {
    SCOPE.captures(body).and_then(|captures| captures.get(1)).map(|name| name.as_str())
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let operations = operations(&lines);
    if operations.is_empty() {
        return Err(Fault::new("no operation of a trace"));
    }
    let file = file_name(&operations);
    let mut path = PathBuilder::new("");
    let mut links: Vec<Option<usize>> = vec![None; lines.len()];
    for (index, operation) in operations.iter().enumerate() {
        if operation.kind == "Skip" {
            continue;
        }
        let file = operation.file.clone().unwrap_or_else(|| file.clone());
        if path.depth() == 0 {
            path.enter(Frame::new(operation.scope().unwrap_or_default(), file.clone()));
        } else if let Some(scope) = operation.scope() {
            settle(&mut path, scope);
        }
        let step = path.step(step(operation, &file));
        links[operation.log_line] = Some(step);
        let rest = &operations[index + 1..];
        match operation.callee().filter(|callee| entered(operation, callee, rest, &path)) {
            Some(callee) => {
                let file = rest.iter().find_map(|next| next.file.clone()).unwrap_or(file);
                path.enter(Frame::new(callee, file));
            }
            None if operation.returns() => path.leave(),
            None => {}
        }
    }
    let mut notes = Vec::new();
    if path.was_cut() {
        notes.push(super::cut_note(&path));
    }
    crate::flow::ends_in_failure(&mut path);
    let last = path.steps_mut().last().cloned().unwrap_or_default();
    let mut report = Report {
        rule: "reachability".to_owned(),
        title: match last.message.as_str() {
            "" => "The error location can be reached".to_owned(),
            message => format!("The error location can be reached: {message}"),
        },
        severity: Severity::Error,
        tool: Tool { name: "BLAST".to_owned(), version: None },
        location: last.location,
        paths: vec![path.finish()],
        ..Report::default()
    };
    for (line, link) in lines.iter().zip(links) {
        let words = line.trim_start();
        report.text.push(Segment::plain(&line[..line.len() - words.len()]));
        report.text.push(match link {
            Some(step) => Segment::step(words, 0, step),
            None => Segment::plain(words),
        });
        report.text.push(Segment::plain("\n"));
    }
    Ok(Document { reports: vec![report], notes, ..Document::default() })
}

fn operations<'a>(lines: &[&'a str]) -> Vec<Operation<'a>> {
    let mut source: Option<String> = None;
    let mut found = Vec::new();
    for (log_line, line) in lines.iter().enumerate() {
        let positive = |number: &str| number.parse::<u32>().unwrap_or(0);
        let group = |captures: &regex::Captures<'a>, index: usize| {
            captures.get(index).map_or("", |group| group.as_str())
        };
        if let Some(captures) = OPERATION.captures(line) {
            found.push(Operation {
                log_line,
                file: source.clone(),
                line: positive(&captures[1]),
                kind: group(&captures, 3),
                next: captures.get(5).map(|next| positive(next.as_str())),
                body: inside(group(&captures, 4)),
                scope: scope_of(group(&captures, 4)),
            });
        } else if let Some(captures) = SOURCE_ONLY.captures(line) {
            source = Some(captures[1].to_owned());
        } else if let Some(captures) = SOURCED.captures(line) {
            if let Some(file) = captures.get(1) {
                source = Some(file.as_str().to_owned());
            }
            let line = captures.get(2).map_or(0, |line| positive(line.as_str()));
            found.push(Operation {
                log_line,
                file: source.clone(),
                line,
                kind: group(&captures, 3),
                next: None,
                body: inside(group(&captures, 4)),
                scope: scope_of(group(&captures, 4)),
            });
        }
    }
    found
}

/// What stands in the outermost parentheses.
fn inside(text: &str) -> &str {
    let text = text.trim().trim_end_matches(';');
    text.strip_prefix('(').map_or(text, |rest| rest.strip_suffix(')').unwrap_or(rest)).trim()
}

/// BLAST knows one preprocessed file; its name is in that of the function that initialises the globals.
fn file_name(operations: &[Operation]) -> String {
    let name = operations
        .iter()
        .filter_map(|operation| operation.callee()?.strip_prefix("__BLAST_initialize_"))
        .next();
    match name.and_then(|name| name.strip_suffix(".i")) {
        Some(stem) => format!("{stem}.c"),
        None => name.unwrap_or_default().to_owned(),
    }
}

/// Whether the operations after a call are the callee's: its variables say so, or a return comes before any variable of
/// a function that is already open. A call that goes on at its own next line was not entered.
fn entered(call: &Operation, callee: &str, rest: &[Operation], path: &PathBuilder) -> bool {
    for next in rest.iter().filter(|next| next.kind != "Skip").take(LOOK_AHEAD) {
        match next.scope() {
            Some(scope) if scope == callee => return true,
            Some(scope) if path.innermost_named(scope).is_some() => return false,
            None if call.next == Some(next.line) && next.line > 0 => return false,
            _ if next.returns() => return true,
            _ => {}
        }
    }
    false
}

/// Back to the activation that an operation belongs to; a return may be missing from the trace.
fn settle(path: &mut PathBuilder, scope: &str) {
    path.name_current(scope);
    if path.current().is_some_and(|frame| frame.function != scope)
        && let Some(depth) = path.innermost_named(scope)
    {
        path.leave_to(depth + 1);
    }
}

fn step(operation: &Operation, file: &str) -> Step {
    let words = SCOPE.replace_all(operation.body, "").into_owned();
    let mut step = match operation.kind {
        "Pred" => {
            let negated = words.strip_prefix("Not").map(|rest| inside(rest).to_owned());
            let taken = negated.is_none();
            Step::new(Role::Branch, file, operation.line)
                .with_taken(taken)
                .with_message(negated.unwrap_or(words))
        }
        "FunctionCall" => Step::new(Role::Call, file, operation.line).with_message(words),
        _ if operation.returns() => Step::new(Role::Return, file, operation.line).with_message(words),
        _ => {
            let mut step = Step::new(Role::Note, file, operation.line).with_message(words.clone());
            for captures in words.split(';').filter_map(|part| ASSIGNMENT.captures(part)) {
                step.values.push(Binding { name: captures[1].to_owned(), value: captures[2].to_owned() });
            }
            step
        }
    };
    // A line of -1 or 0 is no line, and the file alone says nothing.
    if operation.line == 0 {
        step.location = None;
    }
    step
}

#[cfg(test)]
mod tests {
    use crate::{Role, read};

    const TRACE: &str = r#"
Error found! The system is unsafe :-(

 Error trace:
  0 :: 0:        FunctionCall(__BLAST_initialize_lift.i()) :: -1
  3 :: 3:                Block(level = 0;) :: 4
  -1 :: -1:              Block(Return(0);) :: -1
  -1 :: -1:      Skip :: 30
  30 :: 30:      FunctionCall(wanted@main = atoi(argv@main)) :: 31
  31 :: 31:              Pred(Not(wanted@main < 0)) :: 33
  33 :: 33:      FunctionCall(moved@main = travel(wanted@main)) :: 34
  12 :: 12:              Block(steps@travel = 9;) :: 13
  13 :: 13:              Pred(steps@travel > 8) :: 14
  14 :: 14:              Block(Return(steps@travel);) :: -1
  34 :: 34:      Pred(Not(moved@main <= 8)) :: 34
  34 :: 34:      FunctionCall(__assert("lift.c", 34, "moved <= 8")) :: -1
"#;

    #[test]
    fn calls_are_matched_with_their_returns() {
        let document = read(TRACE.as_bytes(), "trace").unwrap();
        let path = &document.reports[0].paths[0];
        let frames: Vec<_> = path
            .frames
            .iter()
            .map(|frame| (&*frame.function, path.depth(path.frames.iter().position(|f| f == frame).unwrap())))
            .collect();
        // `atoi` has no body, and the indented lines after it are the caller's.
        assert_eq!(frames, [("main", 0), ("__BLAST_initialize_lift.i", 1), ("travel", 1)]);
        let last = path.steps.last().unwrap();
        assert_eq!((last.frame, last.failing, last.role), (0, true, Role::Call));
        let branch = &path.steps[4];
        assert_eq!((branch.taken, &*branch.message), (Some(false), "wanted < 0"));
        assert_eq!(path.steps[6].values[0].value, "9");
        assert_eq!(path.steps[2].location, None);
        assert_eq!(document.reports[0].location.as_ref().unwrap().file, "lift.c");
    }
}
