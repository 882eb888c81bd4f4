//! Writing instructions by hand: what the override tables are made with.

use crate::{Flow, Instruction, Intrinsic, Op, Trap, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp, UnOp};

/// A place among the operations that branches can name before it is reached.
#[derive(Clone, Copy, Debug)]
pub struct Label(usize);

/// Collects the operations of one instruction and hands out temporaries.
#[derive(Default)]
pub struct Builder {
    ops: Vec<Op>,
    temporary_bytes: u16,
    labels: Vec<Option<u16>>,
}

impl Builder {
    /// An instruction without operations.
    pub fn new() -> Self {
        // Room for most instructions, so that the list seldom grows.
        Builder { ops: Vec::with_capacity(24), ..Self::default() }
    }

    /// The finished instruction.
    pub fn finish(mut self, address: u64, length: u8, text: String) -> Instruction {
        for op in &mut self.ops {
            if let Op::Branch { to, .. } = op {
                // Until now `to` is the number of a label.
                *to = self.labels[usize::from(*to)].expect("every label is placed");
            }
        }
        Instruction { address, length, ops: self.ops.into(), temporary_bytes: self.temporary_bytes, text }
    }

    /// Appends an operation.
    pub fn push(&mut self, op: Op) {
        self.ops.push(op);
    }

    /// A fresh temporary.
    pub fn temporary(&mut self, bytes: u16) -> Varnode {
        let place = Varnode::temporary(u64::from(self.temporary_bytes), bytes);
        // Aligned, so that an emulator can use machine words.
        self.temporary_bytes += bytes.next_multiple_of(16);
        place
    }

    /// `out = a`
    pub fn copy(&mut self, out: Varnode, a: Varnode) {
        debug_assert_eq!(out.bytes, a.bytes);
        self.push(Op::Copy { out, a });
    }

    /// A snapshot of `a` that later writes do not change.
    pub fn snapshot(&mut self, a: Varnode) -> Varnode {
        let out = self.temporary(a.bytes);
        self.copy(out, a);
        out
    }

    /// `op a`
    pub fn un(&mut self, op: UnOp, a: Varnode) -> Varnode {
        let out = self.temporary(a.bytes);
        self.push(Op::Un { op, out, a });
        out
    }

    /// `a op b`
    pub fn bin(&mut self, op: BinOp, a: Varnode, b: Varnode) -> Varnode {
        let out = self.temporary(a.bytes);
        self.push(Op::Bin { op, out, a, b });
        out
    }

    /// `a op constant`
    pub fn bin_constant(&mut self, op: BinOp, a: Varnode, b: u64) -> Varnode {
        self.bin(op, a, Varnode::constant(b, a.bytes))
    }

    /// `a op b`, a truth value
    pub fn rel(&mut self, op: RelOp, a: Varnode, b: Varnode) -> Varnode {
        let out = self.temporary(1);
        self.push(Op::Rel { op, out, a, b });
        out
    }

    /// `a op constant`, a truth value
    pub fn rel_constant(&mut self, op: RelOp, a: Varnode, b: u64) -> Varnode {
        self.rel(op, a, Varnode::constant(b, a.bytes))
    }

    /// `a op b` on truth values
    pub fn bool(&mut self, op: BoolOp, a: Varnode, b: Varnode) -> Varnode {
        let out = self.temporary(1);
        self.push(Op::Bool { op, out, a, b });
        out
    }

    /// `not a` on truth values
    pub fn not(&mut self, a: Varnode) -> Varnode {
        let out = self.temporary(1);
        self.push(Op::BoolNot { out, a });
        out
    }

    /// `a` with zeros above, or itself when it has the size already
    pub fn zext(&mut self, a: Varnode, bytes: u16) -> Varnode {
        if a.bytes == bytes {
            return a;
        }
        let out = self.temporary(bytes);
        self.push(Op::Zext { out, a });
        out
    }

    /// `a` with copies of its sign above, or itself when it has the size already
    pub fn sext(&mut self, a: Varnode, bytes: u16) -> Varnode {
        if a.bytes == bytes {
            return a;
        }
        let out = self.temporary(bytes);
        self.push(Op::Sext { out, a });
        out
    }

    /// `bytes` bytes of `a` from bit `low` on
    pub fn extract(&mut self, a: Varnode, low: u16, bytes: u16) -> Varnode {
        let out = self.temporary(bytes);
        self.push(Op::Extract { out, a, low });
        out
    }

    /// One bit of `a`, as a truth value
    pub fn bit(&mut self, a: Varnode, index: u16) -> Varnode {
        let byte = self.extract(a, index, 1);
        self.bin_constant(BinOp::And, byte, 1)
    }

    /// `high` above `low`
    pub fn concat(&mut self, high: Varnode, low: Varnode) -> Varnode {
        let out = self.temporary(high.bytes + low.bytes);
        self.push(Op::Concat { out, high, low });
        out
    }

    /// `when ? then : otherwise`
    pub fn select(&mut self, when: Varnode, then: Varnode, otherwise: Varnode) -> Varnode {
        let out = self.temporary(then.bytes);
        self.push(Op::Select { out, when, then, otherwise });
        out
    }

    /// `memory[address]`
    pub fn load(&mut self, address: Varnode, bytes: u16) -> Varnode {
        let out = self.temporary(bytes);
        self.push(Op::Load { out, address });
        out
    }

    /// `memory[address] = value`
    pub fn store(&mut self, address: Varnode, value: Varnode) {
        self.push(Op::Store { address, value });
    }

    /// The result, of `bytes` bytes, of an intrinsic.
    pub fn call(&mut self, call: Intrinsic, bytes: u16, args: &[Varnode]) -> Varnode {
        let out = self.temporary(bytes);
        self.push(Op::Intrinsic { call, out: Some(out), args: args.into() });
        out
    }

    /// Leave the instruction.
    pub fn jump(&mut self, when: Option<Varnode>, to: Varnode, flow: Flow) {
        self.push(Op::Jump { when, to, flow });
    }

    /// Stop.
    pub fn trap(&mut self, when: Option<Varnode>, trap: Trap) {
        self.push(Op::Trap { when, trap });
    }

    /// A label, to be placed later.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Puts a label here.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.ops.len() as u16);
    }

    /// Goes on at a label.
    pub fn branch(&mut self, when: Option<Varnode>, to: Label) {
        self.push(Op::Branch { when, to: to.0 as u16 });
    }
}
