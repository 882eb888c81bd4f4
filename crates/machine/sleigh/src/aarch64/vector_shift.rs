//! AArch64's vectors of integers: shifts by a constant.

use super::Overrides;
use super::vector::Fields;
use crate::lanes::{Each, Saturation, extend, held, held_unsigned, join, map, shifted_right, split};
use parallax_ir::{Builder, Varnode};
use parallax_op::{BinOp, UnOp};

impl Overrides {
    /// Shifts by a constant. The position of the highest bit of the field tells the lane.
    pub(super) fn shift(&self, b: &mut Builder, s: &mut Saturation, f: Fields) -> Option<String> {
        let size = (f.word >> 19 & 15).ilog2();
        let lane = 1u16 << size;
        let f = f.with_lane(lane);
        let bits = 8 * u32::from(lane);
        let field = f.word >> 16 & 0x7f;
        let (right, left) = (u64::from(2 * bits - field), u64::from(field - bits));
        let opcode = f.word >> 11 & 31;
        let narrows = matches!(opcode, 16..=20);
        if lane == 8 && (f.bytes == 8 && !f.is_scalar() || narrows) {
            return None;
        }
        // Scalars are doublewords, unless they are held at the ends of their range.
        let holds = matches!(opcode, 12 | 14 | 18 | 19) || matches!(opcode, 16 | 17) && !f.signed;
        if f.is_scalar() && (opcode == 20 || !holds && lane < 8) {
            return None;
        }
        let (x, old) = (self.low(f.n, f.bytes), self.low(f.d, f.bytes));
        match (opcode, f.signed) {
            (0 | 2 | 4 | 6, _) => {
                let lanes: Vec<Varnode> = split(b, x, lane)
                    .into_iter()
                    .map(|a| shifted_right(b, f.signed, a, right, opcode & 4 != 0))
                    .collect();
                let mut value = join(b, &lanes);
                if opcode & 2 != 0 {
                    value = map(b, s, Each::Add, true, lane, old, value);
                }
                self.set(b, f.d, value);
                let name = ["shr", "sra", "rshr", "rsra"][opcode as usize / 2];
                f.two(&format!("{}{name}", f.sign())).map(|text| format!("{text},#{right}"))
            }
            (8, false) | (10, _) => {
                let (from, to) = (split(b, x, lane), split(b, old, lane));
                let (op, distance) = if opcode == 8 { (BinOp::Lshr, right) } else { (BinOp::Shl, left) };
                let lanes: Vec<Varnode> = from
                    .into_iter()
                    .zip(to)
                    .map(|(a, old)| {
                        let moved = b.bin_constant(op, a, distance);
                        if f.signed {
                            return moved;
                        }
                        // The bits that the shift does not reach stay as they are.
                        let reached = b.bin_constant(op, Varnode::constant(u64::MAX, lane), distance);
                        let rest = b.un(UnOp::Not, reached);
                        let kept = b.bin(BinOp::And, old, rest);
                        b.bin(BinOp::Or, moved, kept)
                    })
                    .collect();
                let value = join(b, &lanes);
                self.set(b, f.d, value);
                let name = if opcode == 8 {
                    "sri"
                } else if f.signed {
                    "shl"
                } else {
                    "sli"
                };
                f.two(name).map(|text| format!("{text},#{distance}"))
            }
            (16 | 17, true) => {
                let lanes: Vec<Varnode> = split(b, self.vectors[f.n], 2 * lane)
                    .into_iter()
                    .map(|a| {
                        let moved = shifted_right(b, false, a, right, opcode == 17);
                        b.extract(moved, 0, lane)
                    })
                    .collect();
                let value = join(b, &lanes);
                self.set_half(b, f, value);
                f.mixed(if opcode == 16 { "shrn" } else { "rshrn" }, &format!(",v{},#{right}", f.n))
            }
            (12 | 14, _) if (opcode, f.signed) != (12, true) => {
                let mut lanes = Vec::new();
                for a in split(b, x, lane) {
                    let from_signed = f.signed || opcode == 12;
                    let wide = extend(b, from_signed, a, 2 * lane);
                    let moved = b.bin_constant(BinOp::Shl, wide, left);
                    lanes.push(match (opcode, f.signed) {
                        (12, _) => held(b, s, false, moved, lane),
                        (_, true) => held(b, s, true, moved, lane),
                        _ => held_unsigned(b, s, moved, lane),
                    });
                }
                let value = join(b, &lanes);
                self.set(b, f.d, value);
                let name = if opcode == 12 { "sqshlu".to_owned() } else { format!("{}qshl", f.sign()) };
                f.two(&name).map(|text| format!("{text},#{left}"))
            }
            (16..=19, _) => {
                // With a range to be held in: signed to unsigned, signed, unsigned.
                let from_signed = f.signed || opcode < 18;
                let mut lanes = Vec::new();
                for a in split(b, self.wide(f, f.n), 2 * lane) {
                    let moved = shifted_right(b, from_signed, a, right, opcode & 1 == 1);
                    lanes.push(match (opcode, f.signed) {
                        (16 | 17, _) => held(b, s, false, moved, lane),
                        (_, true) => held(b, s, true, moved, lane),
                        _ => held_unsigned(b, s, moved, lane),
                    });
                }
                let value = join(b, &lanes);
                self.set_half(b, f, value);
                let sign = if opcode < 18 || f.signed { 's' } else { 'u' };
                let (round, end) =
                    (if opcode & 1 == 1 { "r" } else { "" }, if opcode < 18 { "un" } else { "n" });
                f.mixed(&format!("{sign}q{round}shr{end}"), &format!(",v{},#{right}", f.n))
            }
            (20, _) => {
                let lanes: Vec<Varnode> = self
                    .widened(b, f, self.half(f, f.n))
                    .into_iter()
                    .map(|a| b.bin_constant(BinOp::Shl, a, left))
                    .collect();
                let value = join(b, &lanes);
                self.set(b, f.d, value);
                f.mixed(&format!("{}shll", f.sign()), &format!(",v{},#{left}", f.n))
            }
            _ => None,
        }
    }
}
