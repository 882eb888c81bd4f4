//! `parallax heap`: every path of a method of Javalite or Java once, whatever heap it is given.

mod draw;
mod inputs;
pub mod java;
mod java_paths;
pub mod limits;
mod pair;
mod paths;
mod report;
mod tests;
mod words;

use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use limits::Limits;
use parallax_cli_base::exit::{Failure, Status};
use parallax_cli_base::input;
use parallax_cli_base::report_file;
use parallax_engines::engine::{self, Ending, Final};
use parallax_engines::{Inputs, Machine, Memory, Setup, Stop, Summary};
use parallax_heap::HeapError;
use parallax_javalite::describe;
use parallax_javalite::{Bounds, ClassId, MethodId, Program, Replay, Task, Type, parse, setup};
use parallax_source::SourceFile;
use parallax_term::Store;
use report::{Counted, Files};
use serde_json::json;
use std::fmt::Write;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};
use words::{Javalite, Run};

/// Explore every path of a Java method over all input heaps.
///
/// The method is one of a class file, or of a Javalite program.
#[derive(Args)]
#[command(after_help = "\
Example:
  parallax heap corpus/javalite/list.jl --method List.run1 --repok repOK --root-alias false --k 2
  parallax heap --classpath build/classes --method ds.LinkedList.contains --repok repOK --k 3

The summary engine runs each path once and stands for every heap that takes it; lazy, lazier and lazier# fork over
null, alias and new; concrete runs the method on an object whose fields are null, 0 and false. A path that a bound cut
off is reported, and the exit status is 4 when nothing worse was found.")]
pub struct Heap {
    /// The program, if it is one of Javalite.
    #[arg(required_unless_present = "classpath", conflicts_with = "classpath")]
    file: Option<PathBuf>,
    #[command(flatten)]
    classes: java::Classes,
    #[command(flatten)]
    java: java::JavaInputs,
    /// The method to start with; the program's own entry when left out.
    #[arg(long, value_name = "C.m")]
    method: Option<String>,
    /// How to treat input heaps.
    #[arg(long, default_value = "summary")]
    engine: Choice,
    /// How many steps from `this` an input object may be found, or `none`.
    #[arg(long, value_name = "K", default_value = "3", value_parser = bound)]
    k: Bound,
    /// How many rounds a loop may run.
    #[arg(long = "loop", value_name = "B", default_value_t = 32)]
    rounds: usize,
    /// How deep calls may nest.
    #[arg(long, value_name = "D", default_value_t = 64)]
    calls: usize,
    /// How many elements an array may have.
    #[arg(long, value_name = "A", default_value_t = 3)]
    array: usize,
    /// A method without parameters that must return true before the run starts.
    #[arg(long, value_name = "METHOD")]
    repok: Option<String>,
    /// Take the precondition for one condition: its outcomes are no part of a path, and its paths are merged.
    #[arg(long, requires = "repok")]
    merge: bool,
    /// Only inputs without a cycle along this field; given several times, along any way through those fields.
    #[arg(long, value_name = "FIELD")]
    acyclic: Vec<String>,
    /// Whether inputs may point back to `this`.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    root_alias: bool,
    /// Run this engine too and check that both see the same traces and heaps.
    #[arg(long, value_name = "ENGINE")]
    compare: Option<Choice>,
    /// Write one concrete test for each path: a program and a JSON description; for Java, a JUnit class.
    #[arg(long, value_name = "DIR")]
    tests: Option<PathBuf>,
    /// Write which lines and branches the tests of all paths cover: a page with the source (.html), Cobertura's XML
    /// (.xml), or a trace file of lcov. For Java.
    #[arg(long, value_name = "FILE", requires = "classpath")]
    coverage: Option<PathBuf>,
    /// With --tests: one test for every represented heap instead of one for each path.
    #[arg(long)]
    all_shapes: bool,
    /// Write the paths as a report, each run on one of its heaps: a page (.html), SARIF (.sarif), pathreport XML (.xml) or
    /// Parallax JSON (any other name). Paths that return are in it too, to compare with.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["compare", "equivalent"])]
    report: Option<PathBuf>,
    /// Draw the symbolic heap at the end of each path, as DOT and SVG.
    #[arg(long, value_name = "DIR")]
    draw: Option<PathBuf>,
    /// Run this method on the same input and look for a heap on which the two differ.
    #[arg(long, value_name = "C.m")]
    equivalent: Option<String>,
    /// How many represented heaps to list for each path where they cannot be counted otherwise; 0 counts none.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    count: usize,
    /// Print numbers alone, without the paths: their conditions take longer to write than many runs do.
    #[arg(long, conflicts_with_all = ["compare", "equivalent"])]
    counts: bool,
    /// Seconds for counting heaps in all; paths that come later say "at least".
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    count_time: u64,
    #[command(flatten)]
    limits: Limits,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    Lazy,
    Lazier,
    #[value(name = "lazier#", alias = "lazier-sharp")]
    LazierSharp,
    Summary,
    Concrete,
}

