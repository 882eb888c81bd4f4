//! The function that a piece of assembly becomes, while it is written.

use crate::operands::{Operands, Place};
use parallax_cmodule::{
    Argument, Binary, Cast, Constant, ConstantId, Instruction, LocationId, Module, Operand, Operation,
    Register, Terminator, Type, TypeId, TypeKind,
};
use parallax_ir::{Processor, Space, Varnode};
use parallax_op::{BinOp, Bits, RelOp};
use std::rc::Rc;

/// Bytes of temporaries that one instruction may use.
const TEMPORARIES: u64 = 1 << 12;

pub(crate) struct Body<'m> {
    module: &'m mut Module,
    processor: Rc<Processor>,
    instructions: Vec<Instruction>,
    next: u32,
    location: LocationId,
    registers: Operand,
    temporaries: Operand,
}

impl<'m> Body<'m> {
    pub(crate) fn new(
        module: &'m mut Module,
        processor: Rc<Processor>,
        parameters: usize,
        location: LocationId,
    ) -> Self {
        let nothing = Operand::Register(Register(0));
        let mut body = Body {
            module,
            instructions: Vec::new(),
            next: parameters as u32,
            location,
            registers: nothing,
            temporaries: nothing,
            processor,
        };
        body.registers = body.area(body.processor.register_bytes);
        body.temporaries = body.area(TEMPORARIES);
        body
    }

    pub(crate) fn finish(self) -> (Vec<Instruction>, u32) {
        (self.instructions, self.next)
    }

    fn kind(&mut self, kind: TypeKind, size: u64, align: u32) -> TypeId {
        let found = self.module.types.iter().position(|ty| ty.kind == kind);
        let at = found.unwrap_or_else(|| {
            self.module.types.push(Type { kind, size, store_size: size, align });
            self.module.types.len() - 1
        });
        TypeId(at as u32)
    }

    pub(crate) fn integer(&mut self, width: u16) -> TypeId {
        let bytes = u64::from(width.div_ceil(8));
        self.kind(TypeKind::Int(width), bytes.next_power_of_two(), bytes.next_power_of_two().min(16) as u32)
    }

    pub(crate) fn pointer(&mut self) -> TypeId {
        self.kind(TypeKind::Pointer, 8, 8)
    }

    fn area(&mut self, bytes: u64) -> Operand {
        let element = self.integer(8);
        let of = self.kind(TypeKind::Array { element, len: bytes }, bytes, 1);
        let (ty, count_type) = (self.pointer(), self.integer(32));
        let count = self.constant(32, 1);
        self.emit(ty, Operation::Alloca { of, count, count_type, align: 16, variable: None })
    }

    pub(crate) fn constant(&mut self, width: u16, value: u64) -> Operand {
        let id = ConstantId(self.module.constants.len() as u32);
        self.module.constants.push(Constant::Bits(Bits::new(width, value.into())));
        Operand::Constant(id)
    }

    pub(crate) fn emit(&mut self, ty: TypeId, operation: Operation) -> Operand {
        let result = Register(self.next);
        self.next += 1;
        self.instructions.push(Instruction { result: Some(result), ty, operation, location: self.location });
        Operand::Register(result)
    }

    fn act(&mut self, operation: Operation) {
        let ty = self.kind(TypeKind::Void, 0, 1);
        self.instructions.push(Instruction { result: None, ty, operation, location: self.location });
    }

    fn address(&mut self, place: Varnode) -> Operand {
        let base = match place.space {
            Space::Register => self.registers,
            Space::Temporary | Space::Constant => self.temporaries,
        };
        let ty = self.pointer();
        let offset = place.offset as i64;
        self.emit(ty, Operation::Address { base, offset, indices: Vec::new(), inbounds: true })
    }

    /// What a place holds.
    pub(crate) fn read(&mut self, place: Varnode) -> Operand {
        if let Some(value) = place.as_constant() {
            return self.constant(place.width(), value);
        }
        let (ty, pointer) = (self.integer(place.width()), self.address(place));
        self.emit(ty, Operation::Load { pointer })
    }

    pub(crate) fn write(&mut self, place: Varnode, value: Operand) -> Result<(), String> {
        if place.space == Space::Temporary && place.end() > TEMPORARIES {
            return Err("too many temporaries".into());
        }
        let (of, pointer) = (self.integer(place.width()), self.address(place));
        self.act(Operation::Store { pointer, value, of });
        Ok(())
    }

    pub(crate) fn load(&mut self, address: Operand, width: u16) -> Operand {
        let pointer = self.as_pointer(address);
        let ty = self.integer(width);
        self.emit(ty, Operation::Load { pointer })
    }

    pub(crate) fn store(&mut self, address: Operand, value: Operand, width: u16) {
        let pointer = self.as_pointer(address);
        let of = self.integer(width);
        self.act(Operation::Store { pointer, value, of });
    }

    fn as_pointer(&mut self, address: Operand) -> Operand {
        let (from, ty) = (self.integer(64), self.pointer());
        self.emit(ty, Operation::Cast { op: Cast::IntToPtr, from, a: address })
    }

