//! What a reviewer should not have to look for: checked over the files git tracks.

use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;

/// Runs every check and lists what it finds.
pub fn run() -> Result<()> {
    let listing = Command::new("git")
        .args(["ls-files", "-co", "--exclude-standard"])
        .output()
        .context("git ls-files")?;
    let files = String::from_utf8(listing.stdout)?;
    let mut complaints = super::arrows::complaints()?;
    complaints.extend(super::dependencies::complaints()?);
    let (mut sources, mut pages) = (Vec::new(), Vec::new());
    for name in files.lines() {
        let Ok(text) = std::fs::read_to_string(name) else { continue };
        if name.ends_with(".rs") {
            sources.push((name.to_owned(), text.clone()));
        }
        if name.ends_with(".rs") {
            rust_file(name, &text, &mut complaints);
        }
        if name.ends_with(".md") {
            pages.push((name.to_owned(), text.clone()));
        }
        if name.ends_with("Cargo.toml") && name.starts_with("crates/") && !text.contains("license.workspace")
        {
            complaints.push(format!("{name}: the licence comes from the workspace"));
        }
    }
    complaints.extend(super::circles::complaints(&sources));
    complaints.extend(test_modules(&sources));
    complaints.extend(super::pages::complaints(&pages, Path::exists));
    if complaints.is_empty() {
        return Ok(());
    }
    bail!("{} complaints:\n{}", complaints.len(), complaints.join("\n"))
}

/// The crates that run programs ask the host's kernel in one place, the live door; nothing else there may, or a replay
/// would not be one.
fn door(name: &str, text: &str, complaints: &mut Vec<String>) {
    let inside = name.starts_with("crates/runs/process/src/")
        && !name.starts_with("crates/runs/process/src/outside/live/");
    if !inside || name.ends_with("/tests.rs") {
        return;
    }
    // What only computes asks nobody.
    const COMPUTED: [&str; 3] = ["major", "minor", "makedev"];
    let asks = |line: &str| {
        let called = |part: &str| {
            part.find('(').is_some_and(|end| {
                end > 0
                    && !COMPUTED.contains(&&part[..end])
                    && part[..end].chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
            })
        };
        line.split("libc::").skip(1).any(called)
            || ["std::fs::", "Instant::now", "SystemTime::now", "process::id", "thread::sleep", "std::env::"]
                .iter()
                .any(|word| line.contains(word))
    };
    for (index, line) in text.lines().enumerate() {
        if !line.trim_start().starts_with("//") && asks(line) {
            complaints.push(format!("{name}:{}: only the live door asks the host", index + 1));
        }
    }
}

fn rust_file(name: &str, text: &str, complaints: &mut Vec<String>) {
    door(name, text, complaints);
    let is_module = name.contains("/src/");
    if is_module && !text.starts_with("//!") {
        complaints.push(format!("{name}: a module opens with //! and why it exists"));
    }
    for (index, line) in text.lines().enumerate() {
        // Assembled from halves so that this file does not complain about itself.
        for word in [
            concat!("todo", "!("),
            concat!("unimplemented", "!("),
            concat!("dbg", "!("),
            concat!("#[ig", "nore"),
        ] {
            if line.contains(word) {
                complaints.push(format!("{name}:{}: {word} has no place here", index + 1));
            }
        }
    }
}

/// A file of tests that the crate's test program does not name would never run.
fn test_modules(sources: &[(String, String)]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (name, _) in sources {
        let Some((folder, file)) = name.split_once("/tests/it/") else { continue };
        let module = file.strip_suffix("/mod.rs").or(file.strip_suffix(".rs")).unwrap_or(file);
        if module == "main" || module.contains('/') {
            continue;
        }
        let main = format!("{folder}/tests/it/main.rs");
        let is_named = sources.iter().any(|(other, text)| {
            *other == main && text.lines().any(|line| line.trim() == format!("mod {module};"))
        });
        if !is_named {
            complaints.push(format!("{name}: {main} does not name this module, so it never runs"));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_file_of_tests_that_never_runs_is_told() {
        let file = |name: &str, text: &str| (format!("crates/x/tests/it/{name}.rs"), text.to_string());
        let fine = [file("main", "mod a;\nmod b;\n"), file("a", ""), file("b/mod", ""), file("b/part", "")];
        assert!(super::test_modules(&fine).is_empty());
        let told = super::test_modules(&[file("main", "mod b;\n"), file("a", "")]);
        assert!(told.len() == 1 && told[0].contains("it/a.rs"), "{told:?}");
    }
}
