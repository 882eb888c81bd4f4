//! `parallax heap`: every path of a Javalite method once, whatever heap it is given.

mod draw;
mod limits;
mod tests;

use crate::exit::{Failure, Status};
use crate::input;
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use limits::Limits;
use parallax_javalite::describe::{self, Describe};
use parallax_javalite::engine::{self, Ending, Ends, Final, Trace};
use parallax_javalite::*;
use parallax_source::SourceFile;
use parallax_term::Store;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

/// Explore every path of a Javalite method, over all input heaps at once.
#[derive(Args)]
#[command(after_help = "\
Example:
  parallax heap corpus/javalite/list.jl --method List.run1 --repok repOK --root-alias false --k 2

The summary engine runs each path once and stands for every heap that takes it; lazy, lazier and lazier# fork over
null, alias and new; concrete runs the method on an object whose fields are null, 0 and false. A path that a bound cut
off is reported, and the exit status is 4 when nothing worse was found.")]
pub struct Heap {
    /// The program.
    file: PathBuf,
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
    /// Whether inputs may point back to `this`.
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    root_alias: bool,
    /// Run this engine too and check that both see the same traces and heaps.
    #[arg(long, value_name = "ENGINE")]
    compare: Option<Choice>,
    /// Write one concrete test for each path: a program and a JSON description.
    #[arg(long, value_name = "DIR")]
    tests: Option<PathBuf>,
    /// With --tests: one test for every represented heap instead of one for each path.
    #[arg(long)]
    all_shapes: bool,
    /// Draw the symbolic heap at the end of each path, as DOT and SVG.
    #[arg(long, value_name = "DIR")]
    draw: Option<PathBuf>,
    /// Run this method on the same input and look for a heap on which the two differ.
    #[arg(long, value_name = "C.m")]
    equivalent: Option<String>,
    /// How many represented heaps to count for each path; 0 counts none.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    count: usize,
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

/// Everything that a run needs.
struct Subject<'s> {
    file: SourceFile,
    setup: Setup<'s>,
    task: Task,
    start: Instant,
}

