//! What entered code relies on without looking: contracts that whoever calls it has to keep.
//!
//! A function that is entered by itself gets memory that nobody described, and most of what goes wrong there is something
//! that no caller does: a field that a constructor sets is null, a text is shorter than the length beside it. Such a
//! mistake is one of the caller. A finding *relies* on a contract that has one of a few forms, is taken from the input's
//! own pointers and numbers, and makes the mistake impossible. What no contract excludes stays a finding: with `size`
//! bytes given at `text`, a read of `text[size]` is still a mistake of the code.
//!
//! How much is at a pointer is the caller's to decide, unless a number beside it says so and the code heeds it.
//!
//! A pointer that the code compares with null is one that it takes for possibly null ([`tested`]): nothing is relied on then.

mod apart;
mod asserted;
mod condition;
pub(super) mod established;
mod rooms;
pub(super) mod tested;
pub(super) mod walks;

use super::host::Explorer;
use apart::Examples;
use parallax_cmachine::{
    InputCell, InputObject, Kind, ObjectId, Origin, Problem, State, Target, Token, number_at, pointer_at,
};
use parallax_cmodule::Module;
use parallax_op::RelOp;
use parallax_sem::Symbolic;
use parallax_term::{Formula, Store, Symbol, Term};
use rooms::{Candidate, Length};
use rustc_hash::FxHashSet;
use std::fmt;

/// Something that a caller has to see to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relied {
    /// A pointer is not null.
    NotNull(String),
    /// So many bytes or elements are at a pointer as a number says.
    Room {
        /// The pointer.
        pointer: String,
        /// The number.
        length: String,
        /// Whether it counts elements of more than one byte.
        elements: bool,
    },
    /// At least so many bytes are at a pointer.
    AtLeast {
        /// The pointer.
        pointer: String,
        /// How many.
        bytes: u64,
    },
    /// As much is at a pointer as is accessed.
    Enough(String),
    /// The bytes at a pointer end with a NUL.
    Ends(String),
    /// Two pointers point into different objects.
    Apart(String, String),
    /// Two pointers point into one array, or one behind its end.
    OneArray(String, String),
    /// Of two pointers into one array, the first does not lie before the second.
    Behind(String, String),
    /// Two pointers into one array are not the same place.
    Between(String, String),
    /// A pointer is the start of memory that can be freed.
    Freed(String),
    /// What a function asserts of its input holds.
    Asserted(String),
    /// A number says how much there is of something in memory, which is never very much.
    Counts(String),
}

impl Relied {
    /// Its name in documents for programs, which stays as it is.
    pub fn name(&self) -> &'static str {
        match self {
            Relied::NotNull(_) => "not-null",
            Relied::Room { .. } => "room",
            Relied::AtLeast { .. } => "at-least",
            Relied::Enough(_) => "enough",
            Relied::Ends(_) => "string",
            Relied::Apart(..) => "apart",
            Relied::OneArray(..) => "one-array",
            Relied::Behind(..) => "behind",
            Relied::Between(..) => "between",
            Relied::Freed(_) => "freed",
            Relied::Asserted(_) => "asserted",
            Relied::Counts(_) => "counts",
        }
    }
}

impl fmt::Display for Relied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Relied::NotNull(pointer) => write!(f, "{pointer} is not null"),
            Relied::Room { pointer, length, elements: false } => {
                write!(f, "{length} bytes are at {pointer}")
            }
            Relied::Room { pointer, length, elements: true } => {
                write!(f, "{length} elements are at {pointer}")
            }
            Relied::AtLeast { pointer, bytes: 1 } => write!(f, "at least 1 byte is at {pointer}"),
            Relied::AtLeast { pointer, bytes } => write!(f, "at least {bytes} bytes are at {pointer}"),
            Relied::Enough(pointer) => write!(f, "what is accessed at {pointer} is there"),
            Relied::Ends(pointer) => write!(f, "{pointer} is a text that ends with a NUL"),
            Relied::Apart(one, other) => write!(f, "{one} and {other} point to different objects"),
            Relied::OneArray(one, other) => write!(f, "{one} and {other} point into one array"),
            Relied::Behind(one, other) => write!(f, "{one} is not before {other}"),
            Relied::Between(one, other) => write!(f, "{one} and {other} are different places"),
            Relied::Asserted(function) => write!(f, "what {function} asserts of its input holds"),
            Relied::Freed(pointer) => write!(f, "{pointer} is the start of memory that can be freed"),
            Relied::Counts(number) => write!(f, "{number} things fit into memory"),
        }
    }
}

