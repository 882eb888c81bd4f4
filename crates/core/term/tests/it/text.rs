//! The text of L reads back as what was printed.
//!
//! Mostly as the same expression. A sum may be built in two orders that the store keeps apart (`-x - t` from a negated sum, or
//! from a difference); then what is read has to mean the same under every interpretation that is tried.

use parallax_op::{BinOp, Bits, BoolOp, RelOp, UnOp};
use parallax_sem::logic::{self, Struct};
use parallax_sem::{Concrete, Table};
use parallax_term::{Expr, Formula, Store, Term, parse_formula, parse_term};
use proptest::prelude::*;

/// Builds an expression from numbers: each step takes operands among what is there.
fn build(store: &Store, steps: &[(u8, usize, usize, usize)]) -> (Vec<Term>, Vec<Formula>) {
    let mut terms = vec![store.symbol("x", 32), store.symbol("y", 32), store.number(32, 7)];
    let map = store.func_symbol("F_mem", 32, 32);
    let mut formulas = vec![store.eq(terms[0], terms[1])];
    for &(kind, a, b, n) in steps {
        let (s, t) = (terms[a % terms.len()], terms[b % terms.len()]);
        let (p, q) = (formulas[a % formulas.len()], formulas[b % formulas.len()]);
        match kind % 8 {
            0..=2 => terms.push(store.binop(BinOp::ALL[n % BinOp::ALL.len()], s, t)),
            3 => terms.push(store.unop(UnOp::ALL[n % UnOp::ALL.len()], s)),
            4 => terms.push(store.ite(p, s, t)),
            5 => terms.push(store.access(store.update(map, s, t), terms[n % terms.len()])),
            6 => formulas.push(store.relop(RelOp::ALL[n % RelOp::ALL.len()], s, t)),
            _ => formulas.push(store.boolop(BoolOp::ALL[n % BoolOp::ALL.len()], p, q)),
        }
    }
    (terms, formulas)
}

/// Interpretations of what [`build`] uses: small and large numbers, equal and different ones.
fn interpretations(store: &Store) -> Vec<Struct<Concrete>> {
    let symbol = |name: &str| store.lookup(name).expect("declared");
    let numbers = [0u128, 1, 7, 8, 31, 0x7fff_ffff, 0x8000_0000, 0xffff_fff9, 0xffff_ffff, 0x1234_5678];
    let pairs = numbers.iter().flat_map(|&x| numbers.iter().map(move |&y| (x, y)));
    let interpretation = |(x, y): (u128, u128)| {
        let mut memory = Table::new(Bits::new(32, x ^ 0x5a5a));
        memory.set(Bits::new(32, x), Bits::new(32, y));
        memory.set(Bits::new(32, 7), Bits::new(32, 3));
        let mut s = Struct::new();
        s.set_val(symbol("x"), Bits::new(32, x));
        s.set_val(symbol("y"), Bits::new(32, y));
        s.set_map(symbol("F_mem"), memory);
        s
    };
    pairs.map(interpretation).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_printed_reads_back(steps in prop::collection::vec(any::<(u8, usize, usize, usize)>(), 1..24)) {
        let store = Store::new();
        let (terms, formulas) = build(&store, &steps);
        for term in terms {
            let text = store.display(term);
            let back = parse_term(&store, &text, 32);
            let Ok(back) = back else { return Err(TestCaseError::fail(format!("{text}: {back:?}"))) };
            let value = |term, s| logic::term(&Concrete, &store, term, s);
            let same = back == term || interpretations(&store).iter().all(|s| value(back, s) == value(term, s));
            prop_assert!(same, "{} is read as {}", text, store.display(back));
        }
        for formula in formulas {
            let text = store.display(formula);
            let back = parse_formula(&store, &text);
            let Ok(back) = back else { return Err(TestCaseError::fail(format!("{text}: {back:?}"))) };
            let value = |formula, s| logic::formula(&Concrete, &store, formula, s);
            let same =
                back == formula || interpretations(&store).iter().all(|s| value(back, s) == value(formula, s));
            prop_assert!(same, "{} is read as {}", text, store.display(back));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[xy0-9a-fF_:(){}&|!=<>?,+*%~^ .-]{0,60}") {
        let store = Store::new();
        store.symbol("x", 32);
        store.func_symbol("F_mem", 32, 8);
        let _ = parse_formula(&store, &text);
        let _ = parse_term(&store, &text, 32);
    }
}

#[test]
fn a_mistake_shows_its_place() {
    let store = Store::new();
    store.symbol("x", 32);
    let error = parse_formula(&store, "x = = 3").expect_err("two signs");
    assert_eq!(error.span.start, 4, "{error:?}");
}

#[test]
fn an_expression_keeps_its_sort() {
    let store = Store::new();
    let x = store.symbol("x", 16);
    assert!(matches!(store.expr(x.id()), Expr::Term(_)));
    assert!(matches!(store.expr(store.eq(x, x).id()), Expr::Formula(_)));
}
