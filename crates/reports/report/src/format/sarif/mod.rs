//! SARIF 2.1.0, in and out.
//!
//! Results of others are kept and written again as they were. For the rest, what SARIF has a place for is written there;
//! what only our model knows goes into the property bag of the nearest object, under the one key `parallax`. Reading prefers
//! that bag where it is sound, so a document of ours comes back equal, and does without it where it is absent.

mod advice;
mod component;
mod graph;
pub(crate) mod logged;
mod message;
mod normal;
mod original;
mod place;
mod read;
mod uri;
mod write;

use crate::read::Fault;
use crate::{Document, Role, Step};

pub(super) use write::write;

/// The property that holds what SARIF has no place for.
const BAG: &str = "parallax";

/// The rule of a finding whose tool names none: a result must name one. The bag of the result says `"rule": false`.
const NO_RULE: &str = "no-rule";

/// The `kinds` that say what a step is.
fn step_kinds(step: &Step) -> Vec<&'static str> {
    let mut kinds: Vec<&str> = match step.role {
        Role::Entry => vec!["enter", "function"],
        Role::Call => vec!["call", "function"],
        Role::Return => vec!["return", "function"],
        Role::Branch => vec!["branch"],
        Role::Access => vec!["memory"],
        Role::Note => vec![],
    };
    kinds.extend(step.taken.map(|taken| if taken { "true" } else { "false" }));
    if step.failing {
        kinds.push("danger");
    }
    kinds
}

/// A log, or a text with logs in it.
pub(super) fn parse(source: &str) -> Result<Document, Fault> {
    let whole = read::parse(source);
    match whole {
        Err(fault) if !source.trim_start().starts_with('{') || !logged::find(source).whole.is_empty() => {
            logged::parse(source, fault)
        }
        other => other,
    }
}

pub(super) fn sniff(sample: &super::Sample) -> bool {
    let listed = sample.head.strip_prefix('[').map(str::trim_start);
    (sample.head.starts_with('{') || listed.is_some_and(logged::begins) || logged::sniff(sample.text))
        && (sample.text.contains("\"runs\"") || sample.text.contains("sarif-external-property"))
        && (sample.text.contains("sarif") || sample.text.contains("\"2.1.0\""))
}
