//! Types as the debug information declares them.

use crate::debug::{Debug, Die, Language};
use crate::error::{Error, Result};
use crate::symbols::Symbols;
use gimli::AttributeValue;
use std::sync::Arc;

/// A type. Cheap to copy; [`Symbols::kind`] says what it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type(pub(crate) Made);

/// How a type came about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Made {
    Void,
    /// Declared in a module.
    Declared {
        module: usize,
        die: Die,
    },
    /// Built by an expression.
    Pointer(Arc<Type>),
    /// An inner dimension, or an array whose length was read from the program.
    Array {
        of: Arc<Type>,
        length: u64,
    },
    Integer {
        size: u64,
        signed: bool,
    },
    Boolean,
    Float {
        size: u64,
    },
    /// So many bytes, for reading.
    Bytes(u64),
}

impl Type {
    /// `void`.
    pub const VOID: Type = Type(Made::Void);
    /// The type of literals and of comparisons.
    pub(crate) const INT: Type = Type(Made::Integer { size: 4, signed: true });

    pub(crate) fn declared(module: usize, die: Option<Die>) -> Type {
        die.map_or(Type::VOID, |die| Type(Made::Declared { module, die }))
    }

    pub(crate) fn pointer(to: Type) -> Type {
        Type(Made::Pointer(Arc::new(to)))
    }

    pub(crate) fn integer(size: u64, signed: bool) -> Type {
        Type(Made::Integer { size, signed })
    }

    pub(crate) fn sized(size: u64) -> Type {
        Type(Made::Bytes(size))
    }
}

/// A field or a base of a structure.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name; of a base, the name of its class.
    pub name: Option<String>,
    /// Its type.
    pub ty: Type,
    /// Where it starts, in bytes; none for a virtual base, whose place is computed from the object.
    pub offset: Option<u64>,
    /// Of a bit field: its first bit counted from there, and the number of bits.
    pub bits: Option<(u64, u64)>,
    /// Whether it is a base class.
    pub is_base: bool,
    pub(crate) declared: (usize, Die),
}

/// What a type is, without typedefs and qualifiers.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// No value.
    Void,
    /// An integer.
    Integer {
        /// Its size in bytes.
        size: u64,
        /// Whether it can be negative.
        signed: bool,
    },
    /// A character.
    Character {
        /// Its size in bytes.
        size: u64,
        /// Whether it can be negative.
        signed: bool,
    },
    /// A truth value.
    Boolean {
        /// Its size in bytes.
        size: u64,
    },
    /// A floating-point number.
    Float {
        /// Its size in bytes.
        size: u64,
    },
    /// A complex number: two floating-point numbers, the real part first.
    Complex {
        /// Its size in bytes.
        size: u64,
    },
    /// A pointer.
    Pointer {
        /// To what.
        to: Type,
        /// Its size in bytes.
        size: u64,
    },
    /// A reference of C++.
    Reference {
        /// To what.
        to: Type,
        /// Its size in bytes.
        size: u64,
    },
    /// A structure, class or union.
    Struct {
        /// Its fields and bases in the order of their declaration; statics are not among them.
        fields: Vec<Field>,
        /// Its size in bytes.
        size: u64,
        /// Whether the fields lie over each other.
        is_union: bool,
        /// Whether only its name is known.
        is_incomplete: bool,
    },
    /// An array.
    Array {
        /// Of what.
        of: Type,
        /// Its length, if it is known.
        length: Option<u64>,
    },
    /// An enumeration.
    Enum {
        /// Its size in bytes.
        size: u64,
        /// Whether it can be negative.
        signed: bool,
        /// Its names.
        variants: Vec<(String, i128)>,
    },
    /// A function.
    Function {
        /// What it returns.
        returns: Type,
        /// What it takes.
        parameters: Vec<Type>,
    },
    /// Something that is not understood, of this size.
    Opaque {
        /// Its size in bytes.
        size: u64,
    },
}

