//! C types as unknown memory sees them: sizes, what lies where, and where one type lies in another.

use parallax_cmodule::{
    Callee, Constant, DebugType, DebugTypeId, Field, Function, Module, Operand, Operation, Terminator,
    TypeId, TypeKind,
};

/// A type without names and qualifiers.
pub fn strip(module: &Module, mut ty: Option<DebugTypeId>) -> Option<DebugTypeId> {
    // Debug information of a corrupt module may go in circles.
    for _ in 0..64 {
        match module.debug_types.get(ty?.0 as usize)? {
            DebugType::Alias { of, .. } => ty = *of,
            _ => return ty,
        }
    }
    None
}

/// Size of a C type in bytes; 0 when unknown.
pub fn size_of(module: &Module, ty: Option<DebugTypeId>) -> u64 {
    let mut factor = 1u64;
    let mut at = strip(module, ty);
    for _ in 0..64 {
        let Some(id) = at else { return 0 };
        return factor.saturating_mul(match &module.debug_types[id.0 as usize] {
            DebugType::Base { bits, .. } | DebugType::Enum { bits, .. } => bits.div_ceil(8),
            DebugType::Pointer(_) => 8,
            DebugType::Struct { size, .. } | DebugType::Union { size, .. } => *size,
            DebugType::Array { element, len } => {
                factor = factor.saturating_mul(*len);
                at = strip(module, *element);
                continue;
            }
            _ => 0,
        });
    }
    0
}

/// Which parameters of the IR make up each parameter of the C function: one, or for a structure in registers one for each
/// eight bytes. Nothing where debug information does not say, or says something else.
pub fn parameter_pieces(module: &Module, function: &Function) -> Option<Vec<std::ops::Range<usize>>> {
    let types = function.signature.get(1..)?;
    let mut at = usize::from(function.parameters.first().is_some_and(|p| p.struct_return));
    let mut pieces = Vec::new();
    for ty in types {
        let size = match strip(module, *ty).map(|t| &module.debug_types[t.0 as usize]) {
            // C has no parameters that are arrays: this is a vector, in one register however long.
            Some(DebugType::Array { .. }) => 8,
            Some(DebugType::Function(_)) | None => 8,
            _ => size_of(module, *ty),
        };
        let (start, mut covered) = (at, 0);
        while covered < size {
            let parameter = function.parameters.get(at)?;
            covered += if parameter.by_value.is_some() { size } else { module.ty(parameter.ty).size.max(8) };
            at += 1;
        }
        pieces.push(start..at);
    }
    (at == function.parameters.len()).then_some(pieces)
}

/// Whether a type is a structure or union.
pub(super) fn is_record(module: &Module, ty: Option<DebugTypeId>) -> bool {
    let ty = strip(module, ty).map(|t| &module.debug_types[t.0 as usize]);
    matches!(ty, Some(DebugType::Struct { .. } | DebugType::Union { .. }))
}

/// What lies at an offset of a type.
pub(super) enum Leaf {
    Pointer {
        start: u64,
        pointee: Option<DebugTypeId>,
        nonnull: bool,
        name: String,
    },
    Number {
        start: u64,
        len: u64,
        boolean: bool,
        signed: bool,
        name: String,
    },
    /// A union, and how far into it the offset is.
    Union {
        ty: DebugTypeId,
        within: u64,
        name: String,
    },
    Byte,
}

