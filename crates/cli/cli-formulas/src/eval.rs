//! `eval`: a program as a structure update.

use crate::along::{self, Said};
use crate::at::At;
use crate::subject::{
    Form, Limits, Subject, Which, after, assumptions_json, rejected_argument, script, update_json,
    with_condition, with_subject,
};
use anyhow::Result;
use clap::Args;
use parallax_cli_base::exit::Status;
use parallax_cli_base::progress;
use parallax_path::Bound;
use parallax_primitives::{Assumption, Evaluation, assumptions};
use parallax_term::{Store, StructUpdate, parse_update};
use std::path::PathBuf;

/// Evaluate a program symbolically, to one structure update.
///
/// An update is written `({I -> T}, {F -> FE})`.
///
/// Example: `parallax eval swap.pl` with `x = x ^ y; y = x ^ y; x = x ^ y;` prints
/// `({}, {F_rho -> F_rho[x -> F_rho(y)][y -> F_rho(x)]})`. `--through A,B` prints the state at each point of a path, and the
/// condition under which execution comes there.
#[derive(Args)]
pub struct Eval {
    /// The program; `-` is standard input. Machine code comes from `--hex` or `--elf` instead.
    file: Option<PathBuf>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    moment: At,
    /// Start from this structure update instead of the identity, in L notation.
    #[arg(long, value_name = "UPDATE")]
    from: Option<String>,
    /// The state at each of these points of a path, visited in this order, instead of the end.
    #[arg(long, value_name = "POINTS", value_delimiter = ',')]
    through: Vec<String>,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    form: Form,
}

/// Does it.
pub fn run(arguments: &Eval) -> Result<Status> {
    if let Some(at) = arguments.moment.given()? {
        anyhow::ensure!(arguments.from.is_none(), "--from is not for --at, where the state is the real one");
        anyhow::ensure!(arguments.through.is_empty(), "--through is not for --at");
        return at.follow(&arguments.limits, &[], |seen| {
            Ok(show(&arguments.form, &seen.program, seen.store, &seen.evaluation()))
        });
    }
    with_subject!(arguments.which, arguments.file, source, program => eval(arguments, &program))
}

fn eval<S: Subject>(arguments: &Eval, program: &S) -> Result<Status> {
    let store = Store::new();
    program.declare(&store);
    let from = start(&store, arguments.from.as_deref())?;
    let mut explorer = arguments.limits.explorer(program, &store);
    if !arguments.through.is_empty() {
        let points = along::points(program, &arguments.through)?;
        let found = progress::during("evaluating", || explorer.forwards(&from, &points));
        return along::show(
            &arguments.form,
            program,
            &store,
            &arguments.through,
            &found,
            Said::Update,
            |at| store.display_update(&program.presented(&store, &at.update)),
        );
    }
    let evaluation = progress::during("evaluating", || explorer.evaluate(&from));
    Ok(show(&arguments.form, program, &store, &evaluation))
}

/// Prints what evaluation found.
fn show<S: Subject>(form: &Form, program: &S, store: &Store, evaluation: &Evaluation) -> Status {
    let presented = program.presented(store, &evaluation.update);
    let assumptions = assumptions(store);
    if form.json {
        let json = serde_json::json!({
            "update": store.display_update(&presented),
            "after": update_json(store, &presented),
            "complete": evaluation.gave_up.is_empty(),
            "condition": store.display(evaluation.complete),
            "gave_up": reasons(&evaluation.gave_up),
            "assumptions": assumptions_json(store, &assumptions),
        });
        println!("{json:#}");
    } else if form.smt2 {
        let mut script = with_condition(script(program, store), store, evaluation.complete);
        for symbol in program.outputs(store) {
            let name = format!("{}_post", store.info(symbol).name);
            script = script.define(name, after(store, &evaluation.update, symbol));
        }
        print!("{}", script.render(store));
    } else {
        println!("{}", store.display_update(&presented));
    }
    tell(store, &assumptions);
    bounded(&evaluation.gave_up, || store.display(evaluation.complete))
}

/// The update to start from. Names in it that the program does not have are constants.
pub fn start(store: &Store, from: Option<&str>) -> Result<StructUpdate> {
    let Some(text) = from else { return Ok(StructUpdate::identity()) };
    loop {
        let error = match parse_update(store, text) {
            Ok(update) => return Ok(update),
            Err(error) => error,
        };
        // A name the vocabulary lacks becomes a free constant, as the paper's `v` in Fig. 1(c).
        let name = error.message.strip_prefix("unknown identifier `").and_then(|rest| rest.strip_suffix('`'));
        match name {
            Some(name) if store.lookup(name).is_none() && !name.contains('.') => {
                store.symbol(name, 32);
            }
            _ => return Err(rejected_argument("--from", text, &error)),
        }
    }
}

/// Says what the answer rests on, and when that would be wrong.
pub fn tell(store: &Store, assumptions: &[Assumption]) {
    for Assumption { name, breaks } in assumptions {
        eprintln!("assumed: {name}; the answer is void when {}", store.display(*breaks));
    }
}

/// Bounds as documents list them.
pub fn reasons(gave_up: &[Bound]) -> Vec<String> {
    gave_up.iter().map(ToString::to_string).collect()
}

/// Says loudly what was not followed to its end.
pub fn bounded(gave_up: &[Bound], condition: impl Fn() -> String) -> Status {
    if gave_up.is_empty() {
        return Status::Clean;
    }
    for why in gave_up {
        eprintln!("gave up: {why}");
    }
    eprintln!("the result holds only for initial states with: {}", condition());
    Status::GaveUp
}
