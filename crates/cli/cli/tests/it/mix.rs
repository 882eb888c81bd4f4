//! `parallax mix` as a user meets it: verdicts, exit statuses, and complaints with line and caret.

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs `parallax mix` with a program on standard input.
fn mix(arguments: &[&str], program: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_parallax"))
        .arg("mix")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A command that refuses its arguments does not read what it is given.
    let _ = child.stdin.take().expect("a pipe").write_all(program);
    child.wait_with_output().expect("the command ends")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{why}: {}", stdout(output)))
}

#[test]
fn an_accepted_program_has_a_type() {
    let program = br#"{s let div x y = if y = 0 then "err" else x / y in {t 1 + {s div 7 4 s} t} s}"#;
    let output = mix(&["check", "-", "--json"], program);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(json(&output), serde_json::json!({ "verdict": "accepted", "type": "int" }));
    let output = mix(&["check", "-"], program);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "accepted: int\n"));
    let output = mix(&["run", "-"], program);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "2\n"));
}

#[test]
fn a_rejected_program_comes_with_an_input_that_shows_why() {
    let program = b"extern n : int\n{s if n > 100 then 1 + (n = 101) else 2 s}";
    let output = mix(&["check", "-", "--json"], program);
    assert_eq!(output.status.code(), Some(1));
    let error = &json(&output)["errors"][0];
    assert_eq!((&error["line"], &error["column"]), (&serde_json::json!(2), &serde_json::json!(20)));
    assert_eq!(error["message"], "`+` wants two ints or two floats, not int and bool");
    assert!(error["path_condition"].as_str().expect("text").contains("100"), "{error}");
    let n: i64 = error["input"]["n"].as_str().expect("text").parse().expect("a number");
    assert!(n > 100);
    // The input is what it says: a run with it goes wrong at that place.
    let output = mix(&["run", "-", "--json", "--set", &format!("n={n}")], program);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!((&json(&output)["result"], &json(&output)["line"]), (&"error".into(), &2.into()));

    let output = mix(&["check", "-"], program);
    let shown = stderr(&output);
    assert!(shown.contains("2 | {s if n > 100 then 1 + (n = 101) else 2 s}"), "{shown}");
    assert!(shown.contains("^^^^^^^^^"), "{shown}");
    assert!(shown.contains("for example when n is"), "{shown}");
}

