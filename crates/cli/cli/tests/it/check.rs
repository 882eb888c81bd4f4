//! `check` as users call it: what it prints and writes, its configuration, its baseline, its status.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of one test alone, with files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    for (file, text) in files {
        std::fs::write(folder.join(file), text).expect("a file");
    }
    folder
}

fn parallax(at: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.current_dir(at).arg("check").args(arguments).output().expect("parallax runs")
}

fn json(output: &Output) -> Value {
    let words = || String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", words()))
}

/// Null is dereferenced when the first argument begins with `n`; the other two uses are tested before.
const PROGRAM: &str = "#include <stdlib.h>
int v, *g = &v;
void clear(void) { g = NULL; }
void tested(void) { if (g) *g = 1; }
void used(void) { *g = 2; }
int main(int count, char **words) {
  if (count > 1 && words[1][0] == 'n') clear();
  tested();
  used();
  return 0;
}
";

#[test]
fn what_happens_is_confirmed_and_what_cannot_is_refuted() {
    let at = folder("check-confirmed", &[("p.c", PROGRAM)]);
    let output = parallax(&at, &["p.c", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report = json(&output);
    let findings = report["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 1, "{report:#}");
    let finding = &findings[0];
    assert_eq!((finding["function"].as_str(), finding["line"].as_u64()), (Some("used"), Some(5)));
    assert_eq!(finding["status"], "confirmed", "{report:#}");
    let given = finding["witness"]["input"]["arguments"][0].as_str().expect("an argument");
    assert!(given.starts_with('n'), "{given}");
    assert_eq!(finding["witness"]["native"]["confirmed"], true, "{report:#}");
    assert_eq!(report["refuted"], 1, "the use after the test");
    for key in ["kind", "where", "file", "paths"] {
        assert!(!finding[key].is_null(), "{key}");
    }
    for key in ["mode", "contexts", "cache_hits", "iterations", "seconds"] {
        assert!(!report["blocks"][0][key].is_null(), "{key}: {report:#}");
    }
    assert!(report["assumptions"].is_array() && report["gaps"].is_array());
}

/// The error needs a certain result of a function that nobody knows: that is a guess, and no confirmation.
#[test]
fn what_depends_on_a_guess_is_not_confirmed() {
    let program = PROGRAM
        .replace("int main(", "int stranger(void);\nint main(")
        .replace("count > 1 && words[1][0] == 'n'", "stranger() == 42");
    let at = folder("check-guess", &[("p.c", &program)]);
    let output = parallax(&at, &["p.c", "--json", "--refine-time", "5", "--confirm-time", "5"]);
    let report = json(&output);
    let finding = report["findings"].as_array().expect("findings").iter().find(|f| f["function"] == "used");
    let finding = finding.expect("the use");
    assert_eq!(finding["status"], "possible", "{report:#}");
    assert_eq!(output.status.code(), Some(4), "nothing is confirmed or likely: {report:#}");
    assert!(finding["reason"].as_str().is_some_and(|why| why.contains("without a model")), "{finding:#}");
    let mut explore = Command::new(env!("CARGO_BIN_EXE_parallax"));
    let explored = explore.current_dir(&at).args(["explore", "p.c", "--json"]).output().expect("it runs");
    assert_eq!(explored.status.code(), Some(4), "it is found all the same, and no more than that");
    let explored = json(&explored);
    let found = &explored["findings"][0];
    assert_eq!((&found["verdict"], &found["confirmed"]), (&"guessed".into(), &false.into()), "{explored:#}");
}

/// Null that is assigned, passed or returned to a use near by, and tested nowhere, is likely; what goes through memory, is tested
/// somewhere or comes from far away is possible: counted, and printed on demand.
#[test]
fn findings_are_ranked_and_possible_ones_are_counted() {
    let text = "#include <stdlib.h>
int *shared, v;
int through(int *p) { return *p; }
int tested(int *p) { if (v) return *p; return p == 0; }
int memory(void) { return *shared; }
int main(int argc, char **argv) {
    char *home = getenv(\"HOME\");
    int *q = 0;
    if (argc == 2) return *home;
    if (argc == 3) return through(q);
    if (argc == 4) return tested(0);
    shared = argc == 5 ? 0 : &v;
    return memory();
}
";
    let at = folder("check-ranks", &[("ranks.c", text)]);
    let run = |words: &[&str]| {
        let all = [&["ranks.c", "--no-refine", "--confirm-time", "0"], words].concat();
        let output = parallax(&at, &all);
        (output.status.code(), String::from_utf8(output.stdout).expect("text"))
    };
    let report: Value = serde_json::from_str(&run(&["--json"]).1).expect("JSON");
    let findings = report["findings"].as_array().expect("findings");
    let ranks: Vec<(u64, &str)> = findings
        .iter()
        .map(|finding| {
            (finding["line"].as_u64().expect("a line"), finding["status"].as_str().expect("a rank"))
        })
        .collect();
    assert_eq!(ranks, [(3, "likely"), (4, "possible"), (5, "possible"), (9, "likely")], "{report:#}");
    assert_eq!(report["counts"], serde_json::json!({ "confirmed": 0, "likely": 2, "possible": 2 }));
    let why = findings[3]["reason"].as_str().expect("a reason");
    assert!(why.contains("step") && why.contains("nothing on the way is tested"), "{why}");
    let ((status, short), (_, all)) = (run(&[]), run(&["--all"]));
    assert_eq!(status, Some(1));
    assert_eq!((short.matches("-->").count(), all.matches("-->").count()), (2, 4), "{short}\n{all}");
    assert!(short.contains("2 possible findings, not decided and not shown"), "{short}");
    assert!(!all.contains("not shown"), "{all}");
    assert!(short.contains("0 confirmed, 2 likely, 2 possible; 4 warnings of inference alone"), "{short}");
    // Possible findings alone are no findings, and not clean either.
    let rest = text.replace("return *home", "return 0").replace("return through(q)", "return 0");
    std::fs::write(at.join("ranks.c"), rest).expect("a file");
    let (status, short) = run(&[]);
    assert!(status == Some(4) && !short.contains("-->"), "{status:?}: {short}");
    // Files have them all, with rank and level.
    run(&["--report", "r.sarif"]);
    let sarif = std::fs::read(at.join("r.sarif")).expect("a report");
    let sarif: Value = serde_json::from_slice(&sarif).expect("SARIF is JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 2, "{sarif:#}");
    for result in results {
        assert_eq!((&result["level"], &result["rank"]), (&"note".into(), &15.into()), "{result:#}");
    }
}

#[test]
fn reports_are_written_in_every_form() {
    let at = folder("check-forms", &[("p.c", PROGRAM)]);
    let files = ["r.sarif", "r.xml", "r.json"];
    let mut arguments = vec!["p.c", "--no-refine", "--html", "r.html"];
    arguments.extend(files.iter().flat_map(|file| ["--report", file]));
    assert_eq!(parallax(&at, &arguments).status.code(), Some(4), "both are possible, and not decided");
    let text = |name: &str| std::fs::read_to_string(at.join(name)).expect("a report");
    let sarif: Value = serde_json::from_str(&text("r.sarif")).expect("SARIF is JSON");
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(2));
    assert!(text("r.xml").contains("<"), "pathreport XML");
    assert!(text("r.json").contains("null-dereference"));
    assert!(text("r.html").contains("null-dereference") && text("r.html").starts_with("<!"));
}

#[test]
fn only_what_is_new_counts_against_a_baseline() {
    let at = folder("check-baseline", &[("p.c", PROGRAM)]);
    let first = parallax(&at, &["p.c", "--no-refine", "--json"]);
    assert_eq!(first.status.code(), Some(4), "two possible findings");
    std::fs::write(at.join("base.json"), &first.stdout).expect("a baseline");
    // Lines move; nothing is new.
    std::fs::write(at.join("p.c"), format!("\n\n{PROGRAM}")).expect("a file");
    let same = parallax(&at, &["p.c", "--no-refine", "--baseline", "base.json"]);
    assert_eq!(same.status.code(), Some(0), "{}", String::from_utf8_lossy(&same.stdout));
    let more =
        PROGRAM.replace("void used(void)", "void fresh(void) { int *p = 0; *p = 3; }\nvoid used(void)");
    std::fs::write(at.join("p.c"), more.replace("  used();", "  used(); fresh();")).expect("a file");
    let new = parallax(&at, &["p.c", "--no-refine", "--baseline", "base.json", "--json"]);
    assert_eq!(new.status.code(), Some(1));
    let report = json(&new);
    assert_eq!((&report["baseline"]["new"], &report["baseline"]["gone"]), (&1.into(), &0.into()));
    let fresh = report["findings"].as_array().expect("findings").iter().find(|f| f["new"] == true);
    assert_eq!(fresh.expect("a new one")["function"], "fresh");
    for bad in ["{}", "[]", "{\"findings\": [{}]}", "x"] {
        std::fs::write(at.join("bad.json"), bad).expect("a file");
        assert_eq!(parallax(&at, &["p.c", "--baseline", "bad.json"]).status.code(), Some(2), "{bad}");
    }
}

#[test]
fn a_project_says_what_it_wants_in_its_file() {
    let config = "[check]\nentry = \"start\"\nrefine-time = 5\n\n[[check.suppress]]\nreason = \"looked at\"\nfunction = \"used\"\n";
    let program = PROGRAM.replace("int main(", "int start(");
    let at = folder("check-config", &[("p.c", &program), ("parallax.toml", config)]);
    let output = parallax(&at, &["p.c", "--json"]);
    let report = json(&output);
    assert_eq!(report["findings"].as_array().map(Vec::len), Some(0), "{report:#}");
    assert_eq!(report["suppressed"][0]["count"], 1);
    assert_eq!(report["suppressed"][0]["reason"], "looked at");
    assert_eq!(output.status.code(), Some(0), "{report:#}");
    for (bad, words) in [
        ("[[check.suppress]]\nfunction = \"f\"\n", "reason"),
        ("[[check.suppress]]\nreason = \" \"\nfunction = \"f\"\n", "no reason"),
        ("[[check.suppress]]\nreason = \"all of it\"\n", "neither a file nor a function"),
        ("[check]\nentree = \"x\"\n", "entree"),
        ("[check]\nsinks = \"x\"\n", "sinks"),
        ("[check\n", "parallax.toml"),
    ] {
        std::fs::write(at.join("parallax.toml"), bad).expect("a file");
        let output = parallax(&at, &["p.c"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{bad}: {said}");
        assert!(said.contains(words), "{bad}: {said}");
    }
}

#[test]
fn models_stand_for_functions_that_have_no_body() {
    let program = "int *lookup(void);\nint main(void) { *lookup() = 1; return 0; }\n";
    let model = "#include <parallax.h>\nint *lookup(void) { return 0; }\n";
    let config = "[check]\nmodels = [\"model.c\"]\n";
    let at = folder("check-models", &[("p.c", program), ("model.c", model)]);
    let without = parallax(&at, &["p.c", "--no-refine", "--json"]);
    assert_eq!(json(&without)["findings"].as_array().map(Vec::len), Some(0));
    std::fs::write(at.join("parallax.toml"), config).expect("a file");
    let with = parallax(&at, &["p.c", "--no-refine"]);
    assert_eq!(with.status.code(), Some(1), "{}", String::from_utf8_lossy(&with.stdout));
}

#[test]
fn what_is_left_out_is_never_clean() {
    // The loop has no bound that the block's budget covers: it becomes typed code, and the report says so.
    let program = "int v, *g = &v;\nvoid f(unsigned n) { unsigned i; for (i = 0; i < n; i++) g = &v; *g = 1; }\nint main(int n, char **w) { f(n); return 0; }\n";
    let at = folder("check-gap", &[("p.c", program)]);
    let output = parallax(&at, &["p.c", "--symbolic", "f", "--no-refine"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("LEFT OUT: f could not be explored to the end"), "{said}");
    let missing = parallax(&at, &["p.c", "--symbolic", "nothing"]);
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn a_second_run_redoes_only_what_depends_on_what_changed() {
    let database = r#"[{ "directory": ".", "file": "p.c", "arguments": ["cc", "p.c"] },
        { "directory": ".", "file": "q.c", "arguments": ["cc", "q.c"] },
        { "directory": ".", "file": "r.c", "arguments": ["cc", "r.c"] }]"#;
    let other = "#include \"q.h\"\nvoid q(void) { VALUE; }\n";
    let files = [
        ("p.c", PROGRAM),
        ("q.c", other),
        ("r.c", "#include \"q.h\"\nint r(void) { return 3; }\n"),
        ("q.h", "#define VALUE\n"),
        ("compile_commands.json", database),
    ];
    let at = folder("check-kept", &files);
    let check = |flag: &str| {
        let output = parallax(&at, &["compile_commands.json", "--no-refine", "--json", "--cache", flag]);
        json(&output)
    };
    let made = |report: &Value| (report["kept"]["made"].as_u64(), report["findings"].clone());
    let (first, findings) = made(&check("kept"));
    assert_eq!(first, Some(6), "each file compiled, and its declarations read");
    assert_eq!(made(&check("kept")), (Some(0), findings.clone()));
    std::fs::write(at.join("r.c"), "#include \"q.h\"\nint r(void) { return 4; }\n").expect("a file");
    assert_eq!(made(&check("kept")), (Some(2), findings.clone()), "one file");
    std::fs::write(at.join("q.h"), "extern int *g;\n#define VALUE *g = 1\n").expect("a file");
    assert_eq!(made(&check("kept")).0, Some(4), "the two files that include it");
    assert_eq!(made(&check("elsewhere")).0, Some(6));
    let wrong = parallax(&at, &["p.c", "--cache", "p.c"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", String::from_utf8_lossy(&wrong.stderr));
}

#[test]
fn the_same_text_in_another_folder_is_another_file() {
    let places = ["check-here", "check-there"].map(|name| folder(name, &[("p.c", PROGRAM)]));
    let kept = folder("check-both", &[]);
    let arguments = ["p.c", "--no-refine", "--json", "--cache", kept.to_str().expect("a name")];
    for at in &places {
        let report = json(&parallax(at, &arguments));
        let findings = report["findings"].as_array().expect("findings");
        assert!(!findings.is_empty(), "{report:#}");
        assert!(findings.iter().all(|finding| finding["file"] == "p.c"), "{report:#}");
    }
}

#[test]
fn bad_input_is_said_and_never_clean() {
    let conflicting = "#include <parallax.h>\nMIX(typed) void f(void);\nMIX(symbolic) void f(void) {}\nint main(void) { f(); return 0; }\n";
    let endless = "int *f(int n) { return f(n + 1); }\nint main(int n, char **w) { *f(n) = 1; return 0; }\n";
    let unmodelled = "int *outside(void);\nint main(void) { *outside() = 1; return 0; }\n";
    let at = folder("check-bad", &[("c.c", conflicting), ("e.c", endless), ("u.c", unmodelled)]);
    let said = |arguments: &[&str]| {
        let output = parallax(&at, arguments);
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&text).into_owned())
    };
    let (status, words) = said(&["c.c"]);
    assert!(status == Some(2) && words.contains("f is marked with more than one kind of block"), "{words}");
    let (status, words) = said(&["e.c", "--symbolic", "e", "--no-refine"]);
    assert!(status == Some(2) && words.contains("there is no function e"), "{words}");
    let (status, words) = said(&["u.c", "--symbolic", "outside"]);
    assert!(status == Some(2) && words.contains("declared but has no body"), "{words}");
    let (_, words) = said(&["u.c", "--no-refine"]);
    assert!(words.contains("assumed: outside has no body here"), "{words}");
    // Recursion without end: the block is demoted, and the report says so.
    let (status, words) = said(&["e.c", "--symbolic", "f", "--no-refine"]);
    assert!(status == Some(4) || status == Some(1), "{words}");
    assert!(words.contains("LEFT OUT: f could not be explored to the end"), "{words}");
}

/// One compilation database, by any name, may be several programs and files that are in none.
#[test]
fn each_program_of_a_project_is_checked() {
    let shared = "int *find(int n) { static int v; return n ? &v : 0; }\n";
    let one = "int *find(int n);\nint main(int n, char **w) { return *find(n > 1); }\n";
    let two = "int *find(int n);\nint usage(void);\nint main(int n, char **w) { int *p = find(n); return usage() + (p ? *p : 0); }\n";
    let entry = |file: &str| serde_json::json!({ "directory": ".", "file": file, "arguments": ["cc", file] });
    let all: Vec<Value> = ["one.c", "two.c", "shared.c", "usage.c", "old.c"].map(entry).to_vec();
    let database = Value::from(all).to_string();
    let files = [
        ("one.c", one),
        ("two.c", two),
        ("shared.c", shared),
        ("usage.c", "int usage(void) { return 2; }\n"),
        ("old.c", "int usage(void) { int *p = 0; return *p; }\nint more(void) { return usage(); }\n"),
        ("build.json", database.as_str()),
    ];
    let at = folder("check-programs", &files);
    let run = |words: &[&str]| {
        let all = [&["build.json", "--json", "--confirm-time", "0", "--refine-time", "2"], words].concat();
        let output = parallax(&at, &all);
        (output.status.code(), json(&output))
    };
    let (status, report) = run(&[]);
    let programs = report["programs"].as_array().expect("programs");
    let counts = |program: &Value| program["findings"].as_array().map(Vec::len);
    let names: Vec<_> =
        programs.iter().map(|program| (program["program"].as_str(), counts(program))).collect();
    assert_eq!(names, [(Some("one"), Some(1)), (Some("two"), Some(0))], "{report:#}");
    assert_eq!(status, Some(1), "the result of find is followed at once: {report:#}");
    let gaps = programs[1]["gaps"].as_array().expect("gaps");
    assert!(gaps.iter().any(|gap| gap.as_str().is_some_and(|gap| gap.contains("old.c"))), "{report:#}");
    let (_, alone) = run(&["--program", "two"]);
    assert_eq!((alone["program"].as_str(), counts(&alone)), (Some("two"), Some(0)), "{alone:#}");
    std::fs::write(at.join("base.json"), report.to_string()).expect("a baseline");
    let (status, _) = run(&["--baseline", "base.json"]);
    assert_eq!(status, Some(0), "nothing is new");
    let missing = parallax(&at, &["build.json", "--program", "three"]);
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(missing.status.code() == Some(2) && said.contains("one, two"), "{said}");
    let mut explore = Command::new(env!("CARGO_BIN_EXE_parallax"));
    let explored = explore.current_dir(&at).args(["explore", "build.json"]).output().expect("it runs");
    let said = String::from_utf8_lossy(&explored.stderr).into_owned();
    assert!(explored.status.code() == Some(2) && said.contains("--program NAME"), "{said}");
}

/// A library is checked from what others can call: what one function leaves in an object is there for another.
#[test]
fn a_library_is_checked_from_its_exported_functions() {
    let library = "#include <stdlib.h>
struct list { int *first; int count; };
struct list *list_new(void) { return calloc(1, sizeof(struct list)); }
void list_set(struct list *l, int *v) { l->first = v; }
int list_first(struct list *l) { return *l->first; }
int list_safe(struct list *l) { return l->first ? *l->first : 0; }
static int hidden(int *p) { return *p; }
int wrong(int n) { int *p = 0; return n ? hidden(p) : 0; }
";
    let at = folder("check-library", &[("list.c", library)]);
    let output = parallax(&at, &["list.c", "--json"]);
    let report = json(&output);
    let findings = report["findings"].as_array().expect("findings").iter();
    let found: Vec<_> = findings.map(|f| (f["line"].as_u64(), f["status"].as_str())).collect();
    assert_eq!(found, [(Some(5), Some("possible")), (Some(7), Some("likely"))], "{report:#}");
    assert_eq!(output.status.code(), Some(1));
    let said = report["assumptions"].to_string();
    assert!(said.contains("checked from 5 functions that others can call"), "{said}");
    // Who names a function knows what is wanted.
    let named = json(&parallax(&at, &["list.c", "--entry", "wrong", "--json"]));
    assert_eq!(named["findings"].as_array().map(Vec::len), Some(1), "{named:#}");
}

#[test]
fn many_warnings_of_the_compiler_are_a_number() {
    let lines: String = (0..9).map(|n| format!("int f{n}(char *p) {{ int q = p; return q; }}\n")).collect();
    let at = folder("check-warnings", &[("w.c", &format!("{lines}int main(void) {{ return 0; }}\n"))]);
    let said = |words: &[&str]| {
        let output = parallax(&at, &[&["w.c", "--no-refine"], words].concat());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert_eq!(said(&[]), "9 warnings of the compiler (--warnings prints them)\n");
    assert_eq!(said(&["--warnings"]).matches(": warning: ").count(), 9);
}
