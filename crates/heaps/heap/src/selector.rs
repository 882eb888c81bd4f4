//! What an input field held on entry: null, an object that was known, or a new one.

use crate::choice::exactly_one;
use crate::draft::Draft;
use crate::guarded::{Entry, Guarded, Loc, Target};
use parallax_path::Model;
use parallax_sem::Symbolic;
use parallax_term::{Formula, Node, Store, Symbol};
use std::rc::Rc;

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
    /// Under which condition each choice can be made: an alias only to what exists and closes no forbidden cycle.
    pub possible: Vec<Formula>,
}

impl Selector {
    /// Whether anything is chosen.
    pub(crate) fn some(&self, store: &Store) -> Formula {
        store.any(self.choices.iter().map(|(_, guard)| *guard))
    }

    /// Where each choice leads.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let target = |choice| match choice {
            Choice::Nil => Target::Nil,
            Choice::Alias(loc) | Choice::New(loc) => Target::Loc(loc),
        };
        self.choices.iter().map(|&(choice, guard)| Entry::new(guard, target(choice))).collect()
    }

    /// Exactly one choice where `under` holds and none elsewhere; each only where it is possible.
    pub fn condition(&self, heap: &Guarded<'_>) -> Formula {
        let store = heap.oracle.store;
        let choices: Vec<_> = self
            .choices
            .iter()
            .zip(&self.possible)
            .map(|(&(_, guard), &possible)| (guard, possible))
            .collect();
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
        heap.oracle.store.all(all)
    }
}

/// The symbol that a selector's atom is.
pub(crate) fn symbol_of(store: &Store, atom: Formula) -> Option<Symbol> {
    match store.node(atom) {
        Node::Symbol(symbol) => Some(symbol),
        _ => None,
    }
}

impl Selector {
    /// The choices that extend a model; none where the selector is dead, since what a model does not speak of is false.
    /// Nothing for a model that speaks of the choices already.
    fn ways(&self, heap: &Guarded<'_>, model: &Model) -> Option<Vec<Symbol>> {
        let store = heap.oracle.store;
        let atoms = self.choices.iter().filter_map(|(_, atom)| symbol_of(store, *atom));
        if atoms.into_iter().any(|atom| model.sets(atom)) {
            return None;
        }
        if !model.holds(store, self.under) {
            return Some(Vec::new());
        }
        let choices = self.choices.iter().zip(&self.possible);
        let chosen = choices.filter(|(_, possible)| model.holds(store, **possible));
        Some(chosen.filter_map(|(&(_, atom), _)| symbol_of(store, atom)).collect())
    }

    /// The known models of a heap extended by choices, as many as a path keeps: the first in every way, null first; each
    /// other in some way. One choice is made where one must be, and it is possible: they are models of the selector's
    /// condition without being held against it.
    /// Conjuncts from number `since` on may speak of the choices.
    pub(crate) fn extend(&self, heap: &Guarded<'_>, since: usize) -> Vec<Rc<Model>> {
        let store = heap.oracle.store;
        let mut extended = Vec::new();
        let most = heap.oracle.recall().models + 1;
        for (at, model) in heap.path.models().into_iter().enumerate() {
            let Some(ways) = self.ways(heap, &model) else { continue };
            if ways.is_empty() {
                extended.push(model);
            } else if at == 0 {
                let ways = ways.into_iter().take(most);
                extended.extend(ways.map(|symbol| Rc::new(model.with(store, symbol))));
            } else if extended.len() < most {
                extended.push(Rc::new(model.with(store, ways[at % ways.len()])));
            }
        }
        let fits = |model: &Rc<Model>| {
            let conjuncts = heap.path.conjuncts();
            let mut recent = conjuncts.newest_first().take(conjuncts.len() - since);
            recent.all(|(formula, _)| model.holds(store, *formula))
        };
        extended.retain(fits);
        extended
    }
}
