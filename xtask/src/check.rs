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
    for name in files.lines() {
        let Ok(text) = std::fs::read_to_string(name) else { continue };
        if name.ends_with(".rs") {
            rust_file(name, &text, &mut complaints);
        }
        if name.ends_with(".md") {
            links(name, &text, &mut complaints);
        }
        if name.ends_with("Cargo.toml") && name.starts_with("crates/") && !text.contains("license.workspace")
        {
            complaints.push(format!("{name}: the licence comes from the workspace"));
        }
    }
    if complaints.is_empty() {
        return Ok(());
    }
    bail!("{} complaints:\n{}", complaints.len(), complaints.join("\n"))
}

/// The crates that run programs ask the host's kernel in one place, the live door; nothing else there may, or a replay
/// would not be one.
fn door(name: &str, text: &str, complaints: &mut Vec<String>) {
    let inside =
        name.starts_with("crates/process/src/") && !name.starts_with("crates/process/src/outside/live/");
    if !inside || name.ends_with("/tests.rs") {
        return;
    }
    let asks = |line: &str| {
        let called = |part: &str| {
            part.find('(').is_some_and(|end| {
                end > 0 && part[..end].chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
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

/// Links to files of the repository lead somewhere.
fn links(name: &str, text: &str, complaints: &mut Vec<String>) {
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    for part in text.split("](").skip(1) {
        let target = part.split([')', '#', ' ']).next().unwrap_or("");
        if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
            complaints.push(format!("{name}: the link to {target} leads nowhere"));
        }
    }
}