impl Choice {
    fn engine(self) -> Option<engine::Engine> {
        match self {
            Choice::Lazy => Some(engine::Engine::Lazy),
            Choice::Lazier => Some(engine::Engine::Lazier),
            Choice::LazierSharp => Some(engine::Engine::LazierSharp),
            Choice::Summary => Some(engine::Engine::Summary),
            Choice::Concrete => None,
        }
    }
}

type Bound = Limit;

/// A number, or no bound.
#[derive(Clone, Copy)]
struct Limit(Option<usize>);

fn bound(text: &str) -> Result<Limit, String> {
    if text == "none" {
        return Ok(Limit(None));
    }
    text.parse().map(|k| Limit(Some(k))).map_err(|_| "expected a number or `none`".into())
}

/// Prints what a run found, in one go: a reader that closes its pipe early is no fault.
fn emit(text: &str) -> Result<()> {
    Ok(std::io::Write::write_all(&mut std::io::stdout().lock(), text.as_bytes())?)
}

/// Everything that a run needs.
struct Subject<'s> {
    file: SourceFile,
    setup: Setup<'s>,
    task: Task,
    start: Instant,
}

/// Runs the verb. Whatever stops a run half-way keeps the contract on exit statuses.
pub fn run(arguments: &Heap) -> Result<Status> {
    explored(arguments).map_err(|error| {
        let status = match (error.downcast_ref::<Stop>(), error.downcast_ref::<HeapError>()) {
            (Some(Stop::Broken(_)), _) | (_, Some(HeapError::Broken(_))) => Status::Unsupported,
            (None, None) => return error,
            _ => Status::GaveUp,
        };
        Failure { status, message: format!("{error:#}") }.into()
    })
}

