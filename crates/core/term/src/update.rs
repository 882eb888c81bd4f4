//! Structure-update expressions `({I -> T}, {F -> FE})`: state changes as first-class values.

use crate::node::{Expr, Formula, FuncExpr, Id, Term};
use crate::store::{Store, Symbol};
use std::collections::BTreeMap;

/// The value of a constant symbol: a vector or a truth value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// A vector.
    Term(Term),
    /// A truth value.
    Formula(Formula),
}

impl Scalar {
    /// The id without its sort.
    pub fn id(self) -> Id {
        match self {
            Scalar::Term(term) => term.id(),
            Scalar::Formula(formula) => formula.id(),
        }
    }
}

/// What each constant and function symbol becomes; symbols that are not mentioned keep their meaning.
///
/// The empty update is the identity. Identity entries are never kept, so equal updates are equal values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StructUpdate {
    constants: BTreeMap<Symbol, Scalar>,
    functions: BTreeMap<Symbol, FuncExpr>,
}

impl StructUpdate {
    /// `U_id` of the paper.
    pub fn identity() -> Self {
        StructUpdate::default()
    }

    /// `(U^1) I`: what a constant symbol becomes.
    pub fn constant(&self, store: &Store, symbol: Symbol) -> Scalar {
        self.constants.get(&symbol).copied().unwrap_or_else(|| match store.expr_of(symbol) {
            Expr::Term(term) => Scalar::Term(term),
            Expr::Formula(formula) => Scalar::Formula(formula),
            Expr::Func(_) => panic!("{} is a function symbol", store.info(symbol).name),
        })
    }

    /// `(U^2) F`: what a function symbol becomes.
    pub fn function(&self, store: &Store, symbol: Symbol) -> FuncExpr {
        self.functions.get(&symbol).copied().unwrap_or_else(|| match store.expr_of(symbol) {
            Expr::Func(func) => func,
            _ => panic!("{} is a constant symbol", store.info(symbol).name),
        })
    }

    /// Lets a constant symbol become `value`.
    pub fn set_constant(&mut self, store: &Store, symbol: Symbol, value: Scalar) {
        if store.expr_of(symbol).id() == value.id() {
            self.constants.remove(&symbol);
        } else {
            self.constants.insert(symbol, value);
        }
    }

    /// Lets a function symbol become `value`.
    pub fn set_function(&mut self, store: &Store, symbol: Symbol, value: FuncExpr) {
        if store.expr_of(symbol).id() == value.id() {
            self.functions.remove(&symbol);
        } else {
            self.functions.insert(symbol, value);
        }
    }

    /// The constants that change, in order of declaration.
    pub fn constants(&self) -> impl Iterator<Item = (Symbol, Scalar)> + '_ {
        self.constants.iter().map(|(&symbol, &value)| (symbol, value))
    }

    /// The functions that change, in order of declaration.
    pub fn functions(&self) -> impl Iterator<Item = (Symbol, FuncExpr)> + '_ {
        self.functions.iter().map(|(&symbol, &value)| (symbol, value))
    }

    /// Every expression in it.
    pub fn roots(&self) -> impl Iterator<Item = Id> + '_ {
        self.constants.values().map(|scalar| scalar.id()).chain(self.functions.values().map(|func| func.id()))
    }
}

impl Expr {
    /// The id without its sort.
    pub fn id(self) -> Id {
        match self {
            Expr::Term(term) => term.id(),
            Expr::Formula(formula) => formula.id(),
            Expr::Func(func) => func.id(),
        }
    }
}
