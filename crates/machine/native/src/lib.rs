//! A translator from x86-64 to x86-64: guest code is copied, trace by trace, into a cache of code that runs on the
//! processor itself. Only control flow is changed, and every instruction is counted.
//!
//! [`Cache`] is the entry point. It translates the trace at an address, links traces to each other, and says what a place
//! in its code stands for. [`enter`] goes into translated code and comes back. How a trace is made: [`gather`] decodes a
//! path, [`translate`] writes it down with the help of [`count`], [`indirect`] and [`far`]; [`forms`] decides which
//! instructions may be copied at all.
//!
//! Everything but [`enter`], [`handler`] and [`host`] is a function from bytes to bytes and tables: no mapping, no `unsafe`. Code
//! is written through [`Arena`], read through [`Source`].
//!
//! # Invariants
//!
//! 1. **Time.** Four counters, of which each trace uses one, fall by one for each instruction that was made. Whoever leaves
//!    a trace has paid for the instructions from its head to the way out, no more and no fewer.
//! 2. **Checks.** Every way out of a trace looks at its counter before it goes on, and leaves the cache if that is
//!    negative. So every cycle of code holds a check, and between two checks there are at most [`Options::longest`]
//!    instructions.
//! 3. **State.** Wherever control can come back (a way out, or an instruction that can fault), general registers, flags
//!    and float state are those of the guest, but for the registers that [`Place`] says are in a cell. One exception is
//!    marked: [`Leaving::flags_are_void`], where the next instruction writes all flags, reads none and cannot fault.
//! 4. **Memory.** Translated code reads and writes the guest's memory only as the guest's instructions do: nothing below the
//!    stack pointer, nothing twice.
//! 5. **Meaning.** What is copied is listed in [`copied`], which is generated from the forms that are checked against
//!    processors. Everything else is left: translated code stops before it, and before instructions whose [`undefined`]
//!    flags may be read.
//! 6. **Jumps.** A computed jump reaches a trace only if all 64 bits of its goal are the trace's address.

pub mod cache;
mod code;
pub mod copied;
mod count;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub mod enter;
mod far;
pub mod forms;
mod gather;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub mod handler;
#[cfg(target_os = "linux")]
pub mod host;
mod indirect;
mod layout;
mod options;
mod trace;
mod translate;
pub mod undefined;

pub use cache::{Cache, Leaving, Located, NoTrace};
pub use gather::Source;
pub use layout::{Arena, Places, cell};
pub use options::{Mistake, Options};
pub use trace::{Exit, Place, Row, Trace};
