//! A SARIF log as a document, whoever wrote it.

use super::message::{fill, pieces};
use super::normal::normalise;
use super::{BAG, NO_RULE};
use crate::flow::{self, Event};
use crate::read::Fault;
use crate::value::{items, number, some_text, text, whole};
use crate::{
    AccessMode, Baseline, Binding, Document, Excerpt, Frame, Importance, Link, Path, PathBuilder, PathKind,
    Related, Report, Role, Segment, Step, Suppression, SuppressionStatus, Tool,
};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(crate) fn parse(source: &str) -> Result<Document, Fault> {
    match serde_json::from_str(source)? {
        // Some collect the logs of several tools in a list.
        Value::Array(logs) => {
            let mut document = Document::default();
            for log in logs {
                document.absorb(read_log(log)?);
            }
            Ok(document)
        }
        log => read_log(log),
    }
}

fn read_log(log: Value) -> Result<Document, Fault> {
    let version = text(&log, "/version");
    if !version.is_empty() && !version.starts_with("2.") {
        return Err(Fault::new(format!("SARIF {version}; this version reads 2.1.0")));
    }
    let mut odd = Vec::new();
    let mut log = normalise(log, &mut odd);
    if !log.get("runs").is_some_and(Value::is_array) {
        return Err(Fault::new("a SARIF log has an array `runs`"));
    }
    let mut properties = log["properties"].as_object().cloned().unwrap_or_default();
    properties.remove(BAG);
    let mut document = Document { properties, ..Document::default() };
    if let Some(notes) = bag(&log).and_then(|bag| serde_json::from_value(bag.get("notes")?.clone()).ok()) {
        document.notes = notes;
    }
    document.notes.extend(odd);
    if let Some(own) = bag(&log).and_then(|bag| serde_json::from_value(bag.get("excerpts")?.clone()).ok()) {
        document.excerpts = own;
    }
    let runs = log["runs"].as_array_mut().map(std::mem::take).unwrap_or_default();
    for mut run in runs {
        // A run that we made up holds nothing that the model does not.
        let made = bag(&run).is_some_and(|bag| bag["made"] == true);
        let all = run.get_mut("results").and_then(Value::as_array_mut).map(std::mem::take);
        let all = all.unwrap_or_default().into_iter();
        let (results, inapplicable): (Vec<Value>, Vec<Value>) =
            all.partition(|result| text(result, "/kind") != "notApplicable");
        if let Some(rest) = run.get_mut("results") {
            *rest = inapplicable.into();
        }
        let index = (!made).then_some(document.runs.len());
        let reader = Run::new(&run);
        reader.tell_failures(&mut document.notes);
        for result in results {
            let mut report = reader.report(&result, &mut document.notes);
            document.rules.extend(reader.described(&result, &report));
            report.run = index;
            if let (false, Value::Object(result)) = (made, result) {
                report.extra = result;
            }
            document.reports.push(report);
        }
        document.notes.extend(reader.asides());
        document.excerpts.extend(reader.excerpts());
        document.runs.extend((!made).then_some(run));
    }
    Ok(document)
}

pub(super) fn bag(value: &Value) -> Option<&Value> {
    value.get("properties")?.get(BAG)
}

/// Whether the id of the result's rule is the one that we wrote because there is none.
pub(super) fn stands_in(result: &Value) -> bool {
    text(result, "/ruleId") == NO_RULE && bag(result).is_some_and(|bag| bag["rule"] == false)
}

pub(super) struct Run<'a> {
    pub run: &'a Value,
    /// By id, over all components.
    pub rules: HashMap<&'a str, &'a Value>,
    /// Whole files that the log holds, by name.
    pub contents: HashMap<String, &'a str>,
    /// The lines of those files whose columns had to be counted.
    pub lines: RefCell<HashMap<String, Vec<&'a str>>>,
    /// Whether columns count on screen, where tabs are spread.
    pub spread: bool,
    /// What the log quotes of other files.
    pub snippets: RefCell<BTreeSet<Excerpt>>,
    /// How many places could not be told because they are offsets into files that are not there.
    pub unresolved: Cell<usize>,
    /// How many code flows hold nothing that could be shown.
    pub flat: Cell<usize>,
    /// Files with positions that are none, such as line 0, and how the first of them is written.
    pub misplaced: RefCell<BTreeMap<String, String>>,
    /// Base ids that lead back to themselves, or on and on.
    pub endless: RefCell<BTreeSet<String>>,
}

