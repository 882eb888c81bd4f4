//! `parallax explore -- PROGRAM`: statuses, the document, what is said of programs that cannot be explored, and resuming.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder(name: &str) -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("explore-program-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn compile(folder: &Path, text: &str) -> PathBuf {
    let (source, program) = (folder.join("program.c"), folder.join("program"));
    std::fs::write(&source, text).unwrap();
    let status = Command::new("gcc").arg("-O1").arg("-o").arg(&program).arg(&source).status().unwrap();
    assert!(status.success());
    program
}

fn parallax(folder: &Path, flags: &[&str], program: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.current_dir(folder).arg("explore").args(flags).arg("--").args(program);
    command.output().unwrap()
}

fn document(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stdout)))
}

const LOCK: &str = r#"
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
void opened(void) { _exit(9); }
int main(void) {
    char in[6];
    if (read(0, in, 6) != 6) return 1;
    if (in[0] == '!') abort();
    if (memcmp(in, "abc", 3) == 0 && in[3] - in[4] == 7) opened();
    return in[5] > 'x' ? 2 : 3;
}
"#;

#[test]
fn flags_for_c_are_refused() {
    let folder = folder("flags");
    for flags in [&["--loops", "3"][..], &["--merge"], &["--entry", "main"], &["-O", "1"], &["--overflow"]] {
        let output = parallax(&folder, flags, &["/bin/true"]);
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("cannot be used with"), "{flags:?}: {said}");
    }
    let output =
        parallax(&folder, &["--stdin", "1", "--time", "20", "--json", "--strategy", "dfs"], &["/bin/true"]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_target_is_reached_and_the_document_says_by_what() {
    let folder = folder("target");
    let program = compile(&folder, LOCK);
    let output = parallax(
        &folder,
        &["--stdin", "6", "--target", "opened", "--out", "inputs", "--json"],
        &["./program"],
    );
    assert_eq!(output.status.code(), Some(1));
    let document = document(&output);
    assert_eq!(document["target"]["name"], "opened");
    assert_eq!(document["target"]["reached"], true);
    assert_eq!(document["divergences"], 0);
    let input = folder.join(document["target"]["input"].as_str().unwrap());
    let status = Command::new(program).stdin(std::fs::File::open(input).unwrap()).status().unwrap();
    assert_eq!(status.code(), Some(9));
    for test in document["tests"].as_array().unwrap() {
        assert!(folder.join(test["file"].as_str().unwrap()).exists());
        assert!(test["instructions"].as_u64().unwrap() > 0 && test["branches"].as_u64().unwrap() > 0);
    }
    for part in ["concrete", "symbolic", "solver"] {
        assert!(document["seconds"][part].as_f64().is_some());
    }
    assert!(document["coverage"]["own_blocks"].as_u64().unwrap() > 3);
    assert_eq!(document["stopped"], "the target was reached");
}

#[test]
fn a_crash_is_a_finding_and_what_is_killed_goes_on() {
    let folder = folder("resume");
    compile(&folder, LOCK);
    let first =
        parallax(&folder, &["--stdin", "6", "--out", "inputs", "--max-tests", "2", "--json"], &["./program"]);
    let before = document(&first);
    assert_eq!(before["tests"].as_array().unwrap().len(), 2);
    assert!(before["stopped"].as_str().unwrap().contains("paths: 2"), "{}", before["stopped"]);
    // Another program's folder is not taken.
    let other = parallax(&folder, &["--stdin", "7", "--resume", "inputs"], &["./program"]);
    assert_eq!(other.status.code(), Some(2));
    // The log may end anywhere when an exploration is killed.
    let log = folder.join("inputs/explore.jsonl");
    let text = std::fs::read_to_string(&log).unwrap() + "{\"test\":{\"num";
    std::fs::write(&log, text).unwrap();
    let second = parallax(&folder, &["--stdin", "6", "--resume", "inputs", "--json"], &["./program"]);
    assert_eq!(second.status.code(), Some(1), "{}", String::from_utf8_lossy(&second.stderr));
    let after = document(&second);
    assert_eq!(after["stopped"], "every way was taken");
    assert_eq!(after["crashes"][0]["name"], "killed by SIGABRT");
    assert!(
        after["crashes"][0]["backtrace"]
            .as_array()
            .unwrap()
            .iter()
            .any(|f| f.as_str().unwrap().contains("main"))
    );
    // The same as in one go.
    let whole = document(&parallax(&folder, &["--stdin", "6", "--out", "whole", "--json"], &["./program"]));
    assert_eq!(whole["tests"].as_array().unwrap().len(), after["tests"].as_array().unwrap().len());
    assert_eq!(whole["coverage"], after["coverage"]);
}

#[test]
fn a_bound_is_never_called_an_end() {
    let folder = folder("bounds");
    compile(
        &folder,
        "#include <unistd.h>\nint main(void) { char c; read(0, &c, 1); if (c == 7) for (;;); return 0; }",
    );
    let output =
        parallax(&folder, &["--stdin", "1", "--steps", "100000", "--json", "--out", "a"], &["./program"]);
    assert_eq!(output.status.code(), Some(4));
    let document = document(&output);
    assert_eq!(document["tests"].as_array().unwrap().len(), 2);
    assert!(document["stopped"].as_str().unwrap().contains("steps"), "{}", document["stopped"]);
}

#[test]
fn memory_and_forks_end_a_run_and_not_the_search() {
    let folder = folder("hogs");
    compile(
        &folder,
        r#"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(void) {
    char c;
    read(0, &c, 1);
    if (c == 'm') for (;;) memset(malloc(1 << 20), 1, 1 << 20);
    if (c == 'f') return fork() == 0;
    if (c == 'e') _exit(5);
    return 0;
}
"#,
    );
    let output =
        parallax(&folder, &["--stdin", "1", "--memory", "16", "--json", "--out", "a"], &["./program"]);
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stdout));
    let document = document(&output);
    let outcomes: Vec<&str> =
        document["tests"].as_array().unwrap().iter().map(|test| test["outcome"].as_str().unwrap()).collect();
    assert!(outcomes.contains(&"exited with status 5"), "{outcomes:?}");
    let bounds = document["stopped"].as_str().unwrap();
    assert!(bounds.contains("memory") && bounds.contains("second process"), "{bounds}");
}

