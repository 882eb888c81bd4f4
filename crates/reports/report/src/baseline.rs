//! What has changed between two runs: which reports are new, which were there before, which are gone.

use crate::identity::{Code, Identity, Match, track};
use crate::{Baseline, Document, Report};
use std::collections::{HashMap, HashSet};

/// How many reports stand how to an earlier run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Change {
    /// Not there before.
    pub new: usize,
    /// There before.
    pub unchanged: usize,
    /// There before, not now.
    pub fixed: usize,
    /// Of those there before, how many look like one of before without being certainly that one.
    pub unclear: usize,
}

impl Document {
    /// Marks every report as new, unchanged or updated against an earlier run, and adds what is gone as absent.
    ///
    /// Which report is which, [`track`] decides by the places that [`Document::note_places`] noted in both; `code` is the
    /// code of now. A report that may be one of several of before is *updated*, and takes the likeliest of them.
    pub fn compare(&mut self, earlier: &Document, code: &mut dyn Code) -> Change {
        self.reports.retain(|report| report.baseline != Some(Baseline::Absent));
        let there = |report: &&Report| report.baseline != Some(Baseline::Absent) && !report.passed;
        let then: Vec<&Report> = earlier.reports.iter().filter(there).collect();
        let now: Vec<usize> = (0..self.reports.len()).filter(|&at| !self.reports[at].passed).collect();
        let then_known: Vec<Identity> = then.iter().map(|report| report.identity()).collect();
        let now_known: Vec<Identity> = now.iter().map(|&at| self.reports[at].identity()).collect();
        let found = track(&then_known, &now_known, code);
        // Reports that are the same to the letter are one: where one of them is there, none of them is gone.
        let mut left: HashSet<&Identity> = then_known.iter().collect();
        for same in &found {
            if let Match::Same(old) = same {
                left.remove(&then_known[*old]);
            }
        }
        let mut change = Change::default();
        let mut states: HashMap<&Identity, Baseline> = HashMap::new();
        for ((&at, identity), found) in now.iter().zip(&now_known).zip(&found) {
            let state = *states.entry(identity).or_insert_with(|| match found {
                Match::Same(_) => Baseline::Unchanged,
                Match::New => Baseline::New,
                Match::Perhaps(likely) => match likely.iter().find(|&&old| left.remove(&then_known[old])) {
                    Some(_) => Baseline::Updated,
                    None => Baseline::New,
                },
            });
            match state {
                Baseline::New => change.new += 1,
                Baseline::Updated => change.unclear += 1,
                _ => {}
            }
            change.unchanged += usize::from(state != Baseline::New);
            self.reports[at].baseline = Some(state);
        }
        for (report, _) in then.iter().zip(&then_known).filter(|(_, identity)| left.contains(identity)) {
            change.fixed += 1;
            let gone = Report { baseline: Some(Baseline::Absent), run: None, ..(*report).clone() };
            self.reports.push(gone);
        }
        self.rules.extend(earlier.rules.iter().cloned());
        self.tidy();
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::NoCode;
    use crate::{Location, Report};

    fn report(title: &str, line: u32) -> Report {
        Report { title: title.into(), location: Some(Location::line("a.c", line)), ..Report::default() }
    }

    fn run(reports: Vec<Report>) -> Document {
        Document { reports, ..Document::default() }
    }

    #[test]
    fn without_code_a_report_is_the_same_where_nothing_has_changed_and_perhaps_where_something_has() {
        let earlier = run(vec![report("leak", 3), report("race", 9), report("overflow", 7)]);
        let mut now = run(vec![report("leak", 5), report("overflow", 7), report("leak", 50)]);
        let change = now.compare(&earlier, &mut NoCode);
        assert_eq!(change, Change { new: 1, unchanged: 2, fixed: 1, unclear: 1 });
        let states: Vec<_> = now.reports.iter().map(|report| (&*report.title, report.baseline)).collect();
        assert_eq!(
            states,
            [
                ("leak", Some(Baseline::Updated)),
                ("overflow", Some(Baseline::Unchanged)),
                ("leak", Some(Baseline::New)),
                ("race", Some(Baseline::Absent)),
            ]
        );
        // Comparing the same reports with the result changes nothing.
        let mut again = run(vec![report("leak", 5), report("overflow", 7), report("leak", 50)]);
        assert_eq!(again.compare(&now, &mut NoCode), Change { unchanged: 3, ..Change::default() });
    }

    #[test]
    fn the_tools_own_identity_counts_where_there_is_no_code() {
        let with = |line: u32, hash: &str| {
            let mut report = report("leak", line);
            report.fingerprints.insert("hash".into(), hash.into());
            report
        };
        let mut now = run(vec![with(30, "abc"), with(40, "def")]);
        let change = now.compare(&run(vec![with(3, "def"), with(4, "abc")]), &mut NoCode);
        assert_eq!(change, Change { unchanged: 2, ..Change::default() });
        // One that several have says nothing.
        let mut now = run(vec![with(30, "abc")]);
        let change = now.compare(&run(vec![with(3, "abc"), with(4, "abc")]), &mut NoCode);
        assert_eq!(change, Change { unchanged: 1, fixed: 1, unclear: 1, new: 0 });
    }
}
