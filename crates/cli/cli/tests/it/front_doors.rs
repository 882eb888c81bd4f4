//! What scripts rely on: one JSON document whatever happens, SMT-LIB that asks the question, inputs that `run` takes.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn parallax(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parallax")).args(arguments).output().expect("the command runs")
}

fn scratch(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("front_doors");
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    let file = folder.join(name);
    std::fs::write(&file, text).expect("writable");
    file
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The verbs and their parts that know `--json`, as the command itself lists them.
fn verbs_with_json() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(verb) = open.pop() {
        let mut arguments: Vec<&str> = verb.iter().map(String::as_str).collect();
        arguments.push("--help");
        let help = text(&parallax(&arguments).stdout);
        if help.contains("--json") {
            found.push(verb.clone());
        }
        // The command lists its verbs under what people come for, a verb its parts under one heading.
        let headed = help.split_once("\nUsage: ").map_or("", |(_, rest)| rest);
        let listed = match verb.is_empty() {
            true => headed.split("\nExit status").next(),
            false => headed.split_once("\nCommands:\n").and_then(|(_, rest)| rest.split("\n\n").next()),
        };
        for line in listed.unwrap_or_default().lines() {
            let name = line.trim().split(' ').next().unwrap_or_default();
            if line.starts_with("  ") && !line.starts_with("   ") && name != "help" {
                open.push(verb.iter().cloned().chain([name.to_owned()]).collect());
            }
        }
    }
    found
}

#[test]
fn with_json_every_error_is_one_document() {
    let verbs = verbs_with_json();
    assert!(verbs.len() >= 12, "{verbs:?}");
    for verb in verbs {
        for wrong in [&["no/such/file"][..], &["--no-such-option"], &[]] {
            let mut arguments: Vec<&str> = verb.iter().map(String::as_str).collect();
            arguments.push("--json");
            arguments.extend(wrong);
            let output = parallax(&arguments);
            if output.status.success() {
                continue;
            }
            let document: Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|why| panic!("{arguments:?}: {why}: {output:?}"));
            assert!(document.is_object(), "{arguments:?}: {document}");
            if output.status.code() == Some(2) {
                assert_eq!(document["status"], 2, "{arguments:?}: {document}");
                let message = document["error"].as_str().unwrap_or_default();
                assert!(!message.is_empty(), "{arguments:?}: {document}");
            }
        }
    }
}

/// What a solver says about a script.
fn answer(script: &str, solver: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .args(["solve", "-", "--solver", solver])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command runs");
    child.stdin.take().expect("piped").write_all(script.as_bytes()).expect("it reads");
    text(&child.wait_with_output().expect("it ends").stdout).trim().to_owned()
}

#[test]
fn smt2_asks_the_question() {
    let program = scratch("five.pl", "y = x + 1; if (y == 6) { hit: z = 1; } if (y != y) { never: z = 2; }");
    let program = program.to_str().unwrap();
    for (arguments, expected) in [
        (vec!["wlp", program, "--post", "z == 1 && x == 5"], "sat"),
        (vec!["wlp", program, "--post", "x == 5 && y == 7"], "unsat"),
        (vec!["path", program, "--through", "hit"], "sat"),
        (vec!["path", program, "--through", "never"], "unsat"),
    ] {
        let mut arguments = arguments;
        arguments.push("--smt2");
        let script = text(&parallax(&arguments).stdout);
        assert_eq!(script.matches("(check-sat)").count(), 1, "{script}");
        for solver in ["z3", "tier0"] {
            assert_eq!(answer(&script, solver), expected, "{arguments:?}, {solver}:\n{script}");
        }
    }
}

/// An input that `path` prints is a whole store: `run` takes it, and comes to the point.
#[test]
fn printed_inputs_are_taken_by_run() {
    let programs = [
        "if (x == 5) { hit: y = 1; }",
        "if (*p == 7 && p != &x) { hit: y = 1; }",
        "if (*12345 == 77) { hit: y = 1; }",
        "q = &x; if (*q + *(q + 4) == 9) { hit: y = 1; }",
        "m = malloc(n); if (m == 0) { hit: y = 1; }",
        "m = malloc(3); *m = x; if (*m > 3 && p == m) { hit: y = 1; }",
        "proc f(a) { x = x + 1; return a; } if (x + f(x) == 8) { hit: y = 1; }",
        "if (**p == 3) { hit: y = 1; }",
    ];
    for (number, program) in programs.iter().enumerate() {
        let file = scratch(&format!("input{number}.pl"), program);
        let file = file.to_str().unwrap();
        let found = parallax(&["path", file, "--through", "hit", "--json"]);
        let document: Value = serde_json::from_slice(&found.stdout).expect("one document");
        assert_eq!(document["satisfiable"], true, "{program}: {document}");
        let mut arguments: Vec<String> = ["run", file, "--json"].map(str::to_owned).to_vec();
        for (name, value) in document["model"].as_object().expect("an input") {
            arguments.extend(["--set".to_owned(), format!("{name}={}", value.as_str().unwrap())]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let ran: Value = serde_json::from_slice(&parallax(&arguments).stdout).expect("one document");
        assert_eq!(ran["values"]["y"], "1", "{program}: {arguments:?}: {ran}");
    }
}

#[test]
fn states_come_as_lines_or_as_one_document() {
    let states =
        scratch("states.json", "{\"regs\":{\"EAX\":\"0x1\"}}\n{\"regs\":{\"EAX\":\"0xffffffff\"}}\n");
    let states = states.to_str().unwrap();
    let code = ["run", "--lang", "x86", "--hex", "83 c0 01", "--states", states];
    let lines = text(&parallax(&code).stdout);
    let lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let document = parallax(&[&code[..], &["--json"]].concat());
    let document: Value = serde_json::from_slice(&document.stdout).expect("one document");
    assert_eq!(document["states"].as_array(), Some(&lines));
    assert_eq!(lines[0]["regs"]["EAX"], "0x2");
    // A state that does not come to its end is no success.
    let endless = ["run", "--lang", "x86", "--hex", "eb fe", "--states", states, "--steps", "5", "--json"];
    let output = parallax(&endless);
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert!(document["states"][0]["stopped"].is_string(), "{document}");
}

#[test]
fn lifted_operations_are_structures() {
    let output = parallax(&["lift", "--lang", "x86-64", "--hex", "48 01 d8", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    let operations = document["instructions"][0]["operations"].as_array().expect("a list");
    let add = operations.iter().find(|op| op["kind"] == "binary" && op["op"] == "add").expect("an addition");
    assert_eq!(add["a"]["name"], "RAX", "{add}");
    assert_eq!(add["b"]["name"], "RBX", "{add}");
    assert!(operations.iter().all(|op| op["text"].is_string() && op["kind"].is_string()), "{operations:?}");
}
