//! An emulated Linux process: programs of x86-64 and 32-bit PowerPC, run instruction by instruction.
//!
//! [`Process`] is the entry point. [`elf`] reads and loads programs, [`memory`] is their address space, [`execute`] runs
//! their instructions, [`system`] makes their system calls, `signal` delivers their signals. Time is the number of
//! instructions executed, and the only contact with the world outside is through [`system`].
//!
//! Threads take turns in the one thread of the host that runs all this. Absent on purpose: any knowledge of what an
//! instruction means (`parallax_ir`) or how its bytes are read (`parallax_sleigh`).

mod attention;
pub mod elf;
pub mod execute;
pub mod memory;
mod process;
pub mod registers;
mod signal;
mod snapshot;
pub mod system;
mod threads;

pub use process::{CallTrace, Ending, Process, Program, StartError};
pub use snapshot::Snapshot;
