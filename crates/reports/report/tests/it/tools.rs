//! Reports as the real tools make them, here and now, on the programs of `corpus/report`.
//!
//! `scripts/setup` installs the tools; a tool that is missing fails its test rather than passing it unseen.

use parallax_report::*;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::LazyLock;

static CORPUS: LazyLock<PathBuf> = LazyLock::new(|| {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/report").canonicalize().unwrap()
});
static SCRATCH: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("tools");
    std::fs::create_dir_all(&folder).unwrap();
    folder
});

/// Runs a tool in the corpus folder. The status says little: most tools report by failing.
fn run(program: &str, arguments: &[&str]) -> Output {
    let output =
        Command::new(program).args(arguments).current_dir(&*CORPUS).env("LC_ALL", "C.UTF-8").output();
    output.unwrap_or_else(|error| panic!("{program}: {error}; scripts/setup installs it"))
}

fn scratch(name: &str) -> String {
    SCRATCH.join(name).to_str().unwrap().to_owned()
}

/// Reads, and checks that the other formats bring back the same.
fn understand(bytes: &[u8], format: Format) -> Document {
    let text = String::from_utf8_lossy(bytes);
    assert_eq!(Format::sniff(&text), Some(format), "{text}");
    let document = read(bytes, "output").unwrap_or_else(|error| panic!("{error}\n{text}"));
    for written in [to_json(&document), to_pathreport(&document), to_sarif(&document)] {
        assert_eq!(read(written.as_bytes(), "again").as_ref(), Ok(&document));
    }
    document
}

fn read_scratch(name: &str, format: Format) -> Document {
    understand(&std::fs::read(scratch(name)).unwrap(), format)
}

/// The report whose title holds these words.
fn find<'a>(document: &'a Document, words: &str) -> &'a Report {
    let titles: Vec<_> = document.reports.iter().map(|report| &report.title).collect();
    document
        .reports
        .iter()
        .find(|report| report.title.contains(words))
        .unwrap_or_else(|| panic!("{words}: {titles:?}"))
}

/// Function and line of each step.
fn steps(path: &Path) -> Vec<(&str, u32)> {
    let line = |step: &Step| step.location.as_ref().and_then(|place| place.line).unwrap_or(0);
    path.steps.iter().map(|step| (path.frames[step.frame].function.as_str(), line(step))).collect()
}

fn functions(path: &Path) -> Vec<&str> {
    path.frames.iter().map(|frame| frame.function.as_str()).collect()
}

fn failing_line(report: &Report) -> u32 {
    let path = &report.paths[0];
    let step = &path.steps[path.failing_step().unwrap()];
    assert!(step.failing, "{report:?}");
    step.location.as_ref().unwrap().line.unwrap()
}

#[test]
fn clang_sarif_and_plist_agree() {
    let (sarif, plist) = (scratch("guests.sarif"), scratch("guests.plist"));
    run("clang-19", &["--analyze", "--analyzer-output", "sarif", "-o", &sarif, "guests.c"]);
    run("clang-19", &["--analyze", "--analyzer-output", "plist-multi-file", "-o", &plist, "guests.c"]);
    let (sarif, plist) =
        (read_scratch("guests.sarif", Format::Sarif), read_scratch("guests.plist", Format::Plist));
    assert_eq!(sarif.reports.len(), plist.reports.len());
    for document in [&sarif, &plist] {
        let report = find(document, "Use of memory after it is freed");
        assert_eq!(
            (&*report.tool.name, report.tool.version.as_deref().unwrap().split('.').next()),
            ("clang", Some("19"))
        );
        assert_eq!(report.rule, "unix.Malloc");
        assert_eq!(failing_line(report), 60);
        // The same calls, found in clang's words in one and in its depths in the other.
        assert_eq!(functions(&report.paths[0])[1..], ["add", "check_out", "drop"]);
        let path = &report.paths[0];
        assert_eq!((0..4).map(|frame| path.depth(frame)).collect::<Vec<_>>(), [0, 1, 1, 2]);
        assert_eq!(steps(path).last(), Some(&("check_out", 60)));
        assert_eq!(path.steps.last().unwrap().role, Role::Access);
        assert_eq!(failing_line(find(document, "Potential leak")), 70);
    }
    assert_eq!(find(&plist, "Use of memory").paths[0].frames[0].function, "main");
    let taken = |document: &Document, line| {
        let path = &find(document, "Potential leak").paths[0];
        path.steps
            .iter()
            .find(|step| step.location.as_ref().unwrap().line == Some(line) && step.taken.is_some())
            .unwrap()
            .taken
    };
    assert_eq!(taken(&sarif, 69), Some(true));
    assert_eq!(taken(&sarif, 67), Some(false));
    let places: Vec<_> =
        plist.reports.iter().map(|report| report.location.as_ref().unwrap().file.as_str()).collect();
    assert_eq!(places, ["guests.c", "guests.c"]);
}