impl<'a> Run<'a> {
    pub(super) fn new(run: &'a Value) -> Self {
        let mut rules = HashMap::new();
        for rule in Self::components(run).flat_map(|component| items(component, "/rules")) {
            rules.entry(text(rule, "/id")).or_insert(rule);
        }
        let mut run = Run {
            run,
            rules,
            contents: HashMap::new(),
            lines: RefCell::default(),
            spread: counts_on_screen(&run["tool"]["driver"]),
            snippets: RefCell::default(),
            unresolved: Cell::new(0),
            flat: Cell::new(0),
            misplaced: RefCell::default(),
            endless: RefCell::default(),
        };
        run.collect_contents();
        run
    }

    /// What is not shown of the run, or not known, after its results were read.
    pub(super) fn asides(&self) -> Vec<String> {
        let inapplicable = items(self.run, "/results").len();
        let unresolved = self.unresolved.get();
        let flat = self.flat.get();
        let told = [
            (
                inapplicable,
                format!("{inapplicable} results say that their rule does not apply; they are left out"),
            ),
            (
                unresolved,
                format!(
                    "{unresolved} places are given as offsets into files that the log does not hold; their lines are not known"
                ),
            ),
            (flat, format!("{flat} code flows have no thread flows, so no path is shown for them")),
        ];
        let told = told.into_iter().filter(|(count, _)| *count > 0).map(|(_, note)| note);
        let misplaced = self.misplaced.borrow();
        let misplaced = misplaced.first_key_value().map(|(file, written)| {
            let files = misplaced.len();
            format!("{files} files have positions that are none, such as {written} in {file:?}; those are not known")
        });
        let endless = self.endless.borrow();
        let endless = endless.iter().map(|base| {
            format!(
                "the base id {base:?} leads to no end; each base on the way to it is put before the file once"
            )
        });
        told.chain(misplaced).chain(endless).collect()
    }

    pub(super) fn excerpts(self) -> impl Iterator<Item = Excerpt> {
        let whole =
            self.contents.into_iter().map(|(file, text)| Excerpt { file, line: 1, text: text.to_owned() });
        whole.chain(self.snippets.into_inner())
    }

