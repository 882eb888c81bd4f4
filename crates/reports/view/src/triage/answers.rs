//! The answers on one report, and how those of two people are put together.

use super::TriageError;
use parallax_report::identity::Identity;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The longest text a record may hold.
pub(super) const LONGEST: usize = 64 << 10;
/// The most answers a record may hold.
const MOST: usize = 4096;
/// Of answers to one question, at most so many that others have replaced are remembered.
const REMEMBERED: usize = 50;
/// The field of the verdict.
pub(super) const VERDICT: &str = "verdict";
/// The field of the remark on the whole.
pub(super) const NOTE: &str = "note";
/// What stands before the name of a tab in the field of its explanation.
pub(super) const EXPLAIN: &str = "explain:";
/// What stands before the name of a question in its field.
pub(super) const ANSWER: &str = "answer:";

/// What is known of one report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// The report's number on the page that was made last, such as `R-12`.
    pub report: String,
    /// Its title, so that the file can be read by people.
    pub title: String,
    /// What it is known by; absent in records of the form before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// When a page with it was made last, in seconds since 1970.
    #[serde(skip_serializing_if = "is_zero")]
    pub seen: u64,
    /// When a page with it was made first; zero where that is not known.
    #[serde(skip_serializing_if = "is_zero")]
    pub since: u64,
    /// Records of before that are about the same report, as a person has confirmed, or the form before says.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub was: BTreeSet<String>,
    /// By their ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One answer to one question.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// Unique among all answers: the page that gave it, and a number.
    pub id: String,
    /// `answer:path-1.loop`, `explain:path-1`, `note`, or `verdict`.
    pub field: String,
    /// The answer; empty where one was taken back.
    pub value: String,
    /// The remark that went with a verdict.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The name of the person who gave it.
    pub author: String,
    /// When, as `2026-11-14T16:20:00Z`.
    pub time: String,
    /// How often it was revised by the page that gave it, as a text is while it is typed.
    #[serde(skip_serializing_if = "is_zero")]
    pub revision: u64,
    /// The answers to the same question that were known when it was given, and that it replaces, as they were then: a
    /// later revision of one of them stands again.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub replaces: BTreeMap<String, u64>,
}

/// Whether a report is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is.
    True,
    /// It is not.
    False,
    /// Cannot be told yet.
    Unsure,
}

impl Verdict {
    fn of(word: &str) -> Option<Verdict> {
        Some(match word {
            "true" => Verdict::True,
            "false" => Verdict::False,
            "unsure" => Verdict::Unsure,
            _ => return None,
        })
    }
}

/// What the verdicts on a report say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// There is none.
    Open,
    /// One.
    As(Verdict),
    /// Several people gave different ones, none in the knowledge of the others.
    Differently,
}

impl Record {
    /// Reads a record of a file.
    pub(super) fn read(value: &Value) -> Result<Record, String> {
        let record = Record::deserialize(value).map_err(|error| error.to_string())?;
        record.check().map_err(|error| error.to_string())?;
        Ok(record)
    }

    /// Whether it is of a size that people write.
    pub fn check(&self) -> Result<(), TriageError> {
        let too_large = |what| Err(TriageError::TooLarge { what });
        if self.answers.len() > MOST || self.was.len() > MOST {
            return too_large("the number of answers");
        }
        if [&self.report, &self.title].iter().any(|text| text.len() > LONGEST) {
            return too_large("the title");
        }
        for answer in &self.answers {
            let names = [&answer.id, &answer.field, &answer.author, &answer.time];
            if names.iter().any(|name| name.len() > 1024) || answer.replaces.len() > MOST {
                return too_large("the name of an answer");
            }
            if answer.value.len() > LONGEST || answer.note.len() > LONGEST {
                return too_large(match answer.field.as_str() {
                    NOTE => "the note",
                    VERDICT => "the note on the verdict",
                    _ => "an explanation",
                });
            }
        }
        Ok(())
    }

    /// Takes in what another copy of the record says.
    pub fn merge(&mut self, other: Record) {
        let is_empty = self.identity.is_none() && self.answers.is_empty();
        if other.identity.is_some() && (self.identity.is_none() || other.seen > self.seen) {
            self.identity = other.identity;
            self.report = other.report;
            self.title = other.title;
        }
        self.seen = self.seen.max(other.seen);
        // Zero is not known: then it may have been there at any time.
        self.since = if is_empty { other.since } else { self.since.min(other.since) };
        self.was.extend(other.was);
        let mut answers: BTreeMap<String, Answer> =
            std::mem::take(&mut self.answers).into_iter().map(|answer| (answer.id.clone(), answer)).collect();
        for answer in other.answers {
            match answers.entry(answer.id.clone()) {
                std::collections::btree_map::Entry::Vacant(free) => drop(free.insert(answer)),
                std::collections::btree_map::Entry::Occupied(mut known) => known.get_mut().merge(answer),
            }
        }
        self.answers = answers.into_values().collect();
        self.forget();
    }

