//! Two states at one place made one: values joined under the condition that tells them apart.
//!
//! Merging is refused, and the states go on by themselves, where one state cannot say what the two did: different
//! inputs asked for, different output, different objects under one number. What one of them alone has made or looked at
//! is kept, under its condition.

use super::content::Raw;
use super::host::Host;
use super::inputs::{InputCell, InputObject, Token};
use super::log::{Log, Write};
use super::memory::Object;
use super::output::Output;
use super::pointers::join;
use super::state::{Entered, Exits, Frame, Path};
use super::value::{ObjectId, Pointer, Target, Value};
use super::{Machine, State};
use parallax_cmodule::{FunctionId, TypeId, TypeKind};
use parallax_op::BoolOp;
use parallax_path::Chain;
use parallax_sem::Core;
use std::rc::Rc;
use std::sync::Arc;

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    /// One state for two that were one before; or both again.
    #[allow(clippy::result_large_err, reason = "states are moved either way")]
    pub fn merge(&mut self, a: State<C>, b: State<C>) -> Result<State<C>, (State<C>, State<C>)> {
        if !self.alike(&a, &b) {
            return Err((a, b));
        }
        let (mut left, mut right) = (a.clone(), b.clone());
        match self.merged(&mut left, &mut right) {
            Some(merged) => Ok(merged),
            None => Err((a, b)),
        }
    }

    /// What must be the same for one state to stand for both. States are taken apart field by field, here and where they
    /// are joined: a new field does not compile until its merging is decided.
    fn alike(&self, a: &State<C>, b: &State<C>) -> bool {
        let State {
            frames,
            output,
            inputs,
            unknowns,
            private_inputs,
            observed,
            unknown_memory,
            entry_arguments,
            files,
            failures,
            exits,
            fixes,
            // Objects and input cells are compared one by one below.
            memory: _,
            tokens: _,
            input_objects: _,
            input_cells: _,
            // Joined, whatever they are.
            path: _,
            steps: _,
            serials: _,
            visits: _,
            forks: _,
            entered: _,
            // Those of either state will do: how a path is shown, where it waits next, what it is called.
            events: _,
            joins: _,
            id: _,
            // The host says what is kept.
            merged: _,
        } = a;
        let same_inputs = |x: &(String, u16, C::Val), y: &(String, u16, C::Val)| (&x.0, x.1) == (&y.0, y.1);
        let same_private = |x: &InputObject<C>, y: &InputObject<C>| x.object == y.object;
        frames.len() == b.frames.len()
            && frames.iter().zip(&b.frames).all(|(x, y)| Rc::ptr_eq(x, y) || alike_frames(x, y))
            && inputs.len() == b.inputs.len()
            && (inputs.same(&b.inputs)
                || inputs.newest_first().zip(b.inputs.newest_first()).all(|(x, y)| same_inputs(x, y)))
            && output.len() == b.output.len()
            && (output.same(&b.output)
                || output.newest_first().zip(b.output.newest_first()).all(|(x, y)| alike_output(x, y)))
            && unknowns.same(&b.unknowns)
            && private_inputs.len() == b.private_inputs.len()
            && private_inputs.iter().zip(b.private_inputs.iter()).all(|(x, y)| same_private(x, y))
            && observed == &b.observed
            && *unknown_memory == b.unknown_memory
            && Arc::ptr_eq(entry_arguments, &b.entry_arguments)
            && files.same(&b.files)
            && *failures == b.failures
            && (Rc::ptr_eq(exits, &b.exits) || alike_exits(exits, &b.exits))
            && *fixes == b.fixes
            && self.same_objects(a, b)
    }

    /// Whether objects with one number are one object, as far as both states have them.
    fn same_objects(&self, a: &State<C>, b: &State<C>) -> bool {
        let gone = |alive: &C::Bool| self.host.truth(alive) == Some(false);
        let common = a.memory.len().min(b.memory.len());
        let memory = (0..common as u32).map(ObjectId).all(|id| {
            if a.memory.same(&b.memory, id) {
                return true;
            }
            let (x, y) = (a.memory.object(id), b.memory.object(id));
            let Object {
                kind,
                capacity,
                base,
                read_only,
                content,
                address,
                alive,
                // Joined.
                size: _,
                // For messages; objects of one number and place in memory are mostly one.
                variable: _,
                made_in: _,
                made_at: _,
            } = x;
            (gone(alive) && gone(&y.alive))
                || (kind == &y.kind
                    && (*capacity, *base, *read_only) == (y.capacity, y.base, y.read_only)
                    && content.fill == y.content.fill
                    // Unwritten input bytes have one name each, whoever reads them.
                    && (!matches!(content.fill, super::Fill::Input(_))
                        || content.hidden.is_some() == y.content.hidden.is_some())
                    && match (address, &y.address) {
                        (None, None) => true,
                        (Some(p), Some(q)) => {
                            self.host.truth(&self.host.core().relop(parallax_op::RelOp::Eq, 64, p, q))
                                == Some(true)
                        }
                        _ => false,
                    })
        });
        memory && self.same_inputs(a, b)
    }

    /// Whether what both looked at of input memory since they parted is the same, in the same order.
    fn same_inputs(&self, a: &State<C>, b: &State<C>) -> bool {
        let same_token = |(x, y): (&Token<C>, &Token<C>)| {
            let Token { name, origin: _, pointee, depth: _, nonnull, null: _, done: _, entries: _ } = x;
            (name, pointee, nonnull) == (&y.name, &y.pointee, &y.nonnull)
        };
        let same_object = |(x, y): (&InputObject<C>, &InputObject<C>)| {
            let InputObject { object, ty, count: _, exists: _, depth: _, name: _ } = x;
            (object, ty) == (&y.object, &y.ty)
        };
        let tokens = a.tokens.iter().zip(b.tokens.iter()).all(same_token);
        let known = a.input_objects.iter().zip(b.input_objects.iter()).all(same_object);
        let cells = a.input_cells.since(&b.input_cells).into_iter().zip(b.input_cells.since(&a.input_cells));
        let cells = cells.into_iter().all(|(x, y)| match (x, y) {
            (InputCell::Pointer(o, at, t), InputCell::Pointer(p, bt, u)) => (o, at, t) == (p, bt, u),
            (InputCell::Bits(o, at, len, _), InputCell::Bits(p, bt, other, _)) => {
                (o, at, len) == (p, bt, other)
            }
            _ => false,
        });
        tokens && known && cells
    }

    fn merged(&mut self, a: &mut State<C>, b: &mut State<C>) -> Option<State<C>> {
        let (guard, path) = self.either(&a.path, &b.path);
        self.share_inputs(a, b);
        self.share_inputs(b, a);
        let mut frames = Vec::with_capacity(a.frames.len());
        for (x, y) in a.frames.iter().zip(&b.frames) {
            frames.push(if Rc::ptr_eq(x, y) { x.clone() } else { Rc::new(self.join_frames(&guard, x, y)?) });
        }
        let memory = self.join_memories(&guard, a, b)?;
        // Joining may have looked at more input memory, on one side or both.
        if !self.same_inputs(a, b) {
            return None;
        }
        let other = self.host.core().not(&guard);
        let output = match a.output.same(&b.output) {
            true => a.output.clone(),
            false => self.join_output(&guard, &a.output, &b.output)?,
        };
        let mut visits = (*a.visits).clone();
        for (key, &count) in b.visits.iter() {
            let here = visits.entry(*key).or_insert(0);
            *here = (*here).max(count);
        }
        let mut state = State {
            frames,
            memory,
            path,
            output,
            visits: Arc::new(visits),
            entered: self.join_entered(&guard, &other, a, b),
            steps: a.steps.max(b.steps),
            serials: a.serials.max(b.serials),
            forks: a.forks.max(b.forks),
            // Joined by `join_tokens`.
            tokens: a.tokens.clone(),
            input_objects: a.input_objects.clone(),
            input_cells: a.input_cells.clone(),
            // The same in both, or either will do: see `alike`.
            events: a.events.clone(),
            inputs: a.inputs.clone(),
            unknowns: a.unknowns.clone(),
            private_inputs: a.private_inputs.clone(),
            observed: a.observed.clone(),
            unknown_memory: a.unknown_memory,
            entry_arguments: a.entry_arguments.clone(),
            files: a.files.clone(),
            failures: a.failures,
            exits: a.exits.clone(),
            fixes: a.fixes,
            joins: a.joins.clone(),
            id: a.id,
            merged: None,
        };
        self.join_tokens(&guard, &other, &mut state, b);
        Some(state)
    }

    fn join_output(
        &self,
        guard: &C::Bool,
        a: &Chain<(i32, Output<C::Val>)>,
        b: &Chain<(i32, Output<C::Val>)>,
    ) -> Option<Chain<(i32, Output<C::Val>)>> {
        let core = self.host.core();
        let mut joined = Chain::default();
        for ((file, x), (_, y)) in a.to_vec().into_iter().zip(b.to_vec()) {
            let piece = match (x, y) {
                (Output::Byte(x), Output::Byte(y)) => Output::Byte(core.cond(8, guard, x, y)),
                (Output::Number(x, form), Output::Number(y, _)) => {
                    Output::Number(core.cond(64, guard, x, y), *form)
                }
                _ => return None,
            };
            joined.push((*file, piece));
        }
        Some(joined)
    }

    /// The edges that either state entered, each under the condition of the states that did.
    fn join_entered(&self, guard: &C::Bool, other: &C::Bool, a: &State<C>, b: &State<C>) -> Arc<Entered<C>> {
        if Arc::ptr_eq(&a.entered, &b.entered) {
            return a.entered.clone();
        }
        let core = self.host.core();
        let mut joined = Entered::<C>::default();
        for (edge, x) in a.entered.iter() {
            joined.insert(
                *edge,
                match b.entered.get(edge) {
                    Some(y) => core.cond_bool(guard, x, y),
                    None => core.boolop(BoolOp::And, guard, x),
                },
            );
        }
        for (edge, y) in b.entered.iter().filter(|(edge, _)| !a.entered.contains_key(edge)) {
            joined.insert(*edge, core.boolop(BoolOp::And, other, y));
        }
        Arc::new(joined)
    }

    /// The condition that tells two paths apart, and the path that either is.
    fn either(&self, a: &Path<C>, b: &Path<C>) -> (C::Bool, Path<C>) {
        let core = self.host.core();
        let (x, y) = (a.conjuncts().since(b.conjuncts()), b.conjuncts().since(a.conjuncts()));
        let all = |conjuncts: &[&(C::Bool, ())]| {
            conjuncts.iter().fold(core.boolean(true), |all, (c, ())| core.boolop(BoolOp::And, &all, c))
        };
        let mut conjuncts = a.conjuncts().without(x.len());
        // Two sides of one branch: its condition is enough to tell them apart.
        if let (Some(((first, ()), rest)), Some(((second, ()), others))) = (x.split_first(), y.split_first())
            && self.host.truth(&core.boolop(BoolOp::Xor, first, second)) == Some(true)
        {
            let side = core.cond_bool(first, &all(rest), &all(others));
            if self.host.truth(&side) != Some(true) {
                conjuncts.push((side, ()));
            }
            return (first.clone(), a.weakened(b, conjuncts));
        }
        let guard = all(&x);
        conjuncts.push((core.boolop(BoolOp::Or, &guard, &all(&y)), ()));
        (guard, a.weakened(b, conjuncts))
    }

    /// What `from` has read of input memory and `to` has not is the same memory in `to`.
    fn share_inputs(&mut self, from: &State<C>, to: &mut State<C>) {
        let fresh = from.input_cells.since(&to.input_cells);
        let known = to.input_cells.since(&from.input_cells).len();
        for cell in fresh.into_iter().skip(known) {
            let (id, at, len, value) = match cell {
                InputCell::Bits(id, at, len, value) => (*id, *at, *len, Value::Bits(value.clone())),
                InputCell::Pointer(id, at, token) => {
                    let always = self.host.core().boolean(true);
                    let pointer = Pointer::to(always, Target::Token(*token), super::word(&self.host, 0));
                    (*id, *at, 8, Value::Pointer(pointer))
                }
            };
            if id.0 as usize >= to.memory.len() {
                continue;
            }
            let missing = |byte: u64| to.memory.object(id).content.first_missing(byte, 1).is_some();
            let open: Vec<u64> = (at..at + len).filter(|&byte| missing(byte)).collect();
            let content = &mut to.memory.object_mut(id).content;
            if open.len() as u64 == len {
                content.write(&self.host, at, len, value);
                continue;
            }
            for byte in open {
                let index = byte - at;
                let part = match &value {
                    Value::Pointer(pointer) => Value::Part(Arc::new(pointer.clone()), index as u8),
                    Value::Bits(bits) => {
                        Value::Bits(self.host.core().extract((len * 8) as u16, (index * 8) as u16, 8, bits))
                    }
                    _ => continue,
                };
                content.write(&self.host, byte, 1, part);
            }
        }
    }

    fn join_values(&self, ty: TypeId, guard: &C::Bool, a: &Value<C>, b: &Value<C>) -> Option<Value<C>> {
        let (Value::Many(x), Value::Many(y)) = (a, b) else {
            return join(&self.host, guard, a, b, self.module.ty(ty).bits().unwrap_or(64));
        };
        let inner = |index: usize| match &self.module.ty(ty).kind {
            TypeKind::Struct(fields) => fields[index].0,
            TypeKind::Array { element, .. } | TypeKind::Vector { element, .. } => *element,
            _ => ty,
        };
        let pairs = x.iter().zip(y.iter()).enumerate();
        let values = pairs.map(|(i, (x, y))| self.join_values(inner(i), guard, x, y));
        Some(Value::many(values.collect::<Option<_>>()?))
    }

    fn join_frames(&mut self, guard: &C::Bool, a: &Frame<C>, b: &Frame<C>) -> Option<Frame<C>> {
        let mut frame = a.clone();
        let types = self.register_types(a.function);
        for (index, register) in frame.registers.iter_mut().enumerate() {
            *register = match (&a.registers[index], &b.registers[index]) {
                (Some(x), Some(y)) => Some(self.join_values(types[index], guard, x, y)?),
                // Nothing that only one way defines is used where both meet.
                _ => None,
            };
        }
        for index in 0..frame.slots.len() {
            let ty = self.module.function(a.function).slots[index].ty;
            frame.slots[index] = match (&a.slots[index], &b.slots[index]) {
                (None, None) => None,
                (Some(x), Some(y)) => Some(self.join_values(ty, guard, x, y)?),
                (x, y) => {
                    let unknown = self.undefined(ty).ok()?;
                    let (x, y) = (x.as_ref().unwrap_or(&unknown), y.as_ref().unwrap_or(&unknown));
                    Some(self.join_values(ty, guard, x, y)?)
                }
            };
        }
        for (index, passed) in frame.variadic.iter_mut().enumerate() {
            passed.0 = self.join_values(passed.1, guard, &a.variadic[index].0, &b.variadic[index].0)?;
        }
        for object in &b.objects {
            if !frame.objects.contains(object) {
                frame.objects.push(*object);
            }
        }
        Some(frame)
    }

    /// The type of each register of a function.
    pub(super) fn register_types(&mut self, function: FunctionId) -> Arc<Vec<TypeId>> {
        if let Some(types) = self.register_types.get(&function) {
            return types.clone();
        }
        let definition = self.module.function(function);
        let mut types = vec![TypeId(0); definition.registers as usize];
        for (index, parameter) in definition.parameters.iter().enumerate() {
            types[index] = parameter.ty;
        }
        for instruction in definition.blocks.iter().flat_map(|b| &b.instructions) {
            if let Some(result) = instruction.result {
                types[result.0 as usize] = instruction.ty;
            }
        }
        let types = Arc::new(types);
        self.register_types.insert(function, types.clone());
        types
    }

    fn join_memories(
        &mut self,
        guard: &C::Bool,
        a: &mut State<C>,
        b: &mut State<C>,
    ) -> Option<super::Memory<C>> {
        let other = self.host.core().not(guard);
        let mut memory = a.memory.clone();
        let common = a.memory.len().min(b.memory.len());
        for id in (0..common as u32).map(ObjectId) {
            if a.memory.same(&b.memory, id) {
                continue;
            }
            let gone = |state: &State<C>| self.host.truth(&state.memory.object(id).alive) == Some(false);
            if gone(a) && gone(b) {
                continue;
            }
            let content = self.join_contents(guard, a, b, id)?;
            let (x, y) = (a.memory.object(id), b.memory.object(id));
            let core = self.host.core();
            let alive = core.cond_bool(guard, &x.alive, &y.alive);
            let size = core.cond(64, guard, &x.size, &y.size);
            let object = memory.object_mut(id);
            (object.content, object.alive, object.size) = (content, alive, size);
        }
        // Further objects are of one state alone.
        for id in (common as u32..a.memory.len() as u32).map(ObjectId) {
            let object = memory.object_mut(id);
            object.alive = self.host.core().boolop(BoolOp::And, &object.alive, guard);
        }
        for id in (common as u32..b.memory.len() as u32).map(ObjectId) {
            let mut object = b.memory.object(id).clone();
            object.alive = self.host.core().boolop(BoolOp::And, &object.alive, &other);
            memory.append(object);
        }
        memory.follow(&b.memory);
        Some(memory)
    }

    fn join_contents(
        &mut self,
        guard: &C::Bool,
        a: &mut State<C>,
        b: &mut State<C>,
        id: ObjectId,
    ) -> Option<super::Content<C>> {
        let (x, y) = (&a.memory.object(id).content, &b.memory.object(id).content);
        let one_log = match (&x.log, &y.log) {
            (None, None) => true,
            (Some(x), Some(y)) => Arc::ptr_eq(&x.base, &y.base) && x.writes.same(&y.writes),
            _ => false,
        };
        if !one_log {
            return self.join_logs(guard, x, y, a.memory.object(id).capacity);
        }
        let places = x.differences(y);
        for &(at, len) in &places {
            self.define_range(a, id, at, len).ok()?;
            self.define_range(b, id, at, len).ok()?;
        }
        let mut content = a.memory.object(id).content.clone();
        for (at, len) in places {
            let x = self.whole(&a.memory.object(id).content, at, len)?;
            let y = self.whole(&b.memory.object(id).content, at, len)?;
            let joined = join(&self.host, guard, &x, &y, (len * 8) as u16)?;
            content.write(&self.host, at, len, joined);
        }
        Some(content)
    }

    /// Two logs as one: what either has written since they were one, under its condition.
    fn join_logs(
        &self,
        guard: &C::Bool,
        x: &super::Content<C>,
        y: &super::Content<C>,
        capacity: u64,
    ) -> Option<super::Content<C>> {
        let base = x.log.as_ref().or(y.log.as_ref()).map(|log| log.base.clone())?;
        let shared = match (&x.log, &y.log) {
            (Some(p), Some(q)) if Arc::ptr_eq(&p.base, &q.base) => {
                p.writes.without(p.writes.since(&q.writes).len())
            }
            _ => Chain::default(),
        };
        let mut writes = shared.clone();
        for (content, guard) in [(x, guard.clone()), (y, self.host.core().not(guard))] {
            let mut cells = content.clone();
            let log = cells.log.take();
            let own = match &log {
                Some(log) if Arc::ptr_eq(&log.base, &base) => log.writes.since(&shared),
                // It was made over another copy of what was there, or was never made: then what is written is what differs.
                Some(log) => {
                    writes.push(self.whole_write(&base, &log.base, capacity, &guard)?);
                    log.writes.to_vec()
                }
                None => {
                    writes.push(self.whole_write(&base, content, capacity, &guard)?);
                    Vec::new()
                }
            };
            for write in own {
                let guard = self.host.core().boolop(BoolOp::And, &write.guard, &guard);
                writes.push(Write { guard, ..write.clone() });
            }
            if log.is_some() && !cells.is_blank() {
                writes.push(Write { guard: guard.clone(), ..self.cells_write(cells, capacity) });
            }
        }
        let copies = x.copies().max(y.copies());
        let log = Some(Log { base, writes, copies });
        let mut content = super::Content::new(x.fill);
        content.log = log;
        Some(content)
    }

    /// What makes one content of another that has no log: everything written in it. Bytes it does not have must not be
    /// written in the other either.
    fn whole_write(
        &self,
        base: &super::Content<C>,
        content: &super::Content<C>,
        capacity: u64,
        guard: &C::Bool,
    ) -> Option<Write<C>> {
        let mut cells = content.clone();
        if content.log.is_some() || base.log.is_some() {
            return None;
        }
        for (at, len) in base.differences(content) {
            if content.first_missing(at, len).is_some() {
                return None;
            }
            if content.fill == super::Fill::Zero {
                // Bytes that are zero because nothing wrote them are written here.
                let value = self.whole(content, at, len)?;
                cells.write(&self.host, at, len, value);
            }
        }
        Some(Write { guard: guard.clone(), ..self.cells_write(cells, capacity) })
    }

    /// Bytes as one value, unless they are parts of pointers.
    fn whole(&self, content: &super::Content<C>, at: u64, len: u64) -> Option<Value<C>> {
        let parts = match content.read(&self.host, at, len) {
            Raw::Value(value) => return Some(value),
            Raw::Parts(parts) => parts,
        };
        let core = self.host.core();
        let mut result: Option<(C::Val, u16)> = None;
        for part in parts {
            let Value::Bits(bits) = &part.value else { return None };
            let bits = core.extract(part.whole, part.low, part.width, bits);
            result = Some(match result {
                None => (bits, part.width),
                Some((low, width)) => (core.concat(part.width, width, &bits, &low), part.width + width),
            });
        }
        result.map(|(bits, _)| Value::Bits(bits))
    }

    /// What each state has decided of input memory, under its condition.
    fn join_tokens(&mut self, guard: &C::Bool, other: &C::Bool, state: &mut State<C>, b: &State<C>) {
        let core = self.host.core();
        let and = |x: &C::Bool, y: &C::Bool| core.boolop(BoolOp::And, x, y);
        if !Arc::ptr_eq(&state.tokens, &b.tokens) {
            let tokens = Arc::make_mut(&mut state.tokens);
            for (index, token) in tokens.iter_mut().enumerate() {
                let Some(theirs) = b.tokens.get(index) else { continue };
                token.done = core.cond_bool(guard, &token.done, &theirs.done);
                token.null = match (token.null.take(), &theirs.null) {
                    (Some(mine), Some(theirs)) => Some(core.cond_bool(guard, &mine, theirs)),
                    // Where it was not asked, the unknown that answers it is free.
                    (mine, theirs) => mine.or_else(|| theirs.clone()),
                };
                // Choices made before the states parted are the same in both.
                let same = token
                    .entries
                    .iter()
                    .zip(&theirs.entries)
                    .take_while(|(x, y)| {
                        x.target == y.target
                            && self.host.truth(&core.boolop(BoolOp::Iff, &x.guard, &y.guard)) == Some(true)
                    })
                    .count();
                for entry in &mut token.entries[same..] {
                    entry.guard = and(&entry.guard, guard);
                }
                token.entries.extend(theirs.entries[same..].iter().cloned().map(|mut entry| {
                    entry.guard = and(&entry.guard, other);
                    entry
                }));
            }
            let known = tokens.len();
            for token in tokens.iter_mut().skip(b.tokens.len()) {
                token.done = and(&token.done, guard);
                token.entries.iter_mut().for_each(|entry| entry.guard = and(&entry.guard, guard));
            }
            tokens.extend(b.tokens.iter().skip(known).cloned().map(|mut token| {
                token.done = and(&token.done, other);
                token.entries.iter_mut().for_each(|entry| entry.guard = and(&entry.guard, other));
                token
            }));
        }
        if !Arc::ptr_eq(&state.input_objects, &b.input_objects) {
            let objects = Arc::make_mut(&mut state.input_objects);
            let known = objects.len();
            for (index, object) in objects.iter_mut().enumerate() {
                object.exists = match b.input_objects.get(index) {
                    Some(theirs) => core.cond_bool(guard, &object.exists, &theirs.exists),
                    None => and(&object.exists, guard),
                };
            }
            objects.extend(b.input_objects.iter().skip(known).cloned().map(|mut object| {
                object.exists = and(&object.exists, other);
                object
            }));
        }
        let (mine, theirs) =
            (state.input_cells.since(&b.input_cells), b.input_cells.since(&state.input_cells));
        if theirs.is_empty() {
            return;
        }
        let mut cells = state.input_cells.without(mine.len());
        for index in 0..mine.len().max(theirs.len()) {
            cells.push(match (mine.get(index), theirs.get(index)) {
                (Some(InputCell::Bits(id, at, len, x)), Some(InputCell::Bits(_, _, _, y))) => {
                    InputCell::Bits(*id, *at, *len, core.cond((*len * 8) as u16, guard, x, y))
                }
                (Some(cell), _) | (None, Some(cell)) => (*cell).clone(),
                (None, None) => continue,
            });
        }
        state.input_cells = cells;
    }
}

