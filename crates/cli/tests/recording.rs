//! Recordings from the command line: what `find` finds, and what is said about wrong questions.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn parallax(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parallax")).args(arguments).output().expect("the command")
}

/// A recording of a program that writes three times, and its name.
fn recorded(folder: &Path) -> PathBuf {
    let source = folder.join("writes.c");
    let text =
        "#include <unistd.h>\nint main(void) { for (int i = 0; i < 3; i++) write(1, \"x\", 1); return 0; }";
    std::fs::write(&source, text).expect("a temporary file");
    let binary = folder.join("writes");
    let built = Command::new("gcc").args(["-static", "-o"]).args([&binary, &source]).status();
    assert!(built.is_ok_and(|status| status.success()), "scripts/setup names what the tests need");
    let recording = folder.join("writes.rec");
    let text = |path: &Path| path.to_str().expect("a plain path").to_owned();
    let output = parallax(&["record", "-o", &text(&recording), "--", &text(&binary)]);
    assert!(output.status.success(), "{output:?}");
    recording
}

#[test]
fn system_calls_are_found_both_ways() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recording = recorded(folder.path());
    let recording = recording.to_str().expect("a plain path");
    let times = |more: &[&str]| -> Vec<u64> {
        let output = parallax(&[&["find", recording, "--system-call", "write", "--json"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
        let steps = document["steps"].as_array().expect("a list");
        steps.iter().map(|step| step["time"].as_u64().expect("a time")).collect()
    };
    let forward = times(&[]);
    assert_eq!(forward.len(), 3);
    let mut backward = times(&["--backward"]);
    assert_eq!(times(&["--backward", "--max", "1"]), backward[..1]);
    backward.reverse();
    assert_eq!(forward, backward);
    let last = forward[2].to_string();
    assert_eq!(times(&["--from", &last]), forward[2..]);
}

#[test]
fn wrong_questions_are_wrong_use() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let recording = recorded(folder.path());
    let recording = recording.to_str().expect("a plain path");
    for (arguments, words) in [
        (&["find", recording][..], "say what to find"),
        (&["find", recording, "--system-call", "brew"], "there is no system call brew"),
        (&["find", recording, "--execute", "main"], "not an address"),
        (&["find", recording, "--calls", "--from", "0"], "the times of the recording are"),
        (&["find", "/etc/passwd", "--calls"], "neither a folder nor a packed recording"),
        (&["gdbserver", "/nowhere"], "cannot read"),
    ] {
        let output = parallax(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}
