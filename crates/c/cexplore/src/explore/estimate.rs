//! How many questions a merge would add: the query count estimation of Kuznetsov, Kinder, Bucur and Candea ("Efficient
//! state merging in symbolic execution", 2012).
//!
//! What two states know differently is unknown once they are one, and every branch, access or division behind the join
//! that depends on it becomes a question. The estimate counts these places, and all such places, each weighted by how
//! likely control comes there: each side of a branch has four fifths of the weight of the way before it.

use parallax_cmachine::Differences;
use parallax_cmodule::{
    BlockId, Callee, Function, FunctionId, Module, Operand, Operation, Register, Terminator,
};
use parallax_op::BinOp;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What is left of a way's weight on each side of a branch.
const SHARE: f64 = 0.8;
/// A way with less weight is not followed.
const LEAST: f64 = 0.01;
/// Blocks that a way may come through.
const FAR: usize = 256;
/// Calls inside calls that are counted.
const DEEP: u32 = 3;
/// A merge saves the questions of one of the two states, and pays when it adds at most this part of them. Those it adds are
/// harder: with a half, parsers of real libraries come to a small part of the code that they come to without merging.
const TOLERATED: f64 = 0.05;

/// Estimates of a module's functions, made when they are asked for.
#[derive(Default)]
pub(super) struct Estimates {
    functions: FxHashMap<FunctionId, Flow>,
    weights: FxHashMap<(FunctionId, BlockId), Vec<f64>>,
    totals: FxHashMap<(FunctionId, u32), f64>,
}

/// Where values of one function go. Its variables are its registers, its slots, and all of memory as the last.
struct Flow {
    slots: usize,
    memory: usize,
    /// For each variable, those that are computed from it.
    into: Vec<Vec<u32>>,
    /// For each block, variables that would be asked about there, and how often.
    asked: Vec<Vec<(u32, f64)>>,
    /// For each block, variables that are used before they are set, from its start on; memory always is.
    live: Vec<Vec<u64>>,
}

impl Estimates {
    /// Whether making one state of two at the start of a block pays.
    pub(super) fn pays(
        &mut self,
        module: &Module,
        function: FunctionId,
        block: BlockId,
        differ: &Differences,
    ) -> bool {
        if differ.registers.is_empty() && differ.slots.is_empty() && !differ.memory {
            return true;
        }
        self.know(module, function);
        let from_here = || weights(module.function(function), block);
        let weights = self.weights.entry((function, block)).or_insert_with(from_here);
        let flow = &self.functions[&function];
        let reached = flow.reached_from(block, differ);
        let mut added = 0.0;
        let mut all = 0.0;
        for (asked, weight) in flow.asked.iter().zip(&*weights) {
            for &(variable, times) in asked {
                all += weight * times;
                if reached[variable as usize] {
                    added += weight * times;
                }
            }
        }
        added <= TOLERATED * all
    }

    fn know(&mut self, module: &Module, function: FunctionId) {
        if !self.functions.contains_key(&function) {
            let flow = Flow::of(module, function, &mut |callee| self.total(module, callee, DEEP));
            self.functions.insert(function, flow);
        }
    }

    /// Places in a function and in what it calls where something may be asked.
    fn total(&mut self, module: &Module, function: FunctionId, deep: u32) -> f64 {
        if let Some(&known) = self.totals.get(&(function, deep)) {
            return known;
        }
        let body = module.function(function);
        let mut total = 0.0;
        if body.is_defined() && deep > 0 {
            // A call of itself counts as nothing.
            self.totals.insert((function, deep), 0.0);
            let weights = weights(body, BlockId(0));
            for (block, weight) in body.blocks.iter().zip(weights) {
                if weight == 0.0 {
                    continue;
                }
                let mut here = questions(&block.terminator);
                for instruction in &block.instructions {
                    here += match &instruction.operation {
                        Operation::Call { callee: Callee::Function(callee), .. } => {
                            self.total(module, *callee, deep - 1)
                        }
                        operation => asks(operation).map_or(0.0, |_| 1.0),
                    };
                }
                total += weight * here;
            }
        }
        self.totals.insert((function, deep), total);
        total
    }
}

