//! Valgrind's `--xml=yes`: memcheck, helgrind, drd. Each stack of an error becomes a path, outermost call first.

use super::{Sample, version_in};
use crate::read::Fault;
use crate::stack::{Creations, Stack, StackFrame, assemble, own_code};
use crate::xml::{Node, Xml};
use crate::{AccessMode, Document, Location, Report, Severity, Tool};

pub(super) fn sniff(sample: &Sample) -> bool {
    sample.head.contains("<valgrindoutput")
}

pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let xml = Xml::parse(text)?;
    let top = xml.root().child("valgrindoutput").ok_or_else(|| Fault::new("there is no <valgrindoutput>"))?;
    let kind = top.child_text("tool");
    let name = if kind.is_empty() { "valgrind".to_owned() } else { format!("valgrind {kind}") };
    let preamble: Vec<String> =
        top.child("preamble").into_iter().flat_map(|node| node.children()).map(|line| line.text()).collect();
    let version = preamble.iter().find_map(|line| version_in(line.split_once("Valgrind-")?.1));
    let tool = Tool { name, version };
    let mut document = Document::default();
    let mut creations = Creations::default();
    for thread in top.children_named("announcethread") {
        if let Some(stack) = thread.child("stack") {
            creations.insert(&format!("#{}", thread.child_text("hthreadid").trim()), "#1", frames(stack));
        }
    }
    for error in top.children_named("error") {
        let report = read_report(error, &tool, &creations, &mut document.notes);
        document.reports.push(report);
    }
    for fatal in top.children_named("fatal_signal") {
        let title = format!("Process terminates with {}", fatal.child_text("signame"));
        let mut report = Report {
            rule: fatal.child_text("signame"),
            title,
            severity: Severity::Error,
            tool: tool.clone(),
            ..Report::default()
        };
        let stack = fatal.child("stack").map(|stack| Stack::innermost_first("", own_code(frames(stack))));
        assemble(&mut report, &[], stack.into_iter().collect(), &mut document.notes);
        report.narrate();
        document.reports.push(report);
    }
    Ok(document)
}

fn read_report(error: Node, tool: &Tool, creations: &Creations, notes: &mut Vec<String>) -> Report {
    let kind = error.child_text("kind");
    let what = match error.child("xwhat") {
        Some(node) => node.child_text("text"),
        None => error.child_text("what"),
    };
    let mut report = Report {
        title: what.clone(),
        severity: if kind.starts_with("Leak_") { Severity::Warning } else { Severity::Error },
        cwe: weakness(&kind).into_iter().collect(),
        rule: kind.clone(),
        tool: tool.clone(),
        ..Report::default()
    };
    let mut stacks: Vec<Stack> = Vec::new();
    // What is said before a stack is its label.
    let mut label = what;
    for child in error.children() {
        let stack = match child.name() {
            "what" | "auxwhat" => {
                label = child.text().trim().to_owned();
                None
            }
            "xwhat" | "xauxwhat" => {
                label = child.child_text("text");
                None
            }
            "stack" => Some(child),
            // What another thread did at the time, as drd tells it.
            name if name.starts_with("other_segment") => {
                let thread = match child.child_text("hthreadid") {
                    none if none.is_empty() => "Another thread".to_owned(),
                    number => format!("Thread {number}"),
                };
                label = format!("{thread}, {}", name.replace('_', " "));
                child.child("stack")
            }
            // Where the memory was allocated, where a lock was first seen: named by the element alone.
            name => child.child("stack").inspect(|_| {
                let before =
                    if stacks.is_empty() || label.is_empty() { "" } else { label.trim_end_matches(':') };
                label = format!("{before} {}", name.replace('_', " ")).trim_start().to_owned();
            }),
        };
        if let Some(stack) = stack {
            let mut stack = Stack::innermost_first(label.clone(), own_code(frames(stack)));
            let access = mode(&label);
            if stacks.is_empty() || (kind == "Race" && access.is_some()) {
                stack = stack.fails(access);
            }
            lead_to(creations, &mut stack);
            stacks.push(stack);
        }
    }
    // The first thread is not worth a word.
    let thread = error.child_text("tid");
    let thread =
        Some(thread.trim()).filter(|thread| !["", "1"].contains(thread) && !kind.starts_with("Leak_"));
    let name = error.child_text("threadname");
    let name = if name.is_empty() { name } else { format!(" {name}") };
    if let Some(first) = stacks.first_mut() {
        name_thread(first, thread.map(|number| format!("Thread {number}{name}")));
    }
    assemble(&mut report, &[], stacks, notes);
    report.narrate();
    report
}

/// Says in which thread a stack is, where its label does not.
pub(super) fn name_thread(stack: &mut Stack, thread: Option<String>) {
    // Helgrind and drd say it themselves, and count in another way.
    let told = stack.label.to_ascii_lowercase().contains("thread ");
    if let Some(thread) = thread.filter(|_| !told) {
        stack.label = format!("{thread}: {}", stack.label);
    }
}

/// Puts the creation of the thread that a stack's label names in front of the stack.
pub(super) fn lead_to(creations: &Creations, stack: &mut Stack) {
    let by = stack.label.rsplit_once("by thread ").map(|(_, thread)| thread);
    let thread = by.or_else(|| stack.label.strip_prefix("Thread ")?.split(':').next());
    let thread = thread.and_then(|thread| thread.split_whitespace().next()).map(str::to_owned);
    if let Some(thread) = thread {
        creations.lead_to(stack, &thread);
    }
}

/// The frames of a stack, innermost first.
fn frames(stack: Node) -> Vec<StackFrame> {
    let read = |frame: Node| {
        let (directory, file) = (frame.child_text("dir"), frame.child_text("file"));
        let file = if directory.is_empty() || file.is_empty() { file } else { format!("{directory}/{file}") };
        let line = frame.child_text("line").parse().ok();
        let location = (!file.is_empty()).then(|| Location { file, line, ..Location::default() });
        let function = frame.child_text("fn");
        let object = frame.child_text("obj");
        let message =
            if location.is_none() && !object.is_empty() { format!("in {object}") } else { String::new() };
        StackFrame {
            function: if function.is_empty() { frame.child_text("ip") } else { function },
            location,
            message,
            ..StackFrame::default()
        }
    };
    stack.children_named("frame").map(read).collect()
}

pub(super) fn mode(label: &str) -> Option<AccessMode> {
    let label = label.to_ascii_lowercase();
    if label.contains("write of size") || label.contains("conflicting store") {
        Some(AccessMode::Write)
    } else if label.contains("read of size") || label.contains("conflicting load") {
        Some(AccessMode::Read)
    } else {
        None
    }
}

pub(super) fn weakness(kind: &str) -> Option<u32> {
    Some(match kind {
        "Race" | "ConflictingAccess" => 362,
        "LockOrder" => 833,
        "UninitCondition" | "UninitValue" => 457,
        "InvalidFree" | "MismatchedFree" => 763,
        "Overlap" => 475,
        _ if kind.starts_with("Leak_") => 401,
        _ => return None,
    })
}
