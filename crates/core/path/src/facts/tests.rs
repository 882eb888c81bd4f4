//! Every answer that facts give is held against the solver, on conditions as paths of heaps have them: choices of which
//! exactly one holds, keys that are read through them, and comparisons.

use super::*;
use parallax_op::{BinOp, RelOp};
use parallax_smt::{Answer, Solver, Tier0};
use parallax_term::Term;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Key {
    Symbol(usize),
    Constant(i8),
    /// Read through a selector: one key for each of its choices.
    Read(usize, [usize; 3]),
    Sum(usize, i8),
}

#[derive(Clone, Debug)]
enum Condition {
    Choice(usize, usize),
    Compare(RelOp, Key, Key),
    ExactlyOne(usize),
    Not(Box<Condition>),
    Both(Box<Condition>, Box<Condition>),
    Either(Box<Condition>, Box<Condition>),
    Same(Box<Condition>, Box<Condition>),
    If(Box<Condition>, Box<Condition>, Box<Condition>),
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        4 => (0..4usize).prop_map(Key::Symbol),
        2 => (-3..3i8).prop_map(Key::Constant),
        3 => (0..3usize, [0..4usize, 0..4usize, 0..4usize]).prop_map(|(s, keys)| Key::Read(s, keys)),
        1 => (0..4usize, -2..3i8).prop_map(|(s, n)| Key::Sum(s, n)),
    ]
}

/// Mostly one that facts look at.
fn relation() -> impl Strategy<Value = RelOp> {
    let any = (0..RelOp::ALL.len()).prop_map(|at| RelOp::ALL[at]);
    prop_oneof![
        2 => Just(RelOp::Slt), 2 => Just(RelOp::Sle), 2 => Just(RelOp::Eq), 2 => Just(RelOp::Ne), 1 => any,
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    let leaf = prop_oneof![
        3 => (0..3usize, 0..3usize).prop_map(|(s, c)| Condition::Choice(s, c)),
        4 => (relation(), key(), key()).prop_map(|(r, a, b)| Condition::Compare(r, a, b)),
        2 => (0..3usize).prop_map(Condition::ExactlyOne),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let one = || inner.clone().prop_map(Box::new);
        prop_oneof![
            one().prop_map(Condition::Not),
            (one(), one()).prop_map(|(a, b)| Condition::Both(a, b)),
            (one(), one()).prop_map(|(a, b)| Condition::Either(a, b)),
            (one(), one()).prop_map(|(a, b)| Condition::Same(a, b)),
            (one(), one(), one()).prop_map(|(a, b, c)| Condition::If(a, b, c)),
        ]
    })
}

fn choice(store: &Store, selector: usize, choice: usize) -> Formula {
    store.bool_symbol(&format!("s{selector} is {choice}"))
}

fn term(store: &Store, key: &Key) -> Term {
    let symbol = |n: usize| store.symbol(&format!("k{n}"), 8);
    let number = |n: i8| store.number(8, n as u8 as u128);
    match key {
        Key::Symbol(n) => symbol(*n),
        Key::Constant(n) => number(*n),
        Key::Read(selector, [a, b, c]) => {
            let rest = store.ite(choice(store, *selector, 1), symbol(*b), symbol(*c));
            store.ite(choice(store, *selector, 0), symbol(*a), rest)
        }
        Key::Sum(n, by) => store.binop(BinOp::Add, symbol(*n), number(*by)),
    }
}

fn formula(store: &Store, condition: &Condition) -> Formula {
    let of = |condition: &Condition| formula(store, condition);
    match condition {
        Condition::Choice(selector, which) => choice(store, *selector, *which),
        Condition::Compare(op, a, b) => store.relop(*op, term(store, a), term(store, b)),
        Condition::ExactlyOne(selector) => {
            let choices = [0, 1, 2].map(|which| choice(store, *selector, which));
            let [a, b, c] = choices;
            let two = store.any([store.and(a, b), store.and(a, c), store.and(b, c)]);
            store.and(store.any(choices), store.not(two))
        }
        Condition::Not(a) => store.not(of(a)),
        Condition::Both(a, b) => store.and(of(a), of(b)),
        Condition::Either(a, b) => store.or(of(a), of(b)),
        Condition::Same(a, b) => store.iff(of(a), of(b)),
        Condition::If(a, b, c) => store.ite_bool(of(a), of(b), of(c)),
    }
}

/// How many questions were asked, and how many had an answer.
#[derive(Default)]
struct Score {
    asked: usize,
    answered: usize,
}