pub(super) fn leaf_at(module: &Module, ty: Option<DebugTypeId>, mut offset: u64) -> Leaf {
    let mut start = 0;
    let mut at = strip(module, ty);
    let mut name = String::new();
    let mut nonnull = false;
    for _ in 0..64 {
        let Some(id) = at else { return Leaf::Byte };
        match &module.debug_types[id.0 as usize] {
            DebugType::Pointer(pointee) => return Leaf::Pointer { start, pointee: *pointee, nonnull, name },
            DebugType::Base { bits, name: base, signed, .. } => {
                let len = bits.div_ceil(8).max(1);
                return Leaf::Number { start, len, boolean: base == "_Bool", signed: *signed, name };
            }
            DebugType::Enum { bits, .. } => {
                let len = bits.div_ceil(8).max(1);
                return Leaf::Number { start, len, boolean: false, signed: false, name };
            }
            DebugType::Array { element, .. } => {
                let step = size_of(module, *element);
                if step == 0 {
                    return Leaf::Byte;
                }
                start += offset / step * step;
                offset %= step;
                nonnull = false;
                at = strip(module, *element);
            }
            DebugType::Struct { fields, .. } => {
                let found = fields.iter().find(|field| {
                    field.bits % 8 == 0
                        && field.offset_bits % 8 == 0
                        && field.offset_bits / 8 <= offset
                        && (offset < field.offset_bits / 8 + size_of(module, field.ty).max(1)
                            || open_ended(module, field).is_some())
                });
                let Some(field) = found else { return Leaf::Byte };
                if size_of(module, field.ty) * 8 != field.bits {
                    // A bit-field that happens to fill its bytes.
                    return Leaf::Byte;
                }
                start += field.offset_bits / 8;
                offset -= field.offset_bits / 8;
                name = joined(&name, &field.name);
                nonnull = field.nonnull;
                at = strip(module, field.ty);
            }
            DebugType::Union { .. } => return Leaf::Union { ty: id, within: offset, name },
            _ => return Leaf::Byte,
        }
    }
    Leaf::Byte
}

/// The name of a field of a field.
fn joined(outer: &str, field: &str) -> String {
    let dot = if outer.is_empty() || field.is_empty() { "" } else { "." };
    format!("{outer}{dot}{field}")
}

/// Pointers and numbers that start at an offset of a type, with their names: one, or one of each alternative of a union.
fn scalars_at(module: &Module, ty: Option<DebugTypeId>, offset: u64) -> Vec<(String, Leaf)> {
    let mut found = Vec::new();
    let mut waiting = vec![(ty, offset, String::new(), 0)];
    while let Some((ty, offset, outer, depth)) = waiting.pop() {
        match leaf_at(module, ty, offset) {
            Leaf::Union { ty, within, name } => {
                // Debug information of a corrupt module may go in circles.
                let DebugType::Union { fields, .. } = &module.debug_types[ty.0 as usize] else { continue };
                let outer = joined(&outer, &name);
                let fields = fields.iter().rev().filter(|_| depth < 8);
                waiting
                    .extend(fields.map(|field| (field.ty, within, joined(&outer, &field.name), depth + 1)));
            }
            Leaf::Byte => {}
            leaf @ (Leaf::Pointer { start, .. } | Leaf::Number { start, .. }) if start == offset => {
                let (Leaf::Pointer { name, .. } | Leaf::Number { name, .. }) = &leaf else { continue };
                found.push((joined(&outer, name), leaf));
            }
            Leaf::Pointer { .. } | Leaf::Number { .. } => {}
        }
    }
    found
}

/// What a pointer that starts at an offset of a type points to, if some alternative of a union has one there; anything, if those
/// that do have one do not agree.
pub(super) fn union_pointer(
    module: &Module,
    ty: Option<DebugTypeId>,
    offset: u64,
) -> Option<Option<DebugTypeId>> {
    let Leaf::Union { .. } = leaf_at(module, ty, offset) else { return None };
    let scalars = scalars_at(module, ty, offset);
    let mut pointees = scalars.iter().filter_map(|(_, leaf)| match leaf {
        Leaf::Pointer { pointee, .. } => Some(*pointee),
        _ => None,
    });
    let first = pointees.next()?;
    let agree = pointees.all(|other| same_type(module, first, other));
    Some(if agree { first } else { None })
}

/// The name of a number of so many bytes that some alternative of a union has at an offset of a type.
pub(super) fn union_number(
    module: &Module,
    ty: Option<DebugTypeId>,
    offset: u64,
    bytes: u64,
) -> Option<String> {
    let Leaf::Union { .. } = leaf_at(module, ty, offset) else { return None };
    let is_one = |leaf: &Leaf| matches!(leaf, Leaf::Number { len, boolean: false, .. } if *len == bytes);
    scalars_at(module, ty, offset).into_iter().find(|(_, leaf)| is_one(leaf)).map(|(name, _)| name)
}

