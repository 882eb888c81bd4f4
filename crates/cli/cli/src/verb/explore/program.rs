//! `parallax explore ... -- PROGRAM`: the inputs of a compiled program, by concolic execution.

use super::completeness;
use crate::verb::program_report;
use anyhow::{Context, Result, bail};
use clap::Args;
use parallax_cli_base::exit::{Failure, Status};
use parallax_cli_base::{coverage, report_file};
use parallax_concolic::{
    Allowed, Command, Exploration, ExploreError, Input, Kind, Outcome, Settings, Source, Sources,
    SubjectError, Test, call_site, explore,
};
use parallax_path::{Bound, Strategy};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Questions that take longer wait until other inputs have run.
const PATIENCE: Duration = Duration::from_millis(100);

/// The heading of flags for compiled programs.
pub const HEADING: &str = "Compiled programs (with -- PROGRAM)";

/// What to explore of a program, and how.
#[derive(Args)]
#[command(next_help_heading = HEADING)]
pub struct ProgramOptions {
    /// Argument I of the program is N unknown bytes, of which a NUL ends it early; repeat for more.
    #[arg(long, value_name = "I:N", requires = "program")]
    argv: Vec<String>,
    /// The value of an environment variable is N unknown bytes; repeat for more.
    #[arg(long, value_name = "NAME:N", requires = "program")]
    env: Vec<String>,
    /// Explore this function, from its call in a run of the program (FUNCTION#2: from the second) to its return, with the
    /// registers and memory unknown that --symbolic names.
    #[arg(long, value_name = "FUNCTION[#N]", requires = "program")]
    function: Option<String>,
    /// What is unknown when the function is called: a register (RDI), or N bytes of memory (`[RDI+8]:N`, `[NAME]:N`,
    /// `[0x404010]:N`); repeat for more.
    #[arg(long, value_name = "PLACE", requires = "function")]
    symbolic: Vec<String>,
    /// Find an input that reaches this function, this line, or the instruction at this address of the program (0x...);
    /// repeat for more.
    #[arg(long, value_name = "ADDR|NAME|FILE:LINE", requires = "program")]
    target: Vec<String>,
    /// End runs that come to this function, line or address; repeat for more.
    #[arg(long, value_name = "ADDR|NAME|FILE:LINE", requires = "program")]
    avoid: Vec<String>,
    /// Take non-linear operators and addresses that depend on the input at their values on each run, as SAGE did:
    /// faster, and inputs may miss what they were made for.
    #[arg(long, requires = "program")]
    approximate: bool,
    /// Take functions of the C library on strings and memory, and requests for memory, by what they do instead of by their
    /// instructions: one way for all lengths of a string.
    #[arg(long, requires = "program")]
    summaries: bool,
    /// Inputs to run in all.
    #[arg(long, value_name = "N", default_value_t = 10_000, requires = "program")]
    max_tests: u64,
    /// Write every input into this folder (default: a folder parallax-explore-N that is not there yet).
    #[arg(
        short,
        long,
        alias = "out",
        value_name = "FOLDER",
        requires = "program",
        conflicts_with = "resume"
    )]
    output: Option<PathBuf>,
    /// Go on with the exploration that this folder is of.
    #[arg(long, value_name = "FOLDER", requires = "program")]
    resume: Option<PathBuf>,
    /// Runs at once (default: one for each processor).
    #[arg(long, value_name = "N", requires = "program")]
    jobs: Option<usize>,
    /// Let runs connect to this address; they have the network of the machine then, and may reach nothing else of it. Repeat
    /// for more.
    #[arg(long, value_name = "ADDR:PORT", requires = "program")]
    allow_net: Vec<SocketAddr>,
    /// Let runs change this folder for good; repeat for more.
    #[arg(long, value_name = "FOLDER", requires = "program")]
    allow_write: Vec<PathBuf>,
    /// Write what each run changes of files below FOLDER/NUMBER (default: it is forgotten). The folder must be empty or not there.
    #[arg(long, value_name = "FOLDER", requires = "program", conflicts_with = "run_unjailed")]
    keep_world: Option<PathBuf>,
    /// A compiled program for x86-64 Linux, and its arguments.
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
}

