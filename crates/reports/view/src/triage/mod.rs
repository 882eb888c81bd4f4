//! Triage answers: kept in a file beside the reports, found again when the reports are made anew, merged where several
//! people, pages and servers give them.
//!
//! A file is a set of [answers](Answer), and merging is their union. So whoever writes reads first, adds what is new, and
//! nothing that was once written goes away; of answers that were given without knowledge of each other both are kept.

mod answers;
mod attach;
mod earlier;

pub use answers::{Answer, Judged, Record, Verdict};
pub use attach::{Attached, Reports};

use parallax_report::{Suppression, SuppressionStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The name and version of the file's form.
pub const FORMAT: &str = "parallax-triage/2";
/// Records of reports that were never answered are kept up to this number.
const UNANSWERED: usize = 20_000;

/// The triage file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Triage {
    /// Always [`FORMAT`].
    pub format: String,
    /// What is known of each report, by its key.
    pub records: BTreeMap<String, Record>,
    /// Records that cannot be read, as they were found: they are written again as they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unreadable: BTreeMap<String, Value>,
    /// What is wrong with them, in words; not part of the file.
    #[serde(skip)]
    pub notes: Vec<String>,
}

impl Default for Triage {
    fn default() -> Self {
        Triage {
            format: FORMAT.to_owned(),
            records: BTreeMap::new(),
            unreadable: BTreeMap::new(),
            notes: Vec::new(),
        }
    }
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
    #[error("{what} is too large: a text holds at most {} kB", answers::LONGEST >> 10)]
    TooLarge {
        /// What is.
        what: &'static str,
    },
}

impl Triage {
    /// Reads a triage file of this form or of the one before. A record that cannot be read is set aside and named in the
    /// notes; the others are read.
    pub fn read(bytes: &[u8]) -> Result<Triage, TriageError> {
        /// A record with its key, from those of the file.
        type Reader = fn(&str, &Value) -> Result<(String, Record), String>;
        #[derive(Deserialize)]
        struct File {
            format: String,
            records: BTreeMap<String, Value>,
            #[serde(default)]
            unreadable: BTreeMap<String, Value>,
        }
        let file: File =
            serde_json::from_slice(bytes).map_err(|error| TriageError::Malformed(error.to_string()))?;
        let read: Reader = match file.format.as_str() {
            FORMAT => |key, value| Ok((key.to_owned(), Record::read(value)?)),
            earlier::FORMAT => earlier::read,
            _ => return Err(TriageError::Format(file.format)),
        };
        let mut triage = Triage::default();
        for (key, value) in file.records.into_iter().chain(file.unreadable) {
            match read(&key, &value) {
                Ok((key, record)) => triage.put(key, record),
                Err(why) => {
                    let name =
                        |field: &str| value.get(field).and_then(Value::as_str).unwrap_or("").to_owned();
                    let named = [name("report"), name("title")].join(" ");
                    let named = if named.trim().is_empty() { key.clone() } else { named.trim().to_owned() };
                    triage.notes.push(format!(
                        "the answers on `{named}` cannot be read and are kept as they are: {why}"
                    ));
                    triage.unreadable.insert(key, value);
                }
            }
        }
        Ok(triage)
    }

    /// The file's text.
    pub fn write(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("strings and maps always serialise");
        text.push('\n');
        text
    }

    /// Takes in all of another set of answers.
    pub fn merge(&mut self, other: Triage) {
        for (key, record) in other.records {
            self.put(key, record);
        }
        for (key, value) in other.unreadable {
            self.unreadable.entry(key).or_insert(value);
        }
    }

    fn put(&mut self, key: String, record: Record) {
        match self.records.entry(key) {
            std::collections::btree_map::Entry::Vacant(free) => drop(free.insert(record)),
            std::collections::btree_map::Entry::Occupied(mut known) => known.get_mut().merge(record),
        }
    }

    /// Forgets the oldest of the reports that were never answered, and records that another continues.
    pub fn prune(&mut self) {
        let continued: std::collections::BTreeSet<String> =
            self.records.values().flat_map(|record| record.was.iter().cloned()).collect();
        self.records.retain(|key, _| !(key.starts_with(earlier::PREFIX) && continued.contains(key)));
        let mut unanswered: Vec<(u64, String)> = self
            .records
            .iter()
            .filter(|(_, record)| record.answers.is_empty() && record.was.is_empty())
            .map(|(key, record)| (record.seen, key.clone()))
            .collect();
        unanswered.sort_unstable();
        let excess = unanswered.len().saturating_sub(UNANSWERED);
        for (_, key) in &unanswered[..excess] {
            self.records.remove(key);
        }
    }

    /// Writes the verdicts into the reports as suppressions: false ones are accepted, unsure ones and those on which
    /// people differ under review. Reports that are only perhaps the ones that were judged get none.
    ///
    /// A verdict replaces what an earlier verdict left there; suppressions that stand in the source stay.
    pub fn suppress(&mut self, reports: Reports<'_>) -> Vec<String> {
        let Reports { document, code, written, made } = reports;
        let attached = self.attach(Reports { document: &mut *document, code, written, made });
        for (report, key) in document.reports.iter_mut().zip(&attached.keys) {
            let Some(record) = self.records.get(key) else { continue };
            let status = match record.judged() {
                Judged::Open => continue,
                Judged::As(Verdict::True) => None,
                Judged::As(Verdict::False) => Some(SuppressionStatus::Accepted),
                Judged::As(Verdict::Unsure) | Judged::Differently => Some(SuppressionStatus::UnderReview),
            };
            report.suppressions.retain(|suppression| suppression.in_source);
            report.suppressions.extend(status.map(|status| Suppression {
                in_source: false,
                status,
                justification: record.reasons(),
            }));
        }
        attached.notes
    }
}
