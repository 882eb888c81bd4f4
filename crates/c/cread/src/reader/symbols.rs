//! What a module defines for others, and what it needs of others: enough to tell which modules make a program.

use super::{Input, Session, value_name};
use crate::Error;
use llvm_sys::LLVMLinkage;
use llvm_sys::core::*;
use llvm_sys::prelude::LLVMValueRef;
use std::collections::BTreeSet;

/// Names of functions and variables that cross the borders of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols {
    /// Defined here, once in a program.
    pub defined: BTreeSet<String>,
    /// Named here and defined elsewhere.
    pub needed: BTreeSet<String>,
}

/// Reads the symbols of a module of bitcode.
pub fn symbols(input: &Input<'_>) -> Result<Symbols, Error> {
    let session = Session::new();
    let module = session.open(input)?;
    let mut symbols = Symbols::default();
    let mut add = |value: LLVMValueRef| {
        // SAFETY: a live value of the session's module.
        let (name, declared, linkage) =
            unsafe { (value_name(value), LLVMIsDeclaration(value) != 0, LLVMGetLinkage(value)) };
        match linkage {
            _ if name.starts_with("llvm.") => {}
            _ if declared => _ = symbols.needed.insert(name),
            LLVMLinkage::LLVMExternalLinkage => _ = symbols.defined.insert(name),
            _ => {}
        }
    };
    // SAFETY: `module` lives as long as the session.
    unsafe {
        let mut function = LLVMGetFirstFunction(module);
        while !function.is_null() {
            add(function);
            function = LLVMGetNextFunction(function);
        }
        let mut global = LLVMGetFirstGlobal(module);
        while !global.is_null() {
            add(global);
            global = LLVMGetNextGlobal(global);
        }
    }
    Ok(symbols)
}
