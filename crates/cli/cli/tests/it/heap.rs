//! `parallax heap` from the outside: statuses, the JSON contract, tests that run, bad input.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/javalite").join(name)
}

fn heap(file: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_parallax")).arg("heap").arg(file).args(arguments).output().unwrap()
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("parallax-heap-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn written(name: &str, text: &str) -> PathBuf {
    let path = folder(name).join("program.jl");
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn json_is_one_document_with_the_promised_keys() {
    let run =
        heap(&corpus("queue.jl"), &["--method", "Queue.checkBug", "--repok", "repOK", "--k", "2", "--json"]);
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stderr));
    let document: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    for key in ["engine", "k", "paths", "states", "heaps", "traces", "solver", "seconds"] {
        assert!(!document[key].is_null(), "{key}");
    }
    assert!(document["solver"]["calls"].is_u64());
    let traces = document["traces"].as_array().unwrap();
    assert_eq!(traces.len() as u64, document["paths"].as_u64().unwrap());
    let failing = traces.iter().find(|trace| !trace["error"].is_null()).unwrap();
    assert_eq!(failing["error"]["kind"], "assertion failed");
    assert!(failing["outcomes"].as_array().is_some_and(|outcomes| !outcomes.is_empty()));
}

#[test]
fn every_path_has_a_test_that_runs() {
    let out = folder("tests");
    let directory = out.to_str().unwrap();
    let run = heap(
        &corpus("queue.jl"),
        &["--method", "Queue.checkBug", "--repok", "repOK", "--k", "2", "--tests", directory],
    );
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stderr));
    let mut statuses = Vec::new();
    for path in 1..=3 {
        let test = heap(&out.join(format!("path{path:03}.jl")), &["--engine", "concrete"]);
        statuses.push(test.status.code());
        assert!(out.join(format!("path{path:03}.json")).exists());
    }
    // The one that shows the bug fails as a program of its own.
    statuses.sort();
    assert_eq!(statuses, [Some(0), Some(0), Some(1)]);
}

#[test]
fn engines_are_compared_and_methods_too() {
    let list = corpus("list.jl");
    let run = heap(
        &list,
        &["--method", "List.run1", "--repok", "repOK", "--k", "2", "--compare", "lazy", "--json"],
    );
    // They agree, and both leave longer lists out, as each does alone.
    assert_eq!(run.status.code(), Some(4), "{}", String::from_utf8_lossy(&run.stderr));
    let document: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(document["differences"], serde_json::json!([]));
    assert_eq!(document["complete"], false);
    assert!(document["left_out"][0].as_str().unwrap().starts_with("chain"), "{document}");
    let queue = corpus("queue.jl");
    let arguments = ["--method", "Queue.dequeue", "--repok", "repOK", "--equivalent", "Queue.dequeueBug"];
    assert_eq!(heap(&queue, &arguments).status.code(), Some(1));
    let arguments = ["--method", "Queue.dequeue", "--repok", "repOK", "--equivalent", "Queue.dequeue"];
    assert_eq!(
        heap(&queue, &arguments).status.code(),
        Some(4),
        "equal within the bounds, which leave heaps out"
    );
}

