//! The state of a program: frames, memory, the path taken, and what was read and written.

use super::files::Files;
use super::inputs::{InputCell, InputObject, Token};
use super::memory::Memory;
use super::output::Output;
use super::value::{ObjectId, Value};
use parallax_cmodule::{BlockId, FunctionId, LocationId, Module, Register};
use parallax_path::Chain;
use parallax_sem::Core;
use std::rc::Rc;
use std::sync::Arc;

/// The conditions under which a path is taken, all of which hold.
pub type Path<C> = parallax_path::Path<<C as Core>::Bool>;

/// A function that is running.
#[derive(Clone)]
pub struct Frame<C: Core> {
    /// The function.
    pub function: FunctionId,
    /// The block.
    pub block: BlockId,
    /// The block before.
    pub previous: BlockId,
    /// The next instruction of the block.
    pub index: u32,
    /// Registers.
    pub registers: Vec<Option<Value<C>>>,
    /// Slots.
    pub slots: Vec<Option<Value<C>>>,
    /// Arguments beyond the named ones, with the size and alignment each takes.
    pub variadic: Vec<(Value<C>, parallax_cmodule::TypeId, Option<parallax_cmodule::TypeId>)>,
    /// Stack objects.
    pub objects: Vec<ObjectId>,
    /// Where the caller wants the result.
    pub result: Option<Register>,
    /// A number no other frame of this run has.
    pub serial: u64,
}

/// Where a `setjmp` returns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Depth of the frame.
    pub depth: usize,
    /// Its serial number.
    pub serial: u64,
    /// Block and index of the instruction after the call.
    pub at: (BlockId, BlockId, u32),
    /// Where the result goes.
    pub result: Option<Register>,
}

/// Something worth showing on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A branch on something not constant: which way.
    Branch(LocationId, bool),
    /// A switch: the number of the case, or none for the default.
    Switch(LocationId, Option<u32>),
    /// A choice made elsewhere: an indirect call, a value that had to be fixed.
    Choice(LocationId, u64),
}

/// Ways out of functions and of the program besides `return`. Few programs have any, so states share them.
#[derive(Clone)]
pub struct Exits<C: Core> {
    /// Known places to jump back to.
    pub jumps: Vec<Jump>,
    /// Functions to call at exit.
    pub at_exit: Vec<FunctionId>,
    /// The status to exit with, once the functions above have run.
    pub status: Option<Option<Value<C>>>,
}

/// A way into a block: the function, the block before, and the block. A call enters block 0 from block 0.
pub type Edge = (FunctionId, BlockId, BlockId);

/// Ways into blocks that a path took, each with the condition under which it did: states may have been merged since.
pub type Entered<C> = rustc_hash::FxHashMap<Edge, <C as Core>::Bool>;

/// Two states that were made one, as they were before: what is asked of the one may be too hard, and is then asked of each.
pub struct Merged<C: Core> {
    /// The two.
    pub states: [State<C>; 2],
    /// Where they met.
    pub place: (FunctionId, BlockId),
    /// Conjuncts of the one's path: what it took on since is behind them.
    pub conjuncts: usize,
    /// How many merges lie one behind the other in this, and of how many the states are kept.
    pub depth: [u32; 2],
}

