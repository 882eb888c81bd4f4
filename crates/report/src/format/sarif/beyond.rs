//! What a SARIF log holds beyond our model, kept as it is so that writing the log again loses nothing: of a run everything
//! but its results, of a result and of a step the properties that no field of ours stands for.

use super::read::{Run, bag};
use super::{BAG, step_kinds};
use crate::value::{items, number, some_text, text};
use crate::{Change, Fix, Report, Rule, Step};
use serde_json::{Map, Value};

/// What is nested deeper is left out: the log must be readable once more inside another.
const DEEPEST: usize = 48;

/// A run without its results.
pub(super) fn skeleton(run: &Value) -> Value {
    let rest = run.as_object().into_iter().flatten().filter(|(name, _)| *name != "results");
    let mut skeleton: Value = rest.map(|(name, value)| (name.clone(), shallow(value, DEEPEST))).collect();
    // A base is a folder: readers may rely on its slash, and we read one without as if it had it.
    let bases = skeleton.get_mut("originalUriBaseIds").and_then(Value::as_object_mut);
    for (_, base) in bases.into_iter().flatten() {
        if let Some(Value::String(uri)) = base.get_mut("uri")
            && !uri.ends_with('/')
        {
            uri.push('/');
        }
    }
    skeleton
}

/// The properties of a result that are not read into a field; `made` where the run is one that we made up.
pub(super) fn of_result(result: &Value, made: bool) -> Map<String, Value> {
    const READ: [&str; 16] = [
        "ruleId",
        "level",
        "message",
        "locations",
        "codeFlows",
        "stacks",
        "graphs",
        "graphTraversals",
        "relatedLocations",
        "suppressions",
        "partialFingerprints",
        "fixes",
        "rank",
        "occurrenceCount",
        "baselineState",
        "properties",
    ];
    let mut extra = rest(result, &READ);
    extra.retain(|name, value| match name.as_str() {
        "kind" => !(*value == "pass" || *value == "fail"),
        "ruleIndex" | "taxa" => !made,
        _ => true,
    });
    extra
}

/// The properties of a step that are not read into a field, and the kinds that its role does not say.
pub(super) fn of_step(location: &Value, step: &Step) -> Map<String, Value> {
    const READ: [&str; 11] = [
        "location",
        "kinds",
        "state",
        "nestingLevel",
        "executionOrder",
        "executionTimeUtc",
        "executionTimeOffset",
        "importance",
        "index",
        "stack",
        "properties",
    ];
    let mut extra = rest(location, &READ);
    let said = step_kinds(step);
    let kinds: Vec<Value> = items(location, "/kinds")
        .iter()
        .filter(|kind| kind.as_str().is_some_and(|kind| !said.contains(&kind)))
        .cloned()
        .collect();
    if !kinds.is_empty() {
        extra.insert("kinds".to_owned(), kinds.into());
    }
    extra
}

fn rest(object: &Value, read: &[&str]) -> Map<String, Value> {
    let others = object.as_object().into_iter().flatten().filter(|(name, _)| !read.contains(&name.as_str()));
    let mut rest: Map<String, Value> =
        others.map(|(name, value)| (name.clone(), shallow(value, DEEPEST))).collect();
    let bag = object["properties"].as_object().into_iter().flatten().filter(|(name, _)| *name != BAG);
    let bag: Map<String, Value> = bag.map(|(name, value)| (name.clone(), shallow(value, DEEPEST))).collect();
    if !bag.is_empty() {
        rest.insert("properties".to_owned(), bag.into());
    }
    rest
}

fn shallow(value: &Value, levels: usize) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => Value::Null,
        Value::Array(items) => items.iter().map(|item| shallow(item, levels - 1)).collect(),
        Value::Object(map) => {
            map.iter().map(|(name, value)| (name.clone(), shallow(value, levels - 1))).collect()
        }
        other => other.clone(),
    }
}

impl Run<'_> {
    /// What the tool says about the rule of a report.
    pub(super) fn described(&self, result: &Value, report: &Report) -> Option<Rule> {
        let rule = self.rule(result);
        let words = |name: &str| {
            let markdown = some_text(rule, &format!("/{name}/markdown"));
            markdown.or_else(|| some_text(rule, &format!("/{name}/text"))).unwrap_or_default()
        };
        (!report.rule.is_empty() && rule.is_object()).then(|| Rule {
            id: report.rule.clone(),
            tool: report.tool.clone(),
            name: text(rule, "/name").to_owned(),
            summary: words("shortDescription"),
            description: words("fullDescription"),
            help: words("help"),
            url: text(rule, "/helpUri").to_owned(),
            score: self.score(result, rule).map_or(String::new(), |(score, _)| score),
        })
    }

    /// The severity score of a result or its rule: as written, and as a number.
    pub(super) fn score(&self, result: &Value, rule: &Value) -> Option<(String, f64)> {
        [result, rule].into_iter().find_map(|value| {
            let score = value.pointer("/properties/security-severity")?;
            let written = score.as_str().map_or_else(|| score.to_string(), str::to_owned);
            let number = written.trim().parse().ok().filter(|number| (0.0..=10.0).contains(number))?;
            Some((written, number))
        })
    }

    /// The edits, with advice of ours in its place among them.
    pub(super) fn fixes(&self, result: &Value) -> Vec<Fix> {
        let mut fixes: Vec<Fix> = items(result, "/fixes").iter().map(|fix| self.fix(fix)).collect();
        for advice in bag(result).map_or(&[][..], |bag| items(bag, "/advice")) {
            let at = number(advice, "/0").map_or(fixes.len(), |at| at as usize).min(fixes.len());
            let description = text(advice, "/1").to_owned();
            fixes.insert(at, Fix { description, changes: Vec::new() });
        }
        fixes
    }

    fn fix(&self, fix: &Value) -> Fix {
        let mut changes = Vec::new();
        for change in items(fix, "/artifactChanges") {
            let Some(file) = self.file(&change["artifactLocation"]) else { continue };
            for replacement in items(change, "/replacements") {
                let location = self.region(&file, &replacement["deletedRegion"]);
                let region = &replacement["deletedRegion"];
                let insert = bag(replacement).is_some_and(|bag| bag["insert"] == true)
                    || number(region, "/charLength") == Some(0)
                    || number(region, "/byteLength") == Some(0)
                    || (number(region, "/endColumn").is_some()
                        && number(region, "/endColumn") == number(region, "/startColumn")
                        && number(region, "/endLine")
                            .is_none_or(|end| number(region, "/startLine") == Some(end)));
                let text = text(replacement, "/insertedContent/text").to_owned();
                changes.push(Change { location, insert, text });
            }
        }
        let description = super::read::plain(&self.message(&fix["description"], &Value::Null));
        Fix { description, changes }
    }
}
