//! Whether a model is one.

use parallax_smt::Model;
use parallax_term::{Formula, Store};

/// Whether the formulas hold in the model, and their addresses are where addresses can be.
pub fn satisfies(model: &Model, store: &Store, formulas: &[Formula]) -> bool {
    model.satisfies(store, formulas, &store.symbols_in(formulas.iter().map(|f| f.id())))
}
