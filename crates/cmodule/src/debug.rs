//! What debug information says: places, scopes, variables and C types.

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
