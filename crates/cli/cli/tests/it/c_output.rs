//! What `explore` hands out: inputs byte by byte, tests that run, paths of files, reports, errors.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of one test alone, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn parallax(at: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parallax"));
    command.current_dir(at).args(arguments).output().expect("parallax runs")
}

fn json(output: &Output) -> Value {
    let words = || String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", words()))
}

/// Wants bytes that are no text, in an argument, on standard input, in a file and from a harness.
const BYTES: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void klee_make_symbolic(void *, unsigned long, const char *);
int main(int count, char **words) {
  unsigned char in[3] = {0}, data[2] = {0}, made[3];
  FILE *file = fopen("data.bin", "rb");
  if (!file || fread(data, 1, 2, file) != 2) return 3;
  if (fread(in, 1, 3, stdin) != 3 || count != 2) return 4;
  klee_make_symbolic(made, sizeof made, "made");
  if (memcmp(in, "\x80\xff\0", 3) || memcmp(data, "\0\xfe", 2)) return 1;
  if (strcmp(words[1], "\xc3\"") || memcmp(made, "a\x90\x91", 3)) return 2;
  abort();
}
"#;

#[test]
fn bytes_of_every_value_survive() {
    let at = folder("bytes");
    std::fs::write(at.join("bytes.c"), BYTES).expect("a file");
    let given = [
        "explore",
        "bytes.c",
        "--sym-arg",
        "2",
        "--stdin",
        "3",
        "--file",
        "data.bin=2",
        "--tests",
        "tests",
        "--json",
    ];
    let output = parallax(&at, &given);
    assert_eq!(output.status.code(), Some(1));
    let document = json(&output);
    let finding = &document["findings"][0];
    assert_eq!(
        (finding["kind"].as_str(), finding["native"].as_str()),
        (Some("assertion"), Some("confirmed"))
    );
    let input = &finding["input"];
    assert_eq!(input["stdin"]["hex"], "80ff00");
    assert_eq!(input["files"]["data.bin"]["hex"], "00fe");
    assert_eq!(input["arguments"][0]["hex"], "c322");
    // The path that ends in the finding has a test too, and each test does what it says.
    let (mut drivers, mut mistakes) = (0, Vec::new());
    for entry in std::fs::read_dir(at.join("tests")).expect("the tests") {
        let driver = entry.expect("readable").path();
        if driver.extension().is_none_or(|e| e != "c") {
            continue;
        }
        drivers += 1;
        let test: Value =
            serde_json::from_slice(&std::fs::read(driver.with_extension("json")).expect("a test"))
                .expect("JSON");
        let binary = driver.with_extension("");
        let built = Command::new("clang-19")
            .args(["-w", "-Dmain=program_main_"])
            .arg(at.join("bytes.c"))
            .arg(&driver)
            .arg("-o")
            .arg(&binary)
            .status();
        assert!(built.expect("clang runs").success());
        let run = Command::new(&binary).current_dir(&at).output().expect("it runs");
        assert_eq!(run.status.code().map(i64::from), test["status"].as_i64(), "{}", driver.display());
        if test["finding"] == "assertion" {
            assert_eq!(test["input"], *input);
            mistakes.push(driver.with_extension("ktest"));
        }
    }
    assert!(drivers >= 5, "{drivers} tests");
    // The same input, from the file that KLEE's tools read, leads there at once.
    let [seed] = &mistakes[..] else { panic!("one path ends in the finding, not {mistakes:?}") };
    let seed = seed.display().to_string();
    let given = [
        "explore",
        "bytes.c",
        "--sym-arg",
        "2",
        "--stdin",
        "3",
        "--file",
        "data.bin=2",
        "--seed",
        &seed,
        "--paths",
        "1",
        "--strategy",
        "breadth",
        "--json",
    ];
    let output = parallax(&at, &given);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(json(&output)["findings"][0]["input"]["stdin"]["hex"], "80ff00");
    let output = parallax(&at, &["explore", "bytes.c", "--seed", "bytes.c"]);
    assert_eq!(output.status.code(), Some(2));
}

const NULL: &str =
    "int get(int *p, int n) {\n  int twice = n * 2;\n  if (twice > 6)\n    return *p;\n  return 0;\n}\n";

