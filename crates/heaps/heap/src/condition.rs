//! Path conditions as short as the path makes them: what is known is said once, and nothing is said that it decides.
//!
//! The conjuncts that outcomes gave are rewritten under each other. A conjunct that is an atom or its negation is known
//! everywhere else; of a selector, one choice excludes the others, and the last that is left is made; an alternative
//! that is impossible on the path is dropped. Each step keeps the conjunction as a whole equivalent, together with what
//! holds of every input (`Origin::Input`) and, where a precondition counts as one condition, with the precondition.

use crate::guarded::Guarded;
use crate::origin::Origin;
use crate::selector::{Choice, Selector};
use parallax_op::BoolOp;
use parallax_term::{Expr, Formula, Id, Node, Store};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Questions that may be asked for the sake of one condition.
const QUESTIONS: usize = 48;
/// Alternatives of one conjunct that are looked at.
const ALTERNATIVES: usize = 16;
/// Parts of a conjunct that nobody reads to the end: no question is asked for its sake.
const LARGE: usize = 400;
/// Rounds of rewriting; each makes something known, or is the last.
const ROUNDS: usize = 8;
/// Parts of a conjunct, or of a selector's condition, that is looked into at all.
const HUGE: usize = 1000;
/// Parts that are looked into at a time.
const ROOM: usize = 10_000;

impl Guarded<'_> {
    /// What inputs of this path have in common, beyond what holds of every input and of those that a precondition
    /// accepts which counts as one condition.
    pub fn outcomes(&self) -> Vec<Formula> {
        let conjuncts = self.path.conjuncts().to_vec();
        let known = conjuncts[..self.entered].iter().map(|(formula, _)| *formula).collect();
        let outcomes = conjuncts[self.entered..].iter().filter(|(_, origin)| *origin == Origin::Outcome);
        let outcomes = outcomes.map(|(formula, _)| *formula).collect();
        Outcomes { heap: self, store: self.oracle.store, values: FxHashMap::default() }
            .simplified(known, outcomes)
    }
}

struct Outcomes<'a, 's> {
    heap: &'a Guarded<'s>,
    store: &'s Store,
    /// Atoms that are known.
    values: FxHashMap<Formula, bool>,
}

impl Outcomes<'_, '_> {
    fn simplified(&mut self, before: Vec<Formula>, outcomes: Vec<Formula>) -> Vec<Formula> {
        // What is known beforehand need not be said.
        let mut room = ROOM;
        let before = before.into_iter().filter(|&part| self.fits(part, &mut room)).collect();
        self.settle(before, &mut Vec::new());
        let mut said = Vec::new();
        let (outcomes, huge): (Vec<_>, Vec<_>) =
            outcomes.into_iter().partition(|&part| self.fits(part, &mut { ROOM }));
        let mut rest = self.settle(outcomes, &mut said);
        // Beside what is huge every question is a hard one.
        let mut questions = if huge.is_empty() { QUESTIONS } else { 0 };
        loop {
            let (shorter, changed) = self.without_impossible(&rest, &mut questions);
            rest = self.settle(shorter, &mut said);
            if !changed {
                break;
            }
        }
        let mut parts = self.in_short(&said);
        parts.extend(rest);
        parts.extend(huge);
        parts
    }

    /// Whether a formula has no more parts than are looked into. Looking takes from the room there is.
    fn fits(&self, formula: Formula, room: &mut usize) -> bool {
        let most = HUGE.min(*room);
        let (mut seen, mut todo) = (FxHashSet::default(), vec![formula.id()]);
        while let Some(id) = todo.pop()
            && seen.len() <= most
        {
            if seen.insert(id) {
                todo.extend(self.store.operands(id));
            }
        }
        *room = room.saturating_sub(seen.len());
        seen.len() <= most
    }

    /// Rewrites formulas under each other until nothing more becomes known. Gives what is no atom, and adds the atoms
    /// to `said`.
    fn settle(&mut self, mut parts: Vec<Formula>, said: &mut Vec<(Formula, bool)>) -> Vec<Formula> {
        for _ in 0..ROUNDS {
            let known = self.values.len();
            let mut rewriting = Rewriting::new(self.store, &self.values);
            let mut todo: Vec<Formula> = parts.iter().rev().map(|&part| rewriting.formula(part)).collect();
            let (mut rest, mut seen, mut atoms) = (Vec::new(), FxHashSet::default(), Vec::new());
            while let Some(part) = todo.pop() {
                match self.store.node(part) {
                    Node::Bool(true) => {}
                    _ if !seen.insert(part) => {}
                    Node::BoolOp(BoolOp::And, a, b) => todo.extend([b, a]),
                    _ => match literal(self.store, part) {
                        Some(found) => atoms.push(found),
                        None => rest.push(part),
                    },
                }
            }
            for (atom, value) in atoms {
                if self.values.insert(atom, value).is_none() {
                    said.push((atom, value));
                }
            }
            self.choose();
            parts = rest;
            if self.values.len() == known {
                break;
            }
        }
        parts
    }

    /// What selectors make of what is known. It follows, so it need not be said.
    fn choose(&mut self) {
        let mut rewriting = Rewriting::new(self.store, &self.values);
        let (mut follows, mut room) = (Vec::new(), ROOM);
        for selector in &self.heap.selectors {
            let value = |atom: &Formula| self.values.get(atom).copied();
            let atoms = || selector.choices.iter().map(|(_, atom)| *atom);
            let chosen = atoms().any(|atom| value(&atom) == Some(true));
            let open: Vec<Formula> = atoms().filter(|atom| value(atom).is_none()).collect();
            if open.is_empty() {
                continue;
            }
            let mut under = || {
                let small = self.fits(selector.under, &mut room);
                small.then(|| self.store.as_boolean(rewriting.formula(selector.under))).flatten()
            };
            let decided = match (chosen, open.as_slice()) {
                (true, _) => Some(false),
                (false, [_]) => under(),
                (false, _) => under().filter(|made| !made),
            };
            follows.extend(open.into_iter().filter_map(|atom| Some((atom, decided?))));
        }
        self.values.extend(follows);
    }

