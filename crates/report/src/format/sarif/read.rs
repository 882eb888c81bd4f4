//! A SARIF log as a document, whoever wrote it.

use super::message::{fill, pieces};
use super::{BAG, uri};
use crate::flow::{self, Event};
use crate::read::Fault;
use crate::value::{items, number, some_text, text};
use crate::{
    AccessMode, Binding, Document, Frame, Link, Location, Path, PathBuilder, PathKind, Related, Report, Role,
    Segment, Severity, Step, Suppression, SuppressionStatus, Tool,
};
use serde_json::Value;
use std::collections::HashMap;

/// How far one `uriBaseId` may lead to the next.
const BASE_CHAIN: usize = 16;

pub(crate) fn parse(source: &str) -> Result<Document, Fault> {
    let log: Value = serde_json::from_str(source)?;
    let version = text(&log, "/version");
    if !version.is_empty() && !version.starts_with("2.") {
        return Err(Fault::new(format!("SARIF {version}; this version reads 2.1.0")));
    }
    if !log.get("runs").is_some_and(Value::is_array) {
        return Err(Fault::new("a SARIF log has an array `runs`"));
    }
    let mut document = Document::default();
    if let Some(notes) = bag(&log).and_then(|bag| serde_json::from_value(bag.get("notes")?.clone()).ok()) {
        document.notes = notes;
    }
    for run in items(&log, "/runs") {
        let rules = items(run, "/tool/driver/rules").iter().map(|rule| (text(rule, "/id"), rule)).collect();
        let run = Run { run, rules };
        let mut passed = 0;
        for result in items(run.run, "/results") {
            if ["pass", "notApplicable"].contains(&text(result, "/kind"))
                || text(result, "/baselineState") == "absent"
            {
                passed += 1;
            } else {
                let report = run.report(result, &mut document.notes);
                document.reports.push(report);
            }
        }
        if passed > 0 {
            document
                .notes
                .push(format!("{passed} results say that nothing is wrong (any more); they are left out"));
        }
    }
    Ok(document)
}

fn bag(value: &Value) -> Option<&Value> {
    value.get("properties")?.get(BAG)
}

struct Run<'a> {
    run: &'a Value,
    rules: HashMap<&'a str, &'a Value>,
}