#[test]
fn a_bound_is_never_success() {
    let program = b"extern n : int\n{s let i = ref n in while !i > 0 do i := !i - 1 done; 1 s}";
    let output = mix(&["check", "-", "--json"], program);
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(
        (&json(&output)["verdict"], &json(&output)["errors"][0]["kind"]),
        (&"rejected".into(), &"gap".into())
    );
    let output = mix(&["check", "-", "--json", "--exhaustive", "good-enough"], program);
    assert_eq!(output.status.code(), Some(4));
    assert_eq!(json(&output)["verdict"], "accepted");
    assert_eq!(json(&output)["gaps"].as_array().expect("a list").len(), 1);
    let output = mix(&["run", "-", "--steps", "1000"], b"while true do () done");
    assert_eq!(output.status.code(), Some(4));
    let output = mix(&["run", "-"], b"let rec f x = 1 + f x in f 0");
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn what_is_no_program_is_refused_with_line_and_caret() {
    let deep = "(".repeat(200_000);
    for (program, message) in [
        (&b"{t 1"[..], "this typed block is not closed"),
        (b"{t {s 1 t} s}", "crosses blocks"),
        (b"1 +\n  y", "`y` is not bound here"),
        (b"99999999999999999999", "does not fit 64 bits"),
        (deep.as_bytes(), "nested too deeply"),
        (b"", "expected an expression"),
    ] {
        let output = mix(&["check", "-"], program);
        let shown = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{shown}");
        assert!(shown.contains(message), "{shown}");
        assert!(shown.contains(" --> -:") && shown.contains('^'), "{shown}");
        assert!(output.stdout.is_empty());
    }
    for (program, message) in [(&b"1 + \xff\xfe"[..], "not UTF-8"), (b"\x7fELF\0\0", "binary file")] {
        let output = mix(&["check", "-"], program);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
    assert_eq!(mix(&["check", "/no/such/file.mix"], b"").status.code(), Some(2));
    assert_eq!(mix(&["check", "-", "--outer", "sideways"], b"1").status.code(), Some(2));
}

#[test]
fn runs_say_how_they_end() {
    for (program, arguments, status, shown) in [
        (&b"extern n : int  n * n"[..], &["--set", "n=12"][..], 0, "144"),
        (b"extern s : string  s = \"a b\"", &["--set", "s=\"a b\""], 0, "true"),
        (b"extern n : int  n", &[], 2, "nothing says what `n` is"),
        (b"extern n : int  n", &["--set", "m=1"], 2, "declares no extern"),
        (b"extern n : int  n", &["--set", "n=fun x -> x"], 2, "is a function"),
        (b"extern n : int  n", &["--set", "n=true"], 2, "true is no int"),
        (
            b"extern p : int ref; extern q : int ref; q := 7; !p",
            &["--set", "p=ref 5", "--set", "q=p"],
            0,
            "7",
        ),
        (b"extern p : int ref; !p", &["--set", "p=null"], 2, "null is no int ref"),
        (b"extern f : int -> bool  if f 3 then 1 else 1", &["--seed", "1"], 0, "1"),
        (b"1 / 0", &[], 1, "division by zero"),
        (b"1 + true", &[], 1, "`+` does not fit an int and a bool"),
        (b"let r = ref (ref 5) in r", &[], 0, "ref (ref 5)"),
    ] {
        let mut all = vec!["run", "-"];
        all.extend(arguments);
        let output = mix(&all, program);
        let both = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{both}");
        assert!(both.contains(shown), "{both}");
    }
}

#[test]
fn errors_are_written_as_a_path_report() {
    let report = std::env::temp_dir().join(format!("parallax-mix-{}.json", std::process::id()));
    let program = b"extern n : int\n{s let f x = if x = 7 then x + true else x in f n s}";
    let path = report.to_str().expect("a plain name");
    let output = mix(&["check", "-", "--report", path], program);
    assert_eq!(output.status.code(), Some(1));
    let bytes = std::fs::read(&report).expect("a report was written");
    std::fs::remove_file(&report).expect("it can go");
    let document = parallax_report::read(&bytes, "report").expect("it reads as a report");
    assert!(document.check().is_ok());
    let path = &document.reports[0].paths[0];
    let failing = &path.steps[path.failing_step().expect("a failing step")];
    assert_eq!(failing.location.as_ref().and_then(|place| place.line), Some(2));
    // What the path starts with stands at its start, and each value once where it is set.
    assert_eq!((&*path.steps[0].values[0].name, &*path.steps[0].values[0].value), ("n", "7"));
    assert_eq!(set(path, "x"), ["7"]);
    assert!(document.reports[0].plain_text().contains("when n is 7"));
    // The path goes into the function, where a condition decides.
    assert_eq!(path.frames.last().map(|frame| frame.function.as_str()), Some("f"));
    assert!(path.steps.iter().any(|step| step.taken == Some(true)));
}

/// The values that a name gets, in order.
fn set<'a>(path: &'a parallax_report::Path, name: &str) -> Vec<&'a str> {
    let values = path.steps.iter().flat_map(|step| &step.values);
    values.filter(|value| value.name == name).map(|value| value.value.as_str()).collect()
}

const STEPS: &[u8] = b"extern n : int
{s
  let half x =
    if x > 100 then
      x / 2
    else x in
  var i = 0;
  var sum = 0;
  while i < 2 do
    sum = sum + half n;
    i = i + 1;
    i = i
  done;
  let r = ref sum in
  r := sum + 1;
  if !r > 200
  then sum + true
  else sum
s}
";

