//! `run` and `explore` on C, as users call them.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn parallax(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parallax"))
        .current_dir(root())
        .args(arguments)
        .output()
        .expect("parallax runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A file of this test alone.
fn scratch(name: &str, contents: &[u8]) -> String {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, contents).expect("a file");
    file.display().to_string()
}

#[test]
fn a_program_runs_with_its_arguments_and_decides_the_status() {
    let output = parallax(&["run", "corpus/c/run/levenshtein.c", "--", "kitten", "sitting"]);
    assert_eq!(text(&output.stdout), "3\n");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(parallax(&["run", "corpus/c/run/exit_handlers.c"]).status.code(), Some(7));
}

#[test]
fn a_mistake_of_a_running_program_is_said_with_its_place() {
    let file = scratch("past.c", b"int main(void) {\n  int a[3] = {1, 2, 3}, i = 3;\n  return a[i];\n}\n");
    let output = parallax(&["run", &file]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).starts_with("out-of-bounds: 4 bytes at offset 12 of an object of 12 bytes"));
    assert!(text(&output.stderr).contains("past.c:3 in main"), "{}", text(&output.stderr));
}

#[test]
fn findings_are_confirmed_by_replay_and_natively() {
    for (program, kind) in [
        ("null_true", "null-dereference"),
        ("heap_bounds_true", "out-of-bounds"),
        ("use_after_free_true", "use-after-free"),
        ("reached_error_true", "reached-error"),
        ("list_remove", "null-dereference"),
    ] {
        let file = format!("corpus/c/find/{program}.c");
        let mut arguments = vec!["explore", &file, "--json"];
        if program == "list_remove" {
            arguments.extend(["--entry", "remove_item", "--chain", "2"]);
        }
        let output = parallax(&arguments);
        assert_eq!(output.status.code(), Some(1), "{program}: {}", text(&output.stderr));
        let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
        let finding = &document["findings"][0];
        assert_eq!(finding["kind"], kind, "{program}");
        assert_eq!(finding["confirmed"], true, "{program}: {finding}");
        assert_eq!(finding["replay"], true, "{program}: {finding}");
        assert_eq!(finding["native"], "confirmed", "{program}: {finding}");
        assert!(!finding["path"].as_array().expect("a path").is_empty(), "{program}");
        assert!(document["coverage"]["lines_covered"].as_u64() > Some(0), "{program}");
    }
}

#[test]
fn a_report_of_the_paths_reads_back_with_its_frames() {
    let file = scratch("null.json", b"");
    let output = parallax(&["explore", "corpus/c/find/null_true.c", "--no-native", "--report", &file]);
    assert_eq!(output.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&std::fs::read(&file).expect("the report")).expect("JSON");
    let path = &document["reports"][0]["paths"][0];
    let functions: Vec<&str> =
        path["frames"].as_array().expect("frames").iter().filter_map(|f| f["function"].as_str()).collect();
    assert_eq!(functions, ["main", "second"]);
    let last = path["steps"].as_array().expect("steps").last().expect("a step").clone();
    assert_eq!(last["failing"], true, "{last}");
    assert_eq!(last["location"]["line"], 4, "{last}");
    let converted = parallax(&["convert", &file, "--to", "sarif"]);
    assert_eq!(converted.status.code(), Some(0), "{}", text(&converted.stderr));
}

#[test]
fn a_clean_program_is_explored_to_the_end_and_leaves_tests() {
    let tests = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tests-of-lookup");
    let _ = std::fs::remove_dir_all(&tests);
    let folder = tests.display().to_string();
    let program = ["corpus/c/find/two_files_false.c", "corpus/c/find/parts/lookup.c"];
    let output = parallax(&["explore", program[0], program[1], "--tests", &folder]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("every path was explored"), "{}", text(&output.stdout));
    let mut drivers = 0;
    for entry in std::fs::read_dir(&tests).expect("the folder of tests") {
        let driver = entry.expect("readable").path();
        if driver.extension().is_none_or(|e| e != "c") {
            continue;
        }
        drivers += 1;
        let test: Value =
            serde_json::from_slice(&std::fs::read(driver.with_extension("json")).expect("what it predicts"))
                .expect("JSON");
        let binary = driver.with_extension("");
        let built = Command::new("clang-19")
            .current_dir(root())
            .args(["-w", "-Dmain=program_main_", program[0], program[1]])
            .arg(&driver)
            .arg("-o")
            .arg(&binary)
            .status()
            .expect("clang runs");
        assert!(built.success());
        let ran = Command::new(&binary).output().expect("the test runs");
        assert_eq!(ran.status.code().map(i64::from), test["status"].as_i64(), "{}", driver.display());
    }
    assert_eq!(drivers, 3, "one per entry of the table, and one for none");
}

