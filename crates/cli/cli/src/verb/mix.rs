//! `parallax mix`: check and run programs of typed and symbolic blocks.

use anyhow::{Result, anyhow};
use clap::{Args, Subcommand, ValueEnum};
use parallax_cli_base::exit::{Failure, Status};
use parallax_cli_base::input;
use parallax_cli_base::report_file;
use parallax_cli_base::words::counted;
use parallax_mix::complaint::{Complaint, ComplaintKind, Shown};
use parallax_mix::interp::{self, Stop};
use parallax_mix::mix::{self, Exhaustiveness, Havoc, Outer, Verdict};
use parallax_mix::symbolic::{Conditionals, Consistency};
use parallax_mix::syntax::Program;
use parallax_mix::world::Answers;
use parallax_smt::Limits;
use parallax_source::{Diagnostic, SourceFile};
use serde_json::{Value as Json, json};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// Check and run programs of typed and symbolic blocks (MIX).
///
/// Typed blocks are `{t e t}`, symbolic blocks `{s e s}`.
#[derive(Args)]
#[command(after_help = "\
Example:
  echo '{s let div x y = if y = 0 then \"err\" else x / y in {t 1 + {s div 7 4 s} t} s}' > div.mix
  parallax mix check div.mix
  parallax mix run div.mix")]
pub struct Mix {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    Check(Check),
    Run(Run),
}

/// Check a program: what is in typed blocks by its types, what is in symbolic blocks by executing every path.
#[derive(Args)]
#[command(after_help = "\
Example:
  echo 'extern n : int  {s if n > 0 then 1 else \"negative\" s}' > sign.mix
  parallax mix check sign.mix

