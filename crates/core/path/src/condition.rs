//! Path conditions: conjuncts in the order they came, models of all of them, and what was found to be impossible.

use crate::facts::Known;
use crate::{Chain, Model, Oracle};
use parallax_smt::Reason;
use parallax_term::{Expr, Formula, Id, Store, Symbol};
use rustc_hash::FxHashSet;
use std::cell::Cell;
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

/// The condition of a path: a conjunction, and what is remembered of it.
///
/// Conditions of readings other than the symbolic one are conjunctions and nothing more; hence the parameter `F`.
/// Remembered models speak of free symbols: what a model leaves out may be zero.
pub struct Path<F = Formula, T = ()> {
    conjuncts: Chain<(F, T)>,
    /// A model of the condition; nothing if none is known.
    model: Option<Rc<Model>>,
    /// More models, oldest first.
    others: Slot<Vec<Rc<Model>>>,
    /// What the solver found not to hold together with the condition; it stays so when the condition grows.
    refuted: Slot<FxHashSet<Formula>>,
    /// Conditions of one number have the same conjuncts; zero for those that were given none.
    number: u64,
}

/// What is remembered besides, shared until it changes; nothing for none, which most paths have. A state of C has a path,
/// and there are many: it is as small as can be.
struct Slot<R>(Cell<Option<Rc<R>>>);

impl<R> Default for Slot<R> {
    fn default() -> Self {
        Slot(Cell::new(None))
    }
}

impl<R> Clone for Slot<R> {
    fn clone(&self) -> Self {
        Slot(Cell::new(self.get()))
    }
}

impl<R> Slot<R> {
    fn get(&self) -> Option<Rc<R>> {
        let kept = self.0.take();
        self.0.set(kept.clone());
        kept
    }
}

impl<R: Clone + Default> Slot<R> {
    fn change(&self, change: impl FnOnce(&mut R)) {
        let mut kept = self.0.take().unwrap_or_default();
        change(Rc::make_mut(&mut kept));
        self.0.set(Some(kept));
    }
}

impl<F, T> Clone for Path<F, T> {
    fn clone(&self) -> Self {
        Path {
            conjuncts: self.conjuncts.clone(),
            model: self.model.clone(),
            others: self.others.clone(),
            refuted: self.refuted.clone(),
            number: self.number,
        }
    }
}

impl<F, T> Default for Path<F, T> {
    /// The condition that always holds, of which no model is known.
    fn default() -> Self {
        Path {
            conjuncts: Chain::default(),
            model: None,
            others: Slot::default(),
            refuted: Slot::default(),
            number: 0,
        }
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
        self.others = Slot::default();
        self.number = 0;
        self.conjuncts.push((conjunct, tag));
    }

    /// Forgets all but a model: for a path that has come to its end.
    pub fn settle(&mut self) {
        (self.others, self.refuted) = (Slot::default(), Slot::default());
        if let Some(model) = &self.model {
            model.forget();
        }
    }

    /// The condition that has `conjuncts` instead, and holds wherever either of two conditions does: every model of
    /// this one stays one, and what neither allows stays refuted.
    pub fn weakened(&self, other: &Self, conjuncts: Chain<(F, T)>) -> Self {
        let mut path = Path { conjuncts, number: 0, ..self.clone() };
        path.keep_common_refutations(other);
        path
    }

    fn keep_common_refutations(&mut self, other: &Self) {
        match (self.refuted.get(), other.refuted.get()) {
            (Some(mine), Some(theirs)) if Rc::ptr_eq(&mine, &theirs) => {}
            (Some(_), Some(theirs)) => {
                self.refuted.change(|mine| mine.retain(|formula| theirs.contains(formula)));
            }
            _ => self.refuted = Slot::default(),
        }
    }
}

