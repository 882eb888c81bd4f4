//! Runs a concrete input on the concrete machine and holds what happens against what an engine said.

use crate::concrete::{Concrete, ConcreteValue};
use crate::engine::{Ending, Final, TraceOf, Watch, trace_of};
use crate::explore::explore;
use crate::machine::{End, Machine};
use crate::memory::{Stop, Value};
use parallax_heap::{ClassId, Held, InputHeap, Snapshot, Universe};
use parallax_path::Model;
use parallax_term::{Scalar, Store};
use std::collections::HashMap;
use std::rc::Rc;

/// The one path of a concrete run.
pub struct Replay<L: Machine> {
    task: L,
    /// Its trace.
    pub trace: TraceOf<L>,
    /// Its end.
    pub end: Final<L, Concrete>,
}

impl<L: Machine> Replay<L> {
    /// Runs the task on an input, whose arrays and those the program makes have at most `array` elements.
    pub fn new(task: &L, universe: &Rc<Universe>, input: &InputHeap, array: usize) -> Result<Self, Stop> {
        Replay::watched(task, universe, input, array, &mut |_| Ok(()))
    }

    /// The same with somebody who may stop the run.
    pub fn watched(
        task: &L,
        universe: &Rc<Universe>,
        input: &InputHeap,
        array: usize,
        watch: Watch,
    ) -> Result<Self, Stop> {
        let memory = Concrete::new(universe.clone(), input, array);
        let mut found = None;
        let explored = explore(task, memory, watch, &mut |state, end| {
            let trace = trace_of::<L, Concrete>(&state, &end);
            found = Some(Replay::of(task, trace, Final::new(task, state, end)));
            Ok(())
        });
        explored.outcome?;
        found.ok_or_else(|| Stop::Broken("a concrete run without an end".into()))
    }

    /// Whether the run went the way `trace` says: the same, or further along if a bound cut the trace off.
    pub fn follows(&self, trace: &TraceOf<L>) -> bool {
        match trace.ending {
            Ending::Cut(_) => self.trace.events.starts_with(&trace.events),
            _ => self.trace == *trace,
        }
    }

    /// The value, if the run ended with one.
    pub fn value(&self) -> Option<&ConcreteValue> {
        match &self.end.end {
            End::Value(value) => Some(value),
            _ => None,
        }
    }

    /// A run of the task that went this way.
    pub fn of(task: &L, trace: TraceOf<L>, end: Final<L, Concrete>) -> Self {
        Replay { task: task.clone(), trace, end }
    }

    /// What null in this field stands for where it is nobody's null.
    pub(crate) fn unknown_content(&self, class: ClassId, field: usize) -> Option<&'static str> {
        self.task.unknown_content(class, field)
    }

    /// Whether the heap at the end is the one a snapshot describes under a model; what the snapshot does not know
    /// (fields nobody looked at) may be anything.
    pub fn ends_in(&self, snapshot: &Snapshot, store: &Store, model: &Model) -> bool {
        let concrete = &self.end.memory;
        let mut image: HashMap<usize, usize> = HashMap::new();
        let mut preimage: HashMap<usize, usize> = HashMap::new();
        let this = ("this".to_owned(), Value::Ref(Some(0)));
        let parameters = ("parameters".to_owned(), Value::Ref(Some(1)));
        let roots = [this, parameters].into_iter().chain(self.end.roots.iter().cloned());
        let mut todo: Vec<(Held, ConcreteValue)> = Vec::new();
        for ((name, held), (other, value)) in snapshot.roots.iter().zip(roots) {
            if *name != other {
                return false;
            }
            todo.push((*held, value));
        }
        while let Some((held, value)) = todo.pop() {
            let (at, object) = match (held, value) {
                (Held::Un, _) | (Held::Nil, Value::Ref(None)) => continue,
                (Held::Scalar(Scalar::Term(term)), Value::Int(int)) => {
                    if model.term(store, term) != int {
                        return false;
                    }
                    continue;
                }
                (Held::Scalar(Scalar::Formula(formula)), Value::Bool(b)) => {
                    if model.holds(store, formula) != b {
                        return false;
                    }
                    continue;
                }
                (Held::Object(at), Value::Ref(Some(object))) => (at, object),
                _ => return false,
            };
            match (image.insert(at, object), preimage.insert(object, at)) {
                (None, None) => {}
                (Some(before), Some(_)) if before == object => continue,
                _ => return false,
            }
            let (known, real) = (&snapshot.objects[at], &concrete.objects[object]);
            if known.class != real.class {
                return false;
            }
            if let Some(length) = known.length
                && model.term(store, length).to_u64() != Some(real.fields.len() as u64)
            {
                return false;
            }
            for (field, (held, value)) in known.fld.iter().zip(&real.fields).enumerate() {
                // A run of one input may know what its path does not.
                if *held != Held::Nil || self.unknown_content(known.class, field).is_none() {
                    todo.push((*held, value.clone()));
                }
            }
        }
        true
    }
}
