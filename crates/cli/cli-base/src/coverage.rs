//! Coverage of an exploration for other tools and for people: lcov, Cobertura, and a page with the source.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What was covered of one source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// How often each line with code was run.
    pub lines: BTreeMap<u32, u64>,
    /// Branches, by line and a number within it: how often each way was taken.
    pub branches: BTreeMap<(u32, u32), Vec<u64>>,
    /// Functions, by their first line: the name and how often it was entered.
    pub functions: BTreeMap<u32, (String, u64)>,
}

/// What was covered, by the name of the file.
pub type Covered = BTreeMap<String, FileCoverage>;

/// Writes coverage in the form that the ending of the name says. Sources lie in `folders`, where their names alone do
/// not lead to them.
pub fn save(file: &Path, covered: &Covered, folders: &[PathBuf]) -> Result<()> {
    let text = match file.extension().and_then(|ending| ending.to_str()) {
        Some("html" | "htm") => page(covered, folders),
        Some("xml") => {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            cobertura(covered, folders, now.map_or(0, |since| since.as_secs()))
        }
        _ => lcov(covered, folders),
    };
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// Where a source is.
fn found(name: &str, folders: &[PathBuf]) -> PathBuf {
    let below = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    below.unwrap_or_else(|| name.into())
}

/// A trace file as `lcov` and `genhtml` read it.
fn lcov(covered: &Covered, folders: &[PathBuf]) -> String {
    let mut text = String::new();
    for (name, file) in covered {
        let path = found(name, folders);
        let path = std::path::absolute(&path).unwrap_or(path);
        let _ = writeln!(text, "TN:\nSF:{}", path.display());
        for (line, (function, _)) in &file.functions {
            let _ = writeln!(text, "FN:{line},{function}");
        }
        for (function, count) in file.functions.values() {
            let _ = writeln!(text, "FNDA:{count},{function}");
        }
        let entered = file.functions.values().filter(|(_, count)| *count > 0).count();
        let _ = writeln!(text, "FNF:{}\nFNH:{entered}", file.functions.len());
        let mut found = 0;
        let mut hit = 0;
        for ((line, number), ways) in &file.branches {
            // A branch that was never come to has no counts.
            let reached = ways.iter().any(|&count| count > 0);
            for (way, &count) in ways.iter().enumerate() {
                found += 1;
                hit += usize::from(count > 0);
                let taken = if reached { count.to_string() } else { "-".into() };
                let _ = writeln!(text, "BRDA:{line},{number},{way},{taken}");
            }
        }
        let _ = writeln!(text, "BRF:{found}\nBRH:{hit}");
        for (line, count) in &file.lines {
            let _ = writeln!(text, "DA:{line},{count}");
        }
        let run = file.lines.values().filter(|&&count| count > 0).count();
        let _ = writeln!(text, "LF:{}\nLH:{run}\nend_of_record", file.lines.len());
    }
    text
}

const STYLE: &str = "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse;font:13px monospace}\
td{padding:0 .6em;white-space:pre}td:nth-child(-n+3){text-align:right;color:#666}\
.run{background:#e6f4e6}.not{background:#fbe3e3}.part{background:#fdf3d6}";

/// A page with each source file, its lines coloured by whether they were run.
fn page(covered: &Covered, folders: &[PathBuf]) -> String {
    let mut text =
        format!("<!doctype html><meta charset=utf-8><title>Coverage</title><style>{STYLE}</style>\n");
    for (name, file) in covered {
        let run = file.lines.values().filter(|&&count| count > 0).count();
        let ways = || file.branches.values().flatten();
        let taken = ways().filter(|&&count| count > 0).count();
        let _ = writeln!(
            text,
            "<h2>{}</h2><p>{run} of {} lines, {taken} of {} branches</p><table>",
            escaped(name),
            file.lines.len(),
            ways().count()
        );
        match std::fs::read(found(name, folders)) {
            Ok(source) => lines(&String::from_utf8_lossy(&source), file, &mut text),
            Err(error) => {
                let _ = writeln!(text, "<tr><td>{}</td></tr>", escaped(&error.to_string()));
            }
        }
        text.push_str("</table>\n");
    }
    text
}

/// How much of something there is, and how much of it was reached.
#[derive(Clone, Copy, Default)]
struct Share {
    lines: usize,
    lines_run: usize,
    ways: usize,
    ways_taken: usize,
}

impl Share {
    fn of(file: &FileCoverage) -> Self {
        let ways = || file.branches.values().flatten();
        Share {
            lines: file.lines.len(),
            lines_run: file.lines.values().filter(|&&count| count > 0).count(),
            ways: ways().count(),
            ways_taken: ways().filter(|&&count| count > 0).count(),
        }
    }

    fn and(self, other: Share) -> Self {
        Share {
            lines: self.lines + other.lines,
            lines_run: self.lines_run + other.lines_run,
            ways: self.ways + other.ways,
            ways_taken: self.ways_taken + other.ways_taken,
        }
    }

    /// As attributes of Cobertura; of nothing, everything was reached.
    fn rates(self) -> String {
        let rate = |part: usize, whole: usize| if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
        format!(
            "line-rate=\"{:.4}\" branch-rate=\"{:.4}\" complexity=\"0\"",
            rate(self.lines_run, self.lines),
            rate(self.ways_taken, self.ways)
        )
    }
}

/// A report as Cobertura's schema has it, and with it most services that show coverage: one class for each file.
fn cobertura(covered: &Covered, folders: &[PathBuf], seconds: u64) -> String {
    let mut packages: BTreeMap<String, Vec<(&str, &FileCoverage)>> = BTreeMap::new();
    for (name, file) in covered {
        let package = name.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.replace('/', "."));
        packages.entry(package).or_default().push((name, file));
    }
    let whole = covered.values().map(Share::of).fold(Share::default(), Share::and);
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text.push_str("<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n");
    let _ = writeln!(
        text,
        "<coverage {} lines-covered=\"{}\" lines-valid=\"{}\" branches-covered=\"{}\" branches-valid=\"{}\" \
         version=\"{}\" timestamp=\"{seconds}\">",
        whole.rates(),
        whole.lines_run,
        whole.lines,
        whole.ways_taken,
        whole.ways,
        env!("CARGO_PKG_VERSION")
    );
    text.push_str("<sources>\n");
    for folder in folders {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
        let _ = writeln!(text, "<source>{}</source>", escaped(&folder.to_string_lossy()));
    }
    text.push_str("</sources>\n<packages>\n");
    for (package, files) in packages {
        let share = files.iter().map(|(_, file)| Share::of(file)).fold(Share::default(), Share::and);
        let _ = writeln!(text, "<package name=\"{}\" {}>\n<classes>", escaped(&package), share.rates());
        for (name, file) in files {
            let class = name.rsplit_once('.').map_or(name, |(stem, _)| stem).replace('/', ".");
            let (class, name) = (escaped(&class), escaped(name));
            let rates = Share::of(file).rates();
            let _ = writeln!(text, "<class name=\"{class}\" filename=\"{name}\" {rates}>\n<methods>");
            for (line, (method, count)) in &file.functions {
                let entered = Share { lines: 1, lines_run: usize::from(*count > 0), ..Share::default() };
                let _ = writeln!(
                    text,
                    "<method name=\"{}\" signature=\"\" {}><lines><line number=\"{line}\" hits=\"{count}\" \
                     branch=\"false\"/></lines></method>",
                    escaped(method),
                    entered.rates()
                );
            }
            text.push_str("</methods>\n<lines>\n");
            for (line, count) in &file.lines {
                cobertura_line(*line, *count, file, &mut text);
            }
            text.push_str("</lines>\n</class>\n");
        }
        text.push_str("</classes>\n</package>\n");
    }
    text.push_str("</packages>\n</coverage>\n");
    text
}

