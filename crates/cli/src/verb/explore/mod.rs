//! `parallax explore`: every path of a C program, and what goes wrong on it; with `--`, of a compiled one.

mod completeness;
mod entered;
mod findings;
mod flags;
mod program;

pub use flags::Explore;

use super::c_input::write_tests;
use super::c_sources::CSources;
use anyhow::Result;
use findings::confirmed;
use parallax_cexplore::confirm::Verdict;
use parallax_cexplore::explore::{Exploration, ExploreError, FileCoverage, Finding, explore, explore_input};
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
    let sources = CSources { files: arguments.files.clone(), flags: arguments.flags.clone() };
    let wanted = instruments(arguments.unsigned_overflow, arguments.conversions, arguments.floats);
    let mut program = sources.load_instrumented(wanted)?;
    if arguments.entry.is_some() {
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
    let explored = match arguments.callers {
        None => {
            explore(&store, &program.module, &settings, solver, &mut progress).map_err(|e| failure(e).into())
        }
        Some(levels) => entered::from_callers(arguments, &program, &settings, levels, &mut progress),
    };
    if terminal {
        eprint!("\r{:50}\r", "");
    }
    let mut explored = explored?;
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
    if let Some(file) = &arguments.report {
        let document = findings::path_report(&program, &explored, &findings, &contracts);
        let folders = program.units.iter().filter_map(|(file, _)| report_file::folder(file)).collect();
        report_file::save(file, document, folders, &program.module.name)?;
    }
    let mut out = std::io::stdout().lock();
    if arguments.json {
        writeln!(out, "{:#}", findings::document(&program, &explored, &findings, &contracts))?;
    } else {
        findings::print(&mut out, &program, &explored, &findings, &contracts)?;
    }
    Ok(match findings.first().map(findings::Confirmed::verdict) {
        Some(Verdict::Confirmed) => Status::Findings,
        // A guess alone, or what running does not confirm, is no finding.
        Some(_) => Status::GaveUp,
        None => completeness::status(&explored.completeness),
    })
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
