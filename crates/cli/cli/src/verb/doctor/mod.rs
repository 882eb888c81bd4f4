//! `parallax doctor`: what each verb needs of the machine, tried for real, and the command that mends what does not work.

mod checks;

use anyhow::Result;
use checks::{Broken, CHECKS, Check, Works};
use clap::Args;
use clap::builder::PossibleValuesParser;
use parallax_cli_base::exit::Status;
use parallax_cli_base::words::counted;
use parallax_jail::{Wanted, available};
use serde_json::{Value, json};

/// Try what the verbs need, and say what to install.
///
/// Each thing is tried: a file is compiled, a module is imported, a program is run. Verbs that need nothing but the command itself are
/// not listed.
#[derive(Args)]
#[command(after_help = "\
Examples:
  parallax doctor
  parallax doctor clang sanitizers
  parallax doctor --json

Exit status: 0 everything that is needed works, 1 something that is needed does not.")]
pub struct Doctor {
    /// Try these alone.
    #[arg(value_name = "CHECK", value_parser = PossibleValuesParser::new(CHECKS.iter().map(|check| check.name)))]
    checks: Vec<String>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// A check with its outcome.
struct Tried {
    check: &'static Check,
    outcome: Result<Works, Broken>,
}

impl Tried {
    /// A verb cannot do its work.
    fn is_missing(&self) -> bool {
        self.outcome.is_err() && !self.check.is_optional
    }

    fn document(&self) -> Value {
        let Check { name, verbs, purpose, is_optional, .. } = self.check;
        let (works, broken) = (self.outcome.as_ref().ok(), self.outcome.as_ref().err());
        json!({
            "check": name,
            "verbs": verbs,
            "purpose": purpose,
            "optional": is_optional,
            "works": works.is_some(),
            "found": works.map(|works| works.found.as_str()),
            "version": works.and_then(|works| works.version.as_deref()),
            "reason": broken.map(|broken| broken.reason.as_str()),
            "mend": broken.and_then(|broken| broken.mend.as_ref().map(ToString::to_string)),
        })
    }
}

/// Tries, and says what it saw.
pub fn run(arguments: &Doctor) -> Result<Status> {
    let is_wanted =
        |check: &&Check| arguments.checks.is_empty() || arguments.checks.iter().any(|n| n == check.name);
    let tried: Vec<Tried> =
        CHECKS.iter().filter(is_wanted).map(|check| Tried { check, outcome: (check.tries)() }).collect();
    if arguments.json {
        let rows: Vec<Value> = tried.iter().map(Tried::document).collect();
        let jail = super::walls::document(Wanted::Best);
        let version = env!("CARGO_PKG_VERSION");
        println!("{:#}", json!({ "version": version, "solver": solver(), "jail": jail, "needs": rows }));
    } else {
        println!("parallax {}, {}", env!("CARGO_PKG_VERSION"), solver());
        tried.iter().for_each(print);
        print_summary(&tried);
    }
    Ok(if tried.iter().any(Tried::is_missing) { Status::Findings } else { Status::Clean })
}

fn print(tried: &Tried) {
    let Check { name, verbs, purpose, is_optional, .. } = tried.check;
    println!("{verbs}: {purpose}");
    match &tried.outcome {
        Ok(Works { found, version }) => {
            let version = version.as_ref().map_or(String::new(), |version| format!(" ({version})"));
            println!("  ok {found}{version}");
            if let ("jail", Ok(walls)) = (*name, available()) {
                for (what, how) in walls.rows() {
                    println!("     {what}: {how}");
                }
            }
        }
        Err(Broken { reason, mend }) => {
            println!("  {} {reason}", if *is_optional { "--" } else { "MISSING" });
            if let Some(mend) = mend {
                println!("     {mend}");
            }
        }
    }
}

/// How much works, and one command for all packages that are missing.
fn print_summary(tried: &[Tried]) {
    let missing = tried.iter().filter(|tried| tried.is_missing()).count();
    let optional = tried.iter().filter(|tried| tried.outcome.is_err()).count() - missing;
    let works = tried.len() - missing - optional;
    let missing = match missing {
        0 => String::new(),
        1 => ", 1 thing is MISSING".into(),
        _ => format!(", {missing} things are MISSING"),
    };
    let optional = match optional {
        0 => String::new(),
        _ => format!(", {} left out", counted(optional, "optional part")),
    };
    println!("{} works{missing}{optional}", counted(works, "part").replace("s works", "s work"));
    let needed = tried.iter().filter(|tried| tried.is_missing());
    let mends = needed.filter_map(|tried| tried.outcome.as_ref().err()?.mend.as_ref());
    let packages: Vec<&str> = mends.filter_map(checks::Mend::package).collect();
    if packages.len() > 1 {
        println!("all at once: {}", checks::Mend::Packages(packages.join(" ")));
    }
}

/// The solver that is linked in: that we run shows that its library was found.
fn solver() -> String {
    parallax_smt::Z3::version().trim().to_owned()
}
