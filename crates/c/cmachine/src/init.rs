//! INIT: what an input pointer was on entry, decided when the program first needs to know.
//!
//! The choices (null, an input object that is known, a new one, a function) are guards in one state; exactly one of them
//! holds where the pointer is needed, and none elsewhere. The logic of such a choice is `parallax-heap`'s, which
//! Javalite's engine uses too; what there is to choose from is C's own: types within types, arrays, functions.

use super::content::Fill;
use super::host::Host;
use super::input_types::{containers, flexible, is_record, positions, same_type, size_of, strip, travels_as};
use super::inputs::{Aliasing, Candidate, InputCell, InputObject, Spots, Token};
use super::memory::Kind;
use super::mistake::Mistake;
use super::pointers::{pointers, word};
use super::value::{Entry, ObjectId, Pointer, Target, TokenId, Value};
use super::{Machine, Result, State, Stop};
use parallax_cmodule::{DebugType, DebugTypeId, FunctionId};
use parallax_heap::choice::exactly_one;
use parallax_heap::set::GuardedSets;
use parallax_op::{BinOp, Bits, BoolOp, RelOp};
use parallax_path::{Bound, Candidates, Premise, Split};
use parallax_sem::Core;
use std::sync::Arc;

/// Places of one type in another that are told apart; more are cut, and said.
const MOST_POSITIONS: usize = 64;
/// Structures that a new object may be part of.
const MOST_CONTAINERS: usize = 8;
/// Structures that are asked about for that: more than any program has.
const MOST_LOOKED_AT: usize = 10_000;
/// Things that one pointer may be.
const MOST_CHOICES: usize = 254;
/// Bytes of memory that no type describes.
const UNTYPED: u64 = 512;
/// Where input memory lies: the top twenty bits of its addresses, apart from everything the program makes.
const INPUT_REGION: u128 = 0x00007;

