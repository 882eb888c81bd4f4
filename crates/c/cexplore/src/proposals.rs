//! Functions of a program without `main` that are worth entering by themselves: those that are given what others wrote.
//!
//! They are told by their types: bytes with how many there are, or a text. What is `static` is not proposed: others call it.

use parallax_cmachine::strip;
use parallax_cmodule::{DebugType, DebugTypeId, FunctionId, Module, Operation};

/// A function to enter, and what it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The function.
    pub function: FunctionId,
    /// What makes it worth entering, in words.
    pub given: &'static str,
}

/// What is worth entering, the best first: bytes with their number before texts, and what runs more code before what runs less.
pub fn proposals(module: &Module) -> Vec<Proposal> {
    let mut found: Vec<(u32, usize, Proposal)> = Vec::new();
    for (number, function) in module.functions.iter().enumerate() {
        let enters = function.is_defined() && function.exported && !function.library && !function.variadic;
        if !enters || function.name == "main" {
            continue;
        }
        let parameters = function.signature.get(1..).unwrap_or_default();
        let is_bytes = |ty: &Option<DebugTypeId>| points_to_bytes(module, *ty);
        let at = parameters.iter().position(is_bytes);
        let sized =
            at.is_some_and(|at| parameters[at + 1..].first().is_some_and(|ty| is_number(module, *ty)));
        let (rank, given) = match (at, sized) {
            (None, _) => continue,
            (Some(_), true) => (0, "bytes and their number"),
            (Some(_), false) => (1, "a text"),
        };
        let function = FunctionId(number as u32);
        found.push((rank, reach(module, function), Proposal { function, given }));
    }
    found.sort_by_key(|(rank, reach, proposal)| (*rank, std::cmp::Reverse(*reach), proposal.function.0));
    found.into_iter().map(|(_, _, proposal)| proposal).collect()
}

/// Whether a type points to bytes that the function does not write: constant characters, or anything.
fn points_to_bytes(module: &Module, ty: Option<DebugTypeId>) -> bool {
    let Some(ty) = strip(module, ty) else { return false };
    let DebugType::Pointer(pointee) = module.debug_types[ty.0 as usize] else { return false };
    let is_constant = pointee.is_some_and(
        |pointee| matches!(&module.debug_types[pointee.0 as usize], DebugType::Alias { name, .. } if name.is_empty()),
    );
    is_constant
        && match strip(module, pointee).map(|ty| &module.debug_types[ty.0 as usize]) {
            Some(DebugType::Base { bits, float, .. }) => *bits == 8 && !float,
            None => true,
            Some(_) => false,
        }
}

fn is_number(module: &Module, ty: Option<DebugTypeId>) -> bool {
    let ty = strip(module, ty).map(|ty| &module.debug_types[ty.0 as usize]);
    matches!(ty, Some(DebugType::Base { bits, float: false, .. }) if *bits >= 16)
}

/// How many blocks of the program's own code calls by name lead to from a function.
fn reach(module: &Module, function: FunctionId) -> usize {
    let mut seen = vec![false; module.functions.len()];
    let (mut waiting, mut blocks) = (vec![function], 0);
    while let Some(id) = waiting.pop() {
        let body = module.function(id);
        if std::mem::replace(&mut seen[id.0 as usize], true) || body.library {
            continue;
        }
        blocks += body.blocks.len();
        for instruction in body.blocks.iter().flat_map(|block| &block.instructions) {
            if let Operation::Call { callee: parallax_cmodule::Callee::Function(callee), .. } =
                instruction.operation
            {
                waiting.push(callee);
            }
        }
    }
    blocks
}
