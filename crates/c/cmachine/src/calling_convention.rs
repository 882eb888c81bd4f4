//! Calls through a type that is not the function's own: an alias with another signature, a cast function pointer, an old
//! declaration without a prototype.
//!
//! C leaves such calls undefined; what a processor then does is plain. On x86-64 integers and pointers travel in one
//! sequence of registers, floating-point numbers in another, each parameter takes the next of its kind, and a narrower
//! one takes the low bits. So do we.

use super::call::Passed;
use super::host::Host;
use super::value::Value;
use super::{Machine, Result, State, Stop};
use parallax_cmodule::{FunctionId, TypeId, TypeKind};
use parallax_op::FloatFormat;
use parallax_sem::Core;

/// The registers a value travels in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Integer,
    Float,
    /// The stack, or several registers: such arguments stay where they are.
    Other,
}

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    fn class(&self, ty: TypeId, by_value: Option<TypeId>) -> Class {
        match self.module.ty(ty).kind {
            _ if by_value.is_some() => Class::Other,
            TypeKind::Int(width) if width <= 64 => Class::Integer,
            TypeKind::Pointer => Class::Integer,
            TypeKind::Float(FloatFormat::F16 | FloatFormat::F32 | FloatFormat::F64) => Class::Float,
            _ => Class::Other,
        }
    }

    /// Arguments as the parameters of a function take them. What has no parameter follows after them.
    pub(super) fn by_class(
        &mut self,
        state: &mut State<C>,
        function: FunctionId,
        passed: Vec<Passed<C>>,
    ) -> Result<Vec<Passed<C>>, C> {
        let definition = self.module.function(function);
        let mut given: Vec<Option<Passed<C>>> = passed.into_iter().map(Some).collect();
        let mut taken = Vec::with_capacity(given.len());
        for parameter in &definition.parameters {
            let class = self.class(parameter.ty, parameter.by_value);
            let next = given
                .iter_mut()
                .find(|argument| argument.as_ref().is_some_and(|a| self.class(a.ty, a.by_value) == class));
            let value = match next.and_then(Option::take) {
                Some(argument) => self.in_register(state, argument.ty, parameter.ty, &argument.value)?,
                None => self.undefined(parameter.ty)?,
            };
            taken.push(Passed { value, ty: parameter.ty, by_value: parameter.by_value });
        }
        taken.extend(given.into_iter().flatten());
        Ok(taken)
    }

    /// A value of one type in a register, taken out as another type.
    pub(super) fn in_register(
        &mut self,
        state: &mut State<C>,
        from: TypeId,
        to: TypeId,
        value: &Value<C>,
    ) -> Result<Value<C>, C> {
        if from == to {
            return Ok(value.clone());
        }
        let (class, wanted) = (self.class(from, None), self.class(to, None));
        if matches!(self.module.ty(to).kind, TypeKind::Void) {
            return Ok(value.clone());
        }
        if class != wanted {
            // It is in the other registers: what is in these nobody knows.
            return self.undefined(to);
        }
        let (Some(width), Some(target)) = (self.module.ty(from).bits(), self.module.ty(to).bits()) else {
            return Err(Stop::Unsupported("a call through a type that is not the function's own".into()));
        };
        if class == Class::Other {
            return Err(Stop::Unsupported("a call through a type that is not the function's own".into()));
        }
        if width == target {
            return Ok(value.clone());
        }
        let bits = self.exposed(state, value)?;
        let core = self.host.core();
        if target < width {
            return Ok(Value::Bits(core.extract(width, 0, target, &bits)));
        }
        // The upper part of the register is whatever was there.
        let rest = self.host.undefined(target - width);
        Ok(Value::Bits(self.host.core().concat(target - width, width, &rest, &bits)))
    }
}