fn check(store: &Store, facts: &mut Facts, path: &[Formula], guard: Formula, score: &mut Score) {
    let mut solver = Tier0::new(store);
    let mut whole = path.to_vec();
    whole.push(guard);
    let possible = matches!(solver.check(&whole), Answer::Sat(_));
    score.asked += 1;
    match facts.ask(store, guard, || None::<()>, &|_| false) {
        Known::No => assert!(!possible, "refuted, and yet it can be"),
        Known::Kept(()) => unreachable!("none was kept"),
        Known::Yes { values, guessed } => {
            let mut model = parallax_smt::Model::new();
            for (symbol, value) in values {
                match store.expr_of(symbol) {
                    parallax_term::Expr::Formula(_) => model.set_boolean(symbol, value != 0),
                    _ => model.set_bits(symbol, parallax_op::Bits::new(8, value.into())),
                }
            }
            let holds = whole.iter().all(|&formula| model.formula(store, formula));
            assert!(holds || guessed, "a model that is none: {model:?}");
            if !holds {
                return;
            }
        }
        Known::Open => return,
    }
    score.answered += 1;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn answers_are_those_of_the_solver(
        first in prop::collection::vec(condition(), 0..6),
        second in prop::collection::vec(condition(), 0..6),
        keep in 0..6usize,
        guards in prop::collection::vec(condition(), 1..6),
    ) {
        let store = Store::new();
        let mut facts = Facts::until(|| false);
        let mut score = Score::default();
        // Two paths that share their beginning, and the first again: what came must have gone.
        let first: Vec<Formula> = first.iter().map(|condition| formula(&store, condition)).collect();
        let mut other = first[..keep.min(first.len())].to_vec();
        other.extend(second.iter().map(|condition| formula(&store, condition)));
        for (number, path) in [&first, &other, &first].into_iter().enumerate() {
            facts.turn_to(&store, number as u64 + 1, || path.clone()).unwrap();
            for guard in &guards {
                check(&store, &mut facts, path, formula(&store, guard), &mut score);
            }
        }
    }
}

/// An answer is worth something only if it is given mostly.
#[test]
fn most_questions_have_an_answer() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut score = Score::default();
    for _ in 0..200 {
        let conditions = prop::collection::vec(condition(), 1..8).new_tree(&mut runner).unwrap().current();
        let store = Store::new();
        let mut facts = Facts::until(|| false);
        let path: Vec<Formula> = conditions.iter().map(|condition| formula(&store, condition)).collect();
        let (guard, path) = path.split_last().unwrap();
        facts.turn_to(&store, 1, || path.to_vec()).unwrap();
        check(&store, &mut facts, path, *guard, &mut score);
    }
    assert!(score.answered * 10 > score.asked * 8, "{} of {}", score.answered, score.asked);
}

/// A path of keys in order, and a guard of other keys in a circle: both take many conclusions.
fn long_path(store: &Store) -> (Vec<Formula>, Formula) {
    let chain = |name: &str| -> Vec<Formula> {
        let keys: Vec<Term> = (0..70).map(|n| store.symbol(&format!("{name}{n}"), 8)).collect();
        keys.windows(2).map(|pair| store.relop(RelOp::Slt, pair[0], pair[1])).collect()
    };
    let back = store.relop(RelOp::Slt, store.symbol("c69", 8), store.symbol("c0", 8));
    (chain("k"), store.all(chain("c").into_iter().chain([back])))
}

/// The time is over at every look at the clock in turn. Then nothing is said, and with time again all is said as before:
/// conclusions that were drawn by half are not taken for whole ones.
#[test]
fn late_facts_say_nothing_and_keep_nothing() {
    use std::cell::Cell;
    use std::rc::Rc;
    let store = Store::new();
    let (path, guard) = long_path(&store);
    let looks = Rc::new(Cell::new(0u32));
    let ask = |facts: &mut Facts| -> Option<bool> {
        facts.turn_to(&store, 1, || path.clone()).ok()?;
        match facts.ask(&store, guard, || None::<()>, &|_| false) {
            Known::No => Some(false),
            Known::Yes { .. } | Known::Kept(()) => Some(true),
            Known::Open => None,
        }
    };
    let counted = looks.clone();
    let mut in_time = Facts::until(move || {
        counted.set(counted.get() + 1);
        false
    });
    assert_eq!(ask(&mut in_time), Some(false));
    assert!(looks.get() > 3, "a path that takes long: {} looks", looks.get());
    for over in 1..=looks.get() {
        let left = Cell::new(over);
        let mut facts = Facts::until(move || {
            left.set(left.get().saturating_sub(1));
            let over = left.get() == 0;
            if over {
                left.set(u32::MAX);
            }
            over
        });
        assert_eq!(ask(&mut facts), None, "at look {over}");
        assert_eq!((facts.cone.len(), facts.conjuncts.len()), (0, 0), "at look {over}");
        assert_eq!(ask(&mut facts), Some(false), "after look {over}");
    }
}
