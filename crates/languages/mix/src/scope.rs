//! Which binder a name means, and where the frame of the current function keeps it.

use crate::syntax::{Capture, Use, VarId};
use rustc_hash::FxHashMap;

/// The names in scope, function by function.
pub(crate) struct Scopes {
    names: FxHashMap<String, Vec<Binding>>,
    /// Names in the order they were bound, so that scopes end by undoing.
    bound: Vec<String>,
    functions: Vec<Frame>,
}

#[derive(Clone, Copy)]
struct Binding {
    var: VarId,
    level: usize,
    slot: u32,
}

/// What a finished function needs at run time.
#[derive(Default)]
pub(crate) struct Frame {
    pub(crate) captures: Vec<Capture>,
    pub(crate) frame_size: u32,
    captured: FxHashMap<VarId, u32>,
}

/// A resolved name.
pub(crate) struct Found {
    pub(crate) at: Use,
    /// The binder belongs to a function further out.
    pub(crate) captured: bool,
}

impl Default for Scopes {
    fn default() -> Self {
        Scopes { names: FxHashMap::default(), bound: Vec::new(), functions: vec![Frame::default()] }
    }
}

impl Scopes {
    pub(crate) fn mark(&self) -> usize {
        self.bound.len()
    }

    /// Ends every scope opened since `mark`.
    pub(crate) fn reset(&mut self, mark: usize) {
        for name in self.bound.drain(mark..).rev() {
            if let Some(bindings) = self.names.get_mut(&name) {
                bindings.pop();
            }
        }
    }

    pub(crate) fn enter_function(&mut self) {
        self.functions.push(Frame::default());
    }

    pub(crate) fn leave_function(&mut self) -> Frame {
        self.functions.pop().unwrap_or_default()
    }

    /// Binds `name` in the current function and says in which slot.
    pub(crate) fn bind(&mut self, name: &str, var: VarId) -> u32 {
        let level = self.functions.len() - 1;
        let slot = self.functions[level].frame_size;
        self.functions[level].frame_size += 1;
        self.names.entry(name.to_string()).or_default().push(Binding { var, level, slot });
        self.bound.push(name.to_string());
        slot
    }

    /// The binder `name` means here.
    pub(crate) fn lookup(&self, name: &str) -> Option<VarId> {
        self.names.get(name)?.last().map(|binding| binding.var)
    }

    /// The same with its slot; functions in between capture it on the way.
    pub(crate) fn resolve(&mut self, name: &str) -> Option<Found> {
        let Binding { var, level, mut slot } = *self.names.get(name)?.last()?;
        for frame in &mut self.functions[level + 1..] {
            slot = match frame.captured.get(&var) {
                Some(&known) => known,
                None => {
                    let to = frame.frame_size;
                    frame.frame_size += 1;
                    frame.captured.insert(var, to);
                    frame.captures.push(Capture { var, from: slot, to });
                    to
                }
            };
        }
        Some(Found { at: Use { var, slot }, captured: level + 1 < self.functions.len() })
    }
}
