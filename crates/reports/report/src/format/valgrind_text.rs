//! Valgrind's own lines, `==pid== …`, as they scroll by: what most people have kept of it.

use super::Sample;
use super::valgrind::{lead_to, mode, name_thread, weakness};
use crate::locks::{self, Lock};
use crate::read::Fault;
use crate::stack::{Creations, Stack, StackFrame, assemble, own_code, place};
use crate::{Document, Report, Severity, Tool};
use regex::Regex;
use std::sync::LazyLock;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("well-formed")
}

/// The process, with the time before it where `--time-stamp=yes` asks for that.
static PREFIX: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:==|--)(?:\d+:\d\d:\d\d:\d\d\.\d+ )?\d+(?:==|--) ?(.*)$"));
/// What comes next happens in another thread than what came before.
static THREAD: LazyLock<Regex> = LazyLock::new(|| regex(r"^Thread (\d+)(?: (.+))?:$"));
static FRAME: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^\s*(at|by) 0x[0-9A-Fa-f]+: (.+?)(?: \(([^()]*)\))?$"));
static LEAK: LazyLock<Regex> =
    LazyLock::new(|| regex(r"bytes in .+ blocks? (?:are|is) (definitely|indirectly|possibly) lost"));

pub(super) fn sniff(sample: &Sample) -> bool {
    let frame = |line: &str| PREFIX.captures(line).is_some_and(|captures| FRAME.is_match(&captures[1]));
    // A run without an error has a summary and no stack.
    let clean = || sample.text.contains("== ERROR SUMMARY: 0 errors");
    sample.text.contains("== ") && (clean() || sample.text.lines().any(frame))
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    // What the program itself prints stands between the lines, without a prefix.
    let lines: Vec<&str> =
        text.lines().filter_map(|line| Some(PREFIX.captures(line.trim_end())?.get(1)?.as_str())).collect();
    let tool = lines.iter().find_map(|line| {
        line.split_once(", a ").filter(|(_, what)| what.ends_with("detector") || what.ends_with("profiler"))
    });
    let tool = Tool {
        name: tool.map_or("valgrind".to_owned(), |(name, _)| format!("valgrind {}", name.to_lowercase())),
        version: lines.iter().find_map(|line| super::version_in(line.split_once("Using Valgrind-")?.1)),
    };
    let mut document = Document::default();
    let mut creations = Creations::default();
    let mut thread = Thread::default();
    for block in blocks(&lines) {
        let first = block.iter().find(|line| !line.trim().is_empty()).map_or("", |line| line.trim());
        if let Some(thread) = first.strip_prefix("Thread ").and_then(|rest| rest.strip_suffix(" was created"))
        {
            let frames = block.iter().filter_map(|line| {
                let captures = FRAME.captures(line)?;
                Some(frame(usize::MAX, &captures[2], captures.get(3).map_or("", |place| place.as_str())))
            });
            creations.insert(thread, "#1", frames.collect());
            continue;
        }
        let report = report(block, &tool, &creations, &mut thread, &mut document.notes);
        document.reports.push(report);
    }
    Ok(document)
}

/// The thread that valgrind speaks of. It says so only where it is another than the last time; the first is the main one.
#[derive(Default)]
struct Thread {
    number: String,
    name: String,
}

impl Thread {
    fn label(&self) -> Option<String> {
        let name = if self.name.is_empty() { String::new() } else { format!(" {}", self.name) };
        (!self.number.is_empty()).then(|| format!("Thread {}{name}", self.number))
    }
}

