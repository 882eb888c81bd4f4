//! Lazy initialisation, which forks over what an input field may hold: null, an alias, a new object.
//!
//! *lazy* forks when a field is read. *lazier* hands out a token instead and forks when it is dereferenced or
//! compared. *lazier#* first decides only whether the token is null, and where it points when it must. A token is
//! substituted everywhere at once, because all who hold it look it up in one table.

use crate::memory::{Forks, Memory, Stop, Value, ValueOf};
use crate::setup::Setup;
use parallax_heap::{
    ClassId, FieldKind, Held, LeftOut, Object, Origin, Path, Sharing, Snapshot, Universe, length_range,
    meant, shared_inputs, start,
};
use parallax_op::RelOp;
use parallax_path::{Bound, Oracle};
use parallax_sem::Symbolic;
use parallax_term::{Formula, Scalar, Term};
use std::rc::Rc;

/// When to decide what an input field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Laziness {
    /// When it is read.
    Lazy,
    /// When its value is dereferenced or compared.
    Lazier,
    /// As lazier, but whether it is null before where it points.
    LazierSharp,
}

/// Where a reference points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// Null.
    Nil,
    /// An object.
    Object(usize),
    /// What the token of this number will turn out to be.
    Token(usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Slot {
    Un,
    Ref(Pointer),
    Scalar(Scalar),
}

#[derive(Clone)]
struct Thing {
    class: ClassId,
    path: Rc<str>,
    depth: Option<usize>,
    fld: Vec<Slot>,
    inp: Vec<Slot>,
    length: Option<Term>,
    /// What else could stand here on entry and was left out, in words.
    others: Option<Rc<str>>,
    /// Whether the program made it before the inputs were there: an input may be it.
    shared: bool,
}

#[derive(Clone)]
enum Found {
    Unknown,
    NonNull,
    At(Pointer),
}

/// A reference of an input object, of which nobody knows yet where it points.
#[derive(Clone)]
struct Place {
    owner: usize,
    field: usize,
    class: ClassId,
    depth: usize,
    path: Rc<str>,
}

#[derive(Clone)]
struct Token {
    found: Found,
    place: Place,
}

/// One heap of lazy initialisation, with the condition on its vectors and truth values.
#[derive(Clone)]
pub struct Lazy<'s> {
    /// Guards and solver.
    pub oracle: Rc<Oracle<'s>>,
    /// The path condition.
    pub path: Path,
    /// Whether the bound k forbade an object on this path: for those who read of it.
    pub truncated: bool,
    left_out: LeftOut,
    /// Which objects that are made now were there before the inputs were.
    sharing: Sharing,
    universe: Rc<Universe>,
    core: Symbolic<'s>,
    laziness: Laziness,
    k: Option<usize>,
    array: usize,
    things: Vec<Rc<Thing>>,
    candidates: Rc<Vec<usize>>,
    tokens: Vec<Token>,
    made: usize,
}

impl<'s> Lazy<'s> {
    /// The heap a run starts in: nothing is known but `this`.
    pub fn new(setup: &Setup<'s>, laziness: Laziness) -> Self {
        let mut heap = Lazy {
            oracle: setup.oracle.clone(),
            path: start(&setup.oracle, setup.universe.has_input_arrays()),
            truncated: false,
            left_out: LeftOut::default(),
            sharing: Sharing::Nothing,
            universe: setup.universe.clone(),
            core: Symbolic::new(setup.oracle.store),
            laziness,
            k: setup.inputs.k,
            array: setup.inputs.array,
            things: Vec::new(),
            candidates: Rc::default(),
            tokens: Vec::new(),
            made: 0,
        };
        heap.input(setup.class, "this".into(), 0);
        heap.input(setup.parameters, "".into(), 0);
        heap.candidates = Rc::new(if setup.inputs.root_alias { vec![0] } else { Vec::new() });
        heap
    }

    /// What objects look like.
    pub fn universe(&self) -> &Universe {
        &self.universe
    }

