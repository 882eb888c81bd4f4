//! Odd reports, small enough to be read by eye: what is strange in them is read, or noted, or counted as lost.

use parallax_report::loss::Loss;
use parallax_report::*;
use serde_json::{Value, json};

fn open(text: &str) -> Document {
    read(text.as_bytes(), "odd").unwrap_or_else(|error| panic!("{error}"))
}

fn measured(text: &str) -> Loss {
    Loss::measure(Format::sniff(text).unwrap(), text, &open(text)).unwrap()
}

/// A SARIF log with one run.
fn log(run: Value) -> String {
    let mut run = run;
    run["tool"] = json!({"driver": {"name": "t"}});
    json!({"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "runs": [run]})
        .to_string()
}

fn at(line: Value) -> Value {
    json!({"physicalLocation": {"artifactLocation": {"uri": "a.c"}, "region": {"startLine": line}}})
}

fn flow(steps: &[Value]) -> Value {
    let steps: Vec<Value> = steps.iter().map(|step| json!({"location": step})).collect();
    json!([{"threadFlows": [{"locations": steps}]}])
}

/// rustc's short lines, flake8's, pylint's, ruff's and ESLint's: the code is the rule.
#[test]
fn codes_before_the_words_are_rules() {
    let text = "r.rs:4:26: error[E0308]: mismatched types: expected `[u8]`, found `&str` [x]\n\
        r.rs:2:45: warning: unused variable: `y`\n\
        src/a.c:4:26: error C2065: undeclared\n\
        b.py:1:80: E501 line too long (81 > 79 characters)\n\
        b.py:1:0: C0114: Missing module docstring (missing-module-docstring)\n\
        b.py:2:8: F401 [*] `os` imported but unused\n\
        b.py:9: error: Name \"x\" is not defined  [name-defined]\n\
        b.js: line 3, col 4, Error - Unexpected var. (no-var)\n";
    let document = open(text);
    let told: Vec<_> = document
        .reports
        .iter()
        .map(|report| {
            let place = report.location.as_ref().unwrap();
            (&*report.rule, place.line.unwrap(), place.column, &*report.title)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("E0308", 4, Some(26), "mismatched types: expected `[u8]`, found `&str` [x]"),
            ("", 2, Some(45), "unused variable: `y`"),
            ("C2065", 4, Some(26), "undeclared"),
            ("E501", 1, Some(80), "line too long (81 > 79 characters)"),
            ("C0114", 1, None, "Missing module docstring (missing-module-docstring)"),
            ("F401", 2, Some(8), "`os` imported but unused"),
            ("name-defined", 9, None, "Name \"x\" is not defined"),
            ("no-var", 3, Some(4), "Unexpected var."),
        ]
    );
    assert_eq!((measured(text).held.reports, measured(text).lost()), (8, vec![]));
    // Such lines alone are a report too.
    assert_eq!(Format::sniff("b.py:1:80: E501 line too long\n"), Some(Format::Compiler));
}

/// What has a place and no kind that is known is counted by the meter, and named by the reader.
#[test]
fn messages_that_are_not_understood_are_named() {
    let text = "a.c:3:9: warning: unused\n./a.zig:5:2: undefined: x\nMakefile:7: *** missing separator.  Stop.\n\
        C:\\x\\a.pas:3: something\n2026-11-16T12:30:45: started\nmake[1]: *** [Makefile:12: all] Error 2\na.c:4: note: here\n";
    let document = open(text);
    assert_eq!(document.reports.len(), 1);
    let [note] = &document.notes[..] else { panic!("{:?}", document.notes) };
    assert!(
        note.starts_with("3 lines look like messages") && note.contains("./a.zig:5:2: undefined: x"),
        "{note}"
    );
    let loss = measured(text);
    assert_eq!((loss.held.reports, loss.lost(), loss.unnamed()), (4, vec![("reports", 3)], vec![]));
    // A reader that keeps silent is caught.
    let silent = Document { notes: Vec::new(), ..document };
    let loss = Loss::measure(Format::Compiler, text, &silent).unwrap();
    assert_eq!(loss.unnamed(), [("reports", 3)]);
    // The same around a SARIF log.
    let build = format!("./a.zig:5:2: undefined: x\n{}\n", log(json!({"results": []})));
    let loss = measured(&build);
    assert_eq!((loss.lost(), loss.unnamed()), (vec![("reports", 1)], vec![]));
}

/// A note before any warning is a finding of its own, not nothing.
#[test]
fn a_note_that_comes_first_is_kept() {
    let document = open("a.c:4: note: here\na.c:3:9: warning: unused\na.c:5: note: declared\n");
    let told: Vec<_> = document.reports.iter().map(|report| (&*report.title, report.related.len())).collect();
    assert_eq!(told, [("here", 0), ("unused", 1)]);
}

#[test]
fn where_all_is_well_nothing_fails() {
    let result = |kind: &str, flows: Value| json!({"kind": kind, "message": {"text": "m"}, "locations": [at(json!(8))], "codeFlows": flows});
    let two = flow(&[at(json!(7)), at(json!(8))]);
    let text = log(
        json!({"results": [result("pass", two.clone()), result("fail", two), result("pass", json!([]))]}),
    );
    let document = open(&text);
    let failing = |report: &Report| {
        report.paths.iter().flat_map(|path| &path.steps).filter(|step| step.failing).count()
    };
    assert_eq!(document.reports.iter().map(failing).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(measured(&text).lost(), []);
    assert_eq!(read(to_sarif(&document).as_bytes(), "again"), Ok(document));
}

#[test]
fn marks_without_a_line_are_steps() {
    let text = "<pathreport><path name=\"a\" file=\"f.c\"><marker line=\"0\">zero</marker> <marker line=\"-3\">neg</marker> \
        <marker line=\"abc\">abc</marker> <marker>none</marker> <marker line=\"7\">ok</marker></path></pathreport>";
    let document = open(text);
    let path = &document.reports[0].paths[0];
    let told: Vec<_> = path
        .steps
        .iter()
        .map(|step| (&*step.message, step.location.as_ref().map(|place| (&*place.file, place.line))))
        .collect();
    let file = Some(("f.c", None));
    assert_eq!(
        told,
        [("zero", file), ("neg", file), ("abc", file), ("none", None), ("ok", Some(("f.c", Some(7))))]
    );
    assert!(document.notes[0].starts_with("3 marks give a line that is none"), "{:?}", document.notes);
    let loss = measured(text);
    assert_eq!((loss.held.steps, loss.held.messages, loss.held.frames, loss.lost()), (5, 5, 1, vec![]));
    // A reader that leaves them out is caught.
    let mut less = document.clone();
    less.reports[0].paths[0].steps.remove(3);
    assert_eq!(
        Loss::measure(Format::Pathreport, text, &less).unwrap().unnamed(),
        [("steps", 1), ("messages", 1)]
    );
    for written in [to_sarif(&document), to_json(&document), to_pathreport(&document)] {
        assert_eq!(read(written.as_bytes(), "again").as_ref(), Ok(&document));
    }
}

/// Valgrind counts neither what is still reachable nor the signal that ends the program among its errors: both are findings, and
/// losing one shows.
#[test]
fn findings_that_valgrind_does_not_count_are_held() {
    let text = "==7== Memcheck, a memory error detector
==7== Invalid read of size 4
==7==    at 0x1: f (a.c:3)
==7==    by 0x2: main (a.c:9)
==7==
==7== Process terminating with default action of signal 11 (SIGSEGV)
==7==    at 0x1: g (a.c:4)
==7==    by 0x2: main (a.c:9)
==7==
==7== 8 bytes in 1 blocks are still reachable in loss record 1 of 3
==7==    at 0x3: h (a.c:5)
==7==    by 0x2: main (a.c:9)
==7==
==7== 8 bytes in 1 blocks are indirectly lost in loss record 2 of 3
==7==    at 0x3: h (a.c:6)
==7==    by 0x2: main (a.c:9)
==7==
==7== 8 bytes in 1 blocks are definitely lost in loss record 3 of 3
==7==    at 0x3: h (a.c:7)
==7==    by 0x2: main (a.c:9)
==7==
==7== ERROR SUMMARY: 2 errors from 2 contexts (suppressed: 0 from 0)
";
    let mut document = open(text);
    let loss = measured(text);
    assert_eq!((loss.held.reports, document.reports.len(), loss.lost()), (5, 5, vec![]));
    document.reports.pop();
    let loss = Loss::measure(Format::sniff(text).unwrap(), text, &document).unwrap();
    assert!(loss.lost().contains(&("reports", 1)), "{:?}", loss.lost());
}

/// A code flow of one step is the place of its result, whatever it says of it.
#[test]
fn one_step_alone_is_no_loss() {
    let mut worded = at(json!(8));
    worded["message"] = json!({"text": "here"});
    let function = json!({"logicalLocations": [{"name": "f", "kind": "function"}]});
    for steps in [&[at(json!(8))][..], &[worded.clone()], &[worded, at(json!(9)), function]] {
        for importance in ["important", "unimportant"] {
            let mut flow = flow(steps);
            flow[0]["threadFlows"][0]["locations"][0]["importance"] = json!(importance);
            let result = json!({"message": {"text": "m"}, "locations": [at(json!(8))], "codeFlows": flow});
            let loss = measured(&log(json!({"results": [result]})));
            assert_eq!(loss.lost(), [], "{steps:?}: {:?}", loss.held);
        }
    }
}

/// Only a note that names a loss excuses it, and only as much as it names.
#[test]
fn other_notes_excuse_no_loss() {
    let flow = flow(&[at(json!(7)), at(json!(8))]);
    let text = log(json!({"results": [
        {"message": {"text": "m"}, "locations": [at(json!(8))], "codeFlows": flow},
        {"kind": "notApplicable", "message": {"text": "na"}}]}));
    let mut document = open(&text);
    assert_eq!(document.notes.len(), 1, "{:?}", document.notes);
    document.reports[0].paths.clear();
    let loss = Loss::measure(Format::Sarif, &text, &document).unwrap();
    assert_eq!((loss.unnamed(), loss.named.len(), loss.notes.len()), (vec![("steps", 2)], 0, 1));
    document.notes.push("1 lines look like messages".to_owned());
    document.reports.clear();
    let loss = Loss::measure(Format::Sarif, &text, &document).unwrap();
    assert_eq!((loss.lost(), loss.unnamed()), (vec![("reports", 1), ("steps", 2)], vec![("steps", 2)]));
}

#[test]
fn odd_values_of_sarif_are_read_or_noted() {
    let result = |line: Value, message: Value| json!({"message": message, "locations": [at(line)]});
    let notes = |text: &str| -> Vec<String> {
        let document = open(text);
        // What is noted stays noted.
        assert_eq!(read(to_sarif(&document).as_bytes(), "again").as_ref(), Ok(&document));
        document.notes
    };
    let lines = |text: &str| -> Vec<_> {
        open(text).reports.iter().map(|report| report.location.as_ref().unwrap().line).collect()
    };
    // To JSON Schema, 3.0 is an integer.
    let text = log(json!({"results": [result(json!(3.0), json!({"text": "m"}))]}));
    assert_eq!((lines(&text), notes(&text)), (vec![Some(3)], vec![]));
    let mut nested = flow(&[at(json!(1)), at(json!(2))]);
    nested[0]["threadFlows"][0]["locations"][1]["nestingLevel"] = json!(1.0);
    nested[0]["threadFlows"][0]["locations"][0]["executionOrder"] = json!(4.0);
    let document = open(&log(json!({"results": [{"message": {"text": "m"}, "codeFlows": nested}]})));
    let path = &document.reports[0].paths[0];
    assert_eq!((path.frames.len(), path.steps[0].order), (2, Some(4)));
    // Lines that are none.
    for (line, written) in [(json!(0), "0"), (json!(-3), "-3"), (json!(2.5), "2.5"), (json!("x"), "\"x\"")] {
        let text = log(
            json!({"results": [result(line, json!({"text": "m"})), result(json!(4), json!({"text": "m"}))]}),
        );
        let said = format!(
            "1 files have positions that are none, such as `startLine` {written} in \"a.c\"; those are not known"
        );
        assert_eq!((lines(&text), notes(&text)), (vec![None, Some(4)], vec![said]));
    }
    // Words alone are a message, of a result and of a step.
    let mut step = at(json!(2));
    step["message"] = json!("goes on");
    let text = log(
        json!({"results": [{"message": "plain words", "locations": [at(json!(3))], "codeFlows": flow(&[step, at(json!(3))])}]}),
    );
    let report = &open(&text).reports[0];
    assert_eq!((&*report.title, &*report.paths[0].steps[0].message), ("plain words", "goes on"));
    assert_eq!(measured(&text).lost(), []);
    // Results that are none, and lists that are none.
    assert_eq!(
        notes(&log(json!({"results": [null, 5]}))),
        ["2 results are no objects; they are read as empty ones"]
    );
    let text = log(json!({"results": [{"message": {"text": "m"}, "codeFlows": {"x": 1}}]}));
    assert_eq!(notes(&text), ["`codeFlows` is no list in 1 places; nothing is read from it there"]);
}

#[test]
fn bases_that_lead_in_a_circle_are_followed_once() {
    let place = json!({"physicalLocation": {"artifactLocation": {"uri": "x.c", "uriBaseId": "SRC"}, "region": {"startLine": 1}}});
    let run = |bases: Value| {
        log(
            json!({"originalUriBaseIds": bases, "results": [{"message": {"text": "m"}, "locations": [place]}]}),
        )
    };
    let circle =
        run(json!({"ROOT": {"uri": "a/", "uriBaseId": "SRC"}, "SRC": {"uri": "src/", "uriBaseId": "ROOT"}}));
    let document = open(&circle);
    assert_eq!(document.reports[0].location.as_ref().unwrap().file, "a/src/x.c");
    assert!(document.notes[0].contains("base id \"SRC\" leads to no end"), "{:?}", document.notes);
    assert_eq!(read(to_sarif(&document).as_bytes(), "again"), Ok(document));
    let chain = open(&run(json!({"ROOT": {"uri": "a/"}, "SRC": {"uri": "src/", "uriBaseId": "ROOT"}})));
    assert_eq!(
        (chain.reports[0].location.as_ref().unwrap().file.as_str(), chain.notes.len()),
        ("a/src/x.c", 0)
    );
}

/// gcc draws the memory between the headline and the stack, and its stacks have no columns.
#[test]
fn undefined_behaviour_with_a_stack_keeps_its_column() {
    let text = "ub.c:3:90: runtime error: load of misaligned address 0x7fff for type 'int', which requires 4 byte alignment\n\
        0x7fff: note: pointer points here\n 00 00 00  01 00 00 00\n              ^ \n\
        \x20   #0 0x55b0 in get /tmp/ub.c:3\n    #1 0x55b1 in main /tmp/ub.c:9\n    #2 0x7f56 in _start (/tmp/ub+0x10e0)\n";
    let report = &open(text).reports[0];
    assert_eq!((report.paths.len(), &*report.paths[0].label), (1, ""));
    let columns: Vec<_> =
        report.paths[0].steps.iter().map(|step| step.location.as_ref().unwrap().column).collect();
    assert_eq!(columns, [None, Some(90)]);
}

/// The lock that is taken second breaks the order.
#[test]
fn the_later_lock_breaks_the_order() {
    let stack = |line: u32| {
        format!(
            "==7==    at 0x4849: ??? (in /usr/libexec/valgrind/vgpreload_helgrind-amd64-linux.so)\n==7==    by 0x1092: w (t.c:{line})\n==7== \n"
        )
    };
    let text = format!(
        "==7== Helgrind, a thread error detector\n==7== ----------------------------------------------------------------\n==7== \n\
         ==7== Thread #3: lock order \"0x10C0A0 before 0x10C0E0\" violated\n==7== \n\
         ==7== Observed (incorrect) order is: acquisition of lock at 0x10C0E0\n{}==7==  followed by a later acquisition of lock at 0x10C0A0\n{}\
         ==7== Required order was established by acquisition of lock at 0x10C0A0\n{}==7==  followed by a later acquisition of lock at 0x10C0E0\n{}",
        stack(8),
        stack(9),
        stack(18),
        stack(19)
    );
    let report = &open(&text).reports[0];
    let failing: Vec<_> =
        report.paths.iter().map(|path| path.steps.iter().any(|step| step.failing)).collect();
    assert_eq!((&*report.rule, failing), ("LockOrder", vec![false, true, false, false]));
    assert_eq!(report.location, Some(Location::line("t.c", 9)));
}