/// Typedefs and qualifiers on top of each other, before that counts as a circle.
const MOST_LAYERS: usize = 64;
/// Dimensions of an array.
const MOST_DIMENSIONS: usize = 64;

impl Symbols {
    /// What a type is, without typedefs and qualifiers.
    pub fn kind(&self, ty: &Type) -> Result<Arc<Kind>> {
        let kind = match &ty.0 {
            Made::Void => Kind::Void,
            Made::Pointer(to) => Kind::Pointer { to: (**to).clone(), size: self.address_size() },
            Made::Array { of, length } => Kind::Array { of: (**of).clone(), length: Some(*length) },
            Made::Integer { size, signed } => Kind::Integer { size: *size, signed: *signed },
            Made::Boolean => Kind::Boolean { size: 1 },
            Made::Float { size } => Kind::Float { size: *size },
            Made::Bytes(size) => Kind::Opaque { size: *size },
            Made::Declared { module, die } => {
                if let Some(known) = self.known_kind(*module, *die) {
                    return Ok(known);
                }
                let kind = Arc::new(self.declared_kind(*module, *die)?);
                self.remember_kind(*module, *die, kind.clone());
                return Ok(kind);
            }
        };
        Ok(Arc::new(kind))
    }

    /// The size of a type in bytes.
    pub fn size(&self, ty: &Type) -> Result<u64> {
        let mut ty = ty.clone();
        let mut count = 1u64;
        for _ in 0..MOST_DIMENSIONS {
            let size = match &*self.kind(&ty)? {
                Kind::Void | Kind::Function { .. } => 1,
                Kind::Integer { size, .. }
                | Kind::Character { size, .. }
                | Kind::Boolean { size }
                | Kind::Float { size }
                | Kind::Complex { size }
                | Kind::Pointer { size, .. }
                | Kind::Reference { size, .. }
                | Kind::Struct { size, .. }
                | Kind::Enum { size, .. }
                | Kind::Opaque { size } => *size,
                Kind::Array { of, length } => {
                    count = count.saturating_mul(length.unwrap_or(0));
                    ty = of.clone();
                    continue;
                }
            };
            return Ok(count.saturating_mul(size));
        }
        Err(self.complaint(&ty, "has too many dimensions"))
    }

    /// The entry of a type without typedefs and qualifiers, and the definition of what is only declared there.
    fn stripped(&self, module: usize, mut die: Die) -> Result<Option<(usize, Die)>> {
        let mut module = module;
        for _ in 0..MOST_LAYERS {
            let debug = self.debug(module)?;
            match debug.entry(die)?.tag() {
                gimli::DW_TAG_typedef
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_restrict_type
                | gimli::DW_TAG_atomic_type
                | gimli::DW_TAG_immutable_type => match debug.type_die(die)? {
                    Some(inner) => die = inner,
                    None => return Ok(None),
                },
                _ if debug.flag(die, gimli::DW_AT_declaration)? => {
                    let signed = debug.own(die, gimli::DW_AT_signature)?;
                    if let Some(value) = signed
                        && let Some(definition) = debug.reference(die.unit, &value)?
                    {
                        die = definition;
                        continue;
                    }
                    if let Some(name) = debug.qualified_name(die)?
                        && let Some((found, definition)) = self.type_named(&name, module)
                    {
                        (module, die) = (found, definition);
                    }
                    return Ok(Some((module, die)));
                }
                _ => return Ok(Some((module, die))),
            }
        }
        Err(self.debug(module)?.nonsense("a type is made of itself"))
    }

