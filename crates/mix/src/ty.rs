//! Types: the grammar that the type checker and the symbolic executor share (bottom of Figure 1), with the
//! additions of section 2.

use crate::syntax::Sign;
use std::fmt;
use std::rc::Rc;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A 64-bit integer, with what is known of its sign.
    Int(Sign),
    /// `true` or `false`.
    Bool,
    /// A string.
    Str,
    /// An IEEE double.
    Float,
    /// The type of `()`.
    Unit,
    /// A reference to a location of the given type.
    Ref(Rc<Type>),
    /// A function.
    Fun(Rc<Type>, Rc<Type>),
    /// The singleton type of one function that the symbolic executor knows: a name for it, nothing more.
    Known(KnownId),
    /// A type still to be inferred.
    Var(u32),
    /// The type of an expression that has been complained about already: fits everywhere.
    Broken,
}

/// Names a function value of the symbolic executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KnownId(pub u32);

impl Type {
    /// `int`, of whatever sign.
    pub const INT: Type = Type::Int(Sign::Unknown);

    /// `content ref`.
    pub fn reference(content: Type) -> Type {
        Type::Ref(Rc::new(content))
    }

    /// `from -> to`.
    pub fn function(from: Type, to: Type) -> Type {
        Type::Fun(Rc::new(from), Rc::new(to))
    }

    /// The type with the sign of an outermost integer forgotten: what a mutable place holds unless it says more.
    pub fn widened(self) -> Type {
        match self {
            Type::Int(_) => Type::INT,
            other => other,
        }
    }

    /// Whether a reference or a function occurs in it: such a value can reach memory.
    pub fn reaches_memory(&self) -> bool {
        !matches!(self, Type::Int(_) | Type::Bool | Type::Str | Type::Float | Type::Unit | Type::Broken)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Int(Sign::Unknown) => f.write_str("int"),
            Type::Int(sign) => write!(f, "{sign} int"),
            Type::Bool => f.write_str("bool"),
            Type::Str => f.write_str("string"),
            Type::Float => f.write_str("float"),
            Type::Unit => f.write_str("unit"),
            Type::Ref(content) => match **content {
                Type::Fun(..) => write!(f, "({content}) ref"),
                _ => write!(f, "{content} ref"),
            },
            Type::Fun(from, to) => match **from {
                Type::Fun(..) => write!(f, "({from}) -> {to}"),
                _ => write!(f, "{from} -> {to}"),
            },
            Type::Known(_) => f.write_str("function"),
            Type::Var(n) => {
                let letter = char::from(b'a' + (n % 26) as u8);
                if *n < 26 { write!(f, "'{letter}") } else { write!(f, "'{letter}{}", n / 26) }
            }
            Type::Broken => f.write_str("?"),
        }
    }
}
