//! A module as flows of pointers between nodes: what both the pointer analysis and qualifier inference read.
//!
//! A node is a register, a slot, the result of a function, or a constant address; cells of memory become nodes when the
//! pointer analysis finds them. Integers of eight bytes carry pointers too: a pointer may take the way through one.

use crate::object::{Object, ObjectId, ObjectKind, Site};
use parallax_cmodule::Module;
use parallax_cmodule::{
    BlockId, Callee, Cast, Constant, ConstantId, FunctionId, Operand, Operation, Register, Rmw, Terminator,
    TypeId, TypeKind,
};
use parallax_op::BinOp;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Number of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub u32);

/// What is used: a node, or null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// What this node holds.
    Node(Node),
    /// The null pointer.
    Null,
}

/// An operand: one value as a rule; several for a constant made of several; none for what is no pointer.
pub type Values = SmallVec<[Value; 1]>;

/// One thing an instruction does with pointers.
#[derive(Clone, Debug)]
pub enum Flow {
    /// The same pointer elsewhere.
    Copy {
        /// The pointer.
        from: Value,
        /// Where it goes.
        to: Node,
    },
    /// A pointer moved by a constant and any number of steps.
    Move {
        /// The pointer.
        from: Value,
        /// The moved one.
        to: Node,
        /// Bytes it is moved by.
        constant: i64,
        /// Lengths of steps, each taken any number of times.
        steps: SmallVec<[i64; 1]>,
    },
    /// A pointer after arithmetic that is not followed: anywhere in its object.
    Anywhere {
        /// The pointer.
        from: Value,
        /// The result.
        to: Node,
    },
    /// The address of a new object.
    New {
        /// The object.
        object: ObjectId,
        /// Where its address goes.
        to: Node,
    },
    /// A read of memory; `to` is empty where what is read is no pointer.
    Load {
        /// From where.
        pointer: Value,
        /// Where it goes.
        to: Option<Node>,
    },
    /// A write of memory.
    Store {
        /// To where.
        pointer: Value,
        /// What; empty where it is no pointer.
        values: Values,
    },
    /// Bytes copied from one place to another.
    Transfer {
        /// To where.
        to: Value,
        /// From where.
        from: Value,
        /// How many, where that is constant.
        len: Option<u64>,
    },
    /// Memory set to zero.
    Clear {
        /// Where.
        pointer: Value,
        /// How many bytes, where that is constant.
        len: Option<u64>,
    },
    /// A call.
    Call(Call),
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is called.
    pub callee: Called,
    /// Arguments.
    pub arguments: Vec<Passed>,
    /// Where the result goes, if it may carry a pointer.
    pub result: Option<Node>,
    /// Whether the result is a pointer.
    pub pointer: bool,
}

/// What is called.
#[derive(Clone, Debug)]
pub enum Called {
    /// A function.
    Function(FunctionId),
    /// What a pointer points to.
    Pointer(Value),
    /// Assembly.
    Assembly,
}

/// An argument.
#[derive(Clone, Debug)]
pub struct Passed {
    /// What is passed.
    pub values: Values,
    /// Whether its type is a pointer.
    pub pointer: bool,
    /// The type of what the callee gets a copy of.
    pub by_value: Option<TypeId>,
}

/// The flows of a module.
pub struct Flows {
    /// All flows, function by function, with where each happens.
    pub flows: Vec<(Site, Flow)>,
    /// For each function, its flows.
    pub ranges: Vec<std::ops::Range<usize>>,
    /// Constant addresses: node, object, offset.
    pub addresses: Vec<(Node, ObjectId, i64)>,
    /// What memory holds at the start: object, offset, value; null where it is zero.
    pub initial: Vec<(ObjectId, i64, Value)>,
    /// Objects that have a name.
    pub objects: Vec<Object>,
    /// How many nodes there are.
    pub nodes: u32,
    /// Registers that are the same as another node, because that is all that flows into them.
    pub same: Vec<(Node, Node)>,
    /// For each allocation in a function that only allocates, the memory that its calls make.
    pub made: FxHashMap<Site, Vec<ObjectId>>,
    /// What such calls copy into it: the allocation, the new memory, and what is copied.
    pub copied: Vec<(Site, Node, Node)>,
    first: Vec<u32>,
    registers: Vec<u32>,
    slots: Vec<u32>,
    constants: FxHashMap<(ObjectId, i64), Node>,
    by_kind: FxHashMap<ObjectKind, ObjectId>,
}

