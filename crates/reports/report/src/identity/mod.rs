//! What a report is known by from run to run: where it stands in the code, and what its tool calls it.
//!
//! Line numbers say nothing after an edit. What is kept instead is the code itself, hashed line by line: the line that
//! the report is about, its neighbours within the function, the calls that lead there. [`track`] compares the identities
//! of two runs and says which report is which, as far as that is certain.

mod neighbours;
mod place;
mod track;

pub use neighbours::{LineHash, Neighbours};
pub use place::{Code, NoCode};
pub use track::{Match, track};

use crate::{Baseline, Document, Importance, Report, Role, Step};
pub(crate) use place::{base_name, masked};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The name of our entry among the fingerprints of a report: its [`Place`] as JSON.
pub const PLACE: &str = "parallaxPlace/v1";
/// The name of the entry that other programs can compare: the report's [key](Identity::key).
pub const KEY: &str = "parallaxKey/v1";
/// Of a path, the last calls before the place are kept.
const CALLS: usize = 12;

/// What a report is known by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// The tool's name.
    pub tool: String,
    /// The tool's name for the kind of finding.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// The title, numbers masked: tools put line numbers and addresses there.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Identities that the tool computed, by the name of its method.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub own: BTreeMap<String, String>,
    /// Where it stands in the code.
    #[serde(flatten)]
    pub place: Place,
}

/// Where a report stands in the code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Place {
    /// The file, below the project's root where its source is known.
    pub file: String,
    /// The function.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub function: String,
    /// The line of code and its neighbours, where the source is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Neighbours>,
    /// The calls that lead there, outermost first: function, and the code of the call where it is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<(String, Option<LineHash>)>,
    /// Where the other stacks and threads of the report end, by function and code: a race has two places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ends: Vec<(String, Neighbours)>,
    /// A digest of the code of all steps.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub trail: String,
    /// A digest of the title and of the lines of all steps, by their numbers.
    pub lines: String,
    /// A digest of the file's text, where it is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

impl Place {
    /// What only a report on the same lines of the same text shares.
    fn spot(&self) -> (&str, &str) {
        (&self.lines, &self.text)
    }
}

impl Identity {
    /// One word for all of it but line numbers: equal words, equal identities.
    pub fn key(&self) -> String {
        let place = Place { lines: String::new(), text: String::new(), ..self.place.clone() };
        let anywhere = Identity { place, ..self.clone() };
        digest(&[&serde_json::to_string(&anywhere).unwrap_or_default()])
    }
}

impl Document {
    /// Notes for every report where it stands in the code, as SARIF carries it. Reports whose source is not known keep
    /// what an earlier run noted.
    pub fn note_places(&mut self, code: &mut dyn Code) {
        for report in &mut self.reports {
            // What is gone stood in a text of before.
            if report.baseline == Some(Baseline::Absent) {
                continue;
            }
            let place = Place::of(report, code);
            if place.code.is_some() {
                let text = serde_json::to_string(&place).unwrap_or_default();
                report.fingerprints.insert(PLACE.to_owned(), text);
                report.fingerprints.remove(KEY);
            }
        }
        let keys = keys(&self.identities());
        for (report, key) in self.reports.iter_mut().zip(keys) {
            if report.fingerprints.contains_key(PLACE) {
                report.fingerprints.insert(KEY.to_owned(), key);
            }
        }
    }

    /// What each report is known by, in order: with the place in the code where it was noted.
    pub fn identities(&self) -> Vec<Identity> {
        self.reports.iter().map(Report::identity).collect()
    }
}

impl Report {
    /// What this report is known by.
    pub fn identity(&self) -> Identity {
        let noted = self.fingerprints.get(PLACE).and_then(|text| serde_json::from_str(text).ok());
        Identity {
            tool: self.tool.name.clone(),
            rule: self.rule.clone(),
            title: masked(&self.title),
            own: own(self),
            place: noted.unwrap_or_else(|| Place::of(self, &mut NoCode)),
        }
    }
}

/// A key for each of the reports of one run. Reports that the code tells apart have keys that survive edits elsewhere;
/// equal-looking ones have keys that hold for this very text; reports that are the same to the letter share one.
pub fn keys(identities: &[Identity]) -> Vec<String> {
    let plain: Vec<String> = identities.iter().map(Identity::key).collect();
    let mut spots: HashMap<&str, HashSet<(&str, &str)>> = HashMap::new();
    for (identity, key) in identities.iter().zip(&plain) {
        spots.entry(key).or_default().insert(identity.place.spot());
    }
    identities
        .iter()
        .zip(&plain)
        .map(|(identity, key)| match spots.get(key.as_str()) {
            Some(alike) if alike.len() > 1 => {
                digest(&[key.as_str(), &identity.place.lines, &identity.place.text])
            }
            _ => key.clone(),
        })
        .collect()
}

/// What the tool itself computed. A counter at the end of a line hash only says which of several equal lines it is in
/// this run, so it does not count.
fn own(report: &Report) -> BTreeMap<String, String> {
    let ours = |name: &str| name == PLACE || name == KEY;
    let prints = report.fingerprints.iter().filter(|(name, value)| !ours(name) && !value.is_empty());
    prints
        .map(|(name, value)| {
            let counted = value.rsplit_once(':').filter(|(_, count)| {
                name.contains("LineHash")
                    && !count.is_empty()
                    && count.bytes().all(|byte| byte.is_ascii_digit())
            });
            (name.clone(), counted.map_or(value.as_str(), |(hash, _)| hash).to_owned())
        })
        .collect()
}

/// Sixteen bytes of SHA-256 over the parts and their lengths, as hexadecimal digits.
fn digest<T: AsRef<str>>(parts: &[T]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.as_ref().len() as u64).to_le_bytes());
        hash.update(part.as_ref().as_bytes());
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The steps that tell a story, with their place in it.
fn told(steps: &[Step]) -> impl Iterator<Item = &Step> {
    steps.iter().filter(|step| step.importance != Importance::Unimportant || step.role != Role::Note)
}
