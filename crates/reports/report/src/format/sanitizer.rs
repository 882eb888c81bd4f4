//! What the sanitizers print: address, by tags of the processor's too, leak, memory, thread and undefined behaviour.
//!
//! ThreadSanitizer tells where a racing thread was created; that stack is put in front of the thread's own, so that a
//! path leads from `main` through the creation of the thread to the access.

use super::Sample;
use crate::locks::{self, Lock};
use crate::read::Fault;
use crate::stack::{Creations, Stack, StackFrame, assemble, own_code, place};
use crate::{AccessMode, Document, Location, Report, Severity, Tool};
use regex::Regex;
use std::sync::LazyLock;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("well-formed")
}

static HEAD: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:==\d+==\s*)?(?:ERROR|WARNING|FATAL): ([A-Za-z]+Sanitizer): (.+)$"));
/// A sanitizer that fails itself, as one does that is asked to free what it has not given.
static FAILED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:==\d+==\s*)?([A-Za-z]+Sanitizer):? (CHECK failed): (.+)$"));
static UNDEFINED: LazyLock<Regex> = LazyLock::new(|| regex(r"^(\S.*?:\d+(?::\d+)?): runtime error: (.+)$"));
static FRAME: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*#(\d+) (?:0x[0-9a-fA-F]+ )?(?:in )?(.+)$"));
static ACCESS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)^\s*(?:previous )?(?:atomic )?(read|write) of size \d+ at 0x[0-9a-f]+ (?:tags: \S+ \(ptr/mem\) in )?(?:by |thread )(thread T\d+|main thread|T\d+|goroutine \d+)",
    )
});
static LEAK: LazyLock<Regex> = LazyLock::new(|| regex(r"^(Direct|Indirect) leak of (.+) allocated from:$"));
static CREATED: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^\s*Thread (T\d+) .*created by (main thread|thread T\d+|T\d+)(?: here)?(?: at)?:?$")
});
static ACQUIRED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"acquired here while holding .* in (thread T\d+|main thread):?$"));
/// What else happened to the memory: given back, taken, made a stack of.
static FATE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:freed|(?:previously )?allocated) by (thread T\d+)(?: \([^)]*\))? here:$"));
static DRIVE: LazyLock<Regex> = LazyLock::new(|| regex(r" [A-Za-z]:[\\/]"));
static ADDRESS: LazyLock<Regex> =
    LazyLock::new(|| regex(r" at 0x[0-9a-f]+| \(0x[0-9a-f]+\)| tags: \S+ \(ptr/mem\)"));
/// What HWAddressSanitizer takes for the reason why two tags differ. It may name several; the first is the likeliest.
static CAUSE: LazyLock<Regex> = LazyLock::new(|| regex(r"^Cause: (.+)$"));
/// An object file of the sanitizer's own, where other functions have a place.
static OBJECT: LazyLock<Regex> = LazyLock::new(|| regex(r" [a-z]+san_\w+\.cpp\.o$"));
/// Functions of the C library that sanitizers bring along. Linked into the program, they have no place of their own.
const BROUGHT: &[&str] = &[
    "pthread_create",
    "malloc",
    "free",
    "calloc",
    "realloc",
    "reallocarray",
    "posix_memalign",
    "aligned_alloc",
    "memalign",
    "valloc",
    "operator new(unsigned long)",
    "operator new[](unsigned long)",
    "operator delete(void*)",
    "operator delete[](void*)",
    "operator delete(void*, unsigned long)",
    "operator delete[](void*, unsigned long)",
];
static MUTEXES: LazyLock<Regex> = LazyLock::new(|| regex(r"\(mutexes: ([^)]*)\)"));

