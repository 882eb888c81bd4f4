//! `path`, `compose`, `wlp` and `eval` on the command line: what is certain, what is not known, and their exit statuses.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn parallax(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parallax")).args(arguments).output().expect("the command runs")
}

/// The output of a command that ends with a status.
fn says(arguments: &[&str], status: i32) -> String {
    let output = parallax(arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn json(arguments: &[&str], status: i32) -> serde_json::Value {
    serde_json::from_str(&says(&[arguments, &["--json"]].concat(), status)).expect("one document")
}

fn file(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("formulas");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("written");
    path
}

fn compiled(name: &str, text: &str, options: &[&str]) -> String {
    let (source, object) = (file(&format!("{name}.c"), text), file(&format!("{name}.o"), ""));
    let status =
        Command::new("clang-19").args(options).arg("-c").arg(&source).arg("-o").arg(&object).status();
    assert!(status.expect("clang-19 runs").success());
    object.to_str().expect("text").to_owned()
}

/// What is behind a division is reached, and only with a divisor.
#[test]
fn a_path_behind_a_division_has_an_input() {
    // mov eax, edi; cdq; idiv esi; ret
    let path = ["path", "--lang", "x86-64", "--hex", "89 f8 99 f7 fe c3", "--through", "0x1005"];
    let text = says(&path, 0);
    assert!(text.contains("RSI") && text.contains("an input that goes there:"), "{text}");
    assert_eq!(json(&path, 0)["satisfiable"], true);
    // add; twlt r4, r3; nop
    let path = ["path", "--lang", "powerpc", "--hex", "7c632214 7e041808 60000000", "--through", "0x1008"];
    assert_eq!(json(&path, 0)["satisfiable"], true);
    // ud2; nop: every way faults
    let path = ["path", "--lang", "x86-64", "--hex", "0f 0b 90", "--through", "0x1002"];
    assert_eq!(says(&path, 0), "false\nno input goes there\n");
}

/// Where no instruction begins, "no input goes there" would be an answer to a slip of the finger.
#[test]
fn points_are_where_instructions_begin() {
    let hex = ["--hex", "83 ff 05 75 06 b8 01 00 00 00 c3 31 c0 c3", "--through", "0x1001"];
    for form in [&[][..], &["--json"]] {
        let output = parallax(&[&["path", "--lang", "x86-64"], &hex[..], form].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{form:?}: {output:?}");
        assert!(said.contains("in the middle of `cmp edi,5` at 0x1000"), "{form:?}: {said}");
    }
}

/// A way that was not followed to its end is no proof that there is none.
#[test]
fn a_bounded_search_is_not_a_no() {
    let program = file("far.pl", "i = 0; while (i < n) { i = i + 1; } if (i == 500) { hit: z = 1; }");
    let arguments = ["path", program.to_str().unwrap(), "--through", "hit", "--unroll", "5"];
    let found = json(&arguments, 4);
    assert_eq!(found["satisfiable"], serde_json::Value::Null, "{found}");
    assert!(says(&arguments, 4).contains("is not known"));
}

#[test]
fn objects_of_two_programs_are_two() {
    let (a, b) = (file("a.pl", "p = malloc(1); *p = 1;"), file("b.pl", "q = malloc(3); *q = 2;"));
    let text = says(&["compose", a.to_str().unwrap(), b.to_str().unwrap()], 0);
    assert!(text.contains("new@0.0 -> 1") && text.contains("new@2.0 -> 2"), "{text}");
}

#[test]
fn a_branch_of_the_first_program_is_kept() {
    let pieces = ["compose", "--lang", "x86-64", "--hex", "83 f8 05 74 05", "--hex", "b8 01 00 00 00"];
    let found = json(&pieces, 0);
    assert_eq!(found["after"]["constants"]["RAX"], "ite(extract(RAX, 31, 0) = 5, RAX, 1:64)", "{found}");
    // Into the middle of the second.
    let pieces = ["compose", "--lang", "x86-64", "--hex", "83 f8 05 74 01", "--hex", "b8 01 00 00 00"];
    let found = json(&pieces, 4);
    assert_eq!(found["complete"], false);
    assert_eq!(found["condition"], "extract(RAX, 31, 0) != 5", "{found}");
    let (a, b) = (file("a.mc", "cmp [x], 5\njz 100\n"), file("b.mc", "mov eax, 1\n"));
    let found = json(&["compose", a.to_str().unwrap(), b.to_str().unwrap()], 0);
    assert_eq!(found["after"]["constants"]["EAX"], "ite(F_mem(x) = 5, EAX, 1)", "{found}");
}

#[test]
fn what_is_assumed_is_said_where_it_is_used() {
    // mov [rsp-8], eax; then mov ecx, [rdi]
    let pieces = ["compose", "--lang", "x86-64", "--hex", "89 44 24 f8", "--hex", "8b 0f"];
    assert_eq!(json(&pieces, 0)["assumptions"][0]["assumption"], "stack-apart");
    let exact = json(&[&pieces[..], &["--assume", "nothing"]].concat(), 0);
    assert_eq!(exact["assumptions"], serde_json::json!([]));
    // The condition is the first to use it.
    let wlp = ["wlp", "--lang", "x86-64", "--hex", "89 44 24 f8", "--post", "F_mem(RDI) = 5:8"];
    assert_eq!(json(&wlp, 0)["assumptions"][0]["assumption"], "stack-apart");
}

#[test]
fn faults_are_in_conditions() {
    let wlp = ["wlp", "--lang", "x86-64", "--hex", "f7 f1", "--post", "!TRAP"];
    assert!(says(&wlp, 0).starts_with("!(extract(RCX, 31, 0) = 0 || "));
    assert_eq!(says(&["wlp", "--lang", "x86-64", "--hex", "89 c8", "--post", "TRAP"], 0), "false\n");
    let text = "static const volatile unsigned T[8] = {11, 22, 33, 44, 55, 66, 77, 88};
                int f(unsigned a, unsigned b) { return T[a * b % 7u] == 99; }
                int s(unsigned a, unsigned b) { *(volatile unsigned *)&T[a & 3] = b; return 1; }
                int n(unsigned n) { int s = 0; n &= 3; for (unsigned i = 0; i < n; i++) s = s * 3 + i; return s; }";
    let object = compiled("table", text, &["-O1", "-fno-unroll-loops", "-w"]);
    let wlp = |function: &str, post: &str, status| {
        says(&["wlp", "--elf", &object, "--function", function, "--post", post], status)
    };
    assert_eq!(wlp("f", "eax = 1", 0), "false\n");
    assert_eq!(wlp("s", "eax = 77", 0), "true\n");
    assert_eq!(wlp("s", "TRAP", 0), "true\n");
    assert!(!wlp("n", "eax = 1", 0).is_empty());
}

/// A mistake of the script is status 2, what is not there is status 3.
#[test]
fn scripts_are_refused_for_what_they_are() {
    let solve = |text: &str, status| {
        let script = file(&format!("{:x}.smt2", text.len() * 31 + usize::from(text.as_bytes()[40])), text);
        says(&["solve", script.to_str().unwrap()], status)
    };
    let arrays = "(declare-const a (Array (_ BitVec 8) (_ BitVec 8)))(declare-const b (Array (_ BitVec 8) (_ BitVec 8)))";
    solve(&format!("{arrays}(assert (not (= a b)))(check-sat)"), 3);
    solve("(declare-const x (_ BitVec 8))(assert (let ((y x) (y x)) (= y x)))(check-sat)", 2);
    solve("(declare-const bvadd (_ BitVec 8))                              (check-sat)", 2);
    let overflow = "(declare-const x (_ BitVec 8))(assert (and (bvnego x) (bvsmulo x x) (not (bvumulo x #x01))))(check-sat)";
    assert_eq!(solve(overflow, 0), "sat\n");
}
