//! Tier 0 against trying everything: formulas over few and narrow symbols, and one small function.

use crate::satisfies;

use parallax_op::{BinOp, Bits, BoolOp, RelOp, UnOp};
use parallax_sem::logic::{self, Struct};
use parallax_sem::{Concrete, Table};
use parallax_smt::{Answer, Solver, Tier0};
use parallax_term::{Formula, FuncExpr, Store, Term};
use proptest::prelude::*;
use satisfies::satisfies;

type Step = (u8, u8, u8, u8);

fn pick<T: Copy>(items: &[T], number: u8) -> T {
    // The newest are the interesting ones: every other pick is among the last few.
    let recent = if number.is_multiple_of(2) { items.len().saturating_sub(4) } else { 0 };
    items[recent + usize::from(number / 2) % (items.len() - recent)]
}

/// Two vectors of two bits, two Booleans, one function from two bits to one.
fn formulas(store: &Store, steps: &[Step]) -> Vec<Formula> {
    let mut terms: Vec<Term> =
        vec![store.symbol("a", 2), store.symbol("b", 2), store.number(2, 1), store.number(2, 2)];
    let mut bits: Vec<Term> = vec![store.number(1, 0), store.number(1, 1)];
    let mut truths: Vec<Formula> = vec![store.bool_symbol("p"), store.bool_symbol("q")];
    let mut maps: Vec<FuncExpr> = vec![store.func_symbol("F", 2, 1), store.constant_map(2, bits[1])];
    for &(op, i, j, k) in steps {
        let (a, b) = (pick(&terms, i), pick(&terms, j));
        match op % 12 {
            0 | 1 => terms.push(store.binop(BinOp::ALL[usize::from(k) % BinOp::ALL.len()], a, b)),
            2 => terms.push(store.unop(UnOp::ALL[usize::from(k) % UnOp::ALL.len()], a)),
            3 => truths.push(store.relop(RelOp::ALL[usize::from(k) % RelOp::ALL.len()], a, b)),
            4 => truths.push(store.boolop(
                BoolOp::ALL[usize::from(k) % BoolOp::ALL.len()],
                pick(&truths, i),
                pick(&truths, j),
            )),
            5 => terms.push(store.ite(pick(&truths, k), a, b)),
            6 => bits.push(store.extract(a, u16::from(k % 2), 1)),
            7 => terms.push(store.concat(pick(&bits, i), pick(&bits, j))),
            8 | 9 => bits.push(store.access(pick(&maps, i), b)),
            10 => maps.push(store.update(pick(&maps, i), b, pick(&bits, k))),
            _ => maps.push(store.ite_map(pick(&truths, k), pick(&maps, i), pick(&maps, j))),
        }
        truths.push(store.eq(pick(&bits, k), store.number(1, 1)));
    }
    truths.iter().rev().take(6).copied().collect()
}

/// Every interpretation of the symbols above.
fn interpretations(store: &Store) -> Vec<Struct<Concrete>> {
    let symbol = |name| store.lookup(name).expect("declared");
    (0u32..1 << 10)
        .map(|number| {
            let bit = |index: u32| number >> index & 1 == 1;
            let mut s = Struct::new();
            s.set_val(symbol("a"), Bits::new(2, (number & 3).into()));
            s.set_val(symbol("b"), Bits::new(2, (number >> 2 & 3).into()));
            s.set_bool(symbol("p"), bit(4));
            s.set_bool(symbol("q"), bit(5));
            let mut table = Table::new(Bits::zero(1));
            for key in 0..4 {
                table.set(Bits::new(2, key.into()), Bits::new(1, bit(6 + key).into()));
            }
            s.set_map(symbol("F"), table);
            s
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn tier_0_agrees_with_trying_everything(steps in prop::collection::vec(any::<Step>(), 1..30)) {
        let store = Store::new();
        let all = formulas(&store, &steps);
        let interpretations = interpretations(&store);
        let mut solver = Tier0::new(&store);
        for count in 1..=all.len() {
            let query = &all[all.len() - count..];
            let holds = |s: &Struct<Concrete>, f: Formula| logic::formula(&Concrete, &store, f, s);
            let possible = |query: &[Formula]| interpretations.iter().any(|s| query.iter().all(|&f| holds(s, f)));
            match solver.check(query) {
                Answer::Sat(model) => {
                    prop_assert!(possible(query));
                    prop_assert!(query.iter().all(|&f| holds(model.structure(), f)));
                }
                Answer::Unsat => {
                    prop_assert!(!possible(query));
                    let core = solver.unsat_core();
                    prop_assert!(core.iter().all(|f| query.contains(f)));
                    prop_assert!(!possible(core), "a core that holds: {core:?}");
                }
                Answer::Unknown(reason) => prop_assert!(false, "{reason}"),
            }
        }
    }
}

/// Reads that look different and must agree, across queries of one solver.
#[test]
fn equal_keys_have_equal_values() {
    let store = Store::new();
    let f = store.func_symbol("F", 32, 8);
    let keys: Vec<Term> = (0..6).map(|i| store.symbol(&format!("k{i}"), 32)).collect();
    let reads: Vec<Term> = keys.iter().map(|&k| store.access(f, k)).collect();
    let mut solver = Tier0::new(&store);
    let all_equal: Vec<Formula> = keys.windows(2).map(|pair| store.eq(pair[0], pair[1])).collect();
    assert!(solver.check(&all_equal).is_sat());
    let mut query = all_equal;
    query.push(store.ne(reads[0], reads[5]));
    assert!(solver.check(&query).is_unsat());
    assert_eq!(solver.unsat_core().len(), query.len());
    query.remove(2);
    let Answer::Sat(model) = solver.check(&query) else { panic!("a gap in the chain") };
    assert!(satisfies(&model, &store, &query));
}

/// The promises of address symbols hold in every model, also of symbols that only a value mentions.
#[test]
fn addresses_stay_apart() {
    let store = Store::new();
    let places: Vec<Term> = (0..200).map(|i| store.address(&format!("&v{i}"), 32, 8)).collect();
    let p = store.symbol("p", 32);
    let query: Vec<Formula> = places.iter().map(|&place| store.relop(RelOp::Ult, place, p)).collect();
    let mut solver = Tier0::new(&store);
    let Answer::Sat(model) = solver.check(&query) else { panic!("there is room") };
    assert!(satisfies(&model, &store, &query));
    // Four objects of eight addresses and a fifth address below 32 leave no room, as zero is nobody's.
    let crowded = |limit| {
        places[..4]
            .iter()
            .map(|&place| store.relop(RelOp::Ult, place, store.number(32, limit)))
            .collect::<Vec<_>>()
    };
    assert!(solver.check(&crowded(26)).is_sat());
    assert!(solver.check(&crowded(25)).is_unsat());
    assert!(solver.check(&[store.relop(RelOp::Ult, places[0], store.number(32, 1))]).is_unsat());
    let close = [store.relop(RelOp::Ult, store.sub(places[0], places[1]), store.number(32, 8))];
    assert!(solver.check(&close).is_unsat());
}
