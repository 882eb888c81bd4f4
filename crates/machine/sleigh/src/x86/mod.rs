//! x86: our own meaning for what the specification leaves out, gets wrong, loops over or makes slow.
//!
//! The specification lacks the auxiliary carry flag everywhere, has wrong results for some shifts, leaves much of SSE
//! without meaning, and spells moves and arithmetic in more operations than they need. So the table covers the
//! instructions of user programs, up to AVX2 and its companions. Every form here is compared with a real processor, bit
//! for bit (see `tests/silicon.rs`); what is not here is refused by name, whatever the specification says of it.
//!
//! Decoding is `iced-x86`'s, so the library never sees bytes that are no instruction.

mod avx;
mod control;
mod crypto;
mod flags;
mod float;
mod fused;
mod integer;
mod lift;
mod older;
mod operand;
mod packed;
mod real;
mod registers;
mod shape;
mod shift;
mod string;
mod system;
mod undefined;
mod vector;
mod x87;
mod x87_functions;
mod x87_image;

pub use lift::{Answer, Overrides};
pub use shape::{Sample, Shape};
pub use undefined::{
    is_approximate, is_estimate, is_out_of_domain, undefined_codes, undefined_flags, undefined_result,
};

use iced_x86::{Instruction as Decoded, Mnemonic};
use operand::Lift;

/// Control registers when a program starts: to nearest, everything masked, nothing raised, the x87 stack empty.
pub const INITIAL: &[(&str, u64)] =
    &[("MXCSR", 0x1f80), ("FPUCONTROLWORD", 0x37f), ("FPUSTATUSWORD", 0), (TAGS, 0xffff)];

/// Which x87 registers are empty, from the top on, two equal bits each.
pub const TAGS: &str = "FPUTAGWORD";

/// Tried in order; the first that knows the mnemonic builds the operations.
const TABLES: &[fn(&mut Lift, &Decoded, Mnemonic) -> bool] = &[
    real::lift,
    integer::lift,
    control::lift,
    shift::lift,
    string::lift,
    vector::lift,
    float::lift,
    avx::lift,
    fused::lift,
    crypto::lift,
    x87::lift,
    system::lift,
    older::lift,
];
