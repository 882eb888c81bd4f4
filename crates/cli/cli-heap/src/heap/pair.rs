//! Two runs on one input: two engines that must agree, or two methods that may differ.

use super::report::{errors, left_out};
use super::words::Run as Subjected;
use super::{Choice, Heap, emit, inputs};
use anyhow::{Result, bail};
use parallax_cli_base::exit::{Failure, Status};
use parallax_engines::{Machine, Progress, Stop, engine, equivalent, exact};
use serde_json::json;
use std::fmt::Write;
use std::time::Instant;

/// Runs two engines and checks that they agree: the summary with one that forks, or two that fork, each with the
/// summary.
pub fn comparison<L: Machine>(
    arguments: &Heap,
    subject: &Subjected<'_, '_, L>,
    other: Choice,
) -> Result<Status> {
    let pair = [arguments.engine, other].map(Choice::engine);
    let [Some(one), Some(two)] = pair else {
        bail!("--compare sets symbolic engines against each other; the concrete machine runs one heap");
    };
    if one == two {
        bail!("--compare needs two engines, not {} twice", one.name());
    }
    let start = Instant::now();
    let summary =
        engine::summary(subject.setup, subject.task, None, &mut arguments.limits.watch(subject.start));
    finished(arguments, subject.start, &summary.outcome)?;
    let mut runs = vec![Run::new("summary", &summary.progress, start)];
    let mut completeness = summary.completeness.clone();
    let mut found = exact::Comparison::<engine::TraceOf<L>>::default();
    for engine in [one, two] {
        let Some(laziness) = engine.laziness() else { continue };
        if engine != engine::Engine::Lazy && subject.setup.inputs.k.is_some() {
            eprintln!(
                "note: under a bound k, {} decides later than lazy and may see other traces",
                engine.name()
            );
        }
        let start = Instant::now();
        let watch = &mut arguments.limits.watch(subject.start);
        let mut forked = engine::lazy(subject.setup, subject.task, laziness, usize::MAX, watch);
        finished(arguments, subject.start, &forked.outcome)?;
        runs.push(Run::new(engine.name(), &forked.progress, start));
        completeness = completeness.and(forked.completeness.clone());
        forked.expand();
        let limit = if arguments.count == 0 { usize::MAX } else { arguments.count.max(10_000) };
        // The lazier engines may reach one heap by several ways, and so may a precondition that counts as one
        // condition: only sets can be compared with them.
        let counted = engine == engine::Engine::Lazy && !arguments.merge;
        let more = exact::compare(subject.setup, &forked, &summary, limit, counted)?;
        found.traces += more.traces;
        found.heaps += more.heaps;
        found.skipped += more.skipped;
        found.differences.extend(more.differences);
    }
    let errors = errors(&summary);
    let left_out = left_out(&completeness);
    let differences: Vec<String> =
        found.differences.iter().map(|difference| format!("{difference:?}")).collect();
    let mut out = String::new();
    if arguments.json {
        let mut document = json!({
            "compared": [one.name(), two.name()],
            "k": subject.setup.inputs.k,
            "traces": found.traces,
            "heaps": found.heaps,
            "skipped": found.skipped,
            "differences": differences,
            "errors": errors,
            "complete": completeness.is_complete(),
            "left_out": left_out,
        });
        for run in &runs {
            document[run.name] = json!({"states": run.states, "paths": run.paths, "seconds": run.seconds});
        }
        let _ = writeln!(out, "{document}");
    } else {
        for run in &runs {
            let Run { name, states, paths, seconds } = run;
            let _ = writeln!(out, "{name}: {paths} paths, {states} states, {seconds:.2} s");
        }
        let _ = writeln!(
            out,
            "{} traces and {} heaps compared, {} traces with too many heaps",
            found.traces, found.heaps, found.skipped
        );
        match differences.len() {
            0 => out.push_str("no difference\n"),
            n => out.push_str(&format!("{n} DIFFERENCES:\n{}\n", differences.join("\n"))),
        }
        if errors > 0 {
            let _ = writeln!(out, "{errors} paths end in an error: run the engine alone to see them");
        }
        for left_out in &left_out {
            let _ = writeln!(out, "INCOMPLETE, left out: {left_out}");
        }
    }
    emit(&out)?;
    // The findings of the method are findings still, and what a bound left out is left out.
    Ok(if !differences.is_empty() || errors > 0 {
        Status::Findings
    } else if found.skipped > 0 || !completeness.is_complete() {
        Status::GaveUp
    } else {
        Status::Clean
    })
}

