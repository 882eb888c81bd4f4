//! The way back from an operation of a block to one of the instruction language, for sizes that have no fast form.

use super::node::{Kind, Node};
use parallax_ir::{Op, Varnode};

/// The operation, its operands named by their positions; none if it has no such form.
pub fn rebuild(node: &Node) -> Option<Op> {
    // Far enough apart that no two operands overlap.
    let name = |position: u64, bytes: u16| Varnode::temporary(1000 * position, bytes);
    let out = name(9, node.out?.size);
    let input = |index: usize| Some(name(index as u64, node.inputs.get(index)?.size()));
    Some(match &node.kind {
        Kind::Copy => Op::Copy { out, a: input(0)? },
        Kind::Un(op) => Op::Un { op: *op, out, a: input(0)? },
        Kind::Bin(op) => Op::Bin { op: *op, out, a: input(0)?, b: input(1)? },
        Kind::Rel(op) => Op::Rel { op: *op, out, a: input(0)?, b: input(1)? },
        Kind::Bool(op) => Op::Bool { op: *op, out, a: input(0)?, b: input(1)? },
        Kind::BoolNot => Op::BoolNot { out, a: input(0)? },
        Kind::Carry => Op::Carry { out, a: input(0)?, b: input(1)? },
        Kind::SignedCarry => Op::SignedCarry { out, a: input(0)?, b: input(1)? },
        Kind::SignedBorrow => Op::SignedBorrow { out, a: input(0)?, b: input(1)? },
        Kind::Zext => Op::Zext { out, a: input(0)? },
        Kind::Sext => Op::Sext { out, a: input(0)? },
        Kind::Extract(low) => Op::Extract { out, a: input(0)?, low: *low },
        Kind::Concat => Op::Concat { out, high: input(0)?, low: input(1)? },
        Kind::Select => Op::Select { out, when: input(0)?, then: input(1)?, otherwise: input(2)? },
        _ => return None,
    })
}
