//! Whole pages: from documents and folders of sources to HTML, with hostile input of every kind.

use parallax_report::{
    Document, Excerpt, Frame, Link, Location, PathBuilder, Related, Report, Role, Segment, Step, Suppression,
};
use parallax_view::checklist::Checklists;
use parallax_view::page::Page;
use parallax_view::serve::{BadRequest, Request, Response, Service, Store};
use parallax_view::triage::{Answer, Record, Triage};
use parallax_view::{Input, Progress, Roots, build, html};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

fn ladle() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/report/ladle")
}

fn page_of(document: Document, roots: &[&Path]) -> Page {
    build(input(document, roots), &mut |_| ())
}

fn input(document: Document, roots: &[&Path]) -> Input {
    Input {
        document,
        roots: Roots::new(roots).unwrap(),
        name: "test".into(),
        made: 0,
        author: "mk".into(),
        checklists: Checklists::with(Vec::new()),
        triage: Triage::default(),
        written: None,
        project: "p".into(),
        editor: None,
        against: None,
    }
}

#[test]
fn building_says_how_far_it_is() {
    let mut said = Vec::new();
    build(input(race(), &[&ladle()]), &mut |progress| said.push(progress));
    assert_eq!(said[0], Progress::Reports(0, 1));
    let files = std::fs::read_dir(ladle()).unwrap().count();
    let counts: Vec<_> = said[1..]
        .iter()
        .map(|progress| match progress {
            Progress::Definitions(done, all) if *all <= files => *done,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(counts.len() > 4 && counts.is_sorted(), "{counts:?}");
}

fn document(reports: Vec<Report>) -> Document {
    Document { reports, ..Document::default() }
}

fn with_path(path: PathBuilder) -> Report {
    Report { title: "t".into(), paths: vec![path.finish()], ..Report::default() }
}

fn race() -> Document {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/view/race.json");
    parallax_report::read(&std::fs::read(file).unwrap(), "race.json").unwrap()
}

#[test]
fn the_race_reads_across_files() {
    let page = page_of(race(), &[&ladle()]);
    let path = &page.reports[0].paths[1];
    let functions: Vec<_> = path.frames.iter().map(|frame| frame.function.as_str()).collect();
    assert_eq!(
        functions,
        ["main", "resume_download", "worker_main", "part_fetch", "part_drain", "meter_add"]
    );
    let files: Vec<_> =
        path.frames.iter().map(|frame| page.files[frame.file.unwrap()].name.as_str()).collect();
    assert_eq!(files, ["main.c", "fetch.c", "fetch.c", "fetch.c", "fetch.c", "meter.c"]);
    // Each box is in the one before, and the access is in the innermost.
    assert_eq!(path.roots, [0]);
    assert_eq!(path.frames[5].items, [11, 12]);
    assert_eq!(page.checklists[page.reports[0].checklist].name, "race");
    // A macro that no file on the path defines comes from the header beside them.
    let tries = page.definitions.iter().find(|definition| definition.name == "MAX_TRIES").unwrap();
    assert_eq!((tries.file.as_str(), tries.kind), ("ladle.h", "macro"));
    assert!(tries.chunk.lines[0].starts_with("#define MAX_TRIES"));
    // Only what boxes show, and definitions of names in them, is on the page.
    assert!(!html::render(&page).contains("parse_count(const char"));
}

#[test]
fn flat_reports_get_their_boxes_from_the_source() {
    let mut path = PathBuilder::new("");
    // The first line names worker_main, where the second is; part_drain is in no relation to either.
    path.step(Step::new(Role::Note, "fetch.c", 99));
    path.step(Step::new(Role::Note, "fetch.c", 44));
    path.step(Step::new(Role::Note, "fetch.c", 12));
    path.step(Step::new(Role::Note, "fetch.c", 97));
    let page = page_of(document(vec![with_path(path)]), &[&ladle()]);
    let shape: Vec<_> =
        page.reports[0].paths[0].frames.iter().map(|f| (f.function.as_str(), f.items.clone())).collect();
    assert_eq!(
        shape,
        [
            ("resume_download", vec![0, -2]),
            ("worker_main", vec![1]),
            ("part_drain", vec![2]),
            ("resume_download", vec![3]),
        ]
    );
    assert_eq!(page.reports[0].paths[0].roots, [0, 2, 3]);
}

#[test]
fn missing_sources_and_lines_beyond_the_end_still_read() {
    let mut path = PathBuilder::new("");
    path.enter(Frame::new("main", "main.c"));
    path.step(Step::call("main.c", 4_000_000_000).with_message("far away"));
    path.enter(Frame::new("gone", "nowhere/gone.c"));
    path.step(Step::new(Role::Access, "nowhere/gone.c", 7).with_value("p", "NULL").failing());
    path.step(Step::at(Role::Note, None).with_message("no place at all"));
    let page = page_of(document(vec![with_path(path)]), &[&ladle()]);
    let path = &page.reports[0].paths[0];
    assert_eq!(path.steps.len(), 3);
    assert_eq!(path.steps[1].line, Some(7));
    let gone = &page.files[path.frames[1].file.unwrap()];
    assert_eq!(gone.missing.as_deref(), Some("not found below the source folders"));
    // Without any source it is the same path.
    let bare = page_of(race(), &[]);
    assert_eq!(bare.reports[0].paths[0].steps.len(), 10);
    assert!(bare.files.iter().all(|file| file.missing.is_some() && file.chunks.is_empty()));
}

/// What a report quotes of files that are not there is shown, line by line in its place, and names its functions.
#[test]
fn source_that_comes_with_the_report_is_shown_where_there_is_no_other() {
    let excerpt = |file: &str, line: u32, text: &str| Excerpt { file: file.into(), line, text: text.into() };
    let mut path = PathBuilder::new("");
    path.step(Step::new(Role::Note, "gone/all.c", 5));
    path.step(Step::new(Role::Note, "gone/all.c", 2));
    path.step(Step::new(Role::Note, "gone/some.py", 40).failing());
    path.step(Step::new(Role::Note, "main.c", 80));
    let mut document = document(vec![with_path(path)]);
    document.excerpts = vec![
        excerpt(
            "gone/all.c",
            1,
            "int inner(void) {\n  return 1;\n}\nint outer(void) {\n  return inner();\n}\n",
        ),
        excerpt("gone/some.py", 39, "def f(x):\n    eval(x)"),
        excerpt("gone/some.py", 40, "    eval"),
        excerpt("gone/some.py", 4_000_000_000, "far away"),
        excerpt("main.c", 80, "not what the file says"),
    ];
    let page = page_of(document, &[&ladle()]);
    let frames: Vec<_> = page.reports[0].paths[0]
        .frames
        .iter()
        .map(|frame| (frame.function.as_str(), frame.items.clone()))
        .collect();
    let want = [("outer", vec![0, -2]), ("inner", vec![1]), ("f", vec![2]), ("main", vec![3])];
    assert_eq!(frames, want);
    let lines = |name: &str| -> Vec<&str> {
        let file = page.files.iter().find(|file| file.name == name).unwrap();
        file.chunks.iter().flat_map(|chunk| chunk.lines.iter().map(String::as_str)).collect()
    };
    assert_eq!(lines("gone/all.c")[4], "  return inner();");
    assert_eq!(lines("gone/some.py"), ["def f(x):", "    eval(x)"]);
    assert!(lines("main.c").iter().all(|line| !line.contains("not what")), "a file that is there counts");
}

#[test]
fn a_report_without_paths_shows_its_place() {
    let report = Report { location: Some(Location::line("meter.c", 28)), ..Report::default() };
    let page = page_of(document(vec![report, Report::default()]), &[&ladle()]);
    assert_eq!(page.reports[0].paths[0].frames[0].function, "meter_add");
    assert!(page.reports[1].paths.is_empty());
    assert_eq!(page.reports[1].title, "Untitled report");
}

#[test]
fn a_crowded_folder_does_not_cost_a_path_its_definitions() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..4_100 {
        std::fs::write(folder.path().join(format!("{number}.txt")), "").unwrap();
    }
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    std::fs::write(folder.path().join("deep/a.c"), "#define N 3\nint f(void) {\n  return N;\n}\n").unwrap();
    let mut path = PathBuilder::new("");
    path.step(Step::new(Role::Note, "deep/a.c", 3));
    let page = page_of(document(vec![with_path(path)]), &[folder.path()]);
    assert_eq!(page.definitions.iter().map(|definition| definition.name.as_str()).collect::<Vec<_>>(), ["N"]);
    assert!(page.notes.iter().any(|note| note.contains("there are too many")), "{:?}", page.notes);
}

#[cfg(unix)]
#[test]
fn nothing_outside_the_roots_reaches_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("src");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(folder.path().join("secret.c"), "int SECRET_MARK;\n").unwrap();
    std::fs::write(root.join("a.c"), "int f(void) {\n  return SECRET_MARK;\n}\n").unwrap();
    std::os::unix::fs::symlink(folder.path().join("secret.c"), root.join("link.c")).unwrap();
    let absolute = folder.path().join("secret.c").to_string_lossy().into_owned();
    let mut path = PathBuilder::new("");
    for file in ["../secret.c", "link.c", "./x/../../secret.c", &absolute, "/etc/hostname"] {
        path.step(Step::new(Role::Note, file, 1));
    }
    path.step(Step::new(Role::Note, "a.c", 2));
    let mut report = with_path(path);
    report.related = vec![Related { location: Location::line("../secret.c", 1), message: String::new() }];
    let text = html::render(&page_of(document(vec![report]), &[&root]));
    assert!(text.contains("return SECRET_MARK"), "the harmless file is there");
    assert!(!text.contains("int SECRET_MARK"), "the definition outside is not");
}

