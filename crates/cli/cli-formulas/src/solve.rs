//! `parallax solve`: a script in SMT-LIB 2, answered by the solvers that everything else here asks.

use anyhow::Result;
use clap::{Args, ValueEnum};
use parallax_cli_base::exit::{Failure, Status, undecided};
use parallax_cli_base::input;
use parallax_smt::{Limits, Solver, Tier0, Tiered, Z3};
use parallax_smtlib::{Interpreter, Refusal, Response};
use parallax_term::Store;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Answer an SMT-LIB 2 script over bit-vectors and arrays.
///
/// The logics are QF_AUFBV and below: uninterpreted functions too.
///
/// Answers come as the script asks for them: check-sat, get-model, get-value, get-unsat-core. Every model was evaluated
/// before it is shown. Exit status 0 if every check was decided, 4 if one was not within its limits.
#[derive(Args)]
#[command(after_help = "Example:\n  parallax solve corpus/smt2/product.smt2 --time 5")]
pub struct Solve {
    /// The script; - is standard input.
    file: PathBuf,
    /// Seconds for each check.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    time: f64,
    /// Who is asked.
    #[arg(long, value_enum, default_value = "tiered")]
    solver: Which,
    /// Print one JSON document with all answers.
    #[arg(long)]
    json: bool,
}

/// A solver.
#[derive(Clone, Copy, ValueEnum)]
enum Which {
    /// Our own first, then Z3.
    Tiered,
    /// Our own alone.
    Tier0,
    /// Z3 alone.
    Z3,
}

/// Follows the script.
pub fn run(arguments: &Solve) -> Result<Status> {
    let Ok(time) = Duration::try_from_secs_f64(arguments.time) else {
        anyhow::bail!("--time takes a number of seconds, not {}", arguments.time);
    };
    let source = input::source(&arguments.file)?;
    let store = Store::new();
    let mut solver: Box<dyn Solver<'_> + '_> = match arguments.solver {
        Which::Tiered => Box::new(Tiered::new(&store)),
        Which::Tier0 => Box::new(Tier0::new(&store)),
        Which::Z3 => Box::new(Z3::new(&store)),
    };
    solver.set_limits(Limits { time: Some(time), ..Limits::default() });
    let mut status = Status::Clean;
    let mut answers = Vec::new();
    let followed = Interpreter::new(solver).run(&source.text, &mut |response| {
        if let Response::Decided(Err(reason)) = &response {
            // A mistake of ours stays one, whatever else is decided.
            status = if status == Status::Unsupported { status } else { undecided(reason) };
            eprintln!("gave up: {reason}");
        }
        if arguments.json {
            let reason = match &response {
                Response::Decided(Err(reason)) => Some(reason.to_string()),
                _ => None,
            };
            answers.push(json!({ "answer": response.to_string(), "gave_up": reason }));
        } else {
            println!("{response}");
            let _ = std::io::stdout().flush();
        }
    });
    match followed {
        Err(Refusal::Malformed(diagnostic)) => Err(input::rejected(&source, &[diagnostic])),
        Err(Refusal::Unsupported(diagnostic)) => {
            let message = diagnostic.render(&source);
            Err(Failure { status: Status::Unsupported, message }.into())
        }
        Ok(()) => {
            if arguments.json {
                println!("{:#}", json!({ "answers": answers }));
            }
            Ok(status)
        }
    }
}
