//! How much there is at a pointer: numbers beside it that say so, and what the code takes for granted.

use super::super::Entry;
use super::super::host::Explorer;
use super::walks::Learned;
use super::{MOST_LENGTH, Relied, held_by, known_object, pointer_name};
use parallax_cmachine::{
    InputCell, ObjectId, Origin, Reporter, State, Target, Token, Value, number_at, size_of, strip,
};
use parallax_cmodule::{DebugType, DebugTypeId};
use parallax_op::{BinOp, RelOp};
use parallax_path::{Bound, Model};
use parallax_sem::Symbolic;
use parallax_term::{Expr, Formula, Node, Symbol, Term};
use rustc_hash::{FxHashMap, FxHashSet};

/// Elements of an array that code which reads that far without looking is given, whatever the bound on arrays.
const MOST_ELEMENTS: u64 = 64;

/// A contract as a condition on one path.
pub(super) struct Candidate {
    pub(super) relied: Relied,
    /// When the access that goes wrong lies within what it promises.
    pub(super) enough: Formula,
    /// When it holds.
    pub(super) holds: Formula,
    /// When the access takes all that it promises, to the last byte: a number that is never met says how much there is of something else.
    pub(super) tight: Formula,
}

/// A number of the input that may say how much is at a pointer.
pub(super) struct Length {
    pub(super) name: String,
    pub(super) term: Term,
    pub(super) bits: u16,
    pub(super) signed: bool,
}

