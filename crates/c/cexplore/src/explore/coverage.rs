//! How much of the user's own code inputs run: lines, branches, functions, file by file.
//!
//! A line is covered where a path came to its end that runs it, and an input is known that takes the path. What stands behind a
//! mistake in its block was not run. Where only states came that were dropped at a bound, or whose questions the solver did not
//! answer, a way is undecided.

use super::host::Explorer;
use parallax_cmachine::{Edge, State};
use parallax_cmodule::{BlockId, FunctionId, Module, Terminator};
use parallax_sem::Symbolic;
use parallax_term::Formula;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// What was covered of the user's own code, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Source lines with code.
    pub lines: usize,
    /// Of these, lines that some input runs.
    pub lines_covered: usize,
    /// Ways out of branches.
    pub branches: usize,
    /// Of these, ways that some input takes.
    pub branches_covered: usize,
    /// Of these, ways that no input is known to take, and that were not found to be impossible.
    pub branches_undecided: usize,
}

/// What was covered of one source file. Copies of a line (inlined functions, templates of the preprocessor) are joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// How often each line with code was run.
    pub lines: BTreeMap<u32, u64>,
    /// Branches, by line and a number within it: how often each way was taken.
    pub branches: BTreeMap<(u32, u32), Vec<u64>>,
    /// Ways of branches that are undecided.
    pub undecided: FxHashSet<(u32, u32, usize)>,
    /// Functions, by their first line: the name and how often it was entered.
    pub functions: BTreeMap<u32, (String, u64)>,
}

/// What was covered, by the name of the file.
pub type Covered = BTreeMap<String, FileCoverage>;

/// Lines and branches of the user's own code.
pub(super) fn covered(module: &Module, host: &Explorer<'_>) -> Covered {
    let mut files = Covered::new();
    let run: FxHashSet<(FunctionId, BlockId)> =
        host.proven.iter().map(|(function, _, block)| (*function, *block)).collect();
    for (index, function) in module.functions.iter().enumerate() {
        if function.library || !function.is_defined() {
            continue;
        }
        let id = FunctionId(index as u32);
        let is_run = |block: u32| run.contains(&(id, BlockId(block)));
        let entered = |block: u32| match is_run(block) {
            true => host.covered.get(&(id, block)).copied().unwrap_or(0),
            false => 0,
        };
        let is_left = |block: u32, targets: &[u32]| {
            let goes_on = |to: &u32| host.proven.contains(&(id, BlockId(block), BlockId(*to)));
            host.finished.contains(&(id, BlockId(block))) || targets.iter().any(goes_on)
        };
        let place = module.location(function.location);
        if place.line > 0 {
            let file = files.entry(module.file_of(function.location).to_string()).or_default();
            file.functions.insert(place.line, (function.name.clone(), entered(0)));
        }
        for (number, block) in (0..).zip(&function.blocks) {
            let targets: Vec<u32> = match &block.terminator {
                Terminator::Branch { then, otherwise, .. } => vec![then.0, otherwise.0],
                Terminator::Switch { cases, default, .. } => {
                    cases.iter().map(|(_, b)| b.0).chain([default.0]).collect()
                }
                _ => Vec::new(),
            };
            let came = match is_left(number, &targets) {
                true => u32::MAX,
                false => host.came.get(&(id, BlockId(number))).copied().unwrap_or(0),
            };
            let places = block.instructions.iter().map(|i| i.location).chain([block.location]);
            for (index, location) in (0..).zip(places) {
                let line = module.location(location).line;
                if line > 0 {
                    let file = files.entry(module.file_of(location).to_string()).or_default();
                    let count = file.lines.entry(line).or_insert(0);
                    let times = if index < came { entered(number) } else { 0 };
                    *count = times.max(*count);
                }
            }
            if targets.is_empty() {
                continue;
            }
            // Compilers drop the line of some branches: then it is that of what is computed before.
            let places = block.instructions.iter().rev().map(|i| i.location);
            let mut places = std::iter::once(block.location).chain(places);
            let Some(place) = places.find(|place| module.location(*place).line > 0) else { continue };
            let line = module.location(place).line;
            let file = files.entry(module.file_of(place).to_string()).or_default();
            let next = file.branches.range((line, 0)..=(line, u32::MAX)).count() as u32;
            let came = |target: u32| host.edges.get(&(id, number, target)).copied().unwrap_or(0);
            let is_proven = |target: u32| host.proven.contains(&(id, BlockId(number), BlockId(target)));
            let taken = |target: &u32| if is_proven(*target) { came(*target) } else { 0 };
            for (way, &target) in targets.iter().enumerate() {
                if came(target) > 0 && !is_proven(target) {
                    file.undecided.insert((line, next, way));
                }
            }
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
            coverage.branches_undecided += file.undecided.len();
        }
        coverage
    }
}

/// Questions to the solver about one path on what it covers: where states were merged, each may need its own.
const QUESTIONS: usize = 8;

impl<'s> Explorer<'s> {
    /// A state that had just entered a block turns out not to be: its way there is not one that is undecided.
    pub(super) fn never_came(&mut self, state: &State<Symbolic<'s>>) {
        let frame = state.frame();
        let blocks = &self.module().function(frame.function).blocks;
        if frame.index as usize != super::joins::phis(self.module(), frame.function, frame.block) {
            return;
        }
        // Any block has ways in from those whose ends lead there; that of a call has none.
        let leads = blocks[frame.previous.0 as usize].terminator.successors().contains(&frame.block);
        if let Some(times) = self.edges.get_mut(&(frame.function, frame.previous.0, frame.block.0))
            && leads
        {
            *times = times.saturating_sub(1);
        }
    }

    /// A path came to its end under a condition: what it ran is covered, as far as inputs are known that take it.
    pub(super) fn prove(&mut self, state: &State<Symbolic<'s>>, end: Formula) {
        // The blocks that the path is in, each with the index of its next instruction.
        let mut inside: FxHashMap<(FunctionId, BlockId), u32> = FxHashMap::default();
        for frame in &state.frames {
            let came = inside.entry((frame.function, frame.block)).or_default();
            *came = frame.index.max(*came);
        }
        let adds = |(function, from, to): &Edge| {
            let block = (*function, *to);
            let came = self.came.get(&block).copied().unwrap_or(0);
            let is_further = inside.get(&block).is_none_or(|now| *now > came);
            !self.proven.contains(&(*function, *from, *to)) || is_further && !self.finished.contains(&block)
        };
        let mut open: Vec<(Edge, Formula)> =
            state.entered.iter().filter(|(edge, _)| adds(edge)).map(|(e, c)| (*e, *c)).collect();
        // In an order of their own: which inputs are asked for must not depend on a hash.
        open.sort_unstable_by_key(|((function, from, to), _)| (function.0, from.0, to.0));
        let mut asked = Vec::new();
        while let Some(&(_, wanted)) = open.iter().find(|(_, when)| !asked.contains(when)) {
            if asked.len() >= QUESTIONS {
                return;
            }
            asked.push(wanted);
            // Without an answer nothing is covered; that the path was not decided has been noted.
            let Ok(Some(model)) = state.path.sat(&self.oracle, self.store.and(wanted, end)) else { continue };
            open.retain(|(edge, when)| {
                let taken = model.holds(self.store, *when);
                if taken {
                    self.proven.insert(*edge);
                    let block = (edge.0, edge.2);
                    match inside.get(&block) {
                        Some(&now) => {
                            let came = self.came.entry(block).or_default();
                            *came = now.max(*came);
                        }
                        None => drop(self.finished.insert(block)),
                    }
                }
                !taken
            });
        }
    }
}
