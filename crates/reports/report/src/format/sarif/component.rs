//! Tool components: where rules and taxonomies are kept, and how results refer to them.

use super::read::{Run, stands_in};
use crate::Severity;
use crate::value::{items, number, text};
use serde_json::Value;

impl<'a> Run<'a> {
    /// The driver and its extensions, each of which may hold rules and message strings.
    pub(super) fn components(run: &'a Value) -> impl Iterator<Item = &'a Value> {
        run.pointer("/tool/driver").into_iter().chain(items(run, "/tool/extensions"))
    }

    /// The rule that a result is about: by index into the component it names, or by its id in any of them.
    pub(super) fn rule(&self, result: &Value) -> &'a Value {
        if stands_in(result) {
            return &Value::Null;
        }
        let reference = &result["rule"];
        let component = match number(reference, "/toolComponent/index") {
            Some(extension) => items(self.run, "/tool/extensions").get(extension as usize),
            None => self.run.pointer("/tool/driver"),
        };
        let index = number(reference, "/index").or_else(|| number(result, "/ruleIndex"));
        let by_index = || items(component?, "/rules").get(index? as usize);
        // A result may name a part of a rule: CA1000/1 belongs to CA1000.
        let by_id = |mut id: &str| {
            while !id.is_empty() {
                if let Some(rule) = self.rules.get(id) {
                    return Some(*rule);
                }
                id = id.rsplit_once('/')?.0;
            }
            None
        };
        by_index()
            .or_else(|| by_id(text(result, "/ruleId")))
            .or_else(|| by_id(text(reference, "/id")))
            .unwrap_or(&Value::Null)
    }

    /// How bad: as the result says, as the user configured the rule for this run, or as the rule says.
    pub(super) fn severity(&self, result: &Value, rule: &Value) -> Severity {
        let invocation = number(result, "/provenance/invocationIndex").unwrap_or(0) as usize;
        let overrides = items(self.run, "/invocations").get(invocation);
        let configured = overrides
            .map_or(&[][..], |invocation| items(invocation, "/ruleConfigurationOverrides"))
            .iter()
            .find(|one| !rule.is_null() && text(one, "/descriptor/id") == text(rule, "/id"))
            .map_or("", |one| text(one, "/configuration/level"));
        // A score says more than a level, and scanners that give one leave the level at its default.
        if let Some((_, score)) = self.score(result, rule) {
            return match score {
                score if score >= 7.0 => Severity::Error,
                score if score >= 4.0 => Severity::Warning,
                _ => Severity::Note,
            };
        }
        let own = super::read::bag(result).map_or("", |bag| text(bag, "/level"));
        let level = [own, text(result, "/level"), configured, text(rule, "/defaultConfiguration/level")];
        match level.into_iter().find(|level| !level.is_empty()) {
            Some("error") => Severity::Error,
            Some("note" | "none") => Severity::Note,
            _ if text(result, "/kind") == "informational" => Severity::Note,
            _ => Severity::Warning,
        }
    }

    /// CWE numbers, wherever tools put them: taxa, relationships, or tags such as `external/cwe/cwe-476`.
    pub(super) fn weaknesses(&self, result: &Value, rule: &Value) -> Vec<u32> {
        let mut found = Vec::new();
        let taxa = items(result, "/taxa").iter().chain(
            items(rule, "/relationships").iter().filter_map(|relationship| relationship.get("target")),
        );
        for taxon in taxa {
            let taxonomy = self.taxonomy(&taxon["toolComponent"]);
            let listed =
                number(taxon, "/index").and_then(|index| items(taxonomy?, "/taxa").get(index as usize));
            let id = [text(taxon, "/id"), listed.map_or("", |taxon| text(taxon, "/id"))];
            let id = id.into_iter().find(|id| !id.is_empty()).unwrap_or_default();
            let name = [text(taxon, "/toolComponent/name"), taxonomy.map_or("", |one| text(one, "/name"))];
            if name.iter().any(|name| name.eq_ignore_ascii_case("cwe"))
                || id.to_ascii_uppercase().starts_with("CWE-")
            {
                found.extend(id.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().ok());
            }
        }
        let tags = items(rule, "/properties/tags")
            .iter()
            .chain(items(rule, "/properties/cwe"))
            .chain(items(result, "/properties/tags"));
        for tag in tags.filter_map(Value::as_str) {
            let tag = tag.to_ascii_lowercase();
            if let Some((_, number)) = tag.split_once("cwe-") {
                let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
                found.extend(digits.parse::<u32>().ok());
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The taxonomy that a reference means, by index or by guid.
    fn taxonomy(&self, reference: &Value) -> Option<&'a Value> {
        let all = items(self.run, "/taxonomies");
        let guid = text(reference, "/guid");
        number(reference, "/index")
            .and_then(|index| all.get(index as usize))
            .or_else(|| all.iter().find(|one| !guid.is_empty() && text(one, "/guid") == guid))
    }

    /// What the tool says about its own run: failures and errors, which a clean list of results would hide.
    pub(super) fn tell_failures(&self, notes: &mut Vec<String>) {
        /// A tool that stumbles over every file says so once for each.
        const MOST: usize = 10;
        let tool = text(self.run, "/tool/driver/name");
        let mut told = Vec::new();
        for invocation in items(self.run, "/invocations") {
            let notifications = ["/toolExecutionNotifications", "/toolConfigurationNotifications"];
            for notification in notifications.into_iter().flat_map(|list| items(invocation, list)) {
                let message = self.message(&notification["message"], &Value::Null);
                let message = super::read::plain(&message);
                match text(notification, "/level") {
                    _ if message.is_empty() => {}
                    "error" => told.push(format!("{tool} says: {message}")),
                    // Semgrep so says which files it did not understand, and quotes all of them.
                    "warning" => {
                        let first = message.lines().next().unwrap_or_default().trim_end_matches(':');
                        told.push(format!("{tool} warns: {}", first.chars().take(200).collect::<String>()));
                    }
                    _ => {}
                }
            }
            if invocation["executionSuccessful"] == false {
                told.push(format!("{tool} says that its run did not succeed: results may be missing"));
            }
        }
        let more = told.len().saturating_sub(MOST);
        notes.extend(told.into_iter().take(MOST));
        if more > 0 {
            notes.push(format!("{tool} reports {more} more errors and warnings of its own"));
        }
        for (kind, references) in self.run["externalPropertyFileReferences"].as_object().into_iter().flatten()
        {
            let files: Vec<String> = references
                .as_array()
                .map_or(std::slice::from_ref(references), Vec::as_slice)
                .iter()
                .filter_map(|reference| self.file(&reference["location"]))
                .collect();
            if !files.is_empty() {
                notes.push(format!("{kind} are kept in other files, not read here: {}", files.join(", ")));
            }
        }
    }
}
