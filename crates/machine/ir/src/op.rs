//! The operations.
//!
//! Truth values are one byte, 0 or 1; an operation that tests a truth value asks whether the byte is not zero. Widths
//! are those of the varnodes. Division by zero is as in SMT-LIB (a quotient of all ones): a processor that faults says
//! so with a [`Op::Trap`] before it divides.

use crate::{Intrinsic, Varnode};
use parallax_op::{BinOp, BoolOp, FloatBinOp, FloatRelOp, FloatUnOp, RelOp, Rounding, UnOp};

/// Why control leaves an instruction: the same to the semantics, a hint to those who draw graphs or keep a call stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// A plain transfer.
    Jump,
    /// A procedure call.
    Call,
    /// A return from one.
    Return,
}

/// What stops an instruction before it has an effect beyond the operations already done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trap {
    /// Division by zero, or a quotient that does not fit (`#DE`).
    Divide,
    /// A float operation raised an exception that is not masked (`#XM`, `#MF`).
    Float,
    /// Bytes that are no instruction, or one that always faults (`#UD`, `SIGILL`).
    Undefined,
    /// A breakpoint instruction (`SIGTRAP`).
    Breakpoint,
    /// A privileged operation, or an address it may not use (`#GP`).
    Protection,
    /// A memory operand that is not aligned as the instruction asks.
    Alignment,
    /// A request to the operating system: the instruction is complete, the program counter is already past it.
    SystemCall,
    /// The processor waits for an interrupt, for ever in a user program.
    Halt,
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Op {
    /// `out = a`
    Copy { out: Varnode, a: Varnode },
    /// `out = op a`
    Un { op: UnOp, out: Varnode, a: Varnode },
    /// `out = a op b`; a shift distance may have a width of its own and is never cut to fit.
    Bin { op: BinOp, out: Varnode, a: Varnode, b: Varnode },
    /// `out = a op b`, a truth value
    Rel { op: RelOp, out: Varnode, a: Varnode, b: Varnode },
    /// `out = a op b` on truth values
    Bool { op: BoolOp, out: Varnode, a: Varnode, b: Varnode },
    /// `out = not a` on truth values
    BoolNot { out: Varnode, a: Varnode },
    /// Whether `a + b` does not fit: unsigned carry out
    Carry { out: Varnode, a: Varnode, b: Varnode },
    /// Whether `a + b` does not fit as a signed number
    SignedCarry { out: Varnode, a: Varnode, b: Varnode },
    /// Whether `a - b` does not fit as a signed number
    SignedBorrow { out: Varnode, a: Varnode, b: Varnode },
    /// `a` with zeros above
    Zext { out: Varnode, a: Varnode },
    /// `a` with copies of its sign above
    Sext { out: Varnode, a: Varnode },
    /// The bits of `a` from bit `low` on, as many as `out` holds; zeros beyond the end of `a`
    Extract { out: Varnode, a: Varnode, low: u16 },
    /// `high` above `low`
    Concat { out: Varnode, high: Varnode, low: Varnode },
    /// `when ? then : otherwise`
    Select { out: Varnode, when: Varnode, then: Varnode, otherwise: Varnode },
    /// `a` with its sign changed
    FloatNeg { out: Varnode, a: Varnode },
    /// `a` without its sign
    FloatAbs { out: Varnode, a: Varnode },
    /// Float operator; the format follows from the size (2, 4, 8, 10 or 16 bytes).
    FloatUn { op: FloatUnOp, rounding: Rounding, out: Varnode, a: Varnode },
    /// Float operator, rounding to nearest even
    FloatBin { op: FloatBinOp, out: Varnode, a: Varnode, b: Varnode },
    /// Float relation
    FloatRel { op: FloatRelOp, out: Varnode, a: Varnode, b: Varnode },
    /// Whether a float is not a number
    FloatIsNan { out: Varnode, a: Varnode },
    /// Signed integer to float
    FloatFromInt { out: Varnode, a: Varnode },
    /// Float to signed integer
    FloatToInt { rounding: Rounding, out: Varnode, a: Varnode },
    /// Float of one format to another
    FloatToFloat { out: Varnode, a: Varnode },
    /// `out = memory[address]`, as many bytes as `out` holds, in the processor's byte order
    Load { out: Varnode, address: Varnode },
    /// `memory[address] = value`
    Store { address: Varnode, value: Varnode },
    /// Go on at operation `to` of this instruction (one past the last one ends it), always or under a condition.
    Branch { when: Option<Varnode>, to: u16 },
    /// Leave the instruction for the address in `to`, always or under a condition.
    Jump { when: Option<Varnode>, to: Varnode, flow: Flow },
    /// A function of its arguments that the operations above would spell too long.
    Intrinsic { call: Intrinsic, out: Option<Varnode>, args: Box<[Varnode]> },
    /// Stop, always or under a condition.
    Trap { when: Option<Varnode>, trap: Trap },
}

