//! Reports as tools and those around them really write them: in every encoding, with line ends of Windows, in logs of build
//! servers, of old and new versions, with parts that most files do not have. Each is read without a panic, loses nothing
//! without a word, and leads to the right places.

use parallax_report::loss::Loss;
use parallax_report::*;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/report/strange")
}

fn base(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn place(location: &Option<Location>) -> String {
    location.as_ref().map_or("-".to_owned(), |at| match at.line {
        Some(line) => format!("{}:{line}", base(&at.file)),
        None => base(&at.file).to_owned(),
    })
}

/// What a reader must see: title and place, and of each path its label, its frames as brackets, and its lines.
fn told(document: &Document) -> String {
    let mut out = String::new();
    for report in &document.reports {
        let rule = if report.rule.is_empty() { "-" } else { &report.rule };
        out.push_str(&format!("{rule} at {}: {}\n", place(&report.location), report.title));
        for path in &report.paths {
            let mut line = format!("  {}:", path.label);
            for event in path.outline() {
                match event {
                    Outline::Open(frame) => {
                        let frame = &path.frames[frame];
                        let thread =
                            frame.thread.as_ref().map_or(String::new(), |thread| format!("{thread}="));
                        line.push_str(&format!(" {thread}{}(", frame.function));
                    }
                    Outline::Close(_) => line.push(')'),
                    Outline::Step(step) => {
                        let step = &path.steps[step];
                        let number = step.location.as_ref().and_then(|at| at.line);
                        let sign = match (step.failing, step.taken) {
                            (true, _) => "!",
                            (_, Some(true)) => "+",
                            (_, Some(false)) => "-",
                            _ => "",
                        };
                        line.push_str(&format!(
                            " {}{sign}",
                            number.map_or("?".to_owned(), |line| line.to_string())
                        ));
                    }
                }
            }
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

/// Every file with what it is read as.
fn reports() -> Vec<(String, Vec<u8>, Document)> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|file| {
            !file.ends_with("README.md") && !file.ends_with("told.txt") && !file.ends_with("pool.c")
        })
        .collect();
    files.sort();
    assert!(files.len() >= 40, "{} files", files.len());
    let open = |file: PathBuf| {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let bytes = std::fs::read(&file).unwrap();
        let document = read(&bytes, &name).unwrap_or_else(|error| panic!("{error}"));
        (name, bytes, document)
    };
    files.into_iter().map(open).collect()
}

/// `told.txt` was held against the files by eye, line by line. `TELL=1` writes it anew, to be looked at in the same way.
#[test]
fn strange_reports_lead_to_the_right_places() {
    let mut all = String::new();
    for (name, _, document) in reports() {
        all.push_str(&format!("## {name}\n{}", told(&document)));
        for note in &document.notes {
            all.push_str(&format!("  note: {note}\n"));
        }
        all.push('\n');
    }
    let file = folder().join("told.txt");
    if std::env::var_os("TELL").is_some() {
        std::fs::write(&file, &all).unwrap();
    }
    let want = std::fs::read_to_string(file).unwrap();
    for (want, got) in want.split("\n\n").zip(all.split("\n\n")) {
        assert_eq!(got, want);
    }
    assert_eq!(all, want);
}

#[test]
fn strange_reports_lose_nothing_without_a_word() {
    for (name, bytes, document) in reports() {
        let text = decoded(&bytes);
        let format = Format::sniff(&text).unwrap_or_else(|| panic!("{name}"));
        let Some(loss) = Loss::measure(format, &text, &document) else { panic!("{name} is not counted") };
        assert!(loss.held.reports + loss.held.steps + loss.kept.reports > 0, "{name}: nothing is counted");
        assert_eq!(loss.unnamed(), [], "{name}: {:?}, {:?}", loss.held, loss.named);
        for text in [to_json(&document), to_pathreport(&document), to_sarif(&document)] {
            assert_eq!(read(text.as_bytes(), &name).as_ref(), Ok(&document), "{name}");
        }
    }
}

/// The same finding reads the same, whatever the form: three of gcc 15, text and XML of valgrind, with and without times.
#[test]
fn one_finding_in_several_forms_is_one_path() {
    let all = reports();
    let paths = |name: &str| -> String {
        let (_, _, document) = all.iter().find(|(file, ..)| file == name).unwrap_or_else(|| panic!("{name}"));
        told(document).lines().filter(|line| line.starts_with("  ")).map(|line| format!("{line}\n")).collect()
    };
    for group in [
        &["use.gcc15.json", "use.gcc15.sarif", "use.gcc15.txt"][..],
        &["pool.gcc15.json", "pool.gcc15.txt"],
        &["gcc12.json", "gcc12.txt", "gcc12.colour.txt"],
        &["memcheck.freed.txt", "memcheck.freed.xml", "memcheck.time.txt"],
        &["helgrind.race.txt", "helgrind.race.xml"],
        &["drd.race.txt", "drd.race.xml"],
        &["clang.sarif", "clang.txt"],
        &["cbmc5.json", "cbmc5.stop.xml"],
        &["cbmc6.stop.json", "cbmc6.stop.xml"],
        &["tsan.race.txt", "tsan.ctest.log"],
    ] {
        for other in &group[1..] {
            assert_eq!(paths(other), paths(group[0]), "{other} beside {}", group[0]);
        }
    }
}

/// The text of a file, decoded without our help.
fn decoded(bytes: &[u8]) -> String {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16(&units).unwrap()
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8(rest.to_vec()).unwrap(),
        _ => String::from_utf8(bytes.to_vec()).unwrap(),
    }
}