#[test]
fn files_are_named_right_from_any_folder() {
    let at = folder("elsewhere");
    std::fs::create_dir_all(at.join("source")).expect("a folder");
    std::fs::create_dir_all(at.join("work/deep")).expect("a folder");
    std::fs::write(at.join("source/null.c"), NULL).expect("a file");
    let absolute = at.join("source/null.c").display().to_string();
    for (from, name) in
        [("work/deep", absolute.as_str()), ("work", "../source/null.c"), ("", "source/null.c")]
    {
        let from = at.join(from);
        let output = parallax(&from, &["explore", name, "--entry", "get", "--json"]);
        let document = json(&output);
        let found = document["findings"][0]["file"].as_str().expect("a file").to_owned();
        let real = from.join(&found).canonicalize().unwrap_or_else(|e| panic!("{found} from {from:?}: {e}"));
        assert_eq!(real, at.join("source/null.c").canonicalize().expect("it is there"), "{found}");
        let output = parallax(&from, &["explore", name, "--entry", "get"]);
        let words = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(words.contains("return *p;"), "the source line is shown: {words}");
    }
}

#[test]
fn reports_show_every_line_with_branches_and_what_changed() {
    let at = folder("reports");
    std::fs::write(at.join("null.c"), NULL).expect("a file");
    let output = parallax(&at, &["explore", "null.c", "--entry", "get", "--report", "out.html", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let page = std::fs::read_to_string(at.join("out.html")).expect("the page");
    assert!(page.contains("<html") && page.contains("twice"), "{} bytes", page.len());
    let document = json(&output);
    let path = document["findings"][0]["path"].as_array().expect("a path").clone();
    let lines: Vec<u64> = path.iter().filter_map(|step| step["line"].as_u64()).collect();
    for line in [2, 3, 4] {
        assert!(lines.contains(&line), "line {line}: {lines:?}");
    }
    let branches: Vec<_> = path.iter().filter(|step| !step["taken"].is_null()).collect();
    assert_eq!(branches.len(), 1, "{path:?}");
    assert_eq!((branches[0]["line"].as_u64(), branches[0]["taken"].as_bool()), (Some(3), Some(true)));
    // A value that did not change is not repeated.
    let told = path.iter().filter(|step| !step["values"]["twice"].is_null()).count();
    assert_eq!(told, 1, "{path:?}");
}

#[test]
fn errors_are_json_where_json_was_asked_for() {
    let at = folder("errors");
    for (arguments, status) in [
        (&["explore", "missing.c", "--json"][..], 2),
        (&["run", "missing.c", "--json"][..], 2),
        (&["explore", "missing.ll", "--entry", "f", "--json"][..], 2),
    ] {
        let output = parallax(&at, arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
        let document = json(&output);
        assert_eq!(document["status"].as_i64(), Some(i64::from(status)), "{arguments:?}");
        assert!(document["error"].as_str().is_some_and(|words| words.contains("missing")), "{document}");
    }
}

const CALLED: &str = "static int last(const char *text, unsigned long n) { return text[n - 1]; }\n\
     static char buffer[8];\n\
     int whole(void) { return last(buffer, sizeof buffer); }\n\
     int part(const char *text, unsigned long n) { return text && n == 1 ? last(text, n) : 0; }\n\
     int wrong(unsigned long n) { return n < 12 ? last(buffer, n + 1) : 0; }\n";

#[test]
fn a_function_is_entered_as_its_callers_do() {
    let at = folder("callers");
    let (fine, wrong) = CALLED.split_at(CALLED.find("int wrong").expect("it is there"));
    std::fs::write(at.join("fine.c"), fine).expect("a file");
    std::fs::write(at.join("wrong.c"), format!("{fine}{wrong}")).expect("a file");
    let alone = json(&parallax(&at, &["explore", "fine.c", "--entry", "last", "--json"]));
    assert!(
        !alone["findings"].as_array().expect("findings").is_empty(),
        "entered by itself, everything is unknown"
    );
    let output = parallax(&at, &["explore", "fine.c", "--entry", "last", "--callers", "--json"]);
    let called = json(&output);
    assert!(called["findings"].as_array().expect("findings").is_empty(), "{called}");
    let assumed = called["assumptions"].to_string();
    assert!(assumed.contains("as whole calls it") && assumed.contains("as part calls it"), "{assumed}");
    let output = parallax(&at, &["explore", "wrong.c", "--entry", "last", "--callers", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let found = json(&output);
    let findings = found["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 1, "{found}");
    assert_eq!(findings[0]["native"], "confirmed", "{found}");
    let output = parallax(&at, &["explore", "fine.c", "--entry", "whole", "--callers"]);
    assert_eq!(output.status.code(), Some(2), "nothing calls it");
}

#[test]
fn what_callers_of_callers_see_to_is_a_contract_and_no_finding() {
    let at = folder("contracts");
    let text = "static int total(const char *text, unsigned long n) { int t = 0;\n\
         for (unsigned long i = 0; i < n; i++) t += text[i];\n\
         return t; }\n\
         int checked(const char *text, unsigned long n) { return total(text, n); }\n";
    std::fs::write(at.join("total.c"), text).expect("a file");
    let words = ["explore", "total.c", "--entry", "total", "--callers"];
    let output = parallax(&at, &[&words[..], &["--json"]].concat());
    let document = json(&output);
    assert!(document["findings"].as_array().expect("findings").is_empty(), "{document}");
    let contracts = document["contracts"].as_array().expect("contracts").iter();
    let contracts: Vec<&str> = contracts.filter_map(|contract| contract["message"].as_str()).collect();
    assert_eq!(contracts, ["text is not null", "n bytes are at text"], "{document}");
    assert_ne!(output.status.code(), Some(1));
    let said = parallax(&at, &words);
    let said = String::from_utf8_lossy(&said.stdout);
    let line = "relied on: n bytes are at text (otherwise out-of-bounds at ";
    assert!(said.contains(line), "{said}");
    // Entered by itself, they are findings, after any other, and say what they rely on.
    let alone = json(&parallax(&at, &["explore", "total.c", "--entry", "total", "--json"]));
    let finding = &alone["findings"].as_array().expect("findings")[0];
    assert!(finding["relies_on"][0].as_str().is_some_and(|words| words.contains("text")), "{alone}");
}

#[test]
fn inlined_calls_are_shown_as_calls_and_their_copies_are_one_finding() {
    let at = folder("inlined");
    let text = "#define INLINE static inline __attribute__((always_inline)) int\n\
         INLINE get(int *p, int i) { return p[i]; }\n\
         INLINE both(int *p, int i) { return get(p, i) + get(p, i + 1); }\n\
         int f(int k) { int a[4] = { 1, 2, 3, 4 };\n\
         return k > 0 ? both(a, k)\n\
         : both(a, k + 1); }\n";
    std::fs::write(at.join("inlined.c"), text).expect("a file");
    let said = parallax(&at, &["explore", "inlined.c", "--entry", "f"]);
    let said = String::from_utf8_lossy(&said.stdout);
    let lines = [" in get\n", "   = called from both, inlined.c:3\n", "   = called from f, inlined.c:"];
    assert!(lines.iter().all(|line| said.contains(line)), "{said}");
    let found = json(&parallax(&at, &["explore", "inlined.c", "--entry", "f", "--json"]));
    let findings = found["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 1, "{found}");
    assert_eq!(findings[0]["function"], "get", "{found}");
    // The way there leads through each of them.
    let path = findings[0]["path"].as_array().expect("a path").iter();
    let mut functions: Vec<&str> = path.filter_map(|step| step["function"].as_str()).collect();
    functions.dedup();
    assert_eq!(functions, ["f", "both", "get"], "{found}");
}

#[test]
fn clangs_work_is_kept_and_what_changed_is_made_again() {
    let at = folder("kept");
    let _ = std::fs::remove_dir_all(at.join("cache"));
    let write = |name: &str, text: &str| std::fs::write(at.join(name), text).expect("a file");
    write("size.h", "#define SIZE 3\n");
    write(
        "a.c",
        "#include \"size.h\"\nint f(unsigned k) { char a[SIZE] = { 0 }; return k < 4 ? a[k] : 0; }\n",
    );
    let found = || {
        let document =
            json(&parallax(&at, &["explore", "a.c", "--entry", "f", "--json", "--cache", "cache"]));
        let kept = std::fs::read_dir(at.join("cache")).expect("a folder").count();
        (document["findings"].as_array().expect("findings").clone(), kept)
    };
    let (findings, kept) = found();
    assert_eq!(findings.len(), 1);
    assert_eq!(found(), (findings, kept), "nothing is made again");
    write("size.h", "#define SIZE 4\n");
    let (findings, more) = found();
    assert_eq!((findings.len(), more), (0, kept + 2), "code and declarations of the file that includes it");
    let output = parallax(&at, &["explore", "a.c", "--entry", "f", "--cache", "a.c"]);
    assert_eq!(output.status.code(), Some(2), "a file is no folder");
}
