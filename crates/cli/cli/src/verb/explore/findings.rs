//! What `parallax explore` found in C: each finding run again, and written as text, JSON and a path report.

use super::super::c_input::{input, shown};
use super::completeness;
use anyhow::{Context, Result};
use parallax_cexplore::Program;
use parallax_cexplore::confirm::{Replay, Verdict, replay};
use parallax_cexplore::explore::{Exploration, Finding, Relied, Settings};
use parallax_cexplore::native::{self, Native};
use parallax_cexplore::place::user_stack;
use parallax_cli_base::words::counted;
use parallax_cmodule::LocationId;
use parallax_report::{
    Document, Frame, Location, PathBuilder, Report, Role, Segment, Severity, Step as ReportStep, Tool,
};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// A finding with what running it said.
pub(super) struct Confirmed<'e> {
    finding: &'e Finding,
    replay: Replay,
    native: Native,
}

impl Confirmed<'_> {
    pub(super) fn verdict(&self) -> Verdict {
        Verdict::of(self.finding, &self.replay, &self.native)
    }
}

/// Runs every finding again, natively too if asked; the best confirmed first.
pub(super) fn confirmed<'e>(
    natively: bool,
    program: &Program,
    settings: &Settings,
    explored: &'e Exploration,
) -> Result<Vec<Confirmed<'e>>> {
    let folder = std::env::temp_dir().join(format!("parallax-native-{}", std::process::id()));
    let mut results = Vec::new();
    for finding in &explored.findings {
        let settings = &Settings { entry: finding.entry.clone(), ..settings.clone() };
        let replay = replay(program, finding, settings);
        let native = if !natively {
            Native::NotRun("not asked for".into())
        } else {
            std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
            native::confirm(program, finding, settings, &folder)
        };
        results.push(Confirmed { finding, replay, native });
    }
    results.sort_by_key(|confirmed| (confirmed.verdict(), !confirmed.finding.relied.is_empty()));
    // Nothing depends on the folder any more; if it cannot be removed, it is only in the way.
    let _ = std::fs::remove_dir_all(&folder);
    Ok(results)
}

/// Findings in the path model that every tool's reports share: the way there, call by call, as the replay took it.
pub(super) fn path_report(
    program: &Program,
    explored: &Exploration,
    findings: &[Confirmed<'_>],
    contracts: &[Finding],
) -> Document {
    let notes = notes(program, explored, findings, contracts);
    let mut document = Document { notes, ..Document::default() };
    for confirmed in findings {
        let finding = confirmed.finding;
        let relied =
            finding.relied.iter().map(|relied| format!(" Not where callers see to it that {relied}."));
        let relied: String = relied.collect();
        let (_, location) = innermost(program, finding);
        let place = program.module.location(location);
        let file = program.module.file_of(location);
        let mut path = PathBuilder::new("");
        let mut open: Vec<(&str, u32)> = Vec::new();
        for (index, step) in confirmed.replay.path.iter().enumerate() {
            // Each frame by its function and the line it was called from; those that two places share stay open.
            let called_from = step.callers.iter().map(|(_, _, line)| *line);
            let functions =
                step.callers.iter().map(|(function, _, _)| function.as_str()).chain([step.function.as_str()]);
            let wanted: Vec<(&str, u32)> = functions.zip([0].into_iter().chain(called_from)).collect();
            let shared = open.iter().zip(&wanted).take_while(|(a, b)| a == b).count();
            path.leave_to(shared);
            for (depth, (function, line)) in wanted.iter().enumerate().skip(shared) {
                if depth > 0 {
                    path.step(ReportStep::call(&step.callers[depth - 1].1, *line));
                }
                let file = step.callers.get(depth).map_or(&step.file, |(_, file, _)| file);
                path.enter(Frame::new(*function, file));
            }
            open = wanted;
            let mut shown = match step.taken {
                Some(taken) => ReportStep::new(Role::Branch, &step.file, step.line).with_taken(taken),
                None => ReportStep::new(Role::Note, &step.file, step.line),
            };
            for (name, value) in &step.values {
                shown = shown.with_value(name, value);
            }
            if index + 1 == confirmed.replay.path.len() {
                shown = shown.with_message(&finding.detail).failing();
            }
            path.step(shown);
        }
        document.reports.push(Report {
            rule: finding.problem.name().into(),
            title: format!("{}: {}", finding.problem.name(), finding.detail),
            text: vec![Segment::plain(match shown(&finding.input) {
                Some(input) => format!("{}{relied} Input: {input}", finding.detail),
                None => format!("{}{relied}", finding.detail),
            })],
            severity: if confirmed.replay.confirmed { Severity::Error } else { Severity::Warning },
            tool: Tool { name: "parallax explore".into(), version: Some(env!("CARGO_PKG_VERSION").into()) },
            location: Some(Location::line(file, place.line).at_column(place.column)),
            paths: vec![path.finish()],
            ..Report::default()
        });
    }
    document
}

/// What callers have to see to, in words: each contract once, with the first place that relies on it.
fn relied_on(contracts: &[Finding]) -> Vec<(&Relied, &Finding)> {
    let mut all: Vec<(&Relied, &Finding)> = Vec::new();
    for finding in contracts {
        for relied in &finding.relied {
            if all.iter().all(|(known, _)| *known != relied) {
                all.push((relied, finding));
            }
        }
    }
    all
}

/// Where something goes wrong in the user's own code, and in which function the text there is.
fn innermost<'p>(program: &'p Program, finding: &Finding) -> (&'p str, LocationId) {
    user_stack(&program.module, &finding.stack).next().unwrap_or_default()
}

