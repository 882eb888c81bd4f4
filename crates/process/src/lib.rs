//! An emulated Linux process.

pub mod elf;
pub mod memory;