#[test]
fn what_cannot_be_explored_is_said() {
    let folder = folder("bad");
    std::fs::write(folder.join("text"), "no program").unwrap();
    let refused = |flags: &[&str], program: &[&str], status: i32, words: &str| {
        let output = parallax(&folder, flags, program);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains(words), "{said}");
    };
    refused(&["--stdin", "4"], &["./text"], 2, "text");
    refused(&["--stdin", "4"], &["./nothing"], 2, "nothing");
    refused(&[], &["/bin/true"], 2, "nothing is unknown");
    refused(&["--argv", "3:4"], &["/bin/true"], 2, "no argument 3");
    refused(&["--argv", "x"], &["/bin/true"], 2, "--argv x");
    refused(&["--stdin", "4", "--target", "nowhere"], &["/bin/true"], 2, "nowhere");
    compile(&folder, LOCK);
    refused(&["--stdin", "6", "--target", "environ"], &["./program"], 2, "there is no code at");
    refused(&["--stdin", "6", "--avoid", "0x3"], &["./program"], 2, "there is no code at");
    refused(&["--stdin", "6", "--target", "program.c:900"], &["./program"], 2, "no code was compiled");
    refused(&["--stdin", "4", "program.c"], &["/bin/true"], 2, "cannot be used with");
}

const MOMENT: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int counter = 3;
char text[8] = "412";
__attribute__((noinline)) void set(int *at) { *at = 7; counter++; }
__attribute__((noinline)) int two(int *at) { set(at); return 5; }
__attribute__((noinline)) void deep(void) { counter += 2; }
__attribute__((noinline)) int pick(int x) {
    if (x == 77) deep();
    if (x < 0) abort();
    return x > 1000 ? 2 : counter;
}
int main(void) {
    int cell = 1;
    puts("said before the moment");
    int all = two(&cell) + pick(5) + (int)strlen(text);
    puts("said behind it");
    return all & 1;
}
"#;

fn moment(folder: &Path, verb: &str, flags: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.current_dir(folder).arg(verb).args(flags).arg("--").arg("./program");
    command.output().unwrap()
}

#[test]
fn formulas_from_a_moment_of_a_run() {
    let folder = folder("moment");
    compile(&folder, MOMENT);
    let said = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    // A call does not end the function, and what memory holds is known.
    let two = moment(&folder, "eval", &["--at", "two", "--symbolic", "[RDI]:4", "--json"]);
    assert_eq!(two.status.code(), Some(0), "{}", String::from_utf8_lossy(&two.stderr));
    let document: Value = serde_json::from_slice(&two.stdout).unwrap_or_else(|_| panic!("{}", said(&two)));
    assert_eq!(document["after"]["constants"]["RAX"], "5:64");
    assert_eq!(document["complete"], true);
    let wlp = moment(&folder, "wlp", &["--at", "two", "--symbolic", "[RDI]:4", "--post", "eax == 5"]);
    assert_eq!((wlp.status.code(), said(&wlp).trim()), (Some(0), "true"));
    let wlp = moment(&folder, "wlp", &["--at", "pick", "--symbolic", "RDI", "--post", "eax == 6"]);
    assert!(
        wlp.status.success() && said(&wlp).contains("RDI") && said(&wlp).contains("77"),
        "{}",
        said(&wlp)
    );
    assert!(String::from_utf8_lossy(&wlp.stderr).contains("does not return (killed by SIGABRT"));
    let path = ["--at", "pick", "--symbolic", "RDI", "--through", "pick,deep", "--json"];
    let path: Value = serde_json::from_slice(&moment(&folder, "path", &path).stdout).unwrap();
    assert_eq!(path["satisfiable"], true);
    assert_eq!(path["model"]["RDI"].as_str().map(|text| text.ends_with("4d")), Some(true), "{path}");
    // The function of that name that was chosen for this processor.
    let length = moment(&folder, "wlp", &["--at", "strlen", "--symbolic", "[RDI]:3", "--post", "rax == 1"]);
    assert!(said(&length).contains("RDI.0") && said(&length).contains("RDI.1"), "{}", said(&length));
    for (flags, words) in [
        (&["--at", "nowhere", "--symbolic", "RDI"][..], "nowhere"),
        (&["--at", "pick#5", "--symbolic", "RDI"], "for the 5. time"),
        (&["--at", "pick", "--symbolic", "RDJ"], "RDJ"),
    ] {
        let output = moment(&folder, "eval", flags);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(words), "{words}");
    }
}

