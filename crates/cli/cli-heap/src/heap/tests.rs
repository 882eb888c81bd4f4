//! Concrete tests: one input heap for each path, as a program and as JSON, re-run before it is written.

use super::{Heap, Subject, inputs};
use anyhow::{Context, Result};
use parallax_cli_base::exit::{Failure, Status};
use parallax_engines::Summary;
use parallax_engines::engine::Ends;
use parallax_heap::{HeapError, InputHeap, InputObject, InputValue};
use parallax_javalite::*;
use serde_json::json;
use std::path::Path;

/// What was written.
pub struct Written {
    /// How many tests.
    pub count: usize,
    /// How many paths have no test, or not one for every heap, because the time was over.
    pub missed: usize,
    /// The folder that tests are written to.
    pub folder: String,
}

/// Writes a test for each path, or for each represented heap.
pub fn write(
    arguments: &Heap,
    subject: &Subject<'_>,
    ends: &Ends<Task, Summary<'_>>,
    folder: &Path,
) -> Result<Written> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let setup = &subject.setup;
    let program = &subject.task.program;
    let (mut count, mut missed) = (0, 0);
    let limit = if arguments.all_shapes { arguments.count.max(1) } else { 1 };
    let paths = ends.traces.iter().filter(|(trace, _)| trace.ending != Ending::Discarded);
    for (path, (trace, bucket)) in paths.enumerate() {
        if arguments.limits.late(subject.start) {
            missed += 1;
            continue;
        }
        let end = &bucket.finals[0];
        let models = match end.heap().models(limit) {
            Err(HeapError::Late) => {
                missed += 1;
                continue;
            }
            models => models?,
        };
        if arguments.all_shapes && !models.complete && models.models.len() < limit {
            missed += 1;
        } else if arguments.all_shapes && !models.complete {
            eprintln!("note: path {} has more than {limit} heaps; raise --count for all of them", path + 1);
        }
        for (shape, model) in models.models.iter().enumerate() {
            let snapshot = end.heap().resolve(model, &end.cells())?;
            let input =
                snapshot.input(&setup.universe, setup.oracle.store, model, |_, _| InputValue::Null)?;
            let replay = Replay::new(&subject.task, &setup.universe, &input, setup.inputs.array)?;
            let strayed = |what: &str| Failure {
                status: Status::Unsupported,
                message: format!("internal: test {} of path {} {what}", shape + 1, path + 1),
            };
            if !replay.follows(trace) {
                return Err(strayed("does not take the path").into());
            }
            if !matches!(trace.ending, Ending::Cut(_))
                && !replay.ends_in(&snapshot, setup.oracle.store, model)
            {
                return Err(strayed("does not end in the heap that was computed").into());
            }
            let text = construct::program(&subject.file, &subject.task, &input, &replay);
            if let Some(what) = disagreement(subject, &text, trace.ending) {
                return Err(strayed(&what).into());
            }
            let name = match arguments.all_shapes {
                true => format!("path{:03}-{:04}", path + 1, shape + 1),
                false => format!("path{:03}", path + 1),
            };
            let outcomes: Vec<String> =
                trace.events.iter().map(|event| describe::event(program, &subject.file, event)).collect();
            let document = json!({
                "method": program.method_name(subject.task.method),
                "outcomes": outcomes,
                "end": describe::ending(trace),
                "result": replay.value().map(describe::concrete),
                "heap": inputs::json(&setup.universe, &input),
            });
            save(&folder.join(format!("{name}.jl")), &text)?;
            save(&folder.join(format!("{name}.json")), &format!("{document:#}\n"))?;
            count += 1;
        }
    }
    Ok(Written { count, missed, folder: folder.display().to_string() })
}

/// Runs the written program as anyone would who reads it; says how it ends otherwise than it should.
fn disagreement(subject: &Subject<'_>, text: &str, ending: Ending) -> Option<String> {
    let program = match parse(text) {
        Ok(program) => std::rc::Rc::new(program),
        Err(diagnostics) => return Some(format!("does not parse: {}", diagnostics[0].message)),
    };
    let (class, method) = program.main?;
    let task = Task { program: program.clone(), class, method, rep_ok: None, ..subject.task.clone() };
    // One call more than the path itself: the test calls the method.
    let task = Task { bounds: Bounds { calls: task.bounds.calls + 2, ..task.bounds }, ..task };
    let nothing =
        InputObject { class: parallax_heap::ClassId(class.0), path: "this".into(), fields: Vec::new() };
    let parameters = InputObject {
        class: parallax_heap::ClassId(program.classes.len() as u32),
        path: String::new(),
        fields: Vec::new(),
    };
    let input = InputHeap { objects: vec![nothing, parameters] };
    let store = parallax_term::Store::new();
    let universe = parallax_javalite::setup(&store, &program, class, method, subject.setup.inputs).universe;
    match Replay::new(&task, &universe, &input, subject.setup.inputs.array) {
        Err(stop) => Some(stop.to_string()),
        Ok(replay) if replay.trace.ending == ending || matches!(ending, Ending::Cut(_)) => None,
        Ok(replay) => Some(format!("ends otherwise as a program: {}", describe::ending(&replay.trace))),
    }
}

fn save(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// An object of the starting class whose fields are null, 0 and false, and no parameters.
pub fn blank(subject: &Subject<'_>) -> InputHeap {
    let fields = subject.task.program.class(subject.task.class).fields.iter();
    let fields = fields
        .map(|field| match field.ty {
            Type::Bool => InputValue::Bool(false),
            Type::Int => InputValue::Bits(0),
            _ => InputValue::Null,
        })
        .collect();
    let class = parallax_heap::ClassId(subject.task.class.0);
    let this = InputObject { class, path: "this".into(), fields };
    let parameters = InputObject { class: subject.setup.parameters, path: String::new(), fields: Vec::new() };
    InputHeap { objects: vec![this, parameters] }
}