/// The data of a page: where text of a report could break out.
fn data_of(text: &str) -> &str {
    let start = text.find("id=\"page\">").unwrap() + 10;
    &text[start..start + text[start..].find("</script>").unwrap()]
}

#[test]
fn hostile_text_stays_text() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)><!-- \u{2028} ]]> & \" '";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("e.c"), format!("int f() {{\n // {evil}\n}}\n")).unwrap();
    let mut path = PathBuilder::new(evil);
    path.enter(Frame::new(evil, "e.c").in_thread(evil));
    path.step(
        Step::new(Role::Note, "e.c", 2).with_message(evil).with_value(evil, evil).with_state(evil, evil),
    );
    path.step(Step::new(Role::Note, evil, 2));
    let report = Report {
        title: evil.into(),
        rule: evil.into(),
        text: vec![
            Segment::plain(evil),
            Segment { text: evil.into(), link: Some(Link::Url("javascript:alert(3)".into())) },
        ],
        paths: vec![path.finish()],
        suppressions: vec![Suppression { justification: evil.into(), ..Suppression::default() }],
        ..Report::default()
    };
    let mut document = document(vec![report]);
    document.tidy();
    let text = html::render(&page_of(document, &[folder.path()]));
    let data = data_of(&text);
    assert!(!data.contains('<') && !data.contains("javascript:"));
    let page: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(page["reports"][0]["rule"], evil);
    assert!(!text.contains("<img") && !text.contains("<script>alert"));
    assert_eq!(text.matches("</script>").count(), 2);
    assert!(text.contains("default-src 'none'; script-src 'sha256-"));
    assert!(!text.contains("unsafe-inline") && !text.contains("unsafe-eval"));
}

