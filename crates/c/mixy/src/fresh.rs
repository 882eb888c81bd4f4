//! Memory that is set to zero, and whose pointers are all stored before anything else sees them.
//!
//! `p = calloc(1, sizeof *p); p->next = q; return p;` leaves no null in `next`: between the allocation and the place where the
//! address of the new object goes anywhere (an argument, memory, a result) nothing reads the field, and every way there stores it. For
//! inference memory is zero for ever, since it knows no order. So for each call that makes new memory the function around it is walked
//! forward: which slots hold the address, and which words were stored, until the address is *published*. What is stored at every
//! publication, and was read at no earlier place, is never seen as zero.
//!
//! An object is one of each execution of the call: when the call is executed again, the older object counts as published.

use crate::graph::{Graph, Origin, Source};
use parallax_cmodule::{
    BlockId, Callee, Constant, Function, FunctionId, Module, Operand, Operation, Register, Terminator,
};
use parallax_op::RelOp;
use parallax_points::external::{Effect, effects};
use parallax_points::{ObjectId, ObjectKind, Points, Site, Value, has_body};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Words of one object that are followed.
const MOST_WORDS: i64 = 512;

/// Sources of null in new memory that nothing ever reads.
pub(crate) fn overwritten(module: &Module, points: &Points, graph: &Graph) -> FxHashSet<Source> {
    let mut cleared: FxHashMap<crate::graph::Var, Vec<Source>> = FxHashMap::default();
    for source in graph.sources.iter().filter(|source| source.origin == Origin::Cleared) {
        cleared.entry(source.var).or_default().push(*source);
    }
    let mut found = FxHashSet::default();
    for (id, object) in points.objects() {
        let ObjectKind::Heap(site, 0) = object.kind else { continue };
        let alone = points.flows.object(ObjectKind::Heap(site, 1)).is_none();
        let cells: Vec<(i64, crate::graph::Var)> =
            points.cells_of(id).map(|(at, cell)| (at, graph.cell(cell))).collect();
        let any = cells.iter().any(|(_, var)| cleared.contains_key(var));
        if object.modulus != 0 || !alone || !any || !is_kept_unread(module, site) {
            continue;
        }
        let Some(walk) = Walk::of(module, points, site, id) else { continue };
        for (at, var) in cells.into_iter().filter(|(at, _)| walk.is_stored(*at)) {
            debug_assert!(at % 8 == 0, "cells are words");
            let sources = cleared.get(&var).into_iter().flatten();
            let by = |source: &&Source| {
                source.site.is_some_and(|at| allocates_zeros(module, at) || walk.clears.contains(&at))
            };
            found.extend(sources.filter(by).copied());
        }
    }
    found
}

/// The instruction at a site.
fn operation(module: &Module, site: Site) -> Option<&Operation> {
    let block = &module.function(site.function).blocks[site.block.0 as usize];
    block.instructions.get(site.index as usize).map(|instruction| &instruction.operation)
}

/// Whether an instruction is the allocation of zeroed memory.
fn allocates_zeros(module: &Module, site: Site) -> bool {
    match operation(module, site) {
        Some(Operation::Call { callee: Callee::Function(id), .. }) => {
            let name = &module.function(*id).name;
            effects(name).is_some_and(|listed| listed.contains(&Effect::AllocatesZeroed))
        }
        _ => false,
    }
}

/// Whether memory comes out of a call as it was made: the library's functions do not read it, and those of the program that only
/// allocate must not either.
fn is_kept_unread(module: &Module, site: Site) -> bool {
    let mut waiting = match operation(module, site) {
        Some(Operation::Call { callee: Callee::Function(id), .. }) => vec![*id],
        _ => return false,
    };
    let mut seen: FxHashSet<FunctionId> = FxHashSet::default();
    while let Some(id) = waiting.pop() {
        if !has_body(module, id) || !seen.insert(id) {
            continue;
        }
        for instruction in module.function(id).blocks.iter().flat_map(|block| &block.instructions) {
            match &instruction.operation {
                Operation::Load { .. } if parallax_points::flow::carries(module, instruction.ty) => {
                    return false;
                }
                Operation::Call { callee: Callee::Function(id), .. } => waiting.push(*id),
                Operation::Call { .. } => return false,
                _ => {}
            }
        }
    }
    true
}

