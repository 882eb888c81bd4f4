//! The corpus runner: every program under `corpus/pl`, `corpus/mc` and `corpus/bad` says in its header which commands
//! to run on it, and what they print stands beside it.
//!
//! A header line `// run: VERB ARGUMENTS` (or `; run:` in assembler) runs `parallax VERB FILE ARGUMENTS` in the file's
//! folder, or `parallax VERB ARGUMENTS` where the arguments name `$FILE` themselves. Output, messages and exit status are
//! compared with `NAME.VERB.snap`; a second line with the same verb has `NAME.VERB2.snap`, and so on. `BLESS=1` writes
//! the snapshots anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus")
}

/// Words of a command line; single and double quotes keep spaces.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.trim().chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, ' ') => words.push(String::new()),
            (_, c) => words.last_mut().expect("never empty").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// One command on one file: where its snapshot is, and what it says now.
fn execute(file: &Path, line: &str) -> String {
    let name = file.file_name().and_then(|name| name.to_str()).expect("a plain name");
    let mut arguments = words(line);
    if arguments.iter().any(|argument| argument == "$FILE") {
        arguments
            .iter_mut()
            .filter(|argument| *argument == "$FILE")
            .for_each(|argument| *argument = name.to_owned());
    } else {
        arguments.insert(1, name.to_owned());
    }
    let output = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .args(&arguments)
        .current_dir(file.parent().expect("in a folder"))
        .output()
        .expect("the command runs");
    let status = output.status.code().map_or_else(|| "killed".to_owned(), |code| code.to_string());
    let mut text = format!("$ parallax {}\n{}", line.trim(), String::from_utf8_lossy(&output.stdout));
    if !output.stderr.is_empty() {
        text.push_str(&format!("--- stderr\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    if status != "0" {
        text.push_str(&format!("--- status {status}\n"));
    }
    text
}

#[test]
fn every_program_says_what_its_snapshots_say() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = Vec::new();
    let mut ran = 0;
    for folder in ["pl", "mc", "bad"] {
        let folder = corpus().join(folder);
        let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
            .expect("the corpus is there")
            .map(|entry| entry.expect("readable").path())
            .collect();
        files.sort();
        let mut expected = BTreeSet::new();
        for file in files.iter().filter(|file| file.extension().is_none_or(|ending| ending != "snap")) {
            let text = String::from_utf8_lossy(&std::fs::read(file).expect("readable")).into_owned();
            let mut verbs: Vec<String> = Vec::new();
            for line in
                text.lines().filter_map(|line| line.split_once("run: ").filter(|(head, _)| head.len() <= 3))
            {
                let verb = words(line.1)[0].clone();
                verbs.push(verb.clone());
                let number = verbs.iter().filter(|known| **known == verb).count();
                let suffix = if number == 1 { verb } else { format!("{verb}{number}") };
                let snapshot = file.with_extension(format!("{suffix}.snap"));
                let now = execute(file, line.1);
                ran += 1;
                expected.insert(snapshot.clone());
                if bless {
                    std::fs::write(&snapshot, &now).expect("writable");
                    continue;
                }
                let before = std::fs::read_to_string(&snapshot).unwrap_or_default();
                if before != now {
                    wrong.push(format!("{}:\n--- before\n{before}\n--- now\n{now}", snapshot.display()));
                }
            }
            if verbs.is_empty() {
                wrong.push(format!("{}: no `run:` line", file.display()));
            }
        }
        for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "snap")) {
            if !expected.contains(file) {
                wrong.push(format!("{}: belongs to no program", file.display()));
            }
        }
    }
    assert!(ran > 40, "only {ran} commands were run");
    assert!(wrong.is_empty(), "{} differences (BLESS=1 to accept):\n{}", wrong.len(), wrong.join("\n"));
}
