//! `parallax java`: a Java program on the concrete machine.

use super::heap::java::{Classes, print};
use super::heap::limits::Limits;
use anyhow::{Result, bail};
use clap::Args;
use parallax_cli_base::exit::{Failure, Status};
use parallax_engines::Stop;
use parallax_java::run::{Ending, RunError, run as run_main};
use parallax_java::{Bounds, dotted};
use serde_json::json;
use std::time::Instant;

/// Run `main` of a Java class from its class files.
#[derive(Args)]
#[command(after_help = "\
Example:
  parallax java --classpath build/classes Hello

Prints what the program prints. The classes of the installed JDK are run as they are; native methods that are not modelled, and
bounds, end the run with status 4. An exception that leaves main is told on stderr, and the status is 1.")]
pub struct Java {
    #[command(flatten)]
    classes: Classes,
    /// The class whose `main` to run.
    class: String,
    /// Turn on the assertions of the program's own classes.
    #[arg(long)]
    assertions: bool,
    /// How many instructions to run at most.
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    steps: u64,
    /// How deep calls may nest.
    #[arg(long, value_name = "D", default_value_t = 4000)]
    calls: usize,
    #[command(flatten)]
    limits: Limits,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Runs the verb.
pub fn run(arguments: &Java) -> Result<Status> {
    if arguments.classes.classpath.is_empty() {
        bail!("--classpath says where the classes are");
    }
    let program = arguments.classes.program()?;
    let bounds = Bounds { rounds: 0, calls: arguments.calls, steps: arguments.steps };
    let class = arguments.class.replace('.', "/");
    let watch = &mut arguments.limits.watch(Instant::now());
    let ran =
        run_main(&program, &class, arguments.assertions, bounds, watch).map_err(|error| match error {
            RunError::Stop(Stop::Bound(bound)) => {
                anyhow::Error::new(Failure { status: Status::GaveUp, message: bound.to_string() })
            }
            RunError::Stop(stop) => Failure { status: Status::Unsupported, message: stop.to_string() }.into(),
            other => other.into(),
        })?;
    let (status, said) = match &ran.ending {
        Ending::Returned => (Status::Clean, None),
        Ending::Threw(uncaught) => (Status::Findings, Some(format!("uncaught {}", uncaught.class))),
        Ending::Cut(cut, place) => (Status::GaveUp, Some(format!("{} at {place}", words(cut)))),
    };
    if arguments.json {
        let document = json!({
            "class": dotted(&class),
            "output": ran.output,
            "end": said.as_deref().unwrap_or("returned"),
            "instructions": ran.steps,
        });
        print(&format!("{document}\n"))?;
    } else {
        print(&ran.output)?;
        if let Some(said) = said {
            eprintln!("{said}");
        }
    }
    Ok(status)
}

fn words(cut: &parallax_java::Cut) -> String {
    use parallax_java::Cut;
    match cut {
        Cut::Loop => "stopped: loop bound".into(),
        Cut::Calls => "stopped: calls nest too deep".into(),
        Cut::Array => "stopped: an array that large".into(),
        Cut::Steps => "stopped: too many instructions".into(),
        Cut::Gap(what) => format!("stopped: {what}"),
    }
}
