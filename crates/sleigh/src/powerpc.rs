//! PowerPC: meanings for operations that its specification only names, as a user program of one thread sees them.
//!
//! Advice to caches and orderings of accesses do nothing. A conditional store always finds its reservation (whoever runs
//! a program sets `RESERVE` once). The exception bits of the floating-point status register are not kept: they read as
//! they were.

mod float;
mod table;

pub(crate) use table::Overrides;

use parallax_ir::{Instruction, Intrinsic, Op, Trap, Varnode};

/// What an operation of that name means here.
enum Meaning {
    SystemCall,
    Nothing,
    Zero,
    FirstArgument,
}

fn meaning(name: &str) -> Option<Meaning> {
    Some(match name {
        "syscall" => Meaning::SystemCall,
        "dataCacheBlockTouch"
        | "dataCacheBlockTouchForStore"
        | "dataCacheBlockStore"
        | "dataCacheBlockFlush"
        | "instructionCacheBlockInvalidate"
        | "instructionCacheBlockTouch"
        | "instructionSynchronize"
        | "enforceInOrderExecutionIO"
        | "sync" => Meaning::Nothing,
        "storeWordConditionalIndexed" => Meaning::FirstArgument,
        "sqrtInvalid" | "invalidFloatToInt" => Meaning::Zero,
        _ => {
            let about_floats = name.starts_with("float") || name.starts_with("intToFloat");
            let about_status =
                ["Overflow", "Underflow", "Inexact", "RoundedUp"].iter().any(|end| name.ends_with(end));
            if about_floats && (about_status || name.starts_with("floatInfinity")) {
                Meaning::Zero
            } else {
                return None;
            }
        }
    })
}

/// The instruction with those operations replaced.
pub(crate) fn complete(mut instruction: Instruction, user_ops: &[String]) -> Instruction {
    for op in &mut instruction.ops {
        let Op::Intrinsic { call: Intrinsic::Other(number), out, args } = op else { continue };
        let Some(meaning) = user_ops.get(usize::from(*number)).and_then(|name| meaning(name)) else {
            continue;
        };
        *op = match (meaning, *out) {
            (Meaning::SystemCall, _) => Op::Trap { when: None, trap: Trap::SystemCall },
            (Meaning::FirstArgument, Some(out))
                if args.first().is_some_and(|first| first.bytes == out.bytes) =>
            {
                Op::Copy { out, a: args[0] }
            }
            (Meaning::Zero, Some(out)) => Op::Copy { out, a: Varnode::constant(0, out.bytes) },
            // An operation must stay in its place, or branches inside the instruction would miss their targets.
            (Meaning::Nothing, None) => {
                Op::Trap { when: Some(Varnode::constant(0, 1)), trap: Trap::Undefined }
            }
            _ => continue,
        };
    }
    instruction
}
