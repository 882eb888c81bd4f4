//! What the paths of a method become as tests: for each an input, tried on the concrete machine before it is written.

use crate::calls::{Effort, SearchError, sequences};
use crate::junit::Case;
use crate::machine::{Cut, Task, Uncaught};
use crate::program::Method;
use parallax_engines::engine::{Ending, Ends, TraceOf};
use parallax_engines::{Replay, Setup, Stop, Summary};
use parallax_heap::{HeapError, InputHeap, InputValue, Models};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Which tests to make.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Tests of each path: one for each heap that takes it, at most so many.
    pub heaps: usize,
    /// Whether to look for public calls that lead to a path, and how long.
    pub calls: Option<Effort>,
}

/// Tests of a method.
pub struct Cases {
    /// Every one of them took its path on the concrete machine.
    pub cases: Vec<Case>,
    /// Those for which no sequence of public calls was found: their objects are built field by field.
    pub field_by_field: Vec<String>,
    /// How many paths have no test, or not one for every heap, because the time was over.
    pub missed: usize,
}

/// The tests of every path that ended.
pub fn cases(
    task: &Task,
    setup: &Setup<'_>,
    ends: &Ends<Task, Summary<'_>>,
    wanted: Wanted,
    watch: &mut dyn FnMut() -> Result<(), Stop>,
) -> Result<Cases, SearchError> {
    let mut found = Cases { cases: Vec::new(), field_by_field: Vec::new(), missed: 0 };
    let paths = ends.traces.iter().filter(|(trace, _)| trace.ending != Ending::Discarded);
    let mut traces = BTreeSet::new();
    let mut late = false;
    for (path, (trace, bucket)) in paths.enumerate() {
        // What a path that was cut off would have done is not known.
        if matches!(trace.ending, Ending::Cut(_)) {
            continue;
        }
        let Some(end) = bucket.finals.first() else { continue };
        late = late || is_late(watch())?;
        if late {
            found.missed += 1;
            continue;
        }
        let models = match end.heap().models(wanted.heaps) {
            Err(HeapError::Late) => Models { models: Vec::new(), complete: false },
            models => models.map_err(Stop::from)?,
        };
        found.missed += usize::from(!models.complete && models.models.len() < wanted.heaps);
        for (shape, model) in models.models.iter().enumerate() {
            let snapshot = end.heap().resolve(model, &end.cells()).map_err(Stop::from)?;
            let universe = task.program.universe();
            let store = setup.oracle.store;
            let input =
                snapshot.input(&universe, store, model, |_, _| InputValue::Null).map_err(Stop::from)?;
            let replay = Replay::new(task, &universe, &input, setup.inputs.array)?;
            let strayed =
                |what: &str| Stop::Broken(format!("test {} of path {} {what}", shape + 1, path + 1));
            if !replay.follows(trace) {
                return Err(strayed("does not take the path").into());
            }
            if !replay.ends_in(&snapshot, store, model) {
                return Err(strayed("does not end in the heap that was computed").into());
            }
            let method = called(task, setup, &input, &trace.ending)?;
            let title = match &trace.ending {
                Ending::Error(uncaught) => {
                    let own = (method.class, method.index) == (task.method.class, task.method.index);
                    let who = if own { "" } else { "the precondition " };
                    format!("path {}: {who}throws {}", path + 1, uncaught.class)
                }
                _ => format!("path {}: returns", path + 1),
            };
            let name = match wanted.heaps {
                1 => format!("path{:03}", path + 1),
                _ => format!("path{:03}_{:04}", path + 1, shape + 1),
            };
            found.cases.push(Case { name, title, method, calls: Vec::new(), input, replay });
        }
        traces.insert(trace.clone());
    }
    if let Some(effort) = wanted.calls {
        through_calls(task, setup, &traces, effort, &mut found, watch)?;
    }
    Ok(found)
}

/// What a test calls: the method, unless its precondition throws before the method is called.
fn called(
    task: &Task,
    setup: &Setup<'_>,
    input: &InputHeap,
    ending: &Ending<Uncaught, Cut>,
) -> Result<Rc<Method>, Stop> {
    if let (Some(rep_ok), Ending::Error(_)) = (&task.rep_ok, ending) {
        let alone = Task { method: rep_ok.clone(), rep_ok: None, merged: false, ..task.clone() };
        let replay = Replay::new(&alone, &task.program.universe(), input, setup.inputs.array)?;
        if matches!(replay.trace.ending, Ending::Error(_)) {
            return Ok(rep_ok.clone());
        }
    }
    Ok(task.method.clone())
}

/// Whether the time, or another bound on the run, is over.
fn is_late(watched: Result<(), Stop>) -> Result<bool, Stop> {
    match watched {
        Ok(()) => Ok(false),
        Err(Stop::Bound(_)) => Ok(true),
        Err(broken) => Err(broken),
    }
}

/// Puts a shortest sequence of calls in place of an input that is built field by field.
fn through_calls(
    task: &Task,
    setup: &Setup<'_>,
    traces: &BTreeSet<TraceOf<Task>>,
    effort: Effort,
    found: &mut Cases,
    watch: &mut dyn FnMut() -> Result<(), Stop>,
) -> Result<(), SearchError> {
    let inputs: Vec<InputHeap> = found.cases.iter().map(|case| case.input.clone()).collect();
    let mut sequences = sequences(task, setup.parameters, traces, &inputs, effort, watch)?;
    for case in &mut found.cases {
        match sequences.remove(&case.replay.trace) {
            Some(sequence) => {
                case.calls = sequence.calls;
                case.input = sequence.input;
                case.replay = sequence.replay;
            }
            None => found.field_by_field.push(case.name.clone()),
        }
    }
    Ok(())
}
