//! What the runs of an exploration covered of the program's own code, by addresses of its file.

use crate::concrete::Concrete;
use crate::subject::Subject;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// How many runs came to each block, and took each edge between two.
#[derive(Default)]
pub struct Counts {
    blocks: FxHashMap<u64, u64>,
    /// How many runs came to no more than so many instructions of a block.
    cut: BTreeMap<(u64, u64), u64>,
    edges: FxHashMap<(u64, u64), u64>,
}

/// What was covered.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Blocks that some run came to, libraries included.
    pub blocks: usize,
    /// Those of the program itself.
    pub own_blocks: usize,
    /// Edges between blocks.
    pub edges: usize,
    /// Every instruction of the program itself that some run came to, and how many did.
    pub instructions: BTreeMap<u64, u64>,
    /// Every conditional jump of the program itself that some run came to: how many took it, and how many did not.
    pub branches: BTreeMap<u64, (u64, u64)>,
}

impl Counts {
    /// Adds one run.
    pub fn add(&mut self, run: &Concrete) {
        for block in &run.blocks {
            *self.blocks.entry(*block).or_default() += 1;
        }
        for cut in &run.cut {
            *self.cut.entry(*cut).or_default() += 1;
        }
        for edge in &run.edges {
            *self.edges.entry(*edge).or_default() += 1;
        }
    }

    /// How many runs came to the instruction with this index in a block.
    fn runs_to(&self, block: u64, index: u64) -> u64 {
        let short: u64 = self.cut.range((block, 0)..=(block, index)).map(|(_, runs)| runs).sum();
        self.runs(block) - short
    }

    /// How many runs came to a block.
    pub fn runs(&self, block: u64) -> u64 {
        self.blocks.get(&block).copied().unwrap_or(0)
    }

    /// The blocks that some run has entered.
    pub fn entered(&self) -> impl Iterator<Item = u64> + '_ {
        self.edges.keys().map(|(_, to)| *to)
    }

    /// Which block was followed by which.
    pub fn edges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.edges.keys().copied()
    }

    /// What that is of the program.
    pub fn coverage(&self, subject: &mut Subject) -> Coverage {
        let own = subject.own();
        let bias = subject.bias();
        let mut coverage = Coverage {
            blocks: self.blocks.len(),
            own_blocks: self.blocks.keys().filter(|block| own.contains(block)).count(),
            edges: self.edges.len(),
            ..Coverage::default()
        };
        for &start in self.blocks.keys().filter(|start| own.contains(start)) {
            let Some(block) = subject.block(start) else { continue };
            for (index, analysed) in (0..).zip(&block.instructions) {
                let runs = self.runs_to(start, index);
                if runs == 0 {
                    break;
                }
                let at = analysed.instruction.address.wrapping_sub(bias);
                // Blocks that overlap share instructions: the one with more runs counts.
                let known = coverage.instructions.entry(at).or_default();
                *known = runs.max(*known);
            }
            if let Some(last) = block.instructions.last()
                && self.runs_to(start, block.instructions.len() as u64 - 1) > 0
                && let Some((taken, otherwise)) = last.ways
            {
                let count = |to: u64| self.edges.get(&(start, to)).copied().unwrap_or(0);
                let at = last.instruction.address.wrapping_sub(bias);
                let known = coverage.branches.entry(at).or_default();
                *known = (known.0 + count(taken), known.1 + count(otherwise));
            }
        }
        coverage
    }
}
