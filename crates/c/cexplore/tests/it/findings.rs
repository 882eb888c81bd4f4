//! Each kind of mistake is found where it is, with an input that shows it, and nowhere else.

use crate::corpus;

use corpus::{Case, cases, each, header, load, settings};
use parallax_cexplore::Program;
use parallax_cexplore::confirm::replay;
use parallax_cexplore::explore::{Entry, Exploration, Merge, Settings, explore};
use parallax_cexplore::native::{self, Native};
use parallax_cexplore::place::user_place;
use parallax_term::Store;
use std::collections::BTreeSet;
use std::time::Duration;

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
    let mut number = 0;
    for line in case.text.lines() {
        number += 1;
        // A line marker of preprocessed text says what the next line is.
        if let Some(next) =
            line.strip_prefix("# ").and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok())
        {
            number = next - 1;
        }
        if let Some((_, kinds)) = line.split_once("//~ ") {
            wanted.extend(kinds.split_whitespace().map(|kind| (kind.to_string(), number)));
        }
    }
    wanted
}

/// What is wrong with what the explorer says of a program; the kinds it found.
fn check(case: &Case, failures: &mut Vec<String>) -> BTreeSet<String> {
    let mut settings = settings(case);
    let mut program = load(case);
    if matches!(settings.entry, Entry::Function(_)) {
        program.annotate().unwrap_or_else(|error| panic!("{}: {error}", case.name));
    }
    settings.random_inputs = program.seeds_unknown();
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    let explored = explore(&store, &program.module, &settings, solver, &mut |_, _, _| {})
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let (got, wanted) = (found(&program, &explored), expected(case));
    let clean = ["// clean", "// incomplete"].iter().any(|word| case.text.starts_with(word));
    assert_eq!(wanted.is_empty(), clean, "{}: header and marks differ", case.name);
    if got != wanted {
        let details: Vec<_> = explored.findings.iter().map(|f| (&f.detail, &f.input)).collect();
        failures.push(format!("{}: found {got:?}, not {wanted:?}: {details:?}", case.name));
    }
    // Programs that start at main are explored to the end, unless they say that they cannot be; unknown memory always
    // has a bound.
    let allowed = match settings.entry {
        Entry::Main { .. } => header(&case.text, "bounds").unwrap_or("").split_whitespace().collect(),
        Entry::Function(_) => vec!["array", "chain", "choices", "late", "loops", "steps", "vacuous"],
    };
    let unexpected: Vec<_> =
        explored.completeness.bounds().filter(|bound| !allowed.contains(&bound.name())).collect();
    if !unexpected.is_empty() {
        failures.push(format!("{}: {unexpected:?}", case.name));
    }
    // Merged at joins, the same is found, and no less is explored.
    for merge in [Merge::Auto, Merge::Always] {
        // What is asked of merged states is harder, and other tests run beside.
        let solver_time = Duration::from_secs(120);
        let merging = Settings { merge, tests: false, solver_time, ..settings.clone() };
        let store = Store::new();
        let solver = parallax_smt::solver(&store);
        let merged = explore(&store, &program.module, &merging, solver, &mut |_, _, _| {})
            .unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let found_merged = found(&program, &merged);
        if found_merged != got || (explored.completeness.is_complete() && !merged.completeness.is_complete())
        {
            failures.push(format!(
                "{}: merged ({merge:?}), found {found_merged:?}, not {got:?} {:?}",
                case.name, merged.completeness
            ));
        }
    }
    if case.text.starts_with("// incomplete") && explored.completeness.is_complete() {
        failures.push(format!("{}: said to be complete", case.name));
    }
    for finding in &explored.findings {
        let replayed = replay(&program, finding, &settings);
        if !replayed.confirmed {
            failures.push(format!("{}: {finding:?} is not confirmed: {:?}", case.name, replayed.outcome));
        }
        if std::env::var_os("PARALLAX_NATIVE").is_some() {
            let folder =
                std::env::temp_dir().join(format!("parallax-findings-{}-{}", std::process::id(), case.name));
            std::fs::create_dir_all(&folder).expect("a folder");
            let native = native::confirm(&program, finding, &settings, &folder);
            std::fs::remove_dir_all(&folder).expect("the folder goes");
            if native != Native::Confirmed {
                let input = &finding.input;
                failures.push(format!(
                    "{}: natively {}: {native:?} {input:?}",
                    case.name,
                    finding.problem.name()
                ));
            }
        }
    }
    got.into_iter().map(|(kind, _)| kind).collect()
}

#[test]
fn mistakes_are_found_where_they_are_and_confirmed() {
    // Programs from elsewhere, with the same marks: PARALLAX_CASES=/a/folder cargo test --test it findings::
    let elsewhere = std::env::var("PARALLAX_CASES").ok();
    let folders = elsewhere.as_deref().map_or(vec!["find", "harness", "flows"], |folder| vec![folder]);
    let all: Vec<Case> = folders.into_iter().flat_map(cases).collect();
    let (failures, kinds) = each(&all, check);
    let kinds: BTreeSet<_> = kinds.into_iter().flatten().collect();
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
    if elsewhere.is_none() {
        assert!(all.len() >= 130, "the corpus has {} programs", all.len());
        assert_eq!(kinds.len(), 14, "every kind is found somewhere: {kinds:?}");
    }
}
