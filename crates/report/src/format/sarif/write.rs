//! A document as SARIF.

use super::{BAG, message, uri};
use crate::{
    Binding, Document, Link, Location, Path, PathKind, Report, Role, Severity, Step, SuppressionStatus,
};
use serde_json::{Map, Value, json};

/// The document as a SARIF log: one run for each stretch of reports by the same tool.
pub(crate) fn write(document: &Document) -> String {
    let mut runs: Vec<Value> = Vec::new();
    for (run, reports) in document.reports.chunk_by(|a, b| a.tool == b.tool).enumerate() {
        runs.push(write_run(run, reports));
    }
    if runs.is_empty() {
        // A log must have a run, and a run a tool.
        runs.push(json!({"tool": {"driver": {"name": "parallax"}}, "results": []}));
    }
    let mut log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": runs,
    });
    let mut bag = Map::new();
    if !document.notes.is_empty() {
        bag.insert("notes".into(), json!(document.notes));
    }
    if !document.excerpts.is_empty() {
        bag.insert("excerpts".into(), json!(document.excerpts));
    }
    if !bag.is_empty() {
        log["properties"] = json!({BAG: bag});
    }
    let mut text = serde_json::to_string_pretty(&log).expect("keys are strings");
    text.push('\n');
    text
}

fn write_run(run: usize, reports: &[Report]) -> Value {
    let mut rules: Vec<&str> = Vec::new();
    let mut index = std::collections::HashMap::new();
    for report in reports.iter().filter(|report| !report.rule.is_empty()) {
        index.entry(report.rule.as_str()).or_insert_with(|| {
            rules.push(&report.rule);
            rules.len() - 1
        });
    }
    let mut driver = json!({"name": reports[0].tool.name});
    if let Some(version) = &reports[0].tool.version {
        driver["version"] = json!(version);
    }
    if !rules.is_empty() {
        driver["rules"] = rules.iter().map(|rule| json!({"id": rule})).collect();
    }
    let mut value = json!({"tool": {"driver": driver}, "columnKind": "unicodeCodePoints"});
    if reports.iter().any(|report| !report.cwe.is_empty()) {
        value["taxonomies"] = json!([{
            "name": "CWE",
            "informationUri": "https://cwe.mitre.org/",
            "organization": "MITRE",
            "shortDescription": {"text": "Common Weakness Enumeration"},
        }]);
    }
    value["results"] = reports
        .iter()
        .enumerate()
        .map(|(result, report)| write_report(run, result, report, index.get(report.rule.as_str()).copied()))
        .collect();
    value
}

fn write_report(run: usize, result: usize, report: &Report, rule: Option<usize>) -> Value {
    let mut flows: Vec<Value> = Vec::new();
    // Where each path ends up: its code flow, and its thread in it.
    let mut address: Vec<(usize, usize)> = Vec::new();
    for (flow, paths) in report.paths.chunk_by(|a, b| a.flow == b.flow).enumerate() {
        address.extend((0..paths.len()).map(|thread| (flow, thread)));
        let mut value = json!({"threadFlows": paths.iter().map(write_path).collect::<Vec<_>>()});
        if paths[0].flow as usize != flow {
            value["properties"] = json!({BAG: {"flow": paths[0].flow}});
        }
        flows.push(value);
    }
    let mut text = String::new();
    for segment in &report.text {
        let words = message::escape(&segment.text);
        let target = match &segment.link {
            None => None,
            Some(Link::Related(index)) => Some(index.to_string()),
            Some(Link::Url(url)) => Some(url.clone()),
            Some(Link::Step { path, step }) => address.get(*path).map(|(flow, thread)| {
                format!(
                    "sarif:/runs/{run}/results/{result}/codeFlows/{flow}/threadFlows/{thread}/locations/{step}"
                )
            }),
        };
        match target {
            Some(target) => text.push_str(&format!("[{words}]({target})")),
            None => text.push_str(&words),
        }
    }
    let mut value = Map::new();
    if let Some(rule) = rule {
        value.insert("ruleId".into(), json!(report.rule));
        value.insert("ruleIndex".into(), json!(rule));
    }
    let level = match report.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    value.insert("level".into(), json!(level));
    let bag = if text.is_empty() {
        text = message::escape(&report.title);
        json!({"title": report.title, "text": false})
    } else {
        json!({"title": report.title})
    };
    value.insert("message".into(), json!({"text": text}));
    if let Some(place) = &report.location {
        value.insert("locations".into(), json!([{"physicalLocation": physical(place)}]));
    }
    if !flows.is_empty() {
        value.insert("codeFlows".into(), flows.into());
    }
    if !report.related.is_empty() {
        let related = report.related.iter().enumerate().map(|(index, related)| {
            let mut value = json!({"id": index, "physicalLocation": physical(&related.location)});
            if !related.message.is_empty() {
                value["message"] = json!({"text": message::escape(&related.message)});
            }
            value
        });
        value.insert("relatedLocations".into(), related.collect());
    }
    if !report.cwe.is_empty() {
        let taxa =
            report.cwe.iter().map(|cwe| json!({"id": cwe.to_string(), "toolComponent": {"name": "CWE"}}));
        value.insert("taxa".into(), taxa.collect());
    }
    if !report.fingerprints.is_empty() {
        value.insert("partialFingerprints".into(), json!(report.fingerprints));
    }
    if !report.suppressions.is_empty() {
        let suppressions = report.suppressions.iter().map(|suppression| {
            let mut value = json!({
                "kind": if suppression.in_source { "inSource" } else { "external" },
                "status": match suppression.status {
                    SuppressionStatus::Accepted => "accepted",
                    SuppressionStatus::UnderReview => "underReview",
                    SuppressionStatus::Rejected => "rejected",
                },
            });
            if !suppression.justification.is_empty() {
                value["justification"] = json!(suppression.justification);
            }
            value
        });
        value.insert("suppressions".into(), suppressions.collect());
    }
    value.insert("properties".into(), json!({BAG: bag}));
    value.into()
}

