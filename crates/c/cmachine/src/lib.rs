//! The meaning of a module, written once over the semantic core.
//!
//! [`Machine::step`] executes one instruction of a [`State`]. Values are bits or pointers (guarded sets of object and
//! offset), memory is a set of objects with bounds and lifetime. What differs between a concrete run and a symbolic
//! exploration is the reading `C` and the [`Host`]: whether a condition is certain, what an unknown byte is, what
//! happens when the program makes a mistake. Where a condition is not certain the machine leaves the other
//! possibilities in [`Machine::forks`] and goes on with one.

mod access;
mod addresses;

mod arithmetic;
mod block_moves;
mod call;
mod calling_convention;
mod constants;
mod content;
mod contracts;
mod differences;
mod files;
mod float_text;
mod harness;
mod havoc;
mod host;
mod init;
mod input_types;
mod inputs;
mod intrinsics;
mod library;
mod log;
mod memory;
mod merge;
mod mistake;
mod output;
mod place;
mod pointers;
mod state;
mod step;
mod system;
mod value;

pub use call::PendingCall;
pub use content::{Content, Fill, Raw};
pub use differences::Differences;
pub use files::{Destination, FileKind, FileName, FileStatus, Files, Request, error_number, open_flag};
pub use havoc::{Anything, HavocCell};
pub use host::{Checks, Host, Inputs, Oracle, Problem, Relation, Reporter, Steps, System};
pub use input_types::{number_at, parameter_pieces, pointer_at, size_of, strip};
pub use inputs::{
    Aliasing, Candidate, GlobalStart, InputBounds, InputCell, InputObject, Origin, Spots, Token,
};
pub use log::{Log, Write, Written, memory_name};
pub use memory::{Kind, Memory, Object};
pub use mistake::Mistake;
pub use output::{Form, Output};
pub use place::Place;
pub use pointers::word;
pub use state::{Edge, Entered, Event, Frame, Merged, Path, State};
pub use value::{Entry, ObjectId, Pointer, Target, TokenId, Value};

use parallax_cmodule::{FunctionId, Module};
use parallax_path::{Bound, Split};
use parallax_sem::Core;

/// Why a state does not go on.
pub enum Stop<C: Core> {
    /// The program ended with this status; `None` when a function that was entered by itself returned nothing.
    Exit(Option<Value<C>>),
    /// The path ends here: a mistake that was reported, or a condition that cannot be.
    Dead,
    /// What lies further on was assumed away.
    Excluded,
    /// What lies further on is not looked at.
    Bound(Bound),
    /// Something the machine cannot do, in words.
    Unsupported(String),
}

/// What an instruction gives.
pub type Result<T, C> = std::result::Result<T, Stop<C>>;

/// Executes programs.
pub struct Machine<'m, C: Core, H: Host<C>> {
    /// The program.
    pub module: &'m Module,
    /// The analysis.
    pub host: H,
    /// States split off by the last step.
    pub forks: Vec<State<C>>,
    /// States split off by the last step that do not go on, and why.
    pub stopped: Vec<(State<C>, Stop<C>)>,
    /// The call that the last step came to, where the host answers such calls itself: the state waits for
    /// [`Machine::answer`].
    pub pending: Option<PendingCall<C>>,
    /// Whether the last step was a branch that is not the same for all inputs.
    pub branched: bool,
    /// A wrong rule to use instead of the right one: only for tests that must notice.
    #[doc(hidden)]
    pub plant: Option<Mistake>,
    field_use: input_types::FieldUse,
    taken_functions: Option<Vec<bool>>,
    /// Structures that hold something of a type.
    containers: rustc_hash::FxHashMap<
        Option<parallax_cmodule::DebugTypeId>,
        std::sync::Arc<Vec<parallax_cmodule::DebugTypeId>>,
    >,
    register_types: rustc_hash::FxHashMap<FunctionId, std::sync::Arc<Vec<parallax_cmodule::TypeId>>>,
    constants: Vec<Option<Value<C>>>,
    global_bases: Vec<u64>,
    builtins: Vec<Option<library::Builtin>>,
    /// For each function, the one that says what its callers promise.
    contracts: Vec<Option<FunctionId>>,
    abort_is_quiet: bool,
}

/// Addresses of functions start here and are this far apart.
const CODE: u64 = 0x40_0000;
const CODE_STEP: u64 = 16;
/// Frames deeper than this are refused: the program's own stack would have ended too.
const DEEPEST: usize = 100_000;
/// A write at one of this many places changes each of them under its condition; one at more is logged.
const DIRECT: u64 = 32;
/// Input memory of at most this many bytes is given its contents one by one where all of it is read.
const WIDEST: u64 = 1024;
/// Values that one instruction looks at one by one; what more there are is given up, and said so.
const FIXES: u32 = 256;
/// Objects larger than this cannot be allocated.
const LARGEST: u64 = 1 << 34;
/// Bytes further into an object than this are kept one by one, and moves of more than this as one write of a log.
const DENSE: u64 = 1 << 24;
/// Bytes of one object that code without a model is followed in changing.
const FORGOTTEN: u64 = 1 << 16;

/// Address of a function.
pub fn code_address(function: FunctionId) -> u64 {
    CODE + u64::from(function.0) * CODE_STEP
}

