//! Exactness as a test: a guarded heap stands for the heaps of lazy initialisation, all of them and no others.
//!
//! For every trace: both engines have it, the summary once; the canonical heaps are the same set; the path condition
//! has as many models as lazy initialisation has states; and for each heap the conditions on vectors and truth values
//! are equivalent and the contents equal.

use crate::engine::{Ends, Final, Trace};
use crate::lazy::Lazy;
use crate::memory::Stop;
use crate::setup::Setup;
use crate::summary::Summary;
use parallax_heap::{Canon, Logic, Model};
use parallax_term::{Formula, Scalar};
use std::collections::{BTreeMap, BTreeSet};

/// How two engines differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// A trace that only the summary has.
    OnlySummary(Trace),
    /// A trace that only lazy initialisation has.
    OnlyLazy(Trace),
    /// Several summary states share a trace.
    Forked(Trace, usize),
    /// A heap of lazy initialisation that the summary does not stand for.
    Lost(Trace, String),
    /// A heap that the summary stands for and lazy initialisation never builds.
    Spurious(Trace, String),
    /// The models do not correspond one to one to states.
    Count(Trace, usize, usize),
    /// For this heap, the conditions on values differ.
    Condition(Trace, String),
    /// For this heap, some value differs.
    Value(Trace, String),
    /// A reference without exactly one target under some model.
    Invariant(Trace, String),
}

/// What a comparison found.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Traces compared.
    pub traces: usize,
    /// Heaps compared.
    pub heaps: usize,
    /// What differs.
    pub differences: Vec<Difference>,
    /// Traces with more heaps than the limit, which were compared by trace only.
    pub skipped: usize,
}

/// Compares a summary run with a lazy run of the same set-up, at most `limit` heaps for each trace.
///
/// The lazy run's tokens, if it is one of the lazier engines, must be expanded. Those engines may come to one heap in
/// several ways, and so may lazy initialisation if a precondition counts as one condition: `counted` is false then, and
/// what is compared is the set of heaps, and for each heap the condition that any of its states has.
pub fn compare<'s>(
    setup: &Setup<'s>,
    lazy: &Ends<Lazy<'s>>,
    summary: &Ends<Summary<'s>>,
    limit: usize,
    counted: bool,
) -> Result<Comparison, Stop> {
    let mut comparison = Comparison::default();
    let all: BTreeSet<&Trace> = lazy.traces.keys().chain(summary.traces.keys()).collect();
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
struct Side<'a, 's> {
    setup: &'a Setup<'s>,
    trace: &'a Trace,
    states: &'a [Final<Lazy<'s>>],
    one: &'a Final<Summary<'s>>,
    counted: bool,
}

