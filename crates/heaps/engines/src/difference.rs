//! Where the ends of two runs on one input differ.
//!
//! The heaps are walked side by side from `this`, the parameters and the results, for one way to choose the input after the
//! other. A field that neither run looked at holds on entry what it holds in both ends; where it is compared with anything
//! else than itself, what it held matters, and is decided as if it had been read. Numbers and truth values that must be
//! equal are left to the solver.

use crate::engine::{Ending, Final, Watch};
use crate::equivalent::heaps_of_a_pair;
use crate::explore::Progress;
use crate::machine::Machine;
use crate::memory::Stop;
use crate::setup::Setup;
use crate::summary::{PARAMETERS_LOC, Summary, THIS_LOC};
use parallax_heap::{Cell, Guarded, HeapError, InputHeap, InputValue, LeftOut, Loc, Location, Target};
use parallax_op::RelOp;
use parallax_path::{Bound, Model};
use parallax_term::{Formula, Scalar, Term};
use std::collections::HashMap;

/// A path of the first method and a path of the second that some input takes.
pub(crate) struct Pair<'a, 's, L: Machine> {
    setup: &'a Setup<'s>,
    task: &'a L,
    /// How the first run left the objects that were there on entry or that it made.
    one: &'a Guarded<'s>,
    /// How the second run left them, with what is known of the input.
    two: Guarded<'s>,
    results: Option<(Cell, Cell)>,
    /// Whether they end in different ways already.
    apart: bool,
    /// Conditions besides choices that tell shapes apart: which elements of an array there are.
    within: Vec<Formula>,
}

/// What a field or a root holds under one way to choose.
#[derive(Clone, Copy, PartialEq)]
enum Held {
    Nil,
    Object(Loc),
    /// What this field of this input object held on entry, whatever it is.
    Entry(Loc, usize),
    Scalar(Scalar),
}

/// What a walk found.
enum Walk {
    /// The heaps differ.
    Different,
    /// They are alike where none of these holds.
    Alike(Vec<Formula>),
    /// It depends on what this field held on entry.
    Open(Loc, usize),
}

