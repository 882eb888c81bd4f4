//! Null that is stored in memory just before it is freed, so that nothing reads it.
//!
//! `p->next = NULL; free(p);` within one block, where nothing between the two may read the field.

use crate::graph::{Graph, Origin, Source};
use parallax_cmodule::{Block, BlockId, Callee, Constant, FunctionId, Module, Operand, Operation, Register};
use parallax_points::{Points, Site, has_body};
use rustc_hash::{FxHashMap, FxHashSet};

/// Sources of null that are stored just before what holds them is freed.
pub(crate) fn unread(module: &Module, points: &Points, graph: &Graph) -> FxHashSet<Source> {
    let mut dead: FxHashSet<Site> = FxHashSet::default();
    for id in (0..module.functions.len() as u32).map(FunctionId).filter(|&id| has_body(module, id)) {
        for (number, block) in module.function(id).blocks.iter().enumerate() {
            let start = Site { function: id, block: BlockId(number as u32), index: 0 };
            dead.extend(Walk::new(module, points, start).run(block));
        }
    }
    let is_dead = |source: &&Source| {
        source.origin == Origin::Constant && source.site.is_some_and(|site| dead.contains(&site))
    };
    graph.sources.iter().filter(is_dead).copied().collect()
}

/// What an address is computed from: a slot, with the number of stores into it so far, or a register.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Root {
    Slot(u32, u32),
    Register(Register),
}

struct Walk<'m> {
    module: &'m Module,
    points: &'m Points,
    start: Site,
    stores_to: FxHashMap<u32, u32>,
    places: FxHashMap<Register, (Root, i64)>,
    /// Stores of null that nothing has read yet: where, the register that holds the address, and what that is.
    pending: Vec<(Site, Register, Root, i64)>,
}

impl<'m> Walk<'m> {
    fn new(module: &'m Module, points: &'m Points, start: Site) -> Self {
        let (stores_to, places) = (FxHashMap::default(), FxHashMap::default());
        Walk { module, points, start, stores_to, places, pending: Vec::new() }
    }

    fn place(&self, register: Register) -> (Root, i64) {
        self.places.get(&register).copied().unwrap_or((Root::Register(register), 0))
    }

    fn run(mut self, block: &Block) -> Vec<Site> {
        let mut dead = Vec::new();
        for (index, instruction) in block.instructions.iter().enumerate() {
            match (&instruction.operation, instruction.result) {
                (Operation::SlotLoad { slot }, Some(result)) => {
                    let stores = self.stores_to.get(&slot.0).copied().unwrap_or(0);
                    self.places.insert(result, (Root::Slot(slot.0, stores), 0));
                }
                (Operation::SlotStore { slot, .. }, _) => *self.stores_to.entry(slot.0).or_default() += 1,
                (Operation::Address { base: Operand::Register(base), offset, indices, .. }, Some(result))
                    if indices.is_empty() =>
                {
                    let (root, at) = self.place(*base);
                    self.places.insert(result, (root, at.saturating_add(*offset)));
                }
                (Operation::Store { pointer, value, of }, _) => {
                    let is_null =
                        value.constant().is_some_and(|id| matches!(self.module.constant(id), Constant::Null));
                    if let (Operand::Register(pointer), true) = (pointer, is_null)
                        && self.module.ty(*of).store_size == 8
                    {
                        let (root, at) = self.place(*pointer);
                        let site = Site { index: index as u32, ..self.start };
                        self.pending.push((site, *pointer, root, at));
                    }
                }
                (Operation::Load { pointer: Operand::Register(pointer) }, _) => self.read(*pointer),
                (Operation::Call { callee, arguments }, _) => {
                    let name = match callee {
                        Callee::Function(id) if !has_body(self.module, *id) => {
                            self.module.function(*id).name.as_str()
                        }
                        _ => "",
                    };
                    let given = match arguments.first().map(|argument| argument.value) {
                        Some(Operand::Register(register)) => Some(self.place(register)),
                        _ => None,
                    };
                    match (name, given) {
                        ("free" | "cfree", Some((root, 0))) => {
                            let gone = |(_, _, of, at): &(Site, Register, Root, i64)| *of == root && *at >= 0;
                            dead.extend(self.pending.iter().filter(|one| gone(one)).map(|one| one.0));
                            self.pending.retain(|one| !gone(one));
                        }
                        ("free" | "cfree", _) => {}
                        (name, _) if name.starts_with("llvm.dbg") || name.starts_with("llvm.lifetime") => {}
                        _ => self.pending.clear(),
                    }
                }
                (operation, _) if touches_memory(operation) => self.pending.clear(),
                _ => {}
            }
        }
        dead
    }

    /// What a pointer leads to is read.
    fn read(&mut self, pointer: Register) {
        let (root, at) = self.place(pointer);
        let function = self.start.function;
        let node = |register| self.points.flows.register(function, register);
        let read = self.points.accessed(self.module, node(pointer));
        self.pending.retain(|(_, stored, of, to)| match *of == root {
            true => (at - to).abs() >= 8,
            false => {
                let written = self.points.accessed(self.module, node(*stored));
                !written.is_empty() && !read.is_empty() && !written.iter().any(|cell| read.contains(cell))
            }
        });
    }
}

/// Whether an instruction that is not followed may read memory.
fn touches_memory(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Load { .. }
            | Operation::AtomicUpdate { .. }
            | Operation::CompareExchange { .. }
            | Operation::VariadicArgument { .. }
            | Operation::Unsupported(_)
    )
}