/// What a mistake relies on.
#[derive(Default)]
pub(super) struct Reliance {
    /// Contracts that exclude it; nothing where it is one that callers cannot help.
    pub(super) relied: Vec<Relied>,
    /// Input pointers that are taken never to be null by these.
    pub(super) pointers: Vec<String>,
    /// Numbers that must be large for it, beyond what fits into memory, and of which nothing else says that they count something.
    pub(super) counts: Vec<String>,
    /// Conditions that callers may well keep and that do not exclude it: an input that keeps them shows it best.
    pub(super) kept: Vec<Formula>,
}

/// No object has more bytes.
const MOST_LENGTH: u64 = 1 << 40;

impl<'s> Explorer<'s> {
    fn mentions(&self, formula: Formula, symbols: &FxHashSet<Symbol>) -> bool {
        self.store.symbols_in([formula.id()]).iter().any(|symbol| symbols.contains(symbol))
    }

    /// What a mistake under a condition relies on.
    pub(super) fn reliance(
        &mut self,
        state: &State<Symbolic<'s>>,
        problem: Problem,
        guard: Formula,
    ) -> Reliance {
        let symbols: FxHashSet<Symbol> = self.store.symbols_in([guard.id()]).into_iter().collect();
        let module = self.module();
        let reliance = self.relies_on_not_null(state, problem, guard, &symbols);
        if !reliance.relied.is_empty() {
            return reliance;
        }
        if matches!(problem, Problem::Assertion | Problem::Unreachable)
            && let Some(&asserted) = state.path.formulas().last()
            && let Some(token) = self.null_test(state, asserted)
            && !self.may_be_null(&token.name, state.frames.iter().map(|frame| frame.function))
        {
            let relied = vec![Relied::NotNull(pointer_name(module, state, token))];
            return Reliance { relied, pointers: vec![token.name.clone()], ..Reliance::default() };
        }
        if let Some(relied) = self.number_as_pointer(state, problem, guard) {
            return Reliance { relied: vec![relied], ..Reliance::default() };
        }
        let relied = self.relies_on_walks(state, guard);
        if !relied.is_empty() {
            return Reliance { relied, ..Reliance::default() };
        }
        if problem == Problem::InvalidFree {
            // What is freed may be one of several.
            let (mut relied, mut all) = (Vec::new(), self.store.true_());
            for token in state.tokens.iter() {
                let freed = can_be_freed(self.store, state, token);
                if self.mentions(freed, &symbols) {
                    all = self.store.and(all, freed);
                    relied.push(Relied::Freed(pointer_name(module, state, token)));
                }
            }
            if self.excludes(state, guard, all) {
                return Reliance { relied, ..Reliance::default() };
            }
        }
        let mut reliance = Reliance::default();
        let example = match self.relies_on_apart(state, guard) {
            Examples::Apart(relied) => return Reliance { relied, ..reliance },
            Examples::One(example) => Some(example),
            Examples::Unknown => None,
        };
        if problem == Problem::OutOfBounds
            && let (Some((object, offset, len)), Some(example)) = (self.access, example)
        {
            // Of the pointers that lead there, the one of an example: what holds of another is not excluded by its contracts.
            let mut first = None;
            for Candidate { relied, enough, holds, tight } in
                self.rooms(state, (guard, &example), object, offset, len)
            {
                // Within what the contract promises, however much that is.
                if !self.excludes(state, guard, self.store.not(enough)) {
                    reliance.kept.push(holds);
                    continue;
                }
                let is_room = matches!(relied, Relied::Room { .. });
                if is_room && self.excludes(state, self.store.true_(), tight) {
                    first.get_or_insert(relied);
                    continue;
                }
                // Any number beside it says more than that something is there.
                let relied = first.filter(|_| !is_room).unwrap_or(relied);
                return Reliance { relied: vec![relied], ..Reliance::default() };
            }
            if let Some(relied) = first {
                return Reliance { relied: vec![relied], ..Reliance::default() };
            }
        }
        if matches!(problem, Problem::Assertion | Problem::Unreachable)
            && let Some(function) = self.asserts_of_input(state)
        {
            return Reliance { relied: vec![Relied::Asserted(function)], ..Reliance::default() };
        }
        for number in self.large(state, guard, &symbols) {
            reliance.relied.push(Relied::Counts(number.name.clone()));
            if !self.is_place_and_size(state, &number) {
                reliance.counts.push(number.name);
            }
        }
        reliance
    }