impl Flows {
    /// Reads a module. Bodies of library models are left out: rows in a table stand for them.
    pub fn of(module: &Module) -> Flows {
        let mut flows = Flows {
            flows: Vec::new(),
            ranges: Vec::new(),
            addresses: Vec::new(),
            initial: Vec::new(),
            objects: Vec::new(),
            nodes: 0,
            same: Vec::new(),
            made: FxHashMap::default(),
            copied: Vec::new(),
            first: Vec::new(),
            registers: Vec::new(),
            slots: Vec::new(),
            constants: FxHashMap::default(),
            by_kind: FxHashMap::default(),
        };
        for function in &module.functions {
            flows.first.push(flows.nodes);
            let registers = function.registers.max(function.parameters.len() as u32);
            flows.registers.push(registers);
            flows.slots.push(function.slots.len() as u32);
            flows.nodes += registers + function.slots.len() as u32 + 1;
        }
        flows.initialisers(module);
        for number in 0..module.functions.len() {
            let start = flows.flows.len();
            let id = FunctionId(number as u32);
            if has_body(module, id) {
                flows.body(module, id);
            }
            flows.ranges.push(start..flows.flows.len());
        }
        flows
    }

    /// The node of a register; parameters are the first ones.
    pub fn register(&self, function: FunctionId, register: Register) -> Node {
        Node(self.first[function.0 as usize] + register.0)
    }

    /// The node of a slot.
    pub fn slot(&self, function: FunctionId, slot: u32) -> Node {
        Node(self.first[function.0 as usize] + self.registers[function.0 as usize] + slot)
    }

    /// The node of what a function returns.
    pub fn result(&self, function: FunctionId) -> Node {
        let at = function.0 as usize;
        Node(self.first[at] + self.registers[at] + self.slots[at])
    }

    /// The function a node belongs to, with what it is there: a register, a slot after them, or the result.
    pub fn owner(&self, node: Node) -> Option<(FunctionId, Place)> {
        let at = self.first.partition_point(|&first| first <= node.0).checked_sub(1)?;
        let inside = node.0 - self.first[at];
        let (registers, slots) = (self.registers[at], self.slots[at]);
        let place = if inside < registers {
            Place::Register(Register(inside))
        } else if inside < registers + slots {
            Place::Slot(inside - registers)
        } else if inside == registers + slots {
            Place::Result
        } else {
            return None;
        };
        Some((FunctionId(at as u32), place))
    }

    /// An object by what it stands for.
    pub fn object(&self, kind: ObjectKind) -> Option<ObjectId> {
        self.by_kind.get(&kind).copied()
    }

    pub(crate) fn make(&mut self, kind: ObjectKind, ty: Option<TypeId>) -> ObjectId {
        let next = ObjectId(self.objects.len() as u32);
        let id = *self.by_kind.entry(kind).or_insert(next);
        if id == next {
            self.objects.push(Object::new(kind, ty));
        }
        id
    }

    pub(crate) fn address(&mut self, object: ObjectId, offset: i64) -> Node {
        if let Some(&node) = self.constants.get(&(object, offset)) {
            return node;
        }
        let node = Node(self.nodes);
        self.nodes += 1;
        self.constants.insert((object, offset), node);
        self.addresses.push((node, object, offset));
        node
    }

    fn global(&mut self, module: &Module, id: parallax_cmodule::GlobalId) -> ObjectId {
        let global = module.global(id);
        // Structures keep their words: one of them may be read as a pointer.
        let plain = match module.ty(global.ty).kind {
            TypeKind::Struct(_) => word_offsets(module, global.ty).is_empty(),
            _ => pointer_offsets(module, global.ty).is_empty(),
        };
        // Zeros that are copied to where pointers are make them null: what may be nothing else stays by itself.
        let zeros = |id: ConstantId| matches!(module.constant(id), Constant::Zero(_));
        let other = global.initialiser.is_some_and(|id| !zeros(id) || module.ty(global.ty).size < 8);
        if global.constant && other && plain {
            return self.make(ObjectKind::Constants, None);
        }
        self.make(ObjectKind::Global(id), Some(global.ty))
    }