impl<'a, 's, L: Machine> Pair<'a, 's, L> {
    /// The ends of two runs, of which the second started from the rewound heap of the first.
    pub fn new(
        setup: &'a Setup<'s>,
        task: &'a L,
        one: &'a Final<L, Summary<'s>>,
        two: &Final<L, Summary<'s>>,
        left_out: LeftOut,
    ) -> Self {
        let result = |end: &Final<L, Summary<'s>>| match end.roots.last() {
            Some((name, value)) if name == "result" => Some(Summary::cell(value)),
            _ => None,
        };
        let mut heap = two.heap().clone();
        heap.left_out = left_out;
        Pair {
            setup,
            task,
            one: one.heap(),
            two: heap,
            results: result(one).zip(result(two)),
            apart: Ending::from(&one.end) != Ending::from(&two.end),
            within: Vec::new(),
        }
    }

    /// An input on which the two runs end differently; of more than `limit` shapes the rest is left out.
    pub fn difference(mut self, limit: usize, watch: Watch) -> Result<Option<InputHeap>, Stop> {
        let oracle = self.setup.oracle.clone();
        let store = oracle.store;
        // Shapes on which they are alike.
        let mut done: Vec<Formula> = Vec::new();
        let mut looked = 0;
        loop {
            watch(&Progress::default())?;
            let mut formulas = self.two.path.formulas();
            formulas.extend(&done);
            let Some(model) = oracle.solve(&formulas)? else { return Ok(None) };
            // Without a bound k, one open field may lead to the next without end.
            looked += 1;
            if done.len() == limit || looked > 4 * limit {
                self.two.left_out.note(heaps_of_a_pair(limit));
                return Ok(None);
            }
            let walk = if self.apart { Walk::Different } else { self.walk(&model)? };
            match walk {
                Walk::Different => return self.input(&model).map(Some),
                Walk::Open(loc, field) => {
                    if !self.two.init_entry(loc, field)? {
                        return Stop::broken("a field that is open and cannot be decided");
                    }
                }
                Walk::Alike(unless) => {
                    let shape = self.shape(&model);
                    if !unless.is_empty() {
                        formulas.extend(&shape);
                        formulas.push(store.any(unless));
                        if let Some(model) = oracle.solve(&formulas)? {
                            return self.input(&model).map(Some);
                        }
                    }
                    done.push(store.not(store.all(shape)));
                }
            }
        }
    }

    /// The choices of a model, as assumptions.
    fn shape(&self, model: &Model) -> Vec<Formula> {
        let store = self.setup.oracle.store;
        let mut shape = self.two.choices(model);
        let within = self.within.iter();
        shape.extend(within.map(|&atom| if model.holds(store, atom) { atom } else { store.not(atom) }));
        shape
    }

    /// The heap on entry under a model. What neither run looked at, and nothing compares, is null.
    fn input(&self, model: &Model) -> Result<InputHeap, Stop> {
        let root = |name: &str, loc| (name.to_owned(), Cell::Ref(self.two.certainly(Target::Loc(loc))));
        let roots = [root("this", THIS_LOC), root("parameters", PARAMETERS_LOC)];
        let snapshot = self.two.resolve(model, &roots)?;
        let store = self.setup.oracle.store;
        Ok(snapshot.input(&self.two.universe, store, model, |_, _| InputValue::Null)?)
    }

    /// Both heaps side by side, under a model.
    fn walk(&mut self, model: &Model) -> Result<Walk, Stop> {
        let store = self.setup.oracle.store;
        let object = Held::Object;
        let mut todo = vec![
            (object(THIS_LOC), object(THIS_LOC), store.true_()),
            (object(PARAMETERS_LOC), object(PARAMETERS_LOC), store.true_()),
        ];
        if let Some((one, two)) = &self.results {
            let held = |heap: &Guarded<'s>, cell: &Cell| match known(heap, cell, model)? {
                Some(held) => Ok(held),
                None => Err(HeapError::Broken("a result that nobody has read")),
            };
            todo.push((held(&self.two, one)?, held(&self.two, two)?, store.true_()));
        }
        let (mut image, mut preimage) = (HashMap::new(), HashMap::new());
        let mut unless = Vec::new();
        while let Some((one, two, under)) = todo.pop() {
            let (one, two) = match (one, two) {
                (Held::Object(one), Held::Object(two)) => (one, two),
                (one, two) if one == two => continue,
                (Held::Entry(loc, field), _) | (_, Held::Entry(loc, field)) => {
                    return Ok(Walk::Open(loc, field));
                }
                (Held::Scalar(one), Held::Scalar(two)) => {
                    unless.push(store.and(under, self.differ(one, two)));
                    continue;
                }
                _ => return Ok(Walk::Different),
            };
            match (image.insert(one, two), preimage.insert(two, one)) {
                (None, None) => {}
                (Some(before), Some(_)) if before == two => continue,
                _ => return Ok(Walk::Different),
            }
            let (mine, theirs) = (self.location(one), self.two.location(two));
            if mine.class != theirs.class {
                return Ok(Walk::Different);
            }
            let class = mine.class;
            let lengths = mine.length.zip(theirs.length);
            let slots = mine.fld.len().min(theirs.fld.len());
            if let Some((mine, theirs)) = lengths {
                unless.push(store.ne(mine, theirs));
            }
            for slot in 0..slots {
                let under = match lengths {
                    Some((length, _)) => self.is_there(length, slot),
                    None => store.true_(),
                };
                let (mine, theirs) = (self.first(one, slot, model)?, self.second(two, slot, model)?);
                if (mine == Held::Nil || theirs == Held::Nil)
                    && let Some(content) = self.task.unknown_content(class, slot)
                {
                    self.two.left_out.note(Bound::Unsupported(content.into()));
                    continue;
                }
                let scalars = matches!((mine, theirs), (Held::Scalar(_), Held::Scalar(_)));
                if !scalars && store.as_boolean(under).is_none() && !self.within.contains(&under) {
                    self.within.push(under);
                }
                if scalars || model.holds(store, under) {
                    todo.push((mine, theirs, under));
                }
            }
        }
        Ok(Walk::Alike(unless))
    }

    /// Where an element is one of an array of this length.
    fn is_there(&self, length: Term, slot: usize) -> Formula {
        let store = self.setup.oracle.store;
        store.relop(RelOp::Ult, store.number(32, slot as u128), length)
    }

    fn differ(&self, one: Scalar, two: Scalar) -> Formula {
        let store = self.setup.oracle.store;
        match (one, two) {
            (Scalar::Term(one), Scalar::Term(two)) => store.ne(one, two),
            (Scalar::Formula(one), Scalar::Formula(two)) => store.not(store.iff(one, two)),
            _ => store.true_(),
        }
    }

    /// An object at the end of the first run: objects that only the second found are as they were on entry.
    fn location(&self, loc: Loc) -> &Location {
        match self.one.locations().nth(loc.0 as usize) {
            Some((_, location)) => location,
            None => self.two.location(loc),
        }
    }

    /// What a field held at the end of the first run.
    fn first(&self, loc: Loc, field: usize, model: &Model) -> Result<Held, HeapError> {
        if let Some((_, location)) = self.one.locations().nth(loc.0 as usize)
            && let Some(held) = known(&self.two, &location.fld[field], model)?
        {
            return Ok(held);
        }
        let location = self.two.location(loc);
        let entry = location.inp.get(field).ok_or(HeapError::Broken("an object of nobody"))?;
        Ok(known(&self.two, entry, model)?.unwrap_or(Held::Entry(loc, field)))
    }

    /// What a field held at the end of the second run.
    fn second(&self, loc: Loc, field: usize, model: &Model) -> Result<Held, HeapError> {
        let held = known(&self.two, &self.two.location(loc).fld[field], model)?;
        Ok(held.unwrap_or(Held::Entry(loc, field)))
    }
}

/// What a cell holds under a model; nothing if nobody has asked what it held on entry.
fn known(heap: &Guarded<'_>, cell: &Cell, model: &Model) -> Result<Option<Held>, HeapError> {
    Ok(match cell {
        Cell::Scalar(scalar) => Some(Held::Scalar(*scalar)),
        Cell::Ref(reference) => match heap.target(model, reference)? {
            Target::Nil => Some(Held::Nil),
            Target::Loc(loc) => Some(Held::Object(loc)),
            Target::Un => None,
        },
    })
}
