//! What an engine found, as text and as JSON.

use super::words::Run;
use super::{Heap, emit, tests};
use anyhow::Result;
use parallax_cli_base::exit::{Failure, Status};
use parallax_cli_base::words::counted;
use parallax_engines::describe::Describe;
use parallax_engines::engine::{Ending, Ends, Final, TraceOf};
use parallax_engines::{End, Machine, Memory, Stop};
use parallax_path::{Bound, Completeness};
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// The files that were made of what an engine found.
#[derive(Default)]
pub struct Files {
    /// Tests.
    pub tests: Option<tests::Written>,
    /// How many paths a report or a coverage leaves out because the time was over.
    pub untold: usize,
}

/// How many paths of an engine end in an error.
pub fn errors<L: Machine, M: Memory>(ends: &Ends<L, M>) -> usize {
    ends.traces.keys().filter(|trace| matches!(trace.ending, Ending::Error(_))).count()
}

/// What a run left out, in words, with the options that would have it looked at.
pub fn left_out(completeness: &Completeness) -> Vec<String> {
    completeness.bounds().map(bounded).collect()
}

fn bounded(bound: &Bound) -> String {
    let option = match bound {
        Bound::Chain(_) => "--k",
        Bound::Loops(_) => "--loop",
        Bound::Values(_, what) if what.contains("calls") => "--calls",
        Bound::Values(_, what) if what.contains("array") => "--array",
        Bound::Values(_, what) if what.contains("heaps") => "--count",
        _ => return bound.to_string(),
    };
    format!("{bound} ({option})")
}

/// How many heaps a path stands for: so many, or more if that is not exact.
#[derive(Clone, Copy)]
pub struct Counted {
    pub heaps: usize,
    pub exact: bool,
}

/// Prints what an engine found.
pub fn report<L: Machine, M: Memory>(
    arguments: &Heap,
    run: &Run<'_, '_, L>,
    engine: &str,
    ends: &Ends<L, M>,
    heaps: impl Fn(&Final<L, M>, usize) -> Result<Option<Counted>>,
    files: Files,
) -> Result<Status>
where
    Final<L, M>: Describe,
{
    let exploration = run.start.elapsed().as_secs_f64();
    let Files { tests, untold } = files;
    let missed = tests.as_ref().map_or(0, |tests| tests.missed);
    let mut listed = Listing::new(arguments.json);
    let mut total = Some(Counted { heaps: 0, exact: true });
    let (mut looked, mut unlisted) = (0, 0);
    for (trace, bucket) in &ends.traces {
        if trace.ending == Ending::Discarded {
            continue;
        }
        // What has no line is counted, so that nothing is said after the limit.
        if looked > 0 && arguments.limits.late(run.start) {
            unlisted += 1;
            continue;
        }
        looked += 1;
        let end = &bucket.finals[0];
        let counted = heaps(end, bucket.count)?;
        total = total.zip(counted).map(|(total, counted)| Counted {
            heaps: total.heaps.saturating_add(counted.heaps),
            exact: total.exact && counted.exact,
        });
        if arguments.counts {
            continue;
        }
        let truncated = end.truncated() || matches!(trace.ending, Ending::Cut(_));
        listed.add(&path_json(run, trace, end, counted, truncated));
    }
    // What takes time after the exploration (counting) is not the engine's time.
    let usage = run.setup.oracle.usage();
    let stopped = ends.outcome.as_ref().err().map(|stop| arguments.limits.why(stop, run.start));
    let document = json!({
        "engine": engine,
        "k": run.setup.inputs.k,
        "paths": ends.progress.paths,
        "states": ends.progress.states,
        "heaps": total.map(|total| total.heaps),
        "heaps_complete": total.is_some_and(|total| total.exact) && unlisted == 0 && stopped.is_none(),
        "discarded": ends.progress.discarded,
        "traces_unlisted": unlisted,
        "assumptions": run.words.assumptions(),
        "complete": ends.completeness.is_complete(),
        "left_out": left_out(&ends.completeness),
        "stopped": stopped,
        "solver": {"calls": usage.checks(), "seconds": usage.time.as_secs_f64()},
        "tests": tests.as_ref().map(|tests| tests.count),
        "tests_missing": tests.as_ref().map(|tests| tests.missed),
        "seconds": exploration,
    });
    for (count, what) in [(missed, "have not all their tests"), (untold, "are left out of what was written")]
    {
        if count > 0 {
            eprintln!("note: {count} paths {what}: the time limit was reached");
        }
    }
    if arguments.json {
        // The document without its last brace, and in it the paths.
        let mut fields = document.to_string();
        fields.pop();
        for piece in [&fields, ",\"traces\":[", &listed.text, "]}\n"] {
            emit(piece)?;
        }
    } else {
        let mut last = footer(&document);
        if let Some(tests) = &tests {
            let (count, folder) = (tests.count, &tests.folder);
            let _ = writeln!(last, "{count} tests written to {folder}, each re-run on the concrete machine");
        }
        for piece in [header(&document, &run.words.method()), listed.text, last] {
            emit(&piece)?;
        }
    }
    if let Err(Stop::Broken(what)) = &ends.outcome {
        return Err(Failure { status: Status::Unsupported, message: format!("internal: {what}") }.into());
    }
    Ok(if errors(ends) > 0 {
        Status::Findings
    } else if !ends.completeness.is_complete() || missed > 0 || untold > 0 || unlisted > 0 {
        Status::GaveUp
    } else {
        Status::Clean
    })
}

