//! The wrong rules of the drafts, one at a time, for the tests that must notice each of them.
//!
//! Nothing else uses them. The comments name the rule; `docs/heap-errata.md` says why each is wrong, with a smallest program.

use crate::HeapError;
use crate::guarded::{Cell, Entry, Guarded, Reference};
use crate::origin::{Origin, Path};
use parallax_term::Formula;
use std::rc::Rc;

/// A rule of a draft, used instead of the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draft {
    /// "Undefined" and "uninitialised" are one: a set that mentions null enables no rule.
    DeadNullIsStuck,
    /// SUMMARIZE initialises every location, whatever its guard.
    InitEverywhere,
    /// SUMMARIZE as published: a field that was initialised under another guard gets a second value.
    InitTwice,
    /// An alias differs from the reference of every other candidate, not only of earlier ones.
    AliasExcludesAll,
    /// An alias may be an object that does not exist.
    AliasNeedNotExist,
    /// EQUALS, false: the second disjunct forgets the path condition.
    UnequalForgets,
    /// EQUALS, false: demands a location that only one of the two references has.
    UnequalNeedsUncommon,
    /// Access is enabled only if null is impossible.
    NullMustBeImpossible,
    /// The error state keeps the path condition as it was.
    ErrorKeepsPath,
    /// A null dereference goes on.
    NullGoesOn,
    /// FIELD WRITE initialises the field first.
    WriteInitialises,
    /// Initialisation knows null and new, but no alias.
    NoAlias,
    /// EQUALS strengthens the edges there are, instead of the path condition.
    EqualStrengthensEdges,
    /// The fields of a new object are uninitialised instead of null.
    NewIsUninitialised,
    /// The type of a field depends on its name alone.
    TypeIgnoresClass,
}

impl Draft {
    /// Every draft rule.
    pub const ALL: &'static [Draft] = &[
        Draft::DeadNullIsStuck,
        Draft::InitEverywhere,
        Draft::InitTwice,
        Draft::AliasExcludesAll,
        Draft::AliasNeedNotExist,
        Draft::UnequalForgets,
        Draft::UnequalNeedsUncommon,
        Draft::NullMustBeImpossible,
        Draft::ErrorKeepsPath,
        Draft::NullGoesOn,
        Draft::WriteInitialises,
        Draft::NoAlias,
        Draft::EqualStrengthensEdges,
        Draft::NewIsUninitialised,
        Draft::TypeIgnoresClass,
    ];

    pub(crate) fn changes_equality(self) -> bool {
        matches!(self, Draft::UnequalForgets | Draft::UnequalNeedsUncommon | Draft::EqualStrengthensEdges)
    }

    /// EQUAL as the draft has it.
    pub(crate) fn equal<'s>(
        self,
        heap: Guarded<'s>,
        a: &Reference,
        b: &Reference,
        same: Formula,
    ) -> Result<Vec<(Guarded<'s>, bool)>, HeapError> {
        let oracle = heap.oracle.clone();
        let store = oracle.store;
        let uncommon = |x: &Reference, y: &Reference| {
            oracle.store.any(
                x.iter()
                    .filter(|entry| !y.iter().any(|other| other.target == entry.target))
                    .map(|entry| entry.guard),
            )
        };
        let only_one = store.or(uncommon(a, b), uncommon(b, a));
        let differ = store.not(same);
        let mut forks = Vec::new();
        if self == Draft::EqualStrengthensEdges {
            for (condition, answer) in [(same, true), (differ, false)] {
                if heap.path.sat(&oracle, condition)?.is_some() {
                    forks.push((strengthened(heap.clone(), condition), answer));
                }
            }
            return Ok(forks);
        }
        if let Some(model) = heap.path.sat(&oracle, same)? {
            let mut fork = heap.clone();
            fork.path = fork.path.and(&oracle, same, Origin::Outcome, model);
            forks.push((fork, true));
        }
        if self == Draft::UnequalNeedsUncommon {
            if let Some(model) = heap.path.sat(&oracle, store.and(differ, only_one))? {
                let mut fork = heap;
                fork.path = fork.path.and(&oracle, store.and(differ, only_one), Origin::Outcome, model);
                forks.push((fork, false));
            }
            return Ok(forks);
        }
        // What the program has decided so far falls to the second disjunct; what inputs are stays.
        let decided =
            heap.path.conjuncts().to_vec().into_iter().filter(|(_, origin)| *origin == Origin::Outcome);
        let decided = oracle.store.all(decided.map(|(formula, _)| *formula));
        let forgetful = store.or(store.and(decided, differ), only_one);
        let kept = heap.path.conjuncts().to_vec().into_iter().filter(|(_, origin)| *origin == Origin::Input);
        let mut formulas: Vec<Formula> = kept.map(|(formula, _)| *formula).collect();
        formulas.push(forgetful);
        if let Some(model) = oracle.solve(&formulas)? {
            let model = Rc::new(model);
            let mut path = Path::new(&oracle);
            for formula in formulas {
                path = path.and(&oracle, formula, Origin::Input, model.clone());
            }
            let mut fork = heap;
            fork.path = path;
            forks.push((fork, false));
        }
        Ok(forks)
    }
}

fn strengthened(mut heap: Guarded<'_>, condition: Formula) -> Guarded<'_> {
    let oracle = heap.oracle.clone();
    heap.map_references(|reference| {
        reference
            .iter()
            .map(|entry| Entry::new(oracle.store.and(entry.guard, condition), entry.target))
            .collect()
    });
    heap
}

impl Guarded<'_> {
    fn map_references(&mut self, change: impl Fn(&Reference) -> Reference) {
        let locations: Vec<_> = self.locations().map(|(loc, _)| loc).collect();
        for loc in locations {
            for cell in &mut self.location_mut(loc).fld {
                if let Cell::Ref(reference) = cell {
                    *reference = change(reference);
                }
            }
        }
    }
}
