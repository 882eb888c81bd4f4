//! Fresh symbols: what is known of them by their type, and what the solver says about paths.

use super::memory::{self, has_facts, width};
use super::{Bare, ELSEWHERE, Executor, State, Value};
use crate::syntax::{ExprId, Sign, Use};
use crate::ty::{Nullness, Type};
use parallax_op::{Bits, RelOp};
use parallax_smt::Answer;
use parallax_term::{Formula, Id, Sort, Symbol, SymbolKind, Term};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// What holds of every valuation, by the symbol it speaks of.
#[derive(Default)]
pub(super) struct Facts {
    of: RefCell<FxHashMap<Symbol, Vec<Formula>>>,
    known: RefCell<FxHashSet<Formula>>,
    /// How many locations were allocated when each arbitrary memory came up.
    generations: RefCell<Vec<u64>>,
    /// Where the execution started.
    start: RefCell<Start>,
}

/// The symbolic block being executed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    /// What is executed.
    pub(crate) body: Option<ExprId>,
    /// What it does not know: its variables.
    pub(crate) inputs: Vec<Input>,
}

/// Something a symbolic block does not know, by the name that a reader of the program has for it.
#[derive(Clone, Debug)]
pub struct Input {
    /// The name.
    pub name: String,
    /// The variable.
    pub at: Use,
    /// What stands for it.
    pub value: Value,
    /// The arbitrary memory that it may point into.
    pub memory: u32,
}

impl Facts {
    pub(super) fn new_generation(&self, generation: u32, allocations: u64) {
        let mut generations = self.generations.borrow_mut();
        debug_assert_eq!(generations.len(), generation as usize);
        generations.push(allocations);
    }

    fn add(&self, symbol: Symbol, fact: Formula) {
        if self.known.borrow_mut().insert(fact) {
            self.of.borrow_mut().entry(symbol).or_default().push(fact);
        }
    }
}

