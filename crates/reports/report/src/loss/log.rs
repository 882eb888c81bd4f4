//! Counting in logs: line by line, whatever printed the line, so that a log of several programs counts what each of them
//! says. Nothing here asks a reader: a line that looks like an event is one.

use super::{Held, Tally, regex};
use regex::Regex;
use std::collections::HashSet;
use std::sync::LazyLock;

/// A line of a stack: of sanitizers, gdb and KLEE; of valgrind; of Python, also in a group of exceptions; of Java.
static FRAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"^\s*#\d+\s+\S|^(?:==|--)(?:[\d:.]+ )?\d+(?:==|--)\s+(?:at|by) 0x|^[\s|]*File ".*", line \d+|^\s+at [\w.$/@<>-]+\("#,
    )
});
/// Functions that start programs and threads, and those that a tool puts in place of the program's.
static FOREIGN: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"[\s:](?:_start|__libc_start\w*|\(below main\)|(?:__)?clone3?|start_thread|thread_start|_pthread_start|asan_thread_start|invoke_main|__scrt_common_main\w*|mainCRTStartup|BaseThreadInitThunk|RtlUserThreadStart|create_thread|__(?:GI___)?clone_internal|__interceptor[_.]\w+|pthread_create@\S*|__pthread_create_\S*|__hwasan_\w+)(?:[\s+(]|$)| in (?:pthread_create|malloc|free|(?:c|re|v)alloc|reallocarray|posix_memalign|aligned_alloc|memalign|operator (?:new|delete)(?:\[\])?\([^)]*\)) \(|libsanitizer[/\\]|compiler-rt[/\\]|vgpreload_| <null>(?: |$)| [a-z]+san_\w+\.cpp\.o\b",
    )
});
/// The same for the panics of Rust.
static LIBRARY: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"\b(?:core|std)::|/rustc/|/library/(?:std|core)/|rust_begin_unwind|__rustc|_start|: main$")
});
static SANITIZED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:Direct|Indirect) leak of |: runtime error: |(?:ERROR|WARNING|FATAL): \w+Sanitizer: |Sanitizer:? CHECK failed: ",
    )
});
static CONTEXTS: LazyLock<Regex> = LazyLock::new(|| regex(r"ERROR SUMMARY: \d+ errors from (\d+) contexts"));
/// What valgrind tells with a stack and does not count among its errors.
static UNCOUNTED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"are (?:still reachable|indirectly lost) in loss record \d|Process terminating with default action of signal",
    )
});
static OMITTED: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s+\.\.\. (\d+) (?:more|common frames omitted)"));
static WARNING: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^\S.*:\d+(?::\d+)?: (?:fatal error|error|warning|style|performance|portability|information|remark)(?:\[\S+\]| [A-Z]+\d+)?: |\(\d+(?:,\d+)?\)\s?: (?:fatal error|error|warning)\b|: line \d+, col \d+, (?:Error|Warning|Info) - |^\S.*:\d+:? [A-Z]{2}\d{4} (?:error|warning|info|style): |^\s*::(?:error|warning|notice) (?:.*,)?file=|^\S.*\(\d+\): \[[A-Z]+\d+|^\S+:\d+ \w+\(\) (?:error|warn|info): ",
    )
});
/// What a linter lists under the name of a file.
static LISTED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s+\d+:\d+\s+(?:error|warning|info|[A-Z]+\d+)\s+\S"));
static NOTE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?<place>\S.*(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\)\s?)): note: (?<words>.*)$"));
/// The head of a group of events, as gcc draws them.
static GROUP: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\bevents? (\d+)(?:-(\d+))?(?: \(depth -?\d+\))?\s*$"));
static LABEL: LazyLock<Regex> = LazyLock::new(|| regex(r"^[^\w(]*\(\d+\):? \S"));
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| regex(r"^\(\d+\) "));

/// Counts a log.
pub(super) fn log(source: &str) -> Held {
    let mut log = Held::default();
    log.stacks(source);
    log.messages(source);
    log.rustc(source);
    log
}

impl Held {
    /// Lines of stacks, and the findings that have one.
    fn stacks(&mut self, source: &str) {
        let mut frames = 0;
        let mut panic = false;
        for line in source.lines() {
            let words = line.trim_start();
            let (is_frame, foreign) = match panic && numbered(words) {
                true => (true, &LIBRARY),
                false => (FRAME.is_match(line), &FOREIGN),
            };
            panic =
                words.starts_with("stack backtrace:") || (panic && (is_frame || words.starts_with("at ")));
            frames += usize::from(is_frame);
            self.foreign += usize::from(is_frame && foreign.is_match(line));
            // Java leaves out what the stack around has too.
            let omitted = OMITTED.captures(line).and_then(|captures| captures[1].parse::<usize>().ok());
            frames += omitted.unwrap_or(0);
            let contexts = CONTEXTS.captures(line).and_then(|captures| captures[1].parse::<usize>().ok());
            self.tally.reports += contexts.unwrap_or(0) + usize::from(UNCOUNTED.is_match(line));
            let begins = (SANITIZED.is_match(line) && !line.contains("detected memory leaks"))
                || words == "Traceback (most recent call last):"
                || line.contains("' panicked at ");
            self.tally.reports += usize::from(begins);
            // An exception that led to another is a part of its report.
            let goes_on = words.starts_with("The above exception was the direct cause")
                || words.starts_with("During handling of the above exception");
            self.tally.reports -= usize::from(goes_on && self.tally.reports > 0);
        }
        frames -= said_again(source);
        self.tally.steps += frames;
        self.tally.frames += frames;
    }

