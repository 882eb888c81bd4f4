//! `exhaustive(g1, ..., gn)`: whether the disjunction of path conditions is a tautology.
//!
//! Two paths that went separate ways at a fork make up the path before it, so complementary siblings are folded
//! first; that alone settles a full tree of any size in linear time. What remains is for the solver.

use crate::symbolic::{Executor, State};
use parallax_smt::Answer;
use parallax_term::Formula;
use rustc_hash::FxHashMap;

/// Asks whether the paths cover every valuation that the facts about symbols allow.
pub(crate) fn exhaustive<'a>(executor: &Executor<'_>, paths: impl Iterator<Item = &'a State>) -> Answer {
    let store = executor.store;
    let mut folded: FxHashMap<u32, [bool; 2]> = FxHashMap::default();
    let mut rest: Vec<(Option<u32>, Formula)> = Vec::new();
    for path in paths {
        let mut decisions = path.path.newest_first().peekable();
        // Climb as long as the sibling has been seen.
        let open = loop {
            let Some(last) = decisions.peek() else { return Answer::Unsat };
            let Some((fork, branch)) = last.fork else { break None };
            let seen = folded.entry(fork).or_default();
            seen[usize::from(branch)] = true;
            if *seen != [true, true] {
                break Some(fork);
            }
            decisions.next();
        };
        rest.push((open, store.all(decisions.map(|decision| decision.formula))));
    }
    // A path whose fork was completed later is part of the one that climbed.
    let is_open = |fork: &Option<u32>| fork.is_none_or(|fork| folded[&fork] != [true, true]);
    let covered = rest.iter().filter(|(fork, _)| is_open(fork)).map(|(_, condition)| *condition);
    let uncovered = store.not(store.any(covered.collect::<Vec<_>>()));
    executor.oracle.check(&executor.with_facts(vec![uncovered]))
}
