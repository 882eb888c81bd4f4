//! The conditions of ARM, the same in its three encodings.

use parallax_ir::{Builder, Varnode};
use parallax_op::BoolOp;

/// What they are called.
pub(crate) const NAMES: [&str; 16] =
    ["eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "al", "nv"];

/// Whether a condition holds, of flags N, Z, C and V.
pub(crate) fn holds(b: &mut Builder, [n, z, c, v]: [Varnode; 4], code: u32) -> Varnode {
    let holds = match code >> 1 {
        0 => b.snapshot(z),
        1 => b.snapshot(c),
        2 => b.snapshot(n),
        3 => b.snapshot(v),
        4 => {
            let other = b.not(z);
            b.bool(BoolOp::And, c, other)
        }
        5 | 6 => {
            let differ = b.bool(BoolOp::Xor, n, v);
            let same = b.not(differ);
            if code >> 1 == 5 {
                same
            } else {
                let other = b.not(z);
                b.bool(BoolOp::And, same, other)
            }
        }
        _ => return Varnode::constant(1, 1),
    };
    if code & 1 == 1 { b.not(holds) } else { holds }
}