impl Side<'_, '_> {
    fn compare(&self, differences: &mut Vec<Difference>) -> Result<(), Stop> {
        let Side { setup, trace, states, one, counted } = *self;
        let heap = one.heap();
        let models = heap.models(states.len() + 1)?;
        if counted && (models.models.len() != states.len() || !models.complete) {
            differences.push(Difference::Count(trace.clone(), states.len(), models.models.len()));
        }
        let mut by_heap: BTreeMap<String, Vec<(Canon, &Final<Lazy<'_>>)>> = BTreeMap::new();
        for state in states {
            let canon = state.snapshot().canon(&setup.universe);
            by_heap.entry(canon.text.clone()).or_default().push((canon, state));
        }
        // Only an index can make two models of one heap.
        if !counted && heap.indices.is_empty() && (models.models.len() != by_heap.len() || !models.complete) {
            differences.push(Difference::Count(trace.clone(), by_heap.len(), models.models.len()));
        }
        let mut left: BTreeMap<String, Vec<usize>> =
            by_heap.iter().map(|(text, states)| (text.clone(), (0..states.len()).collect())).collect();
        let cells = one.cells();
        for model in &models.models {
            let snapshot = match heap.resolve(model, &cells) {
                Ok(snapshot) => snapshot,
                Err(error) => {
                    differences.push(Difference::Invariant(trace.clone(), error.to_string()));
                    continue;
                }
            };
            let canon = snapshot.canon(&setup.universe);
            let (Some(candidates), Some(unused)) = (by_heap.get(&canon.text), left.get_mut(&canon.text))
            else {
                differences.push(Difference::Spurious(trace.clone(), canon.text));
                continue;
            };
            let all: Vec<usize> = (0..candidates.len()).collect();
            let states = |of: &[usize]| -> Vec<_> { of.iter().map(|&at| candidates[at].1).collect() };
            let mut matched = None;
            if counted {
                // Several states share a heap when an index meant different elements; conditions tell them apart.
                for &at in unused.iter() {
                    if equivalent(&setup.logic, &states(&[at]), one, model)? {
                        matched = Some(vec![at]);
                        break;
                    }
                }
            } else if equivalent(&setup.logic, &states(&all), one, model)? {
                matched = Some(all);
            }
            let Some(matched) = matched else {
                differences.push(Difference::Condition(trace.clone(), canon.text));
                continue;
            };
            unused.retain(|other| !matched.contains(other));
            for at in matched {
                let (other, state) = &candidates[at];
                let mut assumptions = state.memory.path.formulas();
                assumptions.extend(heap.choices(model));
                let mut pairs = canon.scalars.iter().zip(&other.scalars);
                let differ = pairs.find_map(|(a, b)| {
                    always_equal(&setup.logic, &assumptions, *a, *b)
                        .map(|same| (!same).then_some(()))
                        .transpose()
                });
                if differ.transpose()?.is_some() {
                    differences.push(Difference::Value(trace.clone(), canon.text.clone()));
                }
            }
        }
        for (text, unused) in left {
            for _ in unused {
                differences.push(Difference::Lost(trace.clone(), text.clone()));
            }
        }
        Ok(())
    }
}

/// Whether, given the choices of a model, what holds in one of the lazy states is the condition of the summary.
fn equivalent(
    logic: &Logic<'_>,
    states: &[&Final<Lazy<'_>>],
    one: &Final<Summary<'_>>,
    model: &Model,
) -> Result<bool, Stop> {
    // Without vectors and truth values there is nothing to ask: choices are all there is, and a model has made them.
    let choices = one.heap().choices(model);
    let all = one.heap().path.formulas();
    let symbols = logic.store.symbols_in(all.iter().map(|formula| formula.id()));
    let atoms: BTreeSet<_> =
        logic.store.symbols_in(choices.iter().map(|formula| formula.id())).into_iter().collect();
    if states.iter().any(|state| state.memory.path.conjuncts().is_empty())
        && symbols.iter().all(|symbol| atoms.contains(symbol))
    {
        return Ok(true);
    }
    let lazy = logic.any(states.iter().map(|state| logic.all(state.memory.path.formulas())));
    let summary = logic.all(one.heap().path.formulas());
    let mut formulas = choices;
    formulas.push(logic.store.not(logic.store.iff(lazy, summary)));
    Ok(unsatisfiable(logic, &formulas)?)
}

fn always_equal(logic: &Logic<'_>, assumptions: &[Formula], a: Scalar, b: Scalar) -> Result<bool, Stop> {
    if a == b {
        return Ok(true);
    }
    let differ = match (a, b) {
        (Scalar::Term(a), Scalar::Term(b)) => logic.store.ne(a, b),
        (Scalar::Formula(a), Scalar::Formula(b)) => logic.store.not(logic.store.iff(a, b)),
        _ => return Ok(false),
    };
    let mut formulas = assumptions.to_vec();
    formulas.push(differ);
    Ok(unsatisfiable(logic, &formulas)?)
}

fn unsatisfiable(logic: &Logic<'_>, formulas: &[Formula]) -> Result<bool, parallax_heap::HeapError> {
    Ok(logic.solve(formulas)?.is_none())
}
