//! Programs: the source language of Figure 1 with what section 2 of the paper uses.
//!
//! Expressions live in one arena and name each other by number, so that a program of any length is dropped, copied
//! and walked without deep recursion. Names are resolved by the reader: every binder is a [`VarId`] of its own, and
//! every use knows its slot in the frame of the function around it.

use crate::ty::Type;
use parallax_source::Span;
use std::fmt;

/// A whole program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The expressions.
    pub nodes: Vec<Node>,
    /// The binders.
    pub vars: Vec<VarInfo>,
    /// The functions.
    pub funs: Vec<FunInfo>,
    /// The string constants, each once.
    pub strings: Vec<String>,
    /// What is declared before the expression.
    pub externs: Vec<Extern>,
    /// The expression.
    pub root: ExprId,
    /// How many slots the outermost frame has.
    pub frame_size: u32,
    /// Whether a sign qualifier is written anywhere: without one, nobody has to ask for signs.
    pub uses_signs: bool,
}

/// An expression and its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub expr: Expr,
    /// Where it stands.
    pub span: Span,
    /// The line that it begins on, from one.
    pub line: u32,
}

/// Names an expression of a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

/// Names a binder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// Names a function of the program text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunId(pub u32);

/// Names a string constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StrId(pub u32);

/// A use of a variable: which one, and where the current frame keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The binder.
    pub var: VarId,
    /// The slot in the frame of the function around the use.
    pub slot: u32,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// `()`
    Unit,
    /// `n`
    Int(i64),
    /// `1.5`
    Float(f64),
    /// `true`, `false`
    Bool(bool),
    /// `"..."`
    Str(StrId),
    /// `null`
    Null,
    /// `x`
    Var(Use),
    /// `e1 op e2`
    Binary(BinaryOp, ExprId, ExprId),
    /// `not e`
    Not(ExprId),
    /// `- e`
    Negate(ExprId),
    /// `if e1 then e2 else e3`
    If(ExprId, ExprId, ExprId),
    /// `ref e`
    Ref(ExprId),
    /// `! e`
    Deref(ExprId),
    /// `e1 := e2`
    Assign(ExprId, ExprId),
    /// `x = e`, where `x` was introduced with `var`
    SetVar(Use, ExprId),
    /// `fun x -> e`
    Fun(FunId),
    /// `e1 e2`
    Apply(ExprId, ExprId),
    /// `while e1 do e2 done`
    While(ExprId, ExprId),
    /// `(e : t)`
    Annotated(ExprId, Type),
    /// `{t e t}` and `{s e s}`
    Block(BlockKind, ExprId),
    /// `item; item; ... e`: lets, locals and effects in a row, then the value.
    Chain(Vec<Item>, ExprId),
}

/// One step of a chain.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// `let x = e in` and, for functions that know their own name, `let rec f x = e in`
    Let(Use, ExprId),
    /// `var x = e;`
    Var(Use, ExprId),
    /// `e;`
    Do(ExprId),
}

/// Which analysis a block asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// `{t e t}`
    Typed,
    /// `{s e s}`
    Symbolic,
}

/// Operators of two operands. `&&` and `||` evaluate both, as SAnd of Figure 5 does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the operators")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Eq,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

/// What is known of an integer's sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sign {
    /// Greater than zero.
    Pos,
    /// Less than zero.
    Neg,
    /// Zero.
    Zero,
    /// Anything.
    Unknown,
}

impl Sign {
    /// The sign of a number.
    pub fn of(n: i64) -> Sign {
        match n.signum() {
            1 => Sign::Pos,
            0 => Sign::Zero,
            _ => Sign::Neg,
        }
    }

    /// Whether every integer of this sign has that one.
    pub fn within(self, other: Sign) -> bool {
        self == other || other == Sign::Unknown
    }

    /// The least sign that holds both.
    pub fn join(self, other: Sign) -> Sign {
        if self == other { self } else { Sign::Unknown }
    }

    /// Whether `n` has it.
    pub fn holds(self, n: i64) -> bool {
        Sign::of(n).within(self)
    }
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sign::Pos => "pos",
            Sign::Neg => "neg",
            Sign::Zero => "zero",
            Sign::Unknown => "unknown",
        })
    }
}

impl fmt::Display for BinaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Pow => "**",
            BinaryOp::Eq => "=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
        })
    }
}

impl BinaryOp {
    /// Whether it wants two numbers of one kind and gives one of that kind.
    pub fn is_arithmetic(self) -> bool {
        matches!(self, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Pow)
    }
}

/// What the reader knows of a binder.
#[derive(Clone, Debug)]
pub struct VarInfo {
    /// As written.
    pub name: String,
    /// Where it is bound.
    pub span: Span,
    /// Introduced with `var`: may be assigned.
    pub is_local: bool,
    /// A local that a function captures. It lives in a location of its own, as if it were a `ref`: the function and
    /// the code around it see each other's assignments, and its type is fixed where a plain local's is not.
    pub boxed: bool,
}

/// A function of the program text; several parameters are several functions.
#[derive(Clone, Debug)]
pub struct FunInfo {
    /// The name it was bound to, or `fun`.
    pub name: String,
    /// Its own name inside its body, for `let rec`.
    pub myself: Option<Use>,
    /// Its parameter.
    pub param: Use,
    /// What the parameter is annotated with.
    pub param_type: Option<Type>,
    /// Its body.
    pub body: ExprId,
    /// What it takes from the frame it is created in.
    pub captures: Vec<Capture>,
    /// How many slots its frame has.
    pub frame_size: u32,
    /// From `fun` or the name to the end of the body.
    pub span: Span,
}

/// One captured variable: from a slot of the creating frame to a slot of the function's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capture {
    /// The binder.
    pub var: VarId,
    /// Where the creator keeps it.
    pub from: u32,
    /// Where the function keeps it.
    pub to: u32,
}

/// `extern x : t`
#[derive(Clone, Debug)]
pub struct Extern {
    /// The name, bound in the outermost frame.
    pub name: Use,
    /// Its type.
    pub ty: Type,
    /// What its functions may write to.
    pub writes: Writes,
}

/// What a function from outside may write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Writes {
    /// Nothing is declared, so anything.
    Anything,
    /// `writes t, ...`: locations of these types; `writes nothing` is none.
    Only(Vec<Type>),
}

impl Program {
    /// The expression called `id`.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.nodes[id.0 as usize].expr
    }

    /// Where it stands.
    pub fn span(&self, id: ExprId) -> Span {
        self.nodes[id.0 as usize].span
    }

    /// The line that it begins on, from one.
    pub fn line(&self, id: ExprId) -> u32 {
        self.nodes[id.0 as usize].line
    }

    /// The binder called `id`.
    pub fn var(&self, id: VarId) -> &VarInfo {
        &self.vars[id.0 as usize]
    }

    /// The function called `id`.
    pub fn fun(&self, id: FunId) -> &FunInfo {
        &self.funs[id.0 as usize]
    }

    /// The text of a string constant.
    pub fn string(&self, id: StrId) -> &str {
        &self.strings[id.0 as usize]
    }
}
