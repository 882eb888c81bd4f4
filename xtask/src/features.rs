//! Whether a build of one crate uses the dependencies that a build of all crates has built: `crates/core/features` lists what would differ.

use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Dependencies by name and version, with the sets of features they are built with.
type Features = BTreeMap<String, BTreeSet<String>>;

/// Complaints about crates that alone would build a dependency once more.
pub fn complaints(packages: &[String]) -> Result<Vec<String>> {
    let all = tree(&["--workspace"])?;
    let mut complaints = Vec::new();
    for package in packages {
        let alone = tree(&["--package", package])?;
        complaints.extend(differences(&all, &alone).into_iter().map(|difference| {
            format!(
                "{package} alone builds {difference}: name the features in crates/core/features/Cargo.toml"
            )
        }));
    }
    Ok(complaints)
}

fn differences(all: &Features, alone: &Features) -> Vec<String> {
    let mut differences = Vec::new();
    for (name, sets) in alone {
        let others = all.get(name);
        for set in sets.iter().filter(|set| others.is_none_or(|others| !others.contains(*set))) {
            differences.push(format!("{name} with [{set}]"));
        }
    }
    differences
}

fn tree(which: &[&str]) -> Result<Features> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--edges", "normal,build,dev", "--format", "{p}|{f}", "--prefix", "none"])
        .args(which)
        .output()
        .context("cargo tree")?;
    ensure!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    Ok(read(&String::from_utf8_lossy(&output.stdout)))
}

/// Lines like `serde v1.0.0 (proc-macro)|derive,std (*)`. Crates of the workspace stand with their folder.
fn read(text: &str) -> Features {
    let mut features = Features::new();
    for line in text.lines() {
        let line = line.replace(" (*)", "").replace(" (proc-macro)", "");
        if let Some((package, set)) = line.split_once('|').filter(|(package, _)| !package.contains('/')) {
            features.entry(package.to_owned()).or_default().insert(set.to_owned());
        }
    }
    features
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_that_only_the_workspace_turns_on_is_told() {
        let all = read("serde v1.0.0|derive,std\na v0.1.0 (/b/a)|\nsyn v3.0.0 (proc-macro)|full (*)");
        assert_eq!(all.len(), 2);
        assert!(differences(&all, &read("serde v1.0.0|derive,std")).is_empty());
        assert_eq!(differences(&all, &read("serde v1.0.0|std")), ["serde v1.0.0 with [std]"]);
    }
}