impl Executor<'_> {
    /// Sets where the execution started, and gives back what that was before.
    pub(crate) fn set_start(&self, start: Start) -> Start {
        self.facts.start.replace(start)
    }

    /// What the block being executed does not know.
    pub(super) fn inputs(&self) -> Vec<Input> {
        self.facts.start.borrow().inputs.clone()
    }

    /// What is executed.
    pub(super) fn body(&self) -> Option<ExprId> {
        self.facts.start.borrow().body
    }

    /// The facts about the symbols in some expressions.
    pub(super) fn facts_about(&self, roots: Vec<Id>) -> Vec<Formula> {
        let of = self.facts.of.borrow();
        let symbols = self.store.symbols_in(roots);
        symbols.iter().filter_map(|symbol| of.get(symbol)).flatten().copied().collect()
    }

    /// `alpha : t` for a fresh `alpha`.
    pub(crate) fn fresh(&self, name: &str, ty: &Type) -> Value {
        let ty = ty.clone();
        let u = match &ty {
            Type::Unit => Bare::Unit,
            Type::Bool => match self.store.expr_of(self.store.fresh(name, Sort::Bool, SymbolKind::Free)) {
                parallax_term::Expr::Formula(formula) => Bare::Bool(formula),
                _ => unreachable!("a Boolean symbol is a formula"),
            },
            Type::Known(id) => return self.known_value(*id),
            _ => {
                let symbol = self.store.fresh(name, Sort::Bits(width(&ty)), SymbolKind::Free);
                let parallax_term::Expr::Term(term) = self.store.expr_of(symbol) else {
                    unreachable!("a bit-vector symbol is a term")
                };
                self.add_fact(symbol, term, &ty, self.allocations.get());
                Bare::Bits(term)
            }
        };
        // Signs are facts about the symbol; as a symbolic expression an integer is an integer.
        Value { u, ty: ty.widened() }
    }

    /// What the type of an unknown says about it.
    fn add_fact(&self, symbol: Symbol, term: Term, ty: &Type, allocations: u64) {
        let fact = match ty {
            Type::Int(sign) if *sign != Sign::Unknown => self.has_sign(term, *sign),
            Type::Ref(nullness, _) => {
                let store = self.store;
                let limit = store.number(64, u128::from(allocations));
                let one = store.number(64, 1);
                let elsewhere = store.number(64, u128::from(ELSEWHERE));
                let allocated =
                    store.and(store.relop(RelOp::Ule, one, term), store.relop(RelOp::Ule, term, limit));
                let location = store.or(allocated, store.relop(RelOp::Ule, elsewhere, term));
                match nullness {
                    Nullness::NonNull => location,
                    Nullness::Null => store.or(location, store.eq(term, store.number(64, 0))),
                }
            }
            _ => return,
        };
        self.facts.add(symbol, fact);
    }

    /// What is known of the contents of arbitrary memories at `location`, as far as `value` depends on them.
    pub(super) fn add_memory_facts(&self, value: Term, location: Term, content: &Type) {
        if !has_facts(content) {
            return;
        }
        // The symbol of an arbitrary memory says in its name which one it is, and of what.
        let suffix = format!("{}]", memory::class(content));
        for symbol in self.store.symbols_in([value.id()]) {
            let name = self.store.info(symbol).name;
            let number = name.strip_prefix("mu").and_then(|rest| rest.split_once('['));
            let generation =
                number.filter(|(_, rest)| *rest == suffix).and_then(|(n, _)| n.parse::<usize>().ok());
            let allocations = generation.and_then(|n| self.facts.generations.borrow().get(n).copied());
            if let (Some(allocations), parallax_term::Expr::Func(map)) =
                (allocations, self.store.expr_of(symbol))
            {
                let read = self.store.access(map, location);
                self.add_fact(symbol, read, content, allocations);
            }
        }
    }

    /// That an integer has a sign.
    pub(crate) fn has_sign(&self, term: Term, sign: Sign) -> Formula {
        let zero = self.store.number(64, 0);
        match sign {
            Sign::Pos => self.store.relop(RelOp::Slt, zero, term),
            Sign::Neg => self.store.relop(RelOp::Slt, term, zero),
            Sign::Zero => self.store.eq(term, zero),
            Sign::Unknown => self.store.true_(),
        }
    }

    /// That a reference of type `ty` has a nullness.
    pub(crate) fn has_nullness(&self, term: Term, ty: &Type, nullness: Nullness) -> Formula {
        match (ty, nullness) {
            (Type::Ref(Nullness::Null, _), Nullness::NonNull) => {
                self.store.not(self.store.eq(term, self.store.number(64, 0)))
            }
            _ => self.store.true_(),
        }
    }

    /// The formulas with the facts about every symbol in them.
    pub(crate) fn with_facts(&self, mut formulas: Vec<Formula>) -> Vec<Formula> {
        let of = self.facts.of.borrow();
        let mut seen = FxHashSet::default();
        let mut at = 0;
        while at < formulas.len() {
            for symbol in self.store.symbols_in([formulas[at].id()]) {
                if seen.insert(symbol) {
                    formulas.extend(of.get(&symbol).into_iter().flatten());
                }
            }
            at += 1;
        }
        formulas
    }

    /// Whether the path condition and `more` can hold together.
    pub(crate) fn ask(&self, state: &State, more: Formula) -> Answer {
        let mut formulas: Vec<Formula> = state.path.newest_first().map(|decision| decision.formula).collect();
        formulas.push(more);
        self.oracle.check(&self.with_facts(formulas))
    }

    /// Whether the solver proves that a formula holds on the path.
    pub(crate) fn proves(&self, state: &State, formula: Formula) -> bool {
        match self.store.as_boolean(formula) {
            Some(known) => known || self.is_infeasible(state),
            None => matches!(self.ask(state, self.store.not(formula)), Answer::Unsat),
        }
    }

    /// Whether the solver proves that no run takes the path.
    pub(crate) fn is_infeasible(&self, state: &State) -> bool {
        matches!(self.ask(state, self.store.true_()), Answer::Unsat)
    }

    /// A constant.
    pub(crate) fn int(&self, n: i64) -> Value {
        Value { u: Bare::Bits(self.store.constant(&Bits::from_i128(64, i128::from(n)))), ty: Type::INT }
    }
}
