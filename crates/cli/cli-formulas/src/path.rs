//! `path`: path constraints (Fig. 7), and an input that follows the path.

use crate::along;
use crate::at::{At, Seen};
use crate::eval::{reasons, tell};
use crate::subject::{Form, Limits, Subject, Which, assumptions_json, script, with_subject};
use anyhow::Result;
use clap::Args;
use parallax_cli_base::exit::{Status, undecided};
use parallax_cli_base::progress;
use parallax_concolic::ways::Way;
use parallax_path::Bound;
use parallax_primitives::{Assumption, Input, NotFound, assumptions, placements};
use parallax_term::{Formula, Script, Store, StructUpdate};
use std::path::PathBuf;

/// How many parts of an input are made as small as can be.
const MINIMISED: usize = 24;

/// When does execution visit these points, and from which input?
///
/// The points are visited in the order given
///
/// Example: with `if (x == 5) { hit: y = 1; }` in test.pl, `parallax path test.pl --through hit` prints
/// `F_rho(x) = 5` and an input with `x = 5`. Points are labels or line numbers (PL), labels or addresses (MC); a
/// loop's body named twice means two rounds. A way on which an instruction faults leads nowhere. The input is run, to see
/// that it goes there; where neither an input is found nor that there is none, the exit status is 4.
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
    let points = along::points(program, &arguments.through)?;
    let mut explorer = arguments.limits.explorer(program, &store);
    let path = progress::during("evaluating", || explorer.path(&StructUpdate::identity(), &points));
    if path.complete == store.false_() && path.gave_up.is_empty() {
        along::placed(program, &arguments.through, &points)?;
    }
    if arguments.form.smt2 {
        // Where objects lie is part of the question, as it is where the input is looked for.
        let placed = placements(program, &store).into_iter().fold(script(program, &store), Script::assert);
        print!("{}(assert path)\n(check-sat)\n", placed.define("path", path.complete).render(&store));
        return Ok(longer(&path.gave_up));
    }
    // The smallest input is one that people can read, and the same whichever solver answers.
    let mut inputs = program.inputs(&store);
    inputs.truncate(MINIMISED);
    let steps = arguments.limits.steps.min(1_000_000);
    let mut solver = parallax_smt::solver(&store);
    let input = match parallax_primitives::input(program, &mut *solver, &path, &inputs, &points, steps) {
        Input::Found(start) => Verdict::Input(program.input(&store, &start)),
        Input::Impossible => Verdict::None,
        Input::Unknown(NotFound::Solver(why)) => Verdict::Unknown(why.to_string(), undecided(&why)),
        Input::Unknown(why) => Verdict::Unknown(why.to_string(), Status::GaveUp),
    };
    let assumptions = assumptions(&store);
    show(&arguments.form, &store, path.complete, &input, &path.gave_up, &assumptions);
    tell(&store, &assumptions);
    // A fault of ours outweighs a bound.
    let statuses = [longer(&path.gave_up), input.status()];
    Ok(if statuses.contains(&Status::Unsupported) {
        Status::Unsupported
    } else {
        statuses[0].max(statuses[1])
    })
}

/// Whether an input follows the path.
enum Verdict {
    /// This one: names and values.
    Input(Vec<(String, String)>),
    /// None does.
    None,
    /// Neither one nor none was found; why, and what that means for the exit status.
    Unknown(String, Status),
}

impl Verdict {
    fn status(&self) -> Status {
        match self {
            Verdict::Unknown(_, status) => *status,
            _ => Status::Clean,
        }
    }
}

/// The ways from a moment that visit the points; the input of one of them was run when it was found.
fn from_moment(arguments: &Path, seen: &Seen<'_>) -> Result<Status> {
    let store = seen.store;
    let ways: Vec<&Way> = seen.ways.ways.iter().filter(|way| seen.goes_through(way)).collect();
    let formula = ways.iter().fold(store.false_(), |any, way| store.or(any, way.condition));
    let gave_up: Vec<Bound> = seen.ways.bounds.iter().cloned().collect();
    if arguments.form.smt2 {
        let script = script(&seen.program, store).define("path", formula).render(store);
        print!("{script}(assert path)\n(check-sat)\n");
        return Ok(longer(&gave_up));
    }
    let input = match ways.first() {
        Some(way) => Verdict::Input(seen.input(way)),
        None if !seen.points_are_known() => {
            let words = "whether an instruction begins at each of the points could not be told";
            Verdict::Unknown(words.into(), Status::GaveUp)
        }
        None if gave_up.is_empty() => Verdict::None,
        None => Verdict::Unknown(NotFound::Bounded.to_string(), Status::GaveUp),
    };
    show(&arguments.form, store, formula, &input, &gave_up, &[]);
    Ok(longer(&gave_up).max(input.status()))
}

/// Prints the condition, and whether an input satisfies it.
fn show(
    form: &Form,
    store: &Store,
    formula: Formula,
    input: &Verdict,
    gave_up: &[Bound],
    assumptions: &[Assumption],
) {
    if form.json {
        let (satisfiable, model, why) = match input {
            Verdict::Input(values) => {
                let value = |(name, value): &(String, String)| (name.clone(), value.clone().into());
                (Some(true), Some(values.iter().map(value).collect::<serde_json::Map<_, _>>()), None)
            }
            Verdict::None => (Some(false), None, None),
            Verdict::Unknown(why, _) => (None, None, Some(why)),
        };
        let mut gave_up = reasons(gave_up);
        gave_up.extend(why.cloned());
        let json = serde_json::json!({
            "path": store.display(formula),
            "satisfiable": satisfiable,
            "model": model,
            "gave_up": gave_up,
            "assumptions": assumptions_json(store, assumptions),
        });
        println!("{json:#}");
        return;
    }
    println!("{}", store.display(formula));
    match input {
        Verdict::Input(values) => {
            println!("an input that goes there:");
            for (name, value) in values {
                println!("  {name} = {value}");
            }
        }
        Verdict::None => println!("no input goes there"),
        Verdict::Unknown(why, _) => {
            println!("whether an input goes there is not known");
            eprintln!("gave up: {why}");
        }
    }
}

/// Says loudly that longer ways between the points were not followed.
fn longer(gave_up: &[Bound]) -> Status {
    for why in gave_up {
        eprintln!("gave up: {why}; longer ways between the points are not part of the formula");
    }
    if gave_up.is_empty() { Status::Clean } else { Status::GaveUp }
}