    fn initialisers(&mut self, module: &Module) {
        for (number, global) in module.globals.iter().enumerate() {
            let object = self.global(module, parallax_cmodule::GlobalId(number as u32));
            let Some(initialiser) = global.initialiser else { continue };
            let mut waiting = vec![(initialiser, global.ty, 0i64)];
            while let Some((constant, ty, at)) = waiting.pop() {
                match module.constant(constant) {
                    Constant::Aggregate(ty, parts) => match &module.ty(*ty).kind {
                        TypeKind::Struct(fields) => {
                            let fields = fields.iter().zip(parts);
                            waiting
                                .extend(fields.map(|((ty, start), part)| (*part, *ty, at + *start as i64)));
                        }
                        TypeKind::Array { element, .. } | TypeKind::Vector { element, .. } => {
                            let step = module.ty(*element).size as i64;
                            let parts = parts.iter().enumerate();
                            waiting.extend(parts.map(|(i, part)| (*part, *element, at + i as i64 * step)));
                        }
                        _ => {}
                    },
                    Constant::Null => self.initial.push((object, at, Value::Null)),
                    Constant::Zero(_) => {
                        let places = word_offsets(module, ty);
                        self.initial.extend(places.into_iter().map(|o| (object, at + o, Value::Null)));
                    }
                    // A member of a union that is read as a pointer may be written as a number.
                    Constant::Bits(_) if is_zero_word(module, constant) => {
                        self.initial.push((object, at, Value::Null));
                    }
                    Constant::Bits(_) | Constant::Bytes(..) | Constant::Undefined(_) => {}
                    _ => {
                        for value in self.constant(module, constant) {
                            self.initial.push((object, at, value));
                        }
                    }
                }
            }
        }
    }

    /// The pointers a constant may be.
    fn constant(&mut self, module: &Module, id: ConstantId) -> Values {
        match module.constant(id) {
            Constant::Null | Constant::Zero(_) => smallvec![Value::Null],
            Constant::Global(global, offset) => {
                let object = self.global(module, *global);
                smallvec![Value::Node(self.address(object, *offset))]
            }
            Constant::Function(function) => {
                let object = self.make(ObjectKind::Function(*function), None);
                smallvec![Value::Node(self.address(object, 0))]
            }
            Constant::Aggregate(_, parts) => {
                let mut values = Values::new();
                for part in parts {
                    values.extend(self.constant(module, *part));
                }
                values.sort_by_key(|value| match value {
                    Value::Node(node) => node.0,
                    Value::Null => u32::MAX,
                });
                values.dedup();
                values
            }
            Constant::Expression(_, operation) => {
                let operands: Vec<(Operand, bool)> = match &**operation {
                    Operation::Cast { a, .. } | Operation::Freeze { a } => vec![(*a, true)],
                    Operation::Select { a, b, .. } => vec![(*a, true), (*b, true)],
                    Operation::Address { base, .. } => vec![(*base, false)],
                    Operation::Binary { a, b, .. } => vec![(*a, false), (*b, false)],
                    _ => Vec::new(),
                };
                let mut values = Values::new();
                for (operand, exact) in operands {
                    let Operand::Constant(id) = operand else { continue };
                    for value in self.constant(module, id) {
                        let Value::Node(node) = value else {
                            values.push(value);
                            continue;
                        };
                        // Nodes are numbered as they are made, so the list is in their order.
                        let Ok(known) = self.addresses.binary_search_by_key(&node, |known| known.0) else {
                            continue;
                        };
                        let (_, object, offset) = self.addresses[known];
                        let moved = match &**operation {
                            _ if exact => offset,
                            Operation::Address { offset: by, indices, .. } if indices.is_empty() => {
                                offset.saturating_add(*by)
                            }
                            _ => crate::object::ANYWHERE,
                        };
                        values.push(Value::Node(self.address(object, moved)));
                    }
                }
                values
            }
            Constant::Bits(_) | Constant::Bytes(..) | Constant::Undefined(_) | Constant::Block(..) => {
                Values::new()
            }
        }
    }

