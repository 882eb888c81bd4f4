//! What a run leaves out: noted in the run's own ledger at the moment it is left out.
//!
//! Every heap of a run has this handle to one ledger. A path may be discarded, merged or cut off afterwards; what was noted
//! stays. The longest input array is the one bound that is an assumption of every path, `not long`: what holds without it
//! and not with it was left out.

use crate::origin::{Origin, Path};
use parallax_op::RelOp;
use parallax_path::{Bound, Completeness, Frontier, Ledger, Oracle};
use parallax_term::{Formula, Store, Term};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A handle to the ledger of a run.
#[derive(Clone, Default)]
pub struct LeftOut(Rc<Shared>);

#[derive(Default)]
struct Shared {
    ledger: RefCell<Ledger>,
    /// Whether it is known that longer arrays would make a difference.
    arrays: Cell<bool>,
}

impl LeftOut {
    /// Notes a bound.
    pub fn note(&self, bound: Bound) {
        self.0.ledger.borrow_mut().note(bound);
    }

    /// Closes the ledger over what is left of the run. What is asked of its heaps afterwards belongs to no answer.
    pub fn close<S>(&self, left: &Frontier<S>) -> Completeness {
        self.0.arrays.set(true);
        self.0.ledger.take().close(left)
    }

    /// Whether an input array may have more than the `most` elements that are looked at, where `formula` holds of a path
    /// with longer arrays. Asked where it holds of no path without, or of elements beyond; once it is so, not again.
    pub fn ask_longer(&self, oracle: &Oracle<'_>, path: &Path, most: usize, formula: Formula) {
        let store = oracle.store;
        if self.0.arrays.get() || store.as_boolean(formula) == Some(false) {
            return;
        }
        let bound = no_longer(store);
        let mut formulas = path.formulas();
        formulas.retain(|conjunct| *conjunct != bound);
        formulas.push(formula);
        match oracle.solve(&formulas) {
            Ok(None) => {}
            Ok(Some(_)) => {
                self.0.arrays.set(true);
                self.note(elements(most));
            }
            Err(reason) => self.note(Bound::Solver(reason)),
        }
    }
}

/// More elements than these were left out.
pub fn elements(most: usize) -> Bound {
    Bound::Values(most as u64, "elements of an array".into())
}

/// Which objects that the program makes were there before the inputs were: those that class initialisers make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// None.
    #[default]
    Nothing,
    /// All but arrays, which nobody else can have.
    Objects,
    /// All.
    Everything,
}

impl Sharing {
    /// Whether an object that is made now is one of them.
    pub fn includes(self, array: bool) -> bool {
        self == Sharing::Everything || self == Sharing::Objects && !array
    }
}

/// Objects of a class that were there before the inputs were stand in the place of none.
pub fn shared_inputs(class: &str) -> Bound {
    Bound::Unsupported(format!("inputs of type {class} that are objects which class initialisers made"))
}

/// The condition that a run starts from, whose inputs may have arrays.
pub fn start(oracle: &Oracle<'_>, arrays: bool) -> Path {
    let mut path = Path::new(oracle);
    // Where there are none, nothing need be said about them.
    if arrays {
        path.assume(oracle, no_longer(oracle.store), Origin::Input);
    }
    path
}

fn longer(store: &Store) -> Formula {
    store.bool_symbol("some input array is longer?")
}

/// No input array is longer than the bound on arrays.
fn no_longer(store: &Store) -> Formula {
    store.not(longer(store))
}

/// The lengths that an input array may have: up to `most`, and any other where arrays are longer.
pub fn length_range(store: &Store, length: Term, most: usize) -> Formula {
    let short = store.relop(RelOp::Ule, length, store.number(32, most as u128));
    let natural = store.relop(RelOp::Sle, store.number(32, 0), length);
    store.or(short, store.and(longer(store), natural))
}
