//! Functions: declarations, bodies, and the stack slots that need no memory.

use super::{Reader, value_name};
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMLinkage, LLVMOpcode, LLVMTypeKind, LLVMValueKind};
use parallax_cmodule::*;
use rustc_hash::FxHashMap;

/// What one function's body refers to by address.
struct Body {
    registers: FxHashMap<LLVMValueRef, Register>,
    slots: FxHashMap<LLVMValueRef, SlotId>,
}

impl Reader {
    /// Gives every global and function its number, so that bodies can refer to them.
    pub(super) unsafe fn declare(&mut self, whole: LLVMModuleRef) {
        // SAFETY: walks the lists of a live module.
        unsafe {
            let mut global = LLVMGetFirstGlobal(whole);
            while !global.is_null() {
                let id = GlobalId(self.out.globals.len() as u32);
                let ty = self.ty(LLVMGlobalGetValueType(global));
                let variable = self.global_variable(global);
                self.out.globals.push(Global {
                    name: value_name(global),
                    ty,
                    initialiser: None,
                    constant: LLVMIsGlobalConstant(global) != 0,
                    exported: is_exported(global),
                    thread_local: LLVMIsThreadLocal(global) != 0,
                    align: LLVMGetAlignment(global).max(1),
                    variable,
                });
                self.globals.insert(global, id);
                global = LLVMGetNextGlobal(global);
            }
            let mut function = LLVMGetFirstFunction(whole);
            while !function.is_null() {
                let id = FunctionId(self.out.functions.len() as u32);
                let made = self.declare_function(function);
                self.out.functions.push(made);
                self.functions.insert(function, id);
                function = LLVMGetNextFunction(function);
            }
        }
    }

    /// The parameters that `alloc_size` names. LLVM packs their numbers: the size above, and below how many of it, or ones.
    unsafe fn alloc_size(&self, function: LLVMValueRef) -> Vec<usize> {
        // SAFETY: `function` is live; an attribute's value is asked for where there is one.
        let packed = unsafe {
            let found = LLVMGetEnumAttributeAtIndex(
                function,
                llvm_sys::LLVMAttributeFunctionIndex,
                self.kinds.alloc_size,
            );
            if found.is_null() {
                return Vec::new();
            }
            LLVMGetEnumAttributeValue(found)
        };
        let (size, count) = ((packed >> 32) as usize, packed as u32);
        std::iter::once(size).chain((count != u32::MAX).then_some(count as usize)).collect()
    }

    unsafe fn declare_function(&mut self, function: LLVMValueRef) -> Function {
        // SAFETY: `function` is live; attributes are asked for by index within its parameters.
        unsafe {
            let ty = LLVMGlobalGetValueType(function);
            let result = self.ty(LLVMGetReturnType(ty));
            let mut parameters = Vec::new();
            for index in 0..LLVMCountParams(function) {
                let parameter = LLVMGetParam(function, index);
                let attribute = |kind| LLVMGetEnumAttributeAtIndex(function, index + 1, kind);
                let by_value = attribute(self.kinds.by_value);
                parameters.push(Parameter {
                    name: value_name(parameter),
                    ty: self.ty(LLVMTypeOf(parameter)),
                    by_value: (!by_value.is_null()).then(|| self.ty(LLVMGetTypeAttributeValue(by_value))),
                    struct_return: !attribute(self.kinds.struct_return).is_null(),
                    nonnull: !attribute(self.kinds.nonnull).is_null(),
                    room: None,
                    variable: None,
                });
            }
            let subprogram = LLVMGetSubprogram(function);
            let location = if subprogram.is_null() {
                LocationId::default()
            } else {
                let scope = self.scope(subprogram);
                let id = LocationId(self.out.locations.len() as u32);
                self.out.locations.push(Location {
                    file: scope.map_or(0, |s| self.out.scopes[s.0 as usize].file),
                    line: LLVMDISubprogramGetLine(subprogram),
                    column: 0,
                    scope,
                    inlined_at: None,
                });
                id
            };
            let library = self.out.files[self.out.location(location).file as usize]
                .starts_with(parallax_cmodule::LIBRARY_PREFIX);
            Function {
                name: value_name(function),
                parameters,
                variadic: LLVMIsFunctionVarArg(ty) != 0,
                result,
                blocks: Vec::new(),
                registers: 0,
                slots: Vec::new(),
                register_names: Vec::new(),
                location,
                exported: is_exported(function),
                library,
                signature: self.signature(subprogram),
                annotations: Vec::new(),
                alloc_size: self.alloc_size(function),
            }
        }
    }

