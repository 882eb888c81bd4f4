//! Guards and path conditions: formulas of the logic L, and what is satisfiable together.

use crate::HeapError;
use crate::model::Model;
use parallax_op::BoolOp;
use parallax_smt::{Answer, Limits, Solver, Tiered};
use parallax_term::{Formula, Node, Store};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The store of guards and the solver, shared by every state of a run.
pub struct Logic<'s> {
    /// Where guards live.
    pub store: &'s Store,
    solver: RefCell<Box<dyn Solver<'s> + 's>>,
    calls: Cell<u64>,
    spent: Cell<Duration>,
    deadline: Cell<Option<Instant>>,
}

/// What one question may take. Generous, because a busy machine must not turn answers into failures; runs have limits
/// of their own.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the solver was asked and how long it took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SolverUse {
    /// Questions that reached the solver.
    pub calls: u64,
    /// Seconds it took to answer them.
    pub seconds: f64,
}

impl<'s> Logic<'s> {
    /// A logic whose guards live in `store`, with the default solver.
    pub fn new(store: &'s Store) -> Self {
        // Keys of data structures are compared, and seldom computed with.
        Logic::with_solver(Box::new(Tiered::by_order(store)))
    }

    /// A logic with a solver of its own.
    pub fn with_solver(solver: Box<dyn Solver<'s> + 's>) -> Self {
        let store = solver.store();
        Logic {
            store,
            solver: RefCell::new(solver),
            calls: Cell::new(0),
            spent: Cell::new(Duration::ZERO),
            deadline: Cell::new(None),
        }
    }

    /// From then on no question is answered, and a question that is being answered is given up.
    pub fn set_deadline(&self, deadline: Option<Instant>) {
        self.deadline.set(deadline);
    }

    /// How long it is to the deadline.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.get().map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// What the solver was used for so far.
    pub fn usage(&self) -> SolverUse {
        SolverUse { calls: self.calls.get(), seconds: self.spent.get().as_secs_f64() }
    }

    /// A model of all these formulas together, if there is one.
    pub fn solve(&self, formulas: &[Formula]) -> Result<Option<Model>, HeapError> {
        let start = Instant::now();
        let left = self.time_left();
        if left == Some(Duration::ZERO) {
            return Err(HeapError::Late);
        }
        self.calls.set(self.calls.get() + 1);
        let time = left.map_or(PATIENCE, |left| left.min(PATIENCE));
        let mut solver = self.solver.borrow_mut();
        solver.set_limits(Limits { time: Some(time), ..Limits::default() });
        let answer = solver.check(formulas);
        self.spent.set(self.spent.get() + start.elapsed());
        match answer {
            Answer::Unknown(_) if self.time_left() == Some(Duration::ZERO) => Err(HeapError::Late),
            Answer::Sat(model) => Ok(Some(Model::from(&model))),
            Answer::Unsat => Ok(None),
            Answer::Unknown(reason) => Err(HeapError::Solver(reason.to_string())),
        }
    }

    /// The conjunction.
    pub fn all(&self, formulas: impl IntoIterator<Item = Formula>) -> Formula {
        formulas.into_iter().fold(self.store.true_(), |all, one| self.store.and(all, one))
    }

    /// The disjunction.
    pub fn any(&self, formulas: impl IntoIterator<Item = Formula>) -> Formula {
        formulas.into_iter().fold(self.store.false_(), |any, one| self.store.or(any, one))
    }
}

/// Where a conjunct of a path condition comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An outcome of the program.
    Outcome,
    /// What a selector may choose, or a range of an input: holds of every input within the bounds.
    Input,
    /// What paths that were merged have in place of outcomes and inputs of their own.
    Merged,
}

/// How many models of a path condition are kept.
const MODELS: usize = 48;

