//! Javalite as the machine sees it: resolved, typed, in one arena.
//!
//! Extends the grammar of the paper (`P ::= (CL* (C m))`) by integers, comparisons, `while`, methods of any number
//! of parameters, arrays, subclasses, `assert` and `assume`. Expressions live in an arena and name each other by
//! number, so that a machine state holds a number where the paper writes an expression.

use parallax_op::{BinOp, RelOp};
use parallax_source::Span;
use std::collections::BTreeMap;

/// A class of objects, or an array type: both are what a location can be an instance of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(pub u32);

/// A variable, field or method name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(pub u32);

/// A method of some class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MethodId(pub u32);

/// An expression in a program's arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// A 32-bit two's complement integer that wraps around.
    Int,
    /// A reference to an instance of a class or array type, or null.
    Ref(ClassId),
    /// The type of `null`.
    Null,
    /// The type of what never yields a value: `error`, `return`, `break`.
    Never,
}

/// Arithmetic on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arith {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
}

/// Comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `=`
    Eq,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `0 <= a < b`, where `b` is not negative: an index within a length.
    Within,
}

impl Arith {
    /// The operator it is.
    pub fn meaning(self) -> BinOp {
        match self {
            Arith::Add => BinOp::Add,
            Arith::Sub => BinOp::Sub,
            Arith::Mul => BinOp::Mul,
        }
    }
}

impl Compare {
    /// The relation it is.
    pub fn meaning(self) -> RelOp {
        match self {
            Compare::Eq => RelOp::Eq,
            Compare::Lt => RelOp::Slt,
            Compare::Le => RelOp::Sle,
            Compare::Within => RelOp::Ult,
        }
    }
}

/// An expression; the parts it is made of come first to last in the order of evaluation.
#[derive(Clone, Debug)]
pub enum Expr {
    /// `x`
    Var(Name),
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// An integer.
    Int(i32),
    /// `error`
    Error,
    /// `(new C)`
    New(ClassId),
    /// `(array T n)`: `n` elements of type `T`, each null, 0 or false.
    NewArray(ClassId, ExprId),
    /// `(e $ f)`
    Get(ExprId, usize),
    /// `(x $ f := e)`
    Set(Name, usize, ExprId),
    /// `(e = e)` on references
    Equal(ExprId, ExprId),
    /// `(e = e)` on Booleans
    Iff(ExprId, ExprId),
    /// `(x := e)`
    Assign(Name, ExprId),
    /// `(if e e else e)`; the flag says whether the choice is a new outcome, or was one already (an equality).
    If(ExprId, ExprId, ExprId, bool),
    /// `(var T x := e in e)`
    Let(Name, ExprId, ExprId),
    /// `(e @ m e ...)`
    Call(ExprId, Name, Vec<ExprId>),
    /// `(begin e ...)`
    Begin(Vec<ExprId>),
    /// `(while e e)`, with the same flag as `if`
    While(ExprId, ExprId, bool),
    /// `(break)`
    Break,
    /// `(return e)`
    Return(ExprId),
    /// `(assert e)`
    Assert(ExprId),
    /// `(assume e)`
    Assume(ExprId),
    /// `(not e)`
    Not(ExprId),
    /// `(e + e)` and the like
    Arith(Arith, ExprId, ExprId),
    /// `(e < e)` and the like
    Compare(Compare, ExprId, ExprId),
    /// `(e # i)`
    At(ExprId, ExprId),
    /// `(e # i := e)`
    Put(ExprId, ExprId, ExprId),
    /// `(length e)`
    Length(ExprId),
}

/// A field of a class.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
}

/// A class, or an array type.
#[derive(Clone, Debug)]
pub struct Class {
    /// As the user writes it.
    pub name: String,
    /// The superclass.
    pub parent: Option<ClassId>,
    /// Inherited fields first, so that a field keeps its number in every subclass.
    pub fields: Vec<Field>,
    /// What each method name means for an instance of this very class.
    pub methods: BTreeMap<Name, MethodId>,
    /// The element type, if this is an array type.
    pub element: Option<Type>,
}

/// A method.
#[derive(Clone, Debug)]
pub struct Method {
    /// Where it is declared.
    pub class: ClassId,
    /// Its name.
    pub name: Name,
    /// What it returns.
    pub result: Type,
    /// What it takes, besides `this`.
    pub parameters: Vec<(Name, Type)>,
    /// What it does.
    pub body: ExprId,
    /// Where it stands.
    pub span: Span,
}

/// A checked program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Classes and array types.
    pub classes: Vec<Class>,
    /// Where each declared class stands in the text; array types stand nowhere.
    pub class_spans: Vec<Span>,
    /// Methods.
    pub methods: Vec<Method>,
    /// The class and the method that the program names to start with.
    pub main: Option<(ClassId, MethodId)>,
    pub(crate) exprs: Vec<(Expr, Span)>,
    pub(crate) names: Vec<String>,
}

/// `this`, in every program.
pub const THIS: Name = Name(0);

impl Program {
    /// The expression called `id`.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize].0
    }

    /// Where it stands in the text.
    pub fn span(&self, id: ExprId) -> Span {
        self.exprs[id.0 as usize].1
    }

    /// The class called `id`.
    pub fn class(&self, id: ClassId) -> &Class {
        &self.classes[id.0 as usize]
    }

    /// The method called `id`.
    pub fn method(&self, id: MethodId) -> &Method {
        &self.methods[id.0 as usize]
    }

    /// The text of a name.
    pub fn name(&self, name: Name) -> &str {
        &self.names[name.0 as usize]
    }

    /// `C.m`
    pub fn method_name(&self, id: MethodId) -> String {
        let method = self.method(id);
        format!("{}.{}", self.class(method.class).name, self.name(method.name))
    }

    /// A type as the user writes it.
    pub fn type_name(&self, ty: Type) -> String {
        match ty {
            Type::Bool => "bool".into(),
            Type::Int => "int".into(),
            Type::Ref(class) => self.class(class).name.clone(),
            Type::Null => "null".into(),
            Type::Never => "nothing".into(),
        }
    }

    /// Whether an instance of `sub` is an instance of `class` too.
    pub fn is_subclass(&self, sub: ClassId, class: ClassId) -> bool {
        let mut at = Some(sub);
        while let Some(here) = at {
            if here == class {
                return true;
            }
            at = self.class(here).parent;
        }
        false
    }

    /// Every class whose instances a reference of type `class` may point to, in order of declaration.
    pub fn instances(&self, class: ClassId) -> Vec<ClassId> {
        (0..self.classes.len() as u32).map(ClassId).filter(|&sub| self.is_subclass(sub, class)).collect()
    }

    /// The class of this name.
    pub fn class_named(&self, name: &str) -> Option<ClassId> {
        self.classes.iter().position(|class| class.name == name).map(|at| ClassId(at as u32))
    }

    /// What `name` means for an instance of `class`.
    pub fn method_named(&self, class: ClassId, name: &str) -> Option<MethodId> {
        self.class(class).methods.iter().find(|(key, _)| self.name(**key) == name).map(|(_, id)| *id)
    }
}
