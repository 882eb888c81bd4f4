//! Two guarded heaps of different paths as one that stands for the inputs of either.
//!
//! The paths part at the first conjunct that they do not share. Where that conjunct holds, the merged heap is the one,
//! elsewhere the other: every field and every root becomes a choice between the two by that guard. Objects that both
//! know under one name become one object. The selectors of one path are dead on the other, so the models of the merged
//! condition are still one for each heap.

use crate::HeapError;
use crate::guarded::{Cell, Entry, Guarded, Loc, Location, Recent, Reference, References, Target, unused};
use crate::origin::Origin;
use crate::selector::{Choice, Selector};
use crate::set::GuardedSets;
use parallax_sem::Symbolic;
use parallax_term::{Expr, Formula, Id, Scalar, Store};
use rustc_hash::FxHashSet;
use std::rc::Rc;

impl<'s> Guarded<'s> {
    /// How many conjuncts the path conditions of two heaps begin with alike: those that parted last share most.
    pub fn kinship(&self, other: &Self) -> usize {
        self.path.shared(&other.path)
    }

    /// The heap that is this one or the other, and each pair of contents as one. Both must come from one heap, by
    /// different outcomes.
    pub fn merged(mut self, other: Self, pairs: &[(Cell, Cell)]) -> Result<(Self, Vec<Cell>), HeapError> {
        let oracle = self.oracle.clone();
        let store = oracle.store;
        let shared = self.kinship(&other);
        let [mine, theirs] = [&self, &other].map(|heap| heap.path.formulas().split_off(shared));
        let here = match (mine.first(), theirs.first()) {
            (Some(&a), Some(&b)) if store.not(a) == b => a,
            (Some(_), Some(_)) => oracle.store.all(mine.iter().copied()),
            _ => return Err(HeapError::Broken("two heaps of one path")),
        };
        let there = store.not(here);

        let image = self.adopt(&other, here, there);
        let by_values = self.depends_on_values(&other, here);
        // Whether references depend on which path it was, other than by what the path discovered.
        let mut parted = pairs.iter().any(|(a, b)| differ(a, &image.cell(b)));
        let join = |a: &Cell, b: &Cell| join(store, here, a, b);
        for (theirs, &loc) in other.locations.iter().zip(&image.common) {
            let Some(loc) = loc else { continue };
            let mine = self.location(loc).clone();
            let both = |a: &[Cell], b: &[Cell]| -> Result<Vec<Cell>, HeapError> {
                a.iter().zip(b).map(|(a, b)| join(a, &image.cell(b))).collect()
            };
            let (fld, inp) = (both(&mine.fld, &theirs.fld)?, both(&mine.inp, &theirs.inp)?);
            let written = |location: &Location, field: usize| {
                location.inp.get(field).is_none_or(|entry| differ(entry, &location.fld[field]))
            };
            parted |= (0..fld.len()).any(|field| {
                differ(&mine.fld[field], &image.cell(&theirs.fld[field]))
                    && (written(&mine, field) || written(theirs, field))
            });
            let location = self.location_mut(loc);
            (location.fld, location.inp) = (fld, inp);
        }

        let known = self.selectors.iter().zip(&other.selectors).take_while(|(a, b)| Rc::ptr_eq(a, b)).count();
        let atoms = |selectors: &[Rc<Selector>]| -> FxHashSet<Formula> {
            selectors.iter().flat_map(|selector| selector.choices.iter().map(|(_, atom)| *atom)).collect()
        };
        let (own, foreign) = (atoms(&self.selectors[known..]), atoms(&other.selectors[known..]));
        let dead = |selectors: &[Rc<Selector>], elsewhere: &FxHashSet<Formula>, only: Formula| {
            store.implies(
                oracle.store.any(selectors.iter().flat_map(|selector| selector.unless(store, elsewhere))),
                only,
            )
        };
        let dead =
            [dead(&self.selectors[known..], &foreign, here), dead(&other.selectors[known..], &own, there)];
        for selector in &mut self.selectors[known..] {
            *selector =
                Rc::new(Selector { under: store.and(here, selector.under), ..Selector::clone(selector) });
        }
        self.selectors.extend(other.selectors[known..].iter().map(|selector| {
            Rc::new(Selector { under: store.and(there, selector.under), ..image.selector(selector) })
        }));

        // As few conjuncts as can be: each is wrapped once more by every merge to come.
        let common: Vec<Formula> = mine.iter().copied().filter(|f| theirs.contains(f)).collect();
        let rest = |all: &[Formula]| oracle.store.all(all.iter().copied().filter(|f| !common.contains(f)));
        let mut added = vec![store.implies(here, rest(&mine)), store.implies(there, rest(&theirs))];
        added.extend(dead);
        added.extend(common.iter().copied());
        added.retain(|f| store.as_boolean(*f) != Some(true));

        // An index that only one path used tells heaps apart on that path alone.
        let only = |of: &[Formula], others: &[Formula], side: Formula| -> Vec<Formula> {
            of.iter()
                .map(|&index| if others.contains(&index) { index } else { store.and(side, index) })
                .collect()
        };
        let (own, foreign) =
            (only(&self.indices, &other.indices, here), only(&other.indices, &self.indices, there));
        self.indices = own.clone();
        self.indices.extend(foreign.into_iter().filter(|index| !own.contains(index)));
        if by_values && parted && !self.indices.contains(&here) {
            self.indices.push(here);
        }
        let candidates = other.candidates.iter().map(|&loc| image.loc(loc));
        let candidates: Vec<Loc> = candidates.filter(|loc| !self.candidates.contains(loc)).collect();
        self.candidates.extend(candidates);
        self.truncated |= other.truncated;
        let added: Vec<(Formula, Origin)> =
            added.into_iter().map(|formula| (formula, Origin::Merged)).collect();
        let merged = self.path.merged(&other.path, &oracle, shared, &added);
        // What was known of references may hold on one of the two only.
        self.recent = Recent::default();
        self.path = merged.ok_or(HeapError::Broken("paths that were merged without a model"))?;
        let pairs = pairs.iter().map(|(a, b)| join(a, &image.cell(b)));
        Ok((self, pairs.collect::<Result<_, _>>()?))
    }

