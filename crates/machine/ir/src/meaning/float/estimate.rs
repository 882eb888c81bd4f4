//! Reciprocals, and those of square roots, that are promised within one and a half units of 2^-12 only.
//!
//! Every processor makes up its own digits, so that nothing can be said of them where the operand is not known. Here they
//! are as good as a single can be.

use crate::meaning::MeaningError;
use crate::meaning::value::constant;
use crate::meaning::vector::{join, split};
use parallax_op::Width;
use parallax_sem::Core;

const SIGN: u32 = 1 << 31;
const INFINITE: u32 = 0x7f80_0000;
const SMALLEST_NORMAL: u32 = 0x0080_0000;

/// What is exact on every processor: zeros, to which denormal numbers belong here, infinities, what is not a number.
fn estimate(root: bool, a: u32) -> u32 {
    let (sign, magnitude) = (a & SIGN, a & !SIGN);
    match magnitude {
        _ if magnitude > INFINITE => a | 1 << 22,
        _ if magnitude < SMALLEST_NORMAL => sign | INFINITE,
        _ if root && sign != 0 => SIGN | INFINITE | 1 << 22,
        _ => {
            let number = f64::from(f32::from_bits(a));
            let value = if root { 1.0 / number.sqrt() } else { 1.0 / number };
            let bits = (value as f32).to_bits();
            // Nothing is denormal.
            if bits & !SIGN < SMALLEST_NORMAL { sign } else { bits }
        }
    }
}

/// The estimate in each lane.
pub(in crate::meaning) fn estimates<C: Core>(
    core: &C,
    root: bool,
    w: Width,
    a: &C::Val,
) -> Result<C::Val, MeaningError> {
    let lanes = split(core, w, 32, a).into_iter().map(|lane| match core.targets(32, &lane).as_deref() {
        Some([(_, only)]) => {
            let bits = only.to_u64().unwrap_or(0) as u32;
            Ok(constant(core, 32, estimate(root, bits).into()))
        }
        _ => {
            let name = if root { "rsqrtps" } else { "rcpps" };
            Err(MeaningError::Unknown(format!("{name} of a number that is not known")))
        }
    });
    Ok(join(core, 32, &lanes.collect::<Result<Vec<_>, _>>()?))
}