pub(super) fn sniff(sample: &Sample) -> bool {
    (sample.text.contains("Sanitizer: ") && sample.text.lines().any(begins))
        || (sample.text.contains(": runtime error: ")
            && sample.text.lines().any(|line| UNDEFINED.is_match(line)))
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let starts: Vec<usize> = (0..lines.len()).filter(|&at| begins(lines[at])).collect();
    if starts.is_empty() {
        return Err(Fault::new("no line that begins a sanitizer's report"));
    }
    let mut document = Document::default();
    for (index, &start) in starts.iter().enumerate() {
        let next = starts.get(index + 1).copied().unwrap_or(lines.len());
        // The summary is the last word; shadow bytes and what the program printed come after it.
        let end = (start..next).find(|&at| lines[at].starts_with("SUMMARY: ")).map_or(next, |at| at + 1);
        let end = (start + 1..end)
            .rev()
            .find(|&at| !lines[at].is_empty() && !lines[at].starts_with("===="))
            .map_or(start, |at| at)
            + 1;
        let block = Block::read(&lines[start..end]);
        document.reports.extend(block.reports(&mut document.notes));
    }
    Ok(document)
}

fn begins(line: &str) -> bool {
    HEAD.is_match(line) || UNDEFINED.is_match(line) || FAILED.is_match(line)
}

/// One report as it stands in the log.
struct Block<'a> {
    lines: &'a [&'a str],
    /// What is said before each stack, and its frames, innermost first.
    stacks: Vec<(String, Vec<StackFrame>)>,
}

