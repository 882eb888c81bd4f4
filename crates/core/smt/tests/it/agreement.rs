//! Tier 0, Z3 and the two in sequence: equal answers on generated formulas.

use crate::common;
use crate::satisfies;

use common::{formulas, steps};
use parallax_smt::{Answer, Limits, Reason, Solver, Tier0, Tiered, Z3};
use parallax_term::{Formula, Store};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use satisfies::satisfies;
use std::cell::Cell;
use std::time::Duration;

const LIMITS: Limits = Limits { time: Some(Duration::from_secs(5)), conflicts: None, size: 4_000_000 };

/// How often solvers answered, and how.
#[derive(Default)]
struct Tally {
    sat: Cell<u32>,
    unsat: Cell<u32>,
    unknown: Cell<u32>,
}

fn count(cell: &Cell<u32>) {
    cell.set(cell.get() + 1);
}

/// Asks, and holds the answer against what it says of itself.
fn ask<'s>(solver: &mut dyn Solver<'s>, query: &[Formula]) -> Result<bool, Reason> {
    let store = solver.store();
    let answer = solver.check(query);
    match &answer {
        Answer::Sat(model) => assert!(satisfies(model, store, query)),
        Answer::Unsat => {
            let core = solver.unsat_core().to_vec();
            assert!(core.iter().all(|f| query.contains(f)), "a core of other formulas");
            if core.len() < query.len() {
                assert!(solver.check(&core).is_unsat(), "a core that holds");
            }
        }
        Answer::Unknown(_) => {}
    }
    answer.decided()
}

fn agreement(cases: u32, most: usize, floats: bool) -> Tally {
    let tally = Tally::default();
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner
        .run(&(steps(most), any::<u64>()), |(steps, choice)| {
            let store = Store::new();
            let all = formulas(&store, &steps, floats);
            let mut solvers: [Box<dyn Solver>; 5] = [
                Box::new(Tier0::new(&store)),
                Box::new(Z3::new(&store)),
                Box::new(Tiered::new(&store)),
                Box::new(Tier0::new(&store).by_order()),
                Box::new(Tier0::new(&store)),
            ];
            for solver in &mut solvers {
                solver.set_limits(LIMITS);
            }
            // Growing queries, then a few that are not the last one with something added.
            for round in 0..6u32 {
                let some = choice.rotate_left(round * 9);
                let query: Vec<Formula> = all
                    .iter()
                    .take(8)
                    .enumerate()
                    .filter(|(i, _)| some >> i & 1 == 1)
                    .map(|(_, f)| *f)
                    .collect();
                let answers = solvers.each_mut().map(|solver| ask(solver.as_mut(), &query));
                // The last one begins each search at the model of an earlier query, which may break any formula of the next.
                if let Answer::Sat(model) = solvers[0].check(&query) {
                    solvers[4].begin_at(&model);
                }
                let decided: Vec<bool> = answers.iter().filter_map(|a| a.clone().ok()).collect();
                prop_assert!(decided.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
                for answer in &answers[..2] {
                    match answer {
                        Ok(true) => count(&tally.sat),
                        Ok(false) => count(&tally.unsat),
                        Err(Reason::Internal(what)) => prop_assert!(false, "{what}"),
                        Err(_) => count(&tally.unknown),
                    }
                }
            }
            Ok(())
        })
        .unwrap();
    tally
}

#[test]
fn tier_0_and_z3_agree() {
    let tally = agreement(450, 40, false);
    println!(
        "answers: {} sat, {} unsat, {} unknown",
        tally.sat.get(),
        tally.unsat.get(),
        tally.unknown.get()
    );
    assert!(tally.sat.get() > 1500 && tally.unsat.get() > 400, "the formulas are no test");
    assert!(tally.unknown.get() * 100 < tally.sat.get() + tally.unsat.get(), "too many went undecided");
}

#[test]
fn floats_are_left_to_z3() {
    let tally = agreement(40, 30, true);
    println!(
        "answers: {} sat, {} unsat, {} unknown",
        tally.sat.get(),
        tally.unsat.get(),
        tally.unknown.get()
    );
    assert!(tally.sat.get() > 80 && tally.unsat.get() > 15);
}
