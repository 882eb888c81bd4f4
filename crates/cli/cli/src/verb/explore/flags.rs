//! The flags of `parallax explore`, and what they come to.

use super::super::c_sources::CFlags;
use super::program::{Common, HEADING, ProgramOptions};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use parallax_cexplore::explore::{Argument, Entry, Globals, Input, LoopBound, Merge, Settings};
use parallax_cexplore::ktest;
use parallax_cmachine::{Aliasing, Checks, Problem};
use parallax_jail::Wanted;
use parallax_path::Strategy;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Explore the paths of a C or compiled program, find its errors.
///
/// Each error comes with its input; a compiled program stands behind `--`.
#[derive(Args)]
#[command(mut_args = for_c_alone)]
#[command(after_help = "\
Examples:
  parallax explore corpus/c/find/maze.c --stdin 12
  parallax explore corpus/c/find/list_remove.c --entry remove_item
  parallax explore --argv 1:4 --max-tests 20 --output /tmp/inputs -- /bin/expr 1 + 2

With FILE, C sources are read; with -- PROGRAM, a compiled program for x86-64 Linux runs in the emulator, once for
each input. --stdin, --file PATH:N, --strategy, --time, --steps, --memory, --solver-time, --seed FILE, --coverage,
--report, --run-unjailed and --json are for both; the flags under \"Compiled programs\" are for programs only, and all others for C
only. Of a program: exit status 0 every way was taken, 1 a crash was found or a target reached, 4 a bound was hit.

C sources:

Inputs are what harness functions of KLEE or SV-COMP return, unknown arguments (--sym-arg), standard input
(--stdin), or, with --entry, the arguments, globals and memory of a function. Each finding is replayed in the
concrete reading and natively under AddressSanitizer. Exit status: 0 nothing found and every path explored,
1 something found and confirmed, 3 code that is not supported was reached, 4 a bound was hit, or nothing of what was
found is confirmed.")]
pub struct Explore {
    /// C files, LLVM modules (.bc, .ll), a compile_commands.json, or a folder that has one; with --build, the project's folder.
    #[arg(required_unless_present = "program", conflicts_with = "program", value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) flags: CFlags,
    /// Start at this function, with unknown arguments, globals and memory.
    #[arg(long, value_name = "FUNCTION")]
    pub(super) entry: Option<String>,
    /// Enter the function of --entry as its callers do: start so many calls further up, and report what goes wrong in
    /// the function or below it.
    #[arg(long, value_name = "LEVELS", num_args = 0..=1, default_missing_value = "1", requires = "entry", conflicts_with = "tests")]
    pub(super) callers: Option<u32>,
    /// Start at each function whose code, or the code of what it calls, is another one than in this revision of git; they share the
    /// time.
    #[arg(long, value_name = "REVISION", conflicts_with_all = ["entry", "tests", "minimise"])]
    pub(super) changed_since: Option<String>,
    /// An argument of the program; repeat for more.
    #[arg(long = "arg", value_name = "TEXT", allow_hyphen_values = true)]
    arguments: Vec<String>,
    /// An unknown argument of at most so many bytes, after those given; repeat for more.
    #[arg(long = "sym-arg", value_name = "BYTES")]
    unknown_arguments: Vec<u64>,
    /// Between MIN and MAX further unknown arguments of at most so many bytes each.
    #[arg(long = "sym-args", value_names = ["MIN", "MAX", "BYTES"], num_args = 3)]
    more_arguments: Vec<u64>,
    /// A file with so many unknown bytes; repeat for more.
    ///
    /// Of C, NAME@PATH is a file that holds what PATH does; where PATH is a folder, all files in it are there below NAME.
    #[arg(long = "file", value_name = "NAME=BYTES|NAME@PATH|PATH:N")]
    unknown_files: Vec<String>,
    /// A real file, or a folder of them, as the program sees it under the same name; repeat for more.
    #[arg(long = "concrete-file", value_name = "PATH")]
    concrete_files: Vec<PathBuf>,
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
    #[arg(long, value_name = "N")]
    instructions: Option<u64>,
    /// Live states.
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    states: usize,
    /// Seconds for the exploration; the compiler comes before it, and running what was found once more after it.
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
    pub(super) unsigned_overflow: bool,
    /// Also report implicit conversions that change a value.
    #[arg(long)]
    pub(super) conversions: bool,
    /// Also report floating-point divisions by zero, results that are not numbers, and conversions that do not fit.
    #[arg(long)]
    pub(super) floats: bool,
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
    /// Whether states become one where the ways of a branch meet again (default: auto; with --tests: never, for a test of
    /// each way; without a MODE: always).
    #[arg(long, value_enum, value_name = "MODE", num_args = 0..=1, default_missing_value = "always")]
    merge: Option<Merging>,
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
    pub(super) no_native: bool,
    /// Write one test per path into this folder: the input, as JSON and for KLEE's tools, and a C driver.
    #[arg(long, value_name = "FOLDER")]
    pub(super) tests: Option<PathBuf>,
    /// Of the tests, write only those that add coverage, and the first of each kind of mistake.
    #[arg(long, requires = "tests")]
    pub(super) minimise: bool,
    /// Write which lines and branches were covered: a page with the source (.html), Cobertura's XML
    /// (.xml), or a trace file of lcov.
    #[arg(long, value_name = "FILE")]
    pub(super) coverage: Option<PathBuf>,
    /// Write the findings and their paths as a report: a page (.html), SARIF (.sarif), a summary in Markdown (.md), pathreport XML
    /// (.xml) or Parallax JSON (.json); repeat for more.
    #[arg(long = "report", value_name = "FILE")]
    pub(super) reports: Vec<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    pub(super) json: bool,
    // The last: its heading is that of all flags behind it.
    #[command(flatten)]
    pub(super) compiled: ProgramOptions,
}