    fn declared_kind(&self, module: usize, die: Die) -> Result<Kind> {
        let Some((module, die)) = self.stripped(module, die)? else { return Ok(Kind::Void) };
        let debug = self.debug(module)?;
        let tag = debug.entry(die)?.tag();
        let size = debug.unsigned(die, gimli::DW_AT_byte_size)?;
        let to = || Ok(Type::declared(module, debug.type_die(die)?));
        Ok(match tag {
            gimli::DW_TAG_base_type => base(debug, die, size.unwrap_or(0))?,
            gimli::DW_TAG_unspecified_type => Kind::Void,
            gimli::DW_TAG_pointer_type => {
                Kind::Pointer { to: to()?, size: size.unwrap_or_else(|| self.address_size()) }
            }
            gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
                Kind::Reference { to: to()?, size: size.unwrap_or_else(|| self.address_size()) }
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                Kind::Struct {
                    fields: self.fields(module, die)?,
                    size: size.unwrap_or(0),
                    is_union: tag == gimli::DW_TAG_union_type,
                    is_incomplete: debug.flag(die, gimli::DW_AT_declaration)?,
                }
            }
            gimli::DW_TAG_array_type => {
                let lengths = self.lengths(module, die)?;
                let mut inner = to()?;
                for length in lengths.iter().skip(1).rev() {
                    inner = Type(Made::Array { of: Arc::new(inner), length: length.fixed().unwrap_or(0) });
                }
                Kind::Array { of: inner, length: lengths.first().and_then(|length| length.fixed()) }
            }
            gimli::DW_TAG_enumeration_type => {
                // In C++ names of variants are those of the scope they are in: the enumeration's own if it has one.
                let prefix = match debug.units[die.unit].language {
                    Language::Cpp if debug.flag(die, gimli::DW_AT_enum_class)? => {
                        debug.qualified_name(die)?
                    }
                    Language::Cpp => debug.prefix(die)?,
                    _ => None,
                };
                let mut variants = Vec::new();
                for (child, tag) in debug.children(die)? {
                    if tag == gimli::DW_TAG_enumerator
                        && let Some(name) = debug.name(child)?
                        && let Some(value) = debug.own(child, gimli::DW_AT_const_value)?
                    {
                        let name = prefix.as_ref().map_or(name.clone(), |prefix| format!("{prefix}::{name}"));
                        variants.push((name, constant(&value)));
                    }
                }
                // The type below says whether it is signed; without it negative names do.
                let below = match debug.type_die(die)? {
                    Some(below) => Some(self.declared_kind_below(module, below)?),
                    None => None,
                };
                let signed = match below {
                    Some(Kind::Integer { signed, .. } | Kind::Character { signed, .. }) => signed,
                    _ => variants.iter().any(|(_, value)| *value < 0),
                };
                Kind::Enum { size: size.unwrap_or(4), signed, variants }
            }
            gimli::DW_TAG_subroutine_type | gimli::DW_TAG_subprogram => {
                let mut parameters = Vec::new();
                for (child, tag) in debug.children(die)? {
                    if tag == gimli::DW_TAG_formal_parameter {
                        parameters.push(Type::declared(module, debug.type_die(child)?));
                    }
                }
                Kind::Function { returns: to()?, parameters }
            }
            _ => Kind::Opaque { size: size.unwrap_or(0) },
        })
    }

    /// The kind of the integer type below an enumeration, which cannot be an enumeration itself.
    fn declared_kind_below(&self, module: usize, die: Die) -> Result<Kind> {
        let Some((module, die)) = self.stripped(module, die)? else { return Ok(Kind::Void) };
        let debug = self.debug(module)?;
        match debug.entry(die)?.tag() {
            gimli::DW_TAG_base_type => {
                base(debug, die, debug.unsigned(die, gimli::DW_AT_byte_size)?.unwrap_or(0))
            }
            _ => Ok(Kind::Void),
        }
    }

    fn fields(&self, module: usize, die: Die) -> Result<Vec<Field>> {
        let debug = self.debug(module)?;
        let mut fields = Vec::new();
        for (child, tag) in debug.children(die)? {
            let is_base = tag == gimli::DW_TAG_inheritance;
            if !is_base && tag != gimli::DW_TAG_member {
                continue;
            }
            let is_static = debug.own(child, gimli::DW_AT_external)?.is_some()
                || debug.own(child, gimli::DW_AT_declaration)?.is_some();
            if is_static {
                continue;
            }
            let type_die = debug.type_die(child)?;
            let ty = Type::declared(module, type_die);
            let name = match (is_base, type_die) {
                (true, Some(base)) => match self.stripped(module, base)? {
                    Some((module, class)) => self.debug(module)?.qualified_name(class)?,
                    None => None,
                },
                _ => debug.name(child)?,
            };
            let location = debug.own(child, gimli::DW_AT_data_member_location)?;
            let mut offset = match &location {
                None => Some(0),
                Some(AttributeValue::Exprloc(_)) => None,
                Some(value) => value.udata_value().or(Some(0)),
            };
            let mut bits = None;
            if let Some(count) = debug.unsigned(child, gimli::DW_AT_bit_size)? {
                let first = match debug.unsigned(child, gimli::DW_AT_data_bit_offset)? {
                    Some(first) => first.saturating_add(offset.unwrap_or(0).saturating_mul(8)),
                    None => {
                        // Until DWARF 3 bits were counted from the most significant of the storage unit.
                        let from_top = debug.unsigned(child, gimli::DW_AT_bit_offset)?.unwrap_or(0);
                        let storage = match debug.unsigned(child, gimli::DW_AT_byte_size)? {
                            Some(size) => size,
                            None => self.size(&ty)?,
                        };
                        let end = offset.unwrap_or(0).saturating_add(storage).saturating_mul(8);
                        end.saturating_sub(from_top).saturating_sub(count)
                    }
                };
                // Read from the byte that holds the first bit.
                offset = Some(first / 8);
                bits = Some((first % 8, count.min(64)));
            }
            fields.push(Field { name, ty, offset, bits, is_base, declared: (module, child) });
        }
        Ok(fields)
    }

    /// The lengths of an array's dimensions.
    fn lengths(&self, module: usize, die: Die) -> Result<Vec<Length>> {
        let debug = self.debug(module)?;
        let mut lengths = Vec::new();
        for (child, tag) in debug.children(die)? {
            if tag != gimli::DW_TAG_subrange_type {
                continue;
            }
            let count = debug.own(child, gimli::DW_AT_count)?.and_then(|value| value.udata_value());
            let upper = debug.own(child, gimli::DW_AT_upper_bound)?;
            let is_counted = debug.own(child, gimli::DW_AT_count)?.is_some();
            let length = match (count, upper) {
                (Some(count), _) => Length::Fixed(count),
                // The upper bound of an empty array is -1.
                (None, Some(upper)) => match (upper.udata_value(), upper.sdata_value()) {
                    (_, Some(-1)) => Length::Fixed(0),
                    (Some(upper), _) => Length::Fixed(upper.saturating_add(1)),
                    _ => Length::Variable,
                },
                (None, None) if is_counted => Length::Variable,
                (None, None) => Length::Unknown,
            };
            lengths.push(length);
            if lengths.len() > MOST_DIMENSIONS {
                return Err(debug.nonsense("an array has too many dimensions"));
            }
        }
        if lengths.is_empty() {
            lengths.push(Length::Unknown);
        }
        Ok(lengths)
    }

    /// The name of a type as it is written in C and C++.
    pub fn type_name(&self, ty: &Type) -> String {
        self.declare(ty, String::new(), 0)
    }

    /// A declaration of `inner` with a type, from the inside out: `int (*)[3]`.
    fn declare(&self, ty: &Type, inner: String, depth: usize) -> String {
        let named = |name: &str, inner: &str| {
            if inner.is_empty() { name.to_owned() } else { format!("{name} {inner}") }
        };
        if depth > MOST_LAYERS {
            return named("...", &inner);
        }
        let pointed = |to: &Type, mark: &str| {
            let wraps = matches!(self.layer(to), Layer::Array { .. } | Layer::Function { .. });
            let inner = if wraps { format!("({mark}{inner})") } else { format!("{mark}{inner}") };
            self.declare(to, inner, depth + 1)
        };
        match self.layer(ty) {
            Layer::Named(name) => named(&name, &inner),
            Layer::Pointer(to) => pointed(&to, "*"),
            Layer::Reference(to) => pointed(&to, "&"),
            Layer::MoveReference(to) => pointed(&to, "&&"),
            Layer::Qualified(word, of) => match self.layer(&of) {
                // The qualifier of a pointer stands behind its star, everything else's in front.
                Layer::Pointer(to) => {
                    let space = if inner.is_empty() { "" } else { " " };
                    self.declare(&to, format!("* {word}{space}{inner}"), depth + 1)
                }
                _ => format!("{word} {}", self.declare(&of, inner, depth + 1)),
            },
            Layer::Array { of, lengths } => {
                let mut all = inner;
                for length in lengths {
                    all.push_str(&match length {
                        Length::Fixed(length) => format!("[{length}]"),
                        Length::Variable => "[variable length]".to_owned(),
                        Length::Unknown => "[]".to_owned(),
                    });
                }
                self.declare(&of, all, depth + 1)
            }
            Layer::Function { returns, parameters } => {
                let names: Vec<String> =
                    parameters.iter().map(|ty| self.declare(ty, String::new(), depth + 1)).collect();
                let list = if names.is_empty() { "void".to_owned() } else { names.join(", ") };
                self.declare(&returns, format!("{inner}({list})"), depth + 1)
            }
        }
    }

    /// The outermost layer of a type's name.
    fn layer(&self, ty: &Type) -> Layer {
        match &ty.0 {
            Made::Void => Layer::Named("void".to_owned()),
            Made::Pointer(to) => Layer::Pointer((**to).clone()),
            Made::Array { of, length } => {
                Layer::Array { of: (**of).clone(), lengths: vec![Length::Fixed(*length)] }
            }
            Made::Integer { size, signed } => Layer::Named(integer_name(*size, *signed).to_owned()),
            Made::Float { size } => Layer::Named(
                if *size == 4 {
                    "float"
                } else if *size == 8 {
                    "double"
                } else {
                    "long double"
                }
                .to_owned(),
            ),
            Made::Boolean => Layer::Named("_Bool".to_owned()),
            Made::Bytes(size) => Layer::Named(format!("{size} bytes")),
            Made::Declared { module, die } => {
                self.declared_layer(*module, *die).unwrap_or_else(|_| Layer::Named("?".to_owned()))
            }
        }
    }

    fn declared_layer(&self, module: usize, die: Die) -> Result<Layer> {
        let debug = self.debug(module)?;
        let to = || Ok::<_, Error>(Type::declared(module, debug.type_die(die)?));
        let tag = debug.entry(die)?.tag();
        Ok(match tag {
            gimli::DW_TAG_pointer_type => Layer::Pointer(to()?),
            gimli::DW_TAG_reference_type => Layer::Reference(to()?),
            gimli::DW_TAG_rvalue_reference_type => Layer::MoveReference(to()?),
            gimli::DW_TAG_const_type => Layer::Qualified("const", to()?),
            gimli::DW_TAG_volatile_type => Layer::Qualified("volatile", to()?),
            gimli::DW_TAG_restrict_type => Layer::Qualified("restrict", to()?),
            gimli::DW_TAG_atomic_type => Layer::Qualified("_Atomic", to()?),
            gimli::DW_TAG_array_type => Layer::Array { of: to()?, lengths: self.lengths(module, die)? },
            gimli::DW_TAG_subroutine_type => match self.declared_kind(module, die)? {
                Kind::Function { returns, parameters } => Layer::Function { returns, parameters },
                _ => Layer::Named("?".to_owned()),
            },
            _ => {
                let keyword = match tag {
                    gimli::DW_TAG_structure_type => "struct",
                    gimli::DW_TAG_class_type => "class",
                    gimli::DW_TAG_union_type => "union",
                    gimli::DW_TAG_enumeration_type => "enum",
                    _ => "",
                };
                let is_c = debug.units[die.unit].language == Language::C;
                Layer::Named(match debug.qualified_name(die)? {
                    Some(name) if tag == gimli::DW_TAG_base_type => usual(name),
                    Some(name) if keyword.is_empty() || !is_c => name,
                    Some(name) => format!("{keyword} {name}"),
                    None => format!("{keyword} {{...}}"),
                })
            }
        })
    }
}