/// The JSON document.
pub(super) fn document(
    program: &Program,
    explored: &Exploration,
    findings: &[Confirmed<'_>],
    contracts: &[Finding],
) -> Value {
    let contracts: Vec<Value> = relied_on(contracts)
        .into_iter()
        .map(|(relied, finding)| {
            let (function, location) = innermost(program, finding);
            json!({
                "kind": relied.name(),
                "message": relied.to_string(),
                "otherwise": finding.problem.name(),
                "file": program.module.file_of(location),
                "line": program.module.location(location).line,
                "function": function,
            })
        })
        .collect();
    let findings: Vec<Value> = findings
        .iter()
        .map(|confirmed| {
            let finding = confirmed.finding;
            let (function, location) = innermost(program, finding);
            let place = program.module.location(location);
            json!({
                "kind": finding.problem.name(),
                "message": finding.detail,
                "file": program.module.file_of(location),
                "line": place.line,
                "column": place.column,
                "function": function,
                "verdict": confirmed.verdict().name(),
                "confirmed": confirmed.verdict() == Verdict::Confirmed,
                "replay": confirmed.replay.confirmed,
                "native": match &confirmed.native {
                    Native::Confirmed => json!("confirmed"),
                    Native::Differs(words) => json!(format!("differs: {words}")),
                    Native::Unseen(words) => json!(format!("unseen: {words}")),
                    Native::NotRun(words) => json!(format!("not run: {words}")),
                },
                "relies_on": finding.relied.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "input": input(&finding.input),
                "path": confirmed.replay.path.iter().map(|step| json!({
                    "function": step.function, "file": step.file, "line": step.line, "taken": step.taken,
                    "values": step.values.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
                })).collect::<Vec<_>>(),
            })
        })
        .collect();
    let coverage = explored.coverage;
    let mut document = json!({
        "findings": findings,
        "jail": super::super::walls::document(program.jail),
        "contracts": contracts,
        "paths": explored.paths,
        "complete": explored.completeness.is_complete(),
        "bounds": completeness::bounds(&explored.completeness),
        "assumptions": completeness::premises(&explored.completeness),
        "coverage": {
            "lines": coverage.lines, "lines_covered": coverage.lines_covered,
            "branches": coverage.branches, "branches_covered": coverage.branches_covered,
            "branches_undecided": coverage.branches_undecided,
        },
        "instructions": explored.steps,
        "queries": explored.queries,
    });
    if let Some(built) = &program.built {
        document["build"] = super::super::c_build::document(built);
    }
    document
}

/// The text.
pub(super) fn print(
    out: &mut impl Write,
    program: &Program,
    explored: &Exploration,
    findings: &[Confirmed<'_>],
    contracts: &[Finding],
) -> Result<()> {
    for confirmed in findings {
        let finding = confirmed.finding;
        writeln!(out, "{}: {}", finding.problem.name(), finding.detail)?;
        for (depth, (function, at)) in user_stack(&program.module, &finding.stack).enumerate() {
            let (file, place) = (program.module.file_of(at), program.module.location(at));
            if depth > 0 && !super::entered::is_harness(file) {
                writeln!(out, "   = called from {function}, {file}:{}", place.line)?;
            }
            if depth > 0 {
                continue;
            }
            writeln!(out, "  --> {file}:{}:{} in {function}", place.line, place.column)?;
            if let Some(line) = source_line(file, place.line) {
                writeln!(out, "   |  {}", line.trim_end())?;
            }
        }
        if let Some(input) = shown(&finding.input) {
            writeln!(out, "   = input: {input}")?;
        }
        for relied in &finding.relied {
            writeln!(out, "   = not where callers see to it that {relied}")?;
        }
        let native = match &confirmed.native {
            Native::Confirmed => "natively too".to_string(),
            Native::Differs(words) => format!("but natively: {words}"),
            Native::Unseen(words) => format!("natively unseen: {words}"),
            Native::NotRun(words) => format!("not natively: {words}"),
        };
        let concrete = match (confirmed.verdict(), confirmed.replay.confirmed) {
            (Verdict::Guessed, _) => "happens in the replay",
            (_, true) => "confirmed by replay",
            (_, false) => "UNCONFIRMED by replay",
        };
        writeln!(out, "   = {concrete}, {native}\n")?;
    }
    let coverage = explored.coverage;
    writeln!(
        out,
        "{}, {}, {} of {} lines and {} of {} branches covered{}",
        counted(findings.len(), "finding"),
        counted(explored.paths, "path"),
        coverage.lines_covered,
        coverage.lines,
        coverage.branches_covered,
        coverage.branches,
        match coverage.branches_undecided {
            0 => String::new(),
            undecided => format!(", {undecided} undecided"),
        }
    )?;
    for line in notes(program, explored, findings, contracts) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// What the findings rest on and what they leave open, a line each: contracts, premises, and what was left out. Text and
/// reports say it in these words.
pub(super) fn notes(
    program: &Program,
    explored: &Exploration,
    findings: &[Confirmed<'_>],
    contracts: &[Finding],
) -> Vec<String> {
    let relied = relied_on(contracts).into_iter().map(|(relied, finding)| {
        let (function, location) = innermost(program, finding);
        let (file, line) = (program.module.file_of(location), program.module.location(location).line);
        let kind = finding.problem.name();
        format!("relied on: {relied} (otherwise {kind} at {file}:{line} in {function})")
    });
    let mut notes: Vec<String> = relied.collect();
    notes.extend(explored.completeness.lines("every path was explored"));
    match findings.first().map(Confirmed::verdict) {
        None | Some(Verdict::Confirmed) => {}
        Some(Verdict::Guessed) => {
            let words = "findings rest on guesses of what code without a model returns, and on nothing else";
            notes.push(format!("INCOMPLETE: {words}"));
        }
        Some(_) => notes.push("INCOMPLETE: running the inputs confirms none of the findings".into()),
    }
    notes
}

fn source_line(file: &str, line: u32) -> Option<String> {
    let text = parallax_cread::source_text(Path::new(file))?;
    text.lines().nth(line.checked_sub(1)? as usize).map(str::to_string)
}
