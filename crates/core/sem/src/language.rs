//! What a subject language offers to the analyses: a program whose steps are written over the semantic core.

use crate::Core;
use crate::logic::Struct;
use parallax_op::{Bits, Width};
use parallax_term::Store;
use std::hash::Hash;

/// Where a load may be from, of which the reading cannot tell the address.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin<B> {
    /// From anywhere in memory.
    Anywhere,
    /// From one of these addresses, each under its condition.
    Among {
        /// The addresses. Without `elsewhere`, one of the conditions holds.
        places: Vec<(B, Bits)>,
        /// Whether it may be from elsewhere, where none of the conditions holds.
        elsewhere: bool,
    },
    /// Perhaps from memory that never changes, and from which part of it could not be found out; why.
    Unknown(String),
}

/// Tells where a load may be from, given the condition under which it is made and its address.
pub type Places<'p, C> = dyn FnMut(&<C as Core>::Bool, &<C as Core>::Val) -> Origin<<C as Core>::Bool> + 'p;

/// Where control may go from an instruction, as far as the instruction tells by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Successors {
    /// Where it may go on in the same procedure; of a call, where that comes back to.
    pub within: Vec<u64>,
    /// Whether it enters a procedure.
    pub calls: bool,
    /// Whether it leaves one.
    pub returns: bool,
}

/// A program of some subject language, as a machine that takes steps.
///
/// Control goes through a program counter that is a value of the reading like any other (section 6): after a branch it
/// is a conditional, and an analysis asks [`Core::targets`] where to go on. What a language offers beyond steps stands in
/// traits of its own: [`Procedures`] that can be summarised, [`ConstantTables`] that jumps go through.
pub trait Language {
    /// A machine state of a reading.
    type State<C: Core>: Clone;

    /// The part of a state that is the same in every reading, besides the program counter: call stacks, counters.
    /// States that differ in it are never joined.
    type Control: Clone + Eq + Hash;

    /// Declares the vocabulary: a constant or function symbol for each part of the state.
    fn declare(&self, store: &Store);

    /// The state that a logical structure describes.
    fn state<C: Core>(&self, core: &C, store: &Store, s: &Struct<C>) -> Self::State<C>;

    /// The logical structure that a state is.
    fn structure<C: Core>(&self, core: &C, store: &Store, state: &Self::State<C>) -> Struct<C>;

    /// Where an object lives when addresses are numbers: the placement of an address symbol.
    fn placement(&self, symbol: &str) -> Option<Bits>;

    /// How wide program counters are.
    fn pc_width(&self) -> Width;

    /// Where execution starts.
    fn entry(&self) -> Bits;

    /// The program counter of a state.
    fn pc<C: Core>(&self, state: &Self::State<C>) -> C::Val;

    /// The state with a known program counter.
    fn at<C: Core>(&self, core: &C, state: Self::State<C>, pc: &Bits) -> Self::State<C>;

    /// Whether the program has an instruction here.
    fn has_instruction(&self, pc: &Bits) -> bool;

    /// The condition under which a program counter belongs to the program. Where it does not hold, execution has ended;
    /// where it holds and there is no instruction, control has gone astray.
    fn belongs<C: Core>(&self, core: &C, pc: &C::Val) -> C::Bool;

    /// The values of the program counter that are a return to the caller of a program which starts in this state, and
    /// so its end. A program without a caller ends where [`Language::belongs`] says, and nowhere else.
    fn return_addresses<C: Core>(&self, core: &C, start: &Self::State<C>) -> Vec<C::Val> {
        let _ = (core, start);
        Vec::new()
    }

