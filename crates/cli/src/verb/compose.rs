//! `compose`: two programs as one state change.

use crate::exit::Status;
use crate::input;
use crate::progress;
use crate::subject::{Form, Lang, Limits, Subject, Which, after, load_mc, load_pl, script, update_json};
use crate::verb::eval::{bounded, reasons};
use anyhow::{Result, ensure};
use clap::Args;
use parallax_primitives::Explorer;
use parallax_sem::logic;
use parallax_term::{Store, StructUpdate};
use std::path::PathBuf;

/// Compose two programs symbolically: the first, then the second, each evaluated on its own.
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
        Lang::Pl => compose(arguments, &load_pl(&first)?, &load_pl(&second)?),
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
    let identity = StructUpdate::identity();
    let (before, then) = progress::during("evaluating", || {
        let before = Explorer::new(first, &store, arguments.limits.bounds())
            .with_solver(parallax_smt::solver(&store))
            .evaluate(&identity);
        (
            before,
            Explorer::new(second, &store, arguments.limits.bounds())
                .with_solver(parallax_smt::solver(&store))
                .evaluate(&identity),
        )
    });
    let update = logic::compose(&store, &then.update, &before.update);
    let complete = store.and(before.complete, logic::precondition(&store, &before.update, then.complete));
    let gave_up = [before.gave_up, then.gave_up].concat();
    let presented = second.presented(&store, &update);
    if arguments.form.json {
        let json = serde_json::json!({
            "update": store.display_update(&presented),
            "after": update_json(&store, &presented),
            "complete": gave_up.is_empty(),
            "gave_up": reasons(&gave_up),
        });
        println!("{json:#}");
    } else if arguments.form.smt2 {
        let mut script = script(first, &store);
        for symbol in second.outputs(&store) {
            script =
                script.define(format!("{}_post", store.info(symbol).name), after(&store, &update, symbol));
        }
        print!("{}", script.render(&store));
    } else {
        println!("{}", store.display_update(&presented));
    }
    Ok(bounded(&gave_up, || store.display(complete)))
}
