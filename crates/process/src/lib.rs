//! An emulated Linux process.

pub mod memory;