    /// Input pointers that are not null without a mistake, and that nobody takes for possibly null.
    fn relies_on_not_null(
        &self,
        state: &State<Symbolic<'s>>,
        problem: Problem,
        guard: Formula,
        symbols: &FxHashSet<Symbol>,
    ) -> Reliance {
        let module = self.module();
        let is_null = problem == Problem::NullDereference;
        let mut reliance = Reliance::default();
        let mut not_null = self.store.true_();
        for token in state.tokens.iter().rev() {
            let running = state.frames.iter().map(|frame| frame.function);
            let Some(null) = nulls(token).reduce(|any, null| self.store.or(any, null)) else { continue };
            if self.may_be_null(&token.name, running) {
                continue;
            }
            let is_not = self.store.not(null);
            // The mistake depends on it; or the path knows it, from somebody who takes null as well or since there is nothing else.
            let depends = self.mentions(null, symbols);
            let only = symbols.is_empty() && reliance.relied.is_empty();
            let may_be_known = only || self.tested.contains_key(&token.name);
            if depends || is_null && may_be_known && self.excludes(state, guard, is_not) {
                not_null = self.store.and(not_null, is_not);
                reliance.relied.insert(0, Relied::NotNull(pointer_name(module, state, token)));
                reliance.pointers.push(token.name.clone());
            }
        }
        match reliance.relied.is_empty() || self.excludes(state, guard, not_null) {
            true => reliance,
            false => Reliance::default(),
        }
    }

    /// Numbers of the input of which a mistake needs one to be larger than anything in memory: a size that was computed of it wrapped
    /// around.
    fn large(&self, state: &State<Symbolic<'s>>, guard: Formula, symbols: &FxHashSet<Symbol>) -> Vec<Length> {
        let store = self.store;
        let spoken = |term: Term| store.symbols_in([term.id()]).iter().any(|symbol| symbols.contains(symbol));
        let mut numbers = self.all_lengths(state, spoken);
        numbers.retain(|number| number.bits == 64);
        let mut tried = FxHashSet::default();
        numbers.retain(|number| tried.insert(number.term));
        let fit = |numbers: &[Length]| {
            let fits =
                numbers.iter().map(|n| store.relop(RelOp::Ule, n.term, store.number(64, MOST_LENGTH.into())));
            fits.fold(store.true_(), |all, one| store.and(all, one))
        };
        if numbers.is_empty() || !self.excludes(state, guard, fit(&numbers)) {
            return Vec::new();
        }
        needed(numbers, |numbers| self.excludes(state, guard, fit(numbers)))
    }

    /// Whether a number is a place in an array that was made for as many: it counts what is there.
    fn is_place_and_size(&self, state: &State<Symbolic<'s>>, number: &Length) -> bool {
        let Some((object, offset, _)) = self.access else { return false };
        let within = |term: Term| {
            let symbols = self.store.symbols_in([term.id()]);
            self.store.symbols_in([number.term.id()]).iter().all(|symbol| symbols.contains(symbol))
        };
        within(offset) && within(state.memory.object(object).size)
    }

    /// Whether a mistake on a path is impossible with a further condition.
    fn excludes(&self, state: &State<Symbolic<'s>>, guard: Formula, condition: Formula) -> bool {
        matches!(state.path.sat_all(&self.oracle, &[guard, condition]), Ok(None))
    }

    /// A number of the input, from a union say, that is used as a pointer and is none, and that is compared with nothing.
    fn number_as_pointer(
        &self,
        state: &State<Symbolic<'s>>,
        problem: Problem,
        guard: Formula,
    ) -> Option<Relied> {
        if problem != Problem::NullDereference && (problem != Problem::OutOfBounds || self.access.is_some()) {
            return None;
        }
        let (store, module) = (self.store, self.module());
        let looked_at: FxHashSet<Symbol> =
            store.symbols_in(state.path.formulas().iter().map(|formula| formula.id())).into_iter().collect();
        let mut spoken: FxHashSet<Symbol> = store.symbols_in([guard.id()]).into_iter().collect();
        spoken.retain(|symbol| !looked_at.contains(symbol));
        // As a whole, or byte by byte where it was copied.
        let mut cells = state.input_cells.to_vec();
        cells.retain(|cell| {
            let InputCell::Bits(_, _, 1 | 8, term) = cell else { return false };
            let symbols = store.symbols_in([term.id()]);
            symbols.iter().any(|symbol| spoken.contains(symbol))
                && !symbols.iter().any(|symbol| looked_at.contains(symbol))
        });
        let not_zero = cells.iter().fold(store.false_(), |any, cell| match cell {
            InputCell::Bits(_, _, len, term) => {
                let zero = store.eq(*term, store.number((*len * 8) as u16, 0));
                store.or(any, store.not(zero))
            }
            _ => any,
        });
        let place = cells.iter().find_map(|cell| {
            let InputCell::Bits(of, at, ..) = cell else { return None };
            let known = known_object(state, *of)?;
            Some(match number_at(module, known.ty, *at).map(|(field, _)| field) {
                Some(field) if !field.is_empty() => format!("{}{field}", held_by(module, state, known)),
                _ => format!("{}[{at}]", owner_name(module, state, known)),
            })
        })?;
        match problem {
            Problem::OutOfBounds => Some(Relied::Enough(place)),
            _ if self.excludes(state, guard, not_zero) => Some(Relied::NotNull(place)),
            _ => None,
        }
    }
}

