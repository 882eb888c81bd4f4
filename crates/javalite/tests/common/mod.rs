//! What the test files share: generated programs and the set-ups to run them in.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod generate;
pub mod heaps;

use parallax_javalite::engine::{self, Ends};
use parallax_javalite::*;
use std::rc::Rc;

/// Checks a program and prepares to run its entry.
pub fn prepare(text: &str, inputs: Inputs) -> (Setup, Task) {
    let program = match parse(text) {
        Ok(program) => Rc::new(program),
        Err(diagnostics) => panic!("{text}\n{diagnostics:?}"),
    };
    let (class, method) = program.main.expect("an entry");
    let bounds = Bounds { rounds: 2, calls: 4 };
    let task =
        Task { program: program.clone(), class, method, rep_ok: None, bounds, drafts: MachineDrafts::default() };
    (Setup::new(program, class, method, inputs), task)
}

/// Stops a run that grows beyond `states`.
pub fn at_most(states: usize) -> impl FnMut(&Progress) -> Result<(), Stop> {
    move |progress| {
        if progress.states > states { Err(Stop::Limit("too many states".into())) } else { Ok(()) }
    }
}

/// The lazy and the summary run of a program, unless lazy has more than `states` states.
pub fn both(setup: &Setup, task: &Task, states: usize) -> Option<(Ends<Lazy>, Ends<Summary>)> {
    let lazy = engine::lazy(setup, task, Laziness::Lazy, &mut at_most(states));
    match &lazy.outcome {
        Err(Stop::Limit(_)) => return None,
        outcome => outcome.clone().unwrap(),
    }
    let summary = engine::summary(setup, task, None, &mut |_| Ok(()));
    summary.outcome.clone().unwrap();
    Some((lazy, summary))
}