/// Flags that mean something for a compiled program too. All others, but those under its own heading, are for C alone and
/// refused there: a flag that does nothing would be a wrong answer that looks sure.
const FOR_BOTH: [&str; 14] = [
    "program",
    "unknown_files",
    "stdin",
    "strategy",
    "seeds",
    "steps",
    "time",
    "memory",
    "solver_time",
    "coverage",
    "reports",
    "json",
    "files",
    "run_unjailed",
];

fn for_c_alone(argument: clap::Arg) -> clap::Arg {
    let both = FOR_BOTH.contains(&argument.get_id().as_str()) || argument.get_help_heading() == Some(HEADING);
    if both { argument } else { argument.conflicts_with("program") }
}

/// More unknown arguments and bytes than these are a slip of the finger.
const MOST_ARGUMENTS: u64 = 64;
const MOST_BYTES: u64 = 1 << 20;

/// All that real files given to a program may hold together.
const MOST_GIVEN: u64 = 64 << 20;

/// Whether a text is `NAME=BYTES`.
fn is_sized(text: &str) -> bool {
    text.rsplit_once('=').is_some_and(|(_, len)| len.parse::<u64>().is_ok())
}

/// Adds a real file under a name, or all files of a folder below it.
fn add_files(name: &str, path: &Path, files: &mut Vec<(String, Argument)>) -> Result<()> {
    let cannot = || format!("cannot read {}", path.display());
    if path.is_dir() {
        let entries = std::fs::read_dir(path).with_context(cannot)?;
        let mut entries: Vec<_> = entries.collect::<std::io::Result<_>>().with_context(cannot)?;
        entries.sort_by_key(|entry| entry.file_name());
        for entry in entries {
            let below = format!("{}/{}", name.trim_end_matches('/'), entry.file_name().to_string_lossy());
            // A link to a folder may lead back to one above it.
            let kind = entry.file_type().with_context(cannot)?;
            if !kind.is_symlink() || entry.path().is_file() {
                add_files(&below, &entry.path(), files)?;
            }
        }
        return Ok(());
    }
    let bytes = std::fs::read(path).with_context(cannot)?;
    files.push((name.to_string(), Argument::Known(bytes)));
    let held = |(_, content): &(String, Argument)| match content {
        Argument::Known(bytes) => bytes.len() as u64,
        _ => 0,
    };
    if files.iter().map(held).sum::<u64>() > MOST_GIVEN {
        anyhow::bail!("{}: more than {} MiB of files", path.display(), MOST_GIVEN >> 20);
    }
    Ok(())
}

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
    /// One that is about to run new code; without one, what is nearest to such code; when that finds nothing, deep.
    Interleaved,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Merging {
    /// Where an estimate says that it saves more questions to the solver than it adds.
    Auto,
    /// Wherever one state can stand for both.
    Always,
    /// Each way is followed by itself to the end.
    Never,
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
    pub(super) fn main_entry(&self) -> Result<Entry> {
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
        let mut files: Vec<(String, Argument)> = Vec::new();
        let mut given: Vec<(String, Argument)> = Vec::new();
        for text in &self.unknown_files {
            match text.rsplit_once('@').filter(|(name, path)| !name.is_empty() && !path.is_empty()) {
                Some((name, path)) if !is_sized(text) => add_files(name, Path::new(path), &mut given)?,
                _ => {
                    let (name, len) = sized("file", text)?;
                    files.push((name, Argument::Unknown(len)));
                }
            }
        }
        for path in &self.concrete_files {
            add_files(&path.to_string_lossy(), path, &mut given)?;
        }
        // Those that are given come last.
        files.append(&mut given);
        for (number, (name, _)) in files.iter().enumerate() {
            if files[..number].iter().any(|(other, _)| other == name) {
                anyhow::bail!("the file {name} is there twice");
            }
        }
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

    /// What `--stdin` says.
    pub(super) fn stdin_bytes(&self) -> u64 {
        self.stdin.min(MOST_BYTES)
    }

    /// What a compiled program takes of the flags for both.
    pub(super) fn common(&self) -> Common<'_> {
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
            reports: &self.reports,
            json: self.json,
            unjailed: self.flags.jail() == Wanted::Unjailed,
        }
    }

    pub(super) fn settings(&self) -> Result<Settings> {
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
            merge: match (self.merge, &self.tests) {
                (Some(Merging::Never), _) | (None, Some(_)) => Merge::Never,
                (Some(Merging::Auto), _) | (None, None) => Merge::Auto,
                (Some(Merging::Always), _) => Merge::Always,
            },
            tests: self.tests.is_some(),
            ..Settings::default()
        })
    }
}

impl Explore {
    /// Inputs whose paths are looked at first, with their files.
    pub(super) fn seed_inputs(&self) -> Result<Vec<(PathBuf, Input)>> {
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
