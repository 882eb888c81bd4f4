//! Old models and old failures answer new queries (the counterexample cache of KLEE: Cadar, Dunbar, Engler, OSDI 2008).

use super::forward;
use crate::{Answer, Model, Solver, address};
use parallax_term::{Formula, Store};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// How many models are kept, most useful first.
const MODELS: usize = 8;
/// How many unsatisfiable sets are kept; past this the cache starts over.
const CORES: usize = 1 << 14;

/// Tries recent models on a query, and looks for a known contradiction in it, before it asks.
pub struct CounterexampleCache<S> {
    inner: S,
    models: VecDeque<Model>,
    /// Sets that do not hold together, by their least formula.
    cores: FxHashMap<Formula, Vec<Vec<Formula>>>,
    core_count: usize,
    core: Vec<Formula>,
    hits: u64,
}

impl<S> CounterexampleCache<S> {
    /// An empty cache before `inner`.
    pub fn new(inner: S) -> Self {
        CounterexampleCache {
            inner,
            models: VecDeque::new(),
            cores: FxHashMap::default(),
            core_count: 0,
            core: Vec::new(),
            hits: 0,
        }
    }

    /// How many queries were answered from memory.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// A known contradiction within the query.
    fn contradiction(&self, query: &[Formula]) -> Option<Vec<Formula>> {
        if self.cores.is_empty() {
            return None;
        }
        let set: FxHashSet<Formula> = query.iter().copied().collect();
        let mut known = query.iter().filter_map(|formula| self.cores.get(formula)).flatten();
        known.find(|core| core.iter().all(|formula| set.contains(formula))).cloned()
    }

    /// An old model of the query, made to speak of all its symbols.
    fn recall(&mut self, store: &Store, query: &[Formula]) -> Option<Model> {
        let newest = *query.last()?;
        for index in 0..self.models.len() {
            // What was added last decides most often: look at that alone first.
            if !self.models[index].formula(store, newest) {
                continue;
            }
            let symbols = store.symbols_in(query.iter().map(|f| f.id()));
            let mut model = Model::zero(store, symbols.iter().copied());
            model.adopt(&self.models[index], symbols.iter().copied());
            address::complete(store, &mut model, symbols);
            if !model.satisfies(store, query) {
                continue;
            }
            let used = self.models.remove(index)?;
            self.models.push_front(used);
            return Some(model);
        }
        None
    }

    fn remember_core(&mut self, core: &[Formula]) {
        let core = super::canonical(core);
        let Some(&least) = core.first() else { return };
        if self.core_count == CORES {
            self.cores.clear();
            self.core_count = 0;
        }
        self.core_count += 1;
        self.cores.entry(least).or_default().push(core);
    }
}

impl<'s, S: Solver<'s>> Solver<'s> for CounterexampleCache<S> {
    forward!(inner);

    fn check(&mut self, query: &[Formula]) -> Answer {
        if let Some(core) = self.contradiction(query) {
            self.hits += 1;
            self.core = core;
            return Answer::Unsat;
        }
        let store = self.inner.store();
        if let Some(model) = self.recall(store, query) {
            self.hits += 1;
            return Answer::Sat(model);
        }
        let answer = self.inner.check(query);
        match &answer {
            Answer::Sat(model) => {
                self.models.truncate(MODELS - 1);
                self.models.push_front(model.clone());
            }
            Answer::Unsat => {
                self.core = self.inner.unsat_core().to_vec();
                self.remember_core(&self.core.clone());
            }
            Answer::Unknown(_) => {}
        }
        answer
    }

    fn unsat_core(&self) -> &[Formula] {
        &self.core
    }
}
