//! How many heaps a guarded heap stands for, without listing them.
//!
//! Every conjunct of the path condition becomes a decision diagram: the choices of selectors first, in the order in which
//! they were made, then whatever is asked of vectors and truth values. Conjuncts about the same values are one diagram,
//! in which a part that is about values alone counts if some values satisfy it; the solver is asked once. Choices are then
//! summed out of the product of all, the last one first. What grows too large is given up, and heaps are listed up to a
//! limit.

use crate::HeapError;
use crate::diagram::{Diagram, FALSE, Ref, TRUE};
use crate::eliminate::Product;
use crate::guarded::Guarded;
use crate::nodes::TooLarge;
use parallax_op::{BoolOp, RelOp};
use parallax_term::{Expr, Formula, Id, Node, Store, Symbol, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::time::Instant;

/// Choices that a diagram may have: its recursion is that deep.
const CHOICES: usize = 3000;
/// Questions about values that a diagram may ask: with more, hardly two shapes ask the same.
const QUESTIONS: usize = 48;

/// How many heaps there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The number of heaps.
    pub heaps: u64,
    /// and no more, if this is true.
    pub exact: bool,
}

/// Why there is no diagram.
enum Trouble {
    TooLarge,
    /// A term by cases under an operator that is not looked through.
    Unknown,
    Heap(HeapError),
}

impl From<TooLarge> for Trouble {
    fn from(_: TooLarge) -> Self {
        Trouble::TooLarge
    }
}

impl From<HeapError> for Trouble {
    fn from(error: HeapError) -> Self {
        Trouble::Heap(error)
    }
}