#[test]
fn bad_input_is_said_clearly() {
    let broken = scratch("broken.c", b"int main(void) { return nothing; }\n");
    let output = parallax(&["explore", &broken]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("use of undeclared identifier 'nothing'"),
        "{}",
        text(&output.stderr)
    );
    assert!(output.stdout.is_empty());

    let output = parallax(&["explore", "no/such/file.c"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no/such/file.c: No such file"), "{}", text(&output.stderr));

    let output = parallax(&["explore", "corpus/c/find/null_true.c", "--entry", "missing"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("no function missing"), "{}", text(&output.stderr));

    let garbage = scratch("garbage.bc", b"BC\xc0\xdenot bitcode at all");
    let output = parallax(&["explore", &garbage]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("not a module LLVM 19 can read"), "{}", text(&output.stderr));
}

#[test]
fn what_is_not_supported_or_not_there_is_named() {
    let asm = scratch("cpuid.c", b"int main(void) { int x; __asm__(\"cpuid\" : \"=a\"(x)); return x; }\n");
    for verb in ["run", "explore"] {
        let output = parallax(&[verb, &asm]);
        assert_eq!(output.status.code(), Some(3), "{verb}");
        let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert!(said.contains("inline assembly: cpuid"), "{verb}: {said}");
    }
    let open = scratch("extern.c", b"int elsewhere(int);\nint main(void) { return elsewhere(3) == 4; }\n");
    let output = parallax(&["run", &open]);
    assert_eq!(output.status.code(), Some(3));
    let said = text(&output.stderr);
    assert!(said.contains("elsewhere is called, but nothing defines it"), "{said}");
    let output = parallax(&["explore", &open]);
    assert_eq!(output.status.code(), Some(4));
    let said = text(&output.stdout);
    assert!(said.contains("INCOMPLETE: stands-in: elsewhere has no model"), "{said}");
}

/// Every kind of input that is not a program: what is said of it, the exit status, and nothing on stdout that looks like
/// a clean result.
#[test]
fn a_compiled_program_is_not_taken_for_source() {
    let output = parallax(&["explore", "/bin/true"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("compiled program") && said.contains("explore --stdin 16 -- /bin/true"), "{said}");
    assert!(said.lines().count() < 5, "{said}");
}

#[test]
fn what_is_no_program_is_refused() {
    const SCOPES: &str = r#"target triple = "x86_64-pc-linux-gnu"
define i32 @main() !dbg !3 { ret i32 0, !dbg !5 }
!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!1}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = distinct !DICompileUnit(language: DW_LANG_C11, file: !2, emissionKind: FullDebug)
!2 = !DIFile(filename: "a.c", directory: "/")
!3 = distinct !DISubprogram(name: "main", scope: !2, file: !2, line: 1, type: !4, unit: !1, spFlags: DISPFlagDefinition)
!4 = !DISubroutineType(types: !{null})
!5 = !DILocation(line: 1, scope: !4)
"#;
    let cases: [(&str, &str, &[&str], i32, &str); 12] = [
        (
            "types.ll",
            "define i32 @main() { %x = add i32 1, 2.0 ret i32 %x }",
            &[],
            2,
            "floating point constant",
        ),
        (
            "unknown.ll",
            "define i32 @main() { ret i32 %nothing }",
            &[],
            2,
            "use of undefined value '%nothing'",
        ),
        (
            "phi.ll",
            "define i32 @main() { a: br label %b\nb: %x = phi i32 [0, %b] ret i32 %x }",
            &[],
            2,
            "PHI node entries",
        ),
        ("scopes.ll", SCOPES, &[], 2, "debug information is corrupt"),
        (
            "narrow.ll",
            "target datalayout = \"e-p:32:32\"\ndefine i32 @main() { ret i32 0 }",
            &[],
            3,
            "64-bit",
        ),
        ("empty.bc", "", &[], 2, "no function main"),
        ("variable.c", "int main_ = 1;", &[], 2, "no function main"),
        ("variable2.c", "int main = 1;", &["--entry", "main"], 2, "no function main"),
        ("declared.c", "int f(int); int main(void) { return f(1); }", &["--entry", "f"], 2, "has no body"),
        ("any.c", "int f(int n, ...) { return n; }", &["--entry", "f"], 2, "f takes any number of arguments"),
        ("asm.c", "int main(void) { __asm__(\"cpuid\" ::: \"eax\"); return 0; }", &[], 3, "inline assembly"),
        ("main.ll", "define i32 @main(<4 x i32> %v) { ret i32 0 }", &[], 3, "main takes something other"),
    ];
    for (name, contents, flags, status, words) in cases {
        let file = scratch(name, contents.as_bytes());
        let mut arguments = vec!["explore", &file];
        arguments.extend(flags);
        let output = parallax(&arguments);
        let said = text(&output.stderr) + &text(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{name}: {said}");
        assert!(said.contains(words), "{name}: {said}");
        assert!(!said.contains("every path was explored"), "{name}: {said}");
        // As JSON, a clean result is no more to be had.
        arguments.push("--json");
        let output = parallax(&arguments);
        if let Ok(document) = serde_json::from_slice::<Value>(&output.stdout) {
            assert!(document["error"].is_string() || document["complete"] == false, "{name}");
        }
    }
}

#[test]
fn a_function_without_a_body_is_assumed_to_do_anything_and_said() {
    let file = scratch("unresolved.c", b"int ask(void); int main(void) { return 10 / ask(); }\n");
    let output = parallax(&["explore", &file, "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert!(document["bounds"].to_string().contains("ask has no model"), "{document}");
    assert_eq!(output.status.code(), Some(4), "a guess alone is no finding");
    assert_eq!(document["findings"][0]["kind"], "division-by-zero");
    let output = parallax(&["run", &file]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output.stderr).contains("ask is called, but nothing defines it"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_project_is_explored_and_confirmed_with_each_files_own_flags() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("project");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("inc")).expect("a folder");
    std::fs::create_dir_all(folder.join("src")).expect("a folder");
    let write = |name: &str, contents: &str| std::fs::write(folder.join(name), contents).expect("a file");
    write("inc/limits_of_ours.h", "#define ROOM 4\nint put(int at, char c);\n");
    write(
        "src/main.c",
        "#include \"limits_of_ours.h\"\nint __VERIFIER_nondet_int(void);\n#ifndef MAIN\n#error MAIN\n#endif\n\
         int main(void) { int k = __VERIFIER_nondet_int(); return k < 0 || k > LAST ? 0 : put(k, 'x'); }\n",
    );
    write(
        "src/put.c",
        "#include <limits_of_ours.h>\n#ifdef MAIN\n#error MAIN\n#endif\nstatic char text[ROOM];\n\
         int put(int at, char c) { text[at] = c; return 0; }\n",
    );
    write(
        "compile_commands.json",
        r#"[{"directory": "src", "file": "main.c", "command": "cc -DMAIN -D 'LAST=4' -I../inc -O2 -c main.c"},
            {"directory": "src", "file": "put.c", "arguments": ["cc", "-I", "../inc", "-Wall", "-c", "put.c"]}]"#,
    );
    let database = folder.join("compile_commands.json").display().to_string();
    let output = parallax(&["explore", &database, "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let finding = &document["findings"][0];
    assert_eq!(finding["kind"], "out-of-bounds", "{finding}");
    assert_eq!(finding["native"], "confirmed", "{finding}");
    assert_eq!(document["findings"].as_array().map(Vec::len), Some(1));
    // The same from a function, with static things in the way.
    let output = parallax(&["explore", &database, "--entry", "put", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!(document["findings"][0]["native"], "confirmed", "{document}");
}

#[test]
fn several_files_run_with_flags() {
    let one = scratch(
        "one.c",
        b"#include <stdio.h>\nint two(void);\nint main(void) { printf(\"%d\\n\", two() + K); }\n",
    );
    let two = scratch("two.c", b"int two(void) { return 2; }\n");
    let output = parallax(&["run", &one, &two, "-D", "K=40", "-O", "2"]);
    assert_eq!(text(&output.stdout), "42\n", "{}", text(&output.stderr));
}

/// What an answer rests on is said wherever the answer is: as text, as JSON, and in every form of report.
#[test]
fn incompleteness_premises_and_contracts_are_in_every_form() {
    let source = b"#include <stdio.h>\nint elsewhere(int);\n\
        static int last(const char *text, int n) { return text[n - 1] ? elsewhere(n) : getchar(); }\n\
        int shorten(const char *text, int n) { if (n < 2) return 0; return last(text, n); }\n";
    let file = scratch("said.c", source);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let words =
        ["INCOMPLETE: stands-in: elsewhere has no model", "assumed: standard input is empty", "relied on: "];
    let explore = |more: &[&str]| {
        let mut arguments = vec!["explore", &file, "--entry", "last", "--callers", "--no-native"];
        arguments.extend(more);
        let output = parallax(&arguments);
        assert_eq!(output.status.code(), Some(4), "{}{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    };
    let said = explore(&[]);
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
    let document: Value = serde_json::from_str(&explore(&["--json"])).expect("JSON");
    assert_eq!(document["complete"], false);
    let bound = document["bounds"].as_array().expect("bounds").iter().find(|b| b["name"] == "stands-in");
    let place = bound.expect("the function without a body")["place"].as_str().expect("a place").to_string();
    assert!(place.ends_with("said.c:3"), "{place}");
    assert!(!document["contracts"].as_array().expect("contracts").is_empty());
    assert!(document["assumptions"].to_string().contains("standard input is empty"));
    for ending in ["json", "sarif", "html", "xml"] {
        let report = folder.join(format!("said.{ending}"));
        explore(&["--report", &report.display().to_string()]);
        let written = std::fs::read_to_string(&report).expect("the report");
        for word in words {
            assert!(written.contains(word), "{ending} loses `{word}`");
        }
    }
    // Read back from SARIF, the words are still there.
    let sarif = folder.join("said.sarif").display().to_string();
    let converted = parallax(&["convert", &sarif, "--to", "json"]);
    assert!(text(&converted.stdout).contains(words[0]), "{}", text(&converted.stdout));
}

/// What rests on a guess alone has no status of a finding.
#[test]
fn a_guess_alone_is_no_finding() {
    let guess = scratch("guess.c", b"#include <assert.h>\nint elsewhere(int);\nint main(void) { assert(elsewhere(1) != 7); return 0; }\n");
    let output = parallax(&["explore", &guess]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stdout));
    assert!(
        text(&output.stdout).contains("INCOMPLETE: findings rest on guesses"),
        "{}",
        text(&output.stdout)
    );
}

/// Options of `explore` for C that bound nothing by themselves: where it starts, what it looks for, in which order, what it writes; or
/// that bound by a clock or the machine's memory, which no test can raise by one.
const NO_BOUNDS: &[&str] = &[
    "--aliasing",
    "--allow-net",
    "--allow-write",
    "--approximate",
    "--arg",
    "--argv",
    "--avoid",
    "--build",
    "--cache",
    "--callers",
    "--changed-since",
    "--cflags",
    "--concrete-file",
    "--conversions",
    "--coverage",
    "--entry",
    "--env",
    "--failing-malloc",
    "--file",
    "--first",
    "--floats",
    "--function",
    "--globals",
    "--help",
    "--help-all",
    "--jobs",
    "--json",
    "--keep-world",
    "--loop-bound",
    "--max-tests",
    "--memory",
    "--merge",
    "--minimise",
    "--no-cache",
    "--no-leaks",
    "--no-native",
    "--only",
    "--output",
    "--overflow",
    "--program",
    "--report",
    "--resume",
    "--run-unjailed",
    "--seed",
    "--set-env",
    "--shifts",
    "--solver-time",
    "--stdin",
    "--strategy",
    "--strings",
    "--summaries",
    "--sym-arg",
    "--sym-args",
    "--sym-env",
    "--symbolic",
    "--target",
    "--tests",
    "--time",
    "--unsigned-overflow",
    "--warnings",
];

/// A new option says whether it bounds: then it has a row in the test that raises each bound by one.
#[test]
fn every_option_that_bounds_is_raised_by_a_test() {
    let raised = include_str!("../../../../c/cexplore/tests/it/bounds.rs");
    let help = parallax(&["explore", "--help-all"]);
    let text = String::from_utf8_lossy(&help.stdout).into_owned();
    let options: std::collections::BTreeSet<&str> = text
        .lines()
        .filter(|line| line.trim_start().starts_with('-'))
        .flat_map(|line| {
            line.split([' ', ',', ':', '=', '<', '[']).filter(|word| word.starts_with("--") && word.len() > 2)
        })
        .collect();
    assert!(options.len() > 40, "{options:?}");
    for option in &options {
        let has_row = raised.contains(&format!("(\"{option}\","));
        assert!(
            has_row || NO_BOUNDS.contains(option),
            "{option} has neither a row in bounds.rs nor a reason"
        );
    }
    for option in NO_BOUNDS {
        assert!(options.contains(option), "{option} is gone");
    }
}

/// What a fuzzer calls is explored as it is, with any bytes of any number.
#[test]
fn a_fuzz_target_needs_no_harness() {
    let file = scratch(
        "fuzz_target.c",
        b"#include <stddef.h>\n#include <stdint.h>\n\
          int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {\n  if (size > 3 && data[0] == 'P' && data[1] == 'X' && data[2] == 'Z')\n\
          return data[data[3] & 7];\n  return 0;\n}\n",
    );
    let output = parallax(&["explore", &file, "--stdin", "6", "--json"]);
    let found: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&output.stderr)));
    let kinds: Vec<_> =
        found["findings"].as_array().expect("a list").iter().map(|f| (&f["kind"], &f["line"])).collect();
    assert_eq!(kinds, [(&Value::from("out-of-bounds"), &Value::from(5))], "{found:#}");
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&parallax(&["explore", &file, "--stdin", "6", "--no-native"]).stdout);
    assert!(shown.contains("data = \"PXZ"), "{shown}");
    assert!(!shown.contains("fuzz_harness"), "{shown}");
}

/// A library is entered where it takes what others wrote, each function in its share of the time.
#[test]
fn a_program_without_main_proposes_its_entries() {
    let file = scratch(
        "library.c",
        b"#include <stddef.h>\nstatic int inner(const char *text) { return text[0] == 'x'; }\n\
          int parse_header(const unsigned char *bytes, size_t size) {\n  if (size < 4) return 0;\n  return bytes[3] == 1 ? bytes[size] : 2;\n}\n\
          int name_is_fine(const char *text) { return inner(text); }\nint unrelated(int n) { return 10 / n; }\n",
    );
    let output = parallax(&["explore", &file, "--time", "20"]);
    let shown = text(&output.stdout);
    assert!(shown.contains("parse_header is entered by itself, with bytes and their number"), "{shown}");
    assert!(shown.contains("name_is_fine is entered by itself, with a text"), "{shown}");
    assert!(!shown.contains("unrelated") && !shown.contains("inner is entered"), "{shown}");
    assert!(shown.contains("out-of-bounds") && shown.contains("in parse_header"), "{shown}");
    let nothing = scratch("nothing_to_enter.c", b"int unrelated(int n) { return 10 / n; }\n");
    let output = parallax(&["explore", &nothing]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("name one with --entry"), "{}", text(&output.stderr));
}

#[test]
fn mistyped_functions_are_guessed() {
    let file =
        scratch("mistyped.c", b"int parse_header(int n) { return n; }\nint other(int n) { return n; }\n");
    for wrong in ["parse_haeder", "parse", "Parse_Header"] {
        let output = parallax(&["explore", &file, "--entry", wrong]);
        let said = text(&output.stderr);
        assert!(said.contains("did you mean parse_header?"), "{wrong}: {said}");
        assert_eq!(output.status.code(), Some(2));
    }
    let said = text(&parallax(&["explore", &file, "--entry", "zzz"]).stderr);
    assert!(said.contains("no function zzz") && !said.contains("did you mean"), "{said}");
}

/// Files that are as they are, beside one with unknown bytes; and several reports of one run.
#[test]
fn real_files_are_there_and_reports_are_several() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("real-files");
    std::fs::create_dir_all(folder.join("tables/inner")).expect("a folder");
    std::fs::write(folder.join("tables/one.txt"), "7\n").expect("a file");
    std::fs::write(folder.join("tables/inner/two.txt"), "35\n").expect("a file");
    let file = scratch(
        "reads_tables.c",
        b"#include <assert.h>\n#include <stdio.h>\n\
          static int number(const char *name) {\n  FILE *f = fopen(name, \"r\");\n  int n = -1;\n  if (f) fscanf(f, \"%d\", &n), fclose(f);\n  return n;\n}\n\
          int main(void) {\n  int c = -1;\n  FILE *f = fopen(\"in\", \"r\");\n  if (f) c = fgetc(f), fclose(f);\n\
          assert(number(\"t/one.txt\") + number(\"t/inner/two.txt\") != c);\n  return 0;\n}\n",
    );
    let given = format!("t@{}", folder.join("tables").display());
    let reports = ["a.sarif", "b.html", "c.json"].map(|name| folder.join(name).display().to_string());
    let mut arguments = vec!["explore", &file, "--file", "in=1", "--file", &given];
    reports.iter().for_each(|report| arguments.extend(["--report", report]));
    let output = parallax(&arguments);
    let shown = text(&output.stdout);
    assert!(shown.contains("file in \"*\""), "{shown} {}", text(&output.stderr));
    assert!(!shown.contains("one.txt \""), "what is given is no part of the input: {shown}");
    assert!(shown.contains("confirmed by replay, natively too"), "{shown}");
    assert_eq!(output.status.code(), Some(1));
    for report in &reports {
        assert!(std::fs::metadata(report).is_ok_and(|kept| kept.len() > 100), "{report}");
    }
    let refused = parallax(&["explore", &file, "--concrete-file", "no/such/file"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("no/such/file"), "{}", text(&refused.stderr));
}

/// What a function without a body returns a pointer to is memory, not any of the program's objects.
#[test]
fn what_a_stranger_returns_is_memory_of_its_own() {
    let file = scratch(
        "stranger.c",
        b"#include <string.h>\nchar *name_of(int);\nstruct thing { int kind; int size; };\nstruct thing *thing_of(int);\nint table[4];\n\
          int klee_int(const char *);\nint main(void) {\n  int n = klee_int(\"n\");\n  table[1] = 5;\n  struct thing *t = thing_of(n);\n\
          if (!t) return 1;\n  t->kind = 3;\n  if (table[1] != 5) *(int *)0 = 1;\n  if (t->size == 77) return 2;\n\
          char *s = name_of(n);\n  if (!s) return 3;\n  return s[0] == 'a' && s[1] == 'b' ? 4 : 5;\n}\n",
    );
    let output = parallax(&["explore", &file, "--json"]);
    let found: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&output.stderr)));
    assert_eq!(found["findings"].as_array().map(Vec::len), Some(0), "{found:#}");
    let coverage = &found["coverage"];
    assert_eq!(coverage["branches_undecided"], 0, "{coverage:#}");
    assert_eq!(
        coverage["branches"].as_u64().map(|n| n - 1),
        coverage["branches_covered"].as_u64(),
        "{coverage:#}"
    );
    assert_eq!(output.status.code(), Some(4));
}
