//! The wrong rules of the drafts, planted one at a time: the comparison with lazy initialisation must notice each.

use crate::common;

use common::generate::{Features, program};
use parallax_engines::engine::{lazy, summary};
use parallax_engines::exact::compare;
use parallax_engines::*;
use parallax_heap::Draft;
use parallax_javalite::*;
use parallax_term::Store;

fn noticed(name: &str, draft: Option<Draft>, drafts: MachineDrafts, root_alias: bool) {
    match first_notice(draft, drafts, root_alias, 400) {
        Ok(how) => println!("{name}: {how}"),
        Err(compared) => panic!("{name}: {compared} comparisons noticed nothing"),
    }
}

/// The first generated program on which a planted rule is noticed, or how many noticed nothing.
fn first_notice(
    draft: Option<Draft>,
    drafts: MachineDrafts,
    root_alias: bool,
    seeds: u64,
) -> Result<String, usize> {
    let features = [Features::REFERENCES, Features::CALLS];
    let mut compared = 0;
    for seed in 0..seeds {
        let text = program(seed, features[seed as usize % 2]);
        for k in [None, Some(2), Some(1)] {
            let store = Store::new();
            let (setup, task) = common::prepare(&store, &text, Inputs { k, array: 2, root_alias: true });
            let right = lazy(&setup, &task, Laziness::Lazy, usize::MAX, &mut common::at_most(150));
            if right.outcome.is_err() {
                continue;
            }
            compared += 1;
            let mut planted = Task { drafts, ..task.clone() };
            planted.bounds = task.bounds;
            let inputs = Inputs { root_alias, ..setup.inputs };
            let mut wrong_setup =
                parallax_javalite::setup(&store, &task.program, task.class, task.method, inputs);
            wrong_setup.oracle = setup.oracle.clone();
            let wrong = summary(&wrong_setup, &planted, draft, &mut common::at_most(600));
            let caught = match wrong.outcome {
                // A machine that is stuck or trips over its own heap has been noticed too.
                Err(Stop::Broken(_)) => true,
                Err(_) => continue,
                Ok(()) => !compare(&setup, &right, &wrong, 300, true).unwrap().differences.is_empty(),
            };
            if caught {
                return Ok(format!("noticed by comparison {compared} (seed {seed}, k {k:?})"));
            }
        }
    }
    Err(compared)
}

/// The control: with nothing planted, the same comparisons notice nothing.
#[test]
fn the_right_rules() {
    let compared = first_notice(None, MachineDrafts::default(), true, 20).unwrap_err();
    assert!(compared > 40, "only {compared} comparisons");
}

#[test]
fn rules_of_the_heap() {
    for &draft in Draft::ALL {
        noticed(&format!("{draft:?}"), Some(draft), MachineDrafts::default(), true);
    }
}

#[test]
fn this_is_an_input_object() {
    noticed("this not aliasable", None, MachineDrafts::default(), false);
}

#[test]
fn rules_of_the_machine() {
    let right = MachineDrafts::default();
    for (name, drafts) in [
        ("var binds a fresh object", MachineDrafts { var_binds_fresh: true, ..right }),
        ("pop restores everything", MachineDrafts { pop_restores_all: true, ..right }),
        ("callee extends caller", MachineDrafts { callee_extends_caller: true, ..right }),
        ("lookup ignores class", MachineDrafts { lookup_ignores_class: true, ..right }),
        ("call unchecked", MachineDrafts { call_unchecked: true, ..right }),
        ("write checks the value", MachineDrafts { write_checks_value: true, ..right }),
    ] {
        noticed(name, None, drafts, true);
    }
}