    pub(crate) fn binary(&mut self, op: BinOp, width: u16, a: Operand, b: Operand) -> Operand {
        let ty = self.integer(width);
        self.emit(ty, Operation::Binary { op: Binary { op, no_signed_wrap: false }, a, b })
    }

    /// A truth value: a byte, 0 or 1.
    pub(crate) fn compare(&mut self, op: RelOp, width: u16, a: Operand, b: Operand) -> Operand {
        let (bit, of) = (self.integer(1), self.integer(width));
        let holds = self.emit(bit, Operation::Compare { op, of, a, b });
        self.resize(Cast::ZExt, 1, 8, holds)
    }

    pub(crate) fn resize(&mut self, op: Cast, from: u16, to: u16, a: Operand) -> Operand {
        if from == to {
            return a;
        }
        let op = if to < from { Cast::Trunc } else { op };
        let (from, ty) = (self.integer(from), self.integer(to));
        self.emit(ty, Operation::Cast { op, from, a })
    }

    /// `when ? a : b`, where `when` is a byte.
    pub(crate) fn select(&mut self, when: Operand, width: u16, a: Operand, b: Operand) -> Operand {
        let (byte, bit, ty) = (self.integer(8), self.integer(1), self.integer(width));
        let zero = self.constant(8, 0);
        let condition = self.emit(bit, Operation::Compare { op: RelOp::Ne, of: byte, a: when, b: zero });
        self.emit(ty, Operation::Select { condition, vector: false, a, b })
    }

    /// A number that nothing determines: what a function without a definition returns.
    pub(crate) fn unknown(&mut self, name: &str, width: u16) -> Operand {
        let ty = self.integer(width);
        let found = self.module.functions.iter().position(|function| function.name == name);
        let at = found.unwrap_or_else(|| {
            self.module.functions.push(parallax_cmodule::Function {
                name: name.into(),
                parameters: Vec::new(),
                variadic: false,
                result: ty,
                blocks: Vec::new(),
                registers: 0,
                slots: Vec::new(),
                register_names: Vec::new(),
                location: LocationId::default(),
                exported: true,
                library: true,
                signature: Vec::new(),
                annotations: Vec::new(),
                alloc_size: Vec::new(),
            });
            self.module.functions.len() - 1
        });
        let callee = parallax_cmodule::Callee::Function(parallax_cmodule::FunctionId(at as u32));
        self.emit(ty, Operation::Call { callee, arguments: Vec::new() })
    }

    fn register(&self, name: &str) -> Result<Varnode, String> {
        let register = self.processor.registers.iter().find(|r| r.name.eq_ignore_ascii_case(name));
        register.map(|register| register.place).ok_or_else(|| format!("no register {name}"))
    }

    /// Puts arguments into their registers.
    pub(crate) fn inputs(&mut self, operands: &Operands, arguments: &[Argument]) -> Result<(), String> {
        // The direction flag is clear, as the calling convention says.
        if let Ok(flag) = self.register("DF") {
            let clear = self.constant(flag.width(), 0);
            self.write(flag, clear)?;
        }
        for operand in &operands.all {
            let Some(number) = operand.argument else { continue };
            let value = Operand::Register(Register(number as u32));
            let name = match &operand.place {
                Place::Register(name) | Place::Memory(name) => *name,
                Place::Immediate(_) => continue,
            };
            let whole = self.register(name)?;
            if matches!(self.module.ty(arguments[number].ty).kind, TypeKind::Pointer) {
                let (of, pointer) = (arguments[number].ty, self.address(whole));
                self.act(Operation::Store { pointer, value, of });
            } else {
                let value = self.resize(Cast::ZExt, operand.width, 64, value);
                self.write(whole, value)?;
            }
        }
        Ok(())
    }

    /// Takes results out of their registers: how the function ends.
    pub(crate) fn outputs(&mut self, operands: &Operands, result: TypeId) -> Result<Terminator, String> {
        let mut values = Vec::new();
        for operand in &operands.all {
            let Some((_, ty)) = operand.result else { continue };
            let Place::Register(name) = &operand.place else { return Err("a result in no register".into()) };
            let whole = self.register(name)?;
            values.push(if matches!(self.module.ty(ty).kind, TypeKind::Pointer) {
                let pointer = self.address(whole);
                self.emit(ty, Operation::Load { pointer })
            } else {
                let value = self.read(whole);
                self.resize(Cast::ZExt, 64, operand.width, value)
            });
        }
        Ok(match values[..] {
            [] => Terminator::Return(None),
            [value] => Terminator::Return(Some(value)),
            _ => {
                let id = ConstantId(self.module.constants.len() as u32);
                self.module.constants.push(Constant::Undefined(result));
                let mut whole = Operand::Constant(id);
                for (index, value) in (0..).zip(values) {
                    whole = self.emit(result, Operation::Insert { a: whole, value, path: vec![index] });
                }
                Terminator::Return(Some(whole))
            }
        })
    }
}