/// Flags that programs share with C sources.
pub struct Common<'a> {
    /// Bytes of unknown standard input.
    pub stdin: u64,
    /// Unknown files, `PATH:N`.
    pub files: &'a [String],
    /// Which input runs next.
    pub strategy: Strategy,
    /// Seconds in all.
    pub time: f64,
    /// Seconds for one question to the solver.
    pub solver_time: f64,
    /// Instructions on one run.
    pub steps: u64,
    /// Megabytes of memory of a run.
    pub memory: Option<u64>,
    /// First inputs, each a file with the bytes of all unknown parts.
    pub seeds: &'a [String],
    /// Where to write which lines and branches were covered.
    pub coverage: Option<&'a Path>,
    /// Where to write reports of crashes.
    pub reports: &'a [PathBuf],
    /// One JSON document.
    pub json: bool,
    /// Whether runs may change and reach everything, by a person's word.
    pub unjailed: bool,
}

/// More unknown bytes than these are a slip of the finger.
const MOST_BYTES: usize = 1 << 20;

/// `NAME:N`.
fn sized<'t>(flag: &str, text: &'t str) -> Result<(&'t str, usize)> {
    let parts = text.rsplit_once([':', '=']).and_then(|(name, size)| Some((name, size.parse().ok()?)));
    match parts.filter(|(name, size)| !name.is_empty() && (1..=MOST_BYTES).contains(size)) {
        Some(parts) => Ok(parts),
        None => bail!(
            "--{flag} {text}: not a name and a number of bytes between 1 and {MOST_BYTES}, as in NAME:8"
        ),
    }
}

impl ProgramOptions {
    /// Whether there is a place to find.
    pub fn has_target(&self) -> bool {
        !self.target.is_empty()
    }

    fn sources(&self, common: &Common<'_>) -> Result<Sources> {
        let mut sources = Vec::new();
        if common.stdin as usize > MOST_BYTES {
            bail!("--stdin {}: more than {MOST_BYTES} bytes", common.stdin);
        }
        if common.stdin > 0 {
            sources.push(Source { kind: Kind::Stdin, bytes: common.stdin as usize });
        }
        for text in &self.argv {
            let (number, bytes) = sized("argv", text)?;
            let number = number.parse().ok().filter(|number| *number > 0);
            let number = number.with_context(|| format!("--argv {text}: arguments are numbered from 1"))?;
            sources.push(Source { kind: Kind::Argument(number), bytes });
        }
        for text in &self.env {
            let (name, bytes) = sized("env", text)?;
            sources.push(Source { kind: Kind::Environment(name.to_owned()), bytes });
        }
        for text in common.files {
            let (path, bytes) = sized("file", text)?;
            sources.push(Source { kind: Kind::File(PathBuf::from(path)), bytes });
        }
        if self.function.is_some() {
            if !sources.is_empty() {
                bail!("with --function, what is unknown is named by --symbolic: the input was read before");
            }
            if self.symbolic.is_empty() {
                bail!("nothing is unknown: say which register or memory is, with --symbolic");
            }
        } else if sources.is_empty() {
            bail!("nothing is unknown: say which input is, with --stdin, --argv, --env or --file");
        }
        Ok(Sources(sources))
    }

    /// The folder for inputs, and whether it is taken up again.
    fn folder(&self) -> (PathBuf, bool) {
        match (&self.resume, &self.output) {
            (Some(folder), _) => (folder.clone(), true),
            (None, Some(folder)) => (folder.clone(), false),
            (None, None) => {
                let free =
                    (0..).map(|n| PathBuf::from(format!("parallax-explore-{n}"))).find(|path| !path.exists());
                (free.expect("numbers do not end"), false)
            }
        }
    }
}

