//! Fewer tests that cover as much: each is run, and kept where it goes a way that none before it went.

use crate::Program;
use crate::explore::{Entry, PathEnd, PathRecord, Settings};
use crate::run::{self, Closed, Start};
use parallax_cmachine::Files;
use rustc_hash::FxHashSet;

/// Instructions that a test may take.
const LIMIT: u64 = 50_000_000;

/// Which tests to keep, by their numbers: those that add coverage, and the first of each kind of mistake.
pub fn kept(program: &Program, settings: &Settings, records: &[PathRecord]) -> Vec<usize> {
    let mut ways: FxHashSet<(u32, u32, u32)> = FxHashSet::default();
    let mut mistakes = Vec::new();
    let mut kept = Vec::new();
    for (number, record) in records.iter().enumerate() {
        let before = ways.len();
        run_once(program, settings, record, &mut |way| {
            ways.insert(way);
        });
        let new_mistake = match &record.end {
            PathEnd::Mistake(problem) if !mistakes.contains(problem) => {
                mistakes.push(*problem);
                true
            }
            _ => false,
        };
        if ways.len() > before || new_mistake {
            kept.push(number);
        }
    }
    kept
}

/// Runs one test; `went` sees every way from block to block of the user's own code.
fn run_once(
    program: &Program,
    settings: &Settings,
    record: &PathRecord,
    went: &mut dyn FnMut((u32, u32, u32)),
) {
    let input = &record.input;
    let concrete = run::Settings {
        steps: Some(LIMIT),
        inputs: input.values.iter().map(|(_, bits)| bits.clone()).collect(),
        unknowns: Some(input.unknowns.clone()),
        random_inputs: settings.random_inputs,
        failing_allocation: settings.failing_allocation,
        failing_calls: settings.failing_calls,
        ..run::Settings::default()
    };
    let named = input.files.iter().map(|(name, bytes)| (name.clone().into_bytes(), bytes.clone()));
    let files = Files::new(input.stdin.clone(), named);
    let mut world = Closed { files, environment: input.variables(), ..Closed::default() };
    let start = match &settings.entry {
        Entry::Main { .. } => Start::Main(&input.arguments),
        Entry::Function(name) => Start::Function(name, &input.memory),
    };
    run::run_from(&program.module, start, &mut world, &concrete, &mut |state| {
        let frame = state.frame();
        if !program.module.function(frame.function).library {
            went((frame.function.0, frame.previous.0, frame.block.0));
        }
    });
}
