//! Running a program for real: `main` on the concrete machine.

use crate::machine::{Bounds, Cut, Task, Uncaught};
use crate::program::{LinkError, Program};
use crate::setup::Instances;
use crate::state::State;
use parallax_engines::engine::Watch;
use parallax_engines::{Concrete, End, Stop, explore};
use parallax_heap::{InputHeap, InputObject, InputValue};
use std::rc::Rc;

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// `main` returned.
    Returned,
    /// An exception left `main`.
    Threw(Uncaught),
    /// A bound was hit, or something is not modelled; and where.
    Cut(Cut, String),
}

/// What a program did.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What it printed.
    pub output: String,
    /// How it ended.
    pub ending: Ending,
    /// Instructions it ran.
    pub steps: u64,
}

/// Runs `main` of a class, of this internal name, without arguments.
pub fn run(
    program: &Rc<Program>,
    class: &str,
    assertions: bool,
    bounds: Bounds,
    watch: Watch,
) -> Result<Ran, RunError> {
    let class = program.load(class)?;
    let (name, descriptor) = ("main".into(), "([Ljava/lang/String;)V".into());
    let Some(method) = program.method(class, &name, &descriptor).filter(|method| method.is_static()) else {
        return Err(RunError::NoMain(crate::types::dotted(&program.class(class).name)));
    };
    let inputs = program.inputs(&method, &Instances::new(), Some(0))?;
    let strings = program.load("[Ljava/lang/String;")?;
    let object = |class, fields| InputObject { class, path: String::new(), fields };
    let objects = vec![
        object(inputs.this, Vec::new()),
        object(inputs.parameters, vec![InputValue::Object(2)]),
        object(strings, Vec::new()),
    ];
    let task = Task {
        program: program.clone(),
        method,
        rep_ok: None,
        merged: false,
        bounds,
        assertions,
        symbolic: false,
        traced: false,
        non_null: false,
    };
    let memory = Concrete::new(program.universe(), &InputHeap { objects }, 0);
    let mut found = None;
    let explored = explore(&task, memory, watch, &mut |state: State<Concrete>, end| {
        let mut output: Vec<&str> = state.output.newest_first().map(|text| &**text).collect();
        output.reverse();
        let ending = match end {
            End::Value(_) | End::Discarded => Ending::Returned,
            End::Error(uncaught, _) => Ending::Threw(uncaught),
            End::Cut(cut, place) => Ending::Cut(cut, program.place(place)),
        };
        found = Some(Ran { output: output.concat(), ending, steps: state.steps });
        Ok(())
    });
    explored.outcome?;
    found.ok_or_else(|| RunError::Stop(Stop::Broken("a run without an end".into())))
}

/// Why a program cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A class is missing or broken.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The class has no `main`.
    #[error("class {0} has no method `public static void main(String[])`")]
    NoMain(String),
    /// The run was stopped.
    #[error(transparent)]
    Stop(#[from] Stop),
}