/// The outermost layer of a type's name.
enum Layer {
    Named(String),
    Pointer(Type),
    Reference(Type),
    MoveReference(Type),
    Qualified(&'static str, Type),
    Array { of: Type, lengths: Vec<Length> },
    Function { returns: Type, parameters: Vec<Type> },
}

/// How long a dimension of an array is.
#[derive(Clone, Copy)]
enum Length {
    Fixed(u64),
    /// The program knows when it gets there.
    Variable,
    Unknown,
}

impl Length {
    fn fixed(self) -> Option<u64> {
        match self {
            Length::Fixed(length) => Some(length),
            _ => None,
        }
    }
}

/// The name of a base type as people write it; compilers say `long unsigned int`.
fn usual(name: String) -> String {
    let short = match name.as_str() {
        "long int" => "long",
        "long unsigned int" => "unsigned long",
        "long long int" => "long long",
        "long long unsigned int" => "unsigned long long",
        "short int" => "short",
        "short unsigned int" => "unsigned short",
        _ => return name,
    };
    short.to_owned()
}

fn integer_name(size: u64, signed: bool) -> &'static str {
    match (size, signed) {
        (1, true) => "signed char",
        (1, false) => "unsigned char",
        (2, true) => "short",
        (2, false) => "unsigned short",
        (4, true) => "int",
        (4, false) => "unsigned int",
        (8, true) => "long",
        (8, false) => "unsigned long",
        (_, true) => "__int128",
        (_, false) => "unsigned __int128",
    }
}