/// Something an input pointer may be.
struct Choice<C: Core> {
    target: Target,
    offset: C::Val,
    /// When that is possible at all.
    possible: C::Bool,
}

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    /// A pointer with its tokens decided.
    pub(super) fn resolved(&mut self, state: &mut State<C>, pointer: &Pointer<C>) -> Result<Pointer<C>, C> {
        if !pointer.entries.iter().any(|entry| matches!(entry.target, Target::Token(_))) {
            return Ok(pointer.clone());
        }
        for entry in &pointer.entries {
            if let Target::Token(token) = entry.target {
                self.init(state, token, &entry.guard)?;
            }
        }
        let core = self.host.core();
        let mut decided = Vec::new();
        for entry in &pointer.entries {
            let Target::Token(token) = entry.target else {
                decided.push(entry.clone());
                continue;
            };
            decided.extend(state.tokens[token.0 as usize].entries.iter().map(|choice| Entry::<C> {
                guard: core.boolop(BoolOp::And, &entry.guard, &choice.guard),
                target: choice.target,
                offset: core.binop(BinOp::Add, 64, &choice.offset, &entry.offset),
            }));
        }
        Ok(Pointer { entries: pointers::<C, H>(&self.host).join(decided) })
    }

    /// INIT: decides a token under a condition, as far as it was not.
    fn init(&mut self, state: &mut State<C>, id: TokenId, under: &C::Bool) -> Result<(), C> {
        self.in_time()?;
        let token = state.tokens[id.0 as usize].clone();
        let core = self.host.core();
        let open = match self.planted(Mistake::InitIgnoresDone) {
            true => under.clone(),
            false => core.boolop(BoolOp::And, under, &core.not(&token.done)),
        };
        // Without this question objects would double with every step along a list.
        match self.host.split(&state.path, &open) {
            Split::False => return Ok(()),
            Split::Neither => return Err(Stop::Dead),
            Split::True | Split::Both => {}
        }
        let always = self.host.core().boolean(true);
        let mut choices = Candidates::default();
        if !token.nonnull && self.host.may_be(state, id, Candidate::Null) {
            let offset = word(&self.host, 0);
            choices.offer(Choice { target: Target::Null, offset, possible: always.clone() });
        }
        let pointee = strip(self.module, token.pointee);
        let known = state.input_objects.len();
        if let Some(DebugType::Function(types)) = pointee.map(|t| &self.module.debug_types[t.0 as usize]) {
            let functions = self.functions_of(types);
            if functions.is_empty() && self.host.may_be(state, id, Candidate::New(pointee, 0)) {
                choices.leave_out(Bound::Missing(format!("no function that {} may be", token.name)));
            }
            for function in functions {
                if self.host.may_be(state, id, Candidate::Function(function)) {
                    let (target, offset) = (Target::Function(function), word(&self.host, 0));
                    choices.offer(Choice { target, offset, possible: always.clone() });
                }
            }
        } else {
            self.known_objects(state, (id, &token), pointee, &mut choices);
            self.new_objects(state, (id, &token), pointee, &mut choices)?;
        }
        choices.at_most(MOST_CHOICES, "things one input pointer may be");
        let nothing = || format!("nothing that {} may be, which is never null", token.name);
        let choices = choices.settle(|bound| self.host.bounded(bound), nothing).map_err(Stop::Bound)?;
        let mut guards = Vec::with_capacity(choices.len());
        for choice in &choices {
            let guard = match &token.null {
                // Decided before, and perhaps for more than what is asked now.
                Some(null) if choice.target == Target::Null => {
                    self.host.core().boolop(BoolOp::And, null, &open)
                }
                _ => {
                    let bit = self.host.selector(1, &format!("choice of {}", token.name));
                    self.host.core().val_to_bool(1, &bit)
                }
            };
            guards.push((guard, choice.possible.clone()));
        }
        let chosen = choices.into_iter().zip(&guards).map(|(choice, (guard, _))| Entry::<C> {
            guard: guard.clone(),
            target: choice.target,
            offset: choice.offset,
        });
        let chosen: Vec<Entry<C>> = chosen.collect();
        // A new object exists where it was chosen, at whatever place.
        for object in &mut Arc::make_mut(&mut state.input_objects)[known..] {
            let meant = Target::Object(object.object);
            object.exists = pointers::<C, H>(&self.host).exists(&chosen, |target| *target == meant);
        }
        let side = exactly_one(self.host.core(), &open, &guards);
        self.host.take(&mut state.path, side);
        let done = self.host.core().boolop(BoolOp::Or, &token.done, &open);
        let stored = &mut Arc::make_mut(&mut state.tokens)[id.0 as usize];
        stored.done = done;
        stored.entries.extend(chosen);
        Ok(())
    }

    /// When an input pointer that is compared with null is null, if that is all that is asked and the host wants it so, or nobody knows
    /// what it points to: what it is used as later tells.
    pub(super) fn tested_for_null(
        &mut self,
        state: &mut State<C>,
        a: &Value<C>,
        b: &Value<C>,
    ) -> Option<C::Bool> {
        let (Value::Pointer(a), Value::Pointer(b)) = (a, b) else { return None };
        let start = |offset: &C::Val| self.host.value(64, offset).is_some_and(|n| n.is_zero());
        let is_null = |pointer: &Pointer<C>| {
            pointer.only().is_some_and(|entry| entry.target == Target::Null && start(&entry.offset))
        };
        let pointer = match (is_null(a), is_null(b)) {
            (false, true) => a,
            (true, false) => b,
            _ => return None,
        };
        if !pointer.entries.iter().all(|entry| start(&entry.offset)) {
            return None;
        }
        let mut any = self.host.core().boolean(false);
        for entry in &pointer.entries {
            let Target::Token(id) = entry.target else { return None };
            let null = self.null_alone_of(state, id)?;
            let core = self.host.core();
            any = core.boolop(BoolOp::Or, &any, &core.boolop(BoolOp::And, &entry.guard, &null));
        }
        Some(any)
    }

    /// When an input pointer that nobody has followed is null, if that is to be decided by itself.
    fn null_alone_of(&mut self, state: &mut State<C>, id: TokenId) -> Option<C::Bool> {
        let token = &state.tokens[id.0 as usize];
        let alone = self.host.null_alone() || strip(self.module, token.pointee).is_none();
        if !alone || self.host.truth(&token.done) != Some(false) {
            return None;
        }
        if let Some(known) = &token.null {
            return Some(known.clone());
        }
        let (name, possible) =
            (token.name.clone(), !token.nonnull && self.host.may_be(state, id, Candidate::Null));
        let null = match possible {
            true => {
                let bit = self.host.selector(1, &format!("choice of {name}"));
                self.host.core().val_to_bool(1, &bit)
            }
            false => self.host.core().boolean(false),
        };
        Arc::make_mut(&mut state.tokens)[id.0 as usize].null = Some(null.clone());
        Some(null)
    }

    /// A pointer to nobody knows what is used with a type: that is what it points to from here on.
    pub(super) fn used_as(&mut self, state: &mut State<C>, value: &Value<C>, ty: Option<DebugTypeId>) {
        let Value::Pointer(pointer) = value else { return };
        let Some(ty) = strip(self.module, ty) else { return };
        let DebugType::Pointer(Some(pointee)) = self.module.debug_types[ty.0 as usize] else { return };
        if size_of(self.module, Some(pointee)) <= 1 {
            return;
        }
        for entry in &pointer.entries {
            let Target::Token(id) = entry.target else { continue };
            let token = &state.tokens[id.0 as usize];
            if strip(self.module, token.pointee).is_none() && token.entries.is_empty() {
                Arc::make_mut(&mut state.tokens)[id.0 as usize].pointee = Some(pointee);
            }
        }
    }

    /// Functions of a type whose address the program takes, the library's included.
    fn functions_of(&mut self, types: &[Option<DebugTypeId>]) -> Vec<FunctionId> {
        let module = self.module;
        let taken = self.taken_functions.get_or_insert_with(|| module.taken_functions());
        let fits = |function: &parallax_cmodule::Function| {
            if function.parameters.len() + 1 != types.len() || function.variadic {
                return false;
            }
            match function.signature.len() == types.len() {
                true => function.signature.iter().zip(types).all(|(a, b)| same_type(module, *a, *b)),
                // Without debug information, as those that are only declared, it goes by what values travel in.
                false => std::iter::once(function.result)
                    .chain(function.parameters.iter().map(|parameter| parameter.ty))
                    .zip(types)
                    .all(|(ty, described)| travels_as(module, ty, *described)),
            }
        };
        let functions = module.functions.iter().enumerate().filter(|(index, f)| taken[*index] && fits(f));
        functions.map(|(index, _)| FunctionId(index as u32)).collect()
    }

    /// Whether pointers to this type may point into larger objects.
    fn looks_inside(&self, pointee: Option<DebugTypeId>) -> bool {
        let aggregate = matches!(
            pointee.map(|t| &self.module.debug_types[t.0 as usize]),
            Some(DebugType::Struct { .. } | DebugType::Union { .. } | DebugType::Array { .. })
        );
        match self.host.input_bounds().aliasing {
            Aliasing::Sub => true,
            Aliasing::Auto if aggregate => self.field_use.container_of,
            Aliasing::Auto => self.field_use.taken || self.field_use.container_of,
            _ => false,
        }
    }

    /// Input objects that are known, freed and overwritten ones included.
    fn known_objects(
        &mut self,
        state: &mut State<C>,
        (id, token): (TokenId, &Token<C>),
        pointee: Option<DebugTypeId>,
        choices: &mut Candidates<Choice<C>>,
    ) {
        let mode = self.host.input_bounds().aliasing;
        let inside = self.looks_inside(pointee);
        let mut candidates = state.input_objects.as_ref().clone();
        let (inputs, planted) = (candidates.len(), self.planted(Mistake::ProgramObjectsCandidates));
        candidates.extend(self.made_before(state, token, pointee));
        for (number, candidate) in candidates.iter().enumerate() {
            let wanted = |place: Option<u64>| match number < inputs || planted {
                true => Candidate::Known(candidate.object, place),
                false => Candidate::Made(candidate.object, place),
            };
            if self.planted(Mistake::FreedNoCandidates)
                && self.host.truth(&state.memory.object(candidate.object).alive) != Some(true)
            {
                continue;
            }
            let possible = match self.planted(Mistake::AliasWithoutExistence) {
                true => self.host.core().boolean(true),
                false => candidate.exists.clone(),
            };
            let target = Target::Object(candidate.object);
            // Memory without a type may hold anything anywhere.
            if mode == Aliasing::Raw || (candidate.ty.is_none() && pointee.is_some()) {
                if !self.host.may_be(state, id, wanted(None)) {
                    continue;
                }
                let (offset, fits) = self.anywhere(state, candidate.object, &token.name, pointee);
                let possible = self.host.core().boolop(BoolOp::And, &possible, &fits);
                choices.offer(Choice { target, offset, possible });
                continue;
            }
            if !self.host.may_be(state, id, wanted(None)) {
                continue;
            }
            let leads_there = |other: &Token<C>| {
                self.host.walk_together(token, other)
                    && other.entries.iter().any(|entry| entry.target == target)
            };
            if same_type(self.module, candidate.ty, pointee) && state.tokens.iter().any(leads_there) {
                let room = state.memory.object(candidate.object).capacity;
                for (offset, within) in self.along(token, &candidate.count, candidate.ty, room) {
                    let possible = self.host.core().boolop(BoolOp::And, &possible, &within);
                    choices.offer(Choice { target, offset, possible });
                }
                continue;
            }
            let places = match inside {
                true => positions(self.module, pointee, candidate.ty, MOST_POSITIONS + 1),
                false if same_type(self.module, candidate.ty, pointee) => vec![0],
                false => Vec::new(),
            };
            // Bytes may be anywhere, and so may be what there are many of, unless somebody knows where.
            if (places.len() > MOST_POSITIONS || size_of(self.module, pointee) == 1)
                && let Some(spots) = self.host.places(state, id, candidate.object)
            {
                for spots in spots {
                    let (offset, fits) = self.among(state, candidate.object, &token.name, pointee, &spots);
                    let possible = self.host.core().boolop(BoolOp::And, &possible, &fits);
                    choices.offer(Choice { target, offset, possible });
                }
                continue;
            }
            if places.len() > MOST_POSITIONS {
                choices.leave_out(Bound::Candidates(MOST_POSITIONS, "places in one object".into()));
            }
            for place in places.into_iter().take(MOST_POSITIONS) {
                if !self.host.may_be(state, id, wanted(Some(place))) {
                    continue;
                }
                let index = self.element(&token.name, mode, &candidate.count, candidate.ty);
                let offset = self.at(&index, candidate.ty, place);
                let possible = match index {
                    Some((_, within)) => self.host.core().boolop(BoolOp::And, &possible, &within),
                    None => possible.clone(),
                };
                choices.offer(Choice { target, offset, possible });
            }
        }
    }

    /// Objects that the program made and that a pointer which became unknown later may point to.
    fn made_before(
        &self,
        state: &State<C>,
        token: &Token<C>,
        pointee: Option<DebugTypeId>,
    ) -> Vec<InputObject<C>> {
        let planted = self.planted(Mistake::ProgramObjectsCandidates);
        let upto = match self.host.made_before(state, token) {
            0 if planted => u32::MAX,
            0 => return Vec::new(),
            made => made,
        };
        let inputs =
            |id| state.input_objects.iter().chain(state.private_inputs.iter()).any(|o| o.object == id);
        let made = state.memory.objects().take_while(|(id, _)| id.0 < upto);
        let made = made.filter(|(id, object)| match planted {
            true => object.kind == Kind::Heap,
            false => !object.read_only && !inputs(*id),
        });
        made.map(|(object, held)| InputObject {
            object,
            ty: match (planted, held.variable) {
                (false, Some(variable)) => strip(self.module, self.module.variables[variable.0 as usize].ty),
                (false, None) => None,
                (true, _) => pointee,
            },
            count: word(&self.host, 1),
            exists: self.host.core().boolean(true),
            depth: 0,
            name: String::new(),
        })
        .collect()
    }

    /// The number of an element and the condition that there is one; nothing for the first.
    fn element(
        &mut self,
        name: &str,
        mode: Aliasing,
        count: &C::Val,
        ty: Option<DebugTypeId>,
    ) -> Option<(C::Val, C::Bool)> {
        let one = self.host.value(64, count).is_some_and(|n| n.to_u64() == Some(1));
        if one || size_of(self.module, ty) == 0 || matches!(mode, Aliasing::Strict | Aliasing::Auto) {
            return None;
        }
        let most = self.host.input_bounds().array.max(UNTYPED);
        let index = self.number_up_to(most, &format!("index of {name}"));
        let core = self.host.core();
        let bound = match self.planted(Mistake::IndexUnbounded) {
            true => core.binop(BinOp::Add, 64, count, &word(&self.host, 1)),
            false => count.clone(),
        };
        let within = core.relop(RelOp::Ult, 64, &index, &bound);
        Some((index, within))
    }

    /// Places in an array for a pointer that walks it, and when there are such: any element, or one behind the last. Structures are told
    /// apart, since their fields are.
    fn along(
        &mut self,
        token: &Token<C>,
        count: &C::Val,
        ty: Option<DebugTypeId>,
        room: u64,
    ) -> Vec<(C::Val, C::Bool)> {
        let (name, element) = (&token.name, size_of(self.module, ty).max(1));
        let most = self.host.longest(token).max(room / element);
        let said = "input: pointers that the program subtracts or orders point to any element of an array, or one behind its last";
        self.host.assume(Premise::new(said));
        let indices = match is_record(self.module, ty) {
            true => (0..=most).map(|index| word(&self.host, index)).collect(),
            false => vec![self.number_up_to(most, &format!("index of {name}"))],
        };
        let step = word(&self.host, size_of(self.module, ty));
        let core = self.host.core();
        let place = |index: C::Val| {
            let within = core.relop(RelOp::Ule, 64, &index, count);
            (core.binop(BinOp::Mul, 64, &index, &step), within)
        };
        indices.into_iter().map(place).collect()
    }

    /// An unknown number of 64 bits with no more of them unknown than the largest needs: products and sums of such
    /// numbers do not wrap around, and are small questions.
    fn number_up_to(&mut self, most: u64, name: &str) -> C::Val {
        let width = (64 - most.leading_zeros()).clamp(1, 63) as u16;
        let low = self.host.selector(width, name);
        self.host.core().zext(width, 64, &low)
    }

    fn at(&self, index: &Option<(C::Val, C::Bool)>, ty: Option<DebugTypeId>, place: u64) -> C::Val {
        let place = word(&self.host, place);
        let Some((index, _)) = index else { return place };
        let core = self.host.core();
        let step = word(&self.host, size_of(self.module, ty));
        core.binop(BinOp::Add, 64, &core.binop(BinOp::Mul, 64, index, &step), &place)
    }

    /// An offset at which something of a type fits into `size` bytes, aligned.
    fn anywhere(
        &mut self,
        state: &State<C>,
        object: ObjectId,
        name: &str,
        ty: Option<DebugTypeId>,
    ) -> (C::Val, C::Bool) {
        let (size, room) = (state.memory.object(object).size.clone(), state.memory.object(object).capacity);
        let offset = self.number_up_to(room, &format!("offset of {name}"));
        let bytes = size_of(self.module, ty).max(1);
        let core = self.host.core();
        let end = core.binop(BinOp::Add, 64, &offset, &word(&self.host, bytes));
        let fits = core.relop(RelOp::Ule, 64, &end, &size);
        let no_wrap = core.relop(RelOp::Ule, 64, &offset, &size);
        let mask = 1 << bytes.trailing_zeros().min(3);
        let low = core.binop(BinOp::And, 64, &offset, &word(&self.host, mask - 1));
        let aligned = core.relop(RelOp::Eq, 64, &low, &word(&self.host, 0));
        let fits = core.boolop(BoolOp::And, &fits, &no_wrap);
        (offset, core.boolop(BoolOp::And, &fits, &aligned))
    }

    /// One of many places in an object, and the condition that there is one.
    fn among(
        &mut self,
        state: &State<C>,
        object: ObjectId,
        name: &str,
        ty: Option<DebugTypeId>,
        spots: &Spots,
    ) -> (C::Val, C::Bool) {
        let Spots::At(at, steps) = spots else { return self.anywhere(state, object, name, ty) };
        let (mut offset, mut fits) = (word(&self.host, *at), self.host.core().boolean(true));
        for (bytes, count) in steps.iter().filter(|(_, count)| *count != 1) {
            let index = self.number_up_to(count.saturating_sub(1), &format!("index of {name}"));
            let core = self.host.core();
            let within = core.relop(RelOp::Ult, 64, &index, &word(&self.host, *count));
            fits = core.boolop(BoolOp::And, &fits, &within);
            let step = core.binop(BinOp::Mul, 64, &index, &word(&self.host, *bytes));
            offset = core.binop(BinOp::Add, 64, &offset, &step);
        }
        (offset, fits)
    }

    /// New objects, within the bound: of the type itself, and of each structure that holds one.
    fn new_objects(
        &mut self,
        state: &mut State<C>,
        (id, token): (TokenId, &Token<C>),
        pointee: Option<DebugTypeId>,
        choices: &mut Candidates<Choice<C>>,
    ) -> Result<(), C> {
        let bounds = self.host.input_bounds();
        let raw = bounds.aliasing == Aliasing::Raw;
        let mut types = vec![(pointee, vec![0])];
        types.retain(|(ty, _)| self.host.may_be(state, id, Candidate::New(ty.filter(|_| !raw), 0)));
        if self.looks_inside(pointee) && pointee.is_some() && !self.planted(Mistake::NoContainers) {
            let mut around = 0;
            for ty in self.containers_of(pointee).iter().copied() {
                let mut places = positions(self.module, pointee, Some(ty), MOST_POSITIONS + 1);
                places.retain(|&place| self.host.may_be(state, id, Candidate::New(Some(ty), place)));
                if places.is_empty() {
                    continue;
                }
                around += 1;
                if around > MOST_CONTAINERS {
                    choices.leave_out(Bound::Candidates(
                        MOST_CONTAINERS,
                        "structures that hold one type".into(),
                    ));
                    break;
                }
                types.push((Some(ty), places));
            }
        }
        if token.depth >= bounds.chain {
            if !types.is_empty() {
                choices.leave_out(Bound::Chain(bounds.chain));
            }
            return Ok(());
        }
        let always = self.host.core().boolean(true);
        for (ty, places) in types {
            let allocated = ty.filter(|_| !raw);
            let known = self.new_input(state, token, allocated)?;
            self.host.discovered(id, known.object);
            let (target, count) = (Target::Object(known.object), known.count.clone());
            Arc::make_mut(&mut state.input_objects).push(known);
            if bounds.aliasing == Aliasing::Raw {
                let Target::Object(id) = target else { continue };
                let (offset, possible) = self.anywhere(state, id, &token.name, pointee);
                choices.offer(Choice { target, offset, possible });
                continue;
            }
            let Target::Object(object) = target else { continue };
            if self.host.walks(token) && same_type(self.module, ty, pointee) {
                for (offset, possible) in self.along(token, &count, ty, state.memory.object(object).capacity)
                {
                    choices.offer(Choice { target, offset, possible });
                }
                continue;
            }
            if places.len() > MOST_POSITIONS {
                if let Some(spots) = self.host.places(state, id, object) {
                    for spots in spots {
                        let (offset, possible) = self.among(state, object, &token.name, pointee, &spots);
                        choices.offer(Choice { target, offset, possible });
                    }
                    continue;
                }
                choices.leave_out(Bound::Candidates(MOST_POSITIONS, "places in one object".into()));
            }
            for place in places.into_iter().take(MOST_POSITIONS) {
                let index = self.element(&token.name, bounds.aliasing, &count, ty);
                let offset = self.at(&index, ty, place);
                let possible = index.map_or_else(|| always.clone(), |(_, within)| within);
                choices.offer(Choice { target, offset, possible });
            }
        }
        Ok(())
    }

    fn containers_of(&mut self, pointee: Option<DebugTypeId>) -> Arc<Vec<DebugTypeId>> {
        let module = self.module;
        let found = self.containers.entry(pointee);
        found.or_insert_with(|| Arc::new(containers(module, pointee, MOST_LOOKED_AT))).clone()
    }

    /// A new input object for a token: one structure, or an array of unknown length of anything else.
    fn new_input(
        &mut self,
        state: &mut State<C>,
        token: &Token<C>,
        pointee: Option<DebugTypeId>,
    ) -> Result<InputObject<C>, C> {
        let bounds = self.host.input_bounds();
        let element = size_of(self.module, pointee);
        let fill = Fill::Input(pointee.filter(|_| element > 0).map_or(u32::MAX, |t| t.0));
        let aggregate = is_record(self.module, pointee);
        let tail = flexible(self.module, pointee);
        let most = self.host.longest(token);
        if most > bounds.array {
            let words = format!("input: the array at {} has 1 to {most} elements", token.name);
            self.host.assume(Premise::new(words));
        }
        let many = bounds.aliasing == Aliasing::Elem || self.host.walks(token) || most > bounds.array;
        let single = aggregate && element > 0 && !many;
        let text = element == 1 && bounds.strings && !single;
        let one = word(&self.host, 1);
        let mut tail_length = None;
        let (count, size, capacity) = if element == 0 && bounds.aliasing != Aliasing::Raw {
            // Nobody says what is there (`void *`, a structure declared only): room enough for most uses.
            self.host.assume(Premise::new(format!("input: memory of unknown type is {UNTYPED} bytes")));
            (one, word(&self.host, UNTYPED), UNTYPED)
        } else if let Some(tail) = &tail {
            let len = self.host.selector(64, &format!("length of {}", token.name));
            self.host.assume(Premise::new(format!("input: flexible arrays have 0 to {most} elements")));
            let core = self.host.core();
            let few = core.relop(RelOp::Ule, 64, &len, &word(&self.host, most));
            let rest = core.binop(BinOp::Mul, 64, &len, &word(&self.host, tail.step));
            let end = core.binop(BinOp::Add, 64, &word(&self.host, tail.offset), &rest);
            // Padding may go further than the first elements do.
            let whole = word(&self.host, element);
            let size = core.cond(64, &core.relop(RelOp::Ult, 64, &end, &whole), &whole, &end);
            self.host.take(&mut state.path, few);
            tail_length = Some(len);
            (one, size, element.max(tail.offset + tail.step * most))
        } else if single {
            (one, word(&self.host, element), element)
        } else {
            let step = if element == 0 { 8 } else { element };
            let len = self.number_up_to(most, &format!("length of {}", token.name));
            let core = self.host.core();
            let some = core.relop(RelOp::Uge, 64, &len, &one);
            let few = core.relop(RelOp::Ule, 64, &len, &word(&self.host, most));
            let within = core.boolop(BoolOp::And, &some, &few);
            let size = core.binop(BinOp::Mul, 64, &len, &word(&self.host, step));
            self.host.take(&mut state.path, within);
            (len, size, step * most)
        };
        let object = self.place_input(state, &token.name, size, capacity, fill);
        if let (Some(len), Some(at)) = (tail_length, tail.and_then(|tail| tail.count_at)) {
            self.counted(state, object, pointee, at, &len)?;
        }
        if text {
            self.ended(state, object, pointee, &count, most)?;
        }
        let exists = self.host.core().boolean(false);
        let (depth, name) = (token.depth, token.name.clone());
        Ok(InputObject { object, ty: pointee, count, exists, depth, name })
    }

    /// `--strings`: one of the bytes is zero.
    fn ended(
        &mut self,
        state: &mut State<C>,
        object: ObjectId,
        ty: Option<DebugTypeId>,
        len: &C::Val,
        most: u64,
    ) -> Result<(), C> {
        let mut some = self.host.core().boolean(false);
        for at in 0..most {
            self.define_input(state, object, ty.map_or(u32::MAX, |t| t.0), at)?;
            let Some(InputCell::Bits(_, _, _, byte)) = state.input_cells.newest_first().next() else {
                continue;
            };
            let core = self.host.core();
            let zero = core.relop(RelOp::Eq, 8, byte, &core.constant(&Bits::zero(8)));
            let inside = core.relop(RelOp::Ult, 64, &word(&self.host, at), len);
            some = core.boolop(BoolOp::Or, &some, &core.boolop(BoolOp::And, &zero, &inside));
        }
        self.host.take(&mut state.path, some);
        Ok(())
    }

    /// `counted_by`: the field at `at` is the number of elements.
    fn counted(
        &mut self,
        state: &mut State<C>,
        object: ObjectId,
        ty: Option<DebugTypeId>,
        at: u64,
        len: &C::Val,
    ) -> Result<(), C> {
        self.define_input(state, object, ty.map_or(u32::MAX, |t| t.0), at)?;
        let Some(InputCell::Bits(_, _, bytes, count)) = state.input_cells.newest_first().next() else {
            return Ok(());
        };
        let core = self.host.core();
        let width = (*bytes * 8).min(64) as u16;
        let wide = if width == 64 { count.clone() } else { core.zext(width, 64, count) };
        let same = core.relop(RelOp::Eq, 64, &wide, len);
        self.host.take(&mut state.path, same);
        Ok(())
    }

    /// Memory at an address that nobody knows: somewhere in the region of inputs, at a multiple of 16.
    fn place_input(
        &mut self,
        state: &mut State<C>,
        name: &str,
        size: C::Val,
        capacity: u64,
        fill: Fill,
    ) -> ObjectId {
        let (object, _) = self.allocate(state, Kind::Input, size, capacity, 16, fill, None);
        let middle = self.host.selector(40, &format!("address of {name}"));
        let core = self.host.core();
        let high = core.concat(20, 40, &core.constant(&Bits::new(20, INPUT_REGION)), &middle);
        let address = core.concat(60, 4, &high, &core.constant(&Bits::zero(4)));
        state.memory.place(object, address);
        object
    }

    /// Input memory that a number happens to be the address of, though no pointer has led to it: one more choice.
    pub(super) fn undiscovered(&mut self, state: &mut State<C>, under: &C::Bool, bits: &C::Val) -> Entry<C> {
        let size = UNTYPED;
        let name = "memory at a number";
        let fill = Fill::Input(u32::MAX);
        let object = self.place_input(state, name, word(&self.host, size), size, fill);
        let bit = self.host.selector(1, "choice of a number");
        let core = self.host.core();
        let exists = core.boolop(BoolOp::And, under, &core.val_to_bool(1, &bit));
        let count = word(&self.host, size);
        let known =
            InputObject { object, ty: None, count, exists: exists.clone(), depth: 0, name: name.into() };
        Arc::make_mut(&mut state.input_objects).push(known);
        self.observe(state, Target::Object(object));
        let core = self.host.core();
        let address = state.memory.object(object).address.clone().unwrap_or_else(|| word(&self.host, 0));
        let offset = core.binop(BinOp::Sub, 64, bits, &address);
        let inside = core.relop(RelOp::Ult, 64, &offset, &word(&self.host, size));
        let side = core.boolop(BoolOp::Implies, &exists, &inside);
        self.host.take(&mut state.path, side);
        Entry::<C> { guard: exists, target: Target::Object(object), offset }
    }
}
