//! A guarded heap under one model, and every model there is.

use crate::HeapError;
use crate::guarded::{Cell, Guarded, Loc, Reference, Target};
use crate::snapshot::{Held, Object, Snapshot};
use parallax_path::Model;
use parallax_smt::Reason;
use parallax_term::Formula;
use std::collections::HashMap;
use std::rc::Rc;

/// Models of a path condition, one for each way to choose.
pub struct Models {
    /// The models.
    pub models: Vec<Rc<Model>>,
    /// Whether there are no others.
    pub complete: bool,
}

impl Guarded<'_> {
    /// The one place that a reference points to under a model. Fails if it is not one.
    pub fn target(&self, model: &Model, reference: &Reference) -> Result<Target, HeapError> {
        let mut found = None;
        for entry in reference.iter().filter(|entry| model.holds(self.oracle.store, entry.guard)) {
            if found.replace(entry.target).is_some() {
                return Err(HeapError::Broken("two guards of one reference hold"));
            }
        }
        found.ok_or(HeapError::Broken("no guard of a reference holds"))
    }

    /// `resolve(s, M)`: the one heap this heap is under a model, with these roots.
    ///
    /// Fails if some reference does not point to exactly one place: an invariant is broken.
    pub fn resolve(&self, model: &Model, roots: &[(String, Cell)]) -> Result<Snapshot, HeapError> {
        let store = self.oracle.store;
        let holds = |formula: Formula| model.holds(store, formula);
        let mut number = HashMap::new();
        let mut live: Vec<Loc> = Vec::new();
        for (loc, location) in self.locations() {
            if holds(location.exists) {
                number.insert(loc, live.len());
                live.push(loc);
            }
        }
        let one = |reference: &Reference| match self.target(model, reference)? {
            Target::Nil => Ok(Held::Nil),
            Target::Un => Ok(Held::Un),
            Target::Loc(loc) => match number.get(&loc) {
                Some(&at) => Ok(Held::Object(at)),
                None => Err(HeapError::Broken("a reference to an object that does not exist")),
            },
        };
        let cell = |cell: &Cell| match cell {
            Cell::Ref(reference) => one(reference),
            Cell::Scalar(scalar) => Ok(Held::Scalar(*scalar)),
        };
        let mut snapshot = Snapshot::default();
        for &loc in &live {
            let location = self.location(loc);
            snapshot.objects.push(Object {
                class: location.class,
                path: location.path.clone(),
                fld: location.fld.iter().map(&cell).collect::<Result<_, _>>()?,
                inp: location.inp.iter().map(&cell).collect::<Result<_, _>>()?,
                length: location.length,
            });
        }
        for (name, root) in roots {
            snapshot.roots.push((name.clone(), cell(root)?));
        }
        Ok(snapshot)
    }

    /// What tells the represented heaps apart: the choices, and conditions on values that decide what references are.
    pub fn atoms(&self) -> Vec<Formula> {
        self.selections().chain(self.indices.iter().copied()).collect()
    }

    /// Every choice of every selector.
    pub(crate) fn selections(&self) -> impl Iterator<Item = Formula> {
        self.selectors.iter().flat_map(|selector| selector.choices.iter().map(|(_, atom)| *atom))
    }

    /// One model for each way to choose, `limit` at most. The first is one that the path has anyway, so a path has one
    /// even if the deadline is past.
    pub fn models(&self, limit: usize) -> Result<Models, HeapError> {
        let store = self.oracle.store;
        let atoms = self.atoms();
        let mut formulas = self.path.formulas();
        let mut models = Vec::new();
        let mut next = self.path.sat(&self.oracle, store.true_())?;
        while let Some(model) = next {
            if models.len() == limit {
                return Ok(Models { models, complete: false });
            }
            let other = atoms.iter().map(|&atom| match model.holds(store, atom) {
                true => store.not(atom),
                false => atom,
            });
            formulas.push(self.oracle.store.any(other));
            models.push(model);
            next = match self.oracle.solve(&formulas) {
                Err(Reason::Time) => return Ok(Models { models, complete: false }),
                answer => answer?.map(Rc::new),
            };
        }
        Ok(Models { models, complete: true })
    }

    /// The choices of a model, as assumptions.
    pub fn choices(&self, model: &Model) -> Vec<Formula> {
        let store = self.oracle.store;
        self.atoms()
            .into_iter()
            .map(|atom| if model.holds(store, atom) { atom } else { store.not(atom) })
            .collect()
    }
}
