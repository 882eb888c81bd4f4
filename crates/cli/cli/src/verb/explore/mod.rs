//! `parallax explore`: every path of a C program, and what goes wrong on it; with `--`, of a compiled one.

mod completeness;
mod entered;
mod findings;
mod flags;
mod program;

pub use flags::Explore;

use super::c_build;
use super::c_input::write_tests;
use super::c_sources::CSources;
use super::plain::Plain;
use anyhow::Result;
use findings::confirmed;
use parallax_cexplore::confirm::Verdict;
use parallax_cexplore::explore::{
    Entry, Exploration, ExploreError, FileCoverage, Finding, explore, explore_input,
};
use parallax_cexplore::place::user_spot;
use parallax_cexplore::program::instruments;
use parallax_cexplore::{Program, minimise};
use parallax_cli_base::exit::{Failure, Status};
use parallax_cli_base::{coverage, report_file};
use parallax_term::Store;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Does it.
pub fn run(arguments: &Explore) -> Result<Status> {
    if !arguments.compiled.program.is_empty() {
        return program::run(&arguments.compiled, &arguments.common());
    }
    let mut settings = arguments.settings()?;
    let mut sources = CSources { files: arguments.files.clone(), flags: arguments.flags.clone() };
    let wanted = instruments(arguments.unsigned_overflow, arguments.conversions, arguments.floats);
    let mut program = sources.load_instrumented(wanted.clone())?;
    let defines = |program: &Program, name: &str| {
        program.module.function_named(name).is_some_and(|id| program.module.function(id).is_defined())
    };
    // Without a `main` and an entry the program says itself where it takes what others wrote.
    let mut harness = None;
    let mut proposes = false;
    if arguments.entry.is_none() && arguments.changed_since.is_none() && !defines(&program, "main") {
        if defines(&program, entered::FUZZ_TARGET) {
            let file = entered::fuzz_harness(arguments.stdin_bytes())?;
            sources.files.push(file.path().to_path_buf());
            program = sources.load_instrumented(wanted)?;
            harness = Some(file);
            // The bytes of --stdin are what the target is given.
            if let Entry::Main { stdin, .. } = &mut settings.entry {
                *stdin = 0;
            }
        } else {
            proposes = true;
        }
    }
    if arguments.entry.is_some() || arguments.changed_since.is_some() || proposes {
        program.annotate()?;
    }
    settings.random_inputs = program.seeds_unknown();
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    let terminal = std::io::stderr().is_terminal();
    let mut shown = Instant::now();
    let mut progress = |paths: u64, states: usize, findings: usize| {
        if terminal && shown.elapsed() > Duration::from_millis(200) {
            shown = Instant::now();
            eprint!("\r{paths} paths, {states} states, {findings} findings   ");
        }
    };
    let seeds = arguments.seed_inputs()?;
    let mut seeded = Vec::new();
    for (file, seed) in &seeds {
        let solver = parallax_smt::solver(&store);
        let one = explore_input(&store, &program.module, &settings, solver, Some(seed), &mut progress);
        seeded.extend(one.map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))?.findings);
    }
    let explored = match (arguments.callers, &arguments.changed_since) {
        (None, None) if proposes => entered::proposed(&program, &settings, &mut progress).map(Some),
        (None, None) => {
            let explored = explore(&store, &program.module, &settings, solver, &mut progress);
            explored.map(Some).map_err(|e| failure(e).into())
        }
        (Some(levels), _) => {
            entered::from_callers(arguments, &program, &settings, levels, &mut progress).map(Some)
        }
        (None, Some(revision)) => {
            entered::from_changed(arguments, &program, &settings, revision, &mut progress)
        }
    };
    if terminal {
        eprint!("\r{:50}\r", "");
    }
    let Some(mut explored) = explored? else { return nothing_changed(arguments, &program) };
    if harness.is_some() {
        // The harness is no code of the program's.
        explored.covered.retain(|name, _| !entered::is_harness(name));
        explored.coverage = parallax_cexplore::explore::Coverage::of(&explored.covered);
    }
    adopt(&program, &mut explored, seeded);
    if arguments.minimise {
        let mut kept = minimise::kept(&program, &settings, &explored.records).into_iter().peekable();
        let mut number = 0..;
        explored.records.retain(|_| kept.next_if_eq(&number.next().unwrap_or(0)).is_some());
    }
    // Entered as its callers do, a function is given what they rely on themselves.
    let contracts = match arguments.callers {
        Some(_) => explored.findings.extract_if(.., |finding| !finding.relied.is_empty()).collect(),
        None => Vec::new(),
    };
    let findings = confirmed(!arguments.no_native, &program, &settings, &explored)?;
    if let Some(file) = &arguments.coverage {
        let covered = explored.covered.iter().map(|(name, file)| {
            let FileCoverage { lines, branches, functions, undecided: _ } = file.clone();
            (name.clone(), coverage::FileCoverage { lines, branches, functions })
        });
        coverage::save(file, &covered.collect(), &[])?;
    }
    if let Some(folder) = &arguments.tests {
        write_tests(folder, &program, &settings, &explored)?;
    }
    for file in &arguments.reports {
        let document = findings::path_report(&program, &explored, &findings, &contracts);
        let folders = c_build::folders(&program);
        report_file::save(file, document, folders, &program.module.name)?;
    }
    let mut out = std::io::stdout().lock();
    if arguments.json {
        writeln!(out, "{:#}", findings::document(&program, &explored, &findings, &contracts))?;
    } else {
        findings::print(&mut Plain(out), &program, &explored, &findings, &contracts)?;
    }
    Ok(match findings.first().map(findings::Confirmed::verdict) {
        Some(Verdict::Confirmed) => Status::Findings,
        // A guess alone, or what running does not confirm, is no finding.
        Some(_) => Status::GaveUp,
        None => completeness::status(&explored.completeness),
    })
}

/// What --changed-since comes to where no function changed: nothing was entered, and there is nothing to look at.
fn nothing_changed(arguments: &Explore, program: &Program) -> Result<Status> {
    let revision = arguments.changed_since.as_deref().unwrap_or_default();
    for file in &arguments.reports {
        report_file::save(file, parallax_report::Document::default(), Vec::new(), &program.module.name)?;
    }
    if arguments.json {
        println!("{:#}", serde_json::json!({ "findings": [], "entered": [], "changed_since": revision }));
    } else {
        println!("no function, and nothing that one calls, changed since {revision}: nothing was explored");
    }
    Ok(Status::Clean)
}

fn failure(error: ExploreError) -> Failure {
    Failure {
        status: match error {
            ExploreError::NoEntry(_) => Status::BadInput,
            ExploreError::Unsupported(_) => Status::Unsupported,
        },
        message: error.to_string(),
    }
}

/// Findings on the paths of given inputs come first; those that were found again are not listed twice.
fn adopt(program: &Program, explored: &mut Exploration, seeded: Vec<Finding>) {
    let key = |finding: &Finding| (finding.problem, user_spot(&program.module, &finding.stack));
    let mut all: Vec<Finding> = Vec::new();
    for finding in seeded.into_iter().chain(std::mem::take(&mut explored.findings)) {
        if all.iter().all(|other| key(other) != key(&finding)) {
            all.push(finding);
        }
    }
    explored.findings = all;
}
