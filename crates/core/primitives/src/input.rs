//! An input for a formula: a whole initial structure that a run starts from and that goes where the formula says.
//!
//! A formula speaks of addresses as constants and of the store as a function. An input is more: objects lie where the
//! language puts them, and what the solver leaves open is zero, as it is where a run starts.

use crate::evaluate::{Evaluation, assumptions};
use crate::run::{Stopped, run};
use parallax_op::Bits;
use parallax_sem::logic::{Scalar, Struct};
use parallax_sem::{Concrete, Language, Table};
use parallax_smt::{Limits, Model, Reason, Solver, smallest};
use parallax_term::{Expr, Formula, Sort, Store, SymbolKind, Term};

/// How often the solver is asked again after an input that does not go there.
const TRIES: usize = 16;

/// How many conflicts the solver may take over one question.
const CONFLICTS: u64 = 200_000;

/// Whether an input follows a path.
#[derive(Clone)]
pub enum Input {
    /// This one does: it was run.
    Found(Struct<Concrete>),
    /// None does, under what was assumed.
    Impossible,
    /// Neither an input was found nor that there is none.
    Unknown(NotFound),
}

/// Why there is neither an input nor the certainty that there is none.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotFound {
    /// The solver gave up.
    #[error("{0}")]
    Solver(Reason),
    /// The solver's inputs do not go there when they are run, as often as it was asked for another one.
    #[error("none of the solver's inputs follows the path when it is run")]
    Astray,
    /// The solver's input is still on its way when the run ends.
    #[error("the run from the solver's input was not followed to its end")]
    OnItsWay,
    /// No input follows the path as far as it was followed, and longer ways were not.
    #[error("longer ways between the points were not followed")]
    Bounded,
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

/// An input that follows a path through `points`, from which a run visits them in order within `steps` steps. `small` are
/// terms whose values should be as small as can be, the first first.
pub fn input<'s, L: Language>(
    language: &L,
    solver: &mut (impl Solver<'s> + ?Sized),
    path: &Evaluation,
    small: &[Term],
    points: &[Bits],
    steps: u64,
) -> Input {
    let store = solver.store();
    let keeps = assumptions(store).into_iter().map(|assumption| store.not(assumption.breaks));
    let mut asked: Vec<Formula> =
        placements(language, store).into_iter().chain(keeps).chain([path.complete]).collect();
    solver.set_limits(Limits::counted(CONFLICTS));
    for tried in 0..TRIES {
        let model = match smallest(solver, &asked, small) {
            Ok(Some(model)) => model,
            Ok(None) if tried > 0 => return Input::Unknown(NotFound::Astray),
            Ok(None) if !path.gave_up.is_empty() => return Input::Unknown(NotFound::Bounded),
            Ok(None) => return Input::Impossible,
            Err(reason) => return Input::Unknown(NotFound::Solver(reason)),
        };
        let start = whole(store, &model);
        match visits(language, store, &start, points, steps) {
            Visit::Made => return Input::Found(start),
            Visit::Open => return Input::Unknown(NotFound::OnItsWay),
            Visit::Failed => asked.push(other_than(store, &model, &asked)),
        }
    }
    Input::Unknown(NotFound::Astray)
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

/// Whether a run has visited points.
enum Visit {
    Made,
    Failed,
    /// It has taken as many steps as it was allowed, and may still do so.
    Open,
}

/// Whether a run visits the points in order.
fn visits<L: Language>(
    language: &L,
    store: &Store,
    start: &Struct<Concrete>,
    points: &[Bits],
    steps: u64,
) -> Visit {
    let run = run(language, &Concrete, store, start, steps, true);
    let mut wanted = points.iter().peekable();
    for (_, pc) in &run.trace {
        wanted.next_if(|point| *point == pc);
    }
    match (wanted.peek(), run.stopped) {
        (None, _) => Visit::Made,
        (Some(_), Stopped::Bound) => Visit::Open,
        (Some(_), _) => Visit::Failed,
    }
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
