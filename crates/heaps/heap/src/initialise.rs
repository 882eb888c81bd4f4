//! INIT: what a field held on entry, decided when somebody asks.

use crate::HeapError;
use crate::draft::Draft;
use crate::guarded::{Cell, Entry, Guarded, Loc, Reference, Target, unused};
use crate::origin::Origin;
use crate::selector::{Choice, Selector};
use crate::universe::{ClassId, FieldKind};
use parallax_term::Formula;
use std::rc::Rc;

impl Guarded<'_> {
    /// INIT: gives `loc.field` its content on entry, where it has none yet and `guard` holds. Whether there was anything
    /// to give: then no entry is left that cannot be.
    pub fn init(&mut self, guard: Formula, loc: Loc, field: usize) -> Result<bool, HeapError> {
        let Cell::Ref(old) = self.location(loc).fld[field].clone() else { return Ok(false) };
        let oracle = self.oracle.clone();
        let store = oracle.store;
        let h = self.guard_of(&old, Target::Un);
        let u = if self.has(Draft::InitEverywhere) { h } else { store.and(guard, h) };
        if self.sat(u)?.is_none() {
            return Ok(false);
        }
        let u = if self.has(Draft::InitTwice) { guard } else { u };
        let selector = self.select(u, loc, field)?;
        let chosen = selector.entries();
        // keep: every old entry; what was UN stays so where `guard` does not hold.
        let rest = store.not(u);
        let keep = |old: &Reference, twice: bool| -> Vec<Entry> {
            old.iter()
                .map(|entry| Entry {
                    guard: match entry.target {
                        Target::Un => store.and(entry.guard, rest),
                        _ if twice => store.and(entry.guard, rest),
                        _ => entry.guard,
                    },
                    ..*entry
                })
                .collect()
        };
        let twice = self.has(Draft::InitTwice);
        // Each choice is possible, or it would be none.
        let with_choices = |old: &Reference| self.join_beside(&chosen, keep(old, twice));
        let fld = with_choices(&old)?;
        let inp = match self.location(loc).inp.get(field) {
            Some(Cell::Ref(inp)) if *inp == old => Some(fld.clone()),
            Some(Cell::Ref(inp)) => Some(with_choices(inp)?),
            _ => None,
        };
        let location = self.location_mut(loc);
        location.fld[field] = Cell::Ref(fld);
        if let Some(inp) = inp {
            location.inp[field] = Cell::Ref(inp);
        }
        Ok(true)
    }

    /// Gives `loc.field` its content on entry although the program need not have asked for it: where it was written, what
    /// it held before. Whether there was anything to give.
    pub fn init_entry(&mut self, loc: Loc, field: usize) -> Result<bool, HeapError> {
        let location = self.location(loc);
        let (Cell::Ref(fld), Some(Cell::Ref(inp))) =
            (location.fld[field].clone(), location.inp.get(field).cloned())
        else {
            return Ok(false);
        };
        let oracle = self.oracle.clone();
        let store = oracle.store;
        let u = store.and(location.exists, self.guard_of(&inp, Target::Un));
        if self.sat(u)?.is_none() {
            return Ok(false);
        }
        let chosen = self.select(u, loc, field)?.entries();
        let rest = store.not(u);
        let with_choices = |old: &Reference| -> Vec<Entry> {
            let open = self.guard_of(old, Target::Un);
            let chosen = chosen.iter().map(|entry| Entry::new(store.and(open, entry.guard), entry.target));
            let kept = old.iter().map(|entry| match entry.target {
                Target::Un => Entry::new(store.and(entry.guard, rest), entry.target),
                _ => *entry,
            });
            chosen.chain(kept).collect()
        };
        let (fld, inp) = (self.join(with_choices(&fld))?, self.join(with_choices(&inp))?);
        let location = self.location_mut(loc);
        (location.fld[field], location.inp[field]) = (Cell::Ref(fld), Cell::Ref(inp));
        Ok(true)
    }

    /// A fresh selector for `loc.field` under `u`: null, any candidate that exists, or a new object.
    fn select(&mut self, u: Formula, loc: Loc, field: usize) -> Result<Rc<Selector>, HeapError> {
        let oracle = self.oracle.clone();
        let store = oracle.store;
        let location = self.location(loc);
        let (class, depth) = (location.class, location.input.unwrap_or(0));
        let path = self.universe.place(&location.path, class, field);
        let label = self.universe.place(&location.label, class, field);
        let FieldKind::Ref(wanted) = self.kind(class, field) else {
            return Err(HeapError::Broken("only references are initialised"));
        };
        let taken = |label: &str| self.selectors.iter().any(|other| other.label == label);
        let label = unused(&label, |n| format!("{label} ({n})"), taken);
        let since = self.path.conjuncts().len();
        let mut choices = vec![(Choice::Nil, store.bool_symbol(&format!("{label} = null")))];
        let mut possible = vec![store.true_()];
        let fitting = self.candidates.iter().copied();
        let fitting = fitting.filter(|loc| self.universe.admits(wanted, self.location(*loc).class));
        let closing = if self.universe.is_acyclic(class, field) { Some(self.reaching(loc)) } else { None };
        let fitting: Vec<(Loc, Formula)> = fitting
            .map(|loc| match &closing {
                Some(closing) => {
                    (loc, store.and(self.location(loc).exists, store.not(closing[loc.0 as usize])))
                }
                None => (loc, self.location(loc).exists),
            })
            .collect();
        let fitting = match self.options.draft {
            Some(Draft::NoAlias) => Vec::new(),
            Some(Draft::AliasNeedNotExist) => fitting.iter().map(|(loc, _)| (*loc, store.true_())).collect(),
            _ => self.live(fitting, |(_, possible)| store.and(u, *possible))?,
        };
        for (candidate, condition) in fitting {
            possible.push(condition);
            let guard = store.bool_symbol(&format!("{label} = {}", self.location(candidate).label));
            choices.push((Choice::Alias(candidate), guard));
        }
        let universe = self.universe.clone();
        let new = universe.class(wanted).new_inputs(self.options.k, depth, &self.left_out);
        self.truncated |= new.truncated;
        for &instance in new.instances {
            let name = &universe.class(instance).name;
            let guard = store.bool_symbol(&format!("{label} is a new {name}"));
            let fresh = self.input(instance, &path, depth + 1, guard);
            self.location_mut(fresh).others.clone_from(&universe.class(wanted).left_out);
            possible.push(store.true_());
            choices.push((Choice::New(fresh), guard));
        }
        let selector = Rc::new(Selector { loc, field, under: u, label, choices, possible });
        let condition = selector.condition(self);
        let mut models = selector.extend(self, since);
        if self.options.draft.is_some() {
            // A wrong rule may demand what no choice gives.
            models.retain(|model| model.holds(store, condition));
        }
        self.path = self.path.choose(&oracle, condition, Origin::Input, models);
        for &(choice, _) in &selector.choices {
            if let Choice::New(fresh) = choice {
                self.candidates.push(fresh);
            }
        }
        self.selectors.push(selector.clone());
        Ok(selector)
    }

    /// For each location: when it led to `target` on entry, by acyclic fields as far as they are known.
    fn reaching(&self, target: Loc) -> Vec<Formula> {
        let store = self.oracle.store;
        let mut reaches = vec![store.false_(); self.locations.len()];
        reaches[target.0 as usize] = store.true_();
        // A way without a cycle has at most as many steps as there are locations.
        for _ in 0..self.locations.len() {
            let mut next = reaches.clone();
            for (loc, location) in self.locations() {
                let fields = location.inp.iter().enumerate();
                for (_, cell) in fields.filter(|(field, _)| self.universe.is_acyclic(location.class, *field))
                {
                    let Cell::Ref(reference) = cell else { continue };
                    let ways = reference.iter().filter_map(|entry| match entry.target {
                        Target::Loc(to) => Some(store.and(entry.guard, reaches[to.0 as usize])),
                        _ => None,
                    });
                    let own = &mut next[loc.0 as usize];
                    *own = ways.fold(*own, |any, way| store.or(any, way));
                }
            }
            if next == reaches {
                break;
            }
            reaches = next;
        }
        reaches
    }

    fn kind(&self, class: ClassId, field: usize) -> FieldKind {
        if self.has(Draft::TypeIgnoresClass) && self.universe.class(class).element.is_none() {
            let name = &self.universe.class(class).fields[field].name;
            let mut fields = self.universe.classes.iter().flat_map(|class| &class.fields);
            if let Some(first) =
                fields.find(|other| &other.name == name && matches!(other.kind, FieldKind::Ref(_)))
            {
                return first.kind;
            }
        }
        self.universe.kind(class, field)
    }
}