/// Explores a program.
pub fn run(options: &ProgramOptions, common: &Common<'_>) -> Result<Status> {
    let sources = options.sources(common)?;
    let (folder, resume) = options.folder();
    if !resume && folder.join("explore.jsonl").exists() {
        bail!(
            "{} holds an exploration already: go on with --resume {0}, or name another folder",
            folder.display()
        );
    }
    if let Some(folder) = &options.keep_world
        && std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
    {
        bail!("--keep-world {}: the folder is not empty", folder.display());
    }
    let seconds = |name: &str, value: f64| {
        Duration::try_from_secs_f64(value).with_context(|| format!("--{name} {value}: not a time"))
    };
    let seeds = common
        .seeds
        .iter()
        .filter(|seed| seed.parse::<u64>().is_err())
        .map(|file| {
            let mut bytes = std::fs::read(file).with_context(|| format!("cannot read {file}"))?;
            bytes.resize(sources.bytes(), 0);
            Ok(bytes)
        })
        .collect::<Result<Vec<Input>>>()?;
    let memory = common.memory.map_or(1 << 30, |megabytes| megabytes.saturating_mul(1 << 20));
    let settings = Settings {
        strategy: common.strategy,
        approximate: options.approximate,
        at: match &options.function {
            Some(text) => Some((text.parse()?, options.symbolic.clone())),
            None => None,
        },
        summaries: options.summaries,
        targets: options.target.clone(),
        avoid: options.avoid.clone(),
        tests: options.max_tests,
        time: seconds("time", common.time)?,
        solver_time: seconds("solver-time", common.solver_time)?,
        patience: PATIENCE,
        steps: common.steps,
        memory,
        term_memory: 4 << 30,
        jobs: options
            .jobs
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
            .max(1),
        stop_at_target: !options.target.is_empty(),
        folder: folder.clone(),
        resume,
        seeds,
        allowed: Allowed {
            everything: common.unjailed,
            network: options.allow_net.clone(),
            writable: options.allow_write.clone(),
        },
        keep_world: options.keep_world.clone(),
    };
    let command = Command { unjailed: common.unjailed, ..Command::here(&options.program) };
    let terminal = std::io::stderr().is_terminal();
    let mut shown = Instant::now();
    let (mut tests, mut crashes) = (0, 0);
    let mut progress = |test: &Test, waiting: usize| {
        tests += 1;
        crashes += usize::from(matches!(test.outcome, Outcome::Killed(..)));
        if terminal && shown.elapsed() > Duration::from_millis(200) {
            shown = Instant::now();
            eprint!("\r\x1b[K{tests} tests, {waiting} waiting, {crashes} crashes");
        }
    };
    let found = explore(&command, &sources, &settings, &mut progress);
    if terminal {
        eprint!("\r\x1b[K");
    }
    let found = found.map_err(|error| Failure {
        status: match error {
            ExploreError::Worker(_) => Status::Unsupported,
            ExploreError::Subject(SubjectError::Machine { .. }) => Status::Unsupported,
            _ => Status::BadInput,
        },
        message: error.to_string(),
    })?;
    if let Some(file) = common.coverage {
        coverage::save(file, &program_report::covered(&found), &[])?;
    }
    for file in common.reports {
        let title = report_file::title(&command.path);
        let mut document = program_report::crashes(&found);
        document.notes = found.completeness.lines(EVERY_WAY);
        report_file::save(file, document, Vec::new(), &title)?;
    }
    let mut out = std::io::stdout().lock();
    if common.json {
        writeln!(out, "{:#}", document(&found, &settings))?;
    } else {
        report(&mut out, &found, &settings)?;
    }
    Ok(if found.crashes().next().is_some() || found.reached.iter().any(Option::is_some) {
        Status::Findings
    } else {
        completeness::status(&found.completeness)
    })
}

/// What is said where nothing was left out.
const EVERY_WAY: &str = "every way was taken";

/// Why the search ended.
fn stopped(found: &Exploration, settings: &Settings) -> String {
    if settings.stop_at_target && found.reached.iter().all(Option::is_some) {
        return String::from("the target was reached");
    }
    if found.completeness.is_complete() {
        return String::from(EVERY_WAY);
    }
    let bounds: Vec<String> = found.completeness.bounds().map(Bound::to_string).collect();
    bounds.join("; ")
}

fn mean(found: &Exploration, of: impl Fn(&Test) -> f64) -> f64 {
    let sum: f64 = found.tests.iter().map(of).sum();
    sum / found.tests.len().max(1) as f64
}