impl<T: Copy + PartialEq> Path<Formula, T> {
    /// The condition that always holds; everything is zero in its model.
    pub fn new(oracle: &Oracle<'_>) -> Self {
        let zero = Model::new(parallax_smt::Model::new(), oracle.recall().values);
        Path { model: Some(Rc::new(zero)), number: oracle.number(), ..Path::default() }
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
        let others = self.others.get().unwrap_or_default();
        self.model.iter().chain(others.iter().rev()).cloned().collect()
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
        // Models of large conditions take their time as well.
        if !guards.is_empty() && oracle.is_late() {
            return Err(Reason::Time);
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
            None if oracle.is_late() => return Err(Reason::Time),
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
        let older = || {
            let others = self.others.get()?;
            others.iter().rev().find(|model| model.holds(oracle.store, condition) == side).cloned()
        };
        if !oracle.recall().facts {
            return older().map(Some);
        }
        // Most questions are asked again: of the same reference, further down the path.
        if let Some(model) = self.witness(condition, side) {
            return Some(Some(model));
        }
        let mut facts = oracle.facts();
        // Without time for them the solver is next, which has none either and says so.
        facts.turn_to(oracle.store, self.number, || self.formulas()).ok()?;
        let hint = |id: Id| match (oracle.store.expr(id), &self.model) {
            (Expr::Formula(formula), Some(model)) => model.holds(oracle.store, formula),
            _ => false,
        };
        match facts.ask(oracle.store, guard, older, &hint) {
            Known::No => Some(None),
            Known::Kept(model) => Some(Some(model)),
            Known::Yes { values, guessed } => {
                drop(facts);
                self.proposed(oracle, values, guessed.then_some(guard)).map(Some)
            }
            Known::Open => None,
        }
    }

    /// A model besides the first that is remembered to make `condition` this side: nothing is computed.
    fn witness(&self, condition: Formula, side: bool) -> Option<Rc<Model>> {
        let others = self.others.get()?;
        others.iter().rev().find(|model| model.remembers(condition) == Some(side)).cloned()
    }

    /// A model that was found without the solver, and must be tried if it is to be one of `tried` too.
    fn proposed(
        &self,
        oracle: &Oracle<'_>,
        values: Vec<(Symbol, u64)>,
        tried: Option<Formula>,
    ) -> Option<Rc<Model>> {
        let mut model = Model::from_values(values);
        if let Some(guard) = tried {
            let part = self.part(oracle, guard);
            model = part.completed(oracle.store, model);
            if !part.formulas.iter().all(|formula| model.holds(oracle.store, *formula)) {
                return None;
            }
        }
        Some(self.remember(oracle, model))
    }

    /// What a question about a guard has to hold: the conjuncts that are tied to it by what they speak of, and the guard.
    /// The others hold as they do in the known model.
    fn part(&self, oracle: &Oracle<'_>, guard: Formula) -> Part {
        let mut formulas = self.formulas();
        let Some(known) = self.model.as_ref().filter(|_| oracle.recall().facts) else {
            formulas.push(guard);
            return Part { formulas, rest: None };
        };
        let mut symbols: FxHashSet<Symbol> = oracle.symbols(guard).iter().copied().collect();
        let mut is_tied = vec![false; formulas.len()];
        loop {
            let mut more = false;
            for (formula, is_tied) in formulas.iter().zip(&mut is_tied).filter(|(_, is_tied)| !**is_tied) {
                let spoken = oracle.symbols(*formula);
                if spoken.iter().any(|symbol| symbols.contains(symbol)) {
                    symbols.extend(spoken.iter().copied());
                    (*is_tied, more) = (true, true);
                }
            }
            if !more {
                break;
            }
        }
        // A part that is nearly the whole is not worth another circuit in the solver.
        let tied = is_tied.iter().filter(|is_tied| **is_tied).count() + 1;
        let rest = (formulas.len() + 1 >= 3 * tied).then(|| (known.clone(), symbols));
        if rest.is_some() {
            let mut is_tied = is_tied.into_iter();
            formulas.retain(|_| is_tied.next() == Some(true));
        }
        formulas.push(guard);
        Part { formulas, rest }
    }

    /// Whether it is plain that `guard` does not hold together with the condition: no model is looked for, and no solver
    /// is asked.
    pub fn plainly_excludes(&self, oracle: &Oracle<'_>, guard: Formula) -> bool {
        if let Some(value) = oracle.store.as_boolean(guard) {
            return !value;
        }
        if self.excludes(oracle, guard) {
            return true;
        }
        // To look at a model is cheaper than to draw conclusions; to look at many is not.
        if self.model.as_ref().is_some_and(|model| model.holds(oracle.store, guard))
            || self.witness(guard, true).is_some()
        {
            return false;
        }
        let mut facts = oracle.facts();
        oracle.recall().facts
            && facts.turn_to(oracle.store, self.number, || self.formulas()).is_ok()
            && facts.refute(oracle.store, guard)
    }

    /// Whether it is known that `guard` does not hold together with the condition.
    fn excludes(&self, oracle: &Oracle<'_>, guard: Formula) -> bool {
        if oracle.recall().facts {
            return self.refuted.get().is_some_and(|refuted| refuted.contains(&guard));
        }
        let opposite = oracle.store.not(guard);
        self.conjuncts.newest_first().any(|(formula, _)| *formula == opposite)
    }

    /// Asks the solver, and remembers what it says.
    fn ask(&self, oracle: &Oracle<'_>, guard: Formula) -> Side {
        let part = self.part(oracle, guard);
        match oracle.solve(&part.formulas)? {
            Some(model) => Ok(Some(self.remember(oracle, part.completed(oracle.store, model)))),
            None => {
                if oracle.recall().facts {
                    self.refuted.change(|refuted| {
                        refuted.insert(guard);
                    });
                    let mut facts = oracle.facts();
                    if facts.turn_to(oracle.store, self.number, || self.formulas()).is_ok() {
                        facts.learn(oracle.store, guard);
                    }
                }
                Ok(None)
            }
        }
    }

    fn remember(&self, oracle: &Oracle<'_>, model: Model) -> Rc<Model> {
        let model = Rc::new(model);
        self.others.change(|others| {
            others.push(model.clone());
            if others.len() > oracle.recall().models {
                others.remove(0);
            }
        });
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
        self.number = oracle.number();
        let mut models = models.into_iter();
        self.model = models.next();
        self.keep(models.collect());
    }

    /// The condition and what a new selector demands of its choices; `models` are the known models, extended to the
    /// choices: models of the new condition for certain.
    pub fn choose(&self, oracle: &Oracle<'_>, condition: Formula, tag: T, models: Vec<Rc<Model>>) -> Self {
        let mut path = self.clone();
        path.conjuncts.push((condition, tag));
        path.number = oracle.number();
        let mut models = models.into_iter();
        path.model = models.next().or_else(|| self.model.clone());
        path.keep(models.take(oracle.recall().models).collect());
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
        self.number = oracle.number();
        let fits = |candidate: &Rc<Model>| {
            model.as_ref().is_none_or(|model| !Rc::ptr_eq(candidate, model))
                && added.iter().all(|(formula, _)| candidate.holds(store, *formula))
        };
        let others = candidates.into_iter().filter(fits).take(oracle.recall().models).collect();
        self.model = model;
        self.keep(others);
    }

    /// Keeps these models besides the first, the newest first.
    fn keep(&mut self, mut models: Vec<Rc<Model>>) {
        models.reverse();
        self.others = Slot(Cell::new((!models.is_empty()).then(|| Rc::new(models))));
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
        let holds = |model: &&Rc<Model>| added.iter().all(|(formula, _)| model.holds(oracle.store, *formula));
        let model = candidates.iter().find(holds)?.clone();
        path.add(oracle, added, Some(model), candidates);
        Some(path)
    }
}

/// The part of a condition that a question is about.
struct Part {
    formulas: Vec<Formula>,
    /// Where it is not the whole, a model of the rest, and the symbols that the part speaks of and the rest does not.
    rest: Option<(Rc<Model>, FxHashSet<Symbol>)>,
}

impl Part {
    /// A model of the part as one of the whole.
    fn completed(&self, store: &Store, model: Model) -> Model {
        match &self.rest {
            Some((known, symbols)) => known.adopting(store, &model, symbols),
            None => model,
        }
    }
}

/// A model of one side of a condition, if there is one.
type Side = Result<Option<Rc<Model>>, Reason>;
