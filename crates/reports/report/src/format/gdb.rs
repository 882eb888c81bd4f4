//! gdb backtraces: `bt`, `bt full`, `thread apply all bt`, from a log of a session.

use super::Sample;
use crate::read::Fault;
use crate::stack::{Stack, StackFrame, assemble, place, without_startup};
use crate::{Binding, Document, Report, Severity, Tool};
use regex::Regex;
use std::sync::LazyLock;

static FRAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^#(\d+)\s+(?:0x[0-9a-fA-F]+ in )?(.+)$").expect("well-formed"));
static THREAD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^Thread \d+ \(.*\):?$").expect("well-formed"));
static SIGNAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:received signal|terminated with signal) (\w+), (.+?)\.?$").expect("well-formed")
});
static LOCAL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s{4,}([A-Za-z_]\w*) = (.+)$").expect("well-formed"));

pub(super) fn sniff(sample: &Sample) -> bool {
    sample.text.lines().any(|line| {
        let line = line.trim_end();
        line.starts_with("#0 ") && line.contains('(') && FRAME.is_match(line)
    })
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut report = Report {
        title: "Backtrace".to_owned(),
        rule: "backtrace".to_owned(),
        severity: Severity::Error,
        tool: Tool { name: "gdb".to_owned(), version: None },
        ..Report::default()
    };
    let mut stacks: Vec<Stack> = Vec::new();
    let mut frames: Vec<StackFrame> = Vec::new();
    let mut label = String::new();
    let mut close = |frames: &mut Vec<StackFrame>, label: &str| {
        if !frames.is_empty() {
            add(&mut stacks, Stack::innermost_first(label, without_startup(std::mem::take(frames))));
        }
    };
    for (index, line) in lines.iter().enumerate() {
        if let Some(captures) = FRAME.captures(line) {
            if &captures[1] == "0" {
                close(&mut frames, &label);
            }
            // A line that gdb has wrapped goes on with the next ones, indented.
            let mut words = captures[2].to_owned();
            for more in lines[index + 1..]
                .iter()
                .take(8)
                .take_while(|next| next.starts_with("    ") && !LOCAL.is_match(next))
            {
                if words.contains(" at ") || words.contains(" from ") {
                    break;
                }
                words.push(' ');
                words.push_str(more.trim());
            }
            frames.push(frame(index, &words));
        } else if THREAD.is_match(line) {
            close(&mut frames, &label);
            label = line.trim_end_matches(':').to_owned();
        } else if let Some(captures) = SIGNAL.captures(line) {
            report.rule = captures[1].to_owned();
            report.title = format!("{} ({})", &captures[2], &captures[1]);
        } else if let (Some(captures), Some(frame)) = (LOCAL.captures(line), frames.last_mut()) {
            let binding = Binding { name: captures[1].to_owned(), value: captures[2].to_owned() };
            if !frame.values.contains(&binding) {
                frame.values.push(binding);
            }
        }
    }
    close(&mut frames, &label);
    if stacks.is_empty() {
        return Err(Fault::new("no stack frame `#0 …`"));
    }
    stacks[0] = std::mem::take(&mut stacks[0]).fails(None);
    let mut notes = Vec::new();
    assemble(&mut report, &lines, stacks, &mut notes);
    if let Some(path) = report.paths.first().filter(|_| report.title == "Backtrace") {
        report.title =
            path.frames.last().map_or(String::new(), |frame| format!("Backtrace in {}", frame.function));
    }
    Ok(Document { reports: vec![report], notes, ..Document::default() })
}

/// How many stacks back a repetition is looked for.
const RECENT: usize = 256;

/// Adds a stack, unless it says again what one before it says: people type `bt` and then `bt full`.
fn add(stacks: &mut Vec<Stack>, stack: Stack) {
    let same = |known: &&mut Stack| {
        let key = |frame: &StackFrame| (frame.function.clone(), frame.location.clone());
        known.label == stack.label
            && known.frames.len() == stack.frames.len()
            && known.frames.iter().map(key).eq(stack.frames.iter().map(key))
    };
    match stacks.iter_mut().rev().take(RECENT).find(same) {
        Some(known) => {
            for (known, again) in known.frames.iter_mut().zip(stack.frames) {
                for value in again.values {
                    if !known.values.contains(&value) {
                        known.values.push(value);
                    }
                }
            }
        }
        None => stacks.push(Stack { flow: 0, ..stack }),
    }
}