/// The name of the pointer that starts at an offset of a type.
pub fn pointer_at(module: &Module, ty: Option<DebugTypeId>, offset: u64) -> Option<String> {
    let scalars = scalars_at(module, ty, within_element(module, ty, offset));
    common(scalars.into_iter().filter(|(_, leaf)| matches!(leaf, Leaf::Pointer { .. })).map(|(name, _)| name))
}

/// The name of the number that starts at an offset of a type, and whether it is signed.
pub fn number_at(module: &Module, ty: Option<DebugTypeId>, offset: u64) -> Option<(String, bool)> {
    let scalars = scalars_at(module, ty, within_element(module, ty, offset));
    let numbers = scalars.into_iter().filter_map(|(name, leaf)| match leaf {
        Leaf::Number { signed, .. } => Some((name, signed)),
        _ => None,
    });
    let numbers: Vec<(String, bool)> = numbers.collect();
    let signed = numbers.iter().any(|(_, signed)| *signed);
    common(numbers.into_iter().map(|(name, _)| name)).map(|name| (name, signed))
}

/// What alternatives of a union have in common of their names: nobody knows which of them is meant.
fn common(mut names: impl Iterator<Item = String>) -> Option<String> {
    let first = names.next()?;
    Some(names.fold(first, |common, name| {
        let fields = common.split('.').zip(name.split('.'));
        fields.take_while(|(one, other)| one == other).map(|(one, _)| one).collect::<Vec<_>>().join(".")
    }))
}

/// Of an array of a type, the offset in any element.
fn within_element(module: &Module, ty: Option<DebugTypeId>, offset: u64) -> u64 {
    offset.checked_rem(size_of(module, ty)).unwrap_or(offset)
}

/// Whether memory of a type, by its number, is numbers throughout, any of them: no pointer, no `_Bool`.
pub(super) fn only_numbers(module: &Module, ty: u32) -> bool {
    let mut waiting = vec![(Some(DebugTypeId(ty)), 0)];
    while let Some((ty, depth)) = waiting.pop() {
        let Some(id) = strip(module, ty) else { continue };
        match module.debug_types.get(id.0 as usize) {
            Some(DebugType::Pointer(_)) => return false,
            Some(DebugType::Base { name, .. }) if name == "_Bool" => return false,
            // Debug information of a corrupt module may go in circles.
            _ if depth == 64 => return false,
            Some(DebugType::Array { element, .. }) => waiting.push((*element, depth + 1)),
            Some(DebugType::Struct { fields, .. }) => {
                waiting.extend(fields.iter().map(|field| (field.ty, depth + 1)));
            }
            _ => {}
        }
    }
    true
}

/// A flexible array at the end of a structure.
pub(super) struct Flexible {
    /// Where it starts, in bytes.
    pub(super) offset: u64,
    /// Bytes of one element.
    pub(super) step: u64,
    /// Where the field is that counts them (`counted_by`).
    pub(super) count_at: Option<u64>,
}

/// Bytes of one element, if a field is an array without a length.
fn open_ended(module: &Module, field: &Field) -> Option<u64> {
    match module.debug_types[strip(module, field.ty)?.0 as usize] {
        DebugType::Array { element, len: 0 } => Some(size_of(module, element)).filter(|&step| step > 0),
        _ => None,
    }
}

/// The flexible array that a structure ends with.
pub(super) fn flexible(module: &Module, ty: Option<DebugTypeId>) -> Option<Flexible> {
    let DebugType::Struct { fields, .. } = &module.debug_types[strip(module, ty)?.0 as usize] else {
        return None;
    };
    let last = fields.last()?;
    let counter = last.counted_by.as_ref().and_then(|name| fields.iter().find(|f| f.name == *name));
    Some(Flexible {
        offset: last.offset_bits / 8,
        step: open_ended(module, last)?,
        count_at: counter.filter(|f| whole(module, f)).map(|f| f.offset_bits / 8),
    })
}