    /// An input object with nothing known of its fields.
    fn input(&mut self, class: ClassId, path: Rc<str>, depth: usize) -> usize {
        let store = self.oracle.store;
        let shape = self.universe.class(class);
        let slots = if shape.element.is_some() { self.array } else { shape.fields.len() };
        let length = shape.element.map(|_| store.symbol(&format!("{path}.length"), 32));
        if let Some(length) = length {
            let range = length_range(store, length, self.array);
            self.path.assume(&self.oracle, range, Origin::Input);
        }
        let fld: Vec<Slot> = (0..slots)
            .map(|field| self.universe.on_entry(store, class, field, &path).map_or(Slot::Un, Slot::Scalar))
            .collect();
        let inp = fld.clone();
        let thing = Thing { class, path, depth: Some(depth), fld, inp, length, others: None, shared: false };
        self.things.push(Rc::new(thing));
        self.things.len() - 1
    }

    fn make(&mut self, class: ClassId, slots: usize, length: Option<Term>) -> Pointer {
        let store = self.oracle.store;
        let fld = (0..slots)
            .map(|field| {
                self.universe.zero(store, class, field).map_or(Slot::Ref(Pointer::Nil), Slot::Scalar)
            })
            .collect();
        self.made += 1;
        let path = format!("{}{}", self.universe.class(class).name, self.made).into();
        let shared = self.sharing.includes(length.is_some());
        let written =
            |thing: &Rc<Thing>| thing.class == class && thing.depth.is_some() && thing.fld != thing.inp;
        if shared && self.things.iter().any(written) {
            // A write to an input that is this object should show in it.
            self.left_out.note(shared_inputs(&self.universe.class(class).name));
        }
        let thing = Thing { class, path, depth: None, fld, inp: Vec::new(), length, others: None, shared };
        self.things.push(Rc::new(thing));
        Pointer::Object(self.things.len() - 1)
    }

    fn follow(&self, pointer: Pointer) -> Pointer {
        match pointer {
            Pointer::Token(token) => match self.tokens[token].found {
                Found::At(place) => place,
                _ => pointer,
            },
            _ => pointer,
        }
    }

    fn object(&self, pointer: Pointer) -> Result<usize, Stop> {
        match self.follow(pointer) {
            Pointer::Object(at) => Ok(at),
            _ => Stop::broken("a reference was not checked for null"),
        }
    }

    /// ALIAS and NEW: every object an input reference of this class may be.
    fn objects(&self, place: &Place) -> Vec<(Self, Pointer)> {
        let &Place { owner, field, class, depth, ref path } = place;
        let acyclic = self.universe.is_acyclic(self.things[owner].class, field);
        let mut forks: Vec<(Self, Pointer)> = self
            .candidates
            .iter()
            .filter(|&&at| self.universe.admits(class, self.things[at].class))
            .filter(|&&at| !(acyclic && self.leads(at, owner)))
            .map(|&at| (self.clone(), Pointer::Object(at)))
            .collect();
        let new = self.universe.class(class).new_inputs(self.k, depth, &self.left_out);
        for (heap, _) in &mut forks {
            heap.truncated |= new.truncated;
        }
        for &instance in new.instances {
            let mut heap = self.clone();
            let fresh = heap.input(instance, path.clone(), depth + 1);
            Rc::make_mut(&mut heap.things[fresh]).others.clone_from(&self.universe.class(class).left_out);
            Rc::make_mut(&mut heap.candidates).push(fresh);
            forks.push((heap, Pointer::Object(fresh)));
        }
        forks
    }

    /// NULL, ALIAS and NEW.
    fn anything(&self, place: &Place) -> Vec<(Self, Pointer)> {
        let mut null = self.clone();
        let new = self.universe.class(place.class).new_inputs(self.k, place.depth, &self.left_out);
        null.truncated |= new.truncated;
        let mut forks = vec![(null, Pointer::Nil)];
        forks.extend(self.objects(place));
        forks
    }

