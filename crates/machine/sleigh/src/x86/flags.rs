//! The arithmetic flags, exactly, the auxiliary carry included.

use crate::x86::operand::Lift;
use parallax_ir::{Op, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp, UnOp};

impl Lift<'_> {
    /// A flag as a truth value.
    pub fn flag(&mut self, flag: Varnode, value: Varnode) {
        self.b.copy(flag, value);
    }

    /// Clears a flag.
    pub fn clear(&mut self, flag: Varnode) {
        let zero = self.constant(0, 1);
        self.b.copy(flag, zero);
    }

    /// The low byte.
    fn low(&mut self, a: Varnode) -> Varnode {
        match a.as_constant() {
            Some(value) => self.constant(value, 1),
            None => a.slice(0, 1),
        }
    }

    /// Whether the number is negative.
    pub fn sign(&mut self, a: Varnode) -> Varnode {
        self.b.rel_constant(RelOp::Slt, a, 0)
    }

    /// Sign, zero and parity of a result.
    pub fn result_flags(&mut self, result: Varnode) {
        let (sf, zf, pf) = (self.r.sf, self.r.zf, self.r.pf);
        let zero = self.constant(0, result.bytes);
        self.b.push(Op::Rel { op: RelOp::Slt, out: sf, a: result, b: zero });
        self.b.push(Op::Rel { op: RelOp::Eq, out: zf, a: result, b: zero });
        let low = self.low(result);
        let count = self.b.un(UnOp::Popcount, low);
        let odd = self.b.bin_constant(BinOp::And, count, 1);
        let none = self.constant(0, 1);
        self.b.push(Op::Rel { op: RelOp::Eq, out: pf, a: odd, b: none });
    }

    /// The carry between bits 3 and 4: where the sum without carries and the sum differ in bit 4.
    pub fn auxiliary(&mut self, a: Varnode, b: Varnode, result: Varnode) {
        let (a, b, result) = (self.low(a), self.low(b), self.low(result));
        let without = self.b.bin(BinOp::Xor, a, b);
        let differs = self.b.bin(BinOp::Xor, without, result);
        let bit = self.b.bin_constant(BinOp::And, differs, 16);
        let (af, zero) = (self.r.af, self.constant(0, 1));
        self.b.push(Op::Rel { op: RelOp::Ne, out: af, a: bit, b: zero });
    }

    /// A result that goes to memory goes there before any flag changes: if the store faults, the instruction must be
    /// as good as new.
    pub fn store_early(&mut self, address: Option<Varnode>, result: Varnode) {
        if let Some(address) = address {
            self.b.store(address, result);
        }
    }

    /// `a + b`, with all flags; stored first when there is an address.
    pub fn add(&mut self, a: Varnode, b: Varnode, store: Option<Varnode>) -> Varnode {
        let result = self.b.bin(BinOp::Add, a, b);
        self.store_early(store, result);
        let (cf, of) = (self.r.cf, self.r.of);
        self.b.push(Op::Carry { out: cf, a, b });
        self.b.push(Op::SignedCarry { out: of, a, b });
        self.auxiliary(a, b, result);
        self.result_flags(result);
        result
    }

    /// `a - b`, with all flags.
    pub fn sub(&mut self, a: Varnode, b: Varnode, store: Option<Varnode>) -> Varnode {
        let result = self.b.bin(BinOp::Sub, a, b);
        self.store_early(store, result);
        let (cf, of) = (self.r.cf, self.r.of);
        self.b.push(Op::Rel { op: RelOp::Ult, out: cf, a, b });
        self.b.push(Op::SignedBorrow { out: of, a, b });
        self.auxiliary(a, b, result);
        self.result_flags(result);
        result
    }

    /// Whether `value` has a sign that the two others agree not to have: the overflow of a sum.
    fn overflow(&mut self, a: Varnode, b: Varnode, result: Varnode) -> Varnode {
        let left = self.b.bin(BinOp::Xor, a, result);
        let right = self.b.bin(BinOp::Xor, b, result);
        let both = self.b.bin(BinOp::And, left, right);
        self.sign(both)
    }

    /// `a + b + carry`, with all flags.
    pub fn add_carry(&mut self, a: Varnode, b: Varnode, store: Option<Varnode>) -> Varnode {
        let carry = self.b.zext(self.r.cf, a.bytes);
        let first = self.b.bin(BinOp::Add, a, b);
        let result = self.b.bin(BinOp::Add, first, carry);
        self.store_early(store, result);
        let out_first = self.b.rel(RelOp::Ult, first, a);
        let out_second = self.b.rel(RelOp::Ult, result, first);
        let overflow = self.overflow(a, b, result);
        let carried = self.b.bool(BoolOp::Or, out_first, out_second);
        self.flag(self.r.cf, carried);
        self.flag(self.r.of, overflow);
        self.auxiliary(a, b, result);
        self.result_flags(result);
        result
    }

    /// `a - b - carry`, with all flags.
    pub fn sub_borrow(&mut self, a: Varnode, b: Varnode, store: Option<Varnode>) -> Varnode {
        let borrow = self.b.zext(self.r.cf, a.bytes);
        let first = self.b.bin(BinOp::Sub, a, b);
        let result = self.b.bin(BinOp::Sub, first, borrow);
        self.store_early(store, result);
        let out_first = self.b.rel(RelOp::Ult, a, b);
        let out_second = self.b.rel(RelOp::Ult, first, borrow);
        // a = b + borrow + result: the overflow of that sum.
        let overflow = {
            let left = self.b.bin(BinOp::Xor, a, b);
            let right = self.b.bin(BinOp::Xor, a, result);
            let both = self.b.bin(BinOp::And, left, right);
            self.sign(both)
        };
        let borrowed = self.b.bool(BoolOp::Or, out_first, out_second);
        self.flag(self.r.cf, borrowed);
        self.flag(self.r.of, overflow);
        self.auxiliary(a, b, result);
        self.result_flags(result);
        result
    }

    /// The flags after a bitwise operation. The auxiliary carry is undefined; processors clear it.
    pub fn logic_flags(&mut self, result: Varnode) {
        self.clear(self.r.cf);
        self.clear(self.r.of);
        self.clear(self.r.af);
        self.result_flags(result);
    }

    /// The flags after a test of vectors: zero if no bit is set in both, carry if none of the second is missing in the
    /// first.
    pub fn test_flags(&mut self, a: Varnode, b: Varnode) {
        let both = self.b.bin(BinOp::And, a, b);
        let inverse = self.b.un(UnOp::Not, a);
        let rest = self.b.bin(BinOp::And, inverse, b);
        let none = self.b.rel_constant(RelOp::Eq, both, 0);
        let covered = self.b.rel_constant(RelOp::Eq, rest, 0);
        for flag in [self.r.of, self.r.sf, self.r.af, self.r.pf] {
            self.clear(flag);
        }
        self.flag(self.r.zf, none);
        self.flag(self.r.cf, covered);
    }

    /// The condition of a conditional instruction, by the low four bits of its opcode.
    pub fn condition(&mut self, code: u8) -> Varnode {
        let (cf, zf, sf, of, pf) = (self.r.cf, self.r.zf, self.r.sf, self.r.of, self.r.pf);
        let base = match code >> 1 {
            0 => of,
            1 => cf,
            2 => zf,
            3 => self.b.bool(BoolOp::Or, cf, zf),
            4 => sf,
            5 => pf,
            6 => self.b.bool(BoolOp::Xor, sf, of),
            _ => {
                let less = self.b.bool(BoolOp::Xor, sf, of);
                self.b.bool(BoolOp::Or, zf, less)
            }
        };
        if code & 1 == 0 { base } else { self.b.not(base) }
    }
}
