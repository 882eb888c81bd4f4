//! The symbolic and the concrete reading agree: for any input exactly one path condition holds, and the path's outputs
//! are what a run with that input prints and returns.

mod corpus;

use corpus::{Case, cases, header};
use parallax_cexplore::explore::{Argument, Entry, PathEnd, Settings, explore};
use parallax_cexplore::run::{self, Closed, Outcome};
use parallax_cexplore::{Sources, program};
use parallax_op::Bits;
use parallax_smt::Model;
use parallax_term::{Sort, Store};
use std::time::Duration;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Small numbers, letters and arbitrary bits: what tends to matter.
    fn value(&mut self, width: u16) -> Bits {
        let number = match self.next() % 4 {
            0 => self.next() % 8,
            1 => 0u64.wrapping_sub(self.next() % 8),
            2 => u64::from(b"hl-+ab19 Z\0\n"[(self.next() % 12) as usize]),
            _ => self.next(),
        };
        Bits::new(64, number.into()).extract(0, width.min(64)).zext(width)
    }
}

fn settings(case: &Case) -> Settings {
    let number = |key: &str| header(&case.text, key).and_then(|n| n.trim().parse().ok()).unwrap_or(0);
    let arguments = match number("symbolic-args") {
        0 => Vec::new(),
        len => vec![Argument::Unknown(len)],
    };
    Settings {
        entry: Entry::Main { arguments, stdin: number("symbolic-stdin"), files: Vec::new() },
        tests: true,
        time: Duration::from_secs(60),
        ..Settings::default()
    }
}

/// Explores a program; checks every recorded path against a run, and random inputs against all paths.
fn check(case: &Case, rounds: usize, failures: &mut Vec<String>) -> usize {
    let settings = settings(case);
    let program = program::load(&Sources { files: vec![case.file.clone()], ..Sources::default() })
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let store = Store::new();
    let solver = parallax_smt::solver(&store);
    let explored = explore(&store, &program.module, &settings, solver, &mut |_, _, _| {})
        .unwrap_or_else(|error| panic!("{}: {error}", case.name));
    if !explored.complete {
        failures.push(format!("{}: {:?}", case.name, explored.bounds));
        return 0;
    }
    let execute = |arguments: &[Vec<u8>], stdin: &[u8], values: Vec<Bits>| {
        let mut world = Closed::with_stdin(stdin.to_vec());
        let concrete = run::Settings { steps: Some(1_000_000), inputs: values, ..run::Settings::default() };
        let outcome = run::run(&program.module, arguments, &mut world, &concrete, &mut |_| {}).outcome;
        (outcome, world.stdout)
    };
    for record in &explored.records {
        let values = record.input.values.iter().map(|(_, bits)| bits.clone()).collect();
        let (outcome, stdout) = execute(&record.input.arguments, &record.input.stdin, values);
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
                model.set_bits(symbol, random.value(width));
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
            } else if !case.text.contains("klee_range") {
                failures.push(format!("{}: no path holds", case.name));
            }
            continue;
        };
        held += 1;
        let bits = |term| model.term(&store, term);
        let byte = |name: String| {
            store.lookup(&name).and_then(|s| model.bits(s)).and_then(|b| b.to_u64()).unwrap_or(0) as u8
        };
        let (arguments, stdin) = match &settings.entry {
            Entry::Main { arguments, stdin, .. } => {
                let mut words = vec![b"program".to_vec()];
                for (index, argument) in arguments.iter().enumerate() {
                    if let Argument::Unknown(len) = argument {
                        let text = (0..*len).map(|at| byte(format!("arg{}[{at}]", index + 1)));
                        words.push(text.take_while(|&b| b != 0).collect());
                    }
                }
                (words, (0..*stdin).map(|at| byte(format!("stdin[{at}]"))).collect::<Vec<u8>>())
            }
            Entry::Function(_) => unreachable!("this corpus starts at main"),
        };
        let (outcome, stdout) = execute(&arguments, &stdin, record.values.iter().map(|&t| bits(t)).collect());
        let predicted: Vec<u8> = record.output.iter().map(|&t| bits(t).to_u64().unwrap_or(0) as u8).collect();
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

#[test]
fn exactly_one_path_holds_and_predicts_the_run() {
    let mut failures = Vec::new();
    let mut held = 0;
    for case in cases("symbolic") {
        held += check(&case, 60, &mut failures);
    }
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures.join("\n"));
    assert!(held > 200, "only {held} random inputs met a path");
}
