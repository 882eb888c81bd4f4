//! Every program of the corpus prints and returns what its native build does, from unoptimised and optimised IR.

use crate::corpus;

use corpus::{Case, cases, each, environment, native};
use parallax_cexplore::run::{Closed, Outcome, Settings, run};
use parallax_cexplore::{Sources, program};
use parallax_cmachine::Files;

fn ours(case: &Case, optimise: u8) -> (Vec<u8>, Vec<u8>, Outcome) {
    let mut sources = Sources { files: vec![case.file.clone()], ..Sources::default() };
    sources.options.optimise = optimise;
    let program = program::load(&sources).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    let mut world = Closed { files: Files::new(case.stdin.clone(), []), ..Closed::default() };
    world.environment = environment(case).into_iter().map(String::into_bytes).collect();
    let settings = Settings { steps: Some(50_000_000), ..Settings::default() };
    let finished = run(&program.module, &case.arguments, &mut world, &settings, &mut |_| {});
    (world.stdout, world.stderr, finished.outcome)
}

#[test]
fn the_corpus_behaves_as_native_programs_do() {
    behave_as_native("run", 60);
}

/// The world around a program: environment, files and folders, large memory, what linkers and assemblers do.
#[test]
fn programs_see_the_world_that_native_programs_see() {
    behave_as_native("world", 30);
}

fn behave_as_native(folder: &str, least: usize) {
    let cases = cases(folder);
    assert!(cases.len() >= least, "the corpus has {} programs", cases.len());
    let (failures, _) = each(&cases, |case, failures| {
        let expected = native(case);
        for optimise in [0, 2] {
            let (stdout, stderr, outcome) = ours(case, optimise);
            let same = stdout == expected.stdout
                && stderr == expected.stderr
                && outcome == Outcome::Exit(expected.status.code().unwrap_or(-1) as u8);
            if !same {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                failures.push(format!(
                    "{} -O{optimise}: {outcome:?}\n--- ours\n{}--- native ({:?})\n{}",
                    case.name,
                    text(&stdout),
                    expected.status.code(),
                    text(&expected.stdout)
                ));
            }
        }
    });
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), 2 * cases.len(), failures.join("\n"));
}
