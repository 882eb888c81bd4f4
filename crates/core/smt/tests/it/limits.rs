//! Limits, interrupts, and queries that no solver should choke on.

use crate::satisfies;

use parallax_op::{BinOp, Bits, RelOp, UnOp};
use parallax_smt::{Answer, Limits, Reason, Solver, Tier0, Tiered, Z3};
use parallax_term::{Formula, Store, Term};
use satisfies::satisfies;
use std::time::{Duration, Instant};

fn solvers<'s>(store: &'s Store) -> Vec<Box<dyn Solver<'s> + 's>> {
    vec![Box::new(Tier0::new(store)), Box::new(Z3::new(store)), Box::new(Tiered::new(store))]
}

/// Two numbers of 40 bits whose product is a product of two large primes: out of reach for seconds.
fn hard(store: &Store) -> Vec<Formula> {
    let (x, y) = (store.symbol("x", 80), store.symbol("y", 80));
    let product = 791_724_164_513u128 * 680_668_399_361;
    let mut query = vec![store.eq(store.binop(BinOp::Mul, x, y), store.number(80, product))];
    for v in [x, y] {
        query.push(store.relop(RelOp::Ult, v, store.number(80, 1 << 40)));
        query.push(store.relop(RelOp::Ult, store.number(80, 1), v));
    }
    query
}

#[test]
fn time_limits_are_kept() {
    let store = Store::new();
    let query = hard(&store);
    for mut solver in solvers(&store) {
        solver.set_limits(Limits { time: Some(Duration::from_millis(300)), ..Limits::default() });
        let start = Instant::now();
        let answer = solver.check(&query);
        assert!(matches!(answer, Answer::Unknown(Reason::Time)), "{answer:?}");
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        // And the solver is none the worse for it.
        let answer = solver.check(&query[1..]);
        assert!(answer.is_sat(), "{answer:?}");
    }
}

#[test]
fn search_limits_are_kept() {
    let store = Store::new();
    let mut solver = Tier0::new(&store);
    solver.set_limits(Limits { conflicts: Some(100), ..Limits::default() });
    assert!(matches!(solver.check(&hard(&store)), Answer::Unknown(Reason::Search)));
}

/// A million nested operators, through reads and updates as well: answered or refused, on a test thread's small stack.
#[test]
fn a_million_nested_nodes() {
    let store = Store::new();
    let (x, p) = (store.symbol("x", 32), store.bool_symbol("p"));
    let mut map = store.func_symbol("F", 32, 32);
    let mut deep = x;
    for index in 0..250_000u32 {
        deep = store.binop(
            BinOp::Xor,
            store.unop(UnOp::Not, deep),
            store.ite(p, x, store.number(32, index.into())),
        );
        if index % 100 == 0 {
            map = store.update(map, deep, x);
        }
    }
    let query = [store.relop(RelOp::Ult, store.access(map, x), deep)];
    assert!(store.post_order(query.iter().map(|f| f.id())).len() > 700_000);
    for mut solver in solvers(&store) {
        solver.set_limits(Limits {
            time: Some(Duration::from_secs(3)),
            size: 2_000_000,
            ..Limits::default()
        });
        match solver.check(&query) {
            Answer::Sat(model) => assert!(satisfies(&model, &store, &query)),
            Answer::Unsat => panic!("x below something is possible"),
            Answer::Unknown(reason) => assert!(matches!(reason, Reason::Size | Reason::Time), "{reason}"),
        }
    }
}

/// As deep as Z3 is ever given, it must survive.
#[test]
fn the_deepest_that_z3_sees() {
    let store = Store::new();
    let x = store.symbol("x", 8);
    let mut deep = x;
    for index in 0..4_900u32 {
        deep = store.binop(
            BinOp::Add,
            store.binop(BinOp::Xor, deep, x),
            store.number(8, u128::from(index % 200 + 1)),
        );
    }
    let mut solver = Z3::new(&store);
    solver.set_limits(Limits { time: Some(Duration::from_secs(1)), ..Limits::default() });
    let answer = solver.check(&[store.relop(RelOp::Ult, deep, store.number(8, 3))]);
    assert!(!matches!(answer, Answer::Unknown(Reason::Size)), "{answer:?}");
    let rounding = parallax_op::Rounding::NearestEven;
    let half = store.float_to_int(
        true,
        rounding,
        store.float_to_float(rounding, store.zext(deep, 16), parallax_op::FloatFormat::F32),
        8,
    );
    let answer = solver.check(&[store.eq(half, store.number(8, 0))]);
    assert!(!matches!(answer, Answer::Unknown(Reason::Size)), "{answer:?}");
}

#[test]
fn products_beyond_the_size_limit_are_refused() {
    let store = Store::new();
    let mut wide: Vec<Term> = (0..40).map(|i| store.symbol(&format!("w{i}"), 512)).collect();
    let first = wide.remove(0);
    let product = wide.into_iter().fold(first, |product, next| store.binop(BinOp::Mul, product, next));
    let query = [store.eq(product, store.constant(&Bits::parse("0x123456789", 512).unwrap()))];
    for mut solver in solvers(&store) {
        solver.set_limits(Limits { time: Some(Duration::from_secs(30)), conflicts: None, size: 300_000 });
        assert!(matches!(solver.check(&query), Answer::Unknown(Reason::Size)));
        assert!(solver.check(&[]).is_sat());
    }
}

#[test]
fn a_thousand_updates_cost_nothing_unless_they_matter() {
    let store = Store::new();
    let memory = store.func_symbol("F", 64, 8);
    let base = store.symbol("base", 64);
    let mut map = memory;
    for index in 0..1_000u32 {
        let key = store
            .add(base, store.binop(BinOp::Mul, store.symbol(&format!("i{index}"), 64), store.number(64, 8)));
        map = store.update(map, key, store.number(8, u128::from(index % 256)));
    }
    let read = store.access(map, store.symbol("p", 64));
    for mut solver in [Box::new(Tier0::new(&store)) as Box<dyn Solver>, Box::new(Tiered::new(&store))] {
        let start = Instant::now();
        let query = [store.eq(read, store.number(8, 77))];
        match solver.check(&query) {
            Answer::Sat(model) => assert!(satisfies(&model, &store, &query)),
            other => panic!("a free pointer reads anything, not {other:?}"),
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
}