    fn values(&mut self, module: &Module, function: FunctionId, operand: &Operand) -> Values {
        match operand {
            Operand::Register(register) => smallvec![Value::Node(self.register(function, *register))],
            Operand::Constant(id) => self.constant(module, *id),
        }
    }

    /// The value of an operand that is one pointer.
    fn value(&mut self, module: &Module, function: FunctionId, operand: &Operand) -> Option<Value> {
        self.values(module, function, operand).first().copied()
    }

    fn body(&mut self, module: &Module, id: FunctionId) {
        let function = module.function(id);
        let types = register_types(module, id);
        for (number, block) in function.blocks.iter().enumerate() {
            for (index, instruction) in block.instructions.iter().enumerate() {
                let site = Site { function: id, block: BlockId(number as u32), index: index as u32 };
                let to = instruction.result.map(|register| self.register(id, register));
                let carries = carries(module, instruction.ty);
                self.operation(module, site, &instruction.operation, to, carries, instruction.ty, &types);
            }
            if let Terminator::Return(Some(value)) = &block.terminator {
                let index = block.instructions.len() as u32;
                let site = Site { function: id, block: BlockId(number as u32), index };
                if carries(module, function.result) {
                    let to = self.result(id);
                    self.copies(module, site, &[*value], to);
                }
            }
        }
    }

    fn push(&mut self, site: Site, flow: Flow) {
        self.flows.push((site, flow));
    }