/// A path condition: conjuncts, models of all of them, and what was found to be impossible.
#[derive(Clone)]
pub struct Path {
    conjuncts: Rc<Vec<(Formula, Origin)>>,
    model: Rc<Model>,
    /// More models, oldest first: most guards that are asked about hold in one of them, and need no solver.
    others: RefCell<Rc<Vec<Rc<Model>>>>,
    /// What was found not to hold together with the condition; it stays so when the condition grows.
    refuted: RefCell<Rc<FxHashSet<Formula>>>,
    /// The other choices of a selector, for each choice: where one holds, they do not.
    rivals: Rc<FxHashMap<Formula, Rc<[Formula]>>>,
}

impl Path {
    /// The condition that always holds.
    pub fn new() -> Self {
        Path {
            conjuncts: Rc::default(),
            model: Rc::default(),
            others: RefCell::default(),
            refuted: RefCell::default(),
            rivals: Rc::default(),
        }
    }

    /// The conjuncts, oldest first.
    pub fn conjuncts(&self) -> &[(Formula, Origin)] {
        &self.conjuncts
    }

    /// Every conjunct, as a list of formulas.
    pub fn formulas(&self) -> Vec<Formula> {
        self.conjuncts.iter().map(|(formula, _)| *formula).collect()
    }

    /// A model of the condition.
    pub fn model(&self) -> &Rc<Model> {
        &self.model
    }

    /// Every model that is known.
    pub(crate) fn models(&self) -> Vec<Rc<Model>> {
        [&self.model].into_iter().chain(self.others.borrow().iter().rev()).cloned().collect()
    }

    /// `sat(g)`: a model of the condition together with `guard`, if there is one.
    pub fn sat(&self, logic: &Logic, guard: Formula) -> Result<Option<Rc<Model>>, HeapError> {
        if let Some(known) = self.recall(logic.store, guard) {
            return Ok(known);
        }
        let mut formulas = self.formulas();
        formulas.push(guard);
        let model = logic.solve(&formulas)?.map(Rc::new);
        match &model {
            None => {
                Rc::make_mut(&mut *self.refuted.borrow_mut()).insert(guard);
            }
            Some(model) => {
                let mut others = self.others.borrow_mut();
                let others = Rc::make_mut(&mut *others);
                others.push(model.clone());
                if others.len() > MODELS {
                    others.remove(0);
                }
            }
        }
        Ok(model)
    }

    /// The answer to `sat(g)`, if it is known: a model, or that there is none.
    fn recall(&self, store: &Store, guard: Formula) -> Option<Option<Rc<Model>>> {
        match store.as_boolean(guard) {
            Some(true) => return Some(Some(self.model.clone())),
            Some(false) => return Some(None),
            None => {}
        }
        if self.model.holds(store, guard) == Some(true) {
            return Some(Some(self.model.clone()));
        }
        if refutes(&self.refuted.borrow(), store, guard, 6) {
            return Some(None);
        }
        let known = self.others.borrow().iter().rev().find(|m| m.holds(store, guard) == Some(true)).cloned();
        known.map(Some)
    }

    /// The condition with `condition` and with its negation, where that is possible. What is implied is not added.
    pub fn fork(&self, logic: &Logic, condition: Formula) -> Result<(Option<Path>, Option<Path>), HeapError> {
        let otherwise = logic.store.not(condition);
        match (self.sat(logic, condition)?, self.sat(logic, otherwise)?) {
            (Some(yes), Some(no)) => Ok((
                Some(self.and(logic, condition, Origin::Outcome, yes)),
                Some(self.and(logic, otherwise, Origin::Outcome, no)),
            )),
            (Some(_), None) => Ok((Some(self.clone()), None)),
            (None, Some(_)) => Ok((None, Some(self.clone()))),
            (None, None) => Err(HeapError::Broken("a path without a model")),
        }
    }

    /// The condition and `formula`, of which `model` is a model.
    pub fn and(&self, logic: &Logic, formula: Formula, origin: Origin, model: Rc<Model>) -> Self {
        if logic.store.as_boolean(formula) == Some(true) {
            return Path { model, ..self.clone() };
        }
        self.with(logic, &[(formula, origin)], model, self.models())
    }

