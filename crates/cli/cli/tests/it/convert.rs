//! `parallax convert` as a user runs it.

use std::path::PathBuf;
use std::process::{Command, Output};

fn corpus(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../corpus/report")
        .join(name)
        .to_str()
        .unwrap()
        .to_owned()
}

fn convert(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parallax")).arg("convert").args(arguments).output().unwrap()
}

fn scratch(name: &str) -> String {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).to_str().unwrap().to_owned()
}

#[test]
fn the_ending_chooses_the_format_and_nothing_is_lost_on_the_way() {
    let (sarif, xml, json) = (scratch("race.sarif"), scratch("race.xml"), scratch("race.json"));
    let direct = convert(&[&corpus("ladle/race.locksmith"), "--to", "json"]);
    for (from, to) in [(&corpus("ladle/race.locksmith"), &sarif), (&sarif, &xml), (&xml, &json)] {
        let output = convert(&[from, "-o", to]);
        assert!(
            output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(),
            "{output:?}"
        );
    }
    assert_eq!(std::fs::read(json).unwrap(), direct.stdout);
    assert!(std::fs::read_to_string(xml).unwrap().contains("<detour"));
}

#[test]
fn several_files_become_one_and_json_is_one_document() {
    let out = scratch("all.sarif");
    let output = convert(&[
        &corpus("recorded/guests.gcc.json"),
        &corpus("recorded/guests.plist"),
        "-o",
        &out,
        "--json",
    ]);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&summary["format"], summary["reports"].as_u64()), (&"sarif".into(), Some(6)));
    let log: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(out).unwrap()).unwrap();
    assert_eq!(log["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn bad_use_and_bad_input_say_what_and_exit_2() {
    let says = |arguments: &[&str], status: i32, words: &str| {
        let output = convert(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{message}");
        assert!(message.contains(words), "{message}");
        // Where JSON was asked for, the error is JSON too.
        match arguments.contains(&"--json") {
            true => assert!(
                serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["error"].is_string()
            ),
            false => assert!(output.stdout.is_empty()),
        }
    };
    says(&["/nowhere/x.sarif"], 2, "cannot read /nowhere/x.sarif");
    says(&[&corpus("guests.c")], 2, "not a report that Parallax can read");
    says(&[&corpus("lift.blast"), "-o", "x.unknown"], 2, "--to sarif, pathreport, json or markdown");
    let cut = scratch("cut.sarif");
    std::fs::write(&cut, "{\"version\": \"2.1.0\",\n \"runs\": [").unwrap();
    says(&[&cut], 2, "cut.sarif:2:");
    says(&[&corpus("lift.blast"), "--json"], 2, "--output");
    says(&[std::env::temp_dir().to_str().unwrap()], 2, "cannot read");
}
