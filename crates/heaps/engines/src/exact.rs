//! Exactness as a test: a guarded heap stands for the heaps of lazy initialisation, all of them and no others.
//!
//! For every trace: both engines have it, the summary once; the canonical heaps are the same set; the path condition
//! has as many models as lazy initialisation has states; and for each heap the conditions on vectors and truth values
//! are equivalent and the contents equal.

use crate::engine::{Ends, Final, TraceOf};
use crate::lazy::Lazy;
use crate::machine::Machine;
use crate::memory::Stop;
use crate::setup::Setup;
use crate::summary::Summary;
use parallax_heap::Canon;
use parallax_path::{Model, Oracle};
use parallax_sem::Symbolic;
use parallax_sem::logic::{Struct, formula as meaning};
use parallax_smt::Reason;
use parallax_term::{Formula, Node, Scalar};
use std::collections::{BTreeMap, BTreeSet};

/// How two engines differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference<T> {
    /// A trace that only the summary has.
    OnlySummary(T),
    /// A trace that only lazy initialisation has.
    OnlyLazy(T),
    /// Several summary states share a trace.
    Forked(T, usize),
    /// A heap of lazy initialisation that the summary does not stand for.
    Lost(T, String),
    /// A heap that the summary stands for and lazy initialisation never builds.
    Spurious(T, String),
    /// The models do not correspond one to one to states.
    Count(T, usize, usize),
    /// For this heap, the conditions on values differ.
    Condition(T, String),
    /// For this heap, some value differs.
    Value(T, String),
    /// A reference without exactly one target under some model.
    Invariant(T, String),
    /// The bound k left something out, and the summary does not say so.
    Truncated(T),
}

/// What a comparison found.
#[derive(Clone, Debug)]
pub struct Comparison<T> {
    /// Traces compared.
    pub traces: usize,
    /// Heaps compared.
    pub heaps: usize,
    /// What differs.
    pub differences: Vec<Difference<T>>,
    /// Traces with more heaps than the limit, which were compared by trace only.
    pub skipped: usize,
}

impl<T> Default for Comparison<T> {
    fn default() -> Self {
        Comparison { traces: 0, heaps: 0, differences: Vec::new(), skipped: 0 }
    }
}

/// Compares a summary run with a lazy run of the same set-up, at most `limit` heaps for each trace.
///
/// The lazy run's tokens, if it is one of the lazier engines, must be expanded. Those engines may come to one heap in
/// several ways, and so may lazy initialisation if a precondition counts as one condition: `counted` is false then, and
/// what is compared is the set of heaps, and for each heap the condition that any of its states has.
pub fn compare<'s, L: Machine>(
    setup: &Setup<'s>,
    lazy: &Ends<L, Lazy<'s>>,
    summary: &Ends<L, Summary<'s>>,
    limit: usize,
    counted: bool,
) -> Result<Comparison<TraceOf<L>>, Stop> {
    let mut comparison = Comparison::default();
    let all: BTreeSet<&TraceOf<L>> = lazy.traces.keys().chain(summary.traces.keys()).collect();
    for trace in all {
        comparison.traces += 1;
        let differences = &mut comparison.differences;
        match (lazy.traces.get(trace), summary.traces.get(trace).map(|bucket| bucket.finals.as_slice())) {
            (Some(states), Some([one])) => {
                if states.count > limit.min(states.finals.len()) {
                    comparison.skipped += 1;
                } else {
                    comparison.heaps += states.count;
                    let side = Side { setup, trace, states: &states.finals, one, counted };
                    side.compare(differences)?;
                }
            }
            (_, Some([_, _, ..])) => {
                differences.push(Difference::Forked(trace.clone(), summary.traces[trace].count));
            }
            (None, _) => differences.push(Difference::OnlySummary(trace.clone())),
            (Some(_), _) => differences.push(Difference::OnlyLazy(trace.clone())),
        }
    }
    Ok(comparison)
}

/// The two sides of one trace.
struct Side<'a, 's, L: Machine> {
    setup: &'a Setup<'s>,
    trace: &'a TraceOf<L>,
    states: &'a [Final<L, Lazy<'s>>],
    one: &'a Final<L, Summary<'s>>,
    counted: bool,
}

impl<L: Machine> Side<'_, '_, L> {
    fn compare(&self, differences: &mut Vec<Difference<TraceOf<L>>>) -> Result<(), Stop> {
        let Side { trace, states, one, counted, .. } = *self;
        let heap = one.heap();
        if states.iter().any(|state| state.memory.truncated) && !heap.truncated {
            differences.push(Difference::Truncated(trace.clone()));
        }
        let models = heap.models(states.len() + 1)?;
        // Fewer than were asked for, and not all: the time is up, which is no difference.
        if !models.complete && models.models.len() <= states.len() {
            return Err(Reason::Time.into());
        }
        if !models.complete || counted && models.models.len() != states.len() {
            differences.push(Difference::Count(trace.clone(), states.len(), models.models.len()));
        }
        let count = heap.count(states.len() + 1)?;
        if models.complete && !count.exact {
            return Err(Reason::Time.into());
        }
        if models.complete && count.heaps != models.models.len() as u64 {
            differences.push(Difference::Count(trace.clone(), models.models.len(), count.heaps as usize));
        }
        let mut shapes: BTreeMap<String, Shape<'_, '_, L>> = BTreeMap::new();
        for state in states {
            let canon = state.snapshot().canon(state.memory.universe());
            shapes.entry(canon.text.clone()).or_default().states.push((canon, state));
        }
        let cells = one.cells();
        for model in &models.models {
            match heap.resolve(model, &cells) {
                Ok(snapshot) => {
                    let canon = snapshot.canon(&heap.universe);
                    shapes.entry(canon.text.clone()).or_default().models.push((canon, model));
                }
                Err(error) => {
                    differences.push(Difference::Invariant(trace.clone(), error.to_string()));
                }
            }
        }
        for (text, shape) in shapes {
            if shape.states.is_empty() {
                differences.push(Difference::Spurious(trace.clone(), text));
            } else if shape.models.is_empty() {
                differences.push(Difference::Lost(trace.clone(), text));
            } else {
                self.compare_shape(&text, &shape, differences)?;
            }
        }
        Ok(())
    }

