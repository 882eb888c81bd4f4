//! `parallax check`: null errors in whole C programs.

mod baseline;
mod config;
mod print;

use super::c_build;
use super::c_input;
use super::c_sources::CSources;
use super::changed::{Functions, Lines};
use super::plain::{Plain, plain};
use anyhow::{Context, Result};
use baseline::{Baseline, Compared};
use clap::{Args, ValueEnum};
use config::{Config, Table};
use parallax_cexplore::Program;
use parallax_cli_base::exit::Status;
use parallax_cli_base::report_file;
use parallax_cli_base::words::counted;
use parallax_cread::Kept;
use parallax_mixy::{Finding, Mode, Report, Settings, Sinks, Step, caller, confirm, output};
use serde::Deserialize;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Find null errors in a C program.
///
/// An error is where null is dereferenced, or reaches what must not be null.
#[derive(Args)]
#[command(after_help = "\
Examples:
  parallax check corpus/c/mixy/id.c
  parallax check compile_commands.json --report null.sarif
  parallax check corpus/c/mixy/id.c --sinks annotated --json
  parallax check compile_commands.json --json > base.json; parallax check compile_commands.json --baseline base.json

Null flows from NULL, from memory that is zero, from _Nullable, and from library functions that may return it; it must
not be dereferenced, nor reach _Nonnull or nonnull. Functions marked MIX(symbolic) with <parallax.h>, or named by
--symbolic, are executed symbolically; the rest is typed. Unless --no-refine is given, functions with warnings are
executed too, to refute them, and the program from its start, to confirm them. A finding is confirmed (an input shows it),
likely (null comes from near by, and nothing on the way is tested) or possible (not decided; --all prints these). What was
assumed and what was left out is part of the answer. Exit status: 0 nothing found, 1 something confirmed or likely, 4 only
possible findings, or something was left out; with --baseline only what is new counts.")]
pub struct Check {
    #[command(flatten)]
    sources: CSources,
    /// Where the program starts [default: main].
    #[arg(long, value_name = "FUNCTION")]
    entry: Option<String>,
    /// What must not be null [default: deref].
    #[arg(long, value_enum)]
    sinks: Option<Which>,
    /// How the entry is analysed, unless it is marked.
    #[arg(long, value_enum, default_value_t = Start::Typed)]
    start: Start,
    /// Execute this function symbolically; repeat for more.
    #[arg(long, value_name = "FUNCTION")]
    symbolic: Vec<String>,
    /// Analyse this function by qualifier inference; repeat for more.
    #[arg(long, value_name = "FUNCTION")]
    typed: Vec<String>,
    /// Only the blocks that are marked: do not look for functions whose execution refutes warnings, and run nothing.
    #[arg(long)]
    no_refine: bool,
    /// As the paper did it, for tables beside its own: constraints without direction, one qualifier for a field of all structures of
    /// a type, NULL as the only source, declared positions as the only sinks, and the blocks that are marked. Not for finding errors.
    #[arg(long, conflicts_with_all = ["sinks", "refine_time"])]
    paper: bool,
    /// Seconds to look for such functions [default: 20].
    #[arg(long, value_name = "SECONDS")]
    refine_time: Option<u64>,
    /// Seconds to explore the program from its start for inputs that confirm findings; 0: do not.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    confirm_time: u64,
    /// Do not run such inputs natively.
    #[arg(long)]
    no_native: bool,
    /// Ways to show for one finding.
    #[arg(long, value_name = "N", default_value_t = 1)]
    paths: usize,
    /// Print possible findings too, the nearest first. Without it they are counted, and it is told where null comes from; files
    /// and --json have them in any case.
    #[arg(long)]
    all: bool,
    /// Write the findings and their ways: a page (.html), SARIF (.sarif), a summary in Markdown (.md), pathreport XML (.xml) or
    /// Parallax JSON (.json); repeat for more.
    #[arg(long, value_name = "FILE")]
    report: Vec<PathBuf>,
    /// Write a page with the findings and their ways, to be opened in a browser.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// What an earlier run printed with --json: only findings that are not in it count.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Report only what passes through a function whose code, or the code of what it calls, is another one than in this revision
    /// of git.
    #[arg(long, value_name = "REVISION")]
    changed_since: Option<String>,
    /// What the project wants: entry, sinks, blocks, models, suppressions [default: parallax.toml, if it is there].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Which {
    /// What is declared never to be null.
    Annotated,
    /// That, and every dereference.
    Deref,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Start {
    /// By qualifier inference.
    Typed,
    /// By symbolic execution.
    Symbolic,
}

/// How many ways to one finding are kept.
const WAYS: usize = 8;

impl Check {
    /// Settings: flags first, then what the project's file says.
    fn settings(&self, table: &Table) -> Settings {
        let both = |flags: &[String], file: &[String]| flags.iter().chain(file).cloned().collect();
        let time = self.refine_time.or(table.refine_time).unwrap_or(20);
        Settings {
            sinks: match self.sinks.or(table.sinks).unwrap_or(Which::Deref) {
                _ if self.paper => Sinks::Annotated,
                Which::Annotated => Sinks::Annotated,
                Which::Deref => Sinks::Deref,
            },
            entry: self.entry.clone().or(table.entry.clone()).unwrap_or_else(|| "main".into()),
            start: match self.start {
                Start::Typed => Mode::Typed,
                Start::Symbolic => Mode::Symbolic,
            },
            symbolic: both(&self.symbolic, &table.symbolic),
            typed: both(&self.typed, &table.typed),
            // Files have room for all of them, and the run that confirms a finding says which comes first.
            paths: WAYS,
            refine: (!self.no_refine && !self.paper).then(|| Duration::from_secs(time)),
            paper: self.paper,
            ..Settings::default()
        }
    }

