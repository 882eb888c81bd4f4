//! What real tools printed, kept in `corpus/report/recorded`: the same finding told in several formats reads the same, and
//! nothing that a file holds gets lost on the way.

use parallax_report::loss::Loss;
use parallax_report::*;
use std::collections::BTreeSet;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/report/recorded")
}

fn open(name: &str) -> Document {
    let bytes = std::fs::read(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    read(&bytes, name).unwrap_or_else(|error| panic!("{error}"))
}

fn base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// Depth, function, place, role, outcome and words of each step.
fn told(path: &Path) -> Vec<String> {
    let step = |step: &Step| {
        let place = step
            .location
            .as_ref()
            .map_or(String::new(), |place| format!("{}:{}", base(&place.file), place.line.unwrap_or(0)));
        let words = step.message.replace(['‘', '’'], "'");
        let frame = &path.frames[step.frame];
        format!(
            "{} {} {place} {:?} {:?} {words}",
            path.depth(step.frame),
            frame.function,
            step.role,
            step.taken
        )
    };
    path.steps.iter().map(step).collect()
}

#[test]
fn gcc_tells_the_same_in_text_json_and_sarif() {
    for (one, others) in [
        ("use.gcc14.json", &["use.gcc14.txt", "use.gcc14.sarif"][..]),
        ("use.gcc12.json", &["use.gcc12.txt", "use.gcc14.json"]),
    ] {
        let json = open(one);
        let path = &json.reports[0].paths[0];
        assert_eq!(path.steps.len(), 8, "{one}: gcc draws eight events");
        assert_eq!(told(path)[4], "1 gone gone.h:3 Note None ...to here", "a line reached is no branch");
        for other in others {
            let document = open(other);
            assert_eq!(told(&document.reports[0].paths[0]), told(path), "{other} against {one}");
            assert_eq!(document.reports[0].cwe, json.reports[0].cwe, "{other}");
            assert_eq!(
                document.reports[0].title.replace(['‘', '’'], "'"),
                json.reports[0].title.replace(['‘', '’'], "'")
            );
        }
    }
}

/// Columns count characters in all three, whatever gcc counts: the JSON has carets, the SARIF ranges around them. The text
/// has carets too, and says nothing where a tab may stand before.
#[test]
fn columns_of_gcc_agree_or_are_not_told() {
    for (json, others) in [
        ("recorded/use.gcc14.json", &["recorded/use.gcc14.txt", "recorded/use.gcc14.sarif"][..]),
        ("strange/use.gcc15.json", &["strange/use.gcc15.txt", "strange/use.gcc15.sarif"]),
        ("strange/pool.gcc15.json", &["strange/pool.gcc15.txt"]),
        ("strange/gcc12.json", &["strange/gcc12.txt"]),
        ("strange/guests.gcc14.json", &["strange/guests.gcc14.separate.txt"]),
    ] {
        let json = open(&format!("../{json}"));
        let (mut alike, mut unknown) = (0, 0);
        for other in others {
            let document = open(&format!("../{other}"));
            assert_eq!(document.reports.len(), json.reports.len(), "{other}");
            for (one, two) in json.reports.iter().zip(&document.reports) {
                let steps = |report: &Report| report.paths[0].steps.clone();
                assert_eq!(steps(one).len(), steps(two).len(), "{other}");
                let places = |report: &Report| -> Vec<Location> {
                    let steps = steps(report).into_iter().filter_map(|step| step.location);
                    steps.chain(report.location.clone()).collect()
                };
                for (one, two) in places(one).iter().zip(&places(two)) {
                    let (Some(caret), Some(start)) = (one.column, two.column) else {
                        unknown += usize::from(one.column.is_some());
                        continue;
                    };
                    assert!(
                        start <= caret && caret < two.end_column.unwrap_or(start + 1),
                        "{other}: {one:?} {two:?}"
                    );
                    alike += 1;
                }
            }
        }
        assert!(alike > unknown, "{alike} columns alike, {unknown} not told");
    }
}

#[test]
fn gcc_numbers_events_in_notes() {
    let (json, notes) = (open("../strange/guests.gcc14.json"), open("../strange/guests.gcc14.separate.txt"));
    assert_eq!(json.reports.iter().map(|report| report.paths[0].steps.len()).sum::<usize>(), 62);
    for (one, two) in json.reports.iter().zip(&notes.reports) {
        assert_eq!(told(&one.paths[0]), told(&two.paths[0]));
        assert_eq!(one.related.len(), two.related.len());
    }
    // With depths, which gcc adds on demand, and with a path that begins inside a function that returns.
    let log = "a.c: In function 'f':\na.c:9:5: warning: leak [-Wanalyzer-malloc-leak]\n\
        a.c:3:5: note: (1) allocated here (fndecl 'g', depth 2)\na.c:8:5: note: (2) returning to 'f' from 'g' (fndecl 'f', depth 1)\n\
        a.c:9:5: note: (3) leaks here (fndecl 'f', depth 1)\n";
    let bare = regex::Regex::new(r" \(fndecl.*").unwrap().replace_all(log, "").into_owned();
    for log in [log, &bare] {
        let document = read(log.as_bytes(), "notes").unwrap();
        let path = &document.reports[0].paths[0];
        let functions: Vec<_> = path.steps.iter().map(|step| &*path.frames[step.frame].function).collect();
        assert_eq!(functions[1..], ["f", "f"], "{log}");
        assert_ne!(path.steps[0].frame, path.steps[1].frame);
        assert_eq!(path.steps[0].message, "allocated here");
    }
}

/// A reader that loses what a log holds is caught, whatever it is: the meter counts lines and asks no reader.
#[test]
fn nothing_is_excused_that_the_log_does_not_excuse() {
    for name in
        ["guests.asan", "guests.valgrind", "ladle.tsan", "guests.gdb", "guests.java.txt", "tally.helgrind"]
    {
        let source = std::fs::read_to_string(folder().join(name)).unwrap();
        let format = Format::sniff(&source).unwrap();
        let mut document = open(name);
        assert_eq!(Loss::measure(format, &source, &document).unwrap().unnamed(), [], "{name}");
        let path = document
            .reports
            .iter_mut()
            .flat_map(|report| &mut report.paths)
            .max_by_key(|path| path.steps.len());
        let path = path.unwrap();
        path.steps.pop();
        path.frames.pop();
        let lost = Loss::measure(format, &source, &document).unwrap().unnamed();
        assert_eq!(lost, [("steps", 1), ("frames", 1)], "{name}");
    }
    let notes = std::fs::read_to_string(folder().join("../strange/guests.gcc14.separate.txt")).unwrap();
    let mut document = read(notes.as_bytes(), "notes").unwrap();
    document.reports[0].paths[0].steps.truncate(20);
    let lost = Loss::measure(Format::Compiler, &notes, &document).unwrap().unnamed();
    assert_eq!(lost, [("steps", 3), ("messages", 3)]);
}

/// A log of a build and its tests holds what several programs print.
#[test]
fn a_log_of_several_programs_is_read_whole() {
    let part = |name: &str| std::fs::read_to_string(folder().join(name)).unwrap();
    let log = format!(
        "{}\n{}\n{}\n{}",
        part("use.gcc12.txt"),
        part("guests.asan"),
        part("guests.valgrind"),
        part("guests.java.txt")
    );
    let document = read(log.as_bytes(), "log").unwrap();
    let tools: BTreeSet<&str> = document.reports.iter().map(|report| &*report.tool.name).collect();
    for tool in ["gcc", "AddressSanitizer", "Java"] {
        assert!(tools.contains(tool), "{tools:?}");
    }
    let alone: usize = ["use.gcc12.txt", "guests.asan", "guests.valgrind", "guests.java.txt"]
        .iter()
        .map(|name| open(name).reports.len())
        .sum();
    assert_eq!(document.reports.len(), alone);
    let loss = Loss::measure(Format::sniff(&log).unwrap(), &log, &document).unwrap();
    assert_eq!(loss.unnamed(), []);
}

#[test]
fn cbmc_tells_the_same_in_json_xml_and_text() {
    let shown = |document: &Document| -> Vec<String> {
        let path = &document.reports[0].paths[0];
        let line = |step: &Step| step.location.as_ref().and_then(|place| place.line).unwrap_or(0);
        let values = |step: &Step| {
            step.values.iter().map(|one| format!(" {}={}", one.name, one.value)).collect::<String>()
        };
        path.steps
            .iter()
            .map(|step| format!("{} {}{}", path.frames[step.frame].function, line(step), values(step)))
            .collect()
    };
    let (json, xml, text) = (open("sum.cbmc.json"), open("sum.cbmc.xml"), open("sum.cbmc.txt"));
    let lines = shown(&json);
    // Of pointers the JSON tells less than the XML.
    let plain = |lines: &[String]| -> Vec<String> {
        let pointer = |line: &&String| !line.contains("malloc()=") && !line.contains(" p=");
        lines.iter().filter(pointer).cloned().collect()
    };
    assert_eq!(plain(&shown(&xml)), plain(&lines));
    // One frame for a call, its parameters at its head, and no name of CBMC's own.
    let frames: Vec<_> =
        json.reports[0].paths[0].frames.iter().map(|frame| frame.function.as_str()).collect();
    assert_eq!((frames[0], *frames.last().unwrap()), ("main", "sum"), "{frames:?}");
    assert!(
        lines.iter().any(|line| line.starts_with("sum 5 values=") && line.contains("count=4")),
        "{lines:#?}"
    );
    assert!(
        lines.iter().all(|line| !line.contains("$$") && !line.contains('@') && !line.contains("CPROVER")),
        "{lines:#?}"
    );
    let failing = json.reports[0].paths[0].failing_step().unwrap();
    assert!(lines[failing].starts_with("sum 9"), "{}", lines[failing]);
    assert_eq!(
        (&*json.reports[0].rule, json.reports[0].tool.version.as_deref()),
        ("pointer_dereference", Some("6.6.0"))
    );
    // The text leaves out calls and passed lines; what it has, stands there in the same order.
    let plain = |lines: &[String]| -> Vec<String> {
        lines.iter().filter(|line| line.contains("data[") || line.contains("total=")).cloned().collect()
    };
    assert_eq!(plain(&shown(&text)), plain(&lines));
    assert_eq!(text.reports[0].paths[0].frames.last().unwrap().function, "sum");
}

/// clang lists the lines that it executed apart from the path; none of those in a function of the path is missing.
#[test]
fn clang_control_edges_are_lines_of_the_path() {
    let document = open("guests.plist");
    let report = document.reports.iter().find(|report| report.title.contains("after it is freed")).unwrap();
    let lines: BTreeSet<u32> =
        report.paths[0].steps.iter().filter_map(|step| step.location.as_ref()?.line).collect();
    let passing =
        report.paths[0].steps.iter().filter(|step| step.importance == Importance::Unimportant).count();
    assert!(passing > 0, "control edges are steps");
    for line in [24, 26, 28, 59, 60, 79] {
        assert!(lines.contains(&line), "{line} of {lines:?}");
    }
}

/// The meter at zero for every recorded file, or the loss has a name.
#[test]
fn nothing_is_lost_without_a_word() {
    let mut measured = 0;
    let folders = ["", "../samples", "../strange", "../ladle", "../../view"].map(|name| folder().join(name));
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let source_of = |file: &std::path::Path| {
        file.extension().is_some_and(|ending| ["md", "c", "h"].iter().any(|one| ending == *one))
    };
    for file in files.iter().filter(|file| !source_of(file) && !file.ends_with("told.txt")) {
        let name = file.display().to_string();
        let bytes = std::fs::read(file).unwrap();
        let source = text_of(&bytes);
        let document = read(&bytes, &name).unwrap();
        let format = Format::sniff(&source).unwrap();
        let loss = Loss::measure(format, &source, &document).expect("every format has a counter");
        measured += 1;
        assert_eq!(loss.unnamed(), [], "{name}: {:?}, {:?}", loss.held, loss.named);
        // Writing loses nothing either.
        for written in [to_sarif(&document), to_json(&document), to_pathreport(&document)] {
            let again = loss::Tally::of(&read(written.as_bytes(), "again").unwrap());
            assert_eq!(again, loss::Tally::of(&document), "{name}");
        }
    }
    assert!(measured >= 100, "{measured} files were measured");
}

/// A reader that drops steps is caught: the meter is fed what such a reader would return.
#[test]
fn the_meter_sees_what_is_dropped() {
    let source = std::fs::read_to_string(folder().join("use.gcc14.json")).unwrap();
    let mut document = read(source.as_bytes(), "gcc").unwrap();
    document.reports[0].paths[0].steps.truncate(3);
    let loss = Loss::measure(Format::Gcc, &source, &document).unwrap();
    assert_eq!(loss.lost(), [("steps", 5), ("messages", 5)]);
}

#[test]
fn pages_are_refused_with_the_way_to_get_data() {
    let error =
        read(b"<!doctype html>\n<html><body>clang: warning: x.c:1: leak</body></html>", "report.html")
            .unwrap_err();
    assert!(error.to_string().contains("--analyzer-output plist"), "{error}");
}

/// clang's property list, step for step: counted one by one in the file, neither fewer nor more come out.
#[test]
fn every_event_and_edge_of_a_plist_is_one_step() {
    let source = std::fs::read_to_string(folder().join("guests.plist")).unwrap();
    let document = read(source.as_bytes(), "plist").unwrap();
    let loss = Loss::measure(Format::Plist, &source, &document).unwrap();
    assert_eq!((loss.kept.steps, loss.kept.messages), (loss.held.steps, loss.held.messages));
    // Two events on one line are two steps, and an edge that only leads there is none.
    let place = |line: u32| {
        format!(
            "<dict><key>line</key><integer>{line}</integer><key>col</key><integer>1</integer><key>file</key><integer>0</integer></dict>"
        )
    };
    let edge = |from: u32, to: u32| {
        format!(
            "<dict><key>kind</key><string>control</string><key>edges</key><array><dict><key>start</key><array>{0}{0}</array><key>end</key><array>{1}{1}</array></dict></array></dict>",
            place(from),
            place(to)
        )
    };
    let event = |line: u32, depth: u32| {
        format!(
            "<dict><key>kind</key><string>event</string><key>location</key>{}<key>depth</key><integer>{depth}</integer><key>message</key><string>m</string></dict>",
            place(line)
        )
    };
    for (pieces, steps) in [
        (vec![event(5, 0), event(5, 0)], 2),
        (vec![edge(3, 4), edge(4, 5), event(5, 0), event(5, 0)], 4),
        (vec![event(5, 0), edge(5, 5), event(5, 0)], 2),
        (vec![event(5, 0), edge(5, 7), event(7, 1), edge(7, 9), event(9, 1)], 4),
        (vec![edge(2, 3), event(9, 0)], 3),
    ] {
        let source = format!(
            "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>files</key><array><string>a.c</string></array>\
             <key>diagnostics</key><array><dict><key>path</key><array>{}</array><key>description</key><string>d</string>\
             <key>location</key>{}</dict></array></dict></plist>",
            pieces.concat(),
            place(5)
        );
        let document = read(source.as_bytes(), "made.plist").unwrap();
        let loss = Loss::measure(Format::Plist, &source, &document).unwrap();
        assert_eq!((loss.held.steps, loss.kept.steps), (steps, steps), "{pieces:?}");
    }
}

/// Compilers print SARIF to where make prints: several logs, other warnings, and what a build says besides.
#[test]
fn sarif_is_found_in_a_build_log() {
    let one = std::fs::read_to_string(folder().join("use.gcc14.sarif")).unwrap();
    let compact = serde_json::from_str::<serde_json::Value>(&one).unwrap().to_string();
    let spread = format!("{:#}", serde_json::from_str::<serde_json::Value>(&one).unwrap());
    let build = format!(
        "make: Entering directory 'x'\ngcc -c use.c -fdiagnostics-format=sarif-stderr\n{compact}\ngcc -c b.c {{\n\
         b.c:3:9: warning: unused variable 'x' [-Wunused-variable]\ngcc -c again.c\n{spread}\nmake: *** [all] Error 1\n"
    );
    assert_eq!(Format::sniff(&build), Some(Format::Sarif));
    let document = read(build.as_bytes(), "build.log").unwrap();
    let alone = read(one.as_bytes(), "use.sarif").unwrap();
    let count = alone.reports.len();
    assert_eq!(document.reports.len(), 2 * count + 1);
    for (at, report) in alone.reports.iter().enumerate() {
        for copy in [&document.reports[at], &document.reports[count + at]] {
            assert_eq!((&copy.title, &copy.paths), (&report.title, &report.paths));
        }
    }
    assert_eq!(document.reports.last().unwrap().rule, "unused-variable");
    let loss = Loss::measure(Format::Sarif, &build, &document).unwrap();
    assert_eq!(loss.lost(), []);
    assert_eq!((loss.held.reports, loss.held.steps), (loss.kept.reports, loss.kept.steps));
    // One log right after the other, without anything around them.
    assert_eq!(read(format!("{compact}\n{compact}\n").as_bytes(), "two").unwrap().reports.len(), 2 * count);
    // A build that was stopped: what is whole is read, and the rest is told.
    let stopped = format!("{compact}\n{}", &compact[..compact.len() / 2]);
    let document = read(stopped.as_bytes(), "stopped.log").unwrap();
    assert_eq!(document.reports.len(), count);
    assert!(document.notes.iter().any(|note| note.contains("breaks off")), "{:?}", document.notes);
    // A log that is only half there is an error with its place, as before.
    let error = read(&compact.as_bytes()[..compact.len() / 2], "half.sarif").unwrap_err().to_string();
    assert!(error.contains("half.sarif:1:"), "{error}");
}

/// Many beginnings of logs that never end are given up, not tried one by one to the end of the file.
#[test]
fn beginnings_without_end_take_bounded_time() {
    let text = "{\"version\": \"2.1.0\", \"runs\": [\n".repeat(200_000) + "sarif";
    let begun = std::time::Instant::now();
    assert!(read(text.as_bytes(), "endless").is_err());
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

/// CBMC runs on after a property that does not hold. The trace is about the last one; those before it are told in passing.
#[test]
fn a_trace_of_cbmc_that_breaks_several_properties_is_one_report() {
    let state = |number: u32, line: u32, what: &str| {
        format!(
            "State {number} file a.c function f line {line} thread 0\n----------------------------------------------------\n  {what}\n\n"
        )
    };
    let broken = |line: u32, what: &str| {
        format!(
            "Violated property:\n  file a.c function f line {line} thread 0\n  {what}\n  !(p == NULL)\n\n\n"
        )
    };
    let text = format!(
        "CBMC version 6.6.0 (cbmc-6.6.0) 64-bit x86_64 linux\n\nTrace for f.1:\n\n{}{}{}{}\nTrace for f.2:\n\n{}{}\n** 2 of 9 failed\n",
        state(1, 3, "i=1 (0001)"),
        broken(4, "first"),
        state(2, 5, "i=2 (0010)"),
        broken(6, "second"),
        state(3, 7, "i=3 (0011)"),
        broken(8, "third"),
    );
    let document = read(text.as_bytes(), "cbmc.txt").unwrap();
    let told: Vec<_> =
        document.reports.iter().map(|report| (report.title.as_str(), report.paths[0].steps.len())).collect();
    assert_eq!(told, [("second", 5), ("third", 3)]);
    let failing: Vec<_> = document.reports[0].paths[0]
        .steps
        .iter()
        .filter(|step| step.failing)
        .map(|step| step.message.as_str())
        .collect();
    assert_eq!(failing, ["second"]);
    let told = |step: &&Step| step.message == "also fails here: first";
    let passed = document.reports[0].paths[0].steps.iter().find(told).unwrap();
    assert_eq!(passed.importance, Importance::Unimportant, "what fails besides is no step of the story");
    let loss = Loss::measure(Format::Cbmc, &text, &document).unwrap();
    assert_eq!((loss.held.reports, loss.lost()), (2, vec![]));
    // As JSON, the same.
    let step = |kind: &str, line: u32, reason: &str| serde_json::json!({"stepType": kind, "reason": reason, "lhs": "i", "value": {"data": "1"}, "thread": 0, "sourceLocation": {"file": "a.c", "function": "f", "line": line.to_string()}});
    let json = serde_json::json!([{"program": "CBMC 6.6.0"}, {"result": [{"property": "f.1", "status": "FAILURE", "description": "", "trace": [step("assignment", 3, ""), step("failure", 4, "first"), step("failure", 6, "second")]}]}]);
    let document = read(json.to_string().as_bytes(), "cbmc.json").unwrap();
    let failing: Vec<_> = document.reports[0].paths[0]
        .steps
        .iter()
        .filter(|step| step.failing)
        .map(|step| step.message.as_str())
        .collect();
    assert_eq!((document.reports[0].title.as_str(), failing), ("second", vec!["second"]));
}

/// Stacks of one function count: a race that drd finds in a thread's own function has no more.
#[test]
fn one_function_is_a_stack() {
    let text = "==7== drd, a thread error detector\n==7== \n==7== Thread 3:\n==7== Conflicting load by thread 3 at 0x0010c0a0 size 4\n\
        ==7==    at 0x1091E4: worker (driver.c:21)\n==7==    by 0x490F1F4: start_thread (pthread_create.c:442)\n\
        ==7==    by 0x498EB4F: clone (clone.S:100)\n==7== \n==7== ERROR SUMMARY: 1 errors from 1 contexts (suppressed: 0 from 0)\n";
    let document = read(text.as_bytes(), "drd.txt").unwrap();
    let loss = Loss::measure(Format::ValgrindText, text, &document).unwrap();
    assert_eq!((loss.held.steps, loss.kept.steps), (3, 1), "{:?}", loss.named);
    assert!(loss.named.iter().any(|note| note.starts_with("2 lines of stacks")), "{:?}", loss.named);
}

/// rustc's text and JSON tell the same messages at the same places; the JSON has the edits too.
#[test]
fn rustc_tells_the_same_in_text_and_json() {
    let (text, json) = (open("moved.rustc.txt"), open("moved.rustc.json"));
    let told = |document: &Document| -> Vec<_> {
        let reports = document.reports.iter();
        reports.map(|report| (report.rule.clone(), report.title.clone(), place_of(report))).collect()
    };
    fn place_of(report: &Report) -> (String, Option<u32>, Option<u32>) {
        let place = report.location.clone().unwrap_or_default();
        (place.file, place.line, place.column)
    }
    assert_eq!(told(&text), told(&json));
    let rules: Vec<_> = json.reports.iter().map(|report| report.rule.as_str()).collect();
    assert!(rules.contains(&"E0382") && rules.contains(&"unused_variables"), "{rules:?}");
    let moved = json.reports.iter().find(|report| report.rule == "E0382").unwrap();
    assert_eq!(moved.location.as_ref().and_then(|place| place.line), Some(13));
    assert!(moved.related.iter().any(|place| place.message == "value moved here"), "{:?}", moved.related);
    assert!(json.rule_of(moved).is_some_and(|rule| json.rules[rule].help.contains("moved")));
    // cargo wraps each message.
    let line = std::fs::read_to_string(folder().join("moved.rustc.json")).unwrap();
    let wrapped: String = line
        .lines()
        .map(|line| format!("{{\"reason\":\"compiler-message\",\"message\":{line}}}\n"))
        .collect();
    assert_eq!(told(&read(wrapped.as_bytes(), "cargo").unwrap()), told(&json));
    // A build with another compiler in it loses nothing.
    let log = std::fs::read_to_string(folder().join("moved.rustc.txt")).unwrap();
    let build = format!("a.c:3:9: warning: unused [-Wunused]\n{log}\na.c:4:1: error: x\n");
    let document = read(build.as_bytes(), "build").unwrap();
    assert_eq!(document.reports.len(), text.reports.len() + 2);
    assert_eq!(Loss::measure(Format::Rustc, &build, &document).unwrap().lost(), []);
}
