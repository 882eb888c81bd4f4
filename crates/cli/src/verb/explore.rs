//! `parallax explore`: every path of a C program, and what goes wrong on it; with `--`, of a compiled one.

use super::c_input::{input, shown, write_tests};
use super::c_sources::{CFlags, CSources};
use super::coverage;
use super::explore_program::{self, Common, ProgramOptions};
use crate::exit::{Failure, Status};
use crate::report_file;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use parallax_cexplore::confirm::{Replay, replay, user_place};
use parallax_cexplore::explore::{
    Argument, Entry, Exploration, ExploreError, Finding, Globals, Input, LoopBound, Settings, explore,
    explore_input,
};
use parallax_cexplore::native::{self, Native};
use parallax_cexplore::{Program, callers, ktest, minimise, program};
use parallax_cmachine::{Aliasing, Checks, Problem};
use parallax_path::{Bound, Strategy};
use parallax_report::{
    Document, Frame, Location, PathBuilder, Report, Role, Segment, Severity, Step as ReportStep, Tool,
};
use parallax_term::Store;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Explore the paths of a C program, or of a compiled one (-- PROGRAM), and report what goes wrong with an input that
/// shows it.
#[derive(Args)]
#[command(after_help = "\
Examples:
  parallax explore corpus/c/find/maze.c --stdin 12
  parallax explore corpus/c/find/list_remove.c --entry remove_item
  parallax explore --argv 1:4 --max-tests 20 --out /tmp/inputs -- /bin/expr 1 + 2

With FILE, C sources are read; with -- PROGRAM, a compiled program for x86-64 Linux runs in the emulator, once for
each input. --stdin, --file PATH:N, --strategy, --time, --steps, --memory, --solver-time, --seed FILE and --json are for
both; the flags under \"Compiled programs\" are for programs only, and all others for C only. Of a program: exit status
0 every way was taken, 1 a crash was found or a target reached, 4 a bound was hit.

C sources:

