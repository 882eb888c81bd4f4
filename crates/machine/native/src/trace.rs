//! A translated trace: code for two places, its ways out, and what each of its instructions stands for.

/// What [`crate::translate`] makes of the code at an address.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The guest's address of its first instruction.
    pub pc: u64,
    /// Where computed jumps enter: the goal is in its cell, RCX too.
    pub entry: u64,
    /// Where linked traces enter: all registers are the guest's.
    pub body: u64,
    /// Code for the hot part.
    pub hot: Vec<u8>,
    /// Code for the cold part.
    pub cold: Vec<u8>,
    /// Its ways out, by number.
    pub exits: Vec<Exit>,
    /// What the hot code stands for, in order.
    pub hot_rows: Vec<Row>,
    /// What the cold code stands for, in order.
    pub cold_rows: Vec<Row>,
    /// The numbers of the pages that its bytes are from.
    pub pages: Vec<u64>,
    /// How many instructions it has.
    pub steps: usize,
}

/// A way out of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// On to an address that is known. Can be linked.
    Jump {
        /// The guest's address.
        to: u64,
        /// The host's address of the distance to patch.
        site: u64,
        /// Where the way out leads while it is not linked.
        stub: u64,
    },
    /// The instruction there is left to others.
    Left {
        /// Its address.
        at: u64,
    },
    /// A counter is used up.
    Spent {
        /// Where the guest is.
        at: u64,
        /// How many instructions were paid for that are not made yet.
        unmade: u8,
        /// Whether the flags are not the guest's; see [`crate::Leaving`].
        flags_are_void: bool,
    },
}

/// From this place on, until the next row, translated code stands for one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Distance from the start of the code of its part.
    pub start: u32,
    /// The instruction, as distance from the head of the trace.
    pub pc: i32,
    /// How many instructions of the trace were made before it.
    pub made: u8,
    /// How many have been paid for.
    pub paid: u8,
    /// Where registers are.
    pub place: Place,
}

/// Where the guest's registers are at a place of translated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the registers.
    Guest,
    /// RCX is in its cell.
    RcxSaved,
    /// The register of this number is in the scratch cell.
    ScratchSaved(u8),
    /// RCX is in its cell, and a counter was read and not yet written: who changes counters goes on so many bytes before.
    Counting(u8),
    /// A slot is read: RCX is in its cell, the goal of the jump too.
    Lookup,
    /// Nothing here can fault.
    Quiet,
}