fn cobertura_line(line: u32, count: u64, file: &FileCoverage, text: &mut String) {
    let branches: Vec<&Vec<u64>> =
        file.branches.range((line, 0)..=(line, u32::MAX)).map(|(_, ways)| ways).collect();
    let taken = |ways: &[u64]| ways.iter().filter(|&&count| count > 0).count();
    let percent = |part: usize, whole: usize| 100 * part / whole.max(1);
    if branches.is_empty() {
        let _ = writeln!(text, "<line number=\"{line}\" hits=\"{count}\" branch=\"false\"/>");
        return;
    }
    let (all, reached) =
        (branches.iter().map(|ways| ways.len()).sum(), branches.iter().map(|ways| taken(ways)).sum());
    let _ = write!(
        text,
        "<line number=\"{line}\" hits=\"{count}\" branch=\"true\" condition-coverage=\"{}% ({reached}/{all})\"><conditions>",
        percent(reached, all)
    );
    for (number, ways) in branches.iter().enumerate() {
        let kind = if ways.len() > 2 { "switch" } else { "jump" };
        let share = percent(taken(ways), ways.len());
        let _ = write!(text, "<condition number=\"{number}\" type=\"{kind}\" coverage=\"{share}%\"/>");
    }
    text.push_str("</conditions></line>\n");
}

