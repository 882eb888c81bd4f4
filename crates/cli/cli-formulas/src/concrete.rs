//! A program of the small languages, or machine code, on concrete values.

use crate::subject::{Subject, Which, with_subject};
use anyhow::Result;
use parallax_cli_base::exit::Status;
use parallax_primitives::{Stopped, placed};
use parallax_sem::Concrete;
use parallax_term::Store;
use std::path::PathBuf;

/// Runs it from the state that `set` describes, and prints the state at its end.
pub fn run(which: &Which, file: Option<PathBuf>, set: &[String], steps: u64, json: bool) -> Result<Status> {
    with_subject!(which, file, source, program => execute(&program, set, steps, json))
}

fn execute<S: Subject>(program: &S, set: &[String], steps: u64, json: bool) -> Result<Status> {
    let store = Store::new();
    program.declare(&store);
    let mut start = placed(program, &store);
    program.prepare(&store, &mut start);
    for assignment in set {
        program.interpret(&store, &mut start, assignment)?;
    }
    let run = parallax_primitives::run(program, &Concrete, &store, &start, steps, false);
    let (status, why) = match &run.stopped {
        Stopped::Ended => (Status::Clean, "ended".to_owned()),
        Stopped::Bound => (Status::GaveUp, "bound".to_owned()),
        Stopped::Stuck(stuck) => (Status::Unsupported, stuck.to_string()),
        Stopped::Undecided => unreachable!("a concrete program counter is a number"),
    };
    let shown = run.structure.as_ref().map(|s| program.shown(&store, s)).unwrap_or_default();
    if json {
        let values: serde_json::Map<_, _> =
            shown.into_iter().map(|(name, value)| (name, value.into())).collect();
        println!("{:#}", serde_json::json!({ "status": why, "steps": run.steps, "values": values }));
    } else {
        for (name, value) in shown {
            println!("{name} = {value}");
        }
    }
    match run.stopped {
        Stopped::Ended | Stopped::Undecided => {}
        Stopped::Bound => eprintln!("gave up: the program did not end within {steps} steps"),
        Stopped::Stuck(stuck) => {
            let line = program.line(&run.pc).map_or(String::new(), |line| format!(" at line {line}"));
            eprintln!("error: stuck{line}: {stuck}");
        }
    }
    Ok(status)
}
