//! Every program of the corpus says in its first lines what becomes of it.
//!
//! `(* check [option=value ...]: accepted TYPE *)`, `rejected MESSAGE`, `gap MESSAGE`, `accepted-with-gaps TYPE`, and
//! `(* run [extern=value ...]: VALUE *)`.

use parallax_mix::complaint::ComplaintKind;
use parallax_mix::interp::{self, Limits, Value};
use parallax_mix::mix::{self, Exhaustiveness, Havoc, Options, Outer};
use parallax_mix::symbolic::{Conditionals, Consistency};
use parallax_mix::syntax::Program;
use parallax_mix::world::Answers;
use std::path::PathBuf;

fn corpus() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/mix");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "mix"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("a readable file"))
        })
        .collect();
    files.sort();
    files
}

/// Verb, settings, and what is expected.
type Expectation<'a> = (&'a str, Vec<(&'a str, &'a str)>, &'a str);

/// The lines `(* verb settings: expected *)` at the start of a text.
fn expectations(text: &str) -> Vec<Expectation<'_>> {
    text.lines()
        .filter_map(|line| {
            let line = line.strip_prefix("(* ")?.strip_suffix(" *)")?;
            let (head, expected) = line.split_once(": ")?;
            let mut words = head.split(' ');
            let verb = words.next().filter(|verb| matches!(*verb, "check" | "run"))?;
            Some((verb, words.filter_map(|word| word.split_once('=')).collect(), expected))
        })
        .collect()
}

fn options(settings: &[(&str, &str)]) -> Options {
    let mut options = Options::default();
    for setting in settings {
        match setting {
            ("outer", "symbolic") => options.outer = Outer::Symbolic,
            ("conditionals", "defer") => options.symbolic.conditionals = Conditionals::Defer,
            ("memory", "solver") => options.symbolic.consistency = Consistency::Solver,
            ("havoc", "effects") => options.havoc = Havoc::Effects,
            ("exhaustive", "good-enough") => options.exhaustiveness = Exhaustiveness::GoodEnough,
            other => panic!("unknown setting {other:?}"),
        }
    }
    options
}

fn check(program: &Program, settings: &[(&str, &str)]) -> String {
    let verdict = mix::check(program, &options(settings));
    match (verdict.errors.first(), verdict.gaps.is_empty()) {
        (None, true) => format!("accepted {}", verdict.ty),
        (None, false) => format!("accepted-with-gaps {}", verdict.ty),
        (Some(first), _) => match first.kind {
            ComplaintKind::Error => format!("rejected {}", first.message),
            ComplaintKind::Gap => format!("gap {}", first.message),
        },
    }
}

fn run(program: &Program, settings: &[(&str, &str)]) -> String {
    let mut world = Answers::default();
    for (name, value) in settings {
        let value = match *value {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            number => Value::Int(number.parse().expect("a number")),
        };
        world.named.insert(name.to_string(), value);
    }
    match interp::run(program, &mut world, &mut (), Limits::default()) {
        Ok(finished) => interp::show(&finished.value, &finished.memory),
        Err(stop) => stop.to_string(),
    }
}

#[test]
fn every_program_does_what_its_first_lines_say() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (name, text) in corpus() {
        let program = match parallax_mix::read(&text) {
            Ok(program) => program,
            Err(diagnostic) => {
                wrong.push(format!("{name}: does not read: {}", diagnostic.message));
                continue;
            }
        };
        let expectations = expectations(&text);
        assert!(!expectations.is_empty(), "{name} expects nothing");
        for (verb, settings, expected) in expectations {
            let found = match verb {
                "check" => check(&program, &settings),
                _ => run(&program, &settings),
            };
            count += 1;
            // A message may be given by its beginning.
            let fits = found == expected
                || !expected.starts_with("accepted") && verb == "check" && found.starts_with(expected);
            if !fits {
                wrong.push(format!("{name}: {verb} {settings:?}: expected {expected}, found {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 90, "only {count} expectations");
}

/// "Rejected without its blocks and accepted with them": each example of section 2 stands in both forms.
#[test]
fn examples_need_their_blocks() {
    let corpus = corpus();
    let mut pairs = 0;
    for (name, text) in &corpus {
        let Some(with_blocks) = name.strip_suffix(".plain") else { continue };
        let (_, partner) =
            corpus.iter().find(|(name, _)| name == with_blocks).expect("a partner with blocks");
        let verdict =
            |text: &str| mix::check(&parallax_mix::read(text).expect("it reads"), &Options::default());
        assert!(!verdict(text).accepted(), "{name} is accepted without its blocks");
        assert!(verdict(partner).accepted(), "{with_blocks} is rejected");
        pairs += 1;
    }
    assert_eq!(pairs, 13);
}
