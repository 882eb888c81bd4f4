//! Types as descriptors write them.

use parallax_heap::{ClassId, FieldKind};
use std::rc::Rc;

/// A type: one of the eight primitives, or a reference to a class or an array, by internal name (`java/lang/Object`,
/// `[I`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names of Java")]
pub enum Type {
    Boolean,
    Byte,
    Char,
    Short,
    Int,
    Long,
    Float,
    Double,
    /// A class or an array, by its internal name.
    Ref(Rc<str>),
}

impl Type {
    /// The type at the front of a descriptor, and the rest.
    fn split(text: &str) -> Option<(Type, &str)> {
        let rest = text.get(1..)?;
        Some(match text.as_bytes()[0] {
            b'Z' => (Type::Boolean, rest),
            b'B' => (Type::Byte, rest),
            b'C' => (Type::Char, rest),
            b'S' => (Type::Short, rest),
            b'I' => (Type::Int, rest),
            b'J' => (Type::Long, rest),
            b'F' => (Type::Float, rest),
            b'D' => (Type::Double, rest),
            b'L' => {
                let end = rest.find(';')?;
                (Type::Ref(rest[..end].into()), &rest[end + 1..])
            }
            b'[' => {
                let dimensions = text.len() - text.trim_start_matches('[').len();
                let (_, after) = Type::split(&text[dimensions..])?;
                (Type::Ref(text[..text.len() - after.len()].into()), after)
            }
            _ => return None,
        })
    }

    /// The type that a whole descriptor is.
    pub fn parse(text: &str) -> Option<Type> {
        Type::split(text).filter(|(_, rest)| rest.is_empty()).map(|(ty, _)| ty)
    }

    /// The element type of an array of this name.
    pub fn element_of(array: &str) -> Option<Type> {
        Type::parse(array.strip_prefix('[')?)
    }

    /// As a descriptor.
    pub fn descriptor(&self) -> String {
        match self {
            Type::Boolean => "Z".into(),
            Type::Byte => "B".into(),
            Type::Char => "C".into(),
            Type::Short => "S".into(),
            Type::Int => "I".into(),
            Type::Long => "J".into(),
            Type::Float => "F".into(),
            Type::Double => "D".into(),
            Type::Ref(name) if name.starts_with('[') => name.to_string(),
            Type::Ref(name) => format!("L{name};"),
        }
    }

    /// As Java source writes it.
    pub fn source(&self) -> String {
        match self {
            Type::Boolean => "boolean".into(),
            Type::Byte => "byte".into(),
            Type::Char => "char".into(),
            Type::Short => "short".into(),
            Type::Int => "int".into(),
            Type::Long => "long".into(),
            Type::Float => "float".into(),
            Type::Double => "double".into(),
            Type::Ref(name) => match Type::element_of(name) {
                Some(element) => format!("{}[]", element.source()),
                None => dotted(name).replace('$', "."),
            },
        }
    }

    /// How many bits a field of this type has.
    pub fn width(&self) -> u16 {
        match self {
            Type::Boolean | Type::Byte => 8,
            Type::Char | Type::Short => 16,
            Type::Int | Type::Float => 32,
            Type::Long | Type::Double => 64,
            Type::Ref(_) => 0,
        }
    }

    /// What a field of this type holds; a reference to anything, until the class is opened for inputs.
    pub fn kind(&self) -> FieldKind {
        match self {
            Type::Boolean => FieldKind::Bool,
            Type::Ref(_) => FieldKind::Ref(ClassId(0)),
            other => FieldKind::Bits(other.width()),
        }
    }

    /// Whether it takes two slots.
    pub fn is_wide(&self) -> bool {
        matches!(self, Type::Long | Type::Double)
    }
}

/// The type of a method.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signature {
    /// What it takes, besides `this`.
    pub parameters: Vec<Type>,
    /// What it returns; `None` for `void`.
    pub result: Option<Type>,
}

impl Signature {
    /// The type that a method descriptor is.
    pub fn parse(text: &str) -> Option<Signature> {
        let mut rest = text.strip_prefix('(')?;
        let mut parameters = Vec::new();
        while !rest.starts_with(')') {
            let (ty, after) = Type::split(rest)?;
            parameters.push(ty);
            rest = after;
        }
        let result = match rest.get(1..)? {
            "V" => None,
            other => Some(Type::parse(other)?),
        };
        Some(Signature { parameters, result })
    }

    /// As a descriptor.
    pub fn descriptor(&self) -> String {
        let parameters: String = self.parameters.iter().map(Type::descriptor).collect();
        format!("({parameters}){}", self.result.as_ref().map_or("V".into(), Type::descriptor))
    }
}

/// `java.lang.Object` for `java/lang/Object`.
pub fn dotted(name: &str) -> String {
    name.replace('/', ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_come_back() {
        for text in ["()V", "(I[[JLjava/lang/Object;Z)[Ljava/lang/String;", "(DF)D"] {
            assert_eq!(Signature::parse(text).unwrap().descriptor(), text);
        }
        for text in ["", "(", "(I", "()", "()VV", "(L)V", "([)V", "(Lx;", "x"] {
            assert!(Signature::parse(text).is_none(), "{text}");
        }
    }
}
