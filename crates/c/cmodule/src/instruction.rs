//! Instructions with their operands resolved.

use super::{BlockId, ConstantId, FunctionId, LocationId, Register, TypeId, VariableId};
use parallax_op::{BinOp, RelOp};

/// A stack slot kept in a register, of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotId(pub u32);

/// A use of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// What a register holds.
    Register(Register),
    /// A constant.
    Constant(ConstantId),
}

/// An instruction that is not a terminator.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// Where the result goes.
    pub result: Option<Register>,
    /// Type of the result; void when there is none.
    pub ty: TypeId,
    /// What it does.
    pub operation: Operation,
    /// Its place in the source.
    pub location: LocationId,
}

/// An integer operation, with what LLVM promises about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binary {
    /// The operator.
    pub op: BinOp,
    /// Signed overflow is undefined (`nsw`).
    pub no_signed_wrap: bool,
}

/// A comparison of integers or pointers.
pub type Compare = RelOp;

/// A floating-point operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum FloatBinary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// A floating-point comparison, as LLVM has them: true when one of the listed relations holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatCompare {
    /// True when equal.
    pub equal: bool,
    /// True when greater.
    pub greater: bool,
    /// True when less.
    pub less: bool,
    /// True when one of them is not a number.
    pub unordered: bool,
}

/// A conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "LLVM's names")]
pub enum Cast {
    Trunc,
    ZExt,
    SExt,
    FpTrunc,
    FpExt,
    FpToUi,
    FpToSi,
    UiToFp,
    SiToFp,
    PtrToInt,
    IntToPtr,
    Bitcast,
}

/// What an atomic update does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "LLVM's names")]
pub enum Rmw {
    Xchg,
    Binary(BinOp),
    Nand,
    Choose(RelOp),
    Float(FloatBinary),
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "fields carry LLVM's names")]
pub enum Operation {
    /// Integer arithmetic.
    Binary { op: Binary, a: Operand, b: Operand },
    /// Floating-point arithmetic.
    FloatBinary { op: FloatBinary, a: Operand, b: Operand },
    /// Floating-point negation.
    FloatNegate { a: Operand },
    /// Comparison; operands have type `of`.
    Compare { op: Compare, of: TypeId, a: Operand, b: Operand },
    /// Floating-point comparison.
    FloatCompare { op: FloatCompare, of: TypeId, a: Operand, b: Operand },
    /// Choice by an i1 (or a vector of them).
    Select { condition: Operand, vector: bool, a: Operand, b: Operand },
    /// Conversion from type `from`.
    Cast { op: Cast, from: TypeId, a: Operand },
    /// Address arithmetic: base plus a constant plus scaled indices (index, its type, bytes per step).
    Address { base: Operand, offset: i64, indices: Vec<(Operand, TypeId, i64)>, inbounds: bool },
    /// A read of memory.
    Load { pointer: Operand },
    /// A write of memory; the value has type `of`.
    Store { pointer: Operand, value: Operand, of: TypeId },
    /// A read of a slot.
    SlotLoad { slot: SlotId },
    /// A write of a slot.
    SlotStore { slot: SlotId, value: Operand },
    /// A new stack object of `count` elements of type `of`, at a multiple of `align`.
    Alloca { of: TypeId, count: Operand, count_type: TypeId, align: u32, variable: Option<VariableId> },
    /// A call.
    Call { callee: Callee, arguments: Vec<Argument> },
    /// One element of an aggregate.
    Extract { of: TypeId, a: Operand, path: Vec<u32> },
    /// An aggregate with one element replaced.
    Insert { a: Operand, value: Operand, path: Vec<u32> },
    /// One element of a vector, by number.
    ExtractElement { of: TypeId, a: Operand, index: Operand, index_type: TypeId },
    /// A vector with one element replaced.
    InsertElement { a: Operand, value: Operand, index: Operand, index_type: TypeId },
    /// Elements of two vectors put together; `None` is any value.
    Shuffle { of: TypeId, a: Operand, b: Operand, mask: Vec<Option<u32>> },
    /// Depends on the block control came from.
    Phi { incoming: Vec<(BlockId, Operand)> },
    /// Fixes an undefined value.
    Freeze { a: Operand },
    /// Atomic update; gives the old value.
    AtomicUpdate { op: Rmw, pointer: Operand, value: Operand },
    /// Atomic compare and exchange; gives the old value and whether it was exchanged.
    CompareExchange { pointer: Operand, expected: Operand, new: Operand, of: TypeId },
    /// Nothing to do (fences, debug intrinsics that were resolved).
    Nothing,
    /// The next variadic argument of the type of the result.
    VariadicArgument { list: Operand },
    /// Not supported; the message names it. An error only when it is executed.
    Unsupported(String),
}

/// Whom a call calls.
#[derive(Clone, Debug, PartialEq)]
pub enum Callee {
    /// A function.
    Function(FunctionId),
    /// What a pointer points to.
    Pointer(Operand),
    /// Inline assembly.
    Assembly(Assembly),
}

/// A piece of inline assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// Its text, with operands as LLVM writes them (`$0`, `${1:b}`).
    pub text: String,
    /// What its operands may be, as LLVM writes it: outputs, inputs, clobbers.
    pub constraints: String,
    /// Whether it is in Intel's syntax.
    pub intel: bool,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The value.
    pub value: Operand,
    /// Its type.
    pub ty: TypeId,
    /// Passed as the address of something of this type, which the callee gets a copy of.
    pub by_value: Option<TypeId>,
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Terminator {
    /// To one block.
    Jump(BlockId),
    /// To one of two, by an i1.
    Branch { condition: Operand, then: BlockId, otherwise: BlockId },
    /// By value.
    Switch { value: Operand, ty: TypeId, cases: Vec<(ConstantId, BlockId)>, default: BlockId },
    /// To a block whose address was taken.
    Indirect { address: Operand, targets: Vec<BlockId> },
    /// Back to the caller.
    Return(Option<Operand>),
    /// Never reached by a correct program.
    Unreachable,
    /// Not supported; the message names it.
    Unsupported(String),
}

impl Terminator {
    /// Blocks that it may lead to.
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Terminator::Jump(to) => vec![*to],
            Terminator::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            Terminator::Switch { cases, default, .. } => {
                cases.iter().map(|(_, to)| *to).chain([*default]).collect()
            }
            Terminator::Indirect { targets, .. } => targets.clone(),
            Terminator::Return(_) | Terminator::Unreachable | Terminator::Unsupported(_) => Vec::new(),
        }
    }
}
