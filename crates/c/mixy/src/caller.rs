//! A caller for libraries: it calls every function that others can see, in any order and as often as it likes.
//!
//! What it passes is not null: numbers and memory that nobody described, and of pointers also what functions of the library have returned
//! as pointers to the same type. So what one function leaves in an object is there when another one gets it.

use parallax_cmodule::{
    Argument, Block, BlockId, Callee, Compare, Constant, ConstantId, DebugTypeId, Function, FunctionId,
    Instruction, LocationId, Module, Operand, Operation, Register, Slot, SlotId, Terminator, Type, TypeId,
    TypeKind,
};
use parallax_points::has_body;
use std::collections::BTreeMap;

/// What it is called.
pub const CALLER: &str = "any caller";

/// Adds it to a module; how many functions it calls.
pub fn add_caller(module: &mut Module) -> usize {
    let ids = (0..module.functions.len() as u32).map(FunctionId);
    let called: Vec<FunctionId> =
        ids.filter(|&id| has_body(module, id) && module.function(id).exported).collect();
    let mut caller = Caller::new(module);
    for &id in &called {
        caller.call(id);
    }
    let blocks = caller.finish();
    let (registers, slots, nothing) = (caller.registers, caller.slots, caller.nothing);
    let function = Function {
        registers,
        slots: vec![Slot { ty: caller.pointer, variable: None }; slots as usize],
        blocks,
        ..declared(CALLER.into(), nothing)
    };
    module.functions.push(function);
    called.len()
}

/// A function without a body.
fn declared(name: String, result: TypeId) -> Function {
    Function {
        name,
        parameters: Vec::new(),
        variadic: false,
        result,
        blocks: Vec::new(),
        registers: 0,
        slots: Vec::new(),
        register_names: Vec::new(),
        location: LocationId::default(),
        exported: true,
        library: false,
        signature: Vec::new(),
        annotations: Vec::new(),
        alloc_size: Vec::new(),
    }
}

struct Caller<'m> {
    module: &'m mut Module,
    nothing: TypeId,
    pointer: TypeId,
    null: ConstantId,
    registers: u32,
    slots: u32,
    /// Where pointers of each type are kept.
    kept: BTreeMap<Option<DebugTypeId>, SlotId>,
    /// Functions without a body that return anything of a type.
    outside: BTreeMap<TypeId, FunctionId>,
    /// Blocks that are finished, and the instructions of the one that is not.
    done: Vec<Block>,
    open: Vec<Instruction>,
}

impl<'m> Caller<'m> {
    fn new(module: &'m mut Module) -> Self {
        let mut ty = |kind: TypeKind, size| {
            let known = module.types.iter().position(|ty| ty.kind == kind);
            let number = known.unwrap_or_else(|| {
                module.types.push(Type { kind, size, store_size: size, align: 8 });
                module.types.len() - 1
            });
            TypeId(number as u32)
        };
        let (nothing, pointer) = (ty(TypeKind::Void, 0), ty(TypeKind::Pointer, 8));
        module.constants.push(Constant::Null);
        let null = ConstantId(module.constants.len() as u32 - 1);
        let mut caller = Caller {
            module,
            nothing,
            pointer,
            null,
            registers: 0,
            slots: 0,
            kept: BTreeMap::new(),
            outside: BTreeMap::new(),
            done: Vec::new(),
            open: Vec::new(),
        };
        // The loop begins behind the first block.
        caller.end(Terminator::Jump(BlockId(1)));
        caller
    }

    fn push(&mut self, operation: Operation, ty: TypeId) -> Register {
        let result = Register(self.registers);
        let is_value = ty != self.nothing;
        self.registers += u32::from(is_value);
        let result_of = is_value.then_some(result);
        self.open.push(Instruction { result: result_of, ty, operation, location: LocationId::default() });
        result
    }

    fn end(&mut self, terminator: Terminator) {
        let instructions = std::mem::take(&mut self.open);
        self.done.push(Block {
            name: String::new(),
            instructions,
            terminator,
            location: LocationId::default(),
        });
    }

