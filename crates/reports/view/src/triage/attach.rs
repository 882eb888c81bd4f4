//! Which record is about which report of a run.

use super::earlier::Fingerprints;
use super::{Record, Triage};
use parallax_report::Document;
use parallax_report::identity::{Code, Identity, Match, keys, track};
use std::collections::{BTreeSet, HashMap};

/// The reports of a run.
pub struct Reports<'r> {
    /// With their places [noted](Document::note_places).
    pub document: &'r mut Document,
    /// The code they speak of.
    pub code: &'r mut dyn Code,
    /// When the report files were written, as `2026-11-14T16:20:00Z`, if that is known: answers of the form before that
    /// are younger were given on these very reports.
    pub written: Option<String>,
    /// Now, in seconds since 1970.
    pub made: u64,
}

/// Which record is about which report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attached {
    /// For each report the key of its record.
    pub keys: Vec<String>,
    /// For each report its name on the page, such as `R-12`: the one it had before, or one that no report had.
    pub names: Vec<String>,
    /// For each report the keys of records that may be about it, the likeliest first.
    pub perhaps: Vec<Vec<String>>,
    /// The keys of records with answers that are about no report here, not even perhaps.
    pub gone: Vec<String>,
    /// How far answers were carried over, in words.
    pub notes: Vec<String>,
}

/// As much of a title as tells people which report a record is about.
fn clipped(title: &str) -> String {
    const LONGEST: usize = 1_000;
    match title.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}\u{2026}", &title[..end]),
        None => title.to_owned(),
    }
}

impl Triage {
    /// Finds the record of each report, and makes one where there is none.
    pub fn attach(&mut self, reports: Reports<'_>) -> Attached {
        let Reports { document, code, written, made } = reports;
        let now = document.identities();
        let continued: BTreeSet<String> =
            self.records.values().flat_map(|record| record.was.iter().cloned()).collect();
        let known: Vec<(String, Identity)> = self
            .records
            .iter()
            .filter(|(key, _)| !continued.contains(*key))
            .filter_map(|(key, record)| Some((key.clone(), record.identity.clone()?)))
            .collect();
        let identities: Vec<Identity> = known.iter().map(|(_, identity)| identity.clone()).collect();
        let matches = track(&identities, &now, code);
        let mut attached =
            Attached { keys: keys(&now), perhaps: vec![Vec::new(); now.len()], ..Attached::default() };
        let answered = |triage: &Triage, key: &str| {
            triage.records.get(key).is_some_and(|record| !record.answers.is_empty())
        };
        for (at, found) in matches.iter().enumerate() {
            match found {
                Match::Same(old) => attached.keys[at].clone_from(&known[*old].0),
                Match::Perhaps(olds) => {
                    let likely = olds.iter().map(|&old| known[old].0.clone());
                    attached.perhaps[at] = likely.filter(|key| answered(self, key)).collect();
                }
                Match::New => {}
            }
        }
        self.late(&known, &matches, &now, code, &mut attached);
        self.carry(document, written.as_deref(), &continued, &mut attached);
        attached.names = self.names(&attached.keys);
        for (at, identity) in now.into_iter().enumerate() {
            let record = self.records.entry(attached.keys[at].clone()).or_default();
            // Of reports that share a record the first gives it its name.
            if record.identity.is_none() && record.answers.is_empty() {
                record.since = made;
            }
            if record.seen != made || record.identity.is_none() || record.report.is_empty() {
                record.identity = Some(identity);
                record.report.clone_from(&attached.names[at]);
                record.title = clipped(&document.reports[at].title);
                record.seen = made;
            }
            // What is answered already is not asked.
            if !record.answers.is_empty() {
                attached.perhaps[at].clear();
            }
        }
        let asked = attached.perhaps.iter().filter(|likely| !likely.is_empty()).count();
        if asked > 0 {
            attached.notes.push(format!(
                "{asked} of {} reports look like ones that were judged before and may be others: they are shown as \
                 \"perhaps\", to be confirmed",
                attached.keys.len()
            ));
        }
        let named: BTreeSet<&String> =
            attached.keys.iter().chain(attached.perhaps.iter().flatten()).collect();
        let gone = known.iter().map(|(key, _)| key).filter(|key| !named.contains(key) && answered(self, key));
        attached.gone = gone.cloned().collect();
        if !attached.gone.is_empty() {
            attached.notes.push(format!(
                "{} of the reports answered before {} not here, mended or changed too much to be known again: what \
                 was said of them is kept",
                attached.gone.len(),
                if attached.gone.len() == 1 { "is" } else { "are" }
            ));
        }
        attached
    }

