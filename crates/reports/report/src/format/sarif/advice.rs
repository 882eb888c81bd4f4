//! What a tool says about its rules, and the edits it proposes.

use super::read::{Run, bag};
use crate::value::{items, number, some_text, text};
use crate::{Change, Fix, Report, Rule};
use serde_json::Value;

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
