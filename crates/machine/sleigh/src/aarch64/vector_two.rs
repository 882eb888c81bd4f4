//! AArch64's vectors of integers: one operand.

use super::Overrides;
use super::vector::Fields;
use crate::lanes::{Each, Saturation, extend, held, held_unsigned, join, map, split};
use parallax_ir::{Builder, Varnode};
use parallax_op::{BinOp, RelOp, UnOp};

impl Overrides {
    pub(super) fn two(&self, b: &mut Builder, s: &mut Saturation, f: Fields) -> Option<String> {
        let opcode = f.word >> 12 & 31;
        let a = self.low(f.n, f.bytes);
        let whole = if f.is_scalar() { f.lane == 8 } else { f.lane < 8 || f.bytes == 16 };
        let narrowing = f.lane < 8 && matches!((opcode, f.signed), (18, false) | (20, _));
        let holding = matches!(opcode, 3 | 7) && (f.is_scalar() || whole);
        let compares = whole && matches!(opcode, 8..=11);
        if f.is_scalar() && ![narrowing, holding, compares].contains(&true) {
            return None;
        }
        let lanewise = |b: &mut Builder, function: &dyn Fn(&mut Builder, Varnode) -> Varnode| {
            let lanes: Vec<Varnode> = split(b, a, f.lane).into_iter().map(|a| function(b, a)).collect();
            let value = join(b, &lanes);
            self.set(b, f.d, value);
        };
        let zero = Varnode::constant(0, f.lane);
        match (opcode, f.signed) {
            (2 | 6, _) if f.lane < 8 => {
                let wide = self.widened(b, f, a);
                let sums: Vec<Varnode> =
                    wide.chunks(2).map(|pair| b.bin(BinOp::Add, pair[0], pair[1])).collect();
                let mut value = join(b, &sums);
                if opcode == 6 {
                    value = map(b, s, Each::Add, true, 2 * f.lane, self.low(f.d, f.bytes), value);
                }
                self.set(b, f.d, value);
                f.two(&format!("{}{}", f.sign(), if opcode == 2 { "addlp" } else { "adalp" }))
            }
            (4, signed) if f.lane < 8 => {
                lanewise(b, &|b, a| {
                    if !signed {
                        return b.un(UnOp::Clz, a);
                    }
                    // Bits like the sign, the sign itself not counted: leading zeros where each bit differs from the next.
                    let shifted = b.bin_constant(BinOp::Ashr, a, 1);
                    let changes = b.bin(BinOp::Xor, a, shifted);
                    let count = b.un(UnOp::Clz, changes);
                    b.bin_constant(BinOp::Sub, count, 1)
                });
                f.two(if signed { "cls" } else { "clz" })
            }
            (3 | 7, _) if holding => {
                let mut lanes = Vec::new();
                let old = self.low(f.d, f.bytes);
                for (a, old) in split(b, a, f.lane).into_iter().zip(split(b, old, f.lane)) {
                    let wide = extend(b, opcode == 7 || !f.signed, a, 2 * f.lane);
                    let exact = if opcode == 3 {
                        // A signed number more, or an unsigned one, than the unsigned or the signed one that was there.
                        let old = extend(b, f.signed, old, 2 * f.lane);
                        b.bin(BinOp::Add, old, wide)
                    } else {
                        let negative = b.un(UnOp::Neg, wide);
                        let below = b.rel_constant(RelOp::Slt, wide, 0);
                        if f.signed { b.select(below, negative, wide) } else { negative }
                    };
                    lanes.push(held(b, s, opcode == 7 || f.signed, exact, f.lane));
                }
                let value = join(b, &lanes);
                self.set(b, f.d, value);
                f.two(match (opcode, f.signed) {
                    (3, true) => "suqadd",
                    (3, false) => "usqadd",
                    (_, true) => "sqabs",
                    _ => "sqneg",
                })
            }
            (5, false) if f.lane == 1 => {
                lanewise(b, &|b, a| b.un(UnOp::Not, a));
                f.two("not")
            }
            (5, true) if f.lane == 1 => {
                lanewise(b, &|b, a| b.un(UnOp::Popcount, a));
                f.two("cnt")
            }
            (8..=10, _) if whole && (opcode, f.signed) != (10, false) => {
                let (op, name) = match (opcode, f.signed) {
                    (8, true) => (RelOp::Sgt, "cmgt"),
                    (8, false) => (RelOp::Sge, "cmge"),
                    (9, true) => (RelOp::Eq, "cmeq"),
                    (9, false) => (RelOp::Sle, "cmle"),
                    _ => (RelOp::Slt, "cmlt"),
                };
                lanewise(b, &|b, a| {
                    let holds = b.rel(op, a, zero);
                    b.select(holds, Varnode::constant(u64::MAX, f.lane), zero)
                });
                f.two(name).map(|text| format!("{text},#0"))
            }
            (11, signed) if whole => {
                lanewise(b, &|b, a| {
                    let negative = b.un(UnOp::Neg, a);
                    if !signed {
                        return negative;
                    }
                    let below = b.rel_constant(RelOp::Slt, a, 0);
                    b.select(below, negative, a)
                });
                f.two(if signed { "abs" } else { "neg" })
            }
            (18 | 20, _) if f.lane < 8 => {
                let mut lanes = Vec::new();
                for a in split(b, self.wide(f, f.n), 2 * f.lane) {
                    lanes.push(match (opcode, f.signed) {
                        (18, true) => b.extract(a, 0, f.lane),
                        (18, false) => held(b, s, false, a, f.lane),
                        (_, true) => held(b, s, true, a, f.lane),
                        _ => held_unsigned(b, s, a, f.lane),
                    });
                }
                let value = join(b, &lanes);
                self.set_half(b, f, value);
                let name = match (opcode, f.signed) {
                    (18, true) => "xtn",
                    (18, false) => "sqxtun",
                    (_, true) => "sqxtn",
                    _ => "uqxtn",
                };
                let upper = if f.is_upper() { "2" } else { "" };
                let (to, from) = (Fields::shape(f.bytes, f.lane), Fields::shape(16, 2 * f.lane));
                Some(format!("{name}{upper} v{}.{to},v{}.{from}", f.d, f.n))
            }
            (19, false) if f.lane < 8 => {
                let f = Fields { signed: false, ..f };
                let lanes: Vec<Varnode> = self
                    .widened(b, f, self.half(f, f.n))
                    .into_iter()
                    .map(|a| b.bin_constant(BinOp::Shl, a, 8 * u64::from(f.lane)))
                    .collect();
                let value = join(b, &lanes);
                self.set(b, f.d, value);
                f.mixed("shll", &format!(",v{},#{}", f.n, 8 * f.lane))
            }
            _ => None,
        }
    }
}