#[test]
fn a_function_is_explored_from_its_call() {
    let folder = folder("function");
    compile(&folder, MOMENT);
    let flags = ["--function", "pick", "--symbolic", "RDI", "--out", "inputs", "--json"];
    let output = parallax(&folder, &flags, &["./program"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let document = document(&output);
    assert_eq!(document["stopped"], "every way was taken");
    assert_eq!(document["divergences"], 0);
    let mut returned: Vec<u64> =
        document["tests"].as_array().unwrap().iter().filter_map(|test| test["returned"].as_u64()).collect();
    returned.sort_unstable();
    returned.dedup();
    assert_eq!(returned, [2, 4, 6]);
    assert_eq!(document["crashes"].as_array().unwrap().len(), 1);
    let refused = parallax(&folder, &["--function", "pick"], &["./program"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--symbolic"));
}

#[test]
fn crashes_and_coverage_in_the_words_of_the_source() {
    let folder = folder("source");
    std::fs::write(
        folder.join("program.c"),
        "#include <unistd.h>\n\
         int *place;\n\
         int deeper(int c) {\n    return *place + c;\n}\n\
         int never(void) {\n    return 1;\n}\n\
         int main(int argc, char **argv) {\n    char c = 0;\n    read(0, &c, 1);\n    if (c == 'q')\n        return deeper(c);\n    return argc > 9 ? never() : 0;\n}\n",
    )
    .unwrap();
    let status = Command::new("gcc")
        .args(["-O0", "-g", "-o", "program", "program.c"])
        .current_dir(&folder)
        .status()
        .unwrap();
    assert!(status.success());
    let flags =
        ["--stdin", "1", "--out", "inputs", "--coverage", "trace.info", "--report", "report.json", "--json"];
    let output = parallax(&folder, &flags, &["./program"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let frames = document(&output)["crashes"][0]["backtrace"].to_string();
    assert!(frames.contains("deeper") && frames.contains("program.c:4"), "{frames}");
    assert!(frames.contains("main") && frames.contains("program.c:13"), "{frames}");
    let trace = std::fs::read_to_string(folder.join("trace.info")).unwrap();
    for line in ["DA:4,1", "DA:7,0", "DA:12,2", "DA:13,1", "FN:3,deeper", "FNDA:0,never", "FNDA:1,deeper"] {
        assert!(trace.lines().any(|known| known == line), "{line} in\n{trace}");
    }
    assert!(trace.lines().any(|line| line.starts_with("BRDA:12,") && !line.ends_with(",0")), "{trace}");
    let report = std::fs::read_to_string(folder.join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let path = &report["reports"][0]["paths"][0];
    let lines: Vec<u64> =
        path["steps"].as_array().unwrap().iter().filter_map(|s| s["location"]["line"].as_u64()).collect();
    assert_eq!(lines, [12, 13, 4], "{path}");
}

#[test]
fn two_places_that_abort_are_two_crashes() {
    let folder = folder("aborts");
    let text = "#include <assert.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
        int main(void) {\n    char in[2];\n    if (read(0, in, 2) != 2)\n        return 1;\n    if (in[0] == 'a')\n\
        abort();\n    if (in[0] == 'b' && in[1] != 'x')\n        abort();\n    assert(in[0] != 'c');\n    return 0;\n}\n";
    std::fs::write(folder.join("program.c"), text).unwrap();
    let status = Command::new("gcc")
        .args(["-O0", "-g", "-o", "program", "program.c"])
        .current_dir(&folder)
        .status()
        .unwrap();
    assert!(status.success());
    let output =
        parallax(&folder, &["--stdin", "2", "--out", "a", "--report", "report.json"], &["./program"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.matches("killed by SIGABRT").count(), 3, "{said}");
    for line in [9, 11, 12] {
        assert_eq!(said.matches(&format!("program.c:{line}\n")).count(), 1, "line {line} in {said}");
    }
    let report: Value = serde_json::from_slice(&std::fs::read(folder.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["reports"].as_array().unwrap().len(), 3);
    let line = parallax(&folder, &["--stdin", "2", "--out", "b", "--target", "program.c:11"], &["./program"]);
    assert_eq!(line.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&line.stdout).contains("target program.c:11: reached by"));
}
