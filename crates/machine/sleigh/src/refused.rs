//! Operations that stop an instruction by name where it has no meaning here: a refusal instead of a wrong result.

use parallax_ir::{Intrinsic, Op, Processor};

/// What is refused; [`crate::Lifter`] puts the names behind those of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A mode that a float operation would have to work under.
    Mode,
    /// An instruction of an extension, or one whose results every processor makes up for itself.
    Instruction,
    /// A float instruction that its specification keeps the status of where ours is not.
    Status,
}

/// The names, by number.
pub(crate) const NAMES: [&str; 3] = [
    "rounding other than to nearest, or flushing to zero",
    "an instruction that is not modelled",
    "a float operation whose status is not modelled",
];

impl Refused {
    /// The operation that stops.
    pub fn op(self, processor: &Processor) -> Op {
        let name = NAMES[self as usize];
        let number = processor.user_ops.iter().position(|known| known == name).unwrap_or_default();
        Op::Intrinsic { call: Intrinsic::Other(number as u16), out: None, args: Box::default() }
    }
}
