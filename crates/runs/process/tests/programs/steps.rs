//! Both engines make the same steps: programs whose every run is the same, counted by each.
//!
//! Not here: programs that ask for the time or their number. Recordings of all programs are replayed exactly, which compares more
//! than the end (`crates/runs/record/tests/corpus`).

use crate::compiled::compile;
use crate::{Outcome, Test, timed};
use std::path::Path;

const SOURCES: [&str; 10] = [
    "arithmetic",
    "jit_x86",
    "own_code_x86",
    "rounding",
    "rounding_x86",
    "self_modifying_x86",
    "signals_x86",
    "text",
    "threads_x86",
    "two_pages_x86",
];

pub fn tests() -> Vec<Test> {
    let test = |stem: &'static str| -> Test { (format!("steps: {stem}"), Box::new(move || check(stem))) };
    SOURCES.into_iter().map(test).collect()
}

fn check(stem: &str) -> Result<(), String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/sources/{stem}.c"));
    let binary = compile("gcc", &["-O2", "-static", "-g"], &source, stem)?;
    let name = binary.to_str().expect("a name of ours");
    let run = |natively: bool| timed(natively, &[name], b"3 1 4 1 5 9 2 6 5 3 5\n");
    let (exact, native) = (run(false), run(true));
    let _ = std::fs::remove_file(&binary);
    let steps = |outcome: &Outcome| {
        let text = String::from_utf8_lossy(&outcome.errors).into_owned();
        text.lines().last().and_then(|line| line.strip_suffix(" instructions")?.parse::<u64>().ok())
    };
    let (there, here) = (steps(&exact), steps(&native));
    if there.is_none() || exact.status != native.status || exact.output != native.output || there != here {
        return Err(format!(
            "exactly: status {}, {there:?} steps; natively: status {}, {here:?} steps",
            exact.status, native.status
        ));
    }
    Ok(())
}
