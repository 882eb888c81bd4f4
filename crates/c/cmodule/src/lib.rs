//! A program as this workbench sees it: what clang made of the C files, in a compact form that owes nothing to LLVM.
//!
//! Everything is an index into a table of [`Module`], operands are resolved, layouts are computed, and constants are
//! evaluated as far as they can be before the program runs. Debug information sits beside the code: every instruction
//! has a [`LocationId`], every stack slot, parameter and global knows its C name and type.

pub mod annotations;
mod debug;
mod instruction;
mod uses;

pub use debug::{
    DebugType, DebugTypeId, Field, Location, LocationId, Scope, ScopeId, Spot, Variable, VariableId,
};
pub use instruction::{
    Argument, Assembly, Binary, Callee, Cast, Compare, FloatBinary, FloatCompare, Instruction, Operand,
    Operation, Rmw, SlotId, Terminator,
};

pub use uses::{Names, Reach};

use annotations::Qualifier;
use parallax_op::{Bits, FloatFormat, Width};

/// Files of the library models are named with this prefix in debug information.
pub const LIBRARY_PREFIX: &str = "<libc>/";

/// Index of a type in [`Module::types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(pub u32);
/// Index of a constant in [`Module::constants`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstantId(pub u32);
/// Index of a global variable in [`Module::globals`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalId(pub u32);
/// Index of a function in [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);
/// Index of a block in [`Function::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);
/// A virtual register of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u32);

/// A linked program.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// What it is called in messages.
    pub name: String,
    /// Types with their layout.
    pub types: Vec<Type>,
    /// Constants, shared by all functions.
    pub constants: Vec<Constant>,
    /// Global variables, defined or declared.
    pub globals: Vec<Global>,
    /// Functions, defined or declared.
    pub functions: Vec<Function>,
    /// Source files that locations speak of.
    pub files: Vec<String>,
    /// Places in the source; entry 0 is "nowhere".
    pub locations: Vec<Location>,
    /// Lexical scopes.
    pub scopes: Vec<Scope>,
    /// C variables: locals, parameters, globals.
    pub variables: Vec<Variable>,
    /// C types as debug information gives them.
    pub debug_types: Vec<DebugType>,
    /// What declarations and casts promise, once somebody asked (see [`annotations`]).
    pub qualifiers: Vec<Qualifier>,
    /// What clang or LLVM warned about while reading.
    pub warnings: Vec<String>,
}

/// A type with its layout on the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// Its shape.
    pub kind: TypeKind,
    /// Bytes from one element of an array to the next.
    pub size: u64,
    /// Bytes that a store writes.
    pub store_size: u64,
    /// Alignment in bytes.
    pub align: u32,
}

/// The shape of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// No value.
    Void,
    /// An integer.
    Int(Width),
    /// A floating-point number.
    Float(FloatFormat),
    /// A pointer; what it points to is not part of its type.
    Pointer,
    /// An array.
    Array {
        /// Type of one element.
        element: TypeId,
        /// The number of elements.
        len: u64,
    },
    /// A vector; its elements are packed.
    Vector {
        /// Type of one element.
        element: TypeId,
        /// The number of elements.
        len: u64,
    },
    /// A structure: each field with its byte offset.
    Struct(Vec<(TypeId, u64)>),
    /// Something no C program needs (labels, tokens, target types), by name.
    Other(String),
}

/// A constant operand or initialiser.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// An integer or the bits of a floating-point number.
    Bits(Bits),
    /// The null pointer.
    Null,
    /// The address of a global variable plus an offset.
    Global(GlobalId, i64),
    /// The address of a function.
    Function(FunctionId),
    /// An address in a block that is jumped to indirectly.
    Block(FunctionId, BlockId),
    /// No particular value (`undef`, `poison`), of this type.
    Undefined(TypeId),
    /// All zero bytes, of this type.
    Zero(TypeId),
    /// An array, vector or structure, element by element.
    Aggregate(TypeId, Vec<ConstantId>),
    /// An array of plain bytes: what most initialisers are.
    Bytes(TypeId, Vec<u8>),
    /// An operation that needs addresses: evaluated when the program starts. Operands are constants.
    Expression(TypeId, Box<Operation>),
}

/// A global variable.
#[derive(Clone, Debug)]
pub struct Global {
    /// Linker name.
    pub name: String,
    /// Type of the variable itself.
    pub ty: TypeId,
    /// What it starts as; `None` when it is declared only.
    pub initialiser: Option<ConstantId>,
    /// Whether it may not be written.
    pub constant: bool,
    /// Whether other modules can see it.
    pub exported: bool,
    /// One per thread.
    pub thread_local: bool,
    /// Alignment in bytes.
    pub align: u32,
    /// Its C name and type, where known.
    pub variable: Option<VariableId>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Linker name.
    pub name: String,
    /// Parameters.
    pub parameters: Vec<Parameter>,
    /// Whether more arguments may follow.
    pub variadic: bool,
    /// Type of the result.
    pub result: TypeId,
    /// Basic blocks, the entry first; empty for a declaration.
    pub blocks: Vec<Block>,
    /// How many virtual registers it uses.
    pub registers: u32,
    /// Stack slots that live in registers because their address goes nowhere.
    pub slots: Vec<Slot>,
    /// Names of registers that clang kept, for messages.
    pub register_names: Vec<(Register, String)>,
    /// Where it is defined.
    pub location: LocationId,
    /// Whether other modules can see it.
    pub exported: bool,
    /// Whether it belongs to the library models.
    pub library: bool,
    /// Its type in C: result first, then parameters, where known.
    pub signature: Vec<Option<DebugTypeId>>,
    /// Strings of `annotate` attributes.
    pub annotations: Vec<String>,
    /// Parameters whose product is the size of the memory it makes (`alloc_size`); empty: it makes none.
    pub alloc_size: Vec<usize>,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type in the IR.
    pub ty: TypeId,
    /// Passed as the address of a copy of this type that the callee owns.
    pub by_value: Option<TypeId>,
    /// Points to where the result goes.
    pub struct_return: bool,
    /// Whether a null argument breaks a promise.
    pub nonnull: bool,
    /// How many elements it points to at least, where its declaration says; numbers are those of parameters here.
    pub room: Option<annotations::Count>,
    /// The C variable it is, where known.
    pub variable: Option<VariableId>,
}