    /// Whether a condition is about more than choices.
    fn depends_on_values(&self, other: &Self, condition: Formula) -> bool {
        let selectors = self.selectors.iter().chain(&other.selectors);
        let atoms: FxHashSet<Id> =
            selectors.flat_map(|selector| selector.choices.iter().map(|(_, atom)| atom.id())).collect();
        let store = self.oracle.store;
        store.symbols_in([condition.id()]).into_iter().any(|symbol| match store.expr_of(symbol) {
            Expr::Formula(atom) => !atoms.contains(&atom.id()),
            _ => true,
        })
    }

    /// Takes over the other heap's locations: those known here by the same name are the same, the others are added.
    fn adopt(&mut self, other: &Self, here: Formula, there: Formula) -> Image {
        let store = self.oracle.store;
        let own = self.locations.len();
        let mut common = Vec::new();
        let mut taken = vec![false; own];
        for (at, theirs) in other.locations.iter().enumerate() {
            let fits = |at: &usize| !taken[*at] && twins(&self.locations[*at], theirs);
            let twin = Some(at).filter(|at| *at < own).filter(fits).or_else(|| (0..own).find(fits));
            if let Some(twin) = twin {
                taken[twin] = true;
            }
            common.push(twin.map(|at| Loc(at as u32)));
        }
        // An object that the program made on one path only does not exist on the other.
        for (location, taken) in self.locations.iter_mut().zip(taken) {
            if !taken && location.input.is_none() {
                let location = Rc::make_mut(location);
                location.exists = store.and(location.exists, here);
            }
        }
        let mut locs = Vec::new();
        let mut next = own as u32;
        for twin in &common {
            locs.push(twin.unwrap_or(Loc(next)));
            next += u32::from(twin.is_none());
        }
        let image = Image { common, locs };
        for (theirs, twin) in other.locations.iter().zip(&image.common) {
            if twin.is_none() {
                let mut location = image.location(theirs);
                if location.input.is_none() {
                    location.exists = store.and(location.exists, there);
                }
                let label = location.label.clone();
                let taken = |label: &str| self.locations.iter().any(|known| &*known.label == label);
                location.label = unused(&label, |n| format!("{label}#{n}"), taken).into();
                self.locations.push(Rc::new(location));
            }
        }
        image
    }
}

