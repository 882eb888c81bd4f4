//! How much of the user's own code some path ran: lines, branches, functions, file by file.

use super::host::Explorer;
use parallax_cmodule::{FunctionId, Module, Terminator};
use std::collections::BTreeMap;

/// What was covered of the user's own code, in numbers.
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

/// What was covered of one source file. Copies of a line (inlined functions, templates of the preprocessor) are joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// How often each line with code was run.
    pub lines: BTreeMap<u32, u64>,
    /// Branches, by line and a number within it: how often each way was taken.
    pub branches: BTreeMap<(u32, u32), Vec<u64>>,
    /// Functions, by their first line: the name and how often it was entered.
    pub functions: BTreeMap<u32, (String, u64)>,
}

/// What was covered, by the name of the file.
pub type Covered = BTreeMap<String, FileCoverage>;

/// Lines and branches of the user's own code.
pub(super) fn covered(module: &Module, host: &Explorer<'_>) -> Covered {
    let mut files = Covered::new();
    for (index, function) in module.functions.iter().enumerate() {
        if function.library || !function.is_defined() {
            continue;
        }
        let id = FunctionId(index as u32);
        let entered = |block: u32| host.covered.get(&(id, block)).copied().unwrap_or(0);
        let place = module.location(function.location);
        if place.line > 0 {
            let file = files.entry(module.file_of(function.location).to_string()).or_default();
            file.functions.insert(place.line, (function.name.clone(), entered(0)));
        }
        for (number, block) in (0..).zip(&function.blocks) {
            let times = entered(number);
            let places = block.instructions.iter().map(|i| i.location).chain([block.location]);
            for location in places {
                let line = module.location(location).line;
                if line > 0 {
                    let file = files.entry(module.file_of(location).to_string()).or_default();
                    let count = file.lines.entry(line).or_insert(0);
                    *count = times.max(*count);
                }
            }
            let targets: Vec<u32> = match &block.terminator {
                Terminator::Branch { then, otherwise, .. } => vec![then.0, otherwise.0],
                Terminator::Switch { cases, default, .. } => {
                    cases.iter().map(|(_, b)| b.0).chain([default.0]).collect()
                }
                _ => continue,
            };
            let line = module.location(block.location).line;
            let file = files.entry(module.file_of(block.location).to_string()).or_default();
            let next = file.branches.range((line, 0)..=(line, u32::MAX)).count() as u32;
            let taken = |target: &u32| host.edges.get(&(id, number, *target)).copied().unwrap_or(0);
            file.branches.insert((line, next), targets.iter().map(taken).collect());
        }
    }
    files
}

impl Coverage {
    /// What was covered, in numbers.
    pub fn of(files: &Covered) -> Self {
        let mut coverage = Coverage::default();
        for file in files.values() {
            coverage.lines += file.lines.len();
            coverage.lines_covered += file.lines.values().filter(|&&count| count > 0).count();
            let ways = || file.branches.values().flatten();
            coverage.branches += ways().count();
            coverage.branches_covered += ways().filter(|&&count| count > 0).count();
        }
        coverage
    }
}
