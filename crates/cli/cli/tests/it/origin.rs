//! `origin` from the command line: text, JSON, path reports, bounds and wrong questions.

use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn parallax(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.args(arguments).current_dir(folder).output().expect("the command")
}

/// A recording of a program that computes a total from what it reads.
fn recorded(folder: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runs/flow/tests/origin/sources/total.c");
    let built =
        Command::new("gcc").args(["-g", "-static", "-o", "total"]).arg(source).current_dir(folder).status();
    assert!(built.is_ok_and(|status| status.success()), "scripts/setup names what the tests need");
    let mut child = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .args(["record", "-o", "total.rec", "--", "./total"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command");
    child.stdin.take().expect("a pipe").write_all(b"42\n").expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.stdout, b"39\n");
}

#[test]
fn a_variable_comes_from_what_was_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    recorded(folder);
    let output = parallax(folder, &["origin", "total.rec", "--variable", "total", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(document["complete"], true);
    let nodes = document["nodes"].as_array().expect("a list");
    assert_eq!(nodes[0]["made"][0]["bytes"], serde_json::json!([39, 0, 0, 0]));
    // Times fall along every edge, and the subtraction is on the way, in its function.
    for node in nodes {
        for from in node["from"].as_array().expect("a list") {
            let from = &nodes[from.as_u64().expect("an index") as usize];
            assert!(from["time"].as_u64() < node["time"].as_u64(), "{node}");
        }
    }
    assert!(nodes.iter().any(|node| node["function"] == "discounted" && node["line"] == 8), "{document:#}");
    let ends: Vec<&Value> = nodes.iter().filter(|node| node["end"] == true).collect();
    let read: Vec<&&Value> = ends.iter().filter(|node| node["what"] == "call").collect();
    assert_eq!(read.len(), 1, "{document:#}");
    assert_eq!(read[0]["made"][0]["bytes"], serde_json::json!([0x34, 0x32]));
    assert!(read[0]["text"].as_str().is_some_and(|text| text.starts_with("read(0x0")), "{document:#}");

    // The same as a path, in every format, and the viewer reads it.
    for file in ["total.xml", "total.sarif", "total.html", "total.json"] {
        let output = parallax(folder, &["origin", "total.rec", "--variable", "total", "--report", file]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let text = std::fs::read_to_string(folder.join(file)).expect("it is written");
        assert!(text.contains("total.c") && text.contains("read(0x0"), "{file}: {text}");
    }
    for file in ["total.xml", "total.sarif"] {
        let output = parallax(folder, &["convert", file, "--to", "json"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let document: Value = serde_json::from_str(&text).expect("one document");
        let steps = document["reports"][0]["paths"][0]["steps"].as_array().map_or(0, Vec::len);
        assert!(steps > 4, "{file}: {text} {output:?}");
    }

    // Cut at a bound, and said so.
    let output = parallax(folder, &["origin", "total.rec", "--variable", "total", "--max", "3"]);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("cut here"), "{output:?}");

    for (arguments, words) in [
        (&["--variable", "totally"][..], "totally"),
        (&["--register", "rqx"], "there is no register rqx"),
        (&["--memory", "10:8"], "nothing is mapped at 0x10"),
        (&["--memory", "x"], "not an address"),
        (&["--register", "rax", "--at", "0"], "there is no time 0"),
        (&[], "required"),
    ] {
        let output = parallax(folder, &[&["origin", "total.rec"], arguments].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}