impl Selector {
    /// What to forbid where the selector is dead: that anything is chosen; without choices that are meant elsewhere too.
    fn unless(&self, store: &Store, elsewhere: &FxHashSet<Formula>) -> Vec<Formula> {
        let own = self.choices.iter().map(|(_, atom)| *atom).filter(|atom| !elsewhere.contains(atom));
        let own: Vec<Formula> = own.collect();
        if own.len() == self.choices.len() { vec![self.some(store)] } else { own }
    }
}

/// Whether two paths found, or made, an object in the same way.
fn twins(a: &Location, b: &Location) -> bool {
    (a.class, &a.path, &a.label, a.input, a.exists, a.length, a.fld.len())
        == (b.class, &b.path, &b.label, b.input, b.exists, b.length, b.fld.len())
}

/// Where the locations of the other heap are in the merged one.
struct Image {
    /// The locations that were known.
    common: Vec<Option<Loc>>,
    locs: Vec<Loc>,
}

impl Image {
    fn loc(&self, loc: Loc) -> Loc {
        self.locs[loc.0 as usize]
    }

    fn cell(&self, cell: &Cell) -> Cell {
        let Cell::Ref(reference) = cell else { return cell.clone() };
        let mut entries: Vec<Entry> = reference
            .iter()
            .map(|entry| Entry {
                target: match entry.target {
                    Target::Loc(loc) => Target::Loc(self.loc(loc)),
                    other => other,
                },
                ..*entry
            })
            .collect();
        entries.sort_by_key(|entry| entry.target);
        Cell::Ref(entries.into())
    }

    fn location(&self, location: &Location) -> Location {
        let cells = |cells: &[Cell]| cells.iter().map(|cell| self.cell(cell)).collect();
        Location { fld: cells(&location.fld), inp: cells(&location.inp), ..location.clone() }
    }

    fn selector(&self, selector: &Selector) -> Selector {
        let choice = |choice| match choice {
            Choice::Nil => Choice::Nil,
            Choice::Alias(loc) => Choice::Alias(self.loc(loc)),
            Choice::New(loc) => Choice::New(self.loc(loc)),
        };
        Selector {
            loc: self.loc(selector.loc),
            choices: selector.choices.iter().map(|&(what, atom)| (choice(what), atom)).collect(),
            ..selector.clone()
        }
    }
}

/// Whether two contents are different references.
fn differ(a: &Cell, b: &Cell) -> bool {
    matches!((a, b), (Cell::Ref(a), Cell::Ref(b)) if a != b)
}

/// The first where `here` holds, else the second.
fn join(store: &Store, here: Formula, a: &Cell, b: &Cell) -> Result<Cell, HeapError> {
    match (a, b) {
        (Cell::Ref(a), Cell::Ref(b)) => {
            Ok(Cell::Ref(if a == b { a.clone() } else { either(store, here, a, b) }))
        }
        (Cell::Scalar(Scalar::Term(a)), Cell::Scalar(Scalar::Term(b))) => {
            Ok(Cell::Scalar(Scalar::Term(store.ite(here, *a, *b))))
        }
        (Cell::Scalar(Scalar::Formula(a)), Cell::Scalar(Scalar::Formula(b))) => {
            Ok(Cell::Scalar(Scalar::Formula(store.ite_bool(here, *a, *b))))
        }
        _ => Err(HeapError::Broken("a field changed its kind")),
    }
}

fn either(store: &Store, here: Formula, a: &Reference, b: &Reference) -> Reference {
    let mut entries = References(Symbolic::new(store)).either(&here, a, b);
    entries.sort_unstable_by_key(|entry| entry.target);
    entries.into_iter().collect()
}