fn explored(arguments: &Heap) -> Result<Status> {
    let Some(path) = &arguments.file else { return java::explored(arguments) };
    let file = input::source(path)?;
    let program = Rc::new(parse(&file.text).map_err(|diagnostics| input::rejected(&file, &diagnostics))?);
    let (class, method) = match &arguments.method {
        Some(name) => named(&program, name)?,
        None => program
            .main
            .ok_or_else(|| anyhow!("{} names no method to start with: use --method C.m", file.name))?,
    };
    if arguments.array > 64 {
        bail!("--array {} is more than the 64 elements that a symbolic array may have", arguments.array);
    }
    let rep_ok = match &arguments.repok {
        None => None,
        Some(name) => {
            let name = name.rsplit('.').next().unwrap_or(name);
            let id = program
                .method_named(class, name)
                .ok_or_else(|| anyhow!("class {} has no method {name}", program.class(class).name))?;
            let method = program.method(id);
            if !method.parameters.is_empty() || method.result != Type::Bool {
                bail!(
                    "{} is no precondition: it must take no parameters and return bool",
                    program.method_name(id)
                );
            }
            Some(id)
        }
    };
    let bounds = Bounds { rounds: arguments.rounds, calls: arguments.calls };
    let task = Task { rep_ok, merged: arguments.merge, ..Task::new(&program, class, method, bounds) };
    let inputs = Inputs { k: arguments.k.0, array: arguments.array, root_alias: arguments.root_alias };
    let store = Store::new();
    let mut setup = setup(&store, &program, class, method, inputs);
    for field in &arguments.acyclic {
        if !setup.forbid_cycles(field) {
            bail!("no class has a reference named {field}");
        }
    }
    let subject = Subject { file, setup, task, start: Instant::now() };
    let deadline = arguments.limits.deadline(subject.start);
    subject.setup.oracle.set_deadline(deadline);
    let words = Javalite { file: &subject.file, task: &subject.task };
    let run = Run { setup: &subject.setup, task: &subject.task, start: subject.start, words: &words };
    if let Some(other) = &arguments.equivalent {
        let (class, method) = named(&program, other)?;
        let types = |method: MethodId| -> Vec<Type> {
            program.method(method).parameters.iter().map(|parameter| parameter.1).collect()
        };
        if class != subject.task.class || types(method) != types(subject.task.method) {
            bail!("the two methods take different inputs");
        }
        let second = Task { method, ..subject.task.clone() };
        return pair::equivalence(arguments, &run, &second, program.method_name(method));
    }
    if let Some(other) = arguments.compare {
        return pair::comparison(arguments, &run, other);
    }
    match arguments.engine.engine() {
        None => concrete(arguments, &subject),
        Some(engine) => explored_by(
            arguments,
            &run,
            engine,
            |ends, folder| tests::write(arguments, &subject, ends, folder),
            |ends| match &arguments.report {
                Some(file) => {
                    let (document, untold) = paths::document(arguments, &subject, ends)?;
                    save(path, file, document)?;
                    Ok(untold)
                }
                None => Ok(0),
            },
        ),
    }
}

