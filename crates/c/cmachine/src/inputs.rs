//! Memory that exists before the program starts: unknown, and found out only where it is used.
//!
//! A pointer cell of an input object holds a *token*: its own initial content, whatever that is. Tokens are copied and
//! shifted like pointers; only a use (an access, a comparison, a call, `free`) decides them, by INIT: null, any
//! existing input object of the type, or a new one, as guards over one selector in one state. So a traversal of an
//! unknown list of any shape within the bounds is one path per control-flow path, not one per shape.

use super::access::Hits;
use super::content::Fill;
use super::host::Host;
use super::input_types::{
    Leaf, field_use, flexible, is_record, leaf_at, parameter_pieces, size_of, strip, taken_globals,
    union_number, union_pointer,
};
use super::memory::Kind;
use super::pointers::word;
use super::value::{Entry, ObjectId, Pointer, Target, TokenId, Value};
use super::{Machine, Result, State, Stop};
use parallax_cmodule::{DebugType, DebugTypeId, FunctionId, GlobalId, TypeKind};
use parallax_path::Premise;
use parallax_sem::Core;
use std::sync::Arc;

/// Where an input pointer may point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aliasing {
    /// As `Strict`; but into structures, and to objects that are part of one, where the program looks at such parts: for
    /// scalars when it takes the address of a field, for structures too when it uses `container_of`.
    #[default]
    Auto,
    /// The start of an object of its type.
    Strict,
    /// Any element of an array of its type.
    Elem,
    /// Any part of an object that has its type.
    Sub,
    /// Any place of any object: memory has no types.
    Raw,
}

/// What a global variable holds when a function is entered by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalStart {
    /// Anything: it is input memory.
    Unknown,
    /// Its initialiser; input pointers may point to it where its address is known to others.
    Initial,
    /// Its initialiser, and nothing points to it.
    Apart,
}

/// How far unknown memory goes.
#[derive(Clone, Copy, Debug)]
pub struct InputBounds {
    /// Where an input pointer may point.
    pub aliasing: Aliasing,
    /// Elements of an array.
    pub array: u64,
    /// Pointers from an argument or global to the furthest new object.
    pub chain: u32,
    /// Text ends with a NUL.
    pub strings: bool,
}

/// Where an input pointer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is a parameter of the function that was entered, by its number in the IR.
    Parameter(u32),
    /// It is what a cell of input memory held at entry.
    Cell(ObjectId, u64),
    /// It was made unknown later (see [`Machine::havoc`]).
    Havoc {
        /// The cell; none for a value that is in no cell, such as the answer of a call.
        cell: Option<(ObjectId, u64)>,
        /// How many objects there were then: what is younger it cannot point to, unless it is input memory.
        made: u32,
    },
}

impl Origin {
    /// The object that held it at entry.
    pub fn holder(self) -> Option<ObjectId> {
        match self {
            Origin::Cell(holder, _) => Some(holder),
            Origin::Parameter(_) | Origin::Havoc { .. } => None,
        }
    }
}

/// Something that an input pointer may be, before it is offered (see [`Inputs::may_be`](super::Inputs::may_be)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidate {
    /// Null.
    Null,
    /// An input object that is known, at this offset within one of its elements; any offset where there is none.
    Known(ObjectId, Option<u64>),
    /// The same for an object that the program made before the pointer became unknown.
    Made(ObjectId, Option<u64>),
    /// A new input object of this type, at this offset.
    New(Option<DebugTypeId>, u64),
    /// A function.
    Function(FunctionId),
}

/// Places in one object that an input pointer may point to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spots {
    /// Any place that what it points to fits at.
    Anywhere,
    /// An offset, and for arrays around it the bytes of an element and how many there are: any element of each.
    At(u64, Vec<(u64, u64)>),
}

/// An input pointer cell: what it may hold, as far as that was decided.
#[derive(Clone)]
pub struct Token<C: Core> {
    /// What it is called in messages.
    pub name: String,
    /// Where it stands.
    pub origin: Origin,
    /// What it points to, where debug information says.
    pub pointee: Option<DebugTypeId>,
    /// How many pointers lead to it.
    pub depth: u32,
    /// Whether null is excluded.
    pub nonnull: bool,
    /// When it is null, where that was asked by itself (see [`Inputs::null_alone`](super::Inputs::null_alone)).
    pub null: Option<C::Bool>,
    /// Under which condition it has been decided.
    pub done: C::Bool,
    /// What it is then.
    pub entries: Vec<Entry<C>>,
}

