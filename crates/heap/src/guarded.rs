//! The guarded heap: one symbolic heap that stands for every heap lazy initialisation would enumerate.
//!
//! A reference is a set of guarded locations (`pts`); a location has one reference per field (`fld`), and one more
//! for what the field held on entry (`inp`). Stored references never change: a write installs a fresh one.
//!
//! Invariants: the guards of a reference exclude each other, the path condition implies their disjunction, and `UN`
//! (not yet initialised) occurs only in fields. The rules are those of `docs/heap.md`, under the same names.

use crate::HeapError;
use crate::draft::Draft;
use crate::origin::{Origin, Path};
use crate::selector::{Choice, Selector};
use crate::set::{self, GuardedSets};
use crate::universe::{ClassId, FieldKind, Universe};
use parallax_op::RelOp;
use parallax_path::Oracle;
use parallax_sem::Symbolic;
use parallax_term::{Formula, Scalar, Store, Term};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// A location, by its number in its heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc(pub u32);

/// Where an entry of a reference points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// Null.
    Nil,
    /// Not yet initialised: what the field held on entry, which nobody has asked about.
    Un,
    /// An object.
    Loc(Loc),
}

/// `g : l`
pub type Entry = set::Entry<Formula, Target>;

/// References as guarded sets, whose targets have no inside.
pub(crate) struct References<'s>(pub Symbolic<'s>);

impl<'s> GuardedSets<Symbolic<'s>> for References<'s> {
    type Offset = ();
    fn core(&self) -> &Symbolic<'s> {
        &self.0
    }
    fn known(&self, guard: &Formula) -> Option<bool> {
        self.0.store.as_boolean(*guard)
    }
    fn choose(&self, _: &Formula, _: &(), _: &()) {}
}

/// A reference: its guarded locations, in the order of targets.
pub type Reference = Rc<[Entry]>;

/// What a field holds.
#[derive(Clone, Debug)]
pub enum Cell {
    /// A reference.
    Ref(Reference),
    /// A bit-vector or a truth value.
    Scalar(Scalar),
}

/// An object.
#[derive(Clone, Debug)]
pub struct Location {
    /// What it is an instance of.
    pub class: ClassId,
    /// How it was discovered, as in `this.head.next`; the same for locations that never exist together.
    pub path: Rc<str>,
    /// Its name, unique in its heap.
    pub label: Rc<str>,
    /// Whether it existed on entry, and its depth along the chain that discovered it.
    pub input: Option<usize>,
    /// When it exists.
    pub exists: Formula,
    /// What its fields (or elements) hold.
    pub fld: Vec<Cell>,
    /// What they held on entry; empty if the program made the object.
    pub inp: Vec<Cell>,
    /// The length, of an array.
    pub length: Option<Term>,
}

/// How input heaps are bounded.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many steps from the root an input object may be discovered.
    pub k: Option<usize>,
    /// How many elements an input array has at most.
    pub array: usize,
    /// A wrong rule to use instead of the right one: only for tests that must notice.
    pub draft: Option<Draft>,
}

/// A guarded heap with its path condition.
#[derive(Clone)]
pub struct Guarded<'s> {
    /// Guards and solver.
    pub oracle: Rc<Oracle<'s>>,
    /// What objects look like.
    pub universe: Rc<Universe>,
    /// The bounds.
    pub options: Options,
    /// The path condition, π.
    pub path: Path,
    /// Input objects that a field may alias, in order of creation.
    pub candidates: Vec<Loc>,
    /// Every choice made so far, in order.
    pub selectors: Vec<Rc<Selector>>,
    /// Conditions on values that decide what references are: which element an access meant, which of two merged paths
    /// it was.
    pub indices: Vec<Formula>,
    /// Whether the bound k forbade some object.
    pub truncated: bool,
    /// How many conjuncts the path condition had when the method was entered, if its precondition is one condition.
    pub entered: usize,
    pub(crate) locations: Vec<Rc<Location>>,
    /// What was found out about references last.
    pub(crate) recent: Recent,
}