impl Run<'_> {
    fn report(&self, result: &Value, notes: &mut Vec<String>) -> Report {
        let driver = &self.run["tool"]["driver"];
        let rule_value = self.rule(result);
        let id = [text(result, "/ruleId"), text(result, "/rule/id"), text(rule_value, "/id")];
        let paths = self.paths(result, notes);
        let mut report = Report {
            rule: id.into_iter().find(|id| !id.is_empty()).unwrap_or_default().to_owned(),
            severity: severity(result, rule_value),
            cwe: weaknesses(result, rule_value),
            tool: Tool {
                name: text(driver, "/name").to_owned(),
                version: some_text(driver, "/version").or_else(|| some_text(driver, "/semanticVersion")),
            },
            location: items(result, "/locations").first().and_then(|location| self.place(location)),
            related: items(result, "/relatedLocations")
                .iter()
                .map(|related| Related {
                    location: self.place(related).unwrap_or_default(),
                    message: plain(&self.message(&related["message"], rule_value)),
                })
                .collect(),
            suppressions: items(result, "/suppressions").iter().map(suppression).collect(),
            paths,
            ..Report::default()
        };
        for map in ["/partialFingerprints", "/fingerprints"] {
            if let Some(map) = result.pointer(map).and_then(Value::as_object) {
                let prints =
                    map.iter().filter_map(|(name, print)| Some((name.clone(), print.as_str()?.to_owned())));
                report.fingerprints.extend(prints);
            }
        }
        let message = self.message(&result["message"], rule_value);
        let linked = linked_text(&message, result);
        match bag(result).filter(|bag| bag["title"].is_string()) {
            Some(bag) => {
                report.title = text(bag, "/title").to_owned();
                if bag["text"] != false {
                    report.text = linked;
                }
            }
            None => {
                report.title = plain(&message).lines().next().unwrap_or_default().to_owned();
                if report.title.is_empty() {
                    report.title = some_text(rule_value, "/shortDescription/text")
                        .unwrap_or_else(|| report.rule.clone());
                }
                self.explain(&mut report, result, linked);
            }
        }
        report
    }

    /// Others' results: a place is a path of one step, and the text goes on to tell the steps.
    fn explain(&self, report: &mut Report, result: &Value, mut linked: Vec<Segment>) {
        if report.paths.is_empty()
            && let Some(location) = &report.location
        {
            let function = self.function(&result["locations"][0]).unwrap_or_default();
            report.paths.push(super::super::one_step(location.clone(), function, &report.title));
        }
        // clang writes a whole sentence for its version.
        if let Some((_, number)) =
            report.tool.version.as_deref().and_then(|text| text.split_once("clang version "))
        {
            report.tool.version = super::super::version_in(number);
        }
        report.narrate();
        let told = std::mem::take(&mut report.text).into_iter().skip(1);
        linked.extend(told);
        report.text = linked;
    }

    fn rule(&self, result: &Value) -> &Value {
        let rules = items(self.run, "/tool/driver/rules");
        let by_index = |index: Option<u32>| rules.get(index? as usize);
        let id = text(result, "/ruleId");
        by_index(number(result, "/ruleIndex"))
            .or_else(|| by_index(number(result, "/rule/index")))
            .or_else(|| self.rules.get(id).copied().filter(|_| !id.is_empty()))
            .unwrap_or(&Value::Null)
    }

    /// The text of a message: its own, or the rule's under its id, with the arguments put in.
    fn message(&self, message: &Value, rule: &Value) -> String {
        let arguments = items(message, "/arguments");
        let id = text(message, "/id");
        let own =
            [text(message, "/text"), text(message, "/markdown")].into_iter().find(|text| !text.is_empty());
        let looked_up = || {
            let strings = [rule.get("messageStrings"), self.run.pointer("/tool/driver/globalMessageStrings")];
            strings.into_iter().flatten().find_map(|strings| strings.get(id)?.get("text")?.as_str())
        };
        match own.or_else(looked_up) {
            Some(template) if !arguments.is_empty() => fill(template, arguments),
            Some(template) => template.to_owned(),
            None => String::new(),
        }
    }

    fn place(&self, location: &Value) -> Option<Location> {
        let physical = location.get("physicalLocation")?;
        let region = &physical["region"];
        let file = self.file(physical.get("artifactLocation")?)?;
        Some(Location {
            file,
            line: number(region, "/startLine"),
            column: number(region, "/startColumn"),
            end_line: number(region, "/endLine"),
            end_column: number(region, "/endColumn"),
        })
    }

    fn file(&self, artifact: &Value) -> Option<String> {
        let cached = || {
            let index = number(artifact, "/index")? as usize;
            items(self.run, "/artifacts").get(index)?.get("location")
        };
        let artifact = if artifact["uri"].is_string() { artifact } else { cached()? };
        let mut uri = artifact["uri"].as_str()?.to_owned();
        let mut base = text(artifact, "/uriBaseId");
        for _ in 0..BASE_CHAIN {
            let Some(definition) = self.run.pointer("/originalUriBaseIds").and_then(|bases| bases.get(base))
            else {
                break;
            };
            let prefix = text(definition, "/uri");
            if !prefix.is_empty() {
                let slash = if prefix.ends_with('/') { "" } else { "/" };
                uri = format!("{prefix}{slash}{uri}");
            }
            base = text(definition, "/uriBaseId");
        }
        Some(uri::decode(&uri))
    }

    fn function(&self, location: &Value) -> Option<String> {
        let logical = location.pointer("/logicalLocations/0")?;
        let cached = || items(self.run, "/logicalLocations").get(number(logical, "/index")? as usize);
        let named = |value: &Value| {
            let kind = text(value, "/kind");
            let fits = kind.is_empty() || ["function", "member", "method", "constructor"].contains(&kind);
            let name = || some_text(value, "/fullyQualifiedName").or_else(|| some_text(value, "/name"));
            if fits { name() } else { None }
        };
        named(logical).or_else(|| named(cached()?))
    }

    fn paths(&self, result: &Value, notes: &mut Vec<String>) -> Vec<Path> {
        let mut paths = Vec::new();
        for (flow, code_flow) in items(result, "/codeFlows").iter().enumerate() {
            let flow = bag(code_flow).and_then(|bag| number(bag, "/flow")).unwrap_or(flow as u32);
            let threads = items(code_flow, "/threadFlows");
            for thread in threads {
                let label = match plain(&self.message(&thread["message"], &Value::Null)) {
                    label if label.is_empty() && threads.len() > 1 && bag(thread).is_none() => {
                        some_text(thread, "/id").map_or(label, |id| format!("thread {id}"))
                    }
                    label => label,
                };
                let mut path = self.thread(thread, &label, notes);
                path.flow = flow;
                paths.push(path);
            }
        }
        for (index, stack) in items(result, "/stacks").iter().enumerate() {
            let mut path = self.stack(stack);
            path.flow = (items(result, "/codeFlows").len() + index) as u32;
            paths.push(path);
        }
        paths
    }

    fn thread(&self, thread: &Value, label: &str, notes: &mut Vec<String>) -> Path {
        let cached = items(self.run, "/threadFlowLocations");
        let locations = items(thread, "/locations").iter().map(|location| {
            let index = number(location, "/index").filter(|_| location.get("location").is_none());
            index.and_then(|index| cached.get(index as usize)).unwrap_or(location)
        });
        let ours = bag(thread);
        if let Some(path) = ours.and_then(|bag| self.own_thread(bag, label, locations.clone())) {
            return path;
        }
        let events = locations.map(|location| self.event(location)).collect();
        let mut path = flow::build(label, events);
        flow::ends_in_failure(&mut path);
        if path.was_cut() {
            notes.push(super::super::cut_note(&path));
        }
        path.finish()
    }

    /// A thread flow that we wrote: the frames are in the bag.
    fn own_thread<'v>(
        &self,
        own: &Value,
        label: &str,
        locations: impl Iterator<Item = &'v Value>,
    ) -> Option<Path> {
        let frames: Vec<Frame> = serde_json::from_value(own.get("frames")?.clone()).ok()?;
        let kind = if text(own, "/kind") == "stack" { PathKind::Stack } else { PathKind::Flow };
        let mut path = Path { label: label.to_owned(), kind, flow: 0, frames, steps: Vec::new() };
        if own["empty"] != true {
            for location in locations {
                let mut step = self.event(location).step;
                step.frame = bag(location)?.get("frame")?.as_u64()? as usize;
                path.steps.push(step);
            }
        }
        // Positions are put right only after reading, so they are no reason to distrust the frames.
        let shape = Path {
            steps: path.steps.iter().map(|step| Step { frame: step.frame, ..Step::default() }).collect(),
            ..path.clone()
        };
        shape.check().is_ok().then_some(path)
    }

    fn event(&self, value: &Value) -> Event {
        let location = &value["location"];
        let kinds: Vec<&str> = items(value, "/kinds").iter().filter_map(Value::as_str).collect();
        let is = |kind: &str| kinds.contains(&kind);
        let role = match () {
            () if is("call") => Role::Call,
            () if is("return") || is("exit") => Role::Return,
            () if is("enter") => Role::Entry,
            () if is("branch") => Role::Branch,
            () if is("memory") => Role::Access,
            () => Role::Note,
        };
        let mut step = Step::at(role, self.place(location));
        step.message = plain(&self.message(&location["message"], &Value::Null));
        step.taken = if is("true") {
            Some(true)
        } else if is("false") {
            Some(false)
        } else {
            None
        };
        step.failing = is("danger");
        step.order = value["executionOrder"].as_u64();
        if let Some(state) = value["state"].as_object() {
            let binding = |(name, value): (&String, &Value)| Binding {
                name: name.clone(),
                value: plain(value.as_str().unwrap_or(text(value, "/text"))),
            };
            step.values = state.iter().map(binding).collect();
        }
        if let Some(own) = bag(value) {
            let bindings = |name: &str| serde_json::from_value::<Vec<Binding>>(own.get(name)?.clone()).ok();
            if let Some((values, state)) = bindings("values").zip(bindings("state")) {
                (step.values, step.state) = (values, state);
            }
            step.access =
                own.get("access").and_then(|mode| serde_json::from_value::<AccessMode>(mode.clone()).ok());
        }
        let stack = items(value, "/stack/frames");
        let depth =
            value["nestingLevel"].as_i64().or_else(|| (!stack.is_empty()).then_some(stack.len() as i64));
        let function = self.function(location).or_else(|| self.function(&stack.first()?["location"]));
        Event { step, depth, function }
    }

    /// A stack, which SARIF lists from the innermost frame out.
    fn stack(&self, stack: &Value) -> Path {
        let mut path = PathBuilder::new(plain(&self.message(&stack["message"], &Value::Null)));
        path.describe(PathKind::Stack, 0);
        let frames = items(stack, "/frames");
        for (index, frame) in frames.iter().enumerate().rev() {
            let location = &frame["location"];
            let place = self.place(location);
            let file = place.as_ref().map_or(String::new(), |place| place.file.clone());
            path.enter(Frame::new(self.function(location).unwrap_or_default(), file));
            let role = if index == 0 { Role::Note } else { Role::Call };
            let words = plain(&self.message(&location["message"], &Value::Null));
            path.step(Step::at(role, place).with_message(words));
        }
        path.finish()
    }
}

