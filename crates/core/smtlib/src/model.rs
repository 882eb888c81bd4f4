//! Values as scripts write them.

use crate::scope::{Declared, Meaning, width};
use parallax_op::Bits;
use parallax_sem::{Concrete, Table, logic};
use parallax_smt::Model;
use parallax_term::{Expr, FuncExpr, Sort, Store};
use std::fmt::Write;

/// A name as a script may write it.
pub fn quoted(name: &str) -> String {
    let plain = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "~!@$%^&*_-+=<>.?/".contains(c));
    if plain { name.to_owned() } else { format!("|{name}|") }
}

/// A sort.
pub fn sort(sort: Sort) -> String {
    match sort {
        Sort::Bool => "Bool".to_owned(),
        Sort::Bits(width) => format!("(_ BitVec {width})"),
        Sort::Map { key, value } => format!("(Array (_ BitVec {key}) (_ BitVec {value}))"),
    }
}

/// The value of an expression under a model.
pub fn value(store: &Store, model: &Model, expression: Expr) -> String {
    match expression {
        Expr::Term(term) => model.term(store, term).smt2(),
        Expr::Formula(formula) => model.formula(store, formula).to_string(),
        Expr::Func(map) => {
            let Sort::Map { key, value } = store.sort(map) else { unreachable!("a map") };
            let (fallback, entries) = entries(&table(store, model, map));
            let mut text = format!("((as const {}) {})", sort(Sort::Map { key, value }), fallback.smt2());
            for (key, value) in entries {
                text = format!("(store {text} {} {})", key.smt2(), value.smt2());
            }
            text
        }
    }
}

fn table(store: &Store, model: &Model, map: FuncExpr) -> Table {
    logic::func_expr(&Concrete, store, map, model.structure())
}

/// What a table is everywhere, and where it is something else, in order.
fn entries(table: &Table) -> (Bits, Vec<(Bits, Bits)>) {
    let fallback = table.default_value().clone();
    let mut entries: Vec<(Bits, Bits)> = table
        .entries()
        .filter(|(_, value)| **value != fallback)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    entries.sort_by_key(|(key, _)| key.to_big());
    (fallback, entries)
}

/// A declared name as a definition that says what it is under a model.
pub fn definition(store: &Store, model: &Model, declared: &Declared) -> String {
    let name = quoted(&declared.name);
    match &declared.meaning {
        Meaning::Is(expression) => {
            let text = value(store, model, *expression);
            format!("(define-fun {name} () {} {text})", sort(store.sort(expression.id())))
        }
        Meaning::Function { map, takes, gives_bool } => {
            let (fallback, entries) = entries(&table(store, model, *map));
            let shown = |bits: &Bits, is_bool: bool| match is_bool {
                true => (!bits.is_zero()).to_string(),
                false => bits.smt2(),
            };
            let mut body = shown(&fallback, *gives_bool);
            for (key, value) in entries.iter().rev() {
                // The last argument stands lowest in the key.
                let mut low = 0;
                let mut equal = Vec::new();
                for (index, &sort) in takes.iter().enumerate().rev() {
                    let bits = width(sort).unwrap_or(1);
                    let part = key.extract(low, bits);
                    equal.push(format!("(= x{index} {})", shown(&part, sort == Sort::Bool)));
                    low += bits;
                }
                let when =
                    if equal.len() == 1 { equal.remove(0) } else { format!("(and {})", equal.join(" ")) };
                body = format!("(ite {when} {} {body})", shown(value, *gives_bool));
            }
            let mut takes_text = String::new();
            for (index, &each) in takes.iter().enumerate() {
                let _ = write!(takes_text, "{}(x{index} {})", if index == 0 { "" } else { " " }, sort(each));
            }
            let Sort::Map { value, .. } = store.sort(*map) else { unreachable!("a map") };
            let gives = if *gives_bool { Sort::Bool } else { Sort::Bits(value) };
            format!("(define-fun {name} ({takes_text}) {} {body})", sort(gives))
        }
        Meaning::Macro(_) | Meaning::Sort(_) => unreachable!("only what is declared has a value of its own"),
    }
}
