//! `compose`: two programs as one state change.

use crate::eval::{bounded, reasons, tell};
use crate::subject::{
    Form, Lang, Limits, Subject, Which, after, assumptions_json, load_mc, load_pl, script, update_json,
    with_condition,
};
use anyhow::{Result, ensure};
use clap::Args;
use parallax_cli_base::exit::Status;
use parallax_cli_base::input;
use parallax_cli_base::progress;
use parallax_primitives::{Composition, Evaluation};
use parallax_term::{Store, StructUpdate};
use std::path::PathBuf;

/// Compose the effects of two programs, one after the other.
///
/// Each is evaluated on its own.
///
/// The second lies right behind the first. Where a branch leaves both, the state after the first is the result; where one
/// goes into the middle of the other, nothing is said, with status 4 and the condition. Functions of a file are called one
/// after the other. Objects that the two make are different objects.
///
/// Example: with `x = x ^ y; y = x ^ y;` in a.pl and `x = x ^ y;` in b.pl, `parallax compose a.pl b.pl` prints the
/// swap, `({}, {F_rho -> F_rho[x -> F_rho(y)][y -> F_rho(x)]})`.
#[derive(Args)]
pub struct Compose {
    /// The program that runs first. Of machine code, give two `--hex`, `--function` or `--range` instead.
    first: Option<PathBuf>,
    /// The program that runs second.
    second: Option<PathBuf>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    form: Form,
}

/// Does it.
pub fn run(arguments: &Compose) -> Result<Status> {
    let language = arguments.which.language(arguments.first.as_deref())?;
    if let Lang::Code(_) = language {
        let programs = arguments.which.code.programs(arguments.which.processor()?)?;
        let [first, second] = programs.as_slice() else {
            anyhow::bail!("compose needs two --hex, --function or --range; there are {}", programs.len())
        };
        // What the first does to control registers, the second must see.
        second.open_controls();
        return compose(arguments, first, second);
    }
    let (Some(first), Some(second)) = (&arguments.first, &arguments.second) else {
        anyhow::bail!("compose needs two programs")
    };
    ensure!(
        language == arguments.which.language(Some(second))?,
        "the two programs are of different languages"
    );
    let (first, second) = (input::source(first)?, input::source(second)?);
    match language {
        Lang::Pl => {
            let first = load_pl(&first)?;
            let second = load_pl(&second)?.behind(first.instructions.len());
            compose(arguments, &first, &second)
        }
        _ => {
            let first = load_mc(&first, 0)?;
            // The second lies right behind the first.
            let base = first.instructions.len() as u32 * parallax_mc::SIZE;
            compose(arguments, &first, &load_mc(&second, base)?)
        }
    }
}

fn compose<S: Subject>(arguments: &Compose, first: &S, second: &S) -> Result<Status> {
    let store = Store::new();
    first.declare(&store);
    second.declare(&store);
    let Composition { whole, assumptions } = progress::during("evaluating", || {
        let evaluate =
            |program: &S| arguments.limits.explorer(program, &store).evaluate(&StructUpdate::identity());
        let (before, then) = (evaluate(first), evaluate(second));
        parallax_primitives::compose(parallax_smt::solver(&store), (first, &before), (second, &then))
    });
    let Evaluation { update, complete, gave_up, .. } = whole;
    let presented = second.presented(&store, &update);
    if arguments.form.json {
        let json = serde_json::json!({
            "update": store.display_update(&presented),
            "after": update_json(&store, &presented),
            "complete": gave_up.is_empty(),
            "condition": store.display(complete),
            "gave_up": reasons(&gave_up),
            "assumptions": assumptions_json(&store, &assumptions),
        });
        println!("{json:#}");
    } else if arguments.form.smt2 {
        let mut script = with_condition(script(first, &store), &store, complete);
        for symbol in second.outputs(&store) {
            script =
                script.define(format!("{}_post", store.info(symbol).name), after(&store, &update, symbol));
        }
        print!("{}", script.render(&store));
    } else {
        println!("{}", store.display_update(&presented));
    }
    tell(&store, &assumptions);
    Ok(bounded(&gave_up, || store.display(complete)))
}
