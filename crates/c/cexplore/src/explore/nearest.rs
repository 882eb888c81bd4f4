//! How far a state is from code that no state has run: where a search turns that finds nothing new.
//!
//! The distance is counted in blocks, along branches, into called functions and back out of them, whatever conditions say. A
//! block that cannot be reached would draw the search for ever: each time a state is picked for its sake, it is taken to be
//! one block further away.

use parallax_cmachine::State;
use parallax_cmodule::{Callee, FunctionId, Module, Operation, Terminator};
use parallax_sem::Core;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Picks after which distances are worked out anew though nothing new was covered.
const STALE: u32 = 32;
/// Blocks for each of which one pick has to come before that: what it costs grows with the program.
const BLOCKS_A_PICK: usize = 8192;

/// The nearest block that was not covered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Near {
    pub(super) distance: u32,
    block: u32,
}

const NONE: Near = Near { distance: u32::MAX, block: 0 };

/// Distances of blocks, which have one number each over all functions. A call through a pointer is a block too, the last one: it leads to
/// every function whose address is taken.
pub(super) struct Nearest {
    /// The number of each function's first block.
    first: Vec<u32>,
    successors: Vec<Vec<u32>>,
    /// Blocks from which one step leads to a block, calls included.
    before: Vec<Vec<u32>>,
    /// How many blocks there are to the end of the function, this one included.
    to_return: Vec<u32>,
    /// Whether a block is the user's own code.
    own: Vec<bool>,
    near: Vec<Near>,
    /// How often a state was picked for the sake of a block.
    picked: Vec<u32>,
    /// How many blocks were covered when distances were worked out, and picks since.
    covered: usize,
    picks: u32,
}

impl Nearest {
    pub(super) fn new(module: &Module) -> Self {
        let mut first = Vec::with_capacity(module.functions.len());
        let mut blocks = 0;
        for function in &module.functions {
            first.push(blocks);
            blocks += function.blocks.len() as u32;
        }
        let (count, through_pointer) = (blocks as usize + 1, blocks);
        let mut nearest = Nearest {
            successors: vec![Vec::new(); count],
            before: vec![Vec::new(); count],
            to_return: vec![u32::MAX; count],
            own: vec![false; count],
            near: vec![NONE; count],
            picked: vec![0; count],
            covered: 0,
            picks: u32::MAX,
            first,
        };
        let entry_of = |function: FunctionId| {
            module.function(function).is_defined().then(|| nearest.first[function.0 as usize])
        };
        let mut calls = Vec::new();
        for (&start, function) in nearest.first.iter().zip(&module.functions) {
            for (number, block) in (start..).zip(&function.blocks) {
                nearest.own[number as usize] = !function.library;
                for to in block.terminator.successors() {
                    nearest.successors[number as usize].push(start + to.0);
                    nearest.before[(start + to.0) as usize].push(number);
                }
                for instruction in &block.instructions {
                    let Operation::Call { callee, .. } = &instruction.operation else { continue };
                    match callee {
                        Callee::Function(callee) => calls.extend(entry_of(*callee).map(|to| (number, to))),
                        Callee::Pointer(_) => calls.push((number, through_pointer)),
                        Callee::Assembly(_) => {}
                    }
                }
            }
        }
        let taken = (0..).map(FunctionId).zip(module.taken_functions()).filter(|(_, taken)| *taken);
        calls.extend(taken.filter_map(|(function, _)| entry_of(function)).map(|to| (through_pointer, to)));
        nearest.ways_out(module);
        for (from, to) in calls {
            nearest.before[to as usize].push(from);
        }
        nearest
    }

    /// Breadth first from blocks that return. Calls are no steps yet.
    fn ways_out(&mut self, module: &Module) {
        let mut line = VecDeque::new();
        for (&start, function) in self.first.iter().zip(&module.functions) {
            for (number, block) in (start..).zip(&function.blocks) {
                if matches!(block.terminator, Terminator::Return(_)) {
                    self.to_return[number as usize] = 1;
                    line.push_back(number as usize);
                }
            }
        }
        while let Some(number) = line.pop_front() {
            for &earlier in &self.before[number] {
                if self.to_return[earlier as usize] == u32::MAX {
                    self.to_return[earlier as usize] = self.to_return[number] + 1;
                    line.push_back(earlier as usize);
                }
            }
        }
    }

    /// Takes in what was covered since, if it is time.
    pub(super) fn follow(&mut self, covered: &FxHashMap<(FunctionId, u32), u64>) {
        let stale = if self.covered == covered.len() { STALE } else { 0 };
        if self.picks < stale.max((self.own.len() / BLOCKS_A_PICK) as u32) {
            return;
        }
        (self.covered, self.picks) = (covered.len(), 0);
        let mut new = self.own.clone();
        for &(function, block) in covered.keys() {
            new[(self.first[function.0 as usize] + block) as usize] = false;
        }
        self.near.fill(NONE);
        let new = (0..).zip(new).filter(|&(_, new)| new).map(|(block, _)| block);
        let mut waiting: BinaryHeap<_> = new
            .map(|block: u32| Reverse((Near { distance: self.picked[block as usize], block }, block)))
            .collect();
        while let Some(Reverse((near, number))) = waiting.pop() {
            if self.near[number as usize] <= near {
                continue;
            }
            self.near[number as usize] = near;
            let further = Near { distance: near.distance + 1, ..near };
            for &earlier in &self.before[number as usize] {
                if further < self.near[earlier as usize] {
                    waiting.push(Reverse((further, earlier)));
                }
            }
        }
    }

    /// The block that was not covered and that is nearest to where a state goes on, in any of its calls.
    pub(super) fn of<C: Core>(&self, state: &State<C>) -> Near {
        let (mut best, mut out) = (NONE, 0u32);
        for frame in state.frames.iter().rev() {
            let number = (self.first[frame.function.0 as usize] + frame.block.0) as usize;
            for &next in &self.successors[number] {
                let near = self.near[next as usize];
                best = best.min(Near { distance: near.distance.saturating_add(out), ..near });
            }
            out = out.saturating_add(self.to_return[number]);
            if out >= best.distance {
                break;
            }
        }
        best
    }

    /// A state was picked for being near.
    pub(super) fn picked<C: Core>(&mut self, state: &State<C>) {
        let near = self.of(state);
        if near.distance < u32::MAX {
            self.picks = self.picks.saturating_add(1);
            self.picked[near.block as usize] += 1;
        }
    }
}
