//! Path conditions: conjuncts in the order they came, models of all of them, and what was found to be impossible.

use crate::{Chain, Model, Oracle};
use parallax_op::BoolOp;
use parallax_smt::Reason;
use parallax_term::{Formula, Node, Store};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;

/// Which sides of a condition are possible on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// It always holds.
    True,
    /// It never holds.
    False,
    /// Either.
    Both,
    /// Neither: there is no such path.
    Neither,
}

/// What a conjunct carries besides its formula: where it comes from.
pub trait Tag: Copy + PartialEq {
    /// Whether it is an outcome of the program, whose opposite is worth remembering as impossible.
    fn is_outcome(self) -> bool;
}

impl Tag for () {
    fn is_outcome(self) -> bool {
        true
    }
}

/// The condition of a path: a conjunction, and what is remembered of it.
///
/// Conditions of readings other than the symbolic one are conjunctions and nothing more; hence the parameter `F`.
/// Remembered models speak of free symbols: what a model leaves out may be zero.
pub struct Path<F = Formula, T = ()> {
    conjuncts: Chain<(F, T)>,
    /// A model of the condition; nothing if none is known.
    model: Option<Rc<Model>>,
    remembered: RefCell<Remembered>,
}

/// What a path remembers besides; nothing for none, which most paths have.
#[derive(Clone, Default)]
struct Remembered {
    /// More models, oldest first.
    others: Option<Rc<Vec<Rc<Model>>>>,
    impossible: Option<Rc<Impossible>>,
}

/// What cannot be on a path.
#[derive(Clone, Default)]
struct Impossible {
    /// What was found not to hold together with the condition; it stays so when the condition grows.
    refuted: FxHashSet<Formula>,
    /// The other choices of a selector, for each choice: where one holds, they do not.
    rivals: Rc<FxHashMap<Formula, Rc<[Formula]>>>,
}

impl Remembered {
    fn models(&self) -> impl Iterator<Item = &Rc<Model>> {
        self.others.iter().flat_map(|others| others.iter().rev())
    }

    fn impossible(&mut self) -> &mut Impossible {
        Rc::make_mut(self.impossible.get_or_insert_default())
    }
}

impl<F, T> Clone for Path<F, T> {
    fn clone(&self) -> Self {
        Path {
            conjuncts: self.conjuncts.clone(),
            model: self.model.clone(),
            remembered: self.remembered.clone(),
        }
    }
}

impl<F, T> Default for Path<F, T> {
    /// The condition that always holds, of which no model is known.
    fn default() -> Self {
        Path { conjuncts: Chain::default(), model: None, remembered: RefCell::default() }
    }
}

impl<F, T> Path<F, T> {
    /// The conjuncts.
    pub fn conjuncts(&self) -> &Chain<(F, T)> {
        &self.conjuncts
    }

    /// Adds a conjunct, and forgets what is remembered about models: for conditions that no oracle is asked about.
    pub fn push(&mut self, conjunct: F, tag: T) {
        self.model = None;
        self.remembered.get_mut().others = None;
        self.conjuncts.push((conjunct, tag));
    }

    /// The condition that has `conjuncts` instead, and holds wherever either of two conditions does: every model of
    /// this one stays one, and what neither allows stays refuted.
    pub fn weakened(&self, other: &Self, conjuncts: Chain<(F, T)>) -> Self {
        let mut path = Path { conjuncts, ..self.clone() };
        path.keep_common_refutations(other);
        path
    }

    fn keep_common_refutations(&mut self, other: &Self) {
        let theirs = other.remembered.borrow();
        let mine = self.remembered.get_mut();
        match (&mut mine.impossible, &theirs.impossible) {
            (Some(mine), Some(theirs)) if Rc::ptr_eq(mine, theirs) => {}
            (Some(mine), Some(theirs)) => {
                Rc::make_mut(mine).refuted.retain(|formula| theirs.refuted.contains(formula));
            }
            (Some(mine), None) => Rc::make_mut(mine).refuted.clear(),
            (None, _) => {}
        }
    }
}

impl<T: Tag> Path<Formula, T> {
    /// The condition that always holds; everything is zero in its model.
    pub fn new(oracle: &Oracle<'_>) -> Self {
        let zero = Model::new(parallax_smt::Model::new(), oracle.recall().values);
        Path { model: Some(Rc::new(zero)), ..Path::default() }
    }

