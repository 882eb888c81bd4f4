//! Making cells unknown: what code that is not executed here may have left in memory.
//!
//! A number becomes a fresh unknown. A pointer becomes an input pointer like those of entry, decided when it is first
//! used: null, an input object, a new one, or, where the host says so ([`Inputs::may_be`](super::Inputs::may_be)), an
//! object that the program made before. Everything else, the path condition included, stays.

use super::host::Host;
use super::inputs::Origin;
use super::pointers::null;
use super::value::{ObjectId, Value};
use super::{Machine, Result, State, Stop};
use parallax_cmodule::{Compare, DebugTypeId};
use parallax_sem::Core;

/// A value that nothing is known of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anything {
    /// A number of so many bytes.
    Number(u64),
    /// A pointer.
    Pointer {
        /// What it points to, where that is known.
        pointee: Option<DebugTypeId>,
        /// Whether null is excluded.
        nonnull: bool,
    },
}

impl Anything {
    /// How many bytes it takes.
    pub fn size(self) -> u64 {
        match self {
            Anything::Number(bytes) => bytes,
            Anything::Pointer { .. } => 8,
        }
    }
}

/// A cell that is made unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HavocCell {
    /// The object.
    pub object: ObjectId,
    /// Where in it, in bytes.
    pub at: u64,
    /// What it may hold from now on.
    pub content: Anything,
    /// What it is called in messages.
    pub name: String,
}

impl<C: Core, H: Host<C>> Machine<'_, C, H> {
    /// Makes cells unknown. Whoever holds a copy of what they held keeps it. Fails if a cell is not within its object.
    pub fn havoc(&mut self, state: &mut State<C>, cells: &[HavocCell]) -> Result<(), C> {
        for cell in cells {
            let end = cell.at.checked_add(cell.content.size());
            if end.is_none_or(|end| end > state.memory.object(cell.object).capacity) {
                return Err(Stop::Unsupported(format!("{} is not within its object", cell.name)));
            }
        }
        let made = state.memory.len() as u32;
        for HavocCell { object, at, content, name } in cells {
            let origin = Origin::Havoc { cell: Some((*object, *at)), made };
            let value = self.anything(state, *content, (name.clone(), origin));
            let held = &mut state.memory.object_mut(*object).content;
            held.write(&self.host, *at, content.size(), value);
        }
        Ok(())
    }

    /// A value that nothing is known of and that is in no cell: what a call answers that was not executed.
    pub fn havoc_value(&mut self, state: &mut State<C>, content: Anything, name: &str) -> Value<C> {
        let origin = Origin::Havoc { cell: None, made: state.memory.len() as u32 };
        self.anything(state, content, (name.to_string(), origin))
    }

    fn anything(&mut self, state: &mut State<C>, content: Anything, named: (String, Origin)) -> Value<C> {
        match content {
            Anything::Number(bytes) => Value::Bits(self.host.selector((bytes * 8) as u16, &named.0)),
            Anything::Pointer { pointee, nonnull } => {
                let token = self.new_token(state, named, pointee, 0, nonnull);
                Value::Pointer(self.token_pointer(token))
            }
        }
    }

    /// When a pointer, or a number used as one, is null. An input pointer is decided by this question.
    pub fn is_null(&mut self, state: &mut State<C>, value: &Value<C>) -> Result<C::Bool, C> {
        let nothing = Value::Pointer(null(&self.host));
        self.compare(state, Compare::Eq, 64, value, &nothing)
    }
}