/// What is known of the newest object at a place.
#[derive(Clone, PartialEq, Eq)]
struct Live {
    /// Slots that hold its address; `false` where they may hold something else.
    slots: std::collections::BTreeMap<u32, bool>,
    /// Words that were stored on every way.
    stored: BTreeSet<i64>,
    /// Whether there is an object that was not published on every way here.
    sure: bool,
}

/// An address within the object, in a register: how far, and whether it surely is one.
type Held = FxHashMap<Register, (Option<i64>, bool)>;

struct Walk<'m> {
    module: &'m Module,
    points: &'m Points,
    function: &'m Function,
    site: Site,
    object: ObjectId,
    /// What made each register of a comparison.
    made: FxHashMap<Register, &'m Operation>,
    /// Registers that are used in another block than the one that makes them.
    elsewhere: FxHashSet<Register>,
    /// Words stored at every publication so far; none before the first.
    published: Option<BTreeSet<i64>>,
    /// Words that were read before.
    read: BTreeSet<i64>,
    /// Whether something was done that is not followed.
    lost: bool,
    /// Places that set all of the object to zero, and nothing else.
    clears: FxHashSet<Site>,
    unsure_clears: FxHashSet<Site>,
}

impl<'m> Walk<'m> {
    fn of(module: &'m Module, points: &'m Points, site: Site, object: ObjectId) -> Option<Walk<'m>> {
        let function = module.function(site.function);
        let strange = |terminator: &Terminator| {
            matches!(terminator, Terminator::Unsupported(_) | Terminator::Indirect { .. })
        };
        if function.blocks.iter().any(|block| strange(&block.terminator)) {
            return None;
        }
        let result = function.blocks[site.block.0 as usize].instructions[site.index as usize].result?;
        let node = points.flows.register(site.function, result);
        if !points.pointees(node).any(|place| place == (object, 0)) {
            return None;
        }
        let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
        let made = instructions.filter_map(|i| Some((i.result?, &i.operation))).collect();
        let mut walk = Walk {
            module,
            points,
            function,
            site,
            object,
            made,
            elsewhere: used_elsewhere(function),
            published: None,
            read: BTreeSet::new(),
            lost: false,
            clears: FxHashSet::default(),
            unsure_clears: FxHashSet::default(),
        };
        walk.run();
        let unsure = std::mem::take(&mut walk.unsure_clears);
        walk.clears.retain(|site| !unsure.contains(site));
        (!walk.lost).then_some(walk)
    }

    fn is_stored(&self, at: i64) -> bool {
        // What is never published is never read by others.
        !self.read.contains(&at) && self.published.as_ref().is_none_or(|stored| stored.contains(&at))
    }

    fn run(&mut self) {
        let mut entering: FxHashMap<BlockId, Option<Live>> = FxHashMap::default();
        entering.insert(BlockId(0), None);
        let mut waiting = vec![BlockId(0)];
        while let Some(block) = waiting.pop() {
            let live = entering.get(&block).cloned().flatten();
            for (to, live) in self.walked(block, live) {
                let joined = match entering.get(&to) {
                    None => live,
                    Some(known) => join(known.clone(), live),
                };
                if entering.get(&to) != Some(&joined) {
                    entering.insert(to, joined);
                    waiting.push(to);
                }
            }
        }
    }

    /// Walks through a block; what is known where control leaves it.
    fn walked(&mut self, block: BlockId, mut live: Option<Live>) -> Vec<(BlockId, Option<Live>)> {
        let mut held = Held::default();
        let function = self.function;
        let content = &function.blocks[block.0 as usize];
        for (index, instruction) in content.instructions.iter().enumerate() {
            let here = Site { function: self.site.function, block, index: index as u32 };
            if here == self.site {
                self.publish(&mut live);
                held.clear();
                live = Some(Live { slots: Default::default(), stored: BTreeSet::new(), sure: true });
                if let Some(result) = instruction.result {
                    held.insert(result, (Some(0), true));
                }
            } else {
                self.step(here, &instruction.operation, instruction.result, &mut live, &mut held);
            }
            if let Some(result) = instruction.result
                && held.contains_key(&result)
                && self.elsewhere.contains(&result)
            {
                self.publish(&mut live);
            }
        }
        if let Some(Operand::Register(register)) = content.terminator.operand()
            && held.contains_key(&register)
        {
            self.publish(&mut live);
        }
        let null_on = self.null_on(&content.terminator, &held);
        let successors = content.terminator.successors().into_iter();
        // Where the allocation has failed there is no object.
        successors.map(|to| (to, if null_on == Some(to) { None } else { live.clone() })).collect()
    }

    /// Where control goes if the address is null, by the condition at the end of a block.
    fn null_on(&self, terminator: &Terminator, held: &Held) -> Option<BlockId> {
        let Terminator::Branch { condition: Operand::Register(condition), then, otherwise } = terminator
        else {
            return None;
        };
        let Some(Operation::Compare { op, a: Operand::Register(a), b: Operand::Constant(b), .. }) =
            self.made.get(condition)
        else {
            return None;
        };
        let null = matches!(self.module.constant(*b), Constant::Null);
        let sure = held.get(a) == Some(&(Some(0), true));
        match op {
            _ if !null || !sure || then == otherwise => None,
            RelOp::Eq => Some(*then),
            RelOp::Ne => Some(*otherwise),
            _ => None,
        }
    }

    fn step(
        &mut self,
        here: Site,
        operation: &Operation,
        result: Option<Register>,
        live: &mut Option<Live>,
        held: &mut Held,
    ) {
        let of = |operand: &Operand, held: &Held| match operand {
            Operand::Register(register) => held.get(register).copied(),
            Operand::Constant(_) => None,
        };
        match operation {
            Operation::SlotLoad { slot } => {
                let known = live.as_ref().and_then(|live| live.slots.get(&slot.0).copied());
                if let (Some(result), Some(sure)) = (result, known) {
                    held.insert(result, (Some(0), sure));
                }
            }
            Operation::SlotStore { slot, value } => match (of(value, held), live.as_mut()) {
                (Some((Some(0), sure)), Some(live)) => _ = live.slots.insert(slot.0, sure),
                // An address further on is followed no more.
                (Some(_), _) => self.publish(live),
                (None, Some(live)) => _ = live.slots.remove(&slot.0),
                (None, None) => {}
            },
            Operation::Address { base, offset, indices, .. } => {
                if let (Some((at, sure)), Some(result)) = (of(base, held), result) {
                    let at = at.filter(|_| indices.is_empty()).and_then(|at| at.checked_add(*offset));
                    held.insert(result, (at, sure && at.is_some()));
                }
                if indices.iter().any(|(index, ..)| of(index, held).is_some()) {
                    self.publish(live);
                }
            }
            Operation::Load { pointer } => match of(pointer, held) {
                Some((Some(at), _)) => self.look(at, 8, live),
                Some((None, _)) => self.publish(live),
                None => {}
            },
            Operation::Store { pointer, value, of: ty } => {
                if of(value, held).is_some() {
                    self.publish(live);
                }
                if let (Some((Some(at), true)), Some(live)) = (of(pointer, held), live.as_mut())
                    && self.module.ty(*ty).store_size == 8
                    && at % 8 == 0
                    && (0..MOST_WORDS * 8).contains(&at)
                {
                    live.stored.insert(at);
                }
            }
            Operation::Compare { .. } | Operation::Nothing => {}
            Operation::Call { callee, arguments } => self.call(here, callee, arguments, live, held),
            other => {
                if other.operands().iter().any(|operand| of(operand, held).is_some()) {
                    self.publish(live);
                }
            }
        }
    }

    fn call(
        &mut self,
        here: Site,
        callee: &Callee,
        arguments: &[parallax_cmodule::Argument],
        live: &mut Option<Live>,
        held: &Held,
    ) {
        let of = |operand: &Operand| match operand {
            Operand::Register(register) => held.get(register).copied(),
            Operand::Constant(_) => None,
        };
        let through = matches!(callee, Callee::Pointer(pointer) if of(pointer).is_some());
        let given: Vec<_> = arguments.iter().map(|argument| of(&argument.value)).collect();
        let name = match callee {
            Callee::Function(id) if !has_body(self.module, *id) => self.module.function(*id).name.as_str(),
            _ => "",
        };
        let fills = name == "memset" || name == "bzero" || name.starts_with("llvm.memset");
        if fills && self.may_clear(here) {
            // Zero again: what it clears must be this object and no other, whenever it is executed.
            match (given.first().copied().flatten(), live.as_mut()) {
                (Some((Some(0), true)), Some(live)) if live.sure => {
                    live.stored.clear();
                    self.clears.insert(here);
                }
                (Some(_), Some(live)) => {
                    live.stored.clear();
                    self.unsure_clears.insert(here);
                }
                _ => _ = self.unsure_clears.insert(here),
            }
            return;
        }
        let freed =
            matches!(name, "free" | "cfree") && given.first().copied().flatten() == Some((Some(0), true));
        if freed {
            // What is freed is read no more.
            *live = None;
        } else if through || given.iter().any(Option::is_some) && !name.starts_with("llvm.lifetime") {
            self.publish(live);
        }
    }

    /// Whether an instruction that fills memory may reach the object.
    fn may_clear(&self, here: Site) -> bool {
        let range = self.points.flows.ranges[here.function.0 as usize].clone();
        self.points.flows.flows[range].iter().any(|(site, flow)| match flow {
            parallax_points::Flow::Clear { pointer: Value::Node(node), .. } if *site == here => {
                self.points.pointees(*node).any(|(object, _)| object == self.object)
            }
            _ => false,
        })
    }

    /// Bytes of the object are read.
    fn look(&mut self, at: i64, len: i64, live: &Option<Live>) {
        let Some(live) = live else { return };
        let words = (at.div_euclid(8) * 8..at + len).step_by(8);
        self.read.extend(words.filter(|word| !live.stored.contains(word)));
    }

    /// The address goes where it is not followed.
    fn publish(&mut self, live: &mut Option<Live>) {
        let Some(live) = live.take() else { return };
        self.published = Some(match self.published.take() {
            None => live.stored,
            Some(known) => &known & &live.stored,
        });
    }
}

