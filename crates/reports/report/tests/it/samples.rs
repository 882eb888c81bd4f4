//! The hand-made reports of `corpus/report`, read and looked at: tools that are not to be had here, after their
//! documented formats, and the figures of the thesis on programs of our own.

use parallax_report::*;
use std::path::PathBuf;

fn open(name: &str) -> Document {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/report").join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let document = read(&bytes, name).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(document.notes, Vec::<String>::new(), "{name}");
    document
}

/// A path as its functions and lines, indented by depth.
fn outline(path: &Path) -> String {
    let mut out = String::new();
    let mut depth = 0;
    for event in path.outline() {
        match event {
            Outline::Open(frame) => {
                out.push_str(&format!("{}{}\n", "  ".repeat(depth), path.frames[frame].function));
                depth += 1;
            }
            Outline::Close(_) => depth -= 1,
            Outline::Step(index) => {
                let step = &path.steps[index];
                let line = step
                    .location
                    .as_ref()
                    .and_then(|place| place.line)
                    .map_or("-".into(), |line| line.to_string());
                let values: String =
                    step.values.iter().map(|value| format!(" {}={}", value.name, value.value)).collect();
                let failing = if step.failing { " !" } else { "" };
                out.push_str(&format!("{}{line}{values}{failing}\n", "  ".repeat(depth)));
            }
        }
    }
    out
}

fn same(path: &Path, want: &str) {
    let margin = want.lines().nth(1).map_or(0, |line| line.len() - line.trim_start().len());
    let want: String = want
        .lines()
        .skip(1)
        .map(|line| format!("{}\n", line.get(margin..).unwrap_or("").trim_end()))
        .collect();
    assert_eq!(outline(path), want.trim_end_matches('\n').to_owned() + "\n");
}

#[test]
fn locksmith_on_ladle() {
    let document = open("ladle/race.locksmith");
    let report = &document.reports[0];
    assert_eq!(report.title, "Possible data race: window_bytes is not protected");
    same(
        &report.paths[0],
        "
        
          81
          ticker_main
            84
            on_tick
              65
              draw_bar
                45
                meter_rate
                  50 !",
    );
    same(
        &report.paths[1],
        "
        
          85
          resume_download
            99
            worker_main
              45
              part_fetch
                35
                part_drain
                  25
                  meter_add
                    28 !",
    );
    let threads: Vec<_> = report
        .paths
        .iter()
        .flat_map(|path| &path.frames)
        .filter_map(|frame| frame.thread.as_deref())
        .collect();
    assert_eq!(threads, ["T1", "T2"]);
    assert_eq!(document.reports[1].paths[0].frames[2].function, "");
}

#[test]
fn the_marked_up_report_says_the_same_and_more() {
    let document = open("ladle/race.xml");
    let report = &document.reports[0];
    assert_eq!(report.paths.len(), 2);
    same(
        &report.paths[0],
        "
        main
          80 show_progress=1
          81
          ticker_main
            81
            83 sig=14
            84
            on_tick
              64 width=80
              65
              draw_bar
                45
                meter_rate
                  45 dt=1.0
                  50 !",
    );
    let last = report.paths[1].steps.last().unwrap();
    assert_eq!((last.role, last.access), (Role::Access, Some(AccessMode::ReadWrite)));
    assert_eq!(last.message, "read and write, no lock held");
    assert_eq!(last.location.as_ref().unwrap().end_column, Some(21));
    let plain = open("ladle/race.locksmith");
    let calls = |path: &Path| -> Vec<_> {
        let calls = path.steps.iter().filter(|step| step.role == Role::Call);
        calls.map(|step| step.location.clone().unwrap()).collect()
    };
    for (marked, told) in report.paths.iter().zip(&plain.reports[0].paths) {
        assert_eq!(calls(marked), calls(told));
    }
    let text = report.plain_text();
    assert!(
        text.starts_with("Warning: Possible data race: window_bytes:meter.c:10 is not protected!\n"),
        "{text}"
    );
    assert!(text.contains("main.c:81  FORK ticker_main\n"), "{text}");
    assert!(report.text.iter().any(|segment| segment.link == Some(Link::Related(0))));
}

#[test]
fn the_lines_of_ladle_are_what_the_reports_say() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/report/ladle");
    for report in open("ladle/race.xml").reports.iter().chain(&open("ladle/race.locksmith").reports) {
        for path in &report.paths {
            for (index, step) in path.steps.iter().enumerate() {
                let place = step.location.as_ref().unwrap();
                let source = std::fs::read_to_string(root.join(&place.file)).unwrap();
                let line = source.lines().nth(place.line.unwrap() as usize - 1).unwrap();
                let callee = path.callee(index).map_or("", |frame| path.frames[frame].function.as_str());
                assert!(
                    line.contains(callee),
                    "{}:{:?}: {line:?} does not call {callee}",
                    place.file,
                    place.line
                );
                if step.role == Role::Branch {
                    assert!(["if", "for", "while"].iter().any(|word| line.contains(word)), "{line:?}");
                }
            }
        }
    }
}

#[test]
fn blast_on_the_lift() {
    let document = open("lift.blast");
    same(
        &document.reports[0].paths[0],
        "
        main
          -
          __BLAST_initialize_lift.i
            - level=0 top=0
            -
          32
          initialize
            9 level=0
            10 top=9
            11
          33
          35
          36
          38
          travel
            22
            24
            distance
              14
              15
            25
            26
          39
          39 !",
    );
}

#[test]
fn cbmc_and_esbmc_on_the_lift() {
    let document = open("samples/cbmc.json");
    assert_eq!(document.reports.len(), 1, "what holds is no report");
    let report = &document.reports[0];
    assert_eq!((&*report.tool.name, report.tool.version.as_deref()), ("CBMC", Some("6.4.1")));
    same(
        &report.paths[0],
        "
        main
          29 argc=2
          32
          initialize
            8
            10 top=9
          35 wanted=9
          38
          travel
            19
            24
            distance
              13
            24 steps=9
          39 !",
    );
    let document = open("samples/esbmc.json");
    same(
        &document.reports[0].paths[0],
        "
        initialize
          9 level=0
          10 top=9
        main
          35 wanted=9
          -
          travel
            24 steps=9
          39 moved <= 8=false !",
    );
}

#[test]
fn infer_and_klee_on_the_guests() {
    let document = open("samples/infer.json");
    same(
        &document.reports[0].paths[0],
        "
        move
          40
          44
          set_room
            34
            35 !",
    );
    let race = &document.reports[1];
    assert_eq!(race.paths.iter().map(|path| &*path.label).collect::<Vec<_>>(), ["Write trace", "Read trace"]);
    assert_eq!(race.paths[1].frames[1].function, "meter_add");
    let document = open("samples/klee.err");
    same(
        &document.reports[0].paths[0],
        "
        main
          81 argc=2 argv=94571
          move
            44 name=94571 room=symbolic
            set_room
              35 g=0 room=symbolic !",
    );
}

#[test]
fn every_sample_survives_every_format() {
    for name in [
        "ladle/race.locksmith",
        "ladle/race.xml",
        "lift.blast",
        "samples/cbmc.json",
        "samples/esbmc.json",
        "samples/infer.json",
        "samples/klee.err",
    ] {
        let document = open(name);
        for text in [to_json(&document), to_pathreport(&document), to_sarif(&document)] {
            assert_eq!(read(text.as_bytes(), name).as_ref(), Ok(&document));
        }
    }
}
