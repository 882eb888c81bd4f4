//! The same query again.

use super::{canonical, forward};
use crate::{Answer, Solver};
use parallax_term::Formula;
use rustc_hash::FxHashMap;

/// How many answers are kept; past this the cache starts over.
const MOST: usize = 1 << 16;

/// Remembers answers to whole queries, whatever the order of their formulas. What was not found out is not remembered.
pub struct Cache<S> {
    inner: S,
    answers: FxHashMap<Vec<Formula>, (Answer, Vec<Formula>)>,
    core: Vec<Formula>,
    hits: u64,
}

impl<S> Cache<S> {
    /// An empty cache before `inner`.
    pub fn new(inner: S) -> Self {
        Cache { inner, answers: FxHashMap::default(), core: Vec::new(), hits: 0 }
    }

    /// How many queries were answered from memory.
    pub fn hits(&self) -> u64 {
        self.hits
    }
}

impl<'s, S: Solver<'s>> Solver<'s> for Cache<S> {
    forward!(inner);

    fn check(&mut self, query: &[Formula]) -> Answer {
        let key = canonical(query);
        if let Some((answer, core)) = self.answers.get(&key) {
            self.hits += 1;
            self.core = core.clone();
            return answer.clone();
        }
        let answer = self.inner.check(query);
        self.core = self.inner.unsat_core().to_vec();
        if answer.decided().is_ok() {
            if self.answers.len() == MOST {
                self.answers.clear();
            }
            self.answers.insert(key, (answer.clone(), self.core.clone()));
        }
        answer
    }

    fn unsat_core(&self) -> &[Formula] {
        &self.core
    }
}