fn physical(place: &Location) -> Value {
    let mut value = json!({"artifactLocation": {"uri": uri::encode(&place.file)}});
    let numbers = [
        ("startLine", place.line),
        ("startColumn", place.column),
        ("endLine", place.end_line),
        ("endColumn", place.end_column),
    ];
    let region: Map<String, Value> =
        numbers.into_iter().filter_map(|(name, number)| Some((name.to_owned(), json!(number?)))).collect();
    if !region.is_empty() {
        value["region"] = region.into();
    }
    value
}

fn write_path(path: &Path) -> Value {
    let mut bag = json!({"frames": path.frames});
    if path.kind == PathKind::Stack {
        bag["kind"] = json!("stack");
    }
    let mut value = Map::new();
    if !path.label.is_empty() {
        value.insert("message".into(), json!({"text": message::escape(&path.label)}));
    }
    let mut steps: Vec<Value> = path.steps.iter().map(|step| write_step(path, step)).collect();
    if steps.is_empty() {
        // A thread flow must have a location.
        bag["empty"] = json!(true);
        steps.push(json!({}));
    }
    value.insert("locations".into(), steps.into());
    value.insert("properties".into(), json!({BAG: bag}));
    value.into()
}

fn write_step(path: &Path, step: &Step) -> Value {
    let mut location = Map::new();
    if let Some(place) = &step.location {
        location.insert("physicalLocation".into(), physical(place));
    }
    let function = path.frames.get(step.frame).map_or("", |frame| frame.function.as_str());
    if !function.is_empty() {
        location
            .insert("logicalLocations".into(), json!([{"fullyQualifiedName": function, "kind": "function"}]));
    }
    if !step.message.is_empty() {
        location.insert("message".into(), json!({"text": message::escape(&step.message)}));
    }
    let mut value = Map::new();
    if !location.is_empty() {
        value.insert("location".into(), location.into());
    }
    value.insert("nestingLevel".into(), json!(path.depth(step.frame)));
    if let Some(order) = step.order {
        value.insert("executionOrder".into(), json!(order));
    }
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
        value.insert("importance".into(), json!("essential"));
    }
    if !kinds.is_empty() {
        value.insert("kinds".into(), json!(kinds));
    }
    let mut bag = json!({"frame": step.frame});
    if let Some(access) = step.access {
        bag["access"] = json!(access);
    }
    let mut state: Map<String, Value> = Map::new();
    for Binding { name, value } in step.values.iter().chain(&step.state) {
        state.entry(name).or_insert_with(|| json!({"text": message::escape(value)}));
    }
    // The map holds each name once and does not tell values from analysis state.
    if !step.state.is_empty() || state.len() < step.values.len() {
        bag["values"] = json!(step.values);
        bag["state"] = json!(step.state);
    }
    if !state.is_empty() {
        value.insert("state".into(), state.into());
    }
    value.insert("properties".into(), json!({BAG: bag}));
    value.into()
}