/// What was found out about references last: it holds for as long as the path condition only grows.
#[derive(Clone, Default)]
pub(crate) struct Recent {
    /// Some that are not null, in a ring.
    objects: [Option<Reference>; RECENT],
    next: usize,
    followed: RefCell<Option<Followed>>,
}

/// How many references are remembered not to be null.
const RECENT: usize = 4;

/// The reference that was followed last.
#[derive(Clone)]
struct Followed {
    reference: Reference,
    /// How many conjuncts the path condition had then.
    conjuncts: usize,
    objects: Vec<(Formula, Loc)>,
}

impl Recent {
    fn is_object(&self, reference: &Reference) -> bool {
        self.objects.iter().flatten().any(|known| Rc::ptr_eq(known, reference))
    }

    fn add_object(&mut self, reference: &Reference) {
        self.objects[self.next] = Some(reference.clone());
        self.next = (self.next + 1) % RECENT;
    }
}

type Forks<'s, T> = Result<Vec<(Guarded<'s>, T)>, HeapError>;

impl<'s> Guarded<'s> {
    /// An empty heap.
    pub fn new(oracle: Rc<Oracle<'s>>, universe: Rc<Universe>, options: Options) -> Self {
        Guarded {
            path: Path::new(&oracle),
            oracle,
            universe,
            options,
            candidates: Vec::new(),
            selectors: Vec::new(),
            indices: Vec::new(),
            truncated: false,
            entered: 0,
            locations: Vec::new(),
            recent: Recent::default(),
        }
    }

    /// Gives back room that was left to grow.
    pub fn shrink(&mut self) {
        self.recent = Recent::default();
        self.candidates.shrink_to_fit();
        self.selectors.shrink_to_fit();
        self.indices.shrink_to_fit();
        self.locations.shrink_to_fit();
    }

    /// The location of this number.
    pub fn location(&self, loc: Loc) -> &Location {
        &self.locations[loc.0 as usize]
    }

    /// Every location.
    pub fn locations(&self) -> impl Iterator<Item = (Loc, &Location)> {
        self.locations.iter().enumerate().map(|(at, location)| (Loc(at as u32), &**location))
    }

    /// The reference that is certainly `target`.
    pub fn certainly(&self, target: Target) -> Reference {
        Rc::from([Entry::new(self.oracle.store.true_(), target)])
    }

    /// Null.
    pub fn null(&self) -> Reference {
        self.certainly(Target::Nil)
    }

    fn has(&self, draft: Draft) -> bool {
        self.options.draft == Some(draft)
    }

    /// An input object that certainly exists, at depth 0, with nothing known of its fields.
    pub fn root(&mut self, class: ClassId, name: &str, aliasable: bool) -> Loc {
        let exists = self.oracle.store.true_();
        let loc = self.input(class, name, 0, exists);
        if aliasable {
            self.candidates.push(loc);
        }
        loc
    }

    fn input(&mut self, class: ClassId, path: &str, depth: usize, exists: Formula) -> Loc {
        let store = self.oracle.store;
        let taken = |label: &str| self.locations.iter().any(|other| &*other.label == label);
        let label = unused(path, |n| format!("{path}#{n}"), taken);
        let shape = self.universe.class(class);
        let slots = if shape.element.is_some() { self.options.array } else { shape.fields.len() };
        let length = shape.element.map(|_| store.symbol(&format!("{path}.length"), 32));
        let cells: Vec<Cell> = (0..slots)
            .map(|field| match self.universe.on_entry(store, class, field, path) {
                None => Cell::Ref(self.certainly(Target::Un)),
                Some(scalar) => Cell::Scalar(scalar),
            })
            .collect();
        if let Some(length) = length {
            let most = store.number(32, self.options.array as u128);
            let range = store.implies(exists, store.relop(RelOp::Ule, length, most));
            // The object does not exist in the last model, which stays one.
            self.path.assume(&self.oracle, range, Origin::Input);
        }
        let inp = cells.clone();
        self.push(Location {
            class,
            path: path.into(),
            label: label.into(),
            input: Some(depth),
            exists,
            fld: cells,
            inp,
            length,
        })
    }

    fn push(&mut self, location: Location) -> Loc {
        self.locations.push(Rc::new(location));
        Loc(self.locations.len() as u32 - 1)
    }