fn served() -> Service {
    Service::new(page_of(race(), &[&ladle()]), "secret".into(), 4711)
}

fn request(method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Request {
    let head: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let text = format!("{method} {target} HTTP/1.1\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len());
    Request::read(text.as_bytes()).unwrap().unwrap()
}

#[test]
fn the_server_answers_its_own_page_only() {
    let mut service = served();
    let host = ("Host", "127.0.0.1:4711");
    let mut status = |request: &Request| service.respond(request, &mut Memory::default()).status;
    assert_eq!(status(&request("GET", "/?token=secret", &[host], "")), 200);
    assert_eq!(status(&request("GET", "/", &[host], "")), 403);
    assert_eq!(status(&request("GET", "/?token=secreT", &[host], "")), 403);
    assert_eq!(status(&request("GET", "/?token=secret", &[("Host", "evil.example:4711")], "")), 403);
    assert_eq!(status(&request("GET", "/?token=secret", &[], "")), 403);
    let origin = ("Origin", "http://evil.example");
    assert_eq!(status(&request("GET", "/?token=secret", &[host, origin], "")), 403);
    assert_eq!(status(&request("GET", "/../../etc/passwd", &[host], "")), 404);
    assert_eq!(status(&request("DELETE", "/triage", &[host], "")), 405);
}

#[test]
fn answers_are_kept_if_they_are_answers() {
    let mut service = served();
    let mut store = Memory::default();
    let key = page_of(race(), &[&ladle()]).reports[0].fingerprint.clone();
    let answer =
        Answer { id: "t.1".into(), field: "verdict".into(), value: "true".into(), ..Answer::default() };
    let record = |answer: &Answer| Record { answers: vec![answer.clone()], ..Record::default() };
    let body = |key: &str, record: Record| serde_json::json!({ "records": { key: record } }).to_string();
    let good = body(&key, record(&answer));
    let host = ("Host", "localhost:4711");
    let own = ("Origin", "http://localhost:4711");
    let token = ("X-Parallax-Token", "secret");
    let post = |headers: &[(&str, &str)], body: &str| request("POST", "/triage", headers, body);
    let mut status = |request: &Request, store: &mut Memory| service.respond(request, store).status;
    assert_eq!(status(&post(&[host, own], &good), &mut store), 403);
    assert_eq!(status(&post(&[host, own, token], "{}"), &mut store), 400);
    assert_eq!(status(&post(&[host, own, token], &body("unknown", record(&answer))), &mut store), 404);
    let long = Answer { value: "x".repeat(70_000), ..answer.clone() };
    assert_eq!(status(&post(&[host, own, token], &body(&key, record(&long))), &mut store), 413);
    store.broken = true;
    assert_eq!(status(&post(&[host, own, token], &good), &mut store), 500);
    store.broken = false;
    assert!(store.triage.records.is_empty());
    // What another server has written meanwhile is told with the answer.
    let other = Answer { id: "s.1".into(), value: "false".into(), ..answer.clone() };
    store.triage.records.insert(key.clone(), record(&other));
    let told = service.respond(&post(&[host, own, token], &good), &mut store);
    assert_eq!(told.status, 200);
    let told: serde_json::Value = serde_json::from_slice(&told.body).unwrap();
    assert_eq!(told["records"][&key]["answers"].as_array().unwrap().len(), 2);
    assert_eq!(store.triage.records[&key].answers, [other.clone(), answer]);
    assert!(
        store.triage.records[&key].identity.is_some(),
        "what the report is known by is kept with its answers"
    );
    // A file that was written over lacks what is known here; one that has more lacks nothing.
    assert!(service.lost(&store.triage).records.is_empty());
    let mut more = store.triage.clone();
    let third = Answer { id: "s.2".into(), field: "note".into(), ..other.clone() };
    more.records.get_mut(&key).unwrap().merge(record(&third));
    assert!(service.lost(&more).records.is_empty());
    let lost = service.lost(&Triage::default());
    assert_eq!(lost.records.keys().collect::<Vec<_>>(), [&key], "reports without answers are not missed");
    let mut over = Triage { records: [(key.clone(), record(&other))].into(), ..Triage::default() };
    let lost = service.lost(&over);
    over.merge(lost);
    assert_eq!(over.records[&key].answers, store.triage.records[&key].answers);
    // The page that is served next knows them.
    let page = service.respond(&request("GET", "/?token=secret", &[host], ""), &mut store);
    assert!(String::from_utf8(page.body).unwrap().contains("\"id\":\"s.1\""));
}

/// A store that forgets when the test ends.
#[derive(Default)]
struct Memory {
    triage: Triage,
    broken: bool,
}

impl Store for Memory {
    fn read(&mut self) -> Result<Triage, String> {
        Ok(self.triage.clone())
    }

    fn merge(&mut self, answers: Triage) -> Result<Triage, String> {
        if self.broken {
            return Err("cannot save".into());
        }
        self.triage.merge(answers);
        Ok(self.triage.clone())
    }
}

#[test]
fn bytes_that_are_no_request_are_refused_within_bounds() {
    assert_eq!(Request::read(b"GET / HTTP/1.1\r\nHost: x\r\n"), Ok(None));
    assert_eq!(Request::read(b"hello\r\n\r\n"), Err(BadRequest::Malformed));
    assert_eq!(Request::read(b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"), Err(BadRequest::Malformed));
    assert_eq!(Request::read(&vec![b'a'; 20_000]), Err(BadRequest::TooLarge));
    let huge = b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n";
    assert_eq!(Request::read(huge), Err(BadRequest::TooLarge));
    assert!(Response::to_bad(BadRequest::TooLarge).write().starts_with(b"HTTP/1.1 413 "));
}

fn any_step() -> impl Strategy<Value = (u8, &'static str, u32)> {
    let files = prop::sample::select(vec!["main.c", "fetch.c", "meter.c", "none.c", "../x", ""]);
    (0u8..4, files, 0u32..130)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a report says, every step is in exactly one box, and a box shows lines that exist and are on the page.
    #[test]
    fn every_step_is_on_the_page_once(moves in prop::collection::vec(any_step(), 0..60)) {
        let mut path = PathBuilder::new("");
        for (what, file, line) in &moves {
            match what {
                0 => path.enter(Frame::new(if line % 2 == 0 { "main" } else { "" }, *file)),
                1 => path.leave(),
                _ => { path.step(Step::new(Role::Note, *file, *line)); }
            }
        }
        let page = page_of(document(vec![with_path(path)]), &[&ladle()]);
        for path in &page.reports[0].paths {
            let mut seen = Vec::new();
            let mut pending = path.roots.clone();
            while let Some(at) = pending.pop() {
                let frame = &path.frames[at];
                for &item in &frame.items {
                    if item < 0 { pending.push((-1 - item) as usize) } else { seen.push(item as usize) }
                }
                if let (Some(file), Some((first, last))) = (frame.file, frame.lines) {
                    let file = &page.files[file];
                    prop_assert!(1 <= first && first <= last && last <= file.lines);
                    let shown = |line| file.chunks.iter().any(|chunk| {
                        chunk.first <= line && line < chunk.first + chunk.lines.len() as u32
                    });
                    prop_assert!(shown(first) && shown(last));
                }
            }
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..path.steps.len()).collect::<Vec<_>>());
        }
        html::render(&page);
    }
}
