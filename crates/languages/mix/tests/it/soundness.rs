//! Theorem 1 on generated programs: what MIX accepts never reaches `error`, and its value has the announced type.
//!
//! Not generated: names from outside that are references to references, floats or functions of functions; powers.

use crate::support;

use parallax_mix::interp::{self, Limits, Stop, Value};
use parallax_mix::mix::{self, Havoc, Omit, Options, Outer};
use parallax_mix::symbolic::{Conditionals, Consistency};
use parallax_mix::ty::Type;
use parallax_mix::types::Loose;
use parallax_mix::world::Answers;
use support::{Random, Shape};

/// How many programs each test looks at; `MIX_PROGRAMS` asks for more.
fn count(default: u64) -> u64 {
    std::env::var("MIX_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Options from a seed, so that every combination is met.
fn options(seed: u64, omit: Omit) -> Options {
    let mut random = Random(seed ^ 0x5eed);
    let mut options = Options { omit, ..Options::default() };
    options.outer = *random.pick(&[Outer::Typed, Outer::Symbolic]);
    options.havoc = *random.pick(&[Havoc::Everything, Havoc::Effects]);
    options.symbolic.conditionals =
        *random.pick(&[Conditionals::Fork, Conditionals::Fork, Conditionals::Defer]);
    options.symbolic.consistency = *random.pick(&[Consistency::Syntactic, Consistency::Solver]);
    options.symbolic.unroll = 3;
    options.symbolic.paths = 300;
    options.symbolic.steps = 20_000;
    options.symbolic.solver = support::limits();
    options
}

/// Whether a value has a type, all the way down: `|-Lambda v : t`.
fn has_type(value: &Value, ty: &Type, memory: &[Value]) -> bool {
    match (value, ty) {
        (_, Type::Var(_)) => true,
        (Value::Loc(location), Type::Ref(_, content)) => has_type(&memory[*location], content, memory),
        _ => interp::fits(value, ty),
    }
}

/// What a run says against the acceptance of a program, if anything.
fn violation(text: &str, ty: &Type, seed: u64) -> Option<String> {
    let program = parallax_mix::read(text).expect("accepted programs read");
    for environment in 0..5 {
        let mut world =
            Answers { seed: Some(seed.wrapping_mul(31).wrapping_add(environment)), ..Answers::default() };
        let limits = Limits { steps: 5_000, calls: 200 };
        match interp::run(&program, &mut world, &mut (), limits) {
            Ok(finished) if !has_type(&finished.value, ty, &finished.memory) => {
                return Some(format!("{} is no {ty}", interp::show(&finished.value, &finished.memory)));
            }
            Err(Stop::Error { message, .. }) => return Some(message),
            _ => {}
        }
    }
    None
}

const SHAPE: Shape = Shape { blocks: true, mistakes: 2, unbounded: true, depth: 5 };

/// Goes through generated programs; the seeds of accepted ones whose runs go wrong, and how many were accepted.
fn search(programs: u64, omit: Omit, enough: usize) -> (Vec<(u64, String)>, u64) {
    let mut violations = Vec::new();
    let mut accepted = 0;
    for seed in 0..programs {
        let text = support::program(seed, SHAPE);
        let program =
            parallax_mix::read(&text).unwrap_or_else(|d| panic!("seed {seed}: {}\n{text}", d.message));
        let verdict = mix::check(&program, &options(seed, omit));
        if !verdict.accepted() || !verdict.gaps.is_empty() {
            continue;
        }
        accepted += 1;
        if let Some(why) = violation(&text, &verdict.ty, seed) {
            violations.push((seed, format!("seed {seed}: {why}, in\n{text}\n{:?}", options(seed, omit))));
            if violations.len() >= enough {
                break;
            }
        }
    }
    (violations, accepted)
}

#[test]
fn accepted_programs_do_not_go_wrong() {
    let programs = count(12_000);
    let (violations, accepted) = search(programs, Omit::default(), 3);
    println!("{programs} programs, {accepted} accepted, {} of them went wrong", violations.len());
    let texts: Vec<String> = violations.into_iter().map(|(_, text)| text).collect();
    assert!(texts.is_empty(), "{}", texts.join("\n\n"));
    // Enough of them are accepted for the test to mean something, and enough are not.
    assert!(accepted * 100 >= programs * 20, "only {accepted} of {programs} accepted");
    assert!(accepted * 100 <= programs * 90, "{accepted} of {programs} accepted");
}

#[test]
fn without_exhaustiveness_the_test_finds_a_violation() {
    let (violations, _) = search(20_000, Omit { exhaustive: true, ..Omit::default() }, 1);
    assert!(!violations.is_empty());
}

#[test]
fn without_memory_consistency_the_test_finds_a_violation() {
    let (violations, _) = search(20_000, Omit { memory: true, ..Omit::default() }, 1);
    assert!(!violations.is_empty());
}

#[test]
fn without_the_value_restriction_the_test_finds_a_violation() {
    let loose = Loose { values: true, environment: false };
    let (violations, _) = search(20_000, Omit { loose, ..Omit::default() }, 1);
    assert!(!violations.is_empty());
}

#[test]
fn generalising_what_names_outside_speak_of_the_test_finds_a_violation() {
    let loose = Loose { values: false, environment: true };
    let (violations, _) = search(20_000, Omit { loose, ..Omit::default() }, 1);
    assert!(!violations.is_empty());
}

#[test]
fn following_null_the_test_finds_a_violation() {
    let (violations, _) = search(20_000, Omit { null: true, ..Omit::default() }, 1);
    assert!(!violations.is_empty());
}

#[test]
fn trusting_functions_from_outside_the_test_finds_a_violation() {
    let (violations, _) = search(20_000, Omit { outside: true, ..Omit::default() }, 1);
    assert!(!violations.is_empty());
}