impl Guarded<'_> {
    /// How many ways there are to choose; where only listing helps, `limit` at most.
    pub fn count(&self, limit: usize) -> Result<Count, HeapError> {
        if self.is_plainly_one() {
            return Ok(Count { heaps: 1, exact: true });
        }
        match self.count_by_diagram() {
            Ok(count) => Ok(count),
            Err(Trouble::Heap(error @ HeapError::Broken(_))) => Err(error),
            Err(_) => {
                match self.models(limit) {
                    Ok(models) => Ok(Count { heaps: models.models.len() as u64, exact: models.complete }),
                    // The path is possible; how often is beyond the solver.
                    Err(HeapError::Solver(_)) => Ok(Count { heaps: 1, exact: false }),
                    Err(error) => Err(error),
                }
            }
        }
    }

    /// Of the choices that large conjuncts speak of, or many about values, those that are known to be the same in every heap
    /// of the path: with them in place, most such conjuncts are small. The candidates are those of one heap, and every
    /// further heap that differs leaves fewer of them.
    fn decided(&self) -> Result<Vec<Formula>, Trouble> {
        let store = self.oracle.store;
        let path = self.path.formulas();
        let solve = |question: &[Formula]| self.oracle.solve(question).map_err(HeapError::from);
        let conjuncts = path.iter().flat_map(|formula| conjuncts(store, *formula));
        let choices: FxHashSet<Id> = self.selections().map(|atom| atom.id()).collect();
        let (mut large, mut valued) = (Vec::new(), Vec::new());
        for part in conjuncts.map(|part| part.id()) {
            let below = store.post_order([part]);
            let value = |id: &Id| matches!(store.node(*id), Node::Symbol(_)) && !choices.contains(id);
            if below.len() > SMALL {
                large.push(part);
            } else if below.iter().any(value) {
                valued.push(part);
            }
        }
        if valued.len() > FEW {
            large.extend(valued);
        }
        if large.is_empty() {
            return Ok(Vec::new());
        }
        let asked: FxHashSet<Id> = store.post_order(large).into_iter().collect();
        let model = match self.path.model() {
            Some(known) => known.clone(),
            None => match solve(&path)? {
                Some(found) => Rc::new(found),
                None => return Ok(Vec::new()),
            },
        };
        let mut candidates: Vec<Formula> = self
            .selections()
            .filter(|atom| asked.contains(&atom.id()))
            .map(|atom| if model.holds(store, atom) { atom } else { store.not(atom) })
            .collect();
        let mut known = self.plainly_so(&mut candidates);
        for _ in 0..ROUNDS {
            if candidates.is_empty() {
                break;
            }
            let other = store.not(store.all(candidates.iter().copied()));
            let question: Vec<Formula> = path.iter().chain(&known).copied().chain([other]).collect();
            let Some(model) = solve(&question)? else {
                known.append(&mut candidates);
                break;
            };
            candidates.retain(|candidate| model.holds(store, *candidate));
        }
        // Of the other candidates some heap may differ yet.
        Ok(known)
    }

    /// Whether it is plain that every choice is made as in the heap that is known.
    fn is_plainly_one(&self) -> bool {
        let Some(model) = self.path.model() else { return false };
        let certain = |choice| self.path.plainly_excludes(&self.oracle, self.oracle.store.not(choice));
        self.choices(model).into_iter().all(certain)
    }

    /// Takes out the candidates that plainly hold in every heap of the path. A key that is above all before it makes a long
    /// chain, and each way back in it is a short way to a contradiction: to ask for all at once is a hard question.
    fn plainly_so(&self, candidates: &mut Vec<Formula>) -> Vec<Formula> {
        let mut known = Vec::new();
        loop {
            let before = known.len();
            candidates.retain(|&candidate| {
                let plain = self.path.plainly_excludes(&self.oracle, self.oracle.store.not(candidate));
                if plain {
                    known.push(candidate);
                }
                !plain
            });
            // What is known may make more of them plain.
            if known.len() == before || candidates.is_empty() {
                return known;
            }
        }
    }

    fn count_by_diagram(&self) -> Result<Count, Trouble> {
        let mut counter = Counter::new(self)?;
        for choice in self.decided()? {
            let condition = counter.formula(choice)?;
            counter.decide(condition);
        }
        counter.built.clear();
        let formulas = self.path.formulas();
        let mut conditions = counter
            .conditions(formulas.into_iter().flat_map(|formula| conjuncts(self.oracle.store, formula)))?;
        // Which element an index meant is a choice too, but one that values make.
        let first = counter.choices - self.indices.len() as u32;
        for (&index, variable) in self.indices.iter().zip(first..) {
            let meant = counter.formula(index)?;
            let (chosen, otherwise) = (counter.diagram.variable(variable)?, counter.diagram.not(meant)?);
            conditions.push(counter.diagram.ite(chosen, meant, otherwise)?);
        }
        let ways = counter.ways(conditions)?;
        let heaps = u64::try_from(ways).unwrap_or(u64::MAX);
        Ok(Count { heaps, exact: heaps < u64::MAX })
    }
}

/// Heaps that are looked at for what they have in common.
const ROUNDS: usize = 64;
/// Conjuncts about values that are joined without a look at what is decided.
const FEW: usize = 6;
/// Conjuncts of at most this many parts are looked at first, for what they decide in the others.
const SMALL: usize = 200;

/// What a formula is the conjunction of.
fn conjuncts(store: &Store, formula: Formula) -> Vec<Formula> {
    let (mut parts, mut stack) = (Vec::new(), vec![(formula, true)]);
    while let Some((formula, positive)) = stack.pop() {
        match (store.node(formula), positive) {
            (Node::Not(inner), _) => stack.push((inner, !positive)),
            (Node::BoolOp(BoolOp::And, a, b), true) => stack.extend([(a, true), (b, true)]),
            (Node::BoolOp(BoolOp::Or, a, b), false) => stack.extend([(a, false), (b, false)]),
            (Node::BoolOp(BoolOp::Implies, a, b), false) => stack.extend([(a, true), (b, false)]),
            _ => parts.push(if positive { formula } else { store.not(formula) }),
        }
    }
    parts
}