    /// Warnings of compilers and linters, the notes below them, and the paths that gcc draws or numbers.
    fn messages(&mut self, source: &str) {
        // Of the message that is being read: its line, its events, their words, and whether edits of it were seen.
        let (mut head, mut drawn, mut worded, mut edited) = ("", 0_usize, 0_usize, false);
        for line in source.lines().chain(["end:1: error: "]) {
            let edit = line.starts_with("fix-it:\"");
            self.tally.fixes += usize::from(edit && !edited);
            edited = edit || (edited && !line.contains(": "));
            let note = NOTE.captures(line);
            let words =
                note.as_ref().map_or("", |note| note.name("words").map_or("", |words| words.as_str()));
            // A note with a rule of its own, and one that nothing stands before, are findings.
            let own = note.is_some() && (head.is_empty() || (words.ends_with(']') && words.contains(" [")));
            if own || WARNING.is_match(line) || LISTED.is_match(line) || is_located(line) {
                // One event alone is the place of the warning.
                self.tally.steps += if drawn > 1 { drawn } else { 0 };
                self.tally.messages += if drawn > 1 { worded } else { 0 };
                self.tally.reports += 1;
                (head, drawn, worded) = (line, 0, 0);
            } else if let Some(note) = note {
                // clang says the warning again; gcc tells of macros within a drawing.
                let again = head.starts_with(&note["place"]) && head.contains(words);
                let inside = drawn > 0 && words.starts_with("in ") && words.contains(" of macro ");
                match NUMBERED.is_match(words) {
                    true => (drawn, worded) = (drawn + 1, worded + 1),
                    false => self.tally.related += usize::from(!again && !inside),
                }
            } else if let Some(group) = GROUP.captures(line) {
                let number = |at: usize| group.get(at).and_then(|one| one.as_str().parse::<usize>().ok());
                let first = number(1).unwrap_or(0);
                drawn += (number(2).unwrap_or(first) + 1).saturating_sub(first);
            } else if drawn > 0 {
                worded += usize::from(LABEL.is_match(line));
            }
        }
        // The line put behind the last.
        self.tally.reports -= 1;
    }

    /// What rustc prints: a headline, and its place on the line below.
    fn rustc(&mut self, source: &str) {
        let mut open = false;
        for line in source.lines() {
            let begins =
                ["error: ", "error[", "warning: ", "warning["].iter().any(|word| line.starts_with(word));
            let placed = line.trim_start().starts_with("--> ");
            self.tally.reports += usize::from(open && placed);
            open = begins || (open && !placed);
        }
    }
}

/// Whether words name a function that is of no code of the program.
pub(super) fn is_foreign(words: &str) -> bool {
    FOREIGN.is_match(words)
}

/// Whether a line of a panic's backtrace names a function: `3: main::run`.
fn numbered(words: &str) -> bool {
    words.split_once(": ").is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

/// How many lines gdb has printed before: people type `bt` and then `bt full`.
fn said_again(source: &str) -> usize {
    let mut stacks: Vec<Vec<&str>> = Vec::new();
    for line in source.lines().filter(|line| line.starts_with('#') && FRAME.is_match(line)) {
        match stacks.last_mut() {
            Some(stack) if !line.starts_with("#0 ") => stack.push(line),
            _ => stacks.push(vec![line]),
        }
    }
    let mut known = HashSet::new();
    stacks.into_iter().filter_map(|stack| Some(stack.len()).filter(|_| !known.insert(stack))).sum()
}

/// Whether a line begins with a file and a line in it, and goes on with anything but a note: `a.py:3: …`, `a.py:3:9: …`.
fn is_located(line: &str) -> bool {
    let drive = line.get(1..3).is_some_and(|colon| colon == ":\\" || colon == ":/");
    let from = if drive { 2 } else { 0 };
    let mut parts = line[from..].split(':');
    let name = parts.next().unwrap_or_default();
    let file =
        name.contains(['.', '/', '\\']) || (name.ends_with("file") && !name.starts_with(char::is_numeric));
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !file || name.contains(char::is_whitespace) || !parts.next().is_some_and(number) {
        return false;
    }
    let rest: Vec<&str> = parts.collect();
    let words = match rest.split_first() {
        // A place may have an end too.
        Some((column, [line, end, words @ ..]))
            if [column, line, end].map(|part| number(part)) == [true; 3] =>
        {
            words.join(":")
        }
        Some((column, words)) if number(column) && !words.is_empty() => words.join(":"),
        _ => rest.join(":"),
    };
    // Undefined behaviour is counted where the sanitizers are.
    let other = ["note:", "runtime error:"].iter().any(|kind| words.trim_start().starts_with(kind));
    !words.trim().is_empty() && !other
}

/// Dereferences of LOCKSMITH, and the calls that lead to each.
pub(super) fn locksmith(source: &str) -> Tally {
    static PLACE: LazyLock<Regex> = LazyLock::new(|| regex(r"[^\s,]+:\d+"));
    let mut tally = Tally::default();
    for words in source.lines().map(str::trim_start) {
        tally.reports += usize::from(words.contains("Possible data race"));
        let calls = words.strip_prefix("in:").map_or(0, |calls| PLACE.find_iter(calls).count());
        tally.steps += calls + usize::from(words.starts_with("dereference of "));
    }
    tally
}

/// The operations of a trace of BLAST.
pub(super) fn blast(source: &str) -> Tally {
    static OPERATION: LazyLock<Regex> = LazyLock::new(|| {
        regex(r#"^\s*(?:-?\d+\s*::.*:|(?:src="|line=).*;)?\s*(?:Block|Pred|FunctionCall)\b"#)
    });
    let steps = source.lines().filter(|line| OPERATION.is_match(line)).count();
    Tally { reports: 1, steps, ..Tally::default() }
}