    pub(super) fn report(&self, result: &Value, notes: &mut Vec<String>) -> Report {
        let driver = &self.run["tool"]["driver"];
        let rule_value = self.rule(result);
        let id = [text(result, "/ruleId"), text(result, "/rule/id"), text(rule_value, "/id")];
        let paths = self.paths(result, notes);
        let mut report = Report {
            rule: id
                .into_iter()
                .find(|id| !id.is_empty())
                .filter(|_| !stands_in(result))
                .unwrap_or_default()
                .to_owned(),
            severity: self.severity(result, rule_value),
            cwe: self.weaknesses(result, rule_value),
            tool: Tool { name: text(driver, "/name").to_owned(), version: version(driver) },
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
            passed: text(result, "/kind") == "pass",
            fixes: self.fixes(result),
            rank: result["rank"].as_number().filter(|rank| rank.as_f64() >= Some(0.0)).cloned(),
            occurrences: number(result, "/occurrenceCount"),
            baseline: match text(result, "/baselineState") {
                "new" => Some(Baseline::New),
                "unchanged" => Some(Baseline::Unchanged),
                "updated" => Some(Baseline::Updated),
                "absent" => Some(Baseline::Absent),
                _ => None,
            },
            markdown: self.markdown(&result["message"], rule_value),
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

    /// Others' results: a place is a path of one step.
    fn explain(&self, report: &mut Report, result: &Value, linked: Vec<Segment>) {
        let function = self.function(&result["locations"][0]);
        if report.paths.is_empty() && (report.location.is_some() || function.is_some()) {
            let function = function.unwrap_or_default();
            report.paths.push(super::super::one_step(report.location.clone(), function, &report.title));
        }
        // Further places of the same result.
        for location in items(result, "/locations").iter().skip(1) {
            if let Some(place) = self.place(location) {
                let message = plain(&self.message(&location["message"], &Value::Null));
                let message = if message.is_empty() { "also here".to_owned() } else { message };
                report.related.push(Related { location: place, message });
            }
        }
        report.text = linked;
    }

    /// The text of a message: its own, or the rule's under its id, with the arguments put in.
    pub(super) fn message(&self, message: &Value, rule: &Value) -> String {
        let arguments = items(message, "/arguments");
        let id = text(message, "/id");
        // Some write the words alone where the standard wants an object around them.
        let words =
            [message.as_str().unwrap_or_default(), text(message, "/text"), text(message, "/markdown")];
        let own = words.into_iter().find(|text| !text.is_empty());
        let looked_up = || {
            let global =
                Self::components(self.run).filter_map(|component| component.get("globalMessageStrings"));
            rule.get("messageStrings")
                .into_iter()
                .chain(global)
                .find_map(|strings| strings.get(id)?.get("text")?.as_str())
        };
        match own.or_else(looked_up) {
            Some(template) if !arguments.is_empty() => fill(template, arguments),
            Some(template) => template.to_owned(),
            None => String::new(),
        }
    }

    /// The Markdown of a message: its own, or the rule's under its id, with the arguments put in.
    fn markdown(&self, message: &Value, rule: &Value) -> String {
        let own = some_text(message, "/markdown");
        let markdown = own.or_else(|| {
            let strings = rule.get("messageStrings").filter(|_| message.get("text").is_none())?;
            some_text(strings.get(text(message, "/id"))?, "/markdown")
        });
        let markdown = markdown.unwrap_or_default();
        match items(message, "/arguments") {
            [] => markdown,
            arguments => fill(&markdown, arguments),
        }
    }

    fn paths(&self, result: &Value, notes: &mut Vec<String>) -> Vec<Path> {
        let mut paths = Vec::new();
        for (flow, code_flow) in items(result, "/codeFlows").iter().enumerate() {
            let flow = bag(code_flow).and_then(|bag| number(bag, "/flow")).unwrap_or(flow as u32);
            let threads = threads(code_flow);
            self.flat.set(self.flat.get() + usize::from(threads.is_empty()));
            for thread in threads {
                let own = plain(&self.message(&thread["message"], &Value::Null));
                let around = match std::ptr::eq(thread, code_flow) {
                    true => String::new(),
                    false => plain(&self.message(&code_flow["message"], &Value::Null)),
                };
                let label = match own {
                    own if bag(thread).is_some() => own,
                    own if !own.is_empty() && !around.is_empty() => format!("{around}: {own}"),
                    own if !own.is_empty() => own,
                    _ if threads.len() > 1 && thread["id"].is_string() => {
                        let gap = if around.is_empty() { "" } else { ": " };
                        format!("{around}{gap}thread {}", text(thread, "/id"))
                    }
                    _ => around,
                };
                let mut path = self.thread(thread, &label, notes);
                // What holds at the start is told at the first step.
                if let Some(first) = path.steps.first_mut() {
                    for known in
                        [&thread["initialState"], &thread["immutableState"]].into_iter().flat_map(state)
                    {
                        if !first.values.iter().any(|value| value.name == known.name) {
                            first.values.push(known);
                        }
                    }
                }
                path.thread = text(thread, "/id").to_owned();
                path.flow = flow;
                paths.push(path);
            }
        }
        for (index, stack) in items(result, "/stacks").iter().enumerate() {
            let mut path = self.stack(stack);
            path.flow = (items(result, "/codeFlows").len() + index) as u32;
            paths.push(path);
        }
        let before = items(result, "/codeFlows").len() + items(result, "/stacks").len();
        for (index, mut path) in self.traversals(result).into_iter().enumerate() {
            path.flow = (before + index) as u32;
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
        let mut path = Path { label: label.to_owned(), kind, frames, ..Path::default() };
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
            // Getting memory and giving it back is no access to it.
            () if is("memory") && !is("acquire") && !is("release") => Role::Access,
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
        let order = &value["executionOrder"];
        step.order = order.as_u64().or_else(|| u64::try_from(whole(order)?).ok());
        let times =
            ["/executionTimeUtc", "/executionTimeOffset"].into_iter().find_map(|at| value.pointer(at));
        step.time = match times {
            Some(Value::String(time)) => time.clone(),
            Some(Value::Number(time)) => time.to_string(),
            _ => String::new(),
        };
        step.importance = match text(value, "/importance") {
            "essential" => Importance::Essential,
            "unimportant" => Importance::Unimportant,
            _ => Importance::Important,
        };
        step.values = state(&value["state"]);
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
            whole(&value["nestingLevel"]).or_else(|| (!stack.is_empty()).then_some(stack.len() as i64));
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

/// The threads of a code flow; none where no step is in them. Drafts of the standard had the steps of the only thread in
/// the flow itself.
fn threads(code_flow: &Value) -> &[Value] {
    let threads = match items(code_flow, "/threadFlows") {
        [] => std::slice::from_ref(code_flow),
        threads => threads,
    };
    let empty = threads.iter().all(|thread| items(thread, "/locations").is_empty());
    if empty { &[] } else { threads }
}

/// Whether the tool is a gcc that is known to count columns on screen.
fn counts_on_screen(driver: &Value) -> bool {
    let major = version(driver).and_then(|version| version.split('.').next()?.parse::<u32>().ok());
    text(driver, "/name").starts_with("GNU ") && major.is_some_and(|major| (13..=15).contains(&major))
}

/// The tool's version; clang writes a whole sentence for it.
fn version(driver: &Value) -> Option<String> {
    let version = some_text(driver, "/version").or_else(|| some_text(driver, "/semanticVersion"))?;
    let number =
        version.split_once("clang version ").and_then(|(_, number)| super::super::version_in(number));
    Some(number.unwrap_or(version))
}

/// What is known at a place, by name.
pub(super) fn state(map: &Value) -> Vec<Binding> {
    let binding = |(name, value): (&String, &Value)| Binding {
        name: name.clone(),
        value: plain(value.as_str().unwrap_or(text(value, "/text"))),
    };
    map.as_object().into_iter().flatten().map(binding).collect()
}

/// A message without its links.
pub(super) fn plain(message: &str) -> String {
    pieces(message).into_iter().map(|piece| piece.text).collect()
}

/// A message with its links, as far as they lead to something we keep.
fn linked_text(message: &str, result: &Value) -> Vec<Segment> {
    let flows = items(result, "/codeFlows");
    // Our paths are SARIF's threads, counted through.
    let mut before = 0;
    let first_thread: Vec<usize> = flows
        .iter()
        .map(|flow| {
            let first = before;
            before += threads(flow).len();
            first
        })
        .collect();
    // A number means the location with that id, wherever in the result it stands.
    let mut by_id: HashMap<i64, Link> = HashMap::new();
    for (path, thread) in flows.iter().flat_map(threads).enumerate() {
        for (step, location) in items(thread, "/locations").iter().enumerate() {
            if let Some(id) = location["location"]["id"].as_i64() {
                by_id.entry(id).or_insert(Link::Step { path, step });
            }
        }
    }
    for (index, place) in items(result, "/relatedLocations").iter().enumerate().rev() {
        if let Some(id) = place["id"].as_i64() {
            by_id.insert(id, Link::Related(index));
        }
    }
    let link = |target: &str| {
        if let Ok(id) = target.parse::<i64>() {
            return by_id.get(&id).cloned();
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