struct Counter<'a, 's> {
    heap: &'a Guarded<'s>,
    store: &'s Store,
    diagram: Diagram,
    /// The variable of each choice and each question about values; choices come first.
    variables: FxHashMap<Formula, u32>,
    atoms: Vec<Formula>,
    choices: u32,
    /// Choices that a conjunct decides: the others are built with them in place.
    decided: FxHashMap<u32, bool>,
    built: FxHashMap<Id, Ref>,
    applied: FxHashMap<(Id, Ref, Ref), Ref>,
}

impl<'a, 's> Counter<'a, 's> {
    fn new(heap: &'a Guarded<'s>) -> Result<Self, Trouble> {
        let mut counter = Counter {
            heap,
            store: heap.oracle.store,
            // Half of the time is for listing, should the diagram come to nothing.
            diagram: Diagram::new(heap.oracle.time_left().map(|left| Instant::now() + left / 2)),
            variables: FxHashMap::default(),
            atoms: Vec::new(),
            choices: 0,
            decided: FxHashMap::default(),
            built: FxHashMap::default(),
            applied: FxHashMap::default(),
        };
        for atom in heap.selections() {
            counter.atom(atom)?;
        }
        counter.atoms.extend(&heap.indices);
        counter.choices = counter.atoms.len() as u32;
        Ok(counter)
    }

    /// The diagram that asks for an atom.
    fn atom(&mut self, atom: Formula) -> Result<Ref, Trouble> {
        let next = self.atoms.len() as u32;
        let variable = *self.variables.entry(atom).or_insert(next);
        if variable == next {
            let most = if self.choices == 0 { CHOICES } else { self.choices as usize + QUESTIONS };
            if self.atoms.len() >= most {
                return Err(Trouble::TooLarge);
            }
            self.atoms.push(atom);
        }
        match self.decided.get(&variable) {
            Some(true) => Ok(TRUE),
            Some(false) => Ok(FALSE),
            None => Ok(self.diagram.variable(variable)?),
        }
    }

    /// A diagram for every conjunct. What some decide makes others small: a list that ends at its tenth node has nine
    /// before it, and whether its last node could be its first is no question any more.
    fn conditions(&mut self, conjuncts: impl Iterator<Item = Formula>) -> Result<Vec<Ref>, Trouble> {
        let size = |formula: &Formula| self.store.post_order([formula.id()]).len();
        let mut conjuncts: Vec<(usize, Formula)> =
            conjuncts.map(|formula| (size(&formula), formula)).collect();
        conjuncts.sort_by_key(|(size, _)| *size);
        let small = conjuncts.partition_point(|(size, _)| *size <= SMALL);
        loop {
            let before = self.decided.len();
            for &(_, conjunct) in &conjuncts[..small] {
                let condition = self.formula(conjunct)?;
                self.decide(condition);
            }
            if self.decided.len() == before {
                break;
            }
            self.built.clear();
        }
        let mut conditions = Vec::new();
        for (_, conjunct) in conjuncts {
            conditions.push(self.formula(conjunct)?);
        }
        for (&variable, &value) in &self.decided {
            let chosen = self.diagram.variable(variable)?;
            conditions.push(if value { chosen } else { self.diagram.not(chosen)? });
        }
        Ok(conditions)
    }

    /// Remembers the choices without which a condition does not hold, as far as they come first in it.
    fn decide(&mut self, mut condition: Ref) {
        while let Some((variable, low, high)) = self.diagram.node(condition)
            && variable < self.choices
            && (low == FALSE || high == FALSE)
        {
            self.decided.insert(variable, low == FALSE);
            condition = if low == FALSE { high } else { low };
        }
    }

    fn formula(&mut self, formula: Formula) -> Result<Ref, Trouble> {
        for id in self.store.post_order([formula.id()]) {
            if !self.built.contains_key(&id) {
                let built = self.expression(id)?;
                self.built.insert(id, built);
            }
        }
        Ok(self.built[&formula.id()])
    }

