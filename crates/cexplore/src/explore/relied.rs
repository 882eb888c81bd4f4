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

pub(super) mod tested;

use super::host::Explorer;
use parallax_cmachine::{
    InputCell, InputObject, Kind, ObjectId, Origin, Problem, State, Target, Token, Value, number_at,
    pointer_at, size_of,
};
use parallax_cmodule::{DebugType, Module};
use parallax_op::{BinOp, RelOp};
use parallax_path::Model;
use parallax_sem::Symbolic;
use parallax_term::{Expr, Formula, Node, Symbol, Term};
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
    /// A pointer is the start of memory that can be freed.
    Freed(String),
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
            Relied::Freed(_) => "freed",
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
            Relied::AtLeast { pointer, bytes } => write!(f, "at least {bytes} bytes are at {pointer}"),
            Relied::Enough(pointer) => write!(f, "what is accessed at {pointer} is there"),
            Relied::Ends(pointer) => write!(f, "{pointer} is a text that ends with a NUL"),
            Relied::Apart(one, other) => write!(f, "{one} and {other} point to different objects"),
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
    /// A number that it must be large for, beyond what fits into memory.
    pub(super) counts: Option<String>,
    /// Conditions that callers may well keep and that do not exclude it: an input that keeps them shows it best.
    pub(super) kept: Vec<Formula>,
}

/// No object has more bytes.
const MOST_LENGTH: u64 = 1 << 40;

/// A contract as a condition on one path.
struct Candidate {
    relied: Relied,
    /// When the access that goes wrong lies within what it promises.
    enough: Formula,
    /// When it holds.
    holds: Formula,
}

