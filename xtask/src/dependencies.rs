//! Dependencies earn their place: each is used, has a licence that `deny.toml` allows, and is built once.
//!
//! `deny.toml` is what `cargo deny check` reads; its licences are also held here, offline and without that tool, so
//! that every run of the lints sees a dependency whose licence nobody agreed to. Known vulnerabilities need the
//! advisory database: `cargo deny check advisories`, where that can be fetched.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crate that lists features.
const FEATURES: &str = "workspace-features";

/// Complaints about dependencies that nothing uses, and about licences.
pub fn complaints() -> Result<Vec<String>> {
    let output = Command::new("cargo")
        .args(["metadata", "--offline", "--format-version", "1"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .output()
        .context("cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let allowed = allowed(&std::fs::read_to_string("deny.toml").context("deny.toml")?)?;
    let mut complaints = Vec::new();
    let mut own = Vec::new();
    for package in metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default() {
        if package["source"].is_null() {
            // `xtask` is built before all else, and stays small.
            own.extend(package["name"].as_str().filter(|name| *name != "xtask").map(str::to_owned));
            unused(package, &mut complaints);
        } else {
            licence(package, &allowed, &mut complaints);
        }
    }
    complaints.extend(super::features::complaints(&own)?);
    Ok(complaints)
}

/// The licences that `deny.toml` allows.
fn allowed(text: &str) -> Result<BTreeSet<String>> {
    let table: toml::Table = text.parse().context("deny.toml")?;
    let list = table.get("licenses").and_then(|table| table.get("allow")).and_then(|list| list.as_array());
    let list = list.context("deny.toml: licenses.allow is missing")?;
    Ok(list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect())
}

/// A package's licence expression holds when what is allowed is taken for true.
fn licence(package: &Value, allowed: &BTreeSet<String>, complaints: &mut Vec<String>) {
    let name = package["name"].as_str().unwrap_or_default();
    let Some(text) = package["license"].as_str() else {
        complaints.push(format!("{name} names no licence"));
        return;
    };
    if !permits(text, allowed) {
        complaints.push(format!("{name} has the licence {text}, which deny.toml does not allow"));
    }
}

fn permits(expression: &str, allowed: &BTreeSet<String>) -> bool {
    // Old packages write "MIT/Apache-2.0".
    let Ok(parsed) = spdx::Expression::parse_mode(expression, spdx::ParseMode::LAX) else { return false };
    parsed.evaluate(|requirement| allowed.contains(&requirement.to_string()))
}

/// Dependencies of a crate of ours that its code never names.
fn unused(package: &Value, complaints: &mut Vec<String>) {
    let Some(folder) = package["manifest_path"].as_str().and_then(|path| Path::new(path).parent()) else {
        return;
    };
    let name = package["name"].as_str().unwrap_or_default();
    let main = sources(folder, &["src", "build.rs"]);
    let tests = sources(folder, &["src", "tests", "examples", "benches"]);
    // Its dependencies are there for their features.
    if name == FEATURES {
        return;
    }
    for dependency in package["dependencies"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let dependency_name =
            dependency["rename"].as_str().or(dependency["name"].as_str()).unwrap_or_default();
        let word = dependency_name.replace('-', "_");
        let text = if dependency["kind"] == "dev" { &tests } else { &main };
        if dependency_name != FEATURES && !names(text, &word) {
            complaints.push(format!("{name} depends on {dependency_name}, which it never names"));
        }
    }
}

/// Whether a text has a word, whole.
fn names(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(inside) && !text[at + word.len()..].starts_with(inside))
}

/// The text of the Rust files at these places, and of those elsewhere that they take in as modules.
fn sources(folder: &Path, places: &[&str]) -> String {
    let mut waiting: Vec<PathBuf> = places.iter().map(|place| folder.join(place)).collect();
    let mut seen = BTreeSet::new();
    let mut text = String::new();
    while let Some(path) = waiting.pop() {
        let path = path.canonicalize().unwrap_or(path);
        if let Ok(entries) = std::fs::read_dir(&path) {
            waiting.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
        } else if path.extension().is_some_and(|ending| ending == "rs") && seen.insert(path.clone()) {
            let file = std::fs::read_to_string(&path).unwrap_or_default();
            let beside = path.parent().unwrap_or(folder);
            let named =
                file.lines().filter_map(|line| line.trim().strip_prefix("#[path = \"")?.strip_suffix("\"]"));
            waiting.extend(named.map(|module| beside.join(module)));
            text.push_str(&file);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_of_licences_needs_one_that_is_allowed() {
        let allowed = BTreeSet::from(["MIT".to_owned(), "Apache-2.0 WITH LLVM-exception".to_owned()]);
        assert!(permits("MIT OR GPL-3.0-only", &allowed));
        assert!(permits("Apache-2.0/MIT", &allowed));
        assert!(permits("Apache-2.0 WITH LLVM-exception", &allowed));
        assert!(!permits("MIT AND GPL-3.0-only", &allowed));
        assert!(!permits("Apache-2.0", &allowed));
        assert!(!permits("no licence", &allowed));
    }

    #[test]
    fn a_name_is_a_whole_word() {
        assert!(names("use serde::Serialize;", "serde"));
        assert!(!names("use serde_json::Value;", "serde"));
    }
}