/// Whether two C types are the same: one name and size for structures (each file has its own description of them).
pub(super) fn same_type(module: &Module, a: Option<DebugTypeId>, b: Option<DebugTypeId>) -> bool {
    let (a, b) = (strip(module, a), strip(module, b));
    if a == b {
        return true;
    }
    let (Some(a), Some(b)) = (a, b) else { return false };
    match (&module.debug_types[a.0 as usize], &module.debug_types[b.0 as usize]) {
        (DebugType::Struct { name: x, size: n, .. }, DebugType::Struct { name: y, size: m, .. })
        | (DebugType::Union { name: x, size: n, .. }, DebugType::Union { name: y, size: m, .. }) => {
            !x.is_empty() && x == y && n == m
        }
        (DebugType::Pointer(x), DebugType::Pointer(y)) => strip(module, *x) == strip(module, *y),
        (a, b) => a == b,
    }
}

/// Whether a value of a type of the IR may be one of a C type.
pub(super) fn travels_as(module: &Module, ty: TypeId, described: Option<DebugTypeId>) -> bool {
    let described = strip(module, described);
    let kind = described.map(|ty| &module.debug_types[ty.0 as usize]);
    let bits = size_of(module, described) * 8;
    match (&module.ty(ty).kind, kind) {
        (TypeKind::Void, kind) => kind.is_none(),
        (_, None) => false,
        (TypeKind::Pointer, Some(kind)) => matches!(kind, DebugType::Pointer(_)),
        (TypeKind::Int(width), Some(DebugType::Base { float: false, .. } | DebugType::Enum { .. })) => {
            // A `_Bool` travels in one bit.
            u64::from(*width) == bits || *width == 1
        }
        (TypeKind::Float(format), Some(DebugType::Base { float: true, .. })) => {
            u64::from(format.width()).div_ceil(8).next_power_of_two() * 8 == bits
        }
        (TypeKind::Int(_) | TypeKind::Float(_), _) => false,
        // Structures travel in whatever way.
        (_, Some(_)) => true,
    }
}