Inputs are what harness functions of KLEE or SV-COMP return, unknown arguments (--sym-arg), standard input
(--stdin), or, with --entry, the arguments, globals and memory of a function. Each finding is replayed in the
concrete reading and natively under AddressSanitizer. Exit status: 0 nothing found and every path explored,
1 something found, 3 code that is not supported was reached, 4 a bound was hit.")]
pub struct Explore {
    /// C files, LLVM modules (.bc, .ll), or a compile_commands.json.
    #[arg(required_unless_present = "program", conflicts_with = "program", value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    flags: CFlags,
    #[command(flatten)]
    compiled: ProgramOptions,
    /// Start at this function, with unknown arguments, globals and memory.
    #[arg(long, value_name = "FUNCTION")]
    entry: Option<String>,
    /// Enter the function of --entry as its callers do: start so many calls further up, and report what goes wrong in
    /// the function or below it.
    #[arg(long, value_name = "LEVELS", num_args = 0..=1, default_missing_value = "1", requires = "entry", conflicts_with = "tests")]
    callers: Option<u32>,
    /// An argument of the program; repeat for more.
    #[arg(long = "arg", value_name = "TEXT")]
    arguments: Vec<String>,
    /// An unknown argument of at most so many bytes, after those given; repeat for more.
    #[arg(long = "sym-arg", value_name = "BYTES")]
    unknown_arguments: Vec<u64>,
    /// Between MIN and MAX further unknown arguments of at most so many bytes each.
    #[arg(long = "sym-args", value_names = ["MIN", "MAX", "BYTES"], num_args = 3)]
    more_arguments: Vec<u64>,
    /// A file with so many unknown bytes; repeat for more.
    #[arg(long = "file", value_name = "NAME=BYTES|PATH:N")]
    unknown_files: Vec<String>,
    /// A variable of the environment; the others are not set. Repeat for more.
    #[arg(long = "set-env", value_name = "NAME=TEXT")]
    variables: Vec<String>,
    /// A variable of the environment with unknown text of at most so many bytes; repeat for more.
    #[arg(long = "sym-env", value_name = "NAME=BYTES")]
    unknown_variables: Vec<String>,
    /// Let so many system calls on files fail although they need not, whichever they are.
    #[arg(long, value_name = "N", default_value_t = 0)]
    fail: u32,
    /// Bytes of unknown standard input.
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    stdin: u64,
    /// Which state runs next; of a compiled program, which input (default: interleaved for C, generational for programs).
    #[arg(long, value_enum)]
    strategy: Option<Order>,
    /// Seed of random choices; or the file of an input (.ktest) whose path is looked at first, repeatable.
    #[arg(long = "seed", value_name = "N|FILE")]
    seeds: Vec<String>,
    /// Times one call may take an undecided branch of one block.
    #[arg(long, value_name = "N", default_value_t = 64)]
    loops: u32,
    /// Undecided branches on one path.
    #[arg(long, value_name = "N", default_value_t = 512)]
    depth: u32,
    /// Paths in all.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    paths: u64,
    /// Instructions on one path (default: 5 million of C, 100 million of a compiled program).
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// Instructions on all paths of C together.
    #[arg(long, value_name = "N", conflicts_with = "program")]
    instructions: Option<u64>,
    /// Live states.
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    states: usize,
    /// Seconds in all.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    time: f64,
    /// Megabytes of memory in all.
    #[arg(long, value_name = "MB")]
    memory: Option<u64>,
    /// Seconds for one question to the solver.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    solver_time: f64,
    /// Also report signed overflow.
    #[arg(long)]
    overflow: bool,
    /// Also report shifts by the width of the operand or more.
    #[arg(long)]
    shifts: bool,
    /// Also report unsigned arithmetic that wraps around.
    #[arg(long)]
    unsigned_overflow: bool,
    /// Also report implicit conversions that change a value.
    #[arg(long)]
    conversions: bool,
    /// Also report floating-point divisions by zero, results that are not numbers, and conversions that do not fit.
    #[arg(long)]
    floats: bool,
    /// Report only mistakes of this kind; repeat for more.
    #[arg(long, value_name = "KIND", value_parser = kind)]
    only: Vec<Problem>,
    /// End with the first finding.
    #[arg(long)]
    first: bool,
    /// Times one call may take the undecided branches of a line, instead of --loops; repeat for more.
    #[arg(long = "loop-bound", value_name = "[FILE:]LINE=N", value_parser = loop_bound)]
    loop_bounds: Vec<LoopBound>,
    /// Do not report leaks.
    #[arg(long)]
    no_leaks: bool,
    /// Let malloc and its relatives fail, too.
    #[arg(long)]
    failing_malloc: bool,
    /// Merge states where the ways of a branch meet again, instead of following each way by itself to the end.
    #[arg(long)]
    merge: bool,
    /// Where unknown pointers may point (with --entry).
    #[arg(long, value_enum, default_value_t = Alias::Auto)]
    aliasing: Alias,
    /// Elements of an unknown array (with --entry).
    #[arg(long, value_name = "N", default_value_t = 4)]
    array: u64,
    /// Pointers from an argument to the furthest unknown object (with --entry).
    #[arg(long, value_name = "N", default_value_t = 4)]
    chain: u32,
    /// What global variables hold (with --entry).
    #[arg(long, value_enum, default_value_t = GlobalsAre::Unknown)]
    globals: GlobalsAre,
    /// Unknown text ends with a NUL (with --entry).
    #[arg(long)]
    strings: bool,
    /// Do not run findings natively.
    #[arg(long)]
    no_native: bool,
    /// Write one test per path into this folder: the input, as JSON and for KLEE's tools, and a C driver.
    #[arg(long, value_name = "FOLDER")]
    tests: Option<PathBuf>,
    /// Of the tests, write only those that add coverage, and the first of each kind of mistake.
    #[arg(long, requires = "tests")]
    minimise: bool,
    /// Write which lines and branches were covered: a page with the source (.html), Cobertura's XML
    /// (.xml), or a trace file of lcov.
    #[arg(long, value_name = "FILE")]
    coverage: Option<PathBuf>,
    /// Write the findings and their paths as a report: a page (.html), SARIF (.sarif), pathreport XML (.xml) or Parallax
    /// JSON (.json).
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// More unknown arguments and bytes than these are a slip of the finger.
const MOST_ARGUMENTS: u64 = 64;
const MOST_BYTES: u64 = 1 << 20;

/// A kind of mistake, by its name.
fn kind(name: &str) -> std::result::Result<Problem, String> {
    Problem::named(name).ok_or_else(|| {
        let names: Vec<&str> = Problem::ALL.into_iter().map(Problem::name).collect();
        format!("no kind of mistake; these are: {}", names.join(", "))
    })
}

/// `[FILE:]LINE=N`.
fn loop_bound(text: &str) -> std::result::Result<LoopBound, String> {
    let parsed = text.rsplit_once('=').and_then(|(place, times)| {
        let (file, line) = place.rsplit_once(':').unwrap_or(("", place));
        Some(LoopBound { file: file.into(), line: line.parse().ok()?, times: times.parse().ok()? })
    });
    parsed.ok_or_else(|| "not [FILE:]LINE=N".into())
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// The newest state.
    #[value(alias = "dfs")]
    Depth,
    /// The oldest state: generation by generation.
    #[value(alias = "generational")]
    Breadth,
    /// A random state.
    Random,
    /// A state that is about to run new code.
    Coverage,
    /// One that is about to run new code; without one, deep, random and newest states in turns.
    Interleaved,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Alias {
    /// Strict, but into structures where the program looks at parts of them.
    Auto,
    /// The start of an object of their type.
    Strict,
    /// Any element of an array of their type.
    Elem,
    /// Any part of an object that has their type.
    Sub,
    /// Any place of any object.
    Raw,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GlobalsAre {
    /// Anything, but for constants and static variables that nothing writes.
    Unknown,
    /// Anything where some code of the program writes, initialisers elsewhere.
    Reachable,
    /// Their initialisers.
    Initial,
}

impl Explore {
    /// The program from `main`, with the arguments, standard input and files that the flags say.
    fn main_entry(&self) -> Result<Entry> {
        let known = self.arguments.iter().map(|text| Argument::Known(text.clone().into_bytes()));
        let unknown = self.unknown_arguments.iter().map(|&len| Argument::Unknown(len));
        let mut arguments: Vec<Argument> = known.chain(unknown).collect();
        if let [fewest, most, len] = self.more_arguments[..] {
            let numbers = 0..most.max(fewest).min(MOST_ARGUMENTS);
            arguments.extend(numbers.map(|number| match number < fewest {
                true => Argument::Unknown(len),
                false => Argument::Optional(len),
            }));
        }
        let sized = |option: &str, given: &String| {
            let parts = given.rsplit_once('=').and_then(|(name, len)| Some((name, len.parse().ok()?)));
            let Some((name, len)) = parts.filter(|(name, len)| !name.is_empty() && *len <= MOST_BYTES) else {
                anyhow::bail!("--{option} {given}: not NAME=BYTES, with at most {MOST_BYTES} bytes");
            };
            Ok((name.to_string(), len))
        };
        let files = self.unknown_files.iter().map(|given| sized("file", given)).collect::<Result<_>>()?;
        let mut environment = Vec::new();
        for given in &self.variables {
            let Some((name, text)) = given.split_once('=').filter(|(name, _)| !name.is_empty()) else {
                anyhow::bail!("--set-env {given}: not NAME=TEXT");
            };
            environment.push((name.to_string(), Argument::Known(text.as_bytes().to_vec())));
        }
        for given in &self.unknown_variables {
            let (name, len) = sized("sym-env", given)?;
            environment.push((name, Argument::Unknown(len)));
        }
        Ok(Entry::Main { arguments, stdin: self.stdin, files, environment })
    }

    fn strategy(&self, default: Order) -> Strategy {
        match self.strategy.unwrap_or(default) {
            Order::Depth => Strategy::Depth,
            Order::Breadth => Strategy::Breadth,
            Order::Random => Strategy::Random,
            Order::Coverage => Strategy::Coverage,
            Order::Interleaved => Strategy::Interleaved,
        }
    }

    /// What a compiled program takes of the flags for both.
    fn common(&self) -> Common<'_> {
        Common {
            stdin: self.stdin,
            files: &self.unknown_files,
            // With something to look for, what is nearest to it comes first.
            strategy: self.strategy(if self.compiled.has_target() {
                Order::Coverage
            } else {
                Order::Breadth
            }),
            time: self.time,
            solver_time: self.solver_time,
            steps: self.steps.unwrap_or(100_000_000),
            memory: self.memory,
            seeds: &self.seeds,
            coverage: self.coverage.as_deref(),
            report: self.report.as_deref(),
            json: self.json,
        }
    }

    fn settings(&self) -> Result<Settings> {
        let seconds = |name: &str, value: f64| {
            Duration::try_from_secs_f64(value).with_context(|| format!("--{name} {value}: not a time"))
        };
        let entry = match &self.entry {
            Some(name) => Entry::Function(name.clone()),
            None => self.main_entry()?,
        };
        Ok(Settings {
            leaks: !self.no_leaks && matches!(entry, Entry::Main { .. }),
            entry,
            strategy: self.strategy(Order::Interleaved),
            seed: self.seeds.iter().rev().find_map(|seed| seed.parse().ok()).unwrap_or(1),
            loops: self.loops,
            depth: self.depth,
            paths: self.paths,
            steps: self.steps.unwrap_or(5_000_000),
            instructions: self.instructions,
            states: self.states,
            time: seconds("time", self.time)?,
            memory: self.memory.map(|megabytes| megabytes.saturating_mul(1 << 20)),
            solver_time: seconds("solver-time", self.solver_time)?,
            checks: Checks { overflow: self.overflow, shifts: self.shifts, floats: self.floats },
            only: self.only.clone(),
            first: self.first,
            loop_bounds: self.loop_bounds.clone(),
            failing_allocation: self.failing_malloc,
            failing_calls: self.fail,
            random_inputs: false,
            aliasing: match self.aliasing {
                Alias::Auto => Aliasing::Auto,
                Alias::Strict => Aliasing::Strict,
                Alias::Elem => Aliasing::Elem,
                Alias::Sub => Aliasing::Sub,
                Alias::Raw => Aliasing::Raw,
            },
            array: self.array.clamp(1, 256),
            chain: self.chain,
            strings: self.strings,
            globals: match self.globals {
                GlobalsAre::Unknown => Globals::Unknown,
                GlobalsAre::Reachable => Globals::Reachable,
                GlobalsAre::Initial => Globals::Initial,
            },
            merge: self.merge,
            tests: self.tests.is_some(),
            ..Settings::default()
        })
    }
}

impl Explore {
    /// Inputs whose paths are looked at first, with their files.
    fn seed_inputs(&self) -> Result<Vec<(PathBuf, Input)>> {
        let files = self.seeds.iter().filter(|seed| seed.parse::<u64>().is_err()).map(PathBuf::from);
        files
            .map(|file| {
                let bytes =
                    std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
                let input = ktest::read(&bytes).with_context(|| file.display().to_string())?;
                Ok((file, input))
            })
            .collect()
    }
}

/// Does it.
pub fn run(arguments: &Explore) -> Result<Status> {
    if !arguments.compiled.program.is_empty() {
        return explore_program::run(&arguments.compiled, &arguments.common());
    }
    let mut settings = arguments.settings()?;
    let sources = CSources { files: arguments.files.clone(), flags: arguments.flags.clone() };
    let instruments =
        program::instruments(arguments.unsigned_overflow, arguments.conversions, arguments.floats);
    let mut program = sources.load_instrumented(instruments)?;
    if arguments.entry.is_some() {
        program.annotate()?;
    }
    settings.random_inputs = program.seeds_unknown();
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    let terminal = std::io::stderr().is_terminal();
    let mut shown = Instant::now();
    let mut progress = |paths: u64, states: usize, findings: usize| {
        if terminal && shown.elapsed() > Duration::from_millis(200) {
            shown = Instant::now();
            eprint!("\r{paths} paths, {states} states, {findings} findings   ");
        }
    };
    let seeds = arguments.seed_inputs()?;
    let mut seeded = Vec::new();
    for (file, seed) in &seeds {
        let solver = parallax_smt::solver(&store);
        let one = explore_input(&store, &program.module, &settings, solver, Some(seed), &mut progress);
        seeded.extend(one.map_err(|error| anyhow::anyhow!("{}: {error}", file.display()))?.findings);
    }
    let explored = match arguments.callers {
        None => explore(&store, &program.module, &settings, solver, &mut progress),
        Some(levels) => from_callers(arguments, &program, &settings, levels, &mut progress)?,
    };
    if terminal {
        eprint!("\r{:50}\r", "");
    }
    let explored = explored.map_err(|error| Failure {
        status: match error {
            ExploreError::NoEntry(_) => Status::BadInput,
            ExploreError::Unsupported(_) => Status::Unsupported,
        },
        message: error.to_string(),
    })?;
    let mut explored = explored;
    adopt(&program, &mut explored, seeded);
    if arguments.minimise {
        let mut kept = minimise::kept(&program, &settings, &explored.records).into_iter().peekable();
        let mut number = 0..;
        explored.records.retain(|_| kept.next_if_eq(&number.next().unwrap_or(0)).is_some());
    }
    let findings = confirmed(arguments, &program, &settings, &explored)?;
    if let Some(file) = &arguments.coverage {
        coverage::save(file, &explored.covered, &[])?;
    }
    if let Some(folder) = &arguments.tests {
        write_tests(folder, &program, &settings, &explored)?;
    }
    if let Some(file) = &arguments.report {
        let document = path_report(&program, &findings);
        let folders = program.units.iter().filter_map(|(file, _)| report_file::folder(file)).collect();
        report_file::save(file, document, folders, &program.module.name)?;
    }
    let mut out = std::io::stdout().lock();
    if arguments.json {
        writeln!(out, "{:#}", document(&program, &explored, &findings))?;
    } else {
        report(&mut out, &program, &explored, &findings)?;
    }
    Ok(if findings.first().is_some_and(|best| best.verdict() == Verdict::Confirmed) {
        Status::Findings
    } else if !findings.is_empty() {
        Status::GaveUp
    } else if explored.completeness.bounds().any(Bound::is_unsupported) {
        Status::Unsupported
    } else if !explored.completeness.is_complete() {
        Status::GaveUp
    } else {
        Status::Clean
    })
}

/// Explores a function from its callers.
fn from_callers(
    arguments: &Explore,
    program: &Program,
    settings: &Settings,
    levels: u32,
    progress: &mut dyn FnMut(u64, usize, usize),
) -> Result<std::result::Result<Exploration, ExploreError>> {
    let module = &program.module;
    let name = arguments.entry.as_deref().unwrap_or_default();
    let function =
        module.function_named(name).with_context(|| format!("the program has no function {name}"))?;
    let starts = callers::starts(module, function, levels);
    if starts.is_empty() {
        anyhow::bail!("nothing in the program calls {name} by its name: explore it without --callers");
    }
    let share = settings.time / starts.len() as u32;
    let mut whole: Option<Exploration> = None;
    for &start in &starts {
        let name = &module.function(start).name;
        let entry = match name.as_str() {
            "main" => arguments.main_entry()?,
            _ => Entry::Function(name.clone()),
        };
        let settings = Settings { entry, time: share, ..settings.clone() };
        let store = Store::new();
        let part = match explore(&store, module, &settings, parallax_smt::solver(&store), progress) {
            Ok(part) => part,
            Err(error) => return Ok(Err(error)),
        };
        whole = Some(match whole {
            None => {
                let mut part = part;
                part.findings.retain(|finding| callers::concerns(finding, function));
                part
            }
            Some(whole) => callers::joined(module, whole, part, function),
        });
    }
    let mut whole = whole.context("nothing was explored")?;
    for call in callers::calls(module, function) {
        let place = module.location(call.at);
        let caller = &module.function(call.caller).name;
        let words =
            format!("{name} is entered as {caller} calls it ({}:{})", module.file_of(call.at), place.line);
        whole.assumptions.insert(words);
    }
    Ok(Ok(whole))
}

/// Findings on the paths of given inputs come first; those that were found again are not listed twice.
fn adopt(program: &Program, explored: &mut Exploration, seeded: Vec<Finding>) {
    let key = |finding: &Finding| (finding.problem, user_place(&program.module, &finding.stack));
    let mut all: Vec<Finding> = Vec::new();
    for finding in seeded.into_iter().chain(std::mem::take(&mut explored.findings)) {
        if all.iter().all(|other| key(other) != key(&finding)) {
            all.push(finding);
        }
    }
    explored.findings = all;
}

/// A finding with what running it said.
struct Confirmed<'e> {
    finding: &'e Finding,
    replay: Replay,
    native: Native,
}

/// What running a finding's input came to; the better ones first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// It happens: natively, or in the concrete reading where it could not be run natively.
    Confirmed,
    /// It did not happen in the concrete reading, and could not be run natively.
    Unconfirmed,
    /// Natively something else happened.
    Refuted,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Confirmed => "confirmed",
            Verdict::Unconfirmed => "unconfirmed",
            Verdict::Refuted => "refuted",
        }
    }
}