/// A stack slot kept out of memory.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its type.
    pub ty: TypeId,
    /// The C variable it is, where known.
    pub variable: Option<VariableId>,
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct Block {
    /// What clang calls it.
    pub name: String,
    /// Instructions before the terminator; phis first.
    pub instructions: Vec<Instruction>,
    /// Where it goes.
    pub terminator: Terminator,
    /// Place of the terminator.
    pub location: LocationId,
}

impl Module {
    /// Functions in a table of LLVM (`llvm.global_ctors`, `llvm.global_dtors`), by growing priority.
    pub fn marked(&self, table: &str) -> Vec<FunctionId> {
        let initialiser = self.globals.iter().find(|g| g.name == table).and_then(|g| g.initialiser);
        let Some(Constant::Aggregate(_, entries)) = initialiser.map(|id| self.constant(id)) else {
            return Vec::new();
        };
        let entry = |id: &ConstantId| {
            let Constant::Aggregate(_, parts) = self.constant(*id) else { return None };
            let Constant::Bits(priority) = self.constant(*parts.first()?) else { return None };
            let Constant::Function(function) = *self.constant(*parts.get(1)?) else { return None };
            Some((priority.to_u64()?, function))
        };
        let mut found: Vec<(u64, FunctionId)> = entries.iter().filter_map(entry).collect();
        found.sort_by_key(|(priority, _)| *priority);
        found.into_iter().map(|(_, function)| function).collect()
    }

    /// The type behind an id.
    pub fn ty(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// The constant behind an id.
    pub fn constant(&self, id: ConstantId) -> &Constant {
        &self.constants[id.0 as usize]
    }

    /// The function behind an id.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The global behind an id.
    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.0 as usize]
    }

    /// The place behind an id.
    pub fn location(&self, id: LocationId) -> &Location {
        &self.locations[id.0 as usize]
    }

    /// A function by its linker name.
    pub fn function_named(&self, name: &str) -> Option<FunctionId> {
        self.functions.iter().position(|f| f.name == name).map(|i| FunctionId(i as u32))
    }

    /// The file a location is in, or an empty string.
    pub fn file_of(&self, id: LocationId) -> &str {
        self.files.get(self.location(id).file as usize).map_or("", String::as_str)
    }

    /// The functions that a place is in, the innermost first, with the place in each: those that were inlined, then the one
    /// that the code is part of.
    pub fn inlined(&self, function: FunctionId, at: LocationId) -> Vec<(&str, LocationId)> {
        let mut around = Vec::new();
        let mut at = at;
        while let Some(outer) = self.location(at).inlined_at
            && around.len() < MOST_INLINED
        {
            around.push((self.source_function(at).unwrap_or_default(), at));
            at = outer;
        }
        around.push((self.functions.get(function.0 as usize).map_or("", |f| &f.name), at));
        around
    }

    /// The function whose text a place is in.
    fn source_function(&self, at: LocationId) -> Option<&str> {
        let outwards = |scope: &ScopeId| self.scopes[scope.0 as usize].parent;
        std::iter::successors(self.location(at).scope, outwards)
            .take(self.scopes.len())
            .find_map(|scope| self.scopes[scope.0 as usize].function.as_deref())
    }

    /// The place in the source, whichever copy of the code is meant.
    pub fn spot(&self, function: FunctionId, at: LocationId) -> Spot {
        match *self.location(at) {
            Location { line: 0, .. } => Spot::Unknown(function, at),
            Location { file, line, column, .. } => Spot::At { file, line, column },
        }
    }

    /// How many instructions the program has, terminators included.
    pub fn instruction_count(&self) -> usize {
        self.functions.iter().flat_map(|f| &f.blocks).map(|b| b.instructions.len() + 1).sum()
    }
}

/// Calls that were inlined into each other, more than any compiler makes.
const MOST_INLINED: usize = 1_000;

impl Type {
    /// Width of its bits when it is a scalar (pointers are 64 bits).
    pub fn bits(&self) -> Option<Width> {
        match &self.kind {
            TypeKind::Int(width) => Some(*width),
            TypeKind::Float(format) => Some(format.width()),
            TypeKind::Pointer => Some(64),
            _ => None,
        }
    }
}

impl Function {
    /// Whether there is a body.
    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }
}