/// A message without its links.
fn plain(message: &str) -> String {
    pieces(message).into_iter().map(|piece| piece.text).collect()
}

/// A message with its links, as far as they lead to something we keep.
fn linked_text(message: &str, result: &Value) -> Vec<Segment> {
    let related = items(result, "/relatedLocations").iter().enumerate();
    let related: HashMap<i64, usize> =
        related.rev().filter_map(|(index, place)| Some((place["id"].as_i64()?, index))).collect();
    let flows = items(result, "/codeFlows");
    // Our paths are SARIF's threads, counted through.
    let mut before = 0;
    let first_thread: Vec<usize> = flows
        .iter()
        .map(|flow| {
            let first = before;
            before += items(flow, "/threadFlows").len();
            first
        })
        .collect();
    let link = |target: &str| {
        if let Ok(id) = target.parse::<i64>() {
            return related.get(&id).copied().map(Link::Related);
        }
        if let Some(pointer) = target.strip_prefix("sarif:/runs/") {
            let parts: Vec<&str> = pointer.split('/').collect();
            if let [_, "results", _, "codeFlows", flow, "threadFlows", thread, "locations", step] = parts[..]
            {
                let path =
                    first_thread.get(flow.parse::<usize>().ok()?)?.checked_add(thread.parse().ok()?)?;
                return Some(Link::Step { path, step: step.parse().ok()? });
            }
            return None;
        }
        Some(Link::Url(target.to_owned()))
    };
    pieces(message)
        .into_iter()
        .map(|piece| Segment { link: piece.target.and_then(link), text: piece.text })
        .collect()
}