impl Flow {
    fn of(module: &Module, function: FunctionId, total: &mut dyn FnMut(FunctionId) -> f64) -> Flow {
        let body = module.function(function);
        let slots = body.registers as usize;
        let memory = slots + body.slots.len();
        let mut flow = Flow {
            slots,
            memory,
            into: vec![Vec::new(); memory + 1],
            asked: Vec::with_capacity(body.blocks.len()),
            live: Vec::new(),
        };
        for block in &body.blocks {
            let mut asked = Vec::new();
            for instruction in &block.instructions {
                flow.pass(&instruction.operation, instruction.result);
                if let Operation::Call { callee, .. } = &instruction.operation {
                    let inside = match callee {
                        Callee::Function(callee) => total(*callee),
                        Callee::Pointer(_) | Callee::Assembly(_) => 1.0,
                    };
                    let passed = registers(instruction.operation.operands());
                    asked.extend(passed.map(|variable| (variable, inside)));
                } else if let Some(operand) = asks(&instruction.operation) {
                    asked.extend(registers([operand]).map(|variable| (variable, 1.0)));
                }
            }
            let times = questions(&block.terminator);
            asked.extend(registers(block.terminator.operand()).map(|variable| (variable, times)));
            asked.retain(|(_, times)| *times > 0.0);
            flow.asked.push(asked);
        }
        flow.live = flow.liveness(body);
        flow
    }

    /// What an instruction computes from what.
    fn pass(&mut self, operation: &Operation, result: Option<Register>) {
        let memory = self.memory as u32;
        let used: Vec<u32> = registers(operation.operands()).collect();
        let mut targets: Vec<u32> = result.map(|register| register.0).into_iter().collect();
        let mut sources = used;
        match operation {
            Operation::SlotLoad { slot } => sources.push(self.slots as u32 + slot.0),
            Operation::SlotStore { slot, .. } => targets.push(self.slots as u32 + slot.0),
            Operation::Load { .. } | Operation::VariadicArgument { .. } => sources.push(memory),
            Operation::Store { .. } => targets.push(memory),
            Operation::Call { .. } | Operation::AtomicUpdate { .. } | Operation::CompareExchange { .. } => {
                sources.push(memory);
                targets.push(memory);
            }
            _ => {}
        }
        for source in sources {
            for &target in &targets {
                let into = &mut self.into[source as usize];
                if source != target && !into.contains(&target) {
                    into.push(target);
                }
            }
        }
    }

    /// Variables that depend on what two states at the start of a block know differently.
    fn reached_from(&self, block: BlockId, differ: &Differences) -> Vec<bool> {
        let live = &self.live[block.0 as usize];
        let is_live = |variable: &u32| live[*variable as usize / 64] >> (variable % 64) & 1 == 1;
        let slots = differ.slots.iter().map(|slot| self.slots as u32 + slot);
        let mut waiting: Vec<u32> = differ.registers.iter().copied().chain(slots).filter(is_live).collect();
        if differ.memory {
            waiting.push(self.memory as u32);
        }
        let mut reached = vec![false; self.memory + 1];
        waiting.iter().for_each(|&variable| reached[variable as usize] = true);
        while let Some(variable) = waiting.pop() {
            for &next in &self.into[variable as usize] {
                if !std::mem::replace(&mut reached[next as usize], true) {
                    waiting.push(next);
                }
            }
        }
        reached
    }