impl<'m, C: Core, H: Host<C>> Machine<'m, C, H> {
    /// A machine for a program.
    pub fn new(module: &'m Module, host: H) -> Self {
        let builtins = module
            .functions
            .iter()
            .map(|f| match library::builtin(&f.name) {
                // The one function whose body, where it has one, is not what it means.
                builtin @ Some(library::Builtin::Harness(harness::Harness::ReachError)) => builtin,
                builtin => builtin.filter(|_| !f.is_defined()),
            })
            .collect();
        // SV-COMP's programs say "this cannot be" with `abort`; elsewhere it says that something went wrong.
        let abort_is_quiet =
            module.functions.iter().any(|f| f.name == "reach_error" || f.name.starts_with("__VERIFIER_"));
        let mut next = memory::FIRST_BASE;
        let mut global_bases = Vec::with_capacity(module.globals.len());
        for global in &module.globals {
            let (base, after) = memory::place(next, module.ty(global.ty).size, u64::from(global.align));
            global_bases.push(base);
            next = after;
        }
        let constants = vec![None; module.constants.len()];
        Machine {
            module,
            host,
            forks: Vec::new(),
            stopped: Vec::new(),
            pending: None,
            branched: false,
            plant: None,
            field_use: input_types::FieldUse::default(),
            taken_functions: None,
            containers: rustc_hash::FxHashMap::default(),
            register_types: rustc_hash::FxHashMap::default(),
            constants,
            global_bases,
            builtins,
            contracts: contracts::written_apart(module),
            abort_is_quiet,
        }
    }

    fn planted(&self, mistake: Mistake) -> bool {
        self.plant == Some(mistake)
    }

    /// Functions that the program calls or refers to, and that nothing defines or models.
    pub fn unresolved(&self) -> Vec<&str> {
        self.module
            .functions
            .iter()
            .zip(&self.builtins)
            .filter(|(f, builtin)| !f.is_defined() && builtin.is_none())
            .map(|(f, _)| f.name.as_str())
            .collect()
    }

    /// Gives up where there is no time left.
    fn in_time(&self) -> Result<(), C> {
        self.host.late().map_or(Ok(()), |bound| Err(Stop::Bound(bound)))
    }

    /// Takes a mistake for granted where it must happen, and goes on without it where it need not.
    pub fn require(
        &mut self,
        state: &mut State<C>,
        ok: &C::Bool,
        kind: Problem,
        detail: impl FnOnce() -> String,
    ) -> Result<(), C> {
        if self.host.truth(ok) == Some(true) {
            return Ok(());
        }
        self.in_time()?;
        match self.host.split(&state.path, ok) {
            Split::True => Ok(()),
            Split::Both => {
                let bad = self.host.core().not(ok);
                self.host.problem(state, kind, &bad, detail());
                self.host.take(&mut state.path, ok.clone());
                Ok(())
            }
            Split::False => {
                let always = self.host.core().boolean(true);
                self.host.problem(state, kind, &always, detail());
                Err(Stop::Dead)
            }
            Split::Neither => Err(Stop::Dead),
        }
    }

    /// Reports where a condition does not hold, and goes on: what happens then is defined.
    pub fn notice(&mut self, state: &State<C>, ok: &C::Bool, kind: Problem, words: &str) {
        if self.host.truth(ok) == Some(true) {
            return;
        }
        if matches!(self.host.split(&state.path, ok), Split::Both | Split::False) {
            let bad = self.host.core().not(ok);
            self.host.problem(state, kind, &bad, words.into());
        }
    }

    /// Goes on only where a condition holds.
    pub fn assume(&mut self, state: &mut State<C>, condition: &C::Bool) -> Result<(), C> {
        match self.host.truth(condition) {
            Some(true) => return Ok(()),
            Some(false) => return Err(Stop::Excluded),
            None => {}
        }
        match self.host.split(&state.path, condition) {
            Split::True => Ok(()),
            Split::Both => {
                self.host.asks(condition);
                self.host.take(&mut state.path, condition.clone());
                Ok(())
            }
            Split::False => Err(Stop::Excluded),
            Split::Neither => Err(Stop::Dead),
        }
    }

    /// A value made constant: other values it can have become states of their own, which run this instruction again.
    pub fn fix(&mut self, state: &mut State<C>, width: u16, value: &C::Val) -> Result<parallax_op::Bits, C> {
        let fixed = self.fix_within(state, width, value, FIXES)?;
        fixed.ok_or_else(|| Stop::Bound(Bound::Values(FIXES.into(), "looked at one by one".into())))
    }

    /// The same for `most` values; nothing for what is left then.
    pub(crate) fn fix_within(
        &mut self,
        state: &mut State<C>,
        width: u16,
        value: &C::Val,
        most: u32,
    ) -> Result<Option<parallax_op::Bits>, C> {
        if let Some(constant) = self.host.value(width, value) {
            return Ok(Some(constant));
        }
        let Some(example) = self.host.example(&state.path, width, value) else { return Err(Stop::Dead) };
        if state.fixes >= most {
            return Ok(None);
        }
        let core = self.host.core();
        let same = core.relop(parallax_op::RelOp::Eq, width, value, &core.constant(&example));
        let location = state.location(self.module, state.frames.len().saturating_sub(1));
        match self.host.split(&state.path, &same) {
            Split::Both => {
                let mut other = state.clone();
                let differs = self.host.core().not(&same);
                self.host.take(&mut other.path, differs);
                other.frame_mut().index -= 1;
                other.fixes += 1;
                self.forks.push(other);
                state.forks += 1;
                self.host.take(&mut state.path, same);
                state.events.push(Event::Choice(location, example.to_u64().unwrap_or(u64::MAX)));
                Ok(Some(example))
            }
            Split::True => Ok(Some(example)),
            Split::False | Split::Neither => Err(Stop::Dead),
        }
    }
}