#[test]
fn pictures_are_drawn() {
    let out = folder("draw");
    heap(&corpus("queue.jl"), &["--repok", "repOK", "--k", "2", "--draw", out.to_str().unwrap()]);
    let svg = std::fs::read_to_string(out.join("path001.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("<circle") && svg.contains("this.head"));
    assert!(std::fs::read_to_string(out.join("path001.dot")).unwrap().starts_with("digraph"));
}

#[test]
fn bad_input_is_refused_with_its_place() {
    for (name, text, message) in [
        ("empty", "", "expected `(class"),
        ("open", "(class A () (", "never closed"),
        ("type", "(class A () ((bool m 1)))\n(A m)", "expected bool, found int"),
        ("class", "(class A ([B b]) ())", "unknown class B"),
        ("method", "(class A () ((bool m true)))\n(A n)", "no such method"),
        ("cycle", "(class A extends B () ())(class B extends A () ())", "its own superclass"),
        ("number", "(class A () ((int m 99999999999)))\n(A m)", "32-bit"),
    ] {
        let run = heap(&written(name, text), &[]);
        let stderr = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{name}: {stderr}");
        assert!(stderr.contains(message) && stderr.contains("-->"), "{name}: {stderr}");
    }
    let deep =
        format!("(class A () ((bool m {}true{})))(A m)", "(begin ".repeat(100_000), ")".repeat(100_000));
    // Deep, but fine.
    assert_eq!(heap(&written("deep", &deep), &[]).status.code(), Some(0));
    assert_eq!(heap(&corpus("queue.jl"), &["--method", "Queue.nope"]).status.code(), Some(2));
    assert_eq!(heap(&corpus("queue.jl"), &["--array", "99999999"]).status.code(), Some(2));
    assert_eq!(heap(&corpus("queue.jl"), &["--repok", "enqueue2"]).status.code(), Some(2));
}

#[test]
fn bounds_are_reported_and_not_passed_over() {
    let endless = written(
        "endless",
        "(class A ([A a]) ((bool repOK (while true (begin))) (bool deep (this @ deep)) (bool m true)))(A m)",
    );
    for arguments in [&["--repok", "repOK", "--loop", "1000"][..], &["--method", "A.deep", "--calls", "1000"]]
    {
        let run = heap(&endless, arguments);
        assert_eq!(run.status.code(), Some(4));
        assert!(String::from_utf8_lossy(&run.stdout).contains("CUT OFF"));
    }
    let list = corpus("list.jl");
    let run = heap(
        &list,
        &["--k", "none", "--loop", "1000000", "--repok", "repOK", "--time", "1", "--json", "--count", "1"],
    );
    assert_eq!(run.status.code(), Some(4));
    let document: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert!(document["stopped"].as_str().is_some_and(|why| why.contains("time")));
    let run = heap(&list, &["--k", "3", "--repok", "repOK", "--paths", "3", "--count", "0"]);
    assert_eq!(run.status.code(), Some(4));
}

#[test]
fn a_precondition_as_one_condition() {
    let tree = corpus("tree.jl");
    let arguments = ["--repok", "repOK", "--root-alias", "false", "--k", "3", "--count", "0", "--json"];
    let paths = |more: &[&str]| {
        let run = heap(&tree, &[&arguments[..], more].concat());
        let document: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        document["paths"].as_u64()
    };
    // A search goes left or right at each of three levels, and finds or falls off.
    assert_eq!((paths(&["--merge"]), paths(&[])), (Some(22), Some(236)));
    let out = folder("merged");
    let run = heap(
        &tree,
        &["--repok", "repOK", "--k", "2", "--merge", "--count", "9", "--tests", out.to_str().unwrap()],
    );
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(text.contains("when Tree.repOK holds") && text.contains("10 tests written"), "{text}");
    let run = heap(&tree, &["--repok", "repOK", "--k", "2", "--merge", "--compare", "lazy"]);
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.code() == Some(4) && text.contains("no difference"), "{text}");
    assert_eq!(heap(&tree, &["--merge"]).status.code(), Some(2));
}

/// The paths of a report: every line, conditions with their outcome, values where they change.
#[test]
fn reports_tell_every_path_line_by_line() {
    let out = folder("report");
    let name = |file: &str| out.join(file).display().to_string();
    for report in ["out.json", "out.sarif", "out.html"] {
        let run = heap(
            &corpus("queue.jl"),
            &["--method", "Queue.checkBug", "--repok", "repOK", "--k", "2", "--report", &name(report)],
        );
        assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stderr));
    }
    assert!(std::fs::read_to_string(out.join("out.html")).unwrap().contains("checkBug"));
    let open = |file: &str| parallax_report::read(&std::fs::read(out.join(file)).unwrap(), file).unwrap();
    let document = open("out.json");
    assert_eq!(open("out.sarif").reports, document.reports);
    assert_eq!(document.check(), Ok(()));
    let (failing, passed): (Vec<_>, Vec<_>) = document.reports.iter().partition(|report| !report.passed);
    assert_eq!((failing.len(), passed.len()), (1, 2), "one path fails, the others are there to compare with");
    let path = &failing[0].paths[0];
    let last = path.steps.last().unwrap();
    assert!(last.failing && last.message == "assertion failed", "{last:?}");
    // Every function on the way has a frame, and every condition its outcome.
    assert_eq!(path.frames[0].function, "Queue.checkBug");
    assert!(path.frames.len() > 1, "{:?}", path.frames);
    assert!(path.steps.iter().any(|step| step.taken.is_some()), "{:#?}", path.steps);
}

/// The steps are those of a run: lines and outcomes that are counted by hand.
#[test]
fn a_report_holds_each_round_of_a_loop_and_what_changed() {
    let program = written(
        "rounds",
        "(class Cell ([int n] [Cell next]) (\n\
           (int count [int to]\n\
             (var int i := 0 in\n\
               (begin\n\
                 (while (i < to)\n\
                   (begin\n\
                     (this $ n := i)\n\
                     (i := (this @ more i))))\n\
                 (if (i = 2)\n\
                   error\n\
                   else i))))\n\
           (int more [int by]\n\
             (by + 1))))\n\
         (Cell count)\n",
    );
    let report = program.with_file_name("rounds.json");
    let run =
        heap(&program, &["--method", "Cell.count", "--loop", "4", "--report", report.to_str().unwrap()]);
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stderr));
    let document = parallax_report::read(&std::fs::read(&report).unwrap(), "report").unwrap();
    let failing = &document.reports[0];
    assert_eq!(failing.rule, "error", "what fails comes first");
    let path = &failing.paths[0];
    let line = |step: &parallax_report::Step| step.location.as_ref().and_then(|place| place.line).unwrap();
    let outcomes = |at: u32| -> Vec<bool> {
        path.steps.iter().filter(|step| line(step) == at).filter_map(|step| step.taken).collect()
    };
    assert_eq!(outcomes(5), [true, true, false], "{:#?}", path.steps);
    assert_eq!(outcomes(9), [true]);
    let set = |name: &str| -> Vec<&str> {
        let values = path.steps.iter().flat_map(|step| &step.values);
        values.filter(|value| value.name == name).map(|value| value.value.as_str()).collect()
    };
    assert_eq!((set("to"), set("i")), (vec!["2"], vec!["0", "1", "2"]));
    assert_eq!(set("by"), ["0", "1"]);
    // `n` may have been 0 before it is set to 0, which then is no change.
    assert_eq!(set("this.n").last(), Some(&"1"));
    let frames: Vec<&str> = path.frames.iter().map(|frame| frame.function.as_str()).collect();
    assert_eq!(frames, ["Cell.count", "Cell.more", "Cell.more"]);
    assert_eq!((line(path.steps.last().unwrap()), path.steps.last().unwrap().failing), (10, true));
    // Paths that a bound cut off are told as such.
    assert!(document.reports.iter().any(|report| report.rule == "loop-bound" && !report.passed));
}

