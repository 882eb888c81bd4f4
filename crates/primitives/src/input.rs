//! An input for a formula: a whole initial structure that a run starts from and that goes where the formula says.
//!
//! A formula speaks of addresses as constants and of the store as a function. An input is more: objects lie where the
//! language puts them, and what the solver leaves open is zero, as it is where a run starts.

use crate::run::run;
use parallax_op::Bits;
use parallax_sem::logic::{Scalar, Struct};
use parallax_sem::{Concrete, Language, Table};
use parallax_smt::{Model, Reason, Solver, smallest};
use parallax_term::{Expr, Formula, Sort, Store, SymbolKind, Term};

/// How often the solver is asked again after an input that does not go there.
const TRIES: usize = 16;

/// Why there is neither an input nor the certainty that there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum NoInput {
    /// The solver gave up.
    Solver(Reason),
    /// The solver's inputs do not go there when they are run, as often as it was asked for another one.
    Astray,
}

/// Where the language puts the objects that formulas speak of.
pub fn placements<L: Language>(language: &L, store: &Store) -> Vec<Formula> {
    let placed = |symbol| match (store.info(symbol).kind, store.expr_of(symbol)) {
        (SymbolKind::Address { .. }, Expr::Term(address)) => {
            let place = language.placement(&store.info(symbol).name)?;
            Some(store.eq(address, store.constant(&place)))
        }
        _ => None,
    };
    store.symbols().filter_map(placed).collect()
}

/// An input under which the formulas hold and from which a run visits `points` in order within `steps` steps, or is still
/// on its way then; `None` when there is none. `small` are terms whose values should be as small as can be, the first
/// first.
pub fn input<'s, L: Language>(
    language: &L,
    solver: &mut (impl Solver<'s> + ?Sized),
    formulas: &[Formula],
    small: &[Term],
    points: &[Bits],
    steps: u64,
) -> Result<Option<Struct<Concrete>>, NoInput> {
    let store = solver.store();
    let mut asked: Vec<Formula> =
        placements(language, store).into_iter().chain(formulas.iter().copied()).collect();
    for _ in 0..TRIES {
        let Some(model) = smallest(solver, &asked, small).map_err(NoInput::Solver)? else { return Ok(None) };
        let start = whole(store, &model);
        if visits(language, store, &start, points, steps) {
            return Ok(Some(start));
        }
        asked.push(other_than(store, &model, &asked));
    }
    Err(NoInput::Astray)
}

/// The structure of a model in which every map is zero but for the entries that it has.
fn whole(store: &Store, model: &Model) -> Struct<Concrete> {
    let mut model = model.clone();
    model.place_addresses(store);
    let mut s = model.structure().clone();
    for table in s.functions.values_mut() {
        let mut from_zero = Table::new(Bits::zero(table.default_value().width()));
        for (key, value) in table.entries() {
            from_zero.set(key.clone(), value.clone());
        }
        *table = from_zero;
    }
    s
}

/// Whether a run visits the points in order; one that has not ended may still do so.
fn visits<L: Language>(
    language: &L,
    store: &Store,
    start: &Struct<Concrete>,
    points: &[Bits],
    steps: u64,
) -> bool {
    let run = run(language, &Concrete, store, start, steps, true);
    let mut wanted = points.iter().peekable();
    for (_, pc) in &run.trace {
        wanted.next_if(|point| *point == pc);
    }
    wanted.peek().is_none() || matches!(run.stopped, crate::Stopped::Bound)
}

/// That something the formulas speak of has another value than in the model.
fn other_than(store: &Store, model: &Model, formulas: &[Formula]) -> Formula {
    let mut differs = Vec::new();
    for symbol in store.symbols_in(formulas.iter().map(|formula| formula.id())) {
        match (store.expr_of(symbol), store.info(symbol).sort, model.table(symbol)) {
            (Expr::Term(term), ..) => {
                differs.push(store.not(store.eq(term, store.constant(&model.term(store, term)))));
            }
            (Expr::Formula(formula), ..) => {
                let value = store.boolean(model.formula(store, formula));
                differs.push(store.not(store.iff(formula, value)));
            }
            (Expr::Func(map), Sort::Map { .. }, Some(table)) => {
                for (key, value) in table.entries() {
                    let held = store.access(map, store.constant(key));
                    differs.push(store.not(store.eq(held, store.constant(value))));
                }
            }
            _ => {}
        }
    }
    store.any(differs)
}

/// Whether a structure interprets every address symbol as the number that the language places it at.
pub fn is_placed<L: Language>(language: &L, store: &Store, s: &Struct<Concrete>) -> bool {
    store.symbols().all(|symbol| {
        let info = store.info(symbol);
        match (info.kind, language.placement(&info.name), s.constants.get(&symbol)) {
            (SymbolKind::Address { .. }, Some(place), Some(Scalar::Val(address))) => *address == place,
            _ => true,
        }
    })
}
