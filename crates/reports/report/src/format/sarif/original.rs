//! Results that were read from SARIF are written as they were: rules by index, base ids, snippets, bags, and whatever else
//! the standard has and our model has not. That holds as long as the report still says what its result says. A verdict
//! and a baseline may have come since; a report that was changed otherwise is written anew.

use super::read::Run;
use super::write::write_suppression;
use crate::{Document, Excerpt, Report};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What of a document need not be written anew.
#[derive(Default)]
pub(super) struct Originals {
    /// For each report its result, where that still stands.
    pub results: Vec<Option<Value>>,
    /// What reading those results and their runs gives besides.
    pub excerpts: BTreeSet<Excerpt>,
    pub notes: Vec<String>,
}

impl Originals {
    pub(super) fn of(document: &Document) -> Self {
        let runs: Vec<Run> = document.runs.iter().map(Run::new).collect();
        let mut originals = Originals::default();
        let mut told = Document::default();
        runs.iter().for_each(|run| run.tell_failures(&mut told.notes));
        for report in &document.reports {
            let run = report.run.and_then(|run| runs.get(run)).filter(|_| !report.extra.is_empty());
            let result = run.and_then(|run| original(report, run, &mut told.notes));
            originals.results.push(result);
        }
        for run in runs {
            told.notes.extend(run.asides());
            told.excerpts.extend(run.excerpts());
        }
        told.tidy();
        (originals.excerpts, originals.notes) = (told.excerpts.into_iter().collect(), told.notes);
        originals
    }
}

fn original(report: &Report, run: &Run, notes: &mut Vec<String>) -> Option<Value> {
    let mut result: Value = report.extra.clone().into();
    let mut read = run.report(&result, notes);
    read.tidy();
    if read.baseline != report.baseline {
        match report.baseline {
            Some(baseline) => result["baselineState"] = json!(baseline),
            None => drop(result.as_object_mut()?.remove("baselineState")),
        }
    }
    if read.suppressions != report.suppressions {
        result["suppressions"] = report.suppressions.iter().map(write_suppression).collect();
    }
    let same = Report {
        baseline: report.baseline,
        suppressions: report.suppressions.clone(),
        run: report.run,
        extra: report.extra.clone(),
        ..read
    } == *report;
    same.then_some(result)
}