fn base(debug: &Debug, die: Die, size: u64) -> Result<Kind> {
    let size = size.min(64);
    let Some(AttributeValue::Encoding(encoding)) = debug.own(die, gimli::DW_AT_encoding)? else {
        return Ok(Kind::Opaque { size });
    };
    Ok(match encoding {
        gimli::DW_ATE_signed => Kind::Integer { size, signed: true },
        gimli::DW_ATE_unsigned | gimli::DW_ATE_address => Kind::Integer { size, signed: false },
        gimli::DW_ATE_signed_char => Kind::Character { size, signed: true },
        gimli::DW_ATE_unsigned_char | gimli::DW_ATE_UTF | gimli::DW_ATE_ASCII | gimli::DW_ATE_UCS => {
            Kind::Character { size, signed: false }
        }
        gimli::DW_ATE_boolean => Kind::Boolean { size },
        gimli::DW_ATE_float => Kind::Float { size },
        gimli::DW_ATE_complex_float => Kind::Complex { size },
        _ => Kind::Opaque { size },
    })
}

/// The value of a constant.
pub(crate) fn constant(value: &AttributeValue<crate::debug::Bytes>) -> i128 {
    match value {
        AttributeValue::Udata(value) => i128::from(*value),
        AttributeValue::Data8(value) => i128::from(*value),
        AttributeValue::Data4(value) => i128::from(*value),
        AttributeValue::Data2(value) => i128::from(*value),
        AttributeValue::Data1(value) => i128::from(*value),
        other => other.sdata_value().map_or(0, i128::from),
    }
}
