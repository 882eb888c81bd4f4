//! A report is untrusted: whatever the bytes, a reader answers with a document that holds together or with an error,
//! in bounded time, and what it read comes back from every format.
//!
//! The mutations are the same on every run. `FUZZ_ROUNDS` asks for more of them (`make fuzz WHAT=report`).

use parallax_report::*;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Every report of the corpus.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/report");
    let mut seeds = Vec::new();
    for folder in ["recorded", "samples", "strange", "ladle", "."] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let other = [".c", ".h", ".rs", ".md"].iter().any(|ending| name.ends_with(ending));
            if path.is_file() && !other {
                seeds.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    seeds.sort();
    assert!(seeds.len() >= 15, "{}", seeds.len());
    seeds
}

/// A small generator (xorshift): the same numbers everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides.max(1)
    }
}

const TOKENS: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\r",
    b"<",
    b">",
    b"&",
    b"&lol;",
    b"]]>",
    b"<!--",
    b"<![CDATA[",
    b"<!DOCTYPE x [<!ENTITY y 'z'>]>",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"'",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b",",
    b":",
    b"-1",
    b"0",
    b"1e999",
    b"99999999999999999999",
    b"4294967296",
    b"2147483648",
    b"null",
    b"true",
    b"#0 ",
    b"#0  f () at x:1\n",
    b"==1==ERROR: AddressSanitizer: x\n",
    b" => ",
    b"FORK at a:1 -> ",
    b"dereference of ",
    b"Possible data race",
    b"\xe2\x80\x98",
    b"\xf0\x9f\x98\x80",
    b"../../../etc/passwd",
    b"C:\\x\\y.c",
    b"\x1b[31m",
    b"<path>",
    b"</path>",
    b"<detour>",
    b"\"depth\": -9",
    b"\"nestingLevel\": 400000",
    b"Calling 'f'",
];

fn mutate(bytes: &[u8], other: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..=dice.roll(4) {
        let at = dice.roll(out.len() + 1);
        let end = (at + dice.roll(200)).min(out.len());
        match dice.roll(7) {
            0 => out.truncate(at),
            1 => drop(out.drain(at..end)),
            2 => {
                let piece = out[at..end].to_vec();
                let to = dice.roll(out.len() + 1);
                out.splice(to..to, piece);
            }
            3 => {
                let token = TOKENS[dice.roll(TOKENS.len())];
                out.splice(at..at, token.iter().copied());
            }
            4 => {
                let token = TOKENS[dice.roll(TOKENS.len())];
                out.splice(at..end.min(at + 4), token.iter().copied());
            }
            5 if at < out.len() => out[at] ^= 1 << dice.roll(8),
            _ => {
                let from = dice.roll(other.len() + 1);
                let piece = other[from..(from + dice.roll(300)).min(other.len())].to_vec();
                out.splice(at..at, piece);
            }
        }
    }
    out
}

/// The promise: no panic, and a document that every format brings back.
fn digest(bytes: &[u8]) -> Option<Document> {
    let document = read(bytes, "hostile").ok()?;
    assert_eq!(document.check(), Ok(()));
    for text in [to_json(&document), to_pathreport(&document), to_sarif(&document)] {
        assert_eq!(read(text.as_bytes(), "again").as_ref(), Ok(&document), "{text}");
    }
    for path in document.reports.iter().flat_map(|report| &report.paths) {
        path.outline();
    }
    parallax_report::identity::keys(&document.identities());
    Some(document)
}

#[test]
fn mutated_reports_are_read_or_refused() {
    let rounds: usize =
        std::env::var("FUZZ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(40);
    let seeds = seeds();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut accepted, mut refused) = (0, 0);
    for (name, bytes) in &seeds {
        assert!(digest(bytes).is_some(), "{name} itself is read");
        for _ in 0..rounds {
            let other = &seeds[dice.roll(seeds.len())].1;
            let mutant = mutate(bytes, other, &mut dice);
            let count = if digest(&mutant).is_some() { &mut accepted } else { &mut refused };
            *count += 1;
        }
    }
    println!("{} seeds, {accepted} mutants accepted, {refused} refused", seeds.len());
    // Mutations that are all refused, or never, would test little.
    assert!(accepted > rounds && refused > rounds, "{accepted} accepted, {refused} refused");
}

