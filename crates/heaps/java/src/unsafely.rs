//! `Unsafe`: fields and elements by their place.

use crate::library::Access;
use crate::machine::{Answer, Done, Task, gap, unverifiable};
use crate::program::Method;
use crate::state::{Slot, Split, State};
use crate::types::Type;
use parallax_engines::{IntOf, Memory, Value};
use parallax_op::{BinOp, RelOp};
use parallax_sem::Core;
use std::rc::Rc;

impl Task {
    /// `Unsafe`: the object is the first argument, the place the second.
    pub(crate) fn unsafely<M: Memory>(
        &self,
        state: &mut State<M>,
        access: Access,
        method: &Rc<Method>,
        arguments: &[Slot<M>],
    ) -> Answer<M> {
        let [_, Slot::Ref(object), Slot::Long(place), rest @ ..] = arguments else {
            return unverifiable("arguments of Unsafe");
        };
        let wanted = match access {
            Access::Get => method.signature.result.as_ref(),
            _ => method.signature.parameters.last(),
        };
        self.access(state, access, wanted, (object, place), rest)
    }

    /// An access to the field or element at a place of an object, which should have the type that is wanted.
    pub(crate) fn access<M: Memory>(
        &self,
        state: &mut State<M>,
        access: Access,
        wanted: Option<&Type>,
        (object, place): (&M::Ref, &IntOf<M>),
        rest: &[Slot<M>],
    ) -> Answer<M> {
        let Some(place) = state.known_bits(64, place)?.and_then(|bits| bits.to_u64()) else {
            return gap("not modelled: Unsafe at an unknown place");
        };
        let classes = state.memory()?.classes(object);
        let [class] = classes.as_slice() else { return gap("not modelled: Unsafe of an unknown object") };
        let class = self.program.class(*class);
        let ty = match (&class.element, class.layout.get(place as usize)) {
            (Some(element), _) => element.clone(),
            (None, Some(field)) => field.ty.clone(),
            (None, None) => return gap("not modelled: Unsafe at a place that is no field"),
        };
        let array = class.element.is_some();
        if array {
            let length = state.memory()?.length(object)?;
            if state.known_int(&length)?.is_none_or(|length| place >= length as u64) {
                return gap("not modelled: Unsafe beyond an array");
            }
        }
        let same = match (wanted, &ty) {
            (Some(Type::Ref(_)), Type::Ref(_)) => true,
            (Some(wanted), ty) => wanted == ty,
            (None, _) => false,
        };
        if !same {
            return gap("not modelled: Unsafe that reads one type as another");
        }
        let index = state.memory()?.int(place as i32);
        let current = match state.split(|memory| match array {
            true => memory.element(object, &index),
            false => memory.read(object, place as usize),
        })? {
            Split::One(value) => value,
            Split::Many(_) => return gap("not modelled: Unsafe of an unknown value"),
        };
        let new = match (access, rest) {
            (Access::Get, []) => {
                let slot = self.slot(state.memory()?, &ty, current)?;
                state.push(slot);
                return Ok(Done::Next);
            }
            (Access::Put, [new]) => new.clone(),
            (Access::Swap | Access::Add, [new]) => {
                let old = self.slot(state.memory()?, &ty, current.clone())?;
                state.push(old);
                match (access, current, self.value(state.memory()?, &ty, new.clone())?) {
                    (Access::Add, Value::Int(old), Value::Int(more)) => {
                        let sum = state.memory()?.core().binop(BinOp::Add, ty.width(), &old, &more);
                        self.slot(state.memory()?, &ty, Value::Int(sum))?
                    }
                    (Access::Add, ..) => return unverifiable("arguments of Unsafe"),
                    _ => new.clone(),
                }
            }
            (Access::CompareAndSet | Access::CompareAndExchange, [expected, new]) => {
                let expected = self.value(state.memory()?, &ty, expected.clone())?;
                let same = match (&current, &expected) {
                    (Value::Ref(a), Value::Ref(b)) => match state.split(|memory| memory.equal(a, b))? {
                        Split::One(same) => Some(same),
                        Split::Many(_) => None,
                    },
                    (Value::Int(a), Value::Int(b)) => {
                        let core = state.memory()?.core();
                        let same = core.relop(RelOp::Eq, ty.width(), a, b);
                        core.decided(&same)
                    }
                    _ => None,
                };
                let Some(same) = same else { return gap("not modelled: Unsafe of an unknown value") };
                let answer = match access {
                    Access::CompareAndSet => Slot::Bool(state.memory()?.bool(same)),
                    _ => self.slot(state.memory()?, &ty, current)?,
                };
                state.push(answer);
                if !same {
                    return Ok(Done::Next);
                }
                new.clone()
            }
            _ => return unverifiable("arguments of Unsafe"),
        };
        let value = self.value(state.memory()?, &ty, new)?;
        match array {
            true => self.store(state, object, &index, &value),
            false => {
                state.memory_mut()?.write(object, place as usize, &value)?;
                Ok(Done::Next)
            }
        }
    }
}