    /// Whether one object led to another on entry, by acyclic fields as far as they are decided.
    fn leads(&self, from: usize, to: usize) -> bool {
        let mut seen = vec![false; self.things.len()];
        let mut todo = vec![from];
        while let Some(at) = todo.pop() {
            if at == to {
                return true;
            }
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            let thing = &self.things[at];
            let fields = thing.inp.iter().enumerate();
            for (_, slot) in fields.filter(|(field, _)| self.universe.is_acyclic(thing.class, *field)) {
                if let Slot::Ref(pointer) = slot
                    && let Pointer::Object(next) = self.follow(*pointer)
                {
                    todo.push(next);
                }
            }
        }
        false
    }

    /// Decides what a token is, if it is one and still open.
    fn locate(self, pointer: Pointer) -> Vec<(Self, Pointer)> {
        let Pointer::Token(number) = self.follow(pointer) else {
            let place = self.follow(pointer);
            return vec![(self, place)];
        };
        let token = self.tokens[number].clone();
        let mut forks = match token.found {
            Found::NonNull => self.objects(&token.place),
            _ => self.anything(&token.place),
        };
        for (heap, place) in &mut forks {
            heap.tokens[number].found = Found::At(*place);
        }
        forks
    }

    /// Every heap this one stands for, all tokens decided.
    pub fn expand(self) -> Vec<Self> {
        let open = self.tokens.iter().position(|token| !matches!(token.found, Found::At(_)));
        match open {
            None => vec![self],
            Some(token) => {
                self.locate(Pointer::Token(token)).into_iter().flat_map(|(heap, _)| heap.expand()).collect()
            }
        }
    }

    /// Reads the slot of an object, deciding what it holds if nobody has.
    fn slot(self, at: usize, field: usize) -> Result<Vec<(Self, ValueOf<Self>)>, Stop> {
        let thing = &self.things[at];
        let value = match thing.fld[field] {
            Slot::Ref(pointer) => Value::Ref(pointer),
            Slot::Scalar(Scalar::Term(term)) => Value::Int(term),
            Slot::Scalar(Scalar::Formula(formula)) => Value::Bool(formula),
            Slot::Un => {
                let FieldKind::Ref(class) = self.universe.kind(thing.class, field) else {
                    return Stop::broken("only references are initialised");
                };
                let Some(depth) = thing.depth else {
                    return Stop::broken("the program's objects have values");
                };
                let path: Rc<str> = self.universe.place(&thing.path, thing.class, field).into();
                let place = Place { owner: at, field, class, depth, path };
                let mut forks = if self.laziness == Laziness::Lazy {
                    self.anything(&place)
                } else {
                    let mut heap = self;
                    let token = Pointer::Token(heap.tokens.len());
                    heap.tokens.push(Token { found: Found::Unknown, place });
                    vec![(heap, token)]
                };
                for (heap, place) in &mut forks {
                    let thing = Rc::make_mut(&mut heap.things[at]);
                    thing.fld[field] = Slot::Ref(*place);
                    thing.inp[field] = Slot::Ref(*place);
                }
                return Ok(forks.into_iter().map(|(heap, place)| (heap, Value::Ref(place))).collect());
            }
        };
        Ok(vec![(self, value)])
    }

    fn set(&mut self, at: usize, field: usize, value: &ValueOf<Self>) {
        // A write to a shared object would show in an input that is this object, and the other way round.
        for other in (0..self.things.len()).filter(|_| self.sharing == Sharing::Nothing) {
            self.ask_shared(at, other);
            self.ask_shared(other, at);
        }
        Rc::make_mut(&mut self.things[at]).fld[field] = match value {
            Value::Ref(pointer) => Slot::Ref(*pointer),
            Value::Int(term) => Slot::Scalar(Scalar::Term(*term)),
            Value::Bool(formula) => Slot::Scalar(Scalar::Formula(*formula)),
        };
    }

    fn at_index(&self, index: Term, slot: usize) -> Formula {
        self.oracle.store.relop(RelOp::Eq, index, self.oracle.store.number(32, slot as u128))
    }

