//! Baselines: findings of an earlier run, so that only what is new decides the exit status.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// What an earlier run said.
#[derive(Debug, Default)]
pub struct Baseline {
    findings: BTreeSet<String>,
    gaps: BTreeSet<String>,
}

/// How a run compares with its baseline.
#[derive(Debug, PartialEq, Eq)]
pub struct Compared {
    /// Which findings are new, in the order of the report.
    pub new: Vec<bool>,
    /// Findings of the baseline that are gone.
    pub gone: usize,
    /// Gaps that the baseline has not.
    pub gaps: usize,
}

impl Baseline {
    /// Reads what `parallax check --json` printed.
    pub fn read(file: &Path) -> Result<Baseline> {
        let name = file.display();
        let bytes = std::fs::read(file).with_context(|| format!("cannot read {name}"))?;
        let document: Value = serde_json::from_slice(&bytes).with_context(|| name.to_string())?;
        let mut baseline = Baseline::default();
        let programs = document.get("programs").and_then(Value::as_array);
        for program in programs.map_or(std::slice::from_ref(&document), Vec::as_slice) {
            let findings = program.get("findings").and_then(Value::as_array).with_context(|| {
                format!("{name}: no list of findings: a baseline is what `parallax check --json` prints")
            })?;
            for finding in findings {
                let print = finding.get("fingerprint").and_then(Value::as_str);
                let print = print.with_context(|| format!("{name}: a finding without a fingerprint"))?;
                baseline.findings.insert(print.to_string());
            }
            let gaps = program.get("gaps").and_then(Value::as_array).into_iter().flatten();
            baseline.gaps.extend(gaps.filter_map(Value::as_str).map(str::to_string));
        }
        Ok(baseline)
    }

    /// Compares a run with it. `left_out`: findings that are still there, and not reported.
    pub fn compare(&self, fingerprints: &[String], left_out: &[String], gaps: &BTreeSet<String>) -> Compared {
        let new: Vec<bool> = fingerprints.iter().map(|print| !self.findings.contains(print)).collect();
        let now: BTreeSet<&String> = fingerprints.iter().chain(left_out).collect();
        let gone = self.findings.iter().filter(|print| !now.contains(print)).count();
        Compared { new, gone, gaps: gaps.difference(&self.gaps).count() }
    }
}