/// What one engine did.
struct Run {
    name: &'static str,
    states: usize,
    paths: usize,
    seconds: f64,
}

impl Run {
    fn new(name: &'static str, progress: &Progress, start: Instant) -> Self {
        let Progress { states, paths, .. } = *progress;
        Run { name, states, paths, seconds: start.elapsed().as_secs_f64() }
    }
}

/// A run that was stopped can be compared with nothing.
fn finished(arguments: &Heap, start: Instant, outcome: &Result<(), Stop>) -> Result<()> {
    match outcome {
        Ok(()) => Ok(()),
        Err(Stop::Broken(what)) => Err(Stop::Broken(what.clone()).into()),
        Err(stop) => {
            let message = format!("nothing was compared: {}", arguments.limits.why(stop, start));
            Err(Failure { status: Status::GaveUp, message }.into())
        }
    }
}

/// Runs two methods on one input. The second has the name `other`.
pub fn equivalence<L: Machine>(
    arguments: &Heap,
    run: &Subjected<'_, '_, L>,
    second: &L,
    other: String,
) -> Result<Status> {
    let limit = arguments.count.max(1);
    let watch = &mut arguments.limits.watch(run.start);
    let found = equivalent::equivalent(run.setup, run.task, second, limit, watch)?;
    let names = [run.words.method(), other];
    let universe = run.words.universe(run.setup);
    let ends = found.counterexample.as_ref().map(|(_, one, two)| {
        [one, two].map(|replay| match (&replay.trace.ending, replay.value()) {
            (_, Some(_)) if run.words.is_void() => "returns".to_owned(),
            (_, Some(value)) => format!("returns {}", run.words.value(value)),
            (engine::Ending::Error(fault), _) => run.words.fault(fault),
            (engine::Ending::Cut(cut), _) => run.words.cut(cut),
            _ => "discarded".to_owned(),
        })
    });
    let incomplete = !found.completeness.is_complete();
    let mut out = String::new();
    if arguments.json {
        let _ = writeln!(
            out,
            "{}",
            json!({
                "methods": names,
                "pairs": found.pairs,
                "counterexample": found.counterexample.as_ref().map(|(input, ..)| inputs::json(&universe, input)),
                "ends": ends,
                "complete": !incomplete,
                "left_out": left_out(&found.completeness),
                "stopped": found.outcome.as_ref().err().map(|stop| arguments.limits.why(stop, run.start)),
            })
        );
    } else if let (Some((input, ..)), Some([one, two])) = (&found.counterexample, &ends) {
        let _ = writeln!(out, "{} and {} differ on this input:\n", names[0], names[1]);
        out.push_str(&inputs::text(&universe, input));
        let _ = writeln!(out, "\n{}: {one}\n{}: {two}", names[0], names[1]);
        if one == two {
            let _ = writeln!(out, "(they leave different heaps)");
        }
    } else {
        let _ = writeln!(
            out,
            "{} pairs of paths, no difference{}",
            found.pairs,
            if incomplete { " within the bounds" } else { "" }
        );
    }
    if !arguments.json {
        for left_out in left_out(&found.completeness) {
            let _ = writeln!(out, "INCOMPLETE, left out: {left_out}");
        }
    }
    emit(&out)?;
    Ok(match (found.counterexample.is_some(), incomplete) {
        (true, _) => Status::Findings,
        (false, true) => Status::GaveUp,
        (false, false) => Status::Clean,
    })
}
