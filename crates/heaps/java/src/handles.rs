//! Handles of instance fields: `VarHandle`, as the atomic classes of the library use them.
//!
//! A handle is an object of the class that a JVM would make, and holds the place of the field. A call of it is an access of
//! `Unsafe` at that place; with one thread every mode of access is the same.

use crate::code::Member;
use crate::library::Access;
use crate::machine::{Answer, Done, Task, gap, unverifiable};
use crate::state::{Slot, State};
use crate::types::{Signature, Type, dotted};
use parallax_engines::{Memory, Value};
use parallax_op::Bits;
use parallax_sem::Core;

/// The field of a handle that holds the place.
const PLACE: &str = "fieldOffset";

/// What a method of a handle does.
fn access(name: &str) -> Option<Access> {
    let plain = ["Plain", "Opaque", "Volatile", "Acquire", "Release"];
    let name = plain.iter().find_map(|mode| name.strip_suffix(mode)).unwrap_or(name);
    Some(match name {
        "get" => Access::Get,
        "set" => Access::Put,
        "compareAndSet" | "weakCompareAndSet" => Access::CompareAndSet,
        "compareAndExchange" => Access::CompareAndExchange,
        "getAndSet" => Access::Swap,
        "getAndAdd" => Access::Add,
        _ => return None,
    })
}

impl Task {
    /// `Lookup.findVarHandle`: of a class, a field by its name, and its type.
    pub(crate) fn find_handle<M: Memory>(&self, state: &mut State<M>, arguments: &[Slot<M>]) -> Answer<M> {
        let [_, Slot::Ref(owner), Slot::Ref(field), _] = arguments else {
            return unverifiable("arguments of findVarHandle");
        };
        let (owner, field) = (self.named(state, owner)?, self.text(state, field)?);
        let class = self.program.class(self.program.load(&owner)?);
        let place = class.layout.iter().rposition(|known| *known.name == *field);
        let kind = place.and_then(|place| match class.layout[place].ty {
            Type::Ref(_) => Some("References"),
            Type::Int => Some("Ints"),
            Type::Long => Some("Longs"),
            _ => None,
        });
        let (Some(place), Some(kind)) = (place, kind) else {
            return gap(format!("not modelled: a handle of {}.{field}", dotted(&owner)));
        };
        let handle =
            self.program.load(&format!("java/lang/invoke/VarHandle{kind}$FieldInstanceReadWrite"))?;
        self.inform(state)?;
        let at = self.program.class(handle).layout.iter().position(|known| &*known.name == PLACE);
        let Some(at) = at else { return gap("not modelled: handles of this JDK") };
        let handle = state.memory_mut()?.new_object(handle);
        let place = Value::Int(state.memory()?.core().constant(&Bits::new(64, place as u128)));
        state.memory_mut()?.write(&handle, at, &place)?;
        state.push(Slot::Ref(handle));
        Ok(Done::Next)
    }

    /// A call of a handle: with the object that has the field, and values.
    pub(crate) fn call_handle<M: Memory>(
        &self,
        state: &mut State<M>,
        member: &Member,
        signature: &Signature,
    ) -> Answer<M> {
        let missing = || gap(format!("not modelled: {}.{}", dotted(&member.class), member.name));
        let Some(access) = access(&member.name) else { return missing() };
        let arguments = self.arguments(state, &signature.parameters)?;
        let handle = state.pop_ref()?;
        let Some(Value::Int(place)) = self.field_known(state, &handle, PLACE)? else { return missing() };
        let [Slot::Ref(object), values @ ..] = &arguments[..] else { return missing() };
        let wanted = match access {
            Access::Get => signature.result.as_ref(),
            _ => signature.parameters.last(),
        };
        self.access(state, access, wanted, (object, &place), values)
    }
}