/// `function (arguments) at file:line` or `function (arguments) from library`.
fn frame(line: usize, words: &str) -> StackFrame {
    let (rest, location, library) = match (words.rsplit_once(" at "), words.rsplit_once(" from ")) {
        (Some((rest, at)), _) if place(at).is_some() => (rest, place(at), None),
        (_, Some((rest, library))) => (rest, None, Some(library)),
        _ => (words, None, None),
    };
    let (function, arguments) = call(rest.trim());
    StackFrame {
        line,
        function: function.to_owned(),
        location,
        message: library.map_or(String::new(), |library| format!("in {library}")),
        values: bindings(arguments),
        ..StackFrame::default()
    }
}

/// A name and what stands in its last parentheses: C++ names hold parentheses of their own, and strings hold any.
fn call(text: &str) -> (&str, &str) {
    let (mut depth, mut start, mut end) = (0usize, None, 0);
    let (mut quoted, mut escaped) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' => {
                if depth == 0 {
                    start = Some(at);
                }
                depth += 1;
            }
            ')' => {
                depth = depth.saturating_sub(1);
                end = at;
            }
            _ => {}
        }
    }
    match start.filter(|&start| depth == 0 && start < end && end + 1 == text.len()) {
        Some(start) => (text[..start].trim(), &text[start + 1..end]),
        None => (text, ""),
    }
}

/// `name=value` pairs, separated by commas outside of brackets and quotes.
pub(super) fn bindings(arguments: &str) -> Vec<Binding> {
    let mut pairs = Vec::new();
    let (mut depth, mut quoted, mut start) = (0usize, None, 0);
    let mut escaped = false;
    let mut push = |pair: &str| {
        if let Some((name, value)) = pair.split_once('=') {
            pairs.push(Binding { name: name.trim().to_owned(), value: value.trim().to_owned() });
        }
    };
    for (at, c) in arguments.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' | '\'' if quoted == Some(c) => quoted = None,
            '"' | '\'' if quoted.is_none() => quoted = Some(c),
            _ if quoted.is_some() => {}
            '(' | '{' | '[' | '<' => depth += 1,
            ')' | '}' | ']' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                push(&arguments[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    push(&arguments[start..]);
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_every_kind() {
        let read = frame(
            0,
            r#"f<int>(std::vector<int>) (this=0x0, s=0x55 "a, (b", v=std::vector {1, 2}) at C:\x.cpp:3"#,
        );
        assert_eq!(read.function, "f<int>(std::vector<int>)");
        assert_eq!(read.location.unwrap().line, Some(3));
        let names: Vec<_> = read.values.iter().map(|value| (&*value.name, &*value.value)).collect();
        assert_eq!(names, [("this", "0x0"), ("s", r#"0x55 "a, (b""#), ("v", "std::vector {1, 2}")]);
        let read = frame(0, "?? () from /lib/libc.so.6");
        assert_eq!((&*read.function, &*read.message), ("??", "in /lib/libc.so.6"));
        assert_eq!(frame(0, "<signal handler called>").function, "<signal handler called>");
    }

    #[test]
    fn every_thread_is_a_path_and_full_only_adds_values() {
        let log = "Program terminated with signal SIGABRT, Aborted.\n\
            Thread 2 (LWP 7):\n#0  wait (fd=3) at a.c:3\n#1  0x00 in main () at a.c:9\n\n\
            Thread 1 (LWP 6):\n#0  wait (fd=4) at a.c:3\n        left = 12\nNo locals.\n";
        let document = parse(log).unwrap();
        let report = &document.reports[0];
        assert_eq!(report.title, "Aborted (SIGABRT)");
        assert_eq!(report.paths.len(), 2);
        assert_eq!(report.paths[0].frames[0].function, "main");
        assert!(report.paths[0].steps[1].failing && !report.paths[1].steps[0].failing);
        assert_eq!(report.paths[1].steps[0].values.len(), 2);
    }
}
