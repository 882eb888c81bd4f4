//! The ways that null takes from its sources to where it must not be.

use crate::graph::{Edge, Source, Var, Why};
use crate::region::Solution;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Variables that all searches for further sources look at together, and one of them at least and at most.
const ALL: usize = 4_000_000;
const LEAST: usize = 64;
const FURTHEST: usize = 100_000;

/// Ways in one region: the shortest one to every variable that null reaches, from one search forward.
pub(crate) struct Ways<'s, 'p, 'm> {
    solution: &'s Solution<'p, 'm>,
    /// The first source of each variable that has one.
    starts: FxHashMap<Var, Source>,
    /// The last edge of the shortest way to each variable that is no source.
    last: FxHashMap<Var, Edge>,
    furthest: usize,
}

/// Ways through aliases count as longer.
fn length(edge: &Edge) -> u32 {
    if edge.why == Why::Alias { 3 } else { 2 }
}

impl<'s, 'p, 'm> Ways<'s, 'p, 'm> {
    /// Prepares for so many sinks.
    pub(crate) fn of(solution: &'s Solution<'p, 'm>, sinks: usize) -> Self {
        let mut starts: FxHashMap<Var, Source> = FxHashMap::default();
        for source in &solution.sources {
            starts.entry(source.var).or_insert(*source);
        }
        let mut last: FxHashMap<Var, Edge> = FxHashMap::default();
        let mut best: FxHashMap<Var, u32> = starts.keys().map(|&var| (var, 0)).collect();
        let mut heap: BinaryHeap<(Reverse<u32>, Var)> = starts.keys().map(|&var| (Reverse(0), var)).collect();
        while let Some((Reverse(cost), at)) = heap.pop() {
            if best.get(&at).is_some_and(|&known| known < cost) || solution.stops(at) {
                continue;
            }
            for edge in solution.program.graph.out_of(at).filter(|edge| solution.holds(edge)) {
                let longer = cost + length(edge);
                if best.get(&edge.to).is_none_or(|&known| longer < known) {
                    best.insert(edge.to, longer);
                    last.insert(edge.to, *edge);
                    heap.push((Reverse(longer), edge.to));
                }
            }
        }
        let furthest = (ALL / sinks.max(1)).clamp(LEAST, FURTHEST);
        Ways { solution, starts, last, furthest }
    }

    /// The shortest way from each of at most `most` sources to a variable, the nearest first. The nearest is always found;
    /// the search for others stops at a bound.
    pub(crate) fn to(&self, var: Var, most: usize) -> Vec<(Source, Vec<Edge>)> {
        let mut found = self.backward(var, most);
        let mut edges = Vec::new();
        let mut at = var;
        while let Some(edge) = self.last.get(&at) {
            edges.push(*edge);
            at = edge.from;
        }
        edges.reverse();
        if let Some(source) = self.starts.get(&at)
            && !found.iter().any(|(known, _)| known.var == at)
        {
            found.insert(0, (*source, edges));
            found.truncate(most);
        }
        found
    }

    fn backward(&self, var: Var, most: usize) -> Vec<(Source, Vec<Edge>)> {
        let solution = self.solution;
        let mut next: FxHashMap<Var, Edge> = FxHashMap::default();
        let mut best: FxHashMap<Var, u32> = FxHashMap::from_iter([(var, 0)]);
        let mut heap = BinaryHeap::from([(Reverse(0u32), var)]);
        let mut done: FxHashSet<Var> = FxHashSet::default();
        let mut found = Vec::new();
        while let Some((Reverse(cost), at)) = heap.pop() {
            if !done.insert(at) {
                continue;
            }
            if let Some(source) = self.starts.get(&at) {
                let mut edges = Vec::new();
                let mut walk = at;
                while let Some(edge) = next.get(&walk) {
                    edges.push(*edge);
                    walk = edge.to;
                }
                found.push((*source, edges));
                if found.len() == most {
                    break;
                }
            }
            if done.len() > self.furthest {
                break;
            }
            for edge in solution.program.graph.into(at) {
                let from = edge.from;
                if !solution.is_null(from) || solution.stops(from) || !solution.holds(edge) {
                    continue;
                }
                let longer = cost + length(edge);
                if best.get(&from).is_none_or(|&known| longer < known) {
                    best.insert(from, longer);
                    next.insert(from, *edge);
                    heap.push((Reverse(longer), from));
                    // A variable with thousands of writers is not a reason to look at all of them.
                    if best.len() > 4 * self.furthest {
                        break;
                    }
                }
            }
        }
        found
    }
}
