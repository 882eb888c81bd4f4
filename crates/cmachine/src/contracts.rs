//! What contracts say of memory: so many bytes at a pointer, text that ends, pointers that are apart.

use super::call::Passed;
use super::host::Host;
use super::pointers::word;
use super::value::{Entry, ObjectId, Pointer, Target, Value};
use super::{Machine, Result, State};
use parallax_cmodule::TypeId;
use parallax_op::{BinOp, Bits, BoolOp, RelOp};
use parallax_sem::Core;

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