fn severity(result: &Value, rule: &Value) -> Severity {
    let level = [text(result, "/level"), text(rule, "/defaultConfiguration/level")];
    match level.into_iter().find(|level| !level.is_empty()) {
        Some("error") => Severity::Error,
        Some("note" | "none") => Severity::Note,
        _ if text(result, "/kind") == "informational" => Severity::Note,
        _ => Severity::Warning,
    }
}

/// CWE numbers, wherever tools put them: taxa, relationships, or tags such as `external/cwe/cwe-476`.
fn weaknesses(result: &Value, rule: &Value) -> Vec<u32> {
    let mut found = Vec::new();
    let taxa = items(result, "/taxa")
        .iter()
        .chain(items(rule, "/relationships").iter().filter_map(|relationship| relationship.get("target")));
    for taxon in taxa {
        let id = text(taxon, "/id");
        if text(taxon, "/toolComponent/name").eq_ignore_ascii_case("cwe")
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

fn suppression(value: &Value) -> Suppression {
    Suppression {
        in_source: text(value, "/kind") == "inSource",
        status: match [text(value, "/status"), text(value, "/state")]
            .into_iter()
            .find(|status| !status.is_empty())
        {
            Some("underReview") => SuppressionStatus::UnderReview,
            Some("rejected") => SuppressionStatus::Rejected,
            _ => SuppressionStatus::Accepted,
        },
        justification: text(value, "/justification").to_owned(),
    }
}