/// Of things that suffice together, no more than it takes; those in front stay where there is a choice.
fn needed<T>(mut all: Vec<T>, suffice: impl Fn(&[T]) -> bool) -> Vec<T> {
    for number in (0..all.len()).rev() {
        let one = all.remove(number);
        if !suffice(&all) {
            all.insert(number, one);
        }
    }
    all
}

/// When an input pointer is null or the start of memory of its own.
fn can_be_freed<'s>(store: &Store, state: &State<Symbolic<'s>>, token: &Token<Symbolic<'s>>) -> Formula {
    token.entries.iter().fold(store.true_(), |all, entry| {
        let owned = |object| matches!(state.memory.object(object).kind, Kind::Heap | Kind::Input);
        let start = match entry.target {
            Target::Null => true,
            Target::Object(object) => owned(object),
            _ => false,
        };
        let start = match start {
            true => store.eq(entry.offset, store.number(64, 0)),
            false => store.false_(),
        };
        store.and(all, store.implies(entry.guard, start))
    })
}

/// When a token is null: where that was asked by itself, and where it was decided what it is.
fn nulls<'t>(token: &'t Token<Symbolic<'_>>) -> impl Iterator<Item = Formula> + 't {
    let decided = token.entries.iter().filter(|entry| entry.target == Target::Null);
    decided.map(|entry| entry.guard).chain(token.null)
}

fn known_object<'a, 's>(
    state: &'a State<Symbolic<'s>>,
    object: ObjectId,
) -> Option<&'a InputObject<Symbolic<'s>>> {
    state.input_objects.iter().chain(state.private_inputs.iter()).find(|known| known.object == object)
}

/// An input pointer as C names it, from a parameter or a global variable on.
fn pointer_name(module: &Module, state: &State<Symbolic<'_>>, token: &Token<Symbolic<'_>>) -> String {
    let Origin::Cell(holder, at) = token.origin else { return token.name.clone() };
    let Some(known) = known_object(state, holder) else { return token.name.clone() };
    match pointer_at(module, known.ty, at) {
        Some(field) if !field.is_empty() => format!("{}{field}", held_by(module, state, known)),
        // A pointer that is no field: an element of an array, or a variable itself.
        _ if leads_to(state, holder).is_none() && at == 0 => known.name.clone(),
        _ => format!("{}[{}]", owner_name(module, state, known), at / 8),
    }
}

/// What stands before a field of an object: `p->` or `global.`.
fn held_by(module: &Module, state: &State<Symbolic<'_>>, known: &InputObject<Symbolic<'_>>) -> String {
    let sign = if leads_to(state, known.object).is_some() { "->" } else { "." };
    format!("{}{sign}", owner_name(module, state, known))
}

fn owner_name(module: &Module, state: &State<Symbolic<'_>>, known: &InputObject<Symbolic<'_>>) -> String {
    match leads_to(state, known.object) {
        Some(token) => pointer_name(module, state, token),
        None => known.name.clone(),
    }
}

/// The first input pointer that may point to an object: the one it was made for. An object is made for a pointer that stands
/// in an older one, so following these ends.
fn leads_to<'a, 's>(state: &'a State<Symbolic<'s>>, object: ObjectId) -> Option<&'a Token<Symbolic<'s>>> {
    state.tokens.iter().find(|token| {
        let older = token.origin.holder().is_none_or(|holder| holder < object);
        older && token.entries.iter().any(|entry| entry.target == Target::Object(object))
    })
}