/// Runs the verb.
pub fn run(arguments: &Heap) -> Result<Status> {
    let file = input::source(&arguments.file)?;
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
    let task =
        Task { program: program.clone(), class, method, rep_ok, bounds, drafts: MachineDrafts::default() };
    let inputs = Inputs { k: arguments.k.0, array: arguments.array, root_alias: arguments.root_alias };
    let store = Store::new();
    let setup = Setup::new(&store, program, class, method, inputs);
    let subject = Subject { file, setup, task, start: Instant::now() };
    if let Some(other) = &arguments.equivalent {
        return equivalence(arguments, &subject, other);
    }
    if let Some(other) = arguments.compare {
        return comparison(arguments, &subject, other);
    }
    match arguments.engine.engine() {
        None => concrete(arguments, &subject),
        Some(engine::Engine::Summary) => {
            let ends = engine::summary(
                &subject.setup,
                &subject.task,
                None,
                &mut arguments.limits.watch(subject.start),
            );
            if let Some(folder) = &arguments.draw {
                draw::all(&subject, &ends, folder)?;
            }
            let tests = match &arguments.tests {
                Some(folder) => Some(tests::write(arguments, &subject, &ends, folder)?),
                None => None,
            };
            let heaps = |end: &Final<Summary<'_>>, _| -> Result<(usize, bool)> {
                if arguments.count == 0 {
                    return Ok((0, false));
                }
                let models = end.heap().models(arguments.count)?;
                Ok((models.models.len(), models.complete))
            };
            report(arguments, &subject, "summary", &ends, heaps, tests)
        }
        Some(engine) => {
            if arguments.draw.is_some() || arguments.tests.is_some() {
                bail!("--draw and --tests need the summary engine");
            }
            let laziness = engine.laziness().unwrap_or(Laziness::Lazy);
            let watch = &mut arguments.limits.watch(subject.start);
            let ends = engine::lazy(&subject.setup, &subject.task, laziness, 1, watch);
            let exact = engine == engine::Engine::Lazy;
            report(arguments, &subject, engine.name(), &ends, |_, count| Ok((count, exact)), None)
        }
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

/// Prints what an engine found.
fn report<M: Memory>(
    arguments: &Heap,
    subject: &Subject<'_>,
    engine: &str,
    ends: &Ends<M>,
    heaps: impl Fn(&Final<M>, usize) -> Result<(usize, bool)>,
    tests: Option<tests::Written>,
) -> Result<Status>
where
    Final<M>: Describe,
{
    let exploration = subject.start.elapsed().as_secs_f64();
    let mut traces = Vec::new();
    let (mut total, mut complete, mut errors, mut cuts) = (0usize, true, 0, 0);
    for (trace, bucket) in &ends.traces {
        if trace.ending == Ending::Discarded {
            continue;
        }
        let end = &bucket.finals[0];
        let (count, exact) = heaps(end, bucket.count)?;
        total += count;
        complete &= exact;
        errors += usize::from(matches!(trace.ending, Ending::Error(_)));
        let truncated = end.truncated() || matches!(trace.ending, Ending::Cut(_));
        cuts += usize::from(truncated);
        traces.push(path_json(subject, trace, end, count, exact, truncated));
    }
    // What takes time after the exploration (counting) is not the engine's time.
    let usage = subject.setup.logic.usage();
    let stopped = ends.outcome.as_ref().err().map(ToString::to_string);
    let document = json!({
        "engine": engine,
        "k": subject.setup.inputs.k,
        "paths": ends.progress.paths,
        "states": ends.progress.states,
        "heaps": total,
        "heaps_complete": complete && stopped.is_none(),
        "discarded": ends.progress.discarded,
        "traces": traces,
        "stopped": stopped,
        "solver": {"calls": usage.calls, "seconds": usage.seconds},
        "tests": tests.as_ref().map(|tests| tests.count),
        "seconds": exploration,
    });
    if arguments.json {
        println!("{document}");
    } else {
        print_text(&document, subject);
        if let Some(tests) = &tests {
            println!(
                "{} tests written to {}, each re-run on the concrete machine",
                tests.count, tests.folder
            );
        }
    }
    if let Err(Stop::Broken(what)) = &ends.outcome {
        return Err(Failure { status: Status::Unsupported, message: format!("internal: {what}") }.into());
    }
    Ok(if errors > 0 {
        Status::Findings
    } else if cuts > 0 || ends.outcome.is_err() {
        Status::GaveUp
    } else {
        Status::Clean
    })
}

fn path_json<M: Memory>(
    subject: &Subject<'_>,
    trace: &Trace,
    end: &Final<M>,
    heaps: usize,
    exact: bool,
    truncated: bool,
) -> Json
where
    Final<M>: Describe,
{
    let program = &subject.task.program;
    let outcomes: Vec<String> =
        trace.events.iter().map(|event| describe::event(program, &subject.file, event)).collect();
    let place = |span: parallax_source::Span| {
        let (line, column) = subject.file.position(span.start);
        json!({"line": line, "column": column})
    };
    let error = match &end.end {
        End::Error(fault, span) => json!({"kind": describe::fault(*fault), "at": place(*span)}),
        _ => Json::Null,
    };
    let cut = match &end.end {
        End::Cut(cut, span) => json!({"bound": describe::cut(*cut), "at": place(*span)}),
        _ => Json::Null,
    };
    json!({
        "outcomes": outcomes,
        "result": end.result(),
        "error": error,
        "truncated": truncated,
        "cut": cut,
        "heaps": heaps,
        "heaps_complete": exact,
        "condition": end.condition(),
    })
}

fn print_text(document: &Json, subject: &Subject<'_>) {
    let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let k = document["k"].as_u64().map_or("none".to_owned(), |k| k.to_string());
    println!(
        "{} of {}, k = {k}",
        text(&document["engine"]),
        subject.task.program.method_name(subject.task.method)
    );
    let traces = document["traces"].as_array().cloned().unwrap_or_default();
    for (number, path) in traces.iter().enumerate() {
        let end = match (&path["error"], &path["cut"]) {
            (Json::Object(error), _) => {
                format!("ERROR {} at line {}", text(&error["kind"]), error["at"]["line"])
            }
            (_, Json::Object(cut)) => {
                format!("CUT OFF by the {} at line {}", text(&cut["bound"]), cut["at"]["line"])
            }
            _ => format!("returns {}", text(&path["result"])),
        };
        let more = if path["heaps_complete"] == true { "" } else { "at least " };
        let truncated =
            if path["truncated"] == true && path["cut"].is_null() { ", larger heaps left out" } else { "" };
        println!("\npath {}: {end} ({more}{} heaps{truncated})", number + 1, path["heaps"]);
        for outcome in path["outcomes"].as_array().into_iter().flatten() {
            println!("    {}", text(outcome));
        }
        let condition: Vec<String> = path["condition"].as_array().into_iter().flatten().map(text).collect();
        if !condition.is_empty() {
            println!("  when {}", condition.join("\n   and "));
        }
    }
    let more = if document["heaps_complete"] == true { "" } else { "at least " };
    println!(
        "\n{} paths, {} states, {more}{} heaps, {} discarded; {} solver calls, {:.2} s",
        document["paths"],
        document["states"],
        document["heaps"],
        document["discarded"],
        document["solver"]["calls"],
        document["seconds"].as_f64().unwrap_or(0.0)
    );
    if let Some(why) = document["stopped"].as_str() {
        println!("STOPPED EARLY: {why}; paths not listed were not explored");
    }
}

/// Runs the method on an object whose fields are null, 0 and false.
fn concrete(arguments: &Heap, subject: &Subject<'_>) -> Result<Status> {
    let program = &subject.task.program;
    if !program.method(subject.task.method).parameters.is_empty() {
        bail!("the concrete machine starts with a method without parameters");
    }
    let input = tests::blank(subject);
    let replay = Replay::new(&subject.task, &input, arguments.array)?;
    let result = replay.value().map(describe::concrete);
    let outcomes: Vec<String> =
        replay.trace.events.iter().map(|event| describe::event(program, &subject.file, event)).collect();
    let ending = describe::ending(&replay.trace);
    if arguments.json {
        println!("{}", json!({"engine": "concrete", "outcomes": outcomes, "end": ending, "result": result}));
    } else {
        match &result {
            Some(result) => println!("returns {result}"),
            None => println!("{ending}"),
        }
    }
    Ok(match replay.trace.ending {
        Ending::Value | Ending::Discarded => Status::Clean,
        Ending::Error(_) => Status::Findings,
        Ending::Cut(_) => Status::GaveUp,
    })
}

/// Runs two engines and checks that they agree.
fn comparison(arguments: &Heap, subject: &Subject<'_>, other: Choice) -> Result<Status> {
    let pair = [arguments.engine, other];
    let lazy = pair.iter().find(|choice| !matches!(choice, Choice::Summary | Choice::Concrete));
    let (Some(lazy), true) = (lazy, pair.contains(&Choice::Summary)) else {
        bail!("--compare sets the summary against lazy, lazier or lazier#");
    };
    let engine = lazy.engine().unwrap_or(engine::Engine::Lazy);
    let laziness = engine.laziness().unwrap_or(Laziness::Lazy);
    if engine != engine::Engine::Lazy && subject.setup.inputs.k.is_some() {
        eprintln!(
            "note: under a bound k, {} decides later than lazy and may see other traces",
            engine.name()
        );
    }
    let watch = &mut arguments.limits.watch(subject.start);
    let mut forked = engine::lazy(&subject.setup, &subject.task, laziness, usize::MAX, watch);
    forked.expand();
    let lazy_seconds = subject.start.elapsed().as_secs_f64();
    let between = Instant::now();
    let summary =
        engine::summary(&subject.setup, &subject.task, None, &mut arguments.limits.watch(subject.start));
    let summary_seconds = between.elapsed().as_secs_f64();
    for outcome in [&forked.outcome, &summary.outcome] {
        if let Err(stop) = outcome {
            return Err(
                Failure { status: Status::GaveUp, message: format!("nothing was compared: {stop}") }.into()
            );
        }
    }
    let limit = if arguments.count == 0 { usize::MAX } else { arguments.count.max(10_000) };
    // The lazier engines may reach one heap by several ways, so only sets can be compared with them.
    let counted = engine == engine::Engine::Lazy;
    let found = exact::compare(&subject.setup, &forked, &summary, limit, counted)?;
    let differences: Vec<String> =
        found.differences.iter().map(|difference| format!("{difference:?}")).collect();
    if arguments.json {
        println!(
            "{}",
            json!({
                "compared": [engine.name(), "summary"],
                "k": subject.setup.inputs.k,
                "traces": found.traces,
                "heaps": found.heaps,
                "skipped": found.skipped,
                "differences": differences,
                engine.name(): {"states": forked.progress.states, "paths": forked.progress.paths, "seconds": lazy_seconds},
                "summary": {"states": summary.progress.states, "paths": summary.progress.paths, "seconds": summary_seconds},
            })
        );
    } else {
        println!(
            "{}: {} paths, {} states, {lazy_seconds:.2} s",
            engine.name(),
            forked.progress.paths,
            forked.progress.states
        );
        println!(
            "summary: {} paths, {} states, {summary_seconds:.2} s",
            summary.progress.paths, summary.progress.states
        );
        println!(
            "{} traces and {} heaps compared, {} traces with too many heaps",
            found.traces, found.heaps, found.skipped
        );
        match differences.len() {
            0 => println!("no difference"),
            n => println!("{n} DIFFERENCES:\n{}", differences.join("\n")),
        }
    }
    Ok(match (differences.is_empty(), found.skipped) {
        (false, _) => Status::Findings,
        (true, 0) => Status::Clean,
        (true, _) => Status::GaveUp,
    })
}

/// Runs two methods on one input.
fn equivalence(arguments: &Heap, subject: &Subject<'_>, other: &str) -> Result<Status> {
    let program = &subject.task.program;
    let (class, method) = named(program, other)?;
    let own = program.method(subject.task.method);
    let theirs = program.method(method);
    let types = |method: &Method| method.parameters.iter().map(|parameter| parameter.1).collect::<Vec<_>>();
    if class != subject.task.class || types(own) != types(theirs) {
        bail!("the two methods take different inputs");
    }
    let second = Task { method, ..subject.task.clone() };
    let limit = arguments.count.max(1);
    let watch = &mut arguments.limits.watch(subject.start);
    let found = equivalent::equivalent(&subject.setup, &subject.task, &second, limit, watch)?;
    let names = [program.method_name(subject.task.method), program.method_name(method)];
    let ends = found.counterexample.as_ref().map(|(_, one, two)| {
        [one, two].map(|run| match run.value() {
            Some(value) => format!("returns {}", describe::concrete(value)),
            None => describe::ending(&run.trace).to_owned(),
        })
    });
    let incomplete = found.outcome.is_err() || found.incomplete > 0 || found.truncated;
    if arguments.json {
        println!(
            "{}",
            json!({
                "methods": names,
                "pairs": found.pairs,
                "counterexample": found.counterexample.as_ref().map(|(input, ..)| tests::heap_json(program, input)),
                "ends": ends,
                "complete": !incomplete,
                "stopped": found.outcome.as_ref().err().map(ToString::to_string),
            })
        );
    } else if let (Some((input, ..)), Some([one, two])) = (&found.counterexample, &ends) {
        println!("{} and {} differ on this input:\n", names[0], names[1]);
        print!("{}", tests::heap_text(program, input));
        println!("\n{}: {one}\n{}: {two}", names[0], names[1]);
        if one == two {
            println!("(they leave different heaps)");
        }
    } else {
        println!(
            "{} pairs of paths, no difference{}",
            found.pairs,
            if incomplete { " within the bounds" } else { "" }
        );
    }
    Ok(match (found.counterexample.is_some(), incomplete) {
        (true, _) => Status::Findings,
        (false, true) => Status::GaveUp,
        (false, false) => Status::Clean,
    })
}
