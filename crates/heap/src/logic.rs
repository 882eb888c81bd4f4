//! Guards and path conditions: formulas of the logic L, and what is satisfiable together.

use crate::HeapError;
use crate::model::Model;
use parallax_smt::{Answer, Limits, Solver};
use parallax_term::{Formula, Store};
use rustc_hash::FxHashSet;
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
}

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
        let mut solver = parallax_smt::solver(store);
        // Generous, because a busy machine must not turn answers into failures; runs have limits of their own.
        solver.set_limits(Limits { time: Some(Duration::from_secs(120)), ..Limits::default() });
        Logic::with_solver(solver)
    }

    /// A logic with a solver of its own.
    pub fn with_solver(solver: Box<dyn Solver<'s> + 's>) -> Self {
        let store = solver.store();
        Logic { store, solver: RefCell::new(solver), calls: Cell::new(0), spent: Cell::new(Duration::ZERO) }
    }

    /// What the solver was used for so far.
    pub fn usage(&self) -> SolverUse {
        SolverUse { calls: self.calls.get(), seconds: self.spent.get().as_secs_f64() }
    }

    /// A model of all these formulas together, if there is one.
    pub fn solve(&self, formulas: &[Formula]) -> Result<Option<Model>, HeapError> {
        self.calls.set(self.calls.get() + 1);
        let start = Instant::now();
        let answer = self.solver.borrow_mut().check(formulas);
        self.spent.set(self.spent.get() + start.elapsed());
        match answer {
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
}

/// A path condition: conjuncts, and a model of all of them.
#[derive(Clone)]
pub struct Path {
    conjuncts: Rc<Vec<(Formula, Origin)>>,
    model: Rc<Model>,
    /// What was found not to hold together with the condition; it stays so when the condition grows.
    refuted: RefCell<Rc<FxHashSet<Formula>>>,
}

impl Path {
    /// The condition that always holds.
    pub fn new() -> Self {
        Path { conjuncts: Rc::default(), model: Rc::default(), refuted: RefCell::default() }
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

    /// `sat(g)`: a model of the condition together with `guard`, if there is one.
    pub fn sat(&self, logic: &Logic, guard: Formula) -> Result<Option<Rc<Model>>, HeapError> {
        match logic.store.as_boolean(guard) {
            Some(true) => return Ok(Some(self.model.clone())),
            Some(false) => return Ok(None),
            None => {}
        }
        if self.model.holds(logic.store, guard) == Some(true) {
            return Ok(Some(self.model.clone()));
        }
        if self.refuted.borrow().contains(&guard) {
            return Ok(None);
        }
        let mut formulas = self.formulas();
        formulas.push(guard);
        let model = logic.solve(&formulas)?;
        if model.is_none() {
            Rc::make_mut(&mut *self.refuted.borrow_mut()).insert(guard);
        }
        Ok(model.map(Rc::new))
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
        let mut conjuncts = self.conjuncts.clone();
        let refuted = self.refuted.clone();
        if logic.store.as_boolean(formula) != Some(true) {
            Rc::make_mut(&mut conjuncts).push((formula, origin));
            if origin == Origin::Outcome {
                Rc::make_mut(&mut *refuted.borrow_mut()).insert(logic.store.not(formula));
            }
        }
        Path { conjuncts, model, refuted }
    }
}

impl Default for Path {
    fn default() -> Self {
        Self::new()
    }
}
