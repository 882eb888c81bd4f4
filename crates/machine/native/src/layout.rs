//! Where the cache and what its code refers to lie in the host, and how bytes get there.

use std::ops::Range;

/// Where the host keeps a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Room for the code that usually runs.
    pub hot: Range<u64>,
    /// Room for ways out.
    pub cold: Range<u64>,
    /// The page of [`cell`]s. It and both parts of the code lie within 2 GiB.
    pub cells: u64,
    /// The table of computed jumps: the slot of an address is `table + 8 * (its low 32 bits)`. The base of GS while
    /// translated code runs.
    pub table: u64,
    /// The code of the host that goes on when translated code leaves.
    pub leave: u64,
}

impl Places {
    /// Whether code in one part reaches the other, and the cells.
    pub fn are_near(&self) -> bool {
        let low = self.hot.start.min(self.cold.start).min(self.cells);
        let high = self.hot.end.max(self.cold.end).max(self.cells + 4096);
        high - low < 1 << 31
    }

    /// The slot of an address.
    pub fn slot(&self, pc: u64) -> u64 {
        self.table + 8 * u64::from(pc as u32)
    }

    /// Whether a host address is in translated code.
    pub fn holds(&self, host: u64) -> bool {
        self.hot.contains(&host) || self.cold.contains(&host)
    }
}

/// Memory of the host that code and slots are written to.
pub trait Arena {
    /// Writes bytes at an address that [`Places`] names. No translated code runs meanwhile.
    fn write(&mut self, at: u64, bytes: &[u8]);
}

/// Distances of cells from the start of their page.
pub mod cell {
    /// The counters, eight bytes each.
    pub const COUNTERS: u32 = 0x00;
    /// The guest's RCX while its register is used.
    pub const RCX: u32 = 0x20;
    /// The guest's value of the scratch register of a distant operand.
    pub const SCRATCH: u32 = 0x28;
    /// The goal of a computed jump.
    pub const TARGET: u32 = 0x30;
    /// The number of the way out, four bytes.
    pub const EXIT: u32 = 0x38;
    /// The address of the translated code to enter.
    pub const ENTRY: u32 = 0x40;
    /// RAX, RCX and RDX of the guest while it is entered or left.
    pub const KEPT: u32 = 0x48;
}
