//! Programs in many styles, each with what goes wrong in it: a line marked `//~ ARGUMENTS` dereferences null when the program
//! is run with these arguments (`scripts/null-strangers` runs them natively). No such line may go unreported, neither by
//! inference alone nor after functions were executed to refute warnings.

use crate::common;

use common::load;
use parallax_mixy::{Finding, Report, Settings, Where, check, names::site_location};
use std::collections::BTreeSet;
use std::time::Duration;

/// Errors that are missed, and why: the day one of them is found, it goes from this list.
const MISSED: &[(&str, &str)] = &[
    (
        "argv.c",
        "that the list of arguments ends with null is not known to inference; running the program shows it",
    ),
    ("argv_strlen.c", "the same"),
    ("byte_copy.c", "pointers copied byte by byte are not followed: an assumption of every report"),
];

/// Lines that findings are at; for one at a call of typed code, also those that its null takes its way over.
fn lines(program: &parallax_cexplore::Program, report: &Report) -> BTreeSet<usize> {
    let module = &program.module;
    let line = |location| module.location(location).line as usize;
    let steps = |finding: &Finding| {
        finding.paths.iter().flat_map(|path| &path.steps).map(|step| step.location).collect()
    };
    let mut lines = BTreeSet::new();
    for finding in &report.findings {
        lines.insert(line(site_location(module, finding.site)));
        let steps: Vec<_> = if finding.found_by == Where::Symbolic { steps(finding) } else { Vec::new() };
        lines.extend(steps.into_iter().map(line));
    }
    lines
}

#[test]
fn no_error_of_programs_of_strangers_goes_unreported() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/strangers");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect(folder).map(|entry| entry.expect(folder).path()).collect();
    files.sort();
    assert!(files.len() > 60, "{} programs", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).expect("a program");
        let marked: BTreeSet<usize> =
            text.lines().enumerate().filter(|(_, line)| line.contains("//~")).map(|(at, _)| at + 1).collect();
        let program = load(&text);
        for refine in [None, Some(Duration::from_secs(1))] {
            let settings = Settings { refine, ..Settings::default() };
            let report = check(&program.module, &settings).unwrap_or_else(|e| panic!("{name}: {e}"));
            let missed: Vec<usize> = marked.difference(&lines(&program, &report)).copied().collect();
            if missed.is_empty() == MISSED.iter().any(|(known, _)| *known == name) {
                wrong.push(format!("{name}, refined {}: missed {missed:?}", refine.is_some()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
