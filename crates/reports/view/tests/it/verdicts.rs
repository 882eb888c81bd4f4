//! Verdicts that are given on the reports of one run, and what became of them in the next.

use crate::tree::Dice;
use parallax_report::Document;
use parallax_view::triage::{Answer, Attached, Record, Reports, Triage};
use parallax_view::{Roots, Sources};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;
use std::path::Path;

/// What became of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stands on its finding.
    Carried,
    /// Its finding is shown as perhaps the one it was given on.
    Asked,
    /// Its finding is there and does not name it; the page says that it is kept.
    Said,
    /// Its finding is there, and nothing tells of it.
    Lost,
    /// Its finding is gone.
    Mended,
    /// It stands on another finding.
    Wrong,
}

/// How many verdicts met each fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub judged: usize,
    pub carried: usize,
    pub asked: usize,
    pub said: usize,
    pub lost: usize,
    pub mended: usize,
    pub wrong: usize,
}

impl Tally {
    pub fn count(&mut self, fate: Fate) {
        self.judged += usize::from(fate != Fate::Wrong);
        *match fate {
            Fate::Carried => &mut self.carried,
            Fate::Asked => &mut self.asked,
            Fate::Said => &mut self.said,
            Fate::Lost => &mut self.lost,
            Fate::Mended => &mut self.mended,
            Fate::Wrong => &mut self.wrong,
        } += 1;
    }

    /// Verdicts whose finding is still there.
    pub fn alive(&self) -> usize {
        self.judged - self.mended
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.judged += other.judged;
        self.carried += other.carried;
        self.asked += other.asked;
        self.said += other.said;
        self.lost += other.lost;
        self.mended += other.mended;
        self.wrong += other.wrong;
    }
}

/// Finds the record of each report, as a page that is made now does.
pub fn attach(triage: &mut Triage, document: &mut Document, folder: &Path, made: u64) -> Attached {
    let mut code = Sources::new(Roots::new(&[folder]).expect("a folder"), Vec::new());
    document.note_places(&mut code);
    triage.attach(Reports { document, code: &mut code, written: None, made })
}

/// Verdicts on some of the reports of a run. The note of each is the truth of its finding: a word that only this finding has.
pub struct Judged {
    triage: Triage,
    /// Their truths, with the keys of their records.
    keys: BTreeMap<String, String>,
}

impl Judged {
    /// Judges two thirds of the reports.
    pub fn new(document: &mut Document, folder: &Path, truths: &[String], dice: &mut Dice) -> Judged {
        let mut triage = Triage::default();
        let attached = attach(&mut triage, document, folder, 1);
        let (mut judged, mut left) = (BTreeMap::new(), BTreeSet::new());
        for (key, truth) in attached.keys.iter().zip(truths) {
            let record = triage.records.get_mut(key).expect("every report has a record");
            if judged.contains_key(truth) || left.contains(truth) || !record.answers.is_empty() {
                continue;
            }
            if dice.below(3) == 0 {
                left.insert(truth.clone());
                continue;
            }
            judged.insert(truth.clone(), key.clone());
            record.answers = vec![Answer {
                id: format!("t.{key}"),
                field: "verdict".into(),
                value: "false".into(),
                note: truth.clone(),
                ..Answer::default()
            }];
        }
        // The file is written and read on the way, as it is from run to run.
        let triage = Triage::read(triage.write().as_bytes()).expect("what was written is read");
        Judged { triage, keys: judged }
    }

    /// What has become of each verdict in the next run, by the truth it was given on.
    pub fn after(mut self, document: &mut Document, folder: &Path, truths: &[String]) -> Vec<(String, Fate)> {
        let attached = attach(&mut self.triage, document, folder, 2);
        let verdict = |record: &Record| record.answers.first().map(|answer| answer.note.clone());
        let mut fates: Vec<(String, Fate)> = Vec::new();
        let mut alive: BTreeMap<&String, Fate> = BTreeMap::new();
        for ((key, perhaps), truth) in attached.keys.iter().zip(&attached.perhaps).zip(truths) {
            let shown = verdict(&self.triage.records[key]);
            let asked =
                || perhaps.iter().any(|key| verdict(&self.triage.records[key]).as_ref() == Some(truth));
            let fate = match &shown {
                Some(shown) if shown == truth => Fate::Carried,
                Some(shown) => {
                    fates.push((format!("{shown} on {truth}"), Fate::Wrong));
                    Fate::Lost
                }
                None if asked() => Fate::Asked,
                None => Fate::Lost,
            };
            if self.keys.contains_key(truth) {
                let known = alive.entry(truth).or_insert(fate);
                if fate == Fate::Carried || *known == Fate::Lost {
                    *known = fate;
                }
            }
        }
        fates.extend(self.keys.iter().map(|(truth, key)| {
            let fate = match alive.get(truth) {
                None => Fate::Mended,
                Some(Fate::Lost) if attached.gone.contains(key) => Fate::Said,
                Some(fate) => *fate,
            };
            (truth.clone(), fate)
        }));
        // Nothing that was written goes away.
        assert!(
            self.keys.values().all(|key| self
                .triage
                .records
                .get(key)
                .is_some_and(|record| !record.answers.is_empty()))
        );
        fates
    }
}
