//! Merging at joins: states that a branch parted wait for each other where its ways meet again.
//!
//! The place is the branch's immediate post-dominator. Every state is on its way to the joins in its list, the nearest
//! last; a join is over when every state on its way there has arrived, ended or left the function.
//!
//! By [`Merge::Auto`] states meet where that pays: behind a branch that its ways do not come back to, and where little of what
//! follows asks about what they know differently. States between the branch and the join run first, so that waits are
//! short. A join ends after [`PATIENCE`] instructions, even if states are missing. A merged state keeps the two states it was made
//! of: if a question about it is too hard, the search goes back to those two, and no states meet at that place again.

use super::estimate::Estimates;
use super::settings::Merge;
use parallax_cmachine::{Host, Machine, Merged, State};
use parallax_cmodule::{BlockId, FunctionId, Module, Operation, Terminator};
use parallax_path::Chain;
use parallax_sem::Core;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::rc::Rc;

/// Instructions of the search that a join may take by [`Merge::Auto`].
const PATIENCE: u64 = 20_000;
/// States that one that arrives is compared with.
const TRIES: usize = 8;
/// Places where states that met asked what was too hard: with more of them, merging does not suit the program.
const MOST_TOO_HARD: usize = 16;
/// Merges one behind the other that can be undone.
const KEPT: u32 = 16;

struct Join<C: Core> {
    depth: usize,
    serial: u64,
    block: BlockId,
    arrived: Vec<State<C>>,
    /// States on their way or arrived.
    expected: usize,
    /// Instructions that the search had made when it began.
    since: u64,
    /// Whether states pass here without waiting.
    over: bool,
}

impl<C: Core> Join<C> {
    /// Lowers the number of expected states unless the join is over.
    fn expect_fewer(&mut self, states: usize) {
        if !self.over {
            self.expected -= states;
        }
    }
}

/// The joins of an exploration.
pub(super) struct Joins<C: Core> {
    joins: Vec<Join<C>>,
    places: FxHashMap<FunctionId, Vec<Option<BlockId>>>,
    /// Whether a merge pays, where that decides.
    estimates: Option<Estimates>,
    /// Whether merged states have taken too much of the solver's time: by [`Merge::Auto`] no more are made then.
    tired: bool,
    /// Places where states that met asked what was too hard: nothing meets there again.
    too_hard: FxHashSet<(FunctionId, BlockId)>,
    /// Joins that are not over, the oldest first; only where patience ends.
    open: VecDeque<u32>,
    /// States that may run again.
    pub(super) released: Vec<State<C>>,
}

impl<C: Core> Joins<C> {
    pub(super) fn new(merge: Merge) -> Self {
        let estimates = (merge == Merge::Auto).then(Estimates::default);
        let (places, open) = (FxHashMap::default(), VecDeque::new());
        Joins {
            joins: Vec::new(),
            places,
            estimates,
            tired: false,
            too_hard: FxHashSet::default(),
            open,
            released: Vec::new(),
        }
    }

    /// No more states meet.
    pub(super) fn tire(&mut self) {
        self.tired = self.estimates.is_some();
    }

    /// Whether no more states meet.
    pub(super) fn is_tired(&self) -> bool {
        self.tired
    }

    /// What met at a place asks questions that are too hard.
    pub(super) fn avoid(&mut self, place: (FunctionId, BlockId)) {
        self.too_hard.insert(place);
        if self.too_hard.len() > MOST_TOO_HARD {
            self.tire();
        }
    }

    /// Whether a state runs before others because it is on its way to a join.
    pub(super) fn hurries(&self, state: &State<C>) -> bool {
        self.estimates.is_some() && state.joins.newest_first().any(|&join| !self.joins[join as usize].over)
    }

    /// Ends joins that take too long: who has arrived goes on.
    pub(super) fn lose_patience<H: Host<C>>(&mut self, machine: &mut Machine<'_, C, H>, steps: u64) {
        while let Some(&number) = self.open.front() {
            let join = &mut self.joins[number as usize];
            if !join.over && steps - join.since <= PATIENCE {
                return;
            }
            self.open.pop_front();
            if !std::mem::replace(&mut join.over, true) {
                join.expected = join.arrived.len();
                self.complete(machine, number);
            }
        }
    }