    /// One shape: where lazy initialisation may be in one of its states, the summary may be in one of its models, and
    /// their contents agree. Counted, states and models correspond one to one.
    fn compare_shape(
        &self,
        text: &str,
        shape: &Shape<'_, '_, L>,
        differences: &mut Vec<Difference<TraceOf<L>>>,
    ) -> Result<(), Stop> {
        let Side { setup, trace, one, counted, .. } = *self;
        let oracle = &*setup.oracle;
        let conditions = |states: &[&Final<L, Lazy<'_>>]| {
            oracle.store.any(states.iter().map(|state| oracle.store.all(state.memory.path.formulas())))
        };
        let residual = |model: &Model| residual(oracle, one, model);
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        if counted {
            // Several states share a heap when an index meant different elements; conditions tell them apart.
            let mut left: Vec<usize> = (0..shape.states.len()).collect();
            for (number, (_, model)) in shape.models.iter().enumerate() {
                let mut matched = None;
                for &at in &left {
                    if equivalent(oracle, conditions(&[shape.states[at].1]), residual(model))? {
                        matched = Some(at);
                        break;
                    }
                }
                match matched {
                    None => differences.push(Difference::Condition(trace.clone(), text.to_owned())),
                    Some(matched) => {
                        left.retain(|at| *at != matched);
                        pairs.push((matched, number));
                    }
                }
            }
            differences.extend(left.iter().map(|_| Difference::Lost(trace.clone(), text.to_owned())));
        } else {
            let states: Vec<_> = shape.states.iter().map(|(_, state)| *state).collect();
            let models = oracle.store.any(shape.models.iter().map(|(_, model)| residual(model)));
            if !equivalent(oracle, conditions(&states), models)? {
                differences.push(Difference::Condition(trace.clone(), text.to_owned()));
            }
            pairs.extend((0..states.len()).flat_map(|at| (0..shape.models.len()).map(move |n| (at, n))));
        }
        for (at, number) in pairs {
            let ((other, state), (canon, model)) = (&shape.states[at], &shape.models[number]);
            let mut assumptions = state.memory.path.formulas();
            assumptions.extend(one.heap().choices(model));
            assumptions.extend(one.heap().path.formulas());
            for (a, b) in canon.scalars.iter().zip(&other.scalars) {
                if !always_equal(oracle, &assumptions, *a, *b)? {
                    differences.push(Difference::Value(trace.clone(), text.to_owned()));
                    break;
                }
            }
        }
        Ok(())
    }
}

/// What both engines have of one shape.
struct Shape<'a, 's, L: Machine> {
    states: Vec<(Canon, &'a Final<L, Lazy<'s>>)>,
    models: Vec<(Canon, &'a Model)>,
}

impl<L: Machine> Default for Shape<'_, '_, L> {
    fn default() -> Self {
        Shape { states: Vec::new(), models: Vec::new() }
    }
}

/// What the condition of a path demands of vectors and truth values once the choices of a model are made.
fn residual<L: Machine>(oracle: &Oracle<'_>, one: &Final<L, Summary<'_>>, model: &Model) -> Formula {
    let store = oracle.store;
    let heap = one.heap();
    let mut chosen: Struct<Symbolic<'_>> = Struct::default();
    let holds = |atom: Formula| model.holds(store, atom);
    for (_, atom) in heap.selectors.iter().flat_map(|selector| &selector.choices) {
        if let Node::Symbol(symbol) = store.node(*atom) {
            chosen.set_bool(symbol, store.boolean(holds(*atom)));
        }
    }
    // Conditions on values are no choices: they stay.
    let others = heap.indices.iter().map(|&index| if holds(index) { index } else { store.not(index) });
    let whole = oracle.store.all(heap.path.formulas().into_iter().chain(others));
    meaning(&Symbolic::new(store), store, whole, &chosen)
}

fn equivalent(oracle: &Oracle<'_>, a: Formula, b: Formula) -> Result<bool, Stop> {
    Ok(a == b || unsatisfiable(oracle, &[oracle.store.not(oracle.store.iff(a, b))])?)
}

fn always_equal(oracle: &Oracle<'_>, assumptions: &[Formula], a: Scalar, b: Scalar) -> Result<bool, Stop> {
    if a == b {
        return Ok(true);
    }
    let differ = match (a, b) {
        (Scalar::Term(a), Scalar::Term(b)) => oracle.store.ne(a, b),
        (Scalar::Formula(a), Scalar::Formula(b)) => oracle.store.not(oracle.store.iff(a, b)),
        _ => return Ok(false),
    };
    let mut formulas = assumptions.to_vec();
    formulas.push(differ);
    Ok(unsatisfiable(oracle, &formulas)?)
}

fn unsatisfiable(oracle: &Oracle<'_>, formulas: &[Formula]) -> Result<bool, Reason> {
    Ok(oracle.solve(formulas)?.is_none())
}