    pub(crate) fn location_mut(&mut self, loc: Loc) -> &mut Location {
        Rc::make_mut(&mut self.locations[loc.0 as usize])
    }

    /// NEW: an object of the program; references null, vectors 0, truth values false.
    pub fn allocate(&mut self, class: ClassId) -> Reference {
        let fields = self.universe.class(class).fields.len();
        self.made(class, fields, None)
    }

    /// An array of the program with room for `slots` elements, of which the first `length` exist.
    pub fn allocate_array(&mut self, class: ClassId, slots: usize, length: Term) -> Reference {
        self.made(class, slots, Some(length))
    }

    fn made(&mut self, class: ClassId, slots: usize, length: Option<Term>) -> Reference {
        let store = self.oracle.store;
        let empty = if self.has(Draft::NewIsUninitialised) { Target::Un } else { Target::Nil };
        let fld = (0..slots)
            .map(|field| match self.universe.zero(store, class, field) {
                None => Cell::Ref(self.certainly(empty)),
                Some(scalar) => Cell::Scalar(scalar),
            })
            .collect();
        let made = self.locations.iter().filter(|other| other.input.is_none()).count();
        let name: Rc<str> = format!("{}{}", self.universe.class(class).name, made + 1).into();
        let exists = store.true_();
        let loc = self.push(Location {
            class,
            path: name.clone(),
            label: name,
            input: None,
            exists,
            fld,
            inp: Vec::new(),
            length,
        });
        self.certainly(Target::Loc(loc))
    }

