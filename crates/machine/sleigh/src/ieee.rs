//! Float operations under a processor's mode register, for the tables: the mode goes in, what was raised is collected.

use parallax_ir::{Builder, Dialect, IeeeOp, Intrinsic, Varnode};
use parallax_op::{BinOp, RelOp, Rounding};

/// The float unit during one instruction.
pub(crate) struct Unit {
    dialect: Dialect,
    /// The mode, one byte as the dialect has it.
    mode: Varnode,
    raised: Option<Varnode>,
}

impl Unit {
    pub fn new(dialect: Dialect, mode: Varnode) -> Self {
        Unit { dialect, mode, raised: None }
    }

    /// The value, of `bytes` bytes, of an operation under the mode.
    pub fn apply(&mut self, b: &mut Builder, op: IeeeOp, bytes: u16, operands: &[Varnode]) -> Varnode {
        self.rounded(b, op, None, bytes, operands)
    }

    /// The same with the rounding mode perhaps named.
    pub fn rounded(
        &mut self,
        b: &mut Builder,
        op: IeeeOp,
        rounding: Option<Rounding>,
        bytes: u16,
        operands: &[Varnode],
    ) -> Varnode {
        let operands = [operands, &[self.mode]].concat();
        let both = b.call(Intrinsic::Ieee { op, dialect: self.dialect, rounding }, bytes + 1, &operands);
        let more = b.extract(both, 8 * bytes, 1);
        self.raised = Some(match self.raised {
            None => more,
            Some(before) => b.bin(BinOp::Or, before, more),
        });
        b.extract(both, 0, bytes)
    }

    /// What the operations raised, one byte, if there were any.
    pub fn raised(&self) -> Option<Varnode> {
        self.raised
    }
}

/// `a` with its sign changed.
pub(crate) fn negated(b: &mut Builder, a: Varnode) -> Varnode {
    let out = b.temporary(a.bytes);
    b.push(parallax_ir::Op::FloatNeg { out, a });
    out
}

/// `a` without its sign.
pub(crate) fn absolute(b: &mut Builder, a: Varnode) -> Varnode {
    let out = b.temporary(a.bytes);
    b.push(parallax_ir::Op::FloatAbs { out, a });
    out
}

/// How a comparison of floats is made: the other way round, of magnitudes, and which bits of the order count.
#[derive(Clone, Copy)]
pub(crate) struct Comparison {
    pub swapped: bool,
    pub magnitudes: bool,
    pub strict: bool,
    pub bits: u64,
}

pub(crate) const EQUAL: Comparison = Comparison { swapped: false, magnitudes: false, strict: false, bits: 2 };
pub(crate) const GREATER_EQUAL: Comparison =
    Comparison { swapped: true, magnitudes: false, strict: true, bits: 3 };
pub(crate) const GREATER: Comparison = Comparison { bits: 1, ..GREATER_EQUAL };

/// All ones where the comparison holds, zero elsewhere.
pub(crate) fn compared(b: &mut Builder, unit: &mut Unit, how: Comparison, x: Varnode, y: Varnode) -> Varnode {
    let (x, y) = if how.magnitudes { (absolute(b, x), absolute(b, y)) } else { (x, y) };
    let (x, y) = if how.swapped { (y, x) } else { (x, y) };
    let order = unit.apply(b, IeeeOp::Compare { strict: how.strict }, 1, &[x, y]);
    let counted = b.bin_constant(BinOp::And, order, how.bits);
    let holds = b.rel_constant(RelOp::Ne, counted, 0);
    b.select(holds, Varnode::constant(u64::MAX, x.bytes), Varnode::constant(0, x.bytes))
}
