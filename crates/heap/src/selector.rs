//! What an input field held on entry: null, an object that was known, or a new one.

use crate::choice::exactly_one;
use crate::draft::Draft;
use crate::guarded::{Guarded, Loc};
use crate::model::Model;
use parallax_sem::Symbolic;
use parallax_term::{Formula, Node, Store, Symbol};

/// One choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Null.
    Nil,
    /// An input object that was known already.
    Alias(Loc),
    /// An input object that was not.
    New(Loc),
}

/// The choice for one field under one condition; none of the choices holds where the condition does not (`dead`).
#[derive(Clone, Debug)]
pub struct Selector {
    /// The object.
    pub loc: Loc,
    /// Its field.
    pub field: usize,
    /// Under which condition something is chosen.
    pub under: Formula,
    /// The place, as in `this.head.next`.
    pub label: String,
    /// The choices and the symbol of each.
    pub choices: Vec<(Choice, Formula)>,
}

impl Selector {
    /// Exactly one choice where `under` holds and none elsewhere; an alias only to what exists.
    pub fn condition(&self, heap: &Guarded<'_>) -> Formula {
        let store = heap.logic.store;
        let exists = |choice: Choice| match choice {
            Choice::Alias(loc) if heap.options.draft != Some(Draft::AliasNeedNotExist) => {
                heap.location(loc).exists
            }
            _ => store.true_(),
        };
        let choices: Vec<_> = self.choices.iter().map(|&(choice, guard)| (guard, exists(choice))).collect();
        let mut all = vec![exactly_one(&Symbolic::new(store), &self.under, &choices)];
        for &(choice, guard) in &self.choices {
            let Choice::Alias(loc) = choice else { continue };
            if heap.options.draft == Some(Draft::AliasExcludesAll) {
                // r differs from every other candidate's reference, even one that points to the same object.
                for earlier in &heap.selectors {
                    for (aliased, symbol) in &earlier.choices {
                        if *aliased == Choice::Alias(loc) {
                            all.push(store.not(store.and(guard, *symbol)));
                        }
                    }
                }
            }
        }
        heap.logic.all(all)
    }
}

/// The symbol that a selector's atom is.
pub(crate) fn symbol_of(store: &Store, atom: Formula) -> Option<Symbol> {
    match store.node(atom) {
        Node::Symbol(symbol) => Some(symbol),
        _ => None,
    }
}

impl Model {
    /// The same model with a selector set to null, or to nothing where it is dead.
    pub(crate) fn extended(&self, store: &Store, selector: &Selector, alive: bool) -> Model {
        let fixed = selector.choices.iter().filter_map(|&(choice, atom)| {
            Some((symbol_of(store, atom)?, u64::from(alive && choice == Choice::Nil)))
        });
        Model::new(self.values().chain(fixed))
    }
}
