//! Two methods on one input: do they give the same result and leave the same heap?
//!
//! The second method starts where the first did: on the heap as it was on entry, as far as the first has looked at
//! it, with the same candidates and selectors. Inputs that an assumption of either rejects are not compared. Where either
//! is cut off, nothing is known of its end: that is a bound, and no difference.

use crate::concrete::Concrete;
use crate::difference::Pair;
use crate::engine::{Ending, Final, Watch};
use crate::explore::explore;
use crate::machine::Machine;
use crate::memory::{Stop, Value};
use crate::replay::Replay;
use crate::setup::Setup;
use crate::summary::Summary;
use parallax_heap::{InputHeap, LeftOut};
use parallax_path::{Bound, Completeness, Frontier, Strategy};
use std::collections::HashMap;

/// What a comparison of two methods found.
pub struct Equivalence<L: Machine> {
    /// Pairs of paths that one input takes.
    pub pairs: usize,
    /// An input on which they differ, with the run of each.
    pub counterexample: Option<(InputHeap, Replay<L>, Replay<L>)>,
    /// What was not compared.
    pub completeness: Completeness,
    /// Whether both runs came to their end, or why not.
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
    let ends = crate::engine::summary(setup, first, None, watch);
    let mut found = Equivalence {
        pairs: 0,
        counterexample: None,
        completeness: ends.completeness.clone(),
        outcome: ends.outcome.clone(),
    };
    let left_out = LeftOut::default();
    for (trace, bucket) in &ends.traces {
        if matches!(trace.ending, Ending::Discarded | Ending::Cut(_)) {
            continue;
        }
        for end in &bucket.finals {
            let memory = end.memory.clone().rewound();
            let mut finals: Vec<Final<L, Summary<'_>>> = Vec::new();
            // The precondition runs again: it may have written, and failed where the first method never began.
            let explored = explore(second, memory, watch, &mut |state, end| {
                if !matches!(Ending::from(&end), Ending::Discarded | Ending::Cut(_)) {
                    finals.push(Final::new(second, state, end));
                }
                Ok(())
            });
            found.outcome = found.outcome.and(explored.outcome);
            found.completeness = found.completeness.and(explored.completeness);
            for other in finals {
                found.pairs += 1;
                if found.counterexample.is_some() {
                    continue;
                }
                let pair = Pair::new(setup, first, end, &other, left_out.clone());
                match pair.difference(limit, watch) {
                    Err(Stop::Bound(bound)) => {
                        left_out.note(bound.clone());
                        found.outcome = Err(Stop::Bound(bound));
                    }
                    Err(broken) => return Err(broken),
                    Ok(None) => {}
                    Ok(Some(input)) => {
                        let universe = other.heap().universe.clone();
                        let run = |task: &L| Replay::new(task, &universe, &input, setup.inputs.array);
                        let (one, two) = (run(first)?, run(second)?);
                        if same_end(&one, &two) {
                            return Err(Stop::Broken("a counterexample that is none".into()));
                        }
                        found.counterexample = Some((input, one, two));
                    }
                }
            }
        }
    }
    let compared = left_out.close(&Frontier::<()>::new(Strategy::Depth, 0));
    found.completeness = found.completeness.and(compared);
    Ok(found)
}

/// More heaps of one pair of paths than were compared.
pub(crate) fn heaps_of_a_pair(limit: usize) -> Bound {
    Bound::Values(limit as u64, "heaps that take one pair of paths".into())
}

/// Whether two runs on one input end alike: the same kind of end, the same result, the same heap as seen from `this`,
/// the parameters and the result, as far as it is known.
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
        let class = a.objects[x].class;
        for (field, (x, y)) in a.objects[x].fields.iter().zip(&b.objects[y].fields).enumerate() {
            let null = matches!((x, y), (Value::Ref(None), _) | (_, Value::Ref(None)));
            if !null || one.unknown_content(class, field).is_none() {
                todo.push((x.clone(), y.clone()));
            }
        }
    }
    true
}

fn same_object(a: &Concrete, x: usize, b: &Concrete, y: usize) -> bool {
    a.objects[x].class == b.objects[y].class && a.objects[x].fields.len() == b.objects[y].fields.len()
}