    /// Reads initialisers, bodies and annotations.
    pub(super) unsafe fn define(&mut self, whole: LLVMModuleRef) {
        // SAFETY: walks the lists of a live module, in the order `declare` numbered them.
        unsafe {
            let mut index = 0;
            let mut global = LLVMGetFirstGlobal(whole);
            while !global.is_null() {
                let initialiser = LLVMGetInitializer(global);
                if !initialiser.is_null() {
                    let id = self.constant(initialiser);
                    self.out.globals[index].initialiser = Some(id);
                }
                index += 1;
                global = LLVMGetNextGlobal(global);
            }
            let mut index = 0;
            let mut function = LLVMGetFirstFunction(whole);
            while !function.is_null() {
                if LLVMIsDeclaration(function) == 0 {
                    self.define_function(index, function);
                }
                index += 1;
                function = LLVMGetNextFunction(function);
            }
            self.annotations();
        }
    }

    /// `llvm.global.annotations` lists pairs of a function and the text of its `annotate` attribute.
    fn annotations(&mut self) {
        let Some(list) = self.out.globals.iter().find(|g| g.name == "llvm.global.annotations") else {
            return;
        };
        let Some(Constant::Aggregate(_, entries)) = list.initialiser.map(|id| self.out.constant(id).clone())
        else {
            return;
        };
        for entry in entries {
            let Constant::Aggregate(_, parts) = self.out.constant(entry) else { continue };
            let (Some(&function), Some(&words)) = (parts.first(), parts.get(1)) else { continue };
            let Constant::Function(function) = *self.out.constant(function) else { continue };
            let Constant::Global(text, 0) = *self.out.constant(words) else { continue };
            let Some(Constant::Bytes(_, bytes)) =
                self.out.global(text).initialiser.map(|id| self.out.constant(id))
            else {
                continue;
            };
            let words = String::from_utf8_lossy(bytes).trim_end_matches('\0').to_string();
            self.out.functions[function.0 as usize].annotations.push(words);
        }
    }

