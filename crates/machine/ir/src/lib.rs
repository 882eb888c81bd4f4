//! A small typed instruction language, shaped like P-code: what machine code of every processor is lifted to.
//!
//! An [`Instruction`] is a list of [`Op`]s over [`Varnode`]s: places of a known size in the register file, among the
//! temporaries of the instruction, or constants. Memory is reached through [`Op::Load`] and [`Op::Store`] alone.
//! Registers overlap because the register file is a flat sequence of bytes: `AL` *is* the first byte of `RAX`, so a
//! reading that keeps bytes, words or terms per place cannot forget the connection.
//!
//! Absent on purpose: how bytes become instructions (`sleigh`), and anything that runs programs (`process`).

mod builder;
mod instruction;
mod intrinsic;
pub mod meaning;
mod op;
mod print;
mod processor;
mod sweep;
mod varnode;

pub use builder::{Builder, Label};
pub use instruction::Instruction;
pub use intrinsic::{
    AesStep, Dialect, IeeeOp, Intrinsic, LaneOp, LaneShift, PowerOp, ScalarOp, Transcendental,
};
pub use op::{Flow, Op, Trap};
pub use processor::{Processor, Register, RegisterKind};
pub use sweep::Sweep;
pub use varnode::{Space, Varnode};
