//! What a path says of its sides, held against trying every input.

use parallax_op::{BinOp, RelOp};
use parallax_path::{Bound, Model, Oracle, Path, Recall, Split};
use parallax_smt::Limits;
use parallax_term::{Formula, Store, Term};
use proptest::prelude::*;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A small condition on two numbers of four bits and two truth values.
#[derive(Clone, Debug)]
enum Condition {
    Compare(usize, usize, usize, u8),
    Truth(bool),
    Not(Box<Condition>),
    Both(Box<Condition>, Box<Condition>),
    Either(Box<Condition>, Box<Condition>),
}

fn condition() -> impl Strategy<Value = Condition> {
    let leaf = prop_oneof![
        (0..RelOp::ALL.len(), 0..BinOp::ALL.len(), 0..3usize, 0..16u8)
            .prop_map(|(r, o, v, n)| Condition::Compare(r, o, v, n)),
        any::<bool>().prop_map(Condition::Truth),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| Condition::Not(a.into())),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Condition::Both(a.into(), b.into())),
            (inner.clone(), inner).prop_map(|(a, b)| Condition::Either(a.into(), b.into())),
        ]
    })
}

struct Vocabulary<'s> {
    store: &'s Store,
    x: Term,
    y: Term,
    p: Formula,
    q: Formula,
}

impl<'s> Vocabulary<'s> {
    fn new(store: &'s Store) -> Self {
        let (x, y) = (store.symbol("x", 4), store.symbol("y", 4));
        Vocabulary { store, x, y, p: store.bool_symbol("p"), q: store.bool_symbol("q") }
    }

    fn formula(&self, condition: &Condition) -> Formula {
        let store = self.store;
        match condition {
            Condition::Compare(relation, operator, which, number) => {
                let number = store.number(4, u128::from(*number));
                let (a, b) = [(self.x, self.y), (self.x, number), (self.y, number)][*which];
                store.relop(RelOp::ALL[*relation], store.binop(BinOp::ALL[*operator], a, b), self.y)
            }
            Condition::Truth(first) => {
                if *first {
                    self.p
                } else {
                    self.q
                }
            }
            Condition::Not(a) => store.not(self.formula(a)),
            Condition::Both(a, b) => store.and(self.formula(a), self.formula(b)),
            Condition::Either(a, b) => store.or(self.formula(a), self.formula(b)),
        }
    }

    /// Every interpretation there is.
    fn inputs(&self) -> Vec<parallax_smt::Model> {
        let symbol = |name| self.store.lookup(name).unwrap();
        let mut all = Vec::new();
        for n in 0..1024u128 {
            let mut model = parallax_smt::Model::new();
            model.set_bits(symbol("x"), parallax_op::Bits::new(4, n));
            model.set_bits(symbol("y"), parallax_op::Bits::new(4, n >> 4));
            model.set_boolean(symbol("p"), n >> 8 & 1 == 1);
            model.set_boolean(symbol("q"), n >> 9 & 1 == 1);
            all.push(model);
        }
        all
    }
}