    /// Both ways a condition may go, each with the path condition that goes with it.
    pub fn branch(self, condition: Formula) -> Forks<'s, bool> {
        if let Some(known) = self.oracle.store.as_boolean(condition) {
            return Ok(vec![(self, known)]);
        }
        let (yes, no) = self.path.fork(&self.oracle, condition, Origin::Outcome)?;
        Ok(match (yes, no) {
            (Some(yes), Some(no)) => {
                vec![(Guarded { path: yes, ..self.clone() }, true), (Guarded { path: no, ..self }, false)]
            }
            (Some(path), None) => vec![(Guarded { path, ..self }, true)],
            (None, Some(path)) => vec![(Guarded { path, ..self }, false)],
            (None, None) => return Err(HeapError::Broken("a path without a model")),
        })
    }

    /// Where the reference is null.
    pub fn is_null(&self, reference: &Reference) -> Formula {
        self.guard_of(reference, Target::Nil)
    }

    /// The guard of a target.
    pub fn guard_of(&self, reference: &Reference, target: Target) -> Formula {
        let found = reference.iter().find(|entry| entry.target == target);
        found.map_or(self.oracle.store.false_(), |entry| entry.guard)
    }

    /// NULLCHECK: whether the reference may be an object (true), or null (false).
    pub fn null_check(self, reference: &Reference) -> Forks<'s, bool> {
        let null = self.is_null(reference);
        let object = self.oracle.store.not(null);
        if self.has(Draft::DeadNullIsStuck) && reference.iter().any(|entry| entry.target == Target::Nil)
            || self.has(Draft::NullMustBeImpossible) && self.path.sat(&self.oracle, null)?.is_some()
        {
            return Ok(Vec::new());
        }
        if self.has(Draft::ErrorKeepsPath) && self.path.sat(&self.oracle, null)?.is_some() {
            let mut forks = vec![(self.clone(), false)];
            forks.extend(self.branch(object)?.into_iter().filter(|(_, object)| *object));
            return Ok(forks);
        }
        if self.has(Draft::NullGoesOn) {
            return Ok(vec![(self, true)]);
        }
        let mut forks = self.branch(object)?;
        for (heap, _) in forks.iter_mut().filter(|(_, object)| *object) {
            heap.recent.add_object(reference);
        }
        Ok(forks)
    }

    /// Whether a reference is an object or null, where that is known without asking.
    pub fn known_object(&self, reference: &Reference) -> Option<bool> {
        if self.options.draft.is_some() {
            return None;
        }
        let object = match reference.iter().find(|entry| entry.target == Target::Nil) {
            None => true,
            Some(null) => match self.oracle.store.as_boolean(null.guard) {
                Some(null) => !null,
                None => return self.recent.is_object(reference).then_some(true),
            },
        };
        Some(object)
    }

    /// The objects a reference may still be, with their guards; an object that is certain has the guard *true*.
    fn objects(&self, reference: &Reference) -> Result<Vec<(Formula, Loc)>, HeapError> {
        if let [only] = &reference[..]
            && let Target::Loc(loc) = only.target
            && self.oracle.store.as_boolean(only.guard) == Some(true)
        {
            return Ok(vec![(only.guard, loc)]);
        }
        let conjuncts = self.path.conjuncts().len();
        if let Some(last) = &*self.recent.followed.borrow()
            && last.conjuncts == conjuncts
            && Rc::ptr_eq(&last.reference, reference)
        {
            return Ok(last.objects.clone());
        }
        let objects = reference.iter().filter_map(|entry| match entry.target {
            Target::Loc(loc) => Some((entry.guard, loc)),
            _ => None,
        });
        let mut objects = self.live(objects, |(guard, _)| *guard)?;
        if let [(guard, _)] = objects.as_mut_slice()
            && self.path.sat(&self.oracle, self.is_null(reference))?.is_none()
        {
            *guard = self.oracle.store.true_();
        }
        let followed = Followed { reference: reference.clone(), conjuncts, objects: objects.clone() };
        *self.recent.followed.borrow_mut() = Some(followed);
        Ok(objects)
    }

    /// READ: the value of a field of a reference that is not null here.
    pub fn read(&mut self, reference: &Reference, field: usize) -> Result<Cell, HeapError> {
        let from = self.objects(reference)?;
        self.read_at(from.into_iter().map(|(guard, loc)| (guard, loc, field)).collect())
    }

    /// The value at each place under its guard, as one value.
    fn read_at(&mut self, places: Vec<(Formula, Loc, usize)>) -> Result<Cell, HeapError> {
        for &(guard, loc, field) in &places {
            if matches!(self.location(loc).fld[field], Cell::Ref(_)) {
                self.init(guard, loc, field)?;
            }
        }
        let certain = |&(guard, loc, field): &(Formula, Loc, usize)| {
            (self.oracle.store.as_boolean(guard) == Some(true)).then_some((loc, field))
        };
        // What cannot be is dropped where it matters: when the reference is followed.
        if let [place] = &places[..]
            && let Some((loc, field)) = certain(place)
        {
            return Ok(self.location(loc).fld[field].clone());
        }
        let oracle = self.oracle.clone();
        let store = oracle.store;
        let mut entries = Vec::new();
        let mut scalar = None;
        for &(guard, loc, field) in &places {
            match &self.location(loc).fld[field] {
                Cell::Ref(reference) => entries.extend(
                    reference.iter().map(|held| Entry::new(store.and(guard, held.guard), held.target)),
                ),
                Cell::Scalar(held) => {
                    scalar = Some(match scalar {
                        None => *held,
                        Some(other) => self.choose(guard, *held, other),
                    });
                }
            }
        }
        match scalar {
            Some(scalar) => Ok(Cell::Scalar(scalar)),
            None => {
                let joined = References(Symbolic::new(store)).join(entries);
                Ok(Cell::Ref(self.sorted(self.plainly_live(joined.into_vec())?)))
            }
        }
    }

    fn choose(&self, guard: Formula, then: Scalar, other: Scalar) -> Scalar {
        let store = self.oracle.store;
        match (then, other) {
            (Scalar::Term(a), Scalar::Term(b)) => Scalar::Term(store.ite(guard, a, b)),
            (Scalar::Formula(a), Scalar::Formula(b)) => Scalar::Formula(store.ite_bool(guard, a, b)),
            // Universes give a field one kind; a mixture cannot be built.
            (then, _) => then,
        }
    }

    /// Those whose guards can hold.
    fn live<T>(
        &self,
        all: impl IntoIterator<Item = T>,
        guard: impl Fn(&T) -> Formula,
    ) -> Result<Vec<T>, HeapError> {
        let mut live = Vec::new();
        for one in all {
            self.in_time()?;
            if self.path.sat(&self.oracle, guard(&one))?.is_some() {
                live.push(one);
            }
        }
        Ok(live)
    }

    /// The content without what cannot be; all of it if the solver gives up.
    pub fn possible(&self, cell: &Cell) -> Cell {
        match cell {
            Cell::Ref(reference) => {
                Cell::Ref(self.join(reference.to_vec()).unwrap_or_else(|_| reference.clone()))
            }
            Cell::Scalar(_) => cell.clone(),
        }
    }

    /// `⊔`: equal targets joined by disjunction, entries that cannot be dropped.
    ///
    /// A set with one entry left points there for certain.
    fn join(&self, entries: Vec<Entry>) -> Result<Reference, HeapError> {
        self.join_beside(&[], entries)
    }

    /// The same, beside entries that are known to be possible.
    fn join_beside(&self, possible: &[Entry], entries: Vec<Entry>) -> Result<Reference, HeapError> {
        let store = self.oracle.store;
        let joined = References(Symbolic::new(store)).join(possible.iter().copied().chain(entries));
        let known = |entry: &Entry| possible.iter().any(|other| other.target == entry.target);
        let guard = |entry: &Entry| if known(entry) { store.true_() } else { entry.guard };
        Ok(self.sorted(self.live(joined, guard)?))
    }

    /// The reference that has these entries, of which one must hold.
    fn sorted(&self, mut entries: Vec<Entry>) -> Reference {
        if let [only] = entries.as_mut_slice() {
            only.guard = self.oracle.store.true_();
        }
        entries.sort_unstable_by_key(|entry| entry.target);
        entries.into()
    }

    /// Those that are not plainly impossible, or all of them where two are known to be possible: that one alone is left
    /// is worth some conclusions, and nothing else is. An entry that cannot be does no harm: what follows a reference
    /// asks again.
    fn plainly_live(&self, entries: Vec<Entry>) -> Result<Vec<Entry>, HeapError> {
        let models = self.path.models();
        let shown = |entry: &&Entry| models.iter().any(|model| model.holds(self.oracle.store, entry.guard));
        if entries.iter().filter(shown).nth(1).is_some() {
            return Ok(entries);
        }
        let mut live = Vec::new();
        for entry in entries {
            self.in_time()?;
            if !self.path.plainly_excludes(&self.oracle, entry.guard) {
                live.push(entry);
            }
        }
        Ok(live)
    }

    /// Of many guards each may take its time, and none of them has to ask the solver.
    fn in_time(&self) -> Result<(), HeapError> {
        match self.oracle.time_left().is_some_and(|left| left.is_zero()) {
            true => Err(HeapError::Late),
            false => Ok(()),
        }
    }

    /// INIT: gives `loc.field` its content on entry, where it has none yet and `guard` holds. Whether there was anything
    /// to give: then no entry is left that cannot be.
    pub fn init(&mut self, guard: Formula, loc: Loc, field: usize) -> Result<bool, HeapError> {
        let Cell::Ref(old) = self.location(loc).fld[field].clone() else { return Ok(false) };
        let oracle = self.oracle.clone();
        let store = oracle.store;
        let h = self.guard_of(&old, Target::Un);
        let u = if self.has(Draft::InitEverywhere) { h } else { store.and(guard, h) };
        if self.path.sat(&oracle, u)?.is_none() {
            return Ok(false);
        }
        let u = if self.has(Draft::InitTwice) { guard } else { u };
        let selector = self.select(u, loc, field)?;
        let chosen: Vec<Entry> = selector
            .choices
            .iter()
            .map(|&(choice, guard)| Entry {
                guard,
                target: match choice {
                    Choice::Nil => Target::Nil,
                    Choice::Alias(loc) | Choice::New(loc) => Target::Loc(loc),
                },
                offset: (),
            })
            .collect();
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
        if self.options.k.is_none_or(|k| depth < k) {
            for instance in self.universe.class(wanted).instances.clone() {
                let name = &self.universe.class(instance).name;
                let guard = store.bool_symbol(&format!("{label} is a new {name}"));
                let fresh = self.input(instance, &path, depth + 1, guard);
                possible.push(store.true_());
                choices.push((Choice::New(fresh), guard));
            }
        } else {
            self.truncated = true;
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

    /// WRITE: sets a field of every object the reference may be, each under its guard, all at once.
    pub fn write(&mut self, base: &Reference, field: usize, value: &Cell) -> Result<(), HeapError> {
        let places = self.objects(base)?.into_iter().map(|(guard, loc)| (guard, loc, field)).collect();
        self.write_at(places, value)
    }

    fn write_at(&mut self, places: Vec<(Formula, Loc, usize)>, value: &Cell) -> Result<(), HeapError> {
        for (guard, loc, field) in places {
            if self.has(Draft::WriteInitialises) {
                self.init(guard, loc, field)?;
            }
            let store = self.oracle.store;
            let otherwise = store.not(guard);
            let under = |set: &Reference, guard: Formula| -> Vec<Entry> {
                set.iter().map(|entry| Entry::new(store.and(guard, entry.guard), entry.target)).collect()
            };
            let cell = match (value, &self.location(loc).fld[field]) {
                (Cell::Ref(value), Cell::Ref(old)) => {
                    Cell::Ref(self.join([under(value, guard), under(old, otherwise)].concat())?)
                }
                (Cell::Scalar(value), Cell::Scalar(old)) => Cell::Scalar(self.choose(guard, *value, *old)),
                _ => return Err(HeapError::Broken("a field changed its kind")),
            };
            self.location_mut(loc).fld[field] = cell;
        }
        Ok(())
    }

    /// Where two references are the same.
    pub fn same(&self, a: &Reference, b: &Reference) -> Formula {
        let store = self.oracle.store;
        self.oracle.store.any(a.iter().filter_map(|entry| {
            let other = b.iter().find(|other| other.target == entry.target)?;
            Some(store.and(entry.guard, other.guard))
        }))
    }

    /// EQUAL.
    pub fn equal(self, a: &Reference, b: &Reference) -> Forks<'s, bool> {
        let same = self.same(a, b);
        match self.options.draft {
            Some(draft) if draft.changes_equality() => draft.equal(self, a, b, same),
            _ => self.branch(same),
        }
    }

    /// Splits by the class of the object: one successor for each value of `key`, with the reference restricted.
    pub fn partition<T: Ord + Clone>(
        self,
        reference: &Reference,
        key: impl Fn(ClassId) -> T,
    ) -> Forks<'s, (T, Reference)> {
        let mut parts = std::collections::BTreeMap::<T, Vec<Entry>>::new();
        for (guard, loc) in self.objects(reference)? {
            let entry = Entry::new(guard, Target::Loc(loc));
            parts.entry(key(self.location(loc).class)).or_default().push(entry);
        }
        if parts.len() == 1
            && let Some((key, entries)) = parts.pop_first()
        {
            // Nothing is divided: the reference is not null here, and these are all it may be.
            let reference = self.sorted(entries);
            return Ok(vec![(self, (key, reference))]);
        }
        let forks = self.divide(parts)?;
        let restricted = forks.into_iter().map(|(fork, (key, entries))| {
            let reference = fork.join(entries)?;
            Ok((fork, (key, reference)))
        });
        restricted.collect()
    }

    /// One successor for each part of a reference's entries that is possible.
    fn divide<T>(self, parts: std::collections::BTreeMap<T, Vec<Entry>>) -> Forks<'s, (T, Vec<Entry>)> {
        let mut forks = Vec::new();
        for (key, entries) in parts {
            let within = References(Symbolic::new(self.oracle.store)).exists(&entries, |_| true);
            if let Some(model) = self.path.sat(&self.oracle, within)? {
                let mut fork = self.clone();
                fork.path = fork.path.and(&fork.oracle, within, Origin::Outcome, model);
                forks.push((fork, (key, entries)));
            }
        }
        Ok(forks)
    }

    /// Splits by the class of a reference that may be null.
    pub fn classify<T: Ord + Clone>(
        self,
        reference: &Reference,
        key: impl Fn(Option<ClassId>) -> T,
    ) -> Forks<'s, T> {
        let mut parts = std::collections::BTreeMap::<T, Vec<Entry>>::new();
        for entry in reference.iter() {
            let class = match entry.target {
                Target::Nil => None,
                Target::Loc(loc) => Some(self.location(loc).class),
                Target::Un => return Err(HeapError::Broken("a reference that nobody has read")),
            };
            parts.entry(key(class)).or_default().push(*entry);
        }
        Ok(self.divide(parts)?.into_iter().map(|(fork, (key, _))| (fork, key)).collect())
    }

    /// The length of an array that is not null here.
    pub fn length(&self, array: &Reference) -> Result<Term, HeapError> {
        let mut length = None;
        for (guard, loc) in self.objects(array)? {
            let Some(own) = self.location(loc).length else { return Err(HeapError::Broken("not an array")) };
            length = Some(match length {
                None => own,
                Some(other) => self.oracle.store.ite(guard, own, other),
            });
        }
        length.ok_or(HeapError::Broken("an array that is certainly null"))
    }

    /// The places an element may be: `g ∧ index = j`.
    fn places(&mut self, array: &Reference, index: Term) -> Result<Vec<(Formula, Loc, usize)>, HeapError> {
        let store = self.oracle.store;
        let mut places = Vec::new();
        for (guard, loc) in self.objects(array)? {
            let location = self.location(loc);
            let references = matches!(location.fld.first(), Some(Cell::Ref(_)));
            for slot in meant(store, index, location.fld.len()) {
                let here = store.relop(RelOp::Eq, index, store.number(32, slot as u128));
                if references && store.as_boolean(here).is_none() && !self.indices.contains(&here) {
                    self.indices.push(here);
                }
                places.push((store.and(guard, here), loc, slot));
            }
        }
        self.live(places, |(guard, ..)| *guard)
    }

    /// The element at an index that is within bounds here.
    pub fn element(&mut self, array: &Reference, index: Term) -> Result<Cell, HeapError> {
        let places = self.places(array, index)?;
        self.read_at(places)
    }

    /// Sets the element at an index that is within bounds here.
    pub fn set_element(&mut self, array: &Reference, index: Term, value: &Cell) -> Result<(), HeapError> {
        let places = self.places(array, index)?;
        self.write_at(places, value)
    }

    /// The number of distinct formulas that guards, fields and the path condition are made of.
    pub fn dag_size(&self) -> usize {
        let mut roots: Vec<_> = self.path.formulas().iter().map(|formula| formula.id()).collect();
        for location in &self.locations {
            for cell in location.fld.iter().chain(&location.inp) {
                match cell {
                    Cell::Ref(reference) => roots.extend(reference.iter().map(|entry| entry.guard.id())),
                    Cell::Scalar(Scalar::Term(term)) => roots.push(term.id()),
                    Cell::Scalar(Scalar::Formula(formula)) => roots.push(formula.id()),
                }
            }
        }
        self.oracle.store.post_order(roots).len()
    }

    /// The heap on entry, as far as it is known, with the program's objects gone and its path condition kept: where
    /// a second method starts on the same input.
    pub fn rewound(mut self) -> Self {
        for location in &mut self.locations {
            if location.input.is_some() {
                let location = Rc::make_mut(location);
                location.fld = location.inp.clone();
            }
        }
        self
    }
}

/// Which of so many elements an index within their bounds may mean: one if it is a constant.
pub fn meant(store: &Store, index: Term, length: usize) -> Range<usize> {
    match store.as_constant(index).and_then(|bits| usize::try_from(bits.to_u64()?).ok()) {
        Some(at) if at < length => at..at + 1,
        _ => 0..length,
    }
}

/// The first of `plain`, `numbered(2)`, `numbered(3)` and so on that is not taken.
pub(crate) fn unused(
    plain: &str,
    numbered: impl Fn(usize) -> String,
    taken: impl Fn(&str) -> bool,
) -> String {
    let names = std::iter::once(plain.to_owned()).chain((2..).map(numbered));
    names.into_iter().find(|name| !taken(name)).unwrap_or_default()
}