/// Whether two running functions are at one place of one call.
fn alike_frames<C: Core>(a: &Frame<C>, b: &Frame<C>) -> bool {
    let Frame {
        function,
        block,
        index,
        result,
        serial,
        variadic,
        // The block before only counts while a block is entered, which is over.
        previous: _,
        // Joined value by value.
        registers: _,
        slots: _,
        objects: _,
    } = a;
    (*function, *block, *index, *result, *serial) == (b.function, b.block, b.index, b.result, b.serial)
        && variadic.len() == b.variadic.len()
        && variadic.iter().zip(&b.variadic).all(|(x, y)| (x.1, x.2) == (y.1, y.2))
}

/// Whether two pieces of output are of one kind, on one file.
fn alike_output<V>((file, a): &(i32, Output<V>), (other, b): &(i32, Output<V>)) -> bool {
    file == other
        && match (a, b) {
            (Output::Byte(_), Output::Byte(_)) => true,
            (Output::Number(_, form), Output::Number(_, other)) => form == other,
            _ => false,
        }
}

/// Whether two states leave functions and the program by the same ways besides `return`.
fn alike_exits<C: Core>(a: &Exits<C>, b: &Exits<C>) -> bool {
    let Exits { jumps, at_exit, status } = a;
    // States that are ending the program are few, and go on by themselves.
    jumps == &b.jumps && at_exit == &b.at_exit && status.is_none() && b.status.is_none()
}