impl Op {
    /// Where it writes, when it writes to a register or a temporary.
    pub fn out(&self) -> Option<Varnode> {
        use Op::*;
        match *self {
            Copy { out, .. }
            | Un { out, .. }
            | Bin { out, .. }
            | Rel { out, .. }
            | Bool { out, .. }
            | BoolNot { out, .. }
            | Carry { out, .. }
            | SignedCarry { out, .. }
            | SignedBorrow { out, .. }
            | Zext { out, .. }
            | Sext { out, .. }
            | Extract { out, .. }
            | Concat { out, .. }
            | Select { out, .. }
            | FloatNeg { out, .. }
            | FloatAbs { out, .. }
            | FloatUn { out, .. }
            | FloatBin { out, .. }
            | FloatRel { out, .. }
            | FloatIsNan { out, .. }
            | FloatFromInt { out, .. }
            | FloatToInt { out, .. }
            | FloatToFloat { out, .. }
            | Load { out, .. } => Some(out),
            Intrinsic { out, .. } => out,
            Store { .. } | Branch { .. } | Jump { .. } | Trap { .. } => None,
        }
    }

    /// Makes it write elsewhere, to a place of the same size.
    pub fn set_out(&mut self, place: Varnode) {
        use Op::*;
        match self {
            Copy { out, .. }
            | Un { out, .. }
            | Bin { out, .. }
            | Rel { out, .. }
            | Bool { out, .. }
            | BoolNot { out, .. }
            | Carry { out, .. }
            | SignedCarry { out, .. }
            | SignedBorrow { out, .. }
            | Zext { out, .. }
            | Sext { out, .. }
            | Extract { out, .. }
            | Concat { out, .. }
            | Select { out, .. }
            | FloatNeg { out, .. }
            | FloatAbs { out, .. }
            | FloatUn { out, .. }
            | FloatBin { out, .. }
            | FloatRel { out, .. }
            | FloatIsNan { out, .. }
            | FloatFromInt { out, .. }
            | FloatToInt { out, .. }
            | FloatToFloat { out, .. }
            | Load { out, .. } => *out = place,
            Intrinsic { out, .. } => *out = out.map(|_| place),
            Store { .. } | Branch { .. } | Jump { .. } | Trap { .. } => {}
        }
    }

    /// Calls `visit` on everything it reads, constants included.
    pub fn inputs(&self, mut visit: impl FnMut(Varnode)) {
        use Op::*;
        match self {
            Copy { a, .. }
            | Un { a, .. }
            | BoolNot { a, .. }
            | Zext { a, .. }
            | Sext { a, .. }
            | Extract { a, .. }
            | FloatNeg { a, .. }
            | FloatAbs { a, .. }
            | FloatUn { a, .. }
            | FloatIsNan { a, .. }
            | FloatFromInt { a, .. }
            | FloatToInt { a, .. }
            | FloatToFloat { a, .. } => visit(*a),
            Bin { a, b, .. }
            | Rel { a, b, .. }
            | Bool { a, b, .. }
            | Carry { a, b, .. }
            | SignedCarry { a, b, .. }
            | SignedBorrow { a, b, .. }
            | FloatBin { a, b, .. }
            | FloatRel { a, b, .. } => {
                visit(*a);
                visit(*b);
            }
            Concat { high, low, .. } => {
                visit(*high);
                visit(*low);
            }
            Select { when, then, otherwise, .. } => {
                visit(*when);
                visit(*then);
                visit(*otherwise);
            }
            Load { address, .. } => visit(*address),
            Store { address, value } => {
                visit(*address);
                visit(*value);
            }
            Branch { when, .. } | Trap { when, .. } => {
                if let Some(when) = when {
                    visit(*when);
                }
            }
            Jump { when, to, .. } => {
                if let Some(when) = when {
                    visit(*when);
                }
                visit(*to);
            }
            Intrinsic { args, .. } => args.iter().copied().for_each(visit),
        }
    }
}
