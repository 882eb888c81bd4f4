//! What the test files share: generated programs and the set-ups to run them in.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod generate;
pub mod heaps;
pub mod represents;

use parallax_engines::engine::{self, Ends};
use parallax_engines::*;
use parallax_javalite::*;
use parallax_term::Store;
use std::rc::Rc;

/// Checks a program and prepares to run its entry.
pub fn prepare<'s>(store: &'s Store, text: &str, inputs: Inputs) -> (Setup<'s>, Task) {
    let program = match parse(text) {
        Ok(program) => Rc::new(program),
        Err(diagnostics) => panic!("{text}\n{diagnostics:?}"),
    };
    let (class, method) = program.main.expect("an entry");
    let task = Task::new(&program, class, method, Bounds { rounds: 2, calls: 4 });
    (setup(store, &program, class, method, inputs), task)
}

/// Stops a run that grows beyond `states`.
pub fn at_most(states: usize) -> impl FnMut(&Progress) -> Result<(), Stop> {
    let start = std::time::Instant::now();
    move |progress| {
        if progress.states > states || start.elapsed().as_secs() >= 2 {
            Err(Stop::Bound(parallax_path::Bound::States(states)))
        } else {
            Ok(())
        }
    }
}

/// The lazy and the summary run of a program, unless lazy has more than `states` states.
pub fn both<'s>(
    setup: &Setup<'s>,
    task: &Task,
    states: usize,
) -> Option<(Ends<Task, Lazy<'s>>, Ends<Task, Summary<'s>>)> {
    let lazy = engine::lazy(setup, task, Laziness::Lazy, usize::MAX, &mut at_most(states));
    match &lazy.outcome {
        Err(Stop::Bound(_)) => return None,
        outcome => outcome.clone().unwrap(),
    }
    let summary = engine::summary(setup, task, None, &mut |_| Ok(()));
    summary.outcome.clone().unwrap();
    Some((lazy, summary))
}

/// How many generated programs to run where the suite runs `count`: `HEAP_FUZZ=20` makes it twenty times as many.
pub fn scaled(count: u64) -> u64 {
    count * std::env::var("HEAP_FUZZ").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1)
}