    /// Notes it if longer input arrays would make something possible.
    fn ask_longer(&self, formula: Formula) {
        if self.things.iter().any(|thing| thing.depth.is_some() && thing.length.is_some()) {
            self.left_out.ask_longer(&self.oracle, &self.path, self.array, formula);
        }
    }

    /// Notes it if an index may mean an element of an input array beyond those that are looked at.
    fn ask_beyond(&self, at: usize, index: Term) {
        let (store, thing) = (self.oracle.store, &self.things[at]);
        if thing.depth.is_some() && meant(store, index, usize::MAX).end > thing.fld.len() {
            let known = store.number(32, thing.fld.len() as u128);
            self.ask_longer(store.not(store.relop(RelOp::Ult, index, known)));
        }
    }

    /// An object that stands for others may be the same as one of another class, if it were one of those.
    fn ask_same(&self, a: Pointer, b: Pointer) {
        if let (Pointer::Object(one), Pointer::Object(other)) = (a, b)
            && self.things[one].class != self.things[other].class
        {
            self.ask_class(&a);
            self.ask_class(&b);
        }
        if let (Pointer::Object(one), Pointer::Object(other)) = (a, b) {
            self.ask_shared(one, other);
            self.ask_shared(other, one);
        }
    }

    /// Notes it if a shared object could stand in the place of an input.
    fn ask_shared(&self, input: usize, shared: usize) {
        let (input, shared) = (&self.things[input], &self.things[shared]);
        if input.depth.is_some() && shared.shared && input.class == shared.class {
            self.left_out.note(shared_inputs(&self.universe.class(shared.class).name));
        }
    }

    /// One successor for each element that an index may mean: references are in one place each.
    fn indexed(self, at: usize, index: Term) -> Forks<Self, usize> {
        self.ask_beyond(at, index);
        let mut forks = Vec::new();
        for slot in meant(self.oracle.store, index, self.things[at].fld.len()) {
            let here = self.at_index(index, slot);
            if let Some(model) = self.path.sat(&self.oracle, here)? {
                let mut heap = self.clone();
                heap.path = heap.path.and(&self.oracle, here, Origin::Outcome, model);
                forks.push((heap, slot));
            } else {
                self.ask_longer(here);
            }
        }
        Ok(forks)
    }

    fn choose(&self, guard: Formula, then: Scalar, other: Scalar) -> Result<Scalar, Stop> {
        let store = self.oracle.store;
        match (then, other) {
            (Scalar::Term(a), Scalar::Term(b)) => Ok(Scalar::Term(store.ite(guard, a, b))),
            (Scalar::Formula(a), Scalar::Formula(b)) => Ok(Scalar::Formula(store.ite_bool(guard, a, b))),
            _ => Stop::broken("an array of two kinds"),
        }
    }

    /// The elements of an array of vectors or truth values.
    fn scalars(&self, at: usize) -> Option<Vec<Scalar>> {
        let slot = |slot: &Slot| match slot {
            Slot::Scalar(scalar) => Some(*scalar),
            _ => None,
        };
        self.things[at].fld.iter().map(slot).collect()
    }

    fn held(&self, slot: Slot) -> Held {
        match slot {
            Slot::Un => Held::Un,
            Slot::Scalar(scalar) => Held::Scalar(scalar),
            Slot::Ref(pointer) => match self.follow(pointer) {
                Pointer::Nil => Held::Nil,
                Pointer::Object(at) => Held::Object(at),
                // An undecided token is a field that nobody has looked at.
                Pointer::Token(_) => Held::Un,
            },
        }
    }

    /// The heap with these roots.
    pub fn snapshot(&self, roots: &[(String, ValueOf<Self>)]) -> Snapshot {
        let slots = |slots: &[Slot]| slots.iter().map(|slot| self.held(*slot)).collect();
        let objects = self
            .things
            .iter()
            .map(|thing| Object {
                class: thing.class,
                path: thing.path.clone(),
                fld: slots(&thing.fld),
                inp: slots(&thing.inp),
                length: thing.length,
            })
            .collect();
        let root = |value: &ValueOf<Self>| match value {
            Value::Ref(pointer) => self.held(Slot::Ref(*pointer)),
            Value::Int(term) => Held::Scalar(Scalar::Term(*term)),
            Value::Bool(formula) => Held::Scalar(Scalar::Formula(*formula)),
        };
        let roots = roots.iter().map(|(name, value)| (name.clone(), root(value))).collect();
        Snapshot { objects, roots }
    }
}