    fn expression(&mut self, id: Id) -> Result<Ref, Trouble> {
        let store = self.store;
        let of = |counter: &Self, id: Id| counter.built[&id];
        Ok(match store.node(id) {
            Node::Bool(value) => {
                if value {
                    TRUE
                } else {
                    FALSE
                }
            }
            Node::Not(a) => self.diagram.not(of(self, a.id()))?,
            Node::BoolOp(op, a, b) => {
                let (a, b) = (of(self, a.id()), of(self, b.id()));
                let not_b = self.diagram.not(b)?;
                match op {
                    BoolOp::And => self.diagram.and(a, b)?,
                    BoolOp::Or => self.diagram.ite(a, TRUE, b)?,
                    BoolOp::Xor => self.diagram.ite(a, not_b, b)?,
                    BoolOp::Implies => self.diagram.ite(a, b, TRUE)?,
                    BoolOp::Iff => self.diagram.ite(a, b, not_b)?,
                }
            }
            Node::Ite(c, a, b) => {
                let parts = [c.id(), a.id(), b.id()].map(|part| of(self, part));
                self.diagram.ite(parts[0], parts[1], parts[2])?
            }
            Node::IteBool(c, a, b) => {
                let parts = [c.id(), a.id(), b.id()].map(|part| of(self, part));
                self.diagram.ite(parts[0], parts[1], parts[2])?
            }
            Node::Rel(op, a, b) => self.relation(op, id, of(self, a.id()), of(self, b.id()))?,
            Node::Bin(op, a, b) => {
                let cases = |store: &Store, x: Term, y: Term| store.binop(op, x, y);
                self.operator(&cases, id, of(self, a.id()), of(self, b.id()))?
            }
            Node::Symbol(_) => match store.expr(id) {
                Expr::Formula(atom) => self.atom(atom)?,
                Expr::Term(term) => self.diagram.term(term),
                Expr::Func(_) => return Err(Trouble::Unknown),
            },
            _ => {
                let plain =
                    |part: Id| self.diagram.as_term(self.built[&part]).map(|term| term.id()) == Some(part);
                match store.expr(id) {
                    Expr::Term(term) if store.operands(id).all(plain) => self.diagram.term(term),
                    _ => return Err(Trouble::Unknown),
                }
            }
        })
    }

    /// A relation between terms by cases: a question about values for each pair of cases.
    fn relation(&mut self, op: RelOp, id: Id, a: Ref, b: Ref) -> Result<Ref, Trouble> {
        if let Some(&known) = self.applied.get(&(id, a, b)) {
            return Ok(known);
        }
        let made = match (self.diagram.as_term(a), self.diagram.as_term(b)) {
            (Some(x), Some(y)) => {
                let relation = self.store.relop(op, x, y);
                match (self.store.as_boolean(relation), self.store.node(relation)) {
                    (Some(value), _) => {
                        if value {
                            TRUE
                        } else {
                            FALSE
                        }
                    }
                    (None, Node::Not(positive)) => {
                        let positive = self.atom(positive)?;
                        self.diagram.not(positive)?
                    }
                    _ => self.atom(relation)?,
                }
            }
            _ => {
                let (variable, low, high) = self.split(a, b);
                let low = self.relation(op, id, low.0, low.1)?;
                let high = self.relation(op, id, high.0, high.1)?;
                let asked = self.diagram.variable(variable)?;
                self.diagram.ite(asked, high, low)?
            }
        };
        self.applied.insert((id, a, b), made);
        Ok(made)
    }

    /// An operator on terms by cases.
    fn operator(
        &mut self,
        op: &dyn Fn(&Store, Term, Term) -> Term,
        id: Id,
        a: Ref,
        b: Ref,
    ) -> Result<Ref, Trouble> {
        if let Some(&known) = self.applied.get(&(id, a, b)) {
            return Ok(known);
        }
        let made = match (self.diagram.as_term(a), self.diagram.as_term(b)) {
            (Some(x), Some(y)) => {
                let term = op(self.store, x, y);
                self.diagram.term(term)
            }
            _ => {
                let (variable, low, high) = self.split(a, b);
                let low = self.operator(op, id, low.0, low.1)?;
                let high = self.operator(op, id, high.0, high.1)?;
                let asked = self.diagram.variable(variable)?;
                self.diagram.ite(asked, high, low)?
            }
        };
        self.applied.insert((id, a, b), made);
        Ok(made)
    }

