//! Z3, in process: for what tier 0 finds hard, and for floats.
//!
//! Functions never reach Z3: its reads are unknowns as they are tier 0's, and the same lemmas explain them. Queries
//! without floats go to Z3's incremental bit-vector solver, each formula behind a literal of its own; queries with
//! floats are asserted as a whole, which is where Z3's tactics for floats apply, and have themselves for a core.

mod floats;
mod translate;

use crate::refine::{self, Cone, Engine, Lemma};
use crate::{Answer, Limits, Reason, Solver};
use parallax_op::{BinOp, Bits, FloatBinOp, FloatFormat};
use parallax_term::{Expr, Formula, Id, Node, Store, Term};
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};
use translate::Translation;
use z3::ast::{Ast, Bool};
use z3::{Params, SatResult};

/// How many formulas a query may leave behind before the solver starts afresh.
const KEEP: usize = 200;
/// How many times more formulas than its query the solver may hold.
const SLACK: usize = 8;
/// Nesting that Z3's own recursion survives on a small stack.
const DEPTH: u32 = 10_000;
/// What Z3 counts as its resource, for each conflict that a query may take: where nothing is timed, this bounds what is not
/// search.
const RESOURCE: u64 = 20_000;
/// The part of a query's time that is for taking down what Z3 built, where it gives up: one in so many.
const TIDYING: u32 = 8;

/// Z3. The limit on size counts an estimate of what Z3 would build.
pub struct Z3<'s> {
    store: &'s Store,
    limits: Limits,
    state: State<'s>,
    core: Vec<Formula>,
}

impl<'s> Z3<'s> {
    /// A solver with default limits.
    pub fn new(store: &'s Store) -> Self {
        Z3 { store, limits: Limits::default(), state: State::new(store), core: Vec::new() }
    }

    /// The version of the library.
    pub fn version() -> &'static str {
        z3::full_version()
    }

    fn run(&mut self, query: &[Formula]) -> Result<Answer, Reason> {
        let mut cone = Cone::default();
        cone.extend(self.store, query.iter().copied());
        within_limits(self.store, &cone, &self.limits)?;
        let held = self.state.literals.len();
        if held > KEEP && held > SLACK * query.len() {
            self.state = State::new(self.store);
        }
        self.state.start(query, cone.floats, &self.limits)?;
        match refine::solve(self.store, &mut self.state, query, &mut cone)? {
            Some(model) => Ok(Answer::Sat(model)),
            None => {
                self.core = self.state.core(query);
                Ok(Answer::Unsat)
            }
        }
    }
}

/// Refuses what Z3 would not survive: it bounds neither its stack nor, reliably, its memory.
fn within_limits(store: &Store, cone: &Cone, limits: &Limits) -> Result<(), Reason> {
    let mut size = 0usize;
    for &id in &cone.members {
        size = size.saturating_add(cost(store, id));
    }
    if size > limits.size {
        return Err(Reason::Size);
    }
    if cone.members.len() > DEPTH as usize {
        let mut order = cone.members.clone();
        order.sort_unstable();
        let mut depths: FxHashMap<Id, u32> = FxHashMap::default();
        for id in order {
            let below = store.operands(id).filter_map(|operand| depths.get(&operand)).max();
            let depth = below.map_or(0, |depth| depth + 1);
            if depth > DEPTH {
                return Err(Reason::Size);
            }
            depths.insert(id, depth);
        }
    }
    Ok(())
}

/// About how many gates an expression takes.
fn cost(store: &Store, id: Id) -> usize {
    let width = |term: Term| usize::from(store.width(term));
    let own = match store.expr(id) {
        Expr::Term(term) => width(term),
        _ => 1,
    };
    let constant = |term: Term| store.as_constant(term).is_some();
    match store.node(id) {
        Node::Bin(BinOp::Mul, a, b) if constant(a) || constant(b) => 4 * own,
        Node::Bin(BinOp::Mul, ..) => own * own,
        Node::Bin(BinOp::Udiv | BinOp::Urem | BinOp::Sdiv | BinOp::Srem, ..) => 2 * own * own,
        // The remainder divides numbers as wide as the range of exponents.
        Node::FloatBin(FloatBinOp::Rem, _, a, _) => {
            let exponent = FloatFormat::of_width(store.width(a)).map_or(15, |format| format.smt2().0);
            8 << (2 * exponent)
        }
        Node::FloatUn(..) | Node::FloatBin(..) | Node::Fma(..) => 4 * own * own,
        Node::FloatToFloat(_, a) | Node::IntToFloat { of: a, .. } | Node::FloatToInt { of: a, .. } => {
            8 * (own + width(a))
        }
        Node::Rel(_, a, _) | Node::FloatRel(_, a, _) => width(a),
        _ => own,
    }
}

impl<'s> Solver<'s> for Z3<'s> {
    fn store(&self) -> &'s Store {
        self.store
    }

    fn check(&mut self, query: &[Formula]) -> Answer {
        self.core.clear();
        let answer = self.run(query).unwrap_or_else(Answer::Unknown);
        self.state.model = None;
        let broken_promises = answer.is_unsat() && self.core.is_empty() && !query.is_empty();
        if broken_promises || answer.decided().is_err() {
            // Only promises of addresses that cannot all be kept fail without any formula of the query; and Z3 stopped
            // half-way through a simplification gives up on everything after it.
            self.state = State::new(self.store);
        }
        answer
    }

    fn unsat_core(&self) -> &[Formula] {
        &self.core
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    fn limits(&self) -> Limits {
        self.limits
    }
}

