//! Each kind of mistake is found where it is, with an input that shows it, and nowhere else.

mod corpus;

use corpus::{Case, cases, header};
use parallax_cexplore::confirm::{replay, user_place};
use parallax_cexplore::explore::{Argument, Entry, Exploration, Settings, explore};
use parallax_cexplore::{Program, Sources, program};
use parallax_llvm::machine::Checks;
use parallax_term::Store;
use std::collections::BTreeSet;
use std::time::Duration;

fn settings(case: &Case) -> Settings {
    let number = |key: &str| header(&case.text, key).and_then(|n| n.trim().parse().ok()).unwrap_or(0);
    let entry = match header(&case.text, "entry") {
        Some(name) => Entry::Function(name.trim().to_string()),
        None => Entry::Main {
            arguments: match number("symbolic-args") {
                0 => Vec::new(),
                len => vec![Argument::Unknown(len)],
            },
            stdin: number("symbolic-stdin"),
        },
    };
    let checks = header(&case.text, "checks").unwrap_or("");
    Settings {
        leaks: matches!(entry, Entry::Main { .. }),
        loops: if matches!(entry, Entry::Main { .. }) { 32 } else { 5 },
        entry,
        checks: Checks { overflow: checks.contains("overflow"), shifts: checks.contains("shifts") },
        steps: 20_000,
        time: Duration::from_secs(60),
        chain: 3,
        array: 3,
        tests: true,
        ..Settings::default()
    }
}

fn load(case: &Case) -> Program {
    let mut files = vec![case.file.clone()];
    if let Some(other) = header(&case.text, "with") {
        files.push(case.file.with_file_name(other.trim()));
    }
    program::load(&Sources { files, ..Sources::default() }).unwrap_or_else(|e| panic!("{}: {e}", case.name))
}

fn found(program: &Program, explored: &Exploration) -> BTreeSet<(String, u32)> {
    explored
        .findings
        .iter()
        .map(|finding| {
            let (_, at) = user_place(&program.module, &finding.stack);
            (finding.problem.name().to_string(), program.module.location(at).line)
        })
        .collect()
}

fn expected(case: &Case) -> BTreeSet<(String, u32)> {
    let mut wanted = BTreeSet::new();
    for (index, line) in case.text.lines().enumerate() {
        if let Some((_, kinds)) = line.split_once("//~ ") {
            wanted.extend(kinds.split_whitespace().map(|kind| (kind.to_string(), index as u32 + 1)));
        }
    }
    wanted
}

#[test]
fn mistakes_are_found_where_they_are_and_confirmed() {
    let mut failures = Vec::new();
    let mut kinds = BTreeSet::new();
    for case in cases("find") {
        let settings = settings(&case);
        let program = load(&case);
        let store = Store::new();
        let solver = parallax_smt::solver(&store);
        let explored = explore(&store, &program.module, &settings, solver, &mut |_, _, _| {})
            .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let (got, wanted) = (found(&program, &explored), expected(&case));
        assert_eq!(
            wanted.is_empty(),
            case.text.starts_with("// clean"),
            "{}: header and marks differ",
            case.name
        );
        if got != wanted {
            let details: Vec<_> = explored.findings.iter().map(|f| (&f.detail, &f.input)).collect();
            failures.push(format!("{}: found {got:?}, not {wanted:?}: {details:?}", case.name));
        }
        kinds.extend(got.iter().map(|(kind, _)| kind.clone()));
        // Programs that start at main are explored to the end; unknown memory always has a bound.
        let unexpected: Vec<_> = explored
            .bounds
            .iter()
            .filter(|b| {
                matches!(settings.entry, Entry::Main { .. })
                    || !["chain:", "loops:", "steps:"].iter().any(|allowed| b.starts_with(allowed))
            })
            .collect();
        if !unexpected.is_empty() {
            failures.push(format!("{}: {unexpected:?}", case.name));
        }
        for finding in &explored.findings {
            let replayed = replay(&program, finding, &settings);
            if !replayed.confirmed {
                failures
                    .push(format!("{}: {:?} is not confirmed: {:?}", case.name, finding, replayed.outcome));
            }
        }
    }
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(kinds.len(), 12, "every kind is found somewhere: {kinds:?}");
}
