//! Who calls whom, of the functions that can run.

use crate::region::{Program, around};
use parallax_cmodule::{BlockId, Callee, FunctionId, Module, Operation};
use parallax_points::{Flow, Points, Site, has_body};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// Functions that can run when the program starts at a function, those behind blocks included; and constructors and
/// destructors with what they call.
pub(crate) fn reachable(module: &Module, points: &Points, from: FunctionId) -> FxHashSet<FunctionId> {
    let mut waiting = around(module);
    waiting.push(from);
    let mut seen: FxHashSet<FunctionId> = waiting.iter().copied().collect();
    while let Some(function) = waiting.pop() {
        for callee in callees(module, points, function) {
            if seen.insert(callee) {
                waiting.push(callee);
            }
        }
    }
    seen
}

/// Functions with a body that a function may call.
pub(crate) fn callees(module: &Module, points: &Points, function: FunctionId) -> Vec<FunctionId> {
    let range = points.flows.ranges[function.0 as usize].clone();
    let mut found = Vec::new();
    let mut sites: BTreeSet<Site> = BTreeSet::new();
    for (site, flow) in &points.flows.flows[range] {
        if matches!(flow, Flow::Call(_)) && sites.insert(*site) {
            found.extend(points.targets(*site).iter().copied().filter(|&f| has_body(module, f)));
        }
    }
    found
}

/// The call graph of what can run from an entry.
pub(crate) struct Calls<'m> {
    program: &'m Program<'m>,
    callers: FxHashMap<FunctionId, Vec<FunctionId>>,
    closures: RefCell<FxHashMap<FunctionId, Rc<FxHashSet<FunctionId>>>>,
}

impl<'m> Calls<'m> {
    pub(crate) fn of(program: &'m Program<'m>, entry: FunctionId) -> Self {
        let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
        for caller in reachable(program.module, program.points, entry) {
            for callee in callees(program.module, program.points, caller) {
                callers.entry(callee).or_default().push(caller);
            }
        }
        for list in callers.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        Calls { program, callers, closures: RefCell::default() }
    }

    /// Functions that call a function.
    pub(crate) fn callers(&self, function: FunctionId) -> &[FunctionId] {
        self.callers.get(&function).map(Vec::as_slice).unwrap_or_default()
    }

    /// A function and everything it may call.
    pub(crate) fn closure(&self, function: FunctionId) -> Rc<FxHashSet<FunctionId>> {
        if let Some(known) = self.closures.borrow().get(&function) {
            return known.clone();
        }
        let Program { module, points, .. } = self.program;
        let all = reachable(module, points, function).into_iter().filter(|&id| has_body(module, id));
        let all: Rc<FxHashSet<FunctionId>> = Rc::new(all.collect());
        self.closures.borrow_mut().insert(function, all.clone());
        all
    }

    /// The nearest function above one that calls all of these, itself included.
    pub(crate) fn common_caller(&self, from: FunctionId, all: &BTreeSet<FunctionId>) -> Option<FunctionId> {
        let mut waiting = VecDeque::from([from]);
        let mut seen = FxHashSet::from_iter([from]);
        while let Some(at) = waiting.pop_front() {
            let below = self.closure(at);
            if all.iter().all(|id| below.contains(id)) {
                return Some(at);
            }
            waiting.extend(self.callers(at).iter().copied().filter(|&caller| seen.insert(caller)));
        }
        None
    }

    /// What executing a function costs, roughly: its instructions, and perhaps those of what it calls, more where there
    /// are loops and calls that cannot be executed.
    pub(crate) fn cost(&self, function: FunctionId, with_callees: bool) -> u64 {
        let (mut size, mut loops, mut unknown) = (0u64, 0u64, 0u64);
        let all =
            if with_callees { self.closure(function) } else { Rc::new(FxHashSet::from_iter([function])) };
        for id in all.iter() {
            for (number, block) in self.program.module.function(*id).blocks.iter().enumerate() {
                size += block.instructions.len() as u64 + 1;
                let back = |target: &BlockId| target.0 as usize <= number;
                loops += u64::from(block.terminator.successors().iter().any(back));
                for instruction in &block.instructions {
                    if let Operation::Call { callee, .. } = &instruction.operation {
                        unknown += u64::from(match callee {
                            Callee::Function(id) => !self.program.module.function(*id).is_defined(),
                            Callee::Pointer(_) | Callee::Assembly(_) => true,
                        });
                    }
                }
            }
        }
        size.saturating_mul(1 + loops).saturating_mul(1 + unknown)
    }
}
