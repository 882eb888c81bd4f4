//! A document as SARIF.

use super::{BAG, message, step_kinds, uri};
use crate::{
    Binding, Change, Document, Fix, Importance, Link, Location, Path, PathKind, Report, Rule, Severity, Step,
    SuppressionStatus,
};
use serde_json::{Map, Value, json};

/// The document as a SARIF log: one run for each stretch of reports by the same tool.
pub(crate) fn write(document: &Document) -> String {
    let mut runs: Vec<Value> = Vec::new();
    let empty = |run: &Value| {
        let mut run = run.clone();
        run["results"] = json!([]);
        run
    };
    // Runs without results are kept too, in their place.
    let mut next = 0;
    for reports in document.reports.chunk_by(|a, b| a.run == b.run && a.tool == b.tool) {
        let skeleton = reports[0].run.and_then(|run| {
            runs.extend(document.runs.get(next..run).into_iter().flatten().map(empty));
            next = next.max(run + 1);
            document.runs.get(run)
        });
        runs.push(write_run(runs.len(), reports, &document.rules, skeleton));
    }
    runs.extend(document.runs.get(next..).into_iter().flatten().map(empty));
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

fn write_run(run: usize, reports: &[Report], rules: &[Rule], skeleton: Option<&Value>) -> Value {
    let mut value = match skeleton {
        Some(skeleton) => skeleton.clone(),
        None => made_run(reports, rules),
    };
    if !value["tool"]["driver"].is_object() {
        value["tool"] = json!({"driver": {"name": reports[0].tool.name}});
    }
    // Results of a run that was read name their rules and weaknesses as they did.
    let made = skeleton.is_none();
    let mut index = std::collections::HashMap::new();
    for (at, rule) in
        value["tool"]["driver"]["rules"].as_array().filter(|_| made).into_iter().flatten().enumerate()
    {
        if let Some(id) = rule["id"].as_str() {
            index.entry(id.to_owned()).or_insert(at);
        }
    }
    if made && reports.iter().any(|report| !report.cwe.is_empty()) {
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
        .map(|(result, report)| write_report(run, result, report, index.get(&report.rule).copied()))
        .collect();
    value
}

/// A run for reports that do not come from SARIF.
fn made_run(reports: &[Report], rules: &[Rule]) -> Value {
    let mut ids: Vec<&str> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    ids.extend(
        reports.iter().map(|report| report.rule.as_str()).filter(|id| !id.is_empty() && seen.insert(*id)),
    );
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
    json!({"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "properties": {BAG: {"made": true}}})
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
    let mut value = report.extra.clone();
    if !report.rule.is_empty() {
        value.insert("ruleId".into(), json!(report.rule));
    }
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
    let plain = ["pass", "open", "review", "informational", "notApplicable"];
    let bare = value.get("kind").and_then(Value::as_str).is_some_and(|kind| plain.contains(&kind));
    value.insert("level".into(), json!(if bare { "none" } else { level }));
    let mut bag = if text.is_empty() {
        text = message::escape(&report.title);
        json!({"title": report.title, "text": false})
    } else {
        json!({"title": report.title})
    };
    if bare {
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
    if !report.cwe.is_empty() && report.run.is_none() {
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
    let mut properties = value.remove("properties").unwrap_or_else(|| json!({}));
    properties[BAG] = bag;
    value.insert("properties".into(), properties);
    value.into()
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
    let mut properties = value.remove("properties").unwrap_or_else(|| json!({}));
    properties[BAG] = bag;
    value.insert("properties".into(), properties);
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
    let mut value = step.extra.clone();
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
    let mut kinds: Vec<Value> = step_kinds(step).into_iter().map(Value::from).collect();
    if let Some(Value::Array(more)) = value.remove("kinds") {
        bag["role"] = json!(step.role);
        bag["taken"] = json!(step.taken);
        bag["failing"] = json!(step.failing);
        kinds.extend(more);
    }
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
    let mut properties = value.remove("properties").unwrap_or_else(|| json!({}));
    properties[BAG] = bag;
    value.insert("properties".into(), properties);
    value.into()
}
