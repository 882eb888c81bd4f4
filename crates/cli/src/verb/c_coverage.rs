//! Coverage of an exploration for other tools and for people: lcov, and a page with the source.

use parallax_cexplore::explore::{Covered, FileCoverage};
use std::fmt::Write;
use std::path::Path;

/// A trace file as `lcov` and `genhtml` read it.
pub fn lcov(covered: &Covered) -> String {
    let mut text = String::new();
    for (name, file) in covered {
        let path = std::path::absolute(name).unwrap_or_else(|_| name.into());
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
pub fn page(covered: &Covered) -> String {
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
        match std::fs::read(Path::new(name)) {
            Ok(source) => lines(&String::from_utf8_lossy(&source), file, &mut text),
            Err(error) => {
                let _ = writeln!(text, "<tr><td>{}</td></tr>", escaped(&error.to_string()));
            }
        }
        text.push_str("</table>\n");
    }
    text
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
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
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
        assert_eq!(lcov(&covered), wanted);
        assert!(page(&covered).contains("1 of 2 lines, 1 of 4 branches"));
    }
}