impl<'s> Explorer<'s> {
    /// Whether a number beside a pointer says how far an access may go: on this path the access certainly ends no more than one element
    /// behind as many bytes or elements as the number says. The code compares the two, perhaps wrongly; an access that may be anywhere
    /// was never compared.
    pub(super) fn bounds_access(
        &self,
        state: &State<Symbolic<'s>>,
        guard: Formula,
        length: &Length,
        scale: u64,
        [at, len]: [Term; 2],
    ) -> bool {
        let store = self.store;
        let number = |value: u64| store.number(64, value.into());
        if !self.compares(state, length, [at, len]) {
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
    pub(in super::super) fn note_order(&mut self, condition: Formula) {
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
    pub(super) fn compares(&self, state: &State<Symbolic<'s>>, length: &Length, access: [Term; 2]) -> bool {
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
    pub(super) fn rooms(
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
            let lengths = self.numbers(state, |of| token.origin.holder() == Some(of), is_looked_at);
            let element = size_of(module, token.pointee);
            let scales = || [1, element].into_iter().take(1 + usize::from(element > 1));
            for length in &lengths {
                for scale in scales() {
                    let (mut enough, mut holds, mut tight) = (chosen, store.true_(), store.false_());
                    let bytes = store.binop(BinOp::Mul, self.widened(length), store.number(64, scale.into()));
                    for &(guard, start) in &entries {
                        let at = store.binop(BinOp::Sub, offset, start);
                        let room = store.binop(BinOp::Sub, size, start);
                        let (within, there) = self.promised(length, scale, at, len, room);
                        enough = store.and(enough, store.implies(guard, within));
                        holds = store.and(holds, store.implies(guard, there));
                        let met = store.eq(store.binop(BinOp::Add, at, len), bytes);
                        tight = store.or(tight, store.and(guard, met));
                    }
                    let (pointer, length) = (pointer.clone(), length.name.clone());
                    let relied = Relied::Room { pointer, length, elements: scale > 1 };
                    candidates.push(Candidate { relied, enough, holds, tight });
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
                // Before the pointer, whatever the number is.
                if self.excludes(state, guard, store.relop(RelOp::Sle, store.number(64, 0), at)) {
                    return false;
                }
                let bounds =
                    |length| scales().any(|scale| self.bounds_access(state, guard, length, scale, [at, len]));
                lengths.iter().filter(is_bound).any(bounds)
            });
            if bounded || self.bounded_by_walk(state, guard, token, [offset, len]) {
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
                // Before the pointer no number of bytes is enough.
                let ahead = at.checked_sub(start).filter(|&ahead| ahead <= i64::MAX as u64);
                let Some(bytes_there) = ahead.and_then(|ahead| ahead.checked_add(len)) else { continue };
                let (pointer, holds) = (pointer.clone(), store.true_());
                if !text {
                    let relied = Relied::AtLeast { pointer, bytes: bytes_there };
                    candidates.push(Candidate { relied, enough: chosen, holds, tight: store.true_() });
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
                    let tight = store.true_();
                    candidates.push(Candidate { relied: Relied::Ends(pointer), enough, holds, tight });
                }
            }
            candidates.push(Candidate {
                relied: Relied::Enough(pointer),
                enough: chosen,
                holds: store.true_(),
                tight: store.true_(),
            });
        }
        candidates
    }

    /// A contract that asks for more bytes than any array of this run has leaves no input: then arrays at the pointer get
    /// room for them, up to [`MOST_ELEMENTS`], and the search starts again. Where that is not possible it is a bound.
    ///
    /// Where other contracts are relied on, a number beside the pointer say, there may be enough on other paths: then only an
    /// access that no path has passed shows that there is not.
    pub(in super::super) fn make_room(&mut self, state: &State<Symbolic<'s>>, relied: &[Relied]) {
        let is_passed = self.here.is_none_or(|here| self.passed.contains(&here));
        let asks = relied
            .iter()
            .any(|contract| matches!(contract, Relied::AtLeast { .. } | Relied::Enough(_)) || !is_passed);
        let Some((object, offset, len)) = self.access.filter(|_| asks) else { return };
        let store = self.store;
        let capacity = state.memory.object(object).capacity;
        let last = store.binop(BinOp::Add, offset, len);
        let end = match store.as_constant(last).and_then(|bits| bits.to_u64()) {
            Some(end) if end > capacity => end,
            Some(_) => return,
            // Wherever it is, it is beyond all that there can be.
            None => {
                let there = store.relop(RelOp::Ule, last, store.number(64, capacity.into()));
                if !self.excludes(state, store.true_(), there) {
                    return;
                }
                capacity.saturating_add(1)
            }
        };
        let Some(known) = known_object(state, object) else { return };
        // An object has the name of the pointer that it was made for.
        let (name, element) = (known.name.clone(), size_of(self.module(), known.ty));
        let elements = end.div_ceil(element.max(1));
        let learned = match element > 0 && elements <= MOST_ELEMENTS {
            true => self.walks.need(&name, elements.next_power_of_two()),
            false => Learned::TooLate,
        };
        if learned == Learned::TooLate {
            let most = self.walks.elements(&name).max(self.settings.array);
            self.bounded(Bound::Array(most, name));
        }
    }

    /// When an access at so many bytes behind a pointer lies within as much as a number promises, and when there is as much.
    pub(super) fn promised(
        &self,
        length: &Length,
        scale: u64,
        at: Term,
        len: Term,
        room: Term,
    ) -> (Formula, Formula) {
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
        (store.or(beyond, within), self.there(length, scale, room))
    }

    /// When there is as much as a number promises. A negative one promises nothing.
    pub(super) fn there(&self, length: &Length, scale: u64, room: Term) -> Formula {
        let store = self.store;
        let wide = self.widened(length);
        let number = |value: u64| store.number(64, value.into());
        let bytes = store.binop(BinOp::Mul, wide, number(scale));
        let possible = store.relop(RelOp::Ule, wide, number(i64::MAX as u64 / scale));
        let there = store.and(possible, store.relop(RelOp::Ule, bytes, room));
        match length.signed {
            true => store.or(store.relop(RelOp::Slt, wide, number(0)), there),
            false => there,
        }
    }

    pub(super) fn widened(&self, length: &Length) -> Term {
        match length.signed {
            _ if length.bits == 64 => length.term,
            true => self.store.sext(length.term, 64),
            false => self.store.zext(length.term, 64),
        }
    }

    /// Numbers beside an input pointer: other parameters, or fields of the structure that holds it.
    pub(super) fn lengths(&self, state: &State<Symbolic<'s>>, token: &Token<Symbolic<'s>>) -> Vec<Length> {
        self.numbers(state, |of| token.origin.holder() == Some(of), |_| true)
    }

    /// Numbers beside any input pointer, of those that are wanted.
    pub(super) fn all_lengths(
        &self,
        state: &State<Symbolic<'s>>,
        wanted: impl Fn(Term) -> bool,
    ) -> Vec<Length> {
        let holders: FxHashSet<ObjectId> =
            state.tokens.iter().filter_map(|token| token.origin.holder()).collect();
        self.numbers(state, |of| holders.contains(&of), wanted)
    }

    /// Fields of some structures and parameters that are numbers and wanted.
    fn numbers(
        &self,
        state: &State<Symbolic<'s>>,
        within: impl Fn(ObjectId) -> bool,
        wanted: impl Fn(Term) -> bool,
    ) -> Vec<Length> {
        let module = self.module();
        let mut holders: FxHashMap<ObjectId, Option<(Option<DebugTypeId>, String)>> = FxHashMap::default();
        let mut numbers = Vec::new();
        for cell in state.input_cells.to_vec() {
            let InputCell::Bits(of, at, len @ 2..=8, term) = cell else { continue };
            if !within(*of) || !wanted(*term) {
                continue;
            }
            let holder = holders.entry(*of).or_insert_with(|| {
                known_object(state, *of).map(|known| (known.ty, held_by(module, state, known)))
            });
            if let Some((ty, before)) = holder
                && let Some((name, signed)) = number_at(module, *ty, *at)
            {
                let name = format!("{before}{name}");
                numbers.push(Length { name, term: *term, bits: (*len * 8) as u16, signed });
            }
        }
        let others = self.number_parameters(state).into_iter().chain(self.numbers_at_parameters(state));
        numbers.extend(others.filter(|number| wanted(number.term)));
        numbers
    }

    /// Numbers that parameters point to: lengths that are handed back.
    fn numbers_at_parameters(&self, state: &State<Symbolic<'s>>) -> Vec<Length> {
        let module = self.module();
        let cells = state.input_cells.to_vec();
        let mut found = Vec::new();
        for token in state.tokens.iter().filter(|token| matches!(token.origin, Origin::Parameter(_))) {
            let Some(ty) = strip(module, token.pointee) else { continue };
            let DebugType::Base { float: false, signed, .. } = module.debug_types[ty.0 as usize] else {
                continue;
            };
            for cell in &cells {
                if let InputCell::Bits(of, 0, len @ 2..=8, term) = cell
                    && token.entries.iter().any(|entry| entry.target == Target::Object(*of))
                {
                    let name = format!("*{}", token.name);
                    found.push(Length { name, term: *term, bits: (*len * 8) as u16, signed });
                }
            }
        }
        found
    }

    /// Parameters of the function that was entered that are numbers.
    pub(super) fn number_parameters(&self, state: &State<Symbolic<'s>>) -> Vec<Length> {
        let Entry::Function(name) = &self.settings.entry else { return Vec::new() };
        let module = self.module();
        let Some(function) = module.function_named(name) else { return Vec::new() };
        let parameters = module.function(function).parameters.iter().zip(state.entry_arguments.iter());
        let numbers = parameters.filter_map(|(parameter, value)| {
            let Value::Bits(term) = value else { return None };
            let ty = module.variables[parameter.variable?.0 as usize].ty;
            let ty = strip(module, ty)?;
            let DebugType::Base { float: false, signed, .. } = module.debug_types[ty.0 as usize] else {
                return None;
            };
            let bits = module.ty(parameter.ty).bits().filter(|bits| (16..=64).contains(bits))?;
            Some(Length { name: parameter.name.clone(), term: *term, bits, signed })
        });
        numbers.collect()
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
