//! Tables that never change: which of their entries a load may be from.
//!
//! A switch becomes a load from a table of addresses or distances, at an index that a comparison before it has bounded; a
//! lookup masks its index, or takes a remainder. What the address is made of, and what the condition under which the load
//! is reached compares with constants, usually bounds it ([`Store::span`]). Where that is not enough a solver lists the
//! addresses: what of the condition is about the index is asked first, since it is short, and the same on many paths.
//!
//! No question is timed. A budget counts conflicts, so that an answer does not depend on what else the machine does.

use parallax_op::{BinOp, Bits, RelOp};
use parallax_path::Oracle;
use parallax_sem::{ConstantTables, Origin};
use parallax_smt::{Answer, Limits, Solver, Tier0};
use parallax_term::{Formula, Id, Node, Store, Term};
use rustc_hash::{FxHashMap, FxHashSet};

/// Larger tables are not looked through.
const MOST: usize = 1024;

/// Larger formulas are not asked about: what decides whether a return address is intact is short, or too hard.
const LARGEST_QUESTION: usize = 2000;

/// What one question about control may take of the first solver, and of no other: loops ask once a turn.
const CONTROL: Limits = Limits { time: None, conflicts: Some(1_000), size: 50_000 };

/// What one question about an index may take: without an answer the evaluation gives up.
const INDEX: Limits = Limits { time: None, conflicts: Some(10_000), size: 1_000_000 };

/// Addresses, each with its condition.
type Places = Vec<(Formula, Bits)>;

/// Which entries of a table a load may be from.
#[derive(Clone, Debug)]
enum Entries {
    /// The address is no entry of a table, as far as is known.
    None,
    /// These, and anywhere else if the flag is set.
    Some(Places, bool),
    /// It may be an entry, and which was not found out.
    Unknown,
}

/// An oracle, and what it has said about loads.
pub(crate) struct Tables<'s> {
    index: Oracle<'s>,
    control: Oracle<'s>,
    known: FxHashMap<(Formula, Term), Entries>,
}

impl<'s> Tables<'s> {
    pub fn new(solver: Box<dyn Solver<'s> + 's>) -> Self {
        let store = solver.store();
        Tables {
            index: Oracle::new(solver).with_limits(INDEX),
            control: Oracle::new(Box::new(Tier0::new(store))).with_limits(CONTROL),
            known: FxHashMap::default(),
        }
    }

    /// Whether a formula, if it is not large, is found never to hold.
    pub fn refutes(&self, formula: Formula) -> bool {
        let store = self.control.store;
        formula == store.false_()
            || store.post_order([formula.id()]).len() <= LARGEST_QUESTION
                && matches!(self.control.check(&[formula]), Answer::Unsat)
    }

    /// Where a load may be from that is made under a guard.
    ///
    /// An index that differs from path to path comes here as a conditional, with an address in each branch.
    pub fn origin<L: ConstantTables>(
        &mut self,
        language: &L,
        guard: Formula,
        address: Term,
    ) -> Origin<Formula> {
        let store = self.index.store;
        let mut found = Places::new();
        let mut number: FxHashMap<Bits, usize> = FxHashMap::default();
        let mut elsewhere = false;
        let mut waiting = vec![(store.true_(), address)];
        while let Some((condition, address)) = waiting.pop() {
            if condition == store.false_() {
                continue;
            }
            if let Node::Ite(c, t, e) = store.node(address) {
                // More branches than a table has entries are no index.
                if waiting.len() + found.len() >= MOST {
                    return Origin::Anywhere;
                }
                waiting.push((store.and(condition, store.not(c)), e));
                waiting.push((store.and(condition, c), t));
                continue;
            }
            let entries = match store.as_constant(address) {
                Some(at) => Entries::Some(vec![(store.true_(), at)], false),
                None => self.entries(language, store.and(guard, condition), address),
            };
            let (entries, more) = match entries {
                Entries::None => (Vec::new(), true),
                Entries::Some(entries, more) => (entries, more),
                Entries::Unknown => {
                    return Origin::Unknown(
                        "which entry of a table is read could not be found out".to_owned(),
                    );
                }
            };
            elsewhere |= more;
            for (when, at) in entries {
                let when = store.and(condition, when);
                match number.get(&at) {
                    Some(&known) => found[known].0 = store.or(found[known].0, when),
                    None => {
                        number.insert(at.clone(), found.len());
                        found.push((when, at));
                    }
                }
            }
        }
        match found.is_empty() {
            true => Origin::Anywhere,
            false => Origin::Among { places: found, elsewhere },
        }
    }

