//! x86: what the specification leaves out, gets wrong, loops over or makes slow.
use parallax_ir::{Instruction, Processor};
/// The table.
pub struct Overrides;
/// What the table says.
pub enum Answer {
    /** x */
    Lifted(Instruction),
    /** x */
    Invalid(&'static str),
    /** x */
    NotOurs,
}
impl Overrides {
    /// x
    pub fn new(_p: &Processor, _bits: u32) -> Self {
        Overrides
    }
    /// x
    pub fn lift(&self, _a: u64, _b: &[u8]) -> Answer {
        Answer::NotOurs
    }
}
