//! The symbolic reading: values are terms of L, truth values formulas, maps function expressions.
//!
//! The operators are the store's smart constructors, `access` and `update` its three-way rule; there is nothing else.

use crate::Core;
use parallax_op::{
    BinOp, Bits, BoolOp, FloatBinOp, FloatFormat, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp, Width,
};
use parallax_term::{Expr, Formula, FuncExpr, Node, Ranges, Sort, Store, SymbolKind, Term};
use std::collections::HashMap;

/// A control value with more alternatives than this counts as unknown.
const TARGETS: usize = 4096;
/// So many operators may lie between a control value and its alternatives.
const DEPTH: usize = 6;

/// Builds terms in a store.
#[derive(Clone, Copy)]
pub struct Symbolic<'s> {
    /// Where the terms live.
    pub store: &'s Store,
}

impl<'s> Symbolic<'s> {
    /// The reading that builds in this store.
    pub fn new(store: &'s Store) -> Self {
        Symbolic { store }
    }

    /// The symbol of this name as it is declared, or declared now.
    fn named(&self, name: &str, sort: Sort) -> Expr {
        let symbol =
            self.store.lookup(name).unwrap_or_else(|| self.store.declare(name, sort, SymbolKind::Free));
        self.store.expr_of(symbol)
    }
}

impl Core for Symbolic<'_> {
    type Val = Term;
    type Bool = Formula;
    type Map = FuncExpr;

    fn constant(&self, value: &Bits) -> Term {
        self.store.constant(value)
    }
    fn boolean(&self, value: bool) -> Formula {
        self.store.boolean(value)
    }
    fn symbol(&self, name: &str, width: Width) -> Term {
        match self.named(name, Sort::Bits(width)) {
            Expr::Term(term) => term,
            other => panic!("{name} is declared as {other:?}"),
        }
    }
    fn bool_symbol(&self, name: &str) -> Formula {
        match self.named(name, Sort::Bool) {
            Expr::Formula(formula) => formula,
            other => panic!("{name} is declared as {other:?}"),
        }
    }
    fn map_symbol(&self, name: &str, key: Width, value: Width) -> FuncExpr {
        match self.named(name, Sort::Map { key, value }) {
            Expr::Func(func) => func,
            other => panic!("{name} is declared as {other:?}"),
        }
    }
    fn constant_map(&self, key: Width, _: Width, value: &Term) -> FuncExpr {
        self.store.constant_map(key, *value)
    }
    fn address(&self, name: &str, extent: u64, placement: &Bits) -> Term {
        self.store.address(name, placement.width(), extent)
    }
    fn unop(&self, op: UnOp, _: Width, a: &Term) -> Term {
        self.store.unop(op, *a)
    }
    fn binop(&self, op: BinOp, _: Width, a: &Term, b: &Term) -> Term {
        self.store.binop(op, *a, *b)
    }
    fn relop(&self, op: RelOp, _: Width, a: &Term, b: &Term) -> Formula {
        self.store.relop(op, *a, *b)
    }
    fn boolop(&self, op: BoolOp, a: &Formula, b: &Formula) -> Formula {
        self.store.boolop(op, *a, *b)
    }
    fn not(&self, a: &Formula) -> Formula {
        self.store.not(*a)
    }
    fn cond(&self, _: Width, b: &Formula, t: &Term, e: &Term) -> Term {
        self.store.ite(*b, *t, *e)
    }
    fn cond_bool(&self, b: &Formula, t: &Formula, e: &Formula) -> Formula {
        self.store.ite_bool(*b, *t, *e)
    }
    fn cond_map(&self, b: &Formula, t: &FuncExpr, e: &FuncExpr) -> FuncExpr {
        self.store.ite_map(*b, *t, *e)
    }
    fn extract(&self, _: Width, low: Width, to: Width, a: &Term) -> Term {
        self.store.extract(*a, low, to)
    }
    fn concat(&self, _: Width, _: Width, high: &Term, low: &Term) -> Term {
        self.store.concat(*high, *low)
    }
    fn zext(&self, _: Width, to: Width, a: &Term) -> Term {
        self.store.zext(*a, to)
    }
    fn sext(&self, _: Width, to: Width, a: &Term) -> Term {
        self.store.sext(*a, to)
    }
    fn float_un(&self, op: FloatUnOp, _: FloatFormat, r: Rounding, a: &Term) -> Term {
        self.store.float_un(op, r, *a)
    }
    fn float_bin(&self, op: FloatBinOp, _: FloatFormat, r: Rounding, a: &Term, b: &Term) -> Term {
        self.store.float_bin(op, r, *a, *b)
    }
    fn float_fma(&self, _: FloatFormat, r: Rounding, a: &Term, b: &Term, c: &Term) -> Term {
        self.store.float_fma(r, *a, *b, *c)
    }
    fn float_rel(&self, op: FloatRelOp, _: FloatFormat, a: &Term, b: &Term) -> Formula {
        self.store.float_rel(op, *a, *b)
    }
    fn float_to_float(&self, _: FloatFormat, to: FloatFormat, r: Rounding, a: &Term) -> Term {
        self.store.float_to_float(r, *a, to)
    }
    fn int_to_float(&self, signed: bool, _: Width, to: FloatFormat, r: Rounding, a: &Term) -> Term {
        self.store.int_to_float(signed, r, *a, to)
    }
    fn float_to_int(&self, signed: bool, _: FloatFormat, w: Width, r: Rounding, a: &Term) -> Term {
        self.store.float_to_int(signed, r, *a, w)
    }
    fn access(&self, map: &FuncExpr, key: &Term) -> Term {
        self.store.access(*map, *key)
    }
    fn update(&self, map: FuncExpr, key: &Term, value: Term) -> FuncExpr {
        self.store.update(map, *key, value)
    }

    /// By what the address can be, and by what is kept apart, before any formula.
    fn lies_within(&self, w: Width, address: &Term, first: &Bits, length: &Bits) -> Formula {
        let store = self.store;
        if let (Some(low), Some(count)) = (first.to_u64(), length.to_u64().filter(|count| *count > 0))
            && let (low, high) = (u128::from(low), u128::from(low) + u128::from(count) - 1)
            && high < 1 << w
        {
            let span = store.span(*address, &Ranges::default());
            if span.high < low || high < span.low {
                return store.false_();
            }
            if low <= span.low && span.high <= high {
                return store.true_();
            }
            if store.is_kept_apart(*address, low, high) {
                return store.false_();
            }
        }
        let from_first = store.sub(*address, store.constant(first));
        store.relop(RelOp::Ult, from_first, store.constant(length))
    }

    /// The leaves of nested conditionals, equal ones together.
    fn targets(&self, _: Width, value: &Term) -> Option<Vec<(Formula, Bits)>> {
        self.alternatives(*value, DEPTH)
    }
}