    unsafe fn define_function(&mut self, index: usize, function: LLVMValueRef) {
        // SAFETY: walks a live function; operands belong to it.
        unsafe {
            let mut body = Body { registers: FxHashMap::default(), slots: FxHashMap::default() };
            let mut next = 0;
            let mut names = Vec::new();
            for parameter in 0..LLVMCountParams(function) {
                body.registers.insert(LLVMGetParam(function, parameter), Register(next));
                next += 1;
            }
            self.blocks.clear();
            let mut slots = Vec::new();
            let mut block = LLVMGetFirstBasicBlock(function);
            let mut entry = true;
            while !block.is_null() {
                self.blocks.insert(block, self.blocks.len() as u32);
                let mut instruction = LLVMGetFirstInstruction(block);
                while !instruction.is_null() {
                    if entry && self.is_slot(instruction) {
                        body.slots.insert(instruction, SlotId(slots.len() as u32));
                        let ty = self.ty(LLVMGetAllocatedType(instruction));
                        slots.push(Slot { ty, variable: None });
                    } else if !matches!(
                        LLVMGetTypeKind(LLVMTypeOf(instruction)),
                        LLVMTypeKind::LLVMVoidTypeKind
                    ) {
                        body.registers.insert(instruction, Register(next));
                        let name = value_name(instruction);
                        if !name.is_empty() {
                            names.push((Register(next), name));
                        }
                        next += 1;
                    }
                    instruction = LLVMGetNextInstruction(instruction);
                }
                entry = false;
                block = LLVMGetNextBasicBlock(block);
            }
            let mut declared: FxHashMap<LLVMValueRef, VariableId> = FxHashMap::default();
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                self.declared_variables(block, &mut declared);
                block = LLVMGetNextBasicBlock(block);
            }
            for (alloca, slot) in &body.slots {
                slots[slot.0 as usize].variable = declared.get(alloca).copied();
            }
            let mut blocks = Vec::with_capacity(self.blocks.len());
            let mut block = LLVMGetFirstBasicBlock(function);
            while !block.is_null() {
                let made = self.block(block, &body, &declared);
                blocks.push(made);
                block = LLVMGetNextBasicBlock(block);
            }
            // Parameters are named by the slot they are saved in: clang stores each at the head of the entry block.
            let mut parameter_variables = Vec::new();
            if let Some(entry) = blocks.first() {
                for instruction in &entry.instructions {
                    if let Operation::SlotStore { slot, value: Operand::Register(Register(number)) } =
                        instruction.operation
                    {
                        parameter_variables.push((number, slots[slot.0 as usize].variable));
                    }
                }
            }
            let made = &mut self.out.functions[index];
            for (number, variable) in parameter_variables {
                if let Some(parameter) = made.parameters.get_mut(number as usize)
                    && parameter.variable.is_none()
                {
                    parameter.variable = variable;
                }
            }
            made.blocks = blocks;
            made.registers = next;
            made.slots = slots;
            made.register_names = names;
        }
    }

    /// Which stack object each `llvm.dbg.declare` of a block names.
    unsafe fn declared_variables(
        &mut self,
        block: LLVMBasicBlockRef,
        declared: &mut FxHashMap<LLVMValueRef, VariableId>,
    ) {
        // SAFETY: operands are checked to be what the intrinsic promises.
        unsafe {
            let mut instruction = LLVMGetFirstInstruction(block);
            while !instruction.is_null() {
                if matches!(LLVMGetInstructionOpcode(instruction), LLVMOpcode::LLVMCall)
                    && value_name(LLVMGetCalledValue(instruction)) == "llvm.dbg.declare"
                {
                    let wrapped = LLVMGetOperand(instruction, 0);
                    let variable = LLVMGetOperand(instruction, 1);
                    let mut address = std::ptr::null_mut();
                    if LLVMGetMDNodeNumOperands(wrapped) == 1 {
                        LLVMGetMDNodeOperands(wrapped, &mut address);
                    }
                    if !address.is_null()
                        && let Some(id) = self.local_variable(LLVMValueAsMetadata(variable))
                    {
                        declared.entry(address).or_insert(id);
                    }
                }
                instruction = LLVMGetNextInstruction(instruction);
            }
        }
    }

    /// Whether a stack object is only ever loaded and stored whole: then a register does.
    unsafe fn is_slot(&mut self, alloca: LLVMValueRef) -> bool {
        // SAFETY: the opcode is checked before the accessors that need it.
        unsafe {
            if !matches!(LLVMGetInstructionOpcode(alloca), LLVMOpcode::LLVMAlloca) {
                return false;
            }
            let ty = LLVMGetAllocatedType(alloca);
            let count = LLVMGetOperand(alloca, 0);
            let scalar = {
                let id = self.ty(ty);
                self.out.ty(id).bits().is_some()
            };
            if !scalar || LLVMIsAConstantInt(count).is_null() || LLVMConstIntGetZExtValue(count) != 1 {
                return false;
            }
            let mut used = LLVMGetFirstUse(alloca);
            while !used.is_null() {
                let user = LLVMGetUser(used);
                let fits = if LLVMIsAInstruction(user).is_null() {
                    false
                } else {
                    match LLVMGetInstructionOpcode(user) {
                        LLVMOpcode::LLVMLoad => LLVMTypeOf(user) == ty,
                        LLVMOpcode::LLVMStore => {
                            let value = LLVMGetOperand(user, 0);
                            value != alloca && LLVMTypeOf(value) == ty
                        }
                        LLVMOpcode::LLVMCall => {
                            value_name(LLVMGetCalledValue(user)).starts_with("llvm.lifetime.")
                        }
                        _ => false,
                    }
                };
                if !fits {
                    return false;
                }
                used = LLVMGetNextUse(used);
            }
            true
        }
    }

    unsafe fn block(
        &mut self,
        block: LLVMBasicBlockRef,
        body: &Body,
        declared: &FxHashMap<LLVMValueRef, VariableId>,
    ) -> Block {
        // SAFETY: walks a live block.
        unsafe {
            let mut instructions = Vec::new();
            let mut terminator = Terminator::Unsupported("a block without an end".into());
            let mut last = LocationId::default();
            let mut instruction = LLVMGetFirstInstruction(block);
            while !instruction.is_null() {
                let location = self.location(LLVMInstructionGetDebugLoc(instruction));
                if LLVMIsATerminatorInst(instruction).is_null() {
                    if let Some(operation) = self.instruction(instruction, body, declared) {
                        let ty = self.ty(LLVMTypeOf(instruction));
                        let result = body.registers.get(&instruction).copied();
                        instructions.push(Instruction { result, ty, operation, location });
                    }
                } else {
                    terminator = self.terminator(instruction, body);
                    last = location;
                }
                instruction = LLVMGetNextInstruction(instruction);
            }
            let name = {
                let pointer = LLVMGetBasicBlockName(block);
                if pointer.is_null() {
                    String::new()
                } else {
                    std::ffi::CStr::from_ptr(pointer).to_string_lossy().into_owned()
                }
            };
            Block { name, instructions, terminator, location: last }
        }
    }

    unsafe fn operand(&mut self, value: LLVMValueRef, body: &Body) -> Operand {
        match body.registers.get(&value) {
            Some(&register) => Operand::Register(register),
            // SAFETY: everything that is not a register of this function is a constant.
            None => Operand::Constant(unsafe { self.constant(value) }),
        }
    }

    fn block_id(&self, block: LLVMBasicBlockRef) -> BlockId {
        BlockId(self.blocks.get(&block).copied().unwrap_or(0))
    }

    unsafe fn terminator(&mut self, at: LLVMValueRef, body: &Body) -> Terminator {
        // SAFETY: successors and operands are read as each opcode has them.
        unsafe {
            let operands = LLVMGetNumOperands(at) as u32;
            match LLVMGetInstructionOpcode(at) {
                LLVMOpcode::LLVMBr if LLVMIsConditional(at) != 0 => Terminator::Branch {
                    condition: self.operand(LLVMGetCondition(at), body),
                    then: self.block_id(LLVMGetSuccessor(at, 0)),
                    otherwise: self.block_id(LLVMGetSuccessor(at, 1)),
                },
                LLVMOpcode::LLVMBr => Terminator::Jump(self.block_id(LLVMGetSuccessor(at, 0))),
                LLVMOpcode::LLVMSwitch => {
                    let value = LLVMGetOperand(at, 0);
                    let mut cases = Vec::new();
                    for successor in 1..LLVMGetNumSuccessors(at) {
                        let case = self.constant(LLVMGetOperand(at, 2 * successor));
                        cases.push((case, self.block_id(LLVMGetSuccessor(at, successor))));
                    }
                    Terminator::Switch {
                        ty: self.ty(LLVMTypeOf(value)),
                        value: self.operand(value, body),
                        cases,
                        default: self.block_id(LLVMGetSuccessor(at, 0)),
                    }
                }
                LLVMOpcode::LLVMIndirectBr => Terminator::Indirect {
                    address: self.operand(LLVMGetOperand(at, 0), body),
                    targets: (0..LLVMGetNumSuccessors(at))
                        .map(|s| self.block_id(LLVMGetSuccessor(at, s)))
                        .collect(),
                },
                LLVMOpcode::LLVMRet if operands == 0 => Terminator::Return(None),
                LLVMOpcode::LLVMRet => Terminator::Return(Some(self.operand(LLVMGetOperand(at, 0), body))),
                LLVMOpcode::LLVMUnreachable => Terminator::Unreachable,
                LLVMOpcode::LLVMCallBr => Terminator::Unsupported("asm goto".into()),
                LLVMOpcode::LLVMInvoke => Terminator::Unsupported("invoke (exceptions)".into()),
                _ => Terminator::Unsupported(super::owned(LLVMPrintValueToString(at)).trim().to_string()),
            }
        }
    }

    unsafe fn instruction(
        &mut self,
        at: LLVMValueRef,
        body: &Body,
        declared: &FxHashMap<LLVMValueRef, VariableId>,
    ) -> Option<Operation> {
        // SAFETY: operands are read as each opcode has them.
        unsafe {
            let opcode = LLVMGetInstructionOpcode(at);
            Some(match opcode {
                LLVMOpcode::LLVMAlloca => {
                    if body.slots.contains_key(&at) {
                        return None;
                    }
                    let count = LLVMGetOperand(at, 0);
                    Operation::Alloca {
                        of: self.ty(LLVMGetAllocatedType(at)),
                        count: self.operand(count, body),
                        count_type: self.ty(LLVMTypeOf(count)),
                        align: LLVMGetAlignment(at),
                        variable: declared.get(&at).copied(),
                    }
                }
                LLVMOpcode::LLVMLoad => match body.slots.get(&LLVMGetOperand(at, 0)) {
                    Some(&slot) => Operation::SlotLoad { slot },
                    None => Operation::Load { pointer: self.operand(LLVMGetOperand(at, 0), body) },
                },
                LLVMOpcode::LLVMStore => {
                    let value = self.operand(LLVMGetOperand(at, 0), body);
                    match body.slots.get(&LLVMGetOperand(at, 1)) {
                        Some(&slot) => Operation::SlotStore { slot, value },
                        None => Operation::Store {
                            pointer: self.operand(LLVMGetOperand(at, 1), body),
                            value,
                            of: self.ty(LLVMTypeOf(LLVMGetOperand(at, 0))),
                        },
                    }
                }
                LLVMOpcode::LLVMCall => return self.call(at, body),
                LLVMOpcode::LLVMPHI => Operation::Phi {
                    incoming: (0..LLVMCountIncoming(at))
                        .map(|index| {
                            let block = self.block_id(LLVMGetIncomingBlock(at, index));
                            (block, self.operand(LLVMGetIncomingValue(at, index), body))
                        })
                        .collect(),
                },
                _ => self.operation_of(at, opcode, &mut |reader, value| reader.operand(value, body)),
            })
        }
    }

    unsafe fn call(&mut self, at: LLVMValueRef, body: &Body) -> Option<Operation> {
        // SAFETY: `at` is a call; its arguments are its first operands.
        unsafe {
            let called = LLVMGetCalledValue(at);
            let callee = match LLVMGetValueKind(called) {
                // A weak function that nothing defines is null, to call as well.
                LLVMValueKind::LLVMFunctionValueKind if is_missing(called) => {
                    Callee::Pointer(self.operand(called, body))
                }
                LLVMValueKind::LLVMFunctionValueKind => {
                    let name = value_name(called);
                    if name.starts_with("llvm.dbg.")
                        || name.starts_with("llvm.lifetime.") && self.on_slot(at, body)
                    {
                        return None;
                    }
                    Callee::Function(self.functions[&called])
                }
                LLVMValueKind::LLVMInlineAsmValueKind => Callee::Assembly(self.assembly(called)),
                _ => match self.operand(called, body) {
                    Operand::Constant(id) => match *self.out.constant(id) {
                        // An alias of a function is called as the function.
                        Constant::Function(function) => Callee::Function(function),
                        _ => Callee::Pointer(Operand::Constant(id)),
                    },
                    pointer => Callee::Pointer(pointer),
                },
            };
            let mut arguments = Vec::new();
            for index in 0..LLVMGetNumArgOperands(at) {
                let value = LLVMGetOperand(at, index);
                if matches!(LLVMGetTypeKind(LLVMTypeOf(value)), LLVMTypeKind::LLVMMetadataTypeKind) {
                    continue;
                }
                let by_value = LLVMGetCallSiteEnumAttribute(at, index + 1, self.kinds.by_value);
                arguments.push(Argument {
                    value: self.operand(value, body),
                    ty: self.ty(LLVMTypeOf(value)),
                    by_value: (!by_value.is_null()).then(|| self.ty(LLVMGetTypeAttributeValue(by_value))),
                });
            }
            Some(Operation::Call { callee, arguments })
        }
    }

    unsafe fn on_slot(&self, call: LLVMValueRef, body: &Body) -> bool {
        // SAFETY: lifetime intrinsics have the object as last argument.
        unsafe {
            let count = LLVMGetNumArgOperands(call);
            (0..count).any(|index| body.slots.contains_key(&LLVMGetOperand(call, index)))
        }
    }
}

/// Whether a global is weak and nothing defines it: its address is null then.
pub(super) unsafe fn is_missing(value: LLVMValueRef) -> bool {
    // SAFETY: `value` is a live global.
    unsafe {
        matches!(LLVMGetLinkage(value), LLVMLinkage::LLVMExternalWeakLinkage) && LLVMIsDeclaration(value) != 0
    }
}

unsafe fn is_exported(value: LLVMValueRef) -> bool {
    // SAFETY: `value` is a live global.
    !matches!(
        unsafe { LLVMGetLinkage(value) },
        LLVMLinkage::LLVMInternalLinkage | LLVMLinkage::LLVMPrivateLinkage
    )
}