/// Runs one engine and reports what it found.
fn explored_by<L: Machine>(
    arguments: &Heap,
    run: &Run<'_, '_, L>,
    engine: engine::Engine,
    tests: impl Fn(&engine::Ends<L, Summary<'_>>, &std::path::Path) -> Result<tests::Written>,
    report: impl Fn(&engine::Ends<L, Summary<'_>>) -> Result<usize>,
) -> Result<Status> {
    let files = [&arguments.draw, &arguments.tests, &arguments.coverage, &arguments.report];
    let files = files.iter().any(|file| file.is_some());
    let explored = arguments.limits.exploration(run.start, files);
    run.setup.oracle.set_deadline(explored);
    let watch = &mut arguments.limits.watch_until(run.start, explored);
    let Some(laziness) = engine.laziness() else {
        let ends = engine::summary(run.setup, run.task, None, watch);
        let deadline = arguments.limits.deadline(run.start);
        run.setup.oracle.set_deadline(deadline);
        let undrawn = match &arguments.draw {
            Some(folder) => draw::all(&ends, folder, || arguments.limits.late(run.start))?,
            None => 0,
        };
        let tests = arguments.tests.as_ref().map(|folder| tests(&ends, folder)).transpose()?;
        let untold = match arguments.report.is_some() || arguments.coverage.is_some() {
            true => report(&ends)?,
            false => 0,
        };
        let untold = untold.max(undrawn);
        // What is counted is printed too, and not after the limit.
        let counted = arguments.limits.counting(run.start);
        let shares = Shares::new(&ends, Duration::from_secs(arguments.count_time), counted);
        let heaps = |end: &Final<L, Summary<'_>>, _| -> Result<Option<Counted>> {
            if arguments.count == 0 {
                return Ok(None);
            }
            run.setup.oracle.set_deadline(shares.next());
            let count = end.heap().count(arguments.count)?;
            Ok(Some(Counted { heaps: count.heaps as usize, exact: count.exact }))
        };
        return report::report(arguments, run, "summary", &ends, heaps, Files { tests, untold });
    };
    if files {
        bail!("--draw, --tests, --coverage and --report need the summary engine");
    }
    let ends = engine::lazy(run.setup, run.task, laziness, 1, watch);
    let exact = engine == engine::Engine::Lazy;
    report::report(
        arguments,
        run,
        engine.name(),
        &ends,
        |_, heaps| Ok(Some(Counted { heaps, exact })),
        Files::default(),
    )
}

fn save(
    program: &std::path::Path,
    file: &std::path::Path,
    document: parallax_report::Document,
) -> Result<()> {
    let folders = report_file::folder(program).into_iter().collect();
    report_file::save(file, document, folders, &report_file::title(program))
}

/// Time to count in: a path may take an eighth of what is left, or more if fewer paths are left.
struct Shares {
    end: Option<Instant>,
    paths: std::cell::Cell<u32>,
}

impl Shares {
    fn new<L: Machine, M: Memory>(
        ends: &engine::Ends<L, M>,
        time: Duration,
        deadline: Option<Instant>,
    ) -> Self {
        let counted = Instant::now().checked_add(time);
        let paths = ends.traces.keys().filter(|trace| trace.ending != Ending::Discarded).count();
        let paths = std::cell::Cell::new(u32::try_from(paths).unwrap_or(u32::MAX));
        Shares { end: [deadline, counted].into_iter().flatten().min(), paths }
    }

    /// When the next path must be counted.
    fn next(&self) -> Option<Instant> {
        let (now, paths) = (Instant::now(), self.paths.get().max(1));
        self.paths.set(paths - 1);
        self.end.map(|end| now + end.saturating_duration_since(now) / paths.min(8))
    }
}

/// `C.m`
fn named(program: &Program, name: &str) -> Result<(ClassId, MethodId)> {
    let (class, method) = name.split_once('.').ok_or_else(|| anyhow!("expected C.m, found `{name}`"))?;
    let class = program.class_named(class).ok_or_else(|| anyhow!("unknown class {class}"))?;
    let id = program
        .method_named(class, method)
        .ok_or_else(|| anyhow!("class {} has no method {method}", program.class(class).name))?;
    Ok((class, id))
}

/// Runs the method on an object whose fields are null, 0 and false.
fn concrete(arguments: &Heap, subject: &Subject<'_>) -> Result<Status> {
    let program = &subject.task.program;
    if !program.method(subject.task.method).parameters.is_empty() {
        bail!("the concrete machine starts with a method without parameters");
    }
    let input = tests::blank(subject);
    let watch = &mut arguments.limits.watch(subject.start);
    let replay = Replay::watched(&subject.task, &subject.setup.universe, &input, arguments.array, watch)?;
    if let (Some(file), Some(path)) = (&arguments.report, &arguments.file) {
        save(path, file, paths::of_run(arguments, subject, &replay.trace, &input)?)?;
    }
    let result = replay.value().map(describe::concrete);
    let outcomes: Vec<String> =
        replay.trace.events.iter().map(|event| describe::event(program, &subject.file, event)).collect();
    let ending = describe::ending(&replay.trace);
    let mut out = String::new();
    if arguments.json {
        let _ = writeln!(
            out,
            "{}",
            json!({"engine": "concrete", "outcomes": outcomes, "end": ending, "result": result})
        );
    } else {
        match &result {
            Some(result) => out.push_str(&format!("returns {result}\n")),
            None => out.push_str(&format!("{ending}\n")),
        }
    }
    emit(&out)?;
    Ok(match replay.trace.ending {
        Ending::Value | Ending::Discarded => Status::Clean,
        Ending::Error(_) => Status::Findings,
        Ending::Cut(_) => Status::GaveUp,
    })
}

#[cfg(test)]
mod late {
    use super::{Heap, Status, run};
    use clap::Parser;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        heap: Heap,
    }

    /// When the time is over no test is made any more, and the status says that something is missing.
    #[test]
    fn no_test_after_the_limit() {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../corpus/javalite/list.jl");
        let folder = tempfile::tempdir().unwrap();
        let tests = folder.path().to_str().unwrap();
        let count = |time: &str| {
            let words = ["heap", program, "--repok", "repOK", "--k", "1", "--time", time, "--tests", tests];
            let status = run(&Words::parse_from(words).heap).unwrap();
            (status, std::fs::read_dir(folder.path()).unwrap().count())
        };
        assert_eq!(count("0"), (Status::GaveUp, 0));
        assert!(count("600").1 > 0);
    }
}
