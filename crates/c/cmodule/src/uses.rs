//! Who uses what: operands of instructions, what constants name, what a function can reach, which globals nothing writes.

use crate::{
    Callee, Constant, ConstantId, Function, FunctionId, GlobalId, Module, Operand, Operation, Register,
    Terminator,
};
use std::collections::HashSet;

impl Operation {
    /// What it uses, a function that is called through a pointer included.
    pub fn operands(&self) -> Vec<Operand> {
        match self {
            Operation::Binary { a, b, .. }
            | Operation::FloatBinary { a, b, .. }
            | Operation::Compare { a, b, .. }
            | Operation::FloatCompare { a, b, .. }
            | Operation::Shuffle { a, b, .. } => vec![*a, *b],
            Operation::Select { condition, a, b, .. } => vec![*condition, *a, *b],
            Operation::FloatNegate { a }
            | Operation::Cast { a, .. }
            | Operation::Extract { a, .. }
            | Operation::Freeze { a } => vec![*a],
            Operation::Address { base, indices, .. } => {
                std::iter::once(*base).chain(indices.iter().map(|(index, ..)| *index)).collect()
            }
            Operation::Load { pointer } => vec![*pointer],
            Operation::Store { pointer, value, .. } | Operation::AtomicUpdate { pointer, value, .. } => {
                vec![*pointer, *value]
            }
            Operation::SlotStore { value, .. } => vec![*value],
            Operation::Alloca { count, .. } => vec![*count],
            Operation::Call { callee, arguments } => {
                let through = match callee {
                    Callee::Pointer(pointer) => Some(*pointer),
                    Callee::Function(_) | Callee::Assembly(_) => None,
                };
                through.into_iter().chain(arguments.iter().map(|argument| argument.value)).collect()
            }
            Operation::Insert { a, value, .. } => vec![*a, *value],
            Operation::ExtractElement { a, index, .. } => vec![*a, *index],
            Operation::InsertElement { a, value, index, .. } => vec![*a, *value, *index],
            Operation::Phi { incoming } => incoming.iter().map(|(_, value)| *value).collect(),
            Operation::CompareExchange { pointer, expected, new, .. } => vec![*pointer, *expected, *new],
            Operation::VariadicArgument { list } => vec![*list],
            Operation::SlotLoad { .. } | Operation::Nothing | Operation::Unsupported(_) => Vec::new(),
        }
    }
}

impl Terminator {
    /// The value it uses.
    pub fn operand(&self) -> Option<Operand> {
        match self {
            Terminator::Branch { condition, .. } => Some(*condition),
            Terminator::Switch { value, .. } => Some(*value),
            Terminator::Indirect { address, .. } => Some(*address),
            Terminator::Return(value) => *value,
            Terminator::Jump(_) | Terminator::Unreachable | Terminator::Unsupported(_) => None,
        }
    }
}

impl Function {
    /// Everything that its instructions and terminators use.
    pub fn operands(&self) -> impl Iterator<Item = Operand> + '_ {
        self.blocks.iter().flat_map(|block| {
            let inner = block.instructions.iter().flat_map(|instruction| instruction.operation.operands());
            inner.chain(block.terminator.operand())
        })
    }
}

/// What code names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Globals.
    pub globals: Vec<GlobalId>,
    /// Functions, other than as the callee of a call.
    pub functions: Vec<FunctionId>,
}

/// What can be reached from a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Functions that may run, by number.
    pub functions: Vec<bool>,
    /// Globals that these name, or that the initialisers of such globals name, by number.
    pub globals: Vec<bool>,
}

impl Module {
    /// What constants name, looking through aggregates and expressions.
    pub fn named_by(&self, constants: impl IntoIterator<Item = ConstantId>) -> Names {
        let mut waiting: Vec<ConstantId> = constants.into_iter().collect();
        let mut seen = HashSet::new();
        let mut names = Names::default();
        while let Some(id) = waiting.pop() {
            if matches!(self.constant(id), Constant::Bits(_)) || !seen.insert(id) {
                continue;
            }
            match self.constant(id) {
                Constant::Global(global, _) => names.globals.push(*global),
                Constant::Function(function) => names.functions.push(*function),
                Constant::Aggregate(_, elements) => waiting.extend(elements),
                Constant::Expression(_, operation) => {
                    waiting.extend(operation.operands().into_iter().filter_map(Operand::constant));
                }
                Constant::Bits(_)
                | Constant::Block(..)
                | Constant::Null
                | Constant::Undefined(_)
                | Constant::Zero(_)
                | Constant::Bytes(..) => {}
            }
        }
        names
    }

    /// Whether a global belongs to the library models.
    pub fn is_library_global(&self, id: GlobalId) -> bool {
        self.global(id).variable.is_some_and(|variable| {
            let file = self.variables[variable.0 as usize].file as usize;
            self.files[file].starts_with(crate::LIBRARY_PREFIX)
        })
    }

