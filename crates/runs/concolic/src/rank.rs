//! Which of the inputs that wait is the most promising.
//!
//! An input is to leave a way behind one block and to go on at another. First come those whose edge was tried least often, so that a
//! loop over the input does not take all the time; of these, those that enter new code; then those that are nearest to a target,
//! as far as jumps and calls of the program's own code tell; then the deepest, which parsers need.
//!
//! Other turns belong to the neighbours of rare runs: what few runs have come to is likely to take several steps more to get
//! through, and those are changes of the inputs that came so far (rare branches as in FairFuzz, Lemieux and Sen 2018). With a target,
//! others yet belong to what comes nearest to it, however often that was tried.

use crate::coverage::Counts;
use crate::subject::Subject;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::VecDeque;

/// More blocks than these are not looked at.
const MOST: usize = 30_000;

/// The way out of a block that an input is made to take.
pub(crate) type Edge = (u64, Option<u64>);

/// The lowest comes first.
pub(crate) type Key = (u32, bool, u32, Reverse<u64>);

/// Whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The edge that was tried least often.
    Fair,
    /// A neighbour of a rare run.
    Rare,
    /// What comes nearest to a target.
    Near,
    /// The fewest changes of a first input.
    Simple,
}

/// How many of the rarest blocks of a run are kept.
const RAREST: usize = 4;

/// So many turns for an edge count as one block more between it and the target.
const FEW: u32 = 4;

/// What the search has tried.
#[derive(Default)]
pub(crate) struct Rank {
    /// How many turns there were.
    turn: u32,
    /// By the number of a test: the rarest blocks that its run came to.
    rarest: FxHashMap<usize, [u64; RAREST]>,
    /// How many turns were spent on an edge because it is near to a target.
    approached: FxHashMap<Edge, u32>,
    /// How many turns were spent for the sake of a block.
    spent: FxHashMap<u64, u64>,
    tried: FxHashMap<Edge, u32>,
    entered: FxHashSet<u64>,
    /// Blocks between the beginning of a block and a target.
    distances: FxHashMap<u64, u32>,
    /// How many blocks were known when the distances were found.
    known: usize,
}

impl Rank {
    /// The key of an input that takes an edge after so many instructions.
    pub fn key(&self, edge: Edge, time: u64) -> Key {
        let tried = self.tried.get(&edge).copied().unwrap_or(0);
        let old = edge.1.is_none_or(|next| self.entered.contains(&next));
        let distance = edge.1.and_then(|next| self.distances.get(&next)).copied().unwrap_or(u32::MAX);
        (tried, old, distance, Reverse(time))
    }

    /// Whose turn comes now.
    pub fn next_turn(&mut self) -> Turn {
        self.turn = self.turn.wrapping_add(1);
        match self.turn % 4 {
            0 => Turn::Rare,
            1 if !self.distances.is_empty() => Turn::Near,
            2 => Turn::Simple,
            _ => Turn::Fair,
        }
    }

    /// A test has run; `counts` has its blocks already.
    pub fn keep_rarest(&mut self, test: usize, blocks: &[u64], counts: &Counts) {
        let mut by_runs: Vec<(u64, u64)> = blocks.iter().map(|block| (counts.runs(*block), *block)).collect();
        by_runs.sort_unstable();
        if let Some(&(_, rarest)) = by_runs.first() {
            let mut kept = [rarest; RAREST];
            kept.iter_mut().zip(by_runs).for_each(|(kept, (_, block))| *kept = block);
            self.rarest.insert(test, kept);
        }
    }

    /// How rare the run of a test is by now: the runs that came to its rarest block, and the turns spent on that; and the block.
    pub fn rarity(&self, test: usize, counts: &Counts) -> Option<(u64, u64)> {
        let spent = |block: u64| self.spent.get(&block).copied().unwrap_or(0);
        self.rarest.get(&test)?.iter().map(|&block| (counts.runs(block) + spent(block), block)).min()
    }

    /// A turn goes to a neighbour of a run, for the sake of this block.
    pub fn spend(&mut self, block: u64) {
        *self.spent.entry(block).or_default() += 1;
    }

    /// How near an edge is to a target: its blocks, and one more for every few turns that were spent on it, so that what is nearest and
    /// has no end does not take them all.
    pub fn nearness(&self, edge: Edge) -> u64 {
        let distance = edge.1.and_then(|next| self.distances.get(&next)).copied().unwrap_or(u32::MAX);
        u64::from(distance) + u64::from(self.approached.get(&edge).copied().unwrap_or(0) / FEW)
    }

    /// A turn goes to this edge because it is near.
    pub fn approach(&mut self, edge: Edge) {
        *self.approached.entry(edge).or_default() += 1;
    }

    /// An input that takes this edge is about to run.
    pub fn try_edge(&mut self, edge: Edge) {
        *self.tried.entry(edge).or_default() += 1;
    }

    /// A run has come to these blocks.
    pub fn enter(&mut self, edges: &[(u64, u64)]) {
        self.entered.extend(edges.iter().map(|(_, to)| *to));
    }

    /// Finds the distances to the targets, if enough new code has been seen since the last time.
    pub fn measure(&mut self, subject: &mut Subject, counts: &Counts, targets: &[u64]) {
        let seen = self.entered.len();
        if targets.is_empty() || seen < self.known + self.known / 4 + 1 {
            return;
        }
        self.known = seen;
        let own = subject.own();
        // Edges backwards. Those of computed jumps are known as far as runs have taken them.
        let mut before: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
        let mut open: Vec<u64> = self.entered.iter().copied().filter(|block| own.contains(block)).collect();
        for (from, to) in counts.edges().filter(|(from, _)| own.contains(from)) {
            before.entry(to).or_default().push(from);
            open.push(from);
        }
        let mut looked: FxHashSet<u64> = FxHashSet::default();
        let mut near: VecDeque<(u64, u32)> = VecDeque::new();
        while let Some(start) = open.pop() {
            if looked.len() >= MOST || !looked.insert(start) {
                continue;
            }
            let Some(block) = subject.block(start) else { continue };
            if targets.contains(&start) {
                near.push_back((start, 0));
            }
            for next in block.successors() {
                before.entry(next).or_default().push(start);
                if own.contains(&next) {
                    open.push(next);
                }
            }
        }
        self.distances.clear();
        while let Some((block, distance)) = near.pop_front() {
            if self.distances.contains_key(&block) {
                continue;
            }
            self.distances.insert(block, distance);
            near.extend(before.get(&block).into_iter().flatten().map(|from| (*from, distance + 1)));
        }
    }
}