impl<'a> Block<'a> {
    fn read(lines: &'a [&'a str]) -> Self {
        let mut stacks: Vec<(String, Vec<StackFrame>)> = Vec::new();
        let mut said = String::new();
        // Undefined behaviour is told by its headline; between that and the stack the memory is drawn.
        let drawn = lines.first().is_some_and(|line| UNDEFINED.is_match(line));
        for (index, line) in lines.iter().enumerate() {
            match FRAME.captures(line) {
                Some(captures) => {
                    if &captures[1] == "0" || stacks.is_empty() {
                        stacks.push((std::mem::take(&mut said), Vec::new()));
                    }
                    if let Some((_, frames)) = stacks.last_mut() {
                        frames.push(frame(index, &captures[2]));
                    }
                }
                None if drawn && stacks.is_empty() => {}
                // The line right before a stack says what it is; before the first, that is the access, if any.
                None if line.trim().is_empty() || (line.starts_with("==") && ACCESS.is_match(&said)) => {}
                None => said = line.trim().to_owned(),
            }
        }
        Block { lines, stacks }
    }

    fn reports(self, notes: &mut Vec<String>) -> Vec<Report> {
        let mut report = Report { severity: Severity::Error, ..Report::default() };
        let mut single = None;
        if let Some(head) = HEAD.captures(self.lines[0]) {
            report.tool = Tool { name: head[1].to_owned(), version: None };
            let what = head[2].trim();
            let kind = what.split(" on ").next().unwrap_or(what);
            let kind = kind.split(" (").next().unwrap_or(kind).trim_end_matches(':');
            let cause =
                self.lines.iter().find_map(|line| CAUSE.captures(line)).map(|cause| cause[1].to_owned());
            let kind = cause.unwrap_or_else(|| kind.to_owned());
            report.rule = kind.replace(' ', "-");
            report.title = kind;
        } else if let Some(head) = FAILED.captures(self.lines[0]) {
            report.tool = Tool { name: head[1].to_owned(), version: None };
            report.rule = head[2].replace(' ', "-");
            report.title = format!("{}: {}", &head[2], &head[3]);
        } else if let Some(head) = UNDEFINED.captures(self.lines[0]) {
            report.tool = Tool { name: "UndefinedBehaviorSanitizer".to_owned(), version: None };
            report.rule = "undefined-behavior".to_owned();
            report.title = head[2].to_owned();
            single = place(&head[1]);
        }
        report.cwe = weakness(&report.rule).into_iter().collect();
        if self.stacks.iter().any(|(said, _)| LEAK.is_match(said)) {
            return self.leaks(&report, notes);
        }
        let location = single.clone();
        let stacks = self.paths(single, &report.title);
        if let Some(variable) = self.lines.iter().find_map(|line| line.trim().strip_prefix("Location is ")) {
            let named = variable.split('\'').nth(1).map_or(String::new(), |name| format!(" on {name}"));
            report.title.push_str(&named);
        } else if let Some(last) =
            stacks.first().and_then(|stack| stack.frames.last()).filter(|frame| !frame.function.is_empty())
        {
            report.title = format!("{} in {}", report.title, last.function);
        }
        report.location = location;
        assemble(&mut report, self.lines, stacks, notes);
        vec![report]
    }

    /// One report for every leak.
    fn leaks(self, common: &Report, notes: &mut Vec<String>) -> Vec<Report> {
        let mut reports = Vec::new();
        for (said, frames) in self.stacks {
            let Some(leak) = LEAK.captures(&said) else { continue };
            let first = frames.first().map_or(0, |frame| frame.line).saturating_sub(1);
            let last = frames.last().map_or(first, |frame| frame.line);
            let lines = &self.lines[first..=last.min(self.lines.len() - 1)];
            let frames =
                frames.into_iter().map(|frame| StackFrame { line: frame.line - first, ..frame }).collect();
            let mut report = Report {
                title: format!("{} leak of {}", &leak[1], &leak[2]),
                rule: "memory-leak".to_owned(),
                cwe: vec![401],
                severity: Severity::Warning,
                ..common.clone()
            };
            assemble(
                &mut report,
                lines,
                vec![Stack::innermost_first("allocated here", own_code(frames)).fails(None)],
                notes,
            );
            reports.push(report);
        }
        reports
    }

    /// The stacks as paths; creation stacks go in front of the thread they create.
    fn paths(&self, single: Option<Location>, title: &str) -> Vec<Stack> {
        let mut creations = Creations::default();
        let mut paths = Vec::new();
        for (said, frames) in &self.stacks {
            match CREATED.captures(said) {
                Some(captures) => {
                    creations.insert(&captures[1], captures[2].trim_start_matches("thread "), frames.clone());
                }
                None => paths.push((said.clone(), frames.clone())),
            }
        }
        if paths.is_empty()
            && let Some(place) = &single
        {
            let frame = StackFrame {
                location: Some(place.clone()),
                message: title.to_owned(),
                failing: true,
                ..StackFrame::default()
            };
            return vec![Stack { label: String::new(), frames: vec![frame], flow: 0 }];
        }
        let race = paths.iter().filter(|(said, _)| ACCESS.is_match(said)).count() > 1;
        let build = |(index, (said, frames)): (usize, (String, Vec<StackFrame>))| {
            let access = ACCESS.captures(&said);
            let mode = access.as_ref().map(|captures| match captures[1].to_ascii_lowercase().as_str() {
                "read" => AccessMode::Read,
                _ => AccessMode::Write,
            });
            let acquired = ACQUIRED.captures(&said);
            let thread = access.as_ref().map(|captures| &captures[2]);
            let thread = thread.or_else(|| acquired.as_ref().map(|captures| &captures[1]));
            let fate = FATE.captures(&said);
            let thread = thread.or_else(|| fate.as_ref().map(|captures| &captures[1]));
            let mut stack = Stack::innermost_first(label(&said), own_code(frames));
            if index == 0 || (race && access.is_some()) || acquired.is_some() {
                stack = stack.fails(mode);
            }
            if let (0, Some(head), Some(last)) = (index, &single, stack.frames.last_mut()) {
                take_column(last, head);
            }
            if let (Some(locks), Some(last)) = (MUTEXES.captures(&said), stack.frames.last_mut()) {
                last.state.push(locks::held(locks[1].split(',').map(Lock::read)));
            } else if let (true, Some(last)) = (race && access.is_some(), stack.frames.last_mut()) {
                last.state.push(locks::held([]));
            }
            if let Some(thread) = thread {
                creations.lead_to(&mut stack, thread.trim_start_matches("thread "));
            }
            stack
        };
        paths.into_iter().enumerate().map(build).collect()
    }
}

