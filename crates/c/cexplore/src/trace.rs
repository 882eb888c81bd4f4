//! The way a concrete run takes through the user's own code: every line it executes, every branch with its outcome, and
//! the variables that changed since the function's last line.

use crate::place::user_stack;
use parallax_cmachine::{State, Target, Value};
use parallax_cmodule::{BlockId, FunctionId, LocationId, Module, Terminator};
use parallax_sem::Concrete;
use std::collections::{HashMap, VecDeque};

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The function.
    pub function: String,
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
    /// For a branch, whether its condition held.
    pub taken: Option<bool>,
    /// Variables of the function that changed since its last step, with their values now.
    pub values: Vec<(String, String)>,
    /// The calls that lead there, the outermost first: function, file and line of each.
    pub callers: Vec<(String, String, u32)>,
}

/// Collects the last steps of a run.
pub struct Tracer<'m> {
    module: &'m Module,
    most: usize,
    steps: VecDeque<Step>,
    /// Frame and line of the last step.
    last: (u64, u32),
    /// A branch whose outcome the next state shows: the block it goes to when its condition holds.
    open: Option<BlockId>,
    /// What each frame's variables were at its last step.
    shown: HashMap<u64, HashMap<String, String>>,
}

impl<'m> Tracer<'m> {
    /// Keeps at most so many steps.
    pub fn new(module: &'m Module, most: usize) -> Self {
        let (steps, shown) = (VecDeque::new(), HashMap::new());
        Tracer { module, most, steps, last: (0, 0), open: None, shown }
    }

    /// Sees a state before its next instruction.
    pub fn see(&mut self, state: &State<Concrete>) {
        let frame = state.frame();
        if let (Some(then), Some(step)) = (self.open.take(), self.steps.back_mut()) {
            step.taken = Some(frame.block == then);
        }
        let function = self.module.function(frame.function);
        if function.library {
            return;
        }
        let block = &function.blocks[frame.block.0 as usize];
        let (location, branch) = match (block.instructions.get(frame.index as usize), &block.terminator) {
            (Some(instruction), _) => (instruction.location, None),
            (None, Terminator::Branch { then, .. }) => (block.location, Some(*then)),
            (None, _) => (block.location, None),
        };
        let line = self.module.location(location).line;
        if line == 0 || (branch.is_none() && self.last == (frame.serial, line)) {
            return;
        }
        self.last = (frame.serial, line);
        self.open = branch;
        let values = self.changed(state);
        let around = (0..state.frames.len() - 1).rev();
        let around = around.map(|depth| (state.frames[depth].function, state.location(self.module, depth)));
        let stack: Vec<_> = std::iter::once((frame.function, location)).chain(around).collect();
        if self.steps.len() == self.most {
            self.steps.pop_front();
        }
        self.steps.push_back(step(self.module, &stack, values));
    }

    /// The steps, the oldest first.
    pub fn finish(self) -> Vec<Step> {
        self.steps.into()
    }

    fn changed(&mut self, state: &State<Concrete>) -> Vec<(String, String)> {
        let frame = state.frame();
        let function = self.module.function(frame.function);
        let before = self.shown.entry(frame.serial).or_default();
        let mut changed = Vec::new();
        for (slot, value) in function.slots.iter().zip(&frame.slots) {
            let (Some(variable), Some(value)) = (slot.variable, value) else { continue };
            let text = match value {
                Value::Bits(bits) => bits.to_i128().map_or_else(|| bits.to_string(), |n| n.to_string()),
                Value::Pointer(pointer) => match pointer.only().map(|e| e.target) {
                    Some(Target::Null) => "NULL".to_string(),
                    _ => "a pointer".to_string(),
                },
                Value::Many(_) | Value::Part(..) => continue,
            };
            let name = &self.module.variables[variable.0 as usize].name;
            if before.get(name) != Some(&text) {
                before.insert(name.clone(), text.clone());
                changed.push((name.clone(), text));
            }
        }
        changed
    }
}

/// A step at a place, from the calls that lead there, the innermost first. Inlined calls are calls.
pub fn step(module: &Module, stack: &[(FunctionId, LocationId)], values: Vec<(String, String)>) -> Step {
    let place = |(function, at): (&str, LocationId)| {
        (function.to_string(), module.file_of(at).to_string(), module.location(at).line)
    };
    let mut places = user_stack(module, stack).map(place);
    let (function, file, line) = places.next().unwrap_or_default();
    let mut callers: Vec<_> = places.collect();
    callers.reverse();
    Step { function, file, line, taken: None, values, callers }
}