    /// What is known of one selector in one part: the choice that was made says which were not.
    fn in_short(&self, said: &[(Formula, bool)]) -> Vec<Formula> {
        let mut parts = Vec::new();
        for &(atom, value) in said {
            let own = |selector: &&Rc<Selector>| selector.choices.iter().any(|(_, other)| *other == atom);
            let selector = self.heap.selectors.iter().find(own);
            let chosen = selector.and_then(|selector| {
                // Where there is only null to be told from, "not null" is the shorter word.
                let only = matches!(selector.choices.as_slice(), [(Choice::Nil, nil), _] if *nil == atom);
                let mut choices = selector.choices.iter().map(|(_, other)| *other).filter(|_| value || !only);
                choices.find(|other| self.values.get(other) == Some(&true))
            });
            let part = match (chosen, value) {
                (Some(chosen), _) => chosen,
                (None, true) => atom,
                (None, false) => self.store.not(atom),
            };
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts
    }

    /// Alternatives that are impossible on the path are dropped.
    fn without_impossible(&self, parts: &[Formula], questions: &mut usize) -> (Vec<Formula>, bool) {
        let mut changed = false;
        let mut shorter = Vec::new();
        for &part in parts {
            let alternatives = alternatives(self.store, part);
            let large = || self.store.post_order([part.id()]).len() > LARGE;
            if alternatives.len() < 2 || alternatives.len() > ALTERNATIVES || large() {
                shorter.push(part);
                continue;
            }
            let possible = alternatives.iter().copied().filter(|&alternative| {
                let asked = *questions > 0;
                *questions = questions.saturating_sub(1);
                // Nothing is dropped that might be.
                !asked || !matches!(self.heap.path.sat(&self.heap.oracle, alternative), Ok(None))
            });
            let possible: Vec<Formula> = possible.collect();
            let fewer = possible.len() < alternatives.len();
            changed |= fewer;
            shorter.push(if fewer { self.store.any(possible) } else { part });
        }
        (shorter, changed)
    }
}

/// The atom of an atom or its negation, and which of the two it is.
fn literal(store: &Store, formula: Formula) -> Option<(Formula, bool)> {
    match store.node(formula) {
        Node::Not(inner) => literal(store, inner).map(|(atom, value)| (atom, !value)),
        Node::BoolOp(..) | Node::IteBool(..) | Node::Bool(_) => None,
        _ => Some((formula, true)),
    }
}

/// The alternatives of a disjunction, also of one that is written as a negated conjunction.
fn alternatives(store: &Store, formula: Formula) -> Vec<Formula> {
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    let mut todo = vec![(formula, true)];
    while let Some((part, positive)) = todo.pop() {
        if !seen.insert((part, positive)) {
            continue;
        }
        match (store.node(part), positive) {
            (Node::BoolOp(BoolOp::Or, a, b), true) | (Node::BoolOp(BoolOp::And, a, b), false) => {
                todo.extend([(b, positive), (a, positive)]);
            }
            (Node::BoolOp(BoolOp::Implies, a, b), true) => todo.extend([(b, true), (a, false)]),
            (Node::Not(inner), _) => todo.push((inner, !positive)),
            (_, true) => found.push(part),
            (_, false) => found.push(store.not(part)),
        }
    }
    found
}

/// Formulas with what is known put in.
struct Rewriting<'a, 's> {
    store: &'s Store,
    values: &'a FxHashMap<Formula, bool>,
    made: FxHashMap<Id, Expr>,
}

impl<'a, 's> Rewriting<'a, 's> {
    fn new(store: &'s Store, values: &'a FxHashMap<Formula, bool>) -> Self {
        Rewriting { store, values, made: FxHashMap::default() }
    }

    fn formula(&mut self, formula: Formula) -> Formula {
        for id in self.store.post_order([formula.id()]) {
            if !self.made.contains_key(&id) {
                let made = self.expression(id);
                self.made.insert(id, made);
            }
        }
        match self.made[&formula.id()] {
            Expr::Formula(made) => made,
            _ => formula,
        }
    }

    fn expression(&self, id: Id) -> Expr {
        let store = self.store;
        let truth = |part: Formula| match self.made[&part.id()] {
            Expr::Formula(made) => made,
            _ => part,
        };
        let term = |part: parallax_term::Term| match self.made[&part.id()] {
            Expr::Term(made) => made,
            _ => part,
        };
        let made = match store.node(id) {
            Node::Not(a) => Expr::Formula(store.not(truth(a))),
            Node::BoolOp(op, a, b) => Expr::Formula(store.boolop(op, truth(a), truth(b))),
            Node::IteBool(c, a, b) => Expr::Formula(store.ite_bool(truth(c), truth(a), truth(b))),
            Node::Ite(c, a, b) => Expr::Term(store.ite(truth(c), term(a), term(b))),
            Node::Rel(op, a, b) => Expr::Formula(store.relop(op, term(a), term(b))),
            Node::Bin(op, a, b) => Expr::Term(store.binop(op, term(a), term(b))),
            // Equal on the path to what rewriting would make of it.
            _ => store.expr(id),
        };
        match made {
            Expr::Formula(formula) => {
                let known = literal(store, formula)
                    .and_then(|(atom, positive)| self.values.get(&atom).map(|value| *value == positive));
                known.map_or(made, |value| Expr::Formula(store.boolean(value)))
            }
            _ => made,
        }
    }
}