/// The state of a program.
#[derive(Clone)]
pub struct State<C: Core> {
    /// Frames, outermost first; shared until written.
    pub frames: Vec<Rc<Frame<C>>>,
    /// Memory.
    pub memory: Memory<C>,
    /// Conditions of the path.
    pub path: Path<C>,
    /// Decisions on the path.
    pub events: Chain<Event>,
    /// What was written, with the file number.
    pub output: Chain<(i32, Output<C::Val>)>,
    /// Inputs that were asked for: name, width, value.
    pub inputs: Chain<(String, u16, C::Val)>,
    /// What code without a model returned.
    pub unknowns: Chain<C::Val>,
    /// Input pointer cells.
    pub tokens: Arc<Vec<Token<C>>>,
    /// Input objects that input pointers may point to.
    pub input_objects: Arc<Vec<InputObject<C>>>,
    /// Input objects that nothing else points to.
    pub private_inputs: Arc<Vec<InputObject<C>>>,
    /// Input cells that were read, in order.
    pub input_cells: Chain<InputCell<C>>,
    /// Input objects whose address the program has looked at.
    pub observed: Arc<Vec<ObjectId>>,
    /// Whether there is memory that nobody described: the program was entered at a function.
    pub unknown_memory: bool,
    /// Arguments of the function that was entered.
    pub entry_arguments: Arc<Vec<Value<C>>>,
    /// Files, standard input among them.
    pub files: Files<C::Val>,
    /// System calls that failed although they need not.
    pub failures: u32,
    /// Ways out besides `return`.
    pub exits: Rc<Exits<C>>,
    /// Instructions executed.
    pub steps: u64,
    /// Frames ever made.
    pub serials: u64,
    /// How often each symbolic branch of the deepest frame was taken: for loop limits.
    pub visits: Arc<rustc_hash::FxHashMap<(u64, BlockId), u32>>,
    /// Decisions by undecided branches.
    pub forks: u32,
    /// Values that the instruction at hand has already been run with, on states of their own.
    pub fixes: u32,
    /// Places, by the host's numbers, where the state is to meet others; the nearest last.
    pub joins: Chain<u32>,
    /// A number of its own.
    pub id: u64,
    /// Ways into blocks that the path took and that the host has not yet seen on a path that came to its end.
    pub entered: Arc<Entered<C>>,
    /// The states that this was before it was made one of two, where the host keeps them.
    pub merged: Option<Rc<Merged<C>>>,
}

impl<C: Core> Default for State<C> {
    fn default() -> Self {
        State {
            frames: Vec::new(),
            memory: Memory::default(),
            path: Path::<C>::default(),
            events: Chain::default(),
            output: Chain::default(),
            inputs: Chain::default(),
            unknowns: Chain::default(),
            tokens: Arc::new(Vec::new()),
            input_objects: Arc::new(Vec::new()),
            private_inputs: Arc::new(Vec::new()),
            input_cells: Chain::default(),
            observed: Arc::default(),
            unknown_memory: false,
            entry_arguments: Arc::new(Vec::new()),
            files: Files::default(),
            failures: 0,
            exits: Rc::new(Exits { jumps: Vec::new(), at_exit: Vec::new(), status: None }),
            steps: 0,
            serials: 0,
            visits: Arc::default(),
            forks: 0,
            fixes: 0,
            joins: Chain::default(),
            id: 0,
            entered: Arc::default(),
            merged: None,
        }
    }
}

impl<C: Core> State<C> {
    /// The running frame.
    pub fn frame(&self) -> &Frame<C> {
        self.frames.last().expect("a running program has a frame")
    }

    /// The running frame, to change it.
    pub fn frame_mut(&mut self) -> &mut Frame<C> {
        Rc::make_mut(self.frames.last_mut().expect("a running program has a frame"))
    }

    /// Place of the instruction a frame is at (the one that runs or was called from).
    pub fn location(&self, module: &Module, depth: usize) -> LocationId {
        let Some(frame) = self.frames.get(depth) else { return LocationId::default() };
        let block = &module.function(frame.function).blocks[frame.block.0 as usize];
        // The index is one past the instruction that runs; one further, it is the terminator.
        match (frame.index as usize).checked_sub(1).and_then(|index| block.instructions.get(index)) {
            Some(instruction) => instruction.location,
            None => block.location,
        }
    }

    /// The innermost place outside the library, as (depth, place).
    pub fn user_location(&self, module: &Module) -> (usize, LocationId) {
        for depth in (0..self.frames.len()).rev() {
            if !module.function(self.frames[depth].function).library {
                return (depth, self.location(module, depth));
            }
        }
        (0, LocationId::default())
    }
}
