//! Products and sums rounded once.

use crate::x86::float::controlled;
use crate::x86::operand::Lift;
use crate::x86::packed::read;
use iced_x86::{Instruction as Decoded, Mnemonic};
use parallax_ir::Intrinsic;

/// What the name of such an instruction says.
struct Name {
    /// Which operands are multiplied, then which is added, counted from one.
    order: [u32; 3],
    negated: bool,
    subtracts: (bool, bool),
    lane: u16,
    scalar: bool,
}

/// Takes a name like `vfnmadd231ps` apart.
fn parse(mnemonic: Mnemonic) -> Option<Name> {
    let name = format!("{mnemonic:?}").to_lowercase();
    let rest = name.strip_prefix("vf")?;
    let (negated, rest) = match rest.strip_prefix('n') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    // In even lanes, in odd lanes.
    let kinds = [
        ("maddsub", (true, false)),
        ("msubadd", (false, true)),
        ("madd", (false, false)),
        ("msub", (true, true)),
    ];
    let (rest, subtracts) =
        kinds.iter().find_map(|(kind, signs)| Some((rest.strip_prefix(kind)?, *signs)))?;
    let (order, format) = rest.split_at_checked(3)?;
    let order = match order {
        "132" => [1, 3, 2],
        "213" => [2, 1, 3],
        "231" => [2, 3, 1],
        _ => return None,
    };
    let (lane, scalar) = match format {
        "ps" => (4, false),
        "pd" => (8, false),
        "ss" => (4, true),
        "sd" => (8, true),
        _ => return None,
    };
    Some(Name { order, negated, subtracts, lane, scalar })
}

/// Builds the operations if the mnemonic belongs here.
pub fn lift(l: &mut Lift, d: &Decoded, mnemonic: Mnemonic) -> bool {
    if !l.vex {
        return false;
    }
    let Some(name) = parse(mnemonic) else { return false };
    let bytes = if name.scalar { name.lane } else { l.size(d, 0) };
    let operands = name.order.map(|number| read(l, d, number - 1, bytes));
    let call = Intrinsic::FloatFused {
        negated: name.negated,
        subtracts_even: name.subtracts.0,
        subtracts_odd: name.subtracts.1,
        lane: name.lane as u8,
    };
    let mut result = controlled(l, call, bytes, &operands);
    if name.scalar {
        let above = l.r.place(d.op_register(0)).slice(bytes, 16 - bytes);
        result = l.b.concat(above, result);
    }
    l.write(d, 0, result);
    true
}