    /// Explores the program from its start, for inputs that show findings.
    fn confirm(&self, program: &Program, settings: &Settings, report: &mut Report) -> Result<()> {
        if self.no_refine || self.paper || self.confirm_time == 0 || settings.entry != "main" {
            return Ok(());
        }
        let folder = std::env::temp_dir().join(format!("parallax-check-{}", std::process::id()));
        if !self.no_native {
            std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let native = (!self.no_native).then_some(folder.as_path());
        confirm::confirm(program, report, Duration::from_secs(self.confirm_time), native);
        // Nothing depends on the folder any more; if it cannot be removed, it is only in the way.
        let _ = std::fs::remove_dir_all(&folder);
        Ok(())
    }
}

/// A program with what was found in it.
pub struct Checked {
    /// What it is called among the programs of a project.
    pub name: String,
    /// The program.
    pub program: Program,
    /// What was found.
    pub report: Report,
    /// Fingerprints of findings that --changed-since left out.
    unchanged: Vec<String>,
    /// Where work was kept.
    kept: Option<Arc<Kept>>,
}

/// Checks each program of a project.
pub fn checked(arguments: &Check, without_main: WithoutMain) -> Result<Vec<Checked>> {
    let config = Config::read(arguments.config.as_deref())?;
    let mut sources = arguments.sources.clone();
    sources.files.extend(config.check.models.iter().cloned());
    let project = sources.project()?;
    let mut all = Vec::new();
    for member in &project.members {
        let mut checked = one(arguments, &config, sources.member(&project, member)?, without_main)?;
        checked.name = member.name.clone();
        let rest = project.rest.iter().map(|file| format!("{} is part of no program", file.display()));
        checked.report.gaps.extend(rest);
        all.push(checked);
    }
    Ok(all)
}

/// What becomes of files without a `main`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutMain {
    /// They are a library: it is checked from each function that others can see.
    Library,
    /// They are a part of a program that is not known: an error.
    Part,
}

fn one(
    arguments: &Check,
    config: &Config,
    mut program: Program,
    without_main: WithoutMain,
) -> Result<Checked> {
    let kept = program.kept.clone();
    program.annotate()?;
    let changed = match &arguments.changed_since {
        Some(revision) => Some(Lines::since(revision, &program)?),
        None => None,
    };
    let mut settings = arguments.settings(&config.check);
    let chosen = arguments.entry.is_some() || config.check.entry.is_some();
    let is_library = !chosen && program.module.function_named("main").is_none();
    let mut assumption = None;
    if is_library && without_main == WithoutMain::Library {
        let called = caller::add_caller(&mut program.module);
        settings.entry = caller::CALLER.into();
        settings.typed.push(caller::CALLER.into());
        let functions = counted(called, "function");
        assumption = Some(format!(
            "there is no main: checked from {functions} that others can call, with arguments that are not null"
        ));
    }
    // All its errors are bad input, as errors without a status are.
    let mut report = parallax_mixy::check(&program.module, &settings)?;
    report.assumptions.extend(assumption);
    arguments.confirm(&program, &settings, &mut report)?;
    suppress(&program, &config.check, &mut report);
    let unchanged = match changed {
        Some(changed) => leave_out_unchanged(&program, changed, &mut report),
        None => Vec::new(),
    };
    Ok(Checked { name: String::new(), program, report, unchanged, kept })
}

/// How the project wants its program explored in an editor, if it does, and what it is made of then.
pub fn explored(arguments: &Check) -> Result<Option<(CSources, Vec<String>)>> {
    let config = Config::read(arguments.config.as_deref())?;
    let mut sources = arguments.sources.clone();
    sources.files.extend(config.check.models.iter().cloned());
    Ok(config.lsp.explore.map(|wanted| (sources, wanted.words())))
}

/// Does it.
pub fn run(arguments: &Check) -> Result<Status> {
    let baseline = arguments.baseline.as_deref().map(Baseline::read).transpose()?;
    let all = checked(arguments, WithoutMain::Library)?;
    write_reports(arguments, &all)?;
    let mut out = std::io::stdout().lock();
    let mut documents = Vec::new();
    let mut worst = Status::Clean;
    for Checked { name, program, report, unchanged, kept } in &all {
        let prints = output::fingerprints(&program.module, report);
        let compared = baseline.as_ref().map(|baseline| baseline.compare(&prints, unchanged, &report.gaps));
        if arguments.json {
            documents.push(document(name, program, report, kept.as_deref(), compared.as_ref()));
        } else {
            if all.len() > 1 {
                writeln!(out, "program {}\n", plain(name))?;
            }
            let shown = print::Shown { paths: arguments.paths.max(1), possible: arguments.all };
            print::print(&mut Plain(&mut out), program, report, shown, compared.as_ref())?;
            if all.len() > 1 {
                writeln!(out)?;
            }
        }
        worst = match (worst, status(report, compared.as_ref())) {
            (Status::Findings, _) | (_, Status::Findings) => Status::Findings,
            (Status::Clean, own) => own,
            (worst, _) => worst,
        };
    }
    if arguments.json {
        let whole = match documents.len() {
            1 => documents.remove(0),
            _ => serde_json::json!({ "programs": documents }),
        };
        writeln!(out, "{whole:#}")?;
    }
    Ok(worst)
}

/// Writes the files that are asked for; programs of one project stand in one report.
fn write_reports(arguments: &Check, all: &[Checked]) -> Result<()> {
    for file in arguments.report.iter().chain(&arguments.html) {
        let mut whole = output::Document::default();
        for Checked { program, report, .. } in all {
            let mut more = output::document(&program.module, report);
            whole.reports.append(&mut more.reports);
            whole.notes.append(&mut more.notes);
        }
        let folders = all.iter().flat_map(|checked| c_build::folders(&checked.program)).collect();
        let title = all.first().map_or("", |checked| checked.program.module.name.as_str());
        report_file::save(file, whole, folders, title)?;
    }
    Ok(())
}

/// The answer for one program, as JSON.
fn document(
    name: &str,
    program: &Program,
    report: &Report,
    kept: Option<&Kept>,
    compared: Option<&Compared>,
) -> Value {
    let mut document = output::json(&program.module, report, &c_input::input);
    document["program"] = name.into();
    document["jail"] = super::walls::document(program.jail);
    if let Some(built) = &program.built {
        document["build"] = c_build::document(built);
    }
    if let Some(counts) = kept.map(Kept::counts) {
        document["kept"] = serde_json::json!({ "found": counts.found, "made": counts.made });
    }
    if let Some(compared) = compared {
        for (number, new) in compared.new.iter().enumerate() {
            document["findings"][number]["new"] = (*new).into();
        }
        let new = compared.new.iter().filter(|new| **new).count();
        document["baseline"] =
            serde_json::json!({ "new": new, "gone": compared.gone, "new_gaps": compared.gaps });
    }
    document
}

/// Findings are what is confirmed or likely. What is only possible is not decided, and so is what was left out: neither is clean.
/// With a baseline, only what is new counts.
fn status(report: &Report, compared: Option<&Compared>) -> Status {
    let counts = |number: usize| compared.is_none_or(|compared| compared.new[number]);
    let found = |shown: bool| {
        let mut all = report.findings.iter().enumerate();
        all.any(|(number, finding)| counts(number) && finding.status.is_shown() == shown)
    };
    let gaps = compared.map_or(report.gaps.len(), |compared| compared.gaps);
    match (found(true), found(false) || gaps > 0) {
        (true, _) => Status::Findings,
        (false, false) => Status::Clean,
        (false, true) => Status::GaveUp,
    }
}

/// Takes out what the project has looked at and accepted.
fn suppress(program: &Program, table: &Table, report: &mut Report) {
    for suppression in &table.suppress {
        let before = report.findings.len();
        report.findings.retain(|finding| !suppression.covers(&program.module, finding));
        report.suppressed.push((suppression.reason.clone(), before - report.findings.len()));
    }
}

/// Takes out findings of which no function, and no line on a way that null takes, is changed: their fingerprints.
fn leave_out_unchanged(program: &Program, changed: Lines, report: &mut Report) -> Vec<String> {
    let module = &program.module;
    let changed = Functions::of(module, changed);
    let prints = output::fingerprints(module, report);
    let passes = |finding: &Finding| {
        // There may be more ways than are kept.
        if finding.paths.len() >= WAYS {
            return true;
        }
        let steps = finding.paths.iter().flat_map(|path| &path.steps);
        let is_changed = |step: &Step| {
            step.function.is_some_and(|function| changed.has(function))
                || changed.has_line(module, step.location)
        };
        [finding.site.function, finding.sink.function].into_iter().any(|function| changed.has(function))
            || steps.into_iter().any(is_changed)
    };
    let kept: Vec<bool> = report.findings.iter().map(passes).collect();
    let mut next = kept.iter();
    report.findings.retain(|_| next.next().copied().unwrap_or(true));
    let count = kept.iter().filter(|kept| !**kept).count();
    let reason = format!("nothing on the way changed since {} (--changed-since)", changed.revision);
    report.suppressed.push((reason, count));
    report.assumptions.extend(changed.assumption);
    prints.into_iter().zip(kept).filter(|(_, kept)| !kept).map(|(print, _)| print).collect()
}