fn path_json<L: Machine, M: Memory>(
    run: &Run<'_, '_, L>,
    trace: &TraceOf<L>,
    end: &Final<L, M>,
    counted: Option<Counted>,
    truncated: bool,
) -> Json
where
    Final<L, M>: Describe,
{
    let words = run.words;
    let outcomes: Vec<String> = trace.events.iter().filter_map(|event| words.event(event)).collect();
    let error = match &end.end {
        End::Error(fault, place) => json!({"kind": words.fault(fault), "at": words.place(place)}),
        _ => Json::Null,
    };
    let cut = match &end.end {
        End::Cut(cut, place) => json!({"bound": words.cut(cut), "at": words.place(place)}),
        _ => Json::Null,
    };
    let mut condition = end.condition();
    if let Some(precondition) = words.precondition() {
        condition.insert(0, format!("{precondition} holds"));
    }
    json!({
        "outcomes": outcomes,
        "result": end.result().filter(|_| !words.is_void()).map(|text| words.result(text)),
        "error": error,
        "truncated": truncated,
        "cut": cut,
        "heaps": counted.map(|counted| counted.heaps),
        "heaps_complete": counted.is_some_and(|counted| counted.exact),
        "condition": condition,
    })
}

/// The paths as they are printed. A path is written down at once: as values of JSON, all of them take ten times the room.
struct Listing {
    json: bool,
    paths: usize,
    text: String,
}

impl Listing {
    fn new(json: bool) -> Self {
        Listing { json, paths: 0, text: String::new() }
    }

    fn add(&mut self, path: &Json) {
        self.paths += 1;
        let out = &mut self.text;
        if self.json {
            let comma = if self.paths > 1 { "," } else { "" };
            let _ = write!(out, "{comma}{path}");
            return;
        }
        let end = match (&path["error"], &path["cut"]) {
            (Json::Object(error), _) => {
                format!("ERROR {} at {}", text(&error["kind"]), whereabouts(&error["at"]))
            }
            (_, Json::Object(cut)) => {
                format!("CUT OFF by the {} at {}", text(&cut["bound"]), whereabouts(&cut["at"]))
            }
            _ if path["result"].is_null() => "returns".to_owned(),
            _ => format!("returns {}", text(&path["result"])),
        };
        let truncated =
            if path["truncated"] == true && path["cut"].is_null() { ", larger heaps left out" } else { "" };
        let _ = writeln!(out, "\npath {}: {end} ({}{truncated})", self.paths, heaps_of(path));
        for outcome in path["outcomes"].as_array().into_iter().flatten() {
            let _ = writeln!(out, "    {}", text(outcome));
        }
        let condition: Vec<String> = path["condition"].as_array().into_iter().flatten().map(text).collect();
        if !condition.is_empty() {
            let _ = writeln!(out, "  when {}", condition.join("\n   and "));
        }
    }
}

/// How many heaps a path or all of them stand for.
fn heaps_of(document: &Json) -> String {
    match (&document["heaps"], document["heaps_complete"] == true) {
        (Json::Null, _) => "heaps not counted".to_owned(),
        (count, exact) => {
            let more = if exact { "" } else { "at least " };
            format!("{more}{count} heap{}", if *count == 1 { "" } else { "s" })
        }
    }
}

fn text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What stands above the paths.
fn header(document: &Json, method: &str) -> String {
    let k = document["k"].as_u64().map_or("none".to_owned(), |k| k.to_string());
    let mut out = format!("{} of {method}, k = {k}\n", text(&document["engine"]));
    for assumption in document["assumptions"].as_array().into_iter().flatten() {
        let _ = writeln!(out, "assumed: {}", text(assumption));
    }
    out
}

/// What stands below them.
fn footer(document: &Json) -> String {
    let mut out = String::new();
    if document["traces_unlisted"] != 0 {
        let _ = writeln!(
            out,
            "\n{} more paths are not listed: the time limit was reached",
            document["traces_unlisted"]
        );
    }
    let _ = writeln!(
        out,
        "\n{}, {}, {}, {} discarded; {}, {:.2} s",
        counted(&document["paths"], "path"),
        counted(&document["states"], "state"),
        heaps_of(document),
        document["discarded"],
        counted(&document["solver"]["calls"], "solver call"),
        document["seconds"].as_f64().unwrap_or(0.0)
    );
    for left_out in document["left_out"].as_array().into_iter().flatten() {
        let _ = writeln!(out, "INCOMPLETE, left out: {}", text(left_out));
    }
    if let Some(why) = document["stopped"].as_str() {
        let _ = writeln!(out, "STOPPED EARLY, {why}; paths not listed were not explored");
    }
    out
}

/// A place on one line: its name, if it has one, or its line.
fn whereabouts(place: &Json) -> String {
    place["name"].as_str().map_or_else(|| format!("line {}", place["line"]), str::to_owned)
}
