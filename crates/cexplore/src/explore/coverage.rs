//! How much of the user's own code some path ran.

use super::host::Explorer;
use parallax_cmodule::{FunctionId, Module, Terminator};
use std::collections::BTreeSet;

/// What was covered of the user's own code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Source lines with code.
    pub lines: usize,
    /// Of these, lines that some path ran.
    pub lines_covered: usize,
    /// Ways out of branches.
    pub branches: usize,
    /// Of these, ways that some path took.
    pub branches_covered: usize,
}

/// Lines and branches of the user's own code.
pub(super) fn coverage(module: &Module, host: &Explorer<'_>) -> Coverage {
    let mut lines = BTreeSet::new();
    let mut run = BTreeSet::new();
    let mut coverage = Coverage::default();
    for (index, function) in module.functions.iter().enumerate() {
        if function.library {
            continue;
        }
        for (number, block) in function.blocks.iter().enumerate() {
            let entered = |b: u32| host.covered.contains_key(&(FunctionId(index as u32), b));
            let here = entered(number as u32);
            let places = block.instructions.iter().map(|i| i.location).chain([block.location]);
            for location in places {
                let place = module.location(location);
                if place.line > 0 {
                    lines.insert((place.file, place.line));
                    if here {
                        run.insert((place.file, place.line));
                    }
                }
            }
            let targets: Vec<u32> = match &block.terminator {
                Terminator::Branch { then, otherwise, .. } => vec![then.0, otherwise.0],
                Terminator::Switch { cases, default, .. } => {
                    cases.iter().map(|(_, b)| b.0).chain([default.0]).collect()
                }
                _ => continue,
            };
            coverage.branches += targets.len();
            coverage.branches_covered += targets.iter().filter(|&&t| here && entered(t)).count();
        }
    }
    coverage.lines = lines.len();
    coverage.lines_covered = run.len();
    coverage
}
