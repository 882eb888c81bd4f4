//! Wrappers change how a solver is asked, not what it answers.

use crate::common;
use crate::satisfies;

use common::{formulas, steps};
use parallax_op::{BinOp, Bits, RelOp};
use parallax_smt::{
    Answer, Cache, Counter, Solver, Stop, Tier0, Z3, enumerate, implied, is_valid, smallest, values,
};
use parallax_term::{Formula, Store};
use proptest::prelude::*;
use satisfies::satisfies;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn stacks_answer_as_the_solver_does(steps in steps(40), choice in any::<u64>()) {
        let store = Store::new();
        let all = formulas(&store, &steps, false);
        let mut plain = Tier0::new(&store);
        let mut stacks: Vec<(&str, Box<dyn Solver>)> = vec![
            ("cache", Box::new(Cache::new(Tier0::new(&store)))),
            ("both", Box::new(Cache::new(Counter::new(Tier0::new(&store))))),
        ];
        for round in 0..8u32 {
            // Every third query is one that was asked before.
            let some = choice.rotate_left(if round % 3 == 2 { 0 } else { round * 11 });
            let query: Vec<Formula> =
                all.iter().take(10).enumerate().filter(|(i, _)| some >> i & 1 == 1).map(|(_, f)| *f).collect();
            let expected = plain.check(&query).decided();
            for (name, stack) in &mut stacks {
                let answer = stack.check(&query);
                prop_assert_eq!(&answer.decided(), &expected, "{}", name);
                match answer {
                    Answer::Sat(model) => prop_assert!(satisfies(&model, &store, &query), "{}", name),
                    _ => {
                        let core = stack.unsat_core();
                        prop_assert!(core.iter().all(|f| query.contains(f)), "{}", name);
                        prop_assert!(plain.check(core).is_unsat(), "{}", name);
                    }
                }
            }
        }
    }
}

#[test]
fn caches_ask_less() {
    let store = Store::new();
    let (x, y) = (store.symbol("x", 32), store.symbol("y", 32));
    let below =
        |a, limit| store.relop(RelOp::Ult, store.sub(a, store.number(32, 1)), store.number(32, limit));
    let counter = Counter::new(Tier0::new(&store));
    let asked = counter.handle();
    let mut solver = Cache::new(counter);
    assert!(solver.check(&[below(x, 5), below(y, 7)]).is_sat());
    assert!(solver.check(&[below(y, 7), below(x, 5)]).is_sat());
    assert_eq!((asked.get().checks(), solver.hits()), (1, 1), "the same query in another order");
    let above = store.relop(RelOp::Ult, store.number(32, 19), x);
    assert!(solver.check(&[below(x, 5), above]).is_unsat());
    assert!(solver.check(&[below(x, 5), above, above]).is_unsat());
    assert_eq!((asked.get().checks(), solver.hits()), (2, 2), "the same query, one part of it twice");
    assert_eq!((asked.get().sat, asked.get().unsat, asked.get().unknown), (1, 1, 0));
}

#[test]
fn questions() {
    let store = Store::new();
    let (x, y) = (store.symbol("x", 8), store.symbol("y", 8));
    let p = store.bool_symbol("p");
    let mut solver = Tier0::new(&store);
    let even = store.eq(store.binop(BinOp::And, x, store.number(8, 1)), store.number(8, 0));
    let small = store.relop(RelOp::Ult, x, store.number(8, 10));
    let sum = store.eq(store.add(x, y), store.number(8, 5));
    assert_eq!(
        is_valid(&mut solver, store.or(even, store.eq(store.extract(x, 0, 1), store.number(1, 1)))),
        Ok(true)
    );
    assert_eq!(implied(&mut solver, &[even], small), Ok(false));
    assert_eq!(implied(&mut solver, &[store.eq(x, store.number(8, 4))], small), Ok(true));

    let all = values(&mut solver, &[even, small], x, 100);
    let mut numbers: Vec<u64> = all.found.iter().map(|bits| bits.to_u64().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!((numbers, all.stopped), (vec![0, 2, 4, 6, 8], None));
    let few = values(&mut solver, &[even, small], x, 3);
    assert_eq!((few.found.len(), few.stopped), (3, Some(Stop::Most)));

    let (sx, sp) = (store.lookup("x").unwrap(), store.lookup("p").unwrap());
    let models = enumerate(&mut solver, &[even, small, sum, store.or(p, even)], &[sx, sp], 100);
    assert_eq!((models.found.len(), models.stopped), (10, None));
    assert!(models.found.iter().all(|model| satisfies(model, &store, &[even, small, sum])));

    let above = store.relop(RelOp::Ult, store.number(8, 77), x);
    let model = smallest(&mut solver, &[even, above, sum], &[x, y]).unwrap().unwrap();
    assert_eq!(model.term(&store, x), Bits::new(8, 78));
    assert_eq!(model.term(&store, y), Bits::new(8, 5u128.wrapping_sub(78) & 255));
    assert!(smallest(&mut solver, &[small, above], &[x]).unwrap().is_none());
    let mut z3 = Z3::new(&store);
    assert_eq!(smallest(&mut z3, &[above], &[x]).unwrap().unwrap().term(&store, x), Bits::new(8, 78));
}