    /// States that still wait for others.
    pub(super) fn abandon(&mut self) -> Vec<State<C>> {
        self.joins.iter_mut().flat_map(|join| std::mem::take(&mut join.arrived)).collect()
    }

    /// A state became several. Where a branch parted them they are to meet again.
    pub(super) fn parted(
        &mut self,
        module: &Module,
        branched: bool,
        steps: u64,
        states: &mut [&mut State<C>],
    ) {
        let more = states.len().saturating_sub(1);
        let [first, ..] = &*states else { return };
        for &join in first.joins.newest_first() {
            self.joins[join as usize].expected += more;
        }
        if !branched || self.tired {
            return;
        }
        let (depth, function) = (first.frames.len(), first.frame().function);
        let (serial, branch) = (first.frame().serial, first.frame().previous);
        let acyclic = self.estimates.is_some();
        let places = self.places.entry(function).or_insert_with(|| meeting_places(module, function, acyclic));
        let Some(block) = places[branch.0 as usize] else { return };
        if self.too_hard.contains(&(function, block)) {
            return;
        }
        if let Some(&last) = first.joins.last() {
            let last = &self.joins[last as usize];
            if (last.depth, last.serial, last.block) == (depth, serial, block) {
                return;
            }
        }
        let number = self.joins.len() as u32;
        let (arrived, expected) = (Vec::new(), states.len());
        self.joins.push(Join { depth, serial, block, arrived, expected, since: steps, over: false });
        if self.estimates.is_some() {
            self.open.push_back(number);
        }
        let joins = first.joins.with(number);
        states.iter_mut().for_each(|state| state.joins = joins.clone());
    }

    /// Whether a state is where it waits for others; if so it is kept here.
    pub(super) fn arrives<H: Host<C>>(
        &mut self,
        machine: &mut Machine<'_, C, H>,
        mut state: State<C>,
    ) -> Option<State<C>> {
        loop {
            let Some(&number) = state.joins.last() else { return Some(state) };
            let join = &mut self.joins[number as usize];
            if join.over {
                state.joins.pop();
                continue;
            }
            let there = state.frames.get(join.depth - 1).filter(|frame| frame.serial == join.serial);
            match there {
                None => {
                    // The function returned by another way: there is nothing to wait for.
                    state.joins.pop();
                    join.expect_fewer(1);
                    self.complete(machine, number);
                }
                Some(frame)
                    if state.frames.len() == join.depth
                        && frame.block == join.block
                        && frame.index as usize == phis(machine.module, frame.function, frame.block) =>
                {
                    join.arrived.push(state);
                    self.complete(machine, number);
                    return None;
                }
                Some(_) => return Some(state),
            }
        }
    }

    /// A state ended.
    pub(super) fn ends<H: Host<C>>(&mut self, machine: &mut Machine<'_, C, H>, joins: &Chain<u32>) {
        for &number in joins.newest_first() {
            self.joins[number as usize].expect_fewer(1);
        }
        for &number in joins.newest_first() {
            self.complete(machine, number);
        }
    }

    /// Merges what has arrived, when nothing else is on its way.
    fn complete<H: Host<C>>(&mut self, machine: &mut Machine<'_, C, H>, number: u32) {
        let join = &mut self.joins[number as usize];
        if join.arrived.is_empty() || join.arrived.len() < join.expected {
            return;
        }
        let arrived = std::mem::take(&mut join.arrived);
        (join.expected, join.over) = (0, true);
        let block = join.block;
        let before = arrived.len();
        let mut merged: Vec<State<C>> = Vec::new();
        'states: for mut state in arrived {
            for index in (0..merged.len()).take(TRIES) {
                if let Some(estimates) = &mut self.estimates {
                    let differ = machine.differences(&merged[index], &state);
                    if self.tired || !estimates.pays(machine.module, state.frame().function, block, &differ) {
                        continue;
                    }
                }
                let other = merged.swap_remove(index);
                let place = (state.frame().function, block);
                let before = self.estimates.is_some().then(|| [other.clone(), state.clone()]);
                match machine.merge(other, state) {
                    Ok(mut one) => {
                        one.merged = before.map(|states| kept(states, place, one.path.conjuncts().len()));
                        merged.push(one);
                        continue 'states;
                    }
                    Err((other, again)) => {
                        merged.push(other);
                        let last = merged.len() - 1;
                        merged.swap(index, last);
                        state = again;
                    }
                }
            }
            merged.push(state);
        }
        let fewer = before - merged.len();
        for mut state in merged {
            state.joins.pop();
            self.released.push(state);
        }
        if let Some(state) = self.released.last() {
            for &outer in state.joins.newest_first() {
                self.joins[outer as usize].expect_fewer(fewer);
            }
        }
    }
}

