//! Benchmark: tier 0 against Z3 on small path queries, in one run.
//!
//! Each family is what some analysis asks along a path: conditions accumulate, and at every branch both sides are asked
//! for. `cold` makes a new solver for every query, `warm` keeps one for a whole path. Times are processor time. Prints `name value unit` lines.

mod families;

use cpu_time::ThreadTime;
use families::{FAMILIES, Numbers};
use parallax_smt::{Cache, Solver, Tier0, Tiered, Z3};
use parallax_term::{Formula, Store};
use std::time::Duration;

/// What one solver spent on a path's queries, with its answers.
struct Spent {
    each: Vec<Duration>,
    answers: Vec<Option<bool>>,
}

/// Asks for both sides of every branch; the path goes on where it can.
fn walk<'s>(
    conditions: &[Formula],
    store: &'s Store,
    make: &dyn Fn() -> Box<dyn Solver<'s> + 's>,
    warm: bool,
) -> Spent {
    let mut spent = Spent { each: Vec::new(), answers: Vec::new() };
    let mut path: Vec<Formula> = Vec::new();
    let mut kept = make();
    for &condition in conditions {
        let mut possible = Vec::new();
        for side in [condition, store.not(condition)] {
            path.push(side);
            let start = ThreadTime::now();
            let answer = if warm { kept.check(&path) } else { make().check(&path) };
            spent.each.push(start.elapsed());
            spent.answers.push(answer.decided().ok());
            path.pop();
            if answer.is_sat() {
                possible.push(side);
            }
        }
        path.extend(possible.first());
    }
    spent
}

fn main() {
    const PATHS: u64 = 5;
    println!("# z3 {}", Z3::version().trim_start_matches("Z3 ").trim());
    let only = std::env::args().nth(1);
    for (name, path) in FAMILIES {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        for (mode, warm) in [("cold", false), ("warm", true)] {
            let mut times: [Vec<Duration>; 4] = Default::default();
            let mut undecided = 0;
            for seed in 0..PATHS {
                let store = Store::new();
                let conditions = path(&store, &mut Numbers(seed));
                type Make<'s> = Box<dyn Fn() -> Box<dyn Solver<'s> + 's> + 's>;
                let store = &store;
                let makers: [Make; 4] = [
                    Box::new(move || Box::new(Tier0::new(store))),
                    Box::new(move || Box::new(Z3::new(store))),
                    Box::new(move || Box::new(Tiered::new(store))),
                    Box::new(move || Box::new(Cache::new(Tiered::new(store)))),
                ];
                let mut answers = Vec::new();
                for (times, make) in times.iter_mut().zip(&makers) {
                    let spent = walk(&conditions, store, make.as_ref(), warm);
                    times.extend(spent.each);
                    answers.push(spent.answers);
                }
                for index in 0..answers[0].len() {
                    let decided: Vec<bool> = answers.iter().filter_map(|a| a[index]).collect();
                    let agree = decided.windows(2).all(|pair| pair[0] == pair[1]);
                    assert!(agree, "answers differ: {name} {seed} {index} {answers:?}");
                    undecided += answers.len() - decided.len();
                }
            }
            let queries = times[0].len();
            let means = times.each_mut().map(|times| {
                let total: Duration = times.iter().sum();
                total.as_secs_f64() * 1e6 / queries as f64
            });
            for (solver, (mean, times)) in
                ["tier0", "z3", "tiered", "cached"].iter().zip(means.iter().zip(&mut times))
            {
                times.sort_unstable();
                println!("{name}.{mode}.{solver}.mean {mean:.1} us");
                println!("{name}.{mode}.{solver}.median {:.1} us", times[queries / 2].as_secs_f64() * 1e6);
            }
            println!("{name}.{mode}.queries {queries} count");
            println!("{name}.{mode}.undecided {undecided} count");
            println!("{name}.{mode}.z3_over_tier0 {:.2} ratio", means[1] / means[0]);
        }
    }
}
