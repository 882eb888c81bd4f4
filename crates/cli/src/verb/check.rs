//! `parallax check`: null errors in whole C programs.

use super::c_sources::CSources;
use crate::exit::{Failure, Status};
use crate::report_file;
use anyhow::Result;
use clap::{Args, ValueEnum};
use parallax_cexplore::Program;
use parallax_mixy::{Error, Finding, Mode, Report, Settings, Sinks, output};
use std::io::Write;
use std::path::PathBuf;

/// Find null errors in a C program: where null may be dereferenced, or reach what must not be null
#[derive(Args)]
#[command(after_help = "\
Examples:
  parallax check corpus/c/mixy/id.c
  parallax check compile_commands.json --report null.sarif
  parallax check corpus/c/mixy/id.c --sinks annotated --json

Null flows from NULL, from memory that is zero, from _Nullable, and from library functions that may return it; it must
not be dereferenced, nor reach _Nonnull or nonnull. Functions marked MIX(symbolic) with <parallax.h>, or named by
--symbolic, are executed symbolically; the rest is typed. What was assumed and what was left out is part of the answer.
Exit status: 0 nothing found, 1 something found, 4 nothing found but something was left out.")]
pub struct Check {
    #[command(flatten)]
    sources: CSources,
    /// Where the program starts.
    #[arg(long, value_name = "FUNCTION", default_value = "main")]
    entry: String,
    /// What must not be null.
    #[arg(long, value_enum, default_value_t = Which::Deref)]
    sinks: Which,
    /// How the entry is analysed, unless it is marked.
    #[arg(long, value_enum, default_value_t = Start::Typed)]
    start: Start,
    /// Execute this function symbolically; repeat for more.
    #[arg(long, value_name = "FUNCTION")]
    symbolic: Vec<String>,
    /// Analyse this function by qualifier inference; repeat for more.
    #[arg(long, value_name = "FUNCTION")]
    typed: Vec<String>,
    /// Only the blocks that are marked: do not look for functions whose execution refutes warnings.
    #[arg(long)]
    no_refine: bool,
    /// Seconds to look for such functions.
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    refine_time: u64,
    /// Ways to show for one finding.
    #[arg(long, value_name = "N", default_value_t = 1)]
    paths: usize,
    /// Write the findings and their ways: SARIF (.sarif), pathreport XML (.xml) or Parallax JSON (.json).
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
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

/// Does it.
pub fn run(arguments: &Check) -> Result<Status> {
    let mut program = arguments.sources.load()?;
    program.annotate()?;
    let settings = Settings {
        sinks: match arguments.sinks {
            Which::Annotated => Sinks::Annotated,
            Which::Deref => Sinks::Deref,
        },
        entry: arguments.entry.clone(),
        start: match arguments.start {
            Start::Typed => Mode::Typed,
            Start::Symbolic => Mode::Symbolic,
        },
        symbolic: arguments.symbolic.clone(),
        typed: arguments.typed.clone(),
        // A file has room for all of them.
        paths: if arguments.json || arguments.report.is_some() { 8 } else { arguments.paths.clamp(1, 8) },
        refine: (!arguments.no_refine).then(|| std::time::Duration::from_secs(arguments.refine_time)),
        ..Settings::default()
    };
    let report = parallax_mixy::check(&program.module, &settings).map_err(|error| Failure {
        status: match error {
            Error::NoFunction(_) | Error::NoBody(_) | Error::Contradiction(_) => Status::BadInput,
        },
        message: error.to_string(),
    })?;
    if let Some(file) = &arguments.report {
        let document = output::document(&program.module, &report);
        let folders = program.units.iter().filter_map(|(file, _)| report_file::folder(file)).collect();
        report_file::save(file, document, folders, &program.module.name)?;
    }
    let mut out = std::io::stdout().lock();
    if arguments.json {
        writeln!(out, "{:#}", output::json(&program.module, &report))?;
    } else {
        print(&mut out, &program, &report, arguments.paths.max(1))?;
    }
    Ok(match (report.findings.is_empty(), report.gaps.is_empty()) {
        (false, _) => Status::Findings,
        (true, true) => Status::Clean,
        (true, false) => Status::GaveUp,
    })
}

fn print(out: &mut impl Write, program: &Program, report: &Report, paths: usize) -> Result<()> {
    for finding in &report.findings {
        one(out, program, finding, paths)?;
    }
    let confirmed = report.findings.iter().filter(|f| f.status.name() == "confirmed").count();
    writeln!(
        out,
        "{} findings: {confirmed} confirmed, {} possible; {} warnings of inference alone, {} of them refuted",
        report.findings.len(),
        report.findings.len() - confirmed,
        report.typed,
        report.refuted
    )?;
    for assumption in &report.assumptions {
        writeln!(out, "assumed: {assumption}")?;
    }
    for gap in &report.gaps {
        writeln!(out, "LEFT OUT: {gap}")?;
    }
    Ok(())
}

fn one(out: &mut impl Write, program: &Program, finding: &Finding, paths: usize) -> Result<()> {
    let module = &program.module;
    let location = parallax_mixy::names::site_location(module, finding.site);
    let (file, place) = (module.file_of(location), module.location(location));
    writeln!(out, "{}: {} ({})", finding.kind.name(), output::title(finding), finding.status.name())?;
    let function = &module.function(finding.site.function).name;
    writeln!(out, "  --> {file}:{}:{} in {function}", place.line, place.column)?;
    let line = std::fs::read_to_string(file)
        .ok()
        .and_then(|text| text.lines().nth((place.line as usize).checked_sub(1)?).map(str::to_string));
    if let Some(line) = line {
        writeln!(out, "   |  {}", line.trim_end())?;
    }
    for path in finding.paths.iter().take(paths) {
        for step in &path.steps {
            let place = module.location(step.location);
            match place.line {
                0 => writeln!(out, "   = {}", step.words)?,
                line => writeln!(out, "   = {}:{line}: {}", module.file_of(step.location), step.words)?,
            }
        }
    }
    if let Some(witness) = &finding.witness {
        writeln!(out, "   = input: {witness}")?;
    }
    writeln!(out)?;
    Ok(())
}
