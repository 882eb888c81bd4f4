//! Two methods on one input: do they give the same result and leave the same heap?
//!
//! The second method starts where the first did: on the heap as it was on entry, as far as the first has looked at
//! it, with the same candidates and selectors. A field that neither looked at is the same for both.

use crate::concrete::Concrete;
use crate::engine::{Ending, Final, Watch};
use crate::explore::explore;
use crate::machine::Machine;
use crate::memory::{Stop, Value};
use crate::replay::Replay;
use crate::setup::Setup;
use crate::summary::Summary;
use parallax_heap::{Held, InputHeap, InputValue, Snapshot};
use parallax_path::Model;
use parallax_term::Scalar;
use std::collections::HashMap;

/// What a comparison of two methods found.
pub struct Equivalence<L: Machine> {
    /// Pairs of paths that one input takes.
    pub pairs: usize,
    /// An input on which they differ, with the run of each.
    pub counterexample: Option<(InputHeap, Replay<L>, Replay<L>)>,
    /// Pairs whose inputs were not all compared, because there are too many.
    pub incomplete: usize,
    /// Whether a bound left out inputs.
    pub truncated: bool,
    /// Whether everything was visited.
    pub outcome: Result<(), Stop>,
}

/// Runs `first`, then `second` on the same input, and compares on every input shape, `limit` for each pair of paths.
pub fn equivalent<L: Machine>(
    setup: &Setup<'_>,
    first: &L,
    second: &L,
    limit: usize,
    watch: Watch,
) -> Result<Equivalence<L>, Stop> {
    let mut found =
        Equivalence { pairs: 0, counterexample: None, incomplete: 0, truncated: false, outcome: Ok(()) };
    let ends = crate::engine::summary(setup, first, None, watch);
    found.outcome = ends.outcome.clone();
    for (trace, bucket) in &ends.traces {
        if trace.ending == Ending::Discarded {
            continue;
        }
        for end in &bucket.finals {
            let memory = end.memory.clone().rewound();
            // The precondition held on the first run and holds of the same input.
            let task = second.unconditioned();
            let mut finals: Vec<Final<L, Summary<'_>>> = Vec::new();
            let (_, outcome) = explore(&task, memory, watch, &mut |state, end| {
                finals.push(Final::new(&task, state, end));
                Ok(())
            });
            found.outcome = found.outcome.and(outcome);
            for other in finals {
                found.pairs += 1;
                found.truncated |= other.heap().truncated;
                if found.counterexample.is_none() {
                    let pair = Pair { setup, first, second: &task, one: end, two: &other };
                    match pair.search(limit, &mut found) {
                        Err(limit @ Stop::Bound(_)) => found.outcome = Err(limit),
                        searched => searched?,
                    }
                }
            }
        }
    }
    Ok(found)
}

/// A path of the first method and a path of the second that some input takes.
struct Pair<'a, 's, L: Machine> {
    setup: &'a Setup<'s>,
    first: &'a L,
    second: &'a L,
    one: &'a Final<L, Summary<'s>>,
    two: &'a Final<L, Summary<'s>>,
}

impl<L: Machine> Pair<'_, '_, L> {
    /// Looks for an input on which the two runs end differently.
    fn search(&self, limit: usize, found: &mut Equivalence<L>) -> Result<(), Stop> {
        let models = self.two.heap().models(limit)?;
        found.incomplete += usize::from(!models.complete);
        for model in &models.models {
            if let Some(input) = self.difference(model)? {
                let universe = &self.two.heap().universe;
                let run =
                    |task: &L| Replay::new(&task.unconditioned(), universe, &input, self.setup.inputs.array);
                let (one, two) = (run(self.first)?, run(self.second)?);
                if same_end(&one, &two) {
                    return Err(Stop::Broken("a counterexample that is none".into()));
                }
                found.counterexample = Some((input, one, two));
                return Ok(());
            }
        }
        Ok(())
    }

    /// For the input shape of a model: an input on which results or heaps differ.
    fn difference(&self, model: &Model) -> Result<Option<InputHeap>, Stop> {
        let (one, two) = (self.one.heap(), self.two.heap());
        let roots = |end: &Final<L, Summary<'_>>| {
            let mut cells = end.cells();
            cells.retain(|(name, _)| ["this", "parameters", "result"].contains(&name.as_str()));
            // A variable may be called `this` too; the first two are the ones that matter.
            cells.dedup_by(|a, b| a.0 == b.0);
            cells
        };
        let (a, b) = (one.resolve(model, &roots(self.one))?, two.resolve(model, &roots(self.two))?);
        let ends = (Ending::from(&self.one.end), Ending::from(&self.two.end));
        let store = self.setup.oracle.store;
        let as_input = |model: &Model| {
            let snapshot = two.resolve(model, &self.two.cells())?;
            snapshot.input(&two.universe, store, model, |_, _| InputValue::Null)
        };
        let Some(pairs) = correspond(&a, &b).filter(|_| ends.0 == ends.1) else {
            return Ok(Some(as_input(model)?));
        };
        let differ = pairs.into_iter().filter(|(x, y)| x != y).map(|pair| match pair {
            (Scalar::Term(x), Scalar::Term(y)) => store.ne(x, y),
            (Scalar::Formula(x), Scalar::Formula(y)) => store.not(store.iff(x, y)),
            _ => store.true_(),
        });
        let mut query = two.path.formulas();
        query.extend(two.choices(model));
        query.push(self.setup.oracle.store.any(differ));
        match self.setup.oracle.solve(&query)? {
            Some(model) => Ok(Some(as_input(&model)?)),
            None => Ok(None),
        }
    }
}