/// A number of the input that may say how much is at a pointer.
struct Length {
    name: String,
    term: Term,
    bits: u16,
    signed: bool,
}

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
        let running = || state.frames.iter().map(|frame| frame.function);
        let mut reliance = Reliance::default();
        let mut not_null = self.store.true_();
        for token in state.tokens.iter() {
            if self.may_be_null(&token.name, running()) {
                continue;
            }
            let null = nulls(token).fold(self.store.false_(), |any, null| self.store.or(any, null));
            let is_not = self.store.not(null);
            // The mistake depends on it, or the path knows it from somebody who takes null as well.
            let depends = || nulls(token).any(|null| self.mentions(null, &symbols));
            let known = || self.tested.contains_key(&token.name) && self.excludes(state, guard, is_not);
            if depends() || problem == Problem::NullDereference && known() {
                not_null = self.store.and(not_null, is_not);
                reliance.relied.push(Relied::NotNull(pointer_name(module, state, token)));
                reliance.pointers.push(token.name.clone());
            }
        }
        if !reliance.relied.is_empty() && self.excludes(state, guard, not_null) {
            return reliance;
        }
        if matches!(problem, Problem::Assertion | Problem::Unreachable)
            && let Some(&asserted) = state.path.formulas().last()
            && let Some(token) = self.null_test(state, asserted)
            && !self.may_be_null(&token.name, running())
        {
            let relied = vec![Relied::NotNull(pointer_name(module, state, token))];
            return Reliance { relied, pointers: vec![token.name.clone()], ..Reliance::default() };
        }
        if problem == Problem::NullDereference
            && let Some(relied) = self.number_as_pointer(state, guard)
        {
            return Reliance { relied: vec![relied], ..Reliance::default() };
        }
        let mut reliance = Reliance::default();
        if problem == Problem::OutOfBounds
            && let Some((object, offset, len)) = self.access
        {
            // Of the pointers that lead there, the one of an example: what holds of another is not excluded by its contracts.
            let Ok(Some(example)) = state.path.sat(&self.oracle, guard) else { return reliance };
            for Candidate { relied, enough, holds } in
                self.rooms(state, (guard, &example), object, offset, len)
            {
                // Within what the contract promises, however much that is.
                if self.excludes(state, guard, self.store.not(enough)) {
                    return Reliance { relied: vec![relied], ..Reliance::default() };
                }
                reliance.kept.push(holds);
            }
        }
        if problem == Problem::InvalidFree {
            // What is freed may be one of several.
            let (mut relied, mut all) = (Vec::new(), self.store.true_());
            for token in state.tokens.iter() {
                let freed = self.can_be_freed(state, token);
                if self.mentions(freed, &symbols) {
                    all = self.store.and(all, freed);
                    relied.push(Relied::Freed(pointer_name(module, state, token)));
                }
            }
            if self.excludes(state, guard, all) {
                return Reliance { relied, ..Reliance::default() };
            }
        }
        if matches!(problem, Problem::UseAfterFree | Problem::DoubleFree) {
            for (relied, apart) in self.aparts(state, &symbols) {
                if self.excludes(state, guard, apart) {
                    return Reliance { relied: vec![relied], ..Reliance::default() };
                }
            }
        }
        if let Some(name) = self.large(state, guard, &symbols) {
            reliance.relied.push(Relied::Counts(name.clone()));
            reliance.counts = Some(name);
        }
        reliance
    }

    /// A number of the input that a mistake needs to be larger than anything in memory: a size that was computed of it wrapped around.
    fn large(
        &self,
        state: &State<Symbolic<'s>>,
        guard: Formula,
        symbols: &FxHashSet<Symbol>,
    ) -> Option<String> {
        let store = self.store;
        let spoken = |term: Term| store.symbols_in([term.id()]).iter().any(|symbol| symbols.contains(symbol));
        let tokens = state.tokens.iter();
        let mut numbers: Vec<Length> = tokens
            .flat_map(|token| self.lengths(state, token))
            .chain(self.number_parameters(state))
            .collect();
        numbers.retain(|number| number.bits == 64 && spoken(number.term));
        let mut tried = FxHashSet::default();
        numbers.retain(|number| tried.insert(number.term));
        let fits =
            |number: &Length| store.relop(RelOp::Ule, number.term, store.number(64, MOST_LENGTH.into()));
        numbers.into_iter().find(|number| self.excludes(state, guard, fits(number))).map(|number| number.name)
    }

    /// Whether a mistake on a path is impossible with a further condition.
    fn excludes(&self, state: &State<Symbolic<'s>>, guard: Formula, condition: Formula) -> bool {
        matches!(state.path.sat_all(&self.oracle, &[guard, condition]), Ok(None))
    }

    /// A number of the input, from a union say, that is used as a pointer, is null, and is compared with nothing.
    fn number_as_pointer(&self, state: &State<Symbolic<'s>>, guard: Formula) -> Option<Relied> {
        let (store, module) = (self.store, self.module());
        let looked_at: FxHashSet<Symbol> =
            store.symbols_in(state.path.formulas().iter().map(|formula| formula.id())).into_iter().collect();
        state.input_cells.to_vec().into_iter().find_map(|cell| {
            let InputCell::Bits(of, at, 8, term) = cell else { return None };
            let symbols: FxHashSet<Symbol> = store.symbols_in([term.id()]).into_iter().collect();
            let null = store.eq(*term, store.number(64, 0));
            let relies = symbols.is_disjoint(&looked_at)
                && self.mentions(guard, &symbols)
                && self.excludes(state, guard, store.not(null));
            let known = known_object(state, *of).filter(|_| relies)?;
            let place = match number_at(module, known.ty, *at).map(|(field, _)| field) {
                Some(field) if !field.is_empty() => format!("{}{field}", held_by(module, state, known)),
                _ => format!("{}[{at}]", owner_name(module, state, known)),
            };
            Some(Relied::NotNull(place))
        })
    }

    /// Whether a number beside a pointer says how far an access may go: on this path the access certainly ends no more than one element
    /// behind as many bytes or elements as the number says. The code compares the two, perhaps wrongly; an access that may be anywhere
    /// was never compared.
    fn bounds_access(
        &self,
        state: &State<Symbolic<'s>>,
        guard: Formula,
        length: &Length,
        scale: u64,
        [at, len]: [Term; 2],
    ) -> bool {
        let store = self.store;
        let number = |value: u64| store.number(64, value.into());
        let before =
            |at: Term| store.as_constant(at).and_then(|at| at.to_u64()).is_some_and(|at| (at as i64) < 0);
        if before(at) || !self.compares(state, length, [at, len]) {
            return false;
        }
        let wide = self.widened(length);
        let element = store.as_constant(len).and_then(|len| len.to_u64()).unwrap_or(1).max(scale);
        let sensible = store.relop(RelOp::Ule, wide, number(MOST_LENGTH));
        let end = store.binop(BinOp::Add, at, len);
        let bytes = store.binop(BinOp::Mul, wide, number(scale));
        let behind = store.binop(BinOp::Add, bytes, number(element));
        let further = |order| store.and(sensible, store.relop(order, behind, end));
        if !matches!(state.path.sat_all(&self.oracle, &[guard, sensible]), Ok(Some(_))) {
            return false;
        }
        // Near the start every number would do: one that the path compares is not 0 there.
        if store.as_constant(end).and_then(|end| end.to_u64()).is_some_and(|end| end <= element) {
            return self.excludes(state, guard, store.eq(wide, number(0)));
        }
        [RelOp::Ult, RelOp::Slt].into_iter().any(|order| self.excludes(state, guard, further(order)))
    }

    /// A condition that the program asks for: the comparisons by size in it are noted.
    pub(super) fn note_order(&mut self, condition: Formula) {
        let store = self.store;
        for id in store.post_order([condition.id()]) {
            if let Node::Rel(RelOp::Ult | RelOp::Ule | RelOp::Slt | RelOp::Sle, ..) = store.node(id)
                && let Expr::Formula(order) = store.expr(id)
            {
                // On the other side of a branch it stands the other way round.
                self.ordered.extend([id, store.not(order).id()]);
            }
        }
    }

    /// Whether the path asks how large a number is, of itself or beside the place of an access.
    fn compares(&self, state: &State<Symbolic<'s>>, length: &Length, access: [Term; 2]) -> bool {
        let store = self.store;
        let number = store.symbols_in([length.term.id()]);
        let known: FxHashSet<Symbol> =
            store.symbols_in([length.term, access[0], access[1]].map(|term| term.id())).into_iter().collect();
        let formulas = state.path.formulas();
        store.post_order(formulas.iter().map(|formula| formula.id())).into_iter().any(|id| {
            // What the rules of memory ask says nothing of what the code takes for possible.
            if !self.ordered.contains(&id) {
                return false;
            }
            let symbols = store.symbols_in([id]);
            number.iter().all(|symbol| symbols.contains(symbol))
                && symbols.iter().all(|symbol| known.contains(symbol))
        })
    }

    /// Contracts on how much there is at input pointers into an object.
    fn rooms(
        &self,
        state: &State<Symbolic<'s>>,
        (guard, example): (Formula, &Model),
        object: ObjectId,
        offset: Term,
        len: Term,
    ) -> Vec<Candidate> {
        let (store, module) = (self.store, self.module());
        let size = state.memory.object(object).size;
        let path: Vec<_> = state.path.formulas().iter().map(|formula| formula.id()).collect();
        let accessed = [offset.id(), len.id()];
        let constrained: FxHashSet<Symbol> =
            store.symbols_in(path.into_iter().chain(accessed)).into_iter().collect();
        let is_looked_at =
            |term: Term| store.symbols_in([term.id()]).iter().any(|symbol| constrained.contains(symbol));
        let mut candidates = Vec::new();
        for token in state.tokens.iter() {
            let entries = token.entries.iter().filter(|entry| entry.target == Target::Object(object));
            let entries: Vec<(Formula, Term)> = entries.map(|entry| (entry.guard, entry.offset)).collect();
            if !entries.iter().any(|&(guard, _)| example.holds(store, guard)) {
                continue;
            }
            let chosen = entries.iter().fold(store.false_(), |any, &(guard, _)| store.or(any, guard));
            let pointer = pointer_name(module, state, token);
            // A number that neither the path nor the access looks at says nothing of how far it goes.
            let mut lengths = self.lengths(state, token);
            lengths.retain(|length| is_looked_at(length.term));
            let element = size_of(module, token.pointee);
            let scales = || [1, element].into_iter().take(1 + usize::from(element > 1));
            for length in &lengths {
                for scale in scales() {
                    let (mut enough, mut holds) = (chosen, store.true_());
                    for &(guard, start) in &entries {
                        let at = store.binop(BinOp::Sub, offset, start);
                        let room = store.binop(BinOp::Sub, size, start);
                        let (within, there) = self.promised(length, scale, at, len, room);
                        enough = store.and(enough, store.implies(guard, within));
                        holds = store.and(holds, store.implies(guard, there));
                    }
                    let (pointer, length) = (pointer.clone(), length.name.clone());
                    let relied = Relied::Room { pointer, length, elements: scale > 1 };
                    candidates.push(Candidate { relied, enough, holds });
                }
            }
            // A number beside the pointer that bounds the access is what says how much there is.
            // One that the place is computed of is a place itself, if there is another.
            let here = entries.iter().find(|&&(chosen, _)| example.holds(store, chosen));
            let place: FxHashSet<Symbol> = store.symbols_in(accessed).into_iter().collect();
            let is_place = |length: &Length| {
                store.symbols_in([length.term.id()]).iter().all(|symbol| place.contains(symbol))
            };
            let only_places = lengths.iter().all(is_place);
            let is_bound = |length: &&Length| only_places || !is_place(length);
            let bounded = here.is_some_and(|&(chosen, start)| {
                let at = store.binop(BinOp::Sub, offset, start);
                let guard = store.and(guard, chosen);
                let bounds =
                    |length| scales().any(|scale| self.bounds_access(state, guard, length, scale, [at, len]));
                lengths.iter().filter(is_bound).any(bounds)
            });
            if bounded {
                continue;
            }
            let constant = |term: Term| store.as_constant(term).and_then(|bits| bits.to_u64());
            let bytes = bytes_of(state, object);
            let text = bytes.iter().any(|&(_, byte)| is_looked_at(byte));
            for &(chosen, start) in &entries {
                let (Some(start), Some(at), Some(len)) = (constant(start), constant(offset), constant(len))
                else {
                    continue;
                };
                let Some(bytes_there) = at.checked_sub(start).and_then(|at| at.checked_add(len)) else {
                    continue;
                };
                let (pointer, holds) = (pointer.clone(), store.true_());
                if !text {
                    let relied = Relied::AtLeast { pointer, bytes: bytes_there };
                    candidates.push(Candidate { relied, enough: chosen, holds });
                    continue;
                }
                let before: Vec<Term> = bytes
                    .iter()
                    .filter(|(place, _)| (start..at).contains(place))
                    .map(|&(_, byte)| byte)
                    .collect();
                if len == 1 && before.len() as u64 == at - start {
                    let enough = before.iter().fold(chosen, |all, &byte| {
                        store.and(all, store.not(store.eq(byte, store.number(8, 0))))
                    });
                    candidates.push(Candidate { relied: Relied::Ends(pointer), enough, holds });
                }
            }
            candidates.push(Candidate {
                relied: Relied::Enough(pointer),
                enough: chosen,
                holds: store.true_(),
            });
        }
        candidates
    }

    /// When an access at so many bytes behind a pointer lies within as much as a number promises, and when there is as much.
    fn promised(&self, length: &Length, scale: u64, at: Term, len: Term, room: Term) -> (Formula, Formula) {
        let store = self.store;
        let wide = self.widened(length);
        let number = |value: u64| store.number(64, value.into());
        let bytes = store.binop(BinOp::Mul, wide, number(scale));
        // More than any object has: no caller can promise that, and the path is one of no caller.
        let beyond = store.relop(RelOp::Ult, number(i64::MAX as u64 / scale), wide);
        let negative = store.relop(RelOp::Slt, wide, number(0));
        let beyond = if length.signed { store.and(beyond, store.not(negative)) } else { beyond };
        let starts = store.relop(RelOp::Ule, at, bytes);
        let ends = store.relop(RelOp::Ule, len, store.binop(BinOp::Sub, bytes, at));
        let within = store.and(starts, ends);
        let within = if length.signed { store.and(within, store.not(negative)) } else { within };
        let there = store.and(store.not(beyond), store.relop(RelOp::Ule, bytes, room));
        (store.or(beyond, within), there)
    }

    fn widened(&self, length: &Length) -> Term {
        match length.signed {
            _ if length.bits == 64 => length.term,
            true => self.store.sext(length.term, 64),
            false => self.store.zext(length.term, 64),
        }
    }

    /// Numbers beside an input pointer: other parameters, or fields of the structure that holds it.
    fn lengths(&self, state: &State<Symbolic<'s>>, token: &Token<Symbolic<'s>>) -> Vec<Length> {
        let module = self.module();
        let fields = |holder: ObjectId| {
            let cells = state.input_cells.to_vec().into_iter().filter_map(move |cell| match cell {
                InputCell::Bits(of, at, len, term) if *of == holder && (2..=8).contains(len) => {
                    let known = known_object(state, holder)?;
                    let (name, signed) = number_at(module, known.ty, *at)?;
                    let name = format!("{}{name}", held_by(module, state, known));
                    Some(Length { name, term: *term, bits: (*len * 8) as u16, signed })
                }
                _ => None,
            });
            cells.collect::<Vec<_>>()
        };
        let mut lengths = match token.origin {
            Origin::Cell(holder, _) => fields(holder),
            Origin::Parameter(_) | Origin::Havoc { .. } => Vec::new(),
        };
        lengths.extend(self.number_parameters(state));
        lengths
    }

    /// Parameters of the function that was entered that are numbers.
    fn number_parameters(&self, state: &State<Symbolic<'s>>) -> Vec<Length> {
        let super::Entry::Function(name) = &self.settings.entry else { return Vec::new() };
        let module = self.module();
        let Some(function) = module.function_named(name) else { return Vec::new() };
        let parameters = module.function(function).parameters.iter().zip(state.entry_arguments.iter());
        let numbers = parameters.filter_map(|(parameter, value)| {
            let Value::Bits(term) = value else { return None };
            let ty = module.variables[parameter.variable?.0 as usize].ty;
            let ty = parallax_cmachine::strip(module, ty)?;
            let DebugType::Base { float: false, signed, .. } = module.debug_types[ty.0 as usize] else {
                return None;
            };
            let bits = module.ty(parameter.ty).bits().filter(|bits| (16..=64).contains(bits))?;
            Some(Length { name: parameter.name.clone(), term: *term, bits, signed })
        });
        numbers.collect()
    }

    /// When an input pointer is null or the start of memory of its own.
    fn can_be_freed(&self, state: &State<Symbolic<'s>>, token: &Token<Symbolic<'s>>) -> Formula {
        let store = self.store;
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

    /// Input pointers that may be one and the same.
    fn aparts(&self, state: &State<Symbolic<'s>>, symbols: &FxHashSet<Symbol>) -> Vec<(Relied, Formula)> {
        let (store, module) = (self.store, self.module());
        let mut candidates = Vec::new();
        for (number, one) in state.tokens.iter().enumerate() {
            for other in &state.tokens[number + 1..] {
                let mut together = store.false_();
                for a in one.entries.iter().filter(|entry| matches!(entry.target, Target::Object(_))) {
                    for b in other.entries.iter().filter(|entry| entry.target == a.target) {
                        together = store.or(together, store.and(a.guard, b.guard));
                    }
                }
                if store.as_boolean(together).is_none() && self.mentions(together, symbols) {
                    let names = [one, other].map(|token| pointer_name(module, state, token));
                    let [one, other] = names;
                    candidates.push((Relied::Apart(one, other), store.not(together)));
                }
            }
        }
        candidates
    }

    /// Findings that rely on a pointer which the code turned out to test are findings as any other; so are those that rely on
    /// a number which no pointer turned out to have as much at.
    pub(super) fn settle_relied(&mut self) {
        let counted: FxHashSet<String> = self
            .findings
            .iter()
            .flat_map(|finding| &finding.relied)
            .filter_map(|relied| match relied {
                Relied::Room { length, .. } => Some(length.clone()),
                _ => None,
            })
            .collect();
        for (number, name) in std::mem::take(&mut self.counting) {
            if !counted.contains(&name) {
                self.findings[number].relied.clear();
            }
        }
        for (number, keys) in std::mem::take(&mut self.relying) {
            let running = || self.findings[number].stack.iter().map(|(function, _)| *function);
            if keys.iter().any(|key| self.may_be_null(key, running())) {
                self.findings[number].relied.clear();
            }
        }
    }
}

/// Single bytes of an input object that were read, by their place.
fn bytes_of(state: &State<Symbolic<'_>>, object: ObjectId) -> Vec<(u64, Term)> {
    let cells = state.input_cells.to_vec().into_iter();
    let bytes = cells.filter_map(|cell| match cell {
        InputCell::Bits(of, at, 1, value) if *of == object => Some((*at, *value)),
        _ => None,
    });
    bytes.collect()
}

/// When a token is null.
fn nulls<'t>(token: &'t Token<Symbolic<'_>>) -> impl Iterator<Item = Formula> + 't {
    token.entries.iter().filter(|entry| entry.target == Target::Null).map(|entry| entry.guard)
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
        let older = match token.origin {
            Origin::Cell(holder, _) => holder < object,
            Origin::Parameter(_) | Origin::Havoc { .. } => true,
        };
        older && token.entries.iter().any(|entry| entry.target == Target::Object(object))
    })
}