/// An input object that a pointer may point to.
#[derive(Clone)]
pub struct InputObject<C: Core> {
    /// The object.
    pub object: ObjectId,
    /// Its type.
    pub ty: Option<DebugTypeId>,
    /// How many of them lie one after the other, 64 bits.
    pub count: C::Val,
    /// Whether it exists.
    pub exists: C::Bool,
    /// How many pointers lead to it.
    pub depth: u32,
    /// What it is called in messages.
    pub name: String,
}

/// An input cell that was read.
#[derive(Clone)]
pub enum InputCell<C: Core> {
    /// Bits: object, offset, length, value.
    Bits(ObjectId, u64, u64, C::Val),
    /// A pointer: object, offset, token.
    Pointer(ObjectId, u64, TokenId),
}

/// How far an input object is from what was given, and what it is called.
fn described_as<C: Core>(state: &State<C>, id: ObjectId) -> (u32, String) {
    let mut known = state.input_objects.iter().chain(state.private_inputs.iter());
    known.find(|o| o.object == id).map_or((0, String::new()), |o| (o.depth, o.name.clone()))
}

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    pub(super) fn new_token(
        &mut self,
        state: &mut State<C>,
        (name, origin): (String, Origin),
        pointee: Option<DebugTypeId>,
        depth: u32,
        nonnull: bool,
    ) -> TokenId {
        let id = TokenId(state.tokens.len() as u32);
        let done = self.host.core().boolean(false);
        let token = Token { name, origin, pointee, depth, nonnull, null: None, done, entries: Vec::new() };
        Arc::make_mut(&mut state.tokens).push(token);
        id
    }

    pub(super) fn token_pointer(&self, token: TokenId) -> Pointer<C> {
        Pointer::to(self.host.core().boolean(true), Target::Token(token), word(&self.host, 0))
    }

    /// Memory for a function that nobody calls: `start` says what each of the program's own variables holds. Constants,
    /// and variables of the library, keep their initialisers.
    ///
    /// [`Machine::unknown_arguments`] and [`Machine::begin`] then enter the function. A state can be prepared in
    /// between: memory written, unknown arguments replaced by known ones.
    pub fn unknown_memory(&mut self, state: &mut State<C>, start: &mut dyn FnMut(GlobalId) -> GlobalStart) {
        let module = self.module;
        let always = self.host.core().boolean(true);
        let one = word(&self.host, 1);
        state.unknown_memory = true;
        self.field_use = field_use(module);
        self.list_assumptions();
        let taken = taken_globals(module);
        for (index, global) in module.globals.iter().enumerate() {
            let Some(variable) = global.variable else { continue };
            let variable = &module.variables[variable.0 as usize];
            let id = GlobalId(index as u32);
            if global.constant || module.is_library_global(id) || global.name.starts_with("llvm.") {
                continue;
            }
            let object = ObjectId(index as u32);
            let ty = strip(module, variable.ty);
            let unknown = match start(id) {
                GlobalStart::Unknown => true,
                GlobalStart::Initial => false,
                GlobalStart::Apart => continue,
            };
            if unknown {
                let fill = Fill::Input(ty.map_or(u32::MAX, |t| t.0));
                state.memory.object_mut(object).content = super::Content::new(fill);
            }
            let (name, count, exists) = (variable.name.clone(), one.clone(), always.clone());
            let known = InputObject { object, ty, count, exists, depth: 0, name };
            // What only this file can name, and whose address it never takes, nothing points to.
            match (global.exported || taken[index], unknown) {
                (true, _) => Arc::make_mut(&mut state.input_objects).push(known),
                (false, true) => Arc::make_mut(&mut state.private_inputs).push(known),
                (false, false) => {}
            }
        }
    }

    /// Unknown arguments for a function: inputs by their types.
    pub fn unknown_arguments(
        &mut self,
        state: &mut State<C>,
        function: FunctionId,
    ) -> Result<Vec<Value<C>>, C> {
        let module = self.module;
        let definition = module.function(function);
        let pieces = parameter_pieces(module, definition);
        let mut values = Vec::new();
        while values.len() < definition.parameters.len() {
            let index = values.len();
            let parameter = &definition.parameters[index];
            let described =
                pieces.as_ref().and_then(|all| all.iter().position(|range| range.contains(&index)));
            let ty = match parameter.variable {
                Some(variable) => module.variables[variable.0 as usize].ty,
                None => described.and_then(|number| definition.signature[number + 1]),
            };
            let name = match parameter.name.split(".coerce").next() {
                None | Some("") => format!("argument{}", index + 1),
                Some(name) => name.to_string(),
            };
            let count = described.map_or(1, |number| pieces.as_ref().map_or(1, |all| all[number].len()));
            let layout = module.ty(parameter.ty);
            values.push(match &layout.kind {
                _ if parameter.by_value.is_some() => {
                    let size = parameter.by_value.map_or(0, |ty| module.ty(ty).size);
                    Value::Pointer(self.private_input(state, name, ty, size))
                }
                TypeKind::Pointer if parameter.struct_return => {
                    let result = definition.signature.first().copied().flatten();
                    Value::Pointer(self.private_input(state, "the result".into(), result, 1))
                }
                _ if count > 1 || is_record(module, ty) => {
                    // In memory as debug information has it, then taken apart as the calling convention does.
                    let whole = described.and_then(|number| definition.signature[number + 1]);
                    let pointer = self.private_input(state, name, whole, 8 * count as u64);
                    let pointer = Value::Pointer(pointer);
                    for piece in 0..count {
                        let from = self.shifted(state, &pointer, 8 * piece as u64)?;
                        let part = definition.parameters[index + piece].ty;
                        values.push(self.load(state, &from, part)?);
                    }
                    continue;
                }
                TypeKind::Pointer => {
                    let pointee = match strip(module, ty).map(|t| &module.debug_types[t.0 as usize]) {
                        Some(DebugType::Pointer(pointee)) => *pointee,
                        _ => None,
                    };
                    let origin = Origin::Parameter(index as u32);
                    let token = self.new_token(state, (name, origin), pointee, 0, parameter.nonnull);
                    Value::Pointer(self.token_pointer(token))
                }
                TypeKind::Int(_) | TypeKind::Float(_) => {
                    let width = layout.bits().unwrap_or(64);
                    Value::Bits(self.host.input(state, width, &name))
                }
                _ => return Err(Stop::Unsupported(format!("an unknown argument of the type of {name}"))),
            });
        }
        Ok(values)
    }

    /// Input memory that is the callee's own: nothing else points to it.
    fn private_input(
        &mut self,
        state: &mut State<C>,
        name: String,
        ty: Option<DebugTypeId>,
        least: u64,
    ) -> Pointer<C> {
        let ty = strip(self.module, ty);
        let size = size_of(self.module, ty).max(least);
        let fill = Fill::Input(ty.map_or(u32::MAX, |t| t.0));
        let bytes = word(&self.host, size);
        let (object, pointer) = self.allocate(state, Kind::Input, bytes, size, 16, fill, None);
        let (count, exists) = (word(&self.host, 1), self.host.core().boolean(true));
        let known = InputObject { object, ty, count, exists, depth: 0, name };
        Arc::make_mut(&mut state.private_inputs).push(known);
        pointer
    }

    /// What "every path" means for memory that nobody described.
    fn list_assumptions(&mut self) {
        let bounds = self.host.input_bounds();
        let pointing = match bounds.aliasing {
            Aliasing::Strict => "to the start of an object of their type",
            Aliasing::Elem => "to any element of an array of their type",
            Aliasing::Sub => "to any part of an object that has their type",
            Aliasing::Raw => "to any place of any object",
            Aliasing::Auto if self.field_use.container_of => {
                "to any part of an object that has their type (the program finds structures from their fields)"
            }
            Aliasing::Auto if self.field_use.taken => {
                "to the start of an object of their type; to scalars also within structures (the program takes \
                 addresses of fields)"
            }
            Aliasing::Auto => "to the start of an object of their type",
        };
        let said = [
            format!("input: pointers are null or point {pointing}, and the object is live"),
            format!("input: arrays have 1 to {} elements", bounds.array),
            format!("input: objects are at most {} pointers away from arguments and globals", bounds.chain),
            "input: memory has the types that debug information gives; unions and memory of unknown type hold any \
             bits, or a pointer where they are first read as one"
                .into(),
            "input: nothing points to memory that the program makes".into(),
            "input: objects are aligned, do not touch, and are not placed again where one was freed".into(),
            "input: objects can be freed at their start, global variables cannot".into(),
            "input: function pointers are null or functions of their type whose address the program takes"
                .into(),
            "input: a _Bool is 0 or 1".into(),
            "input: integers are never the address of something the program made".into(),
        ];
        for words in said {
            self.host.assume(Premise::new(words));
        }
    }

    /// Makes an unwritten cell of an input object an unknown pointer.
    fn define_pointer(
        &mut self,
        state: &mut State<C>,
        (id, at): (ObjectId, u64),
        pointee: Option<DebugTypeId>,
        nonnull: bool,
    ) {
        let (depth, owner) = described_as(state, id);
        let named = (format!("{owner}+{at}"), Origin::Cell(id, at));
        let token = self.new_token(state, named, pointee, depth + 1, nonnull);
        let pointer = Value::Pointer(self.token_pointer(token));
        state.memory.object_mut(id).content.write(&self.host, at, 8, pointer);
        state.input_cells.push(InputCell::Pointer(id, at, token));
    }

    /// Makes an unwritten cell of an input object an unknown number.
    fn define_number(&mut self, state: &mut State<C>, (id, at): (ObjectId, u64), len: u64, value: C::Val) {
        state.memory.object_mut(id).content.write(&self.host, at, len, Value::Bits(value.clone()));
        state.input_cells.push(InputCell::Bits(id, at, len, value));
    }

    /// A pointer, or a number of so many bytes, is about to be read at a distance from every hit. Where a union lies that nothing has looked
    /// at yet and that can hold such a one, it does: whoever reads it knows from elsewhere what it is. So does memory of unknown type hold
    /// a pointer. With raw aliasing they hold any bits.
    pub(super) fn expect_scalar(
        &mut self,
        state: &mut State<C>,
        hits: &Hits<C>,
        distance: u64,
        number: Option<u64>,
    ) {
        if matches!(self.host.input_bounds().aliasing, Aliasing::Raw) {
            return;
        }
        for hit in hits {
            let content = &state.memory.object(hit.object).content;
            let Fill::Input(ty) = content.fill else { continue };
            let offset = self.host.value(64, &self.moved(&hit.offset, distance));
            let Some(at) = offset.and_then(|offset| offset.to_u64()) else { continue };
            let described = (ty != u32::MAX).then_some(DebugTypeId(ty));
            let element = size_of(self.module, described);
            let within = match flexible(self.module, described) {
                Some(_) => at,
                None => at.checked_rem(element).unwrap_or(at),
            };
            let untouched = content.log.is_none()
                && content.hidden.is_none()
                && (at..at + number.unwrap_or(8)).all(|byte| content.first_missing(byte, 1).is_some());
            match number {
                _ if !untouched => {}
                None => {
                    let pointee = match described {
                        Some(_) => union_pointer(self.module, described, within),
                        None => Some(None),
                    };
                    if let Some(pointee) = pointee {
                        self.define_pointer(state, (hit.object, at), pointee, false);
                    }
                }
                Some(len) => {
                    if let Some(name) = union_number(self.module, described, within, len) {
                        let (_, owner) = described_as(state, hit.object);
                        let value = self.host.selector((len * 8) as u16, &format!("{owner}.{name}"));
                        self.define_number(state, (hit.object, at), len, value);
                    }
                }
            }
        }
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
        let first = match flexible(module, described) {
            Some(_) => 0,
            None => byte.checked_div(element).map_or(byte, |number| number * element),
        };
        let missing = |state: &State<C>, at: u64, len: u64| {
            (at..at + len).all(|b| state.memory.object(id).content.first_missing(b, 1).is_some())
        };
        let (_, owner) = described_as(state, id);
        match leaf_at(module, described, byte - first) {
            Leaf::Pointer { start, pointee, nonnull, .. } if missing(state, first + start, 8) => {
                let at = first + start;
                // A global that is itself a pointer has its promise on the variable.
                let variable = module.globals.get(id.0 as usize).and_then(|global| global.variable);
                let nonnull =
                    nonnull || (at == 0 && variable.is_some_and(|v| module.variables[v.0 as usize].nonnull));
                self.define_pointer(state, (id, at), pointee, nonnull);
            }
            Leaf::Number { start, len, boolean, name, .. } if missing(state, first + start, len) => {
                let at = first + start;
                let width = (len * 8) as u16;
                let label =
                    if name.is_empty() { format!("{owner}[{at}]") } else { format!("{owner}.{name}") };
                let value = if boolean {
                    let bit = self.host.selector(1, &label);
                    self.host.core().zext(1, width, &bit)
                } else {
                    self.host.selector(width, &label)
                };
                self.define_number(state, (id, at), len, value);
            }
            _ => {
                let value = self.host.selector(8, &format!("{owner}[{byte}]"));
                self.define_number(state, (id, byte), 1, value);
            }
        }
        Ok(())
    }
}
