//! Every operator's circuit against the operator's own meaning.

use parallax_op::{BinOp, Bits, RelOp, UnOp};
use parallax_smt::{Solver, Tier0};
use parallax_term::{Formula, Store, Term};
use proptest::prelude::*;

/// Values near the edges of the range, and anywhere.
fn value(width: u16) -> impl Strategy<Value = Bits> {
    prop_oneof![
        prop::collection::vec(any::<u64>(), 8).prop_map(move |words| {
            words.into_iter().fold(Bits::zero(width), |bits, word| {
                let by = Bits::new(width, 64);
                let word = Bits::new(width, word.into());
                BinOp::Xor.apply(&BinOp::Shl.apply(&bits, &by), &word)
            })
        }),
        (0u128..20).prop_map(move |v| Bits::new(width, v)),
        (0u128..4).prop_map(move |v| UnOp::Not.apply(&Bits::new(width, v))),
        (0..width)
            .prop_map(move |bit| { BinOp::Shl.apply(&Bits::one(width), &Bits::new(width, u128::from(bit))) }),
    ]
}

fn operands(widths: &'static [u16]) -> impl Strategy<Value = (Bits, Bits)> {
    prop::sample::select(widths).prop_flat_map(|w| (value(w), value(w)))
}

/// The result is what it should be, and can be nothing else.
fn decide(solver: &mut Tier0, given: &[Formula], is: Formula, is_not: Formula) {
    let query = |last| given.iter().copied().chain([last]).collect::<Vec<_>>();
    assert!(solver.check(&query(is)).is_sat());
    assert!(solver.check(&query(is_not)).is_unsat());
}

fn every_operator(a: &Bits, b: &Bits, dear: bool) {
    let store = Store::new();
    let width = a.width();
    let (x, y) = (store.symbol("x", width), store.symbol("y", width));
    let given = [store.eq(x, store.constant(a)), store.eq(y, store.constant(b))];
    let mut solver = Tier0::new(&store);
    let mut same = |term: Term, value: &Bits| {
        let value = store.constant(value);
        decide(&mut solver, &given, store.eq(term, value), store.ne(term, value));
    };
    for &op in BinOp::ALL {
        if dear || !matches!(op, BinOp::Mul | BinOp::Udiv | BinOp::Urem | BinOp::Sdiv | BinOp::Srem) {
            same(store.binop(op, x, y), &op.apply(a, b));
            same(store.binop(op, x, store.constant(b)), &op.apply(a, b));
        }
    }
    for &op in UnOp::ALL {
        same(store.unop(op, x), &op.apply(a));
    }
    same(
        store.concat(store.extract(x, 0, 1), store.extract(y, 0, width.min(511))),
        &a.extract(0, 1).concat(&b.extract(0, width.min(511))),
    );
    same(store.zext(x, 512), &a.zext(512));
    same(store.sext(x, 512), &a.sext(512));
    for &op in RelOp::ALL {
        let relation = store.relop(op, x, y);
        let (is, is_not) = (relation, store.not(relation));
        let (is, is_not) = if op.apply(a, b) { (is, is_not) } else { (is_not, is) };
        decide(&mut solver, &given, is, is_not);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn narrow((a, b) in operands(&[1, 2, 3, 5, 7, 8, 13, 16])) {
        every_operator(&a, &b, true);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn machine_words((a, b) in operands(&[32, 33])) {
        every_operator(&a, &b, true);
    }

    #[test]
    fn wide((a, b) in operands(&[64, 100, 129, 512])) {
        every_operator(&a, &b, false);
    }
}

#[test]
fn wide_products_and_quotients() {
    let a = Bits::parse("0x123456789abcdef0123456789abcdef01", 132).unwrap();
    let b = Bits::parse("0xfedcba9876543210f", 132).unwrap();
    every_operator(&a, &b, true);
}

/// Products and quotients of numbers that are short for their width have circuits of their own: every pair of short
/// numbers, with and without sign, beside each other and beside whole ones.
#[test]
fn short_numbers_in_wide_vectors() {
    const WIDTH: u16 = 7;
    let dear = [BinOp::Mul, BinOp::Udiv, BinOp::Urem, BinOp::Sdiv, BinOp::Srem];
    for (m, n) in [(1, 1), (1, 3), (3, 1), (3, 3), (3, 4), (2, 7), (7, 2), (6, 6)] {
        let store = Store::new();
        let (x, y) = (store.symbol("x", m), store.symbol("y", n));
        let mut solver = Tier0::new(&store);
        type Widen = (fn(&Store, Term) -> Term, fn(&Bits) -> Bits);
        let unsigned: Widen = (|store, t| store.zext(t, WIDTH), |v| v.zext(WIDTH));
        let signed: Widen = (|store, t| store.sext(t, WIDTH), |v| v.sext(WIDTH));
        for (left, right) in [(unsigned, unsigned), (unsigned, signed), (signed, unsigned), (signed, signed)]
        {
            for op in dear {
                let term = store.binop(op, left.0(&store, x), right.0(&store, y));
                for (a, b) in (0..1u128 << m).flat_map(|a| (0..1u128 << n).map(move |b| (a, b))) {
                    let (a, b) = (Bits::new(m, a), Bits::new(n, b));
                    let given = [store.eq(x, store.constant(&a)), store.eq(y, store.constant(&b))];
                    let value = store.constant(&op.apply(&left.1(&a), &right.1(&b)));
                    decide(&mut solver, &given, store.eq(term, value), store.ne(term, value));
                }
            }
        }
    }
}
