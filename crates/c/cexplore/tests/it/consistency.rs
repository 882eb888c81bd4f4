//! The symbolic and the concrete reading agree: for any input exactly one path condition holds, and the path's outputs
//! are what a run with that input prints and returns.

use crate::corpus;

use corpus::{Case, Random, cases, each, header, load, settings};
use parallax_cexplore::explore::{Argument, Entry, PathEnd, PathRecord, explore};
use parallax_cexplore::run::{self, Closed, Outcome};
use parallax_cmachine::{Files, Problem};
use parallax_op::Bits;
use parallax_smt::Model;
use parallax_term::{Sort, Store};
use std::time::Duration;

/// Small numbers, letters and arbitrary bits: what tends to matter.
fn value(random: &mut Random, width: u16) -> Bits {
    let number = match random.below(4) {
        0 => random.below(8),
        1 => 0u64.wrapping_sub(random.below(8)),
        2 => u64::from(b"hl-+ab19 Z\0\n"[random.below(12) as usize]),
        _ => random.next(),
    };
    Bits::new(64, number.into()).extract(0, width.min(64)).zext(width)
}

/// Explores a program; checks every recorded path against a run, and random inputs against all paths.
fn check(case: &Case, rounds: usize, failures: &mut Vec<String>) -> usize {
    let mut settings = settings(case);
    let Entry::Main { arguments: asked, stdin: stdin_len, files, .. } = settings.entry.clone() else {
        return 0;
    };
    let program = load(case);
    settings.random_inputs = program.seeds_unknown();
    settings.time = Duration::from_secs(120);
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    let explored = explore(&store, &program.module, &settings, solver, &mut |_, _, _| {})
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    if !explored.completeness.is_complete() {
        if header(&case.text, "bounds").is_none() {
            failures.push(format!("{}: {:?}", case.name, explored.completeness));
        }
        return 0;
    }
    // What code without a model answers is not part of a random input, and what is uninitialised has no one value.
    let odd = |record: &PathRecord| {
        !record.input.unknowns.is_empty() || record.end == PathEnd::Mistake(Problem::Uninitialised)
    };
    if explored.records.iter().any(odd) {
        return 0;
    }
    let execute = |arguments: &[Vec<u8>], world: Files<u8>, values: Vec<Bits>| {
        let mut world = Closed { files: world, ..Closed::default() };
        let concrete = run::Settings {
            steps: Some(1_000_000),
            inputs: values,
            checks: settings.checks,
            random_inputs: settings.random_inputs,
            failing_allocation: settings.failing_allocation,
            failing_calls: settings.failing_calls,
            ..run::Settings::default()
        };
        let outcome = run::run(&program.module, arguments, &mut world, &concrete, &mut |_| {}).outcome;
        (outcome, world.stdout)
    };
    for record in &explored.records {
        let values = record.input.values.iter().map(|(_, bits)| bits.clone()).collect();
        let named = record.input.files.iter().map(|(name, bytes)| (name.clone().into_bytes(), bytes.clone()));
        let world = Files::new(record.input.stdin.clone(), named);
        let (outcome, stdout) = execute(&record.input.arguments, world, values);
        let same = match (&record.end, &outcome) {
            (PathEnd::Exit(status), Outcome::Exit(ran)) => status == ran && record.stdout == stdout,
            (PathEnd::Mistake(problem), Outcome::Mistake(mistake)) => *problem == mistake.problem,
            _ => false,
        };
        if !same {
            failures.push(format!(
                "{}: path predicts {:?} {:?}, the run gives {outcome:?} {:?}",
                case.name,
                record.end,
                String::from_utf8_lossy(&record.stdout),
                String::from_utf8_lossy(&stdout)
            ));
        }
    }
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut held = 0;
    for _ in 0..rounds {
        let mut model = Model::new();
        for symbol in store.symbols() {
            if let Sort::Bits(width) = store.info(symbol).sort {
                model.set_bits(symbol, value(&mut random, width));
            }
        }
        let taken: Vec<_> = explored
            .records
            .iter()
            .filter(|record| record.conditions.iter().all(|&f| model.formula(&store, f)))
            .collect();
        let [record] = taken.as_slice() else {
            // Inputs outside what the harness assumes take no path; two paths at once is a contradiction.
            if taken.len() > 1 {
                failures.push(format!("{}: {} paths hold at once", case.name, taken.len()));
            } else if !asked.iter().any(|a| matches!(a, Argument::Optional(_)))
                && !ASSUMING.iter().any(|word| case.text.contains(word))
            {
                failures.push(format!("{}: no path holds", case.name));
            }
            continue;
        };
        held += 1;
        let bits = |term| model.term(&store, term);
        let byte = |name: String| {
            store.lookup(&name).and_then(|s| model.bits(s)).and_then(|b| b.to_u64()).unwrap_or(0) as u8
        };
        let bytes =
            |name: &str, len: u64| (0..len).map(|at| byte(format!("{name}[{at}]"))).collect::<Vec<u8>>();
        let mut words = vec![b"program".to_vec()];
        for (number, argument) in (1..record.input.arguments.len()).zip(&asked) {
            words.push(match argument {
                Argument::Known(text) => text.clone(),
                Argument::Unknown(len) | Argument::Optional(len) => {
                    bytes(&format!("arg{number}"), *len).into_iter().take_while(|&b| b != 0).collect()
                }
            });
        }
        let named = files.iter().map(|(name, content)| {
            let content = match content {
                Argument::Known(bytes) => bytes.clone(),
                Argument::Unknown(len) | Argument::Optional(len) => bytes(name, *len),
            };
            (name.clone().into_bytes(), content)
        });
        let world = Files::new(bytes("stdin", stdin_len), named);
        let (outcome, stdout) = execute(&words, world, record.values.iter().map(|&t| bits(t)).collect());
        let predicted: Vec<u8> = record.output.iter().flat_map(|piece| piece.bytes(|&t| bits(t))).collect();
        let same = match (&record.end, &outcome) {
            (PathEnd::Exit(_), Outcome::Exit(ran)) => {
                let status = record.status.map_or(0, |t| bits(t).to_u128().unwrap_or(0) as u8);
                status == *ran && predicted == stdout
            }
            (PathEnd::Mistake(problem), Outcome::Mistake(mistake)) => *problem == mistake.problem,
            _ => false,
        };
        if !same {
            failures.push(format!("{}: {:?} predicted, {outcome:?} ran", case.name, record.end));
        }
    }
    held
}

/// Words by which a program says that some inputs do not count: no path holds for these.
const ASSUMING: [&str; 7] = [
    "klee_range",
    "klee_choose",
    "klee_assume",
    "__CPROVER_assume",
    "__VERIFIER_assume",
    "nondet_bool",
    "abort",
];

#[test]
fn exactly_one_path_holds_and_predicts_the_run() {
    let all: Vec<Case> = ["symbolic", "find", "harness", "flows"].into_iter().flat_map(cases).collect();
    let (failures, held) = each(&all, |case, failures| check(case, 30, failures));
    let (programs, held) = (held.iter().filter(|held| **held > 0).count(), held.iter().sum::<usize>());
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
    assert!(held > 1000 && programs > 80, "only {held} random inputs met a path, of {programs} programs");
}
