//! Which of the inputs that wait is the most promising.
//!
//! An input is to leave a way behind one block and to go on at another. First come those whose edge was tried least often, so that a
//! loop over the input does not take all the time; of these, those that enter new code; then those that are nearest to a target,
//! as far as jumps and calls of the program's own code tell; then the deepest, which parsers need.

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

/// What the search has tried.
#[derive(Default)]
pub(crate) struct Rank {
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
            if targets.iter().any(|target| block.holds(*target)) {
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