    /// Registers and slots that are used before they are set, from the start of each block.
    fn liveness(&self, body: &Function) -> Vec<Vec<u64>> {
        let words = self.memory / 64 + 1;
        let mut used = vec![vec![0u64; words]; body.blocks.len()];
        let mut set = used.clone();
        // What a phi uses is used where control comes from.
        let mut at_end = used.clone();
        for (number, block) in body.blocks.iter().enumerate() {
            let mut note = |variables: &mut dyn Iterator<Item = u32>, set: &[u64]| {
                for variable in variables {
                    let (word, bit) = (variable as usize / 64, 1 << (variable % 64));
                    used[number][word] |= bit & !set[word];
                }
            };
            for instruction in &block.instructions {
                match &instruction.operation {
                    Operation::Phi { incoming } => {
                        for (from, value) in incoming {
                            for variable in registers([*value]) {
                                at_end[from.0 as usize][variable as usize / 64] |= 1 << (variable % 64);
                            }
                        }
                    }
                    Operation::SlotLoad { slot } => {
                        note(&mut std::iter::once(self.slots as u32 + slot.0), &set[number]);
                    }
                    operation => note(&mut registers(operation.operands()), &set[number]),
                }
                let slot = match &instruction.operation {
                    Operation::SlotStore { slot, .. } => Some(self.slots as u32 + slot.0),
                    _ => None,
                };
                for variable in instruction.result.map(|register| register.0).into_iter().chain(slot) {
                    set[number][variable as usize / 64] |= 1 << (variable % 64);
                }
            }
            note(&mut registers(block.terminator.operand()), &set[number]);
        }
        let mut live = used;
        let mut changed = true;
        while changed {
            changed = false;
            for number in (0..body.blocks.len()).rev() {
                for word in 0..words {
                    let after = body.blocks[number]
                        .terminator
                        .successors()
                        .iter()
                        .fold(at_end[number][word], |all, next| all | live[next.0 as usize][word]);
                    let here = live[number][word] | after & !set[number][word];
                    changed |= here != live[number][word];
                    live[number][word] = here;
                }
            }
        }
        live
    }
}

fn registers(operands: impl IntoIterator<Item = Operand>) -> impl Iterator<Item = u32> {
    operands.into_iter().filter_map(|operand| match operand {
        Operand::Register(register) => Some(register.0),
        Operand::Constant(_) => None,
    })
}

/// What an instruction asks about, if it is unknown: an address, a divisor, a size.
fn asks(operation: &Operation) -> Option<Operand> {
    match operation {
        Operation::Load { pointer }
        | Operation::Store { pointer, .. }
        | Operation::AtomicUpdate { pointer, .. }
        | Operation::CompareExchange { pointer, .. } => Some(*pointer),
        Operation::Binary { op, b, .. }
            if matches!(op.op, BinOp::Udiv | BinOp::Urem | BinOp::Sdiv | BinOp::Srem) =>
        {
            Some(*b)
        }
        Operation::Alloca { count, .. } => Some(*count),
        _ => None,
    }
}

/// How many questions the end of a block is.
fn questions(terminator: &Terminator) -> f64 {
    match terminator {
        Terminator::Branch { .. } => 1.0,
        Terminator::Switch { cases, .. } => cases.len() as f64,
        Terminator::Indirect { targets, .. } => targets.len() as f64,
        _ => 0.0,
    }
}

/// How often control comes to each block from the start of one, as the estimate goes.
fn weights(function: &Function, from: BlockId) -> Vec<f64> {
    let mut all = vec![0.0; function.blocks.len()];
    let mut now = BTreeMap::from([(from, 1.0)]);
    for _ in 0..FAR {
        let mut next: BTreeMap<BlockId, f64> = BTreeMap::new();
        for (block, weight) in now {
            all[block.0 as usize] += weight;
            let successors = function.blocks[block.0 as usize].terminator.successors();
            let share = if successors.len() > 1 { weight * SHARE } else { weight };
            for to in successors.into_iter().filter(|_| share >= LEAST) {
                *next.entry(to).or_default() += share;
            }
        }
        if next.is_empty() {
            break;
        }
        now = next;
    }
    all
}
