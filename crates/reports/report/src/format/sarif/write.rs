//! A document as SARIF.

use super::original::Originals;
use super::{BAG, NO_RULE, message, step_kinds, uri};
use crate::{
    Binding, Change, Document, Fix, Importance, Link, Location, Path, PathKind, Report, Rule, Severity, Step,
    Suppression, SuppressionStatus,
};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The document as a SARIF log: the runs it came from, and one for each stretch of other reports by the same tool.
pub(crate) fn write(document: &Document) -> String {
    let Originals { results, excerpts, notes } = Originals::of(document);
    let mut runs: Vec<Value> = Vec::new();
    // Runs without results are kept too, in their place.
    let mut next = 0;
    let from = |(report, original): &(&Report, Option<Value>)| {
        (original.as_ref().and(report.run), original.is_none().then(|| report.tool.clone()))
    };
    let reports: Vec<(&Report, Option<Value>)> = document.reports.iter().zip(results).collect();
    for reports in reports.chunk_by(|a, b| from(a) == from(b)) {
        match from(&reports[0]).0.and_then(|run| Some((run, document.runs.get(run)?))) {
            Some((run, value)) => {
                runs.extend(document.runs.get(next..run).into_iter().flatten().cloned());
                next = next.max(run + 1);
                let mut value = value.clone();
                let rest = value["results"].take();
                let results = reports.iter().filter_map(|(_, original)| original.clone());
                value["results"] = results.chain(rest.as_array().cloned().unwrap_or_default()).collect();
                runs.push(value);
            }
            None => {
                let reports: Vec<&Report> = reports.iter().map(|(report, _)| *report).collect();
                runs.push(made_run(runs.len(), &reports, &document.rules));
            }
        }
    }
    runs.extend(document.runs.get(next..).into_iter().flatten().cloned());
    if runs.is_empty() {
        // A log must have a run, and a run a tool.
        runs.push(json!({
            "tool": {"driver": {"name": "parallax"}},
            "results": [],
            "properties": {BAG: {"made": true}},
        }));
    }
    let mut log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": runs,
    });
    let mut bag = Map::new();
    // What reading the runs again will tell need not be said twice.
    if document.notes != notes {
        bag.insert("notes".into(), json!(document.notes));
    }
    let more: Vec<_> = document.excerpts.iter().filter(|excerpt| !excerpts.contains(excerpt)).collect();
    if !more.is_empty() {
        bag.insert("excerpts".into(), json!(more));
    }
    let mut properties = document.properties.clone();
    if !bag.is_empty() {
        properties.insert(BAG.into(), bag.into());
    }
    if !properties.is_empty() {
        log["properties"] = properties.into();
    }
    let mut text = serde_json::to_string_pretty(&log).expect("keys are strings");
    text.push('\n');
    text
}