    /// The same for an address that is no conditional.
    fn entries<L: ConstantTables>(&mut self, language: &L, guard: Formula, address: Term) -> Entries {
        let store = self.index.store;
        let about = about(store, guard, address);
        // By its structure, and by what the guard compares.
        let span = store.span(address, &store.ranges(about));
        let number = |at: u128| Bits::new(store.width(address), at);
        if span.count() <= MOST as u128 {
            let is_table = |at: u128| language.table(&number(at)).is_some_and(|table| holds(&table, at));
            if !span.numbers().any(is_table) {
                return Entries::None;
            }
            return Entries::Some(equal_to(store, address, span.numbers().map(number)), false);
        }
        // What is added to the index is the start of the table, or near it; most loads stop here.
        let (Some(base), start) = store.base_offset(address) else { return Entries::None };
        let Some(table) = language.table(&start) else { return Entries::None };
        let is_inside = start.to_u64().is_some_and(|start| table.contains(&start));
        if about == store.true_() && !is_inside && is_pointer(store, base) {
            return Entries::None;
        }
        if let Some(known) = self.known.get(&(guard, address)) {
            return known.clone();
        }
        let entries = self.listed(guard, about, address, &table, is_inside);
        self.known.insert((guard, address), entries.clone());
        entries
    }

    /// What a solver says of an address near a table; `is_inside` says that what is added to the index lies in the table.
    fn listed(
        &mut self,
        guard: Formula,
        about: Formula,
        address: Term,
        table: &std::ops::Range<u64>,
        is_inside: bool,
    ) -> Entries {
        let store = self.index.store;
        let number = |value: u64| store.constant(&Bits::new(store.width(address), value.into()));
        let outside = store.or(
            store.relop(RelOp::Ult, address, number(table.start)),
            store.relop(RelOp::Uge, address, number(table.end)),
        );
        let mut leaves = true;
        for guard in [about, guard] {
            let answer = self.index.check(&[guard, outside]);
            leaves = match answer {
                Answer::Unsat => {
                    let all = self.index.values(&[guard], address, MOST);
                    if all.stopped.is_some() {
                        return Entries::Unknown;
                    }
                    let mut found = all.found;
                    found.sort_by_key(Bits::to_u64);
                    return Entries::Some(equal_to(store, address, found), false);
                }
                Answer::Sat(_) => true,
                Answer::Unknown(_) => false,
            };
        }
        // The index may lead out of the table: each entry that it may be, and memory for the rest.
        let ranges = store.ranges(about);
        let within = store.span(address, &ranges).within(table.start.into(), u128::from(table.end) - 1);
        match within.filter(|within| within.count() <= MOST as u128) {
            Some(within) if is_inside => {
                let number = |at: u128| Bits::new(store.width(address), at);
                Entries::Some(equal_to(store, address, within.numbers().map(number)), true)
            }
            // An address near a table that may be anywhere is no entry of it.
            _ if leaves && !is_inside => Entries::None,
            _ => Entries::Unknown,
        }
    }
}

fn holds(table: &std::ops::Range<u64>, at: u128) -> bool {
    u64::try_from(at).is_ok_and(|at| table.contains(&at))
}

/// Constants, each with the condition that the address is it.
fn equal_to(store: &Store, address: Term, places: impl IntoIterator<Item = Bits>) -> Places {
    let with_condition = |at: Bits| (store.eq(address, store.constant(&at)), at);
    places.into_iter().map(with_condition).filter(|(when, _)| *when != store.false_()).collect()
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
            // Rounded down, as compilers align a stack.
            Node::Bin(BinOp::And, a, b) if clears_low_bits(store, b) => waiting.push(a),
            _ => {}
        }
    }
    false
}

fn clears_low_bits(store: &Store, mask: Term) -> bool {
    let cleared = store.as_constant(mask).map(|mask| parallax_op::UnOp::Not.apply(&mask).to_big() + 1u32);
    cleared.is_some_and(|power| power.count_ones() == 1)
}