#[test]
fn other_engines_have_no_heap_to_report() {
    let run = heap(&corpus("queue.jl"), &["--engine", "lazy", "--report", "never.json"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("summary engine"));
}

/// What a bound left out is in the status and in every form of the answer, also where the path that it was left out on is
/// discarded: a list of three nodes is assumed, and two are looked at.
#[test]
fn what_is_left_out_is_said_in_every_form() {
    let text = "(class Node ([Node next]) ())
        (class List ([Node head]) ((bool run
          (var Node a := (this $ head) in (var Node b := null in (var Node c := null in (begin
            (assume (not (a = null))) (b := (a $ next)) (assume (not (b = null))) (c := (b $ next))
            (assume (not (c = null))) (assume (not (((a = b) or (b = c)) or (a = c)))) (assert false) true)))))
          (bool same (this @ run))))
        (List run)";
    let starved = written("starved", text);
    assert_eq!(heap(&starved, &["--k", "3"]).status.code(), Some(1));
    let left_out = "chain: input objects more than 2 pointers away (--k)";
    for engine in ["summary", "lazy", "lazier", "lazier#"] {
        let run = heap(&starved, &["--k", "2", "--engine", engine]);
        assert_eq!(run.status.code(), Some(4), "{engine}");
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(text.contains("0 paths") && text.contains(left_out), "{engine}: {text}");
    }
    for more in [&["--compare", "lazy"][..], &["--equivalent", "List.same"]] {
        let run = heap(&starved, &[&["--k", "2", "--json"][..], more].concat());
        assert_eq!(run.status.code(), Some(4), "{more:?}");
        let document: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!((&document["complete"], &document["left_out"][0]), (&false.into(), &left_out.into()));
    }
    let out = folder("left-out");
    for form in ["report.json", "report.sarif"] {
        let file = out.join(form);
        heap(&starved, &["--k", "2", "--report", file.to_str().unwrap()]);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(left_out), "{form}: {text}");
    }
}

/// Longer arrays are left out where they would make a difference, and so is what a loop would do beyond its bound.
#[test]
fn arrays_and_loops_are_bounds_too() {
    let text = "(class Box ([(array int) numbers] [int n])
        ((bool short (if ((this $ numbers) = null) true else
           (begin (assert ((length (this $ numbers)) < 8)) true)))
         (bool first (if ((this $ numbers) = null) true else ((length (this $ numbers)) < 2)))
         (bool many (var int i := 0 in (begin (while (i < 50) (i := (i + 1))) true)))
         (bool more (var int i := 0 in (begin (while (i < 50) (i := (i + 1))) false)))))
        (Box short)";
    let boxes = written("boxes", text);
    assert_eq!(heap(&boxes, &[]).status.code(), Some(4));
    assert_eq!(heap(&boxes, &["--array", "8"]).status.code(), Some(1));
    assert_eq!(heap(&boxes, &["--method", "Box.first"]).status.code(), Some(0));
    let pair = ["--method", "Box.many", "--equivalent", "Box.more"];
    assert_eq!(heap(&boxes, &pair).status.code(), Some(4));
    assert_eq!(heap(&boxes, &[&pair[..], &["--loop", "60"]].concat()).status.code(), Some(1));
    // A path that is cut off is not a difference.
    let run = heap(&boxes, &["--method", "Box.many", "--equivalent", "Box.first"]);
    assert_eq!(run.status.code(), Some(4));
}

/// Numbers alone are those of the whole answer.
#[test]
fn counts_without_paths() {
    let tree = corpus("tree.jl");
    let arguments = ["--repok", "repOK", "--k", "2", "--json"];
    let document = |more: &[&str]| -> serde_json::Value {
        let run = heap(&tree, &[&arguments[..], more].concat());
        serde_json::from_slice(&run.stdout).unwrap()
    };
    let (all, counts) = (document(&[]), document(&["--counts"]));
    for key in
        ["paths", "states", "heaps", "heaps_complete", "discarded", "complete", "left_out", "traces_unlisted"]
    {
        assert_eq!(all[key], counts[key], "{key}");
    }
    assert_eq!(counts["traces"], serde_json::json!([]));
    assert_ne!(all["traces"], counts["traces"]);
}
