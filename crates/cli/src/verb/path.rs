//! `path`: path constraints (Fig. 7), and an input that follows the path.

use crate::exit::{Failure, Status};
use crate::progress;
use crate::subject::{Form, Limits, Subject, Which, assumptions_json, script, with_subject};
use crate::verb::at::{At, Seen};
use crate::verb::eval::{reasons, tell};
use anyhow::{Result, anyhow};
use clap::Args;
use parallax_concolic::ways::Way;
use parallax_op::Bits;
use parallax_path::Bound;
use parallax_primitives::{NoInput, PathError, placements};
use parallax_term::{Formula, Script, Store, StructUpdate};
use std::path::PathBuf;

/// How many parts of an input are made as small as can be.
const MINIMISED: usize = 24;

/// When does execution visit these points in order, and from which input?
///
/// Example: with `if (x == 5) { hit: y = 1; }` in test.pl, `parallax path test.pl --through hit` prints
/// `F_rho(x) = 5` and an input with `x = 5`. Points are labels or line numbers (PL), labels or addresses (MC); a
/// loop's body named twice means two rounds. The input is run, to see that it goes there.
#[derive(Args)]
pub struct Path {
    /// The program; `-` is standard input. Machine code comes from `--hex` or `--elf` instead.
    file: Option<PathBuf>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    moment: At,
    /// The points, in order, separated by commas.
    #[arg(long, value_name = "POINTS", value_delimiter = ',', required = true)]
    through: Vec<String>,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    form: Form,
}

/// Does it.
pub fn run(arguments: &Path) -> Result<Status> {
    if let Some(at) = arguments.moment.given()? {
        return at.follow(&arguments.limits, &arguments.through, |seen| from_moment(arguments, seen));
    }
    with_subject!(arguments.which, arguments.file, source, program => path(arguments, &program))
}

fn path<S: Subject>(arguments: &Path, program: &S) -> Result<Status> {
    let store = Store::new();
    program.declare(&store);
    let points: Vec<Bits> = arguments
        .through
        .iter()
        .map(|name| {
            program.point(name.trim()).ok_or_else(|| anyhow!("--through: no label or line `{}`", name.trim()))
        })
        .collect::<Result<_>>()?;
    let mut explorer = arguments.limits.explorer(program, &store);
    let (formula, gave_up, assumptions) =
        match progress::during("evaluating", || explorer.path(&StructUpdate::identity(), &points)) {
            Ok(path) => (path.complete, path.gave_up, path.assumptions),
            Err(PathError::Unreachable { .. }) => (store.false_(), Vec::new(), explorer.assumptions()),
            Err(PathError::GaveUp(why)) => {
                return Err(Failure { status: Status::GaveUp, message: format!("gave up: {why}") }.into());
            }
        };
    if arguments.form.smt2 {
        // Where objects lie is part of the question, as it is where the input is looked for.
        let placed = placements(program, &store).into_iter().fold(script(program, &store), Script::assert);
        print!("{}(assert path)\n(check-sat)\n", placed.define("path", formula).render(&store));
        return Ok(longer(&gave_up));
    }
    // The smallest input is one that people can read, and the same whichever solver answers.
    let mut inputs = program.inputs(&store);
    inputs.truncate(MINIMISED);
    let holds = assumptions.iter().map(|it| store.not(it.breaks));
    let asked: Vec<Formula> = holds.chain([formula]).collect();
    let steps = arguments.limits.steps.min(1_000_000);
    let mut solver = parallax_smt::solver(&store);
    let found = parallax_primitives::input(program, &mut *solver, &asked, &inputs, &points, steps);
    let input = found.map_err(|why| {
        let message = match why {
            NoInput::Solver(reason) => format!("gave up: {reason}"),
            NoInput::Astray => {
                "gave up: none of the solver's inputs follows the path when it is run".to_owned()
            }
        };
        Failure { status: Status::GaveUp, message }
    })?;
    let input = input.map(|start| program.input(&store, &start));
    if arguments.form.json {
        let model = input.as_ref().map(|values| {
            values
                .iter()
                .map(|(name, value)| (name.clone(), value.clone().into()))
                .collect::<serde_json::Map<_, _>>()
        });
        let json = serde_json::json!({
            "path": store.display(formula),
            "satisfiable": input.is_some(),
            "model": model,
            "gave_up": reasons(&gave_up),
            "assumptions": assumptions_json(&store, &assumptions),
        });
        println!("{json:#}");
    } else {
        println!("{}", store.display(formula));
        show_input(input);
    }
    tell(&store, &assumptions);
    Ok(longer(&gave_up))
}

/// The ways from a moment that visit the points; the input of one of them was run when it was found.
fn from_moment(arguments: &Path, seen: &Seen<'_>) -> Result<Status> {
    let store = seen.store;
    let ways: Vec<&Way> = seen.ways.ways.iter().filter(|way| seen.goes_through(way)).collect();
    let formula = ways.iter().fold(store.false_(), |any, way| store.or(any, way.condition));
    let gave_up: Vec<Bound> = seen.ways.bounds.iter().cloned().collect();
    let input = ways.first().map(|way| seen.input(way));
    if arguments.form.smt2 {
        let script = script(&seen.program, store).define("path", formula).render(store);
        print!("{script}(assert path)\n(check-sat)\n");
    } else if arguments.form.json {
        let model = input.as_ref().map(|values| {
            values
                .iter()
                .map(|(name, value)| (name.clone(), value.clone().into()))
                .collect::<serde_json::Map<_, _>>()
        });
        let json = serde_json::json!({
            "path": store.display(formula),
            "satisfiable": input.is_some(),
            "model": model,
            "gave_up": reasons(&gave_up),
            "assumptions": [],
        });
        println!("{json:#}");
    } else {
        println!("{}", store.display(formula));
        show_input(input);
    }
    Ok(longer(&gave_up))
}

fn show_input(input: Option<Vec<(String, String)>>) {
    match input {
        Some(values) => {
            println!("an input that goes there:");
            for (name, value) in values {
                println!("  {name} = {value}");
            }
        }
        None => println!("no input goes there"),
    }
}

/// Says loudly that longer ways between the points were not followed.
fn longer(gave_up: &[Bound]) -> Status {
    for why in gave_up {
        eprintln!("gave up: {why}; longer ways between the points are not part of the formula");
    }
    if gave_up.is_empty() { Status::Clean } else { Status::GaveUp }
}