    /// Every conjunct, oldest first.
    pub fn formulas(&self) -> Vec<Formula> {
        let mut formulas = Vec::with_capacity(self.conjuncts.len() + 1);
        formulas.extend(self.conjuncts.newest_first().map(|(formula, _)| *formula));
        formulas.reverse();
        formulas
    }

    /// A model of the condition, if one is known.
    pub fn model(&self) -> Option<&Rc<Model>> {
        self.model.as_ref()
    }

    /// Every model that is known, the newest first after the one above.
    pub fn models(&self) -> Vec<Rc<Model>> {
        self.model.iter().chain(self.remembered.borrow().models()).cloned().collect()
    }

    /// `sat(g)`: a model of the condition together with `guard`, if there is one.
    pub fn sat(&self, oracle: &Oracle<'_>, guard: Formula) -> Result<Option<Rc<Model>>, Reason> {
        match self.recall(oracle, guard) {
            Some(known) => Ok(known),
            None => self.ask(oracle, guard),
        }
    }

    /// A model of the condition together with all of `guards`, if there is one.
    pub fn sat_all(&self, oracle: &Oracle<'_>, guards: &[Formula]) -> Result<Option<Rc<Model>>, Reason> {
        if let [guard] = guards {
            return self.sat(oracle, *guard);
        }
        let holds = |model: &&Rc<Model>| guards.iter().all(|&guard| model.holds(oracle.store, guard));
        if let Some(model) = self.model.as_ref().filter(holds) {
            return Ok(Some(model.clone()));
        }
        let mut formulas = self.formulas();
        formulas.extend_from_slice(guards);
        Ok(oracle.solve(&formulas)?.map(|model| self.remember(oracle, model)))
    }

    /// Which sides of a condition are possible; fails where the solver does not know of one.
    pub fn split(&self, oracle: &Oracle<'_>, condition: Formula) -> Result<Split, Reason> {
        match oracle.store.as_boolean(condition) {
            Some(true) => return Ok(Split::True),
            Some(false) => return Ok(Split::False),
            None => {}
        }
        let (yes, no) = self.sides(oracle, condition);
        Ok(match (yes?.is_some(), no?.is_some()) {
            (true, true) => Split::Both,
            (true, false) => Split::True,
            (false, true) => Split::False,
            (false, false) => Split::Neither,
        })
    }

    /// A model of each side of a condition that is neither true nor false, where there is one.
    fn sides(&self, oracle: &Oracle<'_>, condition: Formula) -> (Side, Side) {
        let store = oracle.store;
        let otherwise = store.not(condition);
        // A model evaluates the condition once for both sides.
        let known = self.model.as_ref().map(|model| (model.holds(store, condition), model.clone()));
        let side = |holds: bool, guard: Formula| match &known {
            Some((value, model)) if *value == holds => Ok(Some(model.clone())),
            _ => match self.recall_older(oracle, guard, holds, condition) {
                Some(known) => Ok(known),
                None => self.ask(oracle, guard),
            },
        };
        let yes = side(true, condition);
        (yes, side(false, otherwise))
    }

    /// The condition with `condition` and with its negation, where that is possible. What is implied is not added.
    pub fn fork(
        &self,
        oracle: &Oracle<'_>,
        condition: Formula,
        tag: T,
    ) -> Result<(Option<Self>, Option<Self>), Reason> {
        let store = oracle.store;
        let (yes, no) = match store.as_boolean(condition) {
            Some(true) => return Ok((Some(self.clone()), None)),
            Some(false) => return Ok((None, Some(self.clone()))),
            None => self.sides(oracle, condition),
        };
        Ok(match (yes?, no?) {
            (Some(yes), Some(no)) => (
                Some(self.and(oracle, condition, tag, yes)),
                Some(self.and(oracle, store.not(condition), tag, no)),
            ),
            (Some(_), None) => (Some(self.clone()), None),
            (None, Some(_)) => (None, Some(self.clone())),
            (None, None) => (None, None),
        })
    }