    /// The condition and what a new selector demands of its choices, `atoms`; `models` are the known models, extended
    /// to the choices, the first of them a model for certain.
    pub(crate) fn choose(
        &self,
        logic: &Logic,
        condition: Formula,
        atoms: &[Formula],
        models: Vec<Rc<Model>>,
    ) -> Self {
        let model = models.first().unwrap_or(&self.model).clone();
        let mut path = self.with(logic, &[(condition, Origin::Input)], model, models);
        let rivals = Rc::make_mut(&mut path.rivals);
        let atoms: Rc<[Formula]> = atoms.into();
        rivals.extend(atoms.iter().map(|&atom| (atom, atoms.clone())));
        path
    }

    /// Adds conjuncts; of `candidates` those stay that are models of them too.
    fn with(
        &self,
        logic: &Logic,
        added: &[(Formula, Origin)],
        model: Rc<Model>,
        candidates: Vec<Rc<Model>>,
    ) -> Self {
        let store = logic.store;
        let mut path = self.clone();
        Rc::make_mut(&mut path.conjuncts).extend_from_slice(added);
        let fits = |candidate: &Rc<Model>| {
            !Rc::ptr_eq(candidate, &model)
                && added.iter().all(|(formula, _)| candidate.holds(store, *formula) == Some(true))
        };
        let mut others: Vec<Rc<Model>> = candidates.into_iter().filter(fits).take(MODELS).collect();
        others.reverse();
        path.model = model;
        path.others = RefCell::new(Rc::new(others));
        for &(formula, origin) in added {
            if origin == Origin::Outcome {
                path.learn(store, formula);
            }
        }
        path
    }

    /// Remembers what cannot be, now that `formula` holds.
    fn learn(&mut self, store: &Store, formula: Formula) {
        let mut refuted = self.refuted.borrow_mut();
        let refuted = Rc::make_mut(&mut *refuted);
        let mut todo = vec![formula];
        while let Some(formula) = todo.pop() {
            if !refuted.insert(store.not(formula)) {
                continue;
            }
            let rivals = self.rivals.get(&formula).into_iter().flat_map(|atoms| atoms.iter());
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
    pub(crate) fn shared(&self, other: &Path) -> usize {
        self.conjuncts.iter().zip(other.conjuncts.iter()).take_while(|(a, b)| a == b).count()
    }

    /// The condition that takes the first `shared` conjuncts of both and `added` instead of the rest: what holds of
    /// the inputs of either. What neither allows is still refuted; every model of either is one.
    pub(crate) fn merged(
        &self,
        other: &Path,
        logic: &Logic,
        shared: usize,
        added: &[Formula],
    ) -> Result<Self, HeapError> {
        let store = logic.store;
        let mut path = Path { conjuncts: Rc::new(self.conjuncts[..shared].to_vec()), ..self.clone() };
        let mut candidates = Vec::new();
        let (mut mine, mut theirs) = (self.models().into_iter(), other.models().into_iter());
        loop {
            let next = [mine.next(), theirs.next()];
            if next.iter().all(Option::is_none) {
                break;
            }
            candidates.extend(next.into_iter().flatten());
        }
        let refuted = self.refuted.borrow();
        let both = refuted.iter().filter(|formula| other.refuted.borrow().contains(*formula)).copied();
        path.refuted = RefCell::new(Rc::new(both.collect()));
        let rivals = other.rivals.iter().filter(|(atom, _)| !self.rivals.contains_key(*atom));
        Rc::make_mut(&mut path.rivals).extend(rivals.map(|(atom, rivals)| (*atom, rivals.clone())));
        let added: Vec<(Formula, Origin)> = added.iter().map(|&formula| (formula, Origin::Merged)).collect();
        let is_model =
            |m: &Rc<Model>| added.iter().all(|(formula, _)| m.holds(store, *formula) == Some(true));
        let model = match candidates.iter().find(|m| is_model(m)) {
            Some(model) => model.clone(),
            None => return Err(HeapError::Broken("paths that were merged without a model")),
        };
        Ok(path.with(logic, &added, model, candidates))
    }
}

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

impl Default for Path {
    fn default() -> Self {
        Self::new()
    }
}
