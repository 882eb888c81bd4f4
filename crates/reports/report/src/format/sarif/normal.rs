//! A log brought into the form that readers may rely on, before anything is read from it. What is read and what is kept
//! for writing again are then the same.

use crate::value::{items, text};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Brings a log, or a file of properties that a log has moved out, into its normal form. What was no log's is noted.
pub(super) fn normalise(log: Value, notes: &mut Vec<String>) -> Value {
    let mut log = if is_external(&log) { as_run(log) } else { log };
    let parts = log.as_object_mut().and_then(|log| log.remove("inlineExternalProperties"));
    for part in parts.and_then(|parts| parts.as_array().cloned()).unwrap_or_default() {
        take_in(&mut log, part);
    }
    let (mut hollow_runs, mut hollow_results) = (0, 0);
    let mut unlisted = BTreeMap::new();
    for run in log.get_mut("runs").and_then(Value::as_array_mut).into_iter().flatten() {
        // Objects have properties; whatever else stands in place of one holds nothing.
        if !run.is_object() {
            hollow_runs += 1;
            *run = json!({});
        }
        count_unlisted(run, &["results", "artifacts", "threadFlowLocations", "graphs"], &mut unlisted);
        if !run["tool"]["driver"].is_object() {
            run["tool"] = json!({"driver": {"name": ""}});
        }
        // A base is a folder: readers may rely on its slash, and we read one without as if it had it.
        let bases = run.get_mut("originalUriBaseIds").and_then(Value::as_object_mut);
        for (_, base) in bases.into_iter().flatten() {
            if let Some(Value::String(uri)) = base.get_mut("uri")
                && !uri.ends_with('/')
            {
                uri.push('/');
            }
        }
        for result in run.get_mut("results").and_then(Value::as_array_mut).into_iter().flatten() {
            if !result.is_object() {
                hollow_results += 1;
                *result = json!({});
            }
            count_unlisted(result, &LISTS, &mut unlisted);
            let message = &result["message"];
            if message.is_string() {
                result["message"] = json!({"text": message});
            } else if !message["text"].is_string() && !message["id"].is_string() {
                let mut words = message.as_object().cloned().unwrap_or_default();
                words.insert("text".to_owned(), words.get("markdown").cloned().unwrap_or_else(|| json!("")));
                result["message"] = words.into();
            }
        }
    }
    for (count, what) in [(hollow_runs, "runs"), (hollow_results, "results")] {
        if count > 0 {
            notes.push(format!("{count} {what} are no objects; they are read as empty ones"));
        }
    }
    for (name, count) in unlisted {
        notes.push(format!("`{name}` is no list in {count} places; nothing is read from it there"));
    }
    log
}

/// What of a result is a list.
const LISTS: [&str; 7] =
    ["locations", "relatedLocations", "codeFlows", "stacks", "graphTraversals", "fixes", "suppressions"];

/// Counts the lists that are none. What is absent may be written as null.
fn count_unlisted(value: &Value, names: &[&'static str], counts: &mut BTreeMap<&'static str, usize>) {
    let unlisted = |name: &&&'static str| !matches!(value[**name], Value::Array(_) | Value::Null);
    for &name in names.iter().filter(unlisted) {
        *counts.entry(name).or_default() += 1;
    }
}

/// Whether this is a file to which a log has moved some of its properties.
fn is_external(log: &Value) -> bool {
    log.get("runs").is_none()
        && log["results"].is_array()
        && text(log, "/$schema").contains("external-property")
}

/// Such a file by itself is a run of which the rest is unknown.
fn as_run(file: Value) -> Value {
    let version = file["version"].clone();
    let mut log = json!({"version": version, "runs": [{}]});
    put(&mut log["runs"][0], file);
    log
}

/// Properties of a run that stand beside it go into it; those of a run that is not here make one.
fn take_in(log: &mut Value, part: Value) {
    let guid = text(&part, "/runGuid").to_owned();
    let own = |run: &Value| !guid.is_empty() && text(run, "/automationDetails/guid") == guid;
    let at = items(log, "/runs").iter().position(own);
    let Some(runs) = log.get_mut("runs").and_then(Value::as_array_mut) else { return };
    let at = at.unwrap_or_else(|| {
        runs.push(json!({}));
        runs.len() - 1
    });
    put(&mut runs[at], part);
}

fn put(run: &mut Value, part: Value) {
    let Value::Object(part) = part else { return };
    let mut tool = Map::new();
    for (name, value) in part {
        let value = shallow(value, DEEPEST);
        match name.as_str() {
            "$schema" | "schema" | "version" | "guid" | "runGuid" => {}
            "driver" | "extensions" => drop(tool.insert(name, value)),
            "externalizedProperties" => run["properties"] = value,
            _ => match (run.get_mut(&name), value) {
                (Some(Value::Array(here)), Value::Array(mut more)) => here.append(&mut more),
                (Some(_), _) => {}
                (None, value) => run[name] = value,
            },
        }
    }
    if run.get("tool").is_none() && !tool.is_empty() {
        run["tool"] = tool.into();
    }
}

/// What is nested deeper is left out: inside a log, everything lies deeper than in a file of its own.
const DEEPEST: usize = 100;

fn shallow(value: Value, levels: usize) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => Value::Null,
        Value::Array(items) => items.into_iter().map(|item| shallow(item, levels - 1)).collect(),
        Value::Object(map) => {
            map.into_iter().map(|(name, value)| (name, shallow(value, levels - 1))).collect()
        }
        other => other,
    }
}
