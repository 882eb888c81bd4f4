//! Which crate may use which: the arrows of `docs/architecture.md`, held against the manifests.
//!
//! The crates stand in folders, as the architecture has them. Between folders the arrows form no circle.
//!
//! A new arrow between crates is the largest kind of change there is, so it takes a line here, and a reader of the
//! change sees it. Tests and examples may use anything: that is where a language and a reading meet to be compared.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Every crate, lowest first, with the crates it may use. The crates of a row stand in rows above it.
const ARROWS: &[(&str, &[&str])] = &[
    // The logic and its readings.
    ("op", &[]),
    ("source", &[]),
    // Names of functions as people write them.
    ("names", &[]),
    // Programs run to find something out.
    ("jail", &[]),
    ("term", &["op", "source"]),
    ("sem", &["op", "term"]),
    ("smt", &["op", "sem", "term"]),
    // Scripts of others, answered by the solvers.
    ("smtlib", &["op", "sem", "smt", "source", "term"]),
    // What analyses explain themselves with.
    ("report", &[]),
    ("view", &["report"]),
    // Executions as lazy lists; knows no recording.
    ("trace", &[]),
    // Debug information over any moment of a program; knows no recording either.
    ("symbols", &["names"]),
    // Languages: they know `sem`, and no reading, no solver.
    ("pl", &["op", "sem", "source", "term"]),
    ("mc", &["op", "sem", "source", "term"]),
    ("ir", &["op", "sem"]),
    ("sleigh", &["ir", "op", "sem"]),
    ("code", &["ir", "names", "op", "sem", "sleigh", "term"]),
    ("silicon", &["ir", "op", "sem", "sleigh", "term"]),
    // Guest code copied for the processor itself: bytes to bytes and tables.
    ("native", &[]),
    ("process", &["ir", "native", "op", "sem", "sleigh"]),
    // Recordings of processes: the doors that write down and answer.
    ("record", &["process"]),
    // Recordings opened for travel: states, searches.
    ("travel", &["process", "record", "trace"]),
    // Moments of a recording, as debug information wants to see them.
    ("moment", &["process", "record", "symbols", "trace", "travel"]),
    ("gdbserver", &["moment", "process", "record", "symbols", "trace", "travel"]),
    // Where values come from: the operations of recorded instructions, read once more.
    ("flow", &["ir", "op", "process", "record", "sem", "sleigh", "trace", "travel"]),
    // Analyses. Every explorer uses `path`.
    ("path", &["op", "smt", "term"]),
    ("primitives", &["op", "path", "sem", "smt", "term"]),
    ("heap", &["op", "path", "sem", "smt", "term"]),
    ("engines", &["heap", "op", "path", "sem", "smt", "term"]),
    ("java", &["engines", "heap", "op", "path", "sem"]),
    ("javalite", &["engines", "heap", "op", "path", "sem", "source", "term"]),
    // Programs explored: the emulated process runs in a view of its own, terms say what its branches depend on.
    ("concolic", &["ir", "jail", "names", "op", "path", "process", "sem", "smt", "symbols", "term"]),
    // C: the module is data, the reader talks to LLVM, the machine is the meaning; they meet in `cexplore`.
    ("cmodule", &["op"]),
    ("cread", &["cmodule", "jail", "op"]),
    // Inline assembly is lifted as machine code and written as functions of the module.
    ("casm", &["cmodule", "ir", "op", "sleigh"]),
    ("cmachine", &["cmodule", "heap", "op", "path", "sem"]),
    ("cexplore", &["casm", "cmachine", "cmodule", "cread", "jail", "op", "path", "sem", "smt", "term"]),
    // Null errors in C: pointers on the module, qualifiers on pointers, blocks by the explorer.
    ("points", &["cmodule", "op"]),
    ("mixy", &["cexplore", "cmachine", "cmodule", "op", "path", "points", "report", "sem", "smt", "term"]),
    ("mix", &["op", "path", "report", "sem", "smt", "source", "term"]),
    // The command: what its verbs share, and the two groups of verbs that take the compiler longest.
    ("cli-base", &["report", "smt", "source", "view"]),
    (
        "cli-formulas",
        &[
            "cli-base",
            "code",
            "concolic",
            "ir",
            "mc",
            "op",
            "path",
            "pl",
            "primitives",
            "sem",
            "sleigh",
            "smt",
            "smtlib",
            "source",
            "term",
        ],
    ),
    (
        "cli-heap",
        &["cli-base", "engines", "heap", "java", "javalite", "path", "report", "smt", "source", "term"],
    ),
    // The Python module.
    ("python", &["flow", "moment", "record", "symbols", "trace", "travel"]),
];

/// Complaints about manifests that do not follow the arrows, and about arrows that no manifest follows.
pub fn complaints() -> Result<Vec<String>> {
    let output = Command::new("cargo")
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .output()
        .context("cargo metadata")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let uses = uses(&metadata);
    let mut complaints = compare(ARROWS, &uses);
    complaints.extend(folder_circle(&folders(&metadata), &uses));
    Ok(complaints)
}