/// What Z3 holds for us.
struct State<'s> {
    translation: Translation<'s>,
    bits: z3::Solver,
    /// The literal that stands for each formula that the bit-vector solver holds.
    literals: FxHashMap<Formula, Bool>,
    assumed: Vec<Bool>,
    /// With floats: everything to assert, anew for each search.
    whole: Option<Vec<Bool>>,
    params: Params,
    /// Until when the searches of a query may take, all together.
    until: Option<Instant>,
    model: Option<z3::Model>,
}

impl<'s> State<'s> {
    fn new(store: &'s Store) -> Self {
        State {
            translation: Translation::new(store),
            bits: z3::Solver::new_for_logic("QF_BV").expect("Z3 knows bit-vectors"),
            literals: FxHashMap::default(),
            assumed: Vec::new(),
            whole: None,
            params: Params::new(),
            until: None,
            model: None,
        }
    }

    fn start(&mut self, query: &[Formula], floats: bool, limits: &Limits) -> Result<(), Reason> {
        self.model = None;
        self.params = Params::new();
        self.until = limits.time.and_then(|time| Instant::now().checked_add(time - time / TIDYING));
        self.params.set_u32(
            "max_conflicts",
            limits.conflicts.map_or(u32::MAX, |c| u32::try_from(c).unwrap_or(u32::MAX)),
        );
        if let (None, Some(conflicts)) = (limits.time, limits.conflicts) {
            let most = conflicts.saturating_mul(RESOURCE).min(u64::from(u32::MAX));
            self.params.set_u32("rlimit", most as u32);
        }
        self.assumed.clear();
        self.whole = None;
        if floats {
            let formulas = query.iter().map(|&formula| self.translation.formula(formula));
            self.whole = Some(formulas.collect::<Result<_, _>>()?);
            return Ok(());
        }
        // Reducing the graph of binary clauses does not look at the time, and took seconds on large queries. Z3's other
        // solvers do not know the name, and would lose their first formula over it.
        self.params.set_bool("scc.tr", false);
        for &formula in query {
            self.left()?;
            let literal = match self.literals.get(&formula) {
                Some(known) => known.clone(),
                None => {
                    let literal = Bool::fresh_const("f");
                    self.bits.assert(literal.implies(self.translation.formula(formula)?));
                    self.literals.insert(formula, literal.clone());
                    literal
                }
            };
            self.assumed.push(literal);
        }
        Ok(())
    }

    /// The time that is left for a query, where it is bounded.
    fn left(&self) -> Result<Option<Duration>, Reason> {
        match self.until.map(|until| until.saturating_duration_since(Instant::now())) {
            Some(Duration::ZERO) => Err(Reason::Time),
            left => Ok(left),
        }
    }

    fn core(&self, query: &[Formula]) -> Vec<Formula> {
        if self.whole.is_some() {
            return query.to_vec();
        }
        let failed = self.bits.get_unsat_core();
        let in_core = |literal: &Bool| failed.iter().any(|one| one.get_z3_ast() == literal.get_z3_ast());
        query.iter().zip(&self.assumed).filter(|(_, literal)| in_core(literal)).map(|(f, _)| *f).collect()
    }
}

impl Engine for State<'_> {
    fn learn(&mut self, lemma: &Lemma) -> Result<(), Reason> {
        let mut clause = vec![self.translation.formula(lemma.conclusion)?];
        for &premise in &lemma.premises {
            clause.push(self.translation.formula(premise)?.not());
        }
        let clause = Bool::or(&clause);
        match &mut self.whole {
            Some(whole) => whole.push(clause),
            None => self.bits.assert(clause),
        }
        Ok(())
    }

    fn search(&mut self) -> Result<bool, Reason> {
        let milliseconds =
            self.left()?.map_or(u32::MAX, |left| u32::try_from(left.as_millis()).unwrap_or(u32::MAX));
        self.params.set_u32("timeout", milliseconds.max(1));
        if self.whole.is_none() {
            self.bits.set_params(&self.params);
        }
        let fresh;
        let (answer, solver) = match &self.whole {
            Some(whole) => {
                fresh = z3::Solver::new();
                fresh.set_params(&self.params);
                for formula in whole {
                    fresh.assert(formula);
                }
                (fresh.check(), &fresh)
            }
            None => (self.bits.check_assumptions(&self.assumed), &self.bits),
        };
        match answer {
            SatResult::Unsat => Ok(false),
            SatResult::Sat => {
                self.model = solver.get_model();
                Ok(true)
            }
            SatResult::Unknown => {
                let reason = solver.get_reason_unknown().unwrap_or_default();
                Err(match reason.as_str() {
                    "timeout" | "canceled" => Reason::Time,
                    "max-conflicts-reached" | "sat.max.conflicts" | "max. resource limit exceeded" => {
                        Reason::Search
                    }
                    _ => Reason::Incomplete(reason),
                })
            }
        }
    }

    fn value(&self, term: Term) -> Option<Bits> {
        let vector = self.model.as_ref()?.eval(self.translation.known_term(term)?, true)?;
        translate::number(&vector)
    }

    fn truth(&self, formula: Formula) -> Option<bool> {
        self.model.as_ref()?.eval(self.translation.known_formula(formula)?, true)?.as_bool()
    }
}
