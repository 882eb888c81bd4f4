//! Confirming: the program is explored from its start, and what goes wrong with null there is run.
//!
//! A finding is confirmed by an input with which the concrete reading makes the same mistake at the same place. Then the
//! program is built and given that input natively, which is noted beside it. If the native program would show the mistake and
//! does not, or if the path goes on what code without a model was taken to return, nothing is confirmed.

use crate::finding::{Finding, FlowPath, Kind, Report, Status, Where, Witness};
use crate::names::site_location;
use parallax_cexplore::Program;
use parallax_cexplore::confirm::{Verdict, replay};
use parallax_cexplore::explore::{self, Argument, Entry, Settings};
use parallax_cexplore::native::{self, Native};
use parallax_cexplore::place::user_place;
use parallax_cexplore::trace::Step as Executed;
use parallax_cmachine::Problem;
use parallax_cmodule::{BlockId, FunctionId, LocationId, Module, Operation};
use parallax_path::Strategy;
use parallax_points::Site;
use parallax_term::Store;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Unknown arguments that the program may be given, and how long each may be.
const ARGUMENTS: usize = 3;
const LENGTH: u64 = 8;
/// Why a path that was found confirms nothing.
const GUESSED: &str =
    "a path from main shows it, if code without a model returns what the path takes it to return";
/// Bytes of unknown standard input.
const STDIN: u64 = 16;

/// Explores the program from `main` for so long and confirms findings; what is found that no finding of the report says
/// is added. With a folder, inputs are also run natively: it is built there.
pub fn confirm(program: &Program, report: &mut Report, time: Duration, folder: Option<&Path>) {
    let settings = Settings {
        entry: Entry::Main {
            arguments: vec![Argument::Optional(LENGTH); ARGUMENTS],
            stdin: STDIN,
            files: Vec::new(),
            environment: Vec::new(),
        },
        strategy: Strategy::Coverage,
        time,
        random_inputs: program.seeds_unknown(),
        ..Settings::default()
    };
    let store = Store::new();
    let module = &program.module;
    let explored =
        explore::explore(&store, module, &settings, parallax_smt::solver(&store), &mut |_, _, _| {});
    let explored = match explored {
        Ok(explored) => explored,
        Err(error) => {
            report.assumptions.insert(format!("nothing was confirmed by running: {error}"));
            return;
        }
    };
    for found in explored.findings {
        let kind = match found.problem {
            Problem::NullDereference => Kind::NullDereference,
            Problem::NullArgument => Kind::NullToNonnull,
            _ => continue,
        };
        let replay = replay(program, &found, &settings);
        if !replay.confirmed {
            continue;
        }
        let native = match folder {
            Some(folder) => native::confirm(program, &found, &settings, folder),
            None => Native::NotRun("not asked for".into()),
        };
        let status = match (Verdict::of(&found, &replay, &native), &native) {
            (Verdict::Confirmed, _) => Status::Confirmed,
            (_, Native::Differs(words)) => {
                Status::Possible(format!("an input shows it, but natively: {words}"))
            }
            _ => Status::Possible(GUESSED.into()),
        };
        let witness = Witness { input: found.input.clone(), native };
        let (function, location) = user_place(module, &found.stack);
        let line = module.location(location).line;
        let here = |site: Site| {
            site.function == function && module.location(site_location(module, site)).line == line
        };
        // A run of the program decides against a block that refuted it.
        report.refuted.retain(|site| !here(*site));
        let same = |finding: &&mut Finding| here(finding.sink);
        let mut known = report.findings.iter_mut().filter(same).peekable();
        if known.peek().is_none() {
            let Some(site) = site_at(module, function, location) else { continue };
            report.findings.push(Finding {
                kind,
                found_by: Where::Symbolic,
                site,
                sink: site,
                status,
                subject: "a pointer".into(),
                paths: Vec::new(),
                contexts: BTreeSet::new(),
                witness: Some(witness),
            });
            continue;
        }
        for finding in known {
            // What an input does not decide stays as likely as it was.
            if status == Status::Confirmed || !finding.status.is_shown() {
                finding.status = status.clone();
            }
            finding.witness = Some(witness.clone());
            // Inference knows no order: what it says first may be what the run never came by.
            finding.paths.sort_by_cached_key(|path| !took(module, &replay.path, path));
        }
    }
}

/// Whether a run came by the places of a way, in their order. What holds from the start of the program has no place.
fn took(module: &Module, run: &[Executed], path: &FlowPath) -> bool {
    let mut rest = run;
    path.steps.iter().filter(|step| module.location(step.location).line != 0).all(|step| {
        let (file, line) = (module.file_of(step.location), module.location(step.location).line);
        let at = rest.iter().position(|executed| executed.line == line && executed.file == file);
        // One line may be several steps.
        rest = at.map_or(&[], |at| &rest[at..]);
        at.is_some()
    })
}

/// The first instruction at a place that uses memory or calls something.
fn site_at(module: &Module, function: FunctionId, location: LocationId) -> Option<Site> {
    let blocks = module.function(function).blocks.iter().enumerate();
    let mut all = blocks.flat_map(|(block, content)| {
        content.instructions.iter().enumerate().map(move |(index, instruction)| (block, index, instruction))
    });
    let uses = |operation: &Operation| {
        matches!(operation, Operation::Load { .. } | Operation::Store { .. } | Operation::Call { .. })
    };
    all.find(|(_, _, instruction)| instruction.location == location && uses(&instruction.operation))
        .map(|(block, index, _)| Site { function, block: BlockId(block as u32), index: index as u32 })
}