impl Confirmed<'_> {
    fn verdict(&self) -> Verdict {
        match &self.native {
            Native::Confirmed => Verdict::Confirmed,
            Native::Differs(_) => Verdict::Refuted,
            Native::NotRun(_) if self.replay.confirmed => Verdict::Confirmed,
            Native::NotRun(_) => Verdict::Unconfirmed,
        }
    }
}

fn confirmed<'e>(
    arguments: &Explore,
    program: &Program,
    settings: &Settings,
    explored: &'e Exploration,
) -> Result<Vec<Confirmed<'e>>> {
    let folder = std::env::temp_dir().join(format!("parallax-native-{}", std::process::id()));
    let mut results = Vec::new();
    for finding in &explored.findings {
        let settings = &Settings { entry: finding.entry.clone(), ..settings.clone() };
        let replay = replay(program, finding, settings);
        let native = if arguments.no_native {
            Native::NotRun("not asked for".into())
        } else {
            std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
            native::confirm(program, finding, settings, &folder)
        };
        results.push(Confirmed { finding, replay, native });
    }
    results.sort_by_key(Confirmed::verdict);
    // Nothing depends on the folder any more; if it cannot be removed, it is only in the way.
    let _ = std::fs::remove_dir_all(&folder);
    Ok(results)
}