/// Each reader on every other tool's reports: told the wrong format, it must not fall over either.
#[test]
fn every_reader_survives_every_report() {
    for (_, bytes) in seeds() {
        for format in Format::all() {
            if let Ok(document) = read_as(format, &bytes, "hostile") {
                assert_eq!(document.check(), Ok(()));
            }
        }
    }
}

#[test]
fn every_prefix_of_a_report_is_read_or_refused() {
    for (_, bytes) in seeds().iter().filter(|(_, bytes)| bytes.len() < 4000) {
        for end in (0..bytes.len()).step_by(37) {
            digest(&bytes[..end]);
        }
    }
}

#[test]
fn deep_and_long_input_takes_bounded_time_and_stack() {
    let times = 40_000;
    let xml =
        |head: &str, open: &str, close: &str| format!("{head}{}{}", open.repeat(times), close.repeat(times));
    let cases: Vec<(&str, String)> = vec![
        ("deep JSON", format!("{{\"runs\": {}{}, \"version\": \"2.1.0\", \"sarif\": 1}}", "[".repeat(times), "]".repeat(times))),
        ("deep SARIF objects", format!("{{\"version\": \"2.1.0\", \"runs\": [{}1{}]}}", "{\"a\":".repeat(times), "}".repeat(times))),
        ("deep path", xml("<pathreport>", "<path name='f' file='f.c'><detour line='1'>", "</detour></path>") + "</pathreport>"),
        ("deep plist", xml("<plist><key>diagnostics</key>", "<dict>", "</dict>") + "</plist>"),
        ("deep valgrind", xml("<valgrindoutput>", "<error>", "</error>") + "</valgrindoutput>"),
        ("deep cppcheck", xml("<results><cppcheck/><errors>", "<error>", "</error>") + "</errors></results>"),
        ("many attributes", format!("<pathreport><path name='f' {}/></pathreport>", "a='1' ".repeat(times))),
        ("many stacks", "#0  f (a=1) at f.c:1\n".repeat(times)),
        ("runaway recursion", (0..times).map(|n| format!("#{n}  f (n={n}) at f.c:{}\n", n % 90 + 1)).collect()),
        ("many races", "Warning: Possible data race: &x:a.c:1 is not protected!\n dereference of x:a.c:1 at a.c:2\n".repeat(times / 4)),
        ("one long race", "Possible data race: &x:a.c:1 is not protected!\n".to_owned() + &" dereference of x:a.c:1 at a.c:2\n in: FORK at a.c:3\n".repeat(times / 4)),
        ("one long line", "dereference of Possible data race ".to_owned() + &"x:a.c:1 ".repeat(times)),
        ("thread after thread", "WARNING: ThreadSanitizer: data race (pid=1)\n  Write of size 1 at 0x1 by thread T1:\n    #0 f a.c:1\n".to_owned()
            + &(1..times / 4).map(|n| format!("  Thread T{n} (tid=1, running) created by thread T{} at:\n    #0 g a.c:2\n", n + 1)).collect::<String>()),
        ("calls without end", "2 :: 2: FunctionCall(f()) :: -1\n".repeat(times / 4)),
        ("brackets", format!("{{\"version\": \"2.1.0\", \"runs\": [{{\"results\": [{{\"message\": {{\"text\": \"{}\"}}}}]}}]}}", "[a".repeat(times))),
        ("told calls", format!("{{\"version\": \"2.1.0\", \"runs\": [{{\"results\": [{{\"message\": {{\"text\": \"m\"}}, \"codeFlows\": [{{\"threadFlows\": [{{\"locations\": [{}{{}}]}}]}}]}}]}}]}}",
            (0..times / 8).map(|n| format!("{{\"location\": {{\"message\": {{\"text\": \"Calling 'f'\"}}, \"physicalLocation\": {{\"artifactLocation\": {{\"uri\": \"a.c\"}}, \"region\": {{\"startLine\": {n}}}}}}}}},")).collect::<String>())),
    ];
    for (name, text) in cases {
        let start = Instant::now();
        let result = read(text.as_bytes(), name);
        let took = start.elapsed();
        eprintln!(
            "{name}: {took:?}, {}",
            result.map_or_else(
                |error| error.to_string(),
                |document| format!("{} reports", document.reports.len())
            )
        );
        // A quadratic reader would take many minutes; a busy machine takes some seconds.
        assert!(took < Duration::from_secs(60), "{name}: {took:?}");
    }
}