impl<'s> Memory for Lazy<'s> {
    type Core = Symbolic<'s>;
    type Ref = Pointer;

    fn core(&self) -> &Symbolic<'s> {
        &self.core
    }
    fn know(&mut self, universe: &Rc<Universe>) {
        self.universe = universe.clone();
    }
    fn left_out(&self) -> LeftOut {
        self.left_out.clone()
    }
    fn ask_class(&self, reference: &Pointer) {
        let others = match self.follow(*reference) {
            Pointer::Nil => None,
            Pointer::Object(at) => self.things[at].others.as_ref(),
            Pointer::Token(token) => self.universe.class(self.tokens[token].place.class).left_out.as_ref(),
        };
        if let Some(others) = others {
            self.left_out.note(Bound::Unsupported(others.to_string()));
        }
    }
    fn identical(&self, a: &Pointer, b: &Pointer) -> bool {
        let (a, b) = (self.follow(*a), self.follow(*b));
        matches!(a, Pointer::Object(_)) && a == b
    }
    fn share(&mut self, which: Sharing) {
        self.sharing = which;
    }
    fn settle(&mut self) {
        self.path.settle();
    }
    fn null(&self) -> Pointer {
        Pointer::Nil
    }
    fn branch(self, condition: &Formula) -> Forks<Self, bool> {
        if let Some(known) = self.oracle.store.as_boolean(*condition) {
            return Ok(vec![(self, known)]);
        }
        let (yes, no) = self.path.fork(&self.oracle, *condition, Origin::Outcome)?;
        match (&yes, &no) {
            (None, Some(_)) => self.ask_longer(*condition),
            (Some(_), None) => self.ask_longer(self.oracle.store.not(*condition)),
            _ => {}
        }
        let forks = [(yes, true), (no, false)];
        let with = |path| Lazy { path, ..self.clone() };
        Ok(forks.into_iter().filter_map(|(path, answer)| Some((with(path?), answer))).collect())
    }

    fn new_object(&mut self, class: ClassId) -> Pointer {
        let fields = self.universe.class(class).fields.len();
        self.make(class, fields, None)
    }
    fn make_array(&mut self, class: ClassId, room: usize, length: &Term) -> Pointer {
        self.make(class, room, Some(*length))
    }
    fn array_bound(&self) -> usize {
        self.array
    }
    fn this(&self) -> Pointer {
        Pointer::Object(0)
    }
    fn parameter(self, index: usize) -> Forks<Self, ValueOf<Self>> {
        self.slot(1, index)
    }

    fn null_check(self, reference: &Pointer) -> Forks<Self, bool> {
        let forks = self.locate(*reference);
        Ok(forks.into_iter().map(|(heap, place)| (heap, place != Pointer::Nil)).collect())
    }
    fn read(self, base: &Pointer, field: usize) -> Forks<Self, ValueOf<Self>> {
        let at = self.object(*base)?;
        self.slot(at, field)
    }
    fn write(&mut self, base: &Pointer, field: usize, value: &ValueOf<Self>) -> Result<(), Stop> {
        let at = self.object(*base)?;
        self.set(at, field, value);
        Ok(())
    }
    fn equal(self, a: &Pointer, b: &Pointer) -> Forks<Self, bool> {
        let (a, b) = (self.follow(*a), self.follow(*b));
        if a == b {
            return Ok(vec![(self, true)]);
        }
        if let (
            Laziness::LazierSharp,
            (Pointer::Token(token), Pointer::Nil) | (Pointer::Nil, Pointer::Token(token)),
        ) = (self.laziness, (a, b))
        {
            if matches!(self.tokens[token].found, Found::NonNull) {
                return Ok(vec![(self, false)]);
            }
            let (mut null, mut object) = (self.clone(), self);
            null.tokens[token].found = Found::At(Pointer::Nil);
            object.tokens[token].found = Found::NonNull;
            // Under the bound, a token that can be nothing but null is null.
            let possible = !object.objects(&object.tokens[token].place).is_empty();
            let mut forks = vec![(null, true)];
            if possible {
                forks.push((object, false));
            }
            return Ok(forks);
        }
        let mut forks = Vec::new();
        for (heap, a) in self.locate(a) {
            for (heap, b) in heap.locate(b) {
                heap.ask_same(a, b);
                forks.push((heap, a == b));
            }
        }
        Ok(forks)
    }
    fn partition<T: Ord + Clone>(
        self,
        reference: &Pointer,
        key: impl Fn(ClassId) -> T,
    ) -> Forks<Self, (T, Pointer)> {
        let class = self.things[self.object(*reference)?].class;
        Ok(vec![(self, (key(class), *reference))])
    }

    fn classify<T: Ord + Clone>(
        self,
        reference: &Pointer,
        key: impl Fn(Option<ClassId>) -> T,
    ) -> Forks<Self, T> {
        let mut forks = Vec::new();
        for (heap, place) in self.locate(*reference) {
            let class = match place {
                Pointer::Nil => None,
                place => Some(heap.things[heap.object(place)?].class),
            };
            forks.push((heap, key(class)));
        }
        Ok(forks)
    }

    fn classes(&self, reference: &Pointer) -> Vec<ClassId> {
        match self.follow(*reference) {
            Pointer::Nil => Vec::new(),
            Pointer::Object(at) => vec![self.things[at].class],
            Pointer::Token(token) => self.universe.class(self.tokens[token].place.class).instances.clone(),
        }
    }
    fn length(&self, array: &Pointer) -> Result<Term, Stop> {
        match self.things[self.object(*array)?].length {
            Some(length) => Ok(length),
            None => Stop::broken("not an array"),
        }
    }
    fn element(self, array: &Pointer, index: &Term) -> Forks<Self, ValueOf<Self>> {
        let at = self.object(*array)?;
        if let Some(scalars) = self.scalars(at) {
            self.ask_beyond(at, *index);
            let mut value = None;
            let slots = meant(self.oracle.store, *index, scalars.len());
            for (slot, scalar) in slots.clone().zip(scalars[slots].iter().copied()) {
                value = Some(match value {
                    None => scalar,
                    Some(other) => self.choose(self.at_index(*index, slot), scalar, other)?,
                });
            }
            let value = match value {
                Some(Scalar::Term(term)) => Value::Int(term),
                Some(Scalar::Formula(formula)) => Value::Bool(formula),
                None => return Stop::broken("no array has no room"),
            };
            return Ok(vec![(self, value)]);
        }
        let mut forks = Vec::new();
        for (heap, slot) in self.indexed(at, *index)? {
            forks.extend(heap.slot(at, slot)?);
        }
        Ok(forks)
    }
    fn set_element(
        mut self,
        array: &Pointer,
        index: &Term,
        value: &ValueOf<Self>,
    ) -> Result<Vec<Self>, Stop> {
        let at = self.object(*array)?;
        let new = match value {
            Value::Int(term) => Some(Scalar::Term(*term)),
            Value::Bool(formula) => Some(Scalar::Formula(*formula)),
            Value::Ref(_) => None,
        };
        if let (Some(new), Some(scalars)) = (new, self.scalars(at)) {
            self.ask_beyond(at, *index);
            let slots = meant(self.oracle.store, *index, scalars.len());
            for (slot, old) in slots.clone().zip(scalars[slots].iter().copied()) {
                let held = self.choose(self.at_index(*index, slot), new, old)?;
                Rc::make_mut(&mut self.things[at]).fld[slot] = Slot::Scalar(held);
            }
            return Ok(vec![self]);
        }
        let mut forks = Vec::new();
        for (mut heap, slot) in self.indexed(at, *index)? {
            heap.set(at, slot, value);
            forks.push(heap);
        }
        Ok(forks)
    }
}