    /// Functions whose address the program takes, in its code or in initialisers; what the library does for itself does
    /// not count.
    pub fn taken_functions(&self) -> Vec<bool> {
        let code = self.functions.iter().filter(|f| !f.library).flat_map(Function::operands);
        let globals = (0..self.globals.len()).map(|index| GlobalId(index as u32));
        let data =
            globals.filter(|&id| !self.is_library_global(id)).filter_map(|id| self.global(id).initialiser);
        let names = self.named_by(code.filter_map(Operand::constant).chain(data));
        let mut taken = vec![false; self.functions.len()];
        for function in names.functions {
            taken[function.0 as usize] = true;
        }
        taken
    }

    /// What a function can reach: what it calls, and, once anything is called through a pointer, every function whose
    /// address the program takes.
    pub fn reach(&self, from: FunctionId) -> Reach {
        let mut reach =
            Reach { functions: vec![false; self.functions.len()], globals: vec![false; self.globals.len()] };
        let mut waiting = vec![from];
        let mut through_pointers = false;
        while let Some(id) = waiting.pop() {
            if std::mem::replace(&mut reach.functions[id.0 as usize], true) {
                continue;
            }
            let function = self.function(id);
            let mut indirect = false;
            for instruction in function.blocks.iter().flat_map(|block| &block.instructions) {
                match &instruction.operation {
                    Operation::Call { callee: Callee::Function(callee), .. } => waiting.push(*callee),
                    Operation::Call { callee: Callee::Pointer(_), .. } => indirect = true,
                    _ => {}
                }
            }
            let mut constants: Vec<ConstantId> = function.operands().filter_map(Operand::constant).collect();
            while !constants.is_empty() {
                let names = self.named_by(std::mem::take(&mut constants));
                // A function that is named may be called by what it is given to: `qsort`, `atexit`.
                waiting.extend(&names.functions);
                for global in names.globals {
                    if !std::mem::replace(&mut reach.globals[global.0 as usize], true) {
                        constants.extend(self.global(global).initialiser);
                    }
                }
            }
            if indirect && !std::mem::replace(&mut through_pointers, true) {
                let taken = self.taken_functions();
                waiting.extend((0..taken.len()).filter(|&i| taken[i]).map(|i| FunctionId(i as u32)));
            }
        }
        reach
    }

    /// Globals that no code of the module writes, and whose address goes nowhere that could: they are only read, element
    /// by element or copied as a whole.
    pub fn unwritten_globals(&self) -> Vec<bool> {
        let mut fine = vec![true; self.globals.len()];
        for function in &self.functions {
            self.note_writes(function, &mut fine);
        }
        // An address in data may be written through by whoever reads the data.
        let data = self.globals.iter().filter_map(|global| global.initialiser);
        for global in self.named_by(data).globals {
            fine[global.0 as usize] = false;
        }
        fine
    }

    fn note_writes(&self, function: &Function, fine: &mut [bool]) {
        let instructions = || function.blocks.iter().flat_map(|block| &block.instructions);
        // Registers that hold the address of a global, or of a part of it. Blocks come in any order, hence the rounds.
        let mut addresses: Vec<Vec<GlobalId>> = vec![Vec::new(); function.registers as usize];
        let of = |operand: &Operand, addresses: &[Vec<GlobalId>]| match operand {
            Operand::Constant(id) => self.named_by([*id]).globals,
            Operand::Register(Register(number)) => addresses[*number as usize].clone(),
        };
        loop {
            let mut changed = false;
            for instruction in instructions() {
                if let (Operation::Address { base, .. }, Some(Register(number))) =
                    (&instruction.operation, instruction.result)
                {
                    let found = of(base, &addresses);
                    changed |= addresses[number as usize] != found;
                    addresses[number as usize] = found;
                }
            }
            if !changed {
                break;
            }
        }
        let mut note = |operand: &Operand| {
            for global in of(operand, &addresses) {
                fine[global.0 as usize] = false;
            }
        };
        for instruction in instructions() {
            match &instruction.operation {
                Operation::Load { .. } | Operation::Compare { .. } => {}
                Operation::Address { indices, .. } => indices.iter().for_each(|(index, ..)| note(index)),
                Operation::Call { callee: Callee::Function(callee), arguments }
                    if self.function(*callee).name.starts_with("llvm.memcpy")
                        || self.function(*callee).name.starts_with("llvm.memmove") =>
                {
                    // The second is only read.
                    arguments.iter().enumerate().filter(|(at, _)| *at != 1).for_each(|(_, a)| note(&a.value));
                }
                operation => operation.operands().iter().for_each(&mut note),
            }
        }
        function
            .blocks
            .iter()
            .filter_map(|block| block.terminator.operand())
            .for_each(|operand| note(&operand));
    }
}

impl Operand {
    /// The constant it is.
    pub fn constant(self) -> Option<ConstantId> {
        match self {
            Operand::Constant(id) => Some(id),
            Operand::Register(_) => None,
        }
    }
}
