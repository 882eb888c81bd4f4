//! Parts of a query that share no symbol are decided apart.

use super::forward;
use crate::{Answer, Model, Solver, address};
use parallax_op::Width;
use parallax_term::{Formula, Store, Symbol};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Splits a query into independent parts and asks for each: parts are smaller, and recur.
pub struct Slicing<S> {
    inner: S,
    symbols: FxHashMap<Formula, Rc<[Symbol]>>,
    core: Vec<Formula>,
}

/// What ties formulas together: a symbol, or that address symbols of one width keep apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Tie {
    Symbol(Symbol),
    Addresses(Width),
}

impl<S> Slicing<S> {
    /// Slices queries to `inner`.
    pub fn new(inner: S) -> Self {
        Slicing { inner, symbols: FxHashMap::default(), core: Vec::new() }
    }

    fn symbols(&mut self, store: &Store, formula: Formula) -> Rc<[Symbol]> {
        let known = self.symbols.entry(formula);
        known.or_insert_with(|| store.symbols_in([formula.id()]).into()).clone()
    }

    /// The parts of a query, in order of their first formulas.
    fn parts(&mut self, store: &Store, query: &[Formula]) -> Vec<Vec<Formula>> {
        let mut parent: Vec<usize> = (0..query.len()).collect();
        let mut owner: FxHashMap<Tie, usize> = FxHashMap::default();
        for (index, &formula) in query.iter().enumerate() {
            for &symbol in self.symbols(store, formula).iter() {
                let addresses = address::extent(store, symbol).map(|(_, width)| Tie::Addresses(width));
                for tie in [Some(Tie::Symbol(symbol)), addresses].into_iter().flatten() {
                    let other = *owner.entry(tie).or_insert(index);
                    let (a, b) = (root(&mut parent, index), root(&mut parent, other));
                    parent[a.max(b)] = a.min(b);
                }
            }
        }
        let mut parts: Vec<Vec<Formula>> = vec![Vec::new(); query.len()];
        for (index, &formula) in query.iter().enumerate() {
            parts[root(&mut parent, index)].push(formula);
        }
        parts.retain(|part| !part.is_empty());
        parts
    }
}

fn root(parent: &mut [usize], mut index: usize) -> usize {
    while parent[index] != index {
        parent[index] = parent[parent[index]];
        index = parent[index];
    }
    index
}

impl<'s, S: Solver<'s>> Solver<'s> for Slicing<S> {
    forward!(inner);

    fn check(&mut self, query: &[Formula]) -> Answer {
        self.core.clear();
        let store = self.inner.store();
        let mut whole = Model::new();
        let mut unknown = None;
        for part in self.parts(store, query) {
            match self.inner.check(&part) {
                // Below may be a cache whose models speak of more than was asked.
                Answer::Sat(model) => {
                    for &formula in &part {
                        whole.adopt(&model, self.symbols(store, formula).iter().copied());
                    }
                }
                Answer::Unsat => {
                    self.core = self.inner.unsat_core().to_vec();
                    return Answer::Unsat;
                }
                // Another part may still be impossible.
                Answer::Unknown(reason) => unknown = unknown.or(Some(reason)),
            }
        }
        match unknown {
            None => Answer::Sat(whole),
            Some(reason) => Answer::Unknown(reason),
        }
    }

    fn unsat_core(&self) -> &[Formula] {
        &self.core
    }
}
