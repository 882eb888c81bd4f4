//! Triage files of the form before, `parallax-triage/1`: one record for each report, by a fingerprint of the tool, the
//! rule, the functions and the title, in which like reports are told apart by their order in that run.

use super::answers::{ANSWER, Answer, EXPLAIN, NOTE, Record, VERDICT};
use parallax_report::Document;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

pub(super) const FORMAT: &str = "parallax-triage/1";
/// What stands before the fingerprint in the key of a record of this form.
pub(super) const PREFIX: &str = "v1:";

#[derive(Default, Deserialize)]
#[serde(default)]
struct Earlier {
    title: String,
    answers: BTreeMap<String, String>,
    explanations: BTreeMap<String, String>,
    verdict: Option<String>,
    note: String,
    author: String,
    time: String,
    history: Vec<Judgement>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Judgement {
    verdict: Option<String>,
    note: String,
    author: String,
    time: String,
}

/// A record of this form as one of today's: the same file gives the same answers each time.
pub(super) fn read(fingerprint: &str, value: &Value) -> Result<(String, Record), String> {
    if fingerprint.starts_with(PREFIX) {
        return Ok((fingerprint.to_owned(), Record::read(value)?));
    }
    let earlier = Earlier::deserialize(value).map_err(|error| error.to_string())?;
    let mut record = Record { title: earlier.title, ..Record::default() };
    let mut add = |field: String,
                   value: String,
                   note: String,
                   author: &str,
                   time: &str,
                   replaces: BTreeMap<String, u64>| {
        let id = format!("v1.{fingerprint}.{}", record.answers.len());
        let (author, time) = (author.to_owned(), time.to_owned());
        record.answers.push(Answer {
            id: id.clone(),
            field,
            value,
            note,
            author,
            time,
            revision: 0,
            replaces,
        });
        id
    };
    let (author, time) = (earlier.author.as_str(), earlier.time.as_str());
    for (name, value) in earlier.answers {
        add(format!("{ANSWER}{name}"), value, String::new(), author, time, BTreeMap::new());
    }
    for (tab, text) in earlier.explanations {
        add(format!("{EXPLAIN}{tab}"), text, String::new(), author, time, BTreeMap::new());
    }
    if !earlier.note.is_empty() {
        add(NOTE.to_owned(), earlier.note.clone(), String::new(), author, time, BTreeMap::new());
    }
    let mut past = earlier.history;
    let last = past.last().and_then(|past| past.verdict.clone());
    if last != earlier.verdict {
        let (author, time) = (author.to_owned(), time.to_owned());
        past.push(Judgement { verdict: earlier.verdict, note: earlier.note, author, time });
    }
    let mut before = BTreeMap::new();
    for one in past {
        let word = one.verdict.unwrap_or_default();
        let id = add(VERDICT.to_owned(), word, one.note, &one.author, &one.time, before.clone());
        before.insert(id, 0);
    }
    record.answers.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    record.check().map_err(|error| error.to_string())?;
    Ok((format!("{PREFIX}{fingerprint}"), record))
}

/// The records of the form before that a report may be meant by.
pub(super) struct Fingerprints {
    /// Of each report, and the how many-th of its kind it is.
    prints: Vec<(String, usize)>,
}

impl Fingerprints {
    pub(super) fn of(document: &Document) -> Fingerprints {
        let mut counts: HashMap<String, usize> = HashMap::new();
        let prints = document.reports.iter().map(|report| {
            let print = report.fingerprint();
            let count = counts.entry(print.clone()).or_default();
            *count += 1;
            (print, *count)
        });
        let prints = prints.collect();
        Fingerprints { prints }
    }

    /// The key of the record that was about report `at`, if the reports are those that were judged.
    pub(super) fn exact(&self, at: usize) -> String {
        let (print, number) = &self.prints[at];
        if *number == 1 { format!("{PREFIX}{print}") } else { format!("{PREFIX}{print}-{number}") }
    }

    /// The keys of all records that may have been about report `at`.
    pub(super) fn alike(&self, at: usize, records: &BTreeMap<String, Record>) -> Vec<String> {
        let first = format!("{PREFIX}{}", self.prints[at].0);
        let more = format!("{first}-");
        let numbered =
            records.range(more.clone()..).map(|(key, _)| key).take_while(|key| key.starts_with(&more));
        records.contains_key(&first).then_some(&first).into_iter().chain(numbered).cloned().collect()
    }
}
