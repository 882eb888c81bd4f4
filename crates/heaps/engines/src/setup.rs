//! What every symbolic engine starts from: what objects look like, where to start, how inputs are bounded.

use parallax_heap::{ClassId, FieldKind, Universe, oracle};
use parallax_path::Oracle;
use parallax_term::Store;
use std::rc::Rc;

/// How input heaps are bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// How many steps from `this` an input object may be discovered; `None` for any number.
    pub k: Option<usize>,
    /// How many elements an array has at most.
    pub array: usize,
    /// Whether inputs may point back to `this`.
    pub root_alias: bool,
}

impl Default for Inputs {
    fn default() -> Self {
        Inputs { k: Some(3), array: 3, root_alias: true }
    }
}

/// The inputs that a method may be given.
pub struct Setup<'s> {
    /// The class of `this`.
    pub class: ClassId,
    /// The class whose fields are the parameters.
    pub parameters: ClassId,
    /// The bounds.
    pub inputs: Inputs,
    /// The program's classes, and the one whose fields are the parameters.
    pub universe: Rc<Universe>,
    /// Guards and solver.
    pub oracle: Rc<Oracle<'s>>,
}

impl<'s> Setup<'s> {
    /// Prepares to run a method of an instance of `class`, with guards in `store`.
    pub fn new(
        store: &'s Store,
        universe: Rc<Universe>,
        class: ClassId,
        parameters: ClassId,
        inputs: Inputs,
    ) -> Self {
        Setup { class, parameters, inputs, universe, oracle: Rc::new(oracle(store)) }
    }

    /// Only inputs without a cycle along references of these names, as one graph. False if no field has the name.
    pub fn forbid_cycles(&mut self, name: &str) -> bool {
        let parameters = self.parameters.0 as usize;
        let universe = Rc::make_mut(&mut self.universe);
        let mut found = false;
        let classes = universe.classes.iter_mut().enumerate().filter(|(at, _)| *at != parameters);
        for field in classes.flat_map(|(_, class)| &mut class.fields) {
            if field.name == name && matches!(field.kind, FieldKind::Ref(_)) {
                field.acyclic = true;
                found = true;
            }
        }
        found
    }
}
