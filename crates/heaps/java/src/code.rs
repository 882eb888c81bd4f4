//! Bytecode as the machine sees it: operands resolved as far as names go, jumps by instruction number, one
//! instruction for each family of opcodes.

use crate::flow::Flow;
use crate::types::{Signature, Type};
use parallax_op::{BinOp, FloatBinOp, RelOp};
use std::cell::OnceCell;
use std::rc::Rc;

/// The kind of a value in a variable or on the operand stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of Java")]
pub enum Kind {
    Int,
    Long,
    Float,
    Double,
    Ref,
}

/// A constant.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names of Java")]
pub enum Constant {
    Null,
    Int(i32),
    Long(i64),
    Float(u32),
    Double(u64),
    /// A string, in UTF-16 units.
    String(Rc<[u16]>),
    /// A class or array, by internal name.
    Class(Rc<str>),
}

/// A field or method as an instruction names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// The class it is looked up in.
    pub class: Rc<str>,
    /// Its name.
    pub name: Rc<str>,
    /// Its descriptor.
    pub descriptor: Rc<str>,
}

impl Member {
    /// `C.name` and its descriptor.
    pub fn new(class: &str, name: &str, descriptor: &str) -> Self {
        Member { class: class.into(), name: name.into(), descriptor: descriptor.into() }
    }
}

/// How a method is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of Java")]
pub enum Call {
    Static,
    Special,
    Virtual,
    Interface,
}

/// Operations on the operand stack alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of Java")]
pub enum Shuffle {
    Pop,
    Pop2,
    Dup,
    DupX1,
    DupX2,
    Dup2,
    Dup2X1,
    Dup2X2,
    Swap,
}

/// An instruction; jumps are numbers of instructions.
#[derive(Clone, Debug)]
pub enum Instr {
    /// Does nothing.
    Nop,
    /// Pushes a constant.
    Push(Constant),
    /// Pushes a variable.
    Load(Kind, u16),
    /// Pops into a variable.
    Store(Kind, u16),
    /// Adds to an integer variable.
    Increment(u16, i16),
    /// An operation on the stack alone.
    Shuffle(Shuffle),
    /// Integers of 32 (or, if the flag is set, 64) bits.
    Binary(BinOp, bool),
    /// A shift, whose distance is an `int` taken modulo the width.
    Shift(BinOp, bool),
    /// Division or remainder, which may throw.
    Divide(BinOp, bool),
    /// Negation.
    Negate(Kind),
    /// Floats of 32 (or, if the flag is set, 64) bits.
    FloatBinary(FloatBinOp, bool),
    /// Remainder of floats, as C's `fmod` has it.
    FloatRemainder(bool),
    /// A number as another kind.
    Convert(Kind, Kind),
    /// An `int` cut down to a narrow type.
    Narrow(Type),
    /// `lcmp`
    CompareLong,
    /// `fcmpl` and the like: whether `double`, and what a comparison with NaN gives.
    CompareFloat(bool, i32),
    /// Jumps if an `int` is in relation to zero.
    IfZero(RelOp, usize),
    /// Jumps if two `int`s are in relation.
    IfInt(RelOp, usize),
    /// Jumps if two references are the same (or, if the flag is not set, are not).
    IfSame(bool, usize),
    /// Jumps if a reference is null (or, if the flag is not set, is not).
    IfNull(bool, usize),
    /// Jumps.
    Goto(usize),
    /// Jumps to a subroutine.
    Subroutine(usize),
    /// Returns from a subroutine.
    SubroutineReturn(u16),
    /// Jumps by an `int`: cases in order, and elsewhere.
    Switch(Rc<[(i32, usize)]>, usize),
    /// Returns, with a value unless `void`.
    Return(Option<Kind>),
    /// Throws.
    Throw,
    /// Reads a field.
    GetField(Member),
    /// Writes a field.
    PutField(Member),
    /// Reads a static field.
    GetStatic(Member),
    /// Writes a static field.
    PutStatic(Member),
    /// Calls a method.
    Invoke(Call, Member, Rc<Signature>),
    /// Calls what bootstrap method number so and so of the class gives for this name and type.
    InvokeDynamic(u16, Rc<str>, Rc<Signature>),
    /// Makes an object.
    New(Rc<str>),
    /// Makes an array of this array type, with so many lengths on the stack.
    NewArray(Rc<str>, u8),
    /// The length of an array.
    ArrayLength,
    /// Reads an element; bytes and Booleans share one instruction.
    ArrayLoad(Type),
    /// Writes an element.
    ArrayStore(Type),
    /// Throws unless a reference is null or of a class.
    CheckCast(Rc<str>),
    /// Whether a reference is an instance of a class.
    InstanceOf(Rc<str>),
    /// Enters a monitor (true) or leaves it. With one thread there is no waiting, but only who holds it may notify.
    Monitor(bool),
    /// Pushes a string of unknown content in place of that many bits of text on the stack: what is concatenated over
    /// unknown values.
    Opaque,
    /// An instruction that the machine does not have.
    Unsupported(&'static str),
}

/// A range of instructions and what catches exceptions there.
#[derive(Clone, Debug)]
pub struct Handler {
    /// First instruction.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// Where it goes on.
    pub target: usize,
    /// What it catches; `None` for everything.
    pub catches: Option<Rc<str>>,
}

/// The body of a method.
#[derive(Clone, Debug, Default)]
pub struct Code {
    /// Its instructions.
    pub instructions: Vec<Instr>,
    /// How many variables it has.
    pub locals: usize,
    /// How many values it may have on its stack.
    pub stack: usize,
    /// Its handlers, in order.
    pub handlers: Vec<Handler>,
    /// First instruction and line, in order of instructions.
    pub lines: Vec<(usize, u32)>,
    /// Names of variables, where debug information has them.
    pub variables: Vec<Variable>,
    /// The ways through it, once they were asked for.
    pub(crate) flow: OnceCell<Flow>,
}

/// The name of a variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The variable.
    pub slot: u16,
    /// The first instruction where it has this name.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// The name.
    pub name: Rc<str>,
}

impl Code {
    /// The ways through it.
    pub fn flow(&self) -> &Flow {
        self.flow.get_or_init(|| Flow::of(self))
    }

    /// The line of an instruction; 0 if it is not known.
    pub fn line(&self, at: usize) -> u32 {
        self.lines.iter().take_while(|(first, _)| *first <= at).last().map_or(0, |(_, line)| *line)
    }
}
