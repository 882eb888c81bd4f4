//! Vectors taken by their order: the same answers as with all their bits, and models that hold.

use crate::satisfies;

use parallax_op::{BinOp, Bits, BoolOp, FloatRelOp, RelOp, Width};
use parallax_smt::{Answer, Solver, Tier0};
use parallax_term::{Formula, Store, Term};
use proptest::prelude::*;
use satisfies::satisfies;

type Step = (u8, u16, u16, u16);

const KEYS: usize = 6;

/// Constants where gaps are narrow or absent: the ends, neighbours, a few apart.
fn constants(width: Width) -> Vec<i64> {
    let most = (1i64 << (width - 2)) - 1 + (1i64 << (width - 2));
    vec![-most - 1, -most, -2, -1, 0, 1, 4, 6, 1000 % most, most - 1, most]
}

fn pick<T: Copy>(all: &[T], number: u16) -> T {
    all[usize::from(number) % all.len()]
}

/// Formulas over keys that are compared and chosen between; `arithmetic` lets one in ten steps compute.
fn formulas(store: &Store, width: Width, steps: &[Step], arithmetic: bool) -> Vec<Formula> {
    let mut terms: Vec<Term> = (0..KEYS).map(|key| store.symbol(&format!("key{key}"), width)).collect();
    let numbers = constants(width);
    let constant = |n: u16| store.constant(&Bits::new(width, pick(&numbers, n) as i128 as u128));
    let mut truths: Vec<Formula> = vec![store.bool_symbol("p"), store.bool_symbol("q")];
    let mut made = Vec::new();
    for &(op, i, j, k) in steps {
        let (a, b) = (pick(&terms, i), if j.is_multiple_of(3) { constant(j / 3) } else { pick(&terms, j) });
        match op % 10 {
            0 => terms.push(store.ite(pick(&truths, k), a, b)),
            1 if arithmetic => terms.push(store.binop(BinOp::Add, a, b)),
            2 if arithmetic => truths.push(store.relop(RelOp::Ult, a, b)),
            1..=5 => {
                let op = pick(&[RelOp::Slt, RelOp::Sle, RelOp::Eq, RelOp::Ne, RelOp::Sgt], k);
                truths.push(store.relop(op, a, b));
                made.push(truths[truths.len() - 1]);
            }
            6 => truths.push(store.not(pick(&truths, k))),
            _ => {
                let op = pick(&[BoolOp::And, BoolOp::Or, BoolOp::Iff], k);
                truths.push(store.boolop(op, pick(&truths, i), pick(&truths, j)));
                made.push(truths[truths.len() - 1]);
            }
        }
    }
    made
}

fn agree(width: Width, steps: &[Step], choice: u64, arithmetic: bool) -> Result<[u32; 2], TestCaseError> {
    let store = Store::new();
    let all = formulas(&store, width, steps, arithmetic);
    let mut plain = Tier0::new(&store);
    let mut ranked = Tier0::new(&store).by_order();
    let mut tally = [0; 2];
    for round in 0..8 {
        let some = choice.rotate_left(round * 7);
        let query: Vec<Formula> =
            all.iter().enumerate().filter(|(at, _)| some >> (at % 64) & 3 == 3).map(|(_, f)| *f).collect();
        let expected = plain.check(&query).decided().unwrap();
        let answer = ranked.check(&query);
        prop_assert_eq!(answer.decided(), Ok(expected));
        match answer {
            Answer::Sat(model) => prop_assert!(satisfies(&model, &store, &query)),
            _ => {
                let core = ranked.unsat_core().to_vec();
                prop_assert!(core.iter().all(|formula| query.contains(formula)));
                prop_assert!(plain.check(&core).is_unsat());
            }
        }
        tally[usize::from(expected)] += 1;
    }
    Ok(tally)
}

#[test]
fn ranks_answer_as_all_bits_do() {
    let config = ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let seen = std::cell::Cell::new([0; 2]);
    let steps = prop::collection::vec(any::<Step>(), 5..60);
    runner
        .run(&(steps, any::<u64>(), any::<bool>(), 0..3usize), |(steps, choice, arithmetic, width)| {
            let tally = agree([12, 32, 64][width], &steps, choice, arithmetic)?;
            let [no, yes] = seen.get();
            seen.set([no + tally[0], yes + tally[1]]);
            Ok(())
        })
        .unwrap();
    let [no, yes] = seen.get();
    assert!(no > 300 && yes > 300, "the formulas are no test: {no} unsat, {yes} sat");
}

/// Between two neighbours there is no number, and ranks must not make one up; nor beyond the ends.
#[test]
fn gaps_have_as_many_ranks_as_numbers() {
    let store = Store::new();
    let number = |n: i32| store.number(32, u128::from(n as u32));
    let keys: Vec<Term> = (0..4).map(|key| store.symbol(&format!("key{key}"), 32)).collect();
    let below = |a: Term, b: Term| store.relop(RelOp::Slt, a, b);
    // So many keys in strictly rising order between two numbers.
    let rising = |count: usize, low: i32, high: i32| {
        let mut chain = vec![number(low)];
        chain.extend(&keys[..count]);
        chain.push(number(high));
        chain.windows(2).map(|pair| below(pair[0], pair[1])).collect::<Vec<_>>()
    };
    let mut ranked = Tier0::new(&store).by_order();
    for (count, low, high) in [(1, 5, 6), (2, 5, 7), (3, -2, 1), (4, 0, 4), (4, i32::MIN, i32::MIN + 4)] {
        let room = i64::from(high) - i64::from(low) - 1;
        assert!(room < count as i64);
        assert!(ranked.check(&rising(count, low, high)).is_unsat(), "{count} between {low} and {high}");
        let answer = ranked.check(&rising(room as usize, low, high));
        assert!(answer.is_sat(), "{room} between {low} and {high}");
    }
    assert!(ranked.check(&[below(number(i32::MAX), keys[0])]).is_unsat());
    assert!(ranked.check(&[below(keys[0], number(i32::MIN))]).is_unsat());
    assert!(ranked.check(&[below(number(i32::MAX - 1), keys[0])]).is_sat());
}

/// A query that is given up for its floats has expressions that the next one shares.
#[test]
fn what_a_query_with_floats_says_of_keys_counts() {
    let store = Store::new();
    let [a, b, x] = ["a", "b", "x"].map(|name| store.symbol(name, 32));
    let unsigned = store.relop(RelOp::Ule, a, b);
    let float = store.float_rel(FloatRelOp::Lt, x, store.number(32, 0x3f80_0000));
    let number = |n: i32| store.number(32, u128::from(n as u32));
    // Only as signed numbers is the one below the other.
    let query = [unsigned, store.eq(a, number(-1)), store.relop(RelOp::Slt, b, number(5))];
    let also = [unsigned, store.eq(a, number(1)), store.relop(RelOp::Slt, b, number(0))];
    for query in [query, also] {
        let mut ranked = Tier0::new(&store).by_order();
        assert!(matches!(ranked.check(&[unsigned, float]), Answer::Unknown(_)));
        assert_eq!(ranked.check(&query).is_sat(), Tier0::new(&store).check(&query).is_sat());
    }
}
