//! What an answer's completeness comes to for callers of the command: the exit status, and the lists in documents.

use parallax_cli_base::exit::Status;
use parallax_path::{Bound, Completeness};
use serde_json::{Value, json};

/// The status of an answer that found nothing: unsupported where more time, memory or patience would not help at all.
pub(super) fn status(completeness: &Completeness) -> Status {
    if completeness.is_complete() {
        Status::Clean
    } else if completeness.bounds().all(Bound::is_unsupported) {
        Status::Unsupported
    } else {
        Status::GaveUp
    }
}

/// What was left out, for JSON documents.
pub(super) fn bounds(completeness: &Completeness) -> Vec<Value> {
    let entry = |entry: &parallax_path::Entry| {
        json!({
            "name": entry.bound.name(),
            "message": entry.bound.to_string(),
            "place": entry.place,
            "count": entry.count,
            "option": entry.bound.option(),
        })
    };
    completeness.entries().map(entry).collect()
}

/// What narrows the question, for JSON documents.
pub(super) fn premises(completeness: &Completeness) -> Vec<&str> {
    completeness.premises().map(parallax_path::Premise::words).collect()
}
