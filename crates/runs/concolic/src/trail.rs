//! The way a run took, small enough to be kept for every run: a checksum of its blocks, noted now and then.

use serde::{Deserialize, Serialize};

/// How many blocks lie between two marks: so exact is the place of a divergence.
const BETWEEN: u64 = 16;

/// The blocks of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trail {
    /// How many blocks were entered.
    pub blocks: u64,
    /// A checksum of their addresses, in order.
    pub hash: u64,
    /// The checksum after every so many blocks, with the number of instructions before.
    marks: Vec<(u64, u64)>,
}

impl Trail {
    /// Enters a block.
    pub fn enter(&mut self, pc: u64, time: u64) {
        self.hash = (self.hash.rotate_left(5) ^ pc).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.blocks += 1;
        if self.blocks.is_multiple_of(BETWEEN) {
            self.marks.push((self.hash, time));
        }
    }

    /// The number of instructions before two runs part, as far as the first `blocks` blocks of the other tell.
    pub fn parts(&self, other: &Trail, blocks: u64) -> u64 {
        let marks = (blocks / BETWEEN) as usize;
        let both = self.marks.iter().zip(&other.marks).take(marks);
        let alike = both.take_while(|(a, b)| a.0 == b.0).count();
        alike.checked_sub(1).map_or(0, |last| self.marks[last].1)
    }
}