Exit status: 0 accepted, 1 rejected, 2 not a program, 4 a bound was hit, so that part of the program was not looked at.")]
struct Check {
    /// The program; `-` is standard input.
    file: PathBuf,
    /// What the outermost scope is.
    #[arg(long, value_enum, default_value = "typed")]
    outer: OuterScope,
    /// How symbolic execution takes a conditional: both ways, or as one conditional expression (SEIf-Defer).
    #[arg(long, value_enum, default_value = "fork")]
    conditionals: ConditionalsAre,
    /// When memory counts as consistent: by comparing expressions (Figure 3), or by asking the solver.
    #[arg(long, value_enum, default_value = "syntactic")]
    memory: MemoryIs,
    /// Whether paths beyond the bounds are a rejection, or only listed.
    #[arg(long, value_enum, default_value = "sound")]
    exhaustive: ExhaustiveIs,
    /// What memory is after a typed block: arbitrary, or only where the block may write.
    #[arg(long, value_enum, default_value = "everything")]
    havoc: HavocIs,
    /// How often a loop or recursion may go round where it could also stop.
    #[arg(long, value_name = "N", default_value_t = 16)]
    unroll: u32,
    /// How many paths to explore.
    #[arg(long, value_name = "N", default_value_t = 1 << 20)]
    paths: u64,
    /// How many expressions to execute symbolically.
    #[arg(long, value_name = "N", default_value_t = 50_000_000)]
    steps: u64,
    /// How many seconds the solver may take for one question.
    #[arg(long, alias = "solver-seconds", value_name = "SECONDS", default_value_t = 10)]
    solver_time: u64,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Write the errors and their paths as a report: a page (.html), SARIF (.sarif), pathreport XML (.xml) or Parallax
    /// JSON (any other name).
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// Run a program and print its value.
#[derive(Args)]
#[command(after_help = "\
Example:
  echo 'extern n : int  n * n' > square.mix
  parallax mix run square.mix --set n=12

Exit status: 0 a value, 1 a run-time error, 2 not a program or an extern without a value, 4 a bound was hit.")]
struct Run {
    /// The program; `-` is standard input.
    file: PathBuf,
    /// What an extern name is: a number, a string in quotes, true, false, (), null, `ref VALUE`, or a name set before.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Where the values of other externs, and the answers of extern functions, come from.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How many expressions to evaluate at most.
    #[arg(long, value_name = "N", default_value_t = 200_000_000)]
    steps: u64,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

macro_rules! choices {
    ($($name:ident => $target:ident { $($(#[doc = $doc:literal])+ $choice:ident => $means:ident,)+ })+) => { $(
        #[derive(Clone, Copy, ValueEnum)]
        enum $name { $($(#[doc = $doc])+ $choice,)+ }
        impl From<$name> for $target {
            fn from(choice: $name) -> $target {
                match choice { $($name::$choice => $target::$means),+ }
            }
        }
    )+ };
}

choices! {
    OuterScope => Outer {
        /// A typed block.
        Typed => Typed,
        /// A symbolic block.
        Symbolic => Symbolic,
    }
    ConditionalsAre => Conditionals {
        /// One path for each branch.
        Fork => Fork,
        /// One path for both branches, which must agree in type.
        Defer => Defer,
    }
    MemoryIs => Consistency {
        /// By comparing expressions.
        Syntactic => Syntactic,
        /// By asking the solver.
        Solver => Solver,
    }
    ExhaustiveIs => Exhaustiveness {
        /// A bound that is hit is a rejection.
        Sound => Sound,
        /// A bound that is hit is listed as a gap.
        GoodEnough => GoodEnough,
    }
    HavocIs => Havoc {
        /// All of memory is arbitrary.
        Everything => Everything,
        /// Locations of types that the block may write to are arbitrary.
        Effects => Effects,
    }
}

/// Does it.
pub fn run(arguments: &Mix) -> Result<Status> {
    match &arguments.action {
        Action::Check(arguments) => check(arguments),
        Action::Run(arguments) => evaluate(arguments),
    }
}

fn read(path: &std::path::Path) -> Result<(SourceFile, Program)> {
    let file = input::source(path)?;
    match parallax_mix::read(&file.text) {
        Ok(program) => Ok((file, program)),
        Err(diagnostic) => Err(input::rejected(&file, &[diagnostic])),
    }
}

fn check(arguments: &Check) -> Result<Status> {
    let (file, program) = read(&arguments.file)?;
    let options = mix::Options {
        outer: arguments.outer.into(),
        exhaustiveness: arguments.exhaustive.into(),
        havoc: arguments.havoc.into(),
        symbolic: parallax_mix::symbolic::Options {
            conditionals: arguments.conditionals.into(),
            consistency: arguments.memory.into(),
            unroll: arguments.unroll,
            paths: arguments.paths,
            steps: arguments.steps,
            solver: Limits { time: Some(Duration::from_secs(arguments.solver_time)), ..Default::default() },
            ..parallax_mix::symbolic::Options::default()
        },
        ..mix::Options::default()
    };
    let verdict = mix::check(&program, &options);
    if let Some(path) = &arguments.report {
        let all: Vec<Complaint> = verdict.errors.iter().chain(&verdict.gaps).cloned().collect();
        let document = parallax_mix::path_report::document(&file, &all);
        report_file::save(
            path,
            document,
            report_file::folder(&arguments.file).into_iter().collect(),
            &file.name,
        )?;
    }
    if arguments.json {
        println!("{}", to_json(&file, &verdict));
    } else {
        print_verdict(&file, &verdict);
    }
    Ok(status(&verdict))
}

/// Anything wrong is a finding; a bound that was hit means the answer is not complete, whatever it is.
fn status(verdict: &Verdict) -> Status {
    if verdict.errors.iter().any(|complaint| complaint.kind == ComplaintKind::Error) {
        Status::Findings
    } else if !verdict.errors.is_empty() || !verdict.gaps.is_empty() {
        Status::GaveUp
    } else {
        Status::Clean
    }
}

fn to_json(file: &SourceFile, verdict: &Verdict) -> Json {
    let list = |complaints: &[Complaint]| -> Json {
        complaints.iter().map(|complaint| one(file, complaint)).collect::<Vec<_>>().into()
    };
    let mut object = match verdict.accepted() {
        true => json!({ "verdict": "accepted", "type": verdict.ty.to_string() }),
        false => json!({ "verdict": "rejected", "errors": list(&verdict.errors) }),
    };
    if !verdict.gaps.is_empty() {
        object["gaps"] = list(&verdict.gaps);
    }
    object
}

fn one(file: &SourceFile, complaint: &Complaint) -> Json {
    let (line, column) = file.position(complaint.span.start);
    let path = complaint.path.as_deref();
    let example = path.and_then(|path| path.example.as_ref());
    let values = |shown: RangeInclusive<Shown>| {
        example.filter(|example| shown.contains(&example.shown)).map(|example| {
            let given = example.given.iter().map(|given| (given.title(file), json!(given.value)));
            given.collect::<serde_json::Map<_, _>>()
        })
    };
    json!({
        "line": line,
        "column": column,
        "message": complaint.message,
        "kind": match complaint.kind { ComplaintKind::Error => "error", ComplaintKind::Gap => "gap" },
        "notes": complaint.notes,
        "path_condition": path.map(|path| path.condition.clone()),
        "input": values(Shown::Reached..=Shown::Failed),
        "assumed": values(Shown::Assumed..=Shown::Assumed),
        "input_fails": example.map(|example| example.shown == Shown::Failed),
        "input_block": example.and_then(|example| example.block).map(|block| {
            let (line, column) = file.position(block.start);
            json!({ "line": line, "column": column })
        }),
    })
}

fn print_verdict(file: &SourceFile, verdict: &Verdict) {
    for complaint in verdict.errors.iter().chain(&verdict.gaps) {
        eprintln!("{}", diagnostic(file, complaint).render(file));
    }
    match (verdict.accepted(), verdict.gaps.len()) {
        (true, 0) => println!("accepted: {}", verdict.ty),
        (true, gaps) => println!("accepted, with {}: {}", counted(gaps, "unsound gap"), verdict.ty),
        (false, _) => {
            let gaps = verdict.errors.iter().filter(|complaint| complaint.kind == ComplaintKind::Gap).count();
            let errors = verdict.errors.len() - gaps;
            match (errors, gaps) {
                (0, gaps) => println!("rejected: gave up at {}", counted(gaps, "place")),
                (errors, 0) => println!("rejected: {}", counted(errors, "error")),
                (errors, gaps) => {
                    println!(
                        "rejected: {}, gave up at {}",
                        counted(errors, "error"),
                        counted(gaps, "more place")
                    );
                }
            }
        }
    }
}

fn diagnostic(file: &SourceFile, complaint: &Complaint) -> Diagnostic {
    let message = match complaint.kind {
        ComplaintKind::Error => complaint.message.clone(),
        ComplaintKind::Gap => format!("unsound gap: {}", complaint.message),
    };
    let mut diagnostic = Diagnostic::new(complaint.span, message);
    for (span, what) in &complaint.related {
        let (line, column) = file.position(span.start);
        diagnostic = diagnostic.note(format!("{what}: line {line}, column {column}"));
    }
    for note in &complaint.notes {
        diagnostic = diagnostic.note(note.clone());
    }
    if let Some(path) = &complaint.path {
        if let Some(sentence) = path.example.as_ref().and_then(|example| example.sentence(file)) {
            diagnostic = diagnostic.note(sentence);
        }
        if path.condition != "true" {
            diagnostic = diagnostic.note(format!("path condition: {}", path.condition));
        }
    }
    diagnostic
}

fn evaluate(arguments: &Run) -> Result<Status> {
    let (file, program) = read(&arguments.file)?;
    let mut world = Answers { seed: arguments.seed, ..Answers::default() };
    for setting in &arguments.set {
        let (name, value) =
            setting.split_once('=').ok_or_else(|| anyhow!("--set takes NAME=VALUE, not {setting}"))?;
        world.set(&program, name, value).map_err(|why| anyhow!("--set {name}: {why}"))?;
    }
    let limits = interp::Limits { steps: arguments.steps, ..interp::Limits::default() };
    match interp::run(&program, &mut world, &mut (), limits) {
        Ok(finished) => {
            let text = interp::show(&finished.value, &finished.memory);
            match arguments.json {
                true => println!("{}", json!({ "result": "value", "value": text })),
                false => println!("{text}"),
            }
            Ok(Status::Clean)
        }
        Err(stop) => {
            let (result, status) = match &stop {
                Stop::Error { .. } => ("error", Status::Findings),
                Stop::Trap { .. } => ("trap", Status::Findings),
                Stop::Unanswered { .. } => ("unanswered", Status::BadInput),
                Stop::Bound { .. } => ("bound", Status::GaveUp),
            };
            if arguments.json {
                let (line, column) = file.position(stop.span().start);
                println!(
                    "{}",
                    json!({ "result": result, "line": line, "column": column, "message": stop.to_string() })
                );
                return Ok(status);
            }
            let mut diagnostic = Diagnostic::new(stop.span(), stop.to_string());
            if status == Status::BadInput {
                diagnostic = diagnostic.note("give a value with --set NAME=VALUE, or any with --seed N");
            }
            Err(Failure { status, message: diagnostic.render(&file) }.into())
        }
    }
}
