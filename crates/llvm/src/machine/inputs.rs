//! Memory that exists before the program starts: unknown, and found out only where it is used.
//!
//! A pointer cell of an input object holds a *token*: its own initial content, whatever that is. Tokens are copied and
//! shifted like pointers; only a use (an access, a comparison, a call, `free`) decides them, by INIT: null, any
//! existing input object of the type, or a new one, as guards over one selector in one state. So a traversal of an
//! unknown list of any shape within the bounds is one path per control-flow path, not one per shape.

use super::content::Fill;
use super::host::{Host, Split};
use super::memory::Kind;
use super::pointers::{GuardedSet, word};
use super::value::{Entry, ObjectId, Pointer, Target, TokenId, Value};
use super::{Machine, Result, State, Stop, code_address};
use crate::module::{DebugType, DebugTypeId, FunctionId, Module, TypeKind};
use parallax_op::{BinOp, Bits, BoolOp, RelOp};
use parallax_sem::Core;
use std::sync::Arc;

/// How far unknown memory goes.
#[derive(Clone, Copy, Debug)]
pub struct InputBounds {
    /// Elements of an array.
    pub array: u64,
    /// Pointers from an argument or global to the furthest new object.
    pub chain: u32,
    /// Text ends with a NUL.
    pub strings: bool,
}

/// An input pointer cell: what it may hold, as far as that was decided.
pub struct Token<C: Core> {
    /// What it is called in messages.
    pub name: String,
    /// What it points to, where debug information says.
    pub pointee: Option<DebugTypeId>,
    /// How many pointers lead to it.
    pub depth: u32,
    /// Whether null is excluded.
    pub nonnull: bool,
    /// Under which condition it has been decided.
    pub done: C::Bool,
    /// What it is then.
    pub entries: Vec<Entry<C>>,
}

impl<C: Core> Clone for Token<C> {
    fn clone(&self) -> Self {
        Token {
            name: self.name.clone(),
            pointee: self.pointee,
            depth: self.depth,
            nonnull: self.nonnull,
            done: self.done.clone(),
            entries: self.entries.clone(),
        }
    }
}

/// An input object that a pointer may point to.
pub struct InputObject<C: Core> {
    /// The object.
    pub object: ObjectId,
    /// Its type.
    pub ty: Option<DebugTypeId>,
    /// Whether it exists.
    pub exists: C::Bool,
    /// How many pointers lead to it.
    pub depth: u32,
    /// What it is called in messages.
    pub name: String,
}

impl<C: Core> Clone for InputObject<C> {
    fn clone(&self) -> Self {
        InputObject {
            object: self.object,
            ty: self.ty,
            exists: self.exists.clone(),
            depth: self.depth,
            name: self.name.clone(),
        }
    }
}

/// An input cell that was read.
pub enum InputCell<C: Core> {
    /// Bits: object, offset, length, value.
    Bits(ObjectId, u64, u64, C::Val),
    /// A pointer: object, offset, token.
    Pointer(ObjectId, u64, TokenId),
}

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

/// What lies at an offset of a type.
enum Leaf {
    Pointer { start: u64, pointee: Option<DebugTypeId> },
    Number { start: u64, len: u64, boolean: bool, name: String },
    Byte,
}

fn leaf_at(module: &Module, ty: Option<DebugTypeId>, mut offset: u64) -> Leaf {
    let mut start = 0;
    let mut at = strip(module, ty);
    let mut name = String::new();
    for _ in 0..64 {
        let Some(id) = at else { return Leaf::Byte };
        match &module.debug_types[id.0 as usize] {
            DebugType::Pointer(pointee) => return Leaf::Pointer { start, pointee: *pointee },
            DebugType::Base { bits, name: base, .. } => {
                return Leaf::Number { start, len: bits.div_ceil(8).max(1), boolean: base == "_Bool", name };
            }
            DebugType::Enum { bits, .. } => {
                return Leaf::Number { start, len: bits.div_ceil(8).max(1), boolean: false, name };
            }
            DebugType::Array { element, .. } => {
                let step = size_of(module, *element);
                if step == 0 {
                    return Leaf::Byte;
                }
                start += offset / step * step;
                offset %= step;
                at = strip(module, *element);
            }
            DebugType::Struct { fields, .. } => {
                let found = fields.iter().find(|field| {
                    field.bits % 8 == 0
                        && field.offset_bits % 8 == 0
                        && field.offset_bits / 8 <= offset
                        && offset < field.offset_bits / 8 + size_of(module, field.ty).max(1)
                });
                let Some(field) = found else { return Leaf::Byte };
                if size_of(module, field.ty) * 8 != field.bits {
                    // A bit-field that happens to fill its bytes.
                    return Leaf::Byte;
                }
                start += field.offset_bits / 8;
                offset -= field.offset_bits / 8;
                name = field.name.clone();
                at = strip(module, field.ty);
            }
            _ => return Leaf::Byte,
        }
    }
    Leaf::Byte
}

