//! What has changed between two runs: which reports are new, which were there before, which are gone.

use crate::{Baseline, Document};
use std::collections::HashMap;

/// How many reports stand how to an earlier run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Change {
    /// Not there before.
    pub new: usize,
    /// There before.
    pub unchanged: usize,
    /// There before, not now.
    pub fixed: usize,
}

impl Document {
    /// Marks every report as new or unchanged against an earlier run, and adds what is gone as absent.
    ///
    /// Reports are the same when their [fingerprints](Document::fingerprints) are, which survive edits elsewhere; failing
    /// that, when the tool itself gave both the same identity under the same rule.
    pub fn compare(&mut self, earlier: &Document) -> Change {
        self.reports.retain(|report| report.baseline != Some(Baseline::Absent));
        let gone = |report: &crate::Report| report.baseline == Some(Baseline::Absent) || report.passed;
        let prints = earlier.fingerprints();
        let mut open: HashMap<&str, usize> = HashMap::new();
        for (index, print) in prints.iter().enumerate().filter(|(index, _)| !gone(&earlier.reports[*index])) {
            open.insert(print, index);
        }
        let mut found: Vec<bool> = earlier.reports.iter().map(gone).collect();
        let mut change = Change::default();
        let own = self.fingerprints();
        for (report, print) in self.reports.iter_mut().zip(&own).filter(|(report, _)| !report.passed) {
            report.baseline = open.remove(print.as_str()).map(|index| {
                found[index] = true;
                Baseline::Unchanged
            });
        }
        for report in self.reports.iter_mut().filter(|report| report.baseline.is_none() && !report.passed) {
            let twin = |index: &usize| {
                let other = &earlier.reports[*index];
                !found[*index]
                    && other.rule == report.rule
                    && report
                        .fingerprints
                        .iter()
                        .any(|(name, value)| other.fingerprints.get(name) == Some(value))
            };
            report.baseline = Some(match (0..found.len()).find(twin) {
                Some(index) => {
                    found[index] = true;
                    Baseline::Updated
                }
                None => Baseline::New,
            });
        }
        for report in self.reports.iter().filter(|report| !report.passed) {
            match report.baseline {
                Some(Baseline::New) => change.new += 1,
                _ => change.unchanged += 1,
            }
        }
        for (report, _) in earlier.reports.iter().zip(&found).filter(|(_, found)| !**found) {
            change.fixed += 1;
            self.reports.push(crate::Report {
                baseline: Some(Baseline::Absent),
                run: None,
                ..report.clone()
            });
        }
        self.rules.extend(earlier.rules.iter().cloned());
        self.tidy();
        change
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Location, Report};

    fn report(title: &str, line: u32) -> Report {
        Report { title: title.into(), location: Some(Location::line("a.c", line)), ..Report::default() }
    }

    #[test]
    fn moved_is_unchanged_and_gone_is_kept_as_fixed() {
        let run = |reports: Vec<Report>| Document { reports, ..Document::default() };
        let earlier = run(vec![report("leak", 3), report("race", 9), report("leak", 30)]);
        let mut now =
            run(vec![report("leak", 5), report("overflow", 7), report("leak", 41), report("leak", 50)]);
        let change = now.compare(&earlier);
        assert_eq!(change, Change { new: 2, unchanged: 2, fixed: 1 });
        let states: Vec<_> = now.reports.iter().map(|report| (&*report.title, report.baseline)).collect();
        assert_eq!(states[4], ("race", Some(Baseline::Absent)));
        assert_eq!(states[3], ("leak", Some(Baseline::New)), "a third one like two others is new");
        // Comparing again with the result changes nothing.
        let mut again =
            run(vec![report("leak", 5), report("leak", 41), report("leak", 50), report("overflow", 7)]);
        assert_eq!(again.compare(&now), Change { new: 0, unchanged: 4, fixed: 0 });
    }

    #[test]
    fn the_tools_own_identity_counts_where_ours_fails() {
        let with = |title: &str| {
            let mut report = report(title, 3);
            report.fingerprints.insert("hash".into(), "abc".into());
            Document { reports: vec![report], ..Document::default() }
        };
        let mut now = with("renamed");
        assert_eq!(now.compare(&with("named")).new, 0);
        assert_eq!(now.reports[0].baseline, Some(Baseline::Updated));
    }
}
