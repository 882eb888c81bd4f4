//! Confirming what was found: by running it.

use crate::Program;
use crate::explore::{Entry, Finding, Settings, explore_input};
use crate::native::Native;
use crate::place::user_place;
use crate::run::{self, Closed, Outcome};
use crate::trace::{Step, Tracer, step};
use parallax_cmachine::{Files, Problem, State};
use parallax_sem::Concrete;
use parallax_term::Store;

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

/// What running a finding's input came to; the better ones first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It happens: natively, or in the concrete reading where nothing native would show it.
    Confirmed,
    /// It happens in the concrete reading if code without a model returns what the path takes it to return: a guess, which
    /// nothing native can be asked about.
    Guessed,
    /// It did not happen in the concrete reading, and nothing native would show it.
    Unconfirmed,
    /// Natively it would show, and does not.
    Refuted,
}

impl Verdict {
    /// What a replay and a native run of a finding come to together.
    pub fn of(finding: &Finding, replay: &Replay, native: &Native) -> Verdict {
        match native {
            Native::Confirmed => Verdict::Confirmed,
            Native::Differs(_) => Verdict::Refuted,
            Native::Unseen(_) | Native::NotRun(_) if !replay.confirmed => Verdict::Unconfirmed,
            Native::Unseen(_) | Native::NotRun(_) if finding.input.unknowns.is_empty() => Verdict::Confirmed,
            Native::Unseen(_) | Native::NotRun(_) => Verdict::Guessed,
        }
    }

    /// Its name in documents for programs.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Confirmed => "confirmed",
            Verdict::Guessed => "guessed",
            Verdict::Unconfirmed => "unconfirmed",
            Verdict::Refuted => "refuted",
        }
    }
}

/// Steps kept of a path: the last ones, which lead to the mistake.
const STEPS: usize = 400;
/// Instructions before the end that are looked at one by one for them.
const TRACED: u64 = 100_000;
/// Instructions a replay may take.
const LIMIT: u64 = 50_000_000;

/// Runs a finding's input in the concrete reading.
pub fn replay(program: &Program, finding: &Finding, settings: &Settings) -> Replay {
    let module = &program.module;
    // With a tracer, all that happens from so many instructions on is traced.
    let run_once = |fill: u8, tracer: Option<(u64, &mut Tracer<'_>)>| {
        let concrete = run::Settings {
            steps: Some(LIMIT),
            inputs: finding.input.values.iter().map(|(_, bits)| bits.clone()).collect(),
            unknowns: Some(finding.input.unknowns.clone()),
            fill,
            every_instruction: tracer.is_some(),
            checks: settings.checks,
            leaks: settings.leaks,
            random_inputs: settings.random_inputs,
            failing_allocation: settings.failing_allocation,
            failing_calls: settings.failing_calls,
        };
        let named =
            finding.input.files.iter().map(|(name, bytes)| (name.clone().into_bytes(), bytes.clone()));
        let files = Files::new(finding.input.stdin.clone(), named);
        let environment = finding.input.variables();
        let mut world = Closed { files, environment, ..Closed::default() };
        let mut trace = 0u64;
        let mut tracer = tracer;
        let mut watch = |state: &State<Concrete>| {
            if let Some((from, tracer)) = &mut tracer {
                if state.steps >= *from {
                    tracer.see(state);
                }
                return;
            }
            let frame = state.frame();
            let block = u64::from(frame.block.0) << 32 | u64::from(frame.function.0);
            trace = trace.rotate_left(5).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ block;
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
        (finished, trace, world.stdout)
    };
    let (run::Finished { outcome, lost, steps, noticed }, trace, stdout) = run_once(0, None);
    let mut tracer = Tracer::new(module, STEPS);
    run_once(0, Some((steps.saturating_sub(TRACED), &mut tracer)));
    let mut path = tracer.finish();
    let place = user_place(module, &finding.stack);
    let confirmed = match (&outcome, finding.problem) {
        (_, Problem::Uninitialised) if matches!(settings.entry, Entry::Main { .. }) => {
            uninitialised(program, finding, settings)
        }
        // Two ways to fill in what is uninitialised, and the program does two things.
        (_, Problem::Uninitialised) => [0xff, 0xa5, 0x01, 0x80].iter().any(|&fill| {
            let (other, other_trace, other_stdout) = run_once(fill, None);
            (&other.outcome, other_trace, &other_stdout) != (&outcome, trace, &stdout)
        }),
        // Several may be lost at once; the run names the first.
        (Outcome::Mistake(mistake), Problem::Leak) => {
            mistake.problem == Problem::Leak && lost.contains(&place)
        }
        (_, problem) => noticed.iter().any(|mistake| {
            let there = user_place(module, &mistake.stack);
            mistake.problem == problem
                && there.0 == place.0
                && module.location(there.1).line == module.location(place.1).line
        }),
    };
    if let Outcome::Mistake(mistake) = &outcome {
        path.push(step(module, &mistake.stack, Vec::new()));
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
