//! What README and docs show is what a reader gets: every block with a `$` line that calls `parallax` is run, and what
//! it prints, on both streams, is compared with the lines below each command.
//!
//! The blocks of one page run in order in one temporary folder, where `corpus` and `crates` are the repository's. `...` stands for
//! any characters of a line, and alone on a line for any number of lines. A command that ends in `&` goes on in the
//! background; what it says is waited for, then it is ended. The Python module is the one that was built beside the command.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().expect("the repository")
}

/// A command as a page shows it.
struct Shown {
    line: usize,
    command: String,
    output: Vec<String>,
}

/// The commands of every block that calls the command of this project.
fn shown(text: &str) -> Vec<Shown> {
    let mut commands = Vec::new();
    let mut block: Option<Vec<Shown>> = None;
    for (number, line) in (1..).zip(text.lines()) {
        match &mut block {
            None if line.starts_with("```") => block = Some(Vec::new()),
            None => {}
            Some(_) if line.trim() == "```" => {
                let block = block.take().unwrap_or_default();
                if block.iter().any(|shown| shown.command.split_whitespace().any(|word| word == "parallax")) {
                    commands.extend(block);
                }
            }
            Some(block) => match (line.strip_prefix("$ "), block.last_mut()) {
                (Some(command), _) => {
                    block.push(Shown { line: number, command: command.to_owned(), output: Vec::new() });
                }
                (None, Some(last)) if last.output.is_empty() && last.command.ends_with(['|', '\\']) => {
                    last.command = format!("{}\n{line}", last.command);
                }
                (None, Some(last)) => last.output.push(line.to_owned()),
                (None, None) => {}
            },
        }
    }
    commands
}

/// Whether a line is as shown: `...` stands for anything.
fn line_fits(shown: &str, line: &str) -> bool {
    let mut parts = shown.split("...");
    let Some(mut rest) = parts.next().and_then(|head| line.strip_prefix(head)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

/// Whether lines are as shown: a line `...` stands for any number of them.
fn fits(shown: &[String], lines: &[&str]) -> bool {
    match shown.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first.trim() == "..." => {
            (0..=lines.len()).any(|skip| fits(rest, &lines[skip..]))
        }
        Some((first, rest)) => match lines.split_first() {
            Some((line, others)) => line_fits(first, line) && fits(rest, others),
            None => false,
        },
    }
}

/// The folder of the command.
fn built() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_parallax")).parent().expect("in a folder")
}

/// Puts the Python module where an interpreter finds it.
pub fn module_into(folder: &Path) {
    let script = repository().join("scripts/python-module");
    let written = Command::new(script).arg("folder").arg(built().join("lib_native.so")).arg(folder).status();
    assert!(written.is_ok_and(|status| status.success()), "cargo build --package parallax-python makes it");
}

/// Runs one shown command; what it printed if that is not what is shown.
fn differs(shown: &Shown, folder: &Path, module: &Path) -> Option<String> {
    let out = folder.join(".output");
    let file = File::create(&out).expect("a file for the output");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("bash")
        .args(["-c", &shown.command])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", built().display()))
        .env("PYTHONPATH", module)
        .env_remove("BLESS")
        .stdin(Stdio::null())
        .stdout(file.try_clone().expect("a second handle"))
        .stderr(file)
        .process_group(0)
        .spawn()
        .expect("bash runs");
    shell.wait().expect("bash ends");
    let background = shown.command.trim_end().ends_with('&');
    let deadline = Instant::now() + Duration::from_secs(if background { 30 } else { 0 });
    let difference = loop {
        let text = String::from_utf8_lossy(&fs::read(&out).expect("the output")).into_owned();
        if fits(&shown.output, &text.lines().collect::<Vec<_>>()) {
            break None;
        }
        if Instant::now() >= deadline {
            break Some(text);
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    if background {
        // The group is the shell's: what it left running goes with it.
        let group = format!("-{}", shell.id());
        let _ = Command::new("kill").args(["--", &group]).status();
    }
    difference
}

fn pages(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("docs are there") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            pages(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            into.push(path);
        }
    }
}

#[test]
fn every_shown_command_prints_what_is_shown() {
    let top = repository();
    let mut files = vec![top.join("README.md")];
    pages(&top.join("docs"), &mut files);
    files.sort();
    let module = tempfile::tempdir().expect("a folder for the Python module");
    module_into(module.path());
    let (mut ran, mut wrong) = (0, Vec::new());
    for page in files {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for name in ["corpus", "crates"] {
            std::os::unix::fs::symlink(top.join(name), folder.path().join(name)).expect("a link");
        }
        for shown in shown(&fs::read_to_string(&page).expect("readable")) {
            ran += 1;
            if let Some(text) = differs(&shown, folder.path(), module.path()) {
                let name = page.strip_prefix(&top).unwrap_or(&page).display();
                let expected = shown.output.join("\n");
                wrong.push(format!(
                    "{name}:{}: $ {}\n--- shown\n{expected}\n--- printed\n{text}",
                    shown.line, shown.command
                ));
            }
        }
    }
    assert!(ran > 25, "only {ran} commands were found: is the notation another one now?");
    assert!(wrong.is_empty(), "{} of {ran} differ\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn three_dots_stand_for_what_is_left_out() {
    assert!(line_fits("a ... b", "a long b"));
    assert!(!line_fits("a ... b", "a long c"));
    assert!(line_fits("a...", "a"));
    assert!(!line_fits("ab...bc", "abc"));
    let shown: Vec<String> = ["x", "...", "y"].map(str::to_owned).to_vec();
    assert!(fits(&shown, &["x", "1", "2", "y"]));
    assert!(fits(&shown, &["x", "y"]));
    assert!(!fits(&shown, &["x", "1"]));
}