/// gcc's stacks have no columns; the headline of undefined behaviour has the one of the innermost function's line.
fn take_column(frame: &mut StackFrame, headline: &Location) {
    let name = |file: &str| file.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    if let Some(place) = &mut frame.location
        && place.column.is_none()
        && (name(&place.file), place.line) == (name(&headline.file), headline.line)
    {
        place.column = headline.column;
    }
}

/// What is said before a stack, without numbers that change from run to run.
fn label(said: &str) -> String {
    // The headline is the title already.
    if said.starts_with("==") || begins(said) {
        return String::new();
    }
    ADDRESS.replace_all(said.trim_end_matches(':'), "").into_owned()
}

/// `function /path/file.c:3:9 (module+0x1)`, `function (module+0x1)`, `(module+0x1)`.
fn frame(line: usize, words: &str) -> StackFrame {
    let mut words = words.trim();
    let mut module = None;
    while let Some((rest, inside)) = words.strip_suffix(')').and_then(|rest| rest.rsplit_once('(')) {
        match inside {
            _ if inside.contains("+0x") => module = Some(inside),
            _ if inside.starts_with("BuildId") => {}
            _ => break,
        }
        words = rest.trim_end();
    }
    // A function of which nothing but its name is known: the tool's own stands in its place.
    let known = words.strip_suffix(" <null>").or_else(|| OBJECT.find(words).map(|own| &words[..own.start()]));
    let words = known.unwrap_or(words);
    // The place is the last word, or the last words when the path holds blanks: the first slash or drive begins it.
    let split = words
        .find(" /")
        .or_else(|| DRIVE.find(words).map(|found| found.start()))
        .or_else(|| words.rfind(' '))
        .filter(|&at| place(words[at..].trim()).is_some());
    let (function, location) = match split {
        Some(at) => (&words[..at], place(words[at..].trim())),
        None => (words, None),
    };
    let message = if location.is_none() {
        module.map_or(String::new(), |module| format!("in {module}"))
    } else {
        String::new()
    };
    let function = function.trim();
    let brought = location.is_none() && (BROUGHT.contains(&function) || function.starts_with("__hwasan_"));
    StackFrame {
        line,
        function: function.to_owned(),
        location,
        message,
        intercepted: known.is_some() || brought,
        ..StackFrame::default()
    }
}

fn weakness(kind: &str) -> Option<u32> {
    Some(match kind {
        "data-race" => 362,
        "heap-use-after-free" | "use-after-free" | "stack-use-after-return" | "stack-use-after-scope" => 416,
        "heap-buffer-overflow" => 122,
        "stack-buffer-overflow" => 121,
        "global-buffer-overflow" | "global-overflow" => 787,
        "attempting-double-free" => 415,
        "use-of-uninitialized-value" => 457,
        "stack-overflow" => 674,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_every_kind() {
        let read = frame(0, "meter_add /src/my ladle/meter.c:28:3 (tsan+0x337d)");
        assert_eq!(read.function, "meter_add");
        assert_eq!(read.location.unwrap(), Location::line("/src/my ladle/meter.c", 28).at_column(3));
        let read = frame(0, "_start (/tmp/rr/asan+0x21a0)");
        assert_eq!((&*read.function, &*read.message), ("_start", "in /tmp/rr/asan+0x21a0"));
        let read = frame(0, "std::vector<int>::at(unsigned long) /usr/include/v.h:9 (a+0x1) (BuildId: 00)");
        assert_eq!(read.function, "std::vector<int>::at(unsigned long)");
        assert_eq!(frame(0, "(/lib/libc.so.6+0x27249)").message, "in /lib/libc.so.6+0x27249");
    }
}