/// Whether the second heap is the first up to names; if so, the values that must be equal besides.
///
/// A field that the first run never looked at holds what the second run found there on entry.
fn correspond(a: &Snapshot, b: &Snapshot) -> Option<Vec<(Scalar, Scalar)>> {
    let by_path: HashMap<&str, usize> =
        b.objects.iter().enumerate().map(|(at, object)| (&*object.path, at)).collect();
    // Objects of the first heap are told apart from those of the second by the flag.
    let mut todo: Vec<((bool, Held), Held)> =
        a.roots.iter().zip(&b.roots).map(|((_, x), (_, y))| ((false, *x), *y)).collect();
    let mut image: HashMap<String, usize> = HashMap::new();
    let mut preimage: HashMap<usize, String> = HashMap::new();
    let mut pairs = Vec::new();
    while let Some(((entry, x), y)) = todo.pop() {
        let (x, y) = match (x, y) {
            (Held::Nil, Held::Nil) | (Held::Un, Held::Un) => continue,
            (Held::Scalar(x), Held::Scalar(y)) => {
                pairs.push((x, y));
                continue;
            }
            (Held::Object(x), Held::Object(y)) => (x, y),
            _ => return None,
        };
        let path = if entry { b.objects[x].path.to_string() } else { a.objects[x].path.to_string() };
        match (image.insert(path.clone(), y), preimage.insert(y, path.clone())) {
            (None, None) => {}
            (Some(before), Some(_)) if before == y => continue,
            _ => return None,
        }
        let mine = a.objects.iter().find(|object| *object.path == *path);
        let other = &b.objects[y];
        if mine.is_some_and(|mine| mine.class != other.class) {
            return None;
        }
        if let (Some(x), Some(y)) = (mine.and_then(|mine| mine.length), other.length) {
            pairs.push((Scalar::Term(x), Scalar::Term(y)));
        }
        for (field, y) in other.fld.iter().enumerate() {
            let x = match mine.map_or(Held::Un, |mine| mine.fld[field]) {
                Held::Un => {
                    let found = by_path.get(path.as_str()).and_then(|at| b.objects[*at].inp.get(field));
                    (true, found.copied().unwrap_or(Held::Un))
                }
                held => (false, held),
            };
            todo.push((x, *y));
        }
    }
    Some(pairs)
}

/// Whether two runs on one input end alike: the same kind of end, the same result, the same heap as seen from `this`,
/// the parameters and the result.
pub fn same_end<L: Machine>(one: &Replay<L>, two: &Replay<L>) -> bool {
    if one.trace.ending != two.trace.ending {
        return false;
    }
    let roots = |replay: &Replay<L>| {
        let mut roots = vec![Value::Ref(Some(0)), Value::Ref(Some(1))];
        roots.extend(replay.value().cloned());
        roots
    };
    let (a, b) = (&one.end.memory, &two.end.memory);
    let mut image: HashMap<usize, usize> = HashMap::new();
    let mut preimage: HashMap<usize, usize> = HashMap::new();
    let mut todo: Vec<_> = roots(one).into_iter().zip(roots(two)).collect();
    while let Some(pair) = todo.pop() {
        let (x, y) = match pair {
            (Value::Int(x), Value::Int(y)) if x == y => continue,
            (Value::Bool(x), Value::Bool(y)) if x == y => continue,
            (Value::Ref(None), Value::Ref(None)) => continue,
            (Value::Ref(Some(x)), Value::Ref(Some(y))) => (x, y),
            _ => return false,
        };
        match (image.insert(x, y), preimage.insert(y, x)) {
            (None, None) => {}
            (Some(before), Some(_)) if before == y => continue,
            _ => return false,
        }
        if !same_object(a, x, b, y) {
            return false;
        }
        todo.extend(a.objects[x].fields.iter().cloned().zip(b.objects[y].fields.iter().cloned()));
    }
    true
}

fn same_object(a: &Concrete, x: usize, b: &Concrete, y: usize) -> bool {
    a.objects[x].class == b.objects[y].class && a.objects[x].fields.len() == b.objects[y].fields.len()
}
