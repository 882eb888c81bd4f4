//! On other hosts than Linux on x86-64 there is no native engine.

use crate::elf::Machine;
use crate::execute::{Engine, Executes};
use crate::registers::Registers;

pub(crate) fn engine(_: Engine, _: Machine, _: &Registers) -> Result<Box<dyn Executes>, String> {
    Err(String::from("it is for Linux on x86-64"))
}

/// Says that there is no native engine.
pub fn prepare_alone() -> Result<(), String> {
    Err(String::from("it is for Linux on x86-64"))
}