/// Where one element of `container` holds something of the type `wanted`, in bytes from its start; at most `limit`.
pub(super) fn positions(
    module: &Module,
    wanted: Option<DebugTypeId>,
    container: Option<DebugTypeId>,
    limit: usize,
) -> Vec<u64> {
    let mut found = Vec::new();
    // Breadth first, with an explicit list: debug information of a corrupt module may nest without end.
    let mut waiting = vec![(strip(module, container), 0u64, 0u32)];
    while let Some((ty, at, depth)) = waiting.pop() {
        if found.len() >= limit {
            break;
        }
        if same_type(module, ty, wanted) {
            found.push(at);
        }
        if depth > 16 {
            continue;
        }
        match ty.map(|t| &module.debug_types[t.0 as usize]) {
            Some(DebugType::Struct { fields, .. }) => {
                waiting.extend(
                    fields
                        .iter()
                        .filter(|f| whole(module, f))
                        .map(|f| (strip(module, f.ty), at + f.offset_bits / 8, depth + 1)),
                );
            }
            Some(DebugType::Array { element, len }) => {
                let step = size_of(module, *element);
                let element = strip(module, *element);
                let few = (*len).min(limit as u64);
                waiting.extend((0..few).map(|index| (element, at + index * step, depth + 1)));
            }
            _ => {}
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a field is no bit-field.
fn whole(module: &Module, field: &Field) -> bool {
    field.offset_bits.is_multiple_of(8) && size_of(module, field.ty) * 8 == field.bits
}

/// Structures of the program, other than `wanted` itself, that hold something of that type.
pub(super) fn containers(module: &Module, wanted: Option<DebugTypeId>, limit: usize) -> Vec<DebugTypeId> {
    let mut found: Vec<DebugTypeId> = Vec::new();
    // Only structures that something points to, or a variable is, are ever allocated as a whole.
    let pointed = module.debug_types.iter().filter_map(|ty| match ty {
        DebugType::Pointer(pointee) => strip(module, *pointee),
        _ => None,
    });
    let variables = module.variables.iter().filter_map(|variable| strip(module, variable.ty));
    for ty in pointed.chain(variables) {
        let DebugType::Struct { size, .. } = &module.debug_types[ty.0 as usize] else { continue };
        if *size == 0
            || same_type(module, Some(ty), wanted)
            || found.iter().any(|&other| same_type(module, Some(other), Some(ty)))
            || positions(module, wanted, Some(ty), 1).is_empty()
        {
            continue;
        }
        if found.len() == limit {
            break;
        }
        found.push(ty);
    }
    found
}

/// How a program looks at parts of structures: what decides whether input pointers may point into them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FieldUse {
    /// The address of a field goes somewhere.
    pub(super) taken: bool,
    /// A structure is found from one of its fields (`container_of`).
    pub(super) container_of: bool,
}

/// Looks through the user's own functions.
pub(super) fn field_use(module: &Module) -> FieldUse {
    let mut found = FieldUse::default();
    for function in module.functions.iter().filter(|f| !f.library) {
        found.taken |= takes_field(function);
        let back = |operation: &Operation| matches!(operation, Operation::Address { offset, indices, .. } if *offset < 0 && indices.is_empty());
        found.container_of |=
            function.blocks.iter().flat_map(|b| &b.instructions).any(|i| back(&i.operation));
    }
    found
}

fn takes_field(function: &Function) -> bool {
    let mut fields = rustc_hash::FxHashSet::default();
    for instruction in function.blocks.iter().flat_map(|b| &b.instructions) {
        if let (Operation::Address { offset, .. }, Some(result)) =
            (&instruction.operation, instruction.result)
            && *offset != 0
        {
            fields.insert(result);
        }
    }
    let is = |operand: &Operand| matches!(operand, Operand::Register(r) if fields.contains(r));
    function.blocks.iter().any(|block| {
        let returned = matches!(&block.terminator, Terminator::Return(Some(value)) if is(value));
        returned
            || block.instructions.iter().any(|i| match &i.operation {
                Operation::Store { value, .. } | Operation::SlotStore { value, .. } => is(value),
                Operation::Call { arguments, .. } => arguments.iter().any(|a| is(&a.value)),
                Operation::Select { a, b, .. } | Operation::Compare { a, b, .. } => is(a) || is(b),
                Operation::Phi { incoming } => incoming.iter().any(|(_, value)| is(value)),
                _ => false,
            })
    })
}

/// Which globals have their address go somewhere.
pub(super) fn taken_globals(module: &Module) -> Vec<bool> {
    let mut taken = vec![false; module.globals.len()];
    let mut constants: Vec<u32> = Vec::new();
    let mut note = |operand: &Operand| {
        if let Operand::Constant(id) = operand {
            constants.push(id.0);
        }
    };
    for block in module.functions.iter().flat_map(|f| &f.blocks) {
        for instruction in &block.instructions {
            match &instruction.operation {
                Operation::Store { value, .. } | Operation::SlotStore { value, .. } => note(value),
                Operation::Call { arguments, callee } => {
                    arguments.iter().for_each(|a| note(&a.value));
                    if let Callee::Pointer(pointer) = callee {
                        note(pointer);
                    }
                }
                Operation::Select { a, b, .. } | Operation::Binary { a, b, .. } => {
                    note(a);
                    note(b);
                }
                Operation::Cast { a, .. } | Operation::Freeze { a } => note(a),
                Operation::Address { base, indices, .. } if !indices.is_empty() => note(base),
                Operation::Phi { incoming } => incoming.iter().for_each(|(_, value)| note(value)),
                Operation::Insert { value, .. } | Operation::InsertElement { value, .. } => note(value),
                _ => {}
            }
        }
        if let Terminator::Return(Some(value)) = &block.terminator {
            note(value);
        }
    }
    constants.extend(module.globals.iter().filter_map(|g| g.initialiser).map(|c| c.0));
    let mut seen = vec![false; module.constants.len()];
    while let Some(id) = constants.pop() {
        if std::mem::replace(&mut seen[id as usize], true) {
            continue;
        }
        match &module.constants[id as usize] {
            Constant::Global(global, _) => taken[global.0 as usize] = true,
            Constant::Aggregate(_, elements) => constants.extend(elements.iter().map(|e| e.0)),
            Constant::Expression(_, operation) => {
                if let Operation::Cast { a: Operand::Constant(a), .. }
                | Operation::Address { base: Operand::Constant(a), .. } = &**operation
                {
                    constants.push(a.0);
                }
                if let Operation::Binary { a, b, .. } = &**operation {
                    for operand in [a, b] {
                        if let Operand::Constant(c) = operand {
                            constants.push(c.0);
                        }
                    }
                }
            }
            _ => {}
        }
    }
    taken
}
