//! Triage answers: kept in a file beside the reports, found again by fingerprint when the reports are made anew.

use parallax_report::{Document, Suppression, SuppressionStatus};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name and version of the file's form.
pub const FORMAT: &str = "parallax-triage/1";
/// The longest text a record may hold.
const LONGEST: usize = 64 << 10;
/// The most answers a record may hold.
const MOST: usize = 4096;

/// The triage file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Triage {
    /// Always [`FORMAT`].
    pub format: String,
    /// What is known of each report, by fingerprint.
    pub records: BTreeMap<String, Record>,
}

impl Default for Triage {
    fn default() -> Self {
        Triage { format: FORMAT.to_owned(), records: BTreeMap::new() }
    }
}

/// What somebody said about one report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Record {
    /// The title of the report, so that the file can be read by people.
    pub title: String,
    /// Answers by tab and question: `path-1.loop` is `yes`.
    pub answers: BTreeMap<String, String>,
    /// Explanations by tab.
    pub explanations: BTreeMap<String, String>,
    /// The verdict, once there is one.
    pub verdict: Option<Verdict>,
    /// A remark on the whole.
    pub note: String,
    /// The name of the person who judged.
    pub author: String,
    /// When, as `2026-11-14T16:20:00Z`.
    pub time: String,
    /// The verdicts so far, the oldest first; files of older pages have none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Judgement>,
}

/// A verdict as it was once given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Judgement {
    /// The verdict; none where one was taken back.
    pub verdict: Option<Verdict>,
    /// The remark that went with it.
    pub note: String,
    /// The name of the person who judged.
    pub author: String,
    /// When, as in the record.
    pub time: String,
}

/// Whether a report is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is.
    True,
    /// It is not.
    False,
    /// Nobody can tell yet.
    Unsure,
}

/// Why something is no triage file or record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TriageError {
    /// Not JSON, or not in the form.
    #[error("not a triage file: {0}")]
    Malformed(String),
    /// Another version or another thing altogether.
    #[error("the format is `{0}`, not `{FORMAT}`")]
    Format(String),
    /// A record is larger than any person would write.
    #[error("a triage record is too large")]
    TooLarge,
}

impl Triage {
    /// Reads a triage file.
    pub fn read(bytes: &[u8]) -> Result<Triage, TriageError> {
        let triage: Triage =
            serde_json::from_slice(bytes).map_err(|error| TriageError::Malformed(error.to_string()))?;
        if triage.format != FORMAT {
            return Err(TriageError::Format(triage.format));
        }
        triage.records.values().try_for_each(Record::check)?;
        Ok(triage)
    }

    /// The file's text.
    pub fn write(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("strings and maps always serialise");
        text.push('\n');
        text
    }

    /// Writes the verdicts into the reports as suppressions: false ones are accepted, unsure ones under review.
    ///
    /// A verdict replaces what an earlier verdict left there; suppressions that stand in the source stay.
    pub fn suppress(&self, document: &mut Document) {
        let fingerprints = document.fingerprints();
        for (report, fingerprint) in document.reports.iter_mut().zip(fingerprints) {
            let Some(record) = self.records.get(&fingerprint) else { continue };
            let Some(verdict) = record.verdict else { continue };
            report.suppressions.retain(|suppression| suppression.in_source);
            let status = match verdict {
                Verdict::True => continue,
                Verdict::False => SuppressionStatus::Accepted,
                Verdict::Unsure => SuppressionStatus::UnderReview,
            };
            report.suppressions.push(Suppression {
                in_source: false,
                status,
                justification: record.reasons(),
            });
        }
    }
}

impl Record {
    /// Whether it is of a size that people write.
    pub fn check(&self) -> Result<(), TriageError> {
        let texts = self.answers.iter().chain(&self.explanations).flat_map(|(name, value)| [name, value]);
        let past = self.history.iter().flat_map(|past| [&past.note, &past.author, &past.time]);
        let mut texts = texts.chain([&self.title, &self.note, &self.author, &self.time]).chain(past);
        let many = [self.answers.len(), self.explanations.len(), self.history.len()]
            .iter()
            .any(|&count| count > MOST);
        if many || texts.any(|text| text.len() > LONGEST) { Err(TriageError::TooLarge) } else { Ok(()) }
    }

    /// The remark, the explanations, who and when, in one text.
    fn reasons(&self) -> String {
        let explanations = self.explanations.iter().map(|(tab, text)| format!("{tab}: {text}"));
        let mut parts: Vec<String> = std::iter::once(self.note.clone()).chain(explanations).collect();
        parts.push([self.author.as_str(), self.time.as_str()].join(" "));
        parts.retain(|part| !part.trim().is_empty());
        parts.iter().map(|part| part.trim()).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_report::{Frame, PathBuilder, Report, Step};

    fn document(line: u32) -> Document {
        let mut path = PathBuilder::new("");
        path.enter(Frame::new("f", "a.c"));
        path.step(Step::call("a.c", line));
        let report = Report { title: "null".into(), paths: vec![path.finish()], ..Report::default() };
        let other = Report { title: "leak".into(), ..Report::default() };
        Document { reports: vec![report, other], ..Document::default() }
    }

    fn judged(verdict: Verdict) -> Triage {
        let record = Record {
            verdict: Some(verdict),
            note: "checked by callers".into(),
            author: "mk".into(),
            time: "2026-11-14T16:20:00Z".into(),
            history: vec![Judgement { author: "ada".into(), ..Judgement::default() }],
            ..Record::default()
        };
        let print = document(3).fingerprints()[0].clone();
        Triage { records: [(print, record)].into(), ..Triage::default() }
    }

    #[test]
    fn verdicts_find_their_report_after_the_code_has_moved() {
        let mut moved = document(300);
        judged(Verdict::False).suppress(&mut moved);
        assert!(moved.reports[0].is_suppressed());
        assert!(moved.reports[0].suppressions[0].justification.contains("checked by callers\nmk 2026"));
        assert!(!moved.reports[1].is_suppressed());
        // A change of mind takes it back, and again leaves what stands in the source.
        moved.reports[0].suppressions.push(Suppression { in_source: true, ..Suppression::default() });
        judged(Verdict::True).suppress(&mut moved);
        assert_eq!(moved.reports[0].suppressions.len(), 1);
        assert!(moved.reports[0].suppressions[0].in_source);
    }

    #[test]
    fn the_file_is_read_back_as_written_and_others_are_refused() {
        let triage = judged(Verdict::Unsure);
        assert_eq!(Triage::read(triage.write().as_bytes()), Ok(triage));
        assert!(matches!(Triage::read(b"{}"), Err(TriageError::Malformed(_))));
        assert!(matches!(Triage::read(br#"{"format":"x","records":{}}"#), Err(TriageError::Format(_))));
        let mut large = judged(Verdict::True);
        large.records.values_mut().for_each(|record| record.note = "x".repeat(LONGEST + 1));
        assert_eq!(Triage::read(large.write().as_bytes()), Err(TriageError::TooLarge));
    }
}
