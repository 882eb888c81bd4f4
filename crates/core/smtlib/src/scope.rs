//! What names mean, level by level.

use parallax_op::Width;
use parallax_term::{Expr, FuncExpr, Sort, Store, Symbol};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What a name means.
#[derive(Clone)]
pub enum Meaning {
    /// An expression.
    Is(Expr),
    /// An uninterpreted function. It is a map from the arguments, one behind the other.
    Function {
        /// The map.
        map: FuncExpr,
        /// The sorts of its arguments.
        takes: Rc<[Sort]>,
        /// Whether what it gives is a truth value.
        gives_bool: bool,
    },
    /// A defined function with arguments.
    Macro(Rc<Macro>),
    /// Another name for a sort.
    Sort(Sort),
}

/// A defined function with arguments. A use puts what it is given in the place of the symbols.
pub struct Macro {
    /// The symbols that stand for its arguments.
    pub takes: Vec<Symbol>,
    /// Its body.
    pub body: Expr,
}

/// A name that a script declared, for its models.
#[derive(Clone)]
pub struct Declared {
    /// The name.
    pub name: Rc<str>,
    /// What it means.
    pub meaning: Meaning,
}

/// Names in scope. Inner meanings hide outer ones.
#[derive(Default)]
pub struct Names {
    meanings: FxHashMap<Rc<str>, Vec<Meaning>>,
    /// In the order they were bound, for undoing.
    bound: Vec<Rc<str>>,
}

impl Names {
    /// What a name means here.
    pub fn get(&self, name: &str) -> Option<&Meaning> {
        self.meanings.get(name).and_then(|all| all.last())
    }

    /// Whether a name other than this one means something that a symbol is part of.
    pub fn mention(&self, store: &Store, symbol: Symbol, but: &str) -> bool {
        let others = self.meanings.iter().filter(|(name, _)| &***name != but);
        let roots = others.flat_map(|(_, all)| all).filter_map(|meaning| match meaning {
            Meaning::Is(expression) => Some(expression.id()),
            Meaning::Macro(function) => Some(function.body.id()),
            Meaning::Function { .. } | Meaning::Sort(_) => None,
        });
        store.symbols_in(roots).contains(&symbol)
    }

    /// Binds a name.
    pub fn bind(&mut self, name: Rc<str>, meaning: Meaning) {
        self.meanings.entry(name.clone()).or_default().push(meaning);
        self.bound.push(name);
    }

    /// How many are bound, to come back to.
    pub fn mark(&self) -> usize {
        self.bound.len()
    }

    /// Forgets everything bound since a mark.
    pub fn undo(&mut self, mark: usize) {
        for name in self.bound.drain(mark..).rev() {
            if let Some(all) = self.meanings.get_mut(&name) {
                all.pop();
            }
        }
    }
}

/// How many bits a value of a sort takes as an argument of a function; nothing for maps.
pub fn width(sort: Sort) -> Option<Width> {
    match sort {
        Sort::Bool => Some(1),
        Sort::Bits(width) => Some(width),
        Sort::Map { .. } => None,
    }
}
