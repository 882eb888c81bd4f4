//! The feasibility oracle: whether formulas hold together, within the time that is left.

use crate::Model;
use crate::facts::Facts;
use parallax_op::Bits;
use parallax_smt::{Answer, Cache, Counter, Enumeration, Limits, Reason, Solver, Statistics, values};
use parallax_term::{Formula, Store, Symbol, Term};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A solver that every path of an analysis asks. Questions are counted and timed, and none is answered after the deadline.
pub struct Oracle<'s> {
    /// Where formulas live.
    pub store: &'s Store,
    solver: RefCell<Box<dyn Solver<'s> + 's>>,
    asked: Rc<Cell<Statistics>>,
    limits: Limits,
    /// What one question may take at most, whatever the limits say.
    patience: Cell<Option<Duration>>,
    deadline: Rc<Cell<Option<Instant>>>,
    recall: Recall,
    facts: RefCell<Facts>,
    numbers: Cell<u64>,
    /// What formulas speak of, in order.
    symbols: RefCell<FxHashMap<Formula, Rc<[Symbol]>>>,
}

/// What paths remember of the answers they were given.
#[derive(Clone, Copy, Debug)]
pub struct Recall {
    /// How many models of its condition a path keeps beside the one it goes by.
    pub models: usize,
    /// Whether a model keeps the values of what it was asked about: worth it where many questions share most of their parts.
    pub values: bool,
    /// Whether questions are first answered by what follows from a path's conjuncts without a search, and a path keeps
    /// what was found not to hold together with them; else it knows of the opposites of its conjuncts only.
    pub facts: bool,
}

impl Default for Recall {
    /// The newest models, without values or facts: little per path.
    fn default() -> Self {
        Recall { models: 2, values: false, facts: false }
    }
}

impl<'s> Oracle<'s> {
    /// An oracle over a solver.
    pub fn new(solver: Box<dyn Solver<'s> + 's>) -> Self {
        let counter = Counter::new(solver);
        let asked = counter.handle();
        let (store, limits) = (counter.store(), counter.limits());
        let deadline = Rc::new(Cell::new(None::<Instant>));
        let watched = deadline.clone();
        let late = move || watched.get().is_some_and(|deadline| Instant::now() >= deadline);
        Oracle {
            store,
            solver: RefCell::new(Box::new(counter)),
            asked,
            limits,
            patience: Cell::new(None),
            deadline,
            recall: Recall::default(),
            facts: RefCell::new(Facts::until(late)),
            numbers: Cell::new(0),
            symbols: RefCell::default(),
        }
    }

    /// The same, with answers to whole queries kept: for analyses in which one question comes up on many paths.
    pub fn caching(solver: Box<dyn Solver<'s> + 's>) -> Self {
        let mut oracle = Oracle::new(solver);
        oracle.solver = RefCell::new(Box::new(Cache::new(oracle.solver.into_inner())));
        oracle
    }

    /// The same, with other limits on each question.
    pub fn with_limits(self, limits: Limits) -> Self {
        Oracle { limits, ..self }
    }

    /// The same, with paths that remember more, or less.
    pub fn with_recall(self, recall: Recall) -> Self {
        Oracle { recall, ..self }
    }

    /// What paths remember.
    pub fn recall(&self) -> Recall {
        self.recall
    }

    /// What follows from the conjuncts of the path that was last asked about.
    pub(crate) fn facts(&self) -> std::cell::RefMut<'_, Facts> {
        self.facts.borrow_mut()
    }

    /// A number for a condition that no other has.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.set(self.numbers.get() + 1);
        self.numbers.get()
    }

    /// The symbols of a formula, in order.
    pub(crate) fn symbols(&self, formula: Formula) -> Rc<[Symbol]> {
        let mut known = self.symbols.borrow_mut();
        let symbols = known.entry(formula).or_insert_with(|| {
            let mut symbols = self.store.symbols_in([formula.id()]);
            symbols.sort_unstable();
            symbols.into()
        });
        symbols.clone()
    }

    /// From then on no question is answered, and a question that is being answered is given up.
    pub fn set_deadline(&self, deadline: Option<Instant>) {
        self.deadline.set(deadline);
    }

    /// From then on one question takes no longer than this, where that is less than the limits say; `None`: as they say.
    pub fn set_patience(&self, patience: Option<Duration>) {
        self.patience.set(patience);
    }

    /// How long it is to the deadline.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.get().map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Whether the deadline has passed.
    pub fn is_late(&self) -> bool {
        self.time_left() == Some(Duration::ZERO)
    }

    /// What the solver was asked, and how long it took.
    pub fn usage(&self) -> Statistics {
        self.asked.get()
    }

    /// Where searches begin from now on: see [`Solver::begin_at`].
    pub fn begin_at(&self, near: &parallax_smt::Model) {
        self.solver.borrow_mut().begin_at(near);
    }

    /// Whether the formulas hold together, and under which interpretation.
    pub fn check(&self, formulas: &[Formula]) -> Answer {
        // What is plain needs no solver.
        if formulas.contains(&self.store.false_()) {
            return Answer::Unsat;
        }
        match self.ready() {
            Ok(mut solver) => solver.check(formulas),
            Err(late) => Answer::Unknown(late),
        }
    }

    /// A model of all these formulas together, if there is one.
    pub fn solve(&self, formulas: &[Formula]) -> Result<Option<Model>, Reason> {
        match self.check(formulas) {
            Answer::Sat(model) => Ok(Some(Model::new(model, self.recall.values))),
            Answer::Unsat => Ok(None),
            Answer::Unknown(reason) => Err(reason),
        }
    }

    /// The values of a term where the formulas hold, `most` of them at most.
    pub fn values(&self, formulas: &[Formula], term: Term, most: usize) -> Enumeration<Bits> {
        match self.ready() {
            Ok(mut solver) => values(&mut **solver, formulas, term, most),
            Err(late) => Enumeration { found: Vec::new(), stopped: Some(parallax_smt::Stop::Unknown(late)) },
        }
    }

    /// The solver with what it may spend, unless it is late.
    fn ready(&self) -> Result<std::cell::RefMut<'_, Box<dyn Solver<'s> + 's>>, Reason> {
        if self.is_late() {
            return Err(Reason::Time);
        }
        let time = [self.time_left(), self.limits.time, self.patience.get()].into_iter().flatten().min();
        let mut solver = self.solver.borrow_mut();
        solver.set_limits(Limits { time, ..self.limits });
        Ok(solver)
    }
}