    /// The first variable of two diagrams, and both where it is false and where it is true.
    fn split(&self, a: Ref, b: Ref) -> (u32, (Ref, Ref), (Ref, Ref)) {
        let of = |at: Ref| self.diagram.node(at);
        let first = |at: Ref| of(at).map_or(u32::MAX, |(variable, ..)| variable);
        let variable = first(a).min(first(b));
        let side = |at: Ref, high: bool| match of(at) {
            Some((own, low_side, high_side)) if own == variable => {
                if high {
                    high_side
                } else {
                    low_side
                }
            }
            _ => at,
        };
        (variable, (side(a, false), side(b, false)), (side(a, true), side(b, true)))
    }

    /// How many ways there are to make the choices so that all conditions hold for some values.
    fn ways(mut self, conditions: Vec<Ref>) -> Result<u128, Trouble> {
        let mut product = Product::new(self.diagram.deadline());
        for condition in self.by_values(conditions)? {
            let holds = &mut |at| self.satisfiable(at);
            product.condition(&self.diagram, condition, self.choices, holds)?;
        }
        Ok(product.sum(self.choices)?)
    }

    /// The conditions, with those joined whose values have to do with each other: there must be values that satisfy them
    /// together.
    fn by_values(&mut self, conditions: Vec<Ref>) -> Result<Vec<Ref>, Trouble> {
        let mut groups: Vec<(FxHashSet<Symbol>, Ref)> = Vec::new();
        let mut alone = Vec::new();
        for condition in conditions {
            let mut symbols = self.values_in(condition);
            if symbols.is_empty() {
                alone.push(condition);
                continue;
            }
            let mut whole = condition;
            let (related, others) =
                groups.into_iter().partition::<Vec<_>, _>(|(known, _)| !known.is_disjoint(&symbols));
            for (known, other) in related {
                symbols.extend(known);
                whole = self.diagram.and(other, whole)?;
            }
            groups = others;
            groups.push((symbols, whole));
        }
        alone.extend(groups.into_iter().map(|(_, whole)| whole));
        Ok(alone)
    }

    /// The symbols of the values that a diagram asks for.
    fn values_in(&self, at: Ref) -> FxHashSet<Symbol> {
        let (mut seen, mut stack, mut atoms) = (FxHashSet::default(), vec![at], FxHashSet::default());
        while let Some(at) = stack.pop() {
            if let Some((variable, low, high)) = self.diagram.node(at)
                && seen.insert(at)
            {
                if variable >= self.choices {
                    atoms.insert(self.atoms[variable as usize].id());
                }
                stack.extend([low, high]);
            }
        }
        self.store.symbols_in(atoms).into_iter().collect()
    }

    /// Whether some values satisfy a diagram that asks for values alone.
    fn satisfiable(&self, at: Ref) -> Result<bool, Trouble> {
        let mut written: FxHashMap<Ref, Formula> = FxHashMap::default();
        written.insert(FALSE, self.store.false_());
        written.insert(TRUE, self.store.true_());
        let mut stack = vec![at];
        while let Some(&at) = stack.last() {
            let Some((variable, low, high)) = self.diagram.node(at) else { return Err(Trouble::Unknown) };
            match (written.get(&low).copied(), written.get(&high).copied()) {
                (Some(low), Some(high)) => {
                    let atom = self.atoms[variable as usize];
                    written.insert(at, self.store.ite_bool(atom, high, low));
                    stack.pop();
                }
                (low_side, high_side) => {
                    stack.extend(low_side.is_none().then_some(low));
                    stack.extend(high_side.is_none().then_some(high));
                }
            }
        }
        let holds = written[&at];
        // The values of a heap that is known are some.
        if self.heap.path.models().iter().any(|model| model.holds(self.store, holds)) {
            return Ok(true);
        }
        Ok(self.heap.oracle.solve(&[holds]).map_err(HeapError::from)?.is_some())
    }
}