fn recalls() -> impl Strategy<Value = Recall> {
    (0..4usize, any::<bool>(), any::<bool>()).prop_map(|(models, values, facts)| Recall {
        models,
        values,
        facts,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Whatever a path remembers, its answers are those of trying every input.
    #[test]
    fn a_path_splits_as_its_inputs_do(
        conditions in prop::collection::vec((condition(), any::<bool>(), any::<bool>()), 1..8),
        recall in recalls(),
    ) {
        let store = Store::new();
        let words = Vocabulary::new(&store);
        let oracle = Oracle::new(parallax_smt::solver(&store)).with_recall(recall);
        let mut inputs = words.inputs();
        let mut path: Path = Path::new(&oracle);
        for (condition, side, assumed) in &conditions {
            let condition = words.formula(condition);
            // What is plain is answered without a look at the path, which may be one that cannot be.
            if store.as_boolean(condition).is_some() {
                continue;
            }
            let holds = |model: &parallax_smt::Model| model.formula(&store, condition);
            let (yes, no) = (inputs.iter().any(holds), inputs.iter().any(|model| !holds(model)));
            let expected = match (yes, no) {
                (true, true) => Split::Both,
                (true, false) => Split::True,
                (false, true) => Split::False,
                (false, false) => Split::Neither,
            };
            prop_assert_eq!(path.split(&oracle, condition), Ok(expected));
            prop_assert_eq!(path.sat(&oracle, condition).unwrap().is_some(), yes);
            let taken = if *side { condition } else { store.not(condition) };
            if *assumed {
                path.assume(&oracle, taken, ());
            } else {
                let (then, otherwise) = path.fork(&oracle, condition, ()).unwrap();
                prop_assert_eq!((then.is_some(), otherwise.is_some()), (yes, no));
                match if *side { then } else { otherwise } {
                    Some(next) => path = next,
                    None => break,
                }
            }
            inputs.retain(|model| holds(model) == *side);
            let formulas = path.formulas();
            for model in path.models() {
                prop_assert!(formulas.iter().all(|&f| model.holds(&store, f)), "a model that is none");
            }
        }
        let left = path.sat_all(&oracle, &[words.p, words.q]).unwrap().is_some();
        let both = |model: &&parallax_smt::Model| model.formula(&store, words.p) && model.formula(&store, words.q);
        prop_assert_eq!(left, inputs.iter().find(both).is_some());
    }

    /// A question about one of many numbers that have nothing to do with each other: what is found is a model of all of them.
    #[test]
    fn a_model_of_a_part_is_one_of_the_whole(
        conditions in prop::collection::vec(
            (0..RelOp::ALL.len(), 0..BinOp::ALL.len(), 0..6usize, 0..16u128, 0..16u128), 1..24),
        recall in recalls(),
    ) {
        let store = Store::new();
        let oracle = Oracle::new(parallax_smt::solver(&store)).with_recall(recall);
        let numbers: Vec<Term> = (0..6).map(|n| store.symbol(&format!("n{n}"), 4)).collect();
        let mut values: Vec<Vec<u128>> = vec![(0..16).collect(); numbers.len()];
        let mut path: Path = Path::new(&oracle);
        for (relation, operator, which, a, b) in conditions {
            let number = numbers[which];
            let computed = store.binop(BinOp::ALL[operator], number, store.number(4, a));
            let condition = store.relop(RelOp::ALL[relation], computed, store.number(4, b));
            let symbol = store.lookup(&format!("n{which}")).unwrap();
            let holds = |value: &u128| {
                let mut model = parallax_smt::Model::new();
                model.set_bits(symbol, parallax_op::Bits::new(4, *value));
                model.formula(&store, condition)
            };
            let possible = values[which].iter().any(holds);
            let found = path.sat(&oracle, condition).unwrap();
            prop_assert_eq!(found.is_some(), possible);
            if let Some(model) = found {
                prop_assert!(path.formulas().iter().all(|&formula| model.holds(&store, formula)));
                prop_assert!(model.holds(&store, condition));
                values[which].retain(holds);
                path = path.and(&oracle, condition, (), model);
            }
        }
    }

    /// Two sides of a fork, merged, allow what either allowed.
    #[test]
    fn a_merged_path_allows_what_either_did(a in condition(), b in condition(), c in condition()) {
        let store = Store::new();
        let words = Vocabulary::new(&store);
        let oracle = Oracle::new(parallax_smt::solver(&store));
        let [a, b, c] = [a, b, c].map(|condition| words.formula(&condition));
        let path: Path = Path::new(&oracle);
        let (Some(mut then), Some(mut otherwise)) = path.fork(&oracle, a, ()).unwrap() else { return Ok(()) };
        then.assume(&oracle, b, ());
        otherwise.assume(&oracle, c, ());
        let either = store.or(store.and(a, b), store.and(store.not(a), c));
        // Questions before the merge leave models and facts behind.
        let _ = (then.split(&oracle, c), otherwise.split(&oracle, b));
        let shared = then.shared(&otherwise);
        prop_assert_eq!(shared, 0);
        let Some(merged) = then.merged(&otherwise, &oracle, shared, &[(either, ())]) else { return Ok(()) };
        for guard in [a, b, c, words.p] {
            let possible = words.inputs().iter().any(|m| m.formula(&store, either) && m.formula(&store, guard));
            prop_assert_eq!(merged.sat(&oracle, guard).unwrap().is_some(), possible);
        }
    }

    /// A model that remembers values gives those of the logic, also after a truth value was set.
    #[test]
    fn remembered_values_are_those_of_the_logic(
        conditions in prop::collection::vec(condition(), 1..6),
        input in 0..1024usize,
    ) {
        let store = Store::new();
        let words = Vocabulary::new(&store);
        let mut given = words.inputs().swap_remove(input);
        let model = Rc::new(Model::new(given.clone(), true));
        let formulas: Vec<Formula> = conditions.iter().map(|condition| words.formula(condition)).collect();
        for &formula in &formulas {
            prop_assert_eq!(model.holds(&store, formula), given.formula(&store, formula));
        }
        let q = store.lookup("q").unwrap();
        let changed = model.with(&store, q);
        given.set_boolean(q, true);
        for &formula in &formulas {
            prop_assert_eq!(changed.holds(&store, formula), given.formula(&store, formula));
        }
        prop_assert_eq!(changed.term(&store, words.x), given.term(&store, words.x));
    }
}

#[test]
fn wide_vectors_and_tables_are_evaluated_too() {
    let store = Store::new();
    let wide = store.symbol("wide", 200);
    let memory = store.func_symbol("memory", 64, 8);
    let read = store.access(memory, store.number(64, 5));
    let formula = store
        .and(store.relop(RelOp::Ult, wide, store.number(200, 1 << 90)), store.eq(read, store.number(8, 0)));
    assert!(Model::new(parallax_smt::Model::new(), true).holds(&store, formula));
    assert!(!Model::new(parallax_smt::Model::new(), true).holds(&store, store.not(formula)));
}

#[test]
fn a_late_oracle_says_that_it_does_not_know() {
    let store = Store::new();
    let oracle = Oracle::new(parallax_smt::solver(&store));
    let x = store.symbol("x", 32);
    let condition = store.eq(x, store.number(32, 5));
    let path: Path = Path::new(&oracle);
    oracle.set_deadline(Some(Instant::now() - Duration::from_secs(1)));
    assert_eq!(path.split(&oracle, condition), Err(parallax_smt::Reason::Time));
    assert_eq!(oracle.usage().checks(), 0);
    oracle.set_deadline(None);
    assert_eq!(path.split(&oracle, condition), Ok(Split::Both));
    assert_eq!(oracle.usage().checks(), 1);
    // The answer is remembered: one model for each side.
    assert_eq!(path.split(&oracle, condition), Ok(Split::Both));
    assert_eq!(oracle.usage().checks(), 1);
}

#[test]
fn what_the_solver_does_not_know_is_no_answer() {
    let store = Store::new();
    let limits = Limits { conflicts: Some(0), size: 1, ..Limits::default() };
    let oracle = Oracle::new(Box::new(parallax_smt::Tier0::new(&store))).with_limits(limits);
    let [x, y] = ["x", "y"].map(|name| store.symbol(name, 64));
    let hard = store.eq(store.binop(BinOp::Mul, x, y), store.number(64, 0xffff_ffff_ffff));
    let path: Path = Path::new(&oracle);
    let reason = path.split(&oracle, hard).unwrap_err();
    assert_eq!(Bound::Solver(reason).name(), "solver");
}