fn total(found: &Exploration, index: usize) -> f64 {
    found.tests.iter().map(|test| test.seconds[index]).sum()
}

/// How far into their runs the diverging inputs came, on average, in hundredths of the run.
fn distance(found: &Exploration) -> Option<f64> {
    let distances: Vec<f64> = found
        .tests
        .iter()
        .filter_map(|test| Some(100.0 * test.diverged? as f64 / test.instructions.max(1) as f64))
        .collect();
    (!distances.is_empty()).then(|| distances.iter().sum::<f64>() / distances.len() as f64)
}

fn signal_name(signal: i32) -> String {
    Outcome::Killed(signal, String::new()).to_string()
}

/// Where a run ended, innermost first, with the lines of the source where they are known.
fn frames(found: &Exploration, test: &Test) -> Vec<String> {
    let places = test.backtrace.iter().zip(&test.stack).enumerate();
    places
        .map(|(level, (frame, address))| match program_report::line(found, call_site(level, *address)) {
            Some(line) => format!("{frame} at {line}"),
            None => frame.clone(),
        })
        .collect()
}

fn document(found: &Exploration, settings: &Settings) -> Value {
    let file = |test: &Test| test.files.first().map(|path| path.display().to_string());
    let tests: Vec<Value> = found
        .tests
        .iter()
        .map(|test| {
            let (exit, signal) = match test.outcome {
                Outcome::Exited(status) => (Some(status), None),
                Outcome::Killed(signal, _) => (None, Some(signal)),
                _ => (None, None),
            };
            let returned = match test.outcome {
                Outcome::Returned(value) => Some(value),
                _ => None,
            };
            let world = test.world.as_ref().map(|world| {
                json!({ "written": world.written, "removed": world.removed, "left_out": world.left_out })
            });
            json!({
                "world": world,
                "file": file(test), "files": test.files, "number": test.number, "parent": test.parent,
                "exit": exit, "signal": signal, "returned": returned, "outcome": test.outcome.to_string(),
                "instructions": test.instructions, "evaluated": test.evaluated, "branches": test.branches,
                "constraints": test.constraints, "diverged": test.diverged.is_some(),
                "seconds": { "concrete": test.seconds[0], "symbolic": test.seconds[1], "solver": test.seconds[2] },
            })
        })
        .collect();
    let targets: Vec<Value> = settings
        .targets
        .iter()
        .zip(&found.reached)
        .map(|(name, reached)| {
            let test = reached.and_then(|number| found.tests.iter().find(|test| test.number == number));
            json!({ "name": name, "reached": test.is_some(), "input": test.and_then(file) })
        })
        .collect();
    let crashes: Vec<Value> = found
        .crashes()
        .map(|test| {
            let Outcome::Killed(signal, why) = &test.outcome else { unreachable!("a crash is one by a signal") };
            json!({ "input": file(test), "signal": signal, "name": signal_name(*signal), "why": why, "backtrace": frames(found, test) })
        })
        .collect();
    let count = found.tests.len().max(1) as f64;
    json!({
        "tests": tests,
        "target": targets.first(),
        "targets": targets,
        "crashes": crashes,
        "divergences": found.divergences(),
        "divergence_rate": found.divergences() as f64 / count,
        "distance": distance(found),
        "averages": {
            "instructions": mean(found, |test| test.instructions as f64),
            "branches": mean(found, |test| test.branches as f64),
            "constraints": mean(found, |test| test.constraints.unwrap_or(0) as f64),
        },
        "coverage": {
            "blocks": found.coverage.blocks, "own_blocks": found.coverage.own_blocks, "edges": found.coverage.edges,
        },
        "seconds": {
            "concrete": total(found, 0), "symbolic": total(found, 1), "solver": total(found, 2), "all": found.seconds,
        },
        "approximate": settings.approximate,
        "start": found.start,
        "folder": settings.folder,
        "world": match (settings.allowed.everything, &found.no_layer) {
            (true, _) => json!({ "layer": null, "reason": "--run-unjailed" }),
            (false, Some(why)) => json!({ "layer": null, "reason": why }),
            (false, None) => json!({
                "layer": "copy-on-write", "allow_net": settings.allowed.network, "allow_write": settings.allowed.writable,
                "kept": settings.keep_world,
            }),
        },
        "waiting": found.waiting,
        "complete": found.completeness.is_complete(),
        "bounds": completeness::bounds(&found.completeness),
        "stopped": stopped(found, settings),
    })
}