impl Symbolic<'_> {
    /// The constants that a term can be, looking through `depth` operators.
    fn alternatives(&self, value: Term, depth: usize) -> Option<Vec<(Formula, Bits)>> {
        let store = self.store;
        let mut found: Vec<(Formula, Bits)> = Vec::new();
        let mut index: HashMap<Bits, usize> = HashMap::new();
        let mut stack = vec![(store.true_(), value)];
        while let Some((condition, term)) = stack.pop() {
            if condition == store.false_() {
                continue;
            }
            let cases = match store.node(term) {
                Node::Const(bits) => vec![(condition, bits)],
                Node::Ite(c, t, e) if stack.len() + found.len() < TARGETS => {
                    stack.push((store.and(condition, store.not(c)), e));
                    stack.push((store.and(condition, c), t));
                    continue;
                }
                node => {
                    let cases = self.computed(&node, store.width(term), depth)?.into_iter();
                    cases.map(|(when, bits)| (store.and(condition, when), bits)).collect()
                }
            };
            for (condition, bits) in cases {
                match index.get(&bits) {
                    Some(&known) => found[known].0 = store.or(found[known].0, condition),
                    None => {
                        index.insert(bits.clone(), found.len());
                        found.push((condition, bits));
                    }
                }
            }
        }
        Some(found)
    }

    /// What a term computed from alternatives and constants can be: an entry of a table, widened and added to its start.
    fn computed(&self, node: &Node, width: Width, depth: usize) -> Option<Vec<(Formula, Bits)>> {
        let constant = |a: Term| self.store.as_constant(a);
        let of = |a: Term, f: &dyn Fn(&Bits) -> Bits| {
            let cases = self.alternatives(a, depth.checked_sub(1)?)?;
            Some(cases.into_iter().map(|(when, bits)| (when, f(&bits))).collect::<Vec<_>>())
        };
        match *node {
            Node::Un(op, a) => of(a, &|bits| op.apply(bits)),
            Node::Bin(op, a, b) => match (constant(a), constant(b)) {
                (None, Some(k)) => of(a, &|bits| op.apply(bits, &k)),
                (Some(k), None) => of(b, &|bits| op.apply(&k, bits)),
                _ => None,
            },
            Node::Extract { of: a, low } => of(a, &|bits| bits.extract(low, width)),
            Node::Zext(a) => of(a, &|bits| bits.zext(width)),
            Node::Sext(a) => of(a, &|bits| bits.sext(width)),
            Node::Concat(high, low) => match (constant(high), constant(low)) {
                (None, Some(k)) => of(high, &|bits| bits.concat(&k)),
                (Some(k), None) => of(low, &|bits| k.concat(bits)),
                _ => None,
            },
            _ => None,
        }
    }
}