    /// The answer to `sat(g)`, if it is known: a model, or that there is none.
    fn recall(&self, oracle: &Oracle<'_>, guard: Formula) -> Option<Option<Rc<Model>>> {
        let store = oracle.store;
        match (store.as_boolean(guard), &self.model) {
            (Some(false), _) => return Some(None),
            (Some(true), Some(model)) => return Some(Some(model.clone())),
            _ => {}
        }
        if let Some(model) = self.model.as_ref().filter(|model| model.holds(store, guard)) {
            return Some(Some(model.clone()));
        }
        self.recall_older(oracle, guard, true, guard)
    }

    /// The same without the first model: a guard that holds where `condition` is `side`.
    fn recall_older(
        &self,
        oracle: &Oracle<'_>,
        guard: Formula,
        side: bool,
        condition: Formula,
    ) -> Option<Option<Rc<Model>>> {
        if self.excludes(oracle, guard) {
            return Some(None);
        }
        let remembered = self.remembered.borrow();
        let found = remembered.models().find(|model| model.holds(oracle.store, condition) == side);
        found.cloned().map(Some)
    }

    /// Whether it is known that `guard` does not hold together with the condition.
    fn excludes(&self, oracle: &Oracle<'_>, guard: Formula) -> bool {
        if oracle.recall().refutations {
            let remembered = self.remembered.borrow();
            let known = remembered.impossible.as_ref();
            return known.is_some_and(|known| refutes(&known.refuted, oracle.store, guard, 6));
        }
        let opposite = oracle.store.not(guard);
        self.conjuncts.newest_first().any(|(formula, _)| *formula == opposite)
    }

    /// Asks the solver, and remembers what it says.
    fn ask(&self, oracle: &Oracle<'_>, guard: Formula) -> Side {
        let mut formulas = self.formulas();
        formulas.push(guard);
        match oracle.solve(&formulas)? {
            Some(model) => Ok(Some(self.remember(oracle, model))),
            None => {
                if oracle.recall().refutations {
                    self.remembered.borrow_mut().impossible().refuted.insert(guard);
                }
                Ok(None)
            }
        }
    }

    fn remember(&self, oracle: &Oracle<'_>, model: Model) -> Rc<Model> {
        let model = Rc::new(model);
        let mut remembered = self.remembered.borrow_mut();
        let others = Rc::make_mut(remembered.others.get_or_insert_default());
        others.push(model.clone());
        if others.len() > oracle.recall().models {
            others.remove(0);
        }
        model
    }

    /// The condition and `formula`, of which `model` is a model.
    pub fn and(&self, oracle: &Oracle<'_>, formula: Formula, tag: T, model: Rc<Model>) -> Self {
        if oracle.store.as_boolean(formula) == Some(true) {
            return Path { model: Some(model), ..self.clone() };
        }
        let mut path = self.clone();
        path.add(oracle, &[(formula, tag)], Some(model), self.models());
        path
    }

    /// Adds a conjunct; of the models that are known those stay that are models of it too.
    pub fn assume(&mut self, oracle: &Oracle<'_>, formula: Formula, tag: T) {
        let mut models = self.models();
        models.retain(|model| model.holds(oracle.store, formula));
        self.conjuncts.push((formula, tag));
        let mut models = models.into_iter();
        self.model = models.next();
        self.keep(models.collect());
        if tag.is_outcome() && oracle.recall().refutations {
            self.learn(oracle.store, formula);
        }
    }

    /// The condition and what a new selector demands of its choices, `atoms`; `models` are the known models, extended
    /// to the choices, the first of them a model for certain.
    pub fn choose(
        &self,
        oracle: &Oracle<'_>,
        condition: Formula,
        tag: T,
        atoms: &[Formula],
        models: Vec<Rc<Model>>,
    ) -> Self {
        let mut path = self.clone();
        let model = models.first().cloned().or_else(|| self.model.clone());
        path.add(oracle, &[(condition, tag)], model, models);
        let rivals = Rc::make_mut(&mut path.remembered.get_mut().impossible().rivals);
        let atoms: Rc<[Formula]> = atoms.into();
        rivals.extend(atoms.iter().map(|&atom| (atom, atoms.clone())));
        path
    }