#[test]
fn gcc_analyzer() {
    let output =
        run("gcc", &["-c", "-o", "/dev/null", "-fanalyzer", "-fdiagnostics-format=json", "guests.c"]);
    let document = understand(&output.stderr, Format::Gcc);
    let null = find(&document, "dereference of NULL");
    assert_eq!((&*null.rule, &*null.cwe), ("analyzer-null-dereference", &[476][..]));
    let want = [("move", 39), ("move", 40), ("move", 44), ("set_room", 34), ("set_room", 35)];
    assert_eq!(steps(&null.paths[0]), want);
    assert_eq!(null.paths[0].steps[1].values, [Binding { name: "g".into(), value: "NULL".into() }]);
    let freed = find(&document, "use after");
    assert_eq!(functions(&freed.paths[0]), ["check_out", "drop"]);
    assert_eq!(steps(&freed.paths[0]).last(), Some(&("check_out", 60)));
    // Other lines on stderr, and several arrays, as a build gives them.
    let mut log = b"make: Entering directory 'x'\n".to_vec();
    log.extend_from_slice(&output.stderr);
    log.extend_from_slice(b"cc1: note\n[]\n");
    log.extend_from_slice(&output.stderr);
    assert_eq!(understand(&log, Format::Gcc).reports.len(), 2 * document.reports.len());
}

#[test]
fn cppcheck() {
    let output = run("cppcheck", &["--xml", "--enable=warning", "guests.c"]);
    let document = understand(&output.stderr, Format::Cppcheck);
    let null = find(&document, "Possible null pointer dereference: g");
    let want = [("", 40), ("", 42), ("", 44), ("set_room", 35)];
    assert_eq!(steps(&null.paths[0]), want);
    assert_eq!(null.paths[0].steps[1].taken, Some(false));
    assert_eq!(null.cwe, [476]);
}

