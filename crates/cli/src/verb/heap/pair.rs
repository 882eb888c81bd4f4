//! Two runs on one input: two engines that must agree, or two methods that may differ.

use super::{Choice, Heap, Subject, emit, named, tests};
use crate::exit::{Failure, Status};
use anyhow::{Result, bail};
use parallax_javalite::*;
use serde_json::json;
use std::fmt::Write;
use std::time::Instant;

/// Runs two engines and checks that they agree.
pub fn comparison(arguments: &Heap, subject: &Subject<'_>, other: Choice) -> Result<Status> {
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
    // The lazier engines may reach one heap by several ways, and so may a precondition that counts as one condition:
    // only sets can be compared with them.
    let counted = engine == engine::Engine::Lazy && !arguments.merge;
    let found = exact::compare(&subject.setup, &forked, &summary, limit, counted)?;
    let differences: Vec<String> =
        found.differences.iter().map(|difference| format!("{difference:?}")).collect();
    let mut out = String::new();
    if arguments.json {
        let _ = writeln!(
            out,
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
        let _ = writeln!(
            out,
            "{}: {} paths, {} states, {lazy_seconds:.2} s",
            engine.name(),
            forked.progress.paths,
            forked.progress.states
        );
        let _ = writeln!(
            out,
            "summary: {} paths, {} states, {summary_seconds:.2} s",
            summary.progress.paths, summary.progress.states
        );
        let _ = writeln!(
            out,
            "{} traces and {} heaps compared, {} traces with too many heaps",
            found.traces, found.heaps, found.skipped
        );
        match differences.len() {
            0 => out.push_str("no difference\n"),
            n => out.push_str(&format!("{n} DIFFERENCES:\n{}\n", differences.join("\n"))),
        }
    }
    emit(&out)?;
    Ok(match (differences.is_empty(), found.skipped) {
        (false, _) => Status::Findings,
        (true, 0) => Status::Clean,
        (true, _) => Status::GaveUp,
    })
}

/// Runs two methods on one input.
pub fn equivalence(arguments: &Heap, subject: &Subject<'_>, other: &str) -> Result<Status> {
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
    let mut out = String::new();
    if arguments.json {
        let _ = writeln!(
            out,
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
        let _ = writeln!(out, "{} and {} differ on this input:\n", names[0], names[1]);
        out.push_str(&tests::heap_text(program, input));
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
    emit(&out)?;
    Ok(match (found.counterexample.is_some(), incomplete) {
        (true, _) => Status::Findings,
        (false, true) => Status::GaveUp,
        (false, false) => Status::Clean,
    })
}