    /// Of each question, keeps the answers that stand and the last of those replaced. What replaced an answer that goes
    /// away takes over what that one replaced, so that an old copy cannot bring it back.
    fn forget(&mut self) {
        let mut fields: BTreeMap<String, Vec<Answer>> = BTreeMap::new();
        for answer in std::mem::take(&mut self.answers) {
            fields.entry(answer.field.clone()).or_default().push(answer);
        }
        for answers in fields.values_mut() {
            let replaced = replaced(answers.iter());
            let mut old: Vec<(String, String)> = answers
                .iter()
                .filter(|answer| answer.is_replaced(&replaced))
                .map(|answer| (answer.time.clone(), answer.id.clone()))
                .collect();
            old.sort_unstable();
            let excess = old.len().saturating_sub(REMEMBERED);
            for (_, id) in &old[..excess] {
                let Some(at) = answers.iter().position(|answer| answer.id == *id) else { continue };
                let gone = answers.swap_remove(at);
                for heir in answers.iter_mut().filter(|answer| answer.replaces.contains_key(&gone.id)) {
                    heir.replace_also(&gone.replaces);
                }
            }
        }
        self.answers = fields.into_values().flatten().collect();
        self.answers.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    }

    /// The answers to a question that no other replaces, the latest last.
    pub fn standing(&self, field: &str) -> Vec<&Answer> {
        let all = || self.answers.iter().filter(|answer| answer.field == field);
        let replaced = replaced(all());
        let mut standing: Vec<&Answer> = all().filter(|answer| !answer.is_replaced(&replaced)).collect();
        standing.sort_unstable_by(|a, b| (&a.time, &a.id).cmp(&(&b.time, &b.id)));
        standing
    }

    /// What the verdicts say together.
    pub fn judged(&self) -> Judged {
        let standing = self.standing(VERDICT);
        let mut verdicts = standing.iter().map(|answer| Verdict::of(&answer.value));
        match verdicts.next() {
            None => Judged::Open,
            Some(first) if verdicts.all(|other| other == first) => first.map_or(Judged::Open, Judged::As),
            Some(_) => Judged::Differently,
        }
    }

    /// The remarks, the explanations, who and when, in one text.
    pub(super) fn reasons(&self) -> String {
        let fields: BTreeSet<&str> = self.answers.iter().map(|answer| answer.field.as_str()).collect();
        let mut parts: Vec<String> = self.standing(NOTE).iter().map(|note| note.value.clone()).collect();
        for field in fields.iter().filter(|field| field.starts_with(EXPLAIN)) {
            let tab = &field[EXPLAIN.len()..];
            let texts = self.standing(field).into_iter().filter(|text| !text.value.trim().is_empty());
            parts.extend(texts.map(|text| format!("{tab}: {}", text.value.trim())));
        }
        let verdicts = self.standing(VERDICT);
        for verdict in &verdicts {
            let said = if verdicts.len() > 1 { format!("{}: ", verdict.value) } else { String::new() };
            parts.push(format!("{said}{} {}", verdict.author, verdict.time));
        }
        parts.retain(|part| !part.trim().is_empty());
        parts.iter().map(|part| part.trim()).collect::<Vec<_>>().join("\n")
    }
}

/// The answers that others replace, each with the last revision that was known to one of them.
fn replaced<'a>(answers: impl Iterator<Item = &'a Answer>) -> BTreeMap<String, u64> {
    let mut all = Answer::default();
    answers.for_each(|answer| all.replace_also(&answer.replaces));
    all.replaces
}

impl Answer {
    fn is_replaced(&self, replaced: &BTreeMap<String, u64>) -> bool {
        replaced.get(&self.id).is_some_and(|&revision| revision >= self.revision)
    }

    fn replace_also(&mut self, others: &BTreeMap<String, u64>) {
        for (id, &revision) in others {
            let known = self.replaces.entry(id.clone()).or_insert(revision);
            *known = revision.max(*known);
        }
    }

    /// Takes in another copy of the same answer: the one that was revised more often counts.
    fn merge(&mut self, other: Answer) {
        let order = |answer: &Answer| (answer.revision, answer.time.clone(), answer.value.clone());
        let mut both = if order(&other) > order(self) { other.clone() } else { self.clone() };
        both.replace_also(&self.replaces);
        both.replace_also(&other.replaces);
        *self = both;
    }
}