/// What is known where two ways meet. A way without an object says nothing of what slots hold where there is one.
fn join(a: Option<Live>, b: Option<Live>) -> Option<Live> {
    let (a, b) = match (a, b) {
        (None, None) => return None,
        (Some(mut only), None) | (None, Some(mut only)) => {
            only.sure = false;
            return Some(only);
        }
        (Some(a), Some(b)) => (a, b),
    };
    let mut slots = a.slots.clone();
    for (slot, sure) in &mut slots {
        *sure &= b.slots.get(slot) == Some(&true);
    }
    for slot in b.slots.keys() {
        slots.entry(*slot).or_insert(false);
    }
    Some(Live { slots, stored: &a.stored & &b.stored, sure: a.sure && b.sure })
}

/// Registers that are used in another block than the one that makes them, choices included.
fn used_elsewhere(function: &Function) -> FxHashSet<Register> {
    let mut home: FxHashMap<Register, usize> = FxHashMap::default();
    for (number, block) in function.blocks.iter().enumerate() {
        home.extend(block.instructions.iter().filter_map(|i| Some((i.result?, number))));
    }
    let mut found = FxHashSet::default();
    for (number, block) in function.blocks.iter().enumerate() {
        for instruction in &block.instructions {
            let chosen = matches!(instruction.operation, Operation::Phi { .. });
            for operand in instruction.operation.operands() {
                if let Operand::Register(register) = operand
                    && (chosen || home.get(&register) != Some(&number))
                {
                    found.insert(register);
                }
            }
        }
        if let Some(Operand::Register(register)) = block.terminator.operand()
            && home.get(&register) != Some(&number)
        {
            found.insert(register);
        }
    }
    found
}