    fn copies(&mut self, module: &Module, site: Site, operands: &[Operand], to: Node) {
        for operand in operands {
            for from in self.values(module, site.function, operand) {
                self.push(site, Flow::Copy { from, to });
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one instruction")]
    fn operation(
        &mut self,
        module: &Module,
        site: Site,
        operation: &Operation,
        to: Option<Node>,
        carries: bool,
        ty: TypeId,
        types: &[Option<TypeId>],
    ) {
        let id = site.function;
        let result = to.filter(|_| carries);
        match operation {
            Operation::SlotLoad { slot } => {
                if let Some(to) = result {
                    let from = self.slot(id, slot.0);
                    self.same.push((to, from));
                    self.push(site, Flow::Copy { from: Value::Node(from), to });
                }
            }
            Operation::SlotStore { slot, value } => {
                let to = self.slot(id, slot.0);
                if is_carrying(module, value, types) {
                    self.copies(module, site, &[*value], to);
                }
            }
            Operation::Cast { op, from, a } => {
                let keeps =
                    matches!(op, Cast::PtrToInt | Cast::IntToPtr | Cast::Bitcast | Cast::ZExt | Cast::SExt);
                if let (Some(to), true, true) = (result, keeps, self::carries(module, *from)) {
                    if let Some(Value::Node(from)) = self.value(module, id, a) {
                        self.same.push((to, from));
                    }
                    self.copies(module, site, &[*a], to);
                }
            }
            Operation::Freeze { a } => {
                if let Some(to) = result {
                    self.copies(module, site, &[*a], to);
                }
            }
            Operation::Select { a, b, .. } => {
                if let Some(to) = result {
                    self.copies(module, site, &[*a, *b], to);
                }
            }
            Operation::Phi { incoming } => {
                if let Some(to) = result {
                    let operands: Vec<Operand> = incoming.iter().map(|(_, value)| *value).collect();
                    self.copies(module, site, &operands, to);
                }
            }
            Operation::Address { base, offset, indices, .. } => {
                let Some(to) = result else { return };
                let steps: SmallVec<[i64; 1]> = indices.iter().map(|(_, _, step)| *step).collect();
                for from in self.values(module, id, base) {
                    self.push(site, Flow::Move { from, to, constant: *offset, steps: steps.clone() });
                }
            }
            Operation::Binary { op, a, b } => {
                let Some(to) = result else { return };
                let operands: &[Operand] = match op.op {
                    BinOp::Add | BinOp::And | BinOp::Or | BinOp::Xor => &[*a, *b],
                    BinOp::Sub => &[*a],
                    _ => &[],
                };
                for operand in operands {
                    for from in self.values(module, id, operand) {
                        self.push(site, Flow::Anywhere { from, to });
                    }
                }
            }
            Operation::Load { pointer } => {
                for pointer in self.values(module, id, pointer) {
                    self.push(site, Flow::Load { pointer, to: result });
                    for pointer in self.further(module, site, pointer, ty) {
                        self.push(site, Flow::Load { pointer, to: result });
                    }
                }
            }
            Operation::Store { pointer, value, of } => {
                let values = self.written(module, id, value, *of);
                for pointer in self.values(module, id, pointer) {
                    self.push(site, Flow::Store { pointer, values: values.clone() });
                    for pointer in self.further(module, site, pointer, *of) {
                        self.push(site, Flow::Store { pointer, values: values.clone() });
                    }
                }
            }
            Operation::Alloca { of, .. } => {
                let Some(to) = to else { return };
                let object = self.make(ObjectKind::Stack(site), Some(*of));
                self.push(site, Flow::New { object, to });
            }
            Operation::Extract { a, .. } | Operation::ExtractElement { a, .. } => {
                if let Some(to) = result {
                    self.copies(module, site, &[*a], to);
                }
            }
            Operation::Insert { a, value, .. } | Operation::InsertElement { a, value, .. } => {
                if let Some(to) = result {
                    self.copies(module, site, &[*a, *value], to);
                }
            }
            Operation::Shuffle { a, b, .. } => {
                if let Some(to) = result {
                    self.copies(module, site, &[*a, *b], to);
                }
            }
            Operation::AtomicUpdate { op, pointer, value } => {
                let Some(pointer) = self.value(module, id, pointer) else { return };
                self.push(site, Flow::Load { pointer, to: result });
                let values = match (op, value) {
                    // Of a word of which nothing is kept null is left.
                    (Rmw::Xchg, _) | (Rmw::Binary(BinOp::And), Operand::Constant(_)) => {
                        self.written(module, id, value, ty)
                    }
                    _ => Values::new(),
                };
                self.push(site, Flow::Store { pointer, values });
            }
            Operation::CompareExchange { pointer, new, of, .. } => {
                let Some(pointer) = self.value(module, id, pointer) else { return };
                self.push(site, Flow::Load { pointer, to: result });
                let values = self.written(module, id, new, *of);
                self.push(site, Flow::Store { pointer, values });
            }
            Operation::VariadicArgument { list } => {
                let Some(pointer) = self.value(module, id, list) else { return };
                let area = Node(self.nodes);
                self.nodes += 1;
                self.push(site, Flow::Load { pointer, to: Some(area) });
                self.push(site, Flow::Load { pointer: Value::Node(area), to: result });
            }
            Operation::Call { callee, arguments } => {
                let callee = match callee {
                    Callee::Function(function) => Called::Function(*function),
                    Callee::Pointer(pointer) => match self.value(module, id, pointer) {
                        Some(value) => Called::Pointer(value),
                        None => Called::Assembly,
                    },
                    Callee::Assembly(_) => Called::Assembly,
                };
                let mut passed = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    let values = match self::carries(module, argument.ty) {
                        true => self.values(module, id, &argument.value),
                        false => Values::new(),
                    };
                    let pointer = matches!(module.ty(argument.ty).kind, TypeKind::Pointer);
                    passed.push(Passed { values, pointer, by_value: argument.by_value });
                }
                let pointer = matches!(module.ty(ty).kind, TypeKind::Pointer);
                let call = Call { callee, arguments: passed, result, pointer };
                if !self.intrinsic(module, site, &call, arguments) {
                    self.push(site, Flow::Call(call));
                }
            }
            Operation::FloatBinary { .. }
            | Operation::FloatNegate { .. }
            | Operation::Compare { .. }
            | Operation::FloatCompare { .. }
            | Operation::Nothing
            | Operation::Unsupported(_) => {}
        }
    }

    /// The pointers that an instruction writes to memory; the number 0 in eight bytes is null there.
    fn written(&mut self, module: &Module, function: FunctionId, value: &Operand, ty: TypeId) -> Values {
        match value {
            _ if !carries(module, ty) => Values::new(),
            Operand::Constant(zero) if is_zero_word(module, *zero) => smallvec![Value::Null],
            _ => self.values(module, function, value),
        }
    }

    /// Where the other words lie of a structure that is read or written as one value.
    fn further(&mut self, module: &Module, site: Site, pointer: Value, ty: TypeId) -> Vec<Value> {
        let layout = module.ty(ty);
        let whole =
            matches!(layout.kind, TypeKind::Struct(_) | TypeKind::Array { .. } | TypeKind::Vector { .. });
        let words = if whole { layout.size.div_ceil(8).min(MOST_WORDS) } else { 1 };
        let mut found = Vec::new();
        for word in 1..words {
            let to = Node(self.nodes);
            self.nodes += 1;
            let constant = 8 * word as i64;
            self.push(site, Flow::Move { from: pointer, to, constant, steps: SmallVec::new() });
            found.push(Value::Node(to));
        }
        found
    }

    /// Intrinsics, and the memory functions that mean the same.
    fn intrinsic(
        &mut self,
        module: &Module,
        site: Site,
        call: &Call,
        arguments: &[parallax_cmodule::Argument],
    ) -> bool {
        let Called::Function(function) = call.callee else { return false };
        let function = module.function(function);
        let name = function.name.as_str();
        let constant = |index: usize| match arguments.get(index).map(|a| a.value) {
            Some(Operand::Constant(id)) => match module.constant(id) {
                Constant::Bits(bits) => bits.to_u64(),
                _ => None,
            },
            _ => None,
        };
        let first = |index: usize| call.arguments.get(index).and_then(|a| a.values.first().copied());
        let own = !has_body_named(function);
        let moves = name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove");
        if moves || (own && matches!(name, "memcpy" | "memmove" | "__memcpy_chk" | "__memmove_chk")) {
            if let (Some(to), Some(from)) = (first(0), first(1)) {
                self.push(site, Flow::Transfer { to, from, len: constant(2) });
                if let Some(result) = call.result {
                    self.push(site, Flow::Copy { from: to, to: result });
                }
            }
            return true;
        }
        let sets = match name {
            _ if name.starts_with("llvm.memset") => {
                Some(Fill { byte: constant(1).map(low), len: constant(2) })
            }
            _ if !own => None,
            "memset" | "__memset_chk" => Some(Fill { byte: constant(1).map(low), len: constant(2) }),
            "wmemset" | "__wmemset_chk" => {
                let len = constant(2).and_then(|count| count.checked_mul(4));
                Some(Fill { byte: constant(1), len })
            }
            "bzero" | "explicit_bzero" | "__explicit_bzero_chk" => {
                Some(Fill { byte: Some(0), len: constant(1) })
            }
            _ => None,
        };
        if let Some(Fill { byte, len }) = sets {
            if let Some(pointer) = first(0) {
                // What is not constant may be zero.
                if byte.is_none_or(|byte| byte == 0) {
                    self.push(site, Flow::Clear { pointer, len });
                } else if len != Some(0) {
                    self.push(site, Flow::Store { pointer, values: Values::new() });
                }
                if let Some(result) = call.result {
                    self.push(site, Flow::Copy { from: pointer, to: result });
                }
            }
            return true;
        }
        if name.starts_with("llvm.va_start") {
            if let Some(list) = first(0) {
                let object = self.make(ObjectKind::Variadic(site.function), None);
                let area = self.address(object, 0);
                for offset in [8, 16] {
                    let at = Node(self.nodes);
                    self.nodes += 1;
                    self.push(
                        site,
                        Flow::Move { from: list, to: at, constant: offset, steps: SmallVec::new() },
                    );
                    let values = smallvec![Value::Node(area)];
                    self.push(site, Flow::Store { pointer: Value::Node(at), values });
                }
            }
            return true;
        }
        if name.starts_with("llvm.va_copy") {
            if let (Some(to), Some(from)) = (first(0), first(1)) {
                self.push(site, Flow::Transfer { to, from, len: Some(24) });
            }
            return true;
        }
        if name.starts_with("llvm.") {
            // What returns its argument, and what returns no pointer at all.
            let same = [
                "llvm.expect",
                "llvm.ptrmask",
                "llvm.launder",
                "llvm.strip",
                "llvm.ssa.copy",
                "llvm.annotation",
            ];
            if let (Some(to), true) = (call.result, same.iter().any(|prefix| name.starts_with(prefix))) {
                for from in call.arguments.first().map(|a| a.values.clone()).unwrap_or_default() {
                    self.push(site, Flow::Anywhere { from, to });
                }
            }
            return true;
        }
        false
    }
}

/// Memory that is set to one value: which, and how many bytes, where these are constant.
struct Fill {
    byte: Option<u64>,
    len: Option<u64>,
}

/// The byte that `memset` writes of a number.
fn low(number: u64) -> u64 {
    number & 0xff
}

/// Words of one value that are told apart: compilers make values of few.
const MOST_WORDS: u64 = 64;

/// What a node is in its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A register.
    Register(Register),
    /// A slot.
    Slot(u32),
    /// What it returns.
    Result,
}

/// Whether a function is analysed by its body.
pub fn has_body(module: &Module, function: FunctionId) -> bool {
    has_body_named(module.function(function))
}

fn has_body_named(function: &parallax_cmodule::Function) -> bool {
    function.is_defined() && !function.library
}

/// Whether values of a type can carry a pointer.
pub fn carries(module: &Module, ty: TypeId) -> bool {
    match &module.ty(ty).kind {
        TypeKind::Pointer => true,
        TypeKind::Int(width) => *width >= 64,
        TypeKind::Struct(_) | TypeKind::Array { .. } | TypeKind::Vector { .. } => module.ty(ty).size >= 8,
        _ => false,
    }
}

fn is_carrying(module: &Module, operand: &Operand, types: &[Option<TypeId>]) -> bool {
    match operand {
        Operand::Register(register) => {
            types.get(register.0 as usize).copied().flatten().is_none_or(|ty| carries(module, ty))
        }
        Operand::Constant(id) => !matches!(module.constant(*id), Constant::Bits(_) | Constant::Undefined(_)),
    }
}

fn register_types(module: &Module, id: FunctionId) -> Vec<Option<TypeId>> {
    let function = module.function(id);
    let mut types = vec![None; function.registers.max(function.parameters.len() as u32) as usize];
    for (number, parameter) in function.parameters.iter().enumerate() {
        types[number] = Some(parameter.ty);
    }
    for instruction in function.blocks.iter().flat_map(|b| &b.instructions) {
        if let Some(register) = instruction.result {
            types[register.0 as usize] = Some(instruction.ty);
        }
    }
    types
}

/// Whether a constant is the number 0 in eight bytes: null, where it is read as a pointer.
fn is_zero_word(module: &Module, id: ConstantId) -> bool {
    matches!(module.constant(id), Constant::Bits(bits) if bits.width() == 64 && bits.to_u64() == Some(0))
}

/// Where a type holds pointers, elements of arrays taken as one.
pub fn pointer_offsets(module: &Module, ty: TypeId) -> Vec<i64> {
    offsets(module, ty, |kind| matches!(kind, TypeKind::Pointer))
}

/// The same, with numbers that are as wide as a pointer.
fn word_offsets(module: &Module, ty: TypeId) -> Vec<i64> {
    offsets(module, ty, |kind| matches!(kind, TypeKind::Pointer | TypeKind::Int(64)))
}

fn offsets(module: &Module, ty: TypeId, wanted: impl Fn(&TypeKind) -> bool) -> Vec<i64> {
    let mut found = Vec::new();
    let mut waiting = vec![(ty, 0i64, 0u32)];
    while let Some((ty, at, depth)) = waiting.pop() {
        if depth > 64 {
            continue;
        }
        match &module.ty(ty).kind {
            kind if wanted(kind) => found.push(at),
            TypeKind::Array { element, .. } | TypeKind::Vector { element, .. } => {
                waiting.push((*element, at, depth + 1));
            }
            TypeKind::Struct(fields) => {
                waiting.extend(fields.iter().map(|(field, start)| (*field, at + *start as i64, depth + 1)));
            }
            _ => {}
        }
    }
    found.sort_unstable();
    found
}
