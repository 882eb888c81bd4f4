//! PowerPC: meanings for operations that its specification only names, as a user program of one thread sees them.
//!
//! Advice to caches and orderings of accesses do nothing. A conditional store always finds its reservation (whoever runs
//! a program sets `RESERVE` once). Float instructions that the table does not have stop by name, because the specification
//! keeps their status elsewhere.

mod branch;
mod float;
mod status;
mod table;
mod transfer;
mod vector;

pub(crate) use status::registers;
pub(crate) use table::Overrides;
pub(crate) use vector::refusal;

use crate::refused::Refused;
use parallax_ir::{Instruction, Intrinsic, Op, Processor, Trap, Varnode};

/// What control registers hold when a program starts: rounding to nearest, no exception enabled, none that may stop.
pub(crate) const INITIAL: [(&str, u64); 2] = [("FPSCR", 0), ("MSR", 0)];

/// What an operation of that name means here.
enum Meaning {
    SystemCall,
    Nothing,
    FirstArgument,
}

fn meaning(name: &str) -> Option<Meaning> {
    Some(match name {
        "syscall" => Meaning::SystemCall,
        "dataCacheBlockTouch"
        | "dataCacheBlockTouchForStore"
        | "dataCacheBlockStore"
        | "dataCacheBlockFlush"
        | "dataCacheBlockAllocate"
        | "instructionCacheBlockInvalidate"
        | "instructionCacheBlockTouch"
        | "instructionSynchronize"
        | "enforceInOrderExecutionIO"
        | "sync" => Meaning::Nothing,
        "storeWordConditionalIndexed" => Meaning::FirstArgument,
        _ => return None,
    })
}

/// The instruction with those operations replaced.
pub(crate) fn complete(mut instruction: Instruction, processor: &Processor) -> Instruction {
    let mut keeps_status = false;
    for op in &instruction.ops {
        keeps_status |= op.out().is_some_and(status::is_bit);
        op.inputs(|place| keeps_status |= status::is_bit(place));
    }
    if keeps_status {
        instruction.ops = [Refused::Status.op(processor)].into();
        return instruction;
    }
    for op in &mut instruction.ops {
        let Op::Intrinsic { call: Intrinsic::Other(number), out, args } = op else { continue };
        let Some(meaning) = processor.user_ops.get(usize::from(*number)).and_then(|name| meaning(name))
        else {
            continue;
        };
        *op = match (meaning, *out) {
            (Meaning::SystemCall, _) => Op::Trap { when: None, trap: Trap::SystemCall },
            (Meaning::FirstArgument, Some(out))
                if args.first().is_some_and(|first| first.bytes == out.bytes) =>
            {
                Op::Copy { out, a: args[0] }
            }
            // An operation must stay in its place, or branches inside the instruction would miss their targets.
            (Meaning::Nothing, None) => {
                Op::Trap { when: Some(Varnode::constant(0, 1)), trap: Trap::Undefined }
            }
            _ => continue,
        };
    }
    instruction
}