    /// Answers that came later than the report they are about got a record of its own: given on a page of before, or merged
    /// from another file. Their record is of no report here and was never there together with the one that is.
    fn late(
        &self,
        known: &[(String, Identity)],
        matches: &[Match],
        now: &[Identity],
        code: &mut dyn Code,
        attached: &mut Attached,
    ) {
        let here: BTreeSet<&str> = matches
            .iter()
            .filter_map(
                |found| if let Match::Same(old) = found { Some(known[*old].0.as_str()) } else { None },
            )
            .collect();
        let late: Vec<&(String, Identity)> = known
            .iter()
            .filter(|(key, _)| !here.contains(key.as_str()) && !self.records[key].answers.is_empty())
            .collect();
        let open: Vec<usize> = (0..now.len())
            .filter(|&at| {
                matches!(matches[at], Match::Same(_)) && self.records[&attached.keys[at]].answers.is_empty()
            })
            .collect();
        if late.is_empty() || open.is_empty() {
            return;
        }
        let then: Vec<Identity> = late.iter().map(|(_, identity)| identity.clone()).collect();
        let some: Vec<Identity> = open.iter().map(|&at| now[at].clone()).collect();
        for (&at, found) in open.iter().zip(track(&then, &some, code)) {
            let likely = match found {
                Match::Same(old) => vec![old],
                Match::Perhaps(olds) => olds,
                Match::New => continue,
            };
            let since = self.records[&attached.keys[at]].since;
            let likely =
                likely.into_iter().map(|old| &late[old].0).filter(|key| self.records[*key].seen < since);
            attached.perhaps[at] = likely.cloned().collect();
        }
    }

    /// A name for each report. An address that was copied leads to the same report, or to none, as long as the records
    /// are there.
    fn names(&self, keys: &[String]) -> Vec<String> {
        let number = |name: &str| name.strip_prefix("R-")?.parse::<usize>().ok();
        let used = self.records.values().filter_map(|record| number(&record.report)).max().unwrap_or(0);
        let mut next = used + 1;
        let width = used.max(keys.len()).to_string().len().max(2);
        let mut taken = BTreeSet::new();
        keys.iter()
            .map(|key| {
                let known = self.records.get(key).and_then(|record| number(&record.report));
                let number = known.filter(|&number| taken.insert(number)).unwrap_or_else(|| {
                    next += 1;
                    next - 1
                });
                format!("R-{number:0width$}")
            })
            .collect()
    }

    /// Answers of the form before: surely about a report where the reports are those that were judged, perhaps otherwise.
    fn carry(
        &mut self,
        document: &Document,
        written: Option<&str>,
        continued: &BTreeSet<String>,
        attached: &mut Attached,
    ) {
        let earlier = |key: &String| key.starts_with(super::earlier::PREFIX) && !continued.contains(key);
        let total = self.records.keys().filter(|key| earlier(key)).count();
        if total == 0 {
            return;
        }
        let prints = Fingerprints::of(document);
        let mut taken: HashMap<String, bool> = HashMap::new();
        for at in 0..document.reports.len() {
            if self.records.get(&attached.keys[at]).is_some_and(|record| !record.answers.is_empty()) {
                continue;
            }
            let exact = prints.exact(at);
            let younger = |record: &Record| {
                let last = record.answers.iter().map(|answer| answer.time.as_str()).max();
                last.zip(written).is_some_and(|(last, written)| last >= written)
            };
            match self.records.get(&exact).filter(|_| earlier(&exact)) {
                Some(record) if younger(record) => {
                    let (answers, title) = (record.answers.clone(), record.title.clone());
                    let carried = Record { answers, title, was: [exact.clone()].into(), ..Record::default() };
                    self.put(attached.keys[at].clone(), carried);
                    taken.insert(exact, true);
                }
                _ => {
                    let alike = prints.alike(at, &self.records);
                    for key in alike.into_iter().filter(|key| earlier(key)) {
                        taken.entry(key.clone()).or_insert(false);
                        attached.perhaps[at].push(key);
                    }
                    attached.perhaps[at].truncate(3);
                }
            }
        }
        let carried = taken.values().filter(|&&sure| sure).count();
        let asked = taken.len() - carried;
        attached.notes.push(format!(
            "the triage file is of an earlier form, which knows a report by its function and title only: of {total} \
             answered reports {carried} are carried over, {asked} to be confirmed since the reports were made after the \
             answers, {} are of no report here and are kept",
            total - taken.len()
        ));
    }
}
