//! Float operations under a processor's mode register, for the tables: the mode goes in, what was raised is collected.

use parallax_ir::{Builder, Dialect, IeeeOp, Intrinsic, Varnode};
use parallax_op::{BinOp, Rounding};

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
