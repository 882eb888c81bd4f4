//! Constants as values, and the memory a program starts with.

use super::content::Fill;
use super::host::Host;
use super::memory::Kind;
use super::pointers::{null, word};
use super::value::{ObjectId, Pointer, Target, Value};
use super::{LARGEST, Machine, Result, State, Stop};
use parallax_cmodule::{Constant, ConstantId, GlobalId, Operand, Operation, TypeId, TypeKind};
use parallax_op::Bits;
use parallax_path::Bound;
use parallax_sem::Core;

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    /// A state with the program's globals, before any code has run.
    pub fn start(&mut self) -> Result<State<C>, C> {
        let mut state = State::default();
        for global in &self.module.globals {
            let ty = self.module.ty(global.ty);
            if ty.size > LARGEST {
                return Err(Stop::Unsupported(format!("a global of {} bytes ({})", ty.size, global.name)));
            }
            let size = word(&self.host, ty.size);
            let align = u64::from(global.align);
            let (id, _) =
                self.allocate(&mut state, Kind::Global, size, ty.size, align, Fill::Zero, global.variable);
            state.memory.object_mut(id).read_only = global.constant;
        }
        for (index, global) in self.module.globals.iter().enumerate() {
            let id = ObjectId(index as u32);
            match global.initialiser {
                Some(initialiser) if global.name.starts_with("llvm.") => {
                    let _ = initialiser;
                }
                Some(initialiser) => self.initialise(&mut state, id, 0, initialiser, global.ty)?,
                // See `forget_undefined_globals`.
                None => state.memory.object_mut(id).content.fill = Fill::Undefined,
            }
        }
        Ok(state)
    }

    /// Global variables that nothing defines hold anything, where the host has unknown values: of those that are `wanted`.
    pub fn forget_undefined_globals(
        &mut self,
        state: &mut State<C>,
        wanted: &dyn Fn(usize) -> bool,
    ) -> Result<(), C> {
        let module = self.module;
        for (index, global) in module.globals.iter().enumerate() {
            if global.initialiser.is_some() || module.ty(global.ty).size == 0 || !wanted(index) {
                continue;
            }
            // Where nothing is unknown, reading one is a mistake.
            if self.forget(state, ObjectId(index as u32), &global.name).is_err() {
                return Ok(());
            }
            let words = format!("the global {} is defined nowhere: it holds anything", global.name);
            self.host.bounded(Bound::StandsIn(words));
        }
        Ok(())
    }

    fn initialise(
        &mut self,
        state: &mut State<C>,
        id: ObjectId,
        at: u64,
        constant: ConstantId,
        ty: TypeId,
    ) -> Result<(), C> {
        let module = self.module;
        match module.constant(constant) {
            Constant::Zero(_) | Constant::Undefined(_) | Constant::Null => {}
            Constant::Bytes(_, bytes) => {
                state.memory.object_mut(id).content.write_bytes(&self.host, at, bytes);
            }
            Constant::Aggregate(ty, elements) => {
                let layout = module.ty(*ty);
                for (index, &element) in elements.iter().enumerate() {
                    let (inner, offset) = match &layout.kind {
                        TypeKind::Struct(fields) => fields[index],
                        TypeKind::Array { element, .. } => {
                            (*element, index as u64 * module.ty(*element).size)
                        }
                        TypeKind::Vector { element, .. } => {
                            (*element, index as u64 * module.ty(*element).store_size)
                        }
                        _ => return Err(Stop::Unsupported("an initialiser of this type".into())),
                    };
                    self.initialise(state, id, at + offset, element, inner)?;
                }
            }
            _ => {
                let layout = module.ty(ty);
                let width = layout.bits().unwrap_or(64);
                let stored = (layout.store_size * 8) as u16;
                let value = match self.constant(constant)? {
                    Value::Bits(bits) if width < stored => {
                        Value::Bits(self.host.core().zext(width, stored, &bits))
                    }
                    other => other,
                };
                state.memory.object_mut(id).content.write(&self.host, at, layout.store_size, value);
            }
        }
        Ok(())
    }

    /// Address of a global, moved by an offset. Globals are the first objects, in order.
    fn global(&self, global: GlobalId, offset: i64) -> Pointer<C> {
        let always = self.host.core().boolean(true);
        Pointer::to(always, Target::Object(ObjectId(global.0)), word(&self.host, offset as u64))
    }

    /// The value of a constant.
    pub(super) fn constant(&mut self, id: ConstantId) -> Result<Value<C>, C> {
        if let Some(value) = &self.constants[id.0 as usize] {
            return Ok(value.clone());
        }
        let module = self.module;
        let value = match module.constant(id) {
            Constant::Bits(bits) => Value::Bits(self.host.core().constant(bits)),
            Constant::Null => Value::Pointer(null(&self.host)),
            Constant::Global(global, offset) => Value::Pointer(self.global(*global, *offset)),
            Constant::Function(function) => {
                let always = self.host.core().boolean(true);
                Value::Pointer(Pointer::to(always, Target::Function(*function), word(&self.host, 0)))
            }
            Constant::Block(_, block) => {
                // Block addresses only meet indirect jumps of their own function: the number is enough.
                Value::Bits(word(&self.host, 1 + u64::from(block.0)))
            }
            // Each use may be something else: never kept.
            Constant::Undefined(ty) => return self.undefined(*ty),
            Constant::Zero(ty) => self.zero(*ty)?,
            Constant::Aggregate(_, elements) => {
                let values = elements.iter().map(|&e| self.constant(e)).collect::<Result<Vec<_>, C>>()?;
                Value::many(values)
            }
            Constant::Bytes(_, bytes) => {
                let core = self.host.core();
                Value::many(
                    bytes.iter().map(|&b| Value::Bits(core.constant(&Bits::new(8, b.into())))).collect(),
                )
            }
            Constant::Expression(ty, operation) => self.expression(*ty, operation)?,
        };
        self.constants[id.0 as usize] = Some(value.clone());
        Ok(value)
    }

    fn expression(&mut self, ty: TypeId, operation: &Operation) -> Result<Value<C>, C> {
        let mut value = |operand: &Operand| match operand {
            Operand::Constant(id) => self.constant(*id),
            Operand::Register(_) => Err(Stop::Unsupported("a register in a constant".into())),
        };
        match operation {
            Operation::Binary { op, a, b } => {
                let (a, b) = (value(a)?, value(b)?);
                self.binary(&mut State::default(), *op, ty, &a, &b)
            }
            Operation::Cast { op, from, a } => {
                let a = value(a)?;
                self.cast(&mut State::default(), *op, *from, ty, &a)
            }
            Operation::Address { base, offset, indices, .. } => {
                let base = value(base)?;
                let indices = indices
                    .iter()
                    .map(|(index, ty, step)| Ok((value(index)?, *ty, *step)))
                    .collect::<Result<Vec<_>, C>>()?;
                // A global's address may be an index too; globals have theirs without any memory.
                let mut nowhere = State::default();
                let indices = indices
                    .into_iter()
                    .map(|(index, ty, step)| Ok((self.plain(&mut nowhere, &index)?, ty, step)))
                    .collect::<Result<Vec<_>, C>>()?;
                self.address_of(&base, *offset, &indices)
            }
            Operation::Unsupported(what) => Err(Stop::Unsupported(what.clone())),
            _ => Err(Stop::Unsupported("this kind of constant expression".into())),
        }
    }

    /// Zero of a type.
    pub(super) fn zero(&self, ty: TypeId) -> Result<Value<C>, C> {
        self.each(ty, &mut |machine, width, pointer| {
            if pointer {
                Value::Pointer(null(&machine.host))
            } else {
                Value::Bits(machine.host.core().constant(&Bits::zero(width)))
            }
        })
    }

    fn each(&self, ty: TypeId, make: &mut dyn FnMut(&Self, u16, bool) -> Value<C>) -> Result<Value<C>, C> {
        let layout = self.module.ty(ty);
        Ok(match &layout.kind {
            TypeKind::Int(_) | TypeKind::Float(_) => make(self, layout.bits().unwrap_or(8), false),
            TypeKind::Pointer => make(self, 64, true),
            TypeKind::Array { element, len } | TypeKind::Vector { element, len } => {
                let values = (0..*len).map(|_| self.each(*element, make)).collect::<Result<Vec<_>, C>>()?;
                Value::many(values)
            }
            TypeKind::Struct(fields) => {
                let values =
                    fields.iter().map(|(f, _)| self.each(*f, make)).collect::<Result<Vec<_>, C>>()?;
                Value::many(values)
            }
            TypeKind::Void => Value::many(Vec::new()),
            TypeKind::Other(name) => return Err(Stop::Unsupported(format!("values of type {name}"))),
        })
    }

    /// An undefined value of a type.
    pub(super) fn undefined(&mut self, ty: TypeId) -> Result<Value<C>, C> {
        let module = self.module;
        let layout = module.ty(ty);
        Ok(match &layout.kind {
            TypeKind::Int(_) | TypeKind::Float(_) | TypeKind::Pointer => {
                Value::Bits(self.host.undefined(layout.bits().unwrap_or(64)))
            }
            TypeKind::Array { element, len } | TypeKind::Vector { element, len } => {
                Value::many((0..*len).map(|_| self.undefined(*element)).collect::<Result<Vec<_>, C>>()?)
            }
            TypeKind::Struct(fields) => {
                Value::many(fields.iter().map(|(f, _)| self.undefined(*f)).collect::<Result<Vec<_>, C>>()?)
            }
            TypeKind::Void => Value::many(Vec::new()),
            TypeKind::Other(name) => return Err(Stop::Unsupported(format!("values of type {name}"))),
        })
    }
}
