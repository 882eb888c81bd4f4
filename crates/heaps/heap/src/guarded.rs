//! The guarded heap: one symbolic heap that stands for every heap lazy initialisation would enumerate.
//!
//! A reference is a set of guarded locations (`pts`); a location has one reference per field (`fld`), and one more
//! for what the field held on entry (`inp`). Stored references never change: a write installs a fresh one.
//!
//! Invariants: the guards of a reference exclude each other, the path condition implies their disjunction, and `UN`
//! (not yet initialised) occurs only in fields. The rules are those of `docs/heap.md`, under the same names.

use crate::HeapError;
use crate::draft::Draft;
use crate::left_out::{self, LeftOut, Sharing, shared_inputs};
use crate::origin::{Origin, Path};
use crate::selector::Selector;
use crate::set::{self, GuardedSets};
use crate::universe::{ClassId, Universe};
use parallax_path::{Bound, Model, Oracle};
use parallax_sem::Symbolic;
use parallax_term::{Formula, Scalar, Term};
use std::cell::RefCell;
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

impl Entry {
    /// The object it points to, if it is one.
    pub(crate) fn location(&self) -> Option<Loc> {
        match self.target {
            Target::Loc(loc) => Some(loc),
            _ => None,
        }
    }
}

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
    /// What else could stand here on entry and was left out, in words: whatever asks for the class must note it.
    pub others: Option<Rc<str>>,
    /// Whether the program made it before the inputs were there: an input may be it.
    pub shared: bool,
}