#[test]
fn ten_thousand_steps_are_written_and_read_back() {
    let trace: String = (0..10_000).map(|n| format!("{n} :: {n}: Block(x@main = {n};) :: -1\n")).collect();
    let document = digest(trace.as_bytes()).unwrap();
    assert_eq!(document.reports[0].paths[0].steps.len(), 10_000);
}

#[test]
fn deep_nesting_is_cut_and_said() {
    let trace: String = (0..2 * MAX_DEPTH).map(|n| format!("#{n}  f (n={n}) at f.c:1\n")).collect();
    let document = read(trace.as_bytes(), "deep").unwrap();
    assert!(document.notes[0].contains("deeper than"), "{:?}", document.notes);
    assert_eq!(document.reports[0].paths[0].steps.len(), 2 * MAX_DEPTH, "every step is still there");
}

#[test]
fn bombs_and_outside_entities_are_refused() {
    let bomb = r#"<?xml version="1.0"?><!DOCTYPE pathreport [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
        <pathreport><path name="&b;" file="f"></path></pathreport>"#;
    let outside = r#"<!DOCTYPE results [<!ENTITY x SYSTEM "file:///etc/passwd">]><results><cppcheck/><errors><error msg="&x;"/></errors></results>"#;
    for (name, text) in [("bomb.xml", bomb), ("outside.xml", outside)] {
        let error = read(text.as_bytes(), name).unwrap_err().to_string();
        assert!(error.starts_with(name) && error.contains("refused"), "{error}");
    }
}

#[test]
fn encodings_and_line_ends() {
    let seeds = seeds();
    let log = &seeds.iter().find(|(name, _)| name == "guests.gdb").unwrap().1;
    let plain = read(log, "unix").unwrap();
    let text = String::from_utf8(log.clone()).unwrap();
    let windows = text.replace('\n', "\r\n");
    assert_eq!(read(windows.as_bytes(), "windows").unwrap(), plain);
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(windows.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(read(&utf16, "powershell").unwrap(), plain);
    let latin1 = text
        .replace("Nobody", "Jos\u{e9}")
        .chars()
        .map(|c| u8::try_from(c).unwrap_or(b'?'))
        .collect::<Vec<_>>();
    let read_back = read(&latin1, "latin-1").unwrap();
    assert_eq!(read_back.notes, ["the file is not UTF-8; it was read as Latin-1"]);
    assert!(read_back.reports[0].plain_text().contains("José"));
    let drives = text.replace("/home/ada/src/", "C:\\src\\");
    assert_eq!(
        read(drives.as_bytes(), "drives").unwrap().reports[0].location.as_ref().unwrap().file,
        "C:/src/guests.c"
    );
}

#[test]
fn what_is_no_report_is_refused_with_a_list() {
    let not_reports: [&[u8]; 6] = [
        b"",
        b"\0\0\0\0",
        b"\x7fELF\x02\x01",
        b"int main(void) { return 0; }\n",
        b"{}",
        b"<html><body>hello</body></html>",
    ];
    for bytes in not_reports {
        let error = read(bytes, "x").unwrap_err();
        assert!(matches!(error, ReadError::Unknown { .. } | ReadError::Html { .. }), "{error}");
        let told = if bytes.is_empty() { "it is empty" } else { "SARIF" };
        assert!(error.to_string().contains(told), "{error}");
    }
}