fn lines(source: &str, file: &FileCoverage, text: &mut String) {
    for (number, line) in (1..).zip(source.lines()) {
        let branches: Vec<&Vec<u64>> =
            file.branches.range((number, 0)..=(number, u32::MAX)).map(|(_, ways)| ways).collect();
        let ways = branches.iter().map(|ways| ways.len()).sum::<usize>();
        let taken = branches.iter().flat_map(|ways| ways.iter()).filter(|&&count| count > 0).count();
        let class = match file.lines.get(&number) {
            None => "",
            Some(0) => "not",
            Some(_) if taken < ways => "part",
            Some(_) => "run",
        };
        let count = file.lines.get(&number).map_or(String::new(), u64::to_string);
        let shown = if ways > 0 { format!("{taken}/{ways}") } else { String::new() };
        let _ = writeln!(
            text,
            "<tr class=\"{class}\"><td>{number}</td><td>{count}</td><td>{shown}</td><td>{}</td></tr>",
            escaped(line)
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lcov_says_lines_branches_and_functions() {
        let mut file = FileCoverage::default();
        file.functions.insert(1, ("main".into(), 2));
        file.lines.extend([(2, 2), (3, 0)]);
        file.branches.insert((2, 0), vec![2, 0]);
        file.branches.insert((3, 0), vec![0, 0]);
        let covered = Covered::from([("/a.c".to_string(), file)]);
        let wanted = "TN:\nSF:/a.c\nFN:1,main\nFNDA:2,main\nFNF:1\nFNH:1\n\
            BRDA:2,0,0,2\nBRDA:2,0,1,0\nBRDA:3,0,0,-\nBRDA:3,0,1,-\nBRF:4\nBRH:1\n\
            DA:2,2\nDA:3,0\nLF:2\nLH:1\nend_of_record\n";
        assert_eq!(lcov(&covered, &[]), wanted);
        assert!(page(&covered, &[]).contains("1 of 2 lines, 1 of 4 branches"));
    }

    #[test]
    fn cobertura_says_rates_and_conditions() {
        let mut file = FileCoverage::default();
        file.functions.insert(1, ("A.<init>".into(), 2));
        file.lines.extend([(2, 2), (3, 0)]);
        file.branches.insert((2, 0), vec![2, 0]);
        let covered = Covered::from([("a/b/A.java".to_string(), file)]);
        let text = cobertura(&covered, &["/src".into()], 7);
        for part in [
            "line-rate=\"0.5000\" branch-rate=\"0.5000\" complexity=\"0\" lines-covered=\"1\" lines-valid=\"2\"",
            "<source>/src</source>",
            "<package name=\"a.b\" ",
            "<class name=\"a.b.A\" filename=\"a/b/A.java\" ",
            "<method name=\"A.&lt;init&gt;\" ",
            "<line number=\"2\" hits=\"2\" branch=\"true\" condition-coverage=\"50% (1/2)\"><conditions>\
             <condition number=\"0\" type=\"jump\" coverage=\"50%\"/></conditions></line>",
            "<line number=\"3\" hits=\"0\" branch=\"false\"/>",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
