//! Tables that never change: which of their entries a load may be from.
//!
//! A switch becomes a load from a table of addresses or distances, at an index that a comparison before it has bounded.
//! The bound is in the condition under which the load is reached, so a solver lists the addresses. What of the condition
//! is about the index is asked first: it is short, and the same on many paths.

use parallax_op::{Bits, RelOp};
use parallax_sem::Language;
use parallax_smt::{Answer, Solver, values};
use parallax_term::{Formula, Id, Node, Store, Term};
use rustc_hash::{FxHashMap, FxHashSet};

/// Larger tables are not looked through.
const MOST: usize = 1024;

/// Addresses, each with its condition.
type Places = Vec<(Formula, Bits)>;

/// A solver, and what it has said about loads.
pub(crate) struct Tables<'s> {
    solver: Box<dyn Solver<'s> + 's>,
    known: FxHashMap<(Formula, Term), Option<Places>>,
}

impl<'s> Tables<'s> {
    pub fn new(solver: Box<dyn Solver<'s> + 's>) -> Self {
        Tables { solver, known: FxHashMap::default() }
    }

    /// The addresses that a load may be from, if under the guard all of them lie in one table.
    pub fn places<L: Language>(&mut self, language: &L, guard: Formula, address: Term) -> Option<Places> {
        let store = self.solver.store();
        // What is added to the index is the start of the table, or near it; most loads stop here.
        let (Some(base), start) = store.base_offset(address) else { return None };
        let table = language.table(&start)?;
        let width = store.width(address);
        let number = |value: u64| store.constant(&Bits::new(width, value.into()));
        let outside = store.or(
            store.relop(RelOp::Ult, address, number(table.start)),
            store.relop(RelOp::Uge, address, number(table.end)),
        );
        let about = about(store, guard, base);
        let mut guards = vec![about];
        guards.extend((guard != about).then_some(guard));
        guards.into_iter().find_map(|guard| {
            if let Some(known) = self.known.get(&(guard, address)) {
                return known.clone();
            }
            let found = self.listed(guard, outside, address);
            self.known.insert((guard, address), found.clone());
            found
        })
    }

    fn listed(&mut self, guard: Formula, outside: Formula, address: Term) -> Option<Places> {
        let store = self.solver.store();
        if !matches!(self.solver.check(&[guard, outside]), Answer::Unsat) {
            return None;
        }
        let all = values(&mut *self.solver, &[guard], address, MOST);
        if all.stopped.is_some() {
            return None;
        }
        let mut found = all.found;
        found.sort_by_key(Bits::to_u64);
        Some(found.into_iter().map(|at| (store.eq(address, store.constant(&at)), at)).collect())
    }
}

/// The conjuncts of a formula that speak of what a term is made of.
fn about(store: &Store, formula: Formula, term: Term) -> Formula {
    let leaves = leaves(store, term);
    let mut kept = Vec::new();
    let mut waiting = vec![formula];
    let mut seen = FxHashSet::default();
    while let Some(formula) = waiting.pop() {
        if !seen.insert(formula) {
            continue;
        }
        match store.node(formula) {
            Node::BoolOp(parallax_op::BoolOp::And, a, b) => waiting.extend([a, b]),
            _ if store.post_order([formula.id()]).iter().any(|id| leaves.contains(id)) => kept.push(formula),
            _ => {}
        }
    }
    kept.sort_by_key(|formula| formula.id());
    store.all(kept)
}

/// The symbols and the contents of memory that a term is computed from.
fn leaves(store: &Store, term: Term) -> FxHashSet<Id> {
    let mut leaves = FxHashSet::default();
    let mut seen = FxHashSet::default();
    let mut waiting = vec![term.id()];
    while let Some(id) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        if matches!(store.node(id), Node::Symbol(_) | Node::Access(..)) {
            leaves.insert(id);
        } else {
            waiting.extend(store.operands(id));
        }
    }
    leaves
}
