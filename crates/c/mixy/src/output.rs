//! A report in the forms that people and tools read: the path model, and one JSON document.

use crate::declared::Mode;
use crate::finding::{Finding, FlowPath, Report, Status};
use crate::names::site_location;
use parallax_cexplore::explore::Input;
use parallax_cexplore::native::Native;
use parallax_cmodule::Module;
use parallax_report as paths;
pub use parallax_report::Document;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One line that says what is wrong.
pub fn title(finding: &Finding) -> String {
    match finding.kind {
        crate::Kind::NullDereference => format!("{} may be null and is dereferenced", finding.subject),
        crate::Kind::NullToNonnull => format!("{} may be null where it must not be", finding.subject),
    }
}

/// The report in the path model that every tool's reports share.
pub fn document(module: &Module, report: &Report) -> paths::Document {
    let mut document = paths::Document::default();
    for finding in &report.findings {
        let location = site_location(module, finding.site);
        let (file, place) = (module.file_of(location), module.location(location));
        let mut text = title(finding);
        match &finding.status {
            Status::Confirmed => {}
            Status::Likely(why) => text.push_str(&format!(" Likely: {why}.")),
            Status::Possible(why) => text.push_str(&format!(" Possible, not decided: {why}.")),
        }
        let (severity, rank) = match finding.status {
            Status::Confirmed => (paths::Severity::Error, 95),
            Status::Likely(_) => (paths::Severity::Warning, 65),
            Status::Possible(_) => (paths::Severity::Note, 15),
        };
        let mut ways = Vec::new();
        for (number, path) in finding.paths.iter().enumerate() {
            let mut way = way(module, path, finding);
            way.flow = number as u32;
            ways.push(way);
        }
        document.reports.push(paths::Report {
            rule: finding.kind.name().into(),
            title: title(finding),
            text: vec![paths::Segment::plain(text)],
            severity,
            rank: Some(serde_json::Number::from(rank)),
            cwe: vec![476],
            tool: paths::Tool {
                name: "parallax check".into(),
                version: Some(env!("CARGO_PKG_VERSION").into()),
            },
            location: Some(paths::Location::line(file, place.line).at_column(place.column)),
            paths: ways,
            ..paths::Report::default()
        });
    }
    document.notes = report.gaps.iter().map(|gap| format!("left out: {gap}")).collect();
    document
}

fn way(module: &Module, path: &FlowPath, finding: &Finding) -> paths::Path {
    let mut way = paths::PathBuilder::new("");
    let last = crate::finding::Step {
        function: Some(finding.site.function),
        location: site_location(module, finding.site),
        words: title(finding),
    };
    let count = path.steps.len();
    for (number, step) in path.steps.iter().chain([&last]).enumerate() {
        let (file, place) = (module.file_of(step.location), module.location(step.location));
        let function = step.function.map_or("", |id| module.function(id).name.as_str());
        // The way of a value is no call stack: each stretch in one function stands by itself.
        if way.current().is_none_or(|frame| frame.function != function) {
            way.leave_to(0);
            way.enter(paths::Frame::new(function, file));
        }
        let mut shown = match place.line {
            0 => paths::Step::at(paths::Role::Note, None),
            line => paths::Step::new(paths::Role::Note, file, line),
        };
        shown = shown.with_message(&step.words);
        if number == count {
            shown = shown.failing();
        }
        way.step(shown);
    }
    way.finish()
}

/// What each finding is known by from run to run: what is wrong and in which function, not in which line.
pub fn fingerprints(module: &Module, report: &Report) -> Vec<String> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    report
        .findings
        .iter()
        .map(|finding| {
            let location = site_location(module, finding.site);
            let file = std::path::Path::new(module.file_of(location)).file_name().unwrap_or_default();
            let function = &module.function(finding.site.function).name;
            let print =
                format!("{}:{}:{function}:{}", finding.kind.name(), file.to_string_lossy(), finding.subject);
            // Several of the same sort in one function are told apart by their order.
            let number = seen.entry(print.clone()).or_default();
            *number += 1;
            format!("{print}:{number}")
        })
        .collect()
}

/// The report as one JSON document; inputs are written as `input` does.
pub fn json(module: &Module, report: &Report, input: &dyn Fn(&Input) -> Value) -> Value {
    let place = |location| {
        let place = module.location(location);
        json!({ "file": module.file_of(location), "line": place.line, "column": place.column })
    };
    let prints = fingerprints(module, report);
    let findings = report.findings.iter().zip(&prints).map(|(finding, print)| {
        let location = site_location(module, finding.site);
        let found = module.location(location);
        json!({
            "kind": finding.kind.name(),
            "status": finding.status.name(),
            "reason": finding.status.reason(),
            "where": finding.found_by.name(),
            "function": module.function(finding.site.function).name,
            "file": module.file_of(location),
            "line": found.line,
            "column": found.column,
            "message": title(finding),
            "fingerprint": print,
            "contexts": finding.contexts,
            "paths": finding.paths.iter().map(|path| path.steps.iter().map(|step| {
                let mut shown = place(step.location);
                shown["function"] = json!(step.function.map(|id| &module.function(id).name));
                shown["message"] = json!(step.words);
                shown
            }).collect::<Vec<_>>()).collect::<Vec<_>>(),
            "witness": finding.witness.as_ref().map(|witness| json!({
                "input": input(&witness.input),
                "native": match &witness.native {
                    Native::Confirmed => json!({ "confirmed": true }),
                    Native::Differs(words) | Native::Unseen(words) | Native::NotRun(words) => json!({ "confirmed": false, "reason": words }),
                },
            })),
        })
    });
    let blocks = report.blocks.iter().map(|block| {
        json!({
            "function": module.function(block.function).name,
            "mode": match block.mode { Mode::Typed => "typed", Mode::Symbolic => "symbolic", Mode::Model => "model" },
            "contexts": block.contexts,
            "cache_hits": block.cache_hits,
            "iterations": block.iterations,
            "paths": block.paths,
            "seconds": block.seconds,
        })
    });
    json!({
        "findings": findings.collect::<Vec<_>>(),
        "counts": {
            "confirmed": report.count(|status| matches!(status, Status::Confirmed)),
            "likely": report.count(|status| matches!(status, Status::Likely(_))),
            "possible": report.count(|status| matches!(status, Status::Possible(_))),
        },
        "typed_warnings": report.typed,
        "refuted": report.refuted.len(),
        "suppressed": report.suppressed.iter().map(|(reason, count)| json!({ "reason": reason, "count": count })).collect::<Vec<_>>(),
        "seconds": report.seconds,
        "blocks": blocks.collect::<Vec<_>>(),
        "assumptions": report.assumptions,
        "gaps": report.gaps,
    })
}