/// Two states that become one, as the one keeps them.
fn kept<C: Core>(mut states: [State<C>; 2], place: (FunctionId, BlockId), conjuncts: usize) -> Rc<Merged<C>> {
    let deepest = |which: usize| {
        let depths = states.iter().filter_map(|state| Some(state.merged.as_ref()?.depth[which]));
        depths.max().unwrap_or(0) + 1
    };
    let [depth, mut kept] = [deepest(0), deepest(1)];
    if kept > KEPT {
        states.iter_mut().for_each(|state| state.merged = None);
        kept = 1;
    }
    Rc::new(Merged { states, place, conjuncts, depth: [depth, kept] })
}

/// Index of the first instruction of a block that is no phi: where a state is that has just entered it.
pub(super) fn phis(module: &Module, function: FunctionId, block: BlockId) -> usize {
    let instructions = &module.function(function).blocks[block.0 as usize].instructions;
    instructions.iter().take_while(|i| matches!(i.operation, Operation::Phi { .. })).count()
}

/// For each block, the first block that every way from it to a return comes through (Cooper, Harvey, Kennedy: "A simple,
/// fast dominance algorithm", on the reversed graph). If `acyclic`, only where no way from the block comes back to it
/// before.
fn meeting_places(module: &Module, function: FunctionId, acyclic: bool) -> Vec<Option<BlockId>> {
    let blocks = &module.function(function).blocks;
    let exit = blocks.len();
    let mut predecessors: Vec<Vec<usize>> = vec![Vec::new(); exit + 1];
    let mut after: Vec<Vec<usize>> = Vec::with_capacity(exit);
    for (number, block) in blocks.iter().enumerate() {
        let mut targets: Vec<usize> =
            block.terminator.successors().into_iter().map(|b| b.0 as usize).collect();
        if matches!(block.terminator, Terminator::Return(_)) {
            targets.push(exit);
        }
        for &target in &targets {
            predecessors[target].push(number);
        }
        after.push(targets);
    }
    // Blocks in the order in which a walk back from the exit leaves them.
    let mut order = Vec::new();
    let mut seen = vec![false; exit + 1];
    let mut stack = vec![(exit, 0)];
    seen[exit] = true;
    while let Some((node, next)) = stack.pop() {
        match predecessors[node].get(next) {
            Some(&before) => {
                stack.push((node, next + 1));
                if !std::mem::replace(&mut seen[before], true) {
                    stack.push((before, 0));
                }
            }
            None => order.push(node),
        }
    }
    let mut position = vec![usize::MAX; exit + 1];
    for (at, &node) in order.iter().enumerate() {
        position[node] = at;
    }
    let mut meets: Vec<Option<usize>> = vec![None; exit + 1];
    meets[exit] = Some(exit);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().rev().skip(1) {
            let mut found: Option<usize> = None;
            for &target in &after[node] {
                if meets[target].is_none() {
                    continue;
                }
                found = Some(match found {
                    None => target,
                    Some(other) => {
                        let (mut x, mut y) = (target, other);
                        while x != y {
                            while position[x] < position[y] {
                                x = meets[x].unwrap_or(exit);
                            }
                            while position[y] < position[x] {
                                y = meets[y].unwrap_or(exit);
                            }
                        }
                        x
                    }
                });
            }
            if found != meets[node] {
                meets[node] = found;
                changed = true;
            }
        }
    }
    let place = |node: usize| meets[node].filter(|&m| m != exit && !(acyclic && comes_back(&after, node, m)));
    (0..exit).map(|node| place(node).map(|m| BlockId(m as u32))).collect()
}

/// Whether a way leads from a block back to it without coming through another.
fn comes_back(after: &[Vec<usize>], block: usize, without: usize) -> bool {
    let mut seen = vec![false; after.len() + 1];
    seen[without] = true;
    let mut waiting = after[block].clone();
    while let Some(next) = waiting.pop() {
        if next == block {
            return true;
        }
        if !std::mem::replace(&mut seen[next], true) && next < after.len() {
            waiting.extend(&after[next]);
        }
    }
    false
}
