//! Comparisons of one small term with every constant, combined in every way: what the constructors make of them must
//! hold exactly where both, or one of them, held.

use parallax_op::{Bits, BoolOp, RelOp, Width};
use parallax_sem::Concrete;
use parallax_sem::logic::{self, Struct};
use parallax_term::{Formula, Store, Term};

const WIDTH: Width = 3;

/// A term and a free truth value, under every interpretation.
struct Domain {
    store: Store,
    x: Term,
    q: Formula,
    interpretations: Vec<Struct<Concrete>>,
}

impl Domain {
    fn new() -> Self {
        let store = Store::new();
        let x = store.symbol("x", WIDTH);
        let q = store.bool_symbol("q");
        let (x_name, q_name) = (store.lookup("x").unwrap(), store.lookup("q").unwrap());
        let mut interpretations = Vec::new();
        for value in 0..1 << WIDTH {
            for truth in [false, true] {
                let mut s = Struct::new();
                s.set_val(x_name, Bits::new(WIDTH, value));
                s.set_bool(q_name, truth);
                interpretations.push(s);
            }
        }
        Domain { store, x, q, interpretations }
    }

    /// Every comparison with a constant, on either side.
    fn comparisons(&self) -> Vec<Formula> {
        let mut all = Vec::new();
        for &op in RelOp::ALL {
            for k in 0..1 << WIDTH {
                let k = self.store.constant(&Bits::new(WIDTH, k));
                all.push(self.store.relop(op, self.x, k));
                all.push(self.store.relop(op, k, self.x));
            }
        }
        all.sort();
        all.dedup();
        all
    }

    fn truths(&self, f: Formula) -> Vec<bool> {
        self.interpretations.iter().map(|s| logic::formula(&Concrete, &self.store, f, s)).collect()
    }

    /// Both connectives of two formulas mean what they say.
    fn check(&self, a: Formula, b: Formula) {
        let (ta, tb) = (self.truths(a), self.truths(b));
        let show = |f| self.store.display(f).to_string();
        for (op, meaning) in [(BoolOp::And, bool::min as fn(bool, bool) -> bool), (BoolOp::Or, bool::max)] {
            let expected: Vec<bool> = ta.iter().zip(&tb).map(|(&p, &q)| meaning(p, q)).collect();
            let built = self.store.boolop(op, a, b);
            assert_eq!(self.truths(built), expected, "{} {op:?} {} became {}", show(a), show(b), show(built));
        }
    }
}

#[test]
fn every_pair_of_ranges_combines_exactly() {
    let domain = Domain::new();
    let single = domain.comparisons();
    let store = &domain.store;
    let mut facts = single.clone();
    for &a in &single {
        for &b in &single {
            facts.push(store.and(a, b));
        }
    }
    facts.sort();
    facts.dedup();
    for (i, &a) in facts.iter().enumerate() {
        for &b in &facts[i..] {
            domain.check(a, b);
        }
    }
}

#[test]
fn a_range_meets_the_ranges_inside_a_formula() {
    let domain = Domain::new();
    let single = domain.comparisons();
    let store = &domain.store;
    for &a in &single {
        for inner in [store.and(a, domain.q), store.or(a, domain.q), store.and(domain.q, store.not(a))] {
            for &b in &single {
                domain.check(inner, b);
                domain.check(inner, store.and(b, domain.q));
                domain.check(inner, store.or(b, domain.q));
            }
        }
    }
}

#[test]
fn bounds_that_pile_up_stay_one_comparison() {
    let store = Store::new();
    let n = store.symbol("n", 32);
    let constant = |k: u64| store.constant(&Bits::new(32, k.into()));
    let above = store.all((0..1000).map(|k| store.relop(RelOp::Sgt, n, constant(k))));
    assert_eq!(above, store.relop(RelOp::Sgt, n, constant(999)));
    // What leaves a loop at its k-th turn joins what left it before.
    let mut left = store.relop(RelOp::Slt, n, constant(1));
    for k in 1..1000 {
        let entered = store.relop(RelOp::Sge, n, constant(k));
        left = store.or(left, store.and(entered, store.relop(RelOp::Slt, n, constant(k + 1))));
    }
    assert_eq!(store.display(left).to_string(), "n < 1000");
}
