//! How traces are made.

/// How traces are made. All choices count the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The most instructions in a trace, at most [`Options::LONGEST`].
    pub longest: usize,
    /// Whether direct jumps forward and calls are followed, and short loops unrolled.
    pub follows: bool,
    /// How many of the counters are used: 1 to 4.
    pub counters: usize,
    /// A mistake made on purpose, for the tests that must notice it.
    pub mistake: Option<Mistake>,
}

impl Options {
    /// No trace is longer: counts within one fit into a byte with room to spare.
    pub const LONGEST: usize = 64;
}

impl Default for Options {
    fn default() -> Self {
        Options { longest: Options::LONGEST, follows: true, counters: 4, mistake: None }
    }
}

/// Mistakes that a translator of this kind can make. Each one kills a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A conditional way out pays for one instruction too few.
    SideExitCount,
    /// `jrcxz` and `loop` pay twice.
    CountedTwice,
    /// A way out pays with an instruction that changes the flags.
    FlagsAtEdge,
    /// A shift by CL is taken for one that writes all flags, though it writes none if CL is zero.
    ShiftWritesFlags,
    /// An instruction that can fault is taken for a place where the flags need not be kept.
    FaultWithVoidFlags,
    /// The counter is not looked at before computed jumps.
    NoCheckBeforeIndirect,
    /// The high half of a computed goal is not compared.
    HalfTarget,
    /// Links into a page stay when its code has changed.
    StaleLink,
    /// The slot of a trace stays when its code has changed.
    StaleSlot,
    /// A register is saved below the stack pointer.
    RedZone,
    /// The guest's RCX is said to be in its register when it is in its cell.
    SavedTooLate,
    /// The place between reading and writing a counter is not told, so that what a signal handler does there is lost.
    TornCounter,
    /// What was paid ahead is not given back where a check leaves.
    PaidAhead,
    /// The return address that a call pushes is that of the translated code.
    HostReturnAddress,
    /// An operand relative to the instruction pointer is copied as it is.
    OperandNotMoved,
    /// The scratch register of a distant operand is not put back.
    ScratchLost,
    /// An instruction is copied though a flag that it leaves undefined is read.
    UndefinedFlags,
}

impl Mistake {
    /// All of them.
    pub const ALL: [Mistake; 17] = [
        Mistake::SideExitCount,
        Mistake::CountedTwice,
        Mistake::FlagsAtEdge,
        Mistake::ShiftWritesFlags,
        Mistake::FaultWithVoidFlags,
        Mistake::NoCheckBeforeIndirect,
        Mistake::HalfTarget,
        Mistake::StaleLink,
        Mistake::StaleSlot,
        Mistake::RedZone,
        Mistake::SavedTooLate,
        Mistake::TornCounter,
        Mistake::PaidAhead,
        Mistake::HostReturnAddress,
        Mistake::OperandNotMoved,
        Mistake::ScratchLost,
        Mistake::UndefinedFlags,
    ];
}