impl Location {
    /// Whether it is an input object that the program has written to.
    fn is_written(&self) -> bool {
        let differ = |(now, entry): (&Cell, &Cell)| match (now, entry) {
            (Cell::Ref(now), Cell::Ref(entry)) => now != entry,
            (Cell::Scalar(now), Cell::Scalar(entry)) => now != entry,
            _ => true,
        };
        self.input.is_some() && self.fld.iter().zip(&self.inp).any(differ)
    }
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
    /// Whether the bound k forbade some object on this path: for those who read of it. Whether the run is complete is
    /// said by the ledger of `left_out`.
    pub truncated: bool,
    /// What the run leaves out, this path or another.
    pub left_out: LeftOut,
    /// Which objects that are made now were there before the inputs were.
    pub sharing: Sharing,
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
    /// An empty heap of a run that notes what it leaves out.
    pub fn new(oracle: Rc<Oracle<'s>>, universe: Rc<Universe>, options: Options, left_out: LeftOut) -> Self {
        Guarded {
            path: left_out::start(&oracle, universe.has_input_arrays()),
            left_out,
            sharing: Sharing::Nothing,
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

    pub(crate) fn has(&self, draft: Draft) -> bool {
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

    pub(crate) fn input(&mut self, class: ClassId, path: &str, depth: usize, exists: Formula) -> Loc {
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
            let range = store.implies(exists, left_out::length_range(store, length, self.options.array));
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
            others: None,
            shared: false,
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
        let shared = self.sharing.includes(length.is_some());
        if shared && self.locations.iter().any(|input| input.class == class && input.is_written()) {
            // A write to an input that is this object should show in it.
            self.left_out.note(shared_inputs(&self.universe.class(class).name));
        }
        let loc = self.push(Location {
            class,
            path: name.clone(),
            label: name,
            input: None,
            exists,
            fld,
            inp: Vec::new(),
            length,
            others: None,
            shared,
        });
        self.certainly(Target::Loc(loc))
    }

    /// Both ways a condition may go, each with the path condition that goes with it.
    pub fn branch(self, condition: Formula) -> Forks<'s, bool> {
        if let Some(known) = self.oracle.store.as_boolean(condition) {
            return Ok(vec![(self, known)]);
        }
        let (yes, no) = self.path.fork(&self.oracle, condition, Origin::Outcome)?;
        match (&yes, &no) {
            (None, Some(_)) => self.ask_longer(condition),
            (Some(_), None) => self.ask_longer(self.oracle.store.not(condition)),
            _ => {}
        }
        Ok(match (yes, no) {
            (Some(yes), Some(no)) => {
                vec![(Guarded { path: yes, ..self.clone() }, true), (Guarded { path: no, ..self }, false)]
            }
            (Some(path), None) => vec![(Guarded { path, ..self }, true)],
            (None, Some(path)) => vec![(Guarded { path, ..self }, false)],
            (None, None) => return Err(HeapError::Broken("a path without a model")),
        })
    }

    /// `sat(g)`: a model of the path condition together with a guard. That there is none may be for want of long arrays.
    pub(crate) fn sat(&self, guard: Formula) -> Result<Option<Rc<Model>>, HeapError> {
        let model = self.path.sat(&self.oracle, guard)?;
        if model.is_none() {
            self.ask_longer(guard);
        }
        Ok(model)
    }

    /// Notes it if longer input arrays would make something possible.
    pub(crate) fn ask_longer(&self, formula: Formula) {
        let mut inputs = self.locations.iter().filter(|location| location.input.is_some());
        if inputs.any(|location| location.length.is_some()) {
            self.left_out.ask_longer(&self.oracle, &self.path, self.options.array, formula);
        }
    }

    /// Notes what else an object may be: that its class is asked for decides how a path goes on.
    pub fn ask_class(&self, reference: &Reference) {
        for entry in reference.iter() {
            if let Target::Loc(loc) = entry.target
                && let Some(others) = &self.location(loc).others
                && !matches!(self.path.sat(&self.oracle, entry.guard), Ok(None))
            {
                self.left_out.note(Bound::Unsupported(others.to_string()));
            }
        }
    }

    /// An object that stands for others may be the same as one of another class, if it were one of those.
    fn ask_same(&self, one: &Reference, other: &Reference) {
        let class = |entry: &Entry| entry.location().map(|loc| self.location(loc).class);
        let stands = |entry: &&Entry| entry.location().is_some_and(|loc| self.location(loc).others.is_some());
        let standing: Vec<ClassId> = one.iter().filter(stands).filter_map(class).collect();
        for loc in one.iter().filter_map(|entry| entry.location()) {
            let alike = |other: &Loc| self.may_be_shared(*other, loc);
            if self.location(loc).shared
                && other.iter().filter_map(|entry| entry.location()).any(|it| alike(&it))
            {
                self.note_shared(loc);
            }
        }
        if !standing.is_empty() && other.iter().filter_map(class).any(|class| !standing.contains(&class)) {
            self.ask_class(one);
        }
    }

    /// Whether an object is an input in whose place a shared one could stand.
    fn may_be_shared(&self, input: Loc, shared: Loc) -> bool {
        let (input, shared) = (self.location(input), self.location(shared));
        input.input.is_some() && shared.shared && input.class == shared.class
    }

    fn note_shared(&self, loc: Loc) {
        let name = &self.universe.class(self.location(loc).class).name;
        self.left_out.note(shared_inputs(name));
    }

    /// A write to a shared object would show in an input that is this object, and the other way round.
    fn ask_write(&self, loc: Loc) {
        if self.sharing != Sharing::Nothing {
            return;
        }
        let found = self
            .locations()
            .find(|(other, _)| self.may_be_shared(*other, loc) || self.may_be_shared(loc, *other));
        if found.is_some() {
            self.note_shared(loc);
        }
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
    pub(crate) fn objects(&self, reference: &Reference) -> Result<Vec<(Formula, Loc)>, HeapError> {
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
            && self.sat(self.is_null(reference))?.is_none()
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
    pub(crate) fn read_at(&mut self, places: Vec<(Formula, Loc, usize)>) -> Result<Cell, HeapError> {
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
    pub(crate) fn live<T>(
        &self,
        all: impl IntoIterator<Item = T>,
        guard: impl Fn(&T) -> Formula,
    ) -> Result<Vec<T>, HeapError> {
        let mut live = Vec::new();
        for one in all {
            self.in_time()?;
            if self.sat(guard(&one))?.is_some() {
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
    pub(crate) fn join(&self, entries: Vec<Entry>) -> Result<Reference, HeapError> {
        self.join_beside(&[], entries)
    }

    /// The same, beside entries that are known to be possible.
    pub(crate) fn join_beside(
        &self,
        possible: &[Entry],
        entries: Vec<Entry>,
    ) -> Result<Reference, HeapError> {
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
            } else {
                self.ask_longer(entry.guard);
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

    /// WRITE: sets a field of every object the reference may be, each under its guard, all at once.
    pub fn write(&mut self, base: &Reference, field: usize, value: &Cell) -> Result<(), HeapError> {
        let places = self.objects(base)?.into_iter().map(|(guard, loc)| (guard, loc, field)).collect();
        self.write_at(places, value)
    }

    pub(crate) fn write_at(
        &mut self,
        places: Vec<(Formula, Loc, usize)>,
        value: &Cell,
    ) -> Result<(), HeapError> {
        for (guard, loc, field) in places {
            self.ask_write(loc);
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
        self.ask_same(a, b);
        self.ask_same(b, a);
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
            if let Some(model) = self.sat(within)? {
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
        // What one run leaves out is in its ledger; this is the start of another.
        self.left_out = LeftOut::default();
        self
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