    /// Adds conjuncts; of `candidates` those stay that are models of them too.
    fn add(
        &mut self,
        oracle: &Oracle<'_>,
        added: &[(Formula, T)],
        model: Option<Rc<Model>>,
        candidates: Vec<Rc<Model>>,
    ) {
        let store = oracle.store;
        added.iter().for_each(|&conjunct| self.conjuncts.push(conjunct));
        let fits = |candidate: &Rc<Model>| {
            model.as_ref().is_none_or(|model| !Rc::ptr_eq(candidate, model))
                && added.iter().all(|(formula, _)| candidate.holds(store, *formula))
        };
        let others = candidates.into_iter().filter(fits).take(oracle.recall().models).collect();
        self.model = model;
        self.keep(others);
        for &(formula, tag) in added {
            if tag.is_outcome() && oracle.recall().refutations {
                self.learn(store, formula);
            }
        }
    }

    /// Keeps these models besides the first, the newest first.
    fn keep(&mut self, mut models: Vec<Rc<Model>>) {
        models.reverse();
        self.remembered.get_mut().others = (!models.is_empty()).then(|| Rc::new(models));
    }

    /// Remembers what cannot be, now that `formula` holds.
    fn learn(&mut self, store: &Store, formula: Formula) {
        let Impossible { refuted, rivals } = self.remembered.get_mut().impossible();
        let mut todo = vec![formula];
        while let Some(formula) = todo.pop() {
            if !refuted.insert(store.not(formula)) {
                continue;
            }
            let rivals = rivals.get(&formula).into_iter().flat_map(|atoms| atoms.iter());
            refuted.extend(rivals.filter(|&&atom| atom != formula));
            match store.node(formula) {
                Node::BoolOp(BoolOp::And, a, b) => todo.extend([a, b]),
                Node::Not(inner) => {
                    if let Node::BoolOp(BoolOp::Or, a, b) = store.node(inner) {
                        todo.extend([store.not(a), store.not(b)]);
                    }
                }
                _ => {}
            }
        }
    }

    /// How many conjuncts two conditions begin with alike.
    pub fn shared(&self, other: &Self) -> usize {
        let (mine, theirs) = (self.conjuncts.since(&other.conjuncts), other.conjuncts.since(&self.conjuncts));
        let alike = mine.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
        self.conjuncts.len() - mine.len() + alike
    }

    /// The condition that takes the first `shared` conjuncts of both and `added` instead of the rest: what holds of
    /// the inputs of either. What neither allows is still refuted; every model of either is one. Nothing if no model
    /// that is known fits.
    pub fn merged(
        &self,
        other: &Self,
        oracle: &Oracle<'_>,
        shared: usize,
        added: &[(Formula, T)],
    ) -> Option<Self> {
        let mut path = self.weakened(other, self.conjuncts.without(self.conjuncts.len() - shared));
        let mut candidates = Vec::new();
        let (mut mine, mut theirs) = (self.models().into_iter(), other.models().into_iter());
        loop {
            let next = [mine.next(), theirs.next()];
            if next.iter().all(Option::is_none) {
                break;
            }
            candidates.extend(next.into_iter().flatten());
        }
        if let Some(theirs) = &other.remembered.borrow().impossible {
            let rivals = Rc::make_mut(&mut path.remembered.get_mut().impossible().rivals);
            for (atom, atoms) in theirs.rivals.iter() {
                rivals.entry(*atom).or_insert_with(|| atoms.clone());
            }
        }
        let holds = |model: &&Rc<Model>| added.iter().all(|(formula, _)| model.holds(oracle.store, *formula));
        let model = candidates.iter().find(holds)?.clone();
        path.add(oracle, added, Some(model), candidates);
        Some(path)
    }
}

/// A model of one side of a condition, if there is one.
type Side = Result<Option<Rc<Model>>, Reason>;

/// Whether `guard` cannot hold because of what is refuted already.
fn refutes(refuted: &FxHashSet<Formula>, store: &Store, guard: Formula, depth: usize) -> bool {
    if refuted.contains(&guard) {
        return true;
    }
    match store.node(guard) {
        Node::BoolOp(BoolOp::And, a, b) if depth > 0 => {
            refutes(refuted, store, a, depth - 1) || refutes(refuted, store, b, depth - 1)
        }
        Node::BoolOp(BoolOp::Or, a, b) if depth > 0 => {
            refutes(refuted, store, a, depth - 1) && refutes(refuted, store, b, depth - 1)
        }
        _ => false,
    }
}