    /// The Boolean symbol that says, after a program, whether an instruction has faulted on the way; none where no
    /// instruction can.
    fn fault_symbol(&self) -> Option<&'static str> {
        None
    }

    /// The condition under which an instruction has faulted on the way to a state. The rest of the state is the one that
    /// execution has where nothing has faulted.
    fn faulted<C: Core>(&self, core: &C, state: &Self::State<C>) -> C::Bool {
        let _ = state;
        core.boolean(false)
    }

    /// The state in which this program is called next by a caller that has called another one in the state `before` and
    /// got `after` back; none where programs lie one behind the other and nothing calls them.
    fn called_next<C: Core>(
        &self,
        core: &C,
        before: &Self::State<C>,
        after: Self::State<C>,
    ) -> Option<Self::State<C>> {
        let _ = (core, before, after);
        None
    }

    /// The symbol that addresses on the program's stack are computed from, where there is one.
    fn stack_pointer(&self) -> Option<&str> {
        None
    }

    /// Where the instruction stands in the source: its line.
    fn line(&self, pc: &Bits) -> Option<usize>;

    /// An instruction, in words for messages.
    fn place(&self, pc: &Bits) -> String {
        self.line(pc).map_or_else(|| pc.to_string(), |line| format!("line {line}"))
    }

    /// One instruction.
    fn step<C: Core>(&self, core: &C, state: Self::State<C>, pc: &Bits) -> Result<Self::State<C>, Stuck>;

    /// Where control may go from a place; it decides in which order places are evaluated and nothing else. Languages
    /// whose places lie in that order already have no need of it.
    fn successors(&self, at: u64) -> Option<Successors> {
        let _ = at;
        None
    }

    /// The reading-independent part of a state.
    fn control<C: Core>(&self, state: &Self::State<C>) -> Self::Control;

    /// A state as it is where a condition holds: a reading that learns from conditions knows more there.
    fn assume<C: Core>(&self, core: &C, b: &C::Bool, state: Self::State<C>) -> Self::State<C> {
        self.join(core, b, &state, &state)
    }

    /// The state that is `t` where `b` holds and `e` elsewhere; both have the same control and program counter.
    fn join<C: Core>(&self, core: &C, b: &C::Bool, t: &Self::State<C>, e: &Self::State<C>) -> Self::State<C>;
}

/// Procedures that can be evaluated once and summarised. A language without them implements nothing here.
pub trait Procedures: Language {
    /// The procedure that the instruction here calls, by number.
    fn callee(&self, pc: &Bits) -> Option<usize> {
        let _ = pc;
        None
    }

    /// A procedure's entry state, for a caller nobody knows: its activation record is at the *formal* address symbol.
    /// The first of the pair is that symbol's name.
    fn formal<C: Core>(
        &self,
        core: &C,
        store: &Store,
        s: &Struct<C>,
        procedure: usize,
    ) -> Option<(String, Self::State<C>)> {
        let _ = (core, store, s, procedure);
        None
    }

    /// The address of the newest activation record.
    fn record<C: Core>(&self, state: &Self::State<C>) -> Option<C::Val> {
        let _ = state;
        None
    }

    /// The state just after the newest call returned with effects `after`, having made the objects that the control of
    /// the summary's end, `made`, counts.
    fn resume<C: Core>(
        &self,
        core: &C,
        store: &Store,
        called: &Self::State<C>,
        after: &Struct<C>,
        made: &Self::Control,
    ) -> Option<Self::State<C>> {
        let _ = (core, store, called, after, made);
        None
    }

    /// What an object made inside a summary is called in the state that the summary is applied to.
    fn renamed<C: Core>(&self, core: &C, object: &str, called: &Self::State<C>) -> Option<C::Val> {
        let _ = (core, object, called);
        None
    }
}

/// Tables that never change, which jumps and calls go through. A language without them implements nothing here.
pub trait ConstantTables: Language {
    /// One instruction, with an oracle to ask where loads are from that the reading cannot tell.
    fn step_with<C: Core>(
        &self,
        core: &C,
        state: Self::State<C>,
        pc: &Bits,
        places: &mut Places<'_, C>,
    ) -> Result<Self::State<C>, Stuck> {
        let _ = places;
        self.step(core, state, pc)
    }

    /// The addresses around the given one, or a little behind it, at which nothing ever changes: where a table may be.
    fn table(&self, address: &Bits) -> Option<std::ops::Range<u64>> {
        let _ = address;
        None
    }
}

/// Why execution does not go on behind an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// What is wrong.
    pub message: String,
    /// Whether the instruction certainly faults, which is part of what the program does. Otherwise nothing is known of
    /// what it does.
    pub faults: bool,
}

impl Stuck {
    /// An instruction whose meaning is not known.
    pub fn unknown(message: impl Into<String>) -> Self {
        Stuck { message: message.into(), faults: false }
    }

    /// An instruction that certainly faults.
    pub fn fault(message: impl Into<String>) -> Self {
        Stuck { message: message.into(), faults: true }
    }
}

impl std::fmt::Display for Stuck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Stuck {}
