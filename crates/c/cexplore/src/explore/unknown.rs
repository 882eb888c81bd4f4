//! What a path knows of the memory it started with: the conditions under which an input is one of its inputs.

use parallax_cmachine::{InputCell, ObjectId, State, Target, Value};
use parallax_cmodule::Module;
use parallax_sem::Symbolic;
use parallax_term::{Formula, Store, Term};

/// An object of unknown memory.
#[derive(Clone, Debug)]
pub struct UnknownObject {
    /// Its number.
    pub object: ObjectId,
    /// The global variable it is.
    pub global: Option<u32>,
    /// When it exists.
    pub exists: Formula,
    /// Its size in bytes.
    pub size: Term,
    /// Its address, if the path looks at it.
    pub address: Option<Term>,
}

/// A cell of unknown memory that a path has read, or an argument.
#[derive(Clone, Copy, Debug)]
pub enum UnknownCell {
    /// A number.
    Bits(Term),
    /// A pointer, by the number of what it may be.
    Pointer(usize),
}

/// What a path knows of the memory it started with.
#[derive(Clone, Debug)]
pub struct UnknownMemory {
    /// Objects.
    pub objects: Vec<UnknownObject>,
    /// Cells: object, offset, content.
    pub cells: Vec<(ObjectId, u64, UnknownCell)>,
    /// What pointers may be: when, what, how far into it. Nothing where the path never needed to know.
    pub tokens: Vec<Vec<(Formula, Target, Term)>>,
    /// Arguments of the function.
    pub arguments: Vec<UnknownCell>,
}

impl UnknownMemory {
    /// What a state knows; nothing when the program started at `main`.
    pub(super) fn of(store: &Store, module: &Module, state: &State<Symbolic<'_>>) -> Option<UnknownMemory> {
        if !state.unknown_memory {
            return None;
        }
        let globals = module.globals.len() as u32;
        let objects = state.input_objects.iter().chain(state.private_inputs.iter()).map(|known| {
            let object = state.memory.object(known.object);
            UnknownObject {
                object: known.object,
                global: (known.object.0 < globals).then_some(known.object.0),
                exists: known.exists,
                size: object.size,
                address: object.address.filter(|_| state.observed.contains(&known.object)),
            }
        });
        let cells = state.input_cells.to_vec().into_iter().map(|cell| match cell {
            InputCell::Bits(id, at, _, term) => (*id, *at, UnknownCell::Bits(*term)),
            InputCell::Pointer(id, at, token) => (*id, *at, UnknownCell::Pointer(token.0 as usize)),
        });
        let tokens = state.tokens.iter().map(|token| {
            let entries = token.entries.iter().map(|entry| (entry.guard, entry.target, entry.offset));
            // Asked for null alone: whatever else it is was never needed.
            let null = token.null.filter(|_| token.entries.is_empty());
            entries.chain(null.map(|null| (null, Target::Null, store.number(64, 0)))).collect()
        });
        let arguments = state.entry_arguments.iter().filter_map(|argument| match argument {
            Value::Bits(term) => Some(UnknownCell::Bits(*term)),
            Value::Pointer(pointer) => match pointer.only()?.target {
                Target::Token(token) => Some(UnknownCell::Pointer(token.0 as usize)),
                _ => None,
            },
            _ => None,
        });
        Some(UnknownMemory {
            objects: objects.collect(),
            cells: cells.collect(),
            tokens: tokens.collect(),
            arguments: arguments.collect(),
        })
    }
}
