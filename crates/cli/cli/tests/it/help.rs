//! Help and errors as users see them, word for word. `BLESS=1` writes them anew: read the difference, it is what users will read.
//!
//! - `docs/commands.md` has every option of every verb, and is a page of the book.
//! - `corpus/cli/help.txt` has the help that `--help` prints of the verbs that keep rare options for `--help-all`.
//! - `corpus/cli/errors.txt` has commands that are wrong, with what is said and the exit status. To add one, write its `$` line.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().expect("the repository")
}

/// What a shell prints for a line, both streams, as wide as a page; and its status.
fn printed(folder: &Path, line: &str) -> (String, Option<i32>) {
    let built = Path::new(env!("CARGO_BIN_EXE_parallax")).parent().expect("a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .args(["-c", &format!("{line} 2>&1")])
        .current_dir(folder)
        .env("PATH", format!("{built}:{path}"))
        .env("COLUMNS", "110")
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    let text = String::from_utf8(output.stdout).expect("text");
    // Lines that clap fills up with blanks.
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    (lines.join("\n") + "\n", output.status.code())
}

/// A folder in which `corpus` is the repository's.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(top().join("corpus"), folder.path().join("corpus")).expect("a link");
    folder
}

/// Compares with a file, or writes it.
fn is_as_in(file: &str, text: &str) {
    let path = top().join(file);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, text).expect("written");
        return;
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    let differs = known.lines().zip(text.lines()).position(|(a, b)| a != b);
    let at = differs.unwrap_or(known.lines().count().min(text.lines().count()));
    let around = |text: &str| text.lines().skip(at.saturating_sub(3)).take(8).collect::<Vec<_>>().join("\n");
    assert!(
        known == text,
        "{file} differs from line {} on (BLESS=1 writes it)\n--- there\n{}\n--- now\n{}",
        at + 1,
        around(&known),
        around(text)
    );
}

/// The verbs, in the order of `--help`, with the tasks they stand under.
fn tasks(folder: &Path) -> Vec<(String, Vec<String>)> {
    let (help, _) = printed(folder, "parallax --help");
    let mut tasks: Vec<(String, Vec<String>)> = Vec::new();
    for line in help.lines().skip_while(|line| !line.starts_with("Usage:")).skip(1) {
        if line.starts_with("Exit status") {
            break;
        } else if let Some(verb) = line.strip_prefix("  ").and_then(|line| line.split(' ').next()) {
            tasks.last_mut().expect("a task first").1.push(verb.to_owned());
        } else if let Some(task) = line.strip_suffix(':') {
            tasks.push((task.to_owned(), Vec::new()));
        }
    }
    tasks
}

#[test]
fn every_option_of_every_verb_is_in_the_reference() {
    let folder = folder();
    let mut page = String::from(
        "# Every command, every option\n\n\
         This page is what `parallax VERB --help` prints, or `--help-all` where a verb keeps rare options for that. A test holds it \
         to the command.\n",
    );
    let tasks = tasks(folder.path());
    assert!(tasks.iter().map(|(_, verbs)| verbs.len()).sum::<usize>() > 25, "{tasks:?}");
    for (task, verbs) in tasks {
        let _ = writeln!(page, "\n## {task}");
        // What `fleet` takes, Python says.
        for verb in verbs.iter().filter(|verb| !matches!(verb.as_str(), "help" | "fleet")) {
            let parts = if verb == "mix" {
                vec!["mix check".to_owned(), "mix run".to_owned()]
            } else {
                vec![verb.clone()]
            };
            for part in parts {
                let (help, status) = printed(folder.path(), &format!("parallax {part} --help"));
                assert_eq!(status, Some(0), "{part}");
                let (help, _) = match help.contains("--help-all") {
                    true => printed(folder.path(), &format!("parallax {part} --help-all")),
                    false => (help, status),
                };
                let _ = writeln!(page, "\n### parallax {part}\n\n```text\n{}\n```", help.trim_end());
            }
        }
    }
    is_as_in("docs/commands.md", &page);
}

#[test]
fn help_shows_the_common_options_first() {
    let folder = folder();
    let mut text = String::new();
    for line in ["parallax --help", "parallax --version", "parallax check --help", "parallax explore --help"]
    {
        let (said, status) = printed(folder.path(), line);
        let _ = write!(text, "$ {line}\n{said}status {}\n\n", status.expect("it ends"));
    }
    for verb in ["eval", "wlp", "path", "heap", "run"] {
        let (said, _) = printed(folder.path(), &format!("parallax {verb} --help"));
        assert!(said.contains(&format!("more options: parallax {verb} --help-all")), "{said}");
    }
    is_as_in("corpus/cli/help.txt", &text);
}

#[test]
fn errors_say_what_is_wrong_and_what_to_do() {
    let folder = folder();
    let known = fs::read_to_string(top().join("corpus/cli/errors.txt")).expect("errors");
    let lines: Vec<&str> = known.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(lines.len() > 25, "only {} commands", lines.len());
    let mut text = String::from("# Commands that are wrong, what is said of them, and the exit status.\n");
    for line in lines {
        let (said, status) = printed(folder.path(), line);
        assert!(!said.contains("a fault of Parallax"), "{line}: {said}");
        let _ = write!(text, "\n$ {line}\n{said}status {}\n", status.expect("it ends"));
    }
    is_as_in("corpus/cli/errors.txt", &text);
}

/// The patterns of `docs/problem-matcher.json`, as a build server applies them: one line after the other.
#[test]
fn the_problem_matcher_reads_what_is_printed() {
    let text = fs::read_to_string(top().join("docs/problem-matcher.json")).expect("the matcher");
    let matcher: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let patterns = matcher["problemMatcher"][0]["pattern"].as_array().expect("patterns").clone();
    let expressions: Vec<regex::Regex> = patterns
        .iter()
        .map(|pattern| {
            regex::Regex::new(pattern["regexp"].as_str().expect("an expression")).expect("well-formed")
        })
        .collect();
    let folder = folder();
    for (line, expected) in [
        ("parallax check corpus/demo/stock.c --refine-time 5", "null-dereference corpus/demo/stock.c"),
        (
            "parallax explore corpus/c/find/last_element.c --entry last",
            "null-dereference corpus/c/find/last_element.c",
        ),
        ("parallax explore corpus/demo/stock.c --stdin 8", "null-dereference corpus/demo/stock.c"),
    ] {
        let (said, _) = printed(folder.path(), line);
        let lines: Vec<&str> = said.lines().collect();
        let mut found = Vec::new();
        for window in lines.windows(expressions.len()) {
            let matched: Vec<_> =
                expressions.iter().zip(window).filter_map(|(e, line)| e.captures(line)).collect();
            if matched.len() < expressions.len() {
                continue;
            }
            let group = |name: &str| {
                let at = patterns.iter().position(|pattern| pattern[name].is_u64()).expect("a group");
                matched[at][patterns[at][name].as_u64().expect("a number") as usize].to_owned()
            };
            assert!(group("line").parse::<u32>().is_ok() && group("column").parse::<u32>().is_ok());
            assert!(!group("message").is_empty());
            found.push(format!("{} {}", group("code"), group("file")));
        }
        assert!(found.iter().any(|finding| finding == expected), "{line}: {found:?}: {said}");
        let findings = lines.iter().filter(|line| line.starts_with("  --> ")).count();
        assert_eq!(found.len(), findings, "{line}: each finding is one annotation: {said}");
    }
}