    /// Anything of a type.
    fn anything(&mut self, ty: TypeId) -> Register {
        let id = match self.outside.get(&ty) {
            Some(&id) => id,
            None => {
                let id = FunctionId(self.module.functions.len() as u32);
                let name = format!("what a caller passes ({})", self.outside.len() + 1);
                self.module.functions.push(declared(name, ty));
                self.outside.insert(ty, id);
                id
            }
        };
        self.push(Operation::Call { callee: Callee::Function(id), arguments: Vec::new() }, ty)
    }

    fn slot(&mut self) -> SlotId {
        self.slots += 1;
        SlotId(self.slots - 1)
    }

    /// Where pointers of a type are kept: at first anything.
    fn kept(&mut self, ty: Option<DebugTypeId>) -> SlotId {
        if let Some(&slot) = self.kept.get(&ty) {
            return slot;
        }
        let slot = self.slot();
        self.kept.insert(ty, slot);
        let value = Operand::Register(self.anything(self.pointer));
        self.push(Operation::SlotStore { slot, value }, self.nothing);
        slot
    }

    fn call(&mut self, id: FunctionId) {
        let function = self.module.function(id);
        let (parameters, result) = (function.parameters.clone(), function.result);
        // Structures that are passed in pieces leave numbers and types in no order.
        let described = function.signature.len() == parameters.len() + 1;
        let signature = function.signature.clone();
        let ty = |number: usize| if described { signature[number] } else { None };
        let mut arguments = Vec::new();
        for (number, parameter) in parameters.iter().enumerate() {
            let register = match self.module.ty(parameter.ty).kind {
                TypeKind::Pointer if parameter.by_value.is_none() && !parameter.struct_return => {
                    let slot = self.kept(ty(number + 1));
                    self.push(Operation::SlotLoad { slot }, parameter.ty)
                }
                _ => self.anything(parameter.ty),
            };
            let value = Operand::Register(register);
            arguments.push(Argument { value, ty: parameter.ty, by_value: parameter.by_value });
        }
        let returned = self.push(Operation::Call { callee: Callee::Function(id), arguments }, result);
        if !described || !matches!(self.module.ty(result).kind, TypeKind::Pointer) {
            return;
        }
        // A caller tests what it gets.
        let (slot, tried) = (self.kept(ty(0)), self.slot());
        self.push(Operation::SlotStore { slot: tried, value: Operand::Register(returned) }, self.nothing);
        let a = Operand::Register(self.push(Operation::SlotLoad { slot: tried }, result));
        let test = Operation::Compare { op: Compare::Ne, of: result, a, b: Operand::Constant(self.null) };
        let bit = self.bit();
        let condition = Operand::Register(self.push(test, bit));
        let then = BlockId(self.done.len() as u32 + 1);
        let otherwise = BlockId(then.0 + 1);
        self.end(Terminator::Branch { condition, then, otherwise });
        let value = Operand::Register(self.push(Operation::SlotLoad { slot: tried }, result));
        self.push(Operation::SlotStore { slot, value }, self.nothing);
        self.end(Terminator::Jump(otherwise));
    }

    fn bit(&mut self) -> TypeId {
        let known = self.module.types.iter().position(|ty| ty.kind == TypeKind::Int(1));
        let number = known.unwrap_or_else(|| {
            self.module.types.push(Type { kind: TypeKind::Int(1), size: 1, store_size: 1, align: 1 });
            self.module.types.len() - 1
        });
        TypeId(number as u32)
    }

    /// Goes back to the first call, or ends.
    fn finish(&mut self) -> Vec<Block> {
        let bit = self.bit();
        let condition = Operand::Register(self.anything(bit));
        let last = BlockId(self.done.len() as u32 + 1);
        self.end(Terminator::Branch { condition, then: BlockId(1), otherwise: last });
        self.end(Terminator::Return(None));
        std::mem::take(&mut self.done)
    }
}