/// Findings in the path model that every tool's reports share: the way there, call by call, as the replay took it.
fn path_report(program: &Program, findings: &[Confirmed<'_>]) -> Document {
    let mut document = Document::default();
    for confirmed in findings {
        let finding = confirmed.finding;
        let (_, location) = user_place(&program.module, &finding.stack);
        let place = program.module.location(location);
        let file = program.module.file_of(location);
        let mut path = PathBuilder::new("");
        let mut open: Vec<(&str, u32)> = Vec::new();
        for (index, step) in confirmed.replay.path.iter().enumerate() {
            // Each frame by its function and the line it was called from; those that two places share stay open.
            let called_from = step.callers.iter().map(|(_, _, line)| *line);
            let functions =
                step.callers.iter().map(|(function, _, _)| function.as_str()).chain([step.function.as_str()]);
            let wanted: Vec<(&str, u32)> = functions.zip([0].into_iter().chain(called_from)).collect();
            let shared = open.iter().zip(&wanted).take_while(|(a, b)| a == b).count();
            path.leave_to(shared);
            for (depth, (function, line)) in wanted.iter().enumerate().skip(shared) {
                if depth > 0 {
                    path.step(ReportStep::call(&step.callers[depth - 1].1, *line));
                }
                let file = step.callers.get(depth).map_or(&step.file, |(_, file, _)| file);
                path.enter(Frame::new(*function, file));
            }
            open = wanted;
            let mut shown = match step.taken {
                Some(taken) => ReportStep::new(Role::Branch, &step.file, step.line).with_taken(taken),
                None => ReportStep::new(Role::Note, &step.file, step.line),
            };
            for (name, value) in &step.values {
                shown = shown.with_value(name, value);
            }
            if index + 1 == confirmed.replay.path.len() {
                shown = shown.with_message(&finding.detail).failing();
            }
            path.step(shown);
        }
        document.reports.push(Report {
            rule: finding.problem.name().into(),
            title: format!("{}: {}", finding.problem.name(), finding.detail),
            text: vec![Segment::plain(match shown(&finding.input) {
                Some(input) => format!("{} Input: {input}", finding.detail),
                None => finding.detail.clone(),
            })],
            severity: if confirmed.replay.confirmed { Severity::Error } else { Severity::Warning },
            tool: Tool { name: "parallax explore".into(), version: Some(env!("CARGO_PKG_VERSION").into()) },
            location: Some(Location::line(file, place.line).at_column(place.column)),
            paths: vec![path.finish()],
            ..Report::default()
        });
    }
    document
}

fn document(program: &Program, explored: &Exploration, findings: &[Confirmed<'_>]) -> Value {
    let findings: Vec<Value> = findings
        .iter()
        .map(|confirmed| {
            let finding = confirmed.finding;
            let (function, location) = user_place(&program.module, &finding.stack);
            let place = program.module.location(location);
            json!({
                "kind": finding.problem.name(),
                "message": finding.detail,
                "file": program.module.file_of(location),
                "line": place.line,
                "column": place.column,
                "function": program.module.function(function).name,
                "verdict": confirmed.verdict().name(),
                "confirmed": confirmed.replay.confirmed || confirmed.native == Native::Confirmed,
                "replay": confirmed.replay.confirmed,
                "native": match &confirmed.native {
                    Native::Confirmed => json!("confirmed"),
                    Native::Differs(words) => json!(format!("differs: {words}")),
                    Native::NotRun(words) => json!(format!("not run: {words}")),
                },
                "input": input(&finding.input),
                "path": confirmed.replay.path.iter().map(|step| json!({
                    "function": step.function, "file": step.file, "line": step.line, "taken": step.taken,
                    "values": step.values.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
                })).collect::<Vec<_>>(),
            })
        })
        .collect();
    let coverage = explored.coverage;
    json!({
        "findings": findings,
        "paths": explored.paths,
        "complete": explored.completeness.is_complete(),
        "bounds": explored.completeness.bounds().map(|bound| json!({"name": bound.name(), "message": bound.to_string()})).collect::<Vec<_>>(),
        "assumptions": explored.assumptions,
        "coverage": {
            "lines": coverage.lines, "lines_covered": coverage.lines_covered,
            "branches": coverage.branches, "branches_covered": coverage.branches_covered,
        },
        "instructions": explored.steps,
        "queries": explored.queries,
    })
}

fn report(
    out: &mut impl Write,
    program: &Program,
    explored: &Exploration,
    findings: &[Confirmed<'_>],
) -> Result<()> {
    for confirmed in findings {
        let finding = confirmed.finding;
        let (function, location) = user_place(&program.module, &finding.stack);
        let place = program.module.location(location);
        let file = program.module.file_of(location);
        writeln!(out, "{}: {}", finding.problem.name(), finding.detail)?;
        writeln!(
            out,
            "  --> {file}:{}:{} in {}",
            place.line,
            place.column,
            program.module.function(function).name
        )?;
        if let Some(line) = source_line(file, place.line) {
            writeln!(out, "   |  {}", line.trim_end())?;
        }
        for (caller, at) in finding.stack.iter().filter(|(f, at)| (*f, *at) != (function, location)) {
            let caller_name = &program.module.function(*caller).name;
            let at_place = program.module.location(*at);
            if !program.module.function(*caller).library {
                writeln!(
                    out,
                    "   = called from {caller_name}, {}:{}",
                    program.module.file_of(*at),
                    at_place.line
                )?;
            }
        }
        if let Some(input) = shown(&finding.input) {
            writeln!(out, "   = input: {input}")?;
        }
        let native = match &confirmed.native {
            Native::Confirmed => "natively too".to_string(),
            Native::Differs(words) => format!("but natively: {words}"),
            Native::NotRun(words) => format!("not natively: {words}"),
        };
        let concrete =
            if confirmed.replay.confirmed { "confirmed by replay" } else { "UNCONFIRMED by replay" };
        writeln!(out, "   = {concrete}, {native}\n")?;
    }
    let coverage = explored.coverage;
    writeln!(
        out,
        "{} findings, {} paths, {} of {} lines and {} of {} branches covered",
        findings.len(),
        explored.paths,
        coverage.lines_covered,
        coverage.lines,
        coverage.branches_covered,
        coverage.branches
    )?;
    for assumption in &explored.assumptions {
        writeln!(out, "assumed: {assumption}")?;
    }
    if explored.completeness.is_complete() {
        writeln!(out, "every path was explored")?;
    }
    if findings.first().is_some_and(|best| best.verdict() != Verdict::Confirmed) {
        writeln!(out, "INCOMPLETE: running the inputs confirms none of the findings")?;
    }
    for bound in explored.completeness.bounds() {
        writeln!(out, "INCOMPLETE: {bound}")?;
    }
    Ok(())
}

fn source_line(file: &str, line: u32) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().nth(line.checked_sub(1)? as usize).map(str::to_string)
}
