//! The errata of the drafts, as `docs/heap-errata.md` lists them: each wrong rule shows on the program of its line, and on no
//! line does the right rule.

use crate::common;

use parallax_engines::engine::{lazy, summary};
use parallax_engines::exact::compare;
use parallax_engines::*;
use parallax_heap::Draft;
use parallax_javalite::*;
use parallax_term::Store;

const PAGE: &str = include_str!("../../../../../docs/heap-errata.md");

/// The programs of the page, by number.
fn programs() -> Vec<(usize, String)> {
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| "));
    let rows = rows.filter_map(|row| {
        let number = row.split(" | ").next()?.parse().ok()?;
        let program = row.rsplit(" | ").next()?.split('`').nth(1)?;
        Some((number, program.to_owned()))
    });
    rows.map(|(number, program)| match program.starts_with("(class") {
        true => (number, format!("{program} (A run)")),
        false => (number, format!("(class A ([A a] [A b] [A c]) ({program})) (A run)")),
    })
    .collect()
}

/// Whether a planted rule shows on a program under some bound, or the machine trips over it.
fn shows(text: &str, draft: Option<Draft>, drafts: MachineDrafts, root_alias: bool) -> bool {
    [None, Some(0), Some(1), Some(2)].into_iter().any(|k| {
        let store = Store::new();
        let (setup, task) = common::prepare(&store, text, Inputs { k, array: 2, root_alias: true });
        let right = lazy(&setup, &task, Laziness::Lazy, usize::MAX, &mut |_| Ok(()));
        let planted = Task { drafts, ..task.clone() };
        let inputs = Inputs { root_alias, ..setup.inputs };
        let mut other = parallax_javalite::setup(&store, &task.program, task.class, task.method, inputs);
        other.oracle = setup.oracle.clone();
        let wrong = summary(&other, &planted, draft, &mut common::at_most(600));
        match wrong.outcome {
            Err(Stop::Broken(_)) => true,
            Err(_) => false,
            Ok(()) => !compare(&setup, &right, &wrong, 300, true).unwrap().differences.is_empty(),
        }
    })
}

#[test]
fn each_wrong_rule_shows_on_its_program() {
    let right = MachineDrafts::default();
    let planted: &[(usize, Option<Draft>, MachineDrafts)] = &[
        (1, Some(Draft::DeadNullIsStuck), right),
        (2, Some(Draft::InitEverywhere), right),
        (3, Some(Draft::InitTwice), right),
        (4, Some(Draft::AliasExcludesAll), right),
        (5, Some(Draft::AliasNeedNotExist), right),
        (6, Some(Draft::UnequalForgets), right),
        (7, Some(Draft::UnequalNeedsUncommon), right),
        (8, Some(Draft::NullMustBeImpossible), right),
        (9, Some(Draft::ErrorKeepsPath), right),
        (10, Some(Draft::WriteInitialises), right),
        (11, None, MachineDrafts { write_checks_value: true, ..right }),
        (12, Some(Draft::NoAlias), right),
        (13, Some(Draft::EqualStrengthensEdges), right),
        (14, None, MachineDrafts { var_binds_fresh: true, ..right }),
        (15, None, MachineDrafts { pop_restores_all: true, ..right }),
        (16, None, MachineDrafts { callee_extends_caller: true, ..right }),
        (17, Some(Draft::NewIsUninitialised), right),
        (20, Some(Draft::TypeIgnoresClass), right),
    ];
    let programs = programs();
    let program = |number: usize| &programs.iter().find(|(known, _)| *known == number).expect("a line").1;
    let unseen: Vec<usize> = planted
        .iter()
        .filter(|(number, draft, drafts)| !shows(program(*number), *draft, *drafts, true))
        .map(|(number, ..)| *number)
        .collect();
    assert!(unseen.is_empty(), "nothing shows on the programs of {unseen:?}");
    assert!(shows(program(24), None, right, false), "this is an input object");
    for (number, text) in &programs {
        assert!(!shows(text, None, right, true), "the right rules differ on the program of line {number}");
    }
}

/// Every line but the two about texts has its program.
#[test]
fn each_line_has_a_program() {
    let numbers: Vec<usize> = programs().into_iter().map(|(number, _)| number).collect();
    let expected: Vec<usize> = (1..=25).filter(|number| ![21, 25].contains(number)).collect();
    assert_eq!(numbers, expected);
}
