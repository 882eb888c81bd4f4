//! What contracts say of memory: so many bytes or elements at a pointer, text that ends, pointers that are apart, functions
//! that make memory.

use super::call::Passed;
use super::host::Host;
use super::input_types::{size_of, strip};
use super::pointers::word;
use super::value::{Entry, ObjectId, Pointer, Target, Value};
use super::{Fill, Machine, Result, State};
use parallax_cmodule::annotations::Count;
use parallax_cmodule::{DebugType, FunctionId, Instruction, Module, TypeId};
use parallax_op::{BinOp, Bits, BoolOp, RelOp};
use parallax_path::Premise;
use parallax_sem::Core;

/// What the name of a function that is another's contract begins with (`PX_CONTRACT` in `parallax.h`).
const CONTRACT_OF: &str = "__parallax_contract_";

/// For each function, its contract where that is a function of its own.
pub(super) fn written_apart(module: &Module) -> Vec<Option<FunctionId>> {
    let mut contracts = vec![None; module.functions.len()];
    for (number, function) in module.functions.iter().enumerate().filter(|(_, f)| f.is_defined()) {
        let speaks_of = function.name.strip_prefix(CONTRACT_OF).and_then(|name| module.function_named(name));
        if let Some(speaks_of) = speaks_of {
            contracts[speaks_of.0 as usize] = Some(FunctionId(number as u32));
        }
    }
    contracts
}

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    /// A pointer to the start of an object.
    pub(super) fn start_of(&self, id: ObjectId) -> Pointer<C> {
        Pointer::to(self.host.core().boolean(true), Target::Object(id), word(&self.host, 0))
    }

    /// A truth value as a number of a type.
    pub(super) fn truth_as(&self, ty: TypeId, holds: &C::Bool) -> Value<C> {
        let width = self.module.ty(ty).bits().unwrap_or(32);
        Value::Bits(self.host.core().bool_to_val(width, holds))
    }

    /// When something holds of a pointer: for each object it may point to, when that is alive and the rest holds there.
    fn of_each(
        &mut self,
        state: &mut State<C>,
        value: &Value<C>,
        mut holds: impl FnMut(&mut Self, &mut State<C>, ObjectId, &Entry<C>) -> Result<C::Bool, C>,
    ) -> Result<C::Bool, C> {
        let pointer = self.pointer(state, value)?;
        let mut any = self.host.core().boolean(false);
        for entry in &pointer.entries {
            let Target::Object(id) = entry.target else { continue };
            let here = holds(self, state, id, entry)?;
            let core = self.host.core();
            let alive = core.boolop(BoolOp::And, &entry.guard, &state.memory.object(id).alive);
            any = core.boolop(BoolOp::Or, &any, &core.boolop(BoolOp::And, &alive, &here));
        }
        Ok(any)
    }

    /// When there are so many bytes at a pointer; none are anywhere.
    pub(super) fn has_bytes(
        &mut self,
        state: &mut State<C>,
        value: &Value<C>,
        wanted: &C::Val,
    ) -> Result<C::Bool, C> {
        let some = self.of_each(state, value, |machine, state, id, entry| {
            let core = machine.host.core();
            let size = &state.memory.object(id).size;
            let within = core.relop(RelOp::Ule, 64, &entry.offset, size);
            let room = core.binop(BinOp::Sub, 64, size, &entry.offset);
            Ok(core.boolop(BoolOp::And, &within, &core.relop(RelOp::Ule, 64, wanted, &room)))
        })?;
        let core = self.host.core();
        let none = core.relop(RelOp::Eq, 64, wanted, &word(&self.host, 0));
        Ok(core.boolop(BoolOp::Or, &some, &none))
    }

    /// Whether what is required now is required of whoever entered the program, and not of a call in it.
    pub(super) fn is_at_entry(&self, state: &State<C>) -> bool {
        match state.frames.as_slice() {
            [_] => true,
            [entered, runs] => self.contracts[entered.function.0 as usize] == Some(runs.function),
            _ => false,
        }
    }

    /// Takes for granted what declarations say of the room that arguments of the function that was entered point to.
    pub fn assume_rooms(
        &mut self,
        state: &mut State<C>,
        function: FunctionId,
        values: &[Value<C>],
    ) -> Result<(), C> {
        let parameters = &self.module.function(function).parameters;
        let passed: Vec<Passed<C>> = parameters
            .iter()
            .zip(values)
            .map(|(parameter, value)| Passed {
                value: value.clone(),
                ty: parameter.ty,
                by_value: parameter.by_value,
            })
            .collect();
        for index in 0..passed.len() {
            if let Some(there) = self.room(state, function, index, &passed)? {
                let name = &self.module.function(function).parameters[index].name;
                let words = format!("{name} points to as many elements as its declaration says");
                self.host.assume(Premise::new(words));
                self.assume(state, &there)?;
            }
        }
        Ok(())
    }

    /// When an argument points to as many elements as the declaration of its parameter says; none where it says nothing.
    pub(super) fn room(
        &mut self,
        state: &mut State<C>,
        function: FunctionId,
        index: usize,
        passed: &[Passed<C>],
    ) -> Result<Option<C::Bool>, C> {
        let module = self.module;
        let definition = module.function(function);
        let Some(room) = definition.parameters[index].room else { return Ok(None) };
        let described = match definition.parameters[index].variable {
            Some(id) => module.variables[id.0 as usize].ty,
            None => definition.signature.get(index + 1).copied().flatten(),
        };
        let element = match strip(module, described).map(|ty| &module.debug_types[ty.0 as usize]) {
            Some(DebugType::Pointer(pointee)) => size_of(module, *pointee).max(1),
            _ => return Ok(None),
        };
        let (wide, core) = (128, self.host.core());
        let number = |value: u64| core.constant(&Bits::new(wide, value.into()));
        let count = match room {
            Count::Number(count) => number(count),
            Count::Parameter(by) => match passed.get(by) {
                Some(Passed { value: Value::Bits(count), ty, .. }) => {
                    let width = module.ty(*ty).bits().unwrap_or(64);
                    core.zext(width, wide, count)
                }
                _ => return Ok(None),
            },
        };
        let bytes = core.binop(BinOp::Mul, wide, &count, &number(element));
        let fits = core.relop(RelOp::Ule, wide, &bytes, &number(u64::MAX >> 1));
        let bytes = core.extract(wide, 0, 64, &bytes);
        let Some(argument) = passed.get(index) else { return Ok(None) };
        let there = self.has_bytes(state, &argument.value.clone(), &bytes)?;
        Ok(Some(self.host.core().boolop(BoolOp::And, &fits, &there)))
    }

    /// A function without a body that is declared to make memory (`alloc_size`): it does, or fails where that is asked for.
    pub(super) fn declared_allocator(
        &mut self,
        state: &mut State<C>,
        at: &Instruction,
        function: FunctionId,
        passed: &[Passed<C>],
    ) -> Result<(), C> {
        let definition = self.module.function(function);
        let (wide, mut size) = (128, None);
        for &index in &definition.alloc_size {
            let factor = self.argument_bits(passed, index)?;
            let width = self.module.ty(passed[index].ty).bits().unwrap_or(64);
            let core = self.host.core();
            let factor = core.zext(width, wide, &factor);
            size = Some(match size {
                None => factor,
                Some(size) => core.binop(BinOp::Mul, wide, &size, &factor),
            });
        }
        let Some(size) = size else { return self.unmodelled(state, at, &definition.name, passed) };
        let core = self.host.core();
        let most = core.constant(&Bits::new(wide, (u64::MAX >> 1).into()));
        let fits = core.relop(RelOp::Ule, wide, &size, &most);
        // Sizes that no object can have stay so.
        let size = core.cond(64, &fits, &core.extract(wide, 0, 64, &size), &word(&self.host, u64::MAX));
        let words = format!("{} has no body: it makes memory, as its declaration says", definition.name);
        // What the declaration promises narrows the question, as a contract does.
        self.host.assume(Premise::new(words));
        let made = self.malloc(state, &size, 16, Fill::Undefined)?;
        Self::set(state, at.result, Value::Pointer(made));
        Ok(())
    }

    /// When the bytes at a pointer end with a NUL within their object.
    pub(super) fn is_string(&mut self, state: &mut State<C>, value: &Value<C>) -> Result<C::Bool, C> {
        self.of_each(state, value, |machine, state, id, entry| {
            let mut ends = machine.host.core().boolean(false);
            for at in 0..state.memory.object(id).capacity.min(super::WIDEST) {
                let byte = machine.read_object(state, id, &word(&machine.host, at), 1)?;
                let byte = machine.exposed(state, &byte)?;
                let core = machine.host.core();
                let zero = core.relop(RelOp::Eq, 8, &byte, &core.constant(&Bits::zero(8)));
                let place = word(&machine.host, at);
                let inside = core.relop(RelOp::Ult, 64, &place, &state.memory.object(id).size);
                let behind = core.relop(RelOp::Ule, 64, &entry.offset, &place);
                let here = core.boolop(BoolOp::And, &zero, &core.boolop(BoolOp::And, &inside, &behind));
                ends = core.boolop(BoolOp::Or, &ends, &here);
            }
            Ok(ends)
        })
    }

    /// When two pointers point into different objects, or one of them to none.
    pub(super) fn in_different_objects(
        &mut self,
        state: &mut State<C>,
        passed: &[Passed<C>],
    ) -> Result<C::Bool, C> {
        let (Some(a), Some(b)) = (passed.first(), passed.get(1)) else {
            return Ok(self.host.core().boolean(true));
        };
        let (a, b) = (self.pointer(state, &a.value)?, self.pointer(state, &b.value)?);
        let core = self.host.core();
        let mut together = core.boolean(false);
        for x in &a.entries {
            for y in
                b.entries.iter().filter(|y| y.target == x.target && matches!(y.target, Target::Object(_)))
            {
                let both = core.boolop(BoolOp::And, &x.guard, &y.guard);
                together = core.boolop(BoolOp::Or, &together, &both);
            }
        }
        Ok(core.not(&together))
    }
}