/// Whether two C types are the same: one name and size for structures (each file has its own description of them).
fn same_type(module: &Module, a: Option<DebugTypeId>, b: Option<DebugTypeId>) -> bool {
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

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    fn new_token(
        &mut self,
        state: &mut State<C>,
        name: String,
        pointee: Option<DebugTypeId>,
        depth: u32,
        nonnull: bool,
    ) -> TokenId {
        let id = TokenId(state.tokens.len() as u32);
        let done = self.host.core().boolean(false);
        let token = Token { name, pointee, depth, nonnull, done, entries: Vec::new() };
        Arc::make_mut(&mut state.tokens).push(token);
        id
    }

    fn token_pointer(&self, token: TokenId) -> Pointer<C> {
        Pointer::to(self.host.core().boolean(true), Target::Token(token), 0, word(&self.host, 0))
    }

    /// Unknown arguments for a function, and unknown contents for the program's own variables.
    pub fn unknown_arguments(
        &mut self,
        state: &mut State<C>,
        function: FunctionId,
    ) -> Result<Vec<Value<C>>, C> {
        let module = self.module;
        let always = self.host.core().boolean(true);
        for (index, global) in module.globals.iter().enumerate() {
            let Some(variable) = global.variable else { continue };
            let variable = &module.variables[variable.0 as usize];
            let library = module.files[variable.file as usize].starts_with(crate::LIBRARY_PREFIX);
            if global.constant || library || global.name.starts_with("llvm.") {
                continue;
            }
            let object = ObjectId(index as u32);
            let ty = strip(module, variable.ty);
            let fill = Fill::Input(ty.map_or(u32::MAX, |t| t.0));
            state.memory.object_mut(object).content = super::Content::new(fill);
            let name = variable.name.clone();
            let known = InputObject { object, ty, exists: always.clone(), depth: 0, name };
            Arc::make_mut(&mut state.input_objects).push(known);
        }
        let definition = module.function(function);
        let described = definition.signature.len() == definition.parameters.len() + 1;
        let mut values = Vec::new();
        for (index, parameter) in definition.parameters.iter().enumerate() {
            let ty = match parameter.variable {
                Some(variable) => module.variables[variable.0 as usize].ty,
                None if described => definition.signature[index + 1],
                None => None,
            };
            let name = if parameter.name.is_empty() {
                format!("argument{}", index + 1)
            } else {
                parameter.name.clone()
            };
            let layout = module.ty(parameter.ty);
            let value = match (&layout.kind, parameter.by_value) {
                (_, Some(by_value)) => {
                    let size = module.ty(by_value).size;
                    let bytes = word(&self.host, size);
                    let ty = strip(module, ty);
                    let fill = Fill::Input(ty.map_or(u32::MAX, |t| t.0));
                    let (object, pointer) = self.allocate(state, Kind::Input, bytes, size, 16, fill, None);
                    let exists = always.clone();
                    // Private to the callee: not pushed as something other pointers may point to, but kept as input.
                    Arc::make_mut(&mut state.private_inputs).push(InputObject {
                        object,
                        ty,
                        exists,
                        depth: 0,
                        name,
                    });
                    Value::Pointer(pointer)
                }
                (TypeKind::Pointer, None) => {
                    let pointee = match strip(module, ty).map(|t| &module.debug_types[t.0 as usize]) {
                        Some(DebugType::Pointer(pointee)) => *pointee,
                        _ => None,
                    };
                    let nonnull = parameter.nonnull || parameter.struct_return;
                    let token = self.new_token(state, name, pointee, 0, nonnull);
                    Value::Pointer(self.token_pointer(token))
                }
                (TypeKind::Int(_) | TypeKind::Float(_), None) => {
                    let width = layout.bits().unwrap_or(64);
                    Value::Bits(self.host.input(state, width, &name))
                }
                _ => return Err(Stop::Unsupported(format!("an unknown argument of the type of {name}"))),
            };
            values.push(value);
        }
        Ok(values)
    }

    /// Gives unwritten bytes of an input object their unknown initial content.
    pub(super) fn define_input(
        &mut self,
        state: &mut State<C>,
        id: ObjectId,
        ty: u32,
        byte: u64,
    ) -> Result<(), C> {
        let module = self.module;
        let described = (ty != u32::MAX).then_some(DebugTypeId(ty));
        let element = size_of(module, described);
        // An array of the type: what matters is the place within one element.
        let first = byte.checked_div(element).map_or(byte, |number| number * element);
        let known = state
            .input_objects
            .iter()
            .chain(state.private_inputs.iter())
            .find(|o| o.object == id)
            .map_or((0, String::new()), |o| (o.depth, o.name.clone()));
        let missing = |state: &State<C>, at: u64, len: u64| {
            (at..at + len).all(|b| state.memory.object(id).content.first_missing(b, 1).is_some())
        };
        let (depth, owner) = known;
        match leaf_at(module, described, byte - first) {
            Leaf::Pointer { start, pointee } if missing(state, first + start, 8) => {
                let at = first + start;
                let token = self.new_token(state, format!("{owner}+{at}"), pointee, depth + 1, false);
                let pointer = Value::Pointer(self.token_pointer(token));
                state.memory.object_mut(id).content.write(&self.host, at, 8, pointer);
                state.input_cells.push(InputCell::Pointer(id, at, token));
            }
            Leaf::Number { start, len, boolean, name } if missing(state, first + start, len) => {
                let at = first + start;
                let width = (len * 8) as u16;
                let label =
                    if name.is_empty() { format!("{owner}[{at}]") } else { format!("{owner}.{name}") };
                let value = self.host.selector(width, &label);
                if boolean {
                    let core = self.host.core();
                    let small = core.relop(RelOp::Ule, width, &value, &core.constant(&Bits::one(width)));
                    self.host.take(&mut state.path, small);
                }
                state.memory.object_mut(id).content.write(&self.host, at, len, Value::Bits(value.clone()));
                state.input_cells.push(InputCell::Bits(id, at, len, value));
            }
            _ => {
                let value = self.host.selector(8, &format!("{owner}[{byte}]"));
                state.memory.object_mut(id).content.write(&self.host, byte, 1, Value::Bits(value.clone()));
                state.input_cells.push(InputCell::Bits(id, byte, 1, value));
            }
        }
        Ok(())
    }

    /// A pointer with its tokens decided.
    pub(super) fn resolved(&mut self, state: &mut State<C>, pointer: &Pointer<C>) -> Result<Pointer<C>, C> {
        if !pointer.entries.iter().any(|entry| matches!(entry.target, Target::Token(_))) {
            return Ok(pointer.clone());
        }
        for entry in &pointer.entries {
            if let Target::Token(token) = entry.target {
                self.init(state, token, &entry.guard)?;
            }
        }
        let core = self.host.core();
        let mut set = GuardedSet::new(&self.host);
        for entry in &pointer.entries {
            let Target::Token(token) = entry.target else {
                set.add(entry.guard.clone(), entry);
                continue;
            };
            for choice in &state.tokens[token.0 as usize].entries {
                let guard = core.boolop(BoolOp::And, &entry.guard, &choice.guard);
                let offset = core.binop(BinOp::Add, 64, &choice.offset, &entry.offset);
                set.add(guard.clone(), &Entry { guard, offset, ..choice.clone() });
            }
        }
        Ok(set.pointer())
    }

    /// INIT: decides a token under a condition, as far as it was not.
    fn init(&mut self, state: &mut State<C>, id: TokenId, under: &C::Bool) -> Result<(), C> {
        let token = state.tokens[id.0 as usize].clone();
        let core = self.host.core();
        let open = core.boolop(BoolOp::And, under, &core.not(&token.done));
        match self.host.split(&state.path, &open) {
            Split::False => return Ok(()),
            Split::Neither => return Err(Stop::Dead),
            Split::True | Split::Both => {}
        }
        let selector = self.host.selector(8, &format!("choice of {}", token.name));
        let core = self.host.core();
        let is = |host: &H, number: u8| {
            let core = host.core();
            core.relop(RelOp::Eq, 8, &selector, &core.constant(&Bits::new(8, number.into())))
        };
        let always = core.boolean(true);
        let mut number = 0u8;
        let mut entries: Vec<Entry<C>> = Vec::new();
        let mut allowed = core.boolean(false);
        let mut choice = |host: &H, condition: &C::Bool, target: Target, base: u64| {
            // Selectors have room for 254 choices; a program with more candidates is cut, and says so.
            if number == u8::MAX {
                return false;
            }
            number += 1;
            let guard = is(host, number);
            let core = host.core();
            allowed = core.boolop(BoolOp::Or, &allowed, &core.boolop(BoolOp::And, &guard, condition));
            entries.push(Entry { guard, target, base, offset: word(host, 0) });
            true
        };
        if !token.nonnull {
            choice(&self.host, &always, Target::Null, 0);
        }
        let pointee = strip(self.module, token.pointee);
        let described = pointee.map(|t| &self.module.debug_types[t.0 as usize]);
        if let Some(DebugType::Function(types)) = described {
            for (index, function) in self.module.functions.iter().enumerate() {
                let fits = function.address_taken
                    && function.is_defined()
                    && !function.library
                    && function.parameters.len() + 1 == types.len();
                if fits {
                    let function = FunctionId(index as u32);
                    choice(&self.host, &always, Target::Function(function), code_address(function));
                }
            }
        } else {
            let mut fits = true;
            for candidate in state.input_objects.iter() {
                if same_type(self.module, candidate.ty, pointee) && pointee.is_some() {
                    let base = state.memory.object(candidate.object).base;
                    fits &= choice(&self.host, &candidate.exists, Target::Object(candidate.object), base);
                }
            }
            if !fits {
                self.host.bounded("choices: more than 254 things one input pointer may point to".into());
            }
            if token.depth < self.host.input_bounds().chain {
                let (object, base) = self.new_input(state, &token, pointee);
                choice(&self.host, &always, Target::Object(object), base);
                let exists = entries.last().map_or(always.clone(), |e| e.guard.clone());
                let known =
                    InputObject { object, ty: pointee, exists, depth: token.depth, name: token.name.clone() };
                Arc::make_mut(&mut state.input_objects).push(known);
            } else {
                let chain = self.host.input_bounds().chain;
                self.host.bounded(format!("chain: input objects more than {chain} pointers away"));
            }
        }
        if entries.is_empty() {
            return Err(Stop::Dead);
        }
        let core = self.host.core();
        let dead = is(&self.host, 0);
        let side = core.cond_bool(&open, &allowed, &dead);
        self.host.take(&mut state.path, side);
        let done = self.host.core().boolop(BoolOp::Or, &token.done, &open);
        let stored = &mut Arc::make_mut(&mut state.tokens)[id.0 as usize];
        stored.done = done;
        stored.entries.extend(entries);
        Ok(())
    }

    /// A new input object for a token: one structure, or an array of unknown length of anything else.
    fn new_input(
        &mut self,
        state: &mut State<C>,
        token: &Token<C>,
        pointee: Option<DebugTypeId>,
    ) -> (ObjectId, u64) {
        let bounds = self.host.input_bounds();
        let element = size_of(self.module, pointee);
        let fill = Fill::Input(pointee.filter(|_| element > 0).map_or(u32::MAX, |t| t.0));
        let single = matches!(
            pointee.map(|t| &self.module.debug_types[t.0 as usize]),
            Some(DebugType::Struct { .. } | DebugType::Union { .. } | DebugType::Array { .. })
        ) && element > 0;
        let text = element == 1 && bounds.strings;
        let (size, capacity) = if single {
            (word(&self.host, element), element)
        } else if text {
            (word(&self.host, bounds.array + 1), bounds.array + 1)
        } else {
            let step = if element == 0 { 8 } else { element };
            let len = self.host.selector(64, &format!("length of {}", token.name));
            let core = self.host.core();
            let some = core.relop(RelOp::Uge, 64, &len, &word(&self.host, 1));
            let few = core.relop(RelOp::Ule, 64, &len, &word(&self.host, bounds.array));
            let within = core.boolop(BoolOp::And, &some, &few);
            let size = core.binop(BinOp::Mul, 64, &len, &word(&self.host, step));
            self.host.take(&mut state.path, within);
            (size, step * bounds.array)
        };
        let (object, pointer) = self.allocate(state, Kind::Input, size, capacity, 16, fill, None);
        if text {
            state.memory.object_mut(object).content.write_bytes(&self.host, bounds.array, &[0]);
        }
        (object, pointer.entries[0].base)
    }
}
