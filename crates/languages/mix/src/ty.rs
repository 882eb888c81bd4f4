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
    /// A reference to a location of the given type, or perhaps `null`.
    Ref(Nullness, Rc<Type>),
    /// A function.
    Fun(Rc<Type>, Rc<Type>),
    /// The singleton type of one function that the symbolic executor knows: a name for it, nothing more.
    Known(KnownId),
    /// A type still to be inferred.
    Var(u32),
    /// The type scheme `forall 'a, 'b. t`: what a `let` gives a value. Stands outermost only, in environments and as the
    /// type of a symbolic value; whoever uses it takes an instance.
    Forall(Rc<[u32]>, Rc<Type>),
    /// The type of an expression that has been complained about already: fits everywhere.
    Broken,
}

/// The qualifier of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Nullness {
    /// `t ref`, in full `t nonnull ref`: a location.
    NonNull,
    /// `t null ref`: a location, or `null`.
    Null,
}

impl Nullness {
    /// Whether every reference qualified so may stand where that qualifier is asked for.
    pub fn within(self, other: Nullness) -> bool {
        self <= other
    }
}

/// Names a function value of the symbolic executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KnownId(pub u32);

impl Type {
    /// `int`, of whatever sign.
    pub const INT: Type = Type::Int(Sign::Unknown);

    /// `content ref`.
    pub fn reference(content: Type) -> Type {
        Type::Ref(Nullness::NonNull, Rc::new(content))
    }

    /// `content null ref`.
    pub fn nullable(content: Type) -> Type {
        Type::Ref(Nullness::Null, Rc::new(content))
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

    /// Whether a type variable occurs in it that no scheme binds.
    pub fn is_open(&self) -> bool {
        match self {
            Type::Var(_) => true,
            Type::Ref(_, content) => content.is_open(),
            Type::Fun(from, to) => from.is_open() || to.is_open(),
            _ => false,
        }
    }

    /// The same type with its variables called 'a, 'b, ... in the order they are read.
    pub fn renamed(&self) -> Type {
        fn walk(ty: &Type, names: &mut Vec<u32>) -> Type {
            match ty {
                Type::Var(n) => {
                    let at = names.iter().position(|name| name == n).unwrap_or_else(|| {
                        names.push(*n);
                        names.len() - 1
                    });
                    Type::Var(at as u32)
                }
                Type::Ref(nullness, content) => Type::Ref(*nullness, Rc::new(walk(content, names))),
                Type::Fun(from, to) => {
                    let from = walk(from, names);
                    Type::function(from, walk(to, names))
                }
                other => other.clone(),
            }
        }
        walk(self, &mut Vec::new())
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
            Type::Ref(nullness, content) => {
                let qualifier = if *nullness == Nullness::Null { "null " } else { "" };
                match **content {
                    Type::Fun(..) => write!(f, "({content}) {qualifier}ref"),
                    _ => write!(f, "{content} {qualifier}ref"),
                }
            }
            Type::Fun(from, to) => match **from {
                Type::Fun(..) => write!(f, "({from}) -> {to}"),
                _ => write!(f, "{from} -> {to}"),
            },
            Type::Known(_) => f.write_str("function"),
            Type::Var(n) => {
                let letter = char::from(b'a' + (n % 26) as u8);
                if *n < 26 { write!(f, "'{letter}") } else { write!(f, "'{letter}{}", n / 26) }
            }
            Type::Forall(_, ty) => write!(f, "{ty}"),
            Type::Broken => f.write_str("?"),
        }
    }
}