#[test]
fn reports_show_every_line_with_branches_and_what_changed() {
    let at = std::env::temp_dir().join(format!("parallax-mix-steps-{}", std::process::id()));
    std::fs::create_dir_all(&at).expect("a folder");
    std::fs::write(at.join("steps.mix"), STEPS).expect("a file");
    let name = |file: &str| at.join(file).display().to_string();
    for report in ["out.json", "out.sarif", "out.xml", "out.html"] {
        let output = mix(&["check", &name("steps.mix"), "--report", &name(report)], b"");
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    }
    let page = std::fs::read_to_string(at.join("out.html")).expect("the page");
    assert!(page.contains("<html") && page.contains("half"), "{} bytes", page.len());
    let read = |file: &str| {
        let bytes = std::fs::read(at.join(file)).expect("a report was written");
        parallax_report::read(&bytes, file).expect("it reads as a report")
    };
    let document = read("out.json");
    for other in ["out.sarif", "out.xml"] {
        assert_eq!(read(other).reports, document.reports, "{other}");
    }
    std::fs::remove_dir_all(&at).expect("it can go");
    let path = &document.reports[0].paths[0];
    let line =
        |step: &parallax_report::Step| step.location.as_ref().and_then(|place| place.line).unwrap_or(0);
    let lines: Vec<u32> = path.steps.iter().map(line).collect();
    // Every line but those of the branches that were not taken: `half` gives its argument or half of it.
    let way = if lines.contains(&5) { 5 } else { 6 };
    for executed in [3, 4, way, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17] {
        assert!(lines.contains(&executed), "line {executed}: {lines:?}");
    }
    assert!(!lines.contains(&18), "{lines:?}");
    // The loop's condition is known each time and still told; the one on the input is decided once and then known.
    let outcomes = |at: u32| -> Vec<bool> {
        path.steps.iter().filter(|step| line(step) == at).filter_map(|step| step.taken).collect()
    };
    assert_eq!(outcomes(9), [true, true, false]);
    assert_eq!(outcomes(4).len(), 2, "{:#?}", path.steps);
    assert_eq!(outcomes(16), [true]);
    // `i = i` changes nothing, so nothing is told of it.
    assert_eq!(set(path, "i"), ["0", "1", "2"]);
    let sums = set(path, "sum");
    let content: i64 = set(path, "!r")[0].parse().expect("a number");
    assert_eq!(content, sums.last().and_then(|sum| sum.parse::<i64>().ok()).expect("a number") + 1);
    assert!(content > 200, "the values take the path: {sums:?}");
    // Both calls are there, each in a frame of its own that is left again.
    let frames: Vec<&str> = path.frames.iter().map(|frame| frame.function.as_str()).collect();
    assert_eq!(frames, ["program", "half", "half"]);
    assert_eq!(path.steps.last().map(|step| step.frame), Some(0));
}

/// A loop that ends after more rounds than anyone reads does not make the report as long.
#[test]
fn long_paths_are_told_by_their_decisions() {
    let report = std::env::temp_dir().join(format!("parallax-mix-long-{}.json", std::process::id()));
    let program = b"extern n : int\n{s var i = 0;\nwhile i < 20000 do\ni = i + 1\ndone;\nif n = 7\nthen i + true\nelse i s}";
    let output = mix(&["check", "-", "--report", report.to_str().expect("a plain name")], program);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let document =
        parallax_report::read(&std::fs::read(&report).expect("a report"), "report").expect("it reads");
    std::fs::remove_file(&report).expect("it can go");
    let steps = &document.reports[0].paths[0].steps;
    assert!(steps.len() < 10, "{} steps", steps.len());
    assert!(steps.iter().any(|step| step.taken == Some(true)));
}
