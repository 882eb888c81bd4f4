//! What debug information says: places, scopes, variables and C types.

use super::Module;
use std::collections::HashMap;

/// Index of a place in [`Module::locations`](super::Module::locations).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct LocationId(pub u32);
/// Index of a scope in [`Module::scopes`](super::Module::scopes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeId(pub u32);
/// Index of a variable in [`Module::variables`](super::Module::variables).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);
/// Index of a C type in [`Module::debug_types`](super::Module::debug_types).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DebugTypeId(pub u32);

/// A place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Location {
    /// Index into [`Module::files`](super::Module::files).
    pub file: u32,
    /// Line, from 1; 0 when unknown.
    pub line: u32,
    /// Column, from 1; 0 when unknown.
    pub column: u32,
    /// The scope it is in.
    pub scope: Option<ScopeId>,
    /// Where the function this code came from was inlined.
    pub inlined_at: Option<LocationId>,
}

/// A place in the source, of which there may be many copies: inlined ones, and those of a header's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spot {
    /// Where debug information says.
    At {
        /// Index into [`Module::files`](super::Module::files).
        file: u32,
        /// Line.
        line: u32,
        /// Column.
        column: u32,
    },
    /// Somewhere in a function.
    Unknown(super::FunctionId, LocationId),
}

/// A lexical scope.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The scope around it.
    pub parent: Option<ScopeId>,
    /// The function, when this scope is a whole one.
    pub function: Option<String>,
    /// Index into [`Module::files`](super::Module::files).
    pub file: u32,
    /// Where it opens.
    pub line: u32,
}

/// A C variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name in the source.
    pub name: String,
    /// Its type.
    pub ty: Option<DebugTypeId>,
    /// The scope that holds it.
    pub scope: Option<ScopeId>,
    /// Index into [`Module::files`](super::Module::files).
    pub file: u32,
    /// The line that declares it.
    pub line: u32,
    /// Whether a declaration says that it is never null.
    pub nonnull: bool,
}

/// A C type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DebugType {
    /// A base type (`int`, `double`, `_Bool`).
    Base {
        /// Its name.
        name: String,
        /// Its size in bits.
        bits: u64,
        /// Whether it is a floating-point type.
        float: bool,
        /// Whether it is signed.
        signed: bool,
    },
    /// A pointer; `None` is `void *`.
    Pointer(Option<DebugTypeId>),
    /// `typedef`, `const`, `volatile`, `restrict`, `_Atomic`: another name for a type (`None` is `void`).
    Alias {
        /// The name a typedef gives; empty for qualifiers.
        name: String,
        /// What it stands for.
        of: Option<DebugTypeId>,
    },
    /// An array; the length is 0 for flexible ones.
    Array {
        /// Type of one element.
        element: Option<DebugTypeId>,
        /// How many elements in all dimensions together.
        len: u64,
    },
    /// A structure.
    Struct {
        /// Its tag.
        name: String,
        /// Its size in bytes.
        size: u64,
        /// Its fields.
        fields: Vec<Field>,
    },
    /// A union.
    Union {
        /// Its tag.
        name: String,
        /// Its size in bytes.
        size: u64,
        /// Its alternatives.
        fields: Vec<Field>,
    },
    /// An enumeration.
    Enum {
        /// Its tag.
        name: String,
        /// Its size in bits.
        bits: u64,
    },
    /// A function type: result first (`None` is `void`), then parameters.
    Function(Vec<Option<DebugTypeId>>),
    /// Not described.
    Unknown,
}

/// A field of a structure or union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name; empty when anonymous.
    pub name: String,
    /// Its type.
    pub ty: Option<DebugTypeId>,
    /// Where it starts, in bits.
    pub offset_bits: u64,
    /// Its size in bits.
    pub bits: u64,
    /// Whether its declaration says that it is never null.
    pub nonnull: bool,
    /// The field that says how many elements it has (`counted_by`).
    pub counted_by: Option<String>,
}

impl Module {
    /// Structures and unions that one file only declares (`struct parser;`) become what another file defines under their tag, unless
    /// files disagree on what that is.
    pub fn complete_types(&mut self) {
        let mut defined: HashMap<(bool, &str), Option<(DebugTypeId, u64)>> = HashMap::new();
        for (number, ty) in self.debug_types.iter().enumerate() {
            let Some((tag, size)) = tagged(ty).filter(|&(_, size)| size > 0) else { continue };
            let here = Some((DebugTypeId(number as u32), size));
            let known = defined.entry(tag).or_insert(here);
            if known.is_some_and(|(_, other)| other != size) {
                *known = None;
            }
        }
        let complete = |ty: &DebugType| match (tagged(ty)?, ty) {
            ((tag, 0), DebugType::Struct { fields, .. } | DebugType::Union { fields, .. })
                if fields.is_empty() =>
            {
                defined.get(&tag).copied().flatten().map(|(of, _)| of)
            }
            _ => None,
        };
        let found: Vec<Option<DebugTypeId>> = self.debug_types.iter().map(complete).collect();
        for (ty, of) in self.debug_types.iter_mut().zip(found) {
            if of.is_some() {
                *ty = DebugType::Alias { name: String::new(), of };
            }
        }
    }
}

/// Whether a type is a union, its tag, and its size.
fn tagged(ty: &DebugType) -> Option<((bool, &str), u64)> {
    match ty {
        DebugType::Struct { name, size, .. } if !name.is_empty() => Some(((false, name), *size)),
        DebugType::Union { name, size, .. } if !name.is_empty() => Some(((true, name), *size)),
        _ => None,
    }
}