/// The folder below `crates/` that each crate stands in.
fn folders(metadata: &Value) -> BTreeMap<String, String> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let folder = |package: &Value| {
        let manifest = package["manifest_path"].as_str()?;
        let (_, below) = manifest.rsplit_once("/crates/")?;
        let (folder, _) = below.split_once('/')?;
        Some((short(package["name"].as_str()?)?.to_owned(), folder.to_owned()))
    };
    packages.iter().filter_map(folder).collect()
}

/// A complaint if folders of crates use each other in a circle.
fn folder_circle(
    folders: &BTreeMap<String, String>,
    uses: &BTreeMap<String, BTreeSet<String>>,
) -> Option<String> {
    let mut arrows: BTreeMap<&str, BTreeSet<&str>> =
        folders.values().map(|folder| (folder.as_str(), BTreeSet::new())).collect();
    for (name, used) in uses {
        let Some(from) = folders.get(name) else { continue };
        let targets = used.iter().filter_map(|used| folders.get(used)).filter(|to| *to != from);
        arrows.entry(from).or_default().extend(targets.map(String::as_str));
    }
    // A folder that uses none of those that are left is in no circle.
    while let Some(leaf) =
        arrows.iter().find(|(_, used)| !used.iter().any(|to| arrows.contains_key(to))).map(|(name, _)| *name)
    {
        arrows.remove(leaf);
    }
    let left: Vec<&str> = arrows.into_keys().collect();
    (!left.is_empty()).then(|| format!("folders of crates/ use each other in a circle: {}", left.join(", ")))
}

/// The crates of the workspace, each with the crates of the workspace that its code uses.
fn uses(metadata: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let name = |package: &Value| package["name"].as_str().unwrap_or_default().to_owned();
    let mut all = BTreeMap::new();
    for package in packages {
        let dependencies = package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default();
        let used = dependencies.iter().filter(|d| d["kind"].is_null()).map(name);
        let used = used.filter_map(|name| short(&name).map(str::to_owned)).collect();
        if let Some(short) = short(&name(package)) {
            all.insert(short.to_owned(), used);
        }
    }
    all
}

/// The name of a crate of ours without the name of the project. The command and `xtask` are no parts of the picture.
fn short(name: &str) -> Option<&str> {
    name.strip_prefix("parallax-")
}

fn compare(arrows: &[(&str, &[&str])], uses: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut above = BTreeSet::new();
    for (name, allowed) in arrows {
        for lower in allowed.iter().filter(|lower| !above.contains(*lower)) {
            complaints
                .push(format!("xtask/src/arrows.rs: {name} uses {lower}, which does not stand above it"));
        }
        above.insert(*name);
        let Some(used) = uses.get(*name) else {
            complaints.push(format!("xtask/src/arrows.rs: there is no crate {name} any more"));
            continue;
        };
        for arrow in used.iter().filter(|used| !allowed.contains(&used.as_str())) {
            complaints.push(format!(
                "{name} -> {arrow} is a new arrow; if it is meant, xtask/src/arrows.rs says so"
            ));
        }
        for unused in allowed.iter().filter(|allowed| !used.contains(**allowed)) {
            complaints.push(format!("xtask/src/arrows.rs: {name} does not use {unused} any more"));
        }
    }
    let unknown = uses.keys().filter(|name| !above.contains(name.as_str()));
    complaints.extend(unknown.map(|name| format!("{name}: a new crate takes a row in xtask/src/arrows.rs")));
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rows: &[(&str, &[&str])]) -> BTreeMap<String, BTreeSet<String>> {
        rows.iter()
            .map(|(name, used)| (name.to_string(), used.iter().map(ToString::to_string).collect()))
            .collect()
    }

    #[test]
    fn what_follows_the_arrows_is_fine() {
        let rows: &[(&str, &[&str])] = &[("op", &[]), ("term", &["op"])];
        assert!(compare(rows, &found(rows)).is_empty());
    }

    #[test]
    fn new_stale_and_upward_arrows_are_told() {
        let rows: &[(&str, &[&str])] = &[("op", &["term"]), ("term", &["op"])];
        let found = found(&[("op", &[]), ("term", &["op", "smt"]), ("smt", &[])]);
        let told = compare(rows, &found);
        for words in
            ["op uses term", "op does not use term", "term -> smt is a new arrow", "smt: a new crate"]
        {
            assert!(told.iter().any(|complaint| complaint.contains(words)), "{words}: {told:?}");
        }
        assert_eq!(told.len(), 4, "{told:?}");
    }

    #[test]
    fn a_planted_circle_of_folders_is_told() {
        let folders =
            [("a", "low"), ("b", "low"), ("c", "high")].map(|(k, v)| (k.to_string(), v.to_string()));
        let folders = BTreeMap::from(folders);
        let fine = found(&[("a", &[]), ("b", &["a"]), ("c", &["a", "b"])]);
        assert_eq!(folder_circle(&folders, &fine), None);
        let told = folder_circle(&folders, &found(&[("a", &["c"]), ("b", &[]), ("c", &["b"])]));
        assert!(told.is_some_and(|told| told.contains("high, low")));
    }
}
