//! SARIF in a build log: every compiler of a build prints its own, among what make and the linker print.

use crate::format::compiler;
use crate::read::Fault;
use crate::{Document, Format};
use serde_json::Value;
use std::ops::Range;

/// So many things that begin like a log and are none are looked at; each may take as long as the file is.
const PATIENCE: usize = 64;

/// What there is of SARIF in a text.
#[derive(Default)]
pub(crate) struct Logs {
    /// Where each log stands.
    pub whole: Vec<Range<usize>>,
    /// Lines of logs that break off.
    pub broken: Vec<usize>,
}

/// Whether a line begins like a SARIF log.
pub(super) fn begins(text: &str) -> bool {
    let mut end = text.len().min(400);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = &text[..end];
    head.starts_with('{') && ["\"$schema\"", "\"version\"", "\"runs\""].iter().any(|key| head.contains(key))
}

/// Whether some line begins like a SARIF log.
pub(super) fn sniff(text: &str) -> bool {
    text.match_indices('{').any(|(at, _)| {
        let before = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        text[before..at].trim().is_empty() && begins(&text[at..])
    })
}

/// Finds the logs in a text; each begins a line.
pub(crate) fn find(text: &str) -> Logs {
    let mut logs = Logs::default();
    let (mut at, mut tried) = (0, 0);
    while tried < PATIENCE && at < text.len() {
        let line = &text[at..];
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let start = at + indent;
        let next = text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1);
        if !begins(&text[start..]) {
            at = next;
            continue;
        }
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(log)) if log.get("runs").is_some_and(Value::is_array) => {
                let end = start + stream.byte_offset();
                logs.whole.push(start..end);
                at = end;
            }
            other => {
                tried += 1;
                if matches!(&other, Some(Err(error)) if error.is_eof()) {
                    logs.broken.push(text[..start].matches('\n').count() + 1);
                }
                at = next;
            }
        }
    }
    logs
}

/// Reads every log of a text, and the warnings that stand around them as compilers print them.
pub(super) fn parse(source: &str, otherwise: Fault) -> Result<Document, Fault> {
    let logs = find(source);
    if logs.whole.is_empty() {
        return Err(otherwise);
    }
    let mut document = Document::default();
    let (mut around, mut at) = (String::new(), 0);
    for range in &logs.whole {
        around.push_str(&source[at..range.start]);
        around.push('\n');
        at = range.end;
        document.absorb(super::read::parse(&source[range.clone()])?);
    }
    around.push_str(&source[at..]);
    document.absorb(compiler::parse(&around)?);
    for line in logs.broken {
        document.notes.push(format!("a {} log breaks off; it begins in line {line}", Format::Sarif));
    }
    Ok(document)
}
