//! Confirming what was found: by running it.

use crate::Program;
use crate::explore::{Entry, Finding, Settings, explore_input};
use crate::run::{self, Closed, Outcome};
use parallax_cmachine::{Files, Problem, State, Value};
use parallax_cmodule::{FunctionId, LocationId, Module};
use parallax_sem::Concrete;
use parallax_term::Store;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The function.
    pub function: String,
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
    /// Variables of the function that are known there, with their values.
    pub values: Vec<(String, String)>,
    /// The calls that lead there, the outermost first: function, file and line of each.
    pub callers: Vec<(String, String, u32)>,
}

/// What a replay in the concrete reading says.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Whether the same mistake happens at the same place.
    pub confirmed: bool,
    /// How the run ended.
    pub outcome: Outcome,
    /// The way there, in the user's own code.
    pub path: Vec<Step>,
}

/// Steps kept of a path: the last ones, which lead to the mistake.
const STEPS: usize = 400;
/// Instructions a replay may take.
const LIMIT: u64 = 50_000_000;

/// The place in the user's own code where something happened.
pub fn user_place(module: &Module, stack: &[(FunctionId, LocationId)]) -> (FunctionId, LocationId) {
    stack
        .iter()
        .find(|(function, _)| !module.function(*function).library)
        .or(stack.first())
        .copied()
        .unwrap_or((FunctionId(0), LocationId::default()))
}

/// Runs a finding's input in the concrete reading.
pub fn replay(program: &Program, finding: &Finding, settings: &Settings) -> Replay {
    let module = &program.module;
    let mut path = Vec::new();
    let run_once = |fill: u8, path: Option<&mut Vec<Step>>| {
        let concrete = run::Settings {
            steps: Some(LIMIT),
            inputs: finding.input.values.iter().map(|(_, bits)| bits.clone()).collect(),
            unknowns: Some(finding.input.unknowns.clone()),
            fill,
            checks: settings.checks,
            leaks: settings.leaks,
            random_inputs: settings.random_inputs,
            failing_allocation: settings.failing_allocation,
        };
        let named =
            finding.input.files.iter().map(|(name, bytes)| (name.clone().into_bytes(), bytes.clone()));
        let files = Files::new(finding.input.stdin.clone(), named);
        let mut world = Closed { files, ..Closed::default() };
        let mut trace = 0u64;
        let mut kept = Vec::new();
        let mut watch = |state: &State<Concrete>| {
            let frame = state.frame();
            let block = u64::from(frame.block.0) << 32 | u64::from(frame.function.0);
            trace = trace.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ block;
            if let Some(step) = step(module, state) {
                if kept.len() >= 2 * STEPS {
                    kept.drain(..STEPS);
                }
                if kept.last() != Some(&step) {
                    kept.push(step);
                }
            }
        };
        let finished = match &settings.entry {
            Entry::Main { .. } => {
                run::run(module, &finding.input.arguments, &mut world, &concrete, &mut watch)
            }
            Entry::Function(name) => {
                let start = run::Start::Function(name, &finding.input.memory);
                run::run_from(module, start, &mut world, &concrete, &mut watch)
            }
        };
        if let Some(path) = path {
            let first = kept.len().saturating_sub(STEPS);
            *path = kept.split_off(first);
        }
        (finished.outcome, trace, world.stdout, finished.lost)
    };
    let (outcome, trace, stdout, lost) = run_once(0, Some(&mut path));
    let place = user_place(module, &finding.stack);
    let confirmed = match (&outcome, finding.problem) {
        (_, Problem::Uninitialised) if matches!(settings.entry, Entry::Main { .. }) => {
            uninitialised(program, finding, settings)
        }
        // Two ways to fill in what is uninitialised, and the program does two things.
        (_, Problem::Uninitialised) => [0xff, 0xa5, 0x01, 0x80].iter().any(|&fill| {
            let (other, other_trace, other_stdout, _) = run_once(fill, None);
            (other, other_trace, other_stdout) != (outcome.clone(), trace, stdout.clone())
        }),
        // Several may be lost at once; the run names the first.
        (Outcome::Mistake(mistake), Problem::Leak) => {
            mistake.problem == Problem::Leak && lost.contains(&place)
        }
        (Outcome::Mistake(mistake), problem) => {
            let there = user_place(module, &mistake.stack);
            mistake.problem == problem
                && there.0 == place.0
                && module.location(there.1).line == module.location(place.1).line
        }
        _ => false,
    };
    if let Outcome::Mistake(mistake) = &outcome {
        let (function, location) = user_place(module, &mistake.stack);
        let callers = path.last().map_or(Vec::new(), |step: &Step| {
            let depth = mistake.stack.iter().filter(|(f, _)| !module.function(*f).library).count();
            let mut callers = step.callers.clone();
            callers.truncate(depth.saturating_sub(1));
            callers
        });
        path.push(place_step(module, function, location, Vec::new(), callers));
    }
    Replay { confirmed, outcome, path }
}

/// Runs the input with everything known but what is uninitialised, and sees whether that decides something there.
fn uninitialised(program: &Program, finding: &Finding, settings: &Settings) -> bool {
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    let module = &program.module;
    let Ok(explored) =
        explore_input(&store, module, settings, solver, Some(&finding.input), &mut |_, _, _| {})
    else {
        return false;
    };
    let place = user_place(module, &finding.stack);
    explored
        .findings
        .iter()
        .any(|other| other.problem == Problem::Uninitialised && user_place(module, &other.stack) == place)
}

fn place_step(
    module: &Module,
    function: FunctionId,
    at: LocationId,
    values: Vec<(String, String)>,
    callers: Vec<(String, String, u32)>,
) -> Step {
    let place = module.location(at);
    let function = module.function(function).name.clone();
    Step { function, file: module.file_of(at).to_string(), line: place.line, values, callers }
}

/// Where a state is when it enters a block of the user's own code.
fn step(module: &Module, state: &State<Concrete>) -> Option<Step> {
    let frame = state.frame();
    let function = module.function(frame.function);
    if function.library {
        return None;
    }
    let block = &function.blocks[frame.block.0 as usize];
    let at = block
        .instructions
        .iter()
        .map(|i| i.location)
        .chain([block.location])
        .find(|&l| module.location(l).line > 0)?;
    let mut values = Vec::new();
    for (slot, value) in function.slots.iter().zip(&frame.slots) {
        let (Some(variable), Some(value)) = (slot.variable, value) else { continue };
        let shown = match value {
            Value::Bits(bits) => bits.to_i128().map_or_else(|| bits.to_string(), |n| n.to_string()),
            Value::Pointer(pointer) => match pointer.only().map(|e| e.target) {
                Some(parallax_cmachine::Target::Null) => "NULL".to_string(),
                _ => "a pointer".to_string(),
            },
            Value::Many(_) | Value::Part(..) => continue,
        };
        values.push((module.variables[variable.0 as usize].name.clone(), shown));
    }
    let callers = (0..state.frames.len() - 1)
        .filter(|&depth| !module.function(state.frames[depth].function).library)
        .map(|depth| {
            let at = state.location(module, depth);
            let name = module.function(state.frames[depth].function).name.clone();
            (name, module.file_of(at).to_string(), module.location(at).line)
        })
        .collect();
    Some(place_step(module, frame.function, at, values, callers))
}
