//! Modes of float arithmetic that are not modelled: what asks for one stops by name instead of rounding to nearest.
//!
//! Instructions that write a control register are looked at alone, so that reading it costs nothing and code that only
//! saves and restores it runs.

use crate::refused::Refused;
use parallax_ir::{Instruction, Op, Processor, Varnode};
use parallax_op::{BinOp, BoolOp, RelOp};

/// Control registers with the bits that must stay clear, and how instructions that are meant to write them begin.
fn controls(processor: &Processor) -> (&'static [(&'static str, u64)], &'static [&'static str]) {
    // Rounding, flush to zero, and default results for what is not a number.
    const ARM_MODES: u64 = 0x03c0_0000;
    match processor.name.as_str() {
        "arm" | "thumb" => (&[("FPSCR", ARM_MODES)], &["vmsr"]),
        _ => (&[], &[]),
    }
}

/// The instruction, with a stop behind it if it may set such a mode.
pub(crate) fn guarded(mut instruction: Instruction, processor: &Processor) -> Instruction {
    let (registers, beginnings) = controls(processor);
    let unmodelled = || Refused::Mode.op(processor);
    if !beginnings.iter().any(|beginning| instruction.text.starts_with(beginning)) {
        return instruction;
    }
    let mut ops = std::mem::take(&mut instruction.ops).into_vec();
    let mut temporary = |bytes: u16| {
        let place = Varnode::temporary(u64::from(instruction.temporary_bytes), bytes);
        instruction.temporary_bytes = instruction.temporary_bytes.saturating_add(16);
        place
    };
    let mut clear: Option<Varnode> = None;
    for (name, mask) in registers {
        let Some(place) = processor.register(name).map(|register| register.place) else { continue };
        if !ops.iter().any(|op| op.out().is_some_and(|out| out.overlaps(place))) {
            continue;
        }
        let (bits, zero) = (temporary(place.bytes), temporary(1));
        ops.push(Op::Bin { op: BinOp::And, out: bits, a: place, b: Varnode::constant(*mask, place.bytes) });
        ops.push(Op::Rel { op: RelOp::Eq, out: zero, a: bits, b: Varnode::constant(0, place.bytes) });
        clear = Some(match clear {
            None => zero,
            Some(before) => {
                let out = temporary(1);
                ops.push(Op::Bool { op: BoolOp::And, out, a: before, b: zero });
                out
            }
        });
    }
    if let Some(clear) = clear {
        ops.push(Op::Branch { when: Some(clear), to: ops.len() as u16 + 2 });
        ops.push(unmodelled());
    }
    instruction.ops = ops.into();
    instruction
}