fn report(out: &mut impl Write, found: &Exploration, settings: &Settings) -> Result<()> {
    let file = |test: &Test| test.files.first().map_or_else(String::new, |path| path.display().to_string());
    for (name, reached) in settings.targets.iter().zip(&found.reached) {
        match reached.and_then(|number| found.tests.iter().find(|test| test.number == number)) {
            Some(test) => writeln!(out, "target {name}: reached by {}", file(test))?,
            None => writeln!(out, "target {name}: not reached")?,
        }
    }
    // The first input of each crash; the others are in the folder, and in the document.
    for test in found.distinct_crashes() {
        writeln!(out, "{}: {}", file(test), test.outcome)?;
        for frame in frames(found, test) {
            writeln!(out, "    {frame}")?;
        }
    }
    let count = found.tests.len();
    let per = |seconds: f64| 1000.0 * seconds / count.max(1) as f64;
    writeln!(
        out,
        "{count} tests in {} ({:.1} s), {} waiting",
        settings.folder.display(),
        found.seconds,
        found.waiting
    )?;
    writeln!(out, "runs begin at {}", found.start)?;
    if let Some(why) = &found.no_layer {
        writeln!(out, "no layer for what runs change: a change ends a run ({why})")?;
    }
    if let Some(folder) = &settings.keep_world {
        worlds(out, found, folder)?;
    }
    writeln!(
        out,
        "a test: {:.0} instructions, {:.0} branches, {:.1} constraints; {:.2} ms concrete, {:.2} ms symbolic, {:.2} ms solver",
        mean(found, |test| test.instructions as f64),
        mean(found, |test| test.branches as f64),
        mean(found, |test| test.constraints.unwrap_or(0) as f64),
        per(total(found, 0)),
        per(total(found, 1)),
        per(total(found, 2)),
    )?;
    let rate = 100.0 * found.divergences() as f64 / count.max(1) as f64;
    match distance(found) {
        None => writeln!(out, "divergences: 0 (0 %)")?,
        Some(far) => {
            writeln!(out, "divergences: {} ({rate:.0} %), after {far:.0} % of the run", found.divergences())?
        }
    }
    for test in found.tests.iter().filter(|test| test.diverged.is_some()).take(10) {
        writeln!(out, "    {} after {} instructions", file(test), test.diverged.unwrap_or(0))?;
    }
    writeln!(
        out,
        "coverage: {} blocks ({} of the program itself), {} edges",
        found.coverage.blocks, found.coverage.own_blocks, found.coverage.edges
    )?;
    writeln!(out, "stopped: {}", stopped(found, settings))?;
    // A search that ended as it was asked to leaves out the rest.
    let is_done = settings.stop_at_target && found.reached.iter().all(Option::is_some);
    for line in found.completeness.lines(EVERY_WAY).iter().filter(|line| !is_done && *line != EVERY_WAY) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Worlds that are listed one by one; the others are in the document and in the folder.
const MOST_WORLDS: usize = 10;

/// What runs changed, as it was kept.
fn worlds(out: &mut impl Write, found: &Exploration, folder: &Path) -> Result<()> {
    let changed: Vec<_> =
        found.tests.iter().filter_map(|test| Some((test.number, test.world.as_ref()?))).collect();
    let all = found.tests.len();
    writeln!(
        out,
        "{} of {all} runs changed files; what they changed is in {}",
        changed.len(),
        folder.display()
    )?;
    for (number, world) in changed.iter().take(MOST_WORLDS) {
        let place = folder.join(parallax_concolic::name(*number));
        let (written, removed) = (world.written.len(), world.removed.len());
        write!(out, "    {}: {written} written, {removed} removed", place.display())?;
        match world.left_out.iter().next() {
            None => writeln!(out)?,
            Some((path, why)) => {
                writeln!(out, ", {} not kept ({}: {why})", world.left_out.len(), path.display())?;
            }
        }
    }
    Ok(())
}
