//! Questions that analyses ask, in terms of what solvers answer.

use crate::{Answer, Model, Reason, Solver};
use parallax_op::Bits;
use parallax_term::{Expr, Formula, Symbol, Term};

/// Whether a formula holds under every interpretation.
pub fn is_valid<'s>(solver: &mut (impl Solver<'s> + ?Sized), formula: Formula) -> Result<bool, Reason> {
    implied(solver, &[], formula)
}

/// Whether a formula holds under every interpretation under which all premises do.
pub fn implied<'s>(
    solver: &mut (impl Solver<'s> + ?Sized),
    premises: &[Formula],
    conclusion: Formula,
) -> Result<bool, Reason> {
    let mut query = premises.to_vec();
    query.push(solver.store().not(conclusion));
    solver.check(&query).decided().map(|possible| !possible)
}

/// Some of what there is, and whether it is all.
#[derive(Clone, Debug)]
pub struct Enumeration<T> {
    /// What was found, each once.
    pub found: Vec<T>,
    /// Nothing when that is all there is; else why the search stopped.
    pub stopped: Option<Stop>,
}

/// Why an enumeration stopped early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// There may be more than were asked for.
    Most,
    /// The solver did not know.
    Unknown(Reason),
}

/// The models of a query that differ in constant symbols `over`, `most` of them at most. A model speaks of those
/// symbols as one model of the query does; other symbols are as in that model.
pub fn enumerate<'s>(
    solver: &mut (impl Solver<'s> + ?Sized),
    query: &[Formula],
    over: &[Symbol],
    most: usize,
) -> Enumeration<Model> {
    let store = solver.store();
    let differs = |model: &Model| {
        store.any(over.iter().filter_map(|&symbol| match store.expr_of(symbol) {
            Expr::Term(term) => Some(store.ne(term, store.constant(&model.term(store, term)))),
            Expr::Formula(truth) if model.formula(store, truth) => Some(store.not(truth)),
            Expr::Formula(truth) => Some(truth),
            Expr::Func(_) => None,
        }))
    };
    collect(solver, query, most, |model| (differs(&model), model))
}

/// The values of a term under a query, `most` of them at most.
pub fn values<'s>(
    solver: &mut (impl Solver<'s> + ?Sized),
    query: &[Formula],
    term: Term,
    most: usize,
) -> Enumeration<Bits> {
    let store = solver.store();
    collect(solver, query, most, |model| {
        let value = model.term(store, term);
        (store.ne(term, store.constant(&value)), value)
    })
}

/// Asks again and again, each time for something else.
fn collect<'s, T>(
    solver: &mut (impl Solver<'s> + ?Sized),
    query: &[Formula],
    most: usize,
    mut take: impl FnMut(Model) -> (Formula, T),
) -> Enumeration<T> {
    let mut query = query.to_vec();
    let mut found = Vec::new();
    loop {
        match solver.check(&query) {
            Answer::Unsat => return Enumeration { found, stopped: None },
            Answer::Unknown(reason) => return Enumeration { found, stopped: Some(Stop::Unknown(reason)) },
            Answer::Sat(_) if found.len() == most => return Enumeration { found, stopped: Some(Stop::Most) },
            Answer::Sat(model) => {
                let (another, item) = take(model);
                found.push(item);
                query.push(another);
            }
        }
    }
}

/// A model of a query in which the first term is as small as can be as an unsigned number, then the second, and so on.
/// Where the solver does not know, a term may stay larger than it need be; nothing when there is no model.
pub fn smallest<'s>(
    solver: &mut (impl Solver<'s> + ?Sized),
    query: &[Formula],
    terms: &[Term],
) -> Result<Option<Model>, Reason> {
    let store = solver.store();
    let mut query = query.to_vec();
    let mut model = match solver.check(&query) {
        Answer::Sat(model) => model,
        Answer::Unsat => return Ok(None),
        Answer::Unknown(reason) => return Err(reason),
    };
    for &term in terms {
        // Bits from the highest down, each clear if it can be.
        for bit in (0..store.width(term)).rev() {
            let at = |value: bool| store.eq(store.extract(term, bit, 1), store.number(1, value.into()));
            let set = model.term(store, term).bit(bit);
            query.push(at(false));
            if set {
                match solver.check(&query) {
                    Answer::Sat(smaller) => model = smaller,
                    _ => {
                        query.pop();
                        query.push(at(true));
                    }
                }
            }
        }
    }
    Ok(Some(model))
}