#[test]
fn valgrind() {
    let program = scratch("guests-valgrind");
    run("gcc", &["-g", "-O0", "-o", &program, "guests.c"]);
    let xml = format!("--xml-file={}", scratch("leave.xml"));
    run("valgrind", &["-q", "--xml=yes", &xml, "--leak-check=full", &program, "leave"]);
    let document = read_scratch("leave.xml", Format::Valgrind);
    let report = find(&document, "Invalid read of size 4");
    assert_eq!(report.paths.len(), 3);
    assert_eq!(steps(&report.paths[0]), [("main", 83), ("check_out", 60)]);
    assert_eq!(steps(&report.paths[1])[..3], [("main", 83), ("check_out", 59), ("drop", 49)]);
    assert!(report.paths[1].label.contains("free'd"));
    assert_eq!(report.paths[0].steps[1].access, Some(AccessMode::Read));
    assert_eq!(report.location.as_ref().unwrap().file, CORPUS.join("guests.c").to_str().unwrap());
    assert!(report.paths.iter().all(|path| path.kind == PathKind::Stack));
    // The text says the same, but for the folders of the files.
    let output = run("valgrind", &["--leak-check=full", &program, "leave"]);
    let text = understand(&output.stderr, Format::ValgrindText);
    let told = find(&text, "Invalid read of size 4");
    assert_eq!((&told.rule, &told.tool), (&report.rule, &report.tool));
    let lines = |report: &Report| {
        report
            .paths
            .iter()
            .map(|path| {
                steps(path).into_iter().map(|(name, line)| (name.to_owned(), line)).collect::<Vec<_>>()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(told), lines(report));
}

/// Helgrind and ThreadSanitizer see the same race: two paths from `main`, one of them through the creation of the thread.
#[test]
fn races_lead_from_main_through_the_creation_of_the_thread() {
    let (plain, checked) = (scratch("tally"), scratch("tally-tsan"));
    run("gcc", &["-g", "-O0", "-pthread", "-o", &plain, "tally.c"]);
    let xml = format!("--xml-file={}", scratch("tally.xml"));
    run("valgrind", &["-q", "--tool=helgrind", "--xml=yes", &xml, &plain]);
    let text = run("valgrind", &["--tool=helgrind", &plain]);
    run("clang-19", &["-g", "-O0", "-fsanitize=thread", "-o", &checked, "tally.c"]);
    // ThreadSanitizer sees a race on most runs, not on every one.
    let said = (0..50).map(|_| run(&checked, &[])).find(|output| !output.stderr.is_empty());
    let thread = said.expect("a race that is seen once in fifty runs");
    for document in [
        read_scratch("tally.xml", Format::Valgrind),
        understand(&text.stderr, Format::ValgrindText),
        understand(&thread.stderr, Format::Sanitizer),
    ] {
        let report = find(&document, "data race");
        assert_eq!(report.cwe, [362], "{}", report.tool.name);
        let mut paths: Vec<_> = report.paths[..2].iter().map(steps).collect();
        paths.sort_by_key(Vec::len);
        assert_eq!(paths[0], [("main", 21), ("count", 8)], "{}", report.tool.name);
        assert_eq!(paths[1], [("main", 19), ("clerk", 12), ("count", 8)], "{}", report.tool.name);
        for path in &report.paths[..2] {
            let last = path.steps.last().unwrap();
            assert!(last.failing && last.access.is_some(), "{}: {last:?}", report.tool.name);
            let threads = path.frames.iter().filter(|frame| frame.thread.is_some()).count();
            assert_eq!(threads, usize::from(path.steps.len() == 3));
        }
    }
}

#[test]
fn gdb() {
    let program = scratch("guests-gdb");
    run("gcc", &["-g", "-O0", "-o", &program, "guests.c"]);
    let output = run(
        "gdb",
        &["-nx", "-batch", "-ex", "run", "-ex", "bt", "-ex", "bt full", "--args", &program, "move"],
    );
    let document = understand(&output.stdout, Format::Gdb);
    let report = find(&document, "Segmentation fault");
    assert_eq!(report.paths.len(), 1, "bt full says again what bt says");
    let path = &report.paths[0];
    assert_eq!(steps(path), [("main", 81), ("move", 44), ("set_room", 35)]);
    let values: Vec<_> = path.steps[1].values.iter().map(|value| (&*value.name, &*value.value)).collect();
    assert_eq!((values[1], values[2]), (("room", "3"), ("g", "0x0")));
    assert!(values[0].1.ends_with("\"Nobody\""));
}

#[test]
fn address_undefined_and_leak_sanitizers() {
    let program = scratch("guests-asan");
    run("gcc", &["-g", "-O0", "-fsanitize=address,undefined", "-o", &program, "guests.c"]);
    let document = understand(&run(&program, &["leave"]).stderr, Format::Sanitizer);
    let report = find(&document, "heap-use-after-free in check_out");
    assert_eq!(steps(&report.paths[0]), [("main", 83), ("check_out", 60)]);
    assert_eq!(steps(&report.paths[1]), [("main", 83), ("check_out", 59), ("drop", 49)]);
    assert_eq!(steps(&report.paths[2]), [("main", 79), ("add", 24)]);
    assert_eq!(report.paths[0].steps[1].access, Some(AccessMode::Read));
    let document = understand(&run(&program, &["move"]).stderr, Format::Sanitizer);
    assert_eq!(failing_line(find(&document, "member access within null pointer")), 35);
    assert_eq!(steps(&find(&document, "SEGV").paths[0]), [("main", 81), ("move", 44), ("set_room", 35)]);
}

#[test]
fn thread_sanitizer_finds_the_race_of_the_marked_up_report() {
    let program = scratch("ladle-tsan");
    let sources =
        ["main.c", "fetch.c", "meter.c", "progress.c", "state.c"].map(|file| format!("ladle/{file}"));
    let mut arguments = vec!["-g", "-O0", "-pthread", "-fsanitize=thread", "-o", &program];
    arguments.extend(sources.iter().map(String::as_str));
    run("gcc", &arguments);
    std::fs::write(scratch("payload"), vec![7u8; 4 << 20]).unwrap();
    // The bar is drawn only on a terminal, which `script` is.
    let command = format!("cd '{}' && '{program}' -n 4 payload", SCRATCH.display());
    let output = run("script", &["-qec", &command, "/dev/null"]);
    let document = understand(&output.stdout, Format::Sanitizer);
    let report = find(&document, "data race on window_bytes");
    for path in &report.paths {
        let last = path.steps.last().unwrap();
        assert!(last.failing && last.access.is_some());
        assert_eq!(last.state[0], Binding { name: "locks held".into(), value: "none".into() });
        // From main, through the creation of the thread, to the access.
        assert_eq!(path.frames[0].function, "main");
        assert!(path.frames.iter().any(|frame| frame.thread.is_some()), "{path:?}");
    }
    assert!(report.paths.len() >= 2);
}

#[test]
fn python_and_rust() {
    std::fs::write(
        scratch("rooms.py"),
        "def room(g):\n    return g['room']\ndef move(g):\n    try:\n        room(g)\n    except TypeError as e:\n        raise ValueError('no guest') from e\nmove(None)\n",
    )
    .unwrap();
    let document = understand(&run("python3", &[&scratch("rooms.py")]).stderr, Format::Python);
    assert_eq!(document.reports.len(), 1, "causes belong together");
    let report = find(&document, "ValueError: no guest");
    assert_eq!(steps(&report.paths[0]), [("move", 5), ("room", 2)]);
    assert_eq!(steps(&report.paths[1]), [("<module>", 8), ("move", 7)]);

    std::fs::write(
        scratch("rooms.rs"),
        "fn room(g: Option<u32>) -> u32 {\n    g.unwrap()\n}\nfn main() {\n    room(None);\n}\n",
    )
    .unwrap();
    let program = scratch("rooms-rust");
    run("rustc", &["-g", "-o", &program, &scratch("rooms.rs")]);
    let panic = |level: &str| Command::new(&program).env("RUST_BACKTRACE", level).output().unwrap().stderr;
    let document = understand(&panic("1"), Format::Rust);
    let report = find(&document, "called `Option::unwrap()` on a `None` value");
    assert_eq!(steps(&report.paths[0]), [("rooms::main", 5), ("rooms::room", 2)]);
    let document = understand(&panic("0"), Format::Rust);
    assert_eq!(failing_line(find(&document, "called `Option::unwrap()`")), 2);
}
