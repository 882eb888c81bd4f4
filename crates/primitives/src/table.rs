//! Tables that never change: which of their entries a load may be from.
//!
//! A switch becomes a load from a table of addresses or distances, at an index that a comparison before it has bounded.
//! The bound is in the condition under which the load is reached, so a solver lists the addresses. What of the condition
//! is about the index is asked first: it is short, and the same on many paths.

use parallax_op::{BinOp, Bits, RelOp};
use parallax_path::Oracle;
use parallax_sem::ConstantTables;
use parallax_smt::{Answer, Solver};
use parallax_term::{Formula, Id, Node, Store, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::{Duration, Instant};

/// Larger tables are not looked through.
const MOST: usize = 1024;

/// Larger formulas are not asked about: what decides whether a return address is intact is short, or too hard.
const LARGEST_QUESTION: usize = 2000;

/// And what one such question may take: loops ask it once a turn.
const PATIENCE: Duration = Duration::from_millis(100);

/// Addresses, each with its condition.
type Places = Vec<(Formula, Bits)>;

/// An oracle, and what it has said about loads.
pub(crate) struct Tables<'s> {
    oracle: Oracle<'s>,
    known: FxHashMap<(Formula, Term), Option<Places>>,
}

impl<'s> Tables<'s> {
    pub fn new(solver: Box<dyn Solver<'s> + 's>) -> Self {
        Tables { oracle: Oracle::new(solver), known: FxHashMap::default() }
    }

    /// Whether a formula, if it is not large, is found never to hold.
    pub fn refutes(&mut self, formula: Formula) -> bool {
        let is_small = self.oracle.store.post_order([formula.id()]).len() <= LARGEST_QUESTION;
        if !is_small {
            return false;
        }
        self.oracle.set_deadline(Some(Instant::now() + PATIENCE));
        let answer = self.oracle.check(&[formula]);
        self.oracle.set_deadline(None);
        matches!(answer, Answer::Unsat)
    }

    /// The addresses that a load may be from, if under the guard all of them lie in tables.
    ///
    /// An index that differs from path to path comes here as a conditional, with an address in each branch.
    pub fn places<L: ConstantTables>(
        &mut self,
        language: &L,
        guard: Formula,
        address: Term,
    ) -> Option<Places> {
        let store = self.oracle.store;
        let mut found = Places::new();
        let mut index: FxHashMap<Bits, usize> = FxHashMap::default();
        let mut waiting = vec![(store.true_(), address)];
        while let Some((condition, address)) = waiting.pop() {
            if condition == store.false_() {
                continue;
            }
            let entries = match store.node(address) {
                Node::Const(at) => vec![(store.true_(), at)],
                Node::Ite(..) if waiting.len() + found.len() >= MOST => return None,
                Node::Ite(c, t, e) => {
                    waiting.push((store.and(condition, store.not(c)), e));
                    waiting.push((store.and(condition, c), t));
                    continue;
                }
                _ => self.entries(language, store.and(guard, condition), address)?,
            };
            for (when, at) in entries {
                let when = store.and(condition, when);
                match index.get(&at) {
                    Some(&known) => found[known].0 = store.or(found[known].0, when),
                    None => {
                        index.insert(at.clone(), found.len());
                        found.push((when, at));
                    }
                }
            }
        }
        Some(found)
    }

    /// The same for an address with one constant part.
    fn entries<L: ConstantTables>(&mut self, language: &L, guard: Formula, address: Term) -> Option<Places> {
        let store = self.oracle.store;
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
        if about == store.true_() && is_pointer(store, base) {
            return None;
        }
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
        let store = self.oracle.store;
        if !matches!(self.oracle.check(&[guard, outside]), Answer::Unsat) {
            return None;
        }
        let all = self.oracle.values(&[guard], address, MOST);
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
    let leaves = leaves(store, term.id());
    let mut kept = Vec::new();
    let mut waiting = vec![formula];
    let mut seen = FxHashSet::default();
    while let Some(formula) = waiting.pop() {
        if !seen.insert(formula) {
            continue;
        }
        match store.node(formula) {
            Node::BoolOp(parallax_op::BoolOp::And, a, b) => waiting.extend([a, b]),
            _ if !self::leaves(store, formula.id()).is_disjoint(&leaves) => kept.push(formula),
            _ => {}
        }
    }
    kept.sort_by_key(|formula| formula.id());
    store.all(kept)
}

/// The symbols, the contents of memory and the choices that a value is computed from. Where in memory contents are, and
/// what a choice is made by, does not bound them.
fn leaves(store: &Store, id: Id) -> FxHashSet<Id> {
    let mut leaves = FxHashSet::default();
    let mut seen = FxHashSet::default();
    let mut waiting = vec![id];
    while let Some(id) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        match store.node(id) {
            Node::Symbol(_) | Node::Access(..) | Node::Ite(..) => {
                leaves.insert(id);
            }
            _ => waiting.extend(store.operands(id)),
        }
    }
    leaves
}

/// Whether a whole address is in it, from a register or from memory: such a sum is an index into a table only if a
/// condition says so.
fn is_pointer(store: &Store, term: Term) -> bool {
    let mut waiting = vec![term];
    let mut seen = FxHashSet::default();
    while let Some(term) = waiting.pop() {
        if !seen.insert(term) {
            continue;
        }
        match store.node(term) {
            Node::Symbol(_) | Node::Access(..) => return true,
            Node::Concat(high, _) => waiting.push(high),
            Node::Bin(BinOp::Add | BinOp::Sub, a, b) | Node::Ite(_, a, b) => waiting.extend([a, b]),
            _ => {}
        }
    }
    false
}