/// A run for reports that do not come from SARIF.
fn made_run(run: usize, reports: &[&Report], rules: &[Rule]) -> Value {
    let mut index = HashMap::new();
    let mut ids: Vec<&str> = Vec::new();
    for id in reports.iter().map(|report| report.rule.as_str()).filter(|id| !id.is_empty()) {
        index.entry(id).or_insert_with(|| {
            ids.push(id);
            ids.len() - 1
        });
    }
    let mut driver = json!({"name": reports[0].tool.name});
    if let Some(version) = &reports[0].tool.version {
        driver["version"] = json!(version);
    }
    if !ids.is_empty() {
        let described = |id: &&str| {
            let known = rules.iter().find(|rule| rule.id == *id && rule.tool == reports[0].tool);
            known.map_or_else(|| json!({"id": id}), write_rule)
        };
        driver["rules"] = ids.iter().map(described).collect();
    }
    let mut value = json!({"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "properties": {BAG: {"made": true}}});
    if reports.iter().any(|report| !report.cwe.is_empty()) {
        value["taxonomies"] = json!([{
            "name": "CWE",
            "informationUri": "https://cwe.mitre.org/",
            "organization": "MITRE",
            "shortDescription": {"text": "Common Weakness Enumeration"},
        }]);
    }
    let results = reports.iter().enumerate();
    value["results"] = results
        .map(|(result, report)| write_report(run, result, report, index.get(report.rule.as_str()).copied()))
        .collect();
    value
}

fn write_rule(rule: &Rule) -> Value {
    let mut value = json!({"id": rule.id});
    for (name, text) in [("name", &rule.name), ("helpUri", &rule.url)] {
        if !text.is_empty() {
            value[name] = json!(text);
        }
    }
    let texts =
        [("shortDescription", &rule.summary), ("fullDescription", &rule.description), ("help", &rule.help)];
    for (name, text) in texts {
        if !text.is_empty() {
            value[name] = json!({"text": text});
        }
    }
    if !rule.score.is_empty() {
        value["properties"] = json!({"security-severity": rule.score});
    }
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
    let id = if report.rule.is_empty() { NO_RULE } else { &report.rule };
    value.insert("ruleId".into(), json!(id));
    if let Some(rule) = rule {
        value.insert("ruleIndex".into(), json!(rule));
    }
    if report.passed {
        value.insert("kind".into(), json!("pass"));
    }
    let level = match report.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    // Only failures have a level.
    value.insert("level".into(), json!(if report.passed { "none" } else { level }));
    let mut bag = if text.is_empty() {
        text = message::escape(&report.title);
        json!({"title": report.title, "text": false})
    } else {
        json!({"title": report.title})
    };
    if report.rule.is_empty() {
        bag["rule"] = json!(false);
    }
    if report.passed {
        bag["level"] = json!(level);
    }
    let mut message = json!({"text": text});
    if !report.markdown.is_empty() {
        message["markdown"] = json!(report.markdown);
    }
    value.insert("message".into(), message);
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
    // SARIF has no fix without a change: advice goes into the bag, with its place among the fixes.
    let (edits, advice): (Vec<_>, Vec<_>) =
        report.fixes.iter().enumerate().partition(|(_, fix)| !fix.changes.is_empty());
    if !edits.is_empty() {
        value.insert("fixes".into(), edits.into_iter().map(|(_, fix)| write_fix(fix)).collect());
    }
    if !advice.is_empty() {
        bag["advice"] = advice.into_iter().map(|(at, fix)| json!([at, fix.description])).collect();
    }
    if let Some(rank) = &report.rank {
        value.insert("rank".into(), json!(rank));
    }
    if let Some(count) = report.occurrences {
        value.insert("occurrenceCount".into(), json!(count));
    }
    if let Some(baseline) = report.baseline {
        value.insert("baselineState".into(), json!(baseline));
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
        let suppressions = report.suppressions.iter().map(write_suppression);
        value.insert("suppressions".into(), suppressions.collect());
    }
    value.insert("properties".into(), json!({BAG: bag}));
    value.into()
}

pub(super) fn write_suppression(suppression: &Suppression) -> Value {
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
}

fn write_fix(fix: &Fix) -> Value {
    let changes: Vec<Value> = fix
        .changes
        .chunk_by(|a, b| a.location.file == b.location.file)
        .map(|changes| {
            let replacements: Vec<Value> = changes.iter().map(write_change).collect();
            let uri = uri::encode(&changes[0].location.file);
            json!({"artifactLocation": {"uri": uri}, "replacements": replacements})
        })
        .collect();
    let mut value = json!({"artifactChanges": changes});
    if !fix.description.is_empty() {
        value["description"] = json!({"text": message::escape(&fix.description)});
    }
    value
}

fn write_change(change: &Change) -> Value {
    let region = physical(&change.location)["region"].take();
    let mut value = json!({"deletedRegion": if region.is_null() { json!({}) } else { region }});
    if change.insert {
        if let Some(column) = change.location.column.filter(|_| change.location.end_column.is_none()) {
            value["deletedRegion"]["endColumn"] = json!(column);
        }
        value["properties"] = json!({BAG: {"insert": true}});
    }
    if !change.text.is_empty() {
        value["insertedContent"] = json!({"text": change.text});
    }
    value
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
    if !path.thread.is_empty() {
        value.insert("id".into(), json!(path.thread));
    }
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
    if !step.time.is_empty() {
        // Some tools count from the start, which the standard has no place for.
        let name = if step.time.contains(':') { "executionTimeUtc" } else { "executionTimeOffset" };
        value.insert(name.into(), json!(step.time));
    }
    if step.importance != Importance::Important {
        value.insert("importance".into(), json!(step.importance));
    }
    let mut bag = json!({"frame": step.frame});
    let kinds = step_kinds(step);
    if !kinds.is_empty() {
        value.insert("kinds".into(), kinds.into());
    }
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
