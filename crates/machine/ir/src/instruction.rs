//! One machine instruction, lifted.

use crate::{Flow, Op, Trap, Varnode};

/// One machine instruction as a list of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Where it stands.
    pub address: u64,
    /// How many bytes it has; execution goes on behind them unless an operation says otherwise.
    pub length: u8,
    /// What it does, in order.
    pub ops: Box<[Op]>,
    /// How many bytes of temporaries the operations use.
    pub temporary_bytes: u16,
    /// Its assembly text.
    pub text: String,
}

impl Instruction {
    /// The address behind it.
    pub fn next(&self) -> u64 {
        self.address.wrapping_add(u64::from(self.length))
    }

    /// Whether control may go anywhere but to the next instruction.
    pub fn ends_block(&self) -> bool {
        self.ops.iter().any(|op| {
            matches!(
                op,
                Op::Jump { .. } | Op::Trap { when: None, .. } | Op::Trap { trap: Trap::SystemCall, .. }
            )
        })
    }

    /// Where it leads besides the next instruction, as far as it tells itself: a call copies where it goes before it pushes where it
    /// returns to.
    pub fn destinations(&self) -> impl Iterator<Item = u64> + '_ {
        let copied = |place: Varnode| {
            self.ops.iter().find_map(|op| match op {
                Op::Copy { out, a } if *out == place => a.as_constant(),
                _ => None,
            })
        };
        self.transfers().filter_map(move |(_, to, _)| to.as_constant().or_else(|| copied(to)))
    }

    /// The transfers out of it: condition, target, kind.
    pub fn transfers(&self) -> impl Iterator<Item = (Option<Varnode>, Varnode, Flow)> + '_ {
        self.ops.iter().filter_map(|op| match *op {
            Op::Jump { when, to, flow } => Some((when, to, flow)),
            _ => None,
        })
    }
}
