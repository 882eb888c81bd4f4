//! Pointers as numbers, and numbers as pointers.
//!
//! An address is a number only where the program looks at it as one. Objects of the program have fixed addresses;
//! memory that existed before has an unknown one, of which nothing is said until it is looked at: then it is apart from
//! every other such address that was (under the condition that both objects exist).

use super::host::{Host, Relation};
use super::memory::Memory;
use super::mistake::Mistake;
use super::pointers::{FIRST_PAGE, bits_of, join, number, pointers, shift, word};
use super::value::{Entry, ObjectId, Pointer, Target, Value};
use super::{CODE, CODE_STEP, Machine, Result, State, Stop, code_address};
use parallax_cmodule::{Compare, FunctionId};
use parallax_heap::set::GuardedSets;
use parallax_op::{BinOp, Bits, BoolOp, RelOp, UnOp};
use parallax_path::Split;
use parallax_sem::Core;
use smallvec::SmallVec;

/// Constants that an address may be among before it is treated as an unknown number.
const MOST_CONSTANTS: usize = 64;
/// Objects that an unknown number is compared with; where there are more, it is fixed value by value.
const MOST_OBJECTS: usize = 256;

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    /// Address of the start of a target.
    fn base(&self, memory: &Memory<C>, target: Target) -> C::Val {
        match target {
            Target::Null | Target::Number | Target::Token(_) => word(&self.host, 0),
            Target::Function(function) => word(&self.host, code_address(function)),
            Target::Object(id) => match self.global_bases.get(id.0 as usize) {
                // Globals come first, so that constants need no memory.
                Some(&base) => word(&self.host, base),
                None => {
                    let object = memory.object(id);
                    object.address.clone().unwrap_or_else(|| word(&self.host, object.base))
                }
            },
        }
    }

    fn address(&self, memory: &Memory<C>, entry: &Entry<C>) -> C::Val {
        match entry.target {
            Target::Null | Target::Number => entry.offset.clone(),
            target => self.host.core().binop(BinOp::Add, 64, &entry.offset, &self.base(memory, target)),
        }
    }

    /// The program looks at an address: from here on it is apart from the others that were looked at.
    pub(super) fn observe(&mut self, state: &mut State<C>, target: Target) {
        let Target::Object(id) = target else { return };
        if !state.unknown_memory || state.observed.contains(&id) {
            return;
        }
        let exists = self.exists(state, id);
        let input = |id: ObjectId| state.memory.object(id).address.is_some();
        let others: Vec<ObjectId> = if input(id) {
            state.observed.iter().copied().filter(|&o| input(o)).collect()
        } else {
            Vec::new()
        };
        for other in &others {
            let core = self.host.core();
            let both = core.boolop(BoolOp::And, &exists, &self.exists(state, *other));
            let after = |host: &H, first: ObjectId, second: ObjectId| {
                let object = state.memory.object(first);
                let base = object.address.clone().unwrap_or_else(|| word(host, object.base));
                let end = host.core().binop(BinOp::Add, 64, &base, &word(host, object.capacity));
                let next = state.memory.object(second).address.clone().unwrap_or_else(|| word(host, 0));
                host.core().relop(RelOp::Ult, 64, &end, &next)
            };
            let apart =
                core.boolop(BoolOp::Or, &after(&self.host, id, *other), &after(&self.host, *other, id));
            let apart = core.boolop(BoolOp::Implies, &both, &apart);
            if !self.planted(Mistake::BasesOverlap) {
                self.host.take(&mut state.path, apart);
            }
        }
        std::sync::Arc::make_mut(&mut state.observed).push(id);
    }

    /// Whether an input object exists.
    fn exists(&self, state: &State<C>, id: ObjectId) -> C::Bool {
        let known = state.input_objects.iter().find(|object| object.object == id);
        known.map_or_else(|| self.host.core().boolean(true), |object| object.exists.clone())
    }

    /// The number that a scalar is: NUMERIC use, which decides tokens first.
    pub(super) fn exposed(&mut self, state: &mut State<C>, value: &Value<C>) -> Result<C::Val, C> {
        match value {
            Value::Bits(bits) => Ok(bits.clone()),
            Value::Pointer(pointer) => {
                self.in_time()?;
                if self.planted(Mistake::TokenIsSymbol)
                    && pointer.entries.iter().any(|e| matches!(e.target, Target::Token(_)))
                {
                    return Ok(self.host.selector(64, "raw"));
                }
                let pointer = self.resolved(state, pointer)?;
                let mut result: Option<C::Val> = None;
                for entry in &pointer.entries {
                    self.observe(state, entry.target);
                    let here = self.address(&state.memory, entry);
                    result = Some(match result {
                        None => here,
                        Some(rest) => self.host.core().cond(64, &entry.guard, &here, &rest),
                    });
                }
                Ok(result.unwrap_or_else(|| word(&self.host, 0)))
            }
            Value::Part(pointer, byte) => {
                let whole = self.exposed(state, &Value::Pointer((**pointer).clone()))?;
                Ok(self.host.core().extract(64, u16::from(*byte) * 8, 8, &whole))
            }
            Value::Many(_) => Err(Stop::Unsupported("an aggregate where a number is meant".into())),
        }
    }

    /// A value with every pointer in it made a number.
    pub(super) fn plain(&mut self, state: &mut State<C>, value: &Value<C>) -> Result<Value<C>, C> {
        Ok(match value {
            Value::Bits(_) => value.clone(),
            Value::Many(values) => {
                if values.iter().all(|v| matches!(v, Value::Bits(_))) {
                    return Ok(value.clone());
                }
                Value::many(values.iter().map(|v| self.plain(state, v)).collect::<Result<_, C>>()?)
            }
            pointer => Value::Bits(self.exposed(state, pointer)?),
        })
    }

    /// `a` where `guard` holds, `b` elsewhere.
    pub(super) fn joined(
        &mut self,
        state: &mut State<C>,
        guard: &C::Bool,
        a: &Value<C>,
        b: &Value<C>,
        width: u16,
    ) -> Result<Value<C>, C> {
        if let Some(joined) = join(&self.host, guard, a, b, width) {
            return Ok(joined);
        }
        let (a, b) = (self.plain(state, a)?, self.plain(state, b)?);
        join(&self.host, guard, &a, &b, width).ok_or(Stop::Dead)
    }

    /// The pointer that a value is, with tokens decided and numbers looked up.
    pub(super) fn pointer(&mut self, state: &mut State<C>, value: &Value<C>) -> Result<Pointer<C>, C> {
        let pointer = match value {
            Value::Pointer(pointer) => self.resolved(state, pointer)?,
            Value::Bits(bits) => {
                if self.host.value(64, bits).is_none() {
                    let null = self.host.core().relop(RelOp::Eq, 64, bits, &word(&self.host, 0));
                    self.check_defined(state, &null, "an uninitialised pointer is used")?;
                }
                number(&self.host, bits)
            }
            Value::Part(..) => {
                let bits = self.exposed(state, value)?;
                number(&self.host, &bits)
            }
            Value::Many(_) => {
                return Err(Stop::Unsupported("a vector of pointers where one pointer is meant".into()));
            }
        };
        if !pointer.entries.iter().any(|entry| entry.target == Target::Number) {
            return Ok(pointer);
        }
        let mut found = Vec::new();
        for entry in &pointer.entries {
            if entry.target == Target::Number {
                found.extend(self.number_to_pointer(state, &entry.guard, &entry.offset)?);
            } else {
                found.push(entry.clone());
            }
        }
        Ok(Pointer { entries: pointers::<C, H>(&self.host).join(found) })
    }

    /// The pointer with a known address.
    fn pointer_at(&self, state: &State<C>, address: u64) -> (Target, u64) {
        if let Some((object, offset)) = state.memory.at_address(address) {
            return (Target::Object(object), offset);
        }
        for &id in state.memory.placed() {
            let object = state.memory.object(id);
            let base = object.address.as_ref().and_then(|a| self.host.value(64, a)).and_then(|b| b.to_u64());
            if let Some(offset) = base.and_then(|base| address.checked_sub(base))
                && offset <= object.capacity
            {
                return (Target::Object(id), offset);
            }
        }
        let functions = self.module.functions.len() as u64;
        if address >= CODE && address < CODE + functions * CODE_STEP && address.is_multiple_of(CODE_STEP) {
            return (Target::Function(FunctionId(((address - CODE) / CODE_STEP) as u32)), 0);
        }
        (Target::Null, address)
    }

    /// I2P: what a number points to, under a condition. The first that fits: an object (of unknown memory: whose address was
    /// looked at),
    /// nothing below the first page, input memory nobody has come across, and otherwise nothing at all.
    fn number_to_pointer(
        &mut self,
        state: &mut State<C>,
        under: &C::Bool,
        bits: &C::Val,
    ) -> Result<Vec<Entry<C>>, C> {
        if self.host.truth(under) != Some(true)
            && matches!(self.host.split(&state.path, under), Split::False | Split::Neither)
        {
            return Ok(Vec::new());
        }
        let core = self.host.core();
        let constants = match self.host.value(64, bits) {
            Some(constant) => Some(vec![(core.boolean(true), constant)]),
            None => core.targets(64, bits).filter(|list| list.len() <= MOST_CONSTANTS),
        };
        if let Some(constants) = constants {
            let entry = |(guard, constant): &(C::Bool, Bits)| {
                let (target, offset) = self.pointer_at(state, constant.to_u64().unwrap_or(0));
                let guard = core.boolop(BoolOp::And, under, guard);
                Entry::<C> { guard, target, offset: word(&self.host, offset) }
            };
            return Ok(constants.iter().map(entry).collect());
        }
        let mut entries = Vec::new();
        let mut rest = under.clone();
        let candidates: Vec<ObjectId> = match state.unknown_memory {
            true => state.observed.to_vec(),
            false if state.memory.len() <= MOST_OBJECTS => state.memory.objects().map(|(id, _)| id).collect(),
            false => {
                let address = self.fix(state, 64, bits)?.to_u64().unwrap_or(0);
                let (target, offset) = self.pointer_at(state, address);
                return Ok(vec![Entry::<C> {
                    guard: under.clone(),
                    target,
                    offset: word(&self.host, offset),
                }]);
            }
        };
        for id in &candidates {
            let core = self.host.core();
            let object = state.memory.object(*id);
            let base = self.base(&state.memory, Target::Object(*id));
            let offset = core.binop(BinOp::Sub, 64, bits, &base);
            let inside = core.relop(RelOp::Ule, 64, &offset, &object.size);
            let inside = core.boolop(BoolOp::And, &inside, &self.exists(state, *id));
            let guard = core.boolop(BoolOp::And, &rest, &inside);
            rest = core.boolop(BoolOp::And, &rest, &core.not(&inside));
            entries.push(Entry::<C> { guard, target: Target::Object(*id), offset });
        }
        let core = self.host.core();
        let small = core.relop(RelOp::Ult, 64, bits, &word(&self.host, FIRST_PAGE));
        let large = core.boolop(BoolOp::And, &rest, &core.not(&small));
        let mut nothing = rest;
        if state.unknown_memory
            && !self.planted(Mistake::NoUndiscovered)
            && !matches!(self.host.split(&state.path, &large), Split::False | Split::Neither)
        {
            let entry = self.undiscovered(state, &large, bits);
            let core = self.host.core();
            nothing = core.boolop(BoolOp::And, &nothing, &core.not(&entry.guard));
            entries.push(entry);
        }
        // A use of this ends the path, so that nothing later can be found to lie there.
        entries.push(Entry::<C> { guard: nothing, target: Target::Null, offset: bits.clone() });
        Ok(entries)
    }

    /// Comparison of scalars: by object where that decides, by address where it does not.
    pub(super) fn compare(
        &mut self,
        state: &mut State<C>,
        op: Compare,
        width: u16,
        a: &Value<C>,
        b: &Value<C>,
    ) -> Result<C::Bool, C> {
        match (a, b) {
            (Value::Bits(a), Value::Bits(b)) => return Ok(self.host.core().relop(op, width, a, b)),
            (Value::Part(..), _) | (_, Value::Part(..)) => {
                let (a, b) = (self.exposed(state, a)?, self.exposed(state, b)?);
                return Ok(self.host.core().relop(op, width, &a, &b));
            }
            (Value::Many(_), _) | (_, Value::Many(_)) => {
                return Err(Stop::Unsupported("a comparison of aggregates".into()));
            }
            _ => {}
        }
        if matches!(op, RelOp::Eq | RelOp::Ne)
            && let Some(null) = self.tested_for_null(state, a, b)
        {
            return Ok(if op == RelOp::Eq { null } else { self.host.core().not(&null) });
        }
        let how = if matches!(op, RelOp::Eq | RelOp::Ne) { Relation::Equated } else { Relation::Ordered };
        self.related(state, a, b, how);
        let (a, b) = (self.settled(state, a, b)?, self.settled(state, b, a)?);
        let mut result = self.host.core().boolean(false);
        for x in &a.entries {
            for y in &b.entries {
                let core = self.host.core();
                let both = core.boolop(BoolOp::And, &x.guard, &y.guard);
                if self.host.truth(&both) == Some(false) {
                    continue;
                }
                let holds = self.compare_entries(state, op, &both, x, y);
                let core = self.host.core();
                result = core.boolop(BoolOp::Or, &result, &core.boolop(BoolOp::And, &both, &holds));
            }
        }
        Ok(result)
    }

    /// Tells of input pointers that are related to each other.
    fn related(&mut self, state: &State<C>, a: &Value<C>, b: &Value<C>, how: Relation) {
        let (Value::Pointer(a), Value::Pointer(b)) = (a, b) else { return };
        for (x, y) in a.entries.iter().flat_map(|x| b.entries.iter().map(move |y| (x.target, y.target))) {
            if let (Target::Token(x), Target::Token(y)) = (x, y)
                && x != y
            {
                self.host.relates(state, x, y, how);
            }
        }
    }

    /// Tokens decided, unless both sides are one and the same token.
    fn settled(
        &mut self,
        state: &mut State<C>,
        value: &Value<C>,
        against: &Value<C>,
    ) -> Result<Pointer<C>, C> {
        let token = |value: &Value<C>| match value {
            Value::Pointer(pointer) => match pointer.only().map(|entry| entry.target) {
                Some(Target::Token(token)) => Some(token),
                _ => None,
            },
            _ => None,
        };
        match value {
            Value::Pointer(pointer) if token(value).is_some() && token(value) == token(against) => {
                Ok(pointer.clone())
            }
            Value::Pointer(pointer) => self.resolved(state, pointer),
            other => Ok(number(&self.host, &bits_of(other)?)),
        }
    }

    fn compare_entries(
        &mut self,
        state: &mut State<C>,
        op: Compare,
        both: &C::Bool,
        x: &Entry<C>,
        y: &Entry<C>,
    ) -> C::Bool {
        if x.target == y.target {
            let core = self.host.core();
            if self.planted(Mistake::EqualIgnoresOffset) && op == RelOp::Eq {
                return core.boolean(true);
            }
            // An offset may be just before the object: there it is negative.
            let op = match op {
                _ if matches!(x.target, Target::Null | Target::Number) => op,
                RelOp::Ult => RelOp::Slt,
                RelOp::Ule => RelOp::Sle,
                RelOp::Ugt => RelOp::Sgt,
                RelOp::Uge => RelOp::Sge,
                other => other,
            };
            return core.relop(op, 64, &x.offset, &y.offset);
        }
        if matches!(op, RelOp::Eq | RelOp::Ne) && self.apart(state, both, x, y) {
            return self.host.core().boolean(op == RelOp::Ne);
        }
        self.observe(state, x.target);
        self.observe(state, y.target);
        let (x, y) = (self.address(&state.memory, x), self.address(&state.memory, y));
        self.host.core().relop(op, 64, &x, &y)
    }

    /// Whether two alternatives with different targets are certainly not equal: addresses of no object are small, and
    /// within their objects (or one past the end) two pointers are never the same, since objects do not touch.
    fn apart(&mut self, state: &mut State<C>, both: &C::Bool, x: &Entry<C>, y: &Entry<C>) -> bool {
        let core = self.host.core();
        let mut wanted = core.boolean(true);
        for entry in [x, y] {
            let object_like = match entry.target {
                Target::Object(id) => {
                    core.relop(RelOp::Ule, 64, &entry.offset, &state.memory.object(id).size)
                }
                Target::Null => core.relop(RelOp::Ult, 64, &entry.offset, &word(&self.host, FIRST_PAGE)),
                Target::Function(_) => core.relop(RelOp::Eq, 64, &entry.offset, &word(&self.host, 0)),
                Target::Number | Target::Token(_) => return false,
            };
            wanted = core.boolop(BoolOp::And, &wanted, &object_like);
        }
        let wanted = core.boolop(BoolOp::Implies, both, &wanted);
        match self.host.truth(&wanted) {
            Some(certain) => certain,
            None => self.host.split(&state.path, &wanted) == Split::True,
        }
    }

    /// The difference of two pointers in bytes, alternative by alternative: bases cancel within one object.
    fn difference(&mut self, state: &mut State<C>, a: &Value<C>, b: &Value<C>) -> Result<C::Val, C> {
        self.related(state, a, b, Relation::Subtracted);
        let (a, b) = (self.settled(state, a, b)?, self.settled(state, b, a)?);
        let mut result: Option<C::Val> = None;
        for x in &a.entries {
            for y in &b.entries {
                let core = self.host.core();
                let both = core.boolop(BoolOp::And, &x.guard, &y.guard);
                if self.host.truth(&both) == Some(false) {
                    continue;
                }
                let distance = if x.target == y.target {
                    core.binop(BinOp::Sub, 64, &x.offset, &y.offset)
                } else {
                    self.observe(state, x.target);
                    self.observe(state, y.target);
                    let (x, y) = (self.address(&state.memory, x), self.address(&state.memory, y));
                    self.host.core().binop(BinOp::Sub, 64, &x, &y)
                };
                result = Some(match result {
                    None => distance,
                    Some(rest) => self.host.core().cond(64, &both, &distance, &rest),
                });
            }
        }
        Ok(result.unwrap_or_else(|| word(&self.host, 0)))
    }

    /// Integer arithmetic on scalars, pointers kept as long as the result still is one.
    pub(super) fn binary_scalar(
        &mut self,
        state: &mut State<C>,
        op: BinOp,
        width: u16,
        a: &Value<C>,
        b: &Value<C>,
    ) -> Result<Value<C>, C> {
        match (op, a, b) {
            (_, Value::Bits(a), Value::Bits(b)) => {
                return Ok(Value::Bits(self.host.core().binop(op, width, a, b)));
            }
            (BinOp::Add, Value::Pointer(p), Value::Bits(by))
            | (BinOp::Add, Value::Bits(by), Value::Pointer(p)) => {
                return Ok(Value::Pointer(shift(&self.host, p, by)));
            }
            (BinOp::Sub, Value::Pointer(p), Value::Bits(by)) => {
                let back = self.host.core().unop(UnOp::Neg, 64, by);
                return Ok(Value::Pointer(shift(&self.host, p, &back)));
            }
            (BinOp::Sub, Value::Pointer(_), Value::Pointer(_)) => {
                return Ok(Value::Bits(self.difference(state, a, b)?));
            }
            (BinOp::And | BinOp::Or | BinOp::Xor, Value::Pointer(p), Value::Bits(mask))
            | (BinOp::And | BinOp::Or | BinOp::Xor, Value::Bits(mask), Value::Pointer(p)) => {
                let p = self.resolved(state, p)?;
                if let Some(result) = self.masked(op, &p, mask) {
                    return Ok(result);
                }
            }
            _ => {}
        }
        let (a, b) = (self.exposed(state, a)?, self.exposed(state, b)?);
        Ok(Value::Bits(self.host.core().binop(op, width, &a, &b)))
    }

    /// Masks that concern only the low four bits act on the offset, because every base is a multiple of 16.
    fn masked(&self, op: BinOp, pointer: &Pointer<C>, mask: &C::Val) -> Option<Value<C>> {
        let core = self.host.core();
        let constant = self.host.value(64, mask)?.to_u64()?;
        let keeps_object = match op {
            BinOp::And => constant >= !15,
            _ => constant <= 15,
        };
        if keeps_object {
            let entries: SmallVec<_> = pointer
                .entries
                .iter()
                .map(|entry| Entry::<C> { offset: core.binop(op, 64, &entry.offset, mask), ..entry.clone() })
                .collect();
            return Some(Value::Pointer(Pointer { entries }));
        }
        if op == BinOp::And && constant <= 15 {
            let mut result = word(&self.host, 0);
            for entry in &pointer.entries {
                let low = core.binop(BinOp::And, 64, &entry.offset, mask);
                result = core.cond(64, &entry.guard, &low, &result);
            }
            return Some(Value::Bits(result));
        }
        None
    }
}