/// The stretches of the log that hold a stack. Helgrind rules a line between its errors and has blank lines in them;
/// the others have blank lines between theirs.
fn blocks<'a>(lines: &'a [&'a str]) -> impl Iterator<Item = &'a [&'a str]> {
    let rule = |line: &str| line.starts_with("----") || line.starts_with("---Thread-");
    let ruled = lines.iter().any(|line| rule(line));
    let blocks = lines.split(move |line| if ruled { rule(line) } else { line.trim().is_empty() });
    blocks.filter_map(|block| {
        // What follows the last stack's paragraph is a summary.
        let last = block.iter().rposition(|line| FRAME.is_match(line))?;
        let end =
            block[last..].iter().position(|line| line.trim().is_empty()).map_or(block.len(), |at| last + at);
        Some(&block[..end])
    })
}

fn report(
    block: &[&str],
    tool: &Tool,
    creations: &Creations,
    thread: &mut Thread,
    notes: &mut Vec<String>,
) -> Report {
    let mut stacks: Vec<Stack> = Vec::new();
    // Helgrind tells of the locks that an error names before the error itself.
    let mut locks_seen: Vec<Stack> = Vec::new();
    let mut frames: Vec<StackFrame> = Vec::new();
    let mut said = Vec::new();
    let mut has_stack = false;
    let mut label = String::new();
    let mut locks: Option<String> = None;
    let mut title = String::new();
    let mut close = |frames: &mut Vec<StackFrame>, label: &str, locks: &mut Option<String>| {
        if frames.is_empty() {
            return;
        }
        let mut stack = Stack::innermost_first(label, own_code(std::mem::take(frames)));
        if is_of_lock(label) {
            locks_seen.push(stack);
            return;
        }
        let access = mode(label);
        let held = locks.take();
        if stacks.is_empty() || (access.is_some() && held.is_some()) {
            stack = stack.fails(access);
        }
        if let (Some(held), Some(last)) = (held, stack.frames.last_mut()) {
            // `2, at addresses 0x10C060 0x10C0A0`
            let names = held.split([' ', ',']).filter(|word| word.starts_with("0x"));
            last.state.push(locks::held(names.map(|name| Lock { name, shared: false })));
        }
        fails_later(&mut stacks, &mut stack);
        lead_to(creations, &mut stack);
        stacks.push(stack);
    };
    for (line, words) in block.iter().enumerate() {
        let words = words.trim();
        if let Some(captures) = FRAME.captures(words) {
            if &captures[1] == "at" || frames.is_empty() {
                close(&mut frames, &label, &mut locks);
                label = said.join(" ");
                said.clear();
                has_stack = true;
                if title.is_empty() && !is_of_lock(&label) {
                    title = label.clone();
                }
            }
            frames.push(frame(line, &captures[2], captures.get(3).map_or("", |place| place.as_str())));
        } else {
            if !frames.is_empty() {
                close(&mut frames, &label, &mut locks);
            }
            if words.is_empty() {
                // A paragraph without a stack is the headline.
                if title.is_empty() && !has_stack {
                    title = said.join(" ");
                }
                has_stack = false;
                said.clear();
                continue;
            }
            if let Some(held) = words.strip_prefix("Locks held: ") {
                locks = Some(held.to_owned());
            } else if let Some(other) = THREAD.captures(words) {
                let group =
                    |at: usize| other.get(at).map_or(String::new(), |group| group.as_str().to_owned());
                *thread = Thread { number: group(1), name: group(2) };
            } else {
                said.push(words.to_owned());
            }
        }
    }
    close(&mut frames, &label, &mut locks);
    stacks.append(&mut locks_seen);
    // An order of locks is told with the thread that breaks it, above the stacks of its two acquisitions.
    if let Some(number) = title.strip_prefix("Thread ").and_then(|rest| rest.split(':').next()) {
        let breaks = |stack: &&mut Stack| stack.label.contains("acquisition of lock");
        stacks.iter_mut().take(2).filter(breaks).for_each(|stack| creations.lead_to(stack, number));
    }
    let rule = rule(&title);
    // Leaks are found when all is over, in no thread.
    if let Some(first) = stacks.first_mut().filter(|_| !rule.starts_with("Leak_")) {
        name_thread(first, thread.label());
    }
    let mut report = Report {
        cwe: weakness(rule).into_iter().collect(),
        severity: if rule.starts_with("Leak_") { Severity::Warning } else { Severity::Error },
        rule: rule.to_owned(),
        title,
        tool: tool.clone(),
        ..Report::default()
    };
    assemble(&mut report, block, stacks, notes);
    report
}

/// An order of locks is broken by the second lock that is taken, not by the one that is held by then. The text has
/// the stacks of both; the XML has only the second.
fn fails_later(before: &mut [Stack], stack: &mut Stack) {
    if let [first] = before
        && first.label.contains("(incorrect) order is: acquisition of lock")
        && stack.label.starts_with("followed by a later acquisition")
    {
        first.frames.iter_mut().for_each(|frame| frame.failing = false);
        stack.frames.iter_mut().rev().take(1).for_each(|frame| frame.failing = true);
    }
}

/// Whether a stack is that of the first use of a lock, which an error names by its address.
fn is_of_lock(label: &str) -> bool {
    label.starts_with("Lock at ") && label.ends_with("was first observed")
}

fn frame(line: usize, function: &str, place_or_object: &str) -> StackFrame {
    let location = place(place_or_object);
    let message = if location.is_none() { place_or_object.to_owned() } else { String::new() };
    StackFrame { line, function: function.to_owned(), location, message, ..StackFrame::default() }
}

/// The names that the XML output has for the same.
fn rule(title: &str) -> &'static str {
    let leak = LEAK.captures(title);
    match leak.as_ref().map(|captures| &captures[1]) {
        Some("definitely") => return "Leak_DefinitelyLost",
        Some("indirectly") => return "Leak_IndirectlyLost",
        Some(_) => return "Leak_PossiblyLost",
        None => {}
    }
    let names = [
        ("Invalid read", "InvalidRead"),
        ("Invalid write", "InvalidWrite"),
        ("Invalid free", "InvalidFree"),
        ("Mismatched free", "MismatchedFree"),
        ("Conditional jump", "UninitCondition"),
        ("Use of uninitialised", "UninitValue"),
        ("Possible data race", "Race"),
        ("Conflicting load", "ConflictingAccess"),
        ("Conflicting store", "ConflictingAccess"),
        ("lock order", "LockOrder"),
        ("Jump to the invalid", "InvalidJump"),
        ("is not a mutex", "MutexErr"),
        ("unlocked an invalid lock", "UnlockBogus"),
        ("unlocked a not-locked lock", "UnlockUnlocked"),
        ("Process terminating", "FatalSignal"),
    ];
    names.into_iter().find(|(words, _)| title.contains(words)).map_or("valgrind", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use crate::{AccessMode, Format, read};

    const RACE: &str = "\
==7== Helgrind, a thread error detector
==7== Using Valgrind-3.19.0 and LibVEX; rerun with -h for copyright info
==7== ---Thread-Announcement------------------------------------------
==7== \x20
==7== Thread #2 was created
==7==    at 0x496EB3F: clone (clone.S:76)
==7==    by 0x48EF8EC: pthread_create@@GLIBC_2.34 (pthread_create.c:831)
==7==    by 0x484C5D7: ??? (in /usr/libexec/valgrind/vgpreload_helgrind-amd64-linux.so)
==7==    by 0x109298: main (main.c:81)
==7== \x20
==7== ----------------------------------------------------------------
==7== \x20
==7== Possible data race during read of size 8 at 0x10C048 by thread #3
==7== Locks held: none
==7==    at 0x10B1A1: meter_add (meter.c:28)
==7==    by 0x10AAA1: part_drain (fetch.c:25)
half done
==7== \x20
==7== This conflicts with a previous write of size 8 by thread #2
==7== Locks held: 1, at address 0x10C060
==7==    at 0x10B1AC: meter_add (meter.c:28)
==7==    by 0x48417B4: ??? (in /usr/libexec/valgrind/vgpreload_helgrind-amd64-linux.so)
==7==    by 0x48EF1F4: start_thread (pthread_create.c:442)
==7==    by 0x496EB4F: clone (clone.S:100)
==7==  Address 0x10c048 is 0 bytes inside data symbol \"window_bytes\"
==7== \x20
==7== ERROR SUMMARY: 1 errors from 1 contexts
";

    #[test]
    fn both_sides_of_a_race_are_read() {
        assert_eq!(Format::sniff(RACE), Some(Format::ValgrindText));
        let document = read(RACE.as_bytes(), "race").unwrap();
        assert_eq!(document.reports.len(), 1);
        let report = &document.reports[0];
        assert_eq!(
            (&*report.rule, &*report.tool.name, report.tool.version.as_deref()),
            ("Race", "valgrind helgrind", Some("3.19.0"))
        );
        assert_eq!(report.paths.len(), 2);
        let last = |path: usize| report.paths[path].steps.last().unwrap();
        assert_eq!((last(0).access, last(1).access), (Some(AccessMode::Read), Some(AccessMode::Write)));
        assert!(last(0).failing && last(1).failing);
        assert_eq!(last(1).state[0].value, "0x10C060");
        assert_eq!(report.paths[0].frames[0].function, "part_drain");
        // The other thread's path begins where it was created, and goes through no start-up code.
        let created: Vec<_> =
            report.paths[1].frames.iter().map(|frame| (&*frame.function, frame.thread.as_deref())).collect();
        assert_eq!(created, [("main", None), ("meter_add", Some("#2"))]);
        assert!(!report.plain_text().contains("SUMMARY"));
        assert!(!report.plain_text().contains("half done"));
    }

    /// Helgrind tells where the locks were first used above the error that names them.
    #[test]
    fn a_race_between_holders_of_locks_is_a_race() {
        let seen = "\
==7==  Lock at 0x10C060 was first observed
==7==    at 0x484976E: pthread_mutex_init (in /usr/libexec/valgrind/vgpreload_helgrind-amd64-linux.so)
==7==    by 0x109222: main (main.c:70)
==7==  Address 0x10c060 is 0 bytes inside data symbol \"lock\"
==7== \x20
==7== Possible data race";
        let plain = read(RACE.as_bytes(), "race").unwrap();
        let document = read(RACE.replace("==7== Possible data race", seen).as_bytes(), "race").unwrap();
        assert_eq!(document.reports.len(), 1);
        let (report, other) = (&document.reports[0], &plain.reports[0]);
        assert_eq!((&report.title, &report.rule), (&other.title, &other.rule));
        let sides = |report: &crate::Report| -> Vec<_> {
            let last = report.paths.iter().filter_map(|path| path.steps.last());
            last.filter(|step| step.failing).map(|step| (step.access, step.state.len())).collect()
        };
        assert_eq!(sides(report), sides(other));
        assert!(
            report.plain_text().contains("Lock at 0x10C060 was first observed"),
            "{}",
            report.plain_text()
        );
    }
}
