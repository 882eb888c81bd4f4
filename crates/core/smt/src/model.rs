//! Models: an interpretation of the symbols of a query.

use parallax_op::Bits;
use parallax_sem::logic::{self, Evaluation, Scalar, Struct};
use parallax_sem::{Concrete, Table};
use parallax_term::{Expr, Formula, Store, Symbol, Term};

/// An interpretation: vectors, truth values and function tables for symbols.
///
/// It speaks of the symbols of the query it answers; any other symbol is zero, false, or zero everywhere, as in the
/// concrete reading.
#[derive(Clone, Default)]
pub struct Model {
    structure: Struct<Concrete>,
}

impl Model {
    /// The model in which everything is zero.
    pub fn new() -> Self {
        Model::default()
    }

    /// The value of a bit-vector symbol, if the model speaks of it.
    pub fn bits(&self, symbol: Symbol) -> Option<&Bits> {
        match self.structure.constants.get(&symbol) {
            Some(Scalar::Val(value)) => Some(value),
            _ => None,
        }
    }

    /// The value of a Boolean symbol, if the model speaks of it.
    pub fn boolean(&self, symbol: Symbol) -> Option<bool> {
        match self.structure.constants.get(&symbol) {
            Some(Scalar::Bool(value)) => Some(*value),
            _ => None,
        }
    }

    /// The table of a function symbol, if the model speaks of it.
    pub fn table(&self, symbol: Symbol) -> Option<&Table> {
        self.structure.functions.get(&symbol)
    }

    /// The symbols that the model speaks of.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.structure.constants.keys().chain(self.structure.functions.keys()).copied()
    }

    /// Gives a bit-vector symbol a value.
    pub fn set_bits(&mut self, symbol: Symbol, value: Bits) {
        self.structure.set_val(symbol, value);
    }

    /// Gives a Boolean symbol a value.
    pub fn set_boolean(&mut self, symbol: Symbol, value: bool) {
        self.structure.set_bool(symbol, value);
    }

    /// Gives a function symbol a table.
    pub fn set_table(&mut self, symbol: Symbol, value: Table) {
        self.structure.set_map(symbol, value);
    }

    /// Takes over what another model says of `symbols`.
    pub fn adopt(&mut self, other: &Model, symbols: impl IntoIterator<Item = Symbol>) {
        for symbol in symbols {
            if let Some(value) = other.structure.constants.get(&symbol) {
                self.structure.constants.insert(symbol, value.clone());
            }
            if let Some(table) = other.structure.functions.get(&symbol) {
                self.structure.functions.insert(symbol, table.clone());
            }
        }
    }

    /// Gives every address symbol of the store that the model leaves out a place of its own, where there is room.
    pub fn place_addresses(&mut self, store: &Store) {
        crate::address::complete(store, self, store.symbols());
    }

    /// The model as a structure of the concrete reading.
    pub fn structure(&self) -> &Struct<Concrete> {
        &self.structure
    }

    /// The meaning of a term.
    pub fn term(&self, store: &Store, term: Term) -> Bits {
        logic::term(&Concrete, store, term, &self.structure)
    }

    /// The meaning of a formula.
    pub fn formula(&self, store: &Store, formula: Formula) -> bool {
        logic::formula(&Concrete, store, formula, &self.structure)
    }

    /// Whether all formulas hold, and what the address symbols among `symbols`, which are those of the formulas, promise.
    pub fn satisfies(&self, store: &Store, formulas: &[Formula], symbols: &[Symbol]) -> bool {
        let roots = formulas.iter().map(|f| f.id());
        let evaluation = Evaluation::of(&Concrete, store, &self.structure, roots);
        formulas.iter().all(|&f| evaluation.truth(f)) && crate::address::apart(store, self, symbols)
    }

    /// The model as text, one line for each symbol, in order of declaration.
    pub fn display(&self, store: &Store) -> String {
        let mut symbols: Vec<Symbol> = self.symbols().collect();
        symbols.sort_unstable();
        let line = |symbol: Symbol| {
            let name = store.info(symbol).name;
            match store.expr_of(symbol) {
                Expr::Term(_) => format!("{name} = {}\n", self.bits(symbol).expect("a vector")),
                Expr::Formula(_) => format!("{name} = {}\n", self.boolean(symbol).expect("a truth value")),
                Expr::Func(_) => format!("{name} = {:?}\n", self.table(symbol).expect("a table")),
            }
        };
        symbols.into_iter().map(line).collect()
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut map = f.debug_map();
        for (symbol, value) in &self.structure.constants {
            match value {
                Scalar::Val(value) => map.entry(symbol, value),
                Scalar::Bool(value) => map.entry(symbol, value),
            };
        }
        map.entries(&self.structure.functions).finish()
    }
}
